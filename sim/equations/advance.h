// The kernels of `equations`: systems of the user's, one kernel per integrator. Every lane has its own time, mode and
// step size. A tick is an attempt at a step.
#ifndef HOPSCOTCH_EQUATIONS_ADVANCE_H
#define HOPSCOTCH_EQUATIONS_ADVANCE_H

#include "actions.h"
#include "record.h"
#include "straight.h"

// ---- trajectories ---------------------------------------------------------------------------------------------------

// A sample of the arguments at time t: time, states, held numbers, mode, further columns.
HD_CALL void equations_sample(const EquationsLane *UNALIASED lane, const LaneGroup *group, real t, bool last,
                              mask which)
{
    const EquationsConstants *c = lane->c;
    int column = 0;
    lanes_set_sample(group, column++, t, which);
    FRAME_EACH
    for (int i = 0; i < c->n_states; i++)
        lanes_set_sample(group, column++, frame_get(lane->file, SYSTEM_STATE(i)), which);
    FRAME_EACH
    for (int i = 0; i < c->n_held - c->n_clocks; i++)
        lanes_set_sample(group, column++, frame_get(lane->file, SYSTEM_HELD(c->n_states, i)), which);
    if (c->n_modes > 1) lanes_set_sample(group, column++, equations_named(lane, EQUATIONS_MODE_OF), which);
    FRAME_EACH
    for (int mode = 0; mode < c->n_modes && c->n_shown > 0; mode++) {
        const mask in = which & equations_in(lane, mode);
        if (!any_lane(in)) continue;
        const EquationsCode code = equations_code(lane, equations_mode_row(lane, mode) + EQUATIONS_MODE_COLUMNS);
        equations_run(lane, code);
        FRAME_EACH
        for (int k = 0; k < c->n_shown; k++) {
            const bool has = equations_register(lane, code, k) >= 0;
            lanes_set_sample(group, column + k, has ? equations_output(lane, code, k) : math_nan(), in);
        }
    }
    lanes_end_sample(group, last, which);
}

// Samples inside the step from t, before `until`, from its dense output.
HD_CALL void equations_trace(const EquationsLane *UNALIASED lane, const LaneGroup *group, EquationsMethod method,
                             real t, real h, real until, mask taken)
{
    LanesSampling sampling;
    if (!lanes_are_sampled(group, &sampling)) return;
    if (!EQUATIONS_IS(method, map)) equations_dense(lane, method, h);
    const double every = sampling.every * lane->c->dt;
    const real end = splat(sampling.end * lane->c->dt);
    for (;;) {
        const real at = (sampling.skipped + lanes_samples(group)) * every;
        const mask due = taken & MASK(at < until) & MASK(at < end);
        if (!any_lane(due)) return;
        if (EQUATIONS_IS(method, map)) {
            equations_argue(lane, lane->c->y);
            equations_at(lane, t);
        } else {
            equations_argue_between(lane, t, h, (at - t) / h);
        }
        equations_sample(lane, group, at, false, due);
    }
}

// The sample at time t, where a period of actions ends: it has the action that was held up to there, as what an
// environment observes.
HD_CALL void equations_trace_period(const EquationsLane *UNALIASED lane, const LaneGroup *group, real t, mask which)
{
    LanesSampling sampling;
    if (!lanes_are_sampled(group, &sampling)) return;
    const real at = (sampling.skipped + lanes_samples(group)) * (sampling.every * lane->c->dt);
    const mask due = which & MASK(at <= t + equations_apart(t)) & MASK(at < splat(sampling.end * lane->c->dt));
    if (!any_lane(due)) return;
    equations_argue(lane, lane->c->y);
    equations_at(lane, t);
    equations_sample(lane, group, t, false, due);
}

// ---- events ---------------------------------------------------------------------------------------------------------

// Sets states and held numbers of the lanes of `which`. Returns the lanes in which a held number of the user's became
// one that is not finite; a state that did ends the lane at its next step.
HD mask equations_set(const EquationsLane *lane, EquationsCode code, mask which)
{
    const EquationsConstants *c = lane->c;
    const int count = c->n_states + c->n_held, of_user = count - c->n_clocks;
    mask wrong = no_lanes();
    if (code.first < 0) return wrong;
    equations_run(lane, code);
    FRAME_EACH
    for (int i = 0; i < count; i++) frame_set(lane->frame, c->saved + i, equations_output(lane, code, i));
    FRAME_EACH
    for (int i = 0; i < count; i++) {
        if (equations_register(lane, code, i) < 0) continue;
        const real value = frame_get(lane->frame, c->saved + i);
        if (i < c->n_states) {
            frame_put(lane->frame, c->y + i, value, which);
            if (equations_has_noise(lane)) frame_put(lane->frame, equations_origin(lane) + i, value, which);
        } else {
            frame_put(lane->file, SYSTEM_HELD(c->n_states, i - c->n_states), value, which);
            if (i < of_user) wrong = wrong | (which & ~is_finite(value));
        }
    }
    equations_argue(lane, c->y);
    return wrong;
}

