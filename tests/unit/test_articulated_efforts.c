// A motor's feedforward effort and the scale of its gains, which a control may command beside its coordinate.
#include "../../sim/articulated/articulated.h"
#include "articulated_case.h"

#include <math.h>
#include <string.h>

enum { EFFORT_STEPS = 200 };
static const double effort_inertia = 0.5, effort_mass = 2.0, effort_dt = 1e-3;

// A body on one driven joint to the world, whose centre stands in the joint, without gravity.
typedef struct EffortRun {
    double kp, kd, most, bias;  // of the motor
    double ends[2];             // of an uneven one
    double feedforward, scale;  //
    double q, rate, effort;     // at the end
    double saturation, seconds; //
} EffortRun;

static void effort_set(const ArticulatedCase *test, const EffortRun *run)
{
    ArticulatedConstants c;
    memcpy(&c, &test->configured.constants, sizeof c);
    test->batch->work[c.efforts + ARTICULATED_FEEDFORWARD] = run->feedforward;
    test->batch->work[c.efforts + ARTICULATED_GAIN_SCALE] = run->scale;
}

static void effort_go(RobotJointKind kind, EffortRun *run)
{
    RobotBody body = {.name = "body", .parent = -1, .p = {0, 0, 2}, .q = {0, 0, 0, 1}, .mass = effort_mass};
    for (int k = 0; k < 3; k++) body.inertia[k] = effort_inertia;
    body.joint = (RobotJoint){.name = "joint", .kind = kind, .axis = {0, 1, 0}};
    body.joint.motor = (RobotMotor){.driven = true,
                                    .kp = run->kp,
                                    .kd = run->kd,
                                    .low = -9.0,
                                    .high = 9.0,
                                    .effort = run->most,
                                    .bias = run->bias,
                                    .uneven = run->ends[0] != 0.0 || run->ends[1] != 0.0,
                                    .least = run->ends[0],
                                    .most = run->ends[1]};
    const Robot robot = {.name = "test", .bodies = &body, .n_bodies = 1, .n_coordinates = 1};
    const ArticulatedSetup setup = {.robot = &robot,
                                    .settings = {{"dt", effort_dt}, {"duration", effort_dt * EFFORT_STEPS}},
                                    .parameters = {{"gravity", 0.0}, {"joint_start", 0.0}, {"joint_offset", 0.1}},
                                    .isa = "scalar",
                                    .samples = EFFORT_STEPS + 1,
                                    .efforts = true};
    ArticulatedCase test;
    bool done = false;
    articulated_start(&test, &setup);
    CHECK_OK(backend_begin(test.backend, 0));
    for (int k = 0; !done; k++) {
        CHECK_OK(backend_advance(test.backend, 0, 1));
        CHECK_OK(backend_wait(test.backend, 0, &done, &run->seconds));
        if (k == 0) effort_set(&test, run); // the first step begins with 0 and 1
    }
    run->q = articulated_seen(&test, 0, EFFORT_STEPS, "joint_q");
    run->rate = articulated_seen(&test, 0, EFFORT_STEPS, "joint_rate");
    run->effort = articulated_seen(&test, 0, EFFORT_STEPS, "joint_torque");
    run->saturation = articulated_got(&test, "saturation", 0);
    articulated_end(&test);
}

// Without gains the effort alone moves the joint: rate = effort t / inertia.
TEST(articulated_effort_moves_a_joint)
{
    const double t = effort_dt * (EFFORT_STEPS - 1);
    EffortRun turn = {.most = 100.0, .feedforward = 3.0, .scale = 1.0}, move = turn;
    effort_go(ROBOT_HINGE, &turn);
    effort_go(ROBOT_SLIDE, &move);
    CHECK_NEAR(3.0 * t / effort_inertia, turn.rate, 1e-6);
    CHECK_NEAR(3.0 * t / effort_mass, move.rate, 1e-6);
    CHECK_NEAR(3.0, turn.effort, 1e-12);
    CHECK_NEAR(3.0, move.effort, 1e-12);
    CHECK_NEAR(0.0, turn.saturation, 0.0);
}

// Where motor and effort balance, kp s (q - command) = effort.
TEST(articulated_effort_against_the_motor)
{
    EffortRun run = {.kp = 50.0, .kd = 20.0, .most = 100.0, .feedforward = 2.0, .scale = 8.0};
    effort_go(ROBOT_HINGE, &run);
    EffortRun own = {.kp = 400.0, .kd = 160.0, .most = 100.0, .feedforward = 2.0, .scale = 1.0};
    effort_go(ROBOT_HINGE, &own);
    CHECK_NEAR(own.effort, run.effort, 0.2); // their first steps differ
    run = (EffortRun){.kp = 1e5, .kd = 1e3, .most = 1e6, .feedforward = 4.0, .scale = 0.5};
    effort_go(ROBOT_HINGE, &run);
    CHECK_NEAR(0.1 + 4.0 / 5e4, run.q, 1e-6);
}

