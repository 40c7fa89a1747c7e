#!/bin/sh
# Learned policies of robots: in a law (policies), against what numpy computes from the columns; equal bits whatever the
# instruction set, the batch and the threads; control: policy against a table of its actions; weights as parameters;
# what is refused. That it does what an environment does with the same network: tests/unit/test_environment.c.
. "$(dirname "$0")/../law.sh"

says() # says TITLE PATTERN [FILE]
{
    grep -q -- "$2" "${3:-err}"
    check $? "$1"
}

# network WIDTH...: a table of weights, which look like random numbers
network()
{
    echo "$@" | awk '{ print "layer,output,input,weight"
        for (l = 1; l < NF; l++) for (o = 1; o <= $(l + 1); o++) for (i = 0; i <= $l; i++) {
            x = sin(12.9898 * l + 78.233 * o + 37.719 * i) * 43758.5453
            printf "%d,%d,%d,%.17g\n", l, o, i, 1.6 * (x - int(x)) } }'
}

# ---- a law that asks two policies -----------------------------------------------------------------------------------

mkdir -p laws/nets
network 6 8 5 3 >laws/nets/move.csv
network 2 2 >laws/nets/small.csv
cat >laws/asks.yaml <<'.'
parameters: {gain: {value: 0.5, range: [0, 2]}}
held: {last: 0, count: 0}
let: {wave: gain*sin(9*time)}
sensors: {link_1_q: {delay: 2}, link_2_rate: {bias: 0.1}}
policies:
  move: {file: nets/move.csv, observe: [rail_q, link_1_q, link_2_rate, wave, last, count]}
  small: {file: nets/small.csv, observe: [link_1_rate, "0.5*last"]}
