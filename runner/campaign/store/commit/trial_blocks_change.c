// Blocks that are written again. See trial_blocks.h. A file is never changed: new blocks replace old ones in
// the transaction that names them.
#include "trial_blocks_write.h"

#include "../trials/best_rows.h"
#include "../ground/cursor.h"
#include "../ground/rows.h"
#include "seal.h"
#include "../ground/transaction.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

enum { CHANGE_PIECE = 1 << 13 }; // rows that are read at a time

// A row that comes or goes, for the digests.
typedef struct ChangedRow {
    int64_t id;
    uint64_t digest;
    int rows; // 1 or -1
} ChangedRow;

// New blocks for the records [first, end) of a campaign.
typedef struct Change {
    Store *store;
    Arena arena;
    TrialBlocks *from;
    const int64_t *dropped; // [n_dropped]; those before `next_dropped` are behind
    int64_t n_dropped, next_dropped;
    const TrialRows *put; // NULL: none; those before `next_put` are behind
    int64_t next_put, end_put;
    TrialRows piece, rows; // that were read; of the next new block
    int64_t room;          // of `rows`
    uint64_t *old_digests; // [CHANGE_PIECE]
    uint64_t *put_digests; // [put->count]
    ChangedRow *changed;   // [n_changed]
    int64_t n_changed;
    int64_t *gone, n_gone; // ids of old records
    TrialBlock *blocks;    // [n_blocks] new ones
    int64_t n_blocks;
} Change;

static void change_note(Change *change, int64_t id, uint64_t digest, int rows)
{
    change->changed[change->n_changed++] = (ChangedRow){id, digest, rows};
}

// ---- new blocks -----------------------------------------------------------------------------------------------------

// A name that no block has or had: somebody may still read those that were replaced.
static Error change_name(const Change *change, TrialBlock *block)
{
    char path[PATH_MAX];
    bool named = true;
    for (int version = 1; named; version++) {
        snprintf(block->name, sizeof block->name, "rows_%06lld_%d.h5", (long long)change->n_blocks, version);
        snprintf(path, sizeof path, "%s/%s", change->store->shards, block->name);
        TRY(trial_blocks_are_named(change->store->database, block->name, &named));
        named = named || !file_missing(path);
    }
    return error_none();
}

static Error change_write(Change *change)
{
    TrialBlock *block = &change->blocks[change->n_blocks];
    const int columns = change->store->trials.n_columns;
    if (change->rows.count == 0) return error_none();
    *block = (TrialBlock){.rows = 0};
    TRY(change_name(change, block));
    TRY(trial_blocks_write(change->store, &change->rows, block));
    ColumnLayout *layouts = ARENA_NEW(&change->arena, ColumnLayout, columns);
    memcpy(layouts, block->layouts, (size_t)columns * sizeof *layouts);
    block->layouts = layouts;
    change->n_blocks++;
    change->rows.count = 0;
    return error_none();
}

static Error change_take(Change *change, const TrialRows *rows, int64_t row)
{
    rows_copy(rows, row, &change->rows, change->rows.count++);
    return change->rows.count == change->rows.capacity ? change_write(change) : error_none();
}

static Error change_take_put(Change *change)
{
    const int64_t row = change->next_put++;
    change_note(change, change->put->id[row], change->put_digests[row], 1);
    return change_take(change, change->put, row);
}

// ---- old blocks -----------------------------------------------------------------------------------------------------

static bool change_drops(Change *change, int64_t id)
{
    while (change->next_dropped < change->n_dropped && change->dropped[change->next_dropped] < id)
        change->next_dropped++;
    return change->next_dropped < change->n_dropped && change->dropped[change->next_dropped] == id;
}

// A row that was read: it stays, goes, or another one of its id replaces it. Rows before it come in.
static Error change_row(Change *change, int64_t row)
{
    const int64_t id = change->piece.id[row];
    while (change->next_put < change->end_put && change->put->id[change->next_put] < id) TRY(change_take_put(change));
    const bool replaced = change->next_put < change->end_put && change->put->id[change->next_put] == id;
    if (!replaced && !change_drops(change, id)) return change_take(change, &change->piece, row);
    change_note(change, id, change->old_digests[row], -1);
    return replaced ? change_take_put(change) : error_none();
}

static Error change_read(Change *change, int64_t block, int64_t first, int64_t rows)
{
    for (int c = 0; c < change->from->n_columns; c++)
        TRY(blocks_read(change->from->blocks, block, c, first, rows, rows_cells(&change->piece, c)));
    rows_table_show(&change->piece, 0, rows, &change->store->trials);
    memory_table_digests(&change->store->trials, 0, rows, change->old_digests);
    return error_none();
}

