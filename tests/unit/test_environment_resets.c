// Environments: what ends an episode, what begins one, in each mode of autoreset; random numbers of episodes.
#include "../../sim/hopper/hopper.h"
#include "environment_case.h"

#include <math.h>
#include <string.h>

// A hopper whose episode is over after eight steps of 10 ms, or where its leg stands at less than 0.005 rad.
static const char resets_spec[] =
    "version: 1\nexperiment: case\nseed: 3\nmodel: hopper\n"
    "simulation: {settle: 0.05, duration: 0.08, control: {mode: external, period: 10ms}}\n"
    "replicates:\n  perturb:\n    phi_leg: {uniform: [-0.2, 0.2]}\n"
    "    x_dot_des: {uniform: [0, 3]}\n"
    "environment:\n  observe: [time, phi_leg, x_dot_des]\n  reward: \"1 + time\"\n"
    "  terminate: \"phi_leg < 0.005\"\n";

static void resets_open(int64_t lanes, int autoreset, int type, EnvironmentCase *c)
{
    hopscotch_env_options options = HOPSCOTCH_ENV_OPTIONS;
    options.lanes = lanes;
    options.device = environment_case_device();
    options.autoreset = autoreset;
    options.type = type;
    CHECK(environment_case_open(resets_spec, &options, c));
}

static double resets_get(const EnvironmentCase *c, int array, int64_t lane, int column)
{
    return environment_case_number(c, array, lane, column);
}

static bool resets_over(const EnvironmentCase *c, int64_t lane)
{
    return resets_get(c, HOPSCOTCH_TERMINATED, lane, 0) != 0.0 || resets_get(c, HOPSCOTCH_TRUNCATED, lane, 0) != 0.0;
}

// ---- modes ----------------------------------------------------------------------------------------------------------

// The step after the end is a reset: no action, no reward, no flags.
TEST(environment_autoreset_next_step)
{
    EnvironmentCase c;
    int64_t ended = 0, truncated = 0;
    bool over[20] = {false};
    resets_open(20, HOPSCOTCH_AUTORESET_NEXT_STEP, HOPSCOTCH_FLOAT64, &c);
    CHECK_INTEGER(HOPSCOTCH_OK, environment_case_reset(&c, NULL, NULL));
    for (int step = 0; step < 40; step++) {
        CHECK_INTEGER(HOPSCOTCH_OK, environment_case_step(&c));
        for (int64_t lane = 0; lane < 20; lane++) {
            const double time = resets_get(&c, HOPSCOTCH_OBSERVATIONS, lane, 0);
            if (over[lane]) {
                CHECK_BITS(0.0, time);
                CHECK_BITS(0.0, resets_get(&c, HOPSCOTCH_REWARDS, lane, 0));
                CHECK(!resets_over(&c, lane));
                CHECK_BITS(0.0, resets_get(&c, HOPSCOTCH_STEPS, lane, 0));
            } else {
                CHECK_BITS(1.0 + time, resets_get(&c, HOPSCOTCH_REWARDS, lane, 0));
                CHECK_NEAR(0.01 * resets_get(&c, HOPSCOTCH_STEPS, lane, 0), time, 1e-12);
                CHECK_INTEGER(time > 0.079, resets_get(&c, HOPSCOTCH_TRUNCATED, lane, 0) != 0.0);
                CHECK_INTEGER(resets_get(&c, HOPSCOTCH_OBSERVATIONS, lane, 1) < 0.005,
                              resets_get(&c, HOPSCOTCH_TERMINATED, lane, 0) != 0.0);
            }
            over[lane] = resets_over(&c, lane);
            ended += over[lane];
            truncated += resets_get(&c, HOPSCOTCH_TRUNCATED, lane, 0) != 0.0;
            if (!over[lane]) continue;
            const double steps = resets_get(&c, HOPSCOTCH_EPISODE_STEPS, lane, 0);
            CHECK_NEAR(steps + 0.01 * steps * (steps + 1.0) / 2.0, resets_get(&c, HOPSCOTCH_EPISODE_RETURNS, lane, 0),
                       1e-12);
            CHECK_NEAR(0.01 * steps, resets_get(&c, HOPSCOTCH_EPISODE_METRICS, lane, HOPPER_METRIC_survived), 1e-12);
            CHECK_INTEGER(0, (int64_t)resets_get(&c, HOPSCOTCH_EPISODE_FAILURE, lane, 0));
        }
    }
    CHECK(ended > 100 && truncated > 10 && truncated < ended);
    CHECK_INTEGER(HOPSCOTCH_OK, environment_case_close(&c));
}

