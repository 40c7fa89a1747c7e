// How events move with the parameters, for runs with dual numbers (dual.h). A switch of the equations turns where its
// function g is 0. If the state there changes by dx, the event moves by dt = -(dg/dx dx)/g', where g' is the rate of g
// along the motion, and the state behind the event changes by (f- - f+) dt besides: f- and f+ are the rates before and
// behind it (the saltation term).
//
// An adaptive step lands on an event: its length has the derivative dt. A fixed step does not: what it computes is
// constant in the time of the event, and jumps where the event moves to another step. The jumps over a change of a
// parameter add up to the term that the derivative of such a run lacks. So the derivatives behind a fixed step with
// events are those of the motion: of steps of Dormand & Prince from event to event, from the same start.
#ifndef HOPSCOTCH_HOPPER_LOCATED_H
#define HOPSCOTCH_HOPPER_LOCATED_H

#include "dormand_prince.h"

#if !defined(HOPSCOTCH_DUAL) // numbers without derivatives
HD real prince_length(const HopperWorld *world, const HopperLanes *lanes, const PrinceSwitches *on,
                      const PrinceSwitches *turning, const PrinceHeld *held, const PrinceRate *first, real t,
                      mask landing, real h)
{
    (void)world, (void)lanes, (void)on, (void)turning, (void)held, (void)first, (void)t, (void)landing;
    return h;
}
#else

HD HopperVector hopper_moving(const HopperVector *a, const HopperVector *rate)
{
    const HopperVector moving = {dual(value_of(a->x), value_of(rate->x)), dual(value_of(a->z), value_of(rate->z)),
                                 dual(value_of(a->a), value_of(rate->a)), dual(value_of(a->b), value_of(rate->b)),
                                 dual(value_of(a->l), value_of(rate->l))};
    return moving;
}

// The rates of the switching functions along the motion, at constant parameters.
HD_CALL PrinceFunctions prince_rates(const HopperWorld *world, const HopperVector *q, const HopperVector *v,
                                     const HopperVector *a)
{
    HopperWorld still = *world;
    real *p = (real *)&still.p;
    for (size_t i = 0; i < sizeof still.p / sizeof *p; i++) p[i] = constant_of(p[i]);
    const HopperVector moving_q = hopper_moving(q, v), moving_v = hopper_moving(v, a);
    const HopperAngles s = hopper_angles(moving_q.a, moving_q.b);
    return prince_functions(&still, &s, &moving_q, &moving_v);
}

// The length h of a step from (t, q, v) that lands on the event of the switch `turning`, with its derivative.
HD_CALL real prince_length(const HopperWorld *world, const HopperLanes *lanes, const PrinceSwitches *on,
                           const PrinceSwitches *turning, const PrinceHeld *held, const PrinceRate *first, real t,
                           mask landing, real h)
{
    PrinceStep step;
    if (!any_lane(landing)) return h;
    prince_take(world, lanes, on, held, first, t, constant_of(h), &step);
    const HopperAngles s = hopper_angles(step.q.a, step.q.b);
    const PrinceFunctions g = prince_functions(world, &s, &step.q, &step.v),
                          rate = prince_rates(world, &step.q, &step.v, &step.last.rate.acceleration);
    for (int k = 0; k < PRINCE_SWITCHES; k++) {
        const double pace = slope_of(rate.value[k]);
        if (any_lane(turning->on[k]) && pace != 0.0) return with_slope(h, -g.value[k] / pace);
    }
    return constant_of(h);
}

// ---- fixed steps ----------------------------------------------------------------------------------------------------

HD PrinceSwitches prince_sides_of(const HopperWorld *world, const HopperLanes *lanes)
{
    const HopperAngles s = hopper_angles(lanes->q.a, lanes->q.b);
    const PrinceFunctions g = prince_functions(world, &s, &lanes->q, &lanes->v);
    return prince_sides(&g);
}

enum { LOCATED_STEPS = 1000 }; // of a fixed step, at most

