// Solver and line search per alignment: the bits of alignments that share them, and the invariants of every row.
#define HOPSCOTCH_SCALAR
#include "ndt_rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { OWN_SOLVERS = 2, OWN_SEARCHES = 3, OWN_KINDS = OWN_SOLVERS * OWN_SEARCHES };

// Alignments of a small street, all from the same pose.
typedef struct OwnRun {
    Arena arena;
    Configured configured;
    Backend *backend;
    Batch *batch;
} OwnRun;

static const double own_maps[2] = {3.0, 2.0};

static int own_place(const OwnRun *run, const char *parameter)
{
    for (int p = 0; p < run->configured.n_parameters; p++) {
        if (strcmp(run->configured.parameters[p].name, parameter) == 0) return p;
    }
    return -1;
}

static void own_set(OwnRun *run, const char *parameter, int64_t lane, double value)
{
    const int p = own_place(run, parameter);
    CHECK(p >= 0);
    if (p >= 0) run->batch->parameter[p * run->batch->stride + lane] = value;
}

static void own_open(OwnRun *run, int64_t lanes, bool debug, const char *isa)
{
    const BackendOptions options = {.name = "cpu", .threads = 1, .isa = isa, .patience = INFINITY};
    const Configured *configured = &run->configured;
    CHECK_OK(backend_open(&options, &run->backend));
    CHECK_OK(backend_prepare(run->backend, configured, lanes, 0, 1));
    if (debug) CHECK_OK(backend_prepare_debug(run->backend, lanes, configured->ticks));
    run->batch = backend_batch(run->backend, 0);
    run->batch->lanes = lanes;
    run->batch->debug.lanes = debug ? lanes : 0;
    run->batch->debug.end = configured->ticks;
    for (int64_t lane = 0; lane < lanes; lane++) {
        for (int p = 0; p < configured->n_parameters; p++)
            run->batch->parameter[p * run->batch->stride + lane] = configured->parameters[p].value;
        own_set(run, "step_size", lane, 0.5);
        own_set(run, "start_x", lane, 1.1);
        own_set(run, "start_y", lane, -0.8);
        own_set(run, "start_yaw", lane, 0.06);
    }
}

// maps: NULL, or own_maps
static void own_start(OwnRun *run, NdtSolver solver, NdtLineSearch search, const double *maps)
{
    const Model *model = model_find("ndt");
    double settings[NDT_N_OPTIONS];
    Points points[NDT_N_OPTIONS] = {{0}};
    *run = (OwnRun){.backend = NULL};
    if (arena_create(&run->arena, (size_t)1 << 26, "a test of scan matching").kind != OK) abort();
    for (int i = 0; i < NDT_N_OPTIONS; i++) settings[i] = model->options[i].value;
    settings[NDT_OPTION_SCENE] = NDT_STREET;
    settings[NDT_OPTION_SPACING] = 0.6;
    settings[NDT_OPTION_SOURCE_SPACING] = 4.0;
    settings[NDT_OPTION_SOLVER] = solver;
    settings[NDT_OPTION_LINE_SEARCH] = search;
    if (maps != NULL) points[NDT_OPTION_MAPS] = (Points){.numbers = maps, .count = 2};
    CHECK_OK(model->configure(settings, points, &run->arena, &run->configured));
    CHECK_OK(model->build(settings, points, &run->arena, &run->configured));
}

static void own_go(OwnRun *run, int64_t slice)
{
    bool done = false;
    double seconds;
    CHECK_OK(backend_begin(run->backend, 0));
    while (!done) {
        CHECK_OK(backend_advance(run->backend, 0, slice));
        CHECK_OK(backend_wait(run->backend, 0, &done, &seconds));
    }
}

static void own_end(OwnRun *run)
{
    backend_close(run->backend);
    arena_destroy(&run->arena);
}

static void own_metrics(const OwnRun *run, int64_t lane, double *metric)
{
    for (int m = 0; m < NDT_N_METRICS; m++) metric[m] = run->batch->metric[m * run->batch->stride + lane];
}

