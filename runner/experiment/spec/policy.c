// control: policy: a network gives the model's actions for what environment.observe says. It becomes a law of the model
// (law_of_policy), and weights that the spec names become parameters.
#include "keys.h"

#include <string.h>

enum { POLICY_WEIGHTS_MOST = 1000 }; // that are parameters

static const Node *policy_at(const SpecReader *reader)
{
    const GivenKey *file = given_find(reader, "simulation.control.file"),
                   *mode = given_find(reader, "simulation.control.mode");
    return file != NULL ? file->value : mode != NULL ? mode->value : reader->root;
}

// The names that the spec may use, with those of weights.
static void policy_name_weights(SpecReader *reader, const PolicyTable *table)
{
    Configured *configured = &reader->spec->configured;
    const char *const *weights = policy_names(table, reader->arena);
    const int64_t n = configured->n_nameable;
    const char **names = ARENA_NEW(reader->arena, const char *, n + table->n_weights);
    if (n > 0) memcpy(names, configured->nameable, (size_t)n * sizeof *names);
    memcpy(names + n, weights, (size_t)table->n_weights * sizeof *names);
    configured->nameable = names;
    configured->n_nameable = n + table->n_weights;
}

// Weights as parameters of a law that is still to be made.
static Error policy_weights_as_parameters(SpecReader *reader, const PolicyTable *table)
{
    const Choice choice = things_named(reader);
    Parameter *parameters = ARENA_NEW(reader->arena, Parameter, table->n_weights);
    double *input = ARENA_NEW(reader->arena, double, table->n_weights);
    const int count = policy_inputs(table, &choice, reader->arena, parameters, input);
    if (count > POLICY_WEIGHTS_MOST)
        return error_make(ERROR_USER, "%d weights of the policy are named, at most %d can be", count,
                          POLICY_WEIGHTS_MOST);
    const Law law = {.parameters = parameters, .n_parameters = count, .n_weights = count};
    reader->policy = (LawPolicy){.table = table, .input = input};
    law_attach(&law, &reader->spec->configured, reader->arena);
    return error_none();
}

void policy_take(SpecReader *reader)
{
    const Configured *configured = &reader->spec->configured;
    PolicyTable *table = ARENA_NEW(reader->arena, PolicyTable, 1);
    if (!configured->policy) return;
    const Points *file = &reader->spec->option_points[option_find(reader, "control.file")];
    Error error = file->count > 0 ? policy_read(file, reader->arena, table)
                                  : error_make(ERROR_USER, "control: policy needs control.file, a CSV file with the "
                                                           "weights of a network");
    if (error.kind == OK) {
        policy_name_weights(reader, table);
        error = policy_weights_as_parameters(reader, table);
    }
    if (error.kind == OK) return;
    diagnose(reader->diagnostics, policy_at(reader), "%s", error.text);
    reader->nameless = true; // names of weights are not unknown
}

void policy_see(SpecReader *reader)
{
    Spec *spec = reader->spec;
    LawPolicy policy = reader->policy;
    Law law;
    if (policy.table == NULL || diagnostics_errors(reader->diagnostics) > 0) return;
    const Law *weights = spec->configured.law;
    Tape *tape = tape_new(reader->arena);
    int n;
    policy.observe = environment_observed(reader, tape, &n);
    const Error error = law_of_policy(tape, &policy, n, &spec->configured, reader->arena, &law);
    if (error.kind != OK) {
        diagnose(reader->diagnostics, policy_at(reader), "%s", error.text);
        return;
    }
    const char *const *taken = law.of.needed + law.of.n_needed;
    if (!things_check_taken(reader, taken, law.of.n_parameters, policy_at(reader), "environment.observe")) return;
    law.parameters = weights->parameters;
    law.n_parameters = weights->n_parameters;
    law.n_weights = weights->n_weights;
    law_put(&law, &spec->configured, reader->arena);
}
