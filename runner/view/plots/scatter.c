// Fitness against each searched parameter: the number of trials, and along the lower edge the best fitness in each bin
// of the parameter. A flat edge: the parameter matters little. A valley: its best value.
#include "plot.h"

#include <math.h>
#include <string.h>

enum { SCATTER_ROWS = 40, SCATTER_POINTS = 1500 }; // trials that are drawn one by one; more are counted

// Trials of the sample by fitness (row) and by the value of one gain (bin).
typedef struct ScatterCounts {
    int64_t count[SCATTER_ROWS][PLOT_BINS], most;
    int n_x;
} ScatterCounts;

static void scatter_edges(const PlotAxis *axis, double *edge)
{
    for (int i = 0; i <= SCATTER_ROWS; i++) {
        const double fraction = (double)i / SCATTER_ROWS;
        edge[i] = axis->log ? axis->low * pow(axis->high / axis->low, fraction)
                            : axis->low + fraction * (axis->high - axis->low);
    }
}

static void scatter_count(const PlotData *data, int g, const PlotAxis *fitness, ScatterCounts *counts)
{
    memset(counts, 0, sizeof *counts);
    counts->n_x = data->gain[g].n_bins;
    for (int64_t s = 0; s < data->n_sample; s++) {
        const double value = data->fitness[s];
        if (!(value >= fitness->low && value < fitness->high)) continue;
        const double fraction = fitness->log ? log(value / fitness->low) / log(fitness->high / fitness->low)
                                             : (value - fitness->low) / (fitness->high - fitness->low);
        if (!(fraction >= 0 && fraction <= 1)) continue;
        const int row = (int)(fraction * SCATTER_ROWS),
                  bin = plot_bin(&data->gain[g], data->value[s * data->n_gains + g]);
        int64_t *count = &counts->count[row < SCATTER_ROWS ? row : SCATTER_ROWS - 1][bin];
        if (++*count > counts->most) counts->most = *count;
    }
}

// By the logarithm of the count, so that a single trial is visible beside thousands.
static int scatter_class(const void *context, int x, int y)
{
    const ScatterCounts *counts = context;
    const int64_t count = counts->count[y][x];
    if (count == 0) return -1;
    const double fraction = log((double)count + 1) / log((double)counts->most + 1);
    const int class_number = (int)(fraction * (PLOT_CLASSES - 1) + 0.5);
    return class_number < 1 ? 1 : class_number;
}

static void scatter_points(const PlotData *data, int g, PlotPanel *panel)
{
    for (int64_t s = 0; s < data->n_sample; s++) {
        if (!(data->fitness[s] >= panel->y.low && data->fitness[s] <= panel->y.high)) continue;
        char tip[128];
        const double value = data->value[s * data->n_gains + g];
        snprintf(tip, sizeof tip, "trial %lld: %s at %s", (long long)data->id[s], plot_short(data->fitness[s]).text,
                 plot_value(data->gain[g].choices, value).text);
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
                           plot_short(data->best_fitness[0]).text, plot_value(data->gain[g].choices, value).text));
}

static Error scatter_draw(const PlotData *data, Plot *plot, Arena *arena)
{
    if (data->axes != NULL) return plot_draw_columns(data, plot, arena);
    ScatterCounts *counts = ARENA_NEW(arena, ScatterCounts, 1);
    const PlotAxis fitness = plot_fitness_axis(data);
    double edge[SCATTER_ROWS + 1];
    scatter_edges(&fitness, edge);
    for (int i = 0; i < data->n_varied; i++) {
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

// Names the parameters that are not drawn, because they have one value.
static const char *scatter_constants(const PlotData *data, Arena *arena)
{
    const char *names = "";
    for (int i = data->n_varied; i < data->n_gains; i++) {
        const PlotGain *gain = &data->gain[data->order[i]];
        char unit[64];
        names = arena_format(arena, "%s%s%s = %s%s", names, i > data->n_varied ? ", " : "", gain->name,
                             plot_value(gain->choices, gain->low).text, plot_unit(gain->unit, unit, sizeof unit));
    }
    return data->n_varied < data->n_gains ? arena_format(arena, " The same in all trials: %s.", names) : "";
}

static const char *scatter_caption(const PlotData *data, Arena *arena)
{
    const char *best = data->best_fitness[0] < plot_quantile(data, 1) ? " The best trial is marked." : "";
    const bool beyond = plot_quantile(data, 1) > plot_fitness_axis(data).high;
    const char *above = beyond ? " The worst 2 % lie above the axis." : "";
    const char *marks =
        data->n_sample <= SCATTER_POINTS
            ? "A dot per trial."
            : arena_format(arena,
                           "Colour: the number of trials, on a logarithmic scale%s. Line: the best fitness of "
                           "the trials in that bin.",
                           data->trials > PLOT_SAMPLE ? ", counted in a sample of 100,000" : "");
    return arena_format(arena, "%s%s%s%s", marks, best, above, scatter_constants(data, arena));
}

static const char *scatter_nothing(const PlotData *data, Arena *arena)
{
    return data->axes == NULL ? plot_no_gain(data, arena) : data->trials > 0 ? NULL : "there is no trial";
}

const PlotKind plot_scatter = {
    .name = "scatter",
    .title = "Fitness against each parameter",
    .caption = scatter_caption,
    .draw = scatter_draw,
    .nothing = scatter_nothing,
};
