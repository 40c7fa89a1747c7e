#!/bin/sh
# hopscotch compare: the differences between campaigns, and whether the best trial of one is better under common seeds.
. "$(dirname "$0")/../scratch.sh"

cat >some.yaml <<'END'
version: 1
experiment: some
seed: 7
model: hopper
simulation: {duration: 0.6, settle: 0.1}
search: {method: list, points: [{k_fp: 300}, {k_fp: 250}]}
replicates: {count: 2, perturb: {phi_leg: {normal: [0.01, 0.4]}, dphi_body: {uniform: [-12, 12]}}}
objective: {minimize: "attitude_rms + 0.001*k_fp", failed: penalty(10)}
END
sed -e 's/{k_fp: 250}/{k_fp: 60}/' -e 's/experiment: some/experiment: more/' some.yaml >more.yaml
run run some.yaml --progress none
run run more.yaml --progress none
check $? "two campaigns"
run compare some more --seeds 60 --progress none
check $? "compare of two campaigns"
has "some -> more: another spec"
has "search.points.1: [250] -> [60]"
has "more against some"
has "better with a chance of"
has "Mann-Whitney, normal, ties corrected"
has "seed by seed: better under"
has "(Wilcoxon's signed ranks, normal, ties corrected)"
has "fitness, seed by seed: -"
cp out first
run compare some more --seeds 60 --progress none
cmp -s out first && grep -qF "done already" err
check $? "a second compare runs nothing and prints the same"
run compare some some --seeds 5 --progress none
has "some -> some: the same spec"
has "the two best trials give the same result under every seed: there is nothing to test"
lacks "p = "

# The campaigns that compare ran lie in the folders of the compared ones; the list does not show them.
run list
lacks "_compare"
lacks "verify/"
has "--all also lists 3 campaigns of verify, compare and recommend"
run list --all --format csv
has "more/verify/compare_1_60,done"
has "compares more/1"
run show some/verify/compare_0_60/0
has "fitness"
run doctor some/verify/compare_0_60
check $? "the campaigns that compare made are sound"
mv results/more results/most
run list --all --format csv
has "most/verify/compare_1_60,done"
run status most/verify/compare_1_60
has "compares more/1 (now most)"
run doctor most/verify/compare_1_60
check $? "they are sound after their campaign was renamed"
run rm most </dev/null
[ $? -eq 2 ] && grep -qF ", with 1 campaign of verify and compare" err
check $? "rm names the campaigns that it removes too"
mv results/most results/more
run gc
check $? "gc checks all campaigns"

# Computes the figures again from the stored runs.
if with_python "its figures"; then
    run compare some more --seeds 60 --progress none --json
    python3 - out <<'PYTHON' 2>err
import json, math, sqlite3, sys
said = json.load(open(sys.argv[1]))
values = []
for side in said["campaigns"]:
    database = sqlite3.connect(f"results/{side['run']}/campaign.db")
    k_fp = database.execute("SELECT k_fp FROM trials").fetchone()[0]
    rows = database.execute("SELECT failure, attitude_rms FROM replicates ORDER BY replicate")
    values.append([math.inf if failure != "none" else value + 0.001 * k_fp for failure, value in rows])
    assert side["succeeded"] == sum(map(math.isfinite, values[-1])) and side["runs"] == 60
a, b = values
test = said["comparisons"][0]
u = sum((y < x) + 0.5 * (y == x) for x in a for y in b)
assert u == test["runs"]["u"] and math.isclose(u / 3600, test["runs"]["chance_better"]), (u, test)
less = [y - x for x, y in zip(a, b) if math.isfinite(x + y)]
assert test["pairs"] == len(less) > 5 and math.isclose(sum(less) / len(less), test["difference"]["value"]), test
assert test["difference"]["high"] < 0 and test["differences"][0]["key"] == "search.points.1", test
PYTHON
    check $? "the figures equal those of the stored runs"
fi

run run more.yaml --name other --set 'replicates.perturb.phi_leg={normal: [0, 0.1]}' \
    --set 'objective.minimize=attitude_rms' \
    --progress none
run compare some other --seeds 20 --progress none
has "their objectives differ"
head -n 1 out | grep -qF "warning: some and other have different tasks" &&
    head -n 1 out | grep -qF "they differ in objective.minimize, replicates.perturb.phi_leg"
check $? "campaigns of different tasks: the first line says so"
lacks "p = "
lacks "seed by seed"
lacks "common seeds"
for set in simulation.duration=0.7 simulation.settle=0.2 parameters.x_dot_des=1 objective.over=worst; do
    run run some.yaml --name task --set "$set" --progress none
    run compare some task --seeds 5 --progress none
    head -n 1 out | grep -qF "have different tasks, and their fitnesses can't be compared: they differ in ${set%=*}" &&
        ! grep -qF "p = " out
    check $? "a changed ${set%=*} makes another task"
    run compare some task --seeds 5 --progress none --json
    has '"same_task": false'
    lacks '"p"'
    run rm task --yes
done
run run some.yaml --name step --set simulation.dt=5e-5 --progress none
run compare some step --seeds 5 --progress none --json
has '"same_task": true'
has '"key": "simulation.dt"'
run rm step --yes
run run more.yaml --name few --set replicates.count=1 --progress none
run compare some few --seeds 20 --progress none
head -n 1 out | grep -qF "warning: the stored fitnesses of some and few are over different replicates (2, 1)"
check $? "fewer replicates: the first line says what can be compared"
has "Mann-Whitney"

# Without perturbations each campaign has one run per trial, and chance plays no part.
for name in some more; do
    run run $name.yaml --name "certain_$name" --set 'replicates={}' --progress none
done
run compare certain_some certain_more --progress none
check $? "campaigns without perturbations"
has "one run is enough, there is nothing to test"
has "its best trial is better: "
lacks "p = "
lacks "chance"
run compare certain_some certain_some --progress none
has "its best trial gives the same: "
run run some.yaml --name failed --set 'objective.failed=any' --set 'initial={z_foot: 0.05}' --progress none
run compare some failed --progress none
[ $? -eq 1 ] && grep -qF "no trial of failed has a fitness, so there is no best one" err
check $? "compare with a campaign of failed trials only"
cat >search.yaml <<'END'
version: 1
experiment: search
seed: 1
model: bbob
search:
  method: cmaes
  over: {x1: {range: [-5, 5]}, x2: {range: [-5, 5]}}
  cmaes: {searches: 6, stop: {generations: 4}}
END
run run search.yaml --progress none
run run search.yaml --name again --set seed=2 --progress none
run compare some search --progress none
[ $? -eq 1 ] && grep -qF "some runs model hopper and search runs bbob: only campaigns of one model can be compared" err
check $? "compare of campaigns of different models"
run compare search again --progress none
check $? "compare of campaigns of several searches"
has "the best of one of its searches: better with a chance of"
has "(Mann-Whitney, exact)"
run compare some
[ $? -eq 2 ] && grep -qF "compare needs CAMPAIGN CAMPAIGN" err
check $? "compare of one campaign is refused"
run compare some others
[ $? -eq 1 ] && grep -qF "did you mean 'other'?" err
check $? "the error suggests a campaign's name"
exit $status
