// The hopper's accelerations and control against 126 states computed with 40 digits, in both forms of the equations,
// and against the laws that they must obey.
#define HOPSCOTCH_SCALAR
#include "../../sim/hopper/step_explicit.h"
#include "../../sim/hopper/step_implicit.h"
#include "../test.h"

#include <stdio.h>
#include <stdlib.h>

static HopperWorld dynamics_world(bool reference)
{
    HopperWorld world = {.full = true, .c = {.variants = reference ? HOPPER_WITH_REFERENCE : 0}};
    HopperParameters *p = &world.p;
#define DYNAMICS_SET(name, unit, value, ...) p->name = value;
    HOPPER_PARAMETERS(DYNAMICS_SET)
#undef DYNAMICS_SET
#define DYNAMICS_SET(name, unit, value, ...) p->name = value;
    HOPPER_VARIANT_PARAMETERS(DYNAMICS_SET)
#undef DYNAMICS_SET
    p->inverse_m = 1.0 / p->m;
    p->inverse_m_l = 1.0 / p->m_l;
    p->inverse_J = 1.0 / p->J;
    p->inverse_J_l = 1.0 / p->J_l;
    return world;
}

static HopperRate dynamics_rate_of(const HopperWorld *world, const HopperVector *q, const HopperVector *v, double u1,
                                   double u2)
{
    const HopperAngles s = hopper_angles(q->a, q->b);
    const HopperControl control = {.u1 = u1, .u2 = u2};
    return hopper_rate_at(world, &s, q, v, &control);
}

static HopperVector dynamics_acceleration(const HopperWorld *world, const HopperVector *q, const HopperVector *v,
                                          double u1, double u2)
{
    return dynamics_rate_of(world, q, v, u1, u2).acceleration;
}

static double dynamics_relative(double x) { return 1e-12 * (fabs(x) > 1.0 ? fabs(x) : 1.0); }

// columns: t fsm t_thrust_on T_s x_dot_des, q, q', u1 u2, q'' corrected, q'' reference
TEST(hopper_dynamics_match_126_reference_states)
{
    const char *path = test_shared("data/hopper_dynamics_cases.csv");
    if (path == NULL) {
        test_skip("reference data that are not in the repository", "../shared");
        return;
    }
    FILE *file = fopen(path, "r");
    char line[4096];
    int cases = 0;
    HopperWorld worlds[2] = {dynamics_world(false), dynamics_world(true)};
    CHECK(file != NULL && fgets(line, sizeof line, file) != NULL);
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        double d[27];
        char *text = line;
        for (int i = 0; i < 27; i++, text++) d[i] = strtod(text, &text);
        worlds[0].p.x_dot_des = worlds[1].p.x_dot_des = d[4];
        const HopperMachine machine = {.fsm = d[1], .T_s = d[3], .t_thrust_on = d[2]};
        const HopperVector q = {d[5], d[6], d[7], d[8], d[9]}, v = {d[10], d[11], d[12], d[13], d[14]};
        const HopperAngles s = hopper_angles(q.a, q.b);
        const HopperSwitches on = hopper_switches(&worlds[0].p, &machine, q.z, d[0]);
        const double speed = hopper_body_speed(&worlds[0].p, &s, q.l, &v);
        const HopperControl u = hopper_control(&worlds[0], &machine, &on, &q, &v, speed);
        CHECK_NEAR(d[15], u.u1, dynamics_relative(d[15]));
        CHECK_NEAR(d[16], u.u2, dynamics_relative(d[16]));
        for (int reference = 0; reference < 2; reference++) {
            const HopperVector a = dynamics_acceleration(&worlds[reference], &q, &v, d[15], d[16]);
            const double got[5] = {a.x, a.z, a.a, a.b, a.l}, *want = d + 17 + 5 * reference;
            for (int i = 0; i < 5; i++) CHECK_NEAR(want[i], got[i], dynamics_relative(want[i]));
        }
        cases++;
    }
    if (file != NULL) fclose(file);
    CHECK_INTEGER(126, cases);
}

static double dynamics_momentum(const HopperWorld *world, const HopperVector *q, const HopperVector *v)
{
    const HopperParameters *p = &world->p;
    const HopperAngles s = hopper_angles(q->a, q->b);
    return p->m_l * (v->x + p->l_1 * v->a * s.cos_a) + p->m * hopper_body_speed(p, &s, q->l, v);
}

static double dynamics_energy(const HopperWorld *world, const HopperVector *q, const HopperVector *v)
{
    const HopperAngles s = hopper_angles(q->a, q->b);
    const HopperEnergy energy = hopper_energy(world, &s, q, v);
    return hopper_energy_total(&energy);
}

static HopperVector dynamics_add(const HopperVector *a, double h, const HopperVector *b)
{
    return (HopperVector){a->x + h * b->x, a->z + h * b->z, a->a + h * b->a, a->b + h * b->b, a->l + h * b->l};
}

