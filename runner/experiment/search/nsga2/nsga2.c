// nsga2: the front of several objectives by a genetic algorithm (Deb et al. 2002), many searches side by side. A
// generation of a search is N children of its population; the next population is the best N of both. Trials are asked
// for in the order of (round, search, child), which gives them their ids; a search's next generation is asked for as
// soon as its last one was told, so that ids and points depend neither on the size of the batches nor on what else is
// in flight.
#include "nsga2.h"

#include <math.h>
#include <string.h>

static const Option nsga2_options[NSGA2_N_OPTIONS] = {
    {"nsga2.population", OPTION_INTEGER, "1", 100, 4, NSGA2_POPULATION_MAX, NULL,
     "members, and trials of a generation"},
    {"nsga2.searches", OPTION_INTEGER, "1", 1, 1, NSGA2_SEARCHES_MAX, NULL,
     "independent searches, which run side by side"},
    {"nsga2.first", OPTION_INTEGER, "1", 0, 0, 60000, NULL,
     "number of the first search: what a search does depends on the seed and on its number alone"},
    {"nsga2.crossover", OPTION_NUMBER, "1", 0.9, 0, 1, NULL, "how many of the pairs are crossed"},
    {"nsga2.eta_crossover", OPTION_NUMBER, "1", 15, 0, 1000, NULL,
     "of the simulated binary crossover: the greater, the nearer children are to their parents"},
    {"nsga2.mutation", OPTION_NUMBER, "1", 0, 0, 1, "auto",
     "how many of the genes change at random; auto: one of n for n parameters"},
    {"nsga2.eta_mutation", OPTION_NUMBER, "1", 20, 0, 1000, NULL,
     "of the polynomial mutation: the greater, the smaller the changes"},
    {"nsga2.patience", OPTION_INTEGER, "1", 10, 1, 1e6, NULL,
     "generations without a single success, after which a search ends"},
    {"nsga2.stop.generations", OPTION_INTEGER, "1", 250, 1, NSGA2_GENERATIONS_MAX, NULL,
     "of each search; --extend may raise it"},
    {"nsga2.stop.trials", OPTION_INTEGER, "1", 0, 1, 1e15, "none", "of each search, in whole generations"},
    {"nsga2.stop.stagnation", OPTION_INTEGER, "1", 0, 1, 1e7, "none",
     "a search ends when its hypervolume has not grown for this number of generations"},
    {"nsga2.stop.tolerance", OPTION_NUMBER, "1", 1e-3, 0, 1, NULL, "part of it that counts as growth"},
};

const char *const nsga2_stop_names[NSGA2_STOPS] = {
    [NSGA2_GOES_ON] = "",
    [NSGA2_AT_GENERATIONS] = "generations",
    [NSGA2_AT_TRIALS] = "trials",
    [NSGA2_AT_STAGNATION] = "stagnation",
    [NSGA2_AT_ALL_FAILED] = "all_failed",
};

static const size_t nsga2_bytes_max = (size_t)48 << 20; // of all that a search takes
static const size_t nsga2_broods_bytes = (size_t)8 << 20;

// ---- the state ------------------------------------------------------------------------------------------------------

Nsga2State *nsga2_state(const Search *search) { return search->state; }

Nsga2View nsga2_view(const Search *search, int64_t run)
{
    const Nsga2 *nsga2 = search->scratch;
    unsigned char *bytes = (unsigned char *)search->state + sizeof(Nsga2State) + (size_t)run * nsga2->run_bytes;
    Nsga2View view = {.run = (void *)bytes, .reference = (void *)(bytes + sizeof(Nsga2Run))};
    view.member = view.reference + nsga2->objectives;
    return view;
}

static int nsga2_told_doubles(const Nsga2 *nsga2) { return nsga2->objectives + 2; }

static size_t nsga2_state_bytes(const Nsga2 *nsga2, int64_t told)
{
    return sizeof(Nsga2State) + (size_t)nsga2->searches * nsga2->run_bytes +
           (size_t)(told * nsga2_told_doubles(nsga2)) * sizeof(double);
}

double *nsga2_told(const Search *search)
{
    return (void *)((unsigned char *)search->state + nsga2_state_bytes(search->scratch, 0));
}

