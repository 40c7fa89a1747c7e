// Meters (Meter in sim.h) on the host: the expressions of metrics and their derivatives as code, and the columns and
// parameters that they need.
#include "lane_code_host.h"
#include "meter.h"
#include "meter_slopes.h"
#include "models.h"

#include <math.h>
#include <string.h>

typedef struct MeterBuild {
    const System *system;
    Meter *meter;
    const MeterRetire *retire; // [n_retire]
    int n_retire;
    Arena *arena;
    TapeAssets assets;
} MeterBuild;

// ---- derivatives ----------------------------------------------------------------------------------------------------

// Where an operand passes some value, the operation jumps.
static bool meter_jumps(int operation)
{
    return (operation >= PROGRAM_OR && operation <= PROGRAM_EQUAL) ||
           (operation >= PROGRAM_FLOOR && operation <= PROGRAM_STEP) || operation == PROGRAM_MOD;
}

// Why a reduction has no derivative; NULL: it has one.
static const char *meter_reduction_bends(Reduction reduction)
{
    switch (reduction) {
    case REDUCTION_FINAL:
    case REDUCTION_MEAN:
    case REDUCTION_RMS:
    case REDUCTION_INTEGRAL: return NULL;
    case REDUCTION_MIN: return "min";
    case REDUCTION_MAX: return "max";
    case REDUCTION_COUNT: return "count";
    case REDUCTION_BEFORE:
    case REDUCTION_AFTER: return "at";
    case REDUCTION_FIRST: return "first";
    case REDUCTION_LAST: return "last";
    case REDUCTION_PART: return "part";
    }
    return NULL;
}

// What the value is computed from, in marks[value + 1]. True: it jumps, other than at a time.
enum { METER_REACHED = 1, METER_VARIES = 2 }; // by more than the time
static bool meter_value_jumps(const Tape *tape, TapeValue value, uint8_t *marks)
{
    bool jumps = false;
    memset(marks, 0, (size_t)value + 1);
    marks[value] = METER_REACHED;
    for (TapeValue i = value; i >= 0; i--) {
        const TapeNode *node = &tape->nodes[i];
        const TapeValue of[3] = {node->a, node->b, node->c};
        for (int k = 0; k < 3 && marks[i] != 0 && node->operation != TAPE_INPUT; k++)
            if (of[k] != TAPE_NONE) marks[of[k]] = METER_REACHED;
    }
    for (TapeValue i = 0; i <= value; i++) {
        const TapeNode *node = &tape->nodes[i];
        const TapeValue of[3] = {node->a, node->b, node->c};
        if (marks[i] == 0) continue;
        if (node->operation == TAPE_INPUT && node->a != SYSTEM_TIME) marks[i] |= METER_VARIES;
        for (int k = 0; k < 3 && node->operation != TAPE_INPUT; k++)
            if (of[k] != TAPE_NONE) marks[i] |= marks[of[k]] & METER_VARIES;
        jumps |= meter_jumps(node->operation) && (marks[i] & METER_VARIES) != 0;
        jumps |= node->operation == PROGRAM_IF && (marks[node->a] & METER_VARIES) != 0;
    }
    return jumps;
}

// Derivatives while they are built. More than METER_SLOPES_MAX are too many.
enum { METER_SLOPES_MAX = 4096 };
typedef struct MeterSlopesBuild {
    const TapeValue *inputs;      // [n_needed + n_parameters] by their registers; TAPE_NONE: none
    uint8_t *marks;               // [values of the tape before there are derivatives]
    TapeValue *values;            // [METER_SLOPES_MAX]
    int64_t (*rows)[METER_SLOPE]; // [METER_SLOPES_MAX]
    const char **bends;           // [n_metrics]
    int n_rows;
} MeterSlopesBuild;

static const TapeValue *meter_inputs(const MeterBuild *build)
{
    const Tape *tape = build->system->tape;
    const int count = build->meter->of.n_needed + build->meter->of.n_parameters;
    TapeValue *inputs = ARENA_NEW(build->arena, TapeValue, count);
    for (int k = 0; k < count; k++) inputs[k] = TAPE_NONE;
    for (TapeValue i = 0; i < tape->count; i++)
        if (tape->nodes[i].operation == TAPE_INPUT) inputs[tape->nodes[i].a] = i;
    return inputs;
}

