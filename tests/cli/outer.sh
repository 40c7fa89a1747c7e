#!/bin/sh
# Outer grids: every search equals, to the bit, the one that runs alone with the outer values fixed, for any batches;
# best, status and query distinguish the points.
#
#   QUICK=1   fewer generations
. "$(dirname "$0")/../scratch.sh"
generations=40
[ -z "${QUICK:-}" ] || generations=10

cat >outer.yaml <<END
version: 1
experiment: outer
seed: 5
model: bbob
simulation: {function: rosenbrock, dimension: 5}
search:
  method: cmaes
  over: {x1: {range: [-5, 5]}, x2: {range: [-5, 5]}}
  cmaes: {searches: 2, first: 3, outer: {x4: [-1, 0, 2], x3: {linspace: [0, 1, 2]}}, stop: {generations: $generations}}
replicates: {count: 2, common: false, perturb: {x5: {normal: [0, 1.0e-3]}}}
END
sed -e 's/outer: {.*}}, stop/stop/' -e 's/^seed.*/&\nparameters: {x4: 2, x3: 0}/' outer.yaml >alone.yaml

# run SPEC NAME OPTIONS...
run()
{
    spec=$1 name=$2
    shift 2
    "$HOPSCOTCH" run "$spec.yaml" --name "$name" --progress none "$@" >out 2>&1
}
# rows NAME CONDITION: trials of these searches, with the searches numbered from 0
rows()
{
    "$HOPSCOTCH" query "$1" --where "$2" --order search,id --format csv --limit 0 \
        --columns search,round,x1,x2,fitness,f,f_std |
        awk -F, 'NR > 1 { if (!($1 in seen)) { seen[$1] = n++ } $1 = seen[$1]; print }'
}

run outer whole --threads 1 --batch 7
check $? "two searches at each of six points"
run outer other --threads 2 --batch 100000
[ "$(digest whole)" = "$(digest other)" ]
check $? "the same digest in other batches"
run outer limited --set limits.trials=101 && run outer limited
[ "$(digest whole)" = "$(digest limited)" ]
check $? "stopped in the middle of a generation"

run alone alone
check $? "one point alone"
rows whole "x4 = 2 and x3 = 0" >beside && rows alone "search >= 0" >alone
cmp beside alone >out && [ "$(wc -l <alone)" -eq $((generations * 12)) ]
check $? "its searches equal those of the outer grid"

"$HOPSCOTCH" best whole --per point --format csv >out
[ "$(wc -l <out)" -eq 7 ]
check $? "best --per point: one row per point"
missed=0
for point in -1:0 -1:1 0:0 0:1 2:0 2:1; do
    best=$("$HOPSCOTCH" query whole --where "x4 = ${point%:*} and x3 = ${point#*:}" \
        --order fitness --columns id --limit 1 --format csv | tail -n 1)
    grep -q "^1,$best," out || missed=$((missed + 1))
done
check $missed "best --per point lists the best trial of each point"
# the plot marks the same trials, in a line for each x3
marked() { "$HOPSCOTCH" plot "$@" -o - 2>err | grep -o 'data-trial="[0-9]*"' | tr -dc '0-9\n' | sort; }
"$HOPSCOTCH" best whole --per point --format csv | tail -n +2 | cut -d, -f2 | sort >listed
marked whole --kind outer >out
cmp listed out && [ "$("$HOPSCOTCH" plot whole --kind outer -o - | grep -o '<title>trial [^<]*; x3 1' | wc -l)" -eq 3 ]
check $? "plot --kind outer: the best trial of each point"
marked whole --kind outer --where "x3 = 1 and x4 > 0" >out
[ "$(cat out)" = "$("$HOPSCOTCH" query whole --where "x3 = 1 and x4 = 2" --order fitness --columns id --limit 1 \
    --format csv | tail -n 1)" ]
check $? "plot --kind outer --where: of chosen trials"
"$HOPSCOTCH" plot alone --kind outer -o - >out 2>&1
[ $? -eq 1 ] && grep -qF "the spec has no outer grid, such as search.cmaes.outer" out
check $? "plot --kind outer of a campaign without an outer grid"
"$HOPSCOTCH" best whole --per search --top 2 --format csv >out
[ "$(wc -l <out)" -eq 25 ]
check $? "best --per search --top 2: two rows per search"
"$HOPSCOTCH" best alone --per point >out 2>&1
[ $? -eq 1 ] && grep -q "has no outer grid" out
check $? "best --per point of a campaign without an outer grid"
"$HOPSCOTCH" status whole >out &&
    grep -q '^search  x3  x4 ' out &&
    grep -q '^ *14   1   2 ' out
check $? "status shows the point of each search"
"$HOPSCOTCH" replay whole/77 --isa scalar >out 2>&1
check $? "a trial replays"
"$HOPSCOTCH" show whole/77 >out && grep -q '^x4 .*outer$' out
check $? "show names the source of outer values"
"$HOPSCOTCH" verify whole --trial 77 --seeds 3 --progress none >out 2>&1 &&
    at="$("$HOPSCOTCH" query whole --where "id = 77" --columns x3,x4 --format csv |
        tail -n 1)" &&
    "$HOPSCOTCH" query whole/verify/trial_77 --columns x3,x4 --format csv | tail -n +2 |
    sort -u >out && [ "$(cat out)" = "$at" ] && [ "$at" != "0,0" ]
check $? "verify stays at the point of its trial"
"$HOPSCOTCH" doctor whole >out 2>&1
check $? "the doctor finds nothing"
exit $status
