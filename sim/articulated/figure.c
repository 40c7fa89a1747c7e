// A robot as a figure: its shapes as solids, and sticks from joint to joint on bodies that have no shape of some size.
#include "articulated.h"

#include "../spatial/figure.h"

#include <math.h>
#include <string.h>

enum { FIGURE_SOLIDS = 2048 }; // at most

typedef struct FigureSolids {
    const Robot *robot;
    Solid *solids;
    int count, most;
    bool fixed;   // it has no free body
    bool *leaf;   // [n_bodies] it has no child
    bool *ground; // [n_shapes] of the world, and something touches it
} FigureSolids;

static void figure_add(FigureSolids *figure, SolidKind kind, int body, const char *name, const Solid *placed)
{
    static const double origin[3] = {0, 0, 0};
    const double *centre = body >= 0 ? figure->robot->bodies[body].centre : origin;
    if (figure->count == figure->most) return;
    Solid *solid = &figure->solids[figure->count++];
    *solid = *placed;
    solid->kind = kind;
    solid->body = body;
    solid->name = name;
    for (int k = 0; k < 3; k++) solid->p[k] -= centre[k];
}

// ---- shapes of the file ---------------------------------------------------------------------------------------------

static void figure_add_shape(FigureSolids *figure, const RobotShape *shape)
{
    static const SolidKind kinds[] = {[ROBOT_SPHERE] = SOLID_BALL,
                                      [ROBOT_CAPSULE] = SOLID_CAPSULE,
                                      [ROBOT_CYLINDER] = SOLID_CYLINDER,
                                      [ROBOT_BOX] = SOLID_BOX,
                                      [ROBOT_ELLIPSOID] = SOLID_BALL};
    const bool foot = shape->collides && shape->body >= 0 && figure->leaf[shape->body];
    Solid solid;
    memset(&solid, 0, sizeof solid);
    memcpy(solid.p, shape->p, sizeof solid.p);
    memcpy(solid.q, shape->q, sizeof solid.q);
    for (int k = 0; k < 3; k++) solid.size[k] = shape->kind == ROBOT_SPHERE ? shape->size[0] : shape->size[k];
    figure_add(figure, kinds[shape->kind], shape->body, shape->body <= 0 ? "body" : foot ? "foot" : "leg", &solid);
}

// ---- sticks ---------------------------------------------------------------------------------------------------------

// Turns z to a unit vector.
static void figure_turn_to(const double *to, double *q)
{
    const double w = 1.0 + to[2], length = sqrt(to[0] * to[0] + to[1] * to[1] + w * w);
    const double turn[4] = {-to[1], to[0], 0.0, w}, half_turn[4] = {1.0, 0.0, 0.0, 0.0};
    for (int k = 0; k < 4; k++) q[k] = length > 1e-9 ? turn[k] / length : half_turn[k];
}

static void figure_add_stick(FigureSolids *figure, int body, const double *from, const double *to, double radius)
{
    Solid solid;
    double along[3], squares = 0.0;
    memset(&solid, 0, sizeof solid);
    for (int k = 0; k < 3; k++) {
        solid.p[k] = 0.5 * (from[k] + to[k]);
        along[k] = to[k] - from[k];
        squares += along[k] * along[k];
    }
    const double length = sqrt(squares);
    for (int k = 0; k < 3; k++) along[k] = length > 0.0 ? along[k] / length : k == 2;
    figure_turn_to(along, solid.q);
    solid.size[0] = radius;
    solid.size[1] = 0.5 * length;
    figure_add(figure, SOLID_CAPSULE, body, body == 0 ? "body" : "leg", &solid);
}

// Sticks from a body's joint to those of its children, or through its centre of mass if it has none.
static void figure_add_sticks(FigureSolids *figure, int body, double radius)
{
    const RobotBody *of = &figure->robot->bodies[body];
    double end[3];
    for (int i = body + 1; i < figure->robot->n_bodies; i++) {
        const RobotBody *child = &figure->robot->bodies[i];
        if (child->parent != body) continue;
        figure_turn(child->q, child->joint.anchor, end);
        for (int k = 0; k < 3; k++) end[k] += child->p[k];
        figure_add_stick(figure, body, of->joint.anchor, end, radius);
    }
    for (int k = 0; k < 3; k++) end[k] = 2 * of->centre[k] - of->joint.anchor[k];
    if (figure->leaf[body]) figure_add_stick(figure, body, of->joint.anchor, end, radius);
}

bool articulated_is_fixed(const Robot *robot)
{
    for (int i = 0; i < robot->n_bodies; i++) {
        if (robot->bodies[i].joint.kind == ROBOT_FREE) return false;
    }
    return true;
}

// ---- all of it ------------------------------------------------------------------------------------------------------

// The length of the longest chain from a root, to which the thickness of sticks is proportional.
static double figure_size(const Robot *robot)
{
    double longest = 0.0, size[ROBOT_BODIES_MAX];
    for (int i = 0; i < robot->n_bodies; i++) {
        const RobotBody *body = &robot->bodies[i];
        const double *p = body->p;
        size[i] = body->parent < 0 ? 0.0 : size[body->parent] + sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]);
        longest = fmax(longest, size[i]);
    }
    return longest > 0.0 ? longest : 1.0;
}

// Shapes of the world belong to a robot that is fixed to it, or are its ground.
static bool figure_shows(const FigureSolids *figure, int s)
{
    const RobotShape *shape = &figure->robot->shapes[s];
    return !articulated_is_floor(shape) && (shape->body >= 0 || figure->ground[s] || figure->fixed);
}

static bool figure_has_shape(const FigureSolids *figure, int body, double least)
{
    for (int s = 0; s < figure->robot->n_shapes; s++) {
        const RobotShape *shape = &figure->robot->shapes[s];
        if (shape->body == body && figure_shows(figure, s) &&
            fmax(shape->size[0], fmax(shape->size[1], shape->size[2])) > least)
            return true;
    }
    return false;
}

const Solid *articulated_solids(const Robot *robot, Arena *arena, int *count)
{
    const double size = figure_size(robot);
    const int n = robot->n_bodies, all = robot->n_shapes + 2 * n;
    FigureSolids figure = {.robot = robot, .most = all < FIGURE_SOLIDS ? all : FIGURE_SOLIDS};
    figure.solids = ARENA_NEW(arena, Solid, figure.most);
    figure.leaf = ARENA_NEW(arena, bool, n);
    for (int i = 0; i < n; i++) figure.leaf[i] = true;
    for (int i = 0; i < n; i++) {
        if (robot->bodies[i].parent >= 0) figure.leaf[robot->bodies[i].parent] = false;
    }
    figure.ground = ARENA_NEW(arena, bool, robot->n_shapes + 1);
    figure.fixed = articulated_is_fixed(robot);
    for (int k = 0; k < robot->n_contacts; k++) figure.ground[robot->contacts[k].ground] = true;
    for (int i = 0; i < n; i++) {
        if (!figure_has_shape(&figure, i, 0.02 * size)) figure_add_sticks(&figure, i, 0.015 * size);
    }
    for (int s = 0; s < robot->n_shapes; s++) {
        if (figure_shows(&figure, s)) figure_add_shape(&figure, &robot->shapes[s]);
    }
    *count = figure.count;
    return figure.solids;
}
