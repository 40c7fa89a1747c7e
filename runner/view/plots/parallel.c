// Parallel coordinates (A. Inselberg, The Visual Computer 1, 1985): an axis per searched parameter and one for the
// fitness, a line per trial. Where the lines of the best trials meet, the parameter has one good value; where they
// spread, any value is good.
#include "plot.h"

#include <inttypes.h>
#include <math.h>

enum { PARALLEL_OTHERS = 150, PARALLEL_BEST = 50 };

#define PARALLEL_LEVEL 13.0 // pixels from one level of texts to the next
enum { PARALLEL_LEVELS = 4 };

// Texts of neighbouring axes that do not fit beside each other stand on different levels.
typedef struct ParallelTexts {
    double width[PLOT_GAINS_MAX + 1]; // pixels, cut
    double x[PLOT_GAINS_MAX + 1];     // of their middles
    int level[PLOT_GAINS_MAX + 1], levels;
} ParallelTexts;

static double parallel_axis_x(double width, int index, int count)
{
    const double edge = fmin(58, 0.08 * width + 12);
    return edge + (width - 2 * edge) * (count > 1 ? (double)index / (count - 1) : 0.5);
}

// texts->width[count] is known. A text is cut to `most` pixels, and stays inside of the panel.
static void parallel_place(double panel, int count, ParallelTexts *texts)
{
    const double apart = count > 1 ? parallel_axis_x(panel, 1, count) - parallel_axis_x(panel, 0, count) : panel;
    const double most = fmin(panel, PARALLEL_LEVELS * apart) - 8;
    double end[PARALLEL_LEVELS];
    for (int k = 0; k < PARALLEL_LEVELS; k++) end[k] = -(double)INFINITY;
    texts->levels = 1;
    for (int i = 0; i < count; i++) {
        const double half = fmin(texts->width[i], most) / 2, axis = parallel_axis_x(panel, i, count);
        texts->width[i] = 2 * half;
        texts->x[i] = fmax(fmin(axis, panel - half - 2), half + 2);
        int level = 0;
        while (level + 1 < PARALLEL_LEVELS && texts->x[i] - half < end[level] + 7) level++;
        texts->level[i] = level;
        end[level] = texts->x[i] + half;
        if (level + 1 > texts->levels) texts->levels = level + 1;
    }
}

static void parallel_line(const PlotData *data, const PlotPanel *panel, const PlotAxis *axis, const double *value,
                          double fitness, const char *class_name, int64_t trial)
{
    FILE *out = panel->plot->out;
    const int count = data->n_varied + 1;
    fprintf(out, "<path class=\"%s\" data-trial=\"%" PRId64 "\" d=\"", class_name, trial);
    SvgPath path = {.out = out};
    for (int i = 0; i < count; i++) {
        const double x = i < data->n_varied ? value[data->order[i]] : fitness;
        const double y = plot_at(&axis[i], x);
        svg_path_to(&path, parallel_axis_x(panel->width, i, count), fmin(fmax(y, axis[i].to), axis[i].from));
    }
    svg_path_end(&path);
}

// Words stand beside their place on the axis, as many as there is room for.
static void parallel_draw_words(FILE *out, const PlotAxis *axis, double x, double room)
{
    char cut[256];
    double tick[PLOT_TICKS_MAX];
    const int count = plot_ticks(axis, 18, tick);
    for (int i = 0; i < count; i++)
        svg_text(out, "tk", x - 4, plot_at(axis, tick[i]) + 4, "end",
                 plot_cut(value_text(axis->choices, tick[i]).text, room, cut, sizeof cut));
}

// The texts of an axis: above it its name and its greatest value, below it its least value with the unit.
typedef enum ParallelText { PARALLEL_NAME, PARALLEL_HIGH, PARALLEL_LOW, PARALLEL_TEXTS } ParallelText;

static const char *parallel_text(const PlotAxis *axis, ParallelText which, Arena *arena)
{
    char unit[64];
    const double low = fabs(axis->low) < 1e-3 * fabs(axis->high) && !axis->log ? 0.0 : axis->low;
    if (which == PARALLEL_NAME)
        return arena_format(arena, "%s%s", axis->name, plot_unit(axis->unit, unit, sizeof unit));
    if (axis->choices != NULL) return "";
    return arena_copy(arena, plot_short(which == PARALLEL_HIGH ? axis->high : low).text);
}

// Where texts of axes stand: y of the first level; the others are above it (step < 0) or below.
static void parallel_draw_texts(const PlotPanel *panel, const PlotAxis *axis, int count, ParallelText which, double y,
                                double step, const ParallelTexts *texts, Arena *arena)
{
    char cut[256];
    for (int i = 0; i < count; i++)
        svg_text(panel->plot->out, which == PARALLEL_NAME ? "la" : "tk", texts->x[i], y + step * texts->level[i],
                 "middle", plot_cut(parallel_text(&axis[i], which, arena), texts->width[i] + 1, cut, sizeof cut));
}

