// Debug rows of the solve: for each body its joint's errors and multipliers, and how far u' is from a solution of
// A u' = b. They are computed between the solve and the move, from the old pose, in cells that the next step starts
// again.
// The residual is the backward error |A u' - b| / (|A| |u'| + |b|), in the maximum norm of the linear and of the
// angular rows of a body. A solve to rounding gives about 1e-16.
// Source: W. Oettli & W. Prager, Numerische Mathematik 6, 1964.
#ifndef HOPSCOTCH_ARTICULATED_DEBUG_H
#define HOPSCOTCH_ARTICULATED_DEBUG_H

#include "step.h"

// Cells of a body that hold the sums, and the columns of its joint, until the rows are written.
enum { DEBUG_OPEN = ARTICULATED_A, DEBUG_SIZE = ARTICULATED_A + 6, DEBUG_JOINT = ARTICULATED_UP };
enum { DEBUG_JOINT_COLUMNS = ARTICULATED_DEBUG_residual - ARTICULATED_DEBUG_gap_x };

// open = A u' - b and size = |A| |u'| + |b| of a body
typedef struct ArticulatedOpen {
    real open[6], size[6];
} ArticulatedOpen;

HD void open_add(ArticulatedOpen *sum, int row, real a, real u)
{
    const real term = a * u;
    sum->open[row] = sum->open[row] + term;
    sum->size[row] = sum->size[row] + absolute(term);
}

// A packed block and its right-hand side.
HD void open_add_body_block(ArticulatedOpen *sum, const real *a, const real *b, const real *u)
{
    for (int i = 0; i < 6; i++) {
        for (int j = 0; j < 6; j++) open_add(sum, i, a[i > j ? packed(i, j) : packed(j, i)], u[j]);
        open_add(sum, i, b[i], splat(-1.0));
    }
}

// B[36], or its transpose
HD void open_add_coupling(ArticulatedOpen *sum, const real *B, bool transposed, const real *u)
{
    for (int i = 0; i < 6; i++) {
        for (int j = 0; j < 6; j++) open_add(sum, i, transposed ? B[6 * j + i] : B[6 * i + j], u[j]);
    }
}

HD ArticulatedOpen open_take(const ArticulatedLanes *w, int body)
{
    ArticulatedOpen sum;
    limbs_take(w, articulated_at(body) + DEBUG_OPEN, 6, sum.open);
    limbs_take(w, articulated_at(body) + DEBUG_SIZE, 6, sum.size);
    return sum;
}

HD void open_put(const ArticulatedLanes *w, int body, const ArticulatedOpen *sum)
{
    limbs_put(w, articulated_at(body) + DEBUG_OPEN, 6, sum->open);
    limbs_put(w, articulated_at(body) + DEBUG_SIZE, 6, sum->size);
}

// Inertia, gravity and contacts.
HD void open_start(const ArticulatedLanes *w, int body, real h, real t)
{
    ArticulatedOpen sum;
    ArticulatedTouch touch = {splat(0.0), splat(0.0), splat(0.0)};
    const ArticulatedPose pose = body_pose(w, body);
    real a[PACKED_CELLS], b[6], u[6];
    step_inertia(w, body, h, t, a, b);
    contact_body(w, body, &pose, h, a, b, &touch);
    limbs_take(w, articulated_at(body) + ARTICULATED_U, 6, u);
    for (int k = 0; k < 6; k++) sum.open[k] = sum.size[k] = splat(0.0);
    open_add_body_block(&sum, a, b, u);
    open_put(w, body, &sum);
}

// A joint's rows, on both sides.
HD void open_joint(const ArticulatedLanes *w, int body, const ArticulatedApart *joint)
{
    const int parent = w->bodies[body].parent;
    ArticulatedOpen child = open_take(w, body);
    ArticulatedPassed passed;
    real a[PACKED_CELLS], b[6], B[36], u[6], up[6];
    for (int k = 0; k < PACKED_CELLS; k++) a[k] = splat(0.0);
    for (int k = 0; k < 6; k++) b[k] = up[k] = splat(0.0);
    joint_add(&joint->rows, &joint->s, a, b, B, &passed);
    if (w->bodies[body].kind == ROBOT_SLIDE) joint_add_slide(&joint->rows, &joint->s, a, B, &passed);
    limbs_take(w, articulated_at(body) + ARTICULATED_U, 6, u);
    if (parent >= 0) limbs_take(w, articulated_at(parent) + ARTICULATED_U, 6, up);
    open_add_body_block(&child, a, b, u);
    open_add_coupling(&child, B, false, up);
    open_put(w, body, &child);
    if (parent < 0) return;
    ArticulatedOpen of_parent = open_take(w, parent);
    open_add_body_block(&of_parent, passed.a, passed.b, up);
    open_add_coupling(&of_parent, B, true, u);
    open_put(w, parent, &of_parent);
}

