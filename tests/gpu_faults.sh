#!/bin/sh
# Faults of a GPU: each CUDA call of a small campaign fails once, with each kind of error: no memory, a failed launch, a
# device that is in use or gone. The run goes on, or stops with its commits intact and is resumed; in both cases it ends
# with the digest of the CPU. The same with a kernel made for the campaign, whose calls of the driver count too, and for
# a search whose gradients a GPU computes: the CPU then goes on with them. Then a launch of gradients (stuck) and a
# slice (long) that do not end, and Ctrl-C. Last, in place of every few calls a kernel crashes: crashes of several
# processes at once have cost a machine its GPU.
#
#   tests/gpu_faults.sh [BUILD [PART...]]    BUILD: the folder of `make` with CUDA (build)    JOBS: runs at a time (8)
#                                            PART: hopper, made, gradients, stuck, long, crash (all of them)
set -u
cd "$(dirname "$0")/.." || exit 3
build=${1:-build}
[ $# -eq 0 ] || shift
parts=" ${*:-hopper made gradients stuck long crash} "
program=$build/hopscotch_faults

hopper() # NAME OPTION...
{
    name=$1
    shift
    "$program" run experiments/smoke.yaml --name "$name" --results "$folder/results" --progress none --batch 32 \
        --set simulation.duration=0.02 --set simulation.settle=0.01 --set 'search.over.k_xdot=[0.02]' \
        --set 'search.over.thrust=[30]' --set 'search.over.k_fp={linspace: [50, 250, 5]}' \
        --set 'record.trajectories.select={best: 3, every: 10}' --slice 100 "$@" >"$folder/$name.log" 2>&1
}
gradients() # NAME OPTION...
{
    name=$1
    shift
    "$program" run "$folder/many.yaml" --name "$name" --results "$folder/results" --progress none --threads 1 "$@" \
        >"$folder/$name.log" 2>&1
}
made() # NAME OPTION...: the hopper by a kernel made for it, from a copy of the cache that one run has filled
{
    cp -r "$folder/cache" "$folder/cache_$1"
    XDG_CACHE_HOME="$folder/cache_$1" hopper "$@" --kernels made
    ended=$?
    rm -rf "$folder/cache_$name"
    return $ended
}
run() { "${FAULT_OF:-hopper}" "$@"; }

digest() { "$program" digest "$1" --results "$folder/results" 2>/dev/null | cut -d' ' -f1; }

# one CALL CODE: prints the outcome: continued, stopped (and resumed), harmless (the fault came too late) or bad
one()
{
    name=fault_$1_$2 log=$folder/results/fault_$1_$2/log.jsonl
    HOPSCOTCH_FAULT=cuda:$1:$2 run "$name" --backend cuda
    status=$? outcome=continued
    [ -e "$log" ] && ! grep -q '"event":"\(device\|error\)"\|stopped computing\|not used' "$log" && outcome=harmless
    if [ $status -eq 3 ] && grep -q '^hopscotch: ' "$folder/$name.log"; then
        outcome=stopped
        cp "$folder/$name.log" "$folder/$name.stopped"
        run "$name" --backend cpu || outcome="bad, not resumed"
    elif [ $status -ne 0 ]; then
        outcome="bad, status $status"
    fi
    [ "$(digest "$name")" = "$expected" ] || outcome="bad, another digest"
    case $outcome in bad*) tail -n 3 "$folder/$name.log" ;; *) rm -rf "${folder:?}/results/$name" ;; esac
    echo "$outcome: call $1, error $2"
}

if [ -n "${FAULT_FOLDER:-}" ]; then # started by xargs below
    folder=$FAULT_FOLDER expected=$FAULT_DIGEST
    one "$1" "$2"
    exit 0
fi

folder=$(mktemp -d) || exit 3
trap 'rm -rf "$folder"' EXIT
"$program" version | grep -q 'CUDA on this host' && on_host=yes || on_host=no
[ $on_host = yes ] || nvidia-smi -L || { echo "FAIL there is no NVIDIA GPU on this machine" && exit 1; }
failed=0
cp -r experiments/robots "$folder"
cat >"$folder/many.yaml" <<'YAML'
version: 1
experiment: many
model: articulated
simulation:
  {robot: robots/biped.xml, duration: 0.01, dt: 0.002, control: {mode: gait}, groups: {hip: [left_hip, right_hip]}}
replicates: {count: 3, perturb: {base_vx: {uniform: [-0.2, 0.2]}}}
search:
  method: adam
  adam: {searches: 90, gradient: adjoint, stop: {iterations: 3}}
  over: {hip_amplitude: {range: [0, 0.5]}, gait_frequency: {range: [1, 3]}}
objective: {minimize: energy}
YAML
begin() # WHAT: the campaign that fails from now on
{
    export FAULT_OF="$1"
    run whole --backend cpu && expected=$(digest whole) && [ ${#expected} -eq 64 ] ||
        { cat "$folder/whole.log" && exit 1; }
    rm -rf "$folder/results/whole"
    export FAULT_FOLDER="$folder" FAULT_DIGEST="$expected"
}

# sweep CODE STEP: a chunk of calls after the other, until a whole chunk makes no difference
sweep()
{
    first=1
    : >"$folder/all"
    while [ $first -lt 2000 ]; do
        seq $first "$2" $((first + 31)) |
            xargs -P "${JOBS:-8}" -I N sh tests/gpu_faults.sh "$build" N "$1" >"$folder/chunk"
        cat "$folder/chunk" >>"$folder/all"
        grep -qv '^harmless' "$folder/chunk" || break
        first=$((first + (31 / $2 + 1) * $2))
    done
    summary="$FAULT_OF, error $1: $(grep -c '^continued' "$folder/all") runs continued"
    summary="$summary, $(grep -c '^stopped' "$folder/all") stopped and were resumed"
    if grep '^bad' "$folder/all" || ! grep -q '^continued\|^stopped' "$folder/all"; then
        cat "$folder/all"
        echo "FAIL gpu_faults: $summary" && failed=1
    else
        echo "ok gpu_faults: $summary"
    fi
}

wanted() { case $parts in *" $1 "*) ;; *) return 1 ;; esac }