// What an event of the lanes of `which` leads to.
typedef struct EquationsOutcome {
    real failure; // 0: none
    mask stopped, changed;
} EquationsOutcome;

HD_CALL void equations_act(const EquationsLane *UNALIASED lane, int64_t row, mask fires, EquationsOutcome *outcome)
{
    equations_owns_memory(lane);
    const int event = equations_integer(lane, row + EQUATIONS_ACTION_EVENT),
              to = equations_integer(lane, row + EQUATIONS_ACTION_TO),
              failure = equations_integer(lane, row + EQUATIONS_ACTION_FAILURE);
    const EquationsCode set = equations_code(lane, row + EQUATIONS_ACTION_SET);
    trail_action(lane, row);
    equations_at_event(lane, event, false, fires);
    const mask recorded = equations_record_before(lane, event, fires);
    const mask wrong = equations_set(lane, set, fires);
    if (to >= 0) equations_name(lane, EQUATIONS_MODE_OF, splat((double)to), fires);
    if (to >= 0 || set.first >= 0) outcome->changed = outcome->changed | fires;
    equations_at_event(lane, event, true, fires);
    equations_record_after(lane, recorded);
    if (equations_integer(lane, row + EQUATIONS_ACTION_STOP) != 0) outcome->stopped = outcome->stopped | fires;
    if (failure > 0)
        outcome->failure = select_real(fires & MASK(outcome->failure == 0.0), splat((double)failure), outcome->failure);
    outcome->failure =
        select_real(wrong & MASK(outcome->failure == 0.0), splat(EQUATIONS_FAIL_diverged), outcome->failure);
}

// The actions due at time t in the lanes of `landed` (their guards that turn) and of `timed` (instants), in the order
// of the spec: all those of the mode in which the instant is reached, also behind one that leaves it. The arguments are
// the lane's state.
HD_CALL EquationsOutcome equations_happen(const EquationsLane *UNALIASED lane, real t, mask landed, mask timed)
{
    equations_owns_memory(lane);
    const EquationsConstants *c = lane->c;
    EquationsOutcome outcome = {splat(0.0), no_lanes(), no_lanes()};
    const real mode_before = equations_named(lane, EQUATIONS_MODE_OF);
    FRAME_EACH
    for (int mode = 0; mode < c->n_modes; mode++) {
        const int64_t row = equations_mode_row(lane, mode);
        const int actions = equations_integer(lane, row + EQUATIONS_MODE_N_ACTIONS);
        const int64_t first = equations_integer(lane, row + EQUATIONS_MODE_ACTIONS);
        const mask was = (landed | timed) & MASK(mode_before == (double)mode);
        if (!any_lane(was)) continue;
        FRAME_EACH
        for (int a = 0; a < actions; a++) {
            const int64_t action = first + (int64_t)a * EQUATIONS_ACTION;
            const int guard = equations_integer(lane, action + EQUATIONS_ACTION_GUARD),
                      instant = equations_integer(lane, action + EQUATIONS_ACTION_INSTANT);
            const mask here = was & ~outcome.stopped & MASK(outcome.failure == 0.0);
            const mask fires = guard >= 0 ? here & landed & MASK(frame_get(lane->frame, c->turn + guard) == 1.0)
                                          : here & timed & equations_is_instant(lane, instant, t);
            if (any_lane(fires)) equations_act(lane, action, fires, &outcome);
        }
    }
    return outcome;
}

// Rates, guards, sides and values of metrics where a state begins, after one in mode `mode_before`. near: as in
// equations_take_sides.
HD_CALL void equations_settle(const EquationsLane *UNALIASED lane, real near, real mode_before, mask which)
{
    equations_owns_memory(lane);
    const EquationsConstants *c = lane->c;
    equations_argue(lane, c->y);
    equations_at(lane, equations_named(lane, EQUATIONS_T));
    equations_rates(lane, c->f, which);
    equations_guards(lane, c->guard, which);
    if (equations_has_noise(lane))
        equations_take_noisy_sides(lane, mode_before, which);
    else
        equations_take_sides(lane, near, which);
    equations_begin_extrema(lane, which);
}

// The same where rows of inputs begin: the state goes on, and with it the sides of guards.
HD_CALL void equations_go_on(const EquationsLane *UNALIASED lane, mask which)
{
    const EquationsConstants *c = lane->c;
    equations_argue(lane, c->y);
    equations_at(lane, equations_named(lane, EQUATIONS_T));
    equations_rates(lane, c->f, which);
    equations_guards(lane, c->guard, which);
    equations_follow(lane, which);
}

