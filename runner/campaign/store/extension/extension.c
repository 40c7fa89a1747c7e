// libhopscotch_sqlite: a loadable extension of SQLite that shows the trials of a campaign in blocks to any program. It
// is compiled for that library only, with the few files that it needs (Makefile).
#include "../trials/trial_blocks.h"

struct sqlite3;
struct sqlite3_api_routines;
// SQLite finds it by the name of the library. The only symbol that the library exports (exports.map).
__attribute__((visibility("default"))) int sqlite3_hopscotchsqlite_init(struct sqlite3 *handle, char **words,
                                                                        const struct sqlite3_api_routines *api);

static Error extension_integer(Database *database, const char *format, Arena *arena, int64_t *value)
{
    const char *schema = sql_identifier(arena, database_schema(database));
    return store_integer(database, arena_format(arena, format, schema), 0, value);
}

// Views and virtual tables of their names could call functions of the program.
static Error extension_check_tables(Database *database, Arena *arena)
{
    int64_t application = 0, version = 0, tables = 0;
    TRY(extension_integer(database, "PRAGMA %s.application_id", arena, &application));
    TRY(extension_integer(database, "PRAGMA %s.user_version", arena, &version));
    TRY(extension_integer(database,
                          "SELECT count(*) FROM %s.sqlite_schema WHERE type = 'table' AND rootpage > 0 AND name IN "
                          "('blocks', 'block_words', 'best')",
                          arena, &tables));
    const char *path = database_path(database);
    if (application != STORE_APPLICATION_ID || tables != 3)
        return error_make(ERROR_USER, "%.300s is not a campaign of hopscotch with trials in blocks", path);
    if (version == STORE_SCHEMA_WITH_BLOCKS || version == STORE_SCHEMA_WITH_WORDS) return error_none();
    return error_make(ERROR_USER,
                      "%.300s has schema version %lld, expected %d: use the libhopscotch_sqlite that belongs "
                      "to the program that wrote it",
                      path, (long long)version, STORE_SCHEMA_WITH_BLOCKS);
}

// Files are opened only in the campaign's folder, and no link there is followed. SQLite resolved the path.
static Error extension_check_folder(Database *database, Arena *arena)
{
    const char *folder = folder_of(database_path(database), arena);
    TRY(nofollow_renew_root(folder_of(folder, arena)));
    return folder_check_inside(arena_format(arena, "%s/" CAMPAIGN_SHARDS, folder));
}

static Error extension_check(Database *database)
{
    Arena arena;
    TRY(arena_create_growing(&arena, 1 << 20, "the tables of a campaign"));
    Error error = extension_check_tables(database, &arena);
    if (error.kind == OK) error = extension_check_folder(database, &arena);
    arena_destroy(&arena);
    return error;
}

static Error extension_load(Database *database, BlockTable *table)
{
    TrialBlocks *list = NULL;
    TRY(extension_check(database));
    TRY(trial_blocks_load(database, &list));
    *table = trial_blocks_shown(list);
    return error_none();
}

static void extension_start(void *source) { blocks_start_again(((TrialBlocks *)source)->blocks); }

int sqlite3_hopscotchsqlite_init(struct sqlite3 *handle, char **words, const struct sqlite3_api_routines *api)
{
    static const DatabaseExtension extension = {.module = "hopscotch_trials",
                                                .table = "trials",
                                                .has_blocks = trial_blocks_exist,
                                                .load = extension_load,
                                                .start = extension_start};
    return database_extend(handle, words, api, &extension);
}
