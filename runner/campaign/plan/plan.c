// Estimates a run of a spec before it starts: trials, lanes, batches, memory, bytes on disk, and the time from a pilot
// (pilot.c).
#include "../batch/batch_size.h"
#include "../batch/trials_in_flight.h"
#include "pilot.h"
#include "space.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

// ---- trials ---------------------------------------------------------------------------------------------------------

// What the steps of planning share.
typedef struct PlanMaker {
    const Spec *spec;
    Search search;
    Device device;
    Plan *plan;
    double *parameter;                 // [n_parameters] of the trial that is looked at
    int64_t recorded_as_run, recorded; // trials whose trajectories are kept: known beforehand, and all
    int64_t debugged;                  // trials whose debug rows are kept, at most
    double started, open_seconds;      // before the device was opened; to open it and take its memory
    int64_t batch_least;               // trials: batches are multiples of it, by their time; 0: all have the same size
} PlanMaker;

static int64_t plan_whole_number(double number) { return number < 9e18 ? (int64_t)number : INT64_MAX; }

// The trials of a search that learns: as many as its limits allow.
static void plan_count_learning(PlanMaker *maker)
{
    const Search *search = &maker->search;
    Plan *plan = maker->plan;
    const SearchBounds bounds = search_bounds(search);
    const SearchBudget most = bounds.open ? bounds.least : bounds.most;
    plan->trials = plan_whole_number(most.trials);
    plan->trials_least = plan_whole_number(bounds.least.trials);
    plan->rounds = plan_whole_number(most.rounds);
    plan->trials_open = bounds.open;
    plan->early = bounds.early;
    plan->why_bound = bounds.why_bound;
    plan->round_trials = search->round_trials;
    plan->lanes = lanes_times(plan->trials, maker->spec->replicates.count);
    plan->lanes_least = lanes_times(plan->trials, race_replicates(maker->spec, 0));
}

// A sample without any trial does not show that there is none. The upper bound with 95 % confidence is the fraction
// 3/n: with it a sample of n ids has no trial with probability e^-3 = 5 % (the rule of three).
static void plan_bound_trials(PlanMaker *maker)
{
    const int64_t first = maker->search.first, total = maker->search.end - first;
    Plan *plan = maker->plan;
    plan->looked_at = count_looked_at(&maker->search, first, maker->search.end);
    plan->trials = lanes_least(total, (int64_t)(3.0 * (double)total / (double)plan->looked_at) + 1);
}

static void plan_count_known(PlanMaker *maker, bool count_excluded)
{
    const int64_t limit = maker->spec->limits.trials, first = maker->search.first, total = maker->search.end - first;
    Plan *plan = maker->plan;
    plan->trials = total;
    if (count_excluded && total > 0)
        plan->trials =
            count_trials(&maker->search, first, maker->search.end, maker->parameter, &plan->excluded_estimated);
    if (plan->trials == 0 && plan->excluded_estimated) plan_bound_trials(maker);
    plan->excluded = total - plan->trials;
    if (limit > 0) plan->trials = lanes_least(plan->trials, limit);
    plan->trials_least = plan->looked_at > 0 ? 0 : plan->trials;
    plan->lanes = spec_races(maker->spec) ? plan_whole_number(race_simulations(maker->spec, plan->trials))
                                          : lanes_times(plan->trials, maker->spec->replicates.count);
    plan->lanes_least = plan->lanes;
}

static void plan_count_trials(PlanMaker *maker, bool count_excluded)
{
    if (maker->search.total >= 0)
        plan_count_known(maker, count_excluded);
    else
        plan_count_learning(maker);
}

static int64_t plan_chosen_by_id(int64_t trials, const Selection *select)
{
    const int64_t every = select->every > 0 ? lanes_divided_up(trials, select->every) : 0;
    return lanes_least(trials, every + select->n_trials);
}

static int64_t plan_chosen_by_rank(int64_t trials, const Selection *select)
{
    return lanes_least(trials, select->best) + lanes_least(trials, select->failures);
}

