// campaign.db: its making, its opening, and the small things that are read from it and set in it. Its tables are in
// schema.c, rows are committed by commit.c, and recovery.c cleans up after a crash.
#include "store.h"

#include "../trials/best_rows.h"
#include "../ground/cursor.h"
#include "../commit/kept_rows.h"
#include "parts.h"
#include "../queries.h"
#include "../trials/rank.h"
#include "../ground/rows.h"
#include "../commit/schema.h"
#include "../commit/seal.h"
#include "../ground/transaction.h"
#include "../commit/trial_blocks_write.h"

#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// ---- creation -------------------------------------------------------------------------------------------------------

static Error store_insert_campaign(const Store *store)
{
    const Spec *spec = store->spec;
    char host[256] = "unknown";
    if (gethostname(host, sizeof host - 1) != 0) strcpy(host, "unknown");
    const char *const texts[] = {store->name,    spec->experiment, spec->model->name, spec->text,
                                 spec->resolved, spec->canonical,  spec->hash.hex};
    Cursor insert = cursor_open(
        store->database, "INSERT INTO campaign(id, name, experiment, model, spec, resolved, canonical, hash, seed, "
                         "program_version, numerics_version, compiler, commit_id, host, created, state, replicates) "
                         "VALUES(1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) with_text(&insert, texts[i]);
    with_integer(&insert, (int64_t)spec->seed);
    with_text(&insert, HOPSCOTCH_VERSION);
    with_integer(&insert, NUMERICS_VERSION);
    with_text(&insert, __VERSION__);
    with_text(&insert, program_commit() != NULL ? program_commit() : "unknown");
    with_text(&insert, host);
    with_text(&insert, clock_utc().text);
    with_text(&insert, spec->model->by_hand ? STORE_WAITING : "running");
    with_integer(&insert, spec->replicates.count);
    TRY(cursor_run(&insert));
    return store_set_text(store->database, "INSERT INTO searches(id, method) VALUES(0, ?)", spec->method->name);
}

// The trials of a new campaign, of all its parts, at most; 0: unknown.
static Error store_expected(const Spec *spec, int64_t *trials)
{
    Arena arena;
    Search search;
    *trials = 0;
    TRY(arena_create_growing(&arena, (size_t)16 << 30, "the search"));
    const Error error = search_init(spec, &arena, &search);
    if (error.kind == OK) {
        const SearchBounds bounds = search_bounds(&search);
        const double most = search.total >= 0 ? (double)search.total : bounds.open ? 0.0 : bounds.most.trials;
        *trials = most < 9e18 ? (int64_t)most : INT64_MAX;
    }
    arena_destroy(&arena);
    return error;
}

static Error store_fill_new(const Store *store, const RunOptions *options, Arena *arena)
{
    Database *database = store->database;
    int64_t trials = 0;
    TRY(store_expected(store->spec, &trials));
    const bool learned = options->gathers && search_learns(store->spec->method); // joined trial by trial
    const bool blocks = !learned && trial_blocks_are_chosen(store->spec, trials);
    TRY(schema_make(database, store->spec, blocks, arena));
    TRY(seal_schema(database));
    TRY(seal_keep(database, arena));
    if (blocks) TRY(trial_blocks_fill(database, store->spec, arena));
    TRY(store_insert_campaign(store));
    TRY(kept_fill(database, store->spec, arena));
    TRY(overrides_keep(database, &store->spec->overrides, false, arena));
    TRY(part_keep(database, store->spec));
    return outer_record(database, store->spec);
}

// The spec as given and as understood, for people; campaign.db holds both too.
static Error store_write_spec(const Store *store, const char *given)
{
    const char *resolved = store->spec->resolved;
    TRY(database_check_path(store->database)); // else it is another campaign's folder
    TRY(file_write(store->folder, "spec.yaml", given, strlen(given)));
    TRY(spec_keep_files(store->spec, store->folder));
    TRY(database_check_path(store->database));
    return file_write(store->folder, "resolved.yaml", resolved, strlen(resolved));
}

// All or nothing: a process that is killed here leaves an empty database, which the next one fills.
static Error store_create(Store *store, const RunOptions *options, Arena *arena)
{
    store->created = true;
    TRY(rows_check_names(store->spec));
    TRY(store_write_spec(store, store->spec->text));
    TRY(store_begin(store));
    TRY(store_end(store, store_fill_new(store, options, arena)));
    return trial_blocks_show_to_run(store->database);
}

// ---- continuing -----------------------------------------------------------------------------------------------------

static Error store_take_spec(Store *store, Spec *spec, const RunOptions *options, Arena *arena)
{
    const char *hash = NULL;
    TRY(store_text(store->database, "SELECT hash FROM campaign", arena, &hash));
    if (strcmp(hash, spec->hash.hex) != 0) return store_extend(store, spec, options, arena);
    TRY(store_begin(store)); // the same spec needs no others than those it is given
    TRY(store_end(store, overrides_keep(store->database, &spec->overrides, options->resume_only, arena)));
    return segments_read(store->database, store->folder, arena, spec);
}

Error store_row_lost(const Database *database, const char *name)
{
    return error_make(ERROR_USER, "its table campaign, of one row, is empty; `%s` makes it again",
                      store_how_to_repair(database, name).text);
}

Error store_compare_numerics(Database *database, const char *name)
{
    enum { STORE_NO_NUMERICS = -1 };
    int64_t numerics = 0;
    TRY(store_integer(database, "SELECT numerics_version FROM campaign", STORE_NO_NUMERICS, &numerics));
    if (numerics == STORE_NO_NUMERICS) return store_row_lost(database, name);
    if (numerics == NUMERICS_VERSION) return error_none();
    return error_make(ERROR_USER,
                      "campaign %s was computed with numerics version %lld and this program has version %d: "
                      "their numbers differ in the last bits and are never mixed; use the program that wrote it, or a "
                      "new name",
                      name, (long long)numerics, NUMERICS_VERSION);
}

// Not part of what a spec means, but the tables were created for it.
static Error store_compare_replicates(const Store *store)
{
    const bool stored = database_has(store->database, "replicates", NULL);
    if (stored == store->spec->replicates.store) return error_none();
    return error_make(
        ERROR_USER,
        "campaign %s was made with replicates.store: %s, and that can't change in it: say so in the spec, "
        "or give the new one its own name with --name",
        store->name, stored ? "true" : "false");
}

// Nor is this, and trials stay where they are. A gathered campaign of a method that learns has rows in any case.
static Error store_compare_rows(const Store *store)
{
    const char *asked = store->spec->store.rows, *there = trial_blocks_exist(store->database) ? "blocks" : "table";
    Gathered gathered;
    TRY(gathered_read(store->database, &gathered));
    if (strcmp(asked, "auto") == 0 || strcmp(asked, there) == 0 || gathered.of > 0) return error_none();
    return error_make(
        ERROR_USER,
        "campaign %s has its trials in %s (store.rows), and that can't change in it: say so in the spec, or "
        "give the new one its own name with --name",
        store->name, there);
}

// Limits, device and recording may change between runs; the stored spec is the one that ran last.
static Error store_renew_spec(const Store *store, Arena *arena)
{
    const char *resolved = NULL;
    TRY(store_text(store->database, "SELECT resolved FROM campaign", arena, &resolved));
    if (strcmp(resolved, store->spec->resolved) == 0) return error_none();
    Cursor update = cursor_open(store->database, "UPDATE campaign SET spec = ?, resolved = ?");
    with_text(&update, store->spec->text);
    with_text(&update, store->spec->resolved);
    return cursor_run(&update);
}

// campaign.db is the truth; a process that was killed may have left the files beside it as they were before.
static Error store_renew_files(const Store *store, Arena *arena)
{
    const char *given = NULL, *path = arena_format(arena, "%s/resolved.yaml", store->folder);
    Bytes file = {0};
    const bool same = file_exists(path) && file_read_stored(path, RESOLVED_BYTES_MAX, arena, &file).kind == OK &&
                      strcmp((const char *)file.data, store->spec->resolved) == 0;
    if (same) return error_none();
    TRY(store_text(store->database, "SELECT spec FROM campaign", arena, &given));
    return store_write_spec(store, given);
}

// A folder that was renamed or copied has the name of the folder.
static Error store_renew_name(const Store *store)
{
    return store_set_text(store->database, "UPDATE campaign SET name = ?1 WHERE name <> ?1", store->name);
}

// A campaign of an earlier program has no table for them yet.
static Error store_add_gradients(Store *store, const Spec *spec)
{
    if (spec->method->gradient_column == 0 || gradients_are_kept(store->database)) return error_none();
    TRY(store_begin(store));
    Error error = gradients_make(store->database);
    if (error.kind == OK) error = seal_schema(store->database);
    return store_end(store, error);
}

static Error store_continue(Store *store, Spec *spec, const char *path, const RunOptions *options, Arena *arena)
{
    TRY(schema_check(store->database, path));
    TRY(store_compare_numerics(store->database, store->name));
    if (trial_blocks_exist(store->database)) TRY(trial_blocks_clear(store->database));
    TRY(trial_blocks_show_to_run(store->database));
    TRY(store_add_gradients(store, spec));
    TRY(seal_keep(store->database, arena));
    TRY(store_renew_name(store));
    TRY(store_compare_replicates(store));
    if (!options->gathers) TRY(store_compare_rows(store));
    TRY(kept_compare(store->database, store->spec, store->name));
    TRY(part_compare(store->database, store->name, spec));
    if (!options->gathers) TRY(gathered_check(store->database, store->name));
    TRY(store_take_spec(store, spec, options, arena));
    TRY(store_renew_spec(store, arena));
    return store_renew_files(store, arena);
}

// ---- opening --------------------------------------------------------------------------------------------------------

// OR FAIL: after an error the whole transaction is rolled back, so SQLite need not be able to undo one statement.
static Error store_prepare_rows(Store *store, Arena *arena)
{
    Database *database = store->database;
    rows_table_take(store->spec, arena, &store->trials);
    TRY(database_add_table(database, "batch_trials", &store->trials));
    if (trial_blocks_exist(database))
        trial_blocks_prepare(store, arena);
    else
        store->insert_trials = cursor_open(database, "INSERT OR FAIL INTO trials SELECT * FROM temp.batch_trials");
    if (!store->spec->replicates.store) return error_none();
    rows_replicates_table_take(store->spec, arena, &store->replicates);
    TRY(database_add_table(database, "batch_replicates", &store->replicates));
    store->insert_replicates =
        cursor_open(database, "INSERT OR FAIL INTO replicates SELECT * FROM temp.batch_replicates");
    return error_none();
}

static Error store_prepare(Store *store, Arena *arena)
{
    Database *database = store->database;
    TRY(store_prepare_rows(store, arena));
    store->insert_shard = cursor_open(database, "INSERT INTO shards VALUES(?, ?, ?, ?)");
    for (RecordKind kind = 0; kind < RECORD_KINDS; kind++)
        store->insert_array[kind] =
            cursor_open(database, arena_format(arena, "INSERT OR REPLACE INTO %s VALUES(?, ?, ?, ?, ?, ?)",
                                               recording_of(store->spec, kind).table));
    store->insert_batch =
        cursor_open(database, "INSERT INTO batches VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULL, ?)");
    store->note_batch = cursor_open(database, "UPDATE batches SET sqlite_seconds = ? WHERE id = ?");
    store->insert_search = cursor_open(database, "INSERT OR IGNORE INTO searches(id, method) VALUES(?, ?)");
    store->insert_round = cursor_open(database, "INSERT INTO rounds VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)");
    store->insert_front = cursor_open(database, "INSERT INTO fronts VALUES(?, ?, ?, ?)");
    store->has_gradients = gradients_are_kept(database);
    if (store->has_gradients) store->insert_gradient = gradients_filler(database);
    store->add_digest = cursor_open(database, seal_add_sql);
    store->update_search = cursor_open(database, "UPDATE searches SET previous = state, state = ? WHERE id = 0");
    for (int i = 0; i < STORE_STATEMENTS; i++) TRY(store->statements[i].error);
    return error_none();
}

static Error store_open_contents(Store *store, Spec *spec, const char *path, const RunOptions *options, Arena *arena)
{
    int64_t tables = 0;
    const char *state = NULL;
    TRY(campaign_check_folders(store->folder, arena));
    TRY(options->resume_only ? campaign_open_database(path, &store->database)
                             : database_open(path, DATABASE_WRITE, &store->database));
    TRY(store_share(store->database, options->shared_fs));
    TRY(store_integer(store->database, "SELECT count(*) FROM sqlite_schema", 0, &tables));
    if (options->resume_only && tables == 0) return campaign_is_gone(path);
    TRY(tables == 0 ? store_create(store, options, arena) : store_continue(store, spec, path, options, arena));
    TRY(store_integer(store->database, "SELECT max(id) + 1 FROM shards", 0, &store->next_shard));
    TRY(store_integer(store->database, "SELECT max(id) + 1 FROM batches", 0, &store->next_batch));
    TRY(store_text(store->database, "SELECT state FROM campaign", arena, &state));
    TRY(store_text(store->database, "SELECT reason FROM campaign", arena, &store->reason));
    snprintf(store->state, sizeof store->state, "%s", state);
    TRY(kept_open(store));
    TRY(best_rows_open(store));
    return store_prepare(store, arena);
}

Error store_open(const char *folder, const char *name, const Spec *spec, const RunOptions *options, Arena *arena,
                 Store **out)
{
    Store *store = ARENA_NEW(arena, Store, 1);
    Spec *own = ARENA_NEW(arena, Spec, 1);
    *own = *spec;
    const char *path = arena_format(arena, "%s/%s", folder, CAMPAIGN_DATABASE);
    *store = (Store){.folder = arena_copy(arena, folder),
                     .shards = arena_format(arena, "%s/%s", folder, CAMPAIGN_SHARDS),
                     .name = arena_copy(arena, name),
                     .spec = own,
                     .sqlite_seconds = -1};
    const Error error = store_open_contents(store, own, path, options, arena);
    if (error.kind == OK) {
        *out = store;
        return error;
    }
    const Error closing = store_close(store);
    (void)closing; // the first error is reported
    return error;
}

Error store_close(Store *store)
{
    for (int i = 0; i < STORE_STATEMENTS; i++) (void)cursor_close(&store->statements[i]); // commits took their errors
    Database *database = store->database;
    trial_blocks_finish(store);
    kept_close(store);
    best_rows_close(store);
    store->database = NULL;
    return database != NULL ? database_close(database) : error_none();
}

// ---- reading and setting --------------------------------------------------------------------------------------------

static Error store_count_batches(Store *store, StoreCounts *counts)
{
    Cursor batches = cursor_open(
        store->database, "SELECT ifnull(sum(trials), 0), ifnull(sum(failures), 0), ifnull(max(last_trial), -1), "
                         "ifnull(sum(wall_seconds), 0.0) FROM batches");
    if (next_integer(&batches, &counts->trials)) {
        counts->failures = cell_integer(&batches, 1);
        counts->last_trial = cell_integer(&batches, 2);
        counts->wall_seconds = cell_real(&batches, 3);
    }
    return cursor_close(&batches);
}

static Error store_count_retired(Store *store, StoreCounts *counts)
{
    if (!spec_retires(store->spec)) return error_none();
    Cursor failures = sums_of_failures(store->database);
    while (cursor_next(&failures))
        if (strcmp(cell_text(&failures, 0), RETIRED) == 0) counts->retired = cell_integer(&failures, 1);
    return cursor_close(&failures);
}

Error store_counts(Store *store, StoreCounts *counts)
{
    *counts = (StoreCounts){.last_trial = -1, .best_fitness = (double)NAN, .best_trial = -1};
    TRY(store_count_batches(store, counts));
    TRY(store_count_retired(store, counts));
    return rank_best(store->database, &counts->best_trial, &counts->best_fitness);
}

static bool store_state_fits(const Search *search, size_t size)
{
    return search->state_capacity > 0 ? size <= search->state_capacity : size == search->state_size;
}

Error store_search_state(Store *store, Search *search, bool *found)
{
    size_t size = 0;
    const size_t most = search->state_capacity > 0 ? search->state_capacity : search->state_size;
    TRY(search_state_read(store->database, search->state, most, &size, found));
    if (!*found) return error_none();
    *found = store_state_fits(search, size);
    if (!*found) return search_state_damaged(search);
    search->state_size = size;
    return error_none();
}

// In the order of best, so that best reads its rows and no others; `ORDER BY fitness NULLS LAST` and `WHERE fitness <
// x` use it too, in whichever direction. Of several objectives it is the order in which a front is swept
// (front.c). Built at the end, because it would halve the rate of inserts.
Error store_index_fitness(Store *store, Arena *arena)
{
    const char *sql = arena_format(arena, "CREATE INDEX IF NOT EXISTS trials_by_fitness ON trials(%s)",
                                   rank_order(store->spec, RANK_COLUMNS_MAX).text);
    TRY(store_begin(store));
    Error error = database_make_index(store->database, sql);
    if (error.kind == OK) error = seal_schema(store->database);
    return store_end(store, error);
}

// ---- the state ------------------------------------------------------------------------------------------------------

static Error store_update_state(Database *database, const StoreState *state, const char *time)
{
    const bool goes_on = strcmp(state->state, "running") == 0 || strcmp(state->state, STORE_WAITING) == 0;
    Cursor update = cursor_open(
        database, goes_on
                      ? "UPDATE campaign SET state = ?1, reason = ?2, started = ifnull(started, ?3), finished = NULL"
                      : "UPDATE campaign SET state = ?1, reason = ?2, finished = ?3");
    with_text(&update, state->state);
    with_text(&update, state->reason);
    with_text(&update, time);
    TRY(cursor_run(&update));
    return store_set_text(database, "UPDATE searches SET stop_reason = ? WHERE id = 0", state->stop_reason);
}

static Error store_update_total(Database *database, const StoreState *state)
{
    Cursor update = cursor_open(database, "UPDATE campaign SET trials_total = ?, trials_most = ?");
    with_count(&update, state->trials_total);
    with_count(&update, state->trials_most);
    return cursor_run(&update);
}

Error store_set_state(Store *store, const StoreState *state)
{
    const Text32 time = clock_utc();
    TRY(store_begin(store));
    Error error = store_update_state(store->database, state, time.text);
    if (error.kind == OK && state->event != NULL) error = store_update_total(store->database, state);
    if (error.kind == OK && state->event != NULL)
        error = store_insert_event(store->database, time.text, state->event, state->text);
    TRY(store_end_anywhere(store, error)); // also where the folder was renamed: the state says that the run ended
    snprintf(store->state, sizeof store->state, "%s", state->state);
    return state->event != NULL ? store_log_line(store, time.text, state->event, state->text) : error_none();
}
