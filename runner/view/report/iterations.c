// The iterations of the best trial of a model without time, simulated again: two clouds from above, before and after,
// and curves against the iteration (sim.h: Iterations).
#include "report.h"

#include "trace.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ITERATIONS_WIDTH 440.0
#define ITERATIONS_HEIGHT 330.0

typedef struct IterationsView {
    const ReplayTrace *trace;
    Configured configured; // with assets
    const Iterations *shown;
    Plot *plot;
    Arena *arena;
} IterationsView;

static const double *iterations_row(const IterationsView *view, int64_t i)
{
    return view->trace->row + i * view->trace->n_columns;
}

// ---- from above -----------------------------------------------------------------------------------------------------

// frame[2]: the ranges of x and y (m) over what stands still and over what moves, before and after.
static void iterations_frame(const IterationsView *view, PlotRange *frame)
{
    const double *const rows[] = {NULL, iterations_row(view, 0), iterations_row(view, view->trace->count - 1)};
    const double *xy = NULL;
    frame[0] = frame[1] = plot_range();
    for (int k = 0; k < 3; k++) {
        const int64_t count = view->shown->above(&view->configured, rows[k], k == 2, view->arena, &xy);
        for (int64_t i = 0; i < 2 * count; i++) plot_widen(&frame[i % 2], xy[i]);
    }
}

// Equal scales: the narrower direction gets room on both sides. ratio: width over height.
static void iterations_square(PlotRange *frame, double ratio)
{
    const double length[2] = {frame[0].high - frame[0].low, frame[1].high - frame[1].low};
    const double margin = 0.03 * fmax(length[0], length[1]) + 1e-6;
    const double width = length[0] + 2 * margin, height = length[1] + 2 * margin;
    const double side[2] = {fmax(width, height * ratio), fmax(height, width / ratio)};
    for (int a = 0; a < 2; a++) {
        const double middle = 0.5 * (frame[a].low + frame[a].high);
        frame[a] = (PlotRange){middle - 0.5 * side[a], middle + 0.5 * side[a]};
    }
}

// Draws points[count][2] as small squares in one path.
static void iterations_draw_points(const PlotPanel *panel, const char *class_name, const double *xy, int64_t count,
                                   double size)
{
    FILE *out = panel->plot->out;
    fprintf(out, "<path class=\"%s\" d=\"", class_name);
    for (int64_t i = 0; i < count; i++) {
        const double x = plot_at(&panel->x, xy[2 * i]), y = plot_at(&panel->y, xy[2 * i + 1]);
        const bool inside = x >= panel->x.from && x <= panel->x.to && y >= panel->y.to && y <= panel->y.from;
        if (inside) fprintf(out, "M%.1f %.1fh%.1fv%.1fh-%.1fz", x - size / 2, y - size / 2, size, size, size);
    }
    fputs("\"/>", out);
}

static void iterations_draw_above(const IterationsView *view, const char *title, const PlotRange *frame,
                                  const double *row, bool after)
{
    const double *fixed = NULL, *moving = NULL;
    const int64_t n_fixed = view->shown->above(&view->configured, NULL, false, view->arena, &fixed);
    const int64_t n_moving = view->shown->above(&view->configured, row, after, view->arena, &moving);
    const PlotAxis x = {.name = "x", .unit = "m", .low = frame[0].low, .high = frame[0].high};
    const PlotAxis y = {.name = "y", .unit = "m", .low = frame[1].low, .high = frame[1].high};
    PlotPanel panel = plot_panel(view->plot, ITERATIONS_WIDTH, ITERATIONS_HEIGHT, title, x, y);
    iterations_draw_points(&panel, "c3", fixed, n_fixed, 3.2);
    iterations_draw_points(&panel, "be", moving, n_moving, 1.6);
    plot_key(&panel, panel.x.from + 60, panel.y.to - 8, "c3", view->shown->fixed);
    plot_key(&panel, panel.x.from + 230, panel.y.to - 8, "be", view->shown->moving);
    plot_panel_end(&panel);
}

static void iterations_draw_clouds(const IterationsView *view)
{
    PlotRange frame[2];
    iterations_frame(view, frame);
    if (!(frame[0].low <= frame[0].high) || !(frame[1].low <= frame[1].high)) return;
    iterations_square(frame, (ITERATIONS_WIDTH - 66) / (ITERATIONS_HEIGHT - 82));
    iterations_draw_above(view, "Before, from above", frame, iterations_row(view, 0), false);
    iterations_draw_above(view, "After", frame, iterations_row(view, view->trace->count - 1), true);
}

