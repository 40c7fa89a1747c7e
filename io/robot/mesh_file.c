// Reads meshes: OBJ (lines `v x y z` and `f`), STL (text, or binary: 80 bytes, uint32 count, 50 bytes for each facet
// with its normal and three corners as float32), and `vertex` and `face`, as MuJoCo has them.
// MuJoCo, XML reference, asset/mesh; wiki.ros.org/urdf/XML/link.
#include "../characters.h"
#include "../file.h"
#include "../folder.h"
#include "../text.h"
#include "mesh.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { MESH_HEAD = 84, MESH_FACET = 50, MESH_VERTICES_MAX = 1 << 24 };
#define MESH_BYTES_MAX ((size_t)64 << 20)  // of a file
#define MESHES_BYTES_MAX ((size_t)1 << 30) // of all that are read

// ---- vertices and triangles -----------------------------------------------------------------------------------------

// Error (user) at a vertex that is no point.
static Error mesh_take(const double *vertex, Mesh *mesh)
{
    for (int a = 0; a < 3; a++) {
        if (!(fabs(vertex[a]) <= 1e9))
            return error_make(ERROR_USER, "%.160s: vertex %d is not a point within 1e9", mesh->name,
                              mesh->n_points + 1);
        mesh->points[mesh->n_points][a] = vertex[a] + 0.0; // no -0
    }
    mesh->n_points++;
    return error_none();
}

// Of vertices that come three by three.
static Error mesh_take_facets(Arena *arena, Mesh *mesh)
{
    if (mesh->n_points % 3 != 0)
        return error_make(ERROR_USER, "%.160s: the last facet has fewer than three corners", mesh->name);
    mesh->n_faces = mesh->n_points / 3;
    mesh->faces = (int(*)[3])arena_take(arena, (size_t)mesh->n_faces, sizeof *mesh->faces);
    for (int i = 0; i < mesh->n_points; i++) mesh->faces[i / 3][i % 3] = i;
    return error_none();
}

static Error mesh_of_facets(const Bytes *bytes, Arena *arena, Mesh *mesh)
{
    const size_t count = (bytes->size - MESH_HEAD) / MESH_FACET;
    mesh->points = (double(*)[3])arena_take(arena, 3 * count, sizeof *mesh->points);
    for (size_t at = MESH_HEAD; at < bytes->size; at += MESH_FACET) {
        float corner[3];
        for (int k = 1; k <= 3; k++) { // the normal is first
            memcpy(corner, bytes->data + at + (size_t)k * sizeof corner, sizeof corner);
            TRY(mesh_take((const double[]){corner[0], corner[1], corner[2]}, mesh));
        }
    }
    return error_none();
}

// A line that begins with the word: what stands behind it; NULL: another line.
static const char *mesh_line(const char *line, const char *word)
{
    const size_t length = strlen(word);
    line += strspn(line, " \t");
    return strncmp(line, word, length) == 0 && (line[length] == ' ' || line[length] == '\t') ? line + length : NULL;
}

static const char *mesh_next(const char *line)
{
    const char *end = line + strcspn(line, "\n");
    return *end == '\n' ? end + 1 : end;
}

// Lines that begin with the word and three numbers: `v` of OBJ, `vertex` of STL.
static Error mesh_of_lines(const Bytes *bytes, const char *word, Arena *arena, Mesh *mesh)
{
    int64_t line = 1, count = 0;
    const char *const text = (const char *)bytes->data;
    for (const char *at = text; *at != '\0'; at = mesh_next(at)) count += mesh_line(at, word) != NULL;
    mesh->points = (double(*)[3])arena_take(arena, (size_t)count + 1, sizeof *mesh->points);
    for (const char *at = text; *at != '\0'; at = mesh_next(at), line++) {
        const char *rest = mesh_line(at, word);
        if (rest == NULL) continue;
        double vertex[3] = {NAN, NAN, NAN};
        char *end = (char *)(uintptr_t)rest;
        for (int a = 0; a < 3; a++) {
            const char *from = end + strspn(end, " \t");
            const size_t size = strcspn(from, " \t\r\n");
            if (size == 0 || strspn(from, "+-.0123456789eE") < size) break;
            vertex[a] = strtod(from, &end);
        }
        if (!(fabs(vertex[2]) <= 1e9) || end > mesh_next(at))
            return error_make(ERROR_USER, "%.160s:%lld: a vertex needs three numbers within 1e9", mesh->name,
                              (long long)line);
        TRY(mesh_take(vertex, mesh));
    }
    return error_none();
}

