// What it costs to commit the rows of `trials` in different ways: as rows of SQLite, as blobs of columns in SQLite, as
// shards of HDF5, and as bare bytes in files. A batch is on the disk when its commit returns, except where a name says
// so. The ways take turns; medians over all rounds.
//     row_ways [FOLDER [ROWS [BATCH [ROUNDS [WORD]...]]]]
// FOLDER: where files are made and removed again (the current one). ROWS: 300,000. BATCH: rows per transaction or
// file, 100,000, a multiple of 1,000. ROUNDS: 3. WORD: only the ways with one of these words in their names, beside the
// first.
#include "../../io/io.h"

#include <fcntl.h>
#include <hdf5.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

// Columns: id, search, round, failure (text), n_failed, then reals. In columns of doubles each takes 8 bytes.
enum { WAYS_TEXT = 3, WAYS_INTEGERS = 5, WAYS_COLUMNS = 18, WAYS_COLUMNS_MAX = 48, WAYS_ROUNDS_MAX = 31 };

typedef struct RowBatch {
    int64_t first, rows;
    int columns;
    double *values;    // [columns][rows]; of the integers and the text only their sizes count
    uint64_t *digests; // [rows]
} RowBatch;

typedef struct Run Run;

typedef struct Way {
    const char *name;
    Error (*commit)(const Run *run, const RowBatch *batch);
    const char *settings; // of the database; NULL: none
    int columns, per_statement;
} Way;

// A way while it is timed, and the seconds of each round.
struct Run {
    const Way *way;
    const char *folder;
    sqlite3 *database;
    sqlite3_stmt *insert;
    int file;
    double wall[WAYS_ROUNDS_MAX], processor[WAYS_ROUNDS_MAX], closed[WAYS_ROUNDS_MAX], ratio[WAYS_ROUNDS_MAX];
};

static Error ways_sql(int code, sqlite3 *database)
{
    const bool good = code == SQLITE_OK || code == SQLITE_DONE || code == SQLITE_ROW;
    return good ? error_none() : error_make(ERROR_MACHINE, "SQLite: %s", sqlite3_errmsg(database));
}

// ---- files ----------------------------------------------------------------------------------------------------------

static void ways_file_name(const RowBatch *batch, char *name, size_t size)
{
    snprintf(name, size, "%09lld.h5", (long long)batch->first);
}

static size_t ways_bytes(const RowBatch *batch)
{
    return (size_t)batch->rows * (size_t)batch->columns * sizeof(double);
}

static Error ways_commit_file(const Run *run, const RowBatch *batch)
{
    char name[32];
    ways_file_name(batch, name, sizeof name);
    return file_write(run->folder, name, batch->values, ways_bytes(batch));
}

static Error ways_commit_appended(const Run *run, const RowBatch *batch)
{
    const char *bytes = (const char *)batch->values;
    for (size_t done = 0; done < ways_bytes(batch);) {
        const ssize_t n = write(run->file, bytes + done, ways_bytes(batch) - done);
        if (n <= 0) return error_make(ERROR_MACHINE, "cannot append");
        done += (size_t)n;
    }
    return fdatasync(run->file) == 0 ? error_none() : error_make(ERROR_MACHINE, "cannot sync");
}

static Error ways_commit_sha256(const Run *run, const RowBatch *batch)
{
    (void)run;
    return sha256_of(batch->values, ways_bytes(batch)).hex[0] != 0 ? error_none() : error_make(ERROR_MACHINE, "bug");
}

// The digests of io/row_digest.c, value by value.
static Error ways_commit_digests(const Run *run, const RowBatch *batch)
{
    uint64_t sum = 0;
    (void)run;
    for (int64_t i = 0; i < batch->rows; i++) {
        uint64_t digest = row_digest_integer(row_digest_integer(row_digest_integer(0, batch->first + i), 0), 0);
        digest = row_digest_integer(row_digest_text(digest, "none", 4), 0);
        for (int c = WAYS_INTEGERS; c < batch->columns; c++)
            digest = row_digest_real(digest, batch->values[c * batch->rows + i]);
        sum ^= digest;
    }
    return sum != 0 ? error_none() : error_make(ERROR_MACHINE, "bug");
}

