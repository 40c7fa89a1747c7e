// The benchmark functions, through the same calls as any model: values by hand, optima, instances, backends and slices.
#include "../test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { BBOB_TEST_LANES = 13, BBOB_TEST_SPHERE = 0, BBOB_TEST_ROSENBROCK = 7, BBOB_TEST_FUNCTIONS = 24 };

typedef struct BbobRun {
    Arena arena;
    Configured configured;
    Backend *backend;
    Batch *batch;
} BbobRun;

// The model configured and a batch of BBOB_TEST_LANES at x = 0, on a CPU backend, which keeps a pointer into *run.
static void bbob_open(BbobRun *run, double function, double dimension, double instance, const char *isa, int64_t traced)
{
    const Model *model = model_find("bbob");
    const BackendOptions options = {.name = "cpu", .threads = 2, .isa = isa};
    const double settings[] = {function, dimension, instance};
    CHECK_OK(arena_create(&run->arena, 1 << 20, "a test of bbob"));
    CHECK_OK(model->configure(settings, NULL, &run->arena, &run->configured));
    CHECK_OK(backend_open(&options, &run->backend));
    CHECK_OK(backend_prepare(run->backend, &run->configured, BBOB_TEST_LANES, traced, trace_capacity(1, 1)));
    run->batch = backend_batch(run->backend, 0);
    run->batch->lanes = BBOB_TEST_LANES;
    run->batch->trace.lanes = traced;
    run->batch->trace.every = 1;
}

static void bbob_set(BbobRun *run, int64_t lane, int coordinate, double x)
{
    run->batch->parameter[coordinate * run->batch->stride + lane] = x;
}

static double bbob_metric(const BbobRun *run, int metric, int64_t lane)
{
    return run->batch->metric[metric * run->batch->stride + lane];
}

static void bbob_evaluate(BbobRun *run)
{
    bool done = false;
    double seconds;
    CHECK_OK(backend_begin(run->backend, 0));
    CHECK_OK(backend_advance(run->backend, 0, 100));
    CHECK_OK(backend_wait(run->backend, 0, &done, &seconds));
    CHECK(done);
}

static void bbob_close(BbobRun *run)
{
    backend_close(run->backend);
    arena_destroy(&run->arena);
}

TEST(bbob_describes_itself)
{
    BbobRun run;
    bbob_open(&run, BBOB_TEST_ROSENBROCK, 40, 1, "auto", 0);
    const Configured *c = &run.configured;
    CHECK_INTEGER(40, c->n_parameters);
    CHECK_TEXT("x1", c->parameters[0].name);
    CHECK_TEXT("x40", c->parameters[39].name);
    CHECK_INTEGER(41, c->n_columns);
    CHECK_TEXT("time", c->columns[0].name);
    CHECK_TEXT("x40", c->columns[40].name);
    CHECK_TEXT("f", c->metrics[0].name);
    CHECK_TEXT("f", c->objective);
    CHECK_TEXT("none", c->failures[0]);
    CHECK_INTEGER(1, c->ticks);
    bbob_close(&run);
}

// f at the optimum (the assets) is 0, and the optimum lies where the definition says.
TEST(bbob_optima_are_zero_and_within_reach)
{
    for (int function = 0; function < BBOB_TEST_FUNCTIONS; function++) {
        for (int dimension = 2; dimension <= 40; dimension += 19) {
            BbobRun run;
            bbob_open(&run, function, dimension, 3, "auto", 0);
            double widest = 0.0;
            for (int i = 0; i < dimension; i++) {
                widest = fmax(widest, fabs(run.configured.assets[i]));
                bbob_set(&run, 0, i, run.configured.assets[i]);
                bbob_set(&run, 2, i, run.configured.assets[i] + 1e-3);
            }
            bbob_evaluate(&run);
            const double reach = function == 4 ? 5.0 : function == 7 ? 3.0 : 4.0;
            CHECK(widest <= reach && widest > 0.05);
            CHECK_NEAR(0.0, bbob_metric(&run, 0, 0), 1e-13);
            CHECK(bbob_metric(&run, 0, 0) >= 0.0);
            CHECK_BITS(0.0, bbob_metric(&run, 1, 0));
            CHECK(bbob_metric(&run, 0, 1) > 1e-3);
            CHECK(bbob_metric(&run, 0, 2) > 0.0);
            CHECK_INTEGER(LANE_DONE, run.batch->status[0]);
            bbob_close(&run);
        }
    }
}

