// nsga2: the front of several objectives by a genetic algorithm (Deb et al. 2002), many searches side by side
// (search/side_by_side.h). A generation of a search is N children of its population; the next population is the best N
// of both.
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
    {"nsga2.crossover", OPTION_NUMBER, "1", 0.9, 0, 1, NULL, "fraction of the pairs that are crossed"},
    {"nsga2.eta_crossover", OPTION_NUMBER, "1", 15, 0, 1000, NULL,
     "index of the simulated binary crossover; a greater one keeps children nearer to their parents"},
    {"nsga2.mutation", OPTION_NUMBER, "1", 0, 0, 1, "auto",
     "fraction of the genes that change at random; auto: 1/n for n parameters"},
    {"nsga2.eta_mutation", OPTION_NUMBER, "1", 20, 0, 1000, NULL,
     "index of the polynomial mutation; a greater one makes smaller changes"},
    {"nsga2.patience", OPTION_INTEGER, "1", 10, 1, 1e6, NULL,
     "generations without a single success, after which a search ends"},
    {"nsga2.stop.generations", OPTION_INTEGER, "1", 250, 1, NSGA2_GENERATIONS_MAX, NULL,
     "of each search; --extend may raise it"},
    {"nsga2.stop.trials", OPTION_INTEGER, "1", 0, 1, 1e15, "none", "of each search, in whole generations"},
    {"nsga2.stop.stagnation", OPTION_INTEGER, "1", 0, 1, 1e7, "none",
     "a search ends when its hypervolume has not grown for this number of generations"},
    {"nsga2.stop.tolerance", OPTION_NUMBER, "1", 1e-3, 0, 1, NULL,
     "relative growth of the hypervolume that counts as growth"},
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

Nsga2View nsga2_view(const Search *search, int64_t run)
{
    const Nsga2 *nsga2 = search->scratch;
    unsigned char *bytes = (unsigned char *)search->state + sizeof(Nsga2State) + (size_t)run * nsga2->run_bytes;
    Nsga2View view = {.run = (void *)bytes, .reference = (void *)(bytes + sizeof(Nsga2Run))};
    view.member = view.reference + nsga2->objectives;
    return view;
}

Nsga2Member nsga2_member(const Nsga2 *nsga2, double *members, int64_t index)
{
    double *gene = members + index * nsga2->member_doubles;
    return (Nsga2Member){gene, gene + nsga2->n, gene + nsga2->n + nsga2->objectives};
}

bool nsga2_failed(const Nsga2Member *member) { return isnan(member->objective[0]); }

bool nsga2_feasible(const Nsga2Member *member)
{
    return !nsga2_failed(member) && !(member->rest[NSGA2_VIOLATION] > 0.0);
}

bool nsga2_point(const Nsga2 *nsga2, const double *gene)
{
    const Spec *spec = nsga2->spec;
    memcpy(nsga2->parameter, spec->fixed, (size_t)spec->configured.n_parameters * sizeof(double));
    for (int i = 0; i < nsga2->n; i++)
        nsga2->parameter[spec->axes[i].parameter] = search_value(&spec->axes[i].values, gene[i]);
    return search_complete(spec, nsga2->parameter);
}

// ---- init -----------------------------------------------------------------------------------------------------------

static int64_t nsga2_searches(const Spec *spec) { return (int64_t)spec->method_settings[NSGA2_SEARCHES]; }

