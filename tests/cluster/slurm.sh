#!/bin/sh
# Parts of a campaign under a real Slurm of one host: munged, slurmctld and slurmd of the distribution, on the loopback
# alone, in a folder of their own. Arrays, tasks that are cancelled, requeued, killed or out of time, results on a
# node's own disk, gather as a dependent job. In the end the digest is that of one run. `make cluster` runs it.
#
#   KILLS=N    tasks that are killed at random (60; 10 with QUICK=1)      PARTS=N    of the campaign that is killed (16)
#   STORM=1    only these
. "$(dirname "$0")/../scratch.sh"

for program in munged slurmctld slurmd sbatch scontrol scancel squeue; do
    command -v $program >/dev/null && continue
    skip "all of it" "$program" "apt-get install slurmctld slurmd slurm-client munge"
    exit 0
done
[ "$(id -u)" -eq 0 ] || { skip "all of it" "root, for slurmctld and slurmd" "run it as root"; exit 0; }

# ---- the cluster -----------------------------------------------------------------------------------------------------

cluster=$work/cluster
mkdir -p "$cluster/state" "$cluster/spool" "$cluster/munge" "$work/node"
export TMPDIR="$work/node" # the node's own disk
chmod 755 "$work" "$cluster" "$cluster/munge"
daemons=
stop_cluster()
{
    scancel --quiet --user=root 2>/dev/null
    # shellcheck disable=SC2086
    [ -z "$daemons" ] || kill $daemons 2>/dev/null
    sleep 1
    # shellcheck disable=SC2086
    [ -z "$daemons" ] || kill -9 $daemons 2>/dev/null
    rm -rf "$work"
}
trap stop_cluster EXIT

cat >"$cluster/slurm.conf" <<END
ClusterName=hopscotch
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort=26817
SlurmdPort=26818
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$cluster/munge/socket
CredType=cred/munge
StateSaveLocation=$cluster/state
SlurmdSpoolDir=$cluster/spool
SlurmctldPidFile=$cluster/slurmctld.pid
SlurmdPidFile=$cluster/slurmd.pid
SlurmctldLogFile=$cluster/slurmctld.log
SlurmdLogFile=$cluster/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
ReturnToService=2
KillWait=3
SchedulerParameters=sched_interval=1,sched_min_interval=10000,batch_sched_delay=0
SlurmdParameters=config_overrides
NodeName=node NodeAddr=127.0.0.1 NodeHostname=$(hostname -s) CPUs=8 State=UNKNOWN
PartitionName=all Nodes=node Default=YES MaxTime=INFINITE State=UP
END
export SLURM_CONF="$cluster/slurm.conf"
head -c 1024 /dev/urandom >"$cluster/munge/key"
chmod 400 "$cluster/munge/key"
munged --foreground --force --key-file="$cluster/munge/key" --socket="$cluster/munge/socket" \
    --pid-file="$cluster/munge/pid" --log-file="$cluster/munge/log" --seed-file="$cluster/munge/seed" \
    >"$cluster/munged.out" 2>&1 &
daemons=$!
slurmctld -D -c >"$cluster/slurmctld.out" 2>&1 &
daemons="$daemons $!"
slurmd -D -N node >"$cluster/slurmd.out" 2>&1 &
daemons="$daemons $!"
waited=0
until sinfo -h -o %T 2>/dev/null | grep -q idle || [ $waited -ge 30 ]; do
    sleep 1
    waited=$((waited + 1))
done
if ! sinfo -h -o %T 2>/dev/null | grep -q idle; then
    skip "all of it" "Slurm that starts here" \
        "$(tail -qn 2 "$cluster"/*.log "$cluster"/*.out 2>/dev/null | tr '\n' ' ' | cut -c 1-400)"
    exit 0
fi
echo "ok   cluster: $(slurmctld -V) runs on this host"

# ---- words -----------------------------------------------------------------------------------------------------------

spec()
{
    printf 'version: 1\nexperiment: %s\nseed: 5\n' "$1" >"$1.yaml"
    cat >>"$1.yaml"
    run run "$1.yaml" --name "one_$1" --progress none
    check $? "$1: one run"
}

# submitted NAME PARTS [OPTIONS...]: `parts` and `joins` are the numbers of its jobs
submitted()
{
    name=$1 count=$2
    shift 2
    run submit "$name.yaml" --parts "$count" --yes "$@"
    check $? "submit $name in $count parts"
    parts=$(sed -n 's/^job \([0-9]*\) runs.*/\1/p' out)
    joins=$(sed -n 's/.*job \([0-9]*\) joins them$/\1/p' out)
    [ -n "$parts" ] && [ -n "$joins" ]
    check $? "sbatch gave two jobs: $parts, $joins"
}

