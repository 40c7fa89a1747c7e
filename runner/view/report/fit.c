// What was fitted: the parameters with their intervals within their ranges, and the residuals at the best trial.
#include "report.h"

#include <inttypes.h>
#include <math.h>

enum { FIT_REPORT_SERIES = 6 };     // that are drawn
enum { FIT_REPORT_MOST = 4 << 20 }; // steps of simulation, about: some seconds

bool report_has_fit(const Report *report)
{
    const Spec *spec = &report->campaign->spec;
    if (report->data->n_best == 0 || spec->objective.n_residuals == 0 || spec->replicates.count > spec_fit_cases(spec))
        return false;
    return spec->objective.information.n == 0 && trial_residuals_check(spec).kind == OK &&
           configured_steps(&spec->configured) * spec->configured.n_parameters * spec_fit_cases(spec) <=
               FIT_REPORT_MOST;
}

static const char *fit_named(const Report *report, const FitData *data, int i)
{
    return report->campaign->spec.configured.parameters[data->parameter[i]].name;
}

// ---- parameters -----------------------------------------------------------------------------------------------------

static double fit_place(const FitData *data, int i, double value)
{
    const double off = data->log_scale[i] ? log(value / data->value[i]) * data->value[i] : value - data->value[i];
    return search_inside(data->coordinate[i] + off / data->stretch[i]);
}

static void fit_draw_parameters(const Report *report, const FitData *data, const FitResult *result)
{
    Plot plot = {.out = report->out, .page = true};
    double room = 90;
    for (int i = 0; i < data->n; i++) room = fmax(room, plot_text_width(fit_named(report, data, i)) + 24);
    PlotPanel panel =
        plot_bars(&plot, 896, (PlotBarRoom){.least = fmin(room, 300)},
                  "Where each value is in its range, with its interval", "fraction of the range", data->n, 0.0, 1.0);
    for (int i = 0; i < data->n; i++) {
        const FitParameter *of = &result->parameters[i];
        plot_bar(&panel, i, fit_named(report, data, i), data->coordinate[i], of->determined ? "ba" : "k0");
        if (of->determined) plot_bar_whisker(&panel, i, fit_place(data, i, of->low), fit_place(data, i, of->high));
    }
    plot_panel_end(&panel);
}

static void fit_table_parameters(const Report *report, const FitData *data, const FitResult *result)
{
    FILE *out = report->out;
    fputs(
        "<div class=\"scroll\"><table><thead><tr><th>parameter</th><th>value</th><th>low</th><th>high</th><th>unit</th>"
        "<th>error</th><th></th></tr></thead><tbody>\n",
        out);
    for (int i = 0; i < data->n; i++) {
        const FitParameter *of = &result->parameters[i];
        const double numbers[] = {data->value[i], of->low, of->high};
        fputs("<tr><td>", out);
        put_markup(out, fit_named(report, data, i));
        for (int k = 0; k < 3; k++) fprintf(out, "</td><td>%s", isnan(numbers[k]) ? "" : plot_short(numbers[k]).text);
        fputs("</td><td>", out);
        put_markup(out, report->campaign->spec.configured.parameters[data->parameter[i]].unit);
        fprintf(out, "</td><td>%s</td><td>", isnan(of->error) ? "" : plot_short(of->error).text);
        put_markup(out, fit_remark(of));
        fputs("</td></tr>\n", out);
    }
    fputs("</tbody></table></div>\n", out);
}

// ---- residuals ------------------------------------------------------------------------------------------------------

static void fit_draw_series(const FitData *data, const FitSeries *series, Plot *plot)
{
    PlotRange rows = plot_range(), values = plot_range();
    const double *residual = data->residual + series->first;
    plot_widen(&rows, 0.0);
    plot_widen(&rows, (double)(series->count - 1));
    for (int64_t k = 0; k < series->count; k++) plot_widen(&values, residual[k]);
    PlotPanel panel = plot_panel(plot, 440, 200, series->name, plot_axis_over("row", NULL, rows),
                                 plot_axis_over("residual", NULL, values));
    SvgPath path = svg_path(plot->out, "bl");
    for (int64_t k = 0; k < series->count; k++)
        svg_path_to(&path, plot_at(&panel.x, (double)k), plot_at(&panel.y, residual[k]));
    svg_path_end(&path);
    plot_panel_end(&panel);
}

