// Searches along gradients, side by side (search/side_by_side.h): their state, what is asked for and what is told.
#include "descent.h"

#include <math.h>
#include <string.h>

static const size_t descent_bytes_max = (size_t)48 << 20; // of all that a search takes
static const size_t descent_points_bytes = (size_t)8 << 20;
enum { DESCENT_STATES = 16 << 20 };   // bytes for the states of a run, of each thread
enum { DESCENT_GPU_LANES = 1 << 16 }; // that a GPU goes back through at once, at most

// ---- the state ------------------------------------------------------------------------------------------------------

DescentView descent_view(const Search *search, int64_t run)
{
    const Descent *descent = search->scratch;
    DescentRun *own =
        (void *)((unsigned char *)search->state + sizeof(DescentState) + (size_t)run * descent->run_bytes);
    double *at = (void *)(own + 1);
    const int64_t n = descent->n;
    return (DescentView){.run = own, .x = at, .slope = at + n, .valid = at + 2 * n, .own = at + 3 * n};
}

SideDrawn *descent_points(const Search *search, int64_t run)
{
    const Descent *descent = search->scratch;
    return &descent->points[run % descent->side.kept];
}

// ---- init -----------------------------------------------------------------------------------------------------------

static size_t descent_round_bytes(const Descent *descent)
{
    return (size_t)descent->side.trials_max * (sizeof(int32_t) + sizeof(bool));
}

bool descent_by_model(const Descent *descent) { return descent->settings[DESCENT_GRADIENT] != DESCENT_BY_DIFFERENCES; }

static bool descent_by_tangent(const Descent *descent)
{
    return descent->settings[DESCENT_GRADIENT] == DESCENT_BY_TANGENT;
}

int64_t descent_around(const Descent *descent)
{
    if (descent_by_model(descent)) return 1;
    return 1 + (descent->settings[DESCENT_FORWARD] > 0.0 ? 1 : 2) * (int64_t)descent->n;
}

bool descent_knows_centre(const Descent *descent, const DescentRun *run)
{
    return descent->settings[DESCENT_FORWARD] > 0.0 && descent->method->line(descent) > 0 && run->iteration > 0 &&
           !run->on_line && !descent->method->squares && !descent_sees_replicates(descent->spec);
}

int64_t descent_searches(const Spec *spec) { return (int64_t)spec->method_settings[DESCENT_SEARCHES]; }

static void descent_measure(const Spec *spec, const DescentMethod *method, Descent *descent)
{
    descent->method = method;
    descent->spec = spec;
    descent->settings = spec->method_settings;
    descent->n = spec->n_axes;
    descent->side.searches = descent_searches(spec);
    descent->side.first = (int64_t)descent->settings[DESCENT_FIRST];
    side_take_part(spec, &descent->side);
    descent->side.told_width = DESCENT_TOLD + (descent_takes_values(spec) ? spec->replicates.count : 0);
    if (method->squares && squares_take_residuals(spec)) descent->side.told_width += spec_residuals(spec);
    descent->side.told_before = DESCENT_TOLD;
    const int64_t centre = descent_around(descent), line = method->line(descent);
    descent->side.trials_max = line > centre ? line : centre;
    descent->run_bytes = sizeof(DescentRun) + (size_t)(3 * (int64_t)descent->n + method->own(descent)) * sizeof(double);
    descent->side.told_at = sizeof(DescentState) + (size_t)descent->side.searches * descent->run_bytes;
    descent->side.kept = side_kept_within(&descent->side, descent_points_bytes, descent_round_bytes(descent));
}

// Searches use derivatives by each coordinate.
static Error descent_check_axes(const Spec *spec)
{
    for (int i = 0; i < spec->n_axes; i++) {
        if (!spec->axes[i].values.integer) continue;
        if (spec->axes[i].values.choices != NULL)
            return error_make(ERROR_USER,
                              "%s needs derivatives, and the values of %s are words: search it by cmaes, or by a grid",
                              spec->method->name, spec->configured.parameters[spec->axes[i].parameter].name);
        return error_make(ERROR_USER, "%s needs derivatives, and %s is an integer, which has none: search it by cmaes",
                          spec->method->name, spec->configured.parameters[spec->axes[i].parameter].name);
    }
    return error_none();
}

