// A point of a body against the ground: a damped spring along the normal n, dry friction across it, both implicit.
// With the depth d > 0 and the old velocity v of the point on the ground:
//     normal     K = h^2 k + h c(d), f = h k d,  c(d) = c min(d/d0, 1): the force is continuous
//     friction   K = h beta,  beta = mu f_n / sqrt(|v_t|^2 + v_s^2),  f_n = max(k d - c(d) v.n, 0)
#ifndef HOPSCOTCH_ARTICULATED_CONTACT_H
#define HOPSCOTCH_ARTICULATED_CONTACT_H

#include "ground.h"
#include "tree.h"

// What all points of a lane give in a step.
typedef struct ArticulatedTouch {
    real force, count, slid; // N; points; m/s of all points together
} ArticulatedTouch;

HD void contact_add(const ArticulatedLanes *w, const ArticulatedPose *pose, const ArticulatedPoint *point, real scale,
                    real h, real *a, real *b, ArticulatedTouch *touch)
{
    const Vector3 from_centre = rotation_out(&pose->r, scaled(scale, vector3_of(point->p))),
                  c = added(pose->x, from_centre);
    const ArticulatedGround ground = ground_below(w, c.x, c.y);
    const Vector3 n = ground.normal;
    const real above = (c.z - ground.height) * n.z, depth = point->radius - above;
    const mask touching = MASK(depth > 0.0);
    if (!any_lane(touching)) return;
    const Vector3 r = along(from_centre, -above, n); // the point on the ground
    const Vector3 v = added(pose->v, cross3(pose->w, r));
    const real v_n = dot3(v, n), damping = w->ground_damping * lesser_of(depth / w->ground_depth, splat(1.0));
    const real force = greater_of(fused(w->ground_stiffness, depth, -(damping * v_n)), splat(0.0));
    const Vector3 across = along(v, -v_n, n);
    const real slide_squared = dot3(across, across);
    const real beta = w->ground_friction * force / square_root(fused(w->slip_speed, w->slip_speed, slide_squared));
    const real zero = splat(0.0), K_t = select_real(touching, h * beta, zero);
    const real K_n = select_real(touching, h * fused(h, w->ground_stiffness, damping), zero);
    const real f = select_real(touching, h * w->ground_stiffness * depth, zero);
    real J[6];
    row_of_point(n, r, J);
    block_add_point(a, K_t, r);
    block_add_row(a, K_n - K_t, J);
    for (int k = 0; k < 6; k++) b[k] = fused(J[k], f, b[k]);
    touch->force = touch->force + select_real(touching, force, zero);
    touch->count = touch->count + select_real(touching, splat(1.0), zero);
    touch->slid = touch->slid + select_real(touching, square_root(slide_squared), zero);
}

// All points of a body.
HD real contact_body(const ArticulatedLanes *w, int body, const ArticulatedPose *pose, real h, real *a, real *b,
                     ArticulatedTouch *touch)
{
    const real before = touch->force;
    const ArticulatedBody *of = &w->bodies[body];
    const real scale = body_number(w, body, ARTICULATED_scale);
    for (int k = 0; k < of->n_points; k++) contact_add(w, pose, &w->points[of->point + k], scale, h, a, b, touch);
    return touch->force - before;
}

#endif
