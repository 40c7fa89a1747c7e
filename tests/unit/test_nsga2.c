// NSGA-II: fronts of known problems, its ranking, its stop reasons; a search's points depend only on its seed and
// number. Objectives are evaluated here, not by a backend.
#include "../../runner/experiment/search/nsga2/nsga2.h"
#include "../test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NSGA2_TEST_N = 10, NSGA2_TEST_TRIALS = 256, NSGA2_TEST_OBJECTIVES = 3 };

// x in [0, 1]^n
typedef void Nsga2Problem(const double *x, int n, double *objective);

typedef struct Nsga2Case {
    Arena arena;
    Spec spec;
    Search search;
    Trials trials;
    Rounds rounds;
    Nsga2Problem *problem;
    int n, objectives;
    int64_t evaluations;
} Nsga2Case;

// ---- problems: E. Zitzler, K. Deb, L. Thiele, Evolutionary Computation 8(2), 2000 -----------------------------------

static double zdt_g(const double *x, int n)
{
    double sum = 0.0;
    for (int i = 1; i < n; i++) sum += x[i];
    return 1.0 + 9.0 * sum / (n - 1);
}

static void zdt1(const double *x, int n, double *f)
{
    const double g = zdt_g(x, n);
    f[0] = x[0];
    f[1] = g * (1.0 - sqrt(x[0] / g));
}

static void zdt2(const double *x, int n, double *f)
{
    const double g = zdt_g(x, n);
    f[0] = x[0];
    f[1] = g * (1.0 - x[0] / g * (x[0] / g));
}

static void zdt3(const double *x, int n, double *f)
{
    const double g = zdt_g(x, n);
    f[0] = x[0];
    f[1] = g * (1.0 - sqrt(x[0] / g) - x[0] / g * sin(10.0 * acos(-1.0) * x[0]));
}

// Fails in a part of the range, where the front would be, and sets no objectives there.
static void zdt1_fails(const double *x, int n, double *f)
{
    zdt1(x, n, f);
    if (x[0] > 0.3 && x[0] < 0.5) f[0] = f[1] = (double)NAN;
}

static void always_fails(const double *x, int n, double *f)
{
    (void)x, (void)n;
    f[0] = f[1] = (double)NAN;
}

// DTLZ2 (Deb, Thiele, Laumanns, Zitzler 2005) with three objectives: the front is an eighth of the unit sphere.
static void dtlz2(const double *x, int n, double *f)
{
    const double quarter = acos(-1.0) / 2.0;
    double g = 1.0;
    for (int i = 2; i < n; i++) g += (x[i] - 0.5) * (x[i] - 0.5);
    f[0] = g * cos(quarter * x[0]) * cos(quarter * x[1]);
    f[1] = g * cos(quarter * x[0]) * sin(quarter * x[1]);
    f[2] = g * sin(quarter * x[0]);
}

// ---- a search -------------------------------------------------------------------------------------------------------

static const char *nsga2_over(const Nsga2Case *test, Arena *arena)
{
    const char *over = "";
    for (int i = 0; i < test->n; i++)
        over = arena_format(arena, "%s%sx%d: {range: [-5, 5]}", over, i > 0 ? ", " : "", i + 1);
    return over;
}

static void nsga2_take_trials(Nsga2Case *test, Trials *trials, int64_t capacity)
{
    *trials = (Trials){.capacity = capacity,
                       .id = ARENA_NEW(&test->arena, int64_t, capacity),
                       .ordinal = ARENA_NEW(&test->arena, uint64_t, capacity),
                       .search = ARENA_NEW(&test->arena, int32_t, capacity),
                       .round = ARENA_NEW(&test->arena, int32_t, capacity),
                       .parameter = ARENA_NEW(&test->arena, double, capacity *NSGA2_TEST_N),
                       .fitness = ARENA_NEW(&test->arena, double, capacity),
                       .objective = ARENA_NEW(&test->arena, double, capacity *NSGA2_TEST_OBJECTIVES),
                       .survived = ARENA_NEW(&test->arena, double, capacity)};
}

