#!/bin/sh
# Many campaigns in a root: `list` reads only changed campaigns again, also after changes of folders by
# hand; memory does not grow with their number.
#
#   QUICK=1   fewer campaigns, fewer changes        CHANGES=N   (24)        SEED=N   other changes
. "$(dirname "$0")/../scratch.sh"
campaigns=300 changes=${CHANGES:-24}
[ "${QUICK:-0}" != 1 ] || campaigns=40 changes=12

cat >grid.yaml <<'END2'
version: 1
experiment: grid
model: bbob
search: {method: grid, over: {x1: {linspace: [-5, 5, 4]}, x2: {linspace: [-5, 5, 4]}}}
END2
sed 's/4\]}}}$/5]}}}/' grid.yaml >other.yaml
sed 's/^search/record: {trajectories: {select: {best: 2}}}\nsearch/' grid.yaml >arrays.yaml
run_one() { "$HOPSCOTCH" run "$1" --name "$2" --progress none --threads 1 >out 2>err; }

# The catalogue trusts a file's times when they are some seconds old (io/database_stamp.c).
settle() { sleep 3.3; }

# same OPTION...: list prints the same as in a root without a catalogue
same()
{
    "$HOPSCOTCH" list --json --all "$@" >listed 2>listed_err
    rm -rf aside && mkdir aside && mv results/index.db* aside/ 2>/dev/null
    "$HOPSCOTCH" list --json --all "$@" >truth 2>truth_err
    rm -f results/index.db*
    mv aside/* results/ 2>/dev/null
    # sizes may differ: a reader may leave an index of the WAL beside a database, which the next size includes
    for file in listed truth; do sed -i 's/"size":[0-9]*,//' $file; done
    { diff listed truth && diff listed_err truth_err; } >difference 2>&1
}
for name in a b c; do run_one grid.yaml $name; done
run_one arrays.yaml d
"$HOPSCOTCH" verify a --seeds 2 --threads 1 --progress none >out 2>err
check $? "campaigns"
same
check $? "the first list"
"$HOPSCOTCH" list --json >listed && "$HOPSCOTCH" status --json >told && diff listed told >out
check $? "status without a campaign is list"

# ---- list uses the catalogue ----------------------------------------------------------------------------------------

settle
run list --all
kept=$("$SQL" results/index.db "SELECT name FROM campaigns ORDER BY name" | tr '\n' ' ')
case $kept in "a a/verify/"*" b c d "*) true ;; *) false ;; esac
check $? "the catalogue stores what list read: $kept"
"$SQL" results/index.db "UPDATE campaigns SET tags = 'kept' WHERE name = 'b'"
works list --tag kept
has "b "
works list
has "kept"
"$HOPSCOTCH" tag b seen >out 2>err
works list
lacks "kept"
has "seen"

# ---- changes by hand, directly after the list -----------------------------------------------------------------------

settle
run list
mv results/b aside_b && cp -a results/d results/b && touch -r aside_b/campaign.db results/b/campaign.db
same
check $? "another campaign under the same name and time"
rm -rf results/b && mv aside_b results/b
same
check $? "the first campaign under its name again"
settle
cp results/b/campaign.db old.db
"$HOPSCOTCH" tag b newer >out 2>err
settle
run list
cp -p results/b/campaign.db newer.db
cat old.db >results/b/campaign.db && touch -r newer.db results/b/campaign.db
same
check $? "a backup restored in place, with the same time"
grep '"b"' truth | grep -vq newer
check $? "list sees the backup"
settle
run list
cp -p results/c/campaign.db old.db
"$SQL" results/c/campaign.db "UPDATE campaign SET state = 'DONE'; PRAGMA wal_checkpoint(TRUNCATE)" >out
touch -r old.db results/c/campaign.db
same
check $? "an edit with the same size and time"
grep -q DONE truth
check $? "list sees the edit"
run list
"$SQL" results/c/campaign.db "UPDATE campaign SET state = 'done'; PRAGMA wal_checkpoint(TRUNCATE)" >out
same
check $? "an edit directly after a list"
settle
run list
printf 'words' | dd of=results/c/campaign.db bs=1 seek=8 conv=notrunc 2>/dev/null
same
check $? "a damaged database"
grep -q unreadable truth
check $? "list sees the damage"
rm -rf results/c
for way in pipe folder link; do
    rm -rf results/c && cp -a results/d results/c && settle && run list
    rm -f results/c/campaign.db-shm
    case $way in
    pipe) mkfifo results/c/campaign.db-shm ;;
    folder) mkdir results/c/campaign.db-shm ;;
    link) ln -s nowhere results/c/campaign.db-shm ;;
    esac
    same
    check $? "a $way beside a database"
done
rm -rf results/c && cp -a results/d results/c

# ---- a campaign that runs, and is killed ----------------------------------------------------------------------------

sed 's/linspace: \[-5, 5, 4\]/linspace: [-5, 5, 2000]/g' grid.yaml >long.yaml
"$HOPSCOTCH" run long.yaml --name long --batch 64 --progress none --threads 1 >long.out 2>&1 &
pid=$!
until_true grep -qs "pid $pid on" results/long/campaign.lock
more_than() # TRIALS: does `list` count more of the running campaign?
{
    counted=$("$HOPSCOTCH" list --format csv --state running 2>/dev/null | sed -n 's/^long,running,\([0-9]*\),.*/\1/p')
    [ "${counted:-0}" -gt "$1" ]
}
until_true more_than 0 && first=$counted && until_true more_than "$first"
check $? "a running campaign is read each time ($first, $counted)"
kill -9 "$pid"
wait "$pid" 2>/dev/null
pid=
works list --state killed
has "long "
same
works list --state unfinished
has "long "
! grep -q "  done  " out
check $? "which is unfinished, and the only one"
check $? "a campaign that was killed"
# A run that is stopped between its writes to the WAL and to the WAL's shared memory has written more than others see.
tries=3 wrong=0
[ "${QUICK:-0}" != 1 ] || tries=1
for _ in $(seq $tries); do
    rm -rf results/long
    "$HOPSCOTCH" run long.yaml --name long --batch 64 --progress none --threads 1 >long.out 2>&1 &
    pid=$!
    until_true more_than 0
    kill -STOP "$pid"
    settle
    run list
    kill -9 "$pid"
    wait "$pid" 2>/dev/null
    pid=
    same || wrong=$((wrong + 1))
