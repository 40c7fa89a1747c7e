#!/bin/sh
# pack: a trial as one file that replays to the bit in an empty folder, with every instruction set. No byte of it can
# change unseen, hostile ones are refused, and a processor that computes otherwise is told with the first step.
#
#   EXPERIMENTS="smoke ..."    of these shipped ones; `all`: of each that runs for a minute at most (an hour)
#   QUICK=1                    of a few, and fewer bytes are changed
. "$(dirname "$0")/../scratch.sh"
HOPSCOTCH_RESULTS=$work/r
export HOPSCOTCH_RESULTS
experiments=${EXPERIMENTS:-"smoke dzhanibekov robot_stand bouncing_ball kramers_escape ndt_basin bbob_cmaes identify_arm"}
[ -z "${QUICK:-}" ] || experiments=${EXPERIMENTS:-"bouncing_ball robot_stand bbob_cmaes"}
[ "$experiments" != all ] || experiments=$(cd "$root/experiments" && printf '%s\n' *.yaml | sed 's/\.yaml$//')

# same FILE: in a folder without results, with all instruction sets
same()
{
    mkdir -p elsewhere && cp "$1" elsewhere/x.hop
    for isa in scalar v2 v3 v4; do
        (cd elsewhere && HOPSCOTCH_RESULTS=none "$HOPSCOTCH" replay x.hop --backend cpu --isa $isa) >out 2>err </dev/null
        case $?:$(cat err) in
        0:*) grep -q 'the same to the bit' out || return 1 ;;
        *'does not have the instruction set'* | *'has no kernels'*) ;;
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
        "$HOPSCOTCH" pack "$name/$trial" -o x.hop >out 2>err || { [ "$trial" = best ] && grep -q 'no best' err && continue; }
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

# signed SED: ball.hop changed by sed, with its own digest: somebody means it
if command -v sha256sum >/dev/null 2>&1; then
    signed()
    {
        # all but the digest's line and the bracket, without the last comma and line break
        head -c $(($(wc -c <ball.hop) - 83)) ball.hop | sed -e "$1" >body
        tail -c 1 body | grep -q . && cp body bare || head -c $(($(wc -c <body) - 1)) body >bare
        { cat bare && printf ',\n  "sha256": "%s"\n}\n' "$(sha256sum bare | cut -d ' ' -f 1)"; } >changed.hop
    }
    signed ''
    works replay changed.hop
    signed 's/"numerics_version": [0-9]*/"numerics_version": 1/'
    refused replay changed.hop
    has 'numerics version 1 and this program has version' err
    signed 's/"hopscotch_pack": 1/"hopscotch_pack": 7/'
    refused replay changed.hop
    has 'form 7' err
    signed 's/"fitness": [-0-9.e]*/"fitness": 12345/'
    code=3 refused replay changed.hop
    has 'fitness' err
    signed 's/"hashes": "..../"hashes": "AAAA/'
    code=3 refused replay changed.hop
    has 'the first state that differs' err
    signed 's/"every": [0-9]*/"every": 0/'
    refused replay changed.hop
    signed 's/"hashes": "....../"hashes": "/'
    refused replay changed.hop
    signed 's/"columns": \[/"columns": [ [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[/'
    refused replay changed.hop
    signed 's/"files": \[\]/"files": [{"name": "..\/..\/x", "sha256": "..\/x", "bytes": 0, "deflated": 0, "base64": ""}]/'
    refused replay changed.hop
    zeros=$(printf '%064d' 0)
    signed 's/"files": \[\]/"files": [{"name": "x", "sha256": "'"$zeros"'", "bytes": 60000000, "deflated": 3, "base64": "AAAA"}]/'
    refused replay changed.hop
    signed 's/model: equations/model: command/'
    refused replay changed.hop
else
    skip "packs that somebody changed and signed" sha256sum "apt-get install coreutils"
fi
[ -z "$(find "${TMPDIR:-/tmp}" -maxdepth 1 -name 'hopscotch-??????' -user "$(id -u)" -newer elsewhere 2>/dev/null)" ]
check $? "no private folder is left"
exit $status
