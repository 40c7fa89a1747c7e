// A trace as pictures: figures of one cycle of the motion side by side, and every column against time.
#include "trace.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TRACE_FIGURES = 9, TRACE_POINTS = 600, TRACE_RECORDED = 32, TRACE_THINGS = 8 };
#define TRACE_WIDTH 896.0 // of the panel of figures
#define TRACE_SEEN 4.0    // pixels; a smaller figure is not drawn

double trace_ground(const ReplayTrace *trace, double x)
{
    const Drawing *drawing = trace_drawing(trace);
    if (drawing->ground == NULL) return trace->level;
    return drawing->ground(trace->configured, trace->parameter, x);
}

// At most eight times the height at the start: a motion that diverges leaves the picture. Without ground, the height is
// at least half the width.
double trace_height(const ReplayTrace *trace)
{
    const Drawing *drawing = trace_drawing(trace);
    double height = drawing->ground != NULL ? 0.1 : 0.001, start = 0;
    for (int64_t i = 0; i < trace->count; i++) {
        const double *point = trace_points(trace, i);
        const double ground = trace_ground(trace, point[2 * drawing->focus]);
        for (int k = 0; k < drawing->n_points; k++) {
            height = fmax(height, point[2 * k + 1] - ground);
            if (drawing->ground == NULL) height = fmax(height, fabs(point[2 * k] - point[2 * drawing->focus]));
        }
        if (i == 0) start = height;
    }
    return 1.08 * fmin(height, 8 * start);
}

int trace_phase(const ReplayTrace *trace, int64_t i)
{
    const Drawing *drawing = trace_drawing(trace);
    if (drawing == NULL || drawing->phase < 0) return -1;
    const double phase = trace->row[i * trace->n_columns + drawing->phase];
    return phase >= 0 && phase < drawing->n_phases ? (int)phase : -1;
}

// ---- figures --------------------------------------------------------------------------------------------------------

// From metres to pixels.
typedef struct TraceView {
    FILE *out;
    double scale, x, y; // pixels per metre; pixel of the point (origin, 0)
    double origin;      // m
} TraceView;

static double trace_x(const TraceView *view, double x) { return view->x + (x - view->origin) * view->scale; }
static double trace_y(const TraceView *view, double y) { return view->y - y * view->scale; }

// A zigzag of eight strokes between two straight ends.
static void trace_draw_spring(const TraceView *view, const Shape *shape, const double *from, const double *to)
{
    const double dx = to[0] - from[0], dy = to[1] - from[1], length = hypot(dx, dy);
    const double side = length > 0 ? shape->width / 2 / length : 0;
    SvgPath path = {.out = view->out};
    fprintf(view->out, "<path class=\"%s\" stroke-width=\"1.5\" stroke-linejoin=\"round\" d=\"", shape->name);
    svg_path_to(&path, trace_x(view, from[0]), trace_y(view, from[1]));
    for (int k = 0; k < 8; k++) {
        const double along = 0.12 + 0.76 * (k + 0.5) / 8, across = k % 2 == 0 ? side : -side;
        svg_path_to(&path, trace_x(view, from[0] + along * dx - across * dy),
                    trace_y(view, from[1] + along * dy + across * dx));
    }
    svg_path_to(&path, trace_x(view, to[0]), trace_y(view, to[1]));
    svg_path_end(&path);
}

static void trace_draw_rod(const TraceView *view, const Shape *shape, const double *from, const double *to)
{
    fprintf(view->out,
            "<line class=\"%s\" stroke-linecap=\"round\" stroke-width=\"%.1f\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" "
            "y2=\"%.1f\"/>",
            shape->name, shape->width * view->scale, trace_x(view, from[0]), trace_y(view, from[1]),
            trace_x(view, to[0]), trace_y(view, to[1]));
}

