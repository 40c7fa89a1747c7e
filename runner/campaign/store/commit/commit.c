// The commit rule: arrays first, as a whole shard that is safe on disk; then one transaction with the rows, those
// of the arrays and the search's state. So every array that the database names exists. recovery.c removes shards that
// no row names.
#include "commit.h"

#include "../trials/best_rows.h"
#include "../ground/cursor.h"
#include "kept_rows.h"
#include "retries.h"
#include "trial_blocks_write.h"
#include "../queries.h"
#include "seal.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void commit_take(const Spec *spec, int64_t trials, int64_t lanes, int64_t lane_bytes, size_t state_size, Arena *arena,
                 Commit *commit)
{
    *commit = (Commit){
        .lanes = ARENA_NEW(arena, ShardLane, lanes),
        .dropped = ARENA_NEW(arena, int64_t, lanes),
        .lanes_capacity = lanes,
        .samples = arena_take(arena, (size_t)lanes, (size_t)lane_bytes),
        .state = ARENA_NEW(arena, unsigned char, state_size),
        .state_size = state_size,
    };
    rows_take(spec, trials, arena, &commit->rows);
}

// A batch ends at most one round per trial.
void commit_take_rounds(const Search *search, int64_t trials, Arena *arena, Commit *commit)
{
    commit->n_round_fields = search->n_round_fields;
    if (search->n_round_fields == 0) return;
    commit->rounds = (Rounds){.capacity = trials,
                              .row = ARENA_NEW(arena, Round, trials),
                              .field = ARENA_NEW(arena, double, trials * search->n_round_fields)};
}

int64_t commit_rounds_bytes(const Search *search, int64_t trials)
{
    if (search->n_round_fields == 0) return 0;
    return trials * (int64_t)(sizeof(Round) + (size_t)search->n_round_fields * sizeof(double)) + 128;
}

// ---- the shard ------------------------------------------------------------------------------------------------------

void commit_attributes(const Store *store, ShardAttribute attributes[COMMIT_ATTRIBUTES], char seed[32],
                       char numerics[32])
{
    const Spec *spec = store->spec;
    snprintf(seed, 32, "%llu", (unsigned long long)spec->seed);
    snprintf(numerics, 32, "%d", NUMERICS_VERSION);
    const ShardAttribute all[COMMIT_ATTRIBUTES] = {
        {"campaign", store->name},
        {"experiment", spec->experiment},
        {"spec_hash", spec->hash.hex},
        {"program_version", HOPSCOTCH_VERSION},
        {"numerics_version", numerics},
        {"model", spec->model->name},
        {"seed", seed},
    };
    memcpy(attributes, all, sizeof all);
}

Error store_write_shard(const Store *store, Shard *shard, StoreShard *written)
{
    ShardAttribute attributes[COMMIT_ATTRIBUTES];
    char seed[32], numerics[32];
    Bytes image = {0};
    TRY(database_check_path(store->database)); // the folder may now be another campaign's
    commit_attributes(store, attributes, seed, numerics);
    shard->attributes = attributes;
    shard->n_attributes = COMMIT_ATTRIBUTES;
    TRY(shard_build(shard, &image));
    written->bytes = (int64_t)image.size;
    written->sha256 = sha256_of(image.data, image.size);
    snprintf(written->name, sizeof written->name, "%06lld.h5", (long long)store->next_shard);
    const Error error = file_write(store->shards, written->name, image.data, image.size);
    free(image.data);
    return error;
}

static Error commit_write_shard(const Store *store, const Commit *commit, StoreShard *written)
{
    const Recording recording = recording_of(store->spec, commit->kind);
    Shard shard = {.group = recording.group,
                   .columns = recording.columns,
                   .n_columns = recording.n_columns,
                   .words = recording.words,
                   .n_words = recording.n_words,
                   .lanes = commit->lanes,
                   .n_lanes = commit->n_lanes,
                   .samples = commit->samples,
                   .float64 = recording.float64,
                   .gzip = recording.gzip};
    return store_write_shard(store, &shard, written);
}

// ---- the transaction ------------------------------------------------------------------------------------------------

// Inserts one row from the values that were bound.
static Error commit_step(Cursor *insert)
{
    cursor_next(insert);
    return insert->error;
}

