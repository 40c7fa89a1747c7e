#!/bin/sh
# The CUDA backend without a GPU, in the programs of `make asan` (tests/cuda_on_host): the bits of the CPU for every
# model, batch, slice and number of devices, with recorded lanes; lanes that ended make room; environments; each CUDA
# call fails once.
# With QUICK=1: one model, in short slices.
set -u
cd "$(dirname "$0")/../.." || exit 3
. tests/skip.sh
program=${HOPSCOTCH:-$PWD/build/asan/hopscotch}
export CUDA_ON_HOST_DEVICES=1
"$program" version | grep -q 'CUDA on this host' ||
    { skip "a GPU that the CPU plays" "its build, by a C++ compiler" "apt-get install g++; make asan" && exit 0; }
folder=$(mktemp -d) || exit 3
trap 'rm -rf "$folder"' EXIT
failed=0

report() # STATUS NAME
{
    [ "$1" -eq 0 ] && echo "ok   cuda_on_host: $2" && return
    echo "FAIL cuda_on_host: $2"
    tail -n 5 "$folder/log"
    failed=1
}

digest() { "$program" digest "$1" --results "$folder/results" 2>>"$folder/log" | cut -d' ' -f1; }

# run NAME SPEC OPTION...: prints the digest
run()
{
    name=$1
    shift
    "$program" run "$@" --name "$name" --results "$folder/results" --progress none >>"$folder/log" 2>&1 &&
        digest "$name"
}

# same NAME SPEC OPTION...: on the CPU; on the device, in short slices; there in other batches; on three devices
same()
{
    what=$1
    shift
    expected=$(run "$what-cpu" "$@" --backend cpu)
    [ -n "$expected" ] && [ "$(run "$what-slices" "$@" --backend cuda --slice 300)" = "$expected" ] &&
        [ "$(run "$what-batch" "$@" --backend cuda --slice 700 --batch 31)" = "$expected" ] &&
        [ "$(CUDA_ON_HOST_DEVICES=3 run "$what-devices" "$@" --backend cuda --device all --slice 90)" = "$expected" ]
    report $? "$what: the bits of the CPU"
}

# 227 of these 256 hoppers fall, after 2.7 s on average
cat >"$folder/fall.yaml" <<'END'
version: 1
experiment: fall
seed: 5
model: hopper
search:
  method: random
  trials: 256
  over:
    k_fp:   {range: [15, 1500], scale: log}
    b_fp:   {range: [1.5, 150], scale: log}
    k_att:  {range: [15, 1500], scale: log}
    b_att:  {range: [1.5, 150], scale: log}
    thrust: {range: [3.5, 350], scale: log}
    x_dot_des: {range: [0, 4]}
END
{
    sed 's/trials: 256/trials: 64/' "$folder/fall.yaml"
    echo 'replicates: {count: 2, perturb: {m: {uniform: [8, 12]}}, store: true}'
    echo 'record: {trajectories: {select: {every: 5}, replicates: all, sample: 0.05}}'
} >"$folder/recorded.yaml"
sed 's/linspace: \[-4, 4, 9\]/linspace: [-4, 4, 3]/; s/count: 8/count: 2/' \
    experiments/ndt_basin.yaml >"$folder/few.yaml"

same recorded "$folder/recorded.yaml"

# 50,000 ticks in slices of 500: 100 launches of 256 threads, if lanes that ended made no room
rm -rf "$folder/results"
CUDA_ON_HOST_THREADS=$folder/threads run room "$folder/fall.yaml" --backend cuda --slice 500 >/dev/null
threads=$(cat "$folder/threads")
[ "$threads" -gt 0 ] && [ "$threads" -lt 18000 ]
report $? "lanes that ended make room: $threads threads in place of 25,600"

"$program" plan "$folder/fall.yaml" --backend cuda >"$folder/log" 2>&1
grep -q '^kernel  *general; makes one for this campaign if that saves time$' "$folder/log" &&
    "$program" plan experiments/ndt_basin.yaml --backend cuda |
    grep -q '^kernel  *general: several threads share a lane$'
