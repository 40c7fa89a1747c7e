// The calls of runner/hopscotch.h: wrong arguments, closed handles, tables, tensors, expressions of the spec.
#include "environment_case.h"
#include "expression_case.h"

#include "../../sim/cpu_kernels.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CALLS_MODEL                                                                                                    \
    "version: 1\nexperiment: case\nmodel: hopper\n"                                                                    \
    "simulation: {settle: 0.01, duration: 0.05, control: {mode: external, period: 10ms}}\n"
static const char calls_spec[] = CALLS_MODEL "environment: {reward: \"1\"}\n";

static void calls_said(const char *words, const hopscotch_env *env)
{
    const char *text = hopscotch_error(env);
    if (strstr(text, words) == NULL) printf("said: %s\n", text);
    CHECK(strstr(text, words) != NULL);
}

// ---- opening --------------------------------------------------------------------------------------------------------

static void calls_refuses(int status, const char *words, const char *text, const hopscotch_env_options *options)
{
    hopscotch_env *env = (hopscotch_env *)&env;
    CHECK_INTEGER(status, hopscotch_env_open_text("case.yaml", text, options, &env));
    CHECK(env == NULL);
    calls_said(words, NULL);
}

// 1024 observations of five operations each. Equal ones would be counted once.
static void calls_refuses_long_programs(void)
{
    enum { OBSERVATIONS = 1024 };
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    fputs(CALLS_MODEL "environment: {reward: \"1\", observe: [", out);
    for (int k = 0; k < OBSERVATIONS; k++)
        fprintf(out, "\"%d*(time+%d)/(time-%d)+sin(%d*time)\", ", k + 3, k + 3, k + 3, k + 3);
    fputs("]}\n", out);
    fclose(out);
    calls_refuses(HOPSCOTCH_WRONG_SPEC, "at most 4096 operations are allowed, equal ones counted once", text, NULL);
    free(text);
}

TEST(environment_refuses_specs)
{
    calls_refuses(HOPSCOTCH_WRONG_SPEC, "environment", CALLS_MODEL, NULL);
    calls_refuses(HOPSCOTCH_WRONG_SPEC, "control: {mode: external}",
                  "version: 1\nexperiment: case\nmodel: hopper\nenvironment: {reward: \"1\"}\n", NULL);
    calls_refuses(HOPSCOTCH_WRONG_SPEC, "case.yaml:5:32: error: unknown name 'speeed'",
                  CALLS_MODEL "environment: {reward: \"1 + sin(speeed)\", define: {speed: dx_foot}}\n", NULL);
    calls_refuses(HOPSCOTCH_WRONG_SPEC, "environment.reward is missing", CALLS_MODEL "environment: {observe: [time]}\n",
                  NULL);
    calls_refuses(HOPSCOTCH_WRONG_SPEC, "already a name of the model",
                  CALLS_MODEL "environment: {reward: \"1\", define: {u1: \"2\"}}\n", NULL);
    calls_refuses(HOPSCOTCH_WRONG_SPEC, "is not a name, expected letters",
                  CALLS_MODEL "environment: {reward: \"1\", define: {\"1a\": \"2\"}}\n", NULL);
    calls_refuses(HOPSCOTCH_WRONG_SPEC, "observe", CALLS_MODEL "environment: {reward: \"1\", observe: []}\n", NULL);
    calls_refuses_long_programs();
    calls_refuses(HOPSCOTCH_WRONG_SPEC, "case.yaml", "model: [", NULL);
    hopscotch_env *env = NULL;
    CHECK_INTEGER(HOPSCOTCH_MACHINE, hopscotch_env_open("no/such.yaml", NULL, &env) == HOPSCOTCH_WRONG_SPEC
                                         ? HOPSCOTCH_MACHINE
                                         : hopscotch_env_open("no/such.yaml", NULL, &env));
    calls_said("no/such.yaml", NULL);
}

