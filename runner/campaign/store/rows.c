// One row of the table trials: its columns, how they are declared, bound, read, hashed and compared. The order is
// always id, search, round, searched parameters, fitness, several objectives, constraints, failure, n_failed, metrics,
// and with several replicates their spreads.
#include "rows.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static const char *const rows_fixed_names[] = {"id", "search", "round", "fitness", "failure", "n_failed"};
enum { ROWS_FIXED = sizeof rows_fixed_names / sizeof rows_fixed_names[0] };

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

const char *rows_good_name(const Spec *spec) { return spec_several(spec) ? rows_objective_name(0) : "fitness"; }

static const char *rows_searched_name(const Spec *spec, int index)
{
    return spec->configured.parameters[spec->axes[index].parameter].name;
}

static const char *rows_failure_name(const Spec *spec, int32_t failure)
{
    return failure >= 0 && failure < spec->configured.n_failures ? spec->configured.failures[failure] : "unknown";
}

double rows_stored(double value)
{
    if (value != value) return (double)NAN;
    return value == 0 ? 0.0 : value;
}

// ---- memory ---------------------------------------------------------------------------------------------------------

void rows_take(const Spec *spec, int64_t capacity, Arena *arena, TrialRows *rows)
{
    const int64_t searched = rows_searched(spec), metrics = spec->configured.n_metrics, count = spec->replicates.count;
    *rows = (TrialRows){
        .capacity = capacity,
        .id = ARENA_NEW(arena, int64_t, capacity),
        .search = ARENA_NEW(arena, int32_t, capacity),
        .round = ARENA_NEW(arena, int32_t, capacity),
        .searched = ARENA_NEW(arena, double, (capacity * searched)),
        .fitness = ARENA_NEW(arena, double, capacity),
        .objective = ARENA_NEW(arena, double, (capacity * rows_objectives(spec))),
        .constraint = ARENA_NEW(arena, double, (capacity * rows_constraints(spec))),
        .failure = ARENA_NEW(arena, int32_t, capacity),
        .n_failed = ARENA_NEW(arena, int32_t, capacity),
        .metric = ARENA_NEW(arena, double, (capacity * metrics)),
    };
    if (rows_have_spread(spec)) rows->spread = ARENA_NEW(arena, double, (capacity * metrics));
    if (!spec->replicates.store) return;
    rows->replicate_metric = ARENA_NEW(arena, double, (capacity * count * metrics));
    rows->replicate_failure = ARENA_NEW(arena, int32_t, capacity * count);
}

int64_t rows_columns(const Spec *spec)
{
    return ROWS_FIXED + rows_searched(spec) + rows_objectives(spec) + rows_constraints(spec) +
           spec->configured.n_metrics * (rows_have_spread(spec) ? 2 : 1);
}

int64_t rows_replicate_columns(const Spec *spec) { return 3 + spec->configured.n_metrics; }

int64_t rows_bytes(const Spec *spec)
{
    const int64_t metrics = spec->configured.n_metrics, count = spec->replicates.count;
    const int64_t stored = spec->replicates.store ? count * (8 * metrics + 4) : 0;
    return 8 * (rows_searched(spec) + rows_objectives(spec) + rows_constraints(spec) + 2 * metrics + 2) + 16 + stored;
}

// ---- SQL ------------------------------------------------------------------------------------------------------------

// A statement's text that grows, in the arena.
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

// Calls `add` with every column of the table: its name and its type.
typedef void (*RowsAdd)(RowsText *text, Arena *arena, const char *name, const char *type, int *count);

static void rows_each_column(const Spec *spec, RowsText *text, Arena *arena, RowsAdd add)
{
    int count = 0;
    add(text, arena, "id", "INTEGER PRIMARY KEY", &count);
    add(text, arena, "search", "INTEGER NOT NULL", &count);
    add(text, arena, "round", "INTEGER NOT NULL", &count);
    for (int i = 0; i < rows_searched(spec); i++) add(text, arena, rows_searched_name(spec, i), "REAL", &count);
    add(text, arena, "fitness", "REAL", &count);
    for (int i = 0; i < rows_objectives(spec); i++) add(text, arena, rows_objective_name(i), "REAL", &count);
    for (int i = 0; i < rows_constraints(spec); i++) add(text, arena, rows_constraint_name(i).text, "REAL", &count);
    add(text, arena, "failure", "TEXT NOT NULL", &count);
    add(text, arena, "n_failed", "INTEGER NOT NULL", &count);
    for (int i = 0; i < spec->configured.n_metrics; i++) {
        add(text, arena, spec->configured.metrics[i].name, "REAL", &count);
    }
    for (int i = 0; rows_have_spread(spec) && i < spec->configured.n_metrics; i++) {
        add(text, arena, arena_format(arena, "%s_std", spec->configured.metrics[i].name), "REAL", &count);
    }
}

