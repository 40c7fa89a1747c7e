// Robots on the ground of their own files: friction of pairs, planes at any pose, shapes of the world, cylinders that
// stand and roll, ellipsoids that rock. Against formulas.
#include "../../sim/spatial/figure.h"
#include "articulated_hand.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define G 9.81
#define K 2e4 // N/m: ground_stiffness
static const double pi = 3.14159265358979323846;

enum { STEPS_A_SECOND = 2000 };

typedef struct World {
    Arena arena;
    ArticulatedCase test;
    double duration;
} World;

// A file whose <worldbody> holds `world`, and what else stands beside it.
static const Robot *world_robot(World *world, const char *text, const char *beside)
{
    CHECK_OK(arena_create_growing(&world->arena, (size_t)1 << 30, "a robot"));
    Diagnostics *diagnostics = diagnostics_new(&world->arena);
    const char *file =
        arena_format(&world->arena, "<mujoco>%s<worldbody>%s</worldbody></mujoco>", beside != NULL ? beside : "", text);
    const Source source = {.file = "world.xml", .text = file};
    const RobotOptions options = {.folder = "."};
    const Robot *robot = robot_read(&source, &options, &world->arena, diagnostics);
    if (robot == NULL) diagnostics_print(diagnostics, stdout, false);
    CHECK(robot != NULL);
    if (robot == NULL) abort();
    return robot;
}

static void world_run(World *world, const char *text, const char *beside, double duration, bool anchored,
                      const ArticulatedValue *parameters)
{
    ArticulatedSetup setup = {.robot = world_robot(world, text, beside),
                              .settings = {{"dt", 1.0 / STEPS_A_SECOND},
                                           {"duration", duration},
                                           {"terrain", TERRAIN_file},
                                           {"friction", anchored}},
                              .parameters = {{"slip_speed", 1e-3}},
                              .samples = (int64_t)(duration * STEPS_A_SECOND) + 1};
    for (int k = 0; parameters != NULL && parameters[k].name != NULL; k++) setup.parameters[1 + k] = parameters[k];
    world->duration = duration;
    articulated_start(&world->test, &setup);
    articulated_go(&world->test, 1 << 20);
    CHECK_INTEGER(0, articulated_failed(&world->test, 0));
}

static double world_at(const World *world, double t, const char *column)
{
    return articulated_seen(&world->test, 0, (int64_t)(t * STEPS_A_SECOND), column);
}

static double world_last(const World *world, const char *column) { return world_at(world, world->duration, column); }

static void world_end(World *world)
{
    articulated_end(&world->test);
    arena_destroy(&world->arena);
}

// ---- friction -------------------------------------------------------------------------------------------------------

// A box of 1 kg at 2 m/s: after 1 s it is v t - mu g t^2/2 away, or at rest after v^2/(2 mu g).
static void slides_with(const char *floor, const char *box, const char *contact, double factor, double mu)
{
    for (int anchored = 0; anchored < 2; anchored++) {
        World world;
        char text[600];
        snprintf(text, sizeof text,
                 "<geom name='floor' type='plane' size='9 9 .1' %s/><body name='box' pos='0 0 .1'><freejoint/>"
                 "<geom name='hull' type='box' size='.2 .2 .1' mass='1' %s/></body>",
                 floor, box);
        const ArticulatedValue parameters[] = {{"base_vx", 2}, {"ground_friction", factor}, {NULL, 0}};
        world_run(&world, text, contact, 1.0, anchored != 0, parameters);
        const double rest = mu > 0.0 ? 2.0 / (mu * G) : INFINITY;
        CHECK_NEAR(rest < 1.0 ? 2.0 * rest / 2 : 2.0 - 0.5 * mu * G, world_last(&world, "base_x"), 2e-3);
        world_end(&world);
    }
}

