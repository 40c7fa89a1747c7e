// What queries of trials cost from rows of SQLite, with and without an index of fitness, and from blocks of columns
// through a virtual table: columns in a file that is mapped into memory, or one blob per block and column. Medians of
// five, after one that is not counted; everything is in the file cache if it fits.
//     column_queries [FOLDER [ROWS]]        FOLDER: where the files are made and removed again; ROWS: 1,000,000
#include "../../io/io.h"

#include <fcntl.h>
#include <math.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

// id, search, round, failure (text), n_failed, x0 to x5, fitness, m0 to m5
enum { QUERY_COLUMNS = 18, QUERY_TEXT = 3, QUERY_INTEGERS = 5, QUERY_X0 = 5, QUERY_FITNESS = 11 };
enum { QUERY_BLOCK = 100000, QUERY_CONDITIONS = 8, QUERY_TIMES = 5, QUERY_BEST = 10 };

static const char *const query_names[QUERY_COLUMNS] = {"id", "search", "round", "failure", "n_failed", "x0",
                                                       "x1", "x2",     "x3",    "x4",      "x5",       "fitness",
                                                       "m0", "m1",     "m2",    "m3",      "m4",       "m5"};

typedef struct ColumnSource {
    sqlite3 *database; // of blobs
    const double *map; // [blocks][QUERY_COLUMNS][QUERY_BLOCK]; NULL: blobs
    int64_t rows;
    bool selects; // the table compares by itself, column by column
} ColumnSource;

