#!/bin/sh
# Messages about campaigns that are damaged, or of another version: what is wrong, where, and what to do. doctor.sh
# tests that damage is found and repaired.
. "$(dirname "$0")/../scratch.sh"

cat >gait.yaml <<'END_OF_SPEC'
version: 1
experiment: gait
model: hopper
simulation: {duration: 0.05, dt: 1.0e-3, settle: 0}
search: {method: grid, over: {k_fp: [100, 150, 200]}}
record: {trajectories: {select: {every: 1}, sample: 0.01}}
END_OF_SPEC
cat >learn.yaml <<'END_OF_SPEC'
version: 1
experiment: learn
model: bbob
search:
  method: cmaes
  over: {x1: {range: [0, 1]}, x2: {range: [0, 1]}}
  cmaes: {population: 40, restarts: ipop, stop: {trials: 1200}}
END_OF_SPEC

run() { "$HOPSCOTCH" run "$@" --progress none >out 2>err || check 1 "run $*"; }

# sql CAMPAIGN STATEMENTS: changes the database as another program would
sql() { "$SQL" "results/$1/campaign.db" "$2"; }

# says CODE TEXT ARGUMENTS...: checks one command, then restores the campaigns
says()
{
    code=$1 text=$2
    shift 2
    "$HOPSCOTCH" "$@" >out 2>err
    got=$?
    cat err >>out
    [ "$got" -eq "$code" ] && grep -qF -e "$text" out
    check $? "$text"
    rm -rf results && cp -r whole results
}

run gait.yaml
run gait.yaml --name same
run gait.yaml --name longer --set 'search.over.k_fp=[100, 150]'
run gait.yaml --name longer --set 'search.over.k_fp=[100, 150, 200]' --extend
run learn.yaml
run learn.yaml --name half --set limits.trials=200
run gait.yaml --name third --set limits.trials=1 --batch 1
cp -r results whole

numerics=$("$HOPSCOTCH" version | sed -n 's/^numerics version \([0-9]*\).*/\1/p')

# ---- other versions -------------------------------------------------------------------------------------------------
sql same 'UPDATE campaign SET numerics_version = 7'
says 1 "campaign same was computed with numerics version 7 and this program has version $numerics: replay it with the" \
    replay same/0
sql same 'UPDATE campaign SET numerics_version = 7'
says 1 "gait has numerics version $numerics and same has 7: their last bits differ" merge gait same --into both
sql same 'PRAGMA user_version = 99'
says 1 "has schema version 99, which this program does not know: use the program that wrote it" best same
sql half "UPDATE searches SET state = CAST(x'ff' || substr(state, 2) AS BLOB)"
says 1 "the stored state of search method cmaes is not of version" resume half --set limits.trials=400
says 1 "gait and longer were extended in different ways: one id means two different trials" \
    merge gait longer --into both

# ---- damage ---------------------------------------------------------------------------------------------------------
sql same 'UPDATE trials SET hop_count = 7 WHERE id = 1'
says 3 "1 trial differs between campaigns, so one of them is wrong: nothing is merged; the commands doctor " \
    merge gait same --into both
sql gait "UPDATE shards SET name = '../same/shards/000000.h5'"
says 1 'names a shard "../same/shards/000000.h5", which is not a file in its folder: another program changed' best gait
sql gait 'UPDATE trajectories SET row = 9 WHERE trial = 1'
says 3 "does not hold trial 1, replicate 0 in row 9, as campaign.db says; the command doctor shows" digest gait
sql gait 'UPDATE trajectories SET row = 9 WHERE trial = 1'
says 3 "000000.h5 does not hold trial 1, replicate 0 in row 9" doctor gait
printf x | dd of=results/gait/shards/000000.h5 bs=1 seek=5000 conv=notrunc 2>err
says 3 "000000.h5 was changed after it was written: its SHA-256 does not match" doctor gait
printf x >>results/gait/shards/000000.h5
bytes=$(wc -c <whole/gait/shards/000000.h5)
says 3 "000000.h5 has $((bytes + 1)) bytes, and $bytes were written" doctor gait
rm results/gait/shards/000000.h5
says 3 "shard 000000.h5 is missing; the command resume records its arrays again" digest gait
rm results/gait/shards/000000.h5
says 0 "shards/000000.h5, which is missing; \`hopscotch resume\` of the campaign records it again" show gait/1
rm results/gait/shards/000000.h5
says 3 "gait: 1 finding; \`$HOPSCOTCH doctor gait --repair\` repairs what can be repaired" doctor gait
sql third "UPDATE searches SET state = x'00'"
says 3 "the stored state of search method grid is damaged; doctor CAMPAIGN --repair computes it again" \
    resume third --set limits.trials=2
sql half "DELETE FROM round_rows; UPDATE rounds SET debug = x'00' WHERE round = 0"
says 3 "round 0 of search 0 of half holds 1 bytes, not 21 numbers; $HOPSCOTCH doctor half --repair repairs it" \
    resume half --set limits.trials=400
sql learn "DELETE FROM trials WHERE id < 1024; DELETE FROM digests WHERE name = 'trials' AND block = 0;
    UPDATE trials SET fitness = 3"
says 3 "trials before 1024 are missing, on which those after them depend: nothing was changed; $HOPSCOTCH run " \
    doctor learn --repair --backend cpu
sql gait 'DELETE FROM campaign'
says 1 "its table campaign, of one row, is empty; \`$HOPSCOTCH doctor gait --repair\` makes it again" best gait
mkdir -p "results/gait/$(yes a | head -n 40 | paste -sd /)"
says 3 " is more than 32 folders deep, and hopscotch makes none so deep: look at it" rm gait --yes

# ---- output ---------------------------------------------------------------------------------------------------------
if [ -w /dev/full ]; then
    "$HOPSCOTCH" status gait >/dev/full 2>err
    [ $? -eq 3 ] && grep -qF "standard output could not be written: No space left" err
    check $? "standard output could not be written"
fi
exit "$status"
