// The table over blocks in a connection that another program opened: what the loadable extension adds. It is compiled
// only into that extension (HOPSCOTCH_EXTENSION).
//
// The other program lives long, and the campaign may go on meanwhile. So each statement looks whether the database has
// changed, and lists its blocks again if it has. To look is to begin the connection's transaction for reading, which
// ends with the statement. Until then all that the statement reads, blocks and rows, is of one state, and the files of
// that state stay (database_is_unobserved). Blocks that a cursor still reads are kept as long as it does.
//
// What changes here belongs to one connection, which SQLite gives to one thread at a time.
#define HOPSCOTCH_EXTENSION 1
#include "database_extension.h"

#include "clock.h"
#include "database_blocks.h"

#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

// The pointers to the program's SQLite. A library is loaded once into a process: it can't serve two copies of SQLite.
const sqlite3_api_routines *sqlite3_api = NULL;

// SQLite before these versions lacks functions that are called here (database_block_plan.c), or STRICT tables.
enum { HOST_SQLITE = SQLITE_VERSION_NUMBER >= 3038000 ? 3038000 : 3037000 };
enum { HOST_NAME_MOST = 200 }; // bytes of the name of an attached database

typedef struct HostBlocks {
    BlockModule *module;
    int64_t cursors; // that read them
    struct HostBlocks *before;
} HostBlocks;

typedef struct HostTable {
    Database database; // the first member: a module of blocks knows only its database
    DatabaseGuard guard;
    double asked; // by clock_seconds(): whether the statement is to be interrupted
    const DatabaseExtension *extension;
    HostBlocks *now; // then those before it; the last has the columns of all
    int64_t version; // with `changes`: the state of the database of which `now` is
    int changes;
    bool uncommitted; // that state
} HostTable;

static HostTable *host_of(sqlite3_vtab *base) { return (HostTable *)(uintptr_t)((BlockVtab *)base)->module->database; }

// ---- interrupts -----------------------------------------------------------------------------------------------------

// The program may interrupt the connection, or count steps of SQLite (sqlite3_progress_handler). The table asks while
// it reads, by a statement of many steps.
bool database_is_late(const DatabaseGuard *guard)
{
    static const char steps[] = "WITH RECURSIVE s(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM s LIMIT 1000) "
                                "SELECT count(*) FROM s";
    HostTable *host = (HostTable *)((uintptr_t)guard - offsetof(HostTable, guard));
    if (clock_seconds() < host->asked + 0.02) return false;
    const int code = sqlite3_exec(host->database.handle, steps, NULL, NULL, NULL);
    host->asked = clock_seconds();
    return code == SQLITE_INTERRUPT;
}

// ---- the blocks of now ----------------------------------------------------------------------------------------------

static void host_free_blocks(HostBlocks *blocks)
{
    block_module_free(blocks->module);
    free(blocks);
}

// Forgets blocks that no cursor reads, except the newest and the oldest.
static void host_forget(HostTable *host)
{
    for (HostBlocks **at = &host->now->before; *at != NULL && (*at)->before != NULL;) {
        HostBlocks *blocks = *at;
        if (blocks->cursors > 0) {
            at = &blocks->before;
            continue;
        }
        *at = blocks->before;
        host_free_blocks(blocks);
    }
}

static bool host_column_is(const NumberColumn *a, const NumberColumn *b)
{
    if (strcmp(a->field.name, b->field.name) != 0 || a->type != b->type || a->n_words != b->n_words) return false;
    for (int i = 0; i < a->n_words; i++) {
        if (strcmp(a->words[i], b->words[i]) != 0) return false;
    }
    return true;
}

// SQLite knows the columns from the time when the table was created, and may keep pointers to their words.
static Error host_keep_columns(const HostTable *host, BlockTable *table)
{
    const HostBlocks *oldest = host->now;
    while (oldest != NULL && oldest->before != NULL) oldest = oldest->before;
    if (oldest == NULL) return error_none();
    const BlockTable *known = &oldest->module->table;
    bool same = table->n_columns == known->n_columns;
    for (int c = 0; same && c < known->n_columns; c++) same = host_column_is(&table->columns[c], &known->columns[c]);
    if (!same)
        return error_make(ERROR_USER, "the columns of %s changed: connect again", path_text(host->database.path).text);
    table->columns = known->columns;
    return error_none();
}

