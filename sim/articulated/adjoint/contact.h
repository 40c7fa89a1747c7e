// A point against the ground, in reverse: contact.h from its last line to its first, with
//     lambda' (b - A u') = (n.dl) f - K_t dl.du - (K_n - K_t) (n.dl) (n.du)
// where du, dl are the velocities of the point by u' and lambda.
#ifndef HOPSCOTCH_ARTICULATED_ADJOINT_CONTACT_H
#define HOPSCOTCH_ARTICULATED_ADJOINT_CONTACT_H

#include "../contact.h"
#include "ground.h"
#include "memory.h"

// Bars of what metrics take from contacts: N, m/s.
typedef struct ArticulatedTouchBar {
    real force, slid;
} ArticulatedTouchBar;

// Friction of a point: its speed along the ground, sqrt(slide^2 + v_s^2), and beta.
typedef struct ArticulatedFriction {
    real slide, smooth, beta;
} ArticulatedFriction;

HD ArticulatedFriction contact_friction(const ArticulatedLanes *w, const ArticulatedContact *s)
{
    ArticulatedFriction f;
    const real slide_squared = dot3(s->across, s->across);
    f.slide = square_root(slide_squared);
    f.smooth = square_root(fused(w->slip_speed, w->slip_speed, slide_squared));
    f.beta = w->ground_friction * s->force / f.smooth;
    return f;
}

// Bars of the rows: f, K_n, K_t; of the normal and of the arm.
typedef struct ArticulatedContactBar {
    real f, K_n, K_t;
    Vector3 n, r;
} ArticulatedContactBar;

HD ArticulatedContactBar contact_rows_bar(const ArticulatedLanes *w, int body, real h, const ArticulatedContact *s,
                                          real beta)
{
    ArticulatedContactBar bar;
    const Vector3 turn = solved(w, body, 3), back = lambda(w, body, 3);
    const Vector3 du = added(solved(w, body, 0), cross3(turn, s->r));
    const Vector3 dl = added(lambda(w, body, 0), cross3(back, s->r));
    const real un = dot3(s->n, du), ln = dot3(s->n, dl), K_t = h * beta;
    const real K = h * fused(h, w->ground_stiffness, s->damping) - K_t, f = h * w->ground_stiffness * s->depth;
    const Vector3 dl_bar = along(scaled(-K_t, du), fused(-K, un, f), s->n);
    const Vector3 du_bar = along(scaled(-K_t, dl), -(K * ln), s->n);
    bar.f = ln;
    bar.K_n = -(ln * un);
    bar.K_t = fused(ln, un, -dot3(dl, du));
    bar.n = along(scaled(fused(-K, un, f), dl), -(K * ln), du);
    bar.r = added(cross3(dl_bar, back), cross3(du_bar, turn));
    return bar;
}

