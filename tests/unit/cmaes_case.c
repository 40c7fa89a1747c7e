// See cmaes_case.h.
#include "cmaes_case.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- functions ------------------------------------------------------------------------------------------------------

double cmaes_sphere(const double *x, int n)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++) sum += (x[i] - 1.0) * (x[i] - 1.0);
    return sum;
}

double cmaes_ellipsoid(const double *x, int n)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++) sum += portable_pow(1e6, (double)i / (n - 1)) * (x[i] - 1.0) * (x[i] - 1.0);
    return sum;
}

double cmaes_rosenbrock(const double *x, int n)
{
    double sum = 0.0;
    for (int i = 0; i + 1 < n; i++) {
        const double bend = x[i] * x[i] - x[i + 1], rest = x[i] - 1.0;
        sum += 100.0 * bend * bend + rest * rest;
    }
    return sum;
}

double cmaes_flat(const double *x, int n)
{
    (void)x, (void)n;
    return 1.0;
}

// ---- a search -------------------------------------------------------------------------------------------------------

void cmaes_case_start_over(CmaesCase *test, CmaesFunction *function, int n, uint64_t seed, const char *over,
                           const char *rest)
{
    *test = (CmaesCase){.function = function, .n = n};
    if (arena_create(&test->arena, (size_t)1 << 28, "test").kind != OK) abort();
    Diagnostics *diagnostics = diagnostics_new(&test->arena);
    const char *text = arena_format(&test->arena,
                                    "version: 1\nexperiment: test\nseed: %llu\nmodel: bbob\n"
                                    "simulation: {dimension: %d}\nsearch: {method: cmaes, over: {%s}, %s}\n",
                                    (unsigned long long)seed, n, over, rest);
    CHECK_OK(spec_parse("test.yaml", text, NULL, 0, &test->arena, diagnostics, &test->spec));
    diagnostics_print(diagnostics, stdout, false);
    test->trials = (Trials){.capacity = CMAES_TEST_TRIALS,
                            .id = ARENA_NEW(&test->arena, int64_t, CMAES_TEST_TRIALS),
                            .ordinal = ARENA_NEW(&test->arena, uint64_t, CMAES_TEST_TRIALS),
                            .search = ARENA_NEW(&test->arena, int32_t, CMAES_TEST_TRIALS),
                            .round = ARENA_NEW(&test->arena, int32_t, CMAES_TEST_TRIALS),
                            .parameter = ARENA_NEW(&test->arena, double, CMAES_TEST_TRIALS *CMAES_TEST_N),
                            .fitness = ARENA_NEW(&test->arena, double, CMAES_TEST_TRIALS),
                            .survived = ARENA_NEW(&test->arena, double, CMAES_TEST_TRIALS),
                            .constraint = ARENA_NEW(&test->arena, double, CMAES_TEST_TRIALS *CONSTRAINTS_MAX)};
    CHECK_OK(search_init(&test->spec, &test->arena, &test->search));
}

void cmaes_case_start(CmaesCase *test, CmaesFunction *function, int n, uint64_t seed, const char *options)
{
    char over[CMAES_TEST_N * 32] = "", rest[256];
    for (int i = 0; i < n; i++) snprintf(over + strlen(over), 32, "%sx%d: {range: [-5, 5]}", i > 0 ? ", " : "", i + 1);
    snprintf(rest, sizeof rest, "cmaes: {%s}", options);
    cmaes_case_start_over(test, function, n, seed, over, rest);
}

void cmaes_case_end(CmaesCase *test)
{
    Arena arena = test->arena;
    arena_destroy(&arena);
}

enum { CMAES_CASE_SCOPE = 512 };

bool cmaes_case_batch(CmaesCase *test, int64_t most)
{
    bool waiting = false;
    Trials *trials = &test->trials;
    CHECK_OK(test->search.method->ask(&test->search, most, trials, &waiting));
    for (int64_t t = 0; t < trials->count; t++) {
        const double *x = trials->parameter + t * test->n;
        trials->fitness[t] = test->function(x, test->n);
        trials->survived[t] = -fabs(x[0]);
        double scope[CMAES_CASE_SCOPE] = {trials->fitness[t]}; // f, and other metrics that no constraint uses
        memcpy(scope + test->spec.configured.n_metrics, x, (size_t)test->n * sizeof *scope);
        for (int i = 0; i < test->spec.n_constraints; i++)
            trials->constraint[t * test->spec.n_constraints + i] = constraint_value(test->spec.constraints[i], scope);
    }
    test->evaluations += trials->count;
    CHECK_OK(test->search.method->tell(&test->search, trials));
    return trials->count > 0 || waiting;
}

void cmaes_case_run(CmaesCase *test, int64_t most)
{
    while (cmaes_case_batch(test, most)) {
    }
}

const CmaesRun *cmaes_case_of(const CmaesCase *test, int64_t search) { return cmaes_view(&test->search, search).run; }

bool cmaes_same_state(const CmaesCase *a, const CmaesCase *b)
{
    return a->search.state_size == b->search.state_size &&
           memcmp(a->search.state, b->search.state, a->search.state_size) == 0;
}

void cmaes_case_run_in_pieces(CmaesCase *test, int64_t most)
{
    for (bool more = true; more;) {
        Search next;
        more = cmaes_case_batch(test, most);
        CHECK_OK(search_init(&test->spec, &test->arena, &next));
        memcpy(next.state, test->search.state, test->search.state_size);
        next.state_size = test->search.state_size;
        CHECK_OK(next.method->restore(&next));
        test->search = next;
    }
}
