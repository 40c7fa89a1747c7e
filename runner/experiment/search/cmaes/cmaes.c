// cmaes: covariance matrix adaptation evolution strategies, many side by side. Each search is its own (seed, start,
// restarts), and all of them share the batches: a round is one generation of every search that has not ended. Trials
// are asked for in the order of (round, search, member), which gives them their ids; a search's next generation is
// asked for as soon as its last one was told, so that ids and points depend neither on the size of the batches nor on
// what else is in flight.
#include "cmaes.h"

#include <math.h>
#include <string.h>

static const size_t cmaes_bytes_max = (size_t)48 << 20; // of all that a search takes
static const size_t cmaes_populations_bytes = (size_t)8 << 20;

// ---- the state ------------------------------------------------------------------------------------------------------

CmaesState *cmaes_state(const Search *search) { return search->state; }

// Where the arrays of a run start, in the order of cmaes_view, and after the last one where they end.
static void cmaes_lay_out(Cmaes *cmaes)
{
    const int64_t n = cmaes->n, square = cmaes->separable ? 0 : n * n, m = cmaes->lagrangian ? cmaes->n_constraints : 0;
    const int64_t integers = cmaes->has_integers ? n : 0, bounds = cmaes->penalized ? n : 0;
    const int64_t spans = cmaes->penalized ? cmaes->n_spans : 0, variances = cmaes->separable ? n : square;
    const int64_t sizes[CMAES_ARRAYS] = {
        n, n, n, n, cmaes->n_recent, CMAES_HISTORY, CMAES_HISTORY, variances, square, integers, bounds, spans, m, m, m};
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
                       .constraint = at + offset[14]};
}

static size_t cmaes_state_bytes(const Cmaes *cmaes, int64_t told)
{
    return sizeof(CmaesState) + (size_t)cmaes->searches * cmaes->run_bytes +
           (size_t)(told * cmaes_told_width(cmaes)) * sizeof(double);
}

int cmaes_told_width(const Cmaes *cmaes) { return 2 + cmaes->n_constraints; }

double *cmaes_told(const Search *search)
{
    return (void *)((unsigned char *)search->state + cmaes_state_bytes(search->scratch, 0));
}

// ---- init -----------------------------------------------------------------------------------------------------------

static int64_t cmaes_lambda(const double *settings, int n)
{
    const double given = settings[CMAES_POPULATION];
    return given > 0.0 ? (int64_t)given : 4 + (int64_t)(3.0 * portable_log((double)n));
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
           (size_t)cmaes->trials_max * sizeof(int32_t);
}

static void cmaes_measure(const Spec *spec, Cmaes *cmaes)
{
    const int64_t n = spec->n_axes;
    cmaes->spec = spec;
    cmaes->settings = spec->method_settings;
    cmaes->n = (int)n;
    cmaes_choose(spec, cmaes);
    cmaes->searches = (int64_t)cmaes->settings[CMAES_SEARCHES] * (spec->n_outer > 0 ? spec->outer.points : 1);
    cmaes->lambda_start = cmaes_lambda(cmaes->settings, (int)n);
    cmaes->lambda_max = cmaes_greatest_population(cmaes->settings, cmaes->lambda_start);
    cmaes->n_recent = 10 + (30 * n + cmaes->lambda_start - 1) / cmaes->lambda_start;
    cmaes->n_spans = 20 + (3 * n + cmaes->lambda_start - 1) / cmaes->lambda_start;
    cmaes->trials_max = cmaes_most_trials(cmaes);
    cmaes_lay_out(cmaes);
    const int64_t fit = (int64_t)(cmaes_populations_bytes / cmaes_population_bytes(cmaes));
    cmaes->n_populations = fit < 1 ? 1 : fit < cmaes->searches ? fit : cmaes->searches;
}

// Bytes beside the state and the populations.
static size_t cmaes_room_bytes(const Cmaes *cmaes)
{
    const int64_t member = 16 + (cmaes->uncertain ? 7 : 0) + cmaes->n_constraints;
    return (size_t)(cmaes->lambda_max * member + cmaes->trials_max * cmaes_told_width(cmaes)) * sizeof(double);
}

