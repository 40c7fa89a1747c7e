#!/bin/sh
# Systems of a spec (model equations) against closed forms: an oscillator, what metrics reduce, instants, ends,
# balls that bounce to their last bounce, a rimless wheel, maps.
. "$(dirname "$0")/../scratch.sh"
. "$root/tests/equations.sh"

# ---- an oscillator: x = exp(-a t) (cos w t + a/w sin w t) -----------------------------------------------------------

over='{b: [0, 1, 5], k: [100, 150]}' system spring 'duration: 2' 'tolerance: 1e-11' <<'END_OF_SYSTEM'
parameters: {k: {value: 100, unit: N/m}, b: 1}
states: {x: {start: 1, unit: m}, v: 0}
rates: {x: v, v: "-k*x - b*v"}
events: [{name: zero, crosses: x}, {name: down, falls: x}]
metrics:
  x_rms: {rms: x}
  x_mean: {mean: x}
  x_sum: {integral: x}
  dissipated: {integral: "b*v^2"}
  x_end: {final: x}
  x_min: {min: x}
  x_max: {max: x}
  zeros: {count: zero}
  downs: {count: down}
  first_zero: {at: zero, value: time, take: first}
  last_zero: {at: zero, value: time}
  speed: {at: zero, value: abs(v), take: max}
END_OF_SYSTEM
for integrator in dormand_prince rodas5p; do
    rows spring --set "simulation.integrator=$integrator"
    awk -F , 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; print $0 ",w,a,r,d"; next }
        { a = $at["b"]/2; w = sqrt($at["k"] - a*a)
          printf "%s,%.17g,%.17g,%.17g,%.17g\n", $0, w, a, a/w, exp(-2*a) }' rows.csv >more.csv
    mv more.csv rows.csv
    x='d*(cos(2*w) + r*sin(2*w))' v='-k/w*d*sin(2*w)'
    holds 1e-9 x_end "$x" "$integrator"
    holds 1e-9 x_min "-exp(-a*pi/w)" "$integrator"
    holds 1e-9 x_max 1 "$integrator"
    holds 1e-9 x_mean "-($v + b*($x - 1))/(2*k)" "$integrator"
    holds 1e-9 x_sum "-($v + b*($x - 1))/k" "$integrator"
    holds 1e-9 dissipated "(k - k*($x)^2 - ($v)^2)/2" "$integrator"
    even='(a > 0 ? (1 - d*d)/(2*a) : 2)' size='(4*a*a + 4*w*w)'
    cosine="(2*a + d*d*(2*w*sin(4*w) - 2*a*cos(4*w)))/$size" sine="(2*w - d*d*(2*a*sin(4*w) + 2*w*cos(4*w)))/$size"
    holds 1e-9 "2*x_rms^2" "(1 + r*r)/2*$even + (1 - r*r)/2*$cosine + r*$sine" "$integrator"
    holds 1e-9 first_zero "atan2(w, -a)/w" "$integrator"
    holds 0 zeros "int((2*w - atan2(w, -a))/pi) + 1" "$integrator"
    holds 0 downs "int((2*w - atan2(w, -a))/2/pi) + 1" "$integrator"
    holds 1e-9 last_zero "first_zero + (zeros - 1)*pi/w" "$integrator"
    holds 1e-9 speed "k/w*exp(-a*first_zero)*sin(w*first_zero)" "$integrator"
done

# ---- what metrics reduce: x = sin t ---------------------------------------------------------------------------------

system sine 'duration: 10' 'tolerance: 1e-11' <<'END_OF_SYSTEM'
parameters: {p: 0}
states: {x: 0, v: 1}
held: {n: 0}
rates: {x: v, v: -x}
events: [{name: down, falls: x, set: {n: n + 1}}, {name: both, crosses: x}, {name: never, rises: x - 2}]
metrics:
  low: {first: x < -0.5}
  high: {last: x > 0.9}
  half: {part: x > 0.5}
  quarter: {part: x > 0 and v < 0}
  other: {part: not (x > 0 and v < 0)}
  always: {part: n >= 0}
  twice: {first: n >= 2}
  no: {first: x > 1.5}
  product: {max: x*v}
  least: {min: x*v}
  cubic: {max: "x + 0.3*x^3"}
  start_is_least: {min: time + 0.1*x}
  end_is_greatest: {max: time + 0.1*x}
  t_first: {at: down, value: time, take: first}
  t_last: {at: down, value: time, take: last}
  t_mean: {at: down, value: time, take: mean}
  t_min: {at: down, value: time, take: min}
  t_max: {at: down, value: time, take: max}
  t_spread: {at: down, value: time, take: spread}
  before: {at: down, value: n, take: last}
  behind: {after: down, value: n, take: last}
  downs: {count: down}
  all: {count: both}
  none: {count: never}
  missing: {at: never, value: x}