// A fixed step that is repeated from event to event.
typedef struct LocatedStep {
    const HopperWorld *world;
    HopperLanes lanes;         // at the time `now`
    PrinceSwitches on, events; // events: switches that are still to turn
    PrinceHeld held;
    PrinceRate first;  // there
    real now, end;     // s
    real off;          // end of the thrust
    mask thrust_ended; // in this step
    HopperStep sum;    // averages times durations
    real changed;      // when the machine last changed its state
} LocatedStep;

// Switches whose sides differ at the ends of a step, and at which the motion bends.
HD PrinceSwitches located_events(const HopperWorld *world, const HopperLanes *from, const HopperLanes *to,
                                 const PrinceSwitches *on)
{
    const PrinceSwitches end = prince_sides_of(world, to);
    PrinceSwitches events = prince_relevant(&from->machine, on);
    for (int k = 0; k < PRINCE_SWITCHES; k++) events.on[k] = events.on[k] & (on->on[k] ^ end.on[k]);
    events.on[PRINCE_SINKING] = events.on[PRINCE_FALLEN] = no_lanes();
    return events;
}

HD mask located_any(const PrinceSwitches *switches)
{
    mask any = no_lanes();
    for (int k = 0; k < PRINCE_SWITCHES; k++) any = any | switches->on[k];
    return any;
}

// Sets what is held from `now` on. Returns the end of the thrust or of an interval of the push, if it is in this step;
// else the step's end.
HD real located_hold(LocatedStep *s)
{
    const HopperMachine *machine = &s->lanes.machine;
    s->off = machine->t_thrust_on + s->world->p.T_max_thrust;
    const mask early = MASK(value_of(s->now) <= value_of(s->off));
    s->held.thrusting = hopper_in(machine, HOPPER_THRUST) & early & ~s->thrust_ended;
    s->held.push = s->world->full ? hopper_push(s->world, s->now) : splat(0.0);
    const real edge = s->world->full ? hopper_push_edge(s->world, s->now) : math_infinity();
    const real until = select_real(MASK(value_of(edge) <= value_of(s->end) + HOPPER_EARLY), edge, s->end);
    return select_real(s->held.thrusting & MASK(value_of(s->off) < value_of(until)), s->off, until);
}

// The first event of a switch in a step from `now`, or at the step's end if `all` must have turned there: *turning, and
// the fraction of the step. 0: there is none.
HD real located_first(const LocatedStep *s, const PrinceStep *step, bool all, PrinceSwitches *turning)
{
    const HopperAngles angles = hopper_angles(step->q.a, step->q.b);
    const PrinceFunctions after = prince_functions(s->world, &angles, &step->q, &step->v);
    PrinceSwitches crossing = s->events;
    mask found = no_lanes();
    for (int k = 0; k < PRINCE_SWITCHES; k++) {
        const real before = select_real(s->on.on[k], after.value[k], -after.value[k]);
        crossing.on[k] = crossing.on[k] & MASK(value_of(before) < 0.0);
        turning->on[k] = s->events.on[k] & ~found;
        found = found | s->events.on[k];
    }
    if (!any_lane(located_any(&crossing))) return splat(all && any_lane(found) ? 1.0 : 0.0);
    const PrinceDense dense = prince_dense(&s->lanes.q, &s->lanes.v, step);
    const real theta = prince_first(s->world, &dense, &s->on, &crossing, all_lanes(), turning);
    return constant_of(greater_of(theta, splat(1e-12))); // 0: it has turned already
}

// Takes a step of h.
HD void located_move(LocatedStep *s, real h)
{
    PrinceStep step;
    prince_take(s->world, &s->lanes, &s->on, &s->held, &s->first, s->now, h, &step);
    s->lanes.q = step.q;
    s->lanes.v = step.v;
    s->now = s->now + h;
    hopper_step_add(s->world, &s->sum, h, &step.averages.step);
}

// Turns the switch that `now` has reached.
HD void located_turn(LocatedStep *s, const PrinceSwitches *turning)
{
    const HopperAngles angles = hopper_angles(s->lanes.q.a, s->lanes.q.b);
    const PrinceFunctions g = prince_functions(s->world, &angles, &s->lanes.q, &s->lanes.v);
    const real fsm = s->lanes.machine.fsm;
    prince_turn(&s->lanes.machine, &s->on, turning, &g, s->now);
    s->changed = select_real(MASK(value_of(fsm) != value_of(s->lanes.machine.fsm)), s->now, s->changed);
    for (int k = 0; k < PRINCE_SWITCHES; k++) s->events.on[k] = s->events.on[k] & ~turning->on[k];
}

