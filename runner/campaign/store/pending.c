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
#include "retries.h"
#include "rows.h"
#include "seal.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PENDING_WORDS = 64 }; // most
static const char pending_rows[] = "pending_trials", pending_shown[] = "all_trials";

static const char pending_tables_sql[] =
    "CREATE TABLE blocks(id INTEGER PRIMARY KEY, first INTEGER NOT NULL, last INTEGER NOT NULL,\n"
    "  rows INTEGER NOT NULL, name TEXT NOT NULL UNIQUE, bytes INTEGER NOT NULL,\n"
    "  offsets BLOB NOT NULL, sha256 TEXT NOT NULL, digest INTEGER NOT NULL) STRICT;\n"
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
    uint64_t *digests;   // [capacity]: of the rows of a block
    int64_t capacity;
    ThreadTeam *team; // NULL: the writer alone
    bool possible;
};

// Arrays that are recorded as trials run, and stored replicates, refer to rows.
static bool pending_is_possible(const Spec *spec)
{
    const Selection *arrays = &spec->record.select, *debug = &spec->record.debug.select;
    return strcmp(spec->store.rows, "at_once") != 0 && !spec->replicates.store && arrays->every == 0 &&
           arrays->n_trials == 0 && debug->every == 0 && debug->n_trials == 0;
}

// auto: where rows take longer than the trials. Of fewer trials the rows are there after two seconds anyway.
static bool pending_is_wanted(const Spec *spec, int64_t trials)
{
    const int64_t many = 1000000;
    return strcmp(spec->store.rows, "later") == 0 || trials >= many;
}

bool pending_is_expected(const Spec *spec, int64_t trials)
{
    return pending_is_possible(spec) && pending_is_wanted(spec, trials);
}

