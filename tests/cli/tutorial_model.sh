#!/bin/sh
# Builds the tutorials as readers would: the model, the metric and the terrain of sim/README.md; the search method, the
# form of the spec, the command, the export format and the plot of runner/README.md. The code blocks become the files
# that their first lines name, the lines that the text names are added, and the spec must give the answer that it
# promises. Nothing else breaks: unit tests of what the additions extend pass with them.
. "$(dirname "$0")/../scratch.sh"
unset MAKEFLAGS MAKELEVEL
case $HOPSCOTCH in
*asan* | *tsan*) skip "all of it" "a build without sanitizers" "make test" && exit 0 ;;
esac
[ -f "$root"/build/config.mk ] || { skip "all of it" "build/config.mk" "./configure.sh"; exit 0; }
fail() { echo "FAIL tutorial: $1"; [ -f log ] && tail -20 log; exit 1; }

mkdir build
for name in Makefile configure.sh sim io runner experiments tests; do
    cp -r "$root/$name" . || fail "the sources could not be copied"
done
cp "$root"/build/config.mk build && touch build/configured

# A block after ``` with the first line "// FILE: ..." or "# FILE: ..." becomes that file.
# That of a search method, a form, a command, a format or a plot waits for its turn in added/: each is built on its own.
mkdir -p sim/spring added/runner/experiment/search added/runner/experiment/spec/forms added/runner/command/export \
    added/runner/view/plots
