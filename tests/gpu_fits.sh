#!/bin/sh
# Fits and cases on a GPU: the digest of the CPU for residuals, for recordings side by side and for a planned motion,
# by the general kernel, in other batches and by a kernel made for the campaign; killed and resumed; the same answer of
# `fit`; and how long each takes.
#
#   tests/gpu_fits.sh [BUILD [BACKEND]]
#
# BUILD: the folder of `make` with CUDA, or of `make portable` (build); BACKEND: cuda, or cpu to try the script itself.
set -u
build=${1:-build} backend=${2:-cuda}
. "$(dirname "$0")/on_gpu.sh"

seconds() { awk "BEGIN { printf(\"%.2f\", $(date +%s.%N) - $1) }"; } # SINCE
fitted()
{
    "$program" fit "$1/best" --results "$folder/results" --json 2>>"$folder/log" | grep -v '"campaign"\|"trial"'
}

# same SPEC OPTION...: one digest of the CPU and of the GPU, however its batches are cut, also after a kill
same()
{
    spec=$1
    shift
    number=$((number + 1))
    digests= times=
    for way in "cpu" "$backend --kernels general" "$backend --kernels general --batch 7" "$backend --kernels made"; do
        name=n$number-$(echo "$way" | tr -d ' -')
        since=$(date +%s.%N)
        # shellcheck disable=SC2086
        run "$spec" --name "$name" --backend $way "$@"
        times="$times $(seconds "$since")"
        digests="$digests $(digest "$name")"
    done
    [ "$(echo "$digests" | tr ' ' '\n' | grep . | sort | uniq -c | awk '{print $1}')" = 4 ]
    check $? "the digest of the CPU: $(basename "$spec") $* ($times s)"

    "$program" run "$spec" --name "k$number" --backend "$backend" "$@" --results "$folder/results" --progress none \
        >>"$folder/log" 2>&1 &
    child=$!
    sleep "$(echo "$times" | awk '{ print 0.4 + 0.5 * $2 }')"
    kill -9 $child 2>/dev/null
    wait $child 2>/dev/null
    "$program" resume "k$number" --backend "$backend" --results "$folder/results" --progress none >>"$folder/log" 2>&1
    [ -n "$(digest "k$number")" ] && [ "$(digest "k$number")" = "$(digest "n$number-cpu")" ]
    check $? "the same, killed and resumed"
}

same_fit() # the last spec's
{
    [ -n "$(fitted "n$number-cpu")" ] && [ "$(fitted "n$number-cpu")" = "$(fitted "k$number")" ]
    check $? "the same answer of fit"
}

[ "$backend" = cpu ] || nvidia-smi -L || { echo "FAIL there is no NVIDIA GPU on this machine" && exit 1; }
"$program" version
for name in identify_arm identify_biped identify_pendulum; do
    same experiments/$name.yaml
    same_fit
done
same experiments/identify_chirp.yaml --set search.least_squares.stop.iterations=3
same experiments/identify_biped_adam.yaml --set search.adam.stop.iterations=3
same experiments/plan_pendulum.yaml --set search.cmaes.stop.generations=4

# every model and method may have cases
cat >"$folder/hopper.yaml" <<'END'
version: 1
experiment: hopper
seed: 4
model: hopper
cases: [{}, {parameters.x_dot_des: 2}, {parameters.m: 12, simulation.duration: 2}]
simulation: {duration: 3}
search: {method: random, trials: 501, over: {k_fp: {range: [15, 1500], scale: log}, thrust: {range: [10, 100]}}}
objective: {minimize: velocity_error}
END
sed -e 's/501, over/12, over/' -e 's/^simulation:.*/simulation: {duration: 1.5}/' "$folder/hopper.yaml" |
    sed 's/, simulation.duration: 2}/}/' >"$folder/few.yaml"
cat >"$folder/law.yaml" <<'END'
version: 1
experiment: law
seed: 4
model: equations
cases: [{}, {parameters.drag: 0.3}, {simulation.duration: 2, initial.v: 3}]
simulation:
  duration: 3
  system:
    parameters: {drag: {value: 0.1}, stiffness: {value: 10}}
    states: {x: {start: 1}, v: {start: 0}}
    rates: {x: v, v: -stiffness*x - drag*v*abs(v)}
    events: [{name: floor, falls: x, set: {v: -0.8*v}}]
    metrics: {swing: {rms: x}}
search: {method: cmaes, cmaes: {population: 64, stop: {generations: 6}}, over: {stiffness: {range: [1, 100]}}}
objective: {minimize: abs(swing - 0.3)}
END
same "$folder/hopper.yaml"
same "$folder/few.yaml"
same "$folder/law.yaml"
[ $failed -eq 0 ] || tail -n 20 "$folder/log"
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
