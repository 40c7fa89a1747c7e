// Expressions of a system as values of its tape.
#include "equations.h"

#include <stdlib.h>
#include <string.h>

// ---- scopes ---------------------------------------------------------------------------------------------------------

static bool equations_sees(const SystemReader *reader, int name, int mode, bool fixed, bool any)
{
    const SystemName *n = &reader->names[name];
    if (n->kind == SYSTEM_NAME_PARAMETER) return true;
    if (n->kind == SYSTEM_NAME_TABLE) return false; // in Scope.tables
    if (fixed) return false;
    if (n->kind != SYSTEM_NAME_LET) return true;
    const int of = reader->lets[n->index].mode;
    return any || of < 0 || of == mode;
}

typedef struct SystemPlace {
    const char *name;
    int index;
} SystemPlace;

static int equations_by_name(const void *a, const void *b)
{
    return strcmp(((const SystemPlace *)a)->name, ((const SystemPlace *)b)->name);
}

// Indices of names[count] in their order. Names are different.
static const int *equations_sorted(const char *const *names, int count, Arena *arena)
{
    SystemPlace *places = ARENA_NEW(arena, SystemPlace, count);
    int *sorted = ARENA_NEW(arena, int, count);
    for (int i = 0; i < count; i++) places[i] = (SystemPlace){names[i], i};
    qsort(places, (size_t)count, sizeof *places, equations_by_name);
    for (int i = 0; i < count; i++) sorted[i] = places[i].index;
    return sorted;
}

static SystemScope equations_scope_by(SystemReader *reader, int mode, bool fixed, bool any)
{
    const char **names = ARENA_NEW(reader->arena, const char *, reader->n_names);
    int *of = ARENA_NEW(reader->arena, int, reader->n_names), count = 0;
    for (int i = 0; i < reader->n_names; i++) {
        bool seen = !equations_sees(reader, i, mode, fixed, any);
        const bool shared = any && reader->names[i].kind == SYSTEM_NAME_LET; // modes may have one of this name each
        for (int k = 0; k < count && shared; k++) seen |= strcmp(names[k], reader->names[i].name) == 0;
        if (seen) continue;
        names[count] = reader->names[i].name;
        of[count++] = i;
    }
    const int *by_name = equations_sorted(names, count, reader->arena);
    return (SystemScope){.scope = {.names = names,
                                   .count = count,
                                   .by_name = by_name,
                                   .tables = reader->table_names,
                                   .table_arguments = reader->table_arguments,
                                   .n_tables = reader->n_tables,
                                   .frames = reader->of != NULL ? reader->of->frames : NULL,
                                   .n_frames = reader->of != NULL ? reader->of->n_frames : 0},
                         .of = of,
                         .mode = mode,
                         .any = any};
}

// Made once: scopes[n_modes + ..].
static const SystemScope *equations_scope_at(SystemReader *reader, int at, int mode, bool fixed, bool any)
{
    SystemScope *scope = &reader->scopes[at];
    if (scope->of == NULL) *scope = equations_scope_by(reader, mode, fixed, any);
    return scope;
}

const SystemScope *equations_scope(SystemReader *reader, int mode, bool fixed)
{
    const int at = fixed ? reader->n_modes + 1 : mode < 0 ? reader->n_modes : mode;
    return equations_scope_at(reader, at, mode, fixed, false);
}

const SystemScope *equations_scope_of_any(SystemReader *reader)
{
    return equations_scope_at(reader, reader->n_modes + 2, -1, false, true);
}

// ---- expressions ----------------------------------------------------------------------------------------------------

// The mode whose shorthand a word is; -1: there is none.
static int equations_mode_of(const SystemReader *reader, const char *word)
{
    for (int i = 0; i < reader->n_lets; i++)
        if (reader->lets[i].mode >= 0 && strcmp(reader->names[reader->lets[i].name].name, word) == 0)
            return reader->lets[i].mode;
    return -1;
}

static bool equations_in_fixed(const SystemReader *reader, const SystemScope *scope)
{
    return scope == &reader->scopes[reader->n_modes + 1];
}

// What to write in place of an instant that moves.
static const char *values_instead(SystemReader *reader, const char *what, const char *word)
{
    if (strcmp(what, "at") == 0)
        return arena_format(reader->arena, ": for an instant that changes write rises: time - %s", word);
    if (strcmp(what, "every") == 0)
        return arena_format(reader->arena,
                            ": for a period that changes hold the next instant, {rises: time - next, set: {next: time "
                            "+ %s}}",
                            word);
    return "";
}

