// Kernels made for a campaign (sim/made) of systems with noise, compiled for this CPU by a C++ compiler: they have the
// bits of the general kernels, also where slices end within an interval of the noise.
#include "../../runner/campaign/batch/made.h"
#include "../../runner/experiment/spec/keys.h"
#include "../test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MADE_LANES = 24, MADE_SLICE = 7 };

#if defined(__aarch64__)
#define MADE_INTRINSICS
#define MADE_MARCH "-march=armv8-a"
#else
#define MADE_INTRINSICS "#include <immintrin.h>\n"
#define MADE_MARCH "-march=x86-64-v3"
#endif

// In place of CUDA, before the source.
static const char made_before[] =
    "#include <cmath>\n#include <cstdio>\n#include <cstring>\n" MADE_INTRINSICS "using namespace std;\n"
    "#define HOPSCOTCH_SCALAR\n#define __device__\n#define __noinline__\n"
    "#define __global__\n#define __launch_bounds__(...)\n"
    "static struct { unsigned x; } blockIdx, threadIdx;\n"
    "static double __longlong_as_double(long long bits) { double x; memcpy(&x, &bits, 8); return x; }\n"
    "#pragma GCC diagnostic ignored \"-Wnarrowing\"\n";

// Behind it: all lanes in slices, then their metrics.
static const char made_behind[] = "int main()\n"
                                  "{\n"
                                  "    static double work[ROOM], metric[METRICS*LANES_OF];\n"
                                  "    static int32_t status[LANES_OF];\n"
                                  "    LaneGroup group = {};\n"
                                  "    group.batch.lanes = group.batch.stride = LANES_OF;\n"
                                  "    group.batch.parameter = (double *)given;\n"
                                  "    group.batch.work = work;\n"
                                  "    group.batch.metric = metric;\n"
                                  "    group.batch.status = status;\n"
                                  "    group.valid = 1;\n"
                                  "    group.ticks = SLICE;\n"
                                  "    for (bool running = true; running; group.tick += SLICE) {\n"
                                  "        running = false;\n"
                                  "        for (int64_t lane = 0; lane < LANES_OF; lane++) {\n"
                                  "            threadIdx.x = (unsigned)lane;\n"
                                  "            made(Constants{}, nullptr, group, LANES_OF);\n"
                                  "            running |= status[lane] == LANE_RUNNING;\n"
                                  "        }\n"
                                  "    }\n"
                                  "    for (int i = 0; i < METRICS*LANES_OF; i++) printf(\"%a\\n\", metric[i]);\n"
                                  "    for (int i = 0; i < LANES_OF; i++) printf(\"%d\\n\", status[i]);\n"
                                  "}\n";

typedef struct MadeCase {
    Arena arena;
    Spec spec;
    Configured configured;
    Backend *backend;
    const Batch *batch;
} MadeCase;

static void made_general(MadeCase *test, const char *text)
{
    bool done = false;
    double seconds;
    const BackendOptions options = {.name = "cpu", .threads = 1, .isa = "auto"};
    CHECK_OK(arena_create_growing(&test->arena, (size_t)1 << 32, "a spec"));
    CHECK_OK(spec_parse("made.yaml", text, NULL, 0, &test->arena, diagnostics_new(&test->arena), &test->spec));
    CHECK_OK(spec_build(&test->spec, &test->arena, &test->configured));
    CHECK_OK(backend_open(&options, &test->backend));
    CHECK_OK(backend_prepare(test->backend, &test->configured, MADE_LANES, 0, 0));
    Batch *batch = backend_batch(test->backend, 0);
    batch->lanes = MADE_LANES;
    batch->trace.lanes = 0;
    for (int64_t lane = 0; lane < MADE_LANES; lane++) {
        double parameter[64];
        CHECK(test->configured.n_parameters <= 64);
        replicate_parameters(&test->spec, 0, 0, (int)lane, test->spec.fixed, parameter);
        for (int p = 0; p < test->configured.n_parameters; p++)
            batch->parameter[p * batch->stride + lane] = parameter[p];
    }
    CHECK_OK(backend_begin(test->backend, 0));
    while (!done) {
        CHECK_OK(backend_advance(test->backend, 0, 1000));
        CHECK_OK(backend_wait(test->backend, 0, &done, &seconds));
    }
    test->batch = batch;
}

