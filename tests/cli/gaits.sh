#!/bin/sh
# `gait` as a parameter whose values are words (model articulated, control: raibert): a trial runs to the bit as in a
# campaign with that control.gait, and the tables have the strides, duties, bounces and phases with which it ran.
. "$(dirname "$0")/../scratch.sh"

cp "$root/experiments/robots/quadruped.xml" .
# spec NAME SEARCH [GAIT [PARAMETERS [LINES]]]: writes NAME.yaml
spec()
{
    printf '%s\n' 'version: 1' "experiment: $1" 'seed: 9' 'model: articulated' \
        'simulation: {robot: quadruped.xml, keyframe: [stand], settle: true, duration: 0.3, dt: 0.002,' \
        "  control: {mode: raibert${3:+, gait: $3}}}" \
        "parameters: {all_kp: 80, all_kd: 2, ramp_time: 0.1, settle_time: 0.1${4:+, $4}}" \
        "search: $2" 'objective: {minimize: speed_error + 0.1*cost_of_transport}' ${5+"$5"} >"$1.yaml"
}
go() { works run "$1.yaml" --progress none; }
# rows CAMPAIGN COLUMNS: of all trials, "1,2 3,4 "
rows()
{
    "$HOPSCOTCH" query "$1" --columns "$2" --order id --format csv 2>err | tail -n +2 | tr '\n' ' '
}
# same CAMPAIGN COLUMNS ROWS WHAT
same()
{
    rows "$1" "$2" >out
    [ "$(cat out)" = "$3" ]
    check $? "$4"
}
numbers=stride_frequency,duty,bounce,phase_2,phase_3,phase_4

# ---- a campaign of all gaits, and one for each -----------------------------------------------------------------------
metrics=fitness,distance,energy,heading_error,contact_count
for form in table blocks; do
    rm -rf results
    spec all '{over: {gait: all, speed: [0.4, 1]}}' '' '' "store: {rows: $form}"
    go all
    same all "gait,speed" "trot,0.4 trot,1 pace,0.4 pace,1 bound,0.4 bound,1 pronk,0.4 pronk,1 walk,0.4 walk,1 run,0.4 \
run,1 hop,0.4 hop,1 " "$form: the word of each trial"
    for gait in trot pace bound pronk walk run hop; do
        spec one '{over: {speed: [0.4, 1]}}' "$gait"
        go one
        works query all --where "gait = '$gait'" --columns "$metrics" --order id --format csv
        mv out of_all
        works query one --columns "$metrics" --order id --format csv
        cmp -s out of_all && [ "$(wc -l <out)" = 3 ]
        check $? "$form: $gait has the bits of control.gait"
        grep -E '^  (stride_frequency|duty|bounce|phase_[234]):' results/one/resolved.yaml |
            sed 's/.*: //; s/ #.*//' | tr '\n' ',' >values
        [ "$(rows all "gait,$numbers" | tr ' ' '\n' | grep "^$gait," | uniq)" = "$gait,$(sed 's/,$//' values)" ]
        check $? "$form: and the values of control.gait in its row"
        rm -rf results/one
    done
    works doctor all
    works replay all/9
    has 'the same to the bit'
    digest all >"$form.digest"
done
cmp -s table.digest blocks.digest && [ -s table.digest ]
check $? "rows and blocks have the same digest"
grep -q 'gait: \[trot, pace, bound, pronk, walk, run, hop\]' results/all/resolved.yaml &&
    grep -q "phase_2: {derive: \"if(gait = 'trot' or gait = 'pace' or" results/all/resolved.yaml
check $? "the resolved spec says what follows from the word"
cp results/all/resolved.yaml again.yaml
go again
has "all is done already: 14 trials" err
works show all/8
grep -q '^gait  *walk .*searched' out && grep -q '^duty  *0\.65 .*derived' out
check $? "show has both"
works models all.yaml
grep -q '^gait  *searched  *trot .*words .*trot, pace, bound' out
check $? "models lists the words"
works check all.yaml
has '14 trials of articulated, 0.3 s each, grid over gait, speed; derived stride_frequency, duty, bounce, phase_2,'
works gradient all/8
refused gradient all/8 --parameters gait
has "values of gait are words, and only numbers have derivatives" err
refused gradient all/8 --parameters duty
has "duty is derived by if(gait = 'trot'" err
works verify all --trial 8 --physics 0
same all/verify/trial_8 "gait,duty" "walk,0.65 trot,0.5 pace,0.5 bound,0.4 pronk,0.4 run,0.35 hop,0.4 walk,0.65 \
walk,0.65 " "verify changes the gait, and what follows it"

# ---- what the spec gives holds for all gaits -------------------------------------------------------------------------
spec given '{over: {gait: [bound, walk], phase_2: [0.1, 0.2], speed: {derive: "0.2 * stride_frequency"}}}' '' \
    'duty: 0.6'
go given
same given gait,phase_2,speed,stride_frequency,phase_3 \
    'bound,0.1,0.6000000000000001,3,0.5 bound,0.2,0.6000000000000001,3,0.5 walk,0.1,0.30000000000000004,1.5,0.25 '\