END_OF_SYSTEM
for integrator in dormand_prince rodas5p; do
    rows sine --set "simulation.integrator=$integrator"
    asin='atan2(0.9, sqrt(1 - 0.81))'
    holds 1e-9 low '7*pi/6'
    holds 1e-9 high "3*pi - $asin"
    holds 1e-9 half 'pi*4/30'
    holds 1e-9 quarter 'pi/10'
    holds 1e-9 other '1 - pi/10'
    holds 0 always 1
    holds 1e-9 twice '3*pi'
    is no ''
    holds 1e-9 product 0.5
    holds 1e-9 least -0.5
    holds 1e-9 cubic 1.3
    holds 0 start_is_least 0
    holds 1e-9 end_is_greatest '10 + 0.1*sin(10)'
    holds 1e-9 t_first pi
    holds 1e-9 t_last '3*pi'
    holds 1e-9 t_mean '2*pi'
    holds 1e-9 t_min pi
    holds 1e-9 t_max '3*pi'
    holds 1e-9 t_spread '2*pi'
    holds 0 before 1
    holds 0 behind 2
    holds 0 downs 2
    holds 0 all 3
    holds 0 none 0
    is missing ''
done

# steps of dt that are longer than a trial simulate no more than it takes
system one 'duration: 1' 'dt: 1.0e+9' <<'END_OF_SYSTEM'
parameters: {p: 0}
states: {x: 1}
rates: {x: -x}
END_OF_SYSTEM
rm -rf results/one
works run one.yaml --progress plain
awk '/simulated s\/s/ { for (i = 2; i <= NF; i++) if ($i == "simulated") { rate = $(i - 1); seen = 1 } }
    END { exit !seen || rate ~ /[MGT?]$/ }' out err
check $? "simulated s/s are those of the duration"

# ---- instants and ends ----------------------------------------------------------------------------------------------

# sample and hold: x' = u, u = -4 x every 0.1 s
over='{gain: [2, 4, 12]}' system sampled 'duration: 1.05' 'tolerance: 1e-9' <<'END_OF_SYSTEM'
parameters: {gain: 4, T: 0.1}
states: {x: 1, w: 0, s: 1}
held: {u: 0, a: 0}
rates: {x: u, w: s, s: a}
events:
  - {name: sample, every: T, set: {u: -gain*x, a: "-w - s"}}
  - {name: look, at: 0.35}
  - {name: begin, at: 0}
  - {name: too_late, at: 2}
metrics:
  x_end: {final: x}
  w_end: {final: w}
  samples: {count: sample}
  looks: {count: look}
  begins: {count: begin}
  lates: {count: too_late}
  x_then: {at: look, value: x}
  t_then: {at: look, value: time}
END_OF_SYSTEM
for integrator in dormand_prince rk4 semi_implicit_euler implicit_midpoint rodas5p; do
    rows sampled --set "simulation.integrator=$integrator" --set simulation.dt=0.03
    holds 1e-12 x_end '(1 - gain*0.1)^10*(1 - gain*0.05)' "$integrator"
    holds 0 samples 11 "$integrator"
    holds 0 'looks*10 + begins' 11 "$integrator"
    holds 0 lates 0 "$integrator"
    holds 0 t_then 0.35 "$integrator"
    holds 1e-12 x_then '(1 - gain*0.1)^3*(1 - gain*0.05)' "$integrator"
    [ "$integrator" = semi_implicit_euler ] && continue
    discrete=$(awk 'BEGIN { w = 0; s = 1
        for (i = 0; i < 11; i++) { a = -w - s; T = i < 10 ? 0.1 : 0.05; w += T*s + a*T*T/2; s += T*a }
        printf "%.17g", w }')
    holds 1e-12 w_end "$discrete" "$integrator"
done

# a run has the instants from 0 on without its end, and the rows of inputs too; one behind the end does not happen
system until 'duration: 1' <<'END_OF_SYSTEM'
parameters: {p: 0}
inputs: {u: {at: [0, 0.5, 1], values: [-1, 1, 3], between: held}}
states: {x: 0}
held: {n: 0}
rates: {x: u}
events:
  - {name: tick, every: 0.25, set: {n: n + 1}}
  - {name: last, at: 1}
  - {name: behind, at: 0.7 + p + 0.5}
  - {name: jump, rises: u - 2}
  - {name: first_jump, rises: u}