// Those of a metric by all columns and parameters that its value is computed from. False: they are too many.
static bool meter_slopes_of(const MeterBuild *build, MeterSlopesBuild *slopes, int metric, TapeValue value)
{
    Tape *tape = build->system->tape;
    const TapeValue one = tape_number(tape, 1.0);
    for (int k = 1; k < build->meter->of.n_needed + build->meter->of.n_parameters; k++) {
        const TapeValue input = slopes->inputs[k];
        if (input == TAPE_NONE || input > value || slopes->marks[input] == 0) continue;
        const TapeValue slope = tape_slope(tape, value, &input, &one, 1);
        if (tape->full || slopes->n_rows == METER_SLOPES_MAX) return false;
        if (slope == TAPE_NONE) continue;
        slopes->rows[slopes->n_rows][METER_SLOPE_METRIC] = metric;
        slopes->rows[slopes->n_rows][METER_SLOPE_BY] = k;
        slopes->values[slopes->n_rows++] = slope;
    }
    return true;
}

static bool meter_place_slopes(MeterBuild *build, MeterSlopesBuild *slopes, MeterSlopes *out)
{
    Tape *tape = build->system->tape;
    const Meter *meter = build->meter;
    TapeLayout layout;
    TapeCode code;
    const Error laid = tape_layout(tape, meter->of.n_needed + meter->of.n_parameters, slopes->values, slopes->n_rows,
                                   build->arena, &layout);
    if (laid.kind != OK) return false;
    if (tape_code(tape, &layout, slopes->values, slopes->n_rows, build->arena, &code).kind != OK) return false;
    for (int i = 0; i < slopes->n_rows; i++) slopes->rows[i][METER_SLOPE_OF] = code.outputs[i];
    out->code = tape_assets_put_code(&build->assets, &layout, &code);
    out->rows = tape_assets_put(&build->assets, slopes->rows[0], (int64_t)slopes->n_rows * METER_SLOPE);
    out->n_rows = slopes->n_rows;
    return true;
}

// values[2*n_metrics]: those of metrics and of their conditions. Metrics whose derivatives are too long have none.
static void meter_build_slopes(MeterBuild *build, const TapeValue *values)
{
    const System *system = build->system;
    const int n = system->n_metrics;
    MeterSlopes *out = ARENA_NEW(build->arena, MeterSlopes, 1);
    MeterSlopesBuild slopes = {.inputs = meter_inputs(build),
                               .marks = ARENA_NEW(build->arena, uint8_t, system->tape->count),
                               .values = ARENA_NEW(build->arena, TapeValue, METER_SLOPES_MAX),
                               .rows = arena_take(build->arena, METER_SLOPES_MAX, sizeof *slopes.rows),
                               .bends = ARENA_NEW(build->arena, const char *, n)};
    bool fits = true;
    for (int m = 0; m < n; m++) {
        slopes.bends[m] = meter_reduction_bends(system->metrics[m].reduction);
        if (slopes.bends[m] != NULL || values[2 * m] == TAPE_NONE) continue;
        if (meter_value_jumps(system->tape, values[2 * m], slopes.marks)) {
            slopes.bends[m] = "its expression jumps";
            continue;
        }
        fits = fits && meter_slopes_of(build, &slopes, m, values[2 * m]);
    }
    if (!fits || !meter_place_slopes(build, &slopes, out)) {
        *out = (MeterSlopes){.code.registers = build->meter->of.n_needed + build->meter->of.n_parameters};
        for (int m = 0; m < n; m++)
            if (slopes.bends[m] == NULL) slopes.bends[m] = "the derivatives of all expressions are too long";
    }
    out->bends = slopes.bends;
    build->meter->slopes = out;
}

// ---- all of it ------------------------------------------------------------------------------------------------------