// The model's derivatives reach every searched parameter, also through those that are derived.
static Error descent_check_model(const Spec *spec, bool back)
{
    const Error refused = trial_gradient_check(spec);
    if (refused.kind != OK) return error_make(refused.kind, "%s; use `gradient: differences`", refused.text);
    if (back && !trial_gradient_goes_back(spec))
        return error_make(ERROR_USER, "model %s has no adjoint; use `gradient: tangent`", spec->model->name);
    if (spec->n_constraints > 0)
        return error_make(ERROR_USER,
                          "constraints have no gradient by the adjoint or the tangent; use `gradient: differences`");
    return trial_gradient_check_axes(spec);
}

Error descent_check(const Spec *spec, const DescentMethod *method, const char **key)
{
    Descent descent = {0};
    descent_measure(spec, method, &descent);
    *key = "search.over";
    TRY(descent_check_axes(spec));
    *key = "objective";
    if (method->squares) TRY(squares_check(spec, key));
    *key = method->gradient;
    if (descent_by_model(&descent)) TRY(descent_check_model(spec, !descent_by_tangent(&descent)));
    *key = method->forward;
    if (descent_by_model(&descent) && descent.settings[DESCENT_FORWARD] > 0.0)
        return error_make(
            ERROR_USER,
            "forward is a step of differences, and the gradient comes from the %s: leave out forward, or write "
            "`gradient: differences`",
            descent_by_tangent(&descent) ? "tangent" : "adjoint");
    const size_t told = (size_t)(descent.side.trials_max * descent.side.told_width) * sizeof(double);
    *key = method->searches;
    if (descent.side.told_at + told <= descent_bytes_max) return error_none();
    return error_make(ERROR_USER, "the state of %lld searches takes %s, more than the limit of %s: use fewer searches",
                      (long long)descent.side.searches, text_bytes((double)(descent.side.told_at + told)).text,
                      text_bytes((double)descent_bytes_max).text);
}

GradientMeans descent_means(const Descent *descent, AdjointDevice *device)
{
    return (GradientMeans){
        .most = DESCENT_STATES, .device = device, .tangents = descent_by_tangent(descent) ? descent->n : 0};
}

static void descent_take_room(Descent *descent, AdjointDevice *device, Arena *arena)
{
    const int64_t each = (int64_t)descent->n * descent->spec->replicates.count;
    descent->value = ARENA_NEW(arena, double, descent->side.trials_max);
    descent->replicate = ARENA_NEW(arena, double, descent->side.trials_max);
    descent->counts = ARENA_NEW(arena, bool, descent->n);
    descent->each = descent_sees_replicates(descent->spec) ? ARENA_NEW(arena, double, each) : NULL;
    descent->vector = ARENA_NEW(arena, double, 3 * (int64_t)descent->n);
    descent->parameter = ARENA_NEW(arena, double, descent->spec->configured.n_parameters);
    if (descent->method->squares) {
        squares_take_room(descent, arena);
        return;
    }
    if (!descent_by_model(descent)) return;
    const GradientMeans means = descent_means(descent, device);
    int *searched = ARENA_NEW(arena, int, descent->n);
    for (int i = 0; i < descent->n; i++) searched[i] = descent->spec->axes[i].parameter;
    descent->searched = searched;
    descent->gradient = trial_gradient_take(descent->spec, &descent->spec->configured, &means, arena);
    const int at_once = trial_gradient_trials(descent->spec, &means),
              n_parameters = descent->spec->configured.n_parameters;
    descent->group = (DescentGroup){.at_once = at_once,
                                    .search = ARENA_NEW(arena, int32_t, at_once),
                                    .ordinal = ARENA_NEW(arena, uint64_t, at_once),
                                    .parameter = ARENA_NEW(arena, double, (int64_t)at_once *n_parameters),
                                    .slope = ARENA_NEW(arena, double, (int64_t)at_once * descent->n),
                                    .growth = ARENA_NEW(arena, double, at_once)};
    if (descent->each != NULL) descent->group.each = ARENA_NEW(arena, double, at_once *each);
}

// Slopes that several threads compute for all searches.
static void descent_take_ready(Descent *descent, Arena *arena)
{
    const int64_t searches = descent->side.searches;
    if (descent->method->squares) squares_take(descent, arena);
    if (!descent_by_model(descent)) return;
    descent->centres = ARENA_NEW(arena, int64_t, searches);
    descent->ready = ARENA_NEW(arena, double, searches * descent->n);
    descent->ready_signs = ARENA_NEW(arena, GradientSigns, searches);
    descent->ready_round = ARENA_NEW(arena, int64_t, searches);
    for (int64_t s = 0; s < searches; s++) descent->ready_round[s] = -1;
}