metrics: {ticks: {count: tick}, lasts: {count: last}, behinds: {count: behind}, jumps: {count: jump},
  first_jumps: {count: first_jump}, n_end: {final: n}, u_end: {final: u}}
END_OF_SYSTEM
for integrator in dormand_prince rk4 semi_implicit_euler implicit_midpoint rodas5p; do
    rows until --set "simulation.integrator=$integrator" --set simulation.dt=0.05
    holds 0 'ticks*10 + n_end' 44 "$integrator"
    holds 0 'lasts + behinds + jumps' 0 "$integrator"
    holds 0 'first_jumps*10 + u_end' 11 "$integrator"
done
# instants that a trial's parameters make wrong: the trial fails at once
over='{T: [-0.5, 0, 0.5], once_at: [-1, 0, 2]}' system wrong 'duration: 1' <<'END_OF_SYSTEM'
parameters: {T: 1, once_at: 0}
states: {x: 0}
rates: {x: 1}
events: [{name: tick, every: T}, {name: once, at: once_at}]
metrics: {ticks: {count: tick}, onces: {count: once}}
END_OF_SYSTEM
rows wrong
holds 0 'failure == "instant"' '(T <= 0 || once_at < 0)'
holds 0 survived 'T > 0 && once_at >= 0'
holds 0 'ticks*10 + onces' 'failure == "none" ? 20 + (once_at == 0) : 0'
sed 's/every: T/every: -1/' wrong.yaml >every.yaml
refused check every.yaml
has "every must be greater than 0 s" err
sed 's/at: once_at/at: 0 - 1/' wrong.yaml >at.yaml
refused check at.yaml
has "at must not be negative" err
# of a map too
over='{T: [-1, 0, 0.5, 2]}' system wrong_map 'duration: 4' <<'END_OF_SYSTEM'
parameters: {T: 1}
states: {n: 0}
next: {n: n + 1}
events: [{name: tick, every: T}]
metrics: {ticks: {count: tick}}
END_OF_SYSTEM
rows wrong_map
holds 0 'failure == "instant"' 'T <= 0'
holds 0 ticks 'T > 0 ? 4/(T < 1 ? 1 : T) : 0'

# an event a little before an instant, and many instants
system instants 'duration: 500' 'dt: 1' 'steps: 1e9' <<'END_OF_SYSTEM'
parameters: {p: 0, T: 1.0e-4}
states: {x: 0}
held: {u: 0}
rates: {x: 1}
events: [{name: tick, every: T, set: {u: u + 1}}, {name: near, rises: "x - 0.00499999999999"}]
metrics: {ticks: {count: tick}, final_u: {final: u}, nears: {count: near}}
END_OF_SYSTEM
instants=500
[ -z "${QUICK:-}" ] || instants=10
rows instants --set "simulation.duration=$instants"
holds 0 ticks "$instants*10000"
holds 0 final_u "$instants*10000"
holds 0 nears 1

# periods of which some multiples are equal but for rounding: one instant, in the order of the spec
system together 'duration: 1.2' <<'END_OF_SYSTEM'
parameters: {p: 0}
states: {x: 0}
held: {n: 0, m: 0}
rates: {x: 1}
events:
  - {name: fast, every: 0.1, set: {n: n + 1}}
  - {name: slow, every: 0.3, set: {m: m + n}}
  - {name: near, rises: x - 0.3, set: {m: m}}
  - {name: also, rises: x - 0.7, set: {n: n}}
  - {name: six, at: 0.6}
  - {name: seven, at: 0.1*7}
metrics:
  fasts: {count: fast}
  slows: {count: slow}
  m_end: {final: m}
  n_six: {at: six, value: n}
  n_seven: {at: seven, value: n}
END_OF_SYSTEM
rows together
holds 0 'fasts*10 + slows' 124
holds 0 m_end 22
holds 0 'n_six*10 + n_seven' 78

# what is due at an instant happens, also behind an event that leaves the mode
system leaving 'duration: 10.25' <<'END_OF_SYSTEM'
parameters: {p: 0}
states: {x: 0.1}
held: {n: 0}
rates: {x: 1}
modes:
  a: {events: [{name: ab, every: 1, to: b}, {name: in_a, every: 1}]}
  b: {events: [{name: ba, every: 1, to: a}]}
events: [{name: tick, every: 0.5, set: {n: n + 1}}, {name: once, at: 5}]
metrics: {ticks: {count: tick}, n_end: {final: n}, onces: {count: once}, leaves: {count: ab}, own: {count: in_a},
  returns: {count: ba}}
