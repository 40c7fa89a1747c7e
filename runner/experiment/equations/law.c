// Reading a control law (LawProgram in sim.h) over the columns of a model: they are the states of a system without
// equations, and its parameters are the first. A period of the law is one expression for each number that it holds and
// each output that it gives. In a period happen, in this order: events, by guards of this period and the last; what
// policies give; commands and efforts; what every period sets, for the next one.
#include "copies.h"
#include "law.h"

#include <stdlib.h>
#include <string.h>

#define LAW_MODE "law_mode" // the column with the mode

typedef struct LawReader {
    SystemReader *reader;
    const Configured *configured;
    LawInputs inputs;
    LawAsked asked;
    TapeValue *seen; // [asked.n_seen]
    SystemModes modes;
    TapeValue mode;               // input: the mode of the last period
    TapeValue *held, *happened;   // [n_held] inputs; values after the events of a period
    TapeValue mode_now;           // after them
    TapeValue *outputs, *next;    // [n_outputs], [n_held]
    TapeValue *before, *remember; // [n_guards + n_instants] of guards at the last period: inputs; at this one
} LawReader;

static Tape *law_tape(const LawReader *law) { return law->reader->system->tape; }

static TapeValue law_two(const LawReader *law, int operation, TapeValue a, TapeValue b)
{
    return tape_operation(law_tape(law), operation, a, b, TAPE_NONE);
}
static TapeValue law_if(const LawReader *law, TapeValue condition, TapeValue a, TapeValue b)
{
    return tape_operation(law_tape(law), PROGRAM_IF, condition, a, b);
}
static TapeValue law_number(const LawReader *law, double number) { return tape_number(law_tape(law), number); }

static TapeValue law_is_mode(const LawReader *law, TapeValue mode, int which)
{
    return law_two(law, PROGRAM_EQUAL, mode, law_number(law, (double)which));
}

// Of modes[n_modes] the value of the mode that `mode` is, `otherwise` of one that has none.
static TapeValue law_of_modes(const LawReader *law, TapeValue mode, const TapeValue *modes, TapeValue otherwise)
{
    const int n = law->reader->n_modes;
    TapeValue value = modes[n - 1] != TAPE_NONE ? modes[n - 1] : otherwise;
    for (int m = n - 2; m >= 0; m--)
        value = law_if(law, law_is_mode(law, mode, m), modes[m] != TAPE_NONE ? modes[m] : otherwise, value);
    return value;
}

// ---- names ----------------------------------------------------------------------------------------------------------

static bool law_is_taken(const Configured *configured, const char *name, const char **as)
{
    *as = "column";
    for (int c = 0; c < configured->n_columns; c++)
        if (strcasecmp(configured->columns[c].name, name) == 0) return true;
    if (strcasecmp(name, LAW_MODE) == 0) return true;
    *as = "parameter";
    for (int p = 0; p < configured->n_parameters; p++)
        if (strcasecmp(configured->parameters[p].name, name) == 0) return true;
    *as = "metric";
    for (int m = 0; m < configured->n_metrics; m++)
        if (strcasecmp(configured->metrics[m].name, name) == 0) return true;
    return false;
}

// What the model calls so can't be declared.
static void law_check_names(const LawReader *law)
{
    const SystemReader *reader = law->reader;
    const char *as;
    for (int i = 0; i < reader->n_names; i++) {
        const Node *key = reader->names[i].key;
        if (key != NULL && law_is_taken(law->configured, key->text, &as))
            diagnose(reader->diagnostics, key, "the model has a %s '%s': take another name", as, key->text);
    }
}

// Names that the law has without a declaration: how long a period lasts, and angles of the base, from its quaternion
// (turns about z, then y, then x lead to its axes).
static const struct {
    const char *name, *value, *unit;
} law_own_names[] = {
    {"period", NULL, "s"},
    {"roll", "atan2(2*(base_qw*base_qx + base_qy*base_qz), 1 - 2*(base_qx^2 + base_qy^2))", NULL},
    {"pitch", "asin(clip(2*(base_qw*base_qy - base_qz*base_qx), -1, 1))", NULL},
    {"yaw", "atan2(2*(base_qw*base_qz + base_qx*base_qy), 1 - 2*(base_qy^2 + base_qz^2))", NULL},
};
enum { LAW_OWN_NAMES = sizeof law_own_names / sizeof *law_own_names };

