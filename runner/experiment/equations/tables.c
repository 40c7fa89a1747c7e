// The tables and inputs of a system. A table is a function of one argument or two, by the numbers of a file:
//
//     tables:
//       thrust: {file: thrust.csv, unit: N, of: m/s, between: cubic, beyond: hold}
//       lift:   {file: lift.csv, unit: N, of: [m/s, deg]}
//     inputs:
//       wind:   {file: wind.csv, unit: m/s, between: held}
//
// An input is a signal in time. Steps end at its rows: its row is a held number of a clock, which inputs with the same
// times share. One with a range is an action: a held number that a caller, or a table of the run, sets once a period.
// An input of a law is always an action.
#include "equations.h"

#include <math.h>
#include <string.h>

// The index of a word of a key; 0 if it is not given, and after an error.
static int tables_word(SystemReader *reader, const Node *node, const char *key, const char *const *words, int count)
{
    const Node *given = node_find(node, key);
    const char *all = "";
    if (given == NULL) return 0;
    for (int i = 0; i < count; i++) {
        if (given->kind == NODE_SCALAR && strcmp(given->text, words[i]) == 0) return i;
        all = arena_format(reader->arena, "%s%s%s", all, i == 0 ? "" : i == count - 1 ? " or " : ", ", words[i]);
    }
    diagnose(reader->diagnostics, given, "%s must be %s", key, all);
    return 0;
}

static UnitValue tables_unit(SystemReader *reader, const Node *node)
{
    const char *why;
    Unit unit;
    if (node->kind == NODE_SCALAR && unit_read(node->text, reader->arena, &unit, &why))
        return unit_known(&unit, node->text);
    diagnose(reader->diagnostics, node, "expected a unit, as in m/s; of two arguments a list of two, [m/s, rad]");
    return (UnitValue){.kind = UNIT_OPEN};
}

// A key that says what to take from a file stands beside lists.
static void tables_of_files(SystemReader *reader, const Node *node, const char *key)
{
    const Node *given = node_find(node, key);
    if (given != NULL && node_find(node, "file") == NULL)
        diagnose(reader->diagnostics, given, "%s belongs to a file", key);
}

// ---- tables ---------------------------------------------------------------------------------------------------------

static const char *const tables_between[] = {"linear", "cubic", "held"}; // of LookupBetween
static const char *const tables_beyond[] = {"fail", "hold", "extend"};

static bool tables_nested(const Node *list)
{
    return list != NULL && list->kind == NODE_SEQUENCE && list->count > 0 && list->items[0]->kind == NODE_SEQUENCE;
}

static void tables_read(SystemReader *reader, const Node *key, const Node *node, SystemTable *table)
{
    const Node *of = node_find(node, "of");
    const bool grid = (of != NULL && of->kind == NODE_SEQUENCE) || tables_nested(node_find(node, "at"));
    SystemNumbers numbers;
    const LookupBetween between = (LookupBetween)tables_word(reader, node, "between", tables_between, 3);
    const int beyond = tables_word(reader, node, "beyond", tables_beyond, 3);
    table->arguments = grid ? 2 : 1;
    table->fails = beyond == 0;
    if (grid && of != NULL && (of->kind != NODE_SEQUENCE || of->count != 2)) {
        diagnose(reader->diagnostics, of, "of is the unit of the argument, or a list of two, [m/s, rad]");
        return;
    }
    for (int i = 0; i < table->arguments && of != NULL; i++)
        table->units.of[i] = tables_unit(reader, of->kind == NODE_SEQUENCE ? of->items[i] : of);
    if (grid && between != LOOKUP_LINEAR)
        diagnose(reader->diagnostics, node_find(node, "between"),
                 "a table of two arguments is linear between its rows");
    tables_of_files(reader, node, "columns");
    if (!equations_numbers(reader, key, node, grid, between == LOOKUP_HELD ? 1 : 2, &numbers)) return;
    table->numbers = numbers;
    table->tape = tape_add_table(reader->system->tape,
                                 lookup_table(between, beyond == 2, numbers.at, numbers.first, numbers.across,
                                              numbers.second, numbers.values, reader->arena));
}

