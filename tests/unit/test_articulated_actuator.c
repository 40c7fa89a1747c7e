// Encoders and delays of joints: by what they mean. Frictions and voltages: tests/cli/actuator.sh.
#include "articulated_hand.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ACTUATOR_LANES = 9 };

static ArticulatedSetup actuator_setup(const Robot *robot, int control, Arena *arena)
{
    ArticulatedSetup setup = random_setup(robot);
    setup.lanes = ACTUATOR_LANES;
    setup.samples = RANDOM_STEPS + 1;
    setup_control(&setup, control, arena);
    return setup;
}

// ---- delay ----------------------------------------------------------------------------------------------------------

// The command of joint j1 for the step k, which begins at k dt, as its delay says.
static double delayed_command(const ArticulatedSetup *setup, int control, int joint, int n_joints, int64_t k,
                              double delay)
{
    const double tau = 6.283185307179586;
    if (control == ARTICULATED_CONTROL_gait)
        return 0.1 + 0.3 * sin(tau * 1.5 * fmax((double)k * RANDOM_DT - delay, 0.0) + 0.4);
    const bool known = control == ARTICULATED_CONTROL_actions; // before t = 0, as at t = 0
    double sum = 0.1; // the mean over the step of a table's entries, moved by the delay
    const int parts = 4000;
    for (int part = 0; part < parts; part++) {
        const double step = floor((double)k + (part + 0.5) / parts - delay / RANDOM_DT);
        int64_t row = (int64_t)fmax(step, 0.0) / 5;
        if (row > 4) row = 4;
        if (known || step >= 0.0) sum += setup->actions->numbers[row * n_joints + joint] / parts;
    }
    return sum;
}

// Of lanes whose delays are many steps apart; the same bits by vectors.
static void delay_check(int control, bool by_effort)
{
    Arena arena;
    ArticulatedCase test, other;
    if (arena_create(&arena, (size_t)1 << 24, "a test").kind != OK) abort();
    const Robot robot = random_driven_robot(3, &arena);
    const bool decided = control == ARTICULATED_CONTROL_external, effort = decided && by_effort;
    ArticulatedSetup setup = actuator_setup(&robot, decided ? ARTICULATED_CONTROL_actions : control, &arena);
    if (decided) {
        setup.settings[2] = (ArticulatedValue){"control.mode", ARTICULATED_CONTROL_external};
        setup.settings[5] = (ArticulatedValue){"control.longest_delay", 90 * RANDOM_DT};
        setup.settings[6] = (ArticulatedValue){"control.command", effort ? 1 : 0};
    }
    setup.settings[4] = (ArticulatedValue){"control.period", 5 * RANDOM_DT};
    setup_add(&setup, "j1_delay", 0.0);
    ArticulatedCase *const runs[] = {&test, &other};
    for (int k = 0; k < 2; k++) {
        setup.isa = k == 0 ? NULL : "scalar";
        articulated_start(runs[k], &setup);
        for (int64_t lane = 0; lane < ACTUATOR_LANES; lane++)
            articulated_set(runs[k], "j1_delay", lane, 1.37 * RANDOM_DT * (double)(lane * lane));
        articulated_go(runs[k], 7);
    }
    ArticulatedConstants c;
    memcpy(&c, &test.configured.constants, sizeof c);
    const ArticulatedBody *bodies = (const ArticulatedBody *)test.configured.assets;
    for (int64_t lane = 0; lane < ACTUATOR_LANES; lane++) {
        for (int64_t k = 0; k < RANDOM_STEPS; k++) {
            const double delay = 1.37 * RANDOM_DT * (double)(lane * lane);
            const double expected = delayed_command(&setup, control, bodies[1].joint, c.n_joints, k, delay);
            const char *column = effort ? "j1_torque" : "j1_command"; // of the step before the sample
            const double got = articulated_seen(&test, lane, k + 1, column) + (effort ? 0.1 : 0.0);
            CHECK_NEAR(expected, got, control == ARTICULATED_CONTROL_gait ? 1e-12 : 1e-3);
            CHECK_BITS(got, articulated_seen(&other, lane, k + 1, column) + (effort ? 0.1 : 0.0));
        }
        CHECK_BITS(articulated_got(&test, "distance", lane), articulated_got(&other, "distance", lane));
    }
    articulated_end(&test);
    articulated_end(&other);
    arena_destroy(&arena);
}

TEST(articulated_delay_of_a_gait) { delay_check(ARTICULATED_CONTROL_gait, false); }
TEST(articulated_delay_of_actions) { delay_check(ARTICULATED_CONTROL_actions, false); }
TEST(articulated_delay_of_external_commands) { delay_check(ARTICULATED_CONTROL_external, false); }
TEST(articulated_delay_of_external_efforts) { delay_check(ARTICULATED_CONTROL_external, true); }

// ---- encoder --------------------------------------------------------------------------------------------------------

// An encoder that reads b too much is a command that is b too little, and b in the recorded coordinate.
TEST(articulated_encoder_is_a_command)
{
    const double b = 0.043;
    Arena arena;
    ArticulatedCase test, other;
    if (arena_create(&arena, (size_t)1 << 24, "a test").kind != OK) abort();
    const Robot robot = random_driven_robot(3, &arena);
    ArticulatedSetup setup = actuator_setup(&robot, ARTICULATED_CONTROL_gait, &arena), moved = setup;
    const char *names[] = {"time", "j1_q", "j1_rate"};
    double numbers[30], shifted[30];
    for (int r = 0; r < 10; r++) {
        numbers[3 * r] = shifted[3 * r] = RANDOM_DT * (1.7 * r + 1.0);
        numbers[3 * r + 1] = 0.2 * sin(r);
        shifted[3 * r + 1] = numbers[3 * r + 1] - b;
        numbers[3 * r + 2] = shifted[3 * r + 2] = cos(r);
    }
    const Points record = {.count = 30, .columns = 3, .numbers = numbers, .names = names};
    const Points record_shifted = {.count = 30, .columns = 3, .numbers = shifted, .names = names};
    setup.reference = &record;
    moved.reference = &record_shifted;
    setup_add(&setup, "j1_encoder", b);
    setup_add(&moved, "j1_offset", 0.1 - b);
    articulated_start(&test, &setup);
    articulated_start(&other, &moved);
    articulated_go(&test, 1000);
    articulated_go(&other, 1000);
    const double error = articulated_got(&other, "reference_error", 0);
    CHECK_NEAR(error, articulated_got(&test, "reference_error", 0), 1e-11 * error);
    CHECK_NEAR(articulated_seen(&other, 0, RANDOM_STEPS, "j1_q"), articulated_seen(&test, 0, RANDOM_STEPS, "j1_q"),
               1e-11);
    CHECK_NEAR(articulated_seen(&other, 0, 9, "j1_torque"), articulated_seen(&test, 0, 9, "j1_torque"), 1e-9);
    articulated_end(&test);
    articulated_end(&other);
    arena_destroy(&arena);
}
