// Metrics of the user's own for every model: reductions of expressions over the samples of a lane (Meter in sim.h). A
// model takes a sample before each tick and where a lane ends. Integrals are those of the polygon through the samples;
// what a condition says holds from a sample to the next.
#ifndef HOPSCOTCH_METER_H
#define HOPSCOTCH_METER_H

#include "lanes.h"
#if !defined(HOPSCOTCH_DUAL)
#include "lane_code.h"
#include "reduce.h"
#endif

// Whether a lane has a trajectory: those of made kernels have none.
#if defined(HOPSCOTCH_MADE) && !MADE_ON_CPU
HD bool samples_are_kept(const Trace *trace, int64_t lane) { return (void)trace, (void)lane, false; }
#else
HD bool samples_are_kept(const Trace *trace, int64_t lane) { return lane < trace->lanes; }
#endif

// Ticks from one sample to the next. Lanes whose samples are kept, too, have one before each tick.
HD int64_t meter_every(const LaneGroup *group)
{
    return samples_are_kept(&group->batch.trace, group->lane) ? 1 : group->batch.meter.every;
}

#if defined(HOPSCOTCH_DUAL) // lanes with derivatives: meter_tangent_take of sim.h
HD int64_t meter_samples(const LaneGroup *group, int i)
{
    (void)i;
    return meter_tangent_samples(&group->batch.meter, DUAL_DIRECTIONS, group->batch.meter.of.cell);
}
HD int64_t meter_cell(const LaneGroup *group, int column)
{
    const LaneCode *of = &group->batch.meter.of;
    int64_t at;
    memcpy(&at, of->assets + of->columns + column, sizeof at);
    return at;
}
HD bool meter_needs(const LaneGroup *group, int column) { return meter_cell(group, column) >= 0; }
HD void meter_set(const LaneGroup *group, int column, real value, mask which)
{
    const Meter *meter = &group->batch.meter;
    const int64_t at = meter_cell(group, column);
    (void)which;
    if (at < 0) return;
    meter->of.cell[at] = value_of(value);
    for (int k = 0; k < DUAL_DIRECTIONS; k++) meter->of.cell[(1 + k) * meter->of.n_needed + at] = slope_along(value, k);
}
HD mask lanes_retire(const LaneGroup *group) { return (void)group, no_lanes(); } // lanes that retire have none
HD real lanes_retired(const LaneGroup *group, mask retired, real failure)
{
    return (void)group, (void)retired, failure;
}
HD void meter_take(const LaneGroup *group, bool last, mask which)
{
    const Meter *meter = &group->batch.meter;
    const LaneCode *of = &meter->of;
    double *of_parameters = of->cell + (1 + DUAL_DIRECTIONS) * of->n_needed;
    for (int i = 0; i < of->n_parameters; i++) {
        int64_t p;
        memcpy(&p, of->assets + of->parameters + i, sizeof p);
        const real parameter = lanes_parameter(group, (int)p);
        for (int k = 0; k < DUAL_DIRECTIONS; k++) of_parameters[k * of->n_parameters + i] = slope_along(parameter, k);
    }
    const double *metric = meter_tangent_take(meter, group->batch.parameter, DUAL_DIRECTIONS, last, of->cell);
    for (int m = 0; m < meter->n_metrics; m++)
        lanes_set_metric(group, meter->first + m, load_all(metric + m * REAL_DOUBLES), which);
}
#else

HD real meter_get(const LaneGroup *group, int k) { return lane_code_get(group, &group->batch.meter.of, k); }
HD void meter_put(const LaneGroup *group, int k, real value) { lane_code_put(group, &group->batch.meter.of, k, value); }
HD void meter_put_in(const LaneGroup *group, int k, real value, mask which)
{
    lane_code_put_in(group, &group->batch.meter.of, k, value, which);
}

// Samples taken by the group's lane i.
HD int64_t meter_samples(const LaneGroup *group, int i)
{
    return (int64_t)lane_code_cell(group, &group->batch.meter.of, METER_SAMPLES)[i];
}

HD int meter_integer(const LaneGroup *group, int64_t k) { return lane_code_integer(&group->batch.meter.of, k); }
HD int meter_register(const LaneGroup *group, int k) { return lane_code_register(&group->batch.meter.of, k); }