#define PAIR(attributes) "<contact><pair geom1='floor' geom2='hull' " attributes "/></contact>"
TEST(contact_friction_is_that_of_the_pair)
{
    slides_with("friction='.1'", "friction='.1'", NULL, 1, 0.1);
    slides_with("friction='.3'", "friction='.1'", NULL, 1, 0.3);
    slides_with("friction='.1'", "friction='.4'", NULL, 0.5, 0.2); // times ground_friction
    slides_with("friction='.3' priority='1'", "friction='.7'", NULL, 1, 0.3);
    slides_with("friction='.3' priority='1'", "friction='.2' priority='2'", NULL, 1, 0.2);
    slides_with("condim='1'", "condim='1'", NULL, 1, 0.0);
    slides_with("condim='1' friction='.2'", "friction='.1'", NULL, 1, 0.2);
    slides_with("condim='1' priority='1'", "", NULL, 1, 0.0);
    slides_with("", "", PAIR("friction='.2 .2'"), 1, 0.2);
    slides_with("priority='1'", "", PAIR("condim='1'"), 1, 0.0);
    slides_with("friction='.1' condim='1'", "friction='.1'", PAIR(""), 1, 1.0); // a pair's own defaults
    slides_with("contype='0' conaffinity='0'", "",
                PAIR("class='slick'") "<default><default class='slick'>"
                                      "<pair friction='.3 .3'/></default></default>",
                1, 0.3);
}

static void falls(const char *floor, const char *box, const char *contact)
{
    World world;
    char text[600];
    snprintf(text, sizeof text,
             "<geom name='floor' type='plane' size='9 9 .1' %s/><body name='box' pos='0 0 .1'><freejoint/>"
             "<geom name='hull' type='box' size='.2 .2 .1' mass='1' %s/></body>",
             floor, box);
    world_run(&world, text, contact, 1.0, false, NULL);
    CHECK_NEAR(0.1 - 0.5 * G, world_last(&world, "base_z"), 3e-3);
    CHECK_NEAR(0.0, articulated_got(&world.test, "ground_force_max", 0), 0.0);
    world_end(&world);
}

TEST(contact_needs_shapes_that_collide)
{
    falls("contype='2' conaffinity='4'", "contype='1' conaffinity='1'", NULL);
    falls("contype='0' conaffinity='0'", "", NULL);
    falls("", "contype='0' conaffinity='0'", NULL);
    falls("", "", "<contact><exclude body1='world' body2='box'/></contact>");
    falls("", "", "<option><flag contact='disable'/></option>");
}

// ---- planes ---------------------------------------------------------------------------------------------------------

#define BALL(place, attributes)                                                                                        \
    "<body name='ball' pos='" place "'><freejoint/><geom type='sphere' size='.1' mass='1' " attributes "/></body>"

static void rests_with(const char *text, double friction, double z)
{
    World world;
    const ArticulatedValue parameters[] = {{"ground_friction", friction}, {NULL, 0}};
    world_run(&world, text, NULL, 2.0, false, parameters);
    CHECK_NEAR(z, world_last(&world, "base_z"), 2e-6);
    CHECK_NEAR(0.0, world_last(&world, "base_vz"), 1e-6);
    world_end(&world);
}

static void rests_at(const char *text, double z) { rests_with(text, 1.0, z); }

TEST(contact_planes_stand_where_the_file_has_them)
{
    const double depth = G / K;
    rests_at("<geom type='plane' size='1 1 1' pos='0 0 -.5'/>" BALL("0 0 -.3", ""), -0.4 - depth);
    rests_at("<geom type='plane' size='1 1 1' pos='5 2 3'/><geom type='plane' size='1 1 1'/>" BALL("0 0 3.2", ""),
             3.1 - depth);
    rests_at("<geom type='plane' size='1 1 1' margin='.02'/>" BALL("0 0 .2", "margin='.01'"), 0.13 - depth);
    rests_at("<body pos='0 0 1'><geom type='plane' size='1 1 1' pos='0 0 -.4'/></body>" BALL("0 0 .8", ""),
             0.7 - depth); // of a body that does not move
    // a groove of two planes at 45 degrees: each carries m g/sqrt(2)
    rests_with("<geom type='plane' size='1 1 1' euler='45 0 0'/><geom type='plane' size='1 1 1' euler='-45 0 0'/>" BALL(
                   "0 0 .2", ""),
               0.0, sqrt(2.0) * (0.1 - G / (sqrt(2.0) * K)));
}

TEST(contact_a_file_without_a_plane_has_no_ground)
{
    World world;
    world_run(&world, BALL("0 0 1", ""), NULL, 1.0, false, NULL);
    CHECK_NEAR(1 - 0.5 * G, world_last(&world, "base_z"), 3e-3);
    CHECK_NEAR(0.0, articulated_got(&world.test, "contact_count", 0), 0.0);
    world_end(&world);
}

