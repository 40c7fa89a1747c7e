// Expressions of a system as values of its tape.
#include "equations.h"

#include <string.h>

// ---- scopes ---------------------------------------------------------------------------------------------------------

static bool equations_sees(const SystemReader *reader, int name, int mode, bool fixed, bool any)
{
    const SystemName *n = &reader->names[name];
    if (n->kind == SYSTEM_NAME_PARAMETER) return true;
    if (fixed) return false;
    if (n->kind != SYSTEM_NAME_LET) return true;
    const int of = reader->lets[n->index].mode;
    return any || of < 0 || of == mode;
}

static SystemScope equations_scope_by(SystemReader *reader, int mode, bool fixed, bool any)
{
    const char **names = ARENA_NEW(reader->arena, const char *, reader->n_names);
    int *of = ARENA_NEW(reader->arena, int, reader->n_names), count = 0;
    for (int i = 0; i < reader->n_names; i++) {
        bool seen = !equations_sees(reader, i, mode, fixed, any);
        for (int k = 0; k < count && any; k++) seen |= strcmp(names[k], reader->names[i].name) == 0;
        if (seen) continue;
        names[count] = reader->names[i].name;
        of[count++] = i;
    }
    return (SystemScope){.scope = {.names = names, .count = count}, .of = of, .mode = mode};
}

SystemScope equations_scope(SystemReader *reader, int mode, bool fixed)
{
    return equations_scope_by(reader, mode, fixed, false);
}

SystemScope equations_scope_of_any(SystemReader *reader) { return equations_scope_by(reader, -1, false, true); }

// The mode whose shorthand a name is, for the message about a name that is not seen here.
static const SystemLet *equations_elsewhere(const SystemReader *reader, const char *text)
{
    for (int i = 0; i < reader->n_lets; i++)
        if (reader->lets[i].mode >= 0 && strcmp(reader->names[reader->lets[i].name].name, text) == 0)
            return &reader->lets[i];
    return NULL;
}

const Expression *equations_expression(SystemReader *reader, const Node *node, const SystemScope *scope,
                                       const char *what)
{
    if (node->kind != NODE_SCALAR) {
        diagnose(reader->diagnostics, node, "%s must be an expression", what);
        return NULL;
    }
    const int errors = diagnostics_errors(reader->diagnostics);
    const Expression *expression = expression_parse(node, &scope->scope, reader->arena, reader->diagnostics);
    if (expression != NULL || diagnostics_errors(reader->diagnostics) == errors) return expression;
    for (const char *at = node->text; *at != '\0';) { // of one error the likeliest reason
        const int length = expression_letter(*at) ? expression_word_length(at) : 0;
        const SystemLet *let =
            length > 0 ? equations_elsewhere(reader, arena_format(reader->arena, "%.*s", length, at)) : NULL;
        if (let != NULL && let->mode != scope->mode)
            diagnose_warning(reader->diagnostics, node, "%.*s is a shorthand of mode %s only", length, at,
                             reader->mode_keys[let->mode]->text);
        at += length > 0 ? length : 1;
    }
    return NULL;
}

// ---- values ---------------------------------------------------------------------------------------------------------

static TapeValue equations_let(SystemReader *reader, int let);

static TapeValue equations_let_of(SystemReader *reader, const char *name, int mode)
{
    for (int i = 0; i < reader->n_lets; i++) {
        const SystemLet *let = &reader->lets[i];
        if ((let->mode < 0 || let->mode == mode) && strcmp(reader->names[let->name].name, name) == 0)
            return equations_let(reader, i);
    }
    return TAPE_NONE;
}

static TapeValue equations_name_value(SystemReader *reader, int index, int mode)
{
    const System *system = reader->system;
    const SystemName *name = &reader->names[index];
    switch (name->kind) {
    case SYSTEM_NAME_TIME: return tape_input(system->tape, SYSTEM_TIME, TAPE_MOVING);
    case SYSTEM_NAME_STATE: return tape_input(system->tape, SYSTEM_STATE(name->index), TAPE_MOVING);
    case SYSTEM_NAME_HELD: return tape_input(system->tape, SYSTEM_HELD(system->n_states, name->index), TAPE_MOVING);
    case SYSTEM_NAME_PARAMETER: return system->parameter_values[name->index];
    case SYSTEM_NAME_LET: return equations_let_of(reader, name->name, mode);
    }
    return TAPE_NONE;
}

// What becomes of the comparisons of a condition.
typedef struct SystemComparisons {
    TapeValue *guards; // of the mode
    int next;          // guard of the next comparison
} SystemComparisons;

static TapeValue equations_compare(SystemReader *reader, int operation, TapeValue a, TapeValue b,
                                   SystemComparisons *comparisons)
{
    System *system = reader->system;
    const int guard = comparisons->next++;
    const TapeValue difference = tape_operation(system->tape, PROGRAM_SUBTRACT, a, b, TAPE_NONE);
    double number;
    if (tape_is_number(system->tape, difference, &number))
        return tape_operation(system->tape, operation, a, b, TAPE_NONE);
    comparisons->guards[guard] = difference;
    const TapeValue side = tape_input(
        system->tape, SYSTEM_SIDE(system->n_states, system->n_held, system->n_parameters, guard), TAPE_MOVING);
    return tape_operation(system->tape, operation, side, tape_number(system->tape, 0.0), TAPE_NONE);
}