// Reports the names that are there, but not here: shorthands of other modes; in a start, all but parameters.
static bool equations_report_elsewhere(SystemReader *reader, const Node *node, const SystemScope *scope,
                                       const char *what)
{
    const int errors = diagnostics_errors(reader->diagnostics);
    for (const char *at = node->text; *at != '\0';) {
        const int length = expression_letter(*at) ? expression_word_length(at) : 0;
        const int offset = (int)(at - node->text);
        at += length > 0 ? length : 1;
        if (length == 0 || length > 64) continue;
        const char *word = arena_format(reader->arena, "%.*s", length, node->text + offset);
        if (expression_find_name(&scope->scope, word) >= 0 || expression_find_function(word) >= 0) continue;
        const int mode = equations_mode_of(reader, word);
        bool moving = false;
        for (int i = 0; equations_in_fixed(reader, scope) && i < reader->n_names; i++)
            moving |= strcmp(reader->names[i].name, word) == 0 && reader->names[i].kind != SYSTEM_NAME_PARAMETER &&
                      reader->names[i].kind != SYSTEM_NAME_TABLE;
        if (moving)
            expression_diagnose(reader->diagnostics, node, offset, length, "%s may depend on parameters only%s", what,
                                values_instead(reader, what, word));
        else if (mode >= 0)
            expression_diagnose(reader->diagnostics, node, offset, length,
                                "%s is a shorthand of mode %s: use it there, or declare it for all modes", word,
                                reader->mode_keys[mode]->text);
    }
    return diagnostics_errors(reader->diagnostics) > errors;
}

// Reports a division by what is zero as it is written.
static bool equations_divides_by_zero(SystemReader *reader, const Node *node, const Expression *expression)
{
    bool divides = false;
    for (int i = 0; i < expression->count; i++) {
        double number;
        const ExpressionStep *step = &expression->steps[i];
        if (expression_operands(&expression_operations[step->operation]) != 2) continue;
        const ExpressionOperation *row = expression_row(expression->steps, i);
        if (row->program != PROGRAM_DIVIDE && row->program != PROGRAM_MOD) continue;
        if (!expression_constant(expression->steps, i - 1, &number) || number != 0.0) continue;
        expression_diagnose(reader->diagnostics, node, step->at, (int)strlen(row->text), "this divides by zero");
        divides = true;
    }
    return divides;
}

// Counts work. More than SYSTEM_WORK_MAX is reported once; then, and after SYSTEM_ERRORS_MAX errors, no expression is
// read any more.
static bool equations_too_long(SystemReader *reader, const Node *node, size_t work)
{
    const bool before = reader->work > SYSTEM_WORK_MAX;
    reader->work += (int64_t)work + 1;
    if (reader->work <= SYSTEM_WORK_MAX) return diagnostics_errors(reader->diagnostics) > SYSTEM_ERRORS_MAX;
    if (!before)
        diagnose(reader->diagnostics, node,
                 "the expressions are too long: at most %d characters and operations, those that modes share counted "
                 "in each of them",
                 SYSTEM_WORK_MAX);
    return true;
}

const Expression *equations_expression(SystemReader *reader, const Node *node, const SystemScope *scope,
                                       const char *what)
{
    if (node->kind != NODE_SCALAR) {
        diagnose(reader->diagnostics, node, "%s must be an expression", what);
        return NULL;
    }
    if (equations_too_long(reader, node, strlen(node->text)) || equations_is_wrong(reader, node->text) ||
        equations_report_elsewhere(reader, node, scope, what))
        return NULL;
    const Expression *expression = expression_parse(node, &scope->scope, reader->arena, reader->diagnostics);
    if (expression == NULL || equations_divides_by_zero(reader, node, expression) ||
        equations_looks_outside(reader, node, expression))
        return NULL;
    for (int i = 0; i < expression->count; i++)
        if (expression->steps[i].operation == EXPRESSION_NAME)
            reader->names[scope->of[expression->steps[i].index]].used = true;
    return expression;
}

// ---- values ---------------------------------------------------------------------------------------------------------

static TapeValue equations_let(SystemReader *reader, int let, int from);

// The shorthand of this name in a mode. index: one of the name, of any mode.
static TapeValue equations_let_of(SystemReader *reader, int index, int mode, int from)
{
    const SystemLet *let = &reader->lets[index];
    const char *name = reader->names[let->name].name;
    if (let->mode < 0 || let->mode == mode) return equations_let(reader, index, from);
    for (int i = 0; i < reader->n_lets; i++)
        if (reader->lets[i].mode == mode && strcmp(reader->names[reader->lets[i].name].name, name) == 0) {
            reader->names[reader->lets[i].name].used = true;
            return equations_let(reader, i, from);
        }
    return TAPE_NONE;
}

