// Rows of the table trials. One table of its columns says how to declare, keep, bind, read, hash and compare them.
#include "rows.h"

#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

int rows_searched(const Spec *spec) { return spec->n_axes + spec->n_derived + spec->n_outer; }

static bool rows_have_spread(const Spec *spec) { return spec->replicates.count > 1; }

int rows_objectives(const Spec *spec) { return spec_several(spec) ? spec->objective.count : 0; }

const char *rows_objective_name(int index)
{
    static const char *const names[] = {"objective_1", "objective_2", "objective_3", "objective_4",
                                        "objective_5", "objective_6", "objective_7", "objective_8"};
    _Static_assert(sizeof names / sizeof *names == OBJECTIVES_MAX, "a name for each objective");
    return names[index];
}

int rows_constraints(const Spec *spec) { return spec->n_constraints > 0 ? 1 + spec->n_constraints : 0; }

Text32 rows_constraint_name(int index)
{
    Text32 name;
    if (index == 0)
        snprintf(name.text, sizeof name.text, "violation");
    else
        snprintf(name.text, sizeof name.text, "constraint_%d", index);
    return name;
}

const char *rows_outcome_name(const Spec *spec) { return spec_several(spec) ? rows_objective_name(0) : "fitness"; }

static const char *rows_searched_name(const Spec *spec, int index)
{
    return spec->configured.parameters[spec->axes[index].parameter].name;
}

const char *rows_choices(const Spec *spec, int index)
{
    const char *const *choices = spec->configured.choices; // NULL in most campaigns, and asked for every value of a row
    return choices != NULL ? choices[spec->axes[index].parameter] : NULL;
}

double rows_searched_value(const Spec *spec, const TrialRows *rows, int index, int64_t row)
{
    const Cell cell = rows->searched[index * rows->stride + row];
    return rows_choices(spec, index) != NULL ? (double)cell.integer : cell.real;
}

void rows_set_searched(const Spec *spec, TrialRows *rows, int index, int64_t row, double value)
{
    Cell *cell = &rows->searched[index * rows->stride + row];
    if (rows_choices(spec, index) != NULL)
        cell->integer = (int64_t)value;
    else
        cell->real = value;
}

static const char *rows_failure_name(const Spec *spec, int64_t failure)
{
    return failure >= 0 && failure < spec->configured.n_failures ? spec->configured.failures[failure] : "unknown";
}

double rows_stored(double value)
{
    if (value != value) return (double)NAN;
    return value == 0 ? 0.0 : value;
}

// ---- columns --------------------------------------------------------------------------------------------------------

static int rows_one(const Spec *spec)
{
    (void)spec;
    return 1;
}
static int rows_raced(const Spec *spec) { return spec_races(spec) ? 1 : 0; }
static int rows_of_rungs(const Spec *spec) { return spec_has_rungs(spec) ? 1 : 0; }
static int rows_metrics(const Spec *spec) { return spec->configured.n_metrics; }
static int rows_spreads(const Spec *spec) { return rows_have_spread(spec) ? spec->configured.n_metrics : 0; }

static const char *rows_metric_name(const Spec *spec, int index) { return spec->configured.metrics[index].name; }
static const char *rows_objective(const Spec *spec, int index)
{
    (void)spec;
    return rows_objective_name(index);
}

typedef enum RowsType {
    ROWS_INTEGER,
    ROWS_REAL,
    ROWS_FAILURE, // an integer names a text
    ROWS_CHOICE   // the same, of a searched parameter
} RowsType;
_Static_assert(sizeof(double) == sizeof(int64_t), "one size for all columns");

