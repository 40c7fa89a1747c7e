#!/bin/sh
# hopscotch merge: makes one campaign of several with the same spec; trials that two of them hold must be equal to the
# bit.
. "$(dirname "$0")/../scratch.sh"

cat >grid.yaml <<'END'
version: 1
experiment: whole
seed: 7
model: hopper
simulation: {duration: 0.2, settle: 0.1}
search: {method: grid, over: {k_fp: {linspace: [50, 300, 12]}, thrust: [25, 35]}}
replicates: {count: 2, store: true, perturb: {phi_leg: {normal: [0.01, 0.02]}}}
record: {trajectories: {select: {best: 2, every: 10}, sample: 0.01}}
END
works run grid.yaml --progress none
run run grid.yaml --name short --set limits.trials=9 --batch 6 --progress none
run run grid.yaml --name long --set limits.trials=18 --batch 6 --progress none
works merge short long --into both
has "both: 18 trials of long, 0 of others"
works doctor both
run status both
has "merges short, long"
works resume both --set limits.trials=none --progress none
[ "$(digest both)" = "$(digest whole)" ] && [ -n "$(digest both)" ]
check $? "merged and resumed, the digest is that of the whole"

# Trials that only the other campaign has are added with their replicates; their arrays are recorded again.
# half NAME CONDITION: makes a copy without the trials for which the condition holds
half()
{
    cp -r results/whole "results/$1"
    "$SQL" "results/$1/campaign.db" "PRAGMA foreign_keys = OFF; DELETE FROM trials WHERE id $2;
        DELETE FROM replicates WHERE trial $2; DELETE FROM trajectories WHERE trial $2"
    check $? "a half: $1"
}
half low ">= 12"
half high "< 12"
works merge low high --into halves
has "halves: 12 trials of high, 12 of others"
has "hopscotch resume halves"
works resume halves --progress none
[ "$(digest halves)" = "$(digest whole)" ]
check $? "the halves have the digest of the whole"

# Trials that differ in one bit.
cp -r results/whole results/bent
"$SQL" results/bent/campaign.db "UPDATE trials SET attitude_rms = attitude_rms * (1 + 3e-16) WHERE id = 5;
    UPDATE replicates SET survived = 0.1 WHERE trial = 7 AND replicate = 1"
code=3 refused merge whole bent --into none
has "trial 5 of whole and of bent: attitude_rms" err
has "trial 7 of whole and of bent: one of its replicates" err
has "2 trials differ" err
[ ! -e results/none ]
check $? "nothing is merged"

# The others are compared with each other too, where the largest has no such trial.
cp -r results/low results/lower
"$SQL" results/lower/campaign.db "UPDATE trials SET attitude_rms = attitude_rms * (1 + 3e-16) WHERE id = 5"
code=3 refused merge high low lower --into none
has "trial 5 of low and of lower: attitude_rms" err
has "1 trial differs" err

# A shard of the largest that is damaged is not copied; one that is missing is recorded again.
cp -r results/whole results/hurt
printf X | dd of=results/hurt/shards/000000.h5 bs=1 seek=2000 conv=notrunc 2>/dev/null
code=3 refused merge hurt short --into none
has "the shard results/hurt/shards/000000.h5 differs from what was written" err
has "doctor hurt --repair" err
[ ! -e results/none ]
check $? "nothing is merged"
rm results/hurt/shards/000000.h5
works merge hurt short --into again
works resume again --progress none
[ "$(digest again)" = "$(digest whole)" ]
check $? "a missing shard is recorded again"

run run grid.yaml --name other --set seed=8 --progress none
refused merge whole other --into none
has "have different specs: their trials cannot be joined" err
has "seed: 7 -> 8" err
run run grid.yaml --name bare --set replicates.store=false --progress none
refused merge whole bare --into none
has "stores its replicates" err
cat >search.yaml <<'END'
version: 1
experiment: search
model: bbob
search: {method: cmaes, over: {x1: {range: [-5, 5]}, x2: {range: [-5, 5]}}, cmaes: {stop: {generations: 2}}}
END
run run search.yaml --progress none
run run search.yaml --name search2 --progress none
refused merge search search2 --into none
has "used an adaptive search" err
refused merge whole short --into long
has "already: choose another name" err
refused merge whole whole --into none
has "is named twice" err
code=2 refused merge whole short
has "merge needs a name" err
code=2 refused merge whole --into none

# A merge killed at any point leaves the name free and the sources unchanged; gc removes the rest.
if [ -x "$HOPSCOTCH_FAULTS_PROGRAM" ]; then
    bad=0 n=1 killed=0
    while [ $n -lt 3000 ]; do
        rm -rf results/killed
        HOPSCOTCH_FAULT=sql:$n:KILL "$HOPSCOTCH_FAULTS_PROGRAM" merge short long --into killed >out 2>err && break
        killed=$((killed + 1)) n=$((n + ${QUICK:+200 +} 61))
        [ ! -e results/killed ] || [ "$(digest killed)" = "$(digest long)" ] || bad=1
        "$HOPSCOTCH" gc --yes >out 2>&1 || bad=1
    done
    [ $bad -eq 0 ] && [ $killed -gt 0 ] && [ $n -lt 3000 ] && [ "$(digest killed)" = "$(digest long)" ]
    check $? "merge killed at $killed calls of SQLite"
    [ -z "$(ls -A results | grep '^\.merging')" ]
    check $? "gc leaves nothing of a killed merge"

    # While merge makes the copy, gc does not touch it and a second merge into the same name is refused.
    for call in open:1 write:1 sql:40 sql:80 rename:1 rename:2 stat:12; do
        rm -rf results/paused
        pauses $call merge short long --into paused
        "$HOPSCOTCH" gc --yes >out 2>err || bad=1
        "$HOPSCOTCH" merge short long --into paused >out 2>err
        second=$?
        goes_on
        [ "$ended" -eq 0 ] || [ "$second" -eq 0 ] || bad=1
        [ "$(digest paused)" = "$(digest long)" ] || bad=1
        [ "$bad" -eq 0 ] || { cp paused.err out && check 1 "merge that pauses at $call: $ended and $second" && break; }
    done
    check "$bad" "gc and a second merge beside a running merge"
fi
exit $status
