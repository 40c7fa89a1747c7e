// Conditions and queries (view.h).
#include "aggregates.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { QUERY_CHUNK = 500, QUERY_SPARSE = 4, QUERY_COLUMNS_MAX = 2000, QUERY_ORDER_MAX = 64 };

// ---- options --------------------------------------------------------------------------------------------------------

Error query_column(const TrialColumns *all, const char *name, const char *what, int *column)
{
    *column = trial_column_find(all, name);
    if (*column >= 0) return error_none();
    const char *nearest = nearest_name(name, all->names, all->count);
    if (nearest != NULL)
        return error_make(ERROR_USER, "--%s: there is no column '%.60s'; did you mean '%.60s'?", what, name, nearest);
    return error_make(ERROR_USER, "--%s: there is no column '%.60s'; --columns all --limit 1 shows them", what, name);
}

// Reads "velocity_error,k_fp:desc". Missing values come last in both directions; ties are ordered by id.
static Error query_order(Query *query, const char *text, Arena *arena)
{
    char *rest = text != NULL ? arena_copy(arena, text) : NULL;
    query->order = ARENA_NEW(arena, TrialOrder, QUERY_ORDER_MAX);
    for (char *name; (name = strsep(&rest, ",")) != NULL;) {
        int column;
        char *direction = strchr(name, ':');
        if (direction != NULL) *direction++ = '\0';
        name = text_stripped(name);
        if (direction != NULL) direction = text_stripped(direction);
        TRY(query_column(&query->all, name, "order", &column));
        if (direction != NULL && strcmp(direction, "desc") != 0 && strcmp(direction, "asc") != 0)
            return error_make(ERROR_USER, "--order: '%.60s' is not a direction; write %.60s:asc or %.60s:desc",
                              direction, name, name);
        if (query->n_order == QUERY_ORDER_MAX)
            return error_make(ERROR_USER, "--order: more than %d columns; the first few decide", QUERY_ORDER_MAX);
        query->order[query->n_order++] =
            (TrialOrder){query->all.names[column], direction != NULL && strcmp(direction, "desc") == 0};
    }
    return error_none();
}

static void query_add(Query *query, int column)
{
    query->columns[query->count] = column;
    query->names[query->count++] = query->all.names[column];
}

// Without --columns: the main ones, and `failure` where a failed trial has no fitness.
static void query_default_columns(Query *query, Arena *arena)
{
    const char *const *names;
    const int count = trial_columns_main(&query->campaign->spec, arena, &names);
    for (int i = 0; i < count; i++) query_add(query, trial_column_find(&query->all, names[i]));
    if (query->campaign->spec.objective.failed == FAILED_ANY)
        query_add(query, trial_column_find(&query->all, "failure"));
}

static Error query_choose_columns(Query *query, const char *text, Arena *arena)
{
    query->names = ARENA_NEW(arena, const char *, QUERY_COLUMNS_MAX);
    query->columns = ARENA_NEW(arena, int, QUERY_COLUMNS_MAX);
    if (text == NULL) {
        query_default_columns(query, arena);
        return error_none();
    }
    if (strcmp(text, "all") == 0) {
        for (int i = 0; i < query->all.count; i++) query_add(query, i);
        return error_none();
    }
    char *rest = arena_copy(arena, text);
    for (char *name; (name = strsep(&rest, ",")) != NULL;) {
        int column;
        TRY(query_column(&query->all, text_stripped(name), "columns", &column));
        if (query->count == QUERY_COLUMNS_MAX) return error_make(ERROR_USER, "--columns: too many columns");
        query_add(query, column);
    }
    return error_none();
}

// ---- rows -----------------------------------------------------------------------------------------------------------

// The ids that match, in order; one more than the limit, if there is one, shows that there are more.
static Error query_ids(Query *query, Arena *arena)
{
    const DatabaseGuard guard = {.interrupted = interrupt_requested};
    return trials_ordered(query->campaign->database, &query->all, &query->where, query->order, query->n_order,
                          query->limit > 0 ? query->limit + 1 : 0, &guard, arena, &query->ids, &query->n_ids);
}

// Whether the ids of a piece ascend, and few others lie between them: then a range of ids is read.
static bool query_is_dense(const int64_t *ids, int64_t count)
{
    for (int64_t i = 1; i < count; i++) {
        if (ids[i] <= ids[i - 1]) return false;
    }
    return (ids[count - 1] - ids[0]) / QUERY_SPARSE < count;
}

static Error query_each_of_range(const Query *query, Cursor *trials, const int64_t *ids, int64_t count, QueryTake *take,
                                 void *taker)
{
    int64_t i = 0;
    trials_from(trials, ids[0], ids[count - 1]);
    while (cursor_next(trials)) {
        const int64_t id = cell_integer(trials, query->count);
        while (i < count && ids[i] < id) i++;
        if (i < count && ids[i] == id) TRY(take(taker, query, trials));
    }
    return trials->error;
}

