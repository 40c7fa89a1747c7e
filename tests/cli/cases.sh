#!/bin/sh
# Several recordings in one fit (`cases`), and recordings held out (`validate`): residuals are stacked, what is known
# beforehand counts once, derivatives by adjoint, tangent and differences agree, the same digest for batches, threads,
# instruction sets and pieces, what `fit` says of each recording, refusals. By scipy: values and intervals of a pendulum
# from one and from three recordings, and a bias of one of them.
. "$(dirname "$0")/../scratch.sh"

hopscotch() { "$HOPSCOTCH" "$@" >out 2>err; }
digest() { "$HOPSCOTCH" digest "$1" 2>err | cut -d' ' -f1; }
fitness() { "$HOPSCOTCH" query "$1" --sql "SELECT fitness FROM trials ORDER BY id LIMIT 1" --format csv | tail -n 1; }
said() { grep -q "$1" err; }

cp -r "$root/experiments/robots" "$root"/experiments/identify_arm* "$root/experiments/plan_pendulum.yaml" .

# ---- the arm --------------------------------------------------------------------------------------------------------

hopscotch run identify_arm.yaml --progress none && grep -q ' fit identify_arm/best' out &&
    hopscotch fit identify_arm/best --format csv &&
    awk -F, 'BEGIN { split("0.031 0.042 0.013 0.35 0.5 0.15 0.6 0.8 0.3 2.71", truth, " ") }
        NR > 1 { held += $3 <= truth[NR - 1] && truth[NR - 1] <= $4 } END { exit !(NR == 11 && held >= 9) }' out &&
    said 'recording   identify_arm_light.csv: rms .* of 453 residuals in 3 series, white' &&
    said 'recording   identify_arm_loaded.csv: rms .* of 252 residuals in 3 series, white' &&
    said 'the model is enough for these recordings' && said 'held out    identify_arm_other.csv: no column is off'
check $? "two recordings of an arm, with commands, start, length, rate and load of their own"
expected=$(digest identify_arm)
tried=0
for how in "--batch 2 --threads 1" "--batch 14 --threads 2 --isa scalar"; do
    [ -n "${QUICK:-}" ] && [ "${how#*isa}" != "$how" ] && continue
    tried=$((tried + 1))
    # shellcheck disable=SC2086
    hopscotch run identify_arm.yaml --name other$tried --progress none $how && [ "$(digest other$tried)" = "$expected" ]
    check $? "the same digest with $how"
done
if [ -x "$HOPSCOTCH_FAULTS_PROGRAM" ]; then
    "$HOPSCOTCH_FAULTS_PROGRAM" run identify_arm.yaml --name devices --progress none --backend faulty --device 0,1 \
        >out 2>err && [ "$(digest devices)" = "$expected" ]
    check $? "the same digest on two devices"
fi
recorded='record={trajectories: {select: {best: 2}, replicates: all},
    debug: {solve: {select: {best: 1}, window: [0, 0.01], replicates: all}}}'
hopscotch run identify_arm.yaml --name recorded --progress none --set "$recorded" --set replicates.store=true &&
    hopscotch doctor recorded && hopscotch query recorded --format csv \
    --sql 'SELECT replicate, max(samples) FROM trajectories GROUP BY replicate' && grep -q '^0,1501$' out &&
    grep -q '^1,1001$' out
check $? "trajectories and debug rows of both cases"
hopscotch run identify_arm.yaml --name pieces --progress none --set limits.trials=15 &&
    hopscotch resume pieces --progress none --set limits.trials=none && [ "$(digest pieces)" = "$expected" ]
check $? "stopped and resumed: the same digest"
hopscotch doctor identify_arm && grep -q 'kept files *9, each' out
check $? "the doctor knows the files of all cases and of the recording that is held out"
for replicate in 0 1; do
    hopscotch replay identify_arm/best/$replicate -o motion$replicate.csv --sample 0.5
