// The CPU backend: a pool of threads that take groups of lanes from a shared counter. A lane depends on nothing but
// itself, so neither the number of threads nor the order of groups changes a bit.
#include "backend.h"
#include "cpu_kernels.h"
#include "dual_kernels.h"
#include "made/object.h"
#include "thread.h"
#include "trail_kernels.h"

#include <assert.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#if defined(__aarch64__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

enum { CPU_THREADS_MAX = 1024, CPU_GROUPS_AT_ONCE = 4, CPU_TRIAL_LANES = 64 };
#define CPU_GRAPH_BYTES ((size_t)1 << 30) // of address space

// A kernel that was made for the campaign (made).
typedef struct CpuMade {
    MadeObject object;
    Arena arena;         // of what follows
    const double *fixed; // [n_parameters] the inputs that it was made for
    Batch trial;         // the lanes that the general kernel computes, too
    bool used, tried;    // it advances the batch in flight; that is its trial
} CpuMade;

typedef struct CpuBackend {
    Backend backend;
    bool chosen;                                   // the user named the instruction set: all lanes use it
    CpuWay vectors, alone;                         // for full groups; for a single lane
    Configured configured;                         // a copy: a slice that hangs may outlive the caller's
    Arena arena, debug_arena;                      // the second only if debug rows are wanted
    int64_t tick;                                  // ticks done of the batch in flight
    double kernel_seconds;                         // of the ended slices of the batch in flight
    double slice_started;                          // backend_clock
    LaneGroup slice;                               // what the threads work on
    int32_t *order;                                // [lanes] which of the caller's lanes stands where
    int64_t end;                                   // from this position on all lanes of the batch in flight have ended
    bool moved;                                    // not all lanes stand at their own positions
    atomic_llong next;                             // next group of the slice
    int64_t observed_groups, groups, trial_groups; // the last stand behind the others
    CpuMade made;
    Arena graph_arena; // of the graphs, and of the members below
    GraphTeam *team;   // runs the graphs; NULL: threads don't share a group
    bool sharing;      // the threads share the groups of this slice
    pthread_t threads[CPU_THREADS_MAX];
    int n_threads, working; // started; still working on this slice
    uint64_t turn;          // counts slices: a thread sees by it that a new one began
    bool stopping;
    pthread_mutex_t mutex;
    pthread_cond_t work, idle;
} CpuBackend;

// ---- instruction sets -----------------------------------------------------------------------------------------------

typedef struct CpuIsa {
    const char *name;
    const CpuKernels *plain, *observed;
    const EnvironmentKernels *environment;
    bool (*supported)(void);
} CpuIsa;

#if defined(__x86_64__)
static const char cpu_family[] = "x86-64";
static bool cpu_has_v4(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512cd");
}

static bool cpu_has_v3(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
}

static bool cpu_has_v2(void) { return true; }
static bool cpu_has_neon(void) { return false; }
static bool cpu_has_scalar(void) { return cpu_has_v3(); }
static const TrailKernels *cpu_derived_trail(void) { return cpu_has_v3() ? &trail_kernels_v3 : &trail_kernels_v2; }
static const DualKernels *cpu_derived_dual(void) { return cpu_has_v3() ? &dual_kernels_v3 : &dual_kernels_v2; }
#elif defined(__aarch64__)
static const char cpu_family[] = "aarch64";
static bool cpu_has_v4(void) { return false; }
static bool cpu_has_v3(void) { return false; }
static bool cpu_has_v2(void) { return false; }
static bool cpu_has_neon(void) { return true; }
static bool cpu_has_scalar(void) { return true; } // it always has a fused multiply-add
static const TrailKernels *cpu_derived_trail(void) { return &trail_kernels_neon; }
static const DualKernels *cpu_derived_dual(void) { return &dual_kernels_neon; }
#else
#error "kernels are made for x86-64 and aarch64"
#endif

// best first
static const CpuIsa cpu_isas[] = {
    {"v4", &cpu_plain_v4, &cpu_observed_v4, &cpu_environment_v4, cpu_has_v4},
    {"v3", &cpu_plain_v3, &cpu_observed_v3, &cpu_environment_v3, cpu_has_v3},
    {"v2", &cpu_plain_v2, &cpu_observed_v2, &cpu_environment_v2, cpu_has_v2},
    {"neon", &cpu_plain_neon, &cpu_observed_neon, &cpu_environment_neon, cpu_has_neon},
    {"scalar", &cpu_plain_scalar, &cpu_observed_scalar, &cpu_environment_scalar, cpu_has_scalar}};
enum { CPU_ISAS = sizeof cpu_isas / sizeof cpu_isas[0] };
static const CpuIsa *const cpu_isa_scalar = &cpu_isas[CPU_ISAS - 1];

// The observed kernels record only observed lanes. So they replace plain kernels that were not built.
static CpuWay cpu_way_of(const CpuIsa *isa)
{
    return (CpuWay){.plain = isa->plain != NULL ? isa->plain : isa->observed, .observed = isa->observed};
}

