// Meshes that collide, if the spec wants them: the points of their convex hulls, or boxes or capsules around them. Of a
// mesh with many vertices those count that lie farthest in the 26 directions of a cube's faces, edges and corners; a
// plane touches a convex body at its farthest point, so these are exact along the directions, and a box is all of its
// corners. A campaign's copy of a robot has the points as `vertex` (and what the mesh weighs as `solid`), and no files.
#include "../text.h"
#include "mesh.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MESH_POINTS = 26 };

// ---- points ---------------------------------------------------------------------------------------------------------

// Of vertices: all of them as long as there are few different ones, and the farthest along each direction.
typedef struct MeshHull {
    double few[MESH_POINTS + 1][3];
    int n_few; // MESH_POINTS + 1: there are more
    double far[MESH_POINTS][3], most[MESH_POINTS];
    bool any; // false: there is none yet
} MeshHull;

static bool mesh_is_point(const double *a, const double *b) { return a[0] == b[0] && a[1] == b[1] && a[2] == b[2]; }

// Adds a point to count[] different ones, at most `most`; returns how many there are.
static int mesh_add_once(double (*points)[3], int count, int most, const double *point)
{
    for (int i = 0; i < count; i++) {
        if (mesh_is_point(points[i], point)) return count;
    }
    if (count < most) memcpy(points[count++], point, 3 * sizeof *point);
    return count;
}

// A direction has components -1, 0 and 1.
static double mesh_along(const double *point, int direction)
{
    const int code = direction < MESH_POINTS / 2 ? direction : direction + 1; // 13 is none
    return (code % 3 - 1) * point[0] + (code / 3 % 3 - 1) * point[1] + (code / 9 - 1) * point[2];
}

static void mesh_add(MeshHull *hull, const double *point)
{
    if (hull->n_few <= MESH_POINTS) hull->n_few = mesh_add_once(hull->few, hull->n_few, MESH_POINTS + 1, point);
    for (int d = 0; d < MESH_POINTS; d++) {
        const double along = mesh_along(point, d);
        if (hull->any && along <= hull->most[d]) continue;
        hull->most[d] = along;
        memcpy(hull->far[d], point, 3 * sizeof *point);
    }
    hull->any = true;
}

// points[MESH_POINTS] <- those that count; returns their number.
static int mesh_points(const Mesh *mesh, double (*points)[3])
{
    int count = 0;
    MeshHull all_of = {.n_few = 0}, *const hull = &all_of;
    for (int i = 0; i < mesh->n_points; i++) mesh_add(hull, mesh->points[i]);
    const bool all = hull->n_few <= MESH_POINTS;
    for (int i = 0; i < (all ? hull->n_few : MESH_POINTS); i++)
        count = mesh_add_once(points, count, MESH_POINTS, all ? hull->few[i] : hull->far[i]);
    return count;
}

// ---- capsules -------------------------------------------------------------------------------------------------------

// A capsule around all vertices: its axis goes through the middle of the box around them, along its longest edge. A box
// has no other direction that every mesh has: principal axes of symmetric bodies are anywhere across. It is the
// narrowest around that axis, and then the shortest; at its radius the farthest vertex lies in its side.
typedef struct MeshCapsule {
    int axis;
    double middle[3], radius, half; // of its cylinder
    int at[3];                      // the vertices that decide its radius and its ends
} MeshCapsule;

// Square of the distance of a scaled vertex from the axis.
static double mesh_off(const MeshCapsule *capsule, const double *point, const double scale[3])
{
    double square = 0.0;
    for (int a = 0; a < 3; a++) {
        const double off = scale[a] * point[a] - capsule->middle[a];
        if (a != capsule->axis) square += off * off;
    }
    return square;
}

// The middle of the box around scaled points, and half of its edges.
static void mesh_bounds(double (*points)[3], int count, const double scale[3], double middle[3], double half[3])
{
    for (int a = 0; a < 3; a++) {
        double low = scale[a] * points[0][a], high = low;
        for (int i = 1; i < count; i++) {
            low = fmin(low, scale[a] * points[i][a]);
            high = fmax(high, scale[a] * points[i][a]);
        }
        middle[a] = 0.5 * (low + high);
        half[a] = 0.5 * (high - low);
    }
}

