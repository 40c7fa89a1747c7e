// The kernel that goes ahead of those of equations through straight runs (equations/straight.h), by their plan
// (equations/straight_plan.h). A thread has two lanes, for which a step is decoded once. The general kernel takes five
// times as long: its 255 registers leave few warps, and each waits for the memory of a step.
#include "ahead.cuh"
#include "equations/straight_plan.h"
#include "equations/straight.h"
#include "models.h"

enum { AHEAD_OF_PROCESSOR = 20 }; // thread blocks: 102 registers for a thread

// A number of both lanes of a thread.
typedef double2 Pair;

// A thread block is a warp. In its memory stand the steps, the numbers in common, and the rows of all threads. A step
// as the loop wants it: the address of the result with the flags behind it, then those of operands. An odd address is
// that of a row, to which a thread adds its own part; the others are those of numbers in common. Behind the flags of a
// function stands its operation.
typedef uint4 AheadStep;
enum { AHEAD_PAIR = sizeof(Pair), AHEAD_ROW = AHEAD_THREADS * AHEAD_PAIR };
enum { AHEAD_FLAGS = 20, AHEAD_OPERATION = 24, AHEAD_END = 0xff }; // first bits; an operation
#define AHEAD_FLAG(flag) ((unsigned)(flag) << AHEAD_FLAGS)

// Addresses in shared memory.
typedef struct AheadMemory {
    unsigned commons, rows;
    unsigned own; // the thread's part of a row
} AheadMemory;

static __device__ unsigned ahead_place(AheadMemory memory, int place)
{
    const unsigned at = (unsigned)(place & PLAN_PLACES);
    return place & PLAN_COMMON ? memory.commons + at * AHEAD_PAIR : memory.rows + at * AHEAD_ROW + 1;
}

static __device__ AheadStep ahead_decode(AheadMemory memory, const double *assets, int64_t at)
{
    const int64_t step = asset_integer(assets, at), flags = asset_integer(assets, at + 1);
    const unsigned operation = (unsigned)tape_step_operation(step);
    AheadStep out;
    out.x = ahead_place(memory, tape_step_register(step, 0)) | AHEAD_FLAG(flags) | operation << AHEAD_OPERATION;
    out.y = ahead_place(memory, tape_step_register(step, 1));
    out.z = ahead_place(memory, tape_step_register(step, 2));
    out.w = (flags & PLAN_IS_FUNCTION) && operation > TAPE_INPUT
                ? (unsigned)tape_step_register(step, 3) // a table's number
                : ahead_place(memory, tape_step_register(step, 3));
    return out;
}

static __device__ __forceinline__ Pair ahead_get(AheadMemory memory, unsigned at)
{
    Pair value;
    asm volatile("ld.shared.v2.f64 {%0, %1}, [%2];" : "=d"(value.x), "=d"(value.y) : "r"(memory.own * (at & 1) + at));
    return value;
}
static __device__ __forceinline__ void ahead_set(AheadMemory memory, unsigned at, Pair value)
{
    asm volatile("st.shared.v2.f64 [%0], {%1, %2};" ::"r"(memory.own * (at & 1) + at), "d"(value.x), "d"(value.y)
                 : "memory");
}

static __device__ __forceinline__ Pair ahead_pair(double x, double y) { return make_double2(x, y); }

// A function, of one lane after the other.
static __device__ __noinline__ Pair ahead_function(const double *assets, int64_t tables, unsigned operation,
                                                   unsigned table, Pair a, Pair b, Pair c)
{
    if (operation == PROGRAM_DIVIDE) return ahead_pair(a.x / b.x, a.y / b.y);
    if (operation <= TAPE_INPUT)
        return ahead_pair(tape_function((int)operation, a.x, b.x, c.x), tape_function((int)operation, a.y, b.y, c.y));
    const int64_t step = tape_step_of((int)operation, 0, 0, 0, (int)table);
    const double *numbers = tape_table_of(assets, tables, step);
    return ahead_pair(tape_lookup_in(numbers, step, a.x, b.x), tape_lookup_in(numbers, step, a.y, b.y));
}

static __device__ __forceinline__ AheadStep ahead_step(unsigned at)
{
    AheadStep step;
    asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(step.x), "=r"(step.y), "=r"(step.z), "=r"(step.w)
                 : "r"(at));
    return step;
}

