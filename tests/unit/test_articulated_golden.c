// Articulated robots against an independent prototype in double precision: the Unitree G1, three steps without gravity
// from a full state, and a gait with contact.
#include "../../sim/articulated/advance.h"
#include "articulated_hand.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- three steps ----------------------------------------------------------------------------------------------------

typedef struct GoldenState {
    double o[3 * G1_BODIES], q[4 * G1_BODIES], v[3 * G1_BODIES], w[3 * G1_BODIES], L[3 * G1_BODIES];
} GoldenState;

// The next state of the file; quaternions are w, x, y, z.
static const char *golden_state(const char *at, GoldenState *state)
{
    const char *end = golden_numbers(at, "o", 3 * G1_BODIES, state->o);
    golden_numbers(at, "q", 4 * G1_BODIES, state->q);
    golden_numbers(at, "v", 3 * G1_BODIES, state->v);
    golden_numbers(at, "w_solved", 3 * G1_BODIES, state->w);
    const char *last = golden_numbers(at, "L", 3 * G1_BODIES, state->L);
    return last > end ? last : end;
}

// The origin of a body's frame is at its anchor: joints of this robot are at their bodies' origins.
static void golden_load(const ArticulatedLanes *w, const GoldenState *state)
{
    for (int i = 0; i < G1_BODIES; i++) {
        const int at = articulated_at(i);
        for (int k = 0; k < 4; k++) set_limb(w, at + ARTICULATED_Q + (k + 3) % 4, splat(state->q[4 * i + k]));
        const Rotation r = rotation_of(limb4(w, at + ARTICULATED_Q));
        const Vector3 o = vector3_of(&state->o[(size_t)3 * (size_t)i]);
        set_limb3(w, at + ARTICULATED_X, less(o, rotation_out(&r, body_vector(w, i, ARTICULATED_anchor_x))));
        set_limb3(w, at + ARTICULATED_V, vector3_of(&state->v[(size_t)3 * (size_t)i]));
        set_limb3(w, at + ARTICULATED_W, vector3_of(&state->w[(size_t)3 * (size_t)i]));
        set_limb3(w, at + ARTICULATED_L, vector3_of(&state->L[(size_t)3 * (size_t)i]));
    }
}

static void golden_compare(const ArticulatedLanes *w, const GoldenState *state)
{
    for (int i = 0; i < G1_BODIES; i++) {
        const int at = articulated_at(i);
        const Rotation r = rotation_of(limb4(w, at + ARTICULATED_Q));
        const Vector3 o =
            added(limb3(w, at + ARTICULATED_X), rotation_out(&r, body_vector(w, i, ARTICULATED_anchor_x)));
        CHECK_NEAR(state->o[3 * i], lane_of(o.x, 0), 1e-11);
        CHECK_NEAR(state->o[3 * i + 1], lane_of(o.y, 0), 1e-11);
        CHECK_NEAR(state->o[3 * i + 2], lane_of(o.z, 0), 1e-11);
        for (int k = 0; k < 4; k++)
            CHECK_NEAR(state->q[4 * i + k], lane_of(limb(w, at + ARTICULATED_Q + (k + 3) % 4), 0), 1e-11);
        for (int k = 0; k < 3; k++) {
            CHECK_NEAR(state->v[3 * i + k], lane_of(limb(w, at + ARTICULATED_V + k), 0), 1e-11);
            CHECK_NEAR(state->w[3 * i + k], lane_of(limb(w, at + ARTICULATED_W + k), 0), 1e-11);
            CHECK_NEAR(state->L[3 * i + k], lane_of(limb(w, at + ARTICULATED_L + k), 0), 1e-11);
        }
    }
}

TEST(articulated_three_steps_of_g1)
{
    ArticulatedCase test;
    Robot robot;
    Arena arena;
    if (arena_create(&arena, (size_t)1 << 26, "a test").kind != OK) abort();
    if (g1_robot(&arena, NULL, &robot)) {
        const ArticulatedSetup setup = {.robot = &robot, .settings = {{"dt", 1.0 / 240}}};
        articulated_start(&test, &setup);
        articulated_set(&test, "gravity", 0, 0.0);
        LaneGroup group = {.batch = *test.batch, .valid = 1};
        double *work = ARENA_NEW(&arena, double, test.configured.n_work *LANES);
        group.batch.work = work;
        const ArticulatedLanes w = articulated_open(&test.configured.constants, test.configured.assets, &group);
        articulated_begin(&w);
        GoldenState *state = ARENA_NEW(&arena, GoldenState, 4);
        const char *at = strstr(g1_golden(&arena), "three_steps_zero_g_240Hz");
        for (int k = 0; k < 4; k++) at = golden_state(at, &state[k]);
        for (int k = 0; k < 3; k++) {
            golden_load(&w, &state[k]);
            articulated_tick(&w, splat(0.0));
            golden_compare(&w, &state[k + 1]);
        }
        articulated_end(&test);
    }
    arena_destroy(&arena);
}

