// Meshes of robots: convex hulls, what they weigh, and capsules around them.
#include "../../io/robot/mesh.h"
#include "../test.h"
#include "articulated_hand.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MESH_CASE_POINTS = 512 };

typedef struct MeshCase {
    Arena arena;
    double points[MESH_CASE_POINTS][3];
    int n_points;
} MeshCase;

static void mesh_case(MeshCase *c)
{
    c->n_points = 0;
    if (arena_create(&c->arena, (size_t)1 << 28, "a mesh").kind != OK) abort();
}

static double mesh_volume(const MeshCase *c, int (*faces)[3], int n_faces)
{
    double sum = 0.0;
    for (int i = 0; i < n_faces; i++) {
        double across[3];
        robot_cross(c->points[faces[i][0]], c->points[faces[i][1]], across);
        sum += robot_dot(across, c->points[faces[i][2]]) / 6.0;
    }
    return sum;
}

// Each side of a triangle is the side of another one, the other way round.
static bool mesh_closes(int (*faces)[3], int n_faces)
{
    for (int i = 0; i < 3 * n_faces; i++) {
        int others = 0;
        for (int k = 0; k < 3 * n_faces; k++)
            others +=
                faces[k / 3][k % 3] == faces[i / 3][(i + 1) % 3] && faces[k / 3][(k + 1) % 3] == faces[i / 3][i % 3];
        if (others != 1) return false;
    }
    return true;
}

// How far the farthest point is in front of a triangle.
static double mesh_outside(const MeshCase *c, int (*faces)[3], int n_faces)
{
    double most = 0.0;
    for (int i = 0; i < n_faces; i++) {
        double one[3], other[3], normal[3];
        const double *corner = c->points[faces[i][0]];
        for (int a = 0; a < 3; a++) {
            one[a] = c->points[faces[i][1]][a] - corner[a];
            other[a] = c->points[faces[i][2]][a] - corner[a];
        }
        robot_cross(one, other, normal);
        if (!(robot_norm(normal, 3) > 1e-9) || !robot_normalize(normal, 3)) continue; // a line
        for (int k = 0; k < c->n_points; k++)
            most = fmax(most, robot_dot(normal, c->points[k]) - robot_dot(normal, corner));
    }
    return most;
}

// A grid in a box, whose faces have many points in one plane up to rounding, turned at random; every point twice.
TEST(robot_mesh_hull_of_a_turned_grid)
{
    uint64_t state = 5;
    for (int round = 0; round < (test_quick() ? 50 : 1000); round++) {
        MeshCase c;
        int(*faces)[3], n_faces = 0;
        double axis[3], q[4];
        mesh_case(&c);
        for (int a = 0; a < 3; a++) axis[a] = random_between(&state, -1.0, 1.0);
        robot_normalize(axis, 3);
        robot_turn(axis, random_between(&state, 0.0, 3.0), q);
        for (int i = 0; i < 2 * 6 * 5 * 4; i++) {
            const double own[3] = {i / 2 % 6 * 0.2, i / 12 % 5 * 0.5, i / 60 * 0.7};
            robot_rotate(q, own, c.points[c.n_points++]);
        }
        CHECK_OK(mesh_hull(c.points, c.n_points, &c.arena, &faces, &n_faces));
        CHECK(mesh_closes(faces, n_faces));
        CHECK_NEAR(1.0 * 2.0 * 2.1, mesh_volume(&c, faces, n_faces), 1e-12);
        CHECK_NEAR(0.0, mesh_outside(&c, faces, n_faces), 1e-12);
        arena_destroy(&c.arena);
    }
}

TEST(robot_mesh_hull_of_a_cloud)
{
    uint64_t state = 7;
    for (int round = 0; round < (test_quick() ? 5 : 40); round++) {
        MeshCase c;
        int(*faces)[3], n_faces = 0;
        mesh_case(&c);
        for (; c.n_points < 300; c.n_points++) {
            double *point = c.points[c.n_points];
            for (int a = 0; a < 3; a++) point[a] = random_between(&state, -1.0, 1.0);
            if (round % 2 == 1) robot_normalize(point, 3); // all of them are corners
        }
        CHECK_OK(mesh_hull(c.points, c.n_points, &c.arena, &faces, &n_faces));
        CHECK(mesh_closes(faces, n_faces));
        if (round % 2 == 1) CHECK_INTEGER(2 * 300 - 4, n_faces); // Euler
        CHECK_NEAR(0.0, mesh_outside(&c, faces, n_faces), 1e-13);
        arena_destroy(&c.arena);
    }
}

