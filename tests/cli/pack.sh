#!/bin/sh
# pack: a trial as one file that replays to the bit in an empty folder, with every instruction set. No byte of it can
# change unseen, hostile ones are refused, and a processor that computes otherwise is told with the first step.
#
#   EXPERIMENTS="smoke ..."    of these shipped ones; `all`: of each that runs for a minute at most (an hour)
#   QUICK=1                    of a few, and fewer bytes are changed
. "$(dirname "$0")/../scratch.sh"
mkdir private && export TMPDIR="$work/private" # where packs are unfolded
HOPSCOTCH_RESULTS=$work/r
export HOPSCOTCH_RESULTS
shipped="smoke dzhanibekov robot_stand bouncing_ball lorenz96 ndt_basin bbob_cmaes identify_arm"
experiments=${EXPERIMENTS:-$shipped}
[ -z "${QUICK:-}" ] || experiments=${EXPERIMENTS:-"bouncing_ball robot_stand bbob_cmaes"}
[ "$experiments" != all ] || experiments=$(cd "$root/experiments" && printf '%s\n' *.yaml | sed 's/\.yaml$//')

# same FILE: in a folder without results, with all instruction sets
same()
{
    mkdir -p elsewhere && cp "$1" elsewhere/x.hop
    for isa in scalar $(vector_isas "$HOPSCOTCH"); do
        (cd elsewhere && HOPSCOTCH_RESULTS=none "$HOPSCOTCH" replay x.hop --backend cpu --isa "$isa") \
            >out 2>err </dev/null
        case $?:$(cat err) in
        0:*) grep -q 'the same to the bit' out || return 1 ;;
        *'does not have the instruction set'* | *"without kernels for '$isa'"*) ;;
        *) return 1 ;;
        esac
    done
}

for name in $experiments; do
    case $name in *_env | manual_*) continue ;; esac # no trials, or people run them
    timeout 60 "$HOPSCOTCH" run "$root/experiments/$name.yaml" --name "$name" --set limits.trials=2 --backend cpu \
        --progress none >out 2>err </dev/null || { skip "$name" "more than a minute" "another machine" && continue; }
    first=$("$HOPSCOTCH" query "$name" --columns id --limit 1 --format csv 2>/dev/null | tail -n 1)
    for trial in "$first" best; do
        "$HOPSCOTCH" pack "$name/$trial" -o x.hop >out 2>err ||
            { [ "$trial" = best ] && grep -q 'no best' err && continue; }
        same x.hop && [ "$(wc -c <x.hop)" -le 1000000 ]
        check $? "$name/$trial: the same to the bit elsewhere, from $(wc -c <x.hop) bytes"
    done
done

# ---- what it says ----------------------------------------------------------------------------------------------------

works run "$root/experiments/bouncing_ball.yaml" --name ball --backend cpu --progress none
works pack ball/1 -o ball.hop
has 'digest '
works pack ball/1 -o again.hop
cmp -s ball.hop again.hop
check $? "the same trial gives the same file"
works replay ball.hop --json
has '"equal": true'
works replay ball.hop -o trace.csv
[ "$(wc -l <trace.csv)" -gt 100 ]
check $? "its motion can be written"
works pack ball/0 -o -
printf '{"about": "other"}\n' >other.hop
refused replay other.hop
has 'is no pack' err
code=3 refused replay missing.hop
ln -s /dev/zero zero.hop
code=3 refused replay zero.hop
has 'is not a regular file' err
mkfifo pipe.hop
timeout -s KILL 20 "$HOPSCOTCH" replay pipe.hop >out 2>err </dev/null
expect $? 3 "a pipe is not waited for"
mkdir folder.hop
code=3 refused replay folder.hop

# more replicates share the instants of 16: each has states, and a hash of its results
works run "$root/experiments/kramers_escape.yaml" --name many --set replicates.count=20 \
    --set simulation.duration=10 --set limits.trials=1 --backend cpu --progress none
works pack many/0 -o many.hop
grep -q '"outcomes": ' many.hop
check $? "20 replicates have hashes of their results"
works replay many.hop --json
grep -q '"states": 1[0-9]\{4\}' out
check $? "and all of them have states"

works run "$root/experiments/command/spring.yaml" --allow-programs --set limits.trials=2 --progress none
refused pack spring/0
has "can't be packed: its program would be needed elsewhere" err
works ask "$root/experiments/manual_gripper.yaml" -n 2
refused pack manual_gripper/0
has "can't be packed: people ran it" err
TMPDIR=/missing code=3 refused pack ball/1 -o ball2.hop
has 'or other users may exchange its files: set TMPDIR' err
[ ! -e ball2.hop ]
check $? "then nothing is written"

