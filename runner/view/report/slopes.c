// What moves the objective: the derivatives of the fitness at the best trial by fractions of the searched ranges, as
// bars, and how good the gradients were round by round.
#include "report.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

bool report_has_slopes(const Report *report)
{
    const bool rounds = plot_gradient.nothing(report->data, report->arena) == NULL;
    return report->data->n_best > 0 && (rounds || campaign_has_slopes(report->campaign));
}

// ---- bars -----------------------------------------------------------------------------------------------------------

enum { SLOPES_BARS = 40 }; // that are drawn
#define SLOPES_KEY 330.0   // pixels to the left of the key
static const char slopes_title[] = "Change over the range of each parameter";

static int slopes_longest_first(const void *left, const void *right)
{
    const Slope *a = left, *b = right;
    const double of_a = isfinite(a->slope) ? fabs(a->slope) : -1.0, of_b = isfinite(b->slope) ? fabs(b->slope) : -1.0;
    if (of_a != of_b) return of_a > of_b ? -1 : 1;
    return (a->parameter > b->parameter) - (a->parameter < b->parameter);
}

// The length of a bar with its whisker.
static double slopes_reach(const Slope *slope)
{
    return fabs(slope->slope) + (isfinite(slope->error) ? slope->error : 0.0);
}

// The ends of the axis, with room for numbers; 0 is on it.
static PlotRange slopes_range(const SlopeResult *result, int shown)
{
    PlotRange range = {0, 0};
    for (int i = 0; i < shown; i++) {
        const Slope *slope = &result->slopes[i];
        plot_widen(&range, slope->slope < 0 ? -slopes_reach(slope) : slopes_reach(slope));
    }
    const double length = range.high - range.low > 0 ? range.high - range.low : 1;
    range.high += range.high > 0 || range.low >= 0 ? 0.14 * length : 0.02 * length;
    range.low -= range.low < 0 ? 0.14 * length : 0;
    return range;
}

static double slopes_room(const Report *report, const SlopeResult *result, int shown)
{
    double room = 90;
    for (int i = 0; i < shown; i++) {
        const char *name = report->campaign->spec.configured.parameters[result->slopes[i].parameter].name;
        room = fmax(room, plot_text_width(name) + 24);
    }
    return fmin(room, 300);
}

static void slopes_put_number(PlotPanel *panel, int row, const Slope *slope)
{
    const bool left = slope->slope < 0;
    const double end = plot_at(&panel->x, left ? -slopes_reach(slope) : slopes_reach(slope));
    const double y = PLOT_BAR_TOP + PLOT_BAR_ROW * row + 12;
    svg_text(panel->plot->out, "tk", left ? end - 5 : end + 5, y, left ? "end" : "start",
             plot_short(slope->slope).text);
}

static void slopes_draw(const Report *report, const SlopeResult *result, int shown)
{
    Plot plot = {.out = report->out, .page = true};
    const bool maximize = report->data->maximize;
    const PlotRange range = slopes_range(result, shown);
    PlotPanel panel = plot_bars(&plot, 896, (PlotBarRoom){.least = slopes_room(report, result, shown)}, slopes_title,
                                "change of the fitness", shown, range.low, range.high);
    bool held = false;
    for (int i = 0; i < shown; i++) {
        const Slope *slope = &result->slopes[i];
        const char *name = report->campaign->spec.configured.parameters[slope->parameter].name;
        held = held || slope->held;
        const char *colour = slope->held ? "k0" : (slope->slope > 0) == maximize ? "be" : "ba";
        plot_bar(&panel, i, name, slope->slope, colour);
        plot_bar_whisker(&panel, i, slope->slope - slope->error, slope->slope + slope->error);
        slopes_put_number(&panel, i, slope);
    }
    plot_bars_zero(&panel, shown);
    double x = plot_key(&panel, SLOPES_KEY, 14, "be", "more of it is better");
    x = plot_key(&panel, x, 14, "ba", "less of it is better");
    if (held) plot_key(&panel, x, 14, "k0", "better beyond the end of its range");
    plot_panel_end(&panel);
}

// ---- words ----------------------------------------------------------------------------------------------------------

// Names of parameters without a derivative: they stand behind those with one.
static void slopes_put_missing(const Report *report, const SlopeResult *result, int known)
{
    for (int i = known; i < result->count; i++) {
        fputs(i == known ? " Without a derivative: " : ", ", report->out);
        put_markup(report->out, report->campaign->spec.configured.parameters[result->slopes[i].parameter].name);
    }
    if (known < result->count) fputc('.', report->out);
}

static void slopes_caption(const Report *report, const SlopeResult *result, int known, int shown)
{
    FILE *out = report->out;
    bool whiskers = false;
    for (int i = 0; i < shown; i++) whiskers = whiskers || isfinite(result->slopes[i].error);
    fprintf(out,
            "<p class=\"caption\">At the best trial, %" PRId64
            ", %s. A bar is as long as the fitness would change from "
            "one end of the parameter\xe2\x80\x99s range to the other, if it went on as here: a hundredth of the range "
            "changes it by about a hundredth of the bar.",
            report->data->best_id[0], result->adjoint ? "by the adjoint of the run" : "by differences between trials");
    if (whiskers)
        fprintf(out, " Whiskers: the standard error over the %d replicates; a bar shorter than that says nothing.",
                report->campaign->spec.replicates.count);
    if (result->n_failed > 0)
        fprintf(out, " %s.", replicates_failed_text(&report->campaign->spec, result->n_failed, report->arena));
    fputs(" Short bars everywhere mean that the search has found the bottom of a valley.", out);
    if (known > shown) fprintf(out, " The longest %d of %d bars are shown.", shown, known);
    slopes_put_missing(report, result, known);
    if (result->growth > 1e3)
        fprintf(
            out,
            " <strong>The influence of the state grows by a factor of %s on the way back through the run: the motion "
            "is nearly chaotic, and only very small changes follow these bars.</strong>",
            plot_short(result->growth).text);
    fputs("</p>\n", out);
}

static Error slopes_bars(const Report *report)
{
    SlopeResult result;
    int known = 0;
    if (!campaign_has_slopes(report->campaign)) return error_none();
    const Error error =
        campaign_slopes(report->campaign, report->data->best_id[0], &report->options->backend, report->arena, &result);
    if (error.kind != OK) return report_put_not_replayed(report, &error);
    qsort(result.slopes, (size_t)result.count, sizeof *result.slopes, slopes_longest_first);
    while (known < result.count && isfinite(result.slopes[known].slope)) known++;
    const int shown = known < SLOPES_BARS ? known : SLOPES_BARS;
    slopes_caption(report, &result, known, shown);
    fputs("<div class=\"panels\">\n", report->out);
    if (shown > 0) slopes_draw(report, &result, shown);
    fputs("</div>\n", report->out);
    return error_none();
}

static Error slopes_curves(const Report *report)
{
    Plot plot = {.out = report->out, .page = true};
    if (plot_gradient.nothing(report->data, report->arena) != NULL) return error_none();
    fputs("<h3>Round by round</h3>\n<p class=\"caption\">", report->out);
    put_markup(report->out, plot_gradient.caption(report->data, report->arena));
    fputs("</p>\n<div class=\"panels\">\n", report->out);
    TRY(plot_gradient.draw(report->data, &plot, report->arena));
    fputs("</div>\n", report->out);
    return error_none();
}

Error report_slopes(const Report *report)
{
    TRY(slopes_bars(report));
    return slopes_curves(report);
}