TEST(environment_refuses_options)
{
    const hopscotch_env_options good = HOPSCOTCH_ENV_OPTIONS;
    hopscotch_env_options options = good;
    options.size = 3;
    calls_refuses(HOPSCOTCH_WRONG_ARGUMENT, "options.size", calls_spec, &options);
    options = good;
    options.lanes = -1;
    calls_refuses(HOPSCOTCH_WRONG_ARGUMENT, "options.lanes", calls_spec, &options);
    options.lanes = 1 << 25;
    calls_refuses(HOPSCOTCH_WRONG_ARGUMENT, "options.lanes", calls_spec, &options);
    options = good;
    options.autoreset = 3;
    calls_refuses(HOPSCOTCH_WRONG_ARGUMENT, "options.autoreset", calls_spec, &options);
    options = good;
    options.type = HOPSCOTCH_INT32;
    calls_refuses(HOPSCOTCH_WRONG_ARGUMENT, "options.type", calls_spec, &options);
    options = good;
    options.threads = -2;
    calls_refuses(HOPSCOTCH_WRONG_ARGUMENT, "options.threads", calls_spec, &options);
    options = good;
    options.n_set = 1;
    calls_refuses(HOPSCOTCH_WRONG_ARGUMENT, "options.n_set", calls_spec, &options);
    options.n_set = 2;
    options.set = (const char *const[]){"seed=4", NULL};
    calls_refuses(HOPSCOTCH_WRONG_ARGUMENT, "options.set[1] is NULL", calls_spec, &options);
    options = good;
    options.device = "tpu";
    calls_refuses(HOPSCOTCH_WRONG_ARGUMENT, "unknown device 'tpu'", calls_spec, &options);
    options.device = "cuda:1x";
    calls_refuses(HOPSCOTCH_WRONG_ARGUMENT, "unknown device", calls_spec, &options);
    options = good;
    options.isa = "v9";
    options.device = "cpu";
    calls_refuses(HOPSCOTCH_WRONG_ARGUMENT, "v9", calls_spec, &options);
    // what another processor or build may lack
    static const char *const isas[] = {ISA_V4, ISA_V3, ISA_V2, "scalar"};
    for (int i = 0; i < 4; i++) {
        hopscotch_env *env = NULL;
        options.isa = isas[i];
        if (hopscotch_env_open_text("case.yaml", calls_spec, &options, &env) == HOPSCOTCH_OK)
            CHECK_INTEGER(HOPSCOTCH_OK, hopscotch_env_close(env));
        else if (strstr(hopscotch_error(NULL), "processor") == NULL &&
                 strstr(hopscotch_error(NULL), "built without") == NULL)
            calls_said("this build has no environments for the instruction set", NULL);
    }
#ifndef HOPSCOTCH_CUDA
    options = good;
    options.device = "cuda";
    calls_refuses(HOPSCOTCH_MACHINE, "this build has no environments on a GPU", calls_spec, &options);
#endif
    CHECK_INTEGER(HOPSCOTCH_WRONG_ARGUMENT, hopscotch_env_open_text(NULL, calls_spec, NULL, NULL));
    CHECK_INTEGER(HOPSCOTCH_WRONG_ARGUMENT, hopscotch_env_open(NULL, NULL, &(hopscotch_env *){NULL}));
    calls_refuses(HOPSCOTCH_WRONG_ARGUMENT, "text is NULL", NULL, NULL);
}

// ---- handles --------------------------------------------------------------------------------------------------------

static void calls_open(int64_t lanes, EnvironmentCase *c)
{
    hopscotch_env_options options = HOPSCOTCH_ENV_OPTIONS;
    options.lanes = lanes;
    options.device = environment_case_device();
    CHECK(environment_case_open(calls_spec, &options, c));
}

