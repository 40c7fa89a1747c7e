#!/bin/sh
# The importance of parameters beside a second computation in Python: eta^2 on ranks and PED-ANOVA. A parameter whose
# best value lies in the middle of its range must not be last, as it is by rank correlation. A best trial at an end of a
# range is remarked.
. "$(dirname "$0")/../scratch.sh"
command -v python3 >/dev/null || { skip "all of it" "python3" "apt-get install python3"; exit 0; }

# spec NAME OBJECTIVE SEARCH
spec()
{
    cat >"$1.yaml" <<END
version: 1
experiment: $1
seed: 3
model: bbob
simulation: {function: sphere, dimension: 3}
objective: {$2}
search: {$3}
END
    "$HOPSCOTCH" run "$1.yaml" --threads 1 --progress none >log 2>&1 &&
        "$HOPSCOTCH" report "$1" -o "$1.html" >>log 2>&1 &&
        "$HOPSCOTCH" plot "$1" --kind importance -o "$1.svg" >>log 2>&1 &&
        "$HOPSCOTCH" query "$1" --columns x1,x2,x3,fitness --limit 100000 --format csv >"$1.csv" 2>>log
    check $? "run, report and plot $1"
}

cat >oracle.py <<'PYTHON'
"""The numbers that a plot shows, beside those of their definitions."""
import csv, math, re, sys
from statistics import NormalDist

name, log, maximize = sys.argv[1], sys.argv[2].split(","), sys.argv[3] == "max"
rows = [[float(row[key]) for key in ("x1", "x2", "x3", "fitness")] for row in csv.DictReader(open(name + ".csv"))
        if row["fitness"]]
n = len(rows)

def ranks(values):
    order, out, i = sorted(range(n), key=lambda k: values[k]), [0.0] * n, 0
    while i < n:
        j = i
        while j < n and values[order[j]] == values[order[i]]: j += 1
        for k in range(i, j): out[order[k]] = (i + 1 + j) / 2
        i = j
    return out

def effect(x, y):
    different = sorted(set(x))
    count = max(4, min(32, n // 20))
    cell = [different.index(v) for v in x] if len(different) <= 32 else [int((r - 0.5) * count / n) for r in ranks(x)]
    groups = {}
    for c, r in zip(cell, y): groups.setdefault(c, []).append(r)
    mean = (n + 1) / 2
    within = sum(sum((r - sum(g) / len(g)) ** 2 for r in g) for g in groups.values())
    whole = sum((r - mean) ** 2 for r in y)
    return max(0, 1 - within / whole * (n - 1) / (n - len(groups)))

def density(cells, steps):
    m, where = len(cells), sorted(cells)
    mean = sum(cells) / m
    spread = math.sqrt(sum((c - mean) ** 2 for c in cells) / max(1, m - 1))
    below, low, high = 0, None, None
    for k in sorted(set(cells)):
        below += cells.count(k)
        if low is None and below >= m // 4: low = k
        if high is None and below > 3 * m // 4: high = k
    high = where[-1] if high is None else high
    kernel = NormalDist(0, max(1.059 * min((high - low) / 1.34, spread) * m ** -0.2, 0.5 / 1.64))
    out = [0.0] * steps
    for c in set(cells):
        whole = kernel.cdf(steps - 0.5 - c) - kernel.cdf(-0.5 - c)
        for k in range(steps):
            out[k] += cells.count(c) / m * (kernel.cdf(k + 0.5 - c) - kernel.cdf(k - 0.5 - c)) / whole
    return out

def divergence(x, best, log):
    x = [math.log(v) for v in x] if log else x
    cells = [round((v - min(x)) / (max(x) - min(x)) * 49) for v in x]
    q, p = density(cells, 50), density([c for c, b in zip(cells, best) if b], 50)
    return sum((b + 1e-12) * ((a + 1e-12) / (b + 1e-12) - 1) ** 2 for a, b in zip(p, q))

fitness = [row[3] for row in rows]
edge = sorted(fitness, reverse=maximize)[max(0, math.ceil(n / 10) - 1)]
best = [f >= edge if maximize else f <= edge for f in fitness]
y = ranks(fitness)
effects = {f"x{g + 1}": effect([row[g] for row in rows], y) for g in range(3)}
shares = {f"x{g + 1}": divergence([row[g] for row in rows], best, f"x{g + 1}" in log) for g in range(3)}
whole = sum(shares.values())
texts = re.findall(r">([^<>]+)</text>", open(name + ".svg").read())
title = texts.index("The best tenth against all trials")
wrong = []
for values, part in ((effects, texts[:title]), ({k: v / whole for k, v in shares.items()}, texts[title:])):
    for key, value in values.items():
        shown = float(part[part.index(key) + 1].split(",")[0])
        if abs(shown - value) > 0.00501: wrong.append((key, shown, value))
print("wrong" if wrong else "same", wrong, "order", *sorted(effects, key=effects.get))
print(*[text for text in texts[:title] if "," in text])
PYTHON

# An optimum in the middle of x1, whose rank correlation is near 0; more of x2 is worse.
spec middle 'minimize: "10 * x1^2 + 8 * x2 + x3"' \
    'method: random, trials: 700, over: {x1: {range: [-5, 5]}, x2: {linspace: [-5, 5, 21]}, x3: {range: [-5, 5]}}'
python3 oracle.py middle - min >out 2>err
grep -q '^same' out
check $? "the numbers of the definitions"
grep -q 'order x3 x2 x1' out
check $? "the optimum in the middle is first"
grep -q 'best in between' out && grep -q 'less is better' out
check $? "the direction is that of the correlation"
tr -d '\n' <middle.html | grep -q 'The best x2, -5, lies at the lower end of its range: try down to -10\.'
check $? "a best trial at an end of a range is remarked"
! grep -q 'The best x1' middle.html
check $? "one in the middle is not"

# Few values, logarithms, a greatest fitness.
spec grid 'maximize: "x2 - (x1 - 0.1)^2 + 0 * x3"' \
    'method: grid, over: {x1: {logspace: [0.01, 4, 40]}, x2: {linspace: [0, 0.5, 7]}, x3: [1, 2, 4]}'
python3 oracle.py grid x1 max >out 2>err
grep -q '^same' out
check $? "of a grid on a logarithmic scale, maximised"
exit $status