// The corners of a line `f 1 2 3`, `f 7/1/2 -1//2 ...`: from 1, or backwards from the last vertex so far. Returns how
// many there are; -1: one is wrong. corner NULL: they are only counted.
static int mesh_corners(const char *rest, int so_far, int n_points, int *corner)
{
    int count = 0;
    for (;; count++) {
        rest += strspn(rest, " \t\r");
        if (*rest == '\n' || *rest == '\0' || *rest == '#') return count;
        char *end = NULL;
        const long given = strtol(rest, &end, 10), at = given < 0 ? so_far + given : given - 1;
        if (end == rest || strchr(" \t\r\n/", *end) == NULL) return -1;
        if (corner != NULL && (at < 0 || at >= n_points)) return -1;
        if (corner != NULL) corner[count] = (int)at;
        rest += strcspn(rest, " \t\r\n");
    }
}

static double mesh_apart(const Mesh *mesh, int a, int b)
{
    const double *one = mesh->points[a], *other = mesh->points[b];
    return hypot(hypot(one[0] - other[0], one[1] - other[1]), one[2] - other[2]);
}

// A polygon as triangles: from its first corner, or of four corners from the second, if that diagonal is the shorter.
static void mesh_take_polygon(const int *corner, int count, Mesh *mesh)
{
    const bool second = count == 4 && mesh_apart(mesh, corner[1], corner[3]) < mesh_apart(mesh, corner[0], corner[2]);
    const int first = second ? 1 : 0;
    for (int k = 1; k + 1 < count; k++) {
        int *face = mesh->faces[mesh->n_faces++];
        face[0] = corner[first];
        face[1] = corner[(first + k) % count];
        face[2] = corner[(first + k + 1) % count];
    }
}

static Error mesh_of_polygons(const Bytes *bytes, Arena *arena, Mesh *mesh)
{
    int64_t line = 1;
    int most = 0, count = 0, so_far = 0;
    const char *const text = (const char *)bytes->data, *rest;
    for (const char *at = text; *at != '\0'; at = mesh_next(at)) {
        const int corners = (rest = mesh_line(at, "f")) != NULL ? mesh_corners(rest, 0, 0, NULL) : 0;
        count += corners > 2 ? corners - 2 : 0;
        most = corners > most ? corners : most;
    }
    int *corner = ARENA_NEW(arena, int, most + 1);
    mesh->faces = (int(*)[3])arena_take(arena, (size_t)count + 1, sizeof *mesh->faces);
    for (const char *at = text; *at != '\0'; at = mesh_next(at), line++) {
        so_far += mesh_line(at, "v") != NULL;
        if ((rest = mesh_line(at, "f")) == NULL) continue;
        const int corners = mesh_corners(rest, so_far, mesh->n_points, corner);
        if (corners < 3)
            return error_make(ERROR_USER, "%.160s:%lld: a face needs three corners or more, of %d vertices", mesh->name,
                              (long long)line, mesh->n_points);
        mesh_take_polygon(corner, corners, mesh);
    }
    return error_none();
}

// ---- files ----------------------------------------------------------------------------------------------------------

static bool mesh_is_binary(const Bytes *bytes)
{
    uint32_t facets = 0;
    if (bytes->size < MESH_HEAD) return false;
    memcpy(&facets, bytes->data + MESH_HEAD - sizeof facets, sizeof facets);
    return bytes->size == MESH_HEAD + (uint64_t)facets * MESH_FACET;
}

