#!/bin/sh
# The gradient at a trial: by the adjoint, the tangent and differences, through the objective, derived parameters and
# replicates.
. "$(dirname "$0")/../scratch.sh"
fail()
{
    echo "FAIL gradient: $*"
    status=1
}
good() { echo "ok   gradient: $*"; }
cp -r "$root/experiments/robots" . || exit 3
cat >walk.yaml <<'YAML'
version: 1
experiment: walk
model: articulated
simulation:
  robot: robots/quadruped.xml
  keyframe: [stand]
  duration: 0.4
  dt: 0.002
  control: {mode: gait}
  groups: {thigh: [front_left_thigh, front_right_thigh], knee: [front_left_knee, front_right_knee]}
  design: {shank: {length: knee}, tilt: {rotate: thigh, axis: x, mirror: true}}
parameters: {all_kp: 80}
initial: {base_vx: 0.2}
search:
  method: random
  trials: 3
  over:
    gait_frequency:  {range: [1.0, 3.5]}
    thigh_amplitude: {range: [0.1, 0.6]}
    thigh_offset:    {range: [0.3, 0.9]}
    shank:           {range: [0.9, 1.1]}
    tilt:            {range: [-0.2, 0.2]}
    all_kd:          {derive: "0.03 * all_kp + gait_frequency"}
replicates: {count: 3, perturb: {ground_friction: {uniform: [0.5, 1.0]}}}
objective: {maximize: "distance - 0.2 * cost_of_transport - sqrt(lateral_drift^2 + 1e-4) * gait_frequency", over: mean}
YAML

# every row: the adjoint is as near to the difference as that is to the truth, and to the tangent up to rounding
agree() # FILE ROWS
{
    awk -F, -v rows="$2" 'NR > 1 { d = $4 - $6; if (d < 0) d = -d
        t = $4 - $5; if (t < 0) t = -t
        size = $6 < 0 ? -$6 : $6
        if ($4 == "" || $5 == "" || $6 == "" || d > 5 * $8 + 1e-7 * size) { print "row " $0; bad = 1 }
        if ($8 > 1e-2 * size + 1e-9 || t > 1e-8 * size + 1e-10) { print "row " $0; bad = 1 }
        n++ }
        END { exit bad || n != rows }' "$1" >&2
}

for over in mean worst median "quantile(0.3)"; do
    "$HOPSCOTCH" run walk.yaml --name walk --set "objective.over=$over" --results r --progress none >log 2>&1 ||
        fail "run: $(cat log)"
    "$HOPSCOTCH" gradient walk/1 --results r --format csv >rows.csv 2>log || fail "$(cat log)"
    agree rows.csv 5 2>wrong && good "the three ways agree over $over" || fail "over $over: $(cat wrong)"
    rm -rf r
done
# a perturbed parameter in the objective: what each replicate drew
"$HOPSCOTCH" run walk.yaml --set 'objective={maximize: "distance * (1 + ground_friction^2)", over: worst}' --results r \
    --progress none >log 2>&1 || fail "run: $(cat log)"
"$HOPSCOTCH" gradient walk/1 --results r --format csv >rows.csv 2>log || fail "$(cat log)"
agree rows.csv 5 2>wrong && good "the three ways agree of what was drawn" || fail "drawn: $(cat wrong)"
rm -rf r
"$HOPSCOTCH" run walk.yaml --set simulation.friction=anchored --results r --progress none >log 2>&1 ||
    fail "run: $(cat log)"
"$HOPSCOTCH" gradient walk/1 --results r --format csv >rows.csv 2>log || fail "$(cat log)"
agree rows.csv 5 2>wrong && good "adjoint and differences agree with anchored friction" || fail "anchored: $(cat wrong)"
rm -rf r
"$HOPSCOTCH" run walk.yaml --results r --progress none >log 2>&1 || fail "run: $(cat log)"
"$HOPSCOTCH" gradient walk/1 --results r --format csv --backend cpu --isa scalar --threads 1 >alone.csv 2>log
"$HOPSCOTCH" gradient walk/1 --results r --format csv >rows.csv 2>log && cmp -s rows.csv alone.csv &&
    good "the same bits with other kernels" || fail "kernels: $(diff rows.csv alone.csv)"