// The step of the end begins the next episode; the last observation stands apart. Its episodes are those of next-step.
TEST(environment_autoreset_same_step)
{
    EnvironmentCase same, next;
    resets_open(9, HOPSCOTCH_AUTORESET_SAME_STEP, HOPSCOTCH_FLOAT64, &same);
    resets_open(9, HOPSCOTCH_AUTORESET_NEXT_STEP, HOPSCOTCH_FLOAT64, &next);
    CHECK_INTEGER(HOPSCOTCH_OK, environment_case_reset(&same, NULL, NULL));
    CHECK_INTEGER(HOPSCOTCH_OK, environment_case_reset(&next, NULL, NULL));
    CHECK(isnan(resets_get(&same, HOPSCOTCH_FINAL_OBSERVATIONS, 0, 0)));
    CHECK_INTEGER(-1, (int64_t)resets_get(&same, HOPSCOTCH_EPISODE_FAILURE, 0, 0));
    int64_t ended = 0;
    for (int step = 0; step < 30; step++) {
        CHECK_INTEGER(HOPSCOTCH_OK, environment_case_step(&same));
        for (int64_t lane = 0; lane < 9; lane++) {
            if (!resets_over(&same, lane)) continue;
            ended++;
            CHECK_BITS(0.0, resets_get(&same, HOPSCOTCH_OBSERVATIONS, lane, 0));
            CHECK_BITS(0.0, resets_get(&same, HOPSCOTCH_STEPS, lane, 0));
            CHECK_NEAR(0.01 * resets_get(&same, HOPSCOTCH_EPISODE_STEPS, lane, 0),
                       resets_get(&same, HOPSCOTCH_FINAL_OBSERVATIONS, lane, 0), 1e-12);
            CHECK(resets_get(&same, HOPSCOTCH_REWARDS, lane, 0) > 1.0);
        }
    }
    CHECK(ended > 40);
    // lane 4: the episodes one after the other, with the same parameters
    double drawn[2][4];
    EnvironmentCase *cases[2] = {&same, &next};
    for (int k = 0; k < 2; k++) {
        CHECK_INTEGER(HOPSCOTCH_OK, environment_case_reset(cases[k], NULL, (const uint64_t[9]){5, 5, 5, 5, 5}));
        int episodes = 1;
        drawn[k][0] = resets_get(cases[k], HOPSCOTCH_OBSERVATIONS, 4, 2);
        while (episodes < 4) {
            CHECK_INTEGER(HOPSCOTCH_OK, environment_case_step(cases[k]));
            if (resets_get(cases[k], HOPSCOTCH_STEPS, 4, 0) == 0.0)
                drawn[k][episodes++] = resets_get(cases[k], HOPSCOTCH_OBSERVATIONS, 4, 2);
        }
    }
    for (int i = 0; i < 4; i++) CHECK_BITS(drawn[0][i], drawn[1][i]);
    CHECK(drawn[0][0] != drawn[0][1] && drawn[0][1] != drawn[0][2]);
    CHECK_INTEGER(HOPSCOTCH_OK, environment_case_close(&same));
    CHECK_INTEGER(HOPSCOTCH_OK, environment_case_close(&next));
}

// A lane that has ended stays as it is until a reset names it.
TEST(environment_autoreset_disabled)
{
    EnvironmentCase c;
    double before[13][3];
    resets_open(13, HOPSCOTCH_AUTORESET_DISABLED, HOPSCOTCH_FLOAT64, &c);
    CHECK_INTEGER(HOPSCOTCH_OK, environment_case_reset(&c, NULL, NULL));
    for (int step = 0; step < 8; step++) CHECK_INTEGER(HOPSCOTCH_OK, environment_case_step(&c));
    for (int64_t lane = 0; lane < 13; lane++) {
        CHECK(resets_over(&c, lane));
        for (int k = 0; k < 3; k++) before[lane][k] = resets_get(&c, HOPSCOTCH_OBSERVATIONS, lane, k);
    }
    CHECK_INTEGER(HOPSCOTCH_OK, environment_case_step(&c));
    for (int64_t lane = 0; lane < 13; lane++) {
        CHECK(resets_over(&c, lane));
        CHECK_BITS(0.0, resets_get(&c, HOPSCOTCH_REWARDS, lane, 0));
        for (int k = 0; k < 3; k++) CHECK_BITS(before[lane][k], resets_get(&c, HOPSCOTCH_OBSERVATIONS, lane, k));
    }
    const uint8_t chosen[13] = {[2] = 1, [9] = 1};
    CHECK_INTEGER(HOPSCOTCH_OK, environment_case_reset(&c, chosen, NULL));
    for (int64_t lane = 0; lane < 13; lane++) {
        CHECK_INTEGER(chosen[lane] == 0, resets_over(&c, lane));
        CHECK_INTEGER(chosen[lane] != 0, resets_get(&c, HOPSCOTCH_OBSERVATIONS, lane, 0) == 0.0);
    }
    CHECK_INTEGER(HOPSCOTCH_OK, environment_case_close(&c));
}

