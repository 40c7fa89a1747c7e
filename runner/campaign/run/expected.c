// See expected.h.
#include "expected.h"

int64_t expected_trials(const Search *search, int64_t done, Arena *arena, int64_t *most)
{
    const Spec *spec = search->spec;
    double *parameter = ARENA_NEW(arena, double, spec->configured.n_parameters);
    bool estimated = false;
    const SearchBounds bounds = search_bounds(search);
    *most = 0;
    if (search->total < 0) {
        const bool exact = bounds.least.trials >= bounds.most.trials;
        const int64_t trials = bounds.most.trials < 9e18 ? (int64_t)bounds.most.trials : INT64_MAX;
        if (!exact && !bounds.open) *most = trials;
        return exact ? trials : -1;
    }
    int64_t all = 0;
    if (spec->part.count == 0 && search_drops(spec) && count_grid(search, &all)) return all;
    const int64_t left = count_trials(search, search->asked, search->end, parameter, &estimated);
    return estimated && left == 0 ? -1 : done + left; // a sample without a trial gives no estimate
}
