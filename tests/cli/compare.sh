#!/bin/sh
# hopscotch compare: what differs between campaigns, and whether the best trial of one is better under common seeds.
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
check $? "they can be compared"
has "some -> more: another spec"
has "search.points.1: [250] -> [60]"
has "more against some"
has "better with a chance of"
has "Mann-Whitney, normal, ties corrected"
has "fitness, seed by seed: -"
cp out first
run compare some more --seeds 60 --progress none
cmp -s out first && grep -qF "done already" err
check $? "a second time nothing runs, and it says the same"
run list --format csv
has "compares more/1"
run compare some some --seeds 5 --progress none
has "some -> some: the same spec"
has "better with a chance of 50.0 %, p = 1.0000"

# The figures, computed again from the runs that are stored.
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
    check $? "the figures are those of the stored runs"
fi

run run more.yaml --name other --set 'replicates.perturb.phi_leg={normal: [0, 0.1]}' \
    --set 'objective.minimize=attitude_rms' \
    --progress none
run compare some other --seeds 20 --progress none
has "their objectives differ"
has "they draw other disturbances"
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
run compare search again --progress none
check $? "campaigns of several searches"
has "the best of one of its searches: better with a chance of"
has "(Mann-Whitney, exact)"
run compare some
[ $? -eq 2 ] && grep -qF "compare needs CAMPAIGN CAMPAIGN" err
check $? "one campaign is not enough"
run compare some others
[ $? -eq 1 ] && grep -qF "did you mean 'other'?" err
check $? "a misspelt campaign is guessed"
exit $status