// A hull takes bounded memory and time.
TEST(robot_mesh_hull_of_too_many_points)
{
    enum { MANY = 80000 };
    uint64_t state = 9;
    MeshCase c;
    int(*faces)[3], n_faces = 0;
    mesh_case(&c);
    double(*points)[3] = (double(*)[3])arena_take(&c.arena, MANY, sizeof *points);
    for (int i = 0; i < MANY; i++) {
        for (int a = 0; a < 3; a++) points[i][a] = random_between(&state, -1.0, 1.0);
        robot_normalize(points[i], 3);
    }
    CHECK_SAYS(ERROR_USER, "its convex hull has too many facets, or can't be made",
               mesh_hull(points, MANY, &c.arena, &faces, &n_faces));
    arena_destroy(&c.arena);
}

// ---- what meshes weigh ----------------------------------------------------------------------------------------------

static const double mesh_plain[3] = {1.0, 1.0, 1.0};

// The tetrahedron of the origin and the unit vectors, or its sides in another order.
static Mesh mesh_tetrahedron(Arena *arena, int first, int second, int n_faces)
{
    static const int sides[4][3] = {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}};
    Mesh mesh = {.name = "case", .n_points = 4, .n_faces = n_faces};
    mesh.points = (double(*)[3])arena_take(arena, 4, sizeof *mesh.points);
    mesh.faces = (int(*)[3])arena_take(arena, 4, sizeof *mesh.faces);
    for (int a = 0; a < 3; a++) mesh.points[1 + a][a] = 1.0;
    for (int i = 0; i < 4; i++) {
        memcpy(mesh.faces[i], sides[i], sizeof sides[i]);
        mesh.faces[i][1] = sides[i][first];
        mesh.faces[i][2] = sides[i][second];
    }
    return mesh;
}

TEST(robot_mesh_weighs_as_a_tetrahedron)
{
    static const char *const inertias[] = {"exact", "convex", "legacy", NULL};
    MeshCase c;
    MeshSolid solid;
    mesh_case(&c);
    const Mesh mesh = mesh_tetrahedron(&c.arena, 1, 2, 4);
    for (int k = 0; k < 4; k++) {
        CHECK_OK(mesh_solid(&mesh, (const double[]){2, 1, 1}, inertias[k], &c.arena, &solid));
        CHECK_NEAR(2.0 / 6.0, solid.volume, 1e-15);
        CHECK_NEAR(0.5, solid.centre[0], 1e-15);
        CHECK_NEAR(0.25, solid.centre[2], 1e-15);
        CHECK_NEAR(2.0 / 6.0 * 2.0 * 3.0 / 80.0, solid.inertia[0], 1e-15); // V 3/80 (a^2 + b^2)
        CHECK_NEAR(2.0 / 6.0 * 5.0 * 3.0 / 80.0, solid.inertia[1], 1e-15);
        CHECK_NEAR(2.0 / 6.0 * 2.0 / 80.0, solid.inertia[3], 1e-15); // V a b / 80
    }
    CHECK_OK(mesh_solid(&mesh, (const double[]){-1, 1, 1}, "exact", &c.arena, &solid));
    CHECK_NEAR(1.0 / 6.0, solid.volume, 1e-15);
    CHECK_NEAR(-0.25, solid.centre[0], 1e-15);
    CHECK_OK(mesh_solid(&mesh, mesh_plain, "shell", &c.arena, &solid));
    CHECK_NEAR(1.5 + sqrt(0.75), solid.volume, 1e-15);
    arena_destroy(&c.arena);
}

