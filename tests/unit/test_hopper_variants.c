// The hopper's variants: the four-state machine, terrain, pushes and wind, the energy balance by part. Each is tested
// by an effect that it must have, and all of them by bits that depend only on the lane.
#include "hopper_case.h"

#include <math.h>
#include <string.h>

// indices of the options' choices
enum { VARIANT_TIMED = 1, VARIANT_RANDOM };
enum { VARIANT_STEADY = 1, VARIANT_GUSTING };
enum { VARIANT_INTEGRATORS = 5 };

static HopperCase variant_case(double duration)
{
    HopperCase test = hopper_case;
    test.duration = duration;
    return test;
}

static void variant_set(HopperSetting *settings, const char *name, double value)
{
    while (settings->name != NULL && strcmp(settings->name, name) != 0) settings++;
    *settings = (HopperSetting){name, value};
}

// One metric of a run with one lane, which must succeed.
static double variant_metric(const HopperCase *test, const char *name)
{
    HopperOutcome outcome = hopper_simulate(test);
    CHECK_TEXT("none", hopper_failure_of(&outcome, 0));
    const double value = hopper_metric(&outcome, name, 0);
    hopper_release(&outcome);
    return value;
}

// ---- terrain --------------------------------------------------------------------------------------------------------

TEST(hopper_slope_slows_and_lifts)
{
    static const double level[] = {-10.0, 0.0, 10.0, 0.0};
    HopperCase flat = variant_case(5.0), table = flat, slope = flat, down = flat;
    variant_set(slope.option, "terrain", TERRAIN_slope);
    variant_set(slope.parameter, "terrain_slope", 0.05);
    variant_set(down.option, "terrain", TERRAIN_slope);
    variant_set(down.parameter, "terrain_slope", -0.05);
    variant_set(table.option, "terrain", TERRAIN_table);
    table.terrain = (Points){.xy = level, .count = 2};
    const double speed = variant_metric(&flat, "mean_speed"), apex = variant_metric(&flat, "apex_mean");
    CHECK(variant_metric(&slope, "mean_speed") < speed - 0.02);
    CHECK(variant_metric(&down, "mean_speed") > speed + 0.005);
    CHECK(variant_metric(&slope, "apex_mean") > apex + 0.005); // apexes are over z = 0; climbing makes the hops lower
    CHECK_BITS(speed, variant_metric(&table, "mean_speed"));
    CHECK_NEAR(variant_metric(&flat, "max_penetration"), variant_metric(&slope, "max_penetration"),
               0.01); // over ground
}

// In stance the foot is at most 6 cm deep in the ground, at any height of the ground.
TEST(hopper_climbs_steps)
{
    HopperCase test = variant_case(5.0);
    variant_set(test.option, "terrain", TERRAIN_steps);
    variant_set(test.parameter, "terrain_height", 0.03);
    variant_set(test.parameter, "terrain_length", 0.7);
    test.traced = 1;
    HopperOutcome outcome = hopper_simulate(&test);
    double highest = 0.0;
    for (int64_t k = 0; k < outcome.batch->trace.count[0]; k++) {
        const double *sample = hopper_sample_of(&outcome, 0, k);
        const double along = sample[1] - 1.0, tread = floor(along / 0.7), ground = along > 0.0 ? 0.03 * tread : 0.0;
        if (sample[13] >= 1.0 || along > 0.7 * (tread + 0.9)) continue; // COMPRESSION, away from a riser
        CHECK(sample[2] < ground && sample[2] > ground - 0.06);
        highest = fmax(highest, sample[2]);
    }
    CHECK(highest > 0.05);
    hopper_release(&outcome);
}

// The height of the ground does not matter: the same hopper over level ground at 2 m.
TEST(hopper_initial_height_is_over_the_ground)
{
    static const double high[] = {-100.0, 2.0, 100.0, 2.0};
    HopperCase flat = variant_case(2.0), raised = flat;
    variant_set(raised.option, "terrain", TERRAIN_table);
    raised.terrain = (Points){.xy = high, .count = 2};
    HopperOutcome a = hopper_simulate(&flat), b = hopper_simulate(&raised);
    CHECK_NEAR(hopper_state(&a, 0, 0), hopper_state(&b, 0, 0), 1e-9);
    CHECK_NEAR(hopper_state(&a, 1, 0) + 2.0, hopper_state(&b, 1, 0), 1e-9);
    CHECK_NEAR(hopper_metric(&a, "max_penetration", 0), hopper_metric(&b, "max_penetration", 0), 1e-9);
    hopper_release(&a);
    hopper_release(&b);
}