// The best instruction set that this processor has and that was built. One is always there.
static const CpuIsa *cpu_best_isa(void)
{
    const CpuIsa *isa = cpu_isas;
    while (isa->observed == NULL || !isa->supported()) isa++;
    return isa;
}

const char *cpu_isa_name(int i)
{
    for (size_t k = 0; k < CPU_ISAS; k++) {
        if (cpu_isas[k].observed != NULL && cpu_isas[k].supported() && i-- == 0) return cpu_isas[k].name;
    }
    return NULL;
}

static Error cpu_choose_isa(const char *wanted, const CpuIsa **out)
{
    *out = cpu_best_isa();
    if (wanted == NULL || strcmp(wanted, "auto") == 0) return error_none();
    for (size_t i = 0; i < CPU_ISAS; i++) {
        if (strcmp(wanted, cpu_isas[i].name) != 0) continue;
        *out = &cpu_isas[i];
        if (!cpu_isas[i].supported())
            return error_make(ERROR_MACHINE, "this processor does not have the instruction set '%s'", wanted);
        if (cpu_isas[i].observed == NULL)
            return error_make(ERROR_USER, "this program was built without kernels for '%s': run `make`", wanted);
        return error_none();
    }
    return error_make(
        ERROR_USER,
        "there is no instruction set '%s'; there are v4, v3, v2 and scalar of x86-64, neon and scalar of aarch64",
        wanted);
}

Error cpu_environment_kernels(const char *isa, int64_t lanes, const EnvironmentKernels **out, const char **name)
{
    const CpuIsa *chosen = NULL, *scalar = cpu_isa_scalar;
    TRY(cpu_choose_isa(isa, &chosen));
    if ((isa == NULL || strcmp(isa, "auto") == 0) && lanes == 1 && scalar->environment != NULL && scalar->supported())
        chosen = scalar;
    *out = chosen->environment;
    *name = chosen->name;
    if (*out != NULL) return error_none();
    return error_make(ERROR_MACHINE, "this build has no environments for the instruction set '%s'", chosen->name);
}

const CpuKernels *cpu_scalar_kernels(void)
{
    const CpuIsa *scalar = cpu_isa_scalar, *v2 = &cpu_isas[2]; // which has one lane, too
    return cpu_way_of(scalar->observed != NULL && scalar->supported() ? scalar : v2).plain;
}

const TrailKernels *cpu_trail_kernels(void) { return cpu_derived_trail(); }

int dual_directions(const Configured *configured) { return (void)configured, DUAL_DIRECTIONS; }
size_t dual_bytes(const Configured *configured) { return cpu_derived_dual()->bytes(configured); }
int dual_tangent(const Configured *configured, const double *parameter, const double *direction, int n, void *memory,
                 double *metric, double *slope, ResidualSeries *series, int n_series)
{
    assert(n >= 1 && n <= dual_directions(configured));
    return cpu_derived_dual()->tangent(configured, parameter, direction, n, memory, metric, slope, series, n_series);
}

const CpuKernels *cpu_best_kernels(void) { return cpu_way_of(cpu_best_isa()).plain; }

void cpu_name(char *name, size_t size)
{
    snprintf(name, size, "CPU");
#if defined(__x86_64__)
    unsigned brand[12];
    unsigned highest;
    __asm__("cpuid" : "=a"(highest) : "a"(0x80000000u) : "ebx", "ecx", "edx");
    if (highest < 0x80000004u) return;
    for (unsigned i = 0; i < 3; i++) {
        __asm__("cpuid"
                : "=a"(brand[4 * i]), "=b"(brand[4 * i + 1]), "=c"(brand[4 * i + 2]), "=d"(brand[4 * i + 3])
                : "a"(0x80000002u + i));
    }
    char text[49];
    memcpy(text, brand, 48);
    text[48] = '\0';
    const char *start = text + strspn(text, " ");
    if (*start != '\0') snprintf(name, size, "%s", start);
#elif defined(__aarch64__)
    unsigned long id; // MIDR_EL1, which Linux lets programs read where it says so: the numbers of /proc/cpuinfo
    snprintf(name, size, "%s", cpu_family);
    if ((getauxval(AT_HWCAP) & HWCAP_CPUID) == 0) return;
    __asm__("mrs %0, MIDR_EL1" : "=r"(id));
    snprintf(name, size, "%s (implementer 0x%02lx, part 0x%03lx)", cpu_family, id >> 24 & 0xff, id >> 4 & 0xfff);
#endif
}

// ---- which kernels --------------------------------------------------------------------------------------------------

// A single lane is fastest without vectors, because their other lanes would be idle. Some models fill the vectors
// themselves.
typedef enum CpuAlone { CPU_ALONE_scalar, CPU_ALONE_vector } CpuAlone;
#define CPU_ALONE(model, kernel, threads, alone, work, fill) CPU_ALONE_##alone,
static bool cpu_leaves_vectors(int kernel)
{
    static const CpuAlone alone[] = {KERNELS(CPU_ALONE)};
    return alone[kernel] == CPU_ALONE_scalar && cpu_has_scalar() && &cpu_plain_scalar != NULL;
}

