// What the files of systems share. A system of the user's (sim/equations/system.h) is read from a mapping: its names
// first (names.c), with tables and inputs (tables.c), then its expressions, as values of a tape (values.c) and with
// their units (units.c), then modes (modes.c), noise (noise.c), events (events.c) and metrics (metrics.c). Errors of
// one cause are reported once: what builds on a wrong name is left out. Metrics alone, over the columns of another
// model, are read by meter.c.
#ifndef HOPSCOTCH_EXPERIMENT_EQUATIONS_H
#define HOPSCOTCH_EXPERIMENT_EQUATIONS_H

#include "../experiment.h"
#include "../expression/units.h"

typedef enum SystemNameKind {
    SYSTEM_NAME_TIME,
    SYSTEM_NAME_STATE,
    SYSTEM_NAME_HELD,
    SYSTEM_NAME_PARAMETER,
    SYSTEM_NAME_LET,
    SYSTEM_NAME_INPUT,
    SYSTEM_NAME_GIVEN, // of a law: what a policy gives
    SYSTEM_NAME_TABLE  // a function, in Scope.tables
} SystemNameKind;

// A name that expressions may use.
typedef struct SystemName {
    const char *name, *unit, *doc; // unit NULL: not given
    const Node *key, *node;        // where it is declared, and as what
    SystemNameKind kind;
    int index;        // among those of its kind; of a `let` among all of them
    UnitValue value;  // its unit, as far as it is known; of a `let` from its expression if none is given
    UnitValue common; // of a `let`: that of all modes which have one of this name
    bool used;        // an expression names it
    bool wrong;       // of a state or held number: its start can't be read
} SystemName;

// Where a `let` is while it is computed: a circle leads back to one that is OPEN.
typedef enum SystemLetState { SYSTEM_LET_NEW, SYSTEM_LET_OPEN, SYSTEM_LET_DONE } SystemLetState;
typedef struct SystemLet {
    int name; // index in names
    int mode; // -1: of all modes
    const Expression *expression;
    TapeValue value;
    SystemLetState state;
    int from; // the one that asked for it while it is OPEN; -1: none
} SystemLet;

// The numbers of a table or an input.
typedef struct SystemNumbers {
    const double *at;     // [first] increasing
    const double *across; // [second] increasing: of a table of two arguments; second 0: of one
    const double *values; // [first][second], or [first]
    int first, second;
} SystemNumbers;

typedef struct SystemTable {
    const char *name;
    const Node *key;
    SystemNumbers numbers;
    UnitTable units;
    int arguments;
    int tape;      // its number on the tape; -1: it is wrong
    bool fails;    // beyond its ends
    int condition; // that it does
} SystemTable;

typedef struct SystemInput {
    SystemNumbers numbers;
    int tape, clock; // clock -1: of a map, and of one that is wrong
    int action;      // its number among the actions; -1: it has numbers
    int turns;       // on the tape: held numbers with its times that are 1 and -1 in turn; -1: nothing asks for them
} SystemInput;

// The names that an expression of a mode sees. of[i]: index in the reader's names.
typedef struct SystemScope {
    Scope scope;
    const int *of;
    int mode; // -1: of no mode
    bool any; // it has the `let` of every mode
} SystemScope;

// Limits of time and memory. LETS_DEEP: shorthands that stand before what they build on. WORK: characters and
// operations of all expressions, those that modes share counted in each. ERRORS: then no expression is read any more.
enum {
    SYSTEM_NAMES_MAX = 4096,
    SYSTEM_INPUTS_MAX = SYSTEM_PARAMETERS_MAX + SYSTEM_STATES_MAX + SYSTEM_HELD_MAX + 1, // with starts and a seed
    SYSTEM_LETS_MAX = 2048,
    SYSTEM_LETS_DEEP = 200,
    SYSTEM_EVENTS_MAX = 256,
    SYSTEM_WORK_MAX = 1 << 20,
    SYSTEM_ERRORS_MAX = 200
};

