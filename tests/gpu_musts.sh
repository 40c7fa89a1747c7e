#!/bin/sh
# How fast kernels made for a campaign are on a GPU, beside the general ones: medians of three runs with a warm cache,
# seconds in the kernels and of the whole command, and whether all runs of a row give one digest. Then, where Nsight
# Compute is there, counters of single launches that say what they wait for. Takes about five minutes on an H200;
# tests/bench/NOTES.md, "Kernels made for a campaign", has the results.
#
#   tests/gpu_musts.sh [BUILD [BACKEND [TRIALS]]]
#
# BUILD: the folder of `make` with CUDA and `make BUILD/bench_hopper_speed`, or of `make portable` (build); BACKEND and
# TRIALS (1000000): cpu and few, to try the script itself. NCU: the profiler (ncu; none: no counters).
set -u
. "$(dirname "$0")/skip.sh"
build=${1:-build} backend=${2:-cuda} trials=${3:-1000000}
program=$(realpath "$build/hopscotch")
folder=$(mktemp -d) || exit 3
trap 'rm -rf "$folder"' EXIT
export XDG_CACHE_HOME="$folder/cache"
begin=$(date +%s) failed=0

run() # NAME SPEC OPTION...
{
    name=$1 spec=$2
    shift 2
    "$program" run "$spec" --name "$name" --backend "$backend" --results "$folder/results" --progress none --json "$@" \
        >"$folder/summary" 2>"$folder/errors" || { cat "$folder/errors" && failed=1; }
}
digest() { "$program" digest "$1" --results "$folder/results" | grep -o -m 1 '[0-9a-f]\{64\}'; }
summary() { sed -n "s/.*\"$1\": *\([0-9.e-]*\),*/\1/p" "$folder/summary"; }
used() # NAME: which kernel ran
{
    grep -h '"event":"kernel"' "$folder/results/$1/log.jsonl" | tail -n 1 |
        grep -o '[0-9]* registers, [0-9]* bytes of local memory' || echo "the general kernel"
}
median() { sort -g | sed -n 2p; }

# row KERNELS WHAT SPEC OPTION...: by turns, three runs each, after one that compiles
row()
{
    chosen=$1 what=$2 spec=$3
    shift 3
    digests=
    : >"$folder/times"
    case $chosen in *made*) run warm "$spec" --kernels made "$@" && rm -rf "$folder/results/warm" ;; esac
    for turn in 1 2 3; do
        for kernels in $chosen; do
            start=$(date +%s%N)
            run row "$spec" --kernels "$kernels" "$@"
            echo "$kernels $(summary kernel_seconds) $(summary first_launch_to_last_commit)" \
                "$((($(date +%s%N) - start) / 1000000))e-3 $turn" >>"$folder/times"
            digests="$digests $(digest row)"
            used row >"$folder/used_$kernels"
            rm -rf "$folder/results/row"
        done
    done
    bits=DIFFER
    # shellcheck disable=SC2086
    [ "$(printf '%s\n' $digests | sort | uniq -c | awk '{ print $1 }')" = "$(wc -l <"$folder/times")" ] && bits=equal
    [ $bits = equal ] || failed=1
    for kernels in $chosen; do
        for column in 2 3 4; do
            grep "^$kernels " "$folder/times" | cut -d ' ' -f $column | median >"$folder/median_$column"
        done
        printf '| %s | %s | %.4f | %.4f | %.3f | %s | %s |\n' "$what" "$kernels" "$(cat "$folder/median_2")" \
            "$(cat "$folder/median_3")" "$(cat "$folder/median_4")" "$(cat "$folder/used_$kernels")" "$bits"
    done
}
both() { row "general made" "$@"; }
general() { row general "$@"; }

# ---- the worlds -----------------------------------------------------------------------------------------------------

side=$(awk "BEGIN { print int(sqrt($trials)) }")
cat >"$folder/pendulums.yaml" <<END
version: 1
experiment: pendulums
model: rigid
simulation: {duration: 1.0, dt: 1ms, stabilisation: baumgarte}
search:
  method: grid
  over: {alpha: {linspace: [1, 20, $side]}, beta: {linspace: [1, 20, $side]}}
objective: {minimize: error_rms}
END
sed "s/stabilisation: rattle/stabilisation: baumgarte/; s/copies: 1000/copies: 10/; s/method: list/method: random/
    s/^  points.*/  trials: $((trials / 10))\n  over: {gravity: {range: [9, 10]}}/" \
    experiments/chain_scaling.yaml >"$folder/chains.yaml"
cat >"$folder/decades.yaml" <<END
version: 1
experiment: decades
seed: 5
model: hopper
search:
  method: random
  trials: $trials
  over:
    k_fp:   {range: [15, 1500], scale: log}
    b_fp:   {range: [1.5, 150], scale: log}
    k_att:  {range: [15, 1500], scale: log}
    b_att:  {range: [1.5, 150], scale: log}
    thrust: {range: [3.5, 350], scale: log}
    x_dot_des: {range: [0, 4]}
