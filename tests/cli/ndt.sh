#!/bin/sh
# Scan matching from a spec to its debug rows: the same bits with every instruction set and number of threads, replay,
# the 50 numbers of an iteration, and the messages about impossible scenes.
. "$(dirname "$0")/../scratch.sh"
fail()
{
    echo "FAIL ndt: $*"
    status=1
}

set -- run "$root"/experiments/ndt_basin.yaml --progress none --backend cpu \
    --set 'search.over.start_x={linspace: [-1, 1, 3]}' --set 'search.over.start_y=[0]'
"$HOPSCOTCH" "$@" --threads 1 >log 2>&1 || fail "run ended with $?: $(cat log)"
"$HOPSCOTCH" "$@" --threads 2 --isa scalar --batch 4 --name ndt_scalar --set 'record={}' >log 2>&1 ||
    fail "run --isa scalar ended with $?: $(cat log)"
one=$("$HOPSCOTCH" query ndt_basin --columns all --format csv)
[ "$(echo "$one" | wc -l)" -eq 4 ] || fail "query prints $one"
other=$("$HOPSCOTCH" query ndt_scalar --columns all --format csv)
if [ "$one" != "$other" ]; then
    fail "instruction sets differ"
fi
"$HOPSCOTCH" replay ndt_basin/1 >log 2>&1 || fail "replay: $(cat log)"
near=$("$HOPSCOTCH" query ndt_basin --order fitness --limit 1 --columns translation_error \
    --format csv | tail -n 1)
awk -v error="$near" 'BEGIN { exit !(error < 0.2) }' || fail "the best alignments end $near m from the truth"
best=$("$HOPSCOTCH" query ndt_basin --order fitness --limit 1 --columns id --format csv | tail -n 1)
"$HOPSCOTCH" show "ndt_basin/$best" | grep -qF '["debug/ndt"]' ||
    fail "show does not say how to read debug rows"
"$HOPSCOTCH" show ndt_basin/1 | grep -q '^computed: .* each, in a batch of 24 on ' ||
    fail "show does not say what an alignment took"
"$HOPSCOTCH" show ndt_basin/1 --json | grep -q '"lane_seconds": 0\.' ||
    fail "show --json does not say what an alignment took"

