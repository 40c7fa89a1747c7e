// cmaes: covariance matrix adaptation evolution strategies, many side by side (search/side_by_side.h). Each search has
// its own seed, start and restarts.
#include "cmaes.h"

#include <math.h>
#include <string.h>

static const size_t cmaes_bytes_max = (size_t)48 << 20; // of all that a search takes
static const size_t cmaes_populations_bytes = (size_t)8 << 20;

// ---- the state ------------------------------------------------------------------------------------------------------

// Where the arrays of a run start, in the order of cmaes_view, and after the last one where they end.
static void cmaes_lay_out(Cmaes *cmaes)
{
    const int64_t n = cmaes->n, square = cmaes->separable ? 0 : n * n, m = cmaes->lagrangian ? cmaes->n_constraints : 0;
    const int64_t integers = cmaes->has_integers ? n : 0, bounds = cmaes->penalized ? n : 0;
    const int64_t spans = cmaes->penalized ? cmaes->n_spans : 0, variances = cmaes->separable ? n : square;
    const int64_t racers = cmaes->race ? cmaes->lambda_max : 0, replicates = cmaes->spec->replicates.count;
    const int64_t own = cmaes->surrogate ? n : 0, terms = cmaes->surrogate ? surrogate_terms(SURROGATE_FULL, n) : 0;
    const int64_t sizes[CMAES_ARRAYS] = {n,
                                         n,
                                         n,
                                         n,
                                         cmaes->n_recent,
                                         CMAES_HISTORY,
                                         CMAES_HISTORY,
                                         variances,
                                         square,
                                         integers,
                                         bounds,
                                         spans,
                                         m,
                                         m,
                                         m,
                                         cmaes->surrogate ? SURROGATE_DOUBLES : 0,
                                         cmaes->archive_max * (n + 1),
                                         cmaes->surrogate ? cmaes->lambda_max * SURROGATE_MEMBER_DOUBLES : 0,
                                         terms,
                                         own,
                                         own,
                                         own,
                                         cmaes->race ? CMAES_RACE_DOUBLES : 0,
                                         racers * CMAES_RACER_DOUBLES,
                                         racers * replicates};
    for (int i = 0; i < CMAES_ARRAYS; i++) cmaes->offset[i + 1] = cmaes->offset[i] + sizes[i];
    cmaes->run_bytes = sizeof(CmaesRun) + sizeof(double) * (size_t)cmaes->offset[CMAES_ARRAYS];
}

CmaesRun *cmaes_run(const Search *search, int64_t run)
{
    const Cmaes *cmaes = search->scratch;
    return (void *)((unsigned char *)search->state + sizeof(CmaesState) + (size_t)run * cmaes->run_bytes);
}

CmaesView cmaes_view(const Search *search, int64_t run)
{
    const int64_t *offset = ((const Cmaes *)search->scratch)->offset;
    CmaesRun *own = cmaes_run(search, run);
    double *at = (void *)(own + 1);
    return (CmaesView){.run = own,
                       .mean = at + offset[0],
                       .p_c = at + offset[1],
                       .p_sigma = at + offset[2],
                       .lengths = at + offset[3],
                       .recent = at + offset[4],
                       .history_best = at + offset[5],
                       .history_median = at + offset[6],
                       .C = at + offset[7],
                       .axes = at + offset[8],
                       .scaling = at + offset[9],
                       .penalty = at + offset[10],
                       .spans = at + offset[11],
                       .multiplier = at + offset[12],
                       .stiffness = at + offset[13],
                       .constraint = at + offset[14],
                       .surrogate = (void *)(at + offset[15]),
                       .archive = at + offset[16],
                       .member = (void *)(at + offset[17]),
                       .model = at + offset[18],
                       .center = at + offset[19],
                       .scale = at + offset[20],
                       .best = at + offset[21],
                       .race = (void *)(at + offset[22]),
                       .racer = (void *)(at + offset[23]),
                       .value = at + offset[24]};
}

int64_t cmaes_rounds(const Cmaes *cmaes, const CmaesView *view)
{
    return cmaes->surrogate ? view->surrogate->rounds : cmaes->race ? view->race->rounds : view->run->round;
}

ThreadTeam *cmaes_team(const Cmaes *cmaes, int64_t lambda)
{
    enum { LARGE = 4096 };
    return lambda >= LARGE ? cmaes->team : NULL;
}

// ---- init -----------------------------------------------------------------------------------------------------------

