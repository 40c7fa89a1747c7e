// Joins campaigns of one spec, e.g. of a run on two machines. A trial in two of them must have the same bits in both.
// The campaign with the highest trial id is copied, trials that only the others have are added, and the complete copy
// is renamed to its final name. The next run records the arrays that only the others have.
#include "join.h"

#include "../ground/rows.h"

#include <inttypes.h>
#include <string.h>

typedef struct Merge {
    const RunOptions *options;
    Arena *arena;
    JoinSource *sources; // [count] that are open
    int count;
    const JoinSource *largest;         // the one with the highest id, so its search has passed all ids of the others
    int64_t last;                      // that id
    const char *name, *folder, *aside; // aside: folder in which the copy is written
    int64_t differing;
    MergeReport *report;
} Merge;

// ---- what may be merged ---------------------------------------------------------------------------------------------

static Error merge_check(const JoinSource *first, const JoinSource *other, FILE *messages, Arena *arena)
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
    if (spec_compares(a) != NULL)
        return error_make(ERROR_USER,
                          "%.100s and %.100s compare trials (%s): the best of each were chosen among its own "
                          "trials, so they cannot be joined",
                          a_name, b_name, spec_compares(a));
    if (a->replicates.store != b->replicates.store)
        return error_make(ERROR_USER, "%.100s stores its replicates (replicates.store) and %.100s does not",
                          a->replicates.store ? a_name : b_name, a->replicates.store ? b_name : a_name);
    return error_none();
}

// The search of a part begins in the middle, and a campaign that lacks parts has gaps.
static Error merge_refuse_parts(const JoinSource *source)
{
    Gathered gathered;
    TRY(gathered_read(source->campaign.database, &gathered));
    if (source->campaign.spec.part.count == 0 && gathered.count == gathered.of) return error_none();
    return error_make(ERROR_USER, "%.100s %s: gather joins the parts of a campaign", source->campaign.name,
                      gathered.of > 0 ? "still lacks parts" : "is a part");
}

static Error merge_open(Merge *merge, const CampaignLocation *location)
{
    JoinSource *source = &merge->sources[merge->count];
    const StoredCampaign *campaign = &source->campaign;
    int64_t trials = 0, last = 0;
    TRY(campaign_refuse_network(location->folder, merge->options->shared_fs));
    TRY(join_open(location, merge->arena, source));
    merge->count++;
    TRY(trials_count(campaign->database, &trials));
    TRY(trials_last(campaign->database, &last));
    TRY(kept_refuse(campaign->database, campaign->name, "sums of two campaigns can't be joined", merge->arena));
    TRY(merge_refuse_parts(source));
    if (merge->largest == NULL || last > merge->last || (last == merge->last && trials > merge->report->trials)) {
        merge->largest = source;
        merge->last = last;
        merge->report->trials = trials;
    }
    TRY(merge_check(&merge->sources[0], source, merge->options->messages, merge->arena));
    if (!search_learns(campaign->spec.method)) return error_none();
    return error_make(ERROR_USER,
                      "%.100s used an adaptive search: its trials depend on earlier ones and cannot be joined",
                      campaign->name);
}

// ---- the trials of another campaign ---------------------------------------------------------------------------------

typedef struct MergeOther {
    Merge *merge;
    const JoinSource *source;
    StoredCampaign copy;
    Cursor ours;   // a row of the copy
    TrialRows row; // that was read of it
    MergedTrials added;
} MergeOther;

// The campaign from which the copy has a trial: the largest, or the first that has it.
static const char *merge_holder(const Merge *merge, int64_t trial)
{
    static const char *const id[] = {"id"};
    for (int i = -1; i < merge->count; i++) {
        const StoredCampaign *campaign = i < 0 ? &merge->largest->campaign : &merge->sources[i].campaign;
        Cursor trials = trials_by_id(campaign->database, id, 1, merge->arena);
        const bool there = trial_at(&trials, trial);
        if (cursor_close(&trials).kind == OK && there) return campaign->name;
    }
    return merge->name;
}

static Error merge_compare(MergeOther *other, const TrialRows *theirs, int64_t row)
{
    enum { MERGE_SHOWN = 10 };
    Merge *merge = other->merge;
    char text[256];
    uint64_t replicates[2];
    const int64_t trial = theirs->id[row];
    TRY(replicates_digest(&other->copy, trial, &replicates[0]));
    TRY(replicates_digest(&other->source->campaign, trial, &replicates[1]));
    bool differ = rows_differ(&other->copy.spec, &other->row, 0, theirs, row, text, sizeof text);
    if (!differ && replicates[0] != replicates[1]) {
        differ = true;
        snprintf(text, sizeof text, "one of its replicates");
    }
    if (differ && merge->differing++ < MERGE_SHOWN)
        fprintf(merge->options->messages, "trial %" PRId64 " of %s and of %s: %s\n", trial, merge_holder(merge, trial),
                other->source->campaign.name, text);
    return error_none();
}

// A trial that the copy does not have is taken; another one is compared.
static Error merge_choose(void *context, TrialRows *rows, bool *taken)
{
    MergeOther *other = context;
    MergedTrials *added = &other->added;
    const int64_t i = rows->count, id = rows->id[i];
    *taken = !trial_row_at(&other->ours, id, &other->copy.spec, &other->row, 0);
    while (other->ours.row) cursor_next(&other->ours); // there is only one
    TRY(other->ours.error);
    if (!*taken) return merge_compare(other, rows, i);
    if (added->trials++ == 0) added->first = id;
    added->last = id;
    added->failures += rows->n_failed[i] > 0 || rows->fitness[i] != rows->fitness[i];
    return error_none();
}

