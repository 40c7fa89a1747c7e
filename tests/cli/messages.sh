#!/bin/sh
# Messages that no other script tests, word for word: the user's command, the exit code, and the output. And
# tests/messages.py: every message of the sources is in a test, and none says only that something failed.
. "$(dirname "$0")/../scratch.sh"

# says CODE TEXT ARGUMENTS...
says()
{
    code=$1 text=$2
    shift 2
    "$HOPSCOTCH" "$@" >out 2>err
    got=$?
    if [ $got -eq "$code" ] && grep -qF -e "$text" err; then
        echo "ok   messages: $text"
    else
        echo "FAIL messages: $* gives $got, not $code with '$text'"
        head -n 5 err | cut -c 1-300
        status=1
    fi
}

# repeat N TEXT SEPARATOR
repeat()
{
    yes "$2" | head -n "$1" | paste -sd "$3"
}

cat >grid.yaml <<'END'
version: 1
experiment: grid
model: bbob
search: {method: grid, over: {x1: [0, 1], x2: [0, 1]}}
END
cat >front.yaml <<'END'
version: 1
experiment: front
model: bbob
search: {method: nsga2, over: {x1: {range: [0, 1]}}, nsga2: {population: 8, stop: {generations: 1}}}
objective: {minimize: [f, distance]}
END
cat >hopper.yaml <<'END'
version: 1
experiment: hopper
model: hopper
simulation: {duration: 0.02, settle: 0.01}
search: {method: grid, over: {k_fp: [100]}}
objective: {minimize: velocity_error}
END
{ repeat 2001 x1 , && echo 1; } >wide.csv
says 1 "there is no campaign under results; run a spec first, or name the root folder" best grid
"$HOPSCOTCH" run grid.yaml --progress none >out 2>err || status=1
"$HOPSCOTCH" run hopper.yaml --progress none >out 2>err || status=1
"$HOPSCOTCH" run front.yaml --progress none >out 2>err || status=1
"$HOPSCOTCH" run grid.yaml --name empty --set 'objective.minimize="log(-1-f*f)"' --progress none >out 2>err

# ---- what a user is told without asking -----------------------------------------------------------------------------
# prints TEXT ARGUMENTS...: on standard output
prints()
{
    text=$1
    shift
    "$HOPSCOTCH" "$@" >out 2>err && grep -qF -e "$text" out
    expect $? 0 "$* prints: $text"
}
prints "objective    minimise f (default of the model)" check grid.yaml
prints "objective    minimise f, maximise distance" check front.yaml \
    --set 'search={method: random, trials: 2, over: {x1: {range: [0, 1]}}}' \
    --set 'objective={minimize: f, maximize: distance}'
prints "range     x1 is 0, at the lower end of what was searched: widen its range" run grid.yaml --name ends \
    --set 'search.over={x1: [0, 1, 2], x2: [-1, 0, 1]}' --set 'objective={minimize: x1 + x2^2}' --progress none
[ "$(grep -c '^range' out)" = 1 ] && ! grep -q "^objective" err
expect $? 0 "a range whose end is not the best, and an objective of the spec, need no word"
prints "next      $HOPSCOTCH report again" run grid.yaml --name again --progress none
grep -qF "objective: minimise f (default of the model)" err
expect $? 0 "run names the objective that it takes"
prints "state     done: converged: the fitness changes by less than stop.tolfun" run grid.yaml --name learns \
    --set 'search={method: cmaes, over: {x1: {range: [0, 1]}}, cmaes: {stop: {tolfun: 1e6}}}' --progress none