// Column by column, as a commit does it
static Error ways_commit_digests_of_columns(const Run *run, const RowBatch *batch)
{
    uint64_t sum = 0, *digests = batch->digests;
    (void)run;
    memset(digests, 0, (size_t)batch->rows * sizeof *digests);
    for (int c = 0; c < batch->columns; c++) row_digest_reals(digests, &batch->values[c * batch->rows], batch->rows);
    for (int64_t i = 0; i < batch->rows; i++) sum ^= digests[i];
    return sum != 0 ? error_none() : error_make(ERROR_MACHINE, "bug");
}

// A dataset per column, contiguous.
static bool ways_shard(const RowBatch *batch, hid_t file)
{
    const hsize_t rows = (hsize_t)batch->rows;
    const hid_t group = H5Gcreate2(file, "trials", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t space = H5Screate_simple(1, &rows, NULL), create = H5Pcreate(H5P_DATASET_CREATE);
    bool good = H5Pset_obj_track_times(create, 0) >= 0 && H5Pset_alloc_time(create, H5D_ALLOC_TIME_EARLY) >= 0 &&
                H5Pset_fill_time(create, H5D_FILL_TIME_NEVER) >= 0;
    for (int c = 0; c < batch->columns; c++) {
        char name[16];
        snprintf(name, sizeof name, "c%d", c);
        const hid_t data = H5Dcreate2(group, name, H5T_IEEE_F64LE, space, H5P_DEFAULT, create, H5P_DEFAULT);
        const double *values = &batch->values[c * batch->rows];
        good = H5Dwrite(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0 && good;
        good = H5Dclose(data) >= 0 && good;
    }
    good = H5Pclose(create) >= 0 && good;
    good = H5Sclose(space) >= 0 && good;
    return H5Gclose(group) >= 0 && good && H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0;
}

// The file as HDF5 makes it in memory, as the program makes its shards. The caller frees it.
static Error ways_image(const RowBatch *batch, Bytes *image)
{
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    bool good = H5Pset_fapl_core(access, (size_t)16 << 20, 0) >= 0;
    const hid_t file = H5Fcreate("memory", H5F_ACC_TRUNC, H5P_DEFAULT, access);
    good = good && ways_shard(batch, file);
    const ssize_t size = H5Fget_file_image(file, NULL, 0);
    *image = (Bytes){.data = good && size > 0 ? malloc((size_t)size) : NULL, .size = (size_t)size};
    good = image->data != NULL && H5Fget_file_image(file, image->data, image->size) == size;
    good = H5Fclose(file) >= 0 && good;
    good = H5Pclose(access) >= 0 && good;
    return good ? error_none() : error_make(ERROR_MACHINE, "HDF5 failed");
}

static Error ways_commit_shard(const Run *run, const RowBatch *batch)
{
    char name[32];
    Bytes image = {0};
    ways_file_name(batch, name, sizeof name);
    Error error = ways_image(batch, &image);
    if (error.kind == OK) error = file_write(run->folder, name, image.data, image.size);
    free(image.data);
    return error;
}

// As the program writes blocks (io/shard_columns.c).
static Error ways_commit_parts(const Run *run, const RowBatch *batch)
{
    static ShardTableWriter *writer;
    static NumberColumn columns[WAYS_COLUMNS];
    static const ShardTable table = {.group = "trials", .columns = columns, .n_columns = WAYS_COLUMNS};
    static char names[WAYS_COLUMNS][16];
    const void *values[WAYS_COLUMNS];
    ColumnLayout places[WAYS_COLUMNS];
    ShardTableFile written;
    char name[32];
    for (int c = 0; c < WAYS_COLUMNS; c++) {
        snprintf(names[c], sizeof names[c], "c%d", c);
        columns[c] = (NumberColumn){.field = {.name = names[c]}, .type = NUMBER_REAL};
        values[c] = &batch->values[c * batch->rows];
    }
    if (writer == NULL) TRY(shard_table_open(&table, &writer));
    ways_file_name(batch, name, sizeof name);
    shard_table_encode(writer, NULL, batch->rows, values, places);
    return shard_table_write(writer, run->folder, name, batch->rows, places, &written);
}

// ---- SQLite ---------------------------------------------------------------------------------------------------------

static Error ways_run(const Run *run, const char *sql)
{
    return ways_sql(sqlite3_exec(run->database, sql, NULL, NULL, NULL), run->database);
}

static Error ways_step(const Run *run)
{
    const int code = sqlite3_step(run->insert);
    sqlite3_reset(run->insert);
    return ways_sql(code, run->database);
}

static void ways_bind_row(const Run *run, const RowBatch *batch, int64_t row, int at)
{
    sqlite3_bind_int64(run->insert, at + 1, batch->first + row);
    for (int c = 1; c < batch->columns; c++) {
        if (c == WAYS_TEXT)
            sqlite3_bind_text(run->insert, at + 1 + c, "none", -1, SQLITE_STATIC);
        else if (c < WAYS_INTEGERS)
            sqlite3_bind_int64(run->insert, at + 1 + c, 0);
        else
            sqlite3_bind_double(run->insert, at + 1 + c, batch->values[c * batch->rows + row]);
    }
}

static Error ways_commit_rows(const Run *run, const RowBatch *batch)
{
    TRY(ways_run(run, "BEGIN IMMEDIATE"));
    for (int64_t i = 0; i < batch->rows; i += run->way->per_statement) {
        for (int k = 0; k < run->way->per_statement; k++) ways_bind_row(run, batch, i + k, k * batch->columns);
        TRY(ways_step(run));
    }
    return ways_run(run, "COMMIT");
}

static Error ways_commit_in_one(const Run *run, const RowBatch *batch)
{
    (void)batch;
    TRY(ways_run(run, "BEGIN IMMEDIATE"));
    TRY(ways_step(run));
    return ways_run(run, "COMMIT");
}

static Error ways_commit_blob(const Run *run, const RowBatch *batch)
{
    TRY(ways_run(run, "BEGIN IMMEDIATE"));
    sqlite3_bind_int64(run->insert, 1, batch->first);
    sqlite3_bind_int64(run->insert, 2, batch->rows);
    sqlite3_bind_blob64(run->insert, 3, batch->values, ways_bytes(batch), SQLITE_STATIC);
    TRY(ways_step(run));
    return ways_run(run, "COMMIT");
}

// ---- a virtual table of the rows of a batch: one statement inserts them all -----------------------------------------

typedef struct WaysTable {
    sqlite3_vtab base;
    const RowBatch *batch;
} WaysTable;
typedef struct WaysCursor {
    sqlite3_vtab_cursor base;
    int64_t row;
} WaysCursor;

static void ways_columns(char *text, size_t size, int columns, bool types)
{
    size_t used = 0;
    for (int c = 0; c < columns; c++) {
        const char *type = c == 0 ? " INTEGER PRIMARY KEY" : c == WAYS_TEXT ? " TEXT NOT NULL" : " INTEGER NOT NULL";
        if (c >= WAYS_INTEGERS) type = " REAL";
        used += (size_t)snprintf(text + used, size - used, "%sc%d%s", c > 0 ? ", " : "", c, types ? type : "");
    }
}

static int ways_connect(sqlite3 *database, void *batch, int count, const char *const *arguments, sqlite3_vtab **out,
                        char **error)
{
    char columns[2048], sql[2100];
    (void)count, (void)arguments, (void)error;
    ways_columns(columns, sizeof columns, ((const RowBatch *)batch)->columns, false);
    snprintf(sql, sizeof sql, "CREATE TABLE batch(%s)", columns);
    WaysTable *table = sqlite3_malloc(sizeof *table);
    if (table == NULL) return SQLITE_NOMEM;
    *table = (WaysTable){.batch = batch};
    *out = &table->base;
    return sqlite3_declare_vtab(database, sql);
}

static int ways_disconnect(sqlite3_vtab *table)
{
    sqlite3_free(table);
    return SQLITE_OK;
}

static int ways_plan(sqlite3_vtab *table, sqlite3_index_info *plan)
{
    (void)table;
    plan->estimatedCost = 1e6;
    return SQLITE_OK;
}

static int ways_open(sqlite3_vtab *table, sqlite3_vtab_cursor **out)
{
    WaysCursor *cursor = sqlite3_malloc(sizeof *cursor);
    (void)table;
    if (cursor == NULL) return SQLITE_NOMEM;
    *cursor = (WaysCursor){.row = 0};
    *out = &cursor->base;
    return SQLITE_OK;
}

static int ways_close(sqlite3_vtab_cursor *cursor)
{
    sqlite3_free(cursor);
    return SQLITE_OK;
}

static int ways_filter(sqlite3_vtab_cursor *cursor, int number, const char *text, int count, sqlite3_value **values)
{
    (void)number, (void)text, (void)count, (void)values;
    ((WaysCursor *)cursor)->row = 0;
    return SQLITE_OK;
}

static int ways_next(sqlite3_vtab_cursor *cursor)
{
    ((WaysCursor *)cursor)->row++;
    return SQLITE_OK;
}

static int ways_eof(sqlite3_vtab_cursor *cursor)
{
    return ((WaysCursor *)cursor)->row >= ((WaysTable *)cursor->pVtab)->batch->rows;
}

static int ways_column(sqlite3_vtab_cursor *cursor, sqlite3_context *context, int c)
{
    const RowBatch *batch = ((WaysTable *)cursor->pVtab)->batch;
    const int64_t row = ((WaysCursor *)cursor)->row;
    if (c >= WAYS_INTEGERS)
        sqlite3_result_double(context, batch->values[c * batch->rows + row]);
    else if (c == WAYS_TEXT)
        sqlite3_result_text(context, "none", 4, SQLITE_STATIC);
    else
        sqlite3_result_int64(context, c == 0 ? batch->first + row : 0);
    return SQLITE_OK;
}

static int ways_rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *id)
{
    *id = ((WaysCursor *)cursor)->row;
    return SQLITE_OK;
}

static const sqlite3_module ways_module = {.xConnect = ways_connect,
                                           .xBestIndex = ways_plan,
                                           .xDisconnect = ways_disconnect,
                                           .xOpen = ways_open,
                                           .xClose = ways_close,
                                           .xFilter = ways_filter,
                                           .xNext = ways_next,
                                           .xEof = ways_eof,
                                           .xColumn = ways_column,
                                           .xRowid = ways_rowid};

// ---- one way, timed -------------------------------------------------------------------------------------------------

static bool ways_use_database(const Run *run) { return run->way->settings != NULL; }

static void ways_statement(const Run *run, char *sql, size_t size)
{
    size_t used = 0;
    if (run->way->commit == ways_commit_blob) {
        snprintf(sql, size, "INSERT INTO blocks VALUES(?, ?, ?)");
    } else if (run->way->commit == ways_commit_in_one) {
        snprintf(sql, size, "INSERT INTO trials SELECT * FROM batch");
    } else {
        used += (size_t)snprintf(sql, size, "INSERT INTO trials VALUES");
        for (int k = 0; k < run->way->per_statement; k++) {
            for (int c = 0; c < run->way->columns; c++)
                used += (size_t)snprintf(sql + used, size - used, c > 0 ? ",?" : k > 0 ? ",(?" : "(?");
            used += (size_t)snprintf(sql + used, size - used, ")");
        }
    }
}

static Error ways_start(Run *run, RowBatch *batch, const char *path)
{
    char columns[2048], sql[16384];
    run->file = -1;
    if (run->way->commit == ways_commit_appended)
        run->file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0600);
    if (!ways_use_database(run)) return error_none();
    TRY(ways_sql(sqlite3_open(path, &run->database), run->database));
    TRY(ways_run(run, "PRAGMA synchronous = FULL; PRAGMA cache_size = -32768; PRAGMA wal_autocheckpoint = 16384;"));
    TRY(ways_run(run, run->way->settings));
    ways_columns(columns, sizeof columns, run->way->columns, true);
    snprintf(sql, sizeof sql,
             "CREATE TABLE trials(%s) STRICT; CREATE TABLE blocks(first INTEGER PRIMARY KEY, rows "
             "INTEGER NOT NULL, data BLOB) STRICT;",
             columns);
    TRY(ways_run(run, sql));
    TRY(ways_sql(sqlite3_create_module(run->database, "batch", &ways_module, batch), run->database));
    ways_statement(run, sql, sizeof sql);
    return ways_sql(sqlite3_prepare_v3(run->database, sql, -1, SQLITE_PREPARE_PERSISTENT, &run->insert, NULL),
                    run->database);
}

