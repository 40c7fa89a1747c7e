// Control laws of the user's own (Law in sim.h) on the host.
#include "law.h"
#include "lane_code_host.h"
#include "policy_slopes.h"

#include <string.h>

typedef struct LawBuild {
    const LawProgram *program;
    Law *law;
    TapeAssets assets;
    int32_t tables; // in the assets
    Arena *arena;
} LawBuild;

static const int64_t *law_registers(LawBuild *build, const int32_t *registers, int count)
{
    int64_t *numbers = ARENA_NEW(build->arena, int64_t, count);
    for (int i = 0; i < count; i++) numbers[i] = registers[i];
    return numbers;
}

static int32_t law_put_registers(LawBuild *build, const int32_t *registers, int count)
{
    return tape_assets_put(&build->assets, law_registers(build, registers, count), count);
}

// ---- derivatives ----------------------------------------------------------------------------------------------------

// Inputs by their registers; TAPE_NONE: the tape has none.
static TapeValue *law_inputs_of(const LawBuild *build, int count)
{
    const Tape *tape = build->program->tape;
    TapeValue *inputs = ARENA_NEW(build->arena, TapeValue, count);
    for (int k = 0; k < count; k++) inputs[k] = TAPE_NONE;
    for (TapeValue i = 0; i < tape->count; i++)
        if (tape->nodes[i].operation == TAPE_INPUT && tape->nodes[i].a < count) inputs[tape->nodes[i].a] = i;
    return inputs;
}

// A code of values[count], whose registers are put at *registers. False: it is too long.
static bool law_put_slopes(LawBuild *build, int first, const TapeValue *values, int count, CodeView *view,
                           const int32_t **registers)
{
    TapeLayout layout;
    TapeCode code;
    if (build->program->tape->full) return false;
    if (tape_layout(build->program->tape, first, values, count, build->arena, &layout).kind != OK) return false;
    if (tape_code(build->program->tape, &layout, values, count, build->arena, &code).kind != OK) return false;
    *view = tape_assets_put_code(&build->assets, &layout, &code);
    view->tables = build->tables;
    *registers = code.outputs;
    return true;
}

// Where there is no such input, its slope is none.
static void law_adjoint(LawBuild *build, const TapeValue *of, const TapeValue *weights, int n, const TapeValue *inputs,
                        int count, TapeValue *slopes)
{
    TapeValue *there = ARENA_NEW(build->arena, TapeValue, count), *got = ARENA_NEW(build->arena, TapeValue, count);
    int n_there = 0;
    for (int k = 0; k < count; k++)
        if (inputs[k] != TAPE_NONE) there[n_there++] = inputs[k];
    tape_adjoint(build->program->tape, of, weights, n, there, n_there, got);
    for (int k = 0, at = 0; k < count; k++) slopes[k] = inputs[k] != TAPE_NONE ? got[at++] : TAPE_NONE;
}

// What the policies see, behind each other.
static void law_observed(const LawProgram *program, TapeValue *seen)
{
    for (int p = 0; p < program->n_policies; p++) {
        const int inputs = policy_table_inputs(program->policies[p].table);
        memcpy(seen, program->policies[p].observe, (size_t)inputs * sizeof *seen);
        seen += inputs;
    }
}