// The digests of the rows of a table in memory: computed here, or given. Its first column are ids of trials, in their
// order.
static Error commit_digests(Store *store, const MemoryTable *table, const char *name, const uint64_t *given)
{
    enum { COMMIT_DIGESTS = 512 }; // at a time
    const int64_t *trial = table->columns[0].integers;
    uint64_t digests[COMMIT_DIGESTS];
    SealTally tally = {.name = name};
    for (int64_t i = table->first; i < table->end; i++) {
        const int64_t k = (i - table->first) % COMMIT_DIGESTS, left = table->end - i;
        if (k == 0 && given == NULL)
            memory_table_digests(table, i, left < COMMIT_DIGESTS ? left : COMMIT_DIGESTS, digests);
        const uint64_t digest = given != NULL ? given[i - table->first] : digests[k];
        TRY(seal_count(&store->add_digest, &tally, seal_range(trial[i]), digest));
    }
    return seal_flush(&store->add_digest, &tally);
}

// Inserts all rows of a table in memory by one statement.
static Error commit_table(Store *store, Cursor *insert, const MemoryTable *table, const char *name)
{
    TRY(commit_step(insert));
    return commit_digests(store, table, name, NULL);
}

// Rows [first, end)
static Error commit_rows(Store *store, const TrialRows *rows, int64_t first, int64_t end)
{
    const int replicates = rows->replicate_count;
    rows_table_show(rows, first, end, &store->trials);
    TRY(commit_table(store, &store->insert_trials, &store->trials, "trials"));
    if (!store->spec->replicates.store) return error_none();
    assert(rows->replicate_first == 0 || end == first + 1);
    rows_replicates_table_show(store->spec, rows, first * replicates + rows->replicate_first, end * replicates,
                               &store->replicates);
    return commit_table(store, &store->insert_replicates, &store->replicates, "replicates");
}

static Error commit_delete(Store *store, const TrialRows *rows, int64_t row)
{
    Cursor drop = cursor_open(store->database, "DELETE FROM main.trials WHERE id = ?");
    with_integer(&drop, rows->id[row]);
    return cursor_run(&drop);
}

static Error commit_had_failed(Store *store, int64_t id, bool *failed)
{
    Cursor trial = cursor_open(store->database, "SELECT failure <> 'none' FROM main.trials WHERE id = ?");
    int64_t found = 0;
    with_integer(&trial, id);
    next_integer(&trial, &found);
    *failed = found != 0;
    return cursor_close(&trial);
}

// A row of a trial that runs replicates of its own. The row of a trial that goes on replaces the one before.
static Error commit_own_row(Store *store, const TrialRows *rows, int64_t row)
{
    const int64_t had = rows->had[row], from = row * rows->replicate_count, id = rows->id[row];
    bool failed = false;
    if (had > 0) {
        TRY(commit_had_failed(store, id, &failed));
        TRY(commit_delete(store, rows, row));
    }
    rows_table_show(rows, row, row + 1, &store->trials);
    TRY(commit_table(store, &store->insert_trials, &store->trials, "trials"));
    rows_replicates_table_show(store->spec, rows, from + had, from + rows->replicates[row], &store->replicates);
    TRY(commit_table(store, &store->insert_replicates, &store->replicates, "replicates"));
    if (had == 0 || failed == (rows->failure[row] != 0)) return error_none();
    return trial_count_failure(store, id, 1);
}

static Error commit_own_rows(Store *store, const TrialRows *rows)
{
    if (rows_new(rows) < rows->count) TRY(database_run(store->database, "PRAGMA defer_foreign_keys = ON"));
    for (int64_t i = 0; i < rows->count; i++) TRY(commit_own_row(store, rows, i));
    return error_none();
}

static Error commit_all_rows(Store *store, const TrialRows *rows)
{
    return rows->had != NULL ? commit_own_rows(store, rows) : commit_rows(store, rows, 0, rows->count);
}

Error store_insert_rows(Store *store, const TrialRows *rows)
{
    return store->blocks != NULL ? trial_blocks_put(store, rows, true) : commit_all_rows(store, rows);
}

Error store_replace_rows(Store *store, const TrialRows *rows, const int64_t *which, int64_t count, TrialRows *room)
{
    if (store->blocks != NULL) room->count = 0;
    for (int64_t i = 0; store->blocks != NULL && i < count; i++) rows_copy(rows, which[i], room, room->count++);
    if (store->blocks != NULL) TRY(trial_blocks_put(store, room, true));
    if (store->blocks != NULL) return room->count > 0 ? best_rows_again(store) : error_none();
    for (int64_t i = 0; i < count; i++) {
        TRY(commit_delete(store, rows, which[i]));
        TRY(commit_rows(store, rows, which[i], which[i] + 1));
    }
    return error_none();
}

Error store_insert_shard(Store *store, const StoreShard *shard)
{
    Cursor *insert = &store->insert_shard;
    with_integer(insert, store->next_shard);
    with_text(insert, shard->name);
    with_integer(insert, shard->bytes);
    with_text(insert, shard->sha256.hex);
    return commit_step(insert);
}

