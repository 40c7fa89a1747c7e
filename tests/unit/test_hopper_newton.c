// The Newton oracle: its 5x5 system against known states and the closed form, its Jacobian against differences and the
// complex step, its Schur complement against a plain solve, and its trajectories against the closed form's.
#define HOPSCOTCH_SCALAR
#include "../../sim/hopper/newton.h"
#include "../../sim/hopper/step_explicit.h"
#include "hopper_case.h"

#include <complex.h>
#include <stdio.h>
#include <stdlib.h>

enum { NEWTON_RANDOM = 500 };

static HopperWorld newton_world(bool reference)
{
    HopperWorld world = {
        .full = true,
        .c = {.dt = 1e-4, .tolerance = 0.0, .iterations = 1, .variants = reference ? HOPPER_WITH_REFERENCE : 0}};
    HopperParameters *p = &world.p;
#define NEWTON_SET(name, unit, value, ...) p->name = value;
    HOPPER_PARAMETERS(NEWTON_SET)
#undef NEWTON_SET
    p->inverse_m = 1.0 / p->m;
    p->inverse_m_l = 1.0 / p->m_l;
    p->inverse_J = 1.0 / p->J;
    p->inverse_J_l = 1.0 / p->J_l;
    return world;
}

static HopperPoint newton_point(const HopperWorld *world, const HopperVector *q, const HopperVector *v, double u1,
                                double u2)
{
    HopperPoint at = {.q = *q, .v = *v, .control = {.u1 = u1, .u2 = u2}};
    const HopperFoot foot = hopper_foot(world, q->x, q->z, v->x, v->z);
    at.contact = hopper_contact(&world->p, &foot, q->l);
    return at;
}

// A random state: flight or stance, spring or stop, up or down.
static HopperPoint newton_random(const HopperWorld *world, int number)
{
    const RandomKey key = {.seed = 6, .ordinal = (uint64_t)number, .purpose = RANDOM_SAMPLE};
    double u[12];
    for (int i = 0; i < 12; i++) u[i] = 2.0 * random_uniform(&key, (uint32_t)i) - 1.0;
    const HopperVector q = {u[0], 0.1 * u[1], 0.8 * u[2], 0.5 * u[3], 0.85 + 0.2 * u[4]};
    const HopperVector v = {3.0 * u[5], 3.0 * u[6], 5.0 * u[7], 2.0 * u[8], 2.0 * u[9]};
    return newton_point(world, &q, &v, 35.0 * u[10], 100.0 * u[11]);
}

static double newton_relative(double tolerance, double x) { return tolerance * (fabs(x) > 1.0 ? fabs(x) : 1.0); }

// Greatest |component|.
static double newton_greatest(const Vector5 *x)
{
    double greatest = 0.0;
    for (int i = 0; i < 5; i++) greatest = fmax(greatest, fabs(x->at[i]));
    return greatest;
}

// columns: t fsm t_thrust_on T_s x_dot_des, q, q', u1 u2, q'' corrected, q'' reference
TEST(hopper_newton_system_matches_126_reference_states)
{
    const char *path = test_shared("data/hopper_dynamics_cases.csv");
    if (path == NULL) {
        test_skip("reference data that are not in the repository", "../shared");
        return;
    }
    FILE *file = fopen(path, "r");
    char line[4096];
    int cases = 0;
    CHECK(file != NULL && fgets(line, sizeof line, file) != NULL);
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        double d[27];
        char *text = line;
        for (int i = 0; i < 27; i++, text++) d[i] = strtod(text, &text);
        const HopperVector q = {d[5], d[6], d[7], d[8], d[9]}, v = {d[10], d[11], d[12], d[13], d[14]};
        for (int reference = 0; reference < 2; reference++) {
            const HopperWorld world = newton_world(reference != 0);
            const HopperPoint at = newton_point(&world, &q, &v, d[15], d[16]);
            const HopperSolution solution = hopper_solution(&world, &at);
            const double *want = d + 17 + 5 * reference;
            CHECK(!solution.M.near_singular);
            for (int i = 0; i < 5; i++)
                CHECK_NEAR(want[i], solution.acceleration.at[i], newton_relative(1e-12, want[i]));
        }
        cases++;
    }
    if (file != NULL) fclose(file);
    CHECK_INTEGER(126, cases);
}

