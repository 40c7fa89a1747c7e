// Events of `equations`: guards whose sign changes are located on the continuous extension of a step, instants, what
// they set, and the mode that follows.
//
// The side of a guard is the sign that it had last, away from 0. A crossing is a step after which the sign is another,
// or in which the guard goes to the other side and back. The step is repeated up to the first crossing, so that the
// state at an event has the method's full order. After an event a guard near 0 has the side to which it moves: a guard
// that has just fired does not fire again, and one that returns at once is armed. Such a guard counts from its value at
// the event (its offset) until it has been on its side, because a return may be smaller than the error of that value: a
// ball that comes to rest would fall through the ground.
#ifndef HOPSCOTCH_EQUATIONS_EVENTS_H
#define HOPSCOTCH_EQUATIONS_EVENTS_H

#include "steps.h"

#define EQUATIONS_NO_TURN 2.0    // in place of the theta of a crossing
#define EQUATIONS_TOGETHER 1e-12 // crossings of one instant, in theta
#define EQUATIONS_ROOT 1e-15     // width of a located crossing, in theta
#define EQUATIONS_NOISY 1e-3     // with noise: a guard within this part of what moves it in dt from 0 is at 0
#define EQUATIONS_REACHES 4.0    // standard deviations that a guard moves in a step, at most
#define EQUATIONS_AT_ZERO 0.5    // with noise: the side of a guard that an event has left at 0
#define EQUATIONS_NEAR 10.0      // a guard within this many tolerances of a step from 0 is at 0
#define EQUATIONS_ROUNDING 1e-14 // of a guard, over what it is the difference of
#define EQUATIONS_STRAYS 0.03    // of a guard from its cubic in the middle of a step, over its size
#define EQUATIONS_BENDS 0.2      // the same of what has an extremum
#define EQUATIONS_LOOK 2.5e-4    // of the duration: a step in which guards are not looked at
enum { EQUATIONS_ROOT_STEPS = 160 };

// ---- guards ---------------------------------------------------------------------------------------------------------

HD int equations_direction(const EquationsLane *lane, int k) { return equations_integer(lane, lane->c->guards + k); }

HD real equations_offset(const EquationsLane *lane, int k) { return frame_get(lane->frame, lane->c->offset + k); }

// guards[n_guards], less their offsets, and slopes behind them <- at the arguments, which are those of a state with its
// rates.
HD void equations_guards(const EquationsLane *lane, int guards, mask which)
{
    if (lane->c->n_guards == 0) return;
    equations_of_modes(lane, EQUATIONS_MODE_SLOPES, guards, 2 * lane->c->n_guards, which);
    FRAME_EACH
    for (int k = 0; k < lane->c->n_guards; k++)
        frame_put(lane->frame, guards + k, frame_get(lane->frame, guards + k) - equations_offset(lane, k), which);
}

// saved[n_guards] of the frame <- the guards, less their offsets, at theta of the step from t.
HD void equations_guards_between(const EquationsLane *lane, real t, real h, real theta, mask which)
{
    const EquationsConstants *c = lane->c;
    equations_argue_between(lane, t, h, theta);
    equations_of_modes(lane, EQUATIONS_MODE_GUARDS, c->saved, c->n_guards, which);
    FRAME_EACH
    for (int k = 0; k < c->n_guards; k++)
        frame_put(lane->frame, c->saved + k, frame_get(lane->frame, c->saved + k) - equations_offset(lane, k), which);
}

HD_CALL real equations_guard_between(const EquationsLane *UNALIASED lane, int k, real t, real h, real theta, mask which)
{
    equations_owns_memory(lane);
    equations_guards_between(lane, t, h, theta, which);
    return frame_get(lane->frame, lane->c->saved + k);
}

// The lanes in which a change of guard k from side `before` to `now` is a crossing in a direction that counts.
HD mask equations_counts(const EquationsLane *lane, int k, real before, real now)
{
    const int direction = equations_direction(lane, k);
    const mask rises = MASK(before < 0.0) & MASK(now > 0.0), falls = MASK(before > 0.0) & MASK(now < 0.0);
    return (direction != SYSTEM_FALLS ? rises : no_lanes()) | (direction != SYSTEM_RISES ? falls : no_lanes());
}

