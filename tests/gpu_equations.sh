#!/bin/sh
# Equations of specs on a GPU: the CPU, the general kernel and the kernel made for the campaign give one digest, for
# every integrator, with modes, events, held numbers, every metric, tables of events, maps. Then how fast they are.
#
#   tests/gpu_equations.sh [BUILD]      BUILD: the folder of `make` (build), or of `make portable`
set -u
build=${1:-build}
. "$(dirname "$0")/on_gpu.sh"

# same SPEC OPTIONS...: the CPU, general and made kernels give one digest
same()
{
    number=$((number + 1))
    spec=$1
    shift
    run "$spec" --name "c$number" --backend cpu "$@"
    run "$spec" --name "g$number" --backend cuda --kernels general "$@"
    run "$spec" --name "m$number" --backend cuda --kernels made "$@"
    cpu=$(digest "c$number") general=$(digest "g$number") made=$(digest "m$number")
    [ -n "$cpu" ] && [ "$cpu" = "$general" ]
    check $? "$(basename "$spec") $*: general = cpu"
    event "m$number" "made for sm_" && ! event "m$number" "not used" && [ -n "$cpu" ] && [ "$cpu" = "$made" ]
    check $? "$(basename "$spec") $*: made = cpu: $(grep -h '"event":"kernel"' "$folder/results/m$number/log.jsonl" |
        grep -o 'made for[^"]*')"
}

# spec NAME INTEGRATOR DURATION DT: with the system from standard input; INTEGRATOR and DT -: a map
spec()
{
    {
        echo "version: 1"
        echo "experiment: $1"
        echo "model: equations"
        echo "simulation:"
        if [ "$2" = - ]; then
            echo "  {duration: $3, system: "
        else
            echo "  {duration: $3, dt: $4, integrator: $2, system: "
        fi
        cat
        echo "  }"
    } >"$folder/$1.yaml"
}

spec spring dormand_prince 2 0.001 <<'END'
{parameters: {k: 100, b: 1}, states: {x: 1, v: 0}, rates: {x: v, v: "-k*x - b*v"},
 events: [{name: zero, crosses: x}, {name: kick, every: 0.25, set: {v: "v + 0.1*sin(time)"}}],
 metrics: {x_rms: {rms: x}, x_end: {final: x}, x_min: {min: x}, x_max: {max: "x*v"}, zeros: {count: zero},
   first_zero: {at: zero, value: time, take: first}, spread: {after: kick, value: v, take: spread},
   up: {part: "v > 0"}, begins: {first: "x < 0 and v > 0"}, ends: {last: "x > 0.1"}, work: {integral: "b*v*v"}},
 failures: {far: "abs(x) > 20"}, columns: {energy: "v*v/2 + k*x*x/2"}}
END
cat >>"$folder/spring.yaml" <<'END'
search: {method: random, trials: 20000, over: {k: {range: [1, 500]}, b: {range: [-0.2, 10]}}}
objective: {minimize: x_rms}
END
spec slip dormand_prince 20 0.001 <<'END'
{parameters: {m: 80, k: 20000, l0: 1, g: 9.81, attack: 1.19}, states: {x: 0, z: 1, vx: 5, vz: 0},
 held: {foot: 0, taken: 0}, let: {leg: "hypot(x - foot, z)"},
 modes: {
   flight: {rates: {x: vx, z: vz, vx: 0, vz: -g},
     events: [{name: touchdown, falls: "z - l0*sin(attack)", to: stance, set: {foot: "x + l0*cos(attack)"}},
              {name: apex, falls: vz, set: {taken: "taken + step(z - l0*sin(attack))"}},
              {name: done, rises: "taken - 24.5", stop: true}]},
   stance: {let: {F: "k*(l0 - leg)"}, rates: {x: vx, z: vz, vx: "F*(x - foot)/(leg*m)", vz: "F*z/(leg*m) - g"},
     events: [{name: liftoff, rises: "leg - l0", to: flight}]}},
 metrics: {steps: {final: taken}, peak: {max: F}, speed: {mean: vx}, apex_z: {at: apex, value: z, take: last}},
 failures: {fell: "z < 0.01", backward: "vx < 0"}}