END_OF_SYSTEM
rows leaving
holds 0 ticks 21
holds 0 n_end 21
holds 0 onces 1
holds 0 leaves 6
holds 0 own 6
holds 0 returns 5
system both 'duration: 10.25' <<'END_OF_SYSTEM'
parameters: {p: 0}
states: {x: 0.1}
rates: {x: 1}
modes:
  a: {events: [{name: ab, rises: "sin(2*pi*x)", to: b}]}
  b: {events: [{name: ba, falls: "sin(2*pi*x)", to: a}]}
events: [{name: tick, rises: "sin(2*pi*x)"}]
metrics: {ticks: {count: tick}, leaves: {count: ab}}
END_OF_SYSTEM
rows both
holds 0 ticks 10
holds 0 leaves 10
# a guard of all modes is one guard: it counts the same whether its mode changes, at its zero too, or does not; so does
# one that `set` takes to its other side, or to 0
common='parameters: {p: 0}
states: {x: 0, s: -1}
held: {j: 1, u: -1}
rates: {x: 1, s: 1}
events:
  - {name: up, rises: "sin(2*pi*x)"}
  - {name: down, falls: "sin(2*pi*x)"}
  - {name: flips, rises: j}
  - {name: late, rises: s - 0.2}
  - {name: zero, rises: s}
  - {name: fall, falls: s - 0.2}
metrics: {ups: {count: up}, downs: {count: down}, flips: {count: flips}, lates: {count: late}, zeros: {count: zero},
  falls: {count: fall}, first_up: {at: up, value: time, take: first}, last_down: {at: down, value: time}}'
printf '%s\n' "$common" | sed 's/^events:/&\n  - {name: switch, every: 0.5, set: {j: -j, s: 0}}/' |
    system alone 'duration: 10.25'
printf '%s\n' "$common" | sed "s/^events:/modes:\\
  a: {events: [{name: switch, every: 0.5, set: {j: -j, s: 0}, to: b}]}\\
  b: {events: [{name: switch, every: 0.5, set: {j: -j, s: 0}, to: a}]}\\
&/" | system switched 'duration: 10.25'
for integrator in dormand_prince rk4 semi_implicit_euler implicit_midpoint rodas5p; do
    for of in alone switched; do
        rows $of --set "simulation.integrator=$integrator" --set simulation.dt=0.01
        holds 0 ups 10 "$integrator, $of"
        holds 0 downs 10 "$integrator, $of"
        holds 0 flips 10 "$integrator, $of"
        holds 0 'lates*100 + falls' 2120 "$integrator, $of"
        holds 0 zeros 1 "$integrator, $of"
        holds 1e-12 first_up 1 "$integrator, $of"
        holds 1e-12 last_down 9.5 "$integrator, $of"
    done
done
# with noise, on the same path
for of in alone switched; do
    sed -e 's/^experiment:.*/experiment: noisy/' -e 's/^    rates:.*/&\n    noise: {x: 0.3}/' \
        -e 's/^  duration.*/&\n  integrator: sra3\n  dt: 0.01/' $of.yaml >noisy.yaml
    rows noisy
    "$HOPSCOTCH" query noisy --columns ups,downs,flips,lates,zeros,falls --format csv >noisy_$of.csv
done
cmp -s noisy_alone.csv noisy_switched.csv && [ "$(cut -d , -f 2 noisy_alone.csv | tail -n 1)" -gt 5 ]
check $? "with noise a guard of all modes counts the same"
# guards of two modes are two: each stands where its mode begins
system others 'duration: 10.25' <<'END_OF_SYSTEM'
parameters: {p: 0}
states: {x: 0}
rates: {x: 1}
modes:
  a: {let: {g: "x - 100"}, rates: {x: g - x + 101}, events: [{name: ab, every: 1, to: b}, {rises: g}]}
  b: {let: {g: "x + 100"}, rates: {x: g - x - 99}, events: [{name: ba, every: 1, to: a}, {name: up, rises: g}]}
metrics: {ups: {count: up}, x_end: {final: x}}
END_OF_SYSTEM
rows others
holds 0 ups 0
holds 1e-12 x_end 10.25
# a pulse-width modulation that is always on: its guard meets the clock within rounding; the last `to` decides
over='{D: [0.5, 0.9, 1]}' system pulses 'duration: 20.05' <<'END_OF_SYSTEM'
parameters: {T: 0.1, D: 1}
states: {x: 0}
held: {t0: 0}
modes:
  on: {rates: {x: 1}, events: [{name: off, rises: "time - t0 - D*T", to: off}]}
  off: {rates: {x: -1}}