static void trace_draw_disc(const TraceView *view, const Shape *shape, const double *at, const double *to)
{
    (void)to;
    fprintf(view->out, "<circle class=\"%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\"/>", shape->name, trace_x(view, at[0]),
            trace_y(view, at[1]), shape->width / 2 * view->scale);
}

static void (*const trace_draw_shape[])(const TraceView *, const Shape *, const double *, const double *) = {
    [SHAPE_ROD] = trace_draw_rod, [SHAPE_SPRING] = trace_draw_spring, [SHAPE_DISC] = trace_draw_disc};

static void trace_draw_ground(const ReplayTrace *trace, const TraceView *view, double half)
{
    SvgPath path = svg_path(view->out, "gd");
    for (int k = 0; k <= 12; k++) {
        const double x = view->origin + half * (k / 6.0 - 1);
        svg_path_to(&path, trace_x(view, x), trace_y(view, trace_ground(trace, x)));
    }
    svg_path_end(&path);
}

static void trace_draw_figure(const ReplayTrace *trace, const TraceView *view, const double *point)
{
    const Drawing *drawing = trace_drawing(trace);
    for (int s = 0; s < drawing->n_shapes; s++) {
        const Shape *shape = &drawing->shapes[s];
        trace_draw_shape[shape->kind](view, shape, &point[2 * shape->from], &point[2 * shape->to]);
    }
}

// The last cycle of a motion with a period. Without one, all of a motion in space.
static bool trace_find_period(const ReplayTrace *trace, int64_t *first, int64_t *end)
{
    const Drawing *drawing = trace_drawing(trace);
    const double period = drawing->period != NULL ? drawing->period(trace->configured, trace->parameter) : 0;
    *first = 0;
    *end = trace->count - 1;
    const double from = trace->row[*end * trace->n_columns] - period;
    if (!(period > 0) || from < trace->row[0] - 1e-9) return false;
    while (*first < *end && trace->row[*first * trace->n_columns] < from - 1e-9) ++*first;
    return true;
}

// Finds the last whole cycle of the motion; without one the last second, and returns false.
static bool trace_find_cycle(const ReplayTrace *trace, int64_t *first, int64_t *end)
{
    const Drawing *drawing = trace_drawing(trace);
    int64_t starts[2] = {-1, -1}; // the last two
    for (int64_t i = 1; i < trace->count; i++) {
        if (trace_phase(trace, i) != (int)drawing->cycle_starts || trace_phase(trace, i - 1) == trace_phase(trace, i))
            continue;
        starts[0] = starts[1];
        starts[1] = i;
    }
    *first = starts[0];
    *end = starts[1];
    if (starts[0] >= 0) return true;
    const double last = trace->row[(trace->count - 1) * trace->n_columns];
    *end = trace->count - 1;
    for (*first = *end; *first > 0 && trace->row[*first * trace->n_columns] > last - 1;) --*first;
    return false;
}

// The greatest width or height of the figure in these rows (m).
static double trace_extent(const ReplayTrace *trace, int64_t first, int64_t end)
{
    const Drawing *drawing = trace_drawing(trace);
    double extent = 0;
    for (int k = 0; k < TRACE_FIGURES; k++) {
        const double *point = trace_points(trace, first + (end - first) * k / (TRACE_FIGURES - 1));
        for (int p = 0; p < 2 * drawing->n_points; p++) extent = fmax(extent, fabs(point[p] - point[p % 2]));
    }
    return extent;
}

