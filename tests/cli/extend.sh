#!/bin/sh
# A campaign that is run with a changed spec: the difference is printed, nothing runs without --extend, and an
# interrupted extension has the digest of an uninterrupted one. Old and new trials replay to the bit.
#
#   QUICK=1   fewer kills
. "$(dirname "$0")/../scratch.sh"

cat >grid.yaml <<'END'
version: 1
experiment: grid
seed: 7
model: hopper
simulation: {duration: 0.1, settle: 0.05}
search:
  method: grid
  over:
    k_fp: {linspace: [50, 300, 11]}
    thrust: {arange: [25, 40, 5]}
    b_fp: {derive: "0.1 * k_fp"}
  exclude: ["k_fp > 290 and thrust < 30"]
replicates: {count: 2, common: false, perturb: {phi_leg: {normal: [0.01, 0.02]}}, store: true}
record: {trajectories: {select: {best: 3, every: 20}, sample: 0.01}}
END
sed -e 's/method: grid/method: random, trials: 20/' -e '/method: random/{s/, trials: 20//;a\  trials: 20
}' -e 's/{linspace: \[50, 300, 11\]}/{range: [50, 300]}/' -e 's/{arange: \[25, 40, 5\]}/{range: [25, 40]}/' \
    grid.yaml >random.yaml

# run PROGRAM SPEC NAME OPTIONS...
run()
{
    program=$1 spec=$2 name=$3
    shift 3
    "$program" run "$spec.yaml" --name "$name" --progress none --threads 1 "$@" >out 2>&1
}
equal() { [ "$1" = "$2" ]; check $? "$3: $1 is $2"; }
rows()
{
    "$HOPSCOTCH" query "$1" --columns "$2" --where "$3" --order id --format csv | tail -n +2
}

wider='search.over.k_fp={linspace: [50, 400, 15]}'
denser='search.over.thrust=[30, 33, 35]'

# ---- refused, and why -----------------------------------------------------------------------------------------------

run "$HOPSCOTCH" grid grid
expect $? 0 "a grid"
before=$(digest grid)
run "$HOPSCOTCH" grid grid --set "$wider"
expect $? 1 "a wider one under its name"
has "search.over.k_fp: {linspace: [50, 300, 11]} -> {linspace: [50, 400, 15]}"
has "43 trials done, 12 new"
has "nothing was run: --extend"
has "--name"
run "$HOPSCOTCH" grid grid --set "$wider" --set seed=8 --set parameters.m=11 --extend
expect $? 1 "with what would change its rows"
has "seed: 7 -> 8"
has "parameters.m, seed can't change"
run "$HOPSCOTCH" grid grid --set replicates.store=false --extend
expect $? 1 "without the table of replicates"
equal "$(digest grid)" "$before" "nothing has changed"

# ---- extended -------------------------------------------------------------------------------------------------------

run "$HOPSCOTCH" grid grid --set "$wider" --extend
expect $? 0 "a wider grid"
has "55 of 55 (43 of them before)"
equal "$(rows grid k_fp 'id >= 44' | sort -u -n | tr '\n' ' ')" "325 350 375 400 " "the new ones have the ids after"
equal "$(rows grid id 'id < 44' | wc -l)" 43 "the old ones keep theirs"
run "$HOPSCOTCH" grid grid --set "$wider" --set "$denser" --extend
expect $? 0 "a denser one, with values that are gone"
has "15 new, 25 done and no longer asked for (their rows stay)"
equal "$(rows grid id 'id >= 0' | wc -l)" 70 "trials"
expected=$(digest grid)
for trial in 0 43 45 59 63; do
    "$HOPSCOTCH" replay "grid/$trial" >out 2>&1
    check $? "trial $trial replays"
done
run "$HOPSCOTCH" grid grid --set "$wider" --set "$denser"
expect $? 0 "the last spec again"
has "done already"
run "$HOPSCOTCH" grid grid
expect $? 1 "the first spec again"
has "0 new"
if [ -x "$SQL" ]; then
    equal "$("$SQL" results/grid/campaign.db 'SELECT count(DISTINCT hash) FROM segments')" 3 "specs are kept"
fi

# ---- --extend keeps the changes of earlier --set --------------------------------------------------------------------

run "$HOPSCOTCH" grid kept --set "$wider" --set limits.trials=20
run "$HOPSCOTCH" grid kept --set "$denser"
expect $? 1 "another axis without --extend"
has "set by earlier runs, and kept by --extend: $wider"
run "$HOPSCOTCH" grid kept --set "$denser" --extend
expect $? 0 "another axis with --extend"
has "kept keeps the overrides of earlier runs: $wider (--set changes them)"
lacks "search.over.k_fp: {"
lacks "limits.trials=20"
run "$HOPSCOTCH" grid both --set "$wider" --set limits.trials=20 &&
    run "$HOPSCOTCH" grid both --set "$wider" --set "$denser" --extend
