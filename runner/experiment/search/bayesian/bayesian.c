// bayesian: Gaussian processes choose the trials, many searches side by side (search/side_by_side.h). The
// first round of a search is a start, each later one `batch` trials.
#include "bayesian.h"
#include "../sobol_sequence.h"
#include "hyperparameters.h"

#include <math.h>
#include <string.h>

static const size_t bayesian_bytes_max = (size_t)48 << 20; // of all that a search takes
static const size_t bayesian_points_bytes = (size_t)4 << 20;
enum { BAYESIAN_POOL = 160, BAYESIAN_TRIALS_PER_AXIS = 30 };

// ---- the state ------------------------------------------------------------------------------------------------------

BayesianView bayesian_view(const Search *search, int64_t s)
{
    const Bayesian *bayesian = search->scratch;
    unsigned char *bytes = (unsigned char *)search->state + sizeof(BayesianState) + (size_t)s * bayesian->run_bytes;
    BayesianView view = {.run = (void *)bytes, .theta = (void *)(bytes + sizeof(BayesianRun))};
    view.row = view.theta + bayesian->outputs * (bayesian->n + 2);
    return view;
}

BayesianRow bayesian_row(const Bayesian *bayesian, const BayesianView *view, int64_t row)
{
    double *x = view->row + row * bayesian->row_doubles;
    return (BayesianRow){x, x + bayesian->n};
}

double *bayesian_noted(const Bayesian *bayesian, const BayesianRow *row)
{
    return row->told + BAYESIAN_TOLD + bayesian->m;
}

bool bayesian_failed(const BayesianRow *row) { return isnan(row->told[BAYESIAN_COST]); }

bool bayesian_feasible(const Bayesian *bayesian, const BayesianRow *row)
{
    return !bayesian_failed(row) && !(constraints_violation(row->told + BAYESIAN_TOLD, bayesian->m) > 0.0);
}

bool bayesian_point(const Bayesian *bayesian, double *x)
{
    const Spec *spec = bayesian->spec;
    memcpy(bayesian->parameter, spec->fixed, (size_t)spec->configured.n_parameters * sizeof(double));
    for (int a = 0; a < bayesian->n; a++) {
        const Values *values = &spec->axes[a].values;
        const double value = search_value(values, x[a]);
        bayesian->parameter[spec->axes[a].parameter] = value;
        if (values->integer) x[a] = search_coordinate(values, value);
    }
    return search_complete(spec, bayesian->parameter);
}

bool bayesian_is_known(const Bayesian *bayesian, const BayesianView *view, int64_t trials, const double *x)
{
    for (int64_t r = 0; r < trials; r++) {
        if (memcmp(bayesian_row(bayesian, view, r).x, x, (size_t)bayesian->n * sizeof *x) == 0) return true;
    }
    return false;
}

BayesianPoints *bayesian_points(const Search *search, int64_t s)
{
    const Bayesian *bayesian = search->scratch;
    return &bayesian->points[s % bayesian->side.kept];
}

// ---- init -----------------------------------------------------------------------------------------------------------

static int64_t bayesian_searches(const Spec *spec) { return (int64_t)spec->method_settings[BAYESIAN_SEARCHES]; }

static int64_t bayesian_trials(const Spec *spec)
{
    const double given = spec->method_settings[BAYESIAN_STOP_TRIALS];
    return given > 0.0 ? (int64_t)given : (int64_t)BAYESIAN_TRIALS_PER_AXIS * spec->n_axes;
}

static int bayesian_design(const Spec *spec)
{
    const int given = (int)spec->method_settings[BAYESIAN_START], batch = (int)spec->method_settings[BAYESIAN_BATCH];
    const int least = 2 * spec->n_axes < 4 ? 4 : 2 * spec->n_axes;
    return given > 0 ? given : least < batch ? batch : least;
}

// The values of replicates are used where the cost is their mean. They say how uncertain it is if they are draws of the
// trial's own.
static bool bayesian_takes_values(const Spec *spec)
{
    return spec->replicates.count > 1 && spec->objective.over == OVER_MEAN && replicates_differ(spec);
}

