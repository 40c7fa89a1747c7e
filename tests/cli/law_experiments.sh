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
verified=$(sed -n 's/^files *results\///p' out)
"$HOPSCOTCH" query "$verified" --format csv \
    --sql "SELECT count(*), max(tip_error) < 0.002 FROM replicates" | tail -n 1 >out
[ "$(cat out)" = 50,1 ]
check $? "and 50 fresh starts end within 2 mm"

ran hopper_law
column hopper_law n_failed,fitness,per_speed --order fitness --limit 1 | tee out |
    awk -F , '{ exit !($1 == 0 && $2 < 0.25 && $3 > 0.1 && $3 < 0.25) }'
check $? "hopper_law: falls, fitness and angle per speed: $(cat out)"

ran reaction_wheel
column reaction_wheel n_failed,caught,stands,energy_error --order fitness --limit 1 | tee out |
    awk -F , '{ exit !($1 == 0 && $2 < 3 && $3 < 0.01 && $4 < 1e-3) }'
check $? "reaction_wheel: failed, first near the top, off at the end, error of the energy: $(cat out)"
"$HOPSCOTCH" verify reaction_wheel --seeds 100 --gains 0 --physics 0 --grid 0 >out 2>err
verified=$(sed -n 's/^files *results\///p' out)
"$HOPSCOTCH" query "$verified" --format csv --sql "SELECT sum(stands < 1e-3) FROM replicates" | tail -n 1 >out
[ "$(cat out)" -ge 90 ]
check $? "of 100 fresh starts $(cat out) end upright"

# points NAME COUNT POINT...: NAME.yaml <- experiments/NAME.yaml with a list of points in place of its search, each with
# as many replicates
points()
{
    name=$1 count=$2
    shift 2
    "$HOPSCOTCH" check "$root/experiments/$name.yaml" >out 2>err && [ ! -s err ]
    check $? "$name: nothing is warned of"
    sed -e '/^search/,/^replicates/{/^replicates/!d;}' -e '/^record/,$d' -e 's/failed: .*/failed: ignore/' \
        -e "s/^  count: .*/  count: $count/" "$root/experiments/$name.yaml" >"$name.yaml"
    printf 'search:\n  method: list\n  points: |\n' >>"$name.yaml"
    printf '    %s\n' "$@" >>"$name.yaml"
}
cp -R "$root/experiments/laws" .

[ "$(grep -vc '^#' "$root/experiments/laws/trot.yaml")" -le 60 ]
check $? "the trot has 60 lines"
points quadruped_law 64 lift 0.08
"$HOPSCOTCH" run quadruped_law.yaml --progress none >out 2>err
column quadruped_law n_failed,speed_error,heading_error,cost_of_transport | tee out |
    awk -F , '{ exit !($1 == 0 && $2 < 0.07 && $3 < 0.02 && $4 < 0.85) }'
check $? "quadruped_law: of 64 pushed runs fall, errors of speed and heading, cost: $(cat out)"
"$HOPSCOTCH" replay quadruped_law/0 >out 2>err && grep -q 'the same to the bit' out err
check $? "and a replay gives its bits"

rows=frequency,duty,place,place_side,ahead,height,lift,k_z,d_z,k_tilt,d_tilt,kp,kd
high=3.94358,0.60024,0.029811,0.154578,-0.081676,0.268645,0.192214,53.34026,7.37616,727.8064,91.69091,204.7903,4.200811
points quadruped_stairs 8 $rows $high 4.45,0.5,0.028,0.1,-0.053,0.286,0.08,57,9.8,563,92,31.5,0.985
sed 's/terrain_height: {.*/terrain_height: {uniform: [0.06, 0.1]}/' quadruped_stairs.yaml >stairs.yaml
"$HOPSCOTCH" run stairs.yaml --progress none >out 2>err
column quadruped_stairs n_failed,climbed --order id | tr '\n' ' ' >out
awk '{ split($1, a, ","); split($2, b, ","); exit !(a[1] == 0 && a[2] > 0.5 && b[1] == 8) }' out
check $? "quadruped_stairs: falls and height climbed, of the recommended set and of that for the flat: $(cat out)"
ran quadruped_residual
column quadruped_residual n_failed,off_speed --order id | tr '\n' ' ' >out
awk '{ exit !($1 ~ /^0,0.18/ && $2 ~ /^0,0.06/ && $3 ~ /^0,0.02/) }' out
check $? "quadruped_residual: falls and error without, with half, with all that was learned: $(cat out)"

"$HOPSCOTCH" run "$root/experiments/quadruped_policy.yaml" --name walks --progress none --set replicates.count=8 \
    --set simulation.duration=4 --set 'search.over.push_y=[0, 50]' >out 2>err </dev/null
column walks n_failed,mean_speed,off_speed --order id | tr '\n' ' ' >out
awk '{ split($1, a, ","); split($2, b, ","); exit !(a[1] == 0 && b[1] == 0 && a[2] > 0.48 && a[2] < 0.52 &&
    b[2] > 0.48 && b[2] < 0.52 && a[3] < 0.05 && b[3] < 0.05) }' out
check $? "quadruped_policy: falls, speed and its error, without and with a push: $(cat out)"
exit $status