static const Node *law_scalar(const LawReader *law, const char *text)
{
    Node *node = ARENA_NEW(law->reader->arena, Node, 1);
    *node = *law->reader->root;
    node->kind = NODE_SCALAR;
    node->count = 0;
    node->text = text;
    return node;
}

// {value: ..., unit: ...}
static const Node *law_with_unit(const LawReader *law, const Node *value, const char *unit)
{
    Node *node = ARENA_NEW(law->reader->arena, Node, 1);
    const Node **keys = ARENA_NEW(law->reader->arena, const Node *, 2),
               **items = ARENA_NEW(law->reader->arena, const Node *, 2);
    keys[0] = law_scalar(law, "value");
    items[0] = value;
    keys[1] = law_scalar(law, "unit");
    items[1] = law_scalar(law, unit);
    *node = *law->reader->root;
    node->keys = keys;
    node->items = items;
    node->count = 2;
    return node;
}

// Those that the law, or its model, gives another meaning are left out.
static void law_declare_own_names(LawReader *law)
{
    SystemReader *reader = law->reader;
    const Configured *configured = law->configured;
    const double period = (double)configured->action_ticks * configured->tick_duration;
    const bool turns = equations_find(reader, "base_qw", SYSTEM_NAME_STATE) >= 0,
               has_units = reader->names[0].value.kind == UNIT_KNOWN;
    for (int i = 0; i < LAW_OWN_NAMES; i++) {
        const char *text = law_own_names[i].value, *unit = has_units ? law_own_names[i].unit : NULL;
        bool taken = text != NULL && !turns;
        for (int k = 0; k < reader->n_names && !taken; k++)
            taken = strcasecmp(reader->names[k].name, law_own_names[i].name) == 0;
        if (taken) continue;
        const Node *value = law_scalar(law, text != NULL ? text : arena_format(reader->arena, "%.17g", period));
        equations_declare_let(reader, law_scalar(law, law_own_names[i].name),
                              unit != NULL ? law_with_unit(law, value, unit) : value, -1);
        reader->names[reader->n_names - 1].used = true; // it need not be
    }
}

// ---- outputs --------------------------------------------------------------------------------------------------------

bool law_matches(const char *pattern, const char *name, int64_t *number)
{
    for (; *pattern != '\0'; pattern++, name++) {
        if (*pattern == '*') {
            for (const char *rest = name;; rest++) {
                if (law_matches(pattern + 1, rest, number)) return true;
                if (*rest == '\0') return false;
            }
        }
        if (*pattern == '#') {
            char *end;
            if (*name < '0' || *name > '9') return false;
            const long long digits = strtoll(name, &end, 10);
            if (!law_matches(pattern + 1, end, number)) return false;
            *number = digits;
            return true;
        }
        if (*pattern != *name) return false;
    }
    return *name == '\0';
}

// How well a key of `command` or `effort` names an output.
typedef enum LawFit { LAW_FIT_NONE, LAW_FIT_PATTERN, LAW_FIT_GROUP, LAW_FIT_NAME } LawFit;

static LawFit law_fits(const LawReader *law, const char *key, int output, int64_t *number)
{
    const Configured *configured = law->configured;
    const char *name = configured->outputs[output].name;
    *number = -1;
    if (strcmp(key, name) == 0) return LAW_FIT_NAME;
    for (int g = 0; g < configured->n_output_groups; g++) {
        const LawGroup *group = &configured->output_groups[g];
        for (int k = 0; strcmp(group->name, key) == 0 && k < group->n; k++)
            if (strcmp(configured->outputs[group->outputs[k]].name, name) == 0) return LAW_FIT_GROUP;
    }
    if (strpbrk(key, "*#") == NULL) return LAW_FIT_NONE;
    return law_matches(key, name, number) ? LAW_FIT_PATTERN : LAW_FIT_NONE;
}