int64_t cmaes_usual_population(int n) { return 4 + (int64_t)(3.0 * portable_log((double)n)); }

static int64_t cmaes_lambda(const double *settings, int n)
{
    const double given = settings[CMAES_POPULATION];
    return given > 0.0 ? (int64_t)given : cmaes_usual_population(n);
}

static bool cmaes_is_separable(const double *settings, int64_t n)
{
    const int given = (int)settings[CMAES_COVARIANCE];
    return given == CMAES_COVARIANCE_SEPARABLE || (given == CMAES_COVARIANCE_AUTO && n > CMAES_FULL_MAX);
}

static void cmaes_choose(const Spec *spec, Cmaes *cmaes)
{
    cmaes->separable = cmaes_is_separable(cmaes->settings, cmaes->n);
    cmaes->penalized = cmaes->settings[CMAES_BOUNDS] == CMAES_BOUNDS_PENALTY;
    cmaes->drops = spec->n_exclude > 0 || spec->n_derived > 0 || cmaes->settings[CMAES_BOUNDS] == CMAES_BOUNDS_RESAMPLE;
    cmaes->uncertain = cmaes->settings[CMAES_UNCERTAINTY] != 0.0;
    cmaes->surrogate = (int)cmaes->settings[CMAES_SURROGATE] != CMAES_SURROGATE_NONE;
    cmaes->race = race_of_generations(spec);
    cmaes->n_constraints = spec->n_constraints;
    cmaes->lagrangian = cmaes->n_constraints > 0 && cmaes->settings[CMAES_CONSTRAINTS] == CMAES_CONSTRAINTS_LAGRANGIAN;
    for (int i = 0; i < cmaes->n; i++) cmaes->has_integers |= spec->axes[i].values.integer;
}

// Trials of the greatest generation.
static int64_t cmaes_most_trials(const Cmaes *cmaes)
{
    const int64_t members = cmaes->lambda_max + cmaes_again(cmaes, cmaes->lambda_max);
    const int64_t each = cmaes->uncertain ? (int64_t)cmaes->settings[CMAES_UNCERTAINTY_MAX] : 1;
    return members * each + cmaes->lagrangian;
}

// Of a generation as it was drawn.
static size_t cmaes_population_bytes(const Cmaes *cmaes)
{
    return (size_t)cmaes->lambda_max * (size_t)(cmaes->n + 2) * sizeof(double) +
           (size_t)cmaes->side.trials_max * sizeof(int32_t);
}

static int64_t cmaes_searches(const Spec *spec)
{
    return (int64_t)spec->method_settings[CMAES_SEARCHES] * (spec->n_outer > 0 ? spec->outer.points : 1);
}

static void cmaes_measure(const Spec *spec, Cmaes *cmaes)
{
    const int64_t n = spec->n_axes;
    cmaes->spec = spec;
    cmaes->settings = spec->method_settings;
    cmaes->n = (int)n;
    cmaes_choose(spec, cmaes);
    cmaes->side.searches = cmaes_searches(spec);
    cmaes->side.first = (int64_t)cmaes->settings[CMAES_FIRST];
    side_take_part(spec, &cmaes->side);
    cmaes->side.told_width = 2 + cmaes->n_constraints + (cmaes->race ? spec->replicates.count : 0);
    cmaes->lambda_start = cmaes_lambda(cmaes->settings, (int)n);
    cmaes->lambda_max = cmaes_greatest_population(cmaes->settings, cmaes->lambda_start);
    cmaes->n_recent = 10 + (30 * n + cmaes->lambda_start - 1) / cmaes->lambda_start;
    cmaes->n_spans = 20 + (3 * n + cmaes->lambda_start - 1) / cmaes->lambda_start;
    cmaes->archive_max = cmaes->surrogate ? surrogate_capacity(n, cmaes->lambda_max) : 0;
    cmaes->side.trials_max = cmaes_most_trials(cmaes);
    cmaes_lay_out(cmaes);
    cmaes->side.told_at = sizeof(CmaesState) + (size_t)cmaes->side.searches * cmaes->run_bytes;
    cmaes->side.kept = side_kept_within(&cmaes->side, cmaes_populations_bytes, cmaes_population_bytes(cmaes));
}

// What the update of a generation takes.
static size_t cmaes_learning_bytes(const Cmaes *cmaes)
{
    const int64_t member = 16 + (cmaes->uncertain ? 7 : 0) + cmaes->n_constraints;
    return (size_t)(cmaes->lambda_max * member) * sizeof(double) + surrogate_fit_bytes(cmaes);
}