// f8 by the formula of the report, in plain C; its stretch max(1, sqrt(D)/8) is 1 up to 64 dimensions.
static double bbob_plain_rosenbrock(const double *x, const double *x_opt, int dimension)
{
    double sum = 0.0;
    for (int i = 0; i + 1 < dimension; i++) {
        const double z = x[i] - x_opt[i] + 1.0, next = x[i + 1] - x_opt[i + 1] + 1.0;
        sum += 100.0 * (z * z - next) * (z * z - next) + (z - 1.0) * (z - 1.0);
    }
    return sum;
}

TEST(bbob_values_are_those_of_the_definitions)
{
    for (int function = BBOB_TEST_SPHERE; function <= BBOB_TEST_ROSENBROCK; function += BBOB_TEST_ROSENBROCK) {
        BbobRun run;
        bbob_open(&run, function, 7, 2, "auto", 0);
        const double *x_opt = run.configured.assets;
        double x[BBOB_TEST_LANES][7];
        for (int lane = 0; lane < BBOB_TEST_LANES; lane++) {
            for (int i = 0; i < 7; i++) {
                x[lane][i] = -5.0 + 10.0 * ((lane * 7 + i) * 37 % 91) / 90.0;
                bbob_set(&run, lane, i, x[lane][i]);
            }
        }
        bbob_evaluate(&run);
        for (int lane = 0; lane < BBOB_TEST_LANES; lane++) {
            double square = 0.0;
            for (int i = 0; i < 7; i++) square += (x[lane][i] - x_opt[i]) * (x[lane][i] - x_opt[i]);
            const double f = function == 0 ? square : bbob_plain_rosenbrock(x[lane], x_opt, 7);
            CHECK_NEAR(f, bbob_metric(&run, 0, lane), 1e-14 * f);
            CHECK_NEAR(sqrt(square), bbob_metric(&run, 1, lane), 1e-14 * sqrt(square));
        }
        bbob_close(&run);
    }
}

// Values of another implementation in 6 dimensions, instance 3: that of pycma 4.5, which agrees to 1e-12 when it is
// given the same optima, rotations and peaks.
TEST(bbob_values_are_those_of_another_implementation)
{
    static const double expected[BBOB_TEST_FUNCTIONS] = {
        50.228202816108706, 5556437.109726191,  4080.133121396932,  340.066873468463,  118.45405274514643,
        321340.4344649899,  442.36973077937864, 5698.570322385827,  65956.57723469897, 628255.0982244388,
        9348761.880447777,  222524202.4614702,  925.2930947298439,  87.3327712135027,  318.83540631778703,
        135.74510280886184, 29.726734233984235, 424.24162139022786, 42.75386356218891, 22473.855765025626,
        60.26313447542924,  85.92742435639906,  15.261466753428651, 194.49251985768348};
    for (int function = 0; function < BBOB_TEST_FUNCTIONS; function++) {
        BbobRun run;
        bbob_open(&run, function, 6, 3, "auto", 0);
        for (int i = 0; i < 6; i++) bbob_set(&run, 0, i, -4.0 + 1.375 * i);
        bbob_evaluate(&run);
        CHECK_NEAR(expected[function], bbob_metric(&run, 0, 0), 1e-12 * expected[function]);
        bbob_close(&run);
    }
}

