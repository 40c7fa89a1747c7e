// A run from its lock to its last commit: opens or creates the store, cleans up after a crash, restores the search,
// runs the loop, records the arrays that are chosen at the end, and stores how the run ended.
#include "../batch/batch_size.h"
#include "../plan/space.h"
#include "../store/commit/kept_rows.h"
#include "../store/commit/rounds.h"
#include "../store/campaign/store.h"
#include "../store/trials/trial_blocks.h"
#include "choice.h"
#include "expected.h"
#include "race.h"
#include "record.h"
#include "../store/commit/retries.h"
#include "retry.h"

#include <math.h>
#include <string.h>

// What the steps of a run share.
typedef struct Campaign {
    const Spec *spec; // what the loop runs: the store's; of a race its first rung
    Spec first;
    const RunOptions *options;
    Arena *arena;
    RunSummary *summary;
    const char *name;
    Store *store;
    Search search;
    Arena search_arena; // of the threads that share it
    Device device;
    DeviceChoice choice;    // of the device
    AdjointDevice *adjoint; // gradients by the device; NULL: by the threads
    Arena adjoint_arena;
    FILE *messages; // may be NULL
    double started, record_seconds, index_seconds;
    int64_t first_batch;        // of this run
    char stale[160];            // the last run's lock, if it was killed
    const char *program_folder; // of the spec that was given
    bool unstarted;             // the campaign is new, and its first batch has not begun
    BoundedLog workers;         // what the program writes to standard error
    Loop loop;
} Campaign;

// ---- words ----------------------------------------------------------------------------------------------------------

static CommandText campaign_how_to_resume(const Campaign *campaign)
{
    CommandText text;
    if (campaign->options->again == NULL)
        return command_again(campaign->options->results, "resume %.128s%s", campaign->name,
                             command_allow(campaign->spec->model));
    snprintf(text.text, sizeof text.text, "%s", campaign->options->again);
    return text;
}

// Says how the last run ended, if it stored a reason.
static void campaign_report_last_run(const Campaign *campaign)
{
    if (campaign->stale[0] != '\0')
        fprintf(campaign->messages, "  the last run (%s) was killed; what it had in flight is computed again\n",
                campaign->stale);
    else if (campaign->store->reason[0] != '\0')
        fprintf(campaign->messages, "  the last run: %s\n", text_visible(campaign->store->reason, campaign->arena));
}

static void campaign_report_found(const Campaign *campaign, const StoreCounts *before)
{
    const int64_t total = loop_total(&campaign->loop), left = total > before->trials ? total - before->trials : 0;
    FILE *out = campaign->messages;
    fprintf(out, "resuming %s: %s", campaign->name, text_count(before->trials).text);
    if (total > 0) fprintf(out, " of %s", text_count(total).text);
    fprintf(out, " trials are done");
    if (total > 0) fprintf(out, ", %s remain", text_count(left).text);
    fputc('\n', out);
    campaign_report_last_run(campaign);
}

static void campaign_report_start(const Campaign *campaign, const StoreCounts *before)
{
    const BackendInfo *info = backend_info(campaign->device.backend);
    if (campaign->messages == NULL) return;
    if (!campaign->store->created) campaign_report_found(campaign, before);
    if (info->warning[0] != '\0') fprintf(campaign->messages, "warning: %s\n", info->warning);
}

static void campaign_summarize(const Campaign *campaign, const StoreCounts *before)
{
    const Loop *loop = &campaign->loop;
    RunSummary *summary = campaign->summary;
    summary->trials_before = before->trials;
    summary->trials_done = before->trials + loop->counts.trials;
    summary->trials_total = loop->numbers.trials_total;
    summary->lanes_run = loop->counts.lanes;
    summary->failures = before->failures + loop->counts.failures;
    summary->kernel_seconds = loop->kernel_seconds;
    if (loop->counts.trials > 0) {
        summary->first_launch_to_last_commit = loop->counts.last_commit - loop->first_launch;
    }
    summary->best_fitness = loop->numbers.best;
    summary->best_trial = loop->numbers.best_trial;
    summary->first_batch = campaign->first_batch;
    summary->record_seconds = campaign->record_seconds;
    summary->index_seconds = campaign->index_seconds;
    summary->state = loop->state;
    summary->reason = loop->reason[0] != '\0' ? arena_copy(campaign->arena, loop->reason) : NULL;
    summary->wall_seconds = clock_seconds() - campaign->started;
}

