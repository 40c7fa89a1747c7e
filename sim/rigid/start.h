// The start of rattle, which has no way to correct an error later: before t = 0 bodies are moved onto the constraints
// by the least change, weighted by their masses, and then their velocities.
//     q <- q + M^-1 J' x,  (J M^-1 J' + E) x = -C,  until C = 0;    v <- v - M^-1 J' (J M^-1 J' + E)^-1 J v
// E is a small fraction of the diagonal. It keeps rows that follow from others apart from rounding (solve.h): where
// errors have turned J by phi, about phi^2 is left of such rows, and it must not count.
#ifndef HOPSCOTCH_RIGID_START_H
#define HOPSCOTCH_RIGID_START_H

#include "rattle.h"

// A start whose errors are larger than this fraction of the levers that they act on is refused: it would be another
// world.
#define RIGID_OPEN_MOST 0.5
enum { RIGID_START_MOVES = 40, RIGID_START_FREE = 6 }; // at most, of which the first may miss

// The greatest errors of the rows: in m or rad; times the row's `turn`, relative to its lever; of J v (m/s, rad/s).
typedef struct RigidOpening {
    real error, lever, rate;
} RigidOpening;

// At the state at which the rows were assembled.
HD_CALL RigidOpening rigid_opening(const RigidLanes *restrict w)
{
    RigidOpening open = {splat(0.0), splat(0.0), splat(0.0)};
    for (int k = w->row + w->rank; k < w->row_end; k += w->size) {
        const int at = rigid_row_at(w, k);
        const real error = absolute(cell(w, at + RIGID_ROW_STRETCH)), length = cell(w, at + RIGID_ROW_LENGTH);
        open.error = most_of(error, open.error);
        open.lever = most_of(error * w->rows[k].turn, open.lever);
        open.rate = most_of(absolute(cell(w, at + RIGID_ROW_JV)) / length, open.rate);
    }
    open.error = rigid_most_of_team(w, open.error);
    open.lever = rigid_most_of_team(w, open.lever);
    open.rate = rigid_most_of_team(w, open.rate);
    return open;
}

// D = M^-1 J' x for J D = -(C or J v), with the fractions `ease` of the diagonal, is added to the poses or to the
// velocities of the active lanes. Factors anew if `factor` is set.
HD void rigid_start_change(const RigidLanes *w, bool poses, real ease, bool factor)
{
    for (int k = w->row + w->rank; k < w->row_end; k += w->size) {
        const int at = rigid_row_at(w, k);
        const real miss = cell(w, at + (poses ? RIGID_ROW_C : RIGID_ROW_JV));
        if (factor) set_cell(w, at + RIGID_ROW_SOFT, ease * rigid_row_compliance(w, k));
        set_cell(w, at + RIGID_ROW_RHS, -miss);
        set_cell(w, at + RIGID_ROW_X, -miss);
    }
    rigid_wait(w);
    if (factor) rigid_factor_once(w);
    rigid_solve_rows(w);
    for (int b = w->rank; b < w->n_moving; b += w->size) {
        const int body = w->order[b], at = rigid_body_at(w, body) + RIGID_BODY_D, state = rigid_state_at(w, body);
        if (poses) {
            update_cell3(w, state, added(rigid_p(w, body), cell3(w, at)));
            rigid_set_q(w, body, quaternion_normal(turned_exponential(rigid_q(w, body), cell3(w, at + 3), splat(1.0))));
        } else {
            for (int c = 0; c < 6; c++) update_cell(w, state + 7 + c, cell(w, state + 7 + c) + cell(w, at + c));
        }
    }
    rigid_wait(w);
}

// Lanes whose error is more than rounding.
HD mask rigid_start_misses(const RigidLanes *w, real error)
{
    mask misses = ~MASK(value_of(error) <= RIGID_RATTLE_NEAR); // NaN too
    if (any_lane(misses))
        misses = misses & ~MASK(value_of(error) <= value_of(RIGID_RATTLE_ROUND * rigid_greatest_term(w)));
    return misses;
}

// Lanes that are projected although they meet the constraints: with derivatives all, since a parameter may lead the
// start away from them.
HD mask rigid_start_slides(const RigidLanes *w)
{
#if defined(HOPSCOTCH_DUAL)
    return w->active;
#else
    (void)w;
    return no_lanes();
#endif
}

// Projects the start of all active lanes: metrics projection and projection_speed. Leaves masses and rows as they are
// at the start. Returns the lanes that stay open. One loop for poses (Newton's method for C = 0) and, when no lane is
// open any more, velocities: a made kernel has each stage of a step once here, and half of its code would be this
// function. lever: the greatest error at the end, relative to its lever.
HD_CALL mask rigid_project(const RigidLanes *restrict w, real *lever)
{
    enum { KICKS = 3 };
    RigidLanes lanes = *w;
    const mask slides = rigid_start_slides(w);
    mask far = no_lanes(), moves = no_lanes(), closing = no_lanes(), refused = no_lanes();
    real gap = splat(0.0), speed = splat(0.0), before = splat(0.0);
    (void)rigid_ease_followers(w); // none are known yet: no row is eased
    for (int moved = 0, kicked = 0;;) {
        rigid_masses(w);
        rigid_assemble(w, true);
        const RigidOpening open = rigid_opening(w);
        const mask misses = rigid_start_misses(w, open.error);
        *lever = open.lever;
        if (moved == 0 && kicked == 0) {
            far = ~MASK(value_of(open.lever) <= RIGID_OPEN_MOST);
            moves = w->active & misses;
            gap = select_real(moves, open.error, splat(0.0));
            closing = (moves | slides) & ~far;
        } else if (moved < RIGID_START_MOVES) {
            closing = closing & MASK(value_of(open.error) > RIGID_RATTLE_ENOUGH);
            if (moved > RIGID_START_FREE) closing = closing & MASK(value_of(open.error) < value_of(0.75 * before));
        } else {
            closing = no_lanes();
        }
        before = open.error;
        const bool closes = any_lane(closing);
        if (!closes && kicked == 0) {
            refused = moves & (far | misses);
            const mask fast = MASK(value_of(open.rate) > RIGID_RATTLE_NEAR);
            lanes.active = w->active & ~refused & (fast | slides);
            speed = select_real(lanes.active & fast, open.rate, splat(0.0));
        } else if (closes) {
            lanes.active = closing;
        }
        if (kicked == KICKS || !any_lane(lanes.active)) break;
        const real turned =
            clamped(RIGID_EASE_TURNED * open.lever * open.lever, splat(w->c.pivot), splat(RIGID_EASE_MOST));
        rigid_start_change(&lanes, closes, closes ? turned : splat(w->c.pivot), closes || kicked == 0);
        moved += closes;
        kicked += !closes;
    }
    if (rigid_speaks(w)) {
        set_cell(w, w->c.sums_at + RIGID_METRIC_projection, gap);
        set_cell(w, w->c.sums_at + RIGID_METRIC_projection_speed, speed);
    }
    return refused;
}

#endif