TEST(hopper_newton_system_agrees_with_the_closed_form)
{
    for (int number = 0; number < NEWTON_RANDOM; number++) {
        const HopperWorld world = newton_world(number % 2 != 0);
        const HopperPoint at = newton_random(&world, number);
        const HopperAngles s = hopper_angles(at.q.a, at.q.b);
        const HopperVector closed = hopper_rate_at(&world, &s, &at.q, &at.v, &at.control).acceleration;
        const Vector5 want = hopper_array(&closed), got = hopper_solution(&world, &at).acceleration;
        for (int i = 0; i < 5; i++) CHECK_NEAR(want.at[i], got.at[i], newton_relative(1e-12, newton_greatest(&want)));
    }
}

TEST(hopper_newton_system_without_a_lever_is_near_singular)
{
    const HopperWorld world = newton_world(false);
    HopperPoint at = newton_random(&world, 0);
    at.q.l = world.p.l_1; // R = 0: all rows are multiples of the leg's rotation
    CHECK(hopper_solution(&world, &at).M.near_singular);
    at.q.l = world.p.l_1 + 0.05; // the leg's length after a fall
    CHECK(!hopper_solution(&world, &at).M.near_singular);
}

// ---- derivatives ----------------------------------------------------------------------------------------------------

// q'' in closed form, for complex numbers: the equations of dynamics.h, written independently, in the branch of `at`.
// y[10] = (q, q').
static void newton_complex(const HopperWorld *world, const HopperPoint *at, const double complex *y,
                           double complex *acceleration)
{
    const HopperParameters *p = &world->p;
    const double complex z = y[1], a = y[2], b = y[3], l = y[4], dx = y[5], dz = y[6], da = y[7], db = y[8], dl = y[9];
    const double u1 = at->control.u1, u2 = at->control.u2;
    const double complex F_k =
        at->contact.stop ? p->k_stop * (p->r_s0 - l) - p->b_stop * dl + u1 : p->k_l * (p->r_s0 - l) + u1;
    const double complex F_x = at->contact.ground ? -p->b_g * dx : 0.0;
    const double complex F_z = (at->contact.ground ? -p->k_g * z : 0.0) - (at->contact.damping ? p->b_g * dz : 0.0);
    const double complex P =
        hopper_with(world, HOPPER_WITH_REFERENCE) ? -2.0 * p->m_l * p->l_1 * da * da * csin(a) : 0.0;
    const double complex torque = -p->l_1 * (F_x * ccos(a) - F_z * csin(a)) - u2; // P acts at the centre of mass
    const double complex F_t = (F_x + P) * ccos(a) - F_z * csin(a), F_e = (F_x + P) * csin(a) + F_z * ccos(a);
    const double complex R = l - p->l_1, s_r = csin(a - b), c_r = ccos(a - b);
    const double complex N = (-F_t / p->m_l - 2.0 * dl * da - R * torque / p->J_l -
                              p->l_2 * c_r / p->J * (u2 - p->l_2 * F_k * s_r) - p->l_2 * db * db * s_r) /
                             (1.0 / p->m_l + 1.0 / p->m + R * R / p->J_l + p->l_2 * p->l_2 * c_r * c_r / p->J);
    const double complex dda = (R * N + torque) / p->J_l;
    const double complex ddb = (u2 - p->l_2 * F_k * s_r + p->l_2 * N * c_r) / p->J;
    acceleration[0] = (F_x + P - F_k * csin(a) + N * ccos(a)) / p->m_l - p->l_1 * (dda * ccos(a) - da * da * csin(a));
    acceleration[1] =
        (F_z - F_k * ccos(a) - N * csin(a)) / p->m_l - p->g + p->l_1 * (dda * csin(a) + da * da * ccos(a));
    acceleration[2] = dda;
    acceleration[3] = ddb;
    acceleration[4] =
        F_k * (1.0 / p->m + 1.0 / p->m_l) - F_e / p->m_l + R * da * da - p->l_2 * ddb * s_r + p->l_2 * db * db * c_r;
}

