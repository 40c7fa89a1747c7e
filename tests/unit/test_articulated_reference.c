// The metric reference_error: against a computation of its own from a trajectory; the same bits everywhere.
#include "articulated_hand.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { REFERENCE_STEPS = 50, REFERENCE_LANES = 9 };
#define REFERENCE_DT 2e-3

// A random robot of 8 bodies that falls on its feet, with a gait; `samples` of each lane are traced.
static ArticulatedSetup reference_setup(Arena *arena, int64_t samples)
{
    static Robot robot;
    uint64_t state = 4;
    robot = random_robot(&state, 8, arena);
    random_robot_feet(&robot, arena);
    return (ArticulatedSetup){
        .robot = &robot,
        .settings = {{"dt", REFERENCE_DT}, {"duration", REFERENCE_DT * REFERENCE_STEPS}, {"control.mode", 1}},
        .parameters = {{"base_z", 0.1}, {"base_vx", 0.3}, {"all_amplitude", 0.3}, {"all_kp", 20.0}, {"all_kd", 0.5}},
        .lanes = REFERENCE_LANES,
        .samples = samples};
}

static void reference_run(ArticulatedCase *test, const ArticulatedSetup *setup, int64_t slice)
{
    articulated_start(test, setup);
    for (int64_t lane = 0; lane < setup->lanes; lane++)
        articulated_set(test, "base_vx", lane, 0.3 + 0.1 * (double)lane);
    articulated_go(test, slice);
}

// As the metric's definition says, from the samples of a lane.
static double reference_expected(const ArticulatedCase *run, int64_t lane, const Points *record, bool scaled)
{
    const int64_t n = record->columns, rows = record->count / n;
    const Trace *trace = &run->batch->trace;
    double sum = 0.0;
    for (int64_t c = 1; c < n; c++) {
        double mean = 0.0, squares = 0.0;
        for (int64_t r = 0; r < rows; r++) mean += record->numbers[r * n + c] / (double)rows;
        for (int64_t r = 0; r < rows; r++) squares += pow(record->numbers[r * n + c] - mean, 2);
        const double scale = scaled ? fmax(sqrt(squares / (double)rows), 1e-3) : 1.0;
        for (int64_t r = 0; r < rows; r++) {
            const double at = record->numbers[r * n] / REFERENCE_DT;
            const int64_t below = (int64_t)floor(at + 1e-9), above = below < REFERENCE_STEPS ? below + 1 : below;
            const double *sample = trace->sample + lane * trace->capacity * n + c;
            const double part = at - (double)below;
            const double value = (1 - part) * sample[below * n] + part * sample[above * n];
            sum += pow((value - record->numbers[r * n + c]) / scale, 2);
        }
    }
    return sqrt(sum / (double)(rows * (n - 1)));
}

// The samples of lane 0 as a record.
static Points reference_of_lane(const ArticulatedCase *run, Arena *arena)
{
    const Configured *configured = &run->configured;
    const int n = configured->n_columns;
    const char **names = ARENA_NEW(arena, const char *, n);
    double *numbers = ARENA_NEW(arena, double, (REFERENCE_STEPS + 1) * n);
    for (int c = 0; c < n; c++) names[c] = arena_copy(arena, configured->columns[c].name);
    memcpy(numbers, run->batch->trace.sample, sizeof *numbers * (size_t)((REFERENCE_STEPS + 1) * n));
    return (Points){.count = (REFERENCE_STEPS + 1) * n, .columns = n, .numbers = numbers, .names = names};
}

TEST(articulated_reference_by_its_definition)
{
    Arena arena;
    ArticulatedCase run, compared;
    if (arena_create(&arena, (size_t)1 << 24, "a test").kind != OK) abort();
    ArticulatedSetup setup = reference_setup(&arena, REFERENCE_STEPS + 1);
    reference_run(&run, &setup, 1000);
    CHECK(run.configured.n_metrics == ARTICULATED_N_METRICS);
    const double apart[] = {1.0, 1.7, 0.3, 7.0};
    for (int k = 0; k < 4; k++) {
        const int rows = (int)(REFERENCE_STEPS / apart[k]) + 1;
        const Points record = articulated_record(&setup, rows, apart[k], &arena);
        setup.settings[3] = (ArticulatedValue){"reference_scale", k % 2};
        setup.reference = &record;
        reference_run(&compared, &setup, 1000);
        for (int64_t lane = 0; lane < REFERENCE_LANES; lane++) {
            const double expected = reference_expected(&run, lane, &record, k % 2 == 0);
            CHECK_NEAR(expected, articulated_got(&compared, "reference_error", lane), 1e-11 * expected);
        }
        articulated_end(&compared);
        setup.reference = NULL;
    }
    articulated_end(&run);
    arena_destroy(&arena);
}

