// A robot laid out for the kernel: bodies with their numbers about their centres of mass, points that may touch the
// ground.
#include "articulated.h"

#include "../spatial/figure.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

// ---- names ----------------------------------------------------------------------------------------------------------

const char *articulated_word(const char *name, Arena *arena)
{
    char *text = arena_format(arena, "%s%s", isalpha((unsigned char)name[0]) ? "" : "b_", name);
    for (char *c = text; *c != '\0'; c++) {
        if (!isalnum((unsigned char)*c)) *c = '_';
    }
    return text;
}

// Names are given in order; a set of them in small letters says which are taken.
typedef struct NameTable {
    const char **slots; // [size]
    uint32_t size;      // a power of 2, more than twice the names
} NameTable;

// Where the name is or would be.
static const char **name_slot(const NameTable *table, const char *name)
{
    uint32_t at = 2166136261u; // FNV-1a
    for (const char *c = name; *c != '\0'; c++) at = (at ^ (uint32_t)tolower((unsigned char)*c)) * 16777619u;
    for (at &= table->size - 1; table->slots[at] != NULL; at = (at + 1) & (table->size - 1)) {
        if (strcasecmp(table->slots[at], name) == 0) break;
    }
    return &table->slots[at];
}

// Columns of a ball and of a free body that is not the base have the same ends.
static bool name_is_of_free(const Robot *robot, const char *name, Arena *arena)
{
    for (int i = 1; i < robot->n_bodies; i++) {
        if (robot->bodies[i].joint.kind == ROBOT_FREE &&
            strcasecmp(articulated_word(robot->bodies[i].name, arena), name) == 0)
            return true;
    }
    return false;
}

// The name of body i or its joint.
static void name_give(const NameTable *table, const Robot *robot, int i, bool body, Arena *arena, const char **name,
                      ArticulatedHost *host)
{
    const RobotJointKind kind = robot->bodies[i].joint.kind;
    const bool ball = !body && kind == ROBOT_BALL, wide = ball || (body && kind == ROBOT_FREE && i > 0);
    const char *of = body ? robot->bodies[i].name : robot->bodies[i].joint.name;
    const char *word = articulated_word(of, arena), *own = word;
    for (int k = 2; *name_slot(table, own) != NULL || articulated_is_own(own, body, wide) ||
                    (ball && name_is_of_free(robot, own, arena));
         k++)
        own = arena_format(arena, "%s_%d", word, k);
    *name_slot(table, own) = *name = own;
    if (own == word) return;
    host->renamed[host->n_renamed++] = arena_format(arena, "%s '%.60s' is %s", body ? "body" : "joint", of, own);
}

void articulated_name(const Robot *robot, Arena *arena, ArticulatedHost *host)
{
    const int n = robot->n_bodies;
    const char **bodies = ARENA_NEW(arena, const char *, n), **joints = ARENA_NEW(arena, const char *, n);
    NameTable of_bodies = {.size = 4}, of_joints;
    while (of_bodies.size < 2 * (uint32_t)n + 2) of_bodies.size *= 2;
    of_joints = of_bodies;
    of_bodies.slots = ARENA_NEW(arena, const char *, of_bodies.size);
    of_joints.slots = ARENA_NEW(arena, const char *, of_joints.size);
    host->renamed = ARENA_NEW(arena, const char *, 2 * n + 1);
    host->n_renamed = 0;
    for (int i = 0; i < n; i++) {
        name_give(&of_bodies, robot, i, true, arena, &bodies[i], host);
        name_give(&of_joints, robot, i, false, arena, &joints[i], host);
    }
    host->robot = robot;
    host->bodies = bodies;
    host->joints = joints;
}

// ---- bodies ---------------------------------------------------------------------------------------------------------

