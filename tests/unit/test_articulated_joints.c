// Joints of articulated robots against closed forms and fine integrations: hinge, slide, ball, weld, chains, motors,
// armature, dry friction, limits.
#include "articulated_hand.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define G 9.81

// A body of `mass` on a joint to the world at the height of 2 m. Its centre is `down` below the joint.
static RobotBody hanging(RobotJointKind kind, double mass, double down, double inertia)
{
    RobotBody body = {.name = "body", .parent = -1, .p = {0, 0, 2}, .q = {0, 0, 0, 1}, .mass = mass};
    body.centre[2] = -down;
    for (int k = 0; k < 3; k++) body.inertia[k] = inertia;
    body.joint = (RobotJoint){.name = "joint", .kind = kind, .axis = {0, 1, 0}};
    return body;
}

static Robot robot_of(const RobotBody *bodies, int n)
{
    Robot robot = {.name = "test", .bodies = bodies, .n_bodies = n};
    for (int i = 0; i < n; i++) robot.n_coordinates += robot_joint_coordinates(bodies[i].joint.kind);
    return robot;
}

// A classic Runge-Kutta integration of x'' = f(x, x') over `t` in `steps` steps.
typedef void (*Acceleration)(const void *of, const double *x, const double *v, double *a);
enum { RK_MOST = 6 };
static void runge_kutta(Acceleration f, const void *of, int n, double t, int steps, double *x, double *v)
{
    static const double part[4] = {0.0, 0.5, 0.5, 1.0}, weight[4] = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6};
    const double h = t / steps;
    for (int k = 0; k < steps; k++) {
        double dx[RK_MOST] = {0}, dv[RK_MOST] = {0}, sx[RK_MOST] = {0}, sv[RK_MOST] = {0};
        for (int s = 0; s < 4; s++) {
            double at[RK_MOST] = {0}, speed[RK_MOST] = {0};
            for (int i = 0; i < n; i++) {
                at[i] = x[i] + part[s] * h * dx[i];
                speed[i] = v[i] + part[s] * h * dv[i];
            }
            memcpy(dx, speed, sizeof speed);
            f(of, at, speed, dv);
            for (int i = 0; i < n; i++) {
                sx[i] += weight[s] * h * dx[i];
                sv[i] += weight[s] * h * dv[i];
            }
        }
        for (int i = 0; i < n; i++) {
            x[i] += sx[i];
            v[i] += sv[i];
        }
    }
}

// ---- hinge ----------------------------------------------------------------------------------------------------------

static void pendulum_acceleration(const void *of, const double *x, const double *v, double *a)
{
    (void)v;
    a[0] = -*(const double *)of * sin(x[0]);
}

// The coordinate of the body's joint after a second, from `start`.
static double after_a_second(const RobotBody *body, double start, double steps)
{
    ArticulatedCase test;
    const Robot robot = robot_of(body, 1);
    const ArticulatedSetup setup = {.robot = &robot,
                                    .settings = {{"dt", 1.0 / steps}, {"duration", 1.0}},
                                    .parameters = {{"joint_start", start}, {"attach_stiffness", 1e9}},
                                    .samples = (int64_t)steps + 1};
    articulated_start(&test, &setup);
    articulated_go(&test, 1 << 20);
    CHECK_INTEGER(0, articulated_failed(&test, 0));
    const double q = articulated_seen(&test, 0, (int64_t)steps, "joint_q");
    articulated_end(&test);
    return q;
}

// A pendulum of large angle: m = 2 kg, l = 0.7 m, I = 0.05 kg m^2.
TEST(articulated_hinge_is_a_pendulum)
{
    const RobotBody body = hanging(ROBOT_HINGE, 2.0, 0.7, 0.05);
    const double factor = 2.0 * G * 0.7 / (0.05 + 2.0 * 0.7 * 0.7);
    double exact = 2.0, rate = 0.0, error[3];
    runge_kutta(pendulum_acceleration, &factor, 1, 1.0, 20000, &exact, &rate);
    for (int k = 0; k < 3; k++) error[k] = after_a_second(&body, 2.0, 500.0 * (1 << k)) - exact;
    CHECK_NEAR(0.0, error[0], 0.02);
    CHECK_NEAR(2.0, error[0] / error[1], 0.1);
    CHECK_NEAR(2.0, error[1] / error[2], 0.1);
}

