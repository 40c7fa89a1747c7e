// Joins the parts of a campaign into it. Each part is locked, compared with its own digests and copied by one
// transaction, in which the table `origin` notes it: a process that is killed leaves a part joined or not.
//
// Trials that are known beforehand have in a part the ids that they have in the whole campaign. A method that learns
// counts the trials of a part by (round, search, trial), and those of all parts in the same order give the ids of the
// whole. While parts are missing these ids are those that the parts at hand give, so each new part changes them: then
// one transaction replaces all rows.
//
// Shards of trials known beforehand are copied. Other arrays (by rank, and all of a method that learns) are recorded by
// the run that ends the campaign, as in a run on one machine.
#include "../trials/best_rows.h"
#include "../commit/commit.h"
#include "../campaign/parts.h"
#include "../queries.h"
#include "../commit/seal.h"
#include "../trials/trial_blocks.h"

#include <stdlib.h>
#include <string.h>

enum {
    GATHER_ROWS = 4096, // inserted by one statement
    GATHER_AT_ONCE = 16 // parts that are checked at once, at most
};

// Trials of one search and round, whose ids follow each other: in the part from `local` on, in the whole from `id` on.
typedef struct GatherRun {
    int64_t round, search, local, count, id;
    int part; // its place among the parts
} GatherRun;

typedef struct GatherRuns {
    GatherRun *run; // [count] malloc's
    int64_t count, capacity;
} GatherRuns;

typedef struct Gather {
    const Parts *parts;
    const char *name, *folder;
    const RunOptions *options;
    Arena *arena;
    GatherReport *report;
    Spec *spec; // of the whole campaign
    Lock lock;
    Store *store;
    bool learns;
    GatherRuns runs;
    Search whole; // of a method that learns, when no part is missing
} Gather;

// A part that is open and locked.
typedef struct GatherSource {
    const PartReport *report;
    StoredCampaign campaign;
    PartOf part;
    int64_t shards; // ids of its shards are below
    Lock lock;
} GatherSource;

// ---- a part ---------------------------------------------------------------------------------------------------------

static Error gather_check_spec(const Gather *gather, const GatherSource *source, PartOf part)
{
    const StoredCampaign *campaign = &source->campaign;
    const PartOf stored = campaign->spec.part;
    const char *name = source->report->place.name;
    if (stored.count == 0)
        return error_make(ERROR_USER, "%.300s is a campaign, not a part: move it", source->report->place.folder);
    if (stored.number != part.number || stored.count != part.count)
        return error_make(ERROR_USER, "%.40s holds part %d of %d: its folder was renamed or copied", name,
                          stored.number, stored.count);
    TRY(campaign_check_meaning(campaign));
    if (campaign->numerics_version != NUMERICS_VERSION)
        return error_make(ERROR_USER,
                          "%.40s was computed with numerics version %d and this program has version %d: the results "
                          "differ in their last bits: run the part again with this version",
                          name, campaign->numerics_version, NUMERICS_VERSION);
    if (gather->spec != NULL && strcmp(gather->spec->hash.hex, campaign->spec.hash.hex) != 0)
        return error_make(ERROR_USER,
                          "%.40s has another spec (%.12s) than %.100s (%.12s): remove its folder, and run the part "
                          "again",
                          name, campaign->spec.hash.hex, gather->name, gather->spec->hash.hex);
    if (gather->spec != NULL && gather->spec->replicates.store != campaign->spec.replicates.store)
        return error_make(ERROR_USER, "replicates.store differs between %.40s and %.100s", name, gather->name);
    return error_none();
}

// Error (user): another version of the user's program computed it than the parts that are joined.
static Error gather_check_program(const Gather *gather, const GatherSource *source)
{
    ProgramNoted part, whole;
    if (!source->campaign.spec.model->runs_program || gather->options->accept_version) return error_none();
    TRY(program_noted(source->campaign.database, gather->arena, &part));
    TRY(program_noted(gather->store->database, gather->arena, &whole));
    if (part.version == NULL || whole.version == NULL || strcmp(part.version, whole.version) == 0) return error_none();
    return error_make(ERROR_USER,
                      "%.40s was computed by version '%.100s' of the program, and the parts that are joined by version "
                      "'%.100s': remove its folder and run the part again, or add --accept-version",
                      source->report->place.name, text_visible(part.version, gather->arena),
                      text_visible(whole.version, gather->arena));
}

// The program stands in the joined campaign as after a run.
static Error gather_note_program(const Gather *gather, const GatherSource *source)
{
    ProgramNoted noted;
    if (!source->campaign.spec.model->runs_program) return error_none();
    TRY(program_noted(source->campaign.database, gather->arena, &noted));
    if (noted.folder == NULL || noted.version == NULL) return error_none(); // it had no trials
    return program_note(gather->store, noted.folder, noted.version, gather->arena);
}