static void lay_joint(const RobotJoint *joint, double start, double *number)
{
    const RobotMotor *motor = &joint->motor;
    number[ARTICULATED_reference] = joint->reference;
    number[ARTICULATED_start] = number[ARTICULATED_offset] = start;
    number[ARTICULATED_kp] = motor->kp;
    number[ARTICULATED_kd] = motor->kd;
    number[ARTICULATED_bias] = motor->bias;
    number[ARTICULATED_effort] = motor->driven ? motor->effort : INFINITY;
    number[ARTICULATED_least] = motor->driven && motor->uneven ? motor->least : -INFINITY;
    number[ARTICULATED_most] = motor->driven && motor->uneven ? motor->most : INFINITY;
    number[ARTICULATED_command_low] = motor->driven ? motor->low : -INFINITY;
    number[ARTICULATED_command_high] = motor->driven ? motor->high : INFINITY;
    number[ARTICULATED_armature] = joint->armature;
    number[ARTICULATED_damping] = joint->damping;
    number[ARTICULATED_stiffness] = joint->stiffness;
    number[ARTICULATED_spring] = joint->rest;
    number[ARTICULATED_friction] = joint->friction;
    number[ARTICULATED_low] = joint->limited ? joint->low : -INFINITY;
    number[ARTICULATED_high] = joint->limited ? joint->high : INFINITY;
    number[ARTICULATED_stribeck] = number[ARTICULATED_resistance] = number[ARTICULATED_gear] = 1.0;
    number[ARTICULATED_voltage] = INFINITY;
}

// ArticulatedBody.spread.
static void lay_spread(const RobotBody *body, double spread[6])
{
    const double *I = body->inertia, half = 0.5 * (I[0] + I[1] + I[2]), m = body->mass;
    const double xx = (half - I[0]) / m, yy = (half - I[1]) / m, zz = (half - I[2]) / m;
    const double z = sqrt(zz), xz = -I[4] / m / z, yz = -I[5] / m / z, y = sqrt(yy - yz * yz);
    const double xy = (-I[3] / m - xz * yz) / y, x = sqrt(xx - xy * xy - xz * xz);
    const double of[6] = {x, xy, xz, y, yz, z};
    memset(spread, 0, 6 * sizeof *spread);
    if (m > 0.0 && zz > 0.0 && y > 0.0 && x > 0.0) memcpy(spread, of, sizeof of);
}

static void lay_body(const Robot *robot, int i, const double *coordinates, ArticulatedBody *to)
{
    const RobotBody *body = &robot->bodies[i], *parent = body->parent >= 0 ? &robot->bodies[body->parent] : NULL;
    const RobotJoint *joint = &body->joint;
    double seat[3];
    const bool one = robot_joint_coordinates(joint->kind) == 1;
    to->parent = body->parent;
    to->kind = (int32_t)joint->kind;
    to->driven = one && joint->motor.driven;
    to->ranged = one && joint->limited;
    to->uneven = to->driven && joint->motor.uneven;
    to->varied = 0;
    to->own = -1;
    to->number[ARTICULATED_mass] = body->mass;
    memcpy(&to->number[ARTICULATED_xx], body->inertia, sizeof body->inertia);
    lay_spread(body, to->spread);
    figure_turn(body->q, joint->anchor, seat);
    for (int k = 0; k < 3; k++) {
        to->centre[k] = body->centre[k];
        to->number[ARTICULATED_anchor_x + k] = joint->anchor[k] - body->centre[k];
        to->pivot[k] = joint->anchor[k];
        to->seat[k] = body->p[k] - (parent != NULL ? parent->centre[k] : 0.0);
        to->number[ARTICULATED_seat_x + k] = to->seat[k] + seat[k];
        to->number[ARTICULATED_axis_x + k] = joint->axis[k];
        to->frame[k] = body->p[k];
    }
    to->number[ARTICULATED_scale] = 1.0;
    memcpy(&to->number[ARTICULATED_rest_x], body->q, sizeof body->q);
    to->frame[6] = 1.0;
    if (joint->kind == ROBOT_FREE) memcpy(to->frame, coordinates, 7 * sizeof *coordinates);
    if (joint->kind == ROBOT_BALL) memcpy(to->frame + 3, coordinates, 4 * sizeof *coordinates);
    lay_joint(joint, one ? coordinates[0] : 0.0, to->number);
}

// What the controls of a keyframe command at the start.
static void lay_command(const RobotKeyframe *key, int body, double *number)
{
    if (!isnan(key->commands[body])) number[ARTICULATED_offset] = key->commands[body];
    number[ARTICULATED_bias] += key->efforts[body];
}

// Which bodies no joint leads on from, and which of a parent's joints is the last in order.
static void lay_tree(ArticulatedBody *bodies, int count)
{
    for (int i = 0; i < count; i++) bodies[i].leaf = 1;
    for (int i = count - 1; i >= 0; i--) {
        if (bodies[i].parent < 0 || bodies[i].kind == ROBOT_FREE) continue;
        bodies[i].opens = bodies[bodies[i].parent].leaf;
        bodies[bodies[i].parent].leaf = 0;
    }
}

