#!/bin/sh
# What `check` says of right systems: how many equations had their units checked, the units that metrics and columns
# get, shorthands that nothing uses and modes that no event leads to; and a system in a file of its own.
. "$(dirname "$0")/../scratch.sh"

cat >spring.yaml <<'EOF'
version: 1
experiment: spring
model: equations
simulation:
  duration: 1
  system: system.yaml
search: {method: grid, over: {k: [1, 2]}}
objective: {minimize: energy}
EOF
cat >system.yaml <<'EOF'
parameters: {m: {value: 1, unit: kg}, k: {value: 1, unit: N/m}}
states: {x: {start: 1, unit: m}, v: {start: 0, unit: m/s}}
rates: {x: v, v: "-k*x/m"}
events: [{name: zero, falls: x}]
metrics:
  energy: {final: "m*v^2/2 + k*x^2/2"}
  way: {integral: "abs(v)"}
  fast: {max: v}
  zeros: {count: zero}
  first_zero: {first: "x < 0"}
  left: {part: "x < 0"}
  in_cm: {max: "100*x", unit: cm}
columns: {force: "-k*x", phase: {value: "atan2(v, x*sqrt(k/m))", unit: rad}}
EOF
"$HOPSCOTCH" check spring.yaml >out 2>err && grep -qx 'units  *11 of 11 equations checked' out
check $? "all equations are checked"
[ ! -s err ]
check $? "and nothing is warned of"
"$HOPSCOTCH" check spring.yaml --json >out
for unit in '"energy":"N m"' '"way":"m"' '"fast":"m/s"' '"zeros":"1"' '"first_zero":"s"' '"left":"1"' '"in_cm":"cm"' \
    '"force":"N"' '"phase":"rad"'; do
    sed 's|": "|":"|' out | grep -qF "$unit"
    check $? "the unit $unit"
done
"$HOPSCOTCH" check spring.yaml --resolved >resolved.yaml && "$HOPSCOTCH" check resolved.yaml >out 2>err
check $? "the resolved spec holds the system"
grep -qx 'units  *11 of 11 equations checked' out
check $? "and gives the same"

cat >modes.yaml <<'EOF'
version: 1
experiment: modes
model: equations
simulation:
  system:
    states: {x: {start: 1, unit: m}, v: 0}
    let: {half: "x/2", quarter: "half/2"}
    modes:
      up: {rates: {x: 1, v: 0}, let: {force: x}, events: [{rises: "x - 2", to: down}]}
      down: {rates: {x: -1, v: 0}, let: {force: "2*x"}}
      aside: {rates: {x: 0, v: 0}, let: {force: "3*x"}}
    metrics: {most: {max: force}}
objective: {minimize: most}
EOF
"$HOPSCOTCH" check modes.yaml >out 2>err
check $? "warnings are no errors"
grep -q '^modes.yaml:7:24: warning: nothing uses quarter$' err
check $? "a shorthand that nothing uses"
grep -q '^modes.yaml:11:7: warning: no event leads to mode aside$' err
check $? "a mode that is never entered"
[ "$(grep -c warning err)" -eq 2 ]
check $? "no other warning"
grep -q 'without a unit: v$' out
check $? "the names without a unit"

sed -e 's/unit: m/doc: m/' -e 's|rises: x - 2|rises: sin(time) - exp(-time)|' modes.yaml >plain.yaml
"$HOPSCOTCH" check plain.yaml >out 2>err
check $? "a system without units has none for time"

# A remark on objectives, constraints and derived parameters, of all models.
says_units()
{
    "$HOPSCOTCH" check spring.yaml --set "objective={minimize: $1}" >out 2>err &&
        grep -q "^units  *the objective has $2" out
    check $? "the objective $1 has $2"
}
says_units 'fast + way' 'm/s + m: values of different units; a factor would weigh one of them$'
says_units 'energy + k' 'N m + N/m: '
says_units 'way < first_zero' 'm < s: '
for objective in 'way + way' 'fast + 0.1*way' 'way + 2' 'way + zeros'; do
    "$HOPSCOTCH" check spring.yaml --set "objective={minimize: $objective}" >out 2>err && ! grep -q 'objective has' out
    check $? "no remark on $objective"
done
"$HOPSCOTCH" check spring.yaml --set 'constraints=[fast < way]' >out 2>err &&
    grep -q '^units  *constraint 1 has m/s < m: ' out
check $? "a constraint"
"$HOPSCOTCH" check spring.yaml --set 'search.over.m={derive: k + x}' >out 2>err &&
    grep -q '^units  *m has N/m + m: ' out
check $? "a derived parameter"
exit $status
