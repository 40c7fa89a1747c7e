// Where the solids of a robot are (figure.c). Bodies are placed by forward kinematics from the coordinates of a sample,
// so a gap that opens in a joint is not seen.
#include "articulated.h"

#include "../spatial/figure.h"

#include "ground.h"

#include <math.h>
#include <string.h>

// A point of the plane view.
typedef struct FigurePoint {
    int body;
    double at[3]; // m, from the body's centre of mass, body axes
} FigurePoint;

typedef struct ArticulatedFigure {
    Drawing drawing;
    FigurePoint *points;
    Shape *shapes;
    const int *column; // [n_bodies] of the joint's first coordinate in a sample; -1: a weld
} ArticulatedFigure;

// ---- placing --------------------------------------------------------------------------------------------------------

// The body's axes stand at its centre of mass.
typedef struct FigureFrame {
    double p[3], q[4], scale;
} FigureFrame;
_Static_assert(sizeof(FigureFrame) == POSE_NUMBERS * sizeof(double), "frames are the poses of a drawing");

// out = p q
static void figure_times(const double *p, const double *q, double *out)
{
    const double r[4] = {
        p[3] * q[0] + p[0] * q[3] + p[1] * q[2] - p[2] * q[1], p[3] * q[1] + p[1] * q[3] + p[2] * q[0] - p[0] * q[2],
        p[3] * q[2] + p[2] * q[3] + p[0] * q[1] - p[1] * q[0], p[3] * q[3] - p[0] * q[0] - p[1] * q[1] - p[2] * q[2]};
    memcpy(out, r, sizeof r);
}

static void figure_about(const double *axis, double angle, double *q)
{
    for (int k = 0; k < 3; k++) q[k] = axis[k] * portable_sin(0.5 * angle);
    q[3] = portable_cos(0.5 * angle);
}

// p += factor * (q turns v)
static void figure_move(double *p, const double *q, const double *v, double factor)
{
    double turned[3];
    figure_turn(q, v, turned);
    for (int k = 0; k < 3; k++) p[k] += factor * turned[k];
}

// A body's rest and length by the lane's designs.
static void figure_design(const ArticulatedConstants *c, const double *assets, const double *parameter, int body,
                          double *rest, double *scale)
{
    const ArticulatedDesign *designs = (const ArticulatedDesign *)(assets + c->designs);
    *scale = 1.0;
    for (int i = 0; i < c->n_designs; i++) {
        const double value = parameter[designs[i].parameter];
        double axis[3] = {0, 0, 0}, turn[4];
        if (designs[i].body != body) continue;
        if (designs[i].kind == ARTICULATED_LENGTH) *scale *= value;
        if (designs[i].kind != ARTICULATED_ROTATE) continue;
        axis[designs[i].axis] = 1.0;
        figure_about(axis, designs[i].sign * value, turn);
        figure_times(turn, rest, rest);
    }
}

// Turns or moves a body by the coordinates of its joint, where the frame stands at the joint.
static void figure_joint(const ArticulatedBody *body, const double *coordinate, FigureFrame *frame)
{
    const double *axis = body->number + ARTICULATED_axis_x;
    double turn[4];
    switch ((RobotJointKind)body->kind) {
    case ROBOT_BALL: figure_times(frame->q, coordinate, frame->q); break;
    case ROBOT_HINGE:
        figure_about(axis, *coordinate - body->number[ARTICULATED_reference], turn);
        figure_times(frame->q, turn, frame->q);
        break;
    case ROBOT_SLIDE: figure_move(frame->p, frame->q, axis, *coordinate - body->number[ARTICULATED_reference]); break;
    case ROBOT_FREE:
    case ROBOT_WELD: break;
    }
}

// A body that its parent carries; parent NULL: the world. frame->q: the body's rest.
static void figure_carry(const ArticulatedBody *body, const double *coordinate, const FigureFrame *parent,
                         FigureFrame *frame)
{
    if (parent != NULL) {
        memcpy(frame->p, parent->p, sizeof frame->p);
        figure_move(frame->p, parent->q, body->seat, parent->scale);
        figure_times(parent->q, frame->q, frame->q);
    } else {
        memcpy(frame->p, body->seat, sizeof frame->p);
    }
    figure_move(frame->p, frame->q, body->pivot, 1.0);
    figure_joint(body, coordinate, frame);
    figure_move(frame->p, frame->q, body->number + ARTICULATED_anchor_x, -frame->scale);
}

