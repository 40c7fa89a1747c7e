// The table of keys, shared by all files that read, resolve and describe a spec. A row holds a key's path, type, unit,
// default, range, meaning and an example; from it come reading, error texts, the resolved spec, its hash, the JSON
// schema and the reference page. Rows of models and search methods come from their own tables, so that all code
// below knows one kind of row.
#ifndef HOPSCOTCH_KEYS_H
#define HOPSCOTCH_KEYS_H

#include "../experiment.h"

typedef enum KeyType {
    KEY_NUMBER,
    KEY_INTEGER,
    KEY_BOOLEAN,
    KEY_CHOICE,    // one of the words in `words`
    KEY_POINTS,    // a list of [x, y], x increasing
    KEY_NUMBERS,   // a list of numbers
    KEY_WORDS,     // a list of words; in the order of their bytes, each once
    KEY_ARGUMENTS, // a list of texts, in their order
    KEY_SYSTEM,    // equations, or the name of a file with them
    KEY_LAW,       // a control law, or the name of a file with one; none
    KEY_FILE,      // the name of a file, or {file: name, sha256: digest}, of recordings with more keys; none
    KEY_ITEMS,     // a list of mappings, described by a List
    KEY_NAME,      // a name that can be a file's: 1-128 of [A-Za-z0-9._-], not starting with '.' or '-'
    KEY_FORM,      // has a form of its own (forms.h)
    KEY_SECTION
} KeyType;

// Where the value stands in the Spec; `at` points to it once a Spec is being read.
typedef enum KeyStore {
    STORE_NONE,
    STORE_INT,
    STORE_INT64,
    STORE_UINT64,
    STORE_DOUBLE,
    STORE_BOOLEAN,
    STORE_TEXT,
    STORE_POINTS,
    STORE_ITEMS,
    STORE_FILE
} KeyStore;

enum {
    KEY_REQUIRED = 1, // if its section is there
    KEY_IDENTITY = 2, // can change a number: enters the canonical text and its hash
    KEY_OPEN = 4,     // section: its keys come from the model
    KEY_LATER = 8,    // not in the canonical text at its default (Model.later)
    KEY_TOP = 16      // of the model, and stands at the top (Model.top)
};

typedef struct Key {
    const char *path; // "record.trajectories.sample"
    KeyType type;
    const char *unit;        // "s" also takes 5ms, 30min, 2h; "fraction" also takes 50%; "1" or "": none
    double value, low, high; // default and inclusive range; a choice's value is its index in `words`
    const char *words;       // choice: "any|of|these"; number: the word that stands for the default ("auto", "none");
                             // form and section: what is expected there, for messages
    const char *doc, *example;
    KeyStore store;
    size_t offset; // in Spec; of the model's and the method's rows: unused
    unsigned flags;
    void *at;
    const char *method;      // search method that the row belongs to, NULL: all
    const List *list;        // KEY_ITEMS
    int parameter;           // index in configured.parameters + 1; 0: the row is not a parameter
    const struct Form *form; // KEY_FORM (forms.h)
} Key;

// A key that the spec gives; a misspelt one was reported and stands under its right name.
typedef struct GivenKey {
    const char *path;
    const Node *key, *value;
} GivenKey;

// One reading of one spec.
typedef struct SpecReader {
    Spec *spec;
    Arena *arena;
    Diagnostics *diagnostics;
    const Node *root;
    Error lost;         // of a stored spec: a file that it needs to be read is damaged or gone
    bool nameless;      // an error was found before the model's names were known: names are not checked
    const char *folder; // of the spec's file, where files that it names are looked for; NULL: it can name none
    AllowedFolders allowed;
    Key *keys; // the whole table for this spec: ours, every method's, the model's
    int n_keys, keys_capacity;
    int n_own;              // rows of the key table, which come first
    const Model *top_model; // whose keys stand at the top; NULL: none do
    Points *top_points;     // [n_options + n_lists] theirs
    GivenKey *given;
    int n_given, given_capacity;
    const Key **parameter_keys; // [configured_named] rows of the parameters, in their order
    const char *const *names;   // [configured_named] of the parameters
    struct AxesBuild *axes;     // what is searched, while it is gathered (axes.h)
    const Node *law;            // the control law of the spec's own; NULL: there is none
    LawPolicy policy;           // that gives the model's actions; table NULL: none does
    bool single;                // of a spec that is a case of another: it has no cases
    bool beside;                // and not the first of its cases: what is known beforehand counts once
} SpecReader;

// ---- spec/keys.c: the table -----------------------------------------------------------------------------------------

