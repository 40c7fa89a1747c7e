// The backend of models that run a program: a pool of worker processes takes the lanes of a batch (command/pool.h).
#include "backend.h"

#include "command/pool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PROGRAM_SLICE 0.1 // s

typedef struct ProgramBackend {
    Backend backend;
    Configured configured;
    Arena arena;
    int threads;
    char *folder, *file, *hello;
    Pool pool;
    double slice_end[POOL_SLOTS]; // backend_clock
    bool cut;
} ProgramBackend;

// ---- prepare --------------------------------------------------------------------------------------------------------

static int program_workers(const ProgramBackend *program, const Configured *configured)
{
    const CommandModel *model = configured->host;
    const int wanted = model->workers > 0 ? model->workers : program->threads;
    return wanted < POOL_WORKERS_MAX ? wanted : POOL_WORKERS_MAX;
}

// The buffer of a worker grows to the longest answer and a piece (worker_receive).
double backend_program_bytes(const Backend *backend, const Configured *configured, bool traced)
{
    const ProgramBackend *program = (const ProgramBackend *)backend;
    const double each = (double)message_answer_most(configured, traced) + WORKER_PIECE + 1.0;
    return each * program_workers(program, configured);
}

static void program_describe(ProgramBackend *program, int n_workers)
{
    char words[96];
    BackendInfo *info = &program->backend.info;
    info->lanes_at_once = info->lane_multiple = n_workers;
    snprintf(info->device, sizeof info->device, "%d worker%s of `%s`", n_workers, n_workers == 1 ? "" : "s",
             command_line_words(program->configured.host, words, sizeof words));
}

static Error program_take_memory(ProgramBackend *program, int64_t lanes, int64_t traced, int64_t capacity)
{
    const Configured *configured = &program->configured;
    const CommandModel *model = configured->host;
    const int64_t fields = configured->n_parameters + configured->n_metrics + 3;
    const int64_t samples = traced * capacity * configured->n_columns;
    size_t words = 0;
    for (int i = 0; i < model->n_program; i++) words += strlen(model->program[i]) + 72;
    arena_destroy(&program->arena);
    TRY(arena_create(&program->arena,
                     POOL_SLOTS * ((size_t)(fields * lanes + samples + traced) * 8 + 4096) + words + 8192,
                     "a batch of lanes"));
    for (int s = 0; s < POOL_SLOTS; s++) {
        program->backend.batches[s] =
            (Batch){.stride = lanes,
                    .parameter = ARENA_NEW(&program->arena, double, (int64_t)configured->n_parameters *lanes),
                    .metric = ARENA_NEW(&program->arena, double, (int64_t)configured->n_metrics *lanes),
                    .status = ARENA_NEW(&program->arena, int32_t, lanes),
                    .trial = ARENA_NEW(&program->arena, int64_t, lanes),
                    .replicate = ARENA_NEW(&program->arena, int32_t, lanes),
                    .trace = {.capacity = capacity, .every = 1}};
        if (traced == 0) continue;
        program->backend.batches[s].trace.sample = ARENA_NEW(&program->arena, double, samples);
        program->backend.batches[s].trace.count = ARENA_NEW(&program->arena, int64_t, traced);
    }
    return error_none();
}

// The command line: the file to run, and its words.
static Error program_plan(ProgramBackend *program, ProcessPlan *plan)
{
    const CommandModel *model = program->configured.host;
    TRY(process_find(model->n_program > 0 ? model->program[0] : "", program->folder, &program->file));
    char **arguments = ARENA_NEW(&program->arena, char *, model->n_program + 1);
    for (int i = 0; i < model->n_program; i++) arguments[i] = arena_copy(&program->arena, model->program[i]);
    *plan = (ProcessPlan){.file = program->file, .folder = program->folder, .arguments = arguments};
    return error_none();
}

Error program_check(const Configured *configured, const char *folder)
{
    const CommandModel *model = configured->host;
    char *file = NULL;
    const Error error = process_find(model->n_program > 0 ? model->program[0] : "", folder, &file);
    free(file);
    return error;
}

static Error program_prepare_locked(ProgramBackend *program, const Configured *configured, int64_t lanes,
                                    int64_t traced, int64_t capacity)
{
    const int n_workers = program_workers(program, configured);
    size_t hello_size;
    ProcessPlan plan;
    pool_stop_workers(&program->pool); // their tables may be others
    free(program->file);
    free(program->hello);
    program->file = program->hello = NULL;
    program->configured = *configured;
    TRY(program_take_memory(program, lanes, traced, capacity));
    TRY(program_plan(program, &plan));
    program->hello = message_write_hello(&program->configured, &hello_size);
    if (program->hello == NULL) return error_make(ERROR_MACHINE, "not enough memory for a program's hello");
    program_describe(program, n_workers);
    return pool_use(&program->pool, &program->configured, &plan, program->hello, hello_size, n_workers,
                    program->backend.interrupted);
}

static Error program_prepare(Backend *backend, const Configured *configured, int64_t lanes, int64_t traced,
                             int64_t capacity)
{
    ProgramBackend *program = (ProgramBackend *)backend;
    if (!configured->model->runs_program)
        return error_make(ERROR_USER, "model %s runs no program: take another backend", configured->model->name);
    pthread_mutex_lock(&program->pool.mutex);
    const Error error = program_prepare_locked(program, configured, lanes, traced, capacity);
    pthread_mutex_unlock(&program->pool.mutex);
    return error;
}

