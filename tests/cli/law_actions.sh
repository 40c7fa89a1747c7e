#!/bin/sh
# Inputs of control laws (inputs: {push: {range: [-1, 1]}}): a run takes them from a list or a file, with the same
# digest on every instruction set and in any batch; a sample at the end of a period has the action that was held up to
# there. Environments in Python: what they observe is to the bit what a run records under the same actions, also that
# of a law that asks a policy for them; the same numbers as single environments, in every way to begin again.
# Refusals. Instruction sets and the hopper: tests/unit/test_environment.c.
. "$(dirname "$0")/../law.sh"
digest() { "$HOPSCOTCH" digest "$1" | grep -o -m 1 '[0-9a-f]\{64\}'; }

cat >leg.yaml <<'.'
version: 1
experiment: leg
model: articulated
seed: 3
simulation:
  robot: leg.xml
  duration: 1.2
  dt: 0.002
  control:
    mode: law
    period: 0.004
    action_period: 0.02
    file: actions.csv
    law:
      parameters: {size: {value: 0.2, unit: rad}, beat: {value: 2, unit: Hz}}
      inputs: {push: {range: [-0.3, 0.4], unit: rad, doc: beside the swing}, kick: {range: [0.5, 5], unit: N m}}
      held: {sum: {start: 0, unit: rad}, kicks: 0}
      sensors: {hip_rate: {delay: 1, noise: 0.02}}
      let: {swing: size*sin(2*pi*beat*time)}
      every_period: {sum: 0.9*sum + 0.1*push}
      command: {hip: swing + push, knee: -swing + sum}
      modes:
        rests: {effort: {hip: 0}, events: [{name: kicked, rises: kick - limit, to: kicks_out, set: {kicks: kicks + 1}}]}
        kicks_out: {effort: {hip: 0.1*kick - drag*hip_rate}, events: [{name: over, falls: kick - limit, to: rests}]}
parameters: {fall_tilt: 1.2}
metrics: {most: {max: push}, kicked: {final: kicks}}
search: {method: grid, over: {size: [0.1, 0.2, 0.3], hip_start: [0, 0.1]}}
objective: {minimize: energy, failed: any}
.
sed -i 's/beat: {value: 2, unit: Hz}/&, limit: {value: 2, unit: N m}, drag: {value: 0.05, unit: N m s\/rad}/' leg.yaml
awk 'BEGIN { print "kick,push"; for (i = 0; i < 50; i++) printf "%.17g,%.17g\n", i % 7, 0.6*sin(i*i) }' >actions.csv
list=$(awk -F , 'NR > 1 { printf "%s%s, %s", (NR > 2 ? ", " : ""), $2, $1 }' actions.csv)
works run leg.yaml --progress none --isa scalar --batch 1 --threads 1
for way in $(vector_isas "$HOPSCOTCH" --isa=) "--batch 4 --slice 3" "--batch 5 --threads 2"; do
    rm -rf results/way
    # shellcheck disable=SC2086
    "$HOPSCOTCH" run leg.yaml --progress none --name way $way >out 2>err || grep -q "isa" err
    [ ! -d results/way ] || [ "$(digest way)" = "$(digest leg)" ]
    check $? "the same digest, $way"
done
"$HOPSCOTCH" query leg --columns all --format csv >leg.csv
"$HOPSCOTCH" run leg.yaml --progress none --name listed --set simulation.control.file=none \
    --set "simulation.control.actions=[$list]" >out 2>err
"$HOPSCOTCH" query listed --columns all --format csv | cmp -s - leg.csv
check $? "the same numbers from a list"
"$HOPSCOTCH" run results/leg/resolved.yaml --progress none --name again >out 2>err
"$HOPSCOTCH" query again --columns all --format csv | cmp -s - leg.csv
check $? "the same numbers by the resolved spec"
works replay leg/4 --isa scalar
has "the same to the bit"
"$HOPSCOTCH" query leg --columns most,kicked --format csv | awk -F, 'NR > 1 { if ($1 == 0.4 && $2 > 5) good++ }
    END { exit good != 6 }'
