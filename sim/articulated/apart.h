// Negative controls: joints that are not solved together over the tree (option `attachment`). They show what goes
// wrong, and are for comparison only.
//     explicit       springs of the old state: diverges at once
//     child_only     each joint alone, of its child alone, with the denominators m + h^2 k + h d: no reaction reaches
//                    the parent, so the ground never holds the robot, and momentum is not conserved
//     gauss_seidel   sweeps over the joints with accumulated impulses l:  dl = (1 + D W)^-1 (f0 - D J u - l),
//                    W = J A^-1 J': stable, but slow to converge where masses differ
#ifndef HOPSCOTCH_ARTICULATED_APART_H
#define HOPSCOTCH_ARTICULATED_APART_H

#include "contact.h"
#include "joint.h"

// (c I + more n n') v
HD Vector3 weighed(real c, real more, Vector3 n, Vector3 v) { return along(scaled(c, v), more * dot3(n, v), n); }

// A joint's rows at the old pose, and how its sides move.
typedef struct ArticulatedApart {
    ArticulatedRows rows;
    ArticulatedJointState s;
    Vector3 apart, turning; // dv, dw
} ArticulatedApart;

HD ArticulatedApart apart_joint(const ArticulatedLanes *w, int body, real h)
{
    ArticulatedApart joint;
    const ArticulatedPose c = body_pose(w, body), p = body_pose(w, w->bodies[body].parent);
    joint.s = joint_state(w, body, &c, &p);
    const ArticulatedAxis axis = joint_axis(w, body, h, &joint.s);
    joint.rows = joint_rows(w, body, h, &joint.s, &axis);
    joint.apart = less(added(c.v, cross3(c.w, joint.s.r_c)), added(p.v, cross3(p.w, joint.s.r_p)));
    joint.turning = less(c.w, p.w);
    joint_store(w, body, &joint.s, &axis);
    return joint;
}

HD void apart_push(const ArticulatedLanes *w, int body, real sign, Vector3 r, Vector3 force, Vector3 torque)
{
    real b[6];
    const int at = articulated_at(body) + ARTICULATED_U;
    limbs_take(w, at, 6, b);
    side_add(b, sign, r, force, torque);
    limbs_put(w, at, 6, b);
}

// Springs and dampers of the old state, on both sides; without armature, which needs the new one.
HD void apart_explicit(const ArticulatedLanes *w, int body, const ArticulatedApart *joint, real h)
{
    const int parent = w->bodies[body].parent;
    const bool slides = w->bodies[body].kind == ROBOT_SLIDE;
    const Vector3 n = joint->s.axis;
    const real C = motor_error(w, body, joint->s.coordinate);
    const real kd = motor_gains(w, body, C, joint->s.rate).kd;
    const real damping = kd + body_number(w, body, ARTICULATED_damping);
    const real late = -fused(h, damping, body_number(w, body, ARTICULATED_armature)) * joint->s.rate;
    const real k = h * w->attach_damping, t = h * w->attach_turn_damping;
    Vector3 force = less(joint->rows.f, weighed(k, slides ? -k : splat(0.0), n, joint->apart));
    Vector3 torque = less(joint->rows.torque, weighed(t, slides ? splat(0.0) : -t, n, joint->turning));
    if (slides)
        force = along(force, late, n);
    else
        torque = along(torque, late, n);
    apart_push(w, body, splat(1.0), joint->s.r_c, force, torque);
    if (parent >= 0) apart_push(w, parent, splat(-1.0), joint->s.r_p, force, torque);
}

// How a side of a joint moves by u: the point at r, or the body's turn.
HD Vector3 side_moves(const ArticulatedLanes *w, int body, Vector3 r, bool turns)
{
    const int at = articulated_at(body) + ARTICULATED_U;
    if (body < 0) return vector3_zero();
    return turns ? limb3(w, at + 3) : added(limb3(w, at), cross3(limb3(w, at + 3), r));
}

