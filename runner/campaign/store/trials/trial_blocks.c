// See trial_blocks.h. The blocks of a campaign as its database lists them, and the table over them.
#include "trial_blocks.h"

#include "best_rows.h"
#include "../ground/cursor.h"
#include "../queries.h"
#include "../ground/rows.h"

#include <stdio.h>
#include <string.h>

// Most words of a column; columns: the limit of SQLite itself.
enum { TRIAL_BLOCKS_WORDS = 1024, TRIAL_BLOCKS_COLUMNS = 2000 };
// In the table block_words word i of the column c has the number c*TRIAL_BLOCKS_NUMBERS + i; of `failure` i.
enum { TRIAL_BLOCKS_NUMBERS = 1 << 16 };

// ---- a new campaign -------------------------------------------------------------------------------------------------

static const char trial_blocks_sql[] =
    "CREATE TABLE blocks(id INTEGER PRIMARY KEY, first INTEGER NOT NULL, last INTEGER NOT NULL,\n"
    "  rows INTEGER NOT NULL, name TEXT NOT NULL UNIQUE, bytes INTEGER NOT NULL,\n"
    "  columns BLOB NOT NULL, sha256 TEXT NOT NULL, digest INTEGER NOT NULL,\n"
    "  seal INTEGER NOT NULL) STRICT;\n"
    "CREATE TABLE block_words(number INTEGER PRIMARY KEY, word TEXT NOT NULL) STRICT;\n";

bool trial_blocks_exist(const Database *database) { return database_has(database, "blocks", "digest"); }

const char *trial_blocks_table(const Database *database) { return trial_blocks_exist(database) ? "best" : "trials"; }

// auto: where a row of SQLite takes longer than a trial, and a query of columns is much faster. Rows of replicates are
// in a table of rows.
bool trial_blocks_are_chosen(const Spec *spec, int64_t trials)
{
    const int64_t many = 100000;
    if (spec->replicates.store || spec->model->by_hand || strcmp(spec->store.rows, "table") == 0) return false;
    return strcmp(spec->store.rows, "blocks") == 0 || trials >= many;
}

// Columns besides `failure` have words.
static bool trial_blocks_have_words(const Spec *spec)
{
    for (int i = 0; i < rows_searched(spec); i++) {
        if (rows_choices(spec, i) != NULL) return true;
    }
    return false;
}

Error trial_blocks_make(Database *database, const Spec *spec, Arena *arena)
{
    char sql[64];
    snprintf(sql, sizeof sql, "PRAGMA user_version = %d",
             trial_blocks_have_words(spec) ? STORE_SCHEMA_WITH_WORDS : STORE_SCHEMA_WITH_BLOCKS);
    TRY(database_run(database, sql));
    TRY(database_run(database, trial_blocks_sql));
    return best_rows_make(database, spec, arena);
}

// The number of a column's first word in block_words.
static int64_t trial_blocks_first_word(int column, const char *name)
{
    return strcmp(name, "failure") == 0 ? 0 : (int64_t)column * TRIAL_BLOCKS_NUMBERS;
}

Error trial_blocks_fill(Database *database, const Spec *spec, Arena *arena)
{
    MemoryTable rows;
    rows_table_take(spec, arena, &rows);
    TRY(database_run(database, "DELETE FROM block_words"));
    Cursor insert = cursor_open(database, "INSERT INTO block_words VALUES(?, ?)");
    for (int c = 0; c < rows.n_columns; c++) {
        const MemoryColumn *column = &rows.columns[c];
        for (int i = 0; i < column->n_words; i++) {
            with_integer(&insert, trial_blocks_first_word(c, column->name) + i);
            with_text(&insert, column->words[i]);
            cursor_next(&insert);
        }
    }
    return cursor_close(&insert);
}

// ---- reading --------------------------------------------------------------------------------------------------------

void trial_blocks_free(void *source)
{
    TrialBlocks *list = source;
    blocks_close(list->blocks);
    Arena arena = list->arena;
    arena_destroy(&arena);
}

