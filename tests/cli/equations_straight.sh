#!/bin/sh
# Systems in whose steps nothing happens but the step, which many lanes take together (sim/equations/straight.h): every
# trial replays to the bit, where each step is looked at, with any instruction set, batch, slice and kernel. States
# leave the finite numbers within a run of steps, maps even come back; durations that steps do not divide; few steps.
. "$(dirname "$0")/../scratch.sh"
. "$root/tests/equations.sh"

over='{r: {linspace: [20, 30, 83]}}' system lorenz 'duration: 0.7303' 'dt: 1.0e-3' 'integrator: rk4' <<'END_OF_SYSTEM'
parameters: {s: 10, r: 28, b: 2.6666666666666665}
states: {x: 1, y: 1, z: 1}
rates: {x: s*(y - x), y: x*(r - z) - y, z: x*y - b*z}
metrics: {end: {final: x}, height: {mean: z}, size: {rms: x}, area: {integral: y}}
END_OF_SYSTEM
over='{a: {linspace: [0.2, 3, 71]}}' system escape 'duration: 2' 'dt: 2.0e-3' 'integrator: rk4' <<'END_OF_SYSTEM'
parameters: {a: 1}
states: {x: {start: a}, y: 0}
rates: {x: x^2 + 0.1*sin(3*time), y: exp(x) - y}
metrics: {end: {final: x}, height: {mean: y}}
END_OF_SYSTEM
over='{w: {linspace: [0.5, 3, 37]}}' \
    system swing 'duration: 3' 'dt: 3.0e-3' 'integrator: semi_implicit_euler' <<'END_OF_SYSTEM'
parameters: {w: 1, c: 0.1}
let: {drive: "if(sin(w*time) > 0.3, hypot(q, 1), clip(q, -0.2, 0.4))"}
states: {q: 0.4, v: 0, u: 0}
rates: {q: v, v: "-sin(q) - c*v + drive", u: q*v}
metrics: {end: {final: q + u}, work: {integral: abs(v)}, most: {rms: v}}
END_OF_SYSTEM
over='{r: {linspace: [1.5, 2.3, 67]}}' system delayed 'duration: 300' <<'END_OF_SYSTEM'
parameters: {r: 2}
states: {x: 0.3, before: 0.31}
next: {x: "r*x*(1 - before)", before: x}
metrics: {end: {final: x}, mean_x: {mean: x}, all: {integral: before}}
END_OF_SYSTEM
# an infinite number is gone two iterations later: x, 1/x, ...; min takes what is finite
over='{a: {linspace: [-30, 30, 61]}}' system back 'duration: 200' <<'END_OF_SYSTEM'
parameters: {a: 1}
states: {x: {start: a}, n: 0}
next: {x: "if(n = 77 or n = 140, 1/(abs(a) - 5), min(2, max(-2, 1/x)))", n: n + 1}
metrics: {end: {final: x}}
END_OF_SYSTEM

instruction_sets= # that this processor has and the program was built for
for isa in scalar $(vector_isas "$HOPSCOTCH"); do
    "$HOPSCOTCH" run delayed.yaml --name "probe_$isa" --isa "$isa" --progress none >out 2>err </dev/null &&
        instruction_sets="$instruction_sets $isa"
done

# same NAME WHAT [option]...: the digest is $expected
same()
{
    rm -rf "results/$1"
    name=$1 what=$2
    shift 2
    "$HOPSCOTCH" run "$name.yaml" --progress none --backend cpu "$@" >out 2>err </dev/null
    [ "$(digest "$name")" = "$expected" ]
    check $? "$name: the same digest, $what"
}

for name in lorenz escape swing delayed back; do
    rm -rf "results/$name"
    works run "$name.yaml" --progress none --backend cpu --kernels general --threads 1 --batch 1
    expected=$(digest "$name")
    for isa in $instruction_sets; do same "$name" "--isa $isa" --isa "$isa" --kernels general; done
    same "$name" "--batch 13 --slice 7" --batch 13 --slice 7 --kernels general
    same "$name" "--batch 50 --slice 129" --batch 50 --slice 129 --kernels general
    same "$name" "two threads" --threads 2 --kernels general
    same "$name" "made kernels" --kernels made
    for trial in 0 7 20 31 36 worst; do works replay "$name/$trial" --threads 1; done
    has "the same to the bit"
done
rows escape --backend cpu --kernels general
awk -F , 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } { n[$at["failure"]]++ }
    END { exit !(n["none"] > 5 && n["diverged"] > 9) }' rows.csv
check $? "some trials leave the finite numbers, others do not"
rows back --backend cpu --kernels general
awk -F , 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } $at["failure"] == "diverged" { n[$at["survived"]]++ }
    END { exit !(n[77] == 2) }' rows.csv
check $? "an infinite number ends a trial where it comes, though it would be gone later"
# at a limit of steps
sed -i 's/^  dt: .*/&\n  steps: 333/' lorenz.yaml
rows lorenz --backend cpu --kernels general
is failure limit
sed 's/lorenz/short/; s/0\.7303/0.332/; /steps: 333/d' lorenz.yaml >short.yaml
rows short --backend cpu --kernels general
works replay short/3
has "the same to the bit"
exit $status
