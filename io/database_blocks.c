// A table of SQLite over blocks of columns: a virtual table that finds rows by loops over columns (columns.h). SQLite's
// own loop takes 75 ms to compare and sort a million rows of a virtual table, a loop over a column one.
#include "database_blocks.h"

// ---- a cursor -------------------------------------------------------------------------------------------------------

static int block_open(sqlite3_vtab *base, sqlite3_vtab_cursor **out)
{
    BlockCursor *cursor = sqlite3_malloc64(sizeof *cursor);
    if (cursor == NULL) return SQLITE_NOMEM;
    *cursor = (BlockCursor){.module = ((BlockVtab *)base)->module};
    const int code = block_rows_start(cursor);
    if (code == SQLITE_OK) {
        *out = &cursor->base;
        return code;
    }
    block_rows_free(cursor);
    sqlite3_free(cursor);
    return code;
}

static int block_close(sqlite3_vtab_cursor *cursor)
{
    block_rows_free((BlockCursor *)cursor);
    sqlite3_free(cursor);
    return SQLITE_OK;
}

static int block_next(sqlite3_vtab_cursor *cursor) { return block_rows_next((BlockCursor *)cursor); }

static int block_eof(sqlite3_vtab_cursor *cursor) { return block_rows_end((BlockCursor *)cursor); }

static int block_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column)
{
    BlockCursor *cursor = (BlockCursor *)base;
    const NumberColumn *shown = &cursor->module->table.columns[column];
    Cell cell;
    const int code = block_rows_cell(cursor, column, &cell);
    if (code != SQLITE_OK) return code;
    if (shown->type == NUMBER_REAL)
        sqlite3_result_double(context, cell.real + 0.0); // NaN becomes NULL, -0 becomes 0
    else if (shown->words == NULL)
        sqlite3_result_int64(context, cell.integer);
    else
        sqlite3_result_text(context, number_word(shown, cell.integer), -1, SQLITE_STATIC);
    return SQLITE_OK;
}

static int block_rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *id)
{
    Cell cell;
    const int code = block_rows_cell((BlockCursor *)cursor, 0, &cell);
    if (code == SQLITE_OK) *id = cell.integer;
    return code;
}

// ---- the table ------------------------------------------------------------------------------------------------------

static const char *block_declared_type(const NumberColumn *column)
{
    return column->words != NULL ? "TEXT" : column->type == NUMBER_REAL ? "REAL" : "INTEGER";
}

// The table has the types of a row's columns, so that SQLite compares them in the same way.
static int block_connect(sqlite3 *handle, void *given, int count, const char *const *arguments, sqlite3_vtab **out,
                         char **words)
{
    BlockModule *module = given;
    const BlockTable *table = &module->table;
    sqlite3_str *sql = sqlite3_str_new(handle);
    (void)count, (void)arguments, (void)words;
    for (int c = 0; c < table->n_columns; c++)
        sqlite3_str_appendf(sql, "%s\"%w\" %s", c > 0 ? ", " : "CREATE TABLE blocks(", table->columns[c].field.name,
                            block_declared_type(&table->columns[c]));
    sqlite3_str_appendall(sql, ")");
    char *text = sqlite3_str_finish(sql);
    BlockVtab *vtab = sqlite3_malloc64(sizeof *vtab);
    int code = text != NULL && vtab != NULL ? sqlite3_declare_vtab(handle, text) : SQLITE_NOMEM;
    sqlite3_free(text);
    if (code == SQLITE_OK) code = sqlite3_vtab_config(handle, SQLITE_VTAB_DIRECTONLY); // not for a schema's views
    if (code != SQLITE_OK) {
        sqlite3_free(vtab);
        return code;
    }
    *vtab = (BlockVtab){.module = module};
    *out = &vtab->base;
    return SQLITE_OK;
}

static int block_disconnect(sqlite3_vtab *vtab)
{
    sqlite3_free(vtab);
    return SQLITE_OK;
}

const sqlite3_module block_module = {.xCreate = block_connect,
                                     .xConnect = block_connect,
                                     .xBestIndex = block_plan,
                                     .xDisconnect = block_disconnect,
                                     .xDestroy = block_disconnect,
                                     .xOpen = block_open,
                                     .xClose = block_close,
                                     .xFilter = block_filter,
                                     .xNext = block_next,
                                     .xEof = block_eof,
                                     .xColumn = block_column,
                                     .xRowid = block_rowid};

// ---- adding it ------------------------------------------------------------------------------------------------------

Error database_block_error(const Database *database)
{
    if (database->blocks == NULL) return error_none();
    const Error error = database->blocks->error;
    database->blocks->error = error_none();
    return error;
}

void block_module_free(void *given)
{
    const BlockModule *module = given;
    Arena arena = module->arena;
    if (module->table.done != NULL) module->table.done(module->table.source);
    arena_destroy(&arena);
}

Error block_module_make(const Database *database, const BlockTable *table, BlockModule **out)
{
    Arena arena;
    const size_t before = ((size_t)table->n_blocks + 1) * sizeof(int64_t);
    const Error error = arena_create(&arena, sizeof(BlockModule) + before + 4096, "a list of blocks");
    if (error.kind != OK && table->done != NULL) table->done(table->source);
    TRY(error);
    BlockModule *module = ARENA_NEW(&arena, BlockModule, 1);
    *module =
        (BlockModule){.database = database, .table = *table, .before = ARENA_NEW(&arena, int64_t, table->n_blocks + 1)};
    module->arena = arena;
    for (int64_t b = 0; b < table->n_blocks; b++) module->before[b + 1] = module->before[b] + table->blocks[b].rows;
    *out = module;
    return error_none();
}

Error database_add_blocks(Database *database, const char *name, const BlockTable *table)
{
    BlockModule *module = NULL;
    TRY(block_module_make(database, table, &module));
    int code = sqlite3_create_module_v2(database->handle, name, &block_module, module, block_module_free);
    if (code != SQLITE_OK) return database_error(database, code, "add a table of blocks"); // SQLite freed the module
    database->blocks = module;
    char *sql = sqlite3_mprintf("CREATE VIRTUAL TABLE temp.\"%w\" USING \"%w\"", name, name);
    code = sql != NULL ? sqlite3_exec(database->handle, sql, NULL, NULL, NULL) : SQLITE_NOMEM;
    sqlite3_free(sql);
    return code == SQLITE_OK ? error_none() : database_error(database, code, "add a table of blocks");
}

void *database_blocks_source(const Database *database)
{
    return database->blocks != NULL ? database->blocks->table.source : NULL;
}

Error database_remove_blocks(Database *database, const char *name)
{
    char *sql = sqlite3_mprintf("DROP TABLE IF EXISTS temp.\"%w\"", name);
    int code = sql != NULL ? sqlite3_exec(database->handle, sql, NULL, NULL, NULL) : SQLITE_NOMEM;
    sqlite3_free(sql);
    if (code == SQLITE_OK) {
        database->blocks = NULL;
        code = sqlite3_create_module_v2(database->handle, name, NULL, NULL, NULL);
    }
    return code == SQLITE_OK ? error_none() : database_error(database, code, "remove a table of blocks");
}
