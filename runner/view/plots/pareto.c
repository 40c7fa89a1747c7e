// Objectives against each other, two at a time, with the Pareto front: the trials that no other trial beats in all of
// them. For a single objective that weighs several metrics, the first two of these: what other weights could give.
#include "plot.h"

#include <math.h>
#include <stdlib.h>

enum { PARETO_DRAWN = 4, PARETO_CLOUD = 1500, PARETO_FRONT = 400 };

typedef struct Pareto {
    const char *column[OBJECTIVES_MAX], *name[OBJECTIVES_MAX], *unit[OBJECTIVES_MAX];
    int count;
    Front front;
    double *cloud; // [n_cloud][count] some of the other trials
    int64_t n_cloud;
} Pareto;

// ---- columns and trials ---------------------------------------------------------------------------------------------

static void pareto_add(Pareto *pareto, const char *column, const char *name, const char *unit)
{
    pareto->column[pareto->count] = column;
    pareto->name[pareto->count] = name;
    pareto->unit[pareto->count++] = unit;
}

static void pareto_find_columns(const Spec *spec, Arena *arena, Pareto *pareto)
{
    const Configured *configured = &spec->configured;
    for (int k = 0; spec_several(spec) && k < spec->objective.count; k++)
        pareto_add(pareto, rows_objective_name(k), objective_text(spec, k, arena), NULL);
    for (int m = 0; !spec_several(spec) && m < configured->n_metrics && pareto->count < 2; m++) {
        const Field *metric = &configured->metrics[m];
        if (expression_uses(spec->objective.expression[0], m))
            pareto_add(pareto, metric->name, metric->name, metric->unit);
    }
}

// Reads some of the trials of the sample.
static Error pareto_read_cloud(const PlotData *data, Arena *arena, Pareto *pareto)
{
    const int64_t each = 1 + data->n_sample / PARETO_CLOUD;
    pareto->cloud = ARENA_NEW(arena, double, PARETO_CLOUD * pareto->count);
    Cursor trials = trials_by_id(data->campaign->database, pareto->column, pareto->count, arena);
    for (int64_t s = 0; s < data->n_sample && pareto->n_cloud < PARETO_CLOUD; s += each) {
        if (isnan(data->fitness[s]) || !trial_at(&trials, data->id[s])) continue;
        double *point = pareto->cloud + pareto->n_cloud++ * pareto->count;
        for (int k = 0; k < pareto->count; k++) point[k] = cell_real(&trials, k);
    }
    return cursor_close(&trials);
}

// ---- axes -----------------------------------------------------------------------------------------------------------

// From a little better than the front to the end of the front, or to nine tenths of the other trials.
static PlotAxis pareto_axis(const Pareto *pareto, int k, double *work)
{
    PlotRange range = plot_range();
    int64_t n = 0;
    for (int64_t i = 0; i < pareto->front.count; i++) plot_widen(&range, front_value(&pareto->front, i, k));
    for (int64_t i = 0; i < pareto->n_cloud; i++) {
        if (isfinite(pareto->cloud[i * pareto->count + k])) work[n++] = pareto->cloud[i * pareto->count + k];
    }
    qsort(work, (size_t)n, sizeof *work, statistics_ascending);
    const bool up = pareto->front.maximize[k];
    const double most = n > 0 ? work[up ? (n - 1) / 10 : (n - 1) * 9 / 10] : up ? range.low : range.high;
    if (!isfinite(range.low)) range = (PlotRange){0, 0};
    if (up && most < range.high) range.low = most;
    if (!up && most > range.low) range.high = most;
    return plot_axis_over(pareto->name[k], pareto->unit[k], range);
}

// ---- drawing --------------------------------------------------------------------------------------------------------

static bool pareto_inside(const PlotPanel *panel, double x, double y)
{
    return x >= panel->x.low && x <= panel->x.high && y >= panel->y.low && y <= panel->y.high;
}

static void pareto_draw_cloud(const Pareto *pareto, PlotPanel *panel, int kx, int ky)
{
    for (int64_t i = 0; i < pareto->n_cloud; i++) {
        const double x = pareto->cloud[i * pareto->count + kx], y = pareto->cloud[i * pareto->count + ky];
        if (pareto_inside(panel, x, y))
            svg_rectangle(panel->plot->out, "c3", plot_at(&panel->x, x) - 1, plot_at(&panel->y, y) - 1, 2, 2);
    }
}

