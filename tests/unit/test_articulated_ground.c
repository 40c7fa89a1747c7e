// Articulated robots on terrain: a block on a slope, a ball that rolls, steps, a wave, a table, heights.
#include "articulated_hand.h"

#include <math.h>
#include <string.h>

#define G 9.81

// A free body of 2 kg with one shape, its centre at x, z, its z axis turned from the vertical to the normal of a slope.
typedef struct Placed {
    RobotBody body;
    RobotShape shape;
    Robot robot;
} Placed;

static void place(Placed *placed, RobotShapeKind kind, double size, double x, double z, double slope)
{
    const double half = -0.5 * atan(slope), inertia = 0.4 * 2.0 * size * size;
    placed->body = (RobotBody){.name = "body",
                               .parent = -1,
                               .p = {x, 0, z},
                               .q = {0, sin(half), 0, cos(half)},
                               .mass = 2.0,
                               .inertia = {inertia, inertia, inertia, 0, 0, 0},
                               .joint = {.name = "base", .kind = ROBOT_FREE}};
    placed->shape = (RobotShape){
        .name = "", .kind = kind, .q = {0, 0, 0, 1}, .size = {size, size, size}, .collides = true, .friction = 1};
    placed->robot = (Robot){.name = "placed",
                            .bodies = &placed->body,
                            .n_bodies = 1,
                            .shapes = &placed->shape,
                            .n_shapes = 1,
                            .n_coordinates = 7};
}

// On the slope at x = 0, which the ground has from -100 m on: n = (-s, 0, 1)/sqrt(1 + s^2) holds it `above` the ground.
static void place_on_slope(Placed *placed, RobotShapeKind kind, double size, double above, double slope)
{
    const double up = 1.0 / sqrt(1.0 + slope * slope);
    place(placed, kind, size, -slope * up * above, 100.0 * slope + up * above, slope);
}

enum { STEPS_A_SECOND = 2000 };
static void go(ArticulatedCase *test, const Robot *robot, double terrain, double duration,
               const ArticulatedValue *parameters)
{
    ArticulatedSetup setup = {.robot = robot,
                              .settings = {{"dt", 1.0 / STEPS_A_SECOND}, {"duration", duration}, {"terrain", terrain}},
                              .samples = (int64_t)(duration * STEPS_A_SECOND) + 1};
    for (int k = 0; parameters[k].name != NULL; k++) setup.parameters[k] = parameters[k];
    articulated_start(test, &setup);
    articulated_go(test, 1 << 20);
    CHECK_INTEGER(0, articulated_failed(test, 0));
}

static double at(const ArticulatedCase *test, double t, const char *column)
{
    return articulated_seen(test, 0, (int64_t)(t * STEPS_A_SECOND), column);
}

// ---- slope ----------------------------------------------------------------------------------------------------------

// Below the friction angle a block creeps down at v_s p/sqrt(1 - p^2), p = tan(angle)/mu.
TEST(articulated_block_rests_on_a_slope)
{
    ArticulatedCase test;
    Placed block;
    place_on_slope(&block, ROBOT_BOX, 0.1, 0.1, 0.3);
    const ArticulatedValue parameters[] = {
        {"terrain_slope", 0.3}, {"terrain_start", -100.0}, {"ground_friction", 0.5}, {"slip_speed", 1e-3}, {NULL, 0}};
    go(&test, &block.robot, TERRAIN_slope, 2.0, parameters);
    const double creep = 1e-3 * 0.6 / 0.8, cosine = 1.0 / sqrt(1.09);
    CHECK_NEAR(-creep * cosine, at(&test, 2.0, "base_vx"), 1e-6);
    CHECK_NEAR(-creep * cosine * 0.3, at(&test, 2.0, "base_vz"), 1e-6);
    CHECK_NEAR(2.0 * G * cosine, at(&test, 2.0, "body_force"), 1e-3);
    articulated_end(&test);
}

