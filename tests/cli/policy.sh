#!/bin/sh
# control: policy of the hopper: equal bits on every instruction set and in any batch; a table of the same actions moves
# it the same way; verify, report and a search that goes on from it; weights as parameters; tables that are refused.
. "$(dirname "$0")/../scratch.sh"
cp -r "$root/experiments/hopper_policy.yaml" "$root/experiments/learning" .
digest() { "$HOPSCOTCH" digest "$1" | grep -o -m 1 '[0-9a-f]\{64\}'; }
common="--progress none --backend cpu --set simulation.duration=1.5 --set replicates.count=3"
# shellcheck disable=SC2086
go() { run run hopper_policy.yaml $common "$@"; }

go --name whole
check $? "a policy runs"
number=0
for options in "--isa scalar" "--batch 1" "--batch 5 --threads 2"; do
    number=$((number + 1))
    # shellcheck disable=SC2086
    go --name "way$number" $options
    [ "$(digest "way$number")" = "$(digest whole)" ]
    check $? "equal bits: $options"
done
go --name cut --set limits.trials=2 && go --name cut --set limits.trials=none
[ "$(digest cut)" = "$(digest whole)" ]
check $? "stopped and continued, the same digest"

# the actions of a trial as a table
works replay whole/3/1 --sample 0.01 -o motion.csv
cut -d, -f12,13 motion.csv >actions.csv
sed 's/mode: policy/mode: external/; /^environment:/,$d; s/file: [^}]*/file: actions.csv/
    s/over: .*/over: {x_dot_des: [1.5]}/' hopper_policy.yaml >table.yaml
# shellcheck disable=SC2086
run run table.yaml $common --name table
check $? "the same actions from a table"
metrics() { "$HOPSCOTCH" query "$1" --sql "SELECT * FROM replicates WHERE trial = $2 AND replicate = 1" --format csv |
    cut -d, -f3- | tail -n 1; }
[ -n "$(metrics table 0)" ] && [ "$(metrics table 0)" = "$(metrics whole 3)" ]
check $? "all metrics are equal"

works verify whole --seeds 20 --gains 10 --physics 0 --grid 0 --backend cpu --progress none
has "whole/1 under 20 fresh seeds"
grep -q '^success   [0-9]* of 20: ' out
check $? "verify counts successes"
works report whole --threads 1 -o whole.html
has "x_dot_des" whole.html

# CMA-ES goes on from the table, and writes one that does as well as it says
if with_python "refine" numpy; then
    sed 's/duration: 10.0 /duration: 1.5 /; s/count: 100/count: 3/' hopper_policy.yaml >short.yaml
    PYTHONPATH="$root/runner/python${PYTHONPATH:+:$PYTHONPATH}" PYTHONDONTWRITEBYTECODE=1 \
        python3 learning/refine.py short.yaml \
        learning/hopper_policy.csv -o learning/better.csv --speed 2.5 --population 6 --generations 4 >out 2>err
    check $? "refine.py"
    found=$(sed -n 's/^fitness \([^ ]*\) .*/\1/p' out)
    [ "$(cut -d , -f 1-3 learning/better.csv)" = "$(cut -d , -f 1-3 learning/hopper_policy.csv)" ] &&
        [ "$(grep '^[12],' learning/better.csv)" = "$(grep '^[12],' learning/hopper_policy.csv)" ] &&
        [ "$(grep -c -vxFf learning/hopper_policy.csv learning/better.csv)" = "$(grep -c '^3,' learning/better.csv)" ]
    check $? "the last layer is another one, the others are the same"
    for table in hopper_policy better; do
        run run short.yaml --name $table --progress none --backend cpu --set search.over.x_dot_des='[2.5]' \
            --set simulation.control.file=learning/$table.csv && "$HOPSCOTCH" query $table \
            --sql "SELECT fitness FROM trials" --format csv | tail -n 1 >$table.fitness
    done
    awk -v said="$found" 'FNR == 1 { f[++n] = $1 }
        END { exit !(said != "" && f[2] < f[1] && f[2] - said < 1e-5 * said && said - f[2] < 1e-5 * said) }' \
        hopper_policy.fitness better.fitness
    check $? "it is better ($(cat hopper_policy.fitness) before, $(cat better.fitness) after), and as good as it says"
