#!/bin/sh
# 1 to 1,000 parameters, metrics and columns, each method with as many parameters: every spec that `check` accepts runs
# to its end, and all commands read it; what is beyond a limit is refused by `check` with the number. The names of 4,095
# columns (a covariance of 90 parameters) do not fit into an object header of HDF5.
. "$(dirname "$0")/../scratch.sh"

# A worker that gives each metric its number, and a trajectory of two samples.
cat >worker.awk <<'END'
function list(key,    at, text) {
    at = index($0, "\"" key "\": [")
    text = substr($0, at + length(key) + 5)
    text = substr(text, 1, index(text, "]") - 1)
    return text == "" ? 0 : split(text, names, ", ")
}
{
    m = list("metrics")
    for (i = 1; i <= m; i++) metrics = metrics (i > 1 ? ", " : "") names[i] ": " i
    n = list("columns")
    for (i = 1; i <= n; i++) columns = columns (i > 1 ? ", " : "{") names[i] ": [" i ", " i + 1 "]" # time is the first
    print metrics
    if (n > 0) print columns "}"
}
END
cat >worker.sh <<'END'
#!/bin/sh
read -r hello
printf '%s\n' "$hello" | awk -f "$(dirname "$0")/worker.awk" >"said.$$"
{ read -r metrics; read -r columns; } <"said.$$"
rm "said.$$"
printf '{"hello": 1, "version": "1"}\n'
while read -r request; do
    id=${request#*: }
    trajectory=null
    case $request in *'"trajectory": true'*) trajectory=$columns ;; esac
    printf '{"id": %s, "metrics": {%s}, "failure": null, "trajectory": %s}\n' "${id%%,*}" "$metrics" "$trajectory"
done
END
chmod +x worker.sh

# spec NAME PARAMETERS METRICS COLUMNS METHOD [LINES]: of PARAMETERS all are searched
spec()
{
    awk -v name="$1" -v n="$2" -v m="$3" -v c="$4" -v method="$5" -v more="${6:-}" 'BEGIN {
        print "version: 1\nexperiment: " name "\nmodel: command\nsimulation: {program: [./worker.sh]}\nparameters:"
        for (i = 0; i < n; i++) print "  p" i ": {value: 1, range: [-9, 9]}"
        print "metrics:"
        for (i = 0; i < m; i++) print "  m" i ": m"
        if (c > 0) print "columns:"
        for (i = 0; i < c; i++) print "  c" i ": m"
        print "objective: {minimize: " (method ~ /nsga2/ ? "[m0, -m0]" : "m0") "}"
        print "search:\n  method: " method "\n  over:"
        values = method ~ /grid|centered/ ? "[1]" : "{range: [-5, 5]}"
        for (i = 0; i < n; i++) print "    p" i ": " values
        if (c > 0) print "record: {trajectories: {select: {best: 2}}}"
        print "limits: {trials: 12}"
        print more
    }' >"$1.yaml"
}
ends() # NAME: the run ends, and its campaign is whole
{
    run run "$1.yaml" --allow-programs --progress none --threads 1 && run doctor "$1" && run digest "$1" &&
        run best "$1" && run show "$1/0" && run query "$1" && run export "$1" --csv out.csv && run report "$1" &&
        run resume "$1" --allow-programs --progress none
}

# Methods, by the most parameters that they search
for n in 1 50 100 300 1000; do
    [ "${QUICK:-0}" != 1 ] || [ $n = 1 ] || [ $n = 100 ] || continue
    for method in grid centered random latin_hypercube sobol sobol_indices morris cmaes adam lbfgs nsga2; do
        case $method in sobol) most=80 ;; sobol_indices) most=40 ;; nsga2) most=100 ;; *) most=1000 ;; esac
        name=s${n}_$method
        spec "$name" $n 1 0 $method
        if [ $n -le $most ]; then
            ends "$name"
            check $? "$method of $n parameters"
        else
            run check "$name.yaml"
            [ $? -eq 1 ] && grep -q "searches at most $most parameters; the spec has $n" err
            check $? "$method of $n parameters: refused, at most $most"
        fi
    done
done

# The covariance of a search is a column per pair
for n in 86 90 100; do
    spec c$n $n 1 0 cmaes
    ends c$n && run export c$n --csv rounds.csv
    check $? "cmaes of $n parameters, with its covariance"
done
spec c101 101 1 0 cmaes '' && sed -i 's/^  method: cmaes/&\n  cmaes: {covariance: full}/' c101.yaml
run check c101.yaml
[ $? -eq 1 ] && grep -q 'at most 100 parameters with a full covariance; the spec has 101' err
check $? "cmaes of 101 parameters, full: refused"
if with_python "names of columns" h5py; then
    python3 - <<'END'
import glob, h5py
for n in 86, 100:
    for path in glob.glob(f"results/c{n}/shards/*.h5"):
        with h5py.File(path) as file:
            group = file["debug/cmaes"]
            pairs = n * (n + 1) // 2
            assert group["C"].shape[1] == pairs and len(group["C"].attrs["column_names"]) == pairs
            assert group["C"].attrs["column_names"][-1] == f"C_{n - 1}_{n - 1}", group["C"].attrs["column_names"][-1]
            widths = [d.shape[1] if len(d.shape) > 1 else 1 for d in group.values() if d.dtype == "f8"]
            assert len(group.attrs["columns"]) == sum(widths)
END
    check $? "h5py reads the names of all columns"
fi

# Metrics and columns
for shape in "1 50 50" "50 300 300" "300 1000 1000" "1000 990 1000"; do
    [ "${QUICK:-0}" != 1 ] || [ "$shape" = "1000 990 1000" ] || continue
    # shellcheck disable=SC2086
    set -- $shape
    spec m "$1" "$2" "$3" random
    sed -i "s/^experiment: m/experiment: m$1_$2/" m.yaml && mv m.yaml "m$1_$2.yaml"
    ends "m$1_$2" && run export "m$1_$2" --hdf5 arrays.h5 && run show "m$1_$2/0"
    check $? "$1 parameters, $2 metrics, $3 columns"
done
sum=$("$SQL" results/m1000_990/campaign.db "SELECT group_concat(name, ' + ') FROM
    (SELECT name FROM pragma_table_info('trials') WHERE type = 'REAL' LIMIT 130)")
run query m1000_990 --where "$sum > 0"
[ $? -eq 1 ] && grep -q 'a comparison of this expression names more than 126 columns; ask in two steps' err
check $? "a condition of 130 columns"
spec t 1000 1000 0 random
run check t.yaml
[ $? -eq 1 ] && grep -q 'the table trials would have 2006 columns and SQLite allows 2000' err
check $? "more columns than SQLite allows: refused by check"
for shape in "1001 1 1 parameters" "1 1001 1 metrics" "1 1 1001 columns"; do
    # shellcheck disable=SC2086
    set -- $shape
    spec t "$1" "$2" "$3" random
    run check t.yaml
    [ $? -eq 1 ] && grep -q "$4 has 1001 items, at most 1000 are allowed" err
    check $? "1,001 $4: refused"
done
exit "$status"