static Error meter_build(MeterBuild *build, bool derived)
{
    const System *system = build->system;
    const int n = system->n_metrics;
    Meter *meter = build->meter;
    const int n_outputs = 2 * n + build->n_retire;
    TapeValue *outputs = ARENA_NEW(build->arena, TapeValue, n_outputs);
    TapeLayout layout;
    TapeCode code;
    for (int m = 0; m < n; m++) {
        const int condition = system->metrics[m].condition;
        TapeValue value = system->modes[0].watched[m];
        if (system->metrics[m].reduction == REDUCTION_RMS)
            value = tape_operation(system->tape, PROGRAM_MULTIPLY, value, value, TAPE_NONE);
        outputs[2 * m] = value;
        outputs[2 * m + 1] = condition >= 0 ? system->modes[0].conditions[condition] : TAPE_NONE;
    }
    for (int k = 0; k < build->n_retire; k++)
        outputs[2 * n + k] = system->modes[0].conditions[build->retire[k].condition];
    const int inputs = meter->of.n_needed + meter->of.n_parameters;
    TRY(tape_layout(system->tape, inputs, outputs, n_outputs, build->arena, &layout));
    TRY(tape_code(system->tape, &layout, outputs, n_outputs, build->arena, &code));
    meter->of.code = tape_assets_put_code(&build->assets, &layout, &code);
    int64_t *results = ARENA_NEW(build->arena, int64_t, n_outputs);
    for (int k = 0; k < n_outputs; k++) results[k] = code.outputs[k];
    meter->results = results;
    meter->n_results = n_outputs;
    meter->metrics = (int32_t)build->assets.count;
    for (int m = 0; m < n; m++) {
        const SystemMetric *metric = &system->metrics[m];
        const int64_t row[METER_METRIC] = {[METER_REDUCTION] = metric->reduction,
                                           [METER_TAKE] = metric->take,
                                           [METER_OF] = code.outputs[2 * m],
                                           [METER_IF] = code.outputs[2 * m + 1]};
        tape_assets_put(&build->assets, row, METER_METRIC);
    }
    meter->n_retire = build->n_retire;
    meter->retire = (int32_t)build->assets.count;
    for (int k = 0; k < build->n_retire; k++) {
        int64_t row[METER_RETIRE] = {
            [METER_RETIRE_EVERY] = build->retire[k].every, [METER_RETIRE_IF] = code.outputs[2 * n + k]};
        memcpy(&row[METER_RETIRE_AT], &build->retire[k].at, sizeof *row);
        tape_assets_put(&build->assets, row, METER_RETIRE);
    }
    meter->of.cells = METER_NAMED + n * METER_CELLS + layout.registers;
    if (derived) meter_build_slopes(build, outputs);
    return error_none();
}

// The greatest number of ticks in whose multiples all looks are, and the first sample.
static int64_t meter_apart(const MeterRetire *retire, int n_retire, const Configured *configured)
{
    int64_t every = 0;
    for (int k = 0; k < n_retire; k++) {
        const int64_t once = retire[k].at > 0.0 ? (int64_t)ceil(retire[k].at / configured->tick_duration) : 0;
        int64_t rest = retire[k].every > 0 ? retire[k].every : once;
        while (rest != 0) {
            const int64_t divided = every % rest;
            every = rest;
            rest = divided;
        }
    }
    return every > 0 ? every : INT32_MAX;
}

Error meter_make(const System *system, const MeterRetire *retire, int n_retire, const Configured *configured,
                 Arena *arena, Meter *out)
{
    MeterBuild build = {.system = system,
                        .meter = out,
                        .retire = retire,
                        .n_retire = n_retire,
                        .arena = arena,
                        .assets = {.arena = arena}};
    *out = (Meter){.n_metrics = system->n_metrics,
                   .fields = system->metric_fields,
                   .every = system->n_metrics > 0 ? 1 : meter_apart(retire, n_retire, configured)};
    lane_code_assign(system->tape, &(LaneCodeInputs){.configured = configured}, arena, &out->of);
    TRY(meter_build(&build, configured->model->adjoint != NULL && n_retire == 0));
    out->of.assets = build.assets.numbers;
    out->of.n_assets = build.assets.count;
    return error_none();
}

void meter_attach(const Meter *meter, Configured *configured, Arena *arena)
{
    Meter *own = ARENA_NEW(arena, Meter, 1);
    *own = *meter;
    Field *metrics = ARENA_NEW(arena, Field, configured->n_metrics + meter->n_metrics);
    lane_code_attach(&own->of, configured, arena);
    own->first = configured->n_metrics;
    memcpy(metrics, configured->metrics, (size_t)configured->n_metrics * sizeof *metrics);
    for (int m = 0; m < meter->n_metrics; m++) metrics[configured->n_metrics + m] = meter->fields[m];
    configured->metrics = metrics;
    configured->n_metrics += meter->n_metrics;
    if (meter->n_retire > 0) own->retired = configured_fails_as(configured, RETIRED, arena);
    configured->meter = own;
}