static void tables_declare_tables(SystemReader *reader)
{
    const Node *section = equations_section(reader, reader->root, "tables", NODE_MAPPING);
    const int most = section != NULL && section->count < SYSTEM_TABLES_MAX ? section->count : SYSTEM_TABLES_MAX;
    reader->tables = ARENA_NEW(reader->arena, SystemTable, most);
    for (int i = 0; section != NULL && i < section->count; i++) {
        const Node *key = section->keys[i], *node = section->items[i];
        if (equations_too_many(reader, section, i, reader->n_tables, SYSTEM_TABLES_MAX, "tables")) return;
        if (!equations_mapping(reader, node, "a table")) continue;
        const SystemName *name = equations_declare_name(reader, key, node, SYSTEM_NAME_TABLE, reader->n_tables);
        if (name == NULL) continue;
        SystemTable *table = &reader->tables[reader->n_tables++];
        *table = (SystemTable){.name = key->text, .key = key, .units.value = name->value, .tape = -1};
        tables_read(reader, key, node, table);
    }
}

// ---- inputs ---------------------------------------------------------------------------------------------------------

// The clock with these instants, an earlier one if there is one.
static int inputs_clock(SystemReader *reader, const char *name, const SystemNumbers *numbers, int table)
{
    System *system = reader->system;
    for (int k = 0; k < system->n_clocks; k++) {
        const TapeTable *other = system->tape->tables[reader->clocks[k].table];
        if (other->first == numbers->first &&
            memcmp(lookup_arguments(other), numbers->at, (size_t)numbers->first * sizeof(double)) == 0)
            return k;
    }
    reader->clocks[system->n_clocks] = (SystemClock){table, name};
    return system->n_clocks++;
}

static void inputs_read(SystemReader *reader, const Node *key, const Node *node, SystemInput *input)
{
    static const char *const between[] = {"linear", "held"}, *const beyond[] = {"fail", "hold"};
    System *system = reader->system;
    const bool held = tables_word(reader, node, "between", between, 2) == 1,
               holds = tables_word(reader, node, "beyond", beyond, 2) == 1;
    SystemNumbers numbers;
    tables_of_files(reader, node, "column");
    tables_of_files(reader, node, "time");
    tables_of_files(reader, node, "offset");
    if (node_find(node, "file") == NULL && node_find(node, "at") == NULL && node_find(node, "values") == NULL) {
        diagnose(reader->diagnostics, key,
                 "%s needs a file, or at and values, or a range if it is an action: {file: %s.csv} or {range: [-1, 1]}",
                 key->text, key->text);
        return;
    }
    if (!equations_numbers(reader, key, node, false, held ? 1 : 2, &numbers)) return;
    const TapeTable *table = lookup_table(held ? LOOKUP_HELD : LOOKUP_LINEAR, false, numbers.at, numbers.first, NULL, 0,
                                          numbers.values, reader->arena);
    input->numbers = numbers;
    input->tape = tape_add_table(system->tape, table);
    if (!system->is_map) input->clock = inputs_clock(reader, key->text, &numbers, input->tape);
    if (!holds)
        reader->spans[system->n_spans++] = (SystemSpan){key->text, numbers.at[0], numbers.at[numbers.first - 1]};
}