// pose: FigureFrame[n_bodies]
static void figure_poses(const Configured *configured, const double *parameter, const double *sample, double *pose)
{
    const ArticulatedHost *host = configured->host;
    const ArticulatedBody *bodies = (const ArticulatedBody *)configured->assets;
    const int *column = host->figure->column;
    FigureFrame *frames = (FigureFrame *)pose;
    ArticulatedConstants c;
    memcpy(&c, &configured->constants, sizeof c);
    for (int i = 0; i < c.n_bodies; i++) {
        const ArticulatedBody *body = &bodies[i];
        const double *coordinate = column[i] >= 0 ? sample + column[i] : NULL;
        FigureFrame *frame = &frames[i];
        memcpy(frame->q, body->number + ARTICULATED_rest_x, sizeof frame->q);
        figure_design(&c, configured->assets, parameter, i, frame->q, &frame->scale);
        if (body->kind == ROBOT_FREE) {
            memcpy(frame->p, coordinate, sizeof frame->p);
            memcpy(frame->q, coordinate + 3, sizeof frame->q);
            figure_move(frame->p, frame->q, body->number + ARTICULATED_anchor_x, -frame->scale);
        } else {
            figure_carry(body, coordinate, body->parent >= 0 ? &frames[body->parent] : NULL, frame);
        }
    }
}

static void figure_points(const Configured *configured, const double *parameter, const double *sample, double *point)
{
    const ArticulatedFigure *figure = ((const ArticulatedHost *)configured->host)->figure;
    static _Thread_local FigureFrame frames[ROBOT_BODIES_MAX];
    figure_poses(configured, parameter, sample, (double *)frames);
    for (int k = 0; k < figure->drawing.n_points; k++) {
        static const FigureFrame world = {.q = {0, 0, 0, 1}, .scale = 1};
        const FigureFrame *frame = figure->points[k].body >= 0 ? &frames[figure->points[k].body] : &world;
        double p[3];
        memcpy(p, frame->p, sizeof p);
        figure_move(p, frame->q, figure->points[k].at, frame->scale);
        figure_project(p, point + 2 * k);
    }
}

#define FIGURE_STEEP 0.01 // a plane whose normal rises no more is not drawn

// ---- the ground and the gait ----------------------------------------------------------------------------------------

// x and y from the grid's middle
static double figure_height(const Configured *configured, const ArticulatedConstants *c, double x, double y)
{
    const TerrainGrid grid = {configured->assets + c->heights, c->n_rows, c->n_columns, c->spacing};
    const double half_x = 0.5 * c->spacing * (c->n_columns - 1), half_y = 0.5 * c->spacing * (c->n_rows - 1);
    return terrain_grid(&grid, x + half_x, y + half_y).height;
}

// The highest plane or height field of the robot's file there; where there is none, the edge of a height field.
static double figure_floor(const double *assets, const ArticulatedConstants *c, double x, double y)
{
    const ArticulatedSurface *surfaces = (const ArticulatedSurface *)(assets + c->surfaces);
    double highest = -INFINITY, edge = -INFINITY;
    for (int k = 0; k < c->n_surfaces; k++) {
        const ArticulatedSurface *floor = &surfaces[k];
        mask inside;
        if (floor->kind == ARTICULATED_ON_HFIELD) {
            const double height = ground_of_field(assets + c->fields, floor, x, y, &inside).height;
            if (inside) highest = fmax(highest, height);
            edge = fmax(edge, height);
        }
        if (floor->kind == ARTICULATED_ON_PLANE && floor->axes[8] > FIGURE_STEEP)
            highest = fmax(highest, ground_of_plane(floor, x, y).height);
    }
    return isfinite(highest) ? highest : edge;
}

double articulated_ground(const Configured *configured, const double *parameter, double x, double y)
{
    ArticulatedConstants c;
    memcpy(&c, &configured->constants, sizeof c);
    const double *of = parameter + c.terrain_row;
    if (c.terrain == TERRAIN_file) return figure_floor(configured->assets, &c, x, y);
    if (c.terrain == TERRAIN_heights) return of[2] * figure_height(configured, &c, x - of[0], y - of[1]);
    const TerrainNumbers numbers = {c.n_terrain > 0 ? of[0] : 0.0, c.n_terrain > 1 ? of[1] : 0.0,
                                    c.n_terrain > 2 ? of[2] : 1.0, configured->assets + c.table, c.n_table};
    return terrain_along((TerrainKind)c.terrain, &numbers, x).height;
}

// A terrain of heights is drawn by its profile along x, at y = 0.
static double figure_ground(const Configured *configured, const double *parameter, double x)
{
    return articulated_ground(configured, parameter, x, 0.0);
}