// expected[OWN_KINDS]: metrics of each pair of a solver and a line search as fixed options; kind = 3 solver + line
// search.
static void own_expect(const double *maps, double expected[OWN_KINDS][NDT_N_METRICS])
{
    for (int kind = 0; kind < OWN_KINDS; kind++) {
        OwnRun run;
        own_start(&run, (NdtSolver)(kind / OWN_SEARCHES), (NdtLineSearch)(kind % OWN_SEARCHES), maps);
        CHECK_INTEGER(-1, own_place(&run, "solver"));
        CHECK_INTEGER(-1, own_place(&run, "line_search"));
        own_open(&run, 1, false, "auto");
        if (maps != NULL) own_set(&run, "resolution", 0, 2.0);
        own_go(&run, INT32_MAX);
        own_metrics(&run, 0, expected[kind]);
        CHECK_BITS(2.0, expected[kind][NDT_METRIC_EDGE]); // the second edge of own_maps, or the default
        own_end(&run);
        for (int other = 0; other < kind; other++)
            CHECK(memcmp(expected[other], expected[kind], sizeof *expected) != 0);
    }
}

static void own_compare(const OwnRun *run, int64_t lane, const double *expected)
{
    double metric[NDT_N_METRICS];
    own_metrics(run, lane, metric);
    for (int m = 0; m < NDT_N_METRICS; m++) CHECK_BITS(expected[m], metric[m]);
}

TEST(ndt_searched_solvers_and_line_searches_are_those)
{
    static const char *const isas[] = {"scalar", ISA_V2, ISA_V3};
    double expected[OWN_KINDS][NDT_N_METRICS];
    own_expect(own_maps, expected);
    for (int i = 0; i < 3; i++) {
        OwnRun run;
        own_start(&run, NDT_SOLVER_SEARCHED, NDT_LINE_SEARCH_SEARCHED, own_maps);
        own_open(&run, OWN_KINDS, i > 0, isas[i]); // with debug rows and without
        for (int kind = 0; kind < OWN_KINDS; kind++) {
            own_set(&run, "resolution", kind, 2.0);
            own_set(&run, "solver", kind, kind / OWN_SEARCHES);
            own_set(&run, "line_search", kind, kind % OWN_SEARCHES);
        }
        own_go(&run, i == 0 ? 1 : 7);
        for (int kind = 0; kind < OWN_KINDS; kind++) own_compare(&run, kind, expected[kind]);
        own_end(&run);
    }
}

// Only the solver or only the line search is searched, and no maps: its input is then another parameter.
TEST(ndt_searched_solver_alone_and_line_search_alone)
{
    double expected[OWN_KINDS][NDT_N_METRICS];
    OwnRun run;
    own_expect(NULL, expected);
    own_start(&run, NDT_SOLVER_SEARCHED, NDT_BATCHED, NULL);
    CHECK_INTEGER(-1, own_place(&run, "line_search"));
    own_open(&run, OWN_SOLVERS, false, "auto");
    for (int solver = 0; solver < OWN_SOLVERS; solver++) own_set(&run, "solver", solver, solver);
    own_go(&run, INT32_MAX);
    for (int solver = 0; solver < OWN_SOLVERS; solver++)
        own_compare(&run, solver, expected[solver * OWN_SEARCHES + NDT_BATCHED]);
    own_end(&run);
    own_start(&run, NDT_SADDLE_FREE, NDT_LINE_SEARCH_SEARCHED, NULL);
    CHECK_INTEGER(-1, own_place(&run, "solver"));
    own_open(&run, OWN_SEARCHES, false, "auto");
    for (int search = 0; search < OWN_SEARCHES; search++) own_set(&run, "line_search", search, search);
    own_go(&run, INT32_MAX);
    for (int search = 0; search < OWN_SEARCHES; search++) own_compare(&run, search, expected[OWN_SEARCHES + search]);
    own_end(&run);
}

// Values between two choices are rounded to the nearer. Perturbed values can leave the range; then the last choice
// counts.
TEST(ndt_searched_choices_are_rounded)
{
    static const struct {
        double solver, search;
        int kind;
    } cases[] = {{0.4, 0.4, 0}, {0.5, 0.5, 0}, {0.6, 0.6, 4},     {0.0, 1.4, 1},
                 {0.0, 1.6, 2}, {-9, -9, 0},   {1e300, 1e300, 5}, {1.2, 2.3, 5}};
    enum { CASES = sizeof cases / sizeof *cases };
    double expected[OWN_KINDS][NDT_N_METRICS];
    OwnRun run;
    own_expect(NULL, expected);
    own_start(&run, NDT_SOLVER_SEARCHED, NDT_LINE_SEARCH_SEARCHED, NULL);
    own_open(&run, CASES, false, "auto");
    for (int k = 0; k < CASES; k++) {
        own_set(&run, "solver", k, cases[k].solver);
        own_set(&run, "line_search", k, cases[k].search);
    }
    own_go(&run, INT32_MAX);
    for (int k = 0; k < CASES; k++) own_compare(&run, k, expected[cases[k].kind]);
    own_end(&run);
}

