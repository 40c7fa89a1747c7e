#!/bin/sh
# The surrogate of cmaes in the whole program: the same campaign for any batches, threads and parts, after stops and
# kills in the middle of a generation, beside other searches and after an extension; what status, query and plots show;
# repairs; what is refused.
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
  cmaes: {searches: 3, sigma: 0.2, surrogate: quadratic, stop: {trials: 120}}
replicates: {count: 2, common: false, perturb: {x5: {normal: [0, 0.1]}}}
END

hopscotch() { "$HOPSCOTCH" "$@" >out 2>&1; }
run() { name=$1; shift; hopscotch run learn.yaml --name "$name" --progress none "$@"; }
query() { "$HOPSCOTCH" query "$@" --format csv; }
same() { [ -n "$expected" ] && [ "$(digest "$1")" = "$expected" ]; check $? "$2"; }

# ---- the same bits ---------------------------------------------------------------------------------------------------

# pieces NAME SET...: runs the campaign with these settings at once and in pieces, and its third search alone
pieces()
{
    of=$1
    shift
    run "$of" --threads 1 "$@" && expected=$(digest "$of") && [ -n "$expected" ]
    check $? "$of runs"
    run "$of-pieces" --batch 14 "$@" --set limits.trials=61 && run "$of-pieces" --batch 4 "$@" --set limits.trials=62
    hopscotch resume "$of-pieces" --progress none --threads 2 --set limits.trials=none
    same "$of-pieces" "$of in pieces gives the same bits"
    run "$of-alone" "$@" --set search.cmaes.searches=1 --set search.cmaes.first=2
    query "$of" --where 'search = 2' --order id --limit 9999 --columns round,x1,x2,x3,x4,fitness >beside
    query "$of-alone" --where 'search = 2' --order id --limit 9999 --columns round,x1,x2,x3,x4,fitness >alone
    cmp -s alone beside && [ "$(wc -l <alone)" -gt 100 ]
    check $? "$of: a search beside others equals the one that runs alone"
    hopscotch replay "$of/100"
    check $? "$of: a trial replays"
}

pieces plain
pieces least --set search.cmaes.evaluate_least=4 --set search.cmaes.population=12
pieces integers --set 'search.over.x2={range: [-5, 5], integer: true}'
pieces penalty --set search.cmaes.bounds=penalty
pieces separable --set search.cmaes.covariance=separable
pieces restarts --set search.cmaes.restarts=bipop --set search.cmaes.restarts_max=2 --set search.cmaes.patience=2
pieces dropped --set 'search.exclude=["x1 > x2 + 3"]' --set search.cmaes.bounds=resample

expected=$(digest plain)
for k in 3 1 2; do run plain-parts --part "$k/3" || check 1 "part $k of 3"; done
hopscotch gather plain-parts
same plain-parts "parts give the same bits"

# killed a few times on its way
k=0
while [ $k -lt 4 ]; do
    "$HOPSCOTCH" run learn.yaml --name killed --batch 2 --threads 1 --progress none >out 2>&1 &
    pid=$!
    sleep "0.0$((2 + 2 * k))"
    kill -9 "$pid" 2>/dev/null
    wait "$pid" 2>/dev/null
    pid=
    k=$((k + 1))
done
run killed
same killed "killed four times"

run extended --set search.cmaes.stop.trials=50
run extended --extend --set search.cmaes.stop.trials=120
for s in 0 1 2; do
    query extended --where "search = $s" --order id --limit 9999 --columns round,x1,x4,fitness >later
    query plain --where "search = $s" --order id --limit 9999 --columns round,x1,x4,fitness >once
    cmp -s later once
    check $? "search $s, extended from 50 to 120 trials, has the trials of one run"
done

# ---- what is shown and stored ----------------------------------------------------------------------------------------