static Error commit_arrays(Store *store, const Commit *commit, const StoreShard *shard)
{
    Cursor *insert = &store->insert_array[commit->kind];
    const Recording recording = recording_of(store->spec, commit->kind);
    TRY(store_insert_shard(store, shard));
    for (int64_t i = 0; i < commit->n_lanes; i++)
        array_add(insert, &commit->lanes[i], store->next_shard, i, recording.recipe);
    return insert->error;
}

// What one transaction writes.
typedef struct CommitWork {
    const Commit *commit;
    int64_t first, last; // ids of the batch
    int64_t failures;    // of its new trials
    StoreShard shard;    // of its arrays
    TrialRows rows;      // all, or in a block those that are kept
    TrialBlock block;
} CommitWork;

static Error commit_batch(Store *store, const CommitWork *work)
{
    Cursor *insert = &store->insert_batch;
    const Commit *commit = work->commit;
    with_integer(insert, store->next_batch);
    with_integer(insert, work->first);
    with_integer(insert, work->last);
    with_integer(insert, rows_new(&commit->rows));
    with_integer(insert, work->failures);
    with_integer(insert, commit->lanes_run);
    with_text(insert, commit->backend);
    with_text(insert, commit->device);
    with_text(insert, commit->version);
    with_integer(insert, NUMERICS_VERSION);
    with_real(insert, commit->kernel_seconds);
    with_real(insert, commit->wait_seconds);
    with_real(insert, commit->wall_seconds);
    with_text(insert, clock_utc().text);
    with_real(insert, commit->copy_seconds);
    with_real(insert, commit->search_seconds);
    with_real(insert, work->shard.seconds);
    with_text(insert, commit->kernel);
    return commit_step(insert);
}

// A batch whose trials all go on counts as a part of the last one.
static Error commit_to_last_batch(Store *store, const Commit *commit)
{
    Cursor update =
        cursor_open(store->database, "UPDATE batches SET lanes = lanes + ?, kernel_seconds = kernel_seconds + ?, "
                                     "wait_seconds = wait_seconds + ?, wall_seconds = wall_seconds + ?, copy_seconds = "
                                     "copy_seconds + ?, search_seconds = search_seconds + ? WHERE id = ?");
    with_integer(&update, commit->lanes_run);
    with_real(&update, commit->kernel_seconds);
    with_real(&update, commit->wait_seconds);
    with_real(&update, commit->wall_seconds);
    with_real(&update, commit->copy_seconds);
    with_real(&update, commit->search_seconds);
    with_integer(&update, store->next_batch - 1);
    return cursor_run(&update);
}

static Error commit_front(Store *store, const Round *round)
{
    Cursor *insert = &store->insert_front;
    with_integer(insert, round->search);
    with_integer(insert, round->round);
    with_integer(insert, round->front);
    with_real(insert, round->hypervolume);
    return commit_step(insert);
}

static Error commit_gradient(Store *store, const Round *round)
{
    gradients_add(&store->insert_gradient, round);
    return store->insert_gradient.error;
}

static Error commit_round(Store *store, const Rounds *rounds, int n_fields, int64_t index)
{
    const Round *round = &rounds->row[index];
    Cursor *search = &store->insert_search, *insert = &store->insert_round;
    with_integer(search, round->search);
    with_text(search, store->spec->method->name);
    TRY(commit_step(search));
    with_integer(insert, round->search);
    with_integer(insert, round->round);
    with_blob(insert, rounds->field + index * n_fields, (size_t)n_fields * sizeof(double));
    with_integer(insert, round->population);
    with_integer(insert, round->evaluations);
    with_real(insert, round->sigma);
    with_real(insert, round->condition);
    with_real(insert, round->best);
    with_text(insert, round->stop);
    TRY(commit_step(insert));
    if (round->has_gradient && store->has_gradients) TRY(commit_gradient(store, round));
    return round->has_front ? commit_front(store, round) : error_none();
}

Error store_insert_rounds(Store *store, const Rounds *rounds, int n_fields)
{
    for (int64_t i = 0; i < rounds->count; i++) TRY(commit_round(store, rounds, n_fields, i));
    return error_none();
}

static Error commit_block(Store *store, const CommitWork *work)
{
    const TrialRows *rows = &work->rows;
    if (store->kept != NULL) TRY(kept_write_sums(store));
    if (rows->count == 0) return error_none(); // none is kept
    rows_table_show(rows, 0, rows->count, &store->trials);
    TRY(trial_blocks_insert(store, &work->block));
    TRY(commit_digests(store, &store->trials, "trials", work->block.digests));
    return best_rows_add(store, rows);
}

