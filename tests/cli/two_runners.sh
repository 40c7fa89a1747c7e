#!/bin/sh
# Two runners start on one campaign at the same moment, again and again: exactly one runs it; the other is refused, or
# finds it done.
#
#   TIMES  how often (100), five campaigns at a time      QUICK=1  10 times
. "$(dirname "$0")/../scratch.sh"
times=${TIMES:-100}
[ -z "${QUICK:-}" ] || times=10
cat >two.yaml <<'END'
version: 1
experiment: two
model: bbob
search: {method: grid, over: {x1: {linspace: [-5, 5, 40]}}}
END

runner() # CAMPAIGN NUMBER
{
    "$HOPSCOTCH" run two.yaml --name "$1" --progress none --threads 1 --batch 8 >"$1.out$2" 2>&1
    echo $? >"$1.status$2"
}

# Compares the exit statuses of both, the number of starts and resumes in the log, and the number of rows with their
# header.
refused=0 late=0 bad=0
examine() # CAMPAIGN
{
    statuses=$(cat "$1.status1" "$1.status2" | sort -n | tr '\n' ' ')
    runs=$(grep -c -e '"event":"started"' -e '"event":"resumed"' "results/$1/log.jsonl")
    rows=$("$HOPSCOTCH" query "$1" --columns id --format csv | wc -l)
    if [ "$runs" -eq 1 ] && [ "$rows" -eq 41 ]; then
        case $statuses in
        "0 3 ") grep -q "is being run by\|is held by" "$1".out? && refused=$((refused + 1)) && return ;;
        "0 0 ") grep -q "is done already" "$1".out? && late=$((late + 1)) && return ;;
        esac
    fi
    echo "   $1: statuses $statuses, $runs runs, $((rows - 1)) trials"
    cat "$1".out?
    bad=$((bad + 1))
}

i=0
while [ "$i" -lt "$times" ]; do
    for name in a b c d e; do
        runner "two$i$name" 1 &
        runner "two$i$name" 2 &
    done
    wait
    for name in a b c d e; do examine "two$i$name"; done
    i=$((i + 5))
done
[ "$bad" -eq 0 ] && [ "$refused" -gt 0 ]
check $? "in $i pairs exactly one ran, but for $bad; the other was refused $refused times and came too late $late times"
exit $status
