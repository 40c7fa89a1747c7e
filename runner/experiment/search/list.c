// list and csv: the points of the spec or of a file, in their order; the id of a trial is the index of its point.
#include "../experiment.h"

static void search_list_point(const Search *search, int64_t id, double *parameter)
{
    const Spec *spec = search->spec;
    const double *point = spec->points + id * spec->n_axes; // [n_axes]
    for (int a = 0; a < spec->n_axes; a++) parameter[spec->axes[a].parameter] = point[a];
}

// A hash table of the points: open addressing; a slot holds the number of a point + 1, or 0. Of equal points it holds
// the first.
typedef struct SearchListIndex {
    int32_t *slots; // [mask + 1]
    uint64_t mask;
} SearchListIndex;

static bool search_list_is(const Spec *spec, int64_t point, const double *parameter)
{
    for (int a = 0; a < spec->n_axes; a++) {
        if (spec->points[point * spec->n_axes + a] != parameter[spec->axes[a].parameter]) return false;
    }
    return true;
}

// The slot of the point with these values, or the free slot for it.
static int32_t *search_list_slot(const Spec *spec, const SearchListIndex *index, const double *parameter)
{
    uint64_t hash = 0;
    for (int a = 0; a < spec->n_axes; a++) hash = row_digest_real(hash, parameter[spec->axes[a].parameter]);
    uint64_t at = (hash ^ hash >> 32) & index->mask;
    while (index->slots[at] != 0 && !search_list_is(spec, index->slots[at] - 1, parameter)) at = (at + 1) & index->mask;
    return &index->slots[at];
}

static int64_t search_list_find(const Search *search, const double *parameter, int64_t hint)
{
    const Spec *spec = search->spec;
    if (hint < spec->n_points && search_list_is(spec, hint, parameter)) return hint;
    return *search_list_slot(spec, search->scratch, parameter) - 1;
}

static Error search_list_prepare(const Spec *spec, Arena *arena, Search *search)
{
    SearchListIndex *index = ARENA_NEW(arena, SearchListIndex, 1);
    for (index->mask = 15; index->mask < 2 * (uint64_t)spec->n_points; index->mask = 2 * index->mask + 1) {
    }
    index->slots = ARENA_NEW(arena, int32_t, index->mask + 1);
    double *parameter = ARENA_NEW(arena, double, spec->configured.n_parameters);
    for (int64_t point = 0; point < spec->n_points; point++) {
        search_list_point(search, point, parameter);
        int32_t *slot = search_list_slot(spec, index, parameter);
        if (*slot == 0) *slot = (int32_t)(point + 1);
    }
    search->scratch = index;
    search->total = spec->n_points;
    return error_none();
}

const SearchMethod search_list = {
    .name = "list",
    .doc = "the points that the spec names, in its order",
    .wants_points = true,
    ENUMERATED_METHOD,
    .prepare = search_list_prepare,
    .point = search_list_point,
    .find = search_list_find,
};

const SearchMethod search_csv = {
    .name = "csv",
    .doc = "the points of a file of comma-separated values, in its order",
    .wants_points = true,
    ENUMERATED_METHOD,
    .prepare = search_list_prepare,
    .point = search_list_point,
    .find = search_list_find,
};
