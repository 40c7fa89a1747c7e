#!/bin/sh
# The benchmark functions against COCO's own (coco-experiment), at random points of the box and at the optimum.
# ORACLE_PYTHON: a python3 that has it.
. "$(dirname "$0")/../scratch.sh"

: "${ORACLE_PYTHON:=python3}"
if ! "$ORACLE_PYTHON" -c "import cocoex" 2>/dev/null; then
    skip "COCO's values" "python3 with cocoex" "$(python_packages cocoex)"
    exit 0
fi
cat >compare.py <<'PYTHON'
import json, random, subprocess, sys
import cocoex

NAMES = """sphere ellipsoid_separable rastrigin_separable buche_rastrigin linear_slope attractive_sector step_ellipsoid
rosenbrock rosenbrock_rotated ellipsoid discus bent_cigar sharp_ridge different_powers rastrigin weierstrass schaffers
schaffers_ill_conditioned griewank_rosenbrock schwefel gallagher_101 gallagher_21 katsuura lunacek""".split()
program, random_numbers, worst = sys.argv[1], random.Random(7), 0.0
for number, name in enumerate(NAMES, 1):
    dimension, instance = random_numbers.choice([2, 3, 5, 10, 20, 40]), random_numbers.randint(1, 15)
    problem = cocoex.Suite(
        "bbob", "instances: %d" % instance, "dimensions: %d function_indices: %d" % (dimension, number)
    ).get_problem(0)
    problem._best_parameter("print")
    with open("._bbob_problem_best_parameter.txt") as file:
        optimum = [float(word) for word in file.read().split()]
    points = [[random_numbers.uniform(-5, 5) for _ in range(dimension)] for _ in range(5)] + [optimum]
    spec = {
        "version": 1, "experiment": name, "model": "bbob", "objective": {"minimize": "f"},
        "simulation": {"function": name, "dimension": dimension, "instance": instance},
        "search": {"method": "list", "points": [{"x%d" % (i + 1): x for i, x in enumerate(p)} for p in points]},
    }
    with open("spec.yaml", "w") as file:
        json.dump(spec, file)
    run = [program, "run", "spec.yaml", "--backend", "cpu", "--progress", "none"]
    subprocess.run(run, check=True, capture_output=True)
    best = subprocess.run([program, "best", name, "--json"], check=True, capture_output=True, text=True).stdout
    for row in json.loads(best):
        exact = problem(points[row["id"]]) - problem(optimum)
        off = abs(row["fitness"] - exact) / max(1.0, exact)
        worst = max(worst, off)
        if not off < 1e-9:
            print(name, dimension, instance, row["id"], exact, row["fitness"])
print("worst", worst)
sys.exit(not worst < 1e-9)
PYTHON
"$ORACLE_PYTHON" compare.py "$HOPSCOTCH" >out 2>err
check $? "24 functions have COCO's values: $(tail -n 1 out)"
exit "$status"
