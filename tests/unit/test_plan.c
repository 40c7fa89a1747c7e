// The plan of a run: counts, the choice of a batch, bytes and refusals. Times are not tested here: machines differ.
#include "../../runner/campaign/batch/batch_size.h"
#include "../../sim/backend.h"
#include "../test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// A short run of hoppers; `search` and `rest` are added to the spec.
#define PLAN_SPEC(search, rest)                                                                                        \
    "version: 1\nexperiment: plan\nseed: 7\nmodel: hopper\nsimulation: {duration: 0.01, settle: 0}\nsearch:\n" search  \
    "\n" rest "\n"
#define GRID "  method: grid\n  over: {k_fp: {linspace: [50, 300, 40]}, thrust: {linspace: [20, 40, 10]}}\n"

typedef struct Planned {
    Arena arena;
    Spec spec;
    Plan plan;
} Planned;

static void read_spec(Planned *planned, const char *text)
{
    if (arena_create(&planned->arena, (size_t)1 << 28, "test").kind != OK) abort();
    Diagnostics *diagnostics = diagnostics_new(&planned->arena);
    CHECK_OK(spec_parse("plan.yaml", text, NULL, 0, &planned->arena, diagnostics, &planned->spec));
    diagnostics_print(diagnostics, stdout, false);
}

static Error make(Planned *planned, int64_t batch)
{
    const RunOptions options = {.results = test_folder(), .backend = {.name = "cpu", .threads = 1}, .batch = batch};
    return plan_make(&planned->spec, &options, &planned->arena, &planned->plan);
}

static const Plan *plan_of(Planned *planned, const char *text, int64_t batch)
{
    read_spec(planned, text);
    CHECK_OK(make(planned, batch));
    return &planned->plan;
}

TEST(plan_counts_trials_lanes_and_batches)
{
    Planned planned;
    const Plan *plan = plan_of(&planned, PLAN_SPEC(GRID "  exclude: [\"k_fp > 299\"]", "replicates: {count: 3}"), 100);
    CHECK_TEXT("", plan->refusal);
    CHECK_INTEGER(10, plan->excluded);
    CHECK(!plan->excluded_estimated);
    CHECK_INTEGER(390, plan->trials);
    CHECK_INTEGER(1170, plan->lanes);
    CHECK_INTEGER(99, plan->batch_lanes); // whole trials
    CHECK_INTEGER(12, plan->batches);
    CHECK_INTEGER(0, plan->traced_lanes);
    CHECK(plan->hdf5_bytes == 0 && plan->disk_free > 0 && plan->host_bytes > 0 && plan->device_bytes > 0);
    CHECK(plan->seconds_low > 0 && plan->seconds_low < plan->seconds_high);
    arena_destroy(&planned.arena);
}

TEST(plan_counts_trials_up_to_the_limit)
{
    Planned planned;
    const Plan *plan = plan_of(&planned, PLAN_SPEC(GRID, "limits: {trials: 25}"), 10);
    CHECK_INTEGER(25, plan->trials);
    CHECK_INTEGER(3, plan->batches);
    arena_destroy(&planned.arena);
}

TEST(plan_estimates_the_excluded_part_of_a_large_grid)
{
    Planned planned;
    read_spec(&planned,
              PLAN_SPEC("  method: grid\n  over: {k_fp: {linspace: [0, 1, 3000]}, thrust: {linspace: [0, 1, 3000]}}\n"
                        "  exclude: [\"k_fp < thrust\"]",
                        ""));
    CHECK_OK(make(&planned, 0));
    CHECK(planned.plan.excluded_estimated);
    CHECK_NEAR(4.5e6, (double)planned.plan.excluded, 5 * 0.5 / 316 * 9e6); // 5 standard errors of 100,000 draws
    CHECK_INTEGER(9000000, planned.plan.trials + planned.plan.excluded);
    arena_destroy(&planned.arena);
}