static Error gather_check_digests(const GatherSource *source)
{
    const CampaignPlace *place = &source->report->place;
    SealDamage damage;
    Arena arena;
    TRY(arena_create_growing(&arena, (size_t)1 << 30, "the digests of a part"));
    Error error = seal_check(source->campaign.database, &arena, &damage);
    if (error.kind == OK && damage.count > 0)
        error = error_make(ERROR_MACHINE,
                           "%.40s is damaged: table %.40s differs from what was written; `%s` repairs it, then gather "
                           "again",
                           place->name, damage.broken[0].table,
                           command_again(place->results, "doctor %.40s --repair", place->name).text);
    arena_destroy(&arena);
    return error;
}

static void gather_close(GatherSource *source)
{
    campaign_close(&source->campaign);
    lock_release(&source->lock);
}

// Reads the state under the lock: since parts_find another process may have gone on with the part.
static Error gather_check_state(const GatherSource *source, Arena *arena, bool *busy)
{
    const char *state = NULL;
    TRY(store_text(source->campaign.database, "SELECT state FROM campaign", arena, &state));
    *busy = state == NULL || strcmp(state, "done") != 0;
    return error_none();
}

// *busy: another process holds it, or went on with it.
static Error gather_open(const Gather *gather, int index, GatherSource *source, bool *busy)
{
    const PartReport *report = &gather->parts->part[index];
    const PartOf part = {index + 1, gather->parts->count};
    char holder[160] = "";
    *source = (GatherSource){.report = report, .part = part, .lock = {.descriptor = -1}};
    *busy = false;
    const Error locked = campaign_lock(report->place.folder, report->place.name, gather->arena, &source->lock);
    if (locked.kind != OK) {
        const char *path = arena_format(gather->arena, "%s/" CAMPAIGN_LOCK, report->place.folder);
        *busy = lock_holder(path, holder, sizeof holder).kind == OK && holder[0] != '\0';
        return *busy ? error_none() : locked;
    }
    Error error = campaign_open(report->place.results, report->place.name, gather->arena, &source->campaign);
    if (error.kind == OK) error = gather_check_spec(gather, source, part);
    if (error.kind == OK) error = gather_check_state(source, gather->arena, busy);
    if (error.kind == OK)
        error =
            store_integer(source->campaign.database, "SELECT ifnull(max(id) + 1, 0) FROM shards", 0, &source->shards);
    if (error.kind != OK || *busy) gather_close(source);
    return error;
}

// ---- copying rows of tables -----------------------------------------------------------------------------------------

static void gather_bind(Cursor *to, const Cursor *from, int place)
{
    switch (cell_kind(from, place)) {
    case COLUMN_INTEGER: with_integer(to, cell_integer(from, place)); break;
    case COLUMN_REAL: with_real(to, cell_real(from, place)); break;
    case COLUMN_TEXT: with_text(to, cell_text(from, place)); break;
    case COLUMN_BLOB: with_blob(to, cell_blob(from, place).data, cell_blob(from, place).size); break;
    case COLUMN_NULL: with_null(to); break;
    }
}

// Rows of `select` in the part into `insert`. To the integer in column `shifted` (-1: none) `shift` is added.
static Error gather_copy(const Gather *gather, const GatherSource *source, const char *select, const char *insert,
                         int shifted, int64_t shift)
{
    Cursor from = cursor_open(source->campaign.database, select), to = cursor_open(gather->store->database, insert);
    cursor_stop(&from, to.error);
    while (cursor_next(&from)) {
        for (int i = 0; i < cells_count(&from); i++) {
            if (i == shifted)
                with_integer(&to, cell_integer(&from, i) + shift);
            else
                gather_bind(&to, &from, i);
        }
        cursor_next(&to);
        cursor_stop(&from, to.error);
    }
    cursor_stop(&from, cursor_close(&to));
    return cursor_close(&from);
}

static Error gather_copy_events(const Gather *gather, const GatherSource *source)
{
    Cursor from = store_events(source->campaign.database);
    Cursor to =
        cursor_open(gather->store->database, "INSERT INTO events(time, kind, text) VALUES(?, ?, ? || ': ' || ?)");
    cursor_stop(&from, to.error);
    while (cursor_next(&from)) {
        const char *kind = cell_text(&from, 1);
        if (strcmp(kind, PROGRAM_FOLDER) == 0 || strcmp(kind, PROGRAM_VERSION) == 0) continue; // gather_note_program
        gather_bind(&to, &from, 0);
        gather_bind(&to, &from, 1);
        with_text(&to, source->report->place.name);
        gather_bind(&to, &from, 2);
        cursor_next(&to);
        cursor_stop(&from, to.error);
    }
    cursor_stop(&from, cursor_close(&to));
    return cursor_close(&from);
}

// ---- ids of a method that learns ------------------------------------------------------------------------------------

