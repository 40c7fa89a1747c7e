#!/bin/sh
# A query or best that took long makes an index after its answer, so that the next one is quick: once, at most four, not
# while the campaign is run, and nothing is said where it can't be made. A run that adds trials drops them. The rule
# "slow" of the program with faults makes every query count as slow.
. "$(dirname "$0")/../scratch.sh"
[ -x "$HOPSCOTCH_FAULTS_PROGRAM" ] || { echo "skip slow_query: needs $HOPSCOTCH_FAULTS_PROGRAM"; exit 0; }
cat >grid.yaml <<'END'
version: 1
experiment: grid
seed: 7
model: bbob
simulation: {function: sphere, dimension: 3}
search: {method: grid, over: {x1: {linspace: [-1, 1, 201]}, x2: {linspace: [-1, 1, 11]}, x3: [0, 1]}}
END
works run grid.yaml --progress none
whole=$(digest grid)
slow() { HOPSCOTCH_FAULT=slow:1+:EIO${rule:+,$rule} "$HOPSCOTCH_FAULTS_PROGRAM" "$@" >out 2>err </dev/null; }
indexes() { "$SQL" results/grid/campaign.db "SELECT name FROM sqlite_schema WHERE name GLOB 'trials_auto*'
    ORDER BY rowid" | tr '\n' ' '; }
plan() { "$SQL" results/grid/campaign.db "EXPLAIN QUERY PLAN $1" >out; }

# indexed COLUMNS ARGUMENTS...: the query prints the same as before, and makes an index over these columns; "": no index
indexed()
{
    columns=$1
    shift
    run query grid "$@" --format csv --limit 9
    cp out unindexed
    slow query grid "$@" --format csv --limit 9
    [ $? -eq 0 ] && cmp -s out unindexed
    check $? "query $* gives the same answer"
    if [ -n "$columns" ]; then
        [ "$(wc -l <err)" -eq 1 ] && grep -qF "made an index over $columns in " err
        check $? "query $* makes an index over $columns"
    else
        [ ! -s err ]
        check $? "query $* makes no index"
    fi
}

# ---- which queries make an index ------------------------------------------------------------------------------------

run query grid --where "x1 > 0.5 and x2 < 0" --order f:desc
[ -z "$(indexes)" ]
check $? "a quick query makes no index"
indexed "x1, x2, f" --where "x1 > 0.5 and x2 < 0" --order f:desc
indexed "" --where "x1 > 0.5 and x2 < 0" --order f:desc
plan 'SELECT id FROM trials WHERE x1 > 0.5 AND x2 < 0 ORDER BY +f'
has "SEARCH trials USING COVERING INDEX trials_auto_x1_x2_f (x1>?)"
indexed "" --where "x1 > 0.9"
indexed "" --where "id = 4"
indexed "" --order id:desc
indexed "" --order fitness
indexed "" --columns all
indexed "failure, x3, x2, f, x1" --where "x2 < 0 and f + x1 < 9 and failure = 'none' and 1 = x3"
indexed "n_failed, x2" --where "not (x2 > 0) and n_failed >= 0"
indexed "" --where "x2 + f > 0" # the first index has these columns
indexed "f DESC" --order f:desc
indexed "" --order f:desc
plan 'SELECT id FROM trials ORDER BY f DESC NULLS LAST, id LIMIT 3'
has "trials_auto_f_desc"
names=trials_auto_x1_x2_f\ trials_auto_failure_x3_x2_f_x1\ trials_auto_n_failed_x2\ trials_auto_f_desc\ 
[ "$(indexes)" = "$names" ]
check $? "at most four indexes are kept: $(indexes)"
indexed "x3, x2" --order x3,x2
[ "$(indexes)" = "${names#* }trials_auto_x3_x2 " ]
check $? "a fifth index replaces the oldest: $(indexes)"
indexed "" --where "id + search + round + x1 + x2 + x3 + f + fitness + n_failed > 0 and failure = 'none'" # nine columns
works doctor grid
[ "$(digest grid)" = "$whole" ]
check $? "indexes do not change the digest"
slow best grid
[ ! -s err ]
check $? "best of a campaign that is done has its index"
slow query grid --where "x1 > n_failed" --limit 2
has "--limit 0 prints all" err
has "the query was slow; made an index over x1, n_failed in 0" err
works export grid --csv out.csv

# ---- queries that make no index -------------------------------------------------------------------------------------

# none WHAT ARGUMENTS...: the query answers, exits with 0, and makes no index
none()
{
    what=$1 before=$(indexes)
    shift
    slow "$@" --format csv --limit 3
    [ $? -eq 0 ] && [ ! -s err ] && [ "$(wc -l <out)" -eq 4 ] && [ "$(indexes)" = "$before" ]
    check $? "$what"
}
rule=sqlwrite:1+:ENOSPC none "on a full disk nothing is made or said" query grid --order search,x1
rule=lock:1+:EACCES none "nor without its lock" query grid --order search,x1
works doctor grid
if [ "$(id -u)" -ne 0 ]; then
    chmod -R a-w results
    none "nor in results that only can be read" query grid --order search,x1
    chmod -R u+w results
fi
"$SQL" results/grid/campaign.db "UPDATE campaign SET state = 'running'" >out
none "nor of a campaign that was killed" query grid --order search,x1
"$SQL" results/grid/campaign.db "UPDATE campaign SET state = 'done'" >out
pauses truncate:1 note grid words
none "nor while another command has its lock" query grid --order search,x1
goes_on
works doctor grid

# Ctrl-C while the index is made: the answer is printed, no index is left, the exit status is the query's.
before=$(indexes)
pauses slow:1+:EIO,lock:1 query grid --order search,x1 --format csv --limit 2
[ "$(wc -l <paused.out)" -eq 3 ]
check $? "the answer is printed before the index is made"
kill -INT $pid
goes_on
[ "$ended" -eq 0 ]
check $? "Ctrl-C while the index is made keeps the query's exit status: $ended"
[ ! -s paused.err ] && [ "$(indexes)" = "$before" ]
check $? "Ctrl-C leaves no index"
works doctor grid
for call in 2 4 6 8 10; do
    HOPSCOTCH_FAULT=slow:1+:EIO,sqlwrite:$call:KILL "$HOPSCOTCH_FAULTS_PROGRAM" query grid --order search,x2 >out 2>err
    run doctor grid
    check $? "sound after a kill at write $call of the index"
done

# ---- a run drops indexes; best of an interrupted run makes one ------------------------------------------------------

indexed "search, x1" --order search,x1
works run grid.yaml --progress none
[ -n "$(indexes)" ]
check $? "a run of a finished campaign keeps the indexes"
works run grid.yaml --extend --set 'search.over.x3=[0, 1, 2]' --progress none
[ -z "$(indexes)" ]
check $? "an extension drops the indexes: $(indexes)"
works doctor grid
cp -r results/grid other
works rm grid --yes
"$HOPSCOTCH" run grid.yaml --batch 41 --set limits.trials=41 --progress none >out 2>err
"$SQL" results/grid/campaign.db "DROP INDEX trials_by_fitness" >out
slow best grid --format csv
has "made an index over fitness in 0" err
slow best grid --format csv
[ ! -s err ]
check $? "a second best makes no other index"
works resume grid --set limits.trials=none --progress none
[ -z "$(indexes)" ] && [ "$(digest grid)" = "$whole" ]
check $? "a resumed run drops the index"
works doctor grid
exit "$status"
