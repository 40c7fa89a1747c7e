#!/bin/sh
# A search that starts from another campaign: it keeps a copy of the data, so that it can be resumed, repeated and
# replayed without the other one; injected points; refusals.
. "$(dirname "$0")/../scratch.sh"

cat >first.yaml <<END
version: 1
experiment: first
model: bbob
simulation: {function: sphere, dimension: 3}
search:
  method: cmaes
  over: {x1: {range: [-5, 5]}, x2: {range: [-5, 5]}, x3: {range: [-5, 5]}}
  cmaes: {searches: 2, stop: {trials: 400}}
END
more='from: first, inject: [{x1: 1, x2: 2, x3: 3}], sigma: 0.02'
sed -e 's/first/second/' -e "s/cmaes: {searches/cmaes: {$more, searches/" first.yaml >second.yaml
sed -e 's/second/cold/' -e 's/from: first, //' second.yaml >cold.yaml
sed -e 's/second/third/' -e 's/from: first/from: sampled/' second.yaml >third.yaml
sed -e 's/first/sampled/' -e 's/cmaes$/random/' -e 's/  cmaes: {.*/  trials: 200/' first.yaml \
    >sampled.yaml

hopscotch() { "$HOPSCOTCH" "$@" >out 2>&1; }
run() { spec=$1; shift; hopscotch run "$spec.yaml" --progress none "$@"; }
# best CAMPAIGN OF: the best fitness of the trials with an id below OF
best()
{
    "$HOPSCOTCH" query "$1" --where "id < $2" --order fitness --limit 1 --columns fitness \
        --format csv | tail -n 1
}
better() { awk "BEGIN { exit !($(best "$1" "$3") < $(best "$2" "$3")) }"; }

hopscotch plan second.yaml
check $? "a plan needs no campaign to start from"
run second
[ $? -eq 1 ] && grep -q 'second.yaml:8:17: error: there is no campaign first' out
check $? "a missing campaign is named"
hopscotch check second.yaml
grep -q 'second.yaml:8:17: warning: there is no campaign first under results; run it before this one' out
check $? "check says that the other campaign must run first"

run cold && run first && run sampled && run second
check $? "a search starts from another one's mean and covariance"
grep -q 'taken: {hash: "[0-9a-f]*", sigma: 0, mean: ' results/second/resolved.yaml
check $? "the resolved spec has the data of the other campaign"
better second cold 14
check $? "the search continues from there"
"$HOPSCOTCH" query second --where 'id = 0' --columns x1,x2,x3 --format csv >out
grep -qx '1,2,3' out
check $? "the first trial is the injected point"
expected=$(digest second)

run third && grep -q 'sigma: [0-9.]*[1-9]' results/third/resolved.yaml && better third cold 14
check $? "a search starts from the best trials of a campaign of another kind"

run second --name stopped --set limits.trials=77
rm -rf results/first
hopscotch resume stopped --progress none --set limits.trials=none
[ -n "$expected" ] && [ "$(digest stopped)" = "$expected" ]
check $? "the search resumes without the other campaign, to the same bits"
run second && grep -q 'done already' out
check $? "a second run finds the search done, without the other campaign"
hopscotch replay second/100
check $? "the trials of a warm start replay"
run second --name fresh
[ $? -eq 1 ] && grep -q 'there is no campaign first' out
check $? "a new search needs the other campaign"
run second --name first
[ $? -eq 1 ] && grep -q "can't start from itself" out
check $? "a search can't start from itself"
printf '%s\n' 'version: 1' 'experiment: other' 'model: hopper' \
    'search: {method: cmaes, over: {k_fp: {range: [50, 300]}}, cmaes: {from: sampled}}' >other.yaml
run other
[ $? -eq 1 ] && grep -q 'has none of the parameters that are searched' out
check $? "a campaign without a common parameter can't be used"

# ---- along gradients ------------------------------------------------------------------------------------------------

for method in adam lbfgs; do
    cat >slope.yaml <<END
version: 1
experiment: $method
model: bbob
simulation: {function: sphere, dimension: 3}
search:
  method: $method
  over: {x1: {range: [-5, 5]}, x2: {range: [-5, 5]}, x3: {range: [-5, 5]}}
  $method: {from: sampled, searches: 3, starts: [{x1: 1, x2: 2, x3: 3}], stop: {iterations: 20}}
END
    run slope && grep -q '^    taken: {hash: "[0-9a-f]*", sigma: 0, mean: ' "results/$method/resolved.yaml"
    check $? "$method: a search starts from another campaign"
    "$HOPSCOTCH" query "$method" --where 'id = 0 or id = 7' --columns x1,x2,x3 --format csv >out
    best=$("$HOPSCOTCH" query sampled --order fitness --limit 1 --columns x1,x2,x3 --format csv | tail -n 1)
    tail -n 1 out | tr , '\n' >got
    echo "$best" | tr , '\n' | paste got - | awk '($1 - $2)^2 > 1e-24 { bad = 1 } END { exit bad || NR != 3 }' &&
        sed -n 2p out | grep -qx '1,2,3'
    check $? "$method: the first search begins at the point of the spec, the second at the best trial there"
    run slope --name "$method-stopped" --set limits.trials=33
    hopscotch resume "$method-stopped" --progress none --set limits.trials=none
    [ "$(digest "$method-stopped")" = "$(digest "$method")" ]
    check $? "$method: stopped and resumed, the same digest"
    hopscotch replay "$method/40"
    check $? "$method: a trial replays"
done
exit $status