// The theta in (0, 1) at which a cubic with these ends and slopes per step, of opposite signs, has its extremum; *value
// <- the extremum.
HD real equations_bend(real from, real to, real from_slope, real to_slope, real *value)
{
    const real change = to - from;
    const real second = 3.0 * change - 2.0 * from_slope - to_slope, third = from_slope + to_slope - 2.0 * change;
    const real root = square_root(greater_of(second * second - 3.0 * (third * from_slope), splat(0.0)));
    const real below = select_real(MASK(from_slope > 0.0), root, -root) - second;
    const real theta = clamped(from_slope / below, splat(0.0), splat(1.0));
    *value = fused(theta, fused(theta, fused(theta, third, second), from_slope), from);
    return theta;
}

// Where guard number `k` of a lane goes to its other side: sign * guard is above 0 at one of `newest` and `other`, and
// not at the other one, after so many looks. third: the last end before these; part: of the way from the newest end to
// the other one, where the next look is.
typedef struct EquationsBracket {
    real k, sign, newest, other, third, at_newest, at_other, at_third, part, looks;
    real from, to, quantity; // sign * guard at the ends of the step; what the guard is (equations_quantity)
} EquationsBracket;

HD EquationsBracket equations_no_bracket(void)
{
    const real none = splat(0.0);
    const EquationsBracket b = {none, none, none, none, none, none, none, none, none, none, none, none, none};
    return b;
}

// Brackets of the lanes of `which` begin: from 0 to theta, with these values of sign * guard.
HD void equations_begin_bracket(EquationsBracket *b, real theta, real from, real to, mask which)
{
    const real part = clamped(to / (to - from), splat(0.05), splat(0.95));
    b->newest = select_real(which, theta, b->newest);
    b->other = select_real(which, splat(0.0), b->other);
    b->third = select_real(which, splat(0.0), b->third);
    b->at_newest = select_real(which, to, b->at_newest);
    b->at_other = select_real(which, lesser_of(from, splat(0.0)), b->at_other); // a guard at 0 is by rounding above it
    b->at_third = select_real(which, b->at_other, b->at_third);
    b->part = select_real(which, select_real(MASK(from < 0.0), part, splat(0.5)), b->part);
    b->looks = select_real(which, splat(0.0), b->looks);
    b->from = select_real(which, from, b->from);
    b->to = select_real(which, to, b->to);
}

HD real equations_look(EquationsBracket *b)
{
    b->looks = b->looks + 1.0;
    return b->newest + b->part * (b->other - b->newest);
}

// At theta, sign * guard has this value, in the lanes of `open`. The next look is by inverse quadratic interpolation
// where its three ends suit, else in the middle: T. R. Chandrupatla, A new hybrid quadratic/bisection algorithm for
// finding the zero of a nonlinear function without using derivatives, Advances in Engineering Software 28 (1997), 145.
HD void equations_seen(EquationsBracket *b, real theta, real value, mask open)
{
    const mask above = MASK(value > 0.0), was = MASK(b->at_newest > 0.0), same = (above & was) | (~above & ~was);
    b->third = select_real(open, select_real(same, b->newest, b->other), b->third);
    b->at_third = select_real(open, select_real(same, b->at_newest, b->at_other), b->at_third);
    b->other = select_real(open & ~same, b->newest, b->other);
    b->at_other = select_real(open & ~same, b->at_newest, b->at_other);
    b->newest = select_real(open, theta, b->newest);
    b->at_newest = select_real(open, value, b->at_newest);
    const real x = b->newest, y = b->other, z = b->third, at_x = b->at_newest, at_y = b->at_other, at_z = b->at_third;
    const real xi = (x - y) / (z - y), phi = (at_x - at_y) / (at_z - at_y), rest = 1.0 - phi;
    const mask suits = MASK(phi * phi < xi) & MASK(rest * rest < 1.0 - xi) & ~MASK(at_x == 0.0) & ~MASK(at_y == 0.0);
    const real part = at_x / (at_y - at_x) * (at_z / (at_y - at_z)) +
                      (z - x) / (y - x) * (at_x / (at_z - at_x)) * (at_y / (at_z - at_y));
    const real least = 0.5 * EQUATIONS_ROOT / absolute(x - y);
    b->part = clamped(select_real(suits, part, splat(0.5)), lesser_of(least, splat(0.5)),
                      greater_of(1.0 - least, splat(0.5)));
}