static void ways_fill(RowBatch *batch)
{
    for (int c = 0; c < batch->columns; c++) {
        for (int64_t i = 0; i < batch->rows; i++)
            batch->values[c * batch->rows + i] = (double)((batch->first + i) * (c + 1)) * 1.000123e-3;
    }
}

static double ways_processor(void) { return (double)clock() / (double)CLOCKS_PER_SEC; }

static Error ways_end(Run *run, int64_t rows, const char *path)
{
    char name[600];
    sqlite3_finalize(run->insert);
    if (run->file >= 0) close(run->file);
    const Error error = run->database != NULL ? ways_sql(sqlite3_close(run->database), run->database) : error_none();
    run->insert = NULL;
    run->database = NULL;
    remove(path);
    for (int64_t first = 0; first < rows; first++) {
        snprintf(name, sizeof name, "%s/%09lld.h5", run->folder, (long long)first);
        if (first % 1000 == 0 && file_exists(name)) remove(name);
    }
    return error;
}

// Every way finds the same: nothing of the way before is still to be written, and a virtual machine has the memory for
// the files that follow.
static void ways_settle(const char *path, RowBatch *batch, int64_t rows)
{
    sync();
    const int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    ways_fill(batch);
    for (int64_t done = 0; file >= 0 && done < rows; done += batch->rows) {
        if (write(file, batch->values, ways_bytes(batch)) < 0) break;
    }
    if (file >= 0) close(file);
    remove(path);
}