// An input whose numbers come from outside: {range: [-1, 1], unit: N}.
static void inputs_read_action(SystemReader *reader, const SystemName *name, const Node *node, SystemInput *input)
{
    static const char *const others[] = {"file", "column", "at", "values", "between", "beyond"};
    const Node *range = node_find(node, "range");
    System *system = reader->system;
    Action *action = &reader->actions[system->n_actions];
    *action = (Action){.name = name->name,
                       .unit = name->unit != NULL ? name->unit : "1",
                       .doc = name->doc != NULL ? name->doc : "an action"};
    if (system->n_actions == 0) system->action_at = name->key;
    input->action = system->n_actions++;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        const Node *other = node_find(node, others[i]);
        if (other == NULL) continue;
        diagnose(reader->diagnostics, other,
                 "%s has a range, which makes it an action: its values are those of simulation.control.actions or of "
                 "an environment. Leave out its own, or the range",
                 name->name);
        break;
    }
    if (range->kind != NODE_SEQUENCE || range->count != 2) {
        diagnose(reader->diagnostics, range, "range must be two numbers, [least, greatest]");
        return;
    }
    const bool low = equations_number(reader, range->items[0], &action->low);
    if (equations_number(reader, range->items[1], &action->high) && low && !(action->low < action->high))
        diagnose(reader->diagnostics, range, "the range's first number must be less than its second");
}

static void tables_declare_inputs(SystemReader *reader)
{
    const Node *section = equations_section(reader, reader->root, "inputs", NODE_MAPPING);
    const int most = section != NULL && section->count < SYSTEM_TABLES_MAX ? section->count : SYSTEM_TABLES_MAX;
    reader->inputs = ARENA_NEW(reader->arena, SystemInput, most);
    reader->clocks = ARENA_NEW(reader->arena, SystemClock, most);
    reader->spans = ARENA_NEW(reader->arena, SystemSpan, most);
    reader->actions = ARENA_NEW(reader->arena, Action, most);
    for (int i = 0; section != NULL && i < section->count; i++) {
        const Node *key = section->keys[i], *node = section->items[i];
        if (equations_too_many(reader, section, i, reader->n_inputs, SYSTEM_TABLES_MAX, "inputs")) return;
        if (!equations_mapping(reader, node, "an input")) continue;
        const SystemName *name = equations_declare_name(reader, key, node, SYSTEM_NAME_INPUT, reader->n_inputs);
        if (name == NULL) continue;
        SystemInput *input = &reader->inputs[reader->n_inputs++];
        *input = (SystemInput){.tape = -1, .clock = -1, .action = -1, .turns = -1};
        if (node_find(node, "range") != NULL)
            inputs_read_action(reader, name, node, input);
        else if (reader->law)
            diagnose(reader->diagnostics, key,
                     "%s has no range: an input of a law is an action, {range: [-1, 1]}; for a signal in time look one "
                     "up in a table, NAME(time)",
                     key->text);
        else
            inputs_read(reader, key, node, input);
    }
    reader->system->n_held += reader->system->n_actions + reader->system->n_clocks;
    reader->system->actions = reader->actions;
    reader->system->clocks = reader->clocks;
    reader->system->spans = reader->spans;
}

void equations_declare_tables(SystemReader *reader)
{
    tables_declare_tables(reader);
    tables_declare_inputs(reader);
    const char **names = ARENA_NEW(reader->arena, const char *, reader->n_tables);
    int *arguments = ARENA_NEW(reader->arena, int, reader->n_tables);
    UnitTable *units = ARENA_NEW(reader->arena, UnitTable, reader->n_tables);
    for (int i = 0; i < reader->n_tables; i++) {
        names[i] = reader->tables[i].name;
        arguments[i] = reader->tables[i].arguments;
        units[i] = reader->tables[i].units;
    }
    reader->table_names = names;
    reader->table_arguments = arguments;
    reader->table_units = units;
}

// Before its first period an action is 0, or the end of its range nearest to 0.
void equations_start_inputs(const SystemReader *reader, TapeValue *start)
{
    const System *system = reader->system;
    for (int a = 0; a < system->n_actions; a++) {
        const Action *action = &system->actions[a];
        const double rest = fmin(fmax(0.0, action->low), action->high);
        start[system->n_states + system_first_action(system) + a] = tape_number(system->tape, rest);
    }
    for (int k = 0; k < system->n_clocks; k++) {
        const int row = lookup_row_at(system->tape->tables[system->clocks[k].table], 0.0);
        start[system->n_states + system_held(system) + k] = tape_number(system->tape, row);
    }
}

