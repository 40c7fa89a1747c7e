#!/bin/sh
# Commands that the program prints can be pasted, for any results folder: the program as it was called, --results quoted
# for a shell. And no text from outside reaches a terminal raw: names of folders and files, texts of a spec, contents of
# another person's database.
#
#   SEED=N                     other names
#   QUICK=1                    fewer names
. "$(dirname "$0")/../scratch.sh"
turns='1 2 3 4 5 6 7 8 9'
[ -z "${QUICK:-}" ] || turns='2 3 6 9'
cat >gait.yaml <<'END_OF_SPEC'
version: 1
experiment: gait
model: hopper
simulation: {duration: 0.02, dt: 1.0e-3, settle: 0}
search: {method: grid, over: {k_fp: [100, 150]}}
objective: {minimize: attitude_rms}
record: {trajectories: {select: {best: 1}, sample: 0.01}}
END_OF_SPEC
escape=$(printf '\033') newline='
'
ln -s "$HOPSCOTCH" "hop ' \$x"

# pasted FILE: runs each printed command, up to the end of the quoted folder, in a shell; `bad` lists those that fail.
# $quoted: the folder as `best` prints it.
pasted()
{
    ROOT=" --results $quoted" awk '{
        at = index($0, "\047./hop ")
        end = index($0, ENVIRON["ROOT"])
        if (at > 0 && end > at) print substr($0, at, end - at + length(ENVIRON["ROOT"]))
        else if (at > 0) print "false " substr($0, at)
    }' "$1" | sort -u >commands
    while read -r command; do
        sh -c "$command" >pasted.out 2>pasted.err </dev/null
        ended=$?
        count=$((count + 1))
        case "$command $ended" in
        *' 0' | *TAG*) ;;
        *) bad="$bad; $command: $ended $(head -n 1 pasted.err)" ;;
        esac
    done <commands
}

# raw FILE: true if it contains control characters that a terminal would obey, other than line breaks
raw() { LC_ALL=C grep -q "$(printf '[\001-\010\013-\037\177]')" "$1"; }

bad= rawness= count=0 wrong=nothing
# random names, each with some of these characters
for turn in $turns; do
    case $turn in
    1) folder='with space' ;;
    2) folder="it's \"quoted\" \$HOME \`id\` \\ *" ;;
    3) folder="two${newline}lines" ;;
    4) folder="-leading--dash" ;;
    5) folder=$(printf 'no \377 utf-8 \303') ;;
    6) folder="${escape}[31mred${escape}]0;title$(printf '\007')%s!" ;;
    7) folder="ends in a newline$newline" ;;
    8) folder='file:x%41?mode=memory&immutable=1#a' ;; # not to be read as a URI
    *)
        folder=
        for part in 1 2 3 4 5 6; do
            random 1 254
            [ "$value" -ne 47 ] || value=48
            # shellcheck disable=SC2059
            folder="$folder$(printf "\\$(printf '%03o' "$value")_")"
        done
        ;;
    esac
    "./hop ' \$x" run gait.yaml --backend cpu --progress none --results "$folder" >said 2>&1
    quoted=$("./hop ' \$x" best gait --results "$folder" | sed -n "s/^next .* --results //p")
    for words in 'run gait.yaml --backend cpu --progress none' 'best gait' 'status' 'status gait' 'list' 'show gait/0' \
        'show gait/1' 'replay gait/0 --backend cpu' 'stop gait' 'best nothing' 'show gait/99' 'verify gait --trial 99' \
        'verify gait --seeds 2 --grid 0 --backend cpu --progress none' 'doctor gait' 'resume nothing' 'tag gait a' \
        'tag gait --remove' 'note gait b' 'query gait --limit 1' 'report gait' \
        'plot gait --kind scatter -o -' \
        'export gait --csv -' 'export gait --hdf5 arrays.h5' 'digest gait' 'gc' \
        'run gait.yaml --name part --set limits.trials=1 --batch 1 --backend cpu --progress none' 'status part' \
        'merge gait part --into both' \
        'rm both --yes' 'compare gait part'; do
        # shellcheck disable=SC2086
        "./hop ' \$x" $words --results "$folder" >said 2>&1 </dev/null
        pasted said
        case $words in
        plot* | export*) ;;
        *) ! raw said || rawness="$rawness; $words under $(printf %s "$folder" | od -An -c | head -n 1)" ;;
        esac
    done
    [ -s "$folder/gait/campaign.db" ] && [ -s "$folder/index.db" ] || bad="$bad; no campaign in folder $turn"
