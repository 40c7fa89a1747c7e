#!/bin/sh
# The shipped experiments with control laws of their own run as they are, and give the numbers of their head comments.
. "$(dirname "$0")/../scratch.sh"

# ran NAME: all its trials, and its best trial again
ran()
{
    "$HOPSCOTCH" check "$root/experiments/$1.yaml" >out 2>err && [ ! -s err ]
    check $? "$1: nothing is warned of"
    "$HOPSCOTCH" run "$root/experiments/$1.yaml" --progress none >out 2>err </dev/null
    check $? "$1 runs"
    "$HOPSCOTCH" replay "$1/best" >out 2>err && grep -q 'the same to the bit' out err
    check $? "and a replay gives its bits"
}

# column CAMPAIGN COLUMNS [WORDS...]: the values of its trials, one trial a line
column()
{
    campaign=$1 columns=$2
    shift 2
    "$HOPSCOTCH" query "$campaign" --columns "$columns" --format csv "$@" | tail -n +2
}

ran cartpole_law
column cartpole_law error,force,lean_most,violation --order fitness --limit 1 | tee out |
    awk -F , '{ exit !($1 < 0.155 && $2 < 1.5 && $3 < 0.5 && $4 == 0) }'
check $? "cartpole_law: the error and the force of the best gains: $(cat out)"
best=$(column cartpole_law k_x,k_v,k_th,k_w --order fitness --limit 1)
sed -e 's/delay: 2/delay: 4/' -e '/^search/,/^replicates/{/^replicates/!d;}' "$root/experiments/cartpole_law.yaml" \
    >late.yaml
printf 'search:\n  method: list\n  points: |\n    k_x,k_v,k_th,k_w\n    %s\n    40,46,140,56\n' "$best" >>late.yaml
cp -R "$root/experiments/robots" .
"$HOPSCOTCH" run late.yaml --name late --progress none >out 2>err
column late force --order id | tr '\n' ' ' >out
awk '{ exit !($1 < 2 && $2 > 10) }' out
check $? "where sensors are 40 ms late its gains need $(cat out)N; those found without sensors shake the cart"

ran arm_law
column arm_law tip_error,way_error,k --order fitness --limit 1 | tee out |
    awk -F , '{ exit !($1 < 0.001 && $2 < 0.03 && $3 > 100 && $3 < 1000) }'
check $? "arm_law: error at the end, on the way, and the stiffness: $(cat out)"
"$HOPSCOTCH" verify arm_law --seeds 50 --gains 0 --physics 0 --grid 0 >out 2>err
"$HOPSCOTCH" query "$(sed -n 's/^files *results\///p' out)" --format csv \
    --sql "SELECT count(*), max(tip_error) < 0.002 FROM replicates" | tail -n 1 >out
[ "$(cat out)" = 50,1 ]
check $? "and 50 fresh starts end within 2 mm"

ran hopper_law
column hopper_law n_failed,fitness,per_speed --order fitness --limit 1 | tee out |
    awk -F , '{ exit !($1 == 0 && $2 < 0.25 && $3 > 0.1 && $3 < 0.25) }'
check $? "hopper_law: falls, fitness and angle per speed: $(cat out)"
exit $status
