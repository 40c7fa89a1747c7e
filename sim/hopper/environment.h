// The hopper as an environment: lanes with their own clocks under external control (sim/environment.h).
#ifndef HOPSCOTCH_HOPPER_ENVIRONMENT_H
#define HOPSCOTCH_HOPPER_ENVIRONMENT_H

#include "advance.h"

HD void hopper_environment_begin(const Constants *constants, const double *assets, const LaneGroup *group, bool full,
                                 mask which)
{
    const HopperWorld world = hopper_world(constants, assets, group, full, true);
    WITHOUT_APART(HopperLanes, lanes, HopperPast);
    HopperSums sums;
    hopper_begin(&world, &lanes, &sums);
    hopper_store(&world, group, &lanes, &sums, which);
    hopper_store_starts(group, &sums, which);
    if (hopper_with(&world, HOPPER_WITH_LAW)) law_begin(group, which);
}

// The slot of the next step in the ring of accelerations.
HD real hopper_turn(real ticks) { return ticks - (double)HOPPER_PAST * terrain_floor(ticks / (double)HOPPER_PAST); }

// What is given in this step: by the caller, or what a law asked for last.
HD real hopper_environment_action(const HopperConstants *c, const LaneGroup *group, int action)
{
    if ((c->variants & HOPPER_WITH_LAW) != 0) return lanes_work(group, HOPPER_WORK_held_u1 + action);
    return lanes_action(group, action);
}

// The lanes of a vector whose rings stand at the same slot go together: all of them, if a step of the environment is a
// multiple of five steps.
HD void hopper_environment_advance(const Constants *constants, const double *assets, const LaneGroup *group,
                                   HopperIntegrator integrator, bool full, mask which)
{
    const HopperWorld world = hopper_world(constants, assets, group, full, true);
    const real ticks = lanes_clock(group), turn = hopper_turn(ticks);
    HopperAction action; // with a law that of the law
    action.u1 = hopper_environment_action(&world.c, group, 0);
    action.u2 = hopper_environment_action(&world.c, group, 1);
    for (int slot = 0; slot < (LANES == 1 ? 1 : HOPPER_PAST) && any_lane(which); slot++) {
        const int now = LANES == 1 ? (int)lane_of(turn, 0) : slot;
        const mask together = which & MASK(value_of(turn) == (double)now);
        if (!any_lane(together)) continue;
        WITH_APART(HopperLanes, lanes, HopperPast);
        HopperSums sums;
        hopper_load(&world, group, &lanes, &sums);
        lanes.turn = now;
        hopper_steps(&world, group, integrator, false, not_empty(together), ticks, &action, &lanes, &sums);
        which = which & ~together;
    }
}

// u1 and u2 are those of the step that ended; at the begin of an episode 0.
HD void hopper_environment_sample(const Constants *constants, const LaneGroup *group, mask which)
{
    HopperConstants c;
    HopperParameters p;
    memcpy(&c, constants, sizeof c);
    hopper_load_bounds(&c, group, &p);
    const real ticks = lanes_clock(group);
    const mask begun = MASK(value_of(ticks) == 0.0);
    const real u1 = clamped(hopper_environment_action(&c, group, 0), p.u1_min, p.u1_max);
    const real u2 = clamped(hopper_environment_action(&c, group, 1), p.u2_min, p.u2_max);
    const int state = HOPPER_WORK_x; // ten fields, in the order of the columns
    lanes_set_column(group, 0, ticks * c.dt, which);
    for (int k = 0; k < 10; k++) lanes_set_column(group, 1 + k, lanes_work(group, state + k), which);
    lanes_set_column(group, 11, select_real(begun, splat(0.0), u1), which);
    lanes_set_column(group, 12, select_real(begun, splat(0.0), u2), which);
    lanes_set_column(group, 13, lanes_work(group, HOPPER_WORK_fsm), which);
    lanes_set_law_columns(group, which);
}

HD void hopper_environment_finish(const Constants *constants, const double *assets, const LaneGroup *group, bool full,
                                  mask which)
{
    const HopperWorld world = hopper_world(constants, assets, group, full, true);
    const real ticks = lanes_clock(group);
    WITHOUT_APART(HopperLanes, lanes, HopperPast);
    HopperSums sums;
    hopper_load(&world, group, &lanes, &sums);
    const HopperAngles s = hopper_angles(lanes.q.a, lanes.q.b);
    hopper_end(&world, group, &lanes, &sums, &s, ticks - (double)world.c.settle, ticks * world.c.dt, splat(HOPPER_NONE),
               which);
}

#define HOPPER_ENVIRONMENT(name, integrator, full)                                                                     \
    HD void hopper_##name##_begin(const Constants *constants, const double *assets, const LaneGroup *group,            \
                                  mask which)                                                                          \
    {                                                                                                                  \
        hopper_environment_begin(constants, assets, group, full, which);                                               \
    }                                                                                                                  \
    HD void hopper_##name##_advance(const Constants *constants, const double *assets, const LaneGroup *group,          \
                                    mask which)                                                                        \
    {                                                                                                                  \
        hopper_environment_advance(constants, assets, group, integrator, full, which);                                 \
    }                                                                                                                  \
    HD void hopper_##name##_sample(const Constants *constants, const double *assets, const LaneGroup *group,           \
                                   mask which)                                                                         \
    {                                                                                                                  \
        (void)assets;                                                                                                  \
        hopper_environment_sample(constants, group, which);                                                            \
    }                                                                                                                  \
    HD void hopper_##name##_finish(const Constants *constants, const double *assets, const LaneGroup *group,           \
                                   mask which)                                                                         \
    {                                                                                                                  \
        hopper_environment_finish(constants, assets, group, full, which);                                              \
    }
HOPPER_ENVIRONMENT(implicit_midpoint, HOPPER_MIDPOINT, false)
HOPPER_ENVIRONMENT(semi_implicit_euler, HOPPER_SEMI_IMPLICIT, false)
HOPPER_ENVIRONMENT(implicit_euler, HOPPER_IMPLICIT, false)
HOPPER_ENVIRONMENT(rk4, HOPPER_RK4, false)
HOPPER_ENVIRONMENT(implicit_midpoint_full, HOPPER_MIDPOINT, true)
HOPPER_ENVIRONMENT(semi_implicit_euler_full, HOPPER_SEMI_IMPLICIT, true)
HOPPER_ENVIRONMENT(implicit_euler_full, HOPPER_IMPLICIT, true)
HOPPER_ENVIRONMENT(rk4_full, HOPPER_RK4, true)

#endif
