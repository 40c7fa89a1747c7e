// Articulated robots: the same bits for every instruction set, number of lanes and length of slices; and no stiffness
// of the joints or step makes a robot diverge.
#include "articulated_hand.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- bits -----------------------------------------------------------------------------------------------------------

enum { BITS_LANES = 64, BITS_TICKS = 100 };

// A random robot of 12 bodies with a ball at each: it falls on steps, pushed, with a gait.
static Robot bits_robot(Arena *arena)
{
    uint64_t state = 3;
    Robot robot = random_robot(&state, 12, arena);
    random_robot_feet(&robot, arena);
    return robot;
}

typedef struct BitsWay {
    const char *isa;
    int64_t lanes, slice;
} BitsWay;

// A grid of rough ground around the robot.
static Points bits_heights(void)
{
    static double z[20 * 21];
    for (int k = 0; k < 20 * 21; k++) z[k] = 0.03 * sin(1.7 * k);
    return (Points){.count = 20 * 21, .columns = 21, .numbers = z};
}

static void bits_run(ArticulatedCase *test, const Robot *robot, int terrain, bool second, const BitsWay *way)
{
    const Points heights = bits_heights();
    static const ArticulatedValue own[][2] = {[TERRAIN_steps] = {{"terrain_start", -1.0}, {"terrain_length", 0.3}},
                                              [TERRAIN_heights] = {{"terrain_x", 0.01}, {"terrain_scale", 1.1}},
                                              [TERRAIN_file] = {{"ground_friction", 0.9}, {"ground_stiffness", 3e4}}};
    const ArticulatedSetup setup = {.robot = robot,
                                    .settings = {{"dt", 2e-3},
                                                 {"duration", 2e-3 * BITS_TICKS},
                                                 {"control.mode", 1},
                                                 {"terrain", terrain},
                                                 {"friction", terrain == TERRAIN_heights},
                                                 {"order", second}},
                                    .parameters = {own[terrain][0],
                                                   own[terrain][1],
                                                   {"all_amplitude", 0.3},
                                                   {"push_time", 0.05},
                                                   {"push_x", 10.0},
                                                   {"base_z", 0.0}},
                                    .heights = terrain == TERRAIN_heights ? &heights : NULL,
                                    .lanes = way->lanes,
                                    .isa = way->isa};
    articulated_start(test, &setup);
    for (int64_t lane = 0; lane < way->lanes; lane++) {
        articulated_set(test, "base_z", lane, 0.1 + 0.005 * (double)lane);
        articulated_set(test, "all_amplitude", lane, 0.01 * (double)lane);
        articulated_set(test, "base_vx", lane, sin((double)lane));
    }
    articulated_go(test, way->slice);
}

static void bits_check(const Robot *robot, int terrain, bool second, const BitsWay *way, const double *expected)
{
    ArticulatedCase test;
    bits_run(&test, robot, terrain, second, way);
    for (int m = 0; m < test.configured.n_metrics; m++) {
        for (int64_t lane = 0; lane < way->lanes; lane++)
            CHECK_BITS(expected[m * BITS_LANES + lane], test.batch->metric[m * test.batch->stride + lane]);
    }
    articulated_end(&test);
}