static MeshCapsule mesh_capsule(double (*points)[3], int count, const double scale[3])
{
    MeshCapsule capsule = {.axis = 0};
    double half[3], square = 0.0, low = INFINITY, high = -INFINITY;
    mesh_bounds(points, count, scale, capsule.middle, half);
    for (int a = 1; a < 3; a++)
        if (half[a] > half[capsule.axis]) capsule.axis = a;
    for (int i = 0; i < count; i++) {
        const double off = mesh_off(&capsule, points[i], scale);
        if (off <= square) continue;
        square = off;
        capsule.at[0] = i;
    }
    capsule.radius = sqrt(square);
    for (int i = 0; i < count; i++) { // a cap holds a vertex if its middle is this near
        const double along = scale[capsule.axis] * points[i][capsule.axis];
        const double near = sqrt(fmax(square - mesh_off(&capsule, points[i], scale), 0.0));
        if (along + near < low) {
            low = along + near;
            capsule.at[1] = i;
        }
        if (along - near > high) {
            high = along - near;
            capsule.at[2] = i;
        }
    }
    capsule.middle[capsule.axis] = 0.5 * (low + high);
    capsule.half = fmax(0.5 * (high - low), 0.0); // 0: a sphere
    return capsule;
}

// ---- the text that is kept ------------------------------------------------------------------------------------------

// What the mesh weighs, as an attribute; "": it has no volume, or is of no kind.
static const char *mesh_solid_text(const Mesh *mesh, const double scale[3], const char *inertia, Arena *arena)
{
    MeshSolid solid;
    const char *text = " solid=\"";
    if (mesh_solid(mesh, scale, inertia, arena, &solid).kind != OK) return "";
    double numbers[MESH_SOLID];
    memcpy(numbers, &solid, sizeof numbers);
    for (int i = 0; i < MESH_SOLID; i++) text = arena_format(arena, "%s%s%.17g", text, i > 0 ? " " : "", numbers[i]);
    return arena_format(arena, "%s\"", text);
}

static void mesh_scale_of(const XmlNode *root, const XmlNode *node, double scale[3])
{
    const char *text = mesh_setting(root, node, "scale");
    char *end = (char *)(uintptr_t)text;
    for (int a = 0; a < 3; a++) scale[a] = text != NULL ? strtod(end, &end) : 1.0;
}

static const char *mesh_text(const XmlNode *root, const XmlNode *node, const Mesh *mesh, const RobotKeep *keep,
                             Arena *arena)
{
    double points[MESH_POINTS + 3][3], scale[3];
    int count = mesh_points(mesh, points);
    const char *text = "<mesh", *name = robot_text_of(node, "name");
    mesh_scale_of(root, node, scale);
    const MeshCapsule capsule = mesh_capsule(mesh->points, mesh->n_points, scale);
    for (int k = 0; k < 3 && keep->meshes == ROBOT_MESHES_CAPSULE; k++)
        count = mesh_add_once(points, count, MESH_POINTS + 3, mesh->points[capsule.at[k]]);
    if (name == NULL && robot_text_of(node, "file") != NULL)
        text = arena_format(arena, "%s name=\"%s\"", text, robot_escape(robot_asset_name(node, arena), arena));
    for (int i = 0; i < node->n_attributes; i++) {
        const XmlAttribute *given = &node->attributes[i];
        if (robot_word_in("file content_type", given->name) || given->value[0] == '\0') continue;
        text = arena_format(arena, "%s %s=\"%s\"", text, given->name, robot_escape(given->value, arena));
    }
    if (keep->weighs && robot_text_of(node, "solid") == NULL)
        text =
            arena_format(arena, "%s%s", text, mesh_solid_text(mesh, scale, mesh_setting(root, node, "inertia"), arena));
    text = arena_format(arena, "%s vertex=\"", text);
    for (int i = 0; i < count; i++)
        text = arena_format(arena, "%s%s%.17g %.17g %.17g", text, i > 0 ? " " : "", points[i][0], points[i][1],
                            points[i][2]);
    return arena_format(arena, "%s\"/>", text);
}

const char *robot_mesh_text(const char *folder, const XmlNode *root, const XmlNode *node, const RobotKeep *keep,
                            Arena *arena, size_t *read)
{
    Arena scratch;
    Mesh mesh;
    const char *text = NULL;
    if (arena_create_growing(&scratch, ROBOT_FILE_BYTES, "a mesh").kind != OK) return NULL;
    if (mesh_load(folder, root, node, keep->weighs, &scratch, read, &mesh).kind == OK)
        text = arena_copy(arena, mesh_text(root, node, &mesh, keep, &scratch));
    arena_destroy(&scratch);
    return text;
}

