// Finds stored campaigns by name or path, and their trials by id or name.
#include "../trials/rank.h"
#include "../ground/rows.h"
#include "store.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

// ---- campaigns ------------------------------------------------------------------------------------------------------

static bool campaign_is_folder(const char *folder, Arena *arena)
{
    return file_exists(arena_format(arena, "%s/" CAMPAIGN_DATABASE, folder));
}

Error campaign_names(const char *results, Arena *arena, const char *const **names, int *count)
{
    char **entries = NULL;
    int n_entries = 0;
    *count = 0;
    *names = NULL;
    if (!file_exists(results)) return error_none();
    TRY(folder_list(results, arena, &entries, &n_entries));
    const char **found = ARENA_NEW(arena, const char *, n_entries + 1);
    for (int i = 0; i < n_entries; i++) {
        if (entries[i][0] == '.') continue; // a folder that rm removes or merge makes
        if (campaign_is_folder(arena_format(arena, "%s/%s", results, entries[i]), arena))
            found[(*count)++] = entries[i];
    }
    *names = found;
    return error_none();
}

static Error campaign_unknown(const char *results, const char *text, Arena *arena)
{
    const char *const *names;
    int count;
    TRY(campaign_names(results, arena, &names, &count));
    const char *nearest = nearest_name(text, names, count), *slash = strchr(text, '/');
    for (int i = 0; i < count && slash != NULL; i++) {
        const bool is_its = strncmp(names[i], text, (size_t)(slash - text)) == 0 && names[i][slash - text] == '\0';
        if (is_its && slash[1] != '\0' && slash[1 + strspn(slash + 1, "0123456789/")] == '\0')
            return error_make(ERROR_USER,
                              "'%.100s' is no campaign: after a name stands one number, the trial's, as in %.100s/41, "
                              "for commands that take a trial; `verify` takes --trial 41, `tell` replicate=0 behind it",
                              text, names[i]);
        if (is_its)
            return error_make(
                ERROR_USER, "there is no campaign '%.100s', but there is %.100s: write that, or %.100s/41 for a trial",
                text, names[i], names[i]);
    }
    const char *swept = NULL;
    int n_swept = 0;
    for (int i = 0; i < count && slash == NULL; i++) {
        if (strncmp(names[i], text, strlen(text)) != 0 || names[i][strlen(text)] != '.') continue;
        if (n_swept++ == 0) swept = names[i];
    }
    if (n_swept > 0)
        return error_make(
            ERROR_USER,
            "there is no campaign '%.100s', but there are %d of a sweep, %.128s for instance; a shell names "
            "all of them by %.200s/%.100s.*",
            text, n_swept, swept, results, text);
    if (slash == NULL && file_exists(parts_root(results, text, arena)))
        return error_make(ERROR_USER, "%.128s is still in parts: `%s` joins those that are done", text,
                          command_again(results, "gather %.128s", text).text);
    if (count == 0)
        return error_make(ERROR_USER,
                          "there is no campaign under %.200s; run a spec first, or name the root folder with --results",
                          results);
    if (nearest != NULL)
        return error_make(ERROR_USER, "there is no campaign '%.100s' under %.200s; did you mean '%.100s'?", text,
                          results, nearest);
    return error_make(ERROR_USER, "there is no campaign '%.100s' under %.100s; %s lists them", text, results,
                      command_again(results, "status").text);
}

static Error campaign_check_link(const char *folder)
{
    if (!file_is_link(folder)) return error_none();
    return error_make(ERROR_USER,
                      "%.300s is a link, and none is followed below a results root: name the folder of the campaign "
                      "that it leads to with --results",
                      folder);
}

// A path comes from the shell's completion ("results/gains"): a slash makes it one. It is split in place.
static Error campaign_at_path(char *path, Arena *arena, CampaignLocation *location, bool *found)
{
    char *slash = strrchr(path, '/');
    *found = slash != NULL && campaign_is_folder(path, arena);
    if (!*found) return error_none();
    location->folder = arena_copy(arena, path);
    location->name = slash + 1;
    *slash = '\0';
    location->results = slash == path ? "/" : path;
    TRY(nofollow_add_root(location->results));
    return campaign_check_link(location->folder);
}

// "gains/verify/trial_41": below the results root.
static Error campaign_below(const char *results, const char *name, Arena *arena, CampaignLocation *location,
                            bool *found)
{
    *found = false;
    if (name[0] == '/' || strchr(name, '/') == NULL) return error_none();
    return campaign_at_path(arena_format(arena, "%s/%s", results, name), arena, location, found);
}

