#!/bin/sh
# `fit` where steps are too long for the residuals: it says so before it blames the model, by how much parameters are
# off, and nothing where steps are short, or where the recording has the same steps.
. "$(dirname "$0")/../scratch.sh"

hopscotch() { "$HOPSCOTCH" "$@" >out 2>err; }
said() { grep -q "$1" err; }

cp "$root/experiments/identify_pendulum.yaml" .
# made NAME SET SET: a record of 251 rows without noise, of the pendulum with length 0.6, viscous 0.12, dry 0.15
made()
{
    printf 'time,seen\n0,0\n99,0\n' >identify_pendulum.csv
    hopscotch run identify_pendulum.yaml --name "made$1" --progress none --set 'search={method: grid, over: {length:
        [0.6]}}' --set 'objective={minimize: track_error}' --set simulation.system.parameters.viscous.value=0.12 \
        --set simulation.system.parameters.dry.value=0.15 --set "$2" --set "$3" &&
        hopscotch replay "made$1/0" --sample 0.04 -o exact.csv && awk -F, '
            NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; print "time,seen"; next }
            { print $at["time"] "," $at["angle"] }' exact.csv >"clean$1.csv"
}
fitted() # NAME RECORD NOISE INTEGRATOR DT: a fit to that record with normal noise
{
    awk -F, -v size="$3" 'BEGIN { seed = 11 }
        function uniform() { seed = (seed * 16807) % 2147483647; return seed / 2147483647 }
        NR == 1 { print; next }
        { printf "%s,%.9f\n", $1, $2 + size * sqrt(-2 * log(uniform())) * cos(6.283185307 * uniform()) }' \
        "clean$2.csv" >identify_pendulum.csv
    hopscotch run identify_pendulum.yaml --name "$1" --progress none --set search.least_squares.searches=1 \
        --set "search.least_squares.starts=[{length: 0.62, viscous: 0.1, dry: 0.2}]" \
        --set "simulation.integrator=$4" --set "simulation.dt=$5" && hopscotch fit "$1/best"
}
# number FILE PATTERN: the number after the pattern
number() { sed -n "s/.*$2\([0-9.e+-]*\).*/\1/p" "$1" | head -n 1; }
row() { awk -v name="$1" -v column="$2" '$1 == name { print $column }' out; }

made exact simulation.tolerance=1e-10 seed=1 &&
    made stiction simulation.tolerance=1e-10 simulation.system.parameters.stiction.value=0.45 &&
    made coarse simulation.integrator=semi_implicit_euler simulation.dt=0.01
check $? "records with exact steps, with Stribeck's friction, and with long steps"

fitted long exact 0.003 semi_implicit_euler 0.01 && said '^step  *dt is too large .* with dt: 0.005 ' &&
    ! said '^lacking' && ! said 'the model is enough' && ! said 'the model lacks'
check $? "steps of order one that are too long are named, and nothing else is"
echo "$(number err 'they want ')" | awk '{ exit !($1 > 1.5 && $1 < 2.5) }'
check $? "the residuals want about twice the change by half a step: order one"
fitted short exact 0.003 rk4 0.002 && ! said '^step' && ! said '^lacking' && said 'the model is enough'
check $? "nothing is said of steps that are short"
fitted adaptive exact 0.003 dormand_prince 0.001 && ! said '^step' && said 'the model is enough'
check $? "nor of adaptive ones"
fitted same coarse 0.003 semi_implicit_euler 0.01 && ! said '^step' && said 'the model is enough'
check $? "nor of long steps if the recording has the same"
fitted law stiction 0.001 rk4 0.002 && ! said '^step' && said '^lacking  *stiction'
check $? "a law that lacks is named where steps are short"

# Parameters take up what they can of the step's error: the fit with half the step differs by what was said.
fitted whole exact 0.003 implicit_midpoint 0.02 && said '^step  *dt may be too large: with dt: 0.01 .* length is off' &&
    moved=$(number err 'is off by ') && at=$(row length 2) && error=$(row length 6) &&
    fitted half exact 0.003 implicit_midpoint 0.01 &&
    echo "$moved $at $error $(row length 2)" | awk '{ d = ($4 - $2) / $3; d = d < 0 ? -d : d
        exit !(d / $1 > 0.9 && d / $1 < 1.1) }'
check $? "half a step moves the length by as many errors as it said"

# Without derivatives by dual numbers: a sign has none.
metrics="{a: {mean: angle > 0}, b: {max: -angle}, c: {mean: angle}, d: {max: rate}}"
sed -e 's/^    events:.*//' -e "s/^    metrics:.*/    metrics: $metrics/" \
    -e 's/^    inputs:.*//' -e '/^search:/,$d' identify_pendulum.yaml >bends.yaml
cat >>bends.yaml <<'END2'
search:
  method: least_squares
  least_squares: {gradient: differences, starts: [{length: 0.5}]}
  over: {length: {range: [0.2, 1]}}
objective: {residuals: ["(a - 0.5176)/1000", b - 0.9434, c - 0.01263, d - 3.5773]}
END2
hopscotch run bends.yaml --name bends --progress none --set simulation.integrator=semi_implicit_euler \
    --set simulation.dt=0.05 && hopscotch fit bends/best && said 'derivatives by differences' && said '^step  *dt '
check $? "derivatives by differences: the same of such a fit"

exit $status