static Error trial_blocks_read(void *source, int64_t block, int column, int64_t first, int64_t rows, void *values)
{
    return blocks_read(((TrialBlocks *)source)->blocks, block, column, first, rows, values);
}

static const char *trial_blocks_schema(const Database *database, Arena *arena)
{
    return sql_identifier(arena, database_schema(database));
}

// The words of a column of texts, by their numbers. Another program may have removed some: they are unknown.
static Error trial_blocks_load_words(Database *database, int index, TrialBlocks *list, NumberColumn *column)
{
    Arena *arena = &list->arena;
    const int64_t first = trial_blocks_first_word(index, column->field.name);
    const char **words = ARENA_NEW(arena, const char *, TRIAL_BLOCKS_WORDS);
    Cursor rows = cursor_open(database, arena_format(arena,
                                                     "SELECT number, word FROM %s.block_words WHERE number >= ? AND "
                                                     "number < ? ORDER BY number",
                                                     trial_blocks_schema(database, arena)));
    with_integer(&rows, first);
    with_integer(&rows, first + TRIAL_BLOCKS_WORDS);
    while (column->n_words < TRIAL_BLOCKS_WORDS && cursor_next(&rows)) {
        const int word = (int)(cell_integer(&rows, 0) - first);
        while (column->n_words < word) words[column->n_words++] = "unknown";
        words[column->n_words++] = arena_copy(arena, cell_text(&rows, 1));
    }
    if (column->n_words == 0) words[column->n_words++] = "unknown";
    column->words = words;
    return cursor_close(&rows);
}

static NumberColumn trial_blocks_column(const char *name, const char *type)
{
    const bool text = strcmp(type, "TEXT") == 0, integer = strcmp(type, "INTEGER") == 0;
    return (NumberColumn){.field = {.name = name}, .type = text || integer ? NUMBER_INTEGER : NUMBER_REAL};
}

static Error trial_blocks_load_columns(Database *database, TrialBlocks *list)
{
    list->columns = ARENA_NEW(&list->arena, NumberColumn, TRIAL_BLOCKS_COLUMNS);
    Cursor each = cursor_open(database, "SELECT name, type FROM pragma_table_info('best', ?) ORDER BY cid");
    with_text(&each, database_schema(database));
    while (list->n_columns < TRIAL_BLOCKS_COLUMNS && cursor_next(&each)) {
        NumberColumn *column = &list->columns[list->n_columns];
        const char *type = cell_text(&each, 1);
        *column = trial_blocks_column(arena_copy(&list->arena, cell_text(&each, 0)), type);
        if (strcmp(type, "TEXT") == 0)
            cursor_stop(&each, trial_blocks_load_words(database, list->n_columns, list, column));
        list->n_columns++;
    }
    TRY(cursor_close(&each));
    if (list->n_columns > 0 && list->columns[0].type == NUMBER_INTEGER && list->columns[0].words == NULL)
        return error_none();
    return error_make(ERROR_MACHINE, "the first column of the table best is not the id: another program changed it");
}

static void trial_blocks_load_record(const Cursor *row, TrialBlocks *list)
{
    Arena *arena = &list->arena;
    BlockRecord *record = &list->records[list->n_records];
    const Bytes columns = cell_blob(row, 6);
    record->span = (BlockSpan){cell_integer(row, 1), cell_integer(row, 2), cell_integer(row, 3)};
    record->name = arena_copy(arena, cell_text(row, 4));
    record->bytes = cell_integer(row, 5);
    void *copy = arena_take(arena, columns.size + 1, 1);
    if (columns.size > 0) memcpy(copy, columns.data, columns.size);
    record->columns = (Bytes){copy, columns.size};
    record->around = arena_copy(arena, cell_text(row, 7));
    int64_t *digest = ARENA_NEW(arena, int64_t, 1);
    *digest = cell_integer(row, 8);
    record->rows_digest = digest;
    record->seal = cell_integer(row, 9);
    list->ids[list->n_records] = cell_integer(row, 0);
    list->spans[list->n_records++] = record->span;
}

