// Perturbed replicates: the numbers that they draw, and the values that they do not change.
#include "../test.h"

#include <math.h>
#include <string.h>

enum { N = 3 };
static const Parameter parameters[N] = {
    {"a", "1", 0, -10, 10, SECTION_PARAMETERS, ""},
    {"b", "1", 0, 0.4, 0.6, SECTION_INITIAL, ""},
    {"c", "1", 0, -10, 10, SECTION_INITIAL, ""},
};
static const double trial[N] = {1, 0.5, -3};
static const Perturbation perturbations[] = {
    {.parameter = 2, .distribution = DISTRIBUTION_NORMAL, .a = 1.5, .b = 0.25},
    {.parameter = 1, .distribution = DISTRIBUTION_UNIFORM, .a = 0.45, .b = 0.55},
};

static Spec spec_of(bool common, const Perturbation *perturb, int n_perturb)
{
    Spec spec = {.seed = 42, .replicates = {.count = 8, .common = common, .perturb = perturb, .n_perturb = n_perturb}};
    spec.configured.parameters = parameters;
    spec.configured.n_parameters = N;
    return spec;
}

TEST(replicates_without_perturbation_are_the_trial)
{
    const Spec spec = spec_of(true, NULL, 0);
    double lane[N];
    for (int r = 0; r < 8; r++) {
        replicate_parameters(&spec, 0, 5, r, trial, lane);
        CHECK(memcmp(lane, trial, sizeof lane) == 0);
    }
}

TEST(replicates_draw_by_their_key)
{
    const Spec spec = spec_of(false, perturbations, 2);
    const RandomKey key = {.seed = 42, .search = 3, .ordinal = 77, .replicate = 6, .purpose = RANDOM_PERTURB};
    double lane[N];
    replicate_parameters(&spec, 3, 77, 6, trial, lane);
    CHECK_BITS(1.0, lane[0]);
    CHECK_BITS(1.5 + 0.25 * random_normal(&key, 0), lane[2]);
    CHECK_BITS(0.45 + (0.55 - 0.45) * random_uniform(&key, 1), lane[1]);
}

TEST(replicates_common_numbers_are_the_same_in_every_trial)
{
    const Spec common = spec_of(true, perturbations, 2), own = spec_of(false, perturbations, 2);
    double one[N], other[N];
    for (int r = 0; r < 8; r++) {
        replicate_parameters(&common, 0, 1, r, trial, one);
        replicate_parameters(&common, 0, 2, r, trial, other);
        CHECK(memcmp(one, other, sizeof one) == 0);
        replicate_parameters(&own, 0, 2, r, trial, other);
        CHECK(one[1] != other[1] && one[2] != other[2]);
        replicate_parameters(&common, 0, 2, r + 1, trial, other);
        CHECK(one[1] != other[1] && one[2] != other[2]);
    }
}

TEST(replicates_are_clamped_to_the_range)
{
    static const Perturbation wide[] = {{.parameter = 1, .distribution = DISTRIBUTION_NORMAL, .a = 0.5, .b = 10}};
    const Spec spec = spec_of(true, wide, 1);
    int at_low = 0, at_high = 0;
    for (int r = 0; r < 200; r++) {
        double lane[N];
        replicate_parameters(&spec, 0, 0, r, trial, lane);
        CHECK(lane[1] >= 0.4 && lane[1] <= 0.6);
        at_low += lane[1] == 0.4;
        at_high += lane[1] == 0.6;
    }
    CHECK(at_low > 50 && at_high > 50);
}

TEST(replicates_draw_their_own_seeds)
{
    static const Parameter seeded[] = {{"a", "1", 0, -10, 10, SECTION_PARAMETERS, ""},
                                       {"seed", "1", 0, 0, 9007199254740991.0, SECTION_SEED, ""}};
    Spec spec = spec_of(true, NULL, 0), own = spec_of(false, NULL, 0);
    spec.configured.parameters = own.configured.parameters = seeded;
    spec.configured.n_parameters = own.configured.n_parameters = 2;
    CHECK_INTEGER(1, configured_named(&spec.configured));
    const RandomKey key = {.seed = 42, .replicate = 3, .purpose = RANDOM_DISTURB};
    double lane[2], other[2];
    const double given[2] = {1.0, 0.0};
    replicate_parameters(&spec, 0, 7, 3, given, lane);
    CHECK_BITS(1.0, lane[0]);
    CHECK_BITS(0x1p53 * random_uniform(&key, 0), lane[1]);
    CHECK_BITS(floor(lane[1]), lane[1]);
    replicate_parameters(&spec, 0, 8, 3, given, other); // the same numbers in every trial
    CHECK_BITS(lane[1], other[1]);
    replicate_parameters(&spec, 0, 7, 4, given, other);
    CHECK(lane[1] != other[1]);
    replicate_parameters(&own, 0, 8, 3, given, other);
    CHECK(lane[1] != other[1]);
}
