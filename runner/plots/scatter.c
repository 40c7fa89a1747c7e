// Fitness against each gain: how many trials lie where, and along the lower edge the best fitness that any trial had
// with the gain in that bin. A flat edge says that the gain matters little, a valley where it should be.
#include "plot.h"

#include <math.h>
#include <string.h>

enum { SCATTER_ROWS = 40, SCATTER_POINTS = 1500 }; // up to so many trials are shown one by one

// count[row][bin] of one gain's trials in the sample
typedef struct ScatterCounts {
    int64_t count[SCATTER_ROWS][PLOT_BINS], most;
    int n_x;
} ScatterCounts;

static void scatter_edges(const PlotAxis *axis, double *edge)
{
    for (int i = 0; i <= SCATTER_ROWS; i++) {
        const double part = (double)i / SCATTER_ROWS;
        edge[i] =
            axis->log ? axis->low * pow(axis->high / axis->low, part) : axis->low + part * (axis->high - axis->low);
    }
}

static void scatter_count(const PlotData *data, int g, const PlotAxis *fitness, ScatterCounts *counts)
{
    memset(counts, 0, sizeof *counts);
    counts->n_x = data->gain[g].n_bins;
    for (int64_t s = 0; s < data->n_sample; s++) {
        const double value = data->fitness[s];
        if (!(value >= fitness->low && value < fitness->high)) continue;
        const double part = fitness->log ? log(value / fitness->low) / log(fitness->high / fitness->low)
                                         : (value - fitness->low) / (fitness->high - fitness->low);
        if (!(part >= 0 && part <= 1)) continue;
        const int row = (int)(part * SCATTER_ROWS), bin = plot_bin(&data->gain[g], data->value[s * data->n_gains + g]);
        int64_t *count = &counts->count[row < SCATTER_ROWS ? row : SCATTER_ROWS - 1][bin];
        if (++*count > counts->most) counts->most = *count;
    }
}

// By the logarithm of the count: a single trial is to be seen beside thousands.
static int scatter_class(const void *context, int x, int y)
{
    const ScatterCounts *counts = context;
    const int64_t count = counts->count[y][x];
    if (count == 0) return -1;
    const double part = log((double)count + 1) / log((double)counts->most + 1);
    const int class_number = (int)(part * (PLOT_CLASSES - 1) + 0.5);
    return class_number < 1 ? 1 : class_number;
}

static void scatter_points(const PlotData *data, int g, PlotPanel *panel)
{
    for (int64_t s = 0; s < data->n_sample; s++) {
        if (!(data->fitness[s] >= panel->y.low && data->fitness[s] <= panel->y.high)) continue;
        char tip[96];
        const double value = data->value[s * data->n_gains + g];
        snprintf(tip, sizeof tip, "trial %lld: %s at %s", (long long)data->id[s], plot_short(data->fitness[s]).text,
                 plot_short(value).text);
        plot_mark(panel, "pt", plot_at(&panel->x, value), plot_at(&panel->y, data->fitness[s]), 2, data->id[s], tip);
    }
}

static void scatter_edge_line(const PlotData *data, int g, PlotPanel *panel)
{
    const PlotGain *gain = &data->gain[g];
    SvgPath path = svg_path(panel->plot->out, "ln");
    for (int b = 0; b < gain->n_bins; b++) {
        const double best = data->bin[g * PLOT_BINS + b].best;
        const double middle = (plot_at(&panel->x, gain->edge[b]) + plot_at(&panel->x, gain->edge[b + 1])) / 2;
        const bool inside = best >= panel->y.low && best <= panel->y.high;
        svg_path_to(&path, middle, inside ? plot_at(&panel->y, best) : (double)NAN);
    }
    svg_path_end(&path);
}

static void scatter_best(const PlotData *data, int g, PlotPanel *panel, Arena *arena)
{
    const double value = data->best_value[g];
    plot_mark(panel, "be", plot_at(&panel->x, value), plot_at(&panel->y, data->best_fitness[0]), 4, data->best_id[0],
              arena_format(arena, "the best, trial %lld: %s at %s", (long long)data->best_id[0],
                           plot_short(data->best_fitness[0]).text, plot_short(value).text));
}

static Error scatter_draw(const PlotData *data, Plot *plot, Arena *arena)
{
    ScatterCounts *counts = ARENA_NEW(arena, ScatterCounts, 1);
    const PlotAxis fitness = plot_fitness_axis(data);
    double edge[SCATTER_ROWS + 1];
    scatter_edges(&fitness, edge);
    for (int i = 0; i < data->n_gains; i++) {
        const int g = data->order[i];
        PlotPanel panel = plot_panel(plot, 288, 224, NULL, plot_axis_of(&data->gain[g]), fitness);
        if (data->n_sample <= SCATTER_POINTS) {
            scatter_points(data, g, &panel);
        } else {
            scatter_count(data, g, &fitness, counts);
            plot_cells(&panel, counts->n_x, SCATTER_ROWS, data->gain[g].edge, edge, scatter_class, counts);
            scatter_edge_line(data, g, &panel);
        }
        scatter_best(data, g, &panel, arena);
        plot_panel_end(&panel);
    }
    return error_none();
}

static const char *scatter_nothing(const PlotData *data, Arena *arena)
{
    (void)arena;
    return data->n_gains == 0 ? "nothing was searched" : data->n_best == 0 ? "no trial has a fitness" : NULL;
}

const PlotKind plot_scatter = {
    .name = "scatter",
    .title = "Fitness against each gain",
    .caption =
        "Colour: how many trials, on a logarithmic scale; of more than 100,000 a sample is counted. Line: the best "
        "fitness of all trials in that bin. Dot: the best trial. The worst 2 % lie beyond the axis.",
    .draw = scatter_draw,
    .nothing = scatter_nothing,
};
