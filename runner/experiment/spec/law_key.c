// A control law of a spec: a mapping in it, or in a file of its own. It is read when the model's columns and parameters
// are known. The resolved spec has it in one line.
#include "../equations/equations.h"
#include "keys.h"

#include <math.h>
#include <string.h>

void law_key_read(SpecReader *reader, const Key *key, const Node *node)
{
    Points *points = key->at;
    *points = (Points){0};
    if (node == NULL || (node->kind == NODE_SCALAR && strcmp(node->text, "none") == 0)) return;
    if (node->kind == NODE_SEQUENCE || scalar_is_empty(node)) {
        key_mistyped(reader, key, node);
        return;
    }
    if (node->kind == NODE_SCALAR) node = system_key_file(reader, node);
    if (node == NULL) return;
    node = system_tables(reader, node, true);
    const char **text = ARENA_NEW(reader->arena, const char *, 1);
    text[0] = equations_text(node, reader->arena);
    points->names = text;
    points->count = 1;
    reader->law = node;
}

const char *law_key_text(const Key *key)
{
    const Points *points = key->at;
    return points->count > 0 ? points->names[0] : "none";
}

// Whether the word stands in a node, as a key or as a value.
static bool law_stands_in(const Node *node)
{
    bool stands = node->kind == NODE_SCALAR && strcmp(node->text, "law") == 0;
    for (int i = 0; node->kind != NODE_SCALAR && i < node->count && !stands; i++)
        stands =
            (node->kind == NODE_MAPPING && strcmp(node->keys[i]->text, "law") == 0) || law_stands_in(node->items[i]);
    return stands;
}

bool law_is_given(const SpecReader *reader)
{
    const Node *simulation = node_find(reader->root, "simulation");
    return reader->law != NULL || (simulation != NULL && law_stands_in(simulation));
}

// ---- actions --------------------------------------------------------------------------------------------------------

int option_find(const SpecReader *reader, const char *name)
{
    const Model *model = reader->spec->model;
    int option = 0;
    while (strcmp(model->options[option].name, name) != 0) option++;
    return option;
}

static const Node *law_option_at(const SpecReader *reader, const char *name)
{
    const GivenKey *given = given_find(reader, arena_format(reader->arena, "simulation.%s", name));
    return given != NULL ? given->value : reader->law;
}

// Control periods for which an action is held; 0 after an error.
static int64_t law_periods(SpecReader *reader, const Law *law)
{
    static const char name[] = "control.action_period";
    const Configured *configured = &reader->spec->configured;
    const double seconds = reader->spec->settings[option_find(reader, name)],
                 period = (double)law->ticks * configured->tick_duration, whole = floor(seconds / period + 0.5);
    if (seconds <= 0.0) return 1;
    if (law->n_actions == 0)
        diagnose(
            reader->diagnostics, law_option_at(reader, name),
            "%s says how long an action is held, and no input of the law has a range: inputs: {u: {range: [-1, 1]}}",
            name);
    else if (!(whole >= 1.0 && whole <= 1e9) || fabs(seconds / period - whole) > 1e-6)
        diagnose(reader->diagnostics, law_option_at(reader, name),
                 "%s (%g s) must be a whole number of control periods (%g s)", name, seconds, period);
    else
        return (int64_t)whole;
    return 0;
}

// The table of a run, if there is one. False after an error.
static bool law_read_actions(SpecReader *reader, Law *law)
{
    const Points *points = reader->spec->option_points;
    const GivenKey *environment = given_find(reader, "environment");
    const double *rows;
    int64_t n_rows, periods;
    bool of_file;
    const Error error =
        actions_table(law->inputs, law->n_actions, &points[option_find(reader, "control.actions")],
                      &points[option_find(reader, "control.file")], reader->arena, &rows, &n_rows, &of_file);
    if (error.kind != OK)
        diagnose(reader->diagnostics, law_option_at(reader, of_file ? "control.file" : "control.actions"), "%s",
                 error.text);
    if (environment != NULL && law->n_actions == 0)
        diagnose(reader->diagnostics, environment->key,
                 "an environment sets actions, and no input of the law has a range: write one in control.law, "
                 "inputs: {u: {range: [-1, 1]}}");
    periods = law_periods(reader, law);
    if (error.kind != OK || periods == 0) return false;
    if (law->n_actions > 0) law_take_actions(law, rows, n_rows, periods, reader->arena);
    return environment == NULL || law->n_actions > 0;
}

const Node *law_action_at(const SpecReader *reader)
{
    const Node *inputs = reader->law != NULL ? node_find(reader->law, "inputs") : NULL;
    return inputs != NULL && inputs->kind == NODE_MAPPING && inputs->count > 0 ? inputs->keys[0] : reader->law;
}

// ---- all of it ------------------------------------------------------------------------------------------------------

void law_read(SpecReader *reader)
{
    Configured *configured = &reader->spec->configured;
    Law *law = ARENA_NEW(reader->arena, Law, 1);
    Scope frames = {0};
    LawTaken taken;
    if (reader->law == NULL || configured->n_outputs == 0) return;
    frames.frames = robot_frames(reader, &frames.n_frames);
    const bool nameless = reader->nameless;
    reader->nameless = true; // in what follows, if there is an error
    if (!equations_read_law(reader->law, configured, &frames, reader->arena, reader->diagnostics, law, &taken)) return;
    if (!things_check_taken(reader, taken.names, taken.count, reader->law, "the law")) return;
    if (!law_read_actions(reader, law)) return;
    reader->nameless = nameless;
    law_attach(law, configured, reader->arena);
}
