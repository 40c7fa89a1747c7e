#include "../../io/database_connection.h"
#include "../../io/system.h"
#include "../test.h"

#include <math.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct DatabasePath {
    char folder[128], text[160];
} DatabasePath;

static DatabasePath database_test_path(void)
{
    DatabasePath path;
    snprintf(path.folder, sizeof path.folder, "%s", test_folder());
    snprintf(path.text, sizeof path.text, "%s/campaign.db", path.folder);
    return path;
}

static Database *database_test_open(const char *path, DatabaseMode mode)
{
    Database *database = NULL;
    CHECK_OK(database_open(path, mode, &database));
    return database;
}

// The integer that a query returns; -1: no row, -2: an error
static int64_t database_test_integer(Database *database, const char *sql)
{
    Statement *statement;
    bool row;
    int64_t value = -2;
    if (database == NULL || database_prepare(database, sql, &statement).kind != OK) return -2;
    if (statement_step(statement, &row).kind == OK) value = row ? column_integer(statement, 0) : -1;
    statement_close(statement);
    return value;
}

// A table t(a INTEGER) with the rows 1..n, in a closed database
static void database_test_make(const char *path, int n)
{
    Database *database = database_test_open(path, DATABASE_WRITE);
    CHECK_OK(database_run(database, "CREATE TABLE t (a INTEGER NOT NULL) STRICT; BEGIN"));
    Statement *insert;
    bool row;
    CHECK_OK(database_prepare(database, "INSERT INTO t VALUES (?)", &insert));
    for (int i = 1; i <= n; i++) {
        bind_integer(insert, 1, i);
        CHECK_OK(statement_step(insert, &row));
        CHECK(!row);
    }
    statement_close(insert);
    CHECK_OK(database_run(database, "COMMIT"));
    CHECK_OK(database_close(database));
}

TEST(database_values_come_back)
{
    const DatabasePath path = database_test_path();
    Database *database = database_test_open(path.text, DATABASE_WRITE);
    Statement *insert, *all;
    bool row;
    CHECK_OK(database_run(database, "CREATE TABLE v (i INTEGER, r REAL, t TEXT, b BLOB) STRICT"));
    CHECK_OK(database_prepare(database, "INSERT INTO v VALUES (?, ?, ?, ?)", &insert));
    bind_integer(insert, 1, INT64_MIN);
    bind_real(insert, 2, 0x1.fffffffffffffp-1022);
    bind_text(insert, 3, "\xcf\x86 'q'");
    bind_blob(insert, 4, "a\0b", 3);
    CHECK_OK(statement_step(insert, &row));
    bind_null(insert, 1); // bound again after the statement ended
    bind_real(insert, 2, (double)NAN);
    bind_text(insert, 3, NULL);
    bind_blob(insert, 4, NULL, 0);
    CHECK_OK(statement_step(insert, &row));
    statement_close(insert);

    CHECK_OK(database_prepare(database, "SELECT i, r, t, b AS bytes FROM v ORDER BY rowid", &all));
    CHECK_INTEGER(4, column_count(all));
    CHECK_TEXT("bytes", column_name(all, 3));
    CHECK_OK(statement_step(all, &row));
    CHECK(row && column_integer(all, 0) == INT64_MIN && !column_is_null(all, 1));
    CHECK_BITS(0x1.fffffffffffffp-1022, column_real(all, 1));
    CHECK_TEXT("\xcf\x86 'q'", column_text(all, 2));
    CHECK(column_blob(all, 3).size == 3 && memcmp(column_blob(all, 3).data, "a\0b", 3) == 0);
    CHECK_OK(statement_step(all, &row));
    CHECK(row && column_is_null(all, 0) && column_is_null(all, 1) && isnan(column_real(all, 1)));
    CHECK_TEXT("", column_text(all, 2));
    CHECK(!column_is_null(all, 3) && column_blob(all, 3).size == 0); // empty is not NULL
    CHECK_OK(statement_step(all, &row));
    CHECK(!row);
    CHECK_OK(statement_step(all, &row)); // after a reset the first row comes again
    CHECK(row && column_integer(all, 0) == INT64_MIN);
    statement_close(all);
    CHECK_OK(database_close(database));
}

