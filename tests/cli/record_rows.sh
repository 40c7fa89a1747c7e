#!/bin/sh
# `record: {rows: {best: N, every: N, failures: N}}`: the rows that are kept and the sums over all trials are the same
# for every batch size, number of threads and instruction set, and after kills; and they are what a campaign with all
# rows says. Every command says which rows it is made from, or computes the trial, or refuses.
set -u
cd "$(dirname "$0")/../.." || exit 3
. tests/skip.sh
program=${HOPSCOTCH:-$PWD/build/hopscotch} spec=$PWD/tests/crash/specs/record_rows.yaml
faults=${HOPSCOTCH_FAULTS_PROGRAM:-$PWD/build/hopscotch_faults}
folder=$(mktemp -d) || exit 3
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 3
failed=0

report() # STATUS NAME
{
    [ "$1" -eq 0 ] && echo "ok   record_rows: $2" && return
    echo "FAIL record_rows: $2"
    tail -n 5 log
    failed=1
}

trials=3000
[ -n "${QUICK:-}" ] && trials=1500
cat >rows.yaml <<SPEC
version: 1
experiment: rows
model: hopper
seed: 3
simulation: {duration: 0.55, settle: 0.0, integrator: dormand_prince}
search:
  method: random
  trials: $trials
  over:
    k_fp: {range: [5, 300]}
    k_xdot: {range: [0.002, 0.9], scale: log}
    thrust: [5, 35, 65]
    k_att: {range: [5, 300]}
objective: {minimize: velocity_error}
record:
  rows: {best: 40, every: 500, failures: 30}
  trajectories: {select: {best: 2, trials: [7]}, sample: 0.01}
SPEC
least=$(vector_isas "$program" | head -n 1) # which every processor and build has
run() { "$program" run rows.yaml --progress none --backend cpu "$@" >>log 2>&1; }
digest() { "$program" digest "$1" | cut -d' ' -f1; }
ask() { "$program" query "$1" --format csv --sql "$2" 2>>log; }
says() # WORDS COMMAND...: it refuses in these words
{
    words=$1
    shift
    "$program" "$@" >refused.txt 2>&1
    [ $? -eq 1 ] && grep -qF -- "$words" refused.txt && return
    cat refused.txt >>log
    return 1
}

run --name kept && run --name small --batch 64 --threads 1 && run --name other --batch 700 --isa "$least" &&
    [ "$(digest kept)" = "$(digest small)" ] && [ "$(digest kept)" = "$(digest other)" ] &&
    "$program" doctor kept >>log 2>&1
report $? "the same digest for every batch size, number of threads and instruction set"

run --name all --set record.rows=all
best="SELECT id FROM trials WHERE fitness IS NOT NULL ORDER BY fitness, survived DESC, id LIMIT 40"
fell="SELECT id FROM trials WHERE failure <> 'none' ORDER BY id LIMIT 30"
ask all "SELECT id FROM trials WHERE id IN ($best) OR id IN ($fell) OR id % 500 = 0 OR id = 7 ORDER BY id" >wanted.txt
ask kept "SELECT id FROM trials ORDER BY id" >got.txt
diff wanted.txt got.txt >>log 2>&1 && [ "$(wc -l <got.txt)" -gt 60 ]
report $? "the rows are those that the spec asks for"

ask all "SELECT failure, count(*) AS n FROM trials GROUP BY failure ORDER BY failure" >wanted.txt
ask kept "SELECT failure, trials AS n FROM summary_failures WHERE trials > 0 ORDER BY failure" >got.txt
diff wanted.txt got.txt >>log 2>&1 && [ "$(wc -l <got.txt)" -eq 3 ]
report $? "failures are counted over all trials"
for column in fitness velocity_error energy apex_mean; do
    ask all "SELECT count($column), count(*) - count($column), min($column), max($column) FROM trials" | tail -n 1
    ask kept "SELECT vals, missing, least, greatest FROM summary_columns WHERE name = '$column'" |
        tail -n 1 >>got_columns.txt
done >wanted_columns.txt
diff wanted_columns.txt got_columns.txt >>log 2>&1
report $? "columns are summed up over all trials"
"$program" best all --top 40 --format csv >wanted.txt 2>>log &&
    "$program" best kept --top 40 --format csv >got.txt 2>>log && diff wanted.txt got.txt >>log 2>&1
report $? "best lists the same trials"

# killed ten times on the way, each time a few statements later
kills=0
while [ $kills -lt 10 ]; do
    HOPSCOTCH_FAULT=sql:$((350 + 13 * kills)):KILL "$faults" run rows.yaml --name killed --progress none --backend cpu \
        --batch 32 --threads 1 >>log 2>&1
    [ $? -eq 137 ] || break
    kills=$((kills + 1))
done
[ $kills -eq 10 ] && run --name killed --batch 32 --threads 1 && [ "$(digest killed)" = "$(digest kept)" ] &&
    "$program" doctor killed >>log 2>&1