// Runs the steps in front of the numbers in common, `count` and the one that ends them.
static __device__ __forceinline__ void ahead_run(int count, AheadMemory memory, const double *assets, int64_t tables)
{
    unsigned at = memory.commons - (unsigned)(count + 1) * (unsigned)sizeof(AheadStep);
    Pair last = ahead_pair(0.0, 0.0);
    AheadStep step = ahead_step(at);
    while (true) {
#pragma unroll 4
        while (!(step.x & AHEAD_FLAG(PLAN_IS_FUNCTION))) {
            Pair a = last, c = last;
            if (!(step.x & AHEAD_FLAG(PLAN_A_IS_LAST))) a = ahead_get(memory, step.y);
            const Pair b = ahead_get(memory, step.z);
            if (!(step.x & AHEAD_FLAG(PLAN_C_IS_LAST))) c = ahead_get(memory, step.w);
            const AheadStep next = ahead_step(at += (unsigned)sizeof(AheadStep));
            last = ahead_pair(fused(a.x, b.x, c.x), fused(a.y, b.y, c.y));
            if (!(step.x & AHEAD_FLAG(PLAN_IS_NOT_STORED))) ahead_set(memory, step.x & (AHEAD_FLAG(1) - 1), last);
            step = next;
        }
        const unsigned operation = step.x >> AHEAD_OPERATION;
        if (operation == AHEAD_END) return;
        Pair a = last, c = last;
        if (!(step.x & AHEAD_FLAG(PLAN_A_IS_LAST))) a = ahead_get(memory, step.y);
        if (!(step.x & AHEAD_FLAG(PLAN_C_IS_LAST))) c = ahead_get(memory, step.w);
        last = ahead_function(assets, tables, operation, step.w, a, ahead_get(memory, step.z), c);
        __syncwarp(); // numbers in common are written by all threads
        if (!(step.x & AHEAD_FLAG(PLAN_IS_NOT_STORED))) ahead_set(memory, step.x & (AHEAD_FLAG(1) - 1), last);
        step = ahead_step(at += (unsigned)sizeof(AheadStep));
    }
}

// One of the lanes of a thread, with its frame in the batch's memory.
typedef struct AheadLane {
    EquationsLane lane;
    bool runs;
} AheadLane;

static __device__ AheadLane ahead_lane(const EquationsConstants *c, const double *assets, LaneGroup group,
                                       int64_t position, int64_t end)
{
    AheadLane own;
    memset(&own, 0, sizeof own);
    own.runs = lanes_take(&group, position, end) && lanes_running(&group);
    if (!own.runs) return own;
    own.lane.c = c;
    own.lane.assets = assets;
    own.lane.frame.at = equations_memory(c, &group, &own.lane.frame.apart);
    own.lane.file = frame_from(own.lane.frame, c->file);
    return own;
}

// Number k of the frames of both lanes.
static __device__ Pair ahead_read(const AheadLane *own, int k)
{
    return ahead_pair(own[0].runs ? frame_get(own[0].lane.frame, k) : 0.0,
                      own[1].runs ? frame_get(own[1].lane.frame, k) : 0.0);
}

static __device__ void ahead_load(AheadMemory memory, const double *assets, const int64_t *plan,
                                  const EquationsConstants *c, const AheadLane *own)
{
    for (int64_t k = plan[PLAN_NUMBERS]; k < plan[PLAN_NUMBERS] + 2 * plan[PLAN_N_NUMBERS]; k += 2) {
        const double number = assets[asset_integer(assets, k + 1)];
        ahead_set(memory, ahead_place(memory, (int)asset_integer(assets, k)), ahead_pair(number, number));
    }
    for (int64_t k = plan[PLAN_LOADS]; k < plan[PLAN_LOADS] + 2 * plan[PLAN_N_LOADS]; k += 2)
        ahead_set(memory, ahead_place(memory, (int)asset_integer(assets, k)),
                  ahead_read(own, c->file + (int)asset_integer(assets, k + 1)));
    for (int i = 0; i < c->n_total; i++) ahead_set(memory, ahead_place(memory, i), ahead_read(own, c->y + i));
    if (c->is_map) ahead_set(memory, ahead_place(memory, c->n_total), ahead_pair(0.0, 0.0)); // the watch
}