// The columns in their order. Each entry is one array of TrialRows, [count][stride].
typedef struct RowsColumns {
    RowsType type;
    const char *declaration;
    size_t member; // offset of the array's pointer
    int (*count)(const Spec *spec);
    const char *name;                                  // of a single column; else appended to:
    const char *(*names)(const Spec *spec, int index); // the name of each column; NULL: `name` alone
} RowsColumns;
#define MEMBER(member) offsetof(TrialRows, member)
static const RowsColumns rows_columns_of_trial[] = {
    {ROWS_INTEGER, "INTEGER PRIMARY KEY", MEMBER(id), rows_one, "id", NULL},
    {ROWS_INTEGER, "INTEGER NOT NULL", MEMBER(search), rows_one, "search", NULL},
    {ROWS_INTEGER, "INTEGER NOT NULL", MEMBER(round), rows_one, "round", NULL},
    {ROWS_REAL, "REAL", MEMBER(searched), rows_searched, "", rows_searched_name}, // or words: rows_type
    {ROWS_REAL, "REAL", MEMBER(fitness), rows_one, "fitness", NULL},
    {ROWS_REAL, "REAL", MEMBER(objective), rows_objectives, "", rows_objective},
    {ROWS_REAL, "REAL", MEMBER(constraint), rows_constraints, "constraint", NULL},
    {ROWS_FAILURE, "TEXT NOT NULL", MEMBER(failure), rows_one, "failure", NULL},
    {ROWS_INTEGER, "INTEGER NOT NULL", MEMBER(n_failed), rows_one, "n_failed", NULL},
    {ROWS_INTEGER, "INTEGER NOT NULL", MEMBER(replicates), rows_raced, "replicates", NULL},
    {ROWS_INTEGER, "INTEGER NOT NULL", MEMBER(rungs), rows_of_rungs, "rungs", NULL},
    {ROWS_REAL, "REAL", MEMBER(metric), rows_metrics, "", rows_metric_name},
    {ROWS_REAL, "REAL", MEMBER(spread), rows_spreads, "_std", rows_metric_name},
};
#undef MEMBER
_Static_assert(sizeof rows_columns_of_trial / sizeof *rows_columns_of_trial == TRIAL_ROWS_ARRAYS, "one per array");

// The type of column `index` of an array, and its declaration.
static RowsType rows_type(const Spec *spec, const RowsColumns *columns, int index)
{
    return columns->count == rows_searched && rows_choices(spec, index) != NULL ? ROWS_CHOICE : columns->type;
}

static const char *rows_declaration(const Spec *spec, const RowsColumns *columns, int index)
{
    return rows_type(spec, columns, index) == ROWS_CHOICE ? "TEXT NOT NULL" : columns->declaration;
}

typedef struct RowsName {
    char text[256];
} RowsName;

static RowsName rows_name(const Spec *spec, const RowsColumns *columns, int index)
{
    RowsName name;
    if (columns->count == rows_constraints)
        snprintf(name.text, sizeof name.text, "%s", rows_constraint_name(index).text);
    else
        snprintf(name.text, sizeof name.text, "%s%s", columns->names != NULL ? columns->names(spec, index) : "",
                 columns->name);
    return name;
}

static void *rows_array(const TrialRows *rows, const RowsColumns *columns)
{
    void *array;
    memcpy(&array, (const char *)rows + columns->member, sizeof array);
    return array;
}

int64_t rows_columns(const Spec *spec)
{
    int64_t count = 0;
    for (int c = 0; c < TRIAL_ROWS_ARRAYS; c++) count += rows_columns_of_trial[c].count(spec);
    return count;
}

enum { ROWS_REPLICATE_METRICS = 3 }; // the first of them among the columns, after trial, replicate, failure

// ---- memory ---------------------------------------------------------------------------------------------------------

// A row is written into all columns at once. If they lay a multiple of 4 KiB apart, all their lines would share one set
// of the processor's cache; so a column takes an odd number of lines.
static int64_t rows_stride(int64_t capacity)
{
    enum { ROWS_LINE = 8, ROWS_MANY = 512 }; // values
    return capacity < ROWS_MANY ? capacity : ((capacity + ROWS_LINE - 1) / ROWS_LINE | 1) * ROWS_LINE;
}

void rows_take(const Spec *spec, int64_t capacity, Arena *arena, TrialRows *rows)
{
    const int64_t metrics = spec->configured.n_metrics, count = spec->replicates.count;
    *rows = (TrialRows){.capacity = capacity, .stride = rows_stride(capacity)};
    for (int c = 0; c < TRIAL_ROWS_ARRAYS; c++) {
        const RowsColumns *columns = &rows_columns_of_trial[c];
        rows->columns[c] = columns->count(spec);
        void *array = arena_take(arena, (size_t)(rows->stride * rows->columns[c]), sizeof(double));
        memcpy((char *)rows + columns->member, &array, sizeof array);
    }
    if (!rows_have_spread(spec)) rows->spread = NULL;
    if (!spec->replicates.store) return;
    rows->replicate_count = spec->replicates.count;
    rows->replicate_first = spec->replicates.first;
    rows->replicate_stride = rows_stride(capacity * count);
    rows->replicate_trial = ARENA_NEW(arena, int64_t, rows->replicate_stride);
    rows->replicate = ARENA_NEW(arena, int64_t, rows->replicate_stride);
    rows->replicate_failure = ARENA_NEW(arena, int64_t, rows->replicate_stride);
    rows->replicate_metric = ARENA_NEW(arena, double, rows->replicate_stride *metrics);
    rows->replicate_drawn = ARENA_NEW(arena, double, rows->replicate_stride * spec->replicates.n_perturb);
    for (int64_t i = 0; i < capacity * count; i++) rows->replicate[i] = i % count;
}

