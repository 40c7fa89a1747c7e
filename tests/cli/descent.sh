#!/bin/sh
# Searches along gradients: the same digest for batches of any size and any number of threads; what status, plots and
# tables show of a round; a repaired state; one start without an allowed point.
. "$(dirname "$0")/../scratch.sh"

hopscotch() { "$HOPSCOTCH" "$@" >out 2>&1; }
for method in adam lbfgs; do
    cat >$method.yaml <<END
version: 1
experiment: $method
seed: 4
model: bbob
simulation: {function: rosenbrock, dimension: 3}
search:
  method: $method
  over: {x1: {range: [-5, 5]}, x2: {range: [-5, 5]}}
  exclude: ["x1 - x2 > 7"]
  $method: {searches: 3, restarts: 1, stop: {iterations: 12}}
objective: {minimize: "f + log(x1 + 4)"}
replicates: {count: 3, common: false, perturb: {x3: {normal: [0, 0.1]}}}
END
    hopscotch run $method.yaml --progress none
    check $? "$method: runs"
    expected=$(digest $method)
    for batch in 1 7 100; do
        hopscotch run $method.yaml --progress none --name "$method$batch" --batch $batch --threads 2
        [ -n "$expected" ] && [ "$(digest "$method$batch")" = "$expected" ]
        check $? "$method: batches of $batch: the same digest"
    done
    hopscotch replay "$method/23"
    check $? "$method: a trial replays, with the random numbers of its round"
    "$SQL" "results/${method}7/campaign.db" "DELETE FROM rounds; UPDATE searches SET state = x'00'"
    hopscotch doctor "${method}7" --repair && [ "$(digest "${method}7")" = "$expected" ] &&
        hopscotch doctor "${method}7"
    check $? "$method: the doctor computes state and rounds again"
done

# Forward differences, and lines with one point after the other: each stored point is that of the oracle, in a valley,
# at an end, on a kink, and where a search ends and starts over; the same digest in pieces.
cat >serial.yaml <<'END'
version: 1
experiment: serial
seed: 4
model: bbob
simulation: {function: rosenbrock, dimension: 3}
search:
  method: lbfgs
  over: {x1: {range: [-5, 5]}, x2: {range: [-5, 5]}, x3: {range: [-5, 5]}}
  lbfgs: {forward: 1e-8, line: 1, rate: 0.5, memory: 4, searches: 2, restarts: 2, stop: {iterations: 40, step: 0}}
END
serial() # NAME SET...
{
    name=$1
    shift
    hopscotch run serial.yaml --name "$name" --progress none --threads 2 "$@" &&
        hopscotch query "$name" --sql 'SELECT search, x1, x2, x3, fitness FROM trials ORDER BY id' --format csv &&
        mv out "$name.csv" && python3 "$root/tests/descent_serial.py" "$name.csv" 3 1e-8 0.5 4 40 >out 2>&1 &&
        ! grep -q ' 0$\| restarts [0-5] ' out
    check $? "lbfgs in series: $name: $(tail -n 1 out)"
}
if command -v python3 >/dev/null; then
    serial valley
    serial end --set simulation.function=ellipsoid --set 'objective.minimize=f - 3e5*x2'
    serial ridge --set simulation.function=sharp_ridge
    serial over --set simulation.function=rastrigin
else
    skip "lbfgs in series against its oracle" python3 "a package of that name"
fi
hopscotch run serial.yaml --name pieces --progress none --batch 1 --set limits.trials=101 &&
    hopscotch resume pieces --progress none --batch 7 --set limits.trials=none &&
    hopscotch run serial.yaml --name whole --progress none && [ "$(digest pieces)" = "$(digest whole)" ]
check $? "a serial search in pieces: the same digest"
hopscotch replay whole/100 && hopscotch doctor whole
check $? "its trials replay"
rounds="SELECT sum(population = 3), sum(population = 4), sum(population = 1), count(*) FROM rounds WHERE search = 0"
"$HOPSCOTCH" query whole --sql "$rounds" --format csv 2>err | tail -n 1 >rounds
awk -F, '{ exit !($1 > 20 && $2 == 3 && $3 > 20 && $1 + $2 + $3 == $4) }' rounds
check $? "the centre of a restart runs once, the others were points of lines: $(cat rounds)"

# How good the gradients are: a row for each round that took one, in status, show and SQL; damage is found and repaired.
"$HOPSCOTCH" query adam --sql 'SELECT count(*) n, count(spread) s, count(cosine) c, count(growth) g FROM gradients' \
    --format csv >rows.csv 2>out
