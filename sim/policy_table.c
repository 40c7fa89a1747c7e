// Reads the table of weights of a policy, and lays it out for kernels.
#include "policy_table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { POLICY_LAYER, POLICY_OUTPUT, POLICY_INPUT, POLICY_WEIGHT, POLICY_COLUMNS };
static const char *const policy_columns[POLICY_COLUMNS] = {"layer", "output", "input", "weight"};

// at[POLICY_COLUMNS] <- where each column stands in the file
static Error policy_find_columns(const Points *file, int64_t *at)
{
    if (file->columns != POLICY_COLUMNS)
        return error_make(ERROR_USER, "a policy has the columns layer, output, input and weight, not %lld columns",
                          (long long)file->columns);
    for (int k = 0; k < POLICY_COLUMNS; k++) {
        at[k] = -1;
        for (int64_t c = 0; c < POLICY_COLUMNS; c++)
            if (strcmp(file->names[c], policy_columns[k]) == 0) at[k] = c;
        if (at[k] < 0) return error_make(ERROR_USER, "column '%s' of the policy is missing", policy_columns[k]);
    }
    return error_none();
}

typedef struct PolicyRow {
    int layer, output, input; // from 0; input 0: the constant
    double weight;
} PolicyRow;

static bool policy_is_index(double x, int low, int high) { return x >= low && x <= high && x == floor(x); }

static Error policy_row(const Points *file, const int64_t *at, int64_t row, PolicyRow *out)
{
    const double *numbers = file->numbers + row * file->columns;
    const double layer = numbers[at[POLICY_LAYER]], output = numbers[at[POLICY_OUTPUT]],
                 input = numbers[at[POLICY_INPUT]];
    if (!policy_is_index(layer, 1, POLICY_LAYERS))
        return error_make(ERROR_USER, "row %lld of the policy: layer %g, expected 1 to %d", (long long)row + 1, layer,
                          POLICY_LAYERS);
    if (!policy_is_index(output, 1, POLICY_WIDTH) || !policy_is_index(input, 0, POLICY_WIDTH))
        return error_make(ERROR_USER, "row %lld of the policy: output %g and input %g, expected 1 to %d and 0 to %d",
                          (long long)row + 1, output, input, POLICY_WIDTH, POLICY_WIDTH);
    *out = (PolicyRow){(int)layer - 1, (int)output - 1, (int)input, numbers[at[POLICY_WEIGHT]]};
    return error_none();
}

// The widths that all rows together ask for.
static Error policy_measure(const Points *file, const int64_t *at, int n_actions, PolicyShape *shape)
{
    int layers = 0, inputs[POLICY_LAYERS] = {0}, outputs[POLICY_LAYERS] = {0};
    for (int64_t i = 0; i < file->count / file->columns; i++) {
        PolicyRow row;
        TRY(policy_row(file, at, i, &row));
        if (row.layer + 1 > layers) layers = row.layer + 1;
        if (row.input > inputs[row.layer]) inputs[row.layer] = row.input;
        if (row.output + 1 > outputs[row.layer]) outputs[row.layer] = row.output + 1;
    }
    shape->layers = layers;
    shape->width[0] = inputs[0];
    for (int k = 0; k < layers; k++) {
        if (inputs[k] != (int)shape->width[k] || inputs[k] == 0)
            return error_make(ERROR_USER, "layer %d of the policy has %d inputs, and the layer before has %d outputs",
                              k + 1, inputs[k], (int)shape->width[k]);
        shape->width[k + 1] = outputs[k];
    }
    if (layers == 0 || outputs[layers - 1] != n_actions)
        return error_make(ERROR_USER,
                          "the last layer of the policy has %d outputs, expected one for each of %d actions",
                          layers == 0 ? 0 : outputs[layers - 1], n_actions);
    return error_none();
}

static int64_t policy_index(const PolicyShape *shape, int layer, int output, int input)
{
    int64_t at = 0;
    for (int k = 0; k < layer; k++) at += (int64_t)shape->width[k + 1] * (1 + (int64_t)shape->width[k]);
    return at + output * (1 + (int64_t)shape->width[layer]) + input;
}

// Each weight stands once: there are as many rows as weights, and no two are the same.
static Error policy_fill(const Points *file, const int64_t *at, const PolicyShape *shape, Arena *arena, double *weight)
{
    const int64_t rows = file->count / file->columns, count = policy_weights(shape);
    bool *filled = ARENA_NEW(arena, bool, count);
    for (int64_t i = 0; i < rows; i++) {
        PolicyRow row;
        TRY(policy_row(file, at, i, &row));
        const int64_t index = policy_index(shape, row.layer, row.output, row.input);
        if (filled[index])
            return error_make(ERROR_USER,
                              "row %lld of the policy: the weight of layer %d, output %d, input %d is given twice",
                              (long long)i + 1, row.layer + 1, row.output + 1, row.input);
        filled[index] = true;
        weight[index] = row.weight;
    }
    if (rows == count) return error_none();
    return error_make(ERROR_USER, "the policy has %lld weights, and its layers need %lld", (long long)rows,
                      (long long)count);
}

