// A world as the spec declares it, checked and laid into the assets: bodies, constraints as rows, forces, and the tree
// of joints that the solver follows.
#include "islands.h"
#include "world.h"

#include "../models.h"

#include <math.h>
#include <string.h>

#define WORLD_FAR 1e9 // m

static const ItemField world_body_fields[] = {
    {"name", ITEM_NAME, 1, 1, "", 0, 0, 0, NULL, NULL, "name of the body; its parameters and columns begin with it"},
    {"mass", ITEM_NUMBERS, 1, 1, "kg", 1.0, 1e-9, 1e12, NULL, NULL, "mass"},
    {"inertia", ITEM_NUMBERS, 1, 6, "kg m^2", 1.0, -1e15, 1e15, NULL, NULL,
     "in body axes, about the centre of mass: one number, the diagonal, or xx, yy, zz, xy, xz, yz"},
    {"position", ITEM_NUMBERS, 3, 3, "m", 0.0, -WORLD_FAR, WORLD_FAR, NULL, NULL,
     "centre of mass at the start; z is up"},
    {"orientation", ITEM_NUMBERS, 4, 4, "1", 0.0, -1.0, 1.0, NULL, "upright",
     "quaternion x, y, z, w at the start, body to world"},
    {"velocity", ITEM_NUMBERS, 3, 3, "m/s", 0.0, -1e6, 1e6, NULL, NULL, "velocity at the start"},
    {"spin", ITEM_NUMBERS, 3, 3, "rad/s", 0.0, -1e6, 1e6, NULL, NULL, "angular velocity at the start, in world axes"},
    {"fixed", ITEM_BOOLEAN, 1, 1, "", 0, 0, 1, NULL, NULL, "the body never moves"},
    {"gravity", ITEM_BOOLEAN, 1, 1, "", 1, 0, 1, NULL, NULL, "gravity acts on the body"},
};

static const ItemField world_constraint_fields[] = {
    {"name", ITEM_NAME, 1, 1, "", 0, 0, 0, NULL, NULL, "unique name"},
    {"type", ITEM_CHOICE, 1, 1, "", 0, 0, 5, "distance|ball|hinge|weld|along|turn", NULL,
     "distance: a rod; ball: one point; hinge: one point and one axis; weld: no motion; along: no "
     "motion along the axis; turn: no turn about it"},
    {"a", ITEM_REFERENCE, 1, 1, "", 0, 0, 0, "world.bodies", NULL, "one body"},
    {"b", ITEM_REFERENCE, 1, 1, "", 0, 0, 0, "world.bodies", "world", "the other"},
    {"at_a", ITEM_NUMBERS, 3, 3, "m", 0.0, -WORLD_FAR, WORLD_FAR, NULL, NULL, "point of a, in its axes"},
    {"at_b", ITEM_NUMBERS, 3, 3, "m", 0.0, -WORLD_FAR, WORLD_FAR, NULL, "meeting",
     "point of b, in its axes; meeting: the point where at_a is at the start; for a distance the centre of b"},
    {"axis", ITEM_NUMBERS, 3, 3, "1", 0.0, -1.0, 1.0, NULL, "z",
     "in world axes: the axis of a hinge at the start; of along and turn, fixed"},
    {"length", ITEM_NUMBERS, 1, 1, "m", 0.0, 1e-9, WORLD_FAR, NULL, "initial", "length of a distance"},
};

