#!/bin/sh
# Compares bits: runs small campaigns (500 steps, every state stored as float64) with each program (each compiler and
# optimisation), every instruction set, batch, slice and number of threads. All must have one digest.
#
#   tests/bits.sh PROGRAM [OTHER PROGRAM...]      the first one is run under all settings, the others under a few
# With CUDA=yes also on the GPU.
set -u
. "$(dirname "$0")/skip.sh"
folder=$(mktemp -d) || exit 3
trap 'rm -rf "$folder"' EXIT
status=0

# 3 x 7 trials of 2 replicates (42 lanes: whole and partial vectors), in stance from the first milliseconds
cat >"$folder/hopper.yaml" <<'END'
version: 1
experiment: bits
seed: 11
model: hopper
simulation: {duration: 0.05, dt: 1.0e-4, settle: 0.01}
initial: {z_foot: 0.001, dz_foot: -1.0}
search:
  method: grid
  over:
    k_fp: {linspace: [50, 300, 3]}
    thrust: {linspace: [10, 70, 7]}
replicates: {count: 2, perturb: {phi_leg: {normal: [0.01, 0.02]}}, store: true}
record:
  trajectories: {select: {every: 1}, replicates: all, sample: 1.0e-4, precision: float64}
END
sed 's/settle: 0.01/&, integrator: semi_implicit_euler/' "$folder/hopper.yaml" >"$folder/euler.yaml"
for jacobian in analytic finite_difference; do
    sed "s/settle: 0.01/&, newton: {jacobian: $jacobian}/" "$folder/hopper.yaml" >"$folder/$jacobian.yaml"
done
# every variant at once, with what they draw and a table under the foot
variants='machine: four_state, push: random, wind: gusting, accounting: parts'
table='terrain: table, terrain_points: [[-1, 0.01], [0, 0], [0.01, 0.002], [0.1, -0.004]]'
sed -e "s/settle: 0.01/&, $variants, $table/" -e 's/perturb: {/&m: {normal: [10, 0.5]}, /' \
    -e 's/^search:/parameters: {push_interval: 0.01, push_duration: 0.004, gust_period: 0.03}\n&/' \
    "$folder/hopper.yaml" >"$folder/variants.yaml"
sed 's/settle: 0.01/&, integrator: rk4/; s/terrain: table.*\]\]/terrain: sine/' \
    "$folder/variants.yaml" >"$folder/waves.yaml"
sed 's/settle: 0.01/&, integrator: dormand_prince, tolerance: 1.0e-7/' "$folder/variants.yaml" >"$folder/located.yaml"
# the kernels of lanes that are not recorded
sed '/^record:/,$d' "$folder/variants.yaml" >"$folder/unrecorded.yaml"
cat >"$folder/bbob.yaml" <<'END'
version: 1
experiment: bits
seed: 11
model: bbob
simulation: {function: rosenbrock, dimension: 3}
search:
  method: random
  trials: 21
  over: {x1: {range: [-5, 5]}, x2: {range: [-5, 5]}, x3: {range: [-5, 5]}}
END

# digest SPEC PROGRAM OPTION...: of one run
digest()
{
    spec=$1 program=$2
    shift 2
    rm -rf "$folder/$spec"
    results=$folder/$spec
    if ! "$program" run "$folder/$spec.yaml" --results "$results" --progress none "$@" >"$results.log" 2>&1; then
        cat "$results.log" >&2
        return 1
    fi
    "$program" digest bits --results "$results" | grep -o -m 1 '[0-9a-f]\{64\}'
}

# same SPEC PROGRAM OPTION...: the digest of this run is that of the first
same()
{
    runs=$((runs + 1))
    got=$(digest "$@")
    [ -n "$expected" ] || expected=$got
    if [ -z "$got" ] || [ "$got" != "$expected" ]; then
        echo "FAIL $*: digest ${got:-none}, expected ${expected:-one}"
        status=1
    fi
}

# An instruction set that this processor lacks is not a failure.
has_isa()
{
    "$first" run "$folder/bbob.yaml" --results "$folder/probe" --name "isa-$1" --backend cpu --isa "$1" \
        --progress none >"$folder/log" 2>&1 || ! grep -q 'does not have the instruction set' "$folder/log"
}

first=$1
shift
isas=
for isa in scalar $(vector_isas "$first"); do has_isa "$isa" && isas="$isas $isa" ||
    skip "$isa" "a processor with its instructions" "another machine"; done

# all_same SPEC OTHER PROGRAM...: under all settings
all_same()
{
    spec=$1 expected= runs=0
    shift
    for isa in $isas; do same $spec "$first" --backend cpu --isa "$isa"; done
    for batch in 1 7 4096; do same $spec "$first" --backend cpu --batch $batch; done
    for slice in 1 100 500; do same $spec "$first" --backend cpu --slice $slice; done
    for threads in 1 2; do same $spec "$first" --backend cpu --threads $threads; done
    if [ "${CUDA:-no}" = yes ]; then
        for batch in 1 7 4096; do same $spec "$first" --backend cuda --batch $batch; done
        for slice in 1 100 500; do same $spec "$first" --backend cuda --slice $slice; done
    fi
    for program in "$@"; do
        for isa in $isas; do
            # those of `make dev` and by clang have one instruction set
            case $program in */dev/* | */clang/*) "$program" version | grep -q "^cpu .*, $isa (" || continue ;; esac
            same $spec "$program" --backend cpu --isa "$isa" --batch 7 --slice 100
        done
    done
    [ $status -eq 0 ] && echo "ok $spec: $runs runs, $expected"
    return $status
}

# Specs beside each other; those on a GPU one after another.
specs="hopper euler analytic finite_difference variants waves located unrecorded bbob" runners=
for spec in $specs; do
    if [ "${CUDA:-no}" = yes ]; then
        all_same $spec "$@" || status=1
    else
        all_same $spec "$@" &
        runners="$runners $!"
    fi
done
for runner in $runners; do wait "$runner" || status=1; done
exit $status
