// The progress of a search. A search that learns: best so far, median of the generation, step size, condition number or
// norm of the gradient against evaluations, a line per search, the best search in front. Other methods: the best so far
// in the order of trials. Several objectives: the hypervolume of each generation's front, and the best so far of each
// objective.
#include "plot.h"

#include <math.h>
#include <string.h>

// values of a round, a panel each
enum {
    CONVERGENCE_VOLUME,
    CONVERGENCE_BEST,
    CONVERGENCE_MEDIAN,
    CONVERGENCE_SIGMA,
    CONVERGENCE_CONDITION,
    CONVERGENCE_GRADIENT,
    CONVERGENCE_TAU,
    CONVERGENCE_EVALUATED,
    CONVERGENCE_OBJECTIVES, // the best so far of each objective, if there are several
    CONVERGENCE_PANELS = CONVERGENCE_OBJECTIVES + OBJECTIVES_MAX
};
_Static_assert((int)CONVERGENCE_PANELS <= (int)PLOT_ROUND_VALUES, "a round has room for all values");

typedef struct Convergence {
    PlotRounds rounds;
    bool several; // several objectives: they have no common best
    // columns in the row of a round: the median, the norm of the gradient, of a model of the fitness its shortest
    // length, tau, and how many members were run; 0: none
    int median, gradient, shortest, tau, evaluated;
    const char *title[CONVERGENCE_PANELS];
} Convergence;

static const char *const convergence_titles[CONVERGENCE_OBJECTIVES] = {
    "hypervolume of the front", "best so far",          "median of the generation",   "step size",
    "condition number of C",    "norm of the gradient", "Kendall's tau of the model", "run of the generation"};

static const char *convergence_objective_title(const Spec *spec, int k, Arena *arena)
{
    return arena_format(arena, "best so far: %.40s", objective_text(spec, k, arena));
}

// ---- reading --------------------------------------------------------------------------------------------------------

static Error convergence_find(const PlotData *data, Arena *arena, Convergence *convergence)
{
    Search search;
    TRY(search_init(&data->campaign->spec, arena, &search));
    for (int f = 0; f < search.n_round_fields; f++) {
        const char *name = search.round_fields[f].name;
        if (strcmp(name, "median") == 0) convergence->median = f;
        if (strcmp(name, "shortest") == 0) convergence->shortest = f;
        if (strcmp(name, "tau") == 0) convergence->tau = f;
        if (strcmp(name, "evaluated") == 0) convergence->evaluated = f;
    }
    return error_none();
}

static double convergence_number(const RoundRow *round, int column)
{
    return column > 0 ? round_number(round->debug, column) : (double)NAN;
}

static void convergence_take(Convergence *convergence, const RoundRow *round)
{
    double *value = plot_rounds_add(&convergence->rounds, round->search, round->round, round->evaluations)->value;
    if (!convergence->several) value[CONVERGENCE_BEST] = round->best;
    value[CONVERGENCE_MEDIAN] = convergence_number(round, convergence->median);
    value[CONVERGENCE_SIGMA] = round->sigma;
    value[CONVERGENCE_CONDITION] =
        convergence->shortest > 0 ? convergence_number(round, convergence->shortest) : round->condition;
    value[CONVERGENCE_GRADIENT] = convergence_number(round, convergence->gradient);
    value[CONVERGENCE_TAU] = convergence_number(round, convergence->tau);
    value[CONVERGENCE_EVALUATED] = convergence_number(round, convergence->evaluated);
    value[CONVERGENCE_VOLUME] = round->hypervolume;
}

