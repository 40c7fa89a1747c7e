#!/bin/sh
# The archives of the fuzz targets: one per target; unpacking returns the packed files, and the same files give the same
# archive.
. "$(dirname "$0")/../scratch.sh"
corpus() { sh "$root/tests/fuzz/corpus.sh" "$@" >out 2>err; }

for target in "$root"/tests/fuzz/fuzz_*.c; do
    name=$(basename "$target" .c)
    corpus unpack "$root/tests/fuzz/corpus/$name.tar.gz" "kept/$name" && [ -n "$(ls "kept/$name" 2>/dev/null)" ]
    check $? "$name has inputs to start from"
done
targets=$(cd "$root/tests/fuzz" && printf '%s\n' fuzz_*.c | sed 's/\.c$/.tar.gz/' | sort)
[ "$(ls "$root/tests/fuzz/corpus" | sort)" = "$targets" ]
check $? "each archive has a target"

# the same files, made in another order, with other times and permissions
mkdir -p one two
printf 'a\0b' >one/b && printf '' >one/a && printf 'c' >'one/-c d'
printf 'c' >'two/-c d' && printf '' >two/a && printf 'a\0b' >two/b
touch -d 2001-02-03 two/a two && chmod 600 two/b
corpus pack one one.tar.gz && corpus pack two two.tar.gz && cmp one.tar.gz two.tar.gz >out
check $? "the same files give the same archive"
mkdir out_of_it && touch out_of_it/left
corpus unpack one.tar.gz out_of_it && diff -r one out_of_it >out
check $? "unpacking gives the packed files and no others"
printf 'd' >two/a && corpus pack two two.tar.gz && ! cmp -s one.tar.gz two.tar.gz
check $? "another file gives another archive"
corpus unpack missing.tar.gz empty && [ -d empty ] && [ -z "$(ls empty)" ]
check $? "a target without an archive starts with no inputs"
head -c 100 one.tar.gz >cut.tar.gz && ! corpus unpack cut.tar.gz cut
check $? "a cut archive is refused"
mkdir none && corpus pack none none.tar.gz && corpus unpack none.tar.gz none_again && [ -z "$(ls none_again)" ]
check $? "a folder without files can be packed"
exit $status
