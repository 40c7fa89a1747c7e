// The table of weights of a policy, on the host (policy_table.c).
#ifndef HOPSCOTCH_POLICY_TABLE_H
#define HOPSCOTCH_POLICY_TABLE_H

#include "policy.h"
#include "sim.h"

typedef struct PolicyTable {
    PolicyShape shape;    // without `see`
    const double *weight; // [policy_weights()] in the order of policy.h
} PolicyTable;

// The network of a file with the columns layer, output, input and weight: one row for each weight, in any order;
// layers and outputs from 1, inputs from 1 too, and input 0 is the constant b. Error (user): it is none, or has no
// output for each of the actions.
Error policy_read(const Points *file, int n_actions, Arena *arena, PolicyTable *out);

// All names that its weights may have as lane inputs: weight_LAYER_OUTPUT_INPUT. [policy_weights()]
const char *const *policy_names(const PolicyTable *table, Arena *arena);
// The lane inputs that words name, with the weights of the table as defaults: parameters[policy_weights()] <- their
// rows, input[policy_weights()] <- `first` and on at the indices of these weights, else -1. Returns their number.
int policy_inputs(const PolicyTable *table, const Choice *choice, int first, Arena *arena, Parameter *parameters,
                  double *input);

// The assets with a policy appended, which begins at *at. see: its observations; input: of policy_inputs.
// Error (user): the observations need too many numbers, or are not as many as the first layer has inputs.
Error policy_lay(const PolicyTable *table, const EnvironmentSetup *see, const double *input, Arena *arena,
                 Configured *configured, int32_t *at);

#endif