const CpuKernels *cpu_lane_kernels(int kernel)
{
    return cpu_leaves_vectors(kernel) ? &cpu_plain_scalar : cpu_best_kernels();
}

const CpuWay *cpu_way(const Backend *backend, int valid)
{
    const CpuBackend *cpu = (const CpuBackend *)backend;
    return valid == 1 ? &cpu->alone : &cpu->vectors;
}

typedef enum CpuWork { CPU_WORK_columns, CPU_WORK_chunks } CpuWork;
#define CPU_WORK(model, kernel, threads, alone, work, fill) CPU_WORK_##work,
static bool cpu_moves_lanes(int kernel)
{
    static const CpuWork works[] = {KERNELS(CPU_WORK)};
    return works[kernel] == CPU_WORK_columns;
}

// ---- the pool -------------------------------------------------------------------------------------------------------

// Group `number` of the slice: groups of observed lanes come first. A group never mixes both kinds.
static LaneGroup cpu_group(const CpuBackend *cpu, int64_t number, bool *observed)
{
    const int64_t n_observed = batch_observed(&cpu->slice.batch), width = cpu->vectors.plain->lanes;
    *observed = number < cpu->observed_groups;
    const int64_t lane = *observed ? number * width : n_observed + (number - cpu->observed_groups) * width;
    const int64_t left = (*observed ? n_observed : cpu->end) - lane;
    LaneGroup group = cpu->slice;
    group.lane = lane;
    group.valid = (int)(left < width ? left : width);
    return group;
}

// Group `number` of the lanes that the general kernel computes, too.
static LaneGroup cpu_trial_group(const CpuBackend *cpu, int64_t number)
{
    const int64_t width = cpu->vectors.plain->lanes, left = cpu->made.trial.lanes - number * width;
    LaneGroup group = cpu->slice;
    group.batch = cpu->made.trial;
    group.lane = number * width;
    group.valid = (int)(left < width ? left : width);
    return group;
}

static void cpu_run_group(const CpuBackend *cpu, int64_t number)
{
    bool observed = false;
    const Configured *configured = &cpu->configured;
    const bool trial = number >= cpu->groups;
    const LaneGroup group = trial ? cpu_trial_group(cpu, number - cpu->groups) : cpu_group(cpu, number, &observed);
    const CpuWay *way = cpu_way(&cpu->backend, group.valid);
    if (cpu->made.used && !trial && !observed && way->plain == cpu->vectors.plain)
        cpu->made.object.run(configured->assets, &group);
    else
        (observed ? way->observed : way->plain)
            ->kernels[configured->kernel](&cpu->backend.life[0].constants, configured->assets, &group);
}

// Groups `first` to `end` of the slice: neighbouring full ones together, if the kernel can.
static void cpu_run_groups(const CpuBackend *cpu, int64_t first, int64_t end)
{
    const Configured *configured = &cpu->configured;
    const CpuKernels *kernels = cpu->vectors.plain;
    const CpuTile tile = cpu->made.used ? NULL : kernels->tile[configured->kernel];
    LaneGroup groups[CPU_TILE_GROUPS];
    int count = 0;
    for (int64_t g = first; tile != NULL && g < end && g < cpu->groups && count < CPU_TILE_GROUPS; g++) {
        bool observed;
        groups[count] = cpu_group(cpu, g, &observed);
        if (observed || groups[count].valid < kernels->lanes) break;
        count++;
    }
    if (count > 0) tile(&cpu->backend.life[0].constants, configured->assets, groups, count);
    for (int64_t g = first + count; g < end; g++) cpu_run_group(cpu, g);
}

// Runs the groups of the slice one after the other; the team shares each. The first thread to arrive leads the team.
static void cpu_work_together(CpuBackend *cpu)
{
    const Configured *configured = &cpu->configured;
    if (atomic_fetch_add(&cpu->next, 1) != 0) return;
    for (int64_t g = 0; g < cpu->groups && atomic_load(&cpu->next) <= CPU_THREADS_MAX; g++) {
        bool observed;
        const LaneGroup group = cpu_group(cpu, g, &observed);
        const CpuWay *way = cpu_way(&cpu->backend, group.valid);
        (observed ? way->observed : way->plain)
            ->shared[configured->kernel]
            .advance(way->graph, cpu->team, &cpu->backend.life[0].constants, configured->assets, &group);
    }
}

static void cpu_work(CpuBackend *cpu)
{
    if (cpu->sharing) {
        cpu_work_together(cpu);
        return;
    }
    const int64_t groups = cpu->groups + cpu->trial_groups;
    const bool tiles = cpu->vectors.plain->tile[cpu->configured.kernel] != NULL;
    const int64_t at_once = tiles ? CPU_TILE_GROUPS : CPU_GROUPS_AT_ONCE;
    for (;;) {
        const int64_t first = atomic_fetch_add(&cpu->next, at_once);
        if (first >= groups) return;
        cpu_run_groups(cpu, first, first + at_once < groups ? first + at_once : groups);
    }
}