static void nsga2_measure_sizes(const Spec *spec, Nsga2 *nsga2)
{
    nsga2->spec = spec;
    nsga2->settings = spec->method_settings;
    nsga2->n = spec->n_axes;
    nsga2->objectives = spec->objective.count;
    nsga2->population = (int64_t)nsga2->settings[NSGA2_POPULATION];
    nsga2->side.searches = nsga2_searches(spec);
    nsga2->side.first = (int64_t)nsga2->settings[NSGA2_FIRST];
    side_take_part(spec, &nsga2->side);
    nsga2->side.trials_max = nsga2->population;
    nsga2->side.told_width = nsga2->objectives + 2;
    nsga2->member_doubles = nsga2->n + nsga2->objectives + NSGA2_REST;
    nsga2->run_bytes =
        sizeof(Nsga2Run) + (size_t)(nsga2->objectives + nsga2->population * nsga2->member_doubles) * sizeof(double);
    nsga2->side.told_at = sizeof(Nsga2State) + (size_t)nsga2->side.searches * nsga2->run_bytes;
    const size_t brood = (size_t)nsga2->population * (size_t)(nsga2->n + 1) * sizeof(double);
    nsga2->side.kept = side_kept_within(&nsga2->side, nsga2_broods_bytes, brood);
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
        return error_make(ERROR_USER, "nsga2 searches at most %d parameters; the spec has %d", NSGA2_GENES_MAX,
                          nsga2.n);
    *key = "search.nsga2.population";
    if (nsga2.side.told_at + (size_t)(nsga2.population * nsga2.side.told_width) * sizeof(double) > nsga2_bytes_max)
        return error_make(ERROR_USER,
                          "%lld searches with populations of %lld are too many: use fewer searches or a smaller "
                          "nsga2.population",
                          (long long)nsga2.side.searches, (long long)nsga2.population);
    return error_none();
}

static void nsga2_take_room(Nsga2 *nsga2, bool learns, Arena *arena)
{
    const int64_t both = 2 * nsga2->population;
    nsga2->parameter = ARENA_NEW(arena, double, nsga2->spec->configured.n_parameters);
    if (!learns) return;
    nsga2->pool = ARENA_NEW(arena, double, both * nsga2->member_doubles);
    nsga2->value = ARENA_NEW(arena, double, both * nsga2->objectives);
    nsga2->feasible = ARENA_NEW(arena, int64_t, both);
    nsga2->rank = ARENA_NEW(arena, int64_t, both);
    nsga2->crowding = ARENA_NEW(arena, double, both);
    nsga2->order = ARENA_NEW(arena, Nsga2Order, both);
    nsga2->room = ARENA_NEW(arena, unsigned char, nsga2_room_bytes(nsga2));
}

static void nsga2_take_broods(Nsga2 *nsga2, int64_t count, Arena *arena)
{
    nsga2->side.kept = count;
    nsga2->broods = ARENA_NEW(arena, Nsga2Brood, count);
    for (int64_t i = 0; i < count; i++)
        nsga2->broods[i] = (Nsga2Brood){.drawn = side_drawn_take(nsga2->population, nsga2->population, arena),
                                        .gene = ARENA_NEW(arena, double, nsga2->population * nsga2->n)};
}

static const SideMethod nsga2_side;

static Error nsga2_init(const Spec *spec, Arena *arena, Search *search)
{
    Nsga2 *nsga2 = ARENA_NEW(arena, Nsga2, 1);
    nsga2_measure_sizes(spec, nsga2);
    nsga2_take_room(nsga2, true, arena);
    nsga2_take_broods(nsga2, nsga2->side.kept, arena);
    nsga2->side.method = &nsga2_side;
    search->scratch = nsga2;
    side_init(search, (uint32_t)nsga2->n, arena);
    search->round_trials = nsga2->side.searches * nsga2->population;
    search->round_fields = nsga2_fields(spec, arena, &search->n_round_fields);
    Nsga2State *state = search->state;
    state->objectives = nsga2->objectives;
    state->population = nsga2->population;
    for (int64_t s = 0; s < nsga2->side.searches; s++)
        *nsga2_view(search, s).run = (Nsga2Run){.hypervolume = (double)NAN, .best = (double)NAN};
    return error_none();
}

// ---- memory for a team ----------------------------------------------------------------------------------------------

enum { NSGA2_TAKEN = 12 }; // arrays, at most, each of which begins a cache line

