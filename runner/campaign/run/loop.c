// The loop of a campaign: it fills idle slots of the backend with whole trials, advances the batches in flight slice by
// slice, tells the search the results, and gives complete batches to the writer. It decides when to stop; it never
// affects a result.
#include "loop.h"

#include "record.h"
#include "rungs.h"

#include <math.h>
#include <string.h>

// ---- memory ---------------------------------------------------------------------------------------------------------

// All memory that grows with the size of a batch is taken here, once. It does not grow with the number of trials.
static size_t loop_buffer_bytes(const Loop *loop)
{
    const Spec *spec = loop->spec;
    const Recording trajectories = recording_of(spec, RECORD_TRAJECTORIES);
    const int64_t lane = recording_lane_bytes(&trajectories);
    const int64_t commit = loop->batch_trials * rows_bytes(spec) + loop->traced_max * lane +
                           (int64_t)search_state_most(loop->search) +
                           commit_rounds_bytes(loop->search, loop->batch_trials);
    const int64_t race = race_of_generations(spec) ? loop->batch_trials * flight_race_bytes(spec) + 1024 : 0;
    const int64_t scratch = flight_scratch_bytes(spec, loop->team) + ((int64_t)1 << 20);
    const int64_t state = (int64_t)1 << 20;
    const int64_t rungs = loop->batch_trials * rungs_bytes(spec) + (int64_t)sizeof(Spec) * 2 * race_rungs(spec);
    return (size_t)(loop->n_slots * (loop->batch_trials * flight_bytes(spec) + scratch + race + rungs) +
                    WRITER_COMMITS * (commit + state + race));
}

static void loop_take_buffers(Loop *loop, Arena *arena)
{
    const bool races = race_of_generations(loop->spec);
    for (int i = 0; i < loop->n_slots; i++) {
        flight_take(loop->spec, loop->batch_trials, loop->team, arena, &loop->slots[i].flight);
        if (races) flight_take_race(loop->spec, loop->batch_trials, arena, &loop->slots[i].flight);
    }
    rungs_take(loop, arena);
    const Recording trajectories = recording_of(loop->spec, RECORD_TRAJECTORIES);
    for (int i = 0; i < WRITER_COMMITS; i++) {
        commit_take(loop->spec, loop->batch_trials, loop->traced_max, recording_lane_bytes(&trajectories),
                    search_state_most(loop->search), arena, &loop->writer.commits[i]);
        commit_take_rounds(loop->search, loop->batch_trials, arena, &loop->writer.commits[i]);
        if (races) loop->writer.commits[i].rows.had = ARENA_NEW(arena, int64_t, loop->batch_trials);
    }
}

// ---- limits ---------------------------------------------------------------------------------------------------------

static void loop_end(Loop *loop, const char *state, const char *reason)
{
    loop->ending = true;
    loop->state = state;
    snprintf(loop->reason, sizeof loop->reason, "%s", reason);
}

void loop_set_time(Loop *loop)
{
    const double limit = loop->spec->limits.wall_time, left = limit - loop->before.wall_seconds;
    const double grace = 1.0 + 0.05 * limit; // s
    loop->until = limit > 0 ? clock_seconds() + left : (double)INFINITY;
    loop->record_until = limit > 0 && left > 0 ? loop->until + grace : (double)INFINITY;
}

void loop_note_time(Loop *loop, const char *rest)
{
    const double limit = loop->spec->limits.wall_time;
    loop->state = "stopped";
    snprintf(loop->reason, sizeof loop->reason,
             "limits.wall_time of %s is reached%s; resume --set limits.wall_time=%.*gs continues",
             text_duration(limit).text, rest, limit < 10 ? 2 : 9, 2 * limit);
}

