#!/bin/sh
# Values of arange, linspace and logspace are the doubles nearest to the exact ones: 0.3, not 0.30000000000000004. So a
# condition, `--where`, SQL, a union, an extension and a program that reads the numbers mean the same by "x1 = 0.3", and
# a printed value reads back to the value. The oracle for random axes is Python's fractions and decimal.
#
#   QUICK=1   fewer random axes
. "$(dirname "$0")/../scratch.sh"

# trials NAME SEARCH...: runs a grid of bbob with these lines of `search`; its number of trials
trials()
{
    name=$1
    shift
    { printf 'version: 1\nexperiment: %s\nmodel: bbob\nsearch:\n  method: grid\n' "$name"; printf '  %s\n' "$@"; } \
        >"$name.yaml"
    works run "$name.yaml" --progress none $more
    "$HOPSCOTCH" query "$name" --sql "SELECT count(*) AS n FROM trials" --format csv >count 2>err
    count=$(tail -n 1 count)
}
counted() { [ "$count" = "$1" ]; check $? "$name has $1 trials: $count"; }
# rows COUNT WHAT COMMAND...: how many lines the command prints below its header
rows()
{
    wanted=$1 what=$2
    shift 2
    "$@" >out 2>err
    got=$(tail -n +2 out | wc -l)
    [ "$got" -eq "$wanted" ]; check $? "$what: $wanted rows, $got"
}
more=

# ---- conditions, queries, exports, plots -----------------------------------------------------------------------------
trials exclude 'over: {x1: {arange: [0, 1, 0.1]}, x2: [0, 1]}' 'exclude: ["x1 = 0.3"]'
counted 20
trials when 'over: {x1: {linspace: [-0.5, 0.5, 11]}, x2: [0, 1]}' 'when: {x2: "x1 = 0.1"}'
counted 12
trials derived 'over: {x1: {arange: [0, 1, 0.1]}, x2: {derive: "x1 = 0.6"}}' 'exclude: ["x2 = 1"]'
counted 10
rows 2 '--where' "$HOPSCOTCH" query exclude --where 'x1 = 0.6' --format csv
rows 2 '--sql' "$HOPSCOTCH" query exclude --sql 'SELECT id FROM trials WHERE x1 = 0.6' --format csv
rows 2 'export' "$HOPSCOTCH" export exclude --where 'x1 = 0.6' --csv -
works plot exclude --kind scatter --where 'x1 = 0.6' -o pairs.svg
trials logspace 'over: {x1: {logspace: [0.001, 1, 4]}, x2: [0]}'
"$HOPSCOTCH" query logspace --sql 'SELECT x1 FROM trials ORDER BY id' --format csv >out 2>err
[ "$(tail -n +2 out | tr '\n' ' ')" = "0.001 0.01 0.1 1 " ]; check $? "a logspace has 0.01 and 0.1"
"$HOPSCOTCH" query when --sql 'SELECT DISTINCT x1 FROM trials ORDER BY x1' >out 2>err
[ "$(tail -n +2 out | tr -d ' ' | tr '\n' ' ')" = "-0.5 -0.4 -0.3 -0.2 -0.1 0 0.1 0.2 0.3 0.4 0.5 " ]
check $? "a table shows them so"

# ---- unions and extensions: equal points are equal doubles -----------------------------------------------------------
trials union 'union: [{over: {x1: {arange: [0, 1, 0.1]}}}, {over: {x1: {linspace: [-1, 1, 21]}}}, {over: {x1: [0.3]}}]'
counted 21
trials twins 'union: [{over: {x1: [0.3]}}, {over: {x1: [0.30000000000000004]}}]'
counted 2
trials grown 'over: {x1: {logspace: [0.05, 3, 11]}}'
more=--extend
trials grown 'over: {x1: {logspace: [0.05, 3, 31]}}'
counted 31
trials exclude 'over: {x1: {linspace: [0, 1, 11]}, x2: [0, 1]}' 'exclude: ["x1 = 0.3"]'
counted 20
more=
"$HOPSCOTCH" query twins --columns x1 >out 2>err
has 0.30000000000000004

