// Columns of motions as a figure: against time, one panel below the other, or one column against another.
#include "trace.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define MOTION_TOLERANCE 0.05 // pixels that a line may differ from its samples; a path's numbers are of a tenth
#define MOTION_DOTS 5.0       // pixels between two dots of a recording, at least on average

typedef struct MotionFigure {
    const ReplayTrace *const *traces; // [count]
    int count;
    const TraceColumns *asked;
    const int *column; // [asked->count][count] of each trace
} MotionFigure;

static int motion_of(const MotionFigure *figure, int name, int trace)
{
    return figure->column[name * figure->count + trace];
}

// ---- which columns --------------------------------------------------------------------------------------------------

static Error motion_find_one(const ReplayTrace *trace, const char *name, Arena *arena, int *column)
{
    const char **names = ARENA_NEW(arena, const char *, trace->n_columns);
    for (*column = 0; *column < trace->n_columns; ++*column) {
        names[*column] = trace->columns[*column].name;
        if (strcmp(name, names[*column]) == 0) return error_none();
    }
    const char *near = nearest_name(name, names, trace->n_columns), *all = "";
    if (near != NULL)
        return error_make(ERROR_USER, "%.80s has no column '%.60s'; did you mean '%.60s'?", trace_name(trace, arena),
                          text_visible(name, arena), near);
    int shown = 0;
    for (; shown < trace->n_columns && strlen(all) + strlen(names[shown]) < 200; shown++)
        all = arena_format(arena, "%s%s%s", all, shown > 0 ? ", " : "", names[shown]);
    if (shown < trace->n_columns) all = arena_format(arena, "%s and %d more", all, trace->n_columns - shown);
    return error_make(ERROR_USER, "%.80s has no column '%.60s'; its columns are %.240s", trace_name(trace, arena),
                      text_visible(name, arena), all);
}

static const char *motion_unit_of(const ReplayTrace *trace, int column)
{
    return trace->columns[column].unit != NULL ? trace->columns[column].unit : "1";
}

static Error motion_check_samples(const ReplayTrace *trace, Arena *arena)
{
    if (trace->count > 1) return error_none();
    return error_make(ERROR_USER,
                      "there is no line to draw: the motion of %.80s has one sample: name a longer --window or a finer "
                      "--sample",
                      trace_name(trace, arena));
}

static Error motion_find(MotionFigure *figure, Arena *arena)
{
    int *column = ARENA_NEW(arena, int, figure->asked->count * figure->count);
    figure->column = column;
    for (int c = 0; c < figure->asked->count; c++) {
        const char *name = figure->asked->names[c];
        int *of = &column[c * figure->count];
        for (int t = 0; t < figure->count; t++) {
            const ReplayTrace *trace = figure->traces[t], *first = figure->traces[0];
            TRY(motion_find_one(trace, name, arena, &of[t]));
            if (strcmp(motion_unit_of(trace, of[t]), motion_unit_of(first, of[0])) != 0)
                return error_make(ERROR_USER, "%.60s is in %.30s in %.60s and in %.30s in %.60s: draw them one by one",
                                  name, motion_unit_of(first, of[0]), trace_name(first, arena),
                                  motion_unit_of(trace, of[t]), trace_name(trace, arena));
        }
    }
    return error_none();
}

// ---- lines ----------------------------------------------------------------------------------------------------------

typedef struct MotionLine {
    const ReplayTrace *trace;
    const PlotPanel *panel;
    int x, y;
    const int64_t *kept; // [count] rows
    int64_t count, extreme[4];
} MotionLine;

static void motion_point(const MotionLine *line, int64_t k, double *point)
{
    const double *row = &line->trace->row[line->kept[k] * line->trace->n_columns];
    point[0] = plot_at(&line->panel->x, row[line->x]);
    point[1] = plot_at(&line->panel->y, row[line->y]);
}

static bool motion_finite(const double *point) { return isfinite(point[0]) && isfinite(point[1]); }

