// sobol: points that fill the ranges more evenly than random ones. Their number may grow: the first 1,000 points of
// 2,000 are the points of 1,000.
#include "sobol_sequence.h"

static const Option search_sobol_options[] = {
    {"trials", OPTION_INTEGER, "1", 1024.0, 1.0, 1e12, NULL, "how many points; powers of two are the most even"},
};

static void search_sobol_point(const Search *search, int64_t id, double *parameter)
{
    const Spec *spec = search->spec;
    for (int a = 0; a < spec->n_axes; a++) {
        const double u = sobol_coordinate(search->scratch, a, (uint64_t)id);
        parameter[spec->axes[a].parameter] = search_value(&spec->axes[a].values, u);
    }
}

static Error search_sobol_check(const Spec *spec, const char **key)
{
    *key = "search.over";
    if (spec->n_axes <= SOBOL_DIMENSIONS_MAX) return error_none();
    return error_make(ERROR_USER, "sobol searches at most %d parameters; the spec has %d", SOBOL_DIMENSIONS_MAX,
                      spec->n_axes);
}

static Error search_sobol_prepare(const Spec *spec, Arena *arena, Search *search)
{
    search->scratch = sobol_make(spec->n_axes, spec->seed, arena);
    search->total = (int64_t)spec->method_settings[0];
    return error_none();
}

const SearchMethod search_sobol = {
    .name = "sobol",
    .doc = "Sobol's sequence over ranges or values, with a digital shift; may be extended",
    .options = search_sobol_options,
    .n_options = 1,
    .wants_values = true,
    .wants_range = true,
    .check = search_sobol_check,
    ENUMERATED_METHOD,
    .prepare = search_sobol_prepare,
    .point = search_sobol_point,
};
