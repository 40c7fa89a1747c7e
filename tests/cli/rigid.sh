#!/bin/sh
# Rigid bodies from a spec to a picture: remarks of check and run on gains, the map of stable ones, searches over forms
# and step sizes.
. "$(dirname "$0")/../scratch.sh"
experiments=$root/experiments

# says TEXT FILE
says()
{
    grep -qF -- "$1" "$2"
    check $? "the output has '$1'"
}

"$HOPSCOTCH" check "$experiments/kkt_pendulum_gains.yaml" >out 2>err
check $? "check of gains"
says 'gains        baumgarte: c = 2 alpha/dt, k = beta^2/dt^2; stable where' out
says 'stability    warning: original: ' out
says "the form leaves J'v out" out
sed -n '/hopscotch check experiments\/kkt_pendulum_gains.yaml/,/^    \.\.\./{/^    \(\$\|\.\.\.\)/!s/^    //p}' \
    "$experiments/README.md" >shown
[ "$(wc -l <shown)" -ge 3 ] && head -n "$(wc -l <shown)" out | cmp -s - shown
check $? "the example of check in experiments/README.md is what it prints"
"$HOPSCOTCH" check "$experiments/kkt_pendulum_gains.yaml" --json >out 2>err
says '"name": "stability"' out

"$HOPSCOTCH" run "$experiments/kkt_pendulum_gains.yaml" --results . --progress none \
    --set 'search.over.alpha=[0.1, 0.5, 1.2]' --set 'search.over.beta=[0.5, 1]' --set 'search.over.substeps=[1, 2]' \
    --set simulation.duration=3 >out 2>err
check $? "run of four forms and two steps"
says 'warning: baumgarte: ' err
says '42 of 42' out
"$HOPSCOTCH" query kkt_pendulum_gains --results . --where "form = 0 and not (failure = 'none')" --columns alpha \
    --format csv >out 2>err
[ "$(sort -u out | tr '\n' ' ')" = "1.2 alpha " ]
check $? "baumgarte diverges with alpha = 1.2 in all steps, and with no other"
# the steady error falls with the step in proportion where J'v is included, by less than a tenth where it is left out
"$HOPSCOTCH" query kkt_pendulum_gains --results . --where "alpha = 0.1 and beta = 1 and form = 2" --order substeps \
    --columns error_rms --format csv >out 2>err
awk 'NR == 2 { one = $1 } NR == 3 { exit !($1 < 0.3 * one) }' out
check $? "half the step gives a quarter of the error, with gains per step"
set -- plot kkt_pendulum_gains --results . --kind pairs
"$HOPSCOTCH" "$@" --where 'form = 0 and substeps = 1' -o map.svg >out 2>err &&
    "$HOPSCOTCH" "$@" -o all.svg >out 2>err && ! cmp -s map.svg all.svg
check $? "plot --where draws the map of one form"
"$HOPSCOTCH" plot kkt_pendulum_gains --results . --kind scatter --where 'frm = 0' >out 2>err
[ $? -eq 1 ] && grep -q "did you mean 'form'" err
check $? "plot --where names the nearest column"

# a body that spins about its middle axis turns over: the y component of w in body axes, from the quaternion and w
"$HOPSCOTCH" run "$experiments/dzhanibekov.yaml" --results . --progress none >out 2>err
check $? "run of a free body"
"$HOPSCOTCH" replay dzhanibekov/0 --results . -o motion.csv >out 2>err
check $? "replay as CSV"
turned()
{
    awk -F, -v axis="$1" -v body="$2" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
        NR > 1 {
            x = $at[body "_qx"]; y = $at[body "_qy"]; z = $at[body "_qz"]; w = $at[body "_qw"]
            a = $at[body "_wx"]; b = $at[body "_wy"]; c = $at[body "_wz"]
            own = axis == "x" ? (1 - 2 * (y * y + z * z)) * a + 2 * (x * y + w * z) * b + 2 * (x * z - w * y) * c \
                              : 2 * (x * y - w * z) * a + (1 - 2 * (x * x + z * z)) * b + 2 * (y * z + w * x) * c
            if (NR == 2 || own < least) least = own
        }
        END { exit !(axis == "x" ? least > 4.8 : least < -3.4) }' motion.csv
}
turned x first
check $? "a body keeps spinning about its first axis"
turned y middle
check $? "a body that spins about its middle axis turns over"
"$HOPSCOTCH" replay dzhanibekov/0 --results . --svg motion.svg --html motion.html >out 2>err &&
    grep -q '<line class="body"' motion.svg && grep -q '"shapes"' motion.html
check $? "replay draws the free body"
"$HOPSCOTCH" replay dzhanibekov/0 --results . --terminal >out 2>err && [ "$(wc -l <out)" -gt 60 ]
check $? "replay draws the free body in the terminal"

# debug rows: the recorded ones equal those of replay, and the first lambda is that of the reference table
"$HOPSCOTCH" run "$experiments/kkt_pendulum_gains.yaml" --results . --name rows --progress none \
    --set search.over='{substeps: [1, 2]}' --set search.when='{}' --set simulation.stabilisation=baumgarte \
    --set simulation.gain_units=absolute --set 'record.debug={kkt: {select: {best: 1}, window: [0, 0.05]}}' >out 2>err
check $? "run with debug rows"
"$HOPSCOTCH" show rows/1 --results . >out 2>err && says 'debug/kkt' out
"$HOPSCOTCH" replay rows/1 --results . --debug kkt -o rows.csv >out 2>err
awk -F, 'NR == 1 { good = $0 == "time,row,constraint,Jv,C,lambda,residual,energy" }
    NR == 2 { good = good && $6 == -35.775 }
    END { exit !(good && NR == 401) }' rows.csv
check $? "one row per step, the first with lambda = -35.775"
"$HOPSCOTCH" show rows/1 --results . --debug 1 >out 2>err &&
    says 'rows/1, replicate 0: row 1 of ' out && says 'energy ' out
# the rod's tension follows from its lambda and its length
awk '$2 == "rod" { found = $5 < -30 && ($6 + 2 * $5) ^ 2 < 1e-4 * $6 ^ 2 && $6 != -2 * $5 } END { exit !found }' out
check $? "show --debug: a row with its constraint's name and the rod's tension"
"$HOPSCOTCH" run "$experiments/four_bar.yaml" --results . --name bars --progress none --set simulation.copies=2 \
    --set simulation.duration=0.01 --set 'record.debug={kkt: {select: {best: 1}}}' >out 2>err
"$HOPSCOTCH" show bars/0 --results . --debug 30 >out 2>err
says 'rows 28 to 41 of 140, the step at 0.002 s' out
exit $status
