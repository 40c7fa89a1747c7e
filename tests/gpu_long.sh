#!/bin/sh
# Long runs on a GPU: 1,000,000 hoppers for 5 s with every integrator; gains are drawn over two decades around the
# defaults. Each lane must end with finite numbers, or with a named failure, a time and no fitness. The first 2,000 must
# equal those of the CPU, bit by bit. Prints the number of each outcome.
#
# Then half as many of these hoppers, of which most fall: plain, with a condition of limits.retire, and with two rungs,
# which must leave the ten best and be 2.5 times as fast as plain.
#
#   tests/gpu_long.sh [BUILD [LANES [BACKEND]]]
#
# BUILD: the folder of `make` with CUDA, or of `make portable` (build); BACKEND: cuda, or cpu to try the script itself.
set -u
build=${1:-build} lanes=${2:-1000000} backend=${3:-cuda}
program=$build/hopscotch
folder=$(mktemp -d) || exit 3
trap 'rm -rf "$folder"' EXIT
failed=0

report() # STATUS NAME
{
    [ "$1" -eq 0 ] && echo "ok gpu_long: $2" && return
    echo "FAIL gpu_long: $2"
    tail -n 5 "$folder/errors"
    failed=1
}

cat >"$folder/decades.yaml" <<'END'
version: 1
experiment: decades
seed: 5
model: hopper
search:
  method: random
  trials: 2000
  over:
    k_fp:   {range: [15, 1500], scale: log}
    b_fp:   {range: [1.5, 150], scale: log}
    k_att:  {range: [15, 1500], scale: log}
    b_att:  {range: [1.5, 150], scale: log}
    thrust: {range: [3.5, 350], scale: log}
    x_dot_des: {range: [0, 4]}
END

cat >"$folder/count.py" <<'END'
import math, sqlite3, sys

gpu, cpu, lanes = sys.argv[1], sys.argv[2], int(sys.argv[3])
database = sqlite3.connect(gpu)
columns = database.execute("PRAGMA table_info(trials)").fetchall()
names, kind_of = [row[1] for row in columns], {row[1]: row[2] for row in columns}
at = {name: i for i, name in enumerate(names)}
numbers = [at[name] for name in names if kind_of[name] == "REAL" and name not in ("fitness", "cost_of_transport")]
kinds, wrong, seen, still = {}, [], 0, 0
for row in database.execute("SELECT * FROM trials ORDER BY id"):
    kind, fitness, survived = row[at["failure"]], row[at["fitness"]], row[at["survived"]]
    kinds[kind] = kinds.get(kind, 0) + 1
    if row[0] != seen:
        wrong.append((seen, "is missing"))
    if kind == "none":
        cost = row[at["cost_of_transport"]]
        nowhere = cost == math.inf and abs(row[at["distance"]]) < 1e-3  # infinite by definition
        still += nowhere
        good = survived >= 5 and fitness is not None and (nowhere or math.isfinite(cost + fitness))
        good = good and all(isinstance(row[i], (int, float)) and math.isfinite(row[i]) for i in numbers)
    else:
        good = kind in ("fell", "diverged", "solver", "limit") and fitness is None and 0 <= survived <= 5
    if not good:
        wrong.append((row[0], kind, fitness, survived))
    seen = row[0] + 1
first = f"SELECT * FROM trials WHERE id < {min(lanes, 2000)} ORDER BY id"
same = database.execute(first).fetchall() == sqlite3.connect(cpu).execute(first).fetchall()
print("  ", ", ".join(f"{count:,} {kind}" for kind, count in sorted(kinds.items(), key=lambda item: -item[1])),
      f"({still} hopped on the spot: an infinite cost of transport)")
for problem in wrong[:5]:
    print("   wrong:", problem)
if not same:
    print("   the first 2,000 are not those of the CPU")
sys.exit(seen != lanes or bool(wrong) or not same)
END

run() # NAME OPTION...
{
    name=$1
    shift
    "$program" run "$folder/decades.yaml" --name "$name" --results "$folder/results" --progress none --json "$@" \
        >"$folder/summary" 2>>"$folder/errors"
}

