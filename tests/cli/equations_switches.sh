#!/bin/sh
# Comparisons of time with fixed values in systems (model equations): steps end where they change, so that pulses of any
# length count, at any time and by every method, to the same bits. Random functions of time have their integrals
# (tests/equations_switches.py).
. "$(dirname "$0")/../scratch.sh"
. "$root/tests/equations.sh"

# ---- pulses and what else jumps or bends at an instant --------------------------------------------------------------

over='{a: [0.5, 3, 7.123], w: [1.0e-6, 0.1]}' system pulse 'duration: 10' 'dt: 0.07' <<'END_OF_SYSTEM'
parameters: {a: 1, w: 0.1, T: 0.7, D: 0.3, k: -2}
states: {v: 0, x: 0, r: 0, m: 0, s: 0, f: 0, c: 0, q: 0, b: 0, l: 0, e: 0}
held: {seen: 0}
let: {on: "if(time > a and time < a + w, 1/w, 0)", slow: 0.1*time}
rates:
  v: on
  x: v
  r: step(2*(slow*10 - a))
  m: "if(mod(time, T)/T < D, 1, 0)"
  s: sign(a - time)
  f: floor(time/T) + ceil(2*time)
  c: clip((time - a)/w, 0, 1) + clip(time, 2, 1)
  q: "mod(2*time + 0.1, T)"
  b: "max(time, a) - min(time, 2*a) + abs(-(time - a))"
  l: "if(k*time > -1, 1, 0) + if(0*time >= 1, 5, 0) + step(k*0*time)"
  e: "if(mod(time, 1) - 0.5 >= 0.6, 1, 0) + if(0.25 > mod(time, 1), 1, 0)"
events: [{name: hit, rises: on - 0.5/w, set: {seen: on}}]
columns: {shown: on}
metrics:
  top: {max: on}
  hits: {count: hit}
  saw: {final: seen}
  hit_at: {at: hit, value: time}
  part_on: {part: on > 0}
  x_hit: {at: hit, value: on}
  v_end: {final: v}
  x_end: {final: x}
  r_end: {final: r}
  m_end: {final: m}
  s_end: {final: s}
  f_end: {final: f}
  c_end: {final: c}
  q_end: {final: q}
  b_end: {final: b}
  l_end: {final: l}
  e_end: {final: e}
END_OF_SYSTEM
for integrator in dormand_prince rodas5p rk4 implicit_midpoint semi_implicit_euler; do
    rows pulse --set "simulation.integrator=$integrator"
    near=1e-9
    [ $integrator = semi_implicit_euler ] && near=0.1 # of order 1
    holds 1e-9 v_end 1 "$integrator: a pulse of any length"
    holds $near x_end '10 - a - w/2' "$integrator"
    holds 1e-12 'top*w' 1 "$integrator"
    holds 0 hits 1 "$integrator: a guard that it takes to its other side turns"
    holds 0 hit_at a "$integrator"
    holds 1e-12 'saw*w + x_hit*w' 2 "$integrator: and its event sees it"
    holds 1e-9 '10*part_on' w "$integrator"
    holds 1e-12 r_end '10 - a' "$integrator"
    holds 1e-9 m_end '14*0.21 + 0.2' "$integrator: a train of pulses"
    holds 1e-12 s_end '2*a - 10' "$integrator"
    holds 1e-9 f_end '66.5 + 105' "$integrator"
    holds $near c_end '10 - a - w/2 + 10' "$integrator"
    holds 1e-9 l_end '0.5 + 10' "$integrator: a rate that is negative, and one that is 0"
    holds 1e-9 e_end 2.5 "$integrator"
    [ $integrator = semi_implicit_euler ] && continue
    holds 1e-9 q_end '(28*0.245 + 0.12)/2' "$integrator"
    least='(2*a < 10 ? 2*a*a + 2*a*(10 - 2*a) : 50)'
    holds 1e-9 b_end "a*a + (100 - a*a)/2 - $least + (a*a + (10 - a)^2)/2" "$integrator"
done

# ---- what falls in time, and what jumps or bends where a bend does --------------------------------------------------

over='{a: [1.3, 7.123], w: [1.0e-6, 0.2]}' system bends 'duration: 10' 'dt: 0.07' <<'END_OF_SYSTEM'
parameters: {a: 1, w: 0.1, T: 2.5, n: -2.5, k: -2, z: 0}
states: {ab: 0, am: 0, mi: 0, cl: 0, ne: 0, ba: 0, bf: 0, bp: 0, np: 0, tr: 0, si: 0, fl: 0, tri: 0, co: 0, re: 0}
let: {on: "if(abs(time - a) < w, 1/w, 0)", ramp: "if(time < a, 0, time - a)"}
rates:
  ab: on
  am: "if(abs(mod(time, T) - 2) < w, 1/w, 0)"
  mi: "if(min(time, 2*a - time) > a - w, 1/w, 0)"
  cl: "if(clip(time - a, -w, w) > 0 and clip(time - a, 0, 2*w) < w, 1/w, 0)"
  ne: "if(abs(abs(time - a) - 2*w) < w, 1/w, 0)"
  ba: "mod(-time, T)"
  bf: "floor(k*time) + ceil(-3*time) + ceil(k*time)"
  bp: "if(mod(a - time, T) < w, 1/w, 0)"
  np: "if(mod(time, n) > -w, 1/w, 0)"
  tr: "if((time > a)*(time - a) > w and time < a + 2*w, 1/w, 0)"
  si: "if(sign(time - a)*(time - a) < w, 1/w, 0)"
  fl: "if(floor(abs(time - 5)) = 1, 1, 0)"
  tri: "max(0, 1 - abs(time - a)/w)/w"
  co: "if(ramp > 0 and ramp < w, 1/w, 0)"
  re: "floor(z*time + 1.5) + mod(z*time - 1, T) + if(mod(z*time, T) < 1, 1, 0)"
