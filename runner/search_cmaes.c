// cmaes: covariance matrix adaptation evolution strategies, many side by side. Each search is its own (seed, start,
// restarts), and all of them share the batches: a round is one generation of every search that has not ended. Trials
// are asked for in the order of (round, search, member), which gives them their ids; a search's next generation is
// asked for as soon as its last one was told, so that ids and points depend neither on the size of the batches nor on
// what else is in flight.
#include "search_cmaes.h"

#include <math.h>
#include <string.h>

static const Option cmaes_options[CMAES_N_OPTIONS] = {
    {"cmaes.population", OPTION_INTEGER, "1", 0, 4, CMAES_POPULATION_MAX, "auto",
     "members of a generation; auto: 4 + 3 ln n for n parameters"},
    {"cmaes.sigma", OPTION_NUMBER, "1", 0.3, 1e-6, 1.0, NULL,
     "step size at the start, as a part of each parameter's range (or of the range of its logarithm)"},
    {"cmaes.searches", OPTION_INTEGER, "1", 1, 1, SEARCHES_MAX, NULL,
     "independent searches, which run side by side; with `outer` so many at each of its points"},
    {"cmaes.first", OPTION_INTEGER, "1", 0, 0, 60000, NULL,
     "number of the first search: what a search does depends on the seed and on its number alone"},
    {"cmaes.start", OPTION_CHOICE, "", 0, 0, 2, "random|center|default",
     "where searches start: anywhere in the middle 80 % of the ranges, in their middle, at the model's defaults; "
     "restarts are random"},
    {"cmaes.bounds", OPTION_CHOICE, "", 0, 0, 1, "transform|resample",
     "at the ends of ranges: a smooth mapping, or members beyond them are drawn again"},
    {"cmaes.weights", OPTION_CHOICE, "", 0, 0, 1, "active|positive",
     "active: bad members shrink the covariance where they lie"},
    {"cmaes.restarts", OPTION_CHOICE, "", 0, 0, 2, "none|ipop|bipop",
     "after a search has converged: again with twice the population, or also with small ones in between"},
    {"cmaes.restarts_max", OPTION_INTEGER, "1", 9, 0, 16, NULL, "doublings of the population"},
    {"cmaes.patience", OPTION_INTEGER, "1", 10, 1, 1e6, NULL,
     "generations without a single success, after which a run of the strategy ends"},
    {"cmaes.stop.trials", OPTION_INTEGER, "1", 0, 1, 1e15, "none", "trials of one search, all restarts together"},
    {"cmaes.stop.target", OPTION_NUMBER, "", -(double)INFINITY, -(double)INFINITY, (double)INFINITY, "none",
     "a search ends when its best fitness is as good"},
    {"cmaes.stop.generations", OPTION_INTEGER, "1", 0, 1, 1e7, "auto",
     "of one restart; auto: 100 + 150 (n + 3)^2/sqrt(population)"},
    {"cmaes.stop.tolfun", OPTION_NUMBER, "", 1e-11, 0, (double)INFINITY, NULL,
     "range of the fitness within a generation and of the best of the last ones"},
    {"cmaes.stop.tolfunhist", OPTION_NUMBER, "", 1e-12, 0, (double)INFINITY, NULL,
     "range of the best fitness of the last generations"},
    {"cmaes.stop.tolx", OPTION_NUMBER, "1", 1e-12, 0, 1, NULL, "steps in all directions, as a part of sigma"},
    {"cmaes.stop.tolxup", OPTION_NUMBER, "1", 1e4, 1, (double)INFINITY, NULL, "growth of the longest step"},
    {"cmaes.stop.condition", OPTION_NUMBER, "1", 1e14, 1, (double)INFINITY, NULL, "condition number of the covariance"},
};

static const size_t cmaes_bytes_max = (size_t)48 << 20; // of all that a search takes
static const size_t cmaes_populations_bytes = (size_t)8 << 20;

// ---- the state ------------------------------------------------------------------------------------------------------

CmaesState *cmaes_state(const Search *search) { return search->state; }

CmaesView cmaes_view(const Search *search, int64_t run)
{
    const Cmaes *cmaes = search->scratch;
    const int n = cmaes->n;
    unsigned char *bytes = (unsigned char *)search->state + sizeof(CmaesState) + (size_t)run * cmaes->run_bytes;
    CmaesView view = {.run = (void *)bytes};
    double *at = (void *)(bytes + sizeof(CmaesRun));
    double **const arrays[] = {&view.mean,           &view.p_c,    &view.p_sigma,
                               &view.lengths,        &view.recent, &view.history_best,
                               &view.history_median, &view.C,      &view.axes};
    const int64_t sizes[] = {n, n, n, n, cmaes->n_recent, CMAES_HISTORY, CMAES_HISTORY, (int64_t)n * n, (int64_t)n * n};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        *arrays[i] = at;
        at += sizes[i];
    }
    return view;
}