// What becomes of the comparisons of a condition.
typedef struct SystemComparisons {
    TapeValue *guards; // of the mode
    int next;          // guard of the next comparison
} SystemComparisons;

// An expression while it becomes a value.
typedef struct SystemEvaluation {
    SystemReader *reader;
    const SystemScope *scope;
    const Expression *expression;
    int mode, from;                 // from: the shorthand whose expression it is; -1: of none
    SystemComparisons *comparisons; // NULL: they are computed
} SystemEvaluation;

static TapeValue equations_name(void *evaluation, int index)
{
    const SystemEvaluation *of = evaluation;
    const System *system = of->reader->system;
    const SystemName *name = &of->reader->names[of->scope->of[index]];
    switch (name->kind) {
    case SYSTEM_NAME_TIME: return tape_input(system->tape, SYSTEM_TIME, TAPE_MOVING);
    case SYSTEM_NAME_STATE: return tape_input(system->tape, SYSTEM_STATE(name->index), TAPE_MOVING);
    case SYSTEM_NAME_HELD: return tape_input(system->tape, SYSTEM_HELD(system->n_states, name->index), TAPE_MOVING);
    case SYSTEM_NAME_PARAMETER:
        return tape_input(system->tape, SYSTEM_PARAMETER(system->n_states, system->n_held, name->index), TAPE_FIXED);
    case SYSTEM_NAME_LET: return equations_let_of(of->reader, name->index, of->mode, of->from);
    case SYSTEM_NAME_INPUT: return equations_input_value(of->reader, name->index);
    case SYSTEM_NAME_GIVEN: return of->reader->given[name->index];
    case SYSTEM_NAME_TABLE: break;
    }
    return TAPE_NONE;
}

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

// Remembers a place that jumps with time, with others that move.
static void equations_note_jump(SystemReader *reader, const Expression *expression, const ExpressionStep *step,
                                TapeValue value)
{
    if ((reader->system->tape->nodes[value].depends & TAPE_MOVING) == 0) return;
    if (reader->n_jumps == reader->room_of_jumps) {
        const SystemJump *old = reader->jumps;
        reader->room_of_jumps = 2 * reader->room_of_jumps + 64;
        reader->jumps = ARENA_NEW(reader->arena, SystemJump, reader->room_of_jumps);
        for (int i = 0; i < reader->n_jumps; i++) reader->jumps[i] = old[i];
    }
    const int width = (int)strlen(expression_operations[step->operation].text);
    reader->jumps[reader->n_jumps++] = (SystemJump){expression, step->at, width, value};
}

void equations_check_jumps(SystemReader *reader)
{
    int count = 0;
    const bool *missed = reader->n_jumps > 0 ? system_missed(reader->system, reader->arena, &count) : NULL;
    for (int i = 0; i < reader->n_jumps && missed != NULL; i++) {
        const SystemJump *jump = &reader->jumps[i];
        if (jump->value >= count || !missed[jump->value]) continue;
        expression_diagnose_warning(
            reader->diagnostics, jump->expression->node, jump->at, jump->width,
            "no step ends where this jumps, so a short pulse may be missed; steps end where a*time + b or mod(a*time + "
            "b, c) passes a fixed value: write it so, or as an input, events or modes");
    }
}

// Lookups of tables, comparisons that are followed, and what jumps.
static TapeValue equations_operation(void *evaluation, const ExpressionStep *step, TapeValue a, TapeValue b)
{
    const SystemEvaluation *of = evaluation;
    const int operation = (int)expression_operations[step->operation].program;
    if (expression_is_table(step)) return equations_table_value(of->reader, step->index, a, b);
    if (of->comparisons == NULL && system_jumps(operation)) {
        const TapeValue value = tape_operation(of->reader->system->tape, operation, a, b, TAPE_NONE);
        equations_note_jump(of->reader, of->expression, step, value);
        return value;
    }
    if (of->comparisons == NULL || !equations_is_order(operation)) return TAPE_NONE;
    return equations_compare(of->reader, operation, a, b, of->comparisons);
}

static TapeValue equations_evaluate(SystemReader *reader, const Expression *expression, const SystemScope *scope,
                                    int mode, int from, SystemComparisons *comparisons)
{
    SystemEvaluation of = {reader, scope, expression, mode, from, comparisons};
    const ExpressionTape to = {reader->system->tape, &of, equations_name, equations_operation};
    if (equations_too_long(reader, reader->root, (size_t)expression->count)) return TAPE_NONE;
    return expression_tape(expression, &to);
}