// Above it slides at g (sin - mu cos).
TEST(articulated_block_slides_down_a_slope)
{
    ArticulatedCase test;
    Placed block;
    place_on_slope(&block, ROBOT_BOX, 0.1, 0.1, 0.8);
    const ArticulatedValue parameters[] = {
        {"terrain_slope", 0.8}, {"terrain_start", -100.0}, {"ground_friction", 0.5}, {"slip_speed", 1e-3}, {NULL, 0}};
    go(&test, &block.robot, TERRAIN_slope, 1.0, parameters);
    const double cosine = 1.0 / sqrt(1.64), along = G * (0.8 - 0.5) * cosine;
    CHECK_NEAR(-along * cosine, (at(&test, 1.0, "base_vx") - at(&test, 0.5, "base_vx")) / 0.5, 1e-3 * along);
    CHECK_NEAR(-along * cosine * 0.8, (at(&test, 1.0, "base_vz") - at(&test, 0.5, "base_vz")) / 0.5, 1e-3 * along);
    articulated_end(&test);
}

// A solid ball rolls down with g sin/(1 + 2 r^2/(5 s^2)); its centre is s = r - depth over the ground.
TEST(articulated_ball_rolls_down_a_slope)
{
    ArticulatedCase test;
    Placed ball;
    place_on_slope(&ball, ROBOT_SPHERE, 0.1, 0.1, 0.3);
    const ArticulatedValue parameters[] = {{"terrain_slope", 0.3}, {"terrain_start", -100.0}, {NULL, 0}};
    go(&test, &ball.robot, TERRAIN_slope, 1.0, parameters);
    const double cosine = 1.0 / sqrt(1.09), s = 0.1 - 2.0 * G * cosine / 2e4;
    const double along = G * 0.3 * cosine / (1.0 + 0.4 * 0.01 / (s * s));
    CHECK_NEAR(-along * cosine, (at(&test, 1.0, "base_vx") - at(&test, 0.5, "base_vx")) / 0.5, 5e-4 * along);
    CHECK_NEAR(-along / s, (at(&test, 1.0, "base_wy") - at(&test, 0.5, "base_wy")) / 0.5, 5e-4 * along / s);
    articulated_end(&test);
}

// ---- anchored friction ----------------------------------------------------------------------------------------------

static void go_anchored(ArticulatedCase *test, const Robot *robot, double slope, double friction, double duration)
{
    const ArticulatedSetup setup = {
        .robot = robot,
        .settings = {{"dt", 1.0 / STEPS_A_SECOND}, {"duration", duration}, {"terrain", TERRAIN_slope}, {"friction", 1}},
        .parameters = {{"terrain_slope", slope}, {"terrain_start", -100.0}, {"ground_friction", friction}},
        .samples = (int64_t)(duration * STEPS_A_SECOND) + 1};
    articulated_start(test, &setup);
    articulated_go(test, 1 << 20);
    CHECK_INTEGER(0, articulated_failed(test, 0));
}

// Below the friction angle a block does not creep: the springs of its four corners carry m g sin.
TEST(articulated_anchored_block_rests_on_a_slope)
{
    ArticulatedCase test;
    Placed block;
    place_on_slope(&block, ROBOT_BOX, 0.1, 0.1, 0.3);
    go_anchored(&test, &block.robot, 0.3, 0.5, 2.0);
    const double cosine = 1.0 / sqrt(1.09);
    CHECK_NEAR(0.0, at(&test, 2.0, "base_vx"), 1e-9);
    CHECK_NEAR(0.0, at(&test, 2.0, "base_vz"), 1e-9);
    CHECK_NEAR(2.0 * G * cosine, at(&test, 2.0, "body_force"), 1e-6);
    CHECK_NEAR(at(&test, 1.0, "base_x"), at(&test, 2.0, "base_x"), 1e-9);
    articulated_end(&test);
}

// Above it slides at g (sin - mu cos).
TEST(articulated_anchored_block_slides_down_a_slope)
{
    ArticulatedCase test;
    Placed block;
    place_on_slope(&block, ROBOT_BOX, 0.1, 0.1, 0.8);
    go_anchored(&test, &block.robot, 0.8, 0.5, 1.0);
    const double cosine = 1.0 / sqrt(1.64), along = G * (0.8 - 0.5) * cosine;
    CHECK_NEAR(-along * cosine, (at(&test, 1.0, "base_vx") - at(&test, 0.5, "base_vx")) / 0.5, 1e-3 * along);
    CHECK_NEAR(-along * cosine * 0.8, (at(&test, 1.0, "base_vz") - at(&test, 0.5, "base_vz")) / 0.5, 1e-3 * along);
    articulated_end(&test);
}

