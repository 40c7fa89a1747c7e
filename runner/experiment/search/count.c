// How many trials a search has: its ids without those that `exclude`, the range of a derived parameter or an extension
// drops. Up to a million ids (fewer if conditions are costly) are counted one by one. More are counted from the axes
// that conditions use (count_grid.c), or estimated from a sample.
#include "../experiment.h"

enum { COUNT_EXACT_MAX = 1000000, COUNT_SAMPLE = 100000 };

int64_t count_sampled_id(const Search *search, int64_t first, int64_t end, int64_t index)
{
    const RandomKey key = {
        .seed = search->spec->seed, .search = 0xFFFF, .ordinal = (uint64_t)index, .purpose = RANDOM_SAMPLE};
    return first + (int64_t)(random_uniform(&key, 0) * (double)(end - first));
}

bool count_has(const Search *search, int64_t id, double *parameter)
{
    uint64_t ordinal;
    return search->method->trial(search, id, &ordinal, parameter).kind == OK;
}

int64_t count_looked_at(const Search *search, int64_t first, int64_t end)
{
    const bool all = end - first <= search_affordable(search, COUNT_EXACT_MAX);
    return all ? end - first : search_affordable(search, COUNT_SAMPLE);
}

int64_t count_trials(const Search *search, int64_t first, int64_t end, double *parameter, bool *estimated)
{
    const Spec *spec = search->spec;
    const int64_t ids = end - first, looked_at = count_looked_at(search, first, end);
    int64_t found = 0;
    *estimated = false;
    if (ids <= 0 || !search_drops(spec)) return ids > 0 ? ids : 0;
    if (looked_at < ids && ids == search->total && count_grid(search, &found)) return found;
    for (int64_t i = 0; i < looked_at; i++) {
        const int64_t id = looked_at == ids ? first + i : count_sampled_id(search, first, end, i);
        found += count_has(search, id, parameter);
    }
    *estimated = looked_at < ids;
    return *estimated ? (int64_t)((double)found / (double)looked_at * (double)ids) : found;
}

bool count_is_empty(const Search *search, double *parameter)
{
    const int64_t ids = search->total, looked_at = ids > 0 ? count_looked_at(search, 0, ids) : 0;
    int64_t found = 0;
    if (ids <= 0 || search_learns(search->method) || !search_drops(search->spec)) return false;
    if (looked_at < ids) return count_grid(search, &found) && found == 0;
    for (int64_t id = 0; id < ids; id++) {
        if (count_has(search, id, parameter)) return false;
    }
    return true;
}
