// hopscotch report: writes one page about a campaign.
#include "command.h"

#include <string.h>

enum { REPORT_MOTIONS = 20 };

// What follows a report: its best trial is verified.
static void report_print_next(const CommandLine *line, const StoredCampaign *campaign)
{
    const char *allow = command_allow(campaign->spec.model);
    fprintf(line->out, "next  %s verify %s%s%s\n", command_program(line->arena), campaign->name, allow,
            command_results_option(folder_of(campaign->folder, line->arena), line->arena));
}

// *over: no process runs the campaign, so the page is the last one.
static Error report_command(const CommandLine *line, const StoredCampaign *campaign, bool *over)
{
    PlotData data;
    CommandOutput output;
    StatusReport status;
    ReportOptions options = {.backend = command_backend(line, "cpu"),
                             .motions = (int)switch_integer(line, "motions", REPORT_MOTIONS)};
    const char *path = switch_text(line, "output", arena_format(line->arena, "%s/report.html", campaign->folder));
    const CampaignLocation location = campaign_location(line, line->arguments[0]);
    TRY(status_read(&location, line->arena, &status));
    *over = status.holder[0] == '\0';
    options.state = status.state;
    if (switch_given(line, "follow") && !*over) options.follow = (int)switch_integer(line, "every", LIVE_PAGE_EVERY);
    TRY(plot_data_read(campaign, 0, NULL, line->arena, &data));
    TRY(command_output_start(path, &output));
    TRY(command_output_finish(line, &output, report_write(campaign, &data, &options, output.stream.out, line->arena)));
    if (strcmp(path, "-") != 0 && data.n_best > 0 && !campaign->spec.model->by_hand && !spec_several(&campaign->spec) &&
        campaign->spec.n_cases == 0 && options.follow == 0)
        report_print_next(line, campaign);
    return error_none();
}

static Error report_once(const CommandLine *line, bool *over)
{
    StoredCampaign campaign;
    TRY(campaign_open_named(line, line->arguments[0], &campaign));
    const Error error = report_command(line, &campaign, over);
    campaign_close(&campaign);
    return error;
}

static Error report_run(const CommandLine *line)
{
    bool over;
    return switch_given(line, "follow") ? live_follow(line, report_once) : report_once(line, &over);
}

static const Switch report_switch_rows[] = {
    {"motions", SWITCH_INTEGER, "N", 0, PLOT_BEST,
     "best trials whose motions are in the page, with two of each kind of failure (default 20; 0: only the best)"},
    {"follow", SWITCH_FLAG, NULL, 0, 0,
     "write the page again while the campaign runs; an open page shows what changed"},
    {"every", SWITCH_INTEGER, "SECONDS", 1, 3600, "least time between two pages of --follow (default 5)"},
    {"output", SWITCH_FILE, "FILE.html|htm", 0, 0,
     "output file, also as -o (default report.html in the campaign's folder; - is standard output)"},
};
static const Switches report_switches = {report_switch_rows, 4};

const Command command_report = {
    .name = "report",
    .arguments = "CAMPAIGN",
    .doc = "write a page about a campaign: best trials, plots, the best motion, timings",
    .examples = "  hopscotch report raibert_gains                  (writes results/raibert_gains/report.html)\n"
                "  hopscotch report raibert_gains -o gains.html\n"
                "  hopscotch report raibert_cmaes --follow         (while it runs)\n",
    .least = 1,
    .most = 1,
    .switches = {&report_switches, &switches_backend},
    .run = report_run,
};
