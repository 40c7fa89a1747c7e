#!/bin/sh
# Copies in systems (`repeat`, `#`): the same bits as the system that is written out by hand; Lorenz-96, a ring of
# Kuramoto's oscillators and a chain of Fermi, Pasta, Ulam and Tsingou against scipy; what is stored and replayed.
. "$(dirname "$0")/../scratch.sh"
. "$root/tests/equations.sh"

# pieces FORMAT [FIRST LAST]: the text for each number @, with its neighbours @+ and @-
pieces()
{
    for n in $(seq "${2:-1}" "${3:-6}"); do
        printf '%s' "$1" | sed "s/@+/$((n + 1))/g; s/@-/$((n - 1))/g; s/@/$n/g"
    done
}

# same NAME: NAME.yaml and hand.yaml have the same metrics and trajectories of all trials, but for their names
same()
{
    for spec in "$1" hand; do
        rm -rf "results/$spec"
        "$HOPSCOTCH" run "$spec.yaml" --progress none >out 2>err </dev/null || check 1 "run $spec"
        "$HOPSCOTCH" query "$spec" --columns all --format csv >"$spec.rows" 2>err
        "$HOPSCOTCH" replay "$spec/1" -o "$spec.csv" --samples 50 >out 2>err </dev/null ||
            "$HOPSCOTCH" replay "$spec/1" -o "$spec.csv" >out 2>err
    done
    [ "$(wc -l <hand.rows)" -eq 3 ] && cmp "$1.rows" hand.rows >out 2>err
    check $? "$1: metrics and failures of all trials have the bits of the system that is written out"
    [ "$(wc -l <hand.csv)" -gt 20 ] && cmp "$1.csv" hand.csv >out 2>err
    check $? "$1: and so has a trajectory, with the same columns"
}

# ---- everything that has copies -------------------------------------------------------------------------------------

over='{k3: [1, 2]}'
system chain 'duration: 3' 'dt: 0.01' <<'END'
parameters:
  k#: {value: "1 + #/10", range: [0, 9], unit: N/m, doc: "spring # of 6"}
  k5: {value: 2, unit: N/m}
  m: {value: 1, unit: kg}
