// The time that a campaign computes, from a pilot: some of its trials, with its settings, on its device, for less than
// half a second. The trials come in groups of neighbours from all over the search, so that they fail, last and
// diverge from their neighbours as the others will. No stored result depends on the pilot.
#include "pilot.h"

#include "../batch/trials_in_flight.h"
#include "../batch/batch_size.h"

#include <math.h>
#include <string.h>

static const double pilot_budget = 0.4; // s

enum { PILOT_LANES_LEAST = 128, PILOT_FLIGHTS_MOST = 8 };

static int64_t pilot_least(int64_t a, int64_t b) { return a < b ? a : b; }

static bool pilot_on_cpu(const PilotTask *task) { return strcmp(backend_info(task->backend)->name, "cpu") == 0; }

// Neighbouring trials per group: those in one vector of a CPU, or in some warps of a GPU.
static int64_t pilot_group_trials(const PilotTask *task)
{
    const int lanes = pilot_on_cpu(task) ? 8 : 128, replicates = task->spec->replicates.count;
    return lanes > replicates ? lanes / replicates : 1;
}

// ---- trials ---------------------------------------------------------------------------------------------------------

// Adds up to a group of trials with ids in [first, end). Gives the id after the last one that it looked at.
static int64_t pilot_group(const PilotTask *task, int64_t first, int64_t end, Trials *trials)
{
    enum { LOOKED_AT_MAX = 10000 };
    const int parameters = task->spec->configured.n_parameters;
    const int64_t most = pilot_least(trials->capacity, trials->count + pilot_group_trials(task));
    int64_t id = first;
    for (; id < end && id < first + LOOKED_AT_MAX && trials->count < most; id++) {
        double *parameter = trials->parameter + trials->count * parameters;
        if (task->search->method->trial(task->search, id, &trials->ordinal[trials->count], parameter).kind == OK)
            trials->id[trials->count++] = id;
    }
    return id;
}

// The next trials of the first generation of a search that learns.
static void pilot_generation(const PilotTask *task, Trials *trials)
{
    bool waiting = false;
    const Error error = task->search->method->ask(task->search, trials->capacity, trials, &waiting);
    if (error.kind != OK) trials->count = 0; // the run will report the error
}

// Fills a flight to its full number of lanes, since a smaller one says nothing about batches: if too few trials were
// found they are repeated; if none was found, the fixed values are used.
static void pilot_repeat(const PilotTask *task, Trials *trials)
{
    const size_t parameters = (size_t)task->spec->configured.n_parameters;
    if (trials->count == 0) memcpy(trials->parameter, task->spec->fixed, parameters * sizeof *trials->parameter);
    const int64_t found = trials->count > 0 ? trials->count : 1;
    for (int64_t t = found; t < trials->capacity; t++) {
        const int64_t from = t % found;
        memcpy(trials->parameter + t * (int64_t)parameters, trials->parameter + from * (int64_t)parameters,
               parameters * sizeof *trials->parameter);
        trials->ordinal[t] = trials->ordinal[from];
        trials->search[t] = trials->search[from];
    }
    trials->count = trials->capacity;
}

// All trials in order if they fit; else a run of ids from a random one in each of equal ranges.
static void pilot_trials(const PilotTask *task, int64_t first_range, int64_t ranges, Trials *trials)
{
    const int64_t limit = task->spec->limits.trials, total = task->search->total;
    const int64_t ids = limit > 0 && limit < total ? limit : total;
    const int64_t group = pilot_group_trials(task);
    const bool all = ids <= ranges * group;
    int64_t id = first_range * group;
    trials->count = 0;
    if (search_learns(task->spec->method)) pilot_generation(task, trials);
    for (int64_t k = first_range; ids > 0 && k < ranges && trials->count < trials->capacity; k++) {
        const double from = (double)ids * (double)k / (double)ranges,
                     to = (double)ids * (double)(k + 1) / (double)ranges;
        if (!all) id = pilot_least(count_sampled_id(task->search, (int64_t)from, (int64_t)to, k), ids - group);
        id = pilot_group(task, id, ids, trials);
    }
    if (!all || trials->count == 0) pilot_repeat(task, trials);
}

// ---- a flight -------------------------------------------------------------------------------------------------------

// Lanes that run at once: one batch, or as many as the device takes.
typedef struct PilotFlight {
    Flight slots[LOOP_SLOTS_MAX];
    bool done[LOOP_SLOTS_MAX];
    int count;
    int64_t lanes;
} PilotFlight;

