#!/bin/sh
# The commands as a user sees them: exit codes, messages, formats, interruption, reading while a run writes.
. "$(dirname "$0")/../scratch.sh"
program=$HOPSCOTCH

good() { check 0 "$1"; }
bad()
{
    echo "FAIL $suite: $1"
    sed 's/^/     | /' out err | head -30
    status=1
}
# expect NAME CODE ARGUMENTS...: runs the program; its output stays in out and err.
expect()
{
    name=$1 code=$2
    shift 2
    "$program" "$@" >out 2>err
    got=$?
    if [ "$got" -eq "$code" ]; then good "$name"; else bad "$name: exit code $got, expected $code"; fi
}
# has NAME FILE TEXT: the file contains the text.
has() { if grep -qF -e "$3" "$2"; then good "$1"; else bad "$1: no '$3'"; fi; }
lacks() { if grep -qF -e "$3" "$2"; then bad "$1: there is '$3'"; else good "$1"; fi; }
equal() { if [ "$2" = "$3" ]; then good "$1"; else bad "$1: expected '$2', got '$3'"; fi; }

cat >gains.yaml <<'END'
version: 1
experiment: gains
seed: 7
model: hopper
simulation: {duration: 0.6, dt: 1.0e-3, settle: 0.1}
search:
  method: grid
  over:
    k_fp: {linspace: [50, 300, 6]}
    dphi_body: [0, 1, 20]
    thrust: {arange: [25, 40, 5]}
    b_fp: {derive: "0.1 * k_fp"}
replicates: {count: 2, common: true, perturb: {phi_leg: {normal: [0.01, 0.02]}}, store: true}
record:
  trajectories: {select: {best: 2, every: 50, failures: 1}, sample: 0.01}
END

# ---- help and usage -------------------------------------------------------------------------------------------------

expect "no command is a usage error" 2
expect "help" 0 help
commands="check plan run resume stop submit ask tell status best query show report plot replay verify compare export
merge
gather digest doctor list tag note rm gc examples docs models schema help version"
for command in $commands; do
    has "help lists $command" out "  $command "
done
groups=$(sed -n 's/^\([a-z]*\):$/\1/p' out | tr '\n' ' ')
equal "help groups the commands" "run look keep maintain learn " "$groups"
listed=$(sed -n '/^run:$/,/^first steps:$/s/^  \([a-z][a-z]*\) .*/\1/p' out | sort)
equal "help names each command once" "$("$program" help --names | sort)" "$listed"
for command in $commands; do
    expect "$command --help" 0 $command --help
    has "$command has examples" out "  hopscotch $command"
done
expect "help spec" 0 help spec
expect "--version" 0 --version
expect "a misspelt command" 2 bets gains
has "the error suggests the command" err "did you mean 'best'?"
expect "a misspelt option" 2 best gains --tpo 3
has "the error suggests the option" err "did you mean '--top'?"
expect "an option without its value" 2 best gains --top
expect "a wrong value" 2 best gains --top many
expect "a number out of range" 2 best gains --top=0
expect "a wrong choice" 2 best gains --format cvs
has "the error suggests the nearest choice" err "did you mean 'csv'?"
expect "a flag with a value" 2 best gains --json=yes
expect "too many arguments" 2 digest one two
expect "too few arguments" 2 best
expect "an override without --set" 2 check gains.yaml seed=3
has "the error explains --set" err "each override needs its own --set"

# ---- before a run ---------------------------------------------------------------------------------------------------

expect "status without campaigns" 0 status
has "status without campaigns names hopscotch run" out "hopscotch run"
expect "best of a missing campaign" 1 best gains
expect "check" 0 check gains.yaml
has "check prints one line" out "ok: gains: 72 trials x 2 replicates of hopper"
expect "check of equal values" 0 check gains.yaml --set 'search.over={k_fp: [100, 150, 100.0]}'
has "check warns of a value that stands twice" err "k_fp has the value 100 twice"
expect "check of equal values that are zipped" 0 check gains.yaml \
    --set 'search={method: grid, over: {k_fp: [100, 100], thrust: [30, 35]}, zip: [[k_fp, thrust]]}'
