// What the host side (hopper.c) and the kernels (advance.h) of the hopper share.
#ifndef HOPSCOTCH_HOPPER_H
#define HOPSCOTCH_HOPPER_H

#include "../sim.h"
#include "parameters.h"

#define HOPPER_NUMBER_OF(name, ...) HOPPER_PARAMETER_##name,
enum { HOPPER_PARAMETERS(HOPPER_NUMBER_OF) HOPPER_N_PARAMETERS };
#undef HOPPER_NUMBER_OF

#define HOPPER_NUMBER_OF(name, ...) HOPPER_VARIANT_##name,
enum { HOPPER_VARIANT_PARAMETERS(HOPPER_NUMBER_OF) HOPPER_N_VARIANT_PARAMETERS };
#undef HOPPER_NUMBER_OF

#define HOPPER_NUMBER_OF(name, ...) HOPPER_METRIC_##name,
enum {
    HOPPER_METRICS(HOPPER_NUMBER_OF) HOPPER_N_METRICS,
    HOPPER_METRIC_BEFORE_TERMS = HOPPER_N_METRICS - 1,
    HOPPER_TERM_METRICS(HOPPER_NUMBER_OF) HOPPER_N_ALL_METRICS
};
#undef HOPPER_NUMBER_OF

// Variants, which the plain kernels leave out: bits after those of the terrain's parameters (TERRAIN_HAS_...). The
// spec's options select a set of them (hopper.c).
enum {
    HOPPER_WITH_TERRAIN = TERRAIN_HAS_END << 0, // that is not flat
    HOPPER_WITH_FOUR_STATES = TERRAIN_HAS_END << 1,
    HOPPER_WITH_TIMED_PUSH = TERRAIN_HAS_END << 2,
    HOPPER_WITH_RANDOM_PUSHES = TERRAIN_HAS_END << 3,
    HOPPER_WITH_WIND = TERRAIN_HAS_END << 4,
    HOPPER_WITH_GUSTS = TERRAIN_HAS_END << 5,
    HOPPER_WITH_TERMS = TERRAIN_HAS_END << 6,
    HOPPER_WITH_REFERENCE = TERRAIN_HAS_END << 7, // the equations of the reference
    HOPPER_WITH_EXTERNAL = TERRAIN_HAS_END << 8,  // actions in place of Raibert's control
    HOPPER_WITH_LAW = TERRAIN_HAS_END << 9,       // that a law gives (../law.h), of the spec's own or of a policy
    HOPPER_WITH_ADDED = TERRAIN_HAS_END << 10     // which add to Raibert's control
};

// clang-format off
// Sums that the metrics are computed from.
#define HOPPER_SUMS(X) \
    /* over the steps, or the time, after settle */ \
    X(sum_speed_error2) X(sum_speed) X(sum_attitude2) \
    /* lift-offs; touchdowns after one */ \
    X(hops) X(flights) \
    /* greatest height of this flight (m), and sums of it: over the height at t = 0, which keeps the variance sharp */ \
    X(apex) X(sum_apex) X(sum_apex2) \
    /* J: of the actuators; all that enters the energy balance */ \
    X(energy) X(work) \
    /* N^2, m, m/s or rad/s */ \
    X(peak_force2) X(penetration) X(residual)

// At t = 0: J, m, m.
#define HOPPER_STARTS(X) X(energy_start) X(x_body_start) X(z_body_start)

// The lane's state between two slices, all doubles.
#define HOPPER_WORK(X) \
    /* q and qd */ \
    X(x) X(z) X(a) X(b) X(l) X(dx) X(dz) X(da) X(db) X(dl) \
    /* accelerations of the last implicit steps: of step k at k mod 5 */ \
    X(x0) X(z0) X(a0) X(b0) X(l0) X(x1) X(z1) X(a1) X(b1) X(l1) X(x2) X(z2) X(a2) X(b2) X(l2) \
    X(x3) X(z3) X(a3) X(b3) X(l3) X(x4) X(z4) X(a4) X(b4) X(l4) \
    /* state machine */ \
    X(fsm) X(T_s) X(T_compression) X(t_thrust_on) X(t_transition) \
    HOPPER_SUMS(X) \
    HOPPER_STARTS(X)

// Sums of terms (J) that `accounting: parts` adds: values at t = 0, then sums over the lane's life.
#define HOPPER_TERM_SUMS(X) \
    X(kinetic_start) X(gravity_start) X(leg_start) X(ground_start) X(stop) X(ground) X(hip) X(thrust) X(other)

// Fields that adaptive steps add (dormand_prince.h).
#define HOPPER_ADAPTIVE_WORK(X) X(t) X(h) X(reach) X(switches) X(turning) X(event_t) X(cascade)
// clang-format on

#define HOPPER_NUMBER_OF(name) HOPPER_WORK_##name,
enum {
    HOPPER_WORK(HOPPER_NUMBER_OF) HOPPER_N_WORK,
    HOPPER_WORK_BEFORE_ADAPTIVE = HOPPER_N_WORK - 1,
    HOPPER_ADAPTIVE_WORK(HOPPER_NUMBER_OF) HOPPER_N_ADAPTIVE_WORK
};
#undef HOPPER_NUMBER_OF

#define HOPPER_NUMBER_OF(name) HOPPER_WORK_term_##name,
enum {
    HOPPER_WORK_BEFORE_TERMS = HOPPER_N_ADAPTIVE_WORK - 1,
    HOPPER_TERM_SUMS(HOPPER_NUMBER_OF) HOPPER_N_TERMS_WORK,
    HOPPER_WORK_held_u1 = HOPPER_N_TERMS_WORK, // what a law asked for last
    HOPPER_WORK_held_u2,
    HOPPER_N_ALL_WORK
};
#undef HOPPER_NUMBER_OF

// States of the controller's machine.
#define HOPPER_COMPRESSION 0.0
#define HOPPER_THRUST 1.0
#define HOPPER_FLIGHT 2.0      // AIR_PREPARE with four states
#define HOPPER_SPEED_MATCH 3.0 // only with four states

enum { HOPPER_NONE, HOPPER_FELL, HOPPER_DIVERGED, HOPPER_SOLVER, HOPPER_LIMIT };

enum { HOPPER_COLUMNS = 14 }; // time, 10 of state, u1, u2, fsm
// time, step, iteration, 3 norms, 10 of state before and 10 after, fsm, u1, u2
enum { HOPPER_DEBUG_COLUMNS = 29 };

// Shared by all lanes; stored in sim.h's Constants.
typedef struct HopperConstants {
    double dt;                                // s
    double tolerance;                         // of the implicit solve, m/s and rad/s; of adaptive steps
    int64_t ticks;                            // steps of a lane's life
    int64_t settle;                           // steps before the settled metrics begin
    int64_t steps_max;                        // of an adaptive lane
    int32_t iterations;                       // most iterations of the implicit solve
    int32_t variants;                         // set of HOPPER_WITH_...
    int32_t terrain;                          // TerrainKind
    int32_t n_points;                         // of the terrain's table
    int32_t held;                             // steps for which an action is held
    int32_t actions, n_actions;               // [n_actions][u1, u2] in the assets (N, N m)
    int16_t row[HOPPER_N_VARIANT_PARAMETERS]; // index of the lane input of each, -1 if the lanes don't have it
} HopperConstants;

#endif
