// hopscotch merge: joins campaigns of one spec, e.g. of a run on two machines. A trial in two of them must have the
// same bits in both. The campaign with the highest trial id is copied, trials that only the others have are added, and
// the complete copy is renamed to its final name. The next run records the arrays that only the others have.
#include "command.h"

#include <inttypes.h>
#include <string.h>

enum { MERGE_MOST = 16, MERGE_SHOWN = 10, MERGE_ROWS = 1 << 14 };

typedef struct MergeSource {
    CampaignPlace place;
    StoredCampaign campaign;
    Lock lock;
    int64_t trials, last, missing; // last: highest id; missing: number of its trials that the largest does not have
} MergeSource;

typedef struct Merge {
    const CommandLine *line;
    MergeSource *sources; // [count]
    int count, largest;   // largest: the one with the highest id, so its search has passed all ids of the others
    const char *name, *folder, *aside; // aside: folder in which the copy is made
    Lock lock;                         // of `aside`: gc and a second merge leave it alone
    int64_t added, differing;
} Merge;

// ---- what may be merged ---------------------------------------------------------------------------------------------

static Error merge_check(const MergeSource *first, const MergeSource *other, FILE *messages, Arena *arena)
{
    const Spec *a = &first->campaign.spec, *b = &other->campaign.spec;
    const char *a_name = first->campaign.name, *b_name = other->campaign.name;
    if (strcmp(a->hash.hex, b->hash.hex) != 0) {
        SpecChange *changes;
        const int64_t count = difference_find(a, b, arena, &changes);
        fprintf(messages, "%s -> %s\n", a_name, b_name);
        difference_print(changes, count, messages);
        return error_make(ERROR_USER, "%.100s and %.100s have different specs: their trials cannot be joined", a_name,
                          b_name);
    }
    if (a->n_segments != b->n_segments)
        return error_make(ERROR_USER,
                          "%.100s and %.100s were extended in different ways: one id means two different trials",
                          a_name, b_name);
    if (first->campaign.numerics_version != other->campaign.numerics_version)
        return error_make(ERROR_USER, "%.100s has numerics version %d and %.100s has %d: their last bits differ",
                          a_name, first->campaign.numerics_version, b_name, other->campaign.numerics_version);
    if (a->replicates.store != b->replicates.store)
        return error_make(ERROR_USER, "%.100s stores its replicates (replicates.store) and %.100s does not",
                          a->replicates.store ? a_name : b_name, a->replicates.store ? b_name : a_name);
    return error_none();
}

// The search of a part begins in the middle, and a campaign that lacks parts has gaps.
static Error merge_refuse_parts(const MergeSource *source)
{
    Gathered gathered;
    TRY(gathered_read(source->campaign.database, &gathered));
    if (source->campaign.spec.part.count == 0 && gathered.count == gathered.of) return error_none();
    return error_make(ERROR_USER, "%.100s %s: gather joins the parts of a campaign", source->campaign.name,
                      gathered.of > 0 ? "still lacks parts" : "is a part");
}

static Error merge_open(Merge *merge, int index)
{
    const CommandLine *line = merge->line;
    MergeSource *source = &merge->sources[index];
    TRY(campaign_find(line, line->arguments[index], &source->place));
    TRY(campaign_refuse_network(source->place.folder, switch_given(line, "shared-fs")));
    for (int i = 0; i < index; i++) {
        if (strcmp(merge->sources[i].place.folder, source->place.folder) == 0)
            return error_make(ERROR_USER, "%.100s is named twice", source->place.name);
    }
    TRY(campaign_lock(source->place.folder, source->place.name, line->arena, &source->lock));
    TRY(campaign_open(source->place.results, source->place.name, line->arena, &source->campaign));
    TRY(trials_count(source->campaign.database, &source->trials));
    TRY(trials_last(source->campaign.database, &source->last));
    TRY(kept_refuse(source->campaign.database, source->campaign.name, "sums of two campaigns can't be joined",
                    line->arena));
    TRY(merge_refuse_parts(source));
    const MergeSource *largest = &merge->sources[merge->largest];
    if (source->last > largest->last || (source->last == largest->last && source->trials > largest->trials))
        merge->largest = index;
    if (index > 0) TRY(merge_check(&merge->sources[0], source, line->messages, line->arena));
    if (!search_learns(source->campaign.spec.method)) return error_none();
    return error_make(ERROR_USER,
                      "%.100s used an adaptive search: its trials depend on earlier ones and cannot be joined",
                      source->campaign.name);
}

