#!/bin/sh
# No memory, threads or processes: every allocation of the program's own code fails once in each of some commands. The
# commands end with exit code 3 and a message, or work without it; and each message is seen. tests/crash/faults.py tests
# that stored data survives.
#
#   QUICK=1                    messages alone, without the commands that give no new ones
. "$(dirname "$0")/../scratch.sh"
program=$HOPSCOTCH_FAULTS_PROGRAM
leave() { skip "all of it" "$@" && exit 0; }
${CC:-cc} -std=c17 -D_GNU_SOURCE -O1 -shared -fPIC "$root/tests/crash/preload.c" -o preload.so 2>err ||
    leave "a compiler of shared libraries" "apt-get install gcc libc6-dev"
LD_PRELOAD=$work/preload.so "$program" help >out 2>err ||
    leave "a program that libraries can be preloaded into" "make"
ldd "$program" | grep -q 'lib[at]san\|libubsan' && leave "a build without sanitizers" "make test"
ldd "$program" | grep -q libsqlite3 || leave "a program with a shared SQLite" "apt-get install libsqlite3-dev; make"

cat >gait.yaml <<'END_OF_SPEC'
version: 1
experiment: gait
model: hopper
simulation: {duration: 0.02, dt: 1.0e-3, settle: 0}
search: {method: grid, over: {k_fp: [100, 150]}}
objective: {minimize: attitude_rms}
record: {trajectories: {select: {every: 1}, sample: 0.01}}
END_OF_SPEC
printf 'k_fp\n100\n' >points.csv
"$program" run gait.yaml --progress none --backend cpu >out 2>err
check $? "a campaign"
cp -r results whole

# fails FAULT COMMAND...: output in `out`, exit status in $code; false if the command never made that call
fails()
{
    fault=$1
    shift
    rm -f fired
    LD_PRELOAD=$work/preload.so CRASH_ROOT=$work CRASH_FIRED=$work/fired CRASH_FAULT=$fault \
        "$program" "$@" >out 2>&1
    code=$?
    [ -e fired ]
}

again() { rm -rf results && cp -r whole results; }

# each OPERATION REASON COMMAND...: fails each call of the operation in turn; collects all messages in `said`
each()
{
    operation=$1 reason=$2 call=1 wrong=
    shift 2
    while fails "$operation:$call:$reason" "$@"; do
        case $code in
        0) ;;
        3) grep "^hopscotch: .*\(memory\|thread\|process\)" out >>said || wrong="$wrong $call" ;;
        *) wrong="$wrong $call" ;;
        esac
        call=$((call + 1))
        [ "$1" != run ] || again
    done
    [ "$1" != run ] || again
    [ "$call" -gt 1 ] && [ -z "$wrong" ]
    check $? "$1 when each $operation of $((call - 1)) fails: ${wrong:-it is said or done without}"
}

# says TEXT: one of the collected messages contains it
says()
{
    grep -qF -e "$1" said
    check $? "$1"
}

each program ENOMEM best gait
says "not enough memory: the command needs 1048576 bytes of address space; is it limited (ulimit -v)?"
says "campaign.db: cannot open it: there is not enough memory"
says "not enough memory for a table"
each program ENOMEM query gait --order k_fp
says "not enough memory to order all trials: --limit needs less"
printf 'version: 1\nexperiment: grid\nmodel: bbob\nstore: {rows: blocks}\nsearch: {method: grid, over: {%s, %s}}\n' \
    'x1: {linspace: [-5, 5, 80]}' 'x2: {linspace: [-5, 5, 80]}' >grid.yaml
"$program" run grid.yaml --batch 6400 --progress none >out 2>err
check $? "a campaign with deflated columns"
each program ENOMEM query grid --order x2 --limit 3
says "not enough memory for a column of "
each program ENOMEM query gait --group-by k_fp
says "not enough memory to group trials; --where chooses fewer"
each program ENOMEM digest gait
says "not enough memory to read shard results/gait/shards/000000.h5"
says "not enough memory for a lane of "
each fork EAGAIN digest gait
says "could not be read in a separate process: "
each program ENOMEM replay gait/0 --backend cpu --threads 1 -o trace.h5
says "not enough memory for the CPU backend"
says "not enough memory: a shard needs "
each program ENOMEM replay gait/0 --backend faulty --device 0,1 --threads 1
says "not enough memory for several devices"
printf '%s\n' 'version: 1' 'experiment: cases' 'model: bbob' \
    'cases: [{simulation.instance: 1}, {simulation.instance: 2}]' >two.yaml
