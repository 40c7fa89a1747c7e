// A point against the ground, in reverse: contact.h from its last line to its first, with
//     lambda' (b - A u') = (n.dl) f + dl.f_t - K_t dl.du - (K_n - K_t) (n.dl) (n.du)
// where du, dl are the velocities of the point by u' and lambda, and f_t is the impulse of the spring of anchored
// friction (grip.h). Metrics take the normal force (f - K_n (n.du))/h: its bar by h counts beside n.dl.
#ifndef HOPSCOTCH_ARTICULATED_ADJOINT_CONTACT_H
#define HOPSCOTCH_ARTICULATED_ADJOINT_CONTACT_H

#include "grip.h"
#include "point.h"

// Bars of what metrics take from contacts: of N, m/s.
typedef struct ArticulatedTouchBar {
    real force, slid;
} ArticulatedTouchBar;

// ---- viscous friction -----------------------------------------------------------------------------------------------

// K_t = h beta, beta = mu f_n / smooth, smooth = sqrt(slide^2 + v_s^2)
HD real viscous_smooth(const ArticulatedLanes *w, const ArticulatedContact *s)
{
    return square_root(fused(w->slip_speed, w->slip_speed, dot3(s->across, s->across)));
}

HD ArticulatedFriction viscous_friction(const ArticulatedLanes *w, const ArticulatedContact *s, real h)
{
    ArticulatedFriction friction;
    friction.K = h * (s->mu * s->force / viscous_smooth(w, s));
    friction.f = vector3_zero();
    return friction;
}

HD void pull_viscous(const ArticulatedLanes *w, const ArticulatedContact *s, double share, real h, real K_bar,
                     ArticulatedFrictionBar *bar)
{
    const real zero = splat(0.0), smooth = viscous_smooth(w, s), beta_bar = h * K_bar;
    const real smooth_bar = -(beta_bar * (s->mu * s->force / smooth) / smooth);
    parameter_bar(w, ARTICULATED_PARAMETER_ground_friction,
                  select_real(s->touching, share * (beta_bar * s->force / smooth), zero));
    parameter_bar(w, ARTICULATED_PARAMETER_slip_speed,
                  select_real(s->touching, smooth_bar * w->slip_speed / smooth, zero));
    bar->force = fused(beta_bar, s->mu / smooth, bar->force);
    bar->slid = smooth_bar / smooth + bar->slid;
}

// ---- rows -----------------------------------------------------------------------------------------------------------

// Bars of the rows: f, K_n, K_t, f_t; of the normal and of the arm.
typedef struct ArticulatedContactBar {
    real f, K_n, K_t;
    Vector3 f_t, n, r;
} ArticulatedContactBar;

HD ArticulatedContactBar contact_rows_bar(const ArticulatedLanes *w, int body, real h, const ArticulatedContact *s,
                                          const ArticulatedFriction *friction, real force_bar)
{
    ArticulatedContactBar bar;
    const Vector3 turn = solved(w, body, 3), back = lambda(w, body, 3);
    const Vector3 du = added(solved(w, body, 0), cross3(turn, s->r));
    const Vector3 dl = added(lambda(w, body, 0), cross3(back, s->r));
    const real un = dot3(s->n, du), ln = dot3(s->n, dl), K_t = friction->K, impulse_bar = force_bar / h;
    const real K_n = h * fused(h, w->ground_stiffness, s->damping), K = K_n - K_t;
    const real f = h * w->ground_stiffness * s->depth, held_bar = fused(K, ln, K_n * impulse_bar);
    Vector3 dl_bar = along(scaled(-K_t, du), fused(-K, un, f), s->n);
    if (w->c.grips > 0) dl_bar = added(dl_bar, friction->f);
    const Vector3 du_bar = along(scaled(-K_t, dl), -held_bar, s->n);
    bar.f = ln + impulse_bar;
    bar.f_t = dl;
    bar.K_n = -(bar.f * un);
    bar.K_t = fused(ln, un, -dot3(dl, du));
    bar.n = along(scaled(fused(-K, un, f), dl), -held_bar, du);
    bar.r = added(cross3(dl_bar, back), cross3(du_bar, turn));
    return bar;
}

// Bars of f_n and of the velocity along the ground, by friction and metrics. share: of the coefficient of friction in
// ground_friction.
HD ArticulatedFrictionBar contact_friction_bar(const ArticulatedLanes *w, int body, int cell, double share, real h,
                                               const ArticulatedContact *s, const ArticulatedContactBar *rows,
                                               real slid_bar)
{
    ArticulatedFrictionBar bar;
    const real slide = length3(s->across);
    bar.force = splat(0.0);
    bar.slid = slid_bar / select_real(MASK(slide > 0.0), slide, splat(1.0));
    bar.across = bar.n = bar.r = vector3_zero();
    if (cell > 0)
        pull_grip(w, body, cell, s, share, h, rows->K_t, rows->f_t, &bar);
    else
        pull_viscous(w, s, share, h, rows->K_t, &bar);
    return bar;
}

