#!/bin/sh
# Gaussian processes: the same digest for batches of any size, any number of threads, after kills and in parts; searches
# beside others; fewer trials than random points; failures, constraints, integers and words; what is refused; what
# status and tables show of a round.
. "$(dirname "$0")/../scratch.sh"
trials=60
[ -z "${QUICK:-}" ] || trials=36

hopscotch() { "$HOPSCOTCH" "$@" >out 2>&1; }
same() # NAME WHAT
{
    [ -n "$expected" ] && [ "$(digest "$1")" = "$expected" ]
    check $? "$2"
}

# The sphere of bbob, shifted; noise of the replicates; half of the range of x1 fails; a constraint; a coordinate of
# integers.
cat >gauss.yaml <<END
version: 1
experiment: gauss
seed: 4
model: bbob
simulation: {function: rosenbrock, dimension: 5}
search:
  method: bayesian
  over: {x1: {range: [-5, 5]}, x2: {range: [-5, 5]}, x3: {range: [-5, 5], integer: true}}
  exclude: ["x1 - x2 > 7"]
  bayesian: {searches: 3, batch: 2, n_start: 6, stop: {trials: $trials}}
objective: {minimize: "f + log(x1 + 3)"}
constraints: ["x2 < 3"]
replicates: {count: 3, common: false, perturb: {x4: {normal: [0, 0.1]}}}
recommend: off
END
hopscotch run gauss.yaml --progress none --threads 1
check $? "it runs"
expected=$(digest gauss)
for batch in 1 7 100; do
    hopscotch run gauss.yaml --progress none --name "batch$batch" --batch $batch --threads 2
    same "batch$batch" "batches of $batch lanes, two threads: the same digest"
done
hopscotch run gauss.yaml --progress none --name pieces --set limits.trials=5
for most in 22 23 50; do hopscotch run gauss.yaml --progress none --name pieces --set limits.trials=$most; done
hopscotch run gauss.yaml --progress none --name pieces
same pieces "in pieces, within rounds and between them"
"$HOPSCOTCH" run gauss.yaml --progress none --name killed >out 2>&1 &
pid=$!
until_true test -s results/killed/campaign.db
kill -9 "$pid" 2>/dev/null
wait "$pid" 2>/dev/null
pid=
hopscotch run gauss.yaml --progress none --name killed
same killed "after kill -9"
for part in 1/2 2/2; do hopscotch run gauss.yaml --progress none --name parted --part $part; done
hopscotch gather parted
same parted "two parts"
hopscotch replay gauss/9
check $? "a trial replays"
"$SQL" results/batch7/campaign.db "DELETE FROM rounds; UPDATE searches SET state = x'00'"
hopscotch doctor batch7 --repair && same batch7 "the doctor computes state and rounds again" && hopscotch doctor batch7
check $? "and finds nothing more"
hopscotch run gauss.yaml --progress none --name alone --set search.bayesian.searches=1 --set search.bayesian.first=2
for name in alone gauss; do
    "$HOPSCOTCH" query $name --where "search = 2" --order id --limit 0 --columns round,x1,x2,x3,fitness \
        --format csv >$name.csv
done
cmp -s alone.csv gauss.csv && [ "$(wc -l <alone.csv)" -eq $((trials + 1)) ]
check $? "search 2 beside two others equals the one that runs alone"
"$HOPSCOTCH" query gauss --where "x3 <> round(x3)" --limit 0 --format csv >rows.csv 2>out ||
    "$HOPSCOTCH" query gauss --sql "SELECT count(*) FROM trials WHERE x3 <> round(x3)" --format csv >rows.csv
[ "$(tail -n 1 rows.csv)" = 0 ]
check $? "integers are whole"

# Fewer trials: the best of 40 on a sphere of 4 parameters is far below that of 400 random points.
cat >sphere.yaml <<'END'
version: 1
experiment: sphere
model: bbob
simulation: {function: sphere, dimension: 4}
search:
  method: bayesian
  over: {x1: {range: [-5, 5]}, x2: {range: [-5, 5]}, x3: {range: [-5, 5]}, x4: {range: [-5, 5]}}
  bayesian: {stop: {trials: 40, target: 1.0e-2}}
END
hopscotch run sphere.yaml --progress none
hopscotch status sphere
grep -q "the fitness reached stop.target" out
check $? "the target is reached within 40 trials"
works status sphere
columns='search rounds evaluations population best ends region shortest longest noise rank_corr'
grep -Eq "^$(echo "$columns" | sed 's/ / +/g').* last end\$" out
check $? "status shows the search, and how its model stands"

