// Straight runs: steps of fixed length in which nothing can happen but the step: one mode, no events, instants, noise,
// extrema, conditions. Such a step is one code (step_values.c), and many are taken between two looks at the lanes.
#ifndef HOPSCOTCH_EQUATIONS_STRAIGHT_H
#define HOPSCOTCH_EQUATIONS_STRAIGHT_H

#include "metrics.h"

// Further registers of inputs, behind those of sides: the length of the step, the integrals, and of a map its watch.
enum { STRAIGHT_LENGTH, STRAIGHT_INTEGRALS };
enum { STRAIGHT_STEPS = 64 }; // between two looks

HD int straight_register(const EquationsConstants *c, int input)
{
    return SYSTEM_SIDE(c->n_states, c->n_held, c->n_parameters, c->n_guards) + input;
}
// Register of state or integral i; of a map i == n_total is the watch.
HD int straight_number(const EquationsConstants *c, int i)
{
    return i < c->n_states ? SYSTEM_STATE(i) : straight_register(c, STRAIGHT_INTEGRALS + i - c->n_states);
}

// The state and the integrals numbers[n_total] of the frame as arguments of the code.
HD void straight_argue(const EquationsLane *lane, int numbers)
{
    FRAME_EACH
    for (int i = 0; i < lane->c->n_total; i++)
        frame_set(lane->file, straight_number(lane->c, i), frame_get(lane->frame, numbers + i));
    if (lane->c->is_map) frame_set(lane->file, straight_number(lane->c, lane->c->n_total), splat(0.0));
}

// numbers[n_total] of the frame <- the arguments.
HD void straight_keep(const EquationsLane *lane, int numbers)
{
    FRAME_EACH
    for (int i = 0; i < lane->c->n_total; i++)
        frame_set(lane->frame, numbers + i, frame_get(lane->file, straight_number(lane->c, i)));
}

// The arguments <- those after a step from time t. The code leaves most of them in their place (equations.c).
HD void straight_step(const EquationsLane *lane, real t, real h)
{
    const EquationsConstants *c = lane->c;
    const EquationsCode code = equations_code(lane, c->straight);
    const int count = c->n_total + c->is_map;
    equations_at(lane, t);
    frame_set(lane->file, straight_register(c, STRAIGHT_LENGTH), h);
    equations_run(lane, code);
    if (code.outputs < 0) return;
    FRAME_EACH
    for (int i = 0; i < count; i++) frame_set(lane->frame, c->stage + i, equations_output(lane, code, i));
    FRAME_EACH
    for (int i = 0; i < count; i++) frame_set(lane->file, straight_number(c, i), frame_get(lane->frame, c->stage + i));
}

// How many steps from `tick` on, before `end`, end on the grid before the duration and the limit of steps.
HD int64_t straight_steps(const EquationsConstants *c, int64_t tick, int64_t end)
{
    int64_t until = end < c->steps_max - 1 ? end : c->steps_max - 1;
    if (until > tick + STRAIGHT_STEPS) until = tick + STRAIGHT_STEPS;
    while (until > tick && (double)until * c->dt >= c->duration) until--;
    return until - tick;
}

// The lanes all of whose arguments are finite. Of a differential equation a number that is not stays so.
HD mask straight_finite(const EquationsLane *lane)
{
    const EquationsConstants *c = lane->c;
    mask finite = all_lanes();
    FRAME_EACH
    for (int i = 0; i < c->n_states; i++) finite = finite & is_finite(frame_get(lane->file, SYSTEM_STATE(i)));
    if (c->is_map) finite = finite & MASK(frame_get(lane->file, straight_number(c, c->n_total)) == 0.0);
    return finite;
}

// As equations_durations, of the steps from `tick` to `end`: all means have the same time.
HD void straight_durations(const EquationsLane *lane, int64_t tick, int64_t end)
{
    const EquationsConstants *c = lane->c;
    real time = splat(0.0);
    bool known = false;
    FRAME_EACH
    for (int m = 0; m < c->n_metrics; m++) {
        const int reduction = equations_metric(lane, m, EQUATIONS_METRIC_REDUCTION), sum = equations_sum(lane, m, 0);
        if (reduction != REDUCTION_MEAN && reduction != REDUCTION_RMS) continue;
        if (!known) time = frame_get(lane->frame, sum);
        for (int64_t k = tick; k < end && !known; k++) time = time + ((double)(k + 1) * c->dt - (double)k * c->dt);
        known = true;
        frame_set(lane->frame, sum, time);
    }
}

// The arguments have gone from the begin of step `tick` to `end`: so has the lane.
HD void straight_arrive(const EquationsLane *lane, int64_t tick, int64_t end)
{
    const real now = splat((double)end * lane->c->dt);
    straight_durations(lane, tick, end);
    straight_keep(lane, lane->c->y);
    frame_set(lane->frame, EQUATIONS_T, now);
    frame_set(lane->frame, EQUATIONS_GRID, splat((double)end));
    equations_at(lane, now);
}

// Takes steps from the begin of step `tick` on. Returns their number; 0: the next step is none of these, or some lane
// of `running` would have a number that is not finite.
HD int64_t equations_go_straight(const EquationsLane *lane, int64_t tick, int64_t end, mask running)
{
    const EquationsConstants *c = lane->c;
    const int64_t steps = straight_steps(c, tick, end);
    if (steps < 2) return 0;
    straight_argue(lane, c->y);
    double t = (double)tick * c->dt;
    for (int64_t k = tick; k < tick + steps; k++) {
        const double next = (double)(k + 1) * c->dt;
        straight_step(lane, splat(t), splat(next - t));
        t = next;
    }
    if (any_lane(running & ~straight_finite(lane))) {
        equations_argue(lane, c->y);
        equations_at(lane, splat((double)tick * c->dt));
        return 0;
    }
    straight_arrive(lane, tick, tick + steps);
    return steps;
}

#endif
