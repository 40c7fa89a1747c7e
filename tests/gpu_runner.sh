#!/bin/sh
# The runner on a GPU: 1,000,000 trials of 5 s end to end (from first launch to last commit at most the kernel's time +
# 0.7 s; the best 100 trajectories at 1 ms in 0.3 s more); the cost of batches of one wave and of eight; the estimates
# of `plan` against the measured times of the shipped specs, on the GPU and on the CPU; then, with several GPUs,
# tests/gpu_devices.sh.
#
#   tests/gpu_runner.sh [BUILD]      BUILD: the folder of `make` with CUDA, or of `make portable` (build)
set -u
cd "$(dirname "$0")/.." || exit 3
build=${1:-build}
program=$build/hopscotch
folder=$(mktemp -d) || exit 3
trap 'rm -rf "$folder"' EXIT
failed=0

report() # STATUS NAME
{
    [ "$1" -eq 0 ] && echo "ok gpu_runner: $2" && return
    echo "FAIL gpu_runner: $2"
    tail -n 5 "$folder/errors"
    failed=1
}

run() # NAME OPTION...: its summary in NAME.json
{
    name=$1
    shift
    rm -rf "${folder:?}/results/$name"
    "$program" run "$@" --name "$name" --results "$folder/results" --progress none --timings --json \
        >"$folder/$name.json" 2>"$folder/errors"
}

number() { sed -n "s/.*\"$2\": *\([0-9.e+-]*\).*/\1/p" "$folder/$1.json" | head -n 1; }
true_that() { awk "BEGIN { exit !($1) }"; }

# gaits that all last 5 s
cat >"$folder/million.yaml" <<'END'
version: 1
experiment: million
seed: 5
model: hopper
search:
  method: random
  trials: 1000000
  over:
    k_fp:   {range: [140, 160]}
    k_att:  {range: [140, 160]}
    b_att:  {range: [14, 16]}
    thrust: {range: [34, 36]}
END
cp "$folder/million.yaml" "$folder/recorded.yaml"
echo 'record: {trajectories: {select: {best: 100}, sample: 0.001}}' >>"$folder/recorded.yaml"

nvidia-smi -L || { echo "FAIL there is no NVIDIA GPU on this machine" && exit 1; }
"$program" version

run warm "$folder/million.yaml" --backend cuda --set search.trials=20000
for turn in 1 2 3; do
    run million "$folder/million.yaml" --backend cuda
    report $? "1,000,000 trials x 5 s, run $turn"
    sed -n '/"timings"/,/}/p' "$folder/million.json"
    kernel=$(number million kernel_seconds) wall=$(number million first_launch_to_last_commit)
    echo "kernel $kernel s, first launch to last commit $wall s, index $(number million index_seconds) s"
    true_that "$wall <= $kernel + 0.7"
    report $? "wall at most the kernel's time + 0.7 s"
done
run recorded "$folder/recorded.yaml" --backend cuda
report $? "the best 100 at 1 ms"
recorded=$(number recorded record_seconds)
echo "best 100 trajectories at 1 ms: $recorded s"
true_that "$recorded <= 0.3"
report $? "recorded in at most 0.3 s"

# lanes that a wave of the schedulers holds (16,896 on an H200): less costs as much
for lanes in 10000 16896 16897 33792 67584 135168 1000000; do
    run waves "$folder/million.yaml" --backend cuda --batch $lanes --set search.trials=$lanes
    echo "a batch of $lanes lanes: kernel $(number waves kernel_seconds) s"
done
for batch in 0 67584 135168 270336 1000000; do
    run batches "$folder/million.yaml" --backend cuda --batch $batch
    echo "1,000,000 lanes in batches of $batch (0: auto): kernel $(number batches kernel_seconds) s," \
        "first launch to last commit $(number batches first_launch_to_last_commit) s"
done

for backend in cuda cpu; do
    for spec in smoke raibert_gains speed_sweep four_state terrain_steps; do
        "$program" plan experiments/$spec.yaml --backend $backend --json >"$folder/plan.json" 2>"$folder/errors"
        run shipped experiments/$spec.yaml --backend $backend
        expected=$(number plan seconds) wall=$(number shipped wall_seconds)
        echo "$spec on $backend: expected $expected s ($(number plan seconds_low) to $(number plan seconds_high))," \
            "took $wall s, ratio $(awk "BEGIN { print $expected / $wall }")"
        true_that "$expected / $wall > 0.8 && $expected / $wall < 1.2"
        report $? "plan within 20 %: $spec on $backend"
    done
done

if [ "$(nvidia-smi -L | grep -c '^GPU ')" -ge 2 ]; then sh tests/gpu_devices.sh "$build" || failed=1; fi
exit $failed
