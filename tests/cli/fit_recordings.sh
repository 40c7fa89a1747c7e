#!/bin/sh
# What `fit` says of a recording with a wrong unit, sign or clock, and that it says nothing of a good one; a start of
# each recording that is unknown.
. "$(dirname "$0")/../scratch.sh"

hopscotch() { "$HOPSCOTCH" "$@" >out 2>err; }
said() { grep -q "$1" err; }

cp -r "$root/experiments/robots" "$root"/experiments/identify_arm* .

# ---- recordings that are wrong --------------------------------------------------------------------------------------

columns='turn_q: turn_q, shoulder_q: shoulder_q'
fitted() # NAME REFERENCE: one recording of the arm
{
    hopscotch run identify_arm.yaml --name "$1" --progress none --set cases=none --set validate=none \
        --set "simulation.reference=$2" && hopscotch fit "$1/best"
}
fitted good identify_arm_light.csv && said 'the model is enough' && ! said '^unit' && ! said '^time'
check $? "nothing of a good recording"
fitted degrees "{file: identify_arm_light.csv, columns: {$columns, elbow_q: {column: elbow_q, scale: 57.29578}}}" &&
    said '^unit  *elbow_q: recorded is 57.3 times .* write .unit: deg' && ! said '^unit .*turn'
check $? "a joint in degrees"
fitted turned "{file: identify_arm_light.csv, columns: {$columns, elbow_q: {column: elbow_q, scale: -1}}}" &&
    said '^unit  *elbow_q: .* the other sign'
check $? "a joint with the other sign"
turned="turn_q: {column: turn_q, scale: -1}, shoulder_q: {column: shoulder_q, scale: -1}"
fitted mirrored "{file: identify_arm_light.csv, columns: {$turned, elbow_q: {column: elbow_q, scale: -1}}}" &&
    said '^unit .*other sign' && ! said '^time'
check $? "all joints with the other sign: $(grep '^unit' err)"
later() # COLUMNS SECONDS: the recording with these columns later
{
    awk -F, -v columns="$1" -v late="$2" '
        NR == 1 { print; for (i = 1; i <= NF; i++) name[i] = $i; next }
        { for (i = 1; i <= NF; i++) value[NR, i] = $i; rows = NR }
        END {
            step = value[3, 1] - value[2, 1]
            for (r = 5; r < rows - 2; r++) {
                line = value[r, 1]
                for (i = 2; i <= NF; i++) {
                    at = r - (name[i] ~ columns ? late/step : 0); k = int(at)
                    line = line "," (value[k, i] + (at - k)*(value[k + 1, i] - value[k, i]))
                }
                print line
            }
        }' identify_arm_light.csv >later.csv
}
later . 0.03 && fitted late later.csv && said '^time  *the recording: 0.0[23][0-9]* s late, against the commands'
check $? "a recording that is late against its commands"
later shoulder -0.03 && fitted early later.csv && said '^time  *columns shoulder_\*: 0.0[23][0-9]* s early, against the'
check $? "a joint that is early against the others"
hopscotch fit early/best --format json && grep -q '"name": "time"' out
check $? "the same for programs"

# Outliers, and a loss that bears them: they are as large with the right clock.
outliers() # SECONDS LOSS NAME: the recording later, each 40th number is off by 0.8
{
    later . "$1" && awk -F, -v OFS=, 'NR > 1 {
            for (i = 2; i <= NF; i++) if ((NR * 7 + i * 11) % 40 == 0) $i += 0.8
        } 1' later.csv >outliers.csv &&
        hopscotch run identify_arm.yaml --name "$3" --progress none --set cases=none --set validate=none \
            --set simulation.reference=outliers.csv --set simulation.reference_scale=none \
            --set "simulation.reference_loss=$2" --set simulation.reference_width=0.003 && hopscotch fit "$3/best"
}
for loss in huber cauchy; do
    outliers 0 $loss "sound_$loss" && ! said '^time'
    check $? "$loss: nothing of outliers alone"
    outliers 0.03 $loss "late_$loss" && said '^time  *the recording: 0.0[23][0-9]* s late, against the commands'
    check $? "$loss: a recording with outliers that is late"
done

# ---- an input of a system -------------------------------------------------------------------------------------------

cp "$root/experiments/identify_pendulum.yaml" .
seen() # NAME AWK: the pendulum, whose record has other times or numbers
{
    awk -F, -v OFS=, "NR > 1 { $2 } 1" "$root/experiments/identify_pendulum.csv" >identify_pendulum.csv
    hopscotch run identify_pendulum.yaml --name "$1" --progress none --set search.least_squares.searches=2 \
        --set simulation.system.inputs.seen.beyond=hold && hopscotch fit "$1/best"
}
seen swings '$2 = $2' && ! said '^time' && ! said '^unit'
check $? "a system: nothing of a good record"
seen behind '$1 = $1 + 0.12' &&
    said '^time  *the recording: 0.1[12][0-9]* s late, against the simulation: .*of an input'
