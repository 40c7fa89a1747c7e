#!/bin/sh
# `store: {rows: later}`: batches are committed as blocks. A campaign that was killed is read as a whole, and ends with
# the digest of one whose rows were stored at once.
set -u
cd "$(dirname "$0")/../.." || exit 3
program=${HOPSCOTCH:-$PWD/build/hopscotch}
faults=${HOPSCOTCH_FAULTS_PROGRAM:-$PWD/build/hopscotch_faults}
tests=$PWD/tests spec=$PWD/tests/crash/specs/later.yaml
folder=$(mktemp -d) || exit 3
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 3
failed=0

report() # STATUS NAME
{
    [ "$1" -eq 0 ] && echo "ok   later: $2" && return
    echo "FAIL later: $2"
    tail -n 5 log
    failed=1
}

run() { "$program" run "$spec" --progress none --batch 7 "$@" >>log 2>&1; }
digest() { "$program" digest "$1" | cut -d' ' -f1; }
left() { "$program" status "$1" --json | sed -n 's/.*"rows_left": *\([0-9]*\).*/\1/p' | head -n 1; }
ask() # NAME: what commands print of it, without its name
{
    for command in "best $1 --json" "query $1 --where x1<2 --limit 0" "export $1 --csv all.csv" "show $1/3"; do
        # shellcheck disable=SC2086
        "$program" $command 2>>log || echo "status $?: $command"
    done | sed "s/$1/NAME/g" | grep -v '^ *\(batch\|committed\|wall\|computed\)'
    cat all.csv
    "$program" query "$1" --sql "SELECT count(*), min(fitness), max(id), count(DISTINCT failure) FROM trials" 2>&1
    "$program" query "$1" --sql "SELECT id, failure, x2 FROM trials WHERE x1 > 1 ORDER BY fitness DESC, id" 2>&1
}

run --name rows --set store.rows=at_once && run --name later && [ "$(digest rows)" = "$(digest later)" ] &&
    [ "$(left later)" = 0 ] && ! ls results/later/shards/rows_* >>log 2>&1 && "$program" doctor later >>log 2>&1
report $? "the same digest, and no block is left"

# killed in the 60th fsync; how many rows the writer has made by then depends on time, so they go
HOPSCOTCH_FAULT=fsync:60:KILL "$faults" run "$spec" --progress none --batch 7 --name killed >>log 2>&1
"$SQL" results/killed/campaign.db "DELETE FROM trials" >>log 2>&1
trials=$("$program" status killed --json | sed -n 's/.*"trials": *\([0-9]*\).*/\1/p' | head -n 1)
run --name part --set store.rows=at_once --set "limits.trials=$trials"
[ "$(left killed)" -gt 0 ] && [ "$(left part)" = 0 ] &&
    "$program" status killed | grep -q '^rows  .*are still in blocks'
report $? "killed with $trials trials, $(left killed) of them in blocks alone"
ask killed >killed.txt
ask part >part.txt
diff killed.txt part.txt >>log 2>&1 && [ "$(wc -l <part.txt)" -gt 100 ]
report $? "commands read blocks like rows"
"$program" doctor killed >doctor.txt 2>&1
grep -q 'ok *blocks' doctor.txt && grep -q 'ok *rows' doctor.txt && ! grep 'FINDING' doctor.txt | grep -vq index.db
report $? "doctor knows blocks"

for name in tagged damaged wrong; do cp -r results/killed results/$name; done
"$program" reindex >>log 2>&1
"$program" tag tagged good >>log 2>&1 && [ "$(left tagged)" = 0 ] && [ "$(digest tagged)" = "$(digest killed)" ] &&
    "$program" resume tagged --progress none >>log 2>&1 && [ "$(digest tagged)" = "$(digest rows)" ]
report $? "a command that changes a campaign makes its rows first"

block=results/damaged/shards/rows_000003.h5
truncate -s 100 "$block"
"$program" doctor damaged >doctor.txt 2>&1
grep -q 'FINDING *blocks' doctor.txt
report $? "doctor finds a block that was cut"
"$program" best damaged >best.txt 2>&1
[ $? -eq 3 ] && grep -q "is damaged: it has 100 bytes.*resume damaged" best.txt
report $? "best refuses it, and names resume"
cp -r results/damaged results/resumed
"$program" resume resumed --progress none >resume.txt 2>&1 &&
    grep -q "resumed: 1 block of rows missing or damaged; the trials are simulated again" resume.txt &&
    [ "$(digest resumed)" = "$(digest rows)" ]
report $? "resume simulates its trials again"
"$program" doctor damaged --repair >>log 2>&1 && "$program" resume damaged --progress none >>log 2>&1
[ "$(digest damaged)" = "$(digest rows)" ]
report $? "doctor --repair simulates its trials again"