Spec rows_had(const Spec *spec, const TrialRows *rows, int64_t row)
{
    if (!spec_has_rungs(spec)) return race_had(spec, spec_races(spec) ? rows->replicates[row] : 0);
    const int64_t passed = rows->rungs[row], all = spec->limits.rungs.count; // of a database that may be damaged
    return rungs_passed(spec, passed >= 0 && passed < all ? (int)passed : (int)all);
}

void rows_copy(const TrialRows *from, int64_t row, TrialRows *to, int64_t target_row)
{
    for (int c = 0; c < TRIAL_ROWS_ARRAYS; c++) {
        const int64_t *source = rows_array(from, &rows_columns_of_trial[c]);
        int64_t *target = rows_array(to, &rows_columns_of_trial[c]);
        for (int i = 0; i < from->columns[c]; i++)
            memcpy(&target[i * to->stride + target_row], &source[i * from->stride + row], sizeof *target);
    }
}

void *rows_cells(const TrialRows *rows, int column)
{
    int c = 0;
    for (; column >= rows->columns[c]; c++) column -= (int)rows->columns[c];
    return (int64_t *)rows_array(rows, &rows_columns_of_trial[c]) + column * rows->stride;
}

int64_t rows_replicate_columns(const Spec *spec)
{
    return ROWS_REPLICATE_METRICS + spec->configured.n_metrics + spec->replicates.n_perturb;
}

// A column of numbers of the table replicates, from 0: a metric, or what was drawn.
static const char *rows_replicate_name(const Spec *spec, int index)
{
    const int metrics = spec->configured.n_metrics;
    if (index < metrics) return spec->configured.metrics[index].name;
    return spec->configured.parameters[spec->replicates.perturb[index - metrics].parameter].name;
}

static int rows_replicate_numbers(const Spec *spec)
{
    return (int)rows_replicate_columns(spec) - ROWS_REPLICATE_METRICS;
}

static const double *rows_replicate_column(const TrialRows *rows, int metrics, int index)
{
    if (index < metrics) return &rows->replicate_metric[index * rows->replicate_stride];
    return &rows->replicate_drawn[(index - metrics) * rows->replicate_stride];
}

int64_t rows_new(const TrialRows *rows)
{
    int64_t count = rows->count;
    for (int64_t i = 0; rows->had != NULL && i < rows->count; i++) count -= rows->had[i] > 0;
    return count;
}

int64_t rows_bytes(const Spec *spec)
{
    const int64_t metrics = spec->configured.n_metrics, count = spec->replicates.count;
    const int64_t stored = spec->replicates.store ? count * 8 * rows_replicate_columns(spec) : 0;
    return 8 * (rows_searched(spec) + rows_objectives(spec) + rows_constraints(spec) + 2 * metrics + 8) + stored;
}

Field rows_field(const Spec *spec, const char *name)
{
    const Configured *configured = &spec->configured;
    for (int m = 0; m < configured->n_metrics; m++)
        if (strcmp(configured->metrics[m].name, name) == 0) return configured->metrics[m];
    for (int p = 0; p < configured->n_parameters; p++) {
        const Parameter *parameter = &configured->parameters[p];
        if (strcmp(parameter->name, name) == 0)
            return (Field){.name = parameter->name, .unit = parameter->unit, .doc = parameter->doc};
    }
    return (Field){.name = name, .unit = "1", .doc = name};
}

// ---- as a table in memory -------------------------------------------------------------------------------------------