Nsga2Member nsga2_member(const Nsga2 *nsga2, double *members, int64_t index)
{
    double *gene = members + index * nsga2->member_doubles;
    return (Nsga2Member){gene, gene + nsga2->n, gene + nsga2->n + nsga2->objectives};
}

bool nsga2_failed(const Nsga2Member *member) { return isnan(member->objective[0]); }

bool nsga2_good(const Nsga2Member *member) { return !nsga2_failed(member) && !(member->rest[NSGA2_VIOLATION] > 0.0); }

bool nsga2_point(const Nsga2 *nsga2, const double *gene)
{
    const Spec *spec = nsga2->spec;
    memcpy(nsga2->parameter, spec->fixed, (size_t)spec->configured.n_parameters * sizeof(double));
    for (int i = 0; i < nsga2->n; i++)
        nsga2->parameter[spec->axes[i].parameter] = search_value(&spec->axes[i].values, gene[i]);
    return search_complete(spec, nsga2->parameter);
}

// ---- init -----------------------------------------------------------------------------------------------------------

static void nsga2_measure_sizes(const Spec *spec, Nsga2 *nsga2)
{
    nsga2->spec = spec;
    nsga2->settings = spec->method_settings;
    nsga2->n = spec->n_axes;
    nsga2->objectives = spec->objective.count;
    nsga2->population = (int64_t)nsga2->settings[NSGA2_POPULATION];
    nsga2->searches = (int64_t)nsga2->settings[NSGA2_SEARCHES];
    nsga2->member_doubles = nsga2->n + nsga2->objectives + NSGA2_REST;
    nsga2->run_bytes =
        sizeof(Nsga2Run) + (size_t)(nsga2->objectives + nsga2->population * nsga2->member_doubles) * sizeof(double);
    const size_t brood = (size_t)nsga2->population * (size_t)(nsga2->n + 1) * sizeof(double);
    const int64_t fit = (int64_t)(nsga2_broods_bytes / brood);
    nsga2->n_broods = fit < 1 ? 1 : fit < nsga2->searches ? fit : nsga2->searches;
}

static size_t nsga2_room_bytes(const Nsga2 *nsga2)
{
    const size_t sort = dominance_bytes(2 * nsga2->population);
    const size_t volume = hypervolume_bytes(nsga2->population, nsga2->objectives);
    return sort > volume ? sort : volume;
}

static Error nsga2_check(const Spec *spec, const char **key)
{
    Nsga2 nsga2 = {0};
    nsga2_measure_sizes(spec, &nsga2);
    *key = "search.over";
    if (nsga2.n > NSGA2_GENES_MAX)
        return error_make(ERROR_USER, "nsga2 searches at most %d parameters, and these are %d", NSGA2_GENES_MAX,
                          nsga2.n);
    *key = "search.nsga2.population";
    if (nsga2_state_bytes(&nsga2, nsga2.population) > nsga2_bytes_max)
        return error_make(ERROR_USER,
                          "%lld searches with populations of %lld are too many: use fewer searches or a smaller "
                          "nsga2.population",
                          (long long)nsga2.searches, (long long)nsga2.population);
    return error_none();
}

static void nsga2_take(Nsga2 *nsga2, Arena *arena)
{
    const int64_t both = 2 * nsga2->population, n = nsga2->n;
    nsga2->pool = ARENA_NEW(arena, double, both * nsga2->member_doubles);
    nsga2->value = ARENA_NEW(arena, double, both * nsga2->objectives);
    nsga2->good = ARENA_NEW(arena, int64_t, both);
    nsga2->rank = ARENA_NEW(arena, int64_t, both);
    nsga2->crowding = ARENA_NEW(arena, double, both);
    nsga2->order = ARENA_NEW(arena, Nsga2Order, both);
    nsga2->room = ARENA_NEW(arena, unsigned char, nsga2_room_bytes(nsga2));
    nsga2->parameter = ARENA_NEW(arena, double, nsga2->spec->configured.n_parameters);
    nsga2->broods = ARENA_NEW(arena, Nsga2Brood, nsga2->n_broods);
    for (int64_t i = 0; i < nsga2->n_broods; i++)
        nsga2->broods[i] = (Nsga2Brood){.round = -1,
                                        .gene = ARENA_NEW(arena, double, nsga2->population *n),
                                        .left_out = ARENA_NEW(arena, bool, nsga2->population)};
}