static size_t cmaes_state_bytes(const Cmaes *cmaes, int64_t told)
{
    return sizeof(CmaesState) + (size_t)cmaes->searches * cmaes->run_bytes + (size_t)told * 2 * sizeof(double);
}

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

static void cmaes_measure(const Spec *spec, Cmaes *cmaes)
{
    const int64_t n = spec->n_axes;
    cmaes->spec = spec;
    cmaes->settings = spec->method_settings;
    cmaes->n = (int)n;
    cmaes->searches = (int64_t)cmaes->settings[CMAES_SEARCHES] * (spec->n_outer > 0 ? spec->outer.points : 1);
    cmaes->lambda_start = cmaes_lambda(cmaes->settings, (int)n);
    cmaes->lambda_max = cmaes_greatest_population(cmaes->settings, cmaes->lambda_start);
    cmaes->n_recent = 10 + (30 * n + cmaes->lambda_start - 1) / cmaes->lambda_start;
    cmaes->run_bytes =
        sizeof(CmaesRun) + sizeof(double) * (size_t)(4 * n + cmaes->n_recent + 2 * CMAES_HISTORY + 2 * n * n);
    const size_t population = (size_t)cmaes->lambda_max * (size_t)(n + 2) * sizeof(double);
    const int64_t fit = (int64_t)(cmaes_populations_bytes / population);
    cmaes->n_populations = fit < 1 ? 1 : fit < cmaes->searches ? fit : cmaes->searches;
}

static Error cmaes_check(const Cmaes *cmaes)
{
    const size_t member = (size_t)(cmaes->n_populations * (cmaes->n + 2) + 10) * sizeof(double);
    const size_t bytes = cmaes_state_bytes(cmaes, 0) + (size_t)cmaes->lambda_max * member;
    if (cmaes->n > CMAES_DIMENSIONS_MAX)
        return error_make(ERROR_USER, "search: cmaes searches at most %d parameters, and these are %d",
                          CMAES_DIMENSIONS_MAX, cmaes->n);
    if (cmaes->lambda_max > CMAES_POPULATION_MAX || bytes > cmaes_bytes_max)
        return error_make(ERROR_USER,
                          "search: %lld searches with populations of up to %lld are too many: use fewer searches, a "
                          "smaller population or a smaller cmaes.restarts_max",
                          (long long)cmaes->searches, (long long)cmaes->lambda_max);
    return error_none();
}

static void cmaes_take(Cmaes *cmaes, Arena *arena)
{
    const int64_t n = cmaes->n, lambda = cmaes->lambda_max;
    cmaes->spread = ARENA_NEW(arena, double, n);
    cmaes->weights.weight = ARENA_NEW(arena, double, lambda);
    cmaes->order = ARENA_NEW(arena, int64_t, lambda);
    cmaes->order_room = ARENA_NEW(arena, int64_t, lambda);
    cmaes->fitness = ARENA_NEW(arena, double, lambda);
    cmaes->survived = ARENA_NEW(arena, double, lambda);
    cmaes->failed = ARENA_NEW(arena, bool, lambda);
    cmaes->vector = ARENA_NEW(arena, double, n *n + 4 * n);
    cmaes->parameter = ARENA_NEW(arena, double, cmaes->spec->configured.n_parameters);
    cmaes->populations = ARENA_NEW(arena, CmaesPopulation, cmaes->n_populations);
    for (int64_t i = 0; i < cmaes->n_populations; i++)
        cmaes->populations[i] = (CmaesPopulation){.round = -1,
                                                  .y = ARENA_NEW(arena, double, lambda *n),
                                                  .square = ARENA_NEW(arena, double, lambda),
                                                  .left_out = ARENA_NEW(arena, bool, lambda)};
}

static void cmaes_set_spread(Cmaes *cmaes)
{
    for (int i = 0; i < cmaes->n; i++) {
        const double sigma = cmaes->spec->axes[i].values.sigma;
        cmaes->spread[i] = sigma > 0.0 ? sigma / cmaes->settings[CMAES_SIGMA] : 1.0;
    }
}