TEST(hopper_table_of_a_slope_is_that_slope)
{
    static const double points[] = {-5.0, 0.0, 0.5, 0.0, 30.5, 1.5};
    for (int integrator = 0; integrator < VARIANT_INTEGRATORS; integrator++) {
        HopperCase slope = variant_case(2.0);
        slope.integrator = integrator;
        HopperCase table = slope;
        variant_set(slope.option, "terrain", TERRAIN_slope);
        variant_set(slope.parameter, "terrain_slope", 0.05);
        variant_set(slope.parameter, "terrain_start", 0.5);
        variant_set(table.option, "terrain", TERRAIN_table);
        table.terrain = (Points){.xy = points, .count = 3};
        HopperOutcome a = hopper_simulate(&slope), b = hopper_simulate(&table);
        for (int field = 0; field < 10; field++)
            CHECK_NEAR(hopper_state(&a, field, 0), hopper_state(&b, field, 0), 1e-9);
        CHECK(hopper_state(&a, 0, 0) > 1.0);
        hopper_release(&a);
        hopper_release(&b);
    }
}

TEST(hopper_impossible_terrain_is_refused)
{
    static const double points[] = {0.0, 0.0, 1.0, 0.1};
    Arena arena;
    Configured configured;
    CHECK_OK(arena_create(&arena, 1 << 20, "a test"));
    HopperCase test = variant_case(1.0);
    test.terrain = (Points){.xy = points, .count = 2};
    CHECK_ERROR(ERROR_USER, hopper_case_configure(&test, &arena, &configured)); // the options ask for no table
    variant_set(test.option, "terrain", TERRAIN_table);
    CHECK_OK(hopper_case_configure(&test, &arena, &configured));
    test.terrain.count = 1;
    CHECK_ERROR(ERROR_USER, hopper_case_configure(&test, &arena, &configured));
    arena_destroy(&arena);
}

// ---- disturbances ---------------------------------------------------------------------------------------------------

static double variant_momentum(const HopperOutcome *outcome)
{
    double q[10];
    for (int i = 0; i < 10; i++) q[i] = hopper_state(outcome, i, 0);
    const double leg = q[5] + 0.5 * q[7] * cos(q[2]);
    const double body = q[5] + q[9] * sin(q[2]) + q[4] * q[7] * cos(q[2]) + 0.4 * q[8] * cos(q[3]);
    return 1.0 * leg + 10.0 * body;
}

// In flight only the push changes the horizontal momentum.
TEST(hopper_push_gives_its_impulse)
{
    for (int integrator = 0; integrator < VARIANT_INTEGRATORS; integrator++) {
        HopperCase test = variant_case(0.25);
        test.integrator = integrator;
        const double none[] = {0.0, 5.0};
        double momentum[2], work = 0.0, drift = 0.0;
        for (int i = 0; i < 2; i++) {
            variant_set(test.option, "push", VARIANT_TIMED);
            variant_set(test.option, "accounting", 1);
            variant_set(test.parameter, "push_time", 0.1);
            variant_set(test.parameter, "push_duration", 0.05);
            variant_set(test.parameter, "push_impulse", none[i]);
            HopperOutcome outcome = hopper_simulate(&test);
            momentum[i] = variant_momentum(&outcome);
            work = hopper_metric(&outcome, "work_disturbance", 0);
            drift = hopper_metric(&outcome, "energy_drift", 0);
            hopper_release(&outcome);
        }
        const double explicit_euler = integrator == 1 || integrator == 2 ? 1e-3 : 1e-6; // first-order methods
        CHECK_NEAR(5.0, momentum[1] - momentum[0], explicit_euler);
        CHECK(work > 1.0);
        CHECK_NEAR(0.0, drift, integrator == 1 || integrator == 2 ? 0.1 : 1e-4);
    }
}

static void variant_seed(double *parameter, const Configured *configured, int64_t lane)
{
    parameter[hopper_index(configured, "lane_seed")] = (double)(lane / 2);
}

TEST(hopper_random_pushes_are_those_of_the_lanes_seed)
{
    HopperCase test = variant_case(3.0);
    variant_set(test.option, "push", VARIANT_RANDOM);
    variant_set(test.parameter, "push_std", 2.0);
    test.lanes = 6;
    test.fill = variant_seed;
    HopperOutcome outcome = hopper_simulate(&test);
    for (int64_t lane = 0; lane < test.lanes; lane += 2) {
        hopper_check_same(&outcome, lane, &outcome, lane + 1);
        for (int64_t other = 0; other < lane; other++) CHECK(!hopper_is_same(&outcome, lane, &outcome, other));
    }
    hopper_release(&outcome);
}

