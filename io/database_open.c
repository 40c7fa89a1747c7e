// Opens, locks and closes connections to databases.
#include "database_connection.h"
#include "system.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { DATABASE_VALUE_MAX = 64 << 20 };

// Every commit is on the disk when COMMIT returns (synchronous FULL). The WAL is copied into the database every 64 MiB,
// not every 4 MiB, so that a page that several transactions change is copied once. When INSERT OR REPLACE deletes a
// row, the triggers for deletion run (recursive_triggers).
static const char database_settings_write[] = "PRAGMA synchronous = FULL;"
                                              "PRAGMA foreign_keys = ON;"
                                              "PRAGMA wal_autocheckpoint = 16384;"
                                              "PRAGMA cache_size = -32768;"
                                              "PRAGMA recursive_triggers = ON;";
// On a network file system hosts cannot share memory, so one host has the file for itself.
static const char database_settings_shared[] = "PRAGMA locking_mode = EXCLUSIVE;"
                                               "PRAGMA synchronous = EXTRA;"
                                               "PRAGMA foreign_keys = ON;"
                                               "PRAGMA cache_size = -32768;"
                                               "PRAGMA recursive_triggers = ON;";
static const char database_settings_read[] = "PRAGMA cache_size = -32768;";

typedef struct DatabaseAnswer {
    char text[16];
} DatabaseAnswer;

static int database_take_answer(void *answer, int columns, char **values, char **names)
{
    (void)names;
    if (columns > 0 && values[0] != NULL)
        snprintf(((DatabaseAnswer *)answer)->text, sizeof(DatabaseAnswer), "%s", values[0]);
    return 0;
}

// Runs statements that belong to opening; *answer (may be NULL): the first column of the last row.
static Error database_set_up(Database *database, const char *sql, DatabaseAnswer *answer)
{
    int code = database_fault();
    if (code == SQLITE_OK)
        code = sqlite3_exec(database->handle, sql, answer != NULL ? database_take_answer : NULL, answer, NULL);
    return code == SQLITE_OK ? error_none() : database_error(database, code, "open it");
}

// PRAGMA journal_mode answers with the mode after the call.
static Error database_journal_mode(Database *database, const char *sql, const char *mode)
{
    DatabaseAnswer answer = {""};
    TRY(database_set_up(database, sql, &answer));
    if (strcmp(answer.text, mode) == 0) return error_none();
    return error_make(ERROR_MACHINE, "%s: SQLite's journal mode %s does not work here: put the results on a local disk",
                      path_text(database->path).text, mode);
}

// file:PATH?immutable=1, with the reserved characters of a URI escaped (RFC 3986, 2.1)
static const char *database_immutable_uri(const char *path, Arena *arena)
{
    char *uri = ARENA_NEW(arena, char, 3 * strlen(path) + 32), *at = uri;
    at += sprintf(at, path[0] == '/' ? "file://" : "file:");
    for (const char *c = path; *c != '\0'; c++) {
        if (strchr("%?#", *c) != NULL)
            at += sprintf(at, "%%%02X", (unsigned)(unsigned char)*c);
        else
            *at++ = *c;
    }
    strcpy(at, "?immutable=1");
    return uri;
}

// Against a hostile file: nothing in its schema runs (our own triggers are temporary, which this does not affect), none
// of its functions is called, and no value of it can fill the memory.
static void database_defend(sqlite3 *handle)
{
    sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, (int *)NULL);
    sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, (int *)NULL);
    sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_VIEW, 0, (int *)NULL);
    sqlite3_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, (int *)NULL);
    sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, DATABASE_VALUE_MAX);
}

// By default SQLite counts every byte that it takes, behind a lock. That is a tenth of the cost of a row, so it is
// turned off before SQLite's first use. A path that begins with "file:" is not a URI, unless the call says so.
static void database_configure(void)
{
    sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
    sqlite3_config(SQLITE_CONFIG_URI, 0);
}

static Error database_connect(Database *database, const char *name, int flags)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    int code = database_fault();
    pthread_once(&once, database_configure);
    flags |= SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
    const char *file_system = database_file_system();
    if (code == SQLITE_OK && file_system == NULL) code = SQLITE_NOMEM;
    if (code == SQLITE_OK) code = sqlite3_open_v2(name, &database->handle, flags, file_system);
    if (code == SQLITE_OK) code = database_add_functions(database->handle);
    if (code != SQLITE_OK) return database_error(database, code, "open it");
    sqlite3_busy_timeout(database->handle, DATABASE_BUSY_MILLISECONDS);
    database_defend(database->handle);
    sqlite3_db_config(database->handle, SQLITE_DBCONFIG_DQS_DML, 0, (int *)NULL); // "unknown" is an error
    return error_none();
}

