#!/bin/sh
# hopscotch stop, a control file made by hand, SIGUSR1, and what a run says of the one before it. What was stopped and
# resumed has the digest of one that was not.
#
#   HOPSCOTCH   the program
set -u
cd "$(dirname "$0")/../.." || exit 3
: "${HOPSCOTCH:=$PWD/build/hopscotch}"
folder=$(mktemp -d) || exit 3
pid=
trap '[ -z "$pid" ] || kill -9 "$pid" 2>/dev/null; rm -rf "$folder"' EXIT
failed=0
# A batch takes some 0.2 s, and there are more than a thousand, so that what stops it comes long before the end.
set -- experiments/smoke.yaml --results "$folder" --progress none --batch 64 --threads 1 \
    --set simulation.duration=10 --set 'search.over.k_xdot={arange: [0, 0.095, 0.0005]}'

report()
{
    [ "$1" -ne 0 ] || { echo "ok stop: $2" && return; }
    echo "FAIL stop: $2"
    cat "$folder/output" "$folder/said"
    failed=1
}
has() { grep -qF -e "$2" "$1"; report $? "it says '$2'"; }
count() { "$HOPSCOTCH" query cut --results "$folder" --columns id --format csv 2>/dev/null | tail -n +2 | wc -l; }
stop() { "$HOPSCOTCH" stop cut --results "$folder" "$@" >"$folder/said" 2>&1; }
digest() { "$HOPSCOTCH" digest "$1" --results "$folder" 2>>"$folder/output" | cut -d' ' -f1; }

# Starts it, and returns when it has committed something more. Its pid is the one that its lock names.
start()
{
    had=$(count) waited=0
    { "$HOPSCOTCH" run "$@" --name cut >"$folder/output" 2>&1; echo $? >"$folder/status"; } &
    while [ "$(count)" -le "$had" ] && [ "$waited" -lt 600 ]; do sleep 0.1; waited=$((waited + 1)); done
    pid=$(sed 's/pid \([0-9]*\) on .*/\1/' "$folder/cut/campaign.lock")
}
ended()
{
    wait
    status=$(cat "$folder/status")
    pid=
    [ "$status" -eq "$1" ]
    report $? "$2: status $status"
}

: >"$folder/said"
start "$@"
kill -USR1 "$pid"
waited=0
until grep -q "cut: .*/111,353 .* left" "$folder/output" || [ "$waited" -ge 600 ]; do
    sleep 0.1
    waited=$((waited + 1))
done
[ "$waited" -lt 600 ]
report $? "SIGUSR1 is answered"
"$HOPSCOTCH" status cut --results "$folder" >"$folder/said"
has "$folder/said" " of 111,353"
"$HOPSCOTCH" run "$@" --name cut >"$folder/said" 2>&1
[ $? -eq 3 ]
report $? "a second runner is refused"
has "$folder/said" "is being run by pid $pid on"
has "$folder/said" "hopscotch stop cut"

# Who waits for the end may leave before it.
: >"$folder/said"
kill -STOP "$pid"
"$HOPSCOTCH" stop cut --wait --results "$folder" >"$folder/said" 2>&1 &
waiting=$!
until [ -s "$folder/said" ]; do sleep 0.05; done
kill -TERM "$waiting"
wait "$waiting"
has "$folder/said" "cut was asked to stop and had not ended yet; hopscotch status tells when it has"
rm -f "$folder/cut/stop"
kill -CONT "$pid"

stop --wait
report $? "stop --wait"
has "$folder/said" "asked pid $pid on"
"$HOPSCOTCH" status cut --results "$folder" >"$folder/said"
has "$folder/said" "interrupted: stopped by"
ended 130 "what was stopped"
has "$folder/output" "stopped by \`hopscotch stop\`"
has "$folder/output" "continue with \`hopscotch resume cut --results $folder\`"
[ ! -e "$folder/cut/stop" ]
report $? "the request is gone"
stop
[ $? -eq 1 ]
report $? "stop of what does not run"
has "$folder/said" "nothing runs cut"

echo "pid 1 on another since 2020-01-01T00:00:00Z" >"$folder/cut/stop"
start "$@"
has "$folder/output" "the last run: stopped by \`hopscotch stop\`"
kill -0 "$pid" 2>/dev/null
report $? "a request to an earlier run stops no other"
: >"$folder/cut/stop"
ended 130 "an empty file stops whoever runs"

start "$@"
kill -9 "$pid"
wait
killed=$pid pid=
limit=$(($(count) + 100))
for name in cut whole; do
    "$HOPSCOTCH" run "$@" --name "$name" --set limits.trials=$limit >"$folder/output" 2>&1
    report $? "run $name up to trial $limit"
    [ "$name" = whole ] || has "$folder/output" "the last run (pid $killed on"
    tr -d , <"$folder/output" >"$folder/said" # 1,060 trials on a fast machine
    [ "$name" = whole ] || has "$folder/said" "of $limit trials are done"
done
[ "$(digest cut)" = "$(digest whole)" ]
report $? "the digests are equal"

# ---- SIGUSR1 before and after the loop ------------------------------------------------------------------------------

# asked DOING OPTIONS...: runs until it has said that it is at it, or to the end
asked()
{
    doing=$1
    shift
    rm -f "$folder/long/campaign.lock" "$folder/status" # of the run before
    { "$HOPSCOTCH" run experiments/smoke.yaml --name long --results "$folder" --progress none --threads 1 --batch 64 \
        --set limits.trials=4000 --set 'record.trajectories={select: {best: 4000, failures: 4000}, sample: 0.5}' \
        "$@" >"$folder/output" 2>&1; echo $? >"$folder/status"; } &
    until grep -q "long: .* $doing" "$folder/output" || [ -s "$folder/status" ]; do
        pid=$(sed -n 's/pid \([0-9]*\) on .*/\1/p' "$folder/long/campaign.lock" 2>/dev/null)
        [ -z "$pid" ] || kill -USR1 "$pid" 2>/dev/null
        sleep 0.05
    done
    [ -z "$pid" ] || kill -INT "$pid" 2>/dev/null
    wait
    pid=
    grep -q "long: .* 4,000/4,000 .* $doing" "$folder/output"
    report $? "SIGUSR1 is answered: $doing"
}
asked recording
command -v sqlite3 >/dev/null || { echo "skip stop: no sqlite3 to damage rows"; exit "$failed"; }
sqlite3 "$folder/long/campaign.db" "UPDATE trials SET failure = 'diverged', fitness = NULL"
asked retrying --retry diverged
exit "$failed"
