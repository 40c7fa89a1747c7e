// Opens the campaigns and trials that the arguments of a command name.
#include "command.h"

#include <stdlib.h>
#include <string.h>

Error campaign_find(const CommandLine *line, const char *text, CampaignLocation *location)
{
    return find_campaign(line->results, text, line->arena, location);
}

CampaignLocation campaign_location(const CommandLine *line, const char *name)
{
    return (CampaignLocation){
        .results = line->results, .name = name, .folder = arena_format(line->arena, "%s/%s", line->results, name)};
}

static bool campaign_is_of_catalogue(const char *text)
{
    const char *slash = strrchr(text, '/'), *name = slash != NULL ? slash + 1 : text;
    return slash != NULL && campaign_name_taken(name);
}

Error campaign_arguments(const CommandLine *line, int least, const char *const **names, int *count)
{
    const char **chosen = ARENA_NEW(line->arena, const char *, line->n_arguments + 1);
    *count = 0;
    *names = chosen;
    for (int i = 0; i < line->n_arguments; i++) {
        if (!campaign_is_of_catalogue(line->arguments[i])) chosen[(*count)++] = line->arguments[i];
    }
    if (*count >= least) return error_none();
    return error_make(ERROR_USAGE, "%s needs %s: files of the catalogue are no campaigns", line->command->name,
                      line->command->arguments);
}

Error campaign_open_named(const CommandLine *line, const char *text, StoredCampaign *campaign)
{
    CampaignLocation location;
    TRY(campaign_find(line, text, &location));
    return campaign_open(location.results, location.name, line->arena, campaign);
}

Error command_program_remark(const CommandLine *line, const StoredCampaign *campaign)
{
    if (!campaign->spec.model->runs_program || !switch_given(line, "allow-programs")) return error_none();
    return program_files_remark(campaign->database, campaign->folder,
                                switch_text(line, "program-folder", campaign->spec.folder), line->messages,
                                line->arena);
}

Error campaign_open_trial(const CommandLine *line, const char *text, StoredCampaign *campaign, int64_t *trial)
{
    const char *slash = strrchr(text, '/');
    if (slash == NULL || !trial_is_named(slash + 1))
        return error_make(ERROR_USAGE,
                          "'%.100s' is not a trial; write CAMPAIGN/TRIAL, e.g. %.100s/41, or best, worst or failed "
                          "instead of the number",
                          text, slash == NULL ? text : "raibert_gains");
    char *name = arena_copy(line->arena, text);
    name[slash - text] = '\0';
    TRY(campaign_open_named(line, name, campaign));
    const Error error = find_trial(campaign, slash + 1, line->arena, trial);
    if (error.kind != OK) campaign_close(campaign);
    return error;
}

static bool open_number(const char *text, int64_t *number)
{
    const size_t digits = strspn(text, "0123456789");
    *number = strtoll(text, NULL, 10);
    return digits > 0 && digits <= 18 && text[digits] == '\0';
}

// Two numbers at the end are a trial and a replicate, unless the first is the name of a campaign: in results/gains/41
// the campaign is a path.
Error campaign_open_replicate(const CommandLine *line, const char *text, StoredCampaign *campaign, int64_t *trial,
                              int *replicate, bool *named)
{
    int64_t number;
    CampaignLocation location;
    char *name = arena_copy(line->arena, text), *last = strrchr(name, '/');
    *replicate = 0;
    *named = false;
    if (last != NULL && open_number(last + 1, &number)) {
        *last = '\0';
        const char *middle = strrchr(name, '/');
        const bool two = middle != NULL && trial_is_named(middle + 1);
        if (two && number <= INT32_MAX && campaign_find(line, name, &location).kind != OK) {
            *replicate = (int)number;
            *named = true;
            return campaign_open_trial(line, name, campaign, trial);
        }
    }
    return campaign_open_trial(line, text, campaign, trial);
}
