// Ranks and crowding distances of points, by which NSGA-II compares members.
//
// Sources: K. Deb, A. Pratap, S. Agarwal, T. Meyarivan, "A fast and elitist multiobjective genetic algorithm: NSGA-II",
// IEEE Transactions on Evolutionary Computation 6(2), 2002, sections III-A (ranks) and III-B (crowding). The ranks are
// found as in X. Zhang, Y. Tian, R. Cheng, Y. Jin, "An efficient approach to nondominated sorting", IEEE Transactions
// on Evolutionary Computation 19(2), 2015: in lexicographic order no point is dominated by a later one. So each point
// joins the first front without a member that dominates it, and that front is found by bisection.
#include "../experiment.h"

#include <math.h>
#include <stdlib.h>

// A point in a sort: by objective `first`, then by the next ones up to `end`, then by its number.
typedef struct DominancePoint {
    const double *value; // [end]
    int first, end;
    int64_t index;
} DominancePoint;

// Fronts as chains of points, from the last point of a front back. Arrays are [count] of points.
typedef struct DominanceFronts {
    const double *value; // [count][objectives]
    int objectives;
    int64_t count;     // of fronts
    int64_t *last;     // of a front: its last point
    int64_t *previous; // of a point: the one before it in its front; -1: none
} DominanceFronts;

static int dominance_order(const void *left, const void *right)
{
    const DominancePoint *a = left, *b = right;
    for (int k = a->first; k < a->end; k++) {
        if (a->value[k] != b->value[k]) return a->value[k] < b->value[k] ? -1 : 1;
    }
    return a->index < b->index ? -1 : a->index > b->index;
}

// Whether the earlier of two points in lexicographic order dominates the later one.
static bool dominance_beats(const double *earlier, const double *later, int objectives)
{
    bool better = false;
    for (int k = 0; k < objectives; k++) {
        if (earlier[k] > later[k]) return false;
        better |= earlier[k] < later[k];
    }
    return better;
}

// With two objectives only the last member matters: it has the least second value.
static bool dominance_front_beats(const DominanceFronts *fronts, int64_t front, const double *point)
{
    for (int64_t i = fronts->last[front]; i >= 0; i = fronts->previous[i]) {
        if (dominance_beats(fronts->value + i * fronts->objectives, point, fronts->objectives)) return true;
        if (fronts->objectives == 2) return false;
    }
    return false;
}

// The first front without a member that dominates the point: if one front has such a member, all before it have one.
static int64_t dominance_find_front(const DominanceFronts *fronts, const double *point)
{
    int64_t low = 0, high = fronts->count;
    while (low < high) {
        const int64_t middle = (low + high) / 2;
        if (dominance_front_beats(fronts, middle, point))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void dominance_ranks(DominanceFronts *fronts, DominancePoint *points, int64_t count, int64_t *rank)
{
    const int objectives = fronts->objectives;
    for (int64_t i = 0; i < count; i++)
        points[i] = (DominancePoint){.value = fronts->value + i * objectives, .end = objectives, .index = i};
    qsort(points, (size_t)count, sizeof *points, dominance_order);
    for (int64_t p = 0; p < count; p++) {
        const int64_t i = points[p].index, front = dominance_find_front(fronts, points[p].value);
        fronts->previous[i] = front < fronts->count ? fronts->last[front] : -1;
        fronts->last[front] = i;
        if (front == fronts->count) fronts->count++;
        rank[i] = front;
    }
}

// Adds to the distances of one front, points[count], the share of one objective: the gap between a point's neighbours
// over the front's extent.
static void dominance_crowd(DominancePoint *points, int64_t count, int objective, double *crowding)
{
    for (int64_t i = 0; i < count; i++) {
        points[i].first = objective;
        points[i].end = objective + 1;
    }
    qsort(points, (size_t)count, sizeof *points, dominance_order);
    const double extent = points[count - 1].value[objective] - points[0].value[objective];
    crowding[points[0].index] = crowding[points[count - 1].index] = (double)INFINITY;
    if (!(extent > 0.0) || isinf(extent)) return;
    for (int64_t i = 1; i + 1 < count; i++)
        crowding[points[i].index] += (points[i + 1].value[objective] - points[i - 1].value[objective]) / extent;
}

size_t dominance_bytes(int64_t count) { return (size_t)count * (sizeof(DominancePoint) + 2 * sizeof(int64_t)); }

void dominance_sort(const double *value, int64_t count, int objectives, void *room, int64_t *rank, double *crowding)
{
    DominancePoint *points = room;
    DominanceFronts fronts = {.value = value, .objectives = objectives, .last = (int64_t *)(void *)(points + count)};
    fronts.previous = fronts.last + count;
    dominance_ranks(&fronts, points, count, rank);
    for (int64_t i = 0; i < count; i++) crowding[i] = 0.0;
    for (int64_t f = 0; f < fronts.count; f++) {
        int64_t members = 0;
        for (int64_t i = fronts.last[f]; i >= 0; i = fronts.previous[i])
            points[members++] = (DominancePoint){.value = value + i * objectives, .index = i};
        for (int k = 0; k < objectives; k++) dominance_crowd(points, members, k, crowding);
    }
}
