// Forms: keys of the spec whose values are more than a scalar, a file or a list of a model's items. Each has a row:
// `form_NAME` is a Form in a file of forms/, or in the file of its section, and only that file knows it.
#ifndef HOPSCOTCH_FORMS_H
#define HOPSCOTCH_FORMS_H

#include "keys.h"

// Within a stage (below) forms are read in this order; `help spec` lists their limits in it.
// clang-format off
#define FORMS(X) \
    X(include) \
    X(set) \
    X(sweep) \
    X(cases) \
    X(validate) \
    X(model) \
    X(method) \
    X(over) \
    X(points) \
    X(csv) \
    X(zip) \
    X(when) \
    X(union) \
    X(outer) \
    X(exclude) \
    X(from) \
    X(inject) \
    X(taken) \
    X(adam_from) \
    X(adam_starts) \
    X(adam_taken) \
    X(lbfgs_from) \
    X(lbfgs_starts) \
    X(lbfgs_taken) \
    X(least_squares_from) \
    X(least_squares_starts) \
    X(least_squares_taken) \
    X(perturb) \
    X(metrics) \
    X(retire) \
    X(minimize) \
    X(maximize) \
    X(residuals) \
    X(information) \
    X(objective_over) \
    X(failed) \
    X(reference) \
    X(constraints) \
    X(definitions) \
    X(observed) \
    X(reward) \
    X(terminate) \
    X(kept_rows) \
    X(recorded_trials) \
    X(debug_trials) \
    X(debug_window) \
    X(bodies) \
    X(race) \
    X(recommend)
// clang-format on

// When a form is read; the comments say what is known then.
typedef enum FormStage {
    FORM_BY_SECTION, // `read` is not called: other code of the section reads it
    FORM_FIRST,      // nothing: the model, the method
    FORM_METRICS,    // the model's parameters and columns
    FORM_OVER,       // the model's parameters, by name; `axes` is there to be filled
    FORM_POINTS,     // the derived parameters, and the axes of `over`
    FORM_GRID,       // the points: how axes belong together
    FORM_CONDITIONS, // all axes and derived parameters
    FORM_SEARCH,     // the spec's axes
    FORM_OBJECTIVE,  // the whole search; also read without a model, and then names are unknown
    FORM_RECORD      // the same
} FormStage;

// What an extension of a campaign may change in a line of the canonical text (spec/difference.c).
typedef enum FormChange {
    CHANGE_NEVER,
    CHANGE_POINTS, // anything, if the method knows its trials beforehand: which points are asked for
    CHANGE_GRID,   // anything, if the method also finds the trial of a point
    CHANGE_ADDED,  // of such a method: its value; or it comes, or it goes
    CHANGE_VALUE   // of such a method: its value alone
} FormChange;

// Lines of the canonical text: those whose path begins with `start` and ends with `end`.
typedef struct FormLines {
    const char *start, *end; // end NULL: any
    const char *shown;       // what users read instead of `start` and of `digits` characters that follow it
    int digits;              // 0: leading zeros are left out too
    FormChange change;
} FormLines;

// Writes the resolved spec.
typedef struct ResolveWriter {
    FILE *out;
    const SpecReader *reader;
    const char *last; // path of the last line
    const Spec *from; // what this one was derived from: what that searches keeps its default unsaid; NULL: none
} ResolveWriter;

// The canonical text, line by line.
typedef struct CanonicalLines {
    const char **lines;
    int64_t count, capacity;
    Arena *arena;
} CanonicalLines;

// An entry of a mapping, or an item of a list.
typedef struct FormEntry {
    const char *name;             // NULL: of a list
    const char *text;             // as YAML
    const Expression *expression; // or this, in quotes in the resolved spec
} FormEntry;

// Names of parameters in a form, as far as they are known without the model.
typedef struct FormNames {
    const char **names; // [most]
    int count, most;
} FormNames;

