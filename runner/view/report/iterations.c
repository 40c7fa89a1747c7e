// The iterations of the best trial of a model without time, simulated again: what moves over what stands still, from
// above, before and after; and curves of what the model shows of its rows (sim.h: Iterations).
#include "iterations.h"

#include "report.h"
#include "trace.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ITERATIONS_WIDTH 440.0
#define ITERATIONS_HEIGHT 330.0

// What the panels share.
typedef struct IterationsView {
    const ReplayTrace *trace;
    Configured configured; // with its assets
    const Iterations *shown;
    Plot *plot;
    Arena *arena;
} IterationsView;

static const double *iterations_row(const IterationsView *view, int64_t i)
{
    return view->trace->row + i * view->trace->n_columns;
}

// ---- from above -----------------------------------------------------------------------------------------------------

typedef struct IterationsFrame {
    double low[2], high[2]; // m
} IterationsFrame;

static void iterations_widen(IterationsFrame *frame, const double *xy, int64_t count)
{
    for (int64_t i = 0; i < 2 * count; i++) {
        if (!isfinite(xy[i])) continue;
        frame->low[i % 2] = fmin(frame->low[i % 2], xy[i]);
        frame->high[i % 2] = fmax(frame->high[i % 2], xy[i]);
    }
}

// Equal scales: the narrower direction gets room on both sides.
static void iterations_square(IterationsFrame *frame, double ratio)
{
    const double margin = 0.03 * fmax(frame->high[0] - frame->low[0], frame->high[1] - frame->low[1]) + 1e-6;
    const double width = frame->high[0] - frame->low[0] + 2 * margin,
                 height = frame->high[1] - frame->low[1] + 2 * margin;
    const double side[2] = {fmax(width, height * ratio), fmax(height, width / ratio)};
    for (int a = 0; a < 2; a++) {
        const double middle = 0.5 * (frame->low[a] + frame->high[a]);
        frame->low[a] = middle - 0.5 * side[a];
        frame->high[a] = middle + 0.5 * side[a];
    }
}

// Small squares, all in one path.
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

static void iterations_draw_above(const IterationsView *view, const char *title, const IterationsFrame *frame,
                                  const double *row, bool after)
{
    const double *fixed = NULL, *moving = NULL;
    const int64_t n_fixed = view->shown->above(&view->configured, NULL, false, view->arena, &fixed);
    const int64_t n_moving = view->shown->above(&view->configured, row, after, view->arena, &moving);
    PlotPanel panel = plot_panel(view->plot, ITERATIONS_WIDTH, ITERATIONS_HEIGHT, title,
                                 (PlotAxis){.name = "x", .unit = "m", .low = frame->low[0], .high = frame->high[0]},
                                 (PlotAxis){.name = "y", .unit = "m", .low = frame->low[1], .high = frame->high[1]});
    iterations_draw_points(&panel, "c3", fixed, n_fixed, 3.2);
    iterations_draw_points(&panel, "be", moving, n_moving, 1.6);
    plot_key(&panel, panel.x.from + 60, panel.y.to - 8, "c3", view->shown->fixed);
    plot_key(&panel, panel.x.from + 230, panel.y.to - 8, "be", view->shown->moving);
    plot_panel_end(&panel);
}

static void iterations_draw_clouds(const IterationsView *view)
{
    const double *first = iterations_row(view, 0), *last = iterations_row(view, view->trace->count - 1);
    const double *xy = NULL;
    IterationsFrame frame = {{(double)INFINITY, (double)INFINITY}, {(double)-INFINITY, (double)-INFINITY}};
    for (int k = 0; k < 3; k++) {
        const double *row = k == 0 ? NULL : k == 1 ? first : last;
        const int64_t count = view->shown->above(&view->configured, row, k == 2, view->arena, &xy);
        iterations_widen(&frame, xy, count);
    }
    if (!(frame.low[0] <= frame.high[0]) || !(frame.low[1] <= frame.high[1])) return;
    iterations_square(&frame, (ITERATIONS_WIDTH - 66) / (ITERATIONS_HEIGHT - 82));
    iterations_draw_above(view, "Before, from above", &frame, first, false);
    iterations_draw_above(view, "After", &frame, last, true);
}

// ---- curves ---------------------------------------------------------------------------------------------------------

