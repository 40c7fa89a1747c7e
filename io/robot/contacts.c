// Which shapes of a robot's file touch the ground, and how: planes, height fields and other shapes of the world, as
// MuJoCo pairs them. Of a pair the greater friction counts, or that of the greater priority; <pair> says it anew. A
// file without plane and height field has no ground; URDF has no planes at all, so a robot that floats stands on one at
// z = 0.
// MuJoCo, XML reference, geom and contact/pair; Computation, Contact parameters.
#include "robot_file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// How two shapes touch.
typedef struct RobotTouch {
    int condim;
    double friction[3], margin;
    const XmlNode *node; // that says so
} RobotTouch;

// What is not simulated: the first element that needs it, and how many do.
typedef struct RobotRefused {
    const XmlNode *first;
    int count;
} RobotRefused;

// ---- what is what ---------------------------------------------------------------------------------------------------

static bool robot_moves(const RobotFile *file, const RobotFileShape *shape)
{
    return shape->shape.body >= 0 && file->bodies[shape->shape.body].kept >= 0;
}

static bool robot_is_plane(const RobotFileShape *shape)
{
    return shape->unknown == NULL && shape->shape.kind == ROBOT_PLANE;
}

// What a terrain of the spec replaces.
static bool robot_is_floor(const RobotFileShape *shape)
{
    return robot_is_plane(shape) || (shape->unknown == NULL && shape->shape.kind == ROBOT_HFIELD);
}

// Links of a URDF that are fixed to the world are the robot's own.
bool robot_is_ground(const RobotFile *file, const RobotFileShape *shape)
{
    if (robot_moves(file, shape)) return false;
    return robot_is_plane(shape) || (file->is_mjcf && (shape->shape.body < 0 || file->bodies[shape->shape.body].fixed));
}

static bool robot_floats(const RobotFile *file)
{
    for (int i = 0; i < file->n_bodies; i++) {
        if (file->bodies[i].joint.kind == ROBOT_FREE) return true;
    }
    return false;
}

static void robot_add_floor(RobotFile *file)
{
    RobotFileShape *floor = robot_add_shape(file, file->root, -1);
    if (floor == NULL) return;
    floor->shape.name = "floor";
    floor->shape.kind = ROBOT_PLANE;
    floor->contype = floor->conaffinity = 1;
    floor->condim = 3;
    floor->friction[0] = 0.0; // so that of the links counts, which Bullet multiplies by 1 of the ground
}

// ---- pairs ----------------------------------------------------------------------------------------------------------

static int pairs_compare(const void *a, const void *b)
{
    const int *one = ((const RobotFilePair *)a)->shape, *other = ((const RobotFilePair *)b)->shape;
    return one[0] != other[0] ? one[0] - other[0] : one[1] - other[1];
}

static int excludes_compare(const void *a, const void *b)
{
    const int *one = ((const RobotFileExclude *)a)->body, *other = ((const RobotFileExclude *)b)->body;
    return one[0] != other[0] ? one[0] - other[0] : one[1] - other[1];
}

static const RobotFilePair *robot_pair(const RobotFile *file, const RobotFileShape *a, const RobotFileShape *b)
{
    const int one = (int)(a - file->shapes), other = (int)(b - file->shapes);
    const RobotFilePair key = {.shape = {one < other ? one : other, one < other ? other : one}};
    return file->n_pairs == 0 ? NULL
                              : bsearch(&key, file->pairs, (size_t)file->n_pairs, sizeof *file->pairs, pairs_compare);
}

static bool robot_excluded(const RobotFile *file, const RobotFileShape *a, const RobotFileShape *b)
{
    const int one = a->shape.body, other = b->shape.body;
    const RobotFileExclude key = {{one < other ? one : other, one < other ? other : one}};
    return file->n_excludes > 0 &&
           bsearch(&key, file->excludes, (size_t)file->n_excludes, sizeof *file->excludes, excludes_compare) != NULL;
}

