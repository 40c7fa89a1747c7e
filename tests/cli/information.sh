#!/bin/sh
# objective: {information: ...}: what a recording would tell, against the formulas of a line; expected intervals of fit;
# the same digest for threads, batches and pieces, of equations and of a robot; refusals.
. "$(dirname "$0")/../scratch.sh"

hopscotch() { "$HOPSCOTCH" "$@" >out 2>err; }

# ---- a line ---------------------------------------------------------------------------------------------------------

# a + b t at t = 0, 0.5, ... 5.5: F = (sum 1, sum t; sum t, sum t^2)/noise^2, a = 2, b = -0.5.
cat >line.yaml <<'END'
version: 1
experiment: line
model: equations
simulation:
  duration: 6
  system:
    parameters: {a: {value: 2}, b: {value: -0.5}, stretch: {value: 1}, unseen: {value: 3}}
    states: {x: {start: 0}, off: {start: 0}}
    rates: {x: b*stretch, off: unseen}
    events: [{name: frame, every: 0.5}]
    metrics: {seen: {at: frame, value: a + x, take: rms}, end: {final: x}}
search: {method: grid, over: {stretch: [1, 2, 4]}}
objective: {residuals: seen, information: {of: [a, b], criterion: D, noise: 0.1}}
END
# expected CRITERION STRETCH: the criterion, and both standard deviations
expected()
{
    awk -v which="$1" -v stretch="$2" 'BEGIN {
        for (k = 0; k < 12; k++) { t = 0.5 * k * stretch; n++; s += t; q += t * t }
        a = 2; b = 0.5; v = 0.01; det = n * q - s * s
        of_a = sqrt(v * q / det); of_b = sqrt(v * n / det)
        d = (v * v / det / (a * a * b * b)) ^ 0.25; A = sqrt(((of_a / a) ^ 2 + (of_b / b) ^ 2) / 2)
        printf("%.12g %.12g %.12g", which == "D" ? d : A, of_a, of_b) }'
}
# close A B: equal to 1e-5
close() { echo "$1 $2" | awk '{ d = $1 / $2 - 1; exit !(d < 1e-5 && d > -1e-5) }'; }
of_error() { awk -F, -v name="$1" '$1 == name { print $6 }' out; }
for criterion in D A; do
    hopscotch run line.yaml --name "$criterion" --progress none --set "objective.information.criterion=$criterion"
    for trial in 0 2; do
        set -- $(expected $criterion $((1 + 3 * trial / 2)))
        hopscotch query "$criterion" --format csv && found=$(awk -F, -v id=$trial '
            NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i } $at["id"] == id { print $at["fitness"] }' out)
        close "$found" "$1" && hopscotch fit "$criterion/$trial" --format csv && close "$(of_error a)" "$2" &&
            close "$(of_error b)" "$3"
        check $? "a line, criterion $criterion, trial $trial: the criterion and both errors are those of the formulas"
    done
done
hopscotch fit D/2 && grep -q 'expected ones, of 95 %: there is no recording yet' err
check $? "it says that there is no recording"
hopscotch run line.yaml --name open --progress none --set 'search.over={unseen: [3]}' \
    --set 'objective.information.of=[a, b, stretch]'
hopscotch status open && grep -q "^failures  *1 trials" out
check $? "a plan that leaves a combination open has no value"

# A noise for each: a + x with 0.1, and 2 a + x with 0.3.
sed 's/take: rms}, end/take: rms}, twice: {at: frame, value: 2*a + x, take: rms}, end/
    s/residuals: seen/residuals: [seen, twice]/; s/noise: 0.1/noise: {twice: 0.3, seen: 0.1}/' line.yaml >two.yaml
hopscotch run two.yaml --name sensors --progress none && hopscotch fit sensors/0 --format csv &&
    grep -q 'residuals is to be {seen: 0.1, twice: 0.3}' err &&
    awk 'BEGIN { for (k = 0; k < 12; k++) { t = 0.5 * k; v = 1/0.01; w = 1/0.09
            aa += v + 4*w; ab += v*t + 2*w*t; bb += v*t*t + w*t*t }
        det = aa*bb - ab*ab; printf "%.12g %.12g", sqrt(bb/det), sqrt(aa/det) }' >expect
read -r of_a of_b <expect
close "$(of_error a)" "$of_a" && close "$(of_error b)" "$of_b"
check $? "a noise for each series: errors are those of the formulas"
! hopscotch check two.yaml --set 'objective.information.noise={seen: 0.1}' && grep -q 'no value for twice' err &&
    ! hopscotch check two.yaml --set 'objective.information.noise={seen: 0.1, twise: 0.3}' &&
    grep -q "no residual is called 'twise'; did you mean 'twice'" err
check $? "each needs one, by its name"

# ---- bits -----------------------------------------------------------------------------------------------------------

grep -v '^search:' line.yaml >search.yaml
cat >>search.yaml <<'END'
search:
  method: cmaes
  cmaes: {stop: {generations: 6}}
  over: {stretch: {range: [0.5, 4]}, unseen: {range: [0, 1]}}