"$HOPSCOTCH" status plain >out
grep -Eq '^search +rounds +evaluations .* sigma +condition +best +ends +tau +evaluated +model +last end$' out &&
    grep -Eq ' (linear|diagonal|full) +trials$' out
check $? "status shows tau, how much of a generation was run, and the kind of the model"
hopscotch status plain --json
grep -q '"model": "\(linear\|diagonal\|full\)"' out && grep -q '"tau": ' out && grep -q '"evaluated": [1-8],' out
check $? "and as JSON"
hopscotch plot plain --kind convergence -o plain.svg && grep -q 'tau of the model' plain.svg &&
    grep -q 'run of the generation' plain.svg
check $? "the plot of the convergence shows them"
run none --set search.cmaes.surrogate=none
"$HOPSCOTCH" status none >out
! grep -q 'tau' out
check $? "a plain search has none of them"
[ "$(query plain --where 'search = 0' --limit 0 --columns round | sort -u | wc -l)" -gt \
    "$(query none --where 'search = 0' --limit 0 --columns round | sort -u | wc -l)" ]
check $? "the surrogate has more rounds of fewer trials"

expected=$(digest plain)
"$SQL" results/plain/campaign.db "UPDATE searches SET state = zeroblob(8) WHERE id = 0"
hopscotch doctor plain --repair
same plain "a damaged state is computed again"
"$SQL" results/plain/campaign.db "UPDATE trials SET fitness = fitness + 1 WHERE id IN (3, 200)"
hopscotch doctor plain --repair
same plain "damaged trials are simulated again"

# ---- failures --------------------------------------------------------------------------------------------------------

cat >fails.yaml <<END
version: 1
experiment: fails
seed: 5
model: hopper
simulation: {duration: 3.0, dt: 1.0e-3, settle: 0.1}
search:
  method: cmaes
  over: {k_fp: {range: [1, 900]}, k_att: {range: [1, 900]}, b_att: {range: [0.1, 90]}, thrust: {range: [1, 90]}}
  cmaes: {searches: 2, surrogate: quadratic, stop: {trials: 60}}
END
hopscotch run fails.yaml --progress none --threads 1 && expected=$(digest fails)
[ "$(query fails --where "failure != 'none'" --limit 0 --columns id | wc -l)" -gt 20 ]
check $? "some trials fail"
hopscotch run fails.yaml --name again --progress none --batch 3 --threads 2
same again "a campaign with failures has the same bits in batches of 3"

# ---- errors ----------------------------------------------------------------------------------------------------------

# says WORDS SET...
says()
{
    words=$1
    shift
    run refused "$@"
    [ $? -eq 1 ] && grep -q "$words" out
    check $? "refused: $words"
}
says "surrogate is 'cubic', expected none or quadratic" --set search.cmaes.surrogate=cubic
says 'evaluate_least is for a search with a model' --set search.cmaes.surrogate=none --set search.cmaes.evaluate_least=4
says 'evaluate_least is 8 of the 8 members' --set search.cmaes.evaluate_least=8
says "can't tell which members meet the constraints" --set 'constraints=["x1 < 1"]'
says 'runs members twice: use one of them' --set search.cmaes.uncertainty=true
{
    printf 'version: 1\nexperiment: wide\nmodel: command\nsimulation: {program: [./none]}\n'
    printf 'metrics: {f: m}\nparameters:\n'
    for i in $(seq 41); do echo "  p$i: {value: 1, range: [-9, 9]}"; done
    printf 'objective: {minimize: f}\nsearch:\n  method: cmaes\n  cmaes: {surrogate: quadratic}\n  over:\n'
    for i in $(seq 41); do echo "    p$i: {range: [-5, 5]}"; done
} >wide.yaml
hopscotch check wide.yaml
[ $? -eq 1 ] && grep -q 'quadratic is for up to 40 parameters; the spec searches 41' out
check $? "refused: 41 parameters"
says 'are too many' --set search.cmaes.searches=900 --set search.cmaes.population=4096
exit $status