// The root; behind bodies without mass, if it has several joints.
static int lay_base(const Robot *robot)
{
    int base = 0;
    for (int i = 1; i < robot->n_bodies && robot->bodies[base].mass == 0.0; i++)
        if (robot->bodies[i].parent == base) base = i;
    return base;
}

static void lay_bodies(const ArticulatedHost *host, ArticulatedBody *bodies, int *joints)
{
    const double *coordinates = host->coordinates;
    *joints = 0;
    for (int i = 0; i < host->robot->n_bodies; i++) {
        const RobotJointKind kind = host->robot->bodies[i].joint.kind;
        lay_body(host->robot, i, coordinates, &bodies[i]);
        if (host->keyframe != NULL) lay_command(host->keyframe, i, bodies[i].number);
        bodies[i].joint = robot_joint_coordinates(kind) == 1 ? (*joints)++ : -1;
        coordinates += robot_joint_coordinates(kind);
    }
    lay_tree(bodies, host->robot->n_bodies);
    for (int g = 0; g < host->n_groups; g++) { // the second of a pair is half a turn behind
        if (host->groups[g].n_bodies == 2)
            bodies[host->groups[g].bodies[1]].number[ARTICULATED_phase] = 3.141592653589793;
    }
}

// ---- points ---------------------------------------------------------------------------------------------------------

// The k-th point of a shape in the shape's axes; false: it has no more.
static bool shape_point(const RobotShape *shape, int k, ArticulatedPoint *point)
{
    static const double turn[3][2] = {
        {1, 0}, {-0.5, 0.8660254037844386}, {-0.5, -0.8660254037844386}}; // by 120 degrees
    const double *size = shape->size;
    memset(point, 0, sizeof *point);
    point->kind = ARTICULATED_POINT;
    switch (shape->kind) {
    case ROBOT_SPHERE: point->radius = size[0]; return k < 1;
    case ROBOT_CAPSULE:
        point->radius = size[0];
        point->p[2] = k == 0 ? -size[1] : size[1];
        return k < 2;
    case ROBOT_BOX:
        for (int a = 0; a < 3; a++) point->p[a] = (k >> a & 1) != 0 ? size[a] : -size[a];
        return k < 8;
    case ROBOT_CYLINDER:
        point->kind = ARTICULATED_RIM;
        point->p[2] = k < 3 ? -size[1] : size[1];
        point->axis[2] = point->side[0] = 1.0;
        point->size[0] = size[0];
        memcpy(point->turn, turn[k % 3], sizeof point->turn);
        return k < 6;
    case ROBOT_ELLIPSOID:
        point->kind = ARTICULATED_ELLIPSOID;
        point->axis[0] = point->side[1] = 1.0;
        memcpy(point->size, size, sizeof point->size);
        return k < 1;
    case ROBOT_PLANE:
    case ROBOT_HFIELD: break;
    }
    return false;
}

// What is laid out of a body's points.
typedef struct LayPoints {
    const ArticulatedHost *host;
    ArticulatedPoint *points; // NULL: they are only counted
    const int *surface;       // [n_shapes] index in the surfaces of shapes of the world
    int count;
} LayPoints;

// How far the points of a shape on a surface are from the first, and how far they reach.
static void lay_group(ArticulatedPoint *points, int count)
{
    for (int k = 0; k < count; k++) {
        const double *p = points[k].p, *first = points[0].p, *size = points[k].size;
        const double off = hypot(hypot(p[0] - first[0], p[1] - first[1]), p[2] - first[2]);
        const double round = points[k].kind == ARTICULATED_ELLIPSOID ? fmax(size[0], fmax(size[1], size[2])) : 0.0;
        points[0].spread = fmax(points[0].spread, off + (points[k].kind == ARTICULATED_RIM ? size[0] : 0.0));
        points[0].reach = fmax(points[0].reach, points[k].radius + round);
    }
    points[0].group = count;
}

