#!/bin/sh
# sweep: settings as axes. Each campaign is the one that --set gives; names, what goes on after a kill, and what is
# refused, with its place.
. "$(dirname "$0")/../scratch.sh"

cat >step.yaml <<'END'
version: 1
experiment: step
model: hopper
simulation: {duration: 0.4, settle: 0.1}
sweep:
  simulation.dt: [2.0e-4, 1.0e-4]
  simulation: {integrator: [rk4, implicit_midpoint], terrain: [flat, steps, "sine"]}
search: {method: grid, over: {k_fp: [100, 150], thrust: [30, 35, 40]}}
END
digest() { "$HOPSCOTCH" digest "$1" | grep -o -m 1 '[0-9a-f]\{64\}'; }

# ---- its campaigns --------------------------------------------------------------------------------------------------

"$HOPSCOTCH" check step.yaml >out 2>err
[ $? -eq 0 ] && [ "$(grep -c '^ok: step: 6 trials' out)" -eq 12 ] &&
    grep -qF "step.dt_1.0e-4.integrator_rk4.terrain_sine (9 of 12)" out
check $? "check takes a campaign for each combination"
"$HOPSCOTCH" plan step.yaml --json >out 2>err
check $? "plan"
if with_python "JSON of a sweep"; then
    python3 -c 'import json; rows = json.load(open("out")); assert [r["trials"] for r in rows] == [6] * 12'
    check $? "plan --json is a list"
fi
"$HOPSCOTCH" run step.yaml >out 2>err
check $? "run"
[ "$(find results -name campaign.db | wc -l)" -eq 12 ] && grep -qF "best results/step.* compares" out
check $? "twelve campaigns"
"$HOPSCOTCH" run step.yaml --name one --set sweep=none --set simulation.dt=1e-4 --set simulation.integrator=rk4 \
    --set simulation.terrain=sine >out 2>err
[ -n "$(digest one)" ] && [ "$(digest one)" = "$(digest step.dt_1.0e-4.integrator_rk4.terrain_sine)" ]
check $? "each is the one that --set gives"
[ "$(for c in results/step.*; do digest "$(basename "$c")"; done | sort -u | wc -l)" -eq 12 ]
check $? "and no two are equal"
digest step.dt_1.0e-4.integrator_rk4.terrain_sine >before
"$HOPSCOTCH" run step.dt_1.0e-4.integrator_rk4.terrain_sine --name again >out 2>err &&
    [ "$(digest again)" = "$(cat before)" ]
check $? "a campaign as a spec is that campaign alone"
rm -rf results/step.dt_1.0e-4.integrator_rk4.terrain_sine results/step.dt_2.0e-4.integrator_rk4.terrain_flat
"$HOPSCOTCH" run step.yaml >out 2>err && [ "$(digest step.dt_1.0e-4.integrator_rk4.terrain_sine)" = "$(cat before)" ] &&
    [ "$(grep -c 'done already' err)" -eq 10 ]
check $? "run again runs what is missing"
"$HOPSCOTCH" run step.yaml --name other --set 'sweep.simulation.dt=[4e-4]' --set 'sweep.simulation.terrain=[flat]' \
    >out 2>err && [ -e results/other.dt_4e-4.integrator_rk4.terrain_flat/campaign.db ] &&
    [ "$(find results -name 'other.*' | wc -l)" -eq 2 ]
check $? "--name, and --set of the values"
"$HOPSCOTCH" run step.yaml --name seeds --set 'sweep={seed: [1, 2]}' >out 2>err &&
    [ -e results/seeds.seed_1/campaign.db ] && [ -e results/seeds.seed_2/campaign.db ]
check $? "a sweep over seeds"
timeout -s INT 2 "$HOPSCOTCH" run step.yaml --name stopped --set sweep.simulation.terrain=[sine,flat] \
    --set 'search={method: random, trials: 1e6, over: {k_fp: {range: [90, 150]}}}' >out 2>err
[ $? -eq 124 ] && [ "$(find results -name 'stopped.*' | wc -l)" -eq 1 ] &&
    grep -qF "the same command goes on with the sweep, 8 of 8 campaigns are left" err
check $? "Ctrl-C ends the sweep, and says what goes on"

# ---- what is refused ------------------------------------------------------------------------------------------------

# refused TEXT SWEEP [OPTION]...
refused()
{
    text=$1
    sed "/^sweep:/,/^search:/{/^search:/!d}" step.yaml >bad.yaml
    echo "sweep: $2" >>bad.yaml
    shift 2
    "$HOPSCOTCH" run bad.yaml --results refused "$@" >out 2>err
    [ $? -ne 0 ] && grep -qF -e "$text" err && [ ! -e refused/bad ] && [ "$(find refused -name campaign.db 2>&1 |
        grep -c 'db$')" -eq 0 ]
    check $? "refused: $text"
}
refused "bad.yaml:6:9: error: experiment can't be swept" "{experiment: [a, b]}"
refused "simulation.dt is '1e-4', expected a list of the values that it has in turn" "{simulation.dt: 1e-4}"
refused "a value of simulation.dt is a list, expected a number or a word" "{simulation.dt: [[1e-4]]}"
refused "simulation.dt has no value" "{simulation.dt: []}"
refused "simulation.dt is swept already" "{simulation.dt: [1e-4], simulation: {dt: [2e-4]}}"
refused "two campaigns of the sweep would be called 'dt_1e-4'" "{simulation.dt: [1e-4, 1e-4]}"
refused "a sweep has at most 1000 campaigns" \
    "{seed: [$(seq -s, 40)], simulation.duration: [$(seq -s, 40)]}"
refused "at most 16 keys can be swept" "{$(for k in $(seq 17); do printf 'parameters.p%d: [1], ' "$k"; done)}"
refused "did you mean 'rk4'?" "{simulation.integrator: [implicit_midpoint, rk5]}"
refused "as campaign step.integrator_rk5 of its sweep" "{simulation.integrator: [implicit_midpoint, rk5]}"
refused "sweep is 'all', expected a mapping of keys to lists of values, or none" all
refused "simulation.dt is swept, and the command line gives it a value" "{simulation.dt: [1e-4]}" \
    --set simulation.dt=1e-3
refused "a campaign's name has 1 to 128 characters" \
    "{simulation.terrain_points: [$(printf 'x%.0s' $(seq 128))]}"
"$HOPSCOTCH" check step.yaml --set sweep=none --set 'search.over={dt: [1e-4, 2e-4]}' >out 2>err
[ $? -eq 1 ] && grep -qF "it is a setting, which is swept: \`sweep: {simulation.dt: [...]}\`" err
check $? "a setting in over names sweep"
"$HOPSCOTCH" submit step.yaml --parts 2 --print >out 2>err
[ $? -eq 1 ] && grep -qF "a sweep declares several campaigns, and this command takes one" err
check $? "a command that takes one campaign says so"
"$HOPSCOTCH" best step >out 2>err
[ $? -eq 1 ] && grep -qF "there is no campaign 'step', but there are 12 of a sweep, step.dt_1.0e-4.integrator_" err
check $? "the name without its values names the campaigns of the sweep"
exit "$status"
