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

// What a point's rows are made of, and what these are made of.
typedef struct ArticulatedContactParts {
    Vector3 n, r, from_centre, v, across; // the point at r from the centre; its old velocity
    real height, above, depth, v_n, damping, force, slide, smooth, beta;
    mask touching;
} ArticulatedContactParts;

HD ArticulatedContactParts contact_parts(const ArticulatedLanes *w, const ArticulatedPose *pose,
                                         const ArticulatedPoint *point, real scale, Vector3 *c)
{
    ArticulatedContactParts s;
    s.from_centre = rotation_out(&pose->r, scaled(scale, vector3_of(point->p)));
    *c = added(pose->x, s.from_centre);
    const ArticulatedGround ground = ground_below(w, c->x, c->y);
    s.n = ground.normal;
    s.height = ground.height;
    s.above = (c->z - s.height) * s.n.z;
    s.depth = point->radius - s.above;
    s.touching = MASK(s.depth > 0.0);
    s.r = along(s.from_centre, -s.above, s.n);
    s.v = added(pose->v, cross3(pose->w, s.r));
    s.v_n = dot3(s.v, s.n);
    s.damping = w->ground_damping * lesser_of(s.depth / w->ground_depth, splat(1.0));
    s.force = greater_of(fused(w->ground_stiffness, s.depth, -(s.damping * s.v_n)), splat(0.0));
    s.across = along(s.v, -s.v_n, s.n);
    const real slide_squared = dot3(s.across, s.across);
    s.slide = square_root(slide_squared);
    s.smooth = square_root(fused(w->slip_speed, w->slip_speed, slide_squared));
    s.beta = w->ground_friction * s.force / s.smooth;
    return s;
}

// Bars of the rows: f, K_n, K_t; of the normal and of the arm.
typedef struct ArticulatedContactBar {
    real f, K_n, K_t;
    Vector3 n, r;
} ArticulatedContactBar;

HD ArticulatedContactBar contact_rows_bar(const ArticulatedLanes *w, int body, real h, const ArticulatedContactParts *s)
{
    ArticulatedContactBar bar;
    const Vector3 turn = solved(w, body, 3), back = lambda(w, body, 3);
    const Vector3 du = added(solved(w, body, 0), cross3(turn, s->r));
    const Vector3 dl = added(lambda(w, body, 0), cross3(back, s->r));
    const real un = dot3(s->n, du), ln = dot3(s->n, dl), K_t = h * s->beta;
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
HD real contact_depth_bar(const ArticulatedLanes *w, real h, const ArticulatedContactParts *s,
                          const ArticulatedContactBar *rows, const ArticulatedTouchBar *touch, Vector3 *v_bar,
                          Vector3 *n_bar)
{
    const real zero = splat(0.0), beta_bar = h * rows->K_t, smooth_bar = -(beta_bar * s->beta / s->smooth);
    const mask pressed = MASK(s->force > 0.0), fading = MASK(s->depth < w->ground_depth);
    const real force_bar = select_real(pressed, fused(beta_bar, w->ground_friction / s->smooth, touch->force), zero);
    const real slid = touch->slid / select_real(MASK(s->slide > 0.0), s->slide, splat(1.0));
    const real across_bar = smooth_bar / s->smooth + slid; // times `across`
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
                  select_real(s->touching, beta_bar * s->force / s->smooth, zero));
    parameter_bar(w, ARTICULATED_PARAMETER_slip_speed,
                  select_real(s->touching, smooth_bar * w->slip_speed / s->smooth, zero));
    *v_bar = along(scaled(across_bar, s->across), v_n_bar, s->n);
    *n_bar = along(scaled(v_n_bar, s->v), -(s->v_n * across_bar), s->across);
    return fused(h * w->ground_stiffness, rows->f, fused(w->ground_stiffness, force_bar, fade_bar));
}

HD Vector3 where_touching(const ArticulatedContactParts *s, Vector3 v)
{
    const real zero = splat(0.0);
    return vector3(select_real(s->touching, v.x, zero), select_real(s->touching, v.y, zero),
                   select_real(s->touching, v.z, zero));
}

HD void pull_point(const ArticulatedLanes *w, int body, const ArticulatedPose *pose, const ArticulatedPoint *point,
                   real h, const ArticulatedTouchBar *touch, ArticulatedPoseBar *pose_bar)
{
    const real scale = body_number(w, body, ARTICULATED_scale);
    Vector3 c, v_bar, n_bar;
    const ArticulatedContactParts s = contact_parts(w, pose, point, scale, &c);
    if (!any_lane(s.touching)) return;
    const ArticulatedContactBar rows = contact_rows_bar(w, body, h, &s);
    const real depth_bar = contact_depth_bar(w, h, &s, &rows, touch, &v_bar, &n_bar);
    const Vector3 r_bar = where_touching(&s, added(rows.r, cross3(v_bar, pose->w)));
    const Vector3 normal_bar =
        where_touching(&s, along(added(rows.n, n_bar), -s.above, added(rows.r, cross3(v_bar, pose->w))));
    const real above_bar = select_real(s.touching, -(dot3(s.n, r_bar) + depth_bar), splat(0.0));
    Vector3 c_bar = vector3(splat(0.0), splat(0.0), above_bar * s.n.z), all_n = normal_bar;
    all_n.z = fused(above_bar, c.z - s.height, all_n.z);
    c_bar.x = pull_ground(w, c.x, -(above_bar * s.n.z), all_n);
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
