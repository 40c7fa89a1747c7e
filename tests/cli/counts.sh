#!/bin/sh
# 1 to 1,000 of all that a model may have many of: bodies, constraints and forces of a world, joints, groups and designs
# of a robot, dimensions of a benchmark, maps of a scan. Each count runs, resumes, and is exported with right numbers of
# columns; beyond a limit `check` refuses it with the number. many_columns.sh does so for `command` and all methods.
. "$(dirname "$0")/../scratch.sh"
counts="1 50 100 300 1000"
[ "${QUICK:-0}" != 1 ] || counts="1 100 1000"

# ends NAME TRIALS COLUMNS: the spec runs, all that reads its campaign does so, and its trajectories have COLUMNS
ends()
{
    run check "$1.yaml" && run run "$1.yaml" --progress none --threads 1 && run query "$1" --columns all --format csv &&
        [ "$(wc -l <out)" -eq $(($2 + 1)) ] && cp out table && run export "$1" --csv out.csv && cmp -s out.csv table &&
        run export "$1" --npz out.npz && run export "$1" --parquet out.pq && run export "$1" --hdf5 out.h5 &&
        run show "$1/0" && run best "$1" &&
        run resume "$1" --progress none && run report "$1" && run doctor "$1" && run digest "$1" &&
        run replay "$1/0" -o motion.csv && [ "$(head -n 1 motion.csv | tr , '\n' | wc -l)" -eq "$3" ] &&
        ! grep -q ',nan' table
}
# header PATTERN N: N columns of the table have such names
header() { [ "$(head -n 1 table | tr , '\n' | grep -c -e "$1")" -eq "$2" ]; }
# denied NAME TEXT: check refuses it at a place
denied()
{
    run check "$1.yaml"
    [ $? -eq 1 ] && grep -q "^$1.yaml:[0-9]*:[0-9]*: error: .*$2" err
    check $? "$1: refused: $2"
}

# ---- worlds ---------------------------------------------------------------------------------------------------------

# world NAME BODIES JOINTS PUSHES SEARCHED MORE: a row of bodies, the first of which JOINTS rods and PUSHES forces hold
world()
{
    awk -v name="$1" -v n="$2" -v rods="$3" -v pushes="$4" -v searched="$5" -v more="${6:-}" 'BEGIN {
        print "version: 1\nexperiment: " name "\nmodel: rigid\nsimulation:\n  duration: 0.02\n  dt: 0.01\n  world:"
        print "    bodies:\n      - {name: b#, repeat: " n ", position: [0, 0, 1], step: {position: [2, 0, 0]}}"
        if (rods) print "    constraints:"
        for (i = 1; i <= rods; i++)
            print "      - {name: r" i ", type: distance, a: b" i (i < n ? ", b: b" i + 1 : ", at_b: [0, 0, 0]") "}"
        if (pushes) print "    forces:"
        for (i = 1; i <= pushes; i++) print "      - {name: f" i ", type: push, a: b" i ", force: [0, 0, 1]}"
        print "objective: {minimize: energy_end}\nsearch:\n  method: random\n  trials: 2\n  over:"
        for (i = 1; i <= searched; i++) print "    b" i "_vy: {range: [0, 1]}"
        if (!searched) print "    gravity: {range: [9, 10]}"
        print more
    }' >"$1.yaml"
}
all_recorded='record: {bodies: all, trajectories: {select: {every: 1}, sample: 0.01}}'
recorded='record: {trajectories: {select: {every: 1}, sample: 0.01}}'
for n in $counts; do
    shown=$((n < 64 ? n : 64))
    world "world$n" "$n" "$n" "$n" 1 "$recorded"
    ends "world$n" 2 $((1 + 13 * shown)) && header '_end_[xyz]$' $((3 * shown))
    check $? "a world of $n bodies, $n rods and $n pushes"
    world "free$n" "$n" 0 0 "$n" "$all_recorded"
    if [ "$n" -le 256 ]; then
        ends "free$n" 2 $((1 + 13 * n)) && header '_vy$' "$n" && header '_end_[xyz]$' $((3 * n))
        check $? "a world of $n bodies that are all searched and recorded"
    else
        denied "free$n" 'inputs or end positions of .* at most 256 can have them'
        [ "$(grep -c ': error: ' err)" -eq 1 ]
        check $? "and no name is called unknown"
        world "wide$n" "$n" 0 0 0 "$all_recorded"
        [ "$n" -lt 308 ] || denied "wide$n" "has $((1 + 13 * n)) columns, at most 4000 are allowed: name fewer"
    fi
done
world bodies 4097 0 0 0
denied bodies 4096
world rods 2 8193 0 0
denied rods 8192
world pushes 2 0 8193 0
denied pushes 8192

# ---- robots ---------------------------------------------------------------------------------------------------------