// From the bars of the rows to those of depth, old velocity and parameters. What does not touch gives nothing.
HD real contact_depth_bar(const ArticulatedLanes *w, real h, const ArticulatedContact *s,
                          const ArticulatedFriction *friction, const ArticulatedContactBar *rows,
                          const ArticulatedTouchBar *touch, Vector3 *v_bar, Vector3 *n_bar)
{
    const real zero = splat(0.0), beta_bar = h * rows->K_t,
               smooth_bar = -(beta_bar * friction->beta / friction->smooth);
    const mask pressed = MASK(s->force > 0.0), fading = MASK(s->depth < w->ground_depth);
    const real force_bar =
        select_real(pressed, fused(beta_bar, w->ground_friction / friction->smooth, touch->force), zero);
    const real slid = touch->slid / select_real(MASK(friction->slide > 0.0), friction->slide, splat(1.0));
    const real across_bar = smooth_bar / friction->smooth + slid; // times `across`
    const real damping_bar = fused(h, rows->K_n, -(s->v_n * force_bar));
    const real part = lesser_of(s->depth / w->ground_depth, splat(1.0));
    const real fade_bar = select_real(fading, damping_bar * w->ground_damping / w->ground_depth, zero);
    const real v_n_bar = fused(-s->damping, force_bar, -(across_bar * dot3(s->n, s->across)));
    parameter_bar(
        w, ARTICULATED_PARAMETER_ground_stiffness,
        select_real(s->touching, fused(h * s->depth, rows->f, fused(h * h, rows->K_n, s->depth * force_bar)), zero));
    parameter_bar(w, ARTICULATED_PARAMETER_ground_damping, select_real(s->touching, part * damping_bar, zero));
    parameter_bar(w, ARTICULATED_PARAMETER_ground_depth, select_real(s->touching, -(part * fade_bar), zero));
    parameter_bar(w, ARTICULATED_PARAMETER_ground_friction,
                  select_real(s->touching, beta_bar * s->force / friction->smooth, zero));
    parameter_bar(w, ARTICULATED_PARAMETER_slip_speed,
                  select_real(s->touching, smooth_bar * w->slip_speed / friction->smooth, zero));
    *v_bar = along(scaled(across_bar, s->across), v_n_bar, s->n);
    *n_bar = along(scaled(v_n_bar, s->v), -(s->v_n * across_bar), s->across);
    return fused(h * w->ground_stiffness, rows->f, fused(w->ground_stiffness, force_bar, fade_bar));
}

HD Vector3 where_touching(const ArticulatedContact *s, Vector3 v)
{
    const real zero = splat(0.0);
    return vector3(select_real(s->touching, v.x, zero), select_real(s->touching, v.y, zero),
                   select_real(s->touching, v.z, zero));
}

HD void pull_point(const ArticulatedLanes *w, int body, const ArticulatedPose *pose, const ArticulatedPoint *point,
                   real h, const ArticulatedTouchBar *touch, ArticulatedPoseBar *pose_bar)
{
    const real scale = body_number(w, body, ARTICULATED_scale);
    Vector3 v_bar, n_bar;
    const ArticulatedContact s = contact_state(w, pose, point, scale);
    if (!any_lane(s.touching)) return;
    const ArticulatedFriction friction = contact_friction(w, &s);
    const ArticulatedContactBar rows = contact_rows_bar(w, body, h, &s, friction.beta);
    const real depth_bar = contact_depth_bar(w, h, &s, &friction, &rows, touch, &v_bar, &n_bar);
    const Vector3 moved = added(rows.r, cross3(v_bar, pose->w)), r_bar = where_touching(&s, moved);
    const real above_bar = select_real(s.touching, -(dot3(s.n, r_bar) + depth_bar), splat(0.0));
    Vector3 normal_bar = where_touching(&s, along(added(rows.n, n_bar), -s.above, moved));
    Vector3 c_bar = vector3(splat(0.0), splat(0.0), above_bar * s.n.z);
    normal_bar.z = fused(above_bar, s.over, normal_bar.z);
    c_bar.x = pull_ground(w, pose->x.x + s.from_centre.x, -(above_bar * s.n.z), normal_bar);
    v_bar = where_touching(&s, v_bar);
    const Vector3 arm_bar = added(r_bar, c_bar);
    pose_bar->x = added(pose_bar->x, c_bar);
    pose_bar->v = added(pose_bar->v, v_bar);
    pose_bar->w = added(pose_bar->w, cross3(s.r, v_bar));
    pull_turned(&pose_bar->r, scaled(scale, vector3_of(point->p)), arm_bar);
    number_bar(w, body, ARTICULATED_scale, dot3(vector3_of(point->p), rotation_in(&pose->r, arm_bar)));
}

HD void pull_contacts(const ArticulatedLanes *w, int body, const ArticulatedPose *pose, real h,
                      const ArticulatedTouchBar *touch, ArticulatedPoseBar *pose_bar)
{
    const ArticulatedBody *of = &w->bodies[body];
    for (int k = 0; k < of->n_points; k++) pull_point(w, body, pose, &w->points[of->point + k], h, touch, pose_bar);
}

#endif