static Error gather_grow(GatherRuns *runs)
{
    enum { LEAST = 4096 };
    const int64_t capacity = runs->capacity > 0 ? 2 * runs->capacity : LEAST;
    GatherRun *more = realloc(runs->run, (size_t)capacity * sizeof *more);
    if (more == NULL)
        return error_make(ERROR_MACHINE, "not enough memory for the order of %lld rounds", (long long)capacity);
    runs->run = more;
    runs->capacity = capacity;
    return error_none();
}

static Error gather_add_run(GatherRuns *runs, const Cursor *trial, int part)
{
    const int64_t id = cell_integer(trial, 0), search = cell_integer(trial, 1), round = cell_integer(trial, 2);
    GatherRun *last = runs->count > 0 ? &runs->run[runs->count - 1] : NULL;
    if (last != NULL && last->part == part && last->search == search && last->round == round &&
        last->local + last->count == id) {
        last->count++;
        return error_none();
    }
    if (runs->count == runs->capacity) TRY(gather_grow(runs));
    runs->run[runs->count++] = (GatherRun){.round = round, .search = search, .local = id, .count = 1, .part = part};
    return error_none();
}

static Error gather_read_runs(Gather *gather, const GatherSource *source, int index)
{
    Cursor trials = cursor_open(source->campaign.database, "SELECT id, search, round FROM trials ORDER BY id");
    while (cursor_next(&trials)) cursor_stop(&trials, gather_add_run(&gather->runs, &trials, index));
    return cursor_close(&trials);
}

static int gather_by_order(const void *a, const void *b)
{
    const GatherRun *x = a, *y = b;
    if (x->round != y->round) return x->round < y->round ? -1 : 1;
    return x->search < y->search ? -1 : x->search > y->search;
}

static int gather_by_part(const void *a, const void *b)
{
    const GatherRun *x = a, *y = b;
    if (x->part != y->part) return x->part < y->part ? -1 : 1;
    return x->local < y->local ? -1 : x->local > y->local;
}

// The ids of the whole, in the order of (round, search, trial).
static Error gather_number_runs(GatherRuns *runs)
{
    int64_t id = 0;
    if (runs->count == 0) return error_none();
    qsort(runs->run, (size_t)runs->count, sizeof *runs->run, gather_by_order);
    for (int64_t i = 0; i < runs->count; i++) {
        if (i > 0 && gather_by_order(&runs->run[i - 1], &runs->run[i]) == 0)
            return error_make(ERROR_MACHINE, "two parts hold round %lld of search %lld: one of them is damaged",
                              (long long)runs->run[i].round, (long long)runs->run[i].search);
        runs->run[i].id = id;
        id += runs->run[i].count;
    }
    qsort(runs->run, (size_t)runs->count, sizeof *runs->run, gather_by_part);
    return error_none();
}

// The id in the whole campaign of a trial of a part; -1: no such trial was counted.
static int64_t gather_id(const GatherRuns *runs, int part, int64_t local)
{
    int64_t low = 0, high = runs->count;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        const GatherRun *run = &runs->run[middle];
        if (run->part < part || (run->part == part && run->local + run->count <= local))
            low = middle + 1;
        else
            high = middle;
    }
    if (low == runs->count || runs->run[low].part != part || runs->run[low].local > local) return -1;
    return runs->run[low].id + (local - runs->run[low].local);
}

// Of the names of files that come from a part.
static const char *gather_prefix(const Gather *gather, const GatherSource *source)
{
    return arena_format(gather->arena, "%s_", part_name(source->part).text);
}

// ---- trials ---------------------------------------------------------------------------------------------------------

static Error gather_flush(const Gather *gather, TrialRows *rows)
{
    if (rows->count > 0) TRY(store_insert_rows(gather->store, rows));
    rows->count = 0;
    return error_none();
}

static Error gather_changed(const Gather *gather)
{
    return error_make(ERROR_MACHINE, "another process changed a part of %.100s while it was joined: gather again",
                      gather->name);
}

// The row that was read last gets its replicates and its id in the whole.
static Error gather_take_row(const Gather *gather, const GatherSource *source, TrialRows *rows)
{
    int64_t *id = &rows->id[rows->count];
    if (gather->spec->replicates.store) TRY(replicates_read(&source->campaign, *id, rows)); // rows has room for one
    if (gather->learns) *id = gather_id(&gather->runs, source->part.number - 1, *id);
    if (*id < 0) return gather_changed(gather);
    for (int r = 0; gather->spec->replicates.store && r < gather->spec->replicates.count; r++)
        rows->replicate_trial[r] = *id;
    rows->count++;
    return rows->count == rows->capacity ? gather_flush(gather, rows) : error_none();
}

static Error gather_copy_rows(const Gather *gather, const GatherSource *source, Arena *arena)
{
    const Spec *spec = gather->spec;
    TrialRows rows;
    rows_take(spec, spec->replicates.store ? 1 : GATHER_ROWS, arena, &rows);
    Cursor trials = trial_rows(source->campaign.database, spec, arena);
    while (trial_rows_next(&trials, spec, &rows, rows.count))
        cursor_stop(&trials, gather_take_row(gather, source, &rows));
    TRY(cursor_close(&trials));
    return gather_flush(gather, &rows);
}