// u of a body, which moves freely so far, after its parent's.
HD void apart_child(const ArticulatedLanes *w, int body, real h)
{
    const ArticulatedApart joint = apart_joint(w, body, h);
    const ArticulatedRows *rows = &joint.rows;
    const int at = articulated_at(body), parent = w->bodies[body].parent;
    const Vector3 n = joint.s.axis, v = limb3(w, at + ARTICULATED_U), turn = limb3(w, at + ARTICULATED_U + 3);
    const Vector3 apart = less(side_moves(w, body, joint.s.r_c, false), side_moves(w, parent, joint.s.r_p, false));
    const Vector3 turning = less(turn, side_moves(w, parent, joint.s.r_p, true));
    const real m = body_number(w, body, ARTICULATED_mass), across = m / (m + rows->k);
    const real beside = m / (m + rows->k + rows->k_more) - across;
    const Vector3 pull = weighed(across, beside, n, less(rows->f, weighed(rows->k, rows->k_more, n, apart)));
    const Vector3 torque = less(rows->torque, weighed(rows->t, rows->t_more, n, turning));
    const Rotation r = rotation_of(limb4(w, at + ARTICULATED_Q));
    Symmetric3 sum = symmetric3_turned(&r, body_inertia(w, body));
    sum.xx = fused(rows->t_more * n.x, n.x, sum.xx + rows->t);
    sum.yy = fused(rows->t_more * n.y, n.y, sum.yy + rows->t);
    sum.zz = fused(rows->t_more * n.z, n.z, sum.zz + rows->t);
    sum.xy = fused(rows->t_more * n.x, n.y, sum.xy);
    sum.xz = fused(rows->t_more * n.x, n.z, sum.xz);
    sum.yz = fused(rows->t_more * n.y, n.z, sum.yz);
    const Vector3 spin = symmetric3_times(symmetric3_inverse(sum), added(torque, cross3(joint.s.r_c, pull)));
    set_limb3(w, at + ARTICULATED_U, along(v, 1.0 / m, pull));
    set_limb3(w, at + ARTICULATED_U + 3, added(turn, spin));
}

// ---- sweeps ---------------------------------------------------------------------------------------------------------

// x of m x = b, m[9] by rows, by Cramer's rule
HD Vector3 solved3(const real *m, Vector3 b)
{
    const Vector3 x = vector3(m[0], m[3], m[6]), y = vector3(m[1], m[4], m[7]), z = vector3(m[2], m[5], m[8]);
    const real inverse = 1.0 / dot3(x, cross3(y, z));
    return vector3(inverse * dot3(b, cross3(y, z)), inverse * dot3(x, cross3(b, z)), inverse * dot3(x, cross3(y, b)));
}

// Adds J A^-1 J' of one side to W[9]; turns: of the angular rows, else of the point at r.
HD void sweep_mobility(const ArticulatedLanes *w, int body, Vector3 r, bool turns, real *W)
{
    real a[PACKED_CELLS], J[6];
    limbs_take(w, articulated_at(body) + ARTICULATED_A, PACKED_CELLS, a);
    for (int i = 0; i < 3; i++) {
        const Vector3 e = vector3(splat(i == 0), splat(i == 1), splat(i == 2));
        row_of_point(e, r, J);
        for (int k = 0; k < 3 && turns; k++) {
            J[k] = splat(0.0);
            J[3 + k] = splat(i == k);
        }
        body_block_solve(a, J);
        const Vector3 turn = vector3(J[3], J[4], J[5]);
        const Vector3 moved = turns ? turn : added(vector3(J[0], J[1], J[2]), cross3(turn, r));
        W[i] = W[i] + moved.x;
        W[3 + i] = W[3 + i] + moved.y;
        W[6 + i] = W[6 + i] + moved.z;
    }
}

// u of a body += sign A^-1 J' l
HD void sweep_push(const ArticulatedLanes *w, int body, real sign, Vector3 r, Vector3 force, Vector3 torque)
{
    real a[PACKED_CELLS], b[6] = {splat(0.0), splat(0.0), splat(0.0), splat(0.0), splat(0.0), splat(0.0)};
    const int at = articulated_at(body);
    limbs_take(w, at + ARTICULATED_A, PACKED_CELLS, a);
    side_add(b, sign, r, force, torque);
    body_block_solve(a, b);
    for (int k = 0; k < 6; k++) set_limb(w, at + ARTICULATED_U + k, limb(w, at + ARTICULATED_U + k) + b[k]);
}