# ---- the command line -----------------------------------------------------------------------------------------------
says 2 "no command given; $HOPSCOTCH help lists the commands"
says 2 "unknown command 'xyzzy'; see $HOPSCOTCH help" xyzzy
says 2 "unknown command 'rnu'; did you mean 'run'?" rnu
says 2 "best needs CAMPAIGN...; see $HOPSCOTCH help best" best
says 2 "--output writes .svg, .pdf or .png, not '.eps'" plot grid -o x.eps
says 2 "--output writes .html or .htm, not '.pdf'" report grid -o x.pdf
says 2 "--svg writes .svg, not '.png'" replay hopper/0 --svg x.png
says 2 "--csv writes .csv, not '.parquet'" export grid --csv x.parquet
says 2 "--sqlite writes .sqlite, .sqlite3 or .db, not '.h5'" export grid --sqlite x.h5
says 2 "unknown option --xyzzy; see $HOPSCOTCH help best" best grid --xyzzy
says 2 "unknown option -x; options have long names: see $HOPSCOTCH help best" best grid -x
says 2 "unexpected argument 'two': digest takes CAMPAIGN" digest grid two
says 2 "--top needs a value: --top N" best grid --top
says 2 "--top takes a whole number from 1 to 1000000000, not '1e6'" best grid --top 1e6
says 2 "--format takes one of table|csv|json|jsonl, not 'xml'" best grid --format xml
says 2 "--top is given twice; give it once" best grid --top 3 --top 5
says 2 "--results is given twice; give it once" --results results best grid --results=elsewhere
says 2 "--no-color is given twice; give it once" best grid --no-color --no-color
says 2 "--output is given twice; give it once" plot grid -o a.svg --output b.svg
"$HOPSCOTCH" list --tag a --tag b >out 2>err
expect $? 0 "an option that is repeatable"
says 2 "--hdf5 takes all recorded arrays; --where chooses trials of --csv, --jsonl, --npz, --parquet and --sqlite" \
    export grid --hdf5 grid.h5 --where "x1 = 0"
says 2 "--limit chooses trials of --csv, --jsonl, --npz, --parquet and --sqlite, in an export without --hdf5" \
    export grid --csv grid.csv --hdf5 grid.h5 --limit 3
[ ! -e grid.csv ] && [ ! -e grid.h5 ]
check $? "neither file is written"
for kind in convergence gradient pareto timings; do
    says 2 "--where: the plot $kind is of all trials; leave it out, or draw another kind, e.g. --kind scatter" \
        plot grid --kind $kind --where "x1 = 0"
done
says 2 "takes whole numbers from 0 to 63 with commas between them, or all, not '0,x'" run grid.yaml --device 0,x
says 2 "--results needs the name of a folder" best grid --results=
says 1 "there is no file nowhere.yaml" run nowhere.yaml
says 1 "there is no file ./grid.yml; did you mean './grid.yaml'?" run ./grid.yml
says 1 "failures is 50, must be in [0, 1]; did you mean 50%?" check grid.yaml --set limits.failures=50
says 2 "--backend takes one of auto|cpu|cuda" run grid.yaml --backend gpu
lacks "did you mean" err
says 2 "did you mean 'cuda'?" run grid.yaml --backend cdua
says 1 "backend is 'gpu', expected auto, cpu or cuda" check grid.yaml --set device.backend=gpu
lacks "did you mean" err
says 2 "there is no help on 'xyzzy'; $HOPSCOTCH help lists the commands" help xyzzy
says 1 "there is no model 'xyzzy'" models xyzzy
says 1 "there is no folder nowhere; name the root folder with --results" list --results nowhere
says 0 "this is the first row; --limit 0 prints all" query grid --limit 1
says 0 "these are the first 2 rows; --limit 0 prints all" query grid --limit 2