// Tables that are alike are copied row by row without a look at the values, and their digests with them.
static Error gather_copy_attached(const Gather *gather)
{
    Database *database = gather->store->database;
    TRY(database_run(database, "INSERT INTO main.trials SELECT * FROM other.trials"));
    if (gather->spec->replicates.store)
        TRY(database_run(database, "INSERT INTO main.replicates SELECT * FROM other.replicates"));
    return seal_add_attached(database);
}

// Blocks of a part hold trials that no other part has. Their files were copied by gather_copy_shards.
static Error gather_copy_blocks(const Gather *gather, const GatherSource *source)
{
    Cursor insert = cursor_open(gather->store->database,
                                "INSERT INTO main.blocks SELECT NULL, first, last, rows, 'rows_' || ? || substr(name, "
                                "6), bytes, columns, sha256, digest FROM other.blocks ORDER BY first");
    with_text(&insert, gather_prefix(gather, source));
    TRY(cursor_run(&insert));
    TRY(seal_add_attached(gather->store->database));
    return trial_blocks_show_to_run(gather->store->database);
}

static Error gather_copy_trials(const Gather *gather, const GatherSource *source)
{
    Arena arena;
    const bool from_blocks = trial_blocks_exist(source->campaign.database), blocks = gather->store->blocks != NULL;
    if (!gather->learns && from_blocks && blocks) return gather_copy_blocks(gather, source);
    if (!gather->learns && !from_blocks && !blocks) return gather_copy_attached(gather);
    const size_t bytes = (size_t)((GATHER_ROWS + 64) * rows_bytes(gather->spec)) + ((size_t)4 << 20);
    TRY(arena_create(&arena, bytes, "rows of a part"));
    const Error error = gather_copy_rows(gather, source, &arena);
    arena_destroy(&arena);
    return error;
}

// ---- batches --------------------------------------------------------------------------------------------------------

static Error gather_copy_batches(const Gather *gather, const GatherSource *source)
{
    enum { FIRST = 1, LAST = 2 }; // cells with ids of trials
    Cursor from = cursor_open(source->campaign.database, "SELECT * FROM batches ORDER BY id");
    Cursor to =
        cursor_open(gather->store->database, "INSERT INTO batches VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, "
                                             "?, ?, ?, ?, ?, ?)");
    cursor_stop(&from, to.error);
    while (cursor_next(&from)) {
        with_integer(&to, gather->store->next_batch++);
        for (int i = 1; i < cells_count(&from); i++) {
            if (gather->learns && (i == FIRST || i == LAST))
                with_integer(&to, gather_id(&gather->runs, source->part.number - 1, cell_integer(&from, i)));
            else
                gather_bind(&to, &from, i);
        }
        cursor_next(&to);
        cursor_stop(&from, to.error);
    }
    cursor_stop(&from, cursor_close(&to));
    return cursor_close(&from);
}

// ---- shards ---------------------------------------------------------------------------------------------------------

// Shard `id` of the part becomes shard next_shard + id.
static StoreShard gather_shard(const Gather *gather, int64_t id)
{
    StoreShard shard = {.bytes = 0};
    snprintf(shard.name, sizeof shard.name, "%06lld.h5", (long long)(gather->store->next_shard + id));
    return shard;
}

static Error gather_copy_shard(const Gather *gather, const GatherSource *source, const StoredShard *shard, Arena *arena)
{
    const CampaignPlace *place = &source->report->place;
    const char *path = arena_format(arena, "%s/" CAMPAIGN_SHARDS "/%s", place->folder, shard->name);
    Bytes bytes;
    TRY(file_read_stored(path, (size_t)shard->bytes, arena, &bytes));
    if (strcmp(sha256_of(bytes.data, bytes.size).hex, shard->sha256) != 0)
        return error_make(ERROR_MACHINE,
                          "the shard %.300s differs from what was written; `%s` repairs it, then gather again", path,
                          command_again(place->results, "doctor %.40s --repair", place->name).text);
    TRY(database_check_place(gather->store->database));
    return file_write(gather->store->shards, gather_shard(gather, shard->id).name, bytes.data, bytes.size);
}

// Before the transaction: what no row names is removed by the next gather.
static Error gather_copy_shards(const Gather *gather, const GatherSource *source)
{
    StoredShard shard;
    if (gather->learns) return error_none();
    TRY(folder_add(gather->store->shards));
    if (gather->store->blocks != NULL)
        TRY(trial_blocks_copy(source->campaign.database, gather->store->shards, gather_prefix(gather, source)));
    Cursor shards = shards_by_id(source->campaign.database, false);
    while (shard_next(&shards, &shard)) {
        Arena arena;
        Error error = arena_create(&arena, (size_t)shard.bytes + ((size_t)64 << 10), "a shard of a part");
        if (error.kind == OK) {
            error = gather_copy_shard(gather, source, &shard, &arena);
            arena_destroy(&arena);
        }
        cursor_stop(&shards, error);
    }
    return cursor_close(&shards);
}