// The points of a shape against one surface.
static void lay_points_of(LayPoints *lay, const RobotShape *shape, int surface, double friction, double margin)
{
    const double *centre = lay->host->robot->bodies[shape->body].centre;
    const int from = lay->count;
    ArticulatedPoint own;
    for (int k = 0; shape_point(shape, k, &own); k++, lay->count++) {
        if (lay->points == NULL) continue;
        ArticulatedPoint *point = &lay->points[lay->count];
        *point = own;
        figure_turn(shape->q, own.p, point->p);
        figure_turn(shape->q, own.axis, point->axis);
        figure_turn(shape->q, own.side, point->side);
        for (int a = 0; a < 3; a++) point->p[a] = shape->p[a] + point->p[a] - centre[a];
        point->radius += margin;
        point->friction = friction;
        point->surface = surface;
        point->body = shape->body;
    }
    if (lay->points != NULL && lay->count > from) lay_group(&lay->points[from], lay->count - from);
}

bool articulated_counts(const ArticulatedHost *host, const RobotContact *contact)
{
    const bool floor = articulated_is_floor(&host->robot->shapes[contact->ground]);
    return host->terrain != TERRAIN_none && (!floor || host->terrain == TERRAIN_file);
}

bool articulated_is_floor(const RobotShape *shape) { return shape->kind == ROBOT_PLANE || shape->kind == ROBOT_HFIELD; }

bool articulated_replaces(const ArticulatedHost *host)
{
    return host->terrain != TERRAIN_file && host->terrain != TERRAIN_none;
}

bool articulated_on_terrain(const ArticulatedHost *host, const RobotShape *shape)
{
    return articulated_replaces(host) && shape->collides;
}

// The points of a shape, of its first surface or of all others. next: of the robot's contacts, that of the shape.
static void lay_shape(LayPoints *lay, int s, bool others, int *next)
{
    const Robot *robot = lay->host->robot;
    bool first = true;
    if (articulated_on_terrain(lay->host, &robot->shapes[s])) {
        if (!others) lay_points_of(lay, &robot->shapes[s], 0, robot->shapes[s].friction, robot->shapes[s].margin);
        first = false;
    }
    for (; *next < robot->n_contacts && robot->contacts[*next].shape == s; (*next)++) {
        const RobotContact *contact = &robot->contacts[*next];
        if (!articulated_counts(lay->host, contact)) continue;
        if (first != others)
            lay_points_of(lay, &robot->shapes[s], lay->surface[contact->ground], contact->friction, contact->margin);
        first = false;
    }
}

// The points of a body, first those of its own shapes; returns how many these are.
static int lay_points(LayPoints *lay, int body)
{
    const Robot *robot = lay->host->robot;
    const int before = lay->count;
    int own_points = 0;
    for (int others = 0; others < 2; others++) {
        for (int s = 0, next = 0; s < robot->n_shapes; s++) {
            while (next < robot->n_contacts && robot->contacts[next].shape < s) next++;
            if (robot->shapes[s].body == body) lay_shape(lay, s, others != 0, &next);
        }
        if (others == 0) own_points = lay->count - before;
    }
    return own_points;
}

// ---- surfaces -------------------------------------------------------------------------------------------------------

ArticulatedSurface articulated_surface_of(const RobotShape *shape)
{
    static const ArticulatedSurfaceKind kinds[] = {
        [ROBOT_PLANE] = ARTICULATED_ON_PLANE,       [ROBOT_SPHERE] = ARTICULATED_ON_SPHERE,
        [ROBOT_CAPSULE] = ARTICULATED_ON_CAPSULE,   [ROBOT_BOX] = ARTICULATED_ON_BOX,
        [ROBOT_CYLINDER] = ARTICULATED_ON_CYLINDER, [ROBOT_ELLIPSOID] = ARTICULATED_ON_SPHERE,
        [ROBOT_HFIELD] = ARTICULATED_ON_HFIELD};
    ArticulatedSurface to = {.kind = (int32_t)kinds[shape->kind]};
    memcpy(to.p, shape->p, sizeof to.p);
    memcpy(to.size, shape->size, sizeof to.size);
    for (int a = 0; a < 3; a++) {
        const double axis[3] = {a == 0, a == 1, a == 2};
        figure_turn(shape->q, axis, to.axes + 3 * a);
    }
    if (shape->kind != ROBOT_HFIELD) return to;
    to.first = shape->first;
    to.rows = shape->rows;
    to.columns = shape->columns;
    to.size[0] = 2.0 * shape->size[0] / (shape->columns - 1);
    to.size[1] = 2.0 * shape->size[1] / (shape->rows - 1);
    return to;
}