done
[ "$(tail -n 1 motion0.csv | cut -d, -f1)" = 3 ] && [ "$(tail -n 1 motion1.csv | cut -d, -f1)" = 2 ] &&
    awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "turn_q") turn = i }
        NR == 2 { exit $turn != 0.4 }' motion1.csv
check $? "a replay of each recording, from its own start to its own end"
hopscotch fit identify_arm/best --held-out --format csv &&
    [ "$(grep -c '^identify_arm_other.csv,.*,101,' out)" -eq 3 ] &&
    hopscotch fit identify_arm/best --residuals --format csv && grep -q '^identify_arm_loaded.csv: elbow_q,84,' out
check $? "columns of each recording"
hopscotch report identify_arm -o report.html && grep -q '<th>held out</th>' report.html &&
    grep -q 'identify_arm_loaded.csv: rms' report.html
check $? "the report says the same"
hopscotch check identify_arm.yaml && grep -q 'identify_arm_loaded.csv: 84 rows of 3 columns' out &&
    hopscotch plan identify_arm.yaml
check $? "check knows each recording"

# Another recording after the run: nothing is computed again.
hopscotch run identify_arm.yaml --progress none \
    --set 'validate={simulation.reference: {file: identify_arm_loaded.csv, to: 1.9},
    simulation.duration: 2, simulation.control.file: identify_arm_light_commands.csv}' && grep -q 'done already' err &&
    hopscotch fit identify_arm/best && said 'held out    identify_arm_loaded.csv: 3 of 3 columns are off by more'
check $? "another recording is held out later; one with other commands is off"

# A case changes the file alone of a mapping; a resolved spec has the columns of that case, which are no names of it.
hopscotch run identify_arm.yaml --name mapped --progress none --set limits.trials=1 --set validate=none \
    --set 'simulation.reference={file: identify_arm_light.csv, columns: {turn_rate: turn_q, elbow_q: elbow_q}}' \
    --set 'cases=[{}, {simulation.reference.file: identify_arm_loaded.csv, simulation.duration: 2}]'
hopscotch replay mapped/0 && grep -q 'the same to the bit' out && hopscotch digest mapped
check $? "a case with another file of a mapped recording is read again as it was stored"

# ---- what is stacked ------------------------------------------------------------------------------------------------

# at POINT NAME ARGUMENTS...: the fitness of one trial
at()
{
    name=$1
    shift
    hopscotch run identify_arm.yaml --name "$name" --progress none \
        --set 'search={method: grid, over: {upper_mass: [2.5]}}' "$@"
    fitness "$name"
}
light='{simulation.reference: identify_arm_light.csv, simulation.control.file: identify_arm_light_commands.csv,
    simulation.duration: 3, initial.shoulder_start: 0.5, initial.elbow_start: 1.5}'
loaded='{simulation.reference: identify_arm_loaded.csv, simulation.robot: robots/arm_loaded.xml,
    simulation.control.file: identify_arm_loaded_commands.csv, simulation.duration: 2, initial.turn_start: 0.4,
    initial.shoulder_start: 0.9, initial.elbow_start: 1.2}'
both=$(at both) one=$(at one --set "cases=[$light]") two=$(at two --set "cases=[$loaded]")
turned=$(at turned --set "cases=[$loaded, $light]")
known=$(at known --set 'objective.residuals=[reference, (upper_mass - 2.6)/0.01]')
echo "$both $one $two $turned $known" | tee out | awk '
    function near(a, b) { return a / b - 1 < 1e-12 && a / b - 1 > -1e-12 }
    { both = near($1, sqrt((453 * $2^2 + 252 * $3^2) / 705)) && near($4, $1)
      exit !(both && near($5, sqrt((705 * $1^2 + 100) / 706))) }'
check $? "the fitness is that of all residuals together, in any order; what is known beforehand counts once"
hopscotch gradient known/0 --format csv
awk -F, 'NR > 1 && $2 == 2.5 { d = $4 / $5 - 1; e = $4 / $6 - 1; n += d < 1e-9 && d > -1e-9 && e < 1e-5 && e > -1e-5 }
    END { exit n != 1 }' out
