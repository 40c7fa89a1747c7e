#!/bin/sh
# Parts of a campaign (run --part) and gather, which joins them: the digest is that of one run, for every method; parts
# in any order, interrupted, killed and gathered in between; and what is refused.
. "$(dirname "$0")/../scratch.sh"

# spec NAME <<END: the text without version, experiment and seed, into NAME.yaml
spec()
{
    printf 'version: 1\nexperiment: %s\nseed: 5\n' "$1" >"$1.yaml"
    cat >>"$1.yaml"
}

spec grid <<'END'
model: hopper
simulation: {duration: 0.3, dt: 1.0e-3, settle: 0.1}
search:
  method: grid
  over: {k_fp: {linspace: [50, 300, 9]}, z_foot: [0.0, 0.3, 0.5], thrust: [25, 35]}
  exclude: ["k_fp > 260 and z_foot < 0.1"]
replicates: {count: 2, store: true, perturb: {phi_leg: {normal: [0.3, 0.9]}}}
record:
  trajectories: {select: {best: 3, every: 5, failures: 4, trials: [7]}, sample: 0.01}
  debug: {newton: {select: {best: 1, trials: [11]}, window: [0, 0.02]}}
END
spec later <<'END'
model: bbob
search: {method: random, over: {x1: {range: [-5, 5]}, x2: {range: [-5, 5]}}, trials: 5000}
store: {rows: blocks}
END
for method in latin_hypercube sobol; do
    spec $method <<END
model: bbob
search: {method: $method, over: {x1: {range: [-5, 5]}, x2: {range: [-5, 5]}}, trials: 100}
END
done
spec morris <<'END'
model: bbob
search: {method: morris, over: {x1: {range: [-5, 5]}, x2: {range: [-5, 5]}}, trajectories: 20}
END
spec sobol_indices <<'END'
model: bbob
search: {method: sobol_indices, over: {x1: {range: [-5, 5]}, x2: {range: [-5, 5]}}, samples: 32}
END
spec list <<'END'
model: bbob
search: {method: list, points: [{x1: 1, x2: 2}, {x1: 2, x2: 1}, {x1: 3, x2: 2}, {x1: 0, x2: 0}, {x1: -1, x2: 4}]}
END
spec cmaes <<'END'
model: bbob
simulation: {function: rastrigin, dimension: 3}
search:
  method: cmaes
  over: {x1: {range: [-5, 5]}, x2: {range: [-5, 5]}, x3: {range: [-5, 5]}}
  exclude: ["x1 > x2 + 6"]
  cmaes: {searches: 9, first: 4, bounds: resample, restarts: bipop, restarts_max: 2, stop: {generations: 30}}
record: {trajectories: {select: {best: 3, every: 1000, trials: [7]}}}
END
spec outer <<'END'
model: bbob
simulation: {dimension: 3}
search:
  method: cmaes
  over: {x1: {range: [-5, 5]}, x2: {range: [-5, 5]}}
  cmaes: {searches: 3, stop: {generations: 12}, outer: {x3: [0, 1, 2]}}
END
spec nsga2 <<'END'
model: bbob
search:
  method: nsga2
  over: {x1: {range: [-5, 5]}, x2: {range: [-5, 5]}}
  nsga2: {searches: 6, population: 12, stop: {generations: 8}}
objective: {minimize: [f, distance]}
record: {trajectories: {select: {best: 4}}}
END
for method in adam lbfgs; do
    spec $method <<END
model: bbob
search:
  method: $method
  over: {x1: {range: [-5, 5]}, x2: {range: [-5, 5]}}
  $method: {searches: 6, stop: {iterations: 15}}
END
done

# joined NAME N: N parts, the last first, gathered after every third, have the digest of one run
joined()
{
    run run "$1.yaml" --name "one_$1" --progress none
    k=$2
    while [ "$k" -ge 1 ]; do
        run run "$1.yaml" --part "$k/$2" --progress none || check 1 "$1: part $k/$2"
        [ $((k % 3)) -ne 0 ] || run gather "$1"
        k=$((k - 1))
    done
    works gather "$1"
    [ "$(digest "$1")" = "$(digest "one_$1")" ] && [ -n "$(digest "$1")" ]
    check $? "$1: $2 parts have the digest of one run"
    run doctor "$1"
    check $? "$1: doctor finds nothing"
}
for name in grid later latin_hypercube sobol morris sobol_indices list; do joined $name 5; done
for name in cmaes outer nsga2 adam lbfgs; do joined $name 4; done
"$SQL" results/morris/campaign.db "SELECT count(*) FROM sensitivity" >out 2>err
[ "$(tr -d '[:space:]' <out)" -gt 0 ]
check $? "sensitivities are measured when all parts are joined"

