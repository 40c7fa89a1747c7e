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
    for (int k = 0; k < c.n_inputs; k++)
        shown_set(&bodies[inputs[k].body], inputs[k].number, parameter[inputs[k].parameter] + inputs[k].add);
    for (int k = 0; k < c.n_designs; k++)
        shown_design(&bodies[designs[k].body], (ArticulatedDesignKind)designs[k].kind, parameter[designs[k].parameter]);
    return robot;
}