// What guards that turn after a step of length h count as 0: where they stand now, unless they have jumped there.
// Returns the landed lanes with one that has stayed within rounding of 0 since their last event, `apart` (s) ago: a
// guard that leaves 0 and returns is a quarter of its slope times that time away from it.
HD_CALL mask equations_stays(const EquationsLane *UNALIASED lane, real apart, real h, mask landed)
{
    equations_owns_memory(lane);
    const EquationsConstants *c = lane->c;
    mask stays = no_lanes();
    equations_of_modes(lane, EQUATIONS_MODE_SIZES, c->saved, c->n_guards, landed);
    FRAME_EACH
    for (int k = 0; k < c->n_guards; k++) {
        const real slope = frame_get(lane->frame, c->slope + k), speed = absolute(slope),
                   value = absolute(frame_get(lane->frame, c->guard + k)),
                   rounding = EQUATIONS_ROUNDING * frame_get(lane->frame, c->saved + k),
                   rest = fused(splat(4.0), value, absolute(equations_offset(lane, k)));
        const mask turned = landed & MASK(frame_get(lane->frame, c->turn + k) == 1.0);
        const mask jumped = MASK(value > fused(h, speed, rounding)), back = MASK(slope * equations_side(lane, k) > 0.0);
        equations_set_rest(lane, k, select_real(turned & ~jumped, select_real(back, -rest, rest), splat(0.0)));
        stays = stays | (turned & ~jumped & MASK(0.25 * apart * speed <= rounding));
    }
    return stays;
}

#define EQUATIONS_SOON 1e-7  // of the duration
#define EQUATIONS_CROWDS 1e4 // events

// Counts events at one instant, after a step of length h, and events that follow each other sooner than a lane could
// afford to the end of the duration. Returns the lanes with too many.
HD mask equations_cascades(const EquationsLane *lane, real t, real h, mask landed)
{
    const real last = equations_named(lane, EQUATIONS_EVENT_T), cascade = equations_named(lane, EQUATIONS_CASCADE);
    const mask stays = equations_has_noise(lane) ? no_lanes() : equations_stays(lane, t - last, h, landed);
    const mask same =
        MASK(t - last <= 1e-12 * greater_of(absolute(t), equations_second(lane))) | (stays & MASK(last >= 0.0));
    equations_name(lane, EQUATIONS_CASCADE, select_real(same, cascade + 1.0, splat(0.0)), landed);
    const double soon = 1.0 / (double)lane->c->steps_max;
    const mask crowded =
        MASK(last >= 0.0) & MASK(t - last < (soon < EQUATIONS_SOON ? soon : EQUATIONS_SOON) * lane->c->duration);
    const real crowd = select_real(crowded, equations_named(lane, EQUATIONS_CROWD) + 1.0, splat(0.0));
    equations_name(lane, EQUATIONS_CROWD, crowd, landed);
    equations_name(lane, EQUATIONS_EVENT_T, t, landed);
    const mask many = lane->c->is_map ? no_lanes() : MASK(crowd > EQUATIONS_CROWDS);
    return landed & (many | MASK(equations_named(lane, EQUATIONS_CASCADE) > (double)lane->c->cascade));
}

// Sides of the guards that do not turn in `landed`, before anything happens: signs, but of one that has passed 0 by
// rounding and turns at the begin of the next step.
HD void equations_follow_others(const EquationsLane *lane, mask landed)
{
    FRAME_EACH
    for (int k = 0; k < lane->c->n_guards; k++) {
        const mask turned = MASK(frame_get(lane->frame, lane->c->turn + k) == 1.0);
        const real sign = equations_sign(frame_get(lane->frame, lane->c->guard + k));
        const mask late = equations_counts(lane, k, equations_side(lane, k), sign);
        const mask known = MASK(sign != 0.0) | equations_is_exact(lane, k);
        equations_set_side(lane, k, sign, landed & ~turned & ~late & known);
    }
}

// Guards that an event of `changed` has taken to their other side, and that the mode before it has too: they turn now.
// Their sides before it stand in `next_guard`. Returns the lanes with one.
HD mask equations_jump(const EquationsLane *lane, real mode_before, mask changed)
{
    const EquationsConstants *c = lane->c;
    mask any = no_lanes();
    FRAME_EACH
    for (int k = 0; k < c->n_guards; k++) {
        const real before = frame_get(lane->frame, c->next_guard + k), now = equations_side(lane, k);
        const mask turned = MASK(frame_get(lane->frame, c->turn + k) == 1.0);
        const mask kept = changed & ~turned & equations_keeps_guard(lane, k, mode_before);
        mask jumps = kept & equations_counts(lane, k, before, now);
        if (equations_direction(lane, k) == SYSTEM_FOLLOWED) jumps = no_lanes();
        frame_put(lane->frame, c->turn + k, select_real(jumps, splat(1.0), splat(0.0)), changed);
        any = any | jumps;
    }
    return any;
}

// How far from its instant (s) a located event may have been taken, after a step of length h: the distance from 0 at
// which its guard stands, and the tolerance.
HD real equations_nearness(const EquationsLane *lane, real h, mask landed)
{
    real near = EQUATIONS_NEAR * lane->c->tolerance * h;
    FRAME_EACH
    for (int k = 0; k < lane->c->n_guards; k++) {
        const mask turned = landed & MASK(frame_get(lane->frame, lane->c->turn + k) == 1.0);
        const real value = absolute(frame_get(lane->frame, lane->c->guard + k)),
                   slope = absolute(frame_get(lane->frame, lane->c->slope + k));
        const real late = lesser_of(4.0 * value / slope, 1e-3 * h); // NaN, of a guard that rests: the latter
        near = select_real(turned, greater_of(late, near), near);
    }
    return near;
}