long() # INTEGRATOR LANES OPTION...
{
    integrator=$1 count=$2
    shift 2
    run cpu --backend cpu --set "simulation.integrator=$integrator" \
        --set "search.trials=$((count < 2000 ? count : 2000))" "$@" &&
        run gpu --backend "$backend" --set "simulation.integrator=$integrator" \
            --set "search.trials=$count" "$@"
    report $? "$count lanes by $integrator $* end"
    sed -n 's/.*"\(kernel_seconds\|wall_seconds\|device\)": *\(.*\),/   \1 \2/p' "$folder/summary"
    python3 "$folder/count.py" "$folder/results/gpu/campaign.db" "$folder/results/cpu/campaign.db" "$count"
    report $? "$integrator $*: finite or a named failure, the first 2,000 as on the CPU"
    rm -rf "$folder/results"
}

for integrator in implicit_midpoint semi_implicit_euler implicit_euler rk4 dormand_prince; do
    long $integrator "$lanes"
done
long dormand_prince "$lanes" --set simulation.tolerance=1e-9
long implicit_midpoint $((lanes / 100)) --set simulation.newton.jacobian=analytic
long implicit_midpoint $((lanes / 100)) --set simulation.newton.jacobian=finite_difference

# ---- trials that end early ------------------------------------------------------------------------------------------

# early NAME [OPTION...]: the falling sweep, three times; its ten best, and the medians of its seconds
early()
{
    name=$1
    shift
    for _ in 1 2 3; do
        rm -rf "$folder/results/$name"
        run "$name" --backend "$backend" --set "search.trials=$((lanes / 2))" "$@" || return 1
        for key in kernel_seconds first_launch_to_last_commit wall_seconds; do
            sed -n "s/.*\"$key\": *\([0-9.e+-]*\).*/\1/p" "$folder/summary" >>"$folder/$name.$key"
        done
    done
    "$program" query "$name" --results "$folder/results" --columns id,fitness --order fitness --limit 10 --format csv \
        >"$folder/$name.best" 2>>"$folder/errors"
    echo "   $name: $(middle "$name" kernel_seconds) s in the kernels," \
        "$(middle "$name" first_launch_to_last_commit) s from the first launch to the last commit," \
        "$(middle "$name" wall_seconds) s for the command"
}
middle() { sort -g "$folder/$1.$2" | sed -n 2p; } # NAME KEY

sed "s/^model: hopper/&\nsimulation: {settle: 0.25}/" "$folder/decades.yaml" >"$folder/settled.yaml"
mv "$folder/settled.yaml" "$folder/decades.yaml"
rungs='limits.retire=[{at: 1, keep: 0.1, of: 4096}, {at: 2.5, keep: 0.1, of: 4096}]'
early plain && early condition --set 'limits.retire=[{at: 1, when: abs(x_foot - x_dot_des*time) > 0.5}]' &&
    early rungs --set "$rungs"
report $? "$((lanes / 2)) falling hoppers: plain, with a condition, with two rungs"
cmp -s "$folder/plain.best" "$folder/condition.best" && echo "   the condition leaves the ten best"
cmp "$folder/plain.best" "$folder/rungs.best"
report $? "two rungs leave the ten best"
ratio=$(awk -v a="$(middle plain first_launch_to_last_commit)" -v b="$(middle rungs first_launch_to_last_commit)" \
    'BEGIN { printf "%.2f", a / b }')
echo "   two rungs are $ratio times as fast"
awk -v ratio="$ratio" 'BEGIN { exit !(ratio >= 2.5) }'
report $? "two rungs are 2.5 times as fast"
digest() { "$program" digest "$1" --results "$folder/results" 2>>"$folder/errors" | cut -d ' ' -f 1; }
run few --backend "$backend" --set search.trials=$((lanes / 50)) --set "$rungs" &&
    run few_cpu --backend cpu --set search.trials=$((lanes / 50)) --set "$rungs" --batch 9999 &&
    [ "$(digest few)" = "$(digest few_cpu)" ]
report $? "rungs of $((lanes / 50)) hoppers: the bits of the CPU"
exit $failed