done
[ $wrong -eq 0 ]
check $? "killed in the middle of a commit, $tries times"
rm -rf results/long

# ---- a catalogue that can't be used ---------------------------------------------------------------------------------

same
run list
cp listed plain
rm -rf results/index.db* && mkdir results/index.db
same
check $? "a folder in place of the catalogue"
rm -rf results/index.db && echo "no database" >results/index.db
same
check $? "a text file in place of the catalogue"
rows() { "$SQL" results/index.db "SELECT count(*) FROM campaigns WHERE reader <> ''"; }
settle
run list
[ "$(rows)" -ge 4 ] && [ ! -s err ]
check $? "list makes a catalogue in its place, and says nothing"
rm -f results/index.db*
run list
[ "$(rows)" -ge 4 ] && [ ! -s err ]
check $? "list makes a catalogue that is missing"
dd if=/dev/zero of=results/index.db bs=1 seek=4096 count=2000 conv=notrunc 2>/dev/null
same && run list && [ "$(rows)" -ge 4 ] && [ ! -s err ]
check $? "list makes a catalogue with a damaged page again"
mv results/index.lock kept.lock && mkdir results/index.lock
same && works list
check $? "list where the catalogue can't be locked"
rmdir results/index.lock && mv kept.lock results/index.lock
for rule in sqlwrite:1 sqlwrite:6 sqlwrite:12 sqlwrite:16 sqlwrite:20 sqlwrite:24 sqlwrite:28 sqlwrite:40+ sql:150 \
    sql:160 sql:170; do
    rm -f results/index.db*
    HOPSCOTCH_FAULT=$rule:ENOSPC "$HOPSCOTCH_FAULTS_PROGRAM" list >out 2>err
    [ $? -eq 0 ] && [ "$(grep -c -e ' done ' -e ' unreadable ' out)" -eq 4 ] && same
    check $? "list where a write fails, and the next one ($rule)"
