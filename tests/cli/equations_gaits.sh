#!/bin/sh
# Gaits written as systems of a spec (model equations) against other programs: the limit cycles of the compass gait
# (Goswami, Thuilot & Espiau 1996) and the map of spring-mass running (Seyfarth, Geyer, Guenther & Blickhan 2002). Some
# of their numbers stand here; all are in ../shared/data/equations where that is there.
. "$(dirname "$0")/../scratch.sh"
. "$root/tests/equations.sh"
data=$root/../shared/data/equations

# ---- compass gait: m 5 kg, mh 10 kg, a = b = 0.5 m ------------------------------------------------------------------

over='{m: [5]}' system compass 'duration: 30' 'tolerance: 1e-11' <<'END_OF_SYSTEM'
parameters: {m: 5, mh: 10, a: 0.5, b: 0.5, g: 9.81, degrees: 3}
states: {s: -0.2, n: 0.3, ds: 1, dn: 0.4}
held: {last: 0, period: 0}
let:
  slope: degrees*pi/180
  l: a + b
  c: cos(s - n)
  m11: m*a*a + (mh + m)*l*l
  m12: -m*l*b*c
  m22: m*b*b
  f1: m*l*b*sin(s - n)*dn*dn + (m*a + (mh + m)*l)*g*sin(s)
  f2: -m*l*b*sin(s - n)*ds*ds - m*b*g*sin(n)
  det: m11*m22 - m12*m12
  p1: (-m*a*b + (mh*l*l + 2*m*a*l)*c)*ds - m*a*b*dn
  p2: -m*a*b*ds
  q11: m*l*(l - b*c) + m*a*a + mh*l*l
  q12: m*b*(b - l*c)
  q21: -m*b*l*c
  q22: m*b*b
  qdet: q11*q22 - q12*q21
rates: {s: ds, n: dn, ds: (m22*f1 - m12*f2)/det, dn: (m11*f2 - m12*f1)/det}
events:
  - name: strike
    rises: s + n - 2*slope
    set: {s: n, n: s, ds: (q22*p1 - q12*p2)/qdet, dn: (q11*p2 - q21*p1)/qdet, last: time, period: time - last}
metrics:
  steps: {count: strike}
  period_s: {final: period, unit: s}
  s_before: {at: strike, value: s}
  n_before: {at: strike, value: n}
  ds_before: {at: strike, value: ds}
  dn_before: {at: strike, value: dn}
failures: {fell: abs(s) > 1.5}
END_OF_SYSTEM
while read -r degrees period s n ds dn && read -r s1 n1 ds1 dn1; do
    for integrator in dormand_prince rodas5p; do
        [ "$integrator" = rodas5p ] && tolerance=1e-9 || tolerance=1e-11
        rows compass --set "parameters.degrees=$degrees" --set "initial.s=$s" --set "initial.n=$n" \
            --set "initial.ds=$ds" --set "initial.dn=$dn" --set "simulation.integrator=$integrator" \
            --set "simulation.tolerance=$tolerance"
        where="compass gait, $degrees degrees, $integrator"
        is failure none "$where"
        holds 0 steps "int(30/$period)" "$where"
        holds 3e-9 period_s "$period" "$where"
        holds 3e-9 s_before "$s1" "$where"
        holds 3e-9 n_before "$n1" "$where"
        holds 3e-9 ds_before "$ds1" "$where"
        holds 3e-9 dn_before "$dn1" "$where"
    done
done <<'END_OF_CYCLES'
1 0.7036485256193926 -0.16953895824560897 0.20444554328549575 0.8617139624587689 0.6057394137847424
0.20444554328686557 -0.1695389582469788 0.9985636068118332 1.0799625924801162
2 0.7196522123643548 -0.20135677872520963 0.27116994880498513 1.0126381042569779 0.5191890493619022
0.2711699488040107 -0.20135677872423544 1.2841596668593092 1.4816131516501778
3 0.7343463911592105 -0.21866880293966087 0.3233885580593229 1.0923835898863634 0.37737394891059156
0.32338855805939687 -0.21866880293973498 1.4942048971037833 1.8056788689902712
END_OF_CYCLES

# ---- spring-mass running: steps of 25, by stiffness and angle of attack ---------------------------------------------

over='{attack: {linspace: [55, 80, 26]}, k: [9500, 20000, 35000]}' system slip 'duration: 60' 'tolerance: 1e-9' \
    <<'END_OF_SYSTEM'
parameters: {m: 80, k: 20000, l0: 1, g: 9.81, attack: {value: 68, unit: deg}}
states: {x: 0, z: 1, vx: 5, vz: 0}
held: {foot: 0, taken: 0}
let: {angle: attack*pi/180, leg: "hypot(x - foot, z)"}
modes:
  flight:
    rates: {x: vx, z: vz, vx: 0, vz: -g}
    events:
      - {name: touchdown, falls: z - l0*sin(angle), to: stance, set: {foot: x + l0*cos(angle)}}
      - {name: apex, falls: vz, set: {taken: taken + step(z - l0*sin(angle))}}
      - {name: done, rises: taken - 24.5, stop: true}
  stance:
    let: {F: k*(l0 - leg)}
    rates: {x: vx, z: vz, vx: F*(x - foot)/(leg*m), vz: F*z/(leg*m) - g}
    events: [{name: liftoff, rises: leg - l0, to: flight}]
metrics: {steps: {final: taken}, peak: {max: F, unit: N}, speed: {mean: vx}}
failures: {fell: z < 0.01, backward: vx < 0, sank: vz < -1e-9 and z < l0*sin(angle) and leg > l0}
END_OF_SYSTEM

# compare TABLE: the steps of rows.csv with a table of angles by stiffnesses (kN/m)
compare()
{
    awk -F , -v file="$1" 'BEGIN {
            while ((getline <file) > 0) {
                if (++line == 1) for (i = 2; i <= NF; i++) angle[i] = $i
                else for (i = 2; i <= NF; i++) steps[sprintf("%.3f %.0f", $1, angle[i])] = $i } }
        FNR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        { cell = sprintf("%.3f %.0f", $at["k"]/1000, $at["attack"]); cells++
          if (!(cell in steps) || steps[cell] != $at["steps"]) {
              printf "%s: expected %s steps, got %s\n", cell, steps[cell], $at["steps"]; bad = 1 } }
        END { printf "%d cells\n", cells; exit bad || !cells }' rows.csv >out
    check $? "spring-mass running: $(tail -n 1 out) have the steps of another program"
}
cat >some.csv <<'END_OF_STEPS'
stiffness_kN_per_m,55,56,57,58,59,60,61,62,63,64,65,66,67,68,69,70,71,72,73,74,75,76,77,78,79,80
9.5,5,25,25,25,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0
20,1,1,1,2,2,2,2,3,3,4,6,15,25,25,2,0,0,0,0,0,0,0,0,0,0,0
35,1,1,1,1,1,1,1,2,2,2,2,3,3,4,5,6,10,25,25,25,0,0,0,0,0,0
END_OF_STEPS
rows slip
compare some.csv
if [ -f "$data/slip_region.csv" ]; then
    rows slip --set 'search.over.k={linspace: [5000, 50000, 31]}'
    compare "$data/slip_region.csv"
else
    skip "the whole map of spring-mass running" "its table, which is no part of the program" "../shared/data/equations"
fi
exit $status