// rest: "nsga2: {...}" and other keys of `search:`; reference: "" or a list.
static void nsga2_case_start_with(Nsga2Case *test, Nsga2Problem *problem, int n, const char *over, const char *rest,
                                  const char *objective)
{
    *test = (Nsga2Case){.problem = problem, .n = n};
    if (arena_create(&test->arena, (size_t)1 << 27, "test").kind != OK) abort();
    Diagnostics *diagnostics = diagnostics_new(&test->arena);
    const char *text = arena_format(&test->arena,
                                    "version: 1\nexperiment: test\nseed: 3\nmodel: bbob\nsimulation: {dimension: %d}\n"
                                    "search: {method: nsga2, over: {%s}, %s}\nobjective: {%s}\n",
                                    n, over != NULL ? over : nsga2_over(test, &test->arena), rest, objective);
    CHECK_OK(spec_parse("test.yaml", text, NULL, 0, &test->arena, diagnostics, &test->spec));
    diagnostics_print(diagnostics, stdout, false);
    test->objectives = test->spec.objective.count;
    nsga2_take_trials(test, &test->trials, NSGA2_TEST_TRIALS);
    CHECK_OK(search_init(&test->spec, &test->arena, &test->search));
}

static void nsga2_case_start(Nsga2Case *test, Nsga2Problem *problem, const char *options)
{
    char rest[256];
    snprintf(rest, sizeof rest, "nsga2: {%s}", options);
    nsga2_case_start_with(test, problem, NSGA2_TEST_N, NULL, rest, "minimize: [f, distance], reference: [1.1, 1.1]");
}

static void nsga2_case_end(Nsga2Case *test)
{
    Arena arena = test->arena;
    arena_destroy(&arena);
}

static void nsga2_case_evaluate(Nsga2Case *test, Trials *trials)
{
    for (int64_t t = 0; t < trials->count; t++) {
        double x[NSGA2_TEST_N];
        for (int i = 0; i < test->n; i++) x[i] = (trials->parameter[t * test->n + i] + 5.0) / 10.0;
        test->problem(x, test->n, trials->objective + t * test->objectives);
        trials->survived[t] = x[0];
    }
    test->evaluations += trials->count;
}

// Runs one batch of at most `most` trials; false: the search has ended.
static bool nsga2_case_batch(Nsga2Case *test, int64_t most)
{
    bool waiting = false;
    CHECK_OK(test->search.method->ask(&test->search, most, &test->trials, &waiting));
    nsga2_case_evaluate(test, &test->trials);
    CHECK_OK(test->search.method->tell(&test->search, &test->trials));
    return test->trials.count > 0 || waiting;
}

static void nsga2_case_run(Nsga2Case *test, int64_t most)
{
    while (nsga2_case_batch(test, most)) {
    }
}

static const Nsga2Run *nsga2_case_of(const Nsga2Case *test, int64_t search)
{
    return nsga2_view(&test->search, search).run;
}

// ---- known fronts ---------------------------------------------------------------------------------------------------

// Area below (1.1, 1.1) that a front f2(f1), 0 <= f1 <= 1, dominates, with the least f2 up to each f1.
static double zdt_volume(Nsga2Problem *problem)
{
    enum { STEPS = 100000 };
    double area = 0.0, least = 1.1;
    for (int i = 0; i <= STEPS; i++) {
        double x[NSGA2_TEST_N] = {(double)i / STEPS}, f[2];
        problem(x, NSGA2_TEST_N, f);
        if (f[1] < least) least = f[1];
        area += (1.1 - least) / STEPS * (i < STEPS ? 1.0 : 0.1 * STEPS);
    }
    return area;
}

TEST(nsga2_finds_the_fronts_of_the_zdt_problems)
{
    static Nsga2Problem *const problems[] = {zdt1, zdt2, zdt3};
    CHECK_NEAR(1.21 - 1.0 / 3.0, zdt_volume(zdt1), 1e-4);
    CHECK_NEAR(1.21 - 2.0 / 3.0, zdt_volume(zdt2), 1e-4);
    for (int i = 0; i < (test_quick() ? 1 : 3); i++) {
        Nsga2Case test;
        nsga2_case_start(&test, problems[i], "population: 100, stop: {generations: 250}");
        nsga2_case_run(&test, NSGA2_TEST_TRIALS);
        CHECK_INTEGER(25000, test.evaluations);
        CHECK_INTEGER(100, nsga2_case_of(&test, 0)->front);
        CHECK_NEAR(1.0, nsga2_case_of(&test, 0)->hypervolume / zdt_volume(problems[i]), 0.015);
        CHECK(nsga2_case_of(&test, 0)->hypervolume < zdt_volume(problems[i]));
        nsga2_case_end(&test);
    }
}

