// Voxel-grid down-sampling: all points of a cell are replaced by their centroid.
#include "ndt.h"

#include <math.h>

Error ndt_thin(const Cloud *cloud, double edge, Arena *arena, Cloud *out)
{
    double *at[3], origin[3];
    *out = *cloud;
    if (edge <= 0.0 || cloud->count == 0) return error_none();
    ndt_choose_origin(cloud, edge, origin);
    for (int a = 0; a < 3; a++) at[a] = ARENA_NEW(arena, double, cloud->count);
    Arena scratch;
    TRY(arena_create(&scratch, (size_t)cloud->count * sizeof(NdtKeyedPoint) + 4096, "a cloud that is thinned"));
    NdtKeyedPoint *keyed = ARENA_NEW(&scratch, NdtKeyedPoint, cloud->count);
    const Error error = ndt_grid(cloud, edge, origin, keyed);
    int64_t count = 0;
    for (int64_t first = 0, end; error.kind == OK && first < cloud->count; first = end, count++) {
        double sum[3] = {0.0, 0.0, 0.0};
        for (end = first; end < cloud->count && keyed[end].key == keyed[first].key; end++) {
            for (int a = 0; a < 3; a++) sum[a] += cloud->at[a][keyed[end].point];
        }
        for (int a = 0; a < 3; a++) at[a][count] = sum[a] / (double)(end - first);
    }
    arena_destroy(&scratch);
    for (int a = 0; a < 3; a++) out->at[a] = at[a];
    out->count = count;
    return error;
}