static Error trial_blocks_load_records(Database *database, int64_t most, TrialBlocks *list)
{
    Arena *arena = &list->arena;
    const char *schema = trial_blocks_schema(database, arena);
    list->ids = ARENA_NEW(arena, int64_t, most + 1);
    list->records = ARENA_NEW(arena, BlockRecord, most + 1);
    list->spans = ARENA_NEW(arena, BlockSpan, most + 1);
    Cursor rows = cursor_open(
        database, arena_format(arena,
                               "SELECT id, first, last, rows, name, bytes, columns, sha256, digest, seal FROM "
                               "%s.blocks ORDER BY first",
                               schema));
    while (list->n_records < most && cursor_next(&rows)) trial_blocks_load_record(&rows, list);
    return cursor_close(&rows);
}

// Error ERROR_MACHINE: a record is damaged, or contradicts another one.
static Error trial_blocks_open(Database *database, TrialBlocks *list)
{
    Arena *arena = &list->arena;
    const char *folder = folder_of(database_path(database), arena), *slash = strrchr(folder, '/'); // RESULTS/NAME
    const char *name = slash != NULL ? slash + 1 : folder;
    return blocks_open(arena_format(arena, "%s/" CAMPAIGN_SHARDS, folder), list->columns, list->n_columns,
                       list->records, list->n_records,
                       arena_format(arena, "`%s` computes its trials again",
                                    command_again(folder_of(folder, arena), "resume %.128s", name).text),
                       &list->blocks);
}

// *records: their number; *bytes: of all texts and blobs that are loaded.
static Error trial_blocks_measure(Database *database, int64_t *records, int64_t *bytes)
{
    Arena arena;
    TRY(arena_create(&arena, 1 << 14, "a statement"));
    const char *schema = trial_blocks_schema(database, &arena);
    const char *sql = arena_format(
        &arena,
        "SELECT count(*), ifnull(sum(ifnull(length(CAST(name AS BLOB)), 0) + ifnull(length(CAST(columns AS BLOB)), 0) "
        "+ ifnull(length(CAST(sha256 AS BLOB)), 0)), 0) + "
        "ifnull((SELECT sum(length(CAST(word AS BLOB)) + 64) FROM %s.block_words), 0) + "
        "ifnull((SELECT sum(length(CAST(name AS BLOB)) + CASE type WHEN 'TEXT' THEN %d ELSE 0 END) FROM "
        "pragma_table_info('best', ?)), 0) FROM %s.blocks",
        schema, TRIAL_BLOCKS_WORDS * (int)sizeof(const char *) + 512, schema);
    Cursor row = cursor_open(database, sql);
    with_text(&row, database_schema(database));
    *records = *bytes = 0;
    if (cursor_next(&row)) {
        *records = cell_integer(&row, 0);
        *bytes = cell_integer(&row, 1);
    }
    arena_destroy(&arena);
    return cursor_close(&row);
}

// Room for all, so that a database from another person can't end the process. Most texts are copied once, names of
// files also into paths.
static size_t trial_blocks_room(int64_t records, int64_t bytes)
{
    const size_t alignment = 64, texts = 4;
    const size_t each = sizeof(BlockRecord) + sizeof(BlockSpan) + sizeof(int64_t) + (texts + 1) * alignment;
    const size_t columns = TRIAL_BLOCKS_COLUMNS * (sizeof(NumberColumn) + alignment + 1);
    return (size_t)records * each + 4 * (size_t)bytes + columns + (1 << 16);
}

