// What competes: the two metrics that the objective weighs, against each other, with the trials that no other beats in
// both (the Pareto front). It shows what another weighing could have had.
#include "plot.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

enum { PARETO_FRONT = 2000, PARETO_CLOUD = 1500 };

typedef struct ParetoPoint {
    int64_t id;
    double x, y, fitness;
} ParetoPoint;

typedef struct Pareto {
    int metric[2];
    ParetoPoint *front, *cloud; // [PARETO_FRONT], [PARETO_CLOUD]
    int n_front, n_cloud;
    double high[2]; // of the cloud
} Pareto;

// The first two metrics that the objective uses. False: it uses fewer.
static bool pareto_metrics(const Spec *spec, int *metric)
{
    int count = 0;
    for (int m = 0; m < spec->configured.n_metrics && count < 2; m++) {
        bool used = false;
        for (int k = 0; k < spec->objective.count; k++)
            used = used || expression_uses(spec->objective.minimize[k], m);
        if (used) metric[count++] = m;
    }
    return count == 2;
}

// Sorted by x, then y: a trial is on the front if its y is less than that of all before it.
static void pareto_take(const PlotData *data, Pareto *pareto, Statement *row, int64_t number, double *least)
{
    const ParetoPoint point = {column_integer(row, 0), column_real(row, 1), column_real(row, 2), column_real(row, 3)};
    const int64_t each = 1 + data->ranked / PARETO_CLOUD;
    if (!isfinite(point.x) || !isfinite(point.y)) return;
    if (point.y < *least && pareto->n_front < PARETO_FRONT) {
        *least = point.y;
        pareto->front[pareto->n_front++] = point;
    }
    if (number % each == 0 && pareto->n_cloud < PARETO_CLOUD) pareto->cloud[pareto->n_cloud++] = point;
}

static Error pareto_read(const PlotData *data, Arena *arena, Pareto *pareto)
{
    const Field *metrics = data->campaign->spec.configured.metrics;
    const char *x = sql_identifier(arena, metrics[pareto->metric[0]].name);
    const char *y = sql_identifier(arena, metrics[pareto->metric[1]].name);
    Statement *statement = NULL;
    bool row = false;
    double least = (double)INFINITY;
    pareto->front = ARENA_NEW(arena, ParetoPoint, PARETO_FRONT);
    pareto->cloud = ARENA_NEW(arena, ParetoPoint, PARETO_CLOUD);
    TRY(database_prepare(
        data->campaign->database,
        arena_format(arena, "SELECT id, %s, %s, fitness FROM trials WHERE fitness IS NOT NULL ORDER BY 2, 3, 1", x, y),
        &statement));
    Error error = statement_step(statement, &row);
    for (int64_t n = 0; error.kind == OK && row; n++, error = statement_step(statement, &row))
        pareto_take(data, pareto, statement, n, &least);
    statement_close(statement);
    return error;
}

static int pareto_ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// From a little below the front to where nine tenths of the cloud are.
static PlotAxis pareto_axis(const Pareto *pareto, const Field *field, int which, double *work)
{
    double low = (double)INFINITY, front_high = (double)-INFINITY;
    for (int i = 0; i < pareto->n_front; i++) {
        const double value = which == 0 ? pareto->front[i].x : pareto->front[i].y;
        low = value < low ? value : low;
        front_high = value > front_high ? value : front_high;
    }
    for (int i = 0; i < pareto->n_cloud; i++) work[i] = which == 0 ? pareto->cloud[i].x : pareto->cloud[i].y;
    qsort(work, (size_t)pareto->n_cloud, sizeof *work, pareto_ascending);
    double high = pareto->n_cloud > 0 ? work[(pareto->n_cloud - 1) * 9 / 10] : low;
    if (!(high > low)) high = front_high > low ? front_high : low + 1;
    return (PlotAxis){
        .name = field->name, .unit = field->unit, .low = low - 0.05 * (high - low), .high = high + 0.02 * (high - low)};
}

static void pareto_draw_points(const PlotData *data, const Pareto *pareto, PlotPanel *panel, Arena *arena)
{
    SvgPath path = {0};
    for (int i = 0; i < pareto->n_cloud; i++) {
        const ParetoPoint *point = &pareto->cloud[i];
        if (point->x > panel->x.high || point->y > panel->y.high) continue;
        svg_rectangle(panel->plot->out, "c3", plot_at(&panel->x, point->x) - 1, plot_at(&panel->y, point->y) - 1, 2, 2);
    }
    path = svg_path(panel->plot->out, "ln");
    for (int i = 0; i < pareto->n_front; i++) {
        const ParetoPoint *point = &pareto->front[i];
        if (point->x > panel->x.high || point->y > panel->y.high) continue;
        if (path.down) svg_path_to(&path, plot_at(&panel->x, point->x), plot_at(&panel->y, point[-1].y));
        svg_path_to(&path, plot_at(&panel->x, point->x), plot_at(&panel->y, point->y));
    }
    svg_path_end(&path);
    for (int i = 0; i < pareto->n_front; i++) {
        const ParetoPoint *point = &pareto->front[i];
        if (point->x > panel->x.high || point->y > panel->y.high) continue;
        const bool best = data->n_best > 0 && point->id == data->best_id[0];
        plot_mark(panel, best ? "be" : "pt", plot_at(&panel->x, point->x), plot_at(&panel->y, point->y), best ? 4.5 : 3,
                  point->id,
                  arena_format(arena, "trial %lld: %s, %s; fitness %s", (long long)point->id, plot_short(point->x).text,
                               plot_short(point->y).text, plot_short(point->fitness).text));
    }
}

static Error pareto_draw(const PlotData *data, Plot *plot, Arena *arena)
{
    const Field *metrics = data->campaign->spec.configured.metrics;
    Pareto pareto = {.n_front = 0};
    pareto_metrics(&data->campaign->spec, pareto.metric);
    TRY(pareto_read(data, arena, &pareto));
    double *work = ARENA_NEW(arena, double, PARETO_CLOUD);
    const PlotAxis x = pareto_axis(&pareto, &metrics[pareto.metric[0]], 0, work);
    const PlotAxis y = pareto_axis(&pareto, &metrics[pareto.metric[1]], 1, work);
    PlotPanel panel = plot_panel(plot, 560, 380, NULL, x, y);
    pareto_draw_points(data, &pareto, &panel, arena);
    plot_panel_end(&panel);
    return error_none();
}

static const char *pareto_nothing(const PlotData *data, Arena *arena)
{
    int metric[2];
    (void)arena;
    return !pareto_metrics(&data->campaign->spec, metric) ? "the objective weighs fewer than two metrics"
           : data->n_best == 0                            ? "no trial has a fitness"
                                                          : NULL;
}

const PlotKind plot_pareto = {
    .name = "pareto",
    .title = "What the objective weighs",
    .caption = "The first two metrics of the objective; the line joins the trials that no other beats in both. Small "
               "squares: some of the others.",
    .draw = pareto_draw,
    .nothing = pareto_nothing,
};
