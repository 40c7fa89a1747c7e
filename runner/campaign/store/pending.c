// Batches whose rows are made later. Such a batch is committed as a block: a shard of columns, which is safe on the
// disk before the transaction that names it in the table `blocks`. The rows of trials are made of blocks when the
// writer has nothing else to do, at the end of a run, or when the campaign is changed next. Either all trials of a
// campaign are in blocks or none is; rows that are made already have the lowest ids. While there are blocks, the
// database has another schema version, so that programs that do not know them refuse it.
#include "pending.h"

#include "blocks.h"
#include "commit.h"
#include "cursor.h"
#include "queries.h"
#include "rows.h"
#include "seal.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PENDING_WORDS = 64 }; // most
static const char pending_rows[] = "pending_trials";

static const char pending_tables_sql[] =
    "CREATE TABLE blocks(id INTEGER PRIMARY KEY, first INTEGER NOT NULL, last INTEGER NOT NULL,\n"
    "  rows INTEGER NOT NULL, name TEXT NOT NULL UNIQUE, bytes INTEGER NOT NULL,\n"
    "  offsets BLOB NOT NULL, sha256 TEXT NOT NULL) STRICT;\n"
    "CREATE TABLE block_words(number INTEGER PRIMARY KEY, word TEXT NOT NULL) STRICT;\n";

bool pending_exist(const Database *database) { return database_has(database, "blocks", "offsets"); }

// ---- a run ----------------------------------------------------------------------------------------------------------

struct PendingWriter {
    ShardAttribute attributes[COMMIT_ATTRIBUTES];
    char seed[32], numerics[32];
    ShardTable table;
    ShardTableWriter *writer;
    const void **values; // [n_columns]
    int64_t *offsets;    // [n_columns]
    bool wanted;
};

// Arrays that are recorded as trials run, and stored replicates, refer to rows.
static bool pending_is_possible(const Spec *spec)
{
    const Selection *arrays = &spec->record.select, *debug = &spec->record.debug.select;
    return strcmp(spec->store.rows, "later") == 0 && !spec->replicates.store && arrays->every == 0 &&
           arrays->n_trials == 0 && debug->every == 0 && debug->n_trials == 0;
}

void pending_prepare(Store *store, Arena *arena)
{
    struct PendingWriter *pending = ARENA_NEW(arena, struct PendingWriter, 1);
    const MemoryTable *rows = &store->trials;
    NumberColumn *columns = ARENA_NEW(arena, NumberColumn, rows->n_columns);
    *pending = (struct PendingWriter){.wanted = pending_is_possible(store->spec),
                                      .values = ARENA_NEW(arena, const void *, rows->n_columns),
                                      .offsets = ARENA_NEW(arena, int64_t, rows->n_columns)};
    for (int c = 0; c < rows->n_columns; c++) {
        const MemoryColumn *column = &rows->columns[c];
        columns[c] = (NumberColumn){.field = rows_field(store->spec, column->name),
                                    .type = column->kind == MEMORY_REAL ? NUMBER_REAL : NUMBER_INTEGER,
                                    .words = column->words,
                                    .n_words = column->n_words};
    }
    commit_attributes(store, pending->attributes, pending->seed, pending->numerics);
    pending->table = (ShardTable){.group = "trials",
                                  .attributes = pending->attributes,
                                  .n_attributes = COMMIT_ATTRIBUTES,
                                  .columns = columns,
                                  .n_columns = rows->n_columns};
    store->pending = pending;
}

void pending_finish(Store *store)
{
    if (store->pending == NULL || store->pending->writer == NULL) return;
    shard_table_close(store->pending->writer);
    store->pending->writer = NULL;
}

bool pending_takes(const Store *store, const Commit *commit)
{
    const struct PendingWriter *pending = store->pending;
    if (!pending->wanted || commit->rows.count == 0) return false;
    return store->next_batch == 0 || pending_exist(store->database);
}

