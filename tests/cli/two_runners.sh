#!/bin/sh
# Two runners are started on one campaign at the same moment, again and again: exactly one runs it, and the other is
# refused, or finds it done.
#
#   HOPSCOTCH  the program      TIMES  how often (100), five campaigns at a time      QUICK=1  10 times
set -u
cd "$(dirname "$0")/../.." || exit 3
: "${HOPSCOTCH:=$PWD/build/hopscotch}"
times=${TIMES:-100}
[ -z "${QUICK:-}" ] || times=10
folder=$(mktemp -d) || exit 3
trap 'rm -rf "$folder"' EXIT
cat >"$folder/two.yaml" <<'END'
version: 1
experiment: two
model: bbob
search: {method: grid, over: {x1: {linspace: [-5, 5, 40]}}}
END

runner() # CAMPAIGN NUMBER
{
    "$HOPSCOTCH" run "$folder/two.yaml" --name "$1" --results "$folder/results" --progress none --threads 1 \
        --batch 8 >"$folder/$1.out$2" 2>&1
    echo $? >"$folder/$1.status$2"
}

# The statuses of both, how often the log says that it was started or resumed, and the rows with their header.
refused=0 late=0 bad=0
check() # CAMPAIGN
{
    statuses=$(cat "$folder/$1.status1" "$folder/$1.status2" | sort -n | tr '\n' ' ')
    runs=$(grep -c -e '"event":"started"' -e '"event":"resumed"' "$folder/results/$1/log.jsonl")
    rows=$("$HOPSCOTCH" query "$1" --results "$folder/results" --columns id --format csv | wc -l)
    if [ "$runs" -eq 1 ] && [ "$rows" -eq 41 ]; then
        case $statuses in
        "0 3 ") grep -q "is being run by\|is held by" "$folder/$1".out? && refused=$((refused + 1)) && return ;;
        "0 0 ") grep -q "is done already" "$folder/$1".out? && late=$((late + 1)) && return ;;
        esac
    fi
    echo "   $1: statuses $statuses, $runs runs, $((rows - 1)) trials"
    cat "$folder/$1".out?
    bad=$((bad + 1))
}

i=0
while [ "$i" -lt "$times" ]; do
    for name in a b c d e; do
        runner "two$i$name" 1 &
        runner "two$i$name" 2 &
    done
    wait
    for name in a b c d e; do check "two$i$name"; done
    i=$((i + 5))
done
if [ "$bad" -eq 0 ] && [ "$refused" -gt 0 ]; then
    echo "ok two_runners: $i times one of two ran; the other was refused $refused times, came late $late times"
    exit 0
fi
echo "FAIL two_runners: $bad of $i times not exactly one ran, $refused times one was refused"
exit 1
