// SQLite: every SQL statement of the program goes through here. A statement's text consists of literals of this program
// and of identifiers quoted by sql_identifier; values are always bound. One thread at a time uses a connection and its
// statements.
#ifndef HOPSCOTCH_IO_DATABASE_H
#define HOPSCOTCH_IO_DATABASE_H

#include "file.h"

typedef struct Database Database;
typedef struct Statement Statement;
typedef enum DatabaseMode {
    DATABASE_WRITE, // creates a missing file; WAL, synchronous FULL, foreign keys; the only connection that checkpoints
    DATABASE_READ,  // SQLITE_OPEN_READONLY, never blocks the writer, never checkpoints
    DATABASE_WRITE_SHARED // on a network file system: rollback journal, synchronous EXTRA, excludes readers
} DatabaseMode;

// Error (machine), with the path and SQLite's message: also if the database, or a file that SQLite would use beside it,
// is a link, a pipe, a device, or a journal of another program. Error (user): the file is not a database. All functions
// below report failures of SQLite in this way.
Error database_open(const char *path, DatabaseMode mode, Database **out);
// Opens a database for reading that no process writes to according to its stamp (below). Takes no lock, and neither
// looks at files beside the database nor makes any. If the stamp has changed afterwards, the rows that were read are
// invalid, and errors too.
Error database_open_still(const char *path, Arena *arena, Database **out);
const char *database_path(const Database *database);     // as it was opened
const char *database_schema(const Database *database);   // its name in the connection: main
Error database_close(Database *database);                // a writer also checkpoints (TRUNCATE); NULL: nothing to do
Error database_check_path(const Database *database);     // error: its path names another file now, or none
Error database_run(Database *database, const char *sql); // one or more statements without values
// Call both outside of a transaction. Between them, statements of a writer may read the database at `path` as the
// schema `other`; no process may write to that database meanwhile.
Error database_attach(Database *database, const char *path);
Error database_detach(Database *database);
Error database_make_index(Database *database, const char *sql); // one CREATE INDEX, with settings that make it faster
Error database_prepare(Database *database, const char *sql, Statement **out);       // statement_close frees it
bool database_has(const Database *database, const char *table, const char *column); // NULL: only the table
// SQL has the functions row_digest(d, v1, ...), the digest d after adding the values, for triggers; and, for conditions
// of the program, SQL_FUNCTION(f, v1, ...): what the bound function f gives for the values. NaN is NULL.
#define SQL_FUNCTION "hopscotch_value"
typedef struct SqlFunction SqlFunction;
typedef struct SqlValue {
    bool is_text;
    double number;               // NaN: NULL
    const char *text;            // of is_text
    const SqlFunction *function; // NULL: a text or a number
} SqlValue;
struct SqlFunction {
    double (*value)(const SqlFunction *function, const SqlValue *arguments, int n); // texts and numbers
};
enum { SQL_ARGUMENTS_MAX = 126 };

// Values of a statement: index from 1. The next step returns an error of binding.
void bind_null(Statement *statement, int index);
void bind_integer(Statement *statement, int index, int64_t value);
void bind_real(Statement *statement, int index, double value);      // NaN is stored as NULL
void bind_text(Statement *statement, int index, const char *value); // NULL is stored as NULL
void bind_blob(Statement *statement, int index, const void *data, size_t size);
void bind_value(Statement *statement, int index, const SqlValue *value); // a function must outlive the statement
// *row: a row can be read. After the last row, or if there are no rows, the statement is reset and can be bound again.
Error statement_step(Statement *statement, bool *row);
void statement_close(Statement *statement);

// Columns of the current row: index from 0. Texts and blobs are valid until the next step.
typedef enum ColumnKind { COLUMN_NULL, COLUMN_INTEGER, COLUMN_REAL, COLUMN_TEXT, COLUMN_BLOB } ColumnKind;
ColumnKind column_kind(Statement *statement, int index);
int column_count(Statement *statement);
const char *column_name(Statement *statement, int index);
bool column_is_null(Statement *statement, int index);
int64_t column_integer(Statement *statement, int index);  // 0 if NULL
double column_real(Statement *statement, int index);      // NaN if NULL
const char *column_text(Statement *statement, int index); // "" if NULL
Bytes column_blob(Statement *statement, int index);
uint64_t column_digest(Statement *statement, int first); // of the values from column `first` on

// A SELECT that a user wrote, on a connection that is used for nothing else. The statement may only read this database
// and compute, until the deadline. Errors are ERROR_USER, with a caret where SQLite gives a place.
typedef struct DatabaseGuard {
    double deadline;          // by clock_seconds()
    int (*interrupted)(void); // returns nonzero if the user pressed Ctrl-C; may be NULL
} DatabaseGuard;
Error database_prepare_guarded(Database *database, const char *sql, DatabaseGuard *guard, Statement **out);
Error statement_step_guarded(Statement *statement, bool *row);
// The name of a table or column for the text of a statement: in double quotes, with quotes in it doubled.
const char *sql_identifier(Arena *arena, const char *name);

// Until the connection is closed, all its statements read the same state of the database: that of the next statement,
// or that of the transaction in which it is called.
Error database_hold(Database *database);
bool database_is_held(const Database *database);
// Writes the write-ahead log back. True if no other connection reads an older state than this one.
bool database_is_unobserved(Database *database);

enum { DATABASE_STAMP_WORDS = 5 };
typedef struct DatabaseStamp {
    int64_t word[DATABASE_STAMP_WORDS];
} DatabaseStamp;
// Takes the stamp of a database file. True: as long as the stamp stays the same, what is read from now on stays valid.
// False: the stamp can't be trusted (the file was changed just now, has a journal or a WAL that is not empty, is not a
// regular file, or can't be read).
bool database_stamp(const char *path, DatabaseStamp *stamp);
// Waits until a recent change no longer makes database_stamp return false, if that takes only milliseconds.
void database_stamp_wait(const char *path);

#endif
