// Reads the table of weights of a policy; the law of one that gives a model's actions.
#include "policy.h"

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
static Error policy_measure(const Points *file, const int64_t *at, PolicyShape *shape)
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
    return layers > 0 ? error_none() : error_make(ERROR_USER, "the policy has no weights");
}

static int64_t policy_index(const PolicyShape *shape, int layer, int output, int input)
{
    int64_t at = 0;
    for (int k = 0; k < layer; k++) at += (int64_t)shape->width[k + 1] * (1 + (int64_t)shape->width[k]);
    return at + output * (1 + (int64_t)shape->width[layer]) + input;
}

// The weight of that index in words.
static const char *policy_weight_words(const PolicyShape *shape, int64_t index, Arena *arena)
{
    int layer = 0;
    while (index >= (int64_t)shape->width[layer + 1] * (1 + (int64_t)shape->width[layer])) {
        index -= (int64_t)shape->width[layer + 1] * (1 + (int64_t)shape->width[layer]);
        layer++;
    }
    const int64_t inputs = 1 + (int64_t)shape->width[layer];
    return arena_format(arena, "that of layer %d, output %d, input %d", layer + 1, (int)(index / inputs) + 1,
                        (int)(index % inputs));
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
    int64_t missing = 0;
    while (filled[missing]) missing++;
    return error_make(ERROR_USER, "the policy has %lld weights, and its layers need %lld: %s is missing",
                      (long long)rows, (long long)count, policy_weight_words(shape, missing, arena));
}

Error policy_read(const Points *table, Arena *arena, PolicyTable *out)
{
    int64_t at[POLICY_COLUMNS];
    memset(out, 0, sizeof *out);
    TRY(policy_find_columns(table, at));
    TRY(policy_measure(table, at, &out->shape));
    out->n_weights = policy_weights(&out->shape);
    double *weight = ARENA_NEW(arena, double, out->n_weights);
    TRY(policy_fill(table, at, &out->shape, arena, weight));
    out->weight = weight;
    return error_none();
}

int policy_table_inputs(const PolicyTable *table) { return (int)table->shape.width[0]; }
int policy_table_outputs(const PolicyTable *table) { return (int)table->shape.width[(int)table->shape.layers]; }

// ---- weights that are parameters ------------------------------------------------------------------------------------

const char *const *policy_names(const PolicyTable *table, Arena *arena)
{
    int64_t count = 0;
    const char **names = ARENA_NEW(arena, const char *, table->n_weights);
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

int policy_inputs(const PolicyTable *table, const Choice *choice, Arena *arena, Parameter *parameters, double *input)
{
    int count = 0;
    const int64_t weights = table->n_weights;
    const char *const *names = policy_names(table, arena);
    bool *named = ARENA_NEW(arena, bool, weights);
    for (int64_t i = 0; choice != NULL && i < choice->n_words; i++) {
        const int64_t index = policy_named(&table->shape, choice->words[i]);
        if (index >= 0) named[index] = true;
    }
    for (int64_t i = 0; i < weights; i++) {
        input[i] = named[i] ? count : -1.0;
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

// ---- the law of a policy --------------------------------------------------------------------------------------------

// The value of an input of the tape that is a parameter of this name.
static TapeValue policy_parameter(Tape *tape, const Configured *configured, const char *name)
{
    int p = 0;
    while (strcmp(configured->parameters[p].name, name) != 0) p++; // the model's own
    return tape_input(tape, configured->n_columns + p, TAPE_FIXED);
}

// The action of y in its range: (low + high)/2 + (high - low)/2 y
static TapeValue policy_scaled(Tape *tape, const Configured *configured, const Action *action, TapeValue y)
{
    const TapeValue half = tape_number(tape, 0.5),
                    low = action->of_low != NULL ? policy_parameter(tape, configured, action->of_low)
                                                 : tape_number(tape, action->low),
                    high = action->of_high != NULL ? policy_parameter(tape, configured, action->of_high)
                                                   : tape_number(tape, action->high),
                    range = tape_operation(tape, PROGRAM_SUBTRACT, high, low, TAPE_NONE),
                    sum = tape_operation(tape, PROGRAM_ADD, low, high, TAPE_NONE);
    return tape_fused(tape, tape_operation(tape, PROGRAM_MULTIPLY, half, range, TAPE_NONE), y,
                      tape_operation(tape, PROGRAM_MULTIPLY, half, sum, TAPE_NONE));
}

// Error (user): the table has another number of outputs or inputs, or an action has no bounds.
static Error policy_check(const PolicyTable *table, int n_observe, const Configured *configured)
{
    int n = 0;
    for (int k = 0; k < configured->n_outputs; k++) n += configured->outputs[k].asked != NULL;
    if (n != policy_table_outputs(table))
        return error_make(ERROR_USER,
                          "the last layer of the policy has %d outputs, expected one for each of %d actions",
                          policy_table_outputs(table), n);
    if (n_observe != policy_table_inputs(table))
        return error_make(ERROR_USER,
                          "the first layer of the policy has %d inputs, and environment.observe has %d rows",
                          policy_table_inputs(table), n_observe);
    for (int k = 0; k < configured->n_outputs; k++) {
        const Action *action = configured->outputs[k].asked;
        if (action == NULL || action->of_low != NULL || (isfinite(action->low) && isfinite(action->high))) continue;
        return error_make(ERROR_USER,
                          "the action of %.100s has no bounds, and a policy gives parts of a range: write "
                          "control.bounds: [-0.3, 0.3], or give the motor a ctrlrange in the robot's file",
                          configured->outputs[k].name);
    }
    return error_none();
}

Error law_of_policy(Tape *tape, const LawPolicy *policy, int n_observe, const Configured *configured, Arena *arena,
                    Law *out)
{
    const int n = policy_table_outputs(policy->table), first = configured->n_columns + configured->n_parameters;
    int *own = ARENA_NEW(arena, int, n);
    TapeValue *outputs = ARENA_NEW(arena, TapeValue, configured->n_outputs);
    TRY(policy_check(policy->table, n_observe, configured));
    for (int k = 0; k < n; k++) own[k] = 1 + k; // behind whether the period is the first
    for (int k = 0, given = 0; k < configured->n_outputs; k++) {
        const Action *action = configured->outputs[k].asked;
        outputs[k] = TAPE_NONE;
        if (action == NULL) continue;
        const TapeValue y = tape_input(tape, first + given++, TAPE_MOVING);
        outputs[k] = policy_scaled(tape, configured, action, y);
    }
    const LawProgram program = {.tape = tape,
                                .own = own,
                                .n_own = n,
                                .policies = policy,
                                .n_policies = 1,
                                .start = outputs, // none of them
                                .next = outputs,
                                .outputs = outputs};
    return law_make(&program, configured, arena, out);
}
