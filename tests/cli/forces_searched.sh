#!/bin/sh
# Numbers of a world's forces as parameters: a trial has the bits of the world with that number written in it, for every
# kind of force, form and instruction set; names that fit nothing or fit twice.
. "$(dirname "$0")/../scratch.sh"

# world FORM FORCE: a spec of two bodies on a rod, one of them on the force
world()
{
    cat <<END
version: 1
experiment: world
model: rigid
simulation:
  duration: 0.5
  dt: 0.005
  stabilisation: $1
  world:
    bodies:
      - name: load
        mass: 2
        inertia: [0.2, 0.3, 0.4]
        position: [0.4, 0.1, 1.5]
        velocity: [1, 2, -1]
        spin: [3, 1, 2]
      - {name: other, inertia: 0.1, position: [0.4, 0.1, 2.5]}
    constraints: [{name: rod, type: distance, a: load, b: other}]
    forces:
      - {name: pull, a: load, at_a: [0.1, 0, 0.2], $2}
END
}

numbers() # CAMPAIGN: metrics of its trials, exactly
{
    "$HOPSCOTCH" query "$1" --columns fitness,error_rms,tension_max,load_end_x,load_end_y,load_end_z,other_end_z \
        --order id --format csv 2>>err | tail -n +2
}

digest() { "$HOPSCOTCH" digest "$1" | grep -o -m 1 '[0-9a-f]\{64\}'; }

# searched FORM FORCE PARAMETER VALUE...: FORCE has @ in place of the parameter's number
searched()
{
    form=$1 force=$2 name=$3
    shift 3
    rm -rf results
    {
        world "$form" "$(echo "$force" | sed "s/@/$1/")"
        echo "search: {method: list, points: [$(for value; do printf '{%s: %s},' "$name" "$value"; done)]}"
        echo 'objective: {minimize: "load_end_z + tension_max"}'
    } >world.yaml
    "$HOPSCOTCH" run world.yaml --name all >out 2>err
    numbers all >all.csv
    for value; do
        world "$form" "$(echo "$force" | sed "s/@/$value/")" >one.yaml
        echo 'objective: {minimize: "load_end_z + tension_max"}' >>one.yaml
        "$HOPSCOTCH" run one.yaml --name one >out 2>>err
        numbers one
        rm -rf results/one
    done >each.csv
    [ "$(wc -l <all.csv)" -eq $# ] && [ "$(sort -u all.csv | wc -l)" -eq $# ] && diff all.csv each.csv >out
    check $? "$form: $name of $* has the bits of worlds with that number"
    "$HOPSCOTCH" run world.yaml --name scalar --isa scalar >out 2>err
    grep -q "without kernels for 'scalar'" err && return # a build of \`make dev\`
    [ -n "$(digest all)" ] && [ "$(digest all)" = "$(digest scalar)" ]
    check $? "$form: $name by one lane at a time"
}

spring="type: spring, b: world, at_b: [0, 0, 2]"
for form in rattle baumgarte; do
    searched $form "type: drag, linear: @, area: 0.3" pull_linear 0 0.5 3
    searched $form "type: drag, linear: 0.5, area: @" pull_area 0 0.1 2
    searched $form "$spring, stiffness: @, damping: 4, length: 0.8" pull_stiffness 0 50 700
    searched $form "$spring, stiffness: 300, damping: @, length: 0.8" pull_damping 1 4 9
    searched $form "type: tether, b: world, stiffness: 300, damping: 4, length: @" pull_length 0.1 0.8 1
    searched $form "type: push, force: [1, 2, @]" pull_force_z -5 0 8
    searched $form "type: parachute, packed: 0.1, area: @, rate: 3, speed: 0.5" pull_area 1 2 3
    searched $form "type: parachute, packed: @, area: 2, rate: 3, speed: 0.5" pull_packed 0.1 0.2 0.3
    searched $form "type: parachute, packed: 0.1, area: 2, rate: @, speed: 0.5" pull_rate 1 2 9
done

# ---- names ----------------------------------------------------------------------------------------------------------

# sprung LINE: the world with a spring and this line
sprung() { world rattle "$spring, stiffness: 300, damping: 4" && echo "$1"; }
refused() # TEXT LINE
{
    sprung "$2" >world.yaml
    "$HOPSCOTCH" check world.yaml >out 2>err
    [ $? -eq 1 ] && grep -qF -e "$1" err
    check $? "refused: $1"
}
refused "unknown key 'pull_area' in parameters" "parameters: {pull_area: 1}"
refused "unknown key 'pul_stiffness' in parameters; did you mean 'pull_stiffness'?" "parameters: {pul_stiffness: 1}"
refused "pull_damping is -1, must be in [0, 1e15] N s/m" "parameters: {pull_damping: -1}"
mass=$(for k in $(seq 257); do printf 'f%d_force_x: 1, ' "$k"; done)
{
    world rattle "type: push, force: [1, 0, 0]"
    echo '      - {name: "f#", repeat: 257, type: push, a: load, force: [1, 0, 0]}'
    echo "parameters: {$mass}"
} >world.yaml
"$HOPSCOTCH" check world.yaml >out 2>err
[ $? -eq 1 ] && grep -qF "the spec names 257 numbers of forces, and at most 256 can be parameters" err
check $? "too many numbers of forces"
sprung "parameters: {rod_length: 1}" | sed 's/name: pull/name: rod/' >world.yaml
"$HOPSCOTCH" check world.yaml >out 2>err
[ $? -eq 1 ] && grep -qF "rod_length is the length of rod, and the rest length of rod: rename the force" err
check $? "a rod and a spring of one name"
sprung 'objective: {minimize: "abs(pull_stiffness - 310) + error_rms"}' >world.yaml
"$HOPSCOTCH" run world.yaml --name named >out 2>err && "$HOPSCOTCH" models world.yaml >out 2>err &&
    grep -q '^pull_stiffness  *300 ' out && grep -qF 'pull_stiffness, pull_damping, pull_length' out
check $? "an objective may name one; models lists it"
{
    world rattle "type: drag, area: 0.3"
    echo 'search: {method: random, trials: 9, over: {load_mass: {range: [1, 2]}}}'
    echo 'replicates: {count: 2, perturb: {pull_area: {uniform: [0, 1]}}}'
    echo 'objective: {minimize: load_end_z}'
} >world.yaml
"$HOPSCOTCH" run world.yaml --name drawn >out 2>err &&
    "$HOPSCOTCH" replay drawn/3 2>err | grep -qF "the same to the bit"
check $? "it may be perturbed, and replays"
exit "$status"
