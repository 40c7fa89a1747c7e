#!/bin/sh
# Outer grids: every search is, to the bit, the one that runs alone with the outer values fixed, whatever the batches;
# best, status and query tell the points apart.
#
#   HOPSCOTCH  the program      QUICK=1   fewer generations
set -u
cd "$(dirname "$0")/../.." || exit 3
: "${HOPSCOTCH:=$PWD/build/hopscotch}"
failed=0 generations=40
[ -z "${QUICK:-}" ] || generations=10
folder=$(mktemp -d) || exit 3
trap 'rm -rf "$folder"' EXIT

cat >"$folder/outer.yaml" <<END
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
sed -e 's/outer: {.*}}, stop/stop/' -e 's/^seed.*/&\nparameters: {x4: 2, x3: 0}/' "$folder/outer.yaml" \
    >"$folder/alone.yaml"

report()
{
    if [ "$1" -eq 0 ]; then echo "ok outer: $2"; else echo "FAIL outer: $2"; cat "$folder/output"; failed=1; fi
}
# run SPEC NAME OPTIONS...
run()
{
    spec=$1 name=$2
    shift 2
    "$HOPSCOTCH" run "$folder/$spec.yaml" --name "$name" --results "$folder/results" --progress none "$@" \
        >"$folder/output" 2>&1
}
digest() { "$HOPSCOTCH" digest "$1" --results "$folder/results" | cut -d' ' -f1; }
# rows NAME CONDITION: trials of searches, with their numbers in the order of searches from 0
rows()
{
    "$HOPSCOTCH" query "$1" --results "$folder/results" --where "$2" --order search,id --format csv --limit 0 \
        --columns search,round,x1,x2,fitness,f,f_std |
        awk -F, 'NR > 1 { if (!($1 in seen)) { seen[$1] = n++ } $1 = seen[$1]; print }'
}

run outer whole --threads 1 --batch 7
report $? "two searches at each of six points"
run outer other --threads 2 --batch 100000
[ "$(digest whole)" = "$(digest other)" ]
report $? "the same digest in other batches"
run outer limited --set limits.trials=101 && run outer limited
[ "$(digest whole)" = "$(digest limited)" ]
report $? "stopped in the middle of a generation"

run alone alone
report $? "one point alone"
rows whole "x4 = 2 and x3 = 0" >"$folder/beside" && rows alone "search >= 0" >"$folder/alone"
cmp "$folder/beside" "$folder/alone" >"$folder/output" && [ "$(wc -l <"$folder/alone")" -eq $((generations * 12)) ]
report $? "its searches are those of the outer grid"

"$HOPSCOTCH" best whole --results "$folder/results" --per point --format csv >"$folder/output"
[ "$(wc -l <"$folder/output")" -eq 7 ]
report $? "best --per point: one row a point"
missed=0
for point in -1:0 -1:1 0:0 0:1 2:0 2:1; do
    best=$("$HOPSCOTCH" query whole --results "$folder/results" --where "x4 = ${point%:*} and x3 = ${point#*:}" \
        --order fitness --columns id --limit 1 --format csv | tail -n 1)
    grep -q "^1,$best," "$folder/output" || missed=$((missed + 1))
done
report $missed "it is the best trial of each"
"$HOPSCOTCH" best whole --results "$folder/results" --per search --top 2 --format csv >"$folder/output"
[ "$(wc -l <"$folder/output")" -eq 25 ]
report $? "best --per search --top 2: two rows a search"
"$HOPSCOTCH" best alone --results "$folder/results" --per point >"$folder/output" 2>&1
[ $? -eq 1 ] && grep -q "has no outer grid" "$folder/output"
report $? "best --per point of a campaign without an outer grid"
"$HOPSCOTCH" status whole --results "$folder/results" >"$folder/output" &&
    grep -q '^search  x3  x4 ' "$folder/output" &&
    grep -q '^ *14   1   2 ' "$folder/output"
report $? "status says the point of each search"
"$HOPSCOTCH" replay whole/77 --results "$folder/results" --isa scalar >"$folder/output" 2>&1
report $? "a trial replays"
"$HOPSCOTCH" show whole/77 --results "$folder/results" >"$folder/output" && grep -q '^x4 .*outer$' "$folder/output"
report $? "show says where the outer values come from"
"$HOPSCOTCH" verify whole --trial 77 --seeds 3 --progress none --results "$folder/results" >"$folder/output" 2>&1 &&
    at="$("$HOPSCOTCH" query whole --results "$folder/results" --where "id = 77" --columns x3,x4 --format csv |
        tail -n 1)" &&
    "$HOPSCOTCH" query whole_verify_77 --results "$folder/results" --columns x3,x4 --format csv | tail -n +2 |
    sort -u >"$folder/output" && [ "$(cat "$folder/output")" = "$at" ] && [ "$at" != "0,0" ]
report $? "verify stays at the point of its trial"
"$HOPSCOTCH" doctor whole --results "$folder/results" >"$folder/output" 2>&1
report $? "the doctor finds nothing"
exit $failed
