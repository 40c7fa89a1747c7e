// The metrics of `equations`: reductions of expressions over a lane's life. Integrals are states of the method; here
// are the others. Greatest and least values include extrema inside a step.
#ifndef HOPSCOTCH_EQUATIONS_METRICS_H
#define HOPSCOTCH_EQUATIONS_METRICS_H

#include "../reduce.h"
#include "events.h"
#include "trail.h"

HD int equations_metric(const EquationsLane *lane, int metric, int member)
{
    return equations_integer(lane, lane->c->metrics + (int64_t)metric * EQUATIONS_METRIC + member);
}
HD int equations_sum(const EquationsLane *lane, int metric, int k)
{
    return lane->c->sums + metric * EQUATIONS_SUMS + k;
}

// Sums of a metric that takes values one by one: the value that is kept, and their number; of `spread` also the least.
HD void equations_reduce(const EquationsLane *lane, int metric, int take, real value, mask which)
{
    const int kept_at = equations_sum(lane, metric, 0), count_at = equations_sum(lane, metric, 1),
              least_at = equations_sum(lane, metric, 2);
    const real kept = frame_get(lane->frame, kept_at), count = frame_get(lane->frame, count_at),
               least = frame_get(lane->frame, least_at);
    const mask first = MASK(count == 0.0);
    frame_put(lane->frame, kept_at, reduction_next(take, first, kept, value), which);
    frame_put(lane->frame, least_at, select_real(first, value, program_min(least, value)), which);
    frame_put(lane->frame, count_at, count + 1.0, which);
    trail_extreme(lane, metric, first, kept, which);
}

HD real equations_reduced(const EquationsLane *lane, int metric, int take)
{
    const real kept = frame_get(lane->frame, equations_sum(lane, metric, 0)),
               count = frame_get(lane->frame, equations_sum(lane, metric, 1)),
               least = frame_get(lane->frame, equations_sum(lane, metric, 2));
    return reduction_result(take, kept, count, least);
}

// The expressions of metrics at the arguments, in the modes of `which`: numbers[n_metrics], then
// slopes.
HD void equations_watch(const EquationsLane *lane, int numbers, mask which)
{
    equations_of_modes(lane, EQUATIONS_MODE_WATCHED, numbers, 2 * lane->c->n_metrics, which);
}

HD mask equations_watches(const EquationsLane *lane, int metric)
{
    return equations_has_output(lane, EQUATIONS_MODE_WATCHED, metric);
}

enum { EQUATIONS_EXTREMUM_STEPS = 12 };

HD bool equations_is_extremum(int reduction) { return reduction == REDUCTION_MIN || reduction == REDUCTION_MAX; }

// Values where a state begins; the arguments are that state.
HD_CALL void equations_begin_extrema(const EquationsLane *UNALIASED lane, mask which)
{
    equations_owns_memory(lane);
    if (!lane->c->extrema || !any_lane(which)) return;
    equations_watch(lane, lane->c->watched, which);
    FRAME_EACH
    for (int m = 0; m < lane->c->n_metrics; m++) {
        const int reduction = equations_metric(lane, m, EQUATIONS_METRIC_REDUCTION);
        if (!equations_is_extremum(reduction)) continue;
        const int take = reduction == REDUCTION_MIN ? REDUCTION_TAKE_MIN : REDUCTION_TAKE_MAX;
        equations_reduce(lane, m, take, frame_get(lane->frame, lane->c->watched + m),
                         which & equations_watches(lane, m));
    }
}

// What was seen so far does not count, in the lanes of `which`.
HD void equations_forget_extrema(const EquationsLane *lane, mask which)
{
    FRAME_EACH
    for (int m = 0; m < lane->c->n_metrics; m++)
        if (equations_is_extremum(equations_metric(lane, m, EQUATIONS_METRIC_REDUCTION)))
            frame_put(lane->frame, equations_sum(lane, m, 1), splat(0.0), which);
}

// The lanes of accepted steps that are too long for what a metric wants the extrema of, as equations_overlooks. The
// arguments are the step's end, and its dense output is known.
HD mask equations_overlooks_extrema(const EquationsLane *lane, real t, real h, mask accepted)
{
    const EquationsConstants *c = lane->c;
    const int next = c->watched + 2 * c->n_metrics;
    mask strays = no_lanes();
    accepted = accepted & MASK(h > EQUATIONS_LOOK * c->duration);
    if (!c->extrema || c->fixed_steps || !any_lane(accepted)) return strays;
    equations_watch(lane, next, accepted);
    equations_argue_between(lane, t, h, splat(0.5));
    equations_watch(lane, c->saved, accepted);
    FRAME_EACH
    for (int m = 0; m < c->n_metrics; m++) {
        if (!equations_is_extremum(equations_metric(lane, m, EQUATIONS_METRIC_REDUCTION))) continue;
        const real from_slope = h * frame_get(lane->frame, c->watched + c->n_metrics + m),
                   to_slope = h * frame_get(lane->frame, next + c->n_metrics + m);
        strays = strays | (accepted & equations_strays(frame_get(lane->frame, c->watched + m),
                                                       frame_get(lane->frame, next + m), from_slope, to_slope,
                                                       frame_get(lane->frame, c->saved + m), EQUATIONS_BENDS));
    }
    equations_argue(lane, c->next);
    equations_at(lane, t + h);
    return strays;
}