check $? "its derivatives by the adjoint, the tangent and differences agree"
for method in adam lbfgs cmaes; do
    [ -n "${QUICK:-}" ] && [ $method != lbfgs ] && continue
    hopscotch run identify_arm.yaml --name $method --progress none --set search.method=$method \
        --set limits.trials=100 && hopscotch fit $method/best && "$HOPSCOTCH" query $method --format csv \
        --sql "SELECT min(fitness) < 0.9*max(fitness) FROM trials" 2>err | tail -n 1 | grep -q 1
    check $? "method $method searches over cases"
done

# Residuals that are expressions: the decay of two starts to what each is to reach, by duals and by differences.
cat >decay.yaml <<'END'
version: 1
experiment: decay
model: equations
cases:
  - {parameters.start: 1, parameters.seen: 0.4}
  - {parameters.start: 2, parameters.seen: 0.7, simulation.duration: 1.2}
simulation:
  duration: 1
  system:
    parameters: {rate: {value: 1}, start: {value: 1}, seen: {value: 1}}
    states: {x: {start: start}}
    rates: {x: -rate*x}
    metrics: {end: {final: x}}
search:
  method: least_squares
  over: {rate: {range: [0.1, 3]}}
  least_squares: {stop: {decrease: 1.0e-14}}
objective: {residuals: [end - seen, 0.1*(rate - 0.9)]}
END
# The root of the derivative of (exp(-k) - 0.4)^2 + (2 exp(-1.2 k) - 0.7)^2 + (0.1 (k - 0.9))^2, by halving.
solved=$(awk '
    function slope(k) { return -2*exp(-k)*(exp(-k) - 0.4) - 4.8*exp(-1.2*k)*(2*exp(-1.2*k) - 0.7) + 0.02*(k - 0.9) }
    BEGIN { a = 0.5; b = 1.5; for (i = 0; i < 60; i++) { m = (a + b)/2; if (slope(m) > 0) b = m; else a = m }
        printf "%.12g", a }')
for gradient in tangent differences; do
    hopscotch run decay.yaml --name $gradient --progress none --set search.least_squares.gradient=$gradient &&
        hopscotch fit $gradient/best --format csv &&
        awk -F, -v solved="$solved" '$1 == "rate" { d = $2 / solved - 1; f = d < 1e-6 && d > -1e-6 }
            END { exit !f }' out
    check $? "expressions of each case: the least squares of a decay, by $gradient"
done

# ---- refusals -------------------------------------------------------------------------------------------------------

refused() # NAME PATTERN SPEC ARGUMENTS...
{
    what=$1 pattern=$2
    shift 2
    if hopscotch check "$@"; then false; else grep -q "$pattern" err; fi
    check $? "refused: $what"
}
refused "replicates that are no multiple" 'runs under a case, .* multiple of the 2 cases, or left out' decay.yaml \
    --set replicates.count=3
refused "more replicates in a fit" 'one run of each case' decay.yaml --set replicates.count=4
refused "another key" "'search.over' is not a key of simulation" decay.yaml --set 'cases=[{search.over: 1}, {}]'
refused "another step" 'has another step dt than the first one: all cases share them' identify_arm.yaml \
    --set "cases=[$light,
    ${light%\}}, simulation.dt: 0.001}]"
refused "a recording that is not there" "cannot read 'none.csv'" identify_arm.yaml --set "cases=[$light, none.csv]"
refused "no recording" 'has other metrics than the first' identify_arm.yaml --set 'objective={minimize: energy}' \
    --set validate=none --set search.method=cmaes --set 'cases=[{}, {simulation.reference: none}]'
refused "no commands" 'with the values of this case' identify_arm.yaml \
    --set 'cases=[{}, {simulation.control.file: none}]'
refused "a parameter that is searched" 'is searched' identify_arm.yaml \
    --set "cases=[$light, {parameters.upper_mass: 1}]"
refused "an environment" 'an environment has one setting' identify_arm.yaml --set 'environment={reward: turn_q}' \
    --set 'simulation.control.mode=external'