static Error nsga2_init(const Spec *spec, Arena *arena, Search *search)
{
    Nsga2 *nsga2 = ARENA_NEW(arena, Nsga2, 1);
    nsga2_measure_sizes(spec, nsga2);
    nsga2_take(nsga2, arena);
    search->scratch = nsga2;
    search->state_size = nsga2_state_bytes(nsga2, 0);
    search->state_capacity = nsga2_state_bytes(nsga2, nsga2->population);
    search->state = ARENA_NEW(arena, unsigned char, search->state_capacity);
    search->round_trials = nsga2->searches * nsga2->population;
    search->round_fields = nsga2_fields(spec, arena, &search->n_round_fields);
    *nsga2_state(search) = (Nsga2State){.version = NSGA2_STATE_VERSION,
                                        .genes = (uint32_t)nsga2->n,
                                        .objectives = nsga2->objectives,
                                        .population = nsga2->population,
                                        .searches = nsga2->searches};
    search->stops = ARENA_NEW(arena, RoundStop, nsga2->searches);
    for (int64_t s = 0; s < nsga2->searches; s++)
        *nsga2_view(search, s).run = (Nsga2Run){.hypervolume = (double)NAN, .best = (double)NAN};
    return error_none();
}

// ---- ask ------------------------------------------------------------------------------------------------------------

static bool nsga2_all_ended(const Search *search)
{
    const Nsga2 *nsga2 = search->scratch;
    for (int64_t s = 0; s < nsga2->searches; s++) {
        if (nsga2_view(search, s).run->stop == NSGA2_GOES_ON) return false;
    }
    return true;
}

// To the next child in the order of (round, search, child). False: its search must be told first.
static bool nsga2_find_child(const Search *search, Nsga2 *nsga2)
{
    for (;;) {
        const Nsga2Run *run = nsga2_view(search, nsga2->ask_search).run;
        if (run->stop == NSGA2_GOES_ON && run->round < nsga2->ask_round) return false;
        if (run->stop == NSGA2_GOES_ON && run->round == nsga2->ask_round && nsga2->ask_child < nsga2->population)
            return true;
        nsga2->ask_child = 0;
        if (++nsga2->ask_search < nsga2->searches) continue;
        nsga2->ask_search = 0;
        nsga2->ask_round++;
    }
}

static void nsga2_give(Nsga2 *nsga2, const Nsga2Brood *brood, Trials *trials)
{
    const int64_t t = trials->count++;
    const int parameters = nsga2->spec->configured.n_parameters;
    (void)nsga2_point(nsga2, brood->gene + nsga2->ask_child * nsga2->n); // it was allowed when it was drawn
    memcpy(trials->parameter + t * parameters, nsga2->parameter, (size_t)parameters * sizeof(double));
    trials->id[t] = nsga2->ask_id++;
    trials->search[t] = (int32_t)(nsga2->ask_search + (int64_t)nsga2->settings[NSGA2_FIRST]);
    trials->round[t] = (int32_t)nsga2->ask_round;
    trials->ordinal[t] = search_round_ordinal(nsga2->ask_round, nsga2->ask_run++);
}

static Error nsga2_no_point(const Nsga2 *nsga2)
{
    return error_make(
        ERROR_USER,
        "search %lld: of %d draws for each child not one is allowed by `exclude` or by the ranges of derived "
        "parameters; loosen them",
        (long long)nsga2->ask_search, NSGA2_ATTEMPTS);
}

static Error nsga2_ask(Search *search, int64_t max, Trials *trials, bool *waiting)
{
    Nsga2 *nsga2 = search->scratch;
    const int64_t wanted = max < trials->capacity ? max : trials->capacity;
    trials->count = 0;
    *waiting = false;
    if (nsga2_all_ended(search)) return error_none();
    while (trials->count < wanted && nsga2_find_child(search, nsga2)) {
        const Nsga2Brood *brood = nsga2_brood(search, nsga2->ask_search);
        if (brood->run == 0) return nsga2_no_point(nsga2);
        if (nsga2->ask_child == 0) nsga2->ask_run = 0;
        if (!brood->left_out[nsga2->ask_child]) nsga2_give(nsga2, brood, trials);
        nsga2->ask_child++;
    }
    *waiting = trials->count == 0;
    search->asked = nsga2->ask_id;
    return error_none();
}

