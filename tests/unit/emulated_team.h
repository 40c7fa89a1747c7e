// Emulates the threads of a GPU's thread block on one processor: each thread runs until it must wait for others. A
// kernel that is compiled after this header then shows without a GPU what a team computes, and whether it waits
// everywhere it must: the results must not depend on the order of the threads.
#ifndef HOPSCOTCH_EMULATED_TEAM_H
#define HOPSCOTCH_EMULATED_TEAM_H

#define HOPSCOTCH_SCALAR
#define HOPSCOTCH_TEAMS
#ifndef HOPSCOTCH_CALLS
#define HOPSCOTCH_CALLS
#endif

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <ucontext.h>

enum { EMULATED_STACK = 1 << 18 };
// Who meets; a crew is a fraction of a warp.
enum { EMULATED_CREW, EMULATED_WARP, EMULATED_THREAD_BLOCK, EMULATED_KINDS };

typedef struct EmulatedIndex {
    unsigned x;
} EmulatedIndex;

typedef struct EmulatedThread {
    ucontext_t context;
    unsigned passed[EMULATED_KINDS]; // number of meetings; equal for all threads of a group, as a GPU requires
    double shown;                    // the value that it shows to the others
    bool ended;
} EmulatedThread;

static struct {
    EmulatedThread *threads;
    EmulatedIndex thread, block_size, block; // of the running thread
    bool backwards;
    ucontext_t caller;
    void (*function)(void *context);
    void *context;
} emulated;

#define threadIdx emulated.thread
#define blockDim emulated.block_size
#define blockIdx emulated.block
#define __shared__ static

// ---- meetings -------------------------------------------------------------------------------------------------------

// Runs the next thread that has not ended.
static void emulated_yield(void)
{
    const unsigned from = emulated.thread.x, count = emulated.block_size.x;
    unsigned to = from;
    do to = (to + (emulated.backwards ? count - 1 : 1)) % count;
    while (emulated.threads[to].ended && to != from);
    if (to == from) return;
    emulated.thread.x = to;
    swapcontext(&emulated.threads[from].context, &emulated.threads[to].context);
}

// A barrier of the threads [first, first + count). The last thread to arrive lets the others run first, so that between
// two barriers the threads run in their order, or backwards.
static void emulated_meet(unsigned first, unsigned count, int kind)
{
    const unsigned own = ++emulated.threads[emulated.thread.x].passed[kind];
    bool last = true;
    for (unsigned t = first; t < first + count; t++) {
        for (; (int)(emulated.threads[t].passed[kind] - own) < 0; last = false) emulated_yield();
    }
    if (last) emulated_yield();
}

static unsigned emulated_group(unsigned size) { return emulated.thread.x / size * size; }

// x of thread `from` of this thread's group
static double emulated_shuffle(double x, unsigned from, unsigned size)
{
    const unsigned first = emulated_group(size);
    const int kind = size == 32 ? EMULATED_WARP : EMULATED_CREW;
    emulated.threads[emulated.thread.x].shown = x;
    emulated_meet(first, size, kind);
    const double shown = emulated.threads[first + from].shown;
    emulated_meet(first, size, kind); // before any thread shows its next value
    return shown;
}

static inline double __shfl_sync(unsigned mask, double x, int from, int width)
{
    (void)mask;
    return emulated_shuffle(x, (unsigned)from, (unsigned)width);
}

static inline double __shfl_xor_sync(unsigned mask, double x, int other)
{
    (void)mask;
    return emulated_shuffle(x, emulated.thread.x % 32 ^ (unsigned)other, 32);
}

static inline void __syncwarp(void) { emulated_meet(emulated_group(32), 32, EMULATED_WARP); }

static inline void thread_block_barrier(void) { emulated_meet(0, emulated.block_size.x, EMULATED_THREAD_BLOCK); }

static inline void __threadfence(void) {}

static inline unsigned long long atomicAdd(unsigned long long *count, unsigned long long more)
{
    *count += more;
    return *count - more;
}

// ---- a block --------------------------------------------------------------------------------------------------------

static void emulated_run_thread(void)
{
    emulated.function(emulated.context);
    emulated.threads[emulated.thread.x].ended = true;
    emulated_yield();
    setcontext(&emulated.caller); // the last thread
}

static void emulated_make_thread(ucontext_t *own, char *stack)
{
    if (getcontext(own) != 0) abort();
    own->uc_stack.ss_sp = stack;
    own->uc_stack.ss_size = EMULATED_STACK;
    makecontext(own, emulated_run_thread, 0);
}

// Runs a function on a block of `count` threads, until all have ended.
static inline void emulated_run(int count, bool backwards, void (*function)(void *context), void *context)
{
    char *stacks = malloc((size_t)count * EMULATED_STACK);
    emulated.threads = calloc((size_t)count, sizeof *emulated.threads);
    if (stacks == NULL || emulated.threads == NULL) abort();
    emulated.block_size.x = (unsigned)count;
    emulated.thread.x = backwards ? (unsigned)count - 1 : 0;
    emulated.backwards = backwards;
    emulated.function = function;
    emulated.context = context;
    for (int t = 0; t < count; t++) emulated_make_thread(&emulated.threads[t].context, stacks + t * EMULATED_STACK);
    swapcontext(&emulated.caller, &emulated.threads[emulated.thread.x].context);
    free(emulated.threads);
    free(stacks);
}

#endif
