#!/bin/sh
# What a kernel made for the campaign gains in each shipped experiment on a GPU: seconds in the kernels by the general
# kernel and by the made one, in the order of their ratio, and whether both give the same digest. Experiments that take
# long are shortened. Takes about two minutes on an H200.
#
#   tests/gpu_gain.sh [BUILD [BACKEND [EXPERIMENT...]]]
#
# BUILD: the folder of `make` with CUDA, or of `make portable` (build); BACKEND: cuda, or cpu to try the script itself;
# EXPERIMENT: smoke for experiments/smoke.yaml (all that are no environments).
set -u
build=${1:-build} backend=${2:-cuda}
[ $# -lt 2 ] || shift 2
[ $# -gt 0 ] && [ -e "experiments/$1.yaml" ] || set --
program=$(realpath "$build/hopscotch")
folder=$(mktemp -d) || exit 3
trap 'rm -rf "$folder"' EXIT
export XDG_CACHE_HOME="$folder/cache"
begin=$(date +%s)

# shorter EXPERIMENT: what is set so that one run takes seconds
shorter()
{
    case $1 in
    quadruped_trot | biped_run | hopper_as_robot) trials 48 ;;
    gaits_by_speed) trials 720 ;;
    raibert_cmaes) trials 10000 ;;
    pareto_speed_energy) trials 5000 ;;
    speed_tracking_cmaes) trials 2000 ;;
    raibert_lbfgs) trials 400 ;;
    robot_gait) trials 144 ;;
    identify_biped_cmaes) trials 100 ;;
    biped_codesign_cmaes) trials 60 ;;
    biped_codesign_adam | identify_biped_adam | robot_stride) trials 20 ;;
    bbob_cmaes) trials 20000 ;;
    # few large worlds are what a CPU is for
    andrews_squeezer) echo --set simulation.duration=0.001 ;;
    chain_scaling) echo --set simulation.duration=0.02 ;;
    four_bar) echo --set simulation.duration=0.1 ;;
    dzhanibekov) echo --set simulation.duration=1 ;;
    esac
}
trials() { echo --set "limits.trials=$1"; }

# run EXPERIMENT KERNELS NAME
run()
{
    # shellcheck disable=SC2046
    "$program" run "experiments/$1.yaml" --name "$3" --backend "$backend" --kernels "$2" --results "$folder/results" \
        --progress none $(shorter "$1") >"$folder/$3.log" 2>&1 || tail -n 3 "$folder/$3.log"
}
digest() { "$program" digest "$1" --results "$folder/results" | grep -o -m 1 '[0-9a-f]\{64\}'; }
number() # NAME KEY: of its status
{
    "$program" status "$1" --results "$folder/results" --json | grep -o "\"$2\": *[0-9.e-]*" | head -n 1 |
        grep -o '[0-9.e-]*$'
}
event() { grep -h '"event":"kernel"' "$folder/results/$1/log.jsonl" | tail -n 1; }

if [ -n "${GAIN_OF:-}" ]; then # started by xargs below: compiles, so that the measured runs find the kernel
    folder=$GAIN_FOLDER
    trap - EXIT
    export XDG_CACHE_HOME="$folder/cache"
    run "$1" made "first_$1"
    exit 0
fi

experiments=${*:-$(grep -L '^environment:' experiments/*.yaml | sed 's/.*\///; s/\.yaml$//')}
echo "$experiments" | tr ' ' '\n' |
    GAIN_OF=1 GAIN_FOLDER=$folder xargs -P "${JOBS:-8}" -I N sh "$0" "$build" "$backend" N
echo "compiled in $(($(date +%s) - begin)) s, ${JOBS:-8} at a time"

failed=0
for experiment in $experiments; do
    run "$experiment" general "general_$experiment"
    run "$experiment" made "made_$experiment"
    general=$(number "general_$experiment" kernel_seconds) made=$(number "made_$experiment" kernel_seconds)
    what=$(event "made_$experiment" | grep -o '[0-9]* registers, [0-9]* bytes' | sed 's/ registers, / /; s/ bytes//')
    compiled=$(event "first_$experiment" | grep -o 'compiled in [0-9.]*' | grep -o '[0-9.]*$')
    bits=equal
    [ -n "$(digest "made_$experiment")" ] &&
        [ "$(digest "made_$experiment")" = "$(digest "general_$experiment")" ] || bits=DIFFER
    event "first_$experiment" | grep -q 'for this campaign failed\|not used' && bits=REFUSED
    [ $bits = equal ] || failed=$((failed + 1))
    [ -n "$what" ] || made=
    echo "$experiment $(number "general_$experiment" trials) ${general:--} ${made:--} ${what:-- -}" \
        "${compiled:--} $bits"
done >"$folder/rows"

nvidia-smi -L 2>/dev/null || echo "$backend"
echo "| experiment | trials | general, s | made, s | gain | registers | local memory, B | compiled in, s | digests |"
echo "| -- | -- | -- | -- | -- | -- | -- | -- | -- |"
awk '{ gain = $4 == "-" ? "none is made" : sprintf("%.2f", $3 / ($4 > 0 ? $4 : 1e-9))
       if ($4 != "-") $4 = sprintf("%.3g", $4)
       print ($4 == "-" ? 0 : gain), "| " $1, "|", $2, "|", sprintf("%.3g", $3), "|", $4, "|", gain, "|", $5, "|",
             $6, "|", $7, "|", $8, "|" }
    ' "$folder/rows" | sort -s -rg | sed 's/^[^|]*//'
grep -h '"event":"kernel".*\(for this campaign failed\|not used\)' "$folder"/results/*/log.jsonl
echo "$(grep -c . "$folder/rows") experiments in $(($(date +%s) - begin)) s;" \
    "$failed with other bits, or without the kernel that was to be made"
[ $failed -eq 0 ]
