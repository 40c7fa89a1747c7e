// What the files of systems share. A system of the user's (sim/equations/system.h) is read from a mapping: its names
// first (names.c), then its expressions, as values of a tape (values.c), then modes, events and metrics (read.c).
#ifndef HOPSCOTCH_EXPERIMENT_EQUATIONS_H
#define HOPSCOTCH_EXPERIMENT_EQUATIONS_H

#include "../experiment.h"
#include "../expression/expression.h"

typedef enum SystemNameKind {
    SYSTEM_NAME_TIME,
    SYSTEM_NAME_STATE,
    SYSTEM_NAME_HELD,
    SYSTEM_NAME_PARAMETER,
    SYSTEM_NAME_LET
} SystemNameKind;

// A name that expressions may use.
typedef struct SystemName {
    const char *name, *unit, *doc; // unit NULL: not given
    const Node *key, *node;        // where it is declared, and as what
    SystemNameKind kind;
    int index; // among those of its kind; of a `let` in its scope
} SystemName;

// Where a `let` is while it is computed: a circle leads back to one that is OPEN.
typedef enum SystemLetState { SYSTEM_LET_NEW, SYSTEM_LET_OPEN, SYSTEM_LET_DONE } SystemLetState;
typedef struct SystemLet {
    int name; // index in names
    int mode; // -1: of all modes
    const Expression *expression;
    TapeValue value;
    SystemLetState state;
} SystemLet;

// The names that an expression of a mode sees. of[i]: index in the reader's names.
typedef struct SystemScope {
    Scope scope;
    const int *of;
    int mode; // -1: of no mode
} SystemScope;

enum { SYSTEM_NAMES_MAX = 4096, SYSTEM_LETS_MAX = 2048, SYSTEM_EVENTS_MAX = 256 };

typedef struct SystemReader {
    Arena *arena;
    Diagnostics *diagnostics;
    System *system;
    const Node *root;
    SystemName *names; // [n_names]
    int n_names;
    SystemLet *lets; // [n_lets]
    int n_lets;
    int n_modes;                          // at least 1
    const Node **mode_nodes, **mode_keys; // [n_modes]; key NULL: the root is the only mode
    Parameter *parameters;
    const char **events;   // [n_events] names
    const Node **event_at; // [n_events]
    const char **failures; // [n_failures]
    SystemGuard *guards;
    SystemInstant *instants;
} SystemReader;

// ---- names.c --------------------------------------------------------------------------------------------------------

// The value of a key of a mapping; NULL: not given. In the order of the spec errors are sorted by place.
bool equations_mapping(SystemReader *reader, const Node *node, const char *what); // an error if it is none
// Reports keys of `mapping` that are not among words ("a|b|c"). what: "a state".
void equations_check_keys(SystemReader *reader, const Node *mapping, const char *words, const char *what);
// A number, or an expression of numbers; false after an error.
bool equations_number(SystemReader *reader, const Node *node, double *value);
const char *equations_text_of(SystemReader *reader, const Node *mapping,
                              const char *key); // of a scalar; NULL: not given
bool equations_truth(SystemReader *reader, const Node *mapping, const char *key);
// Declares parameters, states, held numbers and lets.
void equations_declare(SystemReader *reader);
int equations_find(const SystemReader *reader, const char *name, SystemNameKind kind); // its index; -1: there is none
// The nearest of names for a message: "; did you mean 'x'?", or "".
const char *equations_nearest(SystemReader *reader, const char *text, const char *const *names, int count);

// ---- values.c -------------------------------------------------------------------------------------------------------

// The scope of a mode (-1: of what all modes share); fixed: only parameters and numbers.
SystemScope equations_scope(SystemReader *reader, int mode, bool fixed);
// The scope that has the `let` of every mode, for metrics.
SystemScope equations_scope_of_any(SystemReader *reader);
const Expression *equations_expression(SystemReader *reader, const Node *node, const SystemScope *scope,
                                       const char *what);
// The value of an expression in a mode. TAPE_NONE: a name of it is not there in the mode.
TapeValue equations_value(SystemReader *reader, const Expression *expression, const SystemScope *scope, int mode);
// As system_value, for a condition: its comparisons are guards, whose sides it reads. guards: the first of them, -1:
// they are added to the mode for the first time; guards[mode][k] <- their values.
TapeValue equations_condition(SystemReader *reader, const Expression *expression, const SystemScope *scope, int mode,
                              TapeValue *const *guards, int *first);
void equations_read_lets(SystemReader *reader);

// ---- drawing.c ------------------------------------------------------------------------------------------------------

// The shapes of the list `section` (NULL: none). points[mode] <- the values of their points.
void equations_read_drawing(SystemReader *reader, const Node *section, TapeValue **points);

// ---- read.c ---------------------------------------------------------------------------------------------------------

// The system of a mapping; NULL after errors.
const System *equations_read(const Node *node, Arena *arena, Diagnostics *diagnostics);
// The mapping as YAML in one line, which reads back to the same system.
const char *equations_text(const Node *node, Arena *arena);

#endif