// ---- before the loop ------------------------------------------------------------------------------------------------

static Error campaign_restore(Campaign *campaign)
{
    bool found = false;
    TRY(search_init(campaign->spec, campaign->arena, &campaign->search));
    TRY(store_search_state(campaign->store, &campaign->search, &found));
    return found ? campaign->search.method->restore(&campaign->search) : error_none();
}

// ---- the device -----------------------------------------------------------------------------------------------------

// Reports what was done about a failed device, and stores it as an event.
static Error campaign_report_device(Campaign *campaign)
{
    Device *device = &campaign->device;
    if (device->note[0] == '\0') return error_none();
    if (campaign->loop.progress != NULL && campaign->options->progress != PROGRESS_NONE)
        progress_note(campaign->loop.progress, "warning: %s", device->note);
    else if (campaign->messages != NULL)
        fprintf(campaign->messages, "warning: %s\n", device->note);
    return store_event(campaign->store, "device", "%s", device->note);
}

static Error campaign_use_device(Campaign *campaign)
{
    const Device *device = &campaign->device;
    Loop *loop = &campaign->loop;
    loop->batch_least = plan_batch_least(campaign->spec, device->backend, campaign->options);
    loop->backend = device->backend;
    loop->made = &campaign->device.made;
    loop->batch_trials = device->lanes / campaign->spec->replicates.count;
    loop->traced_max = device->traced_max;
    loop->debug_max = device->debug_max;
    snprintf(campaign->summary->device, sizeof campaign->summary->device, "%s", backend_info(device->backend)->device);
    return campaign_report_device(campaign);
}

// ---- a program ------------------------------------------------------------------------------------------------------

#define CAMPAIGN_WORKERS_LOG "workers.log"
#define CAMPAIGN_WORKERS_BYTES ((int64_t)1 << 20) // of each of its two files

// Where the program runs: in the folder that the user names, else that of the spec that was given, else where it ran
// before.
static Error campaign_program(Campaign *campaign, RunOptions *options)
{
    ProgramNoted noted = {NULL, NULL};
    if (!campaign->spec->model->runs_program || !options->backend.program.allowed) return error_none();
    TRY(program_noted(campaign->store->database, campaign->arena, &noted));
    const char **folder = &options->backend.program.folder;
    if (*folder == NULL) *folder = campaign->program_folder != NULL ? campaign->program_folder : noted.folder;
    TRY(program_files_remark(campaign->store->database, campaign->store->folder, *folder, campaign->messages,
                             campaign->arena));
    TRY(bounded_log_open(arena_format(campaign->arena, "%s/" CAMPAIGN_WORKERS_LOG, campaign->store->folder),
                         CAMPAIGN_WORKERS_BYTES, &campaign->workers));
    options->backend.program.log = (TextSink){.write = bounded_log_write, .to = &campaign->workers};
    return error_none();
}

// Error (user): the program says another version than the one that computed the trials so far.
static Error campaign_check_program(const Campaign *campaign)
{
    const ProgramOptions *program = &campaign->device.options.program;
    const char *version = backend_info(campaign->device.backend)->program_version;
    ProgramNoted noted = {NULL, NULL};
    if (!campaign->spec->model->runs_program) return error_none();
    TRY(program_noted(campaign->store->database, campaign->arena, &noted));
    if (noted.version != NULL && strcmp(noted.version, version) != 0 && !campaign->options->accept_version)
        return error_make(ERROR_USER,
                          "the program has version '%.100s', but %.100s was computed by '%.100s': run the spec under "
                          "another --name, or add --accept-version",
                          version, campaign->name, text_visible(noted.version, campaign->arena));
    TRY(program_files_keep(campaign->store, program->folder, campaign->messages, campaign->arena));
    return program_note(campaign->store, program->folder, version, campaign->arena);
}