events: [{name: hit, rises: on - 0.5/w}]
metrics:
  hits: {count: hit}
  hit_at: {at: hit, value: time}
  ab_end: {final: ab}
  am_end: {final: am}
  mi_end: {final: mi}
  cl_end: {final: cl}
  ne_end: {final: ne}
  ba_end: {final: ba}
  bf_end: {final: bf}
  bp_end: {final: bp}
  np_end: {final: np}
  tr_end: {final: tr}
  si_end: {final: si}
  fl_end: {final: fl}
  tri_end: {final: tri}
  co_end: {final: co}
  re_end: {final: re}
END_OF_SYSTEM
for integrator in dormand_prince rodas5p rk4 implicit_midpoint semi_implicit_euler; do
    rows bends --set "simulation.integrator=$integrator"
    holds 1e-8 ab_end 2 "$integrator: abs"
    holds 1e-8 am_end 8 "$integrator: abs of mod"
    holds 1e-8 mi_end 2 "$integrator: min"
    holds 1e-8 cl_end 1 "$integrator: clip"
    holds 1e-8 ne_end 4 "$integrator: abs of abs"
    holds 1e-8 bf_end '-105 - 145 - 95' "$integrator: a rate below 0"
    holds 1e-8 bp_end 4 "$integrator: a remainder that falls"
    holds 1e-8 np_end 4 "$integrator: a period below 0"
    holds 1e-8 tr_end 1 "$integrator: a truth"
    holds 1e-8 si_end 2 "$integrator: a sign"
    holds 1e-8 fl_end 2 "$integrator: floor of abs"
    holds 1e-8 co_end 1 "$integrator: if"
    holds 1e-8 re_end '10*(1 + 1.5 + 1)' "$integrator: a rate that is 0"
    holds 0 hits 1 "$integrator"
    holds 1e-15 hit_at 'a - w' "$integrator"
    [ $integrator = semi_implicit_euler ] && continue
    holds 1e-8 ba_end 12.5 "$integrator: a saw that falls"
    holds 1e-8 tri_end 1 "$integrator: max of abs"
done

# ---- what happens at an instant sees the comparison as it is written ------------------------------------------------

over='{p: [0, 2]}' system seen 'duration: 4.5' <<'END_OF_SYSTEM'
parameters: {p: 0}
states: {x: 0, y: 0}
held: {after: 0, from: 0, before: 0, until: 0}
let: {more: time > p, least: time >= p, less: time < p, most: time <= p}
rates: {x: "if(more, 1, 0) + if(least, 1, 0)", y: "if(less, 1, 0) + if(most, 1, 0)"}
events:
  - {name: tick, every: 1, set: {after: after + more, from: from + least, before: before + less, until: until + most}}
  - {name: both, rises: more + least - 1.5}
metrics:
  x_end: {final: x}
  y_end: {final: y}
  more_then: {at: tick, value: "if(time = p, more, 0)", take: max}
  afters: {final: after}
  froms: {final: from}
  befores: {final: before}
  untils: {final: until}
  boths: {count: both}
  at_both: {at: both, value: time}
END_OF_SYSTEM
rows seen
holds 1e-12 x_end '2*(4.5 - p)'
holds 1e-12 y_end '2*p'
holds 0 'afters*1000 + froms*100 + befores*10 + untils' '(4 - p)*1000 + (5 - p)*100 + p*10 + p + 1'
holds 0 more_then 0
holds 0 'boths*10 + at_both' '10 + p'

# what falls, too: a saw that falls is 0 at its instants and highest behind them
system falls 'duration: 4.25' <<'END_OF_SYSTEM'
parameters: {p: 0}
states: {x: 0}
held: {floors: 0, ceils: 0, saws: 0, below: 0, above: 0, seen: 0}
let: {saw: "mod(-time, 1)", low: "mod(time, 1) <= 0.5", high: "mod(time, 1) > 0.5"}
rates: {x: saw + low + high + floor(-time) + ceil(time)}
events:
  - name: tick
    every: 0.5
    set:
      floors: floors + floor(-time)
      ceils: ceils + ceil(time)
      saws: saws + saw
      below: below + low
      above: above + high
  - {name: jump, rises: saw - 0.75, set: {seen: seen + saw}}