"$program" run two.yaml --progress none >out 2>err
check $? "a campaign with cases"
each program ENOMEM replay cases/0 --backend cpu --threads 1
says "not enough memory for the backends of cases"
each program ENOMEM replay gait/0 --backend faulty --threads 1
says "not enough memory for the faulty backend"
each thread EAGAIN replay gait/0 --backend faulty --device 0,1 --threads 1
says "cannot start a thread for device 1"
says "cannot start a thread for the CPU backend"
each thread EAGAIN run gait.yaml --name other --backend cpu --threads 1 --progress none
says "cannot start the writer thread: "
cp "$root"/experiments/command/spring.* .
few="--set search.over.stiffness=[20] --set search.over.damping=[1] --set simulation.workers=1 --progress none"
each program ENOMEM run spring.yaml $few --allow-programs
says "not enough memory for the workers"
each thread EAGAIN run spring.yaml $few --allow-programs
says "cannot start a thread for the workers"
each fork EAGAIN run spring.yaml $few --allow-programs
says "cannot start a process: "
each stream ENOMEM run spring.yaml $few --allow-programs
says "not enough memory for a program's hello"
each stream ENOMEM replay gait/0 --backend cpu --svg motion.svg
says "resolved.yaml: not enough memory to resolve it"
says "not enough memory for motion.svg"
says "not enough memory for the picture"
each stream ENOMEM replay gait/0 --backend cpu --html motion.html
says "not enough memory for the colours of a page"
says "not enough memory for the animation"
each stream ENOMEM plot gait --kind scatter -o scatter.svg
says "not enough memory for the plot"
each stream ENOMEM run gait.yaml --name other --backend cpu --progress none
says "not enough memory for a line of log.jsonl"
each stream ENOMEM verify gait --seeds 2 --grid 0 --backend cpu --progress none
says "not enough memory for the spec of trial_"
[ -n "${QUICK:-}" ] || each program ENOMEM report gait --backend cpu
awk 'BEGIN {
    print "version: 1\nexperiment: many\nmodel: rigid\nsimulation:\n  duration: 0.02\n  executor: levels"
    print "  stabilisation: baumgarte"
    print "  world:\n    bodies:"
    for (i = 0; i < 16; i++) printf "      - {name: b%d, position: [0, %d, 0]}\n", i, i
    print "search: {method: grid, over: {alpha: [5]}}"
}' >many.yaml
each thread EAGAIN run many.yaml --name many --backend cpu --threads 2 --progress none --profile-graph many.json
says "the system started 1 of 2 threads for a graph: "

(ulimit -s 512 && fails thread:1:EAGAIN best gait
    [ "$code" -eq 3 ]) && grep -q "not enough memory for the command's stack: " out
check $? "a command with a small stack, without a thread to run on"
fails yaml:3:ENOMEM check gait.yaml && [ "$code" -eq 3 ] &&
    grep -q "gait.yaml: there is not enough memory to read it" out
check $? "a spec that does not fit into memory"
fails fork:1:KILL digest gait
[ "$code" -eq 3 ] && grep -q "the process that reads shard results/gait/shards/000000.h5 was killed: is there" out
check $? "the process that reads a shard was killed"
fails alarm:1:EINTR digest gait && [ "$code" -eq 3 ] &&
    grep -q "shard results/gait/shards/000000.h5 is damaged: HDF5 does not finish reading it" out
check $? "a shard on which HDF5 works for too long"

# ---- other failures of the system -----------------------------------------------------------------------------------
fails space:1:EIO plan "$work/gait.yaml" --results "$work/results" --backend cpu
[ "$code" -eq 3 ] && grep -qF "cannot ask for the free space at $work/results" out
check $? "a disk that does not report its free space"
rm -f results/index.db && mkdir results/index.db
fails none:1:EIO doctor gait --repair --results "$work/results" --backend cpu
[ "$code" -eq 3 ] && grep -q "gait: 1 finding could not be repaired; see the list above" out
check $? "damage that the doctor could not repair"
CRASH_NETWORK=1 fails none:1:EIO run gait.yaml --name far --results "$work/results" --progress none
[ "$code" -eq 1 ] && grep -qF "far lies on nfs, where file locks can't be trusted: choose a local folder with" out
check $? "results on a network file system"
exit "$status"