# ---- campaigns ------------------------------------------------------------------------------------------------------
says 1 "there is no campaign 'gird' under results; did you mean 'grid'?" best gird
says 1 "there is no campaign 'xyzzy' under results; $HOPSCOTCH status lists them" best xyzzy
says 2 "'grid' is not a trial; write CAMPAIGN/TRIAL, e.g. grid/41" show grid
says 1 "'grid/1' is no campaign: after a name stands one number, the trial's, as in grid/41" show grid/1/0
says 1 "there is no campaign 'grid/x', but there is grid: write that, or grid/41 for a trial" best grid/x
says 1 "campaign grid has no trial 99 (not run yet, or excluded); $HOPSCOTCH query grid lists trials" show grid/99
says 1 "a campaign's name has 1 to 128 characters" run grid.yaml --name "$(printf '%0130d' 0)"
says 1 'a name is made of A-Z a-z 0-9 . _ and -; character 2 is another one' run grid.yaml --name 'a b'
says 1 "a name starts with a letter, a digit or _" run grid.yaml --name .hidden
says 1 "the list of all campaigns lies under that name; choose another" run grid.yaml --name index.db
says 1 "is of method grid, which measures no sensitivity; morris and sobol_indices do" sensitivity grid
says 1 "there is no column 'xyzzy'; --columns all --limit 1 shows them" query grid --columns xyzzy
says 1 "'up' is not a direction; write x1:asc or x1:desc" query grid --order x1:up
says 1 "--order: more than 64 columns; the first few decide" query grid --order "$(repeat 65 x1 ,)"
says 1 "--columns: too many columns" query grid --columns "$(repeat 2001 x1 ,)"
says 1 "can't change in it: its rows would mean something else" run grid.yaml --set seed=9 --extend
says 1 "no trial of empty has a fitness, so there is no best one; verify --trial ID takes one that failed" verify empty
says 1 "front has 2 objectives and so no best trial: name one of its front with verify --trial" verify front
says 1 "campaign grid has no trial 99; $HOPSCOTCH best grid lists the best" verify grid --trial 99

says 1 'campaign "index.db": the list of all campaigns lies under that name' run grid.yaml --name index.db
says 1 'tag "a b": a tag has 1 to 64 characters of A-Z a-z 0-9 . _ - and does not start with -' tag grid "a b"
says 1 "--columns: of a group 'fitness' has many values; write mean(fitness), or another of count, min, max" \
    query grid --group-by x1 --columns fitness
says 1 "--columns: there is no aggregate 'meen'; did you mean 'mean'?" \
    query grid --group-by x1 --columns "meen(fitness)"
says 1 "--columns: more than 64 aggregates" query grid --group-by x1 --columns "$(repeat 65 'min(fitness)' ,)"
says 1 "--group-by: more than 16 columns" query grid --group-by "$(repeat 17 x1 ,)"
says 1 "--order: 'x9' is not a column of the groups; did you mean 'x1'?" query grid --group-by x1 --order x9
says 1 "--objectives: there is no column 'x11'; did you mean 'x1'?" best grid --objectives x11,x2
says 1 "--columns: there is no column 'x11'; did you mean 'x1'?" query grid --columns x11
says 1 "--objectives: there is no column 'xyzzy'; $HOPSCOTCH query CAMPAIGN --columns all --limit 1 shows all columns" \
    best grid --objectives x1,xyzzy
says 1 "--objectives: a front needs two columns or more; $HOPSCOTCH query grid --order x1 sorts by one" best grid \
    --objectives x1
says 1 "--objectives: a front has at most 8 columns" best grid --objectives "$(repeat 9 x1 ,)"
says 1 "--objectives: column failure is a text; objectives must be numbers" best grid --objectives fitness,failure
says 1 "--per search: campaign grid (method grid) has one search only; leave out --per" best grid --per search
says 1 "--per: campaign front has several objectives, so it has no single best trial" best front --per search
says 2 "--watch needs the name of a campaign: $HOPSCOTCH status CAMPAIGN --watch" status --watch

# ---- replay and verify ----------------------------------------------------------------------------------------------
says 2 "two trials need --html FILE, which shows them side by side" replay hopper/0 hopper/0
says 1 "model bbob has no drawing: --svg draws its columns, -o FILE.csv writes them" replay grid/0 --html grid.html
says 1 "model bbob has no drawing: --svg draws its columns, -o FILE.csv writes them" replay grid/0 --terminal
says 2 "--sample takes seconds, e.g. 0.001, not '1ms'" replay hopper/0 --sample 1ms -o trace.csv
says 2 "--window takes START,END in seconds, START before END, e.g. 0.55,0.6, not '0.6,0.55'" \
    replay hopper/0 --window 0.6,0.55 -o trace.csv
says 2 "--sample, --window, --bodies and --debug need an output: add -o FILE.h5, -o FILE.csv, --svg FILE or " \
    replay hopper/0 --sample 0.001
says 2 "--debug newton has all rows, and no samples: leave out --sample" replay hopper/0 --debug newton --sample 0.1 \
    -o trace.csv