static Error ways_time(Run *run, RowBatch *batch, int64_t rows, int round)
{
    char path[600];
    double wall = 0, processor = 0;
    batch->columns = run->way->columns;
    snprintf(path, sizeof path, "%s/row_ways.db", run->folder);
    ways_settle(path, batch, 2 * rows);
    Error error = ways_start(run, batch, path);
    for (batch->first = 0; error.kind == OK && batch->first < rows; batch->first += batch->rows) {
        ways_fill(batch);
        const double start = clock_seconds(), of_processor = ways_processor();
        error = run->way->commit(run, batch);
        wall += clock_seconds() - start;
        processor += ways_processor() - of_processor;
    }
    const double start = clock_seconds();
    if (error.kind == OK && run->database != NULL) error = ways_run(run, "PRAGMA wal_checkpoint(TRUNCATE)");
    run->wall[round] = wall;
    run->processor[round] = processor;
    run->closed[round] = wall + clock_seconds() - start;
    const Error end = ways_end(run, rows, path);
    return error.kind != OK ? error : end;
}

// ---- all of them ----------------------------------------------------------------------------------------------------

#define WAL "PRAGMA journal_mode = WAL;"
static const Way ways[] = {
    {"a file per batch, bare bytes", ways_commit_file, NULL, WAYS_COLUMNS, 1},
    {"one file, appended", ways_commit_appended, NULL, WAYS_COLUMNS, 1},
    {"HDF5 shard per batch", ways_commit_shard, NULL, WAYS_COLUMNS, 1},
    {"HDF5 shard, columns written in place", ways_commit_parts, NULL, WAYS_COLUMNS, 1},
    {"blob per batch, WAL", ways_commit_blob, WAL, WAYS_COLUMNS, 1},
    {"blob per batch, rollback journal", ways_commit_blob, "PRAGMA journal_mode = TRUNCATE;", WAYS_COLUMNS, 1},
    {"rows", ways_commit_rows, WAL, WAYS_COLUMNS, 1},
    {"rows, 10 per statement", ways_commit_rows, WAL, WAYS_COLUMNS, 10},
    {"rows, 50 per statement", ways_commit_rows, WAL, WAYS_COLUMNS, 50},
    {"rows, a batch per statement", ways_commit_in_one, WAL, WAYS_COLUMNS, 1},
    {"rows, a batch per statement, 16 KiB", ways_commit_in_one,
     "PRAGMA page_size = 16384;" WAL "PRAGMA wal_autocheckpoint = 4096;", WAYS_COLUMNS, 1},
    {"rows, rollback journal", ways_commit_rows, "PRAGMA journal_mode = TRUNCATE;", WAYS_COLUMNS, 1},
    {"rows, 9 columns", ways_commit_rows, WAL, 9, 1},
    {"rows, 36 columns", ways_commit_rows, WAL, 36, 1},
    {"rows, pages of 8 KiB", ways_commit_rows, "PRAGMA page_size = 8192;" WAL "PRAGMA wal_autocheckpoint = 8192;",
     WAYS_COLUMNS, 1},
    {"rows, pages of 16 KiB", ways_commit_rows, "PRAGMA page_size = 16384;" WAL "PRAGMA wal_autocheckpoint = 4096;",
     WAYS_COLUMNS, 1},
    {"rows, pages of 64 KiB", ways_commit_rows, "PRAGMA page_size = 65536;" WAL "PRAGMA wal_autocheckpoint = 1024;",
     WAYS_COLUMNS, 1},
    {"rows, checkpoint at 4 MiB", ways_commit_rows, WAL "PRAGMA wal_autocheckpoint = 1024;", WAYS_COLUMNS, 1},
    {"rows, checkpoint at 512 MiB", ways_commit_rows, WAL "PRAGMA wal_autocheckpoint = 131072;", WAYS_COLUMNS, 1},
    {"rows, cache of 256 MiB", ways_commit_rows, WAL "PRAGMA cache_size = -262144;", WAYS_COLUMNS, 1},
    {"rows, synchronous NORMAL (unsafe)", ways_commit_rows, WAL "PRAGMA synchronous = NORMAL;", WAYS_COLUMNS, 1},
    {"rows, synchronous OFF (unsafe)", ways_commit_rows, WAL "PRAGMA synchronous = OFF;", WAYS_COLUMNS, 1},
    {"digests alone, row by row", ways_commit_digests, NULL, WAYS_COLUMNS, 1},
    {"digests alone, by columns", ways_commit_digests_of_columns, NULL, WAYS_COLUMNS, 1},
    {"SHA-256 alone", ways_commit_sha256, NULL, WAYS_COLUMNS, 1},
};
enum { WAYS = sizeof ways / sizeof *ways };
static Run runs[WAYS];