# ---- what is there while parts are missing ---------------------------------------------------------------------------

rm -rf results/grid results/grid.parts
works run grid.yaml --part 2/5 --progress none
works status grid
has "0 of 5 are joined, 1 done, 0 running, 4 missing"
refused status grid --watch
has "no part of grid is joined yet" err
refused best grid
has "grid is still in parts" err
code=75 refused gather grid
has "joined 1 of 5 parts" err
has "trials); missing: 01of05 (missing), 03of05 (missing)" err
run status grid
has "hopscotch gather grid"
run status grid --json
has '"state": "missing"'
works best grid
works doctor grid
works doctor grid.parts/02of05
for command in "run grid.yaml" "resume grid" "run grid.yaml --extend"; do
    # shellcheck disable=SC2086
    refused $command --progress none
    has "grid holds 1 of 5 parts so far: run the others" err
done
refused merge grid grid.parts/02of05 --into both
has "grid still lacks parts: gather joins the parts" err
refused merge one_grid grid.parts/02of05 --into both
has "02of05 is a part: gather joins" err
works resume grid.parts/02of05 --progress none
has "02of05 is done already" err
[ ! -e results/grid.parts/index.db ]
check $? "parts have no catalogue"

# ---- parts that are no parts -----------------------------------------------------------------------------------------

cp -r results/grid.parts/02of05 results/grid.parts/03of05
refused gather grid
has "03of05 holds part 2 of 5: its folder was renamed or copied" err
refused run grid.yaml --part 3/5 --progress none
has "03of05 holds part 2 of 5, and not part 3 of 5" err
rm -r results/grid.parts/03of05
cp -r results/one_grid results/grid.parts/03of05
refused gather grid
has "03of05 is a campaign, not a part: move it" err
refused run grid.yaml --part 3/5 --progress none
has "03of05 is a campaign, not a part: choose another --name" err
rm -r results/grid.parts/03of05
run run grid.yaml --part 3/5 --set seed=6 --progress none
run run grid.yaml --part 4/5 --progress none
refused gather grid
has "03of05 has another spec" err
has "remove its folder, and run the part again" err
run status grid
has "2 of 5 are joined"
rm -r results/grid.parts/03of05
run run grid.yaml --part 3/5 --set replicates.store=false --progress none
refused gather grid
has "replicates.store differs between 03of05 and grid" err
rm -r results/grid.parts/03of05
run run grid.yaml --part 3/5 --progress none
cp -r results/grid.parts/03of05 good
"$SQL" results/grid.parts/03of05/campaign.db "UPDATE campaign SET numerics_version = 1"
refused gather grid
has "03of05 was computed with numerics version 1" err
has "run the part again with this version" err
"$SQL" results/grid.parts/03of05/campaign.db "UPDATE campaign SET numerics_version = (SELECT max(numerics_version) FROM
    batches); UPDATE trials SET attitude_rms = attitude_rms * (1 + 3e-16) WHERE id = (SELECT max(id) FROM trials)"
code=3 refused gather grid
has "03of05 is damaged: table trials differs" err
has "doctor 03of05 --repair" err
works doctor results/grid.parts/03of05 --repair
code=75 refused gather grid
has "joined 3 of 5 parts" err
rm -r results/grid
printf X | dd of=results/grid.parts/03of05/shards/000000.h5 bs=1 seek=2000 conv=notrunc 2>/dev/null
code=3 refused gather grid
has "the shard results/grid.parts/03of05/shards/000000.h5 differs from what was written" err
has "doctor 03of05 --repair" err
rm -r results/grid.parts/03of05
mv good results/grid.parts/03of05
run run grid.yaml --part 5/5 --progress none
"$SQL" results/grid.parts/05of05/campaign.db "UPDATE origin SET campaign = 'x' WHERE purpose = 'part'"
code=3 refused gather grid
has 'names a part "x", which can' err
rm -r results/grid.parts/05of05
mkdir results/grid.parts/03of06
for command in "gather grid" "run grid.yaml --part 5/5" "status grid"; do
    # shellcheck disable=SC2086
    refused $command
    has "has parts of two divisions (5 and 6): remove one" err || has "has parts of two divisions (6 and 5)" err