// All rows; against time, of those at one tenth of a pixel the first, the last, the least and the greatest.
static void motion_keep_rows(MotionLine *line, Arena *arena)
{
    const ReplayTrace *trace = line->trace;
    int64_t *kept = ARENA_NEW(arena, int64_t, trace->count);
    for (int64_t first = 0, end; first < trace->count; first = end) {
        const double *row = &trace->row[first * trace->n_columns];
        const double at = nearbyint(10 * plot_at(&line->panel->x, row[line->x]));
        bool gap = false;
        int64_t low = first, high = first;
        for (end = first; end < trace->count; end++) {
            const double *next = &trace->row[end * trace->n_columns];
            if (end > first && (line->x != 0 || nearbyint(10 * plot_at(&line->panel->x, next[0])) != at)) break;
            gap = gap || !isfinite(next[line->y]);
            if (next[line->y] < trace->row[low * trace->n_columns + line->y]) low = end;
            if (next[line->y] > trace->row[high * trace->n_columns + line->y]) high = end;
        }
        for (int64_t i = first; i < end; i++) {
            if (gap || i == first || i == low || i == high || i == end - 1) kept[line->count++] = i;
        }
    }
    line->kept = kept;
}

// Ends of both axes, which no simplification may move.
static void motion_find_extremes(MotionLine *line)
{
    double best[4] = {(double)INFINITY, (double)-INFINITY, (double)INFINITY, (double)-INFINITY}, point[2];
    for (int e = 0; e < 4; e++) line->extreme[e] = -1;
    for (int64_t k = 0; k < line->count; k++) {
        motion_point(line, k, point);
        for (int e = 0; e < 4 && motion_finite(point); e++) {
            if (e % 2 == 0 ? point[e / 2] >= best[e] : point[e / 2] <= best[e]) continue;
            best[e] = point[e / 2];
            line->extreme[e] = k;
        }
    }
}

static bool motion_is_extreme(const MotionLine *line, int64_t k)
{
    return k == line->extreme[0] || k == line->extreme[1] || k == line->extreme[2] || k == line->extreme[3];
}

// The next point to draw behind the anchor: the last for which the points between them lie within the tolerance of the
// straight line. Directions that all points so far allow are a sector, which becomes narrower (Zhao and Saalfeld,
// "Linear-time sleeve-fitting polyline simplification algorithms", AutoCarto 13, 1997). A line that turns back ends at
// its farthest point. Returns the first point that is not finite, or line->count, if there is none behind it.
static int64_t motion_next(const MotionLine *line, int64_t anchor)
{
    double from[2], point[2], base = 0, low = 0, high = 0, reach = 0;
    int64_t last = anchor, far = anchor;
    bool open = true; // no direction yet
    motion_point(line, anchor, from);
    for (int64_t k = anchor + 1; k < line->count; k++) {
        motion_point(line, k, point);
        if (!motion_finite(point)) return last > anchor ? last : k;
        const double dx = point[0] - from[0], dy = point[1] - from[1], distance = hypot(dx, dy);
        if (distance < reach - MOTION_TOLERANCE) return far;
        if (distance > MOTION_TOLERANCE) {
            const double angle = atan2(dy, dx), half = asin(MOTION_TOLERANCE / distance);
            if (open) base = angle;
            const double turn = remainder(angle - base, 2 * acos(-1.0));
            if (!open && (turn < low || turn > high)) return last;
            low = open ? -half : fmax(low, turn - half);
            high = open ? half : fmin(high, turn + half);
            open = false;
        }
        if (distance >= reach) {
            reach = distance;
            far = k;
        }
        last = k;
        if (motion_is_extreme(line, k)) return k;
    }
    return last > anchor ? last : line->count;
}

static void motion_draw_line(const ReplayTrace *trace, const PlotPanel *panel, int x, int y, const char *class_name,
                             Arena *arena)
{
    const size_t used = arena->used;
    MotionLine line = {.trace = trace, .panel = panel, .x = x, .y = y};
    motion_keep_rows(&line, arena);
    motion_find_extremes(&line);
    SvgPath path = svg_path(panel->plot->out, class_name);
    for (int64_t k = 0; k < line.count;) {
        double point[2];
        motion_point(&line, k, point);
        svg_path_to(&path, point[0], point[1]);
        k = motion_finite(point) ? motion_next(&line, k) : k + 1;
    }
    svg_path_end(&path);
    arena_rewind(arena, used);
}

// ---- recordings -----------------------------------------------------------------------------------------------------