typedef struct Form {
    // The row of the key table; it stands behind the row `after`.
    const char *path, *after;
    const char *method; // the only search method that takes it; NULL: all, or `read` decides
    const char *words;  // what is expected, for messages
    const char *doc, *example;
    unsigned flags;

    FormStage stage;
    bool always;            // `read` is also called if the spec does not give it
    const char *instead_of; // path of a form that is not read if this one is given
    bool nameless;          // without the model its parameters can't be distinguished from other words
    void (*names)(const Node *value, FormNames *names);      // NULL: it names none that it searches
    void (*read)(SpecReader *reader, const GivenKey *given); // given NULL: `always`

    // The value in the resolved spec and, if it changes a number (KEY_IDENTITY), in the canonical text: one text, or
    // the entries of a mapping or a list. In the canonical text an entry's path is `canonical`, its index in `digits`
    // digits (0: none), and its name.
    const char *(*text)(const SpecReader *reader);                      // NULL, or gives NULL: none
    bool (*entry)(const SpecReader *reader, int index, FormEntry *out); // false: there are no more
    const char *canonical;
    int digits;
    void (*resolve)(ResolveWriter *writer, const char *path);          // writes the resolved spec instead
    void (*identify)(const SpecReader *reader, CanonicalLines *lines); // writes the canonical text instead
    FormLines lines[3];                                                // start NULL: none

    const char *(*choice)(int index); // the words that the value can be, NULL after the last; NULL: not a choice
    const char *schema;               // its part of the schema (schema_put); NULL: that of a choice
    const char *definition, *define;  // a definition of the schema that others refer to: its name and its text
    const char *parameters_at;        // where a mapping of parameters stands in the schema of its section; NULL: none

    double most;         // MOST in `schema`; 0: no limit
    const char *most_of; // what it counts, for the limits of `help spec`; NULL: it is not listed there
} Form;

#define FORM_DECLARE(name) extern const Form form_##name;
FORMS(FORM_DECLARE)
#undef FORM_DECLARE

// ---- spec/forms.c ---------------------------------------------------------------------------------------------------

int form_count(void);                                                   // of all forms
const Form *form_at(int index);                                         // 0 <= index < form_count()
const GivenKey *form_given(const SpecReader *reader, const Form *form); // NULL: the spec does not give its key
int forms_given(const SpecReader *reader, FormStage stage);             // number of forms that are given
void method_choose(SpecReader *reader); // in place of method auto, after axes and objective were read (method.c)
bool form_is_foreign(const SpecReader *reader, const Form *form); // its key belongs to another search method
void forms_read(SpecReader *reader, FormStage stage);             // reads all given forms of the stage
// The lines that a path of the canonical text belongs to; NULL: no form has such lines.
const FormLines *form_lines(const char *path);
void form_map_names(const Node *value, FormNames *names); // `names` of a mapping of parameters
// Report that the value of a form's key has the wrong type, or is none of its choices. form_unknown returns the nearest
// choice, or NULL.
void form_mistyped(SpecReader *reader, const GivenKey *given);
const char *form_unknown(SpecReader *reader, const Form *form, const Node *node);

// ---- spec/forms/metrics.c, spec/forms/retire.c ----------------------------------------------------------------------

struct MeterGiven;
// Reads the spec's metrics (NULL: it has none) and the conditions of limits.retire as one meter. at: of errors that are
// about all. False after an error.
bool meter_read(SpecReader *reader, const Node *metrics, const Node *at);
// Adds the conditions to what a meter is read from. False after an error.
bool retire_rows(SpecReader *reader, struct MeterGiven *out);

// ---- spec/sweep.c ---------------------------------------------------------------------------------------------------

// *sweep <- the campaigns that the spec's tree declares, after all overrides; count 0: no sweep. False: an error was
// diagnosed.
bool sweep_read(const Node *root, Arena *arena, Diagnostics *diagnostics, Sweep *sweep);

// ---- spec/resolve.c -------------------------------------------------------------------------------------------------

// Write "name: value" at its level of nesting, with the headers of sections that start here.
void resolve_line(ResolveWriter *writer, const char *path, const char *value, const char *unit);
void resolve_row(ResolveWriter *writer, const Key *key);
// The text in quotes, if YAML would take it for something else than a text; and an expression, always in quotes.
const char *resolve_plain(const char *text, Arena *arena);
const char *resolve_quoted(const Expression *expression, Arena *arena);
// Rows of some keys and sections, in this order.
void resolve_keys(ResolveWriter *writer, const char *const *keys, int count);
void canonical_add(CanonicalLines *lines, const char *path, const char *value);

// ---- spec/schema.c --------------------------------------------------------------------------------------------------

// Members of an open object, from flow YAML: `{type: array, items: $point}`. `$point` refers to a definition, MOST is
// the number `most`; numbers, true and false without quotes are such, all else is text.
void schema_put(Json *json, const char *text, double most, Arena *arena);

#define SCHEMA_NAME_PATTERN "^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$"
#define SCHEMA_ZIP "{type: array, items: $names}"
#define SCHEMA_MAP_OF(definition)                                                                                      \
    "{type: [object, null], properties: {include: $include}, additionalProperties: $" definition "}"

#endif
