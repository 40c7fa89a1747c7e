#!/bin/sh
# tests/fuzz/run.sh SECONDS FLAGS LIBS OBJECTS...: each target for so long, by clang's libFuzzer with the address and
# undefined-behaviour sanitizers, from tests/fuzz/corpus (an archive per target, unpacked into build/fuzz), the shipped
# specs and the golden ones. What it finds stays in build/fuzz. BUILD=FOLDER (build): whose units and headers are used.
#
# FUZZ_ONLY=NAME: that target alone. FUZZ_RUNS=N: N executions instead of SECONDS. FUZZ_MINIMISE=1: afterwards the
# smallest set of inputs that covers as much becomes tests/fuzz/corpus. FUZZ_COVERAGE=1: lines covered by it instead.
#
# shellcheck disable=SC2086
set -eu
cd "$(dirname "$0")/../.."
seconds=$1 flags=$2 libs=$3
shift 3
build=build/fuzz made=${BUILD:-build}
mkdir -p $build/seeds
cp experiments/*.yaml tests/golden/bad_specs/*.yaml $build/seeds/
mkdir -p $build/robots # their first byte is not the file's
for robot in tests/golden/bad_robots/*.xml tests/golden/bad_robots/*.urdf; do
    { printf 0 && cat "$robot"; } >"$build/robots/$(basename "$robot")"
done
sanitize="-fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all -fno-sanitize-coverage=trace-cmp"
[ -z "${FUZZ_COVERAGE:-}" ] || sanitize="-fsanitize=fuzzer -fprofile-instr-generate -fcoverage-mapping"
compile="clang -std=c17 -D_GNU_SOURCE -ffp-contract=off -O2 -g $sanitize $flags"
unit="-iquote . -DHOPSCOTCH_SCALAR -DMADE_HEADERS='\"$made/headers\"'"
floors="sim io experiment campaign view command"
for floor in $floors; do echo $made/units/$floor; done | xargs -P "$(getconf _NPROCESSORS_ONLN)" -n 1 sh -c \
    "$compile $unit -c \$0.c -o $build/\$(basename \$0).o"
$compile -c runner/version.c -o $build/version.o
units=$(for unit in $floors version; do echo "$build/$(basename "$unit").o"; done)

# dictionary and longest input of a target
settings()
{
    case $1 in
    fuzz_spec) echo "-dict=tests/fuzz/spec.dict -max_len=4096" ;;
    fuzz_include) echo "-dict=tests/fuzz/spec.dict -max_len=2048" ;;
    fuzz_yaml) echo "-dict=tests/fuzz/spec.dict -max_len=1024" ;;
    fuzz_set) echo "-dict=tests/fuzz/spec.dict -max_len=256" ;;
    fuzz_arguments) echo "-dict=tests/fuzz/arguments.dict -max_len=256" ;;
    fuzz_state) echo "-max_len=512" ;;
    fuzz_robot) echo "-dict=tests/fuzz/robot.dict -max_len=4096" ;;
    fuzz_message) echo "-dict=tests/fuzz/message.dict -max_len=512" ;;
    fuzz_cloud) echo "-dict=tests/fuzz/cloud.dict -max_len=1024" ;;
    fuzz_pack) echo "-dict=tests/fuzz/pack.dict -max_len=32768" ;;
    fuzz_recorded) echo "-dict=tests/fuzz/recorded.dict -max_len=1024" ;;
    *) echo "-dict=tests/fuzz/expression.dict -max_len=512" ;;
    esac
}

# fuzz FILE
fuzz()
{
    name=$(basename "$1" .c)
    archive=tests/fuzz/corpus/$name.tar.gz corpus=$build/kept.$name found=$build/corpus.$name
    [ "${FUZZ_ONLY:-$name}" = "$name" ] || return 0
    mkdir -p "$found"
    sh tests/fuzz/corpus.sh unpack "$archive" "$corpus"
    $compile "$1" $units $objects $libs -lm -lpthread -o "$build/$name"
    seeds=
    case $name in
    fuzz_spec | fuzz_yaml) seeds=$build/seeds ;;
    fuzz_robot) seeds=$build/robots ;;
    esac
    limits="$(settings "$name") -timeout=10 -rss_limit_mb=4096 -artifact_prefix=$build/$name."
    if [ -n "${FUZZ_COVERAGE:-}" ]; then
        LLVM_PROFILE_FILE=$build/$name.raw "$build/$name" $limits -runs=0 "$corpus" >$build/$name.log 2>&1
        llvm-profdata merge $build/$name.raw -o $build/$name.profile
        echo "---- $name, lines that its corpus covers"
        llvm-cov report "$build/$name" -instr-profile=$build/$name.profile |
            awk '$10 + 0 >= 10 || /^TOTAL/ { printf "%-44s %6s lines, %s\n", $1, $8, $10 }'
        return 0
    fi
    amount=-max_total_time=$seconds
    [ -z "${FUZZ_RUNS:-}" ] || amount=-runs=$FUZZ_RUNS
    echo "---- $name, $amount"
    "$build/$name" $limits $amount -print_final_stats=1 -close_fd_mask=1 "$found" "$corpus" $seeds \
        >"$build/$name.log" 2>&1 || { tail -40 $build/$name.log; return 1; }
    grep -a -E 'DONE|number_of_executed|average_exec' $build/$name.log
    if [ -n "${FUZZ_MINIMISE:-}" ]; then
        rm -rf "$corpus" && mkdir -p "$corpus"
        "$build/$name" $limits -use_counters=0 -merge=1 "$corpus" "$found" $seeds >/dev/null 2>&1
        sh tests/fuzz/corpus.sh pack "$corpus" "$archive"
    fi
    echo "ok $name"
}

# As many at once as there are cores.
objects=$* running= status=0
for target in tests/fuzz/fuzz_*.c; do
    fuzz "$target" &
    running="$running $!"
    [ "$(echo $running | wc -w)" -lt "$(getconf _NPROCESSORS_ONLN)" ] && continue
    for pid in $running; do wait "$pid" || status=1; done
    running=
done
for pid in $running; do wait "$pid" || status=1; done
exit $status
