#!/bin/sh
# Many readers run `best` and `query` while a campaign runs. None may fail, and none may see a state between two
# commits: the newest ids have no gap and end with a batch, no later answer has fewer trials or a worse best, and ranks
# follow fitness. Also prints the run's throughput with and without them.
#
#   HOPSCOTCH   the program (build/hopscotch)
#   OPTIONS     of the run ("--backend cpu"); for a GPU, say "--backend cuda --set simulation.duration=20"
#   BATCH       trials of a batch (128)      READERS   how many of each kind (1)      QUICK=1   a shorter run
#   LIMIT       percentage of its throughput that the run may lose; unset: it is only printed
#
# shellcheck disable=SC2086
set -u
cd "$(dirname "$0")/../.." || exit 3
: "${HOPSCOTCH:=$PWD/build/hopscotch}" "${OPTIONS:=--backend cpu}" "${BATCH:=128}" "${READERS:=1}"
folder=$(mktemp -d) || exit 3
trap 'touch "$folder/stop"; wait; rm -rf "$folder"' EXIT
status=0
[ -z "${QUICK:-}" ] || OPTIONS="$OPTIONS --set simulation.duration=0.2 --set simulation.settle=0.1"

report()
{
    if [ "$1" -eq 0 ]; then echo "ok readers: $2"; else echo "FAIL readers: $2"; status=1; fi
}

# run NAME: writes its summary as JSON. Nothing is excluded, so that ids have no gaps.
run()
{
    "$HOPSCOTCH" run experiments/smoke.yaml --name "$1" --results "$folder" --progress none --batch "$BATCH" --json \
        --set 'search.exclude=[]' $OPTIONS >"$folder/$1.json"
}

# throughput NAME: trials per second from the first launch to the last commit
throughput()
{
    awk -F '[:,]' '/"trials_done"/ {n = $2} /"first_launch_to_last_commit"/ {s = $2} END {printf "%.1f", n / s}' \
        "$folder/$1.json"
}

# read_newest N: reads the ids of the newest trials repeatedly; writes errors to $folder/wrong
read_newest()
{
    seen=-1 reads=0
    while [ "$reads" -eq 0 ] || [ ! -e "$folder/stop" ]; do
        "$HOPSCOTCH" query read --results "$folder" --columns id --order id:desc --limit 1000 --format csv \
            >"$folder/newest.$1" 2>&1 || { echo "query: $(cat "$folder/newest.$1")" >>"$folder/wrong"; return; }
        seen=$(awk -v batch="$BATCH" -v seen="$seen" -v total=12100 '
            function wrong(what) { print "query: " what >"/dev/stderr" }
            NR == 2 { newest = $1 }
            NR == 2 && newest < seen { wrong("trial " seen " was there, now " newest) }
            NR == 2 && (newest + 1) % batch && newest + 1 != total { wrong("half a batch: " newest) }
            NR > 2 && $1 != last - 1 { wrong("a gap between " $1 " and " last) }
            { last = $1 }
            END { print newest == "" ? seen : newest }' "$folder/newest.$1" 2>>"$folder/wrong")
        reads=$((reads + 1))
    done
    echo "$reads" >"$folder/reads.newest.$1"
}

# read_best N: reads the best 20 trials repeatedly
read_best()
{
    seen=inf reads=0
    while [ "$reads" -eq 0 ] || [ ! -e "$folder/stop" ]; do
        "$HOPSCOTCH" best read --results "$folder" --top 20 --format csv >"$folder/best.$1" 2>&1 ||
            { echo "best: $(cat "$folder/best.$1")" >>"$folder/wrong"; return; }
        seen=$(awk -F, -v seen="$seen" '
            NR == 1 { for (i = 1; i <= NF; i++) if ($i == "fitness") column = i; next }
            function wrong(what) { print "best: " what >"/dev/stderr" }
            NR == 2 { best = $column }
            NR == 2 && best + 0 > seen + 0 { wrong("was " seen ", is " best) }
            NR > 2 && $column + 0 < last + 0 { wrong($column " ranks behind " last) }
            { last = $column }
            END { print best == "" ? seen : best }' "$folder/best.$1" 2>>"$folder/wrong")
        reads=$((reads + 1))
    done
    echo "$reads" >"$folder/reads.best.$1"
}

run alone
report $? "a run without readers"
: >"$folder/wrong"
run read &
pid=$!
until "$HOPSCOTCH" query read --results "$folder" --limit 1 >/dev/null 2>&1 || ! kill -0 "$pid" 2>/dev/null; do
    sleep 0.01
done
readers=
for i in $(seq "$READERS"); do
    read_newest "$i" &
    readers="$readers $!"
    read_best "$i" &
    readers="$readers $!"
done
wait "$pid"
report $? "a run with $READERS readers of each kind"
touch "$folder/stop"
wait $readers
queries=$(cat "$folder"/reads.newest.* 2>/dev/null | awk '{n += $1} END {print n + 0}')
bests=$(cat "$folder"/reads.best.* 2>/dev/null | awk '{n += $1} END {print n + 0}')
[ ! -s "$folder/wrong" ] || head -5 "$folder/wrong"
[ ! -s "$folder/wrong" ] && [ "$queries" -gt 0 ] && [ "$bests" -gt 0 ]
report $? "$queries times query and $bests times best saw whole batches in order"
alone=$(throughput alone) read=$(throughput read)
loss=$(awk -v a="$alone" -v r="$read" 'BEGIN {printf "%.1f", 100 * (a - r) / a}')
echo "   readers: $alone trials/s without readers, $read with them: $loss % less"
[ -z "${LIMIT:-}" ] || { awk -v l="$loss" -v m="$LIMIT" 'BEGIN {exit !(l <= m)}'; report $? "at most $LIMIT % less"; }
exit "$status"
