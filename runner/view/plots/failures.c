// Failures: trials by kind of failure, and for each searched parameter the share of each kind along its range.
#include "plot.h"

#include <inttypes.h>
#include <math.h>

#define FAILURES_HEIGHT 224.0 // of a panel
#define FAILURES_ROW 40.0     // of a kind

static int failures_kinds(const PlotData *data) { return data->campaign->spec.configured.n_failures; }

static int64_t failures_total(const PlotData *data)
{
    int64_t total = 0;
    for (int f = 1; f < failures_kinds(data); f++) total += data->failures[f];
    return total;
}

static int failures_met(const PlotData *data)
{
    int kinds = 0;
    for (int f = 0; f < failures_kinds(data); f++) kinds += data->failures[f] > 0;
    return kinds;
}

// Whether to draw failures along parameters: not if all trials ended in the same way.
static bool failures_along(const PlotData *data)
{
    return failures_met(data) > 1 && data->n_varied > 0 && !data->kinds_mixed;
}

static const char *failures_class(int kind, char *name, size_t size)
{
    snprintf(name, size, "k%d", kind == 0 ? 0 : 1 + (kind - 1) % 6);
    return name;
}

static const char *failures_name(const PlotData *data, int kind)
{
    return kind == 0 ? "no failure" : data->campaign->spec.configured.failures[kind];
}

// The x at which bars begin: right of the longest name.
static double failures_bars(const PlotData *data)
{
    double from = 84;
    for (int f = 0; f < failures_kinds(data); f++) {
        const double end = plot_text_width(failures_name(data, f)) + 10;
        if (data->failures[f] > 0 && end > from) from = end;
    }
    return from < 180 ? from : 180;
}

static void failures_draw_kinds(const PlotData *data, Plot *plot, Arena *arena)
{
    const double from = failures_bars(data), needed = 34 + FAILURES_ROW * failures_met(data);
    const double beside = plot_panel_height(plot, 288, FAILURES_HEIGHT);
    const bool alone = plot_panel_width(plot, 288) >= plot->limit - 1; // in its row
    const double height = failures_along(data) && !alone ? fmax(needed, beside) : needed;
    PlotPanel panel = plot_plain_panel(plot, 288, height, "Trials by kind");
    const double room = panel.width - 8 - from;
    char name[16];
    double y = 34;
    for (int f = 0; f < failures_kinds(data); f++) {
        if (data->failures[f] == 0) continue;
        const double fraction = (double)data->failures[f] / (double)data->trials;
        svg_text(plot->out, "la", 2, y + 9, "start", failures_name(data, f));
        svg_rectangle(plot->out, failures_class(f, name, sizeof name), from, y, room * fraction + 1, 12);
        svg_text(plot->out, "tk", from, y + 25, "start",
                 arena_format(arena, "%s, %.3g %%", text_count(data->failures[f]).text, 100 * fraction));
        y += FAILURES_ROW;
    }
    plot_panel_end(&panel);
}

static void failures_bar(const PlotData *data, PlotPanel *panel, int g, int b)
{
    const PlotGain *gain = &data->gain[g];
    const int64_t *kinds = &data->bin_failures[(g * PLOT_BINS + b) * failures_kinds(data)];
    const int64_t count = data->bin[g * PLOT_BINS + b].count;
    const double left = plot_at(&panel->x, gain->edge[b]), right = plot_at(&panel->x, gain->edge[b + 1]);
    double below = 0;
    char name[24];
    for (int f = 1; f < failures_kinds(data); f++) {
        if (kinds[f] == 0) continue;
        const double fraction = (double)kinds[f] / (double)count, top = plot_at(&panel->y, 100 * (below + fraction));
        svg_rectangle(panel->plot->out, failures_class(f, name, sizeof name), left + 0.4, top, right - left - 0.8,
                      plot_at(&panel->y, 100 * below) - top);
        below += fraction;
    }
}

// ---- two gains at once ----------------------------------------------------------------------------------------------

enum { FAILURES_PAIRED = 3 }; // gains: those along which the share of failures varies most

typedef struct FailuresPair {
    const PlotData *data;
    int x, y;
} FailuresPair;

static int failures_pair_class(const void *context, int x, int y)
{
    const FailuresPair *pair = context;
    const PlotCell *cell = plot_cell(pair->data, pair->x, pair->y, x, y);
    if (cell->count == 0) return -1;
    return (int)((double)cell->failed / (double)cell->count * (PLOT_CLASSES - 0.01));
}

