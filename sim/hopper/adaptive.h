// The kernel of the adaptive integrator: the loop around dormand_prince.h. Every lane has its own time and step size,
// control is continuous, and every switch of the equations is located, as is a fall, which ends the lane.
#ifndef HOPSCOTCH_HOPPER_ADAPTIVE_H
#define HOPSCOTCH_HOPPER_ADAPTIVE_H

#include "lane.h"
#include "located.h"

// ---- the lane -------------------------------------------------------------------------------------------------------

// Data that a step needs only once or twice. It is stored apart, because the stages need the registers.
typedef struct PrinceAside {
    PrinceSwitches on, turning; // turning: at the end of the step that lands on an event
    real reach;                 // length of that step; 0: no event is sought
    real event_t, cascade;      // time of the last event, and number of events at that instant
    HopperSums sums;            // of the lane
} PrinceAside;

// The state of an adaptive lane in addition to HopperLanes.
typedef struct PrinceLanes {
    APART(PrinceAside) aside;
    real t, h;        // time (s); the step size that the controller wants
    PrinceRate first; // at (t, q, v); not kept between slices but computed again, to the same bits
} PrinceLanes;

// Greatest number of events at one instant; a lane with more ends as `limit`.
#define PRINCE_CASCADE 8.0

HD PrinceHeld prince_held(const HopperWorld *world, const HopperLanes *lanes, real t)
{
    const mask early = MASK(value_of(t) < value_of(lanes->machine.t_thrust_on + world->p.T_max_thrust));
    PrinceHeld held;
    held.thrusting = hopper_in(&lanes->machine, HOPPER_THRUST) & early;
    held.push = world->full ? hopper_push(world, t) : splat(0.0);
#if defined(HOPSCOTCH_DUAL)
    held.action = lanes->held;
#endif
    return held;
}

// The next instant that is known beforehand; a lane that has fallen, at t = 0 too, goes no further.
HD real prince_deadline(const HopperWorld *world, const HopperLanes *lanes, const PrinceLanes *own,
                        const PrinceHeld *held)
{
    const real settle = splat((double)world->c.settle * world->c.dt);
    const real end = splat((double)world->c.ticks * world->c.dt);
    const real off = lanes->machine.t_thrust_on + world->p.T_max_thrust;
    real deadline = select_real(MASK(value_of(own->t) < value_of(settle)), lesser_of(settle, end), end);
    if (world->full) deadline = lesser_of(hopper_push_edge(world, own->t), deadline);
    deadline = select_real(held->thrusting & MASK(value_of(off) < value_of(deadline)), off, deadline);
    return select_real(own->aside.on.on[PRINCE_FALLEN], own->t, deadline);
}

HD void prince_begin(const HopperWorld *world, const HopperLanes *lanes, PrinceLanes *own)
{
    memset(&own->aside.turning, 0, sizeof own->aside.turning);
    own->aside.reach = own->aside.cascade = own->t = splat(0.0);
    const HopperAngles s = hopper_angles(lanes->q.a, lanes->q.b);
    const PrinceFunctions g = prince_functions(world, &s, &lanes->q, &lanes->v);
    own->aside.on = prince_sides(&g);
    own->h = splat(1e-3);
    own->aside.event_t = splat(-1.0);
}

HD void prince_load(const LaneGroup *group, PrinceLanes *own)
{
    own->t = lanes_work(group, HOPPER_WORK_t);
    own->h = lanes_work(group, HOPPER_WORK_h);
    own->aside.reach = lanes_work(group, HOPPER_WORK_reach);
    own->aside.on = prince_unpacked(lanes_work(group, HOPPER_WORK_switches));
    own->aside.turning = prince_unpacked(lanes_work(group, HOPPER_WORK_turning));
    own->aside.event_t = lanes_work(group, HOPPER_WORK_event_t);
    own->aside.cascade = lanes_work(group, HOPPER_WORK_cascade);
}

