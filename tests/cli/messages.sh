#!/bin/sh
# Messages that no other script looks at, word for word: what the user did, the exit code, and what the program says.
# And tests/messages.py: no message of the sources is new and unseen, none says only that something failed.
set -u
: "${HOPSCOTCH:=build/hopscotch}"
case $HOPSCOTCH in /*) ;; *) HOPSCOTCH=$PWD/$HOPSCOTCH ;; esac
root=$PWD
work=$(mktemp -d) || exit 3
trap 'rm -rf "$work"' EXIT
unset HOPSCOTCH_RESULTS NO_COLOR
cd "$work" || exit 3
status=0

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

cat >grid.yaml <<'END'
version: 1
experiment: grid
model: bbob
search: {method: grid, over: {x1: [0, 1], x2: [0, 1]}}
END
says 1 "there is no campaign under results; run a spec first, or name the root folder" best grid
"$HOPSCOTCH" run grid.yaml --progress none >out 2>err || status=1
"$HOPSCOTCH" run grid.yaml --name empty --set 'search.exclude=["x1 >= 0"]' --progress none >out 2>err

# ---- the command line -----------------------------------------------------------------------------------------------
says 2 "which command? hopscotch help lists them"
says 2 "unknown command 'xyzzy'; see hopscotch help" xyzzy
says 2 "unknown option -x; options have long names: see hopscotch help best" best grid -x
says 2 "best takes CAMPAIGN, and 'two' is one too many" best grid two
says 2 "--top needs a value: --top N" best grid --top
says 2 "--top takes a whole number from 1 to 1000000000, not '1e6'" best grid --top 1e6
says 2 "--format takes one of table|csv|json|jsonl, not 'xml'" best grid --format xml
says 2 "takes whole numbers from 0 to 63 with commas between them, or all, not '0,x'" run grid.yaml --device 0,x
says 2 "--results needs the name of a folder" best grid --results=
says 1 "there is no file nowhere.yaml" run nowhere.yaml
says 2 "there is no help on 'xyzzy'; hopscotch help lists the commands" help xyzzy
says 1 "there is no model 'xyzzy'" models xyzzy
says 1 "there is no folder nowhere; name the root folder with --results" reindex --results nowhere

# ---- campaigns ------------------------------------------------------------------------------------------------------
says 1 "there is no campaign 'xyzzy' under results; hopscotch status lists them" best xyzzy
says 2 "'grid' names no trial; write CAMPAIGN/TRIAL, e.g. grid/41" show grid
says 1 "campaign grid has no trial 99 (not run yet, or excluded); hopscotch query grid lists trials" show grid/99
says 1 "a campaign's name has 1 to 128 characters" run grid.yaml --name "$(printf '%0130d' 0)"
says 1 'a name is made of A-Z a-z 0-9 . _ and -, and character 2 is not' run grid.yaml --name 'a b'
says 1 "a name starts with a letter, a digit or _" run grid.yaml --name .hidden
says 1 "the list of all campaigns lies under that name; choose another" run grid.yaml --name index.db
says 1 "is of method grid, which measures no sensitivity; morris and sobol_indices do" sensitivity grid
says 1 "there is no column 'xyzzy'; --columns all --limit 1 shows them" query grid --columns xyzzy
says 1 "'up' is no direction; write x1:asc or x1:desc" query grid --order x1:up
says 1 "--order: more than 64 columns; the first few decide" query grid --order "$(yes x1 | head -n 65 | paste -sd ,)"
says 1 "--columns: too many columns" query grid --columns "$(yes x1 | head -n 2001 | paste -sd ,)"
says 1 "can't change in it: its rows would mean something else" run grid.yaml --set seed=9 --extend
says 1 "no trial of empty has a fitness: there is none to verify" verify empty
says 1 "campaign grid has no trial 99; hopscotch best grid lists the best" verify grid --trial 99

# ---- specs ----------------------------------------------------------------------------------------------------------
says 1 "expected key.path=value, for example search.over.thrust=[25, 30]" check grid.yaml --set seed
says 1 "the key has more than " check grid.yaml --set "$(yes a | head -n 40 | paste -sd .)=1"
says 1 "a part of the key is empty" check grid.yaml --set search..method=grid
says 1 'needs its trials: `points`, a list of them, or `csv`, a file' check grid.yaml --set 'search={method: list}'
says 1 "zip is '5', expected a list of groups of axes: [[a, b]]" check grid.yaml --set search.zip=5
says 1 "point is '5', expected a mapping of parameters to numbers" check grid.yaml \
    --set 'search={method: list, points: [5]}'
says 1 "x1 has 1e16 values, more than 2^53" check grid.yaml --set 'search.over.x1={arange: [0, 5, 5e-16]}'
says 1 "levels of morris must be even" check grid.yaml --set \
    'search={method: morris, levels: 5, over: {x1: {range: [0, 1]}, x2: {range: [0, 1]}}}'
cat >hopper.yaml <<'END'
version: 1
experiment: hopper
model: hopper
search: {method: grid, over: {k_fp: [100]}}
END
says 1 "settle (1 s) must be shorter than duration (0.5 s)" check hopper.yaml --set simulation.duration=0.5
says 1 "is for integrator: implicit_midpoint only; leave it out" check hopper.yaml --set simulation.integrator=rk4 \
    --set simulation.newton.jacobian=analytic
says 1 "knows the plain hopper only; leave it out, or machine, terrain, push, wind and accounting" check hopper.yaml \
    --set simulation.terrain=slope --set simulation.newton.jacobian=analytic
says 1 "terrain_points are of use with terrain: table only" check hopper.yaml \
    --set 'simulation.terrain_points=[[0, 0], [1, 1]]'
says 1 "sample is 0.001, but model bbob has no time: leave it out" check grid.yaml \
    --set record.trajectories.sample=0.001

if command -v python3 >/dev/null && [ -z "${QUICK:-}" ]; then
    cd "$root" && { python3 tests/messages.py || status=1; }
fi
exit $status
