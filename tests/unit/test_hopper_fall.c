// dormand_prince locates a fall as any other event: the lane ends there, with every metric of that instant.
#define HOPSCOTCH_SCALAR
#include "../../sim/hopper/control.h"
#include "hopper_case.h"

#include <math.h>

enum { FALL_RK4 = 3, FALL_PRINCE = 4 }; // choices of `integrator`

// A hopper that falls in its own way.
typedef struct FallWay {
    const char *name;
    HopperSetting parameter[4];
} FallWay;

static const FallWay fall_ways[] = {
    {"the leg gets too short", {{"z_foot", 0.675}, {"x_dot_des", 3.0}}},
    {"the body turns over", {{"z_foot", 3.0}, {"dphi_body", 6.0}}},
    {"the body comes too low", {{"l_1", 0.05}, {"l_2", 0.1}, {"k_l", 200.0}}},
    {"it has fallen at t = 0", {{"phi_leg", 1.45}, {"z_foot", -0.3}}},
};
enum { FALL_WAYS = sizeof fall_ways / sizeof fall_ways[0] };

static HopperCase fall_case(const FallWay *way, int integrator)
{
    HopperCase test = hopper_case;
    test.duration = 0.9;
    test.integrator = integrator;
    test.option[0] = (HopperSetting){"settle", 0.0};
    for (int i = 0; i < 4; i++) test.parameter[i] = way->parameter[i];
    return test;
}

// hopper_fallen at the end of lane 0.
static double fall_depth(const HopperOutcome *outcome)
{
    HopperWorld world = {.c = {0}};
#define FALL_SET(name, ...) world.p.name = outcome->batch->parameter[HOPPER_PARAMETER_##name * outcome->batch->stride];
    HOPPER_PARAMETERS(FALL_SET)
#undef FALL_SET
    double state[10];
    for (int i = 0; i < 10; i++) state[i] = hopper_state(outcome, i, 0);
    const HopperVector q = {state[0], state[1], state[2], state[3], state[4]};
    const HopperAngles s = hopper_angles(q.a, q.b);
    return hopper_fallen(&world, &s, &q);
}

TEST(hopper_dormand_prince_locates_a_fall)
{
    for (int w = 0; w < FALL_WAYS - 1; w++) {
        HopperCase steps = fall_case(&fall_ways[w], FALL_RK4);
        steps.dt = 5e-6;
        HopperOutcome fine = hopper_simulate(&steps);
        CHECK_TEXT("fell", hopper_failure_of(&fine, 0));
        const double exact = hopper_metric(&fine, "survived", 0);
        const char *const metrics[] = {"distance", "energy", "attitude_rms", "mean_speed", "peak_ground_force"};
        const double tolerances[] = {1e-10, 1e-6, 5e-5};
        for (int k = 0; k < 3; k++) {
            HopperCase test = fall_case(&fall_ways[w], FALL_PRINCE);
            test.option[1] = (HopperSetting){"tolerance", tolerances[k]};
            HopperOutcome outcome = hopper_simulate(&test);
            CHECK_TEXT("fell", hopper_failure_of(&outcome, 0));
            CHECK_NEAR(exact, hopper_metric(&outcome, "survived", 0), 5e-5);
            CHECK_NEAR(0.0, fall_depth(&outcome), 0.1 * tolerances[k] + 1e-12);
            for (int m = 0; m < 5; m++) {
                const double value = hopper_metric(&fine, metrics[m], 0);
                CHECK_NEAR(value, hopper_metric(&outcome, metrics[m], 0), 2e-3 * fabs(value) + 1e-6);
            }
            hopper_release(&outcome);
        }
        if (w == 0) CHECK_NEAR(0.55126, exact, 2e-5);
        hopper_release(&fine);
    }
}

TEST(hopper_dormand_prince_ends_at_once_where_it_has_fallen)
{
    HopperCase test = fall_case(&fall_ways[FALL_WAYS - 1], FALL_PRINCE);
    test.traced = 1;
    test.every = 10;
    HopperOutcome outcome = hopper_simulate(&test);
    CHECK_TEXT("fell", hopper_failure_of(&outcome, 0));
    CHECK_BITS(0.0, hopper_metric(&outcome, "survived", 0));
    CHECK_BITS(0.0, hopper_metric(&outcome, "distance", 0));
    CHECK_INTEGER(1, outcome.batch->trace.count[0]);
    hopper_release(&outcome);
}

// A fall ends lanes at their own instants: the same bits in any company and slice.
TEST(hopper_falls_of_neighbours_are_the_same_bits)
{
    HopperOutcome alone[FALL_WAYS];
    for (int w = 0; w < FALL_WAYS; w++) {
        HopperCase test = fall_case(&fall_ways[w], FALL_PRINCE);
        test.slice = 7;
        alone[w] = hopper_simulate(&test);
        test.lanes = 9;
        test.slice = 1000;
        HopperOutcome many = hopper_simulate(&test);
        for (int lane = 0; lane < 9; lane += 4) hopper_check_same(&alone[w], 0, &many, lane);
        hopper_release(&many);
    }
    for (int w = 0; w < FALL_WAYS; w++) hopper_release(&alone[w]);
}
