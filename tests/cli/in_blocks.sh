#!/bin/sh
# `store: {rows: blocks}`: batches are committed as blocks, where the trials stay. Every command reads them like rows,
# and the digest is that of a campaign with rows; also after a kill, damage and an extension.
set -u
cd "$(dirname "$0")/../.." || exit 3
program=${HOPSCOTCH:-$PWD/build/hopscotch}
faults=${HOPSCOTCH_FAULTS_PROGRAM:-$PWD/build/hopscotch_faults}
tests=$PWD/tests spec=$PWD/tests/crash/specs/blocks.yaml
folder=$(mktemp -d) || exit 3
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 3
failed=0

report() # STATUS NAME
{
    [ "$1" -eq 0 ] && echo "ok   in_blocks: $2" && return
    echo "FAIL in_blocks: $2"
    tail -n 5 log
    failed=1
}

run() { "$program" run "$spec" --progress none --batch 7 "$@" >>log 2>&1; }
digest() { "$program" digest "$1" | cut -d' ' -f1; }
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

run --name rows --set store.rows=table && run --name blocks && [ "$(digest rows)" = "$(digest blocks)" ] &&
    [ "$("$SQL" results/blocks/campaign.db 'SELECT sum(rows) FROM blocks')" = 300 ] &&
    "$program" doctor blocks >>log 2>&1
report $? "the same digest, and the trials are in blocks for good"
[ "$("$SQL" results/blocks/campaign.db 'SELECT count(*) FROM blocks')" -lt 64 ] &&
    [ "$(find results/blocks/shards -name 'rows_*' | wc -l)" = "$("$SQL" results/blocks/campaign.db \
        'SELECT count(*) FROM blocks')" ]
report $? "43 batches of 7 trials are few blocks, and no other file is left"
for name in rows blocks; do
    "$SQL" results/$name/campaign.db "SELECT * FROM best ORDER BY fitness" >$name.txt 2>>log
done
[ "$(wc -l <rows.txt)" = 300 ] && cmp rows.txt blocks.txt >>log 2>&1 &&
    ! "$SQL" results/blocks/campaign.db "SELECT * FROM trials" >>log 2>&1
report $? "a program that reads SQLite finds the best as rows, and no empty table of trials"
for name in rows blocks; do
    "$program" export $name --sqlite $name.db >>log 2>&1 && "$SQL" $name.db "SELECT * FROM trials" >$name.txt 2>>log
done
"$SQL" results/rows/campaign.db "SELECT * FROM trials" >wanted.txt
[ "$(wc -l <rows.txt)" = 300 ] && cmp rows.txt wanted.txt && cmp rows.txt blocks.txt && [ ! -e blocks.db-wal ]
report $? "export --sqlite writes rows"
first() { "$program" query many --sql "SELECT * FROM $1 ORDER BY fitness, id LIMIT 1000" --limit 0 --format csv; }
"$program" run "$spec" --progress none --batch 700 --name many --set search.trials=5000 >>log 2>&1 &&
    first "trials" >all.txt && first "best" >best.txt &&
    [ "$(wc -l <best.txt)" = 1001 ] && cmp all.txt best.txt
report $? "these are the best 1,000"

HOPSCOTCH_FAULT=fsync:80:KILL "$faults" run "$spec" --progress none --batch 7 --name killed >>log 2>&1
trials=$("$program" status killed --json | sed -n 's/.*"trials": *\([0-9]*\).*/\1/p' | head -n 1)
run --name part --set store.rows=table --set "limits.trials=$trials"
[ "$trials" -gt 30 ] && [ "$trials" -lt 300 ]
report $? "killed with $trials trials"
ask killed >killed.txt
ask part >part.txt
diff killed.txt part.txt >>log 2>&1 && [ "$(wc -l <part.txt)" -gt 100 ]
report $? "commands read blocks like rows"
"$program" doctor killed >doctor.txt 2>&1
grep -q 'ok *blocks' doctor.txt && grep -q 'ok *rows' doctor.txt && ! grep 'FINDING' doctor.txt | grep -vq index.db
report $? "doctor knows blocks"