// Of the greater priority, or the greatest of both.
static RobotTouch robot_mix(const RobotFileShape *a, const RobotFileShape *b)
{
    const RobotFileShape *first = b->priority > a->priority ? b : a;
    const bool both = a->priority == b->priority;
    RobotTouch touch = {.condim = both && b->condim > a->condim ? b->condim : first->condim,
                        .margin = a->margin + b->margin,
                        .node = both && b->condim > a->condim ? b->node : first->node};
    for (int k = 0; k < 3; k++) touch.friction[k] = both ? fmax(a->friction[k], b->friction[k]) : first->friction[k];
    return touch;
}

// Do they collide?
static bool robot_touch(const RobotFile *file, const RobotFileShape *a, const RobotFileShape *b, RobotTouch *touch)
{
    const RobotFilePair *pair = robot_pair(file, a, b);
    if (pair != NULL) {
        *touch = (RobotTouch){.condim = pair->condim, .margin = pair->margin, .node = pair->node};
        memcpy(touch->friction, pair->friction, sizeof touch->friction);
        return true;
    }
    if ((a->contype & b->conaffinity) == 0 && (a->conaffinity & b->contype) == 0) return false;
    if (robot_excluded(file, a, b)) return false;
    *touch = robot_mix(a, b);
    return true;
}

static void robot_refuse(RobotRefused *refused, const XmlNode *node)
{
    if (refused->count++ == 0) refused->first = node;
}

// The coefficient of sliding friction; torques of friction are counted.
static double robot_sliding(const RobotTouch *touch, RobotRefused *rolling)
{
    const bool rolls =
        (touch->condim >= 4 && touch->friction[1] > 0.0) || (touch->condim == 6 && touch->friction[2] > 0.0);
    if (rolls) robot_refuse(rolling, touch->node);
    return touch->condim == 1 ? 0.0 : fmax(touch->friction[0], 0.0);
}

// ---- what is not simulated ------------------------------------------------------------------------------------------

// ", and 3 more"
static const char *robot_others(const RobotFile *file, int count)
{
    return count > 1 ? arena_format(file->arena, " (and %d more)", count - 1) : "";
}

// What the spec can do about a mesh of a body that moves.
static const char *robot_hint(const RobotFile *file, const RobotFileShape *shape, const char *kind)
{
    const bool can = strcmp(kind, "mesh") == 0 && !shape->fitted && robot_moves(file, shape) &&
                     file->options->meshes == ROBOT_MESHES_REFUSE;
    return can ? ", set meshes: hull" : "";
}

// One error for all meshes: there may be hundreds. Height fields of the world have theirs already (robot_read_field).
static void robot_refuse_meshes(RobotFile *file, const char *kind)
{
    const RobotFileShape *first = NULL;
    const bool field = strcmp(kind, "hfield") == 0;
    int count = 0;
    for (int i = 0; i < file->n_shapes; i++) {
        const RobotFileShape *shape = &file->shapes[i];
        const bool such = shape->unknown != NULL && strcmp(shape->unknown, kind) == 0;
        if (such && !shape->shape.collides) robot_note(file, false, kind, 1);
        if (!such || !shape->shape.collides) continue;
        if (field && robot_is_ground(file, shape) && !robot_ignores(file, kind)) continue;
        count++;
        if (first == NULL) first = shape;
    }
    if (first == NULL) return;
    if (robot_ignores(file, kind)) {
        robot_note(file, true, kind, count);
        return;
    }
    robot_error(file, first->node, NULL,
                "%s%s collides and is a %s%s, which is not simulated; use spheres, capsules, boxes or cylinders%s, or "
                "add %s to ignore: then it touches nothing",
                robot_label(file, first->node), robot_others(file, count), kind, field ? " of a body that moves" : "",
                robot_hint(file, first, kind), kind);
}

static void robot_refuse_rolling(RobotFile *file, const RobotRefused *rolling)
{
    if (rolling->count == 0) return;
    if (robot_ignores(file, "condim")) {
        robot_note(file, true, "condim", rolling->count);
        return;
    }
    robot_error(file, rolling->first, "condim",
                "%s%s has torsional or rolling friction (condim 4 or 6), which is not simulated; use condim 3, give "
                "friction 0 for it, or add condim to ignore: then it slides as with condim 3",
                robot_label(file, rolling->first), robot_others(file, rolling->count));
}