static Error gather_insert_shards(const Gather *gather, const GatherSource *source)
{
    StoredShard shard;
    Cursor shards = shards_by_id(source->campaign.database, false);
    Cursor insert = cursor_open(gather->store->database, "INSERT INTO shards VALUES(?, ?, ?, ?)");
    cursor_stop(&shards, insert.error);
    while (shard_next(&shards, &shard)) {
        with_integer(&insert, gather->store->next_shard + shard.id);
        with_text(&insert, gather_shard(gather, shard.id).name);
        with_integer(&insert, shard.bytes);
        with_text(&insert, shard.sha256);
        cursor_next(&insert);
        cursor_stop(&shards, insert.error);
    }
    cursor_stop(&shards, cursor_close(&insert));
    return cursor_close(&shards);
}

static Error gather_copy_arrays(const Gather *gather, const GatherSource *source)
{
    enum { SHARD = 2 };
    const int64_t shift = gather->store->next_shard;
    if (gather->learns || source->shards == 0) return error_none();
    TRY(gather_insert_shards(gather, source));
    TRY(gather_copy(gather, source, "SELECT trial, replicate, shard, row, samples, recipe FROM trajectories",
                    "INSERT INTO trajectories VALUES(?, ?, ?, ?, ?, ?)", SHARD, shift));
    return gather_copy(gather, source, "SELECT trial, replicate, shard, row, samples, recipe FROM debug_rows",
                       "INSERT INTO debug_rows VALUES(?, ?, ?, ?, ?, ?)", SHARD, shift);
}

// ---- rounds ---------------------------------------------------------------------------------------------------------

static Error gather_copy_rounds(const Gather *gather, const GatherSource *source)
{
    if (!gather->learns) return error_none();
    TRY(gather_copy(gather, source, "SELECT id, method FROM searches WHERE id <> 0",
                    "INSERT OR IGNORE INTO searches(id, method) VALUES(?, ?)", -1, 0));
    TRY(gather_copy(gather, source,
                    "SELECT search, round, debug, population, evaluations, sigma, condition, best, stop FROM rounds",
                    "INSERT INTO rounds VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)", -1, 0));
    TRY(gather_copy(gather, source, "SELECT search, round, front, hypervolume FROM fronts",
                    "INSERT INTO fronts VALUES(?, ?, ?, ?)", -1, 0));
    if (!gradients_are_kept(source->campaign.database) || !gather->store->has_gradients) return error_none();
    return gather_copy(gather, source, "SELECT search, round, norm, spread, cosine, growth FROM gradients",
                       "INSERT INTO gradients(search, round, norm, spread, cosine, growth) VALUES(?, ?, ?, ?, ?, ?)",
                       -1, 0);
}

// ---- the state of the search ----------------------------------------------------------------------------------------

static Error gather_put_state(const Gather *gather, const Search *search)
{
    Cursor update = cursor_open(gather->store->database, "UPDATE searches SET state = ? WHERE id = 0");
    with_blob(&update, search->state, search->state_size);
    return cursor_run(&update);
}

// Of trials known beforehand: it was told all of them. No trial: it has no state.
static Error gather_tell_last(const Gather *gather)
{
    Search search;
    int64_t last = -1;
    Trials told = {.count = 1, .id = &last};
    TRY(trials_last_told(gather->store->database, false, INT64_MAX, &last));
    if (last < 0) return error_none();
    TRY(search_init(gather->spec, gather->arena, &search));
    search.asked = last + 1;
    TRY(search.method->tell(&search, &told));
    return gather_put_state(gather, &search);
}

// Of a method that learns: the searches of the part as they ended.
static Error gather_join_search(Gather *gather, const GatherSource *source)
{
    Arena arena;
    Search part;
    size_t size = 0;
    bool found = false;
    TRY(arena_create_growing(&arena, (size_t)1 << 28, "the searches of a part"));
    Error error = search_init(&source->campaign.spec, &arena, &part);
    if (error.kind == OK)
        error = search_state_read(source->campaign.database, part.state, part.state_capacity, &size, &found);
    part.state_size = size;
    if (error.kind == OK && found)
        error = size <= part.state_capacity ? part.method->restore(&part) : search_state_damaged(&part);
    if (error.kind == OK && found) search_join(&gather->whole, &part);
    arena_destroy(&arena);
    return error;
}

// ---- a part is joined -----------------------------------------------------------------------------------------------

static Error gather_add(Gather *gather, const GatherSource *source)
{
    TRY(gather_copy_trials(gather, source));
    TRY(best_rows_again(gather->store));
    TRY(gather_copy_batches(gather, source));
    TRY(gather_copy_rounds(gather, source));
    TRY(gather_copy_arrays(gather, source));
    TRY(gather_copy_events(gather, source));
    TRY(gather_note_program(gather, source));
    return gathered_note(gather->store->database, source->part, source->campaign.spec.hash.hex);
}