TEST(database_settings)
{
    const DatabasePath path = database_test_path();
    Database *writer = database_test_open(path.text, DATABASE_WRITE);
    CHECK_INTEGER(2, database_test_integer(writer, "PRAGMA synchronous")); // FULL
    CHECK_INTEGER(1, database_test_integer(writer, "PRAGMA foreign_keys"));
    CHECK_INTEGER(0, database_test_integer(writer, "PRAGMA trusted_schema"));
    CHECK(database_test_integer(writer, "PRAGMA wal_autocheckpoint") > 1000);
    CHECK_OK(database_run(writer, "CREATE TABLE t (a INTEGER) STRICT"));
    Database *reader = database_test_open(path.text, DATABASE_READ);
    CHECK_ERROR(ERROR_MACHINE, database_run(reader, "INSERT INTO t VALUES (1)"));
    CHECK_INTEGER(0, database_test_integer(reader, "PRAGMA trusted_schema"));
    CHECK_OK(database_close(reader));
    CHECK_OK(database_close(writer));
    CHECK_OK(database_close(NULL));
}

TEST(database_errors_say_what_and_where)
{
    const DatabasePath path = database_test_path();
    Database *database = NULL;
    CHECK_OK(file_write(path.folder, "text.db",
                        "this is a text and no database, and long enough to be a header "
                        "of one hundred bytes, which it must be.",
                        103));
    char text[192];
    snprintf(text, sizeof text, "%s/text.db", path.folder);
    for (int mode = DATABASE_WRITE; mode <= DATABASE_READ; mode++) {
        const Error error = database_open(text, (DatabaseMode)mode, &database);
        CHECK_ERROR(ERROR_USER, error);
        CHECK(strstr(error.text, "it is not an SQLite database") != NULL && strstr(error.text, text) != NULL);
        CHECK(database == NULL);
    }
    CHECK_ERROR(ERROR_MACHINE, database_open(path.text, DATABASE_READ, &database)); // missing
    CHECK(!file_exists(path.text));                                                 // and not created
    database_test_make(path.text, 1);
    database = database_test_open(path.text, DATABASE_WRITE);
    Statement *statement;
    const Error syntax = database_prepare(database, "SELEC 1", &statement);
    CHECK_ERROR(ERROR_MACHINE, syntax);
    CHECK(strstr(syntax.text, "cannot run SELEC 1: near \"SELEC\": syntax error") != NULL && statement == NULL);
    bool row;
    CHECK_OK(database_prepare(database, "INSERT INTO t VALUES (?)", &statement));
    bind_integer(statement, 2, 5); // there is no second parameter
    CHECK_ERROR(ERROR_MACHINE, statement_step(statement, &row));
    bind_null(statement, 1); // refused by NOT NULL
    CHECK_ERROR(ERROR_MACHINE, statement_step(statement, &row));
    bind_integer(statement, 1, 6); // the statement still works
    CHECK_OK(statement_step(statement, &row));
    statement_close(statement);
    CHECK_INTEGER(2, database_test_integer(database, "SELECT count(*) FROM t"));
    CHECK_OK(database_close(database));
}

// SQLite makes a temporary database for the name "", which can't have a write-ahead log.
TEST(database_whose_journal_cannot_be_set_is_refused)
{
    Database *database = NULL;
    CHECK_SAYS(ERROR_MACHINE, ": SQLite's journal mode wal does not work here: put the results on a local disk",
               database_open("", DATABASE_WRITE, &database));
    CHECK(database == NULL);
}

// A rollback journal can name a second file, which SQLite deletes after it has played the journal back. The databases
// here use a write-ahead log and so never have such a journal.
TEST(database_with_a_foreign_journal_is_refused)
{
    const DatabasePath path = database_test_path();
    char journal[sizeof path.text + 16];
    Database *database = NULL;
    database_test_make(path.text, 1);
    snprintf(journal, sizeof journal, "%s-journal", path.text);
    FILE *file = fopen(journal, "wb");
    CHECK(file != NULL && fputs("a journal", file) >= 0 && fclose(file) == 0);
    static const DatabaseMode modes[] = {DATABASE_READ, DATABASE_WRITE, DATABASE_WRITE_SHARED};
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        CHECK_SAYS(
            ERROR_MACHINE,
            "-journal was not written by hopscotch; applying this journal could change or delete other files: look at "
            "it, and move it away",
            database_open(path.text, modes[i], &database));
    CHECK(database == NULL && remove(journal) == 0);
    CHECK_OK(database_open(path.text, DATABASE_READ, &database));
    CHECK_OK(database_close(database));
}

