// Random mechanisms some of whose rows follow from others all the time (mechanisms.h), against their motion in one
// coordinate. MECHANISMS=167 takes 167 of each kind instead of a few: `make mechanisms`.
#include "mechanisms.h"
#include "rigid_case.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LANES_OF_ONE = 3 };
#define DURATION 3.0

static const double mechanisms_gravity[LANES_OF_ONE] = {9.81, 3.7, 0.0}; // m/s^2, per lane

static int mechanisms_wanted(void)
{
    const char *given = getenv("MECHANISMS");
    return given != NULL ? atoi(given) : 1;
}

static void mechanisms_load(RigidRun *run, const Mechanism *mechanism, const char *options, int64_t lanes,
                            const char *isa)
{
    Arena arena;
    CHECK_OK(arena_create(&arena, 1 << 24, "a mechanism"));
    rigid_start(
        run,
        arena_format(&arena, "{duration: %g, dt: 0.001, %s%s}", DURATION, options, mechanism_world(mechanism, &arena)),
        "", lanes, isa);
    arena_destroy(&arena);
}

static void mechanisms_start(RigidRun *run, const Mechanism *mechanism, const char *options)
{
    mechanisms_load(run, mechanism, options, LANES_OF_ONE, "auto");
    for (int64_t lane = 0; lane < LANES_OF_ONE; lane++) rigid_set(run, "gravity", lane, mechanisms_gravity[lane]);
    rigid_go(run, 1700);
}

// Largest distance of a link from its reference position (m).
static double mechanisms_error(const RigidRun *run, int64_t lane, const Mechanism *mechanism, const MechanismMotion *to)
{
    double error = 0.0;
    for (int k = 0; k < mechanism->n_links; k++) {
        for (int c = 0; c < 3; c++) {
            char name[40];
            snprintf(name, sizeof name, "link%d_end_%c", k, "xyz"[c]);
            const double off = fabs(rigid_metric(run, name, lane) - to->p[k][c]);
            error = off <= error ? error : off; // keeps a NaN
        }
    }
    return error;
}

typedef struct MechanismsCount {
    int lanes, undecided, wrong, unreported, failed;
} MechanismsCount;

// Nothing is counted where the motion comes near a pose from which two motions continue: the reference cannot follow it
// there.
static void mechanisms_count(const RigidRun *run, const Mechanism *mechanism, const MechanismMotion *to,
                             MechanismsCount *count)
{
    for (int64_t lane = 0; lane < LANES_OF_ONE; lane++) {
        count->undecided += !to[lane].exact;
        if (!to[lane].exact) continue;
        const bool failed = run->batch->status[lane] != LANE_DONE;
        const double error = mechanisms_error(run, lane, mechanism, &to[lane]);
        const bool wrong = !(error < 1e-3);
        count->lanes++;
        count->failed += failed;
        count->wrong += wrong;
        count->unreported += wrong && !failed;
        if (wrong && !failed)
            printf("%s: off by %g m, nothing reported: |C| %g, energy %g J off, least singular value %g\n",
                   mechanism_names[mechanism->kind], error, rigid_metric(run, "error_max", lane),
                   rigid_metric(run, "energy_error", lane), to[lane].least);
    }
}

static void mechanisms_check(MechanismKind kind, int wanted)
{
    uint64_t state = 77 + (uint64_t)kind;
    MechanismsCount shared = {0}, trees = {0}, dropped = {0};
    for (int k = 0; k < wanted; k++) {
        Mechanism mechanism;
        MechanismMotion to[LANES_OF_ONE];
        RigidRun run;
        mechanism_draw(kind, &state, &mechanism);
        for (int lane = 0; lane < LANES_OF_ONE; lane++)
            mechanism_move(&mechanism, mechanisms_gravity[lane], DURATION, &to[lane]);
        mechanisms_start(&run, &mechanism, "stabilisation: rattle, ");
        mechanisms_count(&run, &mechanism, to, &shared);
        for (int64_t lane = 0; lane < LANES_OF_ONE; lane++)
            CHECK(!to[lane].exact || rigid_metric(&run, "error_max", lane) < 1e-12);
        rigid_end(&run);
        if ((k + (int)kind) % 2 == 0) {
            mechanisms_start(&run, &mechanism, "stabilisation: rattle, solver: trees, ");
            mechanisms_count(&run, &mechanism, to, &trees);
            rigid_end(&run);
        } else {
            mechanisms_start(&run, &mechanism, "stabilisation: rattle, redundant: drop, ");
            mechanisms_count(&run, &mechanism, to, &dropped);
            rigid_end(&run);
        }
    }
    printf("%s: %d of %d wrong; by trees %d of %d; with rows dropped %d of %d, %d reported\n", mechanism_names[kind],
           shared.wrong, shared.lanes, trees.wrong, trees.lanes, dropped.wrong, dropped.lanes, dropped.failed);
    if (shared.undecided > 0) printf("%d undecided\n", shared.undecided);
    CHECK(shared.undecided <= wanted / 20);
    CHECK_INTEGER(0, shared.wrong);
    CHECK_INTEGER(0, shared.failed);
    CHECK_INTEGER(0, trees.wrong);
    CHECK_INTEGER(0, trees.failed);
    CHECK_INTEGER(0, dropped.unreported);
}