refused "a race" 'leave .replicates.race. out' decay.yaml \
    --set 'search={method: random, trials: 20, over: {rate: {range: [0, 1]}}}' \
    --set 'objective={minimize: end}' --set 'replicates={count: 4, race: {start: 2, keep: 0.5},
    perturb: {start: {normal: [1, 0.1]}}}'
cp identify_arm_light.csv copied.csv
refused "a recording that is fitted and held out, by another name" \
    'copied.csv is fitted too, as identify_arm_light.csv: hold another one out, or leave it out of the fit' \
    identify_arm.yaml --set validate=copied.csv
hopscotch check identify_arm.yaml --set 'cases=[identify_arm_light.csv, copied.csv]' --set validate=none &&
    said 'copied.csv is the recording of identify_arm_light.csv once more: each of its rows counts twice'
check $? "a recording that is listed twice is named"
awk -F, -v OFS=, '{ print $1, $4, $2, $3 }' identify_arm_light.csv >turned.csv
refused "the same with columns in another order" 'turned.csv is fitted too, as identify_arm_light.csv' \
    identify_arm.yaml --set validate=turned.csv
awk 'NR == 1 || NR > 100' identify_arm_light.csv >tail.csv
hopscotch check identify_arm.yaml --set validate=tail.csv &&
    said '5[0-9] of 5[0-9] rows of tail.csv are rows of identify_arm_light.csv, which is fitted: hold others out'
check $? "rows of a fitted recording that are held out are named"
hopscotch check identify_arm.yaml --set cases=none --set 'simulation.reference={file: identify_arm_light.csv, to: 2}' \
    --set 'validate={file: identify_arm_light.csv, from: 2.01}' && ! said 'which is fitted'
check $? "another part of the file is held out without a remark"
hopscotch check identify_arm.yaml --set validate=none \
    --set 'cases=[{file: identify_arm_light.csv, to: 1}, {file: identify_arm_light.csv, from: 1.01}]' &&
    ! said 'once more'
check $? "two parts of one file are two recordings"
refused "validate without residuals" 'validate compares residuals: the spec needs' identify_arm.yaml \
    --set 'objective={minimize: energy}' --set search.method=cmaes
refused "a number of two robots" 'lower_mass is 1.9 by its files, and 1.1 by' identify_arm.yaml \
    --set 'search.over.lower_mass={range: [0.5, 3]}'
hopscotch check identify_arm.yaml --set parameters.lower_mass=1.2 && said 'and the spec gives it 1.2'
check $? "a number that the spec gives in place of another robot's"
refused "validate of a plan" 'a plan has no recording to compare with' plan_pendulum.yaml \
    --set 'validate={parameters.dry: 0}'
refused "cases of a plan" 'information is that of one planned run' plan_pendulum.yaml \
    --set 'cases=[{parameters.dry: 0}, {parameters.dry: 0.1}]'
if hopscotch verify identify_arm; then false; else grep -q 'has cases, and other replicates' err; fi
check $? "refused: verify"
printf '%s\n' 'version: 1' 'experiment: plain' 'model: bbob' 'validate: {simulation.instance: 2}' \
    'objective: {residuals: [f]}' \
    'search: {method: random, trials: 3, over: {x1: {range: [-5, 5]}, x2: {range: [-5, 5]}}}' >plain.yaml
hopscotch run plain.yaml --progress none
if hopscotch fit plain/best; then false; else grep -q 'validate needs runs with dual numbers' err; fi
check $? "refused: validate of a model without dual numbers"

# ---- a start of each recording --------------------------------------------------------------------------------------

awk -F, 'NR == 1 || $1 <= 6' "$root/experiments/identify_pendulum.csv" >short.csv
cp "$root/experiments/identify_pendulum.csv" .
sed -e 's/^    parameters:$/&\n      start_a: {value: 0.7, unit: rad}\n      start_b: {value: 1.3, unit: rad}/' \
    -e 's/start: 1, unit: rad/start: start_a, unit: rad/' \
    -e 's/^    length:  /    start_a: {range: [0.5, 1.5]}\n    start_b: {range: [0.5, 1.5]}\n&/' \
    "$root/experiments/identify_pendulum.yaml" >starts.yaml
