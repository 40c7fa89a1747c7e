// hopscotch rm: first renames the campaign to .removed-NAME in one step, so that a crash never leaves a piece of a
// campaign under its name; then updates the catalogue and removes the files. gc removes what a crash leaves.
#include "command.h"

#include <string.h>
#include <unistd.h>

static Error remove_count(const CampaignLocation *location, Arena *arena, int64_t *trials)
{
    Database *database;
    *trials = 0;
    TRY(store_peek(location, arena, &database));
    const Error error = trials_count(database, trials);
    store_leave(database);
    return error;
}

// Shows what will be removed. *yes: the user agreed, or gave --yes.
static Error remove_ask(const CommandLine *line, const CampaignLocation *location, bool *yes)
{
    NestedCampaign *nested;
    int n_nested;
    int64_t trials = 0, bytes = 0;
    char answer[16] = "";
    const bool readable = remove_count(location, line->arena, &trials).kind == OK;
    TRY(folder_bytes(location->folder, &bytes));
    *yes = switch_given(line, "yes");
    if (*yes) return error_none();
    TRY(campaign_nested(location, line->arena, &nested, &n_nested));
    const char *with = n_nested == 0 ? ""
                                     : arena_format(line->arena, ", with %d campaign%s of verify and compare", n_nested,
                                                    n_nested == 1 ? "" : "s");
    if (!isatty(STDIN_FILENO))
        return error_make(ERROR_USAGE, "rm of %.100s (%s trials, %s%s) needs --yes where the input is not a terminal",
                          location->name, text_count(trials).text, text_bytes((double)bytes).text, with);
    if (readable)
        fprintf(line->messages, "remove %s: %s trials, %s%s? [y/N] ", location->name, text_count(trials).text,
                text_bytes((double)bytes).text, with);
    else
        fprintf(line->messages, "remove %s, which can't be read, %s%s? [y/N] ", location->name,
                text_bytes((double)bytes).text, with);
    fflush(line->messages);
    *yes = fgets(answer, sizeof answer, stdin) != NULL && (answer[0] == 'y' || answer[0] == 'Y');
    return error_none();
}

// A free name: the folder of an earlier removal may still be there.
static const char *remove_aside(const CampaignLocation *location, Arena *arena)
{
    const char *aside = arena_format(arena, "%s/" REMOVE_PREFIX "%s", location->results, location->name);
    for (int i = 1; !file_missing(aside) && i < 10000; i++)
        aside = arena_format(arena, "%s/" REMOVE_PREFIX "%s.%d", location->results, location->name, i);
    return aside;
}

static void remove_from_catalogue(const CommandLine *line, const CampaignLocation *location)
{
    catalogue_note(location->results, switch_given(line, "shared-fs"), location->name, line->arena);
}

// The campaign's lock must be held, so that no other process runs it.
static Error remove_locked(const CommandLine *line, const CampaignLocation *location, const Lock *lock)
{
    const char *aside = remove_aside(location, line->arena);
    TRY(campaign_nested_is_idle(location, line->arena));
    TRY(lock_rename(lock, location->folder, aside));
    const Error removed = folder_remove(aside, line->arena);
    remove_from_catalogue(line, location);
    return removed;
}

static Error remove_campaign(const CommandLine *line, const CampaignLocation *location)
{
    Lock lock;
    bool yes = false;
    TRY(remove_ask(line, location, &yes));
    if (!yes) {
        fprintf(line->messages, "%s is kept\n", location->name);
        return error_none();
    }
    TRY(campaign_refuse_network(location->folder, switch_given(line, "shared-fs")));
    TRY(campaign_lock(location->folder, location->name, line->arena, &lock));
    const Error error = remove_locked(line, location, &lock);
    lock_release(&lock);
    if (error.kind == OK) fprintf(line->out, "removed %s\n", location->name);
    return error;
}

// A link instead of a campaign: only the link is removed, and its target is not read.
static bool remove_finds_link(const CommandLine *line, const char *name, CampaignLocation *location)
{
    *location = (CampaignLocation){.results = line->results, .name = name};
    return campaign_folder(line->results, name, line->arena, &location->folder).kind == OK &&
           file_is_link(location->folder);
}

static Error remove_link(const CommandLine *line, const CampaignLocation *location)
{
    if (!switch_given(line, "yes"))
        return error_make(ERROR_USAGE, "rm of %.100s, which is a link, needs --yes; its target is kept",
                          location->name);
    TRY(file_remove(location->folder));
    fprintf(line->out, "removed the link %s\n", location->name);
    remove_from_catalogue(line, location);
    return error_none();
}

static Error remove_run(const CommandLine *line)
{
    CampaignLocation *locations = ARENA_NEW(line->arena, CampaignLocation, line->n_arguments);
    bool *link = ARENA_NEW(line->arena, bool, line->n_arguments);
    for (int i = 0; i < line->n_arguments; i++) {
        link[i] = remove_finds_link(line, line->arguments[i], &locations[i]);
        if (link[i]) continue;
        TRY(campaign_find(line, line->arguments[i], &locations[i]));
        TRY(campaign_check_inside(line->results, &locations[i], line->arena));
    }
    for (int i = 0; i < line->n_arguments; i++)
        TRY(link[i] ? remove_link(line, &locations[i]) : remove_campaign(line, &locations[i]));
    return error_none();
}

static const Switch remove_rows[] = {{"yes", SWITCH_FLAG, NULL, 0, 0, "remove without asking"}};
static const Switches remove_switches = {remove_rows, 1};

const Command command_rm = {
    .name = "rm",
    .arguments = "CAMPAIGN...",
    .doc = "remove campaigns, with their campaigns of verify and compare, after asking; not while they run",
    .examples = "  hopscotch rm raibert_gains/verify/trial_41\n"
                "  hopscotch rm first_try second_try --yes\n",
    .least = 1,
    .most = 1024,
    .switches = {&remove_switches, &switches_shared_fs},
    .run = remove_run,
};