// An upper bound: a trial that several rules choose is recorded once.
static void plan_count_recorded(PlanMaker *maker)
{
    const Spec *spec = maker->spec;
    const int64_t trials = maker->plan->trials;
    maker->recorded_as_run = plan_chosen_by_id(trials, &spec->record.select);
    maker->recorded = lanes_least(trials, maker->recorded_as_run + plan_chosen_by_rank(trials, &spec->record.select));
    maker->plan->traced_lanes = lanes_times(maker->recorded, recording_of(spec, RECORD_TRAJECTORIES).lanes);
    const Selection *debug = spec_debug_select(spec);
    maker->debugged = lanes_least(trials, plan_chosen_by_id(trials, debug) + plan_chosen_by_rank(trials, debug));
}

// ---- bytes ----------------------------------------------------------------------------------------------------------

static void plan_count_disk(PlanMaker *maker)
{
    const Spec *spec = maker->spec;
    Plan *plan = maker->plan;
    const int64_t debug_lanes = lanes_times(maker->debugged, recording_of(spec, RECORD_DEBUG).lanes);
    plan->hdf5_bytes = space_hdf5(spec, RECORD_TRAJECTORIES, plan->traced_lanes, plan->batches + 1) +
                       space_hdf5(spec, RECORD_DEBUG, debug_lanes, 1);
    plan->sqlite_bytes = space_sqlite(spec, plan->trials, plan->lanes);
    plan->block_bytes = space_blocks(spec, plan->trials);
    if (maker->search.round_fields == NULL) return;
    plan->sqlite_bytes += space_rounds_sqlite(&maker->search, plan->rounds);
    plan->hdf5_bytes += space_rounds_hdf5(&maker->search, plan->rounds);
}

// ---- time -----------------------------------------------------------------------------------------------------------

// Device time of `lanes` lanes. A partial wave takes as long as a full one. On a GPU the last lanes take as long as two
// waves, which are needed to hide latencies.
static double plan_device_seconds(const PlanMaker *maker, const Pilot *pilot, int64_t lanes)
{
    const Backend *backend = maker->device.backend;
    const double seconds = pilot->seconds, times = (double)(lanes / pilot->lanes);
    const int64_t rest = lanes % pilot->lanes, wave = backend_info(backend)->lane_multiple;
    const int64_t least = plan_is_cpu(backend) ? 1 : 2;
    if (rest == 0) return seconds * times;
    const int64_t waves = lanes_greatest(lanes_divided_up(rest, wave), least),
                  all = lanes_divided_up(pilot->lanes, wave);
    return seconds * (times + (waves < all ? (double)waves / (double)all : 1.0));
}

// Device time of the lanes that are recorded when their ranks are known. A GPU runs all of them by the kernel for
// observed lanes; a CPU only groups of lanes that have samples. So on a CPU few lanes take as long as one observed
// group, and many lanes as long as plain ones.
static double plan_again_seconds(const PlanMaker *maker, const Pilot *pilot, int64_t lanes)
{
    const int64_t at_once = backend_info(maker->device.backend)->lanes_at_once;
    if (lanes == 0 || at_once == 0) return pilot->observed_factor * plan_device_seconds(maker, pilot, lanes);
    const double rounds = (double)lanes_divided_up(lanes, at_once),
                 all = (double)lanes_divided_up(pilot->lanes, at_once);
    return pilot->seconds * (rounds > pilot->observed_factor ? rounds : pilot->observed_factor) / all;
}

// Time of the writer: columns per second and bytes per second as measured on one core with a local disk, and one synced
// commit per batch. It overlaps with the device, except for the last batch.
static double plan_write_seconds(const PlanMaker *maker)
{
    const Spec *spec = maker->spec;
    const Plan *plan = maker->plan;
    const double columns_per_second = 15e6, bytes_per_second = spec->record.gzip ? 50e6 : 475e6, commit_seconds = 0.003;
    double columns = (double)plan->trials * (double)rows_columns(spec);
    if (spec->replicates.store) columns += (double)plan->lanes * (double)rows_replicate_columns(spec);
    return columns / columns_per_second + plan->hdf5_bytes / bytes_per_second + (double)plan->batches * commit_seconds;
}

