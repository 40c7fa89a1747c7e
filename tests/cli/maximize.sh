#!/bin/sh
# objective: {maximize: ...}: the fitness is stored and shown as the expression gives it, and the greatest is the best
# in every ranking. Each campaign must equal one that minimises the negative: the same trials in the same order,
# fitnesses with the other sign.
. "$(dirname "$0")/../scratch.sh"

# negated FILE: changes the sign of the fitness, its second column
negated() { awk -F, 'NR > 1 { $2 = 0 - $2; print $1 "," $2 }' "$1"; }
# mirrored NAME ARGUMENTS...: the command prints the same for `up` and `down`, with the other sign in column 2
mirrored()
{
    name=$1
    shift
    "$HOPSCOTCH" "$@" >up.csv 2>err </dev/null && [ "$(wc -l <up.csv)" -gt 1 ] &&
        "$HOPSCOTCH" $(echo " $*" | sed 's/ up/ down/') >down.csv 2>err </dev/null &&
        negated up.csv >up.neg && awk -F, 'NR > 1 { print $1 "," $2 + 0 }' down.csv >down.pos && cmp -s up.neg down.pos
    check $? "$name"
}

cat >up.yaml <<'END_SPEC'
version: 1
experiment: up
seed: 7
model: bbob
search: {method: grid, over: {x1: {linspace: [-4, 4, 9]}, x2: {linspace: [-4, 4, 9]}}}
objective: {maximize: "0 - f"}
END_SPEC
sed -e 's/experiment: up/experiment: down/' -e 's/maximize: "0 - f"/minimize: "f"/' up.yaml >down.yaml
works run up.yaml --progress none
cp out ran
works run down.yaml --progress none
grep -qF 'maximize: "0 - f"' results/up/resolved.yaml
check $? "resolved.yaml has the maximised objective"
works check results/up/resolved.yaml
[ "$(grep -c minimize results/up/resolved.yaml)" = 0 ]
check $? "resolved.yaml has no default objective"
mirrored "the fitness is the value of the expression" query up --columns id,fitness --format csv
"$HOPSCOTCH" best up --top 30 --format csv | sed 1d | cut -d, -f2 >up.ids
"$HOPSCOTCH" best down --limit 30 --format csv | sed 1d | cut -d, -f2 >down.ids
[ "$(wc -l <up.ids)" = 30 ] && cmp -s up.ids down.ids
check $? "best: the same trials in the same order"
best=$(head -n 1 up.ids)
run status up
has "(trial $best)"
run status up --json
grep -qF "\"best_trial\": $best" out
check $? "status --json names the greatest"
run list --sort best --format csv
[ "$(sed -n 2p out | cut -d, -f1)" = down ]
check $? "list sorts each in its own direction"
run show "up/$best"
has "objective: maximise 0 - f"
grep -q "^   1  *$best  *-" ran
check $? "run prints the user's fitness"
run doctor up
check $? "the doctor finds the campaign and its catalogue row sound"
run replay "up/$best"
check $? "a trial replays"
"$HOPSCOTCH" run down.yaml --name up --progress none >out 2>&1
grep -qF "objective.maximize: 0 - f -> (none)" out && grep -qF "objective.minimize: (none) -> f" out
check $? "the other direction is another spec, as the difference shows"
for kind in convergence scatter pairs parallel importance; do
    run plot up --kind $kind -o "$kind.svg" && grep -qF "data-trial=\"$best\"" "$kind.svg" || [ $kind = importance ]
    check $? "plot $kind marks the greatest"
done
run report up -o up.html
has_best=$(grep -c "trial $best" up.html)
[ "$has_best" -gt 0 ]
check $? "the report names the greatest"