TEST(hopper_wind_carries)
{
    HopperCase calm = variant_case(4.0), head = calm, tail = calm, gusting = calm, still = calm;
    variant_set(head.option, "wind", VARIANT_STEADY);
    variant_set(head.parameter, "wind_speed", -4.0);
    variant_set(tail.option, "wind", VARIANT_STEADY);
    variant_set(tail.parameter, "wind_speed", 4.0);
    variant_set(gusting.option, "wind", VARIANT_GUSTING);
    variant_set(gusting.parameter, "wind_speed", -4.0);
    variant_set(still.option, "wind", VARIANT_GUSTING);
    variant_set(still.parameter, "wind_speed", -4.0);
    variant_set(still.parameter, "gust_speed", 0.0);
    const double distance = variant_metric(&calm, "distance"), against = variant_metric(&head, "distance");
    CHECK(against < distance - 0.1);
    CHECK(variant_metric(&tail, "distance") > distance + 0.1);
    CHECK(fabs(variant_metric(&gusting, "distance") - against) > 1e-3);
    CHECK_NEAR(against, variant_metric(&still, "distance"), 1e-9);
    CHECK_NEAR(0.0, variant_metric(&gusting, "energy_drift"), 0.01);
}

// ---- four states ----------------------------------------------------------------------------------------------------

typedef struct VariantGait {
    bool follows;     // every change of state follows the cycle
    int visited;      // set of visited states, as bits
    double touchdown; // m/s: mean horizontal speed of the foot at touchdown
    double shortest;  // m: shortest leg in flight
} VariantGait;

static VariantGait variant_gait(int machine)
{
    HopperCase test = variant_case(5.0);
    variant_set(test.option, "machine", machine);
    test.traced = 1;
    HopperOutcome outcome = hopper_simulate(&test);
    CHECK_TEXT("none", hopper_failure_of(&outcome, 0));
    const int states = machine == 0 ? 3 : 4;
    VariantGait gait = {.follows = true, .shortest = 1.0};
    int landings = 0, before = 2;
    for (int64_t k = 0; k < outcome.batch->trace.count[0]; k++) {
        const double *sample = hopper_sample_of(&outcome, 0, k);
        const int fsm = (int)sample[13];
        gait.visited |= 1 << fsm;
        gait.follows = gait.follows && (fsm == before || fsm == (before + 1) % states);
        if (fsm >= 2 && sample[5] < gait.shortest) gait.shortest = sample[5];
        if (fsm == 0 && before >= 2) gait.touchdown += fabs(sample[6]), landings++;
        before = fsm;
    }
    gait.touchdown /= landings;
    CHECK(landings >= 4);
    hopper_release(&outcome);
    return gait;
}

TEST(hopper_four_states_follow_each_other_and_land_softly)
{
    const VariantGait three = variant_gait(0), four = variant_gait(1);
    CHECK_INTEGER(7, three.visited);
    CHECK_INTEGER(15, four.visited);
    CHECK(three.follows && four.follows);
    CHECK(four.touchdown < 0.5 * three.touchdown);
    CHECK(three.shortest > 0.99 && four.shortest < 0.93);
}

// ---- the balance of energy ------------------------------------------------------------------------------------------

static void variant_check_balance(const HopperCase *test)
{
    static const char *const names[] = {"change_kinetic", "change_gravity",  "change_leg",
                                        "change_ground",  "dissipated_stop", "dissipated_ground",
                                        "work_hip",       "work_thrust",     "work_disturbance"};
    HopperOutcome outcome = hopper_simulate(test);
    double sum = 0.0, size = 0.0;
    for (int i = 0; i < 9; i++) {
        const double term = hopper_metric(&outcome, names[i], 0);
        sum += i < 6 ? term : -term;
        size += fabs(term);
        CHECK(term != 0.0);
    }
    CHECK(size > 10.0);
    CHECK_NEAR(hopper_metric(&outcome, "energy_drift", 0), sum, 1e-9 * size);
    hopper_release(&outcome);
}

// On a hill in gusting wind, in every form of the equations.
TEST(hopper_energy_by_part_adds_up)
{
    for (int i = 0; i < 2 * VARIANT_INTEGRATORS; i++) {
        HopperCase test = variant_case(0.6); // ends in stance
        test.integrator = i / 2;
        test.equations = i % 2;
        variant_set(test.option, "accounting", 1);
        variant_set(test.option, "terrain", TERRAIN_sine);
        variant_set(test.parameter, "terrain_start", -0.3);
        variant_set(test.option, "wind", VARIANT_GUSTING);
        variant_check_balance(&test);
        if (i == 0) CHECK_NEAR(0.0, variant_metric(&test, "energy_drift"), 0.02); // J; the energy is about 130 J
    }
}