void trace_plot_phases(const ReplayTrace *trace, Plot *plot, Arena *arena)
{
    const Drawing *drawing = trace_drawing(trace);
    char text[64];
    int64_t first, end;
    if (drawing == NULL || trace->count < 2) return;
    const bool solids = drawing->n_solids > 0;
    const bool cycle = solids ? trace_find_period(trace, &first, &end) : trace_find_cycle(trace, &first, &end);
    const char *title = cycle ? "One cycle of the motion" : first > 0 ? "The last second of the motion" : "The motion";
    if (solids) {
        trace_plot_poses(trace, plot, title, first, end, arena);
        return;
    }
    const double column = TRACE_WIDTH / TRACE_FIGURES, height = trace_height(trace);
    const double most = drawing->ground != NULL ? 1.15 * column : 0.48 * column / height;
    const double scale = fmin(206 / height, most), bottom = 30 + ceil(height * scale);
    if (trace_extent(trace, first, end) * scale < TRACE_SEEN) return;
    PlotPanel panel = plot_plain_panel(plot, TRACE_WIDTH, bottom + 64, title);
    for (int k = 0; k < TRACE_FIGURES; k++) {
        const int64_t i = first + (end - first) * k / (TRACE_FIGURES - 1);
        const double *point = trace_points(trace, i);
        TraceView view = {.out = plot->out, .scale = scale, .x = column * (k + 0.5), .y = bottom};
        view.origin = point[2 * drawing->focus];
        view.y += trace_ground(trace, view.origin) * scale;
        trace_draw_ground(trace, &view, 0.44 * column / scale);
        trace_draw_figure(trace, &view, point);
        snprintf(text, sizeof text, "%.3f s", trace->row[i * trace->n_columns]);
        svg_text(plot->out, "la", view.x, bottom + 26, "middle", text);
        const int phase = trace_phase(trace, i);
        if (phase >= 0) svg_text(plot->out, "tk", view.x, bottom + 42, "middle", drawing->phases[phase]);
    }
    plot_panel_end(&panel);
}

// ---- one figure -----------------------------------------------------------------------------------------------------

#define STAGE_EDGE 40.0 // pixels around the figure, at least

TraceStage trace_figure_stage(const ReplayTrace *trace, double width, double height)
{
    const double most = trace_height(trace), tall = (height - 2 * STAGE_EDGE) / most;
    const double wide = (width / 2 - STAGE_EDGE) / most;
    return (TraceStage){.width = width,
                        .height = height,
                        .scale = trace_drawing(trace)->ground != NULL ? tall : fmin(tall, wide),
                        .x = width / 2,
                        .y = height - STAGE_EDGE};
}

// Marks at round places.
static void trace_draw_marks(const ReplayTrace *trace, const TraceView *view, double half)
{
    const PlotAxis axis = {.low = view->origin - half, .high = view->origin + half, .from = 0, .to = 2 * view->x};
    double tick[PLOT_TICKS_MAX];
    const int count = plot_ticks(&axis, 90, tick);
    for (int k = 0; k < count; k++) {
        const double x = trace_x(view, tick[k]), y = trace_y(view, trace_ground(trace, tick[k]));
        svg_line(view->out, "gd", x, y, x, y + 7);
    }
}

void trace_figure_at(const ReplayTrace *trace, const TraceStage *stage, int64_t i, FILE *out)
{
    const Drawing *drawing = trace_drawing(trace);
    const double *point = trace_points(trace, i);
    TraceView view = {
        .out = out, .scale = stage->scale, .x = stage->x, .y = stage->y, .origin = point[2 * drawing->focus]};
    const double half = stage->width / 2 / stage->scale;
    if (!isfinite(view.origin)) return;
    view.y += trace_ground(trace, view.origin) * view.scale;
    SvgPath path = svg_path(out, "gd");
    for (int k = 0; k <= 160; k++) {
        const double x = view.origin + half * (k / 80.0 - 1);
        svg_path_to(&path, trace_x(&view, x), trace_y(&view, trace_ground(trace, x)));
    }
    svg_path_end(&path);
    trace_draw_marks(trace, &view, half);
    trace_draw_figure(trace, &view, point);
}

// ---- time series ----------------------------------------------------------------------------------------------------

// The curves of one panel: neighbouring columns of one unit.
typedef struct TraceCurves {
    const char *name, *unit;
    int column, count;
    const char *const *lines; // [count] names; NULL: a single curve
} TraceCurves;

