// The digest of a campaign: a hash of its results, without anything that depends on when, where or in how many batches
// they were computed. Two campaigns of one spec are equal if their digests are equal.
//
// SHA-256 over, in this order: the spec's hash; trials by id (rows_hash); where only some keep a row, `record.rows` and
// the sums over all; stored replicates by trial and replicate; the searches' methods and states, and their rounds with
// the reasons to stop, fronts, and how good gradients are; trajectories by trial and replicate: {trial, replicate,
// samples}, then the samples as doubles, whatever type the shard has; debug rows likewise. Only arrays that the spec
// asks for count: others were among the best when a limit or an extension came, which depends on time. A spec that a
// campaign was extended from counts as long as trials of it are still to come and the last spec alone does not say
// which (segments_counts). After that the campaign equals one that had the last spec from the start.
#include "queries.h"
#include "rows.h"
#include "rounds.h"
#include "store.h"
#include "wanted_arrays.h"

#include <stdlib.h>
#include <string.h>

// ---- scalars --------------------------------------------------------------------------------------------------------

static void digest_integer(Sha256 *hash, int64_t value) { sha256_add(hash, &value, sizeof value); }

static Error digest_trials(const StoredCampaign *campaign, Arena *arena, Sha256 *hash)
{
    TrialRows row;
    rows_take(&campaign->spec, 1, arena, &row);
    Cursor trials = trial_rows(campaign->database, &campaign->spec, arena);
    while (trial_rows_next(&trials, &campaign->spec, &row, 0)) rows_hash(&campaign->spec, &row, 0, hash);
    return cursor_close(&trials);
}

// Columns trial, replicate, failure, then numbers.
static void digest_replicate_row(const Cursor *row, Sha256 *hash)
{
    const char *failure = cell_text(row, 2);
    digest_integer(hash, cell_integer(row, 0));
    digest_integer(hash, cell_integer(row, 1));
    sha256_add(hash, failure, strlen(failure) + 1);
    for (int i = 3; i < cells_count(row); i++) {
        const double value = rows_stored(cell_real(row, i));
        sha256_add(hash, &value, sizeof value);
    }
}

static void digest_search_row(const Cursor *row, Sha256 *hash)
{
    const char *method = cell_text(row, 1);
    digest_integer(hash, cell_integer(row, 0));
    sha256_add(hash, method, strlen(method) + 1);
    const Bytes state = cell_blob(row, 2);
    digest_integer(hash, (int64_t)state.size);
    if (state.size > 0) sha256_add(hash, state.data, state.size);
}

static void digest_round_row(const Cursor *row, Sha256 *hash)
{
    const Bytes debug = cell_blob(row, 2);
    const char *stop = cell_text(row, 3);
    digest_integer(hash, cell_integer(row, 0));
    digest_integer(hash, cell_integer(row, 1));
    digest_integer(hash, (int64_t)debug.size);
    if (debug.size > 0) sha256_add(hash, debug.data, debug.size);
    sha256_add(hash, stop, strlen(stop) + 1);
}

static void digest_front_row(const Cursor *row, Sha256 *hash)
{
    for (int i = 0; i < 3; i++) digest_integer(hash, cell_integer(row, i));
    const double volume = rows_stored(cell_real(row, 3));
    sha256_add(hash, &volume, sizeof volume);
}

// Texts with their ends, numbers as 8 bytes, blobs as they are: of tables whose rows have no times.
static void digest_cells(const Cursor *row, Sha256 *hash)
{
    for (int i = 0; i < cells_count(row); i++) {
        const double number = rows_stored(cell_real(row, i));
        if (cell_kind(row, i) == COLUMN_BLOB) {
            const Bytes blob = cell_blob(row, i);
            if (blob.size > 0) sha256_add(hash, blob.data, blob.size); // an empty one has no address
        } else if (cell_kind(row, i) == COLUMN_TEXT) {
            sha256_add(hash, cell_text(row, i), strlen(cell_text(row, i)) + 1);
        } else {
            sha256_add(hash, &number, sizeof number);
        }
    }
}

static Error digest_rows(Database *database, const char *sql, void (*add)(const Cursor *, Sha256 *), Sha256 *hash)
{
    Cursor rows = cursor_open(database, sql);
    while (cursor_next(&rows)) add(&rows, hash);
    return cursor_close(&rows);
}

