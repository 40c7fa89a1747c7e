// Simulates a stored trial again, on any backend, alone in a batch: the bits must equal those that the campaign stored.
// One of its replicates can be recorded at any rate: recording changes no bit.
#include "replay.h"

#include "../store/queries.h"
#include "../batch/device.h"

#include <math.h>
#include <string.h>

// ---- what is watched ------------------------------------------------------------------------------------------------

// The most memory (bytes) for the recorded rows.
#define REPLAY_BYTES_MAX ((double)RECORD_BYTES_MAX * 4)

static double replay_bytes(const Spec *spec, RecordKind kind)
{
    const Recording recording = recording_of(spec, kind);
    return 8.0 * recording.n_columns * recording.lanes * (double)recording.capacity;
}

static Error replay_choose(const ReplayRequest *request, Spec *spec, Arena *arena)
{
    if (request->drawn || request->n_bodies > 0) return spec_choose_all(spec, arena, &spec->configured);
    return error_none();
}

// The ticks of the window, and one more on either side, since its times are rounded.
static void replay_watch_window(const double *window, double tick, Spec *spec)
{
    if (!(window[1] > 0) || !(tick > 0)) return;
    const double ticks = (double)spec->configured.ticks;
    const double first = fmin(fmax(floor(window[0] / tick) - 1, 0), ticks);
    const double end = fmin(floor(window[1] / tick) + 2, ticks);
    spec->record.first_tick = (int64_t)first;
    spec->record.end_tick = (int64_t)fmax(end, first + 1);
}

static Error replay_watch_trajectory(const ReplayRequest *request, Spec *spec)
{
    const double tick = spec->configured.tick_duration;
    if (spec->configured.n_columns == 0)
        return error_make(ERROR_USER, "the spec declares no columns, so there is no trajectory to write");
    spec->record.trajectories = spec->record.float64 = true;
    spec->record.all_replicates = request->replicate > 0 || request->every_replicate;
    replay_watch_window(request->window, tick, spec);
    if (request->ticks[1] > 0) {
        spec->record.first_tick = request->ticks[0];
        spec->record.end_tick = request->ticks[1];
    }
    if (!(request->sample > 0) || !(tick > 0)) return error_none();
    const double ticks = floor(request->sample / tick + 0.5);
    if (fabs(request->sample / tick - ticks) > 1e-6 * ticks || ticks < 1)
        return error_make(ERROR_USER, "--sample: %s s is not a multiple of the step, %s s",
                          text_number(request->sample).text, text_number(tick).text);
    spec->record.sample = ticks * tick;
    return error_none();
}

// Error (user): with the campaign's settings the model has no debug rows, or none of that name.
static Error replay_check_rows(const char *rows, const Spec *spec)
{
    const char *model = spec->model->name, *name = model_debug_name(spec->model);
    if (spec->configured.n_debug == 0)
        return error_make(ERROR_USER, "--debug %.60s: with these settings of simulation model %s has no %s, because %s",
                          rows, model, model_debug_are(spec->model), model_debug_needs(spec->model));
    if (strcmp(rows, name) != 0)
        return error_make(ERROR_USER, "--debug %.60s: the debug rows of model %s are called %s: write --debug %s", rows,
                          model, name, name);
    return error_none();
}

static Error replay_watch_solver(const ReplayRequest *request, Spec *spec)
{
    TRY(replay_check_rows(request->rows, spec));
    spec->record.debug.wanted = true;
    spec->record.events = false; // it chooses the replicates, too
    spec->record.debug.failed_only = false;
    spec->record.debug.all_replicates = request->replicate > 0;
    spec->record.debug.keep = 0;
    memcpy(spec->record.debug.window, request->window, sizeof request->window);
    return error_none();
}

