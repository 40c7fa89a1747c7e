// A robot as a figure: its shapes as discs and rods, and sticks from joint to joint where a body has none. Bodies are
// placed by forward kinematics from the base and the coordinates of a sample. The view is from the side; points behind
// (y) are shifted up and to the right by half their depth (a cabinet projection).
#include "articulated.h"

#include <math.h>
#include <string.h>

enum { FIGURE_SHAPES = 2048 }; // at most

typedef struct FigurePoint {
    int body;
    double at[3]; // m, in the body's frame
} FigurePoint;

typedef struct ArticulatedFigure {
    Drawing drawing;
    FigurePoint *points;
    Shape *shapes;
    int most;
    int *column; // [n_bodies] of the coordinate in a sample; -1: none
} ArticulatedFigure;

// ---- placing --------------------------------------------------------------------------------------------------------

typedef struct FigureFrame {
    double p[3], q[4], scale;
} FigureFrame;

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

// What the lane's designs make of a body's rest and length.
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

// The frame of a body whose parent's is known.
static void figure_frame(const ArticulatedBody *body, const double *sample, int column, const FigureFrame *parent,
                         FigureFrame *frame)
{
    const double *number = body->number, *axis = number + ARTICULATED_axis_x;
    const double start = number[ARTICULATED_start];
    const double moved = (column >= 0 ? sample[column] : start) - number[ARTICULATED_reference];
    double rest[4], turn[4], at[3], pivot[3];
    memcpy(rest, frame->q, sizeof rest);
    for (int k = 0; k < 3; k++) at[k] = body->seat[k] * (parent != NULL ? parent->scale : 1.0);
    memcpy(frame->p, at, sizeof at);
    if (parent != NULL) {
        articulated_turn(parent->q, at, frame->p);
        for (int k = 0; k < 3; k++) frame->p[k] += parent->p[k];
        figure_times(parent->q, rest, frame->q);
    }
    articulated_turn(frame->q, body->pivot, pivot);
    for (int k = 0; k < 3; k++) frame->p[k] += pivot[k]; // the joint
    if (body->kind == ROBOT_HINGE) {
        figure_about(axis, moved, turn);
        figure_times(frame->q, turn, frame->q);
    }
    articulated_turn(frame->q, axis, at);
    for (int k = 0; k < 3 && body->kind == ROBOT_SLIDE; k++) frame->p[k] += moved * at[k];
    articulated_turn(frame->q, number + ARTICULATED_anchor_x, at);
    for (int k = 0; k < 3; k++) frame->p[k] -= frame->scale * at[k]; // its centre of mass
}

// Centres of mass and orientations of all bodies: frames[n_bodies].
static void figure_frames(const ArticulatedHost *host, const ArticulatedConstants *c, const double *assets,
                          const double *parameter, const double *sample, FigureFrame *frames)
{
    const ArticulatedBody *bodies = (const ArticulatedBody *)assets;
    for (int i = 0; i < c->n_bodies; i++) {
        const ArticulatedBody *body = &bodies[i];
        const FigureFrame *parent = body->parent >= 0 ? &frames[body->parent] : NULL;
        double at[3];
        memcpy(frames[i].q, body->number + ARTICULATED_rest_x, sizeof frames[i].q);
        figure_design(c, assets, parameter, i, frames[i].q, &frames[i].scale);
        if (body->kind != ROBOT_FREE) {
            figure_frame(body, sample, host->figure->column[i], parent, &frames[i]);
            continue;
        }
        memcpy(frames[i].p, i == 0 ? sample + 1 : body->place, sizeof frames[i].p);
        memcpy(frames[i].q, i == 0 ? sample + 4 : body->place + 3, sizeof frames[i].q);
        articulated_turn(frames[i].q, body->number + ARTICULATED_anchor_x, at);
        for (int k = 0; k < 3; k++) frames[i].p[k] -= frames[i].scale * at[k];
    }
}

static void figure_points(const Configured *configured, const double *parameter, const double *sample, double *point)
{
    const ArticulatedHost *host = configured->host;
    const ArticulatedFigure *figure = host->figure;
    const ArticulatedBody *bodies = (const ArticulatedBody *)configured->assets;
    static _Thread_local FigureFrame frames[ROBOT_BODIES_MAX];
    ArticulatedConstants c;
    memcpy(&c, &configured->constants, sizeof c);
    figure_frames(host, &c, configured->assets, parameter, sample, frames);
    for (int k = 0; k < figure->drawing.n_points; k++) {
        const FigurePoint *of = &figure->points[k];
        const FigureFrame *frame = &frames[of->body];
        double at[3];
        for (int a = 0; a < 3; a++) at[a] = frame->scale * (of->at[a] - bodies[of->body].centre[a]);
        articulated_turn(frame->q, at, at);
        point[2 * k] = frame->p[0] + at[0] + 0.43 * (frame->p[1] + at[1]);
        point[2 * k + 1] = frame->p[2] + at[2] + 0.25 * (frame->p[1] + at[1]);
    }
}