// The terrain, then the shapes of the world that anything touches. surface[n_shapes]: their indices.
static const ArticulatedSurface *lay_surfaces(const ArticulatedHost *host, Arena *arena, int *surface, int *count)
{
    const Robot *robot = host->robot;
    ArticulatedSurface *surfaces = ARENA_NEW(arena, ArticulatedSurface, robot->n_shapes + 1);
    *count = 1;
    surfaces[0] = (ArticulatedSurface){.kind = ARTICULATED_ON_TERRAIN};
    for (int k = 0; k < robot->n_contacts; k++) {
        const int ground = robot->contacts[k].ground;
        if (surface[ground] > 0 || !articulated_counts(host, &robot->contacts[k])) continue;
        surfaces[*count] = articulated_surface_of(&robot->shapes[ground]);
        surface[ground] = (*count)++;
    }
    return surfaces;
}

// ---- all of it ------------------------------------------------------------------------------------------------------

// Doubles of `bytes`.
static int32_t doubles_of(size_t bytes) { return (int32_t)((bytes + sizeof(double) - 1) / sizeof(double)); }

_Static_assert(ARTICULATED_N_NUMBERS < 64, "bits of ArticulatedBody.varied");

// Numbers [first, first + count) of a body.
static void lay_varied(ArticulatedBody *body, int first, int count)
{
    for (int k = first; k < first + count; k++) body->varied |= (int64_t)1 << k;
}

// Those that a design of the body changes.
static void lay_designed(ArticulatedDesignKind kind, ArticulatedBody *body)
{
    if (kind == ARTICULATED_ROTATE) {
        lay_varied(body, ARTICULATED_rest_x, 4);
        lay_varied(body, ARTICULATED_seat_x, 3);
    }
    if (kind == ARTICULATED_LENGTH || kind == ARTICULATED_WEIGHT) lay_varied(body, ARTICULATED_mass, 7);
    if (kind == ARTICULATED_LENGTH) {
        lay_varied(body, ARTICULATED_anchor_x, 3);
        lay_varied(body, ARTICULATED_scale, 1);
    }
    if (kind == ARTICULATED_GAIN) lay_varied(body, ARTICULATED_kp, 2);
}

// Those of its children.
static void lay_seats(int of, ArticulatedBody *bodies, int count)
{
    for (int i = 0; i < count; i++) {
        if (bodies[i].parent != of) continue;
        bodies[i].own = 0;
        lay_varied(&bodies[i], ARTICULATED_seat_x, 3);
    }
}

// Cells for bodies with numbers of their own, behind those of all bodies. Length and centre of a body move its
// children's joints.
static void lay_own(const ArticulatedVariation *variation, ArticulatedBody *bodies, ArticulatedConstants *c)
{
    for (int k = 0; k < variation->n_inputs; k++) {
        const int number = variation->inputs[k].number;
        ArticulatedBody *body = &bodies[variation->inputs[k].body];
        const bool gain = number == ARTICULATED_kp || number == ARTICULATED_kd || number == ARTICULATED_bias;
        if (body->joint >= 0 && gain) body->driven = 1;
        if (number == ARTICULATED_low || number == ARTICULATED_high) body->ranged = 1;
        if (number == ARTICULATED_least || number == ARTICULATED_most) body->uneven = 1;
        body->own = 0;
        lay_varied(body, number, 1);
        if (number >= ARTICULATED_log_x && number <= ARTICULATED_shear_yz) lay_varied(body, ARTICULATED_xx, 6);
        if (number < ARTICULATED_moved_x || number > ARTICULATED_moved_z) continue;
        lay_varied(body, ARTICULATED_anchor_x, 3);
        lay_seats(variation->inputs[k].body, bodies, c->n_bodies);
    }
    for (int k = 0; k < variation->n_designs; k++) {
        const int of = variation->designs[k].body;
        bodies[of].own = 0;
        lay_designed((ArticulatedDesignKind)variation->designs[k].kind, &bodies[of]);
        if (variation->designs[k].kind == ARTICULATED_LENGTH) lay_seats(of, bodies, c->n_bodies);
    }
    for (int i = 0; i < c->n_bodies; i++) {
        if (bodies[i].own < 0) continue;
        bodies[i].own = c->cells;
        bodies[i].n_own = bodies[i].varied >> ARTICULATED_encoder != 0 ? ARTICULATED_N_NUMBERS : ARTICULATED_encoder;
        c->cells += bodies[i].n_own;
    }
}

