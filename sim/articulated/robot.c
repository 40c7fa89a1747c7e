// See robot.h.
#include "robot.h"

#include <math.h>
#include <stddef.h>

#define ROBOT_ROW(name, ...) {__VA_ARGS__},
const RobotJointRow robot_joints[] = {ROBOT_JOINTS(ROBOT_ROW)};
#undef ROBOT_ROW

int robot_joint_coordinates(RobotJointKind kind) { return robot_joints[kind].coordinates; }

static double robot_between(double x, double low, double high) { return fmin(fmax(x, low), high); }

void robot_motor_ends(const RobotMotor *motor, double ends[2])
{
    ends[0] = -motor->effort;
    ends[1] = motor->effort;
    if (!motor->uneven) return;
    ends[0] = robot_between(motor->least, -motor->effort, motor->effort);
    ends[1] = robot_between(motor->most, -motor->effort, motor->effort);
}

// Two rods of 1 kg and 1 m that hang from a point at 2 m, the upper one held level by its motor.
#define ROBOT_ROD(of, over, down, height)                                                                              \
    {                                                                                                                  \
        .name = of, .parent = over, .p = {0, 0, height}, .q = {0, 0, 0, 1}, .mass = 1.0, .centre = {0, 0, -0.5},       \
        .inertia = {1.0 / 12, 1.0 / 12, 1e-3, 0, 0, 0}, .joint = {                                                     \
            .name = down,                                                                                              \
            .kind = ROBOT_HINGE,                                                                                       \
            .axis = {0, 1, 0},                                                                                         \
            .motor = {.effort = INFINITY}                                                                              \
        }                                                                                                              \
    }
static const RobotBody robot_rods[2] = {ROBOT_ROD("upper", -1, "shoulder", 2.0), ROBOT_ROD("lower", 0, "elbow", -1.0)};
const Robot robot_pendulum = {.name = "double pendulum", .bodies = robot_rods, .n_bodies = 2, .n_coordinates = 2};