# ended JOB...: until none of them is pending or running; at most $seconds
ended()
{
    waited=0
    while squeue -h -j "$(echo "$*" | tr ' ' ,)" -t all -o %T 2>/dev/null |
        grep -qE 'PENDING|RUNNING|COMPLETING|REQUEUE' && [ $waited -lt "${seconds:-120}" ]; do
        sleep 1
        waited=$((waited + 1))
        release
    done
    [ $waited -lt "${seconds:-120}" ]
    check $? "jobs $* ended in $waited s"
}

# Slurm lets a task that was requeued wait for two minutes; here it need not.
release()
{
    squeue -h -t PENDING -o '%A %r' 2>/dev/null | awk '$2 == "BeginTime" { print $1 }' | while read -r job; do
        scontrol update "jobid=$job" starttime=now 2>/dev/null
    done
}

same()
{
    [ "$(digest "$1")" = "$(digest "one_$1")" ] && [ -n "$(digest "$1")" ]
    check $? "$1: the digest of one run"
    run doctor "$1"
    check $? "$1: doctor finds nothing"
}

whole_grid()
{
    spec grid <<'END'
model: hopper
simulation: {duration: 0.3, dt: 1.0e-3, settle: 0.1}
search: {method: grid, over: {k_fp: {linspace: [50, 300, 20]}, thrust: [25, 35]}}
record: {trajectories: {select: {best: 3, every: 5}, sample: 0.01}}
END
    submitted grid 4 --slurm "--time=5"
    ended "$parts" "$joins"
    same grid
    [ "$(find "${TMPDIR:-/tmp}" -maxdepth 1 -name 'hopscotch.[0-9]*' | wc -l)" -eq 0 ]
    check $? "nothing is left on the node's disk"
}

# ---- tasks that are told to stop, out of time, cancelled, requeued, killed -------------------------------------------

# runs K: until task K runs. Its name is ${parts}_K: the number of the last task's job is that of the array.
runs()
{
    waited=0
    until squeue -h -j "${parts}_$1" -t RUNNING -o %T 2>/dev/null | grep -q RUNNING || [ $waited -ge 300 ]; do
        waited=$((waited + 1))
        release
        sleep 0.1
    done
}
stopped_tasks()
{
    # Batches of 4 trials: a part takes some seconds, which are its commits.
    spec slow <<'END'
model: bbob
search: {method: random, over: {x1: {range: [-5, 5]}, x2: {range: [-5, 5]}}, trials: 24000}
record: {trajectories: {select: {best: 3, every: 1000}}}
device: {batch: 4}
END
    submitted slow 3 --slurm "--time=5"
    runs 3
    scancel "${parts}_3" # by the user: it does not come back
    runs 1
    sleep 0.3
    scancel --batch --signal=TERM "${parts}_1" # as at the end of its time
    runs 2
    scontrol requeue "${parts}_2" # by the administrator, or for a job of higher priority
    seconds=200 ended "$parts" "$joins"
    grep -q "gather slow\|1 of 3\|2 of 3" slow.0.log
    check $? "gather says that a part is still to come"
    grep -q "continue with" slow.1.log
    check $? "a task that was told to stop says so"
    works status slow
    has "2 of 3 are joined"
    # the cancelled task alone, and gather after it
    again=$(sbatch --parsable --array=3 slow.sbatch)
    last=$(sbatch --parsable --dependency=afterok:"$again" --array=0 slow.sbatch)
    seconds=200 ended "$again" "$last"
    same slow
}