// The lanes have gone from `tick` to `end`, but for one with a number that is not finite: it waits where it was.
static __device__ void ahead_arrive(AheadMemory memory, const EquationsConstants *c, AheadLane *own, int64_t tick,
                                    int64_t end)
{
    for (int i = 0; i < c->n_states + c->is_map; i++) {
        const bool is_watch = i == c->n_states;
        const Pair value = ahead_get(memory, ahead_place(memory, is_watch ? c->n_total : i));
        own[0].runs = own[0].runs && (is_watch ? value.x == 0.0 : is_finite(value.x) != 0);
        own[1].runs = own[1].runs && (is_watch ? value.y == 0.0 : is_finite(value.y) != 0);
    }
    for (int i = 0; i < c->n_total + c->is_map; i++) {
        const Pair value = ahead_get(memory, ahead_place(memory, i));
        if (own[0].runs) frame_set(own[0].lane.file, straight_number(c, i), value.x);
        if (own[1].runs) frame_set(own[1].lane.file, straight_number(c, i), value.y);
    }
    for (int i = 0; i < AHEAD_LANES; i++)
        if (own[i].runs) straight_arrive(&own[i].lane, tick, end);
}

static __global__ void __launch_bounds__(AHEAD_THREADS, AHEAD_OF_PROCESSOR)
    ahead_equations(const Constants constants, const double *assets, LaneGroup group, int64_t end)
{
    extern __shared__ AheadStep ahead_steps[];
    const EquationsConstants *c = (const EquationsConstants *)&constants;
    const int64_t at = asset_integer(assets, c->straight + STRAIGHT_PLAN), stop = group.tick + group.ticks;
    int64_t plan[PLAN_HEADER];
    for (int k = 0; k < PLAN_HEADER; k++) plan[k] = asset_integer(assets, at + k);
    const int count = (int)plan[PLAN_COUNT];
    AheadMemory memory;
    memory.commons = (unsigned)__cvta_generic_to_shared(ahead_steps + count + 1);
    memory.rows = memory.commons + (unsigned)plan[PLAN_COMMONS] * AHEAD_PAIR;
    memory.own = threadIdx.x * AHEAD_PAIR - 1;
    for (int k = (int)threadIdx.x; k <= count; k += AHEAD_THREADS)
        ahead_steps[k] =
            k < count ? ahead_decode(memory, assets, plan[PLAN_STEPS] + 2 * k)
                      : make_uint4(AHEAD_FLAG(PLAN_IS_FUNCTION) | (unsigned)AHEAD_END << AHEAD_OPERATION, 0, 0, 0);
    const int64_t position = ((int64_t)blockIdx.x * AHEAD_THREADS + threadIdx.x) * AHEAD_LANES;
    AheadLane own[AHEAD_LANES] = {ahead_lane(c, assets, group, position, end),
                                  ahead_lane(c, assets, group, position + 1, end)};
    ahead_load(memory, assets, plan, c, own);
    const bool has_time = plan[PLAN_TIME] >= 0, has_length = plan[PLAN_LENGTH] >= 0;
    const unsigned at_time = has_time ? ahead_place(memory, (int)plan[PLAN_TIME]) : 0,
                   at_length = has_length ? ahead_place(memory, (int)plan[PLAN_LENGTH]) : 0;
    int64_t tick = group.tick, steps;
    while ((steps = straight_steps(c, tick, stop)) > 1 && __any_sync(~0u, own[0].runs || own[1].runs)) {
        double t = (double)tick * c->dt;
        for (int64_t k = tick; k < tick + steps; k++) {
            const double later = (double)(k + 1) * c->dt, length = later - t;
            __syncwarp();
            if (has_time) ahead_set(memory, at_time, ahead_pair(t, t));
            if (has_length) ahead_set(memory, at_length, ahead_pair(length, length));
            __syncwarp();
            ahead_run(count, memory, assets, c->tables);
            t = later;
        }
        ahead_arrive(memory, c, own, tick, tick + steps);
        tick += steps;
    }
}

extern "C" CudaKernel ahead_cuda_kernel(const Configured *configured)
{
    if (configured->ahead == 0) return NULL; // of the models only `equations` has one
    if (cudaFuncSetAttribute((const void *)ahead_equations, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             configured->ahead) == cudaSuccess)
        return ahead_equations;
    (void)cudaGetLastError();
    return NULL;
}