TEST(nsga2_finds_a_front_of_three_objectives)
{
    Nsga2Case test;
    nsga2_case_start_with(&test, dtlz2, 7, NULL, "nsga2: {population: 120, stop: {generations: 100}}",
                          "minimize: [f, distance, \"f + distance\"], reference: [1.1, 1.1, 1.1]");
    nsga2_case_run(&test, NSGA2_TEST_TRIALS);
    const double whole = 1.1 * 1.1 * 1.1 - acos(-1.0) / 6.0;
    // 120 even points reach 0.94; crowding distance spaces them unevenly, and about 0.87 is known for it
    CHECK_NEAR(0.87, nsga2_case_of(&test, 0)->hypervolume / whole, 0.02);
    nsga2_case_end(&test);
}

TEST(nsga2_avoids_a_region_that_fails)
{
    Nsga2Case test;
    nsga2_case_start(&test, zdt1_fails, "population: 60, stop: {generations: 120}");
    nsga2_case_run(&test, NSGA2_TEST_TRIALS);
    const Nsga2View view = nsga2_view(&test.search, 0);
    int low = 0, high = 0;
    for (int64_t i = 0; i < view.run->front; i++) {
        const double *objective = nsga2_member(test.search.scratch, view.member, i).objective;
        CHECK(objective[0] <= 0.3 || objective[0] >= 0.5);
        low += objective[0] <= 0.3;
        high += objective[0] >= 0.5;
    }
    CHECK(low > 10 && high > 10);
    nsga2_case_end(&test);
}

// ---- the same bits --------------------------------------------------------------------------------------------------

static const char nsga2_three[] = "searches: 3, population: 20, stop: {generations: 12}";

static bool nsga2_same_state(const Nsga2Case *a, const Nsga2Case *b)
{
    return a->search.state_size == b->search.state_size &&
           memcmp(a->search.state, b->search.state, a->search.state_size) == 0;
}

TEST(nsga2_batches_of_any_size_give_the_same_searches)
{
    static const int64_t sizes[] = {1, 7, 33};
    Nsga2Case whole;
    nsga2_case_start(&whole, zdt3, nsga2_three);
    nsga2_case_run(&whole, NSGA2_TEST_TRIALS);
    CHECK_INTEGER(3 * 20 * 12, whole.evaluations);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        Nsga2Case parts;
        nsga2_case_start(&parts, zdt3, nsga2_three);
        nsga2_case_run(&parts, sizes[i]);
        CHECK(nsga2_same_state(&whole, &parts));
        nsga2_case_end(&parts);
    }
    nsga2_case_end(&whole);
}

// Two batches in flight: the search gives the second before it gets the results of the first.
TEST(nsga2_batches_in_flight_give_the_same_searches)
{
    Nsga2Case whole, test;
    nsga2_case_start(&whole, zdt3, nsga2_three);
    nsga2_case_run(&whole, NSGA2_TEST_TRIALS);
    nsga2_case_start(&test, zdt3, nsga2_three);
    Trials slots[2];
    for (int i = 0; i < 2; i++) nsga2_take_trials(&test, &slots[i], 11);
    bool waiting = false;
    int64_t in_flight = 0;
    for (int slot = 0;; slot = 1 - slot) {
        CHECK_OK(test.search.method->ask(&test.search, 11, &slots[slot], &waiting));
        nsga2_case_evaluate(&test, &slots[slot]);
        in_flight += slots[slot].count;
        CHECK_OK(test.search.method->tell(&test.search, &slots[1 - slot]));
        in_flight -= slots[1 - slot].count;
        slots[1 - slot].count = 0;
        if (in_flight == 0 && !waiting) break;
    }
    CHECK(nsga2_same_state(&whole, &test));
    nsga2_case_end(&test);
    nsga2_case_end(&whole);
}

TEST(nsga2_a_search_beside_others_equals_one_alone)
{
    Nsga2Case all;
    nsga2_case_start(&all, zdt3, nsga2_three);
    nsga2_case_run(&all, 50);
    const size_t bytes = ((const Nsga2 *)all.search.scratch)->run_bytes;
    for (int64_t i = 0; i < 3; i++) {
        Nsga2Case alone;
        char options[96];
        snprintf(options, sizeof options, "first: %d, population: 20, stop: {generations: 12}", (int)i);
        nsga2_case_start(&alone, zdt3, options);
        nsga2_case_run(&alone, 50);
        CHECK(memcmp(nsga2_case_of(&all, i), nsga2_case_of(&alone, 0), bytes) == 0);
        nsga2_case_end(&alone);
    }
    CHECK(nsga2_case_of(&all, 0)->hypervolume != nsga2_case_of(&all, 1)->hypervolume);
    nsga2_case_end(&all);
}