static void pilot_fill(const PilotTask *task, int64_t lanes, Arena *arena, PilotFlight *flight)
{
    const int replicates = task->spec->replicates.count;
    const int64_t batch = pilot_least(lanes, task->batch_lanes) / replicates, trials = lanes / replicates;
    const int64_t group = pilot_group_trials(task), ranges = (trials + group - 1) / group;
    const int slots = backend_info(task->backend)->slots;
    *flight = (PilotFlight){.count = 0};
    if (search_learns(task->spec->method)) (void)task->search->method->restore(task->search); // to its start
    for (int64_t left = trials; left > 0 && flight->count < slots && flight->count < LOOP_SLOTS_MAX; left -= batch) {
        Flight *own = &flight->slots[flight->count];
        flight_take(task->spec, pilot_least(batch, left), NULL, arena, own);
        pilot_trials(task, (trials - left) / group, ranges, &own->trials);
        flight_fill(task->spec, own, backend_batch(task->backend, flight->count));
        flight->lanes += own->lanes;
        flight->count++;
    }
}

static Error pilot_step(const PilotTask *task, PilotFlight *flight, int64_t ticks, bool *done)
{
    for (int i = 0; i < flight->count; i++) {
        if (flight->done[i]) continue;
        TRY(backend_advance(task->backend, i, ticks));
        flight->slots[i].ticks += ticks;
    }
    *done = true;
    for (int i = 0; i < flight->count; i++) {
        if (!flight->done[i]) TRY(flight_wait(task->spec, task->backend, i, &flight->slots[i], &flight->done[i]));
        *done = *done && flight->done[i];
    }
    return error_none();
}

// Advances slice by slice to the end, or until the time is used.
static Error pilot_advance(const PilotTask *task, PilotFlight *flight, double until, double *took, bool *done)
{
    const double start = clock_seconds();
    int64_t ticks = slice_start(0);
    for (int i = 0; i < flight->count; i++) TRY(backend_begin(task->backend, i));
    *done = false;
    for (double now = clock_seconds(); !*done && now < until;) {
        TRY(pilot_step(task, flight, ticks, done));
        const double seconds = clock_seconds() - now, left = until - now - seconds;
        now += seconds;
        ticks = slice_adapt(ticks, seconds, 0.0, 0);
        if (left > 0 && seconds > left) ticks = slice_adapt(ticks, 0.1 * seconds / left, 0.0, 0); // about what is left
    }
    *took = clock_seconds() - start;
    return error_none();
}

// ---- what it says ---------------------------------------------------------------------------------------------------

// The relative standard error of the mean lifetime, from the groups: how much other trials may differ.
static double pilot_spread(const PilotTask *task, const PilotFlight *flight)
{
    const int survived = flight_survived_metric(task->spec);
    const int64_t group = pilot_group_trials(task) * task->spec->replicates.count;
    double sum = 0, squares = 0, n = 0;
    for (int i = 0; i < flight->count && survived >= 0; i++) {
        const Batch *batch = backend_batch(task->backend, i);
        const double *life = batch->metric + survived * batch->stride;
        for (int64_t first = 0; first + group <= batch->lanes; first += group) {
            double mean = 0;
            for (int64_t k = first; k < first + group; k++) mean += (isfinite(life[k]) ? life[k] : 0) / (double)group;
            sum += mean, squares += mean * mean, n++;
        }
    }
    if (n < 2 || !(sum > 0)) return 0;
    const double variance = (squares - sum * sum / n) / (n - 1);
    return variance > 0 ? sqrt(variance / n) / (sum / n) : 0;
}

// The fraction of the lanes that have ended.
static double pilot_ended(const PilotTask *task, const PilotFlight *flight)
{
    double ended = 0;
    for (int i = 0; i < flight->count; i++) {
        const Batch *batch = backend_batch(task->backend, i);
        for (int64_t k = 0; k < batch->lanes; k++) ended += batch->status[k] != LANE_RUNNING;
    }
    return ended / (double)flight->lanes;
}

// The whole time of a flight of fixed steps that was cut after the fraction `advanced` of them. Upper bound: all
// remaining lanes last, and the rest takes time in proportion. Lower bound: lanes keep ending at the rate so far, so
// that the fraction S(t) = (1 - ended)^(t/advanced) is left at t, and the time is proportional to the integral of S.
// Lanes that run together last as long as the last of them, so the truth is in between; more lanes may end later than
// so far.
static Pilot pilot_cut(double seconds, double advanced, double ended)
{
    const double most = 1 / advanced;
    const double least = ended > 0 && ended < 1 ? (1 - portable_pow(1 - ended, most)) / ended : most;
    const double expected = sqrt(most * least);
    return (Pilot){.seconds = seconds * expected, .low = 0.5 * least / expected, .high = 1.3 * most / expected};
}

