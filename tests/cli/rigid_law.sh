#!/bin/sh
# Inputs of rigid worlds (world.forces, type: input), which a law, a policy or a table gives: motors in hinges and a
# thrust in axes of a spinning body against Python's equations of motion; equal bits whatever the instruction set, the
# batch, the threads, a kill; a policy and a table against laws that give the same; gradients; what is refused.
. "$(dirname "$0")/../scratch.sh"

# number NAME METRIC: of trial 0
number() { "$HOPSCOTCH" query "$1" --columns "$2" --order id --format csv --limit 1 2>/dev/null | tail -n 1; }

# ---- equations of motion --------------------------------------------------------------------------------------------

# right NAME TOLERANCE [NUMBER...]: the trajectory of trial 0 and its work are those of tests/rigid_law.py
right()
{
    name=$1 tolerance=$2
    shift 2
    works run "$name.yaml" --progress none
    works replay "$name/0" -o "$name.csv" --sample "$period"
    has 'the same to the bit'
    command -v python3 >/dev/null || return 0
    python3 "$root/tests/rigid_law.py" "$name" "$name.csv" "$tolerance" "$@" "$(number "$name" input_work)" >out 2>err
    check $? "$name against Python: $(cat out)"
}
command -v python3 >/dev/null || skip 'equations of motion in Python' python3 'apt-get install python3'

cat >pendulum.yaml <<'.'
version: 1
experiment: pendulum
model: rigid
simulation:
  duration: 3
  dt: 0.005
  order: four
  world:
    bodies:
      - {name: rod, mass: 1.2, inertia: [0.3, 0.11, 0.2], position: [0.14776010333066978, 0, 0.4776682445628030],
         orientation: [0, 0.14943813247359922, 0, 0.9887710779360422]}
    constraints: [{name: pivot, type: hinge, a: rod, at_a: [0, 0, -0.5], axis: [0, 1, 0]}]
    forces: [{name: motor, type: input, a: rod, hinge: pivot, range: [-8, 8]}]
  control:
    mode: law
    period: 20ms
    law:
      parameters: {kp: {value: 30, unit: N m/rad}, kd: {value: 5, unit: N m s/rad}}
      let: {th: "2*atan2(rod_qy, rod_qw)"}
      effort: {motor: -kp*th - kd*rod_wy}
search: {method: grid, over: {kp: [30, 60]}}
objective: {minimize: error_rms}
.
period=0.02 right pendulum 1e-9 30

cat >double.yaml <<'.'
version: 1
experiment: double
model: rigid
simulation:
  duration: 2
  dt: 0.002
  order: four
  world:
    bodies:
      - {name: upper, mass: 1.5, inertia: [0.2, 0.12, 0.1], position: [0, 0, -0.4]}
      - {name: lower, mass: 0.8, inertia: [0.2, 0.05, 0.1], position: [0, 0, -1.1]}
    constraints:
      - {name: shoulder, type: hinge, a: upper, at_a: [0, 0, 0.4], axis: [0, 1, 0]}
      - {name: elbow, type: hinge, a: upper, b: lower, at_a: [0, 0, -0.4], axis: [0, 1, 0]}
    forces:
      - {name: m1, type: input, a: upper, hinge: shoulder}
      - {name: m2, type: input, a: lower, hinge: elbow, range: [-6, 6]} # which is the hinge's b
  control:
    mode: law
    period: 0.01
    law:
      let: {a: "2*atan2(upper_qy, upper_qw)", b: "2*atan2(lower_qy, lower_qw)"}
      effort: {m1: "6*sin(3*time) - 0.5*upper_wy", m2: "-20*(b - a - 0.7) - 1.5*(lower_wy - upper_wy)"}
search: {method: list, points: [{gravity: 9.81}]}
objective: {minimize: error_rms}
.
period=0.01 right double 1e-7

