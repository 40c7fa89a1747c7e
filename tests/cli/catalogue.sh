#!/bin/sh
# The catalogue of a root (index.db): a command that changes a campaign stores in it what the next list needs, so that
# list opens no database of a campaign. Its entries stay correct under simultaneous changes; and a reindex that waited
# too long for another process looks again.
#
#   QUICK=1   fewer changes at once
. "$(dirname "$0")/../scratch.sh"
cat >grid.yaml <<'END2'
version: 1
experiment: grid
model: bbob
search: {method: grid, over: {x1: {linspace: [-5, 5, 4]}, x2: {linspace: [-5, 5, 4]}}}
END2
run_one() { "$HOPSCOTCH" run grid.yaml --name "$1" --progress none --threads 1 >out 2>err; }
kept() { "$SQL" results/index.db "SELECT name FROM status_cache ORDER BY name" 2>/dev/null | tr '\n' ' '; }

# keeps NAMES WHAT: the catalogue holds these campaigns, and list reads them from there; then restores the catalogue
keeps()
{
    [ "$(kept)" = "$1" ]
    check $? "$2 stores the entries that list needs: $(kept)"
    "$SQL" results/index.db "UPDATE status_cache SET tags = 'kept', note = tags" >out
    run list
    [ "$(grep -c ' kept' out)" -eq "$(echo "$1" | wc -w)" ]
    check $? "list opens no campaign after $2"
    "$SQL" results/index.db "UPDATE status_cache SET tags = note, note = ''" >out
}

# ---- entries for list -----------------------------------------------------------------------------------------------

run_one a
run_one b
keeps "a b " run
works merge a b --into c
keeps "a b c " merge
run_one d
mv results/d results/e
works list
keeps "a b c e " "a renamed folder"
"$SQL" results/index.db "SELECT name FROM campaigns ORDER BY name" >out
[ "$(tr '\n' ' ' <out)" = "a b c e " ]
check $? "the catalogue has the new name of a renamed folder"
rm -rf results/e
works list
"$SQL" results/index.db "SELECT name FROM campaigns ORDER BY name" >out
[ "$(tr '\n' ' ' <out)" = "a b c " ]
check $? "the catalogue drops a deleted folder"
run_one e
works rm c --yes
keeps "a b e " rm
works run grid.yaml --name a --set 'search.over.x1={linspace: [-5, 5, 5]}' --extend --progress none
keeps "a b e " "run --extend"
"$HOPSCOTCH" run grid.yaml --name f --set limits.trials=5 --batch 5 --progress none >out 2>err
keeps "a b e f " "a run with a limit"
works resume f --set limits.trials=none --progress none
keeps "a b e f " resume
"$SQL" results/index.db "DROP TABLE status_cache" >out
works reindex
keeps "a b e f " reindex
rm -f results/index.db*
run_one g
[ "$(kept)" = "g " ]
check $? "a run makes a catalogue with its own campaign"
HOPSCOTCH_FAULT=sqlwrite:1+:ENOSPC "$HOPSCOTCH_FAULTS_PROGRAM" list >out 2>err
check $? "list on a disk where nothing can be written"

# ---- changes in place are seen --------------------------------------------------------------------------------------

# Changes in place, of the same size, immediately: the file's times may stay the same.
changes=40 wrong=0 made=0
[ "${QUICK:-0}" != 1 ] || changes=10
run list
while [ $made -lt $changes ]; do
    made=$((made + 1))
    case $((made % 4)) in
    0) run_one g ;;
    1) run list ;;
    2) run reindex ;;
    3) mv results/a results/h && mv results/h results/a ;;
    esac
    "$SQL" results/a/campaign.db "UPDATE campaign SET experiment = 'w$((made % 90 + 10))'" >out 2>err
    "$SQL" results/a/campaign.db "UPDATE campaign SET state = 's$((made % 90 + 10))'" >out 2>err
    run list
    grep -q "^a  *s$((made % 90 + 10)) " out || wrong=$((wrong + 1))
done
[ $wrong -eq 0 ]
check $? "$changes changes directly after another command: $wrong not seen"

# ---- reindex --------------------------------------------------------------------------------------------------------

# reindex is stopped for longer than other commands wait for the lock: only the list that it makes then has their
# changes.
run reindex
run_one b
pauses rename:1 reindex
mv results/b results/z
run rm f --yes
check $? "rm beside a stopped reindex"
has "the catalogue was not updated" err
run_one y
goes_on
check "$ended" "the reindex that others waited for"
names=$("$SQL" results/index.db "SELECT name FROM campaigns ORDER BY name" | tr '\n' ' ')
[ "$names" = "a e g y z " ]
check $? "reindex lists what was renamed, removed and made meanwhile: $names"
exit "$status"