report $? "plan says which kernel the run begins with"

# 300 lanes of gradients are enough for the device beside one thread
cp -r experiments/robots "$folder"
cat >"$folder/many.yaml" <<'END'
version: 1
experiment: many
model: articulated
simulation:
  {robot: robots/biped.xml, duration: 0.04, dt: 0.002, control: {mode: gait}, groups: {hip: [left_hip, right_hip]},
   design: {thigh: {mass: hip}}}
replicates: {count: 3, perturb: {base_vx: {uniform: [-0.2, 0.2]}}}
search:
  method: adam
  adam: {searches: 100, gradient: adjoint, stop: {iterations: 3}}
  over: {hip_amplitude: {range: [0, 0.5]}, gait_frequency: {range: [1, 3]}, thigh: {range: [0.5, 2]}}
objective: {minimize: energy}
END
same gradients "$folder/many.yaml" --threads 1
grep -q 'gradients.*of 3 rounds by the GPU' "$folder/results/gradients-slices/log.jsonl" &&
    ! grep -q 'rounds by the GPU' "$folder/results/gradients-cpu/log.jsonl"
report $? "gradients: three rounds by the device"

for backend in cpu cuda; do
    "$program" gradient gradients-cpu/best --results "$folder/results" --backend $backend --format csv \
        >"$folder/$backend.csv" 2>"$folder/log"
done
[ -s "$folder/cpu.csv" ] && cmp "$folder/cpu.csv" "$folder/cuda.csv" &&
    grep -q '^adjoint and differences by CUDA on this host, tangent by the CPU$' "$folder/log"
report $? "gradient of robots: the adjoint and differences by the device, the tangent by the CPU"

# Its memory holds 17 numbers for each body and step of 320 lanes, and about as much for a step of 20 and its reverse.
planned() # OPTION...: bytes of device memory
{
    "$program" plan "$folder/many.yaml" --backend cuda --json "$@" 2>>"$folder/log" |
        tr ',' '\n' | sed -n 's/.*"device_bytes": *//p'
}
bodies=$(grep -c '<body' "$folder/robots/biped.xml")
by_device=$(planned --threads 1) by_threads=$(planned --threads 8)
more=$((by_device - by_threads)) states=$((320 * 17 * 8 * 20 * bodies))
echo "plan: $by_device and $by_threads bytes, states $states" >>"$folder/log"
[ "$by_threads" -gt 0 ] && [ $more -gt $states ] && [ $more -lt $((4 * states)) ]
report $? "gradients: plan counts the device's memory"

QUICK=1 SEARCHES=${QUICK:+260} sh tests/gpu_equations_gradient.sh "${program%/hopscotch}" >"$folder/log" 2>&1
report $? "gradients of equations: the bits of the CPU"

QUICK=1 HOPSCOTCH_TEST_DEVICE=cuda "${program%/hopscotch}/tests" environment_ >"$folder/log" 2>&1
report $? "environments: the bits of the CPU, resets, handles"

[ -n "${QUICK:-}" ] && exit $failed
same fall "$folder/fall.yaml"
same dormand_prince "$folder/fall.yaml" --set simulation.integrator=dormand_prince
same bbob experiments/bbob_cmaes.yaml --set search.cmaes.stop.trials=200
same rigid experiments/dzhanibekov.yaml --set simulation.duration=0.05
same large experiments/chain_scaling.yaml --set simulation.duration=0.005
sed 's/copies: 1000/copies: 3/; s/method: list/method: random/
    s/^  points.*/  trials: 2000\n  over: {gravity: {range: [9, 10]}}/' \
    experiments/chain_scaling.yaml >"$folder/alone.yaml"
for form in baumgarte rattle; do # by a thread for each lane
    same alone-$form "$folder/alone.yaml" --set simulation.duration=0.005 --set simulation.stabilisation=$form
done
same ndt "$folder/few.yaml"
JOBS=${JOBS:-2} sh tests/gpu_faults.sh "${program%/hopscotch}" >"$folder/log" 2>&1
report $? "each CUDA call fails once, with five errors"
exit $failed