const Key *keys_table(Arena *arena, int *count); // with a row for each form
// A row of another table as a key, whose path is in the arena. section "": the top of the spec.
Key key_of_option(const Option *option, const char *section, Arena *arena);
Key key_of_list(const List *list, const char *section, Arena *arena);
Key key_of_parameter(const Parameter *parameter, const char *choices, Arena *arena); // choices: configured_choices
const char *key_name(const Key *key);                                                // last word of the path
// What follows "SECTION." in a path, "" being the section of all paths; NULL: the path is not below it.
const char *path_below(const char *path, const char *section);
// A row of `record.debug.newton` as another model has it, under the name of its own debug rows; other rows as they are.
Key key_of_debug(const Key *key, const Model *model, Arena *arena);
// What a value must be, for messages. key_expected: "a number in [0, 1000000] N m/rad", "true or false", "first or
// all". key_range: "in [0, 1000000] N m/rad".
const char *key_expected(const Key *key, Arena *arena);
const char *key_range(const Key *key, Arena *arena);
// The parameter of that name that other settings would give the model; NULL: none.
const Parameter *keys_extra(const Model *model, const char *name);
// A Configured with the most parameters that integer options can give the model (bbob's dimension), to describe them;
// parameters that choices add are the model's `extra`.
bool keys_widest_model(const Model *model, Arena *arena, Configured *out);

// ---- spec/scalar.c: strict scalars ----------------------------------------------------------------------------------

// A number under a row's rules (units, integers, range); *value untouched and false after an error. A value out of
// range is an error too, but *value is then the nearest bound, so that reading can go on.
bool scalar_number(SpecReader *reader, const Key *key, const Node *node, double *value);
// A value of a parameter, by its row: a number, or one of its words as its index. False after an error.
bool scalar_of_parameter(SpecReader *reader, const Key *key, const Node *node, double *value);
// Any scalar row, into the field where the row stores it; node NULL: its default.
void scalar_read(SpecReader *reader, const Key *key, const Node *node);
// What was given, for messages: "'150'", "the text \"150\"", "a list", "a mapping", "empty".
const char *scalar_given(const Node *node, Arena *arena);
const char *scalar_quoted(const char *text, Arena *arena); // in quotes, as YAML reads it
// More errors than are kept: the rest is only counted, so no texts are written (a spec may have 100,000 mistakes).
bool scalar_flooded(const SpecReader *reader);
bool scalar_is_empty(const Node *node); // nothing after the colon
// key_mistyped reports "NAME is VALUE, expected ...", with advice. did_you_mean: "; did you mean 'near'?"; "" for NULL.
void key_mistyped(SpecReader *reader, const Key *key, const Node *node);
const char *did_you_mean(const char *near, Arena *arena);

// ---- spec/override.c: --set -----------------------------------------------------------------------------------------

// The tree with "key.path=value" applied; the errors are placed in a source "--set".
const Node *override_apply(const Node *root, const char *override, Arena *arena, Diagnostics *diagnostics);

// The tree with the value at the path that `key` writes with dots.
const Node *override_apply_key(const Node *root, const Node *key, const Node *value, Arena *arena,
                               Diagnostics *diagnostics);

// The tree with what its mapping `set` gives.
const Node *override_apply_kept(const Node *root, Arena *arena, Diagnostics *diagnostics);

// ---- spec/include.c: fragments in other files -----------------------------------------------------------------------

// The tree with the files that it includes; `text` is the spec's, to which theirs is added as comments.
const Node *include_all(const char *folder, const Node *root, Arena *arena, Diagnostics *diagnostics,
                        const char **text);

// ---- spec/values.c: value forms -------------------------------------------------------------------------------------

// Values of the parameter that `key` describes: [list], {linspace: ...}, ... ; false after an error.
bool values_read(SpecReader *reader, const Key *key, const Node *node, Values *out);
// Makes values that are words a range of integers, for a method that takes ranges only; false after an error, which is
// reported at `node`.
bool values_words_as_range(SpecReader *reader, const Key *key, const Node *node, Values *values);
// As flow YAML, {linspace: [50, 300, 26]}, that reads back to the same values.
const char *values_text(const Values *values, Arena *arena);
// Read the value of a key of this kind into the spec (node NULL: not given), and write it as flow YAML that reads back
// to the same value. KEY_POINTS: [[0, 0], [1, 0.1]].
void points_read(SpecReader *reader, const Key *key, const Node *node);
const char *points_text(const Points *points, Arena *arena);
// KEY_NUMBERS: [1, 2].
void numbers_read(SpecReader *reader, const Key *key, const Node *node);
const char *numbers_text(const Points *numbers, Arena *arena);
// KEY_WORDS and KEY_ARGUMENTS: ["a", "b"].
void words_read(SpecReader *reader, const Key *key, const Node *node);
void arguments_read(SpecReader *reader, const Key *key, const Node *node);
const char *texts_text(const Points *texts, Arena *arena);
const ValueForm *const *value_forms(int *count); // all forms of values
// Shared by several forms: read the third argument as a number of points; write three arguments.
bool values_read_points(SpecReader *reader, const Key *key, const Node *node, Values *values);
const char *values_points_text(const Values *values, Arena *arena);
const char *values_triple_text(const Values *values, const char *third, Arena *arena);