done
rmdir results/grid.parts/03of06
refused run grid.yaml --part 2/4
has "has 5 parts, not 4: use the same number, or remove the folder" err
cp -r results/grid.parts results/one_grid.parts
refused gather one_grid
has "one_grid was run as a whole, not gathered" err
rm -r results/one_grid.parts
mv results/grid results/sobol.parts/grid
cp -r results/sobol.parts/grid results/cmaes_of_grid
cp -r results/cmaes.parts results/cmaes_of_grid.parts
refused gather cmaes_of_grid
has "cmaes_of_grid has another spec than its parts" err
mv results/sobol.parts/grid results/grid
for part in 1 5; do run run grid.yaml --part $part/5 --progress none; done
works gather grid
same_as_one() { [ "$(digest "$1")" = "$(digest "one_$1")" ] && [ -n "$(digest "$1")" ]; }
same_as_one grid
check $? "after all this the digest is that of one run"
works gather grid
has "grid: 5 parts"
mkdir results/other.parts results/grid.eight
for part in 1 2 3 4 5 6 7 8; do run run grid.yaml --part $part/8 --name eight --progress none; done
mv results/grid.parts results/grid.five
mv results/eight.parts results/grid.parts
refused gather grid
has "grid was gathered from 5 parts" err
rm -r results/grid.parts
works gather grid
has "all 5 parts are joined"
refused gather nothing
has "there are no parts of nothing" err

# What changes between the look at the parts and their locks: `gather` stops before it locks the third one.
meanwhile() # COMMAND: the exit code of a gather, in whose middle it runs
{
    rm -rf results/list
    pauses lock:12 gather list --threads 5 --progress none
    eval "$1"
    goes_on
    mv paused.out out && mv paused.err err
}
state() { "$SQL" results/list.parts/05of05/campaign.db "UPDATE campaign SET state = '$1'"; }
meanwhile "state interrupted"
expect "$ended" 75 "a part that another process went on with is not joined"
has "list: joined 4 of 5 parts" err
state done
meanwhile "mv results/list.parts/01of05 moved && cp -r moved results/list.parts/01of05"
expect "$ended" 3 "a part whose folder was replaced after it was checked is not joined"
has "another process changed a part of list while it was joined: gather again" err
meanwhile "kill -TERM \$pid"
expect "$ended" 75 "a gather that is told to stop"
has "0 of 5 parts are joined; run the same command to continue" err
works gather list
same_as_one list
check $? "gathered again it has the digest of one run"

# A method that learns: parts that were joined stay until the last one is.
rm -r results/cmaes
mv results/cmaes.parts/02of04 two
code=75 refused gather cmaes
mv results/cmaes.parts/01of04 one
mv two results/cmaes.parts/02of04
refused gather cmaes
has "01of04 was joined and is missing now: for cmaes keep all part folders" err
cp -r results/cmaes.parts/03of04 results/cmaes.parts/01of04
"$SQL" results/cmaes.parts/01of04/campaign.db "UPDATE origin SET campaign = '01of04' WHERE purpose = 'part'"
run doctor results/cmaes.parts/01of04 --repair
code=3 refused gather cmaes
has "two parts hold round 0 of search 8" err
rm -r results/cmaes.parts/01of04
mv one results/cmaes.parts/01of04
works gather cmaes
same_as_one cmaes
check $? "then the digest is that of one run"

# ---- what can't be divided -------------------------------------------------------------------------------------------

