#!/bin/sh
# Searches on a GPU: the shipped searches have the digest of the CPU, also after a kill; the time of sampling, ranking
# and update relative to the simulation (one search: at most 5 % at n = 8); and the result of
# experiments/raibert_cmaes.yaml against the defaults, under 1,000 fresh seeds.
#
#   tests/gpu_search.sh [BUILD [BACKEND]]
#
# BUILD: the folder of `make` with CUDA, or of `make portable` (build); BACKEND: cuda, or cpu to try the script itself.
set -u
cd "$(dirname "$0")/.." || exit 3
build=${1:-build} backend=${2:-cuda}
program=$build/hopscotch
folder=$(mktemp -d) || exit 3
trap 'rm -rf "$folder"' EXIT
failed=0

report() # STATUS NAME
{
    [ "$1" -eq 0 ] && echo "ok gpu_search: $2" && return
    echo "FAIL gpu_search: $2"
    tail -n 5 "$folder/errors"
    failed=1
}

run() # NAME OPTION...: its summary in NAME.json
{
    name=$1
    shift
    "$program" run "$@" --name "$name" --results "$folder/results" --progress none --timings --json \
        >"$folder/$name.json" 2>"$folder/errors"
}

digest() { "$program" digest "$1" --results "$folder/results" | cut -d' ' -f1; }
number() { sed -n "s/.*\"$2\": *\([0-9.e+-]*\).*/\1/p" "$folder/$1.json" | head -n 1; }

# ---- the same bits ---------------------------------------------------------------------------------------------------

same() # SPEC OPTION...
{
    spec=$1
    shift
    run cpu "experiments/$spec.yaml" --backend cpu "$@" && run gpu "experiments/$spec.yaml" --backend "$backend" "$@" &&
        [ "$(digest cpu)" = "$(digest gpu)" ]
    report $? "the digest of the CPU: $spec $*"
    "$program" run "experiments/$spec.yaml" --backend "$backend" "$@" --name killed --results "$folder/results" \
        --progress none >/dev/null 2>&1 &
    child=$!
    sleep "$(awk "BEGIN { print 0.2 + 0.5 * $(number gpu wall_seconds) }")"
    kill -9 $child 2>/dev/null
    wait $child 2>/dev/null
    "$program" resume killed --results "$folder/results" --backend "$backend" --progress none >"$folder/errors" 2>&1
    [ "$(digest killed)" = "$(digest cpu)" ]
    report $? "the same, killed and resumed"
    rm -rf "$folder/results"
}

same raibert_cmaes --set search.cmaes.searches=4 --set search.cmaes.stop.generations=12
same speed_tracking_cmaes --set search.cmaes.stop.generations=12
same pareto_speed_energy --set search.nsga2.stop.generations=8
same raibert_lbfgs --set search.lbfgs.stop.iterations=5
same bbob_cmaes --set limits.trials=100000
same sensitivity_morris
same attitude_centered

# ---- what a search costs ---------------------------------------------------------------------------------------------

for population in 20 64 256 1024 4096; do
    for searches in 1 16; do
        run cost experiments/raibert_cmaes.yaml --backend "$backend" --set replicates.count=1 \
            --set search.cmaes.searches=$searches --set search.cmaes.population=$population \
            --set search.cmaes.stop.generations=20 --set 'record={}'
        share=$(awk "BEGIN { print $(number cost search_seconds) / $(number cost wall_seconds) }")
        echo "population $population, $searches searches: search $(number cost search_seconds) s of" \
            "$(number cost wall_seconds) s for 20 generations, $share"
        [ $searches -gt 1 ] || awk "BEGIN { exit !($share <= 0.05) }"
        report $? "a search takes at most 5 % of the time: population $population, $searches searches"
        rm -rf "$folder/results"
    done
done

# many large searches: their ask and tell share the host's threads
run cost experiments/raibert_cmaes.yaml --backend "$backend" --set replicates.count=1 --set search.cmaes.searches=64 \
    --set search.cmaes.population=4096 --set search.cmaes.stop.generations=4 --set 'record={}'
share=$(awk "BEGIN { print $(number cost search_seconds) / $(number cost wall_seconds) }")
echo "population 4096, 64 searches: search $(number cost search_seconds) s of $(number cost wall_seconds) s, $share"
awk "BEGIN { exit !($share <= 0.05) }"
report $? "64 searches of 4,096 take at most 5 % of the time"
rm -rf "$folder/results"

# ---- what it finds ---------------------------------------------------------------------------------------------------

run raibert experiments/raibert_cmaes.yaml --backend "$backend"
report $? "experiments/raibert_cmaes.yaml"
sed -n '/"timings"/,/}/p' "$folder/raibert.json"
"$program" status raibert --results "$folder/results" | head -n 20
"$program" best raibert --top 3 --results "$folder/results"
"$program" verify raibert --seeds 1000 --gains 0 --physics 0 --grid 0 --results "$folder/results" \
    --backend "$backend" --progress none
"$program" verify raibert --defaults --seeds 1000 --gains 0 --physics 0 --grid 0 --results "$folder/results" \
    --backend "$backend" --progress none
exit $failed