cat >rocket.yaml <<'.'
version: 1
experiment: rocket
model: rigid
simulation:
  duration: 2
  dt: 0.005
  order: six
  world:
    bodies: [{name: hull, mass: 3, inertia: [0.5, 0.8, 1.1, 0.05, -0.1, 0.07], velocity: [1, 0, 0], spin: [0.5, -1, 3]}]
    forces:
      - {name: main, type: input, a: hull, at_a: [0.1, -0.05, -0.4], force: [0.1, 0.2, 1], axes: hull, range: [0, 50]}
      - {name: side, type: input, a: hull, at_a: [0, 0, 0.3], force: [2, 0, 0]}
      - {name: roll, type: input, a: hull, torque: [3, 3, 0], axes: hull}
  control:
    mode: law
    period: 0.01
    law: {effort: {main: "30 + 30*sin(5*time)", side: -2*hull_vx, roll: -0.5*hull_wz}}
search: {method: list, points: [{gravity: 9.81}]}
objective: {minimize: error_rms}
.
period=0.01 right rocket 1e-7

# ---- equal bits -----------------------------------------------------------------------------------------------------

cat >bits.yaml <<'.'
version: 1
experiment: bits
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
search: {method: grid, over: {gain: {linspace: [1, 4, 10]}, far_gain: [0, 1]}}
replicates: {count: 3, perturb: {free_wx: {normal: [1, 0.1]}}}
objective: {minimize: torque + abs(input_work)}
record: {trajectories: {select: {every: 7}, sample: 0.05}}
.
works run bits.yaml --progress none --isa scalar --batch 1 --threads 1
bits=$(digest bits)
[ -n "$bits" ] && ! "$HOPSCOTCH" query bits --columns failure --format csv | grep -qv 'failure\|none'
check $? 'sixty worlds of a law with noise, modes and held numbers'
for way in $(vector_isas "$HOPSCOTCH" --isa=) '--batch 7 --threads 2' '--batch 100 --slice 3'; do
    # shellcheck disable=SC2086
    "$HOPSCOTCH" run bits.yaml --progress none --name way $way >out 2>err || grep -q isa err
    [ ! -d results/way ] || [ "$(digest way)" = "$bits" ]
    check $? "the same digest, $way"
    rm -rf results/way
done
for executor in sequential levels; do
    "$HOPSCOTCH" run bits.yaml --progress none --name few --set simulation.executor=$executor \
        --set 'search.over={gain: [2]}' --set replicates.count=1 --threads 2 >out 2>err
    digest few >$executor
    rm -rf results/few
done
[ -s levels ] && cmp -s sequential levels
check $? 'the same digest of a world that threads share'
works run results/bits/resolved.yaml --progress none --name again
[ "$(digest again)" = "$bits" ]
check $? 'the same digest by the resolved spec'
works replay bits/5 --bodies link3 --isa scalar -o bodies.csv
has 'the same to the bit'
head -n 1 bodies.csv | grep -qx 'time,link3_x,link3_y,link3_z,link3_qx,.*,link3_wz'
check $? 'replay --bodies shows the columns of the body'
works replay bits/5 --html motion.html
grep -q 'm7' motion.html && grep -q '"shapes"' motion.html
check $? 'the page of a trial draws the inputs'
works run bits.yaml --progress none --profile-graph step.json --name drawn --set simulation.stabilisation=baumgarte
if with_faults 'a kill in the middle'; then
    partly=1
    for n in 700 740 670 780 640 820; do
        HOPSCOTCH_FAULT=sql:$n:KILL "$HOPSCOTCH_FAULTS_PROGRAM" run bits.yaml --progress none --batch 6 --name killed \
            >out 2>err
        "$HOPSCOTCH" status killed 2>err | grep -q '^trials  *[1-9][0-9]* of 20, 3 replicates each (' && partly=0
        [ $partly -eq 1 ] || break
        rm -rf results/killed
    done
    check $partly 'a run is killed between two batches'
    works run bits.yaml --progress none --name killed
    [ "$(digest killed)" = "$bits" ]
    check $? 'and ends with the same digest'
fi