// A place at which an expression jumps.
typedef struct SystemJump {
    const Expression *expression;
    int at, width; // bytes of its text
    TapeValue value;
} SystemJump;

typedef struct SystemReader {
    Arena *arena;
    Diagnostics *diagnostics;
    System *system;
    const Node *root;
    bool sampled; // metrics of another model's columns: at its samples, and events are conditions that begin to hold
    bool law;     // a control law over another model's columns, which can't be set
    const TapeValue *given, *acts; // of a law: inputs of its tape, what policies give and actions
    SystemName *names;             // [n_names]
    int n_names, n_given;          // of them, the first, those of a model
    struct Copies *copies;         // of what is repeated (copies.h); NULL: nothing is
    SystemLet *lets;               // [n_lets]
    int n_lets;
    int *done; // [n_done] lets in the order in which they were computed: each behind those that it uses
    int n_done;
    const char **wrong; // [n_wrong] names whose declaration is wrong
    int n_wrong;
    int64_t work;                         // characters of expressions that were read, operations that were computed
    SystemJump *jumps;                    // [n_jumps]
    int n_jumps, room_of_jumps;           //
    bool let_failed;                      // the expression of a shorthand is wrong, so others may look constant
    int n_expressions, n_checked;         // and of these those whose units were checked
    UnitValue *stack;                     // [UNIT_STACK]
    bool modes_wrong, rates_wrong;        // `modes` can't be read; there are rates and next values
    SystemScope *scopes;                  // [n_modes + 3] of modes, then of none, fixed, any; NULL names: not made yet
    int n_modes;                          // at least 1
    const Node **mode_nodes, **mode_keys; // [n_modes]; key NULL: the root is the only mode
    Parameter *parameters;
    const char **events;   // [n_events] names
    const char **failures; // [n_failures]
    SystemGuard *guards;
    SystemInstant *instants;
    SystemTable *tables;            // [n_tables]
    const char *const *table_names; // [n_tables], as those that follow: for scopes and units
    const int *table_arguments;
    const UnitTable *table_units;
    SystemInput *inputs; // [n_inputs]
    SystemClock *clocks; // [n_clocks]
    SystemSpan *spans;   // [n_spans]
    Action *actions;     // [n_actions]
    int n_tables, n_inputs;
    int64_t n_numbers; // of tables and inputs
    const Scope *of;   // whose frames its scopes have; NULL: none
} SystemReader;

// What is read of modes, before they are put together.
typedef struct SystemModes {
    TapeValue **rates;      // [n_modes][n_states + n_integrals]
    TapeValue **noise;      // [n_modes][n_states]
    TapeValue **guards;     // [n_modes][SYSTEM_GUARDS_MAX]
    TapeValue **watched;    // [n_modes][n_metrics]
    TapeValue **columns;    // [n_modes][n_shown]
    TapeValue **conditions; // [n_modes][..]
    SystemAction **actions; // [n_modes][SYSTEM_ACTIONS_MAX]
    int *n_actions;
    TapeValue **points; // [n_modes] of the drawing
} SystemModes;

// Conditions of failures, then of metrics.
typedef struct SystemConditions {
    const Expression **expression; // [count] NULL: of the ends of a table
    const Node **node;             // [count]
    int count;
    const SystemScope *scope;
} SystemConditions;

// ---- names.c --------------------------------------------------------------------------------------------------------

// The value of a key of a mapping; NULL: not given. In the order of the spec errors are sorted by place.
bool equations_mapping(SystemReader *reader, const Node *node, const char *what); // an error if it is none
// As that of sections that may be empty; NULL after an error, or if it is absent or empty.
const Node *equations_section(SystemReader *reader, const Node *mapping, const char *section, NodeKind kind);
// Whether a text names something whose declaration is wrong already.
bool equations_is_wrong(const SystemReader *reader, const char *text);
bool equations_is_word(const char *text); // it can be a name
// A number, or an expression of numbers; false after an error.
bool equations_number(SystemReader *reader, const Node *node, double *value);
// Whether a number has its unit behind it, "80 kg"; *digits: bytes of the number.
bool equations_has_unit(SystemReader *reader, const char *text, int *digits);
const char *equations_text_of(SystemReader *reader, const Node *mapping,
                              const char *key); // of a scalar; NULL: not given
