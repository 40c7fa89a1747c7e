#!/bin/sh
# Values of the spec's expressions: a perturbed parameter has the value that each replicate drew, and an objective or a
# constraint that is not finite fails its replicate, in every command the same. Oracle: Python, from the stored
# replicates.
. "$(dirname "$0")/../scratch.sh"
with_python "values of expressions" || exit 0
export PYTHONPATH="$root/runner/python${PYTHONPATH:+:$PYTHONPATH}" PYTHONDONTWRITEBYTECODE=1

# recomputed NAME PYTHON: an expression over `rows` (replicates of a trial, as dicts) and `trial` (its row), true
recomputed()
{
    python3 - "$1" "$2" <<'END_PYTHON' >out 2>&1
import math, sqlite3, sys
name, text = sys.argv[1:]
database = sqlite3.connect(f"results/{name}/campaign.db")
database.row_factory = sqlite3.Row
trials = database.execute("SELECT * FROM trials ORDER BY id").fetchall()
assert trials
for trial in trials:
    rows = database.execute("SELECT * FROM replicates WHERE trial = ? ORDER BY replicate", (trial["id"],)).fetchall()
    near = lambda a, b: abs(a - b) <= 1e-12 * (1 + abs(b))
    mean = lambda values: sum(values) / len(values)
    assert rows and eval(f"({text})"), (dict(trial), [dict(row) for row in rows])
END_PYTHON
    check $? "recomputed from the replicates of $1"
}

# ---- what was drawn -------------------------------------------------------------------------------------------------

cat >pert2.yaml <<'END_SPEC'
version: 1
experiment: pert2
model: hopper
simulation: {duration: 1, settle: 0.5}
search: {method: list, points: [{k_xdot: 0.05}, {k_xdot: 0.1}]}
replicates: {count: 4, store: true, perturb: {x_dot_des: {uniform: [0, 2]}}}
objective: {minimize: "abs(mean_speed - x_dot_des)"}
END_SPEC
works run pert2.yaml --progress none
recomputed pert2 'near(trial["fitness"], mean([abs(r["mean_speed"] - r["x_dot_des"]) for r in rows])) and
    all(0 <= r["x_dot_des"] <= 2 for r in rows) and len({r["x_dot_des"] for r in rows}) == 4'
works replay pert2/0
run show pert2/0
has x_dot_des
before=$(digest pert2)
works doctor pert2
"$SQL" results/pert2/campaign.db "UPDATE trials SET fitness = 7 WHERE id = 0; UPDATE replicates SET x_dot_des = 3 WHERE
    trial = 1 AND replicate = 2" && code=3 refused doctor pert2
works doctor pert2 --repair
[ "$(digest pert2)" = "$before" ]
check $? "doctor computes the same again"
works run pert2.yaml --name apart --set replicates.common=false --batch 1 --progress none
recomputed apart 'near(trial["fitness"], mean([abs(r["mean_speed"] - r["x_dot_des"]) for r in rows]))'
works run pert2.yaml --name several --progress none \
    --set 'objective={minimize: [mean_speed, "x_dot_des"], over: "quantile(0.5)", reference: [9, 9]}' \
    --set 'constraints=["x_dot_des > 1", "x_dot_des + k_xdot < 1.5"]'
recomputed several 'near(trial["constraint_1"], max(1 - r["x_dot_des"] for r in rows)) and
    near(trial["constraint_2"], max(r["x_dot_des"] + trial["k_xdot"] - 1.5 for r in rows)) and
    near(trial["objective_2"], mean(sorted(r["x_dot_des"] for r in rows)[1:3])) and
    near(trial["violation"], max(0, trial["constraint_1"]) + max(0, trial["constraint_2"]))'
works verify pert2 --trial 0 --seeds 12 --gains 0 --physics 0 --grid 0 --json
cp out verified.json
python3 - <<'END_PYTHON' >out 2>&1
import json, sqlite3
said = json.load(open("verified.json"))
rows = sqlite3.connect("results/pert2/verify/trial_0/campaign.db").execute(
    "SELECT abs(mean_speed - x_dot_des) FROM replicates WHERE trial = 0").fetchall()