TEST(robot_mesh_that_can_not_weigh)
{
    MeshCase c;
    MeshSolid solid;
    mesh_case(&c);
    const Mesh inwards = mesh_tetrahedron(&c.arena, 2, 1, 4), open = mesh_tetrahedron(&c.arena, 1, 2, 3);
    Mesh flat = mesh_tetrahedron(&c.arena, 1, 2, 0);
    CHECK_SAYS(ERROR_USER, "and must be greater than 0: its faces look inwards",
               mesh_solid(&inwards, mesh_plain, "exact", &c.arena, &solid));
    CHECK_OK(mesh_solid(&inwards, mesh_plain, "legacy", &c.arena, &solid));
    CHECK_SAYS(ERROR_USER, "not closed", mesh_solid(&open, mesh_plain, "exact", &c.arena, &solid));
    CHECK_SAYS(ERROR_USER, "expected convex, exact", mesh_solid(&open, mesh_plain, "massive", &c.arena, &solid));
    CHECK_OK(mesh_solid(&flat, mesh_plain, NULL, &c.arena, &solid)); // without faces its hull
    CHECK_NEAR(1.0 / 6.0, solid.volume, 1e-15);
    flat.points[3][2] = 0.0;
    CHECK_SAYS(ERROR_USER, "lie in a plane", mesh_solid(&flat, mesh_plain, NULL, &c.arena, &solid));
    CHECK_SAYS(ERROR_USER, "lie in a plane", mesh_solid(&flat, (const double[]){0, 0, 0}, NULL, &c.arena, &solid));
    arena_destroy(&c.arena);
}

// ---- shapes ---------------------------------------------------------------------------------------------------------

// A robot of one mesh with the points of the case, which are scaled too.
static const Robot *mesh_robot(MeshCase *c, const double scale[3], RobotMeshes meshes)
{
    char *text = arena_take(&c->arena, 65536, 1), *at = text;
    at += sprintf(at, "<mujoco><asset><mesh name='m' scale='%.17g %.17g %.17g' vertex='", scale[0], scale[1], scale[2]);
    for (int i = 0; i < c->n_points; i++) {
        at += sprintf(at, " %.17g %.17g %.17g", c->points[i][0], c->points[i][1], c->points[i][2]);
        for (int a = 0; a < 3; a++) c->points[i][a] *= scale[a];
    }
    sprintf(at, "'/></asset><worldbody><body><freejoint/><inertial pos='0 0 0' mass='1' diaginertia='1 1 1'/>"
                "<geom type='mesh' mesh='m'/></body></worldbody></mujoco>");
    const Source source = {.file = "robot.xml", .text = text};
    const RobotOptions options = {.meshes = meshes};
    Diagnostics *diagnostics = diagnostics_new(&c->arena);
    const Robot *robot = robot_read(&source, &options, &c->arena, diagnostics);
    diagnostics_print(diagnostics, stdout, false);
    CHECK(robot != NULL);
    if (robot == NULL) abort();
    return robot;
}

// How far a point lies from the segment of a capsule, less its radius.
static double capsule_outside(const RobotShape *shape, const double *point)
{
    static const double up[3] = {0.0, 0.0, 1.0};
    double axis[3], way[3];
    robot_rotate(shape->q, up, axis);
    for (int a = 0; a < 3; a++) way[a] = point[a] - shape->p[a];
    const double along = fmax(fmin(robot_dot(way, axis), shape->size[1]), -shape->size[1]);
    for (int a = 0; a < 3; a++) way[a] -= along * axis[a];
    return robot_norm(way, 3) - shape->size[0];
}

static double capsule_farthest(const RobotShape *shape, const MeshCase *c)
{
    double farthest = -INFINITY;
    for (int i = 0; i < c->n_points; i++) farthest = fmax(farthest, capsule_outside(shape, c->points[i]));
    return farthest;
}

static void mesh_case_cloud(MeshCase *c, int count, bool ball, uint64_t *state)
{
    mesh_case(c);
    for (; c->n_points < count; c->n_points++) {
        for (int a = 0; a < 3; a++) c->points[c->n_points][a] = random_between(state, -1.0, 1.0);
        if (ball) robot_normalize(c->points[c->n_points], 3);
    }
}

