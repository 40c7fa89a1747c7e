// What a run of a spec would take, before it takes it: trials, lanes, batches, memory, bytes on disk, and the time from a
// short calibration launch. And how many lanes a batch has, and which trials are known to be recorded: the campaign loop
// asks the same functions.
#include "runner.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const double plan_mebibyte = 1024.0 * 1024.0;

// ---- which trajectories are recorded --------------------------------------------------------------------------------

bool record_known_beforehand(const Spec *spec, int64_t id)
{
    if (!spec->record.trajectories) return false;
    if (spec->record.every > 0 && id % spec->record.every == 0) return true;
    for (int i = 0; i < spec->record.n_trials; i++) {
        if (spec->record.trials[i] == id) return true;
    }
    return false;
}

int64_t record_every(const Spec *spec)
{
    const double tick = spec->configured.tick_duration;
    const int64_t every = tick > 0.0 ? llround(spec->record.sample / tick) : 1;
    return every > 1 ? every : 1;
}

int64_t record_lanes(const Spec *spec)
{
    return spec->record.all_replicates ? spec->replicates.count : 1;
}

// bytes of one traced lane, as doubles
static int64_t plan_trace_bytes(const Spec *spec)
{
    const int64_t samples = trace_capacity(spec->configured.ticks, record_every(spec));
    return samples * spec->configured.n_columns * (int64_t)sizeof(double);
}

// ---- lanes of a batch -----------------------------------------------------------------------------------------------

static int64_t plan_least(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t plan_greatest(int64_t a, int64_t b) { return a > b ? a : b; }

// `lanes` cut down to a multiple of `group`, but at least one group
static int64_t plan_whole(int64_t lanes, int64_t group)
{
    return plan_greatest(lanes / group, 1) * group;
}

// CPU: small enough that a batch takes about 2 s (a lane's tick costs some 50 ns on one core, two cores at least), large
// enough that threads, rows and commits are worth their overhead.
static int64_t plan_cpu_lanes(const Spec *spec)
{
    const double lane_seconds = 50e-9 * (double)spec->configured.ticks, batch_seconds = 4.0;
    const double lanes = batch_seconds / lane_seconds;
    return lanes < 2048.0 ? 2048 : lanes > 8192.0 ? 8192 : (int64_t)lanes;
}

// GPU: as many as hide its latency (8 warps on each of the 132 schedulers' groups of an H100 or H200), while all slots
// together leave a tenth of its memory free.
static int64_t plan_gpu_lanes(const Spec *spec, const BackendInfo *info)
{
    const int64_t fit = info->memory_free / 10 * 9 / (info->slots * backend_lane_bytes(&spec->configured));
    return plan_least(135168, fit);
}

// Lanes of all trials of a spec, or the greatest number if that is not known.
static int64_t plan_all_lanes(const Spec *spec)
{
    Arena arena;
    Search search;
    if (arena_create(&arena, (size_t)1 << 26, "counting trials").kind != OK) return INT64_MAX;
    const bool known = search_init(spec, &arena, &search).kind == OK && search.total >= 0;
    const int64_t total = known ? search.total : INT64_MAX;
    arena_destroy(&arena);
    return total < INT64_MAX / spec->replicates.count ? total * spec->replicates.count : INT64_MAX;
}

int64_t plan_batch_lanes(const Spec *spec, const Backend *backend, int64_t requested, int64_t *traced_max)
{
    const BackendInfo *info = backend_info(backend);
    const bool cpu = strcmp(info->name, "cpu") == 0;
    int64_t lanes = requested;
    if (lanes <= 0) {
        lanes = plan_whole(cpu ? plan_cpu_lanes(spec) : plan_gpu_lanes(spec, info), info->lane_multiple);
        lanes = plan_least(lanes, plan_all_lanes(spec));
    }
    lanes = plan_whole(lanes, spec->replicates.count);
    const int64_t fit = (int64_t)(64.0 * plan_mebibyte) / plan_trace_bytes(spec);
    const int64_t recorded = lanes / spec->replicates.count * record_lanes(spec);
    *traced_max = spec->record.trajectories ? plan_whole(plan_least(fit, recorded), record_lanes(spec)) : 0;
    return lanes;
}