// Uniform in [0, 1): the finalizer of splitmix64.
static double query_value(int64_t row, int column)
{
    uint64_t z = ((uint64_t)row * QUERY_COLUMNS + (uint64_t)column) * 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

static Error query_sql(int code, sqlite3 *database)
{
    const bool good = code == SQLITE_OK || code == SQLITE_DONE || code == SQLITE_ROW;
    return good ? error_none() : error_make(ERROR_MACHINE, "SQLite: %s", sqlite3_errmsg(database));
}

static Error query_run(sqlite3 *database, const char *sql)
{
    return query_sql(sqlite3_exec(database, sql, NULL, NULL, NULL), database);
}

// ---- the virtual table ----------------------------------------------------------------------------------------------

typedef struct QueryTable {
    sqlite3_vtab base;
    const ColumnSource *source;
} QueryTable;

typedef struct Condition {
    int column, operation;
    double value;
} Condition;

// What a table that gives its rows in an order has found so far: the first `most` rows behind the last one given. When
// they are used up, it looks again, for more.
typedef struct Found {
    double key; // negative of the column's value if the order is descending
    int64_t row;
} Found;

enum { QUERY_FOUND = 1024, QUERY_FOUND_MAX = 1 << 20 };

typedef struct QueryCursor {
    sqlite3_vtab_cursor base;
    const ColumnSource *source;
    Condition conditions[QUERY_CONDITIONS];
    int n_conditions;
    int64_t id; // the only one wanted; -1: all
    int64_t block, at, n_chosen;
    uint32_t *chosen;                     // [QUERY_BLOCK] rows of the block
    const double *columns[QUERY_COLUMNS]; // of the block; NULL: not read yet
    double *memory[QUERY_COLUMNS];
    int order; // column; -1: by id
    double sign;
    Found *found; // [found_most] a heap with the last one on top; then sorted
    int64_t n_found, found_at, found_most, found_all;
} QueryCursor;

static int query_connect(sqlite3 *database, void *source, int count, const char *const *arguments, sqlite3_vtab **out,
                         char **error)
{
    char sql[1024] = "CREATE TABLE blocks(";
    (void)count, (void)arguments, (void)error;
    for (int c = 0; c < QUERY_COLUMNS; c++) {
        const size_t used = strlen(sql);
        snprintf(sql + used, sizeof sql - used, "%s %s%s", query_names[c],
                 c == QUERY_TEXT      ? "TEXT"
                 : c < QUERY_INTEGERS ? "INTEGER"
                                      : "REAL",
                 c + 1 < QUERY_COLUMNS ? ", " : ")");
    }
    QueryTable *table = sqlite3_malloc(sizeof *table);
    if (table == NULL) return SQLITE_NOMEM;
    *table = (QueryTable){.source = source};
    *out = &table->base;
    return sqlite3_declare_vtab(database, sql);
}

static int query_disconnect(sqlite3_vtab *table)
{
    sqlite3_free(table);
    return SQLITE_OK;
}

static bool query_can(const ColumnSource *source, const struct sqlite3_index_constraint *constraint)
{
    const unsigned char op = constraint->op;
    if (!constraint->usable || constraint->iColumn < 0) return false;
    if (constraint->iColumn == 0) return op == SQLITE_INDEX_CONSTRAINT_EQ;
    return source->selects && constraint->iColumn >= QUERY_INTEGERS &&
           (op == SQLITE_INDEX_CONSTRAINT_GT || op == SQLITE_INDEX_CONSTRAINT_GE || op == SQLITE_INDEX_CONSTRAINT_LT ||
            op == SQLITE_INDEX_CONSTRAINT_LE || op == SQLITE_INDEX_CONSTRAINT_ISNOTNULL);
}

// By a real column that is not NULL, as a condition says, and then by id.
static int query_orders(const ColumnSource *source, const sqlite3_index_info *plan)
{
    bool conditioned = false;
    if (!source->selects || plan->nOrderBy < 1 || plan->nOrderBy > 2 || plan->aOrderBy[0].iColumn < QUERY_INTEGERS)
        return 0;
    if (plan->nOrderBy == 2 && (plan->aOrderBy[1].iColumn > 0 || plan->aOrderBy[1].desc)) return 0;
    for (int i = 0; i < plan->nConstraint; i++)
        conditioned |=
            plan->aConstraintUsage[i].argvIndex > 0 && plan->aConstraint[i].iColumn == plan->aOrderBy[0].iColumn;
    return conditioned;
}

// The conditions as a text, two letters each: the column and the operation. SQLite compares again (omit is 0).
// The order as a number: twice its column, and 1 if it is descending.
static int query_plan(sqlite3_vtab *base, sqlite3_index_info *plan)
{
    const ColumnSource *source = ((QueryTable *)base)->source;
    char *text = sqlite3_malloc(2 * QUERY_CONDITIONS + 1);
    int count = 0;
    if (text == NULL) return SQLITE_NOMEM;
    plan->estimatedCost = (double)source->rows;
    for (int i = 0; i < plan->nConstraint && count < QUERY_CONDITIONS; i++) {
        if (!query_can(source, &plan->aConstraint[i])) continue;
        text[2 * count] = (char)('A' + plan->aConstraint[i].iColumn);
        text[2 * count + 1] = (char)plan->aConstraint[i].op;
        plan->aConstraintUsage[i].argvIndex = ++count;
        plan->estimatedCost *= plan->aConstraint[i].iColumn == 0 ? 1e-6 : 0.3;
    }
    text[2 * count] = '\0';
    plan->orderByConsumed = query_orders(source, plan);
    plan->idxStr = text;
    plan->idxNum = plan->orderByConsumed ? 2 * plan->aOrderBy[0].iColumn + plan->aOrderBy[0].desc : 0;
    plan->needToFreeIdxStr = 1;
    return SQLITE_OK;
}

static int query_open(sqlite3_vtab *table, sqlite3_vtab_cursor **out)
{
    QueryCursor *cursor = sqlite3_malloc(sizeof *cursor);
    if (cursor == NULL) return SQLITE_NOMEM;
    *cursor = (QueryCursor){.source = ((QueryTable *)table)->source};
    cursor->chosen = sqlite3_malloc(QUERY_BLOCK * (int)sizeof *cursor->chosen);
    *out = &cursor->base;
    return cursor->chosen != NULL ? SQLITE_OK : SQLITE_NOMEM;
}

static int query_close(sqlite3_vtab_cursor *base)
{
    QueryCursor *cursor = (QueryCursor *)base;
    for (int c = 0; c < QUERY_COLUMNS; c++) sqlite3_free(cursor->memory[c]);
    sqlite3_free(cursor->found);
    sqlite3_free(cursor->chosen);
    sqlite3_free(cursor);
    return SQLITE_OK;
}

static int64_t query_rows(const ColumnSource *source, int64_t block)
{
    const int64_t left = source->rows - block * QUERY_BLOCK;
    return left < QUERY_BLOCK ? left : QUERY_BLOCK;
}

static const double *query_column_of(QueryCursor *cursor, int c)
{
    const ColumnSource *source = cursor->source;
    const int bytes = (int)(query_rows(source, cursor->block) * (int64_t)sizeof(double));
    sqlite3_blob *blob = NULL;
    if (cursor->columns[c] != NULL) return cursor->columns[c];
    if (source->map != NULL)
        return cursor->columns[c] = &source->map[(cursor->block * QUERY_COLUMNS + c) * QUERY_BLOCK];
    if (cursor->memory[c] == NULL) cursor->memory[c] = sqlite3_malloc(QUERY_BLOCK * (int)sizeof(double));
    if (cursor->memory[c] == NULL) return NULL;
    int code =
        sqlite3_blob_open(source->database, "main", "columns", "data", cursor->block * QUERY_COLUMNS + c, 0, &blob);
    if (code == SQLITE_OK) code = sqlite3_blob_read(blob, cursor->memory[c], bytes, 0);
    sqlite3_blob_close(blob);
    return cursor->columns[c] = code == SQLITE_OK ? cursor->memory[c] : NULL;
}

#define QUERY_CHOOSE(test)                                                                                             \
    for (int64_t i = 0; i < n; i++) {                                                                                  \
        const uint32_t row = chosen[i];                                                                                \
        const double x = column[row];                                                                                  \
        chosen[kept] = row;                                                                                            \
        kept += test;                                                                                                  \
    }

static int64_t query_choose(const Condition *condition, const double *column, uint32_t *chosen, int64_t n)
{
    const double value = condition->value;
    int64_t kept = 0;
    switch (condition->operation) {
    case SQLITE_INDEX_CONSTRAINT_GT: QUERY_CHOOSE(x > value) break;
    case SQLITE_INDEX_CONSTRAINT_GE: QUERY_CHOOSE(x >= value) break;
    case SQLITE_INDEX_CONSTRAINT_LT: QUERY_CHOOSE(x < value) break;
    case SQLITE_INDEX_CONSTRAINT_LE: QUERY_CHOOSE(x <= value) break;
    default: QUERY_CHOOSE(x == x) break; // not NaN: not NULL
    }
    return kept;
}

static int query_enter_block(QueryCursor *cursor)
{
    memset(cursor->columns, 0, sizeof cursor->columns);
    cursor->at = 0;
    cursor->n_chosen = query_rows(cursor->source, cursor->block);
    for (int64_t i = 0; i < cursor->n_chosen; i++) cursor->chosen[i] = (uint32_t)i;
    for (int k = 0; k < cursor->n_conditions; k++) {
        const double *column = query_column_of(cursor, cursor->conditions[k].column);
        if (column == NULL) return SQLITE_IOERR;
        cursor->n_chosen = query_choose(&cursor->conditions[k], column, cursor->chosen, cursor->n_chosen);
    }
    return SQLITE_OK;
}

static bool query_ended(const QueryCursor *cursor) { return cursor->block * QUERY_BLOCK >= cursor->source->rows; }

// Goes on to the next block with a chosen row.
static int query_settle(QueryCursor *cursor)
{
    while (cursor->at >= cursor->n_chosen) {
        cursor->block++;
        if (query_ended(cursor)) return SQLITE_OK;
        const int code = query_enter_block(cursor);
        if (code != SQLITE_OK) return code;
    }
    return SQLITE_OK;
}

static bool query_before(const Found *a, const Found *b)
{
    return a->key < b->key || (a->key == b->key && a->row < b->row);
}

static int query_compare_found(const void *a, const void *b) { return query_before(a, b) ? -1 : query_before(b, a); }

static void query_sift(Found *heap, int64_t count, int64_t at)
{
    for (int64_t child = 2 * at + 1; child < count; child = 2 * at + 1) {
        if (child + 1 < count && query_before(&heap[child], &heap[child + 1])) child++;
        if (!query_before(&heap[at], &heap[child])) return;
        const Found moved = heap[at];
        heap[at] = heap[child];
        heap[child] = moved;
        at = child;
    }
}

// Keeps the first found_most of those behind `last`.
static void query_keep(QueryCursor *cursor, const double *column, const Found *last)
{
    for (int64_t i = 0; i < cursor->n_chosen; i++) {
        const Found found = {cursor->sign * column[cursor->chosen[i]], cursor->block * QUERY_BLOCK + cursor->chosen[i]};
        const bool full = cursor->n_found == cursor->found_most;
        if (full && !(found.key <= cursor->found[0].key)) continue;
        if (!query_before(last, &found)) continue;
        cursor->found_all++;
        if (!full) {
            cursor->found[cursor->n_found++] = found;
            for (int64_t k = cursor->n_found == cursor->found_most ? cursor->n_found / 2 - 1 : -1; k >= 0; k--)
                query_sift(cursor->found, cursor->n_found, k);
        } else if (query_before(&found, &cursor->found[0])) {
            cursor->found[0] = found;
            query_sift(cursor->found, cursor->n_found, 0);
        }
    }
}

// Looks through all blocks; afterwards the cursor gives found[0], found[1], ...
static int query_find(QueryCursor *cursor, Found last)
{
    cursor->found = sqlite3_realloc64(cursor->found, (sqlite3_uint64)cursor->found_most * sizeof(Found));
    if (cursor->found == NULL) return SQLITE_NOMEM;
    cursor->n_found = cursor->found_at = cursor->found_all = 0;
    for (cursor->block = 0; !query_ended(cursor); cursor->block++) {
        const int code = query_enter_block(cursor);
        const double *column = code == SQLITE_OK ? query_column_of(cursor, cursor->order) : NULL;
        if (column == NULL) return SQLITE_IOERR;
        query_keep(cursor, column, &last);
    }
    qsort(cursor->found, (size_t)cursor->n_found, sizeof(Found), query_compare_found);
    return SQLITE_OK;
}

// Stands on found[found_at], or ends.
static int query_stand(QueryCursor *cursor)
{
    if (cursor->found_at == cursor->n_found && cursor->n_found == cursor->found_most) {
        const Found last = cursor->found[cursor->n_found - 1];
        if (cursor->found_most < QUERY_FOUND_MAX) cursor->found_most *= 16;
        const int code = query_find(cursor, last);
        if (code != SQLITE_OK) return code;
    }
    if (cursor->found_at == cursor->n_found) {
        cursor->block = cursor->source->rows;
        return SQLITE_OK;
    }
    const int64_t row = cursor->found[cursor->found_at].row, block = row / QUERY_BLOCK;
    if (block != cursor->block) memset(cursor->columns, 0, sizeof cursor->columns);
    cursor->block = block;
    cursor->at = 0;
    cursor->chosen[0] = (uint32_t)(row % QUERY_BLOCK);
    return SQLITE_OK;
}

static int query_filter_id(QueryCursor *cursor, int64_t id)
{
    if (id < 0 || id >= cursor->source->rows) {
        cursor->block = cursor->source->rows;
        return SQLITE_OK;
    }
    memset(cursor->columns, 0, sizeof cursor->columns);
    cursor->id = id;
    cursor->block = id / QUERY_BLOCK;
    cursor->at = 0;
    cursor->n_chosen = 1;
    cursor->chosen[0] = (uint32_t)(id % QUERY_BLOCK);
    return SQLITE_OK;
}

static int query_filter(sqlite3_vtab_cursor *base, int number, const char *text, int count, sqlite3_value **values)
{
    QueryCursor *cursor = (QueryCursor *)base;
    cursor->id = -1;
    cursor->n_conditions = 0;
    for (int i = 0; i < count; i++) {
        const int column = text[2 * i] - 'A', operation = text[2 * i + 1], type = sqlite3_value_numeric_type(values[i]);
        if (column == 0) return query_filter_id(cursor, sqlite3_value_int64(values[i]));
        if (operation != SQLITE_INDEX_CONSTRAINT_ISNOTNULL && type != SQLITE_INTEGER && type != SQLITE_FLOAT) continue;
        cursor->conditions[cursor->n_conditions++] = (Condition){column, operation, sqlite3_value_double(values[i])};
    }
    cursor->order = number > 0 ? number / 2 : -1;
    cursor->sign = number % 2 > 0 ? -1.0 : 1.0;
    cursor->block = -1;
    cursor->at = cursor->n_chosen = 0;
    if (cursor->order < 0) return query_settle(cursor);
    cursor->found_most = QUERY_FOUND;
    const int code = query_find(cursor, (Found){-INFINITY, -1});
    return code == SQLITE_OK ? query_stand(cursor) : code;
}

static int query_next(sqlite3_vtab_cursor *base)
{
    QueryCursor *cursor = (QueryCursor *)base;
    if (cursor->id < 0 && cursor->order >= 0) {
        cursor->found_at++;
        return query_stand(cursor);
    }
    cursor->at++;
    if (cursor->id >= 0) cursor->block = cursor->source->rows;
    return cursor->id >= 0 ? SQLITE_OK : query_settle(cursor);
}

static int query_eof(sqlite3_vtab_cursor *base) { return query_ended((QueryCursor *)base); }

static int query_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int c)
{
    QueryCursor *cursor = (QueryCursor *)base;
    const uint32_t row = cursor->chosen[cursor->at];
    if (c == 0) {
        sqlite3_result_int64(context, cursor->block * QUERY_BLOCK + row);
        return SQLITE_OK;
    }
    if (c == QUERY_TEXT) {
        sqlite3_result_text(context, "none", 4, SQLITE_STATIC);
        return SQLITE_OK;
    }
    const double *column = query_column_of(cursor, c);
    if (column == NULL) return SQLITE_IOERR;
    if (c < QUERY_INTEGERS)
        sqlite3_result_int64(context, (int64_t)column[row]);
    else
        sqlite3_result_double(context, column[row]); // NaN becomes NULL
    return SQLITE_OK;
}