static int ways_compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double ways_median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof *values, ways_compare);
    return 0.5 * (values[(count - 1) / 2] + values[count / 2]);
}

static bool ways_wanted(int i, char *const *words)
{
    bool wanted = i == 0 || *words == NULL;
    for (; *words != NULL && !wanted; words++) wanted = strstr(ways[i].name, *words) != NULL;
    return wanted;
}

static Error ways_rounds(const char *folder, RowBatch *batch, int64_t rows, int rounds, char *const *words)
{
    for (int round = 0; round < rounds; round++) {
        for (int i = 0; i < WAYS; i++) {
            if (!ways_wanted(i, words)) continue;
            runs[i].way = &ways[i];
            runs[i].folder = folder;
            TRY(ways_time(&runs[i], batch, rows, round));
            runs[i].ratio[round] = runs[i].wall[round] / runs[0].wall[round];
        }
    }
    return error_none();
}

static void ways_print(int64_t rows, int64_t batch, int rounds, char *const *words)
{
    printf("%lld rows, %lld a batch; medians of %d, seconds\n", (long long)rows, (long long)batch, rounds);
    printf("%-36s %7s %7s %9s %9s\n", "", "wall", "closed", "processor", "to first");
    for (int i = 0; i < WAYS; i++) {
        Run *run = &runs[i];
        if (!ways_wanted(i, words)) continue;
        printf("%-36s %7.3f %7.3f %9.3f %9.2f\n", run->way->name, ways_median(run->wall, rounds),
               ways_median(run->closed, rounds), ways_median(run->processor, rounds), ways_median(run->ratio, rounds));
    }
}

