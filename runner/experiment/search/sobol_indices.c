// sobol_indices: how much of the fitness' variance each parameter explains alone (first_order) and with all others
// (total). A group of k + 2 trials is a point of A, one of B, and A with each coordinate from B (A. Saltelli et al.,
// Comput. Phys. Commun. 181, 2010, table 2: the estimators b for the first order and f, of Jansen, for the total one).
// A and B are the halves of a Sobol sequence of 2k coordinates.
//
// Intervals: group b is point b div 8 of scrambling b mod 8 of the sequence, so there are 8 independent estimates.
// Within one of them points depend on each other, and that is why a bootstrap of groups gives too wide an interval.
#include "sobol_sequence.h"

#include <math.h>

enum { SOBOL_INDICES_FIRST_ORDER, SOBOL_INDICES_TOTAL, SOBOL_INDICES_MEASURES };
enum { SOBOL_SCRAMBLINGS = 8 };

static const Option sobol_indices_options[] = {
    {"samples", OPTION_INTEGER, "1", 1024, 8, 1e9, NULL,
     "N, of N (k + 2) trials for k parameters: best 8 times a power of 2, since 8 scramblings share them"},
};

typedef struct SobolIndices {
    const Sobol *sobol;
    uint64_t *keys; // [SOBOL_SCRAMBLINGS][2k]
} SobolIndices;

static void sobol_indices_point(const Search *search, int64_t id, double *parameter)
{
    const Spec *spec = search->spec;
    const SobolIndices *indices = search->scratch;
    const int k = spec->n_axes;
    const int64_t group = id / (k + 2), which = id % (k + 2); // 0: A, 1: B, 2 + a: A with coordinate a from B
    const uint64_t *keys = indices->keys + group % SOBOL_SCRAMBLINGS * (2 * k);
    for (int a = 0; a < k; a++) {
        const bool from_B = which == 1 || which == 2 + a;
        const int d = from_B ? k + a : a;
        const double u = sobol_scrambled(indices->sobol, d, (uint64_t)(group / SOBOL_SCRAMBLINGS), keys[d]);
        parameter[spec->axes[a].parameter] = search_value(&spec->axes[a].values, u);
    }
}

// ---- measures -------------------------------------------------------------------------------------------------------

static int64_t sobol_indices_group(const Spec *spec) { return spec->n_axes + 2; }

// Of one parameter, a sum per scrambling: of the shares of the variance that it explains, and of the whole variance.
typedef struct SobolSums {
    double share[SOBOL_INDICES_MEASURES][SOBOL_SCRAMBLINGS], variance[SOBOL_SCRAMBLINGS];
    bool some[SOBOL_SCRAMBLINGS];
} SobolSums;

// Mean of A's and B's values together.
static double sobol_indices_mean(const SensitivityGroups *groups, int64_t group)
{
    double mean = 0.0;
    for (int64_t b = 0; b < groups->count; b++) {
        const double *fitness = groups->fitness + groups->chosen[b] * group;
        mean += (fitness[0] + fitness[1]) / (2.0 * (double)groups->count);
    }
    return mean;
}

static SobolSums sobol_indices_sums(const SensitivityGroups *groups, int64_t group, int axis, double mean)
{
    SobolSums sums = {0};
    for (int64_t b = 0; b < groups->count; b++) {
        const double *fitness = groups->fitness + groups->chosen[b] * group;
        const double A = fitness[0] - mean, B = fitness[1] - mean, mixed = fitness[2 + axis] - mean;
        const int64_t s = groups->chosen[b] % SOBOL_SCRAMBLINGS;
        sums.share[SOBOL_INDICES_FIRST_ORDER][s] += B * (mixed - A);
        sums.share[SOBOL_INDICES_TOTAL][s] += (A - mixed) * (A - mixed) / 2.0;
        sums.variance[s] += (A * A + B * B) / 2.0;
        sums.some[s] = true;
    }
    return sums;
}

static double sobol_indices_total(const double *sums)
{
    double total = 0.0;
    for (int s = 0; s < SOBOL_SCRAMBLINGS; s++) total += sums[s];
    return total;
}