Error pending_write(Store *store, const TrialRows *rows, PendingBlock *block)
{
    struct PendingWriter *pending = store->pending;
    rows_table_show(rows, 0, rows->count, &store->trials);
    for (int c = 0; c < store->trials.n_columns; c++) {
        const MemoryColumn *column = &store->trials.columns[c];
        pending->values[c] = column->kind == MEMORY_REAL ? (const void *)column->reals : column->integers;
    }
    snprintf(block->name, sizeof block->name, "rows_%06lld.h5", (long long)store->next_batch);
    if (pending->writer == NULL) TRY(shard_table_open(&pending->table, &pending->writer));
    TRY(database_check_place(store->database)); // the folder may now be another campaign's
    return shard_table_write(pending->writer, store->shards, block->name, rows->count, pending->values,
                             pending->offsets, &block->file);
}

static Error pending_insert_words(Store *store)
{
    const MemoryTable *rows = &store->trials;
    const MemoryColumn *column = rows->columns;
    while (column->words == NULL) column++; // the failure
    Cursor insert = cursor_open(store->database, "INSERT INTO block_words VALUES(?, ?)");
    for (int i = 0; i < column->n_words; i++) {
        with_integer(&insert, i);
        with_text(&insert, column->words[i]);
        cursor_next(&insert);
    }
    return cursor_close(&insert);
}

static Error pending_version(Database *database, int version)
{
    char sql[64];
    snprintf(sql, sizeof sql, "PRAGMA user_version = %d", version);
    return database_run(database, sql);
}

static Error pending_begin(Store *store)
{
    Arena arena;
    TRY(arena_create_growing(&arena, (size_t)1 << 24, "the tables of blocks"));
    Error error = database_run(store->database, pending_tables_sql);
    if (error.kind == OK) error = pending_version(store->database, STORE_SCHEMA_WITH_BLOCKS);
    if (error.kind == OK) error = seal_keep(store->database, &arena);
    if (error.kind == OK) error = pending_insert_words(store);
    if (error.kind == OK) error = seal_schema(store->database);
    arena_destroy(&arena);
    return error;
}

Error pending_insert(Store *store, const TrialRows *rows, const PendingBlock *block)
{
    const struct PendingWriter *pending = store->pending;
    if (!pending_exist(store->database)) TRY(pending_begin(store));
    Cursor insert = cursor_open(store->database, "INSERT INTO blocks VALUES(?, ?, ?, ?, ?, ?, ?, ?)");
    with_integer(&insert, store->next_batch);
    with_integer(&insert, rows->id[0]);
    with_integer(&insert, rows->id[rows->count - 1]);
    with_integer(&insert, rows->count);
    with_text(&insert, block->name);
    with_integer(&insert, block->file.bytes);
    with_blob(&insert, pending->offsets, (size_t)store->trials.n_columns * sizeof *pending->offsets);
    with_text(&insert, block->file.around.hex);
    return cursor_run(&insert);
}

// ---- reading --------------------------------------------------------------------------------------------------------

// The blocks of a campaign as the source of a table.
typedef struct Pending {
    Arena arena;
    NumberColumn *columns;
    int n_columns;
    BlockRecord *records;
    BlockSpan *spans;
    int64_t n_records;
    Blocks *blocks;
} Pending;

static void pending_free(void *source)
{
    Pending *pending = source;
    blocks_close(pending->blocks);
    Arena arena = pending->arena;
    arena_destroy(&arena);
}

static Error pending_read(void *source, int64_t block, int column, int64_t first, int64_t rows, void *values)
{
    return blocks_read(((Pending *)source)->blocks, block, column, first, rows, values);
}

static Error pending_load_words(Database *database, Pending *pending, const char *const **words, int *n_words)
{
    const char **list = ARENA_NEW(&pending->arena, const char *, PENDING_WORDS), *word;
    *n_words = 0;
    Cursor rows = cursor_open(database, "SELECT word FROM main.block_words ORDER BY number");
    while (*n_words < PENDING_WORDS && next_text(&rows, &word)) list[(*n_words)++] = arena_copy(&pending->arena, word);
    if (*n_words == 0) list[(*n_words)++] = "unknown"; // another program removed them
    *words = list;
    return cursor_close(&rows);
}