// A lane compared with its own samples: exactly 0, and another lane not. Quaternions of the other sign are the same.
TEST(articulated_reference_of_itself)
{
    Arena arena;
    ArticulatedCase run, compared;
    if (arena_create(&arena, (size_t)1 << 24, "a test").kind != OK) abort();
    ArticulatedSetup setup = reference_setup(&arena, REFERENCE_STEPS + 1);
    reference_run(&run, &setup, 1000);
    const Points record = reference_of_lane(&run, &arena);
    setup.reference = &record;
    for (int turned = 0; turned < 2; turned++) {
        for (int64_t r = 0; r <= REFERENCE_STEPS && turned > 0; r += 1 + r % 3) {
            for (int c = 4; c < 8; c++) ((double *)record.numbers)[r * record.columns + c] *= -1;
        }
        reference_run(&compared, &setup, 1000);
        CHECK_BITS(0.0, articulated_got(&compared, "reference_error", 0));
        CHECK(articulated_got(&compared, "reference_error", 1) > 1e-3);
        CHECK_BITS(articulated_got(&run, "distance", 1), articulated_got(&compared, "distance", 1));
        articulated_end(&compared);
    }
    articulated_end(&run);
    arena_destroy(&arena);
}

TEST(articulated_reference_bits)
{
    static const struct {
        const char *isa;
        int64_t slice, samples;
    } ways[] = {{ISA_V2, 1000, 0}, {ISA_V3, 7, 0}, {ISA_V4, 1, 0}, {"scalar", 7, 0}, {"auto", 3, REFERENCE_STEPS + 1}};
    Arena arena;
    ArticulatedCase first, other;
    if (arena_create(&arena, (size_t)1 << 24, "a test").kind != OK) abort();
    ArticulatedSetup setup = reference_setup(&arena, 0);
    const Points record = articulated_record(&setup, 30, 1.45, &arena);
    setup.reference = &record;
    reference_run(&first, &setup, 1000);
    for (size_t k = 0; k < sizeof ways / sizeof *ways; k++) {
        if (strcmp(ways[k].isa, ISA_V4) == 0 && !test_has_isa(ISA_V4)) continue;
        setup.isa = ways[k].isa;
        setup.samples = ways[k].samples;
        reference_run(&other, &setup, ways[k].slice);
        for (int64_t lane = 0; lane < REFERENCE_LANES; lane++)
            CHECK_BITS(articulated_got(&first, "reference_error", lane),
                       articulated_got(&other, "reference_error", lane));
        articulated_end(&other);
    }
    articulated_end(&first);
    arena_destroy(&arena);
}

// A lane that ends early has the rows so far, and none if it ends before the first.
TEST(articulated_reference_of_a_fall)
{
    Arena arena;
    ArticulatedCase test;
    if (arena_create(&arena, (size_t)1 << 24, "a test").kind != OK) abort();
    ArticulatedSetup setup = reference_setup(&arena, 0);
    Points record = articulated_record(&setup, 30, 1.0, &arena);
    setup.reference = &record;
    setup.parameters[5] = (ArticulatedValue){"fall_height", 100.0};
    reference_run(&test, &setup, 1000);
    CHECK(articulated_failed(&test, 0) == ARTICULATED_FELL);
    CHECK(articulated_got(&test, "reference_error", 0) > 0.0);
    articulated_end(&test);
    record.numbers += 10 * record.columns;
    record.count -= 10 * record.columns;
    reference_run(&test, &setup, 1000);
    CHECK(isnan(articulated_got(&test, "reference_error", 0)));
    articulated_end(&test);
    arena_destroy(&arena);
}
