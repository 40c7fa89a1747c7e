// Mechanisms with loops and long chains, from the experiments: published benchmarks, the order of the steps, and the
// cost of the solver.
#include "rigid_case.h"

#include <math.h>
#include <stdio.h>

// ---- the four-bar linkages ------------------------------------------------------------------------------------------

typedef struct LoopsAngle {
    double theta, rate;
} LoopsAngle;

// I theta'' = -P cos(theta) from upright, theta' = -1: N linkages of rods of 1 m and 1 kg (IFToMM A02).
static LoopsAngle loops_four_bar(int n, double duration)
{
    const double I = (n + 1) / 3.0 + n, P = 9.81 * ((n + 1) / 2.0 + n), h = 1e-4;
    double theta = M_PI / 2.0, rate = -1.0;
    for (int step = 0; step < (int)(duration / h + 0.5); step++) { // Runge-Kutta, fourth order
        const double a1 = -P / I * cos(theta), v2 = rate + h / 2 * a1;
        const double a2 = -P / I * cos(theta + h / 2 * rate), v3 = rate + h / 2 * a2;
        const double a3 = -P / I * cos(theta + h / 2 * v2), v4 = rate + h * a3;
        const double a4 = -P / I * cos(theta + h * v3);
        theta += h / 6 * (rate + 2 * v2 + 2 * v3 + v4);
        rate += h / 6 * (a1 + 2 * a2 + 2 * a3 + a4);
    }
    return (LoopsAngle){theta, rate};
}

// Compares the linkages of the experiment, with other values of some keys, with the equivalent pendulum.
static void loops_check_four_bar(int n, double duration, const char *const *overrides, int count, RigidRun *run)
{
    const LoopsAngle exact = loops_four_bar(n, duration);
    rigid_load(run, "four_bar", overrides, count, "scalar");
    rigid_go(run, 1000);
    CHECK_NEAR(cos(exact.theta), 2.0 * rigid_metric(run, "post0_end_x", 0), 1e-4);
    CHECK_NEAR(sin(exact.theta), 2.0 * rigid_metric(run, "post0_end_z", 0), 1e-4);
    CHECK_NEAR(4.0, rigid_metric(run, "post4_end_x", 0) - rigid_metric(run, "post0_end_x", 0), 1e-7); // side by side
    CHECK(rigid_metric(run, "error_max", 0) < 1e-6);
}

// Posts and beams stay on the same branch through every flat pose.
TEST(rigid_four_bar_of_few_linkages)
{
    RigidRun run;
    static const char *const overrides[] = {"simulation.copies=4", "simulation.duration=3", "simulation.order=two",
                                            "objective.minimize=energy_error"};
    loops_check_four_bar(4, 3.0, overrides, 4, &run);
    rigid_end(&run);
}

// 40 linkages, at 10 s: within 1e-4 m, and always within 1e-4 J of the energy at the start. The largest steps that keep
// this bound are used, without refinement, in three fifths of the experiment's time.
TEST(rigid_four_bar_benchmark)
{
    const LoopsAngle published = loops_four_bar(40, 10.0);
    CHECK_NEAR(0.1805122266867, cos(published.theta), 1e-9);
    CHECK_NEAR(0.9835727405823, sin(published.theta), 1e-9);
    if (test_quick()) {
        test_skip("ten seconds and more", "run it without QUICK=1");
        return;
    }
    RigidRun run;
    static const char *const overrides[] = {"simulation.dt=0.00125", "simulation.refine=0", "record={}"};
    loops_check_four_bar(40, 10.0, overrides, 3, &run);
    CHECK(rigid_metric(&run, "energy_error", 0) <= 1e-4);
    rigid_end(&run);
}

// ---- experiments ----------------------------------------------------------------------------------------------------