// The words of a searched parameter, and "unknown" for any other value.
static const char *const *rows_choice_words(const Spec *spec, int index, Arena *arena, int *count)
{
    const char *choices = rows_choices(spec, index);
    *count = words_count(choices) + 1;
    const char **words = ARENA_NEW(arena, const char *, *count);
    for (int i = 0; i < *count; i++) words[i] = arena_copy(arena, value_text(choices, i).text);
    return words;
}

// The names of failures, and "unknown" for any other.
static const char *const *rows_failure_words(const Spec *spec, Arena *arena)
{
    const int count = spec->configured.n_failures;
    const char **words = ARENA_NEW(arena, const char *, count + 1);
    for (int i = 0; i <= count; i++) words[i] = rows_failure_name(spec, i);
    return words;
}

void rows_table_take(const Spec *spec, Arena *arena, MemoryTable *table)
{
    static const MemoryKind kinds[] = {[ROWS_INTEGER] = MEMORY_INTEGER,
                                       [ROWS_REAL] = MEMORY_REAL,
                                       [ROWS_FAILURE] = MEMORY_WORD,
                                       [ROWS_CHOICE] = MEMORY_WORD};
    *table = (MemoryTable){.n_columns = (int)rows_columns(spec)};
    table->columns = ARENA_NEW(arena, MemoryColumn, table->n_columns);
    MemoryColumn *column = table->columns;
    for (int c = 0; c < TRIAL_ROWS_ARRAYS; c++) {
        const RowsColumns *columns = &rows_columns_of_trial[c];
        for (int i = 0; i < columns->count(spec); i++, column++) {
            const char *name = arena_copy(arena, rows_name(spec, columns, i).text);
            const RowsType type = rows_type(spec, columns, i);
            *column = (MemoryColumn){.name = name, .kind = kinds[type], .n_words = spec->configured.n_failures + 1};
            if (type == ROWS_FAILURE) column->words = rows_failure_words(spec, arena);
            if (type == ROWS_CHOICE) column->words = rows_choice_words(spec, i, arena, &column->n_words);
            if (column->words == NULL) column->n_words = 0;
        }
    }
}

void rows_table_show(const TrialRows *rows, int64_t first, int64_t end, MemoryTable *table)
{
    MemoryColumn *column = table->columns;
    for (int c = 0; c < TRIAL_ROWS_ARRAYS; c++) {
        const void *array = rows_array(rows, &rows_columns_of_trial[c]);
        for (int i = 0; i < rows->columns[c]; i++, column++) {
            if (column->kind == MEMORY_REAL)
                column->reals = (const double *)array + i * rows->stride;
            else
                column->integers = (const int64_t *)array + i * rows->stride;
        }
    }
    table->first = first;
    table->end = end;
}

void rows_replicates_table_take(const Spec *spec, Arena *arena, MemoryTable *table)
{
    *table = (MemoryTable){.n_columns = (int)rows_replicate_columns(spec)};
    table->columns = ARENA_NEW(arena, MemoryColumn, table->n_columns);
    table->columns[0] = (MemoryColumn){.name = "trial", .kind = MEMORY_INTEGER};
    table->columns[1] = (MemoryColumn){.name = "replicate", .kind = MEMORY_INTEGER};
    table->columns[2] = (MemoryColumn){.name = "failure",
                                       .kind = MEMORY_WORD,
                                       .words = rows_failure_words(spec, arena),
                                       .n_words = spec->configured.n_failures + 1};
    for (int i = 0; i < rows_replicate_numbers(spec); i++)
        table->columns[ROWS_REPLICATE_METRICS + i] =
            (MemoryColumn){.name = rows_replicate_name(spec, i), .kind = MEMORY_REAL};
}

void rows_replicates_table_show(const Spec *spec, const TrialRows *rows, int64_t first, int64_t end, MemoryTable *table)
{
    table->columns[0].integers = rows->replicate_trial;
    table->columns[1].integers = rows->replicate;
    table->columns[2].integers = rows->replicate_failure;
    for (int i = ROWS_REPLICATE_METRICS; i < table->n_columns; i++)
        table->columns[i].reals = rows_replicate_column(rows, spec->configured.n_metrics, i - ROWS_REPLICATE_METRICS);
    table->first = first;
    table->end = end;
}

// ---- SQL ------------------------------------------------------------------------------------------------------------

// The text of a statement while it grows, in the arena.
typedef struct RowsText {
    char *text;
    size_t used, size;
} RowsText;