// ---- curves ---------------------------------------------------------------------------------------------------------

static PlotAxis iterations_axis(const IterationsView *view, const Curve *curve)
{
    double value[CURVE_LINES];
    PlotRange range = plot_range();
    for (int64_t i = 0; i < view->trace->count; i++) {
        curve->values(iterations_row(view, i), value);
        for (int k = 0; k < curve->count; k++) plot_widen(&range, value[k]);
    }
    return plot_axis_over(curve->title, curve->unit, range);
}

static void iterations_draw_line(const IterationsView *view, const PlotPanel *panel, const Curve *curve, int line)
{
    double value[CURVE_LINES];
    const PlotColour colour = plot_colour(line);
    SvgPath path = svg_path(view->plot->out, curve->count == 1 ? "ln" : colour.line);
    for (int64_t i = 0; i < view->trace->count; i++) {
        curve->values(iterations_row(view, i), value);
        if (isfinite(value[line]))
            svg_path_to(&path, plot_at(&panel->x, iterations_row(view, i)[0]), plot_at(&panel->y, value[line]));
    }
    svg_path_end(&path);
}

static void iterations_draw_curve(const IterationsView *view, const Curve *curve)
{
    const double last = iterations_row(view, view->trace->count - 1)[0];
    const PlotAxis iteration = {.name = "iteration", .low = 0, .high = last > 0 ? last : 1, .whole = true};
    PlotPanel panel = plot_panel(view->plot, 288, 190, NULL, iteration, iterations_axis(view, curve));
    for (int k = 0; k < curve->count; k++) iterations_draw_line(view, &panel, curve, k);
    double x = panel.x.from + 84;
    for (int k = 0; curve->names != NULL && k < curve->count; k++)
        x = plot_key_line(&panel, x, panel.y.to - 9, plot_colour(k), curve->names[k]);
    plot_panel_end(&panel);
}

// ---- the section ----------------------------------------------------------------------------------------------------

bool iterations_are_shown(const StoredCampaign *campaign)
{
    return campaign->spec.model->iterations != NULL && campaign->spec.configured.n_debug > 0;
}

static void iterations_draw(const IterationsView *view)
{
    if (view->shown->above != NULL) iterations_draw_clouds(view);
    for (int c = 0; c < view->shown->n_curves; c++) iterations_draw_curve(view, &view->shown->curves[c]);
    fputs("</div>\n", view->plot->out);
}

static Error iterations_open(const ReplayTrace *trace, Plot *plot, Arena *arena, IterationsView *view)
{
    const Spec *spec = &trace->campaign->spec;
    *view = (IterationsView){.trace = trace, .shown = spec->model->iterations, .plot = plot, .arena = arena};
    return spec_build(spec, arena, &view->configured);
}

Error report_iterations(const Report *report)
{
    const StoredCampaign *campaign = report->campaign;
    const ReplayRequest request = {
        .trial = plot_shown_trial(report->data), .debug = true, .rows = model_debug_name(campaign->spec.model)};
    ReplayResult result;
    ReplayTrace trace;
    BatchTiming timing;
    IterationsView view;
    FILE *out = report->out;
    Plot plot = {.out = out, .page = true};
    TRY(timings_of_trial(campaign->database, request.trial, report->arena, &timing));
    Error error = campaign_trace(campaign, &request, &report->options->backend, report->arena, &result, &trace);
    if (error.kind == OK) error = iterations_open(&trace, &plot, report->arena, &view);
    if (error.kind != OK) return report_put_not_replayed(report, &error);
    report_put_replayed(report, &result, &trace);
    fprintf(out, " Iterations: %" PRId64 ". Failure: %s.", trace.count, trace.failure);
    if (timing.device != NULL) {
        fprintf(out, " Computing time: %s per replicate, in a batch of %s on ", text_duration(timing.lane_seconds).text,
                text_count(timing.lanes).text);
        put_markup(out, timing.device);
        fputc('.', out);
    }
    fputs("</p>\n<div class=\"panels\">\n", out);
    iterations_draw(&view);
    return error_none();
}

// ---- a page of its own ----------------------------------------------------------------------------------------------

// Limits that keep a page below 1 MB: numbers of all frames, and points that stand still.
enum { ITERATIONS_NUMBERS = 60000, ITERATIONS_FIXED = 3000 };

