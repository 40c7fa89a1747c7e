// How far a lane's motion is from a recorded one (option `reference`): the metric
//     reference_error = sqrt(mean of rho((y(t_r) - y_r)/scale))   over the rows r and the columns of the record
// where it has a value: NaN is a gap. rho(d) = d^2, or that of a robust loss with the width k: Huber's is
// 2 k |d| - k^2 where |d| > k, Cauchy's is k^2 log(1 + d^2/k^2).
// y: a column of the trajectory; of a joint's coordinate what its encoder reads. The motion is linear between two
// steps: with t_r = (k - 1 + a) dt, 0 < a <= 1,
//     y(t_r) = (1 - a) y_(k-1) + a y_k,   y_k after k steps
// The lane keeps y of the last two steps, in turn, where a row needs them.
#ifndef HOPSCOTCH_ARTICULATED_REFERENCE_H
#define HOPSCOTCH_ARTICULATED_REFERENCE_H

#include "sample.h"

// What is kept of a difference: by lanes with derivatives the root of its loss, by the adjoint what it pulls at.
#ifdef HOPSCOTCH_DUAL
#define REFERENCE_KEPT(error, pull) ((void)(pull), (error))
#else
#define REFERENCE_KEPT(error, pull) (pull)
#endif

// Cells of a lane: the sum of squares, the count, and two times y.
enum { REFERENCE_SUM, REFERENCE_COUNT, REFERENCE_VALUES };
HD int reference_cell(const ArticulatedLanes *w, int cell) { return w->c.compared + cell; }
HD int reference_value_cell(const ArticulatedLanes *w, int64_t step, int target)
{
    return reference_cell(w, REFERENCE_VALUES + (int)(step % 2) * w->c.n_targets + target);
}

HD const ArticulatedTarget *reference_target(const ArticulatedLanes *w, int target)
{
    return (const ArticulatedTarget *)(w->assets + w->c.targets) + target;
}

// Of a row of the record: k and a above; the value of a column.
HD int64_t record_step(const ArticulatedLanes *w, int row) { return (int64_t)w->assets[w->c.records + row]; }
HD double record_fraction(const ArticulatedLanes *w, int row) { return w->assets[w->c.records + w->c.n_records + row]; }
HD double record_value(const ArticulatedLanes *w, int row, int target)
{
    return w->assets[w->c.records + 2 * w->c.n_records + row * w->c.n_targets + target];
}
HD bool record_has(const ArticulatedLanes *w, int row, int target)
{
    const double value = record_value(w, row, target);
    return value == value; // NaN: a gap
}