static size_t nsga2_worker_bytes(const Search *search, bool learns)
{
    const Nsga2 *nsga2 = search->scratch;
    const size_t member = (size_t)(nsga2->member_doubles + nsga2->objectives + 3) * sizeof(double) + sizeof(Nsga2Order);
    const size_t learning = 2 * (size_t)nsga2->population * member + nsga2_room_bytes(nsga2);
    const size_t parameters = (size_t)nsga2->spec->configured.n_parameters * sizeof(double);
    return sizeof(Nsga2) + parameters + (learns ? learning : 0) + NSGA2_TAKEN * 64;
}

static void *nsga2_worker(const Search *search, bool learns, Arena *arena)
{
    Nsga2 *worker = ARENA_NEW(arena, Nsga2, 1);
    *worker = *(const Nsga2 *)search->scratch;
    nsga2_take_room(worker, learns, arena);
    return worker;
}

static size_t nsga2_generation_bytes(const Search *search)
{
    const Nsga2 *nsga2 = search->scratch;
    return (size_t)nsga2->population * ((size_t)nsga2->n * sizeof(double) + sizeof(int32_t) + 1) + sizeof(Nsga2Brood) +
           NSGA2_TAKEN * 64;
}

static void nsga2_keep(Search *search, int64_t generations, Arena *arena)
{
    nsga2_take_broods(search->scratch, generations, arena);
}

// ---- ask ------------------------------------------------------------------------------------------------------------

static SideRun nsga2_side_run(const Search *search, int64_t s)
{
    const Nsga2Run *run = nsga2_view(search, s).run;
    return (SideRun){.round = run->round, .stop = run->stop};
}

static int64_t nsga2_members(const Search *search, int64_t s)
{
    (void)s;
    return ((const Nsga2 *)search->scratch)->population;
}

static SideDrawn *nsga2_drawn(const Search *search, int64_t s) { return &nsga2_brood(search, s)->drawn; }

// They were allowed when they were drawn.
static void nsga2_give(const Search *search, void *worker, int64_t s, int64_t first, int64_t end, double *parameter)
{
    const Nsga2 *nsga2 = worker;
    const Nsga2Brood *brood = nsga2_brood(search, s);
    const size_t n = (size_t)nsga2->spec->configured.n_parameters;
    for (int64_t trial = first; trial < end; trial++, parameter += n) {
        (void)nsga2_point(nsga2, brood->gene + brood->drawn.slot[trial] * nsga2->n);
        memcpy(parameter, nsga2->parameter, n * sizeof *parameter);
    }
}

// ---- tell -----------------------------------------------------------------------------------------------------------