# a recording of 60 s at 1 kHz, 10 columns: an encoder, a rate and torques with noise
LC_ALL=C awk -v rows="${QUICK:+12000}" 'BEGIN {
    srand(1)
    if (rows == "") rows = 60000
    print "time,seen,rate,torque_1,torque_2,torque_3,torque_4,torque_5,current,count"
    for (i = 0; i < rows; i++) {
        t = i / 1000; x = sin(3 * t) * exp(-t / 30)
        printf "%.3f,%.4f,%.5f", t, int(4096 * x) / 4096, 3 * cos(3 * t) + 0.01 * rand()
        for (j = 1; j <= 6; j++) printf ",%.4f", j * x + 0.02 * rand()
        printf ",%d\n", 4096 * x
    }
}' </dev/null >recording.csv
sed -e 's/identify_pendulum.csv/recording.csv/' -e 's/unit: rad}}$/unit: rad, column: seen}}/' \
    "$root/experiments/identify_pendulum.yaml" >recording.yaml
works run recording.yaml --name recording --set limits.trials=1 --backend cpu --progress none
works pack recording/0 -o recording.hop
works replay recording.hop
[ $(($(wc -c <recording.hop) * 4)) -lt "$(wc -c <recording.csv)" ]
check $? "a recording of $(wc -l <recording.csv) rows and $(wc -c <recording.csv) bytes fits: $(wc -c <recording.hop)"

# a cloud of 200,000 points
LC_ALL=C awk 'BEGIN {
    srand(1)
    for (i = 0; i < 200000; i++) printf "%.5f,%.5f,%.5f\n", 50 * rand(), 50 * rand(), rand()
}' </dev/null >cloud.csv
sed -e 's/  scene: street/  target: cloud.csv\n  source: cloud.csv/' -e 's/source_voxel: 0.5/source_voxel: 5/' \
    -e 's/^  count: 8/  count: 1/' "$root/experiments/ndt_lidar.yaml" >cloud.yaml
works run cloud.yaml --name cloud --set limits.trials=1 --backend cpu --progress none
refused pack cloud/0
has 'are allowed: its file cloud.csv (' err
{
    printf 'version: 1\nexperiment: list\nmodel: bbob\nsimulation: {function: sphere, dimension: 2}\nsearch:\n'
    printf '  method: list\n  points: |\n    x1,x2\n'
    LC_ALL=C awk 'BEGIN { for (i = 0; i < 45000; i++) printf "    %.6f,%.6f\n", i / 45000, i / 45001 }' </dev/null
} >list.yaml
works run list.yaml --name list --set limits.trials=1 --backend cpu --progress none
works pack list/0 -o list.hop
works replay list.hop
{
    echo time,seen
    LC_ALL=C awk 'BEGIN {
        srand(2)
        for (i = 0; i < 131000; i++) printf "%.3f,%.7f%08d\n", i / 1000, rand(), 1e8 * rand()
    }' </dev/null
} >recording.csv
works run recording.yaml --name noise --set limits.trials=1 --backend cpu --progress none
refused pack noise/0
has 'are allowed: its spec (' err
has 'use recordings of fewer rows' err

# ---- changed ones ----------------------------------------------------------------------------------------------------

# A byte in its middle, its place from 0, becomes another one.
change() { { head -c "$2" "$1" && printf '\001' && tail -c +$(($2 + 2)) "$1"; } >changed.hop; }
size=$(wc -c <ball.hop) wrong=0 changes=${CHANGES:-200}
[ -z "${QUICK:-}" ] || changes=${CHANGES:-20}
for i in $(seq "$changes"); do
    change ball.hop $(((size - 1) * i / changes))
    run replay changed.hop
    [ $? -eq 1 ] && grep -qE 'is damaged|is no pack' err || wrong=$((wrong + 1))
done
expect "$wrong" 0 "each of $changes changed bytes is told"
for bytes in 0 1 70 1000; do
    head -c $bytes ball.hop >changed.hop
    refused replay changed.hop
done
head -c 2000000 /dev/zero >changed.hop
refused replay changed.hop