// The most and the longest expressions that a spec can have: the plan samples what it can in half a second.
TEST(plan_looks_at_few_trials_where_each_takes_long)
{
    Planned planned;
    Search cheap, dear;
    char *text = malloc((size_t)1 << 21), *end = text;
    read_spec(&planned, PLAN_SPEC(GRID "  exclude: [\"k_fp < thrust\"]", ""));
    CHECK_OK(search_init(&planned.spec, &planned.arena, &cheap));
    CHECK_INTEGER(400, count_looked_at(&cheap, 0, 400));
    CHECK_INTEGER(1000000, search_affordable(&cheap, 1000000));
    arena_destroy(&planned.arena);
    end += sprintf(end, PLAN_SPEC("  method: grid\n  over: {k_fp: {linspace: [50, 300, 100000]}, "
                                  "k_att: {linspace: [50, 300, 100000]}}\n  exclude:",
                                  ""));
    end--; // its line goes on
    for (int i = 0; i < 256; i++) {
        end += sprintf(end, "\n  - k_fp < -%d", 1000 + i);
        for (int k = 0; k < 250; k++) end += sprintf(end, " + sin(k_att)");
    }
    strcpy(end, "\n");
    read_spec(&planned, text);
    CHECK_OK(search_init(&planned.spec, &planned.arena, &dear));
    const int64_t looked_at = count_looked_at(&dear, 0, dear.total);
    CHECK(looked_at >= 1 && looked_at < 1000);
    CHECK_OK(make(&planned, 100));
    CHECK(planned.plan.excluded_estimated && planned.plan.excluded == 0);
    arena_destroy(&planned.arena);
    free(text);
}

TEST(plan_refuses_what_the_disk_cannot_hold)
{
    Planned planned;
    const Plan *plan = plan_of(&planned,
                               PLAN_SPEC("  method: random\n  over: {k_fp: {range: [50, 300]}}\n  trials: 1e11\n",
                                         "record: {trajectories: {select: {every: 1}, sample: 1e-4}}"),
                               0);
    CHECK_INTEGER(100000000000, plan->traced_lanes);
    CHECK(plan->hdf5_bytes > 1e11 * 100 * 14 * 4); // 100 samples of 14 columns of 4 bytes
    CHECK(strstr(plan->refusal, "of disk") != NULL);
    arena_destroy(&planned.arena);
}

// As in a run: the batch is halved until it fits into the machine's memory.
TEST(plan_halves_a_batch_that_memory_cannot_hold)
{
    Planned planned;
    const Plan *plan = plan_of(&planned,
                               PLAN_SPEC("  method: grid\n  over: {k_fp: {linspace: [50, 300, 100000]}, "
                                         "k_att: {linspace: [50, 300, 100000]}}\n",
                                         "limits: {trials: 1e6}\nreplicates: {count: 1000}"),
                               1000000000);
    CHECK_TEXT("", plan->refusal);
    CHECK(strstr(plan->warning, "has too little memory for batches of 1,000,000,000 replicates: they have ") != NULL);
    CHECK(plan->batch_lanes > 1000 && plan->batch_lanes < 1000000000 && plan->batch_lanes % 1000 == 0);
    CHECK(plan->batches > 1);
    arena_destroy(&planned.arena);
}

TEST(plan_states_the_device_memory_of_a_batch)
{
    Planned planned;
    Backend gpu = {.info = {.name = "cuda", .slots = 2, .memory_free = 1 << 20, .lane_multiple = 512}};
    read_spec(&planned, PLAN_SPEC(GRID, ""));
    const Device device = {.spec = &planned.spec, .backend = &gpu, .lanes = 1 << 20};
    CHECK_SAYS(ERROR_MEMORY, " of device memory and 1.0 MiB are free", plan_fits(&device));
    arena_destroy(&planned.arena);
}

TEST(plan_refuses_a_search_without_trials)
{
    Planned planned;
    const Plan *plan = plan_of(&planned, PLAN_SPEC(GRID "  exclude: [\"k_fp > 0\"]", ""), 0);
    CHECK_INTEGER(0, plan->trials);
    CHECK(strstr(plan->refusal, "no trial to run") != NULL);
    arena_destroy(&planned.arena);
}

