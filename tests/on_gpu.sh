# shellcheck shell=sh
# What scripts about campaigns on a GPU share. They set `build`, the folder of the program, and source this file.
program=$(realpath "$build/hopscotch")
folder=$(mktemp -d) || exit 3
trap 'rm -rf "$folder"' EXIT
export XDG_CACHE_HOME="$folder/cache"
passed=0 failed=0 number=0

ok() { echo "ok $*" && passed=$((passed + 1)); }
fail()
{
    echo "FAIL $*" && failed=$((failed + 1))
    tail -n 5 "$folder/log"
}
check() { if [ "$1" -eq 0 ]; then ok "$2"; else fail "$2"; fi; } # STATUS NAME

run() { "$program" run "$@" --results "$folder/results" --progress none >>"$folder/log" 2>&1; }
digest() { "$program" digest "$1" --results "$folder/results" | grep -o -m 1 '[0-9a-f]\{64\}'; }

# event NAME TEXT: an event of campaign NAME about kernels has this text
event() { grep '"event":"kernel"' "$folder/results/$1/log.jsonl" | grep -q -- "$2"; }

# refused NAME: compiling a kernel for it failed, or it was not used: the driver refused it, or its bits differed
refused()
{
    grep '"event":"kernel".*\(for this campaign failed\|not used\)' "$folder/results/$1/log.jsonl" |
        grep -v 'not found'
}
