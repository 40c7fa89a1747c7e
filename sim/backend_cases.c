// A backend for a model with cases (Configured.cases): one of the same kind for each of them, to which the lanes of its
// replicates go. Batches are copied from and to one that the caller sees. A lane depends on nothing but itself, so that
// changes no bit.
#include "backend.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct CasesBackend {
    Backend backend;
    Backend **inner; // [n]
    bool (*done)[BACKEND_SLOTS_MAX];
    double (*seconds)[BACKEND_SLOTS_MAX];
    int n;
    const Configured *configured;
    Arena arena, debug_arena;
} CasesBackend;

// ---- whose lanes ----------------------------------------------------------------------------------------------------

typedef enum CasesDirection { CASES_OUT, CASES_BACK } CasesDirection; // to the backend of a case; from it

static bool cases_has(const CasesBackend *cases, const Batch *whole, int64_t lane, int k)
{
    return whole->replicate[lane] % cases->n == k;
}

// The first `lanes` lanes of a batch that case k has. They are the first ones of its own batch, in the same order.
static int64_t cases_share(const CasesBackend *cases, const Batch *whole, int64_t lanes, int k)
{
    int64_t count = 0;
    for (int64_t i = 0; i < lanes; i++) count += cases_has(cases, whole, i, k);
    return count;
}

// Copies one item per lane between whole[lanes][item bytes] and own[share][item bytes].
static void cases_copy(const CasesBackend *cases, int slot, int k, void *whole, void *own, size_t item, int64_t lanes,
                       CasesDirection direction)
{
    const Batch *batch = &cases->backend.batches[slot];
    unsigned char *all = whole, *mine = own;
    for (int64_t i = 0; i < lanes; i++) {
        if (!cases_has(cases, batch, i, k)) continue;
        memcpy(direction == CASES_OUT ? mine : all + (size_t)i * item,
               direction == CASES_OUT ? all + (size_t)i * item : mine, item);
        mine += item;
    }
}

static void cases_copy_fields(const CasesBackend *cases, int slot, int k, double *whole, double *own, int count,
                              CasesDirection direction)
{
    const Batch *all = &cases->backend.batches[slot];
    const int64_t stride = backend_batch(cases->inner[k], slot)->stride;
    for (int i = 0; i < count; i++)
        cases_copy(cases, slot, k, whole + i * all->stride, own + i * stride, sizeof *own, all->lanes, direction);
}

// ---- memory ---------------------------------------------------------------------------------------------------------

static void cases_take(CasesBackend *cases, int64_t lanes, int64_t traced, int64_t capacity, Batch *batch)
{
    const Configured *configured = cases->configured;
    Arena *arena = &cases->arena;
    *batch = (Batch){.stride = lanes,
                     .parameter = ARENA_NEW(arena, double, (int64_t)configured->n_parameters *lanes),
                     .metric = ARENA_NEW(arena, double, (int64_t)configured->n_metrics *lanes),
                     .status = ARENA_NEW(arena, int32_t, lanes),
                     .trial = ARENA_NEW(arena, int64_t, lanes),
                     .replicate = ARENA_NEW(arena, int32_t, lanes),
                     .trace = {.capacity = capacity, .every = 1}};
    if (traced == 0) return;
    batch->trace.sample = ARENA_NEW(arena, double, (traced * capacity * configured->n_columns));
    batch->trace.count = ARENA_NEW(arena, int64_t, traced);
}

// A batch holds whole trials: each case has the same number of its lanes. Of those that are traced it may have all.
static Error cases_prepare(Backend *backend, const Configured *configured, int64_t lanes, int64_t traced,
                           int64_t capacity)
{
    CasesBackend *cases = (CasesBackend *)backend;
    const int64_t fields = configured->n_parameters + configured->n_metrics, own = lanes / cases->n + 1;
    const int64_t samples = traced * capacity * configured->n_columns;
    const size_t slot = (size_t)(fields * lanes + samples + traced) * 8 + (size_t)lanes * 16 + 8192;
    assert(configured->n_cases == cases->n);
    arena_destroy(&cases->arena);
    arena_destroy(&cases->debug_arena);
    cases->configured = configured;
    for (int k = 0; k < cases->n; k++)
        TRY(backend_prepare(cases->inner[k], &configured->cases[k], own, traced < own ? traced : own, capacity));
    TRY(arena_create(&cases->arena, (size_t)backend->info.slots * slot, "batches of all cases"));
    for (int i = 0; i < backend->info.slots; i++) cases_take(cases, lanes, traced, capacity, &backend->batches[i]);
    return error_none();
}

