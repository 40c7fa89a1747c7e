#!/bin/sh
# Files that commands write for the user: devices and pipes are written directly, a link stays a link, no file is
# overwritten except the named one, and simultaneous commands do not disturb each other.
. "$(dirname "$0")/../scratch.sh"

cat >spec.yaml <<'END'
version: 1
experiment: a
model: hopper
simulation: {duration: 0.2, settle: 0.1}
search: {method: grid, over: {k_fp: [100, 150], thrust: [30, 35]}}
record: {trajectories: {select: {best: 2}}}
END
works run spec.yaml --progress none --threads 1
"$HOPSCOTCH" export a --csv - >trials.csv
[ "$(wc -l <trials.csv)" -eq 5 ]
check $? "a campaign of four trials"

# outputs NAME: the commands that write a file, with the file NAME
outputs()
{
    cat <<END
export a --csv $1
export a --jsonl $1
report a -o $1
plot a --kind scatter -o $1
replay a/0 --threads 1 --svg $1
replay a/0 --threads 1 --html $1
replay a/0 --threads 1 -o $1.csv
END
}

mkfifo pipe pipe.csv
outputs pipe | while read -r command; do
    file=${command##* }
    cat "$file" >got &
    # shellcheck disable=SC2086
    timeout 20 "$HOPSCOTCH" $command >out 2>err </dev/null
    ended=$?
    [ "$ended" -eq 0 ] || : | timeout 1 tee "$file" >/dev/null # ends the reader
    wait
    [ "$ended" -eq 0 ] && [ -p "$file" ] && [ -s got ]
    check $? "into a pipe: $command"
done >said
cat said
! grep -q ^FAIL said || status=1
cat pipe >got &
run export a --csv pipe
wait
cmp -s trials.csv got
check $? "the pipe's reader gets the trials"
code=2 refused export a --hdf5 pipe
code=2 refused export a --npz pipe
has "give the name of a regular file" err
run export a --csv /dev/stdout && cmp -s trials.csv out
check $? "standard output by its name"
[ -e /dev/stdout ] && "$HOPSCOTCH" export a --csv /dev/stdout 2>err | cmp -s trials.csv -
check $? "standard output by its name, as a pipe"
if [ "$(id -u)" -eq 0 ] && mknod null c 1 3 2>/dev/null; then
    outputs null | while read -r command; do
        case $command in *.csv) continue ;; esac
        # shellcheck disable=SC2086
        "$HOPSCOTCH" $command >out 2>err </dev/null && [ -c null ]
        check $? "into a device: $command"
    done >said
    cat said
    ! grep -q ^FAIL said || status=1
else
    skip "outputs that are devices" "the right to make devices" "run it as root"
fi

mkdir there
echo old >there/page
ln -s there/page link
works report a -o link
[ -L link ] && grep -q '<html' there/page && [ "$(ls there)" = page ]
check $? "a link stays, and its target is replaced"
ln -s nowhere dangling
refused report a -o dangling
has "is a link to a missing file" err
[ -L dangling ] && [ ! -e nowhere ]
check $? "a link to a missing file makes no file"
code=3 refused report a -o there
has "there" err
ln -s ../../there/page results/a/report.html
code=3 refused report a
has "results/a/report.html is a link, not a regular file" err
rm results/a/report.html
mkfifo results/a/report.html
code=3 refused report a
has "results/a/report.html is a pipe, not a regular file" err
rm results/a/report.html

echo mine >page.html.tmp
echo mine >page.tmp
: >page.html
chmod 600 page.html
works report a -o page.html
[ "$(cat page.html.tmp page.tmp)" = "mine
mine" ] && [ "$(stat -c %a page.html)" = 600 ]
check $? "the user's other files and the file's mode stay"

# Several commands at once on one file: each writes a complete file, and the last one stays.
for i in 1 2 3 4 5 6; do
    (for _ in 1 2 3; do
        "$HOPSCOTCH" report a -o page.html >/dev/null 2>>said."$i" || echo failed
        "$HOPSCOTCH" export a --csv at_once.csv >/dev/null 2>>said."$i" || echo failed
    done) >>"ended.$i" &
done
wait
[ -z "$(cat ended.*)" ] && cmp -s trials.csv at_once.csv && tail -c 20 page.html | grep -q '</html>'
check $? "six at once into one file"
if [ -z "${QUICK:-}" ]; then
    { outputs whole && echo "export a --hdf5 whole"; } | while read -r command; do
        file=${command##* }
        # shellcheck disable=SC2086
        "$HOPSCOTCH" $command >out 2>err && cp "$file" alone || echo failed >alone
        for i in 1 2 3 4 5 6; do
            # shellcheck disable=SC2086
            "$HOPSCOTCH" $command >/dev/null 2>"said.$i" || echo failed >>"$file" &
        done
        wait
        cmp -s alone "$file"
        check $? "six at once: $command"
    done >said
    cat said
    ! grep -q ^FAIL said || status=1
fi
[ -z "$(find . -maxdepth 1 -name '*.tmp' ! -name page.html.tmp ! -name page.tmp)" ]
check $? "no temporary file is left"
code=3 refused report a -o there/no/such/page.html
exit "$status"