TEST(database_closed_before_its_statements_is_a_bug)
{
    const DatabasePath path = database_test_path();
    Statement *statement = NULL;
    database_test_make(path.text, 1);
    Database *database = database_test_open(path.text, DATABASE_READ);
    CHECK_OK(database_prepare(database, "SELECT 1", &statement));
    CHECK_SAYS(ERROR_MACHINE, ": bug: closed before its statements", database_close(database));
    statement_close(statement);
}

TEST(database_identifiers_are_quoted)
{
    const DatabasePath path = database_test_path();
    Arena arena;
    CHECK_OK(arena_create(&arena, 1 << 20, "a test"));
    CHECK_TEXT("\"k_fp\"", sql_identifier(&arena, "k_fp"));
    CHECK_TEXT("\"\"", sql_identifier(&arena, ""));
    const char *hostile = sql_identifier(&arena, "a\" REAL); DROP TABLE t; --");
    CHECK_TEXT("\"a\"\" REAL); DROP TABLE t; --\"", hostile);
    Database *database = database_test_open(path.text, DATABASE_WRITE);
    CHECK_OK(database_run(database, arena_format(&arena, "CREATE TABLE t (%s REAL, \"select\" REAL) STRICT", hostile)));
    Statement *all;
    CHECK_OK(database_prepare(database, "SELECT * FROM t", &all));
    CHECK_TEXT("a\" REAL); DROP TABLE t; --", column_name(all, 0));
    statement_close(all);
    CHECK_OK(database_close(database));
    arena_destroy(&arena);
}

// A reader sees the state from when its query began, even if the writer commits or closes meanwhile.
TEST(database_readers_never_block_the_writer)
{
    const DatabasePath path = database_test_path();
    database_test_make(path.text, 1000);
    Database *writer = database_test_open(path.text, DATABASE_WRITE),
             *reader = database_test_open(path.text, DATABASE_READ);
    Statement *all;
    bool row = true;
    int rows = 0;
    CHECK_OK(database_prepare(reader, "SELECT a FROM t", &all));
    CHECK_OK(statement_step(all, &row));
    const double start = clock_seconds();
    CHECK_OK(database_run(writer, "BEGIN IMMEDIATE; DELETE FROM t; INSERT INTO t VALUES (5); COMMIT"));
    CHECK_INTEGER(1, database_test_integer(writer, "SELECT count(*) FROM t"));
    CHECK_OK(database_close(writer));
    CHECK(clock_seconds() - start < 0.8e-3 * DATABASE_BUSY_MILLISECONDS); // it did not wait until it gave up
    for (; row; rows++) CHECK_OK(statement_step(all, &row));
    CHECK_INTEGER(1000, rows);
    statement_close(all);
    CHECK_INTEGER(1, database_test_integer(reader, "SELECT count(*) FROM t"));
    CHECK_OK(database_close(reader));
}

TEST(database_closed_by_its_writer_is_one_file)
{
    const DatabasePath path = database_test_path();
    Arena arena;
    char **names;
    int count;
    CHECK_OK(arena_create(&arena, 1 << 20, "a test"));
    database_test_make(path.text, 100);
    CHECK_OK(folder_list(path.folder, &arena, &names, &count));
    CHECK_INTEGER(1, count);
    CHECK_TEXT("campaign.db", names[0]);
    arena_destroy(&arena);
}

// A finished campaign in a folder without write access, as on a DVD. A process without rights stands in for it.
TEST(database_reads_in_a_read_only_folder)
{
    const DatabasePath path = database_test_path();
    char strange[192], root[128];
    if (geteuid() != 0) {
        test_skip("root, to become a user who may not write", "run it as root");
        return;
    }
    snprintf(root, sizeof root, "%s", path.folder);
    *strrchr(root, '/') = '\0';
    snprintf(strange, sizeof strange, "%s/what? 100%%#1", path.folder); // characters that are special in a URI
    CHECK_OK(folder_make(strange));
    snprintf(strange, sizeof strange, "%s/what? 100%%#1/campaign.db", path.folder);
    database_test_make(path.text, 100);
    database_test_make(strange, 7);
    CHECK(chmod(root, 0755) == 0 && chmod(path.folder, 0755) == 0);
    CHECK(seteuid(65534) == 0);
    Database *reader = database_test_open(path.text, DATABASE_READ);
    CHECK_INTEGER(100, database_test_integer(reader, "SELECT count(*) FROM t"));
    CHECK_OK(database_close(reader));
    reader = database_test_open(strange, DATABASE_READ);
    CHECK_INTEGER(7, database_test_integer(reader, "SELECT count(*) FROM t"));
    CHECK_OK(database_close(reader));
    Database *writer = NULL;
    CHECK_ERROR(ERROR_MACHINE, database_open(path.text, DATABASE_WRITE, &writer));
    CHECK(seteuid(0) == 0);
}

