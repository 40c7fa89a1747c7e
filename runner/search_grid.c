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

// Whether the axes that are zipped with `leader` have the point's values at that place.
static bool search_grid_agrees(const Spec *spec, int leader, int64_t place, const double *parameter)
{
    for (int a = leader; a < spec->n_axes; a++) {
        if (search_zip_leader(spec, a) != leader) continue;
        const double value = values_at(&spec->axes[a].values, place);
        const Values one = {.form = VALUES_LIST, .list = &value, .count = 1};
        if (values_find(&one, parameter[spec->axes[a].parameter], 0) != 0) return false;
    }
    return true;
}

static int64_t search_grid_place(const Spec *spec, int leader, const double *parameter, int64_t hint)
{
    const Axis *axis = &spec->axes[leader];
    if (axis->zip < 0) return values_find(&axis->values, parameter[axis->parameter], hint);
    if (search_grid_agrees(spec, leader, hint, parameter)) return hint;
    for (int64_t place = 0; place < axis->values.count; place++) {
        if (search_grid_agrees(spec, leader, place, parameter)) return place;
    }
    return -1;
}

static int64_t search_grid_find(const Search *search, const void *data, const double *parameter, int64_t hint)
{
    const Spec *spec = search->spec;
    const SearchGridDigit *digits = data;
    int64_t point = 0;
    for (int a = 0; a < spec->n_axes; a++) {
        if (search_zip_leader(spec, a) != a) continue;
        const int64_t place = search_grid_place(spec, a, parameter, hint / digits[a].stride % digits[a].count);
        if (place < 0) return -1;
        point += place * digits[a].stride;
    }
    return point;
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
    .find = search_grid_find,
};
