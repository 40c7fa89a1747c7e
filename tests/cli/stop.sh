#!/bin/sh
# hopscotch stop, a control file made by hand, SIGUSR1, and messages about the run before. A stopped and resumed
# campaign has the digest of one without a stop.
#
#   QUICK=1   shorter and fewer trials, for builds with sanitizers
. "$(dirname "$0")/../scratch.sh"
seconds=10 trials=4000
[ -z "${QUICK:-}" ] || { seconds=3 && trials=1000; }
# A batch takes about 0.2 s, and there are more than a thousand, so that each stop comes long before the end.
set -- "$root"/experiments/smoke.yaml --results kept --progress none --batch 64 --threads 1 \
    --set simulation.duration=$seconds --set 'search.over.k_xdot={arange: [0, 0.095, 0.0005]}'

more() { [ "$(count)" -gt "$had" ]; }
count() { "$HOPSCOTCH" query kept/cut --columns id --format csv 2>/dev/null | tail -n +2 | wc -l; }
stop() { "$HOPSCOTCH" stop cut --results kept "$@" >said 2>&1; }

# Starts the run, and returns when it has committed more rows. $pid is the process that the lock names.
start()
{
    had=$(count)
    { "$HOPSCOTCH" run "$@" --name cut >out 2>&1; echo $? >code; } &
    until_true more
    pid=$(sed 's/pid \([0-9]*\) on .*/\1/' kept/cut/campaign.lock)
}
ended()
{
    wait
    got=$(cat code)
    pid=
    [ "$got" -eq "$1" ]
    check $? "$2: status $got"
}

: >said
start "$@"
kill -USR1 "$pid"
until_true grep -q "cut: .*/111,353 .* left" out
check $? "SIGUSR1 is answered"
"$HOPSCOTCH" status cut --results kept >said
has " of 111,353" said
"$HOPSCOTCH" run "$@" --name cut >said 2>&1
[ $? -eq 3 ]
check $? "a second runner is refused"
has "is being run by pid $pid on" said
has "$HOPSCOTCH status cut --results kept\` shows how far it is, and stop in place of status ends it" said

# A command that waits for the end can be interrupted.
: >said
kill -STOP "$pid"
"$HOPSCOTCH" stop cut --wait --results kept >said 2>&1 &
waiting=$!
until_true test -s said
kill -TERM "$waiting"
wait "$waiting"
has "cut was asked to stop and has not ended yet; $HOPSCOTCH status cut --results kept shows its state" said
rm -f kept/cut/stop
kill -CONT "$pid"

stop --wait
check $? "stop --wait"
has "asked pid $pid on" said
"$HOPSCOTCH" status cut --results kept >said
has "interrupted: stopped by" said
ended 130 "what was stopped"
has "trials are committed; continue with \`$HOPSCOTCH resume cut"
has "stopped by \`hopscotch stop\`"
has "continue with \`$HOPSCOTCH resume cut --results kept\`"
[ ! -e kept/cut/stop ]
check $? "stop leaves no request behind"
stop
[ $? -eq 1 ]
check $? "stop of a campaign that does not run"
has "no process runs cut" said

echo "pid 1 on another since 2020-01-01T00:00:00Z" >kept/cut/stop
start "$@"
has "the last run: stopped by \`hopscotch stop\`"
kill -0 "$pid" 2>/dev/null
check $? "a request to an earlier run stops no other"
: >kept/cut/stop
ended 130 "an empty file stops any run"

start "$@"
kill -9 "$pid"
wait
killed=$pid pid=
limit=$(($(count) + 100))
for name in cut whole; do
    "$HOPSCOTCH" run "$@" --name "$name" --set limits.trials=$limit >out 2>&1
    check $? "run $name up to trial $limit"
    [ "$name" = whole ] || has "the last run (pid $killed on"
    tr -d , <out >said # 1,060 trials on a fast machine
    [ "$name" = whole ] || has "of $limit trials are done" said
done
[ "$(digest kept/cut)" = "$(digest kept/whole)" ]
check $? "the digests are equal"

# ---- SIGUSR1 before and after the loop ------------------------------------------------------------------------------

# asked DOING OPTIONS...: runs until the program says that it is doing DOING, or to the end
asked()
{
    doing=$1
    shift
    rm -f results/long/campaign.lock code # left by the run before
    { "$HOPSCOTCH" run "$root"/experiments/smoke.yaml --name long --progress none --threads 1 --batch 64 \
        --set limits.trials=$trials \
        --set "record.trajectories={select: {best: $trials, failures: $trials}, sample: 0.5}" \
        "$@" >out 2>&1; echo $? >code; } &
    until grep -q "long: .* $doing" out || [ -s code ]; do
        pid=$(sed -n 's/pid \([0-9]*\) on .*/\1/p' results/long/campaign.lock 2>/dev/null)
        [ -z "$pid" ] || kill -USR1 "$pid" 2>/dev/null
        sleep 0.05
    done
    [ -z "$pid" ] || kill -INT "$pid" 2>/dev/null
    wait
    pid=
    grep -q "long: .* ${trials%???},000/${trials%???},000 .* $doing" out
    check $? "SIGUSR1 is answered: $doing"
}
asked recording
"$SQL" results/long/campaign.db "UPDATE trials SET failure = 'diverged', fitness = NULL"
asked retrying --retry diverged
exit $status