if with_python "debug rows" numpy h5py; then
    python3 - results/ndt_basin/shards/*.h5 <<'PYTHON' || fail "debug rows"
import sys, h5py, numpy
lanes = 0
for path in sys.argv[1:]:
    file = h5py.File(path)
    if "debug/ndt" not in file:
        continue
    group = file["debug/ndt"]
    names = [name.decode() if isinstance(name, bytes) else name for name in group["rows"].attrs["column_names"]]
    assert group["rows"].shape[1] == len(names) == 50, names
    assert names[0] == "iteration" and names[14] == "H_x_x" and names[34] == "H_yaw_yaw" and names[49] == "after_yaw"
    for lane in group["lanes"]:
        part = slice(lane["offset"], lane["offset"] + lane["length"])
        rows = group["rows"][part]
        assert list(group["time"][part]) == list(rows[:, 0]) == list(range(lane["length"]))
        before, after, delta, alpha = rows[:, 2:8], rows[:, 44:50], rows[:, 35:41], rows[:, 41:42]
        assert (after[:-1] == before[1:]).all()
        assert (before + alpha * delta == after).all()
        upper = numpy.zeros((len(rows), 6, 6))
        upper[:, *numpy.triu_indices(6)] = rows[:, 14:35]
        hessian = upper + upper.transpose(0, 2, 1) - numpy.eye(6) * upper
        values, vectors = numpy.linalg.eigh(hessian)  # saddle_free: |H| delta = g
        magnitude = numpy.einsum("nik,nk,njk->nij", vectors, numpy.abs(values), vectors)
        residual = numpy.einsum("nij,nj->ni", magnitude, delta) - rows[:, 8:14]
        assert (numpy.abs(residual).max(1) <= 1e-5 * numpy.abs(rows[:, 8:14]).max(1)).all()
        lanes += 1
assert lanes > 0
PYTHON
fi

# One large alignment has the same bits on one thread and on several that share its evaluations.
for executor in sequential levels auto; do
    for threads in 1 3; do
        "$HOPSCOTCH" run "$root"/experiments/ndt_basin.yaml --name "$executor$threads" --backend cpu \
            --threads $threads --progress none --set search.over='{start_x: [0.5]}' --set replicates='{}' \
            --set simulation='{scene: street, source_spacing: 0.5, max_iterations: 5, executor: '$executor'}' \
            --set record='{}' >log 2>&1 || fail "executor $executor: $(cat log)"
        "$HOPSCOTCH" query "$executor$threads" --columns all --format csv >"csv.$threads"
        [ -e csv.first ] || cp "csv.$threads" csv.first
        cmp csv.first "csv.$threads" || fail "$threads threads, executor $executor: other bits"
    done
done
[ "$(wc -l <csv.first)" -eq 2 ] || fail "one alignment: $(cat csv.first)"

# Each trial has its own solver and line search: the bits are those of a run with these settings for all trials.
few()
{
    "$HOPSCOTCH" run "$root"/experiments/ndt_basin.yaml --progress none --backend cpu --set replicates.count=2 \
        --set record='{}' "$@" >log 2>&1 || fail "run $*: $(cat log)"
}
own='solver: [newton, saddle_free], line_search: all, step_size: [0.5]'
few --name own --set simulation.solver=searched --set simulation.line_search=searched --set search.over="{$own}"
few --name same --set simulation.solver=saddle_free --set simulation.line_search=more_thuente \
    --set search.over='{step_size: [0.5]}'
numbers() { "$HOPSCOTCH" query "$1" --columns score,final_x,final_yaw,evaluations --format csv; }
numbers own >own.csv
[ "$(sort -u own.csv | wc -l)" -eq 7 ] || fail "solvers and line searches: $(cat own.csv)"
[ "$("$HOPSCOTCH" query own --columns solver,line_search --format csv | sed -n 6p)" = saddle_free,more_thuente ] ||
    fail "the words of trial 4"
[ "$(sed -n 6p own.csv)" = "$(numbers same | tail -n 1)" ] || fail "trial 4: $(cat own.csv)"

# A row of debug numbers, with the full Hessian.
"$HOPSCOTCH" show "ndt_basin/$best" --debug 0 >row 2>&1 ||
    fail "show --debug: $(cat row)"
grep -q "^ndt_basin/$best, replicate 0: row 0 of [0-9]" row || fail "show --debug: $(cat row)"
grep -q '^H  *x  *y  *z  *roll  *pitch  *yaw' row || fail "no matrix: $(cat row)"
awk '/^H /{ on = 1; next } on && NF == 7 { n++; for (j = 2; j <= 7; j++) h[n, j - 1] = $j }
    /^eigenvalues of H:/ { for (k = 4; k <= NF; k++) sum += $k }
    END { for (i = 1; i <= 6; i++) { trace += h[i, i]; for (j = 1; j <= 6; j++) bad += h[i, j] != h[j, i] }
        exit n != 6 || bad || (trace - sum) ^ 2 > 1e-8 * trace ^ 2 }' row ||
    fail "matrix: $(cat row)"
"$HOPSCOTCH" show "ndt_basin/$best" --debug 999 >log 2>&1 && fail "row 999"
grep -q 'debug rows, numbered from 0: there is no row 999' log || fail "row 999: $(cat log)"
"$HOPSCOTCH" show ndt_scalar/0 --debug 0 >log 2>&1 && fail "rows that were not recorded"
grep -q 'no debug rows were recorded of trial 0; record.debug.ndt.select chooses' log ||
    fail "rows that were not recorded: $(cat log)"

"$HOPSCOTCH" replay "ndt_basin/$best" --debug ndt -o rows.csv >log 2>&1 ||
    fail "replay --debug ndt: $(cat log)"
head -n 1 rows.csv | grep -q '^time,iteration,score,before_x,.*,after_yaw$' ||
    fail "$(head -n 1 rows.csv)"
"$HOPSCOTCH" replay "ndt_basin/$best" --debug newton -o - >log 2>&1 &&
    fail "--debug newton"
grep -qF -e '--debug newton: the debug rows of model ndt are called ndt: write --debug ndt' log ||
    fail "newton: $(cat log)"

# The alignment as a small page with the cloud in each iteration.
"$HOPSCOTCH" replay "ndt_basin/$best" --html alignment.html >log 2>&1 || fail "replay --html: $(cat log)"
rows=$(($(wc -l <rows.csv) - 1))
sed -n 's/.*id="alignments">\(.*\)<\/script>.*/\1/p' alignment.html >alignment.json
n_points=$(sed 's/.*"n_points": *\([0-9]*\).*/\1/' alignment.json)
numbers=$(sed 's/.*"points": *\[\([^]]*\)\].*/\1/' alignment.json | tr ',' '\n' | wc -l)
[ "$n_points" -gt 100 ] && [ "$numbers" -eq $((2 * n_points * (rows + 1))) ] ||
    fail "$numbers numbers of $n_points points in $rows iterations"