static Error campaign_open_device(Campaign *campaign)
{
    RunOptions options = *campaign->options;
    TRY(campaign_program(campaign, &options));
    choice_start(campaign->spec, &options, &campaign->choice);
    if (campaign->choice.open) {
        campaign->loop.moves = choice_moves;
        campaign->loop.choice = &campaign->choice;
    }
    TRY(device_open(campaign->store->spec, &options, campaign->arena, &campaign->device));
    TRY(campaign_check_program(campaign));
    return campaign_use_device(campaign);
}

// Which kernel advanced the lanes, if one was to be made; reports it if it could not be, and stores it.
static Error campaign_report_kernel(Campaign *campaign)
{
    MadeJob *job = &campaign->device.made;
    const char *left = campaign->device.kernel_note;
    const BackendInfo *info = backend_info(campaign->device.backend);
    if (left[0] != '\0') {
        if (campaign->messages != NULL) fprintf(campaign->messages, "warning: the kernel %s\n", left);
        return store_event(campaign->store, "kernel", "%s", left);
    }
    if (job->note[0] != '\0') {
        if (campaign->messages != NULL) fprintf(campaign->messages, "%s\n", job->note);
        return store_event(campaign->store, "kernel", "%s", job->note);
    }
    if (info->made == MADE_REFUSED) {
        made_forget(job);
        if (campaign->messages != NULL)
            fprintf(campaign->messages, "warning: the kernel compiled for this campaign was not used: %s\n",
                    info->made_note);
        return store_event(campaign->store, "kernel", "made for %s, not used: %s", info->architecture, info->made_note);
    }
    if (info->made == MADE_NONE && job->source == NULL && job->without != NULL &&
        strcmp(campaign->device.options.kernels, "made") == 0)
        return store_event(campaign->store, "kernel", "%s", job->without);
    if (info->made == MADE_NONE) return error_none();
    return store_event(campaign->store, "kernel", "made for %s, %s: %s", info->architecture,
                       job->cached ? "from the cache"
                                   : arena_format(campaign->arena, "compiled in %.1f s", job->seconds),
                       info->made_note);
}

static void campaign_share_search(Campaign *campaign)
{
    arena_destroy(&campaign->search_arena);
    search_use_team(&campaign->search, campaign->loop.team, &campaign->search_arena);
}

// ---- gradients by the device ----------------------------------------------------------------------------------------

// error: of the run; where a slice is stuck, so would be the close.
static void campaign_close_adjoint(Campaign *campaign, const Error *error)
{
    if (campaign->adjoint == NULL) return;
    search_use_gpu(&campaign->search, NULL, &campaign->adjoint_arena);
    if (error->kind != ERROR_STUCK) campaign->adjoint->close(campaign->adjoint);
    campaign->adjoint = NULL;
    arena_destroy(&campaign->adjoint_arena);
}

// Without room on the device the threads compute them.
static Error campaign_open_adjoint(Campaign *campaign)
{
    const int64_t lanes = search_gradient_lanes(&campaign->search, thread_team_threads(campaign->loop.team));
    if (lanes == 0) return error_none();
    const Error error =
        backend_adjoint(campaign->device.backend, &campaign->spec->configured, lanes, 0, &campaign->adjoint);
    if (error.kind != OK && error.kind != ERROR_MEMORY) return error;
    if (error.kind == OK && campaign->adjoint != NULL)
        search_use_gpu(&campaign->search, campaign->adjoint, &campaign->adjoint_arena);
    return error_none();
}

static Error campaign_report_gradients(Campaign *campaign)
{
    const Search *search = &campaign->search;
    if (search->gpu_failed.kind != OK) {
        if (campaign->messages != NULL)
            fprintf(campaign->messages, "warning: the GPU stopped computing gradients: %s; the CPU computes them\n",
                    search->gpu_failed.text);
        return store_event(campaign->store, "gradients", "the GPU stopped computing them: %s", search->gpu_failed.text);
    }
    if (search->gpu_rounds == 0) return error_none();
    return store_event(campaign->store, "gradients", "of %lld rounds by the GPU", (long long)search->gpu_rounds);
}

// ---- a device that fails --------------------------------------------------------------------------------------------

// On a device that was opened again. Every told trial is committed: the search returns to that state, and gives the
// trials that were in flight again.
static Error campaign_go_on(Campaign *campaign)
{
    TRY(campaign_use_device(campaign));
    TRY(campaign_restore(campaign));
    campaign_share_search(campaign);
    return campaign_open_adjoint(campaign);
}

