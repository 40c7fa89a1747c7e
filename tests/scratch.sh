#!/bin/sh
# What scripts of tests/cli begin with: . "$(dirname "$0")/../scratch.sh"
#
# They then stand in a folder of their own, which goes when they end as does a process that they name in `pid`, and have
# words for what they do: each check is a line for tests/run.sh. At their end they `exit $status`.
#
#   HOPSCOTCH                  the program (build/hopscotch)
#   HOPSCOTCH_FAULTS_PROGRAM   a build that can be killed at a call, or whose calls fail (io/system.h, sim/faults.c)
#   ATTACKER                   makes sockets, watches folders, exchanges names (tests/hostile/attacker.c)
#   SQL                        a program that changes and reads databases: "$SQL" FILE 'STATEMENTS' (tests/sql.c)
#   QUICK=1                    fewer of what takes long
#   suite, root, work          the script's name, the repository, the folder that it works in
#
# shellcheck disable=SC2034,SC2154
set -u
cd "$(dirname "$0")/../.." || exit 3
suite=$(basename "$0" .sh) root=$PWD
. "$root/tests/skip.sh"
: "${HOPSCOTCH:=$root/build/hopscotch}" "${HOPSCOTCH_FAULTS_PROGRAM:=$root/build/hopscotch_faults}"
: "${SQL:=$root/build/sql}" "${ATTACKER:=$root/build/attacker}"
case $HOPSCOTCH in /*) ;; *) HOPSCOTCH=$root/$HOPSCOTCH ;; esac
case $HOPSCOTCH_FAULTS_PROGRAM in /*) ;; *) HOPSCOTCH_FAULTS_PROGRAM=$root/$HOPSCOTCH_FAULTS_PROGRAM ;; esac
case $ATTACKER in /*) ;; *) ATTACKER=$root/$ATTACKER ;; esac
work=$(mktemp -d) || exit 3
pid=
trap '[ -z "$pid" ] || kill -9 "$pid" 2>/dev/null; rm -rf "$work"' EXIT
unset HOPSCOTCH_RESULTS HOPSCOTCH_FAULT NO_COLOR
cd "$work" || exit 3
status=0
export HOPSCOTCH HOPSCOTCH_FAULTS_PROGRAM SQL ATTACKER

# check STATUS NAME: after a failure also the end of what the last command said, in `out` and `err`
check()
{
    if [ "$1" -eq 0 ]; then
        echo "ok   $suite: $2"
    else
        echo "FAIL $suite: $2"
        tail -n 9 out err 2>/dev/null | cut -c 1-300
        status=1
    fi
}

# block_offset CAMPAIGN FILE COLUMN [option]...: where in a block's file a column begins, 0 the first; its numbers have
# 8 bytes each in blocks of less than 4,096 trials
block_offset()
{
    offset_of="SELECT hex(substr(columns, 48 * $3 + 17, 8)) FROM blocks WHERE name = '$(basename "$2")'" campaign_of=$1
    shift 3
    little=$("$HOPSCOTCH" query "$campaign_of" --sql "$offset_of" --format csv "$@" 2>/dev/null | tail -n 1)
    printf '%d\n' "0x$(echo "$little" | sed 's/../& /g' | awk '{ for (i = NF; i > 0; i--) printf "%s", $i }')"
}

# with_python WHAT [MODULE...]: is there python3 with these modules? Without them WHAT is skipped, and the reason said.
with_python()
{
    unchecked=$1
    shift
    python3 -c "import json, sqlite3$([ $# -eq 0 ] || printf ', %s' "$@")" 2>/dev/null && return
    skip "$unchecked" "python3${*:+ with $*}" "$(python_packages "$@")"
    return 1
}

# python_packages MODULE...: how to install python3 with these modules: those of Debian by apt-get, the others by pip
python_packages()
{
    apt=python3 pip=
    for module in "$@"; do
        case $module in
        numpy | h5py | pandas | jsonschema | yaml | setuptools | wheel | pip) apt="$apt python3-$module" ;;
        ensurepip) apt="$apt python3-venv" ;;
        cocoex) pip="$pip coco-experiment" ;;
        *) pip="$pip $module" ;;
        esac
    done
    echo "apt-get install $apt${pip:+; pip install$pip}"
}

# with_faults [WHAT]: is there a program whose calls fail? Without it WHAT is skipped, or all of the script.
with_faults() { ! lacks_program "$HOPSCOTCH_FAULTS_PROGRAM" "${1:-all of it}"; }

# The program with these arguments, which ends well; which is refused, with exit code $code (1).
run() { "$HOPSCOTCH" "$@" >out 2>err </dev/null; }
works() { run "$@"; check $? "$*"; }
refused() { run "$@"; [ $? -eq "${code:-1}" ]; check $? "refused: $*"; }

# TEXT [FILE]: what the last one said
has() { grep -qF -e "$1" "${2:-out}"; check $? "it says '$1'"; }
lacks() { ! grep -qF -e "$1" "${2:-out}"; check $? "it does not say '$1'"; }

# expect STATUS EXPECTED NAME
expect() { [ "$1" -eq "$2" ]; check $? "$3 (status $1)"; }

digest() { "$HOPSCOTCH" digest "$1" 2>/dev/null | cut -d ' ' -f 1; }
milliseconds() { echo $(($(date +%s%N) / 1000000)); }

# until_true COMMAND...: repeats it until it succeeds, for at most five minutes. Scripts wait for a state (a lock, a
# row, an event), never for a time, because a machine may be ten times as fast or as slow as the one they were written
# on.
until_true()
{
    waited=0
    until "$@"; do
        [ "$waited" -lt 6000 ] || return 1
        waited=$((waited + 1))
        sleep 0.05
    done
}

committed() { "$HOPSCOTCH" status "$1" 2>/dev/null | grep -q '^rate'; } # CAMPAIGN: a batch of the run that goes on

# pauses RULE COMMAND...: starts a process of the program with faults, $pid, that stops before the call of RULE.
# goes_on: continues it; its status is then in `ended`, its output in paused.out and paused.err.
pauses()
{
    HOPSCOTCH_FAULT=$1:STOP
    export HOPSCOTCH_FAULT
    shift
    "$HOPSCOTCH_FAULTS_PROGRAM" "$@" >paused.out 2>paused.err &
    pid=$!
    unset HOPSCOTCH_FAULT
    until_true paused
}
paused() { case $(cut -d ' ' -f 3 "/proc/$pid/stat" 2>/dev/null) in [TZ] | '') ;; *) false ;; esac; }
goes_on()
{
    kill -CONT "$pid"
    wait "$pid"
    ended=$? pid=
}

# has_used MS: $pid has used this much processor time. processor_time: in `used`, the ms of all
# commands so far.
has_used()
{
    [ $(($(cut -d ' ' -f 14 "/proc/$pid/stat" 2>/dev/null || echo 999999) * 1000 / $(getconf CLK_TCK))) -ge "$1" ]
}
processor_time()
{
    times >"$work/times"
    used=$(sed -n 2p "$work/times" | awk -F '[ms ]' '{ printf "%d", 1000 * (60 * $1 + $2) }')
}

# leaves SIGNAL LOCK: what runs as $pid, once its lock names it, is told to leave; its status is then in `ended`, the ms
# that it took in `took`
leaves()
{
    until_true grep -qs "pid $pid on" "$2" # it has been told what signals mean by then
    sleep "${later:-0.3}"
    begin=$(milliseconds)
    kill -"$1" "$pid"
    wait "$pid"
    ended=$? took=$(($(milliseconds) - begin))
    pid=
}

# What is told to leave does so within this many ms. Without other load it takes a fraction of a second; what it leaves
# would take minutes.
patience=10000

# soon COMMAND...: it succeeds in one of three attempts. A busy machine may lack a second once; a program that takes its
# time does so always.
soon() { "$@" || "$@" || "$@"; }

# random LOW HIGH: in `value`, an integer of a linear congruential sequence (Numerical Recipes' constants) from $SEED
state=${SEED:-1}
random()
{
    state=$(((state * 1664525 + 1013904223) % 4294967296))
    value=$(($1 + (state / 65536) % ($2 - $1 + 1)))
}

# gait.yaml, three short trials of the hopper with their trajectories, and points.csv, a point for method list
make_gait()
{
    cat >gait.yaml <<'END_OF_SPEC'
version: 1
experiment: gait
model: hopper
simulation: {duration: 0.02, dt: 1.0e-3, settle: 0}
search: {method: grid, over: {k_fp: [100, 150, 200]}}
objective: {minimize: attitude_rms}
record: {trajectories: {select: {every: 1}, sample: 0.01}}
END_OF_SPEC
    printf 'k_fp\n100\n' >points.csv
}