// ---- slide ----------------------------------------------------------------------------------------------------------

// x(t) of (m + a) x'' + d x' + k (x - rest) = 0 from `start` at rest
static double oscillator(double m, double k, double d, double rest, double start, double t)
{
    const double decay = 0.5 * d / m, w = sqrt(k / m - decay * decay);
    return rest + (start - rest) * exp(-decay * t) * (cos(w * t) + decay / w * sin(w * t));
}

TEST(articulated_slide_is_an_oscillator)
{
    RobotBody body = hanging(ROBOT_SLIDE, 1.5, 0.0, 0.05);
    double error[3];
    body.joint.stiffness = 80.0;
    body.joint.rest = 0.1;
    body.joint.damping = 0.6;
    body.joint.armature = 0.5;
    body.joint.reference = 0.3;
    const double exact = oscillator(2.0, 80.0, 0.6, 0.1, 0.4, 1.0);
    for (int k = 0; k < 3; k++) error[k] = after_a_second(&body, 0.4, 500.0 * (1 << k)) - exact;
    CHECK_NEAR(0.0, error[0], 0.02);
    CHECK_NEAR(2.0, error[0] / error[1], 0.1);
    CHECK_NEAR(2.0, error[1] / error[2], 0.1);
}

// ---- ball -----------------------------------------------------------------------------------------------------------

// u'' of the unit vector u to the centre, u.u' = 0, no spin: u'' = -|u'|^2 u + f (z - (z.u) u), z down
static void spherical_acceleration(const void *of, const double *u, const double *v, double *a)
{
    const double f = *(const double *)of, squares = v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
    for (int k = 0; k < 3; k++) a[k] = -squares * u[k] + f * ((k == 2 ? -1.0 : 0.0) + u[2] * u[k]);
}

// The error of the centre's place, of the energy (J) and of the vertical angular momentum about the joint, after 0.5 s.
static void spherical_error(double steps, const double *exact, double *error)
{
    ArticulatedHand hand;
    RobotBody body = hanging(ROBOT_BALL, 2.0, 0.7, 0.05);
    double x[3], v[3], w[3], energy = 0.0, turn;
    const double rate[1][3] = {{0.0, 2.0, 1.5}};
    // the centre begins at x: the frame's -z points along x
    body.q[1] = -sin(0.25 * 3.141592653589793);
    body.q[3] = cos(0.25 * 3.141592653589793);
    const Robot robot = robot_of(&body, 1);
    const ArticulatedSetup setup = {
        .robot = &robot, .settings = {{"dt", 0.5 / steps}}, .parameters = {{"attach_stiffness", 1e9}}};
    hand_start(&hand, &setup);
    hand.w.attach_stiffness = splat(1e9);
    hand_move(&hand, NULL, rate);
    for (int k = 0; k < (int)steps; k++) hand_step(&hand);
    for (int k = 0; k < 3; k++) {
        x[k] = hand_cell(&hand, 0, ARTICULATED_X + k) - (k == 2 ? 2.0 : 0.0);
        v[k] = hand_cell(&hand, 0, ARTICULATED_V + k);
        w[k] = hand_cell(&hand, 0, ARTICULATED_W + k);
        energy += 0.5 * 2.0 * v[k] * v[k] + 0.5 * 0.05 * w[k] * w[k];
    }
    energy += 2.0 * G * x[2];
    turn = 2.0 * (x[0] * v[1] - x[1] * v[0]) + hand_cell(&hand, 0, ARTICULATED_L + 2);
    error[0] = sqrt(pow(x[0] - 0.7 * exact[0], 2) + pow(x[1] - 0.7 * exact[1], 2) + pow(x[2] - 0.7 * exact[2], 2));
    error[1] = energy - 0.5 * (0.05 + 2.0 * 0.49) * (4.0 + 2.25);
    error[2] = turn - (0.05 + 2.0 * 0.49) * 1.5;
    hand_end(&hand);
}