static Error campaign_recover_device(Campaign *campaign, Error error)
{
    campaign_close_adjoint(campaign, &error);
    TRY(device_recover(&campaign->device, error));
    return campaign_go_on(campaign);
}

// ---- another device -------------------------------------------------------------------------------------------------

// What was decided, once.
static Error campaign_note_choice(Campaign *campaign)
{
    char *text = campaign->choice.text;
    if (text[0] == '\0') return error_none();
    const Error error = store_event(campaign->store, "device", "%s", text);
    text[0] = '\0';
    return error;
}

// The loop ended to go on on the GPU. A GPU that fails now is recovered from as any that fails, at last by the CPU.
static Error campaign_move(Campaign *campaign)
{
    Device *device = &campaign->device;
    RunOptions options = campaign->choice.options;
    const Error none = error_none();
    choice_end(&campaign->choice);
    campaign->loop.choice = NULL;
    campaign_close_adjoint(campaign, &none);
    if (!device_close(device)) return error_make(ERROR_STUCK, "a slice on %s does not end", campaign->summary->device);
    options.fallback_cpu = true;
    if (campaign->loop.progress != NULL && campaign->options->progress != PROGRESS_NONE)
        progress_note(campaign->loop.progress, "%s", campaign->choice.text);
    TRY(campaign_note_choice(campaign));
    TRY(device_open(campaign->store->spec, &options, campaign->arena, device));
    return campaign_go_on(campaign);
}

// Trials until there are no more, on the device that the choice takes.
static Error campaign_run_trials(Campaign *campaign)
{
    Loop *loop = &campaign->loop;
    TRY(loop_run(loop));
    if (loop->moved) {
        TRY(campaign_move(campaign));
        return loop_run(loop);
    }
    choice_end(&campaign->choice);
    loop->choice = NULL;
    return campaign_note_choice(campaign);
}

// ---- after the loop -------------------------------------------------------------------------------------------------

// Rows that no number of ticks bounds: the spec did not say how many are kept.
static Error campaign_note_cut(const Campaign *campaign, RecordKind kind, const Recorded *recorded)
{
    const Spec *spec = campaign->loop.spec;
    const bool bounded = kind != RECORD_DEBUG || spec->configured.debug_rows > 0 || spec->record.debug.keep > 0;
    char text[320];
    if (bounded || recorded->cut == 0) return error_none();
    snprintf(text, sizeof text,
             "%s of %s replicate%s are not complete: the last %s are kept, and one has %s; record.debug.%s.keep keeps "
             "another number",
             recording_are(spec, kind), text_count(recorded->cut).text, recorded->cut == 1 ? "" : "s",
             text_count(recording_of(spec, kind).capacity).text, text_count(recorded->most).text,
             model_debug_name(spec->model));
    if (campaign->messages != NULL) fprintf(campaign->messages, "warning: %s\n", text);
    return store_event(campaign->store, "recorded", "%s", text);
}

static Error campaign_record_kind(Campaign *campaign, RecordKind kind)
{
    Recorded recorded;
    TRY(record_missing(&campaign->loop, kind, &recorded));
    if (recorded.trials == 0) return error_none();
    TRY(store_event(campaign->store, "recorded", "%s of %lld trials, simulated again",
                    recording_are(campaign->loop.spec, kind), (long long)recorded.trials));
    return campaign_note_cut(campaign, kind, &recorded);
}

static Error campaign_record(Campaign *campaign)
{
    Loop *loop = &campaign->loop;
    Error error = campaign_record_kind(campaign, RECORD_TRAJECTORIES);
    if (error.kind == OK) error = campaign_record_kind(campaign, RECORD_DEBUG);
    if (error.kind != ERROR_INTERRUPTED) return error;
    if (interrupt_requested() == 0) {
        loop_note_time(loop, " before all arrays were recorded");
        return error_none();
    }
    loop->state = "interrupted";
    snprintf(loop->reason, sizeof loop->reason, "%s while recording arrays", interrupt_words());
    return error_none();
}

static bool campaign_goes_on(const Campaign *campaign) { return strcmp(campaign->loop.state, "interrupted") != 0; }

