// How the search got there. Of a search that learns: best so far, best and median of the generation, step size and
// condition number against evaluations, a line a search, the best search in front. Of others: the best so far in the
// order of trials. Of several objectives: the hypervolume of each generation's front, and the best so far of each.
#include "plot.h"

#include <math.h>
#include <string.h>

// what is drawn of a round, a panel each
enum {
    CONVERGENCE_VOLUME,
    CONVERGENCE_BEST,
    CONVERGENCE_MEDIAN,
    CONVERGENCE_SIGMA,
    CONVERGENCE_CONDITION,
    CONVERGENCE_OBJECTIVES, // the best so far of each of several
    CONVERGENCE_PANELS = CONVERGENCE_OBJECTIVES + OBJECTIVES_MAX
};
enum { CONVERGENCE_POINTS = 8000, CONVERGENCE_SEARCHES = 48 };

// A row of `rounds`, as far as it is drawn.
typedef struct ConvergencePoint {
    int64_t search, round;
    double evaluations, value[CONVERGENCE_PANELS];
} ConvergencePoint;

typedef struct Convergence {
    ConvergencePoint *point; // [count] by search, then round
    int64_t count, searches, best_search;
    bool several; // objectives: there is no best of all
    int median;   // column of a row of `debug`; -1: there is none
    const char *title[CONVERGENCE_PANELS];
} Convergence;

static const char *const convergence_titles[CONVERGENCE_OBJECTIVES] = {
    "hypervolume of the front", "best so far", "median of the generation", "step size", "condition number of C"};

static const char *convergence_objective_title(const Spec *spec, int k, Arena *arena)
{
    return arena_format(arena, "best so far: %.40s", objective_text(spec, k, arena));
}

// ---- reading --------------------------------------------------------------------------------------------------------

static Error convergence_integer(const PlotData *data, const char *sql, int64_t *value)
{
    Statement *statement = NULL;
    bool row = false;
    TRY(database_prepare(data->campaign->database, sql, &statement));
    const Error error = statement_step(statement, &row);
    *value = row && !column_is_null(statement, 0) ? column_integer(statement, 0) : 0;
    statement_close(statement);
    return error;
}

static Error convergence_find_median(const PlotData *data, Arena *arena, int *median)
{
    Search search;
    *median = -1;
    TRY(search_init(&data->campaign->spec, arena, &search));
    for (int f = 0; f < search.n_round_fields; f++) {
        if (strcmp(search.round_fields[f].name, "median") == 0) *median = f;
    }
    return error_none();
}

static void convergence_take(Convergence *convergence, Statement *row)
{
    ConvergencePoint *point = &convergence->point[convergence->count++];
    const Bytes debug = column_blob(row, 6);
    *point = (ConvergencePoint){
        .search = column_integer(row, 0), .evaluations = column_real(row, 1), .round = column_integer(row, 7)};
    for (int k = 0; k < OBJECTIVES_MAX; k++) point->value[CONVERGENCE_OBJECTIVES + k] = (double)NAN;
    point->value[CONVERGENCE_BEST] = convergence->several ? (double)NAN : column_real(row, 2);
    point->value[CONVERGENCE_MEDIAN] = (double)NAN;
    point->value[CONVERGENCE_SIGMA] = column_real(row, 3);
    point->value[CONVERGENCE_CONDITION] = column_real(row, 4);
    point->value[CONVERGENCE_VOLUME] = column_real(row, 5);
    if (convergence->median >= 0 && debug.size >= (size_t)(convergence->median + 1) * sizeof(double))
        memcpy(&point->value[CONVERGENCE_MEDIAN], debug.data + (size_t)convergence->median * sizeof(double),
               sizeof(double));
}

// The best searches; of each every so many-th round and the last, so that all fit.
#define CONVERGENCE_VOLUMES "(SELECT hypervolume FROM fronts f WHERE f.search = r.search AND f.round = r.round)"
static const char convergence_sql[] =
    "SELECT r.search, r.evaluations, r.best, r.sigma, r.condition, %s, r.debug, r.round FROM rounds r WHERE "
    "(r.round %% ?1 = 0 OR r.stop IS NOT NULL) AND r.search IN (SELECT search FROM rounds GROUP BY search ORDER BY "
    "min(best) IS NULL, %s, search LIMIT ?2) ORDER BY r.search, r.round LIMIT ?3";