static Error replay_watch(const ReplayRequest *request, Spec *spec, Arena *arena)
{
    if (request->replicate >= spec->replicates.count)
        return error_make(ERROR_USER, "trial %lld has %d replicate%s, numbered from 0: there is no number %d",
                          (long long)request->trial, spec->replicates.count, spec->replicates.count == 1 ? "" : "s",
                          request->replicate);
    TRY(replay_choose(request, spec, arena));
    TRY(request->debug ? replay_watch_solver(request, spec) : replay_watch_trajectory(request, spec));
    const RecordKind kind = request->debug ? RECORD_DEBUG : RECORD_TRAJECTORIES;
    double bytes = replay_bytes(spec, kind);
    if (request->coarser && bytes > REPLAY_BYTES_MAX && spec->configured.tick_duration > 0) {
        const double ticks = ceil((double)spec_sample_ticks(spec) * 1.01 * bytes / REPLAY_BYTES_MAX);
        spec->record.sample = ticks * spec->configured.tick_duration;
        bytes = replay_bytes(spec, kind);
    }
    if (bytes <= REPLAY_BYTES_MAX) return error_none();
    return error_make(ERROR_USER, "that would take %s of memory, at most %s is allowed: %s", text_bytes(bytes).text,
                      text_bytes(REPLAY_BYTES_MAX).text,
                      request->debug ? "name a shorter --window START,END"
                                     : "name a coarser --sample SECONDS or a shorter --window START,END");
}

// ---- simulation -----------------------------------------------------------------------------------------------------

// One batch with only this trial's replicates.
static Error replay_batch(Replay *replay, Backend *backend, Arena *arena)
{
    const Spec *spec = &replay->spec;
    const Recording recording = recording_of(spec, replay->flight.kind);
    const int64_t traced = replay->observed && replay->flight.kind == RECORD_TRAJECTORIES ? recording.lanes : 0;
    Configured configured;
    TRY(spec_build(spec, arena, &configured));
    TRY(backend_prepare(backend, &configured, spec->replicates.count, traced, traced > 0 ? recording.capacity : 0));
    if (replay->observed && replay->flight.kind == RECORD_DEBUG)
        TRY(backend_prepare_debug(backend, recording.lanes, recording.capacity));
    flight_fill(spec, &replay->flight, backend_batch(backend, 0));
    TRY(flight_run(spec, backend, &replay->flight, 0, NULL));
    flight_collect(spec, &replay->flight, backend_batch(backend, 0), &replay->again);
    return error_none();
}

// A pack has the parameters that are searched, and the spec the others.
static void replay_packed_trial(const Replay *replay, uint64_t *ordinal, double *parameter)
{
    const Spec *spec = &replay->spec;
    *ordinal = replay->campaign->pack->ordinal;
    memcpy(parameter, spec->fixed, (size_t)spec->configured.n_parameters * sizeof *parameter);
    for (int i = 0; i < rows_searched(spec); i++)
        parameter[spec->axes[i].parameter] = rows_searched_value(spec, &replay->stored, i, 0);
}

static void replay_note_backend(Replay *replay, const BackendInfo *info, Arena *arena)
{
    const bool cpu = strcmp(info->name, "cpu") == 0; // a processor's name says less than its instruction set
    replay->program_version = arena_copy(arena, info->program_version);
    replay->backend = arena_copy(arena, info->name);
    replay->processor = arena_format(arena, "%.*s", (int)strcspn(cpu ? info->version : info->device, ","),
                                     cpu ? info->version : info->device);
}