// The bars of inputs from those of next[n_held], outputs[n_outputs] and what policies see[n_seen], those of parameters
// from those of starts, and what policies need between two runs.
static bool law_build_back(LawBuild *build, const TapeValue *values, int n_inputs, LawSlopes *out)
{
    const Law *law = build->law;
    Tape *tape = build->program->tape;
    const int n_fixed = law->of.n_needed + law->of.n_parameters, n_by = n_fixed + law->n_held,
              n_own = law->n_held + law->n_outputs, n_of = n_own + law->n_seen, n_bars = n_by + law->of.n_parameters,
              given = law_register(law, law->n_held + law->n_noises + 1), count = n_bars + law->n_given + law->n_seen;
    const TapeValue *inputs = law_inputs_of(build, n_inputs);
    TapeValue *of = ARENA_NEW(build->arena, TapeValue, n_of), *weights = ARENA_NEW(build->arena, TapeValue, n_of),
              *slopes = ARENA_NEW(build->arena, TapeValue, count);
    const int32_t *registers;
    memcpy(of, values + law->n_held, (size_t)n_own * sizeof *of);
    law_observed(build->program, of + n_own);
    for (int k = 0; k < n_of; k++) weights[k] = tape_input(tape, n_inputs + k, TAPE_MOVING);
    law_adjoint(build, of, weights, n_of, inputs, n_by, slopes);
    law_adjoint(build, values, weights, law->n_held, inputs + law->of.n_needed, law->of.n_parameters, slopes + n_by);
    if (law->n_given > 0) law_adjoint(build, of, weights, n_own, inputs + given, law->n_given, slopes + n_bars);
    memcpy(slopes + n_bars + law->n_given, of + n_own, (size_t)law->n_seen * sizeof *slopes);
    if (!law_put_slopes(build, n_inputs + n_of, slopes, count, &out->back, &registers)) return false;
    out->bars = law_put_registers(build, registers, n_by);
    out->starts = law_put_registers(build, registers + n_by, law->of.n_parameters);
    out->given = law_put_registers(build, registers + n_bars, law->n_given);
    out->seen = law_put_registers(build, registers + n_bars + law->n_given, law->n_seen);
    return true;
}

// The rates of next, outputs, starts and what policies see from those of inputs.
static bool law_build_along(LawBuild *build, const TapeValue *values, int n_inputs, LawSlopes *out)
{
    const Law *law = build->law;
    Tape *tape = build->program->tape;
    const int n_own = law->of.n_needed + law->of.n_parameters + law->n_held, n_by = n_own + law->n_given,
              n_of = law->n_held + law->n_outputs, n_rates = n_of + law->n_held, count = n_rates + 2 * law->n_seen,
              given = law_register(law, law->n_held + law->n_noises + 1);
    const TapeValue *inputs = law_inputs_of(build, n_inputs);
    TapeValue *along = ARENA_NEW(build->arena, TapeValue, n_by), *rates = ARENA_NEW(build->arena, TapeValue, n_by),
              *slopes = ARENA_NEW(build->arena, TapeValue, count), *seen = slopes + n_rates;
    const int32_t *registers;
    int n = 0;
    for (int k = 0; k < n_by; k++) {
        const TapeValue input = inputs[k < n_own ? k : given + k - n_own];
        if (input == TAPE_NONE) continue;
        along[n] = input;
        rates[n++] = tape_input(tape, n_inputs + k, TAPE_MOVING);
    }
    law_observed(build->program, seen);
    for (int k = 0; k < n_rates + law->n_seen; k++) {
        const int to = k < n_rates ? k : k + law->n_seen;
        const TapeValue of = k < n_of ? values[law->n_held + k] : k < n_rates ? values[k - n_of] : seen[k - n_rates];
        slopes[to] = of != TAPE_NONE ? tape_slope(tape, of, along, rates, n) : TAPE_NONE;
    }
    if (!law_put_slopes(build, n_inputs + n_by, slopes, count, &out->along, &registers)) return false;
    out->rates = law_put_registers(build, registers, n_rates);
    out->shown = law_put_registers(build, registers + n_rates, law->n_seen);
    out->moved = law_put_registers(build, registers + n_rates + law->n_seen, law->n_seen);
    return true;
}

// values: starts, next, outputs
static void law_build_slopes(LawBuild *build, const TapeValue *values, int n_inputs)
{
    LawSlopes *out = ARENA_NEW(build->arena, LawSlopes, 1);
    out->bends = build->program->bends;
    for (int p = 0; p < build->program->n_policies; p++) {
        const int numbers = policy_numbers(&build->program->policies[p].table->shape);
        if (numbers > out->asked) out->asked = numbers;
    }
    if (out->bends == NULL &&
        !(law_build_back(build, values, n_inputs, out) && law_build_along(build, values, n_inputs, out)))
        out->bends = "the derivatives of control.law are too long";
    build->law->slopes = out;
}

// ---- policies and actions -------------------------------------------------------------------------------------------

// What all policies see together.
static int law_seen(const LawProgram *program)
{
    int n_seen = 0;
    for (int p = 0; p < program->n_policies; p++) n_seen += policy_table_inputs(program->policies[p].table);
    return n_seen;
}

