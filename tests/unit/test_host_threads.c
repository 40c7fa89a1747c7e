// What a batch needs on the host, shared among the threads of a team: the points of trials, the lanes, the rows. All
// bytes are those of one thread, for specs that are put together at random.
#include "../../runner/campaign/batch/trials_in_flight.h"
#include "../test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { HOST_TRIALS = 2400, HOST_SPECS = 24, HOST_TEAMS = 4 };
static const int host_teams[HOST_TEAMS] = {1, 2, 3, 8};

// ---- specs ----------------------------------------------------------------------------------------------------------

#define K_FP "k_fp: {range: [15, 1500], scale: log}"
#define RANGES "over: {" K_FP ", thrust: {range: [3, 350]}}"
// One macro each: clang takes texts that follow each other in a list for a forgotten comma.
#define WHOLE                                                                                                          \
    "method: random, trials: 9000, over: {k_fp: {range: [15, 150], scale: log, integer: true}, "                       \
    "thrust: {range: [3, 350]}}, exclude: [\"thrust > 20 and k_fp < 100\"]"
#define DERIVED                                                                                                        \
    "method: grid, over: {k_fp: {linspace: [50, 300, 100]}, thrust: {linspace: [20, 40, 100]}, "                       \
    "b_fp: {derive: \"k_fp / 9\"}}, exclude: [\"k_fp > 250 and thrust < 30\", \"thrust = 40\"]"
#define CONDITIONAL                                                                                                    \
    "method: grid, over: {k_fp: {linspace: [50, 300, 90]}, thrust: {linspace: [20, 40, 90]}}, "                        \
    "when: {thrust: \"k_fp < 200\"}"
#define CONSTRAINED                                                                                                    \
    "objective: {minimize: [\"velocity_error\", \"attitude_rms * thrust\"]}\n"                                         \
    "constraints: [\"mean_speed > 0.4\", \"k_fp < 900\"]"
static const char *const host_searches[] = {
    "method: random, trials: 9000, " RANGES,
    WHOLE,
    DERIVED,
    CONDITIONAL,
    "method: latin_hypercube, trials: 7001, " RANGES,
    "method: sobol, trials: 8192, " RANGES ", exclude: [\"thrust > 200\"]",
    "method: morris, trajectories: 2500, " RANGES,
};
static const char *const host_replicates[] = {
    "{count: 1}",
    "{count: 1, perturb: {m: {uniform: [8, 12]}}}",
    "{count: 3, perturb: {m: {uniform: [8, 12]}}, store: true}",
    "{count: 7, common: false, perturb: {m: {normal: [10, 1]}, phi_leg: {uniform: [-0.1, 0.1]}}}",
    "{count: 40, perturb: {phi_leg: {normal: [0.01, 0.02]}}}",
};
static const char *const host_objectives[] = {
    "objective: {minimize: \"velocity_error + 0.001 * k_fp\"}",
    "objective: {maximize: \"mean_speed\", over: worst, failed: any}",
    "objective: {minimize: \"velocity_error\", over: median, failed: penalty(9)}",
    CONSTRAINED,
    "objective: {minimize: \"attitude_rms\"}\nconstraints: [\"velocity_error < 0.7 or thrust > 30\"]",
};
static const char *const host_records[] = {
    "",
    "record: {trajectories: {select: {every: 7}, replicates: all, sample: 0.01}}",
    "record: {trajectories: {select: {every: 2}, sample: 0.01}}",
};

#define HOST_ANY(list, u) (list)[(size_t)((u) * (double)(sizeof(list) / sizeof *(list)))]

static double host_draw(uint64_t seed, uint32_t index)
{
    const RandomKey key = {.seed = 99, .ordinal = seed, .purpose = RANDOM_SAMPLE};
    return random_uniform(&key, index);
}

typedef struct HostCase {
    Arena arena;
    Spec spec;
} HostCase;