// A solid ball rolls down with g sin/(1 + 2 r^2/(5 s^2)), s = r - depth, whichever way the plane is tilted.
TEST(contact_ball_rolls_down_a_tilted_plane)
{
    for (int k = 0; k < 4; k++) {
        World world;
        char text[400];
        const double turn = 0.7 * k, tilt = 10 * pi / 180, s = 0.1 - G * cos(tilt) / K;
        const double n[3] = {sin(tilt) * cos(turn), sin(tilt) * sin(turn), cos(tilt)};
        snprintf(text, sizeof text,
                 "<geom type='plane' size='1 1 1' pos='1 -2 .5' zaxis='%.17g %.17g %.17g'/><body name='ball' "
                 "pos='%.17g %.17g %.17g'><freejoint/><geom type='sphere' size='.1' mass='1'/></body>",
                 n[0], n[1], n[2], 1 + s * n[0], -2 + s * n[1], 0.5 + s * n[2]);
        world_run(&world, text, NULL, 1.0, false, NULL);
        const double along = G * sin(tilt) / (1 + 0.4 * 0.01 / (s * s));
        const double vx = world_at(&world, 1, "base_vx"), vy = world_at(&world, 1, "base_vy");
        CHECK_NEAR(along * cos(tilt) * cos(turn), vx, 2e-3 * along);
        CHECK_NEAR(along * cos(tilt) * sin(turn), vy, 2e-3 * along);
        CHECK_NEAR(-along * sin(tilt), world_at(&world, 1, "base_vz"), 2e-3 * along);
        CHECK_NEAR(G * cos(tilt), world_at(&world, 1, "ball_force"), 1e-3);
        world_end(&world);
    }
}

// ---- shapes of the world --------------------------------------------------------------------------------------------

TEST(contact_shapes_of_the_world_are_ground)
{
    const double depth = G / K;
    rests_at("<geom type='box' size='1 1 .3' pos='.2 .1 .4'/>" BALL("0 0 .9", ""), 0.8 - depth);
    rests_at("<geom type='box' size='.3 1 1' pos='.2 .1 .4' euler='0 90 0'/>" BALL("0 0 .9", ""), 0.8 - depth);
    rests_at("<geom type='sphere' size='.5' pos='0 0 .2'/>" BALL("0 0 .9", ""), 0.8 - depth);
    rests_at("<geom type='capsule' size='.2' fromto='-1 0 .3 1 0 .3'/>" BALL("0 0 .7", ""), 0.6 - depth);
    rests_at("<geom type='capsule' size='.2' fromto='0 0 -.3 0 0 .3'/>" BALL("0 0 .7", ""), 0.6 - depth);
    rests_at("<geom type='cylinder' size='.2' fromto='-1 0 .3 1 0 .3'/>" BALL("0 0 .7", ""), 0.6 - depth);
    rests_at("<geom type='cylinder' size='.2 .5'/>" BALL(".1 .05 .7", ""), 0.6 - depth);
    // a box on a table: four corners carry it
    rests_at("<geom type='box' size='1 1 .3'/><body name='box' pos='.1 0 .41'><freejoint/>"
             "<geom type='box' size='.2 .3 .1' mass='2'/></body>",
             0.4 - 2 * depth / 4);
    // on the edges of two boxes, .16 m apart: s from each to the centre, 2 K (.1 - s) z/s = m g, z above the edges
    double s = 0.1, z = 0.06;
    for (int k = 0; k < 50; k++) {
        z = sqrt(s * s - 0.08 * 0.08);
        s = 0.1 - G * s / (2 * K * z);
    }
    rests_with("<geom type='box' size='1 1 .3' pos='-1.08 0 0'/><geom type='box' size='1 1 .3' pos='1.08 0 0'/>" BALL(
                   "0 0 .37", ""),
               0.0, 0.3 + z);
}

static double random_in(uint64_t *state, double size) { return random_between(state, -size, size); }