for name in tagged damaged wrong; do cp -r results/killed results/$name; done
"$program" list >>log 2>&1
"$program" tag tagged good >>log 2>&1 && [ "$(digest tagged)" = "$(digest killed)" ] &&
    "$program" resume tagged --progress none >>log 2>&1 && [ "$(digest tagged)" = "$(digest rows)" ]
report $? "tagged, and resumed"

block=$(find results/damaged/shards -name "rows_*" | sort | head -n 1)
truncate -s 100 "$block"
"$program" doctor damaged >doctor.txt 2>&1
grep -q 'FINDING *blocks' doctor.txt
report $? "doctor finds a block that was cut"
"$program" query damaged --where 'x1 < 2' >query.txt 2>&1
[ $? -eq 3 ] && grep -q "is damaged: it has 100 bytes.*resume damaged" query.txt &&
    "$program" best damaged >best.txt 2>&1
report $? "a query refuses it, and names resume; best reads rows"
cp -r results/damaged results/resumed
"$program" resume resumed --progress none >resume.txt 2>&1 &&
    grep -q "resumed: 1 block of rows missing or damaged; the trials are simulated again" resume.txt &&
    [ "$(digest resumed)" = "$(digest rows)" ]
report $? "resume simulates its trials again"
"$program" doctor damaged --repair >>log 2>&1 && "$program" resume damaged --progress none >>log 2>&1
[ "$(digest damaged)" = "$(digest rows)" ]
report $? "doctor --repair simulates its trials again"

block=$(find results/wrong/shards -name "rows_*" | sort | head -n 1) # the first column begins at 8192
printf 'xyz' | dd of="$block" bs=1 seek=8212 conv=notrunc 2>>log
"$program" doctor wrong >doctor.txt 2>&1
grep -q 'FINDING *\(rows\|blocks\)' doctor.txt
report $? "the doctor finds a wrong number in a block"

# what another program may have done to the records: no command crashes or hangs
bad=
hostile() # SQL [WORDS that a query says]
{
    rm -rf results/hostile && cp -r results/killed results/hostile && "$SQL" results/hostile/campaign.db "$1" >>log 2>&1
    for command in "query --order x1" best digest doctor "query --sql SELECT(count(failure))FROM(trials) --limit 1"; do
        # shellcheck disable=SC2086
        timeout 20 "$program" ${command%% *} hostile ${command#"${command%% *}"} >said.txt 2>&1
        [ $? -lt 124 ] || bad="$bad $command after $1;"
        [ "$command" != "query --order x1" ] || grep -q "${2:-.}" said.txt ||
            bad="$bad query after $1 says $(head -n 1 said.txt);"
    done
}
hostile "DELETE FROM block_words"
hostile "DROP TABLE block_words"
hostile "UPDATE blocks SET first = -5" "have no valid ids"
hostile "UPDATE blocks SET last = first + 900" "not those that were written"
hostile "UPDATE blocks SET rows = 9223372036854775807" "more or fewer rows than ids"
hostile "UPDATE blocks SET columns = zeroblob(8)" "it has other columns"
hostile "UPDATE blocks SET columns = zeroblob(length(columns))" "the same id"
hostile "UPDATE blocks SET columns = zeroblob(length(columns)), last = first + 2305843009213693951,
    rows = 2305843009213693952 WHERE id = (SELECT max(id) FROM blocks)" "the same id"
hostile "UPDATE blocks SET bytes = 99999999" "not those that were written"
hostile "UPDATE blocks SET name = '../spec.yaml' WHERE id = 3" "is not that of a file"
hostile "DELETE FROM blocks WHERE id = 3"
hostile "UPDATE blocks SET last = last + 900 WHERE id = (SELECT max(id) FROM blocks)"
hostile "DROP TABLE best; CREATE TABLE best(fitness REAL, id INTEGER, failure TEXT)" "is not the id"
"$SQL" results/hostile/campaign.db "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 1100000)
    INSERT INTO blocks SELECT NULL, 5000 + i, 5000 + i, 1, 'rows_' || i, 1, x'', '', 0, 0 FROM n" >>log 2>&1
timeout 60 "$program" query hostile >said.txt 2>&1
grep -q "campaign.db lists more blocks than a campaign has" said.txt || bad="$bad $(head -n 1 said.txt)"
[ -z "$bad" ]
report $? "records that another program changed:${bad:- clear errors}"

for times in 1 2; do
    HOPSCOTCH_FAULT=fsync:16:KILL "$faults" resume killed --progress none --batch 7 >>log 2>&1
done
"$program" best killed >best.txt 2>>log && [ "$("$program" doctor killed | grep FINDING | grep -vc index.db)" = 0 ]
report $? "a run that goes on writes more blocks"
"$program" resume killed --progress none >>log 2>&1 && [ "$(digest killed)" = "$(digest rows)" ]
report $? "resumed to the digest of the other"
"$program" resume killed --progress none >said.txt 2>&1 && grep -q "is done already" said.txt
report $? "and it is done"

"$program" run "$tests"/crash/specs/grid.yaml --name arrays --set store.rows=blocks --progress none >>log 2>&1 &&
    "$program" run "$tests"/crash/specs/grid.yaml --name rows_of_arrays --progress none >>log 2>&1 &&
    ls results/arrays/shards/rows_* >>log 2>&1 && [ "$(digest arrays)" = "$(digest rows_of_arrays)" ] &&
    "$program" doctor arrays >>log 2>&1
report $? "with arrays"
# A program that fails where a file is not there yet.
cat >worker.sh <<'END'
while read -r line; do
    id=$(echo "$line" | sed -n 's/.*"id": *\([0-9]*\).*/\1/p') x=$(echo "$line" | sed -n 's/.*"x": *\([0-9]*\).*/\1/p')
    case $line in
    *hello*) echo '{"hello": 1, "version": "1"}' ;;
    *) [ -e good ] || [ $((x % 5)) -ne 2 ] || { echo "{\"id\": $id, \"failure\": \"fell\"}" && continue; }
        echo "{\"id\": $id, \"metrics\": {\"y\": $(((x * 37) % 101))}}" ;;
    esac