// Lanes that choose their own steps: only the time so far is known.
static Pilot pilot_cut_adaptive(double seconds, double ended)
{
    const double least = 0.1, fraction = ended > least ? ended : least;
    return (Pilot){.seconds = seconds / fraction, .low = fraction, .high = 10};
}

// The mean fraction of the whole simulated time that a lane takes; 1 if the model does not say. Lanes that run
// together, in a vector of a CPU or a warp of a GPU, take as long as the last of them.
static double pilot_life(const PilotTask *task, const PilotFlight *flight)
{
    const Configured *configured = &task->spec->configured;
    const int survived = flight_survived_metric(task->spec);
    const int64_t together = pilot_on_cpu(task) ? 8 : 32;
    double sum = 0;
    for (int i = 0; i < flight->count && survived >= 0; i++) {
        const Batch *batch = backend_batch(task->backend, i);
        const double *life = batch->metric + survived * batch->stride;
        for (int64_t first = 0; first < batch->lanes; first += together) {
            const int64_t end = pilot_least(first + together, batch->lanes);
            double longest = 0;
            for (int64_t k = first; k < end; k++) longest = life[k] > longest ? life[k] : longest;
            sum += longest * (double)(end - first);
        }
    }
    const double whole = (double)flight->lanes * (double)configured->ticks * configured->tick_duration;
    return sum > 0 && sum < whole ? sum / whole : 1;
}

// A search learns to avoid failures: the first generation takes as long as the pilot, the last ones as if no lane
// failed. The mean over G generations is at the fraction G/(G + h) between the two. Measured by the times that hoppers
// survived: h = 20 to 27 from 5 to 100 generations of experiments/speed_tracking_cmaes.yaml, 4.5 to 5.1 from 5 to 20 of
// pareto_speed_energy.yaml. A model with steps of its own may need more or fewer steps where the search leads.
static void pilot_learn(const PilotTask *task, const PilotFlight *flight, Pilot *pilot)
{
    const double half = 10, learned = task->generations / (task->generations + half);
    const double most = pilot->whole ? 1 / pilot_life(task, flight) : 1, expected = 1 + learned * (most - 1);
    const double spread = task->spec->configured.steps_max > 0 || flight_survived_metric(task->spec) < 0 ? 2 : 1.2;
    pilot->seconds *= expected;
    pilot->low /= expected * spread;
    pilot->high *= spread * most / expected;
}

static Pilot pilot_unfinished(const PilotTask *task, const PilotFlight *flight, double seconds)
{
    const Configured *configured = &task->spec->configured;
    const double ended = pilot_ended(task, flight), ticks = (double)configured->ticks;
    const double advanced = (double)flight->slots[0].ticks / ticks;
    Pilot pilot = configured->steps_max > 0 ? pilot_cut_adaptive(seconds, ended)
                                            : pilot_cut(seconds, advanced < 1 ? advanced : 1, ended);
    pilot.lanes = flight->lanes;
    return pilot;
}

static Pilot pilot_whole(const PilotTask *task, const PilotFlight *flight, double seconds)
{
    const bool adaptive = task->spec->configured.steps_max > 0, all = flight->lanes >= task->lanes;
    const double spread = (adaptive ? 0.3 : 0.2) + (all ? 0 : 2 * pilot_spread(task, flight));
    return (Pilot){.lanes = flight->lanes,
                   .seconds = seconds,
                   .low = 1 - (spread < 0.9 ? spread : 0.9),
                   .high = 1 + spread,
                   .whole = true};
}

static size_t pilot_bytes(const PilotTask *task, int64_t lanes)
{
    const int64_t trials = lanes / task->spec->replicates.count + LOOP_SLOTS_MAX;
    const int64_t scratch = flight_scratch_bytes(task->spec, NULL);
    return (size_t)(trials * (flight_bytes(task->spec) + 64) + LOOP_SLOTS_MAX * scratch) + ((size_t)4 << 20);
}

static Error pilot_fly(const PilotTask *task, int64_t lanes, double until, Pilot *pilot)
{
    Arena arena;
    PilotFlight flight;
    bool done = false;
    double seconds = 0;
    TRY(arena_create(&arena, pilot_bytes(task, lanes), "a pilot"));
    pilot_fill(task, lanes, &arena, &flight);
    const Error error = pilot_advance(task, &flight, until, &seconds, &done);
    *pilot = done ? pilot_whole(task, &flight, seconds) : pilot_unfinished(task, &flight, seconds);
    if (search_learns(task->spec->method)) pilot_learn(task, &flight, pilot);
    arena_destroy(&arena);
    return error;
}