static void host_start(HostCase *test, uint64_t number)
{
    char text[1200];
    const char *search = HOST_ANY(host_searches, host_draw(number, 0));
    const bool one = strstr(search, "morris") != NULL; // it takes one objective
    *test = (HostCase){.spec = {.seed = 0}};
    if (arena_create(&test->arena, (size_t)1 << 30, "test").kind != OK) abort();
    Diagnostics *diagnostics = diagnostics_new(&test->arena);
    snprintf(text, sizeof text,
             "version: 1\nexperiment: host\nseed: %d\nmodel: hopper\nsimulation: {duration: 0.03, dt: 1.0e-3, settle: "
             "0}\nsearch: {%s}\nreplicates: %s\n%s\n%s\n",
             (int)number, search, HOST_ANY(host_replicates, host_draw(number, 1)),
             one ? host_objectives[0] : HOST_ANY(host_objectives, host_draw(number, 2)),
             HOST_ANY(host_records, host_draw(number, 3)));
    CHECK_OK(spec_parse("host.yaml", text, NULL, 0, &test->arena, diagnostics, &test->spec));
    diagnostics_print(diagnostics, stdout, false);
}

// ---- bytes ----------------------------------------------------------------------------------------------------------

static Sha256Text host_digest(const void *const *arrays, const size_t *sizes, int count)
{
    Sha256 hash;
    sha256_start(&hash);
    for (int i = 0; i < count; i++) {
        if (arrays[i] != NULL) sha256_add(&hash, arrays[i], sizes[i]);
    }
    return sha256_finish(&hash);
}

static Sha256Text host_digest_trials(const Spec *spec, const Trials *trials)
{
    const size_t n = (size_t)trials->count;
    const void *const arrays[] = {trials->id, trials->ordinal, trials->search, trials->round, trials->parameter};
    const size_t sizes[] = {8 * n, 8 * n, 4 * n, 4 * n, 8 * n * (size_t)spec->configured.n_parameters};
    return host_digest(arrays, sizes, 5);
}

static void host_add_columns(Sha256 *hash, const double *columns, int64_t stride, int64_t rows, int64_t count)
{
    for (int64_t c = 0; columns != NULL && c < count; c++)
        sha256_add(hash, columns + c * stride, (size_t)rows * sizeof *columns);
}

static Sha256Text host_digest_rows(const Spec *spec, const Flight *flight, const Commit *commit)
{
    const TrialRows *rows = &commit->rows;
    const Trials *trials = &flight->trials;
    const int64_t n = rows->count, metrics = spec->configured.n_metrics, replicates = spec->replicates.count;
    const size_t bytes = (size_t)n * 8;
    Sha256 hash;
    sha256_start(&hash);
    const void *const integers[] = {rows->id, rows->search, rows->round, rows->failure, rows->n_failed};
    for (int i = 0; i < 5; i++) sha256_add(&hash, integers[i], bytes);
    host_add_columns(&hash, &rows->searched->real, rows->stride, n, rows_searched(spec));
    host_add_columns(&hash, rows->fitness, rows->stride, n, 1);
    host_add_columns(&hash, rows->objective, rows->stride, n, rows_objectives(spec));
    host_add_columns(&hash, rows->constraint, rows->stride, n, spec->n_constraints > 0 ? 1 + spec->n_constraints : 0);
    host_add_columns(&hash, rows->metric, rows->stride, n, metrics);
    host_add_columns(&hash, rows->spread, rows->stride, n, metrics);
    host_add_columns(&hash, rows->replicate_metric, rows->replicate_stride, n * replicates, metrics);
    host_add_columns(&hash, rows->replicate_metric != NULL ? rows->replicate_drawn : NULL, rows->replicate_stride,
                     n * replicates, spec->replicates.n_perturb);
    if (rows->replicate_metric != NULL) {
        sha256_add(&hash, rows->replicate_trial, bytes * (size_t)replicates);
        sha256_add(&hash, rows->replicate_failure, bytes * (size_t)replicates);
    }
    host_add_columns(&hash, trials->fitness, 0, n, 1);
    host_add_columns(&hash, trials->survived, 0, n, 1);
    host_add_columns(&hash, trials->objective, 0, n * rows_objectives(spec), 1);
    host_add_columns(&hash, trials->constraint, 0, n * spec->n_constraints, 1);
    sha256_add(&hash, &commit->failures, sizeof commit->failures);
    return sha256_finish(&hash);
}

