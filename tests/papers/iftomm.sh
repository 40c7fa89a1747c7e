#!/bin/sh
# The IFToMM library of benchmarks for multibody systems: A01 and A02. README.md says more.
. "$(dirname "$0")/../paper.sh"

cat >pendulum.yaml <<'END'
version: 1
experiment: pendulum
model: rigid
simulation:
  duration: 10
  dt: 0.001
  order: four
  world:
    bodies: [{name: ball, inertia: 1.0e-6, position: [1, 0, 0]}]
    constraints: [{name: rod, type: distance, a: ball, at_b: [0, 0, 0]}]
search: {method: list, points: [{gravity: 9.81}]}
objective: {minimize: energy_error}
END
campaign pendulum.yaml
against 'A01, x of the pendulum at 10 s, m' 0.2750874625761 "$(value ball_end_x)" 1e-6 %.12g
against 'A01, y of the pendulum at 10 s, m' -0.9614192050991 "$(value ball_end_z)" 1e-6 %.12g
campaign "$root/experiments/four_bar.yaml" --set simulation.order=two
against 'A02, x of B0 of 40 four-bar linkages at 10 s, m' 0.1805122266867 "$(value '2*post0_end_x')" 1e-5 %.12g
against 'A02, y of B0 of 40 four-bar linkages at 10 s, m' 0.9835727405823 "$(value '2*post0_end_z')" 1e-5 %.12g
paper_ends