// The first row whose step is `step` or later.
HD int record_first(const ArticulatedLanes *w, int64_t step)
{
    int low = 0, high = w->c.n_records;
    while (low < high) {
        const int middle = low + (high - low) / 2;
        if (record_step(w, middle) < step)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// ---- values ---------------------------------------------------------------------------------------------------------

HD real vector3_component(Vector3 v, int k) { return k == 0 ? v.x : k == 1 ? v.y : v.z; }
HD real quaternion_component(Quaternion q, int k) { return k == 0 ? q.x : k == 1 ? q.y : k == 2 ? q.z : q.w; }

// As in a sample of the trajectory, but by encoders.
HD_CALL real reference_value(const ArticulatedLanes *restrict w, int target)
{
    const ArticulatedTarget *of = reference_target(w, target);
    if (of->kind == ARTICULATED_TARGET_CELL) return limb(w, articulated_at(of->body) + of->component);
    if (of->kind == ARTICULATED_TARGET_COORDINATE) {
        const real coordinate = sample_coordinate(w, of->body);
        return body_varies(w, of->body, ARTICULATED_encoder)
                   ? coordinate + body_number(w, of->body, ARTICULATED_encoder)
                   : coordinate;
    }
    const ArticulatedPose pose = body_pose(w, of->body);
    if (of->kind == ARTICULATED_TARGET_POSITION)
        return vector3_component(sample_position(w, of->body, &pose), of->component);
    return quaternion_component(sample_turn(w, of->body, &pose), of->component);
}

// (y(t_r) - y_r)/scale, after the step of the row.
HD real reference_residual(const ArticulatedLanes *w, int row, int target)
{
    const int64_t step = record_step(w, row);
    const double fraction = record_fraction(w, row);
    const real now = limb(w, reference_value_cell(w, step, target));
    real value = now;
    if (fraction < 1.0) { // 1: a row at a step needs no other
        const real before = limb(w, reference_value_cell(w, step - 1, target));
        value = fused(splat(fraction), now - before, before);
    }
    return (value - record_value(w, row, target)) * reference_target(w, target)->weight;
}

// sign(d) sqrt(rho(d)), whose square is rho. *pull: rho'(d)/2, by which the adjoint weighs what d depends on.
HD real reference_loss(const ArticulatedLanes *w, real d, real *pull)
{
    const real k = splat(w->c.loss_width), size = absolute(d), one = splat(1.0);
    const real sign = select_real(MASK(value_of(d) < 0.0), -one, one);
    *pull = d;
    if (w->c.loss == ARTICULATED_HUBER) {
        const mask far = MASK(value_of(size) > w->c.loss_width);
        *pull = select_real(far, sign * k, d);
        return select_real(far, sign * square_root(select_real(far, k * (2.0 * size - k), one)), d);
    }
    if (w->c.loss == ARTICULATED_CAUCHY) {
        const real ratio = d / k, squares = one + ratio * ratio;
        const mask far = MASK(value_of(size) > 1e-4 * w->c.loss_width);
        *pull = d / squares;
        return select_real(far, sign * k * square_root(select_real(far, logarithm(squares), one)), d);
    }
    return d;
}

// ---- steps ----------------------------------------------------------------------------------------------------------

// Whether a row needs the values after `step` steps: rows [first, end) are those of that step.
HD bool reference_needs(const ArticulatedLanes *w, int64_t step, int first, int end)
{
    return end > first || (end < w->c.n_records && record_step(w, end) == step + 1 && record_fraction(w, end) < 1.0);
}

// After `step` steps.
HD_CALL void reference_compare(const ArticulatedLanes *restrict w, int64_t step)
{
    const int first = record_first(w, step), end = record_first(w, step + 1);
    if (!reference_needs(w, step, first, end)) return;
    real sum = limb(w, reference_cell(w, REFERENCE_SUM)), count = limb(w, reference_cell(w, REFERENCE_COUNT));
    for (int k = 0; k < w->c.n_targets; k++) set_limb(w, reference_value_cell(w, step, k), reference_value(w, k));
    for (int row = first; row < end; row++) {
        for (int k = 0; k < w->c.n_targets; k++) {
            real pull;
            if (!record_has(w, row, k)) continue;
            const real error = reference_loss(w, reference_residual(w, row, k), &pull);
            sum = fused(error, error, sum);
            count = count + 1.0;
            if (w->residuals != NULL)
                store_all(w->residuals + (row * w->c.n_targets + k) * ARTICULATED_STRIDE, REFERENCE_KEPT(error, pull));
        }
    }
    set_limb(w, reference_cell(w, REFERENCE_SUM), sum);
    set_limb(w, reference_cell(w, REFERENCE_COUNT), count);
}

HD void reference_begin(const ArticulatedLanes *w)
{
    set_limb(w, reference_cell(w, REFERENCE_SUM), splat(0.0));
    set_limb(w, reference_cell(w, REFERENCE_COUNT), splat(0.0));
    reference_compare(w, 0);
}

// The metric, over the rows so far. NaN: there are none.
HD real reference_error(const ArticulatedLanes *w)
{
    return square_root(limb(w, reference_cell(w, REFERENCE_SUM)) / limb(w, reference_cell(w, REFERENCE_COUNT)));
}

#endif