static Error pending_load_columns(Database *database, Pending *pending)
{
    TrialColumns columns;
    const char *const *words = NULL;
    int n_words = 0;
    TRY(trial_columns(database, &pending->arena, &columns));
    if (columns.count == 0 || !columns.is_integer[0])
        return error_make(ERROR_MACHINE, "the first column of the table trials is no id: another program changed it");
    TRY(pending_load_words(database, pending, &words, &n_words));
    pending->n_columns = columns.count;
    pending->columns = ARENA_NEW(&pending->arena, NumberColumn, columns.count);
    for (int c = 0; c < columns.count; c++)
        pending->columns[c] =
            (NumberColumn){.field = {.name = columns.names[c]},
                           .type = columns.is_text[c] || columns.is_integer[c] ? NUMBER_INTEGER : NUMBER_REAL,
                           .words = columns.is_text[c] ? words : NULL,
                           .n_words = columns.is_text[c] ? n_words : 0};
    return error_none();
}

static Error pending_load_records(Database *database, Pending *pending)
{
    Arena *arena = &pending->arena;
    int64_t most = 0;
    TRY(store_integer(database, "SELECT count(*) FROM main.blocks", 0, &most));
    pending->records = ARENA_NEW(arena, BlockRecord, most + 1);
    pending->spans = ARENA_NEW(arena, BlockSpan, most + 1);
    Cursor rows =
        cursor_open(database, "SELECT first, last, rows, name, bytes, offsets FROM main.blocks ORDER BY first");
    while (pending->n_records < most && cursor_next(&rows)) {
        BlockRecord *record = &pending->records[pending->n_records];
        const Bytes offsets = cell_blob(&rows, 5);
        record->span = (BlockSpan){cell_integer(&rows, 0), cell_integer(&rows, 1), cell_integer(&rows, 2)};
        record->name = arena_copy(arena, cell_text(&rows, 3));
        record->bytes = cell_integer(&rows, 4);
        void *copy = arena_take(arena, offsets.size + 1, 1);
        if (offsets.size > 0) memcpy(copy, offsets.data, offsets.size);
        record->offsets = (Bytes){copy, offsets.size};
        pending->spans[pending->n_records++] = record->span;
    }
    return cursor_close(&rows);
}

static Error pending_load_all(Database *database, Pending *pending)
{
    char shards[PATH_MAX];
    snprintf(shards, sizeof shards, "%s", database_path(database));
    char *name = strrchr(shards, '/'); // of FOLDER/campaign.db
    if (name == NULL) return error_make(ERROR_MACHINE, "%.300s is not in a folder", shards);
    snprintf(name + 1, sizeof shards - (size_t)(name + 1 - shards), "%s", CAMPAIGN_SHARDS);
    TRY(pending_load_columns(database, pending));
    TRY(pending_load_records(database, pending));
    return blocks_open(shards, pending->columns, pending->n_columns, pending->records, pending->n_records,
                       &pending->blocks);
}

static Error pending_load(Database *database, Pending **out)
{
    Arena arena;
    TRY(arena_create_growing(&arena, (size_t)1 << 30, "the blocks of a campaign"));
    Pending *pending = ARENA_NEW(&arena, Pending, 1);
    *pending = (Pending){.arena = arena};
    const Error error = pending_load_all(database, pending);
    if (error.kind != OK) pending_free(pending);
    *out = error.kind == OK ? pending : NULL;
    return error;
}