static void made_program(MadeCase *test, const char *path)
{
    const Configured *configured = &test->configured;
    double *free_inputs = ARENA_NEW(&test->arena, double, configured->n_parameters);
    for (int p = 0; p < configured->n_parameters; p++) free_inputs[p] = NAN;
    const MadeWish wish = {.configured = configured, .fixed = free_inputs, .thread_blocks = 1};
    const char *why, *source = made_source(&wish, &test->arena, &why);
    FILE *file = fopen(path, "w");
    CHECK(source != NULL && file != NULL);
    fprintf(file, "%s%s", made_before, source);
    fprintf(file, "enum { LANES_OF = %d, METRICS = %d, SLICE = %d, ROOM = %d };\nstatic const double given[] = {",
            MADE_LANES, configured->n_metrics, MADE_SLICE, configured->n_work * (MADE_LANES + 64));
    for (int p = 0; p < configured->n_parameters; p++)
        for (int lane = 0; lane < MADE_LANES; lane++)
            fprintf(file, "%a,", test->batch->parameter[p * test->batch->stride + lane]);
    fprintf(file, "};\n%s", made_behind);
    CHECK(fclose(file) == 0);
}

// The numbers that the made kernel computes.
static void made_compare(MadeCase *test, const char *path)
{
    FILE *file = fopen(path, "r");
    char line[64];
    CHECK(file != NULL);
    for (int m = 0; m < test->configured.n_metrics; m++)
        for (int lane = 0; lane < MADE_LANES; lane++) {
            CHECK(fgets(line, sizeof line, file) != NULL);
            const double expected = test->batch->metric[m * test->batch->stride + lane], got = strtod(line, NULL);
            if (expected == expected || got == got) CHECK_BITS(expected, got);
        }
    for (int lane = 0; lane < MADE_LANES; lane++) {
        CHECK(fgets(line, sizeof line, file) != NULL);
        CHECK_INTEGER(test->batch->status[lane], atoi(line));
    }
    fclose(file);
}

static void made_is_general(const char *text)
{
    MadeCase test;
    made_general(&test, text);
    const char *folder = test_folder();
    made_program(&test, arena_format(&test.arena, "%s/made.cpp", folder));
    CHECK_INTEGER(0, system(arena_format(&test.arena,
                                         "cd %s && c++ -std=c++17 -O1 -ffp-contract=off -w " MADE_MARCH " made.cpp "
                                         "-o made && ./made >made.txt",
                                         folder)));
    made_compare(&test, arena_format(&test.arena, "%s/made.txt", folder));
    CHECK(backend_close(test.backend));
    arena_destroy(&test.arena);
}

// A ball on a soft floor in gusts. %s: the integrator, and the size of another noise.
static const char made_ball[] =
    "version: 1\nexperiment: made\nmodel: equations\nsimulation:\n  duration: 3\n  dt: 0.02\n  refine: 2\n"
    "  integrator: %s\n  system:\n    parameters: {k: 40, g: 9.81}\n    states: {z: 1, v: 0, u: 0}\n    held: {n: 0}\n"
    "    events: [{name: look, every: 0.0501, set: {n: n + z}}, {name: up, crosses: u - 0.1}]\n"
    "    modes:\n"
    "      air:\n        rates: {z: v, v: -g, u: -u}\n        noise: {v: {size: 0.8, by: w}, u: %s}\n"
    "        events: [{name: down, falls: z - 0.5, to: floor}]\n"
    "      floor:\n        rates: {z: v, v: -g + k*(0.5 - z) - v, u: 1 - u}\n"
    "        noise: {v: {size: 0.1 + time, by: w}}\n"
    "        events: [{name: off, rises: z - 0.5, to: air, set: {v: 1.1*v}}]\n"
    "    metrics: {n_end: {final: n}, z_mean: {mean: z}, top: {max: z}, ups: {count: up}, downs: {count: down},\n"
    "      part: {part: u > 0.2}, hit: {at: down, value: v, take: min}, u_end: {final: u}}\n"
    "    failures: {far: z > 1.6}\n"
    "objective: {minimize: n_end}\n";

TEST(equations_made_kernels_with_noise_have_the_bits_of_general_ones)
{
    if (system("c++ --version >/dev/null 2>&1") != 0) {
        test_skip("a C++ compiler", "apt-get install g++");
        return;
    }
    char text[2048];
    if (!test_quick()) { // half a minute to compile
        snprintf(text, sizeof text, made_ball, "euler_maruyama", "0.5 + 0.2*z*u");
        made_is_general(text);
    }
    snprintf(text, sizeof text, made_ball, "sra3", "0.5");
    made_is_general(text);
    made_is_general("version: 1\nexperiment: made\nmodel: equations\nsimulation:\n  duration: 60\n  system:\n"
                    "    states: {x: 0.3, n: 0}\n    next: {x: 3.6*x*(1 - x), n: n}\n    noise: {x: 0.02*x}\n"
                    "    events: [{name: high, rises: x - 0.7, set: {n: n + 1}}]\n"
                    "    metrics: {x_end: {final: x}, n_end: {final: n}, sum: {integral: x}}\n"
                    "objective: {minimize: x_end}\n");
}