// What happens at time t, after a step of length h, in the lanes of `landed` (their guards that turn), of `timed`
// (instants) and of `ticked` (rows of inputs), and what follows from that at once. Events see the new rows.
HD_CALL EquationsOutcome equations_occur(const EquationsLane *UNALIASED lane, real t, real h, mask landed, mask timed,
                                         mask ticked)
{
    equations_owns_memory(lane);
    const EquationsConstants *c = lane->c;
    EquationsOutcome all = {splat(0.0), no_lanes(), no_lanes()};
    bool located = true;
    equations_name(lane, EQUATIONS_TIMED_T, t, timed);
    equations_follow_others(lane, landed);
    while (any_lane(landed | timed | ticked)) {
        const real mode_before = equations_named(lane, EQUATIONS_MODE_OF);
        FRAME_EACH
        for (int k = 0; k < c->n_guards; k++) {
            frame_set(lane->frame, c->next_guard + k, equations_side(lane, k));
            frame_put(lane->frame, c->turn + k, splat(0.0), (timed | ticked) & ~landed);
        }
        const mask many = equations_cascades(lane, t, h, landed);
        equations_remember_turned(lane, located ? landed : no_lanes());
        const real near = equations_nearness(lane, h, landed);
        equations_tick(lane, t, ticked);
        EquationsOutcome outcome = equations_happen(lane, t, landed, timed);
        equations_pass_switches(lane, ticked);
        all.stopped = all.stopped | outcome.stopped;
        all.failure = select_real(MASK(all.failure == 0.0), outcome.failure, all.failure);
        all.failure = select_real(many, splat(EQUATIONS_FAIL_zeno), all.failure);
        FRAME_EACH
        for (int k = 0; k < c->n_guards && located; k++) { // a guard that turned stands on its other side
            const mask turned = MASK(frame_get(lane->frame, c->turn + k) == 1.0);
            const real other = equations_other_side(lane, equations_side(lane, k));
            equations_set_side(lane, k, other, landed & ~outcome.changed & turned);
        }
        const mask left = outcome.changed & MASK(equations_named(lane, EQUATIONS_MODE_OF) != mode_before);
        FRAME_EACH
        for (int k = 0; k < c->n_guards && any_lane(left); k++)
            equations_set_side(lane, k, splat(0.0), left & ~equations_keeps_guard(lane, k, mode_before));
        const mask goes_on = ticked & ~outcome.changed & ~landed;
        outcome.changed = outcome.changed | ticked;
        if (any_lane(goes_on)) equations_go_on(lane, goes_on);
        if (any_lane(outcome.changed & ~goes_on)) equations_settle(lane, near, mode_before, outcome.changed & ~goes_on);
        equations_argue(lane, c->y);
        equations_at(lane, t);
        landed = equations_jump(lane, mode_before, outcome.changed) & ~all.stopped & MASK(all.failure == 0.0);
        timed = ticked = no_lanes();
        located = false;
    }
    return all;
}

// ---- step sizes -----------------------------------------------------------------------------------------------------

// Factor for the next step: 0.9 error^(-1/5) in [0.2, 5]; NaN gives 0.2.
HD real equations_factor(real error)
{
    const real safe = greater_of(error, splat(1e-10)); // NaN: 1e-10, corrected below
    const real factor = clamped(0.9 * exponential(-0.2 * logarithm(safe)), splat(0.2), splat(5.0));
    return select_real(MASK(error == error), factor, splat(0.2));
}

// A first step: a hundredth of the time in which the state changes by its size (II.4), at most the duration.
HD real equations_first_step(const EquationsLane *lane)
{
    const EquationsConstants *c = lane->c;
    real size = splat(0.0), rate = splat(0.0);
    FRAME_EACH
    for (int i = 0; i < c->n_states; i++) {
        const real y = frame_get(lane->frame, c->y + i), f = frame_get(lane->frame, c->f + i);
        const real scale = 1.0 / (lane->assets[c->scale + i] + absolute(y));
        size = fused(y * scale, y * scale, size);
        rate = fused(f * scale, f * scale, rate);
    }
    const real long_ago = 0.01 * square_root((size + 1e-6) / (rate + 1e-12));
    return clamped(long_ago, 1e-9 * equations_second(lane), splat(0.1 * c->duration));
}

// ---- the loop -------------------------------------------------------------------------------------------------------

// One that is a code. Its rates at the end are for the continuous extension alone.
HD EquationsStep equations_straight_step(const EquationsLane *lane, real t, real h, mask which, bool observed)
{
    const EquationsConstants *c = lane->c;
    const EquationsStep step = {splat(0.0), splat(0.0)};
    straight_argue(lane, c->y);
    straight_step(lane, t, h);
    straight_keep(lane, c->next);
    return EQUATIONS_OBSERVED(observed) ? equations_end_step(lane, t, h, which) : step;
}