// Metric m and its slope at theta of the step from t, in the modes of `which`.
HD real equations_watch_between(const EquationsLane *lane, int m, real t, real h, real theta, mask which, real *slope)
{
    equations_argue_between(lane, t, h, theta);
    equations_watch(lane, lane->c->saved, which);
    *slope = frame_get(lane->frame, lane->c->saved + lane->c->n_metrics + m);
    return frame_get(lane->frame, lane->c->saved + m);
}

// The extremum of metric m in the step from t, in the lanes of `bends`: where the slope is 0, from `theta` on by
// Illinois' method. sign: 1 for a greatest value, whose slopes at the ends are at_low > 0 and at_high < 0.
HD void equations_extremum(const EquationsLane *lane, int m, real t, real h, real theta, real sign, real at_low,
                           real at_high, mask bends)
{
    const int take = equations_metric(lane, m, EQUATIONS_METRIC_REDUCTION) == REDUCTION_MIN ? REDUCTION_TAKE_MIN
                                                                                            : REDUCTION_TAKE_MAX;
    real low = splat(0.0), high = splat(1.0);
    mask last_low = no_lanes(), last_high = no_lanes(), open = bends;
    for (int step = 0; step < EQUATIONS_EXTREMUM_STEPS && any_lane(open); step++) {
        real slope = splat(0.0);
        equations_reduce(lane, m, take, equations_watch_between(lane, m, t, h, theta, open, &slope), open);
        const real at = sign * slope;
        const mask up = open & MASK(at > 0.0), down = open & ~up;
        at_high = select_real(down, at, select_real(up & last_low, 0.5 * at_high, at_high));
        at_low = select_real(up, at, select_real(down & last_high, 0.5 * at_low, at_low));
        low = select_real(up, theta, low);
        high = select_real(down, theta, high);
        last_low = up;
        last_high = down;
        const real half = 0.5 * (low + high), secant = (low * at_high - high * at_low) / (at_high - at_low);
        const mask inside = MASK(secant > low) & MASK(secant < high);
        const real next = step % 4 == 3 ? half : select_real(inside, secant, half);
        open = open & MASK(absolute(next - theta) > 1e-9) & MASK(at != 0.0);
        theta = next;
    }
}

// Extrema inside a step, before its values become those of the lane. The dense output is that of the step.
HD_CALL void equations_inner_extrema(const EquationsLane *UNALIASED lane, real t, real h, mask which)
{
    equations_owns_memory(lane);
    const EquationsConstants *c = lane->c;
    if (!c->extrema || !any_lane(which)) return;
    const int next = c->watched + 2 * c->n_metrics; // at the end of the step
    equations_argue(lane, c->next);
    equations_at(lane, t + h);
    equations_watch(lane, next, which);
    FRAME_EACH
    for (int m = 0; m < c->n_metrics; m++) {
        const int reduction = equations_metric(lane, m, EQUATIONS_METRIC_REDUCTION);
        if (!equations_is_extremum(reduction)) continue;
        const real sign = splat(reduction == REDUCTION_MAX ? 1.0 : -1.0);
        const real slope = h * frame_get(lane->frame, c->watched + c->n_metrics + m),
                   next_slope = h * frame_get(lane->frame, next + c->n_metrics + m);
        const mask bends =
            which & equations_watches(lane, m) & MASK(sign * slope > 0.0) & MASK(sign * next_slope < 0.0);
        if (!any_lane(bends)) continue;
        real unused;
        const real theta = equations_bend(frame_get(lane->frame, c->watched + m), frame_get(lane->frame, next + m),
                                          slope, next_slope, &unused);
        equations_extremum(lane, m, t, h, theta, sign, sign * slope / h, sign * next_slope / h, bends);
    }
}

// The metrics at event `event`, before what it sets or after it.
HD_CALL void equations_at_event(const EquationsLane *UNALIASED lane, int event, bool after, mask which)
{
    const EquationsConstants *c = lane->c;
    bool watched = false;
    FRAME_EACH
    for (int m = 0; m < c->n_metrics; m++) {
        const int reduction = equations_metric(lane, m, EQUATIONS_METRIC_REDUCTION);
        if (equations_metric(lane, m, EQUATIONS_METRIC_EVENT) != event) continue;
        if (reduction == REDUCTION_COUNT && !after) {
            const int at = equations_sum(lane, m, 0);
            frame_put(lane->frame, at, frame_get(lane->frame, at) + 1.0, which);
        }
        if (reduction != (after ? REDUCTION_AFTER : REDUCTION_BEFORE)) continue;
        if (!watched) equations_watch(lane, c->saved, which);
        watched = true;
        equations_reduce(lane, m, equations_metric(lane, m, EQUATIONS_METRIC_TAKE),
                         frame_get(lane->frame, c->saved + m), which & equations_watches(lane, m));
    }
}