refused run cmaes.yaml --name ten --part 1/10
has "cmaes runs 9 searches here, which can't be divided into 10 parts" err
refused run cmaes.yaml --name single --set search.cmaes.searches=1 --part 1/10
has "cmaes runs one search here, and a search can't be divided: set search.cmaes.searches to 10 or more" err
refused run list.yaml --name many --part 1/6
has "5 trials can't be divided into 6 parts: use fewer parts" err
refused run grid.yaml --name limited --set limits.trials=5 --part 1/2
has "limits.trials needs the trials of all parts" err
refused run later.yaml --name kept --set record.rows.best=10 --part 1/2
has "record.rows needs all trials in order" err
[ ! -e results/limited.parts/01of02 ] && [ ! -e results/many.parts/01of06 ]
check $? "what is refused leaves no folder"
run run list.yaml --name grows --progress none
refused run results/sobol.parts/01of05/spec.yaml --name x --part 1/2
has "is a part. A part can't be divided" err
refused run sobol.yaml --results results/sobol.parts --name 01of05 --part 1/2
has "results/sobol.parts/01of05 is a part. A part can't" err
code=2 refused run sobol.yaml --part 1/5 --extend
has "a part can't be extended" err
for text in 0/3 4/3 3 a/b 1/10000 /3 1/ 99999999999/99999999999; do
    code=2 refused run sobol.yaml --part $text
    has "write --part K/N with 1 <= K <= N <= 9999, or --part auto" err
done
code=2 refused run sobol.yaml --part 1/5 --parts 5
has "--parts is only for --part auto" err
code=2 refused run sobol.yaml --parts 5
has "--parts is the number of parts for --part auto" err

# ---- tasks of arrays -------------------------------------------------------------------------------------------------

unset SLURM_ARRAY_TASK_ID PBS_ARRAY_INDEX JOB_COMPLETION_INDEX
auto() # FOLDER VARIABLE=VALUE... -- OPTIONS: that part is run
{
    rm -rf results/auto.parts
    folder=$1
    shift
    env "$@" "$HOPSCOTCH" run sobol.yaml --name auto --part auto $options --progress none >out 2>err
    [ -d "results/auto.parts/$folder" ]
    check $? "$* $options: part $folder"
}
options=
auto 02of04 SLURM_ARRAY_TASK_ID=8 SLURM_ARRAY_TASK_MIN=7 SLURM_ARRAY_TASK_COUNT=4 SLURM_ARRAY_TASK_STEP=1
auto 01of04 SLURM_ARRAY_TASK_ID=0 SLURM_ARRAY_TASK_MIN=0 SLURM_ARRAY_TASK_COUNT=4
options="--parts 8"
auto 05of08 SLURM_ARRAY_TASK_ID=5 SLURM_ARRAY_TASK_MIN=5 SLURM_ARRAY_TASK_COUNT=1
auto 08of08 PBS_ARRAY_INDEX=8
auto 01of08 JOB_COMPLETION_INDEX=0
rm -rf results/auto.parts
denied() # TEXT VARIABLE=VALUE...
{
    text=$1
    shift
    env "$@" "$HOPSCOTCH" run sobol.yaml --name auto --part auto $options >out 2>err
    [ $? -eq 1 ]
    check $? "refused: $* $options"
    has "$text" err
}
denied "SLURM_ARRAY_TASK_ID is 0, which is not a task of an array of 8: number the tasks from 1 to 8" \
    SLURM_ARRAY_TASK_ID=0
denied "JOB_COMPLETION_INDEX is 8, which is not a task of an array of 8: number the tasks from 0 to 7" \
    JOB_COMPLETION_INDEX=8
denied "SLURM_ARRAY_TASK_ID and PBS_ARRAY_INDEX are both set: use --part K/N" SLURM_ARRAY_TASK_ID=1 PBS_ARRAY_INDEX=1
denied 'the environment variable PBS_ARRAY_INDEX is "1; rm", and should be a number' "PBS_ARRAY_INDEX=1; rm"
options=
denied "PBS does not say how many tasks the array has: add --parts N" PBS_ARRAY_INDEX=1
denied "--part auto needs a task of an array" NOTHING=1
denied "the numbers have gaps, or there are more than 9999: use --parts N" SLURM_ARRAY_TASK_ID=9 \
    SLURM_ARRAY_TASK_MIN=1 SLURM_ARRAY_TASK_COUNT=3
[ ! -e results/auto.parts ]
check $? "what is refused runs nothing"

# ---- a part that is told to stop -------------------------------------------------------------------------------------

sed 's/^experiment: .*/experiment: long/; s/duration: 0.3/duration: 60/; s/dt: 1.0e-3/dt: 1.0e-4/' \
    grid.yaml >long.yaml
pauses sqlwrite:100 run long.yaml --part 1/2 --batch 2 --progress none
kill -TERM "$pid"
goes_on
mv paused.out out && mv paused.err err
expect "$ended" 75 "a part that is told to stop has the exit code 75"
has "continue with" err
run status long
has "interrupted"
code=75 refused gather long
has "joined 0 of 2 parts" err
works rm long.parts/01of02 --yes