static void gather_tell_joined(const Gather *gather, const GatherSource *source)
{
    if (gather->options->messages != NULL && gather->options->progress != PROGRESS_NONE)
        fprintf(gather->options->messages, "joined %s (%d of %d)\n", source->report->place.name,
                gather->report->gathered.count, gather->parts->count);
}

static void gather_count(Gather *gather, const GatherSource *source)
{
    Gathered *gathered = &gather->report->gathered;
    gathered->of = gather->parts->count;
    gathered->has[source->part.number] = true;
    gathered->count++;
    gather->report->joined++;
}

static Error gather_transact_attached(Gather *gather, const GatherSource *source)
{
    if (database_check_place(source->campaign.database).kind != OK) return gather_changed(gather);
    TRY(store_begin(gather->store));
    Error error = gather_add(gather, source);
    const bool last = gather->report->gathered.count + 1 == gather->parts->count;
    if (error.kind == OK && last) error = gather_tell_last(gather);
    TRY(store_end(gather->store, error));
    gather_count(gather, source);
    gather->store->next_shard += source->shards;
    gather_tell_joined(gather, source);
    return error_none();
}

// What is attached by its path must be the file that was checked: its place is looked at before and after.
static Error gather_transact(Gather *gather, const GatherSource *source)
{
    const char *path = database_path(source->campaign.database);
    if (database_check_place(source->campaign.database).kind != OK) return gather_changed(gather);
    TRY(database_attach(gather->store->database, path));
    const Error error = gather_transact_attached(gather, source);
    const Error detached = database_detach(gather->store->database);
    return error.kind != OK ? error : detached;
}

static bool gather_interrupted(const Gather *gather)
{
    return gather->options->backend.interrupted != NULL && gather->options->backend.interrupted() != 0;
}

// Some parts that are open at once, so that threads share their checks.
typedef struct GatherGroup {
    GatherSource source[GATHER_AT_ONCE];
    Error bad[GATHER_AT_ONCE]; // why a part can't be joined
    int count;
} GatherGroup;

static void gather_check_range(void *context, int thread, int64_t first, int64_t end)
{
    GatherGroup *group = context;
    (void)thread;
    for (int64_t i = first; i < end; i++) group->bad[i] = gather_check_digests(&group->source[i]);
}

// The next parts from *index on that are done and not joined. Gives why one of them can't be opened.
static Error gather_open_group(const Gather *gather, int *index, int most, GatherGroup *group)
{
    Error first = error_none();
    group->count = 0;
    for (; *index < gather->parts->count && group->count < most; ++*index) {
        bool busy = false;
        if (gather->report->gathered.has[*index + 1] || !part_is_done(&gather->parts->part[*index])) continue;
        const Error error = gather_open(gather, *index, &group->source[group->count], &busy);
        if (first.kind == OK) first = error;
        group->count += error.kind == OK && !busy;
    }
    return first;
}

// *bad: the first reason why a part can't be joined.
static Error gather_join_group(Gather *gather, GatherGroup *group, Error *bad)
{
    Error error = error_none();
    for (int i = 0; i < group->count; i++) {
        Error reason = group->bad[i];
        const bool go = error.kind == OK && !gather_interrupted(gather);
        if (go && reason.kind == OK) reason = gather_check_program(gather, &group->source[i]);
        if (go && reason.kind == OK) reason = gather_copy_shards(gather, &group->source[i]);
        if (go && reason.kind == OK) error = gather_transact(gather, &group->source[i]);
        if (bad->kind == OK) *bad = reason;
        gather_close(&group->source[i]);
    }
    return error;
}

static Error gather_groups(Gather *gather, ThreadTeam *team, int threads)
{
    const int most = threads < GATHER_AT_ONCE ? threads : GATHER_AT_ONCE;
    GatherGroup *group = ARENA_NEW(gather->arena, GatherGroup, 1);
    Error bad = error_none();
    for (int index = 0; index < gather->parts->count && !gather_interrupted(gather);) {
        const Error error = gather_open_group(gather, &index, most, group);
        if (bad.kind == OK) bad = error;
        thread_team_for(team, group->count, 1, gather_check_range, group);
        TRY(gather_join_group(gather, group, &bad));
    }
    return bad;
}

// Trials known beforehand: one part after the other. A part that can't be joined does not hold up the others.
static Error gather_each(Gather *gather)
{
    const int given = gather->options->backend.threads, threads = given > 0 ? given : processors_allowed();
    ThreadTeam *team = thread_team_open(threads);
    const Error error = gather_groups(gather, team, threads);
    thread_team_close(team);
    return error;
}

// ---- all parts of a method that learns ------------------------------------------------------------------------------

typedef Error (*GatherStep)(Gather *gather, const GatherSource *source);