events: [{name: clock, every: T, to: on, set: {t0: time}}]
metrics: {clocks: {count: clock}, x_end: {final: x}}
END_OF_SYSTEM
rows pulses
holds 0 clocks 201
holds 1e-9 x_end '20*(2*D - 1) + 0.05'

# of length 0 it never ends, because its guard has not passed 0: check and run say so, and of which trials
over='{D: {linspace: [0, 1, 11]}}' system duty 'duration: 20.05' <<'END_OF_SYSTEM'
parameters: {T: 0.1, D: 1}
states: {x: 0, z: 1}
held: {t0: 0}
modes:
  on: {rates: {x: 1, z: -x}, events: [{name: off, rises: "time - t0 - D*T", to: off}, {name: low, falls: z}]}
  off: {rates: {x: -1, z: 1}}
events: [{name: clock, every: T, to: on, set: {t0: time, z: 0}}]
metrics: {x_end: {final: x}}
END_OF_SYSTEM
warning='clock sets the guard of off to 0 in on: off does not happen then, because its guard rises from 0'
works check duty.yaml
has "$warning"
has 'and has not passed it (1 of 11 trials, such as T = 0.1, D = 0)'
lacks 'the guard of low'
works run duty.yaml --progress none
has "$warning" err
sed 's/linspace: \[0, 1, 11\]/linspace: [0.1, 1, 10]/' duty.yaml >some_duty.yaml
works check some_duty.yaml
lacks "$warning"
# in one mode, where the guard may have been on its other side; the search learns, and looks at drawn points
over='{D: [0, 0.5]}' system one_mode 'duration: 1.05' <<'END_OF_SYSTEM'
parameters: {T: 0.1, D: 1}
states: {x: 0}
held: {t_off: 0, u: 0}
rates: {x: u}
events:
  - {name: clock, every: T, set: {t_off: time + D*T, u: 1}}
  - {name: ends, falls: t_off - time, set: {u: 0}}
END_OF_SYSTEM
works check one_mode.yaml
has 'clock sets the guard of ends to 0: ends does not happen then, because its guard falls from 0'
has 'has not passed it, unless it was above 0 before (1 of 2 trials'

over='{limit: [0.25, 0.5, 2]}' system ends 'duration: 1' <<'END_OF_SYSTEM'
parameters: {limit: 0.5}
states: {x: 0}
rates: {x: 1}
events: [{name: done, rises: x - limit, stop: true}]
metrics: {x_end: {final: x}}
failures: {over: x > 0.75}
END_OF_SYSTEM
rows ends
holds 1e-12 survived 'limit < 0.75 ? limit : 0.75'
holds 1e-12 x_end 'survived'
holds 0 'failure == "over"' 'limit > 0.75'
sed 's/stop: true/fail: lost/; s/: ends/: fails/' ends.yaml >fails.yaml
rows fails
holds 0 'failure == "lost"' 'limit < 0.75'

# held numbers: what another event sets turns a guard at that instant, once; comparisons tell >= from >
system held 'duration: 10' <<'END_OF_SYSTEM'
parameters: {p: 0}
states: {x: 0}
held: {n: 0}
rates: {x: 0}
events: [{name: tick, every: 1, set: {n: n + 1}}, {name: three, rises: n - 3}, {name: half, rises: n - 3.5}]
metrics:
  threes: {count: three}
  at_three: {at: three, value: time}
  halves: {count: half}
  at_half: {at: half, value: n}
  least: {first: n >= 3}
  more: {first: n > 3}
  most: {last: n <= 3}
  less: {last: n < 3}
  equal: {part: n = 3}
  zero: {part: x >= 0}
  positive: {part: x > 0}
END_OF_SYSTEM
rows held
holds 0 'threes*10 + halves' 11
holds 0 at_three 2
holds 0 at_half 4
holds 0 least 2
holds 0 more 3
holds 0 most 3
holds 0 less 2
holds 1e-15 equal 0.1
holds 0 'zero*10 + positive' 10