// What a section says of an output: its name counts before a group, and that before a pattern.
typedef struct LawSaid {
    const Node *key, *node;
    LawFit fit;
    int64_t number; // of the name; -1: none
} LawSaid;

static LawSaid law_said(const LawReader *law, const Node *section, int output)
{
    LawSaid said = {.fit = LAW_FIT_NONE};
    for (int i = 0; section != NULL && i < section->count; i++) {
        int64_t number;
        const LawFit fit = law_fits(law, section->keys[i]->text, output, &number);
        if (fit != LAW_FIT_NONE && fit == said.fit)
            diagnose(law->reader->diagnostics, section->keys[i], "%s of %s is given by '%.60s' already",
                     law->configured->outputs[output].effort ? "the effort" : "the command",
                     law->configured->outputs[output].name, said.key->text);
        if (fit > said.fit) said = (LawSaid){section->keys[i], section->items[i], fit, number};
    }
    return said;
}

// Whether the model has commands, beside efforts.
static bool law_commands(const LawReader *law)
{
    bool has = false;
    for (int k = 0; k < law->configured->n_outputs; k++) has |= !law->configured->outputs[k].effort;
    return has;
}

static const char *law_section_name(const LawReader *law, bool effort)
{
    const bool adds = law->configured->law_adds && (!effort || !law_commands(law));
    return adds ? "add" : effort ? "effort" : "command";
}

// What to write for a motor that there is not: the nearest one, else the first few.
static const char *law_motors_near(const LawReader *law, const char *name, const char *const *names, int n)
{
    enum { SHOWN = 6 };
    const char *near = equations_nearest(law->reader, name, names, n), *list = names[0];
    for (int i = 1; i < n && i < SHOWN; i++) list = arena_format(law->reader->arena, "%s, %s", list, names[i]);
    return *near != '\0' ? near : arena_format(law->reader->arena, "; it has %s%s", list, n > SHOWN ? ", ..." : "");
}

// Keys of a section that name no output.
static void law_check_outputs(const LawReader *law, const Node *section, bool effort)
{
    const Configured *configured = law->configured;
    const char **names = ARENA_NEW(law->reader->arena, const char *, configured->n_outputs);
    int n = 0;
    for (int k = 0; k < configured->n_outputs; k++)
        if (configured->outputs[k].effort == effort) names[n++] = configured->outputs[k].name;
    for (int i = 0; section != NULL && i < section->count; i++) {
        bool found = false;
        int64_t number;
        for (int k = 0; k < configured->n_outputs && !found; k++)
            found = configured->outputs[k].effort == effort &&
                    law_fits(law, section->keys[i]->text, k, &number) != LAW_FIT_NONE;
        if (found) continue;
        if (n == 0)
            diagnose(law->reader->diagnostics, section->keys[i], "this model's motors take no %s: write %s",
                     law_section_name(law, effort), law_section_name(law, !effort));
        else
            diagnose(law->reader->diagnostics, section->keys[i], "the model has no motor '%.60s'%s",
                     section->keys[i]->text, law_motors_near(law, section->keys[i]->text, names, n));
    }
}

static UnitValue law_unit(SystemReader *reader, const char *text)
{
    Unit unit;
    const char *why;
    if (!unit_read(text, reader->arena, &unit, &why)) return (UnitValue){.kind = UNIT_OPEN};
    return unit_known(&unit, text);
}

