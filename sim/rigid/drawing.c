// A world as a stick figure: rods, springs and pins where they act, and arms from the bodies' centres to them. A free
// body is drawn as its three axes, with the lengths of a box of the same inertia. The view is from the side; a
// mechanism that moves in a horizontal plane is seen from above.
#include "rigid.h"

#include "../spatial/figure.h"

#include <math.h>
#include <string.h>

enum { DRAWN_WHOLE = 64 }; // moving bodies: larger worlds are drawn only as sticks from joint to joint
#define DRAWN_ALIKE 1e-9   // m: points of a body that are closer are one

// A point of a body, in its axes.
typedef struct RigidDrawn {
    int body, column; // column of its state in a sample of all moving bodies; -1: it is fixed
    double at[3];
    int next;  // of the body's points; -1: none
    int shape; // last of those that start here; -1: none
} RigidDrawn;

typedef struct RigidFigure {
    Drawing drawing;
    RigidDrawn *points;
    Shape *shapes;
    int *shape_next;   // [n_shapes] of those that start at the same point
    int *first, *last; // [n_bodies] of a body's points; in a large world the end of the last stick; -1: none
    bool *held;        // [n_bodies] a stick ends there
    int points_most, shapes_most;
    bool above, whole; // view from above; all of each body is drawn
} RigidFigure;

// Column of each body's state in a sample of all moving bodies, -1: it is fixed.
static int *drawn_columns(const RigidConstants *c, const double *assets, Arena *arena)
{
    int *column = ARENA_NEW(arena, int, c->n_bodies), moving = 0;
    for (int b = 0; b < c->n_bodies; b++)
        column[b] = ((const RigidBody *)assets)[b].fixed != 0 ? -1 : 1 + RIGID_STATE * moving++;
    return column;
}

// Index of the point among those that are drawn.
static int drawn_point(RigidFigure *figure, const int *column, int body, const double *at)
{
    const int n = figure->drawing.n_points;
    for (int k = figure->first[body]; k >= 0; k = figure->points[k].next) {
        const RigidDrawn *point = &figure->points[k];
        if (fabs(point->at[0] - at[0]) < DRAWN_ALIKE && fabs(point->at[1] - at[1]) < DRAWN_ALIKE &&
            fabs(point->at[2] - at[2]) < DRAWN_ALIKE)
            return k;
    }
    if (n == figure->points_most) return -1;
    figure->points[n] = (RigidDrawn){
        .body = body, .column = column[body], .at = {at[0], at[1], at[2]}, .next = figure->first[body], .shape = -1};
    figure->first[body] = n;
    return figure->drawing.n_points++;
}

static void drawn_shape(RigidFigure *figure, const char *name, ShapeKind kind, int from, int to, double width)
{
    const int n = figure->drawing.n_shapes;
    if (from < 0 || to < 0 || n == figure->shapes_most) return;
    for (int s = figure->points[from].shape; s >= 0; s = figure->shape_next[s]) {
        if (figure->shapes[s].kind == kind && figure->shapes[s].to == to) return;
    }
    figure->shapes[n] = (Shape){.name = name, .kind = kind, .from = from, .to = to, .width = width};
    figure->shape_next[n] = figure->points[from].shape;
    figure->points[from].shape = n;
    figure->held[figure->points[to].body] |= kind == SHAPE_ROD;
    figure->drawing.n_shapes++;
}

// ---- what stands where ----------------------------------------------------------------------------------------------

static void drawn_position(const double *p, const double *q, const double *at, double *out)
{
    figure_turn(q, at, out);
    for (int k = 0; k < 3; k++) out[k] += p[k];
}

static const double drawn_centre[3] = {0, 0, 0};

// In a large world: a stick of the body between two points at which it is held.
static void drawn_join(RigidFigure *figure, int body, int point, double width)
{
    if (figure->last[body] >= 0 && figure->last[body] != point) {
        drawn_shape(figure, "body", SHAPE_ROD, figure->last[body], point, width);
        figure->held[body] = true;
    }
    figure->last[body] = point;
}

// A stick from a body's centre to a point at which it is held, and a pin there.
static int drawn_arm(RigidFigure *figure, const int *column, int body, const double *at, double width)
{
    const int point = drawn_point(figure, column, body, at);
    if (column[body] < 0) return point;
    if (figure->whole) {
        const int centre = drawn_point(figure, column, body, drawn_centre);
        if (centre != point) drawn_shape(figure, "body", SHAPE_ROD, centre, point, width);
    } else {
        drawn_join(figure, body, point, width);
    }
    return point;
}

