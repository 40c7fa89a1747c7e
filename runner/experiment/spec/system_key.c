// Equations of a spec: a mapping in it, or in a file of their own. The resolved spec has them in one line.
#include "../equations/equations.h"
#include "keys.h"

#include <string.h>

const Node *system_key_file(SpecReader *reader, const Node *name)
{
    Source *source = ARENA_NEW(reader->arena, Source, 1);
    if (!spec_read_file(reader->folder, name, YAML_BYTES_MAX, reader->arena, reader->diagnostics, source)) return NULL;
    return yaml_parse(source, reader->arena, reader->diagnostics);
}

void system_key_read(SpecReader *reader, const Key *key, const Node *node)
{
    Points *points = key->at;
    *points = (Points){0};
    if (node == NULL) return;
    if (node->kind == NODE_SEQUENCE || scalar_is_empty(node)) {
        key_mistyped(reader, key, node);
        return;
    }
    if (node->kind == NODE_SCALAR) node = system_key_file(reader, node);
    if (node == NULL) return;
    node = system_tables(reader, node, false);
    points->system = equations_read(node, reader->arena, reader->diagnostics);
    points->count = points->system != NULL;
}

const char *system_key_text(const Key *key)
{
    const Points *points = key->at;
    return points->count > 0 ? points->system->text : "none";
}

// The system of the model's settings; NULL: it has none.
static const System *system_given(const SpecReader *reader)
{
    const Model *model = reader->spec->model;
    for (int i = 0; model != NULL && i < model->n_options; i++)
        if (model->options[i].type == OPTION_SYSTEM) return reader->spec->option_points[i].system;
    return NULL;
}

// A resolved spec has the defaults, which say nothing.
void system_check_settings(SpecReader *reader)
{
    static const char *const settings[] = {"integrator", "dt", "tolerance"};
    const System *system = system_given(reader);
    if (system == NULL || !system->is_map) return;
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        const char *path = arena_format(reader->arena, "simulation.%s", settings[i]);
        const GivenKey *given = given_find(reader, path);
        const Key *key = key_find(reader, path);
        if (given == NULL || key == NULL || *(const double *)key->at == key->value) continue;
        diagnose(reader->diagnostics, given->key,
                 "%s is for differential equations, and this system is a map: leave it out; duration is the number of "
                 "iterations",
                 settings[i]);
    }
}

// What is missing where the actions of a run are not given.
static const char *system_lacks_actions(const Configured *configured, Arena *arena)
{
    const char *names = "", *zeros = "";
    for (int a = 0; a < configured->n_actions && a < 8; a++) {
        names = arena_format(arena, "%s%s%s", names, a > 0 ? ", " : "", configured->actions[a].name);
        zeros = arena_format(arena, "%s%s0", zeros, a > 0 ? ", " : "");
    }
    return arena_format(arena,
                        "%s is an action, because it has a range, and a run takes actions from a table: write "
                        "simulation.control.actions: [%s], row after row, or control.file: NAME.csv with the column%s "
                        "%s; a row is held for control.%s",
                        configured->actions[0].name, zeros, configured->n_actions > 1 ? "s" : "", names,
                        configured->law != NULL ? "action_period" : "period");
}

void system_check_actions(SpecReader *reader)
{
    Spec *spec = reader->spec;
    const System *system = system_given(reader);
    if (!spec->configured.waits) return;
    const Node *at = system != NULL ? system->action_at : law_action_at(reader);
    if (given_find(reader, "environment") == NULL)
        diagnose(reader->diagnostics, at, "%s; an environment needs a section `environment`",
                 system_lacks_actions(&spec->configured, reader->arena));
    else
        spec->waits_at = at;
    spec->waits_for = system_lacks_actions(&spec->configured, reader->arena);
}

Error spec_check_run(const Spec *spec)
{
    const Node *at = spec->waits_at;
    if (spec->model->by_hand)
        return error_make(
            ERROR_USER,
            "people run the trials of model %s: `hopscotch ask` gives the next ones, and `hopscotch tell` "
            "takes their results",
            spec->model->name);
    if (at == NULL) return error_none();
    return error_make(ERROR_USER, "%s:%d:%d: %s", at->source->file, at->line, at->column, spec->waits_for);
}

static bool system_has(const Field *fields, int count, const char *name)
{
    bool has = false;
    for (int i = 0; i < count; i++) has |= strcmp(fields[i].name, name) == 0;
    return has;
}

bool system_starts(SpecReader *reader, const Node *key)
{
    const System *system = system_given(reader);
    if (system == NULL || !(system_has(system->state_columns, system->n_states, key->text) ||
                            system_has(system->held_columns, system_first_action(system), key->text)))
        return false;
    diagnose(reader->diagnostics, key,
             "the start of %s is an expression: set and search the parameters in it, or write a number there",
             key->text);
    return true;
}