events: [{every: 0.25, set: {count: count + 1}}]
every_period: {last: move_1}
command: {link_#: "0.4*move_#", rail: 0.1*small_1}
effort: {link_2: 0.5*move_3 + small_2}
.
cat >asks.yaml <<'.'
version: 1
experiment: asks
model: articulated
seed: 3
simulation:
  robot: arm.xml
  duration: 1.2
  dt: 0.002
  control: {mode: law, period: 0.006, law: laws/asks.yaml}
metrics: {reach: {max: link_1_q}, effort: {rms: link_2_torque}}
search: {method: grid, over: {gain: {linspace: [0.1, 1, 5]}, link_1_start: [0, 0.2]}}
objective: {minimize: effort}
record: {trajectories: {select: {every: 4}, sample: 0.002}}
.
"$HOPSCOTCH" check asks.yaml >out 2>err
check $? 'check: a law that asks two policies'
"$HOPSCOTCH" run asks.yaml --progress none >out 2>err
check $? 'it runs'
"$HOPSCOTCH" query asks --format csv --order id --columns all >all.csv
[ "$(wc -l <all.csv)" -eq 11 ] && ! grep -q 'diverged\|non_finite' all.csv
check $? 'a row for each trial'
for way in '--isa scalar --batch 1' '--batch 4' '--batch 3 --threads 1' '--batch 7 --threads 2'; do
    rm -rf results/way
    # shellcheck disable=SC2086
    "$HOPSCOTCH" run asks.yaml --progress none --set experiment=way $way >out 2>err
    "$HOPSCOTCH" query way --format csv --order id --columns all | cmp -s - all.csv
    check $? "equal metrics with $way"
done
"$HOPSCOTCH" replay asks/7 -o trace.csv --sample 0.002 >out 2>err && grep -q 'the same to the bit' out err
check $? 'a replay gives its bits'
cp results/asks/resolved.yaml .
mkdir away && (cd away && cp -r ../results/asks/resolved.yaml ../arm.xml . &&
    "$HOPSCOTCH" run resolved.yaml --results ../results --progress none --set experiment=again >../out 2>../err)
"$HOPSCOTCH" query again --format csv --order id --columns all | cmp -s - all.csv
check $? 'equal metrics by the resolved spec, which has the weights'
sed '2s/,[^,]*$/,0.25/' laws/nets/small.csv >laws/nets/other.csv && mv laws/nets/other.csv laws/nets/small.csv
"$HOPSCOTCH" run asks.yaml --progress none >out 2>err
[ $? -eq 1 ]
check $? 'other weights are another spec'
network 2 2 >laws/nets/small.csv

cat >oracle.py <<'.'
import csv, numpy, sys
rows = [{k: float(v) for k, v in row.items()} for row in csv.DictReader(open(sys.argv[1]))]
gain = float(sys.argv[2])
def read(path):
    table = [(int(a), int(b), int(c), float(d)) for a, b, c, d in list(csv.reader(open(path)))[1:]]
    layers = []
    for layer in range(1, max(r[0] for r in table) + 1):
        mine = [r for r in table if r[0] == layer]
        w = numpy.zeros((max(r[1] for r in mine), 1 + max(r[2] for r in mine)))
        for _, o, i, x in mine: w[o - 1, i] = x
        layers.append(w)
    return layers
def ask(layers, x):
    for k, w in enumerate(layers):
        x = w[:, 0] + w[:, 1:] @ x
        if k + 1 < len(layers): x = numpy.tanh(x)
    return numpy.clip(x, -1, 1)
move, small = read("laws/nets/move.csv"), read("laws/nets/small.csv")
last, worst, compared, cut = 0.0, 0.0, 0, 0
for period in range((len(rows) - 1) // 3):
    row, t = rows[3*period], 0.006*period
    count = numpy.floor((t + 6e-12)/0.25)
    a = ask(move, numpy.array([row["rail_q"], rows[3*max(period - 2, 0)]["link_1_q"], row["link_2_rate"] + 0.1,
                               gain*numpy.sin(9*t), last, count]))
    b = ask(small, numpy.array([row["link_1_rate"], 0.5*last]))
    last = a[0]
    cut += int((abs(a) == 1).any())
    for name, value in {"link_1_command": 0.4*a[0], "link_2_command": 0.4*a[1], "rail_command": 0.1*b[0]}.items():
        for step in (1, 2, 3):  # what a step applied is in the sample behind it
            worst = max(worst, abs(rows[3*period + step][name] - value)); compared += 1
print(compared, "numbers,", cut, "periods at an end of -1 to 1, worst", worst)
sys.exit(not (compared == 1800 and cut > 5 and worst < 1e-12))
.
if with_python 'policies against numpy' numpy; then
    gain=$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i } $at["id"] == 7 { print $at["gain"] }' all.csv)
    python3 oracle.py trace.csv "$gain" >out 2>err
    check $? "commands of 200 periods are those of numpy: $(cat out)"
fi

# ---- control: policy ------------------------------------------------------------------------------------------------

network 5 8 3 >laws/nets/arm.csv
cat >arm.yaml <<'.'
version: 1
experiment: arm
model: articulated
seed: 2
simulation:
  robot: arm.xml
  duration: 1
  dt: 0.002
  control: {mode: policy, file: laws/nets/arm.csv, period: 0.01, bounds: [-0.7, 0.9]}
parameters: {link_1_kp: 15, link_2_kp: 3}
search: {method: grid, over: {link_1_start: [0, 0.1, 0.2], link_2_offset: [0, 0.05]}}
objective: {minimize: energy}
environment:
  define: {late: "time - 0.5"}
  observe: [rail_q, link_1_q, "link_2_rate/4", link_1_command, late]
.
"$HOPSCOTCH" run arm.yaml --progress none >out 2>err
check $? 'control: policy of a robot runs'
digest() { "$HOPSCOTCH" digest "$1" | grep -o -m 1 '[0-9a-f]\{64\}'; }
for way in '--isa scalar' '--batch 1' '--batch 4 --threads 2'; do
    rm -rf results/way
    # shellcheck disable=SC2086
    "$HOPSCOTCH" run arm.yaml --progress none --name way $way >out 2>err
    [ "$(digest way)" = "$(digest arm)" ] && [ -n "$(digest arm)" ]
    check $? "equal bits: $way"
done
"$HOPSCOTCH" verify arm --seeds 4 --gains 2 --physics 2 --grid 0 --progress none >out 2>err
check $? 'verify'

# its actions as a table
for command in position effort; do
    sed "s/mode: policy/&, command: $command/" arm.yaml >policy.yaml
    "$HOPSCOTCH" run policy.yaml --progress none --name $command >out 2>err
    "$HOPSCOTCH" replay $command/2 -o trace.csv --sample 0.01 >out 2>err
    what=command
    [ $command = position ] || what=torque
    awk -F, -v what=$what 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; print "rail,link_1,link_2"; next }
        NR > 2 { print $at["rail_" what] "," $at["link_1_" what] "," $at["link_2_" what] }' trace.csv >actions.csv
    sed "s/mode: policy.*/mode: external, command: $command, file: actions.csv, period: 0.01}/; /^environment/,\$d
        s/link_1_start: .*/link_1_start: [0.1], link_2_offset: [0]}}/" arm.yaml >table.yaml
    "$HOPSCOTCH" run table.yaml --progress none --name "table_$command" >out 2>err
    check $? "a table of the actions, command: $command"
    "$HOPSCOTCH" replay "table_$command/0" -o other.csv --sample 0.01 >out 2>err
    [ "$(wc -l <trace.csv)" -eq 102 ] && cmp -s trace.csv other.csv
    check $? "it moves the robot as the policy does, to the bit, command: $command"