static void bayesian_measure(const Spec *spec, Bayesian *bayesian)
{
    bayesian->spec = spec;
    bayesian->settings = spec->method_settings;
    bayesian->n = spec->n_axes;
    bayesian->m = spec->n_constraints;
    bayesian->outputs = BAYESIAN_OUTPUTS + bayesian->m;
    bayesian->batch = (int)bayesian->settings[BAYESIAN_BATCH];
    bayesian->design = bayesian_design(spec);
    bayesian->capacity = bayesian_trials(spec);
    bayesian->valued = bayesian_takes_values(spec);
    bayesian->noisy = bayesian->valued && !spec->replicates.common;
    bayesian->side.searches = bayesian_searches(spec);
    bayesian->side.first = (int64_t)bayesian->settings[BAYESIAN_FIRST];
    side_take_part(spec, &bayesian->side);
    bayesian->side.trials_max = bayesian->design > bayesian->batch ? bayesian->design : bayesian->batch;
    bayesian->side.told_width = BAYESIAN_TOLD + bayesian->m;
    bayesian->row_doubles = bayesian->n + BAYESIAN_TOLD + bayesian->m + BAYESIAN_NOTED;
    const int64_t numbers = bayesian->outputs * (bayesian->n + 2) + bayesian->capacity * bayesian->row_doubles;
    bayesian->run_bytes = sizeof(BayesianRun) + (size_t)numbers * sizeof(double);
    bayesian->side.told_at = sizeof(BayesianState) + (size_t)bayesian->side.searches * bayesian->run_bytes;
    const size_t points = (size_t)bayesian->side.trials_max * (size_t)(bayesian->n + 4) * sizeof(double);
    bayesian->side.kept = side_kept_within(&bayesian->side, bayesian_points_bytes, points);
}

static int64_t bayesian_model_most(const Bayesian *bayesian)
{
    const int64_t most = bayesian->capacity < BAYESIAN_MODEL_MAX ? bayesian->capacity : BAYESIAN_MODEL_MAX;
    return most + bayesian->batch;
}

static int64_t bayesian_fit_most(const Bayesian *bayesian)
{
    return bayesian->capacity < BAYESIAN_FIT_MAX ? bayesian->capacity : BAYESIAN_FIT_MAX;
}

static int64_t bayesian_pool_doubles(const Bayesian *bayesian)
{
    const int64_t pool = (int64_t)BAYESIAN_POOL * bayesian->n;
    return pool > 2 * BAYESIAN_MODEL_MAX ? pool : 2 * BAYESIAN_MODEL_MAX;
}

// Of what a thread needs for a search.
static size_t bayesian_room_bytes(const Bayesian *bayesian)
{
    const int n = bayesian->n;
    const int64_t most = bayesian_model_most(bayesian), fit = bayesian_fit_most(bayesian);
    const size_t model = process_bytes(n, most) + (size_t)(most + n + 2) * sizeof(double) + sizeof(BayesianModel) + 128;
    const int64_t numbers = hyperparameters_room(n, fit) + bayesian_pool_doubles(bayesian) + 8 * bayesian->capacity +
                            14 * n + bounded_minimum_room(n) + bayesian->spec->configured.n_parameters;
    return (size_t)bayesian->outputs * model + process_bytes(n, fit) + (size_t)numbers * sizeof(double) + 32 * 64;
}

static Error bayesian_check(const Spec *spec, const char **key)
{
    Bayesian bayesian = {0};
    bayesian_measure(spec, &bayesian);
    *key = "search.over";
    if (bayesian.n > BAYESIAN_AXES_MAX)
        return error_make(ERROR_USER, "bayesian searches at most %d parameters; the spec has %d. Use cmaes",
                          BAYESIAN_AXES_MAX, bayesian.n);
    *key = "constraints";
    if (bayesian.m > BAYESIAN_CONSTRAINTS_MAX)
        return error_make(ERROR_USER, "bayesian takes at most %d constraints; the spec has %d",
                          BAYESIAN_CONSTRAINTS_MAX, bayesian.m);
    *key = "search.bayesian.searches";
    if (bayesian.side.told_at + bayesian_room_bytes(&bayesian) > bayesian_bytes_max)
        return error_make(ERROR_USER, "%lld searches of %lld trials are too many: use fewer searches or trials",
                          (long long)bayesian.side.searches, (long long)bayesian.capacity);
    return error_none();
}