// Of rows: in the order of best, so that best finds its trials at once.
static Error campaign_index(Campaign *campaign)
{
    if (!campaign_goes_on(campaign) || campaign->store->blocks != NULL) return error_none();
    loop_report(&campaign->loop, "indexing");
    return store_index_fitness(campaign->store, campaign->arena);
}

static Error campaign_end(Campaign *campaign)
{
    Loop *loop = &campaign->loop;
    const char *stop = campaign->search.method->stopped(&campaign->search);
    TRY(kept_settle(campaign->store));
    const double start = clock_seconds();
    TRY(campaign_index(campaign));
    const double indexed = clock_seconds();
    TRY(trial_blocks_show_to_run(campaign->store->database));
    if (campaign_goes_on(campaign)) TRY(campaign_record(campaign));
    if (campaign_goes_on(campaign)) TRY(rounds_record(campaign->store, &campaign->search));
    if (strcmp(loop->state, "done") == 0 && campaign->spec->part.count == 0)
        TRY(sensitivity_record(campaign->store, &campaign->search));
    campaign->index_seconds = indexed - start;
    campaign->record_seconds = clock_seconds() - indexed;
    loop->numbers.doing = loop->state;
    const bool reason = loop->reason[0] != '\0';
    return store_set_state(campaign->store, &(StoreState){.state = loop->state,
                                                          .reason = reason ? loop->reason : NULL,
                                                          .stop_reason = stop,
                                                          .event = loop->state,
                                                          .text = arena_format(campaign->arena, "%lld trials%s%s",
                                                                               (long long)loop->numbers.trials_done,
                                                                               reason ? "; " : "", loop->reason),
                                                          .trials_total = loop->numbers.trials_total,
                                                          .trials_most = loop->numbers.trials_most});
}

// ---- the run --------------------------------------------------------------------------------------------------------

// Runs the requested retries. After an interruption the loop sees it too, and reports it.
static Error campaign_retry(Campaign *campaign)
{
    Loop *loop = &campaign->loop;
    char text[256];
    bool pending = false;
    TRY(retries_pending(campaign->store->database, &pending));
    if (!pending) return error_none();
    loop_report(loop, "retrying");
    const Error error = retry_pending(loop, text, sizeof text);
    loop->started = 0; // the loop reads the stored counts again
    if (error.kind != OK && error.kind != ERROR_INTERRUPTED) return error;
    if (text[0] != '\0' && campaign->messages != NULL) fprintf(campaign->messages, "%s\n", text);
    return store_counts(campaign->store, &loop->before); // failures and the best may have changed
}

// Trials whose rows were replaced: the best of the rows that are stored.
static Error campaign_count_again(Campaign *campaign)
{
    Loop *loop = &campaign->loop;
    StoreCounts counts;
    TRY(store_counts(campaign->store, &counts));
    loop->before.best_fitness = loop->numbers.best = counts.best_fitness;
    loop->before.best_trial = loop->numbers.best_trial = counts.best_trial;
    loop->before.failures = counts.failures - loop->counts.failures;
    loop->numbers.failures = counts.failures;
    loop->writer.counts.best_trial = -1;
    return error_none();
}

// After all trials: the best of them get more replicates.
static Error campaign_race(Campaign *campaign)
{
    Loop *loop = &campaign->loop;
    if (race_of_generations(campaign->store->spec)) return campaign_count_again(campaign);
    if (!race_of_all(campaign->store->spec) || strcmp(loop->state, "done") != 0) return error_none();
    const double started = clock_seconds();
    const Error error = race_run(loop, campaign->arena);
    if (error.kind != OK && error.kind != ERROR_INTERRUPTED) return error;
    TRY(store_note_wall(campaign->store, clock_seconds() - started)); // limits.wall_time is a total over all runs
    TRY(campaign_count_again(campaign));
    if (error.kind == OK) return error_none();
    if (interrupt_requested() == 0) {
        loop_note_time(loop, " before the race ended");
        return error_none();
    }
    loop->state = "interrupted";
    snprintf(loop->reason, sizeof loop->reason, "%s while the best trials raced", interrupt_words());
    return error_none();
}

static Error campaign_run_through(Campaign *campaign)
{
    TRY(campaign_retry(campaign));
    TRY(campaign_run_trials(campaign));
    TRY(campaign_race(campaign));
    TRY(campaign_report_kernel(campaign));
    TRY(campaign_report_gradients(campaign));
    campaign_close_adjoint(campaign, &(Error){.kind = OK}); // its memory is for what is recorded
    return campaign_end(campaign);
}