TEST(rigid_mechanisms_of_four_hinges)
{
    mechanisms_check(MECHANISM_BENNETT, mechanisms_wanted());
    mechanisms_check(MECHANISM_PLANAR, mechanisms_wanted());
    mechanisms_check(MECHANISM_SPHERICAL, mechanisms_wanted());
}

TEST(rigid_mechanisms_of_six_hinges)
{
    mechanisms_check(MECHANISM_TRIHEDRAL, mechanisms_wanted());
    if (!test_quick()) mechanisms_check(MECHANISM_SYMMETRIC, mechanisms_wanted()); // three more are near singular poses
}

TEST(rigid_mechanisms_with_too_many_hinges) { mechanisms_check(MECHANISM_DOOR, mechanisms_wanted()); }

// Other lanes, with steps refined at other times, change nothing.
static void mechanisms_check_alone(const RigidRun *run, const Mechanism *mechanism)
{
    for (int64_t lane = 0; lane < 2; lane++) {
        RigidRun alone;
        mechanisms_load(&alone, mechanism, "stabilisation: rattle, ", 1, "scalar");
        rigid_set(&alone, "gravity", 0, mechanisms_gravity[lane]);
        rigid_go(&alone, 777);
        for (int m = 0; m < run->spec.configured.n_metrics; m++)
            CHECK_BITS(alone.batch->metric[m * alone.batch->stride], run->batch->metric[m * run->batch->stride + lane]);
        rigid_end(&alone);
    }
}

// Symmetric Bricards that come within 1e-3 of a singular pose. The matrix factors of a step's start are no longer
// useful at its end, so the step is divided.
TEST(rigid_mechanisms_near_singular_poses)
{
    static const int draws[] = {92, 104, 131};
    uint64_t state = 77 + (uint64_t)MECHANISM_SYMMETRIC;
    MechanismsCount count = {0};
    double refined = 0.0;
    for (int k = 0, d = 0; d < 3; k++) {
        Mechanism mechanism;
        MechanismMotion to[LANES_OF_ONE];
        RigidRun run;
        mechanism_draw(MECHANISM_SYMMETRIC, &state, &mechanism);
        if (k != draws[d]) continue;
        for (int lane = 0; lane < LANES_OF_ONE; lane++)
            mechanism_move(&mechanism, mechanisms_gravity[lane], DURATION, &to[lane]);
        mechanisms_start(&run, &mechanism,
                         d++ == 0 ? "stabilisation: rattle, solver: trees, " : "stabilisation: rattle, ");
        mechanisms_count(&run, &mechanism, to, &count);
        for (int64_t lane = 0; lane < LANES_OF_ONE; lane++) refined += rigid_metric(&run, "refined_steps", lane);
        if (d == 3) mechanisms_check_alone(&run, &mechanism);
        rigid_end(&run);
    }
    CHECK(count.lanes >= 7);
    CHECK_INTEGER(0, count.wrong);
    CHECK_INTEGER(0, count.failed);
    CHECK(refined > 0.0 && refined < 100.0);
}

// Spherical linkages with rows left out: the steps meet the constraints, but the linkage drifts by 2 mm, because a
// dependent row is kept due to rounding.
TEST(rigid_mechanisms_that_keep_rows_by_rounding_are_reported)
{
    static const int draws[] = {37, 143};
    uint64_t state = 77 + (uint64_t)MECHANISM_SPHERICAL;
    MechanismsCount count = {0};
    for (int k = 0, d = 0; d < 2; k++) {
        Mechanism mechanism;
        MechanismMotion to[LANES_OF_ONE];
        RigidRun run;
        mechanism_draw(MECHANISM_SPHERICAL, &state, &mechanism);
        if (k != draws[d]) continue;
        for (int lane = 0; lane < LANES_OF_ONE; lane++)
            mechanism_move(&mechanism, mechanisms_gravity[lane], DURATION, &to[lane]);
        mechanisms_start(&run, &mechanism, "stabilisation: rattle, redundant: drop, ");
        mechanisms_count(&run, &mechanism, to, &count);
        rigid_end(&run);
        d++;
    }
    CHECK_INTEGER(0, count.unreported);
    CHECK(count.failed >= 3);
}