bool trace_find_recorded(const ReplayTrace *trace, int column, TraceRecorded *out)
{
    const Points *record = trace->recorded;
    *out = (TraceRecorded){0};
    for (int64_t k = 0; record != NULL && k < record->columns && record->count > 0; k++) {
        if (strcmp(record->names[k], "time") == 0) out->time = record->numbers + k;
        if (strcmp(record->names[k], trace->columns[column].name) == 0) out->value = record->numbers + k;
    }
    if (out->time == NULL || out->value == NULL) return false;
    out->columns = record->columns;
    out->rows = record->count / record->columns;
    return true;
}

bool trace_has_recorded(const ReplayTrace *trace)
{
    TraceRecorded unused;
    for (int c = 1; c < trace->n_columns; c++) {
        if (trace_find_recorded(trace, c, &unused)) return true;
    }
    return false;
}

// Long names stand one below the other.
static bool trace_keys_stand(const TraceCurves *curves)
{
    size_t letters = 0;
    for (int k = 0; curves->lines != NULL && k < curves->count; k++) letters += strlen(curves->lines[k]);
    return letters > 8;
}

static PlotAxis trace_curves_axis(const ReplayTrace *trace, const TraceCurves *curves)
{
    PlotRange range = plot_range();
    for (int64_t i = 0; i < trace->count; i++) {
        for (int k = 0; k < curves->count; k++)
            plot_widen(&range, trace->row[i * trace->n_columns + curves->column + k]);
    }
    for (int k = 0; k < curves->count; k++) {
        TraceRecorded recorded;
        if (!trace_find_recorded(trace, curves->column + k, &recorded)) continue;
        for (int64_t r = 0; r < recorded.rows; r++) plot_widen(&range, recorded.value[r * recorded.columns]);
    }
    PlotAxis axis = plot_axis_over(curves->name, curves->unit, range);
    const double rows = trace_keys_stand(curves) ? curves->count : 1; // room for the key above the lines
    if (curves->lines != NULL) axis.high += 0.2 * rows * (axis.high - axis.low);
    return axis;
}

const char *trace_shaded(const ReplayTrace *trace, Arena *arena)
{
    const Drawing *drawing = trace_drawing(trace);
    bool met[TRACE_SHADED] = {false};
    const char *names = "";
    for (int64_t i = 0; i < trace->count; i++) {
        const int phase = trace_phase(trace, i);
        if (phase >= 0 && phase < TRACE_SHADED) met[phase] = true;
    }
    for (int p = 0; p < TRACE_SHADED; p++) {
        if (met[p]) names = arena_format(arena, "%s%s%s", names, names[0] != '\0' ? ", " : "", drawing->phases[p]);
    }
    return names;
}

void trace_draw_bands(const ReplayTrace *trace, const PlotPanel *panel)
{
    char name[16];
    int64_t first = 0;
    for (int64_t i = 1; i <= trace->count; i++) {
        const int phase = trace_phase(trace, first);
        if (i < trace->count && trace_phase(trace, i) == phase) continue;
        const double left = plot_at(&panel->x, trace->row[first * trace->n_columns]);
        const double right = plot_at(&panel->x, trace->row[(i < trace->count ? i : i - 1) * trace->n_columns]);
        snprintf(name, sizeof name, "c%d ce", phase);
        if (phase >= 0 && phase < TRACE_SHADED)
            svg_rectangle(panel->plot->out, name, left, panel->y.to, right - left, panel->y.from - panel->y.to);
        first = i;
    }
}

