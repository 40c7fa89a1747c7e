#!/bin/sh
# Nothing is lost or stored twice at the worst moments: a small campaign is killed in place of its n-th write, fsync,
# rename, ..., or that call fails as on a full or broken disk. Resumed without the fault, it must have the digest of a
# campaign without interruption. The same for a small adaptive search with several objectives.
#
#   QUICK=1   fewer moments
. "$(dirname "$0")/../scratch.sh"
with_faults || exit 0

# 36 trials of two searches in 6 generations, some with arrays; at the end shards of the front and of the generations.
learn()
{
    "$HOPSCOTCH_FAULTS_PROGRAM" run "$root"/tests/crash/specs/nsga2.yaml --name "$1" \
        --progress none --batch 8 --threads 1 >out 2>&1
}

# 55 trials in 4 batches, each with arrays, and a shard of the best at the end.
sweep()
{
    "$HOPSCOTCH_FAULTS_PROGRAM" run "$root"/experiments/smoke.yaml --name "$1" --progress none \
        --batch 16 --threads 1 --set simulation.duration=0.02 --set simulation.settle=0.01 \
        --set 'search.over.k_xdot=[0.02]' --set 'search.over.thrust=[30]' \
        --set 'search.over.k_fp={linspace: [50, 250, 5]}' --set 'record.trajectories.select={best: 3, every: 10}' \
        >out 2>&1
}

# Exit status of a run with that fault at the n-th call. 137: killed; 3: ended by an error; 0: the fault did not matter.
run_with_fault()
{
    rm -rf results/cut
    (
        export HOPSCOTCH_FAULT="$1"
        $run cut
    )
}

# survives OPERATION OUTCOME LAST STEP: tests faults at the calls 1, 1 + STEP, ... up to LAST, or until they no longer
# matter
survives()
{
    n=1 tried=0 bad=0 harmless=0
    while [ "$n" -le "$3" ] && [ "$harmless" -lt 6 ]; do
        run_with_fault "$1:$n:$2" 2>/dev/null
        ended=$?
        case $ended in
        0) harmless=$((harmless + 1)) ;;
        3 | 137) harmless=0 ;;
        *) bad=$((bad + 1)) && echo "   $1:$n:$2: status $ended" && cat out ;;
        esac
        $run cut
        ended=$? got=$(digest cut)
        if [ "$ended" -ne 0 ] || [ "$got" != "$expected" ]; then
            echo "   $1:$n:$2: resumed with status $ended, digest $got"
            cat out
            bad=$((bad + 1))
        fi
        tried=$((tried + 1)) n=$((n + $4))
    done
    [ "$bad" -eq 0 ]
    check $? "$run: $1 $2 at $tried moments"
}

# start RUN: selects the run that the next checks use
start()
{
    run=$1
    rm -rf results
    $run whole || { cat out; echo "FAIL kill_points: $run: the uninterrupted run"; exit 1; }
    expected=$(digest whole)
}

start sweep
step=1 sql=17
[ -z "${QUICK:-}" ] || step=4 sql=61
survives write KILL 60 "$step"
survives write SHORT 60 "$step"
survives write ENOSPC 60 "$step"
survives fsync KILL 60 "$step"
survives fsync EIO 60 "$step"
survives rename KILL 60 "$step"
survives open KILL 60 "$((step * 3))"
survives open EMFILE 60 "$((step * 3))"
survives sql KILL 400 "$sql"
survives sql EIO 400 "$sql"
start learn
survives write KILL 60 "$((step * 2))"
survives fsync KILL 60 "$((step * 2))"
survives rename KILL 60 "$((step * 2))"
survives sql KILL 900 "$((sql * 3))"
survives sql EIO 900 "$((sql * 5))"
exit $status