static int query_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *id)
{
    const QueryCursor *cursor = (const QueryCursor *)base;
    *id = cursor->block * QUERY_BLOCK + cursor->chosen[cursor->at];
    return SQLITE_OK;
}

static const sqlite3_module query_module = {.xConnect = query_connect,
                                            .xBestIndex = query_plan,
                                            .xDisconnect = query_disconnect,
                                            .xOpen = query_open,
                                            .xClose = query_close,
                                            .xFilter = query_filter,
                                            .xNext = query_next,
                                            .xEof = query_eof,
                                            .xColumn = query_column,
                                            .xRowid = query_rowid};

// ---- making the data ------------------------------------------------------------------------------------------------

static Error query_make_rows(sqlite3 *database, int64_t rows)
{
    sqlite3_stmt *insert = NULL;
    TRY(query_run(database, "BEGIN"));
    TRY(query_sql(sqlite3_prepare_v2(database, "INSERT INTO trials VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)", -1,
                                     &insert, NULL),
                  database));
    for (int64_t i = 0; i < rows; i++) {
        for (int c = 0; c < QUERY_INTEGERS; c++) sqlite3_bind_int64(insert, c + 1, c == 0 ? i : 0);
        sqlite3_bind_text(insert, QUERY_TEXT + 1, "none", -1, SQLITE_STATIC);
        for (int c = QUERY_INTEGERS; c < QUERY_COLUMNS; c++) sqlite3_bind_double(insert, c + 1, query_value(i, c));
        const int code = sqlite3_step(insert);
        sqlite3_reset(insert);
        TRY(query_sql(code, database));
    }
    sqlite3_finalize(insert);
    return query_run(database, "COMMIT");
}

