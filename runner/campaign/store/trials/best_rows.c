// See best_rows.h. The best trials so far are in memory, as keys. A batch changes few of them, so that the rows of the
// table cost little: of a million random trials about 8,000 are ever among the best thousand.
#include "best_rows.h"

#include "../ground/cursor.h"
#include "rank.h"
#include "../ground/rows.h"
#include "trial_blocks.h"

#include <stdlib.h>
#include <string.h>

struct BestRows {
    Arena arena;
    FirstRows first; // FoundRow.row: the id
    int64_t *stored; // [n_stored] ids of the rows of the table, ascending
    int64_t n_stored;
    int64_t *now;   // [first.most] ids that should be there
    TrialRows rows; // that are new
};

Error best_rows_make(Database *database, const Spec *spec, Arena *arena)
{
    return database_run(database, rows_table_sql(spec, "best", arena));
}

static int best_compare_ids(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

// The index of an id among ascending ones; -1: it is not there.
static int64_t best_find(const int64_t *ids, int64_t count, int64_t id)
{
    const int64_t *found = count > 0 ? bsearch(&id, ids, (size_t)count, sizeof id, best_compare_ids) : NULL;
    return found != NULL ? found - ids : -1;
}

static void best_list(const FirstRows *first, int64_t *ids)
{
    for (int64_t i = 0; i < first->count; i++) ids[i] = first->rows[i].row;
    if (first->count > 0) qsort(ids, (size_t)first->count, sizeof *ids, best_compare_ids);
}

// ---- opening --------------------------------------------------------------------------------------------------------

static Error best_rows_load(Store *store)
{
    struct BestRows *best = store->best;
    const size_t used = best->arena.used;
    Cursor row = cursor_open(store->database, arena_format(&best->arena, "SELECT id, %s FROM main.best",
                                                           rank_list(store->spec, &best->arena)));
    arena_rewind(&best->arena, used);
    best->first.count = 0;
    best->first.has_bound = false;
    while (cursor_next(&row)) {
        FoundRow found = {.row = cell_integer(&row, 0)};
        rank_stored(store->spec, &row, 1, &found);
        first_rows_add(&best->first, &found);
    }
    first_rows_select(&best->first);
    best_list(&best->first, best->stored);
    best->n_stored = best->first.count;
    return cursor_close(&row);
}

Error best_rows_open(Store *store)
{
    Arena arena;
    if (!trial_blocks_exist(store->database)) return error_none();
    const int64_t kept = store->spec->record.rows.best;
    const int64_t most = store->spec->record.rows.some && kept < BEST_ROWS ? kept : BEST_ROWS;
    TRY(arena_create_growing(&arena, (size_t)1 << 28, "the best trials"));
    struct BestRows *best = ARENA_NEW(&arena, struct BestRows, 1);
    *best = (struct BestRows){.first = {.most = most, .spare = most, .n_terms = ORDER_TERMS_MAX}};
    best->first.rows = ARENA_NEW(&arena, FoundRow, 2 * most);
    best->stored = ARENA_NEW(&arena, int64_t, most);
    best->now = ARENA_NEW(&arena, int64_t, most);
    rows_take(store->spec, most, &arena, &best->rows);
    best->arena = arena;
    store->best = best;
    return best_rows_load(store);
}

void best_rows_close(Store *store)
{
    if (store->best == NULL) return;
    Arena arena = store->best->arena;
    store->best = NULL;
    arena_destroy(&arena);
}

// ---- a batch --------------------------------------------------------------------------------------------------------

static bool best_take(struct BestRows *best, const Spec *spec, const TrialRows *rows)
{
    const RankTerms terms = rank_terms(spec, rows);
    bool any = false;
    for (int64_t i = 0; i < rows->count; i++) {
        FoundRow found = {.row = rows->id[i]};
        if (!rank_row(&terms, i, &found) || !first_rows_wants(&best->first, &found)) continue;
        first_rows_add(&best->first, &found);
        any = true;
    }
    return any;
}

static Error best_delete(Store *store)
{
    const struct BestRows *best = store->best;
    Cursor drop = cursor_open(store->database, "DELETE FROM main.best WHERE id = ?");
    for (int64_t i = 0; i < best->n_stored; i++) {
        if (best_find(best->now, best->first.count, best->stored[i]) >= 0) continue;
        with_integer(&drop, best->stored[i]);
        cursor_next(&drop);
    }
    return cursor_close(&drop);
}

static Error best_insert(Store *store, const TrialRows *rows)
{
    struct BestRows *best = store->best;
    best->rows.count = 0;
    for (int64_t i = 0; i < best->first.count; i++) {
        const int64_t at = best_find(rows->id, rows->count, best->now[i]);
        if (at >= 0) rows_copy(rows, at, &best->rows, best->rows.count++);
    }
    if (best->rows.count == 0) return error_none();
    rows_table_show(&best->rows, 0, best->rows.count, &store->trials);
    Cursor insert = cursor_open(store->database, "INSERT OR FAIL INTO main.best SELECT * FROM temp.batch_trials");
    return cursor_run(&insert);
}

Error best_rows_add(Store *store, const TrialRows *rows)
{
    struct BestRows *best = store->best;
    if (best == NULL || !best_take(best, store->spec, rows)) return error_none();
    first_rows_select(&best->first);
    best_list(&best->first, best->now);
    TRY(best_delete(store));
    TRY(best_insert(store, rows));
    best->n_stored = best->first.count;
    memcpy(best->stored, best->now, (size_t)best->n_stored * sizeof *best->now);
    return error_none();
}

// ---- all trials -----------------------------------------------------------------------------------------------------

Error best_rows_again(Store *store)
{
    struct BestRows *best = store->best;
    if (best == NULL) return error_none();
    const size_t used = best->arena.used;
    const char *sql = arena_format(
        &best->arena,
        "DELETE FROM main.best; INSERT INTO main.best SELECT * FROM temp.trials WHERE %s IS NOT NULL ORDER BY %s, id "
        "LIMIT %lld",
        rows_outcome_name(store->spec), rank_order(store->spec, ORDER_TERMS_MAX).text, (long long)best->first.most);
    const Error error = database_run(store->database, sql);
    arena_rewind(&best->arena, used);
    return error.kind == OK ? best_rows_load(store) : error;
}