TEST(articulated_ball_is_a_spherical_pendulum)
{
    const double factor = 2.0 * G * 0.7 / (0.05 + 2.0 * 0.7 * 0.7);
    double u[3] = {1.0, 0.0, 0.0}, v[3] = {0.0, 1.5, -2.0}, error[2][3]; // u' = w x u
    runge_kutta(spherical_acceleration, &factor, 3, 0.5, 20000, u, v);
    for (int k = 0; k < 2; k++) spherical_error(500.0 * (1 << k), u, error[k]);
    CHECK_NEAR(0.0, error[0][0], 0.02);
    CHECK_NEAR(2.0, error[0][0] / error[1][0], 0.1);
    CHECK_NEAR(2.0, error[0][1] / error[1][1], 0.1);
    CHECK_NEAR(0.0, error[0][2], 1e-6);
}

// Armature of a ball adds to the inertia about every axis; a swing in a plane is that of a hinge.
TEST(articulated_ball_with_armature)
{
    const double factor = 2.0 * G * 0.7 / (0.05 + 0.5 + 2.0 * 0.7 * 0.7);
    double exact = 0.5 * 3.141592653589793, rate = 0.0, error[2];
    runge_kutta(pendulum_acceleration, &factor, 1, 0.5, 20000, &exact, &rate);
    for (int k = 0; k < 2; k++) {
        ArticulatedHand hand;
        RobotBody body = hanging(ROBOT_BALL, 2.0, 0.7, 0.05);
        body.joint.armature = 0.5;
        body.q[1] = -sin(0.25 * 3.141592653589793);
        body.q[3] = cos(0.25 * 3.141592653589793);
        const Robot robot = robot_of(&body, 1);
        const ArticulatedSetup setup = {.robot = &robot, .settings = {{"dt", 1e-3 / (1 << k)}}};
        hand_start(&hand, &setup);
        hand.w.attach_stiffness = splat(1e9);
        for (int step = 0; step < 500 << k; step++) hand_step(&hand);
        const double x = hand_cell(&hand, 0, ARTICULATED_X), z = hand_cell(&hand, 0, ARTICULATED_X + 2);
        error[k] = atan2(x, 2.0 - z) - exact;
        hand_end(&hand);
    }
    CHECK_NEAR(0.0, error[0], 0.02);
    CHECK_NEAR(2.0, error[0] / error[1], 0.1);
}

// A ball through its centre: dry friction F takes F/I off its rate. Beyond its range it rests at
// range + m g l cos(angle)/limit_stiffness.
TEST(articulated_ball_with_friction_and_a_limit)
{
    ArticulatedHand hand;
    RobotBody body = hanging(ROBOT_BALL, 2.0, 0.0, 0.05);
    const double rate[1][3] = {{1.2, 0.0, -1.6}};
    body.joint.friction = 0.05;
    Robot robot = robot_of(&body, 1);
    const ArticulatedSetup setup = {.robot = &robot, .settings = {{"dt", 1e-3}}};
    hand_start(&hand, &setup);
    hand_move(&hand, NULL, rate);
    for (int k = 0; k < 1000; k++) hand_step(&hand);
    CHECK_NEAR(0.6, hand_cell(&hand, 0, ARTICULATED_W), 5e-3);
    CHECK_NEAR(-0.8, hand_cell(&hand, 0, ARTICULATED_W + 2), 5e-3);
    hand_end(&hand);

    body = hanging(ROBOT_BALL, 2.0, 0.7, 0.05);
    body.q[1] = -sin(0.25 * 3.141592653589793); // level: its weight turns it about y
    body.q[3] = cos(0.25 * 3.141592653589793);
    body.joint.limited = true;
    body.joint.high = 0.3;
    body.joint.damping = 1.0;
    robot = robot_of(&body, 1);
    hand_start(&hand, &setup);
    for (int k = 0; k < 4000; k++) hand_step(&hand);
    const double angle = hand_coordinate(&hand, 0);
    CHECK_NEAR(0.3 + 2.0 * G * 0.7 * cos(angle) / 1e4, angle, 1e-6);
    hand_end(&hand);
}

// ---- chains ---------------------------------------------------------------------------------------------------------

enum { CHAIN = 3 };
typedef struct Chain {
    double m[CHAIN], I, l; // each link's centre is at its end
} Chain;