// Error: it is unknown whether the campaign is there, because the disk fails or the folder may not be read.
static Error campaign_look(const char *folder, Arena *arena, bool *there)
{
    const char *database = arena_format(arena, "%s/" CAMPAIGN_DATABASE, folder);
    int64_t bytes;
    *there = file_exists(database) || !file_missing(database);
    return *there && !file_exists(database) ? file_size(database, &bytes) : error_none();
}

Error campaign_check_inside(const char *results, const CampaignLocation *location, Arena *arena)
{
    const char *root = folder_absolute(results, arena), *at = folder_absolute(location->results, arena);
    const size_t length = strcmp(root, "/") == 0 ? 0 : strlen(root);
    if (strncmp(at, root, length) == 0 && (at[length] == '\0' || at[length] == '/')) return error_none();
    return error_make(ERROR_USER, "%.200s lies outside of the results root %.200s: name its root with --results",
                      location->folder, results);
}

Error find_campaign(const char *results, const char *text, Arena *arena, CampaignLocation *location)
{
    const char *folder;
    char *name = arena_copy(arena, text);
    for (size_t length = strlen(name); length > 1 && name[length - 1] == '/'; length--) name[length - 1] = '\0';
    bool found = false, there = false;
    TRY(campaign_at_path(name, arena, location, &found));
    if (!found) TRY(campaign_below(results, name, arena, location, &found));
    if (found) return error_none();
    if (strchr(name, '/') != NULL) TRY(campaign_check_link(name));
    if (strchr(name, '/') != NULL) return campaign_unknown(results, text, arena);
    TRY(campaign_folder(results, name, arena, &folder));
    TRY(campaign_check_link(folder));
    TRY(campaign_look(folder, arena, &there));
    if (!there) return campaign_unknown(results, name, arena);
    *location = (CampaignLocation){.results = results, .name = name, .folder = folder};
    return error_none();
}

// ---- what verify and compare run for a campaign ---------------------------------------------------------------------

enum { CAMPAIGN_NESTED_MOST = 100000, CAMPAIGN_NESTED_DEPTH = 4 };

const char *campaign_nested_root(const CampaignLocation *location, Arena *arena)
{
    return arena_format(arena, "%s/" CAMPAIGN_NESTED, location->folder);
}

const char *campaign_nested_name(const CampaignLocation *of, const char *name, Arena *arena)
{
    return arena_format(arena, "%s/" CAMPAIGN_NESTED "/%s", of->name, name);
}

// Those of `location`, which is called `name`, each followed by what was run for it. nested NULL: they are counted.
static Error campaign_add_nested(const CampaignLocation *location, const char *name, int depth, int most, Arena *arena,
                                 NestedCampaign *nested, int *count)
{
    const char *root = campaign_nested_root(location, arena);
    const char *const *names;
    int n_names;
    TRY(campaign_names(root, arena, &names, &n_names));
    for (int i = 0; i < n_names && *count < most; i++) {
        const NestedCampaign one = {
            .location = {.results = root, .name = names[i], .folder = arena_format(arena, "%s/%s", root, names[i])},
            .name = arena_format(arena, "%s/" CAMPAIGN_NESTED "/%s", name, names[i])};
        if (nested != NULL) nested[*count] = one;
        (*count)++;
        if (depth < CAMPAIGN_NESTED_DEPTH)
            TRY(campaign_add_nested(&one.location, one.name, depth + 1, most, arena, nested, count));
    }
    return error_none();
}

Error campaign_nested(const CampaignLocation *location, Arena *arena, NestedCampaign **nested, int *count)
{
    int room = 0;
    *count = 0;
    *nested = NULL;
    TRY(campaign_add_nested(location, location->name, 1, CAMPAIGN_NESTED_MOST, arena, NULL, &room));
    if (room == 0) return error_none();
    *nested = ARENA_NEW(arena, NestedCampaign, room);
    return campaign_add_nested(location, location->name, 1, room, arena, *nested,
                               count); // others may have come meanwhile
}

Error campaign_nested_is_idle(const CampaignLocation *location, Arena *arena)
{
    NestedCampaign *nested;
    char holder[160];
    int count;
    TRY(campaign_nested(location, arena, &nested, &count));
    for (int i = 0; i < count; i++) {
        TRY(lock_holder(arena_format(arena, "%s/" CAMPAIGN_LOCK, nested[i].location.folder), holder, sizeof holder));
        if (holder[0] != '\0')
            return error_make(ERROR_USER,
                              "%.100s works in %.150s, which was made from it: remove %.100s when that has ended",
                              holder, nested[i].name, location->name);
    }
    return error_none();
}