// The upper end.
HD real equations_end_of(const EquationsBracket *b)
{
    return select_real(MASK(b->newest > b->other), b->newest, b->other);
}

// numbers[k] of the frame for guard k of each lane; 0: n_guards or more.
HD real equations_value_of(const EquationsLane *lane, int numbers, real k)
{
#if LANES == 1 && !defined(HOPSCOTCH_MADE_WHOLE) // registers have no such index
    return k < (double)lane->c->n_guards ? frame_get(lane->frame, numbers + (int)k) : 0.0;
#else
    real value = splat(0.0);
    FRAME_EACH
    for (int i = 0; i < lane->c->n_guards; i++)
        value = select_real(MASK(k == (double)i), frame_get(lane->frame, numbers + i), value);
    return value;
#endif
}

// The lanes of `which` begin with their next guard that has crossed and is not located (turn < 0); n_guards: none is.
HD void equations_next_bracket(const EquationsLane *lane, EquationsBracket *b, mask which)
{
    const EquationsConstants *c = lane->c;
    mask open = which;
    real from = splat(0.0), to = splat(0.0);
    b->k = select_real(which, splat((double)c->n_guards), b->k);
    FRAME_EACH
    for (int i = 0; i < c->n_guards; i++) {
        const mask here = open & MASK(frame_get(lane->frame, c->turn + i) < 0.0);
        if (!any_lane(here)) continue;
        const real sign = select_real(MASK(equations_side(lane, i) < 0.0), splat(1.0), splat(-1.0)),
                   quantity = equations_quantity(lane, i, equations_named(lane, EQUATIONS_MODE_OF));
        b->k = select_real(here, splat((double)i), b->k);
        b->sign = select_real(here, sign, b->sign);
        b->quantity = select_real(here, quantity, b->quantity);
        from = select_real(here, sign * frame_get(lane->frame, c->guard + i), from);
        to = select_real(here, sign * frame_get(lane->frame, c->next_guard + i), to);
        open = open & ~here;
    }
    equations_begin_bracket(b, splat(1.0), from, to, which);
}

// `turn` of guards in the lanes of `found` <- the end of the bracket: of its own guard and, if all, of those that are
// the same quantity with the same values, for which every look would be the same.
HD void equations_found(const EquationsLane *lane, const EquationsBracket *b, bool all, mask found)
{
    const EquationsConstants *c = lane->c;
    FRAME_EACH
    for (int i = 0; i < c->n_guards; i++) {
        mask is = found & MASK(b->k == (double)i);
        const mask other = all ? found & ~is & MASK(frame_get(lane->frame, c->turn + i) < 0.0) : no_lanes();
        if (any_lane(other)) {
            const real sign = select_real(MASK(equations_side(lane, i) < 0.0), splat(1.0), splat(-1.0)),
                       quantity = equations_quantity(lane, i, equations_named(lane, EQUATIONS_MODE_OF));
            is = is | (other & MASK(quantity == b->quantity) & MASK(sign == b->sign) &
                       MASK(sign * frame_get(lane->frame, c->guard + i) == b->from) &
                       MASK(sign * frame_get(lane->frame, c->next_guard + i) == b->to));
        }
        frame_put(lane->frame, c->turn + i, equations_end_of(b), is);
    }
}

// Locates the guards of brackets: `turn` of such a guard <- the upper end of an interval of EQUATIONS_ROOT. all: and
// those that follow. Lanes look at their own guards at once: codes compute all guards anyway, and the threads of a GPU
// wait for the lane with most looks, not for the sum over guards.
HD_CALL void equations_locate(const EquationsLane *UNALIASED lane, real t, real h, EquationsBracket b, bool all,
                              mask open)
{
    equations_owns_memory(lane);
    const EquationsConstants *c = lane->c;
    for (;;) {
        const mask found = open & ~(MASK(absolute(b.newest - b.other) > EQUATIONS_ROOT) &
                                    MASK(b.looks < (double)EQUATIONS_ROOT_STEPS));
        if (any_lane(found)) {
            equations_found(lane, &b, all, found);
            if (all)
                equations_next_bracket(lane, &b, found);
            else
                b.k = select_real(found, splat((double)c->n_guards), b.k);
            open = open & MASK(b.k < (double)c->n_guards);
        }
        if (!any_lane(open)) return;
        const real theta = equations_look(&b);
        equations_guards_between(lane, t, h, theta, open);
        const real value = equations_value_of(lane, c->saved, b.k);
        equations_seen(&b, theta, b.sign * value, open);
    }
}