# ---- who gives inputs -----------------------------------------------------------------------------------------------

cat >network.csv <<'.'
layer,output,input,weight
1,1,0,0.1
1,1,1,-0.5
1,1,2,-1
1,2,0,0.2
1,2,1,0.5
1,2,2,-0.25
.
cat >asked.yaml <<'.'
version: 1
experiment: asked
model: rigid
simulation:
  duration: 1
  dt: 0.01
  world:
    bodies: [{name: hull, mass: 2, inertia: [1, 2, 3], gravity: false, spin: [0, 0, 1]}]
    forces:
      - {name: wheel, type: input, a: hull, torque: [0, 0, 2], axes: hull, range: [-5, 5]}
      - {name: jet, type: input, a: hull, at_a: [0, 0, -1], force: [0, 0, 1], axes: hull, range: [-2, 10]}
  control: {mode: policy, period: 0.05, file: network.csv}
environment: {observe: [hull_wz, hull_z]}
search: {method: grid, over: {hull_wz: [0.5, 1]}}
objective: {minimize: input_work}
.
# as NAME FROM CONTROL: FROM.yaml under another control
as()
{
    sed -e '/^environment/d' -e "s/^experiment: .*/experiment: $1/" "$2.yaml" |
        awk -v control="$3" '/^  control:/ { print "  control: {" control "}"; next } { print }' >"$1.yaml"
}
as said asked 'mode: law, period: 0.05, law: {effort: {wheel: "5*clip(0.1 - 0.5*hull_wz - hull_z, -1, 1)",
    jet: "4 + 6*clip(0.2 + 0.5*hull_wz - 0.25*hull_z, -1, 1)"}}'
for name in asked said; do
    works run $name.yaml --progress none
    "$HOPSCOTCH" query $name --columns input_work,hull_end_z,energy_end --order id --format csv >$name.csv
done
paste -d , asked.csv said.csv | awk -F , 'NR > 1 { rows++
    for (i = 1; i <= 3; i++) { far = $i - $(i + 3); if (far > 1e-12 || far < -1e-12) bad++ } }
    END { exit !(rows == 2 && bad == 0) }'
check $? 'a policy gives what a law with its network gives'
as table asked 'mode: external, period: 0.25, actions: [1, 2, 9, 4, -1, 0]'
as steps asked 'mode: law, period: 0.25, law: {effort: {wheel: "if(time < 0.2, 1, if(time < 0.4, 5, -1))",
    jet: "if(time < 0.2, 2, if(time < 0.4, 4, 0))"}}'
as file asked 'mode: external, period: 0.25, file: actions.csv'
printf 'jet,wheel\n2,1\n4,9\n0,-1\n' >actions.csv
for name in table steps file; do
    works run $name.yaml --progress none
    "$HOPSCOTCH" query $name --columns all --order id --format csv >$name.csv
done
cmp -s table.csv steps.csv && cmp -s table.csv file.csv && [ "$(wc -l <table.csv)" -eq 3 ]
check $? 'a table, as a list and as a file, gives what a law of steps gives, to the bit'
# what a law leaves out is 0; inputs of a law come from a table
as outside asked 'mode: law, period: 0.05, action_period: 0.25, actions: [0.5, -0.5],
    law: {inputs: {x: {range: [-1, 1]}}, effort: {wheel: 6*x}}'
works run outside.yaml --progress none
works replay outside/1 -o outside.csv --sample 0.25
[ "$(cut -d , -f 1,15-17 outside.csv | tr '\n' ' ')" = \
    'time,wheel,jet,x 0,3,0,0.5 0.25,-3,0,-0.5 0.5,-3,0,-0.5 0.75,-3,0,-0.5 1,-3,0,-0.5 ' ]
check $? 'an input of a law from a table, and an input that the law leaves out'
as none asked 'mode: law, law: {effort: {wheel: "0*log(-1 - time)"}}'
works run none.yaml --progress none
"$HOPSCOTCH" query none --columns failure --format csv | tail -n 1 | grep -qx diverged
check $? 'what is no number ends the trial'

