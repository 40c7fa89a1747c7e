// Properties of the hopper's fixed-step integrators: order, bounded energy error, finite contact forces; and the
// default task hops, travels and keeps the desired speed.
#define HOPSCOTCH_SCALAR
#include "../../sim/hopper/dynamics.h"
#include "hopper_case.h"

#include <math.h>
#include <string.h>

// Indices of the choices of `integrator`.
enum { INTEGRATOR_MIDPOINT, INTEGRATOR_SEMI_IMPLICIT, INTEGRATOR_IMPLICIT, INTEGRATOR_RK4, INTEGRATORS };

static HopperCase integrator_case(int integrator, double duration, double dt)
{
    HopperCase test = hopper_case;
    test.integrator = integrator;
    test.duration = duration;
    test.dt = dt;
    test.option[0] = (HopperSetting){"newton.tolerance", 1e-13};
    return test;
}

// ---- order ----------------------------------------------------------------------------------------------------------

// Tumbling through the air without control. The leg's spring acts in the same way beyond its rest length, so that the
// motion is smooth.
static const HopperSetting integrator_smooth[] = {
    {"k_fp", 0.0},    {"b_fp", 0.0},     {"k_stop", 1e3},  {"b_stop", 0.0},   {"z_foot", 3.0},    {"dx_foot", 1.0},
    {"phi_leg", 0.2}, {"dphi_leg", 2.0}, {"len_leg", 0.9}, {"dlen_leg", 0.5}, {"phi_body", -0.1}, {"dphi_body", -0.5},
};

// The ten numbers of the state at the end of smooth flight.
static void integrator_fly(int integrator, double dt, double *state)
{
    HopperCase test = integrator_case(integrator, 0.4, dt);
    memcpy(test.parameter, integrator_smooth, sizeof integrator_smooth);
    HopperOutcome outcome = hopper_simulate(&test);
    CHECK_TEXT("none", hopper_failure_of(&outcome, 0));
    for (int i = 0; i < 10; i++) state[i] = hopper_state(&outcome, i, 0);
    hopper_release(&outcome);
}

// Slope of the least-squares line through n points.
static double integrator_slope(const double *x, const double *y, int n)
{
    double sum_x = 0.0, sum_y = 0.0, sum_xx = 0.0, sum_xy = 0.0;
    for (int i = 0; i < n; i++) {
        sum_x += x[i];
        sum_y += y[i];
        sum_xx += x[i] * x[i];
        sum_xy += x[i] * y[i];
    }
    return (n * sum_xy - sum_x * sum_y) / (n * sum_xx - sum_x * sum_x);
}

TEST(hopper_integrators_have_their_order)
{
    const struct {
        double dt, order; // dt: the longest of four steps, each half of the one before
    } methods[INTEGRATORS] = {{1e-3, 2.0}, {2e-4, 1.0}, {2e-4, 1.0}, {4e-3, 4.0}};
    double exact[10], state[10], log_dt[4], log_error[4];
    integrator_fly(INTEGRATOR_RK4, 2e-5, exact);
    for (int m = 0; m < INTEGRATORS; m++) {
        for (int k = 0; k < 4; k++) {
            const double dt = ldexp(methods[m].dt, -k);
            integrator_fly(m, dt, state);
            double error = 0.0;
            for (int i = 0; i < 10; i++) error = fmax(error, fabs(state[i] - exact[i]));
            log_dt[k] = log2(dt);
            log_error[k] = log2(error);
        }
        CHECK_NEAR(methods[m].order, integrator_slope(log_dt, log_error, 4), 0.1);
    }
}

// ---- energy ---------------------------------------------------------------------------------------------------------

enum { INTEGRATOR_SAMPLES = 1001 };

// Weightless: the leg's spring shakes leg and body, and nothing takes energy away.
static const HopperSetting integrator_weightless[] = {
    {"g", 0.0},        {"k_fp", 0.0},    {"b_fp", 0.0},     {"k_stop", 1e3},    {"b_stop", 0.0},
    {"z_foot", 100.0}, {"phi_leg", 0.5}, {"len_leg", 0.85}, {"phi_body", -0.2},
};

// Energy (J) of a sample of that motion.
static double integrator_energy(const double *sample)
{
    HopperWorld world = {.c = {0}};
    HopperParameters *p = &world.p;
#define INTEGRATOR_SET(name, unit, value, ...) p->name = value;
    HOPPER_PARAMETERS(INTEGRATOR_SET)
#undef INTEGRATOR_SET
    p->g = 0.0;
    p->k_stop = 1e3;
    const HopperVector q = {sample[1], sample[2], sample[3], sample[4], sample[5]};
    const HopperVector v = {sample[6], sample[7], sample[8], sample[9], sample[10]};
    const HopperAngles s = hopper_angles(q.a, q.b);
    const HopperEnergy energy = hopper_energy(&world, &s, &q, &v);
    return hopper_energy_total(&energy);
}

// 1,001 samples over `duration`: time (s), and energy relative to the first sample.
static void integrator_shake(int integrator, double duration, double *time, double *change)
{
    HopperCase test = integrator_case(integrator, duration, 1e-4);
    test.traced = 1;
    test.every = (int64_t)(duration / test.dt + 0.5) / (INTEGRATOR_SAMPLES - 1);
    memcpy(test.parameter, integrator_weightless, sizeof integrator_weightless);
    HopperOutcome outcome = hopper_simulate(&test);
    CHECK_TEXT("none", hopper_failure_of(&outcome, 0));
    CHECK_INTEGER(INTEGRATOR_SAMPLES, outcome.batch->trace.count[0]);
    const double start = integrator_energy(hopper_sample_of(&outcome, 0, 0));
    for (int k = 0; k < INTEGRATOR_SAMPLES; k++) {
        const double *sample = hopper_sample_of(&outcome, 0, k);
        time[k] = sample[0];
        change[k] = integrator_energy(sample) / start - 1.0;
    }
    CHECK_NEAR(change[INTEGRATOR_SAMPLES - 1] * start, hopper_metric(&outcome, "energy_drift", 0), 1e-12 * start);
    hopper_release(&outcome);
}

