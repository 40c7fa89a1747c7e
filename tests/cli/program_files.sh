#!/bin/sh
# Files of the program of `model: command`: a campaign keeps copies of those that the program's words name, in the
# folder where it runs and nowhere else. Commands that run it again say what has changed, and find it with
# --program-folder where it is now.
. "$(dirname "$0")/../scratch.sh"

mkdir old old/sub
cp "$root"/experiments/command/spring.sh old
cat >old/start.sh <<'EOF'
#!/bin/sh
touch ran
exec ./spring.sh
EOF
chmod +x old/start.sh
echo secret >secret
ln -s ../secret old/link
echo one >old/config.json
echo two >old/sub/table.csv
echo three >old/sh
sed 's|\./spring.sh|./start.sh, --config=config.json, sub/table.csv, ../secret, link, sub, none.txt, "--x=-", spring.sh|
    s|damping: {lin.*|damping: [-1, 5, 10]|; s|stiffness: {lin.*|stiffness: [20, 50]|
    s|best: 3|best: 0|' "$root"/experiments/command/spring.yaml >old/spring.yaml
allowed="--allow-programs --progress none"
works run old/spring.yaml $allowed
kept() # [CAMPAIGN]: the events that name its copies
{
    "$HOPSCOTCH" query "${1:-spring}" --format csv \
        --sql "SELECT text FROM events WHERE kind = 'program file' ORDER BY id" | sed 1d
}
kept >copies
[ "$(cut -d ' ' -f 2 copies | tr '\n' ' ')" = "start.sh config.json sub/table.csv spring.sh " ] &&
    [ "$(find results/spring/files -type f | wc -l)" = 4 ]
check $? "files that the words name are kept, and nothing from elsewhere"
while read -r digest name; do cmp "old/$name" "results/spring/files/$digest" || exit 1; done <copies
check $? "under their digests"
run best spring
grep -q ' replay spring/[0-9]* --allow-programs' out
check $? "best shows the command that replays"
run show spring/3
has "replay spring/3 --allow-programs re-simulates the trial"
"$SQL" results/spring/campaign.db "UPDATE campaign SET state = 'interrupted'" >/dev/null
run status spring
has "resume spring --allow-programs"
"$SQL" results/spring/campaign.db "UPDATE campaign SET state = 'done'" >/dev/null
works doctor spring
has "kept files 4, each with the content that the campaign names"
cp "results/spring/files/$(grep config copies | cut -d ' ' -f 1)" whole
echo other >"results/spring/files/$(grep config copies | cut -d ' ' -f 1)"
code=3 refused doctor spring
has "the copy of config.json: its content changed"
cp whole "results/spring/files/$(grep config copies | cut -d ' ' -f 1)"
works run old/spring.yaml --name shell --set 'simulation.program=[sh, ./start.sh]' $allowed
[ "$(kept shell | cut -d ' ' -f 2)" = start.sh ]
check $? "a first word without a slash is of PATH, and not a file beside the spec"
truncate -s 65M old/big
works run old/spring.yaml --name large --set 'simulation.program=[./start.sh, big]' $allowed
has "warning: big has 65.0 MiB, and copies are kept of files up to 64.0 MiB" err
[ "$(kept large | cut -d ' ' -f 2)" = start.sh ]
check $? "a large file is not kept"

# ---- what has changed ------------------------------------------------------------------------------------------------

works replay spring/2 --allow-programs
lacks remark err
echo two >old/config.json
rm -f old/ran
run replay spring/2
[ $? = 1 ] && [ ! -e old/ran ]
check $? "without --allow-programs nothing runs"
lacks remark err
new=$(sha256sum <old/config.json | cut -c 1-12) copy=$(grep config copies | cut -d ' ' -f 1)
remark="remark: config.json in $work/old has changed since the campaign ran it: its SHA-256 is $new...; as it ran it is"
for command in "replay spring/2" "verify spring --seeds 3 --progress none" "gradient spring/2" \
    "compare spring spring --seeds 3 --progress none" "resume spring --retry unstable --progress none" \
    "resume spring --set record.trajectories.select.best=1 --progress none"; do
    works $command --allow-programs
    case $command in
    *unstable*) ;; # there are none, so nothing runs
    *) has "$remark" err && grep -q "results/spring/files/$copy" err ;;
    esac