# bodies beyond the first 64 have columns where record.bodies names them, also under fresh seeds
cat >many.yaml <<'.'
version: 1
experiment: many
model: rigid
simulation:
  duration: 0.2
  dt: 0.01
  world:
    bodies:
      - {name: b#, repeat: 80, inertia: 0.1, gravity: false, position: [0, 0, 0], step: {position: [1, 0, 0]},
         spin: [0, 0, 1]}
    forces: [{name: u, type: input, a: b75, torque: [0, 0, 1]}]
  control: {mode: law, law: {effort: {u: -b75_wz}}}
metrics: {turned: {final: b75_qz}}
search: {method: grid, over: {b75_wz: [1, 2]}}
objective: {minimize: input_work}
record: {bodies: [b75]}
.
works run many.yaml --progress none
"$HOPSCOTCH" query many --columns turned,input_work --format csv --where 'id = 1' | tail -n 1 >many.csv
works verify many --seeds 2 --gains 0 --physics 0 --grid 0
[ -s many.csv ] &&
    "$HOPSCOTCH" query many/verify/trial_1 --columns turned,input_work --format csv | tail -n 1 | cmp -s - many.csv
check $? 'verify gives a law and a metric the columns of a body beyond the first ones'
works replay many/verify/trial_1/0
has 'the same to the bit'
sed '/^record/d' many.yaml >few.yaml
refused check few.yaml
has 'the law takes b75_wz, and trajectories have no columns of b75: name it in record.bodies' err
sed '/^record/d; s/-b75_wz/-b5_wz/; s/final: b75_qz/final: b75_wz/' many.yaml >few.yaml
refused check few.yaml
has 'a metric takes b75_wz, and trajectories have no columns of b75' err

# ---- gradients ------------------------------------------------------------------------------------------------------

sed -e 's/^experiment: double/experiment: slopes/' -e 's/duration: 2/duration: 0.5/' \
    -e 's/    law:/&\n      parameters: {k: 20, d: 0.5, s: 0.4}\n      held: {sum: {start: s}}/' \
    -e 's/      let:/      every_period: {sum: "sum + 0.01*upper_wy"}\n&/' \
    -e 's/- 0.5\*upper_wy/- d*upper_wy - sum/' -e 's/-20\*(b/-k*(b/' -e '/^search/,$d' double.yaml >slopes.yaml
cat >>slopes.yaml <<'.'
metrics: {reach: {final: lower_x}, effort: {mean: m2^2}}
search: {method: grid, over: {k: [10]}}
objective: {minimize: reach + 0.1*effort + input_work}
.
works run slopes.yaml --progress none
works gradient slopes/0 --parameters k,d,s,gravity,upper_mass --format csv
awk -F , 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
    { rows++; far = $at["tangent"] - $at["difference"]; far = far < 0 ? -far : far
      size = $at["difference"] < 0 ? -$at["difference"] : $at["difference"]
      if (size < 1e-3 || far > 1e-6*size + 10*$at["error"]) { print; bad = 1 } }
    END { exit bad || rows != 5 }' out >err
check $? 'the tangent through a law is what differences give'
sed 's/^      held: {sum/      sensors: {upper_wy: {quantum: 0.1}}\n&/' slopes.yaml >jumps.yaml
works run jumps.yaml --progress none --name jumps
works gradient jumps/0 --parameters k
has 'such a reading has no derivative' err

# ---- what is refused ------------------------------------------------------------------------------------------------

cat >base.yaml <<'.'
version: 1
experiment: base
model: rigid
simulation:
  world:
    bodies: [{name: a}, {name: b, position: [1, 0, 0]}, {name: c, position: [3, 0, 0]}]
    constraints: [{name: pivot, type: hinge, a: a, at_a: [1, 0, 0], b: b}, {name: rod, type: distance, a: b, b: c}]
    forces:
      - {name: air, type: drag, a: a, area: 1}
      - {name: motor, type: input, a: a, hinge: pivot}
  control: {mode: law, law: {effort: {motor: 0}}}
