// hopscotch rm and gc. rm first renames the campaign to .removed-NAME in one step, so that a crash never leaves a part
// of a campaign under its name; then it updates the catalogue and removes the files. gc removes what a crash leaves of
// this, and the files that recovery moved to quarantine.
#include "command.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define REMOVE_PREFIX ".removed-"

// ---- rm -------------------------------------------------------------------------------------------------------------

static Error remove_count(const CampaignPlace *place, Arena *arena, int64_t *trials)
{
    Database *database;
    *trials = 0;
    TRY(store_peek(place, arena, &database));
    const Error error = trials_count(database, trials);
    store_leave(database);
    return error;
}

// Shows what will be removed. *yes: the user agreed, or gave --yes.
static Error remove_ask(const CommandLine *line, const CampaignPlace *place, bool *yes)
{
    CampaignMade *made;
    int n_made;
    int64_t trials = 0, bytes = 0;
    char answer[16] = "";
    const bool readable = remove_count(place, line->arena, &trials).kind == OK;
    TRY(folder_bytes(place->folder, &bytes));
    *yes = switch_given(line, "yes");
    if (*yes) return error_none();
    TRY(campaign_made(place, line->arena, &made, &n_made));
    const char *with =
        n_made == 0 ? "" : arena_format(line->arena, ", with the %d that verify and compare made of it", n_made);
    if (!isatty(STDIN_FILENO))
        return error_make(ERROR_USAGE, "rm of %.100s (%s trials, %s%s) needs --yes where the input is not a terminal",
                          place->name, text_count(trials).text, text_bytes((double)bytes).text, with);
    if (readable)
        fprintf(line->messages, "remove %s: %s trials, %s%s? [y/N] ", place->name, text_count(trials).text,
                text_bytes((double)bytes).text, with);
    else
        fprintf(line->messages, "remove %s, which can't be read, %s%s? [y/N] ", place->name,
                text_bytes((double)bytes).text, with);
    fflush(line->messages);
    *yes = fgets(answer, sizeof answer, stdin) != NULL && (answer[0] == 'y' || answer[0] == 'Y');
    return error_none();
}

// A free name: the folder of an earlier removal may still be there.
static const char *remove_aside(const CampaignPlace *place, Arena *arena)
{
    const char *aside = arena_format(arena, "%s/" REMOVE_PREFIX "%s", place->results, place->name);
    for (int i = 1; !file_missing(aside) && i < 10000; i++)
        aside = arena_format(arena, "%s/" REMOVE_PREFIX "%s.%d", place->results, place->name, i);
    return aside;
}

static Error remove_from_catalogue(const CommandLine *line, const CampaignPlace *place)
{
    return catalogue_look(place->results, switch_given(line, "shared-fs"), place->name, line->messages, line->arena);
}

// The campaign's lock must be held, so that no other process runs it. On a full disk the catalogue cannot be written
// before the files are removed, so it is tried again.
static Error remove_locked(const CommandLine *line, const CampaignPlace *place, const Lock *lock)
{
    const char *aside = remove_aside(place, line->arena);
    TRY(campaign_made_is_idle(place, line->arena));
    TRY(lock_rename(lock, place->folder, aside));
    Error listed = remove_from_catalogue(line, place);
    const Error removed = folder_remove(aside, line->arena);
    if (listed.kind != OK && removed.kind == OK) listed = remove_from_catalogue(line, place);
    if (listed.kind != OK)
        fprintf(line->messages, "warning: the catalogue was not updated (%s): %s\n",
                command_again(place->results, "reindex").text, text_visible(listed.text, line->arena));
    return removed;
}

static Error remove_campaign(const CommandLine *line, const CampaignPlace *place)
{
    Lock lock;
    bool yes = false;
    TRY(remove_ask(line, place, &yes));
    if (!yes) {
        fprintf(line->messages, "%s is kept\n", place->name);
        return error_none();
    }
    TRY(campaign_refuse_network(place->folder, switch_given(line, "shared-fs")));
    TRY(campaign_lock(place->folder, place->name, line->arena, &lock));
    const Error error = remove_locked(line, place, &lock);
    lock_release(&lock);
    if (error.kind == OK) fprintf(line->out, "removed %s\n", place->name);
    return error;
}

