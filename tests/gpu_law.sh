#!/bin/sh
# Control laws of the spec's own on a GPU: the CPU and the GPU give one digest, for laws of robots and of the hopper,
# in any batch, recorded or not, with noise, delays, modes, events. Then what a law costs.
#
#   tests/gpu_law.sh [BUILD]      BUILD: the folder of `make` (build), or of `make portable`
set -u
build=${1:-build}
. "$(dirname "$0")/on_gpu.sh"
experiments=$(realpath "$(dirname "$0")/../experiments")

# same SPEC OPTIONS...: one digest of the CPU and of the GPU, by the general kernel, in batches of 7, and by a made one
same()
{
    number=$((number + 1))
    spec=$1
    shift
    digests='' count=0
    for way in "cpu" "cuda --kernels general" "cuda --kernels general --batch 7" "cuda --kernels made"; do
        name=n$number-$(echo "$way" | tr -d ' -')
        # shellcheck disable=SC2086
        run "$spec" --name "$name" --backend $way "$@"
        digests="$digests $(digest "$name")"
        count=$((count + 1))
    done
    [ "$(echo "$digests" | tr ' ' '\n' | grep . | sort | uniq -c | awk '{print $1}')" = $count ] &&
        ! refused "n$number-cudakernelsmade"
    check $? "$(basename "$spec") $*:$(grep -h '"event":"kernel"' "$folder/results/n$number-cudakernelsmade/log.jsonl" |
        grep -o 'made for[^"]*\|not made[^"]*')"
}

cp "$(dirname "$0")/law/leg.xml" "$folder"
cat >"$folder/everything.yaml" <<'END'
version: 1
experiment: everything
seed: 7
model: articulated
simulation:
  robot: leg.xml
  duration: 1
  dt: 0.001
  control:
    mode: law
    period: 0.002
    law:
      parameters: {amp: {value: 0.3, unit: rad, range: [0, 1]}, freq: {value: 1.5, unit: Hz}, k: 40, d: 1,
        late: {value: 0.05, unit: s}}
      held: {phase: 0, count: 0, seen: {start: 0.1, unit: rad}, when: {start: 0, unit: s}}
      tables: {bend: {at: [-2, -0.5, 0.1, 1, 4], values: [-1, -0.6, 0.2, 0.4, 1], between: cubic, beyond: extend}}
      let: {wave: "sin(2*pi*phase)", load: "if(shank_force > 0, 1, 0)*tanh(shank_force/20)"}
      sensors:
        hip_q: {delay: 3, bias: 0.01, noise: 0.002}
        "*_rate": {delay: 1, quantum: 0.05}
        shank_force: {delay: 2}
      every_period: {phase: "mod(phase + freq*period, 1)"}
      command: {hip: "amp*wave + 0.1*bend(hip_q)"}
      modes:
        swing:
          effort: {knee: "clip(-k*(knee_q - 0.3*wave) - d*knee_rate, -20, 20)"}
          every_period: {seen: "seen + 0.1*(hip_q - seen)"}
          events: [{name: land, rises: shank_force - 1, to: stand, set: {count: count + 1, when: time}}]
        stand:
          effort: {knee: "-k*(knee_q + 0.1*load) - d*knee_rate + 0.5*hypot(base_vx, base_vz) + 0.1*atan2(roll, 1)"}
          events: [{name: leave, falls: shank_force - 0.5, to: swing, set: {seen: hip_q}},
                   {name: long, rises: time - when - late, to: swing}]
      events:
        - {every: 0.25, set: {count: count + 10}}
        - {at: 0.8, set: {phase: 0}}
        - {crosses: phase - 0.5, set: {count: count + 0.5}}
metrics: {reach: {max: hip_q}, effort: {rms: knee_torque}, counted: {final: count}, stands: {part: "law_mode > 0.5"}}
search: {method: random, trials: 400, over: {amp: {range: [0.1, 0.5]}, freq: {range: [0.5, 4]}, k: {range: [5, 80]},
    base_z: {range: [0.6, 0.8]}}}
replicates: {count: 2, common: false}
objective: {minimize: effort, failed: penalty(1e6)}
END
cp "$folder/everything.yaml" "$folder/recorded.yaml"
echo 'record: {trajectories: {select: {every: 7, failures: 3}, sample: 0.002, precision: float64}}' \
    >>"$folder/recorded.yaml"