static int32_t law_put_policy(LawBuild *build, const LawPolicy *policy)
{
    const int64_t weights = policy->table->n_weights;
    PolicyShape shape = policy->table->shape;
    double *input = ARENA_NEW(build->arena, double, weights);
    for (int64_t i = 0; i < weights; i++) {
        input[i] = policy->input != NULL ? policy->input[i] : -1.0;
        if (input[i] >= 0.0) shape.searched = 1.0;
    }
    const int32_t at = tape_assets_put(&build->assets, &shape, sizeof shape / sizeof(double));
    tape_assets_put(&build->assets, policy->table->weight, weights);
    tape_assets_put(&build->assets, input, weights);
    return at;
}

// seen: registers of what the policies see.
static void law_put_policies(LawBuild *build, const int32_t *seen)
{
    const LawProgram *program = build->program;
    Law *law = build->law;
    int64_t *rows = ARENA_NEW(build->arena, int64_t, LAW_POLICY * program->n_policies);
    for (int p = 0; p < program->n_policies; p++) {
        const PolicyTable *table = program->policies[p].table;
        const int inputs = policy_table_inputs(table);
        rows[LAW_POLICY * p + LAW_POLICY_AT] = law_put_policy(build, &program->policies[p]);
        rows[LAW_POLICY * p + LAW_POLICY_SEEN] = law_put_registers(build, seen, inputs);
        seen += inputs;
        for (int k = 0; k <= (int)table->shape.layers; k++)
            if ((int)table->shape.width[k] > law->widest) law->widest = (int32_t)table->shape.width[k];
        law->n_given += policy_table_outputs(table);
    }
    law->n_policies = program->n_policies;
    law->policies = tape_assets_put(&build->assets, rows, LAW_POLICY * program->n_policies);
}

static void law_put_bounds(LawBuild *build)
{
    const LawProgram *program = build->program;
    double *bounds = ARENA_NEW(build->arena, double, 2 * program->n_actions);
    for (int a = 0; a < program->n_actions; a++) {
        bounds[2 * a] = program->actions[a].low;
        bounds[2 * a + 1] = program->actions[a].high;
    }
    build->law->actions = tape_assets_put(&build->assets, bounds, 2 * program->n_actions);
    build->law->inputs = program->actions;
    build->law->n_actions = program->n_actions;
    build->law->action_periods = 1;
}

void law_take_actions(Law *law, const double *rows, int64_t n_rows, int64_t periods, Arena *arena)
{
    TapeAssets assets = {.arena = arena};
    tape_assets_put(&assets, law->of.assets, law->of.n_assets);
    law->action_rows = tape_assets_put(&assets, rows, n_rows * law->n_actions);
    law->n_action_rows = (int32_t)n_rows;
    law->action_periods = periods;
    law->of.assets = assets.numbers;
    law->of.n_assets = assets.count;
}

// ---- all of it ------------------------------------------------------------------------------------------------------

// The codes of values[count]; of what policies see before them.
static Error law_put_codes(LawBuild *build, int first, const TapeValue *values, int count, TapeLayout *layout)
{
    const LawProgram *program = build->program;
    Law *law = build->law;
    const int n_seen = law_seen(program);
    TapeValue *all = ARENA_NEW(build->arena, TapeValue, n_seen + count);
    TapeCode code, see;
    for (int p = 0, n = 0; p < program->n_policies; p++)
        for (int k = 0; k < policy_table_inputs(program->policies[p].table); k++)
            all[n++] = program->policies[p].observe[k];
    memcpy(all + n_seen, values, (size_t)count * sizeof *all);
    TRY(tape_layout(program->tape, first, all, n_seen + count, build->arena, layout));
    TRY(tape_code(program->tape, layout, all, n_seen, build->arena, &see));
    TRY(tape_code(program->tape, layout, values, count, build->arena, &code));
    build->tables = tape_assets_put_tables(&build->assets, program->tape);
    law->then = tape_assets_put_code(&build->assets, layout, &code);
    law->then.tables = build->tables;
    law->of.code = law->then;
    if (program->n_policies > 0) {
        law->of.code = tape_assets_put_code(&build->assets, layout, &see);
        law->of.code.tables = build->tables;
    }
    law->start = law_put_registers(build, code.outputs, law->n_held);
    law->next = law_put_registers(build, code.outputs + law->n_held, law->n_held);
    law->outputs = law_put_registers(build, code.outputs + 2 * law->n_held, law->n_outputs);
    law->results = law_registers(build, code.outputs + law->n_held, law->n_held + law->n_outputs);
    law->n_results = law->n_held + law->n_outputs;
    law->seen = law_registers(build, see.outputs, n_seen);
    law->n_seen = n_seen;
    law_put_policies(build, see.outputs);
    return error_none();
}