// ---- spec/model_files.c: files that a model reads -------------------------------------------------------------------

// KEY_FILE, as above. files_identity: by what the file holds, for the spec's identity.
void files_read(SpecReader *reader, const Key *key, const Node *node);
const char *files_text(const SpecFile *file, Arena *arena);
const char *files_identity(const SpecFile *file, Arena *arena);
// Reads those among the files of the model's options that it is configured by (robots, matrices, tables) into their
// points, and the robots' digests, after all options are read. A stored spec has them in the CAMPAIGN_FILES beside
// spec->file. False: errors were reported.
bool files_read_contents(SpecReader *reader, SpecFile *files, Points *points);

// ---- spec/system_key.c: equations ----------------------------------------------------------------------------------

// KEY_SYSTEM, as above.
void system_key_read(SpecReader *reader, const Key *key, const Node *node);
const Node *system_key_file(SpecReader *reader, const Node *name); // the mapping in a file; NULL after an error
// KEY_LAW, as above; then the law itself, when the model is configured.
void law_key_read(SpecReader *reader, const Key *key, const Node *node);
bool law_is_given(const SpecReader *reader); // by a key or a word, also where it could not be read
void law_read(SpecReader *reader);
const Node *law_action_at(const SpecReader *reader);         // where the first of its actions is declared
int option_find(const SpecReader *reader, const char *name); // the index of an option that the model has
const char *law_key_text(const Key *key);                    // as YAML in one line
// The bodies and sites of the robot of these settings that `frames` can name; NULL: there is no robot.
const char *const *robot_frames(const SpecReader *reader, int *count);
// Reports settings of a map that only differential equations have.
void system_check_settings(SpecReader *reader);
void system_check_actions(SpecReader *reader); // after all else is read
// Reports the name of a state or held number that is no parameter, because an expression starts it; false: it is none.
bool system_starts(SpecReader *reader, const Node *key);
const char *system_key_text(const Key *key); // as YAML in one line

// ---- spec/system_tables.c: files of equations ----------------------------------------------------------------------

// The equations, or the law, with lists in place of the files of tables, inputs and policies. What can't be read is
// reported, and stays.
const Node *system_tables(SpecReader *reader, const Node *system, bool law);

// ---- spec/csv_lines.c: tables of comma-separated values -------------------------------------------------------------

// Blank lines, lines that start with # and blanks around a field are ignored; a field may stand in double quotes.
typedef struct CsvLines {
    const Source *source;
    char *at;     // the next line, in a copy of the text that is cut into fields
    int line;     // the number of the row that was read
    Node *fields; // of that row
    int n_fields;
    char separator; // ',', ';' or a tab; ' ': blanks and tabs
} CsvLines;

CsvLines csv_lines(const Source *source, int most, Arena *arena); // for rows of at most `most` + 1 fields
char csv_separator(const CsvLines *csv); // between the names of its columns: ',', else ';', else a tab
bool csv_row(CsvLines *csv, int most);   // reads a row of at most `most` fields; false at the end

// ---- spec/matrix_file.c: rows of numbers in a file ------------------------------------------------------------------

// Reads a file of an option whose contents are "matrix", "table" or "recording" (sim.h), as `reading` says. `at`: where
// the spec names it. False: errors were reported.
struct TableReading;
bool matrix_read(SpecReader *reader, const Source *source, const Option *option, const struct TableReading *reading,
                 const Node *at, Points *out);

// ---- spec/recording.c: how tables are read --------------------------------------------------------------------------

// Reports columns whose unit is of another kind than the model's, after it is configured.
void recording_check_units(SpecReader *reader);
extern const char recording_schema[];

// ---- spec/model_lists.c: lists that models declare ------------------------------------------------------------------

// KEY_ITEMS, as above.
void items_read(SpecReader *reader, const Key *key, const Node *node);
const Node *items_node(SpecReader *reader, const List *list, const Node *node, int64_t item); // the node of an item
const char *items_text(const Key *key, Arena *arena);
const char *items_identity(const Key *key, Arena *arena); // of a list at the top: without units and what is read only
// For a model whose spec declares the parameters. items_declare reads `parameters:` (given NULL: no parameters);
// items_declared: item `index` as YAML, with this value.
void items_declare(SpecReader *reader, const Model *model, const Node *given, Points *points);
const char *items_declared(const Spec *spec, int index, double value, Arena *arena);
// The words of a node, a list or a single one, as "a|b|c"; NULL: there are none, or they are wrong.
const char *items_choices(const Node *words, Arena *arena);

