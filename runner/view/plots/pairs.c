// Heat maps of each pair of searched parameters: the best fitness of the trials in a cell. Two parameters that must
// change together show as a slanted valley. A campaign with two parameters has one larger map.
#include "plot.h"

#include <math.h>

enum { PAIRS_GAINS = 8 }; // parameters that are drawn, the most important first

typedef struct PairsContext {
    const PlotData *data;
    int x, y;                           // gains
    double threshold[PLOT_CLASSES - 1]; // between classes, ascending
} PairsContext;

static int pairs_shown(const PlotData *data) { return data->n_varied < PAIRS_GAINS ? data->n_varied : PAIRS_GAINS; }

// Of the values of all cells.
static void pairs_find_thresholds(PairsContext *context, Arena *arena)
{
    const PlotData *data = context->data;
    const int shown = pairs_shown(data);
    double *best = ARENA_NEW(arena, double, shown *shown *PLOT_BINS *PLOT_BINS);
    int64_t count = 0;
    for (int i = 0; i < shown; i++) {
        for (int j = 0; j < i; j++) {
            for (int c = 0; c < PLOT_BINS * PLOT_BINS; c++) {
                const double value =
                    plot_cell(data, data->order[j], data->order[i], c % PLOT_BINS, c / PLOT_BINS)->best;
                if (isfinite(value)) best[count++] = value;
            }
        }
    }
    plot_find_thresholds(best, count, context->threshold);
}

// The best cells have the last colour.
static int pairs_class(const void *context_of, int x, int y)
{
    const PairsContext *context = context_of;
    const PlotCell *cell = plot_cell(context->data, context->x, context->y, x, y);
    if (!isfinite(cell->best)) return cell->count > 0 ? PLOT_FAILED : -1;
    const int below = plot_class(cell->best, context->threshold);
    return context->data->maximize ? below : PLOT_CLASSES - 1 - below;
}

// The number of cells of the one map of two parameters; 0: there are more maps.
static int pairs_bins(const PlotData *data)
{
    return data->n_varied == 2 ? data->gain[data->order[0]].n_bins * data->gain[data->order[1]].n_bins : 0;
}

// Whether no cell holds more than one trial.
static bool pairs_exact(const PlotData *data) { return data->trials <= pairs_bins(data); }

static const char pairs_failed[] = "no trial with a fitness";

static void pairs_draw_key(const PairsContext *context, Plot *plot)
{
    double worst_first[PLOT_CLASSES - 1];
    const bool failed = context->data->ranked < context->data->trials;
    const char *text =
        pairs_exact(context->data) ? "fitness: worse to better" : "best fitness in the cell: worse to better";
    const double width = plot_panel_width(plot, 440), key = plot_text_width(text) + 24;
    const bool beside = width - key > plot_text_width(pairs_failed) + 20; // the colour of failed cells
    PlotPanel panel = plot_plain_panel(plot, 440, failed && !beside ? 66 : 52, NULL);
    for (int t = 0; t < PLOT_CLASSES - 1; t++)
        worst_first[t] = context->threshold[context->data->maximize ? t : PLOT_CLASSES - 2 - t];
    plot_scale_key(&panel, 4, 20, fmin(400, width - 24), worst_first, text);
    if (failed) plot_key(&panel, beside ? fmax(key, 280) : 4, beside ? 14 : 60, PLOT_FAILED_CLASS, pairs_failed);
    plot_panel_end(&panel);
    plot_new_row(plot);
}

static void pairs_draw_map(const PairsContext *context, double width, double height, Plot *plot)
{
    const PlotData *data = context->data;
    const PlotGain *x = &data->gain[context->x], *y = &data->gain[context->y];
    PlotPanel panel = plot_panel(plot, width, height, NULL, plot_axis_of(x), plot_axis_of(y));
    plot_cells(&panel, x->n_bins, y->n_bins, x->edge, y->edge, pairs_class, context);
    plot_mark(&panel, "be", plot_at(&panel.x, data->best_value[context->x]),
              plot_at(&panel.y, data->best_value[context->y]), 3.5, data->best_id[0], "the best trial");
    plot_panel_end(&panel);
}

static Error pairs_draw(const PlotData *data, Plot *plot, Arena *arena)
{
    PairsContext context = {.data = data};
    const int shown = pairs_shown(data);
    pairs_find_thresholds(&context, arena);
    pairs_draw_key(&context, plot);
    if (shown == 2) { // in the order of the spec
        context.x = data->order[0] < data->order[1] ? data->order[0] : data->order[1];
        context.y = data->order[0] + data->order[1] - context.x;
        pairs_draw_map(&context, 440, 420, plot);
        return error_none();
    }
    for (int i = 1; i < shown; i++) {
        for (int j = 0; j < i; j++) {
            context.x = data->order[j];
            context.y = data->order[i];
            pairs_draw_map(&context, 218, 214, plot);
        }
    }
    return error_none();
}

static const char *pairs_nothing(const PlotData *data, Arena *arena)
{
    const char *none = data->n_varied > 1 ? NULL : "fewer than two searched parameters have two values";
    return data->n_best > 0 ? none : plot_no_fitness(data, arena);
}

static const char *pairs_caption(const PlotData *data, Arena *arena)
{
    const char *what = pairs_exact(data) ? "The fitness of each trial" : "The best fitness of the trials in each cell";
    const char *which =
        data->n_varied > PAIRS_GAINS ? ", for the eight parameters that matter most by rank correlation" : "";
    const char *failed = data->ranked < data->trials ? "Outlined cell: no trial has a fitness. " : "";
    const char *empty = data->trials != pairs_bins(data) ? "Empty cell: no trial. " : "";
    return arena_format(arena, "%s%s. %s%sDot: the best trial.", what, which, failed, empty);
}

const PlotKind plot_pairs = {
    .name = "pairs",
    .title = "Pairs of parameters",
    .caption = pairs_caption,
    .draw = pairs_draw,
    .nothing = pairs_nothing,
};