// Rows that are met only roughly still count as dependent: nothing jumps, and the multipliers are those of exact rows.
TEST(rigid_mechanisms_that_drift)
{
    static const MechanismKind kinds[] = {MECHANISM_BENNETT, MECHANISM_SPHERICAL, MECHANISM_SYMMETRIC};
    for (int k = 0; k < 3; k++) {
        uint64_t state = 77 + (uint64_t)kinds[k];
        Mechanism mechanism;
        RigidRun exact, rough;
        mechanism_draw(kinds[k], &state, &mechanism);
        mechanisms_start(&exact, &mechanism, "stabilisation: rattle, ");
        mechanisms_start(&rough, &mechanism, "");
        for (int64_t lane = 0; lane < LANES_OF_ONE; lane++) {
            const double most = rigid_metric(&exact, "multiplier_max", lane);
            CHECK_INTEGER(LANE_DONE, rough.batch->status[lane]);
            CHECK(rigid_metric(&rough, "error_max", lane) > 1e-8 && rigid_metric(&rough, "error_max", lane) < 1e-2);
            CHECK(rigid_metric(&rough, "multiplier_max", lane) < 20.0 * most);
        }
        rigid_end(&exact);
        rigid_end(&rough);
    }
}

// A weight hangs on the same hook twice: each constraint bears half; with `drop` the first one bears all.
TEST(rigid_dependent_rows_share_the_load)
{
    static const char *const options[] = {"", "redundant: drop, ", "solver: trees, "};
    for (int k = 0; k < 3; k++) {
        RigidRun run;
        char simulation[500];
        snprintf(simulation, sizeof simulation,
                 "{dt: 0.01, duration: 0.05, %sworld: {bodies: [{name: weight, mass: 2, position: [0, 0, -1]}], "
                 "constraints: [{name: one, type: ball, a: weight, at_a: [0, 0, 1]}, {name: other, type: ball, a: "
                 "weight, at_a: [0, 0, 1]}]}}",
                 options[k]);
        rigid_start_observed(&run, simulation, 2, "auto", 6, 6);
        rigid_go(&run, 10);
        const double *one = rigid_debug_row(&run, 1, 2), *other = rigid_debug_row(&run, 1, 5);
        CHECK_NEAR(k == 1 ? 19.62 : 9.81, one[5], 1e-9);
        CHECK_NEAR(k == 1 ? 0.0 : 9.81, other[5], 1e-9);
        CHECK_BITS(3.0, rigid_metric(&run, "redundant_rows", 1));
        rigid_end(&run);
    }
}

// With rows dropped, both solvers keep the same rows: they meet the same end.
TEST(rigid_mechanisms_that_drop_rows_have_one_verdict)
{
    const int wanted = test_quick() ? 1 : 4 * mechanisms_wanted();
    int lanes = 0, failed = 0, differ = 0;
    for (int kind = 0; kind < MECHANISM_KINDS; kind++) {
        uint64_t state = 77 + (uint64_t)kind;
        for (int k = 0; k < wanted; k++) {
            Mechanism mechanism;
            RigidRun run[2];
            mechanism_draw((MechanismKind)kind, &state, &mechanism);
            mechanisms_start(&run[0], &mechanism, "stabilisation: rattle, redundant: drop, solver: trees, ");
            mechanisms_start(&run[1], &mechanism, "stabilisation: rattle, redundant: drop, solver: skyline, ");
            for (int64_t lane = 0; lane < LANES_OF_ONE; lane++) {
                const int by_trees = run[0].batch->status[lane], by_skyline = run[1].batch->status[lane];
                lanes++;
                failed += by_trees != LANE_DONE;
                differ += by_trees != by_skyline;
                if (by_trees != by_skyline)
                    printf("%s %d: %d by trees at %g s, %d by skyline at %g s\n", mechanism_names[kind], k, by_trees,
                           rigid_metric(&run[0], "survived", lane), by_skyline,
                           rigid_metric(&run[1], "survived", lane));
            }
            rigid_end(&run[0]);
            rigid_end(&run[1]);
        }
    }
    printf("rows dropped: %d of %d fail, %d by one solver only\n", failed, lanes, differ);
    CHECK_INTEGER(0, differ);
}
