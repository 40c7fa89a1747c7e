// Searches that learn, shared among the threads of a team: points, ids, records and states are those of one thread,
// whatever the number of threads, the size of the batches, and what fails.
#include "../../runner/experiment/search/side_by_side.h"
#include "../test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SHARED_TRIALS = 3000, SHARED_ROUNDS = 4096, SHARED_N = 5, SHARED_TEAMS = 4, SHARED_OBJECTIVES = 2 };
static const int shared_teams[SHARED_TEAMS] = {1, 2, 3, 8};

typedef struct SharedCase {
    Arena arena, of_team;
    ThreadTeam *team;
    Spec spec;
    Search search;
    Trials trials;
    Rounds rounds;
    int64_t told;
    uint64_t sum; // of ids, ordinals and points in the order of ask
} SharedCase;

// ---- a search -------------------------------------------------------------------------------------------------------

static void shared_start(SharedCase *test, const char *search, const char *rest, int threads)
{
    *test = (SharedCase){.team = thread_team_open(threads)};
    Arena *arena = &test->arena;
    if (arena_create(arena, (size_t)1 << 28, "test").kind != OK) abort();
    Diagnostics *diagnostics = diagnostics_new(arena);
    const char *over = "";
    for (int i = 0; i < SHARED_N; i++)
        over = arena_format(arena, "%s%sx%d: {range: [-5, 5]}", over, i ? ", " : "", i + 1);
    const char *text = arena_format(arena,
                                    "version: 1\nexperiment: test\nseed: 7\nmodel: bbob\nsimulation: {dimension: %d}\n"
                                    "search: {over: {%s}, %s}\n%s",
                                    SHARED_N, over, search, rest);
    CHECK_OK(spec_parse("test.yaml", text, NULL, 0, arena, diagnostics, &test->spec));
    diagnostics_print(diagnostics, stdout, false);
    test->trials = (Trials){.capacity = SHARED_TRIALS,
                            .id = ARENA_NEW(arena, int64_t, SHARED_TRIALS),
                            .ordinal = ARENA_NEW(arena, uint64_t, SHARED_TRIALS),
                            .search = ARENA_NEW(arena, int32_t, SHARED_TRIALS),
                            .round = ARENA_NEW(arena, int32_t, SHARED_TRIALS),
                            .parameter = ARENA_NEW(arena, double, SHARED_TRIALS *SHARED_N),
                            .fitness = ARENA_NEW(arena, double, SHARED_TRIALS),
                            .objective = ARENA_NEW(arena, double, SHARED_TRIALS *SHARED_OBJECTIVES),
                            .survived = ARENA_NEW(arena, double, SHARED_TRIALS),
                            .constraint = ARENA_NEW(arena, double, SHARED_TRIALS *CONSTRAINTS_MAX)};
    CHECK_OK(search_init(&test->spec, arena, &test->search));
    test->rounds = (Rounds){.capacity = SHARED_ROUNDS,
                            .row = ARENA_NEW(arena, Round, SHARED_ROUNDS),
                            .field = ARENA_NEW(arena, double, SHARED_ROUNDS * test->search.n_round_fields)};
    test->search.rounds = &test->rounds;
    search_use_team(&test->search, test->team, &test->of_team);
}

static void shared_end(SharedCase *test)
{
    Arena arena = test->arena;
    thread_team_close(test->team);
    arena_destroy(&test->of_team);
    arena_destroy(&arena);
}

static uint64_t shared_add(uint64_t sum, const void *bytes, size_t size)
{
    const unsigned char *at = bytes;
    for (size_t i = 0; i < size; i++) sum = (sum ^ at[i]) * UINT64_C(1099511628211); // FNV-1a
    return sum;
}

// By trial, so that the sum does not depend on the batches.
static void shared_note_asked(SharedCase *test, int64_t most)
{
    const Trials *trials = &test->trials;
    for (int64_t t = 0; t < trials->count && trials->id[t] < most; t++) {
        const double numbers[] = {(double)trials->id[t], (double)trials->ordinal[t], trials->search[t],
                                  trials->round[t]};
        test->sum = shared_add(test->sum, numbers, sizeof numbers);
        test->sum = shared_add(test->sum, trials->parameter + t * SHARED_N, SHARED_N * sizeof *trials->parameter);
    }
}

// Some trials fail, and all of every third search from its third round on.
static bool shared_fails(const Trials *trials, int64_t t)
{
    return trials->id[t] % 23 == 3 || (trials->search[t] % 3 == 2 && trials->round[t] > 2);
}