// The sum of the masses from the k-th on.
static double chain_below(const Chain *chain, int k)
{
    double sum = 0.0;
    for (; k < CHAIN; k++) sum += chain->m[k];
    return sum;
}

// M(q) q'' = -c(q, q') - g(q), q the angles of the links to the vertical.
static void chain_acceleration(const void *of, const double *q, const double *v, double *a)
{
    const Chain *chain = of;
    double M[CHAIN][CHAIN + 1];
    for (int i = 0; i < CHAIN; i++) {
        M[i][CHAIN] = -chain_below(chain, i) * G * chain->l * sin(q[i]);
        for (int j = 0; j < CHAIN; j++) {
            const double m = chain_below(chain, i > j ? i : j) * chain->l * chain->l;
            M[i][j] = m * cos(q[i] - q[j]) + (i == j ? chain->I : 0.0);
            M[i][CHAIN] -= m * sin(q[i] - q[j]) * v[j] * v[j];
        }
    }
    for (int i = 0; i < CHAIN; i++) { // M is positive definite: no pivots
        for (int r = 0; r < CHAIN; r++) {
            const double f = M[r][i] / M[i][i];
            for (int c = i; r != i && c <= CHAIN; c++) M[r][c] -= f * M[i][c];
        }
    }
    for (int i = 0; i < CHAIN; i++) a[i] = M[i][CHAIN] / M[i][i];
}

// The greatest error of a link's angle after 0.5 s.
static double chain_error(const Chain *chain, const double *start, const double *exact, double steps)
{
    ArticulatedCase test;
    RobotBody bodies[CHAIN];
    static const char *const joints[CHAIN] = {"j0", "j1", "j2"}, *const columns[CHAIN] = {"j0_q", "j1_q", "j2_q"};
    double worst = 0.0, angle = 0.0;
    for (int i = 0; i < CHAIN; i++) {
        bodies[i] = hanging(ROBOT_HINGE, chain->m[i], chain->l, chain->I);
        bodies[i].parent = i - 1;
        bodies[i].joint.name = joints[i];
        bodies[i].joint.axis[1] = -1.0; // a positive angle lifts the link towards +x
        if (i > 0) bodies[i].p[2] = -chain->l;
    }
    const Robot robot = robot_of(bodies, CHAIN);
    const ArticulatedSetup setup = {.robot = &robot,
                                    .settings = {{"dt", 0.5 / steps}, {"duration", 0.5}},
                                    .parameters = {{"attach_stiffness", 1e9},
                                                   {"j0_start", start[0]},
                                                   {"j1_start", start[1] - start[0]},
                                                   {"j2_start", start[2] - start[1]}},
                                    .samples = (int64_t)steps + 1};
    articulated_start(&test, &setup);
    articulated_go(&test, 1 << 20);
    CHECK_INTEGER(0, articulated_failed(&test, 0));
    for (int i = 0; i < CHAIN; i++) {
        angle += articulated_seen(&test, 0, (int64_t)steps, columns[i]);
        worst = fmax(worst, fabs(angle - exact[i]));
    }
    articulated_end(&test);
    return worst;
}

// Light links carry a heavy one: where splitting or sweeps crawl, the tree's solve does not.
static void chain_check(double ratio)
{
    const Chain chain = {.m = {1.0, 1.0, ratio}, .I = 0.01, .l = 0.5};
    const double start[CHAIN] = {1.0, 1.0, 1.0};
    double q[CHAIN], v[CHAIN] = {0.0, 0.0, 0.0}, error[3];
    memcpy(q, start, sizeof q);
    runge_kutta(chain_acceleration, &chain, CHAIN, 0.5, 50000, q, v);
    for (int k = 0; k < 3; k++) error[k] = chain_error(&chain, start, q, 1000.0 * (1 << k));
    CHECK_NEAR(0.0, error[0], 0.05);
    CHECK_NEAR(2.0, error[0] / error[1], 0.2);
    CHECK_NEAR(2.0, error[1] / error[2], 0.1);
}

TEST(articulated_chain_of_mass_ratio_100) { chain_check(100.0); }
TEST(articulated_chain_of_mass_ratio_1000) { chain_check(1000.0); }

