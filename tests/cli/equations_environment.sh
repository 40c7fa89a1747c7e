#!/bin/sh
# Actions of systems of a spec (model equations): a run takes them from a list or a file, with the same digest on every
# instruction set, in any batch and slice, from a kernel made by cc, by each integrator; a sample at the end of a period
# has the action that was held up to there. Environments in Python: what they observe is to the bit what a run records
# under the same actions; the same numbers as single environments, in every way to begin again. Refusals.
. "$(dirname "$0")/../scratch.sh"
. "$root/tests/equations.sh"
over='{z: {linspace: [0.1, 0.7, 9]}}' \
    system ball 'duration: 1.5' 'dt: 5.0e-3' 'control: {period: 20ms, file: actions.csv}' <<'END_OF_SYSTEM'
parameters: {g: 9.81, top: 0.9}
inputs: {u: {range: [-6, 6]}, wind: {at: [0, 0.13, 0.4], values: [0, 1, 0], beyond: hold}, w: {range: [0.5, 2]}}
states: {z: 0.3, v: 0}
held: {n: 0, s: 0}
let: {force: u - g + wind}
events: [{name: tick, every: 0.03, set: {s: s + u}}, {name: hard, rises: u - 3}]
modes:
  flight:
    rates: {z: v, v: force}
    events: [{name: bounce, falls: z, to: ground, set: {n: n + 1}}]
  ground:
    rates: {z: v, v: force - 400*w*z - v}
    events: [{name: leave, rises: z, to: flight}]
metrics:
  bounces: {count: bounce}
  hards: {count: hard}
  high: {max: z + u/100}
  least: {min: u}
  work: {integral: u*v}
  up: {part: u > 0}
  soon: {first: u < 2}
  early: {last: u < 1}
  size: {rms: u}
  kick: {at: bounce, value: u*w, take: mean}
failures: {high_up: z > top}
columns: {force: force, both: u*w}
END_OF_SYSTEM
# noise and maps
system gust 'duration: 1' 'dt: 5.0e-3' 'integrator: sra3' 'control: {period: 20ms, actions: [1, -1, 0.5]}' <<'END'
parameters: {p: 0}
inputs: {u: {range: [-1, 1], unit: 1}}
states: {x: 0, v: 0}
rates: {x: v, v: u - x}
noise: {v: 0.5}
events: [{name: left, falls: x + 0.05, set: {x: 0}}]
metrics: {lefts: {count: left}}
END
system orbit 'duration: 200' 'control: {period: 3, actions: [3.2, 3.9, 3.6]}' <<'END'
parameters: {p: 0}
inputs: {r: {range: [3, 4]}}
states: {x: 0.3}
next: {x: r*x*(1 - x)}
events: [{name: low, falls: x - 0.5}]
metrics: {lows: {count: low}}
END
sed -i 's/^objective.*/objective: {minimize: "survived + size", failed: any}/' ball.yaml
awk 'BEGIN { print "w,u"; for (i = 0; i < 70; i++) printf "%g,%g\n", 0.2 + i % 7 / 3, 8*sin(i*i) }' >actions.csv
list=$(awk -F , 'NR > 1 { printf "%s%s, %s", (NR > 2 ? ", " : ""), $2, $1 }' actions.csv)
echo 'record: {trajectories: {select: {every: 1}, events: true}}' >>ball.yaml

for integrator in dormand_prince rk4 semi_implicit_euler implicit_midpoint rodas5p; do
    set -- --progress none --set simulation.integrator=$integrator
    works run ball.yaml "$@" --name "whole_$integrator" --isa scalar --batch 1 --threads 1
    for way in $(vector_isas "$HOPSCOTCH" --isa=) "--batch 4 --slice 3" "--batch 7 --threads 2"; do
        rm -rf results/way
        # shellcheck disable=SC2086
        "$HOPSCOTCH" run ball.yaml "$@" --name way $way >out 2>err || grep -q "isa" err
        [ ! -d results/way ] || [ "$(digest way)" = "$(digest "whole_$integrator")" ]
        check $? "$integrator: the same digest, $way"
    done
    rm -rf results/listed
    "$HOPSCOTCH" run ball.yaml "$@" --name listed --set "simulation.control={period: 20ms, actions: [$list]}" >out 2>err
    [ "$("$HOPSCOTCH" query listed --columns all --format csv)" = \
        "$("$HOPSCOTCH" query "whole_$integrator" --columns all --format csv)" ]
    check $? "$integrator: the same numbers from a list"
    works replay "whole_$integrator/4" --isa scalar
    has "the same to the bit"