TEST(environment_handles)
{
    EnvironmentCase c, other;
    hopscotch_array array;
    hopscotch_field field;
    calls_open(2, &c);
    CHECK_INTEGER(HOPSCOTCH_WRONG_ARGUMENT, environment_case_step(&c));
    calls_said("reset the environment first", c.env);
    CHECK_INTEGER(HOPSCOTCH_WRONG_ARGUMENT, environment_case_reset(&c, (const uint8_t[2]){1, 0}, NULL));
    CHECK_INTEGER(HOPSCOTCH_WRONG_ARGUMENT, hopscotch_env_array(c.env, HOPSCOTCH_N_ARRAYS, &array));
    CHECK_INTEGER(HOPSCOTCH_WRONG_ARGUMENT, hopscotch_env_array(c.env, -1, &array));
    CHECK_INTEGER(HOPSCOTCH_WRONG_ARGUMENT, hopscotch_env_array(c.env, 0, NULL));
    CHECK_INTEGER(HOPSCOTCH_WRONG_ARGUMENT, hopscotch_env_field(c.env, 9, 0, &field));
    CHECK_INTEGER(HOPSCOTCH_WRONG_ARGUMENT, hopscotch_env_field(c.env, HOPSCOTCH_TABLE_ACTIONS, 2, &field));
    CHECK_INTEGER(HOPSCOTCH_WRONG_ARGUMENT, hopscotch_env_get_info(c.env, NULL));
    CHECK(hopscotch_env_dlpack(c.env, 77) == NULL);
    CHECK((hopscotch_env_stream(c.env) != NULL) == environment_case_on_gpu());
    if (!environment_case_on_gpu()) CHECK_INTEGER(HOPSCOTCH_WRONG_ARGUMENT, hopscotch_env_set_stream(c.env, &c));
    CHECK_INTEGER(HOPSCOTCH_OK, environment_case_close(&c));
    calls_open(2, &other); // takes the place of the one that was closed
    CHECK(other.env != c.env);
    hopscotch_env *const closed[] = {c.env, NULL, (hopscotch_env *)&c, (hopscotch_env *)(uintptr_t)-1};
    for (int i = 0; i < 4; i++) {
        CHECK_INTEGER(HOPSCOTCH_CLOSED, hopscotch_env_step(closed[i]));
        CHECK_INTEGER(HOPSCOTCH_CLOSED, hopscotch_env_reset(closed[i], NULL, NULL));
        CHECK_INTEGER(HOPSCOTCH_CLOSED, hopscotch_env_close(closed[i]));
        CHECK_INTEGER(HOPSCOTCH_CLOSED, hopscotch_env_wait(closed[i]));
        CHECK_INTEGER(HOPSCOTCH_CLOSED, hopscotch_env_array(closed[i], 0, &array));
        CHECK(hopscotch_env_dlpack(closed[i], 0) == NULL);
        calls_said("closed", closed[i]);
    }
    CHECK_INTEGER(HOPSCOTCH_OK, environment_case_close(&other));
    CHECK_INTEGER(HOPSCOTCH_INTERFACE, hopscotch_interface());
    CHECK_TEXT(HOPSCOTCH_VERSION, hopscotch_version());
}

static void *calls_step(void *env)
{
    static _Thread_local int64_t busy;
    busy = 0;
    for (int i = 0; i < 200; i++) busy += hopscotch_env_step(env) == HOPSCOTCH_BUSY;
    return &busy;
}

// Two threads with one handle: a call is done or refused, and nothing breaks.
TEST(environment_two_threads)
{
    EnvironmentCase c;
    pthread_t threads[2];
    calls_open(64, &c);
    CHECK_INTEGER(HOPSCOTCH_OK, environment_case_reset(&c, NULL, NULL));
    for (int i = 0; i < 2; i++) CHECK_INTEGER(0, pthread_create(&threads[i], NULL, calls_step, c.env));
    for (int i = 0; i < 2; i++) CHECK_INTEGER(0, pthread_join(threads[i], NULL));
    CHECK_INTEGER(HOPSCOTCH_OK, environment_case_close(&c));
}

// ---- what there is --------------------------------------------------------------------------------------------------