values = [row[0] for row in rows]
assert len(values) == 12 and abs(said["fitness"]["value"] - sum(values) / 12) < 1e-12, (said, values)
assert abs(said["worst"]["fitness"] - max(values)) < 1e-12
END_PYTHON
check $? "verify takes what was drawn"
run compare pert2 apart --seeds 8 --json
cp out compared.json
python3 - <<'END_PYTHON' >out 2>&1
import glob, json, sqlite3
said = json.load(open("compared.json"))
for side in said["campaigns"]:
    path, = glob.glob(f"results/{side['campaign']}/verify/compare_*/campaign.db")
    value, = sqlite3.connect(path).execute(
        "SELECT avg(abs(mean_speed - x_dot_des)) FROM replicates WHERE trial = 0").fetchone()
    assert abs(side["fitness"]["value"] - value) < 1e-9, (side, value)
END_PYTHON
check $? "compare takes what was drawn"

cat >pc.yaml <<'END_SPEC'
version: 1
experiment: pc
model: hopper
simulation: {duration: 0.2, settle: 0}
search: {method: list, points: [{k_xdot: 0.05}]}
replicates: {count: 4, store: true, perturb: {thrust: {uniform: [10, 60]}}}
objective: {minimize: "thrust"}
constraints: ["thrust > 40"]
END_SPEC
works run pc.yaml --progress none
recomputed pc 'near(trial["violation"], max(max(0, 40 - r["thrust"]) for r in rows)) and
    near(trial["fitness"], mean([r["thrust"] for r in rows]))'

# ---- values that are not finite -------------------------------------------------------------------------------------

cat >pd.yaml <<'END_SPEC'
version: 1
experiment: pd
model: bbob
simulation: {function: linear_slope, dimension: 3}
search: {method: list, points: [{x3: 0}, {x3: 1}, {x3: -4}]}
replicates: {count: 200, common: true, store: true, perturb: {x1: {normal: [0, 1]}}}
objective: {minimize: "sqrt(f - 70)", over: quantile(0.9), failed: penalty(3)}
END_SPEC
works run pd.yaml --progress none
has "2 non_finite"
recomputed pd 'trial["n_failed"] == sum(r["f"] < 70 for r in rows) and
    all((r["failure"] == "non_finite") == (r["f"] < 70) for r in rows) and
    trial["failure"] == ("non_finite" if trial["n_failed"] else "none") and
    near(trial["fitness"], (lambda v: v[179] + 0.1 * (v[180] - v[179]))(sorted(
        math.sqrt(r["f"] - 70) if r["f"] >= 70 else 3 for r in rows)))'
works verify pd --trial 0 --seeds 200 --gains 0 --physics 0 --grid 0 --json
failed=$("$SQL" results/pd/verify/trial_0/campaign.db "SELECT count(*) FROM replicates WHERE failure = 'non_finite'")
[ "$failed" -gt 0 ] && has "\"succeeded\": $((200 - failed))" && has '"failure": "non_finite"'
for rule in any ignore; do
    works run pd.yaml --name "pd_$rule" --set "objective.failed=$rule" --progress none
done
recomputed pd_any '(trial["fitness"] is None) == (trial["n_failed"] > 0)'
recomputed pd_ignore '(trial["fitness"] is None) == (trial["n_failed"] == 200)'
works doctor pd
works replay pd/0

cat >infinite.yaml <<'END_SPEC'
version: 1
experiment: infinite
model: bbob
search: {method: grid, over: {x1: [-1, 0, 1, 2], x2: [0, 1]}}
objective: {minimize: "log(abs(x1)) + f"}
END_SPEC
works run infinite.yaml --progress none
has "2 non_finite"
run best infinite --json
[ "$(grep -c '"rank"' out)" = 6 ] && ! grep -q 'null\|"x1":0,' out
check $? "best lists those that have a value"
with_python "failures in Python" numpy && { python3 - <<'END_PYTHON' >out 2>&1
import hopscotch
campaign = hopscotch.open("results/infinite")
rows = campaign.query("SELECT failure, fitness FROM trials WHERE x1 = 0")
assert "non_finite" in str(rows) and "inf" not in str(rows).replace("non_finite", ""), rows
END_PYTHON
    check $? "Python calls them failed"; }