metrics:
  floors_end: {final: floors}
  ceils_end: {final: ceils}
  saws_end: {final: saws}
  saw_then: {at: tick, value: saw, take: max}
  below_end: {final: below}
  above_end: {final: above}
  jumps: {count: jump}
  seen_end: {final: seen}
END_OF_SYSTEM
rows falls
holds 0 floors_end '-(0 + 1 + 1 + 2 + 2 + 3 + 3 + 4 + 4)' 'as written at an instant'
holds 0 ceils_end '0 + 1 + 1 + 2 + 2 + 3 + 3 + 4 + 4' 'as written at an instant'
holds 0 saws_end '4*0.5' 'as written at an instant'
holds 0 saw_then 0.5 'as written at an instant'
holds 0 'below_end*10 + above_end' '90' 'as written at an instant'
holds 0 jumps 4
holds 0 seen_end 4 'what holds behind it'

# ---- maps, and too many ---------------------------------------------------------------------------------------------

system counted 'duration: 5' <<'END_OF_SYSTEM'
parameters: {p: 0}
states: {s: 0}
next: {s: "s + if(time > 2, 1, 0)"}
metrics: {se: {final: s}}
END_OF_SYSTEM
rows counted
holds 0 se 2
{
    printf 'parameters: {p: 0}\nstates: {x: 0}\nrates: {x: "0'
    for i in $(seq 257); do printf ' + (time > %d)' "$i"; done
    printf '"}\n'
} | system many
refused check many.yaml
has 'the equations compare time with more than 256 fixed values: give what changes then as an input' err
sed 's/ + (time > 257)/ + (0 + 256 < time)/' many.yaml >enough.yaml
works check enough.yaml

# what jumps at instants that are not found is warned of, where it is written, if a step computes it
system missed 'duration: 5' <<'END_OF_SYSTEM'
parameters: {p: 0.3, k: 1}
states: {x: 0, y: 0}
held: {last: 0}
let: {saw: "mod(time, 1)", on: "sin(10*time) > 0", shown: "time^2 > 2"}
rates: {x: "if(on, 1, 0) + floor(k*time) + (floor(time) > 2) + (abs(saw - 0.5) < p)", y: "time - floor(time) < p"}
columns: {s: shown, o: on}
events: [{name: e, rises: x - 1, set: {last: "if(cos(time) > 0, time, 0)"}}]
metrics: {part_on: {part: sin(time) > 0}}
END_OF_SYSTEM
works check missed.yaml
cat out err >all
[ "$(grep -c 'no step ends where this jumps' all)" = 2 ]
check $? 'two warnings'
has 'missed.yaml:10:50: warning: no step ends where this jumps, so a short pulse may be missed' all
has 'missed.yaml:11:114: warning: no step ends where this jumps' all

# periods that are lost in the rounding of time end by the limit of steps, or are not numbers
over='{T: [1.0e-300, 1.0e-9]}' system short 'duration: 1' 'steps: 2000' <<'END_OF_SYSTEM'
parameters: {T: 1}
states: {x: 0}
rates: {x: "mod(time + 1e9, T)"}
END_OF_SYSTEM
rows short
holds 0 'failure == (T < 1e-100 ? "diverged" : "limit")' 1

# ---- random functions of time ---------------------------------------------------------------------------------------

if with_python "random functions of time"; then
    seeds=20
    [ -z "${QUICK:-}" ] || seeds=4
    python3 "$root/tests/equations_switches.py" "$HOPSCOTCH" "${SEED:-1}" "$seeds" >out 2>err
    check $? "$(tail -n 1 out)"
fi

# ---- equal bits -----------------------------------------------------------------------------------------------------

echo 'record: {trajectories: {select: {every: 2}, sample: 0.07}}' >>pulse.yaml
for integrator in dormand_prince rodas5p rk4; do
    rm -rf results/pulse
    works run pulse.yaml --progress none --set "simulation.integrator=$integrator" --batch 1 --threads 1
    expected=$(digest pulse)
    for options in --isa=scalar $(vector_isas "$HOPSCOTCH" --isa=) '--batch 5 --slice 11'; do
        rm -rf results/pulse
        # shellcheck disable=SC2086
        "$HOPSCOTCH" run pulse.yaml --progress none --set "simulation.integrator=$integrator" $options >out 2>err \
            </dev/null || continue # this processor lacks it
        [ "$(digest pulse)" = "$expected" ]
        check $? "$integrator: the same digest, $options"
    done
done
rm -rf results/bends
works run bends.yaml --progress none
expected=$(digest bends)
for options in '--isa scalar' '--batch 3 --slice 7'; do
    rm -rf results/bends
    # shellcheck disable=SC2086
    works run bends.yaml --progress none $options
    [ "$(digest bends)" = "$expected" ]
    check $? "bends: the same digest, $options"
done
works replay pulse/2
has 'the same to the bit'
exit $status
