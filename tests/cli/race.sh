#!/bin/sh
# replicates.race: the best trials of a known search get more replicates. Oracle: tests/race.py, from a run without.
. "$(dirname "$0")/../scratch.sh"
with_python "races" || exit 0

cat >race.yaml <<'END_SPEC'
version: 1
experiment: race
seed: 7
model: bbob
simulation: {function: rastrigin, dimension: 3}
search:
  method: random
  trials: 50
  over: {x1: {range: [-5, 5]}, x2: {range: [-5, 5]}}
replicates: {count: 64, race: {start: 4}, perturb: {x3: {normal: [0, 3]}}}
END_SPEC

# same NAME 'OPTION...' ORACLE...: the race and the oracle agree
same()
{
    name=$1 options=$2
    shift 2
    # shellcheck disable=SC2086
    "$HOPSCOTCH" run race.yaml --name "$name" --progress none $options >out 2>err &&
        "$HOPSCOTCH" run race.yaml --name "$name-flat" --progress none $options --set replicates.race=off \
            --set replicates.store=true >out 2>err &&
        python3 "$root"/tests/race.py "results/$name/campaign.db" "results/$name-flat/campaign.db" "$@" >out 2>err
    check $? "$name: $(cat out)"
}
same mean '' 4 0.5
has "50 trials, 4 rungs, 644 replicates of 3200"
same median '--set objective.over=median --set replicates.race.keep=0.25' 4 0.25 median
same worst '--set objective.over=worst --set replicates.common=false' 4 0.5 worst
same best \
    "--set objective.maximize=f --set objective.over=quantile(0.2) --set replicates.count=20 \
    --set replicates.race.start=3" 3 0.5 quantile 0.2 --maximize
failing='objective.minimize="f+0*log(x3+5)"'
same ignored "--set $failing --set objective.failed=ignore" 4 0.5 --failed ignore \
    --objective 'lambda f, x3: f if x3 > -5 else None'
same robust "--set $failing --set objective.failed=ignore --set replicates.race.by=failures" 4 0.5 \
    --failed ignore --failures --objective 'lambda f, x3: f if x3 > -5 else None'
same any "--set $failing --set replicates.common=false" 4 0.5 --objective 'lambda f, x3: f if x3 > -5 else None'
same failures "--set $failing --set replicates.common=false --set replicates.race.by=failures" 4 0.5 --failures \
    --objective 'lambda f, x3: f if x3 > -5 else None'
run query failures --sql "SELECT count(*) FROM trials WHERE replicates = 64" --format csv
[ "$(tail -n 1 out)" = 4 ] && "$HOPSCOTCH" plan race.yaml --set replicates.race.by=failures >out 2>err &&
    has "644 in all"
check $? "by: failures with failed: any: as many trials go on as plan says"
[ -n "${QUICK:-}" ] || same penalty "--set $failing --set objective.failed=penalty(900)" 4 0.5 --failed 'penalty(900)' \
    --objective 'lambda f, x3: f if x3 > -5 else None'
same bound '--set constraints=["f<1200"]' 4 0.5 --constraint 'lambda f, x3: f - 1200'

# what it says
run best mean
head -n 2 out | grep -q 'replicates .*' && sed -n 2p out | grep -q ' 64 '
check $? "finalists rank first, and the table says their replicates"
run query mean --columns id,replicates --where "replicates = 4" --format csv
[ "$(wc -l <out)" = 26 ]
check $? "query knows the column"
run status mean
has "4 to 64 replicates each (a race)"
has "644 replicates"
run plan race.yaml
has "644 in all (a race of 5 rungs; equal shares: 3,200)"
run show mean/3
has "4 of up to 64 replicates"
for trial in 3 9 44; do works replay mean/$trial; done
works doctor mean
works report mean -o page.html