# robot NAME JOINTS GROUPED DESIGNED: limbs of up to 99 joints each, of which the first are in groups and designs
robot()
{
    awk -v n="$2" 'BEGIN {
        print "<mujoco><worldbody>"
        for (i = 1; i <= n; i++) {
            for (; i > 1 && open > (i % 99 == 2 ? 1 : 99); open--) printf "</body>"
            print "<body name=\"l" i "\" pos=\"0 0 -.1\"><joint name=\"j" i "\" axis=\"0 1 0\" damping=\".1\"/>" \
                "<geom size=\".02\"/>"
            open++
        }
        for (; open > 0; open--) printf "</body>"
        print "</worldbody></mujoco>" }' >"$1.xml"
    awk -v name="$1" -v n="$2" -v groups="$3" -v designs="$4" 'BEGIN {
        print "version: 1\nexperiment: " name "\nmodel: articulated\nsimulation:\n  robot: " name ".xml"
        print "  duration: 0.004\n  dt: 0.002"
        if (groups) print "  groups:"
        for (i = 1; i <= groups; i++) print "    g" i ": [j" i "]"
        if (designs) print "  design:"
        for (i = 1; i <= designs; i++) print "    d" i ": {length: j" i "}"
        print "initial: {j1_start: 0.3}\nobjective: {minimize: energy}\nsearch:\n  method: random\n  trials: 2\n  over:"
        for (i = groups + 1; i <= n; i++) print "    j" i "_damping: {range: [0.1, 0.2]}"
        for (i = 1; i <= groups; i++) print "    g" i "_damping: {range: [0.1, 0.2]}"
        for (i = 1; i <= designs; i++) print "    d" i ": {range: [0.9, 1.1]}"
        print "record: {trajectories: {select: {every: 1}, sample: 0.002}}"
    }' >"$1.yaml"
}
for n in $counts; do
    some=$((n < 256 ? n : 256))
    if [ "$n" -eq 1000 ]; then
        robot "robot$n" "$n" 0 0
        denied "robot$n" 'a trajectory of these bodies has 4014 columns, at most 4000 are allowed'
        n=990
    fi
    robot "robot$n" "$n" "$some" "$some"
    ends "robot$n" 2 $((14 + 4 * n)) && header '^[gj][0-9]*_damping$' "$n" && header '^d[0-9]*$' "$some"
    check $? "a robot of $n joints, $some groups and $some designs"
done
robot bodies 1025 0 0
run check bodies.yaml
[ $? -eq 1 ] && grep -q '^bodies.xml:[0-9]*:[0-9]*: error: more than 1024 bodies' err
check $? "a robot of 1,025 bodies: refused, at most 1,024"
robot lists 300 257 257
denied lists 'groups has 257 items, at most 256 are allowed'
grep -q '^lists.yaml:[0-9]*:[0-9]*: error: design has 257 items, at most 256 are allowed' err
check $? "257 designs: refused"

# ---- dimensions, maps, and the model whose numbers are fixed ---------------------------------------------------------

for n in 2 20 40 41; do
    printf '%s\n' "version: 1" "experiment: bbob$n" "model: bbob" "simulation: {dimension: $n}" \
        "search: {method: random, trials: 2, over: {$(seq "$n" | sed 's/.*/x&: {range: [-5, 5]}/' | paste -s -d ,)}}" \
        "record: {trajectories: {select: {every: 1}}}" >"bbob$n.yaml"
    if [ "$n" -le 40 ]; then
        ends "bbob$n" 2 $((1 + n)) && header '^x[0-9]*$' "$n"
        check $? "bbob in $n dimensions"
    else
        denied "bbob$n" 'dimension is 41, must be in \[2, 40\]'
    fi
done
for n in 1 8 32 33; do
    printf '%s\n' "version: 1" "experiment: ndt$n" "model: ndt" \
        "simulation: {maps: [$(seq -s ', ' "$n" | sed 's/[0-9][0-9]*/2.0&/g')], max_iterations: 2}" \
        "search: {method: random, trials: 2, over: {epsilon: {range: [0.01, 0.1]}}}" \
        "record: {trajectories: {select: {every: 1}}}" >"ndt$n.yaml"
    if [ "$n" -le 32 ]; then
        ends "ndt$n" 2 9
        check $? "ndt with $n maps"
    else
        denied "ndt$n" 'maps has 33 numbers, at most 32 are allowed'
    fi
done
printf '%s\n' "version: 1" "experiment: hopper" "model: hopper" "simulation: {duration: 0.02, settle: 0}" \
    "search: {method: random, trials: 2, over: {k_fp: {range: [50, 300]}}}" "objective: {minimize: attitude_rms}" \
    "record: {trajectories: {select: {every: 1}}}" >hopper.yaml
ends hopper 2 "$("$HOPSCOTCH" models hopper | sed -n '/^trajectory /,/^$/p' | sed '1d; /^$/d' | wc -l)"
check $? "the hopper"
exit "$status"