[ "$(grep -o '"iteration [0-9]*, score ' alignment.json | wc -l)" -eq "$rows" ] || fail "iterations have no scores"
[ "$(wc -c <alignment.html)" -lt 1000000 ] || fail "the page has $(wc -c <alignment.html) bytes"
"$HOPSCOTCH" replay "ndt_basin/$best" ndt_basin/0 --html two.html >log 2>&1 &&
    [ "$(grep -o '"n_points"' two.html | wc -l)" -eq 2 ] || fail "two alignments side by side: $(cat log)"

# The report has the clouds before and after and six curves of the best trial's iterations, and no motion.
"$HOPSCOTCH" report ndt_basin -o report.html >log 2>&1 ||
    fail "report: $(cat log)"
iterations=$(sed -n '/<section id="iterations">/,/<\/section>/p' report.html)
[ "$(echo "$iterations" | grep -c '<svg class="p"')" -eq 8 ] || fail "panels: $iterations"
echo "$iterations" | grep -qF 'every number is the stored one, to the bit.' || fail "iterations: $iterations"
echo "$iterations" | grep -q 'Failure: none. Computing time: .* per replicate, in a batch of 24 on ' ||
    fail "the report does not say what an alignment took"
for curve in score correspondences 'length of the step' 'eigenvalues of the Hessian' 'Before, from above' After; do
    echo "$iterations" | grep -qF "aria-label=\"$curve" || fail "the report has no curve of $curve"
done
grep -qF 'id="motion"' report.html && fail "the report has a motion"

# says TEXT KEY=VALUE [KEY=VALUE]: `check` refuses these values with that text
says()
{
    "$HOPSCOTCH" check "$root"/experiments/ndt_basin.yaml --set "$2" ${3:+--set "$3"} >log 2>&1 &&
        fail "$2 is accepted"
    grep -qF "$1" log || fail "$2 says: $(cat log)"
}
says "solver is not used with these settings of simulation: it is the solver of each trial, with simulation.solver:" \
    parameters.solver=newton
says "line_search is not used with these settings of simulation: it is the line search of each trial, with" \
    'search.over={line_search: [none]}'
says "line_search is '3', expected none, more_thuente or batched" 'simulation={line_search: searched}' \
    parameters.line_search=3
says "no cell of the map has 6 points or more (" simulation.resolution=0.1
says "nothing of the scene lies within 1 m of the true pose" 'simulation={scene: half_cube, range: 1}'

# One street around the origin, 79 km away, and in UTM: both clouds are shifted by a common origin.
awk 'function gauss() { return 0.02 * (rand() + rand() + rand() + rand() - 2) * 1.7 }
    function put(x, y, z) {
        for (k in of) printf "%.4f %.4f %.4f\n", x + east[k], y + north[k], z + up[k] >(file "_" k ".xyz")
    }
    function scene(n) {
        for (i = 0; i < n; i++) put(60 * rand() - 30, 16 * rand() - 8, gauss())
        for (i = 0; i < n; i++) put(60 * rand() - 30, (i % 2 ? 8 : -8) + gauss(), 6 * rand())
        for (i = 0; i < n / 2; i++) put((i % 3) * 17 - 18 + gauss(), 2.5 * rand() + (i % 2 ? 4 : -6.5), 3 * rand())
    }
    BEGIN {
        srand(5)
        of["near"]; of["grid"]; of["utm"]
        east["grid"] = 66000; north["grid"] = 43000; up["grid"] = 30
        east["utm"] = 512345; north["utm"] = 5403456; up["utm"] = 210
        file = "target"; scene(12000); file = "source"; scene(4000)
    }'
cat >street.yaml <<'END'
version: 1
experiment: street
seed: 3
model: ndt
simulation: {target: target_near.xyz, source: source_near.xyz, source_voxel: 0.5, maps: [2]}
replicates:
  count: 20
  perturb: {start_x: {uniform: [-0.4, 0.4]}, start_y: {uniform: [-0.4, 0.4]}}
objective: {minimize: translation_error + rotation_error, failed: penalty(10)}
END
for at in near grid utm; do
    set -- street.yaml --set "simulation.target=target_$at.xyz" --set "simulation.source=source_$at.xyz"
    "$HOPSCOTCH" run "$@" --name "$at" --backend cpu --progress none >log 2>&1 || fail "street $at: $(cat log)"
    missed=$("$HOPSCOTCH" query "$at" --columns missed,translation_error --format csv | tail -n 1)
    echo "$missed" | awk -F , '{ exit !($1 == 0 && $2 < 0.1) }' || fail "the street at $at: missed, error: $missed"
done
"$HOPSCOTCH" check "$@" >log 2>&1
grep -qF 'both clouds are shifted by (-512' log || fail "check does not tell the common origin: $(cat log)"
# The true pose of a file is one of the files' coordinates: a turn about the middle of the source.
awk 'BEGIN { a = 0.1; e = 512345; n = 5403456
    printf "%.17g %.17g 0 %.17g\n", cos(a), -sin(a), e - e * cos(a) + n * sin(a) + 0.2
    printf "%.17g %.17g 0 %.17g\n0 0 1 0\n", sin(a), cos(a), n - e * sin(a) - n * cos(a) }' >truth.txt
awk -v e=512345 -v n=5403456 'BEGIN { c = cos(0.1); s = sin(0.1) } { x = $1 - e; y = $2 - n
    printf "%.4f %.4f %s\n", c * x - s * y + 0.2 + e, s * x + c * y + n, $3 }' target_utm.xyz >turned.xyz
"$HOPSCOTCH" run street.yaml --set simulation.target=turned.xyz --set simulation.source=source_utm.xyz \
    --set 'simulation.truth={file: truth.txt}' --set 'initial={start_yaw: 0.1}' --set 'replicates={count: 1}' \
    --name turned --backend cpu --progress none >log 2>&1 || fail "turned: $(cat log)"
turned=$("$HOPSCOTCH" query turned --columns missed,translation_error,final_yaw --format csv | tail -n 1)
echo "$turned" | awk -F , '{ exit !($1 == 0 && $2 < 0.1 && $3 > 0.09 && $3 < 0.11) }' ||
    fail "the turned street: $turned"

[ $status -eq 0 ] && echo "ok   ndt"
exit $status