static void shared_evaluate(SharedCase *test)
{
    enum { SHARED_METRICS = 8 }; // at most
    Trials *trials = &test->trials;
    CHECK(test->spec.configured.n_metrics <= SHARED_METRICS && test->spec.configured.n_parameters <= SHARED_N);
    for (int64_t t = 0; t < trials->count; t++) {
        const double *x = trials->parameter + t * SHARED_N;
        double near = 0.0, far = 0.0;
        for (int i = 0; i < SHARED_N; i++) {
            near += (i + 1) * (x[i] - 1.0) * (x[i] - 1.0);
            far += (x[i] + 1.0) * (x[i] + 1.0);
        }
        const bool fails = shared_fails(trials, t);
        trials->fitness[t] = fails ? (double)NAN : near;
        trials->objective[2 * t] = fails ? (double)NAN : near;
        trials->objective[2 * t + 1] = fails ? (double)NAN : far;
        trials->survived[t] = -fabs(x[0]);
        double scope[SHARED_METRICS + SHARED_N] = {near, far};
        memcpy(scope + test->spec.configured.n_metrics, x, SHARED_N * sizeof *scope);
        for (int i = 0; i < test->spec.n_constraints; i++)
            trials->constraint[t * test->spec.n_constraints + i] = constraint_value(test->spec.constraints[i], scope);
    }
}

static void shared_run(SharedCase *test, int64_t batch, int64_t trials)
{
    for (bool waiting = false; test->told < trials;) {
        CHECK_OK(test->search.method->ask(&test->search, batch, &test->trials, &waiting));
        if (test->trials.count == 0) break;
        shared_note_asked(test, trials);
        shared_evaluate(test);
        CHECK_OK(test->search.method->tell(&test->search, &test->trials));
        test->told += test->trials.count;
    }
}

// ---- comparisons ----------------------------------------------------------------------------------------------------

static bool shared_same_rounds(const SharedCase *a, const SharedCase *b)
{
    if (a->rounds.count != b->rounds.count) return false;
    const size_t count = (size_t)a->rounds.count;
    for (size_t i = 0; i < count; i++) {
        const Round *x = &a->rounds.row[i], *y = &b->rounds.row[i];
        if (x->search != y->search || x->round != y->round || x->evaluations != y->evaluations || x->stop != y->stop)
            return false;
    }
    const size_t bytes = count * (size_t)a->search.n_round_fields * sizeof(double);
    return memcmp(a->rounds.field, b->rounds.field, bytes) == 0;
}

static void shared_compare(const SharedCase *one, const SharedCase *many)
{
    CHECK_INTEGER(one->told, many->told);
    CHECK(one->sum == many->sum);
    CHECK(shared_same_rounds(one, many));
    CHECK(one->search.state_size == many->search.state_size &&
          memcmp(one->search.state, many->search.state, one->search.state_size) == 0);
}

// The same batches by every team. What is asked for is the same in all batches, too.
static void shared_try(const char *search, const char *rest, int64_t trials)
{
    static const int64_t batches[] = {SHARED_TRIALS, 1000, 77};
    SharedCase one, many;
    uint64_t sum = 0;
    for (size_t b = 0; b < sizeof batches / sizeof *batches; b++) {
        shared_start(&one, search, rest, 1);
        shared_run(&one, batches[b], trials);
        CHECK(one.rounds.count >= 3);
        CHECK(b == 0 || one.sum == sum);
        sum = one.sum;
        for (int t = 1; t < SHARED_TEAMS; t++) {
            shared_start(&many, search, rest, shared_teams[t]);
            shared_run(&many, batches[b], trials);
            shared_compare(&one, &many);
            shared_end(&many);
        }
        shared_end(&one);
    }
}

TEST(cmaes_searches_are_the_same_with_any_number_of_threads)
{
    const int64_t trials = test_quick() ? 6000 : 20000;
    shared_try("method: cmaes, cmaes: {searches: 13, sigma: 0.2, population: 40}", "", trials);
    shared_try("method: cmaes, cmaes: {searches: 7, restarts: bipop, restarts_max: 3, patience: 2}", "", trials);
    shared_try("method: cmaes, cmaes: {searches: 3, population: 300, bounds: penalty, covariance: separable}", "",
               trials);
    shared_try("method: cmaes, exclude: [\"x1 + x2 > 1\"], cmaes: {searches: 5, population: 64, bounds: resample}", "",
               trials);
    shared_try("method: cmaes, cmaes: {searches: 4, population: 50, uncertainty: true}",
               "replicates: {common: false}\n", trials);
    shared_try("method: cmaes, cmaes: {searches: 6, constraints: augmented_lagrangian}",
               "constraints: [\"x1 + x2 > 3\"]\n", trials);
}

