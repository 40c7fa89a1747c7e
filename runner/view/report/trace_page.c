// Pages of traces. io/page/animation.js plays a motion: the points of the figure, frame by frame, as JSON;
// or its poses in space (trace_scene.c).
#include "trace.h"

#include "report.h"

#include <math.h>
#include <stdlib.h>

enum {
    TRACE_FRAMES = 1200,
    MOTION_GROUND = 2000,    // heights of the ground
    MOTION_NUMBERS = 200000, // in all frames, so that a page stays below 2 MB
    MOTION_MANY = 64         // a figure of more points is rounded to visible differences
};
#define TRACE_FRAME 0.01 // s of the motion per frame, unless there are too many frames

const char *trace_name(const ReplayTrace *trace, Arena *arena)
{
    return arena_format(arena, "%s/%lld", trace->campaign->name, (long long)trace->request.trial);
}

static Error trace_put_array(const ReplayTrace *const *traces, int count, const char *id, TracePut *put, FILE *out,
                             Arena *arena)
{
    Json json;
    TextStream stream;
    Error error = error_none();
    TRY(text_stream_open("the animation", &stream));
    json_start(&json, stream.out, false);
    json_array(&json, NULL);
    for (int i = 0; i < count && error.kind == OK; i++) error = put(traces[i], &json, arena);
    json_close(&json, ']');
    const Error closed = text_stream_close(&stream);
    if (error.kind == OK) error = closed;
    if (error.kind == OK) page_put_json(out, id, stream.text);
    free(stream.text);
    return error;
}

Error trace_put_json(const ReplayTrace *const *traces, int count, const char *class_name, TracePut *put, FILE *out,
                     Arena *arena)
{
    fprintf(out, "<div class=\"%s\"></div>\n", class_name);
    return trace_put_array(traces, count, arena_format(arena, "%ss", class_name), put, out, arena); // "motions"
}

// ---- motions --------------------------------------------------------------------------------------------------------

// In m, rounded to a tenth of a millimetre.
static void motion_number(Json *json, const char *name, double value)
{
    json_number(json, name, isfinite(value) ? nearbyint(value * 1e4) / 1e4 : 0);
}

static void motion_shapes(const Drawing *drawing, Json *json)
{
    static const char *const kinds[] = {[SHAPE_ROD] = "rod", [SHAPE_SPRING] = "spring", [SHAPE_DISC] = "disc"};
    json_array(json, "shapes");
    for (int s = 0; s < drawing->n_shapes; s++) {
        const Shape *shape = &drawing->shapes[s];
        json_object(json, NULL);
        json_text(json, "name", shape->name);
        json_text(json, "kind", kinds[shape->kind]);
        json_integer(json, "from", shape->from);
        json_integer(json, "to", shape->to);
        json_number(json, "width", shape->width);
        json_close(json, '}');
    }
    json_close(json, ']');
}

void trace_put_ground(const ReplayTrace *trace, double low, double high, double margin, Json *json)
{
    const double from = low - margin, span = high - low + 2 * margin, step = fmax(margin / 60, span / MOTION_GROUND);
    json_object(json, "ground");
    motion_number(json, "from", from);
    json_number(json, "step", step);
    json_array(json, "height");
    for (int k = 0; k * step <= span; k++) motion_number(json, NULL, trace_ground(trace, from + k * step));
    json_close(json, ']');
    json_close(json, '}');
}

int64_t trace_rows_per_frame(const ReplayTrace *trace, int64_t fit)
{
    const double step = trace->request.sample > 0 ? TRACE_FRAME / trace->request.sample : 1;
    const int64_t frames = fit < 2 ? 2 : fit < TRACE_FRAMES ? fit : TRACE_FRAMES;
    const int64_t each = step > 1 ? (int64_t)(step + 0.5) : 1, most = 1 + (trace->count - 1) / frames;
    return each > most ? each : most;
}

static int64_t motion_each(const ReplayTrace *trace)
{
    return trace_rows_per_frame(trace, MOTION_NUMBERS / (2 * trace_drawing(trace)->n_points + 1));
}