// All vertices of a mesh lie in its capsule, which can't be narrower or shorter, also with a scale that differs along
// the axes.
TEST(robot_mesh_in_a_capsule)
{
    uint64_t state = 3;
    for (int round = 0; round < 40; round++) {
        const double scale[3] = {random_between(&state, 0.2, 2.0), random_between(&state, -2.0, -0.2),
                                 random_between(&state, 0.2, round % 2 == 0 ? 6.0 : 2.0)};
        MeshCase c;
        mesh_case_cloud(&c, 200, round % 4 == 3, &state);
        const Robot *robot = mesh_robot(&c, scale, ROBOT_MESHES_CAPSULE);
        CHECK(robot->n_shapes == 1 && robot->shapes[0].kind == ROBOT_CAPSULE);
        CHECK_NEAR(0.0, capsule_farthest(&robot->shapes[0], &c), 1e-12);
        RobotShape shorter = robot->shapes[0];
        shorter.size[1] *= 0.999;
        CHECK(shorter.size[1] == 0.0 || capsule_farthest(&shorter, &c) > 1e-6);
        arena_destroy(&c.arena);
    }
}

// How far one hull reaches out of the other along a direction.
static double mesh_reaches(const MeshCase *c, const Robot *robot, const double *direction)
{
    double all = -INFINITY, kept = -INFINITY;
    for (int i = 0; i < c->n_points; i++) all = fmax(all, robot_dot(direction, c->points[i]));
    for (int i = 0; i < robot->n_shapes; i++) kept = fmax(kept, robot_dot(direction, robot->shapes[i].p));
    return all - kept;
}

// The most over all directions: of some, and then of those near the best one, ever nearer; from several starts.
static double mesh_reaches_most(const MeshCase *c, const Robot *robot, bool flat, uint64_t *state)
{
    enum { STARTS = 20, ANY = 200, NEAR = 800 };
    double most = 0.0;
    for (int start = 0; start < STARTS; start++) {
        double best[3] = {0.0}, here = -INFINITY;
        for (int k = 0; k < ANY + NEAR; k++) {
            const double size = k < ANY ? 1.0 : exp(-10.0 * (k - ANY) / NEAR);
            double direction[3];
            for (int a = 0; a < 3; a++)
                direction[a] = (k < ANY ? 0.0 : best[a]) + size * random_between(state, -1.0, 1.0);
            if (flat) direction[2] = 0.0;
            robot_normalize(direction, 3);
            const double reaches = mesh_reaches(c, robot, direction);
            if (reaches <= here) continue;
            here = reaches;
            memcpy(best, direction, sizeof best);
        }
        most = fmax(most, here);
    }
    return most;
}

// The distance that a hull of fewer points loses is the greatest over all directions; also of a mesh in a plane.
TEST(robot_mesh_by_fewer_points)
{
    uint64_t state = 11;
    for (int round = 0; round < (test_quick() ? 3 : 8); round++) {
        const double scale[3] = {1.0, random_between(&state, 0.3, 2.0), round == 2 ? 0.0 : 0.5};
        MeshCase c;
        mesh_case_cloud(&c, 400, round % 2 == 1, &state);
        const Robot *robot = mesh_robot(&c, scale, ROBOT_MESHES_HULL);
        CHECK_INTEGER(1, robot->reduced.meshes);
        CHECK_TEXT("m", robot->reduced.name);
        CHECK_INTEGER(robot->n_shapes, robot->reduced.points);
        CHECK_INTEGER(400, robot->reduced.vertices);
        CHECK_NEAR(mesh_reaches_most(&c, robot, round == 2, &state), robot->reduced.lost,
                   2e-6 + 1e-3 * robot->reduced.lost);
        arena_destroy(&c.arena);
    }
}

// Of a brick whose faces have more vertices nothing is lost.
TEST(robot_mesh_that_loses_nothing)
{
    MeshCase c;
    mesh_case(&c);
    for (int i = 0; i < 4 * 5 * 6; i++, c.n_points++) {
        const double point[3] = {i % 4 * 0.1, i / 4 % 5 * 0.1, i / 20 * 0.1};
        memcpy(c.points[i], point, sizeof point);
    }
    CHECK_INTEGER(0, mesh_robot(&c, mesh_plain, ROBOT_MESHES_HULL)->reduced.meshes);
    arena_destroy(&c.arena);
}