// A step of an explicit method that is shorter than this (s) is stable: 1 over the fastest rate of stop and ground.
HD real located_longest(const HopperParameters *p)
{
    const real inverse = p->inverse_m + p->inverse_m_l + p->l_1 * p->l_1 * p->inverse_J_l;
    const real damping = greater_of(p->b_stop, p->b_g), stiffness = greater_of(greater_of(p->k_stop, p->k_g), p->k_l);
    return constant_of(1.0 / (damping * inverse + square_root(stiffness * inverse)));
}

// False: the step has too many parts.
HD bool located_run(LocatedStep *s)
{
    const real longest = located_longest(&s->world->p);
    for (int k = 0; k < LOCATED_STEPS; k++) {
        const real until = located_hold(s), left = until - s->now;
        const mask cut = MASK(value_of(left) > value_of(longest));
        const real h = select_real(cut, longest, left);
        const bool last = !any_lane(cut) && value_of(until) == value_of(s->end);
        PrinceStep step;
        PrinceSwitches turning;
        s->first = prince_rate(s->world, &s->lanes.machine, &s->on, &s->held, s->now, &s->lanes.q, &s->lanes.v);
        prince_take(s->world, &s->lanes, &s->on, &s->held, &s->first, s->now, h, &step);
        const real theta = located_first(s, &step, last, &turning);
        if (value_of(theta) > 0.0) {
            located_move(s, prince_length(s->world, &s->lanes, &s->on, &turning, &s->held, &s->first, s->now,
                                          all_lanes(), theta * h));
            located_turn(s, &turning);
            continue;
        }
        located_move(s, h);
        if (last) return true;
        s->thrust_ended = s->thrust_ended | (s->held.thrusting & ~cut & MASK(value_of(s->now) >= value_of(s->off)));
    }
    return false;
}

HD void located_slopes(const HopperVector *from, HopperVector *to)
{
    to->x = with_slope(to->x, from->x);
    to->z = with_slope(to->z, from->z);
    to->a = with_slope(to->a, from->a);
    to->b = with_slope(to->b, from->b);
    to->l = with_slope(to->l, from->l);
}

// After the step from `from` at time t to `to`: the derivatives of what it computed, and of *t_end, at which the
// machine changes its state. NaN: they are not known.
HD_CALL void hopper_locate(const HopperWorld *world, const HopperLanes *from, const HopperAction *action, real t,
                           HopperLanes *to, HopperStep *step, real *t_end)
{
    LocatedStep s;
    memset(&s, 0, sizeof s);
    s.world = world;
    s.lanes = *from;
    s.on = prince_sides_of(world, from);
    s.events = located_events(world, from, to, &s.on);
    s.held.action = *action;
    s.now = t;
    s.end = s.changed = *t_end;
    if (!any_lane(located_any(&s.events)) && value_of(located_hold(&s)) == value_of(*t_end)) return;
    if (!located_run(&s)) {
        const real unknown = dual_chain(0.0, value_of(math_nan()), s.now);
        s.lanes.q.x = s.lanes.q.z = s.lanes.q.a = s.lanes.q.b = s.lanes.q.l = unknown;
    }
    const real rate = splat(1.0 / world->c.dt);
    located_slopes(&s.lanes.q, &to->q);
    located_slopes(&s.lanes.v, &to->v);
    step->effort = with_slope(step->effort, rate * s.sum.effort);
    step->work = with_slope(step->work, rate * s.sum.work);
    step->power.hip = with_slope(step->power.hip, rate * s.sum.power.hip);
    step->power.thrust = with_slope(step->power.thrust, rate * s.sum.power.thrust);
    step->power.stop = with_slope(step->power.stop, rate * s.sum.power.stop);
    step->power.ground = with_slope(step->power.ground, rate * s.sum.power.ground);
    step->power.other = with_slope(step->power.other, rate * s.sum.power.other);
    *t_end = with_slope(*t_end, s.changed);
}
#endif

#endif