// Calls `step` for the parts that are taken. Those that another process holds are no longer taken.
static Error gather_all_parts(Gather *gather, bool *taken, GatherStep step)
{
    for (int i = 0; i < gather->parts->count; i++) {
        GatherSource source;
        bool busy = false;
        if (!taken[i]) continue;
        TRY(gather_open(gather, i, &source, &busy));
        if (busy) taken[i] = false;
        if (busy) continue;
        const Error error = step(gather, &source);
        gather_close(&source);
        TRY(error);
    }
    return error_none();
}

static Error gather_examine(Gather *gather, const GatherSource *source)
{
    TRY(gather_check_digests(source));
    return gather_read_runs(gather, source, source->part.number - 1);
}

static Error gather_add_learned(Gather *gather, const GatherSource *source)
{
    TRY(gather_check_program(gather, source));
    TRY(gather_add(gather, source));
    gather_count(gather, source);
    return gather->whole.state != NULL ? gather_join_search(gather, source) : error_none();
}

static Error gather_clear(const Gather *gather)
{
    Database *database = gather->store->database;
    TRY(rounds_clear(database));
    if (gather->spec->replicates.store) TRY(database_run(database, "DELETE FROM replicates"));
    gather->store->next_batch = 0;
    return database_run(database, "DELETE FROM main.trials; DELETE FROM batches; DELETE FROM searches WHERE id <> 0; "
                                  "DELETE FROM origin WHERE purpose = 'gathers'; "
                                  "DELETE FROM events WHERE text GLOB '[0-9]*of[0-9]*: *'");
}

// there: parts that are taken.
static Error gather_replace(Gather *gather, bool *taken, int there)
{
    const bool whole = there == gather->parts->count;
    TRY(gather_clear(gather));
    gather->report->gathered = (Gathered){.of = gather->parts->count};
    gather->report->joined = 0;
    if (whole) TRY(search_init(gather->spec, gather->arena, &gather->whole));
    TRY(gather_all_parts(gather, taken, gather_add_learned));
    if (gather->report->gathered.count != there) return gather_changed(gather);
    if (!whole) return error_none();
    int64_t trials = 0;
    TRY(trials_count(gather->store->database, &trials));
    search_join_end(&gather->whole, trials);
    return gather_put_state(gather, &gather->whole);
}

// The parts that are done; all that are joined must be among them.
static Error gather_choose(const Gather *gather, bool *taken)
{
    for (int i = 0; i < gather->parts->count; i++) {
        const PartReport *part = &gather->parts->part[i];
        taken[i] = part_is_done(part);
        if (taken[i] || !gather->report->gathered.has[i + 1]) continue;
        return error_make(
            ERROR_USER,
            "%.40s was joined and is %.40s now: for %.40s keep all part folders until the last is joined, "
            "because each new part renumbers the trials",
            part->place.name, part->state, gather->spec->method->name);
    }
    return error_none();
}

// All of them, if there is a new one.
static Error gather_learned(Gather *gather)
{
    const int count = gather->parts->count, before = gather->report->gathered.count;
    bool *taken = ARENA_NEW(gather->arena, bool, count);
    int there = 0;
    if (before == count) return error_none();
    TRY(gather_choose(gather, taken));
    TRY(gather_all_parts(gather, taken, gather_examine));
    for (int i = 0; i < count; i++) there += taken[i];
    if (there <= before) return error_none();
    TRY(gather_number_runs(&gather->runs));
    TRY(store_begin(gather->store));
    TRY(store_end(gather->store, gather_replace(gather, taken, there)));
    gather->report->joined -= before;
    return error_none();
}

// ---- the campaign ---------------------------------------------------------------------------------------------------

// The spec of the first part that is done. None is: *found false.
static Error gather_read_spec(Gather *gather, bool *found)
{
    *found = false;
    for (int i = 0; i < gather->parts->count && !*found; i++) {
        GatherSource source;
        CampaignRow row;
        bool busy = false;
        if (!part_is_done(&gather->parts->part[i])) continue;
        TRY(gather_open(gather, i, &source, &busy));
        if (busy) continue;
        Spec *spec = ARENA_NEW(gather->arena, Spec, 1);
        *spec = source.campaign.spec;
        spec->part = (PartOf){.count = 0};
        Error error = campaign_row_read(source.campaign.database, gather->arena, &row, found);
        if (error.kind == OK) error = overrides_read(source.campaign.database, gather->arena, &spec->overrides);
        spec->text = row.given;
        gather->spec = spec;
        gather_close(&source);
        TRY(error);
    }
    return error_none();
}