static Error cmaes_init(const Spec *spec, Arena *arena, Search *search)
{
    Cmaes *cmaes = ARENA_NEW(arena, Cmaes, 1);
    cmaes_measure(spec, cmaes);
    TRY(cmaes_check(cmaes));
    cmaes_take(cmaes, arena);
    cmaes_set_spread(cmaes);
    search->scratch = cmaes;
    search->state_size = cmaes_state_bytes(cmaes, 0);
    search->state_capacity = cmaes_state_bytes(cmaes, cmaes->lambda_max);
    search->state = ARENA_NEW(arena, unsigned char, search->state_capacity);
    search->round_trials = cmaes->searches * cmaes->lambda_start;
    search->round_fields = cmaes_fields(spec, cmaes->n, arena, &search->n_round_fields);
    *cmaes_state(search) =
        (CmaesState){.version = CMAES_STATE_VERSION, .dimension = (uint32_t)cmaes->n, .searches = cmaes->searches};
    for (int64_t s = 0; s < cmaes->searches; s++) {
        const CmaesView view = cmaes_view(search, s);
        *view.run = (CmaesRun){.best = (double)NAN};
        cmaes_begin(cmaes, &view, s, cmaes->lambda_start, cmaes->settings[CMAES_SIGMA] * CMAES_WIDTH);
    }
    return error_none();
}

// ---- ask ------------------------------------------------------------------------------------------------------------

static bool cmaes_all_ended(const Search *search)
{
    const Cmaes *cmaes = search->scratch;
    for (int64_t s = 0; s < cmaes->searches; s++) {
        if (cmaes_view(search, s).run->stop == CMAES_GOES_ON) return false;
    }
    return true;
}

// To the next member in the order of (round, search, member). False: its search must be told first.
static bool cmaes_find_member(const Search *search, Cmaes *cmaes)
{
    for (;;) {
        const CmaesRun *run = cmaes_view(search, cmaes->ask_search).run;
        if (run->stop == CMAES_GOES_ON && run->round < cmaes->ask_round) return false;
        if (run->stop == CMAES_GOES_ON && run->round == cmaes->ask_round && cmaes->ask_member < run->lambda)
            return true;
        cmaes->ask_member = 0;
        if (++cmaes->ask_search < cmaes->searches) continue;
        cmaes->ask_search = 0;
        cmaes->ask_round++;
    }
}

static void cmaes_give(const Search *search, Cmaes *cmaes, const CmaesPopulation *population, Trials *trials)
{
    const CmaesView view = cmaes_view(search, cmaes->ask_search);
    const int64_t t = trials->count++;
    const int n = cmaes->n, parameters = cmaes->spec->configured.n_parameters;
    double *x = cmaes->vector;
    for (int i = 0; i < n; i++) x[i] = view.mean[i] + view.run->sigma * population->y[cmaes->ask_member * n + i];
    (void)cmaes_point(cmaes, cmaes->ask_search, x); // it was allowed when it was drawn
    memcpy(trials->parameter + t * parameters, cmaes->parameter, (size_t)parameters * sizeof(double));
    trials->id[t] = cmaes->ask_id++;
    trials->search[t] = (int32_t)(cmaes->ask_search + (int64_t)cmaes->settings[CMAES_FIRST]);
    trials->round[t] = (int32_t)cmaes->ask_round;
    trials->ordinal[t] = search_round_ordinal(cmaes->ask_round, cmaes->ask_run++);
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
    while (trials->count < wanted && cmaes_find_member(search, cmaes)) {
        const CmaesPopulation *population = cmaes_population(search, cmaes->ask_search);
        if (population->run == 0) return cmaes_no_point(cmaes);
        if (cmaes->ask_member == 0) cmaes->ask_run = 0;
        if (!population->left_out[cmaes->ask_member]) cmaes_give(search, cmaes, population, trials);
        cmaes->ask_member++;
    }
    *waiting = trials->count == 0;
    search->asked = cmaes->ask_id;
    return error_none();
}

// ---- tell -----------------------------------------------------------------------------------------------------------

// The results of a whole generation, from the order in which its members were run.
static void cmaes_gather(const Search *search, Cmaes *cmaes, const CmaesPopulation *population, int64_t lambda)
{
    const double *told = cmaes_told(search);
    for (int64_t k = 0; k < lambda; k++) {
        const bool left_out = population->left_out[k];
        cmaes->fitness[k] = left_out ? (double)NAN : told[0];
        cmaes->survived[k] = left_out ? -1.0 : told[1];
        cmaes->failed[k] = isnan(cmaes->fitness[k]);
        if (!left_out) told += 2;
    }
}

// To the search whose results come next; it stays where it is if all have ended.
static void cmaes_turn(const Search *search, CmaesState *state)
{
    state->told = 0;
    for (int64_t i = 0; i < state->searches; i++) {
        if (++state->search == state->searches) {
            state->search = 0;
            state->round++;
        }
        if (cmaes_view(search, state->search).run->stop == CMAES_GOES_ON) return;
    }
}

