// SQLite: every SQL statement of the program goes through here. A statement's text consists of literals of this program
// and of identifiers quoted by sql_identifier; values are always bound. One thread at a time uses a connection and its
// statements.
#ifndef HOPSCOTCH_IO_DATABASE_H
#define HOPSCOTCH_IO_DATABASE_H

#include "file.h"

typedef struct Database Database;
typedef struct Statement Statement;
typedef enum DatabaseMode {
    DATABASE_WRITE, // creates it if needed; WAL, synchronous FULL, foreign keys; the only connection that checkpoints
    DATABASE_READ,  // SQLITE_OPEN_READONLY, never blocks the writer, never checkpoints
    DATABASE_WRITE_SHARED // on a network file system: rollback journal, synchronous EXTRA, excludes readers
} DatabaseMode;

// Errors: ERROR_MACHINE with the path and SQLite's message, or if the database, or a file that SQLite would use beside
// it, is a link, a pipe, a device, or a journal of another program. ERROR_USER if it is not a database.
Error database_open(const char *path, DatabaseMode mode, Database **out);
// Opens, to read, a database that no process writes to according to its stamp (below). It takes no lock, and neither
// looks at nor makes files beside it. If the stamp has changed afterwards, the rows that were read, and errors too, are
// invalid.
Error database_open_still(const char *path, Arena *arena, Database **out);
const char *database_path(const Database *database);     // as it was opened
Error database_close(Database *database);                // for a writer: also checkpoints (TRUNCATE)
Error database_check_place(const Database *database);    // error: its path names another file now, or none
Error database_run(Database *database, const char *sql); // one or more statements without values
// Outside of a transaction: statements of a writer may read the database at `path` as the schema `other`, until
// database_detach. No process may write to it meanwhile.
Error database_attach(Database *database, const char *path);
Error database_detach(Database *database);
Error database_make_index(Database *database, const char *sql); // one CREATE INDEX, with settings that make it faster
Error database_prepare(Database *database, const char *sql, Statement **out);
bool database_has(const Database *database, const char *table, const char *column); // NULL: only the table
// SQL has the function row_digest(d, v1, ...): the digest d after adding the values. Triggers use it.
void bind_null(Statement *statement, int index); // index from 1; the next step returns an error of binding
void bind_integer(Statement *statement, int index, int64_t value);
void bind_real(Statement *statement, int index, double value);      // NaN is stored as NULL
void bind_text(Statement *statement, int index, const char *value); // NULL is stored as NULL
void bind_word(Statement *statement, int index, const char *value); // not copied: must outlive the statement
void bind_blob(Statement *statement, int index, const void *data, size_t size);
// The digest of the values bound since the last step, if they were bound in order.
uint64_t bound_digest(const Statement *statement);
// *row: a row can be read. After the last row, or if there are no rows, the statement is reset and can be bound again.
Error statement_step(Statement *statement, bool *row);
void statement_close(Statement *statement);
int column_count(Statement *statement);
const char *column_name(Statement *statement, int index); // index from 0, here and below
bool column_is_null(Statement *statement, int index);
int64_t column_integer(Statement *statement, int index);
double column_real(Statement *statement, int index);      // NaN if NULL
const char *column_text(Statement *statement, int index); // "" if NULL; valid until the next step
Bytes column_blob(Statement *statement, int index);
uint64_t column_digest(Statement *statement, int first); // of the current row's values, from column `first` on
// A SELECT that a user wrote, on a connection that is used for nothing else. It may read this database and compute,
// until the deadline. Errors are the user's, with a caret where SQLite gives a place.
typedef struct DatabaseGuard {
    double deadline;          // by clock_seconds()
    int (*interrupted)(void); // returns nonzero if the user pressed Ctrl-C; may be NULL
} DatabaseGuard;
Error database_prepare_guarded(Database *database, const char *sql, DatabaseGuard *guard, Statement **out);
Error statement_step_guarded(Statement *statement, bool *row);
typedef enum ColumnKind { COLUMN_NULL, COLUMN_INTEGER, COLUMN_REAL, COLUMN_TEXT, COLUMN_BLOB } ColumnKind;
ColumnKind column_kind(Statement *statement, int index); // of the current row's value
// "name" with quotes doubled, in the arena, for the text of a statement.
const char *sql_identifier(Arena *arena, const char *name);

// From the next statement until it is closed, a database is read in one state. In a transaction: in that of the
// transaction.
Error database_hold(Database *database);
bool database_is_held(const Database *database);
// Whether no other connection reads an older state than this one. Writes the write-ahead log back.
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