static void bayesian_take_room(Bayesian *bayesian, Arena *arena)
{
    const int n = bayesian->n;
    const int64_t capacity = bayesian->capacity, most = bayesian_model_most(bayesian);
    const int64_t fit = bayesian_fit_most(bayesian);
    bayesian->parameter = ARENA_NEW(arena, double, bayesian->spec->configured.n_parameters);
    bayesian->model = ARENA_NEW(arena, BayesianModel, bayesian->outputs);
    for (int k = 0; k < bayesian->outputs; k++)
        bayesian->model[k] = (BayesianModel){.process = process_take(n, most, bayesian->word, arena),
                                             .row = ARENA_NEW(arena, int64_t, most),
                                             .theta = ARENA_NEW(arena, double, n + 2),
                                             .search = -1};
    bayesian->fit = process_take(n, fit, bayesian->word, arena);
    bayesian->room = ARENA_NEW(arena, double, hyperparameters_room(n, fit));
    bayesian->warp.cost = ARENA_NEW(arena, double, capacity);
    bayesian->warp.warped = ARENA_NEW(arena, double, capacity);
    bayesian->number = ARENA_NEW(arena, double, 3 * capacity);
    bayesian->chosen = ARENA_NEW(arena, int64_t, capacity);
    bayesian->pool = ARENA_NEW(arena, double, bayesian_pool_doubles(bayesian));
    bayesian->region =
        (BayesianRegion){ARENA_NEW(arena, double, n), ARENA_NEW(arena, double, n), ARENA_NEW(arena, double, n)};
    bayesian->vector = ARENA_NEW(arena, double, 8 * n + bounded_minimum_room(n));
}

static void bayesian_take_points(Bayesian *bayesian, int64_t count, Arena *arena)
{
    const int64_t most = bayesian->side.trials_max;
    bayesian->side.kept = count;
    bayesian->points = ARENA_NEW(arena, BayesianPoints, count);
    for (int64_t i = 0; i < count; i++)
        bayesian->points[i] = (BayesianPoints){.drawn = side_drawn_take(most, most, arena),
                                               .x = ARENA_NEW(arena, double, most * bayesian->n),
                                               .predicted = ARENA_NEW(arena, double, most *BAYESIAN_NOTED)};
}

static const SideMethod bayesian_side;

static Error bayesian_init(const Spec *spec, Arena *arena, Search *search)
{
    Bayesian *bayesian = ARENA_NEW(arena, Bayesian, 1);
    bayesian_measure(spec, bayesian);
    bayesian->word = ARENA_NEW(arena, bool, bayesian->n);
    for (int a = 0; a < bayesian->n; a++) bayesian->word[a] = spec->axes[a].values.choices != NULL;
    bayesian->sobol = sobol_make(bayesian->n, spec->seed, arena);
    bayesian_take_room(bayesian, arena);
    bayesian_take_points(bayesian, bayesian->side.kept, arena);
    bayesian->side.method = &bayesian_side;
    search->scratch = bayesian;
    side_init(search, (uint32_t)bayesian->n, arena);
    search->round_fields = bayesian_fields(spec, arena, &search->n_round_fields);
    BayesianState *state = search->state;
    state->outputs = bayesian->outputs;
    state->capacity = bayesian->capacity;
    for (int64_t s = 0; s < bayesian->side.searches; s++) {
        const BayesianView view = bayesian_view(search, s);
        *view.run = (BayesianRun){.best = (double)NAN};
        for (int k = 0; k < bayesian->outputs; k++)
            hyperparameters_default(bayesian_kind(k), bayesian->n, view.theta + k * (bayesian->n + 2));
    }
    search->round_trials = bayesian->side.searches * bayesian_side.members(search, 0);
    return error_none();
}

// ---- memory for a team ----------------------------------------------------------------------------------------------