TEST(environment_tables)
{
    EnvironmentCase c;
    hopscotch_field field;
    calls_open(5, &c);
    CHECK_INTEGER(2, c.info.n_actions);
    CHECK_INTEGER(13, c.info.n_observations);
    CHECK_INTEGER(100, c.info.physics_steps);
    CHECK_INTEGER(5, c.info.episode_steps);
    CHECK_NEAR(0.01, c.info.control_period, 1e-15);
    CHECK_TEXT("hopper", c.info.model);
    CHECK_INTEGER(environment_case_on_gpu() ? 2 : 1, c.info.device_type);
    CHECK_INTEGER(HOPSCOTCH_OK, hopscotch_env_field(c.env, HOPSCOTCH_TABLE_ACTIONS, 1, &field));
    CHECK_TEXT("u2", field.name);
    CHECK_TEXT("N m", field.unit);
    CHECK_BITS(-100.0, field.low);
    CHECK_INTEGER(HOPSCOTCH_OK, hopscotch_env_field(c.env, HOPSCOTCH_TABLE_OBSERVATIONS, 0, &field));
    CHECK_TEXT("x_foot", field.name);
    CHECK(isinf(field.low) && isinf(field.high));
    CHECK_INTEGER(HOPSCOTCH_OK, hopscotch_env_field(c.env, HOPSCOTCH_TABLE_METRICS, 0, &field));
    CHECK_TEXT("velocity_error", field.name);
    CHECK_INTEGER(HOPSCOTCH_OK, hopscotch_env_field(c.env, HOPSCOTCH_TABLE_PARAMETERS, 0, &field));
    CHECK_TEXT("m", field.name);
    CHECK_INTEGER(HOPSCOTCH_OK, hopscotch_env_field(c.env, HOPSCOTCH_TABLE_FAILURES, 1, &field));
    CHECK_TEXT("fell", field.name);
    CHECK_INTEGER(HOPSCOTCH_OK, environment_case_close(&c));
}

// dlpack.h, version 0.x
typedef struct CallsTensor {
    void *data;
    int32_t device_type, device_id, ndim;
    uint8_t code, bits;
    uint16_t lanes;
    int64_t *shape, *strides;
    uint64_t byte_offset;
    void *context;
    void (*deleter)(struct DLManagedTensor *self);
} CallsTensor;

// A tensor shows the array, also after its environment is closed.
TEST(environment_tensors)
{
    EnvironmentCase c;
    double kept;
    calls_open(3, &c);
    struct DLManagedTensor *managed = hopscotch_env_dlpack(c.env, HOPSCOTCH_OBSERVATIONS);
    const CallsTensor *tensor = (const CallsTensor *)managed;
    CHECK(tensor->data == c.place[HOPSCOTCH_OBSERVATIONS]);
    CHECK_INTEGER(c.info.device_type, tensor->device_type);
    CHECK_INTEGER(2, tensor->ndim);
    CHECK_INTEGER(2, tensor->code);
    CHECK_INTEGER(64, tensor->bits);
    CHECK_INTEGER(3, tensor->shape[0]);
    CHECK_INTEGER(13, tensor->shape[1]);
    CHECK_INTEGER(1, tensor->strides[0]);
    struct DLManagedTensor *flags = hopscotch_env_dlpack(c.env, HOPSCOTCH_TERMINATED);
    CHECK_INTEGER(1, ((const CallsTensor *)flags)->ndim);
    CHECK_INTEGER(1, ((const CallsTensor *)flags)->code);
    CHECK_INTEGER(8, ((const CallsTensor *)flags)->bits);
    CHECK_INTEGER(HOPSCOTCH_OK, environment_case_reset(&c, NULL, NULL));
    const double z_foot = environment_case_number(&c, HOPSCOTCH_OBSERVATIONS, 1, 1);
    CHECK_INTEGER(HOPSCOTCH_OK, environment_case_close(&c));
    environment_case_copy(NULL, &kept, (const double *)tensor->data + 1 + tensor->strides[1], sizeof kept);
    CHECK_BITS(z_foot, kept);
    tensor->deleter(managed);
    ((const CallsTensor *)flags)->deleter(flags);
}

