#!/bin/sh
# Rigid bodies from a spec to a picture: what check and run say of gains, the map of stable ones, forms and steps that
# are searched.
set -u
cd "$(dirname "$0")/../.." || exit 3
experiments=$PWD/experiments
suite=rigid
. tests/scratch.sh

# says TEXT FILE
says()
{
    grep -qF -- "$1" "$2"
    check $? "'$1' is said"
}

"$HOPSCOTCH" check "$experiments/kkt_pendulum_gains.yaml" >out 2>err
check $? "check of gains ends well"
says 'gains        baumgarte: c = 2 alpha/dt, k = beta^2/dt^2; stable where' out
says 'stability    warning: original: ' out
says "the form leaves J'v out" out
"$HOPSCOTCH" check "$experiments/kkt_pendulum_gains.yaml" --json >out 2>err
says '"name": "stability"' out

"$HOPSCOTCH" run "$experiments/kkt_pendulum_gains.yaml" --results . --progress none \
    --set 'search.over.alpha=[0.1, 0.5, 1.2]' --set 'search.over.beta=[0.5, 1]' --set 'search.over.substeps=[1, 2]' \
    --set simulation.duration=3 >out 2>err
check $? "run of four forms and two steps"
says 'warning: baumgarte: ' err
says '42 of 42' out
"$HOPSCOTCH" query kkt_pendulum_gains --results . --where "form = 0 and failure = 'diverged'" --columns alpha \
    --format csv >out 2>err
[ "$(sort -u out | tr '\n' ' ')" = "1.2 alpha " ]
check $? "baumgarte diverges with alpha = 1.2 in all steps, and with no other"
# the steady error falls with the step where J'v is in, by less than a tenth where it is left out
"$HOPSCOTCH" query kkt_pendulum_gains --results . --where "alpha = 0.1 and beta = 1 and form = 2" --order substeps \
    --columns error_rms --format csv >out 2>err
awk 'NR == 2 { one = $1 } NR == 3 { exit !($1 < 0.3 * one) }' out
check $? "half the step, a quarter of the error of gains in units of the step"
"$HOPSCOTCH" plot kkt_pendulum_gains --results . --kind pairs --where 'form = 0 and substeps = 1' -o map.svg >out 2>err &&
    "$HOPSCOTCH" plot kkt_pendulum_gains --results . --kind pairs -o all.svg >out 2>err && ! cmp -s map.svg all.svg
check $? "plot --where draws the map of one form"
"$HOPSCOTCH" plot kkt_pendulum_gains --results . --where 'frm = 0' >out 2>err
[ $? -eq 1 ] && grep -q "did you mean 'form'" err
check $? "plot --where names the nearest column"
exit $status
