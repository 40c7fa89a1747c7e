// A lane's memory: columns of numbers with a stride, one lane beside the other. Cells of a body stand together.
#ifndef HOPSCOTCH_ARTICULATED_MEMORY_H
#define HOPSCOTCH_ARTICULATED_MEMORY_H

#include "../lanes.h"
#include "../spatial/packed.h"
#include "articulated.h"

// Cells of a state: x, q, v, L, w, the coordinate of the joint, which says in which turn it is, and its rate. A ball's
// rate has two more.
enum { ARTICULATED_STATE_CELLS = ARTICULATED_RATE + 1, ARTICULATED_BALL_CELLS = 2 };

typedef struct ArticulatedLanes {
    ArticulatedConstants c;
    const ArticulatedBody *bodies;
    const ArticulatedPoint *points;
    const ArticulatedSurface *surfaces;
    const ArticulatedInput *inputs;
    const ArticulatedDesign *designs;
    const double *actions; // [n_actions][n_joints]
    const double *assets;
    const LaneGroup *group;
    double *base;
    int bars;           // for the adjoint: cells from the base on to the derivatives with respect to cells
    double *residuals;  // [n_records][n_targets] differences from the recorded motion, for the adjoint; else NULL
    double *metered;    // of the user's own metrics, for the adjoint (adjoint/meter.h); else NULL
    double *controlled; // of a control law of the spec's own, for the adjoint (adjoint/law.h); else NULL
    bool senses;        // samples are for a law (../law.h)
#define ARTICULATED_MEMBER(name, ...) real name;
    ARTICULATED_PARAMETERS(ARTICULATED_MEMBER)
#undef ARTICULATED_MEMBER
} ArticulatedLanes;

// Doubles from one cell of a lane to the next: a constant, so that the compiler sees that cells of a body are apart.
#if defined(HOPSCOTCH_TEAMS)
enum { ARTICULATED_STRIDE = LANES_TOGETHER };
#else
enum { ARTICULATED_STRIDE = REAL_DOUBLES };
#endif
HD double *articulated_cell(const ArticulatedLanes *w, int at) { return w->base + (int64_t)at * ARTICULATED_STRIDE; }
HD real limb(const ArticulatedLanes *w, int at) { return load_all(articulated_cell(w, at)); }
HD void set_limb(const ArticulatedLanes *w, int at, real x) { store_all(articulated_cell(w, at), x); }
HD Vector3 limb3(const ArticulatedLanes *w, int at) { return vector3(limb(w, at), limb(w, at + 1), limb(w, at + 2)); }
HD void set_limb3(const ArticulatedLanes *w, int at, Vector3 v)
{
    set_limb(w, at, v.x);
    set_limb(w, at + 1, v.y);
    set_limb(w, at + 2, v.z);
}
HD Quaternion limb4(const ArticulatedLanes *w, int at)
{
    Quaternion q;
    q.x = limb(w, at);
    q.y = limb(w, at + 1);
    q.z = limb(w, at + 2);
    q.w = limb(w, at + 3);
    return q;
}
HD void set_limb4(const ArticulatedLanes *w, int at, Quaternion q)
{
    set_limb(w, at, q.x);
    set_limb(w, at + 1, q.y);
    set_limb(w, at + 2, q.z);
    set_limb(w, at + 3, q.w);
}
HD void limbs_take(const ArticulatedLanes *w, int at, int count, real *x)
{
    for (int k = 0; k < count; k++) x[k] = limb(w, at + k);
}
HD void limbs_put(const ArticulatedLanes *w, int at, int count, const real *x)
{
    for (int k = 0; k < count; k++) set_limb(w, at + k, x[k]);
}

HD int articulated_at(int body) { return ARTICULATED_CELLS * body; }
// Of the effort that a joint's motor adds (N m; of a slide N) and the scale of its gains; only where efforts > 0.
HD int effort_at(const ArticulatedLanes *w, int body)
{
    return w->c.efforts + ARTICULATED_EFFORT_CELLS * w->bodies[body].joint;
}
// What a step of order two keeps (two.h): cells of each body, then the stretches of the springs of anchored friction;
// then, not kept, whether a point touched in the last of its steps.
HD int whole_at(const ArticulatedLanes *w, int body) { return w->c.whole + 1 + ARTICULATED_WHOLE_CELLS * body; }
HD int whole_grip(const ArticulatedLanes *w, int point) { return whole_at(w, w->c.n_bodies) + 3 * point; }
HD int grip_touch(const ArticulatedLanes *w, int point) { return whole_grip(w, w->c.n_points) + point; }
HD int base_at(const ArticulatedLanes *w) { return articulated_at(w->c.base); }

// ---- a stored state -------------------------------------------------------------------------------------------------

// state[bodies][ARTICULATED_STATE_CELLS][ARTICULATED_STRIDE], then what else there is: for each body the rest of a
// ball's rate (only where there is a ball), the stretches of the springs of anchored friction.
HD double *state_body(double *state, int body)
{
    return state + (int64_t)body * ARTICULATED_STATE_CELLS * ARTICULATED_STRIDE;
}
HD double *state_balls(const ArticulatedLanes *w, double *state) { return state_body(state, w->c.n_bodies); }
HD double *state_grips(const ArticulatedLanes *w, double *state)
{
    return state_balls(w, state) + (w->c.balls != 0 ? w->c.n_bodies * ARTICULATED_BALL_CELLS * ARTICULATED_STRIDE : 0);
}