PRINTF_LIKE(2, 3) static void rows_append(RowsText *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(text->text + text->used, text->size - text->used, format, arguments);
    va_end(arguments);
    text->used += length < 0 ? 0 : (size_t)length;
    if (text->used >= text->size) text->used = text->size - 1;
}

// Is called with the name and the type of every column of a table.
typedef void (*RowsAdd)(RowsText *text, Arena *arena, const char *name, const char *type, int *count);

static void rows_each_column(const Spec *spec, RowsText *text, Arena *arena, RowsAdd add)
{
    int count = 0;
    for (int c = 0; c < TRIAL_ROWS_ARRAYS; c++) {
        const RowsColumns *columns = &rows_columns_of_trial[c];
        for (int i = 0; i < columns->count(spec); i++)
            add(text, arena, rows_name(spec, columns, i).text, rows_declaration(spec, columns, i), &count);
    }
}

static void rows_each_replicate_column(const Spec *spec, RowsText *text, Arena *arena, RowsAdd add)
{
    int count = 0;
    add(text, arena, "trial", "INTEGER NOT NULL", &count);
    add(text, arena, "replicate", "INTEGER NOT NULL", &count);
    add(text, arena, "failure", "TEXT NOT NULL", &count);
    for (int i = 0; i < rows_replicate_numbers(spec); i++)
        add(text, arena, rows_replicate_name(spec, i), "REAL", &count);
}

static void rows_add_declaration(RowsText *text, Arena *arena, const char *name, const char *type, int *count)
{
    rows_append(text, "%s\n  %s %s", (*count)++ > 0 ? "," : "", sql_identifier(arena, name), type);
}

static void rows_add_name(RowsText *text, Arena *arena, const char *name, const char *type, int *count)
{
    (void)type;
    rows_append(text, "%s%s", (*count)++ > 0 ? ", " : "", sql_identifier(arena, name));
}

typedef void (*RowsEach)(const Spec *spec, RowsText *text, Arena *arena, RowsAdd add);

// head, the columns as `add` writes them, tail: in the arena.
static const char *rows_sql(const Spec *spec, Arena *arena, RowsEach each, const char *head, RowsAdd add,
                            const char *tail)
{
    enum { COLUMN = 160, REST = 4096 }; // bytes: per column's declaration; for the text around them
    RowsText text = {.size = (size_t)(rows_columns(spec) + rows_replicate_columns(spec)) * COLUMN + REST};
    text.size += strlen(tail);
    text.text = arena_take(arena, text.size, 1);
    rows_append(&text, "%s", head);
    each(spec, &text, arena, add);
    rows_append(&text, "%s", tail);
    return text.text;
}

const char *rows_table_sql(const Spec *spec, const char *table, Arena *arena)
{
    // No foreign key on `search`: it would cost a look-up per row, and the program alone writes this column.
    return rows_sql(spec, arena, rows_each_column, arena_format(arena, "CREATE TABLE %s(", table), rows_add_declaration,
                    ") STRICT;");
}

const char *rows_replicates_sql(const Spec *spec, Arena *arena)
{
    return rows_sql(spec, arena, rows_each_replicate_column, "CREATE TABLE replicates(", rows_add_declaration,
                    ",\n  PRIMARY KEY(trial, replicate)) STRICT, WITHOUT ROWID;");
}

const char *rows_select_sql(const Spec *spec, Arena *arena, const char *tail)
{
    return rows_sql(spec, arena, rows_each_column, "SELECT ", rows_add_name,
                    arena_format(arena, " FROM trials %s", tail));
}

// ---- names ----------------------------------------------------------------------------------------------------------

// Whether another column has the name. Spreads count even with one replicate.
static bool rows_name_is_taken(const Spec *spec, const char *name)
{
    for (int c = 0; c < TRIAL_ROWS_ARRAYS; c++) {
        const RowsColumns *columns = &rows_columns_of_trial[c];
        const int count = columns->count == rows_spreads ? rows_metrics(spec) : columns->count(spec);
        for (int i = 0; columns->count != rows_searched && i < count; i++) {
            if (strcasecmp(rows_name(spec, columns, i).text, name) == 0) return true;
        }
    }
    return false;
}

static Error rows_check_name(const Spec *spec, const char *name)
{
    if (!rows_name_is_taken(spec, name)) return error_none();
    return error_make(ERROR_USER,
                      "the model %s has a parameter %s and a result of the same name; they can't both be a "
                      "column of trials: rename one in the model's tables",
                      spec->model->name, name);
}

