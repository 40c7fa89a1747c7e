// What the files that call SQLite share: a connection, its errors, and how it is opened. No other file calls SQLite.
// One thread at a time uses a connection and its statements.
//
//   database.c         statements, their values and their rows
//   database_open.c    opens, locks and closes connections
//   database_system.c  the system calls that SQLite makes on files
//   database_beside.c  checks the files beside a database (-wal, -shm, -journal) before it is opened
//   database_table.c   tables over arrays in memory
//   database_user.c    statements that a user wrote
//   database_blocks.c  a table over blocks of columns (database_blocks.h)
//   database_error.c   SQLite's result codes as errors
//   database_extension.c   the table over blocks in a connection of another program
#ifndef HOPSCOTCH_DATABASE_H
#define HOPSCOTCH_DATABASE_H

#include "database.h"
#include "system.h"

// In libhopscotch_sqlite every call goes to the SQLite of the program that loads it, through the pointers that this
// program gives.
#ifdef HOPSCOTCH_EXTENSION
#include <sqlite3ext.h>
extern const sqlite3_api_routines *sqlite3_api;
#else
#include <sqlite3.h>
#endif

enum { DATABASE_BUSY_MILLISECONDS = 10000 };

struct Database {
    sqlite3 *handle;
    DatabaseMode mode;
    char *path;
    const char *schema; // of the statements: the database as the connection names it; NULL: main
    dev_t device;       // of the file when it was opened
    ino_t inode;
    int lock;                   // descriptor of a lock that we hold instead of SQLite; -1: there is none
    bool held;                  // since database_hold it is read as it was then
    DatabaseGuard *guard;       // of the user's statement; NULL: there is none
    struct BlockModule *blocks; // the last one of database_add_blocks; NULL: there is none
};

struct Statement {
    Database *database;
    sqlite3_stmt *handle;
    int bound;  // the first error of bind_*, or SQLITE_OK
    int *texts; // [n_texts] columns that may hold a text; NULL: not known yet
    int n_texts, n_columns;
};

// ---- errors (database_error.c) --------------------------------------------------------------------------------------

// Return the error of a result code of SQLite, with the database's path; doing: "open", "read", ...
Error database_error(const Database *database, int code, const char *doing);
Error database_statement_error(const Database *database, int code, const char *sql); // NULL: the statement is not known
// Returns an errno if the write failed for lack of room: the quota is used up, a file may not grow, or the disk has no
// room for SQLite's shared memory (to SQLite all of these are I/O errors). 0: another reason.
int database_no_room(const Database *database, int code);
// In a build with faults: the errno of the rule "sql:n:errno", instead of SQLite's answer; 0: no fault.
int database_fault(void);

// ---- files (database_system.c, database_beside.c) -------------------------------------------------------------------

// SQLite's own file system, with our system calls for all that names a file. NULL: not enough memory, which opening
// will report.
const char *database_file_system(void);

// Error if the database, or a file that SQLite would use beside it, is not safe to open.
Error database_check_files(const char *path);
bool database_has_wal(const char *path, Arena *arena);   // one that is not empty
bool database_is_frozen(const char *path, Arena *arena); // its folder is read-only, so no process can write to it
// Its -shm file must be created, and the disk has no room for it.
bool database_lacks_room(const char *path, Arena *arena);

// ---- statements (database.c) ----------------------------------------------------------------------------------------

int database_add_functions(sqlite3 *handle); // row_digest, SQL_FUNCTION; returns a code of SQLite
// The statement is to be interrupted (database_user.c, database_extension.c). Only the thread that runs it may ask.
bool database_is_late(const DatabaseGuard *guard);
// Why the last step of a statement could not read a block, once; no error if it could (database_blocks.c).
Error database_block_error(const Database *database);

#endif