// Derivative with respect to y[j]: Im a(y + i h e_j)/h, exact to rounding (Squire & Trapp, SIAM Review 40(1), 1998).
static Vector5 newton_complex_step(const HopperWorld *world, const HopperPoint *at, int j)
{
    const Vector5 q = hopper_array(&at->q), v = hopper_array(&at->v);
    double complex y[10], acceleration[5];
    for (int i = 0; i < 5; i++) {
        y[i] = q.at[i];
        y[5 + i] = v.at[i];
    }
    y[j] += 1e-100 * I;
    newton_complex(world, at, y, acceleration);
    Vector5 derivative;
    for (int i = 0; i < 5; i++) derivative.at[i] = cimag(acceleration[i]) / 1e-100;
    return derivative;
}

// As newton_complex_step, by a central difference of the 5x5 system's solution, within the branch.
static Vector5 newton_central_difference(const HopperWorld *world, const HopperPoint *at, int j)
{
    const double h = 1e-5;
    HopperVector dq, dv;
    hopper_direction(j, h, &dq, &dv);
    HopperPoint up = *at, down = *at;
    up.q = hopper_moved(&at->q, 1.0, &dq);
    up.v = hopper_moved(&at->v, 1.0, &dv);
    down.q = hopper_moved(&at->q, -1.0, &dq);
    down.v = hopper_moved(&at->v, -1.0, &dv);
    const Vector5 above = hopper_solution(world, &up).acceleration, below = hopper_solution(world, &down).acceleration;
    Vector5 derivative;
    for (int i = 0; i < 5; i++) derivative.at[i] = (above.at[i] - below.at[i]) / (2.0 * h);
    return derivative;
}

TEST(hopper_newton_jacobian_matches_the_complex_step_and_differences)
{
    for (int number = 0; number < NEWTON_RANDOM; number++) {
        const HopperWorld world = newton_world(number % 2 != 0);
        const HopperPoint at = newton_random(&world, number);
        const HopperSolution solution = hopper_solution(&world, &at);
        for (int j = 0; j < 10; j++) {
            const Vector5 got = hopper_derivative_analytic(&world, &at, &solution, j);
            const Vector5 forward = hopper_derivative_difference(&world, &at, &solution, j);
            const Vector5 exact = newton_complex_step(&world, &at, j),
                          central = newton_central_difference(&world, &at, j);
            const double size = newton_greatest(&exact) + newton_greatest(&solution.acceleration);
            for (int i = 0; i < 5; i++) {
                CHECK_NEAR(exact.at[i], got.at[i], newton_relative(1e-12, size));
                CHECK_NEAR(central.at[i], got.at[i], newton_relative(1e-7, size));
                CHECK_NEAR(forward.at[i], got.at[i], newton_relative(1e-5, size));
            }
        }
    }
}

// ---- one iteration --------------------------------------------------------------------------------------------------

// Solves the 10x10 system A x = b by elimination with partial pivoting; overwrites A and b.
static void newton_solve_10(double A[10][10], double *b)
{
    for (int k = 0; k < 10; k++) {
        int pivot = k;
        for (int i = k + 1; i < 10; i++) pivot = fabs(A[i][k]) > fabs(A[pivot][k]) ? i : pivot;
        for (int j = 0; j < 10; j++) linear_swap(pivot != k, &A[k][j], &A[pivot][j]);
        linear_swap(pivot != k, &b[k], &b[pivot]);
        for (int i = k + 1; i < 10; i++) {
            const double factor = A[i][k] / A[k][k];
            for (int j = k; j < 10; j++) A[i][j] -= factor * A[k][j];
            b[i] -= factor * b[k];
        }
    }
    for (int i = 9; i >= 0; i--) {
        for (int j = i + 1; j < 10; j++) b[i] -= A[i][j] * b[j];
        b[i] /= A[i][i];
    }
}

