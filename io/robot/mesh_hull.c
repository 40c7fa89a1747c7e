// The convex hull of points: quickhull (Barber, Dobkin & Huhdanpaa 1996, ACM TOMS 22(4)) in three dimensions, without
// its merging of facets: a point within the rounding of a facet's plane counts as in it.
#include "mesh.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { HULL_FACETS_MAX = 1 << 18 };
static const int64_t hull_work_max = (int64_t)1 << 29; // distances of points from facets

typedef struct HullFacet {
    int corner[3], across[3]; // corners; the facet behind the side from corner k to corner k + 1
    double normal[3], offset; // the plane normal.x = offset; normal 0: the corners lie on a line
    int first, farthest;      // of the points outside of it; -1: there are none
    double most;              // distance of the farthest
    bool gone, seen;
} HullFacet;

typedef struct Hull {
    double (*points)[3];
    int *next; // [n_points] of the points outside of one facet; -1: the last
    HullFacet *facets;
    int n_facets;
    int *stack, *sides;        // [HULL_FACETS_MAX] facets to look at; sides of the horizon: 3 facet + k
    int *starts;               // [n_points] the new facet whose first corner the point is; -1: none
    double rounding, flatness; // of a distance; of an area
    int64_t work;
} Hull;

static double hull_distance(Hull *hull, const HullFacet *facet, int point)
{
    hull->work++;
    return robot_dot(facet->normal, hull->points[point]) - facet->offset;
}

// -1: there are too many.
static int hull_add_facet(Hull *hull, int a, int b, int c)
{
    if (hull->n_facets == HULL_FACETS_MAX) return -1;
    HullFacet *facet = &hull->facets[hull->n_facets];
    double one[3], other[3];
    *facet = (HullFacet){.corner = {a, b, c}, .first = -1, .farthest = -1};
    for (int k = 0; k < 3; k++) {
        one[k] = hull->points[b][k] - hull->points[a][k];
        other[k] = hull->points[c][k] - hull->points[a][k];
    }
    robot_cross(one, other, facet->normal);
    const double size = robot_norm(facet->normal, 3);
    for (int k = 0; k < 3; k++) facet->normal[k] = size > hull->flatness ? facet->normal[k] / size : 0.0;
    facet->offset = robot_dot(facet->normal, hull->points[a]);
    return hull->n_facets++;
}

// Gives a point to the first of the facets [from, n_facets) that it is outside of.
static void hull_give(Hull *hull, int from, int point)
{
    for (int i = from; i < hull->n_facets; i++) {
        HullFacet *facet = &hull->facets[i];
        const double distance = hull_distance(hull, facet, point);
        if (!(distance > hull->rounding)) continue;
        hull->next[point] = facet->first;
        facet->first = point;
        if (facet->farthest < 0 || distance > facet->most) {
            facet->farthest = point;
            facet->most = distance;
        }
        return;
    }
}

// ---- the first tetrahedron ------------------------------------------------------------------------------------------

// How far a point is from the first `count` corners: from a point, a line or a plane.
static double hull_away(const Hull *hull, const int *corner, int count, int point)
{
    double way[3], along[3], across[3], normal[3];
    const double *a = hull->points[corner[0]], *p = hull->points[point];
    for (int k = 0; k < 3; k++) way[k] = p[k] - a[k];
    if (count == 1) return robot_norm(way, 3);
    for (int k = 0; k < 3; k++) along[k] = hull->points[corner[1]][k] - a[k];
    if (!robot_normalize(along, 3)) return 0.0;
    robot_cross(along, way, across);
    if (count == 2) return robot_norm(across, 3);
    for (int k = 0; k < 3; k++) way[k] = hull->points[corner[2]][k] - a[k];
    robot_cross(along, way, normal);
    if (!robot_normalize(normal, 3)) return 0.0;
    return fabs(robot_dot(normal, p) - robot_dot(normal, a));
}

// False: all points lie in a plane.
static bool hull_start(Hull *hull, int n_points)
{
    int corner[4] = {0};
    for (int count = 1; count < 4; count++) {
        double most = 8.0 * hull->rounding;
        corner[count] = -1;
        for (int i = 0; i < n_points; i++) {
            const double away = hull_away(hull, corner, count, i);
            if (!(away > most)) continue;
            most = away;
            corner[count] = i;
        }
        if (corner[count] < 0) return false;
    }
    (void)hull_add_facet(hull, corner[0], corner[1], corner[2]);
    if (hull_distance(hull, &hull->facets[0], corner[3]) > 0.0) { // it must be behind
        const int other = corner[1];
        corner[1] = corner[2];
        corner[2] = other;
    }
    static const int sides[4][3] = {{0, 1, 2}, {0, 3, 1}, {1, 3, 2}, {2, 3, 0}};
    static const int across[4][3] = {{1, 2, 3}, {3, 2, 0}, {1, 3, 0}, {2, 1, 0}};
    hull->n_facets = 0;
    for (int i = 0; i < 4; i++) {
        (void)hull_add_facet(hull, corner[sides[i][0]], corner[sides[i][1]], corner[sides[i][2]]);
        memcpy(hull->facets[i].across, across[i], sizeof across[i]);
    }
    for (int i = 0; i < n_points; i++) hull_give(hull, 0, i);
    return true;
}