// After a step of length h, or at the start (h 0): durations, conditions, and the failure of the first condition that
// fails a lane; 0: none. The arguments are the lane's state.
HD_CALL real equations_conditions(const EquationsLane *UNALIASED lane, real h, mask which)
{
    equations_owns_memory(lane);
    const EquationsConstants *c = lane->c;
    const real t = equations_named(lane, EQUATIONS_T);
    real failure = splat(0.0);
    if (c->n_conditions == 0) return failure;
    equations_of_modes(lane, EQUATIONS_MODE_CONDITIONS, c->saved, c->n_conditions, which);
    FRAME_EACH
    for (int m = 0; m < c->n_metrics; m++) {
        const int reduction = equations_metric(lane, m, EQUATIONS_METRIC_REDUCTION);
        const int condition = equations_metric(lane, m, EQUATIONS_METRIC_CONDITION);
        if (condition < 0) continue;
        const mask held = which & program_is_true(frame_get(lane->frame, c->condition + condition)),
                   holds = which & program_is_true(frame_get(lane->frame, c->saved + condition));
        const int sum = equations_sum(lane, m, 0), count = equations_sum(lane, m, 1);
        if (reduction == REDUCTION_PART) frame_put(lane->frame, sum, frame_get(lane->frame, sum) + h, held);
        if (reduction == REDUCTION_LAST) frame_put(lane->frame, sum, t, c->is_map ? holds : held | holds);
        const mask first = holds & MASK(frame_get(lane->frame, count) == 0.0);
        if (reduction == REDUCTION_FIRST) frame_put(lane->frame, sum, t, first);
        frame_put(lane->frame, count, splat(1.0), held | holds);
    }
    FRAME_EACH
    for (int k = c->n_failed - 1; k >= 0; k--)
        failure = select_real(program_is_true(frame_get(lane->frame, c->saved + k)),
                              splat((double)equations_integer(lane, c->failed + k)), failure);
    FRAME_EACH
    for (int k = 0; k < c->n_conditions; k++)
        frame_put(lane->frame, c->condition + k, frame_get(lane->frame, c->saved + k), which);
    return failure;
}

// The time for which the expressions of means are defined.
HD void equations_durations(const EquationsLane *lane, real h, mask which)
{
    FRAME_EACH
    for (int m = 0; m < lane->c->n_metrics; m++) {
        const int reduction = equations_metric(lane, m, EQUATIONS_METRIC_REDUCTION), sum = equations_sum(lane, m, 0);
        if (reduction != REDUCTION_MEAN && reduction != REDUCTION_RMS) continue;
        frame_put(lane->frame, sum, frame_get(lane->frame, sum) + h, which & equations_watches(lane, m));
    }
}

HD real equations_metric_value(const EquationsLane *lane, int m, mask defined)
{
    const EquationsConstants *c = lane->c;
    const int reduction = equations_metric(lane, m, EQUATIONS_METRIC_REDUCTION),
              integral = equations_metric(lane, m, EQUATIONS_METRIC_INTEGRAL);
    const real sum = frame_get(lane->frame, equations_sum(lane, m, 0)),
               count = frame_get(lane->frame, equations_sum(lane, m, 1));
    const real total = integral >= 0 ? frame_get(lane->frame, c->y + c->n_states + integral) : splat(0.0);
    switch (reduction) {
    case REDUCTION_FINAL: return select_real(defined, frame_get(lane->frame, c->saved + m), math_nan());
    case REDUCTION_MEAN: return total / sum;
    case REDUCTION_RMS: return square_root(total / sum);
    case REDUCTION_INTEGRAL: return total;
    case REDUCTION_COUNT: return sum;
    case REDUCTION_MIN: return equations_reduced(lane, m, REDUCTION_TAKE_MIN);
    case REDUCTION_MAX: return equations_reduced(lane, m, REDUCTION_TAKE_MAX);
    case REDUCTION_BEFORE:
    case REDUCTION_AFTER: return equations_reduced(lane, m, equations_metric(lane, m, EQUATIONS_METRIC_TAKE));
    case REDUCTION_PART: return sum / equations_named(lane, EQUATIONS_T);
    default: return select_real(MASK(count > 0.0), sum, math_nan()); // FIRST, LAST
    }
}

// Ends the lanes of `which`. The arguments are the lane's state.
HD_CALL void equations_finish(const EquationsLane *UNALIASED lane, const LaneGroup *group, real failure, mask which)
{
    trail_end(lane);
    equations_watch(lane, lane->c->saved, which);
    FRAME_EACH
    for (int m = 0; m < lane->c->n_metrics; m++)
        lanes_set_metric(group, m, equations_metric_value(lane, m, equations_watches(lane, m)), which);
    lanes_set_metric(group, lane->c->n_metrics, equations_named(lane, EQUATIONS_T), which);
    lanes_end(group, failure, which);
}

#endif