// ---- shapes ---------------------------------------------------------------------------------------------------------

// The element of a shape's mesh, and its scale. NULL: an error.
static const XmlNode *mesh_find(RobotFile *file, const RobotFileShape *shape, double scale[3])
{
    for (int a = 0; a < 3; a++) scale[a] = 1.0;
    if (shape->mesh != NULL) {
        robot_numbers(file, shape->mesh, "scale", 3, 3, scale);
        return shape->mesh;
    }
    for (int i = 0; i < file->n_meshes && shape->field != NULL; i++) {
        if (strcmp(file->meshes[i].name, shape->field) != 0) continue;
        memcpy(scale, file->meshes[i].scale, sizeof file->meshes[i].scale);
        return file->meshes[i].node;
    }
    robot_error(file, shape->node, "mesh", "there is no mesh '%.128s' in <asset>",
                shape->field != NULL ? shape->field : "");
    return NULL;
}

// What a shape's mesh weighs. False: an error.
bool robot_mesh_solid(RobotFile *file, const RobotFileShape *shape, double *volume, RobotMass *mass)
{
    Mesh mesh;
    MeshSolid solid;
    double scale[3], numbers[MESH_SOLID];
    const XmlNode *node = mesh_find(file, shape, scale);
    const size_t used = file->arena->used;
    if (node == NULL) return false;
    if (robot_numbers(file, node, "solid", MESH_SOLID, MESH_SOLID, numbers) == MESH_SOLID) {
        memcpy(&solid, numbers, sizeof numbers);
        if (!(solid.volume > 0.0)) robot_error(file, node, "solid", "the volume of solid must be greater than 0");
    } else if (!mesh_read(file, node, true, &mesh)) {
        return false;
    } else {
        const char *inertia = mesh_setting(file->root, node, "inertia"),
                   *most = mesh_setting(file->root, node, "maxhullvert");
        const bool hull = mesh.n_faces == 0 || (inertia != NULL && strcmp(inertia, "convex") == 0);
        if (hull && most != NULL && strcmp(most, "-1") != 0)
            robot_error(file, node, "maxhullvert",
                        "maxhullvert is not read, and %s weighs as its hull; write inertia=\"exact\", or give the "
                        "body <inertial>",
                        robot_label(file, node));
        const Error error = mesh_solid(&mesh, scale, inertia, file->arena, &solid);
        if (error.kind != OK)
            robot_error(file, node, NULL, "%s gives its body inertia: %s; give the body <inertial>",
                        robot_label(file, node), error.text);
        if (error.kind != OK) return false;
    }
    arena_rewind(file->arena, used);
    *volume = solid.volume;
    *mass = (RobotMass){.mass = 1.0};
    memcpy(mass->centre, solid.centre, sizeof mass->centre);
    for (int k = 0; k < 6; k++) mass->inertia[k] = solid.inertia[k] / solid.volume;
    return true;
}

// A copy of a shape for one more point, and for its pairs.
static RobotFileShape *mesh_another(RobotFile *file, int of)
{
    RobotFileShape *shape = robot_add_shape(file, file->shapes[of].node, file->shapes[of].shape.body);
    if (shape == NULL) return NULL;
    const int own = (int)(shape - file->shapes), pairs = file->n_pairs;
    *shape = file->shapes[of];
    for (int i = 0; i < pairs && file->n_pairs < ROBOT_PAIRS_MAX; i++) {
        const int *with = file->pairs[i].shape;
        if (with[0] != of && with[1] != of) continue;
        RobotFilePair *pair = &file->pairs[file->n_pairs++];
        *pair = file->pairs[i];
        pair->shape[0] = with[0] == of ? with[1] : with[0]; // `own` is the greatest
        pair->shape[1] = own;
        if (file->n_pairs == ROBOT_PAIRS_MAX)
            robot_error(file, pair->node, NULL, "more than %d pairs with those of points of meshes", ROBOT_PAIRS_MAX);
    }
    return shape;
}