lacks "which are points" err "twice"
expect "a time in quotes" 0 check gains.yaml --set 'simulation.duration="2s"' --resolved
has "is that time" out "duration: 2 "
expect "a number in quotes" 1 check gains.yaml --set 'simulation.duration="2"'
has "is a text" err "leave out the quotes"
expect "check --resolved" 0 check gains.yaml --resolved
cp out resolved.yaml
expect "check of the resolved spec" 0 check resolved.yaml
expect "check of a spec with errors" 1 check gains.yaml --set serch.method=grid --set model=hoper
has "check reports the first error" err "did you mean 'search'?"
has "check reports the second error" err "hoper"
expect "check of a missing file" 1 check missing.yaml
expect "plan" 0 plan gains.yaml --json
has "plan counts trials" out '"trials": 72'
expect "models" 0 models hopper
has "models prints units" out "N m/rad"
expect "an unknown model" 1 models hoper
expect "schema" 0 schema

# ---- a run ----------------------------------------------------------------------------------------------------------

expect "run" 0 run gains.yaml --backend cpu
has "run prints the number of trials" out "72 of 72"
has "run counts failures by kind" out "fell"
has "run suggests the next command" out "hopscotch show gains/"
lacks "run prints no colours outside a terminal" err "$(printf '\033')"
expect "run again" 0 run gains.yaml
has "run again says that the campaign is done" err "done already"
expect "run with another spec under the name" 1 run gains.yaml --set seed=8
expect "status" 0 status
has "status lists the campaign" out "gains"
expect "status of one" 0 status gains
has "status prints the state" out "done"
expect "best" 0 best gains --top 3
equal "best --top 3 prints three trials" 3 "$(grep -c '^ *[123]  ' out)"
expect "best by path" 0 best results/gains/ --top 1
expect "best as CSV" 0 best gains --top 5 --format csv
equal "best as CSV has a header and rows" 6 "$(wc -l <out)"
expect "a misspelt campaign" 1 best gians
has "the error suggests the campaign" err "did you mean 'gains'?"
expect "a campaign outside the results folder" 1 best ../secret

best=$("$program" best gains --top 1 --format csv | sed -n '2s/^1,\([0-9]*\),.*/\1/p')
expect "show" 0 show "gains/$best"
has "show says that a parameter was searched" out "searched"
has "show says that a parameter was derived" out "derived"
has "show names the trajectory's file" out "shards/"
expect "show of a trial that does not exist" 1 show gains/99999
expect "show without a trial" 2 show gains
expect "replay" 0 replay "gains/$best"
has "replay gives the same bits" out "the same to the bit"
failed=$("$program" query gains --where "failure != 'none'" --limit 1 --format csv --columns id | sed -n 2p)
expect "replay of a failed trial" 0 replay "gains/$failed"
expect "digest" 0 digest gains
digest=$(cut -d ' ' -f 1 out)
expect "run of the same spec under another name" 0 run gains.yaml --name twin --batch 7 --threads 1 --progress none
equal "the same spec has the same digest" "$digest" "$("$program" digest twin | cut -d ' ' -f 1)"
expect "run --results" 0 run gains.yaml --results elsewhere --progress none
has "suggested commands have the --results of the run" out "--results elsewhere"

# ---- queries --------------------------------------------------------------------------------------------------------

expect "query" 0 query gains --where "k_fp > 100 and failure = 'none'" --order velocity_error:desc \
    --columns id,velocity_error --format csv
equal "query --order sorts" "$(tail -n +2 out | sort -t , -k 2 -g -r)" "$(tail -n +2 out)"
expect "query without a match" 0 query gains --where "k_fp > 1000" --json
equal "query without a match prints an empty array" "[]" "$(cat out)"
expect "query of all columns" 0 query gains --columns all --format csv
equal "query of all columns has all rows" 73 "$(wc -l <out)"
expect "query with an unknown name" 1 query gains --where "k_pf > 1"
has "the error suggests the nearest name" err "did you mean 'k_fp'?"
expect "SQL in a condition" 1 query gains --where "1); DROP TABLE trials; --"
expect "SQL in a column" 1 query gains --columns "id; DROP TABLE trials"
expect "SQL in an order" 1 query gains --order "id desc; DROP TABLE trials"
expect "the table is still there" 0 query gains --limit 1
if with_python "--json"; then
    for arguments in "status" "status gains" "best gains" "query gains" "show gains/$best" "replay gains/$best" \
        "models" "models hopper" "version" "digest gains" "check gains.yaml" "plan gains.yaml" "run gains.yaml"; do
        # shellcheck disable=SC2086
        "$program" $arguments --json 2>err >out
        python3 -c 'import json; json.load(open("out"))' 2>>err
        equal "$arguments --json is JSON" 0 $?
    done
    "$program" run gains.yaml --name stream --progress json --json >out 2>err
    if python3 -c 'import json
