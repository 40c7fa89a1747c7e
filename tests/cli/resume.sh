#!/bin/sh
# resume and run --retry: messages at the start of a run, budgets as totals, files that a kill left behind, and failed
# trials that are run again, also after a kill at any statement.
#
#   QUICK=1   fewer kills
. "$(dirname "$0")/../scratch.sh"

cat >hops.yaml <<'END'
version: 1
experiment: hops
seed: 7
model: hopper
simulation: {duration: 0.4, settle: 0.05}
search: {method: grid, over: {dphi_body: [0, 1, 20], k_fp: {linspace: [50, 300, 10]}}}
replicates: {count: 2, perturb: {phi_leg: {normal: [0.01, 0.02]}}, store: true}
objective: {minimize: attitude_rms}
record: {trajectories: {select: {best: 3, every: 7, failures: 2}, sample: 0.01}}
END

run()
{
    program=$1 name=$2
    shift 2
    "$program" run hops.yaml --name "$name" --progress none --threads 1 \
        --batch "${batch:-8}" "$@" >out 2>&1
}
resume()
{
    name=$1
    shift
    "$HOPSCOTCH" resume "$name" --progress none "$@" >out 2>&1
}
same() { [ "$(digest "$1")" = "$expected" ]; check $? "$2: the digest is that of an uninterrupted run"; }

run "$HOPSCOTCH" whole
check $? "a campaign of 30 trials"
expected=$(digest whole)

# ---- budgets are totals ---------------------------------------------------------------------------------------------

run "$HOPSCOTCH" cut --set limits.trials=12
check $? "run up to a limit"
has "12 of 12"
resume cut
check $? "resume at the limit"
has "resuming cut: 12 of 12 trials are done, 0 remain"
has "the last run: limits.trials: 12 trials were run"
resume cut --set limits.trials=20
has "20 of 20 (12 of them before)"
rm results/cut/resolved.yaml
echo "seed: 8" >results/cut/spec.yaml
resume cut --set limits.trials=none
check $? "resume without a limit and without the files beside the database"
has "30 of 30"
grep -q "seed: 7" results/cut/resolved.yaml && grep -q "seed: 7" results/cut/spec.yaml
check $? "resume writes the files beside the database again"

same cut "stopped by limits"
# With another limit other trials are the best; the final spec does not ask for their trajectories.
run "$HOPSCOTCH" best --set limits.trials=4
resume best --set limits.trials=none
same best "stopped before its best trials"

# ---- leftovers of a kill --------------------------------------------------------------------------------------------

with_faults "leftovers of a kill" || exit $status
(
    export HOPSCOTCH_FAULT="rename:6:KILL"
    run "$HOPSCOTCH_FAULTS_PROGRAM" killed
) 2>/dev/null
[ -n "$(find results/killed -name '*.tmp')" ]
check $? "a temporary file is left by a kill"
"$HOPSCOTCH" status killed >out 2>&1
has "of 30"
resume killed
check $? "resume after the kill"
has "was killed; what it had in flight is computed again"
has "1 temporary file"
has "of 30 trials are done"
same killed "killed"

# ---- retry of failed trials -----------------------------------------------------------------------------------------

resume whole --retry tumbled
[ $? -eq 1 ]
check $? "retry of an unknown kind of failure"
has "there are: failed, fell"
resume whole --retry failed
check $? "retry of trials that fail again"
has "10 failed again, 0 did not; 0 rows changed"
same whole "retried in vain"
# Simulates faults of a machine: marks good trials as failed.
damage()
{
    rm -rf "results/$1" && cp -r results/whole "results/$1"
    "$SQL" "results/$1/campaign.db" "UPDATE trials SET failure = 'diverged', fitness = NULL WHERE id < 9;
        UPDATE replicates SET failure = 'diverged' WHERE trial < 9; UPDATE batches SET failures = failures + 9 WHERE
        id = (SELECT min(id) FROM batches); UPDATE campaign SET name = '$1'"
}
damage wrong
resume wrong --retry diverged
check $? "retry of trials that did not really fail"
has "9 trials (diverged): 0 failed again, 9 did not; 9 rows changed"
same wrong "retried"
"$HOPSCOTCH" status wrong >out 2>&1
has "10 trials"

bad=0 kills=0 n=1 ended=137 step=31
[ -z "${QUICK:-}" ] || step=103
while [ "$ended" -eq 137 ] && [ "$n" -lt 400 ]; do
    damage again
    (
        export HOPSCOTCH_FAULT="sql:$n:KILL"
        batch=4 run "$HOPSCOTCH_FAULTS_PROGRAM" again --retry diverged
    ) 2>/dev/null
    ended=$?
    # If the kill came before the request was stored, the user must ask again.
    asked=$("$SQL" results/again/campaign.db "SELECT count(*) FROM retries WHERE kinds = 'diverged'")
    if [ "$asked" -eq 1 ]; then resume again; else resume again --retry diverged; fi || bad=$((bad + 1))
    [ "$(digest again)" = "$expected" ] || { bad=$((bad + 1)) && echo "   killed at statement $n: another digest"; }
    kills=$((kills + 1)) n=$((n + step))
done
[ "$bad" -eq 0 ] && [ "$kills" -gt 1 ]
check $? "a retry that was killed at $kills moments is completed"
exit $status
