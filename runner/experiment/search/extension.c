// The ids of a campaign that was extended. Each of its specs is a segment: the points of its search, in their order,
// have the ids from first_id on. An id stands for a trial if
//   - its own spec asks for its point,
//   - no earlier segment has a trial at that point (such a trial keeps its id), and
//   - every later spec asks for the point too, unless the id was decided before that spec came.
// So trials that were run stay, and trials that are no longer asked for are not run. All follows from the specs and the
// few numbers stored with them: resume and replay need no list of trials.
#include "../experiment.h"

#include <string.h>

typedef struct SegmentSearch {
    Search search; // of its spec alone
    int64_t first_id, end_id, first_point, decided;
} SegmentSearch;

struct SegmentedSearch {
    SegmentSearch *items; // [count]
    int count;
    double *other; // [n_parameters] of the point that is compared
};

// The number of a point in the search of segment s; -1: none. `hint`: its number in the segment that it comes from.
static int64_t segments_point(const struct SegmentedSearch *all, int s, const double *parameter, int64_t hint)
{
    const Search *search = &all->items[s].search;
    const Axis *derived = search->spec->axes + search->spec->n_axes;
    const int64_t point = enumerated_find(search, parameter, hint);
    if (point < 0 || !enumerated_point(search, point, all->other)) return -1;
    for (int i = 0; i < search->spec->n_derived; i++) {
        const int p = derived[i].parameter;
        if (parameter[p] != all->other[p]) return -1;
    }
    return point;
}

// Whether each spec after segment s asks for the trial, or came after it was decided.
static bool segments_keep(const struct SegmentedSearch *all, int s, int64_t id, const double *parameter, int64_t hint)
{
    for (int later = s + 1; later < all->count; later++) {
        if (id >= all->items[later].decided && segments_point(all, later, parameter, hint) < 0) return false;
    }
    return true;
}

static bool segments_had(const struct SegmentedSearch *all, int s, const double *parameter, int64_t hint)
{
    for (int earlier = 0; earlier < s; earlier++) {
        const SegmentSearch *segment = &all->items[earlier];
        const int64_t point = segments_point(all, earlier, parameter, hint);
        if (point < segment->first_point) continue; // none there, or one with an earlier id, which was looked at
        if (segments_keep(all, earlier, segment->first_id + point - segment->first_point, parameter, point))
            return true;
    }
    return false;
}

bool segments_fill(const Search *search, int64_t id, double *parameter)
{
    const struct SegmentedSearch *all = search->segments;
    int s = 0;
    while (s + 1 < all->count && id >= all->items[s].end_id) s++;
    const SegmentSearch *segment = &all->items[s];
    const int64_t point = segment->first_point + id - segment->first_id;
    if (!enumerated_point(&segment->search, point, parameter)) return false;
    return !segments_had(all, s, parameter, point) && segments_keep(all, s, id, parameter, point);
}

bool segments_asked_last(const Search *search, const double *parameter, int64_t hint)
{
    return segments_point(search->segments, search->segments->count - 1, parameter, hint) >= 0;
}

int64_t segments_first_new(const Search *search, double *parameter)
{
    const int64_t patience = 50, looked_at_max = patience * search_affordable(search, 10000000 / patience);
    const struct SegmentedSearch *all = search->segments;
    const SegmentSearch *last = &all->items[all->count - 1];
    const int64_t end = last->search.total < looked_at_max ? last->search.total : looked_at_max;
    int64_t point = 0;
    while (point < end &&
           (!enumerated_point(&last->search, point, parameter) || segments_had(all, all->count - 1, parameter, point)))
        point++;
    return point < last->first_id ? point
                                  : last->first_id; // a grid that grew at its end numbers on as one that was whole
}

// Whether the ids of a segment are the numbers of its points.
static bool segments_numbers(const SegmentSearch *segment)
{
    return segment->first_id == segment->first_point || segment->first_id == segment->end_id;
}

// Whether two specs exclude the same trials: by the same expressions, in any order.
static bool segments_exclude_alike(const Spec *a, const Spec *b, Arena *arena)
{
    const char **texts = ARENA_NEW(arena, const char *, b->n_exclude + 1);
    int left = b->n_exclude;
    for (int i = 0; i < left; i++) texts[i] = expression_text(b->exclude[i], arena);
    for (int i = 0; i < a->n_exclude; i++) {
        const char *text = expression_text(a->exclude[i], arena);
        int same = 0;
        while (same < left && strcmp(texts[same], text) != 0) same++;
        if (same == left) return false;
        texts[same] = texts[--left];
    }
    return left == 0;
}

// For methods without `find`: whether the last spec alone has the same trials at the ids of segment s. Only the number
// of points and `exclude` can differ there (spec/difference.c).
static bool segments_agree(const struct SegmentedSearch *all, int s, Arena *arena)
{
    const SegmentSearch *segment = &all->items[s], *last = &all->items[all->count - 1];
    if (segment->search.method->find != NULL || !segments_numbers(segment) || !segments_numbers(last)) return false;
    return segments_exclude_alike(segment->search.spec, last->search.spec, arena);
}

bool segments_counts(const Search *search, int s, int64_t next, Arena *arena)
{
    const struct SegmentedSearch *all = search->segments;
    if (s == all->count - 1) return all->items[s].end_id > next && !segments_numbers(&all->items[s]);
    return all->items[s].end_id > next && !segments_agree(all, s, arena);
}

static Error segments_add(struct SegmentedSearch *all, const Segment *segment, const Spec *spec, Arena *arena)
{
    SegmentSearch *own = &all->items[all->count++];
    own->search = (Search){.spec = spec, .method = spec->method, .total = -1};
    TRY(spec->method->init(spec, arena, &own->search));
    own->first_id = segment->first_id;
    own->first_point = segment->first_point;
    own->decided = segment->decided;
    own->end_id = segment->first_id + own->search.total - segment->first_point;
    return error_none();
}

Error segments_init(Search *search, Arena *arena)
{
    const Spec *spec = search->spec;
    struct SegmentedSearch *all = ARENA_NEW(arena, struct SegmentedSearch, 1);
    all->items = ARENA_NEW(arena, SegmentSearch, spec->n_segments);
    all->other = ARENA_NEW(arena, double, spec->configured.n_parameters);
    for (int i = 0; i < spec->n_segments; i++) {
        const Spec *own = spec->segments[i].spec != NULL ? spec->segments[i].spec : spec;
        TRY(segments_add(all, &spec->segments[i], own, arena));
    }
    search->segments = all;
    search->total = all->items[all->count - 1].end_id;
    return enumerated_check_total(search->total);
}
