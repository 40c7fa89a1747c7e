#!/bin/sh
# A larger budget for an adaptive search: cmaes, nsga2, adam and lbfgs continue from their stored states, and have the
# digest of a search with that budget from the start, also after stops and kills.
. "$(dirname "$0")/../scratch.sh"

cat >cmaes.yaml <<'END'
version: 1
experiment: learn
seed: 5
model: bbob
simulation: {function: rosenbrock, dimension: 4}
search:
  method: cmaes
  over: {x1: {range: [-5, 5]}, x2: {range: [-5, 5]}, x3: {range: [-5, 5]}}
  cmaes: {searches: 4, sigma: 0.2, stop: {generations: 80, tolfun: 1, tolfunhist: 1}}
replicates: {count: 2, common: false, perturb: {x4: {normal: [0, 1.0e-3]}}}
record: {trajectories: {select: {best: 3}}}
END
cat >nsga2.yaml <<'END'
version: 1
experiment: front
seed: 5
model: bbob
simulation: {function: rosenbrock, dimension: 3}
search:
  method: nsga2
  over: {x1: {range: [-5, 5]}, x2: {range: [-5, 5]}}
  nsga2: {searches: 3, population: 12, stop: {generations: 80}}
objective: {minimize: [f, "abs(x1 + 2)"]}
END
for method in adam lbfgs; do
    cat >$method.yaml <<END
version: 1
experiment: slope
seed: 5
model: bbob
simulation: {function: rosenbrock, dimension: 4}
search:
  method: $method
  over: {x1: {range: [-5, 5]}, x2: {range: [-5, 5]}, x3: {range: [-5, 5]}}
  $method: {searches: 4, stop: {iterations: 80, gradient: 1.0e-3}}
replicates: {count: 2, common: false, perturb: {x4: {normal: [0, 1.0e-3]}}}
record: {trajectories: {select: {best: 3}}}
END
done

unit() { case $method in adam | lbfgs) echo iterations ;; *) echo generations ;; esac; }
# go METHOD NAME GENERATIONS OPTION...
go()
{
    method=$1 name=$2 generations=$3
    shift 3
    "$HOPSCOTCH" run "$method.yaml" --name "$name" --progress none --threads 1 \
        --set "search.$method.stop.$(unit)=$generations" "$@" >out 2>&1
}
same()
{
    [ -n "$expected" ] && [ "$(digest "$1")" = "$expected" ]
    check $? "$method: $2"
}

for method in cmaes nsga2 adam lbfgs; do
    go $method "$method-whole" 80
    check $? "$method: 80 generations"
    expected=$(digest "$method-whole")
    "$HOPSCOTCH" plan $method.yaml --json --set "search.$method.stop.$(unit)=80" >plan.json 2>&1
    planned=$(sed -n 's/^ *"trials": \([0-9]*\),$/\1/p' plan.json)
    bytes=$(sed -n 's/^ *"sqlite_bytes": \([0-9]*\).*/\1/p' plan.json)
    done=$("$HOPSCOTCH" status "$method-whole" --json | sed -n 's/^ *"trials": \([0-9]*\),$/\1/p')
    size=$(wc -c <"results/$method-whole/campaign.db")
    [ $method != nsga2 ] && [ "$done" -le "$planned" ] && [ "$done" -gt 500 ] ||
        { [ $method = nsga2 ] && [ "$done" -eq "$planned" ]; }
    check $? "$method: the plan said $planned trials, and there are $done"
    bytes=$((bytes * done / planned)) # of the trials that there are
    [ "$((size / 3))" -lt "$bytes" ] && [ "$bytes" -lt "$((size * 3))" ]
    check $? "$method: the plan said $bytes bytes of SQLite, and there are $size"
    go $method "$method-parts" 15
    go $method "$method-parts" 50
    [ $? -eq 1 ] && grep -q "stop.$(unit): 15 -> 50" out && grep -q "extend runs what is new" out
    check $? "$method: more generations are refused without --extend"
    go $method "$method-parts" 50 --extend && go $method "$method-parts" 80 --extend --batch 6
    check $? "$method: 15 generations, 50, then 80"
    same "$method-parts" "in three parts: the digest of one"
    go $method "$method-cut" 15 && go $method "$method-cut" 80 --extend --set limits.trials=1000 &&
        go $method "$method-cut" 80 --set limits.trials=1001 && go $method "$method-cut" 80
    check $? "$method: extended, and stopped in the middle of generations"
    same "$method-cut" "the same digest"
    if [ -x "$HOPSCOTCH_FAULTS_PROGRAM" ]; then
        go $method "$method-base" 15 && bad=0
        for n in 3 40 90 160 300; do
            rm -rf results/killed && cp -r "results/$method-base" results/killed
            (
                export HOPSCOTCH_FAULT="sql:$n:KILL"
                HOPSCOTCH=$HOPSCOTCH_FAULTS_PROGRAM
                go $method killed 80 --extend --batch 20
            ) 2>/dev/null
            go $method killed 80 --extend || bad=1
            [ "$(digest killed)" = "$expected" ] || bad=1
        done
        check $bad "$method: killed while it was extended: the same digest"
    else
        with_faults "an extension that is killed"
    fi
    "$HOPSCOTCH" doctor "$method-parts" >out 2>&1
    check $? "$method: the doctor finds nothing"
    "$HOPSCOTCH" status "$method-parts" --json >out 2>&1
    if [ $method = cmaes ]; then has '"stop": "tolfun' ; fi
done

# ---- another stop reason at the same generation ---------------------------------------------------------------------

go nsga2 ten 10 && expected=$(digest ten) && go nsga2 reason 80 --set search.nsga2.stop.trials=120
check $? "nsga2: ended by trials after ten generations"
go nsga2 reason 10 --set search.nsga2.stop.trials=none --extend
same reason "ended by generations there: the digest of one that had ten"

# ---- refusals -------------------------------------------------------------------------------------------------------

go cmaes restarts 20 --set search.cmaes.restarts=ipop --set search.cmaes.stop.trials=600
check $? "a search with restarts"
go cmaes restarts 30 --set search.cmaes.restarts=ipop --set search.cmaes.stop.trials=600 --extend
[ $? -eq 1 ] && grep -q "stop.generations can't change" out
check $? "more generations for each restart are refused"
go cmaes restarts 20 --set search.cmaes.restarts=ipop --set search.cmaes.stop.trials=900 --extend
check $? "more trials for a search with restarts are accepted"
go cmaes cmaes-parts 80 --set search.cmaes.population=20 --extend
[ $? -eq 1 ] && grep -q "population can't change" out
check $? "another population is refused"
go adam cosine 20 --set search.adam.schedule=cosine
go adam cosine 30 --set search.adam.schedule=cosine --extend
[ $? -eq 1 ] && grep -q "stop.iterations can't change" out
check $? "more iterations are refused where they change the rate"
go adam cosine 20 --set search.adam.schedule=cosine --set search.adam.stop.gradient=1 --extend
check $? "another end is accepted there"
go lbfgs lbfgs-parts 80 --set search.lbfgs.difference=1e-5 --extend
[ $? -eq 1 ] && grep -q "difference can't change" out
check $? "another difference is refused"
exit $status