static const ItemField world_force_fields[] = {
    {"name", ITEM_NAME, 1, 1, "", 0, 0, 0, NULL, NULL, "unique name"},
    {"type", ITEM_CHOICE, 1, 1, "", 0, 0, 5, "drag|spring|tether|push|parachute|input", NULL,
     "drag: against the air; spring: to b; tether: a spring that only pulls; push: a constant force "
     "and torque; parachute: a drag that opens; input: a force or a torque that control gives"},
    {"a", ITEM_REFERENCE, 1, 1, "", 0, 0, 0, "world.bodies", NULL, "the body"},
    {"b", ITEM_REFERENCE, 1, 1, "", 0, 0, 0, "world.bodies", "world",
     "the other end of a spring or tether; what the reaction to the torque of an input acts on"},
    {"at_a", ITEM_NUMBERS, 3, 3, "m", 0.0, -WORLD_FAR, WORLD_FAR, NULL, NULL, "point of a, in its axes"},
    {"at_b", ITEM_NUMBERS, 3, 3, "m", 0.0, -WORLD_FAR, WORLD_FAR, NULL, NULL, "point of b, in its axes"},
    {"force", ITEM_NUMBERS, 3, 3, "N", 0.0, -1e12, 1e12, NULL, NULL,
     "push, in world axes; input: its direction, whose length does not count"},
    {"torque", ITEM_NUMBERS, 3, 3, "N m", 0.0, -1e12, 1e12, NULL, NULL,
     "push, in world axes; input: its axis, whose length does not count"},
    {"linear", ITEM_NUMBERS, 1, 1, "N s/m", 0.0, 0.0, 1e12, NULL, NULL, "drag: force over speed"},
    {"area", ITEM_NUMBERS, 1, 1, "m^2", 0.0, 0.0, 1e9, NULL, NULL,
     "drag and parachute: drag coefficient times area, open"},
    {"stiffness", ITEM_NUMBERS, 1, 1, "N/m", 0.0, 0.0, 1e15, NULL, NULL, "spring and tether"},
    {"damping", ITEM_NUMBERS, 1, 1, "N s/m", 0.0, 0.0, 1e15, NULL, NULL, "spring and tether"},
    {"length", ITEM_NUMBERS, 1, 1, "m", 0.0, 0.0, WORLD_FAR, NULL, NULL, "spring and tether: rest length"},
    {"packed", ITEM_NUMBERS, 1, 1, "m^2", 0.0, 0.0, 1e9, NULL, NULL, "parachute: like area, before it opens"},
    {"rate", ITEM_NUMBERS, 1, 1, "1/s", 2.0, 1e-9, 1e9, NULL, NULL, "parachute: it opens as tanh(rate t)"},
    {"speed", ITEM_NUMBERS, 1, 1, "m/s", 0.0, 0.0, 1e6, NULL, "never", "parachute: it opens above this speed"},
    {"altitude", ITEM_NUMBERS, 1, 1, "m", 0.0, -WORLD_FAR, WORLD_FAR, NULL, "never",
     "parachute: it opens below this height"},
    {"opening", ITEM_CHOICE, 1, 1, "", 0, 0, 1, "smooth|original", NULL, "original: (1 + tanh(rate t))/2, which jumps"},
    {"axes", ITEM_REFERENCE, 1, 1, "", 0, 0, 0, "world.bodies", "world",
     "input: the body in whose axes force or torque is, and with which it turns"},
    {"hinge", ITEM_REFERENCE, 1, 1, "", 0, 0, 0, "world.constraints", "none",
     "input, in place of a force or torque: the hinge of a about which the torque acts; its other body takes the "
     "reaction"},
    {"range", ITEM_NUMBERS, 2, 2, "", 0.0, -1e12, 1e12, NULL, "none",
     "input: least and greatest, in N or N m; what is asked beyond it counts as its end"},
};

#define WORLD_FIELDS(fields) fields, sizeof fields / sizeof fields[0]
const List rigid_lists[3] = {
    {"world.bodies", WORLD_FIELDS(world_body_fields), RIGID_BODIES_MAX, "rigid bodies",
     "[{name: payload, mass: 5, inertia: 0.5, velocity: [3, 0, 0]}]"},
    {"world.constraints", WORLD_FIELDS(world_constraint_fields), RIGID_CONSTRAINTS_MAX, "constraints between bodies",
     "[{name: rod, type: distance, a: payload, b: anchor}]"},
    {"world.forces", WORLD_FIELDS(world_force_fields), RIGID_FORCES_MAX, "forces on bodies besides gravity",
     "[{name: air, type: drag, a: payload, area: 0.4}]"},
};