check $? "actions are cut to their range, and there are events"
"$HOPSCOTCH" run leg.yaml --progress none --name short --set simulation.control.file=none \
    --set 'simulation.control.actions=[0.1, 1, 0.2, 3]' >out 2>err
"$HOPSCOTCH" run leg.yaml --progress none --name long --set simulation.control.file=none \
    --set "simulation.control.actions=[0.1, 1$(awk 'BEGIN { while (i++ < 90) printf ", 0.2, 3" }')]" >out 2>err
[ "$("$HOPSCOTCH" query short --columns all --format csv)" = "$("$HOPSCOTCH" query long --columns all --format csv)" ]
check $? "the last row holds on"

# a sample at the end of a period has its action; before the first one 0, or the end nearest to it
works replay leg/4 --sample 0.02 -o samples.csv
awk -F , 'FNR == NR { if (FNR > 1) { kick[FNR - 1] = $1 > 5 ? 5 : $1 < 0.5 ? 0.5 : $1
        push[FNR - 1] = $2 > 0.4 ? 0.4 : $2 < -0.3 ? -0.3 : $2 } next }
    FNR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
    { k = FNR - 2; if (k > 50) k = 50
      if ($at["push"] - (k ? push[k] : 0) > 1e-15 || (k ? push[k] : 0) - $at["push"] > 1e-15) bad = 1
      if ($at["kick"] != (k ? kick[k] : 0.5)) bad = 1 }
    END { exit bad || FNR != 62 }' actions.csv samples.csv
check $? "samples at the ends of periods"

# ---- a policy in place of the actions -------------------------------------------------------------------------------

# What a policy in the law gives, and the same as a table of actions. Every column, but for those that tell them.
cat >learned.yaml <<'.'
version: 1
experiment: learned
model: articulated
simulation:
  robot: leg.xml
  duration: 1
  dt: 0.002
  control:
    mode: law
    period: 0.02
    law:
      policies:
        go: {weights: [[1, 1, 0, 0.2], [1, 1, 1, 2], [1, 1, 2, -0.3], [1, 2, 0, 0], [1, 2, 1, -1], [1, 2, 2, 0.4]],
             observe: [hip_q + 0.1*sin(9*time), knee_rate]}
      let: {push: 0.3*go_1 + 0.05, kick: 2*go_2}
      held: {pushed: 0, kicked: 0}
      every_period: {pushed: push, kicked: kick}
      command: {hip: push + 0.1*sin(12*time), knee: -push}
      effort: {hip: kick}
search: {over: {hip_start: [0.1]}}
objective: {minimize: energy}
.
works run learned.yaml --progress none
works replay learned/0 --sample 0.02 -o learned.csv
awk -F , 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; print "push,kick"; next }
    NR > 2 { print $at["pushed"] "," $at["kicked"] }' learned.csv >given.csv
sed -e '/^      policies/,/^      let/d' \
    -e 's/^      held.*/      inputs: {push: {range: [-9, 9]}, kick: {range: [-9, 9]}}/' \
    -e '/every_period/d' -e 's/^    period.*/&\n    file: given.csv/' learned.yaml >acts.yaml
works run acts.yaml --progress none --name acts
works replay acts/0 --sample 0.02 -o acts.csv
[ "$(wc -l <acts.csv)" -eq 52 ] && sed '1d' acts.csv >a && sed '1d' learned.csv | cmp -s - a
check $? "actions from a table move the robot as the policy that gave them, to the bit"

# ---- refused --------------------------------------------------------------------------------------------------------

wrong() # wrong PATTERN [option]...
{
    pattern=$1
    shift
    "$HOPSCOTCH" check leg.yaml "$@" >out 2>err
    [ $? -eq 1 ] && grep -q -- "$pattern" err
    check $? "refused: $*"
}
without='simulation.control.law.inputs'
lacks='write simulation.control.actions: \[0, 0\], row after row, or control.file: NAME.csv with the columns push, kick'
lacks="$lacks; a row is held for control.action_period; an environment needs a section .environment."
lacks="because it has a range, and a run takes actions from a table: $lacks"
wrong "leg.yaml:16:[0-9]*: error: push is an action, $lacks" \
    --set simulation.control.file=none