# the same whatever ran it
reference=$(digest mean)
for damage in 'UPDATE trials SET fitness = 1, replicates = 17 WHERE id = 44' \
    'DELETE FROM replicates WHERE trial = 9 AND replicate > 20' 'UPDATE replicates SET f = 3 WHERE trial = 20'; do
    "$SQL" results/mean/campaign.db "$damage" >/dev/null
    run doctor mean
    [ $? -ne 0 ] && "$HOPSCOTCH" doctor mean --repair >out 2>err && [ "$(digest mean)" = "$reference" ]
    check $? "repaired: $damage"
    works doctor mean
done
for options in "--threads 1 --batch 7" "--threads 2 --batch 999"; do
    # shellcheck disable=SC2086
    "$HOPSCOTCH" run race.yaml --name other --progress none $options >out 2>err
    [ "$(digest other)" = "$reference" ]
    check $? "the same digest: $options"
    "$HOPSCOTCH" remove other --yes >/dev/null 2>&1 || rm -rf results/other
done
if with_faults "a race that is killed"; then
    for at in 70 110 150 190 $([ -n "${QUICK:-}" ] || echo 60 90 130 170 210 250); do
        rm -rf results/killed
        HOPSCOTCH_FAULT=sqlwrite:$at:KILL "$HOPSCOTCH_FAULTS_PROGRAM" run race.yaml --name killed --batch 64 \
            --progress none >out 2>err
        killed=$?
        "$HOPSCOTCH" run race.yaml --name killed --progress none >out 2>err
        [ "$(digest killed)" = "$reference" ]
        check $? "killed at write $at (exit code $killed), and resumed"
    done
    rm -rf results/killed
    HOPSCOTCH_FAULT=sqlwrite:110:KILL "$HOPSCOTCH_FAULTS_PROGRAM" run race.yaml --name killed --batch 64 \
        --progress none >out 2>err
    "$SQL" results/killed/campaign.db "DELETE FROM replicates WHERE replicate = 1" >/dev/null
    run run race.yaml --name killed --progress none
    has "stored replicates, and its race needs" err
fi
run run race.yaml --name limited --progress none --set limits.trials=20
run query limited --sql "SELECT count(*), max(replicates) FROM trials" --format csv
[ "$(tail -n 1 out)" = 20,4 ]
check $? "no race before all trials have run"
run run race.yaml --name limited --progress none
[ "$(digest limited)" = "$reference" ]
check $? "then it is the same"

# what it can't be
refused check race.yaml --set 'replicates.race={start: 4, keep: 1}'
has "keep is 1, must be in [0.1, 0.9]" err
lacks "did you mean" err
refused check race.yaml --set replicates.count=-2
has "count is -2" err
lacks "start is 4" err
refused check race.yaml --set replicates.count=3
has "start is 4 and replicates.count is 3" err
run query mean --sql "SELECT text FROM events WHERE kind = 'race'" --format csv
has "rung 2 of 5: "
has "rung 5 of 5: "
refused run race.yaml --name mean --extend --set search.trials=60
has "which trials have more replicates was decided among its own" err
refused run race.yaml --name mean --retry failed
has "chosen by the results that a retry would replace" err
refused run race.yaml --part 1/2
has "replicates.race needs the trials of all parts" err
works run race.yaml --name twin --progress none
refused merge mean twin --into both
has "the best of each were chosen among its own" err

# arrays of trials with different replicates
works run "$root"/experiments/smoke.yaml --name arrays --progress none \
    --set simulation.duration=0.2 --set simulation.settle=0.1 --set 'search.over.thrust=[30, 35, 40, 45]' \
    --set 'replicates={count: 4, race: {start: 2}, perturb: {z_foot: {uniform: [0.35, 0.45]}}}' \
    --set 'record.trajectories.select={best: 3, every: 2}'
works doctor arrays
run query arrays --sql "SELECT count(*) FROM trajectories" --format csv
[ "$(tail -n 1 out)" -ge 3 ]
check $? "arrays are recorded"
exit "$status"