HD EquationsStep equations_step(const EquationsLane *lane, EquationsMethod method, real t, real h, mask which,
                                bool observed)
{
    if (EQUATIONS_KNOWN(lane->c, straight) != 0) return equations_straight_step(lane, t, h, which, observed);
    switch (EQUATIONS_KNOWN_METHOD(method)) {
    case EQUATIONS_BY_dormand_prince: return equations_dormand_prince_step(lane, t, h, which);
    case EQUATIONS_BY_rk4: return equations_rk4_step(lane, t, h, which);
    case EQUATIONS_BY_semi_implicit_euler: return equations_semi_implicit_euler_step(lane, t, h, which);
    case EQUATIONS_BY_implicit_midpoint: return equations_implicit_midpoint_step(lane, t, h, which);
    case EQUATIONS_BY_rodas5p: return equations_rodas5p_step(lane, t, h, which);
    case EQUATIONS_BY_euler_maruyama: return equations_euler_maruyama_step(lane, t, h, which);
    case EQUATIONS_BY_sra3: return equations_sra3_step(lane, t, h, which);
    default: return equations_map_step(lane, t, which);
    }
}

HD mask equations_finite(const EquationsLane *lane, int numbers)
{
    mask finite = all_lanes();
    FRAME_LOADS
    for (int i = 0; i < lane->c->n_states; i++) finite = finite & is_finite(frame_get(lane->frame, numbers + i));
    return finite;
}

// The next instant at which a step must end; *grid: of the fixed steps.
HD real equations_deadline(const EquationsLane *lane, real t, real *grid)
{
    const EquationsConstants *c = lane->c;
    const real end = splat(c->duration);
    *grid = c->fixed_steps ? (equations_named(lane, EQUATIONS_GRID) + 1.0) * c->dt : splat(1e300);
    const real next = c->fixed_steps ? lesser_of(*grid, end) : end;
    real row = equations_next_row(lane, lesser_of(equations_next_period(lane), next));
    if (equations_switches(c) > 0) row = greater_of(row, t); // periods that are lost in the rounding of time
    return c->n_instants > 0 ? lesser_of(equations_next_instant(lane, t), row) : row;
}

HD_CALL EquationsOutcome equations_start(const EquationsLane *UNALIASED lane, const LaneGroup *group, bool observed,
                                         mask running)
{
    const EquationsConstants *c = lane->c;
    equations_begin(lane);
    equations_argue(lane, c->y);
    equations_rates(lane, c->f, running);
    const real first = c->fixed_steps ? splat(c->dt) : equations_first_step(lane);
    equations_name(lane, EQUATIONS_H, c->fixed_steps ? splat(1e300) : first, running);
    equations_settle(lane, EQUATIONS_NEAR * c->tolerance * first, equations_named(lane, EQUATIONS_MODE_OF), running);
    EquationsOutcome outcome = {splat(0.0), no_lanes(), no_lanes()};
    const mask wrong = equations_wrong_instants(lane), due = running & ~wrong & equations_due(lane, splat(0.0));
    const mask switching = running & ~wrong & equations_is_switching(lane);
    if (any_lane(due | switching)) outcome = equations_occur(lane, splat(0.0), first, no_lanes(), due, switching);
    equations_argue(lane, c->y);
    equations_at(lane, splat(0.0));
    if (c->n_actions == 0) { // else with the first action
        const real failure = equations_conditions(lane, splat(0.0), running);
        outcome.failure = select_real(MASK(outcome.failure == 0.0), failure, outcome.failure);
    }
    outcome.failure = select_real(wrong, splat(EQUATIONS_FAIL_instant), outcome.failure);
    if (EQUATIONS_OBSERVED(observed) && lanes_sample_due(group, 0)) {
        equations_argue(lane, lane->c->y);
        equations_at(lane, splat(0.0));
        equations_sample(lane, group, splat(0.0), false, running);
    }
    return outcome;
}

HD void equations_copy(const EquationsLane *lane, int to, int from, int count, mask which)
{
    FRAME_LOADS
    for (int i = 0; i < count; i++) frame_put(lane->frame, to + i, frame_get(lane->frame, from + i), which);
}

