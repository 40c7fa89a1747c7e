#!/bin/sh
# The doctor: it reports a healthy campaign as such; it finds and repairs each kind of damage, and the campaign then has
# its old digest; flipped bits; a new catalogue.
#
#   QUICK=1   fewer damages; beside the program is `flips`, which flips the bits (tests/crash/flips.c)
. "$(dirname "$0")/../scratch.sh"
campaign=results/gains

cat >gains.yaml <<'END'
version: 1
experiment: gains
seed: 7
model: hopper
simulation: {duration: 0.3, dt: 1.0e-3, settle: 0}
search: {method: grid, over: {k_fp: {linspace: [50, 300, 8]}, dphi_body: [0, 1, 20]}}
replicates: {count: 2, store: true, perturb: {phi_leg: {uniform: [0, 0.1]}}}
record: {trajectories: {select: {best: 2, every: 10, failures: 2}, sample: 0.01}}
END

doctor() { "$HOPSCOTCH" doctor gains "$@" >out 2>&1; }
# sql TEXT: changes the database as another program would
sql() { "$SQL" "$campaign/campaign.db" "$1"; }

# mends NAME WORD COMMAND...: after COMMAND the doctor has a finding of check WORD, repairs it, and finds no more.
mends()
{
    name=$1 word=$2
    shift 2
    rm -rf results && cp -r whole results
    "$@"
    doctor
    found=$?
    grep -q "^FINDING *$word" out || { check 1 "$name is found by the check of $word" && return; }
    doctor --repair --backend cpu
    mended=$?
    got=$(digest gains)
    [ "$found" -eq 3 ] && [ "$mended" -eq 0 ] && [ "$got" = "$expected" ]
    check $? "$name: found ($found), mended ($mended)"
}

"$HOPSCOTCH" run gains.yaml --progress none >out 2>&1
check $? "a campaign"
expected=$(digest gains)
cp -r results whole
doctor
check $? "a whole campaign is healthy"
doctor --json && grep -q '"healthy": true' out
check $? "a whole campaign is healthy in JSON too"

mends "a byte of a shard" shards sh -c \
    "printf x | dd of='$campaign/shards/000000.h5' bs=1 seek=5000 conv=notrunc 2>/dev/null"
mends "a shard that is gone" shards rm "$campaign/shards/000001.h5"
mends "what a crash leaves" files cp "$campaign/shards/000000.h5" "$campaign/shards/000007.h5"
mends "a spec that was edited" spec sh -c "echo '# mine' >>'$campaign/resolved.yaml'"
rm results/index.db && doctor && grep -q "index.db is missing: the next list renews it" out
check $? "a campaign is healthy without a catalogue, as in a root to which its folder was moved"
mends "a catalogue of junk" catalogue sh -c "echo junk >results/index.db"
# The doctor reports a database of another schema version and leaves it alone: its rows may mean something else.
rm -rf results && cp -r whole results
sql "UPDATE campaign SET spec = 'another program wrote this'; PRAGMA user_version = 99"
cp "$campaign/campaign.db" before.db
doctor
[ $? -eq 3 ] && grep -q "has schema version 99, which this program does not know" out
check $? "another schema version is reported"
doctor --repair --backend cpu
[ $? -eq 3 ] && cmp -s "$campaign/campaign.db" before.db
check $? "a repair does not write into a database of another schema version"

rm -rf results && cp -r whole results
sql "UPDATE shards SET name = printf('%0120d', 7) WHERE id = 0"
doctor
[ $? -eq 3 ] && grep -q '^FINDING *shards .*0" is not a name for a shard' out
check $? "a too long name of a shard is reported"

