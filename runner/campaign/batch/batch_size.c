// The number of lanes of a batch, for the campaign loop and the plan, and its memory.
#include "batch_size.h"
#include "../store/ground/rows.h"
#include "../store/commit/wanted_arrays.h"
#include "trials_in_flight.h"

#include <string.h>
#include <unistd.h>

static const double lanes_mebibyte = 1024.0 * 1024.0;

// `lanes` cut down to a multiple of `group`, but at least one group
static int64_t plan_whole(int64_t lanes, int64_t group) { return lanes_greatest(lanes / group, 1) * group; }

bool plan_is_cpu(const Backend *backend)
{
    const char *name = backend_info(backend)->name;
    return strcmp(name, "cpu") == 0 || strcmp(name, "program") == 0;
}

// CPU: small enough that a batch takes about 2 s (a tick of a lane costs some 50 ns of one core; two cores at least),
// large enough that threads, rows and commits are worth their overhead.
static int64_t plan_cpu_lanes(const Spec *spec)
{
    const double core_seconds = 4.0, tick_seconds = 50e-9;
    const double lanes = core_seconds / (tick_seconds * (double)spec->configured.ticks);
    return lanes < 2048.0 ? 2048 : lanes > 8192.0 ? 8192 : (int64_t)lanes;
}

// GPU: lanes are counted in waves of one warp per scheduler (16,896 lanes of an H200), since a partial wave takes as
// long as a full one. A batch has at most WAVES_MOST waves: then a scheduler always has a warp to run while both slots
// are in flight. All slots together leave a tenth of the memory free. Batches are as equal as whole waves allow. There
// is at least one per slot if that leaves enough lanes in each: one is filled and committed while others compute.
// `last`: the part of a batch's lanes that runs at the last rung of limits.retire, which should fill the GPU too.
static int64_t plan_gpu_lanes(const BackendInfo *info, int64_t lane_bytes, int64_t all, double last)
{
    enum { WAVES_MOST = 8, WAVES_LEAST = 2, TIMES_MOST = 16 };
    const int64_t wave = info->lane_multiple, usable = info->memory_free / 10 * 9 / (info->slots * lane_bytes);
    const int64_t times = last * TIMES_MOST > 1.0 ? (int64_t)(1.0 / last) : TIMES_MOST;
    const int64_t most = lanes_greatest(lanes_least(times * WAVES_MOST * wave, usable) / wave, 1); // waves
    const int64_t waves = lanes_divided_up(all, wave);
    const int64_t batches =
        lanes_greatest(lanes_divided_up(waves, most), lanes_least(info->slots, waves / WAVES_LEAST));
    return lanes_divided_up(waves, lanes_greatest(batches, 1)) * wave;
}

int64_t plan_group(const Spec *spec) { return spec_has_rungs(spec) ? spec->limits.rungs.of : 1; }

// The part of all trials that runs to the end, if none fails.
static double plan_last(const Spec *spec)
{
    double part = 1.0;
    for (int rung = 0; rung < spec->limits.rungs.count; rung++) part *= spec->limits.rungs.rung[rung].keep;
    return part;
}

int64_t plan_batch_least(const Spec *spec, const Backend *backend, const RunOptions *options)
{
    const BackendInfo *info = backend_info(backend);
    if (info->lanes_at_once == 0 || options->batch > 0 || spec->device.batch > 0) return 0;
    const int64_t trials = lanes_greatest(info->lane_multiple / spec->replicates.count, 1);
    return lanes_divided_up(trials, plan_group(spec)) * plan_group(spec);
}

// Lanes of all trials of a spec, up to its limit; INT64_MAX if the number is not known.
static int64_t plan_all_lanes(const Spec *spec)
{
    Arena arena;
    Search search;
    if (arena_create_growing(&arena, (size_t)1 << 26, "counting trials").kind != OK) return INT64_MAX;
    const bool known = search_init(spec, &arena, &search).kind == OK && search.total >= 0;
    arena_destroy(&arena);
    const int64_t limit = spec->limits.trials > 0 ? spec->limits.trials : INT64_MAX;
    return lanes_times(known ? lanes_least(search.end - search.first, limit) : limit, spec->replicates.count);
}

// The most lanes of a batch of `trials` trials that are traced at once: of trials chosen before they run, or of the
// best and the failures, which are simulated again.
static int64_t plan_traced_lanes(const Spec *spec, int64_t trials)
{
    const Recording recording = recording_of(spec, RECORD_TRAJECTORIES);
    const Selection *select = recording.select;
    const int64_t every = select->every > 0 ? trials / select->every + 1 : 0;
    const int64_t chosen = lanes_greatest(every + select->n_trials, select->best + select->failures);
    const int64_t at_once = lanes_greatest(lanes_least(chosen, trials), 1);
    return lanes_least(recording_lanes_max(&recording), at_once * recording.lanes);
}

int64_t plan_batch_lanes(const Spec *spec, const Backend *backend, int64_t requested, int64_t *traced_max)
{
    const BackendInfo *info = backend_info(backend);
    const int64_t all = plan_all_lanes(spec);
    int64_t lanes = requested;
    if (lanes <= 0) {
        lanes = plan_is_cpu(backend)
                    ? plan_whole(plan_cpu_lanes(spec), info->lane_multiple)
                    : plan_gpu_lanes(info, backend_lane_bytes(&spec->configured), all, plan_last(spec));
    }
    const int64_t count = spec->replicates.count;
    const int64_t wanted = lanes_greatest(lanes_least(lanes, all) / count, 1);
    *traced_max = plan_traced_lanes(spec, wanted);
    if (spec_has_rungs(spec)) return lanes_least(plan_whole(wanted, plan_group(spec)), all / count) * count;
    return lanes_least(wanted, record_trials_max(spec, *traced_max)) * count;
}

// ---- memory ---------------------------------------------------------------------------------------------------------

// Buffers of the batches in flight, of a program's answers and of the writer's queue, and an allowance for Hopscotch
// itself, HDF5 and SQLite.
void plan_memory(const Device *device, double *host_bytes, double *device_bytes)
{
    const Spec *spec = device->spec;
    const Configured *configured = &spec->configured;
    const Recording trajectories = recording_of(spec, RECORD_TRAJECTORIES), rows = recording_of(spec, RECORD_DEBUG);
    const double trace = (double)device->traced_max * (double)recording_lane_bytes(&trajectories);
    const double debug = (double)device->debug_max * (double)recording_lane_bytes(&rows);
    const BackendInfo *info = backend_info(device->backend);
    const double slots = info->slots, lanes = (double)device->lanes;
    const int copies = __builtin_popcountll(info->devices) > 1 ? 2 : 1; // several devices: theirs, and that of all
    const double batch = lanes * (8.0 * (configured->n_parameters + configured->n_metrics) + 4.0) + trace + debug;
    const double flight = lanes / spec->replicates.count * (double)flight_bytes(spec);
    const double gathered = lanes / spec->replicates.count * (double)rungs_bytes(spec);
    const double commit = lanes / spec->replicates.count * (double)rows_bytes(spec) + trace;
    // a shard's image, and HDF5's own copy of it; the rows of the shard of debug rows
    const double rest = 64.0 * lanes_mebibyte + 2.0 * (trace > debug ? trace : debug) + debug;
    const double answers = backend_answer_bytes(device->backend, configured, trace > 0.0);
    *host_bytes = slots * (copies * batch + flight + gathered) + WRITER_COMMITS * commit + rest + answers;
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