static bool cmaes_is_too_large(const Cmaes *cmaes)
{
    const size_t bytes = cmaes_state_bytes(cmaes, 0) + cmaes_room_bytes(cmaes) +
                         (size_t)cmaes->n_populations * cmaes_population_bytes(cmaes);
    return cmaes->lambda_max > CMAES_POPULATION_MAX || cmaes->trials_max > CMAES_TRIALS_MAX || bytes > cmaes_bytes_max;
}

static Error cmaes_check(const Spec *spec, const char **key)
{
    Cmaes cmaes = {0};
    cmaes_measure(spec, &cmaes);
    const int most = cmaes.separable ? CMAES_DIMENSIONS_MAX : CMAES_FULL_MAX;
    *key = "search.over";
    if (cmaes.n > most)
        return error_make(ERROR_USER, "cmaes searches at most %d parameters%s, and these are %d", most,
                          cmaes.separable ? "" : " with a full covariance", cmaes.n);
    *key = cmaes.searches > 1 ? "search.cmaes.searches" : "search.cmaes.population";
    if (cmaes_is_too_large(&cmaes))
        return error_make(ERROR_USER,
                          "%lld search%s with populations of up to %lld are too many: use fewer searches, a smaller "
                          "population or a smaller cmaes.restarts_max",
                          (long long)cmaes.searches, cmaes.searches == 1 ? "" : "es", (long long)cmaes.lambda_max);
    *key = "search.cmaes.uncertainty";
    if (cmaes.uncertain && spec->replicates.common)
        return error_make(ERROR_USER, "cmaes.uncertainty runs trials twice, and with common random numbers they come "
                                      "out the same: say replicates: {common: false}");
    *key = "search.cmaes.inject";
    if (spec->n_inject > cmaes.lambda_start)
        return error_make(ERROR_USER, "cmaes.inject has %d points, and the first generation %lld members",
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
    cmaes->order = ARENA_NEW(arena, int64_t, lambda + cmaes->n_spans);
    for (int i = 0; i < 2; i++) cmaes->rank[i] = ARENA_NEW(arena, CmaesRank, 2 * lambda + cmaes->n_spans);
}

static void cmaes_take(Cmaes *cmaes, Arena *arena)
{
    const int64_t n = cmaes->n, lambda = cmaes->lambda_max;
    cmaes->spread = ARENA_NEW(arena, double, n);
    cmaes->scale = ARENA_NEW(arena, CmaesScale, n);
    cmaes->weights.weight = ARENA_NEW(arena, double, lambda);
    cmaes->vector = ARENA_NEW(arena, double, (cmaes->separable ? 2 * n : n * n) + 4 * n);
    cmaes->parameter = ARENA_NEW(arena, double, cmaes->spec->configured.n_parameters);
    cmaes->fixed = ARENA_NEW(arena, double, cmaes->spec->configured.n_parameters);
    cmaes->populations = ARENA_NEW(arena, CmaesPopulation, cmaes->n_populations);
    cmaes_take_results(cmaes, arena);
    for (int64_t i = 0; i < cmaes->n_populations; i++)
        cmaes->populations[i] = (CmaesPopulation){.round = -1,
                                                  .slot = ARENA_NEW(arena, int32_t, cmaes->trials_max),
                                                  .y = ARENA_NEW(arena, double, lambda *n),
                                                  .square = ARENA_NEW(arena, double, lambda),
                                                  .left_out = ARENA_NEW(arena, bool, lambda)};
}

static void cmaes_set_axes(Cmaes *cmaes)
{
    for (int i = 0; i < cmaes->n; i++) {
        const double sigma = cmaes->spec->axes[i].values.sigma;
        cmaes->scale[i] = cmaes_scale(&cmaes->spec->axes[i].values);
        cmaes->spread[i] = sigma > 0.0 ? sigma / cmaes->settings[CMAES_SIGMA] : 1.0;
    }
}

static Error cmaes_init(const Spec *spec, Arena *arena, Search *search)
{
    Cmaes *cmaes = ARENA_NEW(arena, Cmaes, 1);
    cmaes_measure(spec, cmaes);
    cmaes_take(cmaes, arena);
    cmaes_set_axes(cmaes);
    search->scratch = cmaes;
    search->state_size = cmaes_state_bytes(cmaes, 0);
    search->state_capacity = cmaes_state_bytes(cmaes, cmaes->trials_max);
    search->state = ARENA_NEW(arena, unsigned char, search->state_capacity);
    search->round_trials =
        cmaes->searches * (cmaes->lambda_start + cmaes_again(cmaes, cmaes->lambda_start) + cmaes->lagrangian);
    search->round_fields = cmaes_fields(cmaes, arena, &search->n_round_fields);
    *cmaes_state(search) =
        (CmaesState){.version = CMAES_STATE_VERSION, .dimension = (uint32_t)cmaes->n, .searches = cmaes->searches};
    search->stops = ARENA_NEW(arena, RoundStop, cmaes->searches);
    for (int64_t s = 0; s < cmaes->searches; s++) {
        const CmaesView view = cmaes_view(search, s);
        *view.run = (CmaesRun){.best = (double)NAN};
        cmaes_begin(cmaes, &view, s, cmaes->lambda_start, cmaes_start_sigma(cmaes, &view));
    }
    return error_none();
}

// ---- ask ------------------------------------------------------------------------------------------------------------

static bool cmaes_all_ended(const Search *search)
{
    const Cmaes *cmaes = search->scratch;
    for (int64_t s = 0; s < cmaes->searches; s++) {
        if (cmaes_run(search, s)->stop == CMAES_GOES_ON) return false;
    }
    return true;
}

// To the next trial in the order of (round, search, trial of the generation). NULL: its search must be told first.
static const CmaesPopulation *cmaes_next_trial(const Search *search, Cmaes *cmaes)
{
    for (;;) {
        const CmaesRun *run = cmaes_run(search, cmaes->ask_search);
        const bool goes_on = run->stop == CMAES_GOES_ON;
        if (goes_on && run->round < cmaes->ask_round) return NULL;
        if (goes_on && run->round == cmaes->ask_round) {
            const CmaesPopulation *population = cmaes_population(search, cmaes->ask_search);
            if (population->run == 0 || cmaes->ask_trial < population->run) return population;
        }
        cmaes->ask_trial = 0;
        if (++cmaes->ask_search < cmaes->searches) continue;
        cmaes->ask_search = 0;
        cmaes->ask_round++;
    }
}

// The parameters of a trial, into cmaes->parameter. It was allowed when it was drawn.
static void cmaes_set_parameters(const Cmaes *cmaes, const CmaesView *view, const CmaesPopulation *population,
                                 int64_t trial)
{
    const int64_t slot = population->slot[trial];
    const int64_t member = slot >= view->run->lambda ? slot - view->run->lambda : slot;
    double *x = cmaes->vector, *y = cmaes->vector + cmaes->n, square;
    cmaes_fix(cmaes, cmaes->ask_search);
    if (slot != CMAES_SLOT_MEAN && member < cmaes_injected(cmaes, view)) {
        if (cmaes_inject(cmaes, view, member, y, &square)) return;
    }
    if (slot != CMAES_SLOT_MEAN) cmaes_place(cmaes, view, population->y + member * cmaes->n, x);
    (void)cmaes_point(cmaes, slot != CMAES_SLOT_MEAN ? x : view->mean);
}

static void cmaes_give(const Search *search, Cmaes *cmaes, const CmaesPopulation *population, Trials *trials)
{
    const CmaesView view = cmaes_view(search, cmaes->ask_search);
    const int64_t t = trials->count++;
    const int parameters = cmaes->spec->configured.n_parameters;
    cmaes_set_parameters(cmaes, &view, population, cmaes->ask_trial);
    memcpy(trials->parameter + t * parameters, cmaes->parameter, (size_t)parameters * sizeof(double));
    trials->id[t] = cmaes->ask_id++;
    trials->search[t] = (int32_t)(cmaes->ask_search + (int64_t)cmaes->settings[CMAES_FIRST]);
    trials->round[t] = (int32_t)cmaes->ask_round;
    trials->ordinal[t] = search_round_ordinal(cmaes->ask_round, cmaes->ask_trial++);
}

static Error cmaes_no_point(const Cmaes *cmaes)
{
    return error_make(ERROR_USER,
                      "search %lld: of %d draws for each member not one is allowed by `exclude`, the ranges of derived "
                      "parameters or the bounds; loosen them",
                      (long long)cmaes->ask_search, CMAES_ATTEMPTS);
}

static Error cmaes_ask(Search *search, int64_t max, Trials *trials, bool *waiting)
{
    Cmaes *cmaes = search->scratch;
    const int64_t wanted = max < trials->capacity ? max : trials->capacity;
    trials->count = 0;
    *waiting = false;
    if (cmaes_all_ended(search)) return error_none();
    while (trials->count < wanted) {
        const CmaesPopulation *population = cmaes_next_trial(search, cmaes);
        if (population == NULL) break;
        if (population->run == 0) return cmaes_no_point(cmaes);
        cmaes_give(search, cmaes, population, trials);
    }
    *waiting = trials->count == 0;
    search->asked = cmaes->ask_id;
    return error_none();
}

// ---- tell -----------------------------------------------------------------------------------------------------------

// One trial's part in the mean over the evaluations of its member.
static void cmaes_add_result(Cmaes *cmaes, int64_t member, const double *told, double part)
{
    const int m = cmaes->n_constraints;
    cmaes->fitness[member] += told[0] * part;
    cmaes->survived[member] += told[1] * part;
    for (int i = 0; i < m; i++) cmaes->constraint[member * m + i] += told[2 + i] * part;
}

static void cmaes_set_violations(Cmaes *cmaes, int64_t lambda)
{
    const int m = cmaes->n_constraints;
    for (int64_t k = 0; m > 0 && k < lambda; k++) {
        cmaes->violation[k] = 0.0;
        for (int i = 0; i < m; i++) {
            const double g = cmaes->constraint[k * m + i];
            cmaes->violation[k] += g > 0.0 ? g : 0.0;
        }
    }
}

static void cmaes_clear_results(Cmaes *cmaes, const CmaesPopulation *population, int64_t lambda)
{
    const int m = cmaes->n_constraints;
    for (int64_t k = 0; k < lambda; k++) {
        cmaes->fitness[k] = population->left_out[k] ? (double)NAN : 0.0;
        cmaes->survived[k] = population->left_out[k] ? -1.0 : 0.0;
        if (cmaes->uncertain) cmaes->again[k] = 0.0;
    }
    for (int64_t i = 0; i < lambda * m; i++) cmaes->constraint[i] = 0.0;
    cmaes->mean_fitness = (double)NAN;
}

// The results of a whole generation, from those of its trials in the order of ask.
static void cmaes_gather(const Search *search, Cmaes *cmaes, const CmaesPopulation *population, const CmaesRun *run)
{
    const double part = 1.0 / (double)cmaes_evaluations_each(cmaes, run), *told = cmaes_told(search);
    cmaes_clear_results(cmaes, population, run->lambda);
    for (int64_t trial = 0; trial < population->run; trial++, told += cmaes_told_width(cmaes)) {
        const int64_t slot = population->slot[trial];
        if (slot == CMAES_SLOT_MEAN) {
            cmaes->mean_fitness = told[0];
            memcpy(cmaes->mean_constraint, told + 2, (size_t)cmaes->n_constraints * sizeof *told);
        } else if (slot < run->lambda) {
            cmaes_add_result(cmaes, slot, told, part);
        } else {
            cmaes->again[slot - run->lambda] += told[0] * part;
        }
    }
    cmaes_set_violations(cmaes, run->lambda);
}

// To the search whose results come next: the first one that goes on, in the order of (round, search). False: all have
// ended.
static bool cmaes_turn(const Search *search, CmaesState *state)
{
    int64_t next = -1, round = 0;
    for (int64_t s = 0; s < state->searches; s++) {
        const CmaesRun *run = cmaes_run(search, s);
        if (run->stop != CMAES_GOES_ON || (next >= 0 && run->round >= round)) continue;
        next = s;
        round = run->round;
    }
    if (next < 0) return false;
    state->search = next;
    state->round = round;
    return true;
}

static void cmaes_end_generation(Search *search, Cmaes *cmaes, const CmaesPopulation *population)
{
    CmaesState *state = cmaes_state(search);
    const int64_t run = state->search;
    const CmaesView view = cmaes_view(search, run);
    cmaes_gather(search, cmaes, population, view.run);
    cmaes_update(cmaes, &view, population);
    const CmaesStop stop = cmaes_stop(cmaes, &view);
    cmaes_report(search, run, stop);
    if (stop != CMAES_GOES_ON) cmaes_restart(cmaes, &view, run, stop);
    state->told = 0;
    if (!cmaes_turn(search, state)) state->round++; // all have ended: behind the last one
}

static Error cmaes_tell(Search *search, const Trials *trials)
{
    Cmaes *cmaes = search->scratch;
    CmaesState *state = cmaes_state(search);
    for (int64_t t = 0; t < trials->count; t++) {
        const int64_t run = trials->search[t] - (int64_t)cmaes->settings[CMAES_FIRST];
        if (trials->id[t] != state->next_id || run != state->search || trials->round[t] != state->round)
            return search_told_wrong(search, trials, t);
        const CmaesPopulation *population = cmaes_population(search, run);
        double *told = cmaes_told(search) + cmaes_told_width(cmaes) * state->told;
        told[0] = isnan(trials->fitness[t]) ? (double)NAN : spec_cost(cmaes->spec, 0, trials->fitness[t]) + 0.0;
        told[1] = trials->survived[t];
        for (int i = 0; i < cmaes->n_constraints; i++) told[2 + i] = trials->constraint[t * cmaes->n_constraints + i];
        state->next_id++;
        if (++state->told == population->run) cmaes_end_generation(search, cmaes, population);
    }
    search->state_size = cmaes_state_bytes(cmaes, state->told);
    return error_none();
}

// ---- going on -------------------------------------------------------------------------------------------------------

// Counts that no computation with them can overflow.
static bool cmaes_counts_are_possible(const CmaesRun *run)
{
    const int64_t most = (int64_t)1 << 53;
    const int64_t counts[] = {run->round,
                              run->evaluations,
                              run->restart,
                              run->first_round,
                              run->first_evaluations,
                              run->eigen_evaluations,
                              run->failed_generations,
                              run->large_restarts,
                              run->large_evaluations,
                              run->small_evaluations,
                              run->last_large_evaluations,
                              run->history_count,
                              run->history_stride,
                              run->recent_count,
                              run->span_count};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        if (counts[i] < 0 || counts[i] > most) return false;
    return run->history_count <= CMAES_HISTORY && run->history_stride >= 1 && run->first_round <= run->round &&
           run->first_evaluations <= run->evaluations && run->eigen_evaluations <= run->evaluations;
}

static bool cmaes_is_whole(const Search *search)
{
    const Cmaes *cmaes = search->scratch;
    const CmaesState *state = cmaes_state(search);
    if (state->dimension != (uint32_t)cmaes->n || state->searches != cmaes->searches) return false;
    if (state->told < 0 || state->told >= cmaes->trials_max || state->search < 0 || state->search >= state->searches)
        return false;
    if (search->state_size != cmaes_state_bytes(cmaes, state->told)) return false;
    if (state->round < 0 || state->round > INT32_MAX || state->next_id < 0 || state->next_id > (int64_t)1 << 53)
        return false;
    for (int64_t s = 0; s < cmaes->searches; s++) {
        const CmaesRun *run = cmaes_run(search, s);
        const int64_t round = state->round + (s < state->search); // those before the next one have told it already
        if (run->stop == CMAES_GOES_ON && (run->round < round || run->round > INT32_MAX)) return false;
        if (run->stop == CMAES_GOES_ON && s == state->search && run->round != round) return false;
        if (run->lambda < 4 || run->lambda > cmaes->lambda_max || run->stop < 0 || run->stop >= CMAES_STOPS)
            return false;
        if (!cmaes_counts_are_possible(run) || run->large_restarts > (int64_t)cmaes->settings[CMAES_RESTARTS_MAX])
            return false;
        if (!(run->evaluations_each >= 1.0 && run->evaluations_each <= cmaes->settings[CMAES_UNCERTAINTY_MAX]))
            return false;
    }
    return true;
}

// Budgets are totals: if the campaign was extended, a search that had ended may go on, and one that went on may end.
// One whose generation is partly told ends it first.
static void cmaes_heed_budgets(Search *search, const Cmaes *cmaes)
{
    CmaesState *state = cmaes_state(search);
    search->n_stops = 0;
    for (int64_t s = 0; s < state->searches; s++) {
        const CmaesView view = cmaes_view(search, s);
        const int32_t round = (int32_t)(view.run->round - 1);
        const bool begun = view.run->round == view.run->first_round; // no round of this run has ended
        if (begun || (state->told > 0 && s == state->search)) continue;
        const CmaesStop stop = cmaes_reconsider(cmaes, &view, s);
        search->stops[search->n_stops++] = (RoundStop){.search = (int32_t)(s + (int64_t)cmaes->settings[CMAES_FIRST]),
                                                       .round = round,
                                                       .stop = stop != CMAES_GOES_ON ? cmaes_stop_names[stop] : NULL};
    }
    if (state->told == 0) (void)cmaes_turn(search, state);
}

// ask goes on behind what was told.
static void cmaes_set_cursor(const Search *search, Cmaes *cmaes)
{
    const CmaesState *state = cmaes_state(search);
    cmaes->ask_round = state->round;
    cmaes->ask_search = state->search;
    cmaes->ask_id = state->next_id;
    cmaes->ask_trial = state->told;
}

static Error cmaes_restore(Search *search)
{
    Cmaes *cmaes = search->scratch;
    const CmaesState *state = cmaes_state(search);
    if (search->state_size < sizeof *state || state->version != CMAES_STATE_VERSION)
        return search_state_of_other(search, CMAES_STATE_VERSION);
    if (!cmaes_is_whole(search)) return search_state_damaged(search);
    for (int64_t i = 0; i < cmaes->n_populations; i++) cmaes->populations[i].round = -1;
    cmaes_heed_budgets(search, cmaes);
    cmaes_set_cursor(search, cmaes);
    if (state->told > 0 && state->told >= cmaes_population(search, state->search)->run)
        return search_state_damaged(search);
    search->asked = state->next_id;
    return error_none();
}

// "64 searches ended: 60 tolfun, 4 stagnation"
static const char *cmaes_stopped(const Search *search)
{
    Cmaes *cmaes = search->scratch;
    int64_t counts[CMAES_STOPS] = {0};
    if (!cmaes_all_ended(search)) return NULL;
    for (int64_t s = 0; s < cmaes->searches; s++) counts[cmaes_run(search, s)->stop]++;
    char *text = cmaes->ending;
    size_t used = 0;
    if (cmaes->searches > 1)
        used = (size_t)snprintf(text, sizeof cmaes->ending, "%lld searches ended: ", (long long)cmaes->searches);
    const char *separator = "";
    for (int i = 1; i < CMAES_STOPS; i++) {
        if (counts[i] == 0 || used >= sizeof cmaes->ending) continue;
        if (cmaes->searches > 1)
            used += (size_t)snprintf(text + used, sizeof cmaes->ending - used, "%s%lld %s", separator,
                                     (long long)counts[i], cmaes_stop_names[i]);
        else
            used += (size_t)snprintf(text + used, sizeof cmaes->ending - used, "%s", cmaes_stop_names[i]);
        separator = ", ";
    }
    return text;
}

// A restart that a limit or a tolerance began can't be taken back: with restarts, only what ends the whole search.
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
    .doc = "covariance matrix adaptation evolution strategy (Hansen 2023), many searches side by side",
    .options = cmaes_options,
    .n_options = CMAES_N_OPTIONS,
    .wants_range = true,
    .wants_sigma = true,
    .wants_outer = true,
    .budget = cmaes_budget,
    .bounds = cmaes_bounds,
    .check = cmaes_check,
    .init = cmaes_init,
    .ask = cmaes_ask,
    .tell = cmaes_tell,
    .restore = cmaes_restore,
    .stopped = cmaes_stopped,
};
