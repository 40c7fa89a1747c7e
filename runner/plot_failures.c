// What failed, how, and where: trials by kind of failure, and for each gain the share of each kind along its range.
#include "plot.h"

#include <inttypes.h>
#include <math.h>

static int failures_kinds(const PlotData *data) { return data->campaign->spec.configured.n_failures; }

static int64_t failures_total(const PlotData *data)
{
    int64_t total = 0;
    for (int f = 1; f < failures_kinds(data); f++) total += data->failures[f];
    return total;
}

static const char *failures_class(int kind, char *name, size_t size)
{
    snprintf(name, size, "k%d", kind == 0 ? 0 : 1 + (kind - 1) % 6);
    return name;
}

static void failures_draw_kinds(const PlotData *data, Plot *plot, Arena *arena)
{
    PlotPanel panel = plot_panel(plot, 288, 224, "Trials by kind", (PlotAxis){0}, (PlotAxis){0});
    char name[16];
    double y = 34;
    for (int f = 0; f < failures_kinds(data); f++) {
        if (data->failures[f] == 0) continue;
        const double part = (double)data->failures[f] / (double)data->trials;
        svg_text(plot->out, "la", 2, y + 9, "start",
                 f == 0 ? "no failure" : data->campaign->spec.configured.failures[f]);
        svg_rectangle(plot->out, failures_class(f, name, sizeof name), 84, y, 196 * part + 1, 12);
        svg_text(plot->out, "tk", 84, y + 25, "start",
                 arena_format(arena, "%s, %.3g %%", text_count(data->failures[f]).text, 100 * part));
        y += 40;
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
        const double part = (double)kinds[f] / (double)count, top = plot_at(&panel->y, 100 * (below + part));
        svg_rectangle(panel->plot->out, failures_class(f, name, sizeof name), left + 0.4, top, right - left - 0.8,
                      plot_at(&panel->y, 100 * below) - top);
        below += part;
    }
}

static double failures_most(const PlotData *data)
{
    double most = 0;
    for (int i = 0; i < data->n_gains * PLOT_BINS; i++) {
        const PlotCell *bin = &data->bin[i];
        const double part = bin->count > 0 ? (double)bin->failed / (double)bin->count : 0;
        most = part > most ? part : most;
    }
    return most;
}

static Error failures_draw(const PlotData *data, Plot *plot, Arena *arena)
{
    const double most = failures_most(data);
    const double high = most > 0.5 ? 100 : most > 0.2 ? 50 : most > 0.1 ? 20 : most > 0.05 ? 10 : 5;
    const PlotAxis y = {.name = "failed (%)", .low = 0, .high = high};
    failures_draw_kinds(data, plot, arena);
    for (int i = 0; i < data->n_gains; i++) {
        const int g = data->order[i];
        PlotPanel panel = plot_panel(plot, 288, 224, NULL, plot_axis_of(&data->gain[g]), y);
        for (int b = 0; b < data->gain[g].n_bins; b++) {
            if (data->bin[g * PLOT_BINS + b].count > 0) failures_bar(data, &panel, g, b);
        }
        plot_panel_end(&panel);
    }
    return error_none();
}

static const char *failures_nothing(const PlotData *data, Arena *arena)
{
    return failures_total(data) > 0 ? NULL
                                    : arena_format(arena, "none of %s trials failed", text_count(data->trials).text);
}

const PlotKind plot_failures = {
    .name = "failures",
    .title = "Failures",
    .caption = "How trials ended, and for each gain the share of its trials that failed, by kind.",
    .draw = failures_draw,
    .nothing = failures_nothing,
};