check $? "a system: a record that is late"
seen ahead '$1 = $1 - 0.12' && said '^time  *the recording: 0.1[12][0-9]* s early, against the simulation'
check $? "a system: a record that is early"
seen angles '$2 = $2 * 57.29578' &&
    said '^unit  *seen: recorded is 57.3 times .* multiply it by 0.0174532925 in the file'
check $? "a system: a record in degrees"
sed -i 's/value: angle - seen/value: seen - angle/' identify_pendulum.yaml
seen other '$1 = $1 + 0.12' && said '^time  *the recording: 0.1[12][0-9]* s late, against the simulation'
check $? "the same of the other difference"

sed -i 's/value: seen - angle/value: (seen - angle)\/0.01/' identify_pendulum.yaml
seen weighed '$1 = $1 + 0.12' && said '^time  *the recording: 0.1[12][0-9]* s late, against the simulation'
check $? "and of one that is divided by its noise"
cp "$root"/experiments/identify_pendulum.* .
hopscotch check identify_pendulum.yaml --set 'objective.residuals=[track_error/2, length, viscous, dry]' &&
    said 'warning: track_error is one number here, the root of the mean square of its 250 values' &&
    hopscotch check identify_pendulum.yaml --set 'objective.residuals=[track_error, length]' && ! said warning
check $? "a metric that does not stand alone is one residual, which is said"

# ---- check, of a recording that is held out -------------------------------------------------------------------------

awk -F, -v OFS=, 'NR > 1 { $4 *= 57.29578 } 1' identify_arm_other.csv >held.csv
sed 's/identify_arm_other.csv/held.csv/' identify_arm.yaml >held.yaml
hopscotch check held.yaml &&
    tr -s ' \n' ' ' <out | grep -q 'warning: held.csv: elbow_q: looks like degrees, not rad' &&
    hopscotch check identify_arm.yaml && ! grep -q 'warning' out
check $? "check names the unit of a recording that is held out"

# ---- a start of each recording --------------------------------------------------------------------------------------

sed '/^validate:/,/elbow_start: 1.9/d; s/initial.elbow_start: 1.2/initial.elbow_start: elbow_start_loaded/
    s/, elbow_start: 1.5}/}/; s/^    upper_mass: .*/&\n    elbow_start: {range: [1, 2]}\
    elbow_start_loaded: {range: [0.8, 1.6]}/' identify_arm.yaml >own.yaml
hopscotch run own.yaml --name own --progress none && hopscotch fit own/best --format csv && awk -F, '
    $1 == "elbow_start" { first = $3 < 1.5 && $4 > 1.5 && $4 - $3 < 0.01 }
    $1 == "elbow_start_loaded" { second = $3 < 1.2 && $4 > 1.2 && $4 - $3 < 0.01 }
    END { exit !(first && second) }' out && said 'enough for these recordings' && ! said '^lacking'
check $? "the start of each of two recordings is fitted, with an interval"
hopscotch gradient own/1 --format csv && awk -F, 'NR > 1 {
        d = $4 - $5; e = $4 - $6; n++
        good += d*d <= 1e-12*$4*$4 && e*e <= 1e-8*$4*$4
    } END { exit !(n == 12 && good == n) }' out
check $? "adjoint, tangent and differences agree"
hopscotch run own/resolved.yaml --name again --progress none ||
    hopscotch run results/own/resolved.yaml --name again --progress none
[ "$("$HOPSCOTCH" digest again | cut -d' ' -f1)" = "$("$HOPSCOTCH" digest own | cut -d' ' -f1)" ]
check $? "the resolved spec gives the same trials"
hopscotch replay own/best/1 -o second.csv &&
    hopscotch replay own/best/0 -o first.csv && [ "$(sed -n 2p first.csv)" != "$(sed -n 2p second.csv)" ]
check $? "replay takes the start of the case"
own='{}, {initial.elbow_start: elbow_start_loaded}'
! hopscotch check own.yaml --set "cases=[$own, {initial.elbow_start: nothing}]" && said "expected a number"
check $? "a name that nothing gives is refused"
! hopscotch check own.yaml --set "cases=[$own, {initial.elbow: elbow_start_loaded}]" &&
    said "unknown parameter 'initial.elbow'"
check $? "so is a parameter that is not there"
! hopscotch check own.yaml --set "cases=[$own, {initial.elbow_start: turn_start, initial.turn_start: elbow_start}]" &&
    said "is elbow_start, which the case replaces, too"
check $? "and one that the case replaces"
exit $status