static void mesh_place(RobotFileShape *shape, const RobotFrame *frame, const double *point)
{
    shape->unknown = NULL;
    shape->shape.kind = ROBOT_SPHERE; // of radius 0
    memset(shape->shape.size, 0, sizeof shape->shape.size);
    robot_transform(frame, point, shape->shape.p);
}

static void mesh_box(RobotFileShape *shape, const RobotFrame *frame, double (*points)[3], int count,
                     const double scale[3])
{
    double middle[3];
    shape->unknown = NULL;
    shape->shape.kind = ROBOT_BOX;
    mesh_bounds(points, count, scale, middle, shape->shape.size);
    robot_transform(frame, middle, shape->shape.p);
}

static void mesh_set_capsule(RobotFileShape *shape, const RobotFrame *frame, const MeshCapsule *capsule)
{
    const double axis[3] = {capsule->axis == 0, capsule->axis == 1, capsule->axis == 2};
    RobotFrame own = robot_frame_none();
    shape->unknown = NULL;
    shape->shape.kind = ROBOT_CAPSULE;
    shape->shape.size[0] = capsule->radius;
    shape->shape.size[1] = capsule->half;
    shape->shape.size[2] = 0.0;
    memcpy(own.p, capsule->middle, sizeof own.p);
    robot_turn_z(axis, own.q);
    const RobotFrame placed = robot_frame_product(frame, &own);
    memcpy(shape->shape.p, placed.p, sizeof placed.p);
    memcpy(shape->shape.q, placed.q, sizeof placed.q);
}

// Points of the hull, each a shape of its own.
static void mesh_set_points(RobotFile *file, int index, const RobotFrame *frame, double (*points)[3], int count,
                            const double scale[3])
{
    for (int i = 0; i < count; i++) {
        for (int a = 0; a < 3; a++) points[i][a] *= scale[a];
    }
    for (int i = 1; i < count; i++) {
        RobotFileShape *more = mesh_another(file, index);
        if (more == NULL) return;
        mesh_place(more, frame, points[i]);
    }
    mesh_place(&file->shapes[index], frame, points[0]);
}

static void mesh_give(RobotFile *file, int index)
{
    RobotFileShape *shape = &file->shapes[index];
    double scale[3], points[MESH_POINTS][3];
    Mesh mesh;
    const size_t used = file->arena->used;
    const XmlNode *node = mesh_find(file, shape, scale);
    if (node == NULL || !mesh_read(file, node, false, &mesh)) return;
    const int count = mesh_points(&mesh, points);
    const MeshCapsule capsule = mesh_capsule(mesh.points, mesh.n_points, scale);
    if (file->options->meshes == ROBOT_MESHES_HULL) mesh_reduce(file, node, &mesh, scale, points, count);
    arena_rewind(file->arena, used);
    RobotFrame frame;
    memcpy(frame.p, shape->shape.p, sizeof frame.p);
    memcpy(frame.q, shape->shape.q, sizeof frame.q);
    switch (file->options->meshes) {
    case ROBOT_MESHES_HULL: mesh_set_points(file, index, &frame, points, count, scale); break;
    case ROBOT_MESHES_BOX: mesh_box(shape, &frame, points, count, scale); break;
    case ROBOT_MESHES_CAPSULE: mesh_set_capsule(shape, &frame, &capsule); break;
    case ROBOT_MESHES_REFUSE: break;
    }
}

static bool mesh_may_touch(const RobotFile *file, int index)
{
    const RobotFileShape *shape = &file->shapes[index];
    bool paired = false;
    for (int i = 0; i < file->n_pairs; i++)
        paired |= file->pairs[i].shape[0] == index || file->pairs[i].shape[1] == index;
    return paired || shape->contype != 0 || shape->conaffinity != 0;
}

void robot_read_meshes(RobotFile *file)
{
    const int count = file->n_shapes;
    const bool wanted = file->options->meshes != ROBOT_MESHES_REFUSE && !robot_ignores(file, "mesh");
    for (int i = 0; i < count && wanted && !file->no_contacts; i++) {
        const RobotFileShape *shape = &file->shapes[i];
        const bool moves = shape->shape.body >= 0 && file->bodies[shape->shape.body].kept >= 0;
        const bool mesh = shape->unknown != NULL && strcmp(shape->unknown, "mesh") == 0;
        if (mesh && !shape->fitted && moves && mesh_may_touch(file, i)) mesh_give(file, i);
    }
}