HD void state_store_body(const ArticulatedLanes *w, int body, double *state)
{
    real x[ARTICULATED_STATE_CELLS];
    double *to = state_body(state, body);
    UNROLL for (int k = 0; k < ARTICULATED_STATE_CELLS; k++) x[k] = limb(w, articulated_at(body) + k);
    UNROLL for (int k = 0; k < ARTICULATED_STATE_CELLS; k++) store_all(to + k * ARTICULATED_STRIDE, x[k]);
}
HD void state_store_rest(const ArticulatedLanes *w, double *state)
{
    double *to = state_balls(w, state);
    for (int i = 0; i < w->c.n_bodies && w->c.balls != 0; i++) {
        for (int k = 0; k < ARTICULATED_BALL_CELLS; k++, to += ARTICULATED_STRIDE)
            store_all(to, limb(w, articulated_at(i) + ARTICULATED_STATE_CELLS + k));
    }
    for (int k = 0; k < 3 * w->c.n_points && w->c.grips > 0; k++)
        store_all(to + k * ARTICULATED_STRIDE, limb(w, w->c.grips + k));
}

// ---- numbers of a body ----------------------------------------------------------------------------------------------

HD real body_number(const ArticulatedLanes *w, int body, int number)
{
    const ArticulatedBody *b = &w->bodies[body];
    return b->own < 0 ? splat(b->number[number]) : limb(w, b->own + number);
}
// Whether a number depends on the lane's inputs.
HD bool body_varies(const ArticulatedLanes *w, int body, int number)
{
    return (w->bodies[body].varied >> number & 1) != 0;
}
// Whether any of several does.
HD bool number_counts(const ArticulatedLanes *w, int body, int first, int count)
{
    return (w->bodies[body].varied >> first & (((int64_t)1 << count) - 1)) != 0;
}
HD Vector3 body_vector(const ArticulatedLanes *w, int body, int first)
{
    return vector3(body_number(w, body, first), body_number(w, body, first + 1), body_number(w, body, first + 2));
}
HD bool centre_moves(const ArticulatedLanes *w, int body) { return number_counts(w, body, ARTICULATED_moved_x, 3); }
HD Quaternion body_rest(const ArticulatedLanes *w, int body)
{
    Quaternion q;
    q.x = body_number(w, body, ARTICULATED_rest_x);
    q.y = body_number(w, body, ARTICULATED_rest_y);
    q.z = body_number(w, body, ARTICULATED_rest_z);
    q.w = body_number(w, body, ARTICULATED_rest_w);
    return q;
}
HD Symmetric3 body_inertia(const ArticulatedLanes *w, int body)
{
    Symmetric3 I;
    I.xx = body_number(w, body, ARTICULATED_xx);
    I.yy = body_number(w, body, ARTICULATED_yy);
    I.zz = body_number(w, body, ARTICULATED_zz);
    I.xy = body_number(w, body, ARTICULATED_xy);
    I.xz = body_number(w, body, ARTICULATED_xz);
    I.yz = body_number(w, body, ARTICULATED_yz);
    return I;
}

// Between which efforts a motor stays.
typedef struct ArticulatedEnds {
    real low, high;
} ArticulatedEnds;
HD ArticulatedEnds motor_ends(const ArticulatedLanes *w, int body)
{
    ArticulatedEnds ends;
    ends.high = body_number(w, body, ARTICULATED_effort);
    ends.low = -ends.high;
    if (w->bodies[body].uneven == 0) return ends;
    const real both = ends.high;
    ends.low = clamped(body_number(w, body, ARTICULATED_least), -both, both);
    ends.high = clamped(body_number(w, body, ARTICULATED_most), -both, both);
    return ends;
}

// A body as it stands and moves. Of the world (-1): at rest in the origin.
typedef struct ArticulatedPose {
    Vector3 x, v, w;
    Quaternion q;
    Rotation r;
} ArticulatedPose;

HD ArticulatedPose body_pose(const ArticulatedLanes *w, int body)
{
    ArticulatedPose pose;
    const int at = articulated_at(body);
    if (body < 0) {
        pose.x = pose.v = pose.w = vector3_zero();
        pose.q.x = pose.q.y = pose.q.z = splat(0.0);
        pose.q.w = splat(1.0);
    } else {
        pose.x = limb3(w, at + ARTICULATED_X);
        pose.v = limb3(w, at + ARTICULATED_V);
        pose.w = limb3(w, at + ARTICULATED_W);
        pose.q = limb4(w, at + ARTICULATED_Q);
    }
    pose.r = rotation_of(pose.q);
    return pose;
}

// From the centre of mass to what is at p from that of the file, body axes.
HD Vector3 body_place(const ArticulatedLanes *w, int body, real scale, Vector3 p)
{
    const Vector3 place = scaled(scale, p);
    return centre_moves(w, body) ? less(place, body_vector(w, body, ARTICULATED_moved_x)) : place;
}

#endif