// ---- values ---------------------------------------------------------------------------------------------------------

static bool outside_numbers(const double *at, int n, double x) { return x < at[0] || x > at[n - 1]; }

static TapeValue tables_inside(Tape *tape, const double *at, int n, TapeValue x)
{
    const TapeValue low = tape_operation(tape, PROGRAM_GREATER_EQUAL, x, tape_number(tape, at[0]), TAPE_NONE),
                    high = tape_operation(tape, PROGRAM_LESS_EQUAL, x, tape_number(tape, at[n - 1]), TAPE_NONE);
    return tape_operation(tape, PROGRAM_AND, low, high, TAPE_NONE);
}

TapeValue equations_table_value(SystemReader *reader, int table, TapeValue a, TapeValue b)
{
    const SystemTable *of = &reader->tables[table];
    Tape *tape = reader->system->tape;
    double x, y;
    if (of->tape < 0) return tape_number(tape, 1.0); // it is wrong
    const bool outside = (tape_is_number(tape, a, &x) && outside_numbers(of->numbers.at, of->numbers.first, x)) ||
                         (of->arguments == 2 && tape_is_number(tape, b, &y) &&
                          outside_numbers(of->numbers.across, of->numbers.second, y));
    if (of->fails && outside) return tape_number(tape, (double)NAN);
    const TapeValue value = tape_table(tape, TAPE_TABLE, of->tape, a, b);
    if (!of->fails || !reader->law) return value;
    TapeValue inside = tables_inside(tape, of->numbers.at, of->numbers.first, a);
    if (of->arguments == 2)
        inside = tape_operation(tape, PROGRAM_AND, inside,
                                tables_inside(tape, of->numbers.across, of->numbers.second, b), TAPE_NONE);
    return tape_operation(tape, PROGRAM_IF, inside, value, tape_number(tape, (double)NAN)); // the lane fails (law.h)
}

TapeValue equations_input_value(SystemReader *reader, int input)
{
    const System *system = reader->system;
    const SystemInput *of = &reader->inputs[input];
    Tape *tape = system->tape;
    const TapeValue time = tape_input(tape, SYSTEM_TIME, TAPE_MOVING);
    if (of->action >= 0 && reader->law) return reader->acts[of->action];
    if (of->action >= 0)
        return tape_input(tape, SYSTEM_HELD(system->n_states, system_first_action(system) + of->action), TAPE_MOVING);
    if (of->tape < 0) return time; // it is wrong
    if (of->clock < 0) return tape_table(tape, TAPE_TABLE, of->tape, time, TAPE_NONE);
    const int row = SYSTEM_HELD(system->n_states, system_held(system) + of->clock);
    return tape_table(tape, TAPE_SIGNAL, of->tape, time, tape_input(tape, row, TAPE_MOVING));
}

TapeValue equations_rows_guard(SystemReader *reader, int input, SystemGuard *guard, double *first)
{
    const System *system = reader->system;
    SystemInput *of = &reader->inputs[input];
    Tape *tape = system->tape;
    const int n = of->numbers.first, now = lookup_row_at(tape->tables[of->tape], 0.0);
    const bool begins = now < 0 || !(of->numbers.at[now] < 0.0);
    if (of->turns < 0) {
        double *turns = ARENA_NEW(reader->arena, double, n);
        for (int k = 0; k < n; k++) turns[k] = k % 2 == 0 ? 1.0 : -1.0;
        of->turns =
            tape_add_table(tape, lookup_table(LOOKUP_HELD, false, of->numbers.at, n, NULL, 0, turns, reader->arena));
    }
    const int next = now < 0 ? 1 : now + 1, row = SYSTEM_HELD(system->n_states, system_held(system) + of->clock);
    *first = begins ? of->numbers.at[next - 1] : -1.0;
    *guard = (SystemGuard){.direction = SYSTEM_CROSSES, .rows = of->numbers.at + next, .n_rows = n - next};
    return tape_table(tape, TAPE_SIGNAL, of->turns, tape_input(tape, SYSTEM_TIME, TAPE_MOVING),
                      tape_input(tape, row, TAPE_MOVING));
}