// Bytes beside the state and the populations.
static size_t cmaes_room_bytes(const Cmaes *cmaes)
{
    return cmaes_learning_bytes(cmaes) + (size_t)(cmaes->side.trials_max * cmaes->side.told_width) * sizeof(double);
}

static bool cmaes_is_too_large(const Cmaes *cmaes)
{
    const size_t bytes =
        cmaes->side.told_at + cmaes_room_bytes(cmaes) + (size_t)cmaes->side.kept * cmaes_population_bytes(cmaes);
    return cmaes->lambda_max > CMAES_POPULATION_MAX || cmaes->side.trials_max > CMAES_TRIALS_MAX ||
           bytes > cmaes_bytes_max;
}

static Error cmaes_check(const Spec *spec, const char **key)
{
    Cmaes cmaes = {0};
    cmaes_measure(spec, &cmaes);
    const int most = cmaes.separable ? CMAES_DIMENSIONS_MAX : CMAES_FULL_MAX;
    *key = "search.over";
    if (cmaes.n > most)
        return error_make(ERROR_USER, "cmaes searches at most %d parameters%s; the spec has %d", most,
                          cmaes.separable ? "" : " with a full covariance", cmaes.n);
    *key = cmaes.side.searches > 1 ? "search.cmaes.searches" : "search.cmaes.population";
    if (cmaes_is_too_large(&cmaes))
        return error_make(ERROR_USER,
                          "%lld search%s with populations of up to %lld are too many: use fewer searches, a smaller "
                          "population or a smaller cmaes.restarts_max",
                          (long long)cmaes.side.searches, cmaes.side.searches == 1 ? "" : "es",
                          (long long)cmaes.lambda_max);
    *key = "search.cmaes.uncertainty";
    if (cmaes.uncertain && spec->replicates.common)
        return error_make(ERROR_USER, "cmaes.uncertainty runs trials twice, and common random numbers give the same "
                                      "result twice: write replicates: {common: false}");
    TRY(surrogate_check(&cmaes, key));
    TRY(cmaes_race_check(&cmaes, key));
    *key = "search.cmaes.inject";
    if (spec->n_inject > cmaes.lambda_start)
        return error_make(ERROR_USER, "cmaes.inject has %d points, more than the %lld members of the first generation",
                          spec->n_inject, (long long)cmaes.lambda_start);
    return error_none();
}

static void cmaes_take_results(Cmaes *cmaes, Arena *arena)
{
    const int64_t lambda = cmaes->lambda_max, m = cmaes->n_constraints;
    cmaes->fitness = ARENA_NEW(arena, double, lambda);
    cmaes->survived = ARENA_NEW(arena, double, lambda);
    cmaes->key = ARENA_NEW(arena, double, lambda);
    if (cmaes->uncertain) {
        cmaes->again = ARENA_NEW(arena, double, lambda);
        cmaes->both = ARENA_NEW(arena, double, 2 * lambda);
        cmaes->both_order = ARENA_NEW(arena, int64_t, 4 * lambda);
    }
    if (m > 0) {
        cmaes->constraint = ARENA_NEW(arena, double, lambda *m);
        cmaes->violation = ARENA_NEW(arena, double, lambda);
        cmaes->mean_constraint = ARENA_NEW(arena, double, m);
    }
    cmaes->order = ARENA_NEW(arena, int64_t, lambda + cmaes->n_spans + cmaes->archive_max);
    for (int i = 0; i < 2; i++)
        cmaes->rank[i] = ARENA_NEW(arena, CmaesRank, 2 * lambda + cmaes->n_spans + cmaes->archive_max);
}

static void cmaes_take_room(Cmaes *cmaes, bool learns, Arena *arena)
{
    const int64_t n = cmaes->n;
    cmaes->vector = ARENA_NEW(arena, double, (cmaes->separable ? 2 * n : n * n) + 4 * n);
    cmaes->parameter = ARENA_NEW(arena, double, cmaes->spec->configured.n_parameters);
    cmaes->fixed = ARENA_NEW(arena, double, cmaes->spec->configured.n_parameters);
    if (cmaes->surrogate) surrogate_take(cmaes, learns, arena);
    if (!learns) return;
    cmaes->weights = (CmaesWeights){.weight = ARENA_NEW(arena, double, cmaes->lambda_max)};
    cmaes_take_results(cmaes, arena);
}

