// Control laws of the user's own (Law in sim.h) on the host.
#include "lane_code_host.h"

#include <string.h>

typedef struct LawBuild {
    const LawProgram *program;
    Law *law;
    TapeAssets assets;
    Arena *arena;
} LawBuild;

static int32_t law_put_registers(LawBuild *build, const int32_t *registers, int count)
{
    int64_t *numbers = ARENA_NEW(build->arena, int64_t, count);
    for (int i = 0; i < count; i++) numbers[i] = registers[i];
    return tape_assets_put(&build->assets, numbers, count);
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
    TapeCode code;
    memcpy(values, program->start, (size_t)n_held * sizeof *values);
    memcpy(values + n_held, program->next, (size_t)n_held * sizeof *values);
    memcpy(values + 2 * n_held, program->outputs, (size_t)n_outputs * sizeof *values);
    *out = (Law){.n_held = n_held,
                 .n_checked = program->n_checked,
                 .n_noises = program->n_noises,
                 .n_outputs = n_outputs,
                 .seed = -1,
                 .ticks = configured->action_ticks,
                 .parameters = program->parameters,
                 .n_parameters = program->n_parameters,
                 .shown = program->shown,
                 .n_shown = program->n_shown};
    lane_code_assign(program->tape, &inputs, arena, &out->of);
    const int first = out->of.n_needed + out->of.n_parameters + n_held + program->n_noises + 1;
    TRY(tape_layout(program->tape, first, values, count, arena, &layout));
    TRY(tape_code(program->tape, &layout, values, count, arena, &code));
    out->of.code = tape_assets_put_code(&build.assets, &layout, &code);
    out->start = law_put_registers(&build, code.outputs, n_held);
    out->next = law_put_registers(&build, code.outputs + n_held, n_held);
    out->outputs = law_put_registers(&build, code.outputs + 2 * n_held, n_outputs);
    out->of.cells = n_outputs + n_held + 1 + layout.registers;
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

void law_attach(const Law *law, Configured *configured, Arena *arena)
{
    Law *own = ARENA_NEW(arena, Law, 1);
    *own = *law;
    law_add_parameters(law, configured, arena);
    lane_code_attach(&own->of, configured, arena);
    law_add_columns(law, configured, arena);
    if (law->n_noises > 0) own->seed = configured->n_parameters - 1;
    configured->law = own;
}