Error law_make(const LawProgram *program, const Configured *configured, Arena *arena, Law *out)
{
    const int n_held = program->n_held, n_outputs = configured->n_outputs, count = 2 * n_held + n_outputs;
    LawBuild build = {.program = program, .law = out, .assets = {.arena = arena}, .arena = arena};
    const LaneCodeInputs inputs = {.configured = configured,
                                   .n_held = program->n_checked,
                                   .more = program->parameters,
                                   .n_more = program->n_parameters - (program->n_noises > 0),
                                   .own = program->own,
                                   .n_own = program->n_own};
    TapeValue *values = ARENA_NEW(arena, TapeValue, count);
    TapeLayout layout;
    int n_given = program->n_actions;
    for (int p = 0; p < program->n_policies; p++) n_given += policy_table_outputs(program->policies[p].table);
    memcpy(values, program->start, (size_t)n_held * sizeof *values);
    memcpy(values + n_held, program->next, (size_t)n_held * sizeof *values);
    memcpy(values + 2 * n_held, program->outputs, (size_t)n_outputs * sizeof *values);
    *out = (Law){.n_held = n_held,
                 .n_checked = program->n_checked,
                 .n_noises = program->n_noises,
                 .n_outputs = n_outputs,
                 .seed = -1,
                 .weights = -1,
                 .ticks = configured->action_ticks,
                 .parameters = program->parameters,
                 .n_parameters = program->n_parameters,
                 .shown = program->shown,
                 .n_shown = program->n_shown};
    lane_code_assign(program->tape, &inputs, arena, &out->of);
    const int first = out->of.n_needed + out->of.n_parameters + n_held + program->n_noises + 1 + n_given;
    TRY(law_put_codes(&build, first, values, count, &layout));
    law_put_bounds(&build);
    out->of.cells = n_outputs + n_held + 1 + 2 * out->widest + layout.registers;
    if (configured->model->adjoint != NULL) law_build_slopes(&build, values, first);
    out->of.assets = build.assets.numbers;
    out->of.n_assets = build.assets.count;
    return error_none();
}

// The model's parameters with those of the law behind the ones that a spec may name.
static void law_add_parameters(const Law *law, Configured *configured, Arena *arena)
{
    const int n = configured->n_parameters, named = configured_named(configured), more = law->n_parameters,
              noise = law->n_noises > 0;
    Parameter *parameters = ARENA_NEW(arena, Parameter, n + more);
    const char **choices = ARENA_NEW(arena, const char *, n + more);
    memcpy(parameters, configured->parameters, (size_t)named * sizeof *parameters);
    memcpy(parameters + named, law->parameters, (size_t)(more - noise) * sizeof *parameters);
    memcpy(parameters + named + more - noise, configured->parameters + named, (size_t)(n - named) * sizeof *parameters);
    if (noise) parameters[n + more - 1] = law->parameters[more - 1];
    for (int p = 0; p < named && configured->choices != NULL; p++) choices[p] = configured->choices[p];
    if (configured->choices != NULL) configured->choices = choices;
    if (configured->model->move_seeds != NULL) configured->model->move_seeds(configured, more - noise);
    configured->parameters = parameters;
    configured->n_parameters = n + more;
}

static void law_add_columns(const Law *law, Configured *configured, Arena *arena)
{
    const int n = configured->n_columns;
    Field *columns = ARENA_NEW(arena, Field, n + law->n_shown);
    memcpy(columns, configured->columns, (size_t)n * sizeof *columns);
    if (law->n_shown > 0) memcpy(columns + n, law->shown, (size_t)law->n_shown * sizeof *columns);
    configured->columns = columns;
    configured->n_columns = n + law->n_shown;
}

