// hopscotch show --robot: the tree of a robot's bodies, with their joints, motors and masses, as a trial has them.
#include "command.h"

#include <math.h>
#include <string.h>

static const char *tree_name(const Robot *robot, int body, Arena *arena)
{
    enum { DEEPEST = 32 }; // that is shown as deep
    int depth = 0;
    for (int b = robot->bodies[body].parent; b >= 0 && depth < DEEPEST; b = robot->bodies[b].parent) depth++;
    return arena_format(arena, "%*s%s", 2 * depth, "", text_visible(robot->bodies[body].name, arena));
}

// Replicates may draw it, each its own.
static const char *tree_number(double value, Arena *arena)
{
    return isnan(value) ? "drawn" : arena_format(arena, "%.4g", value);
}

static const char *tree_range(const RobotJoint *joint, Arena *arena)
{
    if (!joint->limited) return "";
    return arena_format(arena, "%s to %s %s", tree_number(joint->low, arena), tree_number(joint->high, arena),
                        robot_joints[joint->kind].unit);
}

static const char *tree_motor(const RobotJoint *joint, Arena *arena)
{
    const RobotMotor *motor = &joint->motor;
    const char *unit = robot_joints[joint->kind].effort_unit, *more = "";
    double ends[2];
    if (!motor->driven) return "";
    if (motor->bias != 0.0) more = arena_format(arena, ", bias %s %s", tree_number(motor->bias, arena), unit);
    robot_motor_ends(motor, ends);
    if (motor->uneven && !(ends[0] == -ends[1]))
        more = arena_format(arena, "%s, %s to %s %s", more, tree_number(ends[0], arena), tree_number(ends[1], arena),
                            unit);
    else if (!isinf(motor->effort))
        more = arena_format(arena, "%s, at most %s %s", more, tree_number(ends[1], arena), unit);
    if (motor->kp == 0.0 && motor->kd == 0.0) return arena_format(arena, "by torque%s", more);
    return arena_format(arena, "kp %s, kd %s%s", tree_number(motor->kp, arena), tree_number(motor->kd, arena), more);
}

Error show_robot(const Spec *spec, const double *parameter, FILE *out, Arena *arena)
{
    static const char *const names[] = {"body", "kg", "joint", "kind", "range", "motor"};
    if (spec->model->robot == NULL) return error_make(ERROR_USER, "model %s has no robot", spec->model->name);
    const Robot *robot = spec->model->robot(&spec->configured, parameter, arena);
    Table *table = table_start(out, TABLE_TEXT, 6, names);
    for (int i = 0; i < robot->n_bodies; i++) {
        const RobotBody *body = &robot->bodies[i];
        table_text(table, tree_name(robot, i, arena));
        table_text(table, tree_number(body->mass, arena));
        table_text(table, text_visible(body->joint.name, arena));
        table_text(table, robot_joints[body->joint.kind].word);
        table_text(table, tree_range(&body->joint, arena));
        table_text(table, tree_motor(&body->joint, arena));
    }
    return table_finish(table);
}
