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

// The lane's state between two slices, all doubles.
// clang-format off
#define HOPPER_WORK(X) \
    /* q and qd */ \
    X(x) X(z) X(a) X(b) X(l) X(dx) X(dz) X(da) X(db) X(dl) \
    /* accelerations at the middle of the last step (1) and of the one before (0) */ \
    X(x1) X(z1) X(a1) X(b1) X(l1) X(x0) X(z0) X(a0) X(b0) X(l0) \
    /* state machine */ \
    X(fsm) X(T_s) X(T_compression) X(t_thrust_on) X(t_transition) \
    /* sums for the metrics */ \
    X(sum_speed_error2) X(sum_speed) X(sum_attitude2) X(hops) X(flights) X(apex) X(sum_apex) X(sum_apex2) \
    X(energy) X(work) X(peak_force2) X(penetration) X(residual) X(energy_start) X(x_body_start) X(z_body_start)
// clang-format on

#define HOPPER_NUMBER_OF(name) HOPPER_WORK_##name,
enum { HOPPER_WORK(HOPPER_NUMBER_OF) HOPPER_N_WORK };
#undef HOPPER_NUMBER_OF

// States of the controller's machine.
#define HOPPER_COMPRESSION 0.0
#define HOPPER_THRUST 1.0
#define HOPPER_FLIGHT 2.0

enum { HOPPER_NONE, HOPPER_FELL, HOPPER_DIVERGED, HOPPER_SOLVER };

enum { HOPPER_COLUMNS = 14 }; // time, 10 of state, u1, u2, fsm

// Shared by all lanes; laid over sim.h's Constants.
typedef struct HopperConstants {
    double dt;          // s
    double tolerance;   // of the implicit solve, m/s and rad/s
    int64_t ticks;      // steps of a lane's life
    int64_t settle;     // steps that the settled metrics leave out
    int32_t iterations; // greatest number of the implicit solve
    int32_t reference;  // 1: the reference's equations
} HopperConstants;

#endif