TEST(plan_counts_recorded_trajectories_once)
{
    Planned planned;
    const Plan *plan =
        plan_of(&planned,
                PLAN_SPEC(GRID, "replicates: {count: 2}\nrecord: {trajectories: {select: {every: 100, trials: [7, 8], "
                                "best: 5, failures: 3}, replicates: all, sample: 1e-3}}"),
                100);
    CHECK_INTEGER((4 + 2 + 5 + 3) * 2, plan->traced_lanes);
    const double float32_bytes = plan->hdf5_bytes;
    planned.spec.record.float64 = true;
    CHECK_OK(make(&planned, 100));
    const double samples = 100 / 10 + 2;                                      // trace_capacity
    CHECK_NEAR(28 * samples * 14 * 4, plan->hdf5_bytes - float32_bytes, 100); // 14 columns, 4 more bytes per number
    arena_destroy(&planned.arena);
}

// The size of a batch, computed without a run.
static int64_t lanes_of(const char *text, int64_t requested, int64_t *traced_max)
{
    static const BackendOptions options = {.name = "cpu", .threads = 1, .patience = INFINITY};
    Planned planned;
    Backend *backend;
    read_spec(&planned, text);
    CHECK_OK(backend_open(&options, &backend));
    const int64_t lanes = plan_batch_lanes(&planned.spec, backend, requested, traced_max);
    backend_close(backend);
    arena_destroy(&planned.arena);
    return lanes;
}

TEST(plan_batch_holds_whole_trials)
{
    int64_t traced;
    CHECK_INTEGER(400, lanes_of(PLAN_SPEC(GRID, ""), 0, &traced)); // all lanes of the run
    CHECK_INTEGER(400, lanes_of(PLAN_SPEC(GRID, ""), 100000, &traced));
    CHECK_INTEGER(0, traced);
    CHECK_INTEGER(7, lanes_of(PLAN_SPEC(GRID, ""), 7, &traced));
    CHECK_INTEGER(5, lanes_of(PLAN_SPEC(GRID, "replicates: {count: 5}"), 7, &traced));
    CHECK_INTEGER(9, lanes_of(PLAN_SPEC(GRID, "replicates: {count: 9}"), 7, &traced)); // at least one trial
    const int64_t lanes = lanes_of(PLAN_SPEC(GRID, "replicates: {count: 1000}"), 0, &traced);
    CHECK(lanes % 1000 == 0 && lanes >= 2000 && lanes <= 8192);
}

// Batch size on an H200, with the device's properties given here.
static int64_t lanes_of_gpu(int64_t trials, int64_t memory_free, int devices)
{
    Planned planned;
    int64_t traced;
    char text[512];
    Backend gpu = {.info = {.name = "cuda",
                            .slots = 2,
                            .memory_free = memory_free * devices,
                            .lane_multiple = (int64_t)16896 * devices}};
    snprintf(text, sizeof text, PLAN_SPEC("  method: random\n  over: {k_fp: {range: [50, 300]}}\n  trials: %lld\n", ""),
             (long long)trials);
    read_spec(&planned, text);
    const int64_t lanes = plan_batch_lanes(&planned.spec, &gpu, 0, &traced);
    arena_destroy(&planned.arena);
    return lanes;
}

TEST(plan_batch_of_a_gpu_is_whole_waves)
{
    const int64_t wave = 16896, memory = (int64_t)100 << 30;
    CHECK_INTEGER(10000, lanes_of_gpu(10000, memory, 1)); // all lanes of the run
    CHECK_INTEGER(40000, lanes_of_gpu(40000, memory, 1)); // three waves: too few for two batches
    CHECK_INTEGER(3 * wave, lanes_of_gpu(85536, memory, 1));
    CHECK_INTEGER(6 * wave, lanes_of_gpu(200000, memory, 1)); // instead of batches of 8 and 4 waves
    CHECK_INTEGER(8 * wave, lanes_of_gpu(1000000, memory, 1));
    CHECK_INTEGER(8 * 4 * wave, lanes_of_gpu(4000000, memory, 4));
    const int64_t small = lanes_of_gpu(1000000, (int64_t)40 << 20, 1);
    CHECK(small % wave == 0 && small >= wave && small < 8 * wave);
    CHECK_INTEGER(wave, lanes_of_gpu(1000000, 1 << 20, 1)); // too large a batch is halved when the backend prepares it
}