// ---- beyond tables --------------------------------------------------------------------------------------------------
// A table with `beyond: fail` holds its values there, so that steps over its end can be taken, and a condition of the
// mode ends the trial where an argument leaves it.

void equations_reserve_outside(SystemReader *reader, SystemConditions *conditions, int *failed)
{
    for (int i = 0; i < reader->n_tables; i++) {
        SystemTable *table = &reader->tables[i];
        if (!table->fails || table->tape < 0) continue;
        table->condition = conditions->count++;
        failed[table->condition] =
            equations_failure_number(reader, arena_format(reader->arena, "outside_%s", table->name), table->key);
    }
}

bool equations_looks_outside(SystemReader *reader, const Node *node, const Expression *expression)
{
    bool outside = false;
    for (int i = 0; i < expression->count; i++) {
        const ExpressionStep *step = &expression->steps[i];
        if (!expression_is_table(step) || !reader->tables[step->index].fails) continue;
        const SystemTable *table = &reader->tables[step->index];
        const SystemNumbers *numbers = &table->numbers;
        const int last[2] = {table->arguments == 2 ? expression_left(expression->steps, i) : i - 1, i - 1};
        for (int k = 0; k < table->arguments && numbers->first > 0; k++) {
            const double *at = k == 0 ? numbers->at : numbers->across;
            const int n = k == 0 ? numbers->first : numbers->second;
            double x;
            if (!expression_constant(expression->steps, last[k], &x) || !outside_numbers(at, n, x)) continue;
            expression_diagnose(reader->diagnostics, node, step->at, (int)strlen(step->text),
                                "%s lies outside of the table %s, from %s to %s: give it beyond: hold or extend",
                                text_number(x).text, step->text, text_number(at[0]).text, text_number(at[n - 1]).text);
            outside = true;
        }
    }
    return outside;
}

// The table with `beyond: fail` that a node looks up in; NULL: none.
static const SystemTable *outside_table(const SystemReader *reader, const TapeNode *node)
{
    for (int i = 0; i < reader->n_tables && node->operation == TAPE_TABLE; i++)
        if (reader->tables[i].fails && reader->tables[i].tape == (int)node->number) return &reader->tables[i];
    return NULL;
}

// A lookup: its table, and its arguments with their bounds, two for each.
typedef struct OutsideLookup {
    const SystemTable *table;
    TapeValue inside[4]; // [2 arguments] not negative within the table
} OutsideLookup;

static void outside_bounds(Tape *tape, TapeValue x, const double *at, int n, TapeValue *inside)
{
    inside[0] = tape_operation(tape, PROGRAM_SUBTRACT, x, tape_number(tape, at[0]), TAPE_NONE);
    inside[1] = tape_operation(tape, PROGRAM_SUBTRACT, tape_number(tape, at[n - 1]), x, TAPE_NONE);
}

// The lookups that values[count] need in tables that fail; their number.
static int outside_find(SystemReader *reader, const TapeValue *values, int count, OutsideLookup **out)
{
    Tape *tape = reader->system->tape;
    const bool *needed = tape_needs(tape, values, count);
    const int nodes = tape->count;
    int n = 0;
    for (int i = 0; needed != NULL && i < nodes; i++) n += needed[i] && outside_table(reader, &tape->nodes[i]) != NULL;
    OutsideLookup *lookups = *out = ARENA_NEW(reader->arena, OutsideLookup, n);
    TapeValue(*of)[2] = arena_take(reader->arena, (size_t)n * sizeof *of + 1, sizeof(TapeValue));
    n = 0;
    for (int i = 0; needed != NULL && i < nodes; i++) {
        const SystemTable *table = needed[i] ? outside_table(reader, &tape->nodes[i]) : NULL;
        if (table == NULL) continue;
        lookups[n].table = table;
        of[n][0] = tape->nodes[i].a;
        of[n++][1] = tape->nodes[i].b;
    }
    for (int i = 0; i < n; i++) { // the marks are no longer needed: the tape grows
        const SystemNumbers *numbers = &lookups[i].table->numbers;
        outside_bounds(tape, of[i][0], numbers->at, numbers->first, lookups[i].inside);
        if (numbers->second > 0)
            outside_bounds(tape, of[i][1], numbers->across, numbers->second, lookups[i].inside + 2);
    }
    return n;
}