bool equations_truth(SystemReader *reader, const Node *mapping, const char *key);
// Declares time, then parameters, states, held numbers and lets; or all but time.
void equations_declare(SystemReader *reader);
void equations_declare_own(SystemReader *reader);
void equations_declare_let(SystemReader *reader, const Node *key, const Node *node, int mode); // its name is free
void equations_seed_row(Parameter *row); // what the noise of a lane is drawn by: behind all others, without a name
int equations_find(const SystemReader *reader, const char *name, SystemNameKind kind); // its index; -1: there is none
// The nearest of names for a message: "; did you mean 'x'?", or "".
const char *equations_nearest(SystemReader *reader, const char *text, const char *const *names, int count);

// Declares the name of a key; NULL after an error.
const SystemName *equations_declare_name(SystemReader *reader, const Node *key, const Node *node, SystemNameKind kind,
                                         int index);
// More than `most` of a section: reports the first that is too many, and takes the names of the others as wrong.
bool equations_too_many(SystemReader *reader, const Node *section, int at, int count, int most, const char *what);

// ---- numbers.c ------------------------------------------------------------------------------------------------------

#define EQUATIONS_TOO_MANY_NUMBERS                                                                                     \
    "the tables and inputs of a system have at most %d numbers in all: take fewer rows, further apart"
// Reads the numbers of a mapping from its lists. grid: of two arguments. least: how many arguments there must be. False
// after an error.
bool equations_numbers(SystemReader *reader, const Node *key, const Node *node, bool grid, int least,
                       SystemNumbers *out);

// ---- tables.c -------------------------------------------------------------------------------------------------------

void equations_declare_tables(SystemReader *reader); // and inputs
void equations_start_inputs(const SystemReader *reader, TapeValue *start);
// Reports numbers that an expression looks up outside of a table with `beyond: fail`.
bool equations_looks_outside(SystemReader *reader, const Node *node, const Expression *expression);
TapeValue equations_table_value(SystemReader *reader, int table, TapeValue a, TapeValue b);
TapeValue equations_input_value(SystemReader *reader, int input);
// A guard that turns at each row of an input with a clock, but for the first one, if that begins at 0 or later: *first
// (s), else negative.
TapeValue equations_rows_guard(SystemReader *reader, int input, SystemGuard *guard, double *first);
// Conditions that a trial leaves a table with `beyond: fail`, before those of metrics; then their values, after all
// others are read.
void equations_reserve_outside(SystemReader *reader, SystemConditions *conditions, int *failed);
void equations_watch_tables(SystemReader *reader, SystemModes *modes);
const Node *equations_frozen(SystemReader *reader, const Node *node); // its numbers in one form

// ---- keys.c ---------------------------------------------------------------------------------------------------------

// The mapping of a system with its keys as they were meant, after reporting those that are not known.
const Node *equations_repair(SystemReader *reader, const Node *system);
const Node *equations_repair_metrics(SystemReader *reader, const Node *metrics); // as that of a mapping of metrics
const Node *equations_repair_law(SystemReader *reader, const Node *law);

// ---- copies.c -------------------------------------------------------------------------------------------------------

// The numbers that `repeat: N` or `repeat: [first, last]` asks for; none if the last comes before the first.
typedef struct CopyRange {
    int64_t first, last;
} CopyRange;
// Reads a whole number; false after an error.
typedef bool CopyWhole(void *data, const Node *node, int64_t *value);
// False after an error.
bool copy_range(const Node *repeat, CopyWhole *whole, void *data, Diagnostics *diagnostics, CopyRange *out);
// The mapping `system` with its copies written out; NULL after errors that leave unknown how many there are.
const Node *equations_copies(SystemReader *reader, const Node *system);