// The failed trials of a batch that limits.retire ended: they are what the user asked for. Those that are in a race,
// and had replicates before, were counted then.
static int64_t loop_retired(const Loop *loop, const Commit *commit)
{
    const int64_t code = spec_retires(loop->spec) ? configured_failure(&loop->spec->configured, RETIRED) : -1;
    int64_t count = 0;
    for (int64_t i = 0; i < commit->rows.count; i++)
        count += commit->rows.failure[i] == code && (commit->rows.had == NULL || commit->rows.had[i] == 0);
    return count;
}

// The fraction of the trials so far means something from ENOUGH on; that of all trials once it is certain.
static bool loop_fails_too_often(const Loop *loop)
{
    enum { ENOUGH = 100 };
    const double limit = loop->spec->limits.failures, failures = (double)loop->failures;
    const int64_t total = loop_total(loop), all = total > 0 ? total : loop_most(loop);
    if (loop->told >= ENOUGH && failures > limit * (double)loop->told) return true;
    return all > 0 && failures > limit * (double)(all > loop->told ? all : loop->told);
}

// ---- out ------------------------------------------------------------------------------------------------------------

// The most trials of the next batch: by its size, by the trace, and by limits.trials.
static int64_t loop_room(const Loop *loop)
{
    const int64_t limit = loop->spec->limits.trials, recorded = record_trials_max(loop->spec, loop->traced_max);
    int64_t room = loop->batch < recorded || loop->ends != NULL ? loop->batch : recorded;
    if (limit > 0 && limit - loop->asked < room) room = limit - loop->asked;
    return room > 0 ? room : 0;
}

// Marks the trials that are recorded while they run, as many as the trace holds. The rest is recorded at the end, and
// so are all trials where it is not known how long they run.
static void loop_choose_observed(const Loop *loop, Flight *flight)
{
    const int64_t recorded = recording_of(loop->spec, RECORD_TRAJECTORIES).lanes;
    int64_t lanes = 0;
    for (int64_t t = 0; t < flight->trials.count; t++) {
        const bool again = flight->trials.first != NULL && flight->trials.first[t] > 0;
        flight->observed[t] = !again && loop->ends == NULL && lanes + recorded <= loop->traced_max &&
                              record_as_run(loop->spec, flight->trials.id[t]);
        if (flight->observed[t]) lanes += recorded;
    }
}

static void loop_no_more(Loop *loop, bool by_limit)
{
    const char *reason = loop->search->method->stopped(loop->search);
    char text[160];
    if (!by_limit) {
        loop_end(loop, "done", reason != NULL ? reason : "");
        return;
    }
    snprintf(text, sizeof text, "limits.trials: %s trials were run", text_count(loop->asked).text);
    loop_end(loop, "stopped", text);
}

// The replicates that trials of a race have, which were committed before the search asked for more.
static Error loop_take_replicates(Loop *loop, Flight *flight)
{
    const Spec *spec = loop->spec;
    const Trials *trials = &flight->trials;
    const ReplicatesBefore *before = &flight->before;
    Error error = error_none();
    if (trials_new(trials) == trials->count) return error;
    while (!writer_drained(&loop->writer, 0.1)) continue;
    if (loop->writer.error.kind != OK) return loop->writer.error;
    Cursor replicates = replicates_by_trial(loop->store->database);
    for (int64_t t = 0; t < trials->count && error.kind == OK; t++) {
        const int64_t had = trials->first[t], at = t * before->most;
        if (had > 0)
            error = replicates_take_raced(&replicates, spec, trials->id[t], (int)had,
                                          &before->metric[at * spec->configured.n_metrics],
                                          &before->drawn[at * spec->replicates.n_perturb], &before->failure[at]);
    }
    (void)cursor_close(&replicates); // its error was taken
    return error;
}

