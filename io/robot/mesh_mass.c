// Volume, centre and inertia of a mesh, as MuJoCo finds them (XML reference, asset/mesh/inertia). A closed surface is
// the sum of tetrahedra from one point to its triangles, each with the sign of its volume: exact for any closed
// surface (Eberly, Polyhedral Mass Properties, 2002).
//     exact    of the triangles as they are
//     convex   of the convex hull
//     legacy   MuJoCo's default: all tetrahedra count as positive, from the middle of the surface, then from the centre
//              of mass; exact for convex meshes, and too much for others
//     shell    all mass is on the surface
#include "../text.h"
#include "mesh.h"

#include <math.h>
#include <string.h>

typedef enum MeshInertia { MESH_CONVEX, MESH_EXACT, MESH_LEGACY, MESH_SHELL, MESH_INERTIAS } MeshInertia;
static const char *const mesh_inertias[MESH_INERTIAS] = {"convex", "exact", "legacy", "shell"};

// A triangle from a point: its corners, middle, and its normal with its area as length.
typedef struct MeshTriangle {
    double corner[3][3], middle[3], normal[3], area;
} MeshTriangle;

static MeshTriangle mesh_triangle(double (*points)[3], const int *face, const double *origin)
{
    MeshTriangle of;
    double one[3], other[3];
    for (int a = 0; a < 3; a++) {
        for (int k = 0; k < 3; k++) of.corner[k][a] = points[face[k]][a] - origin[a];
        one[a] = of.corner[1][a] - of.corner[0][a];
        other[a] = of.corner[2][a] - of.corner[0][a];
        of.middle[a] = (of.corner[0][a] + of.corner[1][a] + of.corner[2][a]) / 3.0;
    }
    robot_cross(one, other, of.normal);
    for (int a = 0; a < 3; a++) of.normal[a] *= 0.5;
    of.area = robot_norm(of.normal, 3);
    return of;
}

// How much a triangle counts: the volume of its tetrahedron, or its area.
static double mesh_weight(const MeshTriangle *of, MeshInertia inertia)
{
    const double volume = robot_dot(of->middle, of->normal) / 3.0;
    return inertia == MESH_SHELL ? of->area : inertia == MESH_LEGACY ? fabs(volume) : volume;
}

// Adds the second moments of a triangle or of its tetrahedron: E[x_i x_j] = (1 + d_ij)/12 of barycentric coordinates of
// a triangle, /20 of a tetrahedron, whose fourth corner is the origin.
static void mesh_add_moments(const MeshTriangle *of, double weight, double moment[6])
{
    static const int row[6] = {0, 1, 2, 0, 0, 1}, column[6] = {0, 1, 2, 1, 2, 2};
    for (int k = 0; k < 6; k++) {
        const int i = row[k], j = column[k];
        double sum = 9.0 * of->middle[i] * of->middle[j];
        for (int c = 0; c < 3; c++) sum += of->corner[c][i] * of->corner[c][j];
        moment[k] += weight * sum;
    }
}

// The middle of a surface, and by how much it fails to close: the sum of its normals by its area.
static double mesh_middle(double (*points)[3], int (*faces)[3], int n_faces, double middle[3])
{
    static const double zero[3] = {0.0};
    double area = 0.0, open[3] = {0.0};
    for (int a = 0; a < 3; a++) middle[a] = 0.0;
    for (int i = 0; i < n_faces; i++) {
        const MeshTriangle of = mesh_triangle(points, faces[i], zero);
        area += of.area;
        for (int a = 0; a < 3; a++) {
            middle[a] += of.area * of.middle[a];
            open[a] += of.normal[a];
        }
    }
    for (int a = 0; a < 3 && area > 0.0; a++) middle[a] /= area;
    return area > 0.0 ? robot_norm(open, 3) / area : 0.0;
}

static Error mesh_integrate(double (*points)[3], int (*faces)[3], int n_faces, MeshInertia inertia, bool mirrored,
                            MeshSolid *out)
{
    const double share = inertia == MESH_SHELL ? 1.0 : 0.75, sign = mirrored && inertia == MESH_EXACT ? -1.0 : 1.0;
    double middle[3], sum[3] = {0.0}, moment[6] = {0.0}, volume = 0.0;
    const double open = mesh_middle(points, faces, n_faces, middle);
    *out = (MeshSolid){0};
    for (int i = 0; i < n_faces; i++) {
        const MeshTriangle of = mesh_triangle(points, faces[i], middle);
        const double weight = sign * mesh_weight(&of, inertia);
        volume += weight;
        for (int a = 0; a < 3; a++) sum[a] += weight * share * of.middle[a];
    }
    if (inertia == MESH_EXACT && !(open < 1e-6))
        return error_make(ERROR_USER, "its surface is not closed, and so has no exact volume");
    if (!(volume > 1e-15))
        return error_make(ERROR_USER, "its volume is %s, and must be greater than 0%s", text_number(volume).text,
                          volume < 0.0 ? ": its faces look inwards" : "");
    for (int a = 0; a < 3; a++) out->centre[a] = middle[a] + sum[a] / volume;
    for (int i = 0; i < n_faces; i++) { // the volume again: of `legacy` it depends on the point
        const MeshTriangle of = mesh_triangle(points, faces[i], out->centre);
        const double weight = sign * mesh_weight(&of, inertia);
        out->volume += weight;
        mesh_add_moments(&of, weight / (inertia == MESH_SHELL ? 12.0 : 20.0), moment);
    }
    for (int a = 0; a < 3; a++) {
        out->inertia[a] = moment[(a + 1) % 3] + moment[(a + 2) % 3];
        out->inertia[3 + a] = -moment[3 + a];
    }
    return error_none();
}

Error mesh_solid(const Mesh *mesh, const double scale[3], const char *inertia, Arena *arena, MeshSolid *out)
{
    int kind = MESH_LEGACY, n_faces = mesh->n_faces, (*faces)[3] = mesh->faces;
    double(*points)[3] = (double(*)[3])arena_take(arena, (size_t)mesh->n_points, sizeof *points);
    if (inertia != NULL) {
        for (kind = 0; kind < MESH_INERTIAS && strcmp(mesh_inertias[kind], inertia) != 0;) kind++;
        if (kind == MESH_INERTIAS)
            return error_make(ERROR_USER, "inertia is '%.32s', expected convex, exact, legacy or shell", inertia);
    }
    for (int i = 0; i < mesh->n_points; i++)
        for (int a = 0; a < 3; a++) points[i][a] = scale[a] * mesh->points[i][a];
    const bool hull = kind == MESH_CONVEX || n_faces == 0;
    if (hull) TRY(mesh_hull(points, mesh->n_points, arena, &faces, &n_faces));
    if (hull && kind != MESH_SHELL) kind = MESH_EXACT;
    const bool mirrored = !hull && scale[0] * scale[1] * scale[2] < 0.0;
    return mesh_integrate(points, faces, n_faces, (MeshInertia)kind, mirrored, out);
}
