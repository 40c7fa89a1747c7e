// Kernels made for a campaign: which worlds get one, that those of experiments compile, and the slowest in time.
#include "../../runner/campaign/batch/made.h"
#include "rigid_case.h"

#include <math.h>
#include <string.h>
#include <sys/resource.h>

#define MADE_FREE(bodies) "{duration: 0.1, dt: 1.0e-3, stabilisation: rattle, world: {bodies: [" bodies "]}}"

static const char *made_source_of(RigidRun *run)
{
    Configured *configured = ARENA_NEW(&run->arena, Configured, 1);
    CHECK_OK(spec_build(&run->spec, &run->arena, configured));
    const MadeWish wish = {
        .configured = configured, .fixed = made_fixed(&run->spec, configured, &run->arena), .blocks = 1};
    return made_source(&wish, &run->arena);
}

static bool made_has_source(const char *simulation)
{
    RigidRun run;
    rigid_parse(&run, simulation, "search: {method: list, points: [{gravity: 9.81}]}");
    const bool has = made_source_of(&run) != NULL;
    arena_destroy(&run.arena);
    return has;
}

TEST(made_kernels_are_for_worlds_that_compile_quickly)
{
    CHECK(made_has_source(MADE_FREE("{name: a, spin: [1, 2, 3]}")));
    CHECK(!made_has_source(MADE_FREE("{name: a, spin: [1, 2, 3]}, {name: b, position: [5, 0, 0]}")));
    CHECK(!made_has_source(
        "{duration: 0.1, dt: 1.0e-3, stabilisation: rattle, order: six, world: {bodies: [{name: a}]}}"));
    CHECK(made_has_source("{duration: 0.1, dt: 1.0e-3, world: {bodies: [{name: a}, {name: b, position: [5, 0, 0]}]}}"));
    CHECK(!made_has_source("{duration: 0.1, dt: 1.0e-3, copies: 9, world: {bodies: [{name: a#, repeat: copies, "
                           "position: [5, 0, 0], step: {position: [1, 0, 0]}}]}}"));
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
static double made_cpu_seconds(void)
{
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
           1e-6 * (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

// The time of the processor that a kernel compiles in. NAN: there is no NVRTC.
static double made_compiled_in(const char *simulation)
{
    RigidRun run;
    MadeImage image;
    rigid_parse(&run, simulation, "search: {method: list, points: [{gravity: 9.81}]}");
    const char *source = made_source_of(&run);
    CHECK(source != NULL);
    const double start = made_cpu_seconds();
    const Error error = made_compile(source, "sm_90", &run.arena, &image);
    const bool absent = error.kind != OK && strstr(error.text, "was not found") != NULL;
    if (!absent) CHECK_OK(error);
    const double seconds = made_cpu_seconds() - start;
    arena_destroy(&run.arena);
    return absent ? (double)NAN : seconds;
}

// The process that compiles ends after 20 s. That is a bound for a machine on which a free body compiles in 1.5 s; this
// world took 8.6 times as long. On a slow or busy machine both take longer.
TEST(made_kernel_of_the_slowest_world_compiles_in_time)
{
    const double free_body = made_compiled_in("{duration: 0.1, dt: 1.0e-3, world: {bodies: [{name: a}]}}");
    if (isnan(free_body)) {
        test_skip("there is no NVRTC");
        return;
    }
    const double slowest = made_compiled_in(
        "{duration: 0.1, dt: 1.0e-3, stabilisation: rattle, world: {bodies: [{name: a, position: [0.5, 0, 0]}], "
        "constraints: [{name: hook, type: ball, a: a, at_a: [-0.5, 0, 0]}]}}");
    CHECK(slowest < 13 * free_body);
}

// Compiles the kernel that is made for a spec. False: there is no NVRTC.
static bool made_compiles(const char *path)
{
    Arena arena;
    Spec spec;
    Configured configured;
    MadeImage image;
    CHECK_OK(arena_create_growing(&arena, (size_t)1 << 32, "a spec"));
    CHECK_OK(spec_load(path, NULL, 0, &arena, diagnostics_new(&arena), &spec));
    CHECK_OK(spec_build(&spec, &arena, &configured));
    const MadeWish wish = {.configured = &configured, .fixed = made_fixed(&spec, &configured, &arena), .blocks = 1};
    const char *source = made_source(&wish, &arena);
    CHECK(source != NULL);
    const Error error = made_compile(source, "sm_90", &arena, &image);
    const bool absent = error.kind != OK && strstr(error.text, "was not found") != NULL;
    if (!absent) CHECK_OK(error);
    arena_destroy(&arena);
    return !absent;
}

// A run goes on with the general kernel when no other can be compiled, with the same bits: only a test sees it.
TEST(made_kernels_of_experiments_compile)
{
    static const char *const experiments[] = {"raibert_gains",  "speed_tracking_cmaes", "hopper_policy",
                                              "robot_gait",     "bbob_cmaes", // those with QUICK
                                              "four_state",     "newton_debug",         "pendulum_chain",
                                              "parachute_drop", "gaits_by_speed",       "kkt_pendulum_gains"};
    for (size_t i = 0; i < (test_quick() ? 5 : sizeof experiments / sizeof *experiments); i++) {
        char path[64];
        snprintf(path, sizeof path, "experiments/%s.yaml", experiments[i]);
        if (!made_compiles(path)) {
            test_skip("there is no NVRTC");
            return;
        }
    }
}
#endif
