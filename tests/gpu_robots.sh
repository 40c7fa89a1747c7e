#!/bin/sh
# Robots on a GPU: the bits of the CPU for every joint, ground, control and attachment, for any batch, by the general
# kernel and by one made for the robot, recorded or not, killed and resumed; and how many steps a second.
#
#   tests/gpu_robots.sh [BUILD [G1.xml]]      BUILD: the folder of `make` (build), or of `make portable`. G1.xml: the
#                                             Unitree G1 of 29 joints, to time it too
set -u
build=${1:-build} g1=${2:-}
. "$(dirname "$0")/on_gpu.sh"

# same SPEC OPTIONS...: one digest of the CPU and of the GPU, there also in batches of 7 and 5001, general and made
same()
{
    number=$((number + 1))
    spec=$1
    shift
    digests= count=0
    for way in "cpu" "cuda --kernels general" "cuda --kernels general --batch 7" "cuda --kernels general --batch 5001" \
        "cuda --kernels made"; do
        name=n$number-$(echo "$way" | tr -d ' -')
        # shellcheck disable=SC2086
        run "$spec" --name "$name" --backend $way "$@"
        digests="$digests $(digest "$name")"
        count=$((count + 1))
    done
    if [ "$(echo "$digests" | tr ' ' '\n' | grep . | sort | uniq -c | awk '{print $1}')" = $count ] &&
        ! refused "n$number-cudakernelsmade"; then
        ok "$(basename "$spec") $*"
    else
        fail "$(basename "$spec") $*: $digests"
    fi
}

cp -r experiments/robots "$folder"
# every joint: a free base, a ball, slides and hinges with limits, springs, dry friction; designs and every record
cat >"$folder/robots/mixed.xml" <<'XML'
<mujoco>
  <asset>
    <hfield name="moor" nrow="3" ncol="4" size="0.6 0.4 0.06 0.1" elevation="0 1 2 1 2 0 1 3 1 2 0 1"/>
  </asset>
  <worldbody>
    <geom name="floor" type="plane" size="5 5 0.1" euler="1 2 0" friction="0.8"/>
    <geom name="moor" type="hfield" hfield="moor" pos="0.1 0 0.02" euler="0 0 30" friction="0.9"/>
    <geom name="bank" type="plane" size="5 5 0.1" pos="0 -0.5 0" zaxis="0 1 1" condim="1" priority="1"/>
    <geom name="step" type="box" size="0.3 0.3 0.1" pos="0.3 0.2 0" euler="0 0 20"/>
    <geom name="stone" type="sphere" size="0.15" pos="-0.3 0.1 0"/>
    <geom name="log" type="capsule" size="0.08" fromto="0 -0.5 0 0.4 -0.3 0.05"/>
    <geom name="drum" type="cylinder" size="0.2 0.1" pos="-0.3 -0.4 0"/>
    <body name="trunk" pos="0 0 0.6">
      <freejoint/>
      <geom type="box" size="0.2 0.1 0.05" mass="4"/>
      <body name="arm" pos="0.2 0 0">
        <joint name="shoulder" type="ball" damping="0.1" frictionloss="0.1"/>
        <geom type="capsule" fromto="0 0 0 0.2 0 -0.1" size="0.03" mass="0.5"/>
        <body name="hand" pos="0.2 0 -0.1">
          <joint name="slider" type="slide" axis="1 0 0" range="-0.05 0.05" damping="2" armature="0.1"/>
          <geom type="sphere" size="0.04" mass="0.2"/>
        </body>
      </body>
      <body name="left" pos="0 0.1 -0.05">
        <joint name="left_hip" axis="0 1 0" range="-60 60" armature="0.01" frictionloss="0.2" stiffness="5"/>
        <geom type="capsule" fromto="0 0 0 0 0 -0.4" size="0.03" mass="1"/>
      </body>
      <body name="right" pos="0 -0.1 -0.05">
        <joint name="right_hip" axis="0 1 0" range="-60 60" armature="0.01" frictionloss="0.2" stiffness="5"/>
        <geom type="cylinder" fromto="0 0 0 0 0 -0.4" size="0.03" mass="1"/>
      </body>
      <body name="mast" pos="0 0 0.05">
        <geom type="box" size="0.02 0.02 0.2" mass="0.3"/>
        <geom type="ellipsoid" pos="0 0 0.2" size="0.05 0.08 0.04" mass="0.1" friction="1.2" margin="0.002"/>
      </body>
    </body>
    <body name="gate" pos="2 0 1">
      <joint name="pin" axis="0 0 1" damping="0.1"/>
      <geom type="box" size="0.3 0.02 0.3" mass="2" pos="0.3 0 0"/>
    </body>
  </worldbody>
  <actuator>
    <position joint="left_hip" kp="60" kv="2" forcerange="-15 15"/>
    <position joint="right_hip" kp="60" kv="2" forcerange="-15 10"/>
    <position joint="slider" kp="200" kv="5"/>
  </actuator>
</mujoco>
XML
awk 'BEGIN { for (i = 0; i < 99; i++) printf("%.3f%s", 0.02 * (i * 5 % 4), i % 11 == 10 ? "\n" : ",") }' \
    >"$folder/ground.csv"
cat >"$folder/mixed.yaml" <<'END'
version: 1
experiment: mixed
seed: 5
model: articulated
simulation:
  robot: robots/mixed.xml
  duration: 0.8
  dt: 0.002
  control: {mode: gait}
  groups: {hips: [left_hip, right_hip]}
  design: {tilt: {rotate: hips, axis: x, mirror: true}, shin: {length: hips}, heavy: {mass: hips}}