// ---- random numbers -------------------------------------------------------------------------------------------------

// A lane's draws depend on its seed, or on its number, and on how often it began; not on the number of lanes.
TEST(environment_seeds)
{
    EnvironmentCase few, many;
    uint64_t seeds[40];
    resets_open(3, HOPSCOTCH_AUTORESET_NEXT_STEP, HOPSCOTCH_FLOAT64, &few);
    resets_open(40, HOPSCOTCH_AUTORESET_NEXT_STEP, HOPSCOTCH_FLOAT64, &many);
    CHECK_INTEGER(HOPSCOTCH_OK, environment_case_reset(&few, NULL, NULL));
    CHECK_INTEGER(HOPSCOTCH_OK, environment_case_reset(&many, NULL, NULL));
    double mean = 0.0;
    for (int64_t lane = 0; lane < 40; lane++) {
        const double x = resets_get(&many, HOPSCOTCH_OBSERVATIONS, lane, 2);
        if (lane < 3) CHECK_BITS(resets_get(&few, HOPSCOTCH_OBSERVATIONS, lane, 2), x);
        CHECK(x >= 0.0 && x <= 3.0);
        mean += x / 40.0;
        seeds[lane] = (uint64_t)(lane / 2);
    }
    CHECK_NEAR(1.5, mean, 0.5);
    const double first = resets_get(&many, HOPSCOTCH_OBSERVATIONS, 7, 2);
    CHECK_INTEGER(HOPSCOTCH_OK, environment_case_reset(&many, NULL, NULL));
    CHECK(resets_get(&many, HOPSCOTCH_OBSERVATIONS, 7, 2) != first);
    CHECK_INTEGER(HOPSCOTCH_OK, environment_case_reset(&many, NULL, seeds));
    CHECK_INTEGER(HOPSCOTCH_OK, environment_case_reset(&few, NULL, (const uint64_t[3]){7, 3, 3}));
    CHECK_BITS(resets_get(&few, HOPSCOTCH_OBSERVATIONS, 0, 2), resets_get(&many, HOPSCOTCH_OBSERVATIONS, 14, 2));
    CHECK_BITS(resets_get(&few, HOPSCOTCH_OBSERVATIONS, 1, 2), resets_get(&many, HOPSCOTCH_OBSERVATIONS, 6, 2));
    CHECK_BITS(resets_get(&few, HOPSCOTCH_OBSERVATIONS, 1, 2), resets_get(&few, HOPSCOTCH_OBSERVATIONS, 2, 2));
    CHECK_INTEGER(HOPSCOTCH_OK, environment_case_close(&few));
    CHECK_INTEGER(HOPSCOTCH_OK, environment_case_close(&many));
}

// Single precision rounds what is read and written; the model is the same.
TEST(environment_of_single_precision)
{
    EnvironmentCase wide, narrow;
    resets_open(6, HOPSCOTCH_AUTORESET_SAME_STEP, HOPSCOTCH_FLOAT64, &wide);
    resets_open(6, HOPSCOTCH_AUTORESET_SAME_STEP, HOPSCOTCH_FLOAT32, &narrow);
    CHECK_INTEGER(HOPSCOTCH_FLOAT32, narrow.array[HOPSCOTCH_OBSERVATIONS].type);
    CHECK_INTEGER(HOPSCOTCH_OK, environment_case_reset(&wide, NULL, NULL));
    CHECK_INTEGER(HOPSCOTCH_OK, environment_case_reset(&narrow, NULL, NULL));
    for (int step = 0; step < 20; step++) {
        for (int64_t lane = 0; lane < 6; lane++) {
            const double action = (double)(float)(40.0 * environment_case_random(lane, step, 1));
            environment_case_act(&wide, lane, 1, action);
            environment_case_act(&narrow, lane, 1, action);
        }
        CHECK_INTEGER(HOPSCOTCH_OK, environment_case_step(&wide));
        CHECK_INTEGER(HOPSCOTCH_OK, environment_case_step(&narrow));
        for (int64_t lane = 0; lane < 6; lane++) {
            for (int k = 0; k < 3; k++)
                CHECK_BITS((double)(float)resets_get(&wide, HOPSCOTCH_OBSERVATIONS, lane, k),
                           resets_get(&narrow, HOPSCOTCH_OBSERVATIONS, lane, k));
            CHECK_BITS(resets_get(&wide, HOPSCOTCH_EPISODE_METRICS, lane, 2),
                       resets_get(&narrow, HOPSCOTCH_EPISODE_METRICS, lane, 2));
        }
    }
    CHECK_INTEGER(HOPSCOTCH_OK, environment_case_close(&wide));
    CHECK_INTEGER(HOPSCOTCH_OK, environment_case_close(&narrow));
}