static void parallel_draw_axis(const PlotPanel *panel, const PlotAxis *axis, int index, int count)
{
    FILE *out = panel->plot->out;
    const double x = parallel_axis_x(panel->width, index, count);
    const double before = index > 0 ? parallel_axis_x(panel->width, index - 1, count) : 0;
    svg_line(out, "ax", x, axis->from, x, axis->to);
    if (axis->choices != NULL) parallel_draw_words(out, axis, x, x - before - 10);
}

// The colour of a line, by its rank among the best.
static const char *parallel_class(int64_t rank, char *name, size_t size)
{
    const int64_t step = PLOT_CLASSES - 1 - rank * (PLOT_CLASSES - 3) / PARALLEL_BEST;
    snprintf(name, size, "s%d", (int)step);
    return rank == 0 ? "bl" : name;
}

static void parallel_draw_lines(const PlotData *data, const PlotPanel *panel, const PlotAxis *axis)
{
    char name[16];
    for (int64_t s = 0, drawn = 0; s < data->n_sample && drawn < PARALLEL_OTHERS; s++) {
        if (isnan(data->fitness[s])) continue;
        parallel_line(data, panel, axis, &data->value[s * data->n_gains], data->fitness[s], "li", data->id[s]);
        drawn++;
    }
    for (int64_t b = data->n_best < PARALLEL_BEST ? data->n_best : PARALLEL_BEST; b-- > 0;)
        parallel_line(data, panel, axis, &data->best_value[b * data->n_gains], data->best_fitness[b],
                      parallel_class(b, name, sizeof name), data->best_id[b]);
}

static Error parallel_draw(const PlotData *data, Plot *plot, Arena *arena)
{
    const int count = data->n_varied + 1;
    const double asked = count <= 9 || plot->figure ? 896 : 100.0 * count, width = plot_panel_width(plot, asked);
    PlotAxis *axis = ARENA_NEW(arena, PlotAxis, count);
    ParallelTexts *texts = ARENA_NEW(arena, ParallelTexts, PARALLEL_TEXTS);
    for (int i = 0; i < data->n_varied; i++) axis[i] = plot_axis_of(&data->gain[data->order[i]]);
    axis[data->n_varied] = plot_fitness_axis(data);
    for (int t = 0; t < PARALLEL_TEXTS; t++) {
        for (int i = 0; i < count; i++)
            texts[t].width[i] = plot_text_width(parallel_text(&axis[i], (ParallelText)t, arena));
        parallel_place(width, count, &texts[t]);
    }
    const double names = 13 + PARALLEL_LEVEL * (texts[PARALLEL_NAME].levels - 1);
    const double top = names + 5 + PARALLEL_LEVEL * texts[PARALLEL_HIGH].levels + 3;
    const double below = 8 + PARALLEL_LEVEL * texts[PARALLEL_LOW].levels;
    const double height = top + below + plot_panel_height(plot, asked, 330) - PLOT_AROUND;
    PlotPanel panel = plot_plain_panel(plot, asked, height, NULL);
    for (int i = 0; i < count; i++) {
        axis[i].from = height - below;
        axis[i].to = top;
    }
    parallel_draw_lines(data, &panel, axis);
    for (int i = 0; i < count; i++) parallel_draw_axis(&panel, &axis[i], i, count);
    parallel_draw_texts(&panel, axis, count, PARALLEL_NAME, names, -PARALLEL_LEVEL, &texts[PARALLEL_NAME], arena);
    parallel_draw_texts(&panel, axis, count, PARALLEL_HIGH, top - 5, -PARALLEL_LEVEL, &texts[PARALLEL_HIGH], arena);
    parallel_draw_texts(&panel, axis, count, PARALLEL_LOW, height - below + 13, PARALLEL_LEVEL, &texts[PARALLEL_LOW],
                        arena);
    plot_panel_end(&panel);
    return error_none();
}

static const char *parallel_caption(const PlotData *data, Arena *arena)
{
    const bool others = data->n_best > PARALLEL_BEST;
    const char *lines = others ? "A line per trial: the 50 best, the best in front; pale: some of the others."
                               : "A line per trial, the best in front.";
    const bool beyond = plot_quantile(data, 1) > plot_fitness_axis(data).high;
    return arena_format(arena, "%s%s", lines, beyond ? " A fitness beyond its axis is drawn at the end." : "");
}

const PlotKind plot_parallel = {
    .name = "parallel",
    .title = "Parallel coordinates",
    .caption = parallel_caption,
    .draw = parallel_draw,
    .nothing = plot_no_gain,
};