static double integrator_greatest(const double *values)
{
    double greatest = 0.0;
    for (int k = 0; k < INTEGRATOR_SAMPLES; k++) greatest = fmax(greatest, fabs(values[k]));
    return greatest;
}

TEST(hopper_energy_stays_without_gravity)
{
    static double time[INTEGRATOR_SAMPLES], change[INTEGRATOR_SAMPLES];
    const double bounds[INTEGRATORS] = {1e-7, 1e-2, 1.0, 1e-9}; // over 10,000 steps
    for (int m = 0; m < INTEGRATORS; m++) {
        integrator_shake(m, 1.0, time, change);
        CHECK(integrator_greatest(change) < bounds[m]);
        if (m == INTEGRATOR_IMPLICIT) CHECK(change[INTEGRATOR_SAMPLES - 1] < -0.05); // it damps the motion
    }
    // over a million steps implicit midpoint has no trend: the slope is smaller than the ripple
    integrator_shake(INTEGRATOR_MIDPOINT, 100.0, time, change);
    const double ripple = integrator_greatest(change);
    CHECK(ripple < 1e-7);
    CHECK(fabs(integrator_slope(time, change, INTEGRATOR_SAMPLES)) * 100.0 < 0.2 * ripple);
}

// ---- contact --------------------------------------------------------------------------------------------------------

// Falls upright, without control, onto its foot at 2 m/s.
static const HopperSetting integrator_drop[] = {
    {"k_fp", 0.0},   {"b_fp", 0.0},   {"k_att", 0.0},   {"b_att", 0.0},
    {"thrust", 0.0}, {"z_foot", 0.0}, {"phi_leg", 0.0}, {"dz_foot", -2.0},
};

TEST(hopper_passive_drop_stays_finite)
{
    const struct {
        double k_g, least, most; // N/m; m of penetration: expected are 3.12 cm and 0.36 cm
    } grounds[] = {{1e4, 0.030, 0.033}, {1e5, 0.003, 0.005}};
    for (int m = 0; m < INTEGRATORS; m++) {
        for (int ground = 0; ground < 2; ground++) {
            HopperCase test = integrator_case(m, 3.0, 1e-4);
            const int n = sizeof integrator_drop / sizeof integrator_drop[0];
            memcpy(test.parameter, integrator_drop, sizeof integrator_drop);
            test.parameter[n] = (HopperSetting){"k_g", grounds[ground].k_g};
            HopperOutcome outcome = hopper_simulate(&test);
            CHECK_TEXT("none", hopper_failure_of(&outcome, 0));
            const double depth = hopper_metric(&outcome, "max_penetration", 0);
            CHECK(depth >= grounds[ground].least && depth <= grounds[ground].most);
            hopper_release(&outcome);
        }
    }
}

// ---- the task -------------------------------------------------------------------------------------------------------

TEST(hopper_travels_at_the_speed_asked_for)
{
    for (int m = 0; m < INTEGRATORS; m++) {
        HopperCase test = integrator_case(m, 5.0, 1e-4);
        test.x_dot_des = 3.0;
        HopperOutcome fast = hopper_simulate(&test);
        CHECK_TEXT("none", hopper_failure_of(&fast, 0));
        CHECK(hopper_metric(&fast, "distance", 0) > 5.0);
        hopper_release(&fast);
        test.x_dot_des = 2.0;
        test.option[1] = (HopperSetting){"settle", 2.5};
        HopperOutcome slow = hopper_simulate(&test);
        CHECK_NEAR(2.0, hopper_metric(&slow, "mean_speed", 0), 1.0);
        hopper_release(&slow);
    }
}

TEST(hopper_passes_through_all_three_states)
{
    HopperCase test = integrator_case(INTEGRATOR_MIDPOINT, 5.0, 1e-4);
    test.traced = 1;
    test.every = 10;
    HopperOutcome outcome = hopper_simulate(&test);
    int64_t samples[3] = {0};
    for (int64_t k = 0; k < outcome.batch->trace.count[0]; k++) {
        const double fsm = hopper_sample_of(&outcome, 0, k)[outcome.configured.n_columns - 1];
        CHECK(fsm == HOPPER_COMPRESSION || fsm == HOPPER_THRUST || fsm == HOPPER_FLIGHT);
        samples[(int)fsm]++;
    }
    for (int state = 0; state < 3; state++) CHECK(samples[state] > 100);
    hopper_release(&outcome);
}

static void integrator_one_differs(double *parameter, const Configured *configured, int64_t lane)
{
    if (lane == 6) parameter[hopper_index(configured, "thrust")] += 1e-9;
}

TEST(hopper_equal_lanes_end_in_equal_bytes)
{
    for (int m = 0; m < INTEGRATORS; m++) {
        HopperCase test = integrator_case(m, 0.6, 1e-4);
        test.lanes = 13;
        test.fill = integrator_one_differs;
        HopperOutcome outcome = hopper_simulate(&test);
        for (int64_t lane = 1; lane < test.lanes; lane++)
            CHECK(hopper_is_same(&outcome, 0, &outcome, lane) == (lane != 6));
        hopper_release(&outcome);
    }
}
