// The commit rule: arrays first, as a whole shard that is safe on disk, then one transaction with the rows, the names
// of the arrays and the search's state. What the index names is there; what is there and not named is swept up by
// recovery.c.
#include "commit.h"

#include "seal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void commit_take(const Spec *spec, int64_t trials, int64_t lanes, int64_t lane_bytes, size_t state_size, Arena *arena,
                 Commit *commit)
{
    *commit = (Commit){
        .lanes = ARENA_NEW(arena, ShardLane, lanes),
        .lanes_capacity = lanes,
        .samples = arena_take(arena, (size_t)lanes, (size_t)lane_bytes),
        .state = ARENA_NEW(arena, unsigned char, state_size),
        .state_size = state_size,
    };
    rows_take(spec, trials, arena, &commit->rows);
}

// A batch can end as many rounds as it has trials, and not one more than that.
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

enum { COMMIT_ATTRIBUTES = 7 };

Error store_write_shard(const Store *store, Shard *shard, StoreShard *written)
{
    const Spec *spec = store->spec;
    char seed[32], numerics[32];
    Bytes image = {0};
    TRY(database_check_place(store->database)); // else this were another campaign's folder
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)spec->seed);
    snprintf(numerics, sizeof numerics, "%d", NUMERICS_VERSION);
    const ShardAttribute attributes[COMMIT_ATTRIBUTES] = {
        {"campaign", store->name},
        {"experiment", spec->experiment},
        {"spec_hash", spec->hash.hex},
        {"program_version", HOPSCOTCH_VERSION},
        {"numerics_version", numerics},
        {"model", spec->model->name},
        {"seed", seed},
    };
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
                   .lanes = commit->lanes,
                   .n_lanes = commit->n_lanes,
                   .samples = commit->samples,
                   .float64 = recording.float64,
                   .gzip = recording.gzip};
    return store_write_shard(store, &shard, written);
}

// ---- the transaction ------------------------------------------------------------------------------------------------

static Error commit_step(Statement *statement)
{
    bool row = false;
    return statement_step(statement, &row);
}

static Error commit_replicates(const Store *store, const TrialRows *rows, int64_t row, SealTally *tally)
{
    for (int r = 0; r < store->spec->replicates.count; r++) {
        rows_bind_replicate(store->spec, rows, row, r, store->insert_replicate);
        TRY(seal_count(store->add_digest, tally, seal_block(rows->id[row]), bound_digest(store->insert_replicate)));
        TRY(commit_step(store->insert_replicate));
    }
    return error_none();
}

// Rows [first, end)
static Error commit_rows(const Store *store, const TrialRows *rows, int64_t first, int64_t end)
{
    SealTally trials = {.name = "trials"}, replicates = {.name = "replicates"};
    for (int64_t i = first; i < end; i++) {
        rows_bind(store->spec, rows, i, store->insert_trial);
        TRY(seal_count(store->add_digest, &trials, seal_block(rows->id[i]), bound_digest(store->insert_trial)));
        TRY(commit_step(store->insert_trial));
        if (store->insert_replicate != NULL) TRY(commit_replicates(store, rows, i, &replicates));
    }
    TRY(seal_flush(store->add_digest, &trials));
    return seal_flush(store->add_digest, &replicates);
}

Error store_insert_row(Store *store, const TrialRows *rows, int64_t row)
{
    return commit_rows(store, rows, row, row + 1);
}

Error store_insert_shard(const Store *store, const StoreShard *shard)
{
    bind_integer(store->insert_shard, 1, store->next_shard);
    bind_text(store->insert_shard, 2, shard->name);
    bind_integer(store->insert_shard, 3, shard->bytes);
    bind_text(store->insert_shard, 4, shard->sha256.hex);
    return commit_step(store->insert_shard);
}

static Error commit_arrays(const Store *store, const Commit *commit, const StoreShard *shard)
{
    Statement *place = store->insert_place[commit->kind];
    const Recording recording = recording_of(store->spec, commit->kind);
    TRY(store_insert_shard(store, shard));
    for (int64_t i = 0; i < commit->n_lanes; i++) {
        bind_integer(place, 1, commit->lanes[i].trial);
        bind_integer(place, 2, commit->lanes[i].replicate);
        bind_integer(place, 3, store->next_shard);
        bind_integer(place, 4, i);
        bind_integer(place, 5, commit->lanes[i].length);
        bind_text(place, 6, recording.recipe);
        TRY(commit_step(place));
    }
    return error_none();
}