// Copies of shards that no row names, because the process that made them was killed.
static Error gather_remove_copies(const Gather *gather)
{
    char **names = NULL;
    int count = 0;
    if (file_missing(gather->store->shards)) return error_none();
    TRY(folder_list(gather->store->shards, gather->arena, &names, &count));
    Cursor shards = shards_by_name(gather->store->database);
    for (int i = 0; i < count; i++) {
        const bool named =
            shard_is_named(&shards, names[i]) || trial_blocks_are_named(gather->store->database, names[i]);
        if (named || shards.error.kind != OK) continue;
        cursor_stop(&shards, database_check_place(gather->store->database));
        if (shards.error.kind == OK)
            cursor_stop(&shards, file_remove(arena_format(gather->arena, "%s/%s", gather->store->shards, names[i])));
    }
    return cursor_close(&shards);
}

static Error gather_check_target(Gather *gather)
{
    Gathered *gathered = &gather->report->gathered;
    int64_t batches = 0;
    TRY(gathered_read(gather->store->database, gathered));
    TRY(batches_count(gather->store->database, &batches));
    if (gathered->of == 0 && batches > 0)
        return error_make(ERROR_USER, "%.128s was run as a whole, not gathered: rename it, or the folder of the parts",
                          gather->name);
    if (gathered->of == 0 || gathered->of == gather->parts->count) return error_none();
    return error_make(ERROR_USER, "%.128s was gathered from %d parts, and %.200s has parts of %d: remove one of them",
                      gather->name, gathered->of, gather->parts->root, gather->parts->count);
}

// A campaign that holds all parts is ended by a run; until then it has the state of one that was stopped.
static Error gather_note(const Gather *gather)
{
    const GatherReport *report = gather->report;
    if (report->joined == 0) return error_none();
    const char *text = arena_format(gather->arena, "%d of %d parts", report->gathered.count, report->gathered.of);
    return store_set_state(gather->store, &(StoreState){.state = "stopped",
                                                        .reason = arena_format(gather->arena, "gathered %s", text),
                                                        .event = "gathered",
                                                        .text = text});
}

static Error gather_into_store(Gather *gather)
{
    TRY(gather_check_target(gather));
    if (gather->report->gathered.count < gather->parts->count) {
        TRY(gather_remove_copies(gather));
    }
    const Error error = gather->learns ? gather_learned(gather) : gather_each(gather);
    if (error.kind == OK || gather->report->joined > 0) {
        const Error noted = gather_note(gather);
        if (error.kind == OK) TRY(noted);
    }
    TRY(error);
    return store_integer(gather->store->database, "SELECT ifnull(sum(trials), 0) FROM batches", 0,
                         &gather->report->trials);
}

static Error gather_locked(Gather *gather)
{
    RunOptions options = *gather->options;
    options.gathers = true;
    TRY(store_open(gather->folder, gather->name, gather->spec, &options, gather->arena, &gather->store));
    const Error error = gather_into_store(gather);
    const Error closing = store_close(gather->store);
    return error.kind != OK ? error : closing;
}

static Error gather_check_place(const Gather *gather)
{
    const CampaignPlace place = {gather->options->results, gather->name, gather->folder};
    Database *database;
    const char *hash = NULL;
    Error error = error_none();
    if (file_missing(arena_format(gather->arena, "%s/" CAMPAIGN_DATABASE, gather->folder))) return error_none();
    TRY(store_peek(&place, gather->arena, &database));
    if (database_has(database, "campaign", NULL)) // else a gather was killed while it made it
        error = store_text(database, "SELECT hash FROM campaign", gather->arena, &hash);
    store_leave(database);
    TRY(error);
    if (hash == NULL || strcmp(hash, gather->spec->hash.hex) == 0) return error_none();
    return error_make(ERROR_USER, "%.128s has another spec than its parts under %.200s: rename it, or their folder",
                      gather->name, gather->parts->root);
}

static Error gather_take_lock(Gather *gather)
{
    enum { TRIES = 10 };
    Error error = error_none();
    TRY(folder_check_inside(gather->folder));
    for (int tries = 0; tries < TRIES; tries++) {
        TRY(folder_make(gather->folder));
        TRY(campaign_refuse_network(gather->folder, gather->options->shared_fs));
        error = campaign_lock(gather->folder, gather->name, gather->arena, &gather->lock);
        if (error.kind == OK || !file_missing(gather->folder)) break; // else gc removed the empty folder
    }
    return error;
}

Error gather_parts(const Parts *parts, const char *name, const RunOptions *options, Arena *arena, GatherReport *report)
{
    Gather gather = {
        .parts = parts, .name = name, .options = options, .arena = arena, .report = report, .lock = {.descriptor = -1}};
    bool found = false;
    *report = (GatherReport){.joined = 0};
    TRY(campaign_folder(options->results, name, arena, &gather.folder));
    TRY(gather_read_spec(&gather, &found));
    report->spec = gather.spec;
    if (!found) return error_none();
    gather.learns = search_learns(gather.spec->method);
    TRY(gather_take_lock(&gather));
    Error error = gather_check_place(&gather);
    if (error.kind == OK) error = gather_locked(&gather);
    lock_release(&gather.lock);
    free(gather.runs.run);
    return error;
}