#if defined(HOPSCOTCH_TRAIL)
// Why a step of length h that ends at time `now` does: its cause, and which guard, instant or switch it is.
HD_CALL void trail_cause(const EquationsLane *UNALIASED lane, real t, real now, bool landing, Cells entry)
{
    const EquationsConstants *c = lane->c;
    const int64_t row = equations_mode_row(lane, (int)equations_named(lane, EQUATIONS_MODE_OF));
    const int64_t first = equations_integer(lane, row + EQUATIONS_MODE_ACTIONS);
    const int actions = equations_integer(lane, row + EQUATIONS_MODE_N_ACTIONS);
    entry[TRAIL_CAUSE] = landing ? TRAIL_GUARD : TRAIL_KNOWN;
    for (int k = c->n_guards - 1; k >= 0 && landing; k--) {
        if (frame_get(lane->frame, c->turn + k) != 1.0) continue;
        entry[TRAIL_WHICH] = k;
        entry[trail_turns(c) + k / TRAIL_BITS] += (double)((int64_t)1 << k % TRAIL_BITS);
    }
    if (landing || !equations_before_end(lane, now)) return;
    for (int k = equations_switches(c) - 1; k >= 0; k--) {
        if (equations_switch_instant(lane, k) != now) continue;
        entry[TRAIL_CAUSE] = TRAIL_SWITCH;
        entry[TRAIL_WHICH] = k;
    }
    for (int a = actions - 1; a >= 0; a--) {
        const int k = equations_integer(lane, first + (int64_t)a * EQUATIONS_ACTION + EQUATIONS_ACTION_INSTANT);
        if (k < 0 || !(equations_is_instant(lane, k, now) || equations_instant(lane, k, t) == now)) continue;
        entry[TRAIL_CAUSE] = TRAIL_INSTANT;
        entry[TRAIL_WHICH] = k;
    }
}

// Before a step from t of length h is taken.
HD_CALL void trail_step(const EquationsLane *UNALIASED lane, real t, real h, real now, mask landing, mask timed)
{
    const Cells entry = trail_put(lane, TRAIL_STEP, t);
    entry[TRAIL_H] = h;
    entry[TRAIL_NOW] = now;
    if (any_lane(landing | timed))
        trail_cause(lane, t, now, any_lane(landing), entry);
    else
        entry[TRAIL_CAUSE] = TRAIL_FREE;
}
#else
HD void trail_step(const EquationsLane *lane, real t, real h, real now, mask landing, mask timed)
{
    (void)lane, (void)t, (void)h, (void)now, (void)landing, (void)timed;
}
#endif

// A step has been taken: `next` is the state now.
HD void equations_take(const EquationsLane *lane, real now, mask on_grid, mask taken)
{
    const EquationsConstants *c = lane->c;
    equations_copy(lane, c->y, c->next, c->n_total, taken);
    equations_copy(lane, c->f, c->next_f, c->n_total, taken);
    equations_copy(lane, c->guard, c->next_guard, 2 * c->n_guards, taken);
    if (EQUATIONS_KNOWN(c, extrema))
        equations_copy(lane, c->watched, c->watched + 2 * c->n_metrics, 2 * c->n_metrics, taken);
    equations_name(lane, EQUATIONS_T, now, taken);
    equations_name(lane, EQUATIONS_REACH, splat(0.0), taken);
    equations_name(lane, EQUATIONS_GRID, equations_named(lane, EQUATIONS_GRID) + 1.0, taken & on_grid);
}

// The failure of the lanes of `refused`, whose step was not taken, where it can't be shorter.
HD real equations_refusal(const EquationsLane *lane, real t, mask finite, mask refused, real failure)
{
    const real least = 1e-14 * greater_of(absolute(t), 1e-3 * equations_second(lane));
    const mask stuck = MASK(equations_named(lane, EQUATIONS_H) <= least);
    const real why = select_real(finite, splat(EQUATIONS_FAIL_step_too_small), splat(EQUATIONS_FAIL_diverged));
    return select_real(refused & (stuck | (lane->c->fixed_steps ? ~finite : no_lanes())) & MASK(failure == 0.0), why,
                       failure);
}

// Ends the lanes of `ended` at time t, where a sample is taken.
HD void equations_end(const EquationsLane *lane, const LaneGroup *group, real t, real failure, bool observed,
                      mask ended)
{
    equations_argue(lane, lane->c->y);
    equations_at(lane, t);
    if (EQUATIONS_OBSERVED(observed)) equations_sample(lane, group, t, true, ended);
    equations_finish(lane, group, failure, ended);
}

// The periods of actions that begin now, and what follows from their actions at once. Returns the lanes that go on.
HD_CALL mask equations_act_now(const EquationsLane *UNALIASED lane, const LaneGroup *group, bool observed, mask running)
{
    const EquationsConstants *c = lane->c;
    const real t = equations_named(lane, EQUATIONS_T);
    const mask begins = running & MASK(t >= equations_next_period(lane));
    if (!any_lane(begins)) return running;
    const real h = c->fixed_steps ? splat(c->dt) : equations_named(lane, EQUATIONS_H);
    const mask first = begins & equations_take_actions(lane, group, begins);
    const EquationsOutcome outcome = equations_occur(lane, t, h, no_lanes(), no_lanes(), begins);
    if (EQUATIONS_KNOWN(c, extrema)) {
        equations_forget_extrema(lane, first);
        equations_begin_extrema(lane, begins);
    }
    const real fails = equations_conditions(lane, splat(0.0), begins);
    const real failure = select_real(MASK(outcome.failure != 0.0), outcome.failure, fails);
    const mask ended = begins & (outcome.stopped | MASK(failure != 0.0));
    if (any_lane(ended)) equations_end(lane, group, t, failure, observed, ended);
    return running & ~ended;
}

