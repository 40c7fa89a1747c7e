// What queries of trials cost from rows of SQLite, with and without an index of fitness, and from blocks of columns.
// Medians of five, after one that is not counted; everything is in the file cache if it fits.
//     column_queries [FOLDER [ROWS]]        FOLDER: where the files are made and removed again; ROWS: 1,000,000
#include "../../runner/campaign/store/trials/blocks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// id, search, round, failure (text), n_failed, x0 to x5, fitness, m0 to m5
enum { QUERY_COLUMNS = 18, QUERY_TEXT = 3, QUERY_INTEGERS = 5, QUERY_BLOCK = 100000, QUERY_TIMES = 5 };

static const char *const query_words[] = {"none", "fell", "unknown"};
#define INTEGER(text)                                                                                                  \
    {                                                                                                                  \
        .field = {.name = text}, .type = NUMBER_INTEGER                                                                \
    }
#define REAL(text)                                                                                                     \
    {                                                                                                                  \
        .field = {.name = text}, .type = NUMBER_REAL                                                                   \
    }
static const NumberColumn query_columns[QUERY_COLUMNS] = {
    INTEGER("id"),       INTEGER("search"),
    INTEGER("round"),    {.field = {.name = "failure"}, .type = NUMBER_INTEGER, .words = query_words, .n_words = 3},
    INTEGER("n_failed"), REAL("x0"),
    REAL("x1"),          REAL("x2"),
    REAL("x3"),          REAL("x4"),
    REAL("x5"),          REAL("fitness"),
    REAL("m0"),          REAL("m1"),
    REAL("m2"),          REAL("m3"),
    REAL("m4"),          REAL("m5")};
#undef INTEGER
#undef REAL

typedef union QueryCell {
    double real;
    int64_t integer;
} QueryCell;

typedef struct QueryData {
    const char *folder;
    int64_t rows, n_blocks;
    BlockRecord *records; // [n_blocks]
    ColumnLayout *places; // [n_blocks][QUERY_COLUMNS]
    char (*names)[32];    // [n_blocks]
} QueryData;

