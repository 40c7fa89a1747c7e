// Rows per second into a table like `trials` through io/database.c: a million rows of 18 columns (id, search, round, 6
// parameters, fitness, failure, n_failed, 6 metrics), 100,000 per transaction, every commit synced.
//     sqlite_rows [FOLDER [ROWS]]        FOLDER: where the database is made and removed again; the current one
#include "../../io/io.h"

#include <stdlib.h>
#include <string.h>

enum { BENCH_REALS = 12, BENCH_ROWS_A_TRANSACTION = 100000 };

static const char bench_table[] =
    "CREATE TABLE trials (id INTEGER PRIMARY KEY, search INTEGER NOT NULL, round INTEGER NOT NULL,"
    " failure TEXT NOT NULL, n_failed INTEGER NOT NULL, fitness REAL,"
    " p0 REAL, p1 REAL, p2 REAL, p3 REAL, p4 REAL, p5 REAL, m0 REAL, m1 REAL, m2 REAL, m3 REAL,"
    " m4 REAL, m5 REAL) STRICT";

static Error bench_insert(Statement *insert, int64_t id)
{
    bool row;
    bind_integer(insert, 1, id);
    bind_integer(insert, 2, 0);
    bind_integer(insert, 3, 0);
    bind_text(insert, 4, "none");
    bind_integer(insert, 5, 0);
    for (int i = 0; i <= BENCH_REALS; i++) bind_real(insert, 6 + i, (double)(id * (i + 1)) * 1.000123e-3);
    return statement_step(insert, &row);
}

static Error bench_rows(Database *database, int64_t rows)
{
    Statement *insert;
    TRY(database_run(database, bench_table));
    TRY(database_prepare(database, "INSERT INTO trials VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)", &insert));
    for (int64_t id = 0; id < rows;) {
        TRY(database_run(database, "BEGIN IMMEDIATE"));
        for (int64_t end = id + BENCH_ROWS_A_TRANSACTION; id < end && id < rows; id++) TRY(bench_insert(insert, id));
        TRY(database_run(database, "COMMIT"));
    }
    statement_close(insert);
    return error_none();
}

static Error bench_run(const char *path, int64_t rows)
{
    Database *database;
    TRY(database_open(path, DATABASE_WRITE, &database));
    const double start = clock_seconds();
    TRY(bench_rows(database, rows));
    const double committed = clock_seconds();
    TRY(database_close(database));
    const double closed = clock_seconds();
    printf("%lld rows of 18 columns: %.0f rows/s committed, %.0f rows/s with the closing checkpoint\n", (long long)rows,
           (double)rows / (committed - start), (double)rows / (closed - start));
    return error_none();
}

int main(int argc, char **argv)
{
    char path[512];
    snprintf(path, sizeof path, "%s/sqlite_rows.db", argc > 1 ? argv[1] : ".");
    if (file_exists(path)) remove(path);
    const Error error = bench_run(path, argc > 2 ? strtoll(argv[2], NULL, 10) : 1000000);
    remove(path);
    if (error.kind != OK) fprintf(stderr, "%s\n", error.text);
    return error.kind == OK ? 0 : 1;
}