// Asks the search for a batch; *got false: it has none now. At the limit it asks for one more trial, to know whether
// there is one: a trial that the search gave and was not told is not part of its state.
static Error loop_ask(Loop *loop, Flight *flight, bool *got)
{
    const int64_t room = loop_room(loop);
    const double start = clock_seconds();
    bool waiting = false;
    flight->trials.count = 0;
    TRY(loop->ends != NULL && room > 0
            ? rungs_ask(loop, room, &flight->trials, &waiting)
            : loop->search->method->ask(loop->search, room > 0 ? room : 1, &flight->trials, &waiting));
    flight->search_seconds = clock_seconds() - start;
    *got = room > 0 && flight->trials.count > 0;
    if (*got)
        loop->asked += trials_new(&flight->trials);
    else if (!waiting)
        loop_no_more(loop, flight->trials.count > 0);
    return error_none();
}

static Error loop_advance(Loop *loop, int slot, int64_t ticks)
{
    LoopSlot *own = &loop->slots[slot];
    const int64_t left = configured_steps(&rungs_spec(loop, own)->configured) - own->flight.ticks;
    TRY(backend_advance(loop->backend, slot, ticks));
    own->slice = ticks < left ? ticks : left;
    own->flight.ticks += ticks;
    own->pending = true;
    return error_none();
}

// The trials of the slot's flight; also those of a batch that go on from a rung.
static Error loop_begin(Loop *loop, int slot)
{
    LoopSlot *own = &loop->slots[slot];
    const Spec *spec = rungs_spec(loop, own);
    const double start = clock_seconds();
    loop_choose_observed(loop, &own->flight);
    flight_fill(spec, &own->flight, backend_batch(loop->backend, slot));
    own->flight.copy_seconds = clock_seconds() - start;
    own->pending = own->done = false;
    own->next = loop->slice;
    own->running = own->flight.lanes;
    TRY(flight_begin(spec, loop->backend, slot));
    if (loop->first_launch <= 0) loop->first_launch = clock_seconds();
    return loop_advance(loop, slot, own->next);
}

static Error loop_fill(Loop *loop)
{
    while (!loop->ending && loop->in_flight < loop->n_slots) {
        const int slot = (loop->oldest + loop->in_flight) % loop->n_slots;
        bool got = false;
        TRY(loop_ask(loop, &loop->slots[slot].flight, &got));
        if (!got) break;
        TRY(loop_take_replicates(loop, &loop->slots[slot].flight));
        if (loop->ends != NULL) rungs_start(&loop->slots[slot]);
        TRY(loop_begin(loop, slot));
        loop->in_flight++;
    }
    return error_none();
}

// ---- back -----------------------------------------------------------------------------------------------------------

// Fewer lanes take more ticks in the same time: a new batch begins as one whose lanes all ran.
static void loop_pace_slices(Loop *loop, int slot)
{
    LoopSlot *own = &loop->slots[slot];
    const int64_t before = own->running;
    own->running = backend_running(loop->backend, slot);
    own->next =
        slice_adapt(own->slice, own->slice_seconds, 1.0 - (double)own->running / (double)before, loop->slice_requested);
    if (before == own->flight.lanes) loop->slice = own->next;
}

// Waits for the slice in flight, and starts the next one, `slices` times as long, unless the batch has ended.
static Error loop_step(Loop *loop, int slot, int slices)
{
    LoopSlot *own = &loop->slots[slot];
    if (own->done) return error_none();
    if (own->pending) {
        const double before = own->flight.kernel_seconds;
        TRY(flight_wait(rungs_spec(loop, own), loop->backend, slot, &own->flight, &own->done));
        own->pending = false;
        own->slice_seconds = own->flight.kernel_seconds - before;
        loop_pace_slices(loop, slot);
        if (own->done && loop->ends != NULL && rungs_go_on(loop, slot)) return loop_begin(loop, slot);
    }
    return own->done ? error_none() : loop_advance(loop, slot, slices * own->next);
}