static Error query_make_block(sqlite3_stmt *insert, int file, const ColumnSource *source, int64_t block, double *values)
{
    const size_t bytes = QUERY_BLOCK * sizeof(double);
    for (int c = 0; c < QUERY_COLUMNS; c++) {
        for (int64_t i = 0; i < QUERY_BLOCK; i++)
            values[i] = c < QUERY_INTEGERS ? 0 : query_value(block * QUERY_BLOCK + i, c);
        if (write(file, values, bytes) != (ssize_t)bytes) return error_make(ERROR_MACHINE, "cannot write");
        sqlite3_bind_int64(insert, 1, block * QUERY_COLUMNS + c);
        sqlite3_bind_blob64(insert, 2, values, (size_t)query_rows(source, block) * sizeof(double), SQLITE_STATIC);
        const int code = sqlite3_step(insert);
        sqlite3_reset(insert);
        TRY(query_sql(code, source->database));
    }
    return error_none();
}

static Error query_make_blocks(const ColumnSource *source, int file)
{
    sqlite3_stmt *insert = NULL;
    double *values = malloc(QUERY_BLOCK * sizeof *values);
    Error error =
        values != NULL ? query_run(source->database, "BEGIN") : error_make(ERROR_MACHINE, "not enough memory");
    if (error.kind == OK)
        error = query_sql(sqlite3_prepare_v2(source->database, "INSERT INTO columns VALUES(?, ?)", -1, &insert, NULL),
                          source->database);
    for (int64_t b = 0; error.kind == OK && b * QUERY_BLOCK < source->rows; b++)
        error = query_make_block(insert, file, source, b, values);
    sqlite3_finalize(insert);
    free(values);
    return error.kind == OK ? query_run(source->database, "COMMIT") : error;
}