static void bits_everywhere(int terrain, bool second)
{
    static const BitsWay ways[] = {{"auto", 64, 1000}, {ISA_V2, 64, 1000}, {ISA_V3, 64, 1000}, {ISA_V4, 64, 1000},
                                   {"auto", 1, 1000},  {"auto", 7, 1000},  {"auto", 7, 1},     {"auto", 64, 7},
                                   {ISA_V2, 7, 7},     {"scalar", 7, 7},   {ISA_V3, 7, 1},     {ISA_V4, 7, 7}};
    Arena arena;
    ArticulatedCase test;
    if (arena_create(&arena, (size_t)1 << 24, "a robot").kind != OK) abort();
    double *expected = ARENA_NEW(&arena, double, (ARTICULATED_N_METRICS + 1) * BITS_LANES);
    Robot robot = bits_robot(&arena);
    if (terrain == TERRAIN_file) random_robot_world(&robot, 3, &arena);
    bits_run(&test, &robot, terrain, second, &(BitsWay){ISA_V2, 64, 1 << 20});
    CHECK_INTEGER(ARTICULATED_N_METRICS + second, test.configured.n_metrics);
    for (int m = 0; m < test.configured.n_metrics; m++)
        memcpy(expected + m * BITS_LANES, test.batch->metric + m * test.batch->stride, sizeof *expected * BITS_LANES);
    CHECK(articulated_got(&test, "contact_count", 3) > 0.5); // they do touch the ground
    CHECK(articulated_got(&test, "distance", 3) != articulated_got(&test, "distance", 4));
    for (int lane = 0; lane < BITS_LANES; lane++) CHECK_INTEGER(0, articulated_failed(&test, lane));
    articulated_end(&test);
    for (size_t k = 0; k < sizeof ways / sizeof *ways; k++) {
        const bool fma = strcmp(ways[k].isa, ISA_V3) == 0 || strcmp(ways[k].isa, "scalar") == 0;
        if (fma && !test_has_isa(ISA_V3)) continue;
        if (strcmp(ways[k].isa, ISA_V4) == 0 && !test_has_isa(ISA_V4)) continue;
        BitsWay way = ways[k];
        if (test_quick() && way.lanes > 24) way.lanes = 24;
        bits_check(&robot, terrain, second, &way, expected);
    }
    arena_destroy(&arena);
}

TEST(articulated_has_the_same_bits_everywhere) { bits_everywhere(TERRAIN_steps, false); }
TEST(articulated_has_the_same_bits_on_heights) { bits_everywhere(TERRAIN_heights, false); }
TEST(articulated_has_the_same_bits_on_shapes) { bits_everywhere(TERRAIN_file, false); }
TEST(articulated_has_the_same_bits_of_order_two)
{
    bits_everywhere(TERRAIN_steps, true);
    bits_everywhere(TERRAIN_heights, true);
}

// ---- stiffness and steps --------------------------------------------------------------------------------------------

// Greatest gap (m) and the time survived of a robot whose joints have the stiffness k, in `steps` steps a second.
static void stiff_check(const Robot *robot, double duration, double k, double steps, double base_z, double gap)
{
    ArticulatedCase test;
    const ArticulatedSetup setup = {.robot = robot,
                                    .settings = {{"dt", 1.0 / steps}, {"duration", duration}},
                                    .parameters = {{"attach_stiffness", k}, {"base_z", base_z}}};
    articulated_start(&test, &setup);
    articulated_go(&test, 1 << 20);
    CHECK_INTEGER(0, articulated_failed(&test, 0));
    CHECK(articulated_got(&test, "gap_max", 0) < gap);
    articulated_end(&test);
}

TEST(articulated_no_stiffness_diverges)
{
    static const double k[] = {1e4, 1e5, 1e6, 1e7, 1e8}, steps[] = {30, 60, 120, 240, 480, 960, 1920};
    Arena arena;
    Robot g1;
    if (arena_create(&arena, (size_t)1 << 26, "a robot").kind != OK) abort();
    const bool there = test_shared("data/g1/g1_bodies.csv") != NULL && g1_robot(&arena, NULL, &g1);
    const Robot robot = bits_robot(&arena);
    for (size_t i = 0; i < sizeof k / sizeof *k; i++) {
        for (size_t j = 0; j < sizeof steps / sizeof *steps; j++) {
            if (test_quick() && (i + j) % 3 != 0) continue;
            stiff_check(&robot, 0.5, k[i], steps[j], 0.3, 0.1);
            if (there) stiff_check(&g1, 0.5, k[i], steps[j], 0.79 - 0.793, 0.1);
        }
    }
    arena_destroy(&arena);
}
