// What the host's side of the model `equations` (equations.c) and its kernels share: constants, and where numbers of a
// lane stand in its frame.
#ifndef HOPSCOTCH_EQUATIONS_H
#define HOPSCOTCH_EQUATIONS_H

#include "../sim.h"

// X(name, fixed): integrators, in the order of the option's words. fixed: 1 if steps have the length dt, 0 if the
// error decides.
// clang-format off
#define EQUATIONS_INTEGRATORS(X) \
    X(dormand_prince, 0) \
    X(rk4, 1) \
    X(semi_implicit_euler, 1) \
    X(implicit_midpoint, 1) \
    X(rodas5p, 0)

#define EQUATIONS_FAILURES(X) X(none) X(diverged) X(zeno) X(step_too_small) X(solver) X(limit)
// clang-format on
typedef enum EquationsMethod {
#define EQUATIONS_METHOD(name, fixed) EQUATIONS_BY_##name,
    EQUATIONS_INTEGRATORS(EQUATIONS_METHOD) EQUATIONS_BY_map
#undef EQUATIONS_METHOD
} EquationsMethod;

#define EQUATIONS_FAILURE(name) EQUATIONS_FAIL_##name,
enum { EQUATIONS_FAILURES(EQUATIONS_FAILURE) EQUATIONS_OWN_FAILURE };
#undef EQUATIONS_FAILURE

// A code in the assets (../tape_code.h), and where the indices of its outputs stand.
typedef struct EquationsCode {
    int32_t first, count, outputs;
} EquationsCode;
enum { EQUATIONS_CODE = 3 }; // numbers of a code in a table

// Rows of the table of modes: the first numbers of codes, then actions.
enum {
    EQUATIONS_MODE_RATES = 0,
    EQUATIONS_MODE_GUARDS = 3,  // values of all guards; register -1: not in this mode
    EQUATIONS_MODE_SLOPES = 6,  // values, then slopes
    EQUATIONS_MODE_WATCHED = 9, // expressions of metrics, then their slopes
    EQUATIONS_MODE_COLUMNS = 12,
    EQUATIONS_MODE_CONDITIONS = 15,
    EQUATIONS_MODE_JACOBIAN = 18, // d rates[i] / d state[j] at [i*n + j], then d rates[i] / d time
    EQUATIONS_MODE_ACTIONS = 21,  // first row
    EQUATIONS_MODE_N_ACTIONS = 22,
    EQUATIONS_MODE = 23
};
// Rows of actions.
enum {
    EQUATIONS_ACTION_GUARD,
    EQUATIONS_ACTION_INSTANT,
    EQUATIONS_ACTION_EVENT,
    EQUATIONS_ACTION_SET, // a code
    EQUATIONS_ACTION_TO = EQUATIONS_ACTION_SET + EQUATIONS_CODE,
    EQUATIONS_ACTION_STOP,
    EQUATIONS_ACTION_FAILURE,
    EQUATIONS_ACTION
};
// Rows of metrics.
enum {
    EQUATIONS_METRIC_REDUCTION,
    EQUATIONS_METRIC_TAKE,
    EQUATIONS_METRIC_EVENT,
    EQUATIONS_METRIC_CONDITION,
    EQUATIONS_METRIC_INTEGRAL,
    EQUATIONS_METRIC
};
enum { EQUATIONS_SUMS = 3 }; // of a metric

// Numbers of a lane that have names; arrays follow.
enum {
    EQUATIONS_T,
    EQUATIONS_H,       // the length that the next step is to have
    EQUATIONS_REACH,   // length of the step that lands on an event; 0: none
    EQUATIONS_BEFORE,  // length of the last step
    EQUATIONS_MODE_OF, // number of its mode
    EQUATIONS_EVENT_T, // time of the last event
    EQUATIONS_CASCADE, // events at this instant
    EQUATIONS_GRID,    // steps of dt done, of a method with fixed steps
    EQUATIONS_NAMED
};

// Laid over sim.h's Constants. Offsets are numbers of a lane in its frame, or indices in the assets.
typedef struct EquationsConstants {
    double dt, duration, tolerance;
    int64_t steps_max;
    int32_t n_states, n_total, n_held, n_guards, n_instants, n_parameters, n_modes, n_metrics, n_integrals, n_shown,
        n_conditions, n_failed, n_events, cascade, fixed_steps, is_map;
    // in the assets
    int32_t numbers, n_numbers, derived, n_derived_steps, start, modes, guards, metrics, instants, scale, positions,
        failed;
    // in the frame: persistent, then of a step
    int32_t y, f, guard, slope, turn, condition, watched, sums, stage, next, next_f, next_guard, dense, saved, matrix,
        file;
    int32_t registers; // of the file
    int32_t first_number;
    int32_t extrema; // 1: there are metrics min and max
} EquationsConstants;

#endif