static void cmaes_take_populations(Cmaes *cmaes, int64_t count, Arena *arena)
{
    const int64_t lambda = cmaes->lambda_max;
    cmaes->side.kept = count;
    cmaes->populations = ARENA_NEW(arena, CmaesPopulation, count);
    for (int64_t i = 0; i < count; i++)
        cmaes->populations[i] = (CmaesPopulation){.drawn = side_drawn_take(lambda, cmaes->side.trials_max, arena),
                                                  .y = ARENA_NEW(arena, double, lambda * cmaes->n),
                                                  .square = ARENA_NEW(arena, double, lambda)};
}

static void cmaes_take(Cmaes *cmaes, Arena *arena)
{
    cmaes->spread = ARENA_NEW(arena, double, cmaes->n);
    cmaes->scale = ARENA_NEW(arena, CmaesScale, cmaes->n);
    cmaes_take_room(cmaes, true, arena);
    cmaes_take_populations(cmaes, cmaes->side.kept, arena);
}

static void cmaes_set_axes(Cmaes *cmaes)
{
    for (int i = 0; i < cmaes->n; i++) {
        const double sigma = cmaes->spec->axes[i].values.sigma;
        cmaes->scale[i] = cmaes_scale(&cmaes->spec->axes[i].values);
        cmaes->spread[i] = sigma > 0.0 ? sigma / cmaes->settings[CMAES_SIGMA] : 1.0;
    }
}

static const SideMethod cmaes_side;

static Error cmaes_init(const Spec *spec, Arena *arena, Search *search)
{
    Cmaes *cmaes = ARENA_NEW(arena, Cmaes, 1);
    cmaes_measure(spec, cmaes);
    cmaes_take(cmaes, arena);
    cmaes_set_axes(cmaes);
    cmaes->side.method = &cmaes_side;
    search->scratch = cmaes;
    side_init(search, (uint32_t)cmaes->n, arena);
    const int64_t members = cmaes->surrogate ? surrogate_first(cmaes, cmaes->lambda_start, 0) : cmaes->lambda_start;
    search->round_trials =
        cmaes->side.searches * (members + cmaes_again(cmaes, cmaes->lambda_start) + cmaes->lagrangian);
    search->round_fields = cmaes_fields(cmaes, arena, &search->n_round_fields);
    for (int64_t s = 0; s < cmaes->side.searches; s++) {
        const CmaesView view = cmaes_view(search, s);
        *view.run = (CmaesRun){.best = (double)NAN};
        cmaes_begin(cmaes, &view, s, cmaes->lambda_start, cmaes_start_sigma(cmaes, &view));
    }
    return error_none();
}

// ---- memory for a team ----------------------------------------------------------------------------------------------

enum { CMAES_TAKEN = 32 }; // arrays, at most, each of which begins a cache line

static size_t cmaes_worker_bytes(const Search *search, bool learns)
{
    const Cmaes *cmaes = search->scratch;
    const size_t n = (size_t)cmaes->n, parameters = (size_t)cmaes->spec->configured.n_parameters;
    const size_t room = (cmaes->separable ? 2 * n : n * n) + 4 * n + 2 * parameters;
    const size_t spans = (size_t)(8 * cmaes->n_spans + cmaes->n_constraints);
    return sizeof(Cmaes) + surrogate_bytes(cmaes) + (room + spans) * sizeof(double) +
           (learns ? cmaes_learning_bytes(cmaes) : 0) + CMAES_TAKEN * 64;
}

static void *cmaes_worker(const Search *search, bool learns, Arena *arena)
{
    Cmaes *worker = ARENA_NEW(arena, Cmaes, 1);
    *worker = *(const Cmaes *)search->scratch;
    cmaes_take_room(worker, learns, arena);
    return worker;
}

static size_t cmaes_generation_bytes(const Search *search)
{
    return cmaes_population_bytes(search->scratch) + sizeof(CmaesPopulation) + CMAES_TAKEN * 64;
}

static void cmaes_keep(Search *search, int64_t generations, Arena *arena)
{
    cmaes_take_populations(search->scratch, generations, arena);
}

// ---- ask ------------------------------------------------------------------------------------------------------------

static SideRun cmaes_side_run(const Search *search, int64_t s)
{
    const CmaesView view = cmaes_view(search, s);
    const Cmaes *cmaes = search->scratch;
    return (SideRun){
        .round = cmaes_rounds(cmaes, &view), .stop = view.run->stop, .again = cmaes->race && view.race->turn > 0};
}