"$HOPSCOTCH" gradient walk/1 --results r --parameters all_kp,gravity,push_time --format csv >rows.csv 2>log
grep -q '^push_time,.*,s,,,' rows.csv && grep -v push_time rows.csv >some.csv && agree some.csv 2 2>wrong &&
    good "parameters that are not searched; none of a time" || fail "parameters: $(cat rows.csv wrong)"
[ "$("$HOPSCOTCH" gradient walk/1 --results r --parameters tilt --curve --format csv 2>log | wc -l)" = 10 ] &&
    grep -q '^walk/1: fitness ' log && good "the differences of nine steps" || fail "curve: $(cat log)"

# The report's bars are the adjoint at the best trial times the ranges.
"$HOPSCOTCH" gradient walk/best --results r --format csv >rows.csv 2>log
"$HOPSCOTCH" report walk --results r -o walk.html >log 2>&1
sed -n '/<section id="gradient">/,/<\/section>/p' walk.html >bars.html
awk -F, 'NR > 1 && $1 != "all_kd" { range["gait_frequency"] = 2.5; range["thigh_amplitude"] = 0.5
    range["thigh_offset"] = 0.6; range["shank"] = 0.2; range["tilt"] = 0.4; printf ">%.4g<\n", $4 * range[$1] }' \
    rows.csv >expected
for number in $(cat expected); do grep -qF -e "$number" bars.html || fail "no bar with $number"; done
[ "$(wc -l <expected)" = 5 ] && grep -q 'by the adjoint of the run.*over the 3 replicates' bars.html &&
    good "the report draws the adjoint by the ranges" || fail "report: $(cat log)"

# A model without an adjoint, and an objective without a derivative, have differences.
cat >sphere.yaml <<'YAML'
version: 1
experiment: sphere
model: bbob
simulation: {function: sphere, dimension: 2}
search: {method: list, points: [{x1: 1, x2: 5}]}
objective: {minimize: "f^2"}
YAML
"$HOPSCOTCH" run sphere.yaml --results r --progress none >log 2>&1 || fail "run: $(cat log)"
"$HOPSCOTCH" gradient sphere/0 --results r --format csv >rows.csv 2>log &&
    grep -q '^no adjoint: model bbob has no' log && awk -F, 'NR > 1 { size = $6 < 0 ? -$6 : $6
        if ($4 != "" || $5 != "" || $6 == "" || $8 > 1e-4 * size) bad = 1 } END { exit bad || NR != 3 }' rows.csv &&
    good "differences alone, at the end of a range too" || fail "differences: $(cat rows.csv log)"
sed -e 's/experiment: sphere/experiment: jump/' -e 's/f^2/exp(x1) + 5*(x1 >= 1) + exp(x2) + 5*(x2 > 1.00003)/' \
    -e 's/{x1: 1, x2: 5}/{x1: 1, x2: 1}/' sphere.yaml >jump.yaml
"$HOPSCOTCH" run jump.yaml --results r --progress none >log 2>&1 || fail "run: $(cat log)"
"$HOPSCOTCH" gradient jump/0 --results r --format csv >rows.csv 2>log &&
    grep -q '^x1,1,1,,,,,,0,a discontinuity near$' rows.csv &&
    grep -q '^x2,1,1,,,2\.718[0-9]*,[^,]*,[^,]*,0,a discontinuity near$' rows.csv &&
    good "a jump at the value has no difference, one near it is left out" || fail "jump: $(cat rows.csv log)"
"$HOPSCOTCH" run walk.yaml --name gap --set 'objective={minimize: gap_max}' --results r --progress none >log 2>&1
"$HOPSCOTCH" gradient gap/0 --results r >rows.txt 2>log &&
    grep -q '^no adjoint: metric gap_max of the objective has no derivative' log &&
    good "an objective without a derivative" || fail "gap: $(cat log)"
"$HOPSCOTCH" run walk.yaml --name apart --set simulation.attachment=child_only --results r --progress none >log 2>&1
"$HOPSCOTCH" gradient apart/best --results r >rows.txt 2>log &&
    grep -q '^no adjoint: only `attachment: tree` has a gradient' log && good "another attachment" ||
    fail "attachment: $(cat log)"

