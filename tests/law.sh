#!/bin/sh
# What scripts of tests/cli about control laws begin with, in place of scratch.sh: . "$(dirname "$0")/../law.sh"
# It writes two robots: arm.xml, two links below a cart on a rail, and leg.xml, a trunk on a leg that touches a plane.
#
# shellcheck disable=SC2154
. "$(dirname "$0")/../scratch.sh"
cat >arm.xml <<'.'
<mujoco model="arm"><compiler angle="radian"/>
<worldbody>
  <body name="base" pos="0 0 1"><joint name="rail" type="slide" axis="1 0 0" damping="1"/>
    <geom type="box" size="0.1 0.1 0.05" mass="1"/>
    <body name="upper"><joint name="link_1" type="hinge" axis="0 1 0" damping="0.05"/>
      <geom type="capsule" fromto="0 0 0 0 0 -0.4" size="0.02" mass="0.3"/>
      <body name="lower" pos="0 0 -0.4"><joint name="link_2" type="hinge" axis="0 1 0" damping="0.05"/>
        <geom type="capsule" fromto="0 0 0 0 0 -0.3" size="0.02" mass="0.2"/></body></body></body>
</worldbody>
<actuator>
  <position name="a" joint="rail" kp="200" kv="20"/><position name="b" joint="link_1" kp="20" kv="1"/>
  <motor name="c" joint="link_2" ctrlrange="-3 3"/>
</actuator>
</mujoco>
.
cat >leg.xml <<'.'
<mujoco model="leg"><compiler angle="radian"/>
<worldbody><geom type="plane" size="5 5 0.1"/>
  <body name="trunk" pos="0 0 0.62"><freejoint/><geom type="box" size="0.1 0.1 0.05" mass="3"/>
    <body name="thigh"><joint name="hip" type="hinge" axis="0 1 0" damping="0.1"/>
      <geom type="capsule" fromto="0 0 0 0.1 0 -0.29" size="0.03" mass="0.4"/>
      <body name="shank" pos="0.1 0 -0.29"><joint name="knee" type="hinge" axis="0 1 0" damping="0.1"/>
        <geom type="capsule" fromto="0 0 0 -0.1 0 -0.29" size="0.02" mass="0.2"/>
        <geom name="foot" type="sphere" pos="-0.1 0 -0.29" size="0.03" mass="0.05"/></body></body></body>
</worldbody>
<actuator><position name="a" joint="hip" kp="60" kv="3"/><position name="b" joint="knee" kp="60" kv="3"/></actuator>
</mujoco>
.