static Error query_each_by_id(const Query *query, Cursor *trials, const int64_t *ids, int64_t count, QueryTake *take,
                              void *taker)
{
    for (int64_t i = 0; i < count && trials->error.kind == OK; i++) {
        if (trial_at(trials, ids[i])) TRY(take(taker, query, trials));
    }
    while (trials->row) cursor_next(trials); // its end ends the transaction
    return trials->error;
}

Error query_each(const Query *query, Arena *arena, QueryTake *take, void *taker)
{
    Database *database = query->campaign->database;
    const char *const *names = (const char *const *)query->names;
    const int64_t rows = query_rows(query);
    Cursor one = trials_by_id(database, names, query->count, arena);
    Cursor range = trials_between(database, names, query->count, arena);
    Error error = one.error.kind != OK ? one.error : range.error;
    for (int64_t from = 0; from < rows && error.kind == OK; from += QUERY_CHUNK) {
        const int64_t *ids = &query->ids[from], count = rows - from < QUERY_CHUNK ? rows - from : QUERY_CHUNK;
        error = interrupt_requested() != 0 ? error_make(ERROR_INTERRUPTED, "%s", interrupt_words())
                                           : store_read_begin(database);
        if (error.kind != OK) break;
        error = query_is_dense(ids, count) ? query_each_of_range(query, &range, ids, count, take, taker)
                                           : query_each_by_id(query, &one, ids, count, take, taker);
        error = store_read_end(database, error);
    }
    cursor_stop(&one, error);
    cursor_stop(&range, error);
    error = cursor_close(&range);
    const Error closed = cursor_close(&one);
    return error.kind != OK ? error : closed;
}

// ---- columns --------------------------------------------------------------------------------------------------------

// Where the trial with an id stands among those that are read.
typedef struct QueryPlace {
    int64_t id, at;
} QueryPlace;

typedef struct QueryFill {
    const QueryPlace *places; // [count], by id
    int64_t count;
    _Atomic int64_t found;
    const QueryPart *part;
} QueryFill;

static int query_compare_places(const void *a, const void *b)
{
    const int64_t x = ((const QueryPlace *)a)->id, y = ((const QueryPlace *)b)->id;
    return (x > y) - (x < y);
}

// The first place whose id is not below `id`, by halving
static int64_t query_place(const QueryFill *fill, int64_t id)
{
    int64_t low = 0, high = fill->count;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (fill->places[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// Column 0 of a piece has the ids, which mostly follow each other.
static void query_fill(void *context, int thread, const TrialPiece *piece)
{
    QueryFill *fill = context;
    int64_t at[TRIAL_PIECE], found = 0, place = 0;
    (void)thread;
    for (int i = 0; i < piece->rows; i++) {
        const int64_t id = (int64_t)piece->columns[0][i];
        if (place >= fill->count || fill->places[place].id != id) place = query_place(fill, id);
        const bool here = place < fill->count && fill->places[place].id == id;
        at[i] = here ? fill->places[place++].at : -1;
        found += here;
    }
    for (int c = 0; c < fill->part->n; c++) {
        for (int i = 0; i < piece->rows; i++)
            if (at[i] >= 0) fill->part->values[c][at[i]] = piece->columns[1 + c][i];
    }
    fill->found += found;
}

Error query_part(const Query *query, QueryPart *part, Arena *arena)
{
    const DatabaseGuard guard = {.interrupted = interrupt_requested};
    const int64_t *ids = &query->ids[part->from], count = part->count;
    QueryPlace *places = ARENA_NEW(arena, QueryPlace, count + 1);
    int *read = ARENA_NEW(arena, int, part->n + 1); // the id first
    for (int64_t i = 0; i < count; i++) places[i] = (QueryPlace){.id = ids[i], .at = i};
    if (!query_is_dense(ids, count)) qsort(places, (size_t)count, sizeof *places, query_compare_places);
    for (int c = 0; c < part->n; c++) read[1 + c] = query->columns[part->column + c];
    QueryFill fill = {.places = places, .count = count, .part = part};
    TrialScan scan = {.database = query->campaign->database,
                      .all = &query->all,
                      .where = &query->where,
                      .columns = read,
                      .n = part->n + 1,
                      .between = (const int64_t[]){places[0].id, places[count - 1].id},
                      .guard = &guard,
                      .take = query_fill,
                      .context = &fill};
    TRY(trial_scan_start(&scan, arena));
    part->words = scan.words;
    part->n_words = scan.n_words;
    TRY(trial_scan_run(&scan));
    if (fill.found == count) return error_none();
    return error_make(ERROR_MACHINE, "the trials changed while they were read: try again");
}

int64_t query_rows(const Query *query)
{
    return query->limit > 0 && query->n_ids > query->limit ? query->limit : query->n_ids;
}

Error query_start(const StoredCampaign *campaign, const QueryAsked *asked, Arena *arena, Query *query)
{
    *query = (Query){.campaign = campaign, .limit = asked->limit};
    TRY(trial_columns(campaign->database, &campaign->spec, arena, &query->all));
    TRY(condition_read(&query->all, asked->where, arena, &query->where));
    TRY(query_order(query, asked->order, arena));
    TRY(query_choose_columns(query, asked->columns, arena));
    return query_ids(query, arena);
}
