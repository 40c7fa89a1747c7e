// grid: every combination of the axes' values. The id of a trial is its index in the full product, before `exclude`:
// the first axis in the spec varies slowest, the last one fastest, and axes that are zipped count as one, at the index
// of the first of them. Nothing is expanded: an id is taken apart by mixed radix (Knuth, TAOCP vol. 2, 4.1).
//
// A union has such a product for each of its grids, one after the other. If several ids have the same point, the first
// stands for it: the id with the first value of an axis whose condition does not hold, the id of the first grid. The
// other ids are gaps; an id alone says whether it is one.
#include "../experiment.h"

// The index of an axis' value in an id is (id / stride) mod count. count 0: the axis is not in the grid.
typedef struct SearchGridDigit {
    int64_t stride, count;
} SearchGridDigit;

typedef struct SearchGridProduct {
    const Values *values; // [n_axes]
    const int *zip;       // [n_axes]
    SearchGridDigit *digits;
    int64_t first, count; // ids [first, first + count)
} SearchGridProduct;

typedef struct SearchGrid {
    SearchGridProduct *products;
    int n_products;
} SearchGrid;

// ---- points ---------------------------------------------------------------------------------------------------------

static int search_grid_product(const SearchGrid *grid, int64_t id)
{
    int low = 0, high = grid->n_products - 1;
    while (low < high) {
        const int middle = (low + high + 1) / 2;
        if (grid->products[middle].first <= id)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

static int64_t search_grid_index(const SearchGridProduct *product, int axis, int64_t id)
{
    return (id - product->first) / product->digits[axis].stride % product->digits[axis].count;
}

static void search_grid_point(const Search *search, int64_t id, double *parameter)
{
    const Spec *spec = search->spec;
    const SearchGrid *grid = search->scratch;
    const SearchGridProduct *product = &grid->products[search_grid_product(grid, id)];
    for (int a = 0; a < spec->n_axes; a++) {
        if (product->digits[a].count == 0) continue;
        parameter[spec->axes[a].parameter] = values_at(&product->values[a], search_grid_index(product, a, id));
    }
}

// ---- indices of points ----------------------------------------------------------------------------------------------

// Whether the axes that are zipped with `leader` have the point's values at that index.
static bool search_grid_agrees(const Spec *spec, const SearchGridProduct *product, int leader, int64_t index,
                               const double *parameter)
{
    for (int a = leader; a < spec->n_axes; a++) {
        if (product->zip[a] != product->zip[leader]) continue;
        if (values_at(&product->values[a], index) != parameter[spec->axes[a].parameter]) return false;
    }
    return true;
}

static int64_t search_grid_find_index(const Spec *spec, const SearchGridProduct *product, int leader,
                                      const double *parameter, int64_t hint)
{
    const Values *values = &product->values[leader];
    if (product->zip[leader] < 0) return values_find(values, parameter[spec->axes[leader].parameter], hint);
    if (search_grid_agrees(spec, product, leader, hint, parameter)) return hint;
    for (int64_t index = 0; index < values->count; index++) {
        if (search_grid_agrees(spec, product, leader, index, parameter)) return index;
    }
    return -1;
}

// Whether the axis has its fixed value here because its condition does not hold.
static bool search_grid_stands(const Spec *spec, int axis, const double *parameter)
{
    for (int w = 0; w < spec->n_when; w++) {
        if (spec->when[w].axis == axis) return !search_counts(spec, w, parameter);
    }
    return false;
}

static bool search_grid_leads(const SearchGridProduct *product, int axis)
{
    for (int a = 0; a < axis; a++) {
        if (product->zip[axis] >= 0 && product->zip[a] == product->zip[axis]) return false;
    }
    return true;
}

// The id of the point in one product; -1: none.
static int64_t search_grid_find_in(const Spec *spec, const SearchGridProduct *product, const double *parameter,
                                   int64_t hint)
{
    int64_t id = product->first;
    const bool inside = hint >= product->first && hint < product->first + product->count;
    for (int a = 0; a < spec->n_axes; a++) {
        const int p = spec->axes[a].parameter;
        if (product->digits[a].count == 0 || search_grid_stands(spec, a, parameter)) {
            if (spec->fixed[p] != parameter[p]) return -1;
        } else if (search_grid_leads(product, a)) {
            const int64_t guess = inside ? search_grid_index(product, a, hint) : 0;
            const int64_t index = search_grid_find_index(spec, product, a, parameter, guess);
            if (index < 0) return -1;
            id += index * product->digits[a].stride;
        }
    }
    return id;
}

static int64_t search_grid_find(const Search *search, const double *parameter, int64_t hint)
{
    const SearchGrid *grid = search->scratch;
    for (int b = 0; b < grid->n_products; b++) {
        const int64_t id = search_grid_find_in(search->spec, &grid->products[b], parameter, hint);
        if (id >= 0) return id;
    }
    return -1;
}

// Whether an id before this one has the same point.
static bool search_grid_repeats(const Search *search, int64_t id, const double *parameter)
{
    const Spec *spec = search->spec;
    const SearchGrid *grid = search->scratch;
    const int own = search_grid_product(grid, id);
    const SearchGridProduct *product = &grid->products[own];
    for (int w = 0; w < spec->n_when; w++) {
        const int axis = spec->when[w].axis;
        if (product->digits[axis].count > 0 && search_grid_index(product, axis, id) > 0 &&
            !search_counts(spec, w, parameter))
            return true;
    }
    for (int b = 0; b < own; b++) {
        if (search_grid_find_in(spec, &grid->products[b], parameter, -1) >= 0) return true;
    }
    return false;
}

// ---- init -----------------------------------------------------------------------------------------------------------

static Error search_grid_measure(const Spec *spec, Arena *arena, SearchGridProduct *product)
{
    product->digits = ARENA_NEW(arena, SearchGridDigit, spec->n_axes);
    product->count = 1;
    for (int a = spec->n_axes - 1; a >= 0; a--) {
        if (product->values[a].count == 0 || !search_grid_leads(product, a)) continue;
        product->digits[a] = (SearchGridDigit){.stride = product->count, .count = product->values[a].count};
        if (__builtin_mul_overflow(product->count, product->digits[a].count, &product->count))
            return enumerated_check_total(INT64_MAX);
    }
    for (int a = 0; a < spec->n_axes; a++) { // followers read the digit of their leader
        for (int leader = 0; leader < a && product->zip[a] >= 0; leader++) {
            if (product->zip[leader] == product->zip[a] && search_grid_leads(product, leader))
                product->digits[a] = product->digits[leader];
        }
    }
    return error_none();
}

// The axes themselves, if there is no union.
static UnionGrid search_grid_whole(const Spec *spec, Arena *arena)
{
    Values *values = ARENA_NEW(arena, Values, spec->n_axes);
    int *zip = ARENA_NEW(arena, int, spec->n_axes);
    for (int a = 0; a < spec->n_axes; a++) {
        values[a] = spec->axes[a].values;
        zip[a] = spec->axes[a].zip;
    }
    return (UnionGrid){.values = values, .zip = zip};
}

static Error search_grid_prepare(const Spec *spec, Arena *arena, Search *search)
{
    SearchGrid *grid = ARENA_NEW(arena, SearchGrid, 1);
    const UnionGrid whole = search_grid_whole(spec, arena);
    search->scratch = grid;
    search->total = 0;
    grid->n_products = spec->n_grids > 0 ? spec->n_grids : 1;
    grid->products = ARENA_NEW(arena, SearchGridProduct, grid->n_products);
    for (int b = 0; b < grid->n_products; b++) {
        const UnionGrid *given = spec->n_grids > 0 ? &spec->grids[b] : &whole;
        SearchGridProduct *product = &grid->products[b];
        *product = (SearchGridProduct){.values = given->values, .zip = given->zip, .first = search->total};
        TRY(search_grid_measure(spec, arena, product));
        if (__builtin_add_overflow(search->total, product->count, &search->total))
            return enumerated_check_total(INT64_MAX);
    }
    return error_none();
}

const SearchMethod search_grid = {
    .name = "grid",
    .doc = "every combination of the axes' values; the last axis varies fastest",
    .wants_values = true,
    ENUMERATED_METHOD,
    .prepare = search_grid_prepare,
    .point = search_grid_point,
    .repeats = search_grid_repeats,
    .find = search_grid_find,
};