// Those whose neighbours are most correlated.
static void fit_draw_residuals(const Report *report, const FitData *data, const FitResult *result)
{
    Plot plot = {.out = report->out, .page = true};
    bool *drawn = ARENA_NEW(report->arena, bool, data->n_series);
    for (int k = 0; k < FIT_REPORT_SERIES; k++) {
        int next = -1;
        for (int s = 0; s < data->n_series; s++) {
            if (drawn[s] || isnan(result->noise[s].neighbours)) continue;
            if (next < 0 || result->noise[s].neighbours > result->noise[next].neighbours) next = s;
        }
        if (next < 0) return;
        drawn[next] = true;
        fit_draw_series(data, &data->series[next], &plot);
    }
}

// ---- recordings that were held out ----------------------------------------------------------------------------------

static void fit_table_held(const Report *report, const FitData *data, const FitResult *result)
{
    FILE *out = report->out;
    int count = 0;
    const FitColumn *held = fit_validate(data, result, report->arena, &count);
    if (count == 0) return;
    fputs("<p class=\"caption\">Recordings that no trial saw: what the fitted model leaves of each column there, and "
          "where it was fitted (rms).</p>\n<div class=\"scroll\"><table><thead><tr><th>recording</th><th>column</th>"
          "<th>fitted</th><th>held out</th><th></th></tr></thead><tbody>\n",
          out);
    for (int i = 0; i < count; i++) {
        fputs("<tr><td>", out);
        put_markup(out, held[i].recording);
        fputs("</td><td>", out);
        put_markup(out, held[i].column);
        fprintf(out, "</td><td>%s</td><td>%s</td><td>%s</td></tr>\n", plot_short(held[i].fitted).text,
                held[i].count > 0 ? plot_short(held[i].held).text : "",
                held[i].count == 0 ? "the run fails"
                : held[i].larger   ? "larger"
                                   : "");
    }
    fputs("</tbody></table></div>\n", out);
}

// ---- all of it ------------------------------------------------------------------------------------------------------

typedef struct FitReport {
    const Report *report;
    FitResult *result;
} FitReport;

static Error fit_report_then(const FitModel *model, const FitData *data, void *context)
{
    FitReport *to = context;
    to->result = fit_analyse(&to->report->campaign->spec, data, to->report->arena);
    return fit_lacks(model, to->result);
}

Error report_fit(const Report *report)
{
    FILE *out = report->out;
    FitReport to = {.report = report};
    FitData data;
    int count = 0;
    const Error error = campaign_fit(report->campaign, report->data->best_id[0], &report->options->backend,
                                     report->arena, fit_report_then, &to, &data);
    if (error.kind != OK) return report_put_not_replayed(report, &error);
    const FitResult *result = to.result;
    const FitLine *lines = fit_lines(&report->campaign->spec, &data, result, report->arena, &count);
    fprintf(out,
            "<p class=\"caption\">At the best trial, %" PRId64 ": root mean square %s of %" PRId64
            " residuals, condition number %s. Intervals are of 95 %%; without a colour: the residuals do not "
            "determine it.</p>\n<ul>\n",
            report->data->best_id[0], plot_short(data.fitness).text, data.count, plot_short(result->condition).text);
    for (int k = 0; k < count; k++) {
        fprintf(out, "<li><strong>%s</strong>: ", lines[k].about);
        put_markup(out, lines[k].text);
        fputs("</li>\n", out);
    }
    fputs("</ul>\n<div class=\"panels\">\n", out);
    fit_draw_parameters(report, &data, result);
    fputs("</div>\n", out);
    fit_table_parameters(report, &data, result);
    fputs("<p class=\"caption\">What is left: the series whose neighbours are most correlated. White noise has no "
          "pattern.</p>\n<div class=\"panels\">\n",
          out);
    fit_draw_residuals(report, &data, result);
    fputs("</div>\n", out);
    fit_table_held(report, &data, result);
    return error_none();
}
