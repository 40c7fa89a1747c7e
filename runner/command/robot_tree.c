// hopscotch show --robot: the tree of a robot's bodies, with their joints, motors and masses, as its file has them.
#include "command.h"

#include <math.h>
#include <string.h>

// The robot that a spec's file holds; NULL: its model has none.
static const Robot *tree_robot(const Spec *spec)
{
    for (int i = 0; i < spec->model->n_options; i++) {
        const Option *option = &spec->model->options[i];
        if (option->type != OPTION_FILE || strcmp(option->choices, "robot") != 0) continue;
        return spec->option_points[i].count > 0 ? spec->option_points[i].robot : &robot_pendulum;
    }
    return NULL;
}

static const char *tree_name(const Robot *robot, int body, Arena *arena)
{
    enum { DEEPEST = 32 }; // that is shown as deep
    int depth = 0;
    for (int b = robot->bodies[body].parent; b >= 0 && depth < DEEPEST; b = robot->bodies[b].parent) depth++;
    return arena_format(arena, "%*s%s", 2 * depth, "", text_visible(robot->bodies[body].name, arena));
}

static const char *tree_unit(const RobotJoint *joint) { return joint->kind == ROBOT_SLIDE ? "m" : "rad"; }

static const char *tree_range(const RobotJoint *joint, Arena *arena)
{
    if (!joint->limited) return "";
    return arena_format(arena, "%.4g to %.4g %s", joint->low, joint->high, tree_unit(joint));
}

static const char *tree_motor(const RobotJoint *joint, Arena *arena)
{
    const RobotMotor *motor = &joint->motor;
    const char *unit = joint->kind == ROBOT_SLIDE ? "N" : "N m", *most = "";
    if (!motor->driven) return "";
    if (isfinite(motor->effort)) most = arena_format(arena, ", at most %.4g %s", motor->effort, unit);
    if (motor->kp == 0.0 && motor->kd == 0.0) return arena_format(arena, "by torque%s", most);
    return arena_format(arena, "kp %.4g, kd %.4g%s", motor->kp, motor->kd, most);
}

Error show_robot(const Spec *spec, FILE *out, Arena *arena)
{
    static const char *const names[] = {"body", "kg", "joint", "kind", "range", "motor"};
    static const char *const kinds[] = {"free", "hinge", "slide", "ball", "weld"};
    const Robot *robot = tree_robot(spec);
    if (robot == NULL) return error_make(ERROR_USER, "model %s has no robot", spec->model->name);
    Table *table = table_start(out, TABLE_TEXT, 6, names);
    for (int i = 0; i < robot->n_bodies; i++) {
        const RobotBody *body = &robot->bodies[i];
        table_text(table, tree_name(robot, i, arena));
        table_text(table, arena_format(arena, "%.4g", body->mass));
        table_text(table, text_visible(body->joint.name, arena));
        table_text(table, kinds[body->joint.kind]);
        table_text(table, tree_range(&body->joint, arena));
        table_text(table, tree_motor(&body->joint, arena));
    }
    return table_finish(table);
}