// The points at which a row acts on its bodies. In a large world they are one point if they coincide at the start.
static void drawn_ends(RigidFigure *figure, const RigidRow *row, const double *assets, const int *column, double width,
                       int *ends)
{
    const RigidBody *i = (const RigidBody *)assets + row->i, *j = (const RigidBody *)assets + row->j;
    double at_i[3], at_j[3], apart = 0.0;
    ends[0] = drawn_arm(figure, column, row->i, row->at_i, width);
    drawn_position(i->p, i->q, row->at_i, at_i);
    drawn_position(j->p, j->q, row->at_j, at_j);
    for (int a = 0; a < 3; a++) apart = fmax(apart, fabs(at_i[a] - at_j[a]));
    if (figure->whole || column[row->i] < 0 || apart > 1e3 * DRAWN_ALIKE) {
        ends[1] = drawn_arm(figure, column, row->j, row->at_j, width);
        return;
    }
    ends[1] = ends[0];
    if (column[row->j] >= 0) drawn_join(figure, row->j, ends[0], width);
}

static void drawn_rows(RigidFigure *figure, const RigidConstants *c, const double *assets, const int *column,
                       double width)
{
    const RigidRow *rows = (const RigidRow *)(assets + c->rows);
    for (int k = 0; k < c->n_rows; k++) {
        int ends[2];
        if (rows[k].kind != RIGID_DISTANCE && rows[k].kind != RIGID_ALONG) continue;
        drawn_ends(figure, &rows[k], assets, column, width, ends);
        if (rows[k].kind == RIGID_DISTANCE)
            drawn_shape(figure, "leg", SHAPE_ROD, ends[0], ends[1], 0.6 * width);
        else if (figure->whole)
            drawn_shape(figure, "hip", SHAPE_DISC, ends[0], ends[0], 1.6 * width);
    }
}

static void drawn_forces(RigidFigure *figure, const RigidConstants *c, const double *assets, const int *column,
                         double width)
{
    const RigidForce *forces = (const RigidForce *)(assets + c->forces);
    for (int f = 0; f < c->n_forces; f++) {
        if (forces[f].kind != RIGID_SPRING && forces[f].kind != RIGID_TETHER) continue;
        const int i = drawn_arm(figure, column, forces[f].i, forces[f].at_i, width);
        const int j = drawn_arm(figure, column, forces[f].j, forces[f].at_j, width);
        drawn_shape(figure, "spring", forces[f].kind == RIGID_SPRING ? SHAPE_SPRING : SHAPE_ROD, i, j,
                    forces[f].kind == RIGID_SPRING ? 3.0 * width : 0.3 * width);
    }
}

// The axes of a body that is held only at its centre, or not at all: of a box with its inertia, I_x = m (b^2 + c^2)/3
// with half lengths a, b, c. A ball has none.
static void drawn_axes(RigidFigure *figure, const double *assets, const int *column, int number, double width)
{
    const RigidBody *body = (const RigidBody *)assets + number;
    const double *I = body->inertia, sum = I[0] + I[1] + I[2];
    if ((I[0] == I[1] && I[1] == I[2]) || figure->held[number]) return;
    for (int k = 0; k < 3; k++) {
        const double half = sqrt(fmax(1.5 * (sum - 2.0 * I[k]) / body->mass, 0.0));
        double ends[2][3] = {{0, 0, 0}, {0, 0, 0}};
        ends[0][k] = -half;
        ends[1][k] = half;
        drawn_shape(figure, "body", SHAPE_ROD, drawn_point(figure, column, number, ends[0]),
                    drawn_point(figure, column, number, ends[1]), width);
    }
}

// ---- where it is seen from ------------------------------------------------------------------------------------------

static void drawn_project(bool above, const double *position, double *point)
{
    if (above)
        memcpy(point, position, 2 * sizeof *point);
    else
        figure_project(position, point);
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
        double position[3];
        drawn_position(state != NULL ? state : body->p, state != NULL ? state + 3 : body->q, drawn->at, position);
        drawn_project(figure->above, position, point + 2 * (int64_t)k);
    }
}

// pose[n_moving][POSE_NUMBERS]
static void drawn_poses(const Configured *configured, const double *parameter, const double *sample, double *pose)
{
    enum { NUMBERS = 7 }; // position, quaternion
    (void)parameter;
    for (int b = 0; b < configured->drawing->n_bodies; b++) {
        memcpy(pose + (ptrdiff_t)b * POSE_NUMBERS, sample + 1 + (ptrdiff_t)b * RIGID_STATE, NUMBERS * sizeof *pose);
        pose[(ptrdiff_t)b * POSE_NUMBERS + NUMBERS] = 1.0;
    }
}

static const DrawnBody *drawn_names(const char *const *moving, int n, Arena *arena)
{
    DrawnBody *bodies = ARENA_NEW(arena, DrawnBody, n);
    for (int b = 0; b < n; b++) bodies[b].name = moving[b];
    return bodies;
}

