#!/bin/sh
# Ctrl-C and SIGTERM: the run commits what is complete, says how to resume, and ends within two seconds; what is resumed
# has the digest of an uninterrupted run.
#
#   HOPSCOTCH   the program
set -u
cd "$(dirname "$0")/../.." || exit 3
: "${HOPSCOTCH:=$PWD/build/hopscotch}"
folder=$(mktemp -d) || exit 3
pid=
trap '[ -z "$pid" ] || kill -9 "$pid" 2>/dev/null; rm -rf "$folder"' EXIT
failed=0
# A batch takes some 0.2 s, and there are more than a thousand, so that the signals come long before the end.
set -- experiments/smoke.yaml --results "$folder" --progress none --batch 64 --threads 1 \
    --set simulation.duration=10 --set 'search.over.k_xdot={arange: [0, 0.095, 0.0005]}'

report()
{
    if [ "$1" -eq 0 ]; then echo "ok interrupt: $2"; else echo "FAIL interrupt: $2"; cat "$folder/output"; failed=1; fi
}

digest()
{
    "$HOPSCOTCH" digest "$1" --results "$folder" 2>>"$folder/output" | cut -d' ' -f1
}

milliseconds()
{
    echo $(($(date +%s%N) / 1000000))
}

for signal in INT TERM; do
    "$HOPSCOTCH" run "$@" --name cut >"$folder/output" 2>&1 &
    pid=$! waited=0
    # its lock names it when it runs, and has been told what signals mean
    until grep -q "pid $pid on" "$folder/cut/campaign.lock" 2>/dev/null || [ "$waited" -ge 600 ]; do
        sleep 0.1
        waited=$((waited + 1))
    done
    sleep 0.3
    begin=$(milliseconds)
    kill -"$signal" "$pid"
    wait "$pid"
    status=$? took=$(($(milliseconds) - begin))
    pid=
    case $signal in INT) expected=130 ;; *) expected=143 ;; esac
    [ "$status" -eq "$expected" ] && [ "$took" -lt 2000 ]
    report $? "SIG$signal: status $status after $took ms"
    grep -q "hopscotch resume cut --results $folder" "$folder/output"
    report $? "SIG$signal: it says how to resume"
done

# both up to the same trial, some batches after those that the first has by now
stored=$("$HOPSCOTCH" query cut --results "$folder" --columns id --format csv | tail -n +2 | wc -l)
limit=$((stored + 200))
for name in cut whole; do
    "$HOPSCOTCH" run "$@" --name "$name" --set limits.trials=$limit >"$folder/output" 2>&1
    report $? "run $name up to trial $limit"
done
[ "$(digest cut)" = "$(digest whole)" ]
report $? "the digests are equal"
exit "$failed"
