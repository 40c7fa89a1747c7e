#!/bin/sh
# Nothing is lost or stored twice: a campaign that is killed ten times with SIGKILL at random moments, and resumed each
# time, must have the digest of a campaign without interruption.
#
#   SEED   of the moments (1)      KILLS   how many (10)
#   QUICK=1    a smaller campaign
. "$(dirname "$0")/../scratch.sh"
kills=${KILLS:-10}

# Batches are small, so that much can be lost; trajectories are recorded during the run and at the end.
set -- "$root"/experiments/smoke.yaml --progress none --batch 128
set -- "$@" --set 'record.trajectories.select={best: 10, every: 300, failures: 3}'
[ -z "${QUICK:-}" ] || set -- "$@" --set simulation.duration=0.1 --set simulation.settle=0.05 \
    --set 'search.over.thrust=[30]' --set 'record.trajectories.select={best: 10, every: 100}'

# run NAME ...: starts the campaign in the background
start()
{
    name=$1
    shift
    "$HOPSCOTCH" run "$@" --name "$name" >out 2>&1 &
    pid=$!
}

begin=$(milliseconds)
start whole "$@"
wait "$pid"
ended=$?
pid=
wall=$(($(milliseconds) - begin))
[ "$ended" -eq 0 ] || cat out
check "$ended" "uninterrupted run: $wall ms"
expected=$(digest whole)
[ "${#expected}" -eq 64 ]
check $? "digest $expected"

# Each run gets a tenth of the time on average, and at least the time to start, so that the last kills come near the
# end.
killed=0
while [ "$killed" -lt "$kills" ]; do
    random 5 $((wall / (kills / 2 + 1) + 20))
    start cut "$@"
    sleep "$((value / 1000)).$(printf %03d $((value % 1000)))"
    kill -9 "$pid" 2>/dev/null
    wait "$pid" 2>/dev/null
    pid=
    killed=$((killed + 1))
    echo "   killed after $value ms: $(ls results/cut/shards 2>/dev/null | wc -l) shards"
done

# Each run reports what the run before it lost.
"$HOPSCOTCH" run "$@" --name cut >out 2>&1
ended=$?
[ "$ended" -eq 0 ] || cat out
check "$ended" "resumed after $killed kills and finished"
got=$(digest cut)
[ "$got" = "$expected" ] || echo "   expected digest $expected, got ${got:-none}"
[ "$got" = "$expected" ]
check $? "digest after $killed kills equals the uninterrupted run's"
left=$(ls -R results | grep -c "[.]tmp$")
[ "$left" -eq 0 ]
check $? "no temporary file is left"
exit $status