// All values that a lane needs in a mode, but for those of `set`.
static int outside_values(const SystemReader *reader, const SystemModes *modes, int mode, TapeValue *to)
{
    const System *system = reader->system;
    const struct {
        const TapeValue *values;
        int count;
    } lists[] = {{modes->rates[mode], system->n_states + system->n_integrals},
                 {modes->guards[mode], system->n_guards},
                 {modes->watched[mode], system->n_metrics},
                 {modes->columns[mode], system->n_shown},
                 {modes->conditions[mode], system->n_conditions},
                 {system->start, mode == 0 ? system->n_states + system->n_held : 0}};
    int n = 0;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        for (int k = 0; k < lists[i].count; k++) to[n++] = lists[i].values[k];
    for (int k = 0; k < system->n_instants && mode == 0; k++) to[n++] = reader->instants[k].at;
    return n;
}

// Ends the lanes of a mode in which an argument leaves a table. Returns the guards that this takes, from `first` on.
static int outside_watch(SystemReader *reader, SystemModes *modes, int mode, int first)
{
    System *system = reader->system;
    Tape *tape = system->tape;
    OutsideLookup *lookups;
    TapeValue *values = ARENA_NEW(reader->arena, TapeValue,
                                  2 * system->n_states + system->n_integrals + system->n_guards + system->n_metrics +
                                      system->n_shown + system->n_conditions + system->n_held + system->n_instants);
    const int n = outside_find(reader, values, outside_values(reader, modes, mode, values), &lookups);
    const TapeValue zero = tape_number(tape, 0.0);
    int guard = first;
    for (int i = 0; i < 4 * n; i++) {
        const OutsideLookup *lookup = &lookups[i / 4];
        TapeValue *condition = &modes->conditions[mode][lookup->table->condition];
        if (i % 4 >= 2 * lookup->table->arguments) continue;
        if (guard == SYSTEM_GUARDS_MAX) return guard - first + 1;
        modes->guards[mode][guard] = lookup->inside[i % 4];
        const int side = SYSTEM_SIDE(system->n_states, system->n_held, system->n_parameters, guard++);
        const TapeValue outside =
            tape_operation(tape, PROGRAM_LESS, tape_input(tape, side, TAPE_MOVING), zero, TAPE_NONE);
        *condition =
            *condition == TAPE_NONE ? outside : tape_operation(tape, PROGRAM_OR, *condition, outside, TAPE_NONE);
    }
    return guard - first;
}

// What `set` looks up outside of a table is NaN: it is looked up at one instant only.
static void outside_set(SystemReader *reader, SystemAction *action)
{
    const System *system = reader->system;
    Tape *tape = system->tape;
    const int count = system->n_states + system->n_held;
    TapeValue *set = ARENA_NEW(reader->arena, TapeValue, count);
    for (int i = 0; i < count; i++) {
        OutsideLookup *lookups;
        set[i] = action->set[i];
        const int n = set[i] != TAPE_NONE ? outside_find(reader, &action->set[i], 1, &lookups) : 0;
        for (int k = 0; k < n; k++)
            for (int side = 0; side < 2 * lookups[k].table->arguments; side++) {
                const TapeValue outside =
                    tape_operation(tape, PROGRAM_LESS, lookups[k].inside[side], tape_number(tape, 0.0), TAPE_NONE);
                set[i] = tape_operation(tape, PROGRAM_IF, outside, tape_number(tape, (double)NAN), set[i]);
            }
    }
    action->set = set;
}

