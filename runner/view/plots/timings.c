// The time of each batch: kernels, copies to the device and back, the search, the rest.
#include "plot.h"

#include <math.h>

enum { TIMINGS_BARS = 96, TIMINGS_PHASES = 4 };

typedef struct TimingsBar {
    double phase[TIMINGS_PHASES]; // s: kernel, copy, search, the rest
    int64_t trials, batches;
} TimingsBar;

static const char *const timings_words[TIMINGS_PHASES] = {"kernels", "copies", "search", "waiting, writing"};
static const char *const timings_classes[TIMINGS_PHASES] = {"k2", "k3", "k4", "k0"};

static double timings_seconds(double value) { return value > 0 && value < 1e12 ? value : 0; }

// Sums neighbouring batches, `each` in a bar, so that there are at most TIMINGS_BARS.
static Error timings_read_bars(const PlotData *data, TimingsBar *bar, int64_t *each, int64_t *batches)
{
    BatchRow batch;
    int64_t total = 0;
    TRY(batches_count(data->campaign->database, &total));
    Cursor rows = batches_in_turn(data->campaign->database);
    *each = 1 + (total - 1) / TIMINGS_BARS;
    for (*batches = 0; *batches < total && batch_next(&rows, &batch);) {
        const double phases[] = {batch.kernel, batch.copy, batch.search};
        TimingsBar *sum = &bar[(*batches)++ / *each];
        double rest = timings_seconds(batch.wall);
        for (int p = 0; p < 3; p++) {
            sum->phase[p] += timings_seconds(phases[p]);
            rest -= timings_seconds(phases[p]);
        }
        sum->phase[3] += rest > 0 ? rest : 0;
        sum->trials += batch.trials;
        sum->batches++;
    }
    return cursor_close(&rows);
}

static double timings_total(const TimingsBar *bar)
{
    double total = 0;
    for (int p = 0; p < TIMINGS_PHASES; p++) total += bar->phase[p];
    return total;
}

static void timings_draw_bar(PlotPanel *panel, const TimingsBar *bar, double left, double right)
{
    double below = 0;
    for (int p = 0; p < TIMINGS_PHASES; p++) {
        const double seconds = bar->phase[p] / (double)bar->batches;
        if (seconds <= 0) continue;
        const double top = plot_at(&panel->y, below + seconds);
        svg_rectangle(panel->plot->out, timings_classes[p], left, top, right - left, plot_at(&panel->y, below) - top);
        below += seconds;
    }
}

static double timings_gap(double width) { return width > 6 ? 1 : 0.2; }

static void timings_draw_seconds(Plot *plot, const TimingsBar *bar, int bars, int64_t each, PlotAxis x)
{
    double most = 0;
    for (int i = 0; i < bars; i++) most = fmax(most, timings_total(&bar[i]) / (double)bar[i].batches);
    PlotPanel panel =
        plot_panel(plot, 440, 250, NULL, x,
                   (PlotAxis){.name = "time of a batch (s)", .low = 0, .high = most > 0 ? most * 1.05 : 1});
    for (int i = 0; i < bars; i++) {
        const double left = plot_at(&panel.x, (double)(i * each));
        const double right = plot_at(&panel.x, (double)(i * each + bar[i].batches));
        timings_draw_bar(&panel, &bar[i], left, right - timings_gap(right - left));
    }
    plot_panel_end(&panel);
}

static void timings_draw_rate(Plot *plot, const TimingsBar *bar, int bars, int64_t each, PlotAxis x)
{
    double most = 0;
    for (int i = 0; i < bars; i++) {
        if (timings_total(&bar[i]) > 0) most = fmax(most, (double)bar[i].trials / timings_total(&bar[i]));
    }
    PlotPanel panel = plot_panel(plot, 440, 250, NULL, x,
                                 (PlotAxis){.name = "trials per second", .low = 0, .high = most > 0 ? most * 1.05 : 1});
    SvgPath path = svg_path(plot->out, "ln");
    for (int i = 0; i < bars; i++) {
        const double seconds = timings_total(&bar[i]);
        const double y = seconds > 0 ? plot_at(&panel.y, (double)bar[i].trials / seconds) : (double)NAN;
        svg_path_to(&path, plot_at(&panel.x, (double)(i * each)), y);
        svg_path_to(&path, plot_at(&panel.x, (double)(i * each + bar[i].batches)), y);
    }
    svg_path_end(&path);
    plot_panel_end(&panel);
}

static void timings_draw_key(Plot *plot) { plot_keys(plot, 440, TIMINGS_PHASES, timings_classes, timings_words); }

static Error timings_draw(const PlotData *data, Plot *plot, Arena *arena)
{
    TimingsBar *bar = ARENA_NEW(arena, TimingsBar, TIMINGS_BARS + 1);
    int64_t each = 1, batches = 0;
    TRY(timings_read_bars(data, bar, &each, &batches));
    const int bars = (int)((batches + each - 1) / each);
    const PlotAxis x = {.name = "batch", .low = 0, .high = batches > 8 ? (double)batches : 8, .whole = true};
    timings_draw_key(plot);
    timings_draw_seconds(plot, bar, bars, each, x);
    timings_draw_rate(plot, bar, bars, each, x);
    return error_none();
}

static const char *timings_nothing(const PlotData *data, Arena *arena)
{
    (void)arena;
    return data->trials > 0 ? NULL : "no batch was committed";
}

const PlotKind plot_timings = {
    .name = "timings",
    .title = "Batches",
    .text =
        "The time of each batch by what it was spent on, and the trials per second. HDF5 and SQLite files are written "
        "while the device computes; if writing takes longer, the device waits.",
    .draw = timings_draw,
    .nothing = timings_nothing,
    .whole = true,
};
