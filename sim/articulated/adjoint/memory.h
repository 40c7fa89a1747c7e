// Derivatives of one number with respect to a lane's cells. They lie in the lane's memory in the same order: the bar of
// cell k in cell k + bars. Behind those are the bars of the lane's parameters.
#ifndef HOPSCOTCH_ARTICULATED_ADJOINT_MEMORY_H
#define HOPSCOTCH_ARTICULATED_ADJOINT_MEMORY_H

#include "../../spatial/pullback.h"
#include "../memory.h"

HD int bar_of(const ArticulatedLanes *w, int at) { return w->bars + at; }
HD real bar(const ArticulatedLanes *w, int at) { return limb(w, bar_of(w, at)); }
HD Vector3 bar3(const ArticulatedLanes *w, int at) { return limb3(w, bar_of(w, at)); }
HD Quaternion bar4(const ArticulatedLanes *w, int at) { return limb4(w, bar_of(w, at)); }
HD void set_bar(const ArticulatedLanes *w, int at, real x) { set_limb(w, bar_of(w, at), x); }
HD void set_bar3(const ArticulatedLanes *w, int at, Vector3 x) { set_limb3(w, bar_of(w, at), x); }
HD void set_bar4(const ArticulatedLanes *w, int at, Quaternion x) { set_limb4(w, bar_of(w, at), x); }
HD void bar_add(const ArticulatedLanes *w, int at, real x) { set_bar(w, at, bar(w, at) + x); }
HD void bar_add3(const ArticulatedLanes *w, int at, Vector3 x) { set_bar3(w, at, added(bar3(w, at), x)); }
HD void bar_add4(const ArticulatedLanes *w, int at, Quaternion x) { set_bar4(w, at, quaternion_added(bar4(w, at), x)); }

// Nothing has a bar for the blocks of the solve. Instead of one stands the joint's command of the next step in
// reverse.
enum { ARTICULATED_STORED_COMMAND = ARTICULATED_A };

// True: the adjoint goes through metrics of the user's own, which only a CPU does.
HD bool lanes_are_metered(const ArticulatedLanes *w)
{
#if defined(HOPSCOTCH_TEAMS)
    (void)w;
    return false;
#else
    return w->metered != NULL;
#endif
}
// The same of a control law of the spec's own.
HD bool lanes_are_controlled(const ArticulatedLanes *w)
{
#if defined(HOPSCOTCH_TEAMS)
    (void)w;
    return false;
#else
    return w->controlled != NULL;
#endif
}
// True: what a step computes beside its state (rates, efforts, forces) may have bars, by a recorded motion, by metrics
// of the user's own, or by a law.
HD bool columns_count(const ArticulatedLanes *w)
{
    return w->c.n_targets > 0 || lanes_are_metered(w) || lanes_are_controlled(w);
}

// The bars of the columns that a code over samples takes: [n_needed], by their registers.
typedef struct ColumnBars {
    const LaneCode *of;
    double *bar;
} ColumnBars;

// Of a number of a body, where it depends on a parameter.
HD void number_bar(const ArticulatedLanes *w, int body, int number, real x)
{
    if (body_varies(w, body, number)) bar_add(w, w->bodies[body].own + number, x);
}
HD void vector_bar(const ArticulatedLanes *w, int body, int first, Vector3 x)
{
    if (number_counts(w, body, first, 3)) bar_add3(w, w->bodies[body].own + first, x);
}
HD void rest_bar(const ArticulatedLanes *w, int body, Quaternion x)
{
    if (number_counts(w, body, ARTICULATED_rest_x, 4)) bar_add4(w, w->bodies[body].own + ARTICULATED_rest_x, x);
}
HD void inertia_bar(const ArticulatedLanes *w, int body, const Symmetric3 *x)
{
    const real components[6] = {x->xx, x->yy, x->zz, x->xy, x->xz, x->yz};
    for (int k = 0; k < 6; k++) number_bar(w, body, ARTICULATED_xx + k, components[k]);
}

// Of an input of the lane.
HD int parameter_bar_at(const ArticulatedLanes *w, int parameter) { return bar_of(w, w->c.cells + parameter); }
HD void parameter_bar(const ArticulatedLanes *w, int parameter, real x)
{
    const int at = parameter_bar_at(w, parameter);
    set_limb(w, at, limb(w, at) + x);
}

// Of a pose. Nothing is kept of the world (-1).
typedef struct ArticulatedPoseBar {
    Vector3 x, v, w;
    Quaternion q;
    Rotation r;
} ArticulatedPoseBar;

HD ArticulatedPoseBar pose_bar_zero(void)
{
    ArticulatedPoseBar bar;
    bar.x = bar.v = bar.w = vector3_zero();
    bar.q = quaternion_zero();
    bar.r = rotation_zero();
    return bar;
}

HD void pose_bar_add(const ArticulatedLanes *w, int body, const ArticulatedPoseBar *pose)
{
    const int at = articulated_at(body);
    if (body < 0) return;
    bar_add3(w, at + ARTICULATED_X, pose->x);
    bar_add3(w, at + ARTICULATED_V, pose->v);
    bar_add3(w, at + ARTICULATED_W, pose->w);
    const Quaternion turned = pull_rotation(limb4(w, at + ARTICULATED_Q), &pose->r);
    bar_add4(w, at + ARTICULATED_Q, quaternion_added(pose->q, turned));
}

// u' of a body, and lambda = A^-1 ubar', which replaces the bar of u'. Of the world: zero.
HD Vector3 solved(const ArticulatedLanes *w, int body, int k)
{
    return body < 0 ? vector3_zero() : limb3(w, articulated_at(body) + ARTICULATED_U + k);
}
HD Vector3 lambda(const ArticulatedLanes *w, int body, int k)
{
    return body < 0 ? vector3_zero() : bar3(w, articulated_at(body) + ARTICULATED_U + k);
}

#endif
