// The start of rattle, which has no way to correct an error later: before t = 0 bodies are moved onto the constraints
// by the least change, weighted by their masses, and then their velocities.
//     q <- q + M^-1 J' x,  (J M^-1 J' + E) x = -C,  until C = 0;    v <- v - M^-1 J' (J M^-1 J' + E)^-1 J v
// E is a small part of the diagonal. It keeps rows that follow from others apart from rounding (solve.h): where errors
// have turned J by phi, about phi^2 is left of such rows, and it must not count.
#ifndef HOPSCOTCH_RIGID_START_H
#define HOPSCOTCH_RIGID_START_H

#include "rattle.h"

// A start whose errors are larger than this part of the levers that they act on is refused: it would be another world.
#define RIGID_OPEN_MOST 0.5
enum { RIGID_START_ITERATIONS = 40, RIGID_START_FREE = 6 }; // of which the first may miss

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

// D = M^-1 J' x for J D = -(C or J v), with the parts `ease` of the diagonal. Factors anew if told to.
HD void rigid_start_solve(const RigidLanes *w, int of, real ease, bool factor)
{
    for (int k = w->row + w->rank; k < w->row_end; k += w->size) {
        const int at = rigid_row_at(w, k);
        if (factor) set_cell(w, at + RIGID_ROW_SOFT, ease * rigid_row_compliance(w, k));
        set_cell(w, at + RIGID_ROW_RHS, -cell(w, at + of));
        set_cell(w, at + RIGID_ROW_X, -cell(w, at + of));
    }
    rigid_wait(w);
    if (factor) rigid_factor_once(w);
    rigid_solve_rows(w);
}

// Moves the active lanes' bodies by D, and assembles their rows there.
HD_CALL void rigid_start_move(const RigidLanes *restrict w)
{
    for (int b = w->rank; b < w->n_moving; b += w->size) {
        const int body = w->order[b], at = rigid_body_at(w, body) + RIGID_BODY_D;
        keep_cell3(w, rigid_state_at(w, body), added(rigid_p(w, body), cell3(w, at)));
        rigid_set_q(w, body, quaternion_normal(turned_exponential(rigid_q(w, body), cell3(w, at + 3), splat(1.0))));
    }
    rigid_wait(w);
    rigid_masses(w);
    rigid_assemble(w, true);
}

HD_CALL void rigid_start_kick(const RigidLanes *restrict w)
{
    for (int b = w->rank; b < w->n_moving; b += w->size) {
        const int D = rigid_body_at(w, w->order[b]) + RIGID_BODY_D, v = rigid_state_at(w, w->order[b]) + 7;
        for (int c = 0; c < 6; c++) keep_cell(w, v + c, cell(w, v + c) + cell(w, D + c));
    }
    rigid_wait(w);
    rigid_assemble(w, true);
}

// Lanes whose error is more than rounding.
HD mask rigid_start_misses(const RigidLanes *w, real error)
{
    mask misses = ~MASK(error <= splat(RIGID_RATTLE_NEAR)); // NaN too
    if (any_lane(misses)) misses = misses & ~MASK(error <= RIGID_RATTLE_ROUND * rigid_greatest_term(w));
    return misses;
}

// Newton's method for C = 0 in the lanes of `on`.
HD void rigid_start_close(const RigidLanes *w, RigidOpening *open, mask on)
{
    RigidLanes lanes = *w;
    real before = splat(RIGID_RATTLE_FAR);
    for (int k = 0; k < RIGID_START_ITERATIONS && any_lane(on); k++) {
        const real phi = open->lever;
        lanes.active = on;
        rigid_start_solve(&lanes, RIGID_ROW_C,
                          clamped(RIGID_EASE_TURNED * phi * phi, splat(w->c.pivot), splat(RIGID_EASE_MOST)), true);
        rigid_start_move(&lanes);
        *open = rigid_opening(w);
        on = on & MASK(open->error > splat(RIGID_RATTLE_ENOUGH));
        if (k >= RIGID_START_FREE) on = on & MASK(open->error < 0.75 * before);
        before = open->error;
    }
}

// Projects the start of all active lanes: metrics projection and projection_speed. Returns the lanes that stay open.
HD_CALL mask rigid_project(const RigidLanes *restrict w)
{
    enum { PASSES = 3 };
    RigidLanes lanes = *w;
    (void)rigid_ease_followers(w); // none are known yet: no row is eased
    rigid_assemble(w, true);
    RigidOpening open = rigid_opening(w);
    const mask far = ~MASK(open.lever <= splat(RIGID_OPEN_MOST));
    const mask moves = w->active & rigid_start_misses(w, open.error);
    const real gap = select_real(moves, open.error, splat(0.0));
    rigid_start_close(w, &open, moves & ~far);
    const mask refused = moves & (far | rigid_start_misses(w, open.error));
    lanes.active = w->active & ~refused & MASK(open.rate > splat(RIGID_RATTLE_NEAR));
    const real speed = select_real(lanes.active, open.rate, splat(0.0));
    for (int k = 0; k < PASSES && any_lane(lanes.active); k++) {
        rigid_start_solve(&lanes, RIGID_ROW_JV, splat(w->c.pivot), k == 0);
        rigid_start_kick(&lanes);
    }
    if (rigid_speaks(w)) {
        set_cell(w, w->c.sums_at + RIGID_METRIC_projection, gap);
        set_cell(w, w->c.sums_at + RIGID_METRIC_projection_speed, speed);
    }
    return refused;
}

#endif