static Error convergence_read(const PlotData *data, Arena *arena, Convergence *convergence)
{
    Database *database = data->campaign->database;
    Statement *statement = NULL;
    bool row = false;
    int64_t rounds = 0;
    bool fronts = false;
    TRY(plot_has_column(data, "fronts", "hypervolume", &fronts));
    TRY(convergence_integer(data, "SELECT count(*) FROM rounds", &rounds));
    TRY(convergence_integer(data, "SELECT count(DISTINCT search) FROM rounds", &convergence->searches));
    TRY(convergence_integer(data,
                            fronts && spec_several(&data->campaign->spec)
                                ? "SELECT search FROM fronts ORDER BY hypervolume DESC, search LIMIT 1"
                            : data->maximize
                                ? "SELECT search FROM rounds WHERE best IS NOT NULL ORDER BY best DESC, search LIMIT 1"
                                : "SELECT search FROM rounds WHERE best IS NOT NULL ORDER BY best, search LIMIT 1",
                            &convergence->best_search));
    TRY(convergence_find_median(data, arena, &convergence->median));
    const int64_t shown = convergence->searches < CONVERGENCE_SEARCHES ? convergence->searches : CONVERGENCE_SEARCHES;
    const int64_t drawn = convergence->searches > 0 ? rounds / convergence->searches * shown : 0;
    TRY(database_prepare(database,
                         arena_format(arena, convergence_sql, fronts ? CONVERGENCE_VOLUMES : "NULL",
                                      data->maximize ? "max(best) DESC" : "min(best)"),
                         &statement));
    convergence->point = ARENA_NEW(arena, ConvergencePoint, 2 * CONVERGENCE_POINTS);
    bind_integer(statement, 1, 1 + drawn / CONVERGENCE_POINTS);
    bind_integer(statement, 2, shown);
    bind_integer(statement, 3, 2 * CONVERGENCE_POINTS);
    Error error = statement_step(statement, &row);
    while (error.kind == OK && row) {
        convergence_take(convergence, statement);
        error = statement_step(statement, &row);
    }
    statement_close(statement);
    return error;
}

// ---- several objectives ---------------------------------------------------------------------------------------------

// Where the trials of a search, which come in the order of their rounds, have got to.
typedef struct ConvergenceCursor {
    int64_t search, point, last; // of the search's points
    double best[OBJECTIVES_MAX];
} ConvergenceCursor;

static int convergence_cursors(const Convergence *convergence, ConvergenceCursor *cursor)
{
    int count = 0;
    for (int64_t i = 0; i < convergence->count; i++) {
        const int64_t search = convergence->point[i].search;
        if (i == 0 || convergence->point[i - 1].search != search) {
            cursor[count] = (ConvergenceCursor){.search = search, .point = i};
            for (int k = 0; k < OBJECTIVES_MAX; k++) cursor[count].best[k] = (double)NAN;
            count++;
        }
        cursor[count - 1].last = i;
    }
    return count;
}

// What a search has found before its next point is behind it.
static void convergence_put_best(Convergence *convergence, const ConvergenceCursor *cursor)
{
    double *value = convergence->point[cursor->point].value + CONVERGENCE_OBJECTIVES;
    for (int k = 0; k < OBJECTIVES_MAX; k++) value[k] = cursor->best[k];
}

// The row: search, round, objectives.
static void convergence_take_trial(Convergence *convergence, ConvergenceCursor *cursor, int count, const Spec *spec,
                                   Statement *row)
{
    const int64_t search = column_integer(row, 0), round = column_integer(row, 1);
    int at = 0;
    while (at < count && cursor[at].search != search) at++;
    if (at == count) return; // one of those that are not drawn
    while (cursor[at].point < cursor[at].last && convergence->point[cursor[at].point].round < round) {
        convergence_put_best(convergence, &cursor[at]);
        cursor[at].point++;
    }
    for (int k = 0; k < spec->objective.count; k++) {
        const double value = column_real(row, 2 + k);
        if (!isfinite(value)) continue;
        if (isnan(cursor[at].best[k]) || spec_better(spec, k, value, cursor[at].best[k])) cursor[at].best[k] = value;
    }
}