static double figure_period(const Configured *configured, const double *parameter)
{
    ArticulatedConstants c;
    memcpy(&c, &configured->constants, sizeof c);
    const double frequency = parameter[ARTICULATED_PARAMETER_gait_frequency];
    return (c.uses & CONTROL_SWINGS) != 0 && frequency > 0.0 ? 1.0 / frequency : 0.0;
}

// ---- the plane view -------------------------------------------------------------------------------------------------

// A point on a solid's axis `axis`, `at` from its centre (m).
static int figure_point(ArticulatedFigure *figure, const Solid *solid, int axis, double at)
{
    double along[3] = {0, 0, 0};
    FigurePoint *point = &figure->points[figure->drawing.n_points];
    along[axis] = at;
    *point = (FigurePoint){.body = solid->body, .at = {solid->p[0], solid->p[1], solid->p[2]}};
    figure_move(point->at, solid->q, along, 1.0);
    return figure->drawing.n_points++;
}

// A ball is a disc. A box is a rod along its longest edge, as thick as its other edges in the mean.
static void figure_shape(ArticulatedFigure *figure, const Solid *solid)
{
    const double *size = solid->size;
    int axis = 2;
    double half = size[1], width = 2 * size[0];
    if (solid->kind == SOLID_BOX) {
        axis = size[1] > size[0] ? 1 : 0;
        axis = size[2] > size[axis] ? 2 : axis;
        width = size[0] + size[1] + size[2] - size[axis];
        half = fmax(size[axis] - 0.5 * width, 0.0);
    }
    const bool ball = solid->kind == SOLID_BALL;
    const int from = figure_point(figure, solid, axis, ball ? 0.0 : -half);
    const int to = ball ? from : figure_point(figure, solid, axis, half);
    figure->shapes[figure->drawing.n_shapes++] =
        (Shape){.name = solid->name, .kind = ball ? SHAPE_DISC : SHAPE_ROD, .from = from, .to = to, .width = width};
}

// Is there a ground to draw? With the planes of a file one that is not steep.
static bool figure_has_ground(const ArticulatedHost *host, const ArticulatedBody *bodies)
{
    static const double up[3] = {0, 0, 1};
    const Robot *robot = host->robot;
    bool ground = false;
    double normal[3];
    for (int i = 0; i < robot->n_bodies && articulated_replaces(host); i++) ground |= bodies[i].n_points > 0;
    for (int k = 0; k < robot->n_contacts && host->terrain == TERRAIN_file; k++) {
        const RobotShape *shape = &robot->shapes[robot->contacts[k].ground];
        figure_turn(shape->q, up, normal);
        ground |= articulated_is_floor(shape) && normal[2] > FIGURE_STEEP;
    }
    return ground;
}

static const DrawnBody *figure_bodies(const ArticulatedHost *host, const ArticulatedBody *bodies, Arena *arena)
{
    const int n = host->robot->n_bodies;
    DrawnBody *drawn = ARENA_NEW(arena, DrawnBody, n);
    for (int i = 0; i < n; i++) {
        drawn[i].name = host->bodies[i];
        for (int k = 0; k < 3; k++) drawn[i].origin[k] = -bodies[i].centre[k];
    }
    return drawn;
}

const struct ArticulatedFigure *articulated_figure(const ArticulatedHost *host, const ArticulatedBody *bodies,
                                                   const int *column, Arena *arena, const Drawing **drawing)
{
    int count;
    const Solid *solids = articulated_solids(host->robot, arena, &count);
    ArticulatedFigure *figure = ARENA_NEW(arena, ArticulatedFigure, 1);
    *figure = (ArticulatedFigure){.points = ARENA_NEW(arena, FigurePoint, 2 * count + 1),
                                  .shapes = ARENA_NEW(arena, Shape, count),
                                  .column = column};
    figure->points[0] = (FigurePoint){.body = 0}; // a camera follows the base
    figure->drawing = (Drawing){.n_points = 1,
                                .shapes = figure->shapes,
                                .phase = -1,
                                .points = figure_points,
                                .ground = figure_has_ground(host, bodies) ? figure_ground : NULL,
                                .n_solids = count,
                                .n_bodies = host->robot->n_bodies,
                                .solids = solids,
                                .bodies = figure_bodies(host, bodies, arena),
                                .poses = figure_poses,
                                .fixed = articulated_is_fixed(host->robot),
                                .period = figure_period};
    for (int s = 0; s < count; s++) figure_shape(figure, &solids[s]);
    *drawing = &figure->drawing;
    return figure;
}