TEST(hopper_accounting_changes_nothing_else)
{
    HopperCase total = variant_case(2.0), parts = total;
    variant_set(parts.option, "accounting", 1);
    for (int integrator = 0; integrator < VARIANT_INTEGRATORS; integrator++) {
        total.integrator = parts.integrator = integrator;
        HopperOutcome a = hopper_simulate(&total), b = hopper_simulate(&parts);
        CHECK_INTEGER(a.configured.n_metrics + 9, b.configured.n_metrics);
        for (int m = 0; m < a.configured.n_metrics; m++)
            CHECK_BITS(a.batch->metric[m * a.batch->stride], b.batch->metric[m * b.batch->stride]);
        hopper_release(&a);
        hopper_release(&b);
    }
}

// ---- all variants together ------------------------------------------------------------------------------------------

static void variant_spread(double *parameter, const Configured *configured, int64_t lane)
{
    parameter[hopper_index(configured, "lane_seed")] = 1e15 + (double)lane;
    parameter[hopper_index(configured, "k_fp")] = 60.0 + 11.0 * (double)lane;
    parameter[hopper_index(configured, "m")] = 9.0 + 0.1 * (double)lane;
    parameter[hopper_index(configured, "push_interval")] = 0.05 + 0.01 * (double)lane;
}

static HopperCase variant_all(int integrator, int terrain)
{
    static const double points[] = {-1.0, 0.1, 0.0, 0.0, 0.2, 0.01, 0.25, -0.01, 3.0, 0.2};
    HopperCase test = variant_case(0.6);
    test.integrator = integrator;
    test.lanes = 11;
    test.fill = variant_spread;
    variant_set(test.option, "machine", 1);
    variant_set(test.option, "terrain", terrain);
    if (terrain == TERRAIN_table) test.terrain = (Points){.xy = points, .count = 5};
    if (terrain != TERRAIN_table) variant_set(test.parameter, "terrain_start", 0.1);
    variant_set(test.option, "push", VARIANT_RANDOM);
    variant_set(test.option, "wind", VARIANT_GUSTING);
    variant_set(test.option, "accounting", 1);
    return test;
}

TEST(hopper_variants_bits_depend_on_nothing_but_the_lane)
{
    static const struct {
        int64_t slice, traced;
        int threads;
        const char *isa;
    } ways[] = {{100, 0, 2, "auto"}, {700, 11, 2, "scalar"}, {999, 0, 1, ISA_V3}, {50, 3, 2, ISA_V2}};
    for (int i = 0; i < 2 * VARIANT_INTEGRATORS; i++) {
        const HopperCase test = variant_all(i / 2, i % 2 == 0 ? TERRAIN_table : TERRAIN_steps);
        HopperOutcome whole = hopper_simulate(&test);
        for (size_t w = 0; w < sizeof ways / sizeof ways[0]; w++) {
            if (test_quick() && w % 2 != (size_t)(i / 2 % 2)) continue;
            HopperCase other = test;
            other.slice = ways[w].slice;
            other.traced = ways[w].traced;
            other.threads = ways[w].threads;
            other.isa = ways[w].isa;
            HopperOutcome same = hopper_simulate(&other);
            for (int64_t lane = 0; lane < test.lanes; lane++) hopper_check_same(&whole, lane, &same, lane);
            hopper_release(&same);
        }
        hopper_release(&whole);
    }
}

// First-order convergence, as without variants: control is held over a step, while dormand_prince locates every switch.
TEST(hopper_variants_converge_to_the_adaptive_integrator)
{
    for (int machine = 0; machine < 2; machine++) {
        HopperCase test = variant_case(3.0);
        variant_set(test.option, "machine", machine);
        variant_set(test.option, "terrain", TERRAIN_sine);
        variant_set(test.option, "push", VARIANT_TIMED);
        variant_set(test.option, "wind", VARIANT_GUSTING);
        variant_set(test.parameter, "push_time", 1.03);
        variant_set(test.parameter, "push_duration", 0.002); // shorter than an adaptive step
        variant_set(test.parameter, "wind_speed", 0.0);
        double x[3];
        for (int i = 0; i < 3; i++) {
            test.integrator = i == 0 ? 4 : 0;
            test.dt = i == 2 ? 1e-5 : 1e-4;
            variant_set(test.option, "tolerance", 1e-9);
            HopperOutcome outcome = hopper_simulate(&test);
            CHECK_TEXT("none", hopper_failure_of(&outcome, 0));
            x[i] = hopper_state(&outcome, 0, 0);
            hopper_release(&outcome);
        }
        CHECK_NEAR(x[0], x[1], 2e-2);
        CHECK(fabs(x[2] - x[0]) < 0.3 * fabs(x[1] - x[0]));
    }
}
