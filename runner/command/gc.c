// hopscotch gc: frees disk space. It removes what crashes left of run, rm and merge, shards that recovery moved to
// quarantine or that the spec no longer asks for, and empty pages of the database.
#include "command.h"

#include <string.h>

typedef struct GarbageCount {
    int64_t bytes;
    int locations;
} GarbageCount;

static void garbage_report(const CommandLine *line, const char *path, const char *what, int64_t bytes,
                           GarbageCount *count)
{
    fprintf(line->out, "%10s  %s: %s\n", text_bytes((double)bytes).text, text_visible(path, line->arena), what);
    count->bytes += bytes;
    count->locations++;
}

// Reports something that can be removed; with --yes, removes it.
static Error garbage_drop(const CommandLine *line, const char *path, const char *what, GarbageCount *count)
{
    int64_t bytes = 0;
    TRY(folder_bytes(path, &bytes));
    garbage_report(line, path, what, bytes, count);
    return switch_given(line, "yes") ? folder_remove(path, line->arena) : error_none();
}

// The unfinished copy of a merge, which a running merge locks (merge.c). A file of that name has no lock.
static Error garbage_merge(const CommandLine *line, const char *path, GarbageCount *count)
{
    Lock lock = {.descriptor = -1};
    char holder[160] = "";
    const char *name = arena_format(line->arena, "%s/" CAMPAIGN_LOCK, path);
    const bool folder = folder_check_inside(path).kind == OK;
    if (file_missing(path)) return error_none(); // merge has renamed it
    if (folder) TRY(lock_holder(name, holder, sizeof holder));
    if (holder[0] != '\0') {
        fprintf(line->messages, "%s: %s is merging campaigns into it: skipped\n", text_visible(path, line->arena),
                holder);
        return error_none();
    }
    const bool take = folder && switch_given(line, "yes");
    const Error taken = take ? lock_take(name, &lock) : error_none();
    if (taken.kind != OK) return file_missing(path) ? error_none() : taken;
    const Error error = garbage_drop(line, path, "left by a merge that crashed", count);
    lock_release(&lock);
    return error;
}

// A run that was killed before it created its database leaves a folder with the lock and nothing else. An empty folder
// may be the user's.
static Error garbage_begun(const CommandLine *line, const char *path, const char *name, GarbageCount *count)
{
    char **names = NULL, holder[160] = "";
    int n_names = 0;
    int64_t bytes = 0;
    bool cleared = true;
    if (folder_check_inside(path).kind != OK || folder_list(path, line->arena, &names, &n_names).kind != OK ||
        n_names != 1 || strcmp(names[0], CAMPAIGN_LOCK) != 0)
        return error_none();
    if (lock_holder(arena_format(line->arena, "%s/" CAMPAIGN_LOCK, path), holder, sizeof holder).kind != OK)
        return error_none(); // the file is not one of our locks
    TRY(folder_bytes(path, &bytes));
    if (holder[0] == '\0' && switch_given(line, "yes") &&
        campaign_clear_begun(path, name, line->arena, &cleared).kind != OK)
        cleared = false; // a run has begun there
    if (holder[0] == '\0' && cleared) garbage_report(line, path, "left by a run that crashed", bytes, count);
    return error_none();
}

static Error garbage_removed(const CommandLine *line, GarbageCount *count)
{
    char **names = NULL;
    int n_names = 0;
    if (file_missing(line->results)) return error_none();
    TRY(folder_list(line->results, line->arena, &names, &n_names));
    for (int i = 0; i < n_names; i++) {
        const char *path = arena_format(line->arena, "%s/%s", line->results, names[i]);
        if (strncmp(names[i], REMOVE_PREFIX, strlen(REMOVE_PREFIX)) == 0)
            TRY(garbage_drop(line, path, "left by an rm that crashed", count));
        if (strncmp(names[i], MERGE_PREFIX, strlen(MERGE_PREFIX)) == 0) TRY(garbage_merge(line, path, count));
        if (names[i][0] != '.' && file_missing(arena_format(line->arena, "%s/" CAMPAIGN_DATABASE, path)))
            TRY(garbage_begun(line, path, names[i], count));
    }
    return error_none();
}

static Error garbage_temporary(const CommandLine *line, const char *folder, GarbageCount *count)
{
    char **names = NULL;
    int n_names = 0;
    if (file_missing(folder)) return error_none();
    TRY(folder_list(folder, line->arena, &names, &n_names));
    for (int i = 0; i < n_names; i++) {
        const size_t length = strlen(names[i]);
        if (length < 5 || strcmp(names[i] + length - 4, ".tmp") != 0) continue;
        TRY(garbage_drop(line, arena_format(line->arena, "%s/%s", folder, names[i]), "an unfinished file", count));
    }
    return error_none();
}

// Empty pages, from half a megabyte. Otherwise the database is not written: on a full disk that would fail.
static Error garbage_pages(const CommandLine *line, const CampaignLocation *location, GarbageCount *count)
{
    const char *path = arena_format(line->arena, "%s/" CAMPAIGN_DATABASE, location->folder);
    int64_t bytes = 0;
    TRY(store_unused(location, line->arena, &bytes));
    if (bytes < 1 << 19) return error_none();
    fprintf(line->out, "%10s  %s: empty pages\n", text_bytes((double)bytes).text, text_visible(path, line->arena));
    if (switch_given(line, "yes")) TRY(store_compact(path, switch_given(line, "shared-fs")));
    count->bytes += bytes;
    count->locations++;
    return error_none();
}