static void descent_take_points(Descent *descent, int64_t count, Arena *arena)
{
    descent->side.kept = count;
    descent->points = ARENA_NEW(arena, SideDrawn, count);
    for (int64_t i = 0; i < count; i++)
        descent->points[i] = side_drawn_take(descent->side.trials_max, descent->side.trials_max, arena);
}

static const SideMethod descent_side;

Error descent_init(const Spec *spec, const DescentMethod *method, Arena *arena, Search *search)
{
    Descent *descent = ARENA_NEW(arena, Descent, 1);
    descent_measure(spec, method, descent);
    descent_take_room(descent, NULL, arena);
    descent_take_ready(descent, arena);
    descent_take_points(descent, descent->side.kept, arena);
    if (descent->n <= SOBOL_DIMENSIONS_MAX) descent->sobol = sobol_make(descent->n, spec->seed, arena);
    descent->side.method = &descent_side;
    search->scratch = descent;
    side_init(search, (uint32_t)descent->n, arena);
    search->round_trials = descent->side.searches * descent_around(descent);
    search->round_fields = descent_fields(spec, arena, &search->n_round_fields);
    for (int64_t s = 0; s < descent->side.searches; s++) {
        const DescentView view = descent_view(search, s);
        *view.run = (DescentRun){.best = (double)NAN};
        descent_begin(descent, &view, s);
    }
    return error_none();
}

// ---- memory for a team ----------------------------------------------------------------------------------------------

enum { DESCENT_TAKEN = 16 }; // arrays, at most, each of which begins a cache line

static size_t descent_room_bytes(const Search *search, AdjointDevice *device)
{
    const Descent *descent = search->scratch;
    const int64_t n = descent->n, each = descent->each != NULL ? n * search->spec->replicates.count : 0;
    const int64_t numbers = 2 * descent->side.trials_max + 4 * n + each + search->spec->configured.n_parameters;
    const Configured *configured = &search->spec->configured;
    const GradientMeans means = descent_means(descent, device);
    if (descent->method->squares)
        return sizeof(Descent) + (size_t)numbers * sizeof(double) + squares_room_bytes(descent) + DESCENT_TAKEN * 64;
    const size_t at_once = descent_by_model(descent) ? (size_t)trial_gradient_trials(search->spec, &means) : 0;
    const size_t of_each =
        sizeof(int32_t) + sizeof(uint64_t) + (size_t)(configured->n_parameters + n + each + 1) * sizeof(double);
    const size_t adjoint = at_once > 0 ? trial_gradient_bytes(search->spec, configured, &means) + at_once * of_each +
                                             (size_t)descent->n * sizeof(int)
                                       : 0;
    return sizeof(Descent) + (size_t)numbers * sizeof(double) + adjoint + DESCENT_TAKEN * 64;
}

static size_t descent_worker_bytes(const Search *search, bool learns)
{
    (void)learns;
    return descent_room_bytes(search, NULL);
}

static void *descent_worker(const Search *search, bool learns, Arena *arena)
{
    Descent *worker = ARENA_NEW(arena, Descent, 1);
    (void)learns;
    *worker = *(const Descent *)search->scratch;
    descent_take_room(worker, NULL, arena);
    return worker;
}

size_t descent_gradient_bytes(const Search *search)
{
    const Descent *descent = search->scratch;
    const GradientMeans means = descent_means(descent, NULL);
    if (descent->method->squares) return squares_room_bytes(descent);
    return descent_by_model(descent) ? trial_gradient_bytes(search->spec, &search->spec->configured, &means) : 0;
}

// A lane takes a thread of a GPU some hundred times as long as a processor's vector.
int64_t descent_gpu_least(int threads)
{
    enum { LANES_OF_A_THREAD = 256 };
    return LANES_OF_A_THREAD * (int64_t)threads;
}

int64_t descent_lanes(const Descent *descent)
{
    return (int64_t)descent->spec->replicates.count * (descent_by_tangent(descent) ? descent->n : 1);
}

