// The inputs of one hopper, one row each: name, unit, default, low, high, section, doc. Both the table of sim.h's
// Parameter and the struct of the kernels are written from these rows, so they can't disagree. Source of the values: M.
// H. Raibert, "Hopping in legged systems", IEEE Trans. SMC 14(3), 1984.
#ifndef HOPSCOTCH_HOPPER_PARAMETERS_H
#define HOPSCOTCH_HOPPER_PARAMETERS_H

#include "../spatial/terrains.h"

// clang-format off
#define HOPPER_PARAMETERS(X) \
    /* body and leg */ \
    X(m,            "kg",         10.0,    1e-3, 1e6, SECTION_PARAMETERS, "mass of the body") \
    X(m_l,          "kg",         1.0,     1e-3, 1e6, SECTION_PARAMETERS, "mass of the leg") \
    X(J,            "kg m^2",     10.0,    1e-4, 1e6, SECTION_PARAMETERS, "inertia of the body about its centre") \
    X(J_l,          "kg m^2",     1.0,     1e-4, 1e6, SECTION_PARAMETERS, "inertia of the leg about its centre") \
    X(g,            "m/s^2",      9.8,     0.0,  1e3, SECTION_PARAMETERS, "gravity") \
    X(k_l,          "N/m",        1e3,     0.0,  1e7, SECTION_PARAMETERS, "stiffness of the leg spring") \
    X(k_stop,       "N/m",        1e5,     0.0,  1e8, SECTION_PARAMETERS, "stiffness of the stop at full extension") \
    X(b_stop,       "N s/m",      1e3,     0.0,  1e6, SECTION_PARAMETERS, "damping of the stop at full extension") \
    X(k_g,          "N/m",        1e4,     0.0,  1e8, SECTION_PARAMETERS, "stiffness of the ground") \
    X(b_g,          "N s/m",      300.0,   0.0,  1e6, SECTION_PARAMETERS, "damping of the ground") \
    X(r_s0,         "m",          1.0,     1e-2, 1e2, SECTION_PARAMETERS, "rest length of the leg") \
    X(l_1,          "m",          0.5,     0.0,  1e2, SECTION_PARAMETERS, "foot to the leg's centre of mass") \
    X(l_2,          "m",          0.4,     0.0,  1e2, SECTION_PARAMETERS, "hip to the body's centre of mass") \
    /* control */ \
    X(k_fp,         "N m/rad",    150.0,   0.0,  1e6, SECTION_PARAMETERS, "foot placement: hip stiffness in flight") \
    X(b_fp,         "N m s/rad",  15.0,    0.0,  1e5, SECTION_PARAMETERS, "foot placement: hip damping in flight") \
    X(k_att,        "N m/rad",    150.0,   0.0,  1e6, SECTION_PARAMETERS, "attitude: hip stiffness in stance") \
    X(b_att,        "N m s/rad",  15.0,    0.0,  1e5, SECTION_PARAMETERS, "attitude: hip damping in stance") \
    X(k_xdot,       "s",          0.02,   -1e2,  1e2, SECTION_PARAMETERS, "foot placement: gain on the speed error") \
    X(thrust,       "N",          35.0,    0.0,  1e5, SECTION_PARAMETERS, "force added to the leg spring in THRUST") \
    X(x_dot_des,    "m/s",        3.0,    -1e2,  1e2, SECTION_PARAMETERS, "desired forward speed of the body") \
    X(T_max_thrust, "s",          0.14875, 0.0,  1e2, SECTION_PARAMETERS, "longest duration of the thrust") \
    X(z_low,        "m",          0.01,   -1e1,  1e1, SECTION_PARAMETERS, "hip torque is 0 below this foot height") \
    /* state at t = 0 */ \
    X(x_foot,       "m",          0.0,    -1e6,  1e6, SECTION_INITIAL, "horizontal position of the foot") \
    X(z_foot,       "m",          0.4,    -1e1,  1e3, SECTION_INITIAL, "height of the foot over the ground") \
    X(phi_leg,      "rad",        0.01,   -1.5,  1.5, SECTION_INITIAL, "angle of the leg from the vertical") \
    X(phi_body,     "rad",        0.0,    -1.5,  1.5, SECTION_INITIAL, "angle of the body from the vertical") \
    X(len_leg,      "m",          1.0,     1e-2, 1e2, SECTION_INITIAL, "length of the leg, foot to hip") \
    X(dx_foot,      "m/s",        0.0,    -1e3,  1e3, SECTION_INITIAL, "horizontal velocity of the foot") \
    X(dz_foot,      "m/s",        0.0,    -1e3,  1e3, SECTION_INITIAL, "vertical velocity of the foot") \
    X(dphi_leg,     "rad/s",      0.0,    -1e3,  1e3, SECTION_INITIAL, "angular velocity of the leg") \
    X(dphi_body,    "rad/s",      0.0,    -1e3,  1e3, SECTION_INITIAL, "angular velocity of the body") \
    X(dlen_leg,     "m/s",        0.0,    -1e3,  1e3, SECTION_INITIAL, "rate of the leg's length")

