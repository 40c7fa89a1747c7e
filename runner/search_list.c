// list: the points that the spec names, in its order; the id of a trial is its place in that list.
#include "runner.h"

static void search_list_point(const Search *search, const void *data, int64_t id, double *parameter)
{
    const Spec *spec = search->spec;
    const double *point = spec->points + id * spec->n_axes; // [n_axes]
    (void)data;
    for (int a = 0; a < spec->n_axes; a++) parameter[spec->axes[a].parameter] = point[a];
}

static bool search_list_is(const Spec *spec, int64_t point, const double *parameter)
{
    for (int a = 0; a < spec->n_axes; a++) {
        if (spec->points[point * spec->n_axes + a] != parameter[spec->axes[a].parameter]) return false;
    }
    return true;
}

static int64_t search_list_find(const Search *search, const void *data, const double *parameter, int64_t hint)
{
    const Spec *spec = search->spec;
    (void)data;
    if (hint < spec->n_points && search_list_is(spec, hint, parameter)) return hint;
    for (int64_t point = 0; point < spec->n_points; point++) {
        if (search_list_is(spec, point, parameter)) return point;
    }
    return -1;
}

static Error search_list_init(const Spec *spec, Arena *arena, Search *search)
{
    return enumerated_init((Enumeration){search_list_point, NULL}, spec->n_points, arena, search);
}

const SearchMethod search_list = {
    .name = "list",
    .doc = "the points that the spec names, in its order",
    .wants_points = true,
    .init = search_list_init,
    .ask = enumerated_ask,
    .tell = enumerated_tell,
    .restore = enumerated_restore,
    .trial = enumerated_trial,
    .stopped = enumerated_stopped,
    .find = search_list_find,
};