# Searches by the adjoint: steps as by differences, from one trial for each round; the same bits in batches of any size,
# and after a kill.
cat >search.txt <<'YAML'
{method: adam, adam: {searches: 3, gradient: adjoint, stop: {iterations: 12}}, over: {
gait_frequency: {range: [1.0, 3.5]}, thigh_amplitude: {range: [0.1, 0.6]}, shank: {range: [0.9, 1.1], scale: log},
all_kd: {derive: "0.03 * all_kp + gait_frequency"}}}
YAML
search() # NAME METHOD GRADIENT ARGUMENTS...: its best fitness
{
    name=$1 words=$(sed "s/adam/$2/g; s/gradient: adjoint/gradient: $3/" search.txt | tr '\n' ' ')
    shift 3
    "$HOPSCOTCH" run walk.yaml --name "$name" --set "search=$words" --results r --progress none "$@" >log 2>&1 ||
        fail "search: $(cat log)"
    best "$name"
}
best() { "$HOPSCOTCH" query "$1" --results r --format csv --sql "SELECT max(fitness) FROM trials" 2>>log | tail -n 1; }
# A search by the adjoint has one trial per iteration; the plan's bound is met here.
words=$(tr '\n' ' ' <search.txt)
"$HOPSCOTCH" plan walk.yaml --set "search=$words" >plan.txt 2>log
grep -q '^trials  *at most 36, 3 per generation' plan.txt &&
    grep -q '^bound .*time of its gradients is not included' plan.txt &&
    good "the plan counts one trial per step" || fail "plan: $(cat plan.txt log)"
# Its memory holds a state of the run for each step, lane and thread: 17 doubles for each body.
host_bytes() { "$HOPSCOTCH" plan walk.yaml --set "search=$words" --threads "$1" --json 2>log |
    sed -n 's/.*"host_bytes": \([0-9.e+]*\).*/\1/p'; }
one=$(host_bytes 1) three=$(host_bytes 3)
lanes=$("$HOPSCOTCH" run walk.yaml --name width --results r --progress none --set search.trials=1 2>&1 |
    sed -n 's/.* threads*, \([a-z0-9]*\)$/\1/p' | sed 's/v4/8/; s/v[23]/4/; s/neon/2/')
awk -v one="$one" -v three="$three" -v lanes="${lanes:-8}" 'BEGIN { thread = (three - one) / 2
    states = 17 * 8 * 13 * 200 * lanes; exit !(thread > states && thread < 2 * states) }' &&
    good "the plan counts the memory of gradients" || fail "memory: $one $three $lanes"
for method in adam lbfgs; do
    a=$(search "a$method" $method adjoint) b=$(search "b$method" $method "differences, difference: 1e-6")
    echo "$a $b" | awk '{ d = $1 - $2; exit !($1 != "" && d * d < 1e-8) }' &&
        good "$method: $a by the adjoint, $b by differences" || fail "$method: $a by the adjoint, $b by differences"
done
[ "$(best aadam)" = "$(search again adam adjoint --batch 1 --threads 1)" ] &&
    [ "$("$HOPSCOTCH" digest aadam --results r | cut -d' ' -f1)" = \
        "$("$HOPSCOTCH" digest again --results r | cut -d' ' -f1)" ] && good "the same digest one by one" ||
    fail "batches: $(cat log)"
# What the replicates say of it, and how it grows back in time: the same by differences, which can't tell the growth.
perturb="base_vx: {normal: [0.2, 0.4]}, ground_friction: {uniform: [0.2, 1.0]}"
signs() # NAME METHOD GRADIENT ARGUMENTS...
{
    name=$1 method=$2 gradient=$3
    shift 3
    search "$name" "$method" "$gradient" "$@" \
        --set "replicates={count: 4, perturb: {$perturb}}" >best
    "$HOPSCOTCH" query "$name" --results r --format csv \
        --sql "SELECT spread, cosine, growth FROM gradients WHERE round = 0 ORDER BY search" >"$name.csv" 2>log
}
signs ga adam adjoint && signs gd adam "differences, difference: 1e-6"
paste -d, ga.csv gd.csv | awk -F, 'NR > 1 { a = $1 - $4; b = $2 - $5
    if ($1 == "" || a * a > 1e-8 * $1 * $1 || b * b > 1e-8 || $3 <= 1 || $6 != "") bad = 1 }
    END { exit bad || NR != 4 }' && good "spread and cosine agree, growth by the adjoint alone" ||
    fail "signs: $(cat ga.csv gd.csv)"