done

# weights are parameters where a spec names them
weight=$(sed -n 's/^2,3,0,//p' laws/nets/arm.csv)
"$HOPSCOTCH" run arm.yaml --progress none --name named --set parameters.weight_2_3_0="$weight" >out 2>err
check $? 'a weight as a parameter'
fitness() { "$HOPSCOTCH" query "$1" --sql "SELECT fitness FROM trials ORDER BY id" --format csv; }
[ "$(fitness named)" = "$(fitness arm)" ]
check $? 'with the value of the table it changes nothing'
sed 's/over: {/over: {weight_2_3_0: [-1, 1], /' arm.yaml >weights.yaml
"$HOPSCOTCH" run weights.yaml --progress none --name searched >out 2>err
[ $? -eq 0 ] && [ "$(fitness searched | sort -u | wc -l)" -ge 13 ]
check $? 'weights are searched'
"$HOPSCOTCH" check arm.yaml --set parameters.weight_2_3_9=1 >out 2>err
says 'a weight that there is not' "unknown key 'weight_2_3_9' in parameters; did you mean 'weight_2_3_[0-8]'?"

# ---- what is refused ------------------------------------------------------------------------------------------------

# refused PATTERN POLICIES: the message for these policies of the law
refused()
{
    printf 'policies: %s\ncommand: {rail: 0.1}\n' "$2" >laws/bad.yaml
    "$HOPSCOTCH" check asks.yaml --set simulation.control.law=laws/bad.yaml --set 'search={method: grid}' >out 2>err
    [ $? -eq 1 ] && grep -q -- "$1" err
    check $? "refused: $(echo "$2" | cut -c 1-100)"
}
file='file: nets/small.csv' one='weights: [[1, 1, 0, 1], [1, 1, 1, 1]]'
refused 'a policy must be a mapping' '{p: 3}'
refused "'p-1' can't be a name" "{p-1: {$file, observe: [1, 2]}}"
refused 'policy p has no file of weights: {file: p.csv, observe: \[...\]}' '{p: {observe: [1]}}'
refused "unknown key 'observed' in a policy; did you mean 'observe'?" "{p: {$file, observed: [1, 2]}}"
refused 'observe needs an expression for each of the 2 inputs of the first layer, in a list' "{p: {$file}}"
refused 'observe needs an expression' "{p: {$file, observe: rail_q}}"
refused 'the first layer of the policy has 2 inputs by its weights, and observe has 3 rows' \
    "{p: {$file, observe: [1, 2, 3]}}"
refused "unknown name 'rail_p'; did you mean 'rail_q'?" "{p: {$file, observe: [rail_p, 2]}}"
refused "laws/bad.yaml:1:22: error: .*none.csv" '{p: {file: none.csv, observe: [1, 2]}}'
refused 'the weights are in `weights` already: give one of the two' "{p: {$file, weights: [], observe: [1, 2]}}"
refused 'weights are rows in a list: ' '{p: {weights: 3, observe: [1]}}'
refused 'a row of weights has four numbers: \[layer, output, input, weight\]' \
    '{p: {weights: [[1, 1, 0]], observe: [1]}}'
refused 'the policy has no weights' '{p: {weights: [], observe: [1]}}'
refused 'layer 2 of the policy has 2 inputs, and the layer before has 1 outputs' \
    '{p: {weights: [[1, 1, 0, 1], [1, 1, 1, 1], [2, 1, 2, 1]], observe: [1]}}'
refused "the name 'A_1' is declared already" \
    "{a: {$one, observe: [1]}, A: {$one, observe: [1]}}"