printf 'push,z\n1,2\n' >wrong.csv
wrong "control.file has a column 'z', which is no input with a range" --set simulation.control.file=wrong.csv
printf 'push\n1\n' >wrong.csv
wrong "control.file has no column 'kick'" --set simulation.control.file=wrong.csv
wrong 'control.actions has 3 numbers, expected rows of 2' --set simulation.control.file=none \
    --set 'simulation.control.actions=[1, 2, 3]'
wrong 'the actions are in control.actions already: give one of the two' --set 'simulation.control.actions=[1, 2]'
wrong 'control.action_period (0.006 s) must be a whole number of control periods (0.004 s)' \
    --set simulation.control.action_period=6ms
wrong 'push has no range: an input of a law is an action' --set "$without.push={unit: rad}"
wrong "unknown key 'file' in an input of a law, expected range, unit or doc" --set "$without.push={file: a.csv}"
wrong "the range's first number must be less than its second" --set "$without.push.range=[1, 0]"
wrong "'push' is not a held number" --set simulation.control.law.every_period.push=0
wrong "'push' is neither a state nor a held number, so it can't be set: it is an input" \
    --set 'simulation.control.law.events=[{at: 1, set: {push: 0}}]'
wrong 'rad + N m: both sides must have the same unit' --set 'simulation.control.law.command.hip=push + kick'
cat >still.yaml <<'.'
version: 1
experiment: still
model: articulated
simulation: {robot: leg.xml, control: {mode: law, period: 0.004, law: {command: {hip: 0.1}}}}
objective: {minimize: energy}
.
still() # still PATTERN [option]...
{
    pattern=$1
    shift
    "$HOPSCOTCH" check still.yaml "$@" >out 2>err
    [ $? -eq 1 ] && grep -q -- "$pattern" err
    check $? "refused without inputs: $*"
}
still 'an environment sets actions, and no input of the law has a range: write one in control.law' \
    --set 'environment={reward: base_vx}'
still 'control.actions gives actions, and no input has a range' --set 'simulation.control.actions=[1]'
still 'control.file gives actions, and no input has a range' --set simulation.control.file=actions.csv
still 'control.action_period says how long an action is held, and no input of the law has a range' \
    --set simulation.control.action_period=8ms
still 'control.action_period needs control: {mode: law}' --set 'simulation.control={action_period: 8ms}'
cat >hop.yaml <<'.'
version: 1
experiment: hop
model: hopper
simulation: {control: {action_period: 8ms}}
.
code=1
refused check hop.yaml
has 'control.action_period needs control.law' err
sed 's/^search.*/search: {method: adam, adam: {gradient: adjoint}, over: {size: {range: [0.1, 0.3]}}}/' \
    leg.yaml >adam.yaml
refused check adam.yaml
has 'a metric takes a number that control.law holds: it has no derivative' err
sed -i -e '/^metrics/d' adam.yaml
works check adam.yaml # by the table, which does not move

# ---- environments ---------------------------------------------------------------------------------------------------

sed '/^search/d; /    file: actions/d; /^metrics/d' leg.yaml >leg_env.yaml
cat >>leg_env.yaml <<'END'
replicates: {perturb: {hip_start: {uniform: [-0.2, 0.2]}, size: {uniform: [0.1, 0.3]}}}
environment: {reward: base_vx - failed, terminate: abs(base_x) > 0.3}
END
works check leg_env.yaml
refused run leg_env.yaml --progress none
has "leg_env.yaml:15:16: push is an action" err
cp -r "$root/experiments/quadruped_residual_env.yaml" "$root/experiments/robots" .
works check quadruped_residual_env.yaml