Error rows_check_names(const Spec *spec)
{
    enum { SQLITE_COLUMNS = 2000 };
    if (rows_columns(spec) > SQLITE_COLUMNS)
        return error_make(ERROR_USER,
                          "the table trials would have %lld columns and SQLite allows %d: search fewer parameters, "
                          "name fewer bodies, or do without replicates, whose spreads are columns too",
                          (long long)rows_columns(spec), SQLITE_COLUMNS);
    for (int i = 0; i < rows_searched(spec); i++) TRY(rows_check_name(spec, rows_searched_name(spec, i)));
    for (int i = 0; i < spec->replicates.n_perturb && spec->replicates.store; i++)
        TRY(rows_check_name(spec, rows_replicate_name(spec, spec->configured.n_metrics + i)));
    return error_none();
}

// ---- one row --------------------------------------------------------------------------------------------------------

int32_t rows_failure_code(const Spec *spec, const char *name) { return configured_failure(&spec->configured, name); }

// The index of a stored word; that of "unknown" for a text that is none.
static int64_t rows_choice(const Spec *spec, int index, const char *text)
{
    const char *choices = rows_choices(spec, index);
    const int found = words_find(choices, text);
    return found >= 0 ? found : words_count(choices);
}

void rows_read(const Spec *spec, const Cursor *trial, TrialRows *rows, int64_t row)
{
    int at = 0;
    for (int c = 0; c < TRIAL_ROWS_ARRAYS; c++) {
        const RowsColumns *columns = &rows_columns_of_trial[c];
        void *array = rows_array(rows, columns);
        const int count = rows->columns[c];
        switch (columns->type) {
        case ROWS_INTEGER:
            if (count > 0) ((int64_t *)array)[row] = cell_integer(trial, at++);
            break;
        case ROWS_FAILURE: ((int64_t *)array)[row] = rows_failure_code(spec, cell_text(trial, at++)); break;
        case ROWS_CHOICE:
        case ROWS_REAL:
            for (int i = 0; i < count; i++, at++) {
                const bool choice = rows_type(spec, columns, i) == ROWS_CHOICE;
                if (choice)
                    ((Cell *)array)[i * rows->stride + row].integer = rows_choice(spec, i, cell_text(trial, at));
                if (!choice) ((double *)array)[i * rows->stride + row] = cell_real(trial, at);
            }
            break;
        }
    }
}

// ---- hash and comparison --------------------------------------------------------------------------------------------

// A buffer before a hash, which takes many values at once faster than one by one.
typedef struct RowsBytes {
    Sha256 *hash;
    size_t used;
    unsigned char data[1024];
} RowsBytes;

static void rows_put(RowsBytes *bytes, const void *data, size_t size)
{
    if (size > sizeof bytes->data - bytes->used) {
        sha256_add(bytes->hash, bytes->data, bytes->used);
        bytes->used = 0;
    }
    if (size > sizeof bytes->data) {
        sha256_add(bytes->hash, data, size);
        return;
    }
    memcpy(bytes->data + bytes->used, data, size);
    bytes->used += size;
}

static void rows_put_integer(RowsBytes *bytes, int64_t value) { rows_put(bytes, &value, sizeof value); }

static void rows_put_real(RowsBytes *bytes, double value)
{
    const double stored = rows_stored(value);
    rows_put(bytes, &stored, sizeof stored);
}

static void rows_put_text(RowsBytes *bytes, const char *text)
{
    const size_t length = strlen(text);
    rows_put_integer(bytes, (int64_t)length);
    rows_put(bytes, text, length);
}

// The word of a searched parameter in a row.
static ValueText rows_word(const Spec *spec, const TrialRows *rows, int index, int64_t row)
{
    return value_text(rows_choices(spec, index), rows_searched_value(spec, rows, index, row));
}