// ---- a world without any: the pendulum ------------------------------------------------------------------------------

static double *world_default_items(const List *list, int64_t count, Arena *arena)
{
    const int width = list_width(list);
    double *values = ARENA_NEW(arena, double, count *width), *value = values;
    for (int64_t i = 0; i < count; i++) {
        for (int f = 0; f < list->n_fields; f++) {
            for (int k = 0; k < list_field_width(&list->fields[f]); k++) *value++ = list_default(&list->fields[f], k);
        }
    }
    return values;
}

static RigidWorldSpec world_pendulum(RigidSolver solver, Arena *arena)
{
    static const char *const bodies[] = {"anchor", "payload"}, *const rods[] = {"rod"};
    double *body = world_default_items(&rigid_lists[0], 2, arena),
           *rod = world_default_items(&rigid_lists[1], 1, arena);
    double *payload = body + list_width(&rigid_lists[0]);
    body[world_offset(&rigid_lists[0], "position") + 2] = 2.0;
    body[world_offset(&rigid_lists[0], "fixed")] = 1.0;
    payload[world_offset(&rigid_lists[0], "mass")] = 5.0;
    payload[world_offset(&rigid_lists[0], "inertia")] = 0.5;
    payload[world_offset(&rigid_lists[0], "velocity")] = 3.0;
    rod[world_offset(&rigid_lists[1], "a")] = 1.0;
    rod[world_offset(&rigid_lists[1], "b")] = 0.0;
    return (RigidWorldSpec){.bodies = {.items = body, .count = 2, .names = bodies},
                            .constraints = {.items = rod, .count = 1, .names = rods},
                            .solver = solver};
}

// ---- turns on the host ----------------------------------------------------------------------------------------------

// conjugate(p) q
static void world_relative(const double *p, const double *q, double *out)
{
    double cross[3];
    const double u[3] = {-p[0], -p[1], -p[2]};
    world_cross(u, q, cross);
    for (int k = 0; k < 3; k++) out[k] = p[3] * q[k] + q[3] * u[k] + cross[k];
    out[3] = p[3] * q[3] - (u[0] * q[0] + u[1] * q[1] + u[2] * q[2]);
}

// two unit vectors that stand on the unit vector h and on each other
static void world_basis(const double *h, double *e1, double *e2)
{
    const double helper[3] = {fabs(h[0]) < 0.6 ? 1.0 : 0.0, fabs(h[0]) < 0.6 ? 0.0 : 1.0, 0.0};
    world_cross(h, helper, e1);
    const double length = world_length(e1);
    for (int k = 0; k < 3; k++) e1[k] /= length;
    world_cross(h, e1, e2);
}

// The quaternion of the turn whose columns are the rows of axis[3][3], right-handed.
static void world_quaternion(double axis[3][3], double *q)
{
    const double trace = axis[0][0] + axis[1][1] + axis[2][2];
    double best = trace;
    int which = 3;
    for (int k = 0; k < 3; k++) {
        if (axis[k][k] > best) {
            best = axis[k][k];
            which = k;
        }
    }
    // R(i, j) = axis[j][i]
    if (which == 3) {
        q[3] = 0.5 * sqrt(1.0 + trace);
        for (int k = 0; k < 3; k++) {
            const int i = (k + 1) % 3, j = (k + 2) % 3;
            q[k] = (axis[i][j] - axis[j][i]) / (4.0 * q[3]);
        }
        return;
    }
    const int i = which, j = (i + 1) % 3, k = (i + 2) % 3;
    q[i] = 0.5 * sqrt(1.0 + axis[i][i] - axis[j][j] - axis[k][k]);
    q[j] = (axis[i][j] + axis[j][i]) / (4.0 * q[i]);
    q[k] = (axis[i][k] + axis[k][i]) / (4.0 * q[i]);
    q[3] = (axis[j][k] - axis[k][j]) / (4.0 * q[i]);
}