// Excluded ids take time too: the time of one, for all of them up to the last trial.
static double plan_scan_seconds(const PlanMaker *maker)
{
    enum { LOOKED_AT = 1000 };
    const Search *search = &maker->search;
    const Plan *plan = maker->plan;
    if (search->total <= 0 || plan->excluded <= 0) return 0;
    const int64_t looked_at = search_affordable(search, LOOKED_AT), trials = search->total - plan->excluded;
    const double start = clock_seconds();
    for (int64_t i = 0; i < looked_at; i++)
        (void)enumerated_point(search, count_sampled_id(search, 0, search->total, i), maker->parameter);
    const double each = (clock_seconds() - start) / (double)looked_at;
    return each * (double)search->total * ((double)plan->trials / (double)trials);
}

// The other times of a run: it opens the device and loads the kernel, as the plan did, creates its database, and builds
// the index.
static double plan_other_seconds(const PlanMaker *maker, const Pilot *pilot)
{
    const double created = 0.015, indexed = 0.6e-6; // s; s per trial
    return maker->open_seconds + pilot->first_seconds + created + indexed * (double)maker->plan->trials;
}

// The size of a CPU's batches follows from their time (batch/trials_in_flight.c). A batch stays within a generation.
static int64_t plan_paced_batches(const PlanMaker *maker, double seconds)
{
    enum { STEPS_MAX = 1000000 };
    const Plan *plan = maker->plan;
    const int64_t most = plan->batch_lanes / maker->spec->replicates.count;
    const int64_t round = plan->round_trials > 0 ? plan->round_trials : plan->trials;
    const double each = seconds / (double)plan->trials; // s
    int64_t batch = batch_start(maker->batch_least, most), done = 0, batches = 0;
    for (; done < plan->trials && batches < STEPS_MAX; batches++) {
        const int64_t asked = lanes_least(lanes_least(batch, round - done % round), plan->trials - done);
        done += asked;
        if (asked == batch)
            batch = batch_adapt(asked, each * (double)asked, each * (double)done, maker->batch_least, most);
    }
    return batches + lanes_divided_up(plan->trials - done, batch);
}

static Error plan_count_time(PlanMaker *maker)
{
    const Spec *spec = maker->spec;
    Plan *plan = maker->plan;
    const int64_t round = lanes_times(plan->round_trials, spec->replicates.count);
    const double rounds = plan->round_trials > 0 ? (double)plan->trials / (double)plan->round_trials : 1;
    const PilotTask task = {.spec = spec,
                            .search = &maker->search,
                            .backend = maker->device.backend,
                            .batch_lanes = plan->batch_lanes,
                            .lanes = plan->round_trials > 0 ? lanes_least(plan->lanes, round) : plan->lanes,
                            .generations = rounds,
                            .observed = maker->recorded > 0};
    Pilot pilot;
    TRY(pilot_run(&task, &pilot));
    // once for every lane, and again for the lanes that are recorded when their ranks are known
    const int64_t again =
        lanes_times(maker->recorded - maker->recorded_as_run + maker->debugged, spec->replicates.count);
    const double part = rungs_simulated(spec, plan->trials) / (double)plan->trials; // 1 without rungs
    const double device =
        part * plan_device_seconds(maker, &pilot, plan->lanes) + plan_again_seconds(maker, &pilot, again);
    if (maker->batch_least > 0) plan->batches = plan_paced_batches(maker, device);
    const double write = plan_write_seconds(maker);
    const double other = plan_other_seconds(maker, &pilot) + plan_scan_seconds(maker);
    plan->seconds_open = maker->open_seconds + pilot.first_seconds;
    const double beside = plan_is_cpu(maker->device.backend) ? device + write : device > write ? device : write;
    plan->seconds = beside + write / (double)plan->batches + other;
    const double fraction = (double)plan->trials_least / (double)plan->trials;
    plan->seconds_low = pilot.low * (fraction < 1.0 ? other + fraction * (plan->seconds - other) : plan->seconds);
    plan->seconds_high = pilot.high * plan->seconds;
    return error_none();
}

// ---- the plan -------------------------------------------------------------------------------------------------------

static double plan_disk(const Plan *plan)
{
    return plan->hdf5_bytes + plan->sqlite_bytes + plan->block_bytes + space_journal(plan->sqlite_bytes);
}