// ---- numbered.c -----------------------------------------------------------------------------------------------------

// A place for the number of a copy: # or {#+1}. An index may stand behind #: that of a sum, or the rest of a name.
typedef struct CopyMark {
    int length;        // without an index that is not in braces; 0: there is none; -1: {# of something else
    const char *index; // [word]
    int word;
    int64_t offset;
} CopyMark;
// The mark at `at`. names: texts are names, not expressions, so that #+1 is {#+1}.
CopyMark copy_mark(const char *at, bool names);
// A name with numbers for its marks.
const char *copy_name(Arena *arena, const char *text, int64_t number);

// ---- values.c -------------------------------------------------------------------------------------------------------

// The scope of a mode (-1: of what all modes share); fixed: only parameters and numbers.
const SystemScope *equations_scope(SystemReader *reader, int mode, bool fixed);
// The scope that has the `let` of every mode, for metrics.
const SystemScope *equations_scope_of_any(SystemReader *reader);
// NULL after an error.
const Expression *equations_expression(SystemReader *reader, const Node *node, const SystemScope *scope,
                                       const char *what);
// The value of an expression in a mode. TAPE_NONE: a name of it is not there in the mode.
TapeValue equations_value(SystemReader *reader, const Expression *expression, const SystemScope *scope, int mode);
// As system_value, for a condition: its comparisons are guards, whose sides it reads. guards: the first of them, -1:
// they are added to the mode for the first time; guards[mode][k] <- their values.
TapeValue equations_condition(SystemReader *reader, const Expression *expression, const SystemScope *scope, int mode,
                              TapeValue *const *guards, int *first);
void equations_read_lets(SystemReader *reader);
void equations_check_jumps(SystemReader *reader); // warns of those of time that steps do not end at

// ---- drawing.c ------------------------------------------------------------------------------------------------------

// The shapes of the list `section` (NULL: none). points[mode] <- the values of their points.
void equations_read_drawing(SystemReader *reader, const Node *section, TapeValue **points);
// ---- units.c --------------------------------------------------------------------------------------------------------

// The unit of a mapping's key `unit`, OPEN if there is none.
UnitValue equations_unit_of(SystemReader *reader, const Node *mapping);
// The unit of an expression of `node`, which must fit `wanted` (NULL: any). Reports what does not fit; what: "the rate
// of x". Counts it among the equations.
UnitValue equations_units(SystemReader *reader, const Node *node, const Expression *expression,
                          const SystemScope *scope, const UnitValue *wanted, const char *what);
void equations_let_units(SystemReader *reader);                         // after equations_read_lets
UnitValue equations_unit_named(SystemReader *reader, const char *name); // of a state or held number
UnitValue equations_seconds(const SystemReader *reader);                // of time; of a map a number
// The first names without a unit, "k, b, ..."; NULL: all have one.
const char *equations_unitless(SystemReader *reader);
// The unit that a metric or column shows: `given` (of its mapping), which must be that of its value, else that.
const char *equations_shown_unit(SystemReader *reader, const Node *mapping, const UnitValue *value, const char *name);

// ---- modes.c --------------------------------------------------------------------------------------------------------

void equations_read_modes(SystemReader *reader);
const char *equations_mode_name(const SystemReader *reader, int mode);
int equations_find_mode(SystemReader *reader, const Node *node); // -1: there is none, which is reported
// Reports keys of a mapping's `section` (rates, noise) that are not states. False: the section can't be read.
bool equations_check_states(SystemReader *reader, const Node *mapping, const char *section);
// What a section says of a state in a mode: its own, else that of the system; NULL: nothing.
const Node *equations_state_node(const SystemReader *reader, int mode, const char *section, const char *state);
// is_position[n_states] <- the rate of the state is another state in all modes.
void equations_read_rates(SystemReader *reader, SystemModes *modes, bool *is_position);
void equations_read_starts(SystemReader *reader);

// ---- noise.c --------------------------------------------------------------------------------------------------------