// A search that waits for results gives a short batch, whose time says nothing about longer ones.
static void loop_pace(Loop *loop, const Flight *flight)
{
    if (loop->batch_least == 0 || flight->trials.count < loop->batch) return;
    loop->batch = batch_adapt(flight->trials.count, flight->kernel_seconds, clock_seconds() - loop->started,
                              loop->batch_least, loop->batch_trials);
}

static void loop_fill_commit(Loop *loop, double started, double collected, Commit *commit)
{
    const BackendInfo *info = backend_info(loop->backend);
    const double now = clock_seconds();
    commit->copy_seconds += collected - started + backend_copy_seconds(loop->backend, loop->oldest);
    commit->search_seconds += now - collected;
    commit->state_size = loop->search->state_size;
    memcpy(commit->state, loop->search->state, commit->state_size);
    snprintf(commit->backend, sizeof commit->backend, "%s", info->name);
    snprintf(commit->device, sizeof commit->device, "%s", info->device);
    snprintf(commit->version, sizeof commit->version, "%s", info->version);
    commit->kernel = backend_used_made(loop->backend, loop->oldest) ? "made" : "general";
    commit->wall_seconds = now - loop->accounted;
    loop->accounted = now;
}

// Gives the other slot two slices of work, since the next batch is asked for and filled meanwhile. A slice that still
// runs is work enough: to wait for it would leave the device idle while results are collected.
static Error loop_occupy(Loop *loop)
{
    const int slot = (loop->oldest + 1) % loop->n_slots, slices = loop->slice_requested > 0 ? 1 : 2;
    bool ended = true;
    if (loop->in_flight < 2) return error_none();
    if (loop->slots[slot].pending) TRY(backend_look(loop->backend, slot, &ended));
    return ended ? loop_step(loop, slot, slices) : error_none();
}

// Whether what takes long ends now. Threads of the team ask.
static bool loop_leaves(const void *of)
{
    const Loop *loop = of;
    if (loop->land > 0.0) return clock_seconds() >= loop->land;
    return interrupt_requested() != 0 || clock_seconds() >= loop->until;
}

// Tells the search the results of the oldest batch; it may leave while it computes gradients.
static Error loop_tell_search(Loop *loop, const Trials *trials)
{
    Search *search = loop->search;
    search->leaves = loop_leaves;
    search->leaves_of = loop;
    const Error error = search->method->tell(search, trials);
    search->leaves = NULL;
    loop->left = error.kind == ERROR_INTERRUPTED;
    return loop->left ? error_none() : error;
}

// The oldest batch has ended: collects its results, tells the search, and gives the commit to the writer. Where the
// search leaves, the batch stays in flight, and nothing of it is committed.
static Error loop_collect(Loop *loop)
{
    Flight *flight = &loop->slots[loop->oldest].flight;
    Commit *commit = NULL;
    TRY(loop_occupy(loop));
    TRY(writer_take(&loop->writer, &commit));
    const double started = clock_seconds();
    if (loop->ends != NULL)
        rungs_collect(&loop->slots[loop->oldest], commit);
    else
        flight_collect(loop->spec, flight, backend_batch(loop->backend, loop->oldest), commit);
    const double collected = clock_seconds();
    commit->rounds.count = 0;
    loop->search->rounds = &commit->rounds;
    TRY(loop_tell_search(loop, &flight->trials));
    if (loop->left) return error_none();
    loop_fill_commit(loop, started, collected, commit);
    loop->told += trials_new(&flight->trials);
    loop->failures += commit->failures - loop_retired(loop, commit);
    loop->lane_ticks += loop->ends != NULL ? loop->slots[loop->oldest].batch.ticks
                                           : (double)flight->lanes * (double)loop->spec->configured.ticks;
    loop->kernel_seconds += flight->kernel_seconds;
    loop_pace(loop, flight);
    writer_put(&loop->writer);
    loop->slots[loop->oldest].done = false;
    loop->oldest = (loop->oldest + 1) % loop->n_slots;
    loop->in_flight--;
    return error_none();
}