says 2 "--debug newton has no animation: use -o FILE.h5, -o FILE.csv or --svg FILE" replay hopper/0 --debug newton \
    --html hopper.html
says 2 "--defaults and --trial choose different points: give one of them" verify hopper --trial 0 --defaults
says 1 "--grid-over: 'xyzzy' is not a parameter of hopper; $HOPSCOTCH models hopper lists them" \
    verify hopper --grid-over xyzzy
says 1 "--grid-over: 'trust' is not a parameter of hopper; did you mean 'thrust'?" verify hopper --grid-over trust
says 1 "a grid over 7 starts and parameters is too large: at most 6 axes; --grid 0 leaves it out" verify hopper \
    --grid-over thrust,k_att,b_att,k_fp,b_fp,phi_leg,k_xdot

# ---- specs ----------------------------------------------------------------------------------------------------------
says 1 "expected key.path=value, for example search.over.thrust=[25, 30]" check grid.yaml --set seed
says 1 "the key has more than " check grid.yaml --set "$(repeat 40 a .)=1"
says 1 "a word of the key is empty" check grid.yaml --set search..method=grid
says 1 'needs its trials: `points`, a list of them, or `csv`, a file' check grid.yaml --set 'search={method: list}'
says 1 "zip is '5', expected a list of groups of axes: [[a, b]]" check grid.yaml --set search.zip=5
says 1 "point is '5', expected a mapping of parameters to numbers" check grid.yaml \
    --set 'search={method: list, points: [5]}'
says 1 "x1 has 1e16 values, more than 2^53" check grid.yaml --set 'search.over.x1={arange: [0, 5, 5e-16]}'
says 1 "levels of morris must be even" check grid.yaml --set \
    'search={method: morris, levels: 5, over: {x1: {range: [0, 1]}, x2: {range: [0, 1]}}}'
says 1 "method random needs \`over\` with at least one parameter: over: {NAME: {range: [LOW, HIGH]}}" check grid.yaml \
    --set 'search={method: random, trials: 5}'
says 1 "sigma of x1 belongs to method cmaes, and this is method random" check grid.yaml \
    --set 'search={method: random, trials: 5, over: {x1: {range: [0, 1], sigma: 0.1}}}'
says 1 "the header has more than 1024 columns; leave out columns that are not parameters" check grid.yaml \
    --set 'search={method: csv, csv: wide.csv}'
says 1 "x2 is derived here; what is derived stands in \`over\` beside \`union\`" check grid.yaml \
    --set 'search={method: grid, union: [{over: {x1: [0, 1], x2: {derive: "x1"}}}]}'
says 1 "x2 is derived in \`over\`, remove one" check grid.yaml \
    --set 'search={method: grid, over: {x2: {derive: "x1"}}, union: [{over: {x1: [0, 1], x2: [1]}}]}'
says 1 "x1 is 2, and is searched in [0, 1]" check grid.yaml \
    --set 'search={method: cmaes, over: {x1: {range: [0, 1]}}, cmaes: {inject: [{x1: 2}]}}'
says 1 "1024 searches with populations of 4096 are too many: use fewer searches or a smaller nsga2.population" \
    check front.yaml --set search.nsga2.population=4096 --set search.nsga2.searches=1024
says 1 "terrain_points has 4097 points, at most 4096 are allowed" check hopper.yaml --set simulation.terrain=table \
    --set "simulation.terrain_points=[$(seq 4097 | sed 's/.*/[&,0]/' | paste -sd ,)]"
{ echo 'include: keys.yaml' && cat grid.yaml; } >including.yaml
seq 2001 | sed 's/.*/k&: 1/' >keys.yaml
says 1 "a mapping that is merged has more than 2000 keys" check including.yaml
says 3 "the run would fail: the results need " plan grid.yaml \
    --set 'search={method: random, trials: 1000000000000, over: {x1: {range: [0, 1]}}}'
says 1 "search 0: \`exclude\`, the ranges of derived parameters or the bounds reject all of 100 draws" run grid.yaml \
    --name draws --set 'search={method: cmaes, over: {x1: {range: [0, 1]}}, exclude: ["x1 >= 0"]}'