static Error mesh_parse(const Bytes *bytes, bool faces, Arena *arena, Mesh *mesh)
{
    const char *dot = strrchr(mesh->name, '.');
    const bool text = memchr(bytes->data, '\0', bytes->size) == NULL;
    const bool stl = dot != NULL && strcasecmp(dot, ".stl") == 0, obj = dot != NULL && strcasecmp(dot, ".obj") == 0;
    if (!stl && !obj)
        return error_make(
            ERROR_USER,
            "'%.160s' is neither STL nor OBJ; convert it, for instance `trimesh.load(file).export(\"x.stl\")` "
            "in Python, or add mesh to ignore: then it touches nothing",
            mesh->name);
    if (stl && mesh_is_binary(bytes))
        TRY(mesh_of_facets(bytes, arena, mesh));
    else if (text)
        TRY(mesh_of_lines(bytes, stl ? "vertex" : "v", arena, mesh));
    if (mesh->n_points == 0)
        return error_make(ERROR_USER, "'%.160s' has no vertices%s", mesh->name,
                          stl ? ": it is cut off, or no STL" : "");
    if (!faces) return error_none();
    return stl ? mesh_take_facets(arena, mesh) : mesh_of_polygons(bytes, arena, mesh);
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

static const char *mesh_file(const XmlNode *node)
{
    const char *name = robot_text_of(node, "file");
    return name != NULL ? name : robot_text_of(node, "filename");
}

Error mesh_load(const char *folder, const XmlNode *root, const XmlNode *node, bool faces, Arena *arena, size_t *read,
                Mesh *mesh)
{
    FileWithin file;
    Bytes bytes = {0};
    if (folder == NULL) return error_make(ERROR_USER, "no file can be read here: the text is not a file");
    const char *name = mesh_path(folder, root, mesh_file(node), arena);
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
    *mesh = (Mesh){.name = text_visible(name, arena)};
    return mesh_parse(&bytes, faces, arena, mesh);
}

// ---- elements -------------------------------------------------------------------------------------------------------

// Numbers of an attribute, three for each; returns how many threes there are, 0 after an error.
static int mesh_threes(RobotFile *file, const XmlNode *node, const char *attribute, double **numbers)
{
    const size_t most = strlen(robot_text_of(node, attribute)) / 2 + 1;
    *numbers = ARENA_NEW(file->arena, double, most);
    const int limit = most < MESH_VERTICES_MAX ? (int)most : MESH_VERTICES_MAX;
    const int count = robot_numbers(file, node, attribute, 3, limit, *numbers);
    if (count % 3 == 0) return count / 3;
    robot_error(file, node, attribute, "%s has %d numbers, expected three for each", attribute, count);
    return 0;
}

// Corners of `face`, from 0.
static bool mesh_read_faces(RobotFile *file, const XmlNode *node, Mesh *mesh)
{
    double *numbers = NULL;
    const int count = mesh_threes(file, node, "face", &numbers);
    mesh->faces = (int(*)[3])arena_take(file->arena, (size_t)count + 1, sizeof *mesh->faces);
    for (int i = 0; i < 3 * count; i++) {
        if (!(numbers[i] >= 0.0 && numbers[i] < mesh->n_points && numbers[i] == floor(numbers[i]))) {
            robot_error(file, node, "face", "%s of face is not one of %d vertices, 0 to %d",
                        text_number(numbers[i]).text, mesh->n_points, mesh->n_points - 1);
            return false;
        }
        mesh->faces[i / 3][i % 3] = (int)numbers[i];
    }
    mesh->n_faces = count;
    return count > 0;
}

bool mesh_read(RobotFile *file, const XmlNode *node, bool faces, Mesh *mesh)
{
    const bool given = robot_text_of(node, "vertex") != NULL;
    double *numbers = NULL;
    if (!given && mesh_file(node) == NULL) {
        robot_error(file, node, NULL, "%s has neither a file nor vertices", robot_label(file, node));
        return false;
    }
    if (!given) {
        const Error error =
            mesh_load(file->options->folder, file->root, node, faces, file->arena, &file->mesh_bytes, mesh);
        if (error.kind != OK)
            robot_error(file, node, robot_text_of(node, "file") != NULL ? "file" : "filename", "%s", error.text);
        return error.kind == OK;
    }
    const int count = mesh_threes(file, node, "vertex", &numbers);
    *mesh = (Mesh){.name = "vertex"};
    mesh->points = (double(*)[3])arena_take(file->arena, (size_t)count + 1, sizeof *mesh->points);
    for (int i = 0; i < count; i++) {
        const Error error = mesh_take(numbers + 3 * i, mesh);
        if (error.kind == OK) continue;
        robot_error(file, node, "vertex", "%s", error.text);
        return false;
    }
    return count > 0 && (!faces || robot_text_of(node, "face") == NULL || mesh_read_faces(file, node, mesh));
}

// The nearest <default> of a class below this element; NULL: there is none.
static const XmlNode *mesh_class(const XmlNode *node, const char *class)
{
    const XmlNode *found = NULL;
    for (const XmlNode *child = node->first; child != NULL && found == NULL; child = child->next) {
        if (strcmp(child->name, "default") != 0) continue;
        const char *name = robot_text_of(child, "class");
        found = name != NULL && strcmp(name, class) == 0 ? child : mesh_class(child, class);
    }
    return found;
}

static const char *mesh_default(const XmlNode *of, const char *name)
{
    const char *value = NULL;
    for (const XmlNode *child = of->first; child != NULL; child = child->next)
        if (strcmp(child->name, "mesh") == 0 && robot_text_of(child, name) != NULL) value = robot_text_of(child, name);
    return value;
}

// A class begins with what the classes around it have, and these with what the <default> before them gave.
const char *mesh_setting(const XmlNode *root, const XmlNode *node, const char *name)
{
    const char *class = robot_text_of(node, "class"), *value = robot_text_of(node, name), *last = NULL;
    const XmlNode *at = class != NULL && value == NULL ? mesh_class(root, class) : NULL, *outermost = NULL;
    for (; at != NULL && at->parent != root && value == NULL; at = at->parent) {
        value = mesh_default(at, name);
        for (outermost = at; outermost->parent != root;) outermost = outermost->parent;
    }
    for (at = root->first; at != NULL && value == NULL; at = at != outermost ? at->next : NULL) {
        const char *given = strcmp(at->name, "default") == 0 ? mesh_default(at, name) : NULL;
        if (given != NULL) last = given;
    }
    return value != NULL ? value : last;
}