# ---- submit ----------------------------------------------------------------------------------------------------------

works submit sobol.yaml --parts 4 --print --slurm "--gpus=1 --time=2:00:00" --set "experiment=sobol"
for text in "#SBATCH --array=1-4" "#SBATCH --gpus=1" "#SBATCH --time=2:00:00" "#SBATCH --requeue" \
    "#SBATCH --signal=B:TERM@120" "--set 'experiment=sobol'" "scontrol requeue" "spec='$PWD/sobol.yaml'"; do
    has "$text"
done
sh -n out
check $? "a shell reads the script"
if command -v shellcheck >/dev/null; then
    shellcheck out >err
    check $? "shellcheck finds nothing in it"
fi
mkdir "it's a \$(touch folder)"
cp sobol.yaml "it's a \$(touch folder)/sobol.yaml"
(cd "it's a \$(touch folder)" && "$HOPSCOTCH" submit sobol.yaml --parts 4 --print) >out 2>err
sh -n out && sed -n '/^spec=/p' out >assigned && (. ./assigned && [ -f "$spec" ]) && [ ! -e folder ]
check $? "a strange path is one word"
refused submit sobol.yaml --parts 4 --print --slurm "--time=1
touch owned"
has "has a line break or another control character" err
refused submit sobol.yaml --parts 4 --print --set "experiment=a
b"
for text in '--comment="a b"' 'owned' "--x=\$(touch owned)" '--x=`touch owned`' '--wrap=a;b'; do
    refused submit sobol.yaml --parts 4 --print --slurm "$text"
    has "is not supported: use --name=value without quotes" err
done
spec warm <<'END'
model: bbob
simulation: {dimension: 3}
search:
  method: cmaes
  over: {x1: {range: [-5, 5]}, x2: {range: [-5, 5]}, x3: {range: [-5, 5]}}
  cmaes: {searches: 4, from: one_cmaes, stop: {generations: 5}}
END
works submit warm.yaml --parts 2 --print
has "--set 'search.cmaes.taken={hash: "
refused submit sobol.yaml --parts 101 --print
has "can't be divided into 101 parts" err
code=2 refused submit sobol.yaml
has "submit needs the number of parts: --parts N" err
code=2 refused submit sobol.yaml --parts 2 --print --yes
has "--print only prints the script" err
code=2 refused submit sobol.yaml --parts 2 --output -
has "use --print for standard output" err

# The script itself, by a shell, with programs in place of Slurm's. It is told to end while it copies, before the run
# listens, and during the run; it requeues itself until its part is done.
mkdir -p bin tmp
printf '#!/bin/sh\necho RUNNING\n' >bin/squeue
printf '#!/bin/sh\necho "$@" >>requeued\n' >bin/scontrol
printf '#!/bin/sh\nsleep 0.3\nexec %s "$@"\n' "$(command -v cp)" >bin/cp
chmod +x bin/squeue bin/scontrol bin/cp
# task K SECONDS: the status of a turn of task K that is told to end after so long; fatal: see fatal/ below
task()
{
    rm -f requeued
    FATAL=${fatal:-0} PATH=${fatal:+$PWD/fatal:}$PWD/bin:$PATH TMPDIR=$PWD/tmp SLURM_JOB_ID=7 \
        SLURM_ARRAY_JOB_ID=6 SLURM_ARRAY_TASK_ID=$1 sh turns.sbatch >>turns.log 2>&1 &
    pid=$!
    sleep "$2"
    kill -TERM $pid 2>/dev/null
    wait $pid 2>/dev/null
}
spec turns <<'END'
model: bbob
search: {method: random, over: {x1: {range: [-5, 5]}, x2: {range: [-5, 5]}}, trials: 20000}
device: {batch: 4}
END
# so many trials that this machine computes them for three seconds, or ten
since=$(milliseconds)
"$HOPSCOTCH" run turns.yaml --name pace --set search.trials=4000 --progress none >out 2>err
pace=$(($(milliseconds) - since))
trials=$((4000 * (${QUICK:+-7000} + 10000) / (pace > 1 ? pace : 1)))
sed -i "s/trials: 20000/trials: $((trials < 4000 ? 4000 : trials > 200000 ? 200000 : trials))/" turns.yaml
works run turns.yaml --name one_turns --progress none
works submit turns.yaml --parts 2 --slurm "--time=1" -o turns.sbatch
lost=0 turns=0
for part in 1 2 0; do
    for delay in 0.4 0.2 0.32 0.34 0.36 0.4 0.5 1 2 4 8 16 32; do
        task $part $delay && break
        [ "$(cat requeued 2>/dev/null)" = "requeue 6_$part" ] || lost=$((lost + 1))
        turns=$((turns + 1))
    done