// The lanes of `which` in which guard k goes to its other side in the step from t, in a direction that counts. Its
// `turn` <- when; -1: the end of the step is on the other side, and it is not located.
HD_CALL mask equations_crossing(const EquationsLane *UNALIASED lane, int k, real t, real h, mask which)
{
    equations_owns_memory(lane);
    const int direction = equations_direction(lane, k), turn = lane->c->turn + k;
    const real side = equations_side(lane, k);
    const mask rising = direction != SYSTEM_FALLS ? MASK(side < 0.0) : no_lanes();
    const mask falling = direction != SYSTEM_RISES ? MASK(side > 0.0) : no_lanes();
    const mask armed = which & (rising | falling) & equations_has_guard(lane, k);
    frame_put(lane->frame, turn, splat(EQUATIONS_NO_TURN), which);
    if (!any_lane(armed)) return armed;
    const real sign = select_real(rising, splat(1.0), splat(-1.0));
    const real from = sign * frame_get(lane->frame, lane->c->guard + k),
               to = sign * frame_get(lane->frame, lane->c->next_guard + k);
    const real from_slope = sign * h * frame_get(lane->frame, lane->c->slope + k),
               to_slope = sign * h * frame_get(lane->frame, lane->c->next_guard + lane->c->n_guards + k);
    // What leaves 0 after an event and comes back at once does so at the end of the step: it would turn without end.
    const mask over = armed & MASK(to > 0.0), returning = MASK(absolute(side) < 1.0);
    frame_put(lane->frame, turn, select_real(returning, splat(1.0), splat(-1.0)), over);
    // slopes are those of the rates alone: with noise a guard is looked at in the ends of a step
    const mask bends =
        equations_has_noise(lane) ? no_lanes() : armed & ~over & MASK(from_slope > 0.0) & MASK(to_slope < 0.0);
    if (!any_lane(bends)) return over;
    real peak;
    const real where = equations_bend(from, to, from_slope, to_slope, &peak);
    const mask near = bends & MASK(peak > 0.1 * lesser_of(from, to)); // both are negative
    if (!any_lane(near)) return over;
    const real value = sign * equations_guard_between(lane, k, t, h, where, near);
    const mask beyond = near & MASK(value > 0.0);
    if (!any_lane(beyond)) return over;
    EquationsBracket bracket = equations_no_bracket();
    bracket.k = splat((double)k);
    bracket.sign = sign;
    equations_begin_bracket(&bracket, where, from, value, beyond);
    frame_put(lane->frame, turn, splat(1.0), beyond & returning);
    equations_locate(lane, t, h, bracket, false, beyond & ~returning);
    return over | beyond;
}

// Whether what has these values and slopes (per step) at the ends of a step is not near `middle` in its middle, as the
// cubic through them is: by more than `most` of its size.
HD mask equations_strays(real from, real to, real from_slope, real to_slope, real middle, double most)
{
    const real between = fused(splat(0.125), from_slope - to_slope, 0.5 * (from + to));
    const real slopes = 0.25 * greater_of(absolute(from_slope), absolute(to_slope)),
               size = greater_of(greater_of(absolute(from), absolute(to)), slopes);
    return MASK(absolute(middle - between) > most * size);
}

// The lanes of accepted steps that are too long for what a guard does within them: the error of the state says nothing
// of a guard that changes faster, such as sin(100 time). Steps of a small part of the duration are never too long, for
// guards that jump. The guards at the step's end and its dense output are known.
HD_CALL mask equations_overlooks(const EquationsLane *UNALIASED lane, real t, real h, mask accepted)
{
    equations_owns_memory(lane);
    const EquationsConstants *c = lane->c;
    mask strays = no_lanes();
    accepted = accepted & MASK(h > EQUATIONS_LOOK * c->duration);
    if (c->fixed_steps || !any_lane(accepted)) return strays;
    equations_guards_between(lane, t, h, splat(0.5), accepted);
    FRAME_EACH
    for (int k = 0; k < c->n_guards; k++) {
        const real from = frame_get(lane->frame, c->guard + k), to = frame_get(lane->frame, c->next_guard + k),
                   from_slope = h * frame_get(lane->frame, c->slope + k),
                   to_slope = h * frame_get(lane->frame, c->next_guard + c->n_guards + k),
                   middle = frame_get(lane->frame, c->saved + k);
        strays = strays | (accepted & equations_has_guard(lane, k) &
                           equations_strays(from, to, from_slope, to_slope, middle, EQUATIONS_STRAYS));
    }
    return strays;
}

