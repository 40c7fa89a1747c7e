// Sorts points into the cells of a grid. Points of a cell are consecutive and in the order of the cloud, so that sums
// over them are the same bits everywhere.
#include "ndt.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int ndt_compare_keys(const void *a, const void *b)
{
    const NdtKeyedPoint *p = a, *q = b;
    if (p->key != q->key) return p->key < q->key ? -1 : 1;
    return (p->point > q->point) - (p->point < q->point);
}

void ndt_choose_origin(const Cloud *cloud, double edge, double *origin)
{
    for (int a = 0; a < 3; a++) {
        double low = INFINITY, high = -INFINITY;
        for (int64_t i = 0; i < cloud->count; i++) {
            low = cloud->at[a][i] < low ? cloud->at[a][i] : low;
            high = cloud->at[a][i] > high ? cloud->at[a][i] : high;
        }
        origin[a] = edge * floor((0.5 * low + 0.5 * high) / edge);
    }
}

static int ndt_compare_numbers(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// A cloud that is too wide for its cells: the point that lies farthest from the median of each coordinate is named. The
// middle between the ends would lie far from all points if one of them has gone astray.
static Error ndt_too_wide(const Cloud *cloud, double edge, double most)
{
    Arena arena;
    double median[3], farthest = -1.0;
    int64_t stray = 0;
    TRY(arena_create(&arena, (size_t)cloud->count * sizeof(double) + 4096, "the middle of a cloud"));
    double *sorted = ARENA_NEW(&arena, double, cloud->count);
    for (int a = 0; a < 3; a++) {
        memcpy(sorted, cloud->at[a], (size_t)cloud->count * sizeof *sorted);
        qsort(sorted, (size_t)cloud->count, sizeof *sorted, ndt_compare_numbers);
        median[a] = sorted[cloud->count / 2];
    }
    arena_destroy(&arena);
    for (int64_t i = 0; i < cloud->count; i++) {
        for (int a = 0; a < 3; a++) {
            const double distance = fabs(cloud->at[a][i] - median[a]);
            if (!(distance > farthest)) continue;
            farthest = distance;
            stray = i;
        }
    }
    return error_make(
        ERROR_USER,
        "point %lld of the cloud (%g, %g, %g) lies %g m from the middle of the others, more than %d cells "
        "of %g m; take larger cells, or remove the point",
        (long long)stray, cloud->at[0][stray], cloud->at[1][stray], cloud->at[2][stray], farthest, (int)most, edge);
}

Error ndt_grid(const Cloud *cloud, double edge, const double *origin, NdtKeyedPoint *keyed)
{
    const double most = NDT_CELL_MAX - 2; // every cell needs neighbours
    for (int64_t i = 0; i < cloud->count; i++) {
        double cell[3];
        for (int a = 0; a < 3; a++) {
            cell[a] = floor((cloud->at[a][i] - origin[a]) / edge);
            if (!(fabs(cell[a]) <= most)) return ndt_too_wide(cloud, edge, most);
        }
        keyed[i] = (NdtKeyedPoint){ndt_key((int64_t)cell[0], (int64_t)cell[1], (int64_t)cell[2]), i};
    }
    qsort(keyed, (size_t)cloud->count, sizeof *keyed, ndt_compare_keys);
    return error_none();
}