static Error program_prepare_debug(Backend *backend, int64_t lanes, int64_t capacity)
{
    (void)backend, (void)lanes, (void)capacity;
    return error_make(ERROR_USER, "model command has no debug rows");
}

// ---- batches --------------------------------------------------------------------------------------------------------

static Error program_begin(Backend *backend, int slot)
{
    ProgramBackend *program = (ProgramBackend *)backend;
    const Batch *batch = &backend->batches[slot];
    pthread_mutex_lock(&program->pool.mutex);
    memset(batch->status, 0, sizeof *batch->status * (size_t)batch->lanes);
    if (batch->trace.lanes > 0) memset(batch->trace.count, 0, sizeof *batch->trace.count * (size_t)batch->trace.lanes);
    pool_begin(&program->pool, slot);
    pthread_mutex_unlock(&program->pool.mutex);
    return error_none();
}

// A slice is a time in which the host does not look.
static Error program_advance(Backend *backend, int slot, int64_t ticks)
{
    ProgramBackend *program = (ProgramBackend *)backend;
    (void)ticks;
    pthread_mutex_lock(&program->pool.mutex);
    program->slice_end[slot] = backend_clock() + PROGRAM_SLICE;
    pthread_mutex_unlock(&program->pool.mutex);
    return error_none();
}

static bool program_slice_ended(const ProgramBackend *program, int slot)
{
    return !program->pool.slots[slot].active || program->cut || program->pool.failure.kind != OK ||
           backend_clock() >= program->slice_end[slot];
}

static Error program_poll(Backend *backend, int slot, double seconds, bool *ended)
{
    ProgramBackend *program = (ProgramBackend *)backend;
    Pool *pool = &program->pool;
    const double until = backend_clock() + seconds;
    pthread_mutex_lock(&pool->mutex);
    const double end = program->slice_end[slot];
    const struct timespec limit = pool_time(until < end ? until : end);
    int late = 0;
    while (!program_slice_ended(program, slot) && late == 0)
        late = pthread_cond_timedwait(&pool->idle, &pool->mutex, &limit);
    *ended = program_slice_ended(program, slot);
    pthread_mutex_unlock(&pool->mutex);
    return error_none();
}

static Error program_wait(Backend *backend, int slot, bool *done, double *kernel_seconds)
{
    Pool *pool = &((ProgramBackend *)backend)->pool;
    const PoolSlot *own = &pool->slots[slot];
    pthread_mutex_lock(&pool->mutex);
    *done = !own->active;
    *kernel_seconds = own->active ? backend_clock() - own->since : own->seconds;
    const Error error = own->active ? pool->failure : error_none();
    pthread_mutex_unlock(&pool->mutex);
    return error;
}

static void program_cut(Backend *backend)
{
    ProgramBackend *program = (ProgramBackend *)backend;
    pthread_mutex_lock(&program->pool.mutex);
    program->cut = true;
    pthread_cond_broadcast(&program->pool.idle);
    pthread_mutex_unlock(&program->pool.mutex);
}

// ---- open and close -------------------------------------------------------------------------------------------------

static void program_close(Backend *backend)
{
    ProgramBackend *program = (ProgramBackend *)backend;
    pool_close(&program->pool);
    arena_destroy(&program->arena);
    free(program->file);
    free(program->hello);
    free(program->folder);
    free(program);
}

Error backend_program_open(const BackendOptions *options, int device, Backend **out)
{
    (void)device;
    if (!options->program.allowed || options->program.folder == NULL)
        return error_make(ERROR_USER, "programs are not allowed: add --allow-programs");
    ProgramBackend *program = calloc(1, sizeof *program);
    if (program == NULL) return error_make(ERROR_MACHINE, "not enough memory for the workers");
    BackendInfo *info = &program->backend.info;
    program->backend =
        (Backend){.info = {.name = "program", .slots = POOL_SLOTS, .lane_multiple = 1, .lanes_at_once = 1},
                  .prepare = program_prepare,
                  .prepare_debug = program_prepare_debug,
                  .begin = program_begin,
                  .advance = program_advance,
                  .poll = program_poll,
                  .wait = program_wait,
                  .cut = program_cut,
                  .close = program_close};
    snprintf(info->device, sizeof info->device, "a program");
    snprintf(info->version, sizeof info->version, "protocol %d", COMMAND_PROTOCOL);
    info->memory_free = (int64_t)sysconf(_SC_AVPHYS_PAGES) * (int64_t)sysconf(_SC_PAGESIZE);
    program->threads = options->threads > 0 ? options->threads : processor_count();
    program->folder = strdup(options->program.folder);
    program->arena.purpose = "a batch of lanes";
    program->pool = (Pool){.batches = program->backend.batches,
                           .running = program->backend.running,
                           .version = info->program_version,
                           .version_size = sizeof info->program_version,
                           .log = options->program.log};
    pool_init(&program->pool);
    const Error error = program->folder != NULL ? pool_start(&program->pool)
                                                : error_make(ERROR_MACHINE, "not enough memory for the workers");
    if (error.kind == OK)
        *out = &program->backend;
    else
        program_close(&program->backend);
    return error;
}