// A user without write access reads a running campaign: the reader sees the WAL, and later commits too.
TEST(database_reads_a_running_campaign_of_another_user)
{
    const DatabasePath path = database_test_path();
    char root[128];
    if (geteuid() != 0) {
        test_skip("root, to become a user who may not write", "run it as root");
        return;
    }
    snprintf(root, sizeof root, "%s", path.folder);
    *strrchr(root, '/') = '\0';
    CHECK(chmod(root, 0755) == 0 && chmod(path.folder, 0755) == 0);
    database_test_make(path.text, 3);
    Database *writer = database_test_open(path.text, DATABASE_WRITE);
    CHECK_OK(database_run(writer, "INSERT INTO t VALUES (4)"));
    CHECK(seteuid(65534) == 0);
    Database *reader = database_test_open(path.text, DATABASE_READ);
    CHECK_INTEGER(4, database_test_integer(reader, "SELECT count(*) FROM t"));
    CHECK_OK(database_run(writer, "INSERT INTO t VALUES (5)"));
    CHECK_INTEGER(5, database_test_integer(reader, "SELECT count(*) FROM t"));
    CHECK_OK(database_close(reader));
    CHECK(seteuid(0) == 0);
    CHECK_OK(database_close(writer));
}

TEST(database_on_a_network_file_system_needs_no_shared_memory)
{
    const DatabasePath path = database_test_path();
    Database *database = database_test_open(path.text, DATABASE_WRITE_SHARED);
    CHECK_INTEGER(3, database_test_integer(database, "PRAGMA synchronous")); // EXTRA
    CHECK_OK(database_run(database, "CREATE TABLE t (a INTEGER) STRICT; INSERT INTO t VALUES (1)"));
    char shm[192];
    snprintf(shm, sizeof shm, "%s-shm", path.text);
    CHECK(!file_exists(shm));
    CHECK_OK(database_close(database));
    Database *local = database_test_open(path.text, DATABASE_WRITE); // on a local disk the journal is a WAL again
    CHECK_INTEGER(1, database_test_integer(local, "SELECT count(*) FROM t"));
    CHECK(file_exists(shm));
    CHECK_OK(database_close(local));
}

#ifdef HOPSCOTCH_FAULTS

static const struct {
    const char *rule, *words;
} database_test_faults[] = {
    {"sql:1:ENOSPC", "bytes free"},
    {"sql:1:EIO", "the disk failed"},
    {"sql:1:EBUSY", "another process kept it locked"},
    {"sql:1:ENOMEM", "not enough memory"},
};

TEST(database_errors_of_the_machine_can_be_acted_on)
{
    const DatabasePath path = database_test_path();
    database_test_make(path.text, 1);
    Database *database = database_test_open(path.text, DATABASE_WRITE);
    for (size_t i = 0; i < sizeof database_test_faults / sizeof *database_test_faults; i++) {
        system_set_faults(database_test_faults[i].rule);
        const Error error = database_run(database, "INSERT INTO t VALUES (2)");
        system_set_faults("");
        CHECK_ERROR(ERROR_MACHINE, error);
        CHECK(strstr(error.text, database_test_faults[i].words) != NULL && strstr(error.text, path.text) != NULL);
    }
    CHECK_INTEGER(1, database_test_integer(database, "SELECT count(*) FROM t"));
    system_set_faults("sql:1:EIO");
    CHECK_ERROR(ERROR_MACHINE, database_close(database)); // the checkpoint fails, but the connection is closed
    Database *none = NULL;
    system_set_faults("sql:2:EIO");
    CHECK_ERROR(ERROR_MACHINE, database_open(path.text, DATABASE_WRITE, &none));
    system_set_faults("");
    CHECK(none == NULL);
    database = database_test_open(path.text, DATABASE_WRITE);
    CHECK_INTEGER(1, database_test_integer(database, "SELECT count(*) FROM t"));
    CHECK_OK(database_close(database));
}

