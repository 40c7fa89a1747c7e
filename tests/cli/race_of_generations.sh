#!/bin/sh
# replicates.race with cmaes: members of a generation run more replicates where their ranks are not clear. Oracle:
# tests/race_of_generations.py, from the stored replicates.
. "$(dirname "$0")/../scratch.sh"
with_python "races within generations" || exit 0

cat >race.yaml <<'END_SPEC'
version: 1
experiment: race
seed: 7
model: bbob
simulation: {function: sphere, dimension: 5}
search:
  method: cmaes
  cmaes: {population: 8, searches: 2, stop: {generations: 12}}
  over: {x1: {range: [-5, 5]}, x2: {range: [-5, 5]}, x3: {range: [-5, 5]}, x4: {range: [-5, 5]}}
replicates: {count: 32, race: {start: 4}, common: false, perturb: {x5: {normal: [0, 1]}}}
objective: {minimize: "f+2*x5*x1", failed: ignore}
recommend: off
END_SPEC

# same NAME START COUNT WORDS OPTION...: the race and the oracle agree
same()
{
    name=$1 start=$2 count=$3 words=$4
    shift 4
    "$HOPSCOTCH" run race.yaml --name "$name" --progress none --set "replicates.race.start=$start" \
        --set "replicates.count=$count" "$@" >out 2>err &&
        # shellcheck disable=SC2086
        python3 "$root"/tests/race_of_generations.py "results/$name/campaign.db" "$start" "$count" $words >out 2>err
    check $? "$name: $(cat out err)"
}
same apart 4 32 ''
same paired 3 20 common --set replicates.common=true
same large 2 48 maximize --set search.cmaes.population=21 \
    --set 'objective={maximize: "0-f-2*x5*x1", failed: ignore}'
failing='f+2*x5*x1+0*log(x5+1)'
same ignored 4 32 'failing' --set "objective={minimize: \"$failing\", failed: ignore}"
same penalty 4 16 'penalty' --set "objective={minimize: \"$failing\", failed: penalty(90)}"
same restarted 4 16 '' --set search.cmaes.restarts=bipop --set search.cmaes.stop.trials=150 \
    --set search.cmaes.stop.tolx=1
works doctor penalty

# replicates that all agree are clear at once: no noise, equal members, members that all failed
least()
{
    name=$1
    shift
    "$HOPSCOTCH" run race.yaml --name "$name" --progress none "$@" >out 2>err
    run query "$name" --sql "SELECT min(replicates), max(replicates) FROM trials" --format csv
    [ "$(tail -n 1 out)" = 4,4 ]
    check $? "$name: 4 replicates each"
}
least quiet --set objective.minimize=x1^2+x2 --set search.cmaes.stop.generations=5
least equal --set objective.minimize=0*f --set search.cmaes.stop.generations=5
least failed --set 'objective.minimize=log(0-1-f^2)' --set search.cmaes.stop.generations=3
least shared --set objective.minimize=f --set replicates.common=true

# what it says
reference=$(digest apart)
run query apart --format csv \
    --sql "SELECT count(*), sum((SELECT count(*) FROM replicates WHERE trial = id) = replicates) FROM trials"
[ "$(tail -n 1 out)" = 192,192 ]
check $? "each trial has as many replicates as its row says"
run status apart
has "4 to 32 replicates each (a race)"
grep -q 'rounds .*replicates  unclear' out
check $? "status has columns of the race"
run plan race.yaml
has "4 to 32 per trial, 768 to 6,144 in all (a race: it depends on the noise)"
run show apart/3
has "of up to 32 replicates"
run best apart --top 3
check $? "best"
for trial in 3 90 191; do works replay apart/$trial; done
works doctor apart
works verify apart --finalists 4

# the same whatever ran it
for options in "--threads 1 --batch 96" "--threads 2 --batch 9999"; do
    # shellcheck disable=SC2086
    "$HOPSCOTCH" run race.yaml --name other --progress none $options >out 2>err
    [ "$(digest other)" = "$reference" ]
    check $? "the same digest: $options"
    rm -rf results/other
done
if with_faults "a race that is killed"; then
    for at in 150 400 $([ -n "${QUICK:-}" ] || echo 100 200 250 300 350 500 600 700); do
        rm -rf results/killed
        HOPSCOTCH_FAULT=sqlwrite:$at:KILL "$HOPSCOTCH_FAULTS_PROGRAM" run race.yaml --name killed --batch 96 \
            --progress none >out 2>err
        killed=$?
        "$HOPSCOTCH" run race.yaml --name killed --progress none >out 2>err
        [ "$(digest killed)" = "$reference" ]
        check $? "killed at write $at (exit code $killed), and resumed"
    done
fi
run run race.yaml --name limited --progress none --set limits.trials=51
run query limited --sql "SELECT count(*) FROM trials" --format csv
[ "$(tail -n 1 out)" = 51 ]
check $? "limits.trials counts trials, not replicates"
run run race.yaml --name limited --progress none
[ "$(digest limited)" = "$reference" ]
check $? "then it is the same"
for generations in 6 12; do
    "$HOPSCOTCH" run race.yaml --name longer --progress none --extend --set search.cmaes.searches=1 \
        --set search.cmaes.stop.generations=$generations >out 2>err
done
run run race.yaml --name one --progress none --set search.cmaes.searches=1
[ "$(digest longer)" = "$(digest one)" ]
check $? "an extension is the same"

# what it can't be
refused run race.yaml --part 1/2
has "replicates.race needs the trials of all parts" err
"$SQL" results/penalty/campaign.db 'UPDATE replicates SET f = 3 WHERE trial = 20' >/dev/null
run doctor penalty --repair
[ $? -ne 0 ]
check $? "doctor refuses to repair"
has "are not repaired one by one" err
# wrong 'MESSAGE' KEY=VALUE...
wrong()
{
    message=$1
    shift
    for override; do set -- "$@" --set "$override" && shift; done
    refused check race.yaml "$@"
    has "$message" err
}
wrong "race.keep has no meaning for method cmaes" 'replicates.race={start: 4, keep: 0.5}'
wrong "race.by has no meaning for method cmaes" 'replicates.race={start: 4, by: fitness}'
wrong "race.clear has no meaning for method random" search.method=random search.cmaes=null search.trials=5 \
    'replicates.race={start: 4, clear: 1}'
wrong "cmaes.uncertainty runs members again for that" search.cmaes.uncertainty=true
wrong "cmaes.surrogate runs a part of them" search.cmaes.surrogate=quadratic
wrong "does not know that of constraints" 'constraints=["f < 9"]'
wrong "cmaes.bounds: penalty adds to it" search.cmaes.bounds=penalty
wrong "which a mean has: write objective: {over: mean}" objective.over=median
wrong "more replicates fail a trial more often" objective.failed=any
exit "$status"