// Offsets of the arrays in the assets.
static int64_t lay_offsets(ArticulatedConstants *c)
{
    c->points = doubles_of((size_t)c->n_bodies * sizeof(ArticulatedBody));
    c->surfaces = c->points + doubles_of((size_t)c->n_points * sizeof(ArticulatedPoint));
    c->inputs = c->surfaces + doubles_of((size_t)c->n_surfaces * sizeof(ArticulatedSurface));
    c->designs = c->inputs + doubles_of((size_t)(c->n_inputs + c->n_rates) * sizeof(ArticulatedInput));
    c->actions = c->designs + doubles_of((size_t)c->n_designs * sizeof(ArticulatedDesign));
    c->table = c->actions + c->n_actions * c->n_joints;
    c->heights = c->table + 2 * c->n_table;
    c->fields = c->heights + c->n_rows * c->n_columns;
    const int32_t starts = c->fields + c->n_fields;
    c->targets = starts + (c->starts != 0 ? c->n_actions : 0);
    c->starts = c->starts != 0 ? starts : 0;
    c->records = c->targets + doubles_of((size_t)c->n_targets * sizeof(ArticulatedTarget));
    c->legs = c->records + c->n_records * (2 + c->n_targets);
    const int32_t rates = c->legs + doubles_of((size_t)c->n_legs * sizeof(ArticulatedLeg));
    const int32_t n_rates = c->rates != 0 ? ROBOT_RATES * c->n_bodies : 0;
    c->rates = c->rates != 0 ? rates : 0;
    c->frames = rates + n_rates;
    return (int64_t)c->frames + doubles_of((size_t)c->n_frames * sizeof(ArticulatedFrame));
}

// Rates at t = 0; whether any is not 0.
static bool lay_rates(ArticulatedHost *host, Arena *arena)
{
    const int count = ROBOT_RATES * host->robot->n_bodies;
    double *rates = ARENA_NEW(arena, double, count);
    bool any = false;
    host->rates = rates;
    if (host->keyframe == NULL || host->keyframe->rates == NULL) return false;
    memcpy(rates, host->keyframe->rates, (size_t)count * sizeof *rates);
    for (int k = 0; k < count; k++) any |= rates[k] != 0.0;
    return any;
}