int64_t descent_gradient_lanes(const Search *search, int threads)
{
    const Descent *descent = search->scratch;
    const int64_t lanes = descent->side.searches * descent_lanes(descent);
    if (!descent_by_model(descent) || lanes < descent_gpu_least(threads)) return 0;
    if (descent_by_tangent(descent) && !search->spec->model->adjoint->tangent_on_gpu) return 0;
    return lanes < DESCENT_GPU_LANES ? lanes : DESCENT_GPU_LANES;
}

void descent_use_gpu(Search *search, AdjointDevice *device, Arena *arena)
{
    Descent *descent = search->scratch;
    descent->on_gpu = NULL;
    if (device == NULL) return;
    *arena = (Arena){.purpose = "gradients by a GPU"};
    if (arena_create(arena, descent_room_bytes(search, device), arena->purpose).kind != OK) return;
    Descent *on_gpu = ARENA_NEW(arena, Descent, 1);
    *on_gpu = *descent;
    descent_take_room(on_gpu, device, arena);
    descent->on_gpu = on_gpu;
}

static size_t descent_generation_bytes(const Search *search)
{
    return descent_round_bytes(search->scratch) + sizeof(SideDrawn) + DESCENT_TAKEN * 64;
}

static void descent_keep(Search *search, int64_t generations, Arena *arena)
{
    descent_take_points(search->scratch, generations, arena);
}

// ---- ask ------------------------------------------------------------------------------------------------------------

static SideRun descent_side_run(const Search *search, int64_t s)
{
    const DescentRun *run = descent_view(search, s).run;
    return (SideRun){.round = run->round, .stop = run->stop};
}

static int64_t descent_side_members(const Search *search, int64_t s)
{
    return descent_members(search->scratch, descent_view(search, s).run);
}

static void descent_draw(const Search *search, void *worker, int64_t s, int64_t first, int64_t end)
{
    const Descent *descent = worker;
    const DescentView view = descent_view(search, s);
    SideDrawn *points = descent_points(search, s);
    for (int64_t member = first; member < end; member++) {
        descent_member(descent, &view, member, descent->vector);
        points->left_out[member] =
            (member == 0 && descent_knows_centre(descent, view.run)) || !descent_point(descent, descent->vector);
    }
}

static void descent_list(const Search *search, void *worker, int64_t s)
{
    (void)worker;
    side_list_members(descent_points(search, s), descent_side_members(search, s));
}

static void descent_give(const Search *search, void *worker, int64_t s, int64_t first, int64_t end, double *parameter)
{
    const Descent *descent = worker;
    const DescentView view = descent_view(search, s);
    const SideDrawn *points = descent_points(search, s);
    const size_t n = (size_t)descent->spec->configured.n_parameters;
    for (int64_t trial = first; trial < end; trial++, parameter += n) {
        descent_member(descent, &view, points->slot[trial], descent->vector);
        (void)descent_point(descent, descent->vector); // it was allowed when it was listed
        memcpy(parameter, descent->parameter, n * sizeof *parameter);
    }
}

// ---- tell -----------------------------------------------------------------------------------------------------------

// told[0]: what is minimised, cost and penalty; told[1]: the cost, if the constraints are met; then the cost of each
// replicate. NaN: failed.
static void descent_note(const Search *search, const Trials *trials, int64_t t, double *told)
{
    const Descent *descent = search->scratch;
    const int m = search->spec->n_constraints;
    const double cost = spec_cost(search->spec, 0, trials->fitness[t]) + 0.0;
    double squares = 0.0;
    for (int i = 0; i < m; i++) {
        const double above = trials->constraint[t * m + i];
        if (!(above <= 0.0)) squares += above * above;
    }
    const double value = m > 0 ? cost + descent->settings[DESCENT_PENALTY] * squares : cost;
    told[0] = isfinite(value) ? value : (double)NAN;
    told[1] = isfinite(cost) && squares == 0.0 ? cost : (double)NAN;
    if (descent->squares != NULL && descent->side.told_width > DESCENT_TOLD) {
        const size_t n = (size_t)spec_residuals(search->spec);
        memcpy(told + DESCENT_TOLD, trials->residual + (size_t)t * n, n * sizeof *told);
        return;
    }
    for (int r = 0; r < descent->side.told_width - DESCENT_TOLD; r++)
        told[DESCENT_TOLD + r] = trials->value != NULL
                                     ? spec_cost(search->spec, 0, trials->value[t * search->spec->replicates.count + r])
                                     : (double)NAN;
}