// A user with read access only reads what a killed run committed, which lies in the WAL.
TEST(database_reads_what_a_killed_run_left_to_another_user)
{
    const DatabasePath path = database_test_path();
    char root[128];
    if (geteuid() != 0) {
        test_skip("root, to become a user who may not write", "run it as root");
        return;
    }
    snprintf(root, sizeof root, "%s", path.folder);
    *strrchr(root, '/') = '\0';
    CHECK(chmod(root, 0755) == 0 && chmod(path.folder, 0755) == 0);
    const pid_t child = fork();
    if (child == 0) {
        Database *database;
        if (database_open(path.text, DATABASE_WRITE, &database).kind != OK) _exit(1);
        (void)database_run(database, "CREATE TABLE t (a INTEGER) STRICT; INSERT INTO t VALUES (1)");
        system_set_faults("sql:1:KILL");
        (void)database_run(database, "INSERT INTO t VALUES (2)");
    }
    CHECK(waitpid(child, NULL, 0) == child);
    CHECK(seteuid(65534) == 0);
    Database *reader = database_test_open(path.text, DATABASE_READ);
    CHECK_INTEGER(1, database_test_integer(reader, "SELECT count(*) FROM t"));
    CHECK_OK(database_close(reader));
    CHECK(seteuid(0) == 0);
}

// A process killed within a transaction leaves all transactions before it, and no row of that one.
TEST(database_killed_between_statements_keeps_whole_transactions)
{
    const DatabasePath path = database_test_path();
    database_test_make(path.text, 0);
    const pid_t child = fork();
    if (child == 0) {
        Database *database;
        if (database_open(path.text, DATABASE_WRITE, &database).kind != OK) _exit(1);
        system_set_faults("sql:7:KILL");
        for (;;) { // three statements per transaction
            (void)database_run(database, "BEGIN");
            (void)database_run(database, "INSERT INTO t VALUES (1), (2)");
            (void)database_run(database, "COMMIT");
        }
    }
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status));
    Database *reader = database_test_open(path.text, DATABASE_READ);
    CHECK_INTEGER(4, database_test_integer(reader, "SELECT count(*) FROM t"));
    CHECK_OK(database_close(reader));
    Database *writer = database_test_open(path.text, DATABASE_WRITE);
    CHECK_INTEGER(4, database_test_integer(writer, "SELECT count(*) FROM t"));
    CHECK_OK(database_close(writer));
}

// The disk is full in the middle of a commit: nothing of the transaction remains, and it can be repeated.
TEST(database_on_a_full_disk_keeps_what_was_committed)
{
    const DatabasePath path = database_test_path();
    database_test_make(path.text, 10);
    Database *database = database_test_open(path.text, DATABASE_WRITE);
    CHECK_OK(database_run(database, "BEGIN IMMEDIATE; INSERT INTO t SELECT a + 10 FROM t"));
    system_set_faults("sqlwrite:2+:ENOSPC");
    const Error error = database_run(database, "COMMIT");
    system_set_faults("");
    CHECK_ERROR(ERROR_MACHINE, error);
    CHECK(strstr(error.text, "free some space, then resume") != NULL);
    (void)database_run(database, "ROLLBACK"); // SQLite may have done it already
    CHECK_INTEGER(10, database_test_integer(database, "SELECT count(*) FROM t"));
    CHECK_OK(database_run(database, "INSERT INTO t SELECT a + 10 FROM t"));
    CHECK_OK(database_close(database));
    database = database_test_open(path.text, DATABASE_READ);
    CHECK_INTEGER(20, database_test_integer(database, "SELECT count(*) FROM t"));
    CHECK_OK(database_close(database));
}