// The value of an output in a mode. TAPE_NONE: it is not given there, or it is wrong.
static TapeValue law_output_value(LawReader *law, const LawSaid *said, int output, int mode)
{
    SystemReader *reader = law->reader;
    const LawOutput *of = &law->configured->outputs[output];
    const SystemScope *scope = equations_scope(reader, mode, false);
    const UnitValue unit = law_unit(reader, of->unit);
    const char *what = arena_format(reader->arena, "the %s of %s", law_section_name(law, of->effort), of->name);
    const Node *node = said->node;
    if (said->number >= 0 && node->kind == NODE_SCALAR) {
        const CopyNumber number = {.index = "", .number = said->number};
        node = copy_numbered(reader->copies, node, &number);
        if (node == NULL) return TAPE_NONE;
    }
    const Expression *expression = equations_expression(reader, node, scope, what);
    if (expression == NULL) return TAPE_NONE;
    equations_units(reader, node, expression, scope, &unit, what);
    return equations_value(reader, expression, scope, mode);
}

static const Node *law_section(LawReader *law, const Node *mapping, const char *name)
{
    return equations_section(law->reader, mapping, name, NODE_MAPPING);
}

// The mode's own section; NULL: it has none, or there are no modes.
static const Node *law_own(LawReader *law, int mode, const char *name)
{
    const SystemReader *reader = law->reader;
    const bool own = reader->mode_keys[mode] != NULL && reader->mode_nodes[mode]->kind == NODE_MAPPING;
    return own ? law_section(law, reader->mode_nodes[mode], name) : NULL;
}

// values[n_modes] <- those of an output; true: a mode has it.
static bool law_read_output(LawReader *law, int output, const Node *const *own, const Node *shared, TapeValue *values)
{
    SystemReader *reader = law->reader;
    const LawOutput *of = &law->configured->outputs[output];
    const LawSaid of_all = law_said(law, shared, output);
    int lacks = -1, has = -1;
    for (int m = 0; m < reader->n_modes; m++) {
        const LawSaid said = law_said(law, own[m], output);
        const LawSaid *counts = said.node != NULL ? &said : &of_all;
        values[m] = counts->node != NULL ? law_output_value(law, counts, output, m) : TAPE_NONE;
        if (counts->node == NULL) lacks = m;
        if (counts->node != NULL) has = m;
    }
    if (has >= 0 && lacks >= 0)
        diagnose(reader->diagnostics, reader->mode_keys[lacks],
                 "mode %s has no %s of %s, and mode %s has: write one here, or one for all modes",
                 equations_mode_name(reader, lacks), law_section_name(law, of->effort), of->name,
                 equations_mode_name(reader, has));
    return has >= 0;
}

// `command` or `effort` where the model has them itself, and `add` where it has none; NULL: neither.
static const char *law_other(const LawReader *law, const char *key)
{
    const bool adds = law->configured->law_adds, commands = law_commands(law), command = strcmp(key, "command") == 0;
    if (adds && commands && command)
        return "control: {mode: gait} has the commands: write add, which adds to them, or take {mode: law}";
    if (adds && !commands && (command || strcmp(key, "effort") == 0))
        return "control: {mode: raibert} has the efforts: write add, which adds to them, or take {mode: law}";
    if (adds || strcmp(key, "add") != 0) return NULL;
    return commands ? "there is no gait to add to: write command, or take control: {mode: gait}"
                    : "there is nothing to add to: write effort";
}

static void law_check_other(LawReader *law, const Node *mapping)
{
    for (int i = 0; mapping != NULL && mapping->kind == NODE_MAPPING && i < mapping->count; i++) {
        const char *other = law_other(law, mapping->keys[i]->text);
        if (other != NULL) diagnose(law->reader->diagnostics, mapping->keys[i], "%s", other);
    }
}