bool equations_has_noise(const SystemReader *reader); // so that lanes need a seed
void equations_read_noise(SystemReader *reader, SystemModes *modes);

// ---- events.c -------------------------------------------------------------------------------------------------------

void equations_read_events(SystemReader *reader, SystemModes *modes);
void equations_check_reached(SystemReader *reader, const SystemModes *modes); // warns of modes to which no event leads
int equations_failure_number(SystemReader *reader, const char *name, const Node *at); // of a failure of the user's
bool equations_is_comparison(const Expression *expression);                           // it has a truth value

// ---- metrics.c ------------------------------------------------------------------------------------------------------

void equations_read_failures(SystemReader *reader, SystemConditions *conditions);
void equations_read_metrics(SystemReader *reader, SystemModes *modes, SystemConditions *conditions);
void equations_read_columns(SystemReader *reader, SystemModes *modes, const SystemScope *scope);
// The values of the conditions in all modes, after all of them are read.
// The number of a condition, which is added; -1 after an error. what: the key that gives it.
int equations_read_condition(SystemReader *reader, SystemConditions *conditions, const Node *node, const char *what);
void equations_read_conditions(SystemReader *reader, SystemModes *modes, const SystemConditions *conditions);

// ---- page.c ---------------------------------------------------------------------------------------------------------

void equations_page(FILE *out, int columns);     // the page of `help spec equations`, broken there
void equations_law_page(FILE *out, int columns); // what `help spec law` says of laws
// Its rows about a topic, such as events; alone: nothing was printed before. False: there are none.
bool equations_page_topic(FILE *out, const char *topic, bool alone, int columns);
// The definition `index` of the schema: its name and its text (spec/schema.c). False: there are no more.
bool equations_schema(int index, const char **name, const char **text);

// ---- read.c ---------------------------------------------------------------------------------------------------------

SystemReader equations_reader(const Node *node, Arena *arena, Diagnostics *diagnostics);
// values[n_modes][count], all TAPE_NONE
TapeValue **equations_values_of_modes(SystemReader *reader, int count);
// The system of a mapping; NULL after errors.
const System *equations_read(const Node *node, Arena *arena, Diagnostics *diagnostics);
// The mapping as YAML in one line, which reads back to the same system.
const char *equations_text(const Node *node, Arena *arena);
// Scalars that equations_text writes as they stand: a word; a list of numbers, or (m > 0) a list of two; a list of rows
// of numbers, or (columns 0) one list.
const Node *equations_written(Arena *arena, const char *text);
const Node *equations_written_lists(Arena *arena, const double *first, int n, const double *second, int m);
const Node *equations_written_rows(Arena *arena, const double *numbers, int rows, int columns);

void equations_check_used(SystemReader *reader);  // warns of shorthands that nothing uses
void equations_read_inputs(SystemReader *reader); // values of parameters, after all names are declared

// ---- meter.c --------------------------------------------------------------------------------------------------------

// Declares the columns of a model as time and states, and its parameters.
void equations_declare_model(SystemReader *reader, const Configured *configured);

// What a meter is read from: the mapping `metrics`, and conditions under which a lane ends.
typedef struct MeterGiven {
    const Node *metrics;       // NULL: none
    const Node *const *when;   // [n_retire]
    const MeterRetire *retire; // [n_retire], without the numbers of their conditions
    const Configured *of;      // whose columns and parameters they use
    const Scope *frames;       // of the scope
    const Node *at;            // of errors that are about all
    int n_retire;
} MeterGiven;
// False after errors.
bool equations_read_meter(const MeterGiven *given, Arena *arena, Diagnostics *diagnostics, Meter *out);

// ---- law.c ----------------------------------------------------------------------------------------------------------

typedef struct LawTaken {
    const char *const *names; // [count] parameters of the model that a law's expressions name
    int count;
} LawTaken;

// The control law of the mapping `law`. False after errors.
bool equations_read_law(const Node *law, const Configured *configured, const Scope *of, Arena *arena,
                        Diagnostics *diagnostics, Law *out, LawTaken *taken);

#endif