// The blocks as a table of this connection, which then owns them.
static Error pending_add(Database *database, const char *name)
{
    Pending *pending = NULL;
    TRY(pending_load(database, &pending));
    const BlockTable table = {.columns = pending->columns,
                              .n_columns = pending->n_columns,
                              .blocks = pending->spans,
                              .n_blocks = pending->n_records,
                              .read = pending_read,
                              .done = pending_free,
                              .source = pending};
    return database_add_blocks(database, name, &table); // which frees them, also after an error
}

// The state in which the blocks were listed is held, so that their files stay (pending_remove_files).
Error pending_show(Database *database)
{
    if (database_is_held(database) || !pending_exist(database)) return error_none();
    TRY(database_hold(database));
    return pending_exist(database) ? pending_add(database, "trials") : error_none();
}

Error pending_count(Database *database, int64_t *trials, int64_t *rows)
{
    *trials = *rows = 0;
    if (!pending_exist(database)) return error_none();
    TRY(store_integer(database, "SELECT ifnull(sum(rows), 0) FROM main.blocks", 0, trials));
    return store_integer(database, "SELECT count(*) FROM main.trials", 0, rows);
}

bool pending_is_block(const char *file)
{
    const size_t length = strlen(file);
    return strncmp(file, "rows_", 5) == 0 && length > 3 && strcmp(file + length - 3, ".h5") == 0;
}

bool pending_names(Database *database, const char *file)
{
    if (!pending_exist(database)) return false;
    Cursor rows = cursor_open(database, "SELECT 1 FROM main.blocks WHERE name = ?");
    with_text(&rows, file);
    const bool named = cursor_next(&rows);
    return cursor_close(&rows).kind == OK && named;
}

// ---- the doctor -----------------------------------------------------------------------------------------------------

// What is wrong with the file of a block; NULL: nothing, but its columns, which the digests of rows cover.
static const char *pending_fault(const Cursor *row, const char *folder, int n_columns, Arena *arena)
{
    const char *name = cell_text(row, 0), *path = arena_format(arena, "%s/" CAMPAIGN_SHARDS "/%s", folder, name);
    const Bytes stored = cell_blob(row, 2);
    int64_t *offsets = ARENA_NEW(arena, int64_t, n_columns);
    ShardTableFile found = {.bytes = 0};
    if (!pending_is_block(name) || strchr(name, '/') != NULL) return "its name is not that of a block";
    if (stored.size != (size_t)n_columns * sizeof *offsets) return "its record has other columns";
    memcpy(offsets, stored.data, stored.size);
    const Error error = shard_table_look(path, cell_integer(row, 1), offsets, n_columns, arena, &found);
    if (error.kind != OK) return arena_copy(arena, error.text);
    return strcmp(found.around.hex, cell_text(row, 3)) == 0 ? NULL : "it differs from what was written";
}

Error pending_check(Database *database, const char *folder, Arena *arena,
                    void (*tell)(void *to, const char *name, const char *fault), void *to, int64_t *count)
{
    TrialColumns columns;
    *count = 0;
    if (!pending_exist(database)) return error_none();
    TRY(trial_columns(database, arena, &columns));
    Cursor rows = cursor_open(database, "SELECT name, rows, offsets, sha256 FROM main.blocks ORDER BY first");
    while (cursor_next(&rows)) {
        const char *fault = pending_fault(&rows, folder, columns.count, arena);
        if (fault != NULL) tell(to, cell_text(&rows, 0), fault);
        ++*count;
    }
    return cursor_close(&rows);
}

// ---- rows -----------------------------------------------------------------------------------------------------------

static Error pending_drop(Database *database)
{
    TRY(database_run(database, "DROP TABLE blocks; DROP TABLE block_words; "
                               "DELETE FROM digests WHERE name IN ('blocks', 'block_words');"));
    TRY(pending_version(database, STORE_SCHEMA_VERSION));
    return seal_schema(database);
}

