#!/bin/sh
# The options of cmaes in the whole program: each gives the same campaign for any batches, after a stop in the middle of
# a generation, and beside other searches; constraints rank, are stored, replayed and repaired.
. "$(dirname "$0")/../scratch.sh"

cat >learn.yaml <<END
version: 1
experiment: learn
seed: 5
model: bbob
simulation: {function: rosenbrock, dimension: 5}
search:
  method: cmaes
  over: {x1: {range: [-5, 5]}, x2: {range: [-5, 5]}, x3: {range: [-5, 5]}, x4: {range: [-5, 5]}}
  cmaes: {searches: 3, sigma: 0.2, stop: {trials: 300}}
replicates: {count: 2, common: false, perturb: {x5: {normal: [0, 0.1]}}}
END

hopscotch() { "$HOPSCOTCH" "$@" >out 2>&1; }
run() { name=$1; shift; hopscotch run learn.yaml --name "$name" --progress none "$@"; }
query() { "$HOPSCOTCH" query "$@" --format csv; }

# same NAME SET...: runs the campaign with these settings at once and in pieces, and its third search alone
same()
{
    of=$1
    shift
    run "$of" --threads 1 "$@" && expected=$(digest "$of") && [ -n "$expected" ]
    check $? "$of runs"
    run "$of-pieces" --batch 14 "$@" --set limits.trials=101 && run "$of-pieces" --batch 50 "$@" --set limits.trials=102
    hopscotch resume "$of-pieces" --progress none --threads 2 --set limits.trials=none
    [ "$(digest "$of-pieces")" = "$expected" ]
    check $? "$of in pieces gives the same bits"
    run "$of-alone" "$@" --set search.cmaes.searches=1 --set search.cmaes.first=2
    query "$of" --where 'search = 2' --order id --limit 9999 --columns round,x1,x2,x3,x4,fitness >beside
    query "$of-alone" --where 'search = 2' --order id --limit 9999 --columns round,x1,x2,x3,x4,fitness >alone
    cmp -s alone beside && [ "$(wc -l <alone)" -gt 200 ]
    check $? "$of: a search beside others equals the one that runs alone"
    hopscotch replay "$of/100"
    check $? "$of: a trial replays"
}

same integers --set 'search.over.x2={range: [-5, 5], integer: true}'
same penalty --set search.cmaes.bounds=penalty
same separable --set search.cmaes.covariance=separable
same uncertainty --set search.cmaes.uncertainty=true --set search.cmaes.stop.trials=600
same constraints --set 'constraints=["x1 + x2 < 1", "f > 1"]'
same lagrangian --set 'constraints=["x1 + x2 < 1"]' --set search.cmaes.constraints=augmented_lagrangian

query uncertainty --where 'round = 0 and search = 0' --order id --limit 99 --columns x1,fitness | tail -n +2 >out
[ "$(cut -d, -f1 out | sort -u | wc -l)" -eq 8 ] && [ "$(sort -u out | wc -l)" -eq 10 ]
check $? "two of eight members run again, with their own perturbations"

[ "$(query constraints --where 'violation = 0' --order fitness --limit 1 --columns id | tail -n 1)" = \
    "$("$HOPSCOTCH" best constraints --format csv | sed -n 2p | cut -d, -f2)" ]
check $? "the best trial meets the constraints"
sum='max(constraint_1, 0) + max(constraint_2, 0)'
[ "$(query constraints --where 'violation > 0' --limit 0 --columns id | wc -l)" -gt 10 ] &&
    [ "$(query constraints --where "violation != $sum" --columns id | wc -l)" -le 1 ]
check $? "a violation is the sum over the violated constraints"
hopscotch best constraints && grep -q 'violation' out
check $? "best shows violations"
"$HOPSCOTCH" status constraints >out && grep -q 'best' out
check $? "status shows the best trial"

run unfair --set search.cmaes.uncertainty=true --set replicates.common=true
[ $? -eq 1 ] && grep -q 'replicates: {common: false}' out
check $? "uncertainty is refused if all trials share their random numbers"

# damaged rows of trials are simulated again; the search's state is computed from them, constraints included
expected=$(digest lagrangian)
# damage SQL WHAT
damage()
{
    "$SQL" results/lagrangian/campaign.db "$1"
    [ "$(digest lagrangian)" != "$expected" ] && hopscotch doctor lagrangian --repair &&
        [ "$(digest lagrangian)" = "$expected" ] && hopscotch doctor lagrangian
    check $? "$2"
}
damage "UPDATE searches SET state = zeroblob(8) WHERE id = 0" "a damaged state is computed again"
damage "UPDATE trials SET fitness = fitness + 1 WHERE id IN (3, 200)" "damaged trials are simulated again"
damage "UPDATE trials SET constraint_1 = 0, violation = 0" "and their constraints"
damage "DELETE FROM trials WHERE id > 500" "trials that are gone too"
exit $status