static Error digest_rounds(Database *database, Sha256 *hash)
{
    TRY(digest_rows(database, "SELECT search, round, debug, ifnull(stop, '') FROM rounds ORDER BY 1, 2",
                    digest_round_row, hash));
    return digest_rows(database, "SELECT search, round, front, hypervolume FROM fronts ORDER BY 1, 2", digest_front_row,
                       hash);
}

// Of rounds where there is more to tell than the norm, which is in the row of the round.
static Error digest_gradients(Database *database, Sha256 *hash)
{
    if (!gradients_are_kept(database)) return error_none();
    return digest_rows(database,
                       "SELECT search, round, norm, spread, cosine, growth FROM gradients WHERE spread IS NOT NULL OR "
                       "cosine IS NOT NULL OR growth IS NOT NULL ORDER BY 1, 2",
                       digest_cells, hash);
}

// ---- arrays ---------------------------------------------------------------------------------------------------------

// Trajectories in the order of trials jump between shards: those recorded as they ran lie in the shards of their
// batches, the best ones in the last. The few that were used last stay open.
enum { DIGEST_OPEN_SHARDS = 8 };

typedef struct DigestShards {
    const char *folder;
    ShardLayout layout;
    ShardReader *reader[DIGEST_OPEN_SHARDS];
    int64_t id[DIGEST_OPEN_SHARDS], used[DIGEST_OPEN_SHARDS], clock;
    double *samples;
    size_t samples_size;
} DigestShards;

static Error digest_open_shard(DigestShards *shards, int64_t id, const char *name, const char *sha256, int *slot)
{
    char path[1024];
    int oldest = 0;
    for (int i = 0; i < DIGEST_OPEN_SHARDS; i++) {
        *slot = i;
        if (shards->reader[i] != NULL && shards->id[i] == id) return error_none();
        if (shards->used[i] < shards->used[oldest]) oldest = i;
    }
    *slot = oldest;
    if (shards->reader[oldest] != NULL) shard_close(shards->reader[oldest]);
    shards->reader[oldest] = NULL;
    shards->id[oldest] = id;
    snprintf(path, sizeof path, "%s/" CAMPAIGN_SHARDS "/%s", shards->folder, name);
    return shard_open(path, &shards->layout, sha256, &shards->reader[oldest]);
}

static Error digest_reserve(DigestShards *shards, size_t size)
{
    if (size <= shards->samples_size) return error_none();
    free(shards->samples);
    shards->samples = malloc(size);
    shards->samples_size = shards->samples != NULL ? size : 0;
    return shards->samples != NULL ? error_none()
                                   : error_make(ERROR_MACHINE, "not enough memory for a lane of %zu bytes", size);
}

static Error digest_lane(DigestShards *shards, const ArrayPlace *place, Sha256 *hash)
{
    int slot = 0;
    TRY(digest_open_shard(shards, place->shard, place->name, place->sha256, &slot));
    shards->used[slot] = ++shards->clock;
    ShardReader *reader = shards->reader[slot];
    const bool there = place->row < shard_lane_count(reader);
    const ShardLane lane = there ? shard_lane(reader, place->row) : (ShardLane){.trial = -1};
    if (lane.trial != place->trial || lane.replicate != place->replicate || lane.length != place->samples) {
        return error_make(
            ERROR_MACHINE,
            "shard %s does not hold trial %lld, replicate %lld in row %lld, as campaign.db says; the command "
            "doctor tells what is damaged",
            place->name, (long long)place->trial, (long long)place->replicate, (long long)place->row);
    }
    const size_t size = (size_t)place->samples * (size_t)shards->layout.n_columns * sizeof(double);
    TRY(digest_reserve(shards, size));
    TRY(shard_samples(reader, place->row, shards->samples));
    digest_integer(hash, place->trial);
    digest_integer(hash, place->replicate);
    digest_integer(hash, place->samples);
    sha256_add(hash, shards->samples, size);
    return error_none();
}

static Error digest_each_lane(const StoredCampaign *campaign, RecordKind kind, DigestShards *shards, Arena *arena,
                              Sha256 *hash)
{
    const Recording recording = recording_of(&campaign->spec, kind);
    ArrayPlace place;
    shards->layout = recording_layout(&recording);
    TRY(record_ask(&campaign->spec, campaign->database, kind));
    Cursor places = places_wanted(campaign->database, &recording, arena);
    while (place_next(&places, &place)) cursor_stop(&places, digest_lane(shards, &place, hash));
    return cursor_close(&places);
}