refused "a policy can't observe what policies give in the same period: hold it for the next one" \
    "{p: {$file, observe: [p_1, 2]}}"
sed 's/rises: none/&/; s/^events.*/events: [{rises: move_1, set: {count: 3}}]/' laws/asks.yaml >laws/circle.yaml
"$HOPSCOTCH" check asks.yaml --set simulation.control.law=laws/circle.yaml >out 2>err
says 'refused: what an event sets by a policy, in the same period' \
    "laws/circle.yaml:6:[0-9]*: error: a policy can't observe what policies give in the same period"
many=$(for i in $(seq 17); do echo "p$i: {$one, observe: [1]}"; done | paste -sd ,)
refused 'a law has at most 16 policies' "{$many}"
sed 's/input/inputs/' laws/nets/small.csv >laws/nets/wrong.csv
refused "nets/wrong.csv has no column 'input'; did you mean 'inputs'?" '{p: {file: nets/wrong.csv, observe: [1, 2]}}'
sed 's/^1,2,1,.*/1,2,1,many/' laws/nets/small.csv >laws/nets/wrong.csv
refused "wrong.csv:6:" '{p: {file: nets/wrong.csv, observe: [1, 2]}}'
sed 's/^1,2,1,/1,2,0,/' laws/nets/small.csv >laws/nets/wrong.csv
refused 'the weight of layer 1, output 2, input 0 is given twice' '{p: {file: nets/wrong.csv, observe: [1, 2]}}'

# a policy that sees what is not a number
printf 'policies: {p: {%s, observe: [sqrt(rail_q - 1), 2]}}\ncommand: {rail: 0.1}\n' "$file" >laws/bad.yaml
"$HOPSCOTCH" run asks.yaml --progress none --name blind --set simulation.control.law=laws/bad.yaml \
    --set 'search={method: grid}' >out 2>err
"$HOPSCOTCH" query blind --columns failure --format csv | grep -q non_finite
check $? 'a policy that sees what is not a number fails as non_finite'

# of control: policy
wrong() # wrong PATTERN [option]...
{
    pattern=$1
    shift
    "$HOPSCOTCH" check arm.yaml "$@" >out 2>err
    [ $? -eq 1 ] && grep -q -- "$pattern" err
    check $? "refused: $(echo "$*" | cut -c 1-100)"
}
wrong 'the action of rail has no bounds, and a policy gives parts of a range: write control.bounds' \
    --set simulation.control.bounds=[]
wrong 'control.bounds must be two numbers, \[least, greatest\]' --set 'simulation.control.bounds=[1, 0]'
wrong 'control.bounds needs control: {mode: policy}' --set simulation.control.mode=hold \
    --set simulation.control.file=none
wrong 'control: policy needs control.file' --set simulation.control.file=none
wrong 'the last layer of the policy has 2 outputs, expected one for each of 3 actions' \
    --set simulation.control.file=laws/nets/small.csv
wrong 'arm.yaml:9:[0-9]*: error: the first layer of the policy has 5 inputs, and environment.observe has 2 rows' \
    --set 'environment.observe=[1, 2]'
wrong 'control.actions needs control: {mode: actions} or {mode: external}' --set 'simulation.control.actions=[1, 2, 3]'
wrong 'control.action_period needs control: {mode: law}' --set simulation.control.action_period=0.02
many=$(for output in $(seq 4); do for input in $(seq 0 255); do echo "weight_1_${output}_$input: 0"; done; done |
    head -n 1001 | paste -sd ,)
network 255 4 3 >laws/nets/wide.csv
wrong '1001 weights of the policy are named, at most 1000 can be' --set "parameters={$many}" \
    --set simulation.control.file=laws/nets/wide.csv
sed 's/^search.*/search: {method: adam, adam: {gradient: adjoint}, over: {link_1_start: {range: [0, 0.2]}}}/' \
    arm.yaml >adam.yaml
"$HOPSCOTCH" check adam.yaml >out 2>err
check $? 'adam takes the adjoint of control: policy'
sed 's/^search.*/search: {method: adam, adam: {gradient: adjoint}, over: {link_1_start: {range: [0, 0.2]}}}/' \
    asks.yaml >adam.yaml
"$HOPSCOTCH" check adam.yaml >out 2>err
check $? 'and of a law that asks a policy'
exit $status