TEST(hopper_newton_schur_complement_matches_the_plain_10x10)
{
    for (int number = 0; number < NEWTON_RANDOM; number++) {
        HopperWorld world = newton_world(number % 2 != 0);
        world.c.dt = 1e-2; // large enough that all blocks matter
        const double h = 0.5 * world.c.dt;
        const HopperPoint at = newton_random(&world, number), to = newton_random(&world, NEWTON_RANDOM + number);
        const HopperLanes lanes = {.q = at.q, .v = at.v};
        const HopperNewton iterate = {.state = {to.q, to.v}};
        const HopperResidual r = hopper_newton_residual(&world, &lanes, &at.control, &iterate, 0);
        const HopperDerivatives d = hopper_derivatives(&world, &r.middle, &r.solution, HOPPER_ANALYTIC);
        const HopperCorrection got = hopper_newton_correction(&r, &d, h);
        double J[10][10] = {{0}}, x[10];
        for (int i = 0; i < 5; i++) {
            J[i][i] = J[5 + i][5 + i] = 1.0;
            J[i][5 + i] = -h;
            for (int j = 0; j < 5; j++) {
                J[5 + i][j] = -h * d.A_q.at[i][j];
                J[5 + i][5 + j] -= h * d.A_v.at[i][j];
            }
            x[i] = -r.r_q.at[i];
            x[5 + i] = -r.r_v.at[i];
        }
        newton_solve_10(J, x);
        double size = 0.0;
        for (int i = 0; i < 10; i++) size = fmax(size, fabs(x[i]));
        for (int i = 0; i < 5; i++) {
            CHECK_NEAR(x[i], got.dq.at[i], newton_relative(1e-12, size));
            CHECK_NEAR(x[5 + i], got.dv.at[i], newton_relative(1e-12, size));
        }
    }
}

TEST(hopper_newton_residual_falls_every_iteration)
{
    const HopperDebug debug = {.on = false};
    for (int number = 0; number < NEWTON_RANDOM; number++) {
        for (int jacobian = 0; jacobian < 2; jacobian++) {
            HopperWorld world = newton_world(false);
            HopperPoint at = newton_random(&world, number);
            at.q.z +=
                at.q.z < 0.0 ? -0.01 : 0.01; // no event within the step: there the branch, and the equation, change
            at.q.l += at.q.l < 1.0 ? -0.01 : 0.01;
            at.v.z += at.v.z < 0.0 ? -0.5 : 0.5;
            const HopperLanes lanes = {.q = at.q, .v = at.v};
            double before = INFINITY, residual = INFINITY;
            int iterations = 0;
            for (; iterations <= 10 && residual > 1e-12; iterations++) {
                world.c.iterations = iterations;
                const HopperNewton iterate =
                    hopper_newton_solve(&world, &lanes, &at.control, (HopperJacobian)jacobian, &debug, -1);
                residual = fmax(iterate.residual_q, iterate.residual_v);
                CHECK(residual < before);
                before = residual;
            }
            CHECK(iterations <= 5); // the first iterate y_0 and at most four corrections
            CHECK(residual <= 1e-12);
        }
    }
}

// ---- trajectories ---------------------------------------------------------------------------------------------------

// Indices of the choices of newton.jacobian.
enum { NEWTON_CLOSED_FORM, NEWTON_ANALYTIC, NEWTON_FINITE_DIFFERENCE };

static HopperOutcome newton_simulate(HopperCase test, int jacobian)
{
    test.option[0] = (HopperSetting){"newton.jacobian", jacobian};
    return hopper_simulate(&test);
}