says 1 "search 0: \`exclude\`, the ranges of derived parameters or the bounds reject all of 100 draws" \
    run front.yaml --name children --set 'search.exclude=["x1 >= 0"]'
"$HOPSCOTCH" run hopper.yaml --name fallen --set simulation.duration=2 --set initial.phi_leg=0.5 \
    --set parameters.thrust=0 --progress none >out 2>err
says 1 "--retry: no trial of hopper fails as 'fel'; did you mean 'fell'?" resume fallen --retry fel
says 1 "--retry: no trial of hopper fails as 'xyzzy'; there are: failed, fell" resume fallen --retry xyzzy
for command in check "run --name warm"; do
    # shellcheck disable=SC2086
    says 1 "--set:1:71: error: campaign fallen has no trial that did not fail" $command hopper.yaml \
        --set 'search={method: cmaes, over: {k_fp: {range: [1, 500]}}, cmaes: {from: fallen}}'
done
if [ -z "${QUICK:-}" ]; then
    { echo x1 && yes 1 | head -n 4000000; } >long.csv
    says 1 "written out the spec has more than 16 MiB, the most that is allowed; give it fewer points" \
        check grid.yaml --set 'search={method: csv, csv: long.csv}'
fi
says 1 "settle (1 s) must be shorter than duration (0.5 s)" check hopper.yaml --set simulation.settle=1 \
    --set simulation.duration=0.5
says 1 "needs integrator: implicit_midpoint; leave it out" check hopper.yaml --set simulation.integrator=rk4 \
    --set simulation.newton.jacobian=analytic
says 1 "is for the plain hopper only; leave it out, or machine, terrain, push, wind, accounting and control" check \
    hopper.yaml --set simulation.terrain=slope --set simulation.newton.jacobian=analytic
says 1 "control.actions needs control: {mode: external}" check hopper.yaml --set 'simulation.control.actions=[1, 2]'
says 1 "control.actions has 3 numbers, expected rows of u1 and u2" check hopper.yaml \
    --set simulation.control.mode=external --set 'simulation.control.actions=[1, 2, 3]'
printf 'u1,u3\n1,2\n' >columns.csv
says 1 "control.file has a column 'u3', expected u1 and u2" check hopper.yaml \
    --set simulation.control.mode=external --set simulation.control.file=columns.csv
printf 'u1,u2\n1,2\n' >columns.csv
says 1 "the actions are in control.actions already: give one of the two" check hopper.yaml \
    --set simulation.control.mode=external --set simulation.control.file=columns.csv \
    --set 'simulation.control.actions=[1, 2]'
says 1 "control.period (0.00105 s) must be a whole number of steps dt (0.0001 s)" check hopper.yaml \
    --set simulation.control.mode=external --set simulation.control.period=0.00105
cp -r "$root"/experiments/robots .
cat >robot.yaml <<'END'
version: 1
experiment: robot
model: articulated
simulation: {robot: robots/chain.xml, duration: 1, dt: 0.001}
objective: {minimize: energy}
END
says 1 "control.command needs control: {mode: external}" check robot.yaml --set simulation.control.command=effort
says 1 "control.period (0.0015 s) must be a whole number of steps dt (0.001 s)" check robot.yaml \
    --set simulation.control.mode=external --set simulation.control.period=0.0015
says 1 "control.period (0.0015 s) must be a whole number of steps dt (0.001 s)" check robot.yaml \
    --set simulation.control.mode=actions --set simulation.control.period=0.0015 \
    --set 'simulation.control.actions=[1, 1, 1, 1, 1, 1]'
says 1 "duration (1.0004 s) must be a whole number of steps dt (0.001 s)" check robot.yaml \
    --set simulation.duration=1.0004
says 1 "duration (1.0004 s) must be a whole number of steps dt (0.001 s)" check hopper.yaml \
    --set simulation.duration=1.0004 --set simulation.dt=0.001
cat >still.xml <<'END'
<mujoco><worldbody><body pos="0 0 1"><joint name="sh" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0 0 -.4"
size=".03" mass="1"/><body pos="0 0 -.4"><joint name="elbow" axis="0 1 0"/><geom type="sphere" size=".05" mass="1"/>
</body></body></worldbody></mujoco>
END
for mode in external gait actions; do
    table=
    [ $mode != actions ] || table=', actions: [1, 1]'
    says 1 "control mode $mode commands motors, and no joint of the robot has one: add motors to its file, or " \
        check robot.yaml --set simulation.robot=still.xml --set "simulation.control={mode: $mode$table}"