# signed SED [FILE]: ball.hop or FILE changed by sed, with its own digest: somebody means it
if command -v sha256sum >/dev/null 2>&1; then
    signed()
    {
        # all but the digest's line and the bracket, without the last comma and line break
        head -c $(($(wc -c <"${2:-ball.hop}") - 83)) "${2:-ball.hop}" | sed -e "$1" >body
        cp body bare
        tail -c 1 body | grep -q . || head -c $(($(wc -c <body) - 1)) body >bare
        { cat bare && printf ',\n  "sha256": "%s"\n}\n' "$(sha256sum bare | cut -d ' ' -f 1)"; } >changed.hop
    }
    signed ''
    works replay changed.hop
    signed 's/"numerics_version": [0-9]*/"numerics_version": 1/'
    refused replay changed.hop
    has 'numerics version 1 and this program has version' err
    signed 's/"hopscotch_pack": 2/"hopscotch_pack": 7/'
    refused replay changed.hop
    has 'form 7' err
    signed 's/"hopscotch_pack": 2/"hopscotch_pack": 1/'
    works replay changed.hop
    signed 's/"hopscotch_pack": 2/"hopscotch_pack": 1/' many.hop
    refused replay changed.hop
    has 'has not the states that its spec has' err
    signed 's/\("hashes": ".*\)......\(=*",\)$/\1AAAAAA\2/' many.hop # of states: a comma follows
    code=3 refused replay changed.hop
    has 'replicate 19, first the state at ' err
    signed 's/"coded": [0-9]*/"coded": 33/' recording.hop
    refused replay changed.hop
    signed '/"coded": /d' recording.hop
    refused replay changed.hop
    signed 's/"fitness": [-0-9.e]*/"fitness": 12345/'
    code=3 refused replay changed.hop
    has 'fitness' err
    signed 's/"hashes": "..../"hashes": "AAAA/'
    code=3 refused replay changed.hop
    has 'differs: first the state at 0 s' err
    signed '/"outcomes"/,/}/s/"hashes": "..../"hashes": "AAAA/' many.hop
    code=3 refused replay changed.hop
    has 'first the results of replicate 0' err
    signed 's/"outcomes"/"others"/' many.hop
    refused replay changed.hop
    has 'has not the states that its spec has' err
    signed 's/"every": [0-9]*/"every": 0/'
    refused replay changed.hop
    signed 's/"hashes": "....../"hashes": "/'
    refused replay changed.hop
    signed 's/"columns": \[/"columns": [ [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[/'
    refused replay changed.hop
    empty='"bytes": 0, "deflated": 0, "base64": ""'
    signed 's/"files": \[\]/"files": [{"name": "..\/..\/x", "sha256": "..\/x", '"$empty"'}]/'
    refused replay changed.hop
    numerics=$("$HOPSCOTCH" version --json | sed -n 's/.*"numerics_version": *\([0-9]*\).*/\1/p')
    zeros=$(printf '%064d' 0)
    bomb='"bytes": 60000000, "deflated": 3, "base64": "AAAA"'
    signed 's/"files": \[\]/"files": [{"name": "x", "sha256": "'"$zeros"'", '"$bomb"'}]/'
    refused replay changed.hop
    signed 's/model: equations/model: command/'
    refused replay changed.hop
    # a spec that runs a program
    program='"program": {"version": "0", "numerics_version": '$numerics', "backend": "cpu", "processor": "x"}'
    {
        printf '{"hopscotch_pack": 1, "campaign": "x", "trial": 0, "ordinal": 0, "digest": "%s", ' "$zeros"
        printf '%s, ' "$program"
        printf '"spec_hash": "%s", "files": [], "row": {}, ' "$zeros"
        printf '"spec": ["version: 1", "experiment: x", "model: command", '
        printf '"%s", ' 'simulation: {program: [./touch]}' 'parameters: {k: {range: [1, 5]}}' 'metrics: {y: m}'
        printf '"search: {method: grid, over: {k: [1, 2]}}", "objective: {minimize: y}"]'
    } >bare
    { cat bare && printf ',\n  "sha256": "%s"\n}\n' "$(sha256sum bare | cut -d ' ' -f 1)"; } >changed.hop
    refused replay changed.hop --allow-programs
    has 'nobody but its program or people can repeat it' err
else
    skip "packs that somebody changed and signed" sha256sum "apt-get install coreutils"
fi
[ -z "$(ls "$TMPDIR")" ]
check $? "no private folder is left"
refused check ball.hop
has "this is a pack of a trial, not a spec: \`hopscotch replay FILE\` runs it again" err
works run "$root/experiments/smoke.yaml" --name fallen --set limits.trials=600 --backend cpu --progress none
id=$("$HOPSCOTCH" query fallen --where "failure = 'fell'" --columns id --format csv | sed -n 2p)
works pack "fallen/$id" -o fallen.hop
works replay fallen.hop
has ": the same to the bit: failure fell, every metric and "
exit $status