// Parents and children of a generation into the pool, parents first. Returns how many children failed.
static int64_t nsga2_gather(Nsga2 *nsga2, const Nsga2View *view, const Nsga2Brood *brood, const double *told)
{
    const int n = nsga2->n, objectives = nsga2->objectives;
    int64_t at = view->run->members, failed = 0;
    memcpy(nsga2->pool, view->member, (size_t)(at * nsga2->member_doubles) * sizeof(double));
    for (int64_t i = 0; i < brood->drawn.trials; i++, told += nsga2->side.told_width) {
        const Nsga2Member child = nsga2_member(nsga2, nsga2->pool, at++);
        memcpy(child.gene, brood->gene + brood->drawn.slot[i] * n, (size_t)n * sizeof(double));
        memcpy(child.objective, told, (size_t)objectives * sizeof(double));
        child.rest[NSGA2_SURVIVED] = told[objectives];
        child.rest[NSGA2_VIOLATION] = told[objectives + 1];
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

static void nsga2_end_generation(Search *search, void *worker, const SideEnd *end)
{
    Nsga2 *nsga2 = worker;
    const Nsga2View view = nsga2_view(search, end->search);
    const Nsga2Brood *brood = nsga2_brood(search, end->search);
    Nsga2Run *run = view.run;
    const int64_t failed = nsga2_gather(nsga2, &view, brood, end->told);
    nsga2_select(nsga2, &view, brood->drawn.trials);
    run->round++;
    run->evaluations += brood->drawn.trials;
    run->failed_generations = failed == brood->drawn.trials ? run->failed_generations + 1 : 0;
    nsga2_measure(nsga2, &view);
    run->stop = nsga2_stop(nsga2, run);
    nsga2_report(search, end, failed, (Nsga2Stop)run->stop);
}

// All objectives, or none: a failed child has no number among them.
static void nsga2_note(const Search *search, const Trials *trials, int64_t t, double *told)
{
    const Nsga2 *nsga2 = search->scratch;
    const int objectives = nsga2->objectives;
    const double *objective = trials->objective + t * objectives;
    bool finite = true;
    for (int k = 0; k < objectives; k++) finite = finite && !isnan(objective[k]);
    for (int k = 0; k < objectives; k++) told[k] = finite ? spec_cost(nsga2->spec, k, objective[k]) + 0.0 : (double)NAN;
    told[objectives] = isnan(trials->survived[t]) ? -1.0 : trials->survived[t];
    const int constraints = nsga2->spec->n_constraints;
    const double violation =
        constraints > 0 ? constraints_violation(trials->constraint + t * constraints, constraints) : 0.0;
    told[objectives + 1] = isnan(violation) ? (double)INFINITY : violation;
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
    const Nsga2State *state = search->state;
    if (state->genes != (uint32_t)nsga2->n || state->objectives != nsga2->objectives) return false;
    if (state->population != nsga2->population) return false;
    for (int64_t s = 0; s < nsga2->side.searches; s++) {
        const Nsga2Run *run = nsga2_view(search, s).run;
        if (run->members < 0 || run->members > nsga2->population) return false;
        if (run->round < 0 || run->round > NSGA2_GENERATIONS_MAX) return false;
        if (s == state->progress.search && run->stop == NSGA2_GOES_ON && run->round != state->progress.round)
            return false;
        if (run->stop < 0 || run->stop >= NSGA2_STOPS) return false;
        if (!nsga2_members_are_whole(search, s)) return false;
    }
    return true;
}

static int64_t nsga2_reconsider(const Search *search, int64_t s)
{
    Nsga2Run *run = nsga2_view(search, s).run;
    if (run->round == 0) return -1;
    run->stop = nsga2_stop(search->scratch, run);
    return run->stop;
}

static const SideMethod nsga2_side = {
    .version = NSGA2_STATE_VERSION,
    .progress = offsetof(Nsga2State, progress),
    .runs = sizeof(Nsga2State),
    .stop_names = nsga2_stop_names,
    .n_stops = NSGA2_STOPS,
    .run = nsga2_side_run,
    .drawn = nsga2_drawn,
    .members = nsga2_members,
    .draw = nsga2_draw_children,
    .list = nsga2_list,
    .give = nsga2_give,
    .note = nsga2_note,
    .end_generation = nsga2_end_generation,
    .is_whole = nsga2_is_whole,
    .reconsider = nsga2_reconsider,
    .worker_bytes = nsga2_worker_bytes,
    .worker = nsga2_worker,
    .generation_bytes = nsga2_generation_bytes,
    .keep = nsga2_keep,
};

// Exact, except for children whose draws `exclude` drops and for generations that fail as a whole.
static void nsga2_bounds(const Search *search, SearchBounds *bounds)
{
    const Nsga2 *nsga2 = search->scratch;
    const double trials = nsga2->settings[NSGA2_STOP_TRIALS], members = (double)nsga2->population;
    const double searches = (double)nsga2->side.searches, given = nsga2->settings[NSGA2_STOP_GENERATIONS];
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
    .searches = nsga2_searches,
    .check = nsga2_check,
    .init = nsga2_init,
    SIDE_BY_SIDE_METHOD,
};