// A tick of the lanes of `running`: an attempt at a step. last: lanes that may take no other. Returns those that go on.
HD mask equations_attempt(const EquationsLane *lane, const LaneGroup *group, EquationsMethod method, bool observed,
                          mask last, mask running)
{
    const EquationsConstants *c = lane->c;
    const bool noisy =
        (EQUATIONS_IS(method, euler_maruyama) || EQUATIONS_IS(method, sra3) || EQUATIONS_IS(method, map)) &&
        equations_has_noise(lane);
    // Lanes that have ended are never read again: where nothing iterates they may go on, and no stage waits for a mask.
    const bool goes_on = c->n_modes == 1 && !EQUATIONS_IS(method, implicit_midpoint) && !EQUATIONS_IS(method, rodas5p);
    real grid;
    const real t = equations_named(lane, EQUATIONS_T), sight = equations_named(lane, EQUATIONS_SIGHT),
               wanted = lesser_of(equations_named(lane, EQUATIONS_H), sight),
               reach = equations_named(lane, EQUATIONS_REACH);
    real deadline = equations_deadline(lane, t, &grid);
    if (noisy && !EQUATIONS_IS(method, map)) {
        const mask opens = running & MASK(equations_named(lane, EQUATIONS_OPEN) == 0.0);
        deadline = lesser_of(equations_near_guards(lane, t, grid, opens), deadline);
    }
    if (noisy) deadline = equations_open_piece(lane, method, t, grid, deadline, running);
    const real left = deadline - t;
    const mask landing = EQUATIONS_KNOWN(c, n_guards) > 0 ? MASK(reach > 0.0) : no_lanes();
    const mask timed = c->fixed_steps ? ~landing : ~landing & MASK(wanted >= left);
    const real h = select_real(landing, reach, select_real(timed, left, wanted));
    const real part = equations_part_of_piece(h, left, landing);
    if (noisy) equations_take_path(lane, method, part);
    const EquationsStep step = equations_step(lane, method, t, h, goes_on ? all_lanes() : running, observed);
    const mask finite = equations_finite(lane, c->next);
    const mask precise = running & finite & (landing | MASK(step.error <= 1.0));
    const bool inner = EQUATIONS_KNOWN(c, extrema) && !EQUATIONS_IS(method, map) && !noisy;
    if ((inner || (EQUATIONS_KNOWN(c, n_guards) > 0 && !EQUATIONS_IS(method, map))) && any_lane(precise))
        equations_dense(lane, method, h);
    const mask free = precise & ~landing, fast = equations_overlooks_extrema(lane, t, h, free);
    mask blind;
    const mask turned = equations_seek(lane, method, t, h, free & ~fast, &blind);
    blind = blind | fast;
    const mask accepted = precise & ~blind;
    const mask crossed = EQUATIONS_IS(method, map) ? no_lanes() : turned;
    const mask taken = accepted & ~crossed;
    const mask landed = taken & (landing | turned);
    real failure = step.failure;
    mask stopped = no_lanes();

    if (!EQUATIONS_KNOWN(c, fixed_steps)) { // the error decides, unless an event or a known instant ended the step
        const real factor = equations_factor(select_real(finite, step.error, math_nan())) * h;
        const real grown = select_real(MASK(h < wanted), greater_of(factor, wanted), factor);
        const real next = select_real(accepted & ~landing, grown, factor);
        equations_name(lane, EQUATIONS_H, next, running & ~crossed & ~blind & ~(landing & accepted));
        equations_name(lane, EQUATIONS_SIGHT, select_real(blind, 0.5 * h, 1.25 * sight), blind | (accepted & ~landing));
    }
    const real now = select_real(timed, deadline, t + h);
    const mask periodic = EQUATIONS_KNOWN(c, n_actions) > 0 ? MASK(now >= equations_next_period(lane)) : no_lanes();
    if (any_lane(taken)) {
        trail_step(lane, t, h, now, landing, timed);
        const real until = select_real(periodic, now - equations_apart(now), t + h);
        if (EQUATIONS_OBSERVED(observed)) equations_trace(lane, group, method, t, h, until, taken);
        if (inner) equations_inner_extrema(lane, t, h, taken);
        equations_durations(lane, h, taken);
        if (EQUATIONS_KNOWN(c, n_guards) > 0 && any_lane(taken & landing)) {
            equations_argue(lane, c->next);
            equations_at(lane, now);
            equations_guards(lane, c->next_guard, taken & landing);
        }
        if (noisy) equations_leave_path(lane, method, part, taken & landing, taken & timed, MASK(deadline == grid));
        const mask on_grid = timed & MASK(deadline == grid);
        if (whole_vector(taken))
            equations_take(lane, now, on_grid, all_lanes());
        else
            equations_take(lane, now, on_grid, taken);
        equations_follow(lane, taken & ~landed);
        equations_argue(lane, c->y);
        equations_at(lane, now);

        const mask instants = taken & (timed | landed) & equations_due(lane, now);
        const mask ticked = taken & equations_ticks(lane, now);
        if (any_lane(landed | instants | ticked)) {
            equations_begin_extrema(lane, taken & (landed | instants | ticked)); // before anything is set
            const EquationsOutcome outcome = equations_occur(lane, now, h, landed, instants, ticked);
            stopped = outcome.stopped;
            failure = select_real(MASK(outcome.failure != 0.0), outcome.failure, failure);
        }
        if (EQUATIONS_KNOWN(c, extrema)) equations_begin_extrema(lane, taken);
        const real fails = equations_conditions(lane, h, taken);
        failure = select_real(taken & MASK(fails != 0.0) & MASK(failure == 0.0), fails, failure);
    }
    const real after = equations_named(lane, EQUATIONS_T);
    const mask refused = running & ~taken & ~crossed;
    if (any_lane(refused)) failure = equations_refusal(lane, after, finite, refused, failure);
    const mask arrived = MASK(after >= c->duration) & taken;
    if (any_lane(last))
        failure = select_real(last & ~arrived & ~stopped & MASK(failure == 0.0), splat(EQUATIONS_FAIL_limit), failure);
    const mask retired = EQUATIONS_OBSERVED(observed) ? taken & lanes_retire(group) : no_lanes();
    failure = lanes_retired(group, retired, failure);
    const mask ended = running & (arrived | stopped | MASK(failure != 0.0));
    if (any_lane(ended)) equations_end(lane, group, after, failure, observed, ended);
    running = running & ~ended;
    if (EQUATIONS_OBSERVED(observed) && any_lane(periodic & taken & running))
        equations_trace_period(lane, group, after, periodic & taken & running);
    return running;
}