static Error replay_simulate(Replay *replay, RecordKind kind, const BackendOptions *options, Arena *arena)
{
    const Spec *spec = &replay->spec;
    const Recording recording = recording_of(spec, kind);
    Trials *trials = &replay->flight.trials;
    Search search;
    Backend *backend = NULL;
    replay->spec.replicates.store |= replay->each;
    flight_take(spec, 1, NULL, arena, &replay->flight);
    if (replay->each) trials->value = ARENA_NEW(arena, double, spec->replicates.count);
    commit_take(spec, 1, replay->observed ? recording.lanes : 0, recording_lane_bytes(&recording), 0, arena,
                &replay->again);
    trials->count = 1;
    trials->id[0] = replay->stored.id[0];
    trials->search[0] = (int32_t)replay->stored.search[0];
    trials->round[0] = (int32_t)replay->stored.round[0];
    replay->flight.observed[0] = replay->observed;
    replay->flight.kind = kind;
    if (replay->campaign->pack != NULL) {
        replay_packed_trial(replay, &trials->ordinal[0], trials->parameter);
    } else {
        TRY(search_init(spec, arena, &search));
        TRY(search_stored_trial(&search, replay->campaign->database, &replay->stored, 0, &trials->ordinal[0],
                                trials->parameter));
    }
    BackendOptions own = *options;
    TRY(program_options(spec, arena, &own));
    TRY(device_open_backend(&own, &backend));
    const Error error = replay_batch(replay, backend, arena);
    replay_note_backend(replay, backend_info(backend), arena);
    backend_close(backend);
    return error;
}

// The row of the trial. Where only some trials keep one, it may have none; then row 0 has its id alone.
static Error replay_read_row(Replay *replay, int64_t trial, Arena *arena)
{
    const StoredCampaign *campaign = replay->campaign;
    if (campaign->pack != NULL) {
        replay->stored = campaign->pack->row;
        return error_none();
    }
    TRY(trial_row_read(campaign, trial, arena, &replay->stored));
    if (replay->stored.count > 0) return error_none();
    TRY(kept_covers(campaign->database, trial, &replay->computed));
    if (!replay->computed)
        return error_make(ERROR_USER, "campaign %s has no trial %lld", campaign->name, (long long)trial);
    if (spec_has_rungs(&campaign->spec))
        return error_make(
            ERROR_USER,
            "trial %lld of %s has no row (record.rows), so it is not known at which rung of limits.retire "
            "it ended",
            (long long)trial, campaign->name);
    replay->stored.id[0] = trial;
    return error_none();
}

Error replay_all(Replay *replay, int64_t trial, const ReplayRequest *request, const BackendOptions *backend,
                 Arena *arena, ReplayResult *result)
{
    const StoredCampaign *campaign = replay->campaign;
    if (campaign->numerics_version != NUMERICS_VERSION)
        return error_make(ERROR_USER,
                          "campaign %s was computed with numerics version %d and this program has version "
                          "%d: replay it with the program that wrote it (version %s)",
                          campaign->name, campaign->numerics_version, NUMERICS_VERSION, campaign->program_version);
    TRY(campaign_check_meaning(campaign));
    TRY(replay_read_row(replay, trial, arena));
    replay->spec = rows_had(&campaign->spec, &replay->stored, 0);
    replay->observed = request != NULL;
    if (request != NULL) TRY(replay_watch(request, &replay->spec, arena));
    TRY(replay_simulate(replay, request != NULL && request->debug ? RECORD_DEBUG : RECORD_TRAJECTORIES, backend,
                        arena));
    *result = (ReplayResult){.trial = trial,
                             .fitness = rows_stored(replay->again.rows.fitness[0]),
                             .failure = replay->spec.configured.failures[replay->again.rows.failure[0]],
                             .stored_fitness = replay->computed ? (double)NAN : replay->stored.fitness[0],
                             .computed = replay->computed};
    result->equal = replay->computed || !rows_differ(&replay->spec, &replay->stored, 0, &replay->again.rows, 0,
                                                     result->difference, sizeof result->difference);
    result->version = replay->program_version;
    if (!result->equal && replay->spec.model->runs_program)
        rows_differences(&replay->spec, &replay->stored, 0, &replay->again.rows, 0, result->difference,
                         sizeof result->difference);
    return error_none();
}

Error campaign_replay(const StoredCampaign *campaign, int64_t trial, const BackendOptions *backend, Arena *arena,
                      ReplayResult *result)
{
    Replay replay = {.campaign = campaign};
    return replay_all(&replay, trial, NULL, backend, arena, result);
}