// The values of all outputs after the events of a period.
static void law_read_outputs(LawReader *law)
{
    SystemReader *reader = law->reader;
    const Configured *configured = law->configured;
    TapeValue *values = ARENA_NEW(reader->arena, TapeValue, reader->n_modes);
    const Node **own = ARENA_NEW(reader->arena, const Node *, reader->n_modes);
    bool any = false;
    law_check_other(law, reader->root);
    for (int m = 0; m < reader->n_modes; m++)
        if (reader->mode_keys[m] != NULL) law_check_other(law, reader->mode_nodes[m]);
    for (int effort = configured->law_adds && !law_commands(law); effort < 2; effort++) {
        const char *name = law_section_name(law, effort != 0);
        const Node *shared = law_section(law, reader->root, name);
        law_check_outputs(law, shared, effort != 0);
        for (int m = 0; m < reader->n_modes; m++) {
            own[m] = law_own(law, m, name);
            law_check_outputs(law, own[m], effort != 0);
        }
        for (int k = 0; k < configured->n_outputs; k++) {
            if (configured->outputs[k].effort != (effort != 0)) continue;
            if (!law_read_output(law, k, own, shared, values)) continue;
            any = true;
            tape_replace(law_tape(law), values, reader->n_modes, law->held, law->happened, reader->system->n_held);
            law->outputs[k] = law_of_modes(law, law->mode_now, values, law_number(law, 0.0));
        }
    }
    if (!any && diagnostics_errors(reader->diagnostics) == 0)
        diagnose(reader->diagnostics, reader->root, "the law gives no motor a command or an effort: %s: {%s: 0}",
                 law_section_name(law, configured->outputs[0].effort), configured->outputs[0].name);
}

// ---- events ---------------------------------------------------------------------------------------------------------

// Whether an action happens, by its guard or instant of a mode now and at the last period.
static TapeValue law_turns(const LawReader *law, const SystemAction *action, int mode)
{
    const SystemReader *reader = law->reader;
    const TapeValue zero = law_number(law, 0.0);
    if (action->guard < 0) {
        const int at = reader->system->n_guards + action->instant;
        return law_two(law, PROGRAM_GREATER, law->remember[at], law->before[at]);
    }
    const TapeValue now = law->modes.guards[mode][action->guard], before = law->before[action->guard];
    if (now == TAPE_NONE) return zero;
    const TapeValue rises = law_two(law, PROGRAM_AND, law_two(law, PROGRAM_LESS, before, zero),
                                    law_two(law, PROGRAM_GREATER_EQUAL, now, zero)),
                    falls = law_two(law, PROGRAM_AND, law_two(law, PROGRAM_GREATER, before, zero),
                                    law_two(law, PROGRAM_LESS_EQUAL, now, zero));
    switch (reader->guards[action->guard].direction) {
    case SYSTEM_RISES: return rises;
    case SYSTEM_FALLS: return falls;
    default: return law_two(law, PROGRAM_OR, rises, falls);
    }
}

static void law_happens(LawReader *law, const SystemAction *action, int mode)
{
    const System *system = law->reader->system;
    TapeValue *after = ARENA_NEW(law->reader->arena, TapeValue, system->n_held);
    TapeValue happens = law_turns(law, action, mode);
    if (law->reader->n_modes > 1) happens = law_two(law, PROGRAM_AND, law_is_mode(law, law->mode, mode), happens);
    for (int h = 0; h < system->n_held; h++) {
        after[h] = law->happened[h];
        if (action->set == NULL || action->set[system->n_states + h] == TAPE_NONE) continue;
        TapeValue value = action->set[system->n_states + h];
        tape_replace(law_tape(law), &value, 1, law->held, law->happened, system->n_held);
        after[h] = law_if(law, happens, value, law->happened[h]);
    }
    memcpy(law->happened, after, (size_t)system->n_held * sizeof *after);
    if (action->to >= 0) law->mode_now = law_if(law, happens, law_number(law, (double)action->to), law->mode_now);
}

// The row of an instant: how many of them have been, up to now. Rounding does not make an instant late.
static TapeValue law_instants(const LawReader *law, const SystemInstant *instant)
{
    const Configured *configured = law->configured;
    const TapeValue time = tape_input(law_tape(law), SYSTEM_TIME, TAPE_MOVING);
    const double rounding = 1e-9 * (double)configured->action_ticks * configured->tick_duration;
    const TapeValue now = law_two(law, PROGRAM_ADD, time, law_number(law, rounding));
    if (!instant->every) return law_two(law, PROGRAM_GREATER_EQUAL, now, instant->at);
    return tape_operation(law_tape(law), PROGRAM_FLOOR, law_two(law, PROGRAM_DIVIDE, now, instant->at), TAPE_NONE,
                          TAPE_NONE);
}

