#!/bin/sh
# Metrics of the user's own on a GPU: the CPU and the GPU give one digest, for every model, whatever is recorded. Then
# what they cost.
#
#   tests/gpu_metrics.sh [BUILD]      BUILD: the folder of `make` (build), or of `make portable`
set -u
build=${1:-build}
. "$(dirname "$0")/on_gpu.sh"
experiments=$(realpath "$(dirname "$0")/../experiments")

# same EXPERIMENT METRICS OPTIONS...: the CPU and the GPU give one digest, also with recorded trials. METRICS none:
# without. sample: of recorded trials
sample='sample: 0.05, '
same()
{
    number=$((number + 1))
    experiment=$1 metrics=$2
    shift 2
    [ "$metrics" = none ] || set -- --set "metrics=$metrics" "$@"
    for backend in cpu cuda; do
        run "$experiments/$experiment.yaml" --name "$backend$number" --backend $backend "$@"
        run "$experiments/$experiment.yaml" --name "${backend}_r$number" --backend $backend \
            --set "record.trajectories={${sample}select: {every: 7}}" "$@"
    done
    cpu=$(digest "cpu$number") gpu=$(digest "cuda$number")
    [ -n "$cpu" ] && [ "$cpu" = "$gpu" ]
    check $? "$experiment: gpu = cpu: $metrics"
    cpu=$(digest "cpu_r$number") gpu=$(digest "cuda_r$number")
    [ -n "$cpu" ] && [ "$cpu" = "$gpu" ]
    check $? "$experiment, recorded: gpu = cpu"
}

hopper='{high: {max: z_foot}, effort: {rms: u2}, way: {integral: dx_foot}, up: {part: "z_foot > 0.01"},
 lands: {count: "z_foot < 0"}, late: {last: "abs(phi_body) > 0.05"}, soon: {first: "fsm > 1.5"},
 stride: {at: "z_foot < 0", value: "hypot(dx_foot, dz_foot)", take: spread}, end: {final: "1*x_foot + 0.1*k_fp"}}'
gains='search.over={k_fp: {linspace: [50, 200, 40]}, thrust: {linspace: [20, 60, 25]}}'
for integrator in rk4 dormand_prince implicit_midpoint; do
    same raibert_gains "$hopper" --set "$gains" --set simulation.integrator=$integrator --set simulation.dt=0.001 \
        --set replicates.count=1
done
robot='{sway: {rms: base_y}, reach: {max: "hypot(trunk_x, trunk_y)"}, spin: {mean: "abs(trunk_wz)"},
 foot: {part: "hind_left_shank_link_force > 1"}, knee: {min: hind_left_knee_q}}'
same quadruped_trot "$robot" --set 'simulation.frames=[trunk]' --set simulation.duration=0.5 --set limits.trials=64 \
    --set replicates.count=1
same four_bar '{a: {max: "abs(time)"}, b: {final: time}}' --set limits.trials=32
sample=''
same ndt_parameters '{far: {max: "hypot(x, y)"}, last_score: {final: score}}' --set limits.trials=16
same bbob_cmaes '{edge: {max: "abs(x1)"}}' --set limits.trials=64
sample='sample: 0.05, '

# trials that end where a condition holds: as on the CPU, alone and beside metrics
# retires EXPERIMENT METRICS CONDITIONS OPTIONS...: METRICS none: without
retires()
{
    experiment=$1 metrics=$2 conditions=$3
    shift 3
    same "$experiment" "$metrics" --set "limits.retire=$conditions" "$@"
    "$program" query "cuda$number" --results "$folder/results" --columns id --where "failure = 'retired'" \
        --format csv 2>/dev/null | grep -q '[0-9]'
    check $? "$experiment: some are retired"
}
for integrator in rk4 dormand_prince; do
    for metrics in none "$hopper"; do
        retires raibert_gains "$metrics" '[{at: 0.7, when: "phi_leg > 0.13"}, {when: "abs(phi_body) > 0.3"}]' \
            --set "$gains" --set simulation.integrator=$integrator --set simulation.dt=0.001 --set replicates.count=2
    done
done
retires quadruped_trot "$robot" '[{at: 0.1, when: "abs(base_y) > 0.0005"}]' --set 'simulation.frames=[trunk]' \
    --set simulation.duration=0.5 --set limits.trials=64 --set replicates.count=1
retires bouncing_ball none '[{at: 0.1, when: "v > 0"}, {when: "n > 2.5 and e > 0.7"}]'
for integrator in rk4 dormand_prince; do
    retires raibert_gains none '[{at: 0.7, when: "phi_leg > 0.13"}, {every: 0.05, when: "abs(phi_body) > 0.3"}]' \
        --set "$gains" --set simulation.integrator=$integrator --set simulation.dt=0.001 --set replicates.count=2
done
retires slip_map none '[{when: "vx > 5.2"}]'

# ---- times ----------------------------------------------------------------------------------------------------------

# seconds NAME: of kernels, on the device
seconds()
{
    "$program" status "$1" --results "$folder/results" | grep -E '^(work|time)' | tr '\n' ' '
}

if [ -n "${TIMES-1}" ]; then
    number=0
    grid='search.over={k_fp: {linspace: [50, 200, 1000]}, thrust: {linspace: [20, 60, 200]}}'
    for integrator in rk4 dormand_prince; do
        for metrics in none '{effort: {rms: u2}}' "$hopper"; do
            number=$((number + 1))
            with=""
            [ "$metrics" = none ] || with="metrics=$metrics"
            run "$experiments/raibert_gains.yaml" --name "t$number" --backend cuda --kernels general --set "$grid" \
                --set simulation.integrator=$integrator --set simulation.dt=0.001 --set replicates.count=1 \
                ${with:+--set "$with"}
            echo "time $integrator, 200,000 trials of 5 s, $(echo "$metrics" | cut -c 1-30): $(seconds "t$number")"
        done
    done
fi

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