// ---- spec/axes.c: what `search:` asks for ---------------------------------------------------------------------------

void axes_read(SpecReader *reader);               // the axes; needs the model's parameters, and fixed values
void axes_read_without_model(SpecReader *reader); // finds errors of `search:` without a model

// ---- spec/spec.c ----------------------------------------------------------------------------------------------------

const Key *key_find(const SpecReader *reader, const char *path); // the row; NULL: there is none
// Refuses keys that mean nothing where people run the trials (spec/by_hand.c).
void by_hand_check_keys(SpecReader *reader);
const GivenKey *given_find(const SpecReader *reader, const char *path); // NULL: not given
void spec_read(SpecReader *reader);                                     // all of it, from reader->root
void spec_rows_of(SpecReader *reader);                                  // of a spec that is there; none is given
Error spec_summary(const char *file, const Diagnostics *diagnostics);   // "gains.yaml: 2 errors"
// The node that the model's error is about: an option, an item of a list, or `section`.
const Node *spec_wrong(SpecReader *reader, const GivenKey *section);
// The parameter called `key` in `mapping`. A misspelt one is an error and still found, if it is near enough, so that
// one typo is one error; -1: nothing is near.
int parameter_find(SpecReader *reader, const Node *key, const Node *mapping, const char *where);
// The whole of the file that the scalar names, at most `most` bytes, and its name for messages; false after an error.
// A name is relative to the file that it stands in, and can only lead to the spec's folder or below.
bool spec_read_file(const char *folder, const Node *name, int64_t most, Arena *arena, Diagnostics *diagnostics,
                    Source *source);
const char *source_beside(const Node *name, Arena *arena); // that name, relative to the spec's folder
// NULL after an error; `what` is the key that holds the expression.
const Expression *expression_read(SpecReader *reader, const Node *node, const Scope *scope, const char *what);
Scope parameter_scope(const SpecReader *reader); // the parameters' names

// ---- spec/forms/objective.c -----------------------------------------------------------------------------------------

Scope objective_scope(SpecReader *reader); // the metrics' names, then the parameters'

// ---- spec/chosen_bodies.c: bodies that have columns -----------------------------------------------------------------

// The model's tables for what the spec names; world_known: the world is the spec's, so that names of `record.bodies`
// can be looked up. After the model is configured, before its parameters are read.
void things_choose(SpecReader *reader, bool world_known);
Choice things_named(const SpecReader *reader); // names in the spec
// The tables again, as without `record.bodies`.
Error things_choose_default(Spec *spec, Arena *arena);
// Of names[count] of parameters that an expression takes. False, and an error: one is the name of a column, too, of a
// body that has no columns in trajectories, as a body's speed at the start has the name of its speed.
bool things_check_taken(SpecReader *reader, const char *const *names, int count, const Node *at, const char *what);

// ---- spec/environment.c ---------------------------------------------------------------------------------------------

// values[n_observations], over the model's columns, as inputs 0, 1, ... of the tape, and its parameters, which follow
// them.
const TapeValue *environment_observed(SpecReader *reader, Tape *tape, int *n_observations);
void environment_check_reward(SpecReader *reader); // after the section `environment:`

// ---- spec/policy.c: control: policy ---------------------------------------------------------------------------------

void policy_take(SpecReader *reader); // its network, and weights that are parameters; after things_choose
void policy_see(SpecReader *reader);  // its law, by what it sees; after the section `environment:`

// ---- spec/record_section.c: the section `record:` -------------------------------------------------------------------

void record_read(SpecReader *reader); // needs the model

// ---- spec/cases.c: the same under other settings --------------------------------------------------------------------

// The tree of the spec itself: that of its first case.
const Node *cases_first(const Node *root, Arena *arena, Diagnostics *diagnostics);
// Reads the cases and the recordings of `validate` from the tree of the file, after the spec was read without an error.
// What is wrong is diagnosed.
void cases_declare(SpecReader *reader); // adds parameters that cases take in place of others to those of the model
void cases_read(SpecReader *reader, const Node *root);

// ---- spec/resolve.c -------------------------------------------------------------------------------------------------

// Fills spec->resolved, canonical and hash.
Error spec_resolve(SpecReader *reader);
// A row's value as YAML, and as it stands in the canonical text.
const char *resolve_value(const Key *key, Arena *arena);
const char *resolve_identity_value(const Key *key, Arena *arena);

#endif