done
[ -z "$bad" ] && [ "$count" -gt 60 ]
check $? "$count printed commands run as they are${bad:+: $bad}"
[ -z "$rawness" ]
check $? "names of folders are printed without control characters${rawness:+: $rawness}"

# ---- other texts from outside ---------------------------------------------------------------------------------------
evil="${escape}[31mx$(printf '\007\233')"
rawness= count=0
looks() # COMMAND...: checks its messages, and its output unless that is a file for programs
{
    run "$@"
    count=$((count + 1))
    ! raw out && ! raw err || rawness="$rawness; $*"
}
cp gait.yaml "$evil.yaml"
sed "s/k_fp/k_${escape}/" gait.yaml >value.yaml
sed "s/attitude_rms/\"$evil + 1\"/" gait.yaml >objective.yaml
sed "s/experiment: gait/experiment: \"\\\\e[31mx\"/" gait.yaml >name.yaml
printf '%s,k_fp\n1,100\n' "$evil" >"$evil.csv"
looks check gait.yaml --set "search={method: list, csv: \"\\e[31mx\"}"
looks check gait.yaml --set "search={method: list, csv: '$evil.csv'}"
looks run "$evil.yaml" --backend cpu --progress none
for spec in "$evil.yaml" "$evil.none" value.yaml objective.yaml name.yaml; do
    looks check "$spec"
    looks plan "$spec" --backend cpu
    looks run "$spec" --name "$evil" --backend cpu --progress none
done
for command in best show replay status doctor digest resume tag note rm stop verify report plot query list export \
    "$evil"; do
    looks "$command" "$evil"
    looks "$command" gait "$evil"
    looks "$command" gait --set "$evil=1" --where "$evil" --order "$evil" --columns "$evil"
    looks "$command" gait "--$evil"
    looks "$command" "gait/$evil"
done
looks query gait --where "$evil"
looks query gait --order "$evil"
looks query gait --columns "$evil"
looks query gait --sql "SELECT '$evil' AS \"$evil\""
looks query gait --sql "$evil"
looks best gait --objectives "$evil,$evil"
looks merge gait "$evil" --into "$evil"
looks export gait --csv "$evil.out"
looks export gait --hdf5 "$evil.h5"
looks export gait --npz "$evil.npz"
looks report gait -o "$evil.html"
looks plot gait --kind scatter -o "$evil.svg"
looks plot gait --kind "$evil"
looks replay gait/0 --backend cpu -o "$evil.trace.h5"
looks replay gait/0 --backend cpu --html "$evil.motion.html"
looks replay gait/0 --backend cpu --svg "no/$evil/motion.svg"
looks report gait -o "no/$evil/x.html"
looks run gait.yaml --name part --backend "$evil"
looks run gait.yaml --name part --backend cpu --isa "$evil"
looks models "$evil"
looks help "$evil"
mkdir -p "results/$evil" && cp -r results/gait/. "results/$evil"
for column in reason experiment program_version commit state started; do
    "$SQL" results/gait/campaign.db "UPDATE campaign SET $column = '$evil'" >out 2>&1
done
"$SQL" results/gait/campaign.db "INSERT INTO tags VALUES('$evil');
    INSERT INTO notes(time, text) VALUES('$evil', '$evil');
    UPDATE batches SET device = '$evil'; UPDATE shards SET name = '$evil';
    UPDATE trials SET failure = '$evil'" >out 2>&1
"$SQL" results/gait/campaign.db "UPDATE tags SET tag = '$evil'" >out 2>&1
looks tag gait x
"$SQL" results/gait/campaign.db "UPDATE tags SET tag = '$evil'; UPDATE batches SET device = '$evil'" >out 2>&1
echo "$evil" >results/gait/campaign.lock
for command in list 'list --all' status 'status gait' 'best gait' 'show gait/0' 'query gait --limit 3' 'doctor gait' \
    'digest gait' \
    'replay gait/0 --backend cpu' 'replay gait/best --backend cpu' 'resume gait --progress none' 'tag gait' \
    'note gait' gc \
    'gc --yes' 'verify gait --seeds 2 --grid 0 --backend cpu --progress none' 'compare gait part' 'stop gait' \
    'export gait --hdf5 x.h5' 'merge gait part --into both' 'status gait --watch' 'run gait.yaml --progress none' \
    'doctor gait --repair' 'rm gait --yes'; do
    # shellcheck disable=SC2086
    looks $command
done
[ -z "$rawness" ] && [ "$count" -gt 150 ]
check $? "$count commands print texts from outside without control characters${rawness:+: $rawness}"
exit "$status"