// ---- expressions ----------------------------------------------------------------------------------------------------

static const char *const calls_expressions[] = {
    "x_foot + z_foot * phi_leg - len_leg / dx_foot",
    "-x_foot^2",
    "z_foot^-3",
    "abs(dz_foot)^0.5",
    "2^phi_leg^2",
    "dz_foot^16",
    "dz_foot^17",
    "min(x_foot, z_foot, phi_leg)",
    "max(dz_foot, 0/0)",
    "min(0/0, 1)",
    "sqrt(-1)",
    "x_foot < z_foot and not phi_leg > 0 or 0/0",
    "x_foot <= x_foot",
    "x_foot >= z_foot",
    "x_foot != z_foot",
    "0/0 != 1",
    "x_foot = x_foot",
    "exp(z_foot)",
    "log(abs(dz_foot))",
    "sin(10 * z_foot) - cos(m * z_foot)",
    "1/0",
    "abs(-3)",
    "not 0/0",
    "0/0 or 0",
    "0 or log(0 - 1)",
    "0/0 or 1",
    "1 and 0/0",
    "0/0 and 0",
    "(0/0 != 1) + 1",
    "0/0 < phi_leg",
    "not phi_leg",
    "k_l - g",
    "failed",
    "(0/0)^0",
    "1^(0/0)",
    "0^0",
    "x_dot_des",
    "speed^2 + 2 * speed",
    // deeper than a small stack: kernels have none
    "1+(1+(1+(1+(1+(1+(1+(1+(1+(1+(1+(1+(1+(1+(1+(1+(1+(1+(1+(1+(1+(1+(1+(1+(1+(1+(1/z_foot))))))))))))))))))))))))))",
};
enum { CALLS_EXPRESSIONS = sizeof calls_expressions / sizeof calls_expressions[0] };

// What a kernel computes of expressions has the bits of expression_value.
TEST(environment_expressions)
{
    EnvironmentCase c;
    char text[8192];
    int length = snprintf(text, sizeof text,
                          CALLS_MODEL "replicates: {perturb: {phi_leg: {normal: [0, 0.1]}}}\n"
                                      "environment:\n  reward: \"0\"\n"
                                      "  define: {speed: \"dx_foot + 3 * z_foot\"}\n  observe:\n"
                                      "    - phi_leg\n");
    for (int i = 0; i < CALLS_EXPRESSIONS; i++)
        length += snprintf(text + length, sizeof text - (size_t)length, "    - \"%s\"\n", calls_expressions[i]);
    static const char *const columns[] = {"x_foot",  "z_foot",  "phi_leg",  "phi_body",  "len_leg",
                                          "dx_foot", "dz_foot", "dphi_leg", "dphi_body", "dlen_leg",
                                          "fsm",     "u1",      "u2"};
    for (int i = 0; i < 13; i++)
        length += snprintf(text + length, sizeof text - (size_t)length, "    - %s\n", columns[i]);
    hopscotch_env_options options = HOPSCOTCH_ENV_OPTIONS;
    options.lanes = 12;
    options.device = environment_case_device();
    if (!environment_case_open(text, &options, &c)) return;
    CHECK_INTEGER(HOPSCOTCH_OK, environment_case_reset(&c, NULL, NULL));
    for (int k = 0; k < 3; k++) CHECK_INTEGER(HOPSCOTCH_OK, environment_case_step(&c));

    Arena arena;
    CHECK_OK(arena_create(&arena, 1 << 22, "expressions of a test"));
    static const char *const names[] = {"x_foot",  "z_foot",  "phi_leg",   "phi_body",  "len_leg",
                                        "dx_foot", "dz_foot", "dphi_leg",  "dphi_body", "dlen_leg",
                                        "fsm",     "u1",      "u2",        "m",         "k_l",
                                        "g",       "failed",  "x_dot_des", "speed"};
    const Scope scope = {.names = names, .count = 19};
    for (int64_t lane = 0; lane < 12; lane++) {
        double values[19];
        for (int k = 0; k < 13; k++)
            values[k] = environment_case_number(&c, HOPSCOTCH_OBSERVATIONS, lane, 1 + CALLS_EXPRESSIONS + k);
        values[13] = 10.0, values[14] = 1e3, values[15] = 9.8, values[16] = 0.0, values[17] = 3.0;
        values[18] = values[5] + 3.0 * values[1];
        for (int i = 0; i < CALLS_EXPRESSIONS; i++) {
            Expression *expression;
            CHECK_OK(expression_parse_text(calls_expressions[i], "test", &scope, &arena, &expression));
            const double expected = expression_value(expression, values);
            const double got = environment_case_number(&c, HOPSCOTCH_OBSERVATIONS, lane, 1 + i);
            if (isnan(expected) && isnan(got)) continue;
            if (memcmp(&expected, &got, sizeof got) != 0) printf("%s:\n", calls_expressions[i]);
            CHECK_BITS(expected, got);
        }
    }
    arena_destroy(&arena);
    CHECK_INTEGER(HOPSCOTCH_OK, environment_case_close(&c));
}