// The border of the dominated area of two objectives is a staircase.
static void pareto_draw_stairs(const Pareto *pareto, PlotPanel *panel)
{
    double before = (double)NAN;
    SvgPath path = svg_path(panel->plot->out, "ln");
    for (int64_t i = 0; i < pareto->front.count; i++) {
        const double x = front_value(&pareto->front, i, 0), y = front_value(&pareto->front, i, 1);
        if (!pareto_inside(panel, x, y)) continue;
        if (!isnan(before)) svg_path_to(&path, plot_at(&panel->x, x), plot_at(&panel->y, before));
        svg_path_to(&path, plot_at(&panel->x, x), plot_at(&panel->y, y));
        before = y;
    }
    svg_path_end(&path);
}

static void pareto_draw_front(const PlotData *data, const Pareto *pareto, PlotPanel *panel, int kx, int ky,
                              Arena *arena)
{
    const int64_t shown = pareto->front.count < PARETO_FRONT ? pareto->front.count : PARETO_FRONT;
    const bool several = spec_several(&data->campaign->spec);
    for (int64_t i = 0; i < shown; i++) {
        const int64_t index = front_spread(&pareto->front, shown, i), id = pareto->front.id[index];
        const double x = front_value(&pareto->front, index, kx), y = front_value(&pareto->front, index, ky);
        const bool best = !several && data->n_best > 0 && id == data->best_id[0];
        if (!pareto_inside(panel, x, y)) continue;
        plot_mark(panel, best ? "be" : "pt", plot_at(&panel->x, x), plot_at(&panel->y, y),
                  best      ? 4.5
                  : several ? 2.2
                            : 3,
                  id, arena_format(arena, "trial %lld: %s, %s", (long long)id, plot_short(x).text, plot_short(y).text));
    }
}

static Error pareto_draw_all(const PlotData *data, Plot *plot, Arena *arena, Pareto *pareto)
{
    double *work = ARENA_NEW(arena, double, PARETO_CLOUD);
    const double width = pareto->count == 2 ? 560 : 440, height = pareto->count == 2 ? 380 : 300;
    TRY(pareto_read_cloud(data, arena, pareto));
    for (int ky = 1; ky < pareto->count && ky < PARETO_DRAWN; ky++) {
        for (int kx = 0; kx < ky; kx++) {
            PlotPanel panel =
                plot_panel(plot, width, height, NULL, pareto_axis(pareto, kx, work), pareto_axis(pareto, ky, work));
            pareto_draw_cloud(pareto, &panel, kx, ky);
            if (pareto->count == 2) pareto_draw_stairs(pareto, &panel);
            pareto_draw_front(data, pareto, &panel, kx, ky, arena);
            plot_panel_end(&panel);
        }
    }
    return error_none();
}

static Error pareto_draw(const PlotData *data, Plot *plot, Arena *arena)
{
    const Spec *spec = &data->campaign->spec;
    Pareto pareto = {.count = 0};
    pareto_find_columns(spec, arena, &pareto);
    TRY(front_read(data->campaign->database, spec, pareto.column, pareto.count, arena, &pareto.front));
    const Error error = pareto_draw_all(data, plot, arena, &pareto);
    front_free(&pareto.front);
    return error;
}

static const char *pareto_nothing(const PlotData *data, Arena *arena)
{
    Pareto pareto = {.count = 0};
    pareto_find_columns(&data->campaign->spec, arena, &pareto);
    return pareto.count < 2 ? "the objective weighs fewer than two metrics" : plot_no_fitness(data, arena);
}

static const char *pareto_caption(const PlotData *data, Arena *arena)
{
    const Spec *spec = &data->campaign->spec;
    const char *what = !spec_several(spec)                    ? "The first two metrics of the objective"
                       : spec->objective.count > PARETO_DRAWN ? "The first four objectives against each other"
                                                              : "The objectives against each other";
    return arena_format(arena, "%s. Dots: trials that no other trial beats in %s. Small squares: some of the others.",
                        what, spec_several(spec) && spec->objective.count > 2 ? "all of them at once" : "both at once");
}

const PlotKind plot_pareto = {
    .name = "pareto",
    .title = "Trade-offs",
    .caption = pareto_caption,
    .draw = pareto_draw,
    .nothing = pareto_nothing,
    .whole = true,
};