// The distance from a place to the surface of a shape, through a search over the surface.
static double searched(const ArticulatedSurface *s, const double *y)
{
    double best = INFINITY;
    enum { N = 400 };
    for (int i = 0; i <= N; i++) {
        for (int j = 0; j <= N; j++) {
            const double a = (double)i / N, b = (double)j / N;
            for (int face = 0; face < 6; face++) {
                double p[3] = {0, 0, 0};
                if (s->kind == ARTICULATED_ON_BOX) {
                    p[face % 3] = face < 3 ? s->size[face % 3] : -s->size[face % 3];
                    p[(face + 1) % 3] = (2 * a - 1) * s->size[(face + 1) % 3];
                    p[(face + 2) % 3] = (2 * b - 1) * s->size[(face + 2) % 3];
                } else if (s->kind == ARTICULATED_ON_CYLINDER) {
                    const double r = face < 2 ? b * s->size[0] : s->size[0];
                    p[0] = r * cos(2 * pi * a);
                    p[1] = r * sin(2 * pi * a);
                    p[2] = face == 0 ? s->size[1] : face == 1 ? -s->size[1] : (2 * b - 1) * s->size[1];
                } else {
                    const double half = s->kind == ARTICULATED_ON_CAPSULE ? s->size[1] : 0.0;
                    p[0] = s->size[0] * cos(2 * pi * a) * sin(pi * b);
                    p[1] = s->size[0] * sin(2 * pi * a) * sin(pi * b);
                    p[2] = s->size[0] * cos(pi * b) + (face == 0 ? half : face == 1 ? -half : 0.0);
                    if (face == 2) {
                        p[0] = s->size[0] * cos(2 * pi * a);
                        p[1] = s->size[0] * sin(2 * pi * a);
                        p[2] = (2 * b - 1) * half;
                    }
                    if (half == 0.0 && face > 0) continue;
                    if (face > 2) continue;
                }
                best = fmin(best, hypot(hypot(p[0] - y[0], p[1] - y[1]), p[2] - y[2]));
            }
        }
    }
    return best;
}

// Outside: the nearest place of the surface; the normal is the gradient of the distance everywhere.
TEST(contact_distance_to_shapes)
{
    uint64_t state = 5;
    const ArticulatedLanes w = {.gravity = G};
    for (int k = 0; k < (test_quick() ? 12 : 60); k++) {
        ArticulatedSurface s = {.kind = ARTICULATED_ON_SPHERE + k % 4};
        double q[4], y[3], far = 0.0;
        random_turn(&state, q);
        for (int a = 0; a < 3; a++) {
            const double axis[3] = {a == 0, a == 1, a == 2};
            figure_turn(q, axis, s.axes + 3 * a);
            s.p[a] = random_in(&state, 1);
            s.size[a] = random_between(&state, 0.2, 0.6);
            y[a] = random_in(&state, 1);
        }
        double c[3];
        figure_turn(q, y, c);
        for (int a = 0; a < 3; a++) c[a] += s.p[a];
        const ArticulatedNear near = surface_near(&w, &s, vector3_of(c));
        const double n[3] = {near.normal.x, near.normal.y, near.normal.z};
        CHECK_NEAR(1.0, n[0] * n[0] + n[1] * n[1] + n[2] * n[2], 1e-14);
        if (s.kind != ARTICULATED_ON_CAPSULE || near.above > 0.0) CHECK_NEAR(fabs(near.above), searched(&s, y), 2e-3);
        for (int a = 0; a < 3; a++) {
            double low[3], high[3];
            memcpy(low, c, sizeof c);
            memcpy(high, c, sizeof c);
            low[a] -= 1e-6;
            high[a] += 1e-6;
            const double slope =
                (surface_near(&w, &s, vector3_of(high)).above - surface_near(&w, &s, vector3_of(low)).above) / 2e-6;
            far = fmax(far, fabs(slope - n[a]));
        }
        CHECK(far < 1e-8);
    }
}

// ---- height fields --------------------------------------------------------------------------------------------------

// Of a place in a triangle with these corners: the height there, and the normal.
static double field_in_triangle(double corner[3][3], const double *c, double *n)
{
    double a[3], b[3];
    for (int k = 0; k < 3; k++) {
        a[k] = corner[1][k] - corner[0][k];
        b[k] = corner[2][k] - corner[0][k];
    }
    for (int k = 0; k < 3; k++) n[k] = a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
    const double length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]) * (n[2] < 0.0 ? -1.0 : 1.0);
    for (int k = 0; k < 3; k++) n[k] /= length;
    return corner[0][2] - ((c[0] - corner[0][0]) * n[0] + (c[1] - corner[0][1]) * n[1]) / n[2];
}