// ---- the same trial in two campaigns --------------------------------------------------------------------------------

static Error merge_compare(Merge *merge, const MergeSource *largest, const MergeSource *other, const TrialRows *a,
                           const TrialRows *b)
{
    char text[256];
    uint64_t replicates[2];
    const int64_t trial = b->id[0];
    TRY(replicates_digest(&largest->campaign, trial, &replicates[0]));
    TRY(replicates_digest(&other->campaign, trial, &replicates[1]));
    bool differ = rows_differ(&largest->campaign.spec, a, 0, b, 0, text, sizeof text);
    if (!differ && replicates[0] != replicates[1]) {
        differ = true;
        snprintf(text, sizeof text, "one of its replicates");
    }
    if (differ && merge->differing++ < MERGE_SHOWN)
        fprintf(merge->line->messages, "trial %" PRId64 " of %s and of %s: %s\n", trial, largest->campaign.name,
                other->campaign.name, text);
    return error_none();
}

// Compares the trials that `other` and the largest both have; counts those that the largest does not have.
static Error merge_examine(Merge *merge, MergeSource *other)
{
    const MergeSource *largest = &merge->sources[merge->largest];
    const Spec *spec = &largest->campaign.spec;
    Arena *arena = merge->line->arena;
    TrialRows a, b;
    rows_take(spec, 1, arena, &a);
    rows_take(spec, 1, arena, &b);
    Cursor theirs = trial_rows(other->campaign.database, spec, arena);
    Cursor ours = trial_rows_by_id(largest->campaign.database, spec, arena);
    while (trial_rows_next(&theirs, spec, &b, 0)) {
        if (trial_row_at(&ours, b.id[0], spec, &a, 0))
            cursor_stop(&theirs, merge_compare(merge, largest, other, &a, &b));
        else
            other->missing++;
        cursor_stop(&theirs, ours.error);
    }
    cursor_stop(&theirs, cursor_close(&ours));
    return cursor_close(&theirs);
}

static Error merge_examine_all(Merge *merge)
{
    for (int i = 0; i < merge->count; i++) {
        if (i != merge->largest) TRY(merge_examine(merge, &merge->sources[i]));
    }
    if (merge->differing == 0) return error_none();
    return error_make(ERROR_MACHINE,
                      "%s trial%s between campaigns, so one of them is wrong: nothing is merged; "
                      "the commands doctor and replay show which one",
                      text_count(merge->differing).text, merge->differing == 1 ? " differs" : "s differ");
}

// ---- the copy -------------------------------------------------------------------------------------------------------

static Error merge_copy_shard(const char *from, const StoredShard *shard, const char *to, Arena *arena)
{
    Bytes bytes;
    if (file_missing(from)) return error_none(); // the next run records it again
    TRY(file_read_stored(from, (size_t)shard->bytes, arena, &bytes));
    return file_write(to, shard->name, bytes.data, bytes.size);
}

static Error merge_copy_shards(const Merge *merge)
{
    const MergeSource *largest = &merge->sources[merge->largest];
    Arena *arena = merge->line->arena;
    const char *to = arena_format(arena, "%s/" CAMPAIGN_SHARDS, merge->aside);
    StoredShard shard;
    TRY(folder_make(to));
    Cursor shards = shards_by_id(largest->campaign.database, false);
    while (shard_next(&shards, &shard)) {
        const size_t used = arena->used;
        const char *from = arena_format(arena, "%s/" CAMPAIGN_SHARDS "/%s", largest->place.folder, shard.name);
        cursor_stop(&shards, merge_copy_shard(from, &shard, to, arena));
        arena_rewind(arena, used);
    }
    TRY(cursor_close(&shards));
    return trial_blocks_copy(largest->campaign.database, to, "");
}

static Error merge_flush(Store *store, TrialRows *rows)
{
    const Error error = rows->count > 0 ? store_insert_rows(store, rows) : error_none();
    rows->count = 0;
    return error;
}

