#!/bin/sh
# A control law on top of a gait (control: {mode: gait, law: {add: {...}}}): one that adds nothing moves as the gait
# alone; one that adds moves as a law that gives the whole command; the same digest on every instruction set and in any
# batch; what is refused. Gradients: law_gradient.sh.
. "$(dirname "$0")/../law.sh"
digest() { "$HOPSCOTCH" digest "$1" | grep -o -m 1 '[0-9a-f]\{64\}'; }

cat >gait.yaml <<'YAML'
version: 1
experiment: gait
model: articulated
seed: 3
simulation:
  robot: leg.xml
  duration: 0.5
  dt: 0.002
  control:
    mode: gait
    period: 0.002
    law:
      parameters: {lean: {value: 0.3, unit: "1"}, push: {value: 0.5, unit: N m}, size: {value: 0.2, unit: rad}}
      held: {late: {start: 0, unit: rad}}
      every_period: {late: 0.9*late + 0.1*hip_q}
      add: {hip: -lean*late}
      effort: {knee: push*sin(2*pi*gait_frequency*time)}
parameters: {all_amplitude: 0.2, knee_phase: 1, gait_frequency: 2, fall_tilt: 1.5}
search: {method: grid, over: {lean: [0, 0.3, 0.6], hip_start: [0, 0.1]}}
objective: {minimize: energy}
YAML
numbers() { "$HOPSCOTCH" query "$1" --columns hip_start,energy,distance,tilt_rms,height_mean --format csv; }
# near A B: numbers of two files, to 1e-9
near()
{
    paste -d , "$1" "$2" | awk -F , 'NR > 1 { for (i = 1; i <= NF / 2; i++) { d = $i - $(i + NF / 2)
        if (d * d > 1e-18 * (1 + $i * $i)) { print; bad = 1 } } } END { exit bad || NR < 3 }' >apart
}

works run gait.yaml --progress none --isa scalar --batch 1 --threads 1
for way in $(vector_isas "$HOPSCOTCH" --isa=) "--batch 4 --slice 3" "--batch 5 --threads 2"; do
    rm -rf results/way
    # shellcheck disable=SC2086
    "$HOPSCOTCH" run gait.yaml --progress none --name way $way >out 2>err || grep -q "isa" err
    [ ! -d results/way ] || [ "$(digest way)" = "$(digest gait)" ]
    check $? "the same digest, $way"
done

alone='{method: grid, over: {hip_start: [0, 0.1]}}'
works run gait.yaml --progress none --name nothing --set "search=$alone" \
    --set 'simulation.control.law={add: {hip: 0}}'
works run gait.yaml --progress none --name gait_alone --set "search=$alone" --set 'simulation.control={mode: gait}'
numbers nothing >a.csv
numbers gait_alone >b.csv
cmp -s a.csv b.csv
check $? "a law that adds 0 leaves the gait as it is"

sed -e 's/mode: gait/mode: law/' -e 's/^experiment: gait/experiment: law/' \
    -e 's/^parameters: .*/parameters: {gait_frequency: 2, fall_tilt: 1.5}/' -e 's/^      add: .*/      command:\
        hip: hip_offset + size*sin(2*pi*gait_frequency*time) - lean*late\
        knee: knee_offset + size*sin(2*pi*gait_frequency*time + 1)/' gait.yaml >law.yaml
works run law.yaml --progress none
numbers gait >a.csv
numbers law >b.csv
near a.csv b.csv
check $? "a law on top of a gait moves as one that gives it all$(cat apart)"

refused check gait.yaml --set 'simulation.control.law={command: {hip: 0}}'
has "control: {mode: gait} has the commands: write add, which adds to them" err
sed 's/mode: gait/mode: law/' gait.yaml >wrong.yaml
refused check wrong.yaml
has "there is no gait to add to: write command" err
sed 's/mode: gait/mode: hold/' gait.yaml >wrong.yaml
refused check wrong.yaml
has "control.law needs control: {mode: law}, or {mode: gait}, to whose commands it adds" err
refused check gait.yaml --set 'simulation.control.law={held: {n: 0}}'
has "the law gives no motor a command or an effort: add: {hip: 0}" err
refused check gait.yaml --set parameters.hip_delay=0.01
has "a gait to which a law adds has no delay of commands: leave hip_delay out, or write the gait in the law" err
exit $status