static Error garbage_of_campaign(const CommandLine *line, const CampaignLocation *location, GarbageCount *count)
{
    TRY(campaign_check_folders(location->folder, line->arena));
    const char *quarantine = arena_format(line->arena, "%s/" CAMPAIGN_QUARANTINE, location->folder);
    TRY(garbage_temporary(line, location->folder, count));
    TRY(garbage_temporary(line, arena_format(line->arena, "%s/" CAMPAIGN_SHARDS, location->folder), count));
    if (!file_missing(quarantine)) TRY(garbage_drop(line, quarantine, "damaged files that recovery set aside", count));
    return garbage_pages(line, location, count);
}

// With --yes the rows are deleted in one transaction, then the files, under the same lock: a run that started between
// the two would use the same names for its shards.
static Error garbage_forget_shards(const CommandLine *line, const CampaignLocation *location, const Spec *spec,
                                   UnwantedShards *shards, Lock *lock)
{
    CampaignEdit edit;
    TRY(edit_begin(location, switch_given(line, "shared-fs"), line->arena, &edit));
    *lock = edit_keep_lock(&edit);
    Error error = unwanted_list(spec, edit.store.database, line->arena, shards);
    if (error.kind == OK) error = unwanted_forget(edit.store.database);
    return edit_end(&edit, error);
}

static Error garbage_shards(const CommandLine *line, const CampaignLocation *location, GarbageCount *count)
{
    StoredCampaign campaign;
    UnwantedShards shards = {.count = 0};
    Lock lock = {.descriptor = -1};
    TRY(campaign_open(location->results, location->name, line->arena, &campaign));
    Error error = unwanted_list(&campaign.spec, campaign.database, line->arena, &shards);
    campaign_close(&campaign);
    if (error.kind == OK && shards.count > 0 && switch_given(line, "yes"))
        error = garbage_forget_shards(line, location, &campaign.spec, &shards, &lock);
    for (int64_t i = 0; i < shards.count && error.kind == OK; i++)
        error = garbage_drop(line,
                             arena_format(line->arena, "%s/" CAMPAIGN_SHARDS "/%s", location->folder, shards.names[i]),
                             "arrays that its spec no longer asks for", count);
    lock_release(&lock);
    return error;
}

static Error garbage_locked(const CommandLine *line, const CampaignLocation *location, GarbageCount *count)
{
    Lock lock;
    TRY(campaign_refuse_network(location->folder, switch_given(line, "shared-fs")));
    TRY(campaign_lock(location->folder, location->name, line->arena, &lock));
    const Error error = garbage_of_campaign(line, location, count);
    lock_release(&lock);
    return error;
}

// A campaign that is being run is skipped: its .tmp files are in use.
static Error garbage_campaign(const CommandLine *line, const CampaignLocation *location, GarbageCount *count)
{
    char holder[160];
    TRY(lock_holder(arena_format(line->arena, "%s/" CAMPAIGN_LOCK, location->folder), holder, sizeof holder));
    if (holder[0] != '\0') {
        fprintf(line->messages, "%s is being run by %s: skipped\n", location->name, holder);
        return error_none();
    }
    TRY(switch_given(line, "yes") ? garbage_locked(line, location, count) : garbage_of_campaign(line, location, count));
    return garbage_shards(line, location, count);
}

// The campaign, and those that verify and compare ran for it.
static Error garbage_with_nested(const CommandLine *line, const CampaignLocation *location, GarbageCount *count)
{
    NestedCampaign *nested;
    int n_nested;
    TRY(garbage_campaign(line, location, count));
    TRY(campaign_nested(location, line->arena, &nested, &n_nested));
    for (int i = 0; i < n_nested; i++) TRY(garbage_campaign(line, &nested[i].location, count));
    return error_none();
}

static Error garbage_all(const CommandLine *line, GarbageCount *count)
{
    const char *const *names;
    int n_names;
    TRY(garbage_removed(line, count));
    TRY(campaign_names(line->results, line->arena, &names, &n_names));
    for (int i = 0; i < n_names; i++) {
        const size_t used = line->arena->used;
        const CampaignLocation location = campaign_location(line, names[i]);
        const Error error = garbage_with_nested(line, &location, count);
        if (error.kind != OK) fprintf(line->messages, "warning: %s\n", text_visible(error.text, line->arena));
        arena_rewind(line->arena, used); // a spec takes 100 KB, and there may be 10,000 campaigns
    }
    return error_none();
}

static Error garbage_run(const CommandLine *line)
{
    GarbageCount count = {0, 0};
    if (line->n_arguments == 0) TRY(garbage_all(line, &count));
    for (int i = 0; i < line->n_arguments; i++) {
        CampaignLocation location;
        TRY(campaign_find(line, line->arguments[i], &location));
        TRY(campaign_check_inside(line->results, &location, line->arena));
        TRY(garbage_with_nested(line, &location, &count));
    }
    if (count.locations == 0)
        fputs("nothing to free\n", line->out);
    else if (switch_given(line, "yes"))
        fprintf(line->out, "freed %s\n", text_bytes((double)count.bytes).text);
    else
        fprintf(line->out, "%s would be freed by gc --yes\n", text_bytes((double)count.bytes).text);
    return error_none();
}

static const Switch garbage_rows[] = {
    {"yes", SWITCH_FLAG, NULL, 0, 0, "remove the listed files; without --yes gc only lists them"}};
static const Switches garbage_switches = {garbage_rows, 1};

const Command command_gc = {
    .name = "gc",
    .arguments = "[CAMPAIGN...]",
    .doc = "free disk space: files left by crashes, damaged or unwanted arrays, empty database pages",
    .examples = "  hopscotch gc\n"
                "  hopscotch gc --yes\n",
    .least = 0,
    .most = 1024,
    .switches = {&garbage_switches, &switches_shared_fs},
    .run = garbage_run,
};