// Many samples: the least and the greatest of each pixel are drawn, in the order of time.
static void trace_draw_line(const ReplayTrace *trace, const PlotPanel *panel, const char *class_name, int column)
{
    SvgPath path = svg_path(panel->plot->out, class_name);
    const int64_t each = 1 + trace->count / (TRACE_POINTS / 2);
    for (int64_t first = 0; first < trace->count; first += each) {
        int64_t low = first, high = first;
        for (int64_t i = first; i < first + each && i < trace->count; i++) {
            const double value = trace->row[i * trace->n_columns + column];
            if (value < trace->row[low * trace->n_columns + column]) low = i;
            if (value > trace->row[high * trace->n_columns + column]) high = i;
        }
        const int64_t order[2] = {low < high ? low : high, low < high ? high : low};
        for (int k = low == high ? 1 : 0; k < 2; k++)
            svg_path_to(&path, plot_at(&panel->x, trace->row[order[k] * trace->n_columns]),
                        plot_at(&panel->y, trace->row[order[k] * trace->n_columns + column]));
    }
    svg_path_end(&path);
}

// A dot for each recorded number; of many rows some, evenly.
static void trace_draw_recorded(const ReplayTrace *trace, const PlotPanel *panel, int column)
{
    TraceRecorded recorded;
    if (!trace_find_recorded(trace, column, &recorded)) return;
    const int64_t each = 1 + recorded.rows / TRACE_RECORDED;
    fputs("<path class=\"rd\" d=\"", panel->plot->out);
    for (int64_t r = 0; r < recorded.rows; r += each) {
        const double time = recorded.time[r * recorded.columns], value = recorded.value[r * recorded.columns];
        if (isnan(value) || time < panel->x.low || time > panel->x.high) continue;
        fprintf(panel->plot->out, "M%.1f %.1fh0", plot_at(&panel->x, time), plot_at(&panel->y, value));
    }
    fputs("\"/>", panel->plot->out);
}

static PlotAxis trace_time_axis(const ReplayTrace *trace)
{
    const double end = trace->row[(trace->count - 1) * trace->n_columns];
    PlotAxis time = {.name = trace->columns[0].name, .unit = trace->columns[0].unit, .low = trace->row[0], .high = end};
    if (!(time.high > time.low)) time.high = time.low + 1;
    return time;
}

static void trace_draw_curves(const ReplayTrace *trace, Plot *plot, double width, double height,
                              const TraceCurves *curves)
{
    PlotPanel panel = plot_panel(plot, width, height, NULL, trace_time_axis(trace), trace_curves_axis(trace, curves));
    trace_draw_bands(trace, &panel);
    for (int k = 0; k < curves->count; k++)
        trace_draw_line(trace, &panel, curves->lines == NULL ? "ln" : plot_colour(k).line, curves->column + k);
    for (int k = 0; k < curves->count; k++) trace_draw_recorded(trace, &panel, curves->column + k);
    double x = panel.x.from + 6, y = panel.y.to + 8;
    for (int k = 0; curves->lines != NULL && k < curves->count; k++) {
        const double next = plot_key_line(&panel, x, y, plot_colour(k), curves->lines[k]);
        if (trace_keys_stand(curves))
            y += 13;
        else
            x = next;
    }
    plot_panel_end(&panel);
}

static bool trace_shows(const ReplayTrace *trace, int column)
{
    for (int c = 0; c < trace->n_shown; c++) {
        if (trace->shown[c] == column) return true;
    }
    return false;
}

// Finds the first panel of each thing (body) that is drawn: of many things some, evenly from the first to the last.
// panel[n_panels]; *things: the number that the trace shows. Returns the number drawn.
static int trace_find_things(const ReplayTrace *trace, int *panel, int *things)
{
    const Configured *configured = trace->configured;
    const char *last = "";
    int count = 0;
    for (int p = 0; p < configured->n_panels; p++) {
        if (strcmp(configured->panels[p].of, last) == 0 || !trace_shows(trace, configured->panels[p].column)) continue;
        last = configured->panels[p].of;
        panel[count++] = p;
    }
    *things = count;
    if (count <= TRACE_THINGS) return count;
    for (int k = 0; k < TRACE_THINGS; k++) panel[k] = panel[(int64_t)k * (count - 1) / (TRACE_THINGS - 1)];
    return TRACE_THINGS;
}