static Error database_start_writer(Database *database)
{
    const bool shared = database->mode == DATABASE_WRITE_SHARED;
    TRY(database_connect(database, database->path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE));
    TRY(database_set_up(database, shared ? database_settings_shared : database_settings_write, NULL));
    return shared ? database_journal_mode(database, "PRAGMA journal_mode = TRUNCATE", "truncate")
                  : database_journal_mode(database, "PRAGMA journal_mode = WAL", "wal");
}

// Reads the header and the schema, so that damage to the file is found here.
static Error database_probe(Database *database)
{
    TRY(database_set_up(database, database_settings_read, NULL));
    return database_set_up(database, "SELECT count(*) FROM sqlite_schema", NULL);
}

static Error database_reconnect(Database *database, const char *name, int flags)
{
    sqlite3_close_v2(database->handle);
    database->handle = NULL;
    return database_connect(database, name, flags);
}

// If there is no -shm file and none can be created, a connection with exclusive use keeps its contents in its own
// memory (SQLite's locking mode EXCLUSIVE, which must be set before the first read). We take the lock for that
// ourselves, on our own descriptor: SQLite's own locks are POSIX locks, which do not exclude other connections of the
// same process. A file that can only be read is not locked.

static Error database_lock(Database *database)
{
    enum { DATABASE_LOCK_MILLISECONDS = 10 };
    short found;
    database->lock = system_open(database->path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    if (database->lock < 0) return error_none();
    for (int waited = 0; system_lock(database->lock, F_SETLK, F_WRLCK, &found) < 0;
         waited += DATABASE_LOCK_MILLISECONDS) {
        if (errno != EAGAIN && errno != EACCES && errno != EINTR) return file_error("lock", database->path, 0);
        if (waited >= DATABASE_BUSY_MILLISECONDS) return database_error(database, SQLITE_BUSY, "open it");
        nanosleep(&(struct timespec){.tv_nsec = DATABASE_LOCK_MILLISECONDS * 1000000L}, NULL);
    }
    return error_none();
}

static int database_lock_nothing(sqlite3_file *file, int level)
{
    (void)file;
    (void)level;
    return SQLITE_OK;
}

// From now on SQLite takes no locks on its file.
static void database_leave_locks(Database *database)
{
    static sqlite3_io_methods methods; // the same for all connections
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    sqlite3_file *file = NULL;
    sqlite3_file_control(database->handle, "main", SQLITE_FCNTL_FILE_POINTER, &file);
    if (file == NULL || file->pMethods == NULL) return;
    pthread_mutex_lock(&mutex);
    if (methods.iVersion == 0) methods = *file->pMethods;
    methods.xLock = methods.xUnlock = database_lock_nothing;
    pthread_mutex_unlock(&mutex);
    file->pMethods = &methods;
}

// Opens a reader that writes nothing: the WAL is read but not copied into the database.
static Error database_start_alone(Database *database)
{
    TRY(database_lock(database));
    TRY(database_reconnect(database, database->path, SQLITE_OPEN_READWRITE)); // or only to read
    database_leave_locks(database);
    sqlite3_db_config(database->handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, (int *)NULL);
    TRY(database_set_up(database, "PRAGMA locking_mode = EXCLUSIVE", NULL));
    return database_probe(database);
}

// Opens a database that no process writes to and that is complete in its one file.
static Error database_start_frozen(Database *database, Arena *arena)
{
    TRY(database_reconnect(database, database_immutable_uri(database->path, arena),
                           SQLITE_OPEN_READONLY | SQLITE_OPEN_URI));
    return database_probe(database);
}

static Error database_start_somehow(Database *database, Arena *arena)
{
    const bool lacks_room = database_lacks_room(database->path, arena);
    Error error = error_none();
    TRY(database_connect(database, database->path, SQLITE_OPEN_READONLY));
    if (!lacks_room) error = database_probe(database);
    if (!lacks_room && error.kind == OK) return error;
    const int code = sqlite3_extended_errcode(database->handle), primary = code & 0xff;
    const bool full = lacks_room || database_no_room(database, code) != 0;
    const bool frozen =
        (full || primary == SQLITE_CANTOPEN || primary == SQLITE_READONLY) && database_is_frozen(database->path, arena);
    if (frozen && !database_has_wal(database->path, arena)) return database_start_frozen(database, arena);
    return frozen || full ? database_start_alone(database) : error;
}

static Error database_start_reader(Database *database)
{
    Arena arena;
    TRY(arena_create(&arena, 1 << 16, "a database's path"));
    const Error error = database_start_somehow(database, &arena);
    arena_destroy(&arena);
    return error;
}

static void database_free(Database *database)
{
    sqlite3_close_v2(database->handle);
    if (database->lock >= 0) (void)system_close(database->lock);
    free(database->path);
    free(database);
}

// For a writer: checks that its path still names the file that was opened.
Error database_check_path(const Database *database)
{
    struct stat status;
    const bool there = system_named_stat(database->path, &status) == 0;
    if (there && status.st_dev == database->device && status.st_ino == database->inode) return error_none();
    return error_make(ERROR_MACHINE,
                      "%s was %s while it was written: what was committed before is in the original file",
                      path_text(database->path).text, there ? "replaced by another file" : "moved away");
}

static void database_note_identity(Database *database)
{
    struct stat status;
    if (system_link_stat(database->path, &status) != 0) return; // database_check_path will report it
    database->device = status.st_dev;
    database->inode = status.st_ino;
}

// Opens the file that was there before, or makes a new one; refuses a file that replaced it meanwhile.
static Error database_start(Database *database)
{
    database_note_identity(database);
    const bool there = database->inode != 0;
    TRY(database->mode == DATABASE_READ ? database_start_reader(database) : database_start_writer(database));
    if (there && database_check_path(database).kind != OK)
        return error_make(ERROR_MACHINE, "%s was replaced or moved by another process just now: try again",
                          path_text(database->path).text);
    if (!there) database_note_identity(database);
    return error_none();
}

static Error database_new(const char *path, DatabaseMode mode, Database **out)
{
    Database *database = calloc(1, sizeof *database);
    if (database != NULL) database->path = strdup(path);
    if (database == NULL || database->path == NULL) {
        free(database);
        return error_make(ERROR_MACHINE, "%s: cannot open it: there is not enough memory", path_text(path).text);
    }
    database->mode = mode;
    database->lock = -1;
    *out = database;
    return error_none();
}

static Error database_opened(Database *database, Error error, Database **out)
{
    if (error.kind == OK)
        *out = database;
    else
        database_free(database);
    return error;
}

Error database_open(const char *path, DatabaseMode mode, Database **out)
{
    Database *database = NULL;
    *out = NULL;
    TRY(database_check_files(path));
    TRY(database_new(path, mode, &database));
    return database_opened(database, database_start(database), out);
}

Error database_open_still(const char *path, Arena *arena, Database **out)
{
    Database *database = NULL;
    *out = NULL;
    TRY(database_new(path, DATABASE_READ, &database));
    const char *uri = database_immutable_uri(path, arena);
    return database_opened(database, database_connect(database, uri, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI), out);
}

// At the end the writer copies the WAL into the database, so that a finished campaign is one file that opens anywhere.
// If a reader still uses the WAL, or the disk is full, this neither waits nor fails: what was committed stays in the
// WAL.
static Error database_checkpoint(Database *database)
{
    int code = database_fault();
    sqlite3_busy_timeout(database->handle, 0);
    if (code == SQLITE_OK)
        code = sqlite3_wal_checkpoint_v2(database->handle, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
    const int primary = code & 0xff;
    if (code == SQLITE_OK || primary == SQLITE_BUSY || primary == SQLITE_LOCKED) return error_none();
    if (database_no_room(database, code) != 0) return error_none();
    return database_error(database, code, "copy its WAL into it");
}

Error database_close(Database *database)
{
    if (database == NULL) return error_none();
    Error error = database->mode == DATABASE_WRITE ? database_checkpoint(database) : error_none();
    const bool closed = sqlite3_close(database->handle) == SQLITE_OK;
    if (closed) database->handle = NULL;
    if (!closed && error.kind == OK)
        error = error_make(ERROR_MACHINE, "%s: bug: closed before its statements", path_text(database->path).text);
    database_free(database);
    return error;
}

// ---- one state ------------------------------------------------------------------------------------------------------

Error database_hold(Database *database)
{
    if (!sqlite3_get_autocommit(database->handle)) return error_none();
    TRY(database_run(database, "BEGIN"));
    database->held = true;
    return error_none();
}

bool database_is_held(const Database *database) { return database->held; }

bool database_is_unobserved(Database *database)
{
    sqlite3_busy_timeout(database->handle, 0);
    const int code = sqlite3_wal_checkpoint_v2(database->handle, NULL, SQLITE_CHECKPOINT_RESTART, NULL, NULL);
    sqlite3_busy_timeout(database->handle, DATABASE_BUSY_MILLISECONDS);
    return code == SQLITE_OK;
}