// One large search: the team draws it, ranks it and adds it up.
TEST(a_large_cmaes_search_is_the_same_with_any_number_of_threads)
{
    shared_try("method: cmaes, cmaes: {population: 5003}", "", 30000);
    shared_try("method: cmaes, cmaes: {population: 4500, weights: positive, bounds: penalty}", "", 30000);
}

TEST(nsga2_searches_are_the_same_with_any_number_of_threads)
{
    const int64_t trials = test_quick() ? 6000 : 20000;
    const char *two = "objective: {minimize: [f, distance], reference: [200, 200]}\n";
    shared_try("method: nsga2, nsga2: {searches: 9, population: 60}", two, trials);
    shared_try("method: nsga2, exclude: [\"x1 + x2 > 1\"], nsga2: {searches: 4, population: 101, patience: 2}", two,
               trials);
    shared_try("method: nsga2, nsga2: {population: 1000}", two, trials);
}

TEST(descent_searches_are_the_same_with_any_number_of_threads)
{
    const int64_t trials = test_quick() ? 3000 : 10000;
    shared_try("method: adam, adam: {searches: 40, restarts: 2, stop: {iterations: 12}}", "", trials);
    shared_try("method: adam, exclude: [\"x1 + x2 > 1\"], adam: {searches: 9, schedule: cosine}",
               "constraints: [\"x1 + x2 > -3\"]\nreplicates: {common: false}\n", trials);
    shared_try("method: lbfgs, exclude: [\"x1 + x2 > 1\"], lbfgs: {searches: 40, line: 9, restarts: 16}", "", trials);
}

// ---- errors ---------------------------------------------------------------------------------------------------------

// One search of eight whose points are all excluded: the error names it, and it is the same with every team.
TEST(an_error_of_a_search_is_the_same_with_any_number_of_threads)
{
    char first[sizeof((Error){0}.text)] = "";
    for (int t = 0; t < SHARED_TEAMS; t++) {
        SharedCase test;
        bool waiting = false;
        shared_start(&test,
                     "method: cmaes, exclude: [\"x1 < 4.9999\"], cmaes: {searches: 8, population: 20, sigma: 1e-3}", "",
                     shared_teams[t]);
        const Error error = test.search.method->ask(&test.search, SHARED_TRIALS, &test.trials, &waiting);
        CHECK_SAYS(ERROR_USER, "search 0: `exclude`", error);
        if (t == 0) memcpy(first, error.text, sizeof first);
        CHECK_TEXT(first, error.text);
        shared_end(&test);
    }
}

// Results in a wrong order within a batch of many generations are refused, as by one thread.
TEST(results_out_of_order_are_refused_with_any_number_of_threads)
{
    for (int t = 0; t < SHARED_TEAMS; t++) {
        SharedCase test;
        bool waiting = false;
        shared_start(&test, "method: cmaes, cmaes: {searches: 8, population: 20}", "", shared_teams[t]);
        CHECK_OK(test.search.method->ask(&test.search, SHARED_TRIALS, &test.trials, &waiting));
        CHECK_INTEGER(160, test.trials.count);
        shared_evaluate(&test);
        test.trials.search[101]--;
        CHECK_SAYS(ERROR_MACHINE, "trial 101 of search 4", test.search.method->tell(&test.search, &test.trials));
        CHECK_INTEGER(5, test.rounds.count);
        CHECK_INTEGER(101, side_progress(&test.search)->next_id);
        shared_end(&test);
    }
}

// A process that has no memory for a team goes on alone.
TEST(a_search_without_memory_for_a_team_is_not_shared)
{
    SharedCase one, none;
    shared_start(&one, "method: cmaes, cmaes: {searches: 13, population: 40}", "", 1);
    shared_run(&one, 500, 3000);
    shared_start(&none, "method: cmaes, cmaes: {searches: 13, population: 40}", "", 1);
    none.search.team = thread_team_open(3); // without search_use_team
    shared_run(&none, 500, 3000);
    shared_compare(&one, &none);
    thread_team_close(none.search.team);
    shared_end(&none);
    shared_end(&one);
}