// Whether a metric needs a column of samples, and the column of the next one.
HD bool meter_needs(const LaneGroup *group, int column) { return lane_code_needs(&group->batch.meter.of, column); }
HD void meter_set(const LaneGroup *group, int column, real value, mask which)
{
    lane_code_set(group, &group->batch.meter.of, column, value, which);
}

// A value of metric m in the registers, 0 if it has none.
HD real meter_output(const LaneGroup *group, int m, int which)
{
    const int at = meter_integer(group, group->batch.meter.metrics + (int64_t)m * METER_METRIC + which);
    return at >= 0 ? meter_get(group, meter_register(group, at)) : splat(0.0);
}

// At the first sample of the lanes of `first`, whose columns are there already.
HD void meter_begin(const LaneGroup *group, mask first)
{
    const Meter *meter = &group->batch.meter;
    for (int k = 0; k < meter->of.cells - meter->of.code.registers; k++) meter_put_in(group, k, splat(0.0), first);
    lane_code_begin(group, &meter->of, LANE_CODE_METER_BEGIN);
}

// What a metric has kept so far.
typedef struct MeterMetric {
    int reduction, take, at;         // at: its first cell
    real kept, count, least, before; // before: the value at the last sample
    mask held;                       // its condition, at the last sample
} MeterMetric;

HD MeterMetric meter_metric(const LaneGroup *group, int m)
{
    const int64_t row = group->batch.meter.metrics + (int64_t)m * METER_METRIC;
    MeterMetric metric;
    metric.reduction = meter_integer(group, row + METER_REDUCTION);
    metric.take = meter_integer(group, row + METER_TAKE);
    metric.at = METER_NAMED + m * METER_CELLS;
    metric.kept = meter_get(group, metric.at + METER_KEPT);
    metric.count = meter_get(group, metric.at + METER_COUNT);
    metric.least = meter_get(group, metric.at + METER_LEAST);
    metric.before = meter_get(group, metric.at + METER_VALUE);
    metric.held = MASK(meter_get(group, metric.at + METER_HELD) != 0.0);
    return metric;
}

// Takes one value.
HD void meter_reduce(MeterMetric *metric, int take, real value, mask which)
{
    const mask first = MASK(metric->count == 0.0);
    metric->kept = select_real(which, reduction_next(take, first, metric->kept, value), metric->kept);
    metric->least = select_real(which, select_real(first, value, program_min(metric->least, value)), metric->least);
    metric->count = select_real(which, metric->count + 1.0, metric->count);
}

// The sample at the time t, h after the last one; of the first, h is 0. holds: the condition, at this sample.
HD void meter_follow(MeterMetric *metric, real value, mask holds, real t, real h, mask first, mask which)
{
    const mask held = which & metric->held & ~first, begins = which & holds & ~metric->held & ~first;
    const real area = select_real(first, splat(0.0), 0.5 * (metric->before + value) * h);
    switch (metric->reduction) {
    case REDUCTION_FINAL: metric->kept = select_real(which, value, metric->kept); return;
    case REDUCTION_MIN: meter_reduce(metric, REDUCTION_TAKE_MIN, value, which); return;
    case REDUCTION_MAX: meter_reduce(metric, REDUCTION_TAKE_MAX, value, which); return;
    case REDUCTION_COUNT: metric->kept = select_real(begins, metric->kept + 1.0, metric->kept); return;
    case REDUCTION_BEFORE: meter_reduce(metric, metric->take, value, begins); return;
    case REDUCTION_FIRST: meter_reduce(metric, REDUCTION_TAKE_FIRST, t, which & holds); return;
    case REDUCTION_LAST: meter_reduce(metric, REDUCTION_TAKE_LAST, t, which & holds); return;
    case REDUCTION_PART: metric->kept = select_real(held, metric->kept + h, metric->kept); return;
    default: metric->kept = select_real(which, metric->kept + area, metric->kept); // MEAN, RMS, INTEGRAL
    }
}