// ---- progress -------------------------------------------------------------------------------------------------------

// The trials in all, at most the limit. After the search gave its last trial, the number that it gave.
int64_t loop_total(const Loop *loop)
{
    const int64_t expected = loop->trials_expected;
    int64_t limit = loop->spec->limits.trials;
    if (limit > 0 && limit < loop->before.trials) limit = loop->before.trials; // the user lowered the limit
    if (loop->ending && strcmp(loop->state, "done") == 0) return loop->asked;
    if (expected < 0) return 0;
    return limit > 0 && limit < expected ? limit : expected;
}

int64_t loop_most(const Loop *loop)
{
    const int64_t most = loop->trials_most;
    if (loop_total(loop) > 0) return 0;
    return most > 0 && most < loop->before.trials ? loop->before.trials : most; // the user lowered a limit
}

// Of the whole trials of a batch in flight: where some end at rungs, the same part of them as of what is to be
// simulated.
static double loop_ticks_done(const Loop *loop, const LoopSlot *slot)
{
    const double ticks = rungs_ticks(loop, slot);
    if (loop->ends == NULL) return ticks;
    const double part = fmin(ticks / rungs_ticks_most(loop, slot), 1.0);
    return part * (double)slot->batch.all.count * loop->spec->replicates.count * (double)loop->spec->configured.ticks;
}

static ProgressNumbers loop_numbers(const Loop *loop, WriterCounts counts, const char *doing)
{
    const double trial_ticks = (double)loop->spec->configured.ticks * loop->spec->replicates.count;
    const int64_t ticks = loop->spec->configured.ticks;
    const double tick = ticks > 0 ? configured_duration(&loop->spec->configured) / (double)ticks : 0.0; // s
    double in_flight = 0, simulated = loop->lane_ticks;
    for (int i = 0; i < loop->in_flight; i++) {
        const LoopSlot *slot = &loop->slots[(loop->oldest + i) % loop->n_slots];
        if (loop->spec->configured.steps_max > 0) continue;
        in_flight += loop_ticks_done(loop, slot);
        simulated += rungs_ticks(loop, slot);
    }
    ProgressNumbers numbers = {
        .trials_done = loop->before.trials + counts.trials,
        .trials_total = loop_total(loop),
        .trials_most = loop_most(loop),
        .trials_before = loop->before.trials,
        .ticks_done = (double)loop->told * trial_ticks + in_flight,
        .simulated_seconds = simulated * tick,
        .iterates = configured_iterates(&loop->spec->configured),
        .failures = loop->before.failures + counts.failures,
        .best = loop->before.best_fitness,
        .best_trial = loop->before.best_trial,
        .doing = doing,
    };
    const int64_t trials = numbers.trials_total > 0 ? numbers.trials_total : numbers.trials_most;
    numbers.ticks_total = (double)trials * trial_ticks;
    if (counts.trials > 0)
        numbers.writing_seconds =
            counts.write_seconds / (double)counts.trials * (double)(loop->told - numbers.trials_done);
    if (counts.best_trial >= 0 &&
        (isnan(numbers.best) || spec_better(loop->spec, 0, counts.best_fitness, numbers.best))) {
        numbers.best = counts.best_fitness;
        numbers.best_trial = counts.best_trial;
    }
    return numbers;
}

static void loop_show(Loop *loop)
{
    const bool computed = loop->ending && loop->in_flight == 0;
    ProgressNumbers numbers = loop_numbers(loop, writer_counts(&loop->writer),
                                           computed                                           ? "writing"
                                           : loop->ending && strcmp(loop->state, "done") != 0 ? "stopping"
                                                                                              : "running");
    watch_show(&(Watch){.progress = loop->progress, .numbers = &numbers});
}

// ---- the loop -------------------------------------------------------------------------------------------------------