# All that is refused.
bad() # MESSAGE SET...
{
    said=$1
    shift
    refused check sphere.yaml "$@"
    has "$said" err
}
bad "bayesian takes at most 8 constraints; the spec has 9" --set \
    'constraints=[x1 < 1, x1 < 2, x1 < 3, x1 < 4, x2 < 1, x2 < 2, x2 < 3, x2 < 4, x3 < 1]'
bad "256 searches of 2000 trials are too many: use fewer searches or trials" --set search.bayesian.searches=256 \
    --set search.bayesian.stop.trials=2000 \
    --set 'constraints=[x1 < 1, x1 < 2, x1 < 3, x1 < 4, x2 < 1, x2 < 2, x2 < 3]'
names=$(seq -f 'p%g' 1 51)
cat >wide.yaml <<END
version: 1
experiment: wide
model: command
simulation: {program: [./none]}
parameters: {$(for name in $names; do printf '%s: {value: 1, range: [0, 2]}, ' "$name"; done)}
metrics: [cost]
search:
  method: bayesian
  over: {$(for name in $names; do printf '%s: {range: [0, 2]}, ' "$name"; done)}
objective: {minimize: cost}
END
refused check wide.yaml
has "bayesian searches at most 50 parameters; the spec has 51. Use cmaes" err
bad "and method bayesian takes one; nsga2 takes several" --set 'objective.minimize=[f, distance]'
bad "stop.trials" --set search.bayesian.stop.trials=2001
bad "did you mean 'batch'" --set search.bayesian.batsh=2

# Where all trials fail, a search goes on to its end; it knows how long trials survived.
cat >fails.yaml <<'END'
version: 1
experiment: fails
model: bbob
search:
  method: bayesian
  over: {x1: {range: [-5, 5]}, x2: {range: [-5, 5]}}
  bayesian: {batch: 3, stop: {trials: 20}}
objective: {minimize: "log(x1 - 10)"}
END
hopscotch run fails.yaml --progress none
hopscotch status fails
grep -q "20 of 20" out
check $? "all trials fail: the search goes on"
# Success is known from where trials failed: at most a third of the later trials fail, of a function that fails in half
# of the ranges.
hopscotch run fails.yaml --progress none --name half \
    --set 'objective.minimize=(x1 - 1)^2 + (x2 - 1)^2 + 0*log(x1 + x2)' \
    --set search.bayesian.stop.trials=40 --set search.bayesian.batch=1
"$HOPSCOTCH" query half --sql "SELECT sum(fitness IS NULL), min(fitness) < 1e-2 FROM trials WHERE id >= 10" \
    --format csv >rows.csv 2>out
row=$(tail -n 1 rows.csv)
[ "${row%,*}" -le 10 ] && [ "${row#*,}" = 1 ]
check $? "half of the ranges fail: failed trials of the last 30, and whether the best is below 0.01: $row"
works plot sphere --kind predictions -o predictions.svg
works plot sphere --kind convergence -o convergence.svg
has "trust region" convergence.svg
works report sphere
grep -q '<section id="predictions">' results/sphere/report.html
check $? "the report has what was predicted against what was seen"
sed 's/bayesian/cmaes/g' sphere.yaml >other.yaml
hopscotch run other.yaml --name other --progress none --set search.cmaes.stop.trials=40
refused plot other --kind predictions
has "the search method has no model of the fitness" err

# ---- few points, many at once ----------------------------------------------------------------------------------------

cat >few.yaml <<'END'
version: 1
experiment: few
seed: 2
model: bbob
simulation: {function: ellipsoid, dimension: 2}
search:
  method: bayesian
  over: {x1: {range: [-5, 5], integer: true}, x2: {range: [-2, 2], integer: true}}
  bayesian: {stop: {trials: 80}}
END
for batch in 1 8; do
    hopscotch run few.yaml --name "few-$batch" --progress none --set "search.bayesian.batch=$batch" &&
        grep -q 'every point of the ranges was computed' out
    check $? "batch $batch: a search over few integers ends when it has tried all points"
    "$HOPSCOTCH" query "few-$batch" --columns x1,x2 --limit 99 --format csv | tail -n +2 | sort | uniq -c >points
    [ "$(wc -l <points)" -eq 55 ] && [ "$(grep -c '^ *1 ' points)" -ge 50 ]
    check $? "batch $batch: hardly a point is run twice"
done