static Error commit_batch(const Store *store, const Commit *commit, const StoreShard *shard)
{
    Statement *statement = store->insert_batch;
    const TrialRows *rows = &commit->rows;
    bind_integer(statement, 1, store->next_batch);
    bind_integer(statement, 2, rows->id[0]);
    bind_integer(statement, 3, rows->id[rows->count - 1]);
    bind_integer(statement, 4, rows->count);
    bind_integer(statement, 5, commit->failures);
    bind_integer(statement, 6, commit->lanes_run);
    bind_text(statement, 7, commit->backend);
    bind_text(statement, 8, commit->device);
    bind_text(statement, 9, commit->version);
    bind_integer(statement, 10, NUMERICS_VERSION);
    bind_real(statement, 11, commit->kernel_seconds);
    bind_real(statement, 12, commit->wait_seconds);
    bind_real(statement, 13, commit->wall_seconds);
    bind_text(statement, 14, clock_utc().text);
    bind_real(statement, 15, commit->copy_seconds);
    bind_real(statement, 16, commit->search_seconds);
    bind_real(statement, 17, shard->seconds);
    return commit_step(statement);
}

static void commit_bind_number(Statement *statement, int index, double value)
{
    if (isnan(value))
        bind_null(statement, index);
    else
        bind_real(statement, index, value);
}

static Error commit_front(const Store *store, const Round *round)
{
    Statement *statement = store->insert_front;
    bind_integer(statement, 1, round->search);
    bind_integer(statement, 2, round->round);
    bind_integer(statement, 3, round->front);
    commit_bind_number(statement, 4, round->hypervolume);
    return commit_step(statement);
}

static Error commit_round(const Store *store, const Rounds *rounds, int n_fields, int64_t index)
{
    const Round *round = &rounds->row[index];
    Statement *statement = store->insert_round;
    bind_integer(store->insert_search, 1, round->search);
    bind_text(store->insert_search, 2, store->spec->method->name);
    TRY(commit_step(store->insert_search));
    bind_integer(statement, 1, round->search);
    bind_integer(statement, 2, round->round);
    bind_blob(statement, 3, rounds->field + index * n_fields, (size_t)n_fields * sizeof(double));
    bind_integer(statement, 4, round->population);
    bind_integer(statement, 5, round->evaluations);
    commit_bind_number(statement, 6, round->sigma);
    commit_bind_number(statement, 7, round->condition);
    commit_bind_number(statement, 8, round->best);
    bind_text(statement, 9, round->stop);
    TRY(commit_step(statement));
    return round->has_front ? commit_front(store, round) : error_none();
}

Error store_insert_rounds(const Store *store, const Rounds *rounds, int n_fields)
{
    for (int64_t i = 0; i < rounds->count; i++) TRY(commit_round(store, rounds, n_fields, i));
    return error_none();
}

static Error commit_all(const Store *store, const Commit *commit, const StoreShard *shard)
{
    if (commit->rows.count > 0) {
        TRY(commit_rows(store, &commit->rows, 0, commit->rows.count));
        TRY(commit_batch(store, commit, shard));
        bind_blob(store->update_search, 1, commit->state, commit->state_size);
        TRY(commit_step(store->update_search));
        TRY(store_insert_rounds(store, &commit->rounds, commit->n_round_fields));
    }
    return commit->n_lanes > 0 ? commit_arrays(store, commit, shard) : error_none();
}

Error store_note_seconds(Store *store)
{
    if (store->sqlite_seconds < 0) return error_none();
    bind_real(store->note_batch, 1, store->sqlite_seconds);
    bind_integer(store->note_batch, 2, store->next_batch - 1);
    store->sqlite_seconds = -1;
    return commit_step(store->note_batch);
}

Error store_note_wall(Store *store, double seconds)
{
    Statement *statement = NULL;
    TRY(database_prepare(store->database, "UPDATE batches SET wall_seconds = wall_seconds + ? WHERE id = ?",
                         &statement));
    bind_real(statement, 1, seconds);
    bind_integer(statement, 2, store->next_batch - 1);
    const Error error = commit_step(statement);
    statement_close(statement);
    return error;
}

static Error commit_transaction(Store *store, const Commit *commit, const StoreShard *shard)
{
    TRY(database_run(store->database, "BEGIN IMMEDIATE"));
    Error error = store_note_seconds(store);
    if (error.kind == OK) error = commit_all(store, commit, shard);
    return store_end(store, error);
}

Error store_commit(Store *store, const Commit *commit, double *seconds)
{
    const double start = clock_seconds();
    StoreShard shard = {.bytes = 0};
    if (commit->n_lanes > 0) TRY(commit_write_shard(store, commit, &shard));
    shard.seconds = clock_seconds() - start;
    TRY(commit_transaction(store, commit, &shard));
    *seconds = clock_seconds() - start;
    store->next_shard += commit->n_lanes > 0;
    if (commit->rows.count > 0) {
        store->next_batch++;
        store->sqlite_seconds = *seconds - shard.seconds;
    }
    return error_none();
}