done
says 1 "control.actions commands joint elbow, which has no motor: add one to the robot's file, or gains" \
    check robot.yaml --set simulation.robot=still.xml --set 'simulation.control={mode: actions, actions: [1, 1]}' \
    --set parameters.sh_kp=5
for set in 'simulation.control={mode: actions, actions: [1, 0]}' 'simulation.control={mode: external}' \
    'simulation.control={mode: external, command: effort, actions: [1, 0]}' 'simulation.control={mode: hold}'; do
    "$HOPSCOTCH" check robot.yaml --set simulation.robot=still.xml --set "$set" --set parameters.sh_kp=5 >out 2>err
    expect $? 0 "a motor by its gains: $set"
done
sed 's|</worldbody>|&<actuator><motor joint="sh"/></actuator>|' still.xml >torque.xml
gains='^motors  *warning: 1 motor has no gains and can do nothing: the file commands torques; give .* of its joint$'
"$HOPSCOTCH" check robot.yaml --set simulation.robot=torque.xml >out 2>err && grep -q "$gains" out
check $? "a motor without gains"
"$HOPSCOTCH" check robot.yaml --set simulation.robot=torque.xml \
    --set 'simulation.control={mode: external, command: effort}' >out 2>err
lacks "no gains"
cat >free.xml <<'END'
<mujoco><worldbody><body pos="0 0 1"><freejoint/><geom type="sphere" size=".1" mass="1"/></body></worldbody></mujoco>
END
says 1 "control mode gait commands motors, and the robot has no hinge or slide: leave it out" check robot.yaml \
    --set simulation.robot=free.xml --set simulation.control.mode=gait
says 0 "warning: thrust is 20 here, and every replicate draws it (--set:1): only derive, " check hopper.yaml \
    --set parameters.thrust=20 --set 'replicates={count: 2, perturb: {thrust: {normal: [30, 1]}}}'
says 1 "terrain_points needs terrain: table" check hopper.yaml \
    --set 'simulation.terrain_points=[[0, 0], [1, 1]]'
says 1 "sample is 0.001, but model bbob has no time: leave it out" check grid.yaml \
    --set record.trajectories.sample=0.001

# Numbers as YAML has them, and with a unit.
for number in 35. .5 -.5e0 3.e1; do
    "$HOPSCOTCH" check hopper.yaml --set "parameters.x_dot_des=$number" >out 2>err
    expect $? 0 "the number $number"
done
says 1 "thrust is '35 N', expected a number in [0, 100000] N: write the number alone, its unit is fixed" \
    check hopper.yaml --set 'parameters.thrust=35 N'
printf 'version: 1\nexperiment: a\nmodel: command\nsimulation: {columns: {z: m}}\n' >command.yaml
says 1 "unknown key 'columns' in simulation: it stands at the top of the spec" check command.yaml
printf 'k_fp,note\n100,a,b\n' >more.csv
says 1 "more.csv:2:7: error: more fields than columns, and the header has 2" check hopper.yaml \
    --set 'search={method: csv, csv: {file: more.csv, columns: [k_fp]}}'
printf 'k_fp,thrust\n"1"00,30\n' >quoted.csv
says 1 "k_fp is '\"1\"00', expected a number" check grid.yaml --set model=hopper --set 'objective={minimize: energy}' \
    --set 'search={method: csv, csv: quoted.csv}'
says 1 "--device gives numbers of GPUs, and this would run on " run hopper.yaml --name on_gpu --backend cpu --device 0
[ ! -e results/on_gpu/campaign.db ] || "$HOPSCOTCH" status on_gpu >out 2>err
says 1 "--device gives numbers of GPUs, and this would run on " replay hopper/0 --backend cpu --device 1

if [ -z "${QUICK:-}" ] && with_python "the messages of the source"; then
    cd "$root" && { python3 tests/messages.py || status=1; }
fi
exit $status
