#!/bin/sh
# tests/fuzz/run.sh SECONDS FLAGS LIBS OBJECTS...: each target for so long, by clang's libFuzzer with the address and
# undefined-behaviour sanitizers, from the shipped specs as seeds. What it finds stays in build/fuzz.
#
# shellcheck disable=SC2086
set -eu
cd "$(dirname "$0")/../.."
seconds=$1 flags=$2 libs=$3
shift 3
build=build/fuzz
mkdir -p $build/seeds
cp experiments/*.yaml tests/golden/bad_specs/*.yaml $build/seeds/ 2>/dev/null || true
sanitize="-fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all"
compile="clang -std=c17 -D_GNU_SOURCE -ffp-contract=off -O1 -g $sanitize $flags"
$compile -c runner/hopscotch.c -o $build/hopscotch.o
for target in tests/fuzz/fuzz_*.c; do
    name=$(basename "$target" .c)
    $compile "$target" $build/hopscotch.o "$@" $libs -lm -lpthread -o "$build/$name"
    mkdir -p "$build/$name.corpus"
    echo "---- $name, $seconds s"
    "$build/$name" -max_total_time="$seconds" -max_len=4096 -timeout=10 -rss_limit_mb=4096 -close_fd_mask=3 \
        -artifact_prefix="$build/$name." "$build/$name.corpus" $build/seeds
    echo "ok $name"
done