search:
  method: random
  trials: 160
  over:
    hips_amplitude: {range: [0, 1]}
    gait_frequency: {range: [0.5, 4]}
    tilt: {range: [-0.3, 0.3]}
    shin: {range: [0.8, 1.2]}
    heavy: {range: [0.5, 2]}
    slider_offset: {range: [-0.1, 0.1]}
    base_vz: {range: [-1, 1]}
    push_y: {range: [-100, 100]}
    ground_friction: {range: [0.2, 1.2]}
parameters: {push_time: 0.2, fall_tilt: 1.2}
objective: {minimize: energy, failed: penalty(1e6)}
END
cat >"$folder/recorded.yaml" <<'END'
record:
  trajectories: {select: {every: 7, failures: 3}, sample: 0.01, precision: float64}
  debug: {solve: {select: {every: 31}, window: [0.1, 0.13]}}
END
cat "$folder/mixed.yaml" "$folder/recorded.yaml" >"$folder/record.yaml"

nvidia-smi -L || { echo "FAIL there is no NVIDIA GPU on this machine" && exit 1; }
"$program" version
same "$folder/mixed.yaml"
same "$folder/record.yaml"
for terrain in slope steps sine; do same "$folder/mixed.yaml" --set simulation.terrain=$terrain; done
same "$folder/mixed.yaml" --set simulation.terrain=table \
    --set 'simulation.terrain_points=[[-1, 0.01], [0, 0], [0.1, 0.02], [1, -0.04]]'
same "$folder/mixed.yaml" --set simulation.terrain=heights --set simulation.terrain_file=ground.csv \
    --set simulation.terrain_spacing=0.2
same "$folder/record.yaml" --set simulation.friction=anchored
for attachment in child_only gauss_seidel explicit; do
    same "$folder/mixed.yaml" --set simulation.attachment=$attachment
done
same "$folder/mixed.yaml" --set search.trials=5001 --set simulation.duration=0.2
for spec in robot_stand my_robot pendulum_chain; do same "experiments/$spec.yaml" --set simulation.duration=0.5; done
same experiments/robot_gait.yaml --set simulation.duration=0.5 --set search.cmaes.stop.generations=4
# control: raibert, two seconds of two generations
for spec in quadruped_trot biped_run hopper_as_robot gaits_by_speed; do
    same "experiments/$spec.yaml" --set simulation.duration=2 --set search.cmaes.stop.generations=2
done

run "$folder/record.yaml" --name few --backend cpu --set search.trials=4
run "$folder/record.yaml" --name single --backend cuda --set search.trials=4 --batch 1
if [ -n "$(digest few)" ] && [ "$(digest few)" = "$(digest single)" ]; then
    ok "one lane at a time"
else
    fail "one lane at a time"
fi

run "$folder/record.yaml" --name whole --backend cuda --set search.trials=3000
"$program" run "$folder/record.yaml" --name killed --backend cuda --set search.trials=3000 --batch 64 \
    --results "$folder/results" --progress none >>"$folder/log" 2>&1 &
sleep 1.5
kill -9 $! 2>/dev/null
wait $! 2>/dev/null
"$program" resume killed --backend cuda --results "$folder/results" --progress none >>"$folder/log" 2>&1
if [ -n "$(digest whole)" ] && [ "$(digest whole)" = "$(digest killed)" ]; then
    ok "killed and resumed"
else
    fail "killed and resumed"
fi

# ---- speed ----------------------------------------------------------------------------------------------------------

# timed NAME LANES STEPS KERNELS SPEC: robot steps a second, by the time of the kernels
timed()
{
    number=$((number + 1))
    run "$5" --name "t$number" --backend cuda --kernels "$4" --set "search.trials=$2"
    seconds=$("$program" status "t$number" --results "$folder/results" --json | grep -o '"kernel_seconds": *[0-9.e-]*' |
        head -n 1 | grep -o '[0-9.e-]*$')
    awk -v name="$1" -v lanes="$2" -v steps="$3" -v kernels="$4" -v s="${seconds:-0}" 'BEGIN {
        printf("%-10s %8d lanes %5d steps %-8s %8.4f s %12.4g steps/s\n", name, lanes, steps, kernels, s,
               s > 0 ? lanes * steps / s : 0) }'
}

sed -e 's/^experiment: .*/experiment: quadruped/' -e '/^record:/d' -e '/cmaes: {population/d' \
    -e 's/method: cmaes/method: random\n  trials: 100/' -e 's/duration: 4.0/duration: 1.0/' -e '/fall_height/d' \
    experiments/robot_gait.yaml >"$folder/quadruped.yaml"
for kernels in general made; do
    for lanes in 16384 65536; do timed quadruped $lanes 500 $kernels "$folder/quadruped.yaml"; done
done
if [ -n "$g1" ]; then
    cp "$g1" "$folder/robots/g1.xml"
    cat >"$folder/g1.yaml" <<'END'
version: 1
experiment: g1
model: articulated
simulation:
  robot: robots/g1.xml
  ignore: [mesh]
  terrain: flat
  duration: 0.96
  dt: 0.002
  control: {mode: gait}
  groups: {hip: [left_hip_pitch_joint, right_hip_pitch_joint], knee: [left_knee_joint, right_knee_joint]}
parameters: {all_kp: 100, all_kd: 5}
search:
  method: random
  trials: 100
  over: {hip_amplitude: {range: [0, 0.3]}, gait_frequency: {range: [1, 2]}, knee_offset: {range: [0, 0.3]}}
objective: {minimize: tilt_rms}
END
    same "$folder/g1.yaml" --set search.trials=64
    for kernels in general made; do
        for lanes in 4096 16384 32768 65536 131072; do timed G1 $lanes 480 $kernels "$folder/g1.yaml"; done
    done
fi
[ $failed -eq 0 ] || tail -n 20 "$folder/log"
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
