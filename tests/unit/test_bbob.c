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
    const BackendOptions options = {.name = "cpu", .threads = 2, .isa = isa, .patience = INFINITY};
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

// Values of COCO's suite bbob above f_opt, by tests/unit/bbob_references.py: a function per row, in these dimensions
// and instances, at x_i = 8 ((7 i) mod 11)/11 - 4.
enum { BBOB_CASES = 6 };
static const int bbob_cases[BBOB_CASES][2] = {{2, 1}, {3, 7}, {5, 2}, {10, 15}, {20, 4}, {40, 11}};
static const double bbob_references[BBOB_TEST_FUNCTIONS][BBOB_CASES] = {
    {1.13985275768596, 17.0610029011571, 100.237461934545, 136.7900224, 187.684498009917, 483.418994306116},
    {4934162.94512379, 28484486.6827712, 5724932.45797503, 8476867.5066491, 17400469.9365233, 24540141.8754441},
    {197.601240659301, 288.075259605887, 221.3365753162, 517.550193996768, 2425.7209259145, 2065.42143723582},
    {188.732639492108, 10050.7292172373, 1614.52335219941, 3149.01484291156, 2389.80016391261, 5324.88953420489},
    {72.0909090909091, 33.4254289187176, 86.3455565703421, 208.930834703909, 440.102637775778, 798.259270005157},
    {179577.529403118, 381106.196550204, 300201.129396677, 295514.295706123, 1833942.85589767, 2360772.53273926},
    {33.1579395512871, 246.835832140092, 99.1346198032837, 555.327208470239, 1812.97922097115, 3058.47441339538},
    {2554.76227718153, 5779.03811459512, 78377.5404680856, 116638.431153703, 496079.86209702, 635372.422862367},
    {607.795994068282, 7569.62674001248, 10323.7811270655, 43385.2480070893, 113570.053042617, 256893.134304141},
    {90876.5990531461, 18403107.7182574, 1495508.64813821, 14258798.256725, 38292245.8884987, 17593173.4570541},
    {3237412.67585327, 2551836.75711073, 5015011.44032727, 3275283.25216012, 3289020.56204231, 5925072.31395108},
    {2357747239.04418, 958127.91844671, 100215581.845288, 16018629588.0587, 598779294.646366, 1635572244.48876},
    {64.5683579811736, 35.2333665158311, 1809.6462832976, 2494.1000882658, 3423.67835697596, 4033.05272889076},
    {2.12496493513871, 7.34509186887276, 131.428098596047, 111.055247531719, 72.5523364418862, 148.630888820016},
    {215.976180074728, 416.140741249143, 358.859244790699, 389.102574641821, 2738.564226839, 2965.70010085228},
    {31.4986847014237, 113.093265833204, 121.140376566577, 88.2969172725745, 41.4345332730908, 72.0859382317038},
    {36.0455302055809, 14.2978083213302, 14.5295681435205, 12.8928922643321, 19.3424470004799, 33.5271286099554},
    {144.055225709021, 110.748500009272, 79.2943541929666, 63.5108608365854, 65.6570867100822, 131.43596137679},
    {4.23200375362242, 20.5326979111213, 13.3603280259812, 16.1630007316485, 32.8880928629626, 31.1602611319761},
    {42671.2739576372, 5770.69307403064, 26986.1272103672, 25361.0445389307, 249004.67705382, 408077.061261214},
    {42.7931787741632, 27.4748015590418, 71.6860410821426, 73.3225864185774, 81.4518577419371, 86.228522611265},
    {56.5128501160046, 75.6672010916444, 71.1302426440177, 84.2517756063845, 84.9311961141452, 86.1057818843214},
    {34.8096213730319, 38.8024257977163, 10.733270187784, 20.2355829886855, 8.9109932605308, 19.2398617986516},
    {42.4545008670785, 62.0998237633986, 85.1868385791094, 207.791978084017, 603.078307162646, 1300.66499001067},
};

TEST(bbob_instances_are_those_of_coco)
{
    for (int function = 0; function < BBOB_TEST_FUNCTIONS; function++) {
        for (int k = 0; k < BBOB_CASES; k++) {
            BbobRun run;
            const int dimension = bbob_cases[k][0];
            const double expected = bbob_references[function][k];
            bbob_open(&run, function, dimension, bbob_cases[k][1], "auto", 0);
            for (int i = 1; i <= dimension; i++) bbob_set(&run, 0, i - 1, 8.0 * (7 * i % 11) / 11.0 - 4.0);
            bbob_evaluate(&run);
            CHECK_NEAR(expected, bbob_metric(&run, 0, 0), 1e-9 * fmax(1.0, expected));
            bbob_close(&run);
        }
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
    static const char *const isas[] = {"scalar", ISA_V2, ISA_V3, ISA_V4};
    double expected[BBOB_TEST_LANES];
    for (int function = 0; function < BBOB_TEST_FUNCTIONS; function++) {
        for (int k = 0; k < 4; k++) {
            if ((k == 0 || k == 2) && !test_has_isa(ISA_V3)) continue;
            if (k == 3 && !test_has_isa(ISA_V4)) continue;
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
            if ((k == 0 || k == 2) && !test_has_isa(ISA_V3)) continue;
            if (k == 3 && !test_has_isa(ISA_V4)) continue;
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