// In a random place of a random field, turned about z, against the triangle's plane through its corners.
TEST(contact_distance_to_height_fields)
{
    enum { ROWS = 4, COLUMNS = 3 };
    uint64_t state = 9;
    double heights[2 + ROWS * COLUMNS];
    for (int k = 0; k < 1000; k++) {
        const RobotShape shape = {.kind = ROBOT_HFIELD,
                                  .q = {0, 0, sin(0.1 * k), cos(0.1 * k)},
                                  .p = {random_in(&state, 1), random_in(&state, 1), random_in(&state, 1)},
                                  .size = {random_between(&state, 0.5, 2), random_between(&state, 0.5, 2)},
                                  .first = 2,
                                  .rows = ROWS,
                                  .columns = COLUMNS};
        const ArticulatedSurface s = articulated_surface_of(&shape);
        for (int i = 0; i < 2 + ROWS * COLUMNS; i++) heights[i] = random_in(&state, 0.5);
        const ArticulatedLanes w = {.assets = heights};
        const int i = (int)random_between(&state, 0, COLUMNS - 1), j = (int)random_between(&state, 0, ROWS - 1);
        const double u = random_between(&state, 0.01, 0.99), v = random_between(&state, 0.01, 0.99);
        double corner[4][3], c[3], n[3], place[3];
        for (int m = 0; m < 4; m++) { // the corner at 0, 0, that across it, and the two between
            const int x = i + (m == 1 || m == 2), y = j + (m == 1 || m == 3);
            corner[m][0] = -shape.size[0] + x * 2 * shape.size[0] / (COLUMNS - 1);
            corner[m][1] = -shape.size[1] + y * 2 * shape.size[1] / (ROWS - 1);
            corner[m][2] = heights[2 + y * COLUMNS + x];
        }
        c[0] = corner[0][0] + u * (corner[1][0] - corner[0][0]);
        c[1] = corner[0][1] + v * (corner[1][1] - corner[0][1]);
        c[2] = random_in(&state, 1);
        if (v > u) memcpy(corner[2], corner[3], sizeof corner[2]);
        const double over = c[2] - field_in_triangle(corner, c, n);
        figure_turn(shape.q, c, place);
        figure_turn(shape.q, n, n);
        for (int a = 0; a < 3; a++) place[a] += shape.p[a];
        const ArticulatedNear near = surface_near(&w, &s, vector3_of(place));
        CHECK_NEAR(over * n[2], near.above, 1e-12);
        const double normal[3] = {near.normal.x, near.normal.y, near.normal.z};
        for (int a = 0; a < 3; a++) CHECK_NEAR(n[a], normal[a], 1e-12);
        for (int side = 0; side < 4; side++) { // beyond each edge there is nothing
            double beyond[3] = {random_in(&state, 0.9) * shape.size[0], random_in(&state, 0.9) * shape.size[1], -1};
            beyond[side % 2] = (side < 2 ? -1 - 1e-9 : 1 + 1e-9) * shape.size[side % 2];
            figure_turn(shape.q, beyond, place);
            for (int a = 0; a < 3; a++) place[a] += shape.p[a];
            CHECK_NEAR(SURFACE_NONE, surface_near(&w, &s, vector3_of(place)).above, 0.0);
        }
    }
}

// A ball on a rail along z: on a slope of tan s = 0.1 or 0.2 its force along the normal is m g/cos s. From -5 to 5 m,
// with 0 and 1 m at y = -5, 2 and 1 m at y = 5: the triangles rise by 0.1 or -0.1 along x, and by 0 or 0.2 along y.
#define HILL(attributes)                                                                                               \
    "<asset><hfield name='hill' size='5 5 2 1' nrow='2' ncol='2' elevation='4 2 0 2'/></asset>" attributes
#define RAIL(place)                                                                                                    \
    "<geom type='hfield' hfield='hill' name='floor'/><body name='ball' pos='" place                                    \
    " 1.5'><joint name='rail' type='slide' axis='0 0 1'/><geom name='hull' size='.1' mass='1'/></body>"
static void rests_on_hill(const char *text, double height, double slope_x, double slope_y)
{
    World world;
    const double up = 1.0 / sqrt(1.0 + slope_x * slope_x + slope_y * slope_y), depth = G / K / up;
    world_run(&world, text, HILL(""), 2.0, false, NULL);
    const double given = G * (slope_x * slope_x + slope_y * slope_y) / 1e6; // the rail gives way, down the slope
    CHECK_NEAR(height + (0.1 - depth) / up - 1.5 - given, world_last(&world, "rail_q"), 1e-9);
    CHECK_NEAR(G / up, world_last(&world, "ball_force"), 1e-6);
    world_end(&world);
}

