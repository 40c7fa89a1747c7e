// Forces on rigid bodies besides constraints, each against a few lines of the same law for one mass on a line, or
// against a published number; and the touchdown of a body.
#include "rigid_case.h"

#include <math.h>
#include <stdio.h>

// Acceleration of a load of 1 kg over the first step of 0.125 s, from its position at the end.
static double forces_first_acceleration(const char *simulation, double z, double v)
{
    RigidRun run;
    rigid_run(&run, simulation, "");
    const double h = 0.125, end = rigid_metric(&run, "load_end_z", 0);
    rigid_end(&run);
    return ((end - z) / h - v) / h;
}

static double forces_density(double z)
{
    char simulation[500];
    snprintf(simulation, sizeof simulation,
             "{air: isa, dt: 0.125, duration: 0.125, world: {bodies: [{name: load, position: [0, 0, %.17g], velocity: "
             "[0, 0, -100]}], forces: [{name: air, type: drag, a: load, area: 0.1}]}}",
             z);
    return 2.0 * (forces_first_acceleration(simulation, z, -100.0) + 9.81) / (0.1 * 100.0 * 100.0);
}

// Table values of ISO 2533 at geopotential heights.
TEST(rigid_standard_atmosphere)
{
    static const double heights[] = {-5000, -2000, 0, 1000, 5000, 11000, 15000, 20000};
    static const double densities[] = {1.93047, 1.47808, 1.225, 1.11164, 0.736116, 0.363918, 0.193674, 0.0880349};
    for (int i = 0; i < 8; i++) CHECK_NEAR(densities[i], forces_density(heights[i]), 6e-5 * densities[i]);
}

// The ends of the atmosphere: constant below -5 km, where the table begins; at 11 km a power of the height meets an
// exponential; no air far above.
TEST(rigid_ends_of_the_standard_atmosphere)
{
    const double top = 1.225 * pow(1.0 - 0.0065 / 288.15 * 11000.0, 4.2558797);
    for (int i = 1; i <= 3; i++) CHECK_NEAR(forces_density(-5000.0), forces_density(-5000.0 - 100.0 * i * i), 1e-9);
    CHECK(forces_density(-4990.0) < forces_density(-5000.0) - 1e-3);
    for (int i = -8; i <= 8; i += 4) {
        const double z = 11000.0 + i;
        const double below = 1.225 * pow(1.0 - 0.0065 / 288.15 * z, 4.2558797);
        CHECK_NEAR(i < 0 ? below : top * exp(-(double)i / 6341.62), forces_density(z), 1e-10);
    }
    CHECK_NEAR(0.0, forces_density(1e6), 1e-10); // heights near 1000 km limit the precision
}

// A body that moves with the wind feels no wind. A body at rest in the wind is pushed like a body that moves through
// calm air.
TEST(rigid_wind)
{
    RigidRun run;
    rigid_run(&run,
              "{duration: 1, world: {bodies: [{name: load, gravity: false, velocity: [3, -2, 1]}], forces: [{name: "
              "air, type: drag, a: load, area: 1, linear: 2}]}}",
              "parameters: {wind_x: 3, wind_y: -2, wind_z: 1}");
    CHECK_NEAR(3.0, rigid_metric(&run, "load_end_x", 0), 1e-12);
    CHECK_NEAR(-2.0, rigid_metric(&run, "load_end_y", 0), 1e-12);
    CHECK_NEAR(1.0, rigid_metric(&run, "load_end_z", 0), 1e-12);
    rigid_end(&run);
    double x[2];
    for (int i = 0; i < 2; i++) {
        rigid_run(&run,
                  i == 0
                      ? "{duration: 1, world: {bodies: [{name: load, gravity: false, velocity: [-4, 0, 0]}], forces: "
                        "[{name: air, type: drag, a: load, area: 1, linear: 2}]}}"
                      : "{duration: 1, world: {bodies: [{name: load, gravity: false}], forces: [{name: air, type: "
                        "drag, a: load, area: 1, linear: 2}]}}",
                  i == 0 ? "" : "parameters: {wind_x: 4}");
        x[i] = rigid_metric(&run, "load_end_x", 0);
        rigid_end(&run);
    }
    CHECK_NEAR(4.0 + x[0], x[1], 1e-12);
}