[ "$(tail -n 1 rows.csv)" = "$("$SQL" results/adam/campaign.db 'SELECT count(*) n FROM rounds' | tail -n 1),72,72,0" ]
check $? "every round of adam has a row: $(tail -n 1 rows.csv)"
lines=$("$HOPSCOTCH" query lbfgs --format csv \
    --sql 'SELECT (SELECT count(*) FROM gradients) > 0, count(*) FROM gradients JOIN rounds USING(search, round)
        WHERE population <> 5' | tail -n 1)
[ "$lines" = "1,0" ]
check $? "of lbfgs those of differences"
hopscotch status adam
grep -q '^search .* gradient  *spread  *cosine  *best  ends' out
check $? "status has columns for them"
hopscotch show adam/best
grep -q '^gradient of its round: norm .* spread over the replicates .* cosine of two halves .*(signal)$' out
check $? "show has those of the trial's round"
cp -r results/adam results/hurt
for change in "DELETE FROM gradients WHERE round = 3" "UPDATE gradients SET cosine = 0.5 WHERE round = 2"; do
    "$SQL" results/hurt/campaign.db "$change"
    [ "$(digest hurt)" != "$(digest adam)" ] && ! hopscotch doctor hurt && hopscotch doctor hurt --repair &&
        ! grep -q "can't be repaired" out && hopscotch doctor hurt && [ "$(digest hurt)" = "$(digest adam)" ]
    check $? "the doctor finds and repairs: $change"
done

# A campaign of an earlier program, which has no table for them.
rm -rf results/hurt
hopscotch run adam.yaml --name hurt --progress none --set limits.trials=40
"$SQL" results/hurt/campaign.db "DROP TABLE gradients; DELETE FROM digests WHERE name IN ('gradients', 'sqlite_schema')"
hopscotch status hurt && ! grep -q cosine out && hopscotch show hurt/best && ! grep -q "^gradient of" out &&
    hopscotch report hurt && hopscotch plot hurt
check $? "it is read as before"
hopscotch run adam.yaml --name hurt --progress none
"$HOPSCOTCH" query hurt --format csv --sql 'SELECT count(*) > 50 AND count(*) < 72 FROM gradients' >rows.csv 2>out
[ "$(tail -n 1 rows.csv)" = 1 ] && hopscotch doctor hurt
check $? "it gets the table when it goes on"

# 3 x1 + 4 x2 over ranges of 10: a gradient of 50
cat >plane.yaml <<'END'
version: 1
experiment: plane
model: bbob
search:
  method: adam
  over: {x1: {range: [-5, 5]}, x2: {range: [-5, 5]}}
  adam: {start: center, rate: 0.01, stop: {iterations: 3}}
objective: {minimize: "3*x1 + 4*x2"}
END
hopscotch run plane.yaml --progress none
hopscotch status plane
grep -q '^search  generations  evaluations  population *step  gradient *best  ends  last end$' out
check $? "status has a column for the step and one for the gradient"
"$HOPSCOTCH" status plane --json |
    awk -F '[:,]' '/"gradient"/ { good += ($2 - 50)^2 < 1e-12 } /"step"/ { good += ($2 - 0.01 * sqrt(2))^2 < 1e-12 }
        END { exit good != 2 }'
check $? "they are the norm of the gradient and the length of the last step"
"$HOPSCOTCH" plot plane >out 2>&1 && grep -q 'norm of the gradient' plane-convergence.svg
check $? "the plot draws the gradient"

# The report: bars by parts of the ranges, the longest first; grey where the end of a range holds the search.
bars() # FILE: the numbers at the bars
{
    sed -n '/<section id="gradient">/,/<h3>/p' "$1" | grep -o 'text-anchor="[se][tn][ad][^>]*>[-0-9.e]*<' |
        sed 's/.*>\(.*\)</\1/' | tr '\n' ' '
}
hopscotch report plane -o plane.html
bars plane.html | grep -q "^40 30 $" && grep -q 'by differences between trials' plane.html &&
    ! grep -q 'better beyond' plane.html
check $? "the report draws the derivatives by the ranges: $(bars plane.html)"
hopscotch run plane.yaml --name corner --progress none --set search.adam.rate=0.6 &&
    hopscotch report corner -o corner.html && grep -q 'better beyond the end of its range' corner.html
check $? "at the ends of the ranges the bars are grey"
hopscotch run plane.yaml --name up --progress none --set 'objective={maximize: "x1 - 4*x2"}' &&
    hopscotch report up -o up.html
bars up.html | grep -q "^-40 10 $" && grep -q 'class="ba"[^>]*>.*-40' up.html
check $? "of a fitness that is maximised too: $(bars up.html)"
hopscotch report adam -o adam.html
grep -q 'Whiskers: the standard error over the 3 replicates' adam.html &&
    grep -q 'aria-label="cosine of two halves of the replicates, round"' adam.html && ! grep -q 'growth back' adam.html
check $? "with replicates it has whiskers, spread and cosine"
hopscotch plot adam --kind gradient -o gradient.svg && grep -q 'spread over the replicates' gradient.svg
check $? "they are a plot too"
hopscotch plan plane.yaml && grep -q 'at most 15, 5 per generation; tolerances may end a search early' out
check $? "the plan counts the trials"
grep -q '^bound  *trials, disk and time are upper bounds: a search ends when its gradient or its steps are small' out
check $? "it says that they are an upper bound, and why"
hopscotch plan lbfgs.yaml && grep -q '^bound .*no step leads down.* a line is counted for each gradient$' out
check $? "of lbfgs too"
hopscotch plan plane.yaml --set limits.trials=4 && ! grep -q '^bound' out
check $? "not of one that can't end earlier"
hopscotch run plane.yaml --name none --progress none --set 'search.exclude=["x1 < 4.9999"]'
[ $? -eq 1 ] && grep -q 'search 0: `exclude`' out
check $? "a search without an allowed start says so"

# Models without an adjoint, by differences: the fitness falls, with the same digest for batches of any size.
cp "$root/experiments/command/spring.sh" .
cat >rigid.yaml <<'END'
version: 1
experiment: rigid
model: rigid
simulation:
  duration: 0.5
  dt: 0.01
  stabilisation: baumgarte
  world:
    bodies:
      - {name: anchor, fixed: true, position: [0, 0, 2]}
      - {name: payload, mass: 5, inertia: 0.5, velocity: [3, 0, 0]}
    constraints:
      - {name: rod, type: distance, a: payload, b: anchor}
search:
  method: adam
  adam: {searches: 2, rate: 0.05, gradient: differences, stop: {iterations: 8}}
  over: {gravity: {range: [2, 15]}}
objective: {minimize: "(payload_end_x - 1)^2"}
END
cat >ndt.yaml <<'END'
version: 1
experiment: ndt
model: ndt
simulation: {scene: street, scene_seed: 3, spacing: 0.6, source_spacing: 2.0, resolution: 2.0, max_iterations: 60}
search:
  method: adam
  adam: {searches: 2, rate: 0.05, gradient: differences, stop: {iterations: 8}}
  over: {outlier_ratio: {range: [0.1, 0.9]}}
objective: {minimize: "(tp - 3)^2"}
END
cat >command.yaml <<'END'
version: 1
experiment: command
model: command
simulation: {program: [./spring.sh], timeout: 10s}
parameters: {stiffness: {value: 40, range: [0, 1000]}, damping: {value: 1, range: [-10, 100]}}
metrics: {settled: s, energy: J}
failures: [unstable]
search:
  method: adam
  adam: {searches: 2, rate: 0.05, gradient: differences, stop: {iterations: 4}}
  over: {stiffness: {range: [10, 100]}, damping: {range: [1, 10]}}
objective: {minimize: "(energy - 15)^2"}
END
for model in rigid ndt command; do
    for method in adam lbfgs; do
        name=$model-$method
        sed "s/adam/$method/g" $model.yaml >$name.yaml
        hopscotch run $name.yaml --name $name --progress none --allow-programs --batch 1 &&
            hopscotch run $name.yaml --name $name-7 --progress none --allow-programs --batch 7 --threads 2 &&
            [ "$(digest $name)" = "$(digest $name-7)" ]
        check $? "$name: the same digest for batches of 1 and 7"
        "$HOPSCOTCH" query $name --format csv 2>out \
            --sql "SELECT min(fitness), (SELECT min(fitness) FROM trials WHERE round = 0) FROM trials" | tail -n 1 >fell
        awk -F, '{ exit !($1 != "" && $1 < 0.1 * $2) }' fell
        check $? "$name: the fitness falls: $(cat fell)"
    done
done
exit $status
