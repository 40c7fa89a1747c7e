// A system of the user's as an environment: lanes with their own clocks under actions (sim/environment.h). A clock
// counts attempts at a step; a step of the environment ends where the next period begins, or with the lane. Lanes of a
// vector that are there wait for the others: what a lane keeps is written by masks alone, but for its begin.
#ifndef HOPSCOTCH_EQUATIONS_ENVIRONMENT_H
#define HOPSCOTCH_EQUATIONS_ENVIRONMENT_H

#include "../environment.h"
#include "advance.h"

// Copies a group's frame; of `to` only the lanes of `which` change.
HD void equations_copy_frame(Frame from, Frame to, int count, mask which)
{
    for (int k = 0; k < count; k++) frame_put(to, k, frame_get(from, k), which);
}

// A lane that ends where it starts does so in its first step.
HD_CALL void equations_environment_begin(const Constants *constants, const double *assets, const LaneGroup *group,
                                         mask which)
{
    EquationsLane lane = equations_lane(constants, assets, group, false, NULL);
    const Frame own = lane.frame;
    if (LANES > 1) lane.frame.at = group->own.spare;
    lane.file = frame_from(lane.frame, lane.c->file);
    equations_load(&lane, group);
    const EquationsOutcome outcome = equations_start(&lane, group, false, which);
    const real ended = select_real(outcome.stopped, splat(1.0), splat(0.0));
    const real as = select_real(MASK(outcome.failure != 0.0), 1.0 + outcome.failure, ended);
    frame_put(lane.frame, lane.c->acting + EQUATIONS_ACTING_ENDED, as, which);
    if (LANES > 1) equations_copy_frame(lane.frame, own, lane.c->file + lane.c->registers, which);
}

HD void equations_environment_advance(const Constants *constants, const double *assets, const LaneGroup *group,
                                      EquationsMethod method, mask which)
{
    const EquationsLane own = equations_lane(constants, assets, group, false, NULL), *lane = &own;
    const real ended = frame_get(lane->frame, lane->c->acting + EQUATIONS_ACTING_ENDED);
    const mask over = which & MASK(ended != 0.0);
    real ticks = lanes_clock(group);
    if (any_lane(over)) equations_end(lane, group, splat(0.0), ended - 1.0, true, over);
    mask running = equations_act_now(lane, group, true, which & ~over);
    while (any_lane(running)) {
        ticks = select_real(running, ticks + 1.0, ticks);
        const mask last = MASK(ticks == (double)lane->c->steps_max);
        running = equations_attempt(lane, group, method, true, last, not_empty(running));
        running = running & ~MASK(equations_named(lane, EQUATIONS_T) >= equations_next_period(lane));
    }
    lanes_set_clock(group, ticks, which);
}

// Those that have ended were sampled there.
HD_CALL void equations_environment_sample(const Constants *constants, const double *assets, const LaneGroup *group,
                                          mask which)
{
    const EquationsLane lane = equations_lane(constants, assets, group, false, NULL);
    const mask running = which & MASK(environment_status(group) == (double)LANE_RUNNING);
    const real t = equations_named(&lane, EQUATIONS_T);
    if (!any_lane(running)) return;
    equations_argue(&lane, lane.c->y);
    equations_at(&lane, t);
    equations_sample(&lane, group, t, false, running);
}

HD_CALL void equations_environment_finish(const Constants *constants, const double *assets, const LaneGroup *group,
                                          mask which)
{
    const EquationsLane lane = equations_lane(constants, assets, group, false, NULL);
    equations_argue(&lane, lane.c->y);
    equations_at(&lane, equations_named(&lane, EQUATIONS_T));
    equations_finish(&lane, group, splat(0.0), which);
}

#define EQUATIONS_ENVIRONMENT(name)                                                                                    \
    HD void equations_##name##_begin(const Constants *constants, const double *assets, const LaneGroup *group,         \
                                     mask which)                                                                       \
    {                                                                                                                  \
        equations_environment_begin(constants, assets, group, which);                                                  \
    }                                                                                                                  \
    HD void equations_##name##_advance(const Constants *constants, const double *assets, const LaneGroup *group,       \
                                       mask which)                                                                     \
    {                                                                                                                  \
        equations_environment_advance(constants, assets, group, EQUATIONS_BY_##name, which);                           \
    }                                                                                                                  \
    HD void equations_##name##_sample(const Constants *constants, const double *assets, const LaneGroup *group,        \
                                      mask which)                                                                      \
    {                                                                                                                  \
        equations_environment_sample(constants, assets, group, which);                                                 \
    }                                                                                                                  \
    HD void equations_##name##_finish(const Constants *constants, const double *assets, const LaneGroup *group,        \
                                      mask which)                                                                      \
    {                                                                                                                  \
        equations_environment_finish(constants, assets, group, which);                                                 \
    }
EQUATIONS_ENVIRONMENT(dormand_prince)
EQUATIONS_ENVIRONMENT(rk4)
EQUATIONS_ENVIRONMENT(semi_implicit_euler)
EQUATIONS_ENVIRONMENT(implicit_midpoint)
EQUATIONS_ENVIRONMENT(rodas5p)
EQUATIONS_ENVIRONMENT(euler_maruyama)
EQUATIONS_ENVIRONMENT(sra3)
EQUATIONS_ENVIRONMENT(map)
#undef EQUATIONS_ENVIRONMENT

#endif