// The values of a column of a recording; of the column of time its times.
static bool motion_recorded(const ReplayTrace *trace, int column, TraceRecorded *out)
{
    for (int c = 1; column == 0 && c < trace->n_columns; c++) {
        if (!trace_find_recorded(trace, c, out)) continue;
        out->value = out->time;
        return true;
    }
    return column > 0 && trace_find_recorded(trace, column, out);
}

// Whether the recording has both columns. False too if a trace before this one has the same recording.
static bool motion_pair_recorded(const MotionFigure *figure, int t, int x, int y, TraceRecorded *of_x,
                                 TraceRecorded *of_y)
{
    const ReplayTrace *trace = figure->traces[t];
    if (!motion_recorded(trace, x, of_x) || !motion_recorded(trace, y, of_y)) return false;
    for (int before = 0; before < t; before++) {
        TraceRecorded other;
        bool same = motion_recorded(figure->traces[before], y, &other) && other.rows == of_y->rows;
        for (int64_t r = 0; r < of_y->rows && same; r++) {
            same = other.time[r * other.columns] == of_y->time[r * of_y->columns] &&
                   (other.value[r * other.columns] == of_y->value[r * of_y->columns] ||
                    isnan(of_y->value[r * of_y->columns]));
        }
        if (same) return false;
    }
    return true;
}

static bool motion_in_time(const ReplayTrace *trace, const TraceRecorded *recorded, int64_t r)
{
    const double time = recorded->time[r * recorded->columns];
    return time >= trace->row[0] && time <= trace->row[(trace->count - 1) * trace->n_columns];
}

// A dot for each row of the recording within the motion's time; of many rows some, evenly.
static void motion_draw_recorded(const MotionFigure *figure, int t, const PlotPanel *panel, int x, int y)
{
    const ReplayTrace *trace = figure->traces[t];
    TraceRecorded of_x, of_y;
    int64_t rows = 0;
    if (!motion_pair_recorded(figure, t, x, y, &of_x, &of_y)) return;
    for (int64_t r = 0; r < of_x.rows; r++) rows += motion_in_time(trace, &of_x, r);
    const double room = (panel->x.to - panel->x.from + panel->y.from - panel->y.to) / MOTION_DOTS;
    const int64_t each = 1 + (int64_t)((double)rows / room);
    fputs("<path class=\"rd\" d=\"", panel->plot->out);
    for (int64_t r = 0; r < of_x.rows; r += each) {
        const double at_x = of_x.value[r * of_x.columns], at_y = of_y.value[r * of_y.columns];
        if (isfinite(at_x) && isfinite(at_y) && motion_in_time(trace, &of_x, r))
            fprintf(panel->plot->out, "M%.1f %.1fh0", plot_at(&panel->x, at_x), plot_at(&panel->y, at_y));
    }
    fputs("\"/>", panel->plot->out);
}

// ---- the key --------------------------------------------------------------------------------------------------------

enum { MOTION_KEYS = TRACE_MOTIONS + 4 };
typedef enum MotionSign { MOTION_LINE, MOTION_BAND, MOTION_RECORDED, MOTION_START } MotionSign;
typedef struct MotionKey {
    MotionSign sign;
    int number;
    const char *text;
} MotionKey;

static PlotColour motion_colour(const MotionFigure *figure, int t)
{
    PlotColour colour = {.line = "ln"};
    return figure->count > 1 ? plot_colour(t) : colour;
}

static bool motion_any_recorded(const MotionFigure *figure)
{
    TraceRecorded x, y;
    for (int t = 0; t < figure->count; t++) {
        for (int c = 0; c < figure->asked->count; c++) {
            const int column = motion_of(figure, c, t);
            if (!figure->asked->pairs && motion_pair_recorded(figure, t, 0, column, &x, &y)) return true;
            if (figure->asked->pairs && c % 2 == 1 &&
                motion_pair_recorded(figure, t, motion_of(figure, c - 1, t), column, &x, &y))
                return true;
        }
    }
    return false;
}

