// A lane whose numbers have derivatives along directions of its parameters: what models' runs with dual numbers
// share. Compiled where real is a dual number.
#ifndef HOPSCOTCH_TANGENT_H
#define HOPSCOTCH_TANGENT_H

#include "dual.h"
#include "samples.h"

// Doubles of memory: the model's numbers, the lane's parameters and metrics; those of a meter; those of a law.
HD int64_t tangent_doubles(const Configured *configured)
{
    return (configured->n_work + configured->n_parameters + configured->n_metrics) * REAL_DOUBLES;
}
HD int64_t tangent_of_meter(const Configured *configured)
{
    return configured->meter != NULL ? meter_tangent_doubles(configured->meter, DUAL_DIRECTIONS) : 0;
}
HD int64_t tangent_of_law(const Configured *configured)
{
    return configured->law != NULL ? law_tangent_doubles(configured->law, DUAL_DIRECTIONS) : 0;
}
HD size_t tangent_bytes(const Configured *configured)
{
    const int64_t beside = tangent_of_meter(configured) + tangent_of_law(configured);
    return (size_t)(tangent_doubles(configured) + beside) * sizeof(double);
}

// The lane, before its first tick. direction[n][n_parameters]. memory: of tangent_bytes. The columns are those of the
// model.
HD LaneGroup tangent_group(const Configured *configured, const double *parameter, const double *direction, int n,
                           double *memory, int32_t *status)
{
    double *own = memory + configured->n_work * REAL_DOUBLES, *metric = own + configured->n_parameters * REAL_DOUBLES;
    double *beside = memory + tangent_doubles(configured);
    LaneGroup group;
    memset(&group, 0, sizeof group);
    memset(memory, 0, tangent_bytes(configured));
    group.batch.lanes = group.valid = 1;
    group.batch.stride = REAL_DOUBLES;
    group.batch.parameter = own;
    group.batch.work = memory;
    group.batch.metric = metric;
    group.batch.status = status;
    group.n_columns = configured->n_columns;
    group.ticks = configured_steps(configured);
    for (int p = 0; p < configured->n_parameters; p++) {
        real moving = splat(parameter[p]);
        for (int k = 0; k < n; k++) set_slope_along(&moving, k, direction[k * configured->n_parameters + p]);
        store_all(own + p * REAL_DOUBLES, moving);
    }
    if (configured->meter != NULL) {
        group.batch.meter = *configured->meter;
        group.batch.meter.of.cell = beside;
    }
    if (configured->law != NULL) {
        group.batch.law = *configured->law;
        group.batch.law.of.cell = beside + tangent_of_meter(configured);
        group.n_columns -= configured->law->n_shown;
    }
    return group;
}

// metric[n_metrics] and their derivatives slope[n][n_metrics] at the end.
HD void tangent_take(const Configured *configured, const LaneGroup *group, int n, double *metric, double *slope)
{
    for (int m = 0; m < configured->n_metrics; m++) {
        const real got = load_all(group->batch.metric + m * REAL_DOUBLES);
        metric[m] = value_of(got);
        for (int k = 0; k < n; k++) slope[k * configured->n_metrics + m] = slope_along(got, k);
    }
}

#endif