// The rounding (m) of a figure of many points: at most a tenth of a pixel. 0: that of motion_number.
static double motion_grain(const ReplayTrace *trace)
{
    enum { PIXELS = 340 };
    if (trace_drawing(trace)->n_points <= MOTION_MANY) return 0;
    return pow(10, fmax(floor(log10(trace_height(trace) / PIXELS / 10)), -4));
}

static void motion_frames(const ReplayTrace *trace, Json *json)
{
    const Drawing *drawing = trace_drawing(trace);
    const int64_t each = motion_each(trace);
    const double grain = motion_grain(trace);
    double low = (double)INFINITY, high = (double)-INFINITY;
    json_array(json, "time");
    for (int64_t i = 0; i < trace->count; i += each) motion_number(json, NULL, trace->row[i * trace->n_columns]);
    json_close(json, ']');
    json_array(json, "phase");
    for (int64_t i = 0; i < trace->count; i += each) json_integer(json, NULL, trace_phase(trace, i));
    json_close(json, ']');
    json_array(json, "points");
    for (int64_t i = 0; i < trace->count; i += each) {
        const double *point = trace_points(trace, i);
        for (int k = 0; k < 2 * drawing->n_points; k++)
            motion_number(json, NULL, grain > 0 ? nearbyint(point[k] / grain) * grain : point[k]);
        low = fmin(low, point[2 * drawing->focus]);
        high = fmax(high, point[2 * drawing->focus]);
    }
    json_close(json, ']');
    trace_put_ground(trace, low, fmin(high, low + 1000), 3, json); // m
}

static void motion_put_figure(const ReplayTrace *trace, Json *json)
{
    const Drawing *drawing = trace_drawing(trace);
    json_integer(json, "n_points", drawing->n_points);
    json_integer(json, "focus", drawing->focus);
    motion_number(json, "height", trace_height(trace));
    json_array(json, "phases");
    for (int p = 0; p < drawing->n_phases; p++) json_text(json, NULL, drawing->phases[p]);
    json_close(json, ']');
    motion_shapes(drawing, json);
    motion_frames(trace, json);
}

static Error motion_put(const ReplayTrace *trace, Json *json, Arena *arena)
{
    const Drawing *drawing = trace_drawing(trace);
    const char *name = trace_name(trace, arena);
    const int replicate = trace->request.replicate;
    json_object(json, NULL);
    json_text(json, "name", replicate > 0 ? arena_format(arena, "%s/%d", name, replicate) : name);
    json_integer(json, "replicate", trace->request.replicate);
    json_number(json, "fitness", trace->fitness);
    json_text(json, "failure", trace->failure);
    if (drawing->n_solids > 0)
        trace_put_scene(trace, json, arena);
    else
        motion_put_figure(trace, json);
    json_close(json, '}');
    return error_none();
}

Error trace_put_motions(const ReplayTrace *const *traces, int count, FILE *out, Arena *arena)
{
    return trace_put_json(traces, count, "motion", motion_put, out, arena);
}

Error trace_put_another(const ReplayTrace *trace, FILE *out, Arena *arena)
{
    const char *id = arena_format(arena, "motion_%lld", (long long)trace->request.trial);
    if (trace->request.replicate > 0) id = arena_format(arena, "%s/%d", id, trace->request.replicate);
    return trace_put_array(&trace, 1, id, motion_put, out, arena);
}

int64_t trace_frame_bytes(const Drawing *drawing)
{
    enum { BASE = 32, NUMBER = 8, POSE = 19 }; // of a base's position, a rounded number, a pose of 7 times 16 bits
    return drawing->n_solids > 0 ? BASE + (int64_t)POSE * drawing->n_bodies
                                 : (int64_t)NUMBER * (2 * drawing->n_points + 2);
}