// key[MOTION_KEYS]. A single line without dots and bands needs none.
static int motion_find_keys(const MotionFigure *figure, Arena *arena, MotionKey *key)
{
    int count = 0;
    const ReplayTrace *trace = figure->traces[0];
    const bool recorded = motion_any_recorded(figure);
    for (int t = 0; t < figure->count && (figure->count > 1 || recorded); t++)
        key[count++] =
            (MotionKey){MOTION_LINE, t, figure->count > 1 ? trace_name(figure->traces[t], arena) : "simulated"};
    if (recorded) key[count++] = (MotionKey){MOTION_RECORDED, 0, "recorded"};
    if (figure->asked->pairs) key[count++] = (MotionKey){MOTION_START, 0, "start"};
    for (int p = 0; p < TRACE_SHADED && figure->count == 1 && !figure->asked->pairs; p++) {
        bool met = false;
        for (int64_t i = 0; i < trace->count && !met; i++) met = trace_phase(trace, i) == p;
        if (met) key[count++] = (MotionKey){MOTION_BAND, p, trace_drawing(trace)->phases[p]};
    }
    return count;
}

static void motion_draw_key(const MotionFigure *figure, PlotPanel *panel, const MotionKey *key, double x, double y)
{
    FILE *out = panel->plot->out;
    char name[8];
    snprintf(name, sizeof name, "c%d", key->number);
    switch (key->sign) {
    case MOTION_LINE: plot_key_line(panel, x, y, motion_colour(figure, key->number), key->text); return;
    case MOTION_BAND: plot_key(panel, x, y, name, key->text); return;
    case MOTION_RECORDED:
        fprintf(out, "<path class=\"rd\" d=\"M%.1f %.1fh0M%.1f %.1fh0\"/>", x + 4, y - 4, x + 14, y - 4);
        break;
    case MOTION_START: fprintf(out, "<circle class=\"be\" cx=\"%.1f\" cy=\"%.1f\" r=\"3\"/>", x + 9, y - 4); break;
    }
    svg_text(out, "tk", x + 23, y, "start", key->text);
}

// Keys in as many rows as they need, above all panels.
static void motion_draw_keys(const MotionFigure *figure, Plot *plot, Arena *arena)
{
    MotionKey key[MOTION_KEYS];
    double x[MOTION_KEYS];
    int row[MOTION_KEYS], rows = 0;
    const int count = motion_find_keys(figure, arena, key);
    for (int k = 0; k < count; k++) {
        const double before = k > 0 ? x[k - 1] + 38 + plot_text_width(key[k - 1].text) : 2;
        const bool fits = k == 0 || before + 24 + plot_text_width(key[k].text) <= plot->limit;
        x[k] = fits ? before : 2;
        row[k] = rows += !fits;
    }
    if (count == 0) return;
    PlotPanel panel = plot_plain_panel(plot, PLOT_PICTURE_WIDTH, 8 + PLOT_KEY_ROW * rows, NULL);
    for (int k = 0; k < count; k++) motion_draw_key(figure, &panel, &key[k], x[k], PLOT_KEY_ROW * row[k] + 13);
    plot_panel_end(&panel);
    plot_new_row(plot);
}

// ---- panels ---------------------------------------------------------------------------------------------------------

// Over all traces; with_recorded: and over the dots.
static PlotAxis motion_axis(const MotionFigure *figure, int c)
{
    const Field *field = &figure->traces[0]->columns[motion_of(figure, c, 0)];
    PlotRange range = plot_range();
    for (int t = 0; t < figure->count; t++) {
        const ReplayTrace *trace = figure->traces[t];
        const int column = motion_of(figure, c, t);
        TraceRecorded recorded;
        for (int64_t i = 0; i < trace->count; i++) plot_widen(&range, trace->row[i * trace->n_columns + column]);
        if (!motion_recorded(trace, column, &recorded)) continue;
        for (int64_t r = 0; r < recorded.rows; r++) {
            if (motion_in_time(trace, &recorded, r)) plot_widen(&range, recorded.value[r * recorded.columns]);
        }
    }
    return plot_axis_over(field->name, field->unit, range);
}

// From the first row of any trace to the last.
static PlotAxis motion_time(const MotionFigure *figure)
{
    const Field *field = &figure->traces[0]->columns[0];
    PlotRange range = plot_range();
    for (int t = 0; t < figure->count; t++) {
        const ReplayTrace *trace = figure->traces[t];
        plot_widen(&range, trace->row[0]);
        plot_widen(&range, trace->row[(trace->count - 1) * trace->n_columns]);
    }
    if (!(range.low < range.high)) range.high = range.low + 1;
    return (PlotAxis){.name = field->name, .unit = field->unit, .low = range.low, .high = range.high};
}