static Error campaign_note_start(const Campaign *campaign)
{
    const BackendInfo *device = backend_info(campaign->loop.backend);
    return store_set_state(
        campaign->store,
        &(StoreState){.state = "running",
                      .event = campaign->store->created ? "started" : "resumed",
                      .text = arena_format(campaign->arena, "%s %s, %s", device->name, device->device, device->version),
                      .trials_total = loop_total(&campaign->loop),
                      .trials_most = loop_most(&campaign->loop)});
}

static Error campaign_run_loop(Campaign *campaign)
{
    Loop *loop = &campaign->loop;
    const RunOptions *options = campaign->options;
    FILE *out = options->progress == PROGRESS_JSON ? options->out : campaign->messages;
    TRY(campaign_note_start(campaign));
    loop->progress = progress_start(out, out != NULL ? options->progress : PROGRESS_NONE, campaign->name);
    loop_set_time(loop);
    Error error = campaign_run_through(campaign);
    while (device_is_at_fault(error.kind)) {
        error = campaign_recover_device(campaign, error);
        if (error.kind == OK)
            error = campaign_run_through(campaign);
        else
            break;
    }
    progress_finish(loop->progress, &loop->numbers);
    return error;
}

// After an error of the machine: stores that state if that is still possible; all commits stay. A campaign that had
// ended before, and failed before it started again, keeps its state.
static void campaign_note_error(Campaign *campaign, const Error *error)
{
    if (strcmp(campaign->store->state, "running") != 0) return;
    const Error state = store_set_state(campaign->store, &(StoreState){.state = "interrupted", .reason = error->text});
    const Error event = store_event(campaign->store, "error", "%s", error->text);
    (void)state, (void)event;
    campaign->loop.state = "interrupted";
}

static ThreadTeam *campaign_team(const RunOptions *options)
{
    const int threads = options->backend.threads;
    return thread_team_open(threads > 0 ? threads : processors_allowed());
}

// A new campaign that is refused (no room on the disk, no such device, a program that can't be run) leaves no folder.
// One that a device's failure or a signal ended at its start can be continued.
static bool campaign_leaves_nothing(const Campaign *campaign, const Error *error)
{
    if (!campaign->unstarted || error->kind == OK) return false;
    return campaign->spec->model->runs_program ||
           (!device_is_at_fault(error->kind) && error->kind != ERROR_STUCK && error->kind != ERROR_INTERRUPTED);
}

static void campaign_report_idle(const Campaign *campaign, const StoreCounts *before)
{
    const Loop *loop = &campaign->loop;
    const int64_t left = loop->trials_expected > 0 ? loop->trials_expected - before->trials : 0; // 0: unknown
    const char *idle = plan_idle(campaign->spec, campaign->search.round_trials, left, loop->backend, campaign->arena);
    if (idle != NULL && campaign->messages != NULL) fprintf(campaign->messages, "remark: %s\n", idle);
}

static Error campaign_compute(Campaign *campaign, const StoreCounts *before)
{
    Loop *loop = &campaign->loop;
    int64_t most = 0;
    const int64_t expected = expected_trials(&campaign->search, before->trials, campaign->arena, &most);
    *loop = (Loop){.spec = campaign->spec,
                   .store = campaign->store,
                   .search = &campaign->search,
                   .before = *before,
                   .trials_expected = expected,
                   .trials_most = most,
                   .slice_requested = campaign->options->slice,
                   .team = campaign_team(campaign->options)};
    campaign_share_search(campaign);
    campaign->first_batch = campaign->store->next_batch;
    Error error = campaign_open_device(campaign);
    if (error.kind == OK) error = campaign_open_adjoint(campaign);
    if (error.kind == OK) {
        campaign->unstarted = false;
        campaign_report_start(campaign, before);
        campaign_report_idle(campaign, before);
        campaign->summary->trials_total = loop_total(loop);
        error = campaign_run_loop(campaign);
        campaign_summarize(campaign, &loop->before);
    }
    if (error.kind != OK && !campaign_leaves_nothing(campaign, &error)) campaign_note_error(campaign, &error);
    choice_end(&campaign->choice);
    campaign_close_adjoint(campaign, &error);
    if (!device_close(&campaign->device) && error.kind == OK)
        error = error_make(ERROR_STUCK, "a slice on %s does not end", campaign->summary->device);
    bounded_log_close(&campaign->workers);
    thread_team_close(loop->team);
    campaign->search.team = loop->team = NULL;
    arena_destroy(&campaign->search_arena);
    return error;
}

