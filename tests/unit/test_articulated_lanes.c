// Articulated robots that end at different times: each as it is alone, also where other lanes of a batch have ended.
#include "articulated_case.h"

static const RobotBody lanes_body = {.name = "ball",
                                     .parent = -1,
                                     .p = {0, 0, 1},
                                     .q = {0, 0, 0, 1},
                                     .mass = 1,
                                     .inertia = {0.01, 0.02, 0.03, 0, 0, 0},
                                     .joint = {.name = "base", .kind = ROBOT_FREE}};
static const Robot lanes_robot = {.name = "ball", .bodies = &lanes_body, .n_bodies = 1, .n_coordinates = 7};

// A ball falls; lane k ends when it is lower than this (m).
static double lanes_floor(int64_t lane) { return 0.95 - 0.07 * (double)((lane * 29) % 64); }

TEST(articulated_lanes_end_apart)
{
    enum { LANES_HERE = 64 };
    ArticulatedSetup setup = {.robot = &lanes_robot,
                              .settings = {{"dt", 0.01}, {"duration", 1.2}},
                              .parameters = {{"base_vx", 0.5}},
                              .lanes = LANES_HERE};
    ArticulatedCase together, alone;
    articulated_start(&together, &setup);
    for (int64_t lane = 0; lane < LANES_HERE; lane++)
        articulated_set(&together, "fall_height", lane, lanes_floor(lane));
    articulated_go(&together, 7);
    setup.lanes = 1;
    for (int64_t lane = 0; lane < LANES_HERE; lane++) {
        articulated_start(&alone, &setup);
        articulated_set(&alone, "fall_height", 0, lanes_floor(lane));
        articulated_go(&alone, 1000);
        CHECK_INTEGER(articulated_failed(&alone, 0), articulated_failed(&together, lane));
        CHECK_BITS(articulated_got(&alone, "survived", 0), articulated_got(&together, "survived", lane));
        CHECK_BITS(articulated_got(&alone, "distance", 0), articulated_got(&together, "distance", lane));
        CHECK_BITS(articulated_got(&alone, "height_mean", 0), articulated_got(&together, "height_mean", lane));
        articulated_end(&alone);
    }
    articulated_end(&together);
}
