#!/bin/sh
# Parts of a campaign under a real Slurm of one host: munged, slurmctld and slurmd of the distribution, on the loopback
# alone, in a folder of their own. Arrays, tasks that are cancelled, requeued, killed or out of time, results on a
# node's own disk, gather as a dependent job. In the end the digest is that of one run. `make cluster` runs it.
#
#   KILLS=N    tasks that are killed at random (60; 10 with QUICK=1)      PARTS=N    of the campaign that is killed (16)
. "$(dirname "$0")/../scratch.sh"

for program in munged slurmctld slurmd sbatch scontrol scancel squeue; do
    command -v $program >/dev/null || { echo "skip cluster: there is no $program (apt-get install slurmctld slurmd slurm-client munge)"; exit 0; }
done
[ "$(id -u)" -eq 0 ] || { echo "skip cluster: slurmctld and slurmd need root"; exit 0; }

# ---- the cluster ----------------------------------------------------------------------------------------------------

cluster=$work/cluster
mkdir -p "$cluster/state" "$cluster/spool" "$cluster/munge"
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
    echo "skip cluster: Slurm does not start here: $(tail -qn 2 "$cluster"/*.log "$cluster"/*.out 2>/dev/null | tr '\n' ' ' | cut -c 1-400)"
    exit 0
fi
echo "ok   cluster: $(slurmctld -V) runs on this host"

# ---- words ----------------------------------------------------------------------------------------------------------

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
    while squeue -h -j "$(echo "$*" | tr ' ' ,)" -t all -o %T 2>/dev/null | grep -qE 'PENDING|RUNNING|COMPLETING|REQUEUE' &&
        [ $waited -lt "${seconds:-120}" ]; do
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

spec grid <<'END'
model: hopper
simulation: {duration: 0.3, dt: 1.0e-3, settle: 0.1}
search: {method: grid, over: {k_fp: {linspace: [50, 300, 20]}, thrust: [25, 35]}}
record: {trajectories: {select: {best: 3, every: 5}, sample: 0.01}}
END
submitted grid 4 --slurm "--time=5"
ended "$parts" "$joins"
cat grid.*.log
same grid
ls results/grid.parts
exit $status