// Whether a kernel made for the campaign would save more than compiling it costs: by the time that kernels have taken
// so far, as much is left where that is known, and else about as much again.
static bool loop_wants_made(const Loop *loop)
{
    const double enough = 4.0; // s of kernels that are left
    const int64_t done = loop->told - loop->before.trials, total = loop_total(loop);
    if (done <= 0) return false;
    const double left = total > 0 ? (double)(total - loop->told) / (double)done : 1.0;
    return left * loop->kernel_seconds > enough;
}

static Error loop_turn(Loop *loop)
{
    if (loop->made != NULL) TRY(made_tend(loop->made, loop->backend, loop_wants_made(loop)));
    TRY(loop_fill(loop));
    if (loop->in_flight > 0) TRY(loop_step(loop, loop->oldest, 1));
    if (loop->in_flight > 0 && loop->slots[loop->oldest].done) TRY(loop_collect(loop));
    loop_show(loop);
    return error_none();
}

// Whether the oldest batch may end within `seconds`: its slices are short, and so is the rest of it, if that is known.
static bool loop_may_end(const Loop *loop, double seconds)
{
    const double longest = 0.25; // s of a slice: the user waits for it
    const LoopSlot *own = &loop->slots[loop->oldest];
    const Configured *configured = &rungs_spec(loop, own)->configured;
    const double steps = (double)(configured_steps(configured) - own->flight.ticks), slice = (double)own->slice;
    if (own->done) return true;
    if (seconds <= 0 || own->slice_seconds > longest || rungs_end(rungs_spec(loop, own))) return false;
    return configured->steps_max > 0 || (steps / slice + 1) * own->slice_seconds < seconds;
}

// Lets the batches in flight end if they do so at once.
static Error loop_land(Loop *loop)
{
    const double grace = 0.6; // s
    loop->land = clock_seconds() + grace;
    while (loop->in_flight > 0 && !loop->left && loop_may_end(loop, loop->land - clock_seconds())) {
        TRY(loop_step(loop, loop->oldest, 1));
        if (loop->slots[loop->oldest].done) TRY(loop_collect(loop));
        loop_show(loop);
    }
    return error_none();
}

// Writes "; 30 trials in flight (1 s of computing) were abandoned", or "" if there were none. The search has no results
// of these trials: they are computed again, to the same bits.
static void loop_abandon(const Loop *loop, char *text, size_t size)
{
    int64_t trials = 0;
    double seconds = 0;
    for (int i = 0; i < loop->in_flight; i++) {
        const Flight *flight = &loop->slots[(loop->oldest + i) % loop->n_slots].flight;
        trials += flight->trials.count;
        seconds += flight->kernel_seconds;
    }
    text[0] = '\0';
    if (trials > 0)
        snprintf(text, size, "; %s trial%s in flight (%s of computing) %s abandoned", text_count(trials).text,
                 trials == 1 ? "" : "s", text_duration(seconds).text, trials == 1 ? "was" : "were");
}

// Reasons to end a run before its batches in flight have ended.
typedef enum LoopCut { LOOP_GOES_ON, LOOP_INTERRUPTED, LOOP_OUT_OF_TIME, LOOP_FAILS, LOOP_MOVES } LoopCut;

static LoopCut loop_cut(const Loop *loop)
{
    if (interrupt_requested() != 0) return LOOP_INTERRUPTED;
    if (clock_seconds() >= loop->until) return LOOP_OUT_OF_TIME;
    if (!loop->ending && loop_fails_too_often(loop)) return LOOP_FAILS;
    return loop->choice != NULL && loop->moves(loop->choice, loop) ? LOOP_MOVES : LOOP_GOES_ON;
}