TapeValue equations_value(SystemReader *reader, const Expression *expression, const SystemScope *scope, int mode)
{
    return equations_evaluate(reader, expression, scope, mode, -1, NULL);
}

// Guards of the comparisons of an expression that a mode lacks a name of are left out.
TapeValue equations_condition(SystemReader *reader, const Expression *expression, const SystemScope *scope, int mode,
                              TapeValue *const *guards, int *first)
{
    System *system = reader->system;
    int count = 0;
    for (int i = 0; i < expression->count; i++) {
        const int operation = expression->steps[i].operation;
        count += equations_is_order((int)expression_operations[operation].program);
    }
    if (*first < 0) {
        if (system->n_guards + count > SYSTEM_GUARDS_MAX) return TAPE_NONE; // *first stays -1: there are too many
        *first = system->n_guards;
        for (int k = 0; k < count; k++)
            reader->guards[system->n_guards++] = (SystemGuard){.direction = SYSTEM_FOLLOWED};
    }
    SystemComparisons comparisons = {.guards = guards[mode], .next = *first};
    const TapeValue value = equations_evaluate(reader, expression, scope, mode, -1, &comparisons);
    for (int k = 0; k < count && value == TAPE_NONE; k++) guards[mode][*first + k] = TAPE_NONE;
    return value;
}

// ---- shorthands -----------------------------------------------------------------------------------------------------

// The circle that leads back to a shorthand that is being computed: "a -> b -> a". from: the last before it.
static void equations_report_circle(SystemReader *reader, int let, int from)
{
    enum { SHOWN = 20 };
    const char *last = reader->names[reader->lets[let].name].name, *path = last;
    int shown = 0;
    for (int at = from; at >= 0 && at != let; at = reader->lets[at].from)
        if (++shown <= SHOWN)
            path = arena_format(reader->arena, "%s -> %s", reader->names[reader->lets[at].name].name, path);
    if (shown > SHOWN) path = arena_format(reader->arena, "... -> %s", path);
    diagnose(reader->diagnostics, reader->names[reader->lets[let].name].key, "a circle of shorthands: %s -> %s", last,
             path);
}

static const Node *equations_let_node(const SystemName *name)
{
    return name->node->kind == NODE_MAPPING ? node_find(name->node, "value") : name->node;
}

// Shorthands that are open, up to the one that `from` is.
static int equations_depth(const SystemReader *reader, int from)
{
    int depth = 0;
    for (int at = from; at >= 0; at = reader->lets[at].from) depth++;
    return depth;
}

// Reads and computes an expression that is not OPEN. TAPE_NONE after an error.
static TapeValue equations_read_let(SystemReader *reader, int index)
{
    SystemLet *let = &reader->lets[index];
    const SystemName *name = &reader->names[let->name];
    const Node *node = equations_let_node(name);
    const SystemScope *scope = equations_scope(reader, let->mode, false);
    if (node == NULL) {
        diagnose(reader->diagnostics, name->key, "%s has no value: {value: x, unit: m}", name->name);
        return TAPE_NONE;
    }
    let->expression = equations_expression(reader, node, scope, name->name);
    if (let->expression == NULL) return TAPE_NONE;
    return equations_evaluate(reader, let->expression, scope, let->mode, index, NULL);
}

static TapeValue equations_let(SystemReader *reader, int index, int from)
{
    SystemLet *let = &reader->lets[index];
    const TapeValue any = tape_number(reader->system->tape, 1.0); // for one that is wrong
    if (let->state == SYSTEM_LET_DONE) return let->value;
    if (let->state == SYSTEM_LET_OPEN) {
        equations_report_circle(reader, index, from);
        reader->let_failed = true;
        return any;
    }
    if (equations_depth(reader, from) >= SYSTEM_LETS_DEEP) {
        diagnose(reader->diagnostics, reader->names[let->name].key,
                 "more than %d shorthands build on each other before they are declared: declare first what others use",
                 SYSTEM_LETS_DEEP);
        reader->let_failed = true;
        return any;
    }
    let->state = SYSTEM_LET_OPEN;
    let->from = from;
    const TapeValue value = equations_read_let(reader, index);
    reader->let_failed |= value == TAPE_NONE;
    let->value = value != TAPE_NONE ? value : any;
    let->state = SYSTEM_LET_DONE;
    reader->done[reader->n_done++] = index;
    return let->value;
}

void equations_read_lets(SystemReader *reader)
{
    for (int i = 0; i < reader->n_lets; i++) equations_let(reader, i, -1);
}