// Inputs that a lane has only with one of certain variants (HOPPER_WITH_..., hopper.h): name, unit, default, low, high,
// section, variants, doc. lane_seed is the last: it is not a key of the spec; the runner draws it.
#define HOPPER_VARIANT_PARAMETERS(X) \
    /* machine */ \
    X(retract,      "m",          0.1,     0.0,  1e1, SECTION_PARAMETERS, HOPPER_WITH_FOUR_STATES, \
      "AIR_PREPARE: how much the leg is shortened (machine: four_state)") \
    X(b_retract,    "N s/m",      60.0,    0.0,  1e4, SECTION_PARAMETERS, HOPPER_WITH_FOUR_STATES, \
      "AIR_PREPARE: damping of the leg's length (machine: four_state)") \
    X(t_match,      "s",          0.1,     0.0,  1e1, SECTION_PARAMETERS, HOPPER_WITH_FOUR_STATES, \
      "SPEED_MATCH begins this long before touchdown (machine: four_state)") \
    X(k_match,      "N s",        20.0,    0.0,  1e5, SECTION_PARAMETERS, HOPPER_WITH_FOUR_STATES, \
      "SPEED_MATCH: hip torque per speed of the foot (machine: four_state)") \
    /* terrain */ \
    TERRAIN_SIZES(X) \
    TERRAIN_START(X) \
    /* pushes on the body */ \
    X(push_time,    "s",          2.0,     0.0,  1e5, SECTION_PARAMETERS, HOPPER_WITH_TIMED_PUSH, \
      "when the push begins (push: timed)") \
    X(push_impulse, "N s",        5.0,    -1e6,  1e6, SECTION_PARAMETERS, HOPPER_WITH_TIMED_PUSH, \
      "impulse of the push, forwards (push: timed)") \
    X(push_interval, "s",         1.0,     1e-3, 1e5, SECTION_PARAMETERS, HOPPER_WITH_RANDOM_PUSHES, \
      "time between pushes; the first begins after one interval (push: random)") \
    X(push_std,     "N s",        2.0,     0.0,  1e6, SECTION_PARAMETERS, HOPPER_WITH_RANDOM_PUSHES, \
      "standard deviation of the impulse of a push, normally distributed (push: random)") \
    X(push_duration, "s",         0.1,     1e-6, 1e5, SECTION_PARAMETERS, \
      HOPPER_WITH_TIMED_PUSH | HOPPER_WITH_RANDOM_PUSHES, \
      "duration of a push; the next push ends it (push: timed or random)") \
    /* wind on the body */ \
    X(wind_speed,   "m/s",       -3.0,    -1e3,  1e3, SECTION_PARAMETERS, HOPPER_WITH_WIND, \
      "mean speed of the air, forwards (wind: steady or gusting)") \
    X(wind_drag,    "N s^2/m^2",  0.5,     0.0,  1e4, SECTION_PARAMETERS, HOPPER_WITH_WIND, \
      "drag force over the square of the relative speed (wind: steady or gusting)") \
    X(gust_speed,   "m/s",        2.0,     0.0,  1e3, SECTION_PARAMETERS, HOPPER_WITH_GUSTS, \
      "amplitude of the air's speed about its mean (wind: gusting)") \
    X(gust_period,  "s",          3.0,     1e-3, 1e5, SECTION_PARAMETERS, HOPPER_WITH_GUSTS, \
      "time from gust to gust (wind: gusting)") \
    /* control: external */ \
    X(u1_min,       "N",       -100.0,    -1e5,  1e5, SECTION_PARAMETERS, HOPPER_WITH_EXTERNAL, \
      "least thrust along the leg (control.mode: external)") \
    X(u1_max,      "N",        100.0,    -1e5,  1e5, SECTION_PARAMETERS, HOPPER_WITH_EXTERNAL, \
      "greatest thrust along the leg (control.mode: external)") \
    X(u2_min,       "N m",     -100.0,    -1e5,  1e5, SECTION_PARAMETERS, HOPPER_WITH_EXTERNAL, \
      "least hip torque (control.mode: external)") \
    X(u2_max,      "N m",      100.0,    -1e5,  1e5, SECTION_PARAMETERS, HOPPER_WITH_EXTERNAL, \
      "greatest hip torque (control.mode: external)") \
    X(lane_seed,    "1",          0.0,     0.0,  9007199254740991.0, SECTION_SEED, \
      HOPPER_WITH_RANDOM_PUSHES | HOPPER_WITH_GUSTS, \
      "seed of the pushes and of the phase of the gusts")

