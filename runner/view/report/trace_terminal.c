// A trace as an animation in the terminal, in real time. If the output is not a terminal (a file, a log): a few
// figures, one below the other.
#include "trace.h"

#include <math.h>
#include <string.h>
#include <time.h>

enum {
    SCREEN_COLUMNS_MAX = 160,
    SCREEN_ROWS_MAX = 48,
    SCREEN_STILLS = 5,
    SCREEN_STILL_COLUMNS = 36,
    SCREEN_STILL_ROWS = 14
};
static const double screen_frame_seconds = 1.0 / 30;

// ---- one frame ------------------------------------------------------------------------------------------------------

// From metres to dots: the figure in the middle, the ground near the bottom.
typedef struct ScreenView {
    Canvas *canvas;
    double scale, x, level; // dots per metre; x of the middle and height of the ground there (m)
} ScreenView;

static double screen_x(const ScreenView *view, double x) { return view->canvas->columns + (x - view->x) * view->scale; }
static double screen_y(const ScreenView *view, double y)
{
    return 4 * view->canvas->rows - 4 - (y - view->level) * view->scale;
}

static void screen_draw_shape(const ScreenView *view, const Shape *shape, const double *point)
{
    const double *from = &point[2 * shape->from], *to = &point[2 * shape->to];
    const double x1 = screen_x(view, from[0]), y1 = screen_y(view, from[1]);
    const double x2 = screen_x(view, to[0]), y2 = screen_y(view, to[1]);
    const double length = hypot(x2 - x1, y2 - y1), half = shape->width / 2 * view->scale;
    if (shape->kind == SHAPE_DISC) {
        canvas_disc(view->canvas, x1, y1, half);
        return;
    }
    const double side = length > 0 ? half / length : 0, nx = -(y2 - y1) * side, ny = (x2 - x1) * side;
    if (shape->kind == SHAPE_SPRING || half < 1.5) {
        canvas_line(view->canvas, x1, y1, x2, y2);
        return;
    }
    for (double k = -1; k <= 1; k += 1 / half)
        canvas_line(view->canvas, x1 + k * nx, y1 + k * ny, x2 + k * nx, y2 + k * ny);
}

static void screen_draw(const ReplayTrace *trace, int64_t i, double scale, Canvas *canvas)
{
    const Drawing *drawing = trace_drawing(trace);
    const double *point = trace_points(trace, i);
    ScreenView view = {.canvas = canvas, .scale = scale, .x = point[2 * drawing->focus]};
    view.level = trace_ground(trace, view.x);
    canvas_clear(canvas);
    for (int dot = 0; dot < 2 * canvas->columns; dot++) {
        const double x = view.x + (dot - canvas->columns) / scale, y = screen_y(&view, trace_ground(trace, x));
        canvas_dot(canvas, dot, y);
        if (fabs(x * 2 - nearbyint(x * 2)) * scale < 1) canvas_line(canvas, dot, y, dot, y + 2); // each half metre
    }
    for (int s = 0; s < drawing->n_shapes; s++) screen_draw_shape(&view, &drawing->shapes[s], point);
}

// Dots per metre at which all of the motion is visible.
static double screen_scale(const ReplayTrace *trace, const Canvas *canvas)
{
    return (4 * canvas->rows - 6) / trace_height(trace);
}

static void screen_put_words(const ReplayTrace *trace, int64_t i, FILE *out)
{
    const int phase = trace_phase(trace, i);
    put_visible(out, trace->campaign->name);
    fprintf(out, "/%lld  %.2f s  %s", (long long)trace->request.trial, trace->row[i * trace->n_columns],
            phase >= 0 ? trace_drawing(trace)->phases[phase] : "");
    if (i + 1 == trace->count && strcmp(trace->failure, "none") != 0)
        fprintf(out, ", then it failed: %s", trace->failure);
}

// ---- still and moving -----------------------------------------------------------------------------------------------

static void screen_put_stills(const ReplayTrace *trace, FILE *out, Arena *arena)
{
    Canvas canvas = canvas_take(SCREEN_STILL_COLUMNS, SCREEN_STILL_ROWS, arena);
    const double scale = screen_scale(trace, &canvas);
    for (int k = 0; k < SCREEN_STILLS; k++) {
        const int64_t i = (trace->count - 1) * k / (SCREEN_STILLS - 1);
        screen_draw(trace, i, scale, &canvas);
        canvas_put(&canvas, terminal_utf8(), out);
        screen_put_words(trace, i, out);
        fputs("\n\n", out);
    }
}

static void screen_wait(double seconds)
{
    const struct timespec wait = {.tv_sec = (time_t)seconds, .tv_nsec = (long)((seconds - floor(seconds)) * 1e9)};
    nanosleep(&wait, NULL);
}

// The last row before a time, from row `from` on.
static int64_t screen_row_at(const ReplayTrace *trace, int64_t from, double time)
{
    while (from + 1 < trace->count && trace->row[(from + 1) * trace->n_columns] <= time) from++;
    return from;
}

static void screen_animate(const ReplayTrace *trace, FILE *out, Arena *arena)
{
    const size_t used = arena->used;
    const bool utf8 = terminal_utf8();
    const double first = trace->row[0], start = clock_seconds();
    for (int64_t i = 0; i + 1 < trace->count && interrupt_requested() == 0;) {
        const int columns = terminal_columns(out), rows = terminal_rows(out) - 2; // the user may resize the terminal
        arena_rewind(arena, used);
        Canvas canvas = canvas_take(columns < SCREEN_COLUMNS_MAX ? columns : SCREEN_COLUMNS_MAX,
                                    rows < 4                 ? 4
                                    : rows < SCREEN_ROWS_MAX ? rows
                                                             : SCREEN_ROWS_MAX,
                                    arena);
        i = screen_row_at(trace, i, first + clock_seconds() - start);
        screen_draw(trace, i, screen_scale(trace, &canvas), &canvas);
        fputs("\033[2J\033[H", out);
        canvas_put(&canvas, utf8, out);
        screen_put_words(trace, i, out);
        fflush(out);
        screen_wait(screen_frame_seconds);
    }
}

Error trace_play(const ReplayTrace *trace, FILE *out, Arena *arena)
{
    if (trace_drawing(trace) == NULL || trace->count == 0)
        return error_make(ERROR_USER, "model %s has no drawing: --svg draws its columns, -o FILE.csv writes them",
                          trace->campaign->spec.model->name);
    if (!terminal_interactive(out)) {
        screen_put_stills(trace, out, arena);
        return error_none();
    }
    interrupt_install();
    terminal_enter(out);
    screen_animate(trace, out, arena);
    terminal_leave(out);
    screen_put_words(trace, trace->count - 1, out);
    fputc('\n', out);
    return interrupt_requested() != 0 ? error_make(ERROR_INTERRUPTED, "%s", "") : error_none();
}