END
cat >>"$folder/slip.yaml" <<'END'
search: {method: grid, over: {attack: {linspace: [1.0, 1.4, 80]}, k: {linspace: [5000, 40000, 80]}}}
objective: {maximize: steps}
record: {trajectories: {select: {best: 5, every: 500}, events: true}}
END
spec functions rk4 3 0.01 <<'END'
{parameters: {a: 1, b: 2}, states: {x: 0.3, y: -0.2},
 rates: {x: "y + 0.1*tanh(a*x) - clip(x*x*x, -1, 2) + atan2(y, 1 + x*x) + mod(time, b)*0.01",
         y: "-sin(b*x) + 0.2*cos(time) - 0.1*y + if(x > 0, exp(-x*x), log(1 + x*x)) + asin(clip(x, -0.9, 0.9))*0.1
             - hypot(x, y)*0.05 + sign(x)*0.01 + floor(3*x)*0.001 + max(x, y)*min(a, b)*0.01 + abs(y)^1.5*0.01
             + tan(0.3*tanh(x)) - acos(clip(y, -0.9, 0.9))*0.1 + sinh(0.1*y) + cosh(0.1*x) + atan(x) + sqrt(1 + x*x)"},
 metrics: {x_end: {final: x}, y_rms: {rms: y}, top: {max: "x + y"}}}
END
cat >>"$folder/functions.yaml" <<'END'
search: {method: random, trials: 5000, over: {a: {range: [0.1, 3]}, b: {range: [0.5, 3]}}}
objective: {minimize: x_end}
END
spec rates rodas5p 1e4 1 <<'END'
{parameters: {k1: 0.04, k2: 3e7, k3: 1e4}, states: {a: 1, b: {start: 0, scale: 1e-5}, c: 0},
 rates: {a: "-k1*a + k3*b*c", b: "k1*a - k3*b*c - k2*b^2", c: "k2*b^2"}, metrics: {c_end: {final: c}, b_top: {max: b}}}
END
cat >>"$folder/rates.yaml" <<'END'
search: {method: random, trials: 2000, over: {k1: {range: [0.01, 0.1]}, k3: {range: [1e3, 1e5], scale: log}}}
objective: {maximize: c_end}
END
spec logistic - 500 - <<'END'
{parameters: {r: 3.5}, states: {x: 0.4}, next: {x: "r*x*(1 - x)"}, events: [{name: high, rises: "x - 0.5"}],
 metrics: {x_end: {final: x}, highs: {count: high}, mean_x: {mean: x}, top: {max: x}}}
END
cat >>"$folder/logistic.yaml" <<'END'
search: {method: grid, over: {r: {linspace: [2.5, 4, 3000]}}}
objective: {maximize: x_end}
END
spec delayed - 300 - <<'END'
{parameters: {r: 2}, states: {x: 0.3, before: 0.31}, next: {x: "r*x*(1 - before)", before: x},
 metrics: {x_end: {final: x}, mean_x: {mean: x}, sum: {integral: before}}}
END
cat >>"$folder/delayed.yaml" <<'END'
search: {method: grid, over: {r: {linspace: [1.5, 2.3, 3001]}}}
objective: {maximize: x_end}
END
spec noise sra3 5 0.01 <<'END'
{parameters: {k: 40, s: 0.8}, states: {z: 1, v: 0, u: 0}, held: {n: 0},
 noise: {v: {size: s, by: w}, u: {size: "-0.3", by: w}},
 events: [{name: look, every: 0.0501, set: {n: n + z}}, {name: up, crosses: u - 0.1}],
 modes: {
   air: {rates: {z: v, v: -9.81, u: -u}, events: [{name: down, falls: z - 0.5, to: floor}]},
   floor: {rates: {z: v, v: "k*(0.5 - z) - 9.81 - v", u: 1 - u}, noise: {v: {size: 0.1 + time, by: w}, z: 0.01},
     events: [{name: off, rises: z - 0.5, to: air, set: {v: 1.1*v}}]}},
 metrics: {n_end: {final: n}, z_mean: {mean: z}, top: {max: z}, ups: {count: up}, part: {part: u > 0.2},
   hit: {at: down, value: v, take: min}}, failures: {far: z > 1.6}, columns: {energy: v*v/2}}
END
cat >>"$folder/noise.yaml" <<'END'
search: {method: random, trials: 5000, over: {k: {range: [10, 100]}, s: {range: [0, 2]}}}
replicates: {count: 3, common: false}
objective: {minimize: n_end}
END
sed -e 's/size: s, by/size: s*tanh(z), by/' -e 's/sra3/euler_maruyama/' "$folder/noise.yaml" \
    >"$folder/multiplicative.yaml"
spec noisy_map - 200 - <<'END'
{parameters: {r: 3.5}, states: {x: 0.4}, next: {x: "r*x*(1 - x)"}, noise: {x: 0.01*x}, metrics: {x_end: {final: x}}}
END
cat >>"$folder/noisy_map.yaml" <<'END'
search: {method: grid, over: {r: {linspace: [2.5, 3.8, 3000]}}}
objective: {maximize: x_end}
END
spec tables dormand_prince 3 0.01 <<'END'
{parameters: {p: 0, k: 1},
 tables: {spring: {at: [-2, -0.5, 0.1, 1, 4], values: [3, 1, 0.2, -2, -2.5], between: cubic, beyond: extend},
   drag: {at: [-3, 0, 2], values: [1, 0, -2]}, step_: {at: [-1, 0.5], values: [0, 0.1], between: held, beyond: hold},
   mix: {at: [[-1, 0.2, 1], [0, 1, 3]], values: [[0, 1, 2], [1, -1, 0], [2, 0.5, 1]], beyond: hold}},
 inputs: {u: {at: [0, 0.4, 0.9, 2.2, 3], values: [1, -1, 0.5, 2, 0]},
   g: {at: [0, 1, 2], values: [0, 1, -1], between: held, beyond: hold}},
 states: {x: {start: p}, v: 0},
 rates: {x: v, v: "spring(x) + drag(v) + step_(x) + 0.2*mix(x, time) + k*(u + g)"},
 events: [{name: turn, crosses: v}, {name: jump, rises: "g - 0.5", set: {v: "v + 0.1*spring(x)"}}],
 metrics: {x_end: {final: x}, turns: {count: turn}, top: {max: "mix(x, u)"}, work: {integral: "u*v"},
   slow: {part: "drag(v) > -0.1"}}}
END
cat >>"$folder/tables.yaml" <<'END'
search: {method: random, trials: 5000, over: {p: {range: [-1, 3]}, k: {range: [0.5, 3]}}}
objective: {minimize: x_end}
END
spec lorenz rk4 1 0.001 <<'END'
{parameters: {sigma: 10, rho: 28, beta: 2.6666666666666665}, states: {x: 1, y: 1, z: 1},
 rates: {x: "sigma*(y - x)", y: "x*(rho - z) - y", z: "x*y - beta*z"}, metrics: {x_end: {final: x}}}
END
cat >>"$folder/lorenz.yaml" <<'END'
search: {method: random, trials: 8388608, over: {rho: {range: [0, 50]}, sigma: {range: [5, 15]}}}
objective: {minimize: x_end}
END
# straight runs, on which another kernel goes ahead: some lanes leave them, since they are soon not finite
spec ahead rk4 3 0.01 <<'END'
{parameters: {p: 1, k: 2}, tables: {spring: {at: [-2, 0.1, 1, 4], values: [3, 0.2, -2, -2.5], beyond: extend},
   mix: {at: [[-1, 0.2, 1], [0, 1, 3]], values: [[0, 1, 2], [1, -1, 0], [2, 0.5, 1]], beyond: hold}},
 states: {x: 0.3, y: -0.2, n: 1, s: 0},
 rates: {x: y, y: "spring(x) - mix(y, time) + sin(k*time)/(1 + x*x) + if(x > y, abs(x), -y*0.1) - clip(y, -1, k)",
         n: "p*n*n", s: 2},
 metrics: {x_end: {final: x}, y_rms: {rms: y}, x_mean: {mean: "x*p"}, sum: {integral: "y*n - s"}, s_end: {final: s}}}
END
cat >>"$folder/ahead.yaml" <<'END'
search: {method: random, trials: 5001, over: {p: {range: [-1, 1]}, k: {range: [0.5, 3]}}}
objective: {minimize: x_end}
END
spec turns - 300 - <<'END'
{parameters: {r: 2}, states: {x: 0.3, y: 0.31, z: 1, w: 0}, next: {x: y, y: "r*x*(1 - y)", z: z, w: "x + z"},
 metrics: {x_end: {final: x}, w_end: {final: w}, mean_x: {mean: x}, sum: {integral: y}}}
END
cat >>"$folder/turns.yaml" <<'END'
search: {method: grid, over: {r: {linspace: [1.5, 2.6, 3001]}}}
objective: {minimize: x_end}
END

for integrator in dormand_prince rk4 semi_implicit_euler implicit_midpoint rodas5p; do
    same "$folder/spring.yaml" --set simulation.integrator=$integrator
    same "$folder/tables.yaml" --set simulation.integrator=$integrator
done
same "$folder/slip.yaml"
same "$folder/slip.yaml" --set simulation.integrator=rk4
for integrator in rk4 dormand_prince; do same "$folder/functions.yaml" --set simulation.integrator=$integrator; done
same "$folder/rates.yaml"
same "$folder/logistic.yaml"
same "$folder/delayed.yaml"
same "$folder/turns.yaml"
for integrator in rk4 semi_implicit_euler; do
    same "$folder/ahead.yaml" --set simulation.integrator=$integrator
    same "$folder/ahead.yaml" --set simulation.integrator=$integrator --batch 333 --slice 100
    same "$folder/ahead.yaml" --set simulation.integrator=$integrator --set simulation.duration=2.995 --slice 7
done
for integrator in rk4 semi_implicit_euler; do
    same "$folder/lorenz.yaml" --set search.trials=20000 --set simulation.integrator=$integrator
done

for integrator in euler_maruyama sra3; do same "$folder/noise.yaml" --set simulation.integrator=$integrator; done
same "$folder/multiplicative.yaml"
same "$folder/noisy_map.yaml"

# time NAME SPEC OPTIONS...: seconds of the kernels, by the general and the made kernel
time_of()
{
    name=$1 spec=$2
    shift 2
    for kernels in general made; do
        run "$spec" --name "t$name$kernels" --backend cuda --kernels $kernels "$@"
        echo "time $name $kernels: $("$program" status "t$name$kernels" --results "$folder/results" |
            grep -E '^(work|time)' | tr '\n' ' ')"
    done
    [ "$(digest "t${name}general")" = "$(digest "t${name}made")" ]
    check $? "$name: made = general"
}
if [ -n "${TIMES-1}" ]; then
    time_of lorenz_rk4 "$folder/lorenz.yaml"
    time_of lorenz_rk4_large "$folder/lorenz.yaml" --batch 8388608
    time_of lorenz_prince "$folder/lorenz.yaml" --set simulation.integrator=dormand_prince \
        --set simulation.tolerance=1e-8 --set search.trials=1000000
    sed '/^record/d' "$folder/slip.yaml" >"$folder/slip_alone.yaml"
    time_of slip "$folder/slip_alone.yaml" --set simulation.duration=5 \
        --set 'search.over.attack={linspace: [1, 1.4, 400]}' \
        --set 'search.over.k={linspace: [5000, 40000, 400]}'
    time_of rates "$folder/rates.yaml" --set simulation.duration=1e5 --set search.trials=100000
fi
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