HD void prince_store(const LaneGroup *group, const PrinceLanes *own, mask which)
{
    lanes_set_work(group, HOPPER_WORK_t, own->t, which);
    lanes_set_work(group, HOPPER_WORK_h, own->h, which);
    lanes_set_work(group, HOPPER_WORK_reach, own->aside.reach, which);
    lanes_set_work(group, HOPPER_WORK_switches, prince_packed(&own->aside.on), which);
    lanes_set_work(group, HOPPER_WORK_turning, prince_packed(&own->aside.turning), which);
    lanes_set_work(group, HOPPER_WORK_event_t, own->aside.event_t, which);
    lanes_set_work(group, HOPPER_WORK_cascade, own->aside.cascade, which);
}

// Looks for switches that crossed in an accepted step. Returns the lanes with one; they will repeat the step up to the
// first crossing.
HD mask prince_seek(const HopperWorld *world, const HopperLanes *lanes, PrinceLanes *own, const PrinceStep *step,
                    const PrinceFunctions *after, mask accepted)
{
    const PrinceSwitches relevant = prince_relevant(&lanes->machine, &own->aside.on);
    PrinceSwitches crossing;
    mask any = no_lanes();
    UNROLL
    for (int k = 0; k < PRINCE_SWITCHES; k++) {
        const real signed_value = select_real(own->aside.on.on[k], after->value[k], -after->value[k]);
        crossing.on[k] =
            accepted & relevant.on[k] & MASK(value_of(signed_value) < -PRINCE_DEAD_BAND * world->c.tolerance);
        any = any | crossing.on[k];
    }
    if (!any_lane(any)) return any;
    const PrinceDense dense = prince_dense(&lanes->q, &lanes->v, step);
    PrinceSwitches turning;
    const real theta = prince_first(world, &dense, &own->aside.on, &crossing, any, &turning);
    UNROLL
    for (int k = 0; k < PRINCE_SWITCHES; k++)
        own->aside.turning.on[k] = (any & turning.on[k]) | (~any & own->aside.turning.on[k]);
    own->aside.reach = select_real(any, constant_of(greater_of(theta * step->h, splat(1e-15))), own->aside.reach);
    return any;
}

HD PrinceRate prince_rate_select(const HopperWorld *world, mask m, const PrinceRate *a, const PrinceRate *b)
{
    PrinceRate chosen;
    chosen.rate.acceleration = hopper_select(m, &a->rate.acceleration, &b->rate.acceleration);
    chosen.rate.step = hopper_step_select(world, m, &a->rate.step, &b->rate.step);
    chosen.control.u1 = select_real(m, a->control.u1, b->control.u1);
    chosen.control.u2 = select_real(m, a->control.u2, b->control.u2);
    chosen.control.push = select_real(m, a->control.push, b->control.push);
    chosen.control.t = select_real(m, a->control.t, b->control.t);
    chosen.speed = select_real(m, a->speed, b->speed);
    return chosen;
}

// Adds the step to the sums of the lanes of `taken`.
HD void prince_sum(const HopperWorld *world, const HopperLanes *lanes, const HopperAngles *s, const PrinceStep *step,
                   const HopperTransitions *edge, real height, mask settled, mask taken, HopperSums *of_lanes)
{
    HopperSums sums = *of_lanes;
    hopper_sum(world, &sums, s, &lanes->q, &lanes->machine, edge, &step->averages.step, step->last.speed, height,
               step->h, no_lanes());
    const real over = select_real(settled, step->h, splat(0.0));
    sums.sum_speed_error2 = fused(over, step->averages.speed_error2, sums.sum_speed_error2);
    sums.sum_speed = fused(over, step->averages.speed, sums.sum_speed);
    sums.sum_attitude2 = fused(over, step->averages.attitude2, sums.sum_attitude2);
#define PRINCE_SUM(name) of_lanes->name = select_real(taken, sums.name, of_lanes->name);
    HOPPER_SUMS(PRINCE_SUM)
#undef PRINCE_SUM
#define PRINCE_SUM(name) of_lanes->terms.name = select_real(taken, sums.terms.name, of_lanes->terms.name);
    if (hopper_with(world, HOPPER_WITH_TERMS)) {
        HOPPER_TERM_SUMS(PRINCE_SUM)
    }
#undef PRINCE_SUM
}