// Coordinates in m, rounded to multiples of `grain` (m), a 4000th of the picture; every `each`-th point.
static void iterations_put_points(Json *json, const double *xy, int64_t count, int64_t each, double grain)
{
    const double whole = nearbyint(1 / grain); // short as text: a quotient of two whole numbers
    for (int64_t i = 0; i < count; i += each) {
        for (int a = 0; a < 2; a++) {
            const double value = isfinite(xy[2 * i + a]) ? xy[2 * i + a] : 0;
            json_number(json, NULL, whole > 0 ? nearbyint(value * whole) / whole : nearbyint(value / grain) * grain);
        }
    }
}

// The clouds before the first iteration and after each.
static void iterations_put_frames(const IterationsView *view, double grain, Json *json)
{
    const int64_t frames = view->trace->count + 1, fit = ITERATIONS_NUMBERS / (2 * frames);
    const double *xy = NULL;
    int64_t each = 1, shown = 0;
    json_array(json, "points");
    for (int64_t f = 0; f < frames; f++) {
        const size_t used = view->arena->used;
        const double *row = iterations_row(view, f > 0 ? f - 1 : 0);
        const int64_t count = view->shown->above(&view->configured, row, f > 0, view->arena, &xy);
        each = 1 + count / (fit > 20 ? fit : 20);
        shown = (count + each - 1) / each;
        iterations_put_points(json, xy, count, each, grain);
        arena_rewind(view->arena, used);
    }
    json_close(json, ']');
    json_integer(json, "n_points", shown);
}

// "iteration 3, score -1234, correspondences 900": the curves that have one line.
static void iterations_put_curves(const IterationsView *view, Json *json)
{
    char text[256];
    double value[CURVE_LINES];
    json_array(json, "curves");
    for (int64_t i = 0; i < view->trace->count; i++) {
        int used = snprintf(text, sizeof text, "iteration %" PRId64, i + 1);
        for (int c = 0; c < view->shown->n_curves; c++) {
            const Curve *curve = &view->shown->curves[c];
            if (curve->count != 1 || used >= (int)sizeof text) continue;
            curve->values(iterations_row(view, i), value);
            used +=
                snprintf(text + used, sizeof text - (size_t)used, ", %s %s", curve->title, plot_short(value[0]).text);
        }
        json_text(json, NULL, text);
    }
    json_close(json, ']');
}

static Error iterations_put(const ReplayTrace *trace, Json *json, Arena *arena)
{
    const double *xy = NULL;
    PlotRange frame[2];
    IterationsView view;
    TRY(iterations_open(trace, NULL, arena, &view));
    iterations_frame(&view, frame);
    const double side = fmax(frame[0].high - frame[0].low, frame[1].high - frame[1].low);
    const double grain = pow(10, floor(log10(fmax(side, 1e-6) / 4000)));
    json_object(json, NULL);
    json_text(json, "name", trace_name(trace, arena));
    json_text(json, "failure", strcmp(trace->failure, "none") == 0 ? "no failure" : trace->failure);
    json_array(json, "frame");
    for (int k = 0; k < 4; k++) json_number(json, NULL, k < 2 ? frame[k].low : frame[k - 2].high);
    json_close(json, ']');
    const int64_t fixed = view.shown->above(&view.configured, NULL, false, arena, &xy);
    json_array(json, "fixed");
    iterations_put_points(json, xy, fixed, 1 + fixed / ITERATIONS_FIXED, grain);
    json_close(json, ']');
    iterations_put_frames(&view, grain, json);
    iterations_put_curves(&view, json);
    json_close(json, '}');
    return error_none();
}

Error iterations_write_page(const ReplayTrace *const *traces, int count, FILE *out, Arena *arena)
{
    TRY(trace_page_begin(traces, count, out, arena));
    fprintf(out, "<p class=\"caption\">From above: %s over %s.</p>\n",
            traces[0]->campaign->spec.model->iterations->moving, traces[0]->campaign->spec.model->iterations->fixed);
    TRY(trace_put_json(traces, count, "alignment", iterations_put, out, arena));
    fputs("</section>\n", out);
    for (int i = 0; i < count; i++) {
        Plot plot = {.out = out, .page = true};
        IterationsView view;
        TRY(iterations_open(traces[i], &plot, arena, &view));
        trace_page_heading(traces[i], out, arena);
        iterations_draw(&view);
        fputs("</section>\n", out);
    }
    fputs("</main>\n", out);
    page_finish(out);
    return error_none();
}
