#!/bin/sh
# Gradients through control laws: random laws on robots with and without contact, by the adjoint, the tangent and
# differences; with modes, held numbers, delays and noise, efforts at their ends, periods of several steps, inputs, and
# on top of a gait; then laws that ask networks; and a network that gives all actions, by its weights.
#
#   SEED=N     of the first law (1)      ROUNDS=N    laws of each kind (50)
#   QUICK=1    8 and 4 of them
. "$(dirname "$0")/../law.sh"
cp "$root/experiments/robots/quadruped.xml" .

# agree TITLE ROWS: got.csv has adjoint and tangent equal to 1e-9, differences to 1e-6 or ten times their own error, of
# the greatest derivative; out says `chaotic` of a law under which no difference converges
agree()
{
    awk -F, -v expected="$2" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        { rows++; a[rows] = $at["adjoint"]; t[rows] = $at["tangent"]
          d[rows] = $at["difference"]; s[rows] = $at["error"]
          big = a[rows] < 0 ? -a[rows] : a[rows]; if (big > most) most = big }
        function far(x, y) { return x > y ? x - y : y - x }
        END {
            for (i = 1; i <= rows; i++)
                if (s[i] > 1e-2 * (1 + (d[i] < 0 ? -d[i] : d[i]))) { print "chaotic"; exit 0 }
            for (i = 1; i <= rows; i++) {
                said = "row " i ": adjoint " a[i] ", tangent " t[i] ", difference " d[i] " +- " s[i]
                if (far(a[i], t[i]) <= 1e-9 * (1 + most) && far(a[i], d[i]) <= 1e-6 * (1 + most) + 10 * s[i]) continue
                print said
                bad = 1
            }
            if (!(rows == expected && most > 1e-6)) { print rows " rows, " most; bad = 1 }
            exit bad
        }' got.csv >out
    check $? "$1: adjoint, tangent and differences agree"
}

# laws WHAT COUNT [-v nets=1]: random laws
laws()
{
    what=$1 count=$2 chaotic=0
    shift 2
    for seed in $(seq "$first" $((first + count - 1))); do
        awk -v seed="$seed" "$@" -f "$root/tests/law.awk" >g.yaml
        rm -rf results
        order=one
        [ $((seed % 3)) -ne 0 ] || order=two
        if ! "$HOPSCOTCH" run g.yaml --set simulation.order=$order --progress none >out 2>err; then
            check 1 "$what $seed runs"
            continue
        fi
        grep -q 'mode: gait' g.yaml && seventh=gait_frequency || seventh=gravity
        "$HOPSCOTCH" gradient g/0 --parameters g1,g2,g3,g4,b,h1,$seventh --format csv >got.csv 2>err
        check $? "$what $seed has a gradient"
        agree "$what $seed" 7
        ! grep -q chaotic out || chaotic=$((chaotic + 1))
    done
    [ $((20 * chaotic)) -le "$count" ]
    check $? "of $count laws ($what) $chaotic have no differences to compare with"
}

first=${SEED:-1}
laws law "$([ -z "${QUICK:-}" ] && echo "${ROUNDS:-50}" || echo "${ROUNDS:-8}")"
laws 'law that asks' "$([ -z "${QUICK:-}" ] && echo "${ROUNDS:-50}" || echo "${ROUNDS:-4}")" -v nets=1

# ---- control: policy ------------------------------------------------------------------------------------------------

# A leg that lands, and whose network gives positions or efforts; some weights are parameters.
echo 6 5 4 2 | awk '{ print "layer,output,input,weight"
    for (l = 1; l < NF; l++) for (o = 1; o <= $(l + 1); o++) for (i = 0; i <= $l; i++) {
        x = sin(12.9898 * l + 78.233 * o + 37.719 * i) * 43758.5453
        printf "%d,%d,%d,%.17g\n", l, o, i, 0.5 * (x - int(x)) } }' >net.csv
weights=weight_1_1_0,weight_1_2_3,weight_1_5_6,weight_2_1_0,weight_2_4_5,weight_3_1_0,weight_3_2_4
for command in position effort; do
    cat >policy.yaml <<YAML
version: 1
experiment: policy
model: articulated
simulation:
  robot: leg.xml
  duration: 0.4
  dt: 0.002
  control: {mode: policy, file: net.csv, period: 0.01, command: $command, bounds: [-0.7, 0.9]}
environment: {observe: [hip_q, knee_q, 0.1*hip_rate, 0.1*knee_rate, base_z, base_vx], reward: base_vx}
metrics: {far: {final: base_x}, bent: {rms: knee_q}}
search:
  method: random
  trials: 1
  over:
    { $(echo $weights | sed 's/,/: {range: [-0.4, 0.4]}, /g'): {range: [-0.4, 0.4]} }
parameters: {hip_damping: 0.3}
objective: {minimize: far + bent + 0.01*energy + 0.001*action_rate}
YAML
    rm -rf results
    "$HOPSCOTCH" run policy.yaml --progress none >log 2>err
    check $? "a policy of weights runs, command: $command"
    "$HOPSCOTCH" gradient policy/0 --parameters $weights,gravity,hip_damping --format csv >got.csv 2>err
    check $? "a policy has a gradient, command: $command"
    agree "control: policy, command: $command" 9
done
# a lane alone runs without vectors, two of them in one
for count in 1 2; do
    "$HOPSCOTCH" run policy.yaml --name $count --progress none --set "replicates={count: $count}" >log 2>err
    "$HOPSCOTCH" gradient $count/0 --parameters $weights,gravity,hip_damping --format csv 2>err |
        cut -d , -f 1-5 >$count.csv
done
cmp -s 1.csv 2.csv && [ "$(wc -l <2.csv)" -eq 10 ]
check $? 'its gradient has the same bits in a vector'
several='replicates={count: 7, perturb: {hip_start: {uniform: [-0.1, 0.1]}}}'
for isa in scalar v3; do
    "$HOPSCOTCH" run policy.yaml --name $isa --isa $isa --threads $([ $isa = scalar ] && echo 1 || echo 2) \
        --progress none --set 'search={method: adam, adam: {start: center, stop: {iterations: 4}},
        over: {weight_3_1_0: {range: [-1, 1]}, weight_1_2_3: {range: [-1, 1]}}}' --set "$several" >log 2>err
    check $? "adam searches weights, $isa"
    "$HOPSCOTCH" query $isa --order id --columns all --format csv >$isa.csv
done
cmp -s scalar.csv v3.csv && [ "$(wc -l <v3.csv)" -gt 4 ]
check $? 'adam along policies has equal bits'
exit $status
