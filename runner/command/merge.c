// hopscotch merge: campaigns of one spec made one, e.g. of a run that was begun on two machines. Every trial that two
// of them hold must be the same to the bit; then the one that came furthest is copied, what only the others hold is
// added, and the copy gets its name when it is whole. Arrays that only the others hold are recorded again by the next
// run.
#include "command.h"

#include <inttypes.h>
#include <string.h>

enum { MERGE_MOST = 16, MERGE_SHOWN = 10 };

typedef struct MergeSource {
    CampaignPlace place;
    StoredCampaign campaign;
    Lock lock;
    int64_t trials, last, missing; // last: id; missing: so many of its trials are not in the largest
} MergeSource;

typedef struct Merge {
    const CommandLine *line;
    MergeSource *sources; // [count]
    int count, largest;   // largest: the one that came furthest, whose search has asked for all ids of the others
    const char *name, *folder, *aside; // aside: where it is made
    Lock lock;                         // of what is made there: gc leaves it alone, and a second merge waits
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
        return error_make(ERROR_USER, "%.100s and %.100s are of different specs: their trials can't stand in one table",
                          a_name, b_name);
    }
    if (a->n_segments != b->n_segments)
        return error_make(ERROR_USER, "%.100s and %.100s were extended in different ways: the same id is another trial",
                          a_name, b_name);
    if (first->campaign.numerics_version != other->campaign.numerics_version)
        return error_make(ERROR_USER, "%.100s has numerics version %d and %.100s has %d: their last bits differ",
                          a_name, first->campaign.numerics_version, b_name, other->campaign.numerics_version);
    if (a->replicates.store != b->replicates.store)
        return error_make(ERROR_USER, "%.100s keeps its replicates (replicates.store) and %.100s does not",
                          a->replicates.store ? a_name : b_name, a->replicates.store ? b_name : a_name);
    return error_none();
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
    TRY(store_integer(source->campaign.database, "SELECT count(*) FROM trials", 0, &source->trials));
    TRY(store_integer(source->campaign.database, "SELECT max(id) FROM trials", -1, &source->last));
    const MergeSource *largest = &merge->sources[merge->largest];
    if (source->last > largest->last || (source->last == largest->last && source->trials > largest->trials))
        merge->largest = index;
    if (index > 0) TRY(merge_check(&merge->sources[0], source, line->messages, line->arena));
    if (!search_learns(source->campaign.spec.method)) return error_none();
    return error_make(ERROR_USER,
                      "%.100s is a search that learns: its trials follow from one another, and can't be mixed",
                      source->campaign.name);
}

// ---- the same trial in two campaigns --------------------------------------------------------------------------------

// The replicates of a trial as one digest; 0 if none are kept.
static Error merge_replicates(const StoredCampaign *campaign, int64_t trial, uint64_t *digest)
{
    Statement *statement = NULL;
    bool row = false;
    *digest = 0;
    if (!campaign->spec.replicates.store) return error_none();
    TRY(database_prepare(campaign->database, "SELECT * FROM replicates WHERE trial = ? ORDER BY replicate",
                         &statement));
    bind_integer(statement, 1, trial);
    Error error = statement_step(statement, &row);
    for (; error.kind == OK && row; error = statement_step(statement, &row))
        *digest = row_digest_integer(*digest, (int64_t)column_digest(statement, 0));
    statement_close(statement);
    return error;
}

