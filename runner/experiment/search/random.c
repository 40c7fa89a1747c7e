// random: independent draws from the axes' ranges, uniform or uniform in the logarithm, or from their values, each with
// the same chance. A draw is keyed by the seed, the trial's id and the axis (zipped axes: the first of them), so any
// trial can be drawn again alone.
#include "../experiment.h"

#include <math.h>

static const Option search_random_options[] = {
    {"trials", OPTION_INTEGER, "1", 1000.0, 1.0, 1e12, NULL, "how many trials are drawn"},
};

static double search_random_choice(const Values *values, double u)
{
    const int64_t index = (int64_t)(u * (double)values->count);
    return values_at(values, index < values->count ? index : values->count - 1);
}

// u in [0, 1) to a value of the range [low, high], both ends included.
static double search_random_in_range(const Values *values, double u)
{
    double low = values->low, high = values->high, x;
    if (values->integer) { // [low, high + 1) is cut at the integers, so each of them has the same chance
        low = ceil(low);
        high = floor(high) + 1.0;
    }
    if (values->log_scale) {
        x = portable_exp(values->log_low + u * (values->log_high - values->log_low));
    } else {
        x = low + u * (high - low);
    }
    if (values->integer) {
        x = floor(x);
        high -= 1.0;
    }
    return x < low ? low : x > high ? high : x; // the last bit of exp, or of the sum, may step over an end
}

double search_value(const Values *values, double u)
{
    return values_are_range(values) ? search_random_in_range(values, u) : search_random_choice(values, u);
}

static void search_random_point(const Search *search, int64_t id, double *parameter)
{
    const Spec *spec = search->spec;
    const RandomKey key = {.seed = spec->seed, .ordinal = (uint64_t)id, .purpose = RANDOM_SAMPLE};
    for (int a = 0; a < spec->n_axes; a++) {
        const Values *values = &spec->axes[a].values;
        const double u = random_uniform(&key, (uint32_t)search_zip_leader(spec, a));
        parameter[spec->axes[a].parameter] = search_value(values, u);
    }
}

const SearchMethod search_random = {
    .name = "random",
    .doc = "independent draws from ranges, uniform or uniform in the logarithm, or from values",
    .options = search_random_options,
    .n_options = 1,
    .wants_values = true,
    .wants_range = true,
    ENUMERATED_METHOD,
    .point = search_random_point,
};