// Continues the search from its state, as another process does.
static void nsga2_go_on(Nsga2Case *test)
{
    Search next;
    CHECK_OK(search_init(&test->spec, &test->arena, &next));
    memcpy(next.state, test->search.state, test->search.state_size);
    next.state_size = test->search.state_size;
    CHECK_OK(next.method->restore(&next));
    test->search = next;
}

TEST(nsga2_continues_from_its_state_alone)
{
    Nsga2Case whole, pieces;
    nsga2_case_start(&whole, zdt3, nsga2_three);
    nsga2_case_run(&whole, NSGA2_TEST_TRIALS);
    nsga2_case_start(&pieces, zdt3, nsga2_three);
    while (nsga2_case_batch(&pieces, 13)) nsga2_go_on(&pieces);
    CHECK_INTEGER(whole.evaluations, pieces.evaluations);
    CHECK(nsga2_same_state(&whole, &pieces));
    nsga2_case_end(&pieces);
    nsga2_case_end(&whole);
}

// Budgets are totals: 5 generations, extended to 12, give the same as 12.
TEST(nsga2_extended_in_generations_equals_one_run)
{
    Nsga2Case whole, more;
    nsga2_case_start(&whole, zdt3, nsga2_three);
    nsga2_case_run(&whole, NSGA2_TEST_TRIALS);
    nsga2_case_start(&more, zdt3, "searches: 3, population: 20, stop: {generations: 5}");
    nsga2_case_run(&more, NSGA2_TEST_TRIALS);
    CHECK_INTEGER(3 * 20 * 5, more.evaluations);
    double *settings = ARENA_NEW(&more.arena, double, NSGA2_N_OPTIONS);
    memcpy(settings, more.spec.method_settings, NSGA2_N_OPTIONS * sizeof *settings);
    settings[NSGA2_STOP_GENERATIONS] = 12;
    more.spec.method_settings = settings;
    nsga2_go_on(&more);
    nsga2_case_run(&more, NSGA2_TEST_TRIALS);
    CHECK_INTEGER(whole.evaluations, more.evaluations);
    CHECK(nsga2_same_state(&whole, &more));
    nsga2_case_end(&more);
    nsga2_case_end(&whole);
}

// No model has this many parameters: the test sets the count itself.
TEST(nsga2_refuses_too_many_parameters)
{
    Nsga2Case test;
    Search search;
    nsga2_case_start(&test, zdt1, nsga2_three);
    test.spec.n_axes = NSGA2_GENES_MAX + 1;
    CHECK_SAYS(ERROR_USER, "nsga2 searches at most", search_init(&test.spec, &test.arena, &search));
    nsga2_case_end(&test);
}

TEST(nsga2_refuses_a_state_that_it_cannot_read)
{
    Nsga2Case test;
    nsga2_case_start(&test, zdt1, nsga2_three);
    (void)nsga2_case_batch(&test, 5);
    Nsga2State *state = test.search.state, kept = *state;
    CHECK_OK(test.search.method->restore(&test.search));
    state->version++;
    CHECK_SAYS(ERROR_USER, "is not of version", test.search.method->restore(&test.search));
    *state = kept;
    state->progress.told = 6;
    CHECK_SAYS(ERROR_MACHINE, "is damaged", test.search.method->restore(&test.search));
    *state = kept;
    state->progress.search = 3;
    CHECK_SAYS(ERROR_MACHINE, "is damaged", test.search.method->restore(&test.search));
    *state = kept;
    nsga2_view(&test.search, 2).run->members = 21;
    CHECK_SAYS(ERROR_MACHINE, "is damaged", test.search.method->restore(&test.search));
    nsga2_case_end(&test);
}

TEST(nsga2_refuses_results_out_of_order)
{
    Nsga2Case test;
    bool waiting;
    nsga2_case_start(&test, zdt1, nsga2_three);
    CHECK_OK(test.search.method->ask(&test.search, 3, &test.trials, &waiting));
    test.trials.id[0]++;
    CHECK_SAYS(ERROR_MACHINE, "out of order", test.search.method->tell(&test.search, &test.trials));
    nsga2_case_end(&test);
}

// ---- ranking and reasons --------------------------------------------------------------------------------------------

