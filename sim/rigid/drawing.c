// A world as a stick figure: rods, springs and pins where they act, arms from the bodies' centres to them, and a free
// body as its three axes, as long as the box that turns like it. Seen from the side, what is behind (y) drawn up and to
// the right at half its length (a cabinet projection); a mechanism that lies flat on the ground from above.
#include "rigid.h"

#include <math.h>
#include <string.h>

enum { DRAWN_SHAPES_MAX = 2 * DRAWING_POINTS_MAX };
#define DRAWN_ALIKE 1e-9 // m: points of a body that are one

// A point of a body, in its axes.
typedef struct RigidDrawn {
    int body, column; // column of its state in a sample; -1: it never moves
    double at[3];
} RigidDrawn;

typedef struct RigidFigure {
    Drawing drawing;
    RigidDrawn points[DRAWING_POINTS_MAX];
    Shape shapes[DRAWN_SHAPES_MAX];
    bool above; // seen from there
} RigidFigure;

// Where a body's state stands in a sample, -1: it is fixed, -2: it is not recorded.
static int drawn_column(const RigidConstants *c, const double *assets, int body)
{
    if (((const RigidBody *)assets)[body].fixed != 0) return -1;
    for (int r = 0; r < c->n_recorded; r++) {
        if (rigid_list(assets, c->recorded)[r] == body) return 1 + RIGID_STATE * r;
    }
    return -2;
}

// The point's place among those that are drawn, -1: it can't be.
static int drawn_point(RigidFigure *figure, const RigidConstants *c, const double *assets, int body, const double *at)
{
    const int column = drawn_column(c, assets, body), n = figure->drawing.n_points;
    for (int k = 0; k < n; k++) {
        const RigidDrawn *point = &figure->points[k];
        if (point->body == body && fabs(point->at[0] - at[0]) < DRAWN_ALIKE &&
            fabs(point->at[1] - at[1]) < DRAWN_ALIKE && fabs(point->at[2] - at[2]) < DRAWN_ALIKE)
            return k;
    }
    if (column == -2 || n == DRAWING_POINTS_MAX) return -1;
    figure->points[n] = (RigidDrawn){.body = body, .column = column, .at = {at[0], at[1], at[2]}};
    return figure->drawing.n_points++;
}

static void drawn_shape(RigidFigure *figure, const char *name, ShapeKind kind, int from, int to, double width)
{
    if (from < 0 || to < 0 || figure->drawing.n_shapes == DRAWN_SHAPES_MAX) return;
    for (int s = 0; s < figure->drawing.n_shapes; s++) {
        const Shape *shape = &figure->shapes[s];
        if (shape->kind == kind && shape->from == from && shape->to == to) return;
    }
    figure->shapes[figure->drawing.n_shapes++] =
        (Shape){.name = name, .kind = kind, .from = from, .to = to, .width = width};
}

// ---- what stands where ----------------------------------------------------------------------------------------------

static const double drawn_centre[3] = {0, 0, 0};

// Sticks from a body's centre to where something holds it; a pin there.
static int drawn_arm(RigidFigure *figure, const RigidConstants *c, const double *assets, int body, const double *at,
                     double width)
{
    const int point = drawn_point(figure, c, assets, body, at);
    if (((const RigidBody *)assets)[body].fixed != 0) return point;
    const int centre = drawn_point(figure, c, assets, body, drawn_centre);
    if (centre != point) drawn_shape(figure, "body", SHAPE_ROD, centre, point, width);
    return point;
}

static void drawn_rows(RigidFigure *figure, const RigidConstants *c, const double *assets, double width)
{
    const RigidRow *rows = (const RigidRow *)(assets + c->rows);
    for (int k = 0; k < c->n_rows; k++) {
        if (rows[k].kind != RIGID_DISTANCE && rows[k].kind != RIGID_ALONG) continue;
        const int i = drawn_arm(figure, c, assets, rows[k].i, rows[k].at_i, width);
        const int j = drawn_arm(figure, c, assets, rows[k].j, rows[k].at_j, width);
        if (rows[k].kind == RIGID_DISTANCE)
            drawn_shape(figure, "leg", SHAPE_ROD, i, j, 0.6 * width);
        else
            drawn_shape(figure, "hip", SHAPE_DISC, i, i, 1.6 * width);
    }
}