// The next step size: from the error if it limited the step, unchanged if an event or a known instant did.
HD void prince_control(PrinceLanes *own, const PrinceStep *step, mask accepted, mask landing, mask crossed)
{
    const real wanted = prince_factor(step->error) * step->h;
    const mask shortened = MASK(value_of(step->h) < value_of(own->h));
    const real grown = select_real(shortened, greater_of(wanted, own->h), wanted);
    own->h = constant_of(select_real(landing | crossed, own->h, select_real(accepted, grown, wanted)));
}

// Counts events at one instant.
HD void prince_count(PrinceLanes *own, mask landing)
{
    const mask same = MASK(value_of(own->t - own->aside.event_t) <= 1e-12);
    own->aside.cascade =
        select_real(landing, select_real(same, own->aside.cascade + 1.0, splat(0.0)), own->aside.cascade);
    own->aside.event_t = select_real(landing, own->t, own->aside.event_t);
}

// ---- trajectories ---------------------------------------------------------------------------------------------------

// Writes the samples inside the step that starts at own->t, from its dense output.
HD void prince_trace(const HopperWorld *world, const LaneGroup *group, const HopperLanes *lanes, const PrinceLanes *own,
                     const PrinceStep *step, const PrinceHeld *held, mask taken)
{
    LanesSampling sampling;
    if (!lanes_are_sampled(group, &sampling)) return;
    const PrinceDense dense = prince_dense(&lanes->q, &lanes->v, step);
    const double every = sampling.every * world->c.dt;
    const real end = splat(sampling.end * world->c.dt);
    for (;;) {
        const real t = (sampling.skipped + lanes_samples(group)) * every;
        const mask due = taken & MASK(value_of(t) < value_of(own->t + step->h)) & MASK(value_of(t) < value_of(end));
        if (!any_lane(due)) return;
        const real theta = (t - own->t) / step->h;
        HopperLanes there = *lanes;
        there.q = prince_at(dense.q, theta);
        there.v = prince_at(dense.v, theta);
        const PrinceRate rate = prince_rate(world, &there.machine, &own->aside.on, held, t, &there.q, &there.v);
        hopper_sample(group, &there, &rate.control, t, false, due);
    }
}

// ---- the loop -------------------------------------------------------------------------------------------------------