signs gt adam tangent
paste -d, ga.csv gt.csv | awk -F, 'NR > 1 { a = $1 - $4; b = $2 - $5
    if ($4 == "" || a * a > 1e-12 * $1 * $1 || b * b > 1e-12 || $6 != "") bad = 1 }
    END { exit bad || NR != 4 }' && [ "$(best gt | cut -c1-10)" = "$(best ga | cut -c1-10)" ] &&
    good "the tangent leads the same way" || fail "tangent: $(cat ga.csv gt.csv)"
# The whiskers of the report and the bars give the spread of the round of the best trial.
"$HOPSCOTCH" report ga --results r -o ga.html >log 2>&1
sed -n '/<section id="gradient">/,/<h3>/p' ga.html |
    grep -o '<rect class="[bk][ae0]"[^>]*height="12"\|<line class="wh"[^>]*>' | sed 's/"/ /g' >shapes
spread=$("$HOPSCOTCH" query ga --results r --format csv \
    --sql "SELECT spread FROM gradients JOIN trials USING(search, round) ORDER BY fitness DESC LIMIT 1" | tail -n 1)
awk -v spread="$spread" '/^<rect/ { for (i = 1; i < NF; i++) if ($i == "width=") bars += $(i + 1) ^ 2; n++ }
    /^<line/ { for (i = 1; i < NF; i++) { if ($i == "x1=") a = $(i + 1); if ($i == "x2=") b = $(i + 1) }
        errors += ((b - a) / 2) ^ 2 }
    END { off = sqrt(errors / bars) - spread
        exit !(n == 3 && spread > 0.05 && off * off < (0.02 * spread) ^ 2) }' shapes &&
    good "whiskers and bars give the spread of the round, $spread" || fail "whiskers: $spread $(cat shapes)"
signs again2 adam adjoint --batch 1 && cmp -s ga.csv again2.csv && good "the same bits one by one" || fail "signs again"
"$SQL" r/ga/campaign.db "DELETE FROM rounds; DELETE FROM gradients" >log 2>&1
"$HOPSCOTCH" doctor ga --results r --repair >log 2>&1
[ "$("$HOPSCOTCH" digest ga --results r | cut -d' ' -f1)" = \
    "$("$HOPSCOTCH" digest again2 --results r | cut -d' ' -f1)" ] &&
    good "the doctor computes gradients by the adjoint again" || fail "doctor: $(cat log)"
if [ -x "$HOPSCOTCH_FAULTS_PROGRAM" ]; then
    words=$(tr '\n' ' ' <search.txt)
    HOPSCOTCH_FAULT=fsync:20:KILL "$HOPSCOTCH_FAULTS_PROGRAM" run walk.yaml --name killed --set "search=$words" \
        --results r --progress none >log 2>&1
    "$HOPSCOTCH" resume killed --results r --progress none >log 2>&1
    [ "$("$HOPSCOTCH" digest aadam --results r | cut -d' ' -f1)" = \
        "$("$HOPSCOTCH" digest killed --results r | cut -d' ' -f1)" ] && good "killed and resumed: the same digest" ||
        fail "killed: $(cat log)"
else
    with_faults "a kill"
fi

# Metrics that count, time, or are the greatest of something are refused by check, by name and place; others are not.
smooth=" distance mean_speed lateral_drift energy cost_of_transport height_mean tilt_rms action_rate"
smooth="$smooth ground_force_mean slip "
metrics=$("$HOPSCOTCH" models articulated | awk '/^metrics / { on = 1; next } NF == 0 { on = 0 } on { print $1 }')
words=$(tr '\n' ' ' <search.txt)
seen=0
for metric in $metrics; do
    "$HOPSCOTCH" check walk.yaml --set "search=$words" \
        --set "objective={minimize: \"energy + max($metric, 0)\"}" >out 2>&1
    accepted=$?
    case $smooth in *" $metric "*) expected=0 ;; *) expected=1 ;; esac
    seen=$((seen + 1))
    [ $accepted = $expected ] || fail "check of $metric: $(cat out)"
    [ $expected = 0 ] || grep -q "^--set:1:[0-9]*: error: metric $metric of the objective has no derivative" out ||
        fail "check of $metric: $(cat out)"