// time: of the samples, from the first to this one.
HD real meter_value(const MeterMetric *metric, real time)
{
    switch (metric->reduction) {
    case REDUCTION_MEAN: return metric->kept / time;
    case REDUCTION_RMS: return square_root(metric->kept / time);
    case REDUCTION_PART: return metric->kept / time;
    case REDUCTION_MIN:
    case REDUCTION_MAX:
    case REDUCTION_FIRST:
    case REDUCTION_LAST: return reduction_result(REDUCTION_TAKE_LAST, metric->kept, metric->count, metric->least);
    case REDUCTION_BEFORE: return reduction_result(metric->take, metric->kept, metric->count, metric->least);
    default: return metric->kept; // FINAL, INTEGRAL, COUNT
    }
}

// ---- lanes that retire ----------------------------------------------------------------------------------------------

// The lanes in which row `row` of the conditions is looked at: at the sample at time t, behind `samples` others, the
// last of which was at time `before`.
HD mask meter_looks(const LaneGroup *group, int64_t row, real samples, real t, real before, mask first)
{
    const int64_t every = meter_integer(group, row + METER_RETIRE_EVERY), apart = every / meter_every(group);
    const double at = group->batch.meter.of.assets[row + METER_RETIRE_AT];
    if (every == 0) return MASK(t >= at) & (first | MASK(before < at));
    return apart == 1 ? all_lanes() : MASK(floored_remainder(samples, splat((double)apart)) == 0.0);
}

// Notes the lanes in which a condition holds.
HD void meter_retire(const LaneGroup *group, real samples, real t, real before, mask first, mask which)
{
    const Meter *meter = &group->batch.meter;
    mask retired = no_lanes();
    for (int k = 0; k < meter->n_retire; k++) {
        const int64_t row = meter->retire + (int64_t)k * METER_RETIRE;
        const mask due = meter_looks(group, row, samples, t, before, first);
        const real condition = meter_get(group, meter_register(group, meter_integer(group, row + METER_RETIRE_IF)));
        retired = retired | (due & program_is_true(condition));
    }
    meter_put_in(group, METER_RETIRED, splat(1.0), which & retired);
}

// The lanes that end with this tick, because a condition held at a sample.
HD mask lanes_retire(const LaneGroup *group)
{
    const Meter *meter = &group->batch.meter;
    if (meter->of.cell == NULL || meter->n_retire == 0) return no_lanes();
    return MASK(meter_get(group, METER_SAMPLES) > 0.0) & MASK(meter_get(group, METER_RETIRED) != 0.0);
}

// The failure of each lane: a lane that retires has that one alone.
HD real lanes_retired(const LaneGroup *group, mask retired, real failure)
{
    return select_real(retired, splat((double)group->batch.meter.retired), failure);
}

// ---- a sample -------------------------------------------------------------------------------------------------------

// The sample whose columns were set, of the lanes of `which`. The metrics are written at the first sample and at the
// last: a lane may end without another.
HD_CALL void meter_take(const LaneGroup *group, bool last, mask which)
{
    const Meter *meter = &group->batch.meter;
    const real samples = meter_get(group, METER_SAMPLES), t = meter_get(group, meter_register(group, 0));
    const mask first = which & MASK(samples == 0.0);
    if (any_lane(first)) meter_begin(group, first);
    const real h = t - meter_get(group, METER_TIME);
    lane_code_run(group, &meter->of, &meter->of.code, LANE_CODE_METER_STEP);
    for (int m = 0; m < meter->n_metrics; m++) {
        MeterMetric metric = meter_metric(group, m);
        const real value = meter_output(group, m, METER_OF), condition = meter_output(group, m, METER_IF);
        meter_follow(&metric, value, program_is_true(condition), t, h, first, which);
        meter_put(group, metric.at + METER_KEPT, metric.kept);
        meter_put(group, metric.at + METER_COUNT, metric.count);
        meter_put(group, metric.at + METER_LEAST, metric.least);
        meter_put_in(group, metric.at + METER_VALUE, value, which);
        meter_put_in(group, metric.at + METER_HELD, program_truth(program_is_true(condition)), which);
        if (last || any_lane(first)) lanes_set_metric(group, meter->first + m, meter_value(&metric, t), which);
    }
    if (!last && meter->n_retire > 0) meter_retire(group, samples, t, meter_get(group, METER_TIME), first, which);
    meter_put_in(group, METER_TIME, t, which);
    meter_put_in(group, METER_SAMPLES, samples + 1.0, which);
}
#endif

#endif