// Instances differ, functions differ, and a problem is the same each time it is configured.
TEST(bbob_instances_and_functions_differ)
{
    BbobRun first, again;
    bbob_open(&first, 0, 5, 1, "auto", 0);
    bbob_open(&again, 0, 5, 1, "auto", 0);
    BbobRun second, other;
    bbob_open(&second, 0, 5, 2, "auto", 0);
    bbob_open(&other, BBOB_TEST_ROSENBROCK, 5, 1, "auto", 0);
    for (int i = 0; i < 5; i++) {
        CHECK_BITS(first.configured.assets[i], again.configured.assets[i]);
        CHECK(first.configured.assets[i] != second.configured.assets[i]);
        CHECK(first.configured.assets[i] / 4.0 != other.configured.assets[i] / 3.0);
    }
    bbob_close(&first);
    bbob_close(&again);
    bbob_close(&second);
    bbob_close(&other);
}

// Every instruction set, traced or not, gives the same bits; a traced lane records its point twice.
TEST(bbob_has_the_same_bits_everywhere)
{
    static const char *const isas[] = {"scalar", "v2", "v3", "v4"};
    double expected[BBOB_TEST_LANES];
    for (int function = 0; function < BBOB_TEST_FUNCTIONS; function++) {
        for (int k = 0; k < 4; k++) {
            if ((k == 0 || k == 2) && !__builtin_cpu_supports("fma")) continue;
            if (k == 3 && !__builtin_cpu_supports("avx512dq")) continue;
            BbobRun run;
            bbob_open(&run, function, 7, 5, isas[k], 0);
            for (int lane = 0; lane < BBOB_TEST_LANES; lane++) {
                for (int i = 0; i < 7; i++) bbob_set(&run, lane, i, 5.0 * sin(lane + 3.0 * i));
            }
            bbob_evaluate(&run);
            if (k == 0) memcpy(expected, run.batch->metric, sizeof expected);
            for (int lane = 0; lane < BBOB_TEST_LANES; lane++) CHECK_BITS(expected[lane], bbob_metric(&run, 0, lane));
            bbob_close(&run);
        }
    }
    for (int64_t traced = 0; traced <= 5; traced += 5) {
        for (int k = 0; k < 4; k++) {
            if ((k == 0 || k == 2) && !__builtin_cpu_supports("fma")) continue;
            if (k == 3 && !__builtin_cpu_supports("avx512dq")) continue;
            BbobRun run;
            bbob_open(&run, BBOB_TEST_ROSENBROCK, 40, 9, isas[k], traced);
            for (int lane = 0; lane < BBOB_TEST_LANES; lane++) {
                for (int i = 0; i < 40; i++) bbob_set(&run, lane, i, sin(lane + 3.0 * i));
            }
            bbob_evaluate(&run);
            if (k == 0 && traced == 0) memcpy(expected, run.batch->metric, sizeof expected);
            for (int lane = 0; lane < BBOB_TEST_LANES; lane++) CHECK_BITS(expected[lane], bbob_metric(&run, 0, lane));
            for (int64_t lane = 0; lane < traced; lane++) {
                const double *sample = run.batch->trace.sample + lane * run.batch->trace.capacity * 41;
                CHECK_INTEGER(2, run.batch->trace.count[lane]);
                CHECK_BITS(0.0, sample[0]);
                CHECK_BITS(1.0, sample[41]);
                CHECK_BITS(sin((double)lane + 3.0 * 39), sample[41 + 40]);
            }
            bbob_close(&run);
        }
    }
}

// A point with a NaN fails its own lane and no other lane.
TEST(bbob_not_a_number_is_a_failure)
{
    BbobRun run;
    bbob_open(&run, 0, 2, 1, "auto", 0);
    bbob_set(&run, 4, 1, NAN);
    bbob_evaluate(&run);
    for (int lane = 0; lane < BBOB_TEST_LANES; lane++) {
        CHECK_INTEGER(lane == 4 ? LANE_DONE + 1 : LANE_DONE, run.batch->status[lane]);
    }
    CHECK_TEXT("diverged", run.configured.failures[1]);
    CHECK_BITS(NAN, bbob_metric(&run, 0, 4));
    bbob_close(&run);
}
