#!/bin/sh
# Parts of a campaign (run --part) and gather, which joins them: the digest is that of one run, for every method; parts
# in any order, interrupted, killed and gathered in between; and what is refused.
. "$(dirname "$0")/../scratch.sh"

# spec NAME <<END: the text without version, experiment and seed, into NAME.yaml
spec()
{
    printf 'version: 1\nexperiment: %s\nseed: 5\n' "$1" >"$1.yaml"
    cat >>"$1.yaml"
}

spec grid <<'END'
model: hopper
simulation: {duration: 0.3, dt: 1.0e-3, settle: 0.1}
search:
  method: grid
  over: {k_fp: {linspace: [50, 300, 9]}, z_foot: [0.0, 0.3, 0.5], thrust: [25, 35]}
  exclude: ["k_fp > 260 and z_foot < 0.1"]
replicates: {count: 2, store: true, perturb: {phi_leg: {normal: [0.3, 0.9]}}}
record:
  trajectories: {select: {best: 3, every: 5, failures: 4, trials: [7]}, sample: 0.01}
  debug: {newton: {select: {best: 1, trials: [11]}, window: [0, 0.02]}}
END
spec later <<'END'
model: bbob
search: {method: random, over: {x1: {range: [-5, 5]}, x2: {range: [-5, 5]}}, trials: 5000}
store: {rows: later}
END
for method in latin_hypercube sobol; do
    spec $method <<END
model: bbob
search: {method: $method, over: {x1: {range: [-5, 5]}, x2: {range: [-5, 5]}}, trials: 100}
END
done
spec morris <<'END'
model: bbob
search: {method: morris, over: {x1: {range: [-5, 5]}, x2: {range: [-5, 5]}}, trajectories: 20}
END
spec sobol_indices <<'END'
model: bbob
search: {method: sobol_indices, over: {x1: {range: [-5, 5]}, x2: {range: [-5, 5]}}, samples: 32}
END
spec list <<'END'
model: bbob
search: {method: list, points: [{x1: 1, x2: 2}, {x1: 2, x2: 1}, {x1: 3, x2: 2}, {x1: 0, x2: 0}, {x1: -1, x2: 4}]}
END
spec cmaes <<'END'
model: bbob
simulation: {function: rastrigin, dimension: 3}
search:
  method: cmaes
  over: {x1: {range: [-5, 5]}, x2: {range: [-5, 5]}, x3: {range: [-5, 5]}}
  exclude: ["x1 > x2 + 6"]
  cmaes: {searches: 9, first: 4, bounds: resample, restarts: bipop, restarts_max: 2, stop: {generations: 30}}
record: {trajectories: {select: {best: 3, every: 100, trials: [7]}}}
END
spec outer <<'END'
model: bbob
simulation: {dimension: 3}
search:
  method: cmaes
  over: {x1: {range: [-5, 5]}, x2: {range: [-5, 5]}}
  cmaes: {searches: 3, stop: {generations: 12}, outer: {x3: [0, 1, 2]}}
END
spec nsga2 <<'END'
model: bbob
search:
  method: nsga2
  over: {x1: {range: [-5, 5]}, x2: {range: [-5, 5]}}
  nsga2: {searches: 6, population: 12, stop: {generations: 8}}
objective: {minimize: [f, distance]}
record: {trajectories: {select: {best: 4}}}
END
for method in adam lbfgs; do
    spec $method <<END
model: bbob
search:
  method: $method
  over: {x1: {range: [-5, 5]}, x2: {range: [-5, 5]}}
  $method: {searches: 6, stop: {iterations: 15}}
END
done

# joined NAME N: N parts, the last first, gathered after every third, have the digest of one run
joined()
{
    run run "$1.yaml" --name "one_$1" --progress none
    k=$2
    while [ "$k" -ge 1 ]; do
        run run "$1.yaml" --part "$k/$2" --progress none || check 1 "$1: part $k/$2"
        [ $((k % 3)) -ne 0 ] || run gather "$1"
        k=$((k - 1))
    done
    works gather "$1"
    [ "$(digest "$1")" = "$(digest "one_$1")" ] && [ -n "$(digest "$1")" ]
    check $? "$1: $2 parts have the digest of one run"
    run doctor "$1"
    check $? "$1: doctor finds nothing"
}
for name in grid later latin_hypercube sobol morris sobol_indices list; do joined $name 5; done
for name in cmaes outer nsga2 adam lbfgs; do joined $name 4; done
"$SQL" results/morris/campaign.db "SELECT count(*) FROM sensitivity" >out 2>err
[ "$(tr -d '[:space:]' <out)" -gt 0 ]
check $? "sensitivities are measured when all parts are joined"
exit $status
