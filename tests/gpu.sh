#!/bin/sh
# GPU tests: the bits of the CPU, over short runs under every setting and over full runs; replay of its trials on the
# CPU; resuming after a kill to the same digest; and speed. So the unit tests of the CPU's trajectories and event times
# hold for the GPU too.
#
#   tests/gpu.sh [BUILD]      BUILD: the folder of `make` (build), or of `make portable`
set -u
build=${1:-build}
program=$build/hopscotch
folder=$(mktemp -d) || exit 3
trap 'rm -rf "$folder"' EXIT
passed=0 failed=0

# check NAME COMMAND...
check()
{
    name=$1
    shift
    if "$@"; then
        echo "ok $name" && passed=$((passed + 1))
    else
        echo "FAIL $name" && failed=$((failed + 1))
    fi
}

run() { "$program" run "$@" --results "$folder/results" --progress none >>"$folder/log" 2>&1; }
digest() { "$program" digest "$1" --results "$folder/results" | grep -o -m 1 '[0-9a-f]\{64\}'; }

# 300 trials x 2 replicates x 5 s, every state each 10 ms as float64; some of them fall
cat >"$folder/full.yaml" <<'END'
version: 1
experiment: full
seed: 5
model: hopper
search:
  method: random
  trials: 300
  over:
    k_fp:   {range: [15, 1500], scale: log}
    k_att:  {range: [15, 1500], scale: log}
    b_att:  {range: [1.5, 150], scale: log}
    thrust: {range: [10, 100]}
    x_dot_des: {range: [0, 4]}
replicates: {count: 2, perturb: {phi_leg: {normal: [0.01, 0.02]}, m: {uniform: [8, 12]}}, store: true}
record:
  trajectories: {select: {every: 1}, replicates: all, sample: 0.01, precision: float64}
END

# the same with debug rows: all iterations round the first touchdown, or the last ones of what failed
cp "$folder/full.yaml" "$folder/debug.yaml"
cat >>"$folder/debug.yaml" <<'END'
  debug: {newton: {select: {every: 7}, window: [0.28, 0.32], replicates: all}}
END
cp "$folder/full.yaml" "$folder/ring.yaml"
cat >>"$folder/ring.yaml" <<'END'
  debug: {newton: {"on": failure, keep: 50}}
END

same_debug_rows() # SPEC INTEGRATOR
{
    for backend in cpu cuda; do
        run "$folder/$1.yaml" --set "simulation.integrator=$2" --set record.trajectories.select.every=0 \
            --name "$1-$2-$backend" --backend $backend || return 1
    done
    [ -s "$folder/results/$1-$2-cuda/shards/000000.h5" ] || return 1
    [ "$(digest "$1-$2-cpu")" = "$(digest "$1-$2-cuda")" ]
}

same_full_run() # INTEGRATOR EQUATIONS
{
    for backend in cpu cuda; do
        run "$folder/full.yaml" --set "simulation.integrator=$1" --set "simulation.equations=$2" \
            --set simulation.tolerance=1.0e-9 --name "full-$1-$2-$backend" --backend $backend || return 1
    done
    [ "$(digest "full-$1-$2-cpu")" = "$(digest "full-$1-$2-cuda")" ]
}

# Nothing is recorded, so that a kernel made for the campaign advances all lanes; most of these fall and make room.
same_bare_run() # INTEGRATOR
{
    digests=
    for way in "cpu" "cuda --kernels general" "cuda --kernels made"; do
        name=bare-$1-$(echo "$way" | tr -d ' -')
        # shellcheck disable=SC2086
        run "$folder/full.yaml" --set "simulation.integrator=$1" --set 'record.trajectories.select={}' \
            --set search.trials=3000 --name "$name" --backend $way || return 1
        digests="$digests $(digest "$name")"
    done
    [ "$(echo "$digests" | tr ' ' '\n' | grep . | sort | uniq -c | awk '{print $1}')" = 3 ]
}

replayed_on_the_cpu()
{
    trial=0
    while [ $trial -lt 300 ]; do
        "$program" replay "full-implicit_midpoint-corrected-cuda/$trial" --backend cpu --results "$folder/results" \
            >>"$folder/log" 2>&1 || return 1
        trial=$((trial + 13))
    done
}

killed_and_resumed()
{
    "$program" run "$folder/full.yaml" --name killed --set simulation.tolerance=1.0e-9 --backend cuda --batch 8 \
        --results "$folder/results" --progress none >>"$folder/log" 2>&1 &
    sleep 2
    kill -9 $! 2>/dev/null
    wait $! 2>/dev/null
    "$program" resume killed --backend cuda --results "$folder/results" --progress none >>"$folder/log" 2>&1 || return 1
    [ "$(digest killed)" = "$(digest full-implicit_midpoint-corrected-cpu)" ]
}

unit_tests()
{
    "$build/tests" >"$folder/tests" 2>&1
    status=$?
    grep ^FAIL "$folder/tests"
    tail -n 1 "$folder/tests"
    return $status
}

nvidia-smi -L || { echo "FAIL there is no NVIDIA GPU on this machine" && exit 1; }
"$program" version
check "unit tests" unit_tests
check "equal bits of CPU and GPU, short runs" env CUDA=yes sh tests/bits.sh "$program"
for integrator in implicit_midpoint semi_implicit_euler implicit_euler rk4 dormand_prince; do
    for equations in corrected reference; do
        check "equal bits of CPU and GPU, 5 s, $integrator, $equations" same_full_run $integrator $equations
    done
done
for integrator in implicit_midpoint semi_implicit_euler implicit_euler rk4 dormand_prince; do
    check "equal bits of CPU and of both kernels of the GPU, $integrator" same_bare_run $integrator
done
for integrator in implicit_midpoint implicit_euler; do
    check "equal debug rows of CPU and GPU, $integrator" same_debug_rows debug $integrator
    check "equal debug rows of what failed, $integrator" same_debug_rows ring $integrator
done
check "24 trials of the GPU replayed by the CPU" replayed_on_the_cpu
check "killed on the GPU and resumed" killed_and_resumed
# how long: the gaits of tests/hopper_twelve.h at the coarser settings of every integrator
for lanes in 10000 1000000; do
    [ ! -x "$build/bench_work_precision" ] || "$build/bench_work_precision" "$folder/bench" $lanes cuda 3
done
[ $failed -eq 0 ] || tail -n 20 "$folder/log"
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
