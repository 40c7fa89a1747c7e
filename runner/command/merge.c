// hopscotch merge: joins campaigns of one spec, e.g. of a run on two machines.
#include "command.h"

#include <string.h>

static Error merge_find(const CommandLine *line, CampaignLocation *locations)
{
    for (int i = 0; i < line->n_arguments; i++) {
        TRY(campaign_find(line, line->arguments[i], &locations[i]));
        for (int k = 0; k < i; k++) {
            if (strcmp(locations[k].folder, locations[i].folder) == 0)
                return error_make(ERROR_USER, "%.100s is named twice", locations[i].name);
        }
    }
    return error_none();
}

static Error merge_run(const CommandLine *line)
{
    CampaignLocation *locations = ARENA_NEW(line->arena, CampaignLocation, line->n_arguments);
    const char *name = switch_text(line, "into", NULL);
    const RunOptions options = {.results = line->results,
                                .shared_fs = switch_given(line, "shared-fs"),
                                .resume_only = true,
                                .messages = line->messages};
    MergeReport report;
    if (name == NULL) return error_make(ERROR_USAGE, "merge needs a name for the new campaign: --into NAME");
    TRY(merge_find(line, locations));
    TRY(merge_campaigns(locations, line->n_arguments, name, &options, line->arena, &report));
    catalogue_note(line->results, options.shared_fs, name, line->arena);
    fprintf(line->out, "%s: %s trials of %s, %s of others; trials in several campaigns have the same bits\n", name,
            text_count(report.trials).text, report.largest, text_count(report.added).text);
    if (report.added > 0)
        fprintf(line->out, "%s resume %s%s continues it and records the missing arrays\n", command_program(line->arena),
                name, command_results_option(line->results, line->arena));
    return error_none();
}

static const Switch merge_rows[] = {{"into", SWITCH_TEXT, "NAME", 0, 0, "name of the new campaign"}};
static const Switches merge_switches = {merge_rows, 1};

const Command command_merge = {
    .name = "merge",
    .arguments = "CAMPAIGN CAMPAIGN...",
    .doc = "join campaigns of one spec; refused if a trial in two of them differs in any bit",
    .examples = "  hopscotch merge gains_laptop gains_server --into gains\n",
    .least = 2,
    .most = 16,
    .switches = {&merge_switches, &switches_shared_fs},
    .run = merge_run,
};
