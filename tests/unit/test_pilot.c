// The pilot of a run: the fraction of trials that it runs, its time, and the confidence of its estimates.
#include "../../runner/campaign/batch/batch_size.h"
#include "../../runner/campaign/plan/pilot.h"
#include "../test.h"

#include <stdlib.h>

#define PILOT_SPEC(simulation, search)                                                                                 \
    "version: 1\nexperiment: pilot\nseed: 7\nmodel: hopper\nsimulation: {" simulation "}\nsearch:\n" search "\n"

typedef struct PilotCase {
    Arena arena;
    Spec spec;
    Search search;
    Backend *backend;
    Pilot pilot;
    double took; // s
} PilotCase;

static void pilot_case(PilotCase *test, const char *text, const char *backend, int64_t batch)
{
    *test = (PilotCase){.took = 0};
    if (arena_create(&test->arena, (size_t)1 << 28, "test").kind != OK) abort();
    Diagnostics *diagnostics = diagnostics_new(&test->arena);
    const BackendOptions options = {.name = backend, .threads = 1};
    int64_t traced = 0;
    CHECK_OK(spec_parse("pilot.yaml", text, NULL, 0, &test->arena, diagnostics, &test->spec));
    diagnostics_print(diagnostics, stdout, false);
    CHECK_OK(search_init(&test->spec, &test->arena, &test->search));
    CHECK_OK(backend_open(&options, &test->backend));
    const int64_t lanes = plan_batch_lanes(&test->spec, test->backend, batch, &traced);
    CHECK_OK(backend_prepare(test->backend, &test->spec.configured, lanes, 0, 0));
    const PilotTask task = {.spec = &test->spec,
                            .search = &test->search,
                            .backend = test->backend,
                            .batch_lanes = lanes,
                            .lanes = test->search.total * test->spec.replicates.count};
    const double start = clock_seconds();
    CHECK_OK(pilot_run(&task, &test->pilot));
    test->took = clock_seconds() - start;
}

static void pilot_case_end(PilotCase *test)
{
    CHECK(backend_close(test->backend));
    arena_destroy(&test->arena);
}

TEST(pilot_of_a_short_run_runs_all_trials)
{
    PilotCase test;
    const char *grid = PILOT_SPEC("duration: 0.01, settle: 0",
                                  "  over: {k_fp: {linspace: [50, 300, 50]}}\n  exclude: [\"k_fp < 100\"]\n"
                                  "replicates: {count: 4}");
    pilot_case(&test, grid, "cpu", 0);
    CHECK(test.pilot.whole);
    CHECK_INTEGER(40 * 4, test.pilot.lanes); // ten of the fifty are excluded
    CHECK(test.pilot.seconds > 0 && test.pilot.seconds <= test.took);
    CHECK_NEAR(0.8, test.pilot.low, 1e-12); // the pilot ran all trials
    CHECK_NEAR(1.2, test.pilot.high, 1e-12);
    pilot_case_end(&test);
    pilot_case(&test, grid, "faulty", 64); // the faulty backend has two slots
    CHECK(test.pilot.whole);
    CHECK_INTEGER(2 * 64, test.pilot.lanes);
    pilot_case_end(&test);
}

// gaits that last for at least hundreds of seconds
#define PILOT_GAITS                                                                                                    \
    "  method: random\n  trials: 100000\n  over: {k_fp: {range: [150, 151]}}\nparameters: {x_dot_des: 1}"
#define PILOT_MILLION "  method: random\n  trials: 1000000\n  over: {k_fp: {range: [15, 1500], scale: log}}"

TEST(pilot_of_a_long_run_is_short)
{
    PilotCase test;
    pilot_case(&test, PILOT_SPEC("duration: 0.02, settle: 0", PILOT_MILLION), "cpu", 0);
    CHECK(test.pilot.whole && test.took < 20);
    CHECK(test.pilot.lanes >= 128);
    pilot_case_end(&test);
    pilot_case(&test, PILOT_SPEC("duration: 1000, dt: 1.0e-5", PILOT_GAITS), "cpu", 0);
    CHECK(!test.pilot.whole && test.took < 20); // the pilot stops early: a trial has 1e8 steps
    CHECK(test.pilot.seconds > 10);
    CHECK(test.pilot.high > 1.2);
    pilot_case_end(&test);
    pilot_case(&test, PILOT_SPEC("duration: 1000, integrator: dormand_prince, tolerance: 1.0e-12", PILOT_GAITS), "cpu",
               0);
    CHECK(!test.pilot.whole && test.took < 20); // the number of remaining steps is unknown
    CHECK(test.pilot.high >= 10);
    pilot_case_end(&test);
}

// Half of the gaits fall at once: the pilot's estimates for the others are less certain.
TEST(pilot_of_trials_of_different_length_is_less_certain)
{
    PilotCase test;
    pilot_case(&test,
               PILOT_SPEC("duration: 1, dt: 2.0e-3, settle: 0", "  method: random\n  trials: 100000\n"
                                                                "  over: {k_fp: {range: [150, 151]}}\n"),
               "cpu", 256);
    const double same = test.pilot.high;
    pilot_case_end(&test);
    pilot_case(&test,
               PILOT_SPEC("duration: 1, dt: 2.0e-3, settle: 0",
                          "  method: random\n  trials: 100000\n"
                          "  over: {k_fp: {range: [150, 151]}, phi_leg: [0.01, 1.2]}\n"),
               "cpu", 256);
    CHECK_NEAR(1.2, same, 1e-3);
    CHECK(test.pilot.high > 1.22);
    pilot_case_end(&test);
}