// ---- a lane with derivatives ----------------------------------------------------------------------------------------

// Its memory behind the columns and parameters: the cells of the meter, the registers of the derivatives, then of each
// direction and metric the derivatives of what it has kept and of its value at the last sample; then of each metric its
// value and derivatives.
static int64_t meter_tangent_inputs(const Meter *meter, int n)
{
    return meter->of.n_needed + (int64_t)n * (meter->of.n_needed + meter->of.n_parameters);
}
static double *meter_tangent_cells(const Meter *meter, int n, double *memory)
{
    return memory + meter_tangent_inputs(meter, n);
}

int64_t meter_tangent_doubles(const Meter *meter, int n)
{
    return meter_tangent_inputs(meter, n) + meter->of.cells + meter->slopes->code.registers +
           (3 * n + 1) * meter->n_metrics;
}

int64_t meter_tangent_samples(const Meter *meter, int n, double *memory)
{
    return (int64_t)meter_tangent_cells(meter, n, memory)[METER_SAMPLES];
}

// The derivative of a metric's value at this sample by column and parameter, times the derivatives of these.
static double meter_tangent_slope(const Meter *meter, int metric, Frame file, const double *of_columns,
                                  const double *of_parameters)
{
    double sum = 0.0;
    for (int i = 0; i < meter->slopes->n_rows; i++) {
        const MeterSlopeRow row = meter_slope_row(meter, i);
        if (row.metric != metric) continue;
        const double by = row.by < meter->of.n_needed ? of_columns[row.by] : of_parameters[row.by - meter->of.n_needed];
        if (by != 0.0) sum += by * frame_get(file, row.of);
    }
    return sum;
}

// After a sample, `h` behind the last one: direction k of n.
static void meter_tangent_along(const LaneGroup *group, int k, int n, Frame file, bool first, double h,
                                const double *memory)
{
    const Meter *meter = &group->batch.meter;
    const double *of_columns = memory + (1 + k) * meter->of.n_needed;
    const double *of_parameters = memory + (1 + n) * meter->of.n_needed + k * meter->of.n_parameters;
    double *kept = file.at + meter->slopes->code.registers + 2 * k * meter->n_metrics,
           *before = kept + meter->n_metrics;
    for (int m = 0; m < meter->n_metrics; m++) {
        const MeterMetric of = meter_metric(group, m);
        const double now = meter_tangent_slope(meter, m, file, of_columns, of_parameters);
        if (of.reduction == REDUCTION_FINAL)
            kept[m] = now;
        else if (!first)
            kept[m] += 0.5 * (before[m] + now) * h;
        before[m] = now;
        group->batch.metric[(1 + n) * m + 1 + k] =
            meter->slopes->bends[m] == NULL ? meter_bar_of_kept(&of, memory[0], 1.0) * kept[m] : NAN;
    }
}

const double *meter_tangent_take(const Meter *meter, const double *parameter, int n, bool last, double *memory)
{
    double *cells = meter_tangent_cells(meter, n, memory);
    const Frame file = {cells + meter->of.cells, 1};
    double *metric = file.at + meter->slopes->code.registers + 2 * n * meter->n_metrics;
    LaneGroup group = {.batch = {.lanes = 1, .stride = 1 + n, .parameter = (double *)parameter, .metric = metric},
                       .valid = 1};
    const double h = memory[0] - cells[METER_TIME];
    const bool first = cells[METER_SAMPLES] == 0.0;
    group.batch.meter = *meter;
    group.batch.meter.first = 0;
    group.batch.meter.of.cell = cells;
    group.batch.meter.of.cell_apart = 1;
    if (first) meter_slopes_begin(&group, file);
    for (int k = 0; k < meter->of.n_needed; k++) {
        meter_put(&group, meter_register(&group, k), memory[k]);
        frame_set(file, k, memory[k]);
    }
    meter_take(&group, last, all_lanes());
    meter_slopes_run(&group, file);
    for (int k = 0; k < n; k++) meter_tangent_along(&group, k, n, file, first, h, memory);
    return metric;
}