void rows_hash(const Spec *spec, const TrialRows *rows, int64_t row, Sha256 *hash)
{
    RowsBytes bytes;
    bytes.hash = hash;
    bytes.used = 0;
    for (int c = 0; c < TRIAL_ROWS_ARRAYS; c++) {
        const RowsColumns *columns = &rows_columns_of_trial[c];
        const void *array = rows_array(rows, columns);
        const int count = rows->columns[c];
        const char *failure = columns->type == ROWS_FAILURE ? rows_failure_name(spec, rows->failure[row]) : "";
        switch (columns->type) {
        case ROWS_INTEGER:
            if (count > 0) rows_put_integer(&bytes, ((const int64_t *)array)[row]);
            break;
        case ROWS_FAILURE: rows_put_text(&bytes, failure); break;
        case ROWS_CHOICE:
        case ROWS_REAL:
            for (int i = 0; i < count; i++) {
                if (rows_type(spec, columns, i) == ROWS_CHOICE)
                    rows_put_text(&bytes, rows_word(spec, rows, i, row).text);
                else
                    rows_put_real(&bytes, ((const double *)array)[i * rows->stride + row]);
            }
            break;
        }
    }
    sha256_add(hash, bytes.data, bytes.used);
}

static bool rows_number_differs(double stored, double again)
{
    const double a = rows_stored(stored), b = rows_stored(again);
    return memcmp(&a, &b, sizeof a) != 0;
}

// text[size] <- how column i of an array of numbers or words differs between two rows. Returns its length; 0: it does
// not.
static size_t rows_describe_number(const Spec *spec, const RowsColumns *columns, int i, const TrialRows *stored,
                                   int64_t row, const TrialRows *again, int64_t row_again, char *text, size_t size)
{
    const RowsName name = rows_name(spec, columns, i);
    if (rows_type(spec, columns, i) == ROWS_CHOICE) {
        const ValueText a = rows_word(spec, stored, i, row), b = rows_word(spec, again, i, row_again);
        if (strcmp(a.text, b.text) == 0) return 0;
        return (size_t)snprintf(text, size, "%s is %s stored and %s now", name.text, a.text, b.text);
    }
    const double a = ((const double *)rows_array(stored, columns))[i * stored->stride + row];
    const double b = ((const double *)rows_array(again, columns))[i * again->stride + row_again];
    if (!rows_number_differs(a, b)) return 0;
    return (size_t)snprintf(text, size, "%s is %.17g stored and %.17g now", name.text, rows_stored(a), rows_stored(b));
}

bool rows_differ(const Spec *spec, const TrialRows *stored, int64_t row, const TrialRows *again, int64_t row_again,
                 char *text, size_t size)
{
    const char *failure = rows_failure_name(spec, stored->failure[row]);
    const char *failure_again = rows_failure_name(spec, again->failure[row_again]);
    text[0] = '\0';
    for (int c = 0; c < TRIAL_ROWS_ARRAYS; c++) {
        const RowsColumns *columns = &rows_columns_of_trial[c];
        const int count = stored->columns[c];
        if (columns->type == ROWS_FAILURE &&
            (strcmp(failure, failure_again) != 0 || stored->n_failed[row] != again->n_failed[row_again])) {
            snprintf(text, size, "failure is %s (%lld replicates) stored and %s (%lld) now", failure,
                     (long long)stored->n_failed[row], failure_again, (long long)again->n_failed[row_again]);
            return true;
        }
        for (int i = 0; columns->type == ROWS_REAL && i < count; i++) {
            if (rows_describe_number(spec, columns, i, stored, row, again, row_again, text, size) > 0) return true;
        }
    }
    return false;
}

void rows_differences(const Spec *spec, const TrialRows *stored, int64_t row, const TrialRows *again, int64_t row_again,
                      char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (int c = 0; c < TRIAL_ROWS_ARRAYS; c++) {
        const RowsColumns *columns = &rows_columns_of_trial[c];
        const bool failure = columns->type == ROWS_FAILURE;
        for (int i = 0; (failure || columns->type == ROWS_REAL) && i < stored->columns[c] && used + 1 < size; i++) {
            const char *gap = used > 0 ? "; " : "";
            char one[512];
            size_t length = 0;
            if (failure && stored->failure[row] != again->failure[row_again])
                length = (size_t)snprintf(one, sizeof one, "failure is %s stored and %s now",
                                          rows_failure_name(spec, stored->failure[row]),
                                          rows_failure_name(spec, again->failure[row_again]));
            if (!failure)
                length = rows_describe_number(spec, columns, i, stored, row, again, row_again, one, sizeof one);
            if (length > 0) used += (size_t)snprintf(text + used, size - used, "%s%s", gap, one);
        }
    }
}