# A time limit of two minutes for a part of two minutes, of trials that only wait. Slurm sends TERM a minute before the
# limit, or up to half a minute earlier; the task goes on in its next turns.
time_limit()
{
    cat >nap.sh <<'END'
#!/bin/sh
read -r hello
echo '{"hello": 1, "version": "nap 1"}'
while read -r request; do
    sleep 2
    echo "$request" | sed 's/.*"id": *\([0-9]*\).*"x": *\([-+.e0-9]*\).*/{"id": \1, "metrics": {"y": \2}}/'
done
END
    chmod +x nap.sh
    cat >long.yaml <<'END'
version: 1
experiment: long
seed: 5
model: command
simulation: {program: [./nap.sh], timeout: 20s}
parameters: {x: {value: 0, range: [-5, 5]}}
metrics: {y: ""}
search: {method: random, over: {x: {range: [-5, 5]}}, trials: 240}
objective: {minimize: y}
device: {batch: 2}
END
    works run long.yaml --name one_long --allow-programs --threads 60 --batch 60 --progress none
    submitted long 2 --allow-programs --slurm "--time=2"
    scancel "$parts" "$joins"
    sed -i 's/@120/@60/; s/^        --progress none --allow-programs/& --threads 2/' long.sbatch
    parts=$(sbatch --parsable long.sbatch)
    joins=$(sbatch --parsable --dependency=afterany:"$parts" --array=0 long.sbatch)
    seconds=600 ended "$parts" "$joins"
    grep -q "continue with" long.1.log
    check $? "the time limit stopped a task, which went on: $(grep -c 'continue with' long.1.log) times"
    same long
}
if [ -z "${STORM:-}" ]; then
    whole_grid
    stopped_tasks
    [ -n "${QUICK:-}" ] || time_limit
fi

# ---- killed at random ------------------------------------------------------------------------------------------------

# kill_one NAME: a whole task, as the failure of a node does; the program in a task; gather. 1: nothing was hit.
kill_one()
{
    random 0 2
    how=$value
    if [ "$how" -eq 0 ]; then
        "$HOPSCOTCH" gather "$1" --progress none >/dev/null 2>&1 &
        pid=$!
        random 0 99
        sleep "0.$value"
        kill -9 $pid 2>/dev/null
        wait $pid 2>/dev/null
        hit=$?
        pid=
        [ $hit -eq 137 ] # else it had ended before
        return
    fi
    mine=$(squeue -h -t RUNNING -o '%A %K' | awk '$2 > 0 { print $1 }' | shuf -n 1)
    [ -n "$mine" ] || return 1
    if [ "$how" -eq 1 ]; then
        scontrol requeue "$mine" 2>/dev/null
    else
        running=$(pgrep -f "run .*--results ${TMPDIR:-/tmp}/hopscotch\.$mine\." | head -n 1)
        [ -n "$running" ] && kill -9 "$running" 2>/dev/null
    fi
}

failed_tasks() { squeue -h -j "$parts" -t FAILED,CANCELLED,NODE_FAIL,TIMEOUT -o %A 2>/dev/null; }

# storm NAME: all that was killed is requeued until the campaign has all parts; again, until there were enough kills
storm()
{
    killed=0 tries=0 rounds=0 wanted=${KILLS:-$([ -n "${QUICK:-}" ] && echo 10 || echo 60)}
    while [ "$killed" -lt "$wanted" ] && [ $tries -lt 3000 ]; do
        rm -rf "results/$1" "results/$1.parts"
        rounds=$((rounds + 1)) before=$killed
        submitted "$1" "${PARTS:-16}" --slurm "--time=5"
        until "$HOPSCOTCH" gather "$1" --progress none >out 2>err || [ $tries -ge 3000 ]; do
            tries=$((tries + 1))
            if [ "$killed" -lt "$wanted" ]; then
                kill_one "$1" && killed=$((killed + 1))
            else
                sleep 0.5
            fi
            release
            for task in $(failed_tasks); do scontrol requeue "$task" 2>/dev/null; done
        done
        same "$1"
        scancel --quiet "$joins"
        seconds=300 ended "$parts"
        echo "     $1 $rounds: killed $((killed - before)) times, $killed in all"
    done
    echo "ok   $suite: $1: killed $killed times in $rounds campaigns of ${PARTS:-16} parts"
}
# Without QUICK a part takes half a second of a core, so that most kills hit one.
[ -n "${QUICK:-}" ] && dt=1.0e-4 || dt=2.0e-6
spec storm_grid <<END
model: hopper
simulation: {duration: 4, dt: $dt, settle: 0.1}
search: {method: grid, over: {k_fp: {linspace: [50, 300, 40]}, thrust: {linspace: [25, 35, 20]}}}
record: {trajectories: {select: {best: 3, every: 7}, sample: 0.02}}
device: {batch: 8}
END
storm storm_grid
[ -n "${QUICK:-}" ] || dt=1.0e-5
spec storm_cmaes <<END
model: hopper
simulation: {duration: 4, dt: $dt, settle: 0.1}
search:
  method: cmaes
  over: {k_fp: {range: [50, 300]}, k_att: {range: [50, 300]}, thrust: {range: [20, 40]}}
  cmaes: {searches: 64, stop: {generations: 12}}
record: {trajectories: {select: {best: 3}, sample: 0.02}}
device: {batch: 16}
END
storm storm_cmaes
exit $status
