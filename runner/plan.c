// What a run of a spec would take, before it takes it: trials, lanes, batches, memory, bytes on disk, and the time from
// a short calibration launch. How many lanes a batch has is chosen here too, for the campaign loop and for the plan.
#include "store.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const double plan_mebibyte = 1024.0 * 1024.0;

static int64_t plan_least(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t plan_greatest(int64_t a, int64_t b) { return a > b ? a : b; }
static int64_t plan_divided_up(int64_t a, int64_t b) { return a / b + (a % b != 0); }

// a*b, or the greatest number: 2^48 trials of 2^16 replicates are a legal spec, if not a wise one
static int64_t plan_times(int64_t a, int64_t b)
{
    int64_t product;
    return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}

// ---- lanes of a batch -----------------------------------------------------------------------------------------------

// `lanes` cut down to a multiple of `group`, but at least one group
static int64_t plan_whole(int64_t lanes, int64_t group) { return plan_greatest(lanes / group, 1) * group; }

static bool plan_is_cpu(const Backend *backend) { return strcmp(backend_info(backend)->name, "cpu") == 0; }

// CPU: small enough that a batch takes about 2 s (a tick of a lane costs some 50 ns of one core; two cores at least),
// large enough that threads, rows and commits are worth their overhead.
static int64_t plan_cpu_lanes(const Spec *spec)
{
    const double core_seconds = 4.0, tick_seconds = 50e-9;
    const double lanes = core_seconds / (tick_seconds * (double)spec->configured.ticks);
    return lanes < 2048.0 ? 2048 : lanes > 8192.0 ? 8192 : (int64_t)lanes;
}

// GPU: as many as keep an H100 or H200 full (132 multiprocessors x 8 blocks of 128), if all slots together leave a
// tenth of its memory free.
static int64_t plan_gpu_lanes(const Spec *spec, const BackendInfo *info)
{
    const int64_t usable = info->memory_free / 10 * 9;
    return plan_least(132 * 8 * 128, usable / (info->slots * backend_lane_bytes(&spec->configured)));
}

// Lanes of all trials of a spec; the greatest number if that is not known.
static int64_t plan_all_lanes(const Spec *spec)
{
    Arena arena;
    Search search;
    if (arena_create(&arena, (size_t)1 << 26, "counting trials").kind != OK) return INT64_MAX;
    const bool known = search_init(spec, &arena, &search).kind == OK && search.total >= 0;
    arena_destroy(&arena);
    return known ? plan_times(search.total, spec->replicates.count) : INT64_MAX;
}

// Lanes of a batch of `trials` trials that are ever traced at once: those that are chosen beforehand, or, simulated
// again, the best and the failures.
static int64_t plan_traced_lanes(const Spec *spec, int64_t trials)
{
    const Recording recording = recording_of(spec, RECORD_TRAJECTORIES);
    const Selection *select = recording.select;
    const int64_t every = select->every > 0 ? trials / select->every + 1 : 0;
    const int64_t chosen = plan_greatest(every + select->n_trials, select->best + select->failures);
    const int64_t at_once = plan_greatest(plan_least(chosen, trials), 1);
    return plan_least(recording_lanes_max(&recording), at_once * recording.lanes);
}

int64_t plan_batch_lanes(const Spec *spec, const Backend *backend, int64_t requested, int64_t *traced_max)
{
    const BackendInfo *info = backend_info(backend);
    int64_t lanes = requested;
    if (lanes <= 0) {
        lanes = plan_is_cpu(backend) ? plan_cpu_lanes(spec) : plan_gpu_lanes(spec, info);
        lanes = plan_whole(lanes, info->lane_multiple);
    }
    const int64_t count = spec->replicates.count;
    const int64_t wanted = plan_greatest(plan_least(lanes, plan_all_lanes(spec)) / count, 1);
    *traced_max = plan_traced_lanes(spec, wanted);
    return plan_least(wanted, record_trials_max(spec, *traced_max)) * count;
}

// ---- trials ---------------------------------------------------------------------------------------------------------

// What the steps of a plan share.
typedef struct PlanMaker {
    const Spec *spec;
    Search search;
    Device device;
    Plan *plan;
    double *parameter;                 // [n_parameters] of the trial that is looked at
    int64_t recorded_as_run, recorded; // trials whose trajectories are kept: known beforehand, and all
    int64_t debugged;                  // trials whose debug rows are kept, at most
} PlanMaker;

static void plan_count_trials(PlanMaker *maker, bool count_excluded)
{
    const int64_t limit = maker->spec->limits.trials, total = maker->search.total;
    Plan *plan = maker->plan;
    plan->trials = total >= 0 ? total : limit;
    if (count_excluded && total > 0)
        plan->trials = count_trials(&maker->search, 0, total, maker->parameter, &plan->excluded_estimated);
    plan->excluded = total >= 0 ? total - plan->trials : 0;
    if (limit > 0) plan->trials = plan_least(plan->trials, limit);
    plan->lanes = plan_times(plan->trials, maker->spec->replicates.count);
}

static int64_t plan_chosen_by_id(int64_t trials, const Selection *select)
{
    const int64_t every = select->every > 0 ? plan_divided_up(trials, select->every) : 0;
    return plan_least(trials, every + select->n_trials);
}

static int64_t plan_chosen_by_rank(int64_t trials, const Selection *select)
{
    return plan_least(trials, select->best) + plan_least(trials, select->failures);
}

// At most so many: a trial that several rules choose is recorded once.
static void plan_count_recorded(PlanMaker *maker)
{
    const Spec *spec = maker->spec;
    const int64_t trials = maker->plan->trials;
    maker->recorded_as_run = plan_chosen_by_id(trials, &spec->record.select);
    maker->recorded = plan_least(trials, maker->recorded_as_run + plan_chosen_by_rank(trials, &spec->record.select));
    maker->plan->traced_lanes = plan_times(maker->recorded, recording_of(spec, RECORD_TRAJECTORIES).lanes);
    const Selection *debug = &spec->record.debug.select;
    maker->debugged = plan_least(trials, plan_chosen_by_id(trials, debug) + plan_chosen_by_rank(trials, debug));
}

// ---- bytes ----------------------------------------------------------------------------------------------------------

static void plan_count_disk(PlanMaker *maker)
{
    const Spec *spec = maker->spec;
    Plan *plan = maker->plan;
    const int64_t debug_lanes = plan_times(maker->debugged, recording_of(spec, RECORD_DEBUG).lanes);
    plan->hdf5_bytes = space_hdf5(spec, RECORD_TRAJECTORIES, plan->traced_lanes, plan->batches + 1) +
                       space_hdf5(spec, RECORD_DEBUG, debug_lanes, 1);
    plan->sqlite_bytes = space_sqlite(spec, plan->trials, plan->lanes);
}

// Buffers of the batches in flight and of the writer's queue; the program, HDF5 and SQLite take the rest.
static void plan_memory(const Device *device, double *host_bytes, double *device_bytes)
{
    const Spec *spec = device->spec;
    const Configured *configured = &spec->configured;
    const Recording trajectories = recording_of(spec, RECORD_TRAJECTORIES), rows = recording_of(spec, RECORD_DEBUG);
    const double trace = (double)device->traced_max * (double)recording_lane_bytes(&trajectories);
    const double debug = (double)device->debug_max * (double)recording_lane_bytes(&rows);
    const double slots = backend_info(device->backend)->slots, lanes = (double)device->lanes;
    const double batch = lanes * (8.0 * (configured->n_parameters + configured->n_metrics) + 4.0) + trace + debug;
    const double flight = lanes / spec->replicates.count * (double)flight_bytes(spec);
    const double commit = lanes / spec->replicates.count * (double)rows_bytes(spec) + trace;
    // a shard's image, and HDF5's own copy of it; the rows of the shard of debug rows
    const double rest = 64.0 * plan_mebibyte + 2.0 * (trace > debug ? trace : debug) + debug;
    *host_bytes = slots * (batch + flight) + WRITER_COMMITS * commit + rest;
    *device_bytes = slots * (lanes * (double)backend_lane_bytes(configured) + trace + debug);
}

Error plan_fits(const Device *device)
{
    const BackendInfo *info = backend_info(device->backend);
    const double memory = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    double host, on_device;
    plan_memory(device, &host, &on_device);
    if (plan_is_cpu(device->backend)) host += on_device;
    if (on_device > (double)info->memory_free)
        return error_make(ERROR_MEMORY, "a batch needs %s of device memory and %s are free", text_bytes(on_device).text,
                          text_bytes((double)info->memory_free).text);
    if (host > memory)
        return error_make(ERROR_MEMORY, "a batch needs %s of memory and the machine has %s", text_bytes(host).text,
                          text_bytes(memory).text);
    return error_none();
}

// ---- time -----------------------------------------------------------------------------------------------------------

static const double plan_calibration_seconds = 1.5;

// Trials drawn from all of the search, so that they fail and last like the rest of it.
static void plan_sample_trials(PlanMaker *maker, Trials *trials)
{
    const int64_t looked_at_max = search_affordable(&maker->search, 1000000);
    const int parameters = maker->spec->configured.n_parameters;
    int64_t id = 0;
    memcpy(maker->parameter, maker->spec->fixed, (size_t)parameters * sizeof *maker->parameter);
    for (int64_t i = 0, looked_at = 0; i < trials->capacity; i++) {
        bool found = maker->search.total <= 0;
        for (; !found && looked_at < looked_at_max; looked_at++) {
            id = count_sampled_id(&maker->search, 0, maker->search.total, looked_at);
            found = count_has(&maker->search, id, maker->parameter);
        }
        trials->ordinal[i] = (uint64_t)id;
        memcpy(trials->parameter + i * parameters, maker->parameter, (size_t)parameters * sizeof *maker->parameter);
    }
    trials->count = trials->capacity;
}

// The first launch of a process also loads the kernel: one tick that does not count.
static Error plan_warm_up(Backend *backend)
{
    bool done;
    double seconds;
    TRY(backend_begin(backend, 0));
    TRY(backend_advance(backend, 0, 1));
    return backend_wait(backend, 0, &done, &seconds);
}

// Runs a filled flight for at most plan_calibration_seconds; *seconds: device time that all of it takes.
static Error plan_time_flight(const PlanMaker *maker, Flight *flight, double *seconds)
{
    const Spec *spec = maker->spec;
    bool done = false;
    TRY(plan_warm_up(maker->device.backend));
    TRY(backend_begin(maker->device.backend, 0));
    const double start = clock_seconds();
    const bool adaptive = spec->configured.steps_max > 0; // only the end tells how many steps it took
    for (int64_t slice = slice_start(spec, 0);
         !done && (adaptive || clock_seconds() - start < plan_calibration_seconds);) {
        const double slice_started = clock_seconds();
        TRY(backend_advance(maker->device.backend, 0, slice));
        flight->ticks += slice;
        TRY(flight_wait(spec, maker->device.backend, 0, flight, &done));
        slice = slice_adapt(slice, clock_seconds() - slice_started, 0);
    }
    const double ticks = (double)spec->configured.ticks, advanced = (double)flight->ticks;
    *seconds = flight->kernel_seconds * (done || advanced >= ticks ? 1.0 : ticks / advanced);
    return error_none();
}

// Device time of `lanes` lanes of this spec.
static Error plan_calibrate(PlanMaker *maker, int64_t lanes, double *seconds)
{
    const Spec *spec = maker->spec;
    const int64_t trials = plan_divided_up(lanes, spec->replicates.count);
    const size_t bytes = (size_t)(trials * (flight_bytes(spec) + 64)) + (size_t)(4.0 * plan_mebibyte);
    Arena arena;
    Flight flight;
    TRY(arena_create(&arena, bytes, "calibration"));
    flight_take(spec, trials, &arena, &flight);
    plan_sample_trials(maker, &flight.trials);
    flight_fill(spec, &flight, backend_batch(maker->device.backend, 0));
    const Error error = plan_time_flight(maker, &flight, seconds);
    arena_destroy(&arena);
    return error;
}

// Device time of `lanes` lanes in batches of `batch`, each of which takes `seconds`. A CPU's time is in proportion; a
// GPU's last batch takes a quarter even if it is small, because then it is latency that counts.
static double plan_scaled(const PlanMaker *maker, double seconds, int64_t lanes, int64_t batch)
{
    const double batches = (double)lanes / (double)batch, full = (double)(lanes / batch);
    if (plan_is_cpu(maker->device.backend) || batches == full) return seconds * batches;
    return seconds * (full + (batches - full > 0.25 ? batches - full : 0.25));
}

// Time that the writer needs: columns a second and bytes a second as measured on one core with a local disk, and a
// synced commit a batch. It overlaps with the device, but for the last batch.
static double plan_write_seconds(const PlanMaker *maker)
{
    const Spec *spec = maker->spec;
    const Plan *plan = maker->plan;
    const double columns_per_second = 11e6, bytes_per_second = spec->record.gzip ? 50e6 : 475e6, commit_seconds = 0.003;
    double columns = (double)plan->trials * (double)rows_columns(spec);
    if (spec->replicates.store) columns += (double)plan->lanes * (double)rows_replicate_columns(spec);
    return columns / columns_per_second + plan->hdf5_bytes / bytes_per_second + (double)plan->batches * commit_seconds;
}

static Error plan_count_time(PlanMaker *maker)
{
    const Spec *spec = maker->spec;
    Plan *plan = maker->plan;
    const bool cpu = plan_is_cpu(maker->device.backend);
    const int64_t quarter = plan_greatest(plan->batch_lanes / 4, 512); // a CPU's time is in proportion to the lanes
    const int64_t trials_lanes =
        plan_least(cpu ? plan_least(quarter, plan->batch_lanes) : plan->batch_lanes, plan->lanes);
    const int64_t lanes = plan_divided_up(trials_lanes, spec->replicates.count) * spec->replicates.count;
    double seconds = 0;
    TRY(plan_calibrate(maker, lanes, &seconds));
    // once for every lane, and again for the lanes that are recorded when their ranks are known
    const int64_t again =
        plan_times(maker->recorded - maker->recorded_as_run + maker->debugged, spec->replicates.count);
    const double device = plan_scaled(maker, seconds, plan->lanes, lanes) + plan_scaled(maker, seconds, again, lanes);
    const double write = plan_write_seconds(maker);
    const double expected = (device > write ? device : write) + write / (double)plan->batches;
    plan->seconds_low = 0.8 * expected;
    plan->seconds_high = 1.2 * expected;
    return error_none();
}

// ---- the plan -------------------------------------------------------------------------------------------------------

static void plan_refuse_sizes(PlanMaker *maker)
{
    Plan *plan = maker->plan;
    const double disk = plan->hdf5_bytes + plan->sqlite_bytes + space_journal(plan->sqlite_bytes);
    char *text = plan->refusal;
    if (plan->trials == 0) {
        snprintf(text, sizeof plan->refusal, "there is no trial to run: all %lld are excluded",
                 (long long)plan->excluded);
    } else if (space_verdict(disk, plan->disk_free) == SPACE_SHORT) {
        snprintf(text, sizeof plan->refusal,
                 "the results need %s of disk and %s are free; record fewer trajectories, or sample them less often",
                 text_bytes(disk).text, text_bytes(plan->disk_free).text);
    }
}

static void plan_warn_of_disk(PlanMaker *maker)
{
    Plan *plan = maker->plan;
    const double disk = plan->hdf5_bytes + plan->sqlite_bytes + space_journal(plan->sqlite_bytes);
    if (plan->warning[0] != '\0' || space_verdict(disk, plan->disk_free) != SPACE_TIGHT) return;
    snprintf(plan->warning, sizeof plan->warning, "the results need %s of disk, nearly all of the %s that are free",
             text_bytes(disk).text, text_bytes(plan->disk_free).text);
}

static Error plan_count_free(const RunOptions *options, Plan *plan)
{
    int64_t bytes = 0;
    TRY(disk_free(options->results != NULL ? options->results : "results", &bytes));
    plan->disk_free = (double)bytes;
    return error_none();
}

// Batches as a run would have them: its device has taken their memory.
static void plan_count_batches(PlanMaker *maker)
{
    Plan *plan = maker->plan;
    const Device *device = &maker->device;
    const BackendInfo *info = backend_info(device->backend);
    plan->batch_lanes = device->lanes;
    plan->batches = plan_divided_up(plan->lanes, plan->batch_lanes);
    snprintf(plan->device, sizeof plan->device, "%s", info->device);
    snprintf(plan->warning, sizeof plan->warning, "%s%s%s", device->note,
             device->note[0] != '\0' && info->warning[0] != '\0' ? "; " : "", info->warning);
    plan_memory(device, &plan->host_bytes, &plan->device_bytes);
}

static Error plan_on_device(PlanMaker *maker, const RunOptions *options)
{
    Plan *plan = maker->plan;
    plan_count_batches(maker);
    plan_count_disk(maker);
    TRY(plan_count_free(options, plan));
    plan_refuse_sizes(maker);
    plan_warn_of_disk(maker);
    return plan->refusal[0] != '\0' ? error_none() : plan_count_time(maker);
}

Error plan_count(const Spec *spec, const RunOptions *options, bool count_excluded, Arena *arena, Plan *plan)
{
    enum { LANES_LEAST = 2048 }; // of a batch that no one gave a size
    PlanMaker maker = {.spec = spec, .plan = plan};
    const int64_t requested = options->batch > 0 ? options->batch : spec->device.batch;
    *plan = (Plan){0};
    maker.parameter = ARENA_NEW(arena, double, spec->configured.n_parameters);
    TRY(search_init(spec, arena, &maker.search));
    plan_count_trials(&maker, count_excluded);
    plan_count_recorded(&maker);
    plan->batches = plan_divided_up(plan->lanes, requested > 0 ? requested : LANES_LEAST);
    plan_count_disk(&maker);
    return plan_count_free(options, plan);
}

Error plan_make(const Spec *spec, const RunOptions *options, Arena *arena, Plan *plan)
{
    PlanMaker maker = {.spec = spec, .plan = plan};
    *plan = (Plan){0};
    maker.parameter = ARENA_NEW(arena, double, spec->configured.n_parameters);
    TRY(search_init(spec, arena, &maker.search));
    plan_count_trials(&maker, true);
    plan_count_recorded(&maker);
    const Error opened = device_open(spec, options, &maker.device);
    if (opened.kind == ERROR_MEMORY) snprintf(plan->refusal, sizeof plan->refusal, "%s", opened.text);
    if (opened.kind != OK) return opened.kind == ERROR_MEMORY ? error_none() : opened;
    const Error error = plan_on_device(&maker, options);
    device_close(&maker.device);
    return error;
}
