// grid: every combination of the axes' values. The id of a trial is its place in the full product, before `exclude`:
// the first axis in the spec varies slowest, the last one fastest, and axes that are zipped count as one, at the place
// of the first of them. Nothing is expanded: an id is taken apart by mixed radix (Knuth, TAOCP vol. 2, 4.1).
#include "runner.h"

// How one axis reads its value's index from an id: (id / stride) mod count.
typedef struct SearchGridDigit {
    int64_t stride, count;
} SearchGridDigit;

static void search_grid_point(const Search *search, const void *data, int64_t id, double *parameter)
{
    const Spec *spec = search->spec;
    const SearchGridDigit *digits = data;
    for (int a = 0; a < spec->n_axes; a++) {
        const int64_t index = id / digits[a].stride % digits[a].count;
        parameter[spec->axes[a].parameter] = values_at(&spec->axes[a].values, index);
    }
}

static Error search_grid_init(const Spec *spec, Arena *arena, Search *search)
{
    SearchGridDigit *digits = ARENA_NEW(arena, SearchGridDigit, spec->n_axes);
    int64_t product = 1;
    for (int a = spec->n_axes - 1; a >= 0; a--) {
        if (search_zip_leader(spec, a) != a) continue;
        digits[a] = (SearchGridDigit){.stride = product, .count = spec->axes[a].values.count};
        if (__builtin_mul_overflow(product, digits[a].count, &product)) {
            return error_make(ERROR_USER, "search.over: the grid has more than 2^63 points; use fewer values");
        }
    }
    for (int a = 0; a < spec->n_axes; a++) digits[a] = digits[search_zip_leader(spec, a)];
    return enumerated_init((Enumeration){search_grid_point, digits}, product, arena, search);
}

const SearchMethod search_grid = {
    .name = "grid",
    .doc = "every combination of the axes' values; the last axis varies fastest",
    .wants_values = true,
    .init = search_grid_init,
    .ask = enumerated_ask,
    .tell = enumerated_tell,
    .restore = enumerated_restore,
    .trial = enumerated_trial,
    .stopped = enumerated_stopped,
};
