// See kept_rows.h. The best trials so far are in memory, N to 9/8 N of them; a trial that is worse than the last N of
// them has no row. When there are 9/8 N, the last N/8 are dropped: so N ln(trials/N) rows go in, instead of
// N log2(trials/N) if they were 2N. When N rows are dropped, the next commits delete them in the order of ids, since
// neighbours share pages; some at a time, so that no commit takes long. After a crash the stored rows are ranked again,
// and the same rows are dropped.
//
// Where trials are in blocks (trial_blocks.h), the kept rows of a batch are a block. Blocks are written again without
// the dropped rows when these are most of them, and at the end. To insert and to delete a row takes 28,000
// instructions; a row of a block takes its bytes.
#include "kept_rows.h"

#include "../ground/cursor.h"
#include "../queries.h"
#include "../trials/rank.h"
#include "../ground/rows.h"
#include "seal.h"
#include "trial_blocks_write.h"
#include "wanted_arrays.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- the tables -----------------------------------------------------------------------------------------------------

static const char kept_sql[] = "CREATE TABLE kept_rows(best INTEGER NOT NULL, every INTEGER NOT NULL,\n"
                               "  failures INTEGER NOT NULL) STRICT;\n";

Error kept_make(Database *database, const Spec *spec)
{
    char sql[64];
    if (!spec->record.rows.some) return error_none();
    snprintf(sql, sizeof sql, "PRAGMA user_version = %d", STORE_SCHEMA_WITH_SUMS);
    TRY(database_run(database, sql));
    TRY(database_run(database, kept_sql));
    return summary_make_tables(database);
}

Error kept_fill(Database *database, const Spec *spec, Arena *arena)
{
    Summary summary;
    if (!spec->record.rows.some) return error_none();
    Cursor insert = cursor_open(database, "INSERT INTO kept_rows VALUES(?, ?, ?)");
    with_integer(&insert, spec->record.rows.best);
    with_integer(&insert, spec->record.rows.every);
    with_integer(&insert, spec->record.rows.failures);
    TRY(cursor_run(&insert));
    summary_take(spec, arena, &summary);
    return summary_make(database, &summary);
}

static const char *kept_choice_text(const KeptChoice *choice, char *text, size_t size)
{
    snprintf(text, size, "all");
    if (choice->best > 0)
        snprintf(text, size, "{best: %lld, every: %lld, failures: %lld}", (long long)choice->best,
                 (long long)choice->every, (long long)choice->failures);
    return text;
}

Error kept_choice(Database *database, KeptChoice *choice)
{
    *choice = (KeptChoice){.best = 0};
    if (!kept_partly(database)) return error_none();
    Cursor row = cursor_open(database, "SELECT best, every, failures FROM kept_rows");
    if (cursor_next(&row)) *choice = (KeptChoice){cell_integer(&row, 0), cell_integer(&row, 1), cell_integer(&row, 2)};
    return cursor_close(&row);
}

Error kept_compare(Database *database, const Spec *spec, const char *name)
{
    char stored[96], given[96];
    KeptChoice choice;
    const KeptChoice own = {spec->record.rows.best, spec->record.rows.every, spec->record.rows.failures};
    TRY(kept_choice(database, &choice));
    if (memcmp(&choice, &own, sizeof own) == 0) return error_none();
    return error_make(ERROR_USER,
                      "campaign %.128s was made with record.rows: %s, and its rows and sums can't be those of "
                      "record.rows: %s; a new campaign can, under another --name",
                      name, kept_choice_text(&choice, stored, sizeof stored),
                      kept_choice_text(&own, given, sizeof given));
}

// ---- which trials ---------------------------------------------------------------------------------------------------

static bool kept_has(const Selection *select, int64_t id)
{
    if (select->every > 0 && id % select->every == 0) return true;
    for (int i = 0; i < select->n_trials; i++) {
        if (select->trials[i] == id) return true;
    }
    return false;
}

static bool kept_by_id(const Spec *spec, int64_t id)
{
    const int64_t every = spec->record.rows.every;
    return (every > 0 && id % every == 0) || record_as_run(spec, id) ||
           (spec->record.debug.wanted && kept_has(spec_debug_select(spec), id));
}