static Error convergence_read_objectives(const PlotData *data, Arena *arena, Convergence *convergence)
{
    const Spec *spec = &data->campaign->spec;
    ConvergenceCursor *cursor = ARENA_NEW(arena, ConvergenceCursor, CONVERGENCE_SEARCHES + 1);
    const int count = convergence_cursors(convergence, cursor);
    const char *columns = "search, round";
    Statement *statement = NULL;
    bool row = false;
    for (int k = 0; k < spec->objective.count; k++) {
        columns = arena_format(arena, "%s, %s", columns, rows_objective_name(k));
        convergence->title[CONVERGENCE_OBJECTIVES + k] = convergence_objective_title(spec, k, arena);
    }
    TRY(database_prepare(
        data->campaign->database,
        arena_format(arena, "SELECT %s FROM trials WHERE failure = 'none'%s ORDER BY id", columns, store_meets(spec)),
        &statement));
    Error error = statement_step(statement, &row);
    for (; error.kind == OK && row; error = statement_step(statement, &row))
        convergence_take_trial(convergence, cursor, count, spec, statement);
    statement_close(statement);
    for (int i = 0; i < count; i++) {
        for (; cursor[i].point <= cursor[i].last; cursor[i].point++) convergence_put_best(convergence, &cursor[i]);
    }
    return error;
}

// ---- drawing --------------------------------------------------------------------------------------------------------

static PlotAxis convergence_axis(const Convergence *convergence, int which)
{
    double low = (double)INFINITY, high = (double)-INFINITY;
    for (int64_t i = 0; i < convergence->count; i++) {
        const double value = convergence->point[i].value[which];
        if (!isfinite(value)) continue;
        low = value < low ? value : low;
        high = value > high ? value : high;
    }
    if (!(low <= high)) low = 0, high = 1;
    const bool scale_free = which == CONVERGENCE_SIGMA || which == CONVERGENCE_CONDITION;
    const bool log = low > 0 && (scale_free || high > 30 * low);
    if (low == high) high = log ? 2 * low : low + 1;
    const double margin = 0.04 * (high - low);
    return (PlotAxis){.name = convergence->title[which],
                      .low = log ? low / 1.15 : low - margin,
                      .high = log ? high * 1.15 : high + margin,
                      .log = log};
}

static void convergence_lines(const Convergence *convergence, PlotPanel *panel, int which, bool best)
{
    SvgPath path = {0};
    bool open = false;
    for (int64_t i = 0; i < convergence->count; i++) {
        const ConvergencePoint *point = &convergence->point[i];
        const bool first = i == 0 || point[-1].search != point->search;
        if ((point->search == convergence->best_search) != best) continue;
        if (first && open) svg_path_end(&path);
        if (first) path = svg_path(panel->plot->out, best ? "bl" : "li");
        open = true;
        svg_path_to(&path, plot_at(&panel->x, point->evaluations),
                    isfinite(point->value[which]) ? plot_at(&panel->y, point->value[which]) : (double)NAN);
    }
    if (open) svg_path_end(&path);
}

static bool convergence_has(const Convergence *convergence, int which)
{
    for (int64_t i = 0; i < convergence->count; i++) {
        if (isfinite(convergence->point[i].value[which])) return true;
    }
    return false;
}

static void convergence_draw_searches(const Convergence *convergence, Plot *plot)
{
    double most = 1;
    for (int64_t i = 0; i < convergence->count; i++) {
        if (convergence->point[i].evaluations > most) most = convergence->point[i].evaluations;
    }
    const PlotAxis x = {.name = "evaluations", .low = 0, .high = most, .whole = true};
    for (int which = 0; which < CONVERGENCE_PANELS; which++) {
        if (!convergence_has(convergence, which)) continue;
        PlotPanel panel = plot_panel(plot, 440, 250, NULL, x, convergence_axis(convergence, which));
        convergence_lines(convergence, &panel, which, false);
        convergence_lines(convergence, &panel, which, true);
        plot_panel_end(&panel);
    }
}

// Each trial that was better than all before it, in the order of ids.
typedef struct ConvergenceRecord {
    int64_t id;
    double fitness;
} ConvergenceRecord;
enum { CONVERGENCE_RECORDS = 1000 };

static Error convergence_records(const PlotData *data, int k, const char *column, Arena *arena,
                                 ConvergenceRecord *record, int *count, int64_t *last)
{
    Statement *statement = NULL;
    bool row = false;
    double best = (double)NAN;
    TRY(database_prepare(data->campaign->database, arena_format(arena, "SELECT id, %s FROM trials ORDER BY id", column),
                         &statement));
    Error error = statement_step(statement, &row);
    for (; error.kind == OK && row; error = statement_step(statement, &row)) {
        const double fitness = column_real(statement, 1);
        *last = column_integer(statement, 0);
        if (!isfinite(fitness) || *count == CONVERGENCE_RECORDS) continue;
        if (!isnan(best) && !spec_better(&data->campaign->spec, k, fitness, best)) continue;
        best = fitness;
        record[(*count)++] = (ConvergenceRecord){*last, fitness};
    }
    statement_close(statement);
    return error;
}