awk '/^```/ { inside = !inside; file = ""; first = 1; next }
     inside && first { first = 0; if ($2 ~ /:$/ && $2 ~ /\//) file = substr($2, 1, length($2) - 1) }
     inside && file != "" { print > (file ~ /^runner/ ? "added/" : "") file }' sim/README.md runner/README.md
for file in sim/spring/spring.h sim/spring/advance.h sim/spring/spring.c added/runner/experiment/search/halton.c \
    added/runner/experiment/spec/forms/only.c added/runner/command/objective.c added/runner/command/export/doubles.c \
    added/runner/view/plots/ranked.c \
    experiments/spring.yaml; do
    [ -s "$file" ] || fail "no page has a block for $file"
done

# Adds the lines that the text names.
sed -i -e '/define MODELS(X)/a\    X(spring) \\' \
    -e '/define KERNELS(X)/a\    X(spring, euler, 1, scalar, columns, 1) \\' \
    -e '/^#include "hopper\/advance.h"/a#include "spring/advance.h"' sim/models.h
# The metric. `line TEXT FILE PATTERN` inserts the page's line that begins with TEXT after the line of FILE with
# PATTERN.
line()
{
    text=$(grep -F "    $1" sim/README.md | sed 's/\\/&&/g')
    [ -n "$text" ] && grep -q "$3" "$2" || fail "no line for '$1', or no place for it in $2"
    sed -i "/$3/a\\$text" "$2"
}
line 'X(attitude_max, ' sim/hopper/parameters.h '^    X(attitude_rms, '
line 'metric[HOPPER_METRIC_attitude_max]' sim/hopper/metrics.h 'metric\[HOPPER_METRIC_attitude_rms\] ='
line 'sums->attitude_max =' sim/hopper/metrics.h 'sums->sum_attitude2 = '
line 'sums.attitude_max =' sim/hopper/adaptive.h 'sums.sum_attitude2 = fused'
sed -i 's/ X(sum_attitude2) / X(sum_attitude2) X(attitude_max) /' sim/hopper/hopper.h
# The terrain: its row behind that of the sine, its function above terrain_beyond.
sed -i '/^    X(sine, /s/$/ \\/' sim/spatial/terrains.h
line 'X(bumps, ' sim/spatial/terrains.h '^    X(sine, '
awk '/^```/ { inside = !inside; next } inside && /^\/\/ Bumps of / { on = 1 } !inside && on { exit } on' sim/README.md \
    >bumps
[ -s bumps ] || fail "no page has the terrain's function"
sed -i '/^\/\/ `ground` where along > 0/e cat bumps; echo' sim/spatial/terrain.h
sed -i 's/steps, sine or table/steps, sine, bumps or table/' tests/golden/bad_specs/variants.expected
sed -i 's/^#define NUMERICS_VERSION .*/#define NUMERICS_VERSION 1000/' sim/sim.h

# built WHAT [ARGUMENT...]: builds the program, or what the arguments say. Its kernels are those of one lane and of this
# processor's vectors, whose bits are compared below; its floors are those of the tests, as in `make dev`.
isas="scalar $(sed -n 's/^ISA := //p' build/config.mk)"
built()
{
    what=$1 start=$(date +%s) && shift
    make BUILD=build UNIT=faults CUDA=no OPT=-O0 KERNEL_OPT="-O0 -DHOPSCOTCH_CALLS" ISAS="$isas" PLAIN= EXTRA=-g1 \
        WERROR=-Werror "${@:-build/hopscotch}" >log 2>&1 ||
        fail "$what: it does not build"
    echo "ok   tutorial: $what, built without warnings in $(($(date +%s) - start)) s"
}

# added WHAT FILE: the file of the tutorial, for which a line has been added, and the build with it; with QUICK=1 there
# is one build with all of them
added() { cp "added/$2" "$2" && { [ -n "${QUICK:-}" ] || built "$1"; }; }

[ -n "${QUICK:-}" ] || built "the program with a model, a metric and a terrain"
sed -i 's/^    X(grid) /    X(grid) X(halton) /' runner/experiment/search/methods.h
added "a search method" runner/experiment/search/halton.c
sed -i 's/^    X(exclude) /    X(exclude) X(only) /' runner/experiment/spec/forms.h
added "a form of the spec" runner/experiment/spec/forms/only.c
sed -i 's/ X("look", show)/ X("look", objective)&/' runner/command/commands.c
added "a command" runner/command/objective.c
row=$(sed -n 's/^    \(X(doubles, .*\) \\$/\1/p' runner/README.md)
sed -i "s/^    X(npz, /    $row \\\\\n&/" runner/command/export/formats.h
added "an export format" runner/command/export/doubles.c
sed -i 's/^    X(convergence) /    X(ranked) &/' runner/view/plots/kinds.h
row=$(sed -n 's/^    \({.id = "ranked", .*}\),$/\1/p' runner/README.md)
sed -i "s/^    {.id = \"convergence\"/    $row,\n&/" runner/view/report/report.c
added "a plot" runner/view/plots/ranked.c
[ -z "${QUICK:-}" ] || built "all additions"

# Unit tests of searches, of terrains, of the schema and of the messages of wrong specs, without kernels of
# environments.
units=
for name in test unit/test_search unit/test_hopper_dynamics unit/test_schema unit/test_spec_golden; do
    units="$units build/unit/$name.o"
done
built "unit tests" build/tests unit_tests="$units" environments=
build/tests >log 2>&1 || fail "unit tests fail with the additions"
echo "ok   tutorial: the unit tests of searches, terrains, schema and messages pass with all additions"
program=$work/build/hopscotch

"$program" run experiments/spring.yaml --backend cpu --progress none >log 2>&1 || fail "its experiment does not run"
best=$("$program" query spring --order fitness --columns b --limit 1 --format csv | tail -1)
[ "$best" = 10 ] || fail "the best damping is $best, expected 10"
echo "ok   tutorial: the spring's best damping is sqrt(k m)"
"$program" models spring | grep -q 'N s/m' || fail "models does not show it"
"$program" replay spring/5 --isa scalar >log 2>&1 || fail "replay differs"
echo "ok   tutorial: replay gives the same bits with another instruction set"

"$program" run experiments/spring.yaml --backend cpu --progress none --name halton --set search.method=halton \
    --set search.trials=64 --set 'search.over.b={range: [5, 15]}' >log 2>&1 || fail "the search method does not run"
near=$("$program" query halton --order fitness --columns b --limit 1 --format csv | tail -1)
awk -v b="$near" 'BEGIN { exit !(b > 9.8 && b < 10.2) }' || fail "its best damping is $near, expected about 10"
echo "ok   tutorial: the search method finds it too"

"$program" run experiments/spring.yaml --backend cpu --progress none --name only \
    --set 'search.only="b > 8 and b < 13"' >log 2>&1 || fail "a spec with the form does not run"
found=$("$program" query only --columns b --format csv |
    awk 'NR > 1 && ($1 <= 8 || $1 >= 13) { bad = 1 } END { print NR - 1, bad + 0 }')
all=$("$program" query spring --columns b --format csv | awk 'NR > 1 && $1 > 8 && $1 < 13' | wc -l)
[ "$all" -gt 0 ] && [ "$found" = "$all 0" ] || fail "the form: '$found' trials (and how many wrong), expected '$all 0'"
"$program" check experiments/spring.yaml --set 'search.only="b > 8"' --resolved >only.yaml 2>log &&
    "$program" check only.yaml --resolved >again.yaml 2>log && cmp -s only.yaml again.yaml ||
    fail "the resolved spec of the form does not read back"
"$program" check experiments/spring.yaml --set 'search.only="c > 8"' >log 2>&1 && fail "any name is accepted"
"$program" help spec all | grep -q '^search.only$' || fail "help spec does not have the form"
"$program" schema | grep -q '"only": {' || fail "the schema does not have the form"
echo "ok   tutorial: the form of the spec works"

"$program" objective spring >log 2>&1 && [ "$(cat log)" = "x_rms" ] || fail "the command does not print the objective"
"$program" help >log && grep -q '^  objective CAMPAIGN  *the expression' log || fail "help does not list the command"
echo "ok   tutorial: the command works"
"$program" export spring --doubles spring.bin --columns b,x_rms --order b >log 2>&1 ||
    fail "export does not write doubles"
"$program" query spring --columns b,x_rms --order b --format csv --limit 0 | tail -n +2 >table
od -An -v -t f8 -w16 spring.bin | awk -v OFS=, '{ print $1 + 0, $2 + 0 }' >numbers
awk -F, -v OFS=, '{ print $1 + 0, $2 + 0 }' table | cmp -s - numbers && [ -s table ] || fail "its numbers are others"
"$program" export --help | grep -q -e '--doubles FILE' || fail "help does not list the format"
echo "ok   tutorial: the export format writes the numbers of the trials"
"$program" plot spring --kind ranked -o ranked.svg >log 2>&1 && grep -q 'class="ln"' ranked.svg ||
    fail "the plot is not drawn"
"$program" report spring >log 2>&1 && grep -q '<section id="ranked">' results/spring/report.html ||
    fail "the report has no section of it"
echo "ok   tutorial: the plot is drawn, alone and in the report"

for integrator in implicit_midpoint dormand_prince; do
    "$program" run experiments/smoke.yaml --backend cpu --progress none --name $integrator \
        --set simulation.integrator=$integrator --set 'search.over.thrust=[40]' >log 2>&1 || fail "smoke does not run"
    "$program" query $integrator --where "failure = 'none'" --columns attitude_rms,attitude_max --format csv >log
    awk -F, 'NR > 1 { rows++; if (!($2 > $1 && $2 < 10 * $1)) bad++ } END { exit !(rows > 1000 && bad == 0) }' log ||
        fail "attitude_max is not above attitude_rms with $integrator"
done
echo "ok   tutorial: the metric is stored, with both ways to sum"

# The terrain is z = H sin^2(pi x / L) from its start on: below the hopper's foot, and at the top below a robot.
"$program" run experiments/smoke.yaml --backend cpu --progress none --name bumps --set simulation.terrain=bumps \
    --set simulation.duration=0.6 --set 'search={method: list, points: [{thrust: 40}]}' \
    --set 'parameters={terrain_start: -0.3, terrain_height: 0.08}' >log 2>&1 || fail "bumps do not run"
"$program" replay bumps/0 -o bumps.csv >log 2>&1 || fail "the trial on bumps is not replayed"
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "z_foot") column = i }
    NR == 2 { error = $column - 0.452360679774998; exit !(error < 1e-12 && error > -1e-12) }' bumps.csv ||
    fail "the foot does not begin 0.4 m over 0.08 m sin^2(0.3 pi)"
"$program" check experiments/robot_stand.yaml --set simulation.terrain=bumps \
    --set 'parameters={terrain_start: -50, terrain_length: 100, terrain_height: 0.3}' >log 2>&1
grep -q "left_foot is 300 mm deep" log || fail "the robot does not stand in a bump of 300 mm"
"$program" models articulated | grep -q 'slope, steps, sine, bumps, table' || fail "models does not list the terrain"
echo "ok   tutorial: hopper and robot stand on the terrain"