run status infinite
has "failures    2 trials"
works verify infinite --trial 2 --seeds 5 --gains 0 --physics 0 --grid 0
has "0 of 1"
has "non_finite"
works run infinite.yaml --name fronts --set 'objective={minimize: [f, "1 / x1"], reference: [99, 99]}' --progress none
[ "$("$SQL" results/fronts/campaign.db "SELECT count(*) FROM trials WHERE x1 = 0 AND failure = 'non_finite' AND
    objective_1 IS NULL AND objective_2 IS NULL")" = 2 ]
check $? "of several objectives none is kept"
works run infinite.yaml --name bound --set objective.minimize=f --set 'constraints=["1 / x1 < 2"]' --progress none
[ "$("$SQL" results/bound/campaign.db "SELECT count(*) FROM trials WHERE x1 = 0 AND failure = 'non_finite' AND
    fitness IS NULL AND violation IS NULL")" = 2 ]
check $? "a constraint that is not finite fails too"
works run infinite.yaml --name retried --progress none
works resume retried --retry non_finite --progress none
works run infinite.yaml --name searched --progress none \
    --set 'search={method: cmaes, over: {x1: {range: [-5, 5]}, x2: {range: [-5, 5]}}, cmaes: {population: 8}}' \
    --set 'objective.minimize="f + 0 / (x1 > 0)"' --set limits.trials=160
[ "$("$SQL" results/searched/campaign.db "SELECT count(*) FROM trials WHERE (x1 > 0) != (fitness IS NOT NULL)")" = 0 ]
check $? "cmaes: those without a value have failed"
# ---- NaN inside an expression ---------------------------------------------------------------------------------------

cat >nan.yaml <<'END_SPEC'
version: 1
experiment: nan
model: bbob
search: {method: grid, over: {x1: [-1, 0.5, 1]}}
END_SPEC
for expression in 'log(x1)' 'log(x1) < 5' 'not log(x1) < 5' 'log(x1) = log(x1)' 'log(x1) != 2' '1 and log(x1)' \
    'log(x1) or 0' 'min(3, log(x1) > 1)' 'max(log(x1), 0)' '1 + (log(x1) < 0)'; do
    run run nan.yaml --name nan --set "objective={minimize: \"$expression\"}" --progress none
    run query nan --where "failure = 'non_finite'" --columns id --format csv
    [ "$(tail -n +2 out)" = 0 ] && run best nan && ! grep -q '^ *0 ' out
    check $? "$expression of -1 fails as not finite"
    "$HOPSCOTCH" rm nan --yes >out 2>err
done
works run nan.yaml --name guarded --set 'objective={minimize: "x1 > 0 and log(x1) < 5"}' --progress none
run query guarded --columns fitness --format csv
[ "$(tail -n +2 out | paste -sd ' ')" = "0 1 1" ]
check $? "the other side of and decides"
works run nan.yaml --name left --set 'search.exclude=["log(x1) < 5"]' --progress none
run query left --columns x1 --format csv
[ "$(tail -n +2 out)" = -1 ]
check $? "exclude that is NaN excludes nothing"
works run nan.yaml --name met --set 'constraints=["x1 < 0.5", "x1 > -1"]' --progress none
run query met --columns violation --format csv
[ "$(tail -n +2 out | paste -sd ' ')" = "0 0 0.5" ]
check $? "a constraint is met where both sides are equal"
works run nan.yaml --name missing --set 'objective={minimize: log(x1)}' --progress none
for where in 'fitness < 9' 'not fitness < -9' 'not (fitness < -9 and x1 < 3)' 'fitness = fitness'; do
    run query missing --where "$where" --columns x1 --format csv
    [ "$(tail -n +2 out | paste -sd ' ')" = "0.5 1" ]
    check $? "a missing fitness does not match: $where"
done
run query missing --where "failure != 'none' or fitness < -9" --columns x1 --format csv
[ "$(tail -n +2 out)" = -1 ]
check $? "or of a missing value"
exit $status