// Reads the best searches, and so that all fit every k-th round of each, and its last.
static Error convergence_read(const PlotData *data, Arena *arena, Convergence *convergence)
{
    PlotRounds *all = &convergence->rounds;
    RoundRow round;
    TRY(plot_rounds_begin(data, spec_several(&data->campaign->spec), arena, all));
    TRY(convergence_find(data, arena, convergence));
    convergence->gradient = data->campaign->spec.method->gradient_column;
    if (convergence->shortest > 0) {
        convergence->title[CONVERGENCE_SIGMA] = "trust region";
        convergence->title[CONVERGENCE_CONDITION] = "shortest length";
    }
    Cursor rounds =
        rounds_of_best(data->campaign->database, data->maximize, all->every, all->searches, all->most, arena);
    while (round_next(&rounds, &round)) convergence_take(convergence, &round);
    return cursor_close(&rounds);
}

// ---- several objectives ---------------------------------------------------------------------------------------------

// A search while its trials are read in the order of their rounds.
typedef struct ConvergenceCursor {
    int64_t search, point, last; // the point that comes next, and its last point
    double best[OBJECTIVES_MAX]; // so far
} ConvergenceCursor;

static int convergence_cursors(const Convergence *convergence, ConvergenceCursor *cursor)
{
    const PlotRounds *rounds = &convergence->rounds;
    int count = 0;
    for (int64_t i = 0; i < rounds->count; i++) {
        const int64_t search = rounds->round[i].search;
        if (i == 0 || rounds->round[i - 1].search != search) {
            cursor[count] = (ConvergenceCursor){.search = search, .point = i};
            for (int k = 0; k < OBJECTIVES_MAX; k++) cursor[count].best[k] = (double)NAN;
            count++;
        }
        cursor[count - 1].last = i;
    }
    return count;
}

// Stores the best so far in the search's next point.
static void convergence_put_best(Convergence *convergence, const ConvergenceCursor *cursor)
{
    double *value = convergence->rounds.round[cursor->point].value + CONVERGENCE_OBJECTIVES;
    for (int k = 0; k < OBJECTIVES_MAX; k++) value[k] = cursor->best[k];
}

// The trial's cells: search, round, objectives.
static void convergence_take_trial(Convergence *convergence, ConvergenceCursor *cursor, int count, const Spec *spec,
                                   const Cursor *trial)
{
    const int64_t search = cell_integer(trial, 0), round = cell_integer(trial, 1);
    int at = 0;
    while (at < count && cursor[at].search != search) at++;
    if (at == count) return; // this search is not drawn
    while (cursor[at].point < cursor[at].last && convergence->rounds.round[cursor[at].point].number < round) {
        convergence_put_best(convergence, &cursor[at]);
        cursor[at].point++;
    }
    for (int k = 0; k < spec->objective.count; k++) {
        const double value = cell_real(trial, 2 + k);
        if (!isfinite(value)) continue;
        if (isnan(cursor[at].best[k]) || spec_better(spec, k, value, cursor[at].best[k])) cursor[at].best[k] = value;
    }
}

static Error convergence_read_objectives(const PlotData *data, Arena *arena, Convergence *convergence)
{
    const Spec *spec = &data->campaign->spec;
    ConvergenceCursor *cursor = ARENA_NEW(arena, ConvergenceCursor, PLOT_SEARCHES + 1);
    const int count = convergence_cursors(convergence, cursor);
    const char *columns[2 + OBJECTIVES_MAX] = {"search", "round"};
    for (int k = 0; k < spec->objective.count; k++) {
        columns[2 + k] = rows_objective_name(k);
        convergence->title[CONVERGENCE_OBJECTIVES + k] = convergence_objective_title(spec, k, arena);
    }
    Cursor trials = trials_in_turn(data->campaign, true, columns, 2 + spec->objective.count, arena);
    while (cursor_next(&trials)) convergence_take_trial(convergence, cursor, count, spec, &trials);
    for (int i = 0; i < count; i++) {
        for (; cursor[i].point <= cursor[i].last; cursor[i].point++) convergence_put_best(convergence, &cursor[i]);
    }
    return cursor_close(&trials);
}

// ---- drawing --------------------------------------------------------------------------------------------------------