// d/dt of a quantity of state along the flow, by a central difference
static double dynamics_rate(double (*quantity)(const HopperWorld *, const HopperVector *, const HopperVector *),
                            const HopperWorld *world, const HopperVector *q, const HopperVector *v,
                            const HopperVector *a)
{
    const double h = 1e-5;
    const HopperVector q1 = dynamics_add(q, h, v), q0 = dynamics_add(q, -h, v);
    const HopperVector v1 = dynamics_add(v, h, a), v0 = dynamics_add(v, -h, a);
    return (quantity(world, &q1, &v1) - quantity(world, &q0, &v0)) / (2.0 * h);
}

static const HopperVector dynamics_flying = {0.3, 0.6, 0.2, -0.1, 0.93}, dynamics_rates = {1.5, -0.7, 2.0, -0.4, 0.3};
static const HopperVector dynamics_standing = {0.3, -0.02, 0.2, -0.1, 0.93},
                          dynamics_stretched = {0.3, 0.6, 0.2, -0.1, 1.001};

TEST(hopper_keeps_horizontal_momentum_in_flight)
{
    const HopperVector *q = &dynamics_flying, *v = &dynamics_rates;
    const HopperWorld world = dynamics_world(false), reference = dynamics_world(true);
    const HopperVector a = dynamics_acceleration(&world, q, v, 20.0, 7.0);
    CHECK_NEAR(0.0, dynamics_rate(dynamics_momentum, &world, q, v, &a), 1e-7);
    // the reference's form breaks it by P_x = -2 m_l l_1 a'^2 sin a
    const HopperVector r = dynamics_acceleration(&reference, q, v, 20.0, 7.0);
    CHECK_NEAR(-2.0 * world.p.m_l * world.p.l_1 * 4.0 * sin(0.2),
               dynamics_rate(dynamics_momentum, &reference, q, v, &r), 1e-7);
}

TEST(hopper_energy_changes_by_the_power_of_other_forces)
{
    const HopperVector *const places[] = {&dynamics_flying, &dynamics_standing, &dynamics_stretched};
    for (int i = 0; i < 3; i++) {
        for (int reference = 0; reference < 2; reference++) {
            const HopperVector *q = places[i], *v = &dynamics_rates;
            const HopperWorld world = dynamics_world(reference != 0);
            const HopperRate rate = dynamics_rate_of(&world, q, v, 20.0, 7.0);
            CHECK_NEAR(hopper_power_total(&rate.step.power),
                       dynamics_rate(dynamics_energy, &world, q, v, &rate.acceleration), 1e-5);
        }
    }
}

// With l' = l'_n + h l'' the implicit law equals the explicit one, so an iterate's acceleration is the explicit one
// there.
TEST(hopper_implicit_leg_law_is_consistent)
{
    const HopperWorld world = dynamics_world(false);
    const double h = 5e-5;
    for (int i = 0; i < 2; i++) {
        const HopperLanes lanes = {.q = i == 0 ? dynamics_stretched : dynamics_flying, .v = dynamics_rates};
        const HopperAngles s = hopper_angles(lanes.q.a, lanes.q.b);
        const HopperControl control = {.u1 = 20.0, .u2 = 7.0};
        HopperIterate iterate = {.w = lanes.v};
        for (int k = 0; k < 20; k++)
            iterate = hopper_iterate_next(&world, &lanes, &s, &control, h, &iterate, no_lanes());
        const HopperVector middle = hopper_moved(&lanes.q, h, &iterate.w);
        const HopperVector a = dynamics_acceleration(&world, &middle, &iterate.w, control.u1, control.u2);
        CHECK_NEAR(a.l, iterate.acceleration.l, 1e-11 * fabs(a.l));
        CHECK_NEAR(a.x, iterate.acceleration.x, 1e-11 * fabs(a.x));
    }
}

// ---- variants -------------------------------------------------------------------------------------------------------

static HopperWorld dynamics_variants(int32_t variants)
{
    static const double points[] = {-1.0, 0.3, 0.2, -0.1, 0.9, 0.4, 2.0, 0.4};
    HopperWorld world = dynamics_world(false);
    world.full = true;
    world.c.variants = variants;
    world.c.n_points = 4;
    world.assets = points;
    world.p.terrain_start = 0.1;
    return world;
}

// The world with a terrain, all of whose parameters it has.
static HopperWorld dynamics_terrain(TerrainKind terrain)
{
    HopperWorld world = dynamics_variants(HOPPER_WITH_TERRAIN | (terrain == TERRAIN_slope ? TERRAIN_HAS_slope : 0));
    world.c.terrain = (int32_t)terrain;
    return world;
}

