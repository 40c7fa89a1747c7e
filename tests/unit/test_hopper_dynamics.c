// The hopper's accelerations and control against 126 states computed with 40 digits, in both forms of the equations,
// and against the laws that they must obey.
#define HOPSCOTCH_SCALAR
#include "../../sim/hopper/control.h"
#include "../test.h"

#include <stdio.h>
#include <stdlib.h>

static HopperParameters dynamics_defaults(void)
{
    HopperParameters p;
#define DYNAMICS_SET(name, unit, value, ...) p.name = value;
    HOPPER_PARAMETERS(DYNAMICS_SET)
#undef DYNAMICS_SET
    p.inverse_m = 1.0 / p.m;
    p.inverse_m_l = 1.0 / p.m_l;
    p.inverse_J = 1.0 / p.J;
    p.inverse_J_l = 1.0 / p.J_l;
    return p;
}

static HopperVector dynamics_acceleration(const HopperParameters *p, const HopperVector *q, const HopperVector *v,
                                          double u1, double u2, bool reference)
{
    const HopperAngles s = hopper_angles(q->a, q->b);
    const HopperContact contact = hopper_contact(p, q->z, v->z, q->l);
    const HopperGround ground = hopper_ground(p, &contact, q->z, v->x, v->z);
    const HopperLegLaw law = hopper_leg_explicit(p, &contact, q->l, v->l, u1);
    double leg_force;
    return hopper_acceleration(p, &s, q->l, v, &ground, &law, u2, reference, &leg_force);
}

static double dynamics_relative(double x) { return 1e-12 * (fabs(x) > 1.0 ? fabs(x) : 1.0); }

// columns: t fsm t_thrust_on T_s x_dot_des, q, q', u1 u2, q'' corrected, q'' reference
TEST(hopper_dynamics_match_126_reference_states)
{
    const char *path = test_shared("data/hopper_dynamics_cases.csv");
    if (path == NULL) {
        test_skip("no reference data (../shared/data/hopper_dynamics_cases.csv)");
        return;
    }
    FILE *file = fopen(path, "r");
    char line[4096];
    int cases = 0;
    HopperParameters p = dynamics_defaults();
    CHECK(file != NULL && fgets(line, sizeof line, file) != NULL);
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        double d[27];
        char *text = line;
        for (int i = 0; i < 27; i++, text++) d[i] = strtod(text, &text);
        p.x_dot_des = d[4];
        const HopperMachine machine = {.fsm = d[1], .T_s = d[3], .t_thrust_on = d[2]};
        const HopperVector q = {d[5], d[6], d[7], d[8], d[9]}, v = {d[10], d[11], d[12], d[13], d[14]};
        const HopperAngles s = hopper_angles(q.a, q.b);
        const HopperControl u = hopper_control(&p, &machine, &q, &v, hopper_body_speed(&p, &s, q.l, &v), d[0]);
        CHECK_NEAR(d[15], u.u1, dynamics_relative(d[15]));
        CHECK_NEAR(d[16], u.u2, dynamics_relative(d[16]));
        for (int reference = 0; reference < 2; reference++) {
            const HopperVector a = dynamics_acceleration(&p, &q, &v, d[15], d[16], reference != 0);
            const double got[5] = {a.x, a.z, a.a, a.b, a.l}, *want = d + 17 + 5 * reference;
            for (int i = 0; i < 5; i++) CHECK_NEAR(want[i], got[i], dynamics_relative(want[i]));
        }
        cases++;
    }
    if (file != NULL) fclose(file);
    CHECK_INTEGER(126, cases);
}

static double dynamics_momentum(const HopperParameters *p, const HopperVector *q, const HopperVector *v)
{
    const HopperAngles s = hopper_angles(q->a, q->b);
    return p->m_l * (v->x + p->l_1 * v->a * s.cos_a) + p->m * hopper_body_speed(p, &s, q->l, v);
}

static double dynamics_energy(const HopperParameters *p, const HopperVector *q, const HopperVector *v)
{
    const HopperAngles s = hopper_angles(q->a, q->b);
    return hopper_energy(p, &s, q, v);
}