TEST(plan_batch_bounds_what_is_traced)
{
    int64_t traced;
    const char *few = PLAN_SPEC(GRID, "record: {trajectories: {select: {best: 5}, sample: 1e-4}}");
    CHECK_INTEGER(400, lanes_of(few, 0, &traced));
    CHECK_INTEGER(5, traced);
    const char *first = PLAN_SPEC(GRID, "replicates: {count: 10}\nrecord: {trajectories: {select: {best: 5}}}");
    CHECK_INTEGER(400, lanes_of(first, 400, &traced));
    CHECK_INTEGER(5, traced); // the first replicate of each trial
    const char *every =
        PLAN_SPEC(GRID, "replicates: {count: 10}\nrecord: {trajectories: {select: {every: 7, trials: [3]}, "
                        "replicates: all}}");
    CHECK_INTEGER(400, lanes_of(every, 400, &traced));
    CHECK_INTEGER((40 / 7 + 1 + 1) * 10, traced);
    const char *all = "version: 1\nexperiment: plan\nmodel: hopper\nsimulation: {duration: 5}\nsearch:\n" GRID
                      "record: {trajectories: {select: {every: 1}, sample: 1e-4}}\n";
    const int64_t fit = (64 << 20) / (50002 * 14 * 8); // lanes whose samples fill 64 MiB
    CHECK_INTEGER(fit, lanes_of(all, 0, &traced));     // every trial is recorded, so the trace bounds the batch
    CHECK_INTEGER(fit, traced);
}

// ---- searches that learn --------------------------------------------------------------------------------------------

#define LEARN(method, options)                                                                                         \
    "  method: " method "\n  over: {k_fp: {range: [50, 300]}, thrust: {range: [20, 40]}}\n  " method ": {" options "}\n"
#define SEVERAL "objective: {minimize: [velocity_error, attitude_rms]}"