static void drawn_forces(RigidFigure *figure, const RigidConstants *c, const double *assets, double width)
{
    const RigidForce *forces = (const RigidForce *)(assets + c->forces);
    for (int f = 0; f < c->n_forces; f++) {
        if (forces[f].kind != RIGID_SPRING && forces[f].kind != RIGID_TETHER) continue;
        const int i = drawn_arm(figure, c, assets, forces[f].i, forces[f].at_i, width);
        const int j = drawn_arm(figure, c, assets, forces[f].j, forces[f].at_j, width);
        drawn_shape(figure, "spring", forces[f].kind == RIGID_SPRING ? SHAPE_SPRING : SHAPE_ROD, i, j,
                    forces[f].kind == RIGID_SPRING ? 3.0 * width : 0.3 * width);
    }
}

// The axes of a body that nothing holds elsewhere than at its centre: of a box with its inertia, I_x = m (b^2 + c^2)/3
// with half lengths a, b, c. A ball has none.
static void drawn_axes(RigidFigure *figure, const RigidConstants *c, const double *assets, int number, double width)
{
    const RigidBody *body = (const RigidBody *)assets + number;
    const double *I = body->inertia, sum = I[0] + I[1] + I[2];
    if (I[0] == I[1] && I[1] == I[2]) return;
    for (int s = 0; s < figure->drawing.n_shapes; s++) {
        if (figure->points[figure->shapes[s].to].body == number && figure->shapes[s].kind == SHAPE_ROD) return;
    }
    for (int k = 0; k < 3; k++) {
        const double half = sqrt(fmax(1.5 * (sum - 2.0 * I[k]) / body->mass, 0.0));
        double ends[2][3] = {{0, 0, 0}, {0, 0, 0}};
        ends[0][k] = -half;
        ends[1][k] = half;
        drawn_shape(figure, "body", SHAPE_ROD, drawn_point(figure, c, assets, number, ends[0]),
                    drawn_point(figure, c, assets, number, ends[1]), width);
    }
}

// ---- where it is seen from ------------------------------------------------------------------------------------------

// v turned by the quaternion q: v + 2 w (u x v) + 2 u x (u x v)
static void drawn_place(const double *p, const double *q, const double *at, double *out)
{
    const double t[3] = {2.0 * (q[1] * at[2] - q[2] * at[1]), 2.0 * (q[2] * at[0] - q[0] * at[2]),
                         2.0 * (q[0] * at[1] - q[1] * at[0])};
    out[0] = p[0] + at[0] + q[3] * t[0] + q[1] * t[2] - q[2] * t[1];
    out[1] = p[1] + at[1] + q[3] * t[1] + q[2] * t[0] - q[0] * t[2];
    out[2] = p[2] + at[2] + q[3] * t[2] + q[0] * t[1] - q[1] * t[0];
}

static void drawn_project(bool above, const double *place, double *point)
{
    point[0] = above ? place[0] : place[0] + 0.43 * place[1];
    point[1] = above ? place[1] : place[2] + 0.25 * place[1];
}

static void drawn_points(const Configured *configured, const double *parameter, const double *sample, double *point)
{
    const RigidFigure *figure = ((const RigidHost *)configured->host)->figure;
    const RigidBody *bodies = (const RigidBody *)configured->assets;
    (void)parameter;
    for (int k = 0; k < figure->drawing.n_points; k++) {
        const RigidDrawn *drawn = &figure->points[k];
        const RigidBody *body = &bodies[drawn->body];
        const double *state = drawn->column >= 0 ? sample + drawn->column : NULL;
        double place[3];
        drawn_place(state != NULL ? state : body->p, state != NULL ? state + 3 : body->q, drawn->at, place);
        drawn_project(figure->above, place, point + 2 * (int64_t)k);
    }
}

