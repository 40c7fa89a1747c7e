#!/bin/sh
# Adaptive searches: the same digest for any batches and threads, and after kills at random moments; a search beside
# others equals the one that runs alone; trials replay; changes that are not possible are refused.
#
#   SEED   of the moments (1)      KILLS   how many (20)      QUICK=1   fewer of all
. "$(dirname "$0")/../scratch.sh"
kills=${KILLS:-20} budget=6000
[ -z "${QUICK:-}" ] || { kills=5 budget=1000; }

cat >learn.yaml <<END
version: 1
experiment: learn
seed: 5
model: bbob
simulation: {function: rosenbrock, dimension: 6}
search:
  method: cmaes
  over: {x1: {range: [-5, 5]}, x2: {range: [-5, 5]}, x3: {range: [-5, 5]}, x4: {range: [-5, 5]}, x5: {range: [-5, 5]}}
  cmaes: {searches: 6, sigma: 0.2, restarts: bipop, stop: {trials: $budget}}
replicates: {count: 2, common: false, perturb: {x6: {normal: [0, 1.0e-3]}}, store: true}
record: {trajectories: {select: {best: 3, every: 5000}}}
END

start()
{
    name=$1
    shift
    "$HOPSCOTCH" run learn.yaml --name "$name" --progress none "$@" >out 2>&1 &
    pid=$!
}
run()
{
    start "$@"
    wait "$pid"
    ended=$?
    pid=
    return $ended
}
same()
{
    [ -n "$expected" ] && [ "$(digest "$1")" = "$expected" ]
    check $? "$2"
}
rows()
{
    "$HOPSCOTCH" query "$1" --where "search = $2" --order id --limit 100000 \
        --columns round,x1,x2,x5,fitness --format csv
}

begin=$(milliseconds)
run whole --threads 1
check $? "uninterrupted run"
wall=$(($(milliseconds) - begin))
expected=$(digest whole)

for batch in 14 100 100000; do
    run "batch$batch" --threads 2 --batch $batch
    same "batch$batch" "batches of $batch lanes, two threads"
done

run alone --set search.cmaes.searches=1 --set search.cmaes.first=4
rows alone 4 >alone && rows whole 4 >beside
cmp -s alone beside && [ "$(wc -l <alone)" -gt 500 ]
check $? "search 4 beside five others equals the one that runs alone"

best=$("$HOPSCOTCH" best whole --format csv | sed -n 2p | cut -d, -f2)
for trial in 0 77 "$best"; do
    "$HOPSCOTCH" replay "whole/$trial" --isa scalar >out 2>&1
    check $? "trial $trial replays"
done

random 10 "$wall"
start killed --threads 1
killed=0
while [ $killed -lt "$kills" ]; do
    random 5 $((wall / 3 + 5))
    sleep "$(printf '0.%03d' $((value < 999 ? value : 999)))"
    kill -9 "$pid" 2>/dev/null
    wait "$pid" 2>/dev/null
    killed=$((killed + 1))
    start killed --threads 1
done
wait "$pid"
pid=
run killed --threads 1
same killed "killed $kills times"

# without arrays, as the trajectories of the best trials so far are recorded at every limit
few='record.trajectories.select={every: 5000}'
run plain --set "$few"
expected=$(digest plain)
run limited --set "$few" --set limits.trials=777 && run limited --set "$few" --set limits.trials=778
run limited --set "$few"
same limited "stopped at two limits, in the middle of a generation"

run whole --retry failed && ! grep -q 'no trial' out
[ $? -ne 0 ]
check $? "--retry is refused, or has nothing to do"
run whole --extend --set search.cmaes.searches=7
[ $? -eq 1 ] && grep -q "can't change" out
check $? "--extend is refused"
"$HOPSCOTCH" status whole >out && grep -q ' trials$' out
check $? "status says how each search ended"

# the last shard, which holds the rounds, is written again from the database
last=$(ls results/whole/shards | tail -n 1)
before=$(cksum <"results/whole/shards/$last")
rm "results/whole/shards/$last"
run whole && last=$(ls results/whole/shards | tail -n 1)
[ "$(cksum <"results/whole/shards/$last")" = "$before" ]
check $? "a lost shard of rounds is written again, byte for byte"
"$HOPSCOTCH" doctor whole >out 2>&1
check $? "the doctor finds nothing"
exit $status
