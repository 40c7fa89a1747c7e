// The section `environment:`: what a program that steps the model from outside gets. Its expressions are over the
// columns of a trajectory, the parameters, `failed` (1 in a step in which the model failed, else 0) and definitions.
#include "../forms.h"

#include <ctype.h>
#include <string.h>

static bool environment_is_word(const char *text)
{
    if (!isalpha((unsigned char)text[0]) && text[0] != '_') return false;
    for (const char *p = text; *p != '\0'; p++) {
        if (!isalnum((unsigned char)*p) && *p != '_') return false;
    }
    return strlen(text) <= NAME_LENGTH_MAX;
}

// What no expression could use as a name. The name of a function is one where no parenthesis follows.
static bool environment_is_operator(const char *text)
{
    return strcmp(text, "and") == 0 || strcmp(text, "or") == 0 || strcmp(text, "not") == 0;
}

// Names that all expressions may use, and the definitions so far. A name of a column comes before that of a parameter.
static Scope environment_scope(const SpecReader *reader)
{
    const Spec *spec = reader->spec;
    const Configured *configured = &spec->configured;
    const int n_columns = configured->n_columns, named = configured_named(configured);
    const int n = n_columns + named + 1 + spec->environment.n_define;
    const char **names = ARENA_NEW(reader->arena, const char *, n);
    for (int i = 0; i < n_columns; i++) names[i] = configured->columns[i].name;
    for (int i = 0; i < named; i++) names[n_columns + i] = reader->names[i];
    names[n_columns + named] = "failed";
    for (int i = 0; i < spec->environment.n_define; i++)
        names[n_columns + named + 1 + i] = spec->environment.define[i].name;
    Scope scope = {.names = names, .count = n};
    scope.frames = robot_frames(reader, &scope.n_frames);
    return scope;
}

static bool environment_is_known(const SpecReader *reader) { return reader->names != NULL && !reader->nameless; }

// ---- define ---------------------------------------------------------------------------------------------------------

static void environment_define(SpecReader *reader, const Node *name, const Node *value, EnvironmentQuantity *out)
{
    const Scope scope = environment_scope(reader);
    bool taken = false;
    for (int i = 0; i < scope.count; i++) taken |= strcmp(scope.names[i], name->text) == 0;
    if (!environment_is_word(name->text))
        diagnose(reader->diagnostics, name, "'%.60s' is not a name, expected letters, digits and _", name->text);
    else if (environment_is_operator(name->text))
        diagnose(reader->diagnostics, name, "'%s' is a word of expressions: give the definition another name",
                 name->text);
    else if (taken)
        diagnose(reader->diagnostics, name, "%s is already a name of the model, or of a definition", name->text);
    out->name = name->text;
    out->expression = expression_read(reader, value, &scope, name->text);
}

static void definitions_read(SpecReader *reader, const GivenKey *given)
{
    const Node *node = given->value;
    Spec *spec = reader->spec;
    if (!environment_is_known(reader) || scalar_is_empty(node)) return;
    if (node->kind != NODE_MAPPING || node->count > ENVIRONMENT_MAX) {
        form_mistyped(reader, given);
        return;
    }
    EnvironmentQuantity *list = ARENA_NEW(reader->arena, EnvironmentQuantity, node->count);
    spec->environment.define = list;
    for (int i = 0; i < node->count; i++) {
        environment_define(reader, node->keys[i], node->items[i], &list[i]);
        spec->environment.n_define++; // the next ones may use it
    }
}

static bool definitions_entry(const SpecReader *reader, int index, FormEntry *out)
{
    if (index >= reader->spec->environment.n_define) return false;
    out->name = reader->spec->environment.define[index].name;
    out->expression = reader->spec->environment.define[index].expression;
    return true;
}

// A policy acts on what it sees. To all else in a run the section means nothing.
static void environment_identify(const SpecReader *reader, CanonicalLines *lines, const char *path,
                                 const EnvironmentQuantity *list, int count)
{
    for (int i = 0; i < count && reader->spec->configured.policy; i++)
        canonical_add(lines, arena_format(lines->arena, "%s.%04d.%s", path, i, list[i].name),
                      expression_text(list[i].expression, lines->arena));
}

static void definitions_identify(const SpecReader *reader, CanonicalLines *lines)
{
    environment_identify(reader, lines, "environment.define", reader->spec->environment.define,
                         reader->spec->environment.n_define);
}