// Splits v into its component along n, which is returned, and the rest.
HD real split_along(Vector3 *v, Vector3 n)
{
    const real component = dot3(*v, n);
    *v = along(*v, -component, n);
    return component;
}

// gap, turn, force, torque and axis: what the rows give at u', by the step.
HD void debug_joint(const ArticulatedLanes *w, int body, real h, const ArticulatedApart *joint)
{
    const ArticulatedRows *rows = &joint->rows;
    const int at = articulated_at(body) + DEBUG_JOINT, kind = w->bodies[body].kind, parent = w->bodies[body].parent;
    const Vector3 r_c = joint->s.r_c, r_p = joint->s.r_p, n = joint->s.axis;
    const Vector3 apart = less(side_moves(w, body, r_c, false), side_moves(w, parent, r_p, false));
    const Vector3 turning = less(side_moves(w, body, r_c, true), side_moves(w, parent, r_p, true));
    Vector3 gap = joint->s.gap;
    real axis = splat(0.0);
    Vector3 force = scaled(1.0 / h, less(rows->f, weighed(rows->k, rows->k_more, n, apart)));
    Vector3 torque = scaled(1.0 / h, less(rows->torque, weighed(rows->t, rows->t_more, n, turning)));
    if (kind == ROBOT_HINGE) axis = split_along(&torque, n);
    if (kind == ROBOT_SLIDE) {
        axis = split_along(&force, n);
        split_along(&gap, n);
    }
    set_limb3(w, at, gap);
    set_limb3(w, at + 3, joint->s.turn);
    set_limb3(w, at + 6, force);
    set_limb3(w, at + 9, torque);
    set_limb(w, at + 12, axis);
}

HD real open_half(const ArticulatedOpen *sum, int first)
{
    real open = splat(0.0), size = splat(0.0);
    for (int k = first; k < first + 3; k++) {
        open = greater_of(absolute(sum->open[k]), open);
        size = greater_of(sum->size[k], size);
    }
    return select_real(MASK(value_of(size) > 0.0), open / size, splat(0.0));
}

HD real debug_residual(const ArticulatedLanes *w, int body)
{
    const ArticulatedOpen sum = open_take(w, body);
    return greater_of(open_half(&sum, 0), open_half(&sum, 3));
}

// Adds all rows of A u' - b, and keeps the columns of the joints.
HD void debug_gather(const ArticulatedLanes *w, real h, real t)
{
    for (int i = 0; i < w->c.n_bodies; i++) {
        open_start(w, i, h, t);
        for (int k = 0; k < DEBUG_JOINT_COLUMNS; k++) set_limb(w, articulated_at(i) + DEBUG_JOINT + k, splat(0.0));
    }
    for (int i = 0; i < w->c.n_bodies; i++) {
        if (w->bodies[i].kind == ROBOT_FREE) continue;
        const ArticulatedApart joint = apart_joint(w, i, h);
        debug_joint(w, i, h, &joint);
        open_joint(w, i, &joint);
    }
}

// Writes a row for each body after the solve of the step from t.
HD_CALL void articulated_debug_rows(const ArticulatedLanes *restrict w, real t, mask which)
{
    real row[ARTICULATED_N_DEBUG], greatest = splat(0.0);
    debug_gather(w, splat(w->c.dt), t);
    for (int i = 0; i < w->c.n_bodies; i++) greatest = greater_of(debug_residual(w, i), greatest);
    row[ARTICULATED_DEBUG_time] = t;
    row[ARTICULATED_DEBUG_residual_max] = greatest;
    for (int i = 0; i < w->c.n_bodies; i++) {
        row[ARTICULATED_DEBUG_body] = splat((double)i);
        limbs_take(w, articulated_at(i) + DEBUG_JOINT, DEBUG_JOINT_COLUMNS, row + ARTICULATED_DEBUG_gap_x);
        row[ARTICULATED_DEBUG_residual] = debug_residual(w, i);
        lanes_debug(w->group, row, which);
    }
}

#endif