// ---- pushes at points of a spinning body ----------------------------------------------------------------------------

// The first step of 0.125 s of a load of 1 kg that spins at 4 rad/s about y. Forces act at a point 1 m above its
// centre.
TEST(rigid_forces_act_where_the_spin_takes_them)
{
    static const struct {
        const char *force;
        double x; // N
    } cases[] = {{"type: push, a: load, force: [3, 0, 0]", 3.0},
                 {"type: drag, a: load, at_a: [0, 0, 1], linear: 2", -8.0},
                 {"type: spring, a: load, at_a: [0, 0, 1], at_b: [5, 0, 1], length: 5, damping: 2", -8.0}};
    for (int i = 0; i < 3; i++) {
        RigidRun run;
        char simulation[500];
        snprintf(
            simulation, sizeof simulation,
            "{dt: 0.125, duration: 0.125, world: {bodies: [{name: load, gravity: false, spin: [0, 4, 0]}], forces: "
            "[{name: f, %s}]}}",
            cases[i].force);
        rigid_run(&run, simulation, "");
        CHECK_NEAR(0.125 * 0.125 * cases[i].x, rigid_metric(&run, "load_end_x", 0), 1e-15);
        rigid_end(&run);
    }
}

// A torque of 1 N m about x gives the angular velocity h (I^-1)_xx, with all six numbers of I.
TEST(rigid_torques_turn_by_the_whole_inertia)
{
    RigidRun run;
    const double xx = 2.0, yy = 3.0, zz = 4.0, xy = 0.3, xz = 0.2, yz = 0.9, h = 1e-3;
    const double minor = yy * zz - yz * yz;
    const double determinant = xx * minor - xy * (xy * zz - yz * xz) + xz * (xy * yz - yy * xz);
    rigid_run(&run,
              "{dt: 0.001, duration: 0.001, world: {bodies: [{name: load, gravity: false, inertia: [2, 3, 4, 0.3, 0.2, "
              "0.9]}], forces: [{name: f, type: push, a: load, torque: [1, 0, 0]}]}}",
              "");
    CHECK_NEAR(0.5 * h * h * minor / determinant, rigid_metric(&run, "energy_end", 0), 1e-12);
    rigid_end(&run);
}

// ---- a parachute ----------------------------------------------------------------------------------------------------

typedef struct ForcesCanopy {
    const char *trigger, *opening;
    double speed, altitude; // trigger values
} ForcesCanopy;

// The fall from 100 m in steps of 1 ms for 2 s, by the equation of motion: Cd A = 0.1 m^2 before opening, 3 m^2 after.
static double forces_fall(const ForcesCanopy *canopy)
{
    const double h = 1e-3, m = 5.0, packed = 0.1, open = 3.0, rate = 4.0;
    double z = 100.0, v = -5.0, since = -1.0;
    for (int step = 0; step < 2000; step++) {
        const double t = step * h;
        if (since < 0.0 && (fabs(v) > canopy->speed || z < canopy->altitude)) since = t;
        const double s = tanh(rate * (t - since)), part = canopy->opening[0] == 'o' ? 0.5 * (1.0 + s) : s;
        const double area = since < 0.0 ? packed : packed + (open - packed) * part;
        v += h * (-9.81 + 0.5 * 1.225 * area * v * v / m);
        z += h * v;
    }
    return z;
}

