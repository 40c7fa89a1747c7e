// Meshes that collide, if the spec wants them: the points of their convex hulls, or boxes around them. Of a mesh with
// many vertices those count that lie farthest in the 26 directions of a cube's faces, edges and corners; a plane
// touches a convex body at its farthest point, so these are exact along the directions, and a box is all of its
// corners. Read are OBJ (lines `v x y z`) and STL (text, or binary: 80 bytes, uint32 count, 50 bytes for each facet
// with its normal and three corners as float32), and `vertex`, as MuJoCo has it. A campaign's copy of a robot has the
// points as `vertex`, and no files.
// MuJoCo, XML reference, asset/mesh; wiki.ros.org/urdf/XML/link.
#include "../characters.h"
#include "../file.h"
#include "../folder.h"
#include "../text.h"
#include "robot_file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { MESH_POINTS = 26, MESH_HEAD = 84, MESH_FACET = 50, MESH_VERTICES_MAX = 1 << 24 };
#define MESH_BYTES_MAX ((size_t)64 << 20)  // of a file
#define MESHES_BYTES_MAX ((size_t)1 << 30) // of all that are read

// ---- points ---------------------------------------------------------------------------------------------------------

// Vertices as they come: all of them as long as there are few different ones, and the farthest along each direction.
typedef struct MeshHull {
    double few[MESH_POINTS + 1][3];
    int n_few; // MESH_POINTS + 1: there are more
    double far[MESH_POINTS][3], most[MESH_POINTS];
    int64_t count;
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

static void mesh_add(MeshHull *hull, const double *vertex)
{
    const double point[3] = {vertex[0] + 0.0, vertex[1] + 0.0, vertex[2] + 0.0}; // no -0
    if (hull->n_few <= MESH_POINTS) hull->n_few = mesh_add_once(hull->few, hull->n_few, MESH_POINTS + 1, point);
    for (int d = 0; d < MESH_POINTS; d++) {
        const double along = mesh_along(point, d);
        if (hull->count > 0 && along <= hull->most[d]) continue;
        hull->most[d] = along;
        memcpy(hull->far[d], point, sizeof point);
    }
    hull->count++;
}

// points[MESH_POINTS] <- those that count; returns their number.
static int mesh_points(const MeshHull *hull, double (*points)[3])
{
    int count = 0;
    const bool all = hull->n_few <= MESH_POINTS;
    for (int i = 0; i < (all ? hull->n_few : MESH_POINTS); i++)
        count = mesh_add_once(points, count, MESH_POINTS, all ? hull->few[i] : hull->far[i]);
    return count;
}

// ---- files ----------------------------------------------------------------------------------------------------------

// Error (user) at a vertex that is no point.
static Error mesh_take(const char *name, const double *vertex, MeshHull *hull)
{
    for (int a = 0; a < 3; a++) {
        if (!(fabs(vertex[a]) <= 1e9))
            return error_make(ERROR_USER, "%.160s: vertex %lld is not a point within 1e9", name,
                              (long long)hull->count + 1);
    }
    mesh_add(hull, vertex);
    return error_none();
}

static Error mesh_of_facets(const char *name, const Bytes *bytes, MeshHull *hull)
{
    for (size_t at = MESH_HEAD; at < bytes->size; at += MESH_FACET) {
        float corner[3];
        for (int k = 1; k <= 3; k++) { // the normal is first
            memcpy(corner, bytes->data + at + (size_t)k * sizeof corner, sizeof corner);
            TRY(mesh_take(name, (const double[]){corner[0], corner[1], corner[2]}, hull));
        }
    }
    return error_none();
}

// Lines that begin with the word and three numbers: `v` of OBJ, `vertex` of STL.
static Error mesh_of_lines(const char *name, const Bytes *bytes, const char *word, MeshHull *hull)
{
    const size_t length = strlen(word);
    int64_t line = 1;
    for (const char *at = (const char *)bytes->data; *at != '\0'; line++) {
        const char *next = at + strcspn(at, "\n");
        at += strspn(at, " \t");
        if (strncmp(at, word, length) == 0 && (at[length] == ' ' || at[length] == '\t')) {
            double vertex[3] = {NAN, NAN, NAN};
            char *end = (char *)(uintptr_t)at + length;
            for (int a = 0; a < 3; a++) {
                const char *from = end + strspn(end, " \t");
                const size_t size = strcspn(from, " \t\r\n");
                if (size == 0 || strspn(from, "+-.0123456789eE") < size) break;
                vertex[a] = strtod(from, &end);
            }
            if (!(fabs(vertex[2]) <= 1e9) || end > next)
                return error_make(ERROR_USER, "%.160s:%lld: a vertex needs three numbers within 1e9", name,
                                  (long long)line);
            TRY(mesh_take(name, vertex, hull));
        }
        at = *next == '\n' ? next + 1 : next;
    }
    return error_none();
}

static bool mesh_is_binary(const Bytes *bytes)
{
    uint32_t facets = 0;
    if (bytes->size < MESH_HEAD) return false;
    memcpy(&facets, bytes->data + MESH_HEAD - sizeof facets, sizeof facets);
    return bytes->size == MESH_HEAD + (uint64_t)facets * MESH_FACET;
}

static Error mesh_parse(const char *name, const Bytes *bytes, MeshHull *hull)
{
    const char *dot = strrchr(name, '.');
    const bool text = memchr(bytes->data, '\0', bytes->size) == NULL;
    const bool stl = dot != NULL && strcasecmp(dot, ".stl") == 0, obj = dot != NULL && strcasecmp(dot, ".obj") == 0;
    if (!stl && !obj)
        return error_make(
            ERROR_USER,
            "'%.160s' is neither STL nor OBJ; convert it, for instance `trimesh.load(file).export(\"x.stl\")` "
            "in Python, or add mesh to ignore: then it touches nothing",
            name);
    if (stl && mesh_is_binary(bytes))
        TRY(mesh_of_facets(name, bytes, hull));
    else if (text)
        TRY(mesh_of_lines(name, bytes, stl ? "vertex" : "v", hull));
    if (hull->count > 0) return error_none();
    return error_make(ERROR_USER, "'%.160s' has no vertices%s", name, stl ? ": it is cut off, or no STL" : "");
}

// ---- where they are -------------------------------------------------------------------------------------------------

// The path of `package://NAME/REST` from the spec's folder: in a folder of that name beside, or in one around the
// robot's file, which is the package itself.
static const char *mesh_in_package(const char *folder, const char *file, const char *rest, Arena *arena)
{
    const char *name = rest, *below = strchr(rest, '/');
    if (below == NULL) return rest;
    const char *package = arena_format(arena, "%.*s", (int)(below - name), name);
    const char *own = robot_path(folder, file, "", arena);
    char *prefix = arena_copy(arena, own);
    for (size_t length = strlen(prefix);;) {
        const char *const tries[] = {arena_format(arena, "%s%s%s", prefix, package, below),
                                     arena_format(arena, "%s%s", prefix, below + 1)};
        for (int k = 0; k < 2; k++) {
            if (!file_missing(arena_format(arena, "%s/%s", folder, tries[k]))) return tries[k];
        }
        if (length == 0) return tries[0];
        for (length--; length > 0 && prefix[length - 1] != '/';) length--;
        prefix[length] = '\0';
    }
}

static const char *mesh_path(const char *folder, const XmlNode *root, const char *name, Arena *arena)
{
    static const char package[] = "package://", here[] = "file://";
    const char *file = root->source->file;
    if (strncmp(name, package, strlen(package)) == 0)
        return mesh_in_package(folder, file, name + strlen(package), arena);
    if (strncmp(name, here, strlen(here)) == 0) name += strlen(here);
    return robot_path(folder, file, strcmp(root->name, "mujoco") == 0 ? robot_asset(root, name, arena) : name, arena);
}

static Error mesh_open(const char *folder, const XmlNode *root, const char *name, Arena *arena, size_t *read,
                       MeshHull *hull)
{
    FileWithin file;
    Bytes bytes = {0};
    if (folder == NULL) return error_make(ERROR_USER, "no file can be read here: the text is not a file");
    name = mesh_path(folder, root, name, arena);
    TRY(file_open_within(folder, name, arena, &file));
    if ((size_t)file.bytes > MESH_BYTES_MAX) {
        file_close_within(&file);
        return error_make(ERROR_USER, "'%.160s' has more than %d MiB", text_visible(name, arena),
                          (int)(MESH_BYTES_MAX >> 20));
    }
    if (*read + (size_t)file.bytes > MESHES_BYTES_MAX) {
        file_close_within(&file);
        return error_make(ERROR_USER, "the meshes have more than %d MiB", (int)(MESHES_BYTES_MAX >> 20));
    }
    *read += (size_t)file.bytes;
    TRY(file_read_within(&file, MESH_BYTES_MAX, arena, &bytes));
    return mesh_parse(text_visible(name, arena), &bytes, hull);
}

static const char *mesh_file(const XmlNode *node)
{
    const char *name = robot_text_of(node, "file");
    return name != NULL ? name : robot_text_of(node, "filename");
}

// The vertices of the file that an element names. Nothing of it stays in the arena. *read: bytes of all files so far.
static Error mesh_load(const char *folder, const XmlNode *root, const XmlNode *node, Arena *arena, size_t *read,
                       MeshHull *hull)
{
    const size_t used = arena->used;
    const Error error = mesh_open(folder, root, mesh_file(node), arena, read, hull);
    arena_rewind(arena, used);
    return error;
}

// ---- the text that is kept ------------------------------------------------------------------------------------------

const char *robot_mesh_text(const char *folder, const XmlNode *root, const XmlNode *node, Arena *arena, size_t *read)
{
    MeshHull *hull = ARENA_NEW(arena, MeshHull, 1);
    double points[MESH_POINTS][3];
    if (mesh_load(folder, root, node, arena, read, hull).kind != OK) return NULL;
    const int count = mesh_points(hull, points);
    const char *text = "<mesh", *name = robot_text_of(node, "name");
    if (name == NULL && robot_text_of(node, "file") != NULL)
        text = arena_format(arena, "%s name=\"%s\"", text, robot_escape(robot_asset_name(node, arena), arena));
    for (int i = 0; i < node->n_attributes; i++) {
        const XmlAttribute *given = &node->attributes[i];
        if (robot_word_in("file content_type", given->name) || given->value[0] == '\0') continue;
        text = arena_format(arena, "%s %s=\"%s\"", text, given->name, robot_escape(given->value, arena));
    }
    text = arena_format(arena, "%s vertex=\"", text);
    for (int i = 0; i < count; i++)
        text = arena_format(arena, "%s%s%.17g %.17g %.17g", text, i > 0 ? " " : "", points[i][0], points[i][1],
                            points[i][2]);
    return arena_format(arena, "%s\"/>", text);
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

// False: an error.
static bool mesh_read(RobotFile *file, const XmlNode *node, MeshHull *hull)
{
    const char *given = robot_text_of(node, "vertex");
    if (given == NULL && mesh_file(node) == NULL) {
        robot_error(file, node, NULL, "%s has neither a file nor vertices", robot_label(file, node));
        return false;
    }
    if (given == NULL) {
        const Error error = mesh_load(file->options->folder, file->root, node, file->arena, &file->mesh_bytes, hull);
        if (error.kind != OK)
            robot_error(file, node, robot_text_of(node, "file") != NULL ? "file" : "filename", "%s", error.text);
        return error.kind == OK;
    }
    const size_t used = file->arena->used, most = strlen(given) / 2 + 1;
    double *numbers = ARENA_NEW(file->arena, double, most);
    const int limit = most < MESH_VERTICES_MAX ? (int)most : MESH_VERTICES_MAX;
    const int count = robot_numbers(file, node, "vertex", 3, limit, numbers);
    if (count % 3 != 0) robot_error(file, node, "vertex", "vertex has %d numbers, expected three for each", count);
    Error error = error_none();
    for (int i = 0; i + 2 < count && error.kind == OK; i += 3) error = mesh_take("vertex", numbers + i, hull);
    if (error.kind != OK) robot_error(file, node, "vertex", "%s", error.text);
    arena_rewind(file->arena, used);
    return count > 0 && count % 3 == 0 && error.kind == OK;
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

static void mesh_box(RobotFileShape *shape, const RobotFrame *frame, double (*points)[3], int count)
{
    double middle[3];
    shape->unknown = NULL;
    shape->shape.kind = ROBOT_BOX;
    for (int a = 0; a < 3; a++) {
        double low = points[0][a], high = low;
        for (int i = 1; i < count; i++) {
            low = fmin(low, points[i][a]);
            high = fmax(high, points[i][a]);
        }
        middle[a] = 0.5 * (low + high);
        shape->shape.size[a] = 0.5 * (high - low);
    }
    robot_transform(frame, middle, shape->shape.p);
}

static void mesh_give(RobotFile *file, int index)
{
    RobotFileShape *shape = &file->shapes[index];
    double scale[3], points[MESH_POINTS][3];
    const size_t used = file->arena->used;
    MeshHull *hull = ARENA_NEW(file->arena, MeshHull, 1);
    const XmlNode *node = mesh_find(file, shape, scale);
    if (node == NULL || !mesh_read(file, node, hull)) return;
    const int count = mesh_points(hull, points);
    arena_rewind(file->arena, used);
    RobotFrame frame;
    memcpy(frame.p, shape->shape.p, sizeof frame.p);
    memcpy(frame.q, shape->shape.q, sizeof frame.q);
    for (int i = 0; i < count; i++) {
        for (int a = 0; a < 3; a++) points[i][a] *= scale[a];
    }
    if (file->options->meshes == ROBOT_MESHES_BOX) {
        mesh_box(shape, &frame, points, count);
        return;
    }
    for (int i = 1; i < count; i++) {
        RobotFileShape *more = mesh_another(file, index);
        if (more == NULL) return;
        mesh_place(more, &frame, points[i]);
    }
    mesh_place(shape, &frame, points[0]);
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
