#!/bin/sh
# verify --finalists: the best trials race under fresh seeds. Oracle: tests/finalists.py, from the stored replicates.
. "$(dirname "$0")/../scratch.sh"
with_python "finalists" numpy || exit 0

cat >search.yaml <<'END_SPEC'
version: 1
experiment: search
seed: 5
model: bbob
simulation: {function: rastrigin, dimension: 3}
search:
  method: sobol
  trials: 300
  over: {x1: {range: [-1, 1]}, x2: {range: [-1, 1]}}
replicates: {count: 2, perturb: {x3: {normal: [0, 0.5]}}}
objective: {minimize: "f*(1 + 0.2*x3*x1)"}
END_SPEC

made() { for folder in results/"$1"/verify/recommend_*; do echo "$1/verify/${folder##*/}"; done; }
# oracle NAME 'OPTION...': verify's best and its probability are those of the replicates
oracle()
{
    # shellcheck disable=SC2086
    "$HOPSCOTCH" verify "$1" $2 --json --progress none >said.json 2>err &&
        python3 "$root"/tests/finalists.py check "results/$(made "$1")/campaign.db" said.json ${3:-} >out 2>err
    check $? "$1 $2: $(cat out)"
}

works run search.yaml --progress none --set objective.minimize=f
works verify search --finalists 32 --seeds 64 --progress none
has "search: 32 finalists under fresh seeds"
has "384 simulations instead of 2,048 in equal shares"
has "is recommended: "
oracle search "--finalists 32 --seeds 64"
[ "$(made search | wc -l)" = 1 ]
check $? "the same question is answered by the stored race"
nested=$(made search)
works doctor "$nested"
works replay "$nested/best"
works show search/best
has "fresh seeds: "
works best search
has "seeds"
reference=$(digest "$nested")
cp results/search/campaign.db before.db

# other data: failures, another objective, more finalists than trials
works run search.yaml --name fails --progress none --set 'objective.minimize="f + 0*log(x3 + 1.3)"' \
    --set objective.failed=ignore
oracle fails "--finalists 20 --seeds 40"
works run search.yaml --name falls --progress none --set 'objective.minimize="f + 0*log(x3 + 1.1 + 0.5*x1)"'
oracle falls "--finalists 20 --seeds 40" --any
works verify falls --finalists 20 --seeds 40 --progress none
compared=$(python3 -c 'import json; print(json.load(open("said.json"))["recommended"]["compared"])')
[ "$compared" -lt 20 ] && has "the best of the $compared candidates that fail no more often, with a probability of "
check $? "the probability is among those that fail no more often"
works run search.yaml --name raced --progress none --set 'objective.minimize="f + 0*log(x3 + 1.1 + 0.5*x1)"' \
    --set objective.failed=ignore --set 'replicates.race={start: 2, by: failures}' --set replicates.count=4
oracle raced "--finalists 20 --seeds 40" --any
grep -q "by: failures" "results/$(made raced)/spec.yaml"
check $? "finalists of a race by failures race by failures"
works run search.yaml --name few --progress none --set search.trials=12 --set objective.minimize=f
oracle few "--finalists 64 --seeds 100 --seed 9"
works verify few --finalists 2 --seeds 8 --progress none
works run search.yaml --name worst --progress none --set objective.minimize=f --set objective.over=worst
works verify worst --finalists 8 --seeds 16 --progress none
has "no probability, because objective.over is not the mean"

# killed and begun again
if with_faults "finalists that are killed"; then
    for at in 60 120 $([ -n "${QUICK:-}" ] || echo 40 80 100 140); do
        rm -rf results/killed
        "$HOPSCOTCH" run search.yaml --name killed --progress none --set objective.minimize=f >out 2>err
        HOPSCOTCH_FAULT=sqlwrite:$at:KILL "$HOPSCOTCH_FAULTS_PROGRAM" verify killed --finalists 32 --seeds 64 \
            --threads 1 --progress none >out 2>err
        killed=$?
        "$HOPSCOTCH" verify killed --finalists 32 --seeds 64 --progress none >out 2>err
        "$SQL" "results/$(made killed)/campaign.db" "SELECT group_concat(replicates) FROM trials" >killed.txt
        "$SQL" "results/$nested/campaign.db" "SELECT group_concat(replicates) FROM trials" >whole.txt
        cmp -s killed.txt whole.txt && [ "$(digest "$(made killed)")" = "$reference" ]
        check $? "killed at write $at (exit code $killed), and begun again"
    done
fi

# what it refuses
code=2 refused verify search --finalists 4 --trial 3
has "--finalists runs several trials as they are, and --trial is for one" err
sed '/^replicates/d; /^objective/d' search.yaml >exact.yaml
works run exact.yaml --name exact --progress none
refused verify exact --finalists 4
has "nothing is drawn (replicates.perturb)" err
works run search.yaml --name lost --progress none --set 'objective.minimize="log(-1-f)"'
refused verify lost --finalists 4
has "has a fitness under fresh seeds" err
exit "$status"