// Says how many things have no curves, and how to see them.
static void trace_say_left_out(const ReplayTrace *trace, Plot *plot, int drawn, int things)
{
    char text[160];
    const Configured *configured = trace->configured;
    if (drawn == (configured->things_whole ? things : configured->n_things)) return;
    snprintf(text, sizeof text, "Curves of %d of %d groups of columns, from the first to the last", drawn, things);
    if (!configured->things_whole)
        snprintf(text, sizeof text, "Curves of %d of %d %s%s; replay --bodies NAMES shows others", drawn,
                 configured->n_things, configured->things_are,
                 drawn < things ? ", from the first to the last that are recorded" : "");
    PlotPanel panel = plot_plain_panel(plot, 896, 26, text);
    plot_panel_end(&panel);
    plot_new_row(plot);
}

static bool trace_panel_changes(const ColumnPanel *panel, const TraceConstant *constant)
{
    for (int k = 0; k < panel->count; k++) {
        if (!constant[panel->column + k].is) return true;
    }
    return false;
}

// One row of panels per thing: its columns that change.
static void trace_plot_things(const ReplayTrace *trace, Plot *plot, const TraceConstant *constant, Arena *arena)
{
    char name[96];
    const Configured *configured = trace->configured;
    int *first = ARENA_NEW(arena, int, configured->n_panels), things;
    const int drawn = trace_find_things(trace, first, &things);
    trace_say_left_out(trace, plot, drawn, things);
    for (int k = 0; k < drawn; k++) {
        const ColumnPanel *of = &configured->panels[first[k]];
        for (int p = first[k]; p < configured->n_panels && strcmp(configured->panels[p].of, of->of) == 0; p++) {
            const ColumnPanel *panel = &configured->panels[p];
            if (!trace_panel_changes(panel, constant)) continue;
            const TraceCurves curves = {name, panel->unit, panel->column, panel->count, panel->lines};
            snprintf(name, sizeof name, "%s %s", panel->of, panel->title);
            trace_draw_curves(trace, plot, 212, 172, &curves);
        }
        plot_new_row(plot);
    }
}

void trace_plot_series(const ReplayTrace *trace, Plot *plot, Arena *arena)
{
    int constants;
    const TraceConstant *constant = trace_constants(trace, arena, &constants);
    if (trace->count < 2) return;
    if (trace->configured->n_panels > 0 && !trace->request.debug) {
        trace_plot_things(trace, plot, constant, arena);
        return;
    }
    for (int c = 1; c < trace->n_columns; c++) {
        if (constant[c].is) continue;
        const TraceCurves curves = {trace->columns[c].name, trace->columns[c].unit, c, 1, NULL};
        trace_draw_curves(trace, plot, 288, 190, &curves);
    }
}

Error trace_write_svg(const ReplayTrace *trace, FILE *out, Arena *arena)
{
    TextStream panels;
    TRY(text_stream_open("the picture", &panels));
    Plot plot = {.out = panels.out, .limit = PLOT_PICTURE_WIDTH};
    trace_plot_phases(trace, &plot, arena);
    plot_new_row(&plot);
    trace_plot_series(trace, &plot, arena);
    trace_plot_constants(trace, &plot, arena);
    const Error error = text_stream_close(&panels);
    const char *name = text_visible(trace->campaign->name, arena);
    if (error.kind == OK)
        plot_write_picture(&plot, NULL,
                           arena_format(arena, "%s/%lld, replicate %d: fitness %s", name,
                                        (long long)trace->request.trial, trace->request.replicate,
                                        isnan(trace->fitness) ? trace->failure : plot_short(trace->fitness).text),
                           panels.text, out);
    free(panels.text);
    return error;
}