static PlotAxis convergence_axis(const char *name, PlotRange range, bool always_log)
{
    if (!(range.low > 0) || !(always_log || range.high > 30 * range.low)) return plot_axis_over(name, NULL, range);
    return plot_log_axis_over(name, range);
}

static void convergence_draw_searches(const Convergence *convergence, Plot *plot)
{
    const PlotRounds *rounds = &convergence->rounds;
    const PlotAxis x = {.name = "evaluations", .low = 0, .high = fmax(1, rounds->last), .whole = true};
    for (int which = 0; which < CONVERGENCE_PANELS; which++) {
        const PlotRange range = plot_rounds_range(rounds, which);
        const bool always_log =
            which == CONVERGENCE_SIGMA || which == CONVERGENCE_CONDITION || which == CONVERGENCE_GRADIENT;
        if (!(range.low <= range.high)) continue; // no search has it
        const PlotAxis y = convergence_axis(convergence->title[which], range, always_log);
        PlotPanel panel = plot_panel(plot, 440, 250, NULL, x, y);
        plot_rounds(rounds, which, &panel);
        plot_panel_end(&panel);
    }
}

// A trial that is better than all trials before it, in the order of ids.
typedef struct ConvergenceRecord {
    int64_t id;
    double fitness;
} ConvergenceRecord;
enum { CONVERGENCE_RECORDS = 1000 };

static Error convergence_records(const PlotData *data, int k, const char *column, Arena *arena,
                                 ConvergenceRecord *record, int *count, int64_t *last)
{
    const char *const columns[] = {"id", column};
    double best = (double)NAN;
    Cursor trials = trials_in_turn(data->campaign, false, columns, 2, arena);
    while (cursor_next(&trials)) {
        const double fitness = cell_real(&trials, 1);
        *last = cell_integer(&trials, 0);
        if (!isfinite(fitness) || *count == CONVERGENCE_RECORDS) continue;
        if (!isnan(best) && !spec_better(&data->campaign->spec, k, fitness, best)) continue;
        best = fitness;
        record[(*count)++] = (ConvergenceRecord){*last, fitness};
    }
    return cursor_close(&trials);
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
    PlotRange range = {record[0].fitness, record[0].fitness};
    plot_widen(&range, record[count - 1].fitness);
    const PlotAxis y = convergence_axis(title, range, false);
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

// One panel per objective.
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
    Convergence convergence = {.several = spec_several(&data->campaign->spec)};
    bool rounds = false;
    memcpy(convergence.title, convergence_titles, sizeof convergence_titles);
    TRY(searches_have_rounds(data->campaign->database, &rounds));
    if (rounds) TRY(convergence_read(data, arena, &convergence));
    if (convergence.rounds.count == 0) return convergence_draw_order(data, plot, arena);
    if (convergence.several) TRY(convergence_read_objectives(data, arena, &convergence));
    convergence_draw_searches(&convergence, plot);
    return error_none();
}

static const char *convergence_caption(const PlotData *data, Arena *arena)
{
    const Spec *spec = &data->campaign->spec;
    int64_t searches = 0;
    const Error counted = searches_count(data->campaign->database, &searches);
    const char *line = counted.kind != OK || searches < 2 ? ""
                       : searches > PLOT_SEARCHES         ? " A line per search: the 48 best, the best one in front."
                                                          : " A line per search, the best one in front.";
    if (!search_learns(spec->method))
        return spec_several(spec) ? "The best so far of each objective, in the order of the trials."
                                  : "The best fitness so far, in the order of the trials.";
    if (spec->method->gradient_column > 0)
        return arena_format(arena, "The best fitness so far, the length of each step and the norm of the gradient.%s",
                            line);
    if (search_predicts(spec->method))
        return arena_format(
            arena, "The best fitness so far, the sides of the trust region, the shortest length of the process.%s",
            line);
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
    .nothing = plot_no_fitness,
    .whole = true,
};