TEST(contact_ball_rests_on_a_height_field)
{
    rests_on_hill(RAIL("2 -1"), 0.1 * 7 + 0.0 * 4, 0.1, 0.0);
    rests_on_hill(RAIL("-1 2"), 0.2 * 7 - 0.1 * 4, -0.1, 0.2);
    rests_on_hill(RAIL("-4.9 -4.95"), 0.1 * 0.1, 0.1, 0.0);
}

// A box slides on a level one as on a plane; beyond its edge it falls.
static void slides_on_field(const char *floor, const char *box, const char *contact, double mu)
{
    World world;
    char text[600], beside[400];
    snprintf(text, sizeof text,
             "<geom name='floor' type='hfield' hfield='level' %s/><body name='box' pos='0 0 .1'><freejoint/>"
             "<geom name='hull' type='box' size='.2 .2 .1' mass='1' %s/></body>",
             floor, box);
    snprintf(beside, sizeof beside, "<asset><hfield name='level' size='4 4 1 1' nrow='9' ncol='7'/></asset>%s",
             contact);
    const ArticulatedValue parameters[] = {{"base_vx", 2}, {NULL, 0}};
    world_run(&world, text, beside, 1.0, false, parameters);
    const double rest = mu > 0.0 ? 2.0 / (mu * G) : INFINITY;
    CHECK_NEAR(rest < 1.0 ? 2.0 * rest / 2 : 2.0 - 0.5 * mu * G, world_last(&world, "base_x"), 2e-3);
    CHECK_NEAR(0.1, world_last(&world, "base_z"), 1e-3);
    world_end(&world);
}

TEST(contact_friction_on_a_height_field)
{
    slides_on_field("friction='.3'", "friction='.1'", "", 0.3);
    slides_on_field("condim='1'", "condim='1'", "", 0.0);
    slides_on_field("priority='1' friction='.1'", "", "", 0.1);
    slides_on_field("contype='0' conaffinity='0'", "", PAIR("friction='.2 .2'"), 0.2);
    World world;
    world_run(&world, "<geom type='hfield' hfield='hill'/>" BALL("5.01 0 2", ""), HILL(""), 1.0, false, NULL);
    CHECK_NEAR(2.0 - 0.5 * G, world_last(&world, "base_z"), 3e-3);
    world_end(&world);
}

// ---- cylinders ------------------------------------------------------------------------------------------------------

#define CYLINDER(frame, size)                                                                                          \
    "<body name='can' " frame "><freejoint/><geom type='cylinder' size='" size "' mass='1'/></body>"

// A solid cylinder rolls down a plane with 2/3 g sin, on a circle: its height over the plane does not change.
TEST(contact_cylinder_rolls_on_a_circle)
{
    World world;
    char text[400];
    const double tilt = 8 * pi / 180;
    snprintf(text, sizeof text,
             "<geom type='plane' size='1 1 1' euler='0 8 0'/>" CYLINDER("pos='%.17g 0 %.17g' euler='90 0 0'", ".1 .15"),
             0.1 * sin(tilt), 0.1 * cos(tilt));
    world_run(&world, text, NULL, 2.0, false, NULL);
    const double s = 0.1 - 0.5 * G * cos(tilt) / K, along = G * sin(tilt) / (1 + 0.5 * 0.01 / (s * s));
    CHECK_NEAR(along * cos(tilt), (world_at(&world, 2, "base_vx") - world_at(&world, 1, "base_vx")), 2e-3 * along);
    CHECK_NEAR(along / s, (world_at(&world, 2, "base_wy") - world_at(&world, 1, "base_wy")), 2e-3 * along / s);
    for (int k = 0; k <= 200; k++) {
        const double t = 1 + 0.005 * k;
        CHECK_NEAR(s, sin(tilt) * world_at(&world, t, "base_x") + cos(tilt) * world_at(&world, t, "base_z"), 2e-6);
    }
    CHECK_NEAR(0.0, world_last(&world, "base_y"), 1e-6);
    world_end(&world);
}

