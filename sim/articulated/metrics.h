// Metrics of a lane: sums over its steps, each in the cell of its metric, and what they become at the end.
#ifndef HOPSCOTCH_ARTICULATED_METRICS_H
#define HOPSCOTCH_ARTICULATED_METRICS_H

#include "step.h"

HD int articulated_sum(const ArticulatedLanes *w, int sum) { return w->c.sums_at + sum; }
HD void sum_add(const ArticulatedLanes *w, int sum, real x)
{
    set_limb(w, articulated_sum(w, sum), limb(w, articulated_sum(w, sum)) + x);
}
HD void sum_most(const ArticulatedLanes *w, int sum, real x)
{
    const real most = limb(w, articulated_sum(w, sum));
    const mask keeps = MASK(value_of(x) <= value_of(most)) | MASK(value_of(most) != value_of(most));
    set_limb(w, articulated_sum(w, sum), select_real(keeps, most, x));
}

// ---- momentum -------------------------------------------------------------------------------------------------------

typedef struct ArticulatedMomentum {
    Vector3 p, l;         // of all bodies; about the world's origin
    Vector3 arm;          // sum of m x
    real linear, angular; // sums of m |v| and of m |x| |v| + |L|
} ArticulatedMomentum;

HD ArticulatedMomentum momentum_zero(void)
{
    ArticulatedMomentum sum;
    sum.p = sum.l = sum.arm = vector3_zero();
    sum.linear = sum.angular = splat(0.0);
    return sum;
}

HD void momentum_add(const ArticulatedLanes *w, int body, ArticulatedMomentum *sum)
{
    const int at = articulated_at(body);
    const Vector3 x = limb3(w, at + ARTICULATED_X), L = limb3(w, at + ARTICULATED_L);
    const real m = body_number(w, body, ARTICULATED_mass);
    const Vector3 mv = scaled(m, limb3(w, at + ARTICULATED_V));
    const real size = length3(mv);
    sum->p = added(sum->p, mv);
    sum->l = added(sum->l, added(cross3(x, mv), L));
    sum->arm = along(sum->arm, m, x);
    sum->linear = sum->linear + size;
    sum->angular = fused(length3(x), size, sum->angular + length3(L));
}

HD void momentum_expect(const ArticulatedLanes *w, const ArticulatedMomentum *is)
{
    set_limb3(w, articulated_sum(w, ARTICULATED_SUM_ARM), is->arm);
    set_limb3(w, articulated_sum(w, ARTICULATED_SUM_MOMENTUM), is->p);
    set_limb3(w, articulated_sum(w, ARTICULATED_SUM_MOMENTUM + 3), is->l);
}

// What gravity and the push give in the next step, which begins where the bodies stand now.
HD void momentum_expect_step(const ArticulatedLanes *w, real t)
{
    const int at = articulated_sum(w, ARTICULATED_SUM_MOMENTUM);
    const real h = splat(w->c.dt), gh = -(h * w->gravity), mass = limb(w, articulated_sum(w, ARTICULATED_SUM_MASS));
    const Vector3 push = scaled(h, step_push(w, t)), x = limb3(w, base_at(w) + ARTICULATED_X);
    const Vector3 weight = vector3(splat(0.0), splat(0.0), gh), arm = limb3(w, articulated_sum(w, ARTICULATED_SUM_ARM));
    set_limb3(w, at, added(along(limb3(w, at), mass, weight), push));
    set_limb3(w, at + 3, added(limb3(w, at + 3), added(cross3(arm, weight), cross3(x, push))));
}

// The change of momentum that no force explains. Where a point touches the ground, or the base is fixed, what the
// ground gives is taken as explained.
HD void momentum_check(const ArticulatedLanes *w, const ArticulatedMomentum *is, mask free)
{
    const int at = articulated_sum(w, ARTICULATED_SUM_MOMENTUM);
    const Vector3 off = less(is->p, limb3(w, at)), off_turn = less(is->l, limb3(w, at + 3));
    const real tiny = splat(1e-300);
    set_limb3(w, articulated_sum(w, ARTICULATED_SUM_ARM), is->arm);
    sum_most(w, ARTICULATED_SUM_LINEAR, is->linear);
    sum_most(w, ARTICULATED_SUM_ANGULAR, is->angular);
    const real linear = length3(off) / (limb(w, articulated_sum(w, ARTICULATED_SUM_LINEAR)) + tiny);
    const real angular = length3(off_turn) / (limb(w, articulated_sum(w, ARTICULATED_SUM_ANGULAR)) + tiny);
    sum_most(w, ARTICULATED_METRIC_momentum_error, select_real(free, greater_of(linear, angular), splat(0.0)));
    for (int k = 0; k < 6; k++) {
        const real now = k == 0   ? is->p.x
                         : k == 1 ? is->p.y
                         : k == 2 ? is->p.z
                         : k == 3 ? is->l.x
                         : k == 4 ? is->l.y
                                  : is->l.z;
        set_limb(w, at + k, select_real(free, limb(w, at + k), now));
    }
}

// ---- sums -----------------------------------------------------------------------------------------------------------

// The angle between the base's z axis and the vertical.
HD real articulated_tilt(const ArticulatedLanes *w)
{
    const Rotation r = rotation_of(limb4(w, base_at(w) + ARTICULATED_Q));
    return arc_tangent2(square_root(fused(r.z.x, r.z.x, r.z.y * r.z.y)), r.z.z);
}