static void plan_refuse_sizes(PlanMaker *maker)
{
    Plan *plan = maker->plan;
    const double disk = plan_disk(plan);
    char *text = plan->refusal;
    if (plan->trials == 0) {
        snprintf(text, sizeof plan->refusal, "there is no trial to run: all %s are excluded",
                 text_count(plan->excluded).text);
    } else if (plan->trials_least == plan->trials && space_verdict(disk, plan->disk_free) == SPACE_SHORT) {
        snprintf(text, sizeof plan->refusal,
                 "the results need %s of disk and %s are free; record fewer trajectories, or sample them less often",
                 text_bytes(disk).text, text_bytes(plan->disk_free).text);
    }
}

static void plan_warn_of_disk(PlanMaker *maker)
{
    Plan *plan = maker->plan;
    const double disk = plan_disk(plan);
    const SpaceVerdict verdict = space_verdict(disk, plan->disk_free);
    if (plan->warning[0] != '\0' || verdict == SPACE_ENOUGH) return;
    if (verdict == SPACE_SHORT)
        snprintf(plan->warning, sizeof plan->warning, "the results may need up to %s of disk, if %s, and %s are free",
                 text_bytes(disk).text,
                 plan->looked_at > 0 ? "there are as many trials" : "nothing ends the search early",
                 text_bytes(plan->disk_free).text);
    else
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

// A search needs the results of a generation before it gives the next one.
static int64_t plan_batches(const PlanMaker *maker, int64_t batch_lanes)
{
    const Plan *plan = maker->plan;
    const int64_t round = lanes_times(plan->round_trials, maker->spec->replicates.count);
    return lanes_divided_up(plan->lanes, plan->round_trials > 0 ? lanes_least(batch_lanes, round) : batch_lanes);
}

const char *plan_idle(const Spec *spec, int64_t round_trials, int64_t trials, const Backend *backend, Arena *arena)
{
    const int64_t workers = backend_info(backend)->lanes_at_once, replicates = spec->replicates.count;
    const int64_t at_once = round_trials > 0 ? round_trials : trials, lanes = lanes_times(at_once, replicates);
    if (!spec->model->runs_program || at_once <= 0 || lanes >= workers) return NULL;
    const char *of = replicates > 1 ? arena_format(arena, " of %lld replicates", (long long)replicates) : "";
    const char *text = arena_format(arena, "%s %s trial%s%s, so %lld of %lld workers will idle",
                                    round_trials > 0 ? "a generation has" : "there are", text_count(at_once).text,
                                    at_once == 1 ? "" : "s", of, (long long)(workers - lanes), (long long)workers);
    if (round_trials <= 0) return text;
    return arena_format(arena, "%s: a population of %lld would use them all", text,
                        (long long)lanes_divided_up(workers, replicates));
}

// The batches of the run: its device has taken their memory.
static void plan_count_batches(PlanMaker *maker)
{
    Plan *plan = maker->plan;
    const Device *device = &maker->device;
    const BackendInfo *info = backend_info(device->backend);
    plan->batch_lanes = device->lanes;
    plan->batches = plan_batches(maker, plan->batch_lanes);
    const char *kernel = made_words(&device->made);
    snprintf(plan->device, sizeof plan->device, "%s", info->device);
    snprintf(plan->kernel, sizeof plan->kernel, "%s", kernel != NULL ? kernel : "");
    snprintf(plan->warning, sizeof plan->warning, "%s%s%s", device->note,
             device->note[0] != '\0' && info->warning[0] != '\0' ? "; " : "", info->warning);
    plan_memory(device, &plan->host_bytes, &plan->device_bytes);
}

// Each thread computes gradients in memory of its own, and a device of many lanes in its own.
static Error plan_count_gradients(PlanMaker *maker)
{
    AdjointDevice *adjoint = NULL;
    const Device *device = &maker->device;
    const int threads = device->options.threads > 0 ? device->options.threads : processors_allowed();
    const int64_t lanes = search_gradient_lanes(&maker->search, threads);
    maker->plan->host_bytes += threads * (double)search_gradient_bytes(&maker->search);
    if (lanes == 0) return error_none();
    const Error error = backend_adjoint(device->backend, &maker->spec->configured, lanes, 0, &adjoint);
    if (error.kind != OK || adjoint == NULL) return error.kind == ERROR_MEMORY ? error_none() : error;
    maker->plan->device_bytes += (double)adjoint->bytes;
    adjoint->close(adjoint);
    return error_none();
}

static Error plan_on_device(PlanMaker *maker, const RunOptions *options)
{
    Plan *plan = maker->plan;
    plan_count_batches(maker);
    TRY(plan_count_gradients(maker));
    plan_count_disk(maker);
    TRY(plan_count_free(options, plan));
    plan_refuse_sizes(maker);
    maker->batch_least = plan_batch_least(maker->spec, maker->device.backend, options);
    if (plan->refusal[0] != '\0') return error_none();
    maker->open_seconds = clock_seconds() - maker->started;
    TRY(plan_count_time(maker));
    plan_count_disk(maker); // each batch may have a shard of its own
    plan_refuse_sizes(maker);
    plan_warn_of_disk(maker);
    return error_none();
}

Error plan_count(const Spec *spec, const RunOptions *options, bool count_excluded, Arena *arena, Plan *plan)
{
    enum { LANES_LEAST = 2048 }; // of a batch without a given size
    PlanMaker maker = {.spec = spec, .plan = plan};
    const int64_t requested = options->batch > 0 ? options->batch : spec->device.batch;
    *plan = (Plan){0};
    maker.parameter = ARENA_NEW(arena, double, spec->configured.n_parameters);
    TRY(search_init(spec, arena, &maker.search));
    plan_count_trials(&maker, count_excluded);
    plan_count_recorded(&maker);
    plan->batches = plan_batches(&maker, requested > 0 ? requested : LANES_LEAST);
    plan_count_disk(&maker);
    return plan_count_free(options, plan);
}

static Error plan_one(const Spec *spec, const RunOptions *options, Arena *arena, Plan *plan)
{
    PlanMaker maker = {.spec = spec, .plan = plan};
    *plan = (Plan){0};
    TRY(spec_check_run(spec));
    maker.parameter = ARENA_NEW(arena, double, spec->configured.n_parameters);
    TRY(search_init(spec, arena, &maker.search));
    plan_count_trials(&maker, true);
    plan_count_recorded(&maker);
    maker.started = clock_seconds();
    const Error opened = device_open(spec, options, arena, &maker.device);
    if (opened.kind == ERROR_MEMORY) snprintf(plan->refusal, sizeof plan->refusal, "%s", opened.text);
    if (opened.kind != OK) return opened.kind == ERROR_MEMORY ? error_none() : opened;
    plan->idle = plan_idle(spec, plan->round_trials, plan->trials, maker.device.backend, arena);
    const Error error = plan_on_device(&maker, options);
    device_close(&maker.device);
    return error;
}

bool plan_may_choose(const Spec *spec, const RunOptions *options)
{
    const char *name = options->backend.name != NULL ? options->backend.name : spec->device.backend;
    return backend_gpu_name() != NULL && options->backend.devices == 0 && !spec->model->runs_program &&
           (name == NULL || strcmp(name, "auto") == 0);
}

// Of the CPU and a GPU the one with the shorter time, as a run takes it (run/choice.c).
static Error plan_both(const Spec *spec, const RunOptions *options, Arena *arena, Plan *plan)
{
    RunOptions one = *options;
    Plan *gpu = ARENA_NEW(arena, Plan, 1);
    one.backend.name = "cpu";
    TRY(plan_one(spec, &one, arena, plan));
    one.backend.name = backend_gpu_name();
    const Error error = plan_one(spec, &one, arena, gpu);
    if (error.kind != OK) return error.kind == ERROR_MACHINE ? error_none() : error;
    if (plan->refusal[0] != '\0' || gpu->refusal[0] != '\0') return error_none();
    const bool faster = gpu->seconds < plan->seconds;
    const Plan *other = faster ? plan : gpu;
    snprintf(gpu->other, sizeof gpu->other, "%s would take about %s", other->device,
             text_duration(other->seconds).text);
    memcpy(plan->other, gpu->other, sizeof plan->other);
    if (faster) *plan = *gpu;
    return error_none();
}

Error plan_make(const Spec *spec, const RunOptions *options, Arena *arena, Plan *plan)
{
    return plan_may_choose(spec, options) ? plan_both(spec, options, arena, plan)
                                          : plan_one(spec, options, arena, plan);
}