// Uniform in [0, 1): the finalizer of splitmix64.
static double query_value(int64_t row, int column)
{
    uint64_t z = ((uint64_t)row * QUERY_COLUMNS + (uint64_t)column) * 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

static QueryCell query_cell(int64_t row, int column)
{
    if (column == 0) return (QueryCell){.integer = row};
    if (column == QUERY_TEXT) return (QueryCell){.integer = query_value(row, column) < 0.1};
    return column < QUERY_INTEGERS ? (QueryCell){.integer = 0} : (QueryCell){.real = query_value(row, column)};
}

static void *query_take(size_t count, size_t size)
{
    void *memory = calloc(count, size);
    if (memory == NULL) abort();
    return memory;
}

// ---- making the data ------------------------------------------------------------------------------------------------

static Error query_make_rows(Database *database, int64_t rows)
{
    Statement *insert;
    bool row;
    TRY(database_prepare(database, "INSERT INTO plain VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)", &insert));
    Error error = database_run(database, "BEGIN");
    for (int64_t i = 0; error.kind == OK && i < rows; i++) {
        for (int c = 0; c < QUERY_COLUMNS; c++) {
            const QueryCell cell = query_cell(i, c);
            if (c == QUERY_TEXT)
                bind_text(insert, c + 1, query_words[cell.integer]);
            else if (c < QUERY_INTEGERS)
                bind_integer(insert, c + 1, cell.integer);
            else
                bind_real(insert, c + 1, cell.real);
        }
        error = statement_step(insert, &row);
    }
    statement_close(insert);
    return error.kind == OK ? database_run(database, "COMMIT") : error;
}

static Error query_make_block(ShardTableWriter *writer, QueryData *data, int64_t b, QueryCell *cells)
{
    const void *values[QUERY_COLUMNS];
    BlockRecord *record = &data->records[b];
    const int64_t first = b * QUERY_BLOCK, left = data->rows - first, rows = left < QUERY_BLOCK ? left : QUERY_BLOCK;
    ColumnLayout *places = &data->places[b * QUERY_COLUMNS];
    for (int c = 0; c < QUERY_COLUMNS; c++) {
        values[c] = &cells[c * QUERY_BLOCK];
        for (int64_t i = 0; i < rows; i++) cells[c * QUERY_BLOCK + i] = query_cell(first + i, c);
    }
    snprintf(data->names[b], sizeof data->names[b], "%06lld.h5", (long long)b);
    *record = (BlockRecord){.span = {.first = first, .last = first + rows - 1, .rows = rows}, .name = data->names[b]};
    record->columns = (Bytes){(unsigned char *)places, QUERY_COLUMNS * sizeof *places};
    ShardTableFile written = {.bytes = 0};
    shard_table_encode(writer, NULL, rows, values, places);
    const Error error = shard_table_write(writer, data->folder, data->names[b], rows, places, &written);
    record->bytes = written.bytes;
    record->seal = blocks_seal(&record->span, record->bytes, 0, places, QUERY_COLUMNS);
    return error;
}

static Error query_make_blocks(QueryData *data)
{
    const ShardTable table = {.group = "trials", .columns = query_columns, .n_columns = QUERY_COLUMNS};
    ShardTableWriter *writer;
    QueryCell *cells = query_take((size_t)QUERY_BLOCK * QUERY_COLUMNS, sizeof *cells);
    TRY(shard_table_open(&table, &writer));
    Error error = error_none();
    for (int64_t b = 0; error.kind == OK && b < data->n_blocks; b++) error = query_make_block(writer, data, b, cells);
    shard_table_close(writer);
    free(cells);
    return error;
}

static const char query_sql[] =
    "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"
    "CREATE TABLE plain(id INTEGER PRIMARY KEY, search INTEGER NOT NULL, round INTEGER NOT NULL,"
    " failure TEXT NOT NULL, n_failed INTEGER NOT NULL, x0 REAL, x1 REAL, x2 REAL, x3 REAL, x4 REAL, x5 REAL,"
    " fitness REAL, m0 REAL, m1 REAL, m2 REAL, m3 REAL, m4 REAL, m5 REAL) STRICT;";

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
    {"the first 5,000, all columns", "SELECT * FROM %s WHERE m0 IS NOT NULL ORDER BY m0 DESC LIMIT 5000", 1},
    {"100,000 in an order", "SELECT id, m0 FROM %s WHERE id < 100000 ORDER BY m0, id", 1},
    {"best ten of a failure", "SELECT id, m1 FROM %s WHERE failure = 'fell' ORDER BY m1, id LIMIT 10", 1},
    {"failures", "SELECT failure, count(*) FROM %s WHERE failure <> 'none' GROUP BY failure", 1},
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
static Error query_once(Statement *statement, int repeats, int64_t rows, double *sum)
{
    for (int r = 0; r < repeats; r++) {
        bool row = true;
        if (repeats > 1) bind_integer(statement, 1, (int64_t)(query_value(r, 0) * (double)rows));
        while (true) {
            TRY(statement_step(statement, &row));
            if (!row) break;
            for (int c = 0; c < column_count(statement); c++) {
                const ColumnKind kind = column_kind(statement, c);
                if (kind == COLUMN_INTEGER || kind == COLUMN_REAL) *sum += column_real(statement, c);
            }
        }
    }
    return error_none();
}

static Error query_time(Database *database, const char *table, int q, int64_t rows, double *seconds, double *sum)
{
    char sql[256];
    double times[QUERY_TIMES + 1];
    Statement *statement = NULL;
    snprintf(sql, sizeof sql, queries[q].sql, table);
    TRY(database_prepare(database, sql, &statement));
    Error error = error_none();
    for (int i = 0; error.kind == OK && i <= QUERY_TIMES; i++) {
        const double start = clock_seconds();
        *sum = 0;
        error = query_once(statement, queries[q].repeats, rows, sum);
        times[i] = (clock_seconds() - start) / queries[q].repeats;
    }
    statement_close(statement);
    *seconds = query_median(times + 1);
    return error;
}

static Error query_table(Database *database, int64_t rows)
{
    static const char *const tables[] = {"plain NOT INDEXED", "plain", "trials"};
    printf("%-40s %10s %10s %10s\n", "seconds", "rows", "index", "blocks");
    for (int q = 0; q < QUERIES; q++) {
        double first = 0;
        printf("%-40s", queries[q].name);
        for (int t = 0; t < 3; t++) {
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

static Error query_all(Database *database, QueryData *data)
{
    Blocks *blocks;
    TRY(database_run(database, query_sql));
    TRY(query_make_rows(database, data->rows));
    TRY(query_make_blocks(data));
    const double start = clock_seconds();
    TRY(database_make_index(database, "CREATE INDEX trials_by_fitness ON plain(fitness)"));
    printf("%lld rows; the index of fitness takes %.2f s\n", (long long)data->rows, clock_seconds() - start);
    TRY(blocks_open(data->folder, query_columns, QUERY_COLUMNS, data->records, data->n_blocks, "", &blocks));
    TRY(blocks_table(blocks, database));
    return query_table(database, data->rows);
}

int main(int argc, char **argv)
{
    char path[512];
    QueryData data = {.folder = argc > 1 ? argv[1] : ".", .rows = argc > 2 ? strtoll(argv[2], NULL, 10) : 1000000};
    Database *database = NULL;
    data.n_blocks = (data.rows + QUERY_BLOCK - 1) / QUERY_BLOCK;
    const size_t n = (size_t)data.n_blocks;
    data.records = query_take(n, sizeof *data.records);
    data.places = query_take(n * QUERY_COLUMNS, sizeof *data.places);
    data.names = query_take(n, sizeof *data.names);
    snprintf(path, sizeof path, "%s/column_queries.db", data.folder);
    remove(path);
    Error error = database_open(path, DATABASE_WRITE, &database);
    if (error.kind == OK) error = query_all(database, &data);
    if (error.kind != OK) fprintf(stderr, "%s\n", error.text);
    if (database != NULL) (void)database_close(database);
    remove(path);
    for (size_t b = 0; b < n; b++) {
        snprintf(path, sizeof path, "%s/%s", data.folder, data.names[b]);
        if (data.names[b][0] != '\0') remove(path);
    }
    return error.kind == OK ? 0 : 1;
}