static const char query_tables[] =
    "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -32768;"
    "CREATE TABLE trials(id INTEGER PRIMARY KEY, search INTEGER NOT NULL, round INTEGER NOT NULL,"
    " failure TEXT NOT NULL, n_failed INTEGER NOT NULL, x0 REAL, x1 REAL, x2 REAL, x3 REAL, x4 REAL, x5 REAL,"
    " fitness REAL, m0 REAL, m1 REAL, m2 REAL, m3 REAL, m4 REAL, m5 REAL) STRICT;"
    "CREATE TABLE columns(id INTEGER PRIMARY KEY, data BLOB) STRICT;";

// ---- the queries ----------------------------------------------------------------------------------------------------

static const struct {
    const char *name, *sql; // %s: the table
    int repeats;
} queries[] = {
    {"best ten", "SELECT id, fitness FROM %s WHERE fitness IS NOT NULL ORDER BY fitness, id LIMIT 10", 1},
    {"two conditions (1/4), ten by fitness",
     "SELECT id, fitness, x0, x1 FROM %s WHERE x0 > 0.5 AND x1 < 0.5 AND fitness IS NOT NULL ORDER BY fitness LIMIT 10",
     1},
    {"two conditions (1/100), ten by fitness",
     "SELECT id, fitness, x0, x1 FROM %s WHERE x0 > 0.9 AND x1 < 0.1 AND fitness IS NOT NULL ORDER BY fitness LIMIT 10",
     1},
    {"the first 5,000 by a metric", "SELECT id, m0 FROM %s WHERE m0 IS NOT NULL ORDER BY m0 DESC LIMIT 5000", 1},
    {"count(*)", "SELECT count(*) FROM %s", 1},
    {"mean and greatest of two metrics", "SELECT avg(m0), max(m1) FROM %s", 1},
    {"all columns of a trial in a hundred", "SELECT * FROM %s WHERE x0 > 0.99", 1},
    {"a trial by id", "SELECT * FROM %s WHERE id = ?", 20},
};
enum { QUERIES = sizeof queries / sizeof *queries };

