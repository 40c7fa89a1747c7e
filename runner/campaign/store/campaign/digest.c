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
#include "../queries.h"
#include "../ground/rows.h"
#include "../commit/rounds.h"
#include "store.h"
#include "../commit/wanted_arrays.h"

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

// Of rounds that have more than the norm, which is in the row of the round.
static Error digest_gradients(Database *database, Sha256 *hash)
{
    if (!gradients_are_kept(database)) return error_none();
    return digest_rows(database,
                       "SELECT search, round, norm, spread, cosine, growth FROM gradients WHERE spread IS NOT NULL OR "
                       "cosine IS NOT NULL OR growth IS NOT NULL ORDER BY 1, 2",
                       digest_cells, hash);
}

// ---- arrays ---------------------------------------------------------------------------------------------------------

static Error digest_lane(LaneReader *lanes, const StoredArray *array, Sha256 *hash)
{
    const double *samples = NULL;
    TRY(lane_read(lanes, array, &samples));
    digest_integer(hash, array->trial);
    digest_integer(hash, array->replicate);
    digest_integer(hash, array->samples);
    sha256_add(hash, samples, (size_t)array->samples * (size_t)lanes->layout.n_columns * sizeof(double));
    return error_none();
}

static Error digest_each_lane(const StoredCampaign *campaign, const Recording *recording, LaneReader *lanes,
                              Arena *arena, Sha256 *hash)
{
    StoredArray array;
    Cursor arrays = arrays_wanted(campaign->database, recording, arena);
    while (array_next(&arrays, &array)) cursor_stop(&arrays, digest_lane(lanes, &array, hash));
    return cursor_close(&arrays);
}

// Trajectories in the order of trials jump between shards: those recorded as they ran lie in the shards of their
// batches, the best ones in the last.
static Error digest_arrays(const StoredCampaign *campaign, RecordKind kind, Arena *arena, Sha256 *hash)
{
    const Recording recording = recording_of(&campaign->spec, kind);
    LaneReader lanes = {.folder = campaign->folder, .layout = recording_layout(&recording), .most = LANE_SHARDS_MAX};
    TRY(record_ask(&campaign->spec, campaign->database, kind));
    const Error error = digest_each_lane(campaign, &recording, &lanes, arena, hash);
    lanes_close(&lanes);
    return error;
}

// ---- sums over trials ----------------------------------------------------------------------------------------------

static Error digest_sums(Database *database, Sha256 *hash)
{
    static const char *const tables[] = {"SELECT * FROM kept_rows", "SELECT * FROM summary_failures ORDER BY failure",
                                         "SELECT * FROM summary_columns ORDER BY name",
                                         "SELECT * FROM summary_axes ORDER BY x, y"};
    for (size_t i = 0; kept_partly(database) && i < sizeof tables / sizeof *tables; i++)
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
