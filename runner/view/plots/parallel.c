// Parallel coordinates (A. Inselberg, The Visual Computer 1, 1985): an axis per searched parameter and one for the
// fitness, a line per trial. Where the lines of the best trials meet, the parameter has one good value; where they
// spread, any value is good.
#include "plot.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { PARALLEL_OTHERS = 150, PARALLEL_BEST = 50 };

static double parallel_axis_x(const PlotPanel *panel, int index, int count)
{
    return 58 + (panel->width - 116) * (count > 1 ? (double)index / (count - 1) : 0.5);
}

static PlotAxis parallel_axis(const PlotPanel *panel, PlotAxis axis)
{
    axis.from = panel->height - 30;
    axis.to = 34;
    return axis;
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
        svg_path_to(&path, parallel_axis_x(panel, i, count), y < 34 ? 34 : y > axis[i].from ? axis[i].from : y);
    }
    svg_path_end(&path);
}

// Words stand beside their place on the axis, as many as there is room for.
static void parallel_draw_words(FILE *out, const PlotAxis *axis, double x)
{
    double tick[PLOT_TICKS_MAX];
    const int count = plot_ticks(axis, 18, tick);
    for (int i = 0; i < count; i++)
        svg_text(out, "tk", x - 4, plot_at(axis, tick[i]) + 4, "end", value_text(axis->choices, tick[i]).text);
}

static void parallel_draw_axis(const PlotPanel *panel, const PlotAxis *axis, int index, int count)
{
    FILE *out = panel->plot->out;
    const double x = parallel_axis_x(panel, index, count);
    char unit[64];
    svg_line(out, "ax", x, axis->from, x, axis->to);
    if (axis->choices != NULL) {
        parallel_draw_words(out, axis, x);
    } else {
        svg_text(out, "tk", x, axis->to - 5, "middle", plot_short(axis->high).text);
        svg_text(out, "tk", x, axis->from + 13, "middle",
                 plot_short(fabs(axis->low) < 1e-3 * fabs(axis->high) && !axis->log ? 0.0 : axis->low).text);
    }
    svg_text(out, "tt", x, 12, "middle", axis->name);
    svg_text(out, "tk", x, axis->from + 26, "middle", plot_unit(axis->unit, unit, sizeof unit));
}

// The colour of a line, by its rank among the best.
static const char *parallel_class(int64_t rank, char *name, size_t size)
{
    const int64_t step = PLOT_CLASSES - 1 - rank * (PLOT_CLASSES - 3) / PARALLEL_BEST;
    snprintf(name, size, "s%d", (int)step);
    return rank == 0 ? "bl" : name;
}

static Error parallel_draw(const PlotData *data, Plot *plot, Arena *arena)
{
    const int count = data->n_varied + 1;
    const double width = count <= 9 ? 896 : 100.0 * count;
    PlotPanel panel = plot_plain_panel(plot, width, 330, NULL);
    PlotAxis *axis = ARENA_NEW(arena, PlotAxis, count);
    char name[16];
    for (int i = 0; i < data->n_varied; i++) axis[i] = parallel_axis(&panel, plot_axis_of(&data->gain[data->order[i]]));
    axis[data->n_varied] = parallel_axis(&panel, plot_fitness_axis(data));
    for (int64_t s = 0, drawn = 0; s < data->n_sample && drawn < PARALLEL_OTHERS; s++) {
        if (isnan(data->fitness[s])) continue;
        parallel_line(data, &panel, axis, &data->value[s * data->n_gains], data->fitness[s], "li", data->id[s]);
        drawn++;
    }
    for (int64_t b = data->n_best < PARALLEL_BEST ? data->n_best : PARALLEL_BEST; b-- > 0;)
        parallel_line(data, &panel, axis, &data->best_value[b * data->n_gains], data->best_fitness[b],
                      parallel_class(b, name, sizeof name), data->best_id[b]);
    for (int i = 0; i < count; i++) parallel_draw_axis(&panel, &axis[i], i, count);
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