// Call with the mutex held, when this thread has done its share of the slice.
static void cpu_thread_ends_slice(CpuBackend *cpu)
{
    if (--cpu->working > 0) return;
    cpu->kernel_seconds += backend_clock() - cpu->slice_started;
    pthread_cond_broadcast(&cpu->idle);
}

static void *cpu_thread(void *argument)
{
    CpuBackend *cpu = argument;
    uint64_t seen = 0;
    pthread_mutex_lock(&cpu->mutex);
    for (;;) {
        while (cpu->turn == seen && !cpu->stopping) pthread_cond_wait(&cpu->work, &cpu->mutex);
        if (cpu->stopping) break;
        seen = cpu->turn;
        pthread_mutex_unlock(&cpu->mutex);
        cpu_work(cpu);
        pthread_mutex_lock(&cpu->mutex);
        cpu_thread_ends_slice(cpu);
    }
    pthread_mutex_unlock(&cpu->mutex);
    return NULL;
}

// ---- sharing a group ------------------------------------------------------------------------------------------------

static void cpu_close_graphs(CpuBackend *cpu)
{
    graph_team_close(cpu->team);
    arena_destroy(&cpu->graph_arena);
    cpu->team = NULL;
    cpu->vectors.graph = cpu->alone.graph = NULL;
}

// True if the graph is expected to save an eighth of the time of a step or more.
static bool cpu_graph_pays(const GraphProgram *program) { return program->together < 0.875 * program->alone; }

static Error cpu_open_graph(CpuBackend *cpu, CpuWay *way)
{
    const Configured *configured = &cpu->configured;
    TRY(way->plain->shared[configured->kernel].open(&configured->constants, configured->assets, cpu->n_threads,
                                                    &cpu->graph_arena, &way->graph));
    if (way->graph != NULL && configured->executor == EXECUTOR_AUTOMATIC && !cpu_graph_pays(&way->graph->program))
        way->graph = NULL;
    return error_none();
}

// Opens graphs for batches of at most `lanes` lanes; the last group may hold only one.
static Error cpu_open_graphs(CpuBackend *cpu, int64_t lanes)
{
    const Configured *configured = &cpu->configured;
    cpu_close_graphs(cpu);
    if (cpu->vectors.plain->shared[configured->kernel].open == NULL || configured->executor == EXECUTOR_SEQUENTIAL ||
        cpu->n_threads == 1)
        return error_none();
    TRY(arena_create_growing(&cpu->graph_arena, CPU_GRAPH_BYTES, "the graph of a step"));
    TRY(cpu_open_graph(cpu, &cpu->alone));
    if (cpu->alone.graph == NULL) return error_none();
    cpu->vectors.graph = cpu->alone.graph;
    if (lanes > 1 && cpu->vectors.plain != cpu->alone.plain) TRY(cpu_open_graph(cpu, &cpu->vectors));
    // if the system starts no more threads, each lane has one; the bits are the same
    if (graph_team_open(cpu->n_threads, &cpu->graph_arena, &cpu->team).kind != OK) cpu->team = NULL;
    return error_none();
}

// True if the threads share the groups of the next slice: there are fewer groups than threads.
static bool cpu_shares(const CpuBackend *cpu)
{
    return cpu->team != NULL && (cpu->configured.executor == EXECUTOR_LEVELS || cpu->groups < cpu->n_threads);
}

// ---- lanes that ended move behind the others ------------------------------------------------------------------------

// A group of lanes takes as long as its last one. Between slices the lanes that still run move together, and those that
// have ended move behind them. When the batch ends, all go back to their own positions.

static void cpu_swap_rows(double *rows, int64_t count, int64_t stride, int64_t a, int64_t b)
{
    for (double *row = rows, *last = rows + count * stride; row < last; row += stride) {
        const double other = row[a];
        row[a] = row[b];
        row[b] = other;
    }
}

static void cpu_swap_lanes(CpuBackend *cpu, Batch *batch, int64_t a, int64_t b)
{
    const int32_t order = cpu->order[a], status = batch->status[a];
    cpu_swap_rows(batch->parameter, cpu->configured.n_parameters, batch->stride, a, b);
    cpu_swap_rows(batch->work, cpu->configured.n_work, batch->stride, a, b);
    cpu_swap_rows(batch->metric, cpu->configured.n_metrics, batch->stride, a, b);
    cpu->order[a] = cpu->order[b];
    cpu->order[b] = order;
    batch->status[a] = batch->status[b];
    batch->status[b] = status;
}

static void cpu_restore_order(CpuBackend *cpu, Batch *batch)
{
    for (int64_t i = 0; cpu->moved && i < batch->lanes; i++)
        while (cpu->order[i] != i) cpu_swap_lanes(cpu, batch, i, cpu->order[i]);
    cpu->moved = false;
}

