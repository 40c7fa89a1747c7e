#!/bin/sh
# Sensitivities: sobol_indices and morris against SALib's estimators on the same trials; the number of trials; a
# campaign that was extended, or run in two parts, is the one that ran at once.
. "$(dirname "$0")/../scratch.sh"

ranges='{x1: {range: [-3, 3]}, x2: {range: [-3, 2]}, x3: {range: [-1, 3]}}'
objective='sin(x1) + 7*sin(x2)^2 + 0.1*x3^4*sin(x1)'
# spec NAME SEARCH
spec()
{
    cat >"$1.yaml" <<EOF
version: 1
experiment: $1
seed: 5
model: bbob
simulation: {dimension: 3}
search: {$2, over: $ranges}
objective: {minimize: "$objective"}
EOF
}

spec indices 'method: sobol_indices, samples: 256'
spec grown 'method: sobol_indices, samples: 96'
spec resumed 'method: sobol_indices, samples: 256'
spec effects 'method: morris, trajectories: 30, levels: 6'
works run indices.yaml --progress none
works run effects.yaml --progress none
count=$("$HOPSCOTCH" query indices --sql 'SELECT count(*) AS n FROM trials' --format csv | tail -n 1)
[ "$count" = 1280 ]; check $? "256 samples of 3 parameters are 256 (3 + 2) trials: $count"
works run resumed.yaml --progress none --set limits.trials=500
works run resumed.yaml --progress none
works run grown.yaml --progress none
sed -i 's/samples: 96/samples: 256/' grown.yaml
works run grown.yaml --progress none --extend
rows='SELECT id, x1, x2, x3, fitness FROM trials ORDER BY id'
for name in indices grown resumed; do
    "$HOPSCOTCH" query $name --sql "$rows" --format csv >$name.rows
    "$HOPSCOTCH" sensitivity $name --format csv >$name.csv
done
cmp -s indices.rows resumed.rows && cmp -s indices.csv resumed.csv; check $? "500 trials, then the others, are the same"
cmp -s indices.rows grown.rows && cmp -s indices.csv grown.csv; check $? "96 samples, extended to 256, are the 256"
works replay indices/777
has 'the same to the bit'

# Effects are per range: twice the range, twice the effect of a line
cat >line.yaml <<'EOF'
version: 1
experiment: line
model: bbob
search: {method: morris, over: {x1: {range: [0, 1]}, x2: {range: [0, 2]}}}
objective: {minimize: "3*x1 - 3*x2"}
EOF
works run line.yaml --progress none
works sensitivity line --format csv
has 'x1,mu_star,3'
has 'x2,mu,-6'
rows=$("$HOPSCOTCH" query line --where 'x1 = 0 or x1 = 0.3333333333333333 or x1 = 0.6666666666666666 or x1 = 1' \
    --columns id --format csv | wc -l)
[ "$rows" -eq 61 ]; check $? "levels are decimals, or the doubles nearest to thirds: $((rows - 1)) of 60 trials"

if with_python "SALib's estimators" numpy SALib; then
    cat >salib.py <<'EOF'
import csv, io, subprocess, sys
import numpy as np
from SALib.analyze import morris
from SALib.analyze.sobol import first_order, total_order
def table(*arguments):
    done = subprocess.run([sys.argv[1], *arguments, '--format', 'csv'], check=True, capture_output=True, text=True)
    return list(csv.DictReader(io.StringIO(done.stdout)))
def trials(name):
    rows = table('query', name, '--order', 'id', '--columns', 'id,x1,x2,x3,fitness')
    return np.array([[float(row[f'x{i}']) for i in (1, 2, 3)] for row in rows]), \
        np.array([float(row['fitness']) for row in rows])
def measures(name):
    return {(row['parameter'], row['measure']): float(row['value']) for row in table('sensitivity', name)}
worst = 0.0
x, y = trials('indices')
own, y = measures('indices'), y.reshape(-1, 5)
y = y - y[:, :2].mean() # SALib centres all runs by the mean of all, which changes the first order by O(1/N)
for i in range(3):
    worst = max(worst, abs(own[f'x{i + 1}', 'first_order'] - first_order(y[:, 0], y[:, 2 + i], y[:, 1])),
                abs(own[f'x{i + 1}', 'total'] - total_order(y[:, 0], y[:, 2 + i], y[:, 1])))
x, y = trials('effects')
bounds = [[-3, 3], [-3, 2], [-1, 3]]
with np.errstate(all='ignore'):
    other = morris.analyze({'num_vars': 3, 'names': ['x1', 'x2', 'x3'], 'bounds': bounds}, x, y, num_levels=6, seed=1)
own = measures('effects')
for i in range(3):
    for measure in ('mu', 'mu_star', 'sigma'):
        worst = max(worst, abs(own[f'x{i + 1}', measure] - other[measure][i]) / 10)
print(f'greatest difference {worst:.2g}')
sys.exit(not worst < 1e-12)
EOF
    python3 salib.py "$HOPSCOTCH" >out 2>err
    check $? "sobol_indices and morris are SALib's: $(tail -n 1 out)"
fi
exit $status