// A block that slides down a slope below the friction angle stops after v^2/(2 g (mu cos - sin)), and stays.
TEST(articulated_anchored_block_stops)
{
    ArticulatedCase test;
    Placed block;
    place_on_slope(&block, ROBOT_BOX, 0.1, 0.1, 0.3);
    const double cosine = 1.0 / sqrt(1.09), sink = 2.0 * G * cosine / (4 * 2e4);
    block.body.p[0] += 0.3 * cosine * sink; // as deep as it rests
    block.body.p[2] -= cosine * sink;
    const ArticulatedSetup setup = {
        .robot = &block.robot,
        .settings = {{"dt", 1.0 / STEPS_A_SECOND}, {"duration", 2.0}, {"terrain", TERRAIN_slope}, {"friction", 1}},
        .parameters = {{"terrain_slope", 0.3},
                       {"terrain_start", -100.0},
                       {"ground_friction", 0.8},
                       {"base_vx", -cosine},
                       {"base_vz", -0.3 * cosine}},
        .samples = 2 * STEPS_A_SECOND + 1};
    articulated_start(&test, &setup);
    articulated_go(&test, 1 << 20);
    const double way = 0.5 / (G * (0.8 - 0.3) * cosine);
    CHECK_NEAR(-way * cosine, at(&test, 2.0, "base_x") - at(&test, 0.0, "base_x"), 0.01 * way);
    CHECK_NEAR(at(&test, 1.5, "base_x"), at(&test, 2.0, "base_x"), 1e-7);
    CHECK_NEAR(0.0, at(&test, 2.0, "base_vx"), 1e-7);
    articulated_end(&test);
}

// A ball rolls as it does with viscous friction: rolling stretches no spring.
TEST(articulated_anchored_ball_rolls_down_a_slope)
{
    ArticulatedCase test;
    Placed ball;
    place_on_slope(&ball, ROBOT_SPHERE, 0.1, 0.1, 0.3);
    go_anchored(&test, &ball.robot, 0.3, 1.0, 1.0);
    const double cosine = 1.0 / sqrt(1.09), s = 0.1 - 2.0 * G * cosine / 2e4;
    const double along = G * 0.3 * cosine / (1.0 + 0.4 * 0.01 / (s * s));
    CHECK_NEAR(-along * cosine, (at(&test, 1.0, "base_vx") - at(&test, 0.5, "base_vx")) / 0.5, 5e-4 * along);
    CHECK_NEAR(-along / s, (at(&test, 1.0, "base_wy") - at(&test, 0.5, "base_wy")) / 0.5, 5e-4 * along / s);
    CHECK_NEAR(at(&test, 1.0, "base_vx") / cosine, s * at(&test, 1.0, "base_wy"), 1e-3);
    articulated_end(&test);
}

// ---- steps, wave, table ---------------------------------------------------------------------------------------------

// On the third tread a block stands at twice the rise, and its four corners carry it.
TEST(articulated_block_stands_on_steps)
{
    ArticulatedCase test;
    Placed block;
    place(&block, ROBOT_BOX, 0.1, 2.4, 0.5, 0.0);
    const ArticulatedValue parameters[] = {
        {"terrain_start", 0.0}, {"terrain_height", 0.2}, {"terrain_length", 1.0}, {NULL, 0}};
    go(&test, &block.robot, TERRAIN_steps, 2.0, parameters);
    CHECK_NEAR(0.4 + 0.1 - 2.0 * G / (4 * 2e4), at(&test, 2.0, "base_z"), 1e-6);
    CHECK_NEAR(2.0 * G, at(&test, 2.0, "body_force"), 1e-3);
    CHECK_NEAR(2.0 * G, articulated_got(&test, "ground_force_mean", 0), 0.2);
    CHECK_NEAR(4.0, articulated_got(&test, "contact_count", 0), 0.01);
    articulated_end(&test);
}