// A link instead of a campaign: only the link is removed, and its target is not read.
static bool remove_finds_link(const CommandLine *line, const char *name, CampaignPlace *place)
{
    *place = (CampaignPlace){.results = line->results, .name = name};
    return campaign_folder(line->results, name, line->arena, &place->folder).kind == OK && file_is_link(place->folder);
}

static Error remove_link(const CommandLine *line, const CampaignPlace *place)
{
    if (!switch_given(line, "yes"))
        return error_make(ERROR_USAGE, "rm of %.100s, which is a link, needs --yes; its target is kept", place->name);
    TRY(file_remove(place->folder));
    fprintf(line->out, "removed the link %s\n", place->name);
    return remove_from_catalogue(line, place);
}

static Error remove_run(const CommandLine *line)
{
    CampaignPlace *places = ARENA_NEW(line->arena, CampaignPlace, line->n_arguments);
    bool *link = ARENA_NEW(line->arena, bool, line->n_arguments);
    for (int i = 0; i < line->n_arguments; i++) {
        link[i] = remove_finds_link(line, line->arguments[i], &places[i]);
        if (!link[i]) TRY(campaign_find(line, line->arguments[i], &places[i]));
    }
    for (int i = 0; i < line->n_arguments; i++)
        TRY(link[i] ? remove_link(line, &places[i]) : remove_campaign(line, &places[i]));
    return error_none();
}

// ---- gc -------------------------------------------------------------------------------------------------------------

typedef struct GarbageCount {
    int64_t bytes;
    int places;
} GarbageCount;

static void garbage_tell(const CommandLine *line, const char *path, const char *what, int64_t bytes,
                         GarbageCount *count)
{
    fprintf(line->out, "%10s  %s: %s\n", text_bytes((double)bytes).text, text_visible(path, line->arena), what);
    count->bytes += bytes;
    count->places++;
}

// Reports something that can be removed; with --yes, removes it.
static Error garbage_drop(const CommandLine *line, const char *path, const char *what, GarbageCount *count)
{
    int64_t bytes = 0;
    TRY(folder_bytes(path, &bytes));
    garbage_tell(line, path, what, bytes, count);
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
        fprintf(line->messages, "%s is being made by %s: skipped\n", text_visible(path, line->arena), holder);
        return error_none();
    }
    const bool take = folder && switch_given(line, "yes");
    const Error taken = take ? lock_take(name, &lock) : error_none();
    if (taken.kind != OK) return file_missing(path) ? error_none() : taken;
    const Error error = garbage_drop(line, path, "left by a merge that crashed", count);
    lock_release(&lock);
    return error;
}

// A run that was killed before it made its database leaves a folder with the lock and nothing else. An empty folder may
// be the user's.
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
    if (holder[0] == '\0' && cleared) garbage_tell(line, path, "left by a run that crashed", bytes, count);
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
static Error garbage_pages(const CommandLine *line, const CampaignPlace *place, GarbageCount *count)
{
    const char *path = arena_format(line->arena, "%s/" CAMPAIGN_DATABASE, place->folder);
    int64_t bytes = 0;
    TRY(store_unused(place, line->arena, &bytes));
    if (bytes < 1 << 19) return error_none();
    fprintf(line->out, "%10s  %s: empty pages\n", text_bytes((double)bytes).text, text_visible(path, line->arena));
    if (switch_given(line, "yes")) TRY(store_compact(path, switch_given(line, "shared-fs")));
    count->bytes += bytes;
    count->places++;
    return error_none();
}

static Error garbage_of_campaign(const CommandLine *line, const CampaignPlace *place, GarbageCount *count)
{
    TRY(campaign_check_folders(place->folder, line->arena));
    const char *quarantine = arena_format(line->arena, "%s/" CAMPAIGN_QUARANTINE, place->folder);
    TRY(garbage_temporary(line, place->folder, count));
    TRY(garbage_temporary(line, arena_format(line->arena, "%s/" CAMPAIGN_SHARDS, place->folder), count));
    if (!file_missing(quarantine)) TRY(garbage_drop(line, quarantine, "damaged files that recovery set aside", count));
    return garbage_pages(line, place, count);
}

// With --yes the rows are deleted in one transaction, then the files, under the same lock: a run that started in between
// would use the same names for its shards.
static Error garbage_forget_shards(const CommandLine *line, const CampaignPlace *place, const Spec *spec,
                                   UnwantedShards *shards, Lock *lock)
{
    CampaignEdit edit;
    TRY(edit_begin(place, switch_given(line, "shared-fs"), line->arena, &edit));
    *lock = edit_keep_lock(&edit);
    Error error = unwanted_list(spec, edit.store.database, line->arena, shards);
    if (error.kind == OK) error = unwanted_forget(edit.store.database);
    return edit_end(&edit, error);
}