// The plan counts the trials that `stop` allows, not one generation.
TEST(plan_of_a_search_that_learns_counts_all_generations)
{
    static const struct {
        const char *text;
        int64_t least, most, rounds;
        const char *early;
    } rows[] = {
        {PLAN_SPEC(LEARN("cmaes", "searches: 5, population: 12, stop: {generations: 100}"), ""), 60, 6000, 500,
         "tolerances"},
        {PLAN_SPEC(LEARN("cmaes", "searches: 5, population: 12, stop: {generations: 100, trials: 50}"), ""), 60, 300,
         25, "tolerances"},
        // 4 + 3 ln 2 = 6 members; 100 + 150 (2 + 3)^2/sqrt(6) = 1,631 generations
        {PLAN_SPEC(LEARN("cmaes", ""), ""), 6, 9786, 1631, "tolerances"},
        {PLAN_SPEC(LEARN("cmaes", "restarts: ipop, restarts_max: 2, population: 10, stop: {generations: 7}"),
                   "limits: {trials: 1e6}"),
         10, 7 * (10 + 20 + 40), 21, "tolerances"},
        {PLAN_SPEC(LEARN("cmaes", "population: 12, stop: {generations: 100}"), "limits: {trials: 500}"), 12, 500, 87,
         "tolerances"},
        {PLAN_SPEC(LEARN("nsga2", "searches: 4, population: 80, stop: {generations: 100}"), SEVERAL), 32000, 32000, 400,
         NULL},
        {PLAN_SPEC(LEARN("nsga2", "population: 80, stop: {generations: 100, trials: 1000}"), SEVERAL), 1040, 1040, 13,
         NULL},
        {PLAN_SPEC(LEARN("nsga2", "population: 80, stop: {generations: 100, stagnation: 30}"), SEVERAL), 80, 8000, 100,
         "stagnation"},
        {PLAN_SPEC(LEARN("adam", "searches: 3, restarts: 1, stop: {iterations: 50}"), ""), 15, 3 * 2 * 50 * 5, 300,
         "tolerances"},
        {PLAN_SPEC(LEARN("adam", "stop: {iterations: 50, trials: 31}"), ""), 5, 35, 7, "tolerances"},
        {PLAN_SPEC(LEARN("lbfgs", "searches: 2, line: 8, stop: {iterations: 50}"), ""), 10, 2 * 50 * 13, 200,
         "tolerances"},
        {PLAN_SPEC(LEARN("lbfgs", "line: 8, stop: {iterations: 50, trials: 31}"), ""), 5, 38, 7, "tolerances"},
        {PLAN_SPEC(LEARN("lbfgs", "forward: 1e-8, line: 8, stop: {iterations: 50, trials: 31}"), ""), 3, 38, 16,
         "tolerances"},
        {PLAN_SPEC(LEARN("lbfgs", "forward: 1e-8, line: 1, stop: {iterations: 50, trials: 31}"), ""), 3, 33, 31,
         "tolerances"},
        {PLAN_SPEC(LEARN("adam", "forward: 1e-3, stop: {iterations: 50, trials: 31}"), ""), 3, 33, 11, "tolerances"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Planned planned;
        const Plan *plan = plan_of(&planned, rows[i].text, 0);
        CHECK_INTEGER(rows[i].most, plan->trials);
        CHECK_INTEGER(rows[i].least, plan->trials_least);
        CHECK_INTEGER(rows[i].rounds, plan->rounds);
        CHECK_TEXT(rows[i].early != NULL ? rows[i].early : "", plan->early != NULL ? plan->early : "");
        CHECK(!plan->trials_open);
        CHECK_INTEGER(plan->trials, plan->lanes);
        CHECK(plan->sqlite_bytes > 100.0 * (double)plan->trials);
        CHECK(plan->seconds_low > 0 && plan->seconds_low < plan->seconds && plan->seconds < plan->seconds_high);
        arena_destroy(&planned.arena);
    }
}

TEST(plan_of_a_search_without_an_end_says_so)
{
    Planned planned;
    const Plan *plan =
        plan_of(&planned, PLAN_SPEC(LEARN("cmaes", "searches: 3, population: 10, restarts: bipop"), ""), 0);
    CHECK(plan->trials_open);
    CHECK_INTEGER(30, plan->trials); // of the first generation
    CHECK_INTEGER(30, plan->round_trials);
    arena_destroy(&planned.arena);
}

// An upper bound is not a reason to refuse a run.
TEST(plan_warns_of_a_disk_that_an_early_end_may_spare)
{
    Planned planned;
    const Plan *plan = plan_of(
        &planned,
        PLAN_SPEC(LEARN("cmaes", "population: 12, restarts: ipop, stop: {trials: 1e15, generations: 1e7}"), ""), 0);
    CHECK_TEXT("", plan->refusal);
    CHECK(strstr(plan->warning, "if nothing ends the search early") != NULL);
    arena_destroy(&planned.arena);
}

// A CPU run sizes its batches by their time. If each takes too long, all batches after the first have the least size.
TEST(plan_counts_batches_as_a_run_paces_them)
{
    Planned planned;
    const Plan *plan = plan_of(&planned,
                               "version: 1\nexperiment: plan\nmodel: hopper\nsimulation: {duration: 1000, dt: 1.0e-5}\n"
                               "search:\n  method: random\n  trials: 2048\n  over: {k_fp: {range: [150, 151]}}\n"
                               "parameters: {x_dot_des: 1}\nreplicates: {count: 2}\n",
                               0);
    Backend *backend = NULL;
    CHECK_OK(backend_open(&(BackendOptions){.name = "cpu", .threads = 1}, &backend));
    const RunOptions options = {.batch = 0};
    const int64_t least = plan_batch_least(&planned.spec, backend, &options);
    CHECK(least >= 1 && least <= 64);
    CHECK_INTEGER(1 + (2048 - 4 * least) / least, plan->batches);
    CHECK_INTEGER(2048, plan->batch_lanes);
    CHECK(backend_close(backend));
    arena_destroy(&planned.arena);
}
