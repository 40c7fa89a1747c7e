#!/bin/sh
# Threads that share one rigid world: the same bits with every executor, and pictures of a step.
. "$(dirname "$0")/../scratch.sh"

# world ISLANDS KEYS: a spec of ISLANDS double pendulums, every fourth joined to the next by a spring
world()
{
    awk -v islands="$1" -v keys="$2" 'BEGIN {
        print "version: 1\nexperiment: islands\nmodel: rigid\nsimulation:\n  duration: 0.1\n  " keys "\n  world:"
        print "    bodies:"
        for (i = 0; i < islands; i++) {
            printf "      - {name: a%d, inertia: 0.1, position: [0.5, %d, 0]}\n", i, i
            printf "      - {name: b%d, inertia: [0.1, 0.2, 0.2], position: [1.5, %d, 0]}\n", i, i
        }
        print "    constraints:"
        for (i = 0; i < islands; i++) {
            printf "      - {name: c%d, type: hinge, a: a%d, at_a: [-0.5, 0, 0], axis: [0, 1, 0]}\n", i, i
            printf "      - {name: d%d, type: ball, a: b%d, b: a%d, at_a: [-0.5, 0, 0]}\n", i, i, i
        }
        if (islands > 1) print "    forces:"
        for (i = 0; i + 1 < islands; i += 4)
            printf "      - {name: e%d, type: spring, a: b%d, b: a%d, stiffness: 20, length: 1}\n", i, i, i + 1
        print "search: {method: grid, over: {alpha: [5, 10]}}"
    }'
}

world 32 "stabilisation: baumgarte\n  executor: sequential" >one.yaml
world 32 "stabilisation: baumgarte\n  executor: levels" >levels.yaml
world 32 "stabilisation: baumgarte\n  executor: auto" >auto.yaml
world 1 "stabilisation: baumgarte\n  executor: levels" >small.yaml
world 32 "stabilisation: rattle" >rattle.yaml

# ---- bits -----------------------------------------------------------------------------------------------------------
run() { "$HOPSCOTCH" run "$1.yaml" --name "$1" --backend cpu --threads "$2" --progress none >out 2>err; }
run one 1 && run levels 2 && run auto 3 && run small 2
check $? "campaigns under every executor"
for name in one levels auto; do "$HOPSCOTCH" digest $name 2>err | cut -d ' ' -f 1 >$name.digest; done
cmp -s one.digest levels.digest && cmp -s one.digest auto.digest && [ -s one.digest ]
check $? "rows are the same bits under every executor"
"$HOPSCOTCH" replay levels/0 --backend cpu --threads 1 >out 2>err && grep -q "the same to the bit" out
check $? "one thread replays what several computed"
sed 's/alpha: \[5, 10\]/alpha: [5, 10, 20]/' auto.yaml >more.yaml
"$HOPSCOTCH" run more.yaml --name one --extend --backend cpu --threads 2 --progress none >out 2>err
check $? "another executor continues the same campaign"

# ---- pictures -------------------------------------------------------------------------------------------------------
"$HOPSCOTCH" run levels.yaml --name pictures --backend cpu --threads 2 --progress json --profile-graph step.json \
    >out 2>err
check $? "run --profile-graph FILE"
[ "$(grep -c '"ph": "X"' step.json)" -gt 8 ] && grep -q '"name": "solve 0"' step.json &&
    grep -q '"name": "count"' step.json && grep -q '"critical_path_us"' step.json &&
    grep -q '"threads": 2' step.json && grep -q '^step.json: ' err
check $? "the run prints the file with the trace of one step"
[ "$(grep -vc '^{' out)" -eq 0 ]
check $? "standard output is JSON alone"
if with_python "the trace"; then
    python3 - <<'END_OF_CHECK' >out 2>err
import json
trace = json.load(open("step.json"))
steps = {e["name"]: e for e in trace["traceEvents"] if e["ph"] == "X"}
solves = [name for name in steps if name.startswith("solve")]
assert {e["tid"] for e in steps.values()} == {0, 1}
assert len(solves) > 4 and all(steps["rows" + name[5:]]["ts"] <= steps[name]["ts"] for name in solves)
last = max(steps.values(), key=lambda e: e["ts"])
assert last["name"] == "count", last
END_OF_CHECK
    check $? "the trace is JSON, in the order of the step"
fi
"$HOPSCOTCH" resume pictures --backend cpu --threads 2 --profile-graph step.dot --progress none >out 2>err
check $? "resume --profile-graph FILE.dot"
grep -q '^digraph step {' step.dot && grep -q 'label="forces 0"' step.dot && grep -q ' -> ' step.dot
check $? "nodes and edges for Graphviz"

# ---- models without a step graph ------------------------------------------------------------------------------------
"$HOPSCOTCH" run rattle.yaml --name none --backend cpu --profile-graph step.json >out 2>err
[ $? -eq 1 ] && [ ! -e results/none ] &&
    grep -q "a step of model rigid with these settings is several graphs" err
check $? "a step of rattle, which is several graphs, is not drawn"
"$HOPSCOTCH" run "$root/experiments/smoke.yaml" --name none --backend cpu --profile-graph step.json >out 2>err
[ $? -eq 1 ] && [ ! -e results/none ] &&
    grep -q "a step of model hopper with these settings is not a graph that threads could share" err
check $? "a model without a step graph is refused before anything runs"
grep -qF "experiments/chain_scaling.yaml --set simulation.stabilisation=baumgarte is one" err
check $? "the error names a spec with a step graph"
"$HOPSCOTCH" run "$root/experiments/chain_scaling.yaml" --set simulation.stabilisation=baumgarte --backend cpu \
    --set simulation.duration=0.002 --set simulation.copies=50 --profile-graph named.json --progress none >out 2>err &&
    [ -s named.json ]
check $? "the named spec has a step graph"
"$HOPSCOTCH" run levels.yaml --name none --backend cpu --profile-graph nowhere/step.json >out 2>err
[ $? -eq 3 ] && grep -q "nowhere" err && [ ! -e results/none ]
check $? "a picture that can't be written"
"$HOPSCOTCH" check levels.yaml --set simulation.executor=level >out 2>err
[ $? -eq 1 ] && grep -q "executor is 'level', expected sequential, levels or auto" err
check $? "an unknown executor is refused"

exit $status
