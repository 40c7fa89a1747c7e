// hopscotch plot: draws one of the report's plots, or the motions of trials, as a picture.
#include "command.h"

#include <string.h>

// *axes <- --x, --y, --colour and --log; *given: whether there are any.
static Error plot_read_axes(const CommandLine *line, const PlotKind *kind, PlotColumns *axes, bool *given)
{
    static const char *const options[] = {"x", "y", "colour", "log"};
    const char *log = switch_text(line, "log", "");
    *axes = (PlotColumns){.x = switch_text(line, "x", NULL),
                          .y = switch_text(line, "y", NULL),
                          .colour = switch_text(line, "colour", NULL),
                          .log_x = strchr(log, 'x') != NULL,
                          .log_y = strchr(log, 'y') != NULL};
    *given = false;
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        if (!switch_given(line, options[i])) continue;
        *given = true;
        if (axes->x == NULL || kind != plot_kind_find("scatter"))
            return error_make(ERROR_USAGE, "--%s is of a plot of columns: add %s", options[i],
                              axes->x != NULL                     ? "--kind scatter"
                              : kind != plot_kind_find("scatter") ? "--kind scatter --x COLUMN"
                                                                  : "--x COLUMN");
    }
    return error_none();
}

static Error plot_command_draw(const CommandLine *line, const StoredCampaign *campaign, const PlotKind *kind)
{
    PlotData data;
    Figure room;
    const Figure *figure;
    PlotColumns axes;
    bool columns;
    CommandOutput output;
    const char *path = switch_text(line, "output", arena_format(line->arena, "%s-%s.svg", campaign->name, kind->name));
    const int objective = (int)switch_integer(line, "objective", 1) - 1;
    if (kind->whole && switch_given(line, "where"))
        return error_make(
            ERROR_USAGE,
            "--where: the plot %s is of all trials; leave it out, or draw another kind, e.g. --kind scatter",
            kind->name);
    TRY(plot_read_axes(line, kind, &axes, &columns));
    TRY(command_figure(line, path, &room, &figure));
    TRY(command_report_rows(line, campaign));
    TRY(plot_data_read(campaign, objective, switch_text(line, "where", NULL), line->arena, &data));
    if (columns) data.axes = &axes;
    TRY(command_output_start(path, &output));
    return command_picture_finish(line, &output, (int)switch_integer(line, "dpi", PICTURE_DPI),
                                  plot_picture(&data, kind, figure, output.stream.out, line->arena));
}

static Error plot_run(const CommandLine *line)
{
    StoredCampaign campaign;
    if (plot_is_of_motions(line)) return plot_motions(line);
    TRY(plot_without_motions(line));
    TRY(campaign_open_named(line, line->arguments[0], &campaign));
    const PlotKind *kind = plot_kind_find(switch_text(line, "kind", "convergence"));
    const Error error = plot_command_draw(line, &campaign, kind);
    campaign_close(&campaign);
    return error;
}

static const Switch plot_switch_rows[] = {
    {"kind", SWITCH_CHOICE, PLOT_KIND_WORDS, 0, 0, "the plot (default convergence)"},
    {"objective", SWITCH_INTEGER, "N", 1, OBJECTIVES_MAX, "which objective to plot, of several (default 1)"},
    {"x", SWITCH_TEXT, "COLUMN", 0, 0, "with --kind scatter: a dot per trial, this column on the horizontal axis"},
    {"y", SWITCH_TEXT, "COLUMN", 0, 0, "and this on the vertical axis (default: the fitness)"},
    {"colour", SWITCH_TEXT, "COLUMN", 0, 0, "and this as the colour of the dots"},
    {"log", SWITCH_CHOICE, "x|y|xy", 0, 0, "which of these axes are logarithmic (default: none)"},
    {"where", SWITCH_TEXT, "EXPRESSION", 0, 0,
     "which trials: comparisons of columns, and, or, not (not for convergence, gradient, pareto and timings)"},
    {"output", SWITCH_FILE, "FILE." PICTURE_ENDINGS, 0, 0,
     "output file, also as -o (default CAMPAIGN-KIND.svg; -: SVG to standard output); PDF and PNG need rsvg-convert"},
};
static const Switches plot_switches = {plot_switch_rows, sizeof plot_switch_rows / sizeof *plot_switch_rows};

const Command command_plot = {
    .name = "plot",
    .arguments = "CAMPAIGN | CAMPAIGN/TRIAL...",
    .doc = "draw one plot of a campaign, or the motions of trials, as a picture",
    .examples = "  hopscotch plot raibert_gains --kind scatter -o scatter.svg\n"
                "  hopscotch plot kkt_pendulum_gains --kind pairs --where \"form = 0 and substeps = 1\" -o map.svg\n"
                "  hopscotch plot raibert_cmaes                    (convergence, to raibert_cmaes-convergence.svg)\n"
                "  hopscotch plot raibert_gains --kind scatter --x k_xdot --y attitude_rms --colour failure\n"
                "  hopscotch plot raibert_cmaes --width 85mm --font 8pt -o convergence.pdf     (a column of a paper)\n"
                "  hopscotch plot smoke/best smoke/41 --columns z,zdot --width 85mm -o motions.pdf\n"
                "  hopscotch plot identify_pendulum/best --phase angle,rate -o phase.svg\n",
    .least = 1,
    .most = TRACE_MOTIONS,
    .switches = {&plot_switches, &switches_motions, &switches_figure, &switches_backend},
    .run = plot_run,
};
