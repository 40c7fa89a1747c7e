// Kernels made for a campaign: which worlds get one, that those of experiments compile, and the slowest in time.
#include "../../runner/campaign/batch/made.h"
#include "rigid_case.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define MADE_JOINED(more, constraint)                                                                                  \
    "{duration: 0.1, dt: 1.0e-3, stabilisation: rattle, " more "world: {bodies: [{name: a, position: [0.5, 0, 0]}], "  \
    "constraints: [{name: hook, a: a, at_a: [-0.5, 0, 0], " constraint "}]}}"
#define MADE_LOOP(solver)                                                                                              \
    "{duration: 0.1, dt: 1.0e-3, solver: " solver ", world: {bodies: [{name: a}, {name: b, position: [1, 0, 0]}], "    \
    "constraints: [{name: one, type: distance, a: a, b: b}, {name: two, type: distance, a: a, at_b: [0, 0, 2]}, "      \
    "{name: three, type: distance, a: b, at_b: [1, 0, 2]}]}}"
#define MADE_FREE(bodies) "{duration: 0.1, dt: 1.0e-3, stabilisation: rattle, world: {bodies: [" bodies "]}}"

static const char *made_source_of(RigidRun *run)
{
    Configured *configured = ARENA_NEW(&run->arena, Configured, 1);
    CHECK_OK(spec_build(&run->spec, &run->arena, configured));
    const MadeWish wish = {
        .configured = configured, .fixed = made_fixed(&run->spec, configured, &run->arena), .thread_blocks = 1};
    const char *why;
    return made_source(&wish, &run->arena, &why);
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
    CHECK(made_has_source(MADE_JOINED("", "type: ball")));
    CHECK(!made_has_source(MADE_JOINED("", "type: hinge, axis: [0, 1, 0]")));
    CHECK(!made_has_source(MADE_JOINED("solver: trees, ", "type: ball")));
    CHECK(made_has_source(MADE_LOOP("skyline")));
    CHECK(!made_has_source(MADE_LOOP("trees")));
    CHECK(made_has_source("{duration: 0.1, dt: 1.0e-3, world: {bodies: [{name: a}, {name: b, position: [5, 0, 0]}]}}"));
    CHECK(!made_has_source("{duration: 0.1, dt: 1.0e-3, copies: 9, world: {bodies: [{name: a#, repeat: copies, "
                           "position: [5, 0, 0], step: {position: [1, 0, 0]}}]}}"));
}

static void made_write(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    CHECK(file != NULL);
    fputs(text, file);
    fclose(file);
}

// A hopper whose actions are a table of so many rows of two numbers.
static const char *made_source_of_actions(int rows, Arena *arena)
{
    const char *folder = test_folder(), *path = arena_format(arena, "%s/spec.yaml", folder);
    char *table = ARENA_NEW(arena, char, 8 + 6 * rows);
    size_t used = (size_t)sprintf(table, "u1,u2\n");
    for (int i = 0; i < rows; i++) used += (size_t)sprintf(table + used, "%d,0\n", i % 50);
    made_write(arena_format(arena, "%s/actions.csv", folder), table);
    made_write(path, "version: 1\nexperiment: test\nmodel: hopper\n"
                     "simulation: {duration: 2.0, control: {mode: external, file: actions.csv}}\n"
                     "search: {method: list, points: [{x_dot_des: 1}]}\n");
    Spec *spec = ARENA_NEW(arena, Spec, 1);
    Configured *configured = ARENA_NEW(arena, Configured, 1);
    CHECK_OK(spec_load(path, NULL, 0, arena, diagnostics_new(arena), spec));
    CHECK_OK(spec_build(spec, arena, configured));
    CHECK_INTEGER(2 * rows, configured->n_assets);
    const MadeWish wish = {.configured = configured, .fixed = made_fixed(spec, configured, arena), .thread_blocks = 1};
    const char *why;
    return made_source(&wish, arena, &why);
}

TEST(made_kernels_hold_16384_numbers_of_tables_and_read_more_from_memory)
{
    Arena arena;
    CHECK_OK(arena_create_growing(&arena, (size_t)1 << 32, "a spec"));
    CHECK(strstr(made_source_of_actions(8192, &arena), " made_assets[] = {") != NULL);
    CHECK(strstr(made_source_of_actions(8193, &arena), " made_assets[] = {") == NULL);
    arena_destroy(&arena);
}

// The column `fill` of KERNELS.
TEST(made_kernels_get_three_warps_a_scheduler_where_the_lanes_fill_them)
{
    enum { PROCESSORS = 132, FULL = PROCESSORS * 6 * MADE_THREADS };
    Arena arena;
    Spec spec;
    CHECK_OK(arena_create_growing(&arena, (size_t)1 << 32, "a spec"));
    CHECK_OK(spec_load("experiments/smoke.yaml", NULL, 0, &arena, diagnostics_new(&arena), &spec));
    CHECK_INTEGER(6, made_thread_blocks(&spec.configured, FULL, PROCESSORS));
    CHECK_INTEGER(1, made_thread_blocks(&spec.configured, FULL - 1, PROCESSORS));
    CHECK_OK(spec_load("experiments/speed_tracking_cmaes.yaml", NULL, 0, &arena, diagnostics_new(&arena), &spec));
    CHECK_INTEGER(1, made_thread_blocks(&spec.configured, FULL, PROCESSORS));
    CHECK_OK(spec_load("experiments/command/spring.yaml", NULL, 0, &arena, diagnostics_new(&arena), &spec));
    CHECK_INTEGER(1, made_thread_blocks(&spec.configured, FULL, PROCESSORS));
    arena_destroy(&arena);
}