TEST(rigid_parachute_opens_by_speed_and_by_altitude)
{
    static const ForcesCanopy canopies[] = {{"speed: 12", "smooth", 12, -INFINITY},
                                            {"speed: 12", "original", 12, -INFINITY},
                                            {"altitude: 95", "smooth", INFINITY, 95},
                                            {"altitude: 95", "original", INFINITY, 95}};
    for (int i = 0; i < 4; i++) {
        RigidRun run;
        char simulation[600];
        snprintf(simulation, sizeof simulation,
                 "{dt: 0.001, duration: 2, world: {bodies: [{name: load, mass: 5, position: [0, 0, 100], velocity: "
                 "[0, 0, -5]}], forces: [{name: canopy, type: parachute, a: load, packed: 0.1, area: 3, rate: 4, %s, "
                 "opening: %s}]}}",
                 canopies[i].trigger, canopies[i].opening);
        rigid_run(&run, simulation, "");
        CHECK_NEAR(forces_fall(&canopies[i]), rigid_metric(&run, "load_end_z", 0), 1e-11);
        rigid_end(&run);
    }
}

// ---- springs and tethers --------------------------------------------------------------------------------------------

// A mass of 1 kg on a line of 1 m, 1000 N/m and 10 N s/m; it starts at half that length and moves for 1 s.
static double forces_line(bool pushes)
{
    const double h = 1e-3;
    double z = -0.5, v = 0.0;
    for (int step = 0; step < 1000; step++) {
        const double stretch = -z - 1.0, pull = 1000.0 * stretch - 10.0 * v;
        const bool slack = stretch <= 0.0 || pull <= 0.0;
        v += h * (-9.81 + (pushes || !slack ? pull : 0.0));
        z += h * v;
    }
    return z;
}

TEST(rigid_tether_only_pulls_and_a_spring_pushes_too)
{
    for (int pushes = 0; pushes < 2; pushes++) {
        RigidRun run;
        char simulation[500];
        snprintf(simulation, sizeof simulation,
                 "{dt: 0.001, duration: 1, world: {bodies: [{name: load, position: [0, 0, -0.5]}], forces: [{name: "
                 "line, type: %s, a: load, at_b: [0, 0, 0], stiffness: 1000, damping: 10, length: 1}]}}",
                 pushes ? "spring" : "tether");
        rigid_run(&run, simulation, "");
        CHECK_NEAR(forces_line(pushes), rigid_metric(&run, "load_end_z", 0), 1e-11);
        rigid_end(&run);
    }
}

// ---- touchdown ------------------------------------------------------------------------------------------------------

#define FORCES_DROP                                                                                                    \
    "{stabilisation: rattle, dt: 0.03, duration: 3, world: {bodies: [{name: load, position: [0, 0, 10], velocity: "    \
    "[0, 0, 3]}]}}"

// Steps of rattle stay on the parabola, so the root of the cubic through two of them is the parabola's root.
TEST(rigid_touchdown_is_located_within_the_step)
{
    RigidRun run;
    rigid_run(&run, FORCES_DROP, "");
    CHECK_NEAR((3.0 + sqrt(9.0 + 2.0 * 9.81 * 10.0)) / 9.81, rigid_metric(&run, "touchdown", 0), 1e-13);
    rigid_end(&run);
}

// A lane that diverges at once does not affect the other lanes of its vector.
TEST(rigid_lanes_are_independent_of_diverged_neighbours)
{
    RigidRun run;
    rigid_start(&run, FORCES_DROP, "", 3, "auto");
    rigid_set(&run, "load_vx", 1, INFINITY);
    rigid_set(&run, "load_vz", 2, 30.0);
    rigid_go(&run, 1000);
    CHECK_INTEGER(LANE_DONE + 1, run.batch->status[1]);
    CHECK_NEAR((3.0 + sqrt(9.0 + 2.0 * 9.81 * 10.0)) / 9.81, rigid_metric(&run, "touchdown", 0), 1e-13);
    CHECK_BITS(3.0, rigid_metric(&run, "touchdown", 2));
    CHECK_BITS(3.0, rigid_metric(&run, "survived", 0));
    rigid_end(&run);
}