// ---- bodies ---------------------------------------------------------------------------------------------------------

// Principal moments, and the turn of their axes; false: not positive.
static bool world_principal(RigidBody *body)
{
    const double *I = body->inertia;
    const double matrix[9] = {I[0], I[3], I[4], I[3], I[1], I[5], I[4], I[5], I[2]};
    double vectors[9], work[9 + 3 * 8], axis[3][3];
    const bool diagonal = I[3] == 0.0 && I[4] == 0.0 && I[5] == 0.0;
    for (int k = 0; k < 3; k++) body->moments[k] = I[k];
    for (int k = 0; k < 4; k++) body->axes[k] = k == 3;
    if (diagonal) return I[0] > 0.0 && I[1] > 0.0 && I[2] > 0.0;
    if (!symmetric_eigen(3, matrix, body->moments, vectors, work) || !(body->moments[0] > 0.0)) return false;
    memcpy(axis, vectors, sizeof axis);
    world_cross(axis[0], axis[1], axis[2]); // right-handed
    world_quaternion(axis, body->axes);
    return true;
}

// The axis whose other two moments are equal, so that the body turns freely as a symmetric top; -1: none.
static int32_t world_top(const double *moments)
{
    for (int k = 0; k < 3; k++) {
        const double a = moments[(k + 1) % 3], b = moments[(k + 2) % 3];
        if (fabs(a - b) <= 1e-14 * a) return k;
    }
    return -1;
}

static void world_turns_freely(RigidBody *body)
{
    const int32_t k = body->top = world_top(body->moments);
    for (int c = 0; c < 3; c++) body->inverse[c] = 1.0 / body->moments[c];
    if (k < 0) return;
    body->across = body->inverse[(k + 1) % 3];
    body->beyond = body->inverse[k] - body->across;
}

static Error world_take_body(const RigidWorldSpec *spec, int64_t item, RigidBody *body)
{
    const char *name = spec->bodies.names[item];
    const double *inertia = BODY(item, "inertia"), *q = BODY(item, "orientation");
    body->fixed = (int)*BODY(item, "fixed");
    body->gravity = *BODY(item, "gravity");
    body->mass = *BODY(item, "mass");
    body->joint = body->input = -1;
    memcpy(body->p, BODY(item, "position"), sizeof body->p);
    memcpy(body->v, BODY(item, "velocity"), sizeof body->v);
    memcpy(body->w, BODY(item, "spin"), sizeof body->w);
    int given = 0;
    while (given < 6 && !isnan(inertia[given])) given++;
    if (given != 1 && given != 3 && given != 6)
        return error_make(ERROR_USER, "inertia of %s has %d numbers, expected 1, 3 or 6", name, given);
    for (int k = 0; k < 6; k++) body->inertia[k] = k < 3 ? inertia[given == 1 ? 0 : k] : given == 6 ? inertia[k] : 0.0;
    if (!world_principal(body)) return error_make(ERROR_USER, "inertia of %s is not positive definite", name);
    world_turns_freely(body);
    const double length = isnan(q[0]) ? 1.0 : sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    if (fabs(length - 1.0) > 1e-6)
        return error_make(ERROR_USER, "orientation of %s has length %g, expected a unit quaternion", name, length);
    for (int k = 0; k < 4; k++) body->q[k] = isnan(q[0]) ? k == 3 : q[k] / length;
    if (body->fixed != 0 && (world_length(body->v) > 0.0 || world_length(body->w) > 0.0))
        return error_make(ERROR_USER, "%s is fixed but has a velocity", name);
    return error_none();
}

// ---- constraints as rows --------------------------------------------------------------------------------------------

typedef struct WorldRows {
    RigidRow *rows;
    int count;
} WorldRows;

static void world_point(const RigidBody *body, const double *at, double *out)
{
    world_turn(body->q, 1.0, at, out);
    for (int k = 0; k < 3; k++) out[k] += body->p[k];
}

