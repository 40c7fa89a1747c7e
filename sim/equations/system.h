// A system of the user's as the host knows it: runner/experiment/equations reads it from a spec, equations.c lays it
// out for kernels. Expressions are values of one tape (../tape.h).
#ifndef HOPSCOTCH_EQUATIONS_SYSTEM_H
#define HOPSCOTCH_EQUATIONS_SYSTEM_H

#include "../reductions.h"
#include "../tape.h"

enum {
    SYSTEM_STATES_MAX = 64,
    SYSTEM_HELD_MAX = 64,
    SYSTEM_MODES_MAX = 64,
    SYSTEM_GUARDS_MAX = 256,
    SYSTEM_ACTIONS_MAX = 256, // of a mode
    SYSTEM_METRICS_MAX = 256,
    SYSTEM_PARAMETERS_MAX = 1024,
    SYSTEM_TABLES_MAX = 64,      // of tables, and of inputs
    SYSTEM_NUMBERS_MAX = 1 << 18 // of all of them together
};

// Failures that every system has; the user's follow.
// clang-format off
#define SYSTEM_FAILURES(X) X(none) X(diverged) X(zeno) X(step_too_small) X(solver) X(limit) X(instant)
// clang-format on

// The registers of a system's inputs: time, states, held numbers, parameters, then sides of guards and rows of switches
// (switches.h). Behind the user's held numbers stand those of clocks.
#define SYSTEM_TIME 0
#define SYSTEM_STATE(state) (1 + (state))
#define SYSTEM_HELD(n_states, held) (1 + (n_states) + (held))
#define SYSTEM_PARAMETER(n_states, n_held, parameter) (1 + (n_states) + (n_held) + (parameter))
#define SYSTEM_SIDE(n_states, n_held, n_parameters, guard) (1 + (n_states) + (n_held) + (n_parameters) + (guard))

// What a guard's change of sign means. FOLLOWED: a comparison of a condition, whose change only ends a step.
typedef enum SystemDirection { SYSTEM_RISES, SYSTEM_FALLS, SYSTEM_CROSSES, SYSTEM_FOLLOWED } SystemDirection;

typedef struct SystemGuard {
    SystemDirection direction;
    const double *rows; // [n_rows] increasing: the instants (s) after 0 at which it turns; NULL: not known beforehand
    int n_rows;
} SystemGuard;

// Instants known beforehand, by a value of fixed inputs: once `at` it (s), or at each multiple of it.
typedef struct SystemInstant {
    bool every;
    TapeValue at;
} SystemInstant;

// What happens at a crossing of a guard or at an instant: `set`, then `to`.
typedef struct SystemAction {
    int guard, instant;   // one of them; the other is -1
    int event;            // index of its name
    const TapeValue *set; // [n_states + n_held], TAPE_NONE: unchanged; NULL: all are
    int to;               // mode; -1: none
    bool stop;            // a normal end
    int failure;          // ends the lane as this failure of the user's; -1: none
} SystemAction;

// The instants of inputs that a file gives: steps end at them. Its held number is the row of the file that counts, -1
// before the first. What is read from the file is a signal of the tape.
typedef struct SystemClock {
    int table;        // on the tape: one that has these instants
    const char *name; // of the first input that has them
} SystemClock;

struct Node; // of io/yaml.h

// An input that does not say what it is before and after its file.
typedef struct SystemSpan {
    const char *name;
    double from, to; // s
} SystemSpan;

typedef struct SystemMode {
    const char *name;
    const TapeValue *rates;      // [n_states + n_integrals]; of a map: the next states
    const TapeValue *noise;      // [n_states] size of its noise, TAPE_NONE: none in this mode
    const TapeValue *guards;     // [n_guards], TAPE_NONE: not in this mode
    const TapeValue *watched;    // [n_metrics] the expression of the metric, TAPE_NONE: none in this mode
    const TapeValue *columns;    // [n_shown] further columns
    const TapeValue *conditions; // [n_conditions]
    const TapeValue *points;     // [n_points][2] of the drawing, TAPE_NONE: not in this mode
    const SystemAction *actions; // [n_actions] in the order of the spec
    int n_actions;
} SystemMode;

typedef struct SystemMetric {
    Reduction reduction;
    ReductionTake take; // BEFORE, AFTER
    int event;          // COUNT, BEFORE, AFTER
    int condition;      // FIRST, LAST, PART
    int integral;       // MEAN, RMS, INTEGRAL: index among the integrals
} SystemMetric;

typedef struct System {
    Tape *tape;
    const Parameter *parameters; // [n_parameters], those of SECTION_INITIAL behind the others
    int n_parameters;
    const TapeValue *parameter_values; // [n_parameters] inputs of the tape
    int n_clocks;                      // among n_held, the last of them
    const SystemClock *clocks;
    int n_actions;                // inputs with a range, among n_held: in front of the clocks
    const Action *actions;        // [n_actions]
    const struct Node *action_at; // where the first is declared
    const SystemSpan *spans;      // [n_spans]
    int n_spans;
    int n_states, n_held, n_guards, n_instants, n_modes, n_metrics, n_integrals, n_shown, n_conditions, n_failed,
        n_events;
    const Field *state_columns, *held_columns; // [n_states], [system_held()] trajectory columns
    const TapeValue *start;                    // [n_states + n_held] of fixed inputs
    const double *scale;                       // [n_states] absolute tolerance in units of the relative one
    const bool *is_position;                   // [n_states] its rate is another state, in all modes
    int n_sources;                             // of noise; 0: none. Else the last parameter is the lane's seed
    const int *sources;                        // [n_states] source of its noise, -1: none; NULL: there is no noise
    const char *multiplicative;                // a state whose noise depends on states; NULL: there is none
    const SystemGuard *guards;
    const SystemInstant *instants;
    const SystemMode *modes;
    const SystemMetric *metrics;
    const Field *metric_fields;  // [n_metrics]
    const Field *shown;          // [n_shown]
    const int *failed;           // [n_failed] failure of conditions[0 .. n_failed)
    const char *const *failures; // [n_failures] the user's, behind those of SYSTEM_FAILURES
    int n_failures;
    const char *const *events;    // [n_events] names
    const char *text;             // as the resolved spec has it
    int n_expressions, n_checked; // expressions; those whose units were checked
    const char *unitless;         // names without a unit; NULL: all have one
    bool is_map;
    const Shape *shapes; // [n_shapes] between points 0 .. n_points - 1; width in the unit of the points
    int n_shapes, n_points, focus;
    bool has_ground;
    double ground; // height
} System;

// Held numbers that a user knows of: his own, then actions.
static inline int system_held(const System *system) { return system->n_held - system->n_clocks; }
static inline int system_first_action(const System *system) { return system_held(system) - system->n_actions; }

// Whether an operation jumps: an order (<), floor, ceil, mod, sign or step.
bool system_jumps(int operation);
// Marks what jumps at instants that steps do not end at, of what a step computes (switches.h): values of the tape that
// are made of time and fixed inputs alone, missed[count]. count 0, and NULL: nothing is known of them.
const bool *system_missed(const System *system, Arena *arena, int *count);

// The system that stands for one that is not given.
const System *system_example(Arena *arena);

#endif
