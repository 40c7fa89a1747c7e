// The columns and parameters that codes over samples need.
#include "lane_code_host.h"

#include <string.h>

static const char *lane_code_name(const LaneCodeInputs *inputs, int input)
{
    const Configured *configured = inputs->configured;
    const int parameter = input - configured->n_columns - inputs->n_held;
    if (input < configured->n_columns) return configured->columns[input].name;
    return parameter < configured->n_parameters ? configured->parameters[parameter].name
                                                : inputs->more[parameter - configured->n_parameters].name;
}

void lane_code_assign(Tape *tape, const LaneCodeInputs *inputs, Arena *arena, LaneCode *out)
{
    const int n_columns = inputs->configured->n_columns, first = n_columns + inputs->n_held,
              n_inputs = first + inputs->configured->n_parameters + inputs->n_more;
    int *place = ARENA_NEW(arena, int, n_inputs + inputs->n_own), next = 0;
    const char **needed = ARENA_NEW(arena, const char *, n_inputs + 1);
    tape_input(tape, SYSTEM_TIME, TAPE_MOVING);
    for (int i = 0; i < tape->count; i++)
        if (tape->nodes[i].operation == TAPE_INPUT) place[tape->nodes[i].a] = 1;
    for (int i = 0; i < n_inputs; i++) {
        const bool column = i < n_columns;
        if (place[i] == 0 || (!column && i < first)) continue;
        needed[next] = lane_code_name(inputs, i);
        place[i] = next++;
        out->n_needed += column;
        out->n_parameters += !column;
    }
    for (int h = 0; h < inputs->n_held; h++) place[n_columns + h] = next + h;
    for (int k = 0; k < inputs->n_own; k++) place[n_inputs + k] = next + inputs->own[k];
    for (int i = 0; i < tape->count; i++)
        if (tape->nodes[i].operation == TAPE_INPUT) tape->nodes[i].a = place[tape->nodes[i].a];
    out->needed = needed;
}

static int lane_code_find(const char *name, const Configured *configured, bool column)
{
    for (int i = 0; i < (column ? configured->n_columns : configured->n_parameters); i++)
        if (strcmp(column ? configured->columns[i].name : configured->parameters[i].name, name) == 0) return i;
    return -1;
}

void lane_code_attach(LaneCode *of, const Configured *configured, Arena *arena)
{
    TapeAssets assets = {.arena = arena};
    int64_t *columns = ARENA_NEW(arena, int64_t, configured->n_columns);
    int64_t *parameters = ARENA_NEW(arena, int64_t, of->n_parameters);
    for (int c = 0; c < configured->n_columns; c++) columns[c] = -1;
    for (int k = 0; k < of->n_needed; k++) {
        const int column = lane_code_find(of->needed[k], configured, true);
        if (column >= 0) columns[column] = k;
    }
    for (int k = 0; k < of->n_parameters; k++)
        parameters[k] = lane_code_find(of->needed[of->n_needed + k], configured, false);
    tape_assets_put(&assets, of->assets, of->n_assets);
    of->columns = tape_assets_put(&assets, columns, configured->n_columns);
    of->parameters = tape_assets_put(&assets, parameters, of->n_parameters);
    of->assets = assets.numbers;
    of->n_assets = assets.count;
}
