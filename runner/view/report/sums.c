// The report of a campaign that keeps rows of some trials: what is known of all. A histogram of the fitness, the mean
// and the best fitness along each searched parameter, and a table of all columns.
#include "report.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { SUMS_BARS = 48 };

bool report_has_sums(const Report *report) { return kept_partly(report->campaign->database); }

// ---- the histogram --------------------------------------------------------------------------------------------------

// Bars of equal width; a bin of the sums is divided between the bars that it covers.
static void sums_fill_bars(const ColumnSum *sum, double low, double high, double *bars)
{
    const double width = (high - low) / SUMS_BARS;
    for (int b = 0; b < SUMS_BARS; b++) bars[b] = 0;
    for (int64_t i = 0; i < sum->bins; i++) {
        const HistogramBin bin = histogram_bin(sum, i);
        const double from = fmax(bin.low, sum->least), to = fmin(bin.high, sum->greatest);
        for (int b = 0; b < SUMS_BARS; b++) {
            const double left = low + b * width, right = left + width;
            const double covered = fmin(to, right) - fmax(from, left);
            if (to > from && covered > 0) bars[b] += (double)bin.trials * covered / (to - from);
            if (to <= from && from >= left && (from < right || (b + 1 == SUMS_BARS && from <= right)))
                bars[b] += (double)bin.trials;
        }
    }
}

// Without the outer 1 % at the worse end, which may lie far away.
static void sums_draw_histogram(const Report *report, const ColumnSum *sum, Plot *plot)
{
    double bars[SUMS_BARS], most = 0, low = sum->least, high = sum->greatest, inner;
    if (report->data->maximize) column_quantile(sum, 0.01, &low, &inner);
    if (!report->data->maximize) column_quantile(sum, 0.99, &inner, &high);
    if (!isfinite(low) || !isfinite(high) || !(low < high)) return;
    sums_fill_bars(sum, low, high, bars);
    for (int b = 0; b < SUMS_BARS; b++) most = bars[b] > most ? bars[b] : most;
    const PlotAxis x = {.name = "fitness", .low = low, .high = high},
                   y = {.name = "trials", .low = 0, .high = 1.05 * most};
    PlotPanel panel = plot_panel(plot, 440, 224, NULL, x, y);
    for (int b = 0; b < SUMS_BARS; b++) {
        const double left = plot_at(&panel.x, low + (high - low) * b / SUMS_BARS);
        const double right = plot_at(&panel.x, low + (high - low) * (b + 1) / SUMS_BARS);
        const double top = plot_at(&panel.y, bars[b]);
        if (bars[b] > 0)
            svg_rectangle(plot->out, "k0", left + 0.4, top, right - left - 0.8, plot_at(&panel.y, 0) - top);
    }
    plot_panel_end(&panel);
}

// ---- along a parameter ----------------------------------------------------------------------------------------------

static double sums_mean(const AxisBin *bin) { return bin->values > 0 ? bin->sum / (double)bin->values : (double)NAN; }

static void sums_draw_line(const AxisSum *sum, bool best, const char *class_name, PlotPanel *panel)
{
    SvgPath path = svg_path(panel->plot->out, class_name);
    for (int64_t i = 0; i < sum->bins; i++) {
        const AxisBin bin = axis_bin(sum, i);
        const double x = bin.x_low + 0.5 * (bin.x_high - bin.x_low), value = best ? bin.best : sums_mean(&bin);
        svg_path_to(&path, plot_at(&panel->x, x), isfinite(value) ? plot_at(&panel->y, value) : (double)NAN);
    }
    svg_path_end(&path);
}

static void sums_draw_axis(const Report *report, const AxisSum *sum, Plot *plot)
{
    const PlotData *data = report->data;
    PlotRange range = plot_range();
    int g = 0;
    while (g < data->n_gains && strcmp(data->gain[g].name, sum->x) != 0) g++;
    if (g == data->n_gains || !plot_varies(&data->gain[g])) return;
    for (int64_t i = 0; i < sum->bins; i++) {
        const AxisBin bin = axis_bin(sum, i);
        plot_widen(&range, bin.best);
        plot_widen(&range, sums_mean(&bin));
    }
    if (range.low > range.high) return;
    const PlotColour mean = plot_colour(0), best = plot_colour(1);
    PlotPanel panel =
        plot_panel(plot, 288, 224, NULL, plot_axis_of(&data->gain[g]), plot_axis_over(data->value_name, NULL, range));
    sums_draw_line(sum, false, mean.line, &panel);
    sums_draw_line(sum, true, best.line, &panel);
    plot_key_line(&panel, plot_key_line(&panel, 60, 4, mean, "mean"), 4, best, "best");
    plot_panel_end(&panel);
}

static Error sums_draw_axes(const Report *report, Plot *plot)
{
    AxisSum sum;
    Cursor axes = sums_of_axes(report->campaign->database, false);
    while (axis_sum_next(&axes, &sum)) sums_draw_axis(report, &sum, plot);
    return cursor_close(&axes);
}

// ---- the table ------------------------------------------------------------------------------------------------------

static void sums_put_cell(FILE *out, const char *text)
{
    fputs("<td>", out);
    put_markup(out, text);
    fputs("</td>", out);
}

static void sums_put_row(const ColumnSum *sum, FILE *out)
{
    static const double fractions[] = {0.05, 0.5, 0.95};
    fputs("<tr><th scope=\"row\">", out);
    put_markup(out, sum->name);
    fputs("</th>", out);
    sums_put_cell(out, text_count(sum->values).text);
    sums_put_cell(out, sum->values > 0 ? plot_short(sum->least).text : "");
    for (int i = 0; i < 3; i++) {
        double low, high;
        column_quantile(sum, fractions[i], &low, &high);
        sums_put_cell(out, sum->values > 0 ? plot_short(high).text : "");
    }
    sums_put_cell(out, sum->values > 0 ? plot_short(sum->greatest).text : "");
    sums_put_cell(out, sum->values > 0 ? plot_short(sum->sum / (double)sum->values).text : "");
    fputs("</tr>\n", out);
}

Error report_sums(const Report *report)
{
    FILE *out = report->out;
    Plot plot = {.out = out, .page = true};
    const char *words = NULL;
    ColumnSum sum;
    TRY(kept_words(report->campaign->database, report->arena, &words));
    fprintf(
        out,
        "<p class=\"caption\">The campaign keeps %s. This section, the failures and the maps are made from sums over "
        "all trials; the other sections from the rows. Histogram: fitness without its worst 1 %%. Lines: fitness "
        "along each parameter. Quantiles are upper bounds, at most 1.6 %% too high.</p>\n<div class=\"panels\">\n",
        words != NULL ? words : "all rows");
    Cursor columns = sums_of_columns(report->campaign->database);
    if (column_sum_next(&columns, &sum)) sums_draw_histogram(report, &sum, &plot);
    while (columns.row) cursor_next(&columns);
    TRY(cursor_close(&columns));
    TRY(sums_draw_axes(report, &plot));
    fputs("</div>\n<div class=\"scroll\"><table>\n<thead><tr><th>column</th><th>values</th><th>least</th><th>5 %</th>"
          "<th>50 %</th><th>95 %</th><th>greatest</th><th>mean</th></tr></thead>\n<tbody>\n",
          out);
    columns = sums_of_columns(report->campaign->database);
    while (column_sum_next(&columns, &sum)) sums_put_row(&sum, out);
    fputs("</tbody></table></div>\n", out);
    return cursor_close(&columns);
}
