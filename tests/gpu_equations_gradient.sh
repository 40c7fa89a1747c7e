#!/bin/sh
# Gradients of equations by a GPU: searches along the adjoint and the tangent give the digests of the CPU, with events,
# modes, noise, maps, tables and every integrator, in several numbers of lanes, with trails that do not fit into the
# memory of a lane; `gradient` and `report` give what they give by the CPU. Then how long gradients take, unless TIMES
# is empty.
#
#   tests/gpu_equations_gradient.sh [BUILD]      BUILD: the folder of `make` (build), or of `make portable`
set -u
build=${1:-build}
. "$(dirname "$0")/on_gpu.sh"
integrators="" searches=${SEARCHES:-300} # a GPU takes gradients of 256 lanes or more for each thread

# spec NAME OVER: the simulation from standard input
spec()
{
    {
        echo "version: 1"
        echo "experiment: $1"
        echo "model: equations"
        echo "simulation:"
        sed 's/^/  /'
        echo "search: {method: adam, over: {$2}, adam: {searches: $searches, gradient: adjoint, stop: {iterations: 3}}}"
        echo "objective: {minimize: value}"
    } >"$folder/$1.yaml"
}

# same SPEC OPTIONS...: the CPU and the GPU give one digest, and the GPU computed the gradients of all rounds
same()
{
    number=$((number + 1))
    name=$1
    shift
    run "$folder/$name.yaml" --name "c$number" --backend cpu --kernels general "$@"
    run "$folder/$name.yaml" --name "g$number" --backend cuda --kernels general --threads 1 "$@"
    cpu=$(digest "c$number") gpu=$(digest "g$number")
    [ -n "$cpu" ] && [ "$cpu" = "$gpu" ] &&
        grep -q 'gradients.*of [1-9][0-9]* rounds by the GPU' "$folder/results/g$number/log.jsonl"
    check $? "gradients of $name $*: gpu = cpu"
}

# printed NAME OPTIONS...: of the campaign that `same` ran last, `gradient` prints the same numbers by both
printed()
{
    name=$1
    shift
    for backend in cpu cuda; do
        "$program" gradient "c$number/best" --results "$folder/results" --backend $backend --format csv "$@" \
            >"$folder/$backend.csv" 2>"$folder/$backend.log"
        cat "$folder/$backend.log" >>"$folder/log"
    done
    diff "$folder/cpu.csv" "$folder/cuda.csv" >>"$folder/log" && [ "$(wc -l <"$folder/cpu.csv")" -gt 2 ] &&
        ! grep -q ' by ' "$folder/cpu.log" && grep -q '^adjoint, tangent and differences by ' "$folder/cuda.log"
    check $? "gradient of $name $*: gpu = cpu"
}
# along NAME OPTIONS...: by the adjoint, as `gradient` prints it, and a round by the tangent, with fewer searches: each
# of their parameters is a lane
along()
{
    same "$@"
    printed "$1"
    same "$@" --set search.adam.gradient=tangent --set search.adam.searches=$((searches / 2)) \
        --set search.adam.stop.iterations=1
}

spec lorenz "sigma: {range: [8, 12]}, rho: {range: [20, 30]}" <<'END_SPEC'
duration: 1
dt: 0.002
integrator: rk4
system:
  {parameters: {sigma: 10, rho: 28, beta: 2.6666666666666665}, states: {x: 1, y: 1, z: 1},
   rates: {x: "sigma*(y - x)", y: "x*(rho - z) - y", z: "x*y - beta*z"},
   metrics: {value: {mean: "x*x + z"}, end: {final: y}}}
END_SPEC
# it ends before its bounces accumulate, from 2.3 s on: without their end they are millions, which take a minute
spec ball "g: {range: [8, 11]}, e: {range: [0.7, 0.95]}, period: {range: [0.2, 0.4]}" <<'END_SPEC'
duration: 2
dt: 0.0005
integrator: dormand_prince
system:
  {parameters: {g: 9.81, e: 0.9, period: 0.31}, states: {z: 1, v: 0.3}, held: {n: 0},
   rates: {z: v, v: "-g - 0.1*v + sin(20*time)"},
   events: [{name: bounce, falls: z, set: {v: "-e*v", n: n + time}}, {every: period, name: tick, set: {v: 0.99*v}}],
   metrics: {mean: {mean: z}, most: {max: v}, least: {min: z*v}, up: {after: bounce, value: v, take: spread},
     above: {part: z > 0.4}, ends: {last: z > 0.5}, held: {final: n}}}