static int query_compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double query_median(double *seconds)
{
    qsort(seconds, QUERY_TIMES, sizeof *seconds, query_compare);
    return seconds[QUERY_TIMES / 2];
}

// Steps through the rows and takes every cell.
static Error query_once(sqlite3 *database, sqlite3_stmt *statement, int repeats, int64_t rows, double *sum)
{
    int code = SQLITE_DONE;
    for (int r = 0; r < repeats && code == SQLITE_DONE; r++) {
        if (repeats > 1) sqlite3_bind_int64(statement, 1, (int64_t)(query_value(r, 0) * (double)rows));
        while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
            for (int c = 0; c < sqlite3_data_count(statement); c++) *sum += sqlite3_column_double(statement, c);
        }
        sqlite3_reset(statement);
    }
    return query_sql(code, database);
}

static Error query_time(sqlite3 *database, const char *table, int q, int64_t rows, double *seconds, double *sum)
{
    char sql[256];
    double times[QUERY_TIMES + 1];
    sqlite3_stmt *statement = NULL;
    snprintf(sql, sizeof sql, queries[q].sql, table);
    TRY(query_sql(sqlite3_prepare_v2(database, sql, -1, &statement, NULL), database));
    Error error = error_none();
    for (int i = 0; error.kind == OK && i <= QUERY_TIMES; i++) {
        const double start = clock_seconds();
        *sum = 0;
        error = query_once(database, statement, queries[q].repeats, rows, sum);
        times[i] = (clock_seconds() - start) / queries[q].repeats;
    }
    sqlite3_finalize(statement);
    *seconds = query_median(times + 1);
    return error;
}