// Transactions of 100 rows, with a checkpoint after every few.
static int database_test_write(const char *path)
{
    static const char insert[] = "INSERT INTO t WITH RECURSIVE n(i) AS"
                                 " (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100) SELECT i FROM n";
    Database *database;
    if (database_open(path, DATABASE_WRITE, &database).kind != OK) return 1;
    Error error = database_run(database, "CREATE TABLE t (a INTEGER NOT NULL) STRICT; PRAGMA wal_autocheckpoint = 4");
    for (int i = 0; i < 100 && error.kind == OK; i++) error = database_run(database, insert);
    return error.kind == OK ? 0 : 1;
}

// As database_test_write, in a process that is killed at SQLite's write number `write`; `torn`: after half of it.
static bool database_test_killed_at(const char *path, int write, bool torn)
{
    char rules[64];
    if (torn)
        snprintf(rules, sizeof rules, "sqlwrite:%d:SHORT,sqlwrite:%d:KILL", write, write + 1);
    else
        snprintf(rules, sizeof rules, "sqlwrite:%d:KILL", write);
    const pid_t child = fork();
    if (child == 0) {
        system_set_faults(rules);
        _exit(database_test_write(path));
    }
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child);
    return WIFSIGNALED(status);
}

TEST(database_killed_in_any_write_keeps_whole_transactions)
{
    for (int write = 1; write < 60; write += 3) {
        const DatabasePath path = database_test_path();
        CHECK(database_test_killed_at(path.text, write, write % 2 == 0));
        Database *database = database_test_open(path.text, DATABASE_WRITE);
        const int64_t tables = database_test_integer(database, "SELECT count(*) FROM sqlite_schema");
        CHECK(tables == 0 || tables == 1);
        if (tables == 1) CHECK_INTEGER(0, database_test_integer(database, "SELECT count(*) % 100 FROM t"));
        CHECK_INTEGER(1, database_test_integer(database, "SELECT count(*) FROM pragma_integrity_check"
                                                         " WHERE integrity_check = 'ok'"));
        CHECK_OK(database_close(database));
    }
}

#endif

// ---- files of other programs ----------------------------------------------------------------------------------------

TEST(database_that_is_a_pipe_is_not_waited_for)
{
    char path[512];
    Database *database;
    snprintf(path, sizeof path, "%s/pipe.db", test_folder());
    CHECK_INTEGER(0, mkfifo(path, 0600));
    const Error error = database_open(path, DATABASE_READ, &database);
    CHECK_ERROR(ERROR_MACHINE, error);
    CHECK(strstr(error.text, "pipe.db is a pipe, not a regular file") != NULL);
}

TEST(database_runs_no_view_or_trigger_of_its_schema)
{
    char path[512];
    Database *database;
    Statement *statement;
    bool row;
    snprintf(path, sizeof path, "%s/foreign.db", test_folder());
    CHECK_OK(database_open(path, DATABASE_WRITE, &database));
    CHECK_OK(database_run(database, "CREATE TABLE t(a); CREATE TABLE u(a); CREATE VIEW v AS SELECT 1;"
                                    "CREATE TRIGGER evil AFTER INSERT ON t BEGIN INSERT INTO u VALUES(7); END;"
                                    "INSERT INTO t VALUES(1)"));
    CHECK_ERROR(ERROR_MACHINE, database_prepare(database, "SELECT * FROM v", &statement));
    CHECK_OK(database_prepare(database, "SELECT * FROM u", &statement));
    CHECK_OK(statement_step(statement, &row));
    CHECK(!row);
    statement_close(statement);
    CHECK_OK(database_close(database));
}

// The texts of a row can be read without memory. SQLite would allocate to end a text of 8 n - 1 bytes that came from
// several pages, and return NULL when it can't.
TEST(database_texts_of_a_row_need_no_memory)
{
    const DatabasePath path = database_test_path();
    Database *database = database_test_open(path.text, DATABASE_WRITE);
    Statement *select = NULL;
    bool row = false;
    CHECK_OK(database_run(database, "CREATE TABLE t (a TEXT); INSERT INTO t VALUES (printf('%.*c', 8191, 'x'))"));
    CHECK_OK(database_prepare(database, "SELECT a FROM t", &select));
    CHECK_OK(statement_step(select, &row));
    sqlite3_hard_heap_limit64(sqlite3_memory_used());
    const size_t length = row ? strlen(column_text(select, 0)) : 0;
    sqlite3_hard_heap_limit64(0);
    CHECK_INTEGER(8191, (int64_t)length);
    statement_close(select);
    CHECK_OK(database_close(database));
}