// The lanes of a map in which guards have crossed in the iteration that is accepted; these turn.
HD_CALL mask equations_seek_in_map(const EquationsLane *UNALIASED lane, mask accepted)
{
    const EquationsConstants *c = lane->c;
    mask any = no_lanes();
    FRAME_EACH
    for (int k = 0; k < c->n_guards; k++) {
        const real sign = equations_sign(frame_get(lane->frame, c->next_guard + k));
        const mask crossed =
            accepted & equations_has_guard(lane, k) & equations_counts(lane, k, equations_side(lane, k), sign);
        frame_put(lane->frame, c->turn + k, select_real(crossed, splat(1.0), splat(0.0)), accepted);
        any = any | crossed;
    }
    return any;
}

// Looks for crossings in an accepted step, whose dense output is known. Returns the lanes with one: they repeat the
// step up to the first. Those of a map stand at their crossing. *blind <- the lanes whose step is too long to say.
HD_CALL mask equations_seek(const EquationsLane *UNALIASED lane, EquationsMethod method, real t, real h, mask accepted,
                            mask *blind)
{
    equations_owns_memory(lane);
    const EquationsConstants *c = lane->c;
    mask any = no_lanes();
    real first = splat(EQUATIONS_NO_TURN);
    *blind = no_lanes();
    if (c->n_guards == 0 || !any_lane(accepted)) return any;
    equations_guards(lane, c->next_guard, accepted);
    if (EQUATIONS_IS(method, map)) return equations_seek_in_map(lane, accepted);
    *blind = equations_overlooks(lane, t, h, accepted);
    accepted = accepted & ~*blind;
    FRAME_EACH
    for (int k = 0; k < c->n_guards; k++) any = any | equations_crossing(lane, k, t, h, accepted);
    if (!any_lane(any)) return any;
    EquationsBracket bracket = equations_no_bracket();
    equations_next_bracket(lane, &bracket, any);
    equations_locate(lane, t, h, bracket, true, any & MASK(bracket.k < (double)c->n_guards));
    FRAME_EACH
    for (int k = 0; k < c->n_guards; k++) first = lesser_of(frame_get(lane->frame, c->turn + k), first);
    FRAME_EACH
    for (int k = 0; k < c->n_guards; k++) {
        const real theta = frame_get(lane->frame, c->turn + k);
        const real turns = select_real(MASK(theta <= first + EQUATIONS_TOGETHER), splat(1.0), splat(0.0));
        frame_put(lane->frame, c->turn + k, turns, any);
    }
    equations_name(lane, EQUATIONS_REACH, greater_of(first * h, 1e-15 * equations_second(lane)), any);
    return any;
}

// Whether the side of guard k is 0 where it is 0 and stays there: of comparisons, so that they tell < and <= apart.
HD mask equations_is_exact(const EquationsLane *lane, int k)
{
    const bool follows = equations_direction(lane, k) == SYSTEM_FOLLOWED;
    return follows ? lane->c->is_map ? all_lanes() : MASK(frame_get(lane->frame, lane->c->slope + k) == 0.0)
                   : no_lanes();
}

// Guard k counts from `offset` on.
HD void equations_shift(const EquationsLane *lane, int k, real offset, mask which)
{
    const real value = frame_get(lane->frame, lane->c->guard + k) + equations_offset(lane, k);
    frame_put(lane->frame, lane->c->guard + k, value - offset, which);
    frame_put(lane->frame, lane->c->offset + k, offset, which);
}

// Sides after a step of the lanes of `which` without an event: the signs of the guards. One that stands on its side
// needs its offset no longer.
HD void equations_follow(const EquationsLane *lane, mask which)
{
    FRAME_EACH
    for (int k = 0; k < lane->c->n_guards; k++) {
        const real value = frame_get(lane->frame, lane->c->guard + k), sign = equations_sign(value);
        equations_set_side(lane, k, sign, which & (MASK(sign != 0.0) | equations_is_exact(lane, k)));
        const mask stands = MASK(equations_sign(value + equations_offset(lane, k)) == equations_side(lane, k));
        equations_shift(lane, k, splat(0.0), which & stands);
    }
}