'walk,0.2,0.30000000000000004,1.5,0.25 ' "an axis and an expression"
grep -q '^  duty: 0.6$' results/given/resolved.yaml
check $? "a fixed value"
spec alone '{over: {speed: [0.4, 1]}}' run 'gait: walk'
go alone
spec one '{over: {speed: [0.4, 1]}}' walk
go one
same alone "$metrics" "$(rows one "$metrics")" "a gait under parameters has the bits of control.gait"
same alone "$numbers" '1.5,0.65,0,0.5,0.25,0.75 1.5,0.65,0,0.5,0.25,0.75 ' "and its values are in the rows"
works best all alone --format csv
grep -q '^[0-9]*,alone,.*,walk,' out
check $? "the best of both campaigns have the word that one of them fixes"
works verify alone --physics 0 --gains 0 --grid 7 --grid-over gait
same alone/verify/trial_"$(rows alone id --limit 1 | cut -d ' ' -f 1)"_grid gait,duty \
    'trot,0.5 pace,0.5 bound,0.4 pronk,0.4 walk,0.65 run,0.35 hop,0.4 ' "a grid of verify over a gait that was fixed"

# ---- other methods ---------------------------------------------------------------------------------------------------
# method NAME SEARCH [PARAMETERS [GAIT]]: it runs, its resolved spec is the same one, and a trial repeats to the bit
method()
{
    spec "$1" "$2" "${4-}" "${3-}"
    go "$1"
    cp "results/$1/resolved.yaml" again.yaml
    go again
    has "$1 is done already" err
    works replay "$1/1"
    has 'the same to the bit'
}
speed='speed: {range: [0.4, 1]}'
method random "{method: random, trials: 4, over: {gait: [bound, run], $speed}}"
works query random --where "stride_frequency != if(gait = 'bound', 3, 2.5) or bounce != 1" --format csv
[ "$(wc -l <out)" = 1 ]
check $? "random draws gaits with their strides"
printf 'gait\nwalk\n"hop"\n' >points.csv
method csv '{method: csv, csv: points.csv}'
same csv gait,duty 'walk,0.65 hop,0.4 ' "a file of points"
cat >table.yaml <<'END'
version: 1
experiment: table
model: articulated
simulation: {robot: quadruped.xml, keyframe: [stand], settle: true, duration: 0.1, control: {mode: raibert}}
parameters: {all_kp: 80, all_kd: 2}
search:
  method: list
  points: |
    gait,speed
    walk,0.4
    hop,1
objective: {minimize: energy}
END
go table
same table gait,speed,duty 'walk,0.4,0.65 hop,1,0.4 ' "a table of points"
method list '{method: list, points: [{gait: walk, duty: 0.7}, {gait: run, duty: 0.4}]}'
same list gait,duty,phase_3 'walk,0.7,0.25 run,0.4,0.5 ' "a list of points"
method when "{over: {speed: [0.4, 1], gait: [walk, bound]}, when: {gait: \"speed < 0.7\"}}" '' run
same when speed,gait,duty '0.4,walk,0.65 0.4,bound,0.4 1,run,0.35 ' "where the gait is not searched it is control.gait"
method union '{union: [{over: {gait: [walk]}}, {over: {gait: [run], duty: [0.4, 0.5]}}]}' 'duty: 0.6'
same union gait,duty,phase_3 'walk,0.6,0.25 run,0.4,0.5 run,0.5,0.5 ' "several grids"
method cmaes "{method: cmaes, over: {gait: [walk, run], $speed}, cmaes: {stop: {generations: 2}}}"
method outer "{method: cmaes, over: {$speed}, cmaes: {outer: {gait: [walk, run]}, stop: {generations: 2}}}"
works query outer --where "duty != if(gait = 'walk', 0.65, 0.35)" --format csv
[ "$(wc -l <out)" = 1 ]
check $? "the gaits of an outer grid"
works best outer --per point --format csv
grep -q ',0\.65,.*,walk,' out && grep -q ',0\.35,.*,run,' out && [ "$(wc -l <out)" = 3 ]
check $? "the best of each gait"
method shares "{method: sobol_indices, samples: 8, over: {gait: all, $speed}}"
works sensitivity shares
spec refused "{method: adam, over: {gait: all, $speed}}"
refused check refused.yaml
has "adam needs derivatives, and the values of gait are words" err
spec some '{over: {gait: [walk, run]}}'
go some
works run some.yaml --extend --set 'search.over.gait=[walk, run, hop]' --progress none
same some id,gait,duty '0,walk,0.65 1,run,0.35 2,hop,0.4 ' "a campaign that another gait extends"
works compare all some
has 'search.over.gait'
spec drawn '{over: {gait: [walk, run]}}' '' 'duty: 0.5' \
    'replicates: {count: 2, perturb: {duty: {normal: [0.5, 0.1]}, push_y: {normal: [0, 10]}}}'
go drawn
works replay drawn/1
has 'the same to the bit'
digest drawn >whole.digest
rm -rf results/drawn
works run drawn.yaml --part 1/2 --progress none
works run drawn.yaml --part 2/2 --progress none
works gather drawn
digest drawn | cmp -s - whole.digest && [ -s whole.digest ]
check $? "two parts of a campaign that draws"

# ---- the name in other places makes no parameter ---------------------------------------------------------------------
printf 'speed\n0.4\n1\n' >gait.csv
spec named '{method: csv, csv: gait.csv}'
go named
! grep -q '^  gait:' results/named/resolved.yaml
check $? "a file that is called so"

# ---- a ground for each trial: what the message says ------------------------------------------------------------------
spec grounds '{over: {gait: [walk, run]}}' '' '' 'sweep: {simulation.terrain: [flat, slope]}'
go grounds
works best grounds.terrain_slope
has 'walk'

exit $status