static void sobol_indices_measure(const Search *search, const SensitivityGroups *groups, double *out)
{
    const int64_t group = sobol_indices_group(search->spec);
    const double mean = sobol_indices_mean(groups, group);
    for (int a = 0; a < search->spec->n_axes; a++) {
        const SobolSums sums = sobol_indices_sums(groups, group, a, mean);
        for (int m = 0; m < SOBOL_INDICES_MEASURES; m++)
            out[a * SOBOL_INDICES_MEASURES + m] =
                sobol_indices_total(sums.share[m]) / sobol_indices_total(sums.variance);
    }
}

// Student's interval of a ratio of two sums (W. G. Cochran, Sampling Techniques, 3rd ed. 1977, section 6.3): of its
// residuals share - index variance, which are independent among scramblings.
static void sobol_indices_interval(const Search *search, const SensitivityGroups *groups, double *low, double *high)
{
    // 0.975-quantiles for 1, 2, ... degrees of freedom
    static const double student[SOBOL_SCRAMBLINGS - 1] = {12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646};
    const int64_t group = sobol_indices_group(search->spec);
    const double mean = sobol_indices_mean(groups, group);
    for (int a = 0; a < search->spec->n_axes; a++) {
        const SobolSums sums = sobol_indices_sums(groups, group, a, mean);
        const double variance = sobol_indices_total(sums.variance);
        for (int m = 0; m < SOBOL_INDICES_MEASURES; m++) {
            const double index = sobol_indices_total(sums.share[m]) / variance;
            double squares = 0.0, half = (double)NAN;
            int count = 0;
            for (int s = 0; s < SOBOL_SCRAMBLINGS; s++) {
                const double residual = sums.share[m][s] - index * sums.variance[s];
                squares += residual * residual;
                count += sums.some[s];
            }
            if (count > 1) half = student[count - 2] * sqrt(squares * count / (count - 1)) / variance;
            low[a * SOBOL_INDICES_MEASURES + m] = index - half;
            high[a * SOBOL_INDICES_MEASURES + m] = index + half;
        }
    }
}

static const char *const sobol_indices_measures[SOBOL_INDICES_MEASURES] = {"first_order", "total"};
static const Sensitivity sobol_indices_sensitivity = {sobol_indices_measures, SOBOL_INDICES_MEASURES,
                                                      SOBOL_INDICES_TOTAL,    sobol_indices_group,
                                                      sobol_indices_measure,  sobol_indices_interval};

static Error sobol_indices_check(const Spec *spec, const char **key)
{
    *key = "search.over";
    if (2 * spec->n_axes <= SOBOL_DIMENSIONS_MAX) return error_none();
    return error_make(ERROR_USER, "sobol_indices searches at most %d parameters; the spec has %d",
                      SOBOL_DIMENSIONS_MAX / 2, spec->n_axes);
}

static Error sobol_indices_prepare(const Spec *spec, Arena *arena, Search *search)
{
    const int dimensions = 2 * spec->n_axes;
    SobolIndices *indices = ARENA_NEW(arena, SobolIndices, 1);
    indices->sobol = sobol_make(dimensions, spec->seed, arena);
    indices->keys = ARENA_NEW(arena, uint64_t, SOBOL_SCRAMBLINGS * dimensions);
    for (int s = 0; s < SOBOL_SCRAMBLINGS; s++) {
        for (int d = 0; d < dimensions; d++) indices->keys[s * dimensions + d] = sobol_key(spec->seed, s, d);
    }
    search->scratch = indices;
    search->total = (int64_t)spec->method_settings[0] * sobol_indices_group(spec);
    return error_none();
}

const SearchMethod search_sobol_indices = {
    .name = "sobol_indices",
    .doc =
        "first-order and total indices of each parameter, for sensitivity: shares of the variance of the fitness that "
        "it explains alone, and together with others",
    .options = sobol_indices_options,
    .n_options = 1,
    .wants_range = true,
    .sensitivity = &sobol_indices_sensitivity,
    .check = sobol_indices_check,
    ENUMERATED_METHOD,
    .prepare = sobol_indices_prepare,
    .point = sobol_indices_point,
};