// ---- motors ---------------------------------------------------------------------------------------------------------

// A wheel on a hinge through its centre, with all that is given; rate and coordinate after `duration`.
typedef struct Turned {
    double q, rate, torque, saturation, limit_time, energy;
} Turned;

static Turned turned_by(const RobotBody *body, const ArticulatedValue *parameters, double dt, double duration)
{
    ArticulatedCase test;
    const Robot robot = robot_of(body, 1);
    const int64_t steps = (int64_t)(duration / dt + 0.5);
    ArticulatedSetup setup = {.robot = &robot, .settings = {{"dt", dt}, {"duration", duration}}, .samples = steps + 1};
    for (int k = 0; parameters[k].name != NULL; k++) setup.parameters[k] = parameters[k];
    articulated_start(&test, &setup);
    articulated_go(&test, 1 << 20);
    CHECK_INTEGER(0, articulated_failed(&test, 0));
    const Turned turned = {
        articulated_seen(&test, 0, steps, "joint_q"),      articulated_seen(&test, 0, steps, "joint_rate"),
        articulated_seen(&test, 0, steps, "joint_torque"), articulated_got(&test, "saturation", 0),
        articulated_got(&test, "limit_time", 0),           articulated_got(&test, "energy", 0)};
    articulated_end(&test);
    return turned;
}

static RobotBody driven(RobotJointKind kind)
{
    RobotBody body = hanging(kind, 2.0, 0.0, 0.05);
    body.joint.motor =
        (RobotMotor){.driven = true, .kp = 1e5, .kd = 10.0, .low = -INFINITY, .high = INFINITY, .effort = 3.0};
    return body;
}

// At its greatest effort a motor is a constant torque: rate = t effort / (I + armature), to rounding.
TEST(articulated_torque_limit_and_armature)
{
    RobotBody body = driven(ROBOT_HINGE);
    double turned = 0.0;
    body.joint.armature = 0.25;
    for (int k = 1; k <= 1000; k++) turned += 2.0 * atan(0.5 * 1e-3 * (1e-3 * k * 3.0 / 0.3)); // Cayley's map
    const ArticulatedValue far[] = {{"joint_offset", 900.0}, {NULL, 0}};
    Turned got = turned_by(&body, far, 1e-3, 1.0);
    CHECK_NEAR(3.0 / 0.3, got.rate, 1e-9);
    CHECK_NEAR(turned, got.q, 1e-9);
    CHECK_NEAR(3.0, got.torque, 1e-12);
    CHECK_NEAR(1.0, got.saturation, 1e-12);
    CHECK_NEAR(3.0 * got.q, got.energy, 1e-4);
    body.joint.kind = ROBOT_SLIDE; // without its weight
    const ArticulatedValue slid[] = {{"joint_offset", 900.0}, {"gravity", 0.0}, {NULL, 0}};
    got = turned_by(&body, slid, 1e-3, 1.0);
    CHECK_NEAR(3.0 / 2.25, got.rate, 1e-9);
}

// A motor within its limit is a damped oscillator about its command.
TEST(articulated_motor_is_an_oscillator)
{
    RobotBody body = driven(ROBOT_HINGE);
    double error[2];
    body.joint.armature = 0.15;
    body.joint.motor.effort = INFINITY;
    body.joint.motor.kp = 30.0;
    body.joint.motor.kd = 0.4;
    const ArticulatedValue commanded[] = {{"joint_offset", 0.5}, {NULL, 0}};
    for (int k = 0; k < 2; k++) error[k] = turned_by(&body, commanded, 1e-3 / (1 << k), 1.0).q;
    for (int k = 0; k < 2; k++) error[k] -= oscillator(0.2, 30.0, 0.4, 0.5, 0.0, 1.0);
    CHECK_NEAR(0.0, error[0], 0.02);
    CHECK_NEAR(2.0, error[0] / error[1], 0.1);
}

