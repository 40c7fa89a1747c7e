#!/bin/sh
# Two runners are started on one campaign at the same moment, again and again: exactly one runs it, and the other is
# refused, or finds it done.
#
#   HOPSCOTCH  the program      TIMES  how often (100)      QUICK=1  10 times
set -u
cd "$(dirname "$0")/../.." || exit 3
: "${HOPSCOTCH:=$PWD/build/hopscotch}"
times=${TIMES:-100} # 100 take some 10 s on a quiet machine
[ -z "${QUICK:-}" ] || times=10
folder=$(mktemp -d) || exit 3
trap 'rm -rf "$folder"' EXIT
cat >"$folder/two.yaml" <<'END'
version: 1
experiment: two
model: bbob
search: {method: grid, over: {x1: {linspace: [-5, 5, 40]}}}
END

runner() # NUMBER
{
    "$HOPSCOTCH" run "$folder/two.yaml" --name "two$i" --results "$folder/results" --progress none --threads 1 \
        --batch 8 >"$folder/out$1" 2>&1
    echo $? >"$folder/status$1"
}

# The statuses in order, and how often the log says that it was started or resumed.
refused=0 done=0 i=0 bad=0
while [ "$i" -lt "$times" ]; do
    i=$((i + 1))
    runner 1 &
    runner 2 &
    wait
    statuses=$(cat "$folder/status1" "$folder/status2" | sort -n | tr '\n' ' ')
    runs=$(grep -c -e '"event":"started"' -e '"event":"resumed"' "$folder/results/two$i/log.jsonl")
    rows=$("$HOPSCOTCH" query "two$i" --results "$folder/results" --columns id --format csv | wc -l)
    case $statuses in
    "0 3 ") grep -q "is being run by\|is held by" "$folder/out1" "$folder/out2" && refused=$((refused + 1)) ;;
    "0 0 ") grep -q "is done already" "$folder/out1" "$folder/out2" && done=$((done + 1)) ;;
    esac
    [ "$runs" -eq 1 ] && [ "$rows" -eq 41 ] && [ $((refused + done + bad)) -eq "$i" ] && continue
    echo "   time $i: statuses $statuses, $runs runs, $((rows - 1)) trials"
    cat "$folder/out1" "$folder/out2"
    bad=$((bad + 1))
done
if [ "$bad" -eq 0 ] && [ "$refused" -gt 0 ]; then
    echo "ok two_runners: $times times one of two ran; the other was refused $refused times, came late $done times"
    exit 0
fi
echo "FAIL two_runners: $bad of $times times not exactly one ran, $refused times one was refused"
exit 1