static int64_t cpu_running(const Batch *batch, int64_t first, int64_t end)
{
    int64_t running = 0;
    for (int64_t i = first; i < end; i++) running += batch->status[i] == LANE_RUNNING;
    return running;
}

// Observed lanes stay: their samples are found by their positions. So do lanes of kernels that keep their work in
// chunks of neighbouring lanes.
static void cpu_compact_lanes(CpuBackend *cpu, Batch *batch)
{
    enum { FRACTION = 16 }; // 1/FRACTION of the lanes must have ended before others are moved
    const int64_t first = batch_observed(batch), running = cpu_running(batch, first, cpu->end);
    const int64_t ended = cpu->end - first - running;
    int64_t from = cpu->end;
    if (cpu->order == NULL || ended < cpu->vectors.plain->lanes || ended < (cpu->end - first) / FRACTION) return;
    for (int64_t to = first; to < first + running; to++) {
        if (batch->status[to] == LANE_RUNNING) continue;
        while (batch->status[--from] != LANE_RUNNING) {
        }
        cpu_swap_lanes(cpu, batch, to, from);
        cpu->moved = true;
    }
    cpu->end = first + running;
}

// ---- kernels made for the campaign ----------------------------------------------------------------------------------

static void cpu_drop_made(CpuBackend *cpu)
{
    made_object_close(&cpu->made.object);
    arena_destroy(&cpu->made.arena);
    cpu->made = (CpuMade){.arena = {.purpose = "a made kernel"}};
}

// A made kernel that can't be used is not an error: the general one is there.
static void cpu_refuse_made(CpuBackend *cpu, const char *why)
{
    BackendInfo *info = &cpu->backend.info;
    cpu_drop_made(cpu);
    info->made = MADE_REFUSED;
    snprintf(info->made_note, sizeof info->made_note, "%.250s", why);
}

// Memory for the inputs that it was made for, and for its trial.
static Error cpu_take_trial(CpuBackend *cpu, const double *fixed)
{
    enum { LANES_TAKEN = CPU_TRIAL_LANES + 2 * LANES_MOST }; // incomplete groups, too (lanes_work_chunk)
    const Configured *configured = &cpu->configured;
    Batch *trial = &cpu->made.trial;
    Arena *arena = &cpu->made.arena;
    const int64_t fields = configured->n_parameters + configured->n_work + configured->n_metrics;
    TRY(arena_create(arena, (size_t)((fields + 2) * LANES_TAKEN + configured->n_parameters) * 8 + 4096,
                     "the trial of a made kernel"));
    double *inputs = ARENA_NEW(arena, double, configured->n_parameters + 1);
    memcpy(inputs, fixed, sizeof *inputs * (size_t)configured->n_parameters);
    cpu->made.fixed = inputs;
    *trial = (Batch){.stride = LANES_TAKEN,
                     .parameter = ARENA_NEW(arena, double, (int64_t)configured->n_parameters *LANES_TAKEN),
                     .work = ARENA_NEW(arena, double, configured->n_work *LANES_TAKEN),
                     .metric = ARENA_NEW(arena, double, (int64_t)configured->n_metrics *LANES_TAKEN),
                     .status = ARENA_NEW(arena, int32_t, LANES_TAKEN),
                     .trace = {.every = 1}};
    return error_none();
}

static Error cpu_use_made(Backend *backend, const MadeImage *image, const double *fixed)
{
    CpuBackend *cpu = (CpuBackend *)backend;
    cpu_drop_made(cpu);
    Error error = cpu_take_trial(cpu, fixed);
    if (error.kind == OK) error = made_object_open(image, &cpu->made.object);
    if (error.kind != OK) {
        cpu_refuse_made(cpu, error.text);
        return error_none();
    }
    snprintf(backend->info.made_note, sizeof backend->info.made_note, "%zu bytes", image->size);
    backend->info.made = MADE_ON_TRIAL;
    return error_none();
}

// Have all lanes the inputs that it was made for?
static bool cpu_made_serves(const CpuBackend *cpu, const Batch *batch)
{
    const double *fixed = cpu->made.fixed;
    for (int p = 0; p < cpu->configured.n_parameters; p++) {
        const double *row = batch->parameter + p * batch->stride;
        if (isnan(fixed[p])) continue;
        for (int64_t i = 0; i < batch->lanes; i++)
            if (memcmp(&row[i], &fixed[p], sizeof row[i]) != 0) return false;
    }
    return true;
}

// Begins the trial of a made kernel: the first lanes that are not observed.
static void cpu_try_made(CpuBackend *cpu, const Batch *batch)
{
    Batch *trial = &cpu->made.trial;
    const int64_t observed = batch_observed(batch), plain = batch->lanes - observed;
    cpu->made.tried = true;
    trial->lanes = plain < CPU_TRIAL_LANES ? plain : CPU_TRIAL_LANES;
    for (int p = 0; p < cpu->configured.n_parameters; p++)
        memcpy(trial->parameter + p * trial->stride, batch->parameter + p * batch->stride + observed,
               sizeof(double) * (size_t)trial->lanes);
    memset(trial->status, 0, sizeof *trial->status * (size_t)trial->lanes);
}