static size_t bayesian_worker_bytes(const Search *search, bool learns)
{
    (void)learns;
    return sizeof(Bayesian) + bayesian_room_bytes(search->scratch);
}

static void *bayesian_worker(const Search *search, bool learns, Arena *arena)
{
    (void)learns;
    Bayesian *worker = ARENA_NEW(arena, Bayesian, 1);
    *worker = *(const Bayesian *)search->scratch;
    bayesian_take_room(worker, arena);
    return worker;
}

static size_t bayesian_generation_bytes(const Search *search)
{
    const Bayesian *bayesian = search->scratch;
    return (size_t)bayesian->side.trials_max * (size_t)(bayesian->n + 4) * sizeof(double) + sizeof(BayesianPoints) +
           4 * 64;
}

static void bayesian_keep(Search *search, int64_t generations, Arena *arena)
{
    bayesian_take_points(search->scratch, generations, arena);
}

// ---- ask ------------------------------------------------------------------------------------------------------------

static SideRun bayesian_side_run(const Search *search, int64_t s)
{
    const BayesianRun *run = bayesian_view(search, s).run;
    return (SideRun){.round = run->round, .stop = run->stop};
}

static int64_t bayesian_members(const Search *search, int64_t s)
{
    const Bayesian *bayesian = search->scratch;
    const BayesianRun *run = bayesian_view(search, s).run;
    const int64_t wanted = run->round == 0 ? bayesian->design : bayesian->batch,
                  left = bayesian->capacity - run->trials;
    return wanted < left ? wanted : left > 0 ? left : 1;
}

static SideDrawn *bayesian_drawn(const Search *search, int64_t s) { return &bayesian_points(search, s)->drawn; }

// The points of a round follow from each other: they are chosen together, when they are listed.
static void bayesian_draw(const Search *search, void *worker, int64_t s, int64_t first, int64_t end)
{
    (void)search, (void)worker, (void)s, (void)first, (void)end;
}

// They were allowed when they were chosen.
static void bayesian_give(const Search *search, void *worker, int64_t s, int64_t first, int64_t end, double *parameter)
{
    const Bayesian *bayesian = worker;
    const BayesianPoints *points = bayesian_points(search, s);
    const size_t n = (size_t)bayesian->spec->configured.n_parameters;
    for (int64_t trial = first; trial < end; trial++, parameter += n) {
        double x[BAYESIAN_AXES_MAX];
        memcpy(x, points->x + points->drawn.slot[trial] * bayesian->n, (size_t)bayesian->n * sizeof *x);
        (void)bayesian_point(bayesian, x);
        memcpy(parameter, bayesian->parameter, n * sizeof *parameter);
    }
}

// ---- tell -----------------------------------------------------------------------------------------------------------

// Mean of the replicates that did not fail, and its standard error; NaN: they are fewer than a quarter of all, or two.
static void bayesian_note_replicates(const Bayesian *bayesian, const double *value, double *told)
{
    const int count = bayesian->spec->replicates.count;
    double mean = 0.0, squares = 0.0;
    int numbers = 0;
    for (int r = 0; r < count; r++) {
        if (isnan(value[r])) continue;
        numbers++;
        const double away = value[r] - mean;
        mean += away / numbers;
        squares += away * (value[r] - mean);
    }
    const double error = numbers > 1 ? sqrt(squares / ((double)numbers * (numbers - 1))) : 0.0;
    const bool enough = numbers >= 2 && 4 * numbers >= count && isfinite(mean);
    told[BAYESIAN_LOST] = (double)(count - numbers) / count;
    told[BAYESIAN_ERROR] = bayesian->noisy && isfinite(error) ? error : 0.0;
    if (isnan(told[BAYESIAN_COST])) told[BAYESIAN_KNOWN] = enough ? spec_cost(bayesian->spec, 0, mean) : (double)NAN;
}