static int64_t cmaes_members(const Search *search, int64_t s) { return cmaes_run(search, s)->lambda; }

static SideDrawn *cmaes_drawn(const Search *search, int64_t s) { return &cmaes_population(search, s)->drawn; }

// Its point was allowed when it was drawn.
void cmaes_set_member(const Cmaes *cmaes, const CmaesView *view, const CmaesPopulation *population, int64_t member)
{
    double *x = cmaes->vector, *y = cmaes->vector + cmaes->n, square;
    if (member < cmaes_injected(cmaes, view) && cmaes_inject(cmaes, view, member, y, &square)) return;
    cmaes_member_point(cmaes, view, population->y + member * cmaes->n, x);
    (void)cmaes_point(cmaes, x);
}

// The point of a trial into cmaes->parameter.
static void cmaes_set_point(const Cmaes *cmaes, const CmaesView *view, const CmaesPopulation *population, int64_t trial)
{
    const int64_t slot = population->drawn.slot[trial];
    if (slot == CMAES_SLOT_MEAN)
        (void)cmaes_point(cmaes, view->mean);
    else
        cmaes_set_member(cmaes, view, population, slot >= view->run->lambda ? slot - view->run->lambda : slot);
}

static void cmaes_give(const Search *search, void *worker, int64_t s, int64_t first, int64_t end, double *parameter)
{
    const Cmaes *cmaes = worker;
    const CmaesView view = cmaes_view(search, s);
    const CmaesPopulation *population = cmaes_population(search, s);
    const size_t n = (size_t)cmaes->spec->configured.n_parameters;
    cmaes_fix(cmaes, s);
    for (int64_t trial = first; trial < end; trial++, parameter += n) {
        cmaes_set_point(cmaes, &view, population, trial);
        memcpy(parameter, cmaes->parameter, n * sizeof *parameter);
    }
}

static void cmaes_name(const Search *search, int64_t s, int64_t trial, Trials *trials, int64_t at)
{
    const Cmaes *cmaes = search->scratch;
    const CmaesView view = cmaes_view(search, s);
    if (cmaes->race) cmaes_race_name(cmaes, &view, cmaes_population(search, s)->drawn.slot[trial], trials, at);
}

// ---- tell -----------------------------------------------------------------------------------------------------------

static void cmaes_note_trial(const Search *search, const Trials *trials, int64_t t, double *told)
{
    const int m = search->spec->n_constraints;
    told[0] = isnan(trials->fitness[t]) ? (double)NAN : spec_cost(search->spec, 0, trials->fitness[t]) + 0.0;
    told[1] = trials->survived[t];
    for (int i = 0; i < m; i++) told[2 + i] = trials->constraint[t * m + i];
    const int count = trials->end != NULL ? search->spec->replicates.count : 0;
    for (int r = 0; r < count; r++)
        told[2 + m + r] =
            r < trials->end[t] ? spec_cost(search->spec, 0, trials->value[(int64_t)t * count + r]) : (double)NAN;
}

// One trial's weight in the mean over the evaluations of its member.
static void cmaes_add_result(Cmaes *cmaes, int64_t member, const double *told, double weight)
{
    const int m = cmaes->n_constraints;
    cmaes->fitness[member] += told[0] * weight;
    cmaes->survived[member] += told[1] * weight;
    for (int i = 0; i < m; i++) cmaes->constraint[member * m + i] += told[2 + i] * weight;
}

static void cmaes_set_violations(Cmaes *cmaes, int64_t lambda)
{
    const int m = cmaes->n_constraints;
    for (int64_t k = 0; m > 0 && k < lambda; k++)
        cmaes->violation[k] = constraints_violation(cmaes->constraint + k * m, m);
}

static void cmaes_clear_results(Cmaes *cmaes, const CmaesPopulation *population, int64_t lambda)
{
    const int m = cmaes->n_constraints;
    for (int64_t k = 0; k < lambda; k++) {
        cmaes->fitness[k] = population->drawn.left_out[k] ? (double)NAN : 0.0;
        cmaes->survived[k] = population->drawn.left_out[k] ? -1.0 : 0.0;
        if (cmaes->uncertain) cmaes->again[k] = 0.0;
    }
    for (int64_t i = 0; i < lambda * m; i++) cmaes->constraint[i] = 0.0;
    cmaes->mean_fitness = (double)NAN;
}

