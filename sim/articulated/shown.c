// The robot with the numbers of a trial in place of those of its file.
#include "articulated.h"

#include <math.h>
#include <string.h>

// Where a body has a number that parameters name; NULL: nowhere, such as the amplitude of its gait.
static double *shown_number(RobotBody *body, int number)
{
    RobotJoint *joint = &body->joint;
    switch (number) {
    case ARTICULATED_mass: return &body->mass;
    case ARTICULATED_kp: return &joint->motor.kp;
    case ARTICULATED_kd: return &joint->motor.kd;
    case ARTICULATED_effort: return &joint->motor.effort;
    case ARTICULATED_least: return &joint->motor.least;
    case ARTICULATED_most: return &joint->motor.most;
    case ARTICULATED_bias: return &joint->motor.bias;
    case ARTICULATED_armature: return &joint->armature;
    case ARTICULATED_damping: return &joint->damping;
    case ARTICULATED_stiffness: return &joint->stiffness;
    case ARTICULATED_spring: return &joint->rest;
    case ARTICULATED_friction: return &joint->friction;
    case ARTICULATED_low: return &joint->low;
    case ARTICULATED_high: return &joint->high;
    default: break;
    }
    const bool inertia = number >= ARTICULATED_xx && number <= ARTICULATED_yz;
    return inertia ? &body->inertia[number - ARTICULATED_xx] : NULL;
}

// As lay_own does: what has a gain has a motor, and what has a limit is limited.
static void shown_set(RobotBody *body, int number, double value)
{
    double *to = shown_number(body, number);
    RobotMotor *motor = &body->joint.motor;
    if (to == NULL) return;
    if (!body->joint.limited && (number == ARTICULATED_low || number == ARTICULATED_high)) {
        body->joint.limited = true;
        body->joint.low = -INFINITY;
        body->joint.high = INFINITY;
    }
    if (!motor->uneven && (number == ARTICULATED_least || number == ARTICULATED_most)) {
        motor->uneven = true;
        motor->least = -INFINITY;
        motor->most = INFINITY;
    }
    if (number == ARTICULATED_kp || number == ARTICULATED_kd || number == ARTICULATED_bias)
        motor->driven |= robot_joint_coordinates(body->joint.kind) == 1;
    *to = value;
}

// Numbers of the log-Cholesky form of an inertia (own_spread in design.h). c: ArticulatedBody.spread.
typedef struct ShownSpread {
    bool varies;
    double number[6]; // from ARTICULATED_log_x on
} ShownSpread;

static void shown_spread(RobotBody *body, const ShownSpread *spread, const double *c)
{
    const double *e = spread->number, m = body->mass, y = exp(e[1]), z = exp(e[2]);
    const double f[6] = {c[0] * exp(e[0]), c[0] * e[3] + c[1] * y, c[0] * e[4] + c[1] * e[5] + c[2] * z,
                         c[3] * y,         c[3] * e[5] + c[4] * z, c[5] * z};
    const double xx = f[0] * f[0] + f[1] * f[1] + f[2] * f[2], yy = f[3] * f[3] + f[4] * f[4], zz = f[5] * f[5];
    const double inertia[6] = {m * (yy + zz),    m * (xx + zz),   m * (xx + yy), -m * (f[1] * f[3] + f[2] * f[4]),
                               -m * f[2] * f[5], -m * f[4] * f[5]};
    memcpy(body->inertia, inertia, sizeof inertia);
}

static void shown_design(RobotBody *body, ArticulatedDesignKind kind, double s)
{
    RobotMotor *motor = &body->joint.motor;
    const double turned = kind == ARTICULATED_LENGTH ? s * s * s : s;
    if (kind == ARTICULATED_LENGTH || kind == ARTICULATED_WEIGHT) {
        body->mass *= s;
        for (int k = 0; k < 6; k++) body->inertia[k] *= turned;
    }
    if (kind == ARTICULATED_GAIN) {
        motor->kp *= s;
        motor->kd *= s;
    }
}

const Robot *articulated_shown(const Configured *configured, const double *parameter, Arena *arena)
{
    const ArticulatedHost *host = configured->host;
    ArticulatedConstants c;
    memcpy(&c, &configured->constants, sizeof c);
    const ArticulatedInput *inputs = (const ArticulatedInput *)(configured->assets + c.inputs);
    const ArticulatedDesign *designs = (const ArticulatedDesign *)(configured->assets + c.designs);
    Robot *robot = ARENA_NEW(arena, Robot, 1);
    RobotBody *bodies = ARENA_NEW(arena, RobotBody, host->robot->n_bodies);
    *robot = *host->robot;
    memcpy(bodies, robot->bodies, (size_t)robot->n_bodies * sizeof *bodies);
    robot->bodies = bodies;
    for (int i = 0; i < robot->n_bodies && host->keyframe != NULL; i++)
        bodies[i].joint.motor.bias += host->keyframe->efforts[i];
    ShownSpread *spreads = ARENA_NEW(arena, ShownSpread, robot->n_bodies);
    for (int k = 0; k < c.n_inputs; k++) {
        const double value = parameter[inputs[k].parameter] + inputs[k].add;
        const int number = inputs[k].number, body = inputs[k].body;
        shown_set(&bodies[body], number, value);
        if (number >= ARTICULATED_moved_x && number <= ARTICULATED_moved_z)
            bodies[body].centre[number - ARTICULATED_moved_x] += value;
        if (number < ARTICULATED_log_x || number > ARTICULATED_shear_yz) continue;
        spreads[body].varies = true;
        spreads[body].number[number - ARTICULATED_log_x] = value;
    }
    for (int i = 0; i < robot->n_bodies; i++)
        if (spreads[i].varies)
            shown_spread(&bodies[i], &spreads[i], ((const ArticulatedBody *)configured->assets)[i].spread);
    for (int k = 0; k < c.n_designs; k++)
        shown_design(&bodies[designs[k].body], (ArticulatedDesignKind)designs[k].kind, parameter[designs[k].parameter]);
    return robot;
}