static void motion_line_class(const MotionFigure *figure, int t, char *name, size_t size)
{
    snprintf(name, size, figure->count > 1 ? "ln %s" : "%s", motion_colour(figure, t).line);
}

// The panels share the axis of time, which stands below the last.
static void motion_draw_series(const MotionFigure *figure, Plot *plot, Arena *arena)
{
    PlotAxis time = motion_time(figure);
    char name[24];
    const int count = figure->asked->count;
    plot->aligned = true;
    for (int c = 0; c < count; c++) {
        time.shared = c + 1 < count;
        PlotPanel panel =
            plot_panel(plot, PLOT_PICTURE_WIDTH, count > 1 ? 190 : 300, NULL, time, motion_axis(figure, c));
        if (figure->count == 1) trace_draw_bands(figure->traces[0], &panel);
        for (int t = 0; t < figure->count; t++) {
            motion_line_class(figure, t, name, sizeof name);
            motion_draw_line(figure->traces[t], &panel, 0, motion_of(figure, c, t), name, arena);
        }
        for (int t = 0; t < figure->count; t++) motion_draw_recorded(figure, t, &panel, 0, motion_of(figure, c, t));
        plot_panel_end(&panel);
        plot_new_row(plot);
    }
}

static void motion_draw_start(const ReplayTrace *trace, const PlotPanel *panel, int x, int y)
{
    if (!isfinite(trace->row[x]) || !isfinite(trace->row[y])) return;
    fprintf(panel->plot->out, "<circle class=\"be\" cx=\"%.1f\" cy=\"%.1f\" r=\"3\"/>",
            plot_at(&panel->x, trace->row[x]), plot_at(&panel->y, trace->row[y]));
}

static void motion_draw_pairs(const MotionFigure *figure, Plot *plot, Arena *arena)
{
    char name[24];
    for (int c = 0; c < figure->asked->count; c += 2) {
        const bool alone = figure->asked->count == 2;
        PlotPanel panel = plot_panel(plot, alone ? 560 : 440, alone ? 420 : 340, NULL, motion_axis(figure, c),
                                     motion_axis(figure, c + 1));
        for (int t = 0; t < figure->count; t++) {
            const int x = motion_of(figure, c, t), y = motion_of(figure, c + 1, t);
            motion_line_class(figure, t, name, sizeof name);
            motion_draw_line(figure->traces[t], &panel, x, y, name, arena);
        }
        for (int t = 0; t < figure->count; t++) {
            const int x = motion_of(figure, c, t), y = motion_of(figure, c + 1, t);
            motion_draw_recorded(figure, t, &panel, x, y);
            motion_draw_start(figure->traces[t], &panel, x, y);
        }
        plot_panel_end(&panel);
    }
}

static Error motion_draw(const void *of, Plot *plot, Arena *arena)
{
    const MotionFigure *figure = of;
    motion_draw_keys(figure, plot, arena);
    if (figure->asked->pairs)
        motion_draw_pairs(figure, plot, arena);
    else
        motion_draw_series(figure, plot, arena);
    return error_none();
}

static const char *motion_title(const MotionFigure *figure, Arena *arena)
{
    const TraceColumns *asked = figure->asked;
    const char *title = "";
    for (int t = 0; t < figure->count; t++)
        title = arena_format(arena, "%s%s%s", title, t > 0 ? ", " : "", trace_name(figure->traces[t], arena));
    for (int c = 0; c < asked->count; c++) {
        const bool against = asked->pairs && c % 2 == 1;
        const char *name = asked->names[asked->pairs ? c ^ 1 : c];
        title = arena_format(arena, "%s%s%s", title, c == 0 ? ": " : against ? " against " : ", ", name);
    }
    return title;
}

Error trace_write_columns(const ReplayTrace *const *traces, int count, const TraceColumns *asked, const Figure *figure,
                          FILE *out, Arena *arena)
{
    MotionFigure of = {.traces = traces, .count = count, .asked = asked};
    const PlotDrawing drawing = {"of columns", motion_draw, &of};
    for (int t = 0; t < count; t++) TRY(motion_check_samples(traces[t], arena));
    TRY(motion_find(&of, arena));
    return plot_draw_picture(&drawing, figure, motion_title(&of, arena), out, arena);
}