END
hopscotch run search.yaml --name whole --progress none --threads 1 && whole=$(digest whole) && [ -n "$whole" ] &&
    hopscotch run search.yaml --name teams --progress none --threads 3 --batch 7 && [ "$(digest teams)" = "$whole" ] &&
    hopscotch run search.yaml --name pieces --progress none --set limits.trials=17 &&
    hopscotch resume pieces --progress none --set limits.trials=none && [ "$(digest pieces)" = "$whole" ]
check $? "the same digest for threads, batches and pieces"
hopscotch replay whole/best && hopscotch verify whole
check $? "replay and verify compute it again"

cp -r "$root/experiments/robots" "$root/experiments/identify_biped.csv" .
sed -e '/^search:/,$d' -e '/^  hip_offset:/d' -e 's/^experiment: .*/experiment: biped/' \
    -e 's/^parameters:.*/parameters:\n  torso_mass: 18\n  hip_friction: 2\n  knee_armature: 0.03/' \
    "$root/experiments/identify_biped.yaml" >biped.yaml
cat >>biped.yaml <<'END'
search: {method: random, trials: 4, over: {hip_offset: {range: [-0.4, -0.3]}}}
objective: {residuals: reference, information: {of: [torso_mass, hip_friction, knee_armature], noise: 1}}
END
hopscotch run biped.yaml --name one --progress none --threads 1 &&
    hopscotch run biped.yaml --name two --progress none --threads 2 --set limits.trials=2 &&
    hopscotch resume two --progress none --set limits.trials=none && [ -n "$(digest one)" ] &&
    [ "$(digest one)" = "$(digest two)" ] && hopscotch replay one/best && hopscotch fit one/best
check $? "a robot: the same digest in two pieces, and replay"

# Joints, with the noise of their encoders: at the columns, or in the plan.
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
    { print $at["time"] "," $at["left_hip_q"] "," $at["left_knee_rate"] }' identify_biped.csv >joints.csv
joints() # NAME COLUMN1 COLUMN2 NOISE
{
    hopscotch run biped.yaml --name "$1" --progress none --set simulation.reference_scale=none --set limits.trials=2 \
        --set "simulation.reference={file: joints.csv, columns: {left_hip_q: $2, left_knee_rate: $3}}" \
        --set "objective.information.noise=$4" && hopscotch fit "$1/0" --format csv && cp out "$1.fit"
}
joints columns '{column: left_hip_q, noise: 0.001}' '{column: left_knee_rate, noise: 0.02}' 1 &&
    joints planned left_hip_q left_knee_rate '{left_hip_q: 0.001, left_knee_rate: 0.02}' &&
    paste -d, columns.fit planned.fit |
    awk -F, 'NR > 1 && $6/$13 - 1 < 1e-9 && $13/$6 - 1 < 1e-9 { n++ } END { exit n != 3 }'
check $? "a robot: noise by column in the plan is that at the columns"
! joints scaled '{column: left_hip_q, noise: 0.001}' '{column: left_knee_rate, noise: 0.02}' \
    '{left_hip_q: 0.001, left_knee_rate: 0.02}' && grep -q 'in the units of columns: write .reference_scale: none' err
check $? "but not both"

# ---- refusals -------------------------------------------------------------------------------------------------------

refused() # NAME PATTERN ARGUMENTS...
{
    what=$1 pattern=$2
    shift 2
    if hopscotch check "$@"; then false; else grep -q "$pattern" err; fi
    check $? "refused: $what"
}
refused "no residuals" 'is that of residuals: name them too' line.yaml \
    --set 'objective={minimize: end, information: {of: [a], noise: 1}}'
refused "no noise" 'needs `noise`' line.yaml --set 'objective.information={of: [a]}'
refused "no parameters" 'needs `of`' line.yaml --set 'objective.information={noise: 1}'
refused "an empty list" 'of is a list of 1 to 64' line.yaml --set 'objective.information.of=[]'
refused "an unknown parameter" "unknown parameter 'c' in information" line.yaml --set 'objective.information.of=[a, c]'
refused "a parameter twice" 'a is named twice' line.yaml --set 'objective.information.of=[a, a]'
refused "another criterion" 'criterion is D or A' line.yaml --set 'objective.information.criterion=E'
refused "an unknown key" "has no key 'noize'" line.yaml --set 'objective.information={of: [a], noize: 1}'
refused "replicates" 'is that of one run' line.yaml --set replicates.count=3
refused "least squares" 'least_squares makes residuals small' line.yaml \
    --set 'search={method: least_squares, over: {stretch: {range: [1, 2]}}}'
refused "a gradient" 'has no derivative: search it by cmaes; use `gradient: differences`' line.yaml \
    --set 'search={method: adam, adam: {gradient: adjoint}, over: {stretch: {range: [1, 2]}}}'
refused "more parameters than residuals" "1 residual can't determine 2" line.yaml --set 'objective.residuals=end'
refused "a scalar" 'a mapping of of, criterion and noise' line.yaml --set objective.information=D
refused "a parameter without derivative" 'no residual depends smoothly on push_time' biped.yaml \
    --set 'objective.information.of=[push_time]'
hopscotch fit D/2 --bootstrap 99
[ $? -ne 0 ] && grep -q -e '--bootstrap needs a recording, and this campaign plans one' err
check $? "refused: the bootstrap of a plan"

exit $status
