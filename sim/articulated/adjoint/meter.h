// Metrics of the user's own over the columns of samples (meter.h), in reverse. The run keeps the columns of each sample
// that they take. With the bar of what a metric has kept, which is the same at all samples, its derivatives at a sample
// give the bars of the sample's columns: the last of `final`, half of the time on both sides of those of integrals.
#ifndef HOPSCOTCH_ARTICULATED_ADJOINT_METER_H
#define HOPSCOTCH_ARTICULATED_ADJOINT_METER_H

#include "../../meter_slopes.h"
#include "../sample.h"
#include "reference.h"

// ---- memory ---------------------------------------------------------------------------------------------------------
// Doubles of a lane: the cells of the meter, the registers of its derivatives, the step at which the lane ended, the
// bars of what metrics have kept and of the columns and parameters that they take, then n_needed columns of each
// sample.

HD_BOTH int64_t metered_doubles(const Meter *meter, int64_t ticks)
{
    const int64_t inputs = meter->of.n_needed + meter->of.n_parameters;
    return meter->of.cells + meter->slopes->code.registers + 1 + meter->n_metrics + inputs + (ticks + 1) * meter->of.n_needed;
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
    for (int k = 0; k < meter->of.n_needed; k++) frame_set(metered->file, k, load_all(metered_column(metered, sample, k)));
    for (int k = 0; k < meter->of.n_needed + meter->of.n_parameters; k++) store_all(metered_cell(metered->input, k), zero);
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

// The bar of a column; 0: no metric takes it.
HD real metered_bar(const ArticulatedLanes *w, const Metered *metered, int column)
{
    const int at = meter_integer(w->group, metered->meter->of.columns + column);
    return at >= 0 ? load_all(metered_cell(metered->input, at)) : splat(0.0);
}
HD bool metered_takes(const ArticulatedLanes *w, const Metered *metered, int column)
{
    return meter_integer(w->group, metered->meter->of.columns + column) >= 0;
}
HD Vector3 metered_bar3(const ArticulatedLanes *w, const Metered *metered, int column)
{
    return vector3(metered_bar(w, metered, column), metered_bar(w, metered, column + 1),
                   metered_bar(w, metered, column + 2));
}
HD Quaternion metered_bar4(const ArticulatedLanes *w, const Metered *metered, int column)
{
    Quaternion q;
    q.x = metered_bar(w, metered, column);
    q.y = metered_bar(w, metered, column + 1);
    q.z = metered_bar(w, metered, column + 2);
    q.w = metered_bar(w, metered, column + 3);
    return q;
}

// sample_wide
HD_CALL int pull_sample_wide(const ArticulatedLanes *restrict w, const Metered *metered, int column)
{
    for (int i = 0; i < w->c.n_bodies; i++) {
        const int kind = w->bodies[i].kind;
        if (kind != ROBOT_BALL && (kind != ROBOT_FREE || i == 0)) continue;
        if (kind == ROBOT_FREE) {
            pull_position(w, i, metered_bar3(w, metered, column));
            column += 3;
        }
        pull_sample_turn(w, i, metered_bar4(w, metered, column));
        column += 4;
    }
    return column;
}

// sample_frames
HD_CALL void pull_sample_frames(const ArticulatedLanes *restrict w, const Metered *metered, int column)
{
    const ArticulatedFrame *frames = (const ArticulatedFrame *)(w->assets + w->c.frames);
    for (int i = 0; i < w->c.n_frames; i++, column += ARTICULATED_OF_FRAME) {
        const int body = frames[i].body;
        const ArticulatedPose pose = body_pose(w, body);
        const Vector3 p = vector3_of(frames[i].p), from = scaled(body_number(w, body, ARTICULATED_scale), p),
                      x_bar = metered_bar3(w, metered, column), v_bar = metered_bar3(w, metered, column + 7),
                      r_bar = added(x_bar, cross3(v_bar, pose.w));
        ArticulatedPoseBar bar = pose_bar_zero();
        bar.x = x_bar;
        bar.q = pull_first(metered_bar4(w, metered, column + 3), quaternion_of(frames[i].q));
        bar.v = v_bar;
        bar.w = added(metered_bar3(w, metered, column + 10), cross3(rotation_out(&pose.r, from), v_bar));
        pull_turned(&bar.r, from, r_bar);
        number_bar(w, body, ARTICULATED_scale, dot3(p, rotation_in(&pose.r, r_bar)));
        pose_bar_add(w, body, &bar);
    }
}

// articulated_sample. The bars of cells that a step computes wait there for pull_step and pull_commands.
HD_CALL void pull_sample(const ArticulatedLanes *restrict w, const Metered *metered)
{
    const int base = base_at(w), n = w->c.n_joints;
    int column = ARTICULATED_BASE_COLUMNS;
    pull_position(w, w->c.base, metered_bar3(w, metered, 1));
    bar_add4(w, base + ARTICULATED_Q, metered_bar4(w, metered, 4));
    bar_add3(w, base + ARTICULATED_V, metered_bar3(w, metered, 8));
    bar_add3(w, base + ARTICULATED_W, metered_bar3(w, metered, 11));
    for (int i = 0; i < w->c.n_bodies; i++) {
        const int at = articulated_at(i), of_joint = column + w->bodies[i].joint;
        if (w->bodies[i].joint < 0) continue;
        if (metered_takes(w, metered, of_joint)) pull_sample_coordinate(w, i, metered_bar(w, metered, of_joint));
        bar_add(w, at + ARTICULATED_RATE, metered_bar(w, metered, of_joint + n));
        bar_add(w, at + ARTICULATED_COMMAND, metered_bar(w, metered, of_joint + 2 * n));
        bar_add(w, at + ARTICULATED_EFFORT, metered_bar(w, metered, of_joint + 3 * n));
    }
    column += ARTICULATED_JOINT_COLUMNS * n;
    for (int i = 0; i < w->c.n_bodies; i++) {
        if (w->bodies[i].n_points > 0)
            bar_add(w, articulated_at(i) + ARTICULATED_FORCE, metered_bar(w, metered, column++));
    }
    column = pull_sample_wide(w, metered, column);
    pull_sample_frames(w, metered, column);
}

// After `steps` steps, where the bodies stand now.
HD_CALL void pull_meter(const ArticulatedLanes *restrict w, int64_t steps)
{
    const Metered metered = metered_open(w);
    const Meter *meter = metered.meter;
    metered_pull_values(w, &metered, steps);
    for (int k = meter->of.n_needed; k < meter->of.n_needed + meter->of.n_parameters; k++)
        parameter_bar(w, meter_parameter(meter, k), load_all(metered_cell(metered.input, k)));
    pull_sample(w, &metered);
}

#endif