if with_python "environments of control laws in Python" numpy gymnasium; then
    library=${HOPSCOTCH_LIBRARY:-$(dirname "$HOPSCOTCH")/libhopscotch.so}
    lacks_program "$library" && exit $status
    export PYTHONPATH="$root/tests:$root/runner/python${PYTHONPATH:+:$PYTHONPATH}" PYTHONDONTWRITEBYTECODE=1
    export HOPSCOTCH_LIBRARY="$library"
    cat >steps.py <<'END'
import csv
import json
import os
import subprocess

import hopscotch
import numpy
from environments import compare, same



for mode in ("next_step", "same_step", "disabled"):
    compare("leg_env.yaml", mode, 7, 100, {"simulation.duration": 0.5}, 20)
compare("quadruped_residual_env.yaml", "same_step", 9, 60, {"simulation.duration": 0.4}, 15)
print("good stepped together as one by one, in every way to begin again")

# any number of lanes, and both kinds of floats
few, many = (hopscotch.VectorEnv("leg_env.yaml", n, "cpu", dtype=kind)
             for n, kind in ((3, "float64"), (100, "float32")))
a, b = few.reset(seed=7)[0], many.reset(seed=7)[0]
for step in range(50):
    assert numpy.array_equal(a.astype("float32"), b[:3]), step
    actions = numpy.array([[0.25 * (-1) ** step, 1.5]] * 100)
    a, b = few.step(actions[:3])[0], many.step(actions)[0]
assert few.actions == [("push", "rad", -0.3, 0.4), ("kick", "N m", 0.5, 5.0)], few.actions
print("good any number of lanes, both kinds of floats")

program = os.environ["HOPSCOTCH"]


def ran(spec, name, *given):
    subprocess.run([program, "run", spec, "--progress", "none", "--name", name,
                    *(word for one in given for word in ("--set", one))], check=True, stdout=subprocess.DEVNULL)
    subprocess.run([program, "replay", name + "/0", "--sample", "0.02", "-o", name + ".csv"], check=True,
                   stdout=subprocess.DEVNULL)
    with open(name + ".csv") as file:
        return list(csv.DictReader(file))


# an episode as a run: actions in a file, parameters as drawn
quiet = {"simulation.control.law.sensors.hip_rate.noise": 0, "environment.terminate": "0 > 1"}
env = hopscotch.VectorEnv("leg_env.yaml", 5, "cpu", autoreset="disabled", settings=quiet)
rows = [env.reset(seed=2)[0][3]]
known = subprocess.run([program, "models", "leg_env.yaml", "--json"], check=True, capture_output=True).stdout
known = json.loads(known)
drawn = dict(zip((row["name"] for row in known["parameters"]), env.parameters()[3]))
actions, over = [], False
while not over:
    actions.append(numpy.array([0.5, 6.0]) * numpy.cos(1.7 * len(actions) + numpy.arange(10)).reshape(5, 2))
    observation, _, terminated, truncated, _ = env.step(actions[-1])
    over = terminated[3] or truncated[3]
    rows.append(observation[3])
with open("episode.csv", "w") as out:
    print("push,kick", *("%.17g,%.17g" % tuple(row[3]) for row in actions), sep="\n", file=out)
samples = ran("leg_env.yaml", "episode", "simulation.control.file=episode.csv", "replicates={}",
              *("%s=%s" % pair for pair in quiet.items()), "initial.hip_start=%.17g" % drawn["hip_start"],
              "parameters.size=%.17g" % drawn["size"])
assert len(samples) == len(rows) > 40, (len(samples), len(rows))
for k, (sample, row) in enumerate(zip(samples, rows)):
    same(numpy.array([float(sample[name]) for name, *_ in env.observations]), row, k)
assert {"push", "kick", "sum", "law_mode"} < {name for name, *_ in env.observations}
print("good %d steps observed to the bit as a run records them" % len(actions))
END
    python3 steps.py >out 2>err
    check $? "environments in Python"
    cat out
fi
exit $status