done
"$SQL" results/index.db "DROP TABLE campaigns; CREATE TABLE campaigns(name TEXT PRIMARY KEY, hash TEXT NOT NULL) STRICT;
    INSERT INTO campaigns VALUES('a', 'x'); CREATE TABLE status_cache(name TEXT PRIMARY KEY, stamp BLOB NOT NULL)"
settle
run list
[ "$(rows)" -ge 4 ] && [ ! -s err ] && [ "$("$SQL" results/index.db "SELECT name FROM sqlite_schema")" = campaigns ]
check $? "the tables of an earlier version are replaced"

# ---- random changes -------------------------------------------------------------------------------------------------

made=0 wrong=0
pick() # sets `one` to a campaign
{
    set -- results/*/campaign.db
    random 1 $#
    shift $((value - 1))
    one=${1%/campaign.db}
}
while [ $made -lt $changes ]; do
    made=$((made + 1))
    [ $((made % 8)) -ne 0 ] || { settle && run list --all; }
    pick
    random 0 10
    case $value in
    0) run_one grid.yaml "n$made" ;;
    1) run_one other.yaml "n$made" ;;
    2) run resume "${one#results/}" --progress none ;;
    3) run rm "${one#results/}" --yes && run_one grid.yaml "${one#results/}" ;;
    4) mv "$one" "results/h$made" ;;
    5) cp -a "$one" "results/c$made" ;;
    6) touch -d '2020-01-01' "$one/campaign.db" ;;
    7) run tag "${one#results/}" "t$made" ;;
    8) rm -rf backup && cp -a "$one" backup && run note "${one#results/}" words && rm -rf "$one" && mv backup "$one" ;;
    9) cp -a "$one" swap && pick && [ -d "$one" ] && rm -rf "$one" && mv swap "$one" ;;
    10) touch "$one/campaign.lock" && rm -f "$one/campaign.db-shm" ;;
    esac
    rm -rf swap
    random 0 2
    [ "$value" -ne 0 ] || run list
    same || { wrong=$((wrong + 1)) && echo "FAIL $suite: change $made: $(head -n 3 difference)"; }
done
[ $wrong -eq 0 ]
check $? "$changes random changes"

# ---- many campaigns -------------------------------------------------------------------------------------------------

rm -rf results
run_one arrays.yaml a
i=0
while [ $i -lt $campaigns ]; do i=$((i + 1)) && cp -a results/a "results/x$i"; done
run list
settle
run list
run list
[ "$(grep -c ' done ' out)" -eq $((campaigns + 1)) ]
check $? "$campaigns campaigns are listed"
"$SQL" results/index.db "UPDATE campaigns SET tags = 'kept'"
run list
[ "$(grep -c kept out)" -eq $((campaigns + 1)) ]
check $? "list opens none of the campaigns"
"$HOPSCOTCH" tag x7 changed >out 2>err
run list
[ "$(grep -c kept out)" -eq "$campaigns" ] && grep -q '^x7 .* changed' out
check $? "list opens only the changed campaign"
for format in table csv json jsonl; do
    for sort in name date size best; do works list --format $format --sort $sort; done
done

# Memory: the catalogue must not hold 100 KB of each campaign's spec in memory.
peak() { # sets `kilobytes` to the peak of the program with these arguments
    "$HOPSCOTCH" "$@" >out 2>err &
    pid=$!
    kilobytes=0
    while [ -r /proc/$pid/status ]; do
        now=$(sed -n 's/^VmHWM:[^0-9]*\([0-9]*\) kB/\1/p' /proc/$pid/status 2>/dev/null)
        [ "${now:-0}" -le "$kilobytes" ] || kilobytes=$now
    done
    wait $pid
    pid=
}
case $HOPSCOTCH in
*asan* | *tsan*) ;;
*)
    peak gc
    [ "$kilobytes" -lt 24576 ]
    check $? "gc of $campaigns campaigns takes $kilobytes KB"
    ;;
esac
exit "$status"