// Some ticks of the first trial, from its start.
static Error pilot_try(const PilotTask *task, PilotFlight *flight, bool observed, int64_t ticks, double *seconds)
{
    Batch *batch = backend_batch(task->backend, 0);
    const double start = clock_seconds();
    bool done;
    batch->trace.lanes = observed ? 1 : 0;
    batch->trace.every = spec_sample_ticks(task->spec);
    flight->done[0] = false;
    flight->slots[0].ticks = 0;
    TRY(backend_begin(task->backend, 0));
    TRY(pilot_step(task, flight, ticks, &done));
    *seconds += clock_seconds() - start;
    return error_none();
}

// Observed lanes have a slower kernel. The factor is the ratio of the times of both kernels for the same ticks of a
// trial, as many as are needed to time them.
static Error pilot_compare(const PilotTask *task, PilotFlight *flight, double *factor)
{
    const double enough = 2e-3; // s
    const int64_t all = task->spec->configured.ticks;
    double plain = 0, observed = 0;
    for (int64_t ticks = 0; plain < enough && ticks < all;) {
        ticks = pilot_least(ticks > 0 ? 4 * ticks : 500, all);
        plain = observed = 0;
        TRY(pilot_try(task, flight, false, ticks, &plain));
        TRY(pilot_try(task, flight, true, ticks, &observed));
    }
    if (observed > plain) *factor = observed / plain;
    return error_none();
}

// The first launch of a process also loads the kernel: one tick of one trial, which is timed separately.
static Error pilot_warm_up(const PilotTask *task, Pilot *pilot)
{
    Arena arena;
    PilotFlight flight;
    TRY(arena_create(&arena, pilot_bytes(task, task->spec->replicates.count), "a pilot"));
    pilot_fill(task, task->spec->replicates.count, &arena, &flight);
    pilot->observed_factor = 1;
    Error error = pilot_try(task, &flight, false, 1, &pilot->first_seconds);
    if (error.kind == OK && task->observed) error = pilot_try(task, &flight, true, 1, &pilot->first_seconds);
    if (error.kind == OK && task->observed) error = pilot_compare(task, &flight, &pilot->observed_factor);
    arena_destroy(&arena);
    return error;
}

// Lanes of the next flight: about as many as end in six tenths of the time left. 0: there is no time for more.
static int64_t pilot_more(int64_t lanes, int64_t most, double took, double left)
{
    const double more = 0.6 * left / took;
    if (left < 1.5 * took) return 0;
    return pilot_least(most, (int64_t)((double)lanes * (more < 2 ? 2 : more > 16 ? 16 : more)));
}

// The time of a GPU is not proportional to the lanes: the pilot runs real batches, as many as run at once. The time of
// a CPU is: the pilot runs more and more lanes until its time is used, and takes the last complete flight. Short
// flights are repeated and the fastest counts, since an idle processor is slow at first.
Error pilot_run(const PilotTask *task, Pilot *pilot)
{
    const bool cpu = pilot_on_cpu(task);
    const int64_t replicates = task->spec->replicates.count, batch = task->batch_lanes;
    const int64_t most = pilot_least(task->lanes, cpu ? batch : batch * backend_info(task->backend)->slots);
    int64_t lanes = cpu && most > 2 * PILOT_LANES_LEAST ? PILOT_LANES_LEAST : most;
    Pilot launch = {.whole = false};
    TRY(pilot_warm_up(task, &launch));
    const double until = clock_seconds() + pilot_budget;
    *pilot = (Pilot){.whole = false};
    for (int flights = 0; lanes > 0; flights++) {
        Pilot next;
        const double start = clock_seconds();
        TRY(pilot_fly(task, (lanes + replicates - 1) / replicates * replicates, until, &next));
        const bool again = next.whole && next.lanes == pilot->lanes;
        if (again ? next.seconds < pilot->seconds : next.whole || !pilot->whole) *pilot = next;
        const double now = clock_seconds(), took = now - start;
        if (!next.whole) break;
        lanes = lanes < most ? pilot_more(lanes, most, took, until - now)
                             : (flights < PILOT_FLIGHTS_MOST && until - now > 1.5 * took ? most : 0);
    }
    pilot->first_seconds = launch.first_seconds;
    pilot->observed_factor = launch.observed_factor;
    return error_none();
}