HD void hopper_advance_adaptive(const Constants *constants, const double *assets, const LaneGroup *group, bool full,
                                bool observed)
{
    const HopperWorld world = hopper_world(constants, assets, group, full, false);
    mask running = lanes_running(group);
    if (!any_lane(running)) return;
    running = not_empty(running);
    WITH_APART(HopperLanes, lanes, HopperPast);
    WITH_APART(PrinceLanes, own, PrinceAside);
    if (group->tick == 0) {
        hopper_begin(&world, &lanes, &own.aside.sums);
        prince_begin(&world, &lanes, &own);
    } else {
        hopper_load(&world, group, &lanes, &own.aside.sums);
        prince_load(group, &own);
        if (!full) own.aside.on.on[PRINCE_LANDING] = own.aside.turning.on[PRINCE_LANDING] = no_lanes();
    }
    PrinceHeld held = prince_held(&world, &lanes, own.t);
    own.first = prince_rate(&world, &lanes.machine, &own.aside.on, &held, own.t, &lanes.q, &lanes.v);
    if (observed && group->tick == 0 && lanes_sample_due(group, 0))
        hopper_sample(group, &lanes, &own.first.control, own.t, false, running);
    const real end = splat((double)world.c.ticks * world.c.dt), settle = splat((double)world.c.settle * world.c.dt);
    const int64_t last = world.c.steps_max;

    for (int64_t tick = group->tick; tick < group->tick + group->ticks; tick++) {
        // the step ends at a located event, at a known instant, or where the error requires
        const real deadline = prince_deadline(&world, &lanes, &own, &held), left = deadline - own.t;
        const mask landing = MASK(value_of(own.aside.reach) > 0.0),
                   timed = ~landing & MASK(value_of(own.h) >= value_of(left));
        const real h = prince_length(&world, &lanes, &own.aside.on, &own.aside.turning, &held, &own.first, own.t,
                                     landing, select_real(landing, own.aside.reach, select_real(timed, left, own.h)));
        PrinceStep step;
        prince_take(&world, &lanes, &own.aside.on, &held, &own.first, own.t, h, &step);
        const mask accepted = landing | MASK(value_of(step.error) <= 1.0);
        const HopperAngles s = hopper_angles(step.q.a, step.q.b);
        const PrinceFunctions after = prince_functions(&world, &s, &step.q, &step.v);
        const mask crossed = prince_seek(&world, &lanes, &own, &step, &after, running & accepted & ~landing);
        const mask taken = running & accepted & ~crossed;
        prince_control(&own, &step, accepted, landing, crossed);

        real failure = select_real(MASK(value_of(own.h) > 1e-13), splat(HOPPER_NONE), splat(HOPPER_DIVERGED));
        if (any_lane(taken)) {
            if (observed) prince_trace(&world, group, &lanes, &own, &step, &held, taken);
            const mask settled = MASK(value_of(own.t) >= value_of(settle));
            lanes.q = hopper_select(taken, &step.q, &lanes.q);
            lanes.v = hopper_select(taken, &step.v, &lanes.v);
            own.t = select_real(taken, select_real(timed, deadline, own.t + h), own.t);
            PrinceSwitches turning;
            UNROLL
            for (int k = 0; k < PRINCE_SWITCHES; k++) turning.on[k] = own.aside.turning.on[k] & landing & taken;
            const HopperTransitions edge = prince_turn(&lanes.machine, &own.aside.on, &turning, &after, own.t);
            own.aside.reach = select_real(taken, splat(0.0), own.aside.reach);
            prince_count(&own, landing & taken);
            prince_sum(&world, &lanes, &s, &step, &edge, -after.value[PRINCE_GROUND], settled, taken, &own.aside.sums);

            own.first = prince_rate_select(&world, taken, &step.last, &own.first);
            held = prince_held(&world, &lanes, own.t);
            if (any_lane(taken & (landing | timed)))
                own.first = prince_rate(&world, &lanes.machine, &own.aside.on, &held, own.t, &lanes.q, &lanes.v);
            const HopperFailures failures = hopper_failures_of(&lanes, own.aside.on.on[PRINCE_FALLEN], splat(0.0));
            failure = select_real(taken, hopper_failure(&failures), failure);
        }
        failure = select_real(MASK(value_of(own.aside.cascade) > PRINCE_CASCADE) |
                                  (tick + 1 == last ? all_lanes() : no_lanes()),
                              splat(HOPPER_LIMIT), failure);
        const mask arrived = MASK(value_of(own.t) >= value_of(end));
        failure = select_real(arrived & MASK(value_of(failure) == HOPPER_LIMIT), splat(HOPPER_NONE), failure);
        const mask retired = observed ? taken & lanes_retire(group) : no_lanes();
        const mask ended = running & (arrived | MASK(value_of(failure) != HOPPER_NONE) | retired);
        if (any_lane(ended)) {
            failure = lanes_retired(group, retired, failure);
            const HopperAngles s_end = hopper_angles(lanes.q.a, lanes.q.b);
            const mask again =
                lanes_sample_due(group, 0) ? MASK(value_of(own.t) == 0.0) : no_lanes(); // fallen at t = 0
            if (observed) hopper_sample(group, &lanes, &own.first.control, own.t, true, ended & ~again);
            hopper_finish(&world, group, &lanes, &own.aside.sums, &s_end, own.t - settle, own.t, failure, ended);
            prince_store(group, &own, ended);
            running = running & ~ended;
            if (!any_lane(running)) return;
            running = not_empty(running);
        }
    }
    hopper_store(&world, group, &lanes, &own.aside.sums, running);
    prince_store(group, &own, running);
}

#endif
