"""Goes on from a learned policy by CMA-ES over the weights of its last layer, and writes the better one.

    python3 refine.py hopper_policy.yaml hopper_policy.csv -o better.csv

Each weight is searched around its value. The fitness is that of the spec, so a better policy is one that does better
there, not one with more reward.
"""

import argparse
import csv

import hopscotch


def read(path):
    """[(layer, output, input, weight)] of a table."""
    with open(path, newline="") as file:
        return [(int(row["layer"]), int(row["output"]), int(row["input"]), float(row["weight"]))
                for row in csv.DictReader(file)]


def write(path, rows):
    with open(path, "w", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(["layer", "output", "input", "weight"])
        table.writerows([*row[:3], repr(row[3])] for row in rows)


def name(row):
    return f"weight_{row[0]}_{row[1]}_{row[2]}"


def refine(options):
    rows = read(options.table)
    last = max(row[0] for row in rows)
    over = {name(row): {"range": [row[3] - options.width, row[3] + options.width]} for row in rows if row[0] == last}
    campaign = hopscotch.run(options.spec, name=options.name, settings={
        "search.method": "cmaes", "search.over": over, "search.cmaes.population": options.population,
        "search.cmaes.stop.generations": options.generations, "parameters.x_dot_des": options.speed})
    best = campaign.best(1)[0]
    print(f"fitness {best['fitness']:.6g} (trial {best['id']})")
    found = campaign.trials(where=f"id = {best['id']}")
    write(options.output, [(*row[:3], float(found[name(row)][0])) if row[0] == last else row for row in rows])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("spec")
    parser.add_argument("table")
    parser.add_argument("-o", "--output", default="better.csv")
    parser.add_argument("--name", default="hopper_policy_refined", help="of the campaign")
    parser.add_argument("--width", type=float, default=0.1, help="how far from its value a weight is searched")
    parser.add_argument("--speed", type=float, default=1.5, help="the commanded speed (m/s)")
    parser.add_argument("--population", type=int, default=32)
    parser.add_argument("--generations", type=int, default=30)
    refine(parser.parse_args())


if __name__ == "__main__":
    main()