static Error merge_add(Merge *merge, Store *store, const JoinSource *source)
{
    MergeOther other = {.merge = merge, .source = source};
    other.copy = (StoredCampaign){.database = store->database, .spec = *store->spec};
    rows_take(store->spec, 1, merge->arena, &other.row);
    other.ours = trial_rows_by_id(store->database, store->spec, merge->arena);
    const Error error = join_trials(source, store, merge_choose, &other);
    const Error closing = cursor_close(&other.ours);
    TRY(error);
    TRY(closing);
    merge->report->added += other.added.trials;
    return other.added.trials > 0 ? batch_note_merged(store, source->campaign.name, &other.added) : error_none();
}

// ---- the copy -------------------------------------------------------------------------------------------------------

static Error merge_check_count(const Merge *merge, const Store *store)
{
    const int64_t expected = merge->report->trials + merge->report->added;
    int64_t trials = 0;
    TRY(trials_count(store->database, &trials));
    if (trials == expected) return error_none();
    return error_make(ERROR_MACHINE, "the copy has %s trials and should have %s: nothing is merged",
                      text_count(trials).text, text_count(expected).text);
}

// Within a transaction
static Error merge_fill(Merge *merge, Store *store)
{
    for (int i = 0; i < merge->count; i++) {
        TRY(origin_note_merged(store, &merge->sources[i].campaign));
        if (&merge->sources[i] != merge->largest) TRY(merge_add(merge, store, &merge->sources[i]));
    }
    if (merge->differing > 0)
        return error_make(ERROR_MACHINE,
                          "%s trial%s between campaigns, so one of them is wrong: nothing is merged; "
                          "the commands doctor and replay show which one",
                          text_count(merge->differing).text, merge->differing == 1 ? " differs" : "s differ");
    TRY(best_rows_again(store));
    TRY(merge_check_count(merge, store));
    return store_event(store, "merged", "%d campaigns; %lld trials added to those of %s", merge->count,
                       (long long)merge->report->added, merge->report->largest);
}

static Error merge_into(Merge *merge, Store *store)
{
    TRY(join_copy_files(merge->largest, store, 0, "", true));
    TRY(store_begin(store));
    return store_end(store, merge_fill(merge, store));
}

// Removes what a killed merge left in the folder, except the lock, which must be held.
static Error merge_clear_aside(const Merge *merge)
{
    char **names = NULL;
    int count = 0;
    TRY(folder_list(merge->aside, merge->arena, &names, &count));
    for (int i = 0; i < count; i++) {
        if (strcmp(names[i], CAMPAIGN_LOCK) == 0) continue;
        TRY(folder_remove(arena_format(merge->arena, "%s/%s", merge->aside, names[i]), merge->arena));
    }
    return error_none();
}

// Opened as for a run, the store updates the copy's name and files.
static Error merge_make_aside(Merge *merge, const Lock *lock)
{
    const StoredCampaign *largest = &merge->largest->campaign;
    const char *database = arena_format(merge->arena, "%s/" CAMPAIGN_DATABASE, merge->aside);
    Store *store = NULL;
    TRY(merge_clear_aside(merge));
    TRY(store_copy(database_path(largest->database), database));
    TRY(store_open(merge->aside, merge->name, &largest->spec, merge->options, merge->arena, &store));
    const Error error = merge_into(merge, store);
    const Error closing = store_close(store);
    TRY(error);
    TRY(closing);
    TRY(campaign_name_is_free(merge->options->results, merge->name, merge->folder, merge->arena)); // it may be new
    return lock_rename(lock, merge->aside, merge->folder);
}

// A copy that was not renamed is removed if the lock in it is ours.
static Error merge_make(Merge *merge)
{
    Lock lock = {.descriptor = -1};
    TRY(campaign_create_locked(merge->aside, NULL, false, merge->arena, &lock));
    const Error error = merge_make_aside(merge, &lock);
    if (error.kind != OK && lock_is_named(&lock, arena_format(merge->arena, "%s/" CAMPAIGN_LOCK, merge->aside)))
        (void)folder_remove(merge->aside, merge->arena); // the first error is returned
    lock_release(&lock);
    return error;
}

static Error merge_all(Merge *merge, const CampaignLocation *locations, int count)
{
    for (int i = 0; i < count; i++) TRY(merge_open(merge, &locations[i]));
    merge->report->largest = merge->largest->campaign.name;
    return merge_make(merge);
}

Error merge_campaigns(const CampaignLocation *locations, int count, const char *name, const RunOptions *options,
                      Arena *arena, MergeReport *report)
{
    Merge merge = {.options = options, .arena = arena, .name = name, .report = report};
    *report = (MergeReport){.added = 0};
    TRY(campaign_folder(options->results, name, arena, &merge.folder));
    TRY(campaign_name_is_free(options->results, name, merge.folder, arena));
    merge.aside = arena_format(arena, "%s/" MERGE_PREFIX "%s", options->results, name);
    merge.sources = ARENA_NEW(arena, JoinSource, count);
    const Error error = merge_all(&merge, locations, count);
    for (int i = 0; i < merge.count; i++) join_close(&merge.sources[i]);
    return error;
}