static void convergence_steps(PlotPanel *panel, const ConvergenceRecord *record, int count, int64_t last)
{
    SvgPath path = svg_path(panel->plot->out, "ln");
    for (int i = 0; i < count; i++) {
        const double y = plot_at(&panel->y, record[i].fitness);
        svg_path_to(&path, plot_at(&panel->x, (double)record[i].id), y);
        svg_path_to(&path, plot_at(&panel->x, (double)(i + 1 < count ? record[i + 1].id : last)), y);
    }
    svg_path_end(&path);
}

static Error convergence_draw_column(const PlotData *data, int k, const char *column, const char *title, Plot *plot,
                                     Arena *arena)
{
    ConvergenceRecord *record = ARENA_NEW(arena, ConvergenceRecord, CONVERGENCE_RECORDS);
    int64_t last = 0;
    int count = 0;
    TRY(convergence_records(data, k, column, arena, record, &count, &last));
    if (count == 0) return error_none();
    const double low = fmin(record[count - 1].fitness, record[0].fitness);
    const double high = fmax(record[count - 1].fitness, record[0].fitness);
    const bool log = low > 0 && high > 30 * low;
    const double span = high > low ? high - low : 1;
    const PlotAxis y = {.name = title,
                        .low = log ? low / 1.2 : low - 0.05 * span,
                        .high = log ? high * 1.2 : low + 1.05 * span,
                        .log = log};
    const PlotAxis x = {.name = "trial", .low = 0, .high = last > 0 ? (double)last : 1, .whole = true};
    PlotPanel panel = plot_panel(plot, 896, 260, NULL, x, y);
    convergence_steps(&panel, record, count, last);
    for (int i = 0; i < count; i++)
        plot_mark(&panel, i + 1 == count ? "be" : "pt", plot_at(&panel.x, (double)record[i].id),
                  plot_at(&panel.y, record[i].fitness), i + 1 == count ? 4.5 : 3, record[i].id,
                  arena_format(arena, "trial %lld: %s", (long long)record[i].id, plot_short(record[i].fitness).text));
    plot_panel_end(&panel);
    return error_none();
}

// Of several objectives a panel each.
static Error convergence_draw_order(const PlotData *data, Plot *plot, Arena *arena)
{
    const Spec *spec = &data->campaign->spec;
    if (!spec_several(spec)) return convergence_draw_column(data, 0, data->value_column, "best so far", plot, arena);
    for (int k = 0; k < spec->objective.count; k++)
        TRY(convergence_draw_column(data, k, rows_objective_name(k), convergence_objective_title(spec, k, arena), plot,
                                    arena));
    return error_none();
}

static Error convergence_draw(const PlotData *data, Plot *plot, Arena *arena)
{
    Convergence convergence = {.median = -1, .several = spec_several(&data->campaign->spec)};
    bool rounds = false;
    memcpy(convergence.title, convergence_titles, sizeof convergence_titles);
    TRY(plot_has_column(data, "rounds", "stop", &rounds));
    if (rounds) TRY(convergence_read(data, arena, &convergence));
    if (convergence.count == 0) return convergence_draw_order(data, plot, arena);
    if (convergence.several) TRY(convergence_read_objectives(data, arena, &convergence));
    convergence_draw_searches(&convergence, plot);
    return error_none();
}

static const char *convergence_nothing(const PlotData *data, Arena *arena)
{
    (void)arena;
    return data->n_best > 0 ? NULL : "no trial has a fitness";
}

static const char *convergence_caption(const PlotData *data, Arena *arena)
{
    const Spec *spec = &data->campaign->spec;
    int64_t searches = 0;
    const Error counted = convergence_integer(data, "SELECT count(DISTINCT search) FROM rounds", &searches);
    const char *line = counted.kind != OK || searches < 2 ? ""
                       : searches > CONVERGENCE_SEARCHES  ? " A line per search: the 48 best, the best one in front."
                                                          : " A line per search, the best one in front.";
    if (!search_learns(spec->method))
        return spec_several(spec) ? "The best so far of each objective, in the order of the trials."
                                  : "The best fitness so far, in the order of the trials.";
    return arena_format(arena, "%s%s",
                        spec_several(spec)
                            ? "The hypervolume of each generation's front, and the best so far of each objective."
                            : "The best fitness so far, the median of each generation, the step size and the condition "
                              "number of the covariance matrix.",
                        line);
}

const PlotKind plot_convergence = {
    .name = "convergence",
    .title = "Convergence",
    .caption = convergence_caption,
    .draw = convergence_draw,
    .nothing = convergence_nothing,
};