static Error host_load(HostTable *host)
{
    BlockTable table;
    HostBlocks *next = calloc(1, sizeof *next);
    if (next == NULL) return error_make(ERROR_MEMORY, "not enough memory for a table");
    Error error = host->extension->load(&host->database, &table);
    if (error.kind == OK) {
        error = host_keep_columns(host, &table);
        if (error.kind != OK)
            table.done(table.source);
        else
            error = block_module_make(&host->database, &table, &next->module);
    }
    if (error.kind != OK) {
        free(next);
        return error;
    }
    next->before = host->now;
    host->now = next;
    host_forget(host);
    return error_none();
}

// *version: changes when another connection commits.
static Error host_version(HostTable *host, int64_t *version)
{
    Statement *statement = NULL;
    bool row = false;
    char *sql = sqlite3_mprintf("PRAGMA \"%w\".data_version", host->database.schema);
    Error error = sql != NULL ? database_prepare(&host->database, sql, &statement)
                              : error_make(ERROR_MEMORY, "not enough memory for a table");
    sqlite3_free(sql);
    if (error.kind == OK) error = statement_step(statement, &row);
    *version = row ? column_integer(statement, 0) : 0;
    statement_close(statement);
    return error;
}

static Error host_look(HostTable *host)
{
    sqlite3 *handle = host->database.handle;
    int64_t version = 0;
    TRY(host_version(host, &version));
    const int changes = sqlite3_total_changes(handle);
    const bool uncommitted = sqlite3_txn_state(handle, host->database.schema) == SQLITE_TXN_WRITE;
    const bool same = host->now != NULL && version == host->version && changes == host->changes;
    if (!same || uncommitted || host->uncommitted) TRY(host_load(host));
    host->version = version;
    host->changes = changes;
    host->uncommitted = uncommitted; // and may be rolled back
    host->extension->start(host->now->module->table.source);
    return error_none();
}

// ---- the table ------------------------------------------------------------------------------------------------------

static void host_free(HostTable *host)
{
    if (host == NULL) return;
    for (HostBlocks *blocks = host->now, *before; blocks != NULL; blocks = before) {
        before = blocks->before;
        host_free_blocks(blocks);
    }
    free((char *)(uintptr_t)host->database.schema);
    free(host->database.path);
    free(host);
}

// A name in the text of a statement, in quotes or not.
static char *host_unquoted(const char *text)
{
    const size_t length = strlen(text);
    const bool quoted = length >= 2 && strchr("'\"`", text[0]) != NULL && text[length - 1] == text[0];
    return quoted ? strndup(text + 1, length - 2) : strdup(text);
}

static Error host_open(sqlite3 *handle, const DatabaseExtension *extension, const char *schema, HostTable *host)
{
    *host = (HostTable){.database = {.handle = handle, .mode = DATABASE_READ, .lock = -1, .guard = &host->guard},
                        .extension = extension};
    host->database.schema = host_unquoted(schema);
    if (host->database.schema == NULL) return error_make(ERROR_MEMORY, "not enough memory for a table");
    const char *path = sqlite3_db_filename(handle, host->database.schema);
    if (path == NULL || path[0] == '\0' || strlen(host->database.schema) > HOST_NAME_MOST)
        return error_make(ERROR_USER, "%.100s is not an attached database with a file", host->database.schema);
    host->database.path = strdup(path);
    if (host->database.path == NULL) return error_make(ERROR_MEMORY, "not enough memory for a table");
    if (!extension->has_blocks(&host->database))
        return error_make(ERROR_USER, "%s has no trials in blocks", path_text(path).text);
    return host_look(host);
}

