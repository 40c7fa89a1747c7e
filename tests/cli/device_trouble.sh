#!/bin/sh
# Faults of devices, at the command line: batches that do not fit are halved; a device that fails is reopened or
# replaced; one that hangs is abandoned. No result is wrong or stored twice, and a stopped campaign resumes to the bits
# of one without faults.
. "$(dirname "$0")/../scratch.sh"
with_faults || exit 0

# 55 trials in 4 batches of two slices, each with arrays, and a shard of the best at the end
run() # NAME FAULT OPTION...
{
    name=$1 fault=$2
    shift 2
    HOPSCOTCH_FAULT=$fault "$HOPSCOTCH_FAULTS_PROGRAM" run "$root"/experiments/smoke.yaml --name "$name" \
        --progress none --batch "${batch:-16}" --threads 1 --slice 100 \
        --set simulation.duration=0.02 --set simulation.settle=0.01 --set 'search.over.k_xdot=[0.02]' \
        --set 'search.over.thrust=[30]' --set 'search.over.k_fp={linspace: [50, 250, 5]}' \
        --set 'record.trajectories.select={best: 3, every: 10}' "$@" >out 2>err
}

said() # WORDS...: standard error contains each
{
    for words in "$@"; do grep -q -- "$words" err || { echo "   missing on standard error: $words" && return 1; }; done
}

events() # NAME PATTERN
{
    grep -c "\"event\":\"device\".*$2" "results/$1/log.jsonl"
}

same() { [ "$(digest "$1")" = "$expected" ]; }

stopped() # NAME STATUS: the last run ended so, its state says so, and it resumes on the CPU to the same bits
{
    [ "$2" -eq 3 ] && [ "$(digest "$1")" != "$expected" ] &&
        said "on any device" " resume $1" &&
        run "$1" "" --backend cpu && same "$1"
}

run whole "" --backend cpu
check $? "a run without trouble"
expected=$(digest whole)

run smaller backend:prepare:1:MEMORY,backend:prepare:2:MEMORY --backend faulty && same smaller &&
    said "16 replicates: they have 4 now" && [ "$(events smaller "4 now")" -eq 1 ]
check $? "out of memory: batches of a quarter, the same bits, said once and kept"

said_plan=$(HOPSCOTCH_FAULT=backend:prepare:1:MEMORY,backend:prepare:2:MEMORY "$HOPSCOTCH_FAULTS_PROGRAM" plan \
    "$root"/experiments/smoke.yaml --batch 16 --threads 1 --backend faulty 2>err)
case $said_plan in *"of up to 4 replicates"*"16 replicates: they have 4 now"*) true ;; *) false ;; esac
check $? "out of memory: the plan has the batches of the run"
HOPSCOTCH_FAULT=backend:prepare:1+:MEMORY "$HOPSCOTCH_FAULTS_PROGRAM" plan "$root"/experiments/smoke.yaml --threads 1 \
    --backend faulty >out 2>err
[ $? -ne 0 ] && said "too little memory for a single trial"
check $? "no memory for a single trial: the plan says so"

run later backend:advance:5:MEMORY --backend faulty && same later && said "out of memory" "batches of 8 lanes"
check $? "out of memory later: smaller batches, the same bits"

run none backend:prepare:1+:MEMORY --backend faulty
stopped none $?
check $? "no memory for a single trial: status 3, resumes"

run launch backend:wait:6:LAUNCH --backend faulty && same launch && said "launch failure" "continues on faulty device 0"
check $? "a launch that fails: a fresh context, the same bits"

run lost backend:wait:6:LOST --backend faulty && same lost && said "device is lost" "continues on faulty device 1"
check $? "a lost device: the other one, the same bits"

run pinned backend:wait:6:LOST --backend faulty --device 0
ended=$?
said "faulty device 0 failed: wait: the device is lost" && stopped pinned $ended
check $? "a lost device, and --device forbids the other: status 3, resumes"

batch=128 run all "" --backend faulty --device all && same all
check $? "--device all: several share every batch, the same bits"

batch=128 run several backend:wait2:2+:LOST --backend faulty --device 0,2 && same several &&
    said "device is lost" "continues on faulty device 0 with"
check $? "one of several devices is lost: the other goes on, the same bits"

run left_out backend:open2:1:LOST --backend faulty --device 0,1,2 && same left_out && said "device 2 is left out"
check $? "one of several devices can't be opened: it is left out, with a message"

wrong=0
for devices in 0,x 64 1, ,1 '' all,1 0x1; do
    run wrong "" --backend faulty --device "$devices"
    [ $? -eq 2 ] || wrong=1
done
run wrong "" --backend faulty --device 0,9
[ $? -eq 1 ] && said "no faulty device 9" && [ $wrong -eq 0 ]
check $? "impossible devices are refused"

run fallback backend:wait:6+:LOST --backend faulty --fallback cpu && same fallback && said "device is lost"
check $? "no device left, and --fallback cpu: the same bits"

run hang backend:advance:6:HANG --backend faulty --watchdog 1
ended=$?
said "faulty device 0 did not finish a slice (--slice) of a batch within 1 s" && stopped hang $ended
check $? "a slice that does not end: status 3, resumes"

# Ctrl-C while a slice hangs: the program does not wait for it. (The thread sanitizer would sleep a second at the end.)
hangs()
{
    rm -rf results/left err # err: an earlier run's words would end the wait below before this run has begun
    HOPSCOTCH_FAULT=backend:advance:6:HANG TSAN_OPTIONS="${TSAN_OPTIONS:-} atexit_sleep_ms=0" \
        "$HOPSCOTCH_FAULTS_PROGRAM" run "$root"/experiments/smoke.yaml --name left --progress none --backend faulty \
        --batch 16 --watchdog 0 >out 2>err &
    pid=$! later=0
    until_true grep -qs 'a slice hangs' err
}
interrupted()
{
    hangs
    leaves INT results/left/campaign.lock
    [ "$ended" -eq 130 ] && [ "$took" -lt "$patience" ] && said " resume left" &&
        said "interrupted by the user; the computation in flight on faulty device 0 did not end"
}
soon interrupted
check $? "Ctrl-C while a slice hangs: status $ended after $took ms"
# A second one, before the program leaves by itself (after a second). On a busy machine it may have left before that, so
# that they follow each other closely until it ends.
second()
{
    hangs
    while kill -INT $pid 2>/dev/null; do sleep 0.05; done
    wait $pid
    [ $? -eq 130 ] && ! grep -q " resume left" err
}
soon second
check $? "a second Ctrl-C ends the program at once"
pid=

# A slice that takes too long on the CPU: its threads still run when the process ends.
"$HOPSCOTCH" run "$root"/experiments/smoke.yaml --name slow --progress none --backend cpu \
    --threads 1 --batch 4096 --slice 1000000 --set simulation.duration=1000 --watchdog 1 >out 2>err
[ $? -eq 3 ] && said "--slice" " resume slow"
check $? "a slice that takes too long on the CPU: status 3"
exit $status
