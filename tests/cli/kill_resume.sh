#!/bin/sh
# Nothing lost, nothing doubled: a campaign that is killed ten times with SIGKILL at random moments, and resumed each
# time, must have the digest of one that ran through.
#
#   HOPSCOTCH  the program      SEED   of the moments (1)      KILLS   how many (10)
#   QUICK=1    a smaller campaign
set -u
cd "$(dirname "$0")/../.." || exit 3
: "${HOPSCOTCH:=$PWD/build/hopscotch}"
kills=${KILLS:-10} state=${SEED:-1} failed=0
folder=$(mktemp -d) || exit 3
pid=
trap '[ -z "$pid" ] || kill -9 "$pid" 2>/dev/null; rm -rf "$folder"' EXIT

# Small batches, so that there is much to lose; the trajectories are recorded as they run and at the end.
set -- experiments/smoke.yaml --results "$folder/results" --progress none --batch 128
set -- "$@" --set 'record.trajectories.select={best: 10, every: 300, failures: 3}'
[ -z "${QUICK:-}" ] || set -- "$@" --set simulation.duration=0.1 --set simulation.settle=0.05 \
    --set 'search.over.thrust=[30]' --set 'record.trajectories.select={best: 10, every: 100}'

report()
{
    if [ "$1" -eq 0 ]; then echo "ok kill_resume: $2"; else echo "FAIL kill_resume: $2"; failed=1; fi
}

milliseconds()
{
    echo $(($(date +%s%N) / 1000000))
}

# random LOW HIGH: an integer of a linear congruential sequence (Numerical Recipes' constants)
random()
{
    state=$(((state * 1664525 + 1013904223) % 4294967296))
    value=$(($1 + (state / 65536) % ($2 - $1 + 1)))
}

digest()
{
    "$HOPSCOTCH" digest "$1" --results "$folder/results" 2>"$folder/errors" | cut -d' ' -f1
}

# run NAME ...: starts the campaign in the background
start()
{
    name=$1
    shift
    "$HOPSCOTCH" run "$@" --name "$name" >"$folder/output" 2>&1 &
    pid=$!
}

begin=$(milliseconds)
start whole "$@"
wait "$pid"
status=$?
pid=
wall=$(($(milliseconds) - begin))
[ "$status" -eq 0 ] || cat "$folder/output"
report "$status" "uninterrupted run: $wall ms"
expected=$(digest whole)
[ "${#expected}" -eq 64 ]
report $? "digest $expected"

# Each run gets a tenth of the time on average, at least what it takes to start, so that the last kills hit the end.
killed=0
while [ "$killed" -lt "$kills" ]; do
    random 5 $((wall / (kills / 2 + 1) + 20))
    start cut "$@"
    sleep "$((value / 1000)).$(printf %03d $((value % 1000)))"
    kill -9 "$pid" 2>/dev/null
    wait "$pid" 2>/dev/null
    pid=
    killed=$((killed + 1))
    echo "   killed after $value ms: $(ls "$folder/results/cut/shards" 2>/dev/null | wc -l) shards"
done

# What one run lost is told by the next.
"$HOPSCOTCH" run "$@" --name cut >"$folder/output" 2>&1
status=$?
[ "$status" -eq 0 ] || cat "$folder/output"
report "$status" "resumed after $killed kills and finished"
got=$(digest cut)
[ "$got" = "$expected" ] || echo "   expected digest $expected, got ${got:-none}: $(cat "$folder/errors")"
[ "$got" = "$expected" ]
report $? "digest after $killed kills equals the uninterrupted run's"
left=$(ls -R "$folder/results" | grep -c "[.]tmp$")
[ "$left" -eq 0 ]
report $? "no temporary file is left"
exit "$failed"