static Error merge_compare(Merge *merge, const MergeSource *largest, const MergeSource *other, const TrialRows *a,
                           const TrialRows *b)
{
    char text[256];
    uint64_t replicates[2];
    const int64_t trial = b->id[0];
    TRY(merge_replicates(&largest->campaign, trial, &replicates[0]));
    TRY(merge_replicates(&other->campaign, trial, &replicates[1]));
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

// One pass over the other's trials beside those of the largest.
static Error merge_examine(Merge *merge, MergeSource *other)
{
    const MergeSource *largest = &merge->sources[merge->largest];
    const Spec *spec = &largest->campaign.spec;
    Arena *arena = merge->line->arena;
    Statement *theirs = NULL, *ours = NULL;
    TrialRows a, b;
    bool row = false, there = false;
    rows_take(spec, 1, arena, &a);
    rows_take(spec, 1, arena, &b);
    TRY(database_prepare(other->campaign.database, rows_select_sql(spec, arena, "ORDER BY id"), &theirs));
    Error error = database_prepare(largest->campaign.database, rows_select_sql(spec, arena, "WHERE id = ?"), &ours);
    if (error.kind == OK) error = statement_step(theirs, &row);
    while (error.kind == OK && row) {
        rows_read(spec, theirs, &b, 0);
        bind_integer(ours, 1, b.id[0]);
        error = statement_step(ours, &there);
        if (error.kind == OK && there) {
            rows_read(spec, ours, &a, 0);
            error = merge_compare(merge, largest, other, &a, &b);
            if (error.kind == OK) error = statement_step(ours, &there); // to its end
        } else {
            other->missing++;
        }
        if (error.kind == OK) error = statement_step(theirs, &row);
    }
    statement_close(theirs);
    if (ours != NULL) statement_close(ours);
    return error;
}

static Error merge_examine_all(Merge *merge)
{
    for (int i = 0; i < merge->count; i++) {
        if (i != merge->largest) TRY(merge_examine(merge, &merge->sources[i]));
    }
    if (merge->differing == 0) return error_none();
    return error_make(ERROR_MACHINE,
                      "%s trial%s, which can't be if all was computed right: nothing is merged; "
                      "the commands doctor and replay tell which campaign is wrong",
                      text_count(merge->differing).text, merge->differing == 1 ? " differs" : "s differ");
}

// ---- the copy -------------------------------------------------------------------------------------------------------

static Error merge_copy_database(const Merge *merge)
{
    const MergeSource *largest = &merge->sources[merge->largest];
    Statement *statement = NULL;
    bool row = false;
    TRY(database_prepare(largest->campaign.database, "VACUUM INTO ?", &statement));
    bind_text(statement, 1, arena_format(merge->line->arena, "%s/" CAMPAIGN_DATABASE, merge->aside));
    const Error error = statement_step(statement, &row);
    statement_close(statement);
    return error;
}

static Error merge_copy_shards(const Merge *merge)
{
    const MergeSource *largest = &merge->sources[merge->largest];
    Arena *arena = merge->line->arena;
    const char *to = arena_format(arena, "%s/" CAMPAIGN_SHARDS, merge->aside);
    Statement *statement = NULL;
    bool row = false;
    TRY(folder_make(to));
    TRY(database_prepare(largest->campaign.database, "SELECT name, bytes FROM shards ORDER BY id", &statement));
    Error error = statement_step(statement, &row);
    for (; error.kind == OK && row; error = error.kind == OK ? statement_step(statement, &row) : error) {
        const size_t used = arena->used;
        const char *name = column_text(statement, 0);
        const char *from = arena_format(arena, "%s/" CAMPAIGN_SHARDS "/%s", largest->place.folder, name);
        Bytes bytes;
        if (file_missing(from)) continue; // recorded again by the next run, as after any loss
        error = file_read_stored(from, (size_t)column_integer(statement, 1), arena, &bytes);
        if (error.kind == OK) error = file_write(to, name, bytes.data, bytes.size);
        arena_rewind(arena, used);
    }
    statement_close(statement);
    return error;
}

static Error merge_read_replicates(const StoredCampaign *campaign, int64_t trial, TrialRows *rows)
{
    const Spec *spec = &campaign->spec;
    Statement *statement = NULL;
    bool row = false;
    if (!spec->replicates.store) return error_none();
    TRY(database_prepare(campaign->database, "SELECT * FROM replicates WHERE trial = ? ORDER BY replicate",
                         &statement));
    bind_integer(statement, 1, trial);
    Error error = statement_step(statement, &row);
    for (int r = 0; error.kind == OK && row && r < spec->replicates.count; r++) {
        const char *failure = column_text(statement, 2);
        for (int f = 0; f < spec->configured.n_failures; f++) {
            if (strcmp(spec->configured.failures[f], failure) == 0) rows->replicate_failure[r] = f;
        }
        for (int m = 0; m < spec->configured.n_metrics; m++)
            rows->replicate_metric[(ptrdiff_t)r * spec->configured.n_metrics + m] = column_real(statement, 3 + m);
        error = statement_step(statement, &row);
    }
    statement_close(statement);
    return error;
}

// A row of table `batches` for what was added: status counts by it.
static Error merge_note_batch(Store *store, const char *from, int64_t first, int64_t last, int64_t trials,
                              int64_t failures)
{
    Statement *statement = NULL;
    bool row = false;
    TRY(database_prepare(store->database,
                         "INSERT INTO batches(id, first_trial, last_trial, trials, failures, lanes, backend, device, "
                         "version, numerics_version, kernel_seconds, wait_seconds, wall_seconds, committed) "
                         "VALUES(?, ?, ?, ?, ?, 0, 'merge', ?, '', ?, 0.0, 0.0, 0.0, ?)",
                         &statement));
    const int64_t numbers[] = {store->next_batch++, first, last, trials, failures};
    for (int i = 0; i < 5; i++) bind_integer(statement, i + 1, numbers[i]);
    bind_text(statement, 6, from);
    bind_integer(statement, 7, NUMERICS_VERSION);
    bind_text(statement, 8, clock_utc().text);
    const Error error = statement_step(statement, &row);
    statement_close(statement);
    return error;
}

// Trials of one of the others that the copy does not have, within a transaction.
static Error merge_add_from(Merge *merge, Store *store, const MergeSource *other)
{
    const Spec *spec = &other->campaign.spec;
    Arena *arena = merge->line->arena;
    Statement *statement = NULL, *find = NULL;
    TrialRows rows;
    bool row = false, there = false;
    int64_t first = -1, last = -1, added = 0, failures = 0;
    rows_take(spec, 1, arena, &rows);
    TRY(database_prepare(other->campaign.database, rows_select_sql(spec, arena, "ORDER BY id"), &statement));
    Error error = database_prepare(store->database, "SELECT 1 FROM trials WHERE id = ?", &find);
    if (error.kind == OK) error = statement_step(statement, &row);
    for (; error.kind == OK && row; error = error.kind == OK ? statement_step(statement, &row) : error) {
        rows_read(spec, statement, &rows, 0);
        bind_integer(find, 1, rows.id[0]);
        error = statement_step(find, &there);
        if (error.kind == OK && there) {
            error = statement_step(find, &there);
            continue;
        }
        if (error.kind == OK) error = merge_read_replicates(&other->campaign, rows.id[0], &rows);
        if (error.kind == OK) error = store_insert_row(store, &rows, 0);
        if (first < 0) first = rows.id[0];
        last = rows.id[0];
        added++;
        failures += rows.n_failed[0] > 0 || rows.fitness[0] != rows.fitness[0];
    }
    statement_close(statement);
    if (find != NULL) statement_close(find);
    if (error.kind == OK && added > 0)
        error = merge_note_batch(store, other->campaign.name, first, last, added, failures);
    merge->added += added;
    return error;
}

static Error merge_note_origin(Store *store, const MergeSource *source)
{
    Statement *statement = NULL;
    bool row = false;
    TRY(database_prepare(store->database, "INSERT INTO origin(purpose, campaign, hash, time) VALUES('merges', ?, ?, ?)",
                         &statement));
    bind_text(statement, 1, source->campaign.name);
    bind_text(statement, 2, source->campaign.spec.hash.hex);
    bind_text(statement, 3, clock_utc().text);
    const Error error = statement_step(statement, &row);
    statement_close(statement);
    return error;
}

static Error merge_fill(Merge *merge, Store *store)
{
    for (int i = 0; i < merge->count; i++) {
        TRY(merge_note_origin(store, &merge->sources[i]));
        if (i != merge->largest && merge->sources[i].missing > 0) TRY(merge_add_from(merge, store, &merge->sources[i]));
    }
    return store_event(store, "merged", "%d campaigns; %lld trials added to those of %s", merge->count,
                       (long long)merge->added, merge->sources[merge->largest].campaign.name);
}

// What is said to be in the copy is.
static Error merge_count(const Merge *merge, const Store *store)
{
    const int64_t expected = merge->sources[merge->largest].trials + merge->added;
    int64_t trials = 0;
    TRY(store_integer(store->database, "SELECT count(*) FROM trials", 0, &trials));
    if (trials == expected) return error_none();
    return error_make(ERROR_MACHINE, "the copy has %s trials and should have %s: nothing is merged",
                      text_count(trials).text, text_count(expected).text);
}

// Opening as a run does brings the copy's name, files and schema up to date.
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
    Error error = database_run(store->database, "BEGIN IMMEDIATE");
    if (error.kind == OK) error = store_end(store, merge_fill(merge, store));
    if (error.kind == OK) error = merge_count(merge, store);
    const Error closing = store_close(store);
    return error.kind != OK ? error : closing;
}