// What lies and moves in the plane z = const without gravity.
static bool drawn_is_flat(const RigidConstants *c, const double *assets)
{
    const RigidBody *bodies = (const RigidBody *)assets;
    for (int r = 0; r < c->n_recorded; r++) {
        const RigidBody *body = &bodies[rigid_list(assets, c->recorded)[r]];
        if (body->gravity != 0.0 || body->v[2] != 0.0 || body->w[0] != 0.0 || body->w[1] != 0.0 ||
            body->p[2] != bodies[rigid_list(assets, c->recorded)[0]].p[2])
            return false;
    }
    return c->n_recorded > 1;
}

// How far points are apart at the start (m): widths are parts of it.
static double drawn_size(const RigidConstants *c, const double *assets)
{
    const RigidBody *bodies = (const RigidBody *)assets;
    const RigidRow *rows = (const RigidRow *)(assets + c->rows);
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY}, size = 0.0;
    for (int k = -c->n_recorded; k < 2 * c->n_rows; k++) {
        const RigidRow *row = k >= 0 ? &rows[k / 2] : NULL;
        const int number = row == NULL ? rigid_list(assets, c->recorded)[-1 - k] : k % 2 == 0 ? row->i : row->j;
        if (row != NULL && row->kind != RIGID_DISTANCE && row->kind != RIGID_ALONG) continue;
        if (drawn_column(c, assets, number) == -2) continue;
        double place[3];
        drawn_place(bodies[number].p, bodies[number].q,
                    row == NULL  ? drawn_centre
                    : k % 2 == 0 ? row->at_i
                                 : row->at_j,
                    place);
        for (int a = 0; a < 3; a++) {
            low[a] = fmin(low[a], place[a]);
            high[a] = fmax(high[a], place[a]);
        }
    }
    for (int a = 0; a < 3; a++) size = fmax(size, high[a] - low[a]);
    return size > 0.0 ? size : 1.0;
}

// Thickness of sticks (m): a part of the whole, and less where they are many and short.
static double drawn_width(const RigidConstants *c, const double *assets)
{
    const RigidRow *rows = (const RigidRow *)(assets + c->rows);
    const double whole = 0.025 * drawn_size(c, assets);
    double sum = 0.0, count = 0.0;
    for (int k = 0; k < c->n_rows; k++) {
        const double *i = rows[k].at_i, *j = rows[k].at_j;
        const double rod = rows[k].kind == RIGID_DISTANCE ? rows[k].target : 0.0;
        const double arm = fmax(rod, fmax(sqrt(i[0] * i[0] + i[1] * i[1] + i[2] * i[2]),
                                          ((const RigidBody *)assets)[rows[k].j].fixed != 0
                                              ? 0.0
                                              : sqrt(j[0] * j[0] + j[1] * j[1] + j[2] * j[2])));
        sum += arm;
        count += arm > 0.0;
    }
    return count > 0.0 ? fmin(whole, 0.1 * sum / count) : whole;
}

const struct RigidFigure *rigid_figure(const RigidConstants *c, const double *assets, Arena *arena,
                                       const Drawing **drawing)
{
    RigidFigure *figure = ARENA_NEW(arena, RigidFigure, 1);
    const double width = drawn_width(c, assets);
    figure->above = drawn_is_flat(c, assets);
    figure->drawing = (Drawing){.shapes = figure->shapes, .phase = -1, .points = drawn_points};
    drawn_rows(figure, c, assets, width);
    drawn_forces(figure, c, assets, width);
    for (int r = 0; r < c->n_recorded; r++) drawn_axes(figure, c, assets, rigid_list(assets, c->recorded)[r], width);
    for (int r = 0; r < c->n_recorded; r++) {
        const int centre = drawn_point(figure, c, assets, rigid_list(assets, c->recorded)[r], drawn_centre);
        drawn_shape(figure, "foot", SHAPE_DISC, centre, centre, 2.4 * width);
    }
    for (int k = figure->drawing.n_points - 1; k >= 0; k--) { // a camera stands with what stands
        if (figure->points[k].column == -1) figure->drawing.focus = k;
    }
    *drawing = &figure->drawing;
    return figure;
}
