// The policies of a control law: networks that it asks once a period (sim/policy.h).
//
//     policies:
//       walk: {file: learning/walk.csv, observe: [base_vx, "pitch - 0.1", last]}
//
// What `walk` gives are the names walk_1, walk_2, ... The rows of a file are in its place by now, as `weights`
// (spec/system_tables.c).
#include "law.h"

#include <string.h>

enum { LAW_POLICIES_MAX = 16, POLICY_FIELDS = 4 };

// ---- networks -------------------------------------------------------------------------------------------------------

// A row of weights; false after an error.
static bool policy_fields(SystemReader *reader, const Node *row, double *numbers)
{
    if (row->kind != NODE_SEQUENCE || row->count != POLICY_FIELDS) {
        diagnose(reader->diagnostics, row, "a row of weights has four numbers: [layer, output, input, weight]");
        return false;
    }
    for (int k = 0; k < POLICY_FIELDS; k++) {
        const Node *field = row->items[k];
        const bool plain = field->kind == NODE_SCALAR && text_to_number(field->text, &numbers[k]);
        if (!plain && !equations_number(reader, field, &numbers[k])) return false;
    }
    return true;
}

// The network of the policy `key`; NULL after an error.
static const PolicyTable *policy_network(SystemReader *reader, const Node *key, const Node *node)
{
    static const char *const names[POLICY_FIELDS] = {"layer", "output", "input", "weight"};
    const Node *rows = node_find(node, "weights");
    PolicyTable *table = ARENA_NEW(reader->arena, PolicyTable, 1);
    if (rows == NULL && node_find(node, "file") == NULL)
        diagnose(reader->diagnostics, key, "policy %s has no file of weights: {file: %s.csv, observe: [...]}",
                 key->text, key->text);
    if (rows == NULL) return NULL; // or its file is wrong
    if (rows->kind != NODE_SEQUENCE) {
        diagnose(reader->diagnostics, rows, "weights are rows in a list: [[layer, output, input, weight], ...]");
        return NULL;
    }
    double *numbers = ARENA_NEW(reader->arena, double, (int64_t)POLICY_FIELDS * rows->count);
    for (int i = 0; i < rows->count; i++)
        if (!policy_fields(reader, rows->items[i], numbers + (int64_t)POLICY_FIELDS * i)) return NULL;
    const Points points = {
        .count = (int64_t)POLICY_FIELDS * rows->count, .columns = POLICY_FIELDS, .numbers = numbers, .names = names};
    const Error error = policy_read(&points, reader->arena, table);
    if (error.kind == OK) return table;
    diagnose(reader->diagnostics, rows, "%s", error.text);
    return NULL;
}

// ---- names ----------------------------------------------------------------------------------------------------------

// NAME_1, NAME_2, ...; false after an error.
static bool policy_declare(SystemReader *reader, const Node *key, const PolicyTable *table, int first)
{
    for (int k = 0; k < policy_table_outputs(table); k++) {
        Node *name = ARENA_NEW(reader->arena, Node, 1), *none = ARENA_NEW(reader->arena, Node, 1);
        *name = *none = *key;
        name->text = arena_format(reader->arena, "%s_%d", key->text, k + 1);
        if (equations_declare_name(reader, name, none, SYSTEM_NAME_GIVEN, first + k) == NULL) return false;
    }
    return true;
}

LawAsked law_declare_policies(SystemReader *reader)
{
    const Node *section = equations_section(reader, reader->root, "policies", NODE_MAPPING);
    const int count = section != NULL ? section->count : 0, most = count < LAW_POLICIES_MAX ? count : LAW_POLICIES_MAX;
    LawAsked asked = {.policies = ARENA_NEW(reader->arena, LawPolicy, most),
                      .nodes = ARENA_NEW(reader->arena, const Node *, most)};
    for (int i = 0; i < count; i++) {
        const Node *key = section->keys[i], *node = section->items[i];
        if (i == LAW_POLICIES_MAX) {
            diagnose(reader->diagnostics, key, "a law has at most %d policies", LAW_POLICIES_MAX);
            break;
        }
        const bool failed = asked.failed;
        asked.failed = true;
        if (!equations_mapping(reader, node, "a policy")) continue;
        if (!equations_is_word(key->text)) {
            diagnose(reader->diagnostics, key,
                     "'%.60s' can't be a name: names are up to 64 letters, digits and _, and start with a letter",
                     key->text);
            continue;
        }
        const PolicyTable *table = policy_network(reader, key, node);
        if (table == NULL || !policy_declare(reader, key, table, asked.n_given)) continue;
        asked.failed = failed;
        asked.n_given += policy_table_outputs(table);
        asked.n_seen += policy_table_inputs(table);
        asked.nodes[asked.n_policies] = node;
        asked.policies[asked.n_policies++] = (LawPolicy){.table = table};
    }
    return asked;
}

// ---- what they observe ----------------------------------------------------------------------------------------------

static bool policy_reads_given(SystemReader *reader, const LawAsked *asked, TapeValue value)
{
    Tape *tape = reader->system->tape;
    const int first = asked->n_given > 0 ? tape->nodes[reader->given[0]].a : 0;
    return tape_reads(tape, value, first, first + asked->n_given);
}

static TapeValue policy_observed(SystemReader *reader, const LawAsked *asked, const Node *node, const TapeValue *from,
                                 const TapeValue *to)
{
    static const char what[] = "what a policy observes";
    const SystemScope *scope = equations_scope(reader, -1, false);
    const Expression *expression = equations_expression(reader, node, scope, what);
    if (expression == NULL) return TAPE_NONE;
    equations_units(reader, node, expression, scope, NULL, what);
    TapeValue value = equations_value(reader, expression, scope, -1);
    tape_replace(reader->system->tape, &value, 1, from, to, reader->system->n_held);
    if (value == TAPE_NONE || !policy_reads_given(reader, asked, value)) return value;
    diagnose(reader->diagnostics, node,
             "a policy can't observe what policies give in the same period: hold it for the next one, as in "
             "held: {last: 0}, every_period: {last: NAME_1}");
    return TAPE_NONE;
}

void law_read_policies(SystemReader *reader, LawAsked *asked, const TapeValue *from, const TapeValue *to,
                       TapeValue *seen)
{
    for (int p = 0; p < asked->n_policies; p++) {
        const Node *node = asked->nodes[p], *list = node_find(node, "observe");
        const int inputs = policy_table_inputs(asked->policies[p].table);
        if (list == NULL || list->kind != NODE_SEQUENCE)
            diagnose(reader->diagnostics, list != NULL ? list : node,
                     "observe needs an expression for each of the %d inputs of the first layer, in a list", inputs);
        else if (list->count != inputs)
            diagnose(reader->diagnostics, list,
                     "the first layer of the policy has %d inputs by its weights, and observe has %d rows", inputs,
                     list->count);
        for (int k = 0; k < inputs; k++) {
            const bool has = list != NULL && list->kind == NODE_SEQUENCE && k < list->count;
            seen[k] = has ? policy_observed(reader, asked, list->items[k], from, to) : TAPE_NONE;
        }
        seen += inputs;
    }
}