// Whether a finished campaign has all that the spec asks for: then no device is opened.
static Error campaign_is_complete(Campaign *campaign, const StoreCounts *before, bool *complete)
{
    bool missing = false;
    *complete = strcmp(campaign->store->state, "done") == 0;
    if (!*complete) return error_none();
    TRY(record_is_missing(campaign->spec, campaign->store, &missing));
    if (!missing) TRY(retries_pending(campaign->store->database, &missing));
    if (!missing) TRY(rounds_are_missing(campaign->store, &missing));
    *complete = !missing;
    if (!*complete) return error_none();
    *campaign->summary = (RunSummary){.trials_total = before->trials,
                                      .trials_done = before->trials,
                                      .trials_before = before->trials,
                                      .failures = before->failures,
                                      .best_fitness = before->best_fitness,
                                      .best_trial = before->best_trial,
                                      .state = "done",
                                      .reason = campaign->store->reason[0] != '\0' ? campaign->store->reason : NULL};
    if (campaign->messages != NULL) {
        fprintf(campaign->messages, "%s is done already: %s trials\n", campaign->name, text_count(before->trials).text);
    }
    return error_none();
}

static Error campaign_with_store(Campaign *campaign)
{
    StoreRecovery recovery;
    StoreCounts before;
    bool complete = false;
    TRY(store_recover(campaign->store, &recovery, campaign->messages));
    TRY(campaign_restore(campaign));
    TRY(rounds_renew(campaign->store, &campaign->search));
    TRY(store_counts(campaign->store, &before));
    if (campaign->options->retry != NULL)
        TRY(retry_request(campaign->store, campaign->options->retry, campaign->messages, campaign->arena));
    TRY(campaign_is_complete(campaign, &before, &complete));
    campaign->summary->trials_done = campaign->summary->trials_before = before.trials;
    if (complete) return error_none();
    TRY(space_check(campaign->spec, campaign->store, campaign->options, before.trials, campaign->arena));
    return campaign_compute(campaign, &before);
}

// With the lock held.
static Error campaign_locked(Campaign *campaign, const char *folder)
{
    TRY(store_open(folder, campaign->name, campaign->spec, campaign->options, campaign->arena, &campaign->store));
    campaign->first = race_rung(campaign->store->spec, 0); // with the segments of its extensions
    campaign->spec = race_of_all(campaign->store->spec) ? &campaign->first : campaign->store->spec;
    campaign->unstarted = campaign->store->created;
    Error error = campaign_with_store(campaign);
    if (error.kind == OK) error = database_check_path(campaign->store->database); // what was written since is there
    const Error closing = store_close(campaign->store);
    if (error.kind == OK) error = closing;
    if (campaign->loop.state != NULL && campaign->spec->part.count == 0) // machines that run parts share no database
        catalogue_note(campaign->options->results, campaign->options->shared_fs, campaign->name, campaign->arena);
    return error;
}

// Another program may rename the folder while the campaign runs: the run ends at its next commit.
static Error campaign_check_name(const Campaign *campaign, const char *folder, const Lock *lock, Error error)
{
    const char *path = arena_format(campaign->arena, "%s/" CAMPAIGN_LOCK, folder);
    if (error.kind != ERROR_MACHINE || lock_is_named(lock, path)) return error;
    return error_make(ERROR_MACHINE, "%.400s; if the folder was renamed, resume the campaign under its new name",
                      error.text);
}

// With the lock held. Its text names the process that `hopscotch stop` may stop.
static Error campaign_watched(Campaign *campaign, const char *folder, const Lock *lock)
{
    snprintf(campaign->stale, sizeof campaign->stale, "%s", lock->stale);
    TRY(interrupt_watch(arena_format(campaign->arena, "%s/" CAMPAIGN_STOP, folder), lock->holder));
    const Error error = campaign_check_name(campaign, folder, lock, campaign_locked(campaign, folder));
    const Error unwatched = interrupt_unwatch();
    return error.kind != OK ? error : unwatched;
}