// An instruction set of this processor and build; NULL: the best one.
static const char *calls_isa(uint64_t round)
{
    static const char *const isas[] = {"scalar", ISA_V3, ISA_V4};
    const EnvironmentKernels *kernels;
    const char *name;
    const bool has = cpu_environment_kernels(isas[round % 3], 1, &kernels, &name).kind == OK;
    return has ? isas[round % 3] : NULL;
}

// As above of random expressions, in groups of one lane and of several.
TEST(environment_expressions_at_random)
{
    enum { EXPRESSIONS = 120, LEAVES = 12, NAMES = 5 };
    static const char *const leaves[LEAVES] = {"phi_leg", "dphi_body", "z_foot", "u1",   "g",  "0",
                                               "2",       "-0.7",      "pi",     "1e17", "40", "(0/0)"};
    const Scope scope = {.names = leaves, .count = NAMES};
    char *expression[EXPRESSIONS], *text;
    size_t size;
    Arena arena;
    CHECK_OK(arena_create(&arena, 1 << 24, "expressions of a test"));
    for (uint64_t round = 0; round < (test_quick() ? 6 : 30); round++) {
        FILE *out = open_memstream(&text, &size);
        fputs(CALLS_MODEL "replicates: {perturb: {phi_leg: {normal: [0, 0.3]}}}\nenvironment:\n  reward: \"0\"\n"
                          "  observe:\n    - phi_leg\n    - dphi_body\n    - z_foot\n    - u1\n",
              out);
        for (int i = 0; i < EXPRESSIONS; i++) {
            ExpressionRandom random = {.key = {.seed = 12 + round, .ordinal = (uint64_t)i, .purpose = RANDOM_SAMPLE}};
            expression[i] = arena_take(&arena, 1 << 14, 1);
            expression_case_invent(&random, 1 + i % 3, leaves, LEAVES, false, expression[i]);
            fprintf(out, "    - \"%s\"\n", expression[i]);
        }
        fclose(out);
        EnvironmentCase c;
        hopscotch_env_options options = HOPSCOTCH_ENV_OPTIONS;
        options.lanes = 11;
        options.isa = calls_isa(round);
        options.device = environment_case_device();
        const bool opened = environment_case_open(text, &options, &c);
        free(text);
        if (!opened) break;
        CHECK_INTEGER(HOPSCOTCH_OK, environment_case_reset(&c, NULL, NULL));
        for (int64_t lane = 0; lane < 11; lane++) environment_case_act(&c, lane, 0, 10.0 * (double)lane);
        for (int k = 0; k < 2; k++) CHECK_INTEGER(HOPSCOTCH_OK, environment_case_step(&c));
        for (int i = 0; i < EXPRESSIONS; i++) {
            Expression *parsed;
            CHECK_OK(expression_parse_text(expression[i], "test", &scope, &arena, &parsed));
            for (int64_t lane = 0; lane < 11; lane++) {
                double values[NAMES] = {0, 0, 0, 0, 9.8};
                for (int k = 0; k < 4; k++) values[k] = environment_case_number(&c, HOPSCOTCH_OBSERVATIONS, lane, k);
                const double expected = expression_value(parsed, values);
                const double got = environment_case_number(&c, HOPSCOTCH_OBSERVATIONS, lane, 4 + i);
                if (isnan(expected) && isnan(got)) continue;
                if (memcmp(&expected, &got, sizeof got) != 0) printf("%s:\n", expression[i]);
                CHECK_BITS(expected, got);
            }
        }
        CHECK_INTEGER(HOPSCOTCH_OK, environment_case_close(&c));
        arena_rewind(&arena, 0);
    }
    arena_destroy(&arena);
}

