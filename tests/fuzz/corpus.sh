#!/bin/sh
# The inputs that a fuzz target starts from: an archive per target, tests/fuzz/corpus/TARGET.tar.gz.
#
#   tests/fuzz/corpus.sh unpack ARCHIVE FOLDER     FOLDER then holds what is in ARCHIVE; without one, nothing
#   tests/fuzz/corpus.sh pack FOLDER ARCHIVE       the same files give the same bytes, at any time, by any user
set -eu

unpack()
{
    rm -rf "$2"
    mkdir -p "$2"
    [ ! -e "$1" ] || tar -xzf "$1" -C "$2"
}

pack()
{
    mkdir -p "$(dirname "$2")"
    tar -cf - -C "$1" --format=ustar --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner --mode=a=rX,u+w \
        --transform='s,^\./,,' . >"$2.new.tar"
    gzip -9 -n <"$2.new.tar" >"$2.new"
    rm "$2.new.tar"
    mv "$2.new" "$2"
}

case ${1:-} in
unpack | pack) "$@" ;;
*) sed -n '2,5s/^# \{0,1\}//p' "$0" >&2 && exit 1 ;;
esac
