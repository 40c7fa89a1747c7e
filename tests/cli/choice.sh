#!/bin/sh
# `backend: auto` where there is a GPU (a faulty device takes its part): the campaign begins on the CPU and goes on on
# the GPU if the rest takes less time there, with the bits of the CPU; a short one never looks for the GPU; one that
# fails, before or after the move, ends nothing.
. "$(dirname "$0")/../scratch.sh"
with_faults || exit 0

cat >long.in <<'END'
version: 1
experiment: long
seed: 5
model: hopper
search:
  method: random
  trials: TRIALS
  over: {k_fp: {range: [15, 1500], scale: log}, thrust: {range: [10, 100]}}
END
cat >learns.in <<'END'
version: 1
experiment: learns
seed: 5
model: hopper
search:
  method: cmaes
  cmaes: {population: 64, stop: {generations: GENERATIONS}}
  over: {k_fp: {range: [15, 1500], scale: log}, thrust: {range: [10, 100]}}
END

run() # NAME SPEC FAULT OPTION...
{
    name=$1 spec=$2 fault=$3
    shift 3
    HOPSCOTCH_FAULT=$fault "$HOPSCOTCH_FAULTS_PROGRAM" run "$spec" --name "$name" --progress plain --threads 1 \
        --batch 64 "$@" >out 2>err
}
events() { grep '"event":"device"' "results/$1/log.jsonl"; }     # NAME
said() { events "$1" | grep -q "$2"; }                           # NAME WORDS

# scaled SPEC WORD COUNT: SPEC.yaml with as many trials as take 2.5 s of kernels here, and its campaign by the CPU
scaled()
{
    count=$3
    while :; do
        sed "s/$2/$count/" "$1.in" >"$1.yaml"
        rm -rf "results/$1-cpu"
        run "$1-cpu" "$1.yaml" "" --backend cpu --json
        awk -F '[:,]' '/"kernel_seconds"/ { enough = $2 >= 2.5 } END { exit !enough }' out && return
        [ "$count" -lt 1000000 ] || return
        count=$((2 * count))
    done
}
scaled long TRIALS 250
scaled learns GENERATIONS 8

for kind in long learns; do
    run $kind-gpu $kind.yaml gpu:moves && [ "$(digest $kind-gpu)" = "$(digest $kind-cpu)" ] &&
        said $kind-gpu "goes on on faulty device 0: the rest takes about .* there, and .* on the CPU"
    check $? "$kind: it moves, and has the bits of the CPU"
    run $kind-stays $kind.yaml gpu:stays && [ "$(digest $kind-stays)" = "$(digest $kind-cpu)" ] &&
        said $kind-stays "stays on the CPU, with faulty device 0" && ! grep -q faulty out
    check $? "$kind: it stays where that is faster"
done
grep -q "goes on on faulty" err || run long-said long.yaml gpu:moves && grep -q "goes on on faulty" err
check $? "the move is said"

run short long.yaml gpu:moves --set search.trials=4 --set simulation.duration=1.5 && [ -z "$(events short)" ]
check $? "a short campaign looks for no GPU"
run named long.yaml gpu:moves --backend cpu && [ -z "$(events named)" ]
check $? "a backend that is named is taken"

run none long.yaml gpu:moves,backend:open:1+:LOST && [ "$(digest none)" = "$(digest long-cpu)" ] &&
    said none "stays on the CPU: "
check $? "a GPU that can't be opened: the CPU goes on, and says so"
run lost long.yaml gpu:moves,backend:wait:40+:LOST && [ "$(digest lost)" = "$(digest long-cpu)" ] &&
    [ "$(events lost | grep -c "goes on on")" = 1 ]
check $? "a GPU that fails after the move: the CPU ends the campaign"

run killed long.yaml gpu:moves,fsync:6:KILL
[ "$(digest killed)" != "$(digest long-cpu)" ] && HOPSCOTCH_FAULT=gpu:moves "$HOPSCOTCH_FAULTS_PROGRAM" resume killed \
    --progress none >out 2>err && [ "$(digest killed)" = "$(digest long-cpu)" ]
check $? "killed and resumed"

HOPSCOTCH_FAULT=gpu:moves "$HOPSCOTCH_FAULTS_PROGRAM" plan long.yaml --threads 1 >out 2>err &&
    grep -q "^device .*(.* would take about " out
check $? "the plan names both"
exit $status
