// hopscotch plot: draws one of the report's plots as a picture.
#include "command.h"

static Error plot_command_draw(const CommandLine *line, const StoredCampaign *campaign, const PlotKind *kind)
{
    PlotData data;
    Figure room;
    const Figure *figure;
    CommandOutput output;
    const char *path = switch_text(line, "output", arena_format(line->arena, "%s-%s.svg", campaign->name, kind->name));
    const int objective = (int)switch_integer(line, "objective", 1) - 1;
    if (kind->whole && switch_given(line, "where"))
        return error_make(
            ERROR_USAGE,
            "--where: the plot %s is of all trials; leave it out, or draw another kind, e.g. --kind scatter",
            kind->name);
    TRY(command_figure(line, path, &room, &figure));
    TRY(command_report_rows(line, campaign));
    TRY(plot_data_read(campaign, objective, switch_text(line, "where", NULL), line->arena, &data));
    TRY(command_output_start(path, &output));
    return command_picture_finish(line, &output, (int)switch_integer(line, "dpi", PICTURE_DPI),
                                  plot_picture(&data, kind, figure, output.stream.out, line->arena));
}

static Error plot_run(const CommandLine *line)
{
    StoredCampaign campaign;
    TRY(campaign_open_named(line, line->arguments[0], &campaign));
    const PlotKind *kind = plot_kind_find(switch_text(line, "kind", "convergence"));
    const Error error = plot_command_draw(line, &campaign, kind);
    campaign_close(&campaign);
    return error;
}

static const Switch plot_switch_rows[] = {
    {"kind", SWITCH_CHOICE, PLOT_KIND_WORDS, 0, 0, "the plot (default convergence)"},
    {"objective", SWITCH_INTEGER, "N", 1, OBJECTIVES_MAX, "which objective to plot, of several (default 1)"},
    {"where", SWITCH_TEXT, "EXPRESSION", 0, 0,
     "which trials: comparisons of columns, and, or, not (not for convergence, gradient, pareto and timings)"},
    {"output", SWITCH_FILE, "FILE." PICTURE_ENDINGS, 0, 0,
     "output file, also as -o (default CAMPAIGN-KIND.svg; -: SVG to standard output); PDF and PNG need rsvg-convert"},
};
static const Switches plot_switches = {plot_switch_rows, 4};

const Command command_plot = {
    .name = "plot",
    .arguments = "CAMPAIGN",
    .doc = "draw one plot of a campaign as a picture",
    .examples =
        "  hopscotch plot raibert_gains --kind scatter -o scatter.svg\n"
        "  hopscotch plot kkt_pendulum_gains --kind pairs --where \"form = 0 and substeps = 1\" -o map.svg\n"
        "  hopscotch plot raibert_cmaes                    (convergence, to raibert_cmaes-convergence.svg)\n"
        "  hopscotch plot raibert_cmaes --width 85mm --font 8pt -o convergence.pdf     (one column of a paper)\n",
    .least = 1,
    .most = 1,
    .switches = {&plot_switches, &switches_figure},
    .run = plot_run,
};