done
[ $turns -gt 5 ] && [ $lost -eq 0 ]
check $? "$turns turns of three tasks were told to end; $lost of them did not requeue themselves"
[ "$(digest turns)" = "$(digest one_turns)" ] && [ -n "$(digest turns)" ] && [ -z "$(ls tmp)" ]
check $? "the script's parts, joined by it, have the digest of one run"

# A turn that is killed in the middle of any of its calls of cp, mv, rm and sync: the next one goes on from all that the
# part had. The turns before and after it run until they are told to end.
mkdir -p fatal
for tool in cp mv rm sync; do
    cat >fatal/$tool <<END
#!/bin/sh
echo $tool >>'$PWD/calls'
if [ "\$(wc -l <'$PWD/calls')" -eq "\$FATAL" ]; then
    for last; do :; done
    [ $tool != cp ] || $(command -v cp) "\$@"
    [ $tool != cp ] && [ $tool != rm ] || $(command -v rm) -f "\$last/campaign.db"
    kill -9 "\$PPID"
    exit 1
fi
exec $(command -v $tool) "\$@"
END
    chmod +x fatal/$tool
done
rm bin/cp
held() { "$SQL" results/killed.parts/01of01/campaign.db "SELECT sum(trials) FROM batches" 2>/dev/null | tr -dc 0-9; }
sed 's/^experiment: .*/experiment: killed/; s/trials: [0-9]*/trials: 200000/' turns.yaml >killed.yaml
works submit killed.yaml --parts 1 -o turns.sbatch
task 1 0.5
lost=0 before=$(held) kills=0
calls="1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16" least=10
[ -z "${QUICK:-}" ] || calls="3 4 6 7 8" least=5
for fatal in $calls; do
    rm -f calls
    task 1 0.5
    [ "$(wc -l <calls)" -ge "$fatal" ] || break
    kills=$((kills + 1)) fatal=
    task 1 0.5
    [ "$(cat requeued 2>/dev/null)" = "requeue 6_1" ] && [ "$(held)" -ge "$before" ] || lost=$((lost + 1))
    before=$(held)
done
[ $kills -ge $least ] && [ $lost -eq 0 ]
check $? "$kills turns were killed while they copied: $lost lost what the part had ($before trials)"
[ -z "$(ls tmp)" ] && [ "$(ls results/killed.parts)" = 01of01 ]
check $? "nothing is left of them"

# sbatch itself: a program of that name that keeps its words, and says what it is told to
mkdir -p bin
cat >bin/sbatch <<'END'
#!/bin/sh
for word; do echo "[$word]"; done >>called
cat answer
exit "$(cat code)"
END
chmod +x bin/sbatch
echo 4711 >answer && echo 0 >code
PATH=$PWD/bin:$PATH run submit sobol.yaml --parts 4 --yes -o "my script.sbatch"
check $? "submit --yes"
has "job 4711 runs the parts, job 4711 joins them"
printf '[%s]\n' --parsable "my script.sbatch" --parsable --dependency=afterany:4711 --array=0 "my script.sbatch" |
    cmp -s - called
check $? "sbatch is called with these words"
echo "not a number" >answer
PATH=$PWD/bin:$PATH run submit sobol.yaml --parts 4 --yes
expect $? 3 "an answer of sbatch that is no number"
has 'sbatch printed "not a number' err
echo 1 >code
PATH=$PWD/bin:$PATH run submit sobol.yaml --parts 4 --yes
expect $? 3 "sbatch refuses"
has "sbatch refused the job: see its message above" err
PATH=/nothing run submit sobol.yaml --parts 4 --yes
expect $? 3 "no sbatch"
has "sbatch can't be called: No such file" err

# Not provoked here: "no pipe to sbatch"; "the current folder has no path"; "can't find the path of this program";
# "can't be divided into parts: run its last spec under a new name" (a campaign that was extended, as its own store
# refuses it before).
exit $status
