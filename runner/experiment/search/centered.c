// centered: one parameter at a time round a centre, the middle value of each axis (of an even number the lower one).
// The first trial is the centre; then come the other values of the first axis, those of the second, and so on.
#include "../experiment.h"

static int64_t search_centered_middle(const Values *values) { return (values->count - 1) / 2; }

static void search_centered_point(const Search *search, int64_t id, double *parameter)
{
    const Spec *spec = search->spec;
    int64_t left = id - 1;
    for (int a = 0; a < spec->n_axes; a++) {
        const Values *values = &spec->axes[a].values;
        const int64_t middle = search_centered_middle(values), others = values->count - 1;
        const bool moves = left >= 0 && left < others;
        const int64_t at = !moves ? middle : left < middle ? left : left + 1;
        parameter[spec->axes[a].parameter] = values_at(values, at);
        left -= others;
        if (moves) left = -1; // the axes after it stay
    }
}

static Error search_centered_prepare(const Spec *spec, Arena *arena, Search *search)
{
    (void)arena;
    search->total = 1;
    for (int a = 0; a < spec->n_axes; a++) {
        if (__builtin_add_overflow(search->total, spec->axes[a].values.count - 1, &search->total))
            return enumerated_check_total(INT64_MAX);
    }
    return error_none();
}

const SearchMethod search_centered = {
    .name = "centered",
    .doc = "one parameter at a time takes its values, the others stay at their middle values",
    .wants_values = true,
    .whole = true,
    ENUMERATED_METHOD,
    .prepare = search_centered_prepare,
    .point = search_centered_point,
};