// It stands on three points of the rim below; on a tilted plane it falls over beyond atan(radius/half its length),
// whichever way it is turned.
TEST(contact_cylinder_stands)
{
    rests_at("<geom type='plane' size='1 1 1'/>" CYLINDER("pos='0 0 .21'", ".1 .2"), 0.2 - G / (3 * K));
    rests_at("<geom type='plane' size='1 1 1'/>" CYLINDER("pos='0 0 .21' euler='180 0 30'", ".1 .2"),
             0.2 - G / (3 * K));
    for (int k = 0; k < 8; k++) {
        World world;
        char text[400];
        const double tilt = (k % 2 == 0 ? 24.5 : 28.5) * pi / 180;
        snprintf(text, sizeof text,
                 "<geom type='plane' size='1 1 1' euler='0 %.17g 0'/><frame euler='0 %.17g 0'>" CYLINDER(
                     "pos='0 0 .1997' euler='0 0 %d'", ".1 .2") "</frame>",
                 tilt * 180 / pi, tilt * 180 / pi, 25 * k);
        world_run(&world, text, NULL, 1.5, true, NULL);
        const double upright = 1 - 2 * (pow(world_last(&world, "base_qx"), 2) + pow(world_last(&world, "base_qy"), 2));
        CHECK(k % 2 == 0 ? upright > cos(tilt + 0.02) : upright < 0.6);
        world_end(&world);
    }
}

// A coin that stands on its rim rolls straight on.
TEST(contact_coin_rolls_straight)
{
    World world;
    const ArticulatedValue parameters[] = {{"base_vx", 1.0}, {NULL, 0}};
    world_run(&world, "<geom type='plane' size='1 1 1'/>" CYLINDER("pos='0 0 .1' euler='90 0 0'", ".1 .002"), NULL, 3.0,
              false, parameters);
    const double speed = world_at(&world, 1, "base_vx");
    CHECK_NEAR(2.0 / 3.0, speed, 5e-3); // from sliding to rolling: two thirds are left
    CHECK_NEAR(speed, world_last(&world, "base_vx"), 1e-3);
    CHECK_NEAR(0.0, world_last(&world, "base_y"), 1e-6);
    world_end(&world);
}

// ---- ellipsoids -----------------------------------------------------------------------------------------------------

#define EGG(frame) "<body name='egg' " frame "><freejoint/><geom type='ellipsoid' size='.3 .2 .1' mass='1'/></body>"

TEST(contact_ellipsoid_rests_on_its_least_axis)
{
    rests_at("<geom type='plane' size='1 1 1'/>" EGG("pos='0 0 .11'"), 0.1 - G / K);
    rests_at("<geom type='box' size='2 2 .3'/>" EGG("pos='0 0 .41'"), 0.4 - G / K);
}

// Turned by a little it rocks about y with w^2 = g (r - c)/((a^2 + c^2)/5 + c^2), r = a^2/c the radius of curvature.
TEST(contact_ellipsoid_rocks)
{
    World world;
    world_run(&world, "<geom type='plane' size='1 1 1'/>" EGG("pos='0 0 .0995' euler='0 1 0'"), NULL, 2.0, false, NULL);
    const double a = 0.3, c = 0.1, w2 = G * (a * a / c - c) / ((a * a + c * c) / 5 + c * c);
    int crossings = 0;
    double first = 0.0, last = 0.0;
    for (int k = 1; k < 2 * STEPS_A_SECOND; k++) {
        const double t = (double)k / STEPS_A_SECOND, before = world_at(&world, t - 1.0 / STEPS_A_SECOND, "base_qy");
        const double now = world_at(&world, t, "base_qy");
        if ((before > 0) == (now > 0)) continue;
        last = t - now / (now - before) / STEPS_A_SECOND;
        if (crossings++ == 0) first = last;
    }
    CHECK(crossings > 6);
    CHECK_NEAR(sqrt(w2), pi * (crossings - 1) / (last - first), 0.01 * sqrt(w2));
    world_end(&world);
}

// ---- the terrain of the spec ----------------------------------------------------------------------------------------