static void law_read_events(LawReader *law)
{
    SystemReader *reader = law->reader;
    const System *system = reader->system;
    equations_read_events(reader, &law->modes);
    const int n = system->n_guards + system->n_instants;
    TapeValue *values = ARENA_NEW(reader->arena, TapeValue, reader->n_modes);
    law->before = ARENA_NEW(reader->arena, TapeValue, n);
    law->remember = ARENA_NEW(reader->arena, TapeValue, n);
    for (int g = 0; g < n; g++) law->before[g] = law_input(&law->inputs, LAW_INPUT_HELD);
    for (int i = 0; i < system->n_instants; i++)
        law->remember[system->n_guards + i] = law_instants(law, &reader->instants[i]);
    for (int m = 0; m < reader->n_modes; m++)
        for (int a = 0; a < law->modes.n_actions[m]; a++) law_happens(law, &law->modes.actions[m][a], m);
    for (int g = 0; g < system->n_guards; g++) { // 0 of a guard that its mode has not: it does not turn
        for (int m = 0; m < reader->n_modes; m++) values[m] = law->modes.guards[m][g];
        tape_replace(law_tape(law), values, reader->n_modes, law->held, law->happened, system->n_held);
        law->remember[g] = law_of_modes(law, law->mode_now, values, law_number(law, 0.0));
    }
    if (diagnostics_errors(reader->diagnostics) == 0) equations_check_reached(reader, &law->modes);
}

// ---- what every period sets -----------------------------------------------------------------------------------------

static void law_check_held(LawReader *law, const Node *section)
{
    SystemReader *reader = law->reader;
    const char **names = ARENA_NEW(reader->arena, const char *, reader->n_names);
    int n = 0;
    for (int i = 0; i < reader->n_names; i++)
        if (reader->names[i].kind == SYSTEM_NAME_HELD) names[n++] = reader->names[i].name;
    for (int i = 0; section != NULL && i < section->count; i++) {
        const char *name = section->keys[i]->text;
        if (equations_find(reader, name, SYSTEM_NAME_HELD) >= 0 || equations_is_wrong(reader, name)) continue;
        diagnose(reader->diagnostics, section->keys[i], "'%.60s' is not a held number%s", name,
                 n == 0 ? ": declare it, held: {x: 0}" : equations_nearest(reader, name, names, n));
    }
}

static TapeValue law_next_value(LawReader *law, const SystemName *name, const Node *node, int mode)
{
    SystemReader *reader = law->reader;
    const SystemScope *scope = equations_scope(reader, mode, false);
    const Expression *expression = equations_expression(reader, node, scope, name->name);
    if (expression == NULL) return TAPE_NONE;
    equations_units(reader, node, expression, scope, &name->value, name->name);
    TapeValue value = equations_value(reader, expression, scope, mode);
    tape_replace(law_tape(law), &value, 1, law->held, law->happened, reader->system->n_held);
    return value;
}

static void law_read_next(LawReader *law)
{
    SystemReader *reader = law->reader;
    TapeValue *values = ARENA_NEW(reader->arena, TapeValue, reader->n_modes);
    const Node *shared = law_section(law, reader->root, "every_period");
    law_check_held(law, shared);
    for (int m = 0; m < reader->n_modes; m++) law_check_held(law, law_own(law, m, "every_period"));
    for (int i = 0; i < reader->n_names; i++) {
        const SystemName *name = &reader->names[i];
        if (name->kind != SYSTEM_NAME_HELD) continue;
        for (int m = 0; m < reader->n_modes; m++) {
            const Node *node = node_find(law_own(law, m, "every_period"), name->name);
            if (node == NULL) node = node_find(shared, name->name);
            values[m] = node != NULL ? law_next_value(law, name, node, m) : TAPE_NONE;
        }
        law->next[name->index] = law_of_modes(law, law->mode_now, values, law->happened[name->index]);
    }
    for (int a = 0; a < reader->system->n_actions; a++) // held for columns alone
        law->next[system_first_action(reader->system) + a] = reader->acts[a];
}