// Below its dry friction F a motor creeps at e M / sqrt(F^2 - M^2), e = friction_speed; above it is accelerated by M -
// F.
TEST(articulated_dry_friction)
{
    RobotBody body = driven(ROBOT_HINGE);
    const ArticulatedValue far[] = {{"joint_offset", 900.0}, {"friction_speed", 1e-3}, {NULL, 0}};
    body.joint.friction = 5.0;
    CHECK_NEAR(1e-3 * 3.0 / 4.0, turned_by(&body, far, 1e-3, 1.0).rate, 1e-12);
    body.joint.friction = 1.0;
    const double coarse = turned_by(&body, far, 1e-3, 1.0).rate - 40.0,
                 fine = turned_by(&body, far, 5e-4, 1.0).rate - 40.0;
    CHECK_NEAR(0.0, coarse, 0.3);
    CHECK(fabs(fine) < 0.6 * fabs(coarse));
}

// Against its limit a joint rests at q = high + effort / limit_stiffness.
TEST(articulated_limits)
{
    RobotBody body = driven(ROBOT_HINGE);
    const ArticulatedValue up[] = {{"joint_offset", 900.0}, {"joint_start", 0.2}, {NULL, 0}};
    const ArticulatedValue down[] = {{"joint_offset", -900.0}, {"joint_start", -0.1}, {NULL, 0}};
    body.joint.limited = true;
    body.joint.low = -0.1;
    body.joint.high = 0.2;
    Turned got = turned_by(&body, up, 1e-3, 2.0);
    CHECK_NEAR(0.2 + 3.0 / 1e4, got.q, 1e-9);
    CHECK(got.limit_time > 0.99);
    got = turned_by(&body, down, 1e-3, 2.0);
    CHECK_NEAR(-0.1 - 3.0 / 1e4, got.q, 1e-9);
    body.joint.motor.effort = 0.0;
    const ArticulatedValue none[] = {{NULL, 0}};
    CHECK_NEAR(0.0, turned_by(&body, none, 1e-3, 0.1).limit_time, 0.0);
}

// Turns are counted: the coordinate does not jump at pi.
TEST(articulated_hinge_counts_turns)
{
    RobotBody body = driven(ROBOT_HINGE);
    const ArticulatedValue far[] = {{"joint_offset", 900.0}, {NULL, 0}};
    CHECK_NEAR(0.5 * 60.0 * (1.0 + 1e-4), turned_by(&body, far, 1e-4, 1.0).q, 1e-2);
}

// ---- a fixed base ---------------------------------------------------------------------------------------------------

// A base welded to the world sinks by m g / attach_stiffness and carries a pendulum like the world does.
TEST(articulated_fixed_base)
{
    ArticulatedCase test;
    RobotBody bodies[2] = {hanging(ROBOT_WELD, 5.0, 0.1, 0.1), hanging(ROBOT_HINGE, 2.0, 0.7, 0.05)};
    bodies[0].joint.name = "base";
    bodies[1].parent = 0;
    bodies[1].p[2] = 0.0;
    const RobotBody alone = hanging(ROBOT_HINGE, 2.0, 0.7, 0.05);
    const Robot robot = robot_of(bodies, 2);
    const ArticulatedSetup setup = {.robot = &robot,
                                    .settings = {{"dt", 1e-3}, {"duration", 1.0}},
                                    .parameters = {{"joint_start", 2.0}, {"attach_stiffness", 1e9}},
                                    .samples = 1001};
    articulated_start(&test, &setup);
    articulated_go(&test, 1 << 20);
    CHECK_NEAR(2.0, articulated_seen(&test, 0, 1000, "base_z"), 1e-6);
    CHECK_NEAR(after_a_second(&alone, 2.0, 1000.0), articulated_seen(&test, 0, 1000, "joint_q"), 1e-4);
    CHECK_NEAR(0.0, articulated_got(&test, "momentum_error", 0), 0.0);
    articulated_end(&test);
}

TEST(articulated_weld_gives_way)
{
    ArticulatedHand hand;
    const RobotBody body = hanging(ROBOT_WELD, 5.0, 0.0, 0.1);
    const Robot robot = robot_of(&body, 1);
    const ArticulatedSetup setup = {.robot = &robot, .settings = {{"dt", 1e-2}}};
    hand_start(&hand, &setup);
    for (int k = 0; k < 2000; k++) hand_step(&hand);
    CHECK_NEAR(2.0 - 5.0 * G / 1e6, hand_cell(&hand, 0, ARTICULATED_X + 2), 1e-12);
    hand_end(&hand);
}