// ---- a further point ------------------------------------------------------------------------------------------------

// Which facets the point sees, from one that it does, and the sides around them; returns how many sides there are.
// Facets that it sees are gone then; *n_gone of them are in the stack.
static int hull_horizon(Hull *hull, int from, int point, int *n_gone)
{
    int n_sides = 0, n = 1;
    hull->stack[0] = from;
    hull->facets[from].gone = true;
    for (int at = 0; at < n; at++) {
        const HullFacet *facet = &hull->facets[hull->stack[at]];
        for (int k = 0; k < 3; k++) {
            HullFacet *behind = &hull->facets[facet->across[k]];
            if (behind->gone) continue;
            if (hull_distance(hull, behind, point) > hull->rounding) {
                behind->gone = true;
                hull->stack[n++] = facet->across[k];
            } else {
                hull->sides[n_sides++] = 3 * hull->stack[at] + k;
            }
        }
    }
    *n_gone = n;
    return n_sides;
}

// A facet behind the horizon's side learns of the new one in front of it.
static void hull_join(Hull *hull, int facet, int b, int a, int to)
{
    HullFacet *behind = &hull->facets[facet];
    for (int k = 0; k < 3; k++)
        if (behind->corner[k] == b && behind->corner[(k + 1) % 3] == a) behind->across[k] = to;
}

// Facets from the sides of the horizon to the point. False: they do not close around it, or there are too many.
static bool hull_cone(Hull *hull, int point, int n_sides)
{
    const int from = hull->n_facets;
    bool closed = true;
    for (int i = 0; i < n_sides; i++) {
        const HullFacet *old = &hull->facets[hull->sides[i] / 3];
        const int k = hull->sides[i] % 3, a = old->corner[k], b = old->corner[(k + 1) % 3], behind = old->across[k];
        const int facet = hull_add_facet(hull, a, b, point);
        if (facet < 0) return false;
        hull->facets[facet].across[0] = behind;
        hull_join(hull, behind, b, a, facet);
        closed &= hull->starts[a] < 0;
        hull->starts[a] = facet;
    }
    for (int i = from; i < hull->n_facets; i++) {
        const int next = hull->starts[hull->facets[i].corner[1]];
        closed &= next >= 0;
        hull->facets[i].across[1] = next;
        if (next >= 0) hull->facets[next].across[2] = i;
    }
    for (int i = from; i < hull->n_facets; i++) hull->starts[hull->facets[i].corner[0]] = -1;
    return closed;
}

// False: see hull_cone.
static bool hull_add_point(Hull *hull, int facet)
{
    const int point = hull->facets[facet].farthest, from = hull->n_facets;
    int n_gone = 0;
    const int n_sides = hull_horizon(hull, facet, point, &n_gone);
    if (!hull_cone(hull, point, n_sides)) return false;
    for (int i = 0; i < n_gone; i++) {
        for (int p = hull->facets[hull->stack[i]].first, next; p >= 0; p = next) {
            next = hull->next[p];
            if (p != point) hull_give(hull, from, p);
        }
    }
    return true;
}

Error mesh_hull(double (*points)[3], int n_points, Arena *arena, int (**faces)[3], int *n_faces)
{
    Hull hull = {.points = points};
    double size = 0.0;
    for (int i = 0; i < n_points; i++)
        for (int k = 0; k < 3; k++) size = fmax(size, fabs(points[i][k]));
    hull.rounding = 32.0 * DBL_EPSILON * size;
    hull.flatness = 32.0 * DBL_EPSILON * size * size;
    hull.next = ARENA_NEW(arena, int, n_points + 1);
    hull.starts = ARENA_NEW(arena, int, n_points + 1);
    for (int i = 0; i < n_points; i++) hull.starts[i] = -1;
    hull.facets = ARENA_NEW(arena, HullFacet, HULL_FACETS_MAX);
    hull.stack = ARENA_NEW(arena, int, HULL_FACETS_MAX);
    hull.sides = ARENA_NEW(arena, int, 3 * HULL_FACETS_MAX);
    if (n_points < 4 || !hull_start(&hull, n_points))
        return error_make(ERROR_USER, "its vertices lie in a plane, and a hull of them has no volume");
    for (int i = 0; i < hull.n_facets; i++) {
        if (hull.facets[i].gone || hull.facets[i].first < 0) continue;
        if (!hull_add_point(&hull, i) || hull.work > hull_work_max)
            return error_make(ERROR_USER, "its convex hull has too many facets, or can't be made");
    }
    *faces = (int(*)[3])arena_take(arena, (size_t)hull.n_facets, sizeof **faces);
    *n_faces = 0;
    for (int i = 0; i < hull.n_facets; i++)
        if (!hull.facets[i].gone) memcpy((*faces)[(*n_faces)++], hull.facets[i].corner, sizeof **faces);
    return error_none();
}
