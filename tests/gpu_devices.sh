#!/bin/sh
# Several GPUs of one host: the digests of 1, 2, 4, ... devices are those of the CPU, with trajectories and debug rows.
# Then the time and the efficiency of 1, 2, 4, ... devices with 1,000,000 lanes each (efficiency: time on one device
# over time on all). Needs at least two GPUs, and 95 % efficiency.
#
#   tests/gpu_devices.sh [BUILD [LANES]]      BUILD: the folder of `make` with CUDA, or of `make portable` (build)
set -u
build=${1:-build} lanes=${2:-1000000}
program=$build/hopscotch
folder=$(mktemp -d) || exit 3
trap 'rm -rf "$folder"' EXIT
failed=0

report() # STATUS NAME
{
    [ "$1" -eq 0 ] && echo "ok gpu_devices: $2" && return
    echo "FAIL gpu_devices: $2"
    tail -n 5 "$folder/errors"
    failed=1
}

run() # NAME OPTION...
{
    name=$1
    shift
    "$program" run "$@" --name "$name" --results "$folder/results" --progress none --json \
        >"$folder/$name.json" 2>"$folder/errors"
}

digest() { "$program" digest "$1" --results "$folder/results" | cut -d' ' -f1; }
number() { sed -n "s/.*\"$2\": *\([0-9.e+-]*\).*/\1/p" "$folder/$1.json" | head -n 1; }

# 2,000 trials x 2 replicates x 2 s: some fall, every 50th is traced, what failed has debug rows
cat >"$folder/mixed.yaml" <<'END'
version: 1
experiment: mixed
seed: 5
model: hopper
simulation: {duration: 2}
search:
  method: random
  trials: 2000
  over:
    k_fp:   {range: [15, 1500], scale: log}
    k_att:  {range: [15, 1500], scale: log}
    b_att:  {range: [1.5, 150], scale: log}
    thrust: {range: [10, 100]}
    x_dot_des: {range: [0, 4]}
replicates: {count: 2, perturb: {phi_leg: {normal: [0.01, 0.02]}, m: {uniform: [8, 12]}}, store: true}
record:
  trajectories: {select: {every: 50, best: 20}, replicates: all, sample: 0.01, precision: float64}
  debug: {newton: {"on": failure, keep: 50}}
END

# gaits that all last 5 s
cat >"$folder/gaits.yaml" <<'END'
version: 1
experiment: gaits
seed: 5
model: hopper
search:
  method: random
  trials: 1000
  over:
    k_fp:   {range: [140, 160]}
    thrust: {range: [34, 36]}
END

nvidia-smi -L || { echo "FAIL there is no NVIDIA GPU on this machine" && exit 1; }
count=$(nvidia-smi -L | grep -c '^GPU ')
[ "$count" -ge 2 ] || { echo "FAIL there is one GPU only" && exit 1; }

run whole "$folder/mixed.yaml" --backend cpu
report $? "a run on the CPU"
whole=$(digest whole)
devices=0 n=1
while [ "$n" -le "$count" ]; do
    for batch in 0 333; do
        run "same_${n}_$batch" "$folder/mixed.yaml" --backend cuda --device "$devices" --batch $batch &&
            [ "$(digest "same_${n}_$batch")" = "$whole" ]
        report $? "the digest of the CPU on devices $devices, batches of $batch lanes (0: auto)"
    done
    # one batch, so that its kernel time is that of the slowest device; the second run is warm
    for turn in cold warm; do
        rm -rf "$folder/results/speed"
        run speed "$folder/gaits.yaml" --backend cuda --device "$devices" --batch $((n * lanes)) \
            --set "search.trials=$((n * lanes))"
        report $? "$((n * lanes)) lanes x 5 s on devices $devices ($turn)"
    done
    kernel=$(number speed kernel_seconds) wall=$(number speed first_launch_to_last_commit)
    [ "$n" -eq 1 ] && one=$kernel
    rm -rf "$folder/results/speed"
    efficiency=$(awk "BEGIN { print $one / $kernel }")
    echo "devices $devices: $((n * lanes)) lanes, kernel $kernel s, first launch to last commit $wall s," \
        "efficiency $efficiency"
    awk "BEGIN { exit !($efficiency >= 0.95) }"
    report $? "an efficiency of 95 % on $n devices"
    last=$n n=$((2 * n))
    while [ "$last" -lt "$n" ] && [ "$n" -le "$count" ]; do devices=$devices,$last last=$((last + 1)); done
done

run all "$folder/mixed.yaml" --backend cuda --device all && [ "$(digest all)" = "$whole" ]
report $? "the digest of the CPU on all devices"
exit $failed