// Values by point. Returns how many trials failed; *least: the best value.
static int64_t descent_gather(Descent *descent, const SideDrawn *points, DescentRun *run, const double *told,
                              double *least)
{
    const int64_t members = descent_members(descent, run);
    int64_t failed = 0;
    *least = (double)NAN;
    for (int64_t i = 0; i < members; i++) descent->value[i] = (double)NAN;
    if (descent_knows_centre(descent, run)) descent->value[0] = run->value;
    for (int64_t trial = 0; trial < points->trials; trial++, told += descent->side.told_width) {
        descent->value[points->slot[trial]] = told[0];
        failed += isnan(told[0]);
        if (!isnan(told[0]) && !(*least <= told[0])) *least = told[0];
        if (!isnan(told[1]) && !(run->best <= told[1])) run->best = told[1];
    }
    return failed;
}

// Value, slope and what its replicates say of it.
static void descent_take_slope(const Search *search, Descent *descent, const DescentView *view, const SideEnd *end)
{
    const double none = (double)NAN;
    descent->signs = (GradientSigns){.norm = none, .spread = none, .cosine = none, .growth = none};
    if (descent->squares != NULL && descent_by_model(descent))
        squares_reverse(descent, view, end->search);
    else if (descent->squares != NULL)
        squares_differentiate(descent, view, descent_points(search, end->search), end->told);
    else if (descent_by_model(descent))
        descent_reverse(descent, view, end->search);
    else
        descent_differentiate(descent, view);
    descent->took = view->run->missing < descent->n;
    descent->signs.norm = view->run->gradient;
    if (!descent->took || descent->each == NULL || descent_by_model(descent)) return;
    descent_differentiate_each(descent, view, descent_points(search, end->search), end->told);
    descent_signs(descent, &descent->signs);
}

static void descent_learn(const Search *search, Descent *descent, const DescentView *view, const SideEnd *end,
                          double least)
{
    DescentRun *run = view->run;
    descent->took = false;
    if (run->on_line) {
        descent->method->line_learn(descent, view);
    } else {
        descent_take_slope(search, descent, view, end);
        descent->method->learn(descent, view);
    }
    if (isnan(least) || run->least <= least) return;
    run->least = least;
    run->best_iteration = run->iteration;
}

static void descent_end_round(Search *search, void *worker, const SideEnd *end)
{
    Descent *descent = worker;
    const DescentView view = descent_view(search, end->search);
    const SideDrawn *points = descent_points(search, end->search);
    double least;
    const int64_t failed = descent_gather(descent, points, view.run, end->told, &least);
    descent_learn(search, descent, &view, end, least);
    view.run->round++;
    view.run->evaluations += points->trials;
    const DescentStop stop = descent_stop(descent, view.run);
    descent_report(search, descent, end, failed, stop);
    if (stop != DESCENT_GOES_ON) descent_restart(descent, &view, end->search, stop);
}

// ---- going on -------------------------------------------------------------------------------------------------------

static bool descent_counts_are_possible(const Descent *descent, const DescentRun *run)
{
    const int64_t counts[] = {run->round,     run->evaluations,    run->restart, run->first_round,
                              run->iteration, run->failed_rounds,  run->missing, run->has_valid,
                              run->pairs,     run->best_iteration, run->shorter, run->on_line};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        if (counts[i] < 0 || counts[i] > (int64_t)1 << 53) return false;
    }
    return run->round < (int64_t)1 << 24 && run->first_round <= run->round && run->restart <= DESCENT_RESTARTS_MAX &&
           run->stop >= 0 && run->stop < DESCENT_STOPS && run->missing <= descent->n &&
           run->pairs <= descent->method->pairs(descent) &&
           (run->on_line == 0 || (run->on_line == 1 && descent->method->line(descent) > 0));
}

static bool descent_numbers_are_possible(const Descent *descent, const DescentView *view)
{
    for (int i = 0; i < descent->n; i++) {
        if (!(view->x[i] >= 0.0 && view->x[i] <= 1.0 && view->valid[i] >= 0.0 && view->valid[i] <= 1.0)) return false;
        if (!isfinite(view->slope[i])) return false;
    }
    return isfinite(view->run->scale);
}