void pending_prepare(Store *store, Arena *arena)
{
    struct PendingWriter *pending = ARENA_NEW(arena, struct PendingWriter, 1);
    const MemoryTable *rows = &store->trials;
    NumberColumn *columns = ARENA_NEW(arena, NumberColumn, rows->n_columns);
    *pending = (struct PendingWriter){.possible = pending_is_possible(store->spec),
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
    struct PendingWriter *pending = store->pending;
    if (pending == NULL) return;
    if (pending->writer != NULL) shard_table_close(pending->writer);
    pending->writer = NULL;
    thread_team_close(pending->team);
    pending->team = NULL;
    free(pending->digests);
    pending->digests = NULL;
    pending->capacity = 0;
}

bool pending_takes(const Store *store, const Commit *commit)
{
    const struct PendingWriter *pending = store->pending;
    if (!pending->possible || commit->rows.count == 0) return false;
    return store->next_batch == 0 ? pending_is_wanted(store->spec, store->trials_expected)
                                  : pending_exist(store->database);
}

// The digests of rows are computed while the disk writes their block: item 0 of the loop is the file, each other item
// a piece of the rows.
typedef struct PendingWork {
    Store *store;
    PendingBlock *block;
    int64_t rows;
    Error error; // of the file
} PendingWork;

enum { PENDING_PIECE = 1 << 13, PENDING_THREADS = 4 };

static Error pending_write_file(Store *store, int64_t rows, PendingBlock *block)
{
    struct PendingWriter *pending = store->pending;
    for (int c = 0; c < store->trials.n_columns; c++) {
        const MemoryColumn *column = &store->trials.columns[c];
        pending->values[c] = column->kind == MEMORY_REAL ? (const void *)column->reals : column->integers;
    }
    if (pending->writer == NULL) TRY(shard_table_open(&pending->table, &pending->writer));
    TRY(database_check_place(store->database)); // the folder may now be another campaign's
    return shard_table_write(pending->writer, store->shards, block->name, rows, pending->values, pending->offsets,
                             &block->file);
}

void pending_name(int64_t batch, PendingBlock *block)
{
    snprintf(block->name, sizeof block->name, "rows_%06lld.h5", (long long)batch);
}

static void pending_work(void *context, int thread, int64_t first, int64_t end)
{
    PendingWork *work = context;
    (void)thread;
    for (int64_t item = first; item < end; item++) {
        const int64_t row = (item - 1) * PENDING_PIECE, left = work->rows - row;
        if (item == 0)
            work->error = pending_write_file(work->store, work->rows, work->block);
        else
            memory_table_digests(&work->store->trials, row, left < PENDING_PIECE ? left : PENDING_PIECE,
                                 &work->store->pending->digests[row]);
    }
}

static Error pending_take_digests(struct PendingWriter *pending, int64_t rows)
{
    if (rows <= pending->capacity) return error_none();
    free(pending->digests);
    pending->digests = malloc((size_t)rows * sizeof *pending->digests);
    pending->capacity = pending->digests != NULL ? rows : 0;
    if (pending->digests != NULL) return error_none();
    return error_make(ERROR_MEMORY, "not enough memory for the digests of %lld rows", (long long)rows);
}

Error pending_write(Store *store, const TrialRows *rows, PendingBlock *block)
{
    struct PendingWriter *pending = store->pending;
    PendingWork work = {.store = store, .block = block, .rows = rows->count};
    TRY(pending_take_digests(pending, rows->count));
    rows_table_show(rows, 0, rows->count, &store->trials);
    block->first = rows->id[0];
    block->last = rows->id[rows->count - 1];
    block->rows = rows->count;
    block->offsets = pending->offsets;
    block->digests = pending->digests;
    if (pending->team == NULL && rows->count > PENDING_PIECE) pending->team = thread_team_open(PENDING_THREADS);
    thread_team_for(pending->team, 1 + (rows->count + PENDING_PIECE - 1) / PENDING_PIECE, 1, pending_work, &work);
    block->digest = 0;
    for (int64_t i = 0; i < rows->count; i++) block->digest ^= pending->digests[i];
    return work.error;
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

// With blocks or without them. Programs that know sums know blocks too.
static int pending_version_now(const Database *database, bool blocks)
{
    if (kept_in_part(database)) return STORE_SCHEMA_WITH_SUMS;
    return blocks ? STORE_SCHEMA_WITH_BLOCKS : STORE_SCHEMA_VERSION;
}

static Error pending_begin(Store *store)
{
    Arena arena;
    TRY(arena_create_growing(&arena, (size_t)1 << 24, "the tables of blocks"));
    Error error = database_run(store->database, pending_tables_sql);
    if (error.kind == OK) error = pending_version(store->database, pending_version_now(store->database, true));
    if (error.kind == OK) error = seal_keep(store->database, &arena);
    if (error.kind == OK) error = pending_insert_words(store);
    if (error.kind == OK) error = seal_schema(store->database);
    arena_destroy(&arena);
    return error;
}

Error pending_insert(Store *store, int64_t id, const PendingBlock *block)
{
    if (!pending_exist(store->database)) TRY(pending_begin(store));
    Cursor insert = cursor_open(store->database, "INSERT INTO blocks VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)");
    with_integer(&insert, id);
    with_integer(&insert, block->first);
    with_integer(&insert, block->last);
    with_integer(&insert, block->rows);
    with_text(&insert, block->name);
    with_integer(&insert, block->file.bytes);
    with_blob(&insert, block->offsets, (size_t)store->trials.n_columns * sizeof *block->offsets);
    with_text(&insert, block->file.around.hex);
    with_integer(&insert, (int64_t)block->digest);
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
    TRY(trial_columns(database, NULL, &pending->arena, &columns));
    if (columns.count == 0 || !columns.is_integer[0])
        return error_make(ERROR_MACHINE,
                          "the first column of the table trials is not the id: another program changed it");
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

// A block that an earlier program wrote has no digest of its rows.
static Error pending_load_records(Database *database, bool writes, Pending *pending)
{
    Arena *arena = &pending->arena;
    const bool sealed = database_has(database, "blocks", "digest");
    int64_t most = 0;
    TRY(store_integer(database, "SELECT count(*) FROM main.blocks", 0, &most));
    pending->records = ARENA_NEW(arena, BlockRecord, most + 1);
    pending->spans = ARENA_NEW(arena, BlockSpan, most + 1);
    Cursor rows = cursor_open(
        database, arena_format(arena,
                               "SELECT first, last, rows, name, bytes, offsets, sha256, %s, %s FROM main.blocks "
                               "ORDER BY first",
                               sealed ? "digest" : "0", writes ? "name IN temp.checked_blocks" : "0"));
    while (pending->n_records < most && cursor_next(&rows)) {
        BlockRecord *record = &pending->records[pending->n_records];
        const Bytes offsets = cell_blob(&rows, 5);
        record->span = (BlockSpan){cell_integer(&rows, 0), cell_integer(&rows, 1), cell_integer(&rows, 2)};
        record->name = arena_copy(arena, cell_text(&rows, 3));
        record->bytes = cell_integer(&rows, 4);
        void *copy = arena_take(arena, offsets.size + 1, 1);
        if (offsets.size > 0) memcpy(copy, offsets.data, offsets.size);
        record->offsets = (Bytes){copy, offsets.size};
        record->around = arena_copy(arena, cell_text(&rows, 6));
        int64_t *digest = ARENA_NEW(arena, int64_t, 1);
        *digest = cell_integer(&rows, 7);
        record->rows_digest = sealed ? digest : NULL;
        record->checked = cell_integer(&rows, 8) != 0;
        pending->spans[pending->n_records++] = record->span;
    }
    return cursor_close(&rows);
}

static Error pending_load_all(Database *database, bool writes, Pending *pending)
{
    Arena *arena = &pending->arena;
    const char *path = arena_copy(arena, database_path(database)); // RESULTS/NAME/campaign.db
    if (strchr(path, '/') == NULL) return error_make(ERROR_MACHINE, "%.300s is not in a folder", path);
    const char *folder = folder_of(path, arena), *slash = strrchr(folder, '/');
    const char *name = slash != NULL ? slash + 1 : folder;
    TRY(pending_load_columns(database, pending));
    TRY(pending_load_records(database, writes, pending));
    return blocks_open(arena_format(arena, "%s/" CAMPAIGN_SHARDS, folder), pending->columns, pending->n_columns,
                       pending->records, pending->n_records,
                       arena_format(arena, "`%s` computes its trials again",
                                    command_again(folder_of(folder, arena), "resume %.128s", name).text),
                       &pending->blocks);
}

// Those who write load the blocks again and again: the blocks that they compared with their records are listed in a
// table of their connection.
static const char pending_checked_sql[] = "CREATE TEMP TABLE IF NOT EXISTS checked_blocks(name TEXT PRIMARY KEY)";

static Error pending_keep_checked(Database *database, const Pending *pending)
{
    Cursor insert = cursor_open(database, "INSERT OR IGNORE INTO temp.checked_blocks VALUES(?)");
    for (int64_t b = 0; b < pending->n_records; b++) {
        if (pending->records[b].checked || !blocks_is_checked(pending->blocks, b)) continue;
        with_text(&insert, pending->records[b].name);
        cursor_next(&insert);
    }
    return cursor_close(&insert);
}

static Error pending_load(Database *database, bool writes, Pending **out)
{
    Arena arena;
    TRY(arena_create_growing(&arena, (size_t)1 << 30, "the blocks of a campaign"));
    Pending *pending = ARENA_NEW(&arena, Pending, 1);
    *pending = (Pending){.arena = arena};
    Error error = writes ? database_run(database, pending_checked_sql) : error_none();
    if (error.kind == OK) error = pending_load_all(database, writes, pending);
    if (error.kind != OK) pending_free(pending);
    *out = error.kind == OK ? pending : NULL;
    return error;
}

// The blocks as a table of this connection, which then owns them.
static Error pending_add(Database *database, const char *name, bool writes, Pending **out)
{
    Pending *pending = NULL;
    TRY(pending_load(database, writes, &pending));
    *out = pending;
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
    Pending *pending;
    if (database_is_held(database) || !pending_exist(database)) return error_none();
    TRY(database_hold(database));
    return pending_exist(database) ? pending_add(database, "trials", false, &pending) : error_none();
}

Error pending_show_to_run(Database *database, const char **table)
{
    Pending *pending;
    *table = "main.trials";
    if (!pending_exist(database)) return error_none();
    *table = pending_shown;
    return pending_add(database, pending_shown, true, &pending);
}

Error pending_hide_from_run(Database *database, Error error)
{
    const Error removed = pending_exist(database) ? database_remove_blocks(database, pending_shown) : error_none();
    return error.kind == OK ? removed : error;
}

Error pending_count(Database *database, int64_t *trials, int64_t *rows)
{
    *trials = *rows = 0;
    if (!pending_exist(database)) return error_none();
    TRY(store_integer(database, "SELECT ifnull(sum(rows), 0) FROM main.blocks", 0, trials));
    return store_integer(database, "SELECT count(*) FROM main.trials", 0, rows);
}

Error pending_count_all(Database *database, int64_t *trials)
{
    return store_integer(database,
                         pending_exist(database) ? "SELECT ifnull(sum(rows), 0) FROM main.blocks"
                                                 : "SELECT count(*) FROM main.trials",
                         0, trials);
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

Error pending_check(Database *database, Arena *arena, void (*tell)(void *to, const char *name, const char *fault),
                    void *to, int64_t *count)
{
    Pending *pending = NULL;
    *count = 0;
    if (!pending_exist(database)) return error_none();
    TRY(pending_load(database, false, &pending));
    for (; *count < pending->n_records; ++*count) {
        const Error error = blocks_check(pending->blocks, *count);
        if (error.kind != OK) tell(to, pending->records[*count].name, arena_copy(arena, error.text));
    }
    pending_free(pending);
    return error_none();
}

static Error pending_digest(Database *database, const char *table, int64_t last, int64_t *count, uint64_t *digest)
{
    char sql[128];
    snprintf(sql, sizeof sql, "SELECT * FROM %s.trials WHERE id <= %lld", table, (long long)last);
    Cursor rows = cursor_open(database, sql);
    for (; cursor_next(&rows); ++*count) *digest ^= cells_digest(&rows, 0);
    return cursor_close(&rows);
}

Error pending_compare_rows(Database *database, bool *same)
{
    int64_t last = -1, made = 0, blocks = 0;
    uint64_t made_digest = 0, blocks_digest = 0;
    *same = true;
    if (!pending_exist(database)) return error_none();
    TRY(store_integer(database, "SELECT ifnull(max(id), -1) FROM main.trials", 0, &last));
    TRY(pending_digest(database, "main", last, &made, &made_digest));
    TRY(pending_digest(database, "temp", last, &blocks, &blocks_digest));
    *same = made == blocks && made_digest == blocks_digest;
    return error_none();
}

Error pending_drop_made_rows(Database *database) { return database_run(database, "DELETE FROM main.trials"); }

// ---- a run that goes on ---------------------------------------------------------------------------------------------

// Another spec, or a retry, changes trials that have no rows yet.
static Error pending_may_stay(Store *store, Arena *arena, bool *may)
{
    const char *hash = NULL;
    bool retries = false;
    *may = pending_is_possible(store->spec) && pending_exist(store->database);
    if (!*may) return error_none();
    TRY(store_text(store->database, "SELECT hash FROM campaign", arena, &hash));
    TRY(retries_pending(store->database, &retries));
    *may = hash != NULL && strcmp(hash, store->spec->hash.hex) == 0 && !retries;
    return error_none();
}

Error pending_continue(Store *store, Arena *arena)
{
    bool stay = false;
    TRY(pending_may_stay(store, arena, &stay));
    return stay ? error_none() : pending_settle(store->database);
}

// ---- rows -----------------------------------------------------------------------------------------------------------

static Error pending_drop(Database *database)
{
    TRY(database_run(database, "DROP TABLE blocks; DROP TABLE block_words; "
                               "DELETE FROM digests WHERE name IN ('blocks', 'block_words');"));
    TRY(pending_version(database, pending_version_now(database, false)));
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
    Pending *pending = NULL;
    TRY(pending_add(database, pending_rows, true, &pending));
    Error error = pending_transaction(database, most, drop, left);
    if (error.kind == OK && *left) error = pending_keep_checked(database, pending);
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

static void (*pending_told)(int64_t made, int64_t trials);

void rows_tell(void (*tell)(int64_t made, int64_t trials)) { pending_told = tell; }

// Tells after one second, two, four, ...
static Error pending_tell(Database *database, double started, double *next)
{
    int64_t trials = 0, rows = 0;
    if (pending_told == NULL || clock_seconds() - started < *next) return error_none();
    TRY(pending_count(database, &trials, &rows));
    if (trials > 0) pending_told(rows, trials);
    *next *= 2;
    return error_none();
}

Error pending_settle(Database *database)
{
    const double started = clock_seconds();
    double next = 1.0;
    for (bool left = true; left;) {
        TRY(pending_expand(database, PENDING_AT_ONCE, &left));
        TRY(pending_tell(database, started, &next));
    }
    return pending_clear(database);
}

static Error pending_forget_block(Database *database, const char *name)
{
    Cursor drop = cursor_open(database, "DELETE FROM main.blocks WHERE name = ?");
    with_text(&drop, name);
    return cursor_run(&drop);
}

// *count <- blocks that were forgotten. Rows that were made of blocks are made again.
static Error pending_forget_damaged(Database *database, Pending *pending, int64_t *count)
{
    for (int64_t b = 0; b < pending->n_records; b++) {
        if (blocks_check(pending->blocks, b).kind == OK) continue;
        TRY(pending_forget_block(database, pending->records[b].name));
        ++*count;
    }
    return *count > 0 ? database_run(database, "DELETE FROM main.trials") : error_none();
}

// Records that contradict each other say nothing about any block.
static Error pending_forget_in(Database *database, int64_t *count)
{
    Pending *pending = NULL;
    Error error = pending_load(database, false, &pending);
    if (error.kind == ERROR_MACHINE) {
        TRY(store_integer(database, "SELECT count(*) FROM main.blocks", 0, count));
        return pending_drop(database);
    }
    TRY(error);
    error = pending_forget_damaged(database, pending, count);
    pending_free(pending);
    return error;
}

Error pending_forget(Database *database, int64_t *count)
{
    *count = 0;
    if (!pending_exist(database)) return error_none();
    TRY(database_run(database, "BEGIN IMMEDIATE"));
    Error error = pending_forget_in(database, count);
    if (error.kind == OK) error = database_run(database, "COMMIT");
    if (error.kind != OK) (void)database_run(database, "ROLLBACK");
    return error;
}

// ---- rows that are dropped ------------------------------------------------------------------------------------------

enum { THIN_PIECE = 1 << 13 }; // rows that are read at a time

// Old blocks become new ones. A new block has as many rows as the greatest old one, so that there are no more of them.
typedef struct Thin {
    Store *store;
    Arena arena;
    Pending *from;
    const int64_t *dropped; // [n_dropped]; those before `next` are behind
    int64_t n_dropped, next;
    TrialRows piece, rows; // that were read; that stay
    uint64_t *piece_digests, read_digest;
    int64_t read;      // rows in all
    int64_t *ids;      // [stay] of all rows that stay
    uint64_t *digests; // [stay]
    int64_t stay;
    PendingBlock *blocks; // [n_blocks] new ones
    int64_t n_blocks;
} Thin;

static bool thin_drops(Thin *thin, int64_t id)
{
    while (thin->next < thin->n_dropped && thin->dropped[thin->next] < id) thin->next++;
    return thin->next < thin->n_dropped && thin->dropped[thin->next] == id;
}

// A name that no block has or had: somebody may still read those that were replaced.
static void thin_name(const Thin *thin, PendingBlock *block)
{
    char path[PATH_MAX];
    for (int version = 1;; version++) {
        snprintf(block->name, sizeof block->name, "rows_%06lld_%d.h5", (long long)thin->n_blocks, version);
        snprintf(path, sizeof path, "%s/%s", thin->store->shards, block->name);
        if (!pending_names(thin->store->database, block->name) && !file_exists(path)) return;
    }
}

static Error thin_write(Thin *thin)
{
    PendingBlock *block = &thin->blocks[thin->n_blocks];
    const int64_t rows = thin->rows.count, columns = thin->from->n_columns;
    if (rows == 0) return error_none();
    thin_name(thin, block);
    TRY(pending_write(thin->store, &thin->rows, block));
    memcpy(&thin->ids[thin->stay], thin->rows.id, (size_t)rows * sizeof *thin->ids);
    memcpy(&thin->digests[thin->stay], block->digests, (size_t)rows * sizeof *thin->digests);
    int64_t *offsets = ARENA_NEW(&thin->arena, int64_t, columns);
    memcpy(offsets, block->offsets, (size_t)columns * sizeof *offsets);
    block->offsets = offsets;
    thin->stay += rows;
    thin->n_blocks++;
    thin->rows.count = 0;
    return error_none();
}

static Error thin_read_piece(Thin *thin, int64_t block, int64_t first, int64_t rows)
{
    for (int c = 0; c < thin->from->n_columns; c++)
        TRY(blocks_read(thin->from->blocks, block, c, first, rows, rows_cells(&thin->piece, c)));
    rows_table_show(&thin->piece, 0, rows, &thin->store->trials);
    memory_table_digests(&thin->store->trials, 0, rows, thin->piece_digests);
    for (int64_t i = 0; i < rows; i++) thin->read_digest ^= thin->piece_digests[i];
    thin->read += rows;
    return error_none();
}

static Error thin_read_block(Thin *thin, int64_t block)
{
    const int64_t rows = thin->from->spans[block].rows;
    for (int64_t first = 0; first < rows; first += THIN_PIECE) {
        const int64_t left = rows - first, count = left < THIN_PIECE ? left : THIN_PIECE;
        TRY(thin_read_piece(thin, block, first, count));
        for (int64_t i = 0; i < count; i++) {
            if (thin_drops(thin, thin->piece.id[i])) continue;
            rows_copy(&thin->piece, i, &thin->rows, thin->rows.count++);
            if (thin->rows.count == thin->rows.capacity) TRY(thin_write(thin));
        }
    }
    return error_none();
}

// The rows that were read must be those that were written: nothing else tells of a block that went with its record.
static Error thin_compare(const Thin *thin)
{
    SealTally stored;
    TRY(seal_sum(thin->store->database, &stored));
    if (stored.rows == thin->read && stored.digest == thin->read_digest) return error_none();
    return error_make(ERROR_MACHINE, "%.300s: the rows in blocks are not those that were written; `%s` repairs them",
                      thin->store->folder, store_how_to_repair(thin->store->database, thin->store->name).text);
}

// Rows that were made of blocks already are rows of blocks too.
static Error thin_replace(const Thin *thin)
{
    Store *store = thin->store;
    SealTally tally = {.name = "trials"};
    TRY(database_run(store->database, "DELETE FROM main.blocks; DELETE FROM main.trials; "
                                      "DELETE FROM digests WHERE name = 'trials';"));
    for (int64_t k = 0; k < thin->n_blocks; k++) TRY(pending_insert(store, k, &thin->blocks[k]));
    for (int64_t i = 0; i < thin->stay; i++)
        TRY(seal_count(&store->add_digest, &tally, seal_block(thin->ids[i]), thin->digests[i]));
    return seal_flush(&store->add_digest, &tally);
}

static void thin_take(Thin *thin)
{
    int64_t rows = 0, most = 0;
    for (int64_t b = 0; b < thin->from->n_records; b++) {
        rows += thin->from->spans[b].rows;
        if (thin->from->spans[b].rows > most) most = thin->from->spans[b].rows;
    }
    rows_take(thin->store->spec, THIN_PIECE, &thin->arena, &thin->piece);
    rows_take(thin->store->spec, most, &thin->arena, &thin->rows);
    thin->piece_digests = ARENA_NEW(&thin->arena, uint64_t, THIN_PIECE);
    thin->ids = ARENA_NEW(&thin->arena, int64_t, rows);
    thin->digests = ARENA_NEW(&thin->arena, uint64_t, rows);
    thin->blocks = ARENA_NEW(&thin->arena, PendingBlock, thin->from->n_records);
}

static Error thin_run(Thin *thin)
{
    Store *store = thin->store;
    if (thin->from->n_columns != store->trials.n_columns)
        return error_make(ERROR_MACHINE, "%.300s: another program changed the columns of the table trials",
                          store->folder);
    thin_take(thin);
    for (int64_t b = 0; b < thin->from->n_records; b++) TRY(thin_read_block(thin, b));
    TRY(thin_write(thin));
    TRY(thin_compare(thin));
    TRY(store_begin(store));
    return store_end(store, thin_replace(thin));
}

Error pending_drop_rows(Store *store, const int64_t *dropped, int64_t n_dropped)
{
    Thin thin = {.store = store, .dropped = dropped, .n_dropped = n_dropped};
    TRY(pending_load(store->database, true, &thin.from));
    Error error = arena_create_growing(&thin.arena, (size_t)16 << 30, "rows of blocks that stay");
    if (error.kind == OK) {
        error = thin_run(&thin);
        arena_destroy(&thin.arena);
    }
    pending_free(thin.from);
    return error.kind == OK ? pending_clear(store->database) : error;
}