static Error campaign_read_text(Database *database, Arena *arena, StoredText *text)
{
    ProgramNoted program = {NULL, NULL};
    if (!database_has(database, "campaign", NULL)) return error_none();
    TRY(store_text(database, "SELECT spec FROM campaign", arena, &text->given));
    TRY(store_text(database, "SELECT resolved FROM campaign", arena, &text->resolved));
    TRY(program_noted(database, arena, &program));
    text->folder = program.folder;
    TRY(overrides_read(database, arena, &text->set));
    return error_none();
}

Error campaign_text(const CampaignLocation *location, Arena *arena, StoredText *text)
{
    Database *database;
    *text = (StoredText){.given = NULL};
    TRY(store_peek(location, arena, &database));
    const Error error = campaign_read_text(database, arena, text);
    store_leave(database);
    return error;
}

static Error campaign_read_canonical(Database *database, Arena *arena, const char **canonical)
{
    if (!database_has(database, "campaign", NULL)) return error_none();
    return store_text(database, "SELECT canonical FROM campaign", arena, canonical);
}

Error campaign_canonical(const CampaignLocation *location, Arena *arena, const char **canonical)
{
    Database *database;
    *canonical = NULL;
    TRY(store_peek(location, arena, &database));
    const Error error = campaign_read_canonical(database, arena, canonical);
    store_leave(database);
    return error;
}

// Trials that have names besides their ids.
static const struct {
    const char *name, *where, *none;
    bool reversed; // in the order of worst, else of best
} trial_names[] = {
    {"best", "fitness IS NOT NULL", "no trial has a fitness", false},
    {"worst", "fitness IS NOT NULL", "no trial has a fitness", true},
    {"failed", "failure <> 'none'", "no trial failed", false}, // the first by id
};

static Error trial_of_name(const StoredCampaign *campaign, int which, Arena *arena, int64_t *trial)
{
    RankText order = {"id"};
    const bool ranked = strcmp(trial_names[which].name, "failed") != 0;
    if (ranked && spec_several(&campaign->spec))
        return error_make(ERROR_USER, "%.100s has several objectives and so no %s trial; %s shows its front",
                          campaign->name, trial_names[which].name,
                          command_again(folder_of(campaign->folder, arena), "best %.100s", campaign->name).text);
    if (trial_names[which].reversed)
        TRY(kept_refuse(campaign->database, campaign->name, "its worst trial may have none", arena));
    if (ranked)
        order = trial_names[which].reversed ? rank_order_of_worst(&campaign->spec)
                                            : rank_order(&campaign->spec, RANK_COLUMNS_MAX);
    const char *sql = arena_format(arena, "SELECT id FROM trials WHERE %s ORDER BY %s, id LIMIT 1",
                                   trial_names[which].where, order.text);
    TRY(store_integer(campaign->database, sql, -1, trial));
    if (*trial >= 0) return error_none();
    return error_make(ERROR_USER, "%.100s has no %s trial: %s", campaign->name, trial_names[which].name,
                      trial_names[which].none);
}

enum { TRIAL_NAMES = sizeof trial_names / sizeof *trial_names };

// Its index among the names; TRIAL_NAMES: it is none.
static int trial_name_find(const char *text)
{
    int which = 0;
    while (which < TRIAL_NAMES && strcmp(text, trial_names[which].name) != 0) which++;
    return which;
}

bool trial_is_named(const char *text)
{
    const size_t digits = strspn(text, "0123456789");
    return (digits > 0 && digits <= 18 && text[digits] == '\0') || trial_name_find(text) < TRIAL_NAMES;
}

Error campaign_failures(Database *database, FILE *out)
{
    bool any = false;
    Cursor failures = sums_of_failures(database);
    for (; cursor_next(&failures); any = true) {
        fprintf(out, "%s%s ", any ? ", " : "", text_count(cell_integer(&failures, 1)).text);
        put_visible(out, cell_text(&failures, 0));
    }
    if (!any) fputs("none", out);
    return cursor_close(&failures);
}

Error find_trial(const StoredCampaign *campaign, const char *text, Arena *arena, int64_t *trial)
{
    const int which = trial_name_find(text);
    *trial = which == TRIAL_NAMES ? strtoll(text, NULL, 10) : -1;
    return which == TRIAL_NAMES ? error_none() : trial_of_name(campaign, which, arena, trial);
}