static Error change_block(Change *change, int64_t block)
{
    const int64_t rows = change->from->spans[block].rows;
    for (int64_t first = 0; first < rows; first += CHANGE_PIECE) {
        const int64_t left = rows - first, count = left < CHANGE_PIECE ? left : CHANGE_PIECE;
        TRY(change_read(change, block, first, count));
        for (int64_t i = 0; i < count; i++) TRY(change_row(change, i));
    }
    change->gone[change->n_gone++] = change->from->ids[block];
    return error_none();
}

// The records [first, end), and the rows that are put up to end_put, become new blocks of at most `most` rows.
static Error change_range(Change *change, int64_t first, int64_t end, int64_t end_put, int64_t most)
{
    if (change->room < most) rows_take(change->store->spec, most, &change->arena, &change->rows);
    if (change->room < most) change->room = most;
    change->rows.capacity = most;
    change->end_put = end_put;
    for (int64_t b = first; b < end; b++) TRY(change_block(change, b));
    while (change->next_put < end_put) TRY(change_take_put(change));
    return change_write(change);
}

// ---- the change -----------------------------------------------------------------------------------------------------

static void change_start_put(Change *change, const TrialRows *put)
{
    change->put = put;
    change->put_digests = ARENA_NEW(&change->arena, uint64_t, put->count);
    rows_table_show(put, 0, put->count, &change->store->trials);
    memory_table_digests(&change->store->trials, 0, put->count, change->put_digests);
}

static Error change_start(Change *change, const TrialRows *put)
{
    const Store *store = change->store;
    const int64_t n_put = put != NULL ? put->count : 0;
    if (change->from->n_columns != store->trials.n_columns)
        return error_make(ERROR_MACHINE, "%.300s: another program changed the columns of the table best",
                          store->folder);
    rows_take(store->spec, CHANGE_PIECE, &change->arena, &change->piece);
    change->old_digests = ARENA_NEW(&change->arena, uint64_t, CHANGE_PIECE);
    change->changed = ARENA_NEW(&change->arena, ChangedRow, change->n_dropped + 2 * n_put + 1);
    change->gone = ARENA_NEW(&change->arena, int64_t, change->from->n_records + 1);
    change->blocks = ARENA_NEW(&change->arena, TrialBlock, 2 * (change->from->n_records + n_put) + 1);
    if (n_put > 0) change_start_put(change, put);
    return error_none();
}

// The records must be those of all rows that were written: nothing else shows a block that went with its record.
static Error change_compare(const Change *change)
{
    SealTally stored;
    int64_t rows = 0;
    uint64_t digest = 0;
    TRY(seal_sum(change->store->database, &stored));
    for (int64_t b = 0; b < change->from->n_records; b++) {
        rows += change->from->spans[b].rows;
        digest ^= (uint64_t)*change->from->records[b].rows_digest;
    }
    if (stored.rows == rows && stored.digest == digest) return error_none();
    return error_make(ERROR_MACHINE, "%.300s: the rows in blocks are not those that were written; `%s` repairs them",
                      change->store->folder, store_how_to_repair(change->store->database, change->store->name).text);
}

static Error change_count(const Change *change)
{
    Store *store = change->store;
    SealTally tally = {.name = "trials"};
    for (int64_t i = 0; i < change->n_changed; i++) {
        const ChangedRow *row = &change->changed[i];
        const int64_t block = seal_range(row->id);
        TRY(row->rows > 0 ? seal_count(&store->add_digest, &tally, block, row->digest)
                          : seal_uncount(store->database, &store->add_digest, &tally, block, row->digest));
    }
    return seal_flush_removed(store->database, &store->add_digest, &tally);
}

// Within a transaction
static Error change_commit(Change *change, bool counted)
{
    Cursor drop = cursor_open(change->store->database, "DELETE FROM main.blocks WHERE id = ?");
    for (int64_t i = 0; i < change->n_gone; i++) {
        with_integer(&drop, change->gone[i]);
        cursor_next(&drop);
    }
    TRY(cursor_close(&drop));
    for (int64_t k = 0; k < change->n_blocks; k++) TRY(trial_blocks_insert(change->store, &change->blocks[k]));
    return counted ? change_count(change) : error_none();
}

typedef struct ChangeRequest {
    const int64_t *dropped;
    int64_t n_dropped;
    const TrialRows *put;
    bool compared, counted, own; // own: a transaction of its own
    Error (*run)(Change *change);
} ChangeRequest;

static Error change_run(Change *change, const ChangeRequest *request)
{
    TRY(change_start(change, request->put));
    if (request->compared) TRY(change_compare(change));
    TRY(request->run(change));
    if (!request->own) return change_commit(change, request->counted);
    TRY(store_begin(change->store));
    return store_end(change->store, change_commit(change, request->counted));
}