const Form form_definitions = {
    .path = "environment.define",
    .after = "environment",
    .words = "a mapping of up to 1024 names to expressions",
    .doc = "quantities that later definitions, observe, reward and terminate may use, by name",
    .example = "{speed: \"dx_foot + dlen_leg * sin(phi_leg)\"}",
    .stage = FORM_OBJECTIVE,
    .read = definitions_read,
    .entry = definitions_entry,
    .identify = definitions_identify,
    .schema = "{type: [object, null], additionalProperties: $expression}",
};

// ---- observe --------------------------------------------------------------------------------------------------------

static void observed_read(SpecReader *reader, const GivenKey *given)
{
    const Node *node = given->value;
    Spec *spec = reader->spec;
    if (!environment_is_known(reader)) return;
    if (node->kind != NODE_SEQUENCE || node->count < 1 || node->count > ENVIRONMENT_MAX) {
        form_mistyped(reader, given);
        return;
    }
    const Scope scope = environment_scope(reader);
    EnvironmentQuantity *list = ARENA_NEW(reader->arena, EnvironmentQuantity, node->count);
    for (int i = 0; i < node->count; i++) {
        list[i].expression = expression_read(reader, node->items[i], &scope, "observe");
        if (list[i].expression != NULL) list[i].name = expression_text(list[i].expression, reader->arena);
    }
    spec->environment.observe = list;
    spec->environment.n_observe = node->count;
}

static bool observed_entry(const SpecReader *reader, int index, FormEntry *out)
{
    if (index >= reader->spec->environment.n_observe) return false;
    out->expression = reader->spec->environment.observe[index].expression;
    return true;
}

static void observed_identify(const SpecReader *reader, CanonicalLines *lines)
{
    environment_identify(reader, lines, "environment.observe", reader->spec->environment.observe,
                         reader->spec->environment.n_observe);
}

const Form form_observed = {
    .path = "environment.observe",
    .after = "environment.define",
    .words = "a list of 1 to 1024 names or expressions",
    .doc = "what each observation holds, in this order, and what a policy sees; without it all columns of the "
           "trajectory but the time. Columns of the control are those of the step that led here",
    .example = "[phi_leg, phi_body, \"dx_foot - x_dot_des\"]",
    .stage = FORM_OBJECTIVE,
    .read = observed_read,
    .entry = observed_entry,
    .identify = observed_identify,
    .schema = "{type: array, minItems: 1, maxItems: MOST, items: $expression}",
    .most = ENVIRONMENT_MAX,
    .most_of = "expressions",
};

// ---- reward, terminate ----------------------------------------------------------------------------------------------

static void reward_read(SpecReader *reader, const GivenKey *given)
{
    if (!environment_is_known(reader)) return;
    const Scope scope = environment_scope(reader);
    reader->spec->environment.reward = expression_read(reader, given->value, &scope, "reward");
}

static const char *reward_text(const SpecReader *reader)
{
    const Expression *reward = reader->spec->environment.reward;
    return reward != NULL ? resolve_quoted(reward, reader->arena) : NULL;
}

const Form form_reward = {
    .path = "environment.reward",
    .after = "environment.observe",
    .words = "an expression over columns, parameters and definitions",
    .doc =
        "the reward of a step, of the state at its end; a value that is not finite counts as 0. `failed` is 1 if the "
        "model failed in the step, else 0. Needed, unless a policy gives the actions",
    .example = "\"1 - (dx_foot - x_dot_des)^2 - 10 * failed\"",
    .stage = FORM_OBJECTIVE,
    .read = reward_read,
    .text = reward_text,
    .schema = "$expression",
};

static void terminate_read(SpecReader *reader, const GivenKey *given)
{
    if (!environment_is_known(reader)) return;
    const Scope scope = environment_scope(reader);
    reader->spec->environment.terminate = expression_read(reader, given->value, &scope, "terminate");
}

static const char *terminate_text(const SpecReader *reader)
{
    const Expression *terminate = reader->spec->environment.terminate;
    return terminate != NULL ? resolve_quoted(terminate, reader->arena) : NULL;
}

const Form form_terminate = {
    .path = "environment.terminate",
    .after = "environment.reward",
    .words = "an expression over columns, parameters and definitions",
    .doc = "an episode also ends when this holds at the end of a step; always when the model fails",
    .example = "\"abs(phi_body) > 0.5\"",
    .stage = FORM_OBJECTIVE,
    .read = terminate_read,
    .text = terminate_text,
    .schema = "$expression",
};