// ---- tell -----------------------------------------------------------------------------------------------------------

// Parents and children of a generation into the pool, parents first. Returns how many children failed.
static int64_t nsga2_gather(const Search *search, Nsga2 *nsga2, const Nsga2View *view, const Nsga2Brood *brood)
{
    const double *told = nsga2_told(search);
    const int n = nsga2->n, objectives = nsga2->objectives;
    int64_t at = view->run->members, failed = 0;
    memcpy(nsga2->pool, view->member, (size_t)(at * nsga2->member_doubles) * sizeof(double));
    for (int64_t c = 0; c < nsga2->population; c++) {
        if (brood->left_out[c]) continue;
        const Nsga2Member child = nsga2_member(nsga2, nsga2->pool, at++);
        memcpy(child.gene, brood->gene + c * n, (size_t)n * sizeof(double));
        memcpy(child.objective, told, (size_t)objectives * sizeof(double));
        child.rest[NSGA2_SURVIVED] = told[objectives];
        child.rest[NSGA2_VIOLATION] = told[objectives + 1];
        told += nsga2_told_doubles(nsga2);
        failed += nsga2_failed(&child);
    }
    return failed;
}

static bool nsga2_stagnates(const Nsga2 *nsga2, const Nsga2Run *run)
{
    const double generations = nsga2->settings[NSGA2_STOP_STAGNATION];
    return generations > 0.0 && (double)(run->round - run->best_round) >= generations;
}

static Nsga2Stop nsga2_stop(const Nsga2 *nsga2, const Nsga2Run *run)
{
    const double trials = nsga2->settings[NSGA2_STOP_TRIALS];
    if ((double)run->round >= nsga2->settings[NSGA2_STOP_GENERATIONS]) return NSGA2_AT_GENERATIONS;
    if (trials > 0.0 && (double)run->evaluations >= trials) return NSGA2_AT_TRIALS;
    if (nsga2_stagnates(nsga2, run)) return NSGA2_AT_STAGNATION;
    if ((double)run->failed_generations >= nsga2->settings[NSGA2_PATIENCE]) return NSGA2_AT_ALL_FAILED;
    return NSGA2_GOES_ON;
}

// To the search whose results come next: the first one that goes on, in the order of (round, search).
static void nsga2_turn(const Search *search, Nsga2State *state)
{
    int64_t next = -1, round = 0;
    state->told = 0;
    for (int64_t s = 0; s < state->searches; s++) {
        const Nsga2Run *run = nsga2_view(search, s).run;
        if (run->stop != NSGA2_GOES_ON || (next >= 0 && run->round >= round)) continue;
        next = s;
        round = run->round;
    }
    if (next < 0) return; // all have ended
    state->search = next;
    state->round = round;
}

static void nsga2_end_generation(Search *search, Nsga2 *nsga2, const Nsga2Brood *brood)
{
    Nsga2State *state = nsga2_state(search);
    const int64_t index = state->search;
    const Nsga2View view = nsga2_view(search, index);
    Nsga2Run *run = view.run;
    const int64_t failed = nsga2_gather(search, nsga2, &view, brood);
    nsga2_select(nsga2, &view, brood->run);
    run->round++;
    run->evaluations += brood->run;
    run->failed_generations = failed == brood->run ? run->failed_generations + 1 : 0;
    nsga2_measure(nsga2, &view);
    run->stop = nsga2_stop(nsga2, run);
    nsga2_report(search, index, failed, (Nsga2Stop)run->stop);
    nsga2_turn(search, state);
}