static void loop_note_cut(Loop *loop, LoopCut cut, const char *abandoned)
{
    if (cut == LOOP_INTERRUPTED)
        snprintf(loop->reason, sizeof loop->reason, "%s%s", interrupt_words(), abandoned);
    else if (cut == LOOP_OUT_OF_TIME)
        loop_note_time(loop, abandoned);
    else
        snprintf(loop->reason, sizeof loop->reason, "limits.failures: %lld of %lld trials failed, more than %g %%%s",
                 (long long)loop->failures, (long long)loop->told, 100 * loop->spec->limits.failures, abandoned);
}

// Checked before the first batch, so that a campaign that a limit stopped runs nothing when it is run again.
static Error loop_turns(Loop *loop)
{
    char abandoned[128];
    while (!loop->ending || loop->in_flight > 0) {
        const LoopCut cut = loop_cut(loop);
        if (cut != LOOP_GOES_ON) {
            loop_end(loop, cut == LOOP_INTERRUPTED ? "interrupted" : "stopped", "");
            loop->moved = cut == LOOP_MOVES;
            TRY(loop_land(loop));
            if (loop->moved) return error_none();
            loop_abandon(loop, abandoned, sizeof abandoned);
            loop_note_cut(loop, cut, abandoned);
            return error_none();
        }
        TRY(loop_turn(loop));
    }
    return error_none();
}

static void loop_start_counting(Loop *loop)
{
    loop->told = loop->before.trials;
    loop->failures = loop->before.failures - loop->before.retired;
    loop->started = loop->accounted = clock_seconds();
    loop->writer.counts = (WriterCounts){.best_fitness = (double)NAN, .best_trial = -1};
}

void loop_report(Loop *loop, const char *doing)
{
    if (loop->started <= 0) loop_start_counting(loop);
    loop->numbers = loop_numbers(loop, loop->writer.counts, doing);
    watch_show(&(Watch){.progress = loop->progress, .numbers = &loop->numbers});
}

// Waits for the writer, which may take a while.
static void loop_drain(Loop *loop)
{
    const double look = 0.1; // s
    while (!writer_drained(&loop->writer, look)) loop_show(loop);
}

// After an error of the device the loop is run again, perhaps on another backend. It keeps its counts, and asks again
// for the trials that it had not told.
static void loop_start(Loop *loop)
{
    const int slots = backend_info(loop->backend)->slots;
    if (loop->started <= 0) loop_start_counting(loop);
    memset(loop->slots, 0, sizeof loop->slots);
    loop->n_slots = slots < LOOP_SLOTS_MAX ? slots : LOOP_SLOTS_MAX;
    loop->slice = slice_start(loop->slice_requested);
    loop->batch = loop->batch_least > 0 ? batch_start(loop->batch_least, loop->batch_trials) : loop->batch_trials;
    loop->asked = loop->told;
    loop->oldest = loop->in_flight = 0;
    loop->ending = loop->left = loop->moved = false;
    loop->land = 0.0;
    loop->reason[0] = '\0';
}

// limits.wall_time is a total over all runs: the time of abandoned batches is added to the last committed one.
static Error loop_note_tail(const Loop *loop)
{
    const bool reached = loop->record_until < (double)INFINITY && clock_seconds() >= loop->until;
    return reached ? store_note_wall(loop->store, clock_seconds() - loop->accounted) : error_none();
}

Error loop_run(Loop *loop)
{
    Arena arena;
    loop_start(loop);
    TRY(arena_create(&arena, loop_buffer_bytes(loop), "the batches in flight"));
    loop_take_buffers(loop, &arena);
    Error error = writer_start(&loop->writer, loop->store);
    if (error.kind == OK) {
        error = loop_turns(loop);
        if (error.kind == OK) loop_drain(loop);
        const Error written = writer_finish(&loop->writer);
        if (written.kind != OK) error = written;
        if (error.kind == OK) error = store_note_seconds(loop->store);
        if (error.kind == OK) error = loop_note_tail(loop);
    }
    loop->counts = loop->writer.counts;
    loop->numbers = loop_numbers(loop, loop->counts, loop->state);
    arena_destroy(&arena);
    return error;
}