// Without friction a small ball swings in a trough: w^2 = g/R, 1/R = height (2 pi/length)^2.
TEST(articulated_ball_swings_in_a_wave)
{
    ArticulatedCase test;
    Placed ball;
    const double R = 1.0 / (0.05 * pow(2.0 * 3.141592653589793, 2)), r = 1e-3;
    const double half = 3.141592653589793 / sqrt(G / R);
    place(&ball, ROBOT_SPHERE, r, 0.77, -0.05 + r + 0.5 * 0.02 * 0.02 / R, 0.0);
    const ArticulatedValue parameters[] = {{"terrain_start", 0.0},   {"terrain_height", 0.05},  {"terrain_length", 1.0},
                                           {"ground_friction", 0.0}, {"ground_stiffness", 1e6}, {NULL, 0}};
    go(&test, &ball.robot, TERRAIN_sine, 2.0, parameters);
    CHECK_NEAR(0.75 - 0.02, at(&test, half, "base_x"), 5e-4);
    CHECK_NEAR(0.75, at(&test, 0.5 * half, "base_x"), 5e-4);
    CHECK_NEAR(0.0, at(&test, half, "base_vx"), 2e-3);
    articulated_end(&test);
}

static void go_table(ArticulatedCase *test, const Robot *robot, const Points *table)
{
    const ArticulatedSetup setup = {
        .robot = robot,
        .settings = {{"dt", 1.0 / STEPS_A_SECOND}, {"duration", 0.5}, {"terrain", TERRAIN_table}},
        .table = table,
        .samples = STEPS_A_SECOND};
    articulated_start(test, &setup);
    articulated_go(test, 1 << 20);
}

// A table with one straight piece is a slope; level ground before and behind it.
TEST(articulated_table_is_a_slope)
{
    static const double xy[] = {-100.0, 0.0, 100.0, 60.0};
    const Points table = {.count = 2, .xy = xy};
    ArticulatedCase test, other;
    Placed block;
    place_on_slope(&block, ROBOT_BOX, 0.1, 0.1, 0.3);
    const ArticulatedValue parameters[] = {{"terrain_slope", 0.3}, {"terrain_start", -100.0}, {NULL, 0}};
    go(&test, &block.robot, TERRAIN_slope, 0.5, parameters);
    go_table(&other, &block.robot, &table);
    CHECK_NEAR(at(&test, 0.5, "base_x"), at(&other, 0.5, "base_x"), 1e-9);
    CHECK_NEAR(at(&test, 0.5, "base_z"), at(&other, 0.5, "base_z"), 1e-9);
    CHECK(at(&test, 0.5, "base_x") < -0.01);
    articulated_end(&test);
    articulated_end(&other);
    place(&block, ROBOT_BOX, 0.1, 150.0, 60.1, 0.0);
    go_table(&other, &block.robot, &table);
    CHECK_NEAR(60.1 - 2.0 * G / (4 * 2e4), at(&other, 0.5, "base_z"), 1e-6);
    articulated_end(&other);
}

// ---- heights over x and y -------------------------------------------------------------------------------------------

enum { ROWS = 5, COLUMNS = 4 };

// z = 0.3 x + 0.2 y - 0.5 x y, which bilinear cells give back exactly; x and y from the middle of the grid.
static double saddle(double x, double y) { return 0.3 * x + 0.2 * y - 0.5 * x * y; }

static Points grid_of(double (*height)(double, double), double spacing, double *z)
{
    for (int r = 0; r < ROWS; r++) {
        for (int c = 0; c < COLUMNS; c++)
            z[r * COLUMNS + c] = height(spacing * (c - 0.5 * (COLUMNS - 1)), spacing * (r - 0.5 * (ROWS - 1)));
    }
    return (Points){.count = ROWS * COLUMNS, .columns = COLUMNS, .numbers = z};
}

static void ground_check(const ArticulatedHand *hand, double x, double y, double height, double a, double b)
{
    const ArticulatedGround got = ground_below(&hand->w, splat(x), splat(y));
    const double up = 1.0 / sqrt(1.0 + a * a + b * b);
    CHECK_NEAR(height, lane_of(got.height, 0), 1e-14);
    CHECK_NEAR(-a * up, lane_of(got.normal.x, 0), 1e-14);
    CHECK_NEAR(-b * up, lane_of(got.normal.y, 0), 1e-14);
    CHECK_NEAR(up, lane_of(got.normal.z, 0), 1e-14);
}

