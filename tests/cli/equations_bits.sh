#!/bin/sh
# Systems of a spec (model equations) have the same digest whatever the instruction set, the batch, the slice and the
# threads, and after a run that was killed: with modes, events, held numbers, instants, failures, replicates, recorded
# trajectories and tables of events; by each integrator, with noise, and as a map. Trials replay to the bit, and verify
# runs.
. "$(dirname "$0")/../scratch.sh"
. "$root/tests/equations.sh"
over='{k: {linspace: [8000, 30000, 4]}, attack: [60, 64, 68]}' \
    system runner 'duration: 4' 'dt: 2.0e-3' <<'END_OF_SYSTEM'
parameters: {m: 80, k: 20000, l0: 1, g: 9.81, attack: {value: 68, unit: deg}}
states: {x: 0, z: 1, vx: 5, vz: 0}
held: {foot: 0, taken: 0, seen: 0}
let: {angle: attack*pi/180, leg: "hypot(x - foot, z)"}
events: [{name: look, every: 0.05, set: {seen: "tanh(z) + 0.1*seen"}}, {name: once, at: 0.3}]
modes:
  flight:
    rates: {x: vx, z: vz, vx: 0, vz: -g}
    events:
      - {name: touchdown, falls: z - l0*sin(angle), to: stance, set: {foot: x + l0*cos(angle)}}
      - {name: apex, falls: vz, set: {taken: taken + step(z - l0*sin(angle))}}
      - {name: done, rises: taken - 6.5, stop: true}
  stance:
    let: {F: "k*(l0 - leg)"}
    rates: {x: vx, z: vz, vx: F*(x - foot)/(leg*m), vz: F*z/(leg*m) - g}
    events: [{name: liftoff, rises: leg - l0, to: flight}]
metrics:
  steps: {final: taken}
  peak: {max: F, unit: N}
  deepest: {min: leg}
  speed: {mean: vx}
  shake: {rms: vz}
  low: {part: z < 0.9}
  fast: {first: vx > 5.05}
  slow: {last: vx < 4.9}
  apex_z: {at: apex, value: z, take: spread}
  seen_end: {final: seen}
  work: {integral: "abs(sin(x))*exp(-vz^2) + log(1 + z^2) + atan2(vz, vx) + cosh(z)^0.3"}
failures: {fell: z < 0.01, backward: vx < 0, sank: vz < -1e-9 and z < l0*sin(angle) and leg > l0}
columns: {leg: leg, force: F}
END_OF_SYSTEM
cat >>runner.yaml <<'END'
replicates: {count: 3, perturb: {vx: {normal: [5, 0.1]}, z: {uniform: [1, 1.02]}}}
record: {trajectories: {select: {best: 2, failures: 1, every: 5}, events: true, sample: 0.02}}
END
sed -i 's/^objective.*/objective: {maximize: "steps + 0.01*speed", failed: penalty(-1)}\nseed: 5/' runner.yaml
# the same with noise, of a size that depends on states or not, from sources that states share
noise='noise: {vx: {size: 0.2 + 0.1*sin(9*time), by: gust}, vz: {size: 0.1, by: gust}, x: 0.02}'
sed -e 's/^experiment: runner/experiment: gusty/' -e 's/^  dt: .*/  dt: 4.0e-3/' \
    -e "s/^\( *\)metrics:\$/\1$noise\n&/" runner.yaml >gusty.yaml
sed -i 's/^  dt: .*/&\n  refine: 3/' gusty.yaml
sed -e 's/^experiment: gusty/experiment: thermal/' -e 's/x: 0.02}/x: 0.03*abs(vz)}/' gusty.yaml >thermal.yaml
over='{r: {linspace: [2.9, 4, 30]}}' system logistic 'duration: 300' <<'END_OF_SYSTEM'
parameters: {r: 3}
states: {x: 0.3, n: 0}
next: {x: "r*x*(1 - x)", n: n}
events: [{name: high, rises: x - 0.8, set: {n: n + 1}}, {name: look, every: 7}]
metrics: {xn: {final: x}, highs: {final: n}, mean_x: {mean: log(abs(r - 2*r*x))}, top: {max: x}}
END_OF_SYSTEM

sed -e 's/^experiment: logistic/experiment: hazy/' -e 's/^\( *\)metrics:/\1noise: {x: 0.01*(1 - x)}\n&/' logistic.yaml \
    >hazy.yaml
echo 'record: {trajectories: {select: {every: 9}, events: true}}' | tee -a logistic.yaml >>hazy.yaml
echo 'replicates: {count: 2}' >>hazy.yaml

instruction_sets= # that this processor has and the program was built for
for isa in scalar $(vector_isas "$HOPSCOTCH"); do
    "$HOPSCOTCH" run logistic.yaml --name "probe_$isa" --isa "$isa" --progress none >out 2>err </dev/null &&
        instruction_sets="$instruction_sets $isa"
done
echo "   instruction sets:$instruction_sets"

# same NAME WHAT [option]...: the digest is $expected
same()
{
    rm -rf "results/$1"
    name=$1 what=$2
    shift 2
    "$HOPSCOTCH" run "$name.yaml" --progress none "$@" >out 2>err </dev/null
    [ "$(digest "$name")" = "$expected" ]
    check $? "$name: the same digest, $what"
}

for case in runner/dormand_prince runner/rk4 runner/semi_implicit_euler runner/implicit_midpoint runner/rodas5p \
    gusty/sra3 gusty/euler_maruyama thermal/euler_maruyama logistic/ hazy/; do
    name=${case%/*} integrator=${case#*/}
    set --
    [ -z "$integrator" ] || set -- --set "simulation.integrator=$integrator"
    rm -rf "results/$name"
    "$HOPSCOTCH" run "$name.yaml" --progress none "$@" --isa scalar --batch 1 --threads 1 >out 2>err </dev/null
    check $? "$name, $integrator, is run"
    expected=$(digest "$name")
    for isa in $instruction_sets; do same "$name" "$integrator --isa $isa" "$@" --isa "$isa"; done
    same "$name" "$integrator --batch 2 --slice 3" "$@" --batch 2 --slice 3
    same "$name" "$integrator --batch 7 --threads 2" "$@" --batch 7 --threads 2
    same "$name" "$integrator --batch 64 --slice 1000" "$@" --batch 64 --slice 1000
    for trial in 0 5 best; do works replay "$name/$trial" --isa scalar --threads 1; done
    has "the same to the bit"
    # killed at a moment that the machine chooses, twice
    rm -rf "results/$name"
    for moment in 0.05 0.15; do
        "$HOPSCOTCH" run "$name.yaml" --progress none "$@" --batch 2 --threads 1 >out 2>err </dev/null &
        pid=$!
        sleep $moment
        kill -9 $pid 2>/dev/null
        wait $pid 2>/dev/null
        pid=
    done
    "$HOPSCOTCH" run "$name.yaml" --progress none "$@" --batch 5 >out 2>err </dev/null
    [ "$(digest "$name")" = "$expected" ]
    check $? "$name, $integrator: the same digest after it was killed twice"
done
rows runner
awk -F , 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } { n[$at["n_failed"]]++ }
    END { for (k in n) kinds++; exit kinds < 2 }' rows.csv
check $? "some replicates fail, others do not"
works verify runner --seeds 3 --progress none
works doctor runner
lacks FINDING
exit $status