static bool descent_is_whole(const Search *search)
{
    const Descent *descent = search->scratch;
    const DescentState *state = search->state;
    if (state->dimension != (uint32_t)descent->n) return false;
    for (int64_t s = 0; s < descent->side.searches; s++) {
        const DescentView view = descent_view(search, s);
        if (!descent_counts_are_possible(descent, view.run) || !descent_numbers_are_possible(descent, &view))
            return false;
        if (s == state->progress.search && view.run->stop == DESCENT_GOES_ON &&
            view.run->round != state->progress.round)
            return false;
    }
    return true;
}

static int64_t descent_reconsider(const Search *search, int64_t s)
{
    const DescentView view = descent_view(search, s);
    if (view.run->round == view.run->first_round) return -1; // no round of this restart has ended
    const DescentStop why = descent_stop(search->scratch, view.run);
    view.run->stop = DESCENT_GOES_ON;
    if (why != DESCENT_GOES_ON) descent_restart(search->scratch, &view, s, why);
    return why;
}

static const SideMethod descent_side = {
    .version = DESCENT_STATE_VERSION,
    .progress = offsetof(DescentState, progress),
    .runs = sizeof(DescentState),
    .stop_names = descent_stop_names,
    .n_stops = DESCENT_STOPS,
    .run = descent_side_run,
    .drawn = descent_points,
    .members = descent_side_members,
    .draw = descent_draw,
    .list = descent_list,
    .give = descent_give,
    .note = descent_note,
    .before_ends = descent_reverse_all,
    .end_generation = descent_end_round,
    .is_whole = descent_is_whole,
    .reconsider = descent_reconsider,
    .worker_bytes = descent_worker_bytes,
    .worker = descent_worker,
    .generation_bytes = descent_generation_bytes,
    .keep = descent_keep,
};

bool descent_budget(const Spec *spec, const char *option)
{
    const char *key = strchr(option, '.');
    const bool whole = strcmp(key, ".stop.trials") == 0 || strcmp(key, ".stop.target") == 0;
    if (spec->method_settings[DESCENT_RESTARTS] > 0.0) return whole;
    return strncmp(key, ".stop.", strlen(".stop.")) == 0;
}

// Why the numbers below are an upper bound.
static const char *descent_why_bound(const Descent *descent)
{
    const bool adjoint = descent_by_model(descent);
    if (descent->method->line(descent) == 0)
        return adjoint ? "a search ends when its gradient or its steps are small, which only its trials show; the time "
                         "of its gradients is not included: by the adjoint some runs of each trial"
                       : "a search ends when its gradient or its steps are small, which only its trials show";
    return adjoint ? "a search ends when no step leads down, which only its trials show; a line is counted for each "
                     "gradient; the time of its gradients is not included: by the adjoint some runs of each centre"
                   : "a search ends when no step leads down, which only its trials show; a line is counted for each "
                     "gradient";
}

// An iteration is a round of differences, or the centre alone, and, for methods with a line, at most one line.
void descent_bounds(const Search *search, SearchBounds *bounds)
{
    const Descent *descent = search->scratch;
    const double differences = (double)descent_around(descent), line = (double)descent->method->line(descent);
    const double limit = descent->settings[DESCENT_STOP_TRIALS], searches = (double)descent->side.searches;
    const double iterations = descent->settings[DESCENT_STOP_ITERATIONS] * (descent->settings[DESCENT_RESTARTS] + 1.0);
    SearchBudget most = {.trials = iterations * (differences + line), .rounds = iterations * (line > 0.0 ? 2.0 : 1.0)};
    if (limit > 0.0) {
        const double last = (double)descent->side.trials_max;
        const double trials = line > 0.0 ? limit - 1.0 + last : ceil(limit / differences) * differences;
        const bool forward = line > 0.0 && descent->settings[DESCENT_FORWARD] > 0.0; // most rounds have no centre
        const double around = differences - (forward ? 1.0 : 0.0);
        const double rounds = ceil(limit / (line > 0.0 && line < around ? line : around));
        most.trials = trials < most.trials ? trials : most.trials;
        most.rounds = rounds < most.rounds ? rounds : most.rounds;
    }
    *bounds = (SearchBounds){.least = {(double)search->round_trials, searches},
                             .most = {searches * most.trials, searches * most.rounds},
                             .early = "tolerances",
                             .why_bound = descent_why_bound(descent)};
}