# two guards that turn close to each other, both counted
over='{apart: [0, 1.0e-15, 1.0e-13, 1.0e-12, 1.0e-10, 1.0e-8, 1.0e-6, 1.0e-4, 1.0e-2]}'
export over
system close 'duration: 100' 'tolerance: 1e-6' <<'END_OF_SYSTEM'
parameters: {apart: 0}
states: {x: 1, v: 0}
rates: {x: v, v: -x}
events: [{name: a, crosses: x}, {name: b, crosses: x + apart}, {name: c, falls: x - apart}]
metrics: {as: {count: a}, bs: {count: b}, cs: {count: c}}
END_OF_SYSTEM
unset over
for integrator in dormand_prince rk4 semi_implicit_euler implicit_midpoint rodas5p; do
    rows close --set "simulation.integrator=$integrator" --set simulation.dt=0.02
    holds 0 'as*10000 + bs*100 + cs' 323216 "$integrator"
done

# guards that change faster than the state: the steps follow them
system fast_guards 'duration: 10' <<'END_OF_SYSTEM'
parameters: {p: 0}
states: {x: 0}
rates: {x: 1}
events:
  - {name: by_time, crosses: sin(10*time)}
  - {name: by_state, rises: sin(10*x) - 0.9}
  - {name: saw, falls: "mod(x + 0.1, 1) - 0.5"}
  - {name: square, crosses: step(sin(5*x + 0.3)) - 0.5}
metrics:
  times: {count: by_time}
  states: {count: by_state}
  saws: {count: saw}
  squares: {count: square}
  positive: {part: sin(10*time) > 0}
  least: {first: sin(10*x) < -0.99}
END_OF_SYSTEM
for integrator in dormand_prince rodas5p; do
    rows fast_guards --set "simulation.integrator=$integrator"
    holds 0 'times*100 + states' 3116 "$integrator"
    holds 0 'saws*100 + squares' 1016 "$integrator"
    holds 1e-9 positive '16*pi/100' "$integrator"
    holds 1e-9 least "(pi + atan2(0.99, sqrt(1 - 0.99^2)))/10" "$integrator"
done

# extrema of what changes faster than the state, and of what bends
system peaks 'duration: 10' <<'END_OF_SYSTEM'
parameters: {p: 0}
states: {x: 0}
rates: {x: 1}
metrics:
  top: {max: "sin(10*x)*(1 + 0.01*x)"}
  low: {min: sin(10*time)}
  bent: {min: abs(x - 4.321)}
  peak: {max: 2 - abs(sin(x) - 0.1)}
END_OF_SYSTEM
for integrator in dormand_prince rodas5p; do
    rows peaks --set "simulation.integrator=$integrator"
    holds 1e-9 top '1.0958185759344887 + 1e-4/200/1.0958185759344887' "$integrator"
    holds 1e-9 low -1 "$integrator"
    holds 1e-3 bent 0 "$integrator"
    holds 1e-3 peak 2 "$integrator"
done

# integrals that change faster than the state, cancel to rounding, bend and jump
system sums 'duration: 10' <<'END_OF_SYSTEM'
parameters: {p: 0}
states: {x: 0, y: 1}
rates: {x: 1, y: -y}
metrics:
  fast: {integral: sin(10*time)^2}
  bent: {mean: abs(sin(x))}
  square: {rms: step(sin(5*x))}
  nothing: {integral: 1000*x - 1000*time}
  tiny: {integral: "1e-30*sin(x)"}
  undefined: {integral: sqrt(5 - x)}
  y_end: {final: y}
END_OF_SYSTEM
for integrator in dormand_prince rodas5p; do
    for tolerance in 1e-6 1e-9 1e-12; do
        rows sums --set "simulation.integrator=$integrator" --set "simulation.tolerance=$tolerance"
        near=$(awk -v tolerance=$tolerance 'BEGIN { print 20*tolerance + 1e-9 }')
        is failure none "$integrator, tolerance $tolerance"
        holds "$near" fast '5 - sin(200)/40' "$integrator, tolerance $tolerance"
        holds "$near" bent '(7 + cos(10))/10' "$integrator, tolerance $tolerance"
        holds "20*$near" '10*square^2' '8*pi/5' "$integrator, tolerance $tolerance"
        is undefined '' "$integrator, tolerance $tolerance"
        holds "$near" '1000*y_end' '1000*exp(-10)' "$integrator, tolerance $tolerance"
        holds 1e-9 nothing 0 "$integrator, tolerance $tolerance"
        holds 1e-9 '1e30*tiny' '1 - cos(10)' "$integrator, tolerance $tolerance"
    done
done

# what is stored means the same when it is read: -0 is 0
system zero 'duration: 1' <<'END_OF_SYSTEM'
parameters: {p: 0, q: -0.0}
states: {x: -0.0}
rates: {x: 1}
END_OF_SYSTEM
rows zero
works digest zero