static void rows_each_replicate_column(const Spec *spec, RowsText *text, Arena *arena, RowsAdd add)
{
    int count = 0;
    add(text, arena, "trial", "INTEGER NOT NULL", &count);
    add(text, arena, "replicate", "INTEGER NOT NULL", &count);
    add(text, arena, "failure", "TEXT NOT NULL", &count);
    for (int i = 0; i < spec->configured.n_metrics; i++) {
        add(text, arena, spec->configured.metrics[i].name, "REAL", &count);
    }
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

static void rows_add_value(RowsText *text, Arena *arena, const char *name, const char *type, int *count)
{
    (void)arena, (void)name, (void)type;
    rows_append(text, "%s", (*count)++ > 0 ? ", ?" : "?");
}

typedef void (*RowsEach)(const Spec *spec, RowsText *text, Arena *arena, RowsAdd add);

// head, the columns as `add` writes them, tail: in the arena.
static const char *rows_sql(const Spec *spec, Arena *arena, RowsEach each, const char *head, RowsAdd add,
                            const char *tail)
{
    enum { COLUMN = 160, REST = 4096 }; // bytes: of a column's declaration; of what stands around them
    RowsText text = {.size = (size_t)(rows_columns(spec) + rows_replicate_columns(spec)) * COLUMN + REST};
    text.size += strlen(tail);
    text.text = arena_take(arena, text.size, 1);
    rows_append(&text, "%s", head);
    each(spec, &text, arena, add);
    rows_append(&text, "%s", tail);
    return text.text;
}

const char *rows_table_sql(const Spec *spec, Arena *arena)
{
    // No foreign key on `search`: it would cost a look-up a row, and this column is never the user's.
    return rows_sql(spec, arena, rows_each_column, "CREATE TABLE trials(", rows_add_declaration, ") STRICT;");
}

const char *rows_replicates_sql(const Spec *spec, Arena *arena)
{
    return rows_sql(spec, arena, rows_each_replicate_column, "CREATE TABLE replicates(", rows_add_declaration,
                    ",\n  PRIMARY KEY(trial, replicate)) STRICT, WITHOUT ROWID;");
}

const char *rows_insert_sql(const Spec *spec, Arena *arena)
{
    return rows_sql(spec, arena, rows_each_column, "INSERT INTO trials VALUES(", rows_add_value, ")");
}

const char *rows_insert_replicate_sql(const Spec *spec, Arena *arena)
{
    return rows_sql(spec, arena, rows_each_replicate_column, "INSERT INTO replicates VALUES(", rows_add_value, ")");
}

const char *rows_select_sql(const Spec *spec, Arena *arena, const char *tail)
{
    return rows_sql(spec, arena, rows_each_column, "SELECT ", rows_add_name,
                    arena_format(arena, " FROM trials %s", tail));
}

// ---- names ----------------------------------------------------------------------------------------------------------

static bool rows_is_metric(const Spec *spec, const char *name)
{
    for (int i = 0; i < spec->configured.n_metrics; i++) {
        const char *metric = spec->configured.metrics[i].name;
        const size_t length = strlen(metric);
        if (strcasecmp(metric, name) == 0) return true;
        if (strncasecmp(metric, name, length) == 0 && strcasecmp(name + length, "_std") == 0) return true;
    }
    return false;
}

Error rows_check_names(const Spec *spec)
{
    enum { SQLITE_COLUMNS = 2000 };
    if (rows_columns(spec) > SQLITE_COLUMNS)
        return error_make(ERROR_USER,
                          "the table trials would have %lld columns and SQLite allows %d: search fewer parameters, "
                          "name fewer bodies, or do without replicates, whose spreads are columns too",
                          (long long)rows_columns(spec), SQLITE_COLUMNS);
    for (int i = 0; i < rows_searched(spec); i++) {
        const char *name = rows_searched_name(spec, i);
        bool taken = rows_is_metric(spec, name);
        for (int k = 0; k < ROWS_FIXED; k++) taken = taken || strcasecmp(rows_fixed_names[k], name) == 0;
        for (int k = 0; k < rows_objectives(spec); k++) taken = taken || strcasecmp(rows_objective_name(k), name) == 0;
        for (int k = 0; k < rows_constraints(spec); k++)
            taken = taken || strcasecmp(rows_constraint_name(k).text, name) == 0;
        if (taken) {
            return error_make(ERROR_USER,
                              "the model %s has a parameter %s and a result of the same name; they can't both be a "
                              "column of trials: rename one in the model's tables",
                              spec->model->name, name);
        }
    }
    return error_none();
}

// ---- one row --------------------------------------------------------------------------------------------------------

void rows_bind(const Spec *spec, const TrialRows *rows, int64_t row, Statement *statement)
{
    const int searched = rows_searched(spec), metrics = spec->configured.n_metrics, objectives = rows_objectives(spec);
    const int constraints = rows_constraints(spec);
    int at = 1;
    bind_integer(statement, at++, rows->id[row]);
    bind_integer(statement, at++, rows->search[row]);
    bind_integer(statement, at++, rows->round[row]);
    for (int i = 0; i < searched; i++) bind_real(statement, at++, rows_stored(rows->searched[row * searched + i]));
    bind_real(statement, at++, rows_stored(rows->fitness[row]));
    for (int i = 0; i < objectives; i++) bind_real(statement, at++, rows_stored(rows->objective[row * objectives + i]));
    for (int i = 0; i < constraints; i++)
        bind_real(statement, at++, rows_stored(rows->constraint[row * constraints + i]));
    bind_word(statement, at++, rows_failure_name(spec, rows->failure[row]));
    bind_integer(statement, at++, rows->n_failed[row]);
    for (int i = 0; i < metrics; i++) bind_real(statement, at++, rows_stored(rows->metric[row * metrics + i]));
    for (int i = 0; rows->spread != NULL && i < metrics; i++) {
        bind_real(statement, at++, rows_stored(rows->spread[row * metrics + i]));
    }
}

void rows_bind_replicate(const Spec *spec, const TrialRows *rows, int64_t row, int replicate, Statement *statement)
{
    const int64_t lane = row * spec->replicates.count + replicate;
    const int metrics = spec->configured.n_metrics;
    bind_integer(statement, 1, rows->id[row]);
    bind_integer(statement, 2, replicate);
    bind_word(statement, 3, rows_failure_name(spec, rows->replicate_failure[lane]));
    for (int i = 0; i < metrics; i++) {
        bind_real(statement, 4 + i, rows_stored(rows->replicate_metric[lane * metrics + i]));
    }
}

int32_t rows_failure_code(const Spec *spec, const char *name)
{
    for (int32_t i = 0; i < spec->configured.n_failures; i++) {
        if (strcmp(spec->configured.failures[i], name) == 0) return i;
    }
    return -1;
}

void rows_read(const Spec *spec, Statement *statement, TrialRows *rows, int64_t row)
{
    const int searched = rows_searched(spec), metrics = spec->configured.n_metrics, objectives = rows_objectives(spec);
    const int constraints = rows_constraints(spec);
    int at = 0;
    rows->id[row] = column_integer(statement, at++);
    rows->search[row] = (int32_t)column_integer(statement, at++);
    rows->round[row] = (int32_t)column_integer(statement, at++);
    for (int i = 0; i < searched; i++) rows->searched[row * searched + i] = column_real(statement, at++);
    rows->fitness[row] = column_real(statement, at++);
    for (int i = 0; i < objectives; i++) rows->objective[row * objectives + i] = column_real(statement, at++);
    for (int i = 0; i < constraints; i++) rows->constraint[row * constraints + i] = column_real(statement, at++);
    rows->failure[row] = rows_failure_code(spec, column_text(statement, at++));
    rows->n_failed[row] = (int32_t)column_integer(statement, at++);
    for (int i = 0; i < metrics; i++) rows->metric[row * metrics + i] = column_real(statement, at++);
    for (int i = 0; rows->spread != NULL && i < metrics; i++) {
        rows->spread[row * metrics + i] = column_real(statement, at++);
    }
}

// ---- hash and comparison --------------------------------------------------------------------------------------------

// Values on their way into a hash, which takes many at once faster than one by one.
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

static void rows_put_reals(RowsBytes *bytes, const double *values, int count)
{
    for (int i = 0; i < count; i++) {
        const double value = rows_stored(values[i]);
        rows_put(bytes, &value, sizeof value);
    }
}

void rows_hash(const Spec *spec, const TrialRows *rows, int64_t row, Sha256 *hash)
{
    const int searched = rows_searched(spec), metrics = spec->configured.n_metrics;
    const char *failure = rows_failure_name(spec, rows->failure[row]);
    RowsBytes bytes;
    bytes.hash = hash;
    bytes.used = 0;
    rows_put_integer(&bytes, rows->id[row]);
    rows_put_integer(&bytes, rows->search[row]);
    rows_put_integer(&bytes, rows->round[row]);
    rows_put_reals(&bytes, &rows->searched[row * searched], searched);
    rows_put_reals(&bytes, &rows->fitness[row], 1);
    rows_put_reals(&bytes, &rows->objective[row * rows_objectives(spec)], rows_objectives(spec));
    rows_put_reals(&bytes, &rows->constraint[row * rows_constraints(spec)], rows_constraints(spec));
    rows_put_integer(&bytes, (int64_t)strlen(failure));
    rows_put(&bytes, failure, strlen(failure));
    rows_put_integer(&bytes, rows->n_failed[row]);
    rows_put_reals(&bytes, &rows->metric[row * metrics], metrics);
    if (rows->spread != NULL) rows_put_reals(&bytes, &rows->spread[row * metrics], metrics);
    sha256_add(hash, bytes.data, bytes.used);
}

static bool rows_number_differs(const char *name, const char *suffix, double stored, double again, char *text,
                                size_t size)
{
    const double a = rows_stored(stored), b = rows_stored(again);
    if (memcmp(&a, &b, sizeof a) == 0) return false;
    snprintf(text, size, "%s%s is %.17g stored and %.17g now", name, suffix, a, b);
    return true;
}

bool rows_differ(const Spec *spec, const TrialRows *stored, int64_t row, const TrialRows *again, int64_t row_again,
                 char *text, size_t size)
{
    const int searched = rows_searched(spec), metrics = spec->configured.n_metrics, objectives = rows_objectives(spec);
    const int constraints = rows_constraints(spec);
    const char *failure = rows_failure_name(spec, stored->failure[row]);
    const char *failure_again = rows_failure_name(spec, again->failure[row_again]);
    for (int i = 0; i < searched; i++) {
        if (rows_number_differs(rows_searched_name(spec, i), "", stored->searched[row * searched + i],
                                again->searched[row_again * searched + i], text, size))
            return true;
    }
    if (rows_number_differs("fitness", "", stored->fitness[row], again->fitness[row_again], text, size)) return true;
    for (int i = 0; i < constraints; i++) {
        if (rows_number_differs(rows_constraint_name(i).text, "", stored->constraint[row * constraints + i],
                                again->constraint[row_again * constraints + i], text, size))
            return true;
    }
    for (int i = 0; i < objectives; i++) {
        if (rows_number_differs(rows_objective_name(i), "", stored->objective[row * objectives + i],
                                again->objective[row_again * objectives + i], text, size))
            return true;
    }
    if (strcmp(failure, failure_again) != 0 || stored->n_failed[row] != again->n_failed[row_again]) {
        snprintf(text, size, "failure is %s (%d replicates) stored and %s (%d) now", failure, stored->n_failed[row],
                 failure_again, again->n_failed[row_again]);
        return true;
    }
    for (int i = 0; i < metrics; i++) {
        const char *name = spec->configured.metrics[i].name;
        const int64_t a = row * metrics + i, b = row_again * metrics + i;
        if (rows_number_differs(name, "", stored->metric[a], again->metric[b], text, size)) return true;
        if (stored->spread != NULL && again->spread != NULL &&
            rows_number_differs(name, "_std", stored->spread[a], again->spread[b], text, size))
            return true;
    }
    text[0] = '\0';
    return false;
}