// Shows the parameters in which two trials differ; of one trial those that were searched.
static bool page_shows_parameter(const ReplayTrace *const *traces, int count, int parameter)
{
    const Spec *spec = &traces[0]->campaign->spec;
    if (count > 1) {
        const Configured *other = &traces[1]->campaign->spec.configured;
        return parameter >= other->n_parameters || traces[0]->parameter[parameter] != traces[1]->parameter[parameter];
    }
    for (int a = 0; a < spec->n_axes + spec->n_derived + spec->n_outer; a++) {
        if (spec->axes[a].parameter == parameter) return true;
    }
    return false;
}

static void page_put_parameters(const ReplayTrace *const *traces, int count, FILE *out)
{
    const Configured *configured = &traces[0]->campaign->spec.configured;
    const bool same_model = count == 1 || traces[1]->campaign->spec.configured.model == configured->model;
    char unit[64];
    for (int p = 0; same_model && p < configured_named(configured); p++) {
        if (!page_shows_parameter(traces, count, p)) continue;
        fprintf(out, "<tr><th scope=\"row\">%s%s</th>", configured->parameters[p].name,
                plot_unit(configured->parameters[p].unit, unit, sizeof unit));
        for (int i = 0; i < count; i++) {
            const bool has = p < traces[i]->campaign->spec.configured.n_parameters;
            fprintf(out, "<td>%s</td>", has ? text_number(traces[i]->parameter[p]).text : "");
        }
        fputs("</tr>\n", out);
    }
}

static void page_put_table(const ReplayTrace *const *traces, int count, FILE *out, Arena *arena)
{
    fputs("<div class=\"scroll\"><table><thead><tr><th scope=\"col\">trial</th>", out);
    for (int i = 0; i < count; i++) {
        fputs("<th scope=\"col\">", out);
        put_markup(out, trace_name(traces[i], arena));
        fputs("</th>", out);
    }
    fputs("</tr></thead><tbody>\n<tr><th scope=\"row\">fitness</th>", out);
    for (int i = 0; i < count; i++)
        fprintf(out, "<td>%s</td>", isnan(traces[i]->fitness) ? "none" : text_number(traces[i]->fitness).text);
    fputs("</tr>\n<tr><th scope=\"row\">failure</th>", out);
    for (int i = 0; i < count; i++) fprintf(out, "<td>%s</td>", traces[i]->failure);
    fputs("</tr>\n", out);
    page_put_parameters(traces, count, out);
    fputs("</tbody></table></div>\n", out);
}

Error trace_page_begin(const ReplayTrace *const *traces, int count, FILE *out, Arena *arena)
{
    const char *style;
    TRY(report_style(arena, &style));
    page_start(out, trace_name(traces[0], arena), style);
    fputs("<main>\n<header><h1>", out);
    for (int i = 0; i < count; i++) {
        fputs(i > 0 ? " and " : "", out);
        put_markup(out, trace_name(traces[i], arena));
    }
    fputs("</h1></header>\n<section>\n", out);
    return error_none();
}

void trace_page_heading(const ReplayTrace *trace, FILE *out, Arena *arena)
{
    fputs("<section>\n<h2>", out);
    put_markup(out, trace_name(trace, arena));
    fprintf(out, ", replicate %d</h2>\n<div class=\"panels\">\n", trace->request.replicate);
}

Error trace_write_page(const ReplayTrace *const *traces, int count, FILE *out, Arena *arena)
{
    TRY(trace_page_begin(traces, count, out, arena));
    TRY(trace_put_motions(traces, count, out, arena));
    page_put_table(traces, count, out, arena);
    fputs("</section>\n", out);
    for (int i = 0; i < count; i++) {
        Plot plot = {.out = out, .page = true};
        trace_page_heading(traces[i], out, arena);
        trace_plot_phases(traces[i], &plot, arena);
        trace_plot_series(traces[i], &plot, arena);
        fputs("</div>\n", out);
        trace_put_constants(traces[i], out, arena);
        fputs("</section>\n", out);
    }
    fputs("</main>\n", out);
    page_finish(out);
    return error_none();
}