HD void articulated_begin_sums(const ArticulatedLanes *w)
{
    real mass = splat(0.0);
    for (int k = 0; k < ARTICULATED_SUMS; k++) set_limb(w, articulated_sum(w, k), splat(0.0));
    for (int i = 0; i < w->c.n_bodies; i++) mass = mass + body_number(w, i, ARTICULATED_mass);
    set_limb(w, articulated_sum(w, ARTICULATED_SUM_MASS), mass);
    set_limb(w, articulated_sum(w, ARTICULATED_SUM_X), limb(w, base_at(w) + ARTICULATED_X));
    set_limb(w, articulated_sum(w, ARTICULATED_SUM_Y), limb(w, base_at(w) + ARTICULATED_X + 1));
    ArticulatedMomentum momentum = momentum_zero();
    for (int i = 0; i < w->c.n_bodies; i++) momentum_add(w, i, &momentum);
    momentum_expect(w, &momentum);
}

// After a step of the length h whose commands changed by a sum of squares `changed`.
HD_CALL void articulated_sum_step(const ArticulatedLanes *restrict w, const ArticulatedSeen *seen, real changed)
{
    const real h = splat(w->c.dt), tilt = articulated_tilt(w);
    sum_add(w, ARTICULATED_METRIC_energy, h * seen->power);
    sum_add(w, ARTICULATED_METRIC_height_mean, limb(w, base_at(w) + ARTICULATED_X + 2));
    sum_add(w, ARTICULATED_METRIC_tilt_rms, tilt * tilt);
    sum_add(w, ARTICULATED_METRIC_action_rate, changed);
    sum_most(w, ARTICULATED_METRIC_ground_force_max, seen->peak);
    sum_add(w, ARTICULATED_METRIC_ground_force_mean, seen->touch.force);
    sum_add(w, ARTICULATED_METRIC_slip, h * seen->touch.slid);
    sum_most(w, ARTICULATED_METRIC_gap_max, seen->gap);
    sum_add(w, ARTICULATED_METRIC_saturation, seen->bound);
    sum_add(w, ARTICULATED_METRIC_limit_time, seen->beyond);
    sum_add(w, ARTICULATED_METRIC_contact_count, seen->touch.count);
    sum_add(w, ARTICULATED_METRIC_touchdowns, seen->touchdowns);
}

// Joints that count in a mean over joints, at least 1.
HD double articulated_count(const ArticulatedLanes *w, bool driven)
{
    int count = 0;
    for (int i = 0; i < w->c.n_bodies; i++)
        count += driven ? w->bodies[i].driven != 0 : w->bodies[i].joint >= 0 && w->bodies[i].ranged != 0;
    return count > 0 ? (double)count : 1.0;
}

// The distance that counts in the cost of transport: (d + sqrt(d^2 + e^2))/2, e = 0.1 m, and e^2/(4 |d|) far backwards.
HD real counted_root(real distance) { return square_root(fused(distance, distance, splat(0.01))); }
HD real counted_distance(real distance)
{
    const real half = 0.5 * (absolute(distance) + counted_root(distance)); // of both signs, without cancellation
    return select_real(MASK(value_of(distance) < 0.0), 0.0025 / half, half);
}

// The metrics of lanes that end after `steps` steps.
HD_CALL void articulated_metrics(const ArticulatedLanes *restrict w, real steps, mask which)
{
    const real t = steps * w->c.dt;
    const real moved = limb(w, base_at(w) + ARTICULATED_X) - limb(w, articulated_sum(w, ARTICULATED_SUM_X));
    const real drift = limb(w, base_at(w) + ARTICULATED_X + 1) - limb(w, articulated_sum(w, ARTICULATED_SUM_Y));
    real metric[ARTICULATED_N_METRICS];
    limbs_take(w, w->c.sums_at, ARTICULATED_N_METRICS, metric);
    const real weight = limb(w, articulated_sum(w, ARTICULATED_SUM_MASS)) * w->gravity;
    metric[ARTICULATED_METRIC_distance] = moved;
    metric[ARTICULATED_METRIC_mean_speed] = moved / t;
    metric[ARTICULATED_METRIC_lateral_drift] = absolute(drift);
    metric[ARTICULATED_METRIC_cost_of_transport] =
        metric[ARTICULATED_METRIC_energy] / (weight * counted_distance(moved));
    metric[ARTICULATED_METRIC_height_mean] = metric[ARTICULATED_METRIC_height_mean] / steps;
    metric[ARTICULATED_METRIC_tilt_rms] = square_root(metric[ARTICULATED_METRIC_tilt_rms] / steps);
    const real changes = metric[ARTICULATED_METRIC_action_rate] / (steps * articulated_count(w, true));
    metric[ARTICULATED_METRIC_action_rate] = square_root(changes) / w->c.dt;
    metric[ARTICULATED_METRIC_ground_force_mean] = metric[ARTICULATED_METRIC_ground_force_mean] / steps;
    metric[ARTICULATED_METRIC_saturation] =
        metric[ARTICULATED_METRIC_saturation] / (steps * articulated_count(w, true));
    metric[ARTICULATED_METRIC_limit_time] =
        metric[ARTICULATED_METRIC_limit_time] / (steps * articulated_count(w, false));
    metric[ARTICULATED_METRIC_contact_count] = metric[ARTICULATED_METRIC_contact_count] / steps;
    metric[ARTICULATED_METRIC_survived] = t;
    for (int m = 0; m < ARTICULATED_N_METRICS; m++) lanes_set_metric(w->group, m, metric[m], which);
}

#endif
