#!/bin/sh
# What commands say of systems, maps and robots to someone new to them. The errors of wrong specs are in tests/golden.
. "$(dirname "$0")/../scratch.sh"
. "$root/tests/equations.sh"

# says TEXT COMMAND...: the text, a regular expression, is in what it prints
says()
{
    text=$1
    shift
    "$@" >out 2>err </dev/null
    cat out err | grep -q -e "$text"
    check $? "$*: $text"
}

# lacks TEXT COMMAND...
lacks()
{
    text=$1
    shift
    "$@" >out 2>err </dev/null && ! grep -q -e "$text" out err
    check $? "$*: nothing of '$text'"
}

# ---- maps -----------------------------------------------------------------------------------------------------------

over='{x: [1, 2]}'
system map 'duration: 50' <<'END'
states: {x: 0}
next: {x: x/2 + 1}
metrics: {end: {final: x}}
END
says 'ok: map: 2 trials of equations, 50 iterations each' "$HOPSCOTCH" check map.yaml
says ' iterations/s' "$HOPSCOTCH" run map.yaml --progress plain
"$HOPSCOTCH" run results/map/resolved.yaml --name again --progress none >out 2>err
check $? "the resolved spec of a map, which has an integrator, runs"
says 'integrator is for differential equations' "$HOPSCOTCH" check map.yaml --set simulation.integrator=rk4
system flow 'duration: 2' <<'END'
states: {x: 0}
rates: {x: 1 - x}
END
says 'ok: flow: 2 trials of equations, 2 s each' "$HOPSCOTCH" check flow.yaml
says ' simulated s/s' "$HOPSCOTCH" run flow.yaml --progress plain

# ---- help, models ---------------------------------------------------------------------------------------------------

says '^events  *A list of' "$HOPSCOTCH" help spec events
says '^  WHEN  *rises' "$HOPSCOTCH" help spec events
lacks '^metrics' "$HOPSCOTCH" help spec events
says 'hopscotch help spec equations has all of it' "$HOPSCOTCH" help spec drawing
"$HOPSCOTCH" help spec evnts >out 2>err
[ $? -ne 0 ]
check $? "a word that is no topic is refused"
says '^simulation  *value  *default' "$HOPSCOTCH" models flow.yaml
lacks 'in the spec  ' "$HOPSCOTCH" models flow.yaml

# ---- units ----------------------------------------------------------------------------------------------------------

over='{V: [1, 2]}'
system coil 'duration: 1' <<'END'
parameters: {L: {value: 20, unit: uH}, V: {value: 1, unit: V}, M: {value: 3, unit: kH}}
states: {i: {start: 0, unit: A}}
rates: {i: 1e6*V/L}
metrics: {rise: {max: V/L}, fall: {max: V/M}, end: {final: i}}
END
says '^rise  *1000000 A/s' "$HOPSCOTCH" models coil.yaml
says '^fall  *0.001 A/s' "$HOPSCOTCH" models coil.yaml
says '^end  *A ' "$HOPSCOTCH" models coil.yaml
says 'in 1000000 A/s: multiply it by 1000000' "$HOPSCOTCH" check coil.yaml --set simulation.system.rates.i=V/L
says 'in 0.001 A/s: multiply it by 0.001' "$HOPSCOTCH" check coil.yaml --set simulation.system.rates.i=V/M

# ---- frames of robots -----------------------------------------------------------------------------------------------

cat >arm.xml <<'END'
<mujoco model="arm"><compiler angle="radian"/><worldbody>
  <body name="upper"><joint name="a" type="hinge" axis="0 1 0" damping="1"/>
    <geom type="capsule" fromto="0 0 0 0 0 0.3" size="0.03" mass="1"/>
    <site name="tip" pos="0 0 0.3"/><site name="mid" pos="0 0 0.1"/>
    <body name="hand" pos="0 0 0.3"><joint name="b" type="hinge" axis="0 1 0" damping="1"/>
      <geom type="capsule" fromto="0 0 0 0 0 0.3" size="0.03" mass="1"/></body>
  </body></worldbody><actuator><motor joint="a"/><motor joint="b"/></actuator></mujoco>
END
cat >arm.yaml <<'END'
version: 1
experiment: arm
model: articulated
simulation: {robot: arm.xml, duration: 0.1, dt: 0.002}
search: {method: grid, over: {a_start: [0.1]}}
objective: {minimize: survived}
END
named="'hand_z' is not computed: name its body or site, simulation.frames: \\[hand\\]"
says "$named" "$HOPSCOTCH" check arm.yaml --set 'metrics={top: {max: hand_z}}'
says "$named" "$HOPSCOTCH" check arm.yaml --set simulation.control.mode=external \
    --set 'environment={observe: [hand_z], reward: a_q}'
says "unknown name 'hand_mood'" "$HOPSCOTCH" check arm.yaml --set 'metrics={top: {max: hand_mood}}'
lacks "not computed" "$HOPSCOTCH" check arm.yaml --set 'metrics={top: {max: hand_z}}' --set 'simulation.frames=[hand]'
says '^not needed  *site (2)$' "$HOPSCOTCH" check arm.yaml
says '^not needed  *site (1)$' "$HOPSCOTCH" check arm.yaml --set 'simulation.frames=[tip]'
lacks 'not needed' "$HOPSCOTCH" check arm.yaml --set 'simulation.frames=[tip, mid, hand]'
exit $status