// By which kernel the batch goes. Single lanes have the general kernel that is best for them.
static void cpu_choose_kernel(CpuBackend *cpu, int slot)
{
    CpuMade *made = &cpu->made;
    const Batch *batch = &cpu->backend.batches[slot];
    const int64_t plain = batch->lanes - batch_observed(batch);
    made->tried = false;
    made->used = made->object.run != NULL && plain > 0 && (plain > 1 || cpu->alone.plain == cpu->vectors.plain) &&
                 cpu_made_serves(cpu, batch);
    if (made->used && cpu->backend.info.made == MADE_ON_TRIAL) cpu_try_made(cpu, batch);
    cpu->backend.used_made[slot] = made->used;
}

// Do both kernels give the same bits?
static bool cpu_made_agrees(const CpuBackend *cpu, const Batch *batch)
{
    const Batch *trial = &cpu->made.trial;
    const int64_t observed = batch_observed(batch);
    const size_t bytes = sizeof(double) * (size_t)trial->lanes;
    bool equal = memcmp(trial->status, batch->status + observed, sizeof *trial->status * (size_t)trial->lanes) == 0;
    for (int m = 0; m < cpu->configured.n_metrics; m++)
        equal = equal &&
                memcmp(trial->metric + m * trial->stride, batch->metric + m * batch->stride + observed, bytes) == 0;
    return equal;
}

// ---- the backend ----------------------------------------------------------------------------------------------------

// Lanes whose numbers each lane has room for. A kernel whose work is columns may compute each lane of a group alone.
static int64_t cpu_room(const Configured *configured) { return cpu_moves_lanes(configured->kernel) ? LANES_MOST : 1; }

// Doubles of a lane that codes over its samples take.
static int64_t cpu_cells(const Configured *configured)
{
    const int64_t cells = (configured->meter != NULL ? configured->meter->of.cells : 0) +
                          (configured->law != NULL ? configured->law->of.cells : 0);
    return cells * cpu_room(configured);
}

static void cpu_give_cells(CpuBackend *cpu, LaneCode *code, int64_t lanes)
{
    code->lane_apart = code->cells * cpu_room(&cpu->configured);
    code->cell = ARENA_NEW(&cpu->arena, double, code->lane_apart *lanes);
    code->cell_apart = 1;
}

static Error cpu_prepare(Backend *backend, const Configured *configured, int64_t lanes, int64_t traced,
                         int64_t capacity)
{
    CpuBackend *cpu = (CpuBackend *)backend;
    const int64_t fields = configured->n_parameters + configured->n_work + configured->n_metrics;
    const int64_t samples = traced * capacity * configured->n_columns;
    const int64_t cells = cpu_cells(configured);
    const int64_t idle = 2 * LANES_MOST; // lanes, at most, of incomplete last groups (lanes_work_chunk)
    arena_destroy(&cpu->arena);
    arena_destroy(&cpu->debug_arena);
    cpu_drop_made(cpu);
    backend->info.made = MADE_NONE;
    TRY(arena_create(&cpu->arena,
                     (size_t)(fields * lanes + cells * (lanes + idle) + configured->n_work * idle + samples) * 8 +
                         (size_t)(lanes * 8 + traced * 8) + 4096,
                     "a batch of lanes"));
    cpu->configured = *configured;
    Batch *batch = &backend->batches[0];
    *batch = (Batch){.stride = lanes,
                     .parameter = ARENA_NEW(&cpu->arena, double, (int64_t)configured->n_parameters *lanes),
                     .work = ARENA_NEW(&cpu->arena, double, configured->n_work *(lanes + idle)),
                     .metric = ARENA_NEW(&cpu->arena, double, (int64_t)configured->n_metrics *lanes),
                     .status = ARENA_NEW(&cpu->arena, int32_t, lanes),
                     .trace = {.capacity = capacity, .every = 1}};
    if (traced > 0) {
        batch->trace.sample = ARENA_NEW(&cpu->arena, double, samples);
        batch->trace.count = ARENA_NEW(&cpu->arena, int64_t, traced);
    }
    if (configured->meter != NULL) {
        batch->meter = *configured->meter;
        cpu_give_cells(cpu, &batch->meter.of, lanes + idle);
    }
    if (configured->law != NULL) {
        batch->law = *configured->law;
        cpu_give_cells(cpu, &batch->law.of, lanes + idle);
    }
    const bool moves = cpu_moves_lanes(configured->kernel) && configured->law == NULL; // its cells stay where they are
    cpu->order = moves ? ARENA_NEW(&cpu->arena, int32_t, lanes) : NULL;
    for (int64_t i = 0; cpu->order != NULL && i < lanes; i++) cpu->order[i] = (int32_t)i;
    cpu->moved = false;
    cpu->alone = cpu->vectors;
    if (!cpu->chosen && cpu_leaves_vectors(configured->kernel))
        cpu->alone = (CpuWay){.plain = &cpu_plain_scalar, .observed = &cpu_observed_scalar};
    return cpu_open_graphs(cpu, lanes);
}