// Their colours, as lines and as a key; the last of few stands out most.
static const char *const iterations_lines[CURVE_LINES] = {"s7", "s6", "s5", "s4", "s3", "s2"};
static const char *const iterations_keys[CURVE_LINES] = {"c7", "c6", "c5", "c4", "c3", "c2"};

static int iterations_colour(const Curve *curve, int line) { return curve->count <= 3 ? 2 * line : line; }

static PlotAxis iterations_axis(const IterationsView *view, const Curve *curve)
{
    double value[CURVE_LINES], low = (double)INFINITY, high = (double)-INFINITY;
    for (int64_t i = 0; i < view->trace->count; i++) {
        curve->values(iterations_row(view, i), value);
        for (int k = 0; k < curve->count; k++) {
            low = isfinite(value[k]) && value[k] < low ? value[k] : low;
            high = isfinite(value[k]) && value[k] > high ? value[k] : high;
        }
    }
    if (!(low <= high)) low = 0, high = 1;
    const double margin = high > low ? 0.06 * (high - low) : low != 0 ? 0.1 * fabs(low) : 0.5;
    return (PlotAxis){.name = curve->title, .unit = curve->unit, .low = low - margin, .high = high + margin};
}

static void iterations_draw_line(const IterationsView *view, const PlotPanel *panel, const Curve *curve, int line)
{
    double value[CURVE_LINES];
    const char *class_name = curve->count == 1 ? "ln" : iterations_lines[iterations_colour(curve, line)];
    SvgPath path = svg_path(view->plot->out, class_name);
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
        x = plot_key(&panel, x, panel.y.to - 9, iterations_keys[iterations_colour(curve, k)], curve->names[k]);
    plot_panel_end(&panel);
}

// ---- the section ----------------------------------------------------------------------------------------------------

bool iterations_are_shown(const StoredCampaign *campaign)
{
    return campaign->spec.model->iterations != NULL && campaign->spec.configured.n_debug > 0;
}

static void iterations_put_words(const ReplayResult *result, const ReplayTrace *trace, const BatchTiming *timing,
                                 FILE *out)
{
    fprintf(out, "<p class=\"caption\">Trial %" PRId64 ", ", result->trial);
    if (trace->campaign->spec.replicates.count > 1) fprintf(out, "replicate %d, ", trace->request.replicate);
    fputs("simulated again by this program: ", out);
    if (result->equal) {
        fputs("every number is the stored one, to the bit.", out);
    } else {
        fputs("<strong>it differs from what is stored: ", out);
        put_markup(out, result->difference);
        fputs("</strong>.", out);
    }
    fprintf(out, " Iterations: %" PRId64 "; failure: %s", trace->count, trace->failure);
    if (timing->device != NULL) {
        fprintf(out, "; computed in %s each, in a batch of %s on ", text_duration(timing->lane_seconds).text,
                text_count(timing->lanes).text);
        put_markup(out, timing->device);
    }
    fputs(".</p>\n", out);
}

Error iterations_write(const StoredCampaign *campaign, const PlotData *data, const BackendOptions *backend, FILE *out,
                       Arena *arena)
{
    ReplayRequest request = {.debug = true, .rows = model_debug_name(campaign->spec.model)};
    ReplayResult result;
    ReplayTrace trace;
    BatchTiming timing;
    Plot plot = {.out = out, .page = true};
    request.trial = plot_shown_trial(data);
    TRY(timings_of_trial(campaign->database, request.trial, arena, &timing));
    IterationsView view = {.trace = &trace, .shown = campaign->spec.model->iterations, .plot = &plot, .arena = arena};
    Error error = campaign_trace(campaign, &request, backend, arena, &result, &trace);
    if (error.kind == OK) error = spec_build(&campaign->spec, arena, &view.configured);
    if (error.kind == ERROR_INTERRUPTED) return error;
    if (error.kind != OK) { // a report without its iterations is a report
        fputs("<p class=\"none\">Not simulated again: ", out);
        put_markup(out, error.text);
        fputs(".</p>\n", out);
        return error_none();
    }
    iterations_put_words(&result, &trace, &timing, out);
    fputs("<div class=\"panels\">\n", out);
    if (view.shown->above != NULL) iterations_draw_clouds(&view);
    for (int c = 0; c < view.shown->n_curves; c++) iterations_draw_curve(&view, &view.shown->curves[c]);
    fputs("</div>\n", out);
    return error_none();
}