states: {x#: {repeat: 6, start: "sin(pi*#/7)", unit: m}, v#: {start: 0, unit: m/s}}
held: {hits#: 0, last#: {start: 0, unit: s}}
let: {x0: {value: 0, unit: m}, x7: {value: 0, unit: m}, d#: "x{#+1} - x#"}
rates: {x#: v#, v#: "(k#*d# - k#*(x# - x{#-1}))/m", v6: "-k6*x6/m"}
events:
  - {name: zero#, falls: x#, set: {hits#: hits# + 1, last#: time, "v#j": "v#j*(1 + 0.01*#j)", v#: v#/2}}
  - {name: kick, every: 0.7, set: {v#: v# + 0.01*#, x1: 0.5}}
metrics:
  n#: {count: zero#}
  t#: {at: zero#, value: "time + 0*last#"}
  total: {mean: "sum(#j, m*v#j^2/2) + sum(#j, 2, 5, k#j*(x{#j+1} - x#j)^2/2)"}
  top: {max: "max(#i, x#i)"}
  low: {min: "min(#i, x#i)"}
  spread: {final: "mean(#i, mean(#j, abs(x#i - x#j)))"}
failures: {far#: "x# > 1.6"}
columns: {f#: {repeat: [2, 4], value: "k#*(x{#+1} - x#)", unit: N}}
drawing: [{disc: ["#", x#], radius: 0.1}, {line: [["# - 1", "x{#-1}"], ["#", x#]]}]
END
{
    echo "parameters: {$(pieces 'k@: {value: "1 + @/10", range: [0, 9], unit: N/m}, ' 1 4)"
    echo '  k5: {value: 2, unit: N/m}, k6: {value: "1 + 6/10", range: [0, 9], unit: N/m}, m: {value: 1, unit: kg}}'
    echo "states: {$(pieces 'x@: {start: "sin(pi*@/7)", unit: m}, ')$(pieces 'v@: {start: 0, unit: m/s}, ')}"
    echo "held: {$(pieces 'hits@: 0, ')$(pieces 'last@: {start: 0, unit: s}, ')}"
    echo "let: {x0: {value: 0, unit: m}, x7: {value: 0, unit: m}, $(pieces 'd@: "x@+ - x@", ')}"
    echo "rates: {$(pieces 'x@: v@, ')$(pieces 'v@: "(k@*d@ - k@*(x@ - x@-))/m", ' 1 5)v6: -k6*x6/m}"
    echo 'events:'
    for n in 1 2 3 4 5 6; do
        printf -- '  - {name: zero%s, falls: x%s, set: {hits%s: hits%s + 1, last%s: time' $n $n $n $n $n
        for j in 1 2 3 4 5 6; do
            [ $j -eq $n ] && printf ', v%s: v%s/2' $j $j || printf ', v%s: v%s*(1 + 0.01*%s)' $j $j $j
        done
        echo '}}'
    done
    echo "  - {name: kick, every: 0.7, set: {$(pieces 'v@: v@ + 0.01*@, ')x1: 0.5, $(pieces 'x@: x@, ' 2 2)}}"
    echo 'metrics:'
    pieces '  n@: {count: zero@}
'
    pieces '  t@: {at: zero@, value: "time + 0*last@"}
'
    echo '  total: {mean: "m*v1^2/2 + m*v2^2/2 + m*v3^2/2 + m*v4^2/2 + m*v5^2/2 + m*v6^2/2 +
    (k2*(x3 - x2)^2/2 + k3*(x4 - x3)^2/2 + k4*(x5 - x4)^2/2 + k5*(x6 - x5)^2/2)"}'
    echo '  top: {max: "max(x1, x2, x3, x4, x5, x6)"}'
    echo '  low: {min: "min(x1, x2, x3, x4, x5, x6)"}'
    printf '  spread: {final: "('
    for i in 1 2 3 4 5 6; do
        [ $i -gt 1 ] && printf ' + '
        printf '(abs(x%s - x1) + abs(x%s - x2) + abs(x%s - x3) + abs(x%s - x4) + abs(x%s - x5) + abs(x%s - x6))/6' \
            $i $i $i $i $i $i
    done
    echo ')/6"}'
    echo "failures: {$(pieces 'far@: x@ > 1.6, ')}"
    echo "columns: {$(pieces 'f@: {value: "k@*(x@+ - x@)", unit: N}, ' 2 4)}"
    echo "drawing: [$(pieces '{disc: [@, x@], radius: 0.1}, ')$(pieces '{line: [[@ - 1, x@-], [@, x@]]}, ')]"
} | system hand 'duration: 3' 'dt: 0.01'
same chain
head -n 1 chain.csv | grep -q '^time,x1,x2,x3,x4,x5,x6,v1,.*,hits1,.*,f2,f3,f4$'
check $? "its columns are x1, x2, ..."
"$HOPSCOTCH" replay chain/1 >out 2>err && grep -q 'the same to the bit' out
check $? "what was stored replays to the bit"
for spec in chain hand; do "$HOPSCOTCH" replay $spec/1 --svg $spec.svg >out 2>err; done
sed 's/hand/chain/g' hand.svg | cmp -s - chain.svg
check $? "and its drawing is the same"
grep -q '"x#": {repeat: 6, start: "sin(pi\*#/7)"' results/chain/resolved.yaml
check $? "the resolved spec keeps what was written"
cp results/chain/resolved.yaml again.yaml
"$HOPSCOTCH" run again.yaml --name again --progress none >out 2>err </dev/null &&
    "$HOPSCOTCH" query again --columns all --format csv 2>err | cmp - chain.rows >out
check $? "and reads back to the same campaign"
"$HOPSCOTCH" models chain.yaml >out 2>err && grep -q '^k2 .*spring 2 of 6' out && grep -q '^x4 ' out
check $? "models names parameters and starts of copies"
"$HOPSCOTCH" check chain.yaml --set 'search.over={x4: [0, 1], v2: [0, 1]}' >out 2>err && grep -q 'grid over x4, v2' out
check $? "starts of copies can be searched"
"$HOPSCOTCH" check chain.yaml --set 'search.over={k3: [11]}' >out 2>err
[ $? -ne 0 ] && grep -q 'k3 is 11' err
check $? "within their ranges"

# ---- noise, modes, maps, rings --------------------------------------------------------------------------------------

over='{a2: [0.1, 0.2]}'
system cells 'duration: 2' 'dt: 0.01' 'integrator: sra3' <<'END'
parameters: {a#: {repeat: [0, 3], value: 0.1}}
states: {u#: {repeat: [0, 3], ring: true, start: 0.1*#}}
noise: {u#: {size: 0.1 + 0.1*#, by: gust}, u2: 0.3}
modes:
  on:
    let: {e#: "u{#+1} + u{#-1} - 2*u#"}
    rates: {u#: "e# + a# - e{#+1}/10"}
    events: [{rises: "mean(#j, u#j) - 0.3", to: off}]
  off: {rates: {u#: -u#}, events: [{falls: "sum(#j, 0, 2, u#j) - 0.1", to: on}]}
metrics: {end#: {final: u#}}
END
system hand 'duration: 2' 'dt: 0.01' 'integrator: sra3' <<'END'
parameters: {a0: 0.1, a1: 0.1, a2: 0.1, a3: 0.1}
states: {u0: 0, u1: 0.1, u2: 0.1*2, u3: 0.1*3}
noise: {u0: {size: 0.1, by: gust}, u1: {size: 0.1 + 0.1*1, by: gust}, u2: 0.3, u3: {size: 0.1 + 0.1*3, by: gust}}
modes:
  on:
    let: {e0: u1 + u3 - 2*u0, e1: u2 + u0 - 2*u1, e2: u3 + u1 - 2*u2, e3: u0 + u2 - 2*u3}
    rates: {u0: e0 + a0 - e1/10, u1: e1 + a1 - e2/10, u2: e2 + a2 - e3/10, u3: e3 + a3 - e0/10}
    events: [{rises: (u0 + u1 + u2 + u3)/4 - 0.3, to: off}]
  off: {rates: {u0: -u0, u1: -u1, u2: -u2, u3: -u3}, events: [{falls: u0 + u1 + u2 - 0.1, to: on}]}
metrics: {end0: {final: u0}, end1: {final: u1}, end2: {final: u2}, end3: {final: u3}}
END
same cells

over='{r: [3.7, 3.9]}'
system lattice 'duration: 30' <<'END'
parameters: {r: 3.9, e: 0.1}
states: {x#: {repeat: 5, ring: true, start: 0.1*#}}
let: {f#: r*x#*(1 - x#)}
next: {x#: "(1 - e)*f# + e/2*(f{#+1} + f{# - 1})"}
metrics: {end#: {final: x#}, twins: {first: "min(#j, abs(x#j - x{#j+1})) < 0.01"}}
END
{
    echo 'parameters: {r: 3.9, e: 0.1}'
    echo "states: {$(pieces 'x@: 0.1*@, ' 1 5)}"
    echo "let: {$(pieces 'f@: r*x@*(1 - x@), ' 1 5)}"
    echo 'next: {x1: (1 - e)*f1 + e/2*(f2 + f5), x2: (1 - e)*f2 + e/2*(f3 + f1), x3: (1 - e)*f3 + e/2*(f4 + f2),'
    echo '  x4: (1 - e)*f4 + e/2*(f5 + f3), x5: (1 - e)*f5 + e/2*(f1 + f4)}'
    echo "metrics: {$(pieces 'end@: {final: x@}, ' 1 5)twins: {first:"
    echo '  "min(abs(x1 - x2), abs(x2 - x3), abs(x3 - x4), abs(x4 - x5), abs(x5 - x1)) < 0.01"}}'
} | system hand 'duration: 30'
same lattice

# ---- against scipy --------------------------------------------------------------------------------------------------

over='{F: [8]}'
system lorenz96 'duration: 1' 'tolerance: 1e-12' <<'END'
parameters: {F: 8}
states: {x#: {repeat: 40, ring: true, start: "8 + if(# == 20, 0.01, 0)"}}
rates: {x#: "(x{#+1} - x{#-2})*x{#-1} - x# + F"}
metrics: {end#: {final: x#}, energy: {mean: "sum(#j, x#j^2)/2"}}
END
over='{K: [1.5]}'
system kuramoto 'duration: 20' 'tolerance: 1e-12' <<'END'
parameters: {K: 1, w#: "sin(7*#)"}
states: {th#: {repeat: 30, ring: true, start: "3*cos(5*#)"}}
rates: {th#: "w# + K*(sin(th{#+1} - th#) + sin(th{#-1} - th#))"}
metrics: {end#: {final: th#}, r: {final: "hypot(mean(#j, cos(th#j)), mean(#j, sin(th#j)))"}}
END
system all 'duration: 10' 'tolerance: 1e-12' <<'END'
parameters: {K: 1, w#: "sin(7*#)"}
states: {th#: {repeat: 30, start: "3*cos(5*#)"}}
rates: {th#: "w# + K*mean(#j, sin(th#j - th#))"}
metrics: {end#: {final: th#}, r: {final: "hypot(mean(#j, cos(th#j)), mean(#j, sin(th#j)))"}}
END
over='{b: [0.25]}'
system fput 'duration: 50' 'tolerance: 1e-12' <<'END'
parameters: {b: 0.3}
states: {x#: {repeat: 31, start: "sin(pi*#/32)"}, v#: 0}
let: {x0: 0, x32: 0, d#: {repeat: 32, value: "x# - x{#-1}"}, f#: {repeat: 32, value: "d# + b*d#^3"}}
rates: {x#: v#, v#: "f{#+1} - f#"}
metrics: {end#: {final: x#}, energy: {final: "sum(#j, v#j^2)/2 + sum(#j, d#j^2/2 + b*d#j^4/4)"}}
END
for name in lorenz96 kuramoto all fput; do
    rows $name
    mv rows.csv $name.rows
done
cat >oracle.py <<'END'
import csv, sys
import numpy as np
from scipy.integrate import solve_ivp

def trial(name):
    rows = list(csv.DictReader(open(name + ".rows")))
    assert len(rows) == 1 and rows[0]["failure"] == "none", rows
    return {key: float(text) for key, text in rows[0].items() if key != "failure"}

def end(row, n):
    return np.array([row[f"end{i}"] for i in range(1, n + 1)])

def solve(rates, start, duration):
    return solve_ivp(rates, (0, duration), start, method="DOP853", rtol=1e-13, atol=1e-13).y[:, -1]

def agrees(name, apart, tolerance):
    print(f"{name}: {apart:.2e} apart, at most {tolerance:.0e}")
    global bad
    bad |= not apart <= tolerance

bad = False
row, start = trial("lorenz96"), np.full(40, 8.0)
start[19] += 0.01
rates = lambda t, x: (np.roll(x, -1) - np.roll(x, 2))*np.roll(x, 1) - x + 8
agrees("lorenz96", abs(end(row, 40) - solve(rates, start, 1)).max(), 1e-7) # errors grow 1e4 times
energy = lambda t, y: np.append(rates(t, y[:40]), (y[:40]**2).sum()/2)
agrees("its energy", abs(row["energy"] - solve(energy, np.append(start, 0), 1)[40]), 1e-8)

n = np.arange(1, 31)
for name, coupling, duration in (
    ("kuramoto", lambda x: 1.5*(np.sin(np.roll(x, -1) - x) + np.sin(np.roll(x, 1) - x)), 20),
    ("all", lambda x: 1.5*np.sin(x[None, :] - x[:, None]).mean(1), 10)):
    row = trial(name)
    x = solve(lambda t, x: np.sin(7*n) + coupling(x), 3*np.cos(5*n), duration)
    agrees(name, abs(end(row, 30) - x).max(), 1e-8)
    agrees("its order", abs(row["r"] - abs(np.exp(1j*x).mean())), 1e-8)

def chain(t, y):
    d = np.diff(np.concatenate(([0], y[:31], [0])))
    f = d + 0.25*d**3
    return np.concatenate((y[31:], np.diff(f)))
row, start = trial("fput"), np.concatenate((np.sin(np.pi*np.arange(1, 32)/32), np.zeros(31)))
agrees("fput", abs(end(row, 31) - solve(chain, start, 50)[:31]).max(), 1e-9)
d = np.diff(np.concatenate(([0], start[:31], [0])))
agrees("its energy", abs(row["energy"] - (d**2/2 + 0.25*d**4/4).sum()), 1e-10)
sys.exit(bad)
END
if with_python "copies against scipy" scipy; then
    python3 oracle.py >out 2>err
    check $? "Lorenz-96, Kuramoto's ring and all to all, a chain of Fermi, Pasta, Ulam and Tsingou"
fi

# ---- limits ---------------------------------------------------------------------------------------------------------

# refused TEXT METRIC: more copies than are read, in little time
refused()
{
    timeout 20 "$HOPSCOTCH" check fput.yaml --set "simulation.system.metrics=$2" >out 2>err
    [ $? -eq 1 ] && grep -q "$1" err
    check $? "refused: $1"
}
refused 'there are too many copies' '{m#: {repeat: 250, final: "sum(#j, 1, 4000, 1)"}}'
refused 'there are too many copies' "{m: {final: \"sum(#i, 1, 4000, sum(#j, 1, 0, $(pieces '@ + ' 1 999)1))\"}}"
refused 'there are too many copies' "{m: {final: 1}$(pieces ', m@_#: {repeat: 4096, final: "#"}' 1 40)}"

# ---- metrics of another model ---------------------------------------------------------------------------------------

cat >swing.yaml <<'END'
version: 1
experiment: swing
model: articulated
simulation: {robot: chain.xml, duration: 0.2, dt: 0.002}
metrics:
  a#: {repeat: 3, max: abs(pin#_q)}
  a: {max: "sum(#j, 1, 3, abs(pin{#j}_q))"}
  b: {max: "max(#j, 2, 3, pin{#j}_q)"}
search: {method: grid, over: {pin1_start: [0.1]}}
objective: {minimize: gap_max}
END
cp "$root/experiments/robots/chain.xml" .
rows swing
grep -q '^id,.*,a1,a2,a3,a,b$' rows.csv
check $? "metrics over the columns of another model have copies too"
# `x#j` of an event that is one of copies is all but its own, whether it sets its own or not
over='{p: [0]}' system pulse 'duration: 1' <<'END_OF_SYSTEM'
parameters: {p: 0}
states: {x#: {repeat: 3, start: "#"}}
held: {n#: {repeat: 3, start: 0}}
rates: {x#: 0*p}
events: [{name: hit#, repeat: 3, at: "0.2*#", set: {n#: n# + 1, "x#j": "x#j*2"}}]
metrics: {x: {final: x1 + 10*x2 + 100*x3}, n: {final: n1 + 10*n2 + 100*n3}}
END_OF_SYSTEM
rows pulse
holds 0 x 1284
holds 0 n 111
exit $status
