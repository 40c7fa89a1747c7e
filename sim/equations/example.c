// The system of a spec without one, of which `hopscotch models equations` speaks: a mass on a damped spring.
#include "system.h"

#include <math.h>

const System *system_example(Arena *arena)
{
    static const Parameter parameters[] = {
        {"k", "N/kg/m", 100.0, -INFINITY, INFINITY, SECTION_PARAMETERS,
         "stiffness; of the example: the spec declares its own"},
        {"b", "N s/kg/m", 1.0, -INFINITY, INFINITY, SECTION_PARAMETERS, "damping; of the example"},
        {"x", "m", 1.0, -INFINITY, INFINITY, SECTION_INITIAL, "position at the start; of the example"},
        {"v", "m/s", 0.0, -INFINITY, INFINITY, SECTION_INITIAL, "velocity at the start; of the example"}};
    static const Field columns[] = {{"x", "m", "position", "state"}, {"v", "m/s", "velocity", "state"}};
    static const Field metrics[] = {{"x_rms", "m", "rms of x", NULL}};
    static const SystemMetric reductions[] = {{REDUCTION_RMS, REDUCTION_TAKE_LAST, -1, -1, 0}};
    static const double scale[] = {1.0, 1.0};
    static const bool positions[] = {true, false};
    enum { X, V, STATES, K = 0, B, N = 4 };
    Tape *tape = tape_new(arena);
    System *system = ARENA_NEW(arena, System, 1);
    SystemMode *mode = ARENA_NEW(arena, SystemMode, 1);
    TapeValue *parameter = ARENA_NEW(arena, TapeValue, N), *start = ARENA_NEW(arena, TapeValue, STATES),
              *rates = ARENA_NEW(arena, TapeValue, STATES + 1), *watched = ARENA_NEW(arena, TapeValue, 1);
    const TapeValue x = tape_input(tape, SYSTEM_STATE(X), TAPE_MOVING),
                    v = tape_input(tape, SYSTEM_STATE(V), TAPE_MOVING);
    for (int p = 0; p < N; p++) parameter[p] = tape_input(tape, SYSTEM_PARAMETER(STATES, 0, p), TAPE_FIXED);
    start[X] = parameter[2];
    start[V] = parameter[3];
    const TapeValue spring = tape_operation(tape, PROGRAM_MULTIPLY, parameter[K], x, TAPE_NONE),
                    damper = tape_operation(tape, PROGRAM_MULTIPLY, parameter[B], v, TAPE_NONE),
                    force = tape_operation(tape, PROGRAM_ADD, spring, damper, TAPE_NONE);
    rates[X] = v;
    rates[V] = tape_operation(tape, PROGRAM_NEGATE, force, TAPE_NONE, TAPE_NONE);
    rates[STATES] = tape_operation(tape, PROGRAM_MULTIPLY, x, x, TAPE_NONE);
    watched[0] = x;
    *mode = (SystemMode){.name = "motion", .rates = rates, .watched = watched};
    *system = (System){.tape = tape,
                       .parameters = parameters,
                       .n_parameters = N,
                       .parameter_values = parameter,
                       .n_states = STATES,
                       .n_modes = 1,
                       .n_metrics = 1,
                       .n_integrals = 1,
                       .state_columns = columns,
                       .start = start,
                       .scale = scale,
                       .is_position = positions,
                       .modes = mode,
                       .metrics = reductions,
                       .metric_fields = metrics,
                       .text = "none"};
    return system;
}
