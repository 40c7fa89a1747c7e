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

static Error report_command(const CommandLine *line, const StoredCampaign *campaign)
{
    PlotData data;
    CommandOutput output;
    const BackendOptions backend = command_backend(line, "cpu");
    const char *path = switch_text(line, "output", arena_format(line->arena, "%s/report.html", campaign->folder));
    TRY(plot_data_read(campaign, 0, NULL, line->arena, &data));
    TRY(command_output_start(path, &output));
    const int motions = (int)switch_integer(line, "motions", REPORT_MOTIONS);
    TRY(command_output_finish(line, &output,
                              report_write(campaign, &data, &backend, motions, output.stream.out, line->arena)));
    if (strcmp(path, "-") != 0 && data.n_best > 0 && !campaign->spec.model->by_hand && !spec_several(&campaign->spec))
        report_print_next(line, campaign);
    return error_none();
}

static Error report_run(const CommandLine *line)
{
    StoredCampaign campaign;
    TRY(campaign_open_named(line, line->arguments[0], &campaign));
    const Error error = report_command(line, &campaign);
    campaign_close(&campaign);
    return error;
}

static const Switch report_switch_rows[] = {
    {"motions", SWITCH_INTEGER, "N", 0, PLOT_BEST,
     "best trials whose motions are in the page, with two of each kind of failure (default 20; 0: only the best)"},
    {"output", SWITCH_FILE, "FILE.html|htm", 0, 0,
     "output file, also as -o (default report.html in the campaign's folder; - is standard output)"},
};
static const Switches report_switches = {report_switch_rows, 2};

const Command command_report = {
    .name = "report",
    .arguments = "CAMPAIGN",
    .doc = "write a page about a campaign: best trials, plots, the best motion, timings",
    .examples = "  hopscotch report raibert_gains                  (writes results/raibert_gains/report.html)\n"
                "  hopscotch report raibert_gains -o gains.html\n",
    .least = 1,
    .most = 1,
    .switches = {&report_switches, &switches_backend},
    .run = report_run,
};