static int host_connect(sqlite3 *handle, void *given, int count, const char *const *arguments, sqlite3_vtab **out,
                        char **words)
{
    HostTable *host = calloc(1, sizeof *host);
    if (host == NULL) return SQLITE_NOMEM;
    Error error = error_none();
    if (sqlite3_stricmp(arguments[1], "temp") != 0 || count > 4)
        error = error_make(ERROR_USER, "write: CREATE VIRTUAL TABLE temp.NAME USING %s(DATABASE)", arguments[0]);
    else
        error = host_open(handle, given, count > 3 ? arguments[3] : "main", host);
    if (error.kind != OK) *words = sqlite3_mprintf("%s", error.text);
    int code = error.kind == OK ? SQLITE_OK : SQLITE_ERROR;
    if (code == SQLITE_OK) code = block_module.xConnect(handle, host->now->module, count, arguments, out, words);
    if (code != SQLITE_OK) host_free(host);
    return code;
}

static int host_disconnect(sqlite3_vtab *vtab)
{
    host_free(host_of(vtab));
    return block_module.xDisconnect(vtab);
}

static int host_open_cursor(sqlite3_vtab *vtab, sqlite3_vtab_cursor **out)
{
    HostTable *host = host_of(vtab);
    const Error error = host_look(host);
    if (error.kind != OK) {
        sqlite3_free(vtab->zErrMsg);
        vtab->zErrMsg = sqlite3_mprintf("%s", error.text);
        return SQLITE_ERROR;
    }
    ((BlockVtab *)vtab)->module = host->now->module;
    const int code = block_module.xOpen(vtab, out);
    if (code == SQLITE_OK) host->now->cursors++;
    return code;
}

static int host_close_cursor(sqlite3_vtab_cursor *cursor)
{
    HostTable *host = host_of(cursor->pVtab);
    const BlockModule *module = ((BlockCursor *)cursor)->module;
    const int code = block_module.xClose(cursor);
    for (HostBlocks *blocks = host->now; blocks != NULL; blocks = blocks->before)
        blocks->cursors -= blocks->module == module;
    host_forget(host);
    return code;
}

// ---- the extension --------------------------------------------------------------------------------------------------

static sqlite3_module host_module; // set once

static void host_make_module(void)
{
    host_module = block_module;
    host_module.xCreate = host_module.xConnect = host_connect;
    host_module.xDestroy = host_module.xDisconnect = host_disconnect;
    host_module.xOpen = host_open_cursor;
    host_module.xClose = host_close_cursor;
}

// False: another copy of SQLite in this process has loaded the library.
static bool host_take_api(const sqlite3_api_routines *api)
{
    const sqlite3_api_routines *known = NULL;
    return __atomic_compare_exchange_n(&sqlite3_api, &known, api, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST) ||
           known == api;
}

static int host_add_table(sqlite3 *handle, const DatabaseExtension *extension, char **words)
{
    const Database database = {.handle = handle};
    if (!extension->has_blocks(&database)) return SQLITE_OK;
    char *sql = sqlite3_mprintf("CREATE VIRTUAL TABLE IF NOT EXISTS temp.\"%w\" USING \"%w\"(main)", extension->table,
                                extension->module);
    const int code = sql != NULL ? sqlite3_exec(handle, sql, NULL, NULL, words) : SQLITE_NOMEM;
    sqlite3_free(sql);
    return code;
}

int database_extend(sqlite3 *handle, char **words, const sqlite3_api_routines *api, const DatabaseExtension *extension)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    if (!host_take_api(api)) {
        *words = api->mprintf("%s: another copy of SQLite in this process uses it", extension->module);
        return SQLITE_ERROR;
    }
    if (sqlite3_libversion_number() < HOST_SQLITE) {
        *words = sqlite3_mprintf("%s needs SQLite 3.%d, and this is %s", extension->module, HOST_SQLITE / 1000 % 1000,
                                 sqlite3_libversion());
        return SQLITE_ERROR;
    }
    pthread_once(&once, host_make_module);
    int code = sqlite3_create_module_v2(handle, extension->module, &host_module, (void *)(uintptr_t)extension, NULL);
    if (code == SQLITE_OK) code = host_add_table(handle, extension, words);
    if (code == SQLITE_OK) return SQLITE_OK_LOAD_PERMANENTLY; // other connections, and threads, may still use it
    sqlite3_create_module_v2(handle, extension->module, NULL, NULL, NULL); // SQLite unloads the library now
    return code;
}