// ---- ask ------------------------------------------------------------------------------------------------------------

// Asks for all trials, `max` at a time.
static Sha256Text host_ask_all(HostCase *test, ThreadTeam *team, int64_t max, Flight *flight, int64_t *trials)
{
    Search search;
    Sha256 hash;
    bool waiting = true;
    sha256_start(&hash);
    *trials = 0;
    CHECK_OK(search_init(&test->spec, &test->arena, &search));
    search.team = team;
    for (flight->trials.count = 1; flight->trials.count > 0 || waiting;) {
        CHECK_OK(search.method->ask(&search, max, &flight->trials, &waiting));
        const Sha256Text some = host_digest_trials(&test->spec, &flight->trials);
        sha256_add(&hash, some.hex, sizeof some.hex);
        *trials += flight->trials.count;
    }
    return sha256_finish(&hash);
}

// Each trial is the one that its id alone gives.
static void host_check_ids(HostCase *test, const Trials *trials)
{
    Search search;
    const int n = test->spec.configured.n_parameters;
    double *parameter = ARENA_NEW(&test->arena, double, n);
    uint64_t ordinal = 0;
    int64_t wrong = 0;
    CHECK_OK(search_init(&test->spec, &test->arena, &search));
    for (int64_t t = 0; t < trials->count; t++) {
        wrong += search.method->trial(&search, trials->id[t], &ordinal, parameter).kind != OK ||
                 memcmp(parameter, trials->parameter + t * n, (size_t)n * sizeof *parameter) != 0 ||
                 ordinal != trials->ordinal[t] || (t > 0 && trials->id[t] <= trials->id[t - 1]);
    }
    CHECK_INTEGER(0, wrong);
}

TEST(host_threads_ask_for_the_trials_of_one)
{
    for (uint64_t number = 0; number < (test_quick() ? HOST_SPECS / 3 : HOST_SPECS); number++) {
        HostCase test;
        Flight flight;
        Sha256Text expected = {.hex = ""};
        int64_t trials = 0, all = 0;
        host_start(&test, number);
        flight_take(&test.spec, HOST_TRIALS, NULL, &test.arena, &flight);
        for (int i = 0; i < HOST_TEAMS; i++) {
            ThreadTeam *team = thread_team_open(host_teams[i]);
            const Sha256Text got = host_ask_all(&test, team, 1117, &flight, &trials);
            if (i == 0) expected = got, all = trials;
            CHECK_TEXT(expected.hex, got.hex);
            CHECK_INTEGER(all, trials);
            CHECK(trials > 1500);
            thread_team_close(team);
        }
        Search search;
        bool waiting;
        CHECK_OK(search_init(&test.spec, &test.arena, &search));
        CHECK_OK(search.method->ask(&search, HOST_TRIALS, &flight.trials, &waiting));
        host_check_ids(&test, &flight.trials);
        arena_destroy(&test.arena);
    }
}

// ---- fill and collect -----------------------------------------------------------------------------------------------

// Results such as no model gives: NaN with a payload, infinities, -0.
static void host_make_results(const Spec *spec, uint64_t number, Batch *batch)
{
    const uint64_t odd = 0xfff8000000012345;
    for (int64_t lane = 0; lane < batch->lanes; lane++) {
        const double u = host_draw(number, (uint32_t)(lane % 65536));
        batch->status[lane] = u < 0.9 ? LANE_DONE : LANE_DONE + 1 + (int32_t)(lane % 2);
        for (int m = 0; m < spec->configured.n_metrics; m++) {
            double *metric = &batch->metric[m * batch->stride + lane];
            *metric = (u - 0.5) * (double)(1 + m) + 1e-9 * (double)lane;
            if (lane % 97 == m) *metric = -0.0;
            if (lane % 101 == m) *metric = (double)INFINITY;
            if (lane % 103 == m) memcpy(metric, &odd, sizeof odd);
        }
    }
}