int main(int argc, char **argv)
{
    const char *folder = argc > 1 ? argv[1] : ".";
    char *const *words = argc > 5 ? &argv[5] : &argv[argc];
    const int64_t rows = argc > 2 ? strtoll(argv[2], NULL, 10) : 300000;
    const int64_t of_batch = argc > 3 ? strtoll(argv[3], NULL, 10) : 100000;
    sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0); // as in the program
    const int given = argc > 4 ? atoi(argv[4]) : 3, rounds = given < WAYS_ROUNDS_MAX ? given : WAYS_ROUNDS_MAX;
    RowBatch batch = {.rows = of_batch,
                      .values = malloc((size_t)of_batch * WAYS_COLUMNS_MAX * sizeof(double)),
                      .digests = malloc((size_t)of_batch * sizeof(uint64_t))};
    Error error = error_make(ERROR_MACHINE, "not enough memory, or BATCH is not a multiple of 1,000");
    if (batch.values != NULL && batch.digests != NULL && of_batch > 0 && of_batch % 1000 == 0)
        error = ways_rounds(folder, &batch, rows, rounds, words);
    if (error.kind == OK) ways_print(rows, of_batch, rounds, words);
    if (error.kind != OK) fprintf(stderr, "%s\n", error.text);
    free(batch.values);
    free(batch.digests);
    return error.kind == OK ? 0 : 1;
}