// It takes the place of the file's planes, with their friction; other shapes of the world stay. none: nothing touches.
TEST(contact_terrain_of_the_spec_replaces_planes)
{
    static const char text[] =
        "<geom type='plane' size='1 1 1' pos='0 0 1' friction='.3'/><geom type='box' size='.2 .2 .5' "
        "pos='3 0 0'/>" BALL(
            "0 0 .2", "friction='.1'") "<body name='other' pos='3 0 .7'><freejoint/><geom size='.1' mass='1'/></body>";
    static const double expected[2][2] = {{0.1, 0.6}, {0.2 - 0.5 * G, 0.7 - 0.5 * G}};
    for (int none = 0; none < 2; none++) {
        World world;
        const ArticulatedSetup setup = {.robot = world_robot(&world, text, NULL),
                                        .settings = {{"dt", 1.0 / STEPS_A_SECOND},
                                                     {"duration", 1.0},
                                                     {"terrain", none ? TERRAIN_none : TERRAIN_flat}},
                                        .samples = STEPS_A_SECOND + 1};
        world.duration = 1.0;
        articulated_start(&world.test, &setup);
        articulated_go(&world.test, 1 << 20);
        CHECK_NEAR(expected[none][0], world_last(&world, "base_z"), 3e-3);
        CHECK_NEAR(expected[none][1], world_last(&world, "other_z"), 3e-3);
        ArticulatedConstants c;
        memcpy(&c, &world.test.configured.constants, sizeof c);
        const ArticulatedPoint *points = (const ArticulatedPoint *)(world.test.configured.assets + c.points);
        CHECK_INTEGER(none ? 0 : 4, c.n_points); // each on the terrain and on the box
        if (!none) CHECK_NEAR(0.3, points[0].friction, 0.0);
        world_end(&world);
    }
}

// ---- what else knows the ground -------------------------------------------------------------------------------------

// fall_height counts from the highest plane below, and that is drawn.
TEST(contact_height_is_over_the_planes)
{
    static const char text[] =
        "<geom type='plane' size='1 1 1' pos='0 0 -2'/><geom type='plane' size='1 1 1' pos='1 0 -1' "
        "euler='0 -45 0'/><geom type='plane' size='1 1 1' pos='-9 0 0' euler='0 90 0'/>" BALL("-1 0 -1", "");
    World world;
    const ArticulatedValue parameters[] = {{"fall_height", 0.5}, {NULL, 0}};
    ArticulatedSetup setup = {.robot = world_robot(&world, text, NULL),
                              .settings = {{"dt", 1e-3}, {"duration", 1.0}, {"terrain", TERRAIN_file}},
                              .parameters = {parameters[0]}};
    articulated_start(&world.test, &setup);
    articulated_go(&world.test, 1 << 20);
    CHECK_INTEGER(ARTICULATED_FELL, articulated_failed(&world.test, 0));
    CHECK_NEAR(sqrt(2 * 0.5 / G), articulated_got(&world.test, "survived", 0), 2e-3); // from -1 to -1.5
    const Configured *configured = &world.test.configured;
    const double *parameter = world.test.batch->parameter;
    CHECK(configured->drawing->ground != NULL);
    CHECK_NEAR(-2.0, configured->drawing->ground(configured, parameter, -3.0), 1e-12);
    CHECK_NEAR(1.0, configured->drawing->ground(configured, parameter, 3.0), 1e-12);
    world_end(&world);
}

// The same over height fields, two here; where both are, the higher one counts. And what touches the one below settles.
TEST(contact_height_is_over_the_height_fields)
{
    static const char text[] = "<geom type='hfield' hfield='hill' pos='0 0 -3'/><geom type='hfield' hfield='hill' "
                               "pos='8 0 0'/>" BALL("1 -3 0", "");
    World world;
    const ArticulatedValue parameters[] = {{"fall_height", 0.5}, {NULL, 0}};
    ArticulatedSetup setup = {.robot = world_robot(&world, text, HILL("")),
                              .settings = {{"dt", 1e-3}, {"duration", 1.0}, {"terrain", TERRAIN_file}},
                              .parameters = {parameters[0]}};
    articulated_start(&world.test, &setup);
    articulated_go(&world.test, 1 << 20);
    CHECK_INTEGER(ARTICULATED_FELL, articulated_failed(&world.test, 0));
    CHECK_NEAR(sqrt(2 * 1.9 / G), articulated_got(&world.test, "survived", 0), 2e-3); // from 0 to -2.4 + 0.5
    const Configured *configured = &world.test.configured;
    const double *parameter = world.test.batch->parameter;
    CHECK(configured->drawing->ground != NULL);
    CHECK_NEAR(-2.3, configured->drawing->ground(configured, parameter, -2.0), 1e-12); // -3 + 0.2 * 5 - 0.1 * 3
    CHECK_NEAR(0.5, configured->drawing->ground(configured, parameter, 8.0), 1e-12);
    CHECK_NEAR(1.0, configured->drawing->ground(configured, parameter, 20.0), 1e-12); // the edge's
    const ArticulatedStart start = articulated_start_of(configured, parameter, &world.arena);
    CHECK_NEAR(2.4 - 0.1 * sqrt(1.01), start.least, 1e-12);
    world_end(&world);
}
