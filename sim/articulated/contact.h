// A point of a body against the ground: a damped spring along the normal n, dry friction across it, both implicit.
// Friction is viscous below v_s, or anchored.
// With the depth d > 0 and the old velocity v of the point on the ground:
//     normal     K = h^2 k + h c(d), f = h k d,  c(d) = c min(d/d0, 1): the force is continuous
//     friction   K = h beta,  beta = mu f_n / sqrt(|v_t|^2 + v_s^2),  f_n = max(k d - c(d) v.n, 0)
// The normal force of the step is that of the row, (f - K n.v')/h with the solved v' of the point. f_n is its estimate
// before the solve, for friction alone.
#ifndef HOPSCOTCH_ARTICULATED_CONTACT_H
#define HOPSCOTCH_ARTICULATED_CONTACT_H

#include "point.h"
#include "tree.h"

// What all points of a lane give in a step.
typedef struct ArticulatedTouch {
    real force, count, slid; // N, after the solve; points; m/s of all points together
} ArticulatedTouch;

// A point at the old pose, where it touches the ground or would.
typedef struct ArticulatedContact {
    mask touching;
    Vector3 n, r;        // normal; the point on the ground, from the centre
    Vector3 across;      // its velocity along the ground
    real depth, damping; // m; c(d)
    real force, mu;      // f_n; coefficient of friction
    // what these are computed from
    Vector3 from_centre, v; // the point in the body; velocity of the one on the ground
    ArticulatedNear near;   // the point against its surface
    real v_n;               // v.n
} ArticulatedContact;

HD ArticulatedContact contact_state(const ArticulatedLanes *w, const ArticulatedPose *pose,
                                    const ArticulatedPoint *point, real scale)
{
    ArticulatedContact at;
    at.from_centre = point_reach(w, pose, point, scale);
    at.near = surface_near(w, &w->surfaces[point->surface], added(pose->x, at.from_centre));
    at.n = at.near.normal;
    at.depth = point->radius - at.near.above;
    at.touching = MASK(value_of(at.depth) > 0.0);
    at.r = along(at.from_centre, -at.near.above, at.n);
    at.mu = point->friction * w->ground_friction;
    at.v = added(pose->v, cross3(pose->w, at.r));
    at.v_n = dot3(at.v, at.n);
    at.damping = w->ground_damping * lesser_of(at.depth / w->ground_depth, splat(1.0));
    at.force = greater_of(fused(w->ground_stiffness, at.depth, -(at.damping * at.v_n)), splat(0.0));
    at.across = along(at.v, -at.v_n, at.n);
    return at;
}

// How many points from this one on belong to a shape that touches nothing of its surface in any lane; 0: perhaps it
// does.
HD int contact_away(const ArticulatedLanes *w, const ArticulatedPose *pose, const ArticulatedPoint *point, real scale)
{
    const ArticulatedSurface *surface = &w->surfaces[point->surface];
    if (point->group < 2 || surface->kind == ARTICULATED_ON_TERRAIN || surface->kind == ARTICULATED_ON_HFIELD) return 0;
    const Vector3 middle = rotation_out(&pose->r, body_place(w, point->body, scale, vector3_of(point->p)));
    const real above = surface_near(w, surface, added(pose->x, middle)).above;
    const real bound = fused(scale, splat(point->spread), splat(point->reach)) * (1.0 + 1e-9) + 1e-9; // for rounding
    return any_lane(MASK(value_of(above) <= value_of(bound))) ? 0 : point->group;
}

// ---- anchored friction ----------------------------------------------------------------------------------------------
// A spring to where the point first touched, its stretch s as the way that the point slid: a ball that rolls stretches
// nothing. With t = k s + (h k + d) v_t and c = min(1, mu f_n/|t|):
//     K = c (h^2 k + h d), f = -h c k s;   afterwards s' = s + h v_t', at most mu f_n/k long
// So a point that rests does not creep, and one that slips is held by mu f_n.
// Source: P. A. Cundall & O. D. L. Strack, A discrete numerical model for granular assemblies, Geotechnique 29, 1979.

// The factor c, for a stretch s along the ground.
HD real grip_fraction(const ArticulatedLanes *w, const ArticulatedContact *at, Vector3 s, real h)
{
    const real rate = fused(h, w->grip_stiffness, w->grip_damping);
    const real pull = length3(along(scaled(w->grip_stiffness, s), rate, at->across)), most = at->mu * at->force;
    return select_real(MASK(value_of(pull) > value_of(most)), most / pull, splat(1.0));
}

HD Vector3 grip_stretch(const ArticulatedLanes *w, int cell, Vector3 n)
{
    const Vector3 s = limb3(w, cell);
    return along(s, -dot3(s, n), n);
}

