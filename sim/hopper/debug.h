// Debug rows of the implicit solvers: one per iteration, for the lanes that it changed. The columns' names and units
// are in hopper.c, in the order of hopper_debug_row below.
#ifndef HOPSCOTCH_HOPPER_DEBUG_H
#define HOPSCOTCH_HOPPER_DEBUG_H

#include "../lanes.h"
#include "step.h"

// The step that is being solved. In the plain kernel `on` is false at compile time, so the compiler removes all of
// this.
typedef struct HopperDebug {
    bool on; // its rows are wanted
    const LaneGroup *group;
    int64_t step;          // from 0
    real t, fsm;           // s, at its start
    HopperControl control; // held over it
} HopperDebug;

// An approximation of the state at the step's end.
typedef struct HopperState {
    HopperVector q, v;
} HopperState;

// Writes a row: iteration `iteration` (from 0) of the step changed the lanes of `which` from one approximation to the
// next. residual_q, residual_qd: inf-norms, at `before`, of the residuals that the solver makes zero; a solver without
// an equation for q gives 0. Call it as `if (debug->on) hopper_debug_row(...)`.
HD void hopper_debug_row(const HopperDebug *debug, int iteration, real residual_q, real residual_qd,
                         const HopperState *before, const HopperState *after, mask which)
{
    const real step_norm =
        greater_of(hopper_difference(&after->q, &before->q), hopper_difference(&after->v, &before->v));
    const HopperVector *q0 = &before->q, *v0 = &before->v, *q1 = &after->q, *v1 = &after->v;
    const real row[HOPPER_DEBUG_COLUMNS] = {
        debug->t,
        splat((double)debug->step),
        splat((double)iteration),
        residual_q,
        residual_qd,
        step_norm,
        q0->x,
        q0->z,
        q0->a,
        q0->b,
        q0->l,
        v0->x,
        v0->z,
        v0->a,
        v0->b,
        v0->l,
        q1->x,
        q1->z,
        q1->a,
        q1->b,
        q1->l,
        v1->x,
        v1->z,
        v1->a,
        v1->b,
        v1->l,
        debug->fsm,
        debug->control.u1,
        debug->control.u2,
    };
    lanes_debug(debug->group, row, which);
}

#endif