events = [json.loads(line) for line in open("out")]
assert events[-2]["event"] == "finish" and events[-1]["state"] == "done", events' 2>>err; then
        good "--progress json prints one object per line"
    else
        bad "--progress json"
    fi
fi

# ---- failed trials only ---------------------------------------------------------------------------------------------

expect "a run in which all fall" 0 run gains.yaml --name fallen --set search.over.dphi_body=[20] --progress none
expect "best of a campaign without a success" 0 best fallen
has "best without a success lists the longest survivors" out "survived longest"
expect "best --json of a campaign without a success" 0 best fallen --json
equal "best --json without a success is empty" "[]" "$(cat out)"

# ---- a terminal -----------------------------------------------------------------------------------------------------

if script -qec true /dev/null >/dev/null 2>&1; then
    script -qec "stty cols 80; $program run gains.yaml --name screen" /dev/null >out 2>err
    has "a terminal shows a progress bar" out "$(printf '\033')[K"
    wide=$(tr '\r' '\n' <out | sed "s/$(printf '\033')\[K//g" | awk '/^\[=/ && length($0) > 79' | wc -l)
    equal "the bar fits into 80 columns" 0 "$wide"
    script -qec "$program best nothing" /dev/null >out
    has "a terminal shows errors in colour" out "$(printf '\033')[1;31m"
    script -qec "NO_COLOR=1 $program best nothing" /dev/null >out
    lacks "NO_COLOR switches colours off" out "$(printf '\033')["
    script -qec "$program best nothing --no-color" /dev/null >out
    lacks "--no-color switches colours off" out "$(printf '\033')["
else
    skip "a terminal" "script(1)" "apt-get install bsdutils"
fi

# ---- interruption, and reading while it writes ----------------------------------------------------------------------

# A run of many minutes in small batches, so that the signal comes long before the end.
sed -e 's/6\]}/60001]}/' -e 's/0.6, settle/30, settle/' -e 's/experiment: gains/experiment: long/' gains.yaml >long.yaml
interrupt() # SIGNAL CODE STATE
{
    "$program" run long.yaml --name "long_$1" --backend cpu --threads 1 --batch 64 --progress none >out 2>err &
    pid=$!
    tries=0 rows=0
    while [ "$rows" -lt 30 ] && [ $tries -lt 600 ]; do
        rows=$("$program" query "long_$1" --columns id --format csv 2>/dev/null | wc -l)
        tries=$((tries + 1))
        sleep 0.1
    done
    "$program" status "long_$1" >while
    kill -s "$1" "$pid"
    wait "$pid" 2>/dev/null
    equal "SIG$1 ends it" "$2" $?
    has "status of a running campaign" while "running (pid $pid"
    pid=
    "$program" status "long_$1" >out
    has "status says that the campaign was $3" out "$3"
    has "status says how to resume" out "hopscotch resume long_$1"
}
interrupt INT 130 interrupted
has "an interrupted run says how to resume" err "hopscotch resume long_INT"
interrupt TERM 143 interrupted
interrupt KILL 137 killed
limit=$(($("$program" query long_INT --columns id --format csv | wc -l) + 200))
expect "resume" 0 resume long_INT --progress none --set limits.trials=$limit
tr -d , <out >plain
has "resume continues to the limit" plain "$limit of $limit"
expect "resume of a missing campaign" 1 resume nothing

# ---- output that can't be written -----------------------------------------------------------------------------------

if [ -w /dev/full ]; then
    "$program" query gains --columns all >/dev/full 2>err
    equal "output to a full disk is an error" 3 $?
fi
exit $status