static void robot_refuse_ellipsoids(RobotFile *file, const RobotRefused *ellipsoids)
{
    if (ellipsoids->count == 0) return;
    robot_error(file, ellipsoids->first, NULL,
                "%s of the world is an ellipsoid that the robot may touch, which is not simulated; use a sphere, "
                "capsule, cylinder or box, or add worldbody to ignore: then it touches planes only",
                robot_label(file, ellipsoids->first));
}

// Bodies do not touch each other here, as a pair or otherwise.
static void robot_note_pairs(RobotFile *file)
{
    for (int i = 0; i < file->n_pairs; i++) {
        const int *of = file->pairs[i].shape;
        if (robot_moves(file, &file->shapes[of[0]]) && robot_moves(file, &file->shapes[of[1]]))
            robot_note(file, true, "pair of bodies", 1);
    }
}

// Shapes with edges and sides touch the shapes of the world by their corners, ends and lowest points.
static void robot_note_edges(RobotFile *file, const RobotFileShape *shape, const RobotFileShape *ground)
{
    static const char *const edges[] = {[ROBOT_CAPSULE] = "side of a capsule",
                                        [ROBOT_CYLINDER] = "side of a cylinder",
                                        [ROBOT_BOX] = "edge of a box",
                                        [ROBOT_ELLIPSOID] = "side of an ellipsoid"};
    const bool edged = shape->shape.kind != ROBOT_SPHERE && !robot_is_floor(shape); // a plane that moves is an error
    if (ground->shape.kind == ROBOT_PLANE || !edged) return;
    robot_note(file, true, arena_format(file->arena, "%s on shapes of the world", edges[shape->shape.kind]), 1);
}

static void robot_check_ground(RobotFile *file, const RobotFileShape *shape)
{
    if (robot_is_plane(shape) && !robot_is_ground(file, shape))
        robot_error(file, shape->node, NULL,
                    "a plane can only be a geom of the world, or of a body that does not move");
}

// ---- all of it ------------------------------------------------------------------------------------------------------

// Contacts while they are found.
typedef struct RobotFinding {
    RobotFile *file;
    const int *grounds; // [n_grounds] shapes
    int n_grounds, n_floors;
    RobotContact *contacts; // [ROBOT_CONTACTS_MAX]
    int n_contacts;
    RobotRefused rolling, ellipsoids;
} RobotFinding;

static void robot_add_contact(RobotFinding *finding, RobotFileShape *shape, RobotFileShape *ground,
                              const RobotTouch *touch)
{
    if (shape->unknown != NULL || ground->unknown != NULL) {
        shape->shape.collides |= shape->unknown != NULL;
        ground->shape.collides |= ground->unknown != NULL;
        return;
    }
    if (ground->shape.kind == ROBOT_ELLIPSOID) robot_refuse(&finding->ellipsoids, ground->node);
    robot_note_edges(finding->file, shape, ground);
    if (finding->n_contacts++ >= ROBOT_CONTACTS_MAX) return;
    finding->contacts[finding->n_contacts - 1] = (RobotContact){.shape = shape->kept,
                                                                .ground = ground->kept,
                                                                .friction = robot_sliding(touch, &finding->rolling),
                                                                .margin = touch->margin};
}

// With a terrain of the spec a shape touches it as it does the first plane or height field that it touches; without any
// in the file as a plane with MuJoCo's defaults.
static void robot_on_terrain(RobotFinding *finding, RobotFileShape *shape, const RobotTouch *floor)
{
    const RobotFileShape usual = {
        .contype = 1, .conaffinity = 1, .condim = 3, .friction = {finding->file->is_mjcf ? 1.0 : 0.0, 0.005, 0.0001}};
    const bool any = finding->n_floors == 0 && ((shape->contype | shape->conaffinity) & 1) != 0;
    if (floor == NULL && !any) return;
    const RobotTouch touch = floor != NULL ? *floor : robot_mix(shape, &usual);
    RobotRefused counted = {0};
    shape->shape.collides = true;
    shape->shape.friction = robot_sliding(&touch, floor != NULL ? &counted : &finding->rolling);
    shape->shape.margin = touch.margin;
}