// The variance of the share of failures over the bins of a gain, times the number of trials.
static double failures_variance(const PlotData *data, int g)
{
    const double mean = (double)failures_total(data) / (double)data->trials;
    double variance = 0;
    for (int b = 0; b < data->gain[g].n_bins; b++) {
        const PlotCell *bin = &data->bin[g * PLOT_BINS + b];
        const double share = bin->count > 0 ? (double)bin->failed / (double)bin->count - mean : 0;
        variance += (double)bin->count * share * share;
    }
    return variance;
}

static int failures_find_paired(const PlotData *data, int *paired)
{
    int count = 0;
    for (int g = 0; g < data->n_gains; g++) {
        if (!plot_varies(&data->gain[g])) continue;
        int at = count < FAILURES_PAIRED ? count++ : FAILURES_PAIRED;
        for (; at > 0 && failures_variance(data, g) > failures_variance(data, paired[at - 1]); at--) {
            if (at < FAILURES_PAIRED) paired[at] = paired[at - 1];
        }
        if (at < FAILURES_PAIRED) paired[at] = g;
    }
    return count;
}

static void failures_draw_pairs(const PlotData *data, Plot *plot)
{
    static const double shares[] = {12.5, 25, 37.5, 50, 62.5, 75, 87.5};
    int paired[FAILURES_PAIRED + 1];
    const int count = failures_find_paired(data, paired);
    if (count < 2 || failures_total(data) == data->trials) return;
    plot_new_row(plot);
    PlotPanel key = plot_plain_panel(plot, 440, 52, NULL);
    plot_scale_key(&key, 4, 20, fmin(400, key.width - 24), shares, "failed (%) in each cell");
    plot_panel_end(&key);
    plot_new_row(plot);
    for (int i = 1; i < count; i++) {
        for (int j = 0; j < i; j++) {
            const FailuresPair pair = {data, paired[j], paired[i]};
            const PlotGain *x = &data->gain[pair.x], *y = &data->gain[pair.y];
            PlotPanel panel = plot_panel(plot, 288, 250, NULL, plot_axis_of(x), plot_axis_of(y));
            plot_cells(&panel, x->n_bins, y->n_bins, x->edge, y->edge, failures_pair_class, &pair);
            plot_panel_end(&panel);
        }
    }
}

static double failures_most(const PlotData *data)
{
    double most = 0;
    for (int i = 0; i < data->n_gains * PLOT_BINS; i++) {
        const PlotCell *bin = &data->bin[i];
        const double fraction = bin->count > 0 ? (double)bin->failed / (double)bin->count : 0;
        most = fraction > most ? fraction : most;
    }
    return most;
}

static Error failures_draw(const PlotData *data, Plot *plot, Arena *arena)
{
    const double most = failures_most(data);
    const double high = most > 0.5 ? 100 : most > 0.2 ? 50 : most > 0.1 ? 20 : most > 0.05 ? 10 : 5;
    const PlotAxis y = {.name = "failed (%)", .low = 0, .high = high};
    failures_draw_kinds(data, plot, arena);
    for (int i = 0; i < data->n_varied && failures_along(data); i++) {
        const int g = data->order[i];
        PlotPanel panel = plot_panel(plot, 288, FAILURES_HEIGHT, NULL, plot_axis_of(&data->gain[g]), y);
        for (int b = 0; b < data->gain[g].n_bins; b++) {
            if (data->bin[g * PLOT_BINS + b].count > 0) failures_bar(data, &panel, g, b);
        }
        plot_panel_end(&panel);
    }
    failures_draw_pairs(data, plot);
    return error_none();
}

static const char *failures_nothing(const PlotData *data, Arena *arena)
{
    return failures_total(data) > 0 ? NULL
                                    : arena_format(arena, "none of %s trials failed", text_count(data->trials).text);
}

static const char *failures_caption(const PlotData *data, Arena *arena)
{
    const bool pairs = data->n_varied > 1 && failures_total(data) < data->trials;
    if (failures_met(data) == 1) return "All trials failed in the same way.";
    if (data->n_varied == 0) return "How trials ended.";
    return arena_format(arena, "How trials ended. Along each parameter: the share of trials that failed, by kind.%s",
                        pairs ? " For pairs of the parameters along which it varies most: the share in each cell."
                              : "");
}

const PlotKind plot_failures = {
    .name = "failures",
    .title = "Failures",
    .caption = failures_caption,
    .draw = failures_draw,
    .nothing = failures_nothing,
};