// Files that no record names: rows have been made of them, or their batch was never committed. Readers of an older
// state may still need them; then they are removed when the campaign is changed next.
static Error pending_remove_files(Database *database, Arena *arena)
{
    const char *path = arena_copy(arena, database_path(database));
    const char *folder = arena_format(arena, "%.*s/" CAMPAIGN_SHARDS, (int)(strrchr(path, '/') - path), path);
    char **names = NULL;
    int count = 0;
    bool alone = false;
    TRY(folder_check_inside(folder));
    if (file_exists(folder)) TRY(folder_list(folder, arena, &names, &count));
    for (int i = 0; i < count; i++) {
        if (!pending_is_block(names[i]) || pending_names(database, names[i])) continue;
        if (!alone && !database_is_unobserved(database)) return error_none();
        alone = true;
        TRY(database_check_place(database)); // the folder may now be another campaign's
        TRY(file_remove(arena_format(arena, "%s/%s", folder, names[i])));
    }
    return error_none();
}

// All trials of all blocks must have rows before the blocks go.
static Error pending_compare(Database *database)
{
    int64_t trials = 0, rows = 0;
    TRY(pending_count(database, &trials, &rows));
    if (trials == rows) return error_none();
    return error_make(ERROR_MACHINE,
                      "%.300s: the blocks have %lld trials, and %lld rows were made of them: another program changed "
                      "them; `doctor --repair` simulates the trials again",
                      database_path(database), (long long)trials, (long long)rows);
}

static Error pending_insert_rows(Database *database, int64_t most, bool drop, bool *left)
{
    char sql[256];
    int64_t made = 0, last = 0;
    TRY(store_integer(database, "SELECT ifnull(max(id), -1) FROM main.trials", 0, &last));
    // a number, since SQLite copies all rows once more where the statement reads the table that it inserts into
    snprintf(sql, sizeof sql,
             "INSERT OR FAIL INTO main.trials SELECT * FROM temp.%s WHERE id > %lld ORDER BY id LIMIT %lld",
             pending_rows, (long long)last, (long long)most);
    TRY(database_run(database, sql));
    TRY(store_integer(database, "SELECT changes()", 0, &made));
    *left = made == most;
    if (*left || !drop) return error_none();
    TRY(pending_compare(database));
    return pending_drop(database);
}

static Error pending_transaction(Database *database, int64_t most, bool drop, bool *left)
{
    TRY(database_run(database, "BEGIN IMMEDIATE"));
    Error error = pending_insert_rows(database, most, drop, left);
    if (error.kind == OK) error = database_check_place(database);
    if (error.kind == OK) error = database_run(database, "COMMIT");
    if (error.kind != OK) (void)database_run(database, "ROLLBACK"); // SQLite has done it after most errors
    return error;
}

static Error pending_expand_rows(Database *database, int64_t most, bool drop, bool *left)
{
    *left = false;
    if (!pending_exist(database)) return error_none();
    TRY(pending_add(database, pending_rows));
    const Error error = pending_transaction(database, most, drop, left);
    const Error removed = database_remove_blocks(database, pending_rows);
    return error.kind != OK ? error : removed;
}

Error pending_expand(Database *database, int64_t most, bool *left)
{
    return pending_expand_rows(database, most, true, left);
}

Error pending_expand_some(Database *database, int64_t most, bool *left)
{
    return pending_expand_rows(database, most, false, left);
}

Error pending_clear(Database *database)
{
    Arena arena;
    TRY(arena_create_growing(&arena, (size_t)1 << 28, "names of blocks"));
    const Error error = pending_remove_files(database, &arena);
    arena_destroy(&arena);
    return error;
}

Error pending_settle(Database *database)
{
    bool left = true;
    while (left) TRY(pending_expand(database, PENDING_AT_ONCE, &left));
    return pending_clear(database);
}

Error pending_forget(Database *database)
{
    if (!pending_exist(database)) return error_none();
    TRY(database_run(database, "BEGIN IMMEDIATE"));
    Error error = pending_drop(database);
    if (error.kind == OK) error = database_run(database, "COMMIT");
    if (error.kind != OK) (void)database_run(database, "ROLLBACK");
    return error;
}