static Error cases_prepare_debug(Backend *backend, int64_t lanes, int64_t capacity)
{
    CasesBackend *cases = (CasesBackend *)backend;
    const int64_t numbers = lanes * capacity * cases->configured->n_debug;
    Arena *arena = &cases->debug_arena;
    arena_destroy(arena);
    for (int k = 0; k < cases->n; k++) TRY(backend_prepare_debug(cases->inner[k], lanes, capacity));
    TRY(arena_create(arena, (size_t)backend->info.slots * ((size_t)(numbers + lanes) * 8 + 4096), "debug rows"));
    for (int i = 0; i < backend->info.slots; i++) {
        backend->batches[i].debug = (DebugRows){
            .capacity = capacity, .row = ARENA_NEW(arena, double, numbers), .count = ARENA_NEW(arena, int64_t, lanes)};
    }
    return error_none();
}

// ---- a batch --------------------------------------------------------------------------------------------------------

static Error cases_begin_one(CasesBackend *cases, int slot, int k)
{
    const Batch *whole = &cases->backend.batches[slot];
    Batch *own = backend_batch(cases->inner[k], slot);
    own->lanes = cases_share(cases, whole, whole->lanes, k);
    own->trace.lanes = cases_share(cases, whole, whole->trace.lanes, k);
    own->trace.every = whole->trace.every;
    own->trace.first = whole->trace.first;
    own->trace.end = whole->trace.end;
    own->debug.lanes = cases_share(cases, whole, whole->debug.lanes, k);
    own->debug.first = whole->debug.first;
    own->debug.end = whole->debug.end;
    cases->done[k][slot] = own->lanes == 0;
    cases->seconds[k][slot] = 0.0;
    if (own->lanes == 0) return error_none();
    cases_copy_fields(cases, slot, k, whole->parameter, own->parameter, cases->configured->n_parameters, CASES_OUT);
    return backend_begin(cases->inner[k], slot);
}

static Error cases_begin(Backend *backend, int slot)
{
    CasesBackend *cases = (CasesBackend *)backend;
    memset(backend->batches[slot].status, 0, sizeof(int32_t) * (size_t)backend->batches[slot].lanes);
    for (int k = 0; k < cases->n; k++) TRY(cases_begin_one(cases, slot, k));
    return error_none();
}

static Error cases_advance(Backend *backend, int slot, int64_t ticks)
{
    CasesBackend *cases = (CasesBackend *)backend;
    for (int k = 0; k < cases->n; k++)
        if (!cases->done[k][slot]) TRY(backend_advance(cases->inner[k], slot, ticks));
    return error_none();
}

static Error cases_poll(Backend *backend, int slot, double seconds, bool *ended)
{
    CasesBackend *cases = (CasesBackend *)backend;
    const double until = backend_clock() + seconds;
    *ended = true;
    for (int k = 0; k < cases->n && *ended; k++) {
        const double left = until - backend_clock();
        if (!cases->inner[k]->in_flight[slot]) continue;
        TRY(cases->inner[k]->poll(cases->inner[k], slot, left > 0.0 ? left : 0.0, ended));
    }
    return error_none();
}

static void cases_collect(const CasesBackend *cases, int slot, int k)
{
    const Configured *configured = cases->configured;
    const Batch *whole = &cases->backend.batches[slot], *own = backend_batch(cases->inner[k], slot);
    const size_t samples = sizeof(double) * (size_t)(whole->trace.capacity * configured->n_columns);
    const size_t rows = sizeof(double) * (size_t)(whole->debug.capacity * configured->n_debug), count = sizeof(int64_t);
    const int64_t traced = whole->trace.lanes, debugged = whole->debug.lanes;
    cases_copy_fields(cases, slot, k, whole->metric, own->metric, configured->n_metrics, CASES_BACK);
    cases_copy(cases, slot, k, whole->status, own->status, sizeof *own->status, whole->lanes, CASES_BACK);
    cases_copy(cases, slot, k, whole->trace.count, own->trace.count, count, traced, CASES_BACK);
    cases_copy(cases, slot, k, whole->trace.sample, own->trace.sample, samples, traced, CASES_BACK);
    cases_copy(cases, slot, k, whole->debug.count, own->debug.count, count, debugged, CASES_BACK);
    cases_copy(cases, slot, k, whole->debug.row, own->debug.row, rows, debugged, CASES_BACK);
}