# inputs of a world of rigid bodies: motors, a torque between bodies, a thrust
cat >"$folder/world.yaml" <<'END'
version: 1
experiment: world
model: rigid
seed: 5
simulation:
  duration: 0.5
  dt: 0.01
  world:
    bodies:
      - {name: link#, repeat: 12, inertia: [0.2, 0.3, 0.25], position: [0.5, 0, 2], step: {position: [1, 0, 0]}}
      - {name: free, position: [0, 9, 0], spin: [1, 2, 3]}
    constraints:
      - {name: hook, type: ball, a: link1, at_a: [-0.5, 0, 0]}
      - {name: joint#, repeat: [2, 12], type: hinge, axis: [0, 1, 0], a: link#, b: link#-1, at_a: [-0.5, 0, 0]}
    forces:
      - {name: m#, repeat: [2, 12], type: input, a: link#, hinge: joint#, range: [-4, 4]}
      - {name: far, type: input, a: free, b: link12, torque: [0, 1, 1], axes: link3}
      - {name: jet, type: input, a: link12, at_a: [0.5, 0, 0], force: [0, 0, 1], axes: free}
  control:
    mode: law
    period: 0.02
    law:
      parameters: {gain: 3, far_gain: 1}
      held: {sum: 0}
      sensors: {link3_wy: {noise: 0.1, delay: 1, quantum: 0.01}}
      every_period: {sum: 0.9*sum + link2_wy}
      effort: {m#: -gain*(link#_wy - link1_wy) - link3_wy, far: far_gain*free_wy - sum}
      modes:
        push: {effort: {jet: 9}, events: [{rises: link12_z - 1.9, to: rest}]}
        rest: {effort: {jet: -3}, events: [{falls: link12_z - 1.8, to: push}]}
metrics: {torque: {rms: m7}, last: {final: sum}}
search: {method: grid, over: {gain: {linspace: [1, 4, 30]}, far_gain: [0, 1]}}
replicates: {count: 3, perturb: {free_wx: {normal: [1, 0.1]}}}
objective: {minimize: torque + abs(input_work)}
record: {trajectories: {select: {every: 7}, sample: 0.05}}
END

nvidia-smi -L || { echo "FAIL there is no NVIDIA GPU on this machine" && exit 1; }
"$program" version
"$program" check "$folder/everything.yaml" || exit 1
same "$folder/everything.yaml"
same "$folder/recorded.yaml"
same "$folder/everything.yaml" --set simulation.attachment=gauss_seidel
same "$folder/everything.yaml" --set simulation.control.period=0.001
same "$folder/world.yaml"
for order in four six; do same "$folder/world.yaml" --set simulation.order=$order --set simulation.duration=0.2; done
same "$experiments/reaction_wheel.yaml" --set limits.trials=64
generations='--set search.cmaes.stop.generations=2'
# shellcheck disable=SC2086
{
    same "$experiments/arm_law.yaml" $generations
    same "$experiments/cartpole_law.yaml" --set limits.trials=64
    same "$experiments/quadruped_law.yaml" $generations --set replicates.count=8 --set simulation.duration=2
    same "$experiments/quadruped_stairs.yaml" $generations --set replicates.count=4 --set simulation.duration=3
    for integrator in rk4 implicit_euler implicit_midpoint semi_implicit_euler; do
        same "$experiments/hopper_law.yaml" $generations --set simulation.integrator=$integrator \
            --set simulation.duration=3
    done
}

# ---- times ----------------------------------------------------------------------------------------------------------

# timed NAME SPEC OPTIONS...: what `status` says of the time
timed()
{
    name=$1 spec=$2
    shift 2
    run "$spec" --name "t$name" --backend cuda "$@"
    echo "time $name: $("$program" status "t$name" --results "$folder/results" | grep -E '^(work|time)' | tr '\n' ' ')"
}

# control MODEL CONTROL: a spec without metrics of its own, for 65,536 robots or 200,000 hoppers
control()
{
    case $1 in
        quadruped) model=articulated lanes='trials: 65536, over: {base_vx: {range: [0, 0.5]}}' dt=0.002
            more="duration: 0.5, robot: robots/quadruped.xml, keyframe: [stand], settle: true, " ;;
        hopper) model=hopper lanes='trials: 200000, over: {x_dot_des: {range: [0, 2]}}' dt=0.001
            more='duration: 3, integrator: rk4, ' ;;
    esac
    cat >"$folder/timed.yaml" <<END
version: 1
experiment: timed
model: $model
simulation: {${more}dt: $dt, control: $2}
search: {method: random, $lanes}
objective: {minimize: energy}
END
}
if [ -n "${TIMES-1}" ]; then
    cp -r "$experiments/laws" "$experiments/robots" "$folder"
    sed -n '/^      parameters:/,/^[a-z]/p' "$experiments/hopper_law.yaml" | sed '/^[a-z]/d' >"$folder/laws/hopper.yaml"
    cat >"$folder/laws/swing.yaml" <<'END'
parameters: {swing: {value: 0.1, unit: rad}, frequency: {value: 2, unit: Hz}}
held: {phase: 0}
every_period: {phase: "mod(phase + frequency*0.002, 1)"}
command: {"*_hip": -roll, "*_thigh": "0.7 + swing*sin(2*pi*phase)", "*_knee": -1.4 - pitch}
END
    for kernels in general made; do
        for mode in 'hold' 'law, period: 0.002, law: laws/trot.yaml' 'raibert, period: 0.002'; do
            control quadruped "{mode: $mode}"
            timed "quadruped_${mode%%,*}_$kernels" "$folder/timed.yaml" --kernels $kernels
        done
        # a light law: angles of a gait, whose motors have gains
        control quadruped "{mode: law, period: 0.002, law: laws/swing.yaml}"
        echo 'parameters: {all_kp: 40, all_kd: 1}' >>"$folder/timed.yaml"
        timed "quadruped_swing_$kernels" "$folder/timed.yaml" --kernels $kernels
        control quadruped "{mode: hold}"
        echo 'parameters: {all_kp: 40, all_kd: 1}' >>"$folder/timed.yaml"
        timed "quadruped_stand_$kernels" "$folder/timed.yaml" --kernels $kernels
        for mode in 'raibert' 'law, law: laws/hopper.yaml'; do
            control hopper "{mode: $mode}"
            timed "hopper_${mode%%,*}_$kernels" "$folder/timed.yaml" --kernels $kernels
        done
    done
fi
[ $failed -eq 0 ] || tail -n 20 "$folder/log"
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
