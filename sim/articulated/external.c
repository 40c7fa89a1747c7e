// The actions of external control, and what a law may give.
#include "articulated.h"

#include "../models.h"

#include <math.h>

// Of a driven joint: how far its command may lie from its offset; or its effort.
static Action external_action(const ArticulatedHost *host, int joint, const ArticulatedBody *body, bool effort)
{
    const RobotJointRow *kind = &robot_joints[body->kind];
    const double *number = body->number, offset = number[ARTICULATED_offset];
    const RobotMotor motor = {.effort = number[ARTICULATED_effort],
                              .uneven = body->uneven != 0,
                              .least = number[ARTICULATED_least],
                              .most = number[ARTICULATED_most]};
    double ends[2];
    robot_motor_ends(&motor, ends);
    if (effort)
        return (Action){.name = host->joints[joint],
                        .unit = kind->effort_unit,
                        .doc = "effort of the motor",
                        .low = ends[0],
                        .high = ends[1]};
    return (Action){.name = host->joints[joint],
                    .unit = kind->unit,
                    .doc = "target of the motor, relative to its offset",
                    .low = number[ARTICULATED_command_low] - offset,
                    .high = number[ARTICULATED_command_high] - offset};
}

// The same of a policy, whose actions control.bounds may narrow.
static const Action *external_asked(const ArticulatedHost *host, int joint, const ArticulatedBody *body, bool effort,
                                    Arena *arena)
{
    Action *action = ARENA_NEW(arena, Action, 1);
    *action = external_action(host, joint, body, effort);
    action->low = fmax(action->low, host->bounds[0]);
    action->high = fmin(action->high, host->bounds[1]);
    return action;
}

// A law may give each driven joint a command and an effort; a policy one of them.
static void external_outputs(const ArticulatedHost *host, const ArticulatedBody *bodies, Arena *arena,
                             const ArticulatedConstants *c, Configured *out)
{
    const int n = c->n_bodies;
    LawOutput *outputs = ARENA_NEW(arena, LawOutput, 2 * n);
    LawGroup *groups = ARENA_NEW(arena, LawGroup, host->n_groups);
    out->n_outputs = 0;
    for (int i = 0; i < n; i++) {
        if (bodies[i].driven == 0) continue;
        const RobotJointRow *kind = &robot_joints[bodies[i].kind];
        for (int effort = 0; effort < 2; effort++) {
            const bool asked = (c->uses & CONTROL_POLICY) != 0 && (effort != 0) == (c->efforts != 0);
            outputs[out->n_outputs++] =
                (LawOutput){host->joints[i], effort != 0 ? kind->effort_unit : kind->unit, effort != 0,
                            asked ? external_asked(host, i, &bodies[i], effort != 0, arena) : NULL};
        }
    }
    for (int g = 0; g < host->n_groups; g++) {
        const ArticulatedGroup *group = &host->groups[g];
        int *members = ARENA_NEW(arena, int, group->n_bodies + 1), count = 0;
        for (int k = 0; k < group->n_bodies; k++)
            if (bodies[group->bodies[k]].driven != 0) members[count++] = 2 * (bodies[group->bodies[k]].driven - 1);
        groups[g] = (LawGroup){group->name, members, count};
    }
    out->outputs = outputs;
    out->output_groups = groups;
    out->n_output_groups = host->n_groups;
}

void articulated_external(const ArticulatedHost *host, const ArticulatedBody *bodies, Arena *arena,
                          const ArticulatedConstants *c, Configured *out)
{
    if ((c->uses & (CONTROL_ACTS | CONTROL_LAW)) != 0) out->action_ticks = c->held;
    out->law_adds = (c->uses & CONTROL_ADDS) != 0;
    if ((c->uses & CONTROL_LAW) != 0) external_outputs(host, bodies, arena, c, out);
    out->policy = (c->uses & CONTROL_POLICY) != 0;
    out->environment_kernel = c->n_targets > 0 ? -1 : KERNEL_articulated_tree; // a recorded motion has one clock
    if ((c->uses & CONTROL_ACTS) == 0) return;
    Action *actions = ARENA_NEW(arena, Action, c->n_bodies + 1);
    out->n_actions = 0;
    for (int i = 0; i < c->n_bodies; i++)
        if (bodies[i].driven != 0) actions[out->n_actions++] = external_action(host, i, &bodies[i], c->efforts != 0);
    out->actions = actions;
}