# the columns begin at 8192 with seven ids; the sixth column is the fitness
printf 'xyz' | dd of=results/wrong/shards/rows_000000.h5 bs=1 seek=$((8192 + 5 * 56)) conv=notrunc 2>>log
"$program" doctor wrong >doctor.txt 2>&1
grep -q 'FINDING *rows' doctor.txt
report $? "digests of rows find a wrong number in a block"

cp -r results/killed results/made && "$program" reindex >>log 2>&1
"$SQL" results/made/campaign.db "INSERT INTO trials(id, search, round, failure, n_failed) VALUES(0, 0, 0, 'none', 0)"
"$program" doctor made >doctor.txt 2>&1
grep -q 'FINDING *blocks .*already made' doctor.txt && [ "$(grep -c FINDING doctor.txt)" = 1 ] &&
    "$program" doctor made --repair >>log 2>&1 && "$program" resume made --progress none >>log 2>&1 &&
    [ "$(digest made)" = "$(digest rows)" ] && "$program" doctor made >>log 2>&1
report $? "doctor finds a wrong row that was already made of a block, and makes it again"

# what another program may have done to the records: no command crashes or hangs
bad=
hostile() # SQL [WORDS that `best` says]
{
    rm -rf results/hostile && cp -r results/killed results/hostile && "$SQL" results/hostile/campaign.db "$1" >>log 2>&1
    for command in best digest doctor "query --sql SELECT(count(failure))FROM(trials) --limit 1"; do
        # shellcheck disable=SC2086
        timeout 20 "$program" ${command%% *} hostile ${command#"${command%% *}"} >said.txt 2>&1
        [ $? -lt 124 ] || bad="$bad $command after $1;"
        [ "$command" != best ] || grep -q "${2:-.}" said.txt || bad="$bad best after $1 says $(head -n 1 said.txt);"
    done
}
hostile "DELETE FROM block_words"
hostile "DROP TABLE block_words"
hostile "UPDATE blocks SET first = -5" "have no valid ids"
hostile "UPDATE blocks SET last = first + 900" "are in the block before it too"
hostile "UPDATE blocks SET rows = 9223372036854775807" "more or fewer rows than ids"
hostile "UPDATE blocks SET offsets = zeroblob(8)" "it has other columns"
hostile "UPDATE blocks SET offsets = zeroblob(length(offsets))"
hostile "UPDATE blocks SET bytes = 99999999" "is damaged: it has"
hostile "UPDATE blocks SET name = '../spec.yaml' WHERE id = 3" "is not that of a file"
hostile "DELETE FROM blocks WHERE id = 3"
hostile "UPDATE blocks SET last = last + 900 WHERE id = (SELECT max(id) FROM blocks)"
hostile "DROP TABLE trials; CREATE TABLE trials(fitness REAL, id INTEGER, failure TEXT)" "is not the id"
rm -rf results/hostile && cp -r results/killed results/hostile
"$SQL" results/hostile/campaign.db \
    "INSERT INTO trials(id, search, round, failure, n_failed) VALUES(5, 0, 0, 'none', 0)" >>log 2>&1
timeout 20 "$program" tag hostile good >said.txt 2>&1
[ $? -eq 3 ] && grep -q "rows were made of them" said.txt || bad="$bad tag says $(head -n 1 said.txt);"
[ -z "$bad" ]
report $? "records that another program changed:${bad:- clear errors}"

blocks() { "$SQL" "results/$1/campaign.db" "SELECT count(*) FROM blocks WHERE first = 0 OR first >= $trials" 2>>log; }
for times in 1 2; do
    HOPSCOTCH_FAULT=fsync:16:KILL "$faults" resume killed --progress none --batch 7 >>log 2>&1
done
[ "$(blocks killed)" -gt 3 ] && "$program" best killed >best.txt 2>>log &&
    [ "$("$program" doctor killed | grep FINDING | grep -vc index.db)" = 0 ]
report $? "a run that goes on writes more blocks, and no row waits for it: $(blocks killed)"
cp -r results/killed results/retried
"$program" resume retried --retry failed --set limits.trials=200 --progress none >>log 2>&1
[ "$(left retried)" = 0 ] && [ "$(blocks retried)" = "" ]
report $? "a retry makes the rows first"
"$program" resume killed --progress none >>log 2>&1 && [ "$(digest killed)" = "$(digest rows)" ] &&
    [ "$(left killed)" = 0 ]
report $? "resumed to the digest of the other"
"$program" resume killed --progress none >said.txt 2>&1 && grep -q "is done already" said.txt
report $? "and it is done"

"$program" run "$tests"/crash/specs/grid.yaml --name arrays --set store.rows=later --progress none >>log 2>&1 &&
    ! ls results/arrays/shards/rows_* >>log 2>&1
report $? "where arrays refer to rows, these are stored at once"
exit $failed