equal "$(digest kept)" "$(digest both)" "the digest of one whose first axis was said again"
run "$HOPSCOTCH" grid kept --extend
expect $? 0 "--extend alone"
has "done already"
run "$HOPSCOTCH" grid kept --set 'search.over.thrust={arange: [25, 40, 5]}' --extend
expect $? 0 "an axis that is set again"
has "search.over.thrust: [30, 33, 35] -> {arange: [25, 40, 5]}"
has "kept keeps the overrides of earlier runs: $wider ("
"$HOPSCOTCH" resume kept --set 'search.over.k_fp={linspace: [50, 500, 19]}' --extend --progress none >out 2>&1
expect $? 0 "resume extends it too"
run "$HOPSCOTCH" grid kept --set 'search.over.thrust=[25, 30]' --extend
has "kept keeps the overrides of earlier runs: search.over.k_fp={linspace: [50, 500, 19]} ("
sed -e 's/linspace: \[50, 300, 11\]/linspace: [50, 500, 19]/' -e 's/{arange: \[25, 40, 5\]}/[25, 30]/' \
    grid.yaml >written.yaml
run "$HOPSCOTCH" written kept
expect $? 0 "a spec that says itself what was set"
run "$HOPSCOTCH" written kept --extend
lacks "keeps the overrides of earlier runs"
"$HOPSCOTCH" doctor kept >out 2>&1
expect $? 0 "the doctor finds nothing"

run "$HOPSCOTCH" grid seeded --seed 8
run "$HOPSCOTCH" grid set --set seed=8
equal "$(digest seeded)" "$(digest set)" "run --seed 8 is --set seed=8"
run "$HOPSCOTCH" grid seeded --seed 9 --extend
expect $? 1 "another seed"
has "seed: 8 -> 9"

# ---- the same digest: other batches, kills --------------------------------------------------------------------------

run "$HOPSCOTCH" grid other --batch 6 && run "$HOPSCOTCH" grid other --batch 10 --set "$wider" --extend &&
    run "$HOPSCOTCH" grid other --batch 4 --set "$wider" --set "$denser" --extend
equal "$(digest other)" "$expected" "the digest in other batches"
run "$HOPSCOTCH" grid early --batch 6 --set limits.trials=20 && run "$HOPSCOTCH" grid early --set "$wider" --extend &&
    run "$HOPSCOTCH" grid early --set "$wider" --set "$denser" --extend
equal "$(digest early)" "$expected" "the digest of one that was extended before it was done"

step=23
[ -z "${QUICK:-}" ] || step=67
if [ -x "$HOPSCOTCH_FAULTS_PROGRAM" ]; then
    run "$HOPSCOTCH" grid base --set "$wider" --set "search.over.k_fp={linspace: [50, 300, 11]}"
    bad=0 kills=0 n=1 ended=137
    while [ "$ended" -eq 137 ]; do
        rm -rf results/cut && cp -r results/base results/cut
        for set in "$wider" "$denser"; do
            (
                export HOPSCOTCH_FAULT="sql:$n:KILL"
                run "$HOPSCOTCH_FAULTS_PROGRAM" grid cut --set "$wider" --set "$set" --extend --batch 8
            ) 2>/dev/null
            ended=$?
            run "$HOPSCOTCH" grid cut --set "$wider" --set "$set" --extend || bad=$((bad + 1))
        done
        [ "$(digest cut)" = "$expected" ] || { bad=$((bad + 1)) && echo "   killed at statement $n: another digest"; }
        kills=$((kills + 1)) n=$((n + step))
        [ "$n" -lt 200 ] || break
    done
    [ "$bad" -eq 0 ]
    check $? "killed at $kills moments of an extension: the same digest"
else
    with_faults "an extension that is killed"
fi

# ---- random ---------------------------------------------------------------------------------------------------------

run "$HOPSCOTCH" random random
expect $? 0 "20 random trials"
run "$HOPSCOTCH" random random --set search.trials=30
expect $? 1 "30 under the same name"
has "search.trials: 20 -> 30"
has "10 new"
run "$HOPSCOTCH" random random --set 'search.over.thrust={range: [25, 50]}' --extend
expect $? 1 "other ranges"
has "search.over.thrust can't change"
"$HOPSCOTCH" resume random --set search.trials=30 --extend --progress none >out 2>&1
expect $? 0 "resume with ten more"
run "$HOPSCOTCH" random whole --set search.trials=30
[ "$(rows random all 'id >= 0')" = "$(rows whole all 'id >= 0')" ]
check $? "the trials equal those of a random search of 30"
exit $status