// ---- rows of random alignments --------------------------------------------------------------------------------------

enum { OWN_BATCH = 250, OWN_QUICK = 50, OWN_USUAL = 250, OWN_THOROUGH = 10000 }; // lanes; NDT_THOROUGH=1: the last

// Lane n of all: a random start and random choices from the whole range.
static void own_draw(OwnRun *run, int64_t lane, int64_t n)
{
    const RandomKey key = {.seed = 23, .ordinal = (uint64_t)n, .purpose = RANDOM_SAMPLE};
    static const struct {
        const char *parameter;
        double low, high;
    } drawn[] = {{"start_x", -2.0, 2.0},   {"start_y", -2.0, 2.0},       {"start_yaw", -0.2, 0.2},
                 {"step_size", 0.05, 1.0}, {"outlier_ratio", 0.05, 0.9}, {"solver", 0.0, 1.0},
                 {"line_search", 0.0, 2.0}};
    for (uint32_t k = 0; k < sizeof drawn / sizeof *drawn; k++)
        own_set(run, drawn[k].parameter, lane, drawn[k].low + (drawn[k].high - drawn[k].low) * random_uniform(&key, k));
}

static double own_get(const OwnRun *run, const char *parameter, int64_t lane)
{
    return run->batch->parameter[own_place(run, parameter) * run->batch->stride + lane];
}

// row(i)[n_debug] of a lane: the time and 50 numbers
static const double *own_row(const OwnRun *run, int64_t lane, int64_t i)
{
    return run->batch->debug.row + (lane * run->batch->debug.capacity + i) * run->configured.n_debug;
}

static void own_check_rows(const OwnRun *run, int64_t lane)
{
    static const char *const start[NDT_POSE] = {"start_x",    "start_y",     "start_z",
                                                "start_roll", "start_pitch", "start_yaw"};
    const NdtMethod method = {.step_size = own_get(run, "step_size", lane),
                              .solver = own_get(run, "solver", lane) > 0.5 ? NDT_SADDLE_FREE : NDT_NEWTON,
                              .line_search = own_get(run, "line_search", lane) > 1.5   ? NDT_BATCHED
                                             : own_get(run, "line_search", lane) > 0.5 ? NDT_MORE_THUENTE
                                                                                       : NDT_NO_SEARCH};
    const NdtMixture mixture = ndt_mixture(own_get(run, "outlier_ratio", lane), 2.0);
    const int64_t rows = run->batch->debug.count[lane];
    double pose[NDT_POSE], metric[NDT_N_METRICS];
    own_metrics(run, lane, metric);
    CHECK_BITS(metric[NDT_METRIC_ITERATIONS], (double)rows);
    for (int k = 0; k < NDT_POSE; k++) pose[k] = own_get(run, start[k], lane);
    for (int64_t i = 0; i < rows; i++) {
        const double *row = own_row(run, lane, i) + 1;
        for (int k = 0; k < NDT_POSE; k++) CHECK_BITS(pose[k], row[NDT_DEBUG_BEFORE + k]);
        ndt_check_row(&method, mixture.d1, row);
        memcpy(pose, row + NDT_DEBUG_AFTER, sizeof pose);
    }
    for (int k = 0; k < NDT_POSE; k++) CHECK_BITS(pose[k], metric[NDT_METRIC_FINAL + k]);
}

TEST(ndt_every_row_of_searched_alignments)
{
    const bool thorough = getenv("NDT_THOROUGH") != NULL;
    const int64_t count = thorough ? OWN_THOROUGH : test_quick() ? OWN_QUICK : OWN_USUAL;
    OwnRun run;
    own_start(&run, NDT_SOLVER_SEARCHED, NDT_LINE_SEARCH_SEARCHED, NULL);
    own_open(&run, count < OWN_BATCH ? count : OWN_BATCH, true, "auto");
    for (int64_t first = 0; first < count; first += run.batch->lanes) {
        for (int64_t lane = 0; lane < run.batch->lanes; lane++) own_draw(&run, lane, first + lane);
        own_go(&run, INT32_MAX);
        for (int64_t lane = 0; lane < run.batch->lanes; lane++) own_check_rows(&run, lane);
    }
    own_end(&run);
}
