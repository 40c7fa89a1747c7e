// The rounds of a search that learns, as arrays. A commit inserts their rows into campaign.db together with their
// trials. When a run ends, new rounds are also written to a shard, under debug/METHOD. A lane of such a shard holds the
// rounds of one search since the last shard; `trial` in its table of lanes is the number of the search. The rows in the
// database stay, so a lost shard is written again from them.
#include "rounds.h"

#include "commit.h"
#include "../ground/transaction.h"

#include <stdlib.h>
#include <string.h>

Error fronts_are_stored(Database *database, bool *stored)
{
    int64_t rows = 0;
    TRY(store_integer(database, "SELECT count(*) FROM (SELECT 1 FROM fronts LIMIT 1)", 0, &rows));
    *stored = rows > 0;
    return error_none();
}

#define ROUNDS_MISSING                                                                                                 \
    "FROM rounds WHERE debug IS NOT NULL AND NOT EXISTS (SELECT 1 FROM round_rows p "                                  \
    "WHERE p.search = rounds.search AND rounds.round BETWEEN p.first AND p.last)"

// The rows of one shard while they are gathered.
typedef struct RoundsShard {
    int columns;
    int64_t rows, rows_max;
    double *samples;  // [rows_max][columns]
    ShardLane *lanes; // [rows_max]
    int64_t *first;   // [rows_max] round of each lane
    int64_t n_lanes;
} RoundsShard;

Error rounds_are_missing(Store *store, bool *missing)
{
    int64_t count = 0;
    TRY(store_integer(store->database, "SELECT count(*) FROM (SELECT 1 " ROUNDS_MISSING " LIMIT 1)", 0, &count));
    *missing = count > 0;
    return error_none();
}

static void rounds_add(RoundsShard *shard, int64_t search, int64_t round, const double *row)
{
    ShardLane *lane = shard->n_lanes > 0 ? &shard->lanes[shard->n_lanes - 1] : NULL;
    memcpy(shard->samples + shard->rows++ * shard->columns, row, (size_t)shard->columns * sizeof *row);
    if (lane != NULL && lane->trial == search && shard->first[shard->n_lanes - 1] + lane->length == round) {
        lane->length++;
        return;
    }
    shard->first[shard->n_lanes] = round;
    shard->lanes[shard->n_lanes++] = (ShardLane){.trial = search, .length = 1};
}

// Gathers rows in the order of searches and rounds, up to rows_max.
static Error rounds_gather(Store *store, RoundsShard *shard)
{
    Cursor rounds =
        cursor_open(store->database, "SELECT search, round, debug " ROUNDS_MISSING " ORDER BY search, round");
    while (shard->rows < shard->rows_max && cursor_next(&rounds)) {
        const Bytes bytes = cell_blob(&rounds, 2);
        const int64_t search = cell_integer(&rounds, 0), round = cell_integer(&rounds, 1);
        if (bytes.size == (size_t)shard->columns * sizeof(double))
            rounds_add(shard, search, round, (const double *)(const void *)bytes.data);
        else
            cursor_stop(&rounds, error_make(ERROR_MACHINE,
                                            "round %lld of search %lld of %.128s holds %zu bytes, not %d numbers; %s "
                                            "repairs it",
                                            (long long)round, (long long)search, store->name, bytes.size,
                                            shard->columns, store_how_to_repair(store->database, store->name).text));
    }
    return cursor_close(&rounds);
}

static Error rounds_insert_rows(Store *store, const RoundsShard *shard, int64_t id)
{
    Cursor insert = cursor_open(store->database, "INSERT INTO round_rows VALUES(?, ?, ?, ?, ?)");
    for (int64_t i = 0; i < shard->n_lanes; i++) {
        with_integer(&insert, shard->lanes[i].trial);
        with_integer(&insert, shard->first[i]);
        with_integer(&insert, shard->first[i] + shard->lanes[i].length - 1);
        with_integer(&insert, id);
        with_integer(&insert, i);
        cursor_next(&insert);
    }
    return cursor_close(&insert);
}

static Error rounds_commit(Store *store, const RoundsShard *shard, const StoreShard *written)
{
    TRY(store_insert_shard(store, written));
    return rounds_insert_rows(store, shard, store->next_shard);
}

static Error rounds_write(Store *store, const Search *search, RoundsShard *gathered)
{
    StoreShard written = {.bytes = 0};
    char group[64];
    snprintf(group, sizeof group, "debug/%s", search->method->name);
    Shard shard = {.group = group,
                   .columns = search->round_fields,
                   .n_columns = gathered->columns,
                   .lanes = gathered->lanes,
                   .n_lanes = gathered->n_lanes,
                   .samples = gathered->samples,
                   .float64 = true};
    TRY(store_write_shard(store, &shard, &written));
    TRY(store_begin(store));
    TRY(store_end(store, rounds_commit(store, gathered, &written)));
    store->next_shard++;
    return error_none();
}

static Error rounds_each_shard(Store *store, const Search *search, RoundsShard *shard)
{
    do {
        shard->rows = shard->n_lanes = 0;
        TRY(rounds_gather(store, shard));
        if (shard->rows > 0) TRY(rounds_write(store, search, shard));
    } while (shard->rows == shard->rows_max);
    return error_none();
}

Error rounds_record(Store *store, const Search *search)
{
    RoundsShard shard = {.columns = search->n_round_fields};
    int64_t rows = 0;
    Arena arena;
    if (shard.columns == 0) return error_none();
    TRY(store_integer(store->database, "SELECT count(*) " ROUNDS_MISSING, 0, &rows));
    if (rows == 0) return error_none();
    const int64_t bytes = (int64_t)sizeof(double) * shard.columns, fit = RECORD_BYTES_MAX / bytes;
    shard.rows_max = rows + 1 < fit ? rows + 1 : fit;
    TRY(arena_create(&arena, (size_t)(shard.rows_max * (bytes + 64)) + 4096, "rows of rounds"));
    shard.samples = ARENA_NEW(&arena, double, shard.rows_max *shard.columns);
    shard.lanes = ARENA_NEW(&arena, ShardLane, shard.rows_max);
    shard.first = ARENA_NEW(&arena, int64_t, shard.rows_max);
    const Error error = rounds_each_shard(store, search, &shard);
    arena_destroy(&arena);
    return error;
}

// ---- after an extension ---------------------------------------------------------------------------------------------

static Error rounds_renew_stops(Store *store, const Search *search)
{
    Cursor update =
        cursor_open(store->database, "UPDATE rounds SET stop = ?1 WHERE search = ?2 AND round = ?3 AND stop IS NOT ?1");
    for (int64_t i = 0; i < search->n_stops; i++) {
        with_text(&update, search->stops[i].stop);
        with_integer(&update, search->stops[i].search);
        with_integer(&update, search->stops[i].round);
        cursor_next(&update);
    }
    return cursor_close(&update);
}

static Error rounds_renew_state(Store *store, const Search *search)
{
    Cursor update =
        cursor_open(store->database, "UPDATE searches SET previous = state, state = ?1 WHERE id = 0 AND state <> ?1");
    with_blob(&update, search->state, search->state_size);
    return cursor_run(&update);
}

Error rounds_renew(Store *store, const Search *search)
{
    if (store->spec->n_segments == 0 || search->n_stops == 0) return error_none();
    TRY(store_begin(store));
    Error error = rounds_renew_stops(store, search);
    if (error.kind == OK) error = rounds_renew_state(store, search);
    return store_end(store, error);
}