static Error cases_wait(Backend *backend, int slot, bool *done, double *kernel_seconds)
{
    CasesBackend *cases = (CasesBackend *)backend;
    *done = true;
    *kernel_seconds = 0.0;
    backend->running[slot] = 0;
    for (int k = 0; k < cases->n; k++) {
        const bool before = cases->done[k][slot];
        if (!before) TRY(backend_wait(cases->inner[k], slot, &cases->done[k][slot], &cases->seconds[k][slot]));
        if (!before && cases->done[k][slot]) cases_collect(cases, slot, k);
        if (!cases->done[k][slot]) backend->running[slot] += backend_running(cases->inner[k], slot);
        *done = *done && cases->done[k][slot];
        if (cases->seconds[k][slot] > *kernel_seconds) *kernel_seconds = cases->seconds[k][slot];
    }
    return error_none();
}

static void cases_cut(Backend *backend)
{
    const CasesBackend *cases = (const CasesBackend *)backend;
    for (int k = 0; k < cases->n; k++)
        if (cases->inner[k]->cut != NULL) cases->inner[k]->cut(cases->inner[k]);
}

// ---- opening and closing --------------------------------------------------------------------------------------------

static void cases_close(Backend *backend)
{
    CasesBackend *cases = (CasesBackend *)backend;
    for (int k = 0; k < cases->n; k++) (void)backend_close(cases->inner[k]); // no slice is in flight
    arena_destroy(&cases->arena);
    arena_destroy(&cases->debug_arena);
    free(cases->inner);
    free(cases->done);
    free(cases->seconds);
    free(cases);
}

static void cases_describe(CasesBackend *cases)
{
    BackendInfo *info = &cases->backend.info;
    *info = cases->inner[0]->info;
    snprintf(info->device, sizeof info->device, "%.100s, each of %d cases", cases->inner[0]->info.device, cases->n);
    info->architecture[0] = '\0'; // a made kernel would be that of one case
    for (int k = 1; k < cases->n; k++) {
        if (cases->inner[k]->info.slots < info->slots) info->slots = cases->inner[k]->info.slots;
    }
}

static Error cases_open_all(CasesBackend *cases, const BackendOptions *options)
{
    const int wanted = options->cases, threads = options->threads > 0 ? options->threads : processor_count();
    BackendOptions own = *options;
    own.cases = 0;
    own.threads = (threads + wanted - 1) / wanted; // all cases run at once
    cases->inner = calloc((size_t)wanted, sizeof *cases->inner);
    cases->done = calloc((size_t)wanted, sizeof *cases->done);
    cases->seconds = calloc((size_t)wanted, sizeof *cases->seconds);
    if (cases->inner == NULL || cases->done == NULL || cases->seconds == NULL)
        return error_make(ERROR_MACHINE, "not enough memory for the backends of cases");
    for (; cases->n < wanted; cases->n++) {
        TRY(backend_open(&own, &cases->inner[cases->n]));
        if (cases->n == 0) own.name = cases->inner[0]->info.name;
    }
    cases_describe(cases);
    return error_none();
}

Error backend_cases_open(const BackendOptions *options, Backend **out)
{
    CasesBackend *cases = calloc(1, sizeof *cases);
    if (cases == NULL) return error_make(ERROR_MACHINE, "not enough memory for the backends of cases");
    cases->backend.prepare = cases_prepare;
    cases->backend.prepare_debug = cases_prepare_debug;
    cases->backend.begin = cases_begin;
    cases->backend.advance = cases_advance;
    cases->backend.poll = cases_poll;
    cases->backend.wait = cases_wait;
    cases->backend.cut = cases_cut;
    cases->backend.close = cases_close;
    cases->arena.purpose = cases->debug_arena.purpose = "batches of all cases";
    const Error error = cases_open_all(cases, options);
    if (error.kind == OK)
        *out = &cases->backend;
    else
        cases_close(&cases->backend);
    return error;
}