// The lane's input of the first weight of a policy that is a parameter.
static int32_t law_first_weight(const Law *law, const Configured *configured)
{
    for (int p = 0; p < configured->n_parameters && law->n_weights > 0; p++)
        if (strcmp(configured->parameters[p].name, law->parameters[0].name) == 0) return p;
    return -1;
}

void law_put(const Law *law, Configured *configured, Arena *arena)
{
    Law *own = ARENA_NEW(arena, Law, 1);
    *own = *law;
    lane_code_attach(&own->of, configured, arena);
    if (law->n_noises > 0) own->seed = configured->n_parameters - 1;
    own->weights = law_first_weight(law, configured);
    configured->law = own;
}

void law_attach(const Law *law, Configured *configured, Arena *arena)
{
    law_add_parameters(law, configured, arena);
    law_put(law, configured, arena);
    law_add_columns(law, configured, arena);
    if (law->n_actions == 0) return;
    configured->actions = law->inputs;
    configured->n_actions = law->n_actions;
    configured->action_ticks = law->ticks * law->action_periods;
    configured->waits = law->n_action_rows == 0;
}

// Whether metrics of the user's own take columns of a law.
static bool law_is_metered(const Configured *configured)
{
    const Law *law = configured->law;
    const Meter *meter = configured->meter;
    bool shows = false;
    for (int k = 0; law != NULL && meter != NULL && k < meter->of.n_needed; k++)
        for (int c = 0; c < law->n_shown; c++) shows |= strcmp(meter->of.needed[k], law->shown[c].name) == 0;
    return shows;
}

const char *law_without_derivative(const Configured *configured)
{
    if (configured->law != NULL && configured->law->slopes->bends != NULL) return configured->law->slopes->bends;
    return law_is_metered(configured) ? "a metric takes a number that control.law holds: it has no derivative" : NULL;
}

// ---- a lane with derivatives ----------------------------------------------------------------------------------------

// Its memory behind the columns: the cells of the law, with the registers of `along` in place of its own; then, along
// each direction, the derivatives of held numbers; of each output its value and derivatives; whether a number was none;
// the numbers of a policy and their rates.
static int64_t law_tangent_inputs(const Law *law, int n)
{
    return law->of.n_needed + (int64_t)n * (law->of.n_needed + law->of.n_parameters);
}
static double *law_tangent_cells(const Law *law, int n, double *memory) { return memory + law_tangent_inputs(law, n); }
static int64_t law_tangent_registers(const Law *law) { return law->of.cells + law->slopes->along.registers; }

int64_t law_tangent_doubles(const Law *law, int n)
{
    return law_tangent_inputs(law, n) + law_tangent_registers(law) + n * law->n_held + (1 + n) * law->n_outputs + 1 +
           2 * law->slopes->asked;
}

static LaneGroup law_tangent_group(const Law *law, const double *parameter, int n, double *memory)
{
    LaneGroup group = {.batch = {.lanes = 1, .stride = 1 + n, .parameter = (double *)parameter}, .valid = 1};
    group.batch.law = *law;
    group.batch.law.of.cell = law_tangent_cells(law, n, memory);
    group.batch.law.of.cell_apart = 1;
    group.batch.law.of.lane_apart = 0;
    return group;
}

static Frame law_tangent_file(const Law *law, int n, double *memory)
{
    return (Frame){law_tangent_cells(law, n, memory) + law->of.cells, 1};
}
static double *law_tangent_held(const Law *law, int k, int n, double *memory)
{
    return law_tangent_cells(law, n, memory) + law_tangent_registers(law) + k * law->n_held;
}
const double *law_tangent_outputs(const Law *law, int n, const double *memory)
{
    return memory + law_tangent_inputs(law, n) + law_tangent_registers(law) + n * law->n_held;
}

// What the code gave in row k of its registers.
static double law_tangent_got(const Law *law, int32_t rows, int k, Frame file)
{
    const int at = law_integer(law, rows + k);
    return at >= 0 ? frame_get(file, at) : 0.0;
}
static double law_tangent_rate(const Law *law, int k, Frame file)
{
    return law_tangent_got(law, law->slopes->rates, k, file);
}

