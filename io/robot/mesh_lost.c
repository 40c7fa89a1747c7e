// How much of a mesh is lost where only some points of its hull touch: the greatest distance of a vertex from the hull
// of these points, which is that between the two hulls.
#include "mesh.h"

#include <math.h>
#include <string.h>

static const double lost_nothing = 1e-9; // m: a vertex that lies in the hull, to rounding

// A triangle of a hull: its corners and its outward normal; 0: its corners lie on a line.
typedef struct LostFacet {
    const double *corner[3];
    double normal[3];
} LostFacet;

typedef struct LostHull {
    LostFacet *facets;
    int n_facets;
} LostHull;

static void lost_facet(LostFacet *facet)
{
    double one[3], other[3];
    for (int a = 0; a < 3; a++) {
        one[a] = facet->corner[1][a] - facet->corner[0][a];
        other[a] = facet->corner[2][a] - facet->corner[0][a];
    }
    robot_cross(one, other, facet->normal);
    if (!robot_normalize(facet->normal, 3)) memset(facet->normal, 0, sizeof facet->normal);
}

// The hull of the points; where they lie in a plane, of a body around them that is 1e-6 of their size thick. False:
// there is none.
static bool lost_hull(double (*points)[3], int count, const double scale[3], Arena *arena, LostHull *hull)
{
    double(*all)[3] = (double(*)[3])arena_take(arena, 4 * (size_t)count, sizeof *all), size = 0.0;
    int(*faces)[3], n_faces = 0;
    for (int i = 0; i < 12 * count; i++) all[i / 3][i % 3] = scale[i % 3] * points[i / 3 % count][i % 3];
    for (int i = 0; i < 3 * count; i++) size = fmax(size, fabs(all[i / 3][i % 3]));
    for (int i = count; i < 4 * count; i++) all[i][i / count - 1] += 1e-6 * size;
    if (mesh_hull(all, count, arena, &faces, &n_faces).kind != OK &&
        mesh_hull(all, 4 * count, arena, &faces, &n_faces).kind != OK)
        return false;
    *hull = (LostHull){.facets = ARENA_NEW(arena, LostFacet, n_faces), .n_facets = n_faces};
    for (int i = 0; i < n_faces; i++) {
        for (int k = 0; k < 3; k++) hull->facets[i].corner[k] = all[faces[i][k]];
        lost_facet(&hull->facets[i]);
    }
    return true;
}

static double lost_height(const LostFacet *facet, const double *point)
{
    return robot_dot(facet->normal, point) - robot_dot(facet->normal, facet->corner[0]);
}

static double lost_from_side(const double *a, const double *b, const double *point)
{
    double way[3], side[3];
    for (int k = 0; k < 3; k++) {
        way[k] = point[k] - a[k];
        side[k] = b[k] - a[k];
    }
    const double square = robot_dot(side, side), along = square > 0.0 ? robot_dot(way, side) / square : 0.0;
    for (int k = 0; k < 3; k++) way[k] -= fmax(fmin(along, 1.0), 0.0) * side[k];
    return robot_norm(way, 3);
}

// Does the point stand over the inside of the triangle?
static bool lost_over(const LostFacet *facet, const double *point)
{
    bool over = robot_dot(facet->normal, facet->normal) > 0.0;
    for (int k = 0; k < 3 && over; k++) {
        const double *a = facet->corner[k], *b = facet->corner[(k + 1) % 3];
        const double side[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]};
        const double way[3] = {point[0] - a[0], point[1] - a[1], point[2] - a[2]};
        double across[3];
        robot_cross(side, way, across);
        over = robot_dot(across, facet->normal) >= 0.0;
    }
    return over;
}

// Of a point outside: to the nearest triangle. Most stand over the one whose plane is the farthest, which is no farther
// than the hull.
static double lost_distance(const LostHull *hull, const double *point)
{
    double highest = 0.0, least = INFINITY;
    const LostFacet *under = NULL;
    for (int i = 0; i < hull->n_facets; i++) {
        const double height = lost_height(&hull->facets[i], point);
        if (height <= highest) continue;
        highest = height;
        under = &hull->facets[i];
    }
    if (under == NULL || lost_over(under, point)) return highest;
    for (int i = 0; i < hull->n_facets; i++) {
        const LostFacet *facet = &hull->facets[i];
        if (lost_over(facet, point)) least = fmin(least, fabs(lost_height(facet, point)));
        for (int k = 0; k < 3; k++)
            least = fmin(least, lost_from_side(facet->corner[k], facet->corner[(k + 1) % 3], point));
    }
    return least;
}

// How many different ones there are.
static int lost_different(const Mesh *mesh, Arena *arena)
{
    uint32_t size = 64, count = 0;
    while (size < 2 * (uint32_t)mesh->n_points) size *= 2;
    int *slots = ARENA_NEW(arena, int, size); // from 1
    for (int i = 0; i < mesh->n_points; i++) {
        uint64_t hash = 0, part;
        for (int a = 0; a < 3; a++) {
            memcpy(&part, &mesh->points[i][a], sizeof part);
            hash = (hash ^ part) * 0x9e3779b97f4a7c15;
            hash ^= hash >> 32;
        }
        uint32_t at = (uint32_t)hash & (size - 1);
        while (slots[at] != 0 && memcmp(mesh->points[slots[at] - 1], mesh->points[i], sizeof *mesh->points) != 0)
            at = (at + 1) & (size - 1);
        count += slots[at] == 0;
        slots[at] = i + 1;
    }
    return (int)count;
}

void mesh_reduce(RobotFile *file, const XmlNode *node, const Mesh *mesh, const double scale[3], double (*points)[3],
                 int count)
{
    const size_t used = file->arena->used;
    RobotReduced *reduced = &file->reduced;
    LostHull hull;
    double most = 0.0;
    const int different = lost_different(mesh, file->arena);
    if (different > count && lost_hull(points, count, scale, file->arena, &hull)) {
        for (int i = 0; i < mesh->n_points; i++) {
            double point[3];
            for (int a = 0; a < 3; a++) point[a] = scale[a] * mesh->points[i][a];
            most = fmax(most, lost_distance(&hull, point));
        }
    }
    arena_rewind(file->arena, used);
    if (different <= count || most < lost_nothing) return;
    if (reduced->meshes++ > 0 && most <= reduced->lost) return;
    file->reduced_mesh = node;
    reduced->points = count;
    reduced->vertices = different;
    reduced->lost = most;
}
