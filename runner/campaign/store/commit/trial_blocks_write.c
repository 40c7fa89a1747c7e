// The blocks of a run's batches. See trial_blocks.h.
#include "trial_blocks_write.h"

#include "../ground/cursor.h"
#include "../ground/rows.h"
#include "commit.h"

#include <stdio.h>
#include <stdlib.h>

struct TrialBlockWriter {
    ShardAttribute attributes[COMMIT_ATTRIBUTES];
    char seed[32], numerics[32];
    ShardTable table;
    ShardTableWriter *writer;
    const void **values;   // [n_columns]
    ColumnLayout *layouts; // [n_columns]
    uint64_t *digests;     // [capacity]: of the rows of a block
    int64_t capacity;
    ThreadTeam *team; // NULL: the writer alone
};

void trial_blocks_prepare(Store *store, Arena *arena)
{
    struct TrialBlockWriter *blocks = ARENA_NEW(arena, struct TrialBlockWriter, 1);
    const MemoryTable *rows = &store->trials;
    NumberColumn *columns = ARENA_NEW(arena, NumberColumn, rows->n_columns);
    *blocks = (struct TrialBlockWriter){.values = ARENA_NEW(arena, const void *, rows->n_columns),
                                        .layouts = ARENA_NEW(arena, ColumnLayout, rows->n_columns)};
    for (int c = 0; c < rows->n_columns; c++) {
        const MemoryColumn *column = &rows->columns[c];
        columns[c] = (NumberColumn){.field = rows_field(store->spec, column->name),
                                    .type = column->kind == MEMORY_REAL ? NUMBER_REAL : NUMBER_INTEGER,
                                    .words = column->words,
                                    .n_words = column->n_words};
    }
    commit_attributes(store, blocks->attributes, blocks->seed, blocks->numerics);
    blocks->table = (ShardTable){.group = "trials",
                                 .attributes = blocks->attributes,
                                 .n_attributes = COMMIT_ATTRIBUTES,
                                 .columns = columns,
                                 .n_columns = rows->n_columns};
    store->blocks = blocks;
}

void trial_blocks_finish(Store *store)
{
    struct TrialBlockWriter *blocks = store->blocks;
    store->blocks = NULL;
    if (blocks == NULL) return;
    if (blocks->writer != NULL) shard_table_close(blocks->writer);
    thread_team_close(blocks->team);
    free(blocks->digests);
}

// ---- a block --------------------------------------------------------------------------------------------------------

// The digests of rows are computed while the disk writes their block: item 0 of the loop is the file, each other item
// a piece of the rows.
typedef struct TrialBlockWork {
    Store *store;
    TrialBlock *block;
    int64_t rows;
    Error error; // of the file
} TrialBlockWork;

enum { TRIAL_BLOCK_PIECE = 1 << 13, TRIAL_BLOCK_THREADS = 4 };

static Error trial_block_encode(Store *store, int64_t rows)
{
    struct TrialBlockWriter *blocks = store->blocks;
    for (int c = 0; c < store->trials.n_columns; c++) {
        const MemoryColumn *column = &store->trials.columns[c];
        blocks->values[c] = column->kind == MEMORY_REAL ? (const void *)column->reals : column->integers;
    }
    if (blocks->writer == NULL) TRY(shard_table_open(&blocks->table, &blocks->writer));
    shard_table_encode(blocks->writer, blocks->team, rows, blocks->values, blocks->layouts);
    return error_none();
}

static Error trial_block_write_file(Store *store, int64_t rows, TrialBlock *block)
{
    struct TrialBlockWriter *blocks = store->blocks;
    TRY(database_check_path(store->database)); // the folder may now be another campaign's
    return shard_table_write(blocks->writer, store->shards, block->name, rows, blocks->layouts, &block->file);
}

static void trial_block_work(void *context, int thread, int64_t first, int64_t end)
{
    TrialBlockWork *work = context;
    (void)thread;
    for (int64_t item = first; item < end; item++) {
        const int64_t row = (item - 1) * TRIAL_BLOCK_PIECE, left = work->rows - row;
        if (item == 0)
            work->error = trial_block_write_file(work->store, work->rows, work->block);
        else
            memory_table_digests(&work->store->trials, row, left < TRIAL_BLOCK_PIECE ? left : TRIAL_BLOCK_PIECE,
                                 &work->store->blocks->digests[row]);
    }
}

static Error trial_block_take_digests(struct TrialBlockWriter *blocks, int64_t rows)
{
    if (rows <= blocks->capacity) return error_none();
    free(blocks->digests);
    blocks->digests = malloc((size_t)rows * sizeof *blocks->digests);
    blocks->capacity = blocks->digests != NULL ? rows : 0;
    if (blocks->digests != NULL) return error_none();
    return error_make(ERROR_MEMORY, "not enough memory for the digests of %lld rows", (long long)rows);
}

void trial_blocks_name(int64_t batch, TrialBlock *block)
{
    snprintf(block->name, sizeof block->name, "rows_%06lld.h5", (long long)batch);
}

Error trial_blocks_write(Store *store, const TrialRows *rows, TrialBlock *block)
{
    struct TrialBlockWriter *blocks = store->blocks;
    TrialBlockWork work = {.store = store, .block = block, .rows = rows->count};
    TRY(trial_block_take_digests(blocks, rows->count));
    rows_table_show(rows, 0, rows->count, &store->trials);
    block->first = rows->id[0];
    block->last = rows->id[rows->count - 1];
    block->rows = rows->count;
    block->layouts = blocks->layouts;
    block->digests = blocks->digests;
    if (blocks->team == NULL && rows->count > TRIAL_BLOCK_PIECE) blocks->team = thread_team_open(TRIAL_BLOCK_THREADS);
    TRY(trial_block_encode(store, rows->count));
    thread_team_for(blocks->team, 1 + (rows->count + TRIAL_BLOCK_PIECE - 1) / TRIAL_BLOCK_PIECE, 1, trial_block_work,
                    &work);
    block->digest = 0;
    for (int64_t i = 0; i < rows->count; i++) block->digest ^= blocks->digests[i];
    return work.error;
}

Error trial_blocks_insert(Store *store, const TrialBlock *block)
{
    Cursor insert = cursor_open(store->database, "INSERT INTO main.blocks VALUES(NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    with_integer(&insert, block->first);
    with_integer(&insert, block->last);
    with_integer(&insert, block->rows);
    with_text(&insert, block->name);
    with_integer(&insert, block->file.bytes);
    with_blob(&insert, block->layouts, (size_t)store->trials.n_columns * sizeof *block->layouts);
    with_text(&insert, block->file.around.hex);
    with_integer(&insert, (int64_t)block->digest);
    with_integer(&insert, blocks_seal(&(BlockSpan){block->first, block->last, block->rows}, block->file.bytes,
                                      (int64_t)block->digest, block->layouts, store->trials.n_columns));
    return cursor_run(&insert);
}