fi

# weights are parameters where a spec names them
go --name named --set parameters.weight_3_1_0="$(sed -n 's/^3,1,0,//p' learning/hopper_policy.csv)"
"$HOPSCOTCH" query named --sql "SELECT fitness FROM trials ORDER BY id" --format csv >named.csv
"$HOPSCOTCH" query whole --sql "SELECT fitness FROM trials ORDER BY id" --format csv | diff - named.csv >out
check $? "a weight as a parameter with the value of the table"
go --name other --set parameters.weight_3_1_0=1
"$HOPSCOTCH" query other --sql "SELECT fitness FROM trials ORDER BY id" --format csv | diff - named.csv >out
[ $? -eq 1 ]
check $? "with another value it moves otherwise"
code=1
refused check hopper_policy.yaml --set parameters.weight_3_1_33=1
has "weight_3_1_3" err

many=$(for output in $(seq 32); do seq 0 32 | sed "s/.*/weight_2_${output}_&: 0/"; done | head -n 1001 | paste -sd ,)
refused check hopper_policy.yaml --set "parameters={$many}"
has "1001 weights of the policy are named, at most 1000 can be" err

# what is seen is part of what is computed
sed 's/    - rise/    - "0.5 * rise"/' hopper_policy.yaml >half.yaml
"$HOPSCOTCH" run half.yaml --progress none --backend cpu --set simulation.duration=1.5 --set replicates.count=3 \
    --name whole >out 2>err
[ $? -eq 1 ]
check $? "other observations are another spec"

# tables that are refused; WORDS then lines
wrong()
{
    words=$1
    printf '%s\n' "$2" >wrong.csv
    refused check hopper_policy.yaml --set simulation.control.file=wrong.csv
    has "$words" err
}
wrong "a policy has the columns layer, output, input and weight" "layer,output,weight
1,1,0.5"
wrong "column 'input' of the policy is missing" "layer,output,inputs,weight
1,1,0,0.5"
wrong "row 1 of the policy: layer 0" "layer,output,input,weight
0,1,0,0.5"
wrong "row 1 of the policy: layer 5" "layer,output,input,weight
5,1,0,0.5"
wrong "output 257 and input 0" "layer,output,input,weight
1,257,0,0.5"
wrong "output 1.5" "layer,output,input,weight
1,1.5,0,0.5"
wrong "the last layer of the policy has 1 outputs" "layer,output,input,weight
1,1,0,0.5
1,1,1,0.5"
wrong "is given twice" "layer,output,input,weight
1,1,0,0.5
1,1,1,0.5
1,2,0,0.5
1,2,0,0.5"
wrong "its layers need 4: that of layer 1, output 2, input 1 is missing" "layer,output,input,weight
1,1,0,0.5
1,1,1,0.5
1,2,0,0.5"
wrong "layer 2 of the policy has 3 inputs, and the layer before has 1 outputs" "layer,output,input,weight
1,1,0,0.5
1,1,1,0.5
2,1,3,0.5
2,2,3,0.5"
wrong "the first layer of the policy has 1 inputs, and environment.observe has 11" "layer,output,input,weight
1,1,0,0.5
1,1,1,0.5
1,2,0,0.5
1,2,1,0.5"
works check hopper_policy.yaml --set "environment.define={long: \"$(seq 200 | sed 's/.*/time*&/' | paste -sd +)\"}" \
    --set 'environment.observe=[long, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]'
refused check hopper_policy.yaml --set simulation.control.file=none
has "control: policy needs control.file" err
refused check hopper_policy.yaml --set simulation.control.mode=raibert
has "control.file needs control" err
exit $status