TEST(rigid_squeezer_experiment)
{
    RigidRun run;
    const double beta = 15.81077119629904, radius = 92e-5;
    const char *const overrides[] = {"simulation.order=four",
                                     test_quick() ? "simulation.dt=0.0001" : "simulation.dt=0.00002"};
    rigid_load(&run, "andrews_squeezer", overrides, 2, "scalar");
    rigid_go(&run, 1000);
    const double angle = atan2(rigid_metric(&run, "K1_end_y", 0), rigid_metric(&run, "K1_end_x", 0));
    CHECK_NEAR(radius, hypot(rigid_metric(&run, "K1_end_x", 0), rigid_metric(&run, "K1_end_y", 0)), 1e-12);
    CHECK_NEAR(0.0, remainder(angle - beta, 2.0 * M_PI) / beta, test_quick() ? 1e-4 : 1e-6);
    rigid_end(&run);
}

// With the canopy open all fall at terminal speed; the greatest tension grows with the mass.
TEST(rigid_parachute_experiment)
{
    double pull = 0.0, landed = INFINITY;
    for (int k = 0; k < 3; k++) {
        RigidRun run;
        const double mass = 5.0 * (1 << k);
        const char *const overrides[] = {"simulation.air=constant"};
        rigid_load(&run, "parachute_drop", overrides, 1, "auto");
        rigid_set(&run, "payload_mass", 0, mass);
        rigid_set(&run, "wind_y", 0, 0.0);
        rigid_go(&run, 10000);
        const double touchdown = rigid_metric(&run, "touchdown", 0), z = rigid_metric(&run, "payload_end_z", 0);
        // the drag of both bodies' areas balances both weights
        const double terminal = sqrt(2.0 * (mass + 0.5) * 9.81 / (1.225 * 6.1));
        CHECK_NEAR(terminal, -z / (45.0 - touchdown), 1e-3 * terminal);
        CHECK(rigid_metric(&run, "tension_max", 0) > pull && touchdown < landed);
        pull = rigid_metric(&run, "tension_max", 0);
        landed = touchdown;
        rigid_end(&run);
    }
}

TEST(rigid_chain_experiment)
{
    RigidRun run;
    const char *const overrides[] = {test_quick() ? "simulation.copies=20" : "simulation.copies=100"};
    rigid_load(&run, "chain_scaling", overrides, 1, "scalar");
    rigid_go(&run, 1000);
    CHECK(rigid_metric(&run, "error_max", 0) < 1e-12);
    CHECK(rigid_metric(&run, "energy_error", 0) < 1e-4);
    rigid_end(&run);
}

// ---- steps of fourth order ------------------------------------------------------------------------------------------

TEST(rigid_rattle_of_fourth_order)
{
    double error[2];
    for (int k = 0; k < 2; k++) {
        RigidRun run;
        char simulation[400];
        snprintf(simulation, sizeof simulation,
                 "{stabilisation: rattle, order: four, duration: 10, dt: %s, world: {bodies: [{name: ball, position: "
                 "[1, 0, 0]}], constraints: [{name: rod, type: distance, a: ball, at_b: [0, 0, 0]}]}}",
                 k == 0 ? "0.02" : "0.01");
        rigid_run(&run, simulation, "");
        error[k] = hypot(rigid_metric(&run, "ball_end_x", 0) - 0.2750874625761,
                         rigid_metric(&run, "ball_end_z", 0) + 0.9614192050991);
        CHECK(rigid_metric(&run, "error_max", 0) <= 1e-12);
        rigid_end(&run);
    }
    CHECK(error[1] < 1e-5);
    CHECK_NEAR(16.0, error[0] / error[1], 1.5);
}