// What a guard that has just turned counts as 0; of the others 0. Negative: it was moving back when it turned, by an
// error of the step, and keeps its side.
HD real equations_rest(const EquationsLane *lane, int k)
{
    return frame_get(lane->frame, lane->c->next_guard + lane->c->n_guards + k);
}
HD void equations_set_rest(const EquationsLane *lane, int k, real rest)
{
    frame_set(lane->frame, lane->c->next_guard + lane->c->n_guards + k, rest);
}

// Sides where a state begins: signs, or where a guard is at 0 the sign that it will have; where it does not move
// either, the side stays. near: a time (s).
HD void equations_take_sides(const EquationsLane *lane, real near, mask which)
{
    FRAME_EACH
    for (int k = 0; k < lane->c->n_guards; k++) {
        equations_shift(lane, k, splat(0.0), which);
        const real value = frame_get(lane->frame, lane->c->guard + k),
                   slope = frame_get(lane->frame, lane->c->slope + k);
        const real rest = equations_rest(lane, k);
        const mask zero = MASK(absolute(value) <= near * absolute(slope)) | MASK(absolute(value) <= absolute(rest));
        const real sign = equations_sign(select_real(zero, select_real(MASK(rest < 0.0), splat(0.0), slope), value));
        equations_set_side(lane, k, sign, which & (MASK(sign != 0.0) | equations_is_exact(lane, k)));
        equations_shift(lane, k, value, which & zero);
    }
}

// With noise: keeps the values of guards that turn in `landed`, in place of what they count as 0, so that
// equations_take_noisy_sides sees which of them an event has moved. NaN: the guard does not turn.
HD void equations_remember_turned(const EquationsLane *lane, mask landed)
{
    FRAME_EACH
    for (int k = 0; k < lane->c->n_guards && equations_has_noise(lane); k++) {
        const mask turned = landed & MASK(frame_get(lane->frame, lane->c->turn + k) == 1.0);
        equations_set_rest(lane, k, select_real(turned, frame_get(lane->frame, lane->c->guard + k), math_nan()));
    }
}

// The side of a guard that has turned where it is located.
HD real equations_other_side(const EquationsLane *lane, real side)
{
    return equations_has_noise(lane) ? -EQUATIONS_AT_ZERO * equations_sign(side) : -side;
}

// Sides where a state of a system with noise begins. The slope of a guard says nothing of where it goes. One that has
// turned, and that the event has not moved away, stands on its other side. Another that is near 0 keeps its side; one
// that mode `mode_before` did not have is armed: the noise takes it to both sides at once.
HD_CALL void equations_take_noisy_sides(const EquationsLane *UNALIASED lane, real mode_before, mask which)
{
    const EquationsConstants *c = lane->c;
    equations_of_modes(lane, EQUATIONS_MODE_SIZES, c->saved, c->n_guards, which);
    FRAME_EACH
    for (int k = 0; k < c->n_guards; k++) {
        const real value = frame_get(lane->frame, c->guard + k), slope = frame_get(lane->frame, c->slope + k),
                   side = equations_side(lane, k), sign = equations_sign(value);
        const real moves =
            fused(square_root(splat(c->dt)), frame_get(lane->frame, c->saved + k), c->dt * absolute(slope));
        const mask zero = equations_direction(lane, k) == SYSTEM_FOLLOWED
                              ? no_lanes()
                              : MASK(absolute(value) <= EQUATIONS_NOISY * moves);
        const real before = equations_rest(lane, k); // NaN: it has not turned
        const mask over = MASK(before == before) & (zero | MASK(value == before));
        const int direction = equations_direction(lane, k);
        const double armed = direction == SYSTEM_RISES ? -EQUATIONS_AT_ZERO : EQUATIONS_AT_ZERO;
        const mask entered = ~equations_keeps_guard(lane, k, mode_before);
        const real kept = select_real(entered, splat(direction == SYSTEM_CROSSES ? 0.0 : armed), side);
        const real now = select_real(over, equations_other_side(lane, side), select_real(zero, kept, sign));
        equations_set_side(lane, k, now, which & (over | zero | MASK(sign != 0.0) | equations_is_exact(lane, k)));
    }
}