// The results of a whole generation, from those of its trials in the order of ask.
static void cmaes_gather(Cmaes *cmaes, const CmaesPopulation *population, const CmaesRun *run, const double *told)
{
    const double weight = 1.0 / (double)cmaes_evaluations_each(cmaes, run);
    cmaes_clear_results(cmaes, population, run->lambda);
    for (int64_t trial = 0; trial < population->drawn.trials; trial++, told += cmaes->side.told_width) {
        const int64_t slot = population->drawn.slot[trial];
        if (slot == CMAES_SLOT_MEAN) {
            cmaes->mean_fitness = told[0];
            memcpy(cmaes->mean_constraint, told + 2, (size_t)cmaes->n_constraints * sizeof *told);
        } else if (slot < run->lambda) {
            cmaes_add_result(cmaes, slot, told, weight);
        } else {
            cmaes->again[slot - run->lambda] += told[0] * weight;
        }
    }
    cmaes_set_violations(cmaes, run->lambda);
}

static void cmaes_end_generation(Search *search, void *worker, const SideEnd *end)
{
    Cmaes *cmaes = worker;
    const CmaesView view = cmaes_view(search, end->search);
    const CmaesPopulation *population = cmaes_population(search, end->search);
    cmaes->team = end->team;
    if (cmaes->surrogate) {
        cmaes_fix(cmaes, end->search);
        if (!surrogate_tell(cmaes, &view, population, end->told)) {
            cmaes_report(search, end, view.surrogate->evaluated, CMAES_GOES_ON);
            return;
        }
    } else if (cmaes->race) {
        if (!cmaes_race_tell(cmaes, &view, population, end)) {
            cmaes_report(search, end, population->drawn.trials, CMAES_GOES_ON);
            return;
        }
    } else {
        cmaes_gather(cmaes, population, view.run, end->told);
    }
    cmaes_update(cmaes, &view, population);
    const CmaesStop stop = cmaes_stop(cmaes, &view);
    cmaes_report(search, end, 0, stop);
    if (cmaes->surrogate) surrogate_next(cmaes, &view);
    if (cmaes->race) cmaes_race_next(cmaes, &view);
    if (stop != CMAES_GOES_ON) cmaes_restart(cmaes, &view, end->search, stop);
}

// ---- the method -----------------------------------------------------------------------------------------------------

static const SideMethod cmaes_side = {
    .version = CMAES_STATE_VERSION,
    .progress = offsetof(CmaesState, progress),
    .runs = sizeof(CmaesState),
    .stop_names = cmaes_stop_names,
    .n_stops = CMAES_STOPS,
    .run = cmaes_side_run,
    .drawn = cmaes_drawn,
    .members = cmaes_members,
    .draw = cmaes_draw,
    .list = cmaes_list,
    .give = cmaes_give,
    .name = cmaes_name,
    .note = cmaes_note_trial,
    .end_generation = cmaes_end_generation,
    .counts_last = true,
    .is_whole = cmaes_is_whole,
    .reconsider = cmaes_reconsider_run,
    .worker_bytes = cmaes_worker_bytes,
    .worker = cmaes_worker,
    .generation_bytes = cmaes_generation_bytes,
    .keep = cmaes_keep,
};

static bool cmaes_takes_values(const Spec *spec) { return race_of_generations(spec); }

// A restart can't be taken back: with restarts only the limits of the whole search may change.
static bool cmaes_budget(const Spec *spec, const char *option)
{
    static const char start[] = "cmaes.stop.";
    const bool whole = strcmp(option, cmaes_options[CMAES_STOP_TRIALS].name) == 0 ||
                       strcmp(option, cmaes_options[CMAES_STOP_TARGET].name) == 0;
    const bool restarts = (int)spec->method_settings[CMAES_RESTARTS] != CMAES_RESTARTS_NONE;
    return restarts ? whole : strncmp(option, start, strlen(start)) == 0;
}

const SearchMethod search_cmaes = {
    .name = "cmaes",
    .later = "cmaes.surrogate|cmaes.evaluate_least",
    .doc = "covariance matrix adaptation evolution strategy (Hansen 2023), many searches side by side",
    .options = cmaes_options,
    .n_options = CMAES_N_OPTIONS,
    .wants_range = true,
    .wants_sigma = true,
    .wants_outer = true,
    .races = true,
    .takes_values = cmaes_takes_values,
    .model = &cmaes_surrogate_columns,
    .budget = cmaes_budget,
    .bounds = cmaes_bounds,
    .searches = cmaes_searches,
    .check = cmaes_check,
    .init = cmaes_init,
    SIDE_BY_SIDE_METHOD,
};