// The slope is the derivative of the height, the bend that of the slope. The foot's rate is the rate of its height over
// the ground. Every terrain is continuous.
TEST(hopper_ground_has_the_slope_that_it_says)
{
    for (int map = TERRAIN_flat + 1; map < CHOICE_COUNT(TERRAINS_ALONG); map++) {
        const HopperWorld world = dynamics_terrain((TerrainKind)map);
        double steepest = 0.0;
        for (double x = -1.5; x < 3.0; x += 0.0137) {
            const double h = 1e-6;
            const Terrain before = hopper_terrain(&world, x - h), after = hopper_terrain(&world, x + h);
            const Terrain ground = hopper_terrain(&world, x);
            const HopperFoot foot = hopper_foot(&world, x, 0.7, 1.5, -0.3);
            CHECK_NEAR((after.height - before.height) / (2.0 * h), ground.slope, 1e-5);
            CHECK_NEAR((after.slope - before.slope) / (2.0 * h), ground.bend, 1e-3);
            CHECK_NEAR(0.7 - ground.height, foot.height, 1e-15);
            CHECK_NEAR(-0.3 - 1.5 * ground.slope, foot.rate, 1e-15);
            steepest = fmax(steepest, fabs(ground.slope));
        }
        CHECK(steepest > 0.04);
    }
    const HopperWorld stairs = dynamics_terrain(TERRAIN_steps), table = dynamics_terrain(TERRAIN_table);
    CHECK_NEAR(0.0, hopper_terrain(&stairs, 0.99).height, 0.0); // steps of 1 m from 0.1 m on, riser: the last 0.1 m
    CHECK_NEAR(0.02, hopper_terrain(&stairs, 1.1).height, 1e-15);
    CHECK_NEAR(0.06, hopper_terrain(&stairs, 3.5).height, 1e-15);
    CHECK_NEAR(0.3, hopper_terrain(&table, -7.0).height, 0.0);
    CHECK_NEAR(-0.1 + 0.5 / 0.7 * 0.35, hopper_terrain(&table, 0.55).height, 1e-15);
    CHECK_NEAR(0.4, hopper_terrain(&table, 1e9).height, 0.0);
}

// External forces change the momentum. The power of the forces that the energy does not contain changes the energy.
TEST(hopper_disturbances_obey_the_laws_of_momentum_and_energy)
{
    const HopperVector *const places[] = {&dynamics_flying, &dynamics_standing, &dynamics_stretched};
    HopperWorld world = dynamics_terrain(TERRAIN_sine);
    world.c.variants |= HOPPER_WITH_WIND | HOPPER_WITH_GUSTS;
    world.p.terrain_height = 0.05; // the standing foot is in the ground
    const HopperControl control = {.u1 = 20.0, .u2 = 7.0, .push = 31.0, .t = 0.4};
    for (int i = 0; i < 3; i++) {
        const HopperVector *q = places[i], *v = &dynamics_rates;
        const HopperAngles s = hopper_angles(q->a, q->b);
        const double speed = hopper_body_speed(&world.p, &s, q->l, v);
        const double relative = -3.0 + 2.0 * sin(2.0 * 3.141592653589793 * 0.4 / 3.0) - speed;
        const HopperRate rate = hopper_rate_at(&world, &s, q, v, &control);
        const HopperFoot foot = hopper_foot(&world, q->x, q->z, v->x, v->z);
        const HopperContact contact = hopper_contact(&world.p, &foot, q->l);
        const HopperForces forces = hopper_forces(&world, &s, &contact, &foot, control.push, q->l, v, control.t);
        CHECK_NEAR(31.0 + 0.5 * fabs(relative) * relative, forces.F_b, 1e-12);
        CHECK_NEAR(forces.F_b + forces.F_x, dynamics_rate(dynamics_momentum, &world, q, v, &rate.acceleration), 1e-6);
        CHECK_NEAR(hopper_power_total(&rate.step.power),
                   dynamics_rate(dynamics_energy, &world, q, v, &rate.acceleration), 1e-5);
    }
}

TEST(hopper_pushes_keep_their_times)
{
    HopperWorld world = dynamics_variants(HOPPER_WITH_TIMED_PUSH); // 5 N s at 2 s for 0.1 s
    CHECK_NEAR(0.0, hopper_push(&world, 1.999), 0.0);
    CHECK_NEAR(50.0, hopper_push(&world, 2.0), 1e-12);
    CHECK_NEAR(50.0, hopper_push(&world, 2.0999), 1e-12);
    CHECK_NEAR(0.0, hopper_push(&world, 2.1), 0.0);
    CHECK_NEAR(2.0, hopper_push_edge(&world, 0.0), 0.0);
    CHECK_NEAR(2.1, hopper_push_edge(&world, 2.0), 1e-15);
    CHECK(hopper_push_edge(&world, 2.1) > 1e300);
    world = dynamics_variants(HOPPER_WITH_RANDOM_PUSHES); // once per second, but not at 0
    world.p.lane_seed = 11.0;
    double sum = 0.0, sum2 = 0.0;
    for (int k = 1; k <= 4000; k++) {
        const double force = hopper_push(&world, k + 0.05);
        sum += 0.1 * force;
        sum2 += 0.01 * force * force;
        CHECK_NEAR(0.0, hopper_push(&world, k + 0.15), 0.0);
        CHECK_NEAR(k + 0.1, hopper_push_edge(&world, k), 1e-9);
        CHECK_NEAR(k + 1.0, hopper_push_edge(&world, k + 0.5), 1e-9);
    }
    CHECK_NEAR(0.0, hopper_push(&world, 0.05), 0.0);
    CHECK_NEAR(0.0, sum / 4000.0, 0.12); // N s; 2 / sqrt(4000) = 0.03
    CHECK_NEAR(2.0, sqrt(sum2 / 4000.0), 0.1);
}