// The first folder of the path that does not exist; NULL: all exist.
static const char *campaign_first_missing(const char *folder, Arena *arena)
{
    const char *missing = NULL;
    for (; file_missing(folder); folder = folder_of(folder, arena)) missing = folder;
    return missing;
}

// Cleans up if a campaign could not be created: removes what is in its folder, if that had no database when its lock
// was taken, then the folders that were created for it, from `first` on.
static void campaign_unmake(const Campaign *campaign, const char *folder, const char *first, bool created)
{
    if (created) (void)folder_remove(folder, campaign->arena);
    for (bool last = false; !last; folder = folder_of(folder, campaign->arena)) {
        folder_remove_empty(folder);
        last = strcmp(folder, first) == 0;
    }
}

static Error campaign_take(const Campaign *campaign, const char *folder, Lock *lock)
{
    const RunOptions *options = campaign->options;
    TRY(campaign_refuse_network(folder, options->shared_fs));
    if (!options->resume_only)
        return campaign_create_locked(folder, campaign->name, options->nested, campaign->arena, lock);
    if (file_missing(arena_format(campaign->arena, "%s/" CAMPAIGN_DATABASE, folder)))
        return error_make(ERROR_USER, "there is no campaign %.128s under %.150s to resume: start it with `%s run`",
                          campaign->name, options->results, command_program(campaign->arena));
    TRY(folder_check_inside(folder));
    return campaign_lock(folder, campaign->name, campaign->arena, lock);
}

// *created: the lock is held, and the folder had no database.
static Error campaign_begin(Campaign *campaign, const char *folder, Lock *lock, bool *created)
{
    TRY(campaign_take(campaign, folder, lock));
    *created = file_missing(arena_format(campaign->arena, "%s/%s", folder, CAMPAIGN_DATABASE));
    return campaign_watched(campaign, folder, lock);
}

// The error when no device could continue the run. Another device gives the same bits.
static Error campaign_device_error(const Campaign *campaign, const Error *error)
{
    return error_make(error->kind, "%.350s. %s trials are committed; continue with `%s`, on any device", error->text,
                      text_count(campaign->summary->trials_done).text, campaign_how_to_resume(campaign).text);
}

Error campaign_run(const Spec *spec, const RunOptions *options, Arena *arena, RunSummary *summary)
{
    Campaign campaign = {.spec = spec,
                         .options = options,
                         .arena = arena,
                         .summary = summary,
                         .name = options->name != NULL ? options->name : spec->experiment,
                         .messages = options->messages,
                         .program_folder = spec->folder,
                         .workers = {.descriptor = -1},
                         .started = clock_seconds()};
    BackendOptions program = options->backend; // a program that may not run leaves no trace
    const char *folder = NULL;
    Lock lock = {.descriptor = -1};
    *summary = (RunSummary){.best_fitness = (double)NAN, .best_trial = -1};
    TRY(spec_check_run(spec));
    if (spec->folder == NULL && program.program.folder == NULL && program.program.allowed)
        program.program.folder = "."; // campaign_program finds it
    TRY(program_options(spec, arena, &program));
    TRY(campaign_folder(options->results, campaign.name, arena, &folder));
    const char *first = campaign_first_missing(folder, arena);
    bool created = false;
    const Error error = campaign_begin(&campaign, folder, &lock, &created);
    if ((campaign.store == NULL || campaign_leaves_nothing(&campaign, &error)) && first != NULL)
        campaign_unmake(&campaign, folder, first, created);
    lock_release(&lock);
    snprintf(summary->folder, sizeof summary->folder, "%s", folder);
    if (device_is_at_fault(error.kind) || error.kind == ERROR_STUCK) return campaign_device_error(&campaign, &error);
    if (error.kind != OK || summary->state == NULL || strcmp(summary->state, "interrupted") != 0) return error;
    return error_make(ERROR_INTERRUPTED, "%s: %s trials are committed; continue with `%s`", summary->reason,
                      text_count(summary->trials_done).text, campaign_how_to_resume(&campaign).text);
}