TEST(hopper_newton_lands_where_the_closed_form_does)
{
    const struct {
        double z_foot, fsm; // start, and the least state that the hopper must reach
    } starts[] = {{0.6, 2.0}, {0.05, 0.0}};
    for (int start = 0; start < 2; start++) {
        for (int equations = 0; equations < 2; equations++) {
            HopperCase test = hopper_case;
            test.duration = 0.3;
            test.traced = 1;
            test.equations = equations;
            test.parameter[0] = (HopperSetting){"z_foot", starts[start].z_foot};
            test.option[1] = (HopperSetting){"newton.tolerance", 1e-13}; // the errors of 3,000 steps add up
            HopperOutcome closed = newton_simulate(test, NEWTON_CLOSED_FORM);
            const int columns = closed.configured.n_columns;
            double least = 2.0;
            for (int64_t k = 0; k < closed.batch->trace.count[0]; k++)
                least = fmin(least, hopper_sample_of(&closed, 0, k)[columns - 1]);
            CHECK_NEAR(starts[start].fsm, least, 0.0);
            for (int jacobian = NEWTON_ANALYTIC; jacobian <= NEWTON_FINITE_DIFFERENCE; jacobian++) {
                HopperOutcome newton = newton_simulate(test, jacobian);
                CHECK_TEXT("none", hopper_failure_of(&newton, 0));
                CHECK(hopper_metric(&newton, "newton_max_residual", 0) <= 1e-11);
                for (int field = 0; field < 10; field++)
                    CHECK_NEAR(hopper_state(&closed, field, 0), hopper_state(&newton, field, 0), 1e-9);
                CHECK_NEAR(hopper_metric(&closed, "energy", 0), hopper_metric(&newton, "energy", 0), 1e-7);
                CHECK_NEAR(hopper_metric(&closed, "energy_drift", 0), hopper_metric(&newton, "energy_drift", 0), 1e-7);
                hopper_release(&newton);
            }
            hopper_release(&closed);
        }
    }
}

static void newton_spread(double *parameter, const Configured *configured, int64_t lane)
{
    parameter[hopper_index(configured, "k_fp")] = 60.0 + 11.0 * (double)lane;
    parameter[hopper_index(configured, "z_foot")] = 0.01 * (double)(lane % 5);
    parameter[hopper_index(configured, "phi_body")] = lane % 7 == 3 ? 1.45 : 0.01; // some hoppers fall
    parameter[hopper_index(configured, "dphi_body")] = lane % 7 == 3 ? 2.0 : 0.0;
}

TEST(hopper_newton_bits_depend_on_nothing_but_the_lane)
{
    for (int jacobian = NEWTON_ANALYTIC; jacobian <= NEWTON_FINITE_DIFFERENCE; jacobian++) {
        HopperCase test = hopper_case;
        test.duration = 0.2;
        test.lanes = 11;
        test.fill = newton_spread;
        HopperOutcome whole = newton_simulate(test, jacobian);
        CHECK_TEXT("fell", hopper_failure_of(&whole, 3));
        CHECK_TEXT("none", hopper_failure_of(&whole, 4));
        const char *const isas[] = {"scalar", ISA_V2, ISA_V3, ISA_V4};
        for (int i = 0; i < 4; i++) {
            HopperCase other = test;
            other.isa = i == 3 && !test_has_isa(ISA_V4) ? ISA_V3 : isas[i];
            other.slice = 100 + 77 * i;
            other.traced = 2 * i;
            other.threads = 1 + i % 2;
            HopperOutcome same = newton_simulate(other, jacobian);
            for (int64_t lane = 0; lane < test.lanes; lane++) hopper_check_same(&whole, lane, &same, lane);
            hopper_release(&same);
        }
        hopper_release(&whole);
    }
}

TEST(hopper_newton_is_for_implicit_midpoint_without_variants)
{
    Arena arena;
    Configured configured;
    CHECK_OK(arena_create(&arena, 1 << 20, "a test"));
    for (int jacobian = NEWTON_ANALYTIC; jacobian <= NEWTON_FINITE_DIFFERENCE; jacobian++) {
        HopperCase test = hopper_case;
        test.option[0] = (HopperSetting){"newton.jacobian", jacobian};
        CHECK_OK(hopper_case_configure(&test, &arena, &configured));
        for (test.integrator = 1; test.integrator < 5; test.integrator++)
            CHECK_ERROR(ERROR_USER, hopper_case_configure(&test, &arena, &configured));
        test.integrator = 0;
        test.option[1] = (HopperSetting){"terrain", TERRAIN_slope};
        CHECK_ERROR(ERROR_USER, hopper_case_configure(&test, &arena, &configured));
    }
    arena_destroy(&arena);
}
