// How a robot stands over the ground at t = 0, and `settle: true`: the robot is moved up or down so that its lowest
// shape just touches. A shape in the ground is pushed out by thousands of newtons in the first step, and
// ground_force_max says nothing any more.
#include "ground.h"

#include "../spatial/figure.h"

#include <math.h>
#include <string.h>

// ---- the pose -------------------------------------------------------------------------------------------------------

double articulated_start_coordinate(const Configured *configured, const ArticulatedConstants *c, const double *point,
                                    int body)
{
    const ArticulatedInput *inputs = (const ArticulatedInput *)(configured->assets + c->inputs);
    double value = ((const ArticulatedBody *)configured->assets)[body].number[ARTICULATED_start];
    for (int k = 0; k < c->n_inputs; k++) {
        if (inputs[k].body == body && inputs[k].number == ARTICULATED_start)
            value = point[inputs[k].parameter] + inputs[k].add;
    }
    return value;
}

// poses[n_bodies][POSE_NUMBERS] of the centres of mass.
static const double *start_poses(const Configured *configured, const ArticulatedConstants *c, const double *point,
                                 Arena *arena)
{
    const ArticulatedHost *host = configured->host;
    const ArticulatedBody *bodies = (const ArticulatedBody *)configured->assets;
    const double *coordinates = host->coordinates;
    double *sample = ARENA_NEW(arena, double, configured->n_columns + 1);
    double *poses = ARENA_NEW(arena, double, POSE_NUMBERS * c->n_bodies);
    for (int i = 0; i < c->n_bodies; i++) {
        const RobotJointKind kind = host->robot->bodies[i].joint.kind;
        const int count = robot_joint_coordinates(kind), column = host->column[i];
        memcpy(sample + column, coordinates, (size_t)count * sizeof *sample);
        if (bodies[i].joint >= 0) sample[column] = articulated_start_coordinate(configured, c, point, i);
        for (int k = 0; k < 3 && kind == ROBOT_FREE; k++) sample[column + k] += point[ARTICULATED_PARAMETER_base_x + k];
        coordinates += count;
    }
    configured->drawing->poses(configured, point, sample, poses);
    return poses;
}

// ---- shapes ---------------------------------------------------------------------------------------------------------

typedef struct StartPose {
    double p[3], q[4], scale;
} StartPose;

static StartPose start_shape_pose(const Robot *robot, const RobotShape *shape, const double *pose)
{
    StartPose shape_pose;
    double arm[3], turned[3];
    const double *q = pose + 3, *own = shape->q;
    shape_pose.scale = pose[7];
    for (int k = 0; k < 3; k++) arm[k] = shape_pose.scale * (shape->p[k] - robot->bodies[shape->body].centre[k]);
    figure_turn(q, arm, turned);
    for (int k = 0; k < 3; k++) shape_pose.p[k] = pose[k] + turned[k];
    shape_pose.q[0] = q[3] * own[0] + q[0] * own[3] + q[1] * own[2] - q[2] * own[1];
    shape_pose.q[1] = q[3] * own[1] + q[1] * own[3] + q[2] * own[0] - q[0] * own[2];
    shape_pose.q[2] = q[3] * own[2] + q[2] * own[3] + q[0] * own[1] - q[1] * own[0];
    shape_pose.q[3] = q[3] * own[3] - q[0] * own[0] - q[1] * own[1] - q[2] * own[2];
    return shape_pose;
}

// How far a shape reaches from its middle along the direction n, a unit vector (its support function).
static double start_reach(const RobotShape *shape, const StartPose *shape_pose, const double *n)
{
    const double *size = shape->size,
                 back[4] = {-shape_pose->q[0], -shape_pose->q[1], -shape_pose->q[2], shape_pose->q[3]};
    double d[3];
    figure_turn(back, n, d);
    const double across = sqrt(d[0] * d[0] + d[1] * d[1]);
    switch (shape->kind) {
    case ROBOT_SPHERE: return size[0];
    case ROBOT_CAPSULE: return shape_pose->scale * size[1] * fabs(d[2]) + size[0];
    case ROBOT_CYLINDER: return shape_pose->scale * (size[1] * fabs(d[2]) + size[0] * across);
    case ROBOT_BOX: return shape_pose->scale * (size[0] * fabs(d[0]) + size[1] * fabs(d[1]) + size[2] * fabs(d[2]));
    case ROBOT_ELLIPSOID:
        return shape_pose->scale * sqrt(size[0] * size[0] * d[0] * d[0] + size[1] * size[1] * d[1] * d[1] +
                                        size[2] * size[2] * d[2] * d[2]);
    case ROBOT_PLANE:
    case ROBOT_HFIELD: break;
    }
    return 0.0;
}

