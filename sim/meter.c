// Meters (Meter in sim.h) on the host: expressions of metrics as code, and the columns and parameters that they need.
#include "models.h"

#include <string.h>

typedef struct MeterBuild {
    const System *system;
    Meter *meter;
    Arena *arena;
    double *assets; // [room]
    int64_t count, room;
} MeterBuild;

static int32_t meter_place(MeterBuild *build, const void *numbers, int64_t count)
{
    const int64_t first = build->count;
    if (first + count > build->room) {
        build->room = 2 * (first + count);
        double *more = ARENA_NEW(build->arena, double, build->room);
        if (first > 0) memcpy(more, build->assets, (size_t)first * sizeof *more);
        build->assets = more;
    }
    if (count > 0) memcpy(build->assets + first, numbers, (size_t)count * sizeof *build->assets);
    build->count += count;
    return (int32_t)first;
}

static int32_t meter_place_integers(MeterBuild *build, const int64_t *integers, int64_t count)
{
    return meter_place(build, integers, count);
}

// Inputs of the system's tape are its states and parameters by their numbers; here they get the registers 0, 1, ... in
// their order, if an expression has them. The time, which all meters need, is the first.
static void meter_assign_inputs(const MeterBuild *build, const Configured *configured)
{
    Tape *tape = build->system->tape;
    Meter *meter = build->meter;
    const int n_columns = configured->n_columns, n_inputs = n_columns + configured->n_parameters;
    int *place = ARENA_NEW(build->arena, int, n_inputs);
    const char **needed = ARENA_NEW(build->arena, const char *, n_inputs + 1);
    tape_input(tape, SYSTEM_TIME, TAPE_MOVING);
    for (int i = 0; i < tape->count; i++)
        if (tape->nodes[i].operation == TAPE_INPUT) place[tape->nodes[i].a] = 1;
    for (int i = 0, next = 0; i < n_inputs; i++) {
        if (place[i] == 0) continue;
        const bool column = i < n_columns;
        needed[next] = column ? configured->columns[i].name : configured->parameters[i - n_columns].name;
        place[i] = next++;
        meter->n_needed += column;
        meter->n_parameters += !column;
    }
    for (int i = 0; i < tape->count; i++)
        if (tape->nodes[i].operation == TAPE_INPUT) tape->nodes[i].a = place[tape->nodes[i].a];
    meter->needed = needed;
}

static Error meter_build(MeterBuild *build)
{
    const System *system = build->system;
    const int n = system->n_metrics;
    Meter *meter = build->meter;
    TapeValue *outputs = ARENA_NEW(build->arena, TapeValue, 2 * n);
    TapeLayout layout;
    TapeCode code;
    for (int m = 0; m < n; m++) {
        const int condition = system->metrics[m].condition;
        TapeValue value = system->modes[0].watched[m];
        if (system->metrics[m].reduction == SYSTEM_RMS)
            value = tape_operation(system->tape, PROGRAM_MULTIPLY, value, value, TAPE_NONE);
        outputs[2 * m] = value;
        outputs[2 * m + 1] = condition >= 0 ? system->modes[0].conditions[condition] : TAPE_NONE;
    }
    TRY(tape_layout(system->tape, meter->n_needed + meter->n_parameters, outputs, 2 * n, build->arena, &layout));
    TRY(tape_code(system->tape, &layout, outputs, 2 * n, build->arena, &code));
    meter->numbers = meter_place(build, layout.numbers, layout.n_numbers);
    meter->n_numbers = layout.n_numbers;
    meter->first_number = layout.first;
    meter->derived = meter_place_integers(build, layout.derived, layout.n_derived_steps);
    meter->n_derived = layout.n_derived_steps;
    meter->steps = meter_place_integers(build, code.steps, code.count);
    meter->n_steps = code.count;
    meter->metrics = (int32_t)build->count;
    for (int m = 0; m < n; m++) {
        const SystemMetric *metric = &system->metrics[m];
        const int64_t row[METER_METRIC] = {[METER_REDUCTION] = metric->reduction,
                                           [METER_TAKE] = metric->take,
                                           [METER_OF] = code.outputs[2 * m],
                                           [METER_IF] = code.outputs[2 * m + 1]};
        meter_place_integers(build, row, METER_METRIC);
    }
    meter->registers = layout.registers;
    meter->cells = METER_NAMED + n * METER_CELLS + layout.registers;
    return error_none();
}

Error meter_make(const System *system, const Configured *configured, Arena *arena, Meter *out)
{
    MeterBuild build = {.system = system, .meter = out, .arena = arena};
    *out = (Meter){.n_metrics = system->n_metrics, .fields = system->metric_fields};
    meter_assign_inputs(&build, configured);
    TRY(meter_build(&build));
    out->assets = build.assets;
    out->n_assets = build.count;
    return error_none();
}

static int meter_find(const char *name, const Configured *configured, bool column)
{
    for (int i = 0; i < (column ? configured->n_columns : configured->n_parameters); i++)
        if (strcmp(column ? configured->columns[i].name : configured->parameters[i].name, name) == 0) return i;
    return -1;
}

void meter_attach(const Meter *meter, Configured *configured, Arena *arena)
{
    Meter *own = ARENA_NEW(arena, Meter, 1);
    *own = *meter;
    MeterBuild build = {.meter = own, .arena = arena};
    int64_t *columns = ARENA_NEW(arena, int64_t, configured->n_columns);
    int64_t *parameters = ARENA_NEW(arena, int64_t, meter->n_parameters);
    Field *metrics = ARENA_NEW(arena, Field, configured->n_metrics + meter->n_metrics);
    for (int c = 0; c < configured->n_columns; c++) columns[c] = -1;
    for (int k = 0; k < meter->n_needed; k++) {
        const int column = meter_find(meter->needed[k], configured, true);
        if (column >= 0) columns[column] = k;
    }
    for (int k = 0; k < meter->n_parameters; k++)
        parameters[k] = meter_find(meter->needed[meter->n_needed + k], configured, false);
    meter_place(&build, meter->assets, meter->n_assets);
    own->columns = meter_place_integers(&build, columns, configured->n_columns);
    own->parameters = meter_place_integers(&build, parameters, meter->n_parameters);
    own->assets = build.assets;
    own->n_assets = build.count;
    own->first = configured->n_metrics;
    memcpy(metrics, configured->metrics, (size_t)configured->n_metrics * sizeof *metrics);
    memcpy(metrics + configured->n_metrics, meter->fields, (size_t)meter->n_metrics * sizeof *metrics);
    configured->metrics = metrics;
    configured->n_metrics += meter->n_metrics;
    configured->meter = own;
}