# ---- printed values read back ----------------------------------------------------------------------------------------
cat >random.yaml <<'EOF'
version: 1
experiment: random
model: bbob
search: {method: random, trials: 20, over: {x1: {range: [-1, 1]}, x2: {range: [1e-5, 5], scale: log}}}
EOF
works run random.yaml --progress none
same=0
for id in 0 7 19; do
    x1=$("$HOPSCOTCH" query random --where "id = $id" --columns x1 | tail -n 1 | tr -d ' ')
    x2=$("$HOPSCOTCH" show random/$id | awk '$1 == "x2" { print $2; exit }')
    [ "$("$HOPSCOTCH" query random --where "x1 = $x1 and x2 = $x2" --columns id --format csv | tail -n 1)" = $id ] &&
        same=$((same + 1))
done
[ $same -eq 3 ]; check $? "--where finds the trials whose values the tables print: $same of 3"

# ---- random axes against exact arithmetic ----------------------------------------------------------------------------
cat >axes.py <<'EOF'
import csv, random, subprocess, sys
from decimal import Decimal, getcontext
from fractions import Fraction
program, specs = sys.argv[1], int(sys.argv[2])
getcontext().prec = 60
draw = random.Random(7)
def exact(x): return Fraction(repr(x))
def nearest(x): return x.numerator / x.denominator  # of integers: rounded once
def some(least, digits):
    if draw.random() < 0.2: return draw.uniform(least, 5)
    return float(round(draw.uniform(least, 5), draw.randint(1, digits)))
def axis(n):
    kind = draw.choice(['arange', 'linspace', 'logspace'])
    while True:
        a, b = some(-5, 6), some(-5, 6)
        if kind == 'logspace':
            a, b = abs(a) * 10.0 ** -draw.randint(0, 6), abs(b)
            if draw.random() < 0.4: # decades, and other ratios that give decimals
                a = float(round(draw.uniform(0, 5), 3))
                b = nearest(exact(a) * Fraction(draw.choice(['1/10', '1/2', '4/5', '1/4'])) ** (n - 1))
            if not 1e-300 < min(a, b) <= max(a, b) <= 5 or a == b: continue
            low, high = (Decimal(repr(x)) for x in (a, b))
            points = [low * ((high / low).ln() * i / (n - 1)).exp() for i in range(n)]
            return f'{{logspace: [{a!r}, {b!r}, {n}]}}', [a] + [float(str(x)) for x in points[1:-1]] + [b]
        if a >= b: continue
        if kind == 'linspace':
            if draw.random() < 0.5: a, b = b, a
            points = [exact(a) + (exact(b) - exact(a)) * i / (n - 1) for i in range(n)]
            return f'{{linspace: [{a!r}, {b!r}, {n}]}}', [nearest(x) for x in points]
        step = float(f'{(b - a) / (n - 1):.{draw.choice([2, 3, 5, 17])}g}')
        points = [exact(a) + i * exact(step) for i in range(n)]
        greatest = nearest(points[-1] + exact(step) / 3)
        if points[-1] > 5 or greatest > 5: continue
        return f'{{arange: [{a!r}, {greatest!r}, {step!r}]}}', [nearest(x) for x in points]
checked = wrong = 0
for s in range(specs):
    n = draw.choice([3, 4, 5, 7, 11, 13, 21, 31, 101])
    axes = [axis(n) for _ in range(40)]
    names = [f'x{i + 1}' for i in range(40)]
    with open('axes.yaml', 'w') as out:
        out.write(f'version: 1\nexperiment: axes{s}\nmodel: bbob\nsimulation: {{dimension: 40}}\nsearch:\n  over:\n')
        out.writelines(f'    {name}: {text}\n' for name, (text, _) in zip(names, axes))
        out.write(f'  zip: [[{", ".join(names)}]]\n')
    subprocess.run([program, 'run', 'axes.yaml', '--progress', 'none'], check=True, capture_output=True)
    rows = subprocess.run([program, 'query', f'axes{s}', '--columns', ','.join(names), '--order', 'id', '--format',
                           'csv'], check=True, capture_output=True, text=True).stdout
    rows = list(csv.reader(rows.splitlines()))[1:]
    for a, (text, points) in enumerate(axes):
        for i, point in enumerate(points):
            checked += 1
            if float(rows[i][a]) == point: continue
            wrong += 1
            print(f'{text}: value {i} is {rows[i][a]}, expected {point!r}')
print(f'{checked} values of {40 * specs} axes, {wrong} wrong')
sys.exit(wrong > 0 or checked == 0)
EOF
if with_python "random axes"; then
    python3 axes.py "$HOPSCOTCH" "$([ -n "${QUICK:-}" ] && echo 3 || echo 40)" >out 2>err
    check $? "random axes: $(tail -n 1 out)"
fi
exit $status