static void world_local(const RigidBody *body, const double *point, double *out)
{
    double arm[3];
    for (int k = 0; k < 3; k++) arm[k] = point[k] - body->p[k];
    world_turn(body->q, -1.0, arm, out);
}

static void world_add(WorldRows *rows, const RigidRow *form, RigidRowKind kind, const double *a, const double *b)
{
    RigidRow *row = &rows->rows[rows->count++];
    *row = *form;
    row->kind = (int32_t)kind;
    if (kind == RIGID_TURN || kind == RIGID_PERPENDICULAR) row->turn = 1.0; // whose errors are angles
    if (a != NULL) memcpy(row->a, a, sizeof row->a);
    if (b != NULL) memcpy(row->b, b, sizeof row->b);
}

static void world_add_ball(WorldRows *rows, const RigidRow *form)
{
    for (int k = 0; k < 3; k++) {
        const double e[3] = {k == 0, k == 1, k == 2};
        world_add(rows, form, RIGID_ALONG, e, NULL);
    }
}

// The world vectors a and b, carried by the bodies, stay perpendicular.
static void world_add_perpendicular(WorldRows *rows, const RigidRow *form, const RigidBody *bodies, const double *a,
                                    const double *b)
{
    double local_a[3], local_b[3];
    world_turn(bodies[form->i].q, -1.0, a, local_a);
    world_turn(bodies[form->j].q, -1.0, b, local_b);
    world_add(rows, form, RIGID_PERPENDICULAR, local_a, local_b);
}