Error policy_read(const Points *file, int n_actions, Arena *arena, PolicyTable *out)
{
    int64_t at[POLICY_COLUMNS];
    memset(out, 0, sizeof *out);
    TRY(policy_find_columns(file, at));
    TRY(policy_measure(file, at, n_actions, &out->shape));
    double *weight = ARENA_NEW(arena, double, policy_weights(&out->shape));
    TRY(policy_fill(file, at, &out->shape, arena, weight));
    out->weight = weight;
    return error_none();
}

// ---- weights that are lane inputs -----------------------------------------------------------------------------------

const char *const *policy_names(const PolicyTable *table, Arena *arena)
{
    int64_t count = 0;
    const char **names = ARENA_NEW(arena, const char *, policy_weights(&table->shape));
    for (int k = 0; k < (int)table->shape.layers; k++)
        for (int output = 1; output <= (int)table->shape.width[k + 1]; output++)
            for (int input = 0; input <= (int)table->shape.width[k]; input++)
                names[count++] = arena_format(arena, "weight_%d_%d_%d", k + 1, output, input);
    return names;
}

// The index of the weight that is called so, "weight_2_1_0"; -1: there is none.
static int64_t policy_named(const PolicyShape *shape, const char *word)
{
    static const char start[] = "weight";
    long number[3];
    if (strncmp(word, start, sizeof start - 1) != 0) return -1;
    word += sizeof start - 1;
    for (int k = 0; k < 3; k++) {
        char *end;
        if (word[0] != '_' || word[1] < '0' || word[1] > '9' || (word[1] == '0' && word[2] >= '0' && word[2] <= '9'))
            return -1;
        number[k] = strtol(word + 1, &end, 10);
        word = end;
    }
    if (*word != '\0' || number[0] < 1 || number[0] > (long)shape->layers) return -1;
    if (number[1] < 1 || number[1] > (long)shape->width[number[0]] || number[2] > (long)shape->width[number[0] - 1])
        return -1;
    return policy_index(shape, (int)number[0] - 1, (int)number[1] - 1, (int)number[2]);
}

int policy_inputs(const PolicyTable *table, const Choice *choice, int first, Arena *arena, Parameter *parameters,
                  double *input)
{
    int count = 0;
    const int64_t weights = policy_weights(&table->shape);
    const char *const *names = policy_names(table, arena);
    bool *named = ARENA_NEW(arena, bool, weights);
    for (int64_t i = 0; choice != NULL && i < choice->n_words; i++) {
        const int64_t index = policy_named(&table->shape, choice->words[i]);
        if (index >= 0) named[index] = true;
    }
    for (int64_t i = 0; i < weights; i++) {
        input[i] = named[i] ? first + count : -1.0;
        if (!named[i]) continue;
        parameters[count++] = (Parameter){.name = names[i],
                                          .unit = "1",
                                          .value = table->weight[i],
                                          .low = -1e6,
                                          .high = 1e6,
                                          .section = SECTION_PARAMETERS,
                                          .doc = "weight of the policy: layer, output, input (0: the constant)"};
    }
    return count;
}

// ---- layout ---------------------------------------------------------------------------------------------------------

static Error policy_check_seen(const PolicyTable *table, const EnvironmentSetup *see)
{
    if (see->n_observations != (int)table->shape.width[0])
        return error_make(ERROR_USER,
                          "the first layer of the policy has %d inputs, and environment.observe has %d rows",
                          (int)table->shape.width[0], see->n_observations);
    if (see->observe.code.registers > POLICY_REGISTERS)
        return error_make(ERROR_USER,
                          "environment.observe needs %d numbers at a time, columns included, and a policy has %d",
                          see->observe.code.registers, POLICY_REGISTERS);
    return error_none();
}

Error policy_lay(const PolicyTable *table, const EnvironmentSetup *see, const double *input, Arena *arena,
                 Configured *configured, int32_t *at)
{
    const int64_t weights = policy_weights(&table->shape);
    PolicyShape shape = table->shape;
    TapeAssets assets = {.arena = arena};
    TRY(policy_check_seen(table, see));
    for (int64_t i = 0; i < weights; i++)
        if (input[i] >= 0.0) shape.searched = 1.0;
    shape.see = see->observe;
    tape_assets_put(&assets, configured->assets, configured->n_assets);
    *at = tape_assets_put(&assets, &shape, sizeof shape / sizeof(double));
    tape_assets_put(&assets, table->weight, weights);
    tape_assets_put(&assets, input, weights);
    tape_assets_put(&assets, see->codes, see->n_codes);
    configured->assets = assets.numbers;
    configured->n_assets = assets.count;
    return error_none();
}