static bool kept_as_failed(KeptRows *kept, bool failed)
{
    if (!failed || kept->failures >= kept->spec->record.rows.failures) return false;
    kept->failures++;
    return true;
}

static int kept_compare_ids(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

// All dropped ids in their order.
static void kept_sort_dropped(KeptRows *kept)
{
    const int64_t left = kept->n_dropped - kept->next;
    if (kept->sorted < kept->n_dropped)
        qsort(kept->dropped + kept->next, (size_t)left, sizeof *kept->dropped, kept_compare_ids);
    kept->sorted = kept->n_dropped;
}

// Room for more dropped ids behind those that are not deleted yet. A batch may drop many times the best, but no more
// than it inserts.
static void kept_reserve(KeptRows *kept, int64_t more)
{
    const int64_t left = kept->n_dropped - kept->next, needed = left + more;
    int64_t *from = kept->dropped + kept->next;
    if (needed > kept->dropped_capacity) {
        kept->dropped_capacity = 2 * needed;
        kept->dropped = ARENA_NEW(&kept->arena, int64_t, kept->dropped_capacity);
    }
    if (left > 0 && from != kept->dropped) memmove(kept->dropped, from, (size_t)left * sizeof *from);
    kept->n_dropped = left;
    kept->sorted -= kept->next;
    kept->next = 0;
}

// The rows best.rows[most ... end) are no longer among the best.
static void kept_drop(KeptRows *kept, int64_t end)
{
    const FirstRows *best = &kept->best;
    kept_reserve(kept, end - best->most);
    for (int64_t i = best->most; i < end; i++) {
        if (best->rows[i].row % 2 == 0) kept->dropped[kept->n_dropped++] = best->rows[i].row / 2;
    }
}

// Whether the trial is among the best so far. NULL keys: see order_key.
static bool kept_as_best(KeptRows *kept, const FoundRow *row)
{
    FirstRows *best = &kept->best;
    if (!first_rows_wants(best, row)) return false;
    const int64_t end = best->most + best->spare;
    const bool full = best->count + 1 == end;
    first_rows_add(best, row);
    if (full) kept_drop(kept, end);
    return true;
}

// ---- a batch --------------------------------------------------------------------------------------------------------

static bool kept_wants(KeptRows *kept, const TrialRows *rows, const RankTerms *terms, int64_t i)
{
    const bool failed = kept_as_failed(kept, rows->failure[i] != 0);
    const bool other = kept_by_id(kept->spec, rows->id[i]) || failed;
    FoundRow row = {.row = 2 * rows->id[i] + other};
    if (!rank_row(terms, i, &row)) return other;
    return kept_as_best(kept, &row) || other;
}

static Error kept_insert(Store *store, const TrialRows *rows, KeptInsert *insert, int64_t *inserted)
{
    KeptRows *kept = store->kept;
    const RankTerms terms = rank_terms(kept->spec, rows);
    kept->rows.count = *inserted = 0;
    for (int64_t i = 0; i < rows->count; i++) {
        if (kept_wants(kept, rows, &terms, i)) rows_copy(rows, i, &kept->rows, kept->rows.count++);
        if (kept->rows.count < kept->rows.capacity && (i + 1 < rows->count || kept->rows.count == 0)) continue;
        TRY(insert(store, &kept->rows));
        *inserted += kept->rows.count;
        kept->rows.count = 0;
    }
    return error_none();
}

// ---- deleting -------------------------------------------------------------------------------------------------------

// temp.dropped <- the next sorted ids, `most` at most, of them those in [first, end)
static Error kept_list(Database *database, KeptRows *kept, int64_t first, int64_t end, int64_t most)
{
    TRY(database_run(database, "CREATE TEMP TABLE IF NOT EXISTS dropped(id INTEGER PRIMARY KEY)"));
    Cursor insert = cursor_open(database, "INSERT INTO temp.dropped VALUES(?)");
    for (; most > 0 && kept->next < kept->sorted; most--) {
        const int64_t id = kept->dropped[kept->next++];
        if (id < first || id >= end) continue;
        with_integer(&insert, id);
        cursor_next(&insert);
    }
    return cursor_close(&insert);
}

// Takes the rows out of the digests. One statement for all is faster than a trigger for each.
static Error kept_uncount(Store *store)
{
    SealTally tally = {.name = "trials"};
    Cursor rows = cursor_open(store->database, "SELECT * FROM trials WHERE id IN temp.dropped ORDER BY id");
    while (cursor_next(&rows))
        cursor_stop(&rows, seal_uncount(store->database, &store->add_digest, &tally, seal_range(cell_integer(&rows, 0)),
                                        cells_digest(&rows, 0)));
    TRY(cursor_close(&rows));
    return seal_flush_removed(store->database, &store->add_digest, &tally);
}

// Deletes at most `most` of the dropped rows with ids in [first, end), as far as they are sorted.
static Error kept_delete(Store *store, KeptRows *kept, int64_t first, int64_t end, int64_t most)
{
    Database *database = store->database;
    if (kept->next == kept->sorted) return error_none();
    TRY(kept_list(database, kept, first, end, most));
    if (kept->arrays)
        TRY(database_run(database, "DELETE FROM trajectories WHERE trial IN temp.dropped; "
                                   "DELETE FROM debug_rows WHERE trial IN temp.dropped;"));
    TRY(kept_uncount(store));
    return database_run(database, "DELETE FROM trials WHERE id IN temp.dropped; DELETE FROM temp.dropped;");
}

// ---- a commit -------------------------------------------------------------------------------------------------------

Error kept_write_sums(Store *store)
{
    KeptRows *kept = store->kept;
    if (!kept->running) TRY(seal_forget_sum(store->database));
    kept->running = true;
    return summary_write(store->database, &kept->summary);
}

Error kept_commit(Store *store, const TrialRows *rows, KeptInsert *insert)
{
    enum { AT_LEAST = 1024 }; // more rows are deleted than inserted, so that dropped ones do not pile up
    KeptRows *kept = store->kept;
    int64_t inserted = 0;
    summary_add(&kept->summary, rows);
    TRY(kept_insert(store, rows, insert, &inserted));
    if (kept->next == kept->sorted && kept->n_dropped - kept->next >= kept->best.most) kept_sort_dropped(kept);
    TRY(kept_delete(store, kept, 0, INT64_MAX, 2 * inserted + AT_LEAST));
    return kept_write_sums(store);
}

void kept_choose(Store *store, TrialRows *rows)
{
    KeptRows *kept = store->kept;
    const RankTerms terms = rank_terms(kept->spec, rows);
    int64_t count = 0;
    summary_add(&kept->summary, rows);
    for (int64_t i = 0; i < rows->count; i++) {
        if (kept_wants(kept, rows, &terms, i)) rows_copy(rows, i, rows, count++);
    }
    rows->count = count;
    kept->stored += count;
}

// Writes blocks again, without the dropped rows.
static Error kept_drop_from_blocks(Store *store)
{
    KeptRows *kept = store->kept;
    kept_sort_dropped(kept);
    TRY(trial_blocks_drop(store, kept->dropped + kept->next, kept->n_dropped - kept->next));
    kept->stored -= kept->n_dropped - kept->next;
    kept->n_dropped = kept->next = kept->sorted = 0;
    return error_none();
}

Error kept_thin_out(Store *store)
{
    enum { LEAST = 1 << 6, SHARE = 3 };
    const KeptRows *kept = store->kept;
    const int64_t dropped = kept->n_dropped - kept->next, stay = kept->stored - dropped;
    return dropped >= LEAST && dropped > SHARE * stay ? kept_drop_from_blocks(store) : error_none();
}

// ---- stored rows ----------------------------------------------------------------------------------------------------

// Ranks the rows that are stored.
static Error kept_rank(Database *database, KeptRows *kept)
{
    const size_t used = kept->arena.used;
    Cursor row = cursor_open(database, arena_format(&kept->arena,
                                                    "SELECT id, failure <> 'none', fitness, %s FROM trials ORDER BY id",
                                                    rank_list(kept->spec, &kept->arena)));
    arena_rewind(&kept->arena, used);
    kept->best.count = kept->n_dropped = kept->next = kept->sorted = kept->failures = kept->stored = 0;
    kept->best.has_bound = false;
    while (cursor_next(&row)) {
        const int64_t id = cell_integer(&row, 0);
        kept->stored++;
        const bool failed = kept_as_failed(kept, cell_integer(&row, 1) != 0);
        const bool other = kept_by_id(kept->spec, id) || failed;
        FoundRow found = {.row = 2 * id + other};
        rank_stored(kept->spec, &row, 3, &found);
        const bool best = !cell_is_null(&row, 2) && kept_as_best(kept, &found);
        if (best || other) continue;
        kept_reserve(kept, 1);
        kept->dropped[kept->n_dropped++] = id;
    }
    return cursor_close(&row);
}

static Error kept_load(Database *database, KeptRows *kept)
{
    enum { KEPT_CHUNK = 4096 };
    int64_t arrays = 0;
    const int64_t best = kept->spec->record.rows.best;
    TRY(store_integer(database, "SELECT EXISTS(SELECT * FROM trajectories) OR EXISTS(SELECT * FROM debug_rows)", 0,
                      &arrays));
    kept->arrays = arrays != 0;
    kept->best = (FirstRows){.most = best, .spare = (best + 7) / 8, .n_terms = ORDER_TERMS_MAX};
    kept->best.rows = ARENA_NEW(&kept->arena, FoundRow, best + kept->best.spare);
    rows_take(kept->spec, KEPT_CHUNK, &kept->arena, &kept->rows);
    summary_take(kept->spec, &kept->arena, &kept->summary);
    TRY(summary_read(database, &kept->summary));
    SealTally sum;
    TRY(seal_stored(database, SEAL_ALL_TRIALS, 0, &sum));
    kept->running = sum.rows == 0;
    return kept_rank(database, kept);
}

Error kept_open(Store *store)
{
    KeptRows *kept = NULL;
    if (!store->spec->record.rows.some) return error_none();
    Arena arena;
    TRY(arena_create_growing(&arena, (size_t)16 << 30, "the rows of trials that are kept"));
    kept = ARENA_NEW(&arena, KeptRows, 1);
    *kept = (KeptRows){.spec = store->spec, .arena = arena};
    store->kept = kept;
    return kept_load(store->database, kept);
}

void kept_close(Store *store)
{
    if (store->kept == NULL) return;
    Arena arena = store->kept->arena;
    store->kept = NULL;
    arena_destroy(&arena);
}

// ---- the rows in the end --------------------------------------------------------------------------------------------

static void kept_drop_rest(KeptRows *kept)
{
    const int64_t count = kept->best.count;
    first_rows_select(&kept->best);
    if (count > kept->best.most) kept_drop(kept, count);
}

static Error kept_delete_all(Store *store)
{
    enum { KEPT_AT_ONCE = 1 << 16 };
    KeptRows *kept = store->kept;
    kept_sort_dropped(kept);
    while (kept->next < kept->n_dropped) {
        TRY(store_begin(store));
        TRY(store_end(store, kept_delete(store, kept, 0, INT64_MAX, KEPT_AT_ONCE)));
    }
    return error_none();
}

Error kept_settle(Store *store)
{
    KeptRows *kept = store->kept;
    if (kept == NULL) return error_none();
    kept_drop_rest(kept);
    if (kept->next < kept->n_dropped)
        TRY(store->blocks != NULL ? kept_drop_from_blocks(store) : kept_delete_all(store));
    if (!kept->running) return error_none();
    kept->running = false;
    TRY(store_begin(store));
    return store_end(store, seal_keep_sum(store->database));
}

static Error kept_drop_between(Store *store, int64_t first, int64_t end)
{
    KeptRows *kept = store->kept;
    int64_t from = kept->next, to = kept->n_dropped;
    while (from < to && kept->dropped[from] < first) from++;
    while (to > from && kept->dropped[to - 1] >= end) to--;
    return to > from ? trial_blocks_drop_uncounted(store, kept->dropped + from, to - from) : error_none();
}

Error kept_settle_between(Store *store, int64_t first, int64_t end)
{
    KeptRows *kept = store->kept;
    if (kept == NULL) return error_none();
    TRY(kept_rank(store->database, kept));
    kept_drop_rest(kept);
    kept_sort_dropped(kept);
    kept->arrays = true;
    if (store->blocks != NULL) return kept_drop_between(store, first, end);
    return kept_delete(store, kept, first, end, INT64_MAX);
}