done
for name in gust orbit; do
    works run $name.yaml --progress none --isa scalar --batch 1
    expected=$(digest $name)
    works run $name.yaml --progress none --name other_$name --batch 7 --slice 5
    [ "$(digest other_$name)" = "$expected" ]
    check $? "$name: the same digest in slices"
done
rows=$("$HOPSCOTCH" query whole_rk4 --columns "bounces,hards" --format csv | awk -F , '{ a += $1; b += $2 }
    END { print (a > 5 && b > 20) }')
[ "$rows" = 1 ]
check $? "there are events"

# the last row holds to the end; a list that is too long is not wrong
works run ball.yaml --progress none --name short --set 'simulation.control={period: 20ms, actions: [1, 1, 2, 0.7]}'
"$HOPSCOTCH" run ball.yaml --progress none --name long >out 2>err \
    --set "simulation.control={period: 20ms, actions: [1, 1$(awk 'BEGIN { while (i++ < 200) printf ", 2, 0.7" }')]}"
[ "$("$HOPSCOTCH" query short --columns all --format csv)" = "$("$HOPSCOTCH" query long --columns all --format csv)" ]
check $? "the last row holds on"
# the first action counts from the start on: neither extrema nor conditions see what was before
"$HOPSCOTCH" query short --columns least,up,soon,early --format csv >rows.csv
holds 1e-15 'least*1000 + up*100 + soon*10' '1100' "with actions of at least 1"
is early '' "with actions of at least 1"

# a kernel made by cc
if command -v cc >/dev/null; then
    works run ball.yaml --progress none --name general --kernels general --set 'record=null'
    works run ball.yaml --progress none --name made --kernels made --backend cpu --set 'record=null'
    [ "$(digest made)" = "$(digest general)" ]
    check $? "the same digest by a kernel made by cc"
fi

# a sample at the end of a period has its action, as what is observed there; 6 is the end of the range
works run ball.yaml --progress none --name high --set parameters.top=9
works replay high/4 --sample 0.02 -o samples.csv
awk -F , 'FNR == NR { if (FNR > 1) { u[FNR - 1] = $2 > 6 ? 6 : $2 < -6 ? -6 : $2 } next }
    FNR == 1 { for (i = 1; i <= NF; i++) if ($i == "u") at = i; next }
    { k = FNR - 2; expected = k == 0 ? 0 : u[k <= 70 ? k : 70]
      if ($at - expected > 1e-12 || expected - $at > 1e-12) { print FNR, $at, expected; bad = 1 } }
    END { exit bad || FNR < 50 }' actions.csv samples.csv >out
check $? "samples at the ends of periods"

# ---- environments ---------------------------------------------------------------------------------------------------

cp "$root/experiments/cartpole_env.yaml" .
code=1
refused run cartpole_env.yaml --progress none
has "cartpole_env.yaml:26:14: u is an action" err
has "simulation.control.actions: [0]" err
refused plan cartpole_env.yaml
works check cartpole_env.yaml
printf 'w,z\n1,2\n' >wrong.csv
refused run ball.yaml --set simulation.control.file=wrong.csv
has "control.file has a column 'z', which is no input with a range" err
printf 'w\n1\n' >wrong.csv
refused run ball.yaml --set simulation.control.file=wrong.csv
has "control.file has no column 'u'" err
refused run ball.yaml --set 'simulation.control.actions=[1, 2]'
has "give one of the two" err

if with_python "environments of systems in Python" numpy gymnasium; then
    library=${HOPSCOTCH_LIBRARY:-$(dirname "$HOPSCOTCH")/libhopscotch.so}
    lacks_program "$library" && exit $status
    export PYTHONPATH="$root/tests:$root/runner/python${PYTHONPATH:+:$PYTHONPATH}" PYTHONDONTWRITEBYTECODE=1
    export HOPSCOTCH_LIBRARY="$library"
    sed '/^record/d; /^search/d; s/, file: actions.csv//' ball.yaml >ball_env.yaml
    cat >>ball_env.yaml <<'END'
replicates: {perturb: {z: {uniform: [0.1, 0.8]}, top: {uniform: [0.8, 1.1]}}}
environment: {reward: z - failed, terminate: n > 4}
END
    cat >steps.py <<'END'
import csv
import os
import subprocess

import hopscotch
import numpy
from environments import compare, same

INTEGRATORS = ("dormand_prince", "rk4", "semi_implicit_euler", "implicit_midpoint", "rodas5p")



for integrator in INTEGRATORS:
    for mode in ("next_step", "same_step", "disabled"):
        compare("ball_env.yaml", mode, 7, 120, {"simulation.integrator": integrator, "simulation.duration": 0.5},
                20)
compare("cartpole_env.yaml", "next_step", 9, 300, {"simulation.duration": 2}, 20)
print("good stepped together as one by one, in every way to begin again")

# any number of lanes, and both kinds of floats
few, many = (hopscotch.VectorEnv("ball_env.yaml", n, "cpu", dtype=kind)
             for n, kind in ((3, "float64"), (100, "float32")))
a, b = few.reset(seed=7)[0], many.reset(seed=7)[0]
for step in range(200):
    assert numpy.array_equal(a.astype("float32"), b[:3]), step
    actions = numpy.array([[2.0 * (-1) ** step, 1.5]] * 100)
    a, b = few.step(actions[:3])[0], many.step(actions)[0]
assert [row[:1] + row[2:] for row in few.actions] == [("u", -6.0, 6.0), ("w", 0.5, 2.0)], few.actions
print("good any number of lanes, both kinds of floats")

# an episode as a run: actions in a file, parameters as drawn
for integrator in INTEGRATORS:
    env = hopscotch.VectorEnv("ball_env.yaml", 5, "cpu", autoreset="disabled",
                              settings={"simulation.integrator": integrator, "environment.terminate": "0 > 1"})
    rows = [env.reset(seed=2)[0][3]]
    drawn = dict(zip(("g", "top", "z", "v", "n", "s"), map(float, env.parameters()[3])))
    actions, over = [], False
    while not over:
        actions.append(6.5 * numpy.cos(1.7 * len(actions) + numpy.arange(10)).reshape(5, 2))
        observation, _, terminated, truncated, _ = env.step(actions[-1])
        over = terminated[3] or truncated[3]
        rows.append(observation[3])
    with open("episode.csv", "w") as out:
        print("u,w", *("%.17g,%.17g" % tuple(row[3]) for row in actions), sep="\n", file=out)
    name = "episode_" + integrator
    settings = {"control.file": "episode.csv", "integrator": integrator}
    given = ["simulation.%s=%s" % pair for pair in settings.items()]
    given += ["%s.%s=%.17g" % ("parameters" if p in ("g", "top") else "initial", p, x) for p, x in drawn.items()]
    given += ["replicates={}"]
    program = os.environ["HOPSCOTCH"]
    subprocess.run([program, "run", "ball_env.yaml", "--progress", "none", "--name", name,
                    *(word for one in given for word in ("--set", one))], check=True, stdout=subprocess.DEVNULL)
    subprocess.run([program, "replay", name + "/0", "--sample", "0.02", "-o", "episode_samples.csv"],
                   check=True, stdout=subprocess.DEVNULL)
    with open("episode_samples.csv") as file:
        samples = list(csv.DictReader(file))
    assert len(samples) == len(rows), (integrator, len(samples), len(rows))
    for k, (sample, row) in enumerate(zip(samples, rows)):
        expected = [float(sample[name]) for name, *_ in env.observations]
        same(numpy.array(expected), row, (integrator, k))
    print("good %s: %d steps observed to the bit as a run records them" % (integrator, len(actions)))
END
    python3 steps.py >out 2>err
    check $? "environments in Python"
    cat out
fi
exit $status