static void bayesian_note(const Search *search, const Trials *trials, int64_t t, double *told)
{
    const Bayesian *bayesian = search->scratch;
    const int m = bayesian->m;
    const double fitness = trials->fitness[t];
    told[BAYESIAN_COST] = isfinite(fitness) ? spec_cost(bayesian->spec, 0, fitness) + 0.0 : (double)NAN;
    told[BAYESIAN_KNOWN] = told[BAYESIAN_COST];
    told[BAYESIAN_ERROR] = 0.0;
    told[BAYESIAN_LOST] = isnan(told[BAYESIAN_COST]);
    told[BAYESIAN_SURVIVED] = isnan(trials->survived[t]) ? 0.0 : trials->survived[t];
    if (bayesian->valued && trials->value != NULL)
        bayesian_note_replicates(bayesian, trials->value + t * bayesian->spec->replicates.count, told);
    for (int i = 0; i < m; i++) {
        const double value = trials->constraint[t * m + i];
        told[BAYESIAN_TOLD + i] = value;
        if (!isfinite(value)) told[BAYESIAN_COST] = (double)NAN;
    }
}

static void bayesian_add_rows(const Bayesian *bayesian, const BayesianView *view, const BayesianPoints *points,
                              const double *told)
{
    BayesianRun *run = view->run;
    for (int64_t i = 0; i < points->drawn.trials; i++, told += bayesian->side.told_width) {
        const int64_t member = points->drawn.slot[i];
        const BayesianRow row = bayesian_row(bayesian, view, run->trials++);
        memcpy(row.x, points->x + member * bayesian->n, (size_t)bayesian->n * sizeof *row.x);
        memcpy(row.told, told, (size_t)bayesian->side.told_width * sizeof *told);
        memcpy(bayesian_noted(bayesian, &row), points->predicted + member * BAYESIAN_NOTED,
               BAYESIAN_NOTED * sizeof *told);
        if (bayesian_feasible(bayesian, &row) && !(row.told[BAYESIAN_COST] >= run->best))
            run->best = row.told[BAYESIAN_COST];
    }
}

// Points of the ranges, before `exclude`; infinite where an axis is not of integers or words.
static double bayesian_all_points(const Spec *spec)
{
    double points = 1.0;
    for (int a = 0; a < spec->n_axes; a++) {
        const Values *values = &spec->axes[a].values;
        points *= values->integer ? values->high - values->low + 1.0 : (double)INFINITY;
    }
    return points;
}

static bool bayesian_has_all(const Bayesian *bayesian, const BayesianView *view)
{
    const double points = bayesian_all_points(bayesian->spec);
    int64_t different = 0;
    if (points > (double)view->run->trials) return false;
    for (int64_t r = 0; r < view->run->trials; r++)
        different += !bayesian_is_known(bayesian, view, r, bayesian_row(bayesian, view, r).x);
    return (double)different >= points;
}

static BayesianStop bayesian_stop(const Bayesian *bayesian, const BayesianView *view)
{
    const BayesianRun *run = view->run;
    const double target = bayesian->settings[BAYESIAN_STOP_TARGET];
    if (isfinite(target) && run->best <= spec_cost(bayesian->spec, 0, target)) return BAYESIAN_AT_TARGET;
    if (run->trials >= bayesian->capacity) return BAYESIAN_AT_TRIALS;
    return bayesian_has_all(bayesian, view) ? BAYESIAN_AT_POINTS : BAYESIAN_GOES_ON;
}

// Hyperparameters are fitted after each round at first, and later when there are a tenth more trials.
static bool bayesian_fit_is_due(const BayesianRun *run) { return 10 * (run->trials - run->fitted) >= run->trials - 20; }

static void bayesian_end_round(Search *search, void *worker, const SideEnd *end)
{
    Bayesian *bayesian = worker;
    const BayesianView view = bayesian_view(search, end->search);
    BayesianRun *run = view.run;
    const int64_t first = run->trials;
    bayesian_add_rows(bayesian, &view, bayesian_points(search, end->search), end->told);
    run->round++;
    bayesian_region_update(bayesian, &view, first);
    run->stop = bayesian_stop(bayesian, &view);
    if (run->stop == BAYESIAN_GOES_ON && bayesian_fit_is_due(run)) bayesian_fit(bayesian, &view);
    bayesian_report(search, bayesian, end, (BayesianStop)run->stop);
}

