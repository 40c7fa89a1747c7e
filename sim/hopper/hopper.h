// What the host side (hopper.c) and the kernels (advance.h) of the hopper share.
#ifndef HOPSCOTCH_HOPPER_H
#define HOPSCOTCH_HOPPER_H

#include "../sim.h"
#include "parameters.h"

#define HOPPER_NUMBER_OF(name, ...) HOPPER_PARAMETER_##name,
enum { HOPPER_PARAMETERS(HOPPER_NUMBER_OF) HOPPER_N_PARAMETERS };
#undef HOPPER_NUMBER_OF

#define HOPPER_NUMBER_OF(name, ...) HOPPER_METRIC_##name,
enum { HOPPER_METRICS(HOPPER_NUMBER_OF) HOPPER_N_METRICS };
#undef HOPPER_NUMBER_OF

// clang-format off
// Sums that the metrics are made of.
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
    X(peak_force2) X(penetration) X(residual) \
    /* J, m, m at t = 0 */ \
    X(energy_start) X(x_body_start) X(z_body_start)

// The lane's state between two slices, all doubles.
#define HOPPER_WORK(X) \
    /* q and qd */ \
    X(x) X(z) X(a) X(b) X(l) X(dx) X(dz) X(da) X(db) X(dl) \
    /* accelerations of the last implicit step (1) and of the one before (0) */ \
    X(x1) X(z1) X(a1) X(b1) X(l1) X(x0) X(z0) X(a0) X(b0) X(l0) \
    /* state machine */ \
    X(fsm) X(T_s) X(T_compression) X(t_thrust_on) X(t_transition) \
    HOPPER_SUMS(X)

// What adaptive steps add to it (dormand_prince.h).
#define HOPPER_ADAPTIVE_WORK(X) X(t) X(h) X(reach) X(switches) X(turning) X(event_t) X(cascade)
// clang-format on

#define HOPPER_NUMBER_OF(name) HOPPER_WORK_##name,
enum {
    HOPPER_WORK(HOPPER_NUMBER_OF) HOPPER_N_WORK,
    HOPPER_WORK_BEFORE_ADAPTIVE = HOPPER_N_WORK - 1,
    HOPPER_ADAPTIVE_WORK(HOPPER_NUMBER_OF) HOPPER_N_ADAPTIVE_WORK
};
#undef HOPPER_NUMBER_OF

// States of the controller's machine.
#define HOPPER_COMPRESSION 0.0
#define HOPPER_THRUST 1.0
#define HOPPER_FLIGHT 2.0

enum { HOPPER_NONE, HOPPER_FELL, HOPPER_DIVERGED, HOPPER_SOLVER, HOPPER_LIMIT };

enum { HOPPER_COLUMNS = 14 }; // time, 10 of state, u1, u2, fsm
// time, step, iteration, 3 norms, 10 of state before and 10 after, fsm, u1, u2
enum { HOPPER_DEBUG_COLUMNS = 29 };

// Shared by all lanes; laid over sim.h's Constants.
typedef struct HopperConstants {
    double dt;          // s
    double tolerance;   // of the implicit solve, m/s and rad/s; of adaptive steps, relative to 1 + |y|
    int64_t ticks;      // steps of a lane's life
    int64_t settle;     // steps that the settled metrics leave out
    int64_t steps_max;  // of an adaptive lane
    int32_t iterations; // greatest number of the implicit solve
    int32_t reference;  // 1: the reference's equations
} HopperConstants;

#endif