done
END
cat >own.yaml <<'END'
version: 1
experiment: own
model: command
simulation: {program: [sh, worker.sh], timeout: 20s}
parameters: {x: {range: [0, 1000]}}
metrics: [y]
failures: [fell]
search: {method: grid, over: {x: {arange: [0, 60, 1]}}}
objective: {minimize: y}
END
own() { "$program" run own.yaml --allow-programs --progress none --batch 6 "$@" >>log 2>&1; }
for rows in table blocks; do own --name failed_$rows --set store.rows=$rows; done
"$program" status failed_blocks | grep -q '^failures *1[12] trials'
report $? "some trials of a program fail"
touch good
own --name good
for rows in table blocks; do
    "$program" resume failed_$rows --retry fell --allow-programs --progress none >>log 2>&1 &&
        [ "$(digest failed_$rows)" = "$(digest good)" ] && "$program" doctor failed_$rows >>log 2>&1
    report $? "$rows: a retry gives the digest of a run without failures"
done
for rows in table blocks; do
    "$SQL" results/failed_$rows/campaign.db "SELECT * FROM best ORDER BY fitness, id" >$rows.txt 2>>log
done
cmp table.txt blocks.txt && [ "$(wc -l <table.txt)" = 61 ]
report $? "and its best trials"
[ "$(find results/failed_blocks/shards -name 'rows_*' | wc -l)" = "$("$SQL" results/failed_blocks/campaign.db \
    'SELECT count(*) FROM blocks')" ]
report $? "no block is left that another one replaced"
"$program" resume blocks --set store.rows=table >said.txt 2>&1
[ $? -eq 1 ] && grep -q "has its trials in blocks (store.rows), and that can't change in it" said.txt &&
    ! "$program" resume rows --set store.rows=blocks >said.txt 2>&1 && grep -q "has its trials in table" said.txt
report $? "where the trials are can't change"
for rows in table blocks; do
    name=short_$rows
    run --name $name --set store.rows=$rows --set search.trials=100 &&
        run --name $name --set store.rows=$rows --set search.trials=300 --extend &&
        [ "$(digest $name)" = "$(digest rows)" ] && "$program" doctor $name >>log 2>&1
    report $? "$rows: extended"
done
exit $failed
