// Cost of the digests of rows: 1,000,000 trials of 18 columns, 100,000 per transaction, with and without digests; CPU
// seconds, best of three.
//     row_digests [FOLDER [ROWS]]        FOLDER: where the databases are made and removed again; the current one
#include "../../runner/campaign/store/commit/seal.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BENCH_COLUMNS = 18, BENCH_ROWS_A_TRANSACTION = 100000, BENCH_TIMES = 3 };

// Of the processor: on a machine that does other things too, the clock on the wall measures those.
static double bench_seconds(void) { return (double)clock() / (double)CLOCKS_PER_SEC; }

static const char bench_tables[] =
    "CREATE TABLE trials (id INTEGER PRIMARY KEY, search INTEGER NOT NULL, round INTEGER NOT NULL,"
    " failure TEXT NOT NULL, n_failed INTEGER NOT NULL, fitness REAL,"
    " p0 REAL, p1 REAL, p2 REAL, p3 REAL, p4 REAL, p5 REAL, m0 REAL, m1 REAL, m2 REAL, m3 REAL,"
    " m4 REAL, m5 REAL) STRICT;"
    "CREATE TABLE digests(name TEXT NOT NULL, block INTEGER NOT NULL, rows INTEGER NOT NULL,"
    " digest INTEGER NOT NULL, PRIMARY KEY(name, block)) STRICT, WITHOUT ROWID";

static uint64_t bench_digest(int64_t id)
{
    uint64_t digest = row_digest_integer(row_digest_integer(row_digest_integer(0, id), 0), 0);
    digest = row_digest_integer(row_digest_text(digest, "none", 4), 0);
    for (int i = 6; i <= BENCH_COLUMNS; i++) digest = row_digest_real(digest, (double)(id * i) * 1.000123e-3);
    return digest;
}

static Error bench_insert(Statement *insert, Cursor *add, SealTally *tally, int64_t id)
{
    bool row;
    bind_integer(insert, 1, id);
    bind_integer(insert, 2, 0);
    bind_integer(insert, 3, 0);
    bind_text(insert, 4, "none");
    bind_integer(insert, 5, 0);
    for (int i = 6; i <= BENCH_COLUMNS; i++) bind_real(insert, i, (double)(id * i) * 1.000123e-3);
    if (add != NULL) TRY(seal_count(add, tally, seal_range(id), bench_digest(id)));
    return statement_step(insert, &row);
}

static Error bench_transaction(Database *database, Statement *insert, Cursor *add, int64_t first, int64_t end)
{
    SealTally tally = {.name = "trials"};
    TRY(database_run(database, "BEGIN IMMEDIATE"));
    for (int64_t id = first; id < end; id++) TRY(bench_insert(insert, add, &tally, id));
    if (add != NULL) TRY(seal_flush(add, &tally));
    return database_run(database, "COMMIT");
}

// Rows a second of the processor, of commits alone.
static Error bench_rows(Database *database, int64_t rows, bool digests, double *rate)
{
    Statement *insert;
    Cursor counted = {.statement = NULL}, *add = NULL;
    TRY(database_run(database, bench_tables));
    TRY(database_prepare(database, "INSERT INTO trials VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)", &insert));
    if (digests) {
        counted = cursor_open(database, seal_add_sql);
        add = &counted;
    }
    const double start = bench_seconds();
    for (int64_t id = 0; id < rows; id += BENCH_ROWS_A_TRANSACTION) {
        const int64_t end = id + BENCH_ROWS_A_TRANSACTION < rows ? id + BENCH_ROWS_A_TRANSACTION : rows;
        TRY(bench_transaction(database, insert, add, id, end));
    }
    *rate = (double)rows / (bench_seconds() - start);
    statement_close(insert);
    return cursor_close(&counted);
}

static Error bench_best(const char *path, int64_t rows, bool digests, double *best)
{
    for (int i = 0; i < BENCH_TIMES; i++) {
        Database *database;
        double rate = 0;
        TRY(database_open(path, DATABASE_WRITE, &database));
        const Error error = bench_rows(database, rows, digests, &rate);
        const Error closing = database_close(database);
        remove(path);
        if (error.kind != OK) return error;
        TRY(closing);
        if (rate > *best) *best = rate;
    }
    return error_none();
}

// What the digests themselves take, without SQLite.
static double bench_digest_seconds(int64_t rows)
{
    uint64_t sum = 0;
    const double start = bench_seconds();
    for (int64_t id = 0; id < rows; id++) sum ^= bench_digest(id);
    const double seconds = bench_seconds() - start;
    return sum != 0 ? seconds : 0;
}

int main(int argc, char **argv)
{
    char path[512];
    const int64_t rows = argc > 2 ? strtoll(argv[2], NULL, 10) : 1000000;
    double with = 0, without = 0;
    snprintf(path, sizeof path, "%s/row_digests.db", argc > 1 ? argv[1] : ".");
    Error error = bench_best(path, rows, false, &without);
    if (error.kind == OK) error = bench_best(path, rows, true, &with);
    if (error.kind != OK) fprintf(stderr, "%s\n", error.text);
    printf("%lld rows of %d columns: %.0f rows/s without digests in blocks, %.0f rows/s with; ", (long long)rows,
           BENCH_COLUMNS, without, with);
    printf("the digest of a row takes %.0f ns\n", 1e9 * bench_digest_seconds(rows) / (double)rows);
    return error.kind == OK ? 0 : 1;
}
