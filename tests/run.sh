#!/bin/sh
# Runs the unit tests of a build and every script of tests/cli with its program, and counts the results.
#
#   tests/run.sh [BUILD] [PATTERN]     BUILD: the folder of `make` (build); PATTERN: only scripts and tests so named
#
# SCRIPTS="NAME..." takes these scripts only, beside the unit tests; UNITS="WORD..." of these the ones so named, and
# UNITS=none none. LEAVE_OUT=FILE: all but the unit tests and scripts that it names. JOBS: how many at once.
# A script gets HOPSCOTCH (the program) and HOPSCOTCH_FAULTS_PROGRAM (one whose file and database operations can be made
# to fail, see io/system.h), runs in the repository's root, and prints a line `ok …`, `FAIL …` or `skip …` a check.
# With QUICK=1 it keeps to a few seconds. SQL is a program that changes databases (tests/sql.c). At the end stand what
# was skipped, by reason, then `N passed, N failed`, then the failures once more.
#
# shellcheck disable=SC2086
set -u
cd "$(dirname "$0")/.." || exit 3
build=${1:-build} pattern=${2:-}
log=$(mktemp -d) || exit 3
trap 'rm -rf "$log"' EXIT
passed=0 failed=0 skipped=0

export HOPSCOTCH="$PWD/$build/hopscotch" HOPSCOTCH_FAULTS_PROGRAM="$PWD/$build/hopscotch_faults"
export SQL="$PWD/$build/sql" ATTACKER="$PWD/$build/attacker"
export ASAN_OPTIONS="${ASAN_OPTIONS:-abort_on_error=0:detect_stack_use_after_return=1}"
export UBSAN_OPTIONS="${UBSAN_OPTIONS:-print_stacktrace=1}" TSAN_OPTIONS="${TSAN_OPTIONS:-halt_on_error=1}"
unset HOPSCOTCH_RESULTS HOPSCOTCH_FAULT NO_COLOR

# Each commit waits for the disk, and tests commit often: they work in memory where there is a large file system of it.
if [ -z "${TMPDIR:-}" ] && [ "$(df -Pk /dev/shm 2>/dev/null | awk '$1 == "tmpfs" { print ($4 > 8e6) }')" = 1 ] &&
    ! grep -q ' /dev/shm [^ ]* [^ ]*noexec' /proc/mounts; then
    export TMPDIR=/dev/shm
fi

# tally NAME STATUS: counts the lines of its output; a failure that no line tells is one more.
tally()
{
    out=$log/${1##*/}.out
    ok=$(grep -c '^ok ' "$out") bad=$(grep -c '^FAIL ' "$out") skip=$(grep -c '^skip ' "$out")
    if [ "$2" -ne 0 ] && [ "$bad" -eq 0 ]; then
        echo "FAIL $1: ended with status $2 (124: it took too long)" | tee -a "$out"
        bad=1
    elif [ "$2" -eq 0 ] && [ "$bad" -ne 0 ]; then
        echo "FAIL $1: ended with status 0 after a failure" | tee -a "$out"
        bad=$((bad + 1))
    elif [ "${1%:*}" != unit_tests ] && [ $((ok + bad + skip)) -eq 0 ]; then
        ok=1
    fi
    passed=$((passed + ok)) failed=$((failed + bad)) skipped=$((skipped + skip))
}

# Thread sanitizer needs addresses where it expects them; newer kernels scatter them more widely.
unscattered=
case $build in *tsan*) setarch -R true 2>/dev/null && unscattered="setarch -R" ;; esac

# Three at once for two cores, since scripts sleep and wait for the disk; the output of each is shown when it has ended.
# Unit tests are shared out likewise, in parts of unlike length, and what takes long on its own begins early.
cores=${JOBS:-$(getconf _NPROCESSORS_ONLN)} jobs=${JOBS:-}
[ -n "$jobs" ] || jobs=$(((3 * cores + 1) / 2))
names= parts=$((cores == 1 ? 1 : cores < 4 ? 4 * cores : 16))
case "${UNITS:-} $pattern" in
none* | *.sh) ;;
*) for part in $(seq "$parts"); do names="$names unit_tests:$part"; done ;;
esac
left_out=
[ -z "${LEAVE_OUT:-}" ] || left_out=" $(sed 's/#.*//' "$LEAVE_OUT" | tr -s '\n' ' ')"
for script in tests/cli/*.sh; do
    case $left_out in *" $(basename "$script") "*) continue ;; esac
    case " ${SCRIPTS:-$(basename "$script" .sh)} " in *" $(basename "$script" .sh) "*) ;; *) continue ;; esac
    case $script in
    *"$pattern"*)
        case $(basename "$script" .sh) in
        command | crash | many | parts | record_rows | retire | stop | tutorial_model) names="$script $names" ;;
        *) names="$names $script" ;;
        esac
        ;;
    esac
done
units=${pattern:-${UNITS:-}}
for name in $left_out; do case $name in *.sh) ;; *) units="$units -$name" ;; esac; done
export log build units unscattered parts
# shellcheck disable=SC2016
printf '%s\n' $names | xargs -P "$jobs" -n 1 sh -c '
    file=$log/${1##*/} start=$(date +%s)
    case $1 in
        unit_tests:*) timeout 1800 $unscattered "$build/tests" "--part=${1#*:}/$parts" $units ;;
        *) timeout 1800 $unscattered sh "$1" ;;
    esac >"$file.out" 2>&1
    echo $? >"$file.status"
    times >"$file.times" # the second line: of all children
    cpu=$(sed -n 2p "$file.times" | tr ms "  " | LC_ALL=C awk "{ print int(60 * (\$1 + \$3) + \$2 + \$4 + 0.5) }")
    { echo "---- $1: $(($(date +%s) - start)) s, $cpu s of CPU" && cat "$file.out"; } >"$file.shown"
    cat "$file.shown"' run
for name in $names; do tally "$name" "$(cat "$log/${name##*/}.status")"; done

# lines WORD: that begin with it, of all outputs
lines() { for name in $names; do grep "^$1 " "$log/${name##*/}.out"; done; }
if [ "$skipped" -gt 0 ]; then
    echo "$skipped skipped:"
    lines skip | sed 's/.*: //' | sort | uniq -c | sort -rn
fi
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] || lines FAIL
[ "$failed" -eq 0 ] && [ $((passed + skipped)) -gt 0 ]