static Error garbage_shards(const CommandLine *line, const CampaignPlace *place, GarbageCount *count)
{
    StoredCampaign campaign;
    UnwantedShards shards = {.count = 0};
    Lock lock = {.descriptor = -1};
    TRY(campaign_open(place->results, place->name, line->arena, &campaign));
    Error error = unwanted_list(&campaign.spec, campaign.database, line->arena, &shards);
    campaign_close(&campaign);
    if (error.kind == OK && shards.count > 0 && switch_given(line, "yes"))
        error = garbage_forget_shards(line, place, &campaign.spec, &shards, &lock);
    for (int64_t i = 0; i < shards.count && error.kind == OK; i++)
        error =
            garbage_drop(line, arena_format(line->arena, "%s/" CAMPAIGN_SHARDS "/%s", place->folder, shards.names[i]),
                         "arrays that its spec no longer asks for", count);
    lock_release(&lock);
    return error;
}

static Error garbage_locked(const CommandLine *line, const CampaignPlace *place, GarbageCount *count)
{
    Lock lock;
    TRY(campaign_refuse_network(place->folder, switch_given(line, "shared-fs")));
    TRY(campaign_lock(place->folder, place->name, line->arena, &lock));
    const Error error = garbage_of_campaign(line, place, count);
    lock_release(&lock);
    return error;
}

// A campaign that is being run is skipped: its .tmp files are in use.
static Error garbage_campaign(const CommandLine *line, const CampaignPlace *place, GarbageCount *count)
{
    char holder[160];
    TRY(lock_holder(arena_format(line->arena, "%s/" CAMPAIGN_LOCK, place->folder), holder, sizeof holder));
    if (holder[0] != '\0') {
        fprintf(line->messages, "%s is being run by %s: skipped\n", place->name, holder);
        return error_none();
    }
    TRY(switch_given(line, "yes") ? garbage_locked(line, place, count) : garbage_of_campaign(line, place, count));
    return garbage_shards(line, place, count);
}

// The campaign, and those that verify and compare made of it.
static Error garbage_with_made(const CommandLine *line, const CampaignPlace *place, GarbageCount *count)
{
    CampaignMade *made;
    int n_made;
    TRY(garbage_campaign(line, place, count));
    TRY(campaign_made(place, line->arena, &made, &n_made));
    for (int i = 0; i < n_made; i++) TRY(garbage_campaign(line, &made[i].place, count));
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
        const CampaignPlace place = {.results = line->results,
                                     .name = names[i],
                                     .folder = arena_format(line->arena, "%s/%s", line->results, names[i])};
        const Error error = garbage_with_made(line, &place, count);
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
        CampaignPlace place;
        TRY(campaign_find(line, line->arguments[i], &place));
        TRY(garbage_with_made(line, &place, &count));
    }
    if (count.places == 0)
        fputs("nothing to free\n", line->out);
    else if (switch_given(line, "yes"))
        fprintf(line->out, "freed %s\n", text_bytes((double)count.bytes).text);
    else
        fprintf(line->out, "%s would be freed by gc --yes\n", text_bytes((double)count.bytes).text);
    return error_none();
}

// ---- the commands ---------------------------------------------------------------------------------------------------

static const Switch remove_rows[] = {{"yes", SWITCH_FLAG, NULL, 0, 0, "remove without asking"}};
static const Switches remove_switches = {remove_rows, 1};
static const Switch garbage_rows[] = {
    {"yes", SWITCH_FLAG, NULL, 0, 0, "remove the listed files; without --yes gc only lists them"}};
static const Switches garbage_switches = {garbage_rows, 1};

const Command command_rm = {
    .name = "rm",
    .arguments = "CAMPAIGN...",
    .doc = "remove campaigns and what verify and compare made of them, after asking; never one that runs",
    .examples = "  hopscotch rm raibert_gains/verify/trial_41\n"
                "  hopscotch rm first_try second_try --yes\n",
    .least = 1,
    .most = 1024,
    .switches = {&remove_switches, &switches_shared_fs},
    .run = remove_run,
};

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
