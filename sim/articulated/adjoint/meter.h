// Metrics of the user's own over the columns of samples (meter.h), in reverse. The run keeps the columns of each sample
// that they take. With the bar of what a metric has kept, which is the same at all samples, its derivatives at a sample
// give the bars of the sample's columns: the last of `final`, half of the time on both sides of those of integrals.
#ifndef HOPSCOTCH_ARTICULATED_ADJOINT_METER_H
#define HOPSCOTCH_ARTICULATED_ADJOINT_METER_H

#include "../../meter_slopes.h"
#include "sample.h"

// ---- memory ---------------------------------------------------------------------------------------------------------
// Doubles of a lane: the cells of the meter, the registers of its derivatives, the step at which the lane ended, the
// bars of what metrics have kept and of the columns and parameters that they take, then n_needed columns of each
// sample.

HD_BOTH int64_t metered_doubles(const Meter *meter, int64_t ticks)
{
    const int64_t inputs = meter->of.n_needed + meter->of.n_parameters;
    return meter->of.cells + meter->slopes->code.registers + 1 + meter->n_metrics + inputs +
           (ticks + 1) * meter->of.n_needed;
}

typedef struct Metered {
    const Meter *meter;
    Frame file;     // the registers of the derivatives
    double *end;    // [1] steps at its end
    double *kept;   // [n_metrics]
    double *input;  // [n_needed + n_parameters]
    double *column; // [ticks + 1][n_needed]
} Metered;

HD Metered metered_open(const ArticulatedLanes *w)
{
    Metered metered;
    const Meter *meter = metered.meter = &w->group->batch.meter;
    metered.file.at = w->metered + (int64_t)meter->of.cells * ARTICULATED_STRIDE;
    metered.file.apart = 1;
    metered.end = metered.file.at + (int64_t)meter->slopes->code.registers * ARTICULATED_STRIDE;
    metered.kept = metered.end + ARTICULATED_STRIDE;
    metered.input = metered.kept + (int64_t)meter->n_metrics * ARTICULATED_STRIDE;
    metered.column = metered.input + (int64_t)(meter->of.n_needed + meter->of.n_parameters) * ARTICULATED_STRIDE;
    return metered;
}
HD double *metered_cell(double *first, int64_t k) { return first + k * ARTICULATED_STRIDE; }
HD double *metered_column(const Metered *metered, int64_t sample, int k)
{
    return metered_cell(metered->column, sample * metered->meter->of.n_needed + k);
}

// ---- forward --------------------------------------------------------------------------------------------------------

HD void metered_begin(const ArticulatedLanes *w) { meter_put(w->group, METER_SAMPLES, splat(0.0)); }

// A sample after `steps` steps. Lanes that had ended before keep the columns of their ends.
HD_CALL void metered_sample(const ArticulatedLanes *restrict w, int64_t steps, bool last, mask which)
{
    const Metered metered = metered_open(w);
    articulated_sample(w, splat((double)steps * w->c.dt), last, which);
    for (int k = 0; k < metered.meter->of.n_needed; k++)
        store_all(metered_column(&metered, steps, k), meter_get(w->group, meter_register(w->group, k)));
}

// ---- back -----------------------------------------------------------------------------------------------------------

HD void metered_back_begin(const ArticulatedLanes *w)
{
    const Metered metered = metered_open(w);
    meter_slopes_begin(w->group, metered.file);
}

// Before the last step in reverse of some lanes: of all, which ended after `steps` steps, the bars of what their
// metrics have kept. weight[all metrics][lanes].
HD_CALL void metered_enter(const ArticulatedLanes *restrict w, real steps, const double *weight, int64_t lanes)
{
    const Metered metered = metered_open(w);
    const real time = steps * w->c.dt;
    store_all(metered.end, steps);
    for (int m = 0; m < metered.meter->n_metrics; m++) {
        const MeterMetric metric = meter_metric(w->group, m);
        const real own = load_lanes(weight + (metered.meter->first + m) * lanes, w->group->valid);
        const real bar = meter_bar_of_kept(&metric, time, own);
        store_all(metered_cell(metered.kept, m), select_real(MASK(own == 0.0), splat(0.0), bar));
    }
}

// The bars of the columns and parameters of a sample.
HD void metered_pull_values(const ArticulatedLanes *w, const Metered *metered, int64_t sample)
{
    const Meter *meter = metered->meter;
    const double t = (double)sample * w->c.dt, before = sample > 0 ? t - (double)(sample - 1) * w->c.dt : 0.0;
    const mask last = MASK(load_all(metered->end) == (double)sample);
    const real after = select_real(last, splat(0.0), splat((double)(sample + 1) * w->c.dt - t));
    const real share = 0.5 * (before + after), one = splat(1.0), zero = splat(0.0);
    for (int k = 0; k < meter->of.n_needed; k++)
        frame_set(metered->file, k, load_all(metered_column(metered, sample, k)));
    for (int k = 0; k < meter->of.n_needed + meter->of.n_parameters; k++)
        store_all(metered_cell(metered->input, k), zero);
    meter_slopes_run(w->group, metered->file);
    for (int i = 0; i < meter->slopes->n_rows; i++) {
        const MeterSlopeRow row = meter_slope_row(meter, i);
        const bool final = meter_reduction(meter, row.metric) == REDUCTION_FINAL;
        const real weight =
            load_all(metered_cell(metered->kept, row.metric)) * (final ? select_real(last, one, zero) : share);
        const real by = select_real(MASK(weight == 0.0), zero, weight * frame_get(metered->file, row.of));
        double *bar = metered_cell(metered->input, row.by);
        store_all(bar, load_all(bar) + by);
    }
}

// After `steps` steps, where the bodies stand now.
HD_CALL void pull_meter(const ArticulatedLanes *restrict w, int64_t steps)
{
    const Metered metered = metered_open(w);
    const Meter *meter = metered.meter;
    metered_pull_values(w, &metered, steps);
    for (int k = meter->of.n_needed; k < meter->of.n_needed + meter->of.n_parameters; k++)
        parameter_bar(w, meter_parameter(meter, k), load_all(metered_cell(metered.input, k)));
    const ColumnBars bars = {&meter->of, metered.input};
    pull_sample(w, &bars);
}

#endif