// Outputs of one hopper: name, unit, doc.
#define HOPPER_METRICS(X) \
    X(velocity_error,      "m/s", "rms of body speed - x_dot_des after settle") \
    X(mean_speed,          "m/s", "mean body speed after settle") \
    X(distance,            "m",   "horizontal travel of the body's centre of mass") \
    X(hop_count,           "1",   "lift-offs") \
    X(apex_mean,           "m",   "mean of the body's greatest height in each flight after a lift-off") \
    X(apex_std,            "m",   "standard deviation of those heights") \
    X(attitude_rms,        "rad", "rms of phi_body after settle") \
    X(energy,              "J",   "actuators: integral of |u2 (phi_body' - phi_leg')| + |u1 len_leg'|") \
    X(cost_of_transport,   "1",   "energy / ((m + m_l) g |distance|); infinite if g = 0 or |distance| < 1 mm") \
    X(peak_ground_force,   "N",   "greatest |(F_x, F_z)| on the foot") \
    X(max_penetration,     "m",   "greatest depth of the foot below the ground") \
    X(energy_drift,        "J",   "change of energy minus all work done: the integrator's error") \
    X(survived,            "s",   "time until the trial ended") \
    X(newton_max_residual, "1",   "greatest inf-norm of a step's velocity residual, in m/s or rad/s")

// Outputs that `accounting: parts` adds, the terms of the energy balance:
//     change_* summed + dissipated_* summed - work_* summed = energy_drift.
#define HOPPER_TERM_METRICS(X) \
    X(change_kinetic,      "J",   "change of the kinetic energy") \
    X(change_gravity,      "J",   "change of the potential energy of weight") \
    X(change_leg,          "J",   "change of the energy in the leg's spring or stop") \
    X(change_ground,       "J",   "change of the energy in the ground's spring") \
    X(dissipated_stop,     "J",   "lost in the damper of the leg's stop") \
    X(dissipated_ground,   "J",   "lost in the ground, plus the energy that uneven ground gives its spring") \
    X(work_hip,            "J",   "work of the hip torque") \
    X(work_thrust,         "J",   "work of the force u1 along the leg") \
    X(work_disturbance,    "J",   "work of pushes, wind and the force that `equations: reference` adds")
// clang-format on

#endif