static Error change_make(Store *store, const ChangeRequest *request)
{
    Change change = {.store = store, .dropped = request->dropped, .n_dropped = request->n_dropped};
    TRY(trial_blocks_load(store->database, &change.from));
    Error error = arena_create_growing(&change.arena, (size_t)16 << 30, "blocks that are written again");
    if (error.kind == OK) {
        error = change_run(&change, request);
        arena_destroy(&change.arena);
    }
    trial_blocks_free(change.from);
    return error;
}

// ---- rows that go ---------------------------------------------------------------------------------------------------

// A new block has as many rows as the greatest old one, so that there are no more of them.
static Error change_drop(Change *change)
{
    int64_t most = 1;
    for (int64_t b = 0; b < change->from->n_records; b++)
        most = change->from->spans[b].rows > most ? change->from->spans[b].rows : most;
    return change_range(change, 0, change->from->n_records, 0, most);
}

Error trial_blocks_drop(Store *store, const int64_t *dropped, int64_t n_dropped)
{
    TRY(change_make(store, &(ChangeRequest){.dropped = dropped,
                                            .n_dropped = n_dropped,
                                            .compared = true,
                                            .counted = true,
                                            .own = true,
                                            .run = change_drop}));
    return trial_blocks_clear(store->database);
}

Error trial_blocks_drop_uncounted(Store *store, const int64_t *dropped, int64_t n_dropped)
{
    TRY(change_make(store, &(ChangeRequest){.dropped = dropped, .n_dropped = n_dropped, .run = change_drop}));
    return trial_blocks_show_to_run(store->database);
}

// ---- rows that come -------------------------------------------------------------------------------------------------

static int64_t change_end_put(const Change *change, int64_t before)
{
    int64_t end = change->next_put;
    while (end < change->put->count && change->put->id[end] < before) end++;
    return end;
}

// Rows between blocks become blocks of their own; a block in whose ids there is one is written again with it.
static Error change_put(Change *change)
{
    for (int64_t b = 0; b < change->from->n_records; b++) {
        const BlockSpan *span = &change->from->spans[b];
        const int64_t gap = change_end_put(change, span->first);
        TRY(change_range(change, b, b, gap, gap - change->next_put + 1));
        const int64_t inside = change_end_put(change, span->last + 1);
        if (inside > gap) TRY(change_range(change, b, b + 1, inside, span->rows + inside - gap));
    }
    return change_range(change, change->from->n_records, change->from->n_records, change->put->count,
                        change->put->count - change->next_put + 1);
}

Error trial_blocks_put(Store *store, const TrialRows *rows, bool counted)
{
    if (rows->count == 0) return error_none();
    TRY(change_make(store, &(ChangeRequest){.put = rows, .compared = counted, .counted = counted, .run = change_put}));
    return trial_blocks_show_to_run(store->database);
}

// ---- small blocks ---------------------------------------------------------------------------------------------------

// As in a counter to the base 16: blocks of less than 16^level rows at the end become one when they are many and enough
// for a block of the next level. So a row is written again three times at most, and small blocks are few.
enum { SMALL_BASE = 16, SMALL_LEVELS = 3, SMALL_MOST = 1 << 12 };

// *count <- how many of the last blocks become one; 0: none
static Error small_blocks(Database *database, int64_t *count)
{
    int64_t rows = 0, total = 0, n = 0, limit = SMALL_BASE;
    int level = 1;
    *count = 0;
    Cursor last = cursor_open(database, "SELECT rows FROM main.blocks ORDER BY first DESC LIMIT ?");
    with_integer(&last, SMALL_MOST);
    while (level <= SMALL_LEVELS && next_integer(&last, &rows)) {
        for (; level <= SMALL_LEVELS && rows >= limit; level++) limit *= SMALL_BASE;
        if (level > SMALL_LEVELS) break;
        total += rows;
        n++;
        if (n >= SMALL_BASE && total >= limit) *count = n;
    }
    return cursor_close(&last);
}

static Error change_join(Change *change)
{
    int64_t rows = 0, count = 0;
    TRY(small_blocks(change->store->database, &count));
    const int64_t end = change->from->n_records, first = end - count;
    for (int64_t b = first; b < end; b++) rows += change->from->spans[b].rows;
    return change_range(change, first, end, 0, rows);
}

Error trial_blocks_join_small(Store *store)
{
    int64_t count = 0;
    TRY(small_blocks(store->database, &count));
    if (count == 0) return error_none();
    TRY(change_make(store, &(ChangeRequest){.compared = true, .counted = true, .own = true, .run = change_join}));
    return trial_blocks_clear(store->database);
}