END_SPEC
sed 's/minimize: value/minimize: mean + 0.1*most + 0.2*least + up + above + ends + 0.1*held/' "$folder/ball.yaml" \
    >"$folder/new" && mv "$folder/new" "$folder/ball.yaml"
spec slip "k: {range: [10000, 30000]}, attack: {range: [1.1, 1.3]}" <<'END_SPEC'
duration: 3
integrator: dormand_prince
system:
  {parameters: {m: 80, k: 20000, l0: 1, g: 9.81, attack: 1.19}, states: {x: 0, z: 1, vx: 5, vz: 0},
   held: {foot: 0}, let: {leg: "hypot(x - foot, z)"},
   modes: {
     flight: {rates: {x: vx, z: vz, vx: 0, vz: -g},
       events: [{name: touchdown, falls: "z - l0*sin(attack)", to: stance, set: {foot: "x + l0*cos(attack)"}},
                {name: apex, falls: vz}]},
     stance: {let: {F: "k*(l0 - leg)"}, rates: {x: vx, z: vz, vx: "F*(x - foot)/(leg*m)", vz: "F*z/(leg*m) - g"},
       events: [{name: liftoff, rises: "leg - l0", to: flight}]}},
   metrics: {value: {mean: vx}, apex_z: {at: apex, value: z, take: last}},
   failures: {fell: "z < 0.01", backward: "vx < 0"}}
END_SPEC
spec tables "p: {range: [0, 0.5]}, k: {range: [0.5, 1.5]}" <<'END_SPEC'
duration: 3
dt: 0.002
integrator: dormand_prince
system:
  {parameters: {p: 0.2, k: 1.1}, tables: {spring: {at: [-2, -0.5, 0.1, 1, 4], values: [3, 1, 0.2, -2, -2.5],
     between: cubic, beyond: extend}, mix: {at: [[-1, 0.2, 1], [0, 1, 3]],
     values: [[0, 1, 2], [1, -1, 0], [2, 0.5, 1]], beyond: hold}},
   inputs: {u: {at: [0, 0.4, 0.9, 2.2, 3], values: [1, -1, 0.5, 2, 0]}},
   states: {x: {start: p}, v: 0}, rates: {x: v, v: "spring(x) + 0.2*mix(x, time) + k*u + mod(time, 0.7)"},
   events: [{name: turn, crosses: v}], metrics: {value: {rms: x}, work: {integral: "k*u*v"}}}
END_SPEC
spec noise "k: {range: [30, 50]}, s: {range: [0.5, 1]}" <<'END_SPEC'
duration: 2
dt: 0.005
integrator: sra3
system:
  {parameters: {k: 40, s: 0.8}, states: {z: 1, v: 0, u: 0}, held: {n: 0},
   noise: {v: {size: s, by: w}, u: {size: "-0.3", by: w}}, rates: {z: v, v: "k*(0.5 - z) - v", u: "-u"},
   events: [{name: look, every: 0.0501, set: {n: n + z}}, {name: up, crosses: u - 0.1, set: {v: 0.9*v}}],
   metrics: {value: {mean: z*z}, top: {max: z}}}
END_SPEC
spec map "r: {range: [3, 3.6]}, s: {range: [0.1, 0.5]}" <<'END_SPEC'
duration: 300
system:
  {parameters: {r: 3.5, s: 0.3}, states: {x: 0.4, y: s}, next: {x: "r*x*(1 - x)", y: "0.5*y + 0.1*sin(x)"},
   noise: {x: 0.01*x}, metrics: {value: {mean: y}, end: {final: x*y}}}
END_SPEC