static Error cpu_prepare_debug(Backend *backend, int64_t lanes, int64_t capacity)
{
    CpuBackend *cpu = (CpuBackend *)backend;
    DebugRows *debug = &backend->batches[0].debug;
    const int64_t numbers = lanes * capacity * cpu->configured.n_debug;
    arena_destroy(&cpu->debug_arena);
    TRY(arena_create(&cpu->debug_arena, (size_t)(numbers + lanes) * 8 + 4096, "debug rows"));
    *debug = (DebugRows){.capacity = capacity,
                         .row = ARENA_NEW(&cpu->debug_arena, double, numbers),
                         .count = ARENA_NEW(&cpu->debug_arena, int64_t, lanes)};
    return error_none();
}

static Error cpu_begin(Backend *backend, int slot)
{
    CpuBackend *cpu = (CpuBackend *)backend;
    Batch *batch = &backend->batches[slot];
    for (int64_t i = 0; cpu->moved && i < batch->stride; i++) cpu->order[i] = (int32_t)i; // the last batch was left
    cpu->moved = false;
    cpu->end = batch->lanes;
    cpu->tick = 0;
    cpu->kernel_seconds = 0.0;
    cpu_choose_kernel(cpu, slot);
    memset(batch->status, 0, sizeof *batch->status * (size_t)batch->lanes);
    if (batch->meter.of.cell != NULL) // no samples yet
        memset(batch->meter.of.cell, 0,
               sizeof *batch->meter.of.cell * (size_t)(batch->meter.of.lane_apart * batch->lanes));
    if (batch->trace.lanes > 0) memset(batch->trace.count, 0, sizeof *batch->trace.count * (size_t)batch->trace.lanes);
    if (batch->debug.lanes > 0) memset(batch->debug.count, 0, sizeof *batch->debug.count * (size_t)batch->debug.lanes);
    return error_none();
}

static Error cpu_advance(Backend *backend, int slot, int64_t ticks)
{
    CpuBackend *cpu = (CpuBackend *)backend;
    const int64_t width = cpu->vectors.plain->lanes, left = backend->life[slot].steps - cpu->tick;
    pthread_mutex_lock(&cpu->mutex);
    while (cpu->working > 0) pthread_cond_wait(&cpu->idle, &cpu->mutex); // a slice that was never waited for
    cpu->slice = (LaneGroup){.batch = backend->batches[slot],
                             .n_columns = cpu->configured.n_columns,
                             .n_debug = cpu->configured.n_debug,
                             .tick = cpu->tick,
                             .ticks = ticks < left ? ticks : left};
    const int64_t observed = batch_observed(&cpu->slice.batch), plain = cpu->end - observed;
    cpu->observed_groups = (observed + width - 1) / width;
    cpu->groups = cpu->observed_groups + (plain + width - 1) / width;
    cpu->trial_groups = cpu->made.tried ? (cpu->made.trial.lanes + width - 1) / width : 0;
    cpu->sharing = cpu_shares(cpu);
    atomic_store(&cpu->next, 0);
    cpu->working = cpu->n_threads;
    cpu->turn++;
    cpu->tick += cpu->slice.ticks;
    cpu->slice_started = backend_clock();
    pthread_cond_broadcast(&cpu->work);
    pthread_mutex_unlock(&cpu->mutex);
    return error_none();
}

static Error cpu_poll(Backend *backend, int slot, double seconds, bool *ended)
{
    (void)slot;
    CpuBackend *cpu = (CpuBackend *)backend;
    const double until = backend_clock() + seconds;
    struct timespec limit = {.tv_sec = (time_t)until};
    limit.tv_nsec = (long)(1e9 * (until - (double)limit.tv_sec));
    int late = 0;
    pthread_mutex_lock(&cpu->mutex);
    while (cpu->working > 0 && late == 0) late = pthread_cond_timedwait(&cpu->idle, &cpu->mutex, &limit);
    *ended = cpu->working == 0;
    pthread_mutex_unlock(&cpu->mutex);
    return error_none();
}

// Skips the groups that no thread has begun.
static void cpu_cut(Backend *backend) { atomic_store(&((CpuBackend *)backend)->next, (long long)1 << 62); }

// A made kernel's first batch has ended: it is used from now on, or dropped, and nothing that it computed is kept.
static Error cpu_judge_made(CpuBackend *cpu, int slot)
{
    enum { SLICES = 64 };
    const Batch *batch = &cpu->backend.batches[slot];
    const int64_t steps = cpu->backend.life[slot].steps / SLICES + 1;
    bool ended = false;
    cpu->made.tried = false;
    if (cpu_made_agrees(cpu, batch)) {
        cpu->backend.info.made = MADE_USED;
        return error_none();
    }
    cpu_refuse_made(cpu, "its bits differ from those of the general kernel");
    TRY(cpu_begin(&cpu->backend, slot));
    while (cpu_running(batch, 0, cpu->end) > 0) {
        TRY(cpu_advance(&cpu->backend, slot, steps));
        for (ended = false; !ended;) TRY(cpu_poll(&cpu->backend, slot, 1.0, &ended));
    }
    return error_none();
}