if wanted hopper; then
    begin hopper
    sweep 2 1       # cudaErrorMemoryAllocation
    sweep 719 1     # cudaErrorLaunchFailure
    sweep 46 2      # cudaErrorDevicesUnavailable
    sweep 100 5     # cudaErrorNoDevice
fi
begin_made()
{
    mkdir -p "$folder/cache"
    XDG_CACHE_HOME="$folder/cache" hopper first --backend cuda --kernels made
    begin made
    run cached --backend cuda
    grep '"event":"kernel".*from the cache.*registers' "$folder/results/cached/log.jsonl" ||
        { echo "FAIL gpu_faults: there is no made kernel: $(cat "$folder/first.log")" && failed=1; }
    rm -rf "$folder/results/first" "$folder/results/cached"
}
if wanted made && [ $on_host = no ]; then # on a host there is no driver that takes a kernel
    begin_made
    sweep 2 1
    sweep 719 1
    sweep 100 5
fi
begin gradients
if wanted gradients; then
    sweep 2 1
    sweep 719 2
fi
if wanted stuck; then
    # cudaErrorNotReady from a call on, until that is the wait for a launch of the last gradients
    call=60
    until HOPSCOTCH_FAULT=cuda:$call+:600 run stuck --backend cuda --watchdog 1 &&
        grep -q 'stopped computing gradients: a launch of gradients did not end within 1 s' "$folder/stuck.log" ||
        [ $call -ge 300 ]; do
        rm -rf "$folder/results/stuck"
        call=$((call + 1))
    done
    [ $call -lt 300 ] && [ "$(digest stuck)" = "$expected" ] &&
        echo "ok gpu_faults: a launch of gradients that does not end is left, and the CPU goes on (call $call)" ||
        { cat "$folder/stuck.log" && echo "FAIL gpu_faults: a launch of gradients that does not end" && failed=1; }
fi

# What takes long: not on a host, where a slice ends before its launch returns.
sed 's/duration: 0.01, dt: 0.002/duration: 10, dt: 0.001/; s/count: 3/count: 4/; s/searches: 90/searches: 1024/
    s/iterations: 3/iterations: 1/' "$folder/many.yaml" >"$folder/long.yaml"
long() # NAME OPTION...: 10,000 steps of 4,096 bipeds, forth and back
{
    name=$1
    shift
    "$program" run "$folder/long.yaml" --name "$name" --results "$folder/results" --progress none "$@" \
        >"$folder/$name.log" 2>&1
}
slice_without_end()
{
    run slow --backend cuda --set simulation.duration=1000 --set simulation.dt=1.0e-6 --slice 1000000000 --watchdog 2
    status=$?
    [ $status -eq 3 ] && grep -q -- '--slice' "$folder/slow.log" &&
        grep -q ' resume slow ' "$folder/slow.log" &&
        echo "ok gpu_faults: a slice that does not end is left after 2 s" ||
        { cat "$folder/slow.log" && echo "FAIL gpu_faults: a slice that does not end: status $status" && failed=1; }
}
patience()
{
    long patient --backend cuda && long hasty --backend cuda --slice 500 --watchdog 1 &&
        grep -q 'gradients.*of 1 rounds by the GPU' "$folder/results/hasty/log.jsonl" &&
        [ -n "$(digest patient)" ] && [ "$(digest patient)" = "$(digest hasty)" ] &&
        echo "ok gpu_faults: the watchdog times launches of gradients, which take longer than 1 s together" ||
        { cat "$folder/hasty.log" && echo "FAIL gpu_faults: gradients that take longer than 1 s" && failed=1; }
}
# while gradients are computed: the launches that are queued end, and the round is computed again
interrupt()
{
    start=$(date +%s%N)
    long forward --backend cuda --set search.adam.gradient=differences --set search.adam.stop.trials=1
    forward=$((($(date +%s%N) - start) / 100000000))
    "$program" run "$folder/long.yaml" --name cut --results "$folder/results" --progress none --backend cuda \
        >"$folder/cut.log" 2>&1 &
    pid=$!
    sleep $((forward / 10)).$((forward % 10))
    start=$(date +%s%N)
    kill -INT $pid
    wait $pid
    status=$? took=$((($(date +%s%N) - start) / 1000000))
    [ $status -eq 130 ] && [ $took -lt 1500 ] && long cut --backend cuda && [ "$(digest cut)" = "$(digest patient)" ] &&
        echo "ok gpu_faults: Ctrl-C ends gradients after $took ms, and the same digest follows" ||
        { cat "$folder/cut.log" && echo "FAIL gpu_faults: Ctrl-C: status $status after $took ms" && failed=1; }
}
if wanted long && [ $on_host = no ]; then
    begin hopper
    slice_without_end
    patience
    interrupt
fi
if wanted crash; then
    begin hopper
    sweep 99999 7
    [ $on_host = yes ] || { begin_made && sweep 99999 3; }
    begin gradients
    sweep 99999 3
fi
exit $failed