// Returns the bar of the depth; *v_bar, *n_bar: what else depends on it. What does not touch gives no parameter a bar.
HD real contact_depth_bar(const ArticulatedLanes *w, real h, const ArticulatedContact *s,
                          const ArticulatedContactBar *rows, const ArticulatedFrictionBar *friction, Vector3 *v_bar,
                          Vector3 *n_bar)
{
    const real zero = splat(0.0);
    const mask pressed = MASK(s->force > 0.0), fading = MASK(s->depth < w->ground_depth);
    const real force_bar = select_real(pressed, friction->force, zero);
    const real damping_bar = fused(h, rows->K_n, -(s->v_n * force_bar));
    const real fraction = lesser_of(s->depth / w->ground_depth, splat(1.0));
    const real fade_bar = select_real(fading, damping_bar * w->ground_damping / w->ground_depth, zero);
    const real slid = friction->slid, v_n_bar = fused(-s->damping, force_bar, -(slid * dot3(s->n, s->across)));
    parameter_bar(
        w, ARTICULATED_PARAMETER_ground_stiffness,
        select_real(s->touching, fused(h * s->depth, rows->f, fused(h * h, rows->K_n, s->depth * force_bar)), zero));
    parameter_bar(w, ARTICULATED_PARAMETER_ground_damping, select_real(s->touching, fraction * damping_bar, zero));
    parameter_bar(w, ARTICULATED_PARAMETER_ground_depth, select_real(s->touching, -(fraction * fade_bar), zero));
    *v_bar = along(scaled(slid, s->across), v_n_bar, s->n);
    *n_bar = along(scaled(v_n_bar, s->v), -(s->v_n * slid), s->across);
    if (w->c.grips > 0) pull_gripped(s, friction, v_bar, n_bar);
    return fused(h * w->ground_stiffness, rows->f, fused(w->ground_stiffness, force_bar, fade_bar));
}

HD Vector3 where_touching(const ArticulatedContact *s, Vector3 v)
{
    const real zero = splat(0.0);
    return vector3(select_real(s->touching, v.x, zero), select_real(s->touching, v.y, zero),
                   select_real(s->touching, v.z, zero));
}

HD void pull_point(const ArticulatedLanes *w, int body, const ArticulatedPose *pose, const ArticulatedPoint *point,
                   int cell, real h, const ArticulatedTouchBar *touch, ArticulatedPoseBar *pose_bar)
{
    const real scale = body_number(w, body, ARTICULATED_scale);
    Vector3 v_bar, n_bar;
    const ArticulatedContact s = contact_state(w, pose, point, scale);
    if (!any_lane(s.touching)) {
        if (cell > 0) set_bar3(w, cell, vector3_zero());
        return;
    }
    const ArticulatedFriction friction = cell > 0 ? grip_friction(w, &s, cell, h) : viscous_friction(w, &s, h);
    const ArticulatedContactBar rows = contact_rows_bar(w, body, h, &s, &friction, touch->force);
    const ArticulatedFrictionBar by_friction =
        contact_friction_bar(w, body, cell, point->friction, h, &s, &rows, touch->slid);
    const real depth_bar = contact_depth_bar(w, h, &s, &rows, &by_friction, &v_bar, &n_bar);
    Vector3 moved = added(rows.r, cross3(v_bar, pose->w));
    if (cell > 0) moved = added(moved, by_friction.r);
    const Vector3 r_bar = where_touching(&s, moved);
    const real above_bar = select_real(s.touching, -(dot3(s.n, r_bar) + depth_bar), splat(0.0));
    const Vector3 normal_bar = where_touching(&s, along(added(rows.n, n_bar), -s.near.above, moved));
    Vector3 c_bar =
        pull_near(w, &w->surfaces[point->surface], added(pose->x, s.from_centre), &s.near, above_bar, normal_bar);
    v_bar = where_touching(&s, v_bar);
    const Vector3 arm_bar = added(r_bar, c_bar);
    c_bar = added(c_bar, pull_reach(w, body, pose, point, scale, arm_bar, &pose_bar->r));
    pose_bar->x = added(pose_bar->x, c_bar);
    pose_bar->v = added(pose_bar->v, v_bar);
    pose_bar->w = added(pose_bar->w, cross3(s.r, v_bar));
}

// Of the normal forces on a body, by metrics and columns.
HD real ground_force_bar(const ArticulatedLanes *w, int body, const ArticulatedTouchBar *touch)
{
    return columns_count(w) ? touch->force + bar(w, articulated_at(body) + ARTICULATED_FORCE) : touch->force;
}

// Before lambda is known: what these forces add to ubar'.
HD void pull_forces(const ArticulatedLanes *w, int body, real h, const ArticulatedTouchBar *touch)
{
    const int at = articulated_at(body);
    const real impulse_bar = ground_force_bar(w, body, touch) / h;
    for (int k = 0; k < 6; k++)
        bar_add(w, at + ARTICULATED_U + k, -(impulse_bar * limb(w, at + ARTICULATED_PUSH + 1 + k)));
}

HD void pull_contacts(const ArticulatedLanes *w, int body, const ArticulatedPose *pose, real h,
                      const ArticulatedTouchBar *touch, ArticulatedPoseBar *pose_bar)
{
    const ArticulatedBody *of = &w->bodies[body];
    const real scale = body_number(w, body, ARTICULATED_scale);
    for (int k = 0, away = 0; k < of->n_points; k++) {
        if (away == 0 && w->c.grips == 0) away = contact_away(w, pose, &w->points[of->point + k], scale);
        if (away > 0 && away-- > 0) continue;
        pull_point(w, body, pose, &w->points[of->point + k], grip_cell(w, of->point + k), h, touch, pose_bar);
    }
}

#endif