TEST(nsga2_failures_rank_last_by_the_time_they_survived)
{
    enum { MEMBERS = 6 };
    static const double objective[MEMBERS][2] = {{9, 9}, {NAN, NAN}, {1, 2}, {NAN, NAN}, {2, 1}, {3, NAN}};
    static const double survived[MEMBERS] = {0.0, 1.0, 0.0, 2.0, 0.0, 1.5};
    static const double expected[MEMBERS] = {1, 2, 9, NAN, NAN, NAN};
    Nsga2Case test;
    bool waiting;
    nsga2_case_start(&test, zdt1, "population: 6");
    CHECK_OK(test.search.method->ask(&test.search, MEMBERS, &test.trials, &waiting));
    memcpy(test.trials.objective, objective, sizeof objective);
    memcpy(test.trials.survived, survived, sizeof survived);
    CHECK_OK(test.search.method->tell(&test.search, &test.trials));
    const Nsga2View view = nsga2_view(&test.search, 0);
    for (int i = 0; i < MEMBERS; i++) {
        const Nsga2Member member = nsga2_member(test.search.scratch, view.member, i);
        CHECK(nsga2_failed(&member) == (i >= 3));
        if (i < 3) CHECK_BITS(expected[i], member.objective[0]);
        if (i >= 3) CHECK_BITS(2.0 - 0.5 * (i - 3), member.rest[NSGA2_SURVIVED]);
    }
    CHECK_INTEGER(2, view.run->front);
    nsga2_case_end(&test);
}

// Any violation ranks behind all objectives and before a failure; the smaller violation ranks first.
TEST(nsga2_ranks_violations_by_size)
{
    enum { MEMBERS = 6 };
    static const double objective[MEMBERS][2] = {{1, 1}, {9, 9}, {2, 2}, {NAN, NAN}, {8, 8}, {0, 0}};
    static const double constraint[MEMBERS][2] = {{0.5, 0.5}, {-1, 0}, {-3, 0.25}, {NAN, NAN}, {-1, -1}, {3, 1e-300}};
    static const int expected[MEMBERS] = {4, 1, 2, 0, 5, 3}; // trials in the order of their ranks
    Nsga2Case test;
    bool waiting;
    nsga2_case_start_with(&test, zdt1, 2, NULL, "nsga2: {population: 6}",
                          "minimize: [f, distance]}\nconstraints: [\"f < 3\", \"distance < 2\"]\nlimits: {trials: 9");
    CHECK_OK(test.search.method->ask(&test.search, MEMBERS, &test.trials, &waiting));
    test.trials.constraint = ARENA_NEW(&test.arena, double, MEMBERS * 2);
    memcpy(test.trials.objective, objective, sizeof objective);
    memcpy(test.trials.constraint, constraint, sizeof constraint);
    for (int i = 0; i < MEMBERS; i++) test.trials.survived[i] = i;
    CHECK_OK(test.search.method->tell(&test.search, &test.trials));
    const Nsga2View view = nsga2_view(&test.search, 0);
    for (int i = 0; i < MEMBERS; i++) {
        const Nsga2Member member = nsga2_member(test.search.scratch, view.member, i);
        CHECK_BITS(expected[i], member.rest[NSGA2_SURVIVED]);
    }
    CHECK_INTEGER(1, view.run->front);
    CHECK_BITS(9.0, view.reference[0]); // the worst value among the members that meet the constraints
    nsga2_case_end(&test);
}

// If the spec has no reference point, the worst values of the first generation are used.
TEST(nsga2_measures_from_the_first_generation)
{
    Nsga2Case test;
    nsga2_case_start_with(&test, zdt1, 2, NULL, "nsga2: {population: 8, stop: {generations: 9}}",
                          "minimize: [f, distance]");
    (void)nsga2_case_batch(&test, 8);
    double worst[2] = {-INFINITY, -INFINITY};
    for (int t = 0; t < 8; t++) {
        for (int k = 0; k < 2; k++) worst[k] = fmax(worst[k], test.trials.objective[2 * t + k]);
    }
    nsga2_case_run(&test, 8);
    CHECK_BITS(worst[0], nsga2_view(&test.search, 0).reference[0]);
    CHECK_BITS(worst[1], nsga2_view(&test.search, 0).reference[1]);
    CHECK(nsga2_case_of(&test, 0)->hypervolume > 0.0);
    nsga2_case_end(&test);
}

