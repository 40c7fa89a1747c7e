// The codes of environments (environment_code.h) on the host.
#include "sim.h"

enum { ENVIRONMENT_STEPS_MAX = 4096 }; // of a code: a step of an environment takes a bounded time

Error environment_code(Tape *tape, const TapeValue *values, int count, const EnvironmentInputs *inputs,
                       TapeAssets *assets, EnvironmentCode *out)
{
    TapeLayout layout;
    TapeCode code;
    Error error =
        tape_layout(tape, inputs->n_columns + 1 + inputs->n_parameters, values, count, assets->arena, &layout);
    if (error.kind == OK) error = tape_code(tape, &layout, values, count, assets->arena, &code);
    if (error.kind != OK || code.count > ENVIRONMENT_STEPS_MAX)
        return error_make(ERROR_USER,
                          "the expressions of `environment` are too long: at most %d operations are allowed, "
                          "equal ones counted once",
                          ENVIRONMENT_STEPS_MAX);
    int64_t *outputs = ARENA_NEW(assets->arena, int64_t, count);
    for (int k = 0; k < count; k++) outputs[k] = code.outputs[k];
    *out = (EnvironmentCode){.code = tape_assets_put_code(assets, &layout, &code),
                             .n_columns = inputs->n_columns,
                             .parameters = tape_assets_put(assets, inputs->parameters, inputs->n_parameters),
                             .n_parameters = inputs->n_parameters,
                             .outputs = tape_assets_put(assets, outputs, count)};
    return error_none();
}
