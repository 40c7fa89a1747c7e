// The figure of a system: rods, springs and discs between points that the spec gives by expressions.
#include "equations.h"

#include "../tape_code.h"
#include "drawing.h"

#include <string.h>

// What it takes to find the points of a sample: a code for each mode.
typedef struct EquationsFigure {
    const System *system;
    const struct EquationsDerivatives *derivatives;
    TapeLayout layout;
    TapeCode *codes; // [n_modes], with 2 n_points outputs
    Drawing drawing;
} EquationsFigure;

static double equations_draw_lookup(const Tape *tape, int64_t step, const double *registers)
{
    const TapeTable *table = tape->tables[tape_step_register(step, 3)];
    return tape_lookup_in(table->row, step, registers[tape_step_register(step, 1)],
                          registers[tape_step_register(step, 2)]);
}

static void equations_draw_run(const Tape *tape, const int64_t *steps, int count, double *registers)
{
    for (int k = 0; k < count; k++) {
        const int64_t step = steps[k];
        registers[tape_step_register(step, 0)] =
            tape_step_operation(step) > TAPE_INPUT
                ? equations_draw_lookup(tape, step, registers)
                : tape_function(tape_step_operation(step), registers[tape_step_register(step, 1)],
                                registers[tape_step_register(step, 2)], registers[tape_step_register(step, 3)]);
    }
}

// The mode of a sample, which may be one that was stored: any number.
static int equations_draw_mode(const System *system, const double *sample)
{
    const double mode = system->n_modes > 1 ? sample[1 + system->n_states + system_held(system)] : 0.0;
    return mode > 0.0 && mode < system->n_modes ? (int)mode : 0;
}

// The points of shapes that a mode does not have are those of the shape that a camera follows.
static void equations_draw_points(const Configured *configured, const double *parameter, const double *sample,
                                  double *point)
{
    const EquationsFigure *figure = configured->host;
    const System *system = figure->system;
    const int mode = equations_draw_mode(system, sample), focus = figure->drawing.focus;
    double registers[TAPE_REGISTERS_MAX];
    memset(registers, 0, (size_t)figure->layout.registers * sizeof *registers);
    memcpy(registers, sample, (size_t)(1 + system->n_states + system_held(system)) * sizeof *registers);
    for (int k = 0; k < system->n_clocks; k++) {
        const TapeTable *table = system->tape->tables[system->clocks[k].table];
        registers[SYSTEM_HELD(system->n_states, system_held(system) + k)] = lookup_row_at(table, sample[0]);
    }
    memcpy(&registers[SYSTEM_PARAMETER(system->n_states, system->n_held, 0)], parameter,
           (size_t)system->n_parameters * sizeof *registers);
    memcpy(&registers[figure->layout.first], figure->layout.numbers,
           (size_t)figure->layout.n_numbers * sizeof *registers);
    equations_draw_run(system->tape, figure->layout.derived, figure->layout.n_derived_steps, registers);
    const TapeCode *code = &figure->codes[mode];
    equations_draw_run(system->tape, code->steps, code->count, registers);
    for (int i = 0; i < 2 * system->n_points; i++) {
        const int at = code->outputs[i] >= 0 ? code->outputs[i] : code->outputs[2 * focus + i % 2];
        point[i] = at >= 0 ? registers[at] : 0.0;
    }
}

static double equations_draw_ground(const Configured *configured, const double *parameter, double x)
{
    const EquationsFigure *figure = configured->host;
    (void)parameter, (void)x;
    return figure->system->ground;
}

Error equations_figure(const System *system, const struct EquationsDerivatives *derivatives, Arena *arena,
                       Configured *out)
{
    const int count = 2 * system->n_points, all = count * system->n_modes;
    EquationsFigure *figure = ARENA_NEW(arena, EquationsFigure, 1);
    TapeValue *wanted = ARENA_NEW(arena, TapeValue, all);
    figure->system = system;
    figure->derivatives = derivatives;
    out->host = figure;
    if (system->n_shapes == 0) return error_none();
    figure->codes = ARENA_NEW(arena, TapeCode, system->n_modes);
    for (int m = 0; m < system->n_modes; m++)
        memcpy(wanted + m * count, system->modes[m].points, (size_t)count * sizeof *wanted);
    const int first = SYSTEM_SIDE(system->n_states, system->n_held, system->n_parameters, system->n_guards);
    TRY(tape_layout(system->tape, first, wanted, all, arena, &figure->layout));
    for (int m = 0; m < system->n_modes; m++)
        TRY(tape_code(system->tape, &figure->layout, wanted + m * count, count, arena, &figure->codes[m]));
    const char **phases = ARENA_NEW(arena, const char *, system->n_modes);
    for (int m = 0; m < system->n_modes; m++) phases[m] = system->modes[m].name;
    const bool modes = system->n_modes > 1;
    figure->drawing = (Drawing){.n_points = system->n_points,
                                .n_shapes = system->n_shapes,
                                .focus = system->focus,
                                .shapes = system->shapes,
                                .phase = modes ? 1 + system->n_states + system_held(system) : -1,
                                .phases = phases,
                                .n_phases = modes ? system->n_modes : 0,
                                .cycle_starts = 1,
                                .points = equations_draw_points,
                                .ground = system->has_ground ? equations_draw_ground : NULL,
                                .fixed = !system->has_ground};
    out->drawing = &figure->drawing;
    return error_none();
}

const System *equations_system(const Configured *configured)
{
    return ((const EquationsFigure *)configured->host)->system;
}

const struct EquationsDerivatives *equations_derivatives(const Configured *configured)
{
    return ((const EquationsFigure *)configured->host)->derivatives;
}
