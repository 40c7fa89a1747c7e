// Sorts points into the cells of a grid. Points of a cell are consecutive and in the order of the cloud, so that sums
// over them are the same bits everywhere.
#include "ndt.h"

#include <math.h>
#include <stdlib.h>

static int ndt_compare_places(const void *a, const void *b)
{
    const NdtPlace *p = a, *q = b;
    if (p->key != q->key) return p->key < q->key ? -1 : 1;
    return (p->point > q->point) - (p->point < q->point);
}

Error ndt_grid(const Cloud *cloud, double edge, const double *origin, NdtPlace *place)
{
    const double most = NDT_CELL_MAX - 2; // every cell needs neighbours
    for (int64_t i = 0; i < cloud->count; i++) {
        double cell[3];
        for (int a = 0; a < 3; a++) {
            cell[a] = floor((cloud->at[a][i] - origin[a]) / edge);
            if (!(fabs(cell[a]) <= most))
                return error_make(
                    ERROR_USER,
                    "point %lld of the cloud (%g, %g, %g) lies more than %d cells of %g m from its middle; "
                    "take larger cells, or remove the point",
                    (long long)i, cloud->at[0][i], cloud->at[1][i], cloud->at[2][i], (int)most, edge);
        }
        place[i] = (NdtPlace){ndt_key((int64_t)cell[0], (int64_t)cell[1], (int64_t)cell[2]), i};
    }
    qsort(place, (size_t)cloud->count, sizeof *place, ndt_compare_places);
    return error_none();
}