report $? "ten kills leave the digest as it is"

# killed once, at each of many statements and writes of the database: also while dropped rows are deleted at the end
small() { "$1" run "$spec" --progress none --batch 20 --threads 1 --name "$2" >>log 2>&1; }
small "$program" whole
whole=$(digest whole) tried=0 bad=0 step=23
[ -z "${QUICK:-}" ] || step=151
for call in sql sqlwrite; do
    n=40
    while rm -rf results/cut && (export HOPSCOTCH_FAULT=$call:$n:KILL && small "$faults" cut) 2>>log; [ $? -eq 137 ]; do
        small "$program" cut && [ "$(digest cut)" = "$whole" ] || bad=$((bad + 1))
        tried=$((tried + 1)) n=$((n + step))
    done
done
[ $bad -eq 0 ] && [ $tried -ge 8 ]
report $? "a kill at any of $tried moments leaves the digest as it is"

# the same while the kept rows are in blocks
blocks=${spec%record_rows.yaml}kept_blocks.yaml
small() { "$1" run "$blocks" --progress none --batch 8 --threads 1 --name "$2" >>log 2>&1; }
small "$program" blocks &&
    "$program" run "$blocks" --progress none --name table --set store.rows=table >>log 2>&1 &&
    [ "$(digest blocks)" = "$(digest table)" ] && ls results/blocks/shards/rows_* >>log 2>&1 &&
    "$program" doctor blocks >>log 2>&1
report $? "kept rows in blocks: the same digest, and they stay there"
whole=$(digest blocks) tried=0 bad=0 step=29
[ -z "${QUICK:-}" ] || step=197
for call in sql sqlwrite fsync rename; do
    n=30
    while rm -rf results/cut && (export HOPSCOTCH_FAULT=$call:$n:KILL && small "$faults" cut) 2>>log; [ $? -eq 137 ]; do
        "$program" doctor cut 2>>log | grep 'FINDING *\(rows\|blocks\)' >>log && bad=$((bad + 1))
        small "$program" cut && [ "$(digest cut)" = "$whole" ] || bad=$((bad + 1))
        tried=$((tried + 1)) n=$((n + step))
    done
    step=$((step / 4 + 1))
done
[ $bad -eq 0 ] && [ $tried -ge 8 ]
report $? "kept rows in blocks: a kill at any of $tried moments leaves the digest as it is"

# killed while rows are in blocks: what commands say of it is what they say of a run of as many trials
for n in 40 75; do
    rm -rf results/cut results/part
    (export HOPSCOTCH_FAULT=fsync:$n:KILL && small "$faults" cut) 2>>log
    left=$("$SQL" results/cut/campaign.db "SELECT count(*) FROM blocks")
    ran=$(ask cut "SELECT sum(trials) AS n FROM batches" | tail -n 1)
    "$program" run "$blocks" --progress none --name part --set store.rows=table --set "limits.trials=$ran" >>log 2>&1
    for name in cut part; do
        for command in "best $name --top 7 --format csv" "show $name/best" \
            "query $name --where id%50=0 --format csv"; do
            # shellcheck disable=SC2086
            "$program" $command 2>>log | sed "s/$name/NAME/g" | grep -v '^ *\(batch\|committed\|wall\|computed\)'
        done >$name.txt
    done
    cp -r results/cut results/tagged && "$program" tag tagged good >>log 2>&1 &&
        "$program" resume tagged --progress none >>log 2>&1 && [ "$(digest tagged)" = "$whole" ] &&
        [ "$left" != "" ] && [ "$left" != 0 ] && [ "$(wc -l <part.txt)" -gt 20 ] && diff cut.txt part.txt >>log 2>&1
    report $? "killed with $ran trials, their kept rows in blocks: best, show, query, tag and resume"
    rm -rf results/tagged
done
run --name stopped --set limits.trials=700 && run --name stopped && [ "$(digest stopped)" = "$(digest kept)" ]
report $? "a limit, and then the rest: the same digest"

# trials without a row
without="failure = 'none' AND id NOT IN ($best) AND id % 500 > 0"
id=$(ask all "SELECT id FROM trials WHERE $without LIMIT 1 OFFSET 90" | tail -n 1)
"$program" show "kept/$id" >got.txt 2>>log && grep -q 'stores no row' got.txt
grep -v 'stores no row\|^computed\|replay\|^$' got.txt >shown.txt
"$program" show "all/$id" 2>>log | grep -v '^computed\|replay\|^$' | sed 's/^all/kept/' | diff - shown.txt >>log 2>&1
report $? "show computes a trial without a row"
"$program" replay "kept/$id" 2>>log | grep -q "no stored row (record.rows) to compare with" &&
    "$program" replay "kept/$id" --json 2>>log | grep -q '"computed": true' &&
    "$program" replay kept/best 2>>log | grep -q 'the same to the bit' &&
    "$program" replay kept/7 2>>log | grep -q 'the same to the bit' &&
    ! "$program" replay "kept/$trials" >>log 2>&1 && ! "$program" show "kept/$trials" >>log 2>&1
