// hopscotch overview: writes one page about all campaigns of a results root.
#include "command.h"

#include <string.h>

static Error overview_read(const CommandLine *line, StatusEntry **entries, int *count)
{
    const char *const *names;
    if (file_missing(line->results))
        return error_make(ERROR_USER, "there is no folder %.200s; name the root folder with --results",
                          text_visible(line->results, line->arena));
    TRY(campaign_names(line->results, line->arena, &names, count));
    *entries = ARENA_NEW(line->arena, StatusEntry, *count + 1);
    for (int i = 0; i < *count; i++)
        (*entries)[i] = (StatusEntry){.name = names[i], .location = campaign_location(line, names[i])};
    return catalogue_read(line->results, *entries, *count, names, *count, line->arena);
}

static bool overview_is_beside(const CommandLine *line, const char *path)
{
    const char *folder = folder_absolute(folder_of(path, line->arena), line->arena);
    return strcmp(path, "-") != 0 && strcmp(folder, folder_absolute(line->results, line->arena)) == 0;
}

// *over: no campaign is running, so the page is the last one.
static Error overview_once(const CommandLine *line, bool *over)
{
    StatusEntry *entries = NULL;
    CommandOutput output;
    int count, running = 0;
    const char *path = switch_text(line, "output", arena_format(line->arena, "%s/" CATALOGUE_PAGE, line->results));
    OverviewOptions options = {.results = line->results, .beside = overview_is_beside(line, path)};
    TRY(overview_read(line, &entries, &count));
    for (int i = 0; i < count; i++) running += entries[i].error == NULL && entries[i].report.holder[0] != '\0';
    *over = running == 0;
    if (switch_given(line, "follow") && !*over) options.follow = (int)switch_integer(line, "every", LIVE_PAGE_EVERY);
    TRY(command_output_start(path, &output));
    return command_output_finish(line, &output,
                                 overview_write(&options, entries, count, output.stream.out, line->arena));
}

static Error overview_run(const CommandLine *line)
{
    bool over;
    return switch_given(line, "follow") ? live_follow(line, overview_once) : overview_once(line, &over);
}

static const Switch overview_switch_rows[] = {
    {"follow", SWITCH_FLAG, NULL, 0, 0,
     "write the page again while any campaign runs; an open page shows what changed"},
    {"every", SWITCH_INTEGER, "SECONDS", 1, 3600, "least time between two pages of --follow (default 5)"},
    {"output", SWITCH_FILE, "FILE.html|htm", 0, 0,
     "output file, also as -o (default index.html in the results root; - is standard output)"},
};
static const Switches overview_switches = {overview_switch_rows, 3};

const Command command_overview = {
    .name = "overview",
    .arguments = "",
    .doc = "write a page about all campaigns: state, best, convergence, what differs between their specs",
    .examples = "  hopscotch overview                        (writes results/index.html)\n"
                "  hopscotch overview --results /data/runs\n"
                "  hopscotch overview --follow               (while campaigns run)\n",
    .switches = {&overview_switches},
    .run = overview_run,
};
