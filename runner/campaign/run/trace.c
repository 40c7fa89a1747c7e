// The trace of a replayed trial as a drawing: its points or poses, and the height of the ground.
#include "../campaign.h"

#include <math.h>

const Drawing *trace_drawing(const ReplayTrace *trace)
{
    return trace->request.debug || !trace->request.drawn ? NULL : trace->configured->drawing;
}

const double *trace_points(const ReplayTrace *trace, int64_t i)
{
    trace_drawing(trace)->points(trace->configured, trace->parameter, trace->row + i * trace->n_columns, trace->point);
    return trace->point;
}

const double *trace_poses(const ReplayTrace *trace, int64_t i)
{
    trace_drawing(trace)->poses(trace->configured, trace->parameter, trace->row + i * trace->n_columns, trace->pose);
    return trace->pose;
}

// A motion without ground gets one below all its points, except those that diverge.
void trace_find_level(ReplayTrace *trace)
{
    const Drawing *drawing = trace_drawing(trace);
    double far = 1;
    if (drawing == NULL || drawing->ground != NULL) return;
    for (int64_t i = 0; i < trace->count; i++) {
        const double *point = trace_points(trace, i);
        if (i == 0) trace->level = point[1];
        for (int k = 0; k < drawing->n_points; k++) {
            const double z = point[2 * k + 1];
            if (i == 0) far = fmax(far, 1000 * fabs(z));
            if (fabs(z) <= far) trace->level = fmin(trace->level, z);
        }
    }
}