// ---- a gait ---------------------------------------------------------------------------------------------------------

// The pose at the time `key` (s); sample k is the one before step k.
static void golden_pose(const ArticulatedCase *test, const char *golden, const char *key, int64_t k)
{
    static const char *const position[] = {"base_x", "base_y", "base_z"};
    static const char *const turned[] = {"base_qw", "base_qx", "base_qy", "base_qz"};
    double pelvis[3], q[4], joint[29];
    char name[32];
    snprintf(name, sizeof name, "\"%s\"", key);
    const char *at = strstr(strstr(golden, "\"trajectory\""), name);
    golden_numbers(at, "pelvis", 3, pelvis);
    golden_numbers(at, "quat_wxyz", 4, q);
    golden_numbers(at, "q", 29, joint);
    for (int i = 0; i < 3; i++) CHECK_NEAR(pelvis[i], articulated_seen(test, 0, k, position[i]), 1e-9);
    for (int i = 0; i < 4; i++) CHECK_NEAR(q[i], articulated_seen(test, 0, k, turned[i]), 1e-9);
}

static void golden_poses(const ArticulatedCase *test, const char *golden)
{
    golden_pose(test, golden, "0.05", 24);
    golden_pose(test, golden, "0.1", 48);
    golden_pose(test, golden, "0.25", 120);
    golden_pose(test, golden, "0.5", 240);
    golden_pose(test, golden, "1.0", 480);
    CHECK(articulated_got(test, "momentum_error", 0) < 1e-11);
}

// The prototype's normal force is the estimate f_n of all points before the solve (contact.h).
static double golden_estimate(const ArticulatedLanes *w)
{
    double sum = 0.0;
    for (int i = 0; i < w->c.n_bodies; i++) {
        const ArticulatedPose pose = body_pose(w, i);
        for (int k = 0; k < w->bodies[i].n_points; k++) {
            const ArticulatedContact point = contact_state(w, &pose, &w->points[w->bodies[i].point + k], splat(1.0));
            sum += lane_of(select_real(point.touching, point.force, splat(0.0)), 0);
        }
    }
    return sum;
}

static void golden_forces(const ArticulatedSetup *setup, const char *golden)
{
    static const char *const times[] = {"\"0.05\"", "\"0.1\"", "\"0.25\"", "\"0.5\"", "\"1.0\""};
    static const int64_t steps[] = {24, 48, 120, 240, 480};
    ArticulatedHand hand;
    int place = 0;
    hand_start(&hand, setup);
    for (int64_t tick = 0; tick < steps[4]; tick++) {
        real changed;
        double force;
        const double estimate = golden_estimate(&hand.w);
        ArticulatedSeen seen = articulated_tick_solve(&hand.w, tick, &changed);
        articulated_tick_move(&hand.w, splat((double)tick * hand.w.c.dt), &seen, changed, NULL);
        if (tick + 1 != steps[place]) continue;
        golden_numbers(strstr(strstr(golden, "\"trajectory\""), times[place++]), "normal_force", 1, &force);
        CHECK_NEAR(force, estimate, 1e-6);
    }
    hand_end(&hand);
}

// theta as turned frames of the file, or as designs of the lane.
static void golden_walk(bool designed)
{
    ArticulatedCase test;
    Robot robot;
    Arena arena;
    Points lists[2];
    double theta[6], dt;
    if (arena_create(&arena, (size_t)1 << 26, "a test").kind != OK) abort();
    const char *golden = g1_golden(&arena);
    if (golden != NULL) golden_numbers(golden, "theta", 6, theta);
    if (g1_robot(&arena, designed ? NULL : theta, &robot)) {
        golden_numbers(golden, "dt", 1, &dt);
        ArticulatedSetup setup = {
            .robot = &robot, .settings = {{"dt", dt}, {"duration", 1.0}, {"control.mode", 1}}, .samples = 481};
        memcpy(setup.parameters, golden_gait, sizeof golden_gait);
        if (designed) {
            golden_designs(lists, setup.parameters + GOLDEN_GAIT, theta);
            setup.lists = lists;
        }
        articulated_start(&test, &setup);
        articulated_go(&test, 100);
        golden_poses(&test, golden);
        articulated_end(&test);
        golden_forces(&setup, golden);
    }
    arena_destroy(&arena);
}

TEST(articulated_gait_of_g1) { golden_walk(false); }
TEST(articulated_gait_of_a_designed_g1) { golden_walk(true); }
