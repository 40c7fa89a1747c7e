// The hopper as a whole, through the CPU backend: known trajectories, convergence, failures, and bits that depend on
// nothing but the lane.
#include "hopper_case.h"

#include <math.h>
#include <string.h>

enum { HOPPER_TEST_LANES = 23 };

// Foot x and height at 5 s for x_dot_des = 2 m/s: DOP853 at rtol 1e-12 with located events and continuous control.
TEST(hopper_converges_to_the_known_trajectory)
{
    const double known[2][2] = {{4.635183081826388, -0.030370656971354562}, {4.6593655692028495, -0.03071003978683879}};
    for (int equations = 0; equations < 2; equations++) {
        for (int integrator = 0; integrator < 2; integrator++) {
            double error[2], drift[2];
            for (int i = 0; i < 2; i++) {
                HopperCase test = hopper_case;
                test.duration = 5.0;
                test.dt = i == 0 ? 1e-4 : 1e-5;
                test.equations = equations;
                test.integrator = integrator;
                HopperOutcome outcome = hopper_simulate(&test);
                error[i] = fabs(hopper_state(&outcome, 0, 0) - known[equations][0]);
                CHECK_NEAR(known[equations][1], hopper_state(&outcome, 1, 0), 2e-3);
                CHECK_TEXT("none", hopper_failure_of(&outcome, 0));
                CHECK_NEAR(5.0, hopper_metric(&outcome, "survived", 0), 1e-12);
                CHECK_NEAR(5.0, hopper_metric(&outcome, "hop_count", 0), 0.0);
                CHECK(hopper_metric(&outcome, "newton_max_residual", 0) <= 1e-11);
                drift[i] = fabs(hopper_metric(&outcome, "energy_drift", 0)); // J; the energy is about 130 J
                hopper_release(&outcome);
            }
            CHECK_NEAR(0.0, error[0], 1.5e-2);
            CHECK(error[1] < 0.3 * error[0]); // first order: control is held over a step
            CHECK(drift[0] < (integrator == 0 ? 0.01 : 2.0));
            CHECK(drift[1] < 0.2 * drift[0]);
        }
    }
}

static void hopper_spread(double *parameter, const Configured *configured, int64_t lane)
{
    parameter[hopper_index(configured, "k_fp")] = 60.0 + 11.0 * (double)lane;
    parameter[hopper_index(configured, "thrust")] = 10.0 + 3.0 * (double)lane;
    parameter[hopper_index(configured, "z_foot")] = 0.01 * (double)(lane % 5);
    parameter[hopper_index(configured, "phi_body")] = lane % 7 == 3 ? 1.45 : 0.01; // some hoppers fall
    parameter[hopper_index(configured, "dphi_body")] = lane % 7 == 3 ? 2.0 : 0.0;
}

TEST(hopper_bits_depend_on_nothing_but_the_lane)
{
    for (int integrator = 0; integrator < 2; integrator++) {
        HopperCase test = hopper_case;
        test.integrator = integrator;
        test.fill = hopper_spread;
        test.lanes = HOPPER_TEST_LANES;
        HopperOutcome whole = hopper_simulate(&test);
        CHECK_TEXT("fell", hopper_failure_of(&whole, 3));
        CHECK_TEXT("none", hopper_failure_of(&whole, 4));

        const struct {
            int64_t slice, traced;
            int threads;
            const char *isa;
        } ways[] = {{1, 0, 1, "auto"},      {100, 0, 2, "auto"}, {1000000, 9, 1, "auto"},
                    {700, 23, 2, "scalar"}, {999, 0, 1, ISA_V3}, {50, 3, 2, ISA_V2}};
        for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
            HopperCase other = test;
            other.slice = ways[i].slice;
            other.traced = ways[i].traced;
            other.every = 13;
            other.threads = ways[i].threads;
            other.isa = ways[i].isa;
            HopperOutcome same = hopper_simulate(&other);
            for (int64_t lane = 0; lane < test.lanes; lane++) hopper_check_same(&whole, lane, &same, lane);
            hopper_release(&same);
        }
        for (int64_t lane = 0; lane < test.lanes; lane++) {
            HopperCase other = test;
            other.lanes = 1;
            other.first = lane;
            HopperOutcome alone = hopper_simulate(&other);
            hopper_check_same(&whole, lane, &alone, 0);
            hopper_release(&alone);
        }
        hopper_release(&whole);
    }
}

TEST(hopper_trace_holds_the_first_the_regular_and_the_last_sample)
{
    HopperCase test = hopper_case;
    test.fill = hopper_spread;
    test.lanes = test.traced = 5;
    test.every = 30;
    HopperOutcome outcome = hopper_simulate(&test);
    const Trace *trace = &outcome.batch->trace;
    const int columns = outcome.configured.n_columns;
    for (int64_t lane = 0; lane < test.traced; lane++) {
        const double *sample = trace->sample + lane * trace->capacity * columns;
        const double survived = hopper_metric(&outcome, "survived", lane);
        const int64_t expected =
            1 + (int64_t)ceil(survived / (30 * test.dt) - 1e-9); // the last one off the grid counts
        CHECK_INTEGER(expected, trace->count[lane]);
        for (int64_t k = 0; k < trace->count[lane]; k++) {
            const double t = k + 1 < trace->count[lane] ? 30.0 * (double)k * test.dt : survived;
            CHECK_NEAR(t, sample[k * columns], 1e-12);
        }
        CHECK_BITS(outcome.batch->parameter[hopper_index(&outcome.configured, "z_foot") * outcome.batch->stride + lane],
                   sample[2]);
        for (int c = 0; c < 10; c++)
            CHECK_BITS(hopper_state(&outcome, c, lane), sample[(trace->count[lane] - 1) * columns + 1 + c]);
    }
    hopper_release(&outcome);
}

static void hopper_viscous_ground(double *parameter, const Configured *configured, int64_t lane)
{
    (void)lane;
    parameter[hopper_index(configured, "b_g")] = 3e4;
    parameter[hopper_index(configured, "z_foot")] = 0.01;
}

TEST(hopper_failures_are_typed)
{
    HopperCase test = hopper_case;
    test.fill = hopper_viscous_ground;
    HopperOutcome implicit = hopper_simulate(&test); // fixed-point iteration can't contract that
    CHECK_TEXT("solver", hopper_failure_of(&implicit, 0));
    CHECK(hopper_metric(&implicit, "survived", 0) < 0.2);
    CHECK(isnan(hopper_metric(&implicit, "apex_mean", 0)));
    hopper_release(&implicit);
    test.integrator = 1;
    HopperOutcome explicit_step = hopper_simulate(&test);
    CHECK(strcmp(hopper_failure_of(&explicit_step, 0), "diverged") == 0 ||
          strcmp(hopper_failure_of(&explicit_step, 0), "fell") == 0);
    hopper_release(&explicit_step);
}