static void world_expand(int type, const RigidRow *form, const RigidBody *bodies, const double *axis, WorldRows *rows)
{
    static const double e[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    double e1[3], e2[3];
    world_basis(axis, e1, e2);
    if (type == WORLD_DISTANCE_TYPE) world_add(rows, form, RIGID_DISTANCE, NULL, NULL);
    if (type == WORLD_BALL || type == WORLD_HINGE || type == WORLD_WELD) world_add_ball(rows, form);
    if (type == WORLD_HINGE) {
        world_add_perpendicular(rows, form, bodies, axis, e1);
        world_add_perpendicular(rows, form, bodies, axis, e2);
    }
    for (int k = 0; type == WORLD_WELD && k < 3; k++) world_add_perpendicular(rows, form, bodies, e[k], e[(k + 1) % 3]);
    if (type == WORLD_ALONG_TYPE) world_add(rows, form, RIGID_ALONG, axis, NULL);
    if (type == WORLD_TURN_TYPE) world_add(rows, form, RIGID_TURN, axis, NULL);
}

// How far J of a row turns with an error of a metre: that of a rod, or of the longer arm at which bodies are held.
static double world_turn_by(const double *rod, const RigidRow *form, const RigidBody *bodies)
{
    const double arm_i = bodies[form->i].fixed == 0 ? world_length(form->at_i) : 0.0;
    const double arm_j = bodies[form->j].fixed == 0 ? world_length(form->at_j) : 0.0;
    const double length = rod != NULL ? world_length(rod) : fmax(arm_i, arm_j);
    return length > 0.0 ? 1.0 / length : 0.0;
}

static Error world_take_constraint(const RigidWorldSpec *spec, int64_t item, const RigidBody *bodies, WorldRows *rows)
{
    const char *name = spec->constraints.names[item];
    const int type = (int)*CONSTRAINT(item, "type"), i = (int)*CONSTRAINT(item, "a");
    const int b = (int)*CONSTRAINT(item, "b"), j = b < 0 ? (int)spec->bodies.count : b;
    RigidRow form = {.i = i, .j = j, .input = -1, .constraint = (int32_t)item};
    const double *at_b = CONSTRAINT(item, "at_b"), *given_axis = CONSTRAINT(item, "axis");
    const double *length = CONSTRAINT(item, "length");
    double point_a[3], point_b[3], d[3], axis[3] = {0, 0, 1};
    if (i == j) return error_make(ERROR_USER, "%s holds a body to itself: a and b must differ", name);
    if (bodies[i].fixed != 0 && bodies[j].fixed != 0)
        return error_make(ERROR_USER, "%s joins two fixed bodies: one of them must be able to move", name);
    memcpy(form.at_i, CONSTRAINT(item, "at_a"), sizeof form.at_i);
    world_point(&bodies[i], form.at_i, point_a);
    if (!isnan(at_b[0]))
        memcpy(form.at_j, at_b, sizeof form.at_j);
    else if (type != WORLD_DISTANCE_TYPE)
        world_local(&bodies[j], point_a, form.at_j);
    world_point(&bodies[j], form.at_j, point_b);
    for (int k = 0; k < 3; k++) d[k] = point_a[k] - point_b[k];
    form.turn = world_turn_by(type == WORLD_DISTANCE_TYPE ? d : NULL, &form, bodies);
    if (!isnan(given_axis[0])) {
        const double size = world_length(given_axis);
        if (!(size > 1e-9)) return error_make(ERROR_USER, "axis of %s has no length", name);
        for (int k = 0; k < 3; k++) axis[k] = given_axis[k] / size;
    }
    if (type == WORLD_DISTANCE_TYPE) {
        form.target = isnan(*length) ? world_length(d) : *length;
        if (!(world_length(d) > 0.0))
            return error_make(ERROR_USER, "the ends of %s are at one point: a distance needs two points", name);
    } else if (!isnan(*length)) {
        return error_make(ERROR_USER, "length of %s: only a distance has one", name);
    }
    if (type == WORLD_ALONG_TYPE) form.target = axis[0] * d[0] + axis[1] * d[1] + axis[2] * d[2];
    world_relative(bodies[i].q, bodies[j].q, form.rest);
    world_expand(type, &form, bodies, axis, rows);
    return error_none();
}

// ---- all of it ------------------------------------------------------------------------------------------------------

static Error world_wrong(Error error, int list, int64_t item, Configured *out)
{
    out->wrong_list = list;
    out->wrong_item = item;
    return error;
}

#define WORLD_TRY(call, list, item)                                                                                    \
    do {                                                                                                               \
        const Error world_error = (call);                                                                              \
        if (world_error.kind != OK) return world_wrong(world_error, (list), (item), out);                              \
    } while (0)

// The number of doubles that hold `bytes` bytes.
static int32_t world_doubles(size_t bytes) { return (int32_t)((bytes + sizeof(double) - 1) / sizeof(double)); }

// Does the matrix of rows have both next to each other, of one constraint?
static bool world_is_beside(const RigidRow *row, const RigidRow *next)
{
    return row->constraint == next->constraint && row->i == next->i && row->j == next->j && row->i != row->j &&
           row->reach == next->reach;
}

// Of an island's rows, how many from each one on are taken together.
static void world_count_together(const RigidIsland *island, RigidRow *rows)
{
    for (int k = island->row_end - 1; k >= island->row; k--) {
        const bool beside = k + 1 < island->row_end && world_is_beside(&rows[k], &rows[k + 1]);
        rows[k].together = beside ? rows[k + 1].together + 1 : 1;
    }
    for (int k = island->row; k < island->row_end; k += rows[k].together) {
        for (int r = 0; r < rows[k].together; r++) rows[k + r].before = r;
    }
}

static void world_lay_memory(RigidConstants *c, RigidIsland *islands, const RigidJoint *joints, RigidRow *rows)
{
    c->sums_at = RIGID_STATE * c->n_bodies;
    c->latch_at = c->sums_at + RIGID_SUMS;
    c->follow_at = c->latch_at + c->n_forces;
    c->past_at = c->follow_at + c->n_islands;
    c->inputs_at = c->past_at + (c->form == RIGID_RATTLE ? RIGID_PAST * c->n_rows : 0);
    c->kept = c->inputs_at + (c->n_inputs > 0 ? RIGID_INPUT_CELLS + c->n_inputs : 0);
    c->body_at = c->kept;
    c->row_at = c->body_at + RIGID_BODY_CELLS * c->n_bodies;
    c->factor_at = c->row_at + RIGID_ROW_CELLS * c->n_rows;
    c->schur_at = c->factor_at + RIGID_JOINT_CELLS * c->n_joints;
    c->saved_at = c->schur_at;
    if (c->refines != 0) c->schur_at += c->sums_at + c->kept - c->latch_at;
    for (int i = 0; i < c->n_islands; i++) islands[i].ease = c->schur_at++;
    c->cells = c->schur_at;
    for (int i = 0; i < c->n_islands; i++) {
        const int loop_rows = islands[i].n_loop_rows;
        islands[i].schur = c->cells;
        islands[i].response = c->cells + loop_rows * (loop_rows + 1) / 2;
        c->cells = islands[i].response + loop_rows;
        islands[i].follow = c->follow_at + i;
        for (int k = islands[i].row; k < islands[i].row_end; k++) {
            rows[k].ease = islands[i].ease;
            rows[k].entry = islands[i].skyline != 0 ? c->cells - rows[k].reach : -1;
            c->cells += islands[i].skyline != 0 ? k + 1 - rows[k].reach : 0;
            const int l = k - (islands[i].row_end - loop_rows);
            rows[k].pivot = islands[i].skyline != 0 ? c->cells - 1 : islands[i].schur + (l + 1) * (l + 2) / 2 - 1;
        }
        world_count_together(&islands[i], rows);
    }
    for (int j = 0; j < c->n_joints; j++) {
        for (int k = 0; k < joints[j].count && rows[joints[j].first].entry < 0; k++)
            rows[joints[j].first + k].pivot = c->factor_at + RIGID_JOINT_CELLS * j + (k + 1) * (k + 2) / 2 - 1;
    }
}

// The islands as they lie in the assets, whose `order` is the walk backwards.
static void world_lay_islands(const RigidForest *forest, RigidConstants *c, double *assets)
{
    RigidIsland *islands = (RigidIsland *)(assets + c->islands);
    for (int i = 0; i < forest->n_islands; i++) {
        const RigidIsland *island = &forest->islands[i];
        islands[i] = *island;
        islands[i].first = forest->n_order - (island->first + island->count);
    }
    world_lay_memory(c, islands, forest->joints, (RigidRow *)(assets + c->rows));
    for (int i = 0; i < forest->n_islands; i++) {
        for (int k = 0; k < islands[i].count; k++)
            forest->bodies[forest->order[forest->islands[i].first + k]].ease = islands[i].ease;
    }
}

static void world_find_trees(RigidConstants *c, const RigidIsland *islands)
{
    c->trees = 0;
    for (int i = 0; i < c->n_islands; i++) c->trees |= islands[i].skyline == 0;
}

// Passes of refinement at the end of a substep of rattle: forces that depend on velocities ask for them, and trees,
// where rounding concerns more than multipliers.
void rigid_world_damp(RigidConstants *c, const double *assets)
{
    c->damped = world_is_damped((const RigidForce *)(assets + c->forces), c->n_forces);
    c->refine_within = c->damped != 0 || c->trees != 0 ? c->refine : 0;
}

Error rigid_world(const RigidWorldSpec *given, Arena *arena, RigidConstants *c, Configured *out)
{
    const RigidWorldSpec pendulum = given->bodies.count == 0 ? world_pendulum(given->solver, arena) : *given,
                         *spec = &pendulum;
    const int n = (int)spec->bodies.count, m = (int)spec->constraints.count, f = (int)spec->forces.count;
    const size_t rows_max = (size_t)m * RIGID_JOINT_ROWS;
    const RigidConstants most = {.n_rows = (int32_t)rows_max, .n_moving = n, .n_forces = f};
    double *assets =
        ARENA_NEW(arena, double,
                  ((size_t)(n + 1) * sizeof(RigidBody) + rows_max * sizeof(RigidRow) +
                   (size_t)n * (sizeof(RigidJoint) + sizeof(RigidIsland)) + (size_t)f * sizeof(RigidForce)) /
                          sizeof(double) +
                      3 * (size_t)n + rigid_schedule_doubles(&most));
    RigidBody *bodies = (RigidBody *)assets;
    WorldRows rows = {.rows = ARENA_NEW(arena, RigidRow, rows_max)};
    for (int i = 0; i < n; i++) WORLD_TRY(world_take_body(spec, i, &bodies[i]), 1, i);
    bodies[n] = (RigidBody){.fixed = 1, .mass = 1.0, .q = {0, 0, 0, 1}, .input = -1, .joint = -1, .top = -1};
    for (int i = 0; i < m; i++) WORLD_TRY(world_take_constraint(spec, i, bodies, &rows), 2, i);

    RigidForest forest = {.bodies = bodies,
                          .n_bodies = n + 1,
                          .rows = rows.rows,
                          .n_rows = rows.count,
                          .as_trees = c->redundant == RIGID_DROP};
    c->rows = world_doubles((size_t)(n + 1) * sizeof(RigidBody));
    TRY(rigid_find_islands(&forest, spec->solver, (RigidRow *)(assets + c->rows), arena));
    c->n_loop_rows = forest.n_loop_rows;
    // without loops nothing passes singular poses
    c->refines = c->form == RIGID_RATTLE && (c->rattle_order != RIGID_ORDER_TWO || forest.n_closing > 0);
    c->n_bodies = n + 1;
    c->n_rows = rows.count;
    c->n_joints = forest.n_joints;
    c->n_forces = f;
    c->n_moving = forest.n_order;
    if (forest.n_order == 0) return world_wrong(error_make(ERROR_USER, "no body of the world can move"), 1, 0, out);
    c->joints = c->rows + world_doubles((size_t)rows.count * sizeof(RigidRow));
    memcpy(assets + c->joints, forest.joints, (size_t)forest.n_joints * sizeof *forest.joints);
    c->forces = c->joints + world_doubles((size_t)forest.n_joints * sizeof(RigidJoint));
    for (int i = 0; i < f; i++)
        WORLD_TRY(world_take_force(spec, i, bodies, (RigidForce *)(assets + c->forces) + i), 3, i);
    c->n_inputs = world_number_inputs((RigidForce *)(assets + c->forces), f);
    c->powered = world_is_powered((const RigidForce *)(assets + c->forces), f);
    c->order = c->forces + world_doubles((size_t)f * sizeof(RigidForce));
    int32_t *order = (int32_t *)(assets + c->order);
    for (int i = 0; i < forest.n_order; i++) order[i] = forest.order[forest.n_order - 1 - i];
    c->recorded = c->order + world_doubles((size_t)forest.n_order * sizeof *order);
    c->named = c->recorded + world_doubles((size_t)forest.n_order * sizeof *order);
    c->islands = c->named + world_doubles((size_t)forest.n_order * sizeof *order);
    for (int i = n - 1; i >= 0; i--) {
        if (bodies[i].fixed == 0) c->first_moving = i;
    }
    c->n_islands = forest.n_islands;
    world_lay_islands(&forest, c, assets);
    world_find_trees(c, (const RigidIsland *)(assets + c->islands));
    c->touches = c->islands + forest.n_islands * world_doubles(sizeof(RigidIsland));
    c->slots = c->touches + c->n_rows;
    c->levels = c->slots + c->n_moving * world_doubles(sizeof(RigidSlot));
    c->force_slots = c->levels + c->n_moving * world_doubles(sizeof(RigidSlot));
    rigid_lay_schedule(c, assets, arena);
    out->assets = assets;
    out->n_assets = c->touches + (int64_t)rigid_schedule_doubles(c);
    rigid_know(spec, c, assets, arena, out);
    return error_none();
}
