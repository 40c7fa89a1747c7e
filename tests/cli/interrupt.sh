#!/bin/sh
# Ctrl-C, SIGTERM and SIGHUP: the run commits complete batches, prints how to resume, and ends soon; the resumed run has
# the digest of an uninterrupted one.
. "$(dirname "$0")/../scratch.sh"
# A batch takes about 0.2 s, and there are more than a thousand, so that the signals come long before the end.
set -- "$root"/experiments/smoke.yaml --results kept --progress none --batch 64 --threads 1 \
    --set simulation.duration=10 --set 'search.over.k_xdot={arange: [0, 0.095, 0.0005]}'

interrupted() # SIGNAL STATUS OPTION...
{
    signal=$1 expected=$2
    shift 2
    "$HOPSCOTCH" run "$@" --name cut >out 2>&1 &
    pid=$!
    leaves "$signal" kept/cut/campaign.lock
    [ "$ended" -eq "$expected" ] && [ "$took" -lt "$patience" ]
}

for signal in INT TERM HUP; do
    case $signal in INT) expected=130 ;; HUP) expected=129 ;; *) expected=143 ;; esac
    soon interrupted $signal $expected "$@"
    check $? "SIG$signal: status $ended after $took ms"
    grep -q "hopscotch resume cut --results kept" out
    check $? "SIG$signal: the run says how to resume"
done

# Without --batch, batches take about half a second, and the one in flight may finish. A batch as large as memory allows
# would have 5,312 trials, and all of them would be lost.
# Its trials are more and longer than those of the spec, so that the signal comes before the end.
little_is_lost()
{
    "$HOPSCOTCH" run "$root"/experiments/smoke.yaml --results kept --progress none --threads 1 --name much \
        --set simulation.duration=10 --set 'search.over.k_xdot={arange: [0, 0.095, 0.0005]}' >out 2>&1 &
    pid=$!
    leaves INT kept/much/campaign.lock
    lost=$(sed -n 's/.*; \([0-9,]*\) trials in flight.*/\1/p' out | tr -d ,)
    [ "$ended" -eq 130 ] && [ "$took" -lt "$patience" ] && [ "${lost:-0}" -lt 2000 ]
}
soon little_is_lost
check $? "a sweep loses ${lost:-no} trials in flight, after $took ms"

# two signals at once, as `timeout -s INT` and batch systems send them, count as one
"$HOPSCOTCH" run "$@" --name cut >out 2>&1 &
pid=$!
until_true grep -qs "pid $pid on" kept/cut/campaign.lock
sleep 0.3
kill -INT $pid
sleep 0.02
kill -INT $pid 2>/dev/null
wait $pid
[ $? -eq 130 ] && grep -q "hopscotch resume cut --results kept" out
check $? "SIGINT twice at once counts as one"
pid=

# both run up to the same trial, some batches beyond the first one's last trial
stored=$("$HOPSCOTCH" query kept/cut --columns id --format csv | tail -n +2 | wc -l)
limit=$((stored + 200))
for name in cut whole; do
    "$HOPSCOTCH" run "$@" --name "$name" --set limits.trials=$limit >out 2>&1
    check $? "run $name up to trial $limit"
done
[ "$(digest kept/cut)" = "$(digest kept/whole)" ]
check $? "the digests are equal"
exit $status
