// The hypervolume: the volume of the space below a reference point that a set of points dominates. It grows when a
// front moves ahead, gets wider or denser (Zitzler & Thiele 1998).
//
// Exact, by exclusive volumes: L. While, L. Bradstreet, L. Barone, "A fast way of calculating exact hypervolumes", IEEE
// Transactions on Evolutionary Computation 16(1), 2012. The points are taken from the worst to the best in the last
// objective. Each adds its own box less the volume that later points cover. Those are at least as good in the last
// objective, so that volume is a hypervolume of one dimension less.
#include "../experiment.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { HYPERVOLUME_TWO = 2 };

int64_t hypervolume_points(int objectives)
{
    static const int64_t points[OBJECTIVES_MAX + 1] = {0, 0, 1 << 20, 4096, 500, 200, 100, 100, 100};
    return points[objectives];
}

// A set of each dimension from `objectives` down, and a row.
size_t hypervolume_bytes(int64_t count, int objectives)
{
    return (size_t)(count + 1) * (size_t)(objectives * objectives) * sizeof(double);
}

// Ascending in the first number of a row.
static int hypervolume_by_first(const void *left, const void *right)
{
    const double *a = left, *b = right;
    for (int k = 0; k < HYPERVOLUME_TWO; k++) {
        if (a[k] != b[k]) return a[k] < b[k] ? -1 : 1;
    }
    return 0;
}

// Steps from left to right; the height is from the least second number so far to the reference.
static double hypervolume_two(double *point, int64_t count, const double *reference)
{
    double area = 0.0, least = reference[1];
    qsort(point, (size_t)count, HYPERVOLUME_TWO * sizeof *point, hypervolume_by_first);
    for (int64_t i = 0; i < count; i++) {
        const double *p = point + HYPERVOLUME_TWO * i;
        if (p[1] >= least) continue;
        area += (reference[0] - p[0]) * (least - p[1]);
        least = p[1];
    }
    return area;
}

// From the worst to the best in the last objective: insertion, because sets are small and often nearly sorted.
static void hypervolume_sort(double *point, int64_t count, int n)
{
    double row[OBJECTIVES_MAX];
    const size_t bytes = (size_t)n * sizeof *point;
    for (int64_t i = 1; i < count; i++) {
        int64_t to = i;
        while (to > 0 && point[(to - 1) * n + n - 1] < point[i * n + n - 1]) to--;
        if (to == i) continue;
        memcpy(row, point + i * n, bytes);
        memmove(point + (to + 1) * n, point + to * n, (size_t)(i - to) * bytes);
        memcpy(point + to * n, row, bytes);
    }
}

static bool hypervolume_covers(const double *a, const double *b, int n)
{
    for (int k = 0; k < n; k++) {
        if (a[k] > b[k]) return false;
    }
    return true;
}

// Adds a point to a set of points none of which covers another. *count of them.
static void hypervolume_add(double *set, int64_t *count, const double *point, int n)
{
    int64_t kept = 0;
    for (int64_t i = 0; i < *count; i++) {
        if (hypervolume_covers(set + i * n, point, n)) return; // then the point covers none of those before
    }
    for (int64_t i = 0; i < *count; i++) {
        if (hypervolume_covers(point, set + i * n, n)) continue;
        if (kept < i) memcpy(set + kept * n, set + i * n, (size_t)n * sizeof *set);
        kept++;
    }
    memcpy(set + kept * n, point, (size_t)n * sizeof *set);
    *count = kept + 1;
}

// The volume of the point's box that later points cover, in one dimension less: the worse of both in each objective.
static int64_t hypervolume_limit(const double *point, const double *after, int64_t count, int n, double *set)
{
    double row[OBJECTIVES_MAX];
    int64_t kept = 0;
    for (int64_t i = 0; i < count; i++) {
        for (int k = 0; k < n - 1; k++) row[k] = after[i * n + k] > point[k] ? after[i * n + k] : point[k];
        if (n - 1 > HYPERVOLUME_TWO)
            hypervolume_add(set, &kept, row, n - 1);
        else
            memcpy(set + kept++ * (n - 1), row, (size_t)(n - 1) * sizeof *set);
    }
    return kept;
}

static double hypervolume_of(double *point, int64_t count, int n, const double *reference, double *room)
{
    if (n == HYPERVOLUME_TWO) return hypervolume_two(point, count, reference);
    double volume = 0.0;
    hypervolume_sort(point, count, n);
    for (int64_t i = 0; i < count; i++) {
        const double *p = point + i * n;
        double box = 1.0;
        for (int k = 0; k < n - 1; k++) box *= reference[k] - p[k];
        const int64_t covered = hypervolume_limit(p, p + n, count - i - 1, n, room);
        const double shared = hypervolume_of(room, covered, n - 1, reference, room + covered * (n - 1));
        volume += (reference[n - 1] - p[n - 1]) * (box - shared);
    }
    return volume;
}

// Points that are not better than the reference in all objectives have no volume below it.
double hypervolume(const double *value, int64_t count, int objectives, const double *reference, void *room)
{
    double *point = room;
    int64_t kept = 0;
    if (count > hypervolume_points(objectives)) return (double)NAN;
    for (int64_t i = 0; i < count; i++) {
        const double *p = value + i * objectives;
        bool below = true;
        for (int k = 0; k < objectives; k++) below &= p[k] < reference[k] && !isinf(p[k]);
        if (below) memcpy(point + objectives * kept++, p, (size_t)objectives * sizeof *point);
    }
    return hypervolume_of(point, kept, objectives, reference, point + kept * objectives);
}