// The motor's own constant: it belongs to the gains, so their scale is its scale, and it counts towards the greatest
// effort.
TEST(articulated_motor_has_a_constant_effort)
{
    const double t = effort_dt * (EFFORT_STEPS - 1);
    EffortRun turn = {.most = 100.0, .bias = 3.0, .scale = 0.5}, move = turn;
    effort_go(ROBOT_HINGE, &turn);
    effort_go(ROBOT_SLIDE, &move);
    // the first step is before the scale is set
    CHECK_NEAR(3.0 * (0.5 * t + effort_dt) / effort_inertia, turn.rate, 1e-6);
    CHECK_NEAR(3.0 * (0.5 * t + effort_dt) / effort_mass, move.rate, 1e-6);
    CHECK_NEAR(1.5, turn.effort, 1e-12);
    EffortRun run = {.kp = 1e5, .kd = 1e3, .most = 1e6, .bias = 40.0, .scale = 1.0};
    effort_go(ROBOT_HINGE, &run);
    CHECK_NEAR(0.1 + 40.0 / 1e5, run.q, 1e-6);
    run = (EffortRun){.most = 2.0, .bias = -3.0, .scale = 1.0};
    effort_go(ROBOT_HINGE, &run);
    CHECK_NEAR(-2.0, run.effort, 1e-12);
    CHECK_NEAR(1.0, run.saturation, 1e-12);
}

// The effort counts towards the greatest one, and saturation says so.
TEST(articulated_effort_has_a_limit)
{
    EffortRun run = {.most = 2.0, .feedforward = -3.0, .scale = 1.0};
    effort_go(ROBOT_HINGE, &run);
    CHECK_NEAR(-2.0, run.effort, 1e-12);
    CHECK_NEAR(1.0 - 1.0 / EFFORT_STEPS, run.saturation, 1e-12);
    run = (EffortRun){.kp = 1e3, .most = 150.0, .feedforward = -99.0, .scale = 0.0};
    effort_go(ROBOT_HINGE, &run);
    CHECK_NEAR(-99.0, run.effort, 1e-12);
    CHECK_NEAR(0.0, run.saturation, 0.0);
}

// A motor that is stronger one way stops at its own end each way, and at the greatest effort of both. One whose ends
// have one sign always pushes.
TEST(articulated_effort_of_an_uneven_motor)
{
    static const struct {
        double asked, ends[2], most, right;
        bool bound;
    } cases[] = {{-5.0, {-2.0, 7.0}, INFINITY, -2.0, true},  {3.0, {-2.0, 7.0}, INFINITY, 3.0, false},
                 {-1.0, {-2.0, 7.0}, INFINITY, -1.0, false}, {9.0, {-2.0, 7.0}, INFINITY, 7.0, true},
                 {9.0, {-2.0, 7.0}, 4.0, 4.0, true},         {-9.0, {-2.0, 7.0}, 1.5, -1.5, true},
                 {0.0, {2.0, 5.0}, INFINITY, 2.0, true},     {3.0, {2.0, 5.0}, INFINITY, 3.0, false},
                 {3.0, {2.0, 5.0}, 1.0, 1.0, true},          {0.0, {-5.0, -2.0}, 1.0, -1.0, true},
                 {4.0, {-5.0, 0.0}, INFINITY, 0.0, true}};
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        EffortRun run = {.most = cases[k].most,
                         .ends = {cases[k].ends[0], cases[k].ends[1]},
                         .feedforward = cases[k].asked,
                         .scale = 1.0};
        effort_go(k % 2 == 0 ? ROBOT_HINGE : ROBOT_SLIDE, &run);
        CHECK_NEAR(cases[k].right, run.effort, 1e-12);
        CHECK_NEAR(cases[k].bound ? 1.0 : 0.0, run.saturation, 1.5 / EFFORT_STEPS); // the first step begins with 0
    }
}

// An environment says which efforts a motor takes.
TEST(articulated_effort_of_an_action)
{
    RobotBody body = {.name = "body", .parent = -1, .q = {0, 0, 0, 1}, .mass = 1.0, .inertia = {1, 1, 1, 0, 0, 0}};
    const Robot robot = {.name = "test", .bodies = &body, .n_bodies = 1, .n_coordinates = 1};
    body.joint = (RobotJoint){.name = "joint", .kind = ROBOT_HINGE, .axis = {0, 1, 0}};
    for (int uneven = 0; uneven < 2; uneven++) {
        const ArticulatedSetup setup = {
            .robot = &robot, .settings = {{"control.mode", ARTICULATED_CONTROL_external}, {"control.command", 1}}};
        ArticulatedCase test;
        body.joint.motor =
            (RobotMotor){.driven = true, .effort = 5.0, .uneven = uneven != 0, .least = -2.0, .most = 7.0};
        articulated_start(&test, &setup);
        CHECK_INTEGER(1, test.configured.n_actions);
        CHECK_NEAR(uneven != 0 ? -2.0 : -5.0, test.configured.actions[0].low, 0.0);
        CHECK_NEAR(5.0, test.configured.actions[0].high, 0.0);
        articulated_end(&test);
    }
}

// Without a control that commands efforts a lane's memory has none.
TEST(articulated_effort_takes_memory_where_used)
{
    ArticulatedCase without, with;
    ArticulatedSetup setup = {.robot = &robot_pendulum};
    articulated_prepare(&without, &setup);
    setup.efforts = true;
    articulated_prepare(&with, &setup);
    CHECK_INTEGER(without.configured.n_work + 2 * ARTICULATED_EFFORT_CELLS, with.configured.n_work);
    articulated_end(&without);
    articulated_end(&with);
}