// ---- all of it ------------------------------------------------------------------------------------------------------

static void law_declare(LawReader *law)
{
    SystemReader *reader = law->reader;
    System *system = reader->system;
    equations_declare_model(reader, law->configured);
    equations_declare_own(reader);
    law->asked = law_declare_policies(reader);
    law_check_names(law);
    law_declare_own_names(law);
    equations_read_inputs(reader);
    law->inputs = law_inputs(reader);
    reader->given = law_inputs_of(reader, &law->inputs, LAW_INPUT_GIVEN, law->asked.n_given);
    reader->acts = law_inputs_of(reader, &law->inputs, LAW_INPUT_ACTION, system->n_actions);
    law->held = ARENA_NEW(reader->arena, TapeValue, system->n_held);
    law->happened = ARENA_NEW(reader->arena, TapeValue, system->n_held);
    law->next = ARENA_NEW(reader->arena, TapeValue, system->n_held);
    for (int h = 0; h < system->n_held; h++)
        law->held[h] = law->happened[h] = tape_input(system->tape, SYSTEM_HELD(system->n_states, h), TAPE_MOVING);
    law->mode = law->mode_now = law_number(law, 0.0);
    if (reader->n_modes > 1) law->mode = law->mode_now = law_input(&law->inputs, LAW_INPUT_HELD);
}

static SystemModes law_modes(SystemReader *reader)
{
    SystemModes modes = {.guards = equations_values_of_modes(reader, SYSTEM_GUARDS_MAX),
                         .actions = ARENA_NEW(reader->arena, SystemAction *, reader->n_modes),
                         .n_actions = ARENA_NEW(reader->arena, int, reader->n_modes)};
    for (int m = 0; m < reader->n_modes; m++)
        modes.actions[m] = ARENA_NEW(reader->arena, SystemAction, SYSTEM_ACTIONS_MAX);
    return modes;
}

// Columns of trajectories: the user's held numbers, then the mode.
static const Field *law_shown(const LawReader *law)
{
    const SystemReader *reader = law->reader;
    const int n = reader->system->n_held;
    Field *shown = ARENA_NEW(reader->arena, Field, n + 1);
    const char *words = "";
    for (int h = 0; h < n; h++) shown[h] = reader->system->held_columns[h];
    for (int h = 0; h < n; h++) shown[h].group = "law";
    for (int m = 0; m < reader->n_modes; m++)
        words = arena_format(reader->arena, "%s%s%d %s", words, m > 0 ? ", " : "", m, equations_mode_name(reader, m));
    shown[n] = (Field){LAW_MODE, "1", arena_format(reader->arena, "mode of the law: %s", words), "law"};
    return shown;
}

// Why it has no derivatives; NULL: it has.
static const char *law_bends(const LawReader *law)
{
    if (law->inputs.rounds)
        return "control.law rounds what it sees of a sensor (quantum): such a reading has no derivative";
    return NULL;
}

// seen: what the policies observe, with sensors.
static void law_take_policies(const LawReader *law, const TapeValue *seen, LawProgram *program)
{
    for (int p = 0; p < law->asked.n_policies; p++) {
        law->asked.policies[p].observe = seen;
        seen += policy_table_inputs(law->asked.policies[p].table);
    }
    program->policies = law->asked.policies;
    program->n_policies = law->asked.n_policies;
}