static Error trial_blocks_read_records(Database *database, TrialBlocks **out)
{
    enum { RECORDS = 1 << 20, BYTES = 1 << 30 }; // most
    Arena arena;
    int64_t records = 0, bytes = 0;
    *out = NULL;
    TRY(trial_blocks_measure(database, &records, &bytes));
    if (records > RECORDS || bytes > BYTES)
        return error_make(ERROR_MACHINE, "%.300s lists more blocks than a campaign has", database_path(database));
    TRY(arena_create(&arena, trial_blocks_room(records, bytes), "the blocks of a campaign"));
    TrialBlocks *list = ARENA_NEW(&arena, TrialBlocks, 1);
    *list = (TrialBlocks){.arena = arena};
    Error error = trial_blocks_load_columns(database, list);
    if (error.kind == OK) error = trial_blocks_load_records(database, records, list);
    if (error.kind == OK)
        *out = list;
    else
        trial_blocks_free(list);
    return error;
}

Error trial_blocks_load(Database *database, TrialBlocks **out)
{
    TRY(trial_blocks_read_records(database, out));
    const Error error = trial_blocks_open(database, *out);
    if (error.kind == OK) return error;
    trial_blocks_free(*out);
    *out = NULL;
    return error;
}

// ---- the table trials -----------------------------------------------------------------------------------------------

BlockTable trial_blocks_shown(TrialBlocks *list)
{
    return (BlockTable){.columns = list->columns,
                        .n_columns = list->n_columns,
                        .blocks = list->spans,
                        .n_blocks = list->n_records,
                        .read = trial_blocks_read,
                        .done = trial_blocks_free,
                        .source = list};
}

// The blocks as a table of this connection, which then owns them.
static Error trial_blocks_add(Database *database)
{
    TrialBlocks *list = NULL;
    TRY(trial_blocks_load(database, &list));
    const BlockTable table = trial_blocks_shown(list);
    return database_add_blocks(database, "trials", &table); // which frees them, also after an error
}

// The state in which the blocks were listed is held, so that their files stay (trial_blocks_clear).
Error trial_blocks_show(Database *database)
{
    if (database_is_held(database) || !trial_blocks_exist(database)) return error_none();
    TRY(database_hold(database));
    return trial_blocks_exist(database) ? trial_blocks_add(database) : error_none();
}

Error trial_blocks_show_to_run(Database *database)
{
    if (!trial_blocks_exist(database)) return error_none();
    TRY(database_remove_blocks(database, "trials"));
    return trial_blocks_add(database);
}

Error trial_blocks_count(Database *database, int64_t *trials)
{
    return store_integer(database, "SELECT ifnull(sum(rows), 0) FROM main.blocks", 0, trials);
}

// ---- files ----------------------------------------------------------------------------------------------------------

bool trial_blocks_is_file(const char *name)
{
    const size_t length = strlen(name);
    return strncmp(name, "rows_", 5) == 0 && length > 3 && strcmp(name + length - 3, ".h5") == 0;
}

Error trial_blocks_are_named(Database *database, const char *name, bool *named)
{
    Cursor rows = cursor_open(database, "SELECT 1 FROM main.blocks WHERE name = ?");
    with_text(&rows, name);
    *named = cursor_next(&rows);
    return cursor_close(&rows);
}

static Error trial_blocks_copy_file(const char *from, const char *to, const char *name, int64_t bytes)
{
    Arena arena;
    Bytes content;
    TRY(arena_create(&arena, (size_t)(bytes > 0 ? bytes : 0) + 4096, "a block that is copied"));
    Error error = file_read_stored(from, (size_t)(bytes > 0 ? bytes : 0), &arena, &content);
    if (error.kind == OK) error = file_write(to, name, content.data, content.size);
    arena_destroy(&arena);
    return error;
}

Error trial_blocks_copy(Database *from, const char *to, const char *prefix)
{
    TrialBlocks *list = NULL;
    Error error = error_none();
    if (!trial_blocks_exist(from)) return error;
    TRY(trial_blocks_load(from, &list));
    const char *folder = folder_of(database_path(from), &list->arena);
    for (int64_t b = 0; b < list->n_records && error.kind == OK; b++) {
        const BlockRecord *record = &list->records[b];
        const size_t used = list->arena.used;
        const char *path = arena_format(&list->arena, "%s/" CAMPAIGN_SHARDS "/%s", folder, record->name);
        const char *name = record->name;
        if (trial_blocks_is_file(name)) name = arena_format(&list->arena, "rows_%s%s", prefix, name + strlen("rows_"));
        error = trial_blocks_copy_file(path, to, name, record->bytes);
        arena_rewind(&list->arena, used);
    }
    trial_blocks_free(list);
    return error;
}