# ---- a ball bounces: t0 = sqrt(2 h/g), bounce n at t0 (1 + 2 e (1 - e^(n-1))/(1 - e)) ------------------------------

over='{e: [0.5, 0.8, 0.9], ground: [0, -3, 10]}' system ball 'duration: 3' 'tolerance: 1e-9' <<'END_OF_SYSTEM'
parameters: {g: 9.81, e: 0.8, ground: 0}
states: {z: {start: ground + 1}, v: 0}
rates: {z: v, v: -g}
events: [{name: bounce, falls: z - ground, set: {v: -e*v}}]
metrics:
  bounces: {count: bounce}
  top: {max: z}
  lowest: {min: z}
  last_bounce: {at: bounce, value: time}
  speed: {after: bounce, value: v, take: first}
  path: {integral: abs(v)}
END_OF_SYSTEM
t0='sqrt(2/9.81)'
for integrator in dormand_prince rk4 implicit_midpoint rodas5p semi_implicit_euler; do
    rows ball --set "simulation.integrator=$integrator" --set simulation.dt=0.01 --set 'search.over.e=[0.8, 0.9]'
    is failure none "$integrator"
    holds 1e-3 'lowest - ground' 0 "$integrator"
    [ "$integrator" = semi_implicit_euler ] && continue
    holds 0 bounces "1 + int(log(1 - (3/$t0 - 1)*(1 - e)/(2*e))/log(e))" "$integrator"
    holds 1e-9 last_bounce "$t0*(1 + 2*e*(1 - e^(bounces - 1))/(1 - e))" "$integrator"
    holds 1e-12 speed 'e*sqrt(2*9.81)' "$integrator"
    holds 1e-9 top 'ground + 1' "$integrator"
    holds 1e-9 'lowest - ground' 0 "$integrator"
    # also where the bounces accumulate, at t0 (1 + e)/(1 - e)
    rows ball --set "simulation.integrator=$integrator" --set simulation.dt=0.01 --set simulation.duration=20 \
        --set 'search.over.e=[0, 0.1, 0.5, 0.8, 0.9]'
    is failure zeno "$integrator"
    holds 1e-6 survived "$t0*(1 + e)/(1 - e)" "$integrator"
    holds 1e-9 'lowest - ground' 0 "$integrator"
done
rows ball --set simulation.integrator=semi_implicit_euler --set simulation.dt=0.01 --set simulation.duration=20 \
    --set 'search.over.e=[0, 0.1, 0.5, 0.8]'
is failure zeno semi_implicit_euler
holds 1e-9 'lowest - ground' 0 semi_implicit_euler

# times need not be seconds: the same in 1e-8 of the time
over='{e: [0.5]}' system fast 'duration: 3.0e-8' 'tolerance: 1e-9' <<'END_OF_SYSTEM'
parameters: {e: 0.5}
states: {z: {start: 1}, v: {start: 0, scale: 1.0e8}}
rates: {z: v, v: -9.81e16}
events: [{name: bounce, falls: z, set: {v: -e*v}}]
metrics: {bounces: {count: bounce}}
END_OF_SYSTEM
rows fast
is failure zeno
holds 1e-6 '1e8*survived' "$t0*3"

# Events that follow each other within 1e-7 of the duration are too many after 10,000 in a row; farther apart, never.
over='{w: [1.0e-8, 5.0e-8, 2.0e-7]}' system crowd 'duration: 1' <<'END_OF_SYSTEM'
parameters: {w: 1.0e-8}
states: {x: 0}
held: {next: {start: w}}
rates: {x: 1}
events: [{name: tick, rises: x - next, set: {next: next + w}}, {name: enough, rises: x - 0.00999995, stop: true}]
metrics: {ticks: {count: tick}}
END_OF_SYSTEM
rows crowd --set 'search.over.w=[1.0e-8, 5.0e-8]'
is failure zeno
holds 0 ticks 10002
rows crowd --set 'search.over.w=[2.0e-7]'
is failure none
holds 0 ticks 49999

# ---- a rimless wheel: its speed squared after a step is cos(2 a)^2 (w^2 + 4 g/l sin a sin slope) -------------------

over='{slope: [0.02, 0.05, 0.1], w: [0.9, 2]}' system wheel 'duration: 20' 'tolerance: 1e-11' <<'END_OF_SYSTEM'
parameters: {slope: 0.05, half: 0.2, gl: 9.81}
states: {th: slope - half, w: 1}
rates: {th: w, w: gl*sin(th)}
events:
  - {name: step, rises: th - slope - half, set: {th: slope - half, w: w*cos(2*half)}}
  - {name: back, falls: th - slope + half, fail: fell}
