#!/bin/sh
# Rigid bodies, scan matching and policies on a GPU: the bits of the CPU, for any batch and any number of threads per
# lane.
#
#   tests/gpu_models.sh [BUILD]      BUILD: the folder of `make` (build), or of `make portable`
set -u
build=${1:-build}
. "$(dirname "$0")/on_gpu.sh"

# same SPEC OPTIONS...: one digest on the CPU, on the GPU, there in batches of 7 trials, which get several blocks, and
# by a kernel made for the campaign, where there is one
same()
{
    number=$((number + 1))
    spec=$1
    shift
    digests=
    for backend in "cpu" "cuda --kernels general" "cuda --kernels general --batch 7" "cuda --kernels made"; do
        name=n$number-$(echo "$backend" | tr -d ' -')
        # shellcheck disable=SC2086
        run "$spec" --name "$name" --backend $backend "$@"
        digests="$digests $(digest "$name")"
    done
    if [ "$(echo "$digests" | tr ' ' '\n' | grep . | sort | uniq -c | awk '{print $1}')" = 4 ] &&
        ! refused "n$number-cudakernelsmade"; then
        echo "ok $(basename "$spec") $*" && passed=$((passed + 1))
    else
        echo "FAIL $(basename "$spec") $*: $digests" && failed=$((failed + 1))
        tail -n 5 "$folder/log"
    fi
}

sed 's/linspace: \[-4, 4, 9\]/linspace: [-4, 4, 5]/; s/count: 8/count: 2/' \
    experiments/ndt_basin.yaml >"$folder/few.yaml"
for solver in newton saddle_free; do
    for search in none more_thuente batched; do
        same "$folder/few.yaml" --set simulation.solver=$solver --set simulation.line_search=$search
    done
done
same "$folder/few.yaml" --set simulation.solver=searched --set simulation.line_search=searched \
    --set 'search.over={solver: all, line_search: all, start_x: {linspace: [-4, 4, 5]}}'
for option in precision=double neighbours=direct7 neighbours=direct1 covariance=identity scene=tunnel \
    scene=half_cube source_spacing=0.4; do
    same "$folder/few.yaml" --set "simulation.$option"
done
for spec in ndt_basin ndt_parameters ndt_cmaes ndt_lidar kkt_pendulum_gains dzhanibekov parachute_drop; do
    same "experiments/$spec.yaml"
done
same experiments/hopper_policy.yaml --set simulation.duration=2
# few large worlds are what a CPU is for: short ones
same experiments/andrews_squeezer.yaml --set simulation.duration=1e-3
same experiments/chain_scaling.yaml --set simulation.duration=0.02
same experiments/four_bar.yaml --set simulation.copies=8 --set simulation.duration=0.1