search: {method: list, points: [{gravity: 9.81}]}
.
works check base.yaml
# wrong SED MESSAGE: base.yaml so changed is refused
wrong()
{
    sed "$1" base.yaml >wrong.yaml
    "$HOPSCOTCH" check wrong.yaml >out 2>err
    [ $? -eq 1 ] && grep -qF -e "$2" err && [ "$(grep -c 'error:' err)" -le 2 ]
    check $? "refused: $2"
}
motor='/name: motor/s/{.*}'
wrong 's/area: 1/&, axes: b/' 'axes of air: only a force of type input has one'
wrong 's/area: 1/&, hinge: pivot/' 'hinge of air: only a force of type input has one'
wrong 's/area: 1/&, range: [0, 1]/' 'range of air: only a force of type input has one'
wrong 's/hinge: pivot/&, damping: 1/' 'damping of motor: an input has only a direction and a range'
wrong 's/hinge: pivot/hinge: rod/' 'motor acts about rod, which is no hinge'
wrong 's/a: a, hinge: pivot/a: c, hinge: pivot/' 'motor acts on c, which the hinge pivot does not hold'
wrong 's/hinge: pivot/&, b: b/' 'motor acts about the hinge pivot, which says what b and axes would: leave them out'
wrong 's/hinge: pivot/&, force: [0, 0, 1]/' 'motor has more than one direction: an input has one of force'
wrong 's/, hinge: pivot//' 'motor has no direction: an input has one of force: [0, 0, 1], torque'
wrong 's/hinge: pivot/&, range: [1, -1]/' 'range of motor is [1, -1], expected [least, greatest]'
wrong "$motor/{name: motor, type: input, a: a, b: b, force: [0, 0, 1]}/" 'motor is a force on a alone: leave b out'
wrong "$motor/{name: motor, type: input, a: a, b: a, torque: [0, 0, 1]}/" 'motor turns a body against itself: a and b'
wrong 's/hinge: pivot/hinge: pivt/' "did you mean 'pivot'"
wrong 's/name: motor/name: b_vx/; s/{motor: 0/{b_vx: 0/' "the model has a column 'b_vx': give the input another name"
wrong 's/name: motor/name: gravity/; s/{motor: 0/{gravity: 0/' "a parameter 'gravity': give the input another name"
wrong 's/name: motor/name: residual_max/' "a metric 'residual_max': give the input another name"
wrong 's/{motor: 0}/{moto: 0}/' "the model has no motor 'moto'; did you mean 'motor'"
wrong 's/effort: {/command: {/' "this model's motors take no command: write effort"
wrong 's/mode: law.*/mode: none}/' 'nothing gives the input motor: control: {mode: law, law: {effort: {motor: 0}}}'
wrong '/  control:/d' 'nothing gives the input motor: control'
wrong 's/law: {effort.*/period: 0.01}/' 'control: {mode: law} needs control.law, such as {effort: {motor: 0}}'
wrong '/name: motor/d' 'control: {mode: law} needs a force of the world that it gives: {name: thrust, type: input'
wrong 's/mode: law/mode: external/' 'control.law needs control: {mode: law}'
wrong 's/mode: law.*/mode: external, action_period: 0.1}/' 'control.action_period needs control: {mode: law}'
wrong 's/mode: law.*/mode: external}/' 'control: {mode: external} needs control.actions or control.file: a number'
wrong 's/mode: law.*/mode: none, actions: [1]}/' 'control.actions needs control: {mode: external}'
wrong 's/mode: law.*/mode: policy, actions: [1]}/' 'control.actions needs control: {mode: external}'
wrong 's/mode: law.*/mode: policy}/' 'motor has no range, and a policy gives parts of one: range: [-1, 1]'
wrong 's/mode: law/&, period: 0.015/' 'control.period (0.015 s) must be a whole number of steps dt (0.01 s)'
exit $status