// ---- a page of its own ----------------------------------------------------------------------------------------------

// Numbers of all frames of a page, and points that stand still: it stays below 1 MB.
enum { ITERATIONS_NUMBERS = 60000, ITERATIONS_FIXED = 3000 };

// Metres to what is seen of them: a part of 4000 of the picture.
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

// "iteration 3: score -1234, correspondences 900", of the curves with one line.
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

static void iterations_put_one(const IterationsView *view, Json *json)
{
    char name[192];
    const double *xy = NULL;
    IterationsFrame frame = {{(double)INFINITY, (double)INFINITY}, {(double)-INFINITY, (double)-INFINITY}};
    const double *last = iterations_row(view, view->trace->count - 1);
    for (int k = 0; k < 3; k++) {
        const double *row = k == 0 ? NULL : k == 1 ? iterations_row(view, 0) : last;
        const int64_t count = view->shown->above(&view->configured, row, k == 2, view->arena, &xy);
        iterations_widen(&frame, xy, count);
    }
    const double side = fmax(frame.high[0] - frame.low[0], frame.high[1] - frame.low[1]);
    const double grain = pow(10, floor(log10(fmax(side, 1e-6) / 4000)));
    snprintf(name, sizeof name, "%.128s/%" PRId64, view->trace->campaign->name, view->trace->request.trial);
    json_object(json, NULL);
    json_text(json, "name", name);
    json_text(json, "failure", strcmp(view->trace->failure, "none") == 0 ? "no failure" : view->trace->failure);
    json_array(json, "frame");
    for (int k = 0; k < 4; k++) json_number(json, NULL, k < 2 ? frame.low[k] : frame.high[k - 2]);
    json_close(json, ']');
    const int64_t fixed = view->shown->above(&view->configured, NULL, false, view->arena, &xy);
    json_array(json, "fixed");
    iterations_put_points(json, xy, fixed, 1 + fixed / ITERATIONS_FIXED, grain);
    json_close(json, ']');
    iterations_put_frames(view, grain, json);
    iterations_put_curves(view, json);
    json_close(json, '}');
}

static Error iterations_open(const ReplayTrace *trace, Arena *arena, IterationsView *view)
{
    *view = (IterationsView){.trace = trace, .shown = trace->campaign->spec.model->iterations, .arena = arena};
    return spec_build(&trace->campaign->spec, arena, &view->configured);
}

static Error iterations_put_all(const ReplayTrace *const *traces, int count, FILE *out, Arena *arena)
{
    Json json;
    TextStream stream;
    Error error = error_none();
    TRY(text_stream_open("the alignment", &stream));
    json_start(&json, stream.out, false);
    json_array(&json, NULL);
    for (int i = 0; i < count && error.kind == OK; i++) {
        IterationsView view;
        error = iterations_open(traces[i], arena, &view);
        if (error.kind == OK) iterations_put_one(&view, &json);
    }
    json_close(&json, ']');
    const Error closed = text_stream_close(&stream);
    if (error.kind == OK) error = closed;
    if (error.kind == OK) {
        fputs("<div class=\"alignment\"></div>\n", out);
        page_put_json(out, "alignments", stream.text);
    }
    free(stream.text);
    return error;
}

Error iterations_write_page(const ReplayTrace *const *traces, int count, FILE *out, Arena *arena)
{
    TRY(trace_page_begin(traces, count, out, arena));
    fprintf(out, "<p class=\"caption\">From above: %s over %s.</p>\n",
            traces[0]->campaign->spec.model->iterations->moving, traces[0]->campaign->spec.model->iterations->fixed);
    TRY(iterations_put_all(traces, count, out, arena));
    fputs("</section>\n", out);
    for (int i = 0; i < count; i++) {
        Plot plot = {.out = out, .page = true};
        IterationsView view;
        TRY(iterations_open(traces[i], arena, &view));
        view.plot = &plot;
        trace_page_heading(traces[i], out);
        iterations_draw_clouds(&view);
        for (int c = 0; c < view.shown->n_curves; c++) iterations_draw_curve(&view, &view.shown->curves[c]);
        fputs("</div>\n</section>\n", out);
    }
    fputs("</main>\n", out);
    page_finish(out);
    return error_none();
}