done
[ $seen = 18 ] && good "check accepts 10 of 18 metrics for the adjoint, and names the others" || fail "$seen metrics"

# Replicates that fail: they are left out, or count as a constant. A start that fails has no gradient.
for failed in ignore "penalty(3)"; do
    "$HOPSCOTCH" run walk.yaml --name some --results r --progress none --set "objective.failed=$failed" \
        --set "replicates={count: 5, perturb: {fall_height: {uniform: [0.1, 0.6]}}}" >log 2>&1
    lost=$("$HOPSCOTCH" query some --results r --format csv --sql "SELECT n_failed FROM trials WHERE id = 1" |
        tail -n 1)
    "$HOPSCOTCH" gradient some/1 --results r --format csv >rows.csv 2>>log || fail "$(cat log)"
    agree rows.csv 5 2>wrong && [ "$lost" -gt 0 ] && [ "$lost" -lt 5 ] &&
        good "$lost of 5 replicates failed, $failed: adjoint and differences agree" ||
        fail "$failed: $lost $(cat wrong log)"
    case $failed in
        ignore) how="$lost of 5 replicates failed and [ai][rs]e* left out" ;;
        *) how="$lost of 5 replicates failed and counts* as 3, a constant: with derivatives of 0" ;;
    esac
    "$HOPSCOTCH" gradient some/1 --results r --json >rows.json 2>>log || fail "$(cat log)"
    grep -q "^$how$" log && [ "$(grep -c "\"n_failed\":$lost," rows.json)" = 5 ] &&
        good "it says how they count, and n_failed in JSON" || fail "$failed: $(cat log rows.json)"
    rm -rf r/some
done
lost() # METHOD GRADIENT WHAT ARGUMENTS...: each of three searches ends with its first round, which has no gradient
{
    method=$1 gradient=$2 what=$3
    shift 3
    search lost "$method" "$gradient" "$@" >best
    "$HOPSCOTCH" query lost --results r --format csv >rows.csv 2>log \
        --sql "SELECT (SELECT count(*) FROM gradients), count(*), min(stop), max(stop) FROM rounds"
    [ "$(tail -n 1 rows.csv)" = "0,3,all_failed,all_failed" ] && good "$method, $gradient: $what ends its search" ||
        fail "$method, $gradient, $what: $(cat rows.csv log)"
    "$HOPSCOTCH" show lost/0 --results r >rows.txt 2>>log || fail "$(cat log)"
    rm -rf r/lost
}
for method in adam lbfgs; do
    lost $method adjoint "a start that fails" --set parameters.fall_height=0.6
    for gradient in adjoint tangent differences; do
        lost $method $gradient "a plateau of penalties" --set parameters.fall_height=0.6 \
            --set "objective.failed=penalty(3)"
    done
done
# The worst replicate falls in each trial, and others do not.
perturb="fall_height: {uniform: [0.1, 0.6]}"
for gradient in adjoint tangent differences; do
    lost adam $gradient "a worst replicate that fails" --set objective.over=worst \
        --set "objective.failed=penalty(-100)" --set "replicates={count: 5, perturb: {$perturb}}"
done
"$HOPSCOTCH" run walk.yaml --name flat --set parameters.fall_height=0.6 --set "objective.failed=penalty(3)" \
    --results r --progress none >log 2>&1
"$HOPSCOTCH" gradient flat/1 --results r --format csv >rows.csv 2>log &&
    awk -F, 'NR > 1 && ($4 != "" || $5 != "" || $6 + 0 != 0 || $9 != 3) { bad = 1 }
        END { exit bad || NR != 6 }' rows.csv &&
    good "a fitness of failed replicates alone has no adjoint" || fail "flat: $(cat rows.csv log)"
search some adam adjoint --set objective.failed=ignore \
    --set "replicates={count: 5, perturb: {fall_height: {uniform: [0.1, 0.6]}}}" >best