static void cmaes_end_generation(Search *search, Cmaes *cmaes, const CmaesPopulation *population)
{
    CmaesState *state = cmaes_state(search);
    const int64_t run = state->search;
    const CmaesView view = cmaes_view(search, run);
    cmaes_gather(search, cmaes, population, view.run->lambda);
    cmaes_update(cmaes, &view, population);
    const CmaesStop stop = cmaes_stop(cmaes, &view);
    cmaes_report(search, run, stop);
    if (stop != CMAES_GOES_ON) cmaes_restart(cmaes, &view, run, stop);
    cmaes_turn(search, state);
}

static Error cmaes_tell(Search *search, const Trials *trials)
{
    Cmaes *cmaes = search->scratch;
    CmaesState *state = cmaes_state(search);
    for (int64_t t = 0; t < trials->count; t++) {
        const int64_t run = trials->search[t] - (int64_t)cmaes->settings[CMAES_FIRST];
        if (trials->id[t] != state->next_id || run != state->search || trials->round[t] != state->round)
            return error_make(ERROR_MACHINE, "bug: trial %lld of search %lld was told out of order",
                              (long long)trials->id[t], (long long)run);
        const CmaesPopulation *population = cmaes_population(search, run);
        double *told = cmaes_told(search) + 2 * state->told;
        told[0] = isnan(trials->fitness[t]) ? (double)NAN : trials->fitness[t] + 0.0;
        told[1] = trials->survived[t];
        state->next_id++;
        if (++state->told == population->run) cmaes_end_generation(search, cmaes, population);
    }
    search->state_size = cmaes_state_bytes(cmaes, state->told);
    return error_none();
}

// ---- going on -------------------------------------------------------------------------------------------------------

static bool cmaes_is_whole(const Search *search)
{
    const Cmaes *cmaes = search->scratch;
    const CmaesState *state = cmaes_state(search);
    if (state->dimension != (uint32_t)cmaes->n || state->searches != cmaes->searches) return false;
    if (state->told < 0 || state->told >= cmaes->lambda_max || state->search < 0 || state->search >= state->searches)
        return false;
    if (search->state_size != cmaes_state_bytes(cmaes, state->told)) return false;
    for (int64_t s = 0; s < cmaes->searches; s++) {
        const CmaesRun *run = cmaes_view(search, s).run;
        if (run->lambda < 4 || run->lambda > cmaes->lambda_max || run->stop < 0 || run->stop >= CMAES_STOPS)
            return false;
        if (run->history_count < 0 || run->history_count > CMAES_HISTORY || run->history_stride < 1 ||
            run->recent_count < 0)
            return false;
    }
    return true;
}

// ask goes on behind what was told.
static void cmaes_set_cursor(const Search *search, Cmaes *cmaes)
{
    const CmaesState *state = cmaes_state(search);
    cmaes->ask_round = state->round;
    cmaes->ask_search = state->search;
    cmaes->ask_id = state->next_id;
    cmaes->ask_member = cmaes->ask_run = 0;
    if (state->told == 0) return;
    const CmaesPopulation *population = cmaes_population(search, state->search);
    while (cmaes->ask_run < state->told) cmaes->ask_run += !population->left_out[cmaes->ask_member++];
}

static Error cmaes_restore(Search *search)
{
    Cmaes *cmaes = search->scratch;
    const CmaesState *state = cmaes_state(search);
    if (search->state_size < sizeof *state || state->version != CMAES_STATE_VERSION)
        return error_make(ERROR_USER,
                          "the stored state of search method cmaes is not of version %d, the one that this "
                          "program reads; resume with the version of the program that wrote it",
                          CMAES_STATE_VERSION);
    if (!cmaes_is_whole(search)) return error_make(ERROR_MACHINE, "the stored state of search method cmaes is damaged");
    for (int64_t i = 0; i < cmaes->n_populations; i++) cmaes->populations[i].round = -1;
    cmaes_set_cursor(search, cmaes);
    search->asked = state->next_id;
    return error_none();
}

// "64 searches ended: 60 tolfun, 4 stagnation"
static const char *cmaes_stopped(const Search *search)
{
    Cmaes *cmaes = search->scratch;
    int64_t counts[CMAES_STOPS] = {0};
    if (!cmaes_all_ended(search)) return NULL;
    for (int64_t s = 0; s < cmaes->searches; s++) counts[cmaes_view(search, s).run->stop]++;
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

const SearchMethod search_cmaes = {
    .name = "cmaes",
    .doc = "covariance matrix adaptation evolution strategy (Hansen 2023), many searches side by side",
    .options = cmaes_options,
    .n_options = CMAES_N_OPTIONS,
    .wants_range = true,
    .wants_sigma = true,
    .wants_outer = true,
    .init = cmaes_init,
    .ask = cmaes_ask,
    .tell = cmaes_tell,
    .restore = cmaes_restore,
    .stopped = cmaes_stopped,
};