void equations_watch_tables(SystemReader *reader, SystemModes *modes)
{
    System *system = reader->system;
    const int first = system->n_guards;
    int most = 0;
    bool any = false;
    for (int i = 0; i < reader->n_tables; i++) any |= reader->tables[i].fails;
    for (int m = 0; m < reader->n_modes && any && diagnostics_errors(reader->diagnostics) == 0; m++) {
        const int guards = outside_watch(reader, modes, m, first);
        most = guards > most ? guards : most;
        for (int a = 0; a < modes->n_actions[m]; a++)
            if (modes->actions[m][a].set != NULL) outside_set(reader, &modes->actions[m][a]);
    }
    if (first + most > SYSTEM_GUARDS_MAX) {
        diagnose(reader->diagnostics, reader->root,
                 "events, conditions and the ends of tables compare more than %d times: give tables beyond: hold or "
                 "extend",
                 SYSTEM_GUARDS_MAX);
        return;
    }
    for (int k = 0; k < most; k++) reader->guards[first + k] = (SystemGuard){.direction = SYSTEM_FOLLOWED};
    system->n_guards += most;
}

// ---- text -----------------------------------------------------------------------------------------------------------

// A mapping with its numbers in one form, wherever they come from: the text is the identity of the system.
static const Node *frozen_mapping(SystemReader *reader, const Node *node, const SystemNumbers *numbers)
{
    Node *frozen = ARENA_NEW(reader->arena, Node, 1);
    const Node **keys = ARENA_NEW(reader->arena, const Node *, node->count + 2),
               **items = ARENA_NEW(reader->arena, const Node *, node->count + 2);
    int n = 0;
    for (int i = 0; i < node->count; i++) {
        if (strcmp(node->keys[i]->text, "at") == 0 || strcmp(node->keys[i]->text, "values") == 0) continue;
        keys[n] = node->keys[i];
        items[n++] = node->items[i];
    }
    keys[n] = equations_written(reader->arena, "at");
    items[n++] = equations_written_lists(reader->arena, numbers->at, numbers->first, numbers->across, numbers->second);
    keys[n] = equations_written(reader->arena, "values");
    items[n++] = equations_written_rows(reader->arena, numbers->values, numbers->first, numbers->second);
    *frozen = (Node){.kind = NODE_MAPPING, .count = n, .keys = keys, .items = items};
    return frozen;
}

static const Node *frozen_section(SystemReader *reader, const Node *section, bool inputs)
{
    Node *frozen = ARENA_NEW(reader->arena, Node, 1);
    const Node **items = ARENA_NEW(reader->arena, const Node *, section->count);
    *frozen = *section;
    frozen->items = items;
    for (int i = 0; i < section->count; i++) { // without errors there is one of each
        const Node *node = section->items[i];
        const SystemNumbers *numbers = inputs ? &reader->inputs[i].numbers : &reader->tables[i].numbers;
        const bool acts = inputs && reader->inputs[i].action >= 0;
        items[i] = acts ? node : frozen_mapping(reader, node, numbers);
    }
    return frozen;
}

const Node *equations_frozen(SystemReader *reader, const Node *node)
{
    Node *frozen = ARENA_NEW(reader->arena, Node, 1);
    const Node **items = ARENA_NEW(reader->arena, const Node *, node->count);
    *frozen = *node;
    frozen->items = items;
    for (int i = 0; i < node->count; i++) {
        const bool tables = strcmp(node->keys[i]->text, "tables") == 0,
                   inputs = strcmp(node->keys[i]->text, "inputs") == 0;
        const bool some = (tables || inputs) && node->items[i]->kind == NODE_MAPPING;
        items[i] = some ? frozen_section(reader, node->items[i], inputs) : node->items[i];
    }
    return frozen;
}