// The tick that a lane is at: a kernel may have gone ahead (../ahead.cuh).
HD int64_t equations_reached(const EquationsConstants *c, const LaneGroup *group)
{
#if !defined(HOPSCOTCH_MADE) && !defined(HOPSCOTCH_TRAIL)
    int apart = 1;
    if (ON_GPU && c->straight != 0 && group->tick > 0)
        return (int64_t)equations_memory(c, group, &apart)[(int64_t)EQUATIONS_GRID * apart];
#endif
    return (void)c, group->tick;
}

HD void equations_advance(const Constants *constants, const double *assets, const LaneGroup *group,
                          EquationsMethod method, bool observed)
{
#if defined(HOPSCOTCH_MADE)
    FrameNumber memory[EQUATIONS_MADE_NUMBERS];
#else
    FrameNumber *memory = NULL;
#endif
    const EquationsLane own = equations_lane(constants, assets, group, observed, memory), *lane = &own;
    const EquationsConstants *c = lane->c;
    mask running = lanes_running(group);
    if (!any_lane(running)) return;
    running = not_empty(running);
    const int64_t end = group->tick + group->ticks, begin = equations_reached(c, group);
    if (begin >= end) return;
    equations_load(lane, group);
    if (group->tick == 0) {
        const EquationsOutcome outcome = equations_start(lane, group, observed, running);
        const mask ended = running & (outcome.stopped | MASK(outcome.failure != 0.0));
        if (any_lane(ended)) {
            equations_end(lane, group, splat(0.0), outcome.failure, false, ended);
            running = running & ~ended;
            if (!any_lane(running)) return;
        }
    }
    int64_t bent = 0; // before this tick the steps are looked at one by one
    for (int64_t tick = begin; tick < end; tick++) {
        if (EQUATIONS_KNOWN(c, straight) != 0 && !EQUATIONS_OBSERVED(observed) && !EQUATIONS_TRAILS && tick >= bent) {
            const int64_t steps = equations_go_straight(lane, tick, end, running);
            bent = steps > 0 ? tick : tick + STRAIGHT_STEPS;
            tick += steps - 1;
            if (steps > 0) continue;
            tick++;
        }
        if (EQUATIONS_KNOWN(c, n_actions) > 0) {
            running = equations_act_now(lane, group, observed, running);
            if (!any_lane(running)) return;
        }
        const mask last = tick + 1 == c->steps_max ? all_lanes() : no_lanes();
        running = equations_attempt(lane, group, method, observed, last, not_empty(running));
        if (!any_lane(running)) return;
        running = not_empty(running);
    }
    equations_store(lane, group);
}

#define EQUATIONS_KERNEL(name)                                                                                         \
    HD void equations_##name(const Constants *constants, const double *assets, const LaneGroup *group, bool observed)  \
    {                                                                                                                  \
        equations_advance(constants, assets, group, EQUATIONS_BY_##name, observed);                                    \
    }
EQUATIONS_KERNEL(dormand_prince)
EQUATIONS_KERNEL(rk4)
EQUATIONS_KERNEL(semi_implicit_euler)
EQUATIONS_KERNEL(implicit_midpoint)
EQUATIONS_KERNEL(rodas5p)
EQUATIONS_KERNEL(euler_maruyama)
EQUATIONS_KERNEL(sra3)
EQUATIONS_KERNEL(map)
#undef EQUATIONS_KERNEL

#endif