hopscotch run starts.yaml --name starts --progress none \
    --set 'cases=[{}, {simulation.system.states.angle.start: start_b,
    simulation.system.inputs.seen.file: short.csv, simulation.duration: 6}]' &&
    hopscotch fit starts/best --format csv &&
    awk -F, '/^start_/ { n += $3 <= 1 && 1 <= $4 && $4 - $3 < 0.02 } END { exit n != 2 }' out
check $? "each of two recordings has a start of its own that is searched"

# ---- a pendulum by scipy --------------------------------------------------------------------------------------------

if ! python3 -c 'import scipy' 2>/dev/null; then
    skip "values and intervals beside scipy's" scipy "pip install scipy"
    exit $status
fi
sed -e 's/^    parameters:$/&\n      angle0: {value: 1, unit: rad}\n      rate0: {value: 0, unit: rad\/s}/' \
    -e 's/start: 1, unit: rad/start: angle0, unit: rad/; s/start: 0, unit: rad/start: rate0, unit: rad/' \
    -e 's/identify_pendulum.csv/a.csv/' "$root/experiments/identify_pendulum.yaml" >pendulum.yaml
b='{simulation.system.inputs.seen.file: b.csv, simulation.duration: 6, parameters.angle0: -0.7, parameters.rate0: 1}'
c='{simulation.system.inputs.seen.file: c.csv, simulation.duration: 4, parameters.angle0: 0.4, parameters.rate0: -2}'
three="cases=[{}, $b, $c]"
# beside CAMPAIGN RECORDINGS...: values within 3 %, errors within 2 % of scipy's deviation
beside()
{
    name=$1
    shift
    python3 "$root/tests/cases_oracle.py" fit "$@" >oracle 2>err && hopscotch fit "$name/best" --format csv &&
        awk -F, 'NR == FNR { split($0, word, " "); value[word[1]] = word[2]; error[word[1]] = word[3]; next }
            $1 in value { d = ($2 - value[$1]) / error[$1]; e = $6 / error[$1] - 1
                n += d < 0.03 && d > -0.03 && e < 0.02 && e > -0.02 }
            END { exit n != 3 }' oracle out
}
python3 "$root/tests/cases_oracle.py" write 0
hopscotch run pendulum.yaml --name one_of --progress none && beside one_of a
check $? "one recording: values and deviations are scipy's"
cut -d, -f1,6 out >single
hopscotch run pendulum.yaml --name three_of --progress none --set "$three" && beside three_of a b c
check $? "three recordings: values and deviations are scipy's"
cut -d, -f1,6 out | paste -d, single - | awk -F, 'NR > 1 { n += $4 < 0.85*$2 } END { exit n != 3 }'
check $? "and all deviations are smaller than with one"
hopscotch run pendulum.yaml --name validated --progress none --set "cases=[{}, $b]" --set "validate=[$c]" &&
    hopscotch fit validated/best && said 'held out    c.csv: no column is off'
check $? "a recording that no trial saw: as where it was fitted"
python3 "$root/tests/cases_oracle.py" write 0.006
hopscotch run pendulum.yaml --name biased --progress none --set "$three" && hopscotch fit biased/best &&
    said 'the mean is not 0 in 1 series, most in c.csv: track_error' && said 'c.csv: rms .* the mean of 1 not 0'
check $? "a bias of one recording: the test of its mean names it"
hopscotch run pendulum.yaml --name wrong --progress none --set "cases=[$b, $c]" --set 'validate=[{name: a.csv}]' \
    --set simulation.system.parameters.dry.value=0 --set 'search.over={length: {range: [0.2, 1]},
    viscous: {range: [0.01, 1]}}' && hopscotch fit wrong/best --held-out
said 'held out    a.csv: 1 of 1 columns are off by more'
check $? "a wrong model: the recording that was held out says so"

exit $status