// The grid reaches 0.75 m along x and 1 m along y from its middle, 2, 3; all heights are halved.
TEST(articulated_heights_are_bilinear)
{
    double z[ROWS * COLUMNS];
    Placed ball;
    ArticulatedHand hand;
    const Points grid = grid_of(saddle, 0.5, z);
    place(&ball, ROBOT_SPHERE, 0.1, 0.0, 5.0, 0.0);
    const ArticulatedSetup setup = {.robot = &ball.robot,
                                    .settings = {{"terrain", TERRAIN_heights}, {"terrain_spacing", 0.5}},
                                    .parameters = {{"terrain_x", 2.0}, {"terrain_y", 3.0}, {"terrain_scale", 0.5}},
                                    .heights = &grid};
    hand_start(&hand, &setup);
    for (double x = -0.74; x < 0.75; x += 0.11) {
        for (double y = -0.99; y < 1.0; y += 0.13)
            ground_check(&hand, 2 + x, 3 + y, 0.5 * saddle(x, y), 0.5 * (0.3 - 0.5 * y), 0.5 * (0.2 - 0.5 * x));
    }
    ground_check(&hand, 2 - 7, 3.1, 0.5 * saddle(-0.75, 0.1), 0.0, 0.5 * (0.2 + 0.375));
    ground_check(&hand, 2.1, 3 + 9, 0.5 * saddle(0.1, 1.0), 0.5 * (0.3 - 0.5), 0.0);
    ground_check(&hand, 2 + 7, 3 - 9, 0.5 * saddle(0.75, -1.0), 0.0, 0.0);
    ground_check(&hand, 2.75, 4.0, 0.5 * saddle(0.75, 1.0), 0.5 * (0.3 - 0.5), 0.5 * (0.2 - 0.375)); // on the corner
    hand_end(&hand);
}

static double rises_along_y(double x, double y) { return 30.0 + 0.3 * y + 0.0 * x; }

// A ball rolls down heights that rise along y as it rolls down a slope along x.
TEST(articulated_heights_are_a_slope)
{
    double z[ROWS * COLUMNS];
    ArticulatedCase slope, heights;
    Placed ball;
    const Points grid = grid_of(rises_along_y, 2.0, z);
    place_on_slope(&ball, ROBOT_SPHERE, 0.1, 0.1, 0.3);
    const ArticulatedValue parameters[] = {{"terrain_slope", 0.3}, {"terrain_start", -100.0}, {NULL, 0}};
    go(&slope, &ball.robot, TERRAIN_slope, 1.0, parameters);
    ball.body.p[1] = ball.body.p[0];
    ball.body.p[0] = 0.0;
    const ArticulatedSetup setup = {.robot = &ball.robot,
                                    .settings = {{"dt", 1.0 / STEPS_A_SECOND},
                                                 {"duration", 1.0},
                                                 {"terrain", TERRAIN_heights},
                                                 {"terrain_spacing", 2.0}},
                                    .heights = &grid,
                                    .samples = STEPS_A_SECOND + 1};
    articulated_start(&heights, &setup);
    articulated_go(&heights, 1 << 20);
    CHECK(at(&slope, 1.0, "base_vx") < -1.0);
    CHECK_NEAR(0.0, at(&heights, 1.0, "base_vx"), 1e-9);
    CHECK_NEAR(at(&slope, 1.0, "base_vx"), at(&heights, 1.0, "base_vy"), 1e-7);
    CHECK_NEAR(at(&slope, 1.0, "base_z"), at(&heights, 1.0, "base_z"), 1e-7);
    CHECK_NEAR(at(&slope, 1.0, "base_wy"), -at(&heights, 1.0, "base_wx"), 1e-7);
    articulated_end(&heights);
    articulated_end(&slope);
}

// ---- falls ----------------------------------------------------------------------------------------------------------

// 30 m up a slope a ball rests 0.1 m over the ground: it has not fallen below 0.05 m, and has below 0.5 m.
TEST(articulated_falls_are_measured_from_the_ground)
{
    Placed ball;
    place_on_slope(&ball, ROBOT_SPHERE, 0.1, 0.1, 0.3);
    for (int fallen = 0; fallen < 2; fallen++) {
        ArticulatedCase test;
        const ArticulatedSetup setup = {.robot = &ball.robot,
                                        .settings = {{"duration", 0.1}, {"terrain", TERRAIN_slope}},
                                        .parameters = {{"terrain_slope", 0.3},
                                                       {"terrain_start", -100.0},
                                                       {"fall_height", fallen == 0 ? 0.05 : 0.5}}};
        articulated_start(&test, &setup);
        articulated_go(&test, 1000);
        CHECK_INTEGER(fallen, articulated_failed(&test, 0)); // 1: fell
        articulated_end(&test);
    }
}
