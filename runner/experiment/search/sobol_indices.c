// sobol_indices: how much of the fitness' variance each parameter explains alone (first_order) and with all others
// (total). A block of k + 2 trials is a point of A, one of B, and A with each coordinate from B (A. Saltelli et al.,
// Comput. Phys. Commun. 181, 2010, table 2: the estimators b for the first order and f, of Jansen, for the total one);
// A and B are the halves of a Sobol sequence of 2k coordinates.
#include "sobol_sequence.h"

#include <math.h>

enum { SOBOL_INDICES_FIRST_ORDER, SOBOL_INDICES_TOTAL, SOBOL_INDICES_MEASURES };

static const Option sobol_indices_options[] = {
    {"samples", OPTION_INTEGER, "1", 1024, 8, 1e9, NULL, "N, of N (k + 2) trials for k parameters"},
};

static void sobol_indices_point(const Search *search, int64_t id, double *parameter)
{
    const Spec *spec = search->spec;
    const int k = spec->n_axes;
    const int64_t point = id / (k + 2), which = id % (k + 2); // 0: A, 1: B, 2 + a: A with coordinate a from B
    for (int a = 0; a < k; a++) {
        const bool from_B = which == 1 || which == 2 + a;
        const double u = sobol_coordinate(search->scratch, from_B ? k + a : a, (uint64_t)point);
        parameter[spec->axes[a].parameter] = search_value(&spec->axes[a].values, u);
    }
}

// Mean and variance of A's and B's values together.
static void sobol_indices_moments(const SensitivityBlocks *blocks, int64_t block, double *mean, double *variance)
{
    const double n = 2.0 * (double)blocks->count;
    *mean = *variance = 0.0;
    for (int64_t b = 0; b < blocks->count; b++) {
        const double *fitness = blocks->fitness + blocks->chosen[b] * block;
        *mean += (fitness[0] + fitness[1]) / n;
    }
    for (int64_t b = 0; b < blocks->count; b++) {
        const double *fitness = blocks->fitness + blocks->chosen[b] * block;
        for (int i = 0; i < 2; i++) *variance += (fitness[i] - *mean) * (fitness[i] - *mean) / (n - 1.0);
    }
}

static int64_t sobol_indices_block(const Spec *spec) { return spec->n_axes + 2; }

static void sobol_indices_measure(const Search *search, const SensitivityBlocks *blocks, double *out)
{
    const int64_t block = sobol_indices_block(search->spec);
    double mean, variance;
    sobol_indices_moments(blocks, block, &mean, &variance);
    for (int a = 0; a < search->spec->n_axes; a++) {
        double first = 0.0, total = 0.0;
        for (int64_t b = 0; b < blocks->count; b++) {
            const double *fitness = blocks->fitness + blocks->chosen[b] * block;
            const double mixed = fitness[2 + a];
            first += (fitness[1] - mean) * (mixed - fitness[0]);
            total += (fitness[0] - mixed) * (fitness[0] - mixed);
        }
        out[a * SOBOL_INDICES_MEASURES + SOBOL_INDICES_FIRST_ORDER] = first / (double)blocks->count / variance;
        out[a * SOBOL_INDICES_MEASURES + SOBOL_INDICES_TOTAL] = total / (2.0 * (double)blocks->count) / variance;
    }
}

static const char *const sobol_indices_measures[SOBOL_INDICES_MEASURES] = {"first_order", "total"};
static const Sensitivity sobol_indices_sensitivity = {sobol_indices_measures, SOBOL_INDICES_MEASURES,
                                                      SOBOL_INDICES_TOTAL, sobol_indices_block, sobol_indices_measure};

static Error sobol_indices_check(const Spec *spec, const char **key)
{
    *key = "search.over";
    if (2 * spec->n_axes <= SOBOL_DIMENSIONS_MAX) return error_none();
    return error_make(ERROR_USER, "sobol_indices searches at most %d parameters; the spec has %d",
                      SOBOL_DIMENSIONS_MAX / 2, spec->n_axes);
}

static Error sobol_indices_prepare(const Spec *spec, Arena *arena, Search *search)
{
    search->scratch = sobol_make(2 * spec->n_axes, spec->seed, arena);
    search->total = (int64_t)spec->method_settings[0] * sobol_indices_block(spec);
    return error_none();
}

const SearchMethod search_sobol_indices = {
    .name = "sobol_indices",
    .doc = "first-order and total indices of each parameter, for sensitivity",
    .options = sobol_indices_options,
    .n_options = 1,
    .wants_range = true,
    .sensitivity = &sobol_indices_sensitivity,
    .check = sobol_indices_check,
    ENUMERATED_METHOD,
    .prepare = sobol_indices_prepare,
    .point = sobol_indices_point,
};