# worlds that a warp steps, or a block, or a thread each: chains of 3 to 100 rods in every form
cat >"$folder/chains.yaml" <<'END'
version: 1
experiment: chains
seed: 5
model: rigid
simulation:
  duration: 0.1
  dt: 0.001
  stabilisation: searched
  copies: 3
  world:
    bodies:
      - {name: rod#, repeat: copies, inertia: [0.001, 0.08, 0.09], position: [0.5, 0, 0], step: {position: [1, 0, 0]}}
      - {name: kite#, repeat: copies, position: [0.5, 1, 0], step: {position: [1, 0, 0]}}
    constraints:
      - {name: hook, type: ball, a: rod1, at_a: [-0.5, 0, 0]}
      - {name: joint#, repeat: [2, copies], type: ball, a: rod#, b: rod#-1, at_a: [-0.5, 0, 0]}
      - {name: twig#, repeat: copies, type: hinge, axis: [0, 1, 0], a: kite#, b: rod#, at_a: [0, -1, 0]}
    forces:
      - {name: wind#, repeat: copies, type: drag, a: kite#, linear: 0.1, area: 0.2}
      - {name: string#, repeat: [2, copies], type: spring, a: kite#, b: kite#-1, stiffness: 3, damping: 0.1,
         length: 0.9}
search:
  method: random
  trials: 300
  over:
    alpha: {range: [1, 50]}
    beta: {range: [1, 50]}
    wind_y: {range: [-5, 5]}
    form: {range: [0, 4], integer: true}
    substeps: {range: [1, 3], integer: true}
objective: {minimize: error_rms, failed: penalty(10)}
record:
  trajectories: {select: {best: 3}, sample: 0.02}
END
for copies in 1 3 12 40; do same "$folder/chains.yaml" --set simulation.copies=$copies; done
same "$folder/chains.yaml" --set simulation.copies=1 --set search.trials=5000
# a thread each, of a number that fills no warp, recorded ones first
for solver in skyline trees; do
    same "$folder/chains.yaml" --set simulation.copies=3 --set search.trials=5001 --set simulation.solver=$solver \
        --set 'record.trajectories.select={trials: [0, 7, 4000, 5000]}'
done
# every constraint, in every form
cat >"$folder/mixed.yaml" <<'END'
version: 1
experiment: mixed
model: rigid
simulation:
  duration: 0.05
  dt: 0.001
  stabilisation: baumgarte
  solver: skyline
  world:
    bodies:
      - {name: rod#, repeat: 10, inertia: [0.001, 0.0834, 0.0834], position: [0.5, 0, 0], step: {position: [1, 0, 0]}}
      - {name: load, mass: 2, inertia: 0.5, position: [11, 0, 0]}
    constraints:
      - {name: hook, type: ball, a: rod1, at_a: [-0.5, 0, 0]}
      - {name: joint#, repeat: [2, 4], type: ball, a: rod#, b: rod#-1, at_a: [-0.5, 0, 0]}
      - {name: pin#, repeat: [5, 6], type: hinge, axis: [0, 1, 0], a: rod#, b: rod#-1, at_a: [-0.5, 0, 0]}
      - {name: fixed#, repeat: [7, 8], type: weld, a: rod#, b: rod#-1, at_a: [-0.5, 0, 0]}
      - {name: link#, repeat: [9, 10], type: distance, length: 1.0, a: rod#, b: rod#-1}
      - {name: last, type: distance, length: 1.5, a: load, b: rod10}
search: {method: random, trials: 8000, over: {gravity: {range: [9, 10]}}}
objective: {minimize: energy_error}
END
for form in baumgarte original soft velocity rattle; do
    same "$folder/mixed.yaml" --set simulation.stabilisation=$form
done
for order in two four six; do
    same "$folder/chains.yaml" --set simulation.stabilisation=rattle --set simulation.order=$order \
        --set search='{method: grid, over: {wind_y: [0, 1, 2]}}'
done
# loops whose rows follow from others, through singular poses, where steps are refined
for solver in skyline trees; do
    same experiments/four_bar.yaml --set simulation.copies=2 --set simulation.dt=2e-3 --set simulation.duration=3 \
        --set simulation.solver=$solver
done

# 10,000 pendulums of their own masses, places, lengths and gains, 1,000 steps each, in every form
cat >"$folder/pendulums.yaml" <<'END'
version: 1
experiment: pendulums
seed: 11
model: rigid
simulation:
  duration: 1
  dt: 0.001
  stabilisation: searched
  world:
    bodies:
      - {name: anchor, fixed: true, position: [0, 0, 2]}
      - {name: payload, mass: 5, inertia: [0.5, 0.4, 0.3], velocity: [3, 0, 0], spin: [0, 1, 2]}
    constraints:
      - {name: rod, type: distance, a: payload, at_a: [0, 0, 0.5], b: anchor}
search:
  method: random
  trials: 10000
  over:
    alpha: {range: [1, 50]}
    beta: {range: [1, 50]}
    payload_mass: {range: [0.1, 100], scale: log}
    rod_length: {range: [1, 2]}
    payload_vx: {range: [-3, 3]}
    payload_wz: {range: [-3, 3]}
    form: {range: [0, 4], integer: true}
    substeps: {range: [1, 3], integer: true}
objective: {minimize: error_rms, failed: penalty(10)}
END
same "$folder/pendulums.yaml"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
