#!/bin/sh
# The catalogue of a root (index.db): a command that changes a campaign stores in it what the next list needs, so that
# list opens no database of a campaign. Its entries stay correct under simultaneous changes, and no command waits for
# another one that writes the catalogue.
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
kept() { "$SQL" results/index.db "SELECT name FROM campaigns ORDER BY name" 2>/dev/null | tr '\n' ' '; }

# keeps NAMES WHAT: the catalogue holds these campaigns, and list reads them from there; then restores the catalogue
keeps()
{
    [ "$(kept)" = "$1" ]
    check $? "$2 stores the entries that list needs: $(kept)"
    "$SQL" results/index.db "UPDATE campaigns SET tags = 'kept', note = tags" >out
    run list
    [ "$(grep -c ' kept' out)" -eq "$(echo "$1" | wc -w)" ]
    check $? "list opens no campaign after $2"
    "$SQL" results/index.db "UPDATE campaigns SET tags = note, note = ''" >out
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
rm -rf results/e
works list
keeps "a b c " "a deleted folder"
run_one e
works rm c --yes
keeps "a b e " rm
works run grid.yaml --name a --set 'search.over.x1={linspace: [-5, 5, 5]}' --extend --progress none
keeps "a b e " "run --extend"
"$HOPSCOTCH" run grid.yaml --name f --set limits.trials=5 --batch 5 --progress none >out 2>err
keeps "a b e f " "a run with a limit"
works resume f --set limits.trials=none --progress none
keeps "a b e f " resume
rm -f results/index.db*
works list
keeps "a b e f " "list without a catalogue"
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
    2) rm -f results/index.db* && run list ;;
    3) mv results/a results/h && mv results/h results/a ;;
    esac
    "$SQL" results/a/campaign.db "UPDATE campaign SET experiment = 'w$((made % 90 + 10))'" >out 2>err
    "$SQL" results/a/campaign.db "UPDATE campaign SET state = 's$((made % 90 + 10))'" >out 2>err
    run list
    grep -q "^a  *s$((made % 90 + 10)) " out || wrong=$((wrong + 1))
done
[ $wrong -eq 0 ]
check $? "$changes changes directly after another command: $wrong not seen"

# ---- a list that is stopped while it writes -------------------------------------------------------------------------

run_one b
rm -f results/index.db*
pauses sqlwrite:1 list
mv results/b results/z
works rm f --yes
[ ! -s err ]
check $? "rm beside a stopped list"
run_one y
check $? "a run beside a stopped list"
goes_on
check "$ended" "the stopped list"
works list
keeps "a e g y z " "what was renamed, removed and made meanwhile"
exit "$status"
