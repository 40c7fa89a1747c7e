// Intervals of sobol_indices: how often they cover the indices of two functions whose indices are known. SEEDS=200
// takes all sizes: `make sensitivity`.
#include "../../runner/experiment/experiment.h"
#include "../test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { COVERAGE_AXES = 8, COVERAGE_MEASURES = 2 * COVERAGE_AXES };

// A function of u in [0, 1]^n, with its first-order and total indices, [n][2].
typedef struct CoverageCase {
    const char *name;
    int n;
    double (*f)(const double *u);
    double index[COVERAGE_MEASURES];
} CoverageCase;

// T. Ishigami & T. Homma, ISUMA 1990, with a = 7, b = 0.1.
static double coverage_ishigami(const double *u)
{
    double x[3];
    for (int i = 0; i < 3; i++) x[i] = M_PI * (2.0 * u[i] - 1.0);
    return sin(x[0]) + 7.0 * sin(x[1]) * sin(x[1]) + 0.1 * pow(x[2], 4.0) * sin(x[0]);
}

static CoverageCase coverage_case_ishigami(void)
{
    const double a = 7.0, b = 0.1, fourth = pow(M_PI, 4.0), eighth = fourth * fourth;
    const double v1 = (1.0 + b * fourth / 5.0) * (1.0 + b * fourth / 5.0) / 2.0, v2 = a * a / 8.0;
    const double v13 = b * b * eighth * (1.0 / 18.0 - 1.0 / 50.0), v = v1 + v2 + v13;
    return (CoverageCase){"Ishigami", 3, coverage_ishigami, {v1 / v, (v1 + v13) / v, v2 / v, v2 / v, 0.0, v13 / v}};
}

// I. M. Sobol's g-function: A. Saltelli & I. M. Sobol, Reliability Engineering & System Safety 50, 1995.
static const double coverage_a[COVERAGE_AXES] = {0, 1, 4.5, 9, 99, 99, 99, 99};

static double coverage_g(const double *u)
{
    double g = 1.0;
    for (int i = 0; i < COVERAGE_AXES; i++) g *= (fabs(4.0 * u[i] - 2.0) + coverage_a[i]) / (1.0 + coverage_a[i]);
    return g;
}

static CoverageCase coverage_case_g(void)
{
    CoverageCase g = {"g-function", COVERAGE_AXES, coverage_g, {0.0}};
    double part[COVERAGE_AXES], all = 1.0;
    for (int i = 0; i < COVERAGE_AXES; i++) {
        part[i] = 1.0 / (3.0 * (1.0 + coverage_a[i]) * (1.0 + coverage_a[i]));
        all *= 1.0 + part[i];
    }
    for (int i = 0; i < COVERAGE_AXES; i++) {
        g.index[2 * i] = part[i] / (all - 1.0);
        g.index[2 * i + 1] = part[i] * all / (1.0 + part[i]) / (all - 1.0);
    }
    return g;
}

// The campaign's search without a campaign: points, fitnesses, intervals.
static void coverage_of_seed(const CoverageCase *of, const Spec *spec, Arena *arena, int64_t *covered)
{
    Search search;
    const size_t used = arena->used;
    double u[64], low[COVERAGE_MEASURES], high[COVERAGE_MEASURES];
    uint64_t ordinal;
    CHECK_OK(search_init(spec, arena, &search));
    double *fitness = ARENA_NEW(arena, double, search.total);
    for (int64_t id = 0; id < search.total; id++) {
        CHECK_OK(spec->method->trial(&search, id, &ordinal, u));
        fitness[id] = of->f(u);
    }
    const int64_t blocks = search.total / (of->n + 2);
    int64_t *chosen = ARENA_NEW(arena, int64_t, blocks);
    for (int64_t b = 0; b < blocks; b++) chosen[b] = b;
    spec->method->sensitivity->interval(&search, &(SensitivityGroups){fitness, chosen, blocks}, low, high);
    for (int i = 0; i < 2 * of->n; i++) covered[i] += low[i] <= of->index[i] && of->index[i] <= high[i];
    arena_rewind(arena, used);
}

// Coverage of nominal 95 % over `seeds` seeds: of all indices of a kind together from 90 to 98 %, of each alone within
// what chance allows (four standard errors).
static void coverage_check(const CoverageCase *of, int samples, int seeds)
{
    Arena arena;
    Spec spec;
    CHECK_OK(arena_create(&arena, (size_t)1 << 28, "test"));
    Diagnostics *diagnostics = diagnostics_new(&arena);
    const char *axes = "";
    for (int i = 1; i <= of->n; i++)
        axes = arena_format(&arena, "%s%sx%d: {range: [0, 1]}", axes, i > 1 ? ", " : "", i);
    const char *text = arena_format(&arena,
                                    "version: 1\nexperiment: c\nmodel: bbob\nsimulation: {dimension: %d}\n"
                                    "search: {method: sobol_indices, samples: %d, over: {%s}}\n",
                                    of->n, samples, axes);
    CHECK_OK(spec_parse("test.yaml", text, NULL, 0, &arena, diagnostics, &spec));
    int64_t covered[COVERAGE_MEASURES] = {0};
    for (int s = 0; s < seeds; s++) {
        spec.seed = (uint64_t)s;
        coverage_of_seed(of, &spec, &arena, covered);
    }
    for (int m = 0; m < 2; m++) {
        double all = 0.0, least = 1.0, most = 0.0;
        for (int i = 0; i < of->n; i++) {
            const double part = (double)covered[2 * i + m] / seeds;
            all += part / of->n;
            least = fmin(least, part);
            most = fmax(most, part);
        }
        printf("%s, %d samples, %s: covered %.1f %%, of one parameter %.1f to %.1f %%\n", of->name, samples,
               m == 0 ? "first order" : "total", 100.0 * all, 100.0 * least, 100.0 * most);
        CHECK(all >= 0.90 && all <= 0.98);
        CHECK(least >= 0.95 - 4.0 * sqrt(0.95 * 0.05 / seeds));
    }
    arena_destroy(&arena);
}

static int coverage_seeds(void)
{
    const char *text = getenv("SEEDS");
    return text != NULL ? atoi(text) : 0;
}

TEST(sobol_indices_intervals_cover_the_indices_of_ishigami)
{
    const CoverageCase of = coverage_case_ishigami();
    const int seeds = coverage_seeds(), most = seeds > 0 ? 4096 : 512;
    for (int n = 256; n <= most; n *= 2) coverage_check(&of, n, seeds > 0 ? seeds : 200);
}

TEST(sobol_indices_intervals_cover_the_indices_of_the_g_function)
{
    const CoverageCase of = coverage_case_g();
    const int seeds = coverage_seeds(), most = seeds > 0 ? 4096 : 256;
    for (int n = 256; n <= most; n *= 2) coverage_check(&of, n, seeds > 0 ? seeds : 200);
}