static Error digest_arrays(const StoredCampaign *campaign, RecordKind kind, Arena *arena, Sha256 *hash)
{
    DigestShards shards = {.folder = campaign->folder};
    const Error error = digest_each_lane(campaign, kind, &shards, arena, hash);
    for (int i = 0; i < DIGEST_OPEN_SHARDS; i++) {
        if (shards.reader[i] != NULL) shard_close(shards.reader[i]);
    }
    free(shards.samples);
    return error;
}

// ---- sums over trials ----------------------------------------------------------------------------------------------

static Error digest_sums(Database *database, Sha256 *hash)
{
    static const char *const tables[] = {"SELECT * FROM kept_rows", "SELECT * FROM summary_failures ORDER BY failure",
                                         "SELECT * FROM summary_columns ORDER BY name",
                                         "SELECT * FROM summary_axes ORDER BY x, y"};
    for (size_t i = 0; kept_in_part(database) && i < sizeof tables / sizeof *tables; i++)
        TRY(digest_rows(database, tables[i], digest_cells, hash));
    return error_none();
}

// ---- all of it ------------------------------------------------------------------------------------------------------

static Error digest_open_segments(const Spec *spec, int64_t next, Arena *arena, Sha256 *hash)
{
    Search search;
    TRY(search_init(spec, arena, &search));
    for (int i = 0; i < spec->n_segments; i++) {
        const Segment *segment = &spec->segments[i];
        if (!segments_counts(&search, i, next, arena)) continue;
        sha256_add(hash, segment->spec != NULL ? segment->spec->hash.hex : spec->hash.hex, sizeof spec->hash.hex);
        digest_integer(hash, segment->first_id);
        digest_integer(hash, segment->first_point);
    }
    return error_none();
}

// Specs that the campaign was extended from, as far as they still say which trials come.
static Error digest_segments(const StoredCampaign *campaign, Sha256 *hash)
{
    enum { POINT = 16 }; // bytes of a table that finds points by their values
    const Spec *spec = &campaign->spec;
    Arena arena;
    size_t bytes = (size_t)64 << 20;
    int64_t next = 0; // all ids below it are decided
    if (spec->n_segments == 0 || search_learns(spec->method)) return error_none();
    for (int i = 0; i + 1 < spec->n_segments; i++) bytes += (size_t)(POINT * spec->segments[i].spec->n_points);
    TRY(trials_last_told(campaign->database, false, INT64_MAX, &next));
    next++;
    TRY(arena_create(&arena, bytes + (size_t)(POINT * spec->n_points), "the specs of a campaign"));
    const Error error = digest_open_segments(spec, next, &arena, hash);
    arena_destroy(&arena);
    return error;
}

static Error digest_all(const StoredCampaign *campaign, Arena *arena, Sha256 *hash)
{
    TRY(digest_segments(campaign, hash));
    sha256_add(hash, campaign->spec.hash.hex, sizeof campaign->spec.hash.hex);
    TRY(digest_trials(campaign, arena, hash));
    TRY(digest_sums(campaign->database, hash));
    if (campaign->spec.replicates.store) {
        TRY(digest_rows(campaign->database, "SELECT * FROM replicates ORDER BY trial, replicate", digest_replicate_row,
                        hash));
    }
    TRY(digest_rows(campaign->database, "SELECT id, method, state FROM searches ORDER BY id", digest_search_row, hash));
    TRY(digest_rounds(campaign->database, hash));
    TRY(digest_gradients(campaign->database, hash));
    TRY(digest_arrays(campaign, RECORD_TRAJECTORIES, arena, hash));
    return digest_arrays(campaign, RECORD_DEBUG, arena, hash);
}

Error campaign_digest(const StoredCampaign *campaign, Sha256Text *digest)
{
    Arena arena;
    Sha256 hash;
    TRY(arena_create_growing(&arena, (size_t)16 << 20, "a digest"));
    sha256_start(&hash);
    Error error = campaign_check_meaning(campaign);
    if (error.kind == OK) error = store_read_begin(campaign->database); // one moment of what may be running
    if (error.kind == OK) error = store_read_end(campaign->database, digest_all(campaign, &arena, &hash));
    arena_destroy(&arena);
    *digest = sha256_finish(&hash);
    return error;
}