along lorenz
for backend in cpu cuda; do
    "$program" report "c$number" --results "$folder/results" --backend $backend --output "$folder/$backend.html" \
        >>"$folder/log" 2>&1
done
grep -q 'by the adjoint of the run' "$folder/cuda.html" && cmp "$folder/cpu.html" "$folder/cuda.html" >>"$folder/log"
check $? "report of lorenz: gpu = cpu"
along slip
along map
for integrator in euler_maruyama sra3; do
    along noise --set simulation.integrator=$integrator
done
[ -n "${QUICK:-}" ] || integrators="dormand_prince rk4 semi_implicit_euler implicit_midpoint rodas5p"
for integrator in ${integrators:-dormand_prince}; do
    along ball --set simulation.integrator="$integrator"
    along tables --set simulation.integrator="$integrator"
done
printed tables --curve
[ -n "${QUICK:-}" ] && echo "$passed passed, $failed failed" && exit "$((failed > 0))"
same ball --set search.adam.searches=1031 --batch 333 --slice 100
same slip --set search.adam.searches=4001 --set search.adam.stop.iterations=1
same noise --set search.adam.searches=100 --set 'replicates={count: 7, common: false}'
printed noise
same noise --set search.adam.searches=100 --set 'replicates={count: 7, common: false}' \
    --set search.adam.gradient=tangent
same slip --set search.adam.searches=1031 --set search.adam.gradient=tangent --set search.adam.stop.iterations=1 \
    --batch 333 --slice 100
sed 's/method: adam/method: lbfgs/; s/adam: {/lbfgs: {/' "$folder/slip.yaml" >"$folder/slip_lbfgs.yaml"
same slip_lbfgs
# 100,000 steps: segments of the trail are run once more
same lorenz --set simulation.dt=1e-5 --set search.adam.searches=260 --set search.adam.stop.iterations=1
same ball --set simulation.integrator=rk4 --set simulation.dt=2e-5 --set search.adam.searches=260 \
    --set search.adam.stop.iterations=1

# seconds COMMAND...: of all of it
seconds()
{
    begin=$(date +%s%N)
    run "$@"
    echo $((($(date +%s%N) - begin) / 1000000)) | awk '{ printf "%.2f", $1/1000 }'
}
# timed SPEC REPLICATES OPTIONS...: of 65,536 lanes: random trials, and trials of adam with a gradient for each
many=${MANY:-4096} # searches of 16 replicates
timed()
{
    name=$1 replicates=$2
    shift 2
    sed "s/method: adam/method: random, trials: $many/; s/, adam: {.*/}/" "$folder/$name.yaml" >"$folder/plain.yaml"
    for backend in cuda cpu; do
        number=$((number + 1))
        trials=$(seconds "$folder/plain.yaml" --name "t$number" --backend $backend --kernels general "$@" \
            --set "replicates={count: 16$replicates}")
        both=$(seconds "$folder/$name.yaml" --name "b$number" --backend $backend --kernels general "$@" \
            --set "replicates={count: 16$replicates}" --set search.adam.searches="$many" \
            --set search.adam.stop.iterations=1)
        echo "time $name $*: $backend: $((16 * many)) lanes $trials s; as many with a gradient each $both s"
    done
    [ -n "$(digest "b$number")" ] && [ "$(digest "b$((number - 1))")" = "$(digest "b$number")" ]
    check $? "$((16 * many)) gradients of $name: gpu = cpu"
}
if [ -n "${TIMES-1}" ]; then
    timed lorenz ', perturb: {beta: {uniform: [2.6, 2.7]}}'
    sed 's/gradient: adjoint/gradient: tangent/' "$folder/lorenz.yaml" >"$folder/lorenz_tangent.yaml"
    timed lorenz_tangent ', perturb: {beta: {uniform: [2.6, 2.7]}}' # two lanes for each
    timed slip ', perturb: {m: {uniform: [79, 81]}}'
    timed ball ', perturb: {z: {uniform: [0.9, 1.1]}}' --set simulation.integrator=rodas5p
    timed noise ''
fi
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
