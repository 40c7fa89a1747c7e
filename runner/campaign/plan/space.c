// Disk space: how much a campaign needs, and whether it is free. A run that does not fit is refused before it starts.
// If the disk fills up nevertheless, the run ends with everything committed (io/file.c, io/database.c).
#include "space.h"

#include "../store/trials/best_rows.h"
#include "../store/queries.h"
#include "../store/ground/rows.h"
#include "../store/campaign/store.h"
#include "../store/trials/trial_blocks.h"

#include <math.h>
#include <string.h>

static const double space_mebibyte = 1024.0 * 1024.0;

// ---- estimates ------------------------------------------------------------------------------------------------------

// Metadata of a shard: about 24 KB, more with many columns. A database without rows.
static const double space_shard_rest = 32768.0, space_database_rest = 131072.0;
static const double space_events = 1000.0;              // of a lane, a guess: most have fewer
static const double space_lane_row = 32.0;              // of a shard's table of lanes
static const double space_sums = 4.0 * 1024.0 * 1024.0; // over all trials: histograms and bins

// A row of SQLite takes about 9 bytes per column and 20 more.
static double space_rows(double rows, int64_t columns) { return rows * (double)(9 * columns + 20); }

// rows: of a lane
static double space_shards(const Recording *recording, double rows, double lanes, double shards)
{
    const double sample = recording->n_columns * (recording->float64 ? 8.0 : 4.0);
    const double bytes = lanes * (rows * sample + space_lane_row);
    const double full = ceil(bytes / (double)RECORD_BYTES_MAX);
    return lanes > 0 ? bytes + fmax(full, fmin(shards, lanes)) * space_shard_rest : 0.0;
}

double space_hdf5(const Spec *spec, RecordKind kind, int64_t lanes, int64_t shards)
{
    const Recording recording = recording_of(spec, kind);
    const bool unbounded = kind == RECORD_DEBUG && spec->configured.debug_rows == 0;
    const double capacity = (double)recording.capacity, rows = unbounded ? fmin(capacity, space_events) : capacity;
    return space_shards(&recording, rows, (double)lanes, (double)shards);
}

// Trials that keep a row, at most.
static double space_kept(const Spec *spec, double trials)
{
    const double every = (double)spec->record.rows.every;
    const double rows = 1.125 * (double)spec->record.rows.best + (double)spec->record.rows.failures +
                        (every > 0 ? ceil(trials / every) : 0.0);
    return fmin(rows, trials);
}

double space_sqlite(const Spec *spec, int64_t trials, int64_t lanes)
{
    // of the best, up to three times as many while they are found
    const double best = 2.0 * (double)spec->record.rows.best, most = (double)trials;
    const bool blocks = trial_blocks_are_chosen(spec, trials);
    const double kept = spec->record.rows.some ? fmin(space_kept(spec, most) + best, most) : most;
    const double rows = blocks ? fmin(kept, BEST_ROWS) : kept;
    double bytes = space_database_rest + space_rows(rows, rows_columns(spec));
    if (blocks) bytes += space_rows(kept / 1024.0, 4); // digests
    if (spec->record.rows.some) bytes += space_sums;
    if (spec->replicates.store) bytes += space_rows((double)lanes, rows_replicate_columns(spec));
    return bytes;
}

// Of kept rows, blocks hold at most four times as many as will stay, and these once more while they are written again
// (store/commit/kept_rows.c).
double space_blocks(const Spec *spec, int64_t trials)
{
    const double most = (double)trials;
    const double rows = spec->record.rows.some ? fmin(5.0 * space_kept(spec, most), most) : most;
    return trial_blocks_are_chosen(spec, trials) ? 8.0 * (double)rows_columns(spec) * rows : 0.0;
}

double space_rounds_sqlite(const Search *search, int64_t rounds)
{
    enum { COLUMNS = 9 };
    const double row = 8.0 * search->n_round_fields + space_rows(1.0, COLUMNS);
    return (double)rounds * row + 2.0 * (double)search_state_most(search);
}

double space_rounds_hdf5(const Search *search, int64_t rounds)
{
    const double columns = 1024.0; // of metadata, for each
    return (double)rounds * 8.0 * search->n_round_fields + space_shard_rest + columns * search->n_round_fields;
}

// The journal (WAL) takes up to 64 MiB beside the database until SQLite copies it into it (io/database.c).
double space_journal(double sqlite_bytes) { return fmin(sqlite_bytes, 64.0 * space_mebibyte); }

// ---- is it there ----------------------------------------------------------------------------------------------------

SpaceVerdict space_verdict(double needed, double available)
{
    if (needed > available) return SPACE_SHORT;
    return needed > 0.9 * available ? SPACE_TIGHT : SPACE_ENOUGH;
}

// The bytes still to be written: all, less those of the stored trials and shards.
static double space_remaining(const Plan *plan, double shards, int64_t trials_done)
{
    const double left = plan->trials > 0 ? fmax(1.0 - (double)trials_done / (double)plan->trials, 0.0) : 0.0;
    const double sqlite = plan->sqlite_bytes * left;
    return fmax(plan->hdf5_bytes - shards, 0.0) + sqlite + space_journal(sqlite) + plan->block_bytes * left;
}

// Excluded trials are counted exactly only if the run would not fit with them.
static Error space_needed(const Spec *spec, Store *store, const RunOptions *options, int64_t trials_done, Arena *arena,
                          double *needed, bool *early)
{
    Plan plan;
    double shards = 0;
    TRY(shards_bytes(store->database, &shards));
    TRY(plan_count(spec, options, false, arena, &plan));
    *early = plan.trials_least < plan.trials;
    *needed = space_remaining(&plan, shards, trials_done);
    if (space_verdict(*needed, plan.disk_free) == SPACE_ENOUGH) return error_none();
    TRY(plan_count(spec, options, true, arena, &plan));
    *needed = space_remaining(&plan, shards, trials_done);
    return error_none();
}

Error space_check(const Spec *spec, Store *store, const RunOptions *options, int64_t trials_done, Arena *arena)
{
    double needed = 0;
    int64_t available = 0;
    bool early = false; // it is an upper bound
    if (options->ignore_space) return error_none();
    TRY(space_needed(spec, store, options, trials_done, arena, &needed, &early));
    TRY(disk_free(store->folder, &available));
    const SpaceVerdict verdict = space_verdict(needed, (double)available);
    if (verdict != SPACE_ENOUGH && (early || verdict == SPACE_TIGHT) && options->messages != NULL) {
        fprintf(options->messages, "warning: %s %s will be written to %s, where %s are free\n",
                early ? "up to" : "about", text_bytes(needed).text, store->folder, text_bytes((double)available).text);
    }
    if (verdict != SPACE_SHORT || early) return error_none();
    return error_make(ERROR_MACHINE,
                      "about %s are still to be written to %.180s, where %s are free: free some space, record fewer "
                      "trajectories or sample them less often, or give --ignore-space to run until the disk is full",
                      text_bytes(needed).text, store->folder, text_bytes((double)available).text);
}