// All objectives, or none: a failed child has no number among them.
static void nsga2_note(const Nsga2 *nsga2, const Trials *trials, int64_t t, double *told)
{
    const int objectives = nsga2->objectives;
    const double *objective = trials->objective + t * objectives;
    bool good = true;
    for (int k = 0; k < objectives; k++) good = good && !isnan(objective[k]);
    for (int k = 0; k < objectives; k++) told[k] = good ? spec_cost(nsga2->spec, k, objective[k]) + 0.0 : (double)NAN;
    told[objectives] = isnan(trials->survived[t]) ? -1.0 : trials->survived[t];
    const int constraints = nsga2->spec->n_constraints;
    const double violation =
        constraints > 0 ? constraints_violation(trials->constraint + t * constraints, constraints) : 0.0;
    told[objectives + 1] = isnan(violation) ? (double)INFINITY : violation;
}

static Error nsga2_tell(Search *search, const Trials *trials)
{
    Nsga2 *nsga2 = search->scratch;
    Nsga2State *state = nsga2_state(search);
    for (int64_t t = 0; t < trials->count; t++) {
        const int64_t run = trials->search[t] - (int64_t)nsga2->settings[NSGA2_FIRST];
        if (trials->id[t] != state->next_id || run != state->search || trials->round[t] != state->round)
            return search_told_wrong(search, trials, t);
        const Nsga2Brood *brood = nsga2_brood(search, run);
        nsga2_note(nsga2, trials, t, nsga2_told(search) + state->told * nsga2_told_doubles(nsga2));
        state->next_id++;
        if (++state->told == brood->run) nsga2_end_generation(search, nsga2, brood);
    }
    search->state_size = nsga2_state_bytes(nsga2, state->told);
    return error_none();
}

// ---- going on -------------------------------------------------------------------------------------------------------

static bool nsga2_members_are_whole(const Search *search, int64_t index)
{
    const Nsga2 *nsga2 = search->scratch;
    const Nsga2View view = nsga2_view(search, index);
    for (int64_t m = 0; m < view.run->members; m++) {
        const Nsga2Member member = nsga2_member(nsga2, view.member, m);
        for (int i = 0; i < nsga2->n; i++) {
            if (!(member.gene[i] >= 0.0 && member.gene[i] <= 1.0)) return false;
        }
        for (int i = 0; i < NSGA2_REST; i++) {
            if (isnan(member.rest[i])) return false;
        }
    }
    return true;
}

static bool nsga2_is_whole(const Search *search)
{
    const Nsga2 *nsga2 = search->scratch;
    const Nsga2State *state = nsga2_state(search);
    if (state->genes != (uint32_t)nsga2->n || state->objectives != nsga2->objectives) return false;
    if (state->population != nsga2->population || state->searches != nsga2->searches) return false;
    if (state->told < 0 || state->told >= nsga2->population || state->search < 0 || state->search >= state->searches)
        return false;
    if (search->state_size != nsga2_state_bytes(nsga2, state->told)) return false;
    for (int64_t s = 0; s < nsga2->searches; s++) {
        const Nsga2Run *run = nsga2_view(search, s).run;
        if (run->members < 0 || run->members > nsga2->population) return false;
        if (run->round < 0 || run->round > NSGA2_GENERATIONS_MAX) return false;
        if (s == state->search && run->stop == NSGA2_GOES_ON && run->round != state->round) return false;
        if (run->stop < 0 || run->stop >= NSGA2_STOPS) return false;
        if (!nsga2_members_are_whole(search, s)) return false;
    }
    return true;
}

// Budgets are totals: if the campaign was extended, a search that had ended may go on, and one that went on may end.
// One whose generation is partly told ends it first.
static void nsga2_heed_budgets(Search *search, const Nsga2 *nsga2)
{
    Nsga2State *state = nsga2_state(search);
    search->n_stops = 0;
    for (int64_t s = 0; s < nsga2->searches; s++) {
        Nsga2Run *run = nsga2_view(search, s).run;
        if (run->round == 0 || (state->told > 0 && s == state->search)) continue;
        const Nsga2Stop stop = nsga2_stop(nsga2, run);
        run->stop = (int64_t)stop;
        search->stops[search->n_stops++] = (RoundStop){.search = (int32_t)(s + (int64_t)nsga2->settings[NSGA2_FIRST]),
                                                       .round = (int32_t)(run->round - 1),
                                                       .stop = stop != NSGA2_GOES_ON ? nsga2_stop_names[stop] : NULL};
    }
    if (state->told == 0) nsga2_turn(search, state);
}