Error campaign_simulate(const StoredCampaign *campaign, int64_t trial, const BackendOptions *backend, Arena *arena,
                        TrialRows *row)
{
    Replay replay = {.campaign = campaign};
    ReplayResult result;
    TRY(replay_all(&replay, trial, NULL, backend, arena, &result));
    *row = replay.again.rows;
    return error_none();
}

static Error replay_stored_replicates(const StoredCampaign *campaign, int64_t trial, Arena *arena,
                                      TrialReplicates *replicates)
{
    TrialRows row;
    TRY(trial_row_read(campaign, trial, arena, &row));
    if (row.count == 0 || !campaign->spec.replicates.store) return error_none();
    TRY(replicates_read(campaign, trial, &row));
    const Spec had = rows_had(&campaign->spec, &row, 0);
    *replicates = (TrialReplicates){.count = had.replicates.count,
                                    .failure = row.replicate_failure,
                                    .metric = row.replicate_metric,
                                    .stride = row.replicate_stride};
    return error_none();
}

Error campaign_replicates(const StoredCampaign *campaign, int64_t trial, const BackendOptions *backend, Arena *arena,
                          TrialReplicates *replicates)
{
    Replay replay = {.campaign = campaign, .each = true};
    ReplayResult result;
    const Model *model = campaign->spec.model;
    *replicates = (TrialReplicates){0};
    if (model->runs_program || model->by_hand) return replay_stored_replicates(campaign, trial, arena, replicates);
    TRY(replay_all(&replay, trial, NULL, backend, arena, &result));
    if (!result.equal) return error_none(); // what is shown beside it is another result
    const TrialRows *rows = &replay.again.rows;
    *replicates = (TrialReplicates){.count = replay.spec.replicates.count,
                                    .value = spec_several(&replay.spec) ? NULL : replay.flight.trials.value,
                                    .failure = rows->replicate_failure,
                                    .metric = rows->replicate_metric,
                                    .stride = rows->replicate_stride};
    return error_none();
}

// ---- the trace ------------------------------------------------------------------------------------------------------

// Keeps the rows of the replicate within the window, in place.
static void replay_take_rows(const Replay *replay, const Recording *recording, ReplayTrace *trace)
{
    const double *window = trace->request.window;
    const Commit *again = &replay->again;
    double *from = again->samples;
    int64_t length = 0, dropped = 0;
    for (int64_t i = 0; i < again->n_lanes; i++) {
        length = again->lanes[i].length;
        dropped = again->dropped[i];
        if (again->lanes[i].replicate == trace->request.replicate) break;
        from += length * recording->n_columns;
    }
    trace->row = from;
    trace->dropped = dropped;
    for (int64_t i = 0; i < length; i++) {
        const double *row = from + i * recording->n_columns, time = row[0];
        if (window[1] > 0 && !(time >= window[0] - 1e-12 && time <= window[1] + 1e-12)) continue;
        memmove(from + trace->count++ * recording->n_columns, row, sizeof *row * (size_t)recording->n_columns);
    }
}