"$HOPSCOTCH" show some/0 --results r >rows.txt 2>log
grep -q '^gradient of its round: norm .*; [1-4] of 5 replicates failed and [ai][rs]e* left out$' rows.txt &&
    "$HOPSCOTCH" report some --results r -o some.html >log 2>&1 &&
    grep -q ' [1-4] of 5 replicates failed and [ai][rs]e* left out\.' some.html &&
    good "show and report say so" || fail "show: $(cat rows.txt log)"

# Ctrl-C and limits.wall_time end gradients that take long: twice the time of the runs themselves, and more.
cat >long.yaml <<'YAML'
version: 1
experiment: long
model: articulated
simulation:
  {robot: robots/biped.xml, duration: 20, dt: 0.0002, control: {mode: gait}, groups: {hip: [left_hip, right_hip]}}
parameters: {fall_height: 0, fall_tilt: 0}
replicates: {count: 3, perturb: {base_vx: {uniform: [-0.2, 0.2]}}}
search:
  method: adam
  adam: {searches: 2, gradient: adjoint, stop: {iterations: 1}}
  over: {hip_amplitude: {range: [0, 0.5]}, gait_frequency: {range: [1, 3]}}
objective: {minimize: energy}
YAML
long() # NAME ARGUMENTS...
{
    name=$1
    shift
    "$HOPSCOTCH" run long.yaml --name "$name" --results r --progress none --threads 1 "$@" >log 2>&1
}
processor_time # not in a subshell, which has commands of its own
start=$(milliseconds) worked=$used
long forward --set 'search={method: random, trials: 2, over: {hip_amplitude: {range: [0, 0.5]}}}'
processor_time
forward=$(($(milliseconds) - start)) worked=$((used - worked))
ends_early() # it ends while gradients are computed, sooner than they would
{
    rm -rf r/cut
    "$HOPSCOTCH" run long.yaml --name cut --results r --progress none --threads 1 >log 2>&1 &
    pid=$! later=0
    until_true has_used $((worked * 14 / 10))
    leaves INT r/cut/campaign.lock
    [ $ended -eq 130 ] && [ $took -lt $((forward / 2 + 300)) ] && grep -q '; 2 trials in flight (.*) were abandoned' log
}
soon ends_early && good "Ctrl-C ends gradients after $took ms" ||
    fail "Ctrl-C: $ended after $took of $forward ms: $(cat log)"
timed()
{
    rm -rf r/timed
    long timed --set limits.wall_time=$((forward * 14 / 10000)).$((forward * 14 / 1000 % 10))s
    [ $? -le 1 ] && grep -q 'limits.wall_time of .* is reached; 2 trials in flight .* were abandoned' log
}
soon timed && good "so does limits.wall_time" || fail "limits.wall_time: $(cat log)"
long whole
"$HOPSCOTCH" resume cut --results r --progress none >log 2>&1
[ "$("$HOPSCOTCH" digest cut --results r | cut -d' ' -f1)" = \
    "$("$HOPSCOTCH" digest whole --results r | cut -d' ' -f1)" ] && good "resumed: the same digest" || fail "$(cat log)"

# errors
refused() # WORDS ARGUMENTS...
{
    words=$1
    shift
    "$HOPSCOTCH" gradient "$@" --results r >rows.txt 2>log
    [ $? -le 3 ] && grep -q "$words" log && good "$words" || fail "$*: $(cat log)"
}
refused "the spec has no parameter 'tlit'; did you mean 'tilt'?" walk/1 --parameters tlit
refused "the spec has no parameter 'zzz'$" walk/1 --parameters zzz
refused "there is no trial 7\|has no trial 7" walk/7
"$HOPSCOTCH" run walk.yaml --name several --set 'objective={maximize: [distance, height_mean]}' --results r \
    --progress none >log 2>&1
"$SQL" r/walk/campaign.db "UPDATE trials SET fitness = 7 WHERE id = 2" >log 2>&1
refused "trial 2 gives another fitness than the stored one; replay shows" walk/2
refused "several objectives: there is no single fitness" several/0
"$HOPSCOTCH" run walk.yaml --name fallen --set parameters.fall_height=0.4 --results r --progress none >log 2>&1
refused "trial 0 failed, so it has no fitness" fallen/0
exit ${status:-0}