// Adds the row that was read last to those of the copy, within a transaction.
static Error merge_add_row(Store *store, const MergeSource *other, TrialRows *rows, MergedTrials *added)
{
    const int64_t i = rows->count++;
    TRY(replicates_read(&other->campaign, rows->id[i], rows)); // where they are stored, there is room for one row
    if (added->trials++ == 0) added->first = rows->id[i];
    added->last = rows->id[i];
    added->failures += rows->n_failed[i] > 0 || rows->fitness[i] != rows->fitness[i];
    return rows->count == rows->capacity ? merge_flush(store, rows) : error_none();
}

static Error merge_add_from(Merge *merge, Store *store, const MergeSource *other)
{
    static const char *const id[] = {"id"};
    const Spec *spec = &other->campaign.spec;
    Arena *arena = merge->line->arena;
    MergedTrials added = {.trials = 0};
    TrialRows rows;
    rows_take(spec, spec->replicates.store ? 1 : MERGE_ROWS, arena, &rows);
    Cursor theirs = trial_rows(other->campaign.database, spec, arena);
    Cursor ours = trials_by_id(store->database, id, 1, arena);
    while (trial_rows_next(&theirs, spec, &rows, rows.count)) {
        const bool there = trial_at(&ours, rows.id[rows.count]);
        cursor_stop(&theirs, ours.error);
        if (!there && theirs.error.kind == OK) cursor_stop(&theirs, merge_add_row(store, other, &rows, &added));
    }
    cursor_stop(&theirs, merge_flush(store, &rows));
    cursor_stop(&theirs, cursor_close(&ours));
    TRY(cursor_close(&theirs));
    merge->added += added.trials;
    return added.trials > 0 ? batch_note_merged(store, other->campaign.name, &added) : error_none();
}

static Error merge_fill(Merge *merge, Store *store)
{
    for (int i = 0; i < merge->count; i++) {
        TRY(origin_note_merged(store, &merge->sources[i].campaign));
        if (i != merge->largest && merge->sources[i].missing > 0) TRY(merge_add_from(merge, store, &merge->sources[i]));
    }
    TRY(best_rows_again(store));
    return store_event(store, "merged", "%d campaigns; %lld trials added to those of %s", merge->count,
                       (long long)merge->added, merge->sources[merge->largest].campaign.name);
}

// Checks the number of trials in the copy.
static Error merge_count(const Merge *merge, const Store *store)
{
    const int64_t expected = merge->sources[merge->largest].trials + merge->added;
    int64_t trials = 0;
    TRY(trials_count(store->database, &trials));
    if (trials == expected) return error_none();
    return error_make(ERROR_MACHINE, "the copy has %s trials and should have %s: nothing is merged",
                      text_count(trials).text, text_count(expected).text);
}

// Opened as for a run, the store updates the copy's name and files.
static Error merge_complete(Merge *merge)
{
    const CommandLine *line = merge->line;
    const RunOptions options = {.results = line->results,
                                .shared_fs = switch_given(line, "shared-fs"),
                                .resume_only = true,
                                .messages = line->messages};
    Store *store = NULL;
    TRY(store_open(merge->aside, merge->name, &merge->sources[merge->largest].campaign.spec, &options, line->arena,
                   &store));
    Error error = store_begin(store);
    if (error.kind == OK) error = store_end(store, merge_fill(merge, store));
    if (error.kind == OK) error = merge_count(merge, store);
    const Error closing = store_close(store);
    return error.kind != OK ? error : closing;
}

// Makes and locks the folder of the copy. Before the lock is held, gc may remove the folder as left by a crash.
static Error merge_lock_aside(Merge *merge)
{
    enum { MERGE_LOCK_TRIES = 10 };
    const char *path = arena_format(merge->line->arena, "%s/" CAMPAIGN_LOCK, merge->aside);
    Error error = error_none();
    TRY(folder_check_inside(merge->aside));
    for (int tries = 0; tries < MERGE_LOCK_TRIES; tries++) {
        TRY(folder_make(merge->aside));
        error = lock_take(path, &merge->lock);
        if (error.kind == OK || !file_missing(merge->aside)) break;
    }
    return error;
}