END
cat >"$folder/hoppers.yaml" <<END
version: 1
experiment: hoppers
seed: 5
model: hopper
search:
  method: random
  trials: $trials
  over:
    k_fp:   {range: [147.75, 152.25]}
    k_att:  {range: [147.75, 152.25]}
    b_att:  {range: [14.775, 15.225]}
    thrust: {range: [34.475, 35.525]}
END

# ---- times ----------------------------------------------------------------------------------------------------------

[ "$backend" = cuda ] && nvidia-smi --query-gpu=name,driver_version,clocks.max.sm --format=csv,noheader
"$program" version | head -n 1
echo "| work | kernels | in the kernels, s | to the last commit, s | command, s | made kernel | digests |"
echo "| -- | -- | -- | -- | -- | -- | -- |"
both "$trials pendulums, 1,000 steps" "$folder/pendulums.yaml"
general "$((trials / 10)) chains of ten, 200 steps" "$folder/chains.yaml"
general "chain_scaling.yaml" experiments/chain_scaling.yaml
both "smoke.yaml, cache warm" experiments/smoke.yaml
both "$trials hoppers, gains within 1.5 %" "$folder/hoppers.yaml"
both "sweep over two decades, store.rows: blocks" "$folder/decades.yaml" --set store.rows=blocks
both "the sweep, store.rows: table" "$folder/decades.yaml" --set store.rows=table
# lanes are gathered between launches, so with one launch per batch none are
general "the sweep, one launch per batch: no lists" "$folder/decades.yaml" --slice 1000000000

echo "hoppers, seconds of one launch: medians of ten and three, the bits of general and made kernels compared"
if [ "$backend" = cuda ]; then
    clock=$(nvidia-smi --query-gpu=clocks.max.sm --format=csv,noheader,nounits | head -n 1)
    "$build/bench_hopper_speed" "$folder/hoppers" cuda "$clock" musts || failed=1
fi

# ---- counters -------------------------------------------------------------------------------------------------------

stalls=$(for why in long_scoreboard short_scoreboard wait math_pipe_throttle no_instruction lg_throttle barrier \
    branch_resolve not_selected; do
    printf ',smsp__average_warps_issue_stalled_%s_per_issue_active.ratio' $why
done)
metrics=gpu__time_duration.sum,launch__registers_per_thread,launch__grid_size,sm__warps_active.avg.per_cycle_active
metrics=$metrics,smsp__inst_executed.sum,smsp__thread_inst_executed_per_inst_executed.ratio
metrics=$metrics,smsp__issue_active.avg.pct_of_peak_sustained_active
metrics=$metrics,sm__inst_executed_pipe_fp64.avg.pct_of_peak_sustained_active
metrics=$metrics,smsp__inst_executed_op_local_ld.sum,smsp__inst_executed_op_local_st.sum
metrics=$metrics,l1tex__t_sector_hit_rate.pct,lts__t_sector_hit_rate.pct
metrics=$metrics,dram__throughput.avg.pct_of_peak_sustained_elapsed$stalls

# counters WHAT KERNEL SPEC OPTION...: of the third launch of kernels with this name
counters()
{
    what=$1 kernel=$2
    shift 2
    echo "counters: $what"
    "${NCU:-ncu}" --clock-control none --target-processes application-only --kernel-name "regex:$kernel" \
        --launch-skip 2 --launch-count 1 --metrics "$metrics" "$program" run "$@" --name counted --backend "$backend" \
        --results "$folder/results" --progress none >"$folder/counted" 2>&1
    grep -E '^ +[a-z0-9]+__' "$folder/counted" | awk '{ print "   ", $1, $NF }' || true
    grep -qE '^ +[a-z0-9]+__' "$folder/counted" || tail -n 5 "$folder/counted"
    rm -rf "$folder/results/counted"
}

dormand="--set simulation.integrator=dormand_prince --set simulation.tolerance=1e-6"
if command -v "${NCU:-ncu}" >/dev/null; then
    # shellcheck disable=SC2086
    {
        counters "pendulums, made, 100 steps" '^made$' "$folder/pendulums.yaml" --kernels made --slice 100
        counters "chains of ten, general, 20 steps" '^plain_rigid_large' "$folder/chains.yaml" --kernels general \
            --slice 20
        for count in $((trials / 100)) "$trials"; do
            counters "$count hoppers, made, 5,000 steps" '^made$' "$folder/hoppers.yaml" --kernels made --slice 5000 \
                --set "search.trials=$count"
            counters "$count hoppers, dormand_prince, general" '^plain_hopper_dormand_prince$' "$folder/hoppers.yaml" \
                --kernels general --set "search.trials=$count" --slice 100 $dormand
        done
        counters "$trials hoppers, dormand_prince, made" '^made$' "$folder/hoppers.yaml" --kernels made --slice 100 \
            $dormand
        counters "sweep over two decades, made, 5,000 steps" '^made$' "$folder/decades.yaml" --kernels made --slice 5000
    }
else
    skip "counters" "${NCU:-ncu}" "the CUDA toolkit"
fi
echo "$(($(date +%s) - begin)) s"
exit $failed