// One block of three rows of a joint: D = k I + more n n'; l stands at `at`.
HD void sweep_rows(const ArticulatedLanes *w, int body, const ArticulatedApart *joint, bool turns, int at)
{
    const ArticulatedRows *rows = &joint->rows;
    const int parent = w->bodies[body].parent;
    const Vector3 n = joint->s.axis, l = limb3(w, at), zero = vector3_zero();
    const real k = turns ? rows->t : rows->k, more = turns ? rows->t_more : rows->k_more;
    const Vector3 f = turns ? rows->torque : rows->f;
    const Vector3 Ju = less(side_moves(w, body, joint->s.r_c, turns), side_moves(w, parent, joint->s.r_p, turns));
    real W[9], m[9];
    for (int i = 0; i < 9; i++) W[i] = splat(0.0);
    sweep_mobility(w, body, joint->s.r_c, turns, W);
    if (parent >= 0) sweep_mobility(w, parent, joint->s.r_p, turns, W);
    for (int i = 0; i < 3; i++) {
        const Vector3 column = weighed(k, more, n, vector3(W[i], W[3 + i], W[6 + i]));
        m[i] = column.x + splat(i == 0);
        m[3 + i] = column.y + splat(i == 1);
        m[6 + i] = column.z + splat(i == 2);
    }
    const Vector3 dl = solved3(m, less(less(f, weighed(k, more, n, Ju)), l));
    set_limb3(w, at, added(l, dl));
    sweep_push(w, body, splat(1.0), joint->s.r_c, turns ? zero : dl, turns ? dl : zero);
    if (parent >= 0) sweep_push(w, parent, splat(-1.0), joint->s.r_p, turns ? zero : dl, turns ? dl : zero);
}

HD_CALL void apart_sweeps(const ArticulatedLanes *restrict w, real h)
{
    for (int i = 0; i < w->c.n_bodies; i++) {
        for (int k = 0; k < 6; k++) set_limb(w, articulated_at(i) + ARTICULATED_UP + k, splat(0.0));
    }
    for (int sweep = 0; sweep < w->c.sweeps; sweep++) {
        for (int i = 0; i < w->c.n_bodies; i++) {
            if (w->bodies[i].kind == ROBOT_FREE) continue;
            const ArticulatedApart joint = apart_joint(w, i, h);
            sweep_rows(w, i, &joint, false, articulated_at(i) + ARTICULATED_UP);
            sweep_rows(w, i, &joint, true, articulated_at(i) + ARTICULATED_UP + 3);
        }
    }
}

// ---- a step ---------------------------------------------------------------------------------------------------------

// u' of all bodies, whose blocks and right-hand sides are started. gap: the greatest of the joints.
HD_CALL real apart_solve(const ArticulatedLanes *restrict w, real h, ArticulatedTouch *touch)
{
    real gap = splat(0.0), a[PACKED_CELLS], b[6];
    bool springs = false, child = false, sweeps = false;
    switch ((ArticulatedAttachment)w->c.attachment) {
    case ARTICULATED_ATTACHMENT_tree: break; // tree.h solves it
    case ARTICULATED_ATTACHMENT_child_only: child = true; break;
    case ARTICULATED_ATTACHMENT_gauss_seidel: sweeps = true; break;
    case ARTICULATED_ATTACHMENT_explicit: springs = true; break;
    }
    for (int i = 0; i < w->c.n_bodies; i++) {
        if (w->bodies[i].kind == ROBOT_FREE) continue;
        const ArticulatedApart joint = apart_joint(w, i, h);
        gap = greater_of(length3(joint.s.gap), gap);
        if (springs) apart_explicit(w, i, &joint, h);
    }
    for (int i = 0; i < w->c.n_bodies; i++) {
        const int at = articulated_at(i);
        const ArticulatedPose pose = body_pose(w, i);
        limbs_take(w, at + ARTICULATED_A, PACKED_CELLS, a);
        limbs_take(w, at + ARTICULATED_U, 6, b);
        contact_body(w, i, &pose, h, a, b, touch);
        body_block_factor(a);
        body_block_solve(a, b);
        limbs_put(w, at + ARTICULATED_A, PACKED_CELLS, a);
        limbs_put(w, at + ARTICULATED_U, 6, b);
        if (child && w->bodies[i].kind != ROBOT_FREE) apart_child(w, i, h);
    }
    if (sweeps) apart_sweeps(w, h);
    return gap;
}

#endif