// With noise: the time at which a step from t is to end because a guard that may turn is near, as seen from where the
// step begins; 1e300: none is. A step that a guard could cross and come back is halved, at most equations_halvings()
// times. What decides is known before the noise of the step, else the solution would not be Ito's (J. G. Gaines & T. J.
// Lyons, SIAM J. Appl. Math. 57, 1997). The path's ends stay as they are: the pieces are drawn from its bridge.
HD_CALL real equations_near_guards(const EquationsLane *UNALIASED lane, real t, real grid, mask which)
{
    const EquationsConstants *c = lane->c;
    const int halvings = equations_halvings(lane);
    const real whole = grid - t;
    real length = whole;
    if (halvings == 0 || c->n_guards == 0 || !any_lane(which)) return splat(1e300);
    equations_argue(lane, c->y);
    equations_at(lane, t);
    equations_of_modes(lane, EQUATIONS_MODE_SIZES, c->saved, c->n_guards, which);
    const double shortest = c->dt / (double)(1 << halvings);
    FRAME_EACH
    for (int k = 0; k < c->n_guards; k++) {
        const int direction = equations_direction(lane, k);
        const real side = equations_side(lane, k), value = absolute(frame_get(lane->frame, c->guard + k)),
                   slope = absolute(frame_get(lane->frame, c->slope + k)), sigma = frame_get(lane->frame, c->saved + k);
        const mask rising = direction != SYSTEM_FALLS ? MASK(side < 0.0) : no_lanes(),
                   falling = direction != SYSTEM_RISES ? MASK(side > 0.0) : no_lanes();
        mask armed = which & (rising | falling) & equations_has_guard(lane, k);
        for (int i = 0; i < halvings && any_lane(armed); i++) {
            const real reach = fused(length, slope, square_root(length) * sigma);
            armed = armed & MASK(value < EQUATIONS_REACHES * reach) & MASK(length > 1.9 * shortest);
            length = select_real(armed, 0.5 * length, length);
        }
    }
    return select_real(which & MASK(length < whole), t + length, splat(1e300));
}

// ---- the end --------------------------------------------------------------------------------------------------------
// Neither a row nor an instant begins at the end of a run: the times of a run are those from 0 on, without its end.

// Instants are one if they differ by rounding: 3 periods of 0.1 s, and one of 0.3 s.
HD real equations_apart(real t) { return EQUATIONS_SAME * absolute(t); }

HD mask equations_before_end(const EquationsLane *lane, real t)
{
    return MASK(t + equations_apart(t) < lane->c->duration);
}

// ---- rows of inputs and switches ------------------------------------------------------------------------------------

HD int equations_clock(const EquationsLane *lane, int k)
{
    return SYSTEM_HELD(lane->c->n_states, lane->c->n_held - lane->c->n_clocks + k);
}

// The instant at which the next row of clock k begins; infinite: there is none.
HD real equations_row(const EquationsLane *lane, int k)
{
    const double *table = lane->assets + equations_integer(lane, lane->c->clocks + k);
    return lookup_next_row(table, frame_get(lane->file, equations_clock(lane, k)));
}

// The first instant at which a row begins, or `next` if that is earlier.
HD real equations_next_row(const EquationsLane *lane, real next)
{
    FRAME_EACH
    for (int k = 0; k < lane->c->n_clocks; k++) next = lesser_of(equations_row(lane, k), next);
    FRAME_EACH
    for (int k = 0; k < equations_switches(lane->c); k++) next = lesser_of(equations_switch_instant(lane, k), next);
    return next;
}

// The lanes in which a row begins at time t, before the end.
HD mask equations_ticks(const EquationsLane *lane, real t)
{
    mask ticks = no_lanes();
    FRAME_EACH
    for (int k = 0; k < lane->c->n_clocks; k++) ticks = ticks | MASK(equations_row(lane, k) <= t);
    FRAME_EACH
    for (int k = 0; k < equations_switches(lane->c); k++) ticks = ticks | MASK(equations_switch_instant(lane, k) <= t);
    return ticks & equations_before_end(lane, t);
}

