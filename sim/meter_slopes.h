// The derivatives of metrics of the user's own (meter.h) with respect to the columns and parameters that they take, for
// adjoints. They are computed from the columns of a sample in a file of registers beside the meter's cells.
#ifndef HOPSCOTCH_METER_SLOPES_H
#define HOPSCOTCH_METER_SLOPES_H

#include "meter.h"

// d value of `metric`/d register `by`, in the register `of`.
typedef struct MeterSlopeRow {
    int metric, by, of;
} MeterSlopeRow;

HD MeterSlopeRow meter_slope_row(const Meter *meter, int i)
{
    const int64_t at = meter->slopes->rows + (int64_t)i * METER_SLOPE;
    MeterSlopeRow row;
    row.metric = (int)asset_integer(meter->of.assets, at + METER_SLOPE_METRIC);
    row.by = (int)asset_integer(meter->of.assets, at + METER_SLOPE_BY);
    row.of = (int)asset_integer(meter->of.assets, at + METER_SLOPE_OF);
    return row;
}

// The model's parameter whose value is in a register behind those of columns.
HD int meter_parameter(const Meter *meter, int at)
{
    return (int)asset_integer(meter->of.assets, meter->of.parameters + at - meter->of.n_needed);
}

HD int meter_reduction(const Meter *meter, int metric)
{
    return (int)asset_integer(meter->of.assets, meter->metrics + (int64_t)metric * METER_METRIC + METER_REDUCTION);
}

// What does not change while a lane runs.
HD void meter_slopes_begin(const LaneGroup *group, Frame file)
{
    const Meter *meter = &group->batch.meter;
    for (int k = meter->of.n_needed; k < meter->of.n_needed + meter->of.n_parameters; k++) {
        const double *from = group->batch.parameter + meter_parameter(meter, k) * group->batch.stride + group->lane;
        frame_set(file, k, load_lanes(from, group->valid));
    }
    tape_begin(meter->of.assets, &meter->slopes->code, file);
}

// Of the sample whose columns are in the file.
HD void meter_slopes_run(const LaneGroup *group, Frame file)
{
    tape_step(group->batch.meter.of.assets, &group->batch.meter.slopes->code, file);
}

// From the bar of a metric, over samples in `time`, to that of what it has kept: meter_value in reverse. 0 where an
// rms is 0.
HD real meter_bar_of_kept(const MeterMetric *metric, real time, real bar)
{
    if (metric->reduction == REDUCTION_MEAN) return bar / time;
    if (metric->reduction != REDUCTION_RMS) return bar; // FINAL, INTEGRAL
    const real rms = meter_value(metric, time);
    const mask some = MASK(rms > 0.0);
    return select_real(some, bar / (2.0 * time * select_real(some, rms, splat(1.0))), splat(0.0));
}

#endif