// The normal of the ground below x, y.
static void start_normal(const Configured *configured, const double *point, const double *p, double *n)
{
    const double e = 1e-5, x = p[0], y = p[1];
    n[0] = articulated_ground(configured, point, x - e, y) - articulated_ground(configured, point, x + e, y);
    n[1] = articulated_ground(configured, point, x, y - e) - articulated_ground(configured, point, x, y + e);
    n[2] = 2.0 * e;
    const double length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    for (int k = 0; k < 3; k++) n[k] /= length;
}

// Height of a shape's lowest point over the terrain's tangent plane below its middle, along z.
static double start_over_terrain(const Configured *configured, const double *point, const RobotShape *shape,
                                 const StartPose *shape_pose)
{
    double n[3];
    start_normal(configured, point, shape_pose->p, n);
    const double over = shape_pose->p[2] - articulated_ground(configured, point, shape_pose->p[0], shape_pose->p[1]);
    return over - (start_reach(shape, shape_pose, n) + shape->margin) / n[2];
}

// The same over a plane of the robot's file; infinite over one that is steep.
static double start_over_plane(const RobotShape *plane, double margin, const RobotShape *shape,
                               const StartPose *shape_pose)
{
    static const double up[3] = {0.0, 0.0, 1.0}, steep = 0.01;
    double n[3], over = 0.0;
    figure_turn(plane->q, up, n);
    for (int k = 0; k < 3; k++) over += n[k] * (shape_pose->p[k] - plane->p[k]);
    return n[2] > steep ? (over - start_reach(shape, shape_pose, n) - margin) / n[2] : INFINITY;
}

// The same over the triangle of a height field below its middle; infinite beyond its edges.
static double start_over_field(const double *fields, const RobotShape *field, double margin, const RobotShape *shape,
                               const StartPose *shape_pose)
{
    const ArticulatedSurface surface = articulated_surface_of(field);
    mask inside;
    const ArticulatedGround ground = ground_of_field(fields, &surface, shape_pose->p[0], shape_pose->p[1], &inside);
    const double n[3] = {ground.normal.x, ground.normal.y, ground.normal.z};
    return inside ? shape_pose->p[2] - ground.height - (start_reach(shape, shape_pose, n) + margin) / n[2] : INFINITY;
}

static void start_add(ArticulatedStart *start, int shape, double height)
{
    const double touches = 1e-9; // m
    start->inside += height < -touches;
    if (!(height < start->least)) return;
    start->least = height;
    start->shape = shape;
}

ArticulatedStart articulated_start_of(const Configured *configured, const double *point, Arena *arena)
{
    const ArticulatedHost *host = configured->host;
    const Robot *robot = host->robot;
    ArticulatedStart start = {.least = INFINITY};
    ArticulatedConstants c;
    memcpy(&c, &configured->constants, sizeof c);
    const double *poses = start_poses(configured, &c, point, arena);
    for (int s = 0, next = 0; s < robot->n_shapes; s++) {
        const RobotShape *shape = &robot->shapes[s];
        double height = INFINITY;
        if (shape->body < 0) continue;
        const StartPose shape_pose = start_shape_pose(robot, shape, poses + POSE_NUMBERS * shape->body);
        if (articulated_on_terrain(host, shape)) height = start_over_terrain(configured, point, shape, &shape_pose);
        while (next < robot->n_contacts && robot->contacts[next].shape < s) next++;
        for (; next < robot->n_contacts && robot->contacts[next].shape == s; next++) {
            const RobotContact *contact = &robot->contacts[next];
            const RobotShape *ground = &robot->shapes[contact->ground];
            if (!articulated_is_floor(ground) || !articulated_counts(host, contact)) continue;
            height = fmin(ground->kind == ROBOT_PLANE ? start_over_plane(ground, contact->margin, shape, &shape_pose)
                                                      : start_over_field(configured->assets + c.fields, ground,
                                                                         contact->margin, shape, &shape_pose),
                          height);
        }
        start_add(&start, s, height);
    }
    return start;
}

// ---- settle ---------------------------------------------------------------------------------------------------------

Error articulated_settle(const Configured *configured, Arena *arena, double *coordinates)
{
    const ArticulatedHost *host = configured->host;
    double *point = ARENA_NEW(arena, double, configured->n_parameters + 1);
    for (int i = 0; i < configured->n_parameters; i++) point[i] = configured->parameters[i].value;
    const ArticulatedStart start = articulated_start_of(configured, point, arena);
    ArticulatedConstants c;
    memcpy(&c, &configured->constants, sizeof c);
    if (c.floats == 0)
        return error_make(ERROR_USER, "settle needs a robot that floats: this one is fixed to the world");
    if (!isfinite(start.least)) return error_make(ERROR_USER, "settle: no shape of the robot can touch the ground");
    memcpy(coordinates, host->coordinates, (size_t)host->robot->n_coordinates * sizeof *coordinates);
    for (int i = 0, at = 0; i < host->robot->n_bodies; i++) {
        const RobotJointKind kind = host->robot->bodies[i].joint.kind;
        if (kind == ROBOT_FREE) coordinates[at + 2] -= start.least;
        at += robot_joint_coordinates(kind);
    }
    return error_none();
}
