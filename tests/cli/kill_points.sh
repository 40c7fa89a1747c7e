#!/bin/sh
# Nothing lost, nothing doubled, at the worst moments: a small campaign is killed in place of its n-th write, fsync,
# rename, ..., or one of them fails as on a full or broken disk. Resumed without the fault, it must have the digest of a
# campaign that ran through. So must a small search that learns, with several objectives.
#
#   HOPSCOTCH_FAULTS_PROGRAM   a build whose file and database operations can be made to fail (see io/seam.h)
#   QUICK=1                    fewer moments
set -u
cd "$(dirname "$0")/../.." || exit 3
: "${HOPSCOTCH_FAULTS_PROGRAM:=$PWD/build/hopscotch_faults}"
[ -x "$HOPSCOTCH_FAULTS_PROGRAM" ] || { echo "skip kill_points: no $HOPSCOTCH_FAULTS_PROGRAM"; exit 0; }
unset HOPSCOTCH_FAULT
folder=$(mktemp -d) || exit 3
trap 'rm -rf "$folder"' EXIT
failed=0

# 36 trials of two searches in 6 generations, some with arrays; at the end shards of the front and of the generations.
learn()
{
    "$HOPSCOTCH_FAULTS_PROGRAM" run tests/crash/specs/nsga2.yaml --name "$1" --results "$folder/results" \
        --progress none --batch 8 --threads 1 >"$folder/output" 2>&1
}

# 55 trials in 4 batches, each with arrays, and a shard of the best at the end.
sweep()
{
    "$HOPSCOTCH_FAULTS_PROGRAM" run experiments/smoke.yaml --name "$1" --results "$folder/results" --progress none \
        --batch 16 --threads 1 --set simulation.duration=0.02 --set simulation.settle=0.01 \
        --set 'search.over.k_xdot=[0.02]' --set 'search.over.thrust=[30]' \
        --set 'search.over.k_fp={linspace: [50, 250, 5]}' --set 'record.trajectories.select={best: 3, every: 10}' \
        >"$folder/output" 2>&1
}

digest()
{
    "$HOPSCOTCH_FAULTS_PROGRAM" digest "$1" --results "$folder/results" 2>&1 | cut -d' ' -f1
}

# Status of a run with that fault at the n-th call. 137: killed; 3: ended by the machine; 0: the fault did not matter.
run_with_fault()
{
    rm -rf "$folder/results/cut"
    (
        export HOPSCOTCH_FAULT="$1"
        $run cut
    )
}

# check OPERATION OUTCOME LAST STEP: the faults at the calls 1, 1 + STEP, ... up to LAST, or until they no longer matter
check()
{
    n=1 tried=0 bad=0 harmless=0
    while [ "$n" -le "$3" ] && [ "$harmless" -lt 6 ]; do
        run_with_fault "$1:$n:$2" 2>/dev/null
        status=$?
        case $status in
        0) harmless=$((harmless + 1)) ;;
        3 | 137) harmless=0 ;;
        *) bad=$((bad + 1)) && echo "   $1:$n:$2: status $status" && cat "$folder/output" ;;
        esac
        $run cut
        status=$? got=$(digest cut)
        if [ "$status" -ne 0 ] || [ "$got" != "$expected" ]; then
            echo "   $1:$n:$2: resumed with status $status, digest $got"
            cat "$folder/output"
            bad=$((bad + 1))
        fi
        tried=$((tried + 1)) n=$((n + $4))
    done
    [ "$bad" -eq 0 ] && echo "ok kill_points: $run: $1 $2 at $tried moments" && return
    echo "FAIL kill_points: $run: $1 $2"
    failed=1
}

# start RUN: what is checked from now on
start()
{
    run=$1
    rm -rf "$folder/results"
    $run whole || { cat "$folder/output"; echo "FAIL kill_points: $run: the uninterrupted run"; exit 1; }
    expected=$(digest whole)
}

start sweep
step=1 sql=17
[ -z "${QUICK:-}" ] || step=4 sql=61
check write KILL 60 "$step"
check write SHORT 60 "$step"
check write ENOSPC 60 "$step"
check fsync KILL 60 "$step"
check fsync EIO 60 "$step"
check rename KILL 60 "$step"
check open KILL 60 "$((step * 3))"
check open EMFILE 60 "$((step * 3))"
check sql KILL 400 "$sql"
check sql EIO 400 "$sql"
start learn
check write KILL 60 "$((step * 2))"
check fsync KILL 60 "$((step * 2))"
check rename KILL 60 "$((step * 2))"
check sql KILL 900 "$((sql * 3))"
check sql EIO 900 "$((sql * 5))"
exit "$failed"