// The rates of what policies give into the registers from `first` on, from those of what they see.
static void law_tangent_policies(const LaneGroup *group, int k, int n, int first, double *memory)
{
    const Law *law = law_of(group);
    const Frame file = law_tangent_file(law, n, memory);
    const Frame kept = {memory + law_tangent_doubles(law, n) - 2 * law->slopes->asked, 1},
                rate = frame_from(kept, law->slopes->asked);
    int seen = 0, given = 0;
    for (int p = 0; p < law->n_policies; p++) {
        int64_t registers;
        const Policy policy = law_policy(law, p, &registers);
        const int inputs = (int)policy.shape->width[0], outputs = policy_outputs(&policy);
        for (int i = 0; i < inputs; i++, seen++) {
            frame_set(kept, i, law_tangent_got(law, law->slopes->shown, seen, file));
            frame_set(rate, i, law_tangent_got(law, law->slopes->moved, seen, file));
        }
        policy_forth(&policy, group, kept);
        policy_along(&policy, group, kept, group->batch.parameter + 1 + k, group->batch.stride, rate);
        for (int i = 0; i < outputs; i++)
            frame_set(file, first + given++, frame_get(rate, policy_numbers(policy.shape) - outputs + i));
    }
}

// The law's inputs and their rates along direction k of n into the registers of `along`, which then runs.
static void law_tangent_run(const LaneGroup *group, int k, int n, bool begins, double *memory)
{
    const Law *law = law_of(group);
    const Frame file = law_tangent_file(law, n, memory);
    const int n_needed = law->of.n_needed, n_parameters = law->of.n_parameters, n_inputs = law_inputs(law);
    const double *of_columns = memory + (1 + k) * n_needed;
    const double *of_parameters = memory + (1 + n) * n_needed + k * n_parameters;
    const double *held = law_tangent_held(law, k, n, memory);
    int at = 0;
    for (int i = 0; i < n_inputs; i++) frame_set(file, at++, law_value(group, i));
    for (int i = 0; i < n_needed; i++) frame_set(file, at++, of_columns[i]);
    for (int i = 0; i < n_parameters; i++) frame_set(file, at++, of_parameters[i]);
    for (int i = 0; i < law->n_held; i++) frame_set(file, at++, begins ? 0.0 : held[i]);
    for (int i = 0; i < law->n_given; i++) frame_set(file, at + i, 0.0);
    tape_begin(law->of.assets, &law->slopes->along, file);
    tape_step(law->of.assets, &law->slopes->along, file);
    if (law->n_policies == 0 || begins) return;
    law_tangent_policies(group, k, n, at, memory);
    tape_step(law->of.assets, &law->slopes->along, file);
}

void law_tangent_begin(const Law *law, const double *parameter, int n, double *memory)
{
    const LaneGroup group = law_tangent_group(law, parameter, n, memory);
    law_begin(&group, all_lanes());
    for (int k = 0; k < n; k++) {
        double *held = law_tangent_held(law, k, n, memory);
        law_tangent_run(&group, k, n, true, memory);
        for (int i = 0; i < law->n_held; i++)
            held[i] = law_tangent_rate(law, law->n_held + law->n_outputs + i, law_tangent_file(law, n, memory));
    }
}

void law_tangent_decide(const Law *law, const double *parameter, int n, double period, double *memory)
{
    const LaneGroup group = law_tangent_group(law, parameter, n, memory);
    const Frame file = law_tangent_file(law, n, memory);
    double *outputs = law_tangent_held(law, n, n, memory);
    for (int i = 0; i < law->of.n_needed; i++) law_set_register(&group, i, memory[i]);
    law_decide(&group, period, all_lanes());
    for (int k = 0; k < n; k++) {
        double *held = law_tangent_held(law, k, n, memory);
        law_tangent_run(&group, k, n, false, memory);
        for (int i = 0; i < law->n_held; i++) held[i] = law_tangent_rate(law, i, file);
        for (int i = 0; i < law->n_outputs; i++)
            outputs[(1 + n) * i + 1 + k] = law_tangent_rate(law, law->n_held + i, file);
    }
    for (int i = 0; i < law->n_outputs; i++) outputs[(1 + n) * i] = law_gives(&group, i) ? law_output(&group, i) : 0.0;
    outputs[(1 + n) * law->n_outputs] = law_at(&group, law_wrong(law));
}