// Removes what a killed merge left in the folder, except the lock, which must be held.
static Error merge_clear_aside(const Merge *merge)
{
    Arena *arena = merge->line->arena;
    char **names = NULL;
    int count = 0;
    TRY(folder_list(merge->aside, arena, &names, &count));
    for (int i = 0; i < count; i++) {
        if (strcmp(names[i], CAMPAIGN_LOCK) == 0) continue;
        TRY(folder_remove(arena_format(arena, "%s/%s", merge->aside, names[i]), arena));
    }
    return error_none();
}

static Error merge_make_aside(Merge *merge)
{
    const CommandLine *line = merge->line;
    TRY(merge_clear_aside(merge));
    TRY(store_copy(database_path(merge->sources[merge->largest].campaign.database),
                   arena_format(line->arena, "%s/" CAMPAIGN_DATABASE, merge->aside)));
    TRY(merge_copy_shards(merge));
    TRY(merge_complete(merge));
    TRY(campaign_name_is_free(line->results, merge->name, merge->folder, line->arena)); // it may be new
    return lock_rename(&merge->lock, merge->aside, merge->folder);
}

// A copy that was not renamed is removed if the lock in it is ours.
static Error merge_make(Merge *merge)
{
    const CommandLine *line = merge->line;
    TRY(merge_lock_aside(merge));
    const Error error = merge_make_aside(merge);
    if (error.kind != OK && lock_is_named(&merge->lock, arena_format(line->arena, "%s/" CAMPAIGN_LOCK, merge->aside)))
        (void)folder_remove(merge->aside, line->arena); // the first error is returned
    TRY(error);
    catalogue_note(line->results, switch_given(line, "shared-fs"), merge->name, line->arena);
    return error_none();
}

// ---- the command ----------------------------------------------------------------------------------------------------

static Error merge_target(Merge *merge)
{
    const CommandLine *line = merge->line;
    merge->name = switch_text(line, "into", NULL);
    if (merge->name == NULL) return error_make(ERROR_USAGE, "merge needs a name for the new campaign: --into NAME");
    TRY(campaign_folder(line->results, merge->name, line->arena, &merge->folder));
    TRY(campaign_name_is_free(line->results, merge->name, merge->folder, line->arena));
    merge->aside = arena_format(line->arena, "%s/" MERGE_PREFIX "%s", line->results, merge->name);
    return error_none();
}

static Error merge_all(Merge *merge)
{
    TRY(merge_target(merge));
    for (int i = 0; i < merge->count; i++) TRY(merge_open(merge, i));
    TRY(merge_examine_all(merge));
    TRY(merge_make(merge));
    const MergeSource *largest = &merge->sources[merge->largest];
    fprintf(merge->line->out, "%s: %s trials of %s, %s of others; trials in several campaigns have the same bits\n",
            merge->name, text_count(largest->trials).text, largest->campaign.name, text_count(merge->added).text);
    if (merge->added > 0)
        fprintf(merge->line->out, "%s resume %s%s continues it and records the missing arrays\n",
                command_program(merge->line->arena), merge->name,
                command_results_option(merge->line->results, merge->line->arena));
    return error_none();
}

static Error merge_run(const CommandLine *line)
{
    Merge merge = {.line = line, .count = line->n_arguments, .lock = {.descriptor = -1}};
    merge.sources = ARENA_NEW(line->arena, MergeSource, merge.count);
    for (int i = 0; i < merge.count; i++) merge.sources[i].lock.descriptor = -1;
    const Error error = merge_all(&merge);
    for (int i = 0; i < merge.count; i++) {
        campaign_close(&merge.sources[i].campaign);
        lock_release(&merge.sources[i].lock);
    }
    lock_release(&merge.lock);
    return error;
}

static const Switch merge_rows[] = {{"into", SWITCH_TEXT, "NAME", 0, 0, "name of the new campaign"}};
static const Switches merge_switches = {merge_rows, 1};

const Command command_merge = {
    .name = "merge",
    .arguments = "CAMPAIGN CAMPAIGN...",
    .doc = "join campaigns of one spec; refused if a trial in two of them differs in any bit",
    .examples = "  hopscotch merge gains_laptop gains_server --into gains\n",
    .least = 2,
    .most = MERGE_MOST,
    .switches = {&merge_switches, &switches_shared_fs},
    .run = merge_run,
};
