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
    X(rodas5p, 0) \
    X(euler_maruyama, 1) \
    X(sra3, 1)
// clang-format on

typedef enum EquationsMethod {
#define EQUATIONS_METHOD(name, fixed) EQUATIONS_BY_##name,
    EQUATIONS_INTEGRATORS(EQUATIONS_METHOD) EQUATIONS_BY_map
#undef EQUATIONS_METHOD
} EquationsMethod;

#define EQUATIONS_FAILURE(name) EQUATIONS_FAIL_##name,
enum { SYSTEM_FAILURES(EQUATIONS_FAILURE) EQUATIONS_OWN_FAILURE };
#undef EQUATIONS_FAILURE

// A code in the assets (../tape_code.h), and where the indices of its outputs stand.
typedef struct EquationsCode {
    int32_t first, count, outputs;
} EquationsCode;
enum { EQUATIONS_CODE = 3 }; // numbers of a code in a table
// Behind those of the code of a straight run: where its plan stands (straight_plan.h), -1: there is none.
enum { STRAIGHT_PLAN = EQUATIONS_CODE, STRAIGHT_ROW };

// Rows of the table of modes: the first numbers of codes, then actions.
enum {
    EQUATIONS_MODE_RATES = 0,
    EQUATIONS_MODE_GUARDS = 3,  // values of all guards; register -1: not in this mode
    EQUATIONS_MODE_SLOPES = 6,  // values, then slopes
    EQUATIONS_MODE_WATCHED = 9, // expressions of metrics, then their slopes
    EQUATIONS_MODE_COLUMNS = 12,
    EQUATIONS_MODE_CONDITIONS = 15,
    EQUATIONS_MODE_JACOBIAN = 18, // d rates[i] / d state[j] at [i*n_states + j], then d rates[i] / d time
    EQUATIONS_MODE_SIZES = 21,    // of guards: sum |d guard / d state[i]| |state[i]|; with noise |sigma[i]| instead
    EQUATIONS_MODE_NOISE = 24,    // sigma[n_states]
    EQUATIONS_MODE_ACTIONS = 27,  // first row
    EQUATIONS_MODE_N_ACTIONS = 28,
    EQUATIONS_MODE_QUANTITIES = 29, // first number of [n_guards]: equal where two modes have one quantity; -1: none
    EQUATIONS_MODE = 30
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
// Rows of switches (switches.h): registers. AT -1: it counts.
enum { EQUATIONS_SWITCH_AT, EQUATIONS_SWITCH_PERIOD, EQUATIONS_SWITCH_RATE, EQUATIONS_SWITCH_REST, EQUATIONS_SWITCH };
enum { EQUATIONS_SUMS = 3 };         // of a metric
enum { EQUATIONS_SHARED_FILE = 40 }; // registers that a GPU has in shared memory
#define EQUATIONS_SAME 1e-15         // of instants that are one, over their time

// Numbers of a lane with actions: periods that have begun; how it has ended before the first, 0: it has not, else 1 +
// its failure.
enum { EQUATIONS_ACTING_PERIODS, EQUATIONS_ACTING_ENDED, EQUATIONS_ACTING };

// Columns of the table of events (record.h). With several modes two more follow, the mode before and after; then the
// states and the user's held numbers before the event, and these after it.
enum { EQUATIONS_ROW_TIME, EQUATIONS_ROW_NUMBER, EQUATIONS_ROW_EVENT, EQUATIONS_ROW };

// Numbers of a lane that have names; arrays follow.
enum {
    EQUATIONS_T,
    EQUATIONS_H,       // the length that the next step is to have
    EQUATIONS_REACH,   // length of the step that lands on an event; 0: none
    EQUATIONS_MODE_OF, // number of its mode
    EQUATIONS_EVENT_T, // time of the last event
    EQUATIONS_CASCADE, // events at this instant
    EQUATIONS_CROWD,   // events in a row, each soon after the last
    EQUATIONS_TIMED_T, // time of the last instant
    EQUATIONS_SIGHT,   // the longest step by which the guards are seen
    EQUATIONS_GRID,    // steps of dt done, of a method with fixed steps
    // of the Brownian motion (noise.h)
    EQUATIONS_OPEN,      // 1: there is a piece that the step is in
    EQUATIONS_PIECE_END, // time
    EQUATIONS_CUTS,      // of this interval
    EQUATIONS_NAMED
};

// Laid over sim.h's Constants. Offsets are numbers of a lane in its frame, or indices in the assets.
// clang-format off
#define EQUATIONS_CONSTANTS(X) \
    X(double, dt) X(double, duration) X(double, tolerance) X(int64_t, steps_max) \
    X(int32_t, n_states) X(int32_t, n_total) X(int32_t, n_held) X(int32_t, n_guards) X(int32_t, n_instants) \
    X(int32_t, n_parameters) X(int32_t, n_modes) X(int32_t, n_metrics) X(int32_t, n_integrals) X(int32_t, n_shown) \
    X(int32_t, n_conditions) X(int32_t, n_failed) X(int32_t, n_events) X(int32_t, cascade) X(int32_t, fixed_steps) \
    X(int32_t, is_map) X(int32_t, n_sources) \
    /* of the held numbers */ \
    X(int32_t, n_clocks) X(int32_t, n_actions) \
    /* rows of the table of actions, 0: there is none; steps dt in a period */ \
    X(int32_t, n_action_rows) X(int64_t, held) \
    /* 1: there are metrics min and max */ \
    X(int32_t, extrema) \
    /* in the assets */ \
    X(int32_t, numbers) X(int32_t, n_numbers) X(int32_t, derived) X(int32_t, n_derived_steps) X(int32_t, start) \
    X(int32_t, modes) X(int32_t, guards) X(int32_t, metrics) X(int32_t, instants) X(int32_t, scale) \
    X(int32_t, positions) X(int32_t, failed) X(int32_t, sources) X(int32_t, tables) X(int32_t, clocks) \
    /* bounds of actions, then their table (actions.h) */ \
    X(int32_t, actions) \
    /* the code of a step (straight.h), 0: there is none */ \
    X(int32_t, straight) \
    /* codes of modes, a bit for each row: all modes have one code; they have the same outputs, too */ \
    X(int32_t, shared) X(int32_t, same) \
    /* in the frame: what is kept between slices, then numbers of a step */ \
    X(int32_t, y) X(int32_t, f) X(int32_t, guard) X(int32_t, slope) X(int32_t, offset) X(int32_t, turn) \
    X(int32_t, condition) X(int32_t, path) X(int32_t, acting) \
    X(int32_t, watched) X(int32_t, sums) X(int32_t, stage) X(int32_t, next) X(int32_t, next_f) X(int32_t, next_guard) \
    X(int32_t, dense) X(int32_t, saved) X(int32_t, matrix) X(int32_t, noise) X(int32_t, file) \
    /* of the file; the first of numbers */ \
    X(int32_t, registers) X(int32_t, first_number)
// clang-format on

typedef struct EquationsConstants {
#if defined(HOPSCOTCH_MADE) && defined(__cplusplus) // known to the compiler as made_NAME
#define EQUATIONS_MEMBER(type, name) static constexpr type name = (type)made_##name;
#else
#define EQUATIONS_MEMBER(type, name) type name;
#endif
    EQUATIONS_CONSTANTS(EQUATIONS_MEMBER)
#undef EQUATIONS_MEMBER
} EquationsConstants;

#if defined(HOPSCOTCH_MADE)
enum { EQUATIONS_MADE_NUMBERS = (int)made_file + (int)made_registers }; // of the frame
#if !defined(__cplusplus) // C17 has no constant members: the compiler knows those of an object
#define EQUATIONS_MADE_VALUE(type, name) .name = (type)made_##name,
static const EquationsConstants equations_made_constants = {EQUATIONS_CONSTANTS(EQUATIONS_MADE_VALUE)};
#undef EQUATIONS_MADE_VALUE
#endif
#endif

// What a made kernel fixes, as a number in the source: compilers leave out what follows from it before they look into
// a function that is not called then. They take half of the time, and make the same code.
#if defined(HOPSCOTCH_MADE)
#define EQUATIONS_KNOWN(c, name) made_##name
#define EQUATIONS_KNOWN_METHOD(method) ((EquationsMethod)made_method)
#define EQUATIONS_OBSERVED(observed) (made_observed != 0 && !MADE_ON_CPU)
#else
#define EQUATIONS_KNOWN(c, name) ((c)->name)
#define EQUATIONS_KNOWN_METHOD(method) (method)
#define EQUATIONS_OBSERVED(observed) (observed)
#endif
#define EQUATIONS_IS(method, name) (EQUATIONS_KNOWN_METHOD(method) == EQUATIONS_BY_##name)

#endif