static HopperVector dynamics_add(const HopperVector *a, double h, const HopperVector *b)
{
    return (HopperVector){a->x + h * b->x, a->z + h * b->z, a->a + h * b->a, a->b + h * b->b, a->l + h * b->l};
}

// d/dt of a quantity of state along the flow, by a central difference
static double dynamics_rate(double (*quantity)(const HopperParameters *, const HopperVector *, const HopperVector *),
                            const HopperParameters *p, const HopperVector *q, const HopperVector *v,
                            const HopperVector *a)
{
    const double h = 1e-5;
    const HopperVector q1 = dynamics_add(q, h, v), q0 = dynamics_add(q, -h, v);
    const HopperVector v1 = dynamics_add(v, h, a), v0 = dynamics_add(v, -h, a);
    return (quantity(p, &q1, &v1) - quantity(p, &q0, &v0)) / (2.0 * h);
}

static const HopperVector dynamics_flying = {0.3, 0.6, 0.2, -0.1, 0.93}, dynamics_rates = {1.5, -0.7, 2.0, -0.4, 0.3};
static const HopperVector dynamics_standing = {0.3, -0.02, 0.2, -0.1, 0.93},
                          dynamics_stretched = {0.3, 0.6, 0.2, -0.1, 1.001};

TEST(hopper_keeps_horizontal_momentum_in_flight)
{
    const HopperParameters p = dynamics_defaults();
    const HopperVector a = dynamics_acceleration(&p, &dynamics_flying, &dynamics_rates, 20.0, 7.0, false);
    CHECK_NEAR(0.0, dynamics_rate(dynamics_momentum, &p, &dynamics_flying, &dynamics_rates, &a), 1e-7);
    // the reference's form breaks it by P_x = -2 m_l l_1 a'^2 sin a
    const HopperVector r = dynamics_acceleration(&p, &dynamics_flying, &dynamics_rates, 20.0, 7.0, true);
    CHECK_NEAR(-2.0 * p.m_l * p.l_1 * 4.0 * sin(0.2),
               dynamics_rate(dynamics_momentum, &p, &dynamics_flying, &dynamics_rates, &r), 1e-7);
}

TEST(hopper_energy_changes_by_the_power_of_forces_that_are_not_in_it)
{
    const HopperParameters p = dynamics_defaults();
    const HopperVector *const places[] = {&dynamics_flying, &dynamics_standing, &dynamics_stretched};
    for (int i = 0; i < 3; i++) {
        for (int reference = 0; reference < 2; reference++) {
            const HopperVector *q = places[i], *v = &dynamics_rates;
            const HopperAngles s = hopper_angles(q->a, q->b);
            const HopperContact contact = hopper_contact(&p, q->z, v->z, q->l);
            const HopperVector a = dynamics_acceleration(&p, q, v, 20.0, 7.0, reference != 0);
            CHECK_NEAR(hopper_power(&p, &s, &contact, 20.0, 7.0, v, reference != 0),
                       dynamics_rate(dynamics_energy, &p, q, v, &a), 1e-5);
        }
    }
}

// The implicit law is the explicit one at l' = l'_n + h l'', so both must agree on F_k where they meet.
TEST(hopper_implicit_leg_law_is_consistent)
{
    const HopperParameters p = dynamics_defaults();
    const double h = 5e-5;
    for (int i = 0; i < 2; i++) {
        const HopperVector *q = i == 0 ? &dynamics_stretched : &dynamics_flying, *v = &dynamics_rates;
        const HopperAngles s = hopper_angles(q->a, q->b);
        const HopperContact contact = hopper_contact(&p, q->z, v->z, q->l);
        const HopperGround ground = hopper_ground(&p, &contact, q->z, v->x, v->z);
        const HopperLegLaw law = hopper_leg_implicit(&p, &contact, h, q->l, v->l, 20.0);
        double force;
        const HopperVector a = hopper_acceleration(&p, &s, q->l, v, &ground, &law, 7.0, false, &force);
        const double dl = v->l + h * a.l, l = q->l + h * dl;
        const HopperLegLaw at = hopper_leg_explicit(&p, &contact, l, dl, 20.0);
        CHECK_NEAR(at.constant, force, 1e-11 * fabs(force));
    }
}
