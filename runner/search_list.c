// list: the points that the spec names, in its order; the id of a trial is its place in that list.
#include "runner.h"

static void search_list_point(const Search *search, const void *data, int64_t id, double *parameter)
{
    const Spec *spec = search->spec;
    const double *point = spec->points + id * spec->n_axes; // [n_axes]
    (void)data;
    for (int a = 0; a < spec->n_axes; a++) parameter[spec->axes[a].parameter] = point[a];
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
};