static void host_take_batch(const Spec *spec, Arena *arena, Batch *batch)
{
    const int64_t lanes = (int64_t)HOST_TRIALS * spec->replicates.count;
    *batch = (Batch){.stride = lanes,
                     .parameter = ARENA_NEW(arena, double, lanes * spec->configured.n_parameters),
                     .metric = ARENA_NEW(arena, double, lanes * spec->configured.n_metrics),
                     .status = ARENA_NEW(arena, int32_t, lanes)};
    batch->trace.capacity = 1;
    batch->trace.sample = ARENA_NEW(arena, double, lanes * spec->configured.n_columns);
    batch->trace.count = ARENA_NEW(arena, int64_t, lanes); // traces without samples
}

// The lanes of a batch, one by one: observed ones first.
static void host_check_lanes(const Spec *spec, const Flight *flight, const Batch *batch, Arena *arena)
{
    const int n = spec->configured.n_parameters, count = spec->replicates.count;
    const int64_t recorded = recording_of(spec, RECORD_TRAJECTORIES).lanes;
    double *parameter = ARENA_NEW(arena, double, n);
    int64_t wrong = 0, observed = 0, rest = 0;
    for (int64_t t = 0; t < flight->trials.count; t++) rest += flight->observed[t] ? recorded : 0;
    CHECK_INTEGER(rest, batch->trace.lanes);
    CHECK_INTEGER(flight->trials.count * count, batch->lanes);
    for (int64_t t = 0; t < flight->trials.count; t++) {
        for (int r = 0; r < count; r++) {
            const int64_t lane = flight->observed[t] && r < recorded ? observed++ : rest++;
            replicate_parameters(spec, flight->trials.search[t], flight->trials.ordinal[t], r,
                                 &flight->trials.parameter[t * n], parameter);
            for (int p = 0; p < n; p++)
                wrong += memcmp(&parameter[p], &batch->parameter[p * batch->stride + lane], sizeof *parameter) != 0;
        }
    }
    CHECK_INTEGER(0, wrong);
}

// Fills and collects HOST_TRIALS trials.
static Sha256Text host_collect(HostCase *test, ThreadTeam *team, uint64_t number)
{
    const Spec *spec = &test->spec;
    const size_t used = test->arena.used;
    const int64_t lanes = (int64_t)HOST_TRIALS * spec->replicates.count;
    Flight flight;
    Batch batch;
    Commit commit;
    Search search;
    bool waiting;
    CHECK_OK(search_init(spec, &test->arena, &search));
    flight_take(spec, HOST_TRIALS, team, &test->arena, &flight);
    commit_take(spec, HOST_TRIALS, lanes, 0, 0, &test->arena, &commit);
    host_take_batch(spec, &test->arena, &batch);
    CHECK_OK(search.method->ask(&search, HOST_TRIALS, &flight.trials, &waiting));
    for (int64_t t = 0; t < flight.trials.count; t++)
        flight.observed[t] = spec->record.trajectories && flight.trials.id[t] % spec->record.select.every == 0;
    flight_fill(spec, &flight, &batch);
    host_check_lanes(spec, &flight, &batch, &test->arena);
    host_make_results(spec, number, &batch);
    flight_collect(spec, &flight, &batch, &commit);
    CHECK_INTEGER(batch.trace.lanes, commit.n_lanes);
    CHECK(commit.failures > 0 && commit.failures < flight.trials.count);
    const Sha256Text digest = host_digest_rows(spec, &flight, &commit);
    arena_rewind(&test->arena, used);
    return digest;
}

TEST(host_threads_collect_the_rows_of_one)
{
    for (uint64_t number = 0; number < (test_quick() ? HOST_SPECS / 3 : HOST_SPECS); number++) {
        HostCase test;
        Sha256Text expected = {.hex = ""};
        host_start(&test, number);
        for (int i = 0; i < HOST_TEAMS; i++) {
            ThreadTeam *team = thread_team_open(host_teams[i]);
            const Sha256Text got = host_collect(&test, team, number);
            if (i == 0) expected = got;
            CHECK_TEXT(expected.hex, got.hex);
            thread_team_close(team);
        }
        arena_destroy(&test.arena);
    }
}