# Adaptive searches find the same trials.
for method in "cmaes: {searches: 3, stop: {generations: 12}, constraints: ranking}" \
    "cmaes: {searches: 2, restarts: bipop, stop: {trials: 300}}"; do
    for way in up down; do
        sed -e 's/search: .*/search: {method: cmaes, over: {x1: {range: [-5, 5]}, x2: {range: [-5, 5]}}, METHOD}/' \
            -e "s/METHOD/$method/" -e "s/experiment: $way/experiment: ${way}_learns/" $way.yaml >${way}_learns.yaml
        "$HOPSCOTCH" run ${way}_learns.yaml --progress none >out 2>err
        check $? "$method $way"
    done
    mirrored "$method: the same trials" query up_learns --columns id,fitness --order id --limit 0 --format csv
    for way in up down; do
        "$HOPSCOTCH" query ${way}_learns --sql "SELECT search, best FROM rounds ORDER BY search, round" \
            --format csv >$way.csv
    done
    negated up.csv >up.neg
    awk -F, 'NR > 1 { print $1 "," $2 + 0 }' down.csv | cmp -s up.neg - && [ -s up.neg ]
    check $? "$method: rounds hold the user's best"
    "$HOPSCOTCH" status up_learns >up.out 2>&1
    "$HOPSCOTCH" status down_learns >down.out 2>&1
    sed -n '/^search /,$p' up.out | awk '{ print $1 }' >up.first
    sed -n '/^search /,$p' down.out | awk '{ print $1 }' >down.first
    [ -s up.first ] && cmp -s up.first down.first
    check $? "$method: status lists the best search first"
    run best up_learns --per search --format csv
    check $? "best --per search"
    "$HOPSCOTCH" rm up_learns down_learns --yes >/dev/null 2>&1
done

# A target is given in the user's sign: it is reached from below.
ranges="{x1: {range: [-5, 5]}, x2: {range: [-5, 5]}}"
for way in up down; do
    sign=
    [ $way = down ] || sign=-
    stop="{target: ${sign}0.5, generations: 90}"
    sed -e "s/search: .*/search: {method: cmaes, over: $ranges, cmaes: {stop: $stop}}/" \
        -e "s/experiment: $way/experiment: target_$way/" $way.yaml >target_$way.yaml
    works run target_$way.yaml --progress none
    run status target_$way
    has " target"
    "$HOPSCOTCH" query target_$way --sql "SELECT count(*) FROM trials" --format csv | tail -n 1 >$way.count
done
[ -s up.count ] && [ "$(cat up.count)" -gt 6 ] && cmp -s up.count down.count
check $? "a search ends when it reaches its target"
works run target_up.yaml --name warm --set search.cmaes.from=up --set 'search.cmaes.stop={generations: 2}' \
    --progress none
"$HOPSCOTCH" run down.yaml --name warm_down --set search.method=cmaes --set "search.over=$ranges" \
    --set 'search.cmaes={from: down, stop: {generations: 2}}' --progress none >out 2>err
"$HOPSCOTCH" query warm --columns x1,x2 --format csv >up.csv
"$HOPSCOTCH" query warm_down --columns x1,x2 --format csv >down.csv
[ -s up.csv ] && cmp -s up.csv down.csv
check $? "a warm start begins at the greatest fitness"

# The worst replicate is the one with the least value; a penalty is a fitness; `best` of a recording takes the greatest.
cat >over.yaml <<'END_SPEC'
version: 1
experiment: over_up
seed: 7
model: hopper
simulation: {duration: 0.6, settle: 0.1}
search: {method: list, points: [{k_fp: 300}, {k_fp: 250}, {k_fp: 60}]}
replicates: {count: 5, perturb: {phi_leg: {normal: [0.01, 0.4]}, dphi_body: {uniform: [-12, 12]}}}
objective: {maximize: "1 - attitude_rms", over: worst, failed: penalty(-10)}
record: {trajectories: {select: {best: 1}}}
END_SPEC
sed -e 's/maximize: "1 - attitude_rms"/minimize: "attitude_rms - 1"/' -e 's/penalty(-10)/penalty(10)/' \
    -e 's/over_up/over_down/' over.yaml >over_down.yaml