static Error cpu_wait(Backend *backend, int slot, bool *done, double *kernel_seconds)
{
    CpuBackend *cpu = (CpuBackend *)backend;
    Batch *batch = &backend->batches[slot];
    backend->running[slot] = cpu_running(batch, 0, cpu->end);
    *done = backend->running[slot] == 0;
    *kernel_seconds = cpu->kernel_seconds;
    if (*done)
        cpu_restore_order(cpu, batch);
    else
        cpu_compact_lanes(cpu, batch);
    return *done && cpu->made.tried ? cpu_judge_made(cpu, slot) : error_none();
}

static void cpu_close(Backend *backend)
{
    CpuBackend *cpu = (CpuBackend *)backend;
    pthread_mutex_lock(&cpu->mutex);
    cpu->stopping = true;
    pthread_cond_broadcast(&cpu->work);
    pthread_mutex_unlock(&cpu->mutex);
    for (int i = 0; i < cpu->n_threads; i++) pthread_join(cpu->threads[i], NULL);
    pthread_mutex_destroy(&cpu->mutex);
    pthread_cond_destroy(&cpu->work);
    pthread_cond_destroy(&cpu->idle);
    arena_destroy(&cpu->arena);
    arena_destroy(&cpu->debug_arena);
    cpu_drop_made(cpu);
    cpu_close_graphs(cpu);
    free(cpu);
}

static void cpu_describe(CpuBackend *cpu, const CpuIsa *isa)
{
    BackendInfo *info = &cpu->backend.info;
    char name[64];
    cpu_name(name, sizeof name);
    *info = (BackendInfo){.name = "cpu", .slots = 1};
    info->lanes_at_once = (int64_t)isa->observed->lanes * cpu->n_threads;
    info->lane_multiple = info->lanes_at_once * CPU_GROUPS_AT_ONCE;
    snprintf(info->device, sizeof info->device, "%s, %d thread%s, %s", name, cpu->n_threads,
             cpu->n_threads == 1 ? "" : "s", isa->name);
    snprintf(info->architecture, sizeof info->architecture, "%s-%s", cpu_family, isa->name);
    snprintf(info->version, sizeof info->version, "%s-%s%s", cpu_family, isa->name,
             isa->plain != NULL ? "" : ", without its faster kernels, which `make` builds");
    if (strcmp(isa->name, "v2") == 0)
        snprintf(info->warning, sizeof info->warning,
                 "instruction set v2 has no fused multiply-add: correct, but about 50 times slower than v3");
    info->memory_free = (int64_t)sysconf(_SC_AVPHYS_PAGES) * (int64_t)sysconf(_SC_PAGESIZE);
}

// Timed waits use the monotonic clock.
static void cpu_init_idle(CpuBackend *cpu)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&cpu->idle, &attributes);
    pthread_condattr_destroy(&attributes);
}

Error backend_cpu_open(const BackendOptions *options, int device, Backend **out)
{
    (void)device;
    const CpuIsa *isa = NULL;
    TRY(cpu_choose_isa(options->isa, &isa));
    CpuBackend *cpu = calloc(1, sizeof *cpu);
    if (cpu == NULL) return error_make(ERROR_MACHINE, "not enough memory for the CPU backend");
    cpu->vectors = cpu_way_of(isa);
    cpu->chosen = options->isa != NULL && strcmp(options->isa, "auto") != 0;
    cpu->backend.prepare = cpu_prepare;
    cpu->backend.prepare_debug = cpu_prepare_debug;
    cpu->backend.begin = cpu_begin;
    cpu->backend.advance = cpu_advance;
    cpu->backend.poll = cpu_poll;
    cpu->backend.wait = cpu_wait;
    cpu->backend.use_made = cpu_use_made;
    cpu->backend.cut = cpu_cut;
    cpu->backend.close = cpu_close;
    cpu->arena.purpose = "a batch of lanes";
    cpu->debug_arena.purpose = "debug rows";
    cpu->graph_arena.purpose = "the graph of a step";
    pthread_mutex_init(&cpu->mutex, NULL);
    pthread_cond_init(&cpu->work, NULL);
    cpu_init_idle(cpu);
    const int wanted = graph_threads(options->threads);
    while (cpu->n_threads < wanted && cpu->n_threads < CPU_THREADS_MAX &&
           thread_start(&cpu->threads[cpu->n_threads], cpu_thread, cpu) == 0)
        cpu->n_threads++;
    if (cpu->n_threads == 0) {
        cpu_close(&cpu->backend);
        return error_make(ERROR_MACHINE, "cannot start a thread for the CPU backend");
    }
    cpu_describe(cpu, isa);
    *out = &cpu->backend;
    return error_none();
}