// ---- what is drawn --------------------------------------------------------------------------------------------------

static int figure_point(ArticulatedFigure *figure, int body, const double *at)
{
    figure->points[figure->drawing.n_points] = (FigurePoint){body, {at[0], at[1], at[2]}};
    return figure->drawing.n_points++;
}

static void figure_shape(ArticulatedFigure *figure, const char *name, int body, const double *from, const double *to,
                         double width)
{
    if (figure->drawing.n_shapes == figure->most) return;
    const int first = figure_point(figure, body, from), last = to != NULL ? figure_point(figure, body, to) : first;
    figure->shapes[figure->drawing.n_shapes++] =
        (Shape){.name = name, .kind = to != NULL ? SHAPE_ROD : SHAPE_DISC, .from = first, .to = last, .width = width};
}

// A shape of the file: a box is a rod along its longest edge, as thick as the others in the mean.
static void figure_of_shape(ArticulatedFigure *figure, const RobotShape *shape)
{
    const double *size = shape->size;
    const bool round = shape->kind == ROBOT_CAPSULE || shape->kind == ROBOT_CYLINDER;
    int longest = round ? 2 : 0;
    double half[3] = {0, 0, 0}, low[3], high[3], width = 2 * size[0];
    if (shape->kind == ROBOT_SPHERE) {
        figure_shape(figure, "foot", shape->body, shape->p, NULL, width);
        return;
    }
    for (int k = 1; k < 3 && !round; k++) longest = size[k] > size[longest] ? k : longest;
    if (!round) width = size[0] + size[1] + size[2] - size[longest];
    half[longest] = round ? size[1] : fmax(size[longest] - 0.5 * width, 0.0);
    articulated_turn(shape->q, half, half);
    for (int k = 0; k < 3; k++) {
        low[k] = shape->p[k] - half[k];
        high[k] = shape->p[k] + half[k];
    }
    figure_shape(figure, shape->body == 0 ? "body" : "leg", shape->body, low, high, width);
}

// Sticks from a body's joint to those of its children, or to its centre and beyond if it has none.
static void figure_sticks(ArticulatedFigure *figure, const Robot *robot, int body, double width)
{
    const RobotBody *of = &robot->bodies[body];
    bool leaf = true;
    for (int i = body + 1; i < robot->n_bodies; i++) {
        const RobotBody *child = &robot->bodies[i];
        double seat[3];
        if (child->parent != body) continue;
        articulated_turn(child->q, child->joint.anchor, seat);
        for (int k = 0; k < 3; k++) seat[k] += child->p[k];
        figure_shape(figure, body == 0 ? "body" : "leg", body, of->joint.anchor, seat, width);
        leaf = false;
    }
    double end[3];
    for (int k = 0; k < 3; k++) end[k] = 2 * of->centre[k] - of->joint.anchor[k];
    if (leaf) figure_shape(figure, "leg", body, of->joint.anchor, end, width);
}

// The length of the longest way from the root, by which sticks are thick.
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

static bool figure_has_shape(const Robot *robot, int body, double least)
{
    for (int s = 0; s < robot->n_shapes; s++) {
        const RobotShape *shape = &robot->shapes[s];
        if (shape->body == body && fmax(shape->size[0], fmax(shape->size[1], shape->size[2])) > least) return true;
    }
    return false;
}

static bool figure_shows(const RobotShape *shape) { return shape->body >= 0 && shape->kind != ROBOT_PLANE; }

const struct ArticulatedFigure *articulated_figure(const ArticulatedHost *host, const ArticulatedBody *bodies,
                                                   Arena *arena, const Drawing **drawing)
{
    const Robot *robot = host->robot;
    ArticulatedFigure *figure = ARENA_NEW(arena, ArticulatedFigure, 1);
    const double size = figure_size(robot);
    const int n = robot->n_bodies;
    figure->most = robot->n_shapes + 2 * n < FIGURE_SHAPES ? robot->n_shapes + 2 * n : FIGURE_SHAPES;
    figure->points = ARENA_NEW(arena, FigurePoint, 2 * figure->most);
    figure->shapes = ARENA_NEW(arena, Shape, figure->most);
    figure->column = ARENA_NEW(arena, int, n);
    figure->drawing = (Drawing){.shapes = figure->shapes, .phase = -1, .points = figure_points};
    for (int i = 0; i < n; i++)
        figure->column[i] = bodies[i].joint >= 0 ? ARTICULATED_BASE_COLUMNS + bodies[i].joint : -1;
    for (int i = 0; i < n; i++) {
        if (!figure_has_shape(robot, i, 0.02 * size)) figure_sticks(figure, robot, i, 0.03 * size);
    }
    for (int s = 0; s < robot->n_shapes; s++) {
        if (figure_shows(&robot->shapes[s])) figure_of_shape(figure, &robot->shapes[s]);
    }
    *drawing = &figure->drawing;
    return figure;
}