report $? "replay computes it too, and nothing beyond the last trial"
"$program" verify kept --trial "$id" --progress none >>log 2>&1
report $? "verify takes it"

# what is made from what
"$program" status kept >got.txt 2>>log && grep -q '^rows .*the best 40, ids that are multiples of 500' got.txt &&
    grep -q '^failed .* fell' got.txt && grep -q '^velocity_error ' got.txt &&
    "$program" status kept --json >got.txt 2>>log && grep -q '"quantiles"' got.txt && grep -q '"kept": ' got.txt
report $? "status shows the sums"
for command in "query kept --limit 1" "query kept --sql SELECT(1)" "export kept --csv kept.csv" "best kept --pareto" \
    "plot kept --kind scatter -o kept.svg"; do
    # shellcheck disable=SC2086
    "$program" $command 2>&1 >>log | grep -q "made from rows of [0-9]* of .* trials (record.rows)" ||
        echo "$command" >>silent
done
[ ! -e silent ]
report $? "query, export, plot and fronts say which rows they are made from"
"$program" best kept --top 41 2>&1 >>log | grep -q 'these are the best 40: the campaign stores no rows of other trials'
report $? "best says where the kept ones end"
"$program" report kept >>log 2>&1 && grep -q '<h2>All trials' results/kept/report.html &&
    grep -q 'made from sums over all trials' results/kept/report.html
report $? "the report has the sums"

# what would be wrong
says "its worst trial may have none" show kept/worst &&
    says "a retry would not change its sums" run rows.yaml --name kept --retry fell &&
    says "the bins of its sums by x2 would change, so it can't be extended" \
        run "$blocks" --name blocks --set 'search.over.x2={linspace: [-5, -4, 9]}' --extend &&
    says "was made with record.rows: {best: 40, every: 500, failures: 30}, and its rows and sums can't be those" \
        resume kept --set record.rows=all &&
    says "record.rows: {best: 41, every: 500, failures: 30}; a new campaign can, under another --name" \
        resume kept --set record.rows.best=41 &&
    says "was made with record.rows: all" resume all --set 'record.rows={best: 40}' &&
    cp -r results/kept results/copy &&
    says "sums of two campaigns can't be joined" merge kept copy --into merged && rm -rf results/copy
report $? "worst, retry, other bins, merge and another choice are refused"
"$program" plan rows.yaml --set search.trials=1000000000 >got.txt 2>>log &&
    grep -q 'KiB of SQLite\|MiB of SQLite' got.txt && grep -q 'trials  *1,000,000,000' got.txt
report $? "plan knows how little a billion trials store"

# extended: as if it had had all trials from the start
grep -v trajectories: rows.yaml >plain.yaml
plain() { "$program" run plain.yaml --progress none --backend cpu "$@" >>log 2>&1; }
plain --name all-at-once
for rows in table blocks; do
    plain --name "short-$rows" --set store.rows=$rows --set search.trials=700 &&
        plain --name "short-$rows" --set store.rows=$rows --set "search.trials=$trials" --extend &&
        [ "$(digest "short-$rows")" = "$(digest all-at-once)" ] && "$program" doctor "short-$rows" >>log 2>&1
    report $? "700 trials, extended to $trials: the digest of $trials (rows: $rows)"
done

# damage
before=$(digest kept)
some="SELECT id FROM trials WHERE id <> 7 ORDER BY fitness IS NULL, fitness LIMIT 12 OFFSET 3"
"$SQL" results/kept/campaign.db "DELETE FROM trials WHERE id IN ($some)" && ! "$program" doctor kept >>log 2>&1 &&
    "$program" doctor kept --repair >>log 2>&1 && [ "$(digest kept)" = "$before" ]
report $? "the doctor makes rows again, and no others"
cp -r results/kept results/lost
# a block of rows to which no trajectory refers
"$SQL" results/lost/campaign.db "CREATE TEMP TABLE gone AS SELECT max(block) AS block FROM digests
    WHERE name = 'trials' AND block NOT IN (SELECT trial / 1024 FROM trajectories);
    DELETE FROM trials WHERE id / 1024 IN (SELECT block FROM gone);
    UPDATE digests SET rows = 0 WHERE name = 'trials' AND block IN (SELECT block FROM gone);
    DELETE FROM digests WHERE name = 'trials' AND rows = 0" && ! "$program" doctor lost >got.txt 2>>log &&
    grep -q 'FINDING .*kept rows are missing or were added, and their digests too' got.txt &&
    ! grep -q 'the rows of trials' got.txt
report $? "the doctor sees that kept rows are gone with their digests"
"$SQL" results/kept/campaign.db "UPDATE summary_failures SET trials = trials + 1 WHERE failure = 'fell'" &&
    "$program" doctor kept 2>>log | grep -q 'FINDING .*summary_failures'
report $? "the doctor sees changed sums"

exit $failed