// True if all motion is in the plane z = const without gravity.
static bool drawn_is_flat(const RigidConstants *c, const double *assets)
{
    const RigidBody *bodies = (const RigidBody *)assets;
    for (int b = 0; b < c->n_bodies; b++) {
        const RigidBody *body = &bodies[b];
        if (body->fixed != 0) continue;
        if (body->gravity != 0.0 || body->v[2] != 0.0 || body->w[0] != 0.0 || body->w[1] != 0.0 ||
            body->p[2] != bodies[c->first_moving].p[2])
            return false;
    }
    return c->n_moving > 1;
}

// Extent of the world at the start (m), by which widths are scaled.
static double drawn_size(const RigidConstants *c, const double *assets)
{
    const RigidBody *bodies = (const RigidBody *)assets;
    const RigidRow *rows = (const RigidRow *)(assets + c->rows);
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY}, size = 0.0;
    for (int k = -c->n_moving; k < 2 * c->n_rows; k++) {
        const RigidRow *row = k >= 0 ? &rows[k / 2] : NULL;
        const int number = row == NULL ? rigid_list(assets, c->order)[-1 - k] : k % 2 == 0 ? row->i : row->j;
        if (row != NULL && row->kind != RIGID_DISTANCE && row->kind != RIGID_ALONG) continue;
        double position[3];
        drawn_position(bodies[number].p, bodies[number].q,
                       row == NULL  ? drawn_centre
                       : k % 2 == 0 ? row->at_i
                                    : row->at_j,
                       position);
        for (int a = 0; a < 3; a++) {
            low[a] = fmin(low[a], position[a]);
            high[a] = fmax(high[a], position[a]);
        }
    }
    for (int a = 0; a < 3; a++) size = fmax(size, high[a] - low[a]);
    return size > 0.0 ? size : 1.0;
}

// Thickness of sticks (m): a fraction of the extent, less if they are many and short.
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

// Takes memory for every end of a row and a force, and for six points and four shapes per body.
static void drawn_take(RigidFigure *figure, const RigidConstants *c, Arena *arena)
{
    const int ends = 2 * (c->n_rows + c->n_forces);
    figure->points_most = ends + 8 * c->n_moving;
    figure->shapes_most = 2 * ends + 4 * c->n_moving;
    figure->points = ARENA_NEW(arena, RigidDrawn, figure->points_most);
    figure->shapes = ARENA_NEW(arena, Shape, figure->shapes_most);
    figure->shape_next = ARENA_NEW(arena, int, figure->shapes_most);
    figure->first = ARENA_NEW(arena, int, c->n_bodies);
    figure->last = ARENA_NEW(arena, int, c->n_bodies);
    figure->held = ARENA_NEW(arena, bool, c->n_bodies);
    for (int b = 0; b < c->n_bodies; b++) figure->first[b] = figure->last[b] = -1;
}

// Bodies: axes if no stick shows the orientation, and a mark at the centre. In a large world a mark only where nothing
// else is drawn, and a stick to the centre of a body that hangs by one end.
static void drawn_bodies(RigidFigure *figure, const RigidConstants *c, const double *assets, const int *column,
                         double width)
{
    for (int b = 0; figure->whole && b < c->n_bodies; b++) {
        if (column[b] >= 0) drawn_axes(figure, assets, column, b, width);
    }
    for (int b = 0; b < c->n_bodies; b++) {
        if (column[b] < 0 || (!figure->whole && figure->held[b])) continue;
        const int centre = drawn_point(figure, column, b, drawn_centre), last = figure->last[b];
        if (!figure->whole && last >= 0 && last != centre)
            drawn_shape(figure, "body", SHAPE_ROD, last, centre, width);
        else
            drawn_shape(figure, "foot", SHAPE_DISC, centre, centre, 2.4 * width);
    }
}

const struct RigidFigure *rigid_figure(const RigidConstants *c, const double *assets, const char *const *moving,
                                       Arena *arena, const Drawing **drawing)
{
    RigidFigure *figure = ARENA_NEW(arena, RigidFigure, 1);
    const double width = drawn_width(c, assets);
    const int *column = drawn_columns(c, assets, arena);
    drawn_take(figure, c, arena);
    figure->above = drawn_is_flat(c, assets);
    figure->whole = c->n_moving <= DRAWN_WHOLE;
    figure->drawing = (Drawing){.shapes = figure->shapes,
                                .phase = -1,
                                .points = drawn_points,
                                .n_bodies = c->n_moving,
                                .bodies = drawn_names(moving, c->n_moving, arena),
                                .poses = drawn_poses};
    drawn_rows(figure, c, assets, column, width);
    drawn_forces(figure, c, assets, column, width);
    drawn_bodies(figure, c, assets, column, width);
    for (int k = figure->drawing.n_points - 1; k >= 0; k--) { // the camera follows a fixed point if there is one
        if (figure->points[k].column == -1) figure->drawing.focus = k;
    }
    *drawing = &figure->drawing;
    return figure;
}