// ---- several joints on one body: parts without mass between them ----------------------------------------------------

// `n` joints of these kinds about these axes, one after the other, before a lopsided body that leans.
static Robot in_parts(const RobotJointKind *kinds, const double (*axes)[3], int n, RobotBody *bodies)
{
    static const char *const names[3] = {"a", "b", "c"};
    for (int i = 0; i < n; i++) {
        bodies[i] = hanging(kinds[i], 0.0, 0.0, 0.0);
        bodies[i].name = bodies[i].joint.name = names[i];
        bodies[i].parent = i - 1;
        if (i > 0) bodies[i].p[2] = 0.0;
        memcpy(bodies[i].joint.axis, axes[i], sizeof bodies[i].joint.axis);
    }
    RobotBody *body = &bodies[n - 1];
    bodies[0].q[0] = sin(0.5);
    bodies[0].q[3] = cos(0.5);
    body->mass = 2.0;
    memcpy(body->centre, (const double[]){0.1, 0.2, -0.6}, sizeof body->centre);
    memcpy(body->inertia, (const double[]){0.05, 0.08, 0.04, 0.01, 0.0, -0.01}, sizeof body->inertia);
    return robot_of(bodies, n);
}

// The centre of the last body after half a second.
static void half_a_second(const Robot *robot, int steps, double *x)
{
    ArticulatedHand hand;
    const ArticulatedSetup setup = {.robot = robot,
                                    .settings = {{"dt", 0.5 / steps}},
                                    .parameters = {{"attach_stiffness", 1e9}, {"attach_turn_stiffness", 1e9}}};
    hand_start(&hand, &setup);
    for (int k = 0; k < steps; k++) hand_step(&hand);
    for (int k = 0; k < 3; k++) x[k] = hand_cell(&hand, robot->n_bodies - 1, ARTICULATED_X + k);
    hand_end(&hand);
}

static double off_by(const double *a, const double *b)
{
    return sqrt((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) + (a[2] - b[2]) * (a[2] - b[2]));
}

TEST(articulated_three_hinges_are_a_ball)
{
    static const RobotJointKind hinges[3] = {ROBOT_HINGE, ROBOT_HINGE, ROBOT_HINGE}, ball[1] = {ROBOT_BALL};
    static const double axes[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    RobotBody parts[3], whole[1];
    const Robot one = in_parts(hinges, axes, 3, parts), other = in_parts(ball, axes, 1, whole);
    double error[3], x[3], exact[3];
    half_a_second(&other, 16000, exact);
    CHECK(off_by(exact, (const double[]){0.1, 0.2, 1.4}) > 0.3); // it moves
    for (int k = 0; k < 3; k++) {
        half_a_second(&one, 250 << k, x);
        error[k] = off_by(exact, x);
    }
    CHECK(error[0] < 3e-3);
    CHECK_NEAR(2.0, error[0] / error[1], 0.2);
    CHECK_NEAR(2.0, error[1] / error[2], 0.2);
}

// Two slides across each other hold a body's turn, and its centre falls freely.
TEST(articulated_two_slides_are_a_plane)
{
    static const RobotJointKind slides[2] = {ROBOT_SLIDE, ROBOT_SLIDE};
    static const double axes[2][3] = {{1, 0, 0}, {0, 0.6, 0.8}};
    RobotBody parts[2];
    double x[3], start[3];
    const Robot robot = in_parts(slides, axes, 2, parts);
    const double c = cos(1.0), s = sin(1.0), h = 0.5 / 500;
    const double way[3] = {0.0, 0.6 * c - 0.8 * s, 0.6 * s + 0.8 * c}; // the slide that leans
    const double fall = -0.5 * G * 0.5 * (0.5 + h) * way[2];
    start[0] = 0.1;
    start[1] = 0.2 * c + 0.6 * s;
    start[2] = 2.0 + 0.2 * s - 0.6 * c;
    half_a_second(&robot, 500, x);
    for (int k = 0; k < 3; k++) CHECK_NEAR(start[k] + fall * way[k], x[k], 1e-6);
}
