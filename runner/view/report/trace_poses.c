// Poses of a motion in space, side by side: every solid is drawn as the faces that are visible from the camera, the
// farthest solid first. The projection is parallel, so lengths of all poses can be compared.
#include "trace.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    POSE_FIGURES = 9,
    POSE_FIGURES_LEAST = 3,
    POSE_SOLIDS = 2400, // in all poses, unless the least number of poses has more
    POSE_ARC = 8,       // points of a half circle, at most
    POSE_POINTS = 4 * POSE_ARC
};
#define POSE_WIDTH 896.0   // pixels of the panel
#define POSE_HEIGHT 240.0  // of a pose, at most
#define POSE_AZIMUTH 0.5   // rad: of the camera from the right side (-y) towards the front (x)
#define POSE_ELEVATION 0.2 // rad: over the horizontal
#define POSE_FAR 4.0       // a pose that is larger than the first one by this factor leaves the picture

// ---- vectors --------------------------------------------------------------------------------------------------------

static double pose_dot(const double *a, const double *b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

static void pose_cross(const double *a, const double *b, double *out)
{
    const double r[3] = {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
    memcpy(out, r, sizeof r);
}

static bool pose_unit(double *a)
{
    const double length = sqrt(pose_dot(a, a));
    for (int k = 0; k < 3 && length > 1e-9; k++) a[k] /= length;
    return length > 1e-9;
}

// v turned by the quaternion q (x, y, z, w); by its inverse if `back`.
static void pose_turn(const double *q, const double *v, bool back, double *out)
{
    const double u[3] = {back ? -q[0] : q[0], back ? -q[1] : q[1], back ? -q[2] : q[2]};
    double t[3], uu[3], r[3];
    pose_cross(u, v, t);
    pose_cross(u, t, uu);
    for (int k = 0; k < 3; k++) r[k] = v[k] + 2 * (q[3] * t[k] + uu[k]);
    memcpy(out, r, sizeof r);
}

// Two unit vectors across the unit vector u and each other; a is along `near` as far as it can be.
static void pose_across(const double *u, const double *near, double *a, double *b)
{
    static const double others[2][3] = {{1, 0, 0}, {0, 1, 0}};
    for (int k = 0; k < 3; k++) a[k] = near[k] - u[k] * pose_dot(u, near);
    if (pose_dot(a, a) < 1e-12) pose_cross(u, others[fabs(u[0]) < 0.9 ? 0 : 1], a);
    pose_unit(a);
    pose_cross(u, a, b);
}

// ---- faces ----------------------------------------------------------------------------------------------------------

// A face of a solid, in the solid's axes.
typedef struct PoseFace {
    double point[POSE_POINTS][3];
    int count, arc; // arc: points of a half circle
    double normal[3];
    bool flat; // it has a normal
} PoseFace;
enum { POSE_FACES = 3 };

// Points of the ellipse centre + size (a cos t + b sin t), from t = `from` to t = `from` + pi.
static void pose_arc(PoseFace *face, const double *a, const double *b, const double *size, double lift, double from)
{
    for (int i = 0; i < face->arc; i++) {
        const double t = from + 3.141592653589793 * i / (face->arc - 1), c = cos(t), s = sin(t);
        double *point = face->point[face->count++];
        for (int k = 0; k < 3; k++) point[k] = size[k] * (a[k] * c + b[k] * s) + (k == 2 ? lift : 0);
    }
}

static const double pose_z[3] = {0, 0, 1};
#define POSE_HALF 1.5707963267948966

// u: the direction of the camera in the solid's axes. The outline of a ball is the image of the circle across the
// direction in which the ball is rounded.
static int pose_ball(const double *size, const double *u, PoseFace *face)
{
    double w[3], a[3], b[3];
    for (int k = 0; k < 3; k++) w[k] = u[k] / size[k];
    pose_unit(w);
    pose_across(w, pose_z, a, b);
    pose_arc(face, a, b, size, 0, 0);
    pose_arc(face, a, b, size, 0, 2 * POSE_HALF);
    return 1;
}

static int pose_capsule(const double *size, const double *u, PoseFace *face)
{
    double a[3], b[3];
    const double round[3] = {size[0], size[0], size[0]};
    pose_across(u, pose_z, a, b);
    pose_arc(face, a, b, round, size[1], -POSE_HALF);
    pose_arc(face, a, b, round, -size[1], POSE_HALF);
    return 1;
}

static int pose_cylinder(const double *size, const double *u, PoseFace *face)
{
    double a[3], b[3];
    const double round[3] = {size[0], size[0], 0}, top = u[2] < 0 ? -size[1] : size[1];
    pose_across(pose_z, u, a, b);
    pose_arc(&face[0], a, b, round, top, POSE_HALF);
    pose_arc(&face[0], a, b, round, -top, 3 * POSE_HALF);
    pose_arc(&face[1], a, b, round, top, 0);
    pose_arc(&face[1], a, b, round, top, 2 * POSE_HALF);
    face[1].flat = true;
    face[1].normal[2] = u[2] < 0 ? -1 : 1;
    return 2;
}

static int pose_box(const double *size, const double *u, PoseFace *face)
{
    static const double corner[4][2] = {{1, 1}, {-1, 1}, {-1, -1}, {1, -1}};
    for (int k = 0; k < 3; k++) {
        const double side = u[k] < 0 ? -1 : 1;
        const int i = (k + 1) % 3, j = (k + 2) % 3;
        face[k].flat = true;
        face[k].count = 4;
        face[k].normal[k] = side;
        for (int c = 0; c < 4; c++) {
            face[k].point[c][k] = side * size[k];
            face[k].point[c][i] = corner[c][0] * size[i];
            face[k].point[c][j] = corner[c][1] * size[j];
        }
    }
    return 3;
}

static int (*const pose_faces[SOLID_KINDS])(const double *, const double *, PoseFace *) = {
    [SOLID_BALL] = pose_ball, [SOLID_CAPSULE] = pose_capsule, [SOLID_CYLINDER] = pose_cylinder, [SOLID_BOX] = pose_box};

// ---- solids in the world --------------------------------------------------------------------------------------------

// A solid of one pose: its centre, its axes, its size by the body's factor, and how near to the camera it is.
typedef struct PosedSolid {
    const Solid *solid;
    double p[3], body[4], size[3], near;
    int arc; // points of a half circle
} PosedSolid;

typedef struct PoseEye {
    double to[3], right[3], up[3]; // unit vectors: to the camera, and of the picture
} PoseEye;

static PoseEye pose_eye(void)
{
    const double s = sin(POSE_AZIMUTH), c = cos(POSE_AZIMUTH), rise = sin(POSE_ELEVATION), flat = cos(POSE_ELEVATION);
    return (PoseEye){.to = {s * flat, -c * flat, rise}, .right = {c, s, 0}, .up = {-s * rise, c * rise, flat}};
}

static void pose_solid(const Solid *solid, const double *pose, const PoseEye *eye, PosedSolid *to)
{
    static const double world[POSE_NUMBERS] = {0, 0, 0, 0, 0, 0, 1, 1};
    const double *body = solid->body >= 0 ? pose + (ptrdiff_t)solid->body * POSE_NUMBERS : world;
    const double scale = body[POSE_NUMBERS - 1];
    const bool box = solid->kind == SOLID_BOX, drum = solid->kind == SOLID_CYLINDER;
    const double factor[3] = {box || drum ? scale : 1, solid->kind == SOLID_BALL ? 1 : scale, box ? scale : 1};
    to->solid = solid;
    memcpy(to->body, body + 3, sizeof to->body);
    pose_turn(to->body, solid->p, false, to->p);
    for (int k = 0; k < 3; k++) {
        to->p[k] = body[k] + scale * to->p[k];
        to->size[k] = factor[k] * solid->size[k];
    }
    to->near = pose_dot(to->p, eye->to);
}

static int pose_compare(const void *a, const void *b)
{
    const PosedSolid *first = a, *second = b;
    if (first->near != second->near) return first->near < second->near ? -1 : 1;
    return first->solid < second->solid ? -1 : 1;
}

// All solids of one pose, the farthest first. False: one of them is nowhere.
static bool pose_all_solids(const ReplayTrace *trace, int64_t i, const PoseEye *eye, PosedSolid *posed)
{
    const Drawing *drawing = trace_drawing(trace);
    const double *pose = trace_poses(trace, i);
    bool finite = true;
    for (int s = 0; s < drawing->n_solids; s++) {
        pose_solid(&drawing->solids[s], pose, eye, &posed[s]);
        finite = finite && isfinite(pose_dot(posed[s].p, posed[s].p)) && isfinite(posed[s].near);
    }
    if (finite) qsort(posed, (size_t)drawing->n_solids, sizeof *posed, pose_compare);
    return finite;
}

// ---- drawing --------------------------------------------------------------------------------------------------------

typedef struct PoseView {
    FILE *out;
    PoseEye eye;
    double origin[3];   // m
    double x, y, scale; // its pixel; pixels per metre
} PoseView;

static void pose_path_to(const PoseView *view, const double *point, SvgPath *path)
{
    const double from[3] = {point[0] - view->origin[0], point[1] - view->origin[1], point[2] - view->origin[2]};
    svg_path_to(path, view->x + view->scale * pose_dot(from, view->eye.right),
                view->y - view->scale * pose_dot(from, view->eye.up));
}

static const char *pose_shade(const PosedSolid *posed, const PoseFace *face)
{
    static const double light[3] = {0.25, -0.4, 0.88};
    double normal[3];
    if (!face->flat) return "side";
    pose_turn(posed->solid->q, face->normal, false, normal);
    pose_turn(posed->body, normal, false, normal);
    const double bright = pose_dot(normal, light);
    return bright > 0.6 ? "lit" : bright > 0 ? "side" : "dark";
}

// The faces of a solid that are visible from a direction, in the world. Returns their number.
static int pose_see(const PosedSolid *posed, const double *from, PoseFace *face)
{
    double u[3];
    memset(face, 0, POSE_FACES * sizeof *face);
    for (int f = 0; f < POSE_FACES; f++) face[f].arc = posed->arc;
    pose_turn(posed->body, from, true, u);
    pose_turn(posed->solid->q, u, true, u);
    const int count = pose_faces[posed->solid->kind](posed->size, u, face);
    for (int f = 0; f < count; f++) {
        for (int i = 0; i < face[f].count; i++) {
            double *point = face[f].point[i];
            pose_turn(posed->solid->q, point, false, point);
            pose_turn(posed->body, point, false, point);
            for (int k = 0; k < 3; k++) point[k] += posed->p[k];
        }
    }
    return count;
}

static void pose_draw_solid(const PoseView *view, const PosedSolid *posed)
{
    char name[32];
    PoseFace face[POSE_FACES];
    const int count = pose_see(posed, view->eye.to, face);
    for (int f = 0; f < count; f++) {
        snprintf(name, sizeof name, "%s-%s", posed->solid->name, pose_shade(posed, &face[f]));
        SvgPath path = svg_path(view->out, name);
        for (int i = 0; i < face[f].count; i++) pose_path_to(view, face[f].point[i], &path);
        fputc('Z', view->out);
        svg_path_end(&path);
    }
}

// Twice the area in the horizontal plane; negative: clockwise.
static double pose_area(const PoseFace *face)
{
    double area = 0;
    for (int i = 0; i < face->count; i++) {
        const double *a = face->point[i], *b = face->point[(i + 1) % face->count];
        area += a[0] * b[1] - a[1] * b[0];
    }
    return area;
}

// Of all solids, from straight above: one path of faces that turn alike, so that they add up.
static void pose_draw_shadow(const ReplayTrace *trace, const PoseView *view, const PosedSolid *posed)
{
    PoseFace face[POSE_FACES];
    SvgPath path = svg_path(view->out, "sd");
    for (int s = 0; s < trace_drawing(trace)->n_solids; s++) {
        const double ground = trace_ground(trace, posed[s].p[0]);
        const int count = pose_see(&posed[s], pose_z, face);
        for (int f = 0; f < count; f++) {
            const bool back = pose_area(&face[f]) < 0;
            path.down = false;
            for (int i = 0; i < face[f].count; i++) {
                const double *point = face[f].point[back ? face[f].count - 1 - i : i];
                pose_path_to(view, (double[3]){point[0], point[1], ground}, &path);
            }
        }
    }
    svg_path_end(&path);
}

// Lines of the ground along x (beside and below the figure) and across. moves: those across stay in the world.
static void pose_draw_ground(const ReplayTrace *trace, const PoseView *view, double half, bool moves)
{
    enum { LINES = 2, STEPS = 24 };
    const double *origin = view->origin, shift = moves ? fmod(origin[0], half / LINES) : 0;
    for (int line = -LINES; line <= LINES; line++) {
        SvgPath path = svg_path(view->out, line == 0 ? "gd" : "gr nf");
        for (int k = -STEPS; k <= STEPS; k++) {
            const double x = origin[0] + half * k / STEPS, y = origin[1] + 0.6 * half * line / LINES;
            pose_path_to(view, (double[3]){x, y, trace_ground(trace, x)}, &path);
        }
        svg_path_end(&path);
        path = svg_path(view->out, "gr nf");
        for (int side = -1; side <= 1; side += 2) {
            const double x = origin[0] + half * line / LINES - shift, y = origin[1] + 0.6 * half * side;
            pose_path_to(view, (double[3]){x, y, trace_ground(trace, x)}, &path);
        }
        svg_path_end(&path);
    }
}

// ---- the panel ------------------------------------------------------------------------------------------------------

// What all poses need of the picture, from their origin (m).
typedef struct PoseExtent {
    double left, right, down, up;
} PoseExtent;

static void pose_widen(const PosedSolid *posed, const double *origin, const PoseEye *eye, PoseExtent *extent)
{
    const double *size = posed->size;
    const double own = posed->solid->kind == SOLID_BOX    ? sqrt(pose_dot(size, size))
                       : posed->solid->kind == SOLID_BALL ? fmax(size[0], fmax(size[1], size[2]))
                                                          : size[0] + size[1];
    const double from[3] = {posed->p[0] - origin[0], posed->p[1] - origin[1], posed->p[2] - origin[2]};
    const double x = pose_dot(from, eye->right), y = pose_dot(from, eye->up);
    extent->left = fmax(extent->left, own - x);
    extent->right = fmax(extent->right, own + x);
    extent->down = fmax(extent->down, own - y);
    extent->up = fmax(extent->up, own + y);
}

static void pose_origin(const ReplayTrace *trace, int64_t i, double *origin)
{
    const double *pose = trace_poses(trace, trace_drawing(trace)->fixed ? 0 : i);
    memcpy(origin, pose, 2 * sizeof *origin);
    origin[2] = trace_ground(trace, origin[0]);
}

// Of the poses in these rows; one that is out of all proportion to the first does not count.
static PoseExtent pose_extent(const ReplayTrace *trace, const int64_t *rows, int count, PosedSolid *posed)
{
    const PoseEye eye = pose_eye();
    PoseExtent all = {0, 0, 0, 0};
    double first = 0;
    for (int k = 0; k < count; k++) {
        PoseExtent one = {0, 0, 0, 0};
        double origin[3];
        pose_origin(trace, rows[k], origin);
        if (!pose_all_solids(trace, rows[k], &eye, posed)) continue;
        for (int s = 0; s < trace_drawing(trace)->n_solids; s++) pose_widen(&posed[s], origin, &eye, &one);
        const double size = fmax(one.left + one.right, one.down + one.up);
        if (first > 0 && size > POSE_FAR * first) continue;
        if (!(first > 0)) first = size;
        all = (PoseExtent){fmax(all.left, one.left), fmax(all.right, one.right), fmax(all.down, one.down),
                           fmax(all.up, one.up)};
    }
    return all;
}

// Small solids need few points.
static void pose_detail(const Drawing *drawing, double scale, PosedSolid *posed)
{
    for (int s = 0; s < drawing->n_solids; s++) {
        const double *size = posed[s].size;
        const double round = posed[s].solid->kind == SOLID_BALL ? fmax(size[0], fmax(size[1], size[2])) : size[0];
        posed[s].arc = (int)fmax(3, fmin(2 + 2 * sqrt(round * scale), POSE_ARC));
    }
}

static void pose_draw_all(const ReplayTrace *trace, const PoseView *view, const PosedSolid *posed)
{
    const Drawing *drawing = trace_drawing(trace);
    if (drawing->ground != NULL) pose_draw_shadow(trace, view, posed);
    for (int s = 0; s < drawing->n_solids; s++) pose_draw_solid(view, &posed[s]);
}

static int pose_count(const Drawing *drawing)
{
    const int fit = POSE_SOLIDS / drawing->n_solids;
    return fit < POSE_FIGURES_LEAST ? POSE_FIGURES_LEAST : fit > POSE_FIGURES ? POSE_FIGURES : fit;
}

void trace_plot_poses(const ReplayTrace *trace, Plot *plot, const char *title, int64_t first, int64_t end, Arena *arena)
{
    const Drawing *drawing = trace_drawing(trace);
    const int count = pose_count(drawing);
    int64_t rows[POSE_FIGURES];
    char text[32];
    PosedSolid *posed = ARENA_NEW(arena, PosedSolid, drawing->n_solids);
    for (int k = 0; k < count; k++) rows[k] = first + (end - first) * k / (count - 1);
    const PoseExtent extent = pose_extent(trace, rows, count, posed);
    const double column = POSE_WIDTH / count, width = extent.left + extent.right, height = extent.up + extent.down;
    if (!(width > 0 && height > 0)) return;
    const double scale = fmin(0.96 * column / width, POSE_HEIGHT / height), bottom = 30 + ceil(height * scale);
    PlotPanel panel = plot_plain_panel(plot, POSE_WIDTH, bottom + 34, title);
    for (int k = 0; k < count; k++) {
        PoseView view = {.out = plot->out, .eye = pose_eye(), .scale = scale, .y = bottom - extent.down * scale};
        view.x = column * (k + 0.5) + 0.5 * (extent.left - extent.right) * scale;
        pose_origin(trace, rows[k], view.origin);
        if (drawing->ground != NULL) pose_draw_ground(trace, &view, 0.4 * column / scale, false);
        if (pose_all_solids(trace, rows[k], &view.eye, posed)) {
            pose_detail(drawing, scale, posed);
            pose_draw_all(trace, &view, posed);
        }
        snprintf(text, sizeof text, "%.3f s", trace->row[rows[k] * trace->n_columns]);
        svg_text(plot->out, "la", column * (k + 0.5), bottom + 26, "middle", text);
    }
    plot_panel_end(&panel);
}

// ---- one pose -------------------------------------------------------------------------------------------------------

enum { STAGE_POSES = 64 }; // of the motion, which the scale is found from
#define STAGE_AROUND 36.0  // pixels around the figure, at least

TraceStage trace_pose_stage(const ReplayTrace *trace, double width, double height, Arena *arena)
{
    int64_t rows[STAGE_POSES];
    PosedSolid *posed = ARENA_NEW(arena, PosedSolid, trace_drawing(trace)->n_solids);
    for (int k = 0; k < STAGE_POSES; k++) rows[k] = (trace->count - 1) * k / (STAGE_POSES - 1);
    const PoseExtent extent = pose_extent(trace, rows, STAGE_POSES, posed);
    const double wide = (width - 2 * STAGE_AROUND) / fmax(extent.left + extent.right, 1e-9);
    const double tall = (height - 2 * STAGE_AROUND) / fmax(extent.up + extent.down, 1e-9), scale = fmin(wide, tall);
    return (TraceStage){.width = width,
                        .height = height,
                        .scale = scale,
                        .x = width / 2 + 0.5 * (extent.left - extent.right) * scale,
                        .y = height - STAGE_AROUND - extent.down * scale};
}

void trace_pose_at(const ReplayTrace *trace, const TraceStage *stage, int64_t i, FILE *out, Arena *arena)
{
    const Drawing *drawing = trace_drawing(trace);
    PosedSolid *posed = ARENA_NEW(arena, PosedSolid, drawing->n_solids);
    PoseView view = {.out = out, .eye = pose_eye(), .scale = stage->scale, .x = stage->x, .y = stage->y};
    pose_origin(trace, i, view.origin);
    if (!pose_all_solids(trace, i, &view.eye, posed)) return;
    if (drawing->ground != NULL) pose_draw_ground(trace, &view, 0.5 * stage->width / stage->scale, true);
    pose_detail(drawing, stage->scale, posed);
    pose_draw_all(trace, &view, posed);
}