// Blocks that others replaced, or whose batch was never committed. Readers of an older state may still need
// them; then they are removed when the campaign is changed next.
static Error trial_blocks_remove_files(Database *database, Arena *arena)
{
    const char *folder = arena_format(arena, "%s/" CAMPAIGN_SHARDS, folder_of(database_path(database), arena));
    char **names = NULL;
    int count = 0;
    bool alone = false;
    TRY(folder_check_inside(folder));
    if (file_exists(folder)) TRY(folder_list(folder, arena, &names, &count));
    for (int i = 0; i < count; i++) {
        bool named = true;
        if (trial_blocks_is_file(names[i])) TRY(trial_blocks_are_named(database, names[i], &named));
        if (named) continue;
        if (!alone && !database_is_unobserved(database)) return error_none();
        alone = true;
        TRY(database_check_path(database)); // the folder may now be another campaign's
        TRY(file_remove(arena_format(arena, "%s/%s", folder, names[i])));
    }
    return error_none();
}

Error trial_blocks_clear(Database *database)
{
    Arena arena;
    TRY(arena_create_growing(&arena, (size_t)1 << 28, "names of blocks"));
    const Error error = trial_blocks_remove_files(database, &arena);
    arena_destroy(&arena);
    return error;
}

// ---- the doctor -----------------------------------------------------------------------------------------------------

Error trial_blocks_check(Database *database, Arena *arena,
                         void (*report)(void *to, const char *name, const char *fault), void *to, int64_t *count)
{
    TrialBlocks *list = NULL;
    *count = 0;
    if (!trial_blocks_exist(database)) return error_none();
    TRY(trial_blocks_load(database, &list));
    for (; *count < list->n_records; ++*count) {
        const Error error = blocks_check(list->blocks, *count);
        if (error.kind != OK) report(to, list->records[*count].name, arena_copy(arena, error.text));
    }
    trial_blocks_free(list);
    return error_none();
}

static Error trial_blocks_forget_damaged(Database *database, const TrialBlocks *list, int64_t *count)
{
    Cursor drop = cursor_open(database, "DELETE FROM main.blocks WHERE name = ?");
    for (int64_t b = 0; b < list->n_records && drop.error.kind == OK; b++) {
        const Error error = blocks_check(list->blocks, b);
        if (error.kind == OK) continue;
        if (error.kind == ERROR_MEMORY) {
            cursor_stop(&drop, error); // it says nothing about the block
            continue;
        }
        with_text(&drop, list->records[b].name);
        cursor_next(&drop);
        ++*count;
    }
    return cursor_close(&drop);
}

// Records that contradict each other say nothing about any block.
static Error trial_blocks_forget_in(Database *database, int64_t *count)
{
    TrialBlocks *list = NULL;
    TRY(trial_blocks_read_records(database, &list));
    Error error = trial_blocks_open(database, list);
    if (error.kind == OK) {
        error = trial_blocks_forget_damaged(database, list, count);
    } else if (error.kind == ERROR_MACHINE) {
        *count = list->n_records;
        error = database_run(database, "DELETE FROM main.blocks");
    }
    trial_blocks_free(list);
    return error;
}

Error trial_blocks_forget(Database *database, int64_t *count)
{
    *count = 0;
    if (!trial_blocks_exist(database)) return error_none();
    TRY(database_run(database, "BEGIN IMMEDIATE"));
    Error error = trial_blocks_forget_in(database, count);
    if (error.kind == OK) error = database_run(database, "COMMIT");
    if (error.kind != OK) (void)database_run(database, "ROLLBACK");
    return error;
}