// ---- many resets ----------------------------------------------------------------------------------------------------

// Pages of this process that are in memory.
static long calls_resident(void)
{
    long size = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file == NULL) return 0;
    if (fscanf(file, "%ld %ld", &size, &resident) != 2) resident = 0;
    fclose(file);
    return resident;
}

enum { CALLS_MASKS = 17, CALLS_LANES = 4096 };

// Step k begins the lanes of mask k % CALLS_MASKS again.
static void calls_choose(uint8_t chosen[CALLS_MASKS][CALLS_LANES])
{
    for (int64_t k = 0; k < CALLS_MASKS; k++)
        for (int64_t lane = 0; lane < CALLS_LANES; lane++)
            chosen[k][lane] = (lane * 2654435761 + k * 40503) % CALLS_MASKS == 0;
}

// 4,096 environments that begin again at random take no more memory with time, nor do opening and closing.
// ENVIRONMENT_STEPS=1000000: the whole bound, half a minute on a GPU and half an hour on a core.
TEST(environment_resets_leak_nothing)
{
    enum { WARM = 16 };
    static uint8_t chosen[CALLS_MASKS][CALLS_LANES];
    const char *given = getenv("ENVIRONMENT_STEPS");
    const long steps = given != NULL ? atol(given) : 64;
    EnvironmentCase c;
    hopscotch_env_options options = HOPSCOTCH_ENV_OPTIONS;
    options.lanes = CALLS_LANES;
    options.device = environment_case_device();
    options.autoreset = HOPSCOTCH_AUTORESET_SAME_STEP;
    options.set = (const char *const[]){"simulation.control.period=0.1ms"};
    options.n_set = 1;
    if (!environment_case_open(calls_spec, &options, &c)) return;
    calls_choose(chosen);
    CHECK_INTEGER(HOPSCOTCH_OK, hopscotch_env_reset(c.env, NULL, NULL));
    long before = 0;
    int64_t free_before = 0;
    for (long step = 0; step < steps; step++) {
        CHECK_INTEGER(HOPSCOTCH_OK, hopscotch_env_reset(c.env, chosen[step % CALLS_MASKS], NULL));
        CHECK_INTEGER(HOPSCOTCH_OK, hopscotch_env_step(c.env));
        if (step == WARM) before = calls_resident(), free_before = environment_case_free_memory();
    }
    CHECK_INTEGER(HOPSCOTCH_OK, hopscotch_env_wait(c.env));
    const long grown = calls_resident() - before;
    if (grown >= 256) printf("%ld pages more\n", grown);
    CHECK(grown < 256);
    CHECK(environment_case_free_memory() >= free_before);
    CHECK_INTEGER(HOPSCOTCH_OK, environment_case_close(&c));
    for (int i = 0; i < 50; i++) { // opening and closing
        calls_open(64, &c);
        CHECK_INTEGER(HOPSCOTCH_OK, environment_case_close(&c));
    }
#if !defined(__SANITIZE_ADDRESS__) // which keeps what was freed for a while, and tells leaks itself
    CHECK(calls_resident() - before < 1024);
#endif
    CHECK(environment_case_free_memory() >= free_before);
}