// The folder in which the copy is made, locked. It may vanish until it is: gc took it for what a crash left.
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

// With the lock held: what a killed merge left in it goes, but the lock.
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
    TRY(merge_copy_database(merge));
    TRY(merge_copy_shards(merge));
    TRY(merge_complete(merge));
    TRY(campaign_name_is_free(line->results, merge->name, merge->folder, line->arena)); // another may have come
    return lock_rename(&merge->lock, merge->aside, merge->folder);
}

// A copy that does not come to its name is removed: what has our lock in it is ours.
static Error merge_make(Merge *merge)
{
    const CommandLine *line = merge->line;
    TRY(merge_lock_aside(merge));
    const Error error = merge_make_aside(merge);
    if (error.kind != OK && lock_is_named(&merge->lock, arena_format(line->arena, "%s/" CAMPAIGN_LOCK, merge->aside)))
        (void)folder_remove(merge->aside, line->arena); // the first error is the one to tell
    TRY(error);
    const Error listed = catalogue_change(line->results, switch_given(line, "shared-fs"), merge->name, merge->name,
                                          line->messages, line->arena);
    if (listed.kind != OK)
        fprintf(line->messages, "warning: the catalogue was not updated (%s): %s\n",
                command_again(line->results, "reindex").text, text_visible(listed.text, line->arena));
    return error_none();
}

// ---- the command ----------------------------------------------------------------------------------------------------

static Error merge_target(Merge *merge)
{
    const CommandLine *line = merge->line;
    merge->name = switch_text(line, "into", NULL);
    if (merge->name == NULL) return error_make(ERROR_USAGE, "merge into what? --into NAME");
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
    fprintf(merge->line->out, "%s: %s trials of %s, %s of others; all that several hold are the same to the bit\n",
            merge->name, text_count(largest->trials).text, largest->campaign.name, text_count(merge->added).text);
    if (merge->added > 0)
        fprintf(merge->line->out, "%s resume %s%s goes on with it, and records the arrays that are not there\n",
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

static const Switch merge_rows[] = {{"into", SWITCH_TEXT, "NAME", 0, 0, "name of the campaign that is made"}};
static const Switches merge_switches = {merge_rows, 1};

const Command command_merge = {
    .name = "merge",
    .arguments = "CAMPAIGN CAMPAIGN...",
    .doc = "campaigns of one spec made one; refused if a trial that two of them hold differs in one bit",
    .examples = "  hopscotch merge gains_laptop gains_server --into gains\n",
    .least = 2,
    .most = MERGE_MOST,
    .switches = {&merge_switches, &switches_shared_fs},
    .run = merge_run,
};