// The rows of a batch, or those that are kept, or its block.
static Error commit_trials(Store *store, const CommitWork *work)
{
    if (store->blocks != NULL) return commit_block(store, work);
    return store->kept != NULL ? kept_commit(store, &work->rows, commit_all_rows) : commit_all_rows(store, &work->rows);
}

static Error commit_all(Store *store, const CommitWork *work)
{
    const Commit *commit = work->commit;
    if (commit->rows.count > 0) {
        TRY(commit_trials(store, work));
        TRY(rows_new(&commit->rows) > 0 ? commit_batch(store, work) : commit_to_last_batch(store, commit));
        with_blob(&store->update_search, commit->state, commit->state_size);
        TRY(commit_step(&store->update_search));
        TRY(store_insert_rounds(store, &commit->rounds, commit->n_round_fields));
    }
    return commit->n_lanes > 0 ? commit_arrays(store, commit, &work->shard) : error_none();
}

Error store_put_batch(Store *store, const Commit *commit, int64_t first, int64_t end)
{
    const TrialRows *rows = &commit->rows;
    Commit part = *commit;
    part.rows.count = end - first;
    part.lanes_run = part.rows.count * store->spec->replicates.count;
    part.failures = 0;
    for (int64_t i = first; i < end; i++) part.failures += rows->failure[i] != 0;
    TRY(commit_rows(store, rows, first, end));
    TRY(commit_batch(
        store, &(CommitWork){
                   .commit = &part, .first = rows->id[first], .last = rows->id[end - 1], .failures = part.failures}));
    store->next_batch++;
    return error_none();
}

Error store_put_search(Store *store, const Search *search, const Rounds *rounds)
{
    with_blob(&store->update_search, search->state, search->state_size);
    TRY(commit_step(&store->update_search));
    return store_insert_rounds(store, rounds, search->n_round_fields);
}

Error store_note_seconds(Store *store)
{
    if (store->sqlite_seconds < 0) return error_none();
    with_real(&store->note_batch, store->sqlite_seconds);
    with_integer(&store->note_batch, store->next_batch - 1);
    store->sqlite_seconds = -1;
    return commit_step(&store->note_batch);
}

Error store_note_wall(Store *store, double seconds)
{
    Cursor update = cursor_open(store->database, "UPDATE batches SET wall_seconds = wall_seconds + ? WHERE id = ?");
    with_real(&update, seconds);
    with_integer(&update, store->next_batch - 1);
    return cursor_run(&update);
}

static Error commit_transaction(Store *store, const CommitWork *work)
{
    TRY(store_begin(store));
    Error error = store_note_seconds(store);
    if (error.kind == OK) error = commit_all(store, work);
    return store_end(store, error);
}

static Error commit_write_block(Store *store, CommitWork *work)
{
    TrialRows *rows = &work->rows;
    if (store->blocks == NULL || rows->count == 0) return error_none();
    if (store->kept != NULL) kept_choose(store, rows);
    if (rows->count == 0) return error_none();
    trial_blocks_name(store->next_batch, &work->block);
    return trial_blocks_write(store, rows, &work->block);
}

// The ids and the failures of the new trials, which ascend.
static void commit_number(CommitWork *work)
{
    const TrialRows *rows = &work->commit->rows;
    bool any = false;
    work->failures = work->commit->failures;
    if (rows->had != NULL) work->failures = 0;
    for (int64_t i = 0; i < rows->count; i++) {
        if (rows->had != NULL && rows->had[i] > 0) continue;
        if (!any) work->first = rows->id[i];
        work->last = rows->id[i];
        any = true;
        if (rows->had != NULL) work->failures += rows->failure[i] != 0 || rows->fitness[i] != rows->fitness[i];
    }
}

static Error commit_write(Store *store, CommitWork *work)
{
    const double start = clock_seconds();
    commit_number(work);
    TRY(commit_write_block(store, work));
    if (work->commit->n_lanes > 0) TRY(commit_write_shard(store, work->commit, &work->shard));
    work->shard.seconds = clock_seconds() - start;
    return commit_transaction(store, work);
}

Error store_commit(Store *store, const Commit *commit, double *seconds)
{
    const double start = clock_seconds();
    CommitWork work = {.commit = commit, .rows = commit->rows};
    TRY(commit_write(store, &work));
    *seconds = clock_seconds() - start;
    store->next_shard += commit->n_lanes > 0;
    if (commit->rows.count > 0) {
        store->next_batch += rows_new(&commit->rows) > 0;
        store->sqlite_seconds = *seconds - work.shard.seconds;
    }
    if (store->blocks == NULL || work.rows.count == 0) return error_none();
    if (store->kept != NULL) TRY(kept_thin_out(store));
    return trial_blocks_join_small(store);
}