Error articulated_lay(ArticulatedHost *host, const Choice *choice, Arena *arena, ArticulatedConstants *c,
                      Configured *out)
{
    const Robot *robot = host->robot;
    const int n = robot->n_bodies;
    ArticulatedBody *bodies = ARENA_NEW(arena, ArticulatedBody, n);
    lay_bodies(host, bodies, &c->n_joints);
    int n_surfaces, *surface = ARENA_NEW(arena, int, robot->n_shapes + 1);
    const ArticulatedSurface *surfaces = lay_surfaces(host, arena, surface, &n_surfaces);
    LayPoints lay = {.host = host, .surface = surface};
    for (int i = 0; i < n; i++) (void)lay_points(&lay, i);
    const int n_points = lay.count;
    ArticulatedPoint *points = ARENA_NEW(arena, ArticulatedPoint, n_points + 1);
    lay = (LayPoints){.host = host, .surface = surface, .points = points};
    for (int i = 0; i < n; i++) {
        bodies[i].point = lay.count;
        bodies[i].n_own_points = lay_points(&lay, i);
        bodies[i].n_points = lay.count - bodies[i].point;
    }
    const bool moves = lay_rates(host, arena);
    const ArticulatedVariation variation = articulated_parameters(host, choice, bodies, arena, out);
    host->column = articulated_columns(host, bodies, arena, out);
    host->figure = articulated_figure(host, bodies, host->column, arena, &out->drawing);
    c->n_bodies = n;
    c->base = lay_base(robot);
    TRY(articulated_reference(host, bodies, arena, c, out));
    c->floats = 1;
    for (int i = 0; i < n; i++) {
        c->floats &= bodies[i].parent >= 0 || bodies[i].kind == ROBOT_FREE;
        c->balls |= bodies[i].kind == ROBOT_BALL;
    }
    c->n_frames = host->n_frames;
    c->n_points = n_points;
    c->n_surfaces = n_surfaces;
    c->n_inputs = variation.n_inputs;
    c->n_rates = variation.n_rates;
    c->rates = moves || c->n_rates > 0;
    c->n_designs = variation.n_designs;
    c->sums_at = ARTICULATED_CELLS * n;
    c->cells = c->sums_at + ARTICULATED_SUMS;
    if (c->grips != 0) {
        c->grips = c->cells;
        c->cells += 3 * n_points;
    }
    if (c->efforts != 0) {
        c->efforts = c->cells;
        c->cells += ARTICULATED_EFFORT_CELLS * c->n_joints;
    }
    if (c->n_late > 0) {
        c->late = c->cells;
        c->cells += 2 * c->n_joints * c->n_late; // control.h
    }
    if (c->n_legs > 0) {
        c->raibert = c->cells;
        c->cells += RAIBERT_CELLS + RAIBERT_LEG_CELLS * c->n_legs;
    }
    c->compared = c->cells;
    if (c->n_targets > 0) c->cells += 2 + 2 * c->n_targets; // reference.h
    if (c->whole != 0) {
        c->whole = c->cells;
        c->cells += 1 + ARTICULATED_WHOLE_CELLS * n + (c->grips > 0 ? 4 * n_points : 0);
    }
    lay_own(&variation, bodies, c);
    for (int i = 0, driven = 0; i < n; i++)
        if (bodies[i].driven != 0) bodies[i].driven = ++driven;
    articulated_external(host, bodies, arena, c, out);
    c->n_table = host->n_table;
    c->n_rows = host->n_rows;
    c->n_columns = host->n_columns;
    c->n_fields = host->terrain == TERRAIN_file ? robot->n_heights : 0;
    c->starts = host->starts != NULL;
    c->terrain = (int32_t)host->terrain;
    c->terrain_row = ARTICULATED_N_PARAMETERS;
    c->raibert_row = variation.raibert_row;
    c->n_terrain = c->raibert_row - c->terrain_row;
    c->raibert_metric = ARTICULATED_N_METRICS + (c->n_targets > 0);
    out->n_assets = lay_offsets(c);
    double *assets = ARENA_NEW(arena, double, out->n_assets + 1);
    memcpy(assets, bodies, (size_t)n * sizeof *bodies);
    memcpy(assets + c->points, points, (size_t)n_points * sizeof *points);
    memcpy(assets + c->surfaces, surfaces, (size_t)n_surfaces * sizeof *surfaces);
    memcpy(assets + c->inputs, variation.inputs, (size_t)(c->n_inputs + c->n_rates) * sizeof *variation.inputs);
    memcpy(assets + c->designs, variation.designs, (size_t)variation.n_designs * sizeof *variation.designs);
    if (host->actions != NULL)
        memcpy(assets + c->actions, host->actions, (size_t)(c->n_actions * c->n_joints) * sizeof *assets);
    if (c->n_table > 0) memcpy(assets + c->table, host->table, (size_t)(2 * c->n_table) * sizeof *assets);
    if (c->n_rows > 0) memcpy(assets + c->heights, host->heights, (size_t)(c->n_rows * c->n_columns) * sizeof *assets);
    if (c->n_fields > 0) memcpy(assets + c->fields, robot->heights, (size_t)c->n_fields * sizeof *assets);
    if (c->n_frames > 0) memcpy(assets + c->frames, host->frames, (size_t)c->n_frames * sizeof *host->frames);
    if (c->starts != 0) memcpy(assets + c->starts, host->starts, (size_t)c->n_actions * sizeof *assets);
    if (c->n_targets > 0) {
        memcpy(assets + c->targets, host->targets, (size_t)c->n_targets * sizeof *host->targets);
        memcpy(assets + c->records, host->records, (size_t)(c->n_records * (2 + c->n_targets)) * sizeof *assets);
    }
    if (c->n_legs > 0)
        memcpy(assets + c->legs, articulated_legs(host, bodies, c->base, arena),
               (size_t)c->n_legs * sizeof(ArticulatedLeg));
    if (c->rates != 0) memcpy(assets + c->rates, host->rates, (size_t)(ROBOT_RATES * n) * sizeof *assets);
    out->assets = assets;
    out->n_work = c->cells;
    return error_none();
}