static void nsga2_check_end(Nsga2Problem *problem, const char *options, Nsga2Stop stop, int64_t generations)
{
    Nsga2Case test;
    nsga2_case_start(&test, problem, options);
    CHECK(test.search.method->stopped(&test.search) == NULL);
    nsga2_case_run(&test, 50);
    CHECK_INTEGER(stop, nsga2_case_of(&test, 0)->stop);
    CHECK_TEXT(side_stop_words(nsga2_stop_names[stop]), test.search.method->stopped(&test.search));
    if (generations > 0) CHECK_INTEGER(generations, nsga2_case_of(&test, 0)->round);
    nsga2_case_end(&test);
}

TEST(nsga2_ends_with_a_named_reason)
{
    nsga2_check_end(zdt1, "population: 10, stop: {generations: 7}", NSGA2_AT_GENERATIONS, 7);
    nsga2_check_end(zdt1, "population: 10, stop: {trials: 45}", NSGA2_AT_TRIALS, 5);
    nsga2_check_end(always_fails, "population: 10, patience: 4", NSGA2_AT_ALL_FAILED, 4);
    nsga2_check_end(zdt1, "population: 40, stop: {generations: 2000, stagnation: 20}", NSGA2_AT_STAGNATION, 0);
    nsga2_check_end(always_fails, "population: 10, patience: 9, stop: {stagnation: 3}", NSGA2_AT_STAGNATION, 3);
}

TEST(nsga2_says_how_several_searches_ended)
{
    Nsga2Case test;
    nsga2_case_start(&test, zdt1, nsga2_three);
    nsga2_case_run(&test, 50);
    CHECK_TEXT("3 searches ended: 3 by generations", test.search.method->stopped(&test.search));
    nsga2_case_end(&test);
}

// ---- points ---------------------------------------------------------------------------------------------------------

static void nsga2_check_allowed(Nsga2Case *test)
{
    for (int batch = 0; batch < 30; batch++) {
        (void)nsga2_case_batch(test, 20);
        for (int64_t t = 0; t < test->trials.count; t++) {
            const double *x = test->trials.parameter + t * 2;
            CHECK(x[0] + x[1] <= 1.0);
            CHECK(x[0] >= -1.0 && x[0] <= 1.0 && x[1] >= 1e-3 && x[1] <= 5.0);
        }
    }
}

TEST(nsga2_children_that_are_excluded_are_drawn_again)
{
    Nsga2Case test, none;
    bool waiting;
    nsga2_case_start_with(&test, zdt1, 2, "x1: {range: [-1, 1]}, x2: {range: [1e-3, 5], scale: log}",
                          "exclude: [\"x1 + x2 > 1\"], nsga2: {population: 20}", "minimize: [f, distance]");
    nsga2_check_allowed(&test);
    nsga2_case_end(&test);
    nsga2_case_start_with(&none, zdt1, 2, "x1: {range: [-1, 1]}", "exclude: [\"x1 > -2\"]", "minimize: [f, distance]");
    CHECK_ERROR(ERROR_USER, none.search.method->ask(&none.search, 10, &none.trials, &waiting));
    nsga2_case_end(&none);
}

TEST(nsga2_integers_stay_whole_and_reach_their_ends)
{
    Nsga2Case test;
    bool seen[8] = {false};
    nsga2_case_start_with(&test, zdt1, 2, "x1: {range: [-3, 4], integer: true}, x2: {range: [-5, 5]}",
                          "nsga2: {population: 20, stop: {generations: 20}}", "minimize: [f, distance]");
    for (int batch = 0; batch < 20; batch++) {
        (void)nsga2_case_batch(&test, 20);
        for (int64_t t = 0; t < test.trials.count; t++) {
            const double x = test.trials.parameter[2 * t];
            CHECK(x == floor(x) && x >= -3.0 && x <= 4.0);
            seen[(int)x + 3] = true;
        }
    }
    for (int i = 0; i < 8; i++) CHECK(seen[i]);
    nsga2_case_end(&test);
}

TEST(nsga2_refuses_too_large_options)
{
    Arena arena;
    Spec spec;
    CHECK_OK(arena_create(&arena, (size_t)1 << 26, "test"));
    CHECK_ERROR(
        ERROR_USER,
        spec_parse("test.yaml",
                   "version: 1\nexperiment: test\nmodel: bbob\nsearch: {method: nsga2, over: {x1: {range: [0, 1]}},"
                   " nsga2: {population: 4096, searches: 1024}}\nobjective: {minimize: [f, distance]}\n",
                   NULL, 0, &arena, diagnostics_new(&arena), &spec));
    arena_destroy(&arena);
}