// The rows that begin up to time t count, in the lanes of `which`.
HD void equations_tick(const EquationsLane *lane, real t, mask which)
{
    FRAME_EACH
    for (int k = 0; k < lane->c->n_clocks && any_lane(which); k++) {
        const int row = equations_clock(lane, k);
        mask due = which & MASK(equations_row(lane, k) <= t);
        while (any_lane(due)) {
            frame_put(lane->file, row, frame_get(lane->file, row) + 1.0, due);
            due = due & MASK(equations_row(lane, k) <= t);
        }
    }
    equations_turn_switches(lane, t, which);
}

// ---- instants -------------------------------------------------------------------------------------------------------

// The lanes with a period that is not greater than 0, or an instant before 0, by their parameters.
HD_CALL mask equations_wrong_instants(const EquationsLane *UNALIASED lane)
{
    mask right = all_lanes();
    FRAME_EACH
    for (int k = 0; k < lane->c->n_instants; k++) {
        const int64_t row = lane->c->instants + 2 * (int64_t)k;
        const real at = frame_get(lane->file, equations_integer(lane, row + 1));
        right = right & (equations_integer(lane, row) != 0 ? MASK(at > 0.0) : MASK(at >= 0.0)); // NaN is wrong
    }
    return ~right;
}

// The multiple of the period that is nearest to t.
HD real equations_multiple(real t, real period) { return math_nearest(t / period) * period; }

// The next instant k after time t; infinite: there is none.
HD real equations_instant(const EquationsLane *lane, int k, real t)
{
    const int64_t row = lane->c->instants + 2 * (int64_t)k;
    const real at = frame_get(lane->file, equations_integer(lane, row + 1)), after = t + equations_apart(t);
    if (equations_integer(lane, row) == 0) return select_real(MASK(after < at), at, splat(1e300));
    const real multiple = equations_multiple(t, at);
    return select_real(MASK(multiple > after), multiple, (math_nearest(t / at) + 1.0) * at);
}

// Whether instant k is now.
HD mask equations_is_instant(const EquationsLane *lane, int k, real t)
{
    const int64_t row = lane->c->instants + 2 * (int64_t)k;
    const real at = frame_get(lane->file, equations_integer(lane, row + 1));
    const real when = equations_integer(lane, row) != 0 ? equations_multiple(t, at) : at;
    return MASK(absolute(when - t) <= equations_apart(t));
}

// The lanes in which an action of their mode is due at time t, before the end, for the first time.
HD mask equations_due(const EquationsLane *lane, real t)
{
    mask due = no_lanes();
    FRAME_EACH
    for (int mode = 0; mode < lane->c->n_modes && lane->c->n_instants > 0; mode++) {
        const int64_t row = equations_mode_row(lane, mode);
        const int actions = equations_integer(lane, row + EQUATIONS_MODE_N_ACTIONS);
        const int64_t first = equations_integer(lane, row + EQUATIONS_MODE_ACTIONS);
        FRAME_EACH
        for (int a = 0; a < actions; a++) {
            const int k = equations_integer(lane, first + (int64_t)a * EQUATIONS_ACTION + EQUATIONS_ACTION_INSTANT);
            if (k >= 0) due = due | (equations_in(lane, mode) & equations_is_instant(lane, k, t));
        }
    }
    const mask again = MASK(t - equations_named(lane, EQUATIONS_TIMED_T) <= equations_apart(t));
    return due & ~again & equations_before_end(lane, t);
}

// The first instant after t at which an action of the lane's mode is due.
HD_CALL real equations_next_instant(const EquationsLane *UNALIASED lane, real t)
{
    real next = splat(1e300);
    if (lane->c->n_instants == 0) return next;
    FRAME_EACH
    for (int mode = 0; mode < lane->c->n_modes; mode++) {
        const int64_t row = equations_mode_row(lane, mode);
        const int actions = equations_integer(lane, row + EQUATIONS_MODE_N_ACTIONS);
        const int64_t first = equations_integer(lane, row + EQUATIONS_MODE_ACTIONS);
        FRAME_EACH
        for (int a = 0; a < actions; a++) {
            const int k = equations_integer(lane, first + (int64_t)a * EQUATIONS_ACTION + EQUATIONS_ACTION_INSTANT);
            if (k < 0) continue;
            next = select_real(equations_in(lane, mode), lesser_of(equations_instant(lane, k, t), next), next);
        }
    }
    return next;
}

#endif