#if defined(__aarch64__)
#define MADE_FOR "aarch64-neon"
#else
#define MADE_FOR "x86-64-v2"
#endif

// Bits: 1, it says that its source has no memory where no more files may be opened; 2, that it could not be started
// after a signal that ends it.
static int made_refused_by_cc(void)
{
    Arena arena;
    MadeImage image;
    struct rlimit before;
    int found = 0;
    if (arena_create_growing(&arena, (size_t)1 << 24, "a kernel").kind != OK) return 0;
    (void)getrlimit(RLIMIT_NOFILE, &before);
    (void)setrlimit(RLIMIT_NOFILE, &(struct rlimit){0, before.rlim_max});
    const Error full = made_compile("int made;", MADE_FOR, &arena, &image);
    found |= strstr(full.text, "there is no memory for its source") != NULL ? 1 : 0;
    (void)setrlimit(RLIMIT_NOFILE, &before);
    if (made_compile("int made;", MADE_FOR, &arena, &image).kind != OK) return 0;
    (void)raise(SIGTERM);
    const Error ended = made_compile("int made;", MADE_FOR, &arena, &image);
    found |= strstr(ended.text, "the C compiler could not be started") != NULL ? 2 : 0;
    return found;
}

TEST(made_by_cc_says_why_it_can_not)
{
    Arena arena;
    int ended = 0;
    CHECK_OK(arena_create_growing(&arena, (size_t)1 << 20, "a word"));
    const bool absent = made_compiler(MADE_FOR, &arena) == NULL;
    arena_destroy(&arena);
    if (absent) {
        test_skip("a C compiler", "gcc libc6-dev");
        return;
    }
    const pid_t process = fork(); // signals and limits are those of a process
    if (process == 0) _exit(made_refused_by_cc());
    CHECK(process > 0 && waitpid(process, &ended, 0) == process);
    CHECK(WIFEXITED(ended));
    CHECK_INTEGER(3, WEXITSTATUS(ended));
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST(made_kernel_that_has_no_memory_is_none)
{
    Arena arena;
    Spec spec;
    Configured configured;
    Backend *backend;
    MadeJob job = {0};
    struct rlimit before, tight;
    const BackendOptions options = {.name = "faulty", .threads = 1};
    CHECK_OK(arena_create_growing(&arena, (size_t)1 << 32, "a spec"));
    CHECK_OK(spec_load("experiments/smoke.yaml", NULL, 0, &arena, diagnostics_new(&arena), &spec));
    CHECK_OK(spec_build(&spec, &arena, &configured));
    CHECK_OK(backend_open(&options, &backend));
    CHECK_OK(backend_prepare(backend, &configured, 64, 0, 0));
    CHECK(getrlimit(RLIMIT_AS, &before) == 0);
    tight = (struct rlimit){.rlim_cur = 1, .rlim_max = before.rlim_max};
    CHECK(setrlimit(RLIMIT_AS, &tight) == 0);
    const Error error = made_begin(&spec, &configured, "made", 64, backend, &job);
    CHECK(setrlimit(RLIMIT_AS, &before) == 0);
    CHECK_OK(error);
    CHECK(strstr(job.note, "for this campaign failed: not enough memory: a kernel for this campaign needs") != NULL);
    made_end(&job);
    (void)backend_close(backend);
    arena_destroy(&arena);
}

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

// The process that compiles ends after 30 s. That is a bound for a machine on which a free body compiles in 1.5 s; this
// world takes 8 to 11 times as long. On a busy machine both take longer: the median of three free bodies counts, and
// what takes too long is compiled once more.
TEST(made_kernel_of_the_slowest_world_compiles_in_time)
{
    const char *free_body = "{duration: 0.1, dt: 1.0e-3, world: {bodies: [{name: a}]}}";
    const double one = made_compiled_in(free_body), two = made_compiled_in(free_body);
    if (isnan(one)) {
        test_skip("NVRTC", "the CUDA toolkit");
        return;
    }
    const char *joined = MADE_JOINED("", "type: ball");
    const double slowest = made_compiled_in(joined), three = made_compiled_in(free_body);
    const double most = 13 * fmax(fmin(one, two), fmin(fmax(one, two), three));
    CHECK(slowest < most || made_compiled_in(joined) < most);
}

// Compiles the kernel that is made for a spec, `text` or the file of that path, with what is set there unless that is
// NULL. False: there is no NVRTC.
static bool made_compiles(const char *path, const char *text, const char *set)
{
    Arena arena;
    Spec spec;
    Configured configured;
    MadeImage image;
    const int sets = set != NULL ? 1 : 0;
    CHECK_OK(arena_create_growing(&arena, (size_t)1 << 32, "a spec"));
    CHECK_OK(text != NULL ? spec_parse(path, text, &set, sets, &arena, diagnostics_new(&arena), &spec)
                          : spec_load(path, &set, sets, &arena, diagnostics_new(&arena), &spec));
    CHECK_OK(spec_build(&spec, &arena, &configured));
    const MadeWish wish = {
        .configured = &configured, .fixed = made_fixed(&spec, &configured, &arena), .thread_blocks = 1};
    const char *why, *source = made_source(&wish, &arena, &why);
    CHECK(source != NULL);
    const Error error = made_compile(source, "sm_90", &arena, &image);
    const bool absent = error.kind != OK && strstr(error.text, "was not found") != NULL;
    if (!absent) CHECK_OK(error);
    arena_destroy(&arena);
    return !absent;
}

// Tables and inputs, whose heads are part of the text.
TEST(made_kernels_of_tables_compile)
{
    static const char text[] =
        "version: 1\nexperiment: tables\nmodel: equations\n"
        "simulation:\n"
        "  system:\n"
        "    parameters: {p: 1}\n"
        "    tables: {a: {at: [0, 1, 2], values: [1, 3, 2], between: cubic, beyond: extend}, b: {at: [0, 1], values: "
        "[1, 3]},\n"
        "             c: {at: [[0, 1], [0, 1]], values: [[1, 2], [3, 4]], beyond: hold}}\n"
        "    inputs: {u: {at: [0, 9], values: [1, 2], beyond: hold}, w: {at: [0, 9], values: [1, 2], between: held, "
        "beyond: hold}}\n"
        "    states: {x: 0}\n"
        "    rates: {x: \"a(x) + b(sin(x)^2) + c(x, p) + u + w\"}\n"
        "    events: [{rises: x - a(u), set: {x: b(p/2)}}]\n"
        "search: {method: grid, over: {p: [1, 2]}}\nobjective: {minimize: survived}\n";
    static const char *const sets[] = {NULL, "simulation.integrator=rodas5p"};
    for (int i = 0; i < 2; i++)
        if (!made_compiles("tables.yaml", text, sets[i])) {
            test_skip("NVRTC", "the CUDA toolkit");
            return;
        }
}

// A world of rigid bodies that a law moves. That of experiments/reaction_wheel.yaml is too large to be one thread's.
TEST(made_kernel_of_a_law_in_a_rigid_world_compiles)
{
    static const char text[] =
        "version: 1\nexperiment: turned\nmodel: rigid\n"
        "simulation:\n"
        "  stabilisation: baumgarte\n"
        "  world:\n"
        "    bodies: [{name: arm, mass: 0.2, inertia: [2e-3, 2e-3, 1e-4], position: [0, 0, -0.15]}]\n"
        "    constraints: [{name: pivot, type: hinge, a: arm, at_a: [0, 0, 0.15], axis: [0, 1, 0]}]\n"
        "    forces: [{name: motor, type: input, a: arm, hinge: pivot, range: [-0.3, 0.3]}]\n"
        "  control: {mode: law, period: 0.01, law: {parameters: {k: 1}, effort: {motor: -k*arm_wy}}}\n"
        "metrics: {torque: {rms: motor}}\n"
        "search: {method: grid, over: {k: [1, 2]}}\nobjective: {minimize: torque}\n";
    if (!made_compiles("turned.yaml", text, NULL)) test_skip("NVRTC", "the CUDA toolkit");
}

// A run goes on with the general kernel when no other can be compiled, with the same bits: only a test sees it.
TEST(made_kernels_of_experiments_compile)
{
    static const struct {
        const char *name, *set;
    } experiments[] = {{"raibert_gains", NULL},
                       {"speed_tracking_cmaes", NULL},
                       {"hopper_policy", NULL},
                       {"hopper_env", NULL}, // control: external
                       {"robot_gait", NULL},
                       {"bbob_cmaes", NULL}, // those with QUICK
                       {"smoke", "simulation.control={mode: external, actions: [10, 0, 50, 2, 0, -3]}"},
                       {"quadruped_env", NULL}, // control: external
                       {"four_state", NULL},
                       {"newton_debug", NULL},
                       {"pendulum_chain", NULL},
                       {"parachute_drop", NULL},
                       {"gaits_by_speed", NULL},
                       {"kkt_pendulum_gains", NULL},
                       {"kramers_escape", NULL}};
    for (size_t i = 0; i < (test_quick() ? 6 : sizeof experiments / sizeof *experiments); i++) {
        char path[64];
        snprintf(path, sizeof path, "experiments/%s.yaml", experiments[i].name);
        if (!made_compiles(path, NULL, experiments[i].set)) {
            test_skip("NVRTC", "the CUDA toolkit");
            return;
        }
    }
}
#endif
