// Joins the parts of a campaign into it. Each part is locked, compared with its own digests and copied by one
// transaction, in which the table `origin` notes it: a process that is killed leaves a part joined or not.
//
// Trials that are known beforehand have in a part the ids that they have in the whole campaign. Those of a method that
// learns are renumbered (gather_learned.c).
//
// Shards of trials known beforehand are copied. Other arrays (by rank, and all of a method that learns) are recorded by
// the run that ends the campaign, as in a run on one machine.
#include "gather.h"

#include "../campaign/parts.h"
#include "../trials/trial_blocks.h"

#include <string.h>

enum { GATHER_AT_ONCE = 16 }; // parts that are checked at once, at most

// ---- the state of the search ----------------------------------------------------------------------------------------

Error gather_put_state(const Gather *gather, const Search *search)
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

// ---- parts, one after the other -------------------------------------------------------------------------------------

void gather_count(Gather *gather, const JoinSource *source)
{
    Gathered *gathered = &gather->report->gathered;
    gathered->of = gather->parts->count;
    gathered->has[source->campaign.spec.part.number] = true;
    gathered->count++;
    gather->report->joined++;
}

static Error gather_transact_attached(Gather *gather, const JoinSource *source)
{
    if (database_check_path(source->campaign.database).kind != OK) return gather_changed(gather);
    TRY(store_begin(gather->store));
    Error error = gather_add(gather, source);
    const bool last = gather->report->gathered.count + 1 == gather->parts->count;
    if (error.kind == OK && last) error = gather_tell_last(gather);
    TRY(store_end(gather->store, error));
    gather_count(gather, source);
    if (gather->options->messages != NULL && gather->options->progress != PROGRESS_NONE)
        fprintf(gather->options->messages, "joined %s (%d of %d)\n", source->location.name,
                gather->report->gathered.count, gather->parts->count);
    return store_integer(gather->store->database, "SELECT max(id) + 1 FROM shards", 0, &gather->store->next_shard);
}

// What is attached by its path must be the file that was checked: its path is looked at before and after.
static Error gather_transact(Gather *gather, const JoinSource *source)
{
    const char *path = database_path(source->campaign.database);
    if (database_check_path(source->campaign.database).kind != OK) return gather_changed(gather);
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
    JoinSource source[GATHER_AT_ONCE];
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
        if (go && reason.kind == OK) reason = gather_copy_files(gather, &group->source[i]);
        if (go && reason.kind == OK) error = gather_transact(gather, &group->source[i]);
        if (bad->kind == OK) *bad = reason;
        join_close(&group->source[i]);
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

// ---- the campaign ---------------------------------------------------------------------------------------------------

// The spec of the first part that is done; NULL: none is.
static Error gather_read_spec(Gather *gather)
{
    for (int i = 0; i < gather->parts->count && gather->spec == NULL; i++) {
        JoinSource source;
        CampaignRow row;
        bool busy = false, found = false;
        if (!part_is_done(&gather->parts->part[i])) continue;
        TRY(gather_open(gather, i, &source, &busy));
        if (busy) continue;
        Spec *spec = ARENA_NEW(gather->arena, Spec, 1);
        *spec = source.campaign.spec;
        spec->part = (PartOf){.count = 0};
        Error error = campaign_row_read(source.campaign.database, gather->arena, &row, &found);
        if (error.kind == OK) error = overrides_read(source.campaign.database, gather->arena, &spec->overrides);
        spec->text = row.given;
        gather->spec = spec;
        join_close(&source);
        TRY(error);
    }
    return error_none();
}

// Copies of shards that no row names, because the process that wrote them was killed.
static Error gather_remove_copies(const Gather *gather)
{
    char **names = NULL;
    int count = 0;
    if (file_missing(gather->store->shards)) return error_none();
    TRY(folder_list(gather->store->shards, gather->arena, &names, &count));
    Cursor shards = shards_by_name(gather->store->database);
    const bool blocks = trial_blocks_exist(gather->store->database);
    for (int i = 0; i < count; i++) {
        bool named = shard_is_named(&shards, names[i]);
        if (!named && shards.error.kind == OK && blocks)
            cursor_stop(&shards, trial_blocks_are_named(gather->store->database, names[i], &named));
        if (named || shards.error.kind != OK) continue;
        cursor_stop(&shards, database_check_path(gather->store->database));
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
    if (gather->report->gathered.count < gather->parts->count) TRY(gather_remove_copies(gather));
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

static Error gather_check_folder(const Gather *gather)
{
    const CampaignLocation location = {gather->options->results, gather->name, gather->folder};
    Database *database;
    const char *hash = NULL;
    Error error = error_none();
    if (file_missing(arena_format(gather->arena, "%s/" CAMPAIGN_DATABASE, gather->folder))) return error_none();
    TRY(store_peek(&location, gather->arena, &database));
    if (database_has(database, "campaign", NULL)) // else a gather was killed while it created it
        error = store_text(database, "SELECT hash FROM campaign", gather->arena, &hash);
    store_leave(database);
    TRY(error);
    if (hash == NULL || strcmp(hash, gather->spec->hash.hex) == 0) return error_none();
    return error_make(ERROR_USER, "%.128s has another spec than its parts under %.200s: rename it, or their folder",
                      gather->name, gather->parts->root);
}

Error gather_parts(const Parts *parts, const char *name, const RunOptions *options, Arena *arena, GatherReport *report)
{
    Gather gather = {.parts = parts, .name = name, .options = options, .arena = arena, .report = report};
    Lock lock = {.descriptor = -1};
    *report = (GatherReport){.joined = 0};
    TRY(campaign_folder(options->results, name, arena, &gather.folder));
    TRY(gather_read_spec(&gather));
    report->spec = gather.spec;
    if (gather.spec == NULL) return error_none();
    gather.learns = search_learns(gather.spec->method);
    TRY(campaign_refuse_network(gather.folder, options->shared_fs));
    TRY(campaign_create_locked(gather.folder, name, false, arena, &lock));
    Error error = gather_check_folder(&gather);
    if (error.kind == OK) error = gather_locked(&gather);
    lock_release(&lock);
    return error;
}