// Adds the spring's impulse; returns K.
HD real grip_add(const ArticulatedLanes *w, const ArticulatedContact *at, int cell, real h, real *b)
{
    const Vector3 s = grip_stretch(w, cell, at->n);
    const real fraction = select_real(at->touching, grip_fraction(w, at, s, h), splat(0.0));
    side_add(b, splat(1.0), at->r, scaled(-(h * fraction * w->grip_stiffness), s), vector3_zero());
    return fraction * (h * fused(h, w->grip_stiffness, w->grip_damping));
}

// Stretches the springs of a body by u', before it moves.
HD void grip_store(const ArticulatedLanes *w, int body, real h)
{
    const ArticulatedBody *of = &w->bodies[body];
    const ArticulatedPose pose = body_pose(w, body);
    const Vector3 v = limb3(w, articulated_at(body) + ARTICULATED_U),
                  turn = limb3(w, articulated_at(body) + ARTICULATED_U + 3);
    for (int k = 0; k < of->n_points; k++) {
        const int cell = w->c.grips + 3 * (of->point + k);
        const ArticulatedContact at =
            contact_state(w, &pose, &w->points[of->point + k], body_number(w, body, ARTICULATED_scale));
        const Vector3 moved = along(limb3(w, cell), h, added(v, cross3(turn, at.r)));
        const Vector3 s = along(moved, -dot3(moved, at.n), at.n);
        const real length = length3(s), most = at.mu * at.force / w->grip_stiffness;
        const real fraction = select_real(MASK(value_of(length) > value_of(most)), most / length, splat(1.0));
        set_limb3(w, cell, scaled(select_real(at.touching, fraction, splat(0.0)), s));
        if (w->c.whole > 0) set_limb(w, grip_touch(w, of->point + k), select_real(at.touching, splat(1.0), splat(0.0)));
    }
}

// ---- rows -----------------------------------------------------------------------------------------------------------

// cell: of the point's spring; 0: viscous friction. push[7]: gets f and K_n J (ARTICULATED_PUSH).
HD void contact_add(const ArticulatedLanes *w, const ArticulatedPose *pose, const ArticulatedPoint *point, real scale,
                    int cell, real h, real *a, real *b, real *push, ArticulatedTouch *touch)
{
    const ArticulatedContact at = contact_state(w, pose, point, scale);
    if (!any_lane(at.touching)) return;
    const real slide_squared = dot3(at.across, at.across), zero = splat(0.0);
    const real beta = at.mu * at.force / square_root(fused(w->slip_speed, w->slip_speed, slide_squared));
    const real K_t = cell > 0 ? grip_add(w, &at, cell, h, b) : select_real(at.touching, h * beta, zero);
    const real K_n = select_real(at.touching, h * fused(h, w->ground_stiffness, at.damping), zero);
    const real f = select_real(at.touching, h * w->ground_stiffness * at.depth, zero);
    real J[6];
    row_of_point(at.n, at.r, J);
    body_block_add_point(a, K_t, at.r);
    body_block_add_row(a, K_n - K_t, J);
    for (int k = 0; k < 6; k++) b[k] = fused(J[k], f, b[k]);
    push[0] = push[0] + f;
    for (int k = 0; k < 6; k++) push[1 + k] = fused(K_n, J[k], push[1 + k]);
    touch->count = touch->count + select_real(at.touching, splat(1.0), zero);
    touch->slid = touch->slid + select_real(at.touching, square_root(slide_squared), zero);
}

// All points of a body.
HD void contact_body(const ArticulatedLanes *w, int body, const ArticulatedPose *pose, real h, real *a, real *b,
                     ArticulatedTouch *touch)
{
    real push[7];
    for (int k = 0; k < 7; k++) push[k] = splat(0.0);
    const ArticulatedBody *of = &w->bodies[body];
    const real scale = body_number(w, body, ARTICULATED_scale);
    for (int k = 0, away = 0; k < of->n_points; k++) {
        if (away == 0) away = contact_away(w, pose, &w->points[of->point + k], scale);
        if (away > 0 && away-- > 0) continue;
        const int cell = w->c.grips > 0 ? w->c.grips + 3 * (of->point + k) : 0;
        contact_add(w, pose, &w->points[of->point + k], scale, cell, h, a, b, push, touch);
    }
    limbs_put(w, articulated_at(body) + ARTICULATED_PUSH, 7, push);
}

// The sum of the normal forces on a body in the step, by u' (N). Below 0 where the damping holds a body that leaves.
HD real contact_force(const ArticulatedLanes *w, int body, real h)
{
    real u[6], push[7];
    limbs_take(w, articulated_at(body) + ARTICULATED_U, 6, u);
    limbs_take(w, articulated_at(body) + ARTICULATED_PUSH, 7, push);
    real impulse = push[0];
    for (int k = 0; k < 6; k++) impulse = fused(-push[1 + k], u[k], impulse);
    return impulse / h;
}

#endif