metrics: {steps: {count: step}, speed: {after: step, value: w}, w_first: {after: step, value: w, take: first}}
END_OF_SYSTEM
rows wheel
holds 1e-9 'w_first^2' 'cos(0.4)^2*(w^2 + 4*9.81*sin(0.2)*sin(slope))'
c='cos(0.4)^2' gain='4*9.81*sin(0.2)*sin(slope)'
holds 1e-9 'speed^2' "($c)^steps*w^2 + $gain*$c*(1 - ($c)^steps)/(1 - $c)" 'after all steps'

# ---- maps -----------------------------------------------------------------------------------------------------------

over='{r: [2.8, 3.2, 3.5, 3.55]}' system logistic 'duration: 20000' <<'END_OF_SYSTEM'
parameters: {r: 3}
states: {x: 0.3, x1: 0, x2: 0, x3: 0, x4: 0, x5: 0, x6: 0, x7: 0, x8: 0}
next: {x: "r*x*(1 - x)", x1: x, x2: x1, x3: x2, x4: x3, x5: x4, x6: x5, x7: x6, x8: x7}
metrics:
  xn: {final: x}
  d1: {final: x - x1}
  d2: {final: x - x2}
  d4: {final: x - x4}
  d8: {final: x - x8}
END_OF_SYSTEM
rows logistic
holds 1e-12 'd1 == 0' 'r < 3'
holds 1e-12 'd2*d2 < 1e-20' 'r < 3.45'
holds 1e-12 'd4*d4 < 1e-20' 'r < 3.54'
holds 1e-12 d8 0
holds 1e-12 'r < 3 ? xn : 0' 'r < 3 ? 1 - 1/r : 0'
holds 1e-12 'r == 3.2 ? (xn - (r + 1)/(2*r))^2 : 0' 'r == 3.2 ? (r - 3)*(r + 1)/(4*r*r) : 0' 'the cycle of two'

system count 'duration: 10' <<'END_OF_SYSTEM'
parameters: {p: 0}
states: {n: 0, c: 0}
next: {n: n + 1, c: c}
events:
  - {name: five, rises: n - 4.5, set: {c: c + 1}}
  - {name: three, rises: n - 3}
  - {name: tick, every: 3}
  - {name: once, at: 7}
metrics:
  n_end: {final: n}
  c_end: {final: c}
  fives: {count: five}
  t_five: {at: five, value: time}
  n_five: {at: five, value: n}
  t_three: {at: three, value: time}
  ticks: {count: tick}
  n_once: {at: once, value: n}
  average: {mean: n}
  total: {integral: n}
  root: {rms: n}
  least: {first: n >= 3}
  less: {last: n < 5}
  share: {part: n < 5}
  top: {max: n}
END_OF_SYSTEM
rows count
holds 0 'n_end*100 + c_end*10 + fives' 1011
holds 0 't_five*100 + n_five*10 + t_three' 553
holds 0 'ticks*10 + n_once' 47
holds 1e-15 average 4.5
holds 0 total 45
holds 1e-15 'root^2' 28.5
holds 0 'least*100 + less*10 + top' 350
holds 1e-15 share 0.5
refused check count.yaml --set simulation.duration=1.5
has "simulation.duration is 1.5: that of a map is a whole number of iterations" err
sed 's/every: 3/every: 2.5/' count.yaml >half.yaml
refused check half.yaml
has "every of a map must be a whole number of iterations" err
# positions of semi_implicit_euler
system moves 'duration: 1' 'dt: 0.1' 'integrator: semi_implicit_euler' <<'END_OF_SYSTEM'
parameters: {p: 0, m: 1}
states: {q: 1, v: 0}
rates: {q: v, v: -q}
metrics: {e: {final: q}}
END_OF_SYSTEM
works check moves.yaml
has 'q: semi_implicit_euler moves these with the new velocities'
sed 's/q: v, v/q: v\/m, v/' moves.yaml >none.yaml
works check none.yaml
has "so no state is a position: these are steps of Euler's explicit method"
# a duration that the steps do not divide
works check moves.yaml --set simulation.duration=0.35
has ', 0.35 s each'
# an event that is repeated differs in something
sed 's/^    metrics:.*/    events: [{name: kick, repeat: 3, at: 0.5, set: {v: v + 1}}]/' moves.yaml >unnumbered.yaml
refused check unnumbered.yaml
has 'nothing here has the number of a copy: write # where it differs' err
exit $status