static bool equations_is_order(int operation)
{
    return operation == PROGRAM_LESS || operation == PROGRAM_LESS_EQUAL || operation == PROGRAM_GREATER ||
           operation == PROGRAM_GREATER_EQUAL;
}

enum { SYSTEM_STACK = 512 };

// comparisons NULL: they are computed.
static TapeValue equations_evaluate(SystemReader *reader, const Expression *expression, const SystemScope *scope,
                                    int mode, SystemComparisons *comparisons)
{
    Tape *tape = reader->system->tape;
    TapeValue stack[SYSTEM_STACK];
    int n = 0;
    bool missing = false;
    for (int i = 0; i < expression->count; i++) {
        const ExpressionStep *step = &expression->steps[i];
        if (step->operation == EXPRESSION_NUMBER) {
            stack[n++] = tape_number(tape, step->number);
            continue;
        }
        if (step->operation == EXPRESSION_NAME) {
            stack[n] = equations_name_value(reader, scope->of[step->index], mode);
            missing |= stack[n] == TAPE_NONE;
            if (stack[n] == TAPE_NONE) stack[n] = tape_number(tape, 1.0);
            n++;
            continue;
        }
        const int operation = (int)expression_operations[step->operation].program,
                  operands = program_operands(operation);
        n -= operands;
        const TapeValue a = stack[n], b = operands > 1 ? stack[n + 1] : TAPE_NONE,
                        c = operands > 2 ? stack[n + 2] : TAPE_NONE;
        stack[n++] = comparisons != NULL && equations_is_order(operation)
                         ? equations_compare(reader, operation, a, b, comparisons)
                         : tape_operation(tape, operation, a, b, c);
    }
    return missing ? TAPE_NONE : stack[0];
}

TapeValue equations_value(SystemReader *reader, const Expression *expression, const SystemScope *scope, int mode)
{
    return equations_evaluate(reader, expression, scope, mode, NULL);
}

// Guards of the comparisons of an expression that a mode lacks a name of are left out.
TapeValue equations_condition(SystemReader *reader, const Expression *expression, const SystemScope *scope, int mode,
                              TapeValue *const *guards, int *first)
{
    System *system = reader->system;
    int count = 0;
    for (int i = 0; i < expression->count; i++) {
        const int operation = expression->steps[i].operation;
        count += operation > EXPRESSION_TEXT_NAME && equations_is_order((int)expression_operations[operation].program);
    }
    if (*first < 0) {
        *first = system->n_guards;
        if (system->n_guards + count > SYSTEM_GUARDS_MAX) return TAPE_NONE; // reported by the caller
        for (int k = 0; k < count; k++) reader->guards[system->n_guards++] = (SystemGuard){SYSTEM_FOLLOWED};
    }
    SystemComparisons comparisons = {.guards = guards[mode], .next = *first};
    const TapeValue value = equations_evaluate(reader, expression, scope, mode, &comparisons);
    for (int k = 0; k < count && value == TAPE_NONE; k++) guards[mode][*first + k] = TAPE_NONE;
    return value;
}

// ---- shorthands -----------------------------------------------------------------------------------------------------

// The circle that leads to a shorthand that is being computed: "a -> b -> a".
static void equations_report_circle(SystemReader *reader, int let)
{
    const char *path = "";
    for (int i = 0; i < reader->n_lets; i++) {
        if (reader->lets[i].state != SYSTEM_LET_OPEN || i == let) continue;
        path = arena_format(reader->arena, "%s -> %s", path, reader->names[reader->lets[i].name].name);
    }
    const SystemName *name = &reader->names[reader->lets[let].name];
    diagnose(reader->diagnostics, name->key, "a circle of shorthands: %s%s -> %s", name->name, path, name->name);
}

static TapeValue equations_let(SystemReader *reader, int index)
{
    SystemLet *let = &reader->lets[index];
    if (let->state == SYSTEM_LET_DONE) return let->value;
    if (let->state == SYSTEM_LET_OPEN) {
        equations_report_circle(reader, index);
        let->value = tape_number(reader->system->tape, 1.0);
        let->state = SYSTEM_LET_DONE;
        return let->value;
    }
    let->state = SYSTEM_LET_OPEN;
    const SystemScope scope = equations_scope(reader, let->mode, false);
    const SystemName *name = &reader->names[let->name];
    const Node *node = name->node->kind == NODE_MAPPING ? node_find(name->node, "value") : name->node;
    TapeValue value = TAPE_NONE;
    if (node == NULL)
        diagnose(reader->diagnostics, name->key, "%s has no value", name->name);
    else
        let->expression = equations_expression(reader, node, &scope, name->name);
    if (let->expression != NULL) value = equations_value(reader, let->expression, &scope, let->mode);
    if (let->state == SYSTEM_LET_DONE) return let->value; // a circle
    let->value = value != TAPE_NONE ? value : tape_number(reader->system->tape, 1.0);
    let->state = SYSTEM_LET_DONE;
    return let->value;
}

void equations_read_lets(SystemReader *reader)
{
    for (int i = 0; i < reader->n_lets; i++) equations_let(reader, i);
}
