// Control laws of the user's own on the host: a law as a tape, with the policies that it asks and the actions that it
// takes from outside.
#include "sim.h" // which includes this file behind its types

#ifndef HOPSCOTCH_LAW_PROGRAM_H
#define HOPSCOTCH_LAW_PROGRAM_H

// ---- policies -------------------------------------------------------------------------------------------------------

typedef struct PolicyTable {
    PolicyShape shape;
    const double *weight; // [n_weights] in the order of PolicyShape
    int64_t n_weights;
} PolicyTable;

// The network of a table with the columns layer, output, input and weight: one row for each weight, in any order;
// layers and outputs from 1, inputs from 1 too, and input 0 is the constant b. Error (user): it is none.
Error policy_read(const Points *table, Arena *arena, PolicyTable *out);
int policy_table_inputs(const PolicyTable *table);
int policy_table_outputs(const PolicyTable *table);
// All names that its weights may have as parameters: weight_LAYER_OUTPUT_INPUT. [n_weights]
const char *const *policy_names(const PolicyTable *table, Arena *arena);
// The parameters that words name, with the weights of the table as defaults: parameters[n_weights] <- their rows,
// input[n_weights] <- which of them a weight is, -1: none. Returns their number.
int policy_inputs(const PolicyTable *table, const Choice *choice, Arena *arena, Parameter *parameters, double *input);

// A policy that a law asks.
typedef struct LawPolicy {
    const PolicyTable *table;
    const double *input;      // of policy_inputs; NULL: no weight is a parameter
    const TapeValue *observe; // [its inputs]
} LawPolicy;

// ---- actions --------------------------------------------------------------------------------------------------------

// The table of a run: *rows <- [*n_rows][n] from `listed`, or from a file whose columns have the names of the actions;
// no rows: neither has any. Error (user): they do not fit; *of_file: it is about the file.
Error actions_table(const Action *actions, int n, const Points *listed, const Points *file, Arena *arena,
                    const double **rows, int64_t *n_rows, bool *of_file);

// ---- laws -----------------------------------------------------------------------------------------------------------

// A law as a tape. Its inputs are time and states, which are the columns of the model; the user's held numbers;
// parameters, of the model and of the law; then other numbers that it holds, normal numbers, whether the period is the
// first, what policies give, and actions.
typedef struct LawProgram {
    Tape *tape;
    int n_held, n_checked, n_noises; // n_checked: the user's, the first of n_held
    const int *own;                  // [n_own] of the inputs behind parameters: its place among these
    int n_own;
    const LawPolicy *policies; // [n_policies]
    int n_policies;
    const Action *actions; // [n_actions]
    int n_actions;
    const TapeValue *start, *next; // [n_held]; start: of fixed inputs
    const TapeValue *outputs;      // [configured->n_outputs] TAPE_NONE: not given
    const Parameter *parameters;   // [n_parameters] of the law; the last is a seed if there are noises
    int n_parameters;
    const Field *shown; // [n_shown] columns of the first held numbers
    int n_shown;
    const char *bends; // why it has no derivatives; NULL: it has
} LawProgram;

// Changes the tape. Error (user): the law is too long.
Error law_make(const LawProgram *program, const Configured *configured, Arena *arena, Law *out);
// Its actions are held for that many control periods; rows: of actions_table.
void law_take_actions(Law *law, const double *rows, int64_t n_rows, int64_t periods, Arena *arena);
// The law of a policy: the model's outputs that have an action are what the policy gives for observe[n_observe], in its
// range. Error (user): the policy has another number of inputs or outputs.
Error law_of_policy(Tape *tape, const LawPolicy *policy, int n_observe, const Configured *configured, Arena *arena,
                    Law *out);
// Adds a law's parameters and columns to those of the model, and its actions. All columns and parameters that it needs
// must be there. law_put: its own parameters and columns are there, too.
void law_attach(const Law *law, Configured *configured, Arena *arena);
void law_put(const Law *law, Configured *configured, Arena *arena);
// Why a gradient can't go through a law; NULL: it can, or there is no law.
const char *law_without_derivative(const Configured *configured);
// A lane on the host whose numbers have derivatives along n directions of its parameters. memory[law_tangent_doubles]:
// at first the columns of a sample that the law takes, [n_needed] values and [n][n_needed] derivatives, then
// [n][n_parameters] derivatives of the parameters that it takes. Parameter p has its value at parameter[(1 + n)*p].
// law_tangent_begin: before the first period.
int64_t law_tangent_doubles(const Law *law, int n);
void law_tangent_begin(const Law *law, const double *parameter, int n, double *memory);
void law_tangent_decide(const Law *law, const double *parameter, int n, double period, double *memory);
// What it gave last: [n_outputs][value, n derivatives]; then whether a number was none.
const double *law_tangent_outputs(const Law *law, int n, const double *memory);

#endif