// ---- going on -------------------------------------------------------------------------------------------------------

static bool bayesian_run_is_whole(const Bayesian *bayesian, const BayesianView *view)
{
    const BayesianRun *run = view->run;
    if (run->trials < 0 || run->trials > bayesian->capacity || run->round < 0 || run->round > run->trials) return false;
    if (run->stop < 0 || run->stop >= BAYESIAN_STOPS || run->restarts < 0) return false;
    if (run->fitted < 0 || run->fitted > run->trials) return false;
    if (!(run->length >= 0.0 && run->length <= 2.0)) return false;
    for (int64_t r = 0; r < run->trials; r++) {
        const BayesianRow row = bayesian_row(bayesian, view, r);
        for (int a = 0; a < bayesian->n; a++) {
            if (!(row.x[a] >= 0.0 && row.x[a] <= 1.0)) return false;
        }
    }
    return true;
}

static bool bayesian_is_whole(const Search *search)
{
    const Bayesian *bayesian = search->scratch;
    const BayesianState *state = search->state;
    if (state->axes != (uint32_t)bayesian->n || state->outputs != bayesian->outputs) return false;
    if (state->capacity != bayesian->capacity) return false;
    for (int64_t s = 0; s < bayesian->side.searches; s++) {
        const BayesianView view = bayesian_view(search, s);
        if (!bayesian_run_is_whole(bayesian, &view)) return false;
        if (s == state->progress.search && view.run->stop == BAYESIAN_GOES_ON &&
            view.run->round != state->progress.round)
            return false;
    }
    return true;
}

static int64_t bayesian_reconsider(const Search *search, int64_t s)
{
    const BayesianView view = bayesian_view(search, s);
    BayesianRun *run = view.run;
    if (run->round == 0) return -1;
    run->stop = bayesian_stop(search->scratch, &view);
    return run->stop;
}

static const SideMethod bayesian_side = {
    .version = BAYESIAN_STATE_VERSION,
    .progress = offsetof(BayesianState, progress),
    .runs = sizeof(BayesianState),
    .stop_names = bayesian_stop_names,
    .n_stops = BAYESIAN_STOPS,
    .run = bayesian_side_run,
    .drawn = bayesian_drawn,
    .members = bayesian_members,
    .draw = bayesian_draw,
    .list = bayesian_propose,
    .give = bayesian_give,
    .note = bayesian_note,
    .end_generation = bayesian_end_round,
    .is_whole = bayesian_is_whole,
    .reconsider = bayesian_reconsider,
    .worker_bytes = bayesian_worker_bytes,
    .worker = bayesian_worker,
    .generation_bytes = bayesian_generation_bytes,
    .keep = bayesian_keep,
};

// Exact, except where `exclude` drops all draws of a trial.
static void bayesian_bounds(const Search *search, SearchBounds *bounds)
{
    const Bayesian *bayesian = search->scratch;
    const double searches = (double)bayesian->side.searches, trials = (double)bayesian->capacity;
    const double later = trials > bayesian->design ? trials - bayesian->design : 0.0;
    const SearchBudget most = {searches * trials, searches * (1.0 + ceil(later / bayesian->batch))};
    const bool few = bayesian_all_points(bayesian->spec) < trials;
    const bool early = few || isfinite(bayesian->settings[BAYESIAN_STOP_TARGET]);
    *bounds = (SearchBounds){.least = early ? (SearchBudget){searches, searches} : most,
                             .most = most,
                             .early = few     ? "every point of the ranges"
                                      : early ? "stop.target"
                                              : NULL};
}

const SearchMethod search_bayesian = {
    .name = "bayesian",
    .doc = "Gaussian processes within trust regions (Eriksson et al. 2019), for few and costly trials",
    .options = bayesian_options,
    .n_options = BAYESIAN_N_OPTIONS,
    .wants_range = true,
    .model = &bayesian_columns,
    .takes_values = bayesian_takes_values,
    .bounds = bayesian_bounds,
    .searches = bayesian_searches,
    .check = bayesian_check,
    .init = bayesian_init,
    SIDE_BY_SIDE_METHOD,
};
