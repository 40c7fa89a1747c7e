#!/bin/sh
# What the runner takes per trial of `model: command`: beside a worker that answers at once (tests/command/answers.c),
# the wall time per trial with 1 and 2 workers without the start, and that of a bare exchange over pipes with the same
# program. Then 2 workers against 1 on a task of 10 ms, asleep and computing.
#
#   make build/answers && tests/bench/command_overhead.sh HOPSCOTCH ANSWERS FOLDER [TRIALS] [TASKS]
#
# 100,000 trials, 1,000 tasks of 10 ms; FOLDER is made anew. Needs python3. Computing takes a core per worker, so other
# load on the machine counts.
set -eu
hopscotch=$1 answers=$2 folder=$3 trials=${4:-100000} tasks=${5:-1000}
here=$(cd "$(dirname "$0")" && pwd)
case $hopscotch in /*) ;; *) hopscotch=$PWD/$hopscotch ;; esac
mkdir "$folder"
cp "$answers" "$folder/answers"
cp "$here/command_task.py" "$folder"
cd "$folder"
cat >answers.yaml <<END
version: 1
experiment: answers
seed: 1
model: command
simulation: {program: [./answers]}
parameters: {x: {range: [0, 1]}}
metrics: [y]
objective: {minimize: y}
search: {method: random, over: {x: {range: [0, 1]}}, trials: $trials}
END
sed "s/answers/task/; s/program: .*/program: [python3, -I, -S, command_task.py, sleep]}/; s/$trials/$tasks/" \
    answers.yaml >task.yaml

# once SPEC TRIALS WORKERS [OPTIONS...]: `ms` of the run
once()
{
    spec=$1 count=$2 workers=$3
    shift 3
    rm -rf results
    begin=$(date +%s%N)
    "$hopscotch" run "$spec" --set search.trials="$count" --set simulation.workers="$workers" --allow-programs \
        --progress none "$@" >said 2>&1 || { cat said; exit 1; }
    ms=$((($(date +%s%N) - begin) / 1000000))
}

# wall: `ms` and `us` per trial of the same without the start and the end, which are those of a trial per worker
wall()
{
    once "$1" "$3" "$3" "$4" "$5"
    start=$ms
    once "$1" "$2" "$3" "$4" "$5"
    ms=$((ms - start))
    us=$(awk -v ms=$ms -v n="$2" 'BEGIN { printf "%.1f", 1000 * ms / n }')
}

bare=$(python3 "$here/command_pipe.py" ./answers "$trials")
echo "a bare exchange over pipes: $bare us per trial"
for workers in 1 2; do
    wall answers.yaml "$trials" $workers --threads 2
    echo "$workers workers that answer at once: $us us per trial"
done
for kind in sleep compute; do
    for workers in 1 2; do
        wall task.yaml "$tasks" $workers --set "simulation.program=[python3, -I, -S, command_task.py, $kind]"
        eval "with_$workers=$ms"
    done
    # shellcheck disable=SC2154
    echo "$tasks tasks of 10 ms, $kind: 1 worker $with_1 ms, 2 workers $with_2 ms," \
        "$(awk -v a="$with_1" -v b="$with_2" 'BEGIN { printf "%.3f", a / b }') times as fast"
done