// Two linkages fold flat twelve times. At flat poses the steps of higher orders, some of which go backwards, do not
// meet the constraints. Lanes with other gravity pass these poses at other times.
static void loops_pass_singular_poses(const char *const *overrides, int count)
{
    enum { LANES_HERE = 3 };
    static const double gravity[LANES_HERE] = {9.81, 4.0, 20.0};
    RigidRun run, alone;
    const LoopsAngle exact = loops_four_bar(2, 10.0);
    rigid_load_lanes(&run, "four_bar", overrides, count, LANES_HERE, "auto");
    for (int64_t lane = 0; lane < LANES_HERE; lane++) rigid_set(&run, "gravity", lane, gravity[lane]);
    rigid_go(&run, 777);
    CHECK_NEAR(cos(exact.theta), 2.0 * rigid_metric(&run, "post0_end_x", 0), 1e-6);
    CHECK_NEAR(sin(exact.theta), 2.0 * rigid_metric(&run, "post0_end_z", 0), 1e-6);
    for (int64_t lane = 0; lane < LANES_HERE; lane++) {
        const double refined = rigid_metric(&run, "refined_steps", lane);
        CHECK_INTEGER(LANE_DONE, run.batch->status[lane]);
        CHECK(refined > 0.0 && refined < 50.0);
        CHECK(rigid_metric(&run, "energy_error", lane) < 1e-4);
    }
    // other lanes, with steps refined at other times, change nothing
    rigid_load_lanes(&alone, "four_bar", overrides, count, 1, "scalar");
    rigid_set(&alone, "gravity", 0, gravity[1]);
    rigid_go(&alone, 10000);
    for (int m = 0; m < run.spec.configured.n_metrics; m++)
        CHECK_BITS(alone.batch->metric[m * alone.batch->stride], run.batch->metric[m * run.batch->stride + 1]);
    rigid_end(&alone);
    rigid_end(&run);
}

TEST(rigid_higher_orders_pass_singular_poses)
{
    static const char *const overrides[] = {"simulation.copies=2", "record={}", "simulation.order=six"};
    if (!test_quick()) loops_pass_singular_poses(overrides, 2);
    loops_pass_singular_poses(overrides, 3);
}

// Far from the origin rounding errors of positions must not count as a violated constraint.
TEST(rigid_steps_are_not_refined_far_away)
{
    static const char *const orders[] = {"four", "six"};
    for (int k = 0; k < 8; k++) {
        RigidRun run;
        char simulation[500];
        snprintf(simulation, sizeof simulation,
                 "{dt: 0.01, duration: 2, stabilisation: rattle, order: %s, world: {bodies: [{name: one, inertia: 0.1, "
                 "position: [%g, 0, 0], velocity: [0, 3, 0], spin: [0, 0, -6]}, {name: other, inertia: 0.1, position: "
                 "[%g, 0, -1]}], constraints: [{name: top, type: ball, a: one, at_a: [0.5, 0, 0]}, {name: rod, type: "
                 "distance, a: one, b: other}]}}",
                 orders[k % 2], pow(100.0, k / 2), pow(100.0, k / 2));
        rigid_start(&run, simulation, "", 1, "auto");
        rigid_go(&run, 1000);
        CHECK_INTEGER(LANE_DONE, run.batch->status[0]);
        CHECK_BITS(0.0, rigid_metric(&run, "refined_steps", 0));
        rigid_end(&run);
    }
}

// In the step that passes a flat pose and does not meet the constraints, drag removes much of the kinetic energy. That
// is the motion, not an error. Exact: I theta'' = -P cos(theta) - 2 c theta' by the Runge-Kutta method, c = 2 N s/m.
TEST(rigid_drag_is_not_an_energy_error)
{
    RigidRun run;
    static const char *const overrides[] = {
        "simulation.copies=2", "record={}", "simulation.order=two", "simulation.duration=1.5",
        "simulation.world.forces=[{name: d#, repeat: 2, type: drag, a: 'beam#', linear: 2}]"};
    rigid_load(&run, "four_bar", overrides, 5, "scalar");
    rigid_go(&run, 1000);
    CHECK_INTEGER(LANE_DONE, run.batch->status[0]);
    CHECK_NEAR(-0.37610374096, rigid_metric(&run, "post0_end_x", 0), 1e-5);
    CHECK_NEAR(-0.32946316339, rigid_metric(&run, "post0_end_z", 0), 1e-5);
    rigid_end(&run);
}