// ask goes on behind what was told. False: more was told than there is.
static bool nsga2_set_cursor(const Search *search, Nsga2 *nsga2)
{
    const Nsga2State *state = nsga2_state(search);
    nsga2->ask_round = state->round;
    nsga2->ask_search = state->search;
    nsga2->ask_id = state->next_id;
    nsga2->ask_child = nsga2->ask_run = 0;
    if (state->told == 0) return true;
    const Nsga2Brood *brood = nsga2_brood(search, state->search);
    if (state->told >= brood->run) return false;
    while (nsga2->ask_run < state->told) nsga2->ask_run += !brood->left_out[nsga2->ask_child++];
    return true;
}

static Error nsga2_restore(Search *search)
{
    Nsga2 *nsga2 = search->scratch;
    const Nsga2State *state = nsga2_state(search);
    if (search->state_size < sizeof *state || state->version != NSGA2_STATE_VERSION)
        return search_state_of_other(search, NSGA2_STATE_VERSION);
    const bool whole = nsga2_is_whole(search);
    for (int64_t i = 0; i < nsga2->n_broods; i++) nsga2->broods[i].round = -1;
    if (whole) nsga2_heed_budgets(search, nsga2);
    if (!whole || !nsga2_set_cursor(search, nsga2)) return search_state_damaged(search);
    search->asked = state->next_id;
    return error_none();
}

// "4 searches ended: 3 generations, 1 stagnation"
static const char *nsga2_stopped(const Search *search)
{
    Nsga2 *nsga2 = search->scratch;
    int64_t counts[NSGA2_STOPS] = {0};
    if (!nsga2_all_ended(search)) return NULL;
    for (int64_t s = 0; s < nsga2->searches; s++) counts[nsga2_view(search, s).run->stop]++;
    char *text = nsga2->ending;
    int used = 0;
    const size_t size = sizeof nsga2->ending;
    if (nsga2->searches == 1) return nsga2_stop_names[nsga2_view(search, 0).run->stop];
    used = snprintf(text, size, "%lld searches ended", (long long)nsga2->searches);
    for (int i = 1; i < NSGA2_STOPS; i++) {
        if (counts[i] > 0)
            used += snprintf(text + used, size - (size_t)used, "%s %lld %s", strchr(text, ':') == NULL ? ":" : ",",
                             (long long)counts[i], nsga2_stop_names[i]);
    }
    return text;
}

// Exact, but for children that find no place that `exclude` allows, and for generations that fail as a whole.
static void nsga2_bounds(const Search *search, SearchBounds *bounds)
{
    const Nsga2 *nsga2 = search->scratch;
    const double trials = nsga2->settings[NSGA2_STOP_TRIALS], members = (double)nsga2->population;
    const double searches = (double)nsga2->searches, given = nsga2->settings[NSGA2_STOP_GENERATIONS];
    const bool early = nsga2->settings[NSGA2_STOP_STAGNATION] > 0.0, limited = trials > 0.0;
    const double rounds = limited && ceil(trials / members) < given ? ceil(trials / members) : given;
    const SearchBudget most = {searches * rounds * members, searches * rounds};
    *bounds = (SearchBounds){.least = early ? (SearchBudget){searches * members, searches} : most,
                             .most = most,
                             .early = early ? "stagnation" : NULL};
}

static bool nsga2_budget(const Spec *spec, const char *option)
{
    (void)spec;
    return strncmp(option, "nsga2.stop.", strlen("nsga2.stop.")) == 0;
}

const SearchMethod search_nsga2 = {
    .name = "nsga2",
    .doc = "the front of several objectives by a genetic algorithm (Deb et al. 2002), many searches side by side",
    .options = nsga2_options,
    .n_options = NSGA2_N_OPTIONS,
    .wants_range = true,
    .several = true,
    .budget = nsga2_budget,
    .bounds = nsga2_bounds,
    .check = nsga2_check,
    .init = nsga2_init,
    .ask = nsga2_ask,
    .tell = nsga2_tell,
    .restore = nsga2_restore,
    .stopped = nsga2_stopped,
};