// Ten of the least, by looking through the column: what `best` needs.
static double query_best_of_column(const ColumnSource *source)
{
    double times[QUERY_TIMES], sum = 0;
    for (int t = 0; t < QUERY_TIMES; t++) {
        double best[QUERY_BEST];
        const double start = clock_seconds();
        for (int i = 0; i < QUERY_BEST; i++) best[i] = INFINITY;
        for (int64_t b = 0; b * QUERY_BLOCK < source->rows; b++) {
            const double *fitness = &source->map[(b * QUERY_COLUMNS + QUERY_FITNESS) * QUERY_BLOCK];
            for (int64_t i = 0; i < query_rows(source, b); i++) {
                if (!(fitness[i] < best[QUERY_BEST - 1])) continue;
                int at = QUERY_BEST - 1;
                for (; at > 0 && fitness[i] < best[at - 1]; at--) best[at] = best[at - 1];
                best[at] = fitness[i];
            }
        }
        sum += best[0];
        times[t] = clock_seconds() - start;
    }
    return sum >= 0 ? query_median(times) : 0;
}

static Error query_table(sqlite3 *database, int64_t rows)
{
    static const char *const tables[] = {"trials NOT INDEXED", "trials", "blobs", "plain", "blocks"};
    printf("%-40s %10s %10s %10s %10s %10s\n", "seconds", "rows", "index", "blobs", "by SQLite", "file");
    for (int q = 0; q < QUERIES; q++) {
        double first = 0;
        printf("%-40s", queries[q].name);
        for (int t = 0; t < 5; t++) {
            double seconds = 0, sum = 0;
            TRY(query_time(database, tables[t], q, rows, &seconds, &sum));
            if (t == 0) first = sum;
            printf(" %10.6f%s", seconds, fabs(sum - first) <= 1e-9 * fabs(first) ? "" : " WRONG");
            fflush(stdout);
        }
        printf("\n");
    }
    return error_none();
}

static Error query_all(sqlite3 *database, int file, int64_t rows)
{
    ColumnSource blobs = {.database = database, .rows = rows, .selects = true};
    const size_t bytes =
        (size_t)((rows + QUERY_BLOCK - 1) / QUERY_BLOCK) * QUERY_BLOCK * QUERY_COLUMNS * sizeof(double);
    TRY(query_run(database, query_tables));
    TRY(query_make_rows(database, rows));
    TRY(query_make_blocks(&blobs, file));
    double start = clock_seconds();
    TRY(query_run(database, "PRAGMA cache_size = -2048; CREATE INDEX trials_by_fitness ON trials(fitness);"
                            "PRAGMA cache_size = -32768"));
    printf("%lld rows; the index of fitness takes %.2f s\n", (long long)rows, clock_seconds() - start);
    void *map = mmap(NULL, bytes, PROT_READ, MAP_SHARED, file, 0);
    if (map == MAP_FAILED) return error_make(ERROR_MACHINE, "cannot map the file");
    ColumnSource plain = {.map = map, .rows = rows}, columns = {.map = map, .rows = rows, .selects = true};
    TRY(query_sql(sqlite3_create_module(database, "blobs", &query_module, &blobs), database));
    TRY(query_sql(sqlite3_create_module(database, "plain", &query_module, &plain), database));
    TRY(query_sql(sqlite3_create_module(database, "blocks", &query_module, &columns), database));
    const Error error = query_table(database, rows);
    printf("best ten by a loop over the column: %.6f s\n", query_best_of_column(&columns));
    munmap(map, bytes);
    return error;
}

int main(int argc, char **argv)
{
    char path[512], file_path[512];
    const char *folder = argc > 1 ? argv[1] : ".";
    sqlite3 *database = NULL;
    snprintf(path, sizeof path, "%s/column_queries.db", folder);
    snprintf(file_path, sizeof file_path, "%s/column_queries.columns", folder);
    remove(path);
    sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0); // as in the program
    const int file = open(file_path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    Error error = file >= 0 ? query_sql(sqlite3_open(path, &database), database) : error_make(ERROR_MACHINE, "no file");
    if (error.kind == OK) error = query_all(database, file, argc > 2 ? strtoll(argv[2], NULL, 10) : 1000000);
    sqlite3_close(database);
    close(file);
    remove(path);
    remove(file_path);
    if (error.kind != OK) fprintf(stderr, "%s\n", error.text);
    return error.kind == OK ? 0 : 1;
}