for over in worst median mean; do
    for way in over over_down; do
        "$HOPSCOTCH" run $way.yaml --set objective.over=$over --progress none >out 2>err
        check $? "$way $over"
    done
    mv results/over_up results/up_over && mv results/over_down results/down_over
    mirrored "over: $over" query up_over --columns id,fitness --order id --format csv
    up=$("$HOPSCOTCH" query up_over --sql "SELECT trial FROM trajectories" --format csv | tail -n 1)
    down=$("$HOPSCOTCH" query down_over --sql "SELECT trial FROM trajectories" --format csv | tail -n 1)
    [ -n "$up" ] && [ "$up" = "$down" ]
    check $? "over: $over: the greatest is recorded"
    rm -rf results/up_over results/down_over
done
works run over.yaml --set objective.over=mean --progress none
works run over_down.yaml --set objective.over=mean --progress none
run verify over_up --seeds 30 --gains 0 --physics 0 --grid 0 --progress none
sed -n 's/^fitness *\(.*\) (95.*/\1/p' out >up.fit
run verify over_down --seeds 30 --gains 0 --physics 0 --grid 0 --progress none
sed -n 's/^fitness *\(.*\) (95.*/\1/p' out >down.fit
[ -s up.fit ] && [ "$(cat up.fit)" = "$(awk '{ print -$1 }' down.fit)" ]
check $? "verify prints the user's fitness"
run compare over_up over_up --seeds 9 --progress none
check $? "compare of maximised campaigns"

# Several objectives: minimised ones first, then maximised ones; a front of both.
cat >front.yaml <<'END_SPEC'
version: 1
experiment: up_front
seed: 5
model: bbob
search:
  method: nsga2
  over: {x1: {range: [-5, 5]}, x2: {range: [-5, 5]}}
  nsga2: {population: 12, stop: {generations: 6}}
objective: {minimize: "x1^2 + x2", maximize: ["0 - (x1 - 2)^2", "x2"], reference: [30, -50, -6]}
END_SPEC
negative='minimize: ["x1^2 + x2", "(x1 - 2)^2", "0 - x2"], reference: [30, 50, 6]'
sed -e 's/up_front/down_front/' -e "s/^objective.*/objective: {$negative}/" \
    front.yaml >down_front.yaml
works run front.yaml --progress none
works run down_front.yaml --progress none
"$HOPSCOTCH" best up_front --format csv | sed 1d | cut -d, -f1 >up.ids
"$HOPSCOTCH" best down_front --format csv | sed 1d | cut -d, -f1 >down.ids
[ "$(wc -l <up.ids)" -gt 3 ] && cmp -s up.ids down.ids
check $? "the same front"
run best up_front
has "objective_1  x1^2 + x2"
has "objective_3  maximise x2"
has "better than (30, -50, -6)"
value=$(sed -n 's/^hypervolume \([^ ]*\) .*/\1/p' out)
run best down_front
has "hypervolume $value below (30, 50, 6)"
up=$("$HOPSCOTCH" query up_front --sql "SELECT hypervolume FROM fronts ORDER BY round" --format csv)
down=$("$HOPSCOTCH" query down_front --sql "SELECT hypervolume FROM fronts ORDER BY round" --format csv)
[ -n "$up" ] && [ "$up" = "$down" ]
check $? "the same hypervolumes"
run plot up_front --kind pareto -o pareto.svg
check $? "plot of the front"
run best up_front --objectives objective_3,x1
check $? "a front of chosen columns"

# Refusals.
sed 's/maximize: "0 - f"/maximise: "f"/' up.yaml >misspelt.yaml
refused check misspelt.yaml
has "did you mean 'maximize'" err
sed 's/maximize: "0 - f"/maximize: "f", minimize: "x1"/' up.yaml >two.yaml
sed -i 's/search: .*/search: {method: cmaes, over: {x1: {range: [-5, 5]}, x2: {range: [-5, 5]}}}/' two.yaml
refused check two.yaml
has "objective holds 2 objectives, and method cmaes takes one; nsga2 takes several" err
sed 's/maximize: "0 - f"/maximize: ["f", "f", "f", "f", "f"], minimize: ["f", "f", "f", "f"]/' up.yaml >nine.yaml
refused check nine.yaml
has "minimize and maximize hold 9 objectives together, expected 8 at most" err
exit $status
