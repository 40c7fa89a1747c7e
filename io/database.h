// What the files that call SQLite share: a connection, its errors, and how it is opened. No other file calls SQLite. A
// connection and its statements belong to one thread at a time.
//
//   database.c         statements, their values and their rows
//   database_open.c    connections: opened, locked, closed
//   database_system.c  the calls by which SQLite reaches files
//   database_beside.c  what lies beside a database before it is opened
//   database_user.c    statements that a user wrote
//   database_error.c   SQLite's result codes as errors
#ifndef HOPSCOTCH_DATABASE_H
#define HOPSCOTCH_DATABASE_H

#include "seam.h"

#include <sqlite3.h>

enum { DATABASE_BUSY_MILLISECONDS = 10000 };

struct Database {
    sqlite3 *handle;
    DatabaseMode mode;
    char *path;
    dev_t device; // of the file, when it was opened
    ino_t inode;
    int lock; // descriptor of a lock that SQLite does not take; -1: there is none
};

struct Statement {
    Database *database;
    sqlite3_stmt *handle;
    int bound;       // the first error of bind_*, or SQLITE_OK
    uint64_t digest; // of the values bound so far
    int *texts;      // [n_texts] columns that may hold a text; NULL: not known yet
    int n_texts, n_columns;
};

// ---- errors (database_error.c) --------------------------------------------------------------------------------------

Error database_error(const Database *database, int code, const char *doing);
Error database_statement_error(const Database *database, int code, const char *sql); // sql: may be NULL
// Why no more could be written, as an errno: a used-up quota, a limit on files, or no room for its shared memory are
// I/O errors to SQLite. 0: another reason.
int database_no_room(const Database *database, int code);
// In a build with faults, what SQLite is made to answer: the errno of the rule "sql:n:errno", as SQLite would see it.
int database_fault(void);

// ---- files (database_system.c, database_beside.c) -------------------------------------------------------------------

// SQLite's own file system, whose calls that name a file are ours. NULL: SQLite has not even the memory to begin, as
// opening will say.
const char *database_file_system(void);

// An error if the database, or a file that SQLite would use beside it, is none that it may open.
Error database_check_files(const char *path);
bool database_has_wal(const char *path, Arena *arena);    // that is not empty
bool database_is_frozen(const char *path, Arena *arena);  // nobody can write to its folder
bool database_lacks_room(const char *path, Arena *arena); // for its -shm file, which is not there

// ---- statements (database.c) ----------------------------------------------------------------------------------------

int database_add_functions(sqlite3 *handle);

#endif