// The columns to show: of the bodies that the request names, else those that the spec records. Both are in the order of
// all columns.
static Error replay_find_shown(const StoredCampaign *campaign, ReplayTrace *trace, Arena *arena)
{
    const Configured *all = trace->configured, *own = &campaign->spec.configured;
    const ReplayRequest *request = &trace->request;
    int *shown = ARENA_NEW(arena, int, trace->n_columns);
    bool *chosen = ARENA_NEW(arena, bool, all->n_things + 1);
    if (request->n_bodies > 0 && all->things_whole)
        return error_make(ERROR_USER, "--bodies: columns of model %s belong to the whole robot: leave --bodies out",
                          all->model->name);
    for (int i = 0; i < request->n_bodies; i++) {
        if (things_mark(all, request->bodies[i], chosen) > 0) continue;
        const char *near = things_nearest(all, request->bodies[i], arena);
        return error_make(ERROR_USER, "--bodies: '%.60s' is not one of the %d %s of the model%s%.60s%s",
                          request->bodies[i], all->n_things, all->things_are != NULL ? all->things_are : "bodies",
                          near != NULL ? "; did you mean '" : "", near != NULL ? near : "", near != NULL ? "'?" : "");
    }
    for (int c = 0, next = 0, panel = 0, thing = 0; c < trace->n_columns; c++) {
        bool wanted = request->debug || c == 0;
        if (!wanted && request->n_bodies > 0) {
            while (panel < all->n_panels && c >= all->panels[panel].column + all->panels[panel].count) panel++;
            while (panel < all->n_panels && thing < all->n_things &&
                   strcmp(all->things[thing], all->panels[panel].of) != 0)
                thing++;
            wanted = panel < all->n_panels && chosen[thing]; // the columns behind those of things are of none
        } else if (!wanted) {
            wanted = next < own->n_columns && strcmp(trace->columns[c].name, own->columns[next].name) == 0;
        }
        if (wanted) shown[trace->n_shown++] = c;
        next += wanted;
    }
    trace->shown = shown;
    return error_none();
}

Error campaign_trace(const StoredCampaign *campaign, const ReplayRequest *request, const BackendOptions *backend,
                     Arena *arena, ReplayResult *result, ReplayTrace *trace)
{
    Replay replay = {.campaign = campaign};
    TRY(replay_all(&replay, request->trial, request, backend, arena, result));
    const Recording recording = recording_of(&replay.spec, request->debug ? RECORD_DEBUG : RECORD_TRAJECTORIES);
    const Trials *trials = &replay.flight.trials;
    Configured *configured = ARENA_NEW(arena, Configured, 1);
    *configured = *configured_case(&replay.spec.configured, request->replicate);
    *trace = (ReplayTrace){.campaign = campaign,
                           .request = *request,
                           .configured = configured,
                           .columns = recording.columns,
                           .n_columns = recording.n_columns,
                           .words = recording.words,
                           .n_words = recording.n_words,
                           .parameter = ARENA_NEW(arena, double, replay.spec.configured.n_parameters),
                           .metric = ARENA_NEW(arena, double, replay.spec.configured.n_metrics + 1),
                           .fitness = result->fitness};
    for (int m = 0; m < replay.spec.configured.n_metrics; m++)
        trace->metric[m] = replay.again.rows.metric[m * replay.again.rows.stride];
    trace->request.sample =
        request->debug ? 0 : (double)spec_sample_ticks(&replay.spec) * replay.spec.configured.tick_duration;
    replicate_parameters(&replay.spec, trials->search[0], trials->ordinal[0], request->replicate, trials->parameter,
                         trace->parameter);
    trace->failure = replay.spec.configured.failures[flight_failure(&replay.flight, request->replicate)];
    replay_take_rows(&replay, &recording, trace);
    TRY(replay_find_shown(campaign, trace, arena));
    if (!request->debug) trace->recorded = spec_recorded_motion(spec_case(&campaign->spec, request->replicate), arena);
    const Drawing *drawing = trace_drawing(trace);
    if (drawing != NULL) trace->point = ARENA_NEW(arena, double, 2 * (int64_t)drawing->n_points);
    if (drawing != NULL) trace->pose = ARENA_NEW(arena, double, POSE_NUMBERS *(int64_t)drawing->n_bodies);
    trace_find_level(trace);
    // a trial may have had no events
    if (trace->count > 0 || (request->debug && configured->debug_rows == 0)) return error_none();
    return error_make(ERROR_USER,
                      "nothing of trial %lld, replicate %d lies between %s and %s s: it may have ended before",
                      (long long)request->trial, request->replicate, text_number(request->window[0]).text,
                      text_number(request->window[1]).text);
}