// All values, with what the law sees in place of columns.
static LawProgram law_program(LawReader *law)
{
    SystemReader *reader = law->reader;
    const System *system = reader->system;
    const int n_guards = system->n_guards + system->n_instants, n_kept = n_guards + (reader->n_modes > 1),
              own = system->n_held, n_outputs = law->configured->n_outputs, count = own + n_kept,
              n_seen = law->asked.n_seen;
    TapeValue *values = ARENA_NEW(reader->arena, TapeValue, count + n_outputs + n_seen);
    int n = 0;
    for (int h = 0; h < own; h++) values[n++] = law->next[h];
    if (reader->n_modes > 1) values[n++] = law->mode_now;
    for (int g = 0; g < n_guards; g++) values[n++] = law->remember[g];
    memcpy(values + n, law->outputs, (size_t)n_outputs * sizeof *values);
    if (n_seen > 0) memcpy(values + n + n_outputs, law->seen, (size_t)n_seen * sizeof *values);
    law_read_sensors(reader, law->configured, &law->inputs, values, count + n_outputs + n_seen);
    LawProgram program = law_laid(reader, law->configured, &law->inputs, values, count);
    program.outputs = values + count;
    law_take_policies(law, values + count + n_outputs, &program);
    program.bends = law_bends(law);
    program.shown = law_shown(law);
    program.n_shown = own + (reader->n_modes > 1);
    TapeValue *start = (TapeValue *)program.start;
    for (int k = 0; k < program.n_held; k++)
        start[k] = k < own ? system->start[system->n_states + k] : law_number(law, 0.0);
    for (int i = 0; i < system->n_instants; i++) // `at: 0` and the begin of `every` are over
        start[own + (reader->n_modes > 1) + system->n_guards + i] = law_number(law, 1e300);
    return program;
}

static LawTaken law_taken(const LawReader *law)
{
    const SystemReader *reader = law->reader;
    const char **names = ARENA_NEW(reader->arena, const char *, reader->n_given + 1);
    int count = 0;
    for (int i = 0; i < reader->n_given; i++)
        if (reader->names[i].kind == SYSTEM_NAME_PARAMETER && reader->names[i].used)
            names[count++] = reader->names[i].name;
    return (LawTaken){names, count};
}

bool equations_read_law(const Node *given, const Configured *configured, const Scope *of, Arena *arena,
                        Diagnostics *diagnostics, Law *out, LawTaken *taken)
{
    const int errors = diagnostics_errors(diagnostics);
    SystemReader reader = equations_reader(given, arena, diagnostics);
    LawReader law = {.reader = &reader, .configured = configured};
    if (!equations_mapping(&reader, given, "law")) return false;
    reader.of = of;
    reader.law = true;
    const int n_model = configured->n_columns + configured->n_parameters;
    reader.names = ARENA_NEW(arena, SystemName, n_model + SYSTEM_NAMES_MAX + LAW_OWN_NAMES);
    reader.lets = ARENA_NEW(arena, SystemLet, SYSTEM_LETS_MAX + LAW_OWN_NAMES);
    reader.done = ARENA_NEW(arena, int, SYSTEM_LETS_MAX + LAW_OWN_NAMES);
    reader.parameters = ARENA_NEW(arena, Parameter, configured->n_parameters + SYSTEM_INPUTS_MAX);
    memcpy(reader.parameters, configured->parameters, (size_t)configured->n_parameters * sizeof *reader.parameters);
    reader.root = equations_copies(&reader, equations_repair_law(&reader, given));
    if (reader.root == NULL) return false;
    reader.system->tape = tape_new(arena);
    equations_read_modes(&reader);
    law.modes = law_modes(&reader);
    law_declare(&law);
    if (law.asked.failed) return false;
    law.outputs = ARENA_NEW(arena, TapeValue, configured->n_outputs);
    for (int k = 0; k < configured->n_outputs; k++) law.outputs[k] = TAPE_NONE;
    equations_read_lets(&reader);
    equations_let_units(&reader);
    equations_read_starts(&reader);
    law_read_events(&law);
    law.seen = ARENA_NEW(arena, TapeValue, law.asked.n_seen);
    law_read_policies(&reader, &law.asked, law.held, law.happened, law.seen);
    law_read_outputs(&law);
    law_read_next(&law);
    const LawProgram program = law_program(&law);
    if (diagnostics_errors(diagnostics) > errors) return false;
    equations_check_used(&reader);
    const Error error = law_make(&program, configured, arena, out);
    if (error.kind != OK) diagnose(diagnostics, given, "the law is too long: %s", error.text);
    *taken = law_taken(&law);
    return error.kind == OK;
}