done
kept >again
[ "$(wc -l <again)" = 5 ] && [ -e "results/spring/files/$copy" ] && grep -q "^$new.* config.json" again
check $? "the run that went on keeps the new file beside the one before"
works replay spring/2 --allow-programs
lacks remark err
rm old/sub/table.csv
works replay spring/2 --allow-programs
has "remark: sub/table.csv is not in $work/old any more; as it ran it is results/spring/files/" err
mkdir old/sub/table.csv
works replay spring/2 --allow-programs
has "sub/table.csv is not in" err
rm -r old/sub/table.csv

# ---- elsewhere -------------------------------------------------------------------------------------------------------

mv old new
refused replay spring/2 --allow-programs
has "or add --program-folder DIR" err
rm -f new/ran
refused replay spring/2 --program-folder new
has "this would run \`./start.sh --config=config.json" err
[ ! -e new/ran ]
check $? "a folder is no permission"
works replay spring/2 --allow-programs --program-folder new
has "the same to the bit"
works verify spring --seeds 4 $allowed --program-folder new
works gradient spring/2 --allow-programs --program-folder new
"$HOPSCOTCH" digest spring >whole
"$SQL" results/spring/campaign.db "DELETE FROM trials WHERE id = 3"
refused doctor spring --repair --allow-programs
works doctor spring --repair --allow-programs --program-folder new
"$HOPSCOTCH" digest spring | cmp -s - whole
check $? "doctor --repair simulates the lost trial there"
works run new/spring.yaml --name begun --set limits.trials=2 $allowed
mv new newer
refused resume begun --set limits.trials=none $allowed
works resume begun --set limits.trials=none $allowed --program-folder newer
works replay begun/5 --allow-programs
has "the same to the bit"
cp -r newer other && echo four >other/config.json
works run newer/spring.yaml --name elsewhere $allowed --program-folder other
kept elsewhere | grep -q "^$(sha256sum <other/config.json | cut -c 1-64) config.json"
check $? "run takes the program of the folder that is named"

# ---- parts -----------------------------------------------------------------------------------------------------------

for part in 1 2; do run run newer/spring.yaml --name parted --part $part/2 $allowed; done
works gather parted --allow-programs
kept parted | cut -d ' ' -f 2 | tr '\n' ' ' >out
has "start.sh config.json spring.sh"
works doctor parted
has "kept files 3, each"
works replay parted/3 --allow-programs
lacks remark err

# ---- workers without work --------------------------------------------------------------------------------------------

cat >newer/learns.yaml <<'EOF'
version: 1
experiment: learns
model: command
simulation: {program: [./start.sh], workers: 8}
parameters: {stiffness: {range: [20, 50]}, damping: {range: [1, 10]}}
metrics: [settled, energy]
failures: [unstable]
columns: {x: m}
objective: {minimize: settled}
search:
  over: {stiffness: {range: [20, 50]}, damping: {range: [1, 10]}}
  method: cmaes
  cmaes: {population: 4, stop: {generations: 2}}
EOF
idle="a generation has 4 trials, so 4 of 8 workers will idle: a population of 8 would use them all"
works plan newer/learns.yaml --allow-programs
has "workers        $idle"
works plan newer/learns.yaml --allow-programs --json
has "\"idle\": \"$idle\""
works run newer/learns.yaml $allowed
has "remark: $idle" err
works plan newer/learns.yaml --allow-programs --set replicates.count=2
lacks idle
works plan newer/learns.yaml --allow-programs --set replicates.count=3 --set simulation.workers=20
has "a generation has 4 trials of 3 replicates, so 8 of 20 workers will idle: a population of 7 would use them all"
works plan newer/learns.yaml --allow-programs --set search='{method: list, points: [{damping: 1}, {damping: 2}]}'
has "there are 2 trials, so 6 of 8 workers will idle"
works plan "$root/experiments/smoke.yaml"
lacks idle
exit $status