static void robot_touch_grounds(RobotFinding *finding, RobotFileShape *shape)
{
    RobotFile *file = finding->file;
    RobotTouch touch, floor;
    bool on_floor = false;
    for (int g = 0; g < finding->n_grounds; g++) {
        RobotFileShape *ground = &file->shapes[finding->grounds[g]];
        if (!robot_touch(file, shape, ground, &touch)) continue;
        if (robot_is_floor(ground) && !on_floor) {
            floor = touch;
            on_floor = true;
        }
        if (!robot_is_floor(ground) && ground->unknown == NULL && robot_ignores(file, "worldbody"))
            robot_note(file, true, "worldbody", 1);
        else
            robot_add_contact(finding, shape, ground, &touch);
    }
    robot_on_terrain(finding, shape, on_floor ? &floor : NULL);
}

static void robot_find_grounds(RobotFinding *finding)
{
    RobotFile *file = finding->file;
    int *grounds = ARENA_NEW(file->arena, int, file->n_shapes + 1);
    for (int i = 0, known = 0; i < file->n_shapes; i++) {
        file->shapes[i].kept = known;
        known += file->shapes[i].unknown == NULL;
        robot_check_ground(file, &file->shapes[i]);
        if (!robot_is_ground(file, &file->shapes[i])) continue;
        grounds[finding->n_grounds++] = i;
        finding->n_floors += robot_is_floor(&file->shapes[i]);
    }
    finding->grounds = grounds;
}

static bool robot_is_touched(const RobotFile *file, const RobotFileShape *ground)
{
    RobotTouch touch;
    for (int i = 0; i < file->n_shapes; i++) {
        if (robot_moves(file, &file->shapes[i]) && robot_touch(file, &file->shapes[i], ground, &touch)) return true;
    }
    return false;
}

// Height fields that nothing touches are not read: they may be pictures.
static void robot_read_fields(RobotFile *file)
{
    for (int i = 0; i < file->n_shapes && !file->no_contacts && !robot_ignores(file, "hfield"); i++) {
        RobotFileShape *shape = &file->shapes[i];
        if (shape->unknown == NULL || strcmp(shape->unknown, "hfield") != 0) continue;
        if (robot_is_ground(file, shape) && robot_is_touched(file, shape)) robot_read_field(file, shape);
    }
}

void robot_find_contacts(RobotFile *file, Robot *robot, Arena *arena)
{
    static const char *const kinds[] = {"mesh", "hfield", "sdf"};
    RobotFinding finding = {.file = file};
    if (!file->is_mjcf && robot_floats(file)) robot_add_floor(file);
    robot_read_meshes(file);
    if (file->n_pairs > 0) qsort(file->pairs, (size_t)file->n_pairs, sizeof *file->pairs, pairs_compare);
    if (file->n_excludes > 0) qsort(file->excludes, (size_t)file->n_excludes, sizeof *file->excludes, excludes_compare);
    robot_read_fields(file);
    robot_find_grounds(&finding);
    finding.contacts = ARENA_NEW(file->arena, RobotContact, ROBOT_CONTACTS_MAX);
    for (int i = 0; i < file->n_shapes && !file->no_contacts; i++) {
        if (robot_moves(file, &file->shapes[i])) robot_touch_grounds(&finding, &file->shapes[i]);
    }
    for (int k = 0; k < 3; k++) robot_refuse_meshes(file, kinds[k]);
    robot_refuse_ellipsoids(file, &finding.ellipsoids);
    robot_refuse_rolling(file, &finding.rolling);
    robot_note_pairs(file);
    if (finding.n_contacts > ROBOT_CONTACTS_MAX) {
        robot_error(file, file->root, NULL,
                    "%d pairs of a shape of the robot and one of the world touch, at most %d may", finding.n_contacts,
                    ROBOT_CONTACTS_MAX);
        return;
    }
    RobotContact *contacts = ARENA_NEW(arena, RobotContact, finding.n_contacts + 1);
    memcpy(contacts, finding.contacts, (size_t)finding.n_contacts * sizeof *contacts);
    robot->contacts = contacts;
    robot->n_contacts = finding.n_contacts;
}