# An index with other values than its table: it is written with changed rows, and hidden while the rows are restored.
stale_index()
{
    trial=$("$SQL" whole/gains/campaign.db "SELECT min(id) FROM trials WHERE fitness IS NOT NULL")
    back=$("$SQL" whole/gains/campaign.db "SELECT printf('%!.17g', fitness) FROM trials WHERE id = $trial" |
        sed 's/Inf/9e999/')
    sql "UPDATE trials SET fitness = $1 WHERE id = $trial; CREATE TABLE hidden AS SELECT * FROM sqlite_schema
        WHERE type = 'index' AND tbl_name = 'trials'; PRAGMA writable_schema = 1;
        DELETE FROM sqlite_schema WHERE type = 'index' AND tbl_name = 'trials'"
    sql "UPDATE trials SET fitness = $back WHERE id = $trial"
    sql "PRAGMA writable_schema = 1; INSERT INTO sqlite_schema SELECT * FROM hidden; DROP TABLE hidden"
}
mends "an index with another value" structure stale_index 7
mends "an index without a value" structure stale_index NULL
[ -n "${QUICK:-}" ] || {
    mends "a trial that is gone" rows sql 'DELETE FROM trials WHERE id = 3'
    mends "trials that went with their digests" rows sql "DELETE FROM replicates; DELETE FROM trials;
        DELETE FROM digests WHERE name IN ('trials', 'replicates')"
    mends "replicates that went with theirs, and their trials did not" rows sql "DELETE FROM replicates;
        DELETE FROM digests WHERE name = 'replicates'"
    grep -q '^FINDING *rows *table replicates: rows of trials 0 to .* are missing.* --repair simulates' out
    check $? "and is told how to have them back"
    mends "a trial under another id" rows sql 'UPDATE trials SET id = 3000 WHERE id = 3'
    mends "a replicate" rows sql 'UPDATE replicates SET energy = 1 WHERE trial = 3'
    mends "the campaign's own row" spec sql 'DELETE FROM campaign'
    mends "the spec in the database" spec sql "UPDATE campaign SET resolved = 'abc'"
    mends "a place of an array" shards sql 'UPDATE trajectories SET trial = 7 WHERE trial = 10'
    mends "shards that are forgotten" references sql 'DELETE FROM shards'
    mends "batches" rows sql 'UPDATE batches SET trials = 7'
    mends "an event" rows sql "UPDATE events SET text = 'x'"
    mends "a digest" rows sql "DELETE FROM digests WHERE name = 'trials'"
}
mends "everything at once" rows sql 'UPDATE trials SET fitness = 2 * fitness; UPDATE replicates SET energy = 0;
    UPDATE trajectories SET row = 9; UPDATE campaign SET seed = 8; DELETE FROM searches;
    DROP INDEX trials_by_fitness'

# An extended campaign has trials that its last spec does not ask for.
cp -r whole first && rm -rf results && cp -r whole results
sed 's/300, 8/300, 9/' gains.yaml >extended.yaml
"$HOPSCOTCH" run extended.yaml --extend --progress none >out 2>&1
check $? "an extended campaign"
whole=$expected expected=$(digest gains)
rm -rf whole && cp -r results whole
mends "trials of an extended campaign" rows sql 'UPDATE trials SET fitness = 3 WHERE id > 3; DELETE FROM searches;
    DELETE FROM trajectories'
rm -rf whole && mv first whole && expected=$whole

# Without a readable spec, the doctor looks for debug rows under the names that the models give them.
campaign=results/ndt_basin
"$HOPSCOTCH" run "$root"/experiments/ndt_basin.yaml --progress none --set replicates.count=1 \
    --set 'search.over={start_x: [0]}' >out 2>&1 && sql "UPDATE campaign SET resolved = 'abc'"
"$HOPSCOTCH" doctor ndt_basin >out 2>&1
grep -q '^FINDING *spec' out && grep -q '^ok *shards *1' out
check $? "debug rows of scan matching are checked without a spec"
sql 'UPDATE debug_rows SET samples = samples + 1'
"$HOPSCOTCH" doctor ndt_basin >out 2>&1
grep -q '^FINDING *shards .* does not hold trial 0' out
check $? "wrong places of debug rows are reported"
campaign=results/gains
rm -rf results/ndt_basin

# SQLite can read nothing in the file: the doctor prints a command to compute the campaign again, with the same bits.
rm -rf results && cp -r whole results
dd if=/dev/zero of="$campaign/campaign.db" bs=4096 count=4 conv=notrunc 2>/dev/null
doctor
[ $? -eq 3 ] && grep -q "to the same bits: mv" out
check $? "an unreadable database is reported"
command=$(sed -n 's/.*to the same bits: //p' out)
sh -c "$command" >out 2>&1 && [ "$(digest gains)" = "$expected" ]
check $? "the printed command computes an unreadable campaign again"

# Pages of the database are lost, and SQLite cannot repair it.
rm -rf results && cp -r whole results
dd if=/dev/zero of="$campaign/campaign.db" bs=4096 seek=2 count=1 conv=notrunc 2>/dev/null
"$HOPSCOTCH" doctor gains --repair >out 2>&1
[ $? -eq 3 ] && grep -q "campaign.db: its structure is beyond repair" out
check $? "a database beyond repair is reported"
command=$(sed -n 's/.*to the same bits: //p' out)
sh -c "$command" >out 2>&1 && [ "$(digest gains)" = "$expected" ]
check $? "the printed command computes that campaign again"

# A damaged catalogue never stops a run.
echo junk >results/index.db
"$HOPSCOTCH" run gains.yaml --name more --progress none >out 2>&1 && ! grep -q warning out &&
    "$HOPSCOTCH" doctor more >out && grep -q "index.db says the same" out
check $? "a run continues with a damaged catalogue, and makes a new one"

flips=$(dirname "$HOPSCOTCH")/flips
if [ -x "$flips" ]; then "$flips" flips 30 || status=1; else lacks_program "$flips" "bits that flip"; fi
HOPSCOTCH=$HOPSCOTCH sh "$root/tests/crash/flips_of_blocks.sh" || status=1
exit $status
