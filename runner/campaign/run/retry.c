// run --retry: simulates failed trials again, as in a first run, and replaces their rows by the results. That helps if
// a machine was at fault, or a bug that a newer program no longer has. A request is a row of the table `retries`. Its
// progress is stored in the transaction that replaces the rows, so that the next run continues a request that was
// killed, before anything else.
#include "retry.h"

#include "../store/commit/retries.h"
#include "../store/queries.h"
#include "../store/trials/trial_blocks.h"

#include <math.h>
#include <string.h>

static const char retry_all[] = "failed";

// ---- which trials ---------------------------------------------------------------------------------------------------

static Error retry_unknown(const Spec *spec, const char *kind, Arena *arena)
{
    const char **names = ARENA_NEW(arena, const char *, spec->configured.n_failures + 1);
    const char *list = retry_all;
    names[0] = retry_all;
    for (int i = 1; i < spec->configured.n_failures; i++) {
        names[i] = spec->configured.failures[i];
        list = arena_format(arena, "%s, %s", list, names[i]);
    }
    const char *near = nearest_name(kind, names, spec->configured.n_failures);
    if (near != NULL)
        return error_make(ERROR_USER, "--retry: no trial of %s fails as '%.40s'; did you mean '%s'?", spec->model->name,
                          kind, near);
    return error_make(ERROR_USER, "--retry: no trial of %s fails as '%.40s'; there are: %.300s", spec->model->name,
                      kind, list);
}

// Reads "fell,solver" into the model's names.
static Error retry_kinds(const Spec *spec, const char *text, Arena *arena, FailureKinds *kinds)
{
    char *rest = arena_copy(arena, text);
    *kinds = (FailureKinds){.names = ARENA_NEW(arena, const char *, strlen(text) + 1)};
    if (strcmp(text, retry_all) == 0) return error_none();
    for (char *kind; (kind = strsep(&rest, ",")) != NULL;) {
        int code = spec->configured.n_failures - 1;
        while (code > 0 && strcmp(spec->configured.failures[code], kind) != 0) code--;
        if (code == 0) return retry_unknown(spec, kind, arena);
        kinds->names[kinds->count++] = spec->configured.failures[code];
    }
    return error_none();
}

// ---- the request ----------------------------------------------------------------------------------------------------

Error retry_request(Store *store, const char *text, FILE *messages, Arena *arena)
{
    bool pending = false;
    int64_t trials = 0;
    FailureKinds kinds;
    TRY(retry_kinds(store->spec, text, arena, &kinds));
    if (search_learns(store->spec->method))
        return error_make(ERROR_USER,
                          "--retry: method %s learned from the trials of %s, so none of them can change; start another "
                          "campaign with --name",
                          store->spec->method->name, store->name);
    if (spec_compares(store->spec) != NULL)
        return error_make(ERROR_USER,
                          "--retry: trials of %s are compared (%s): its best trials were chosen by the results that a "
                          "retry would replace; run the spec under a new name with --name",
                          store->name, spec_compares(store->spec));
    TRY(kept_refuse(store->database, store->name, "a retry would not change its sums", arena));
    TRY(retries_pending(store->database, &pending));
    if (pending) return error_none(); // that request continues
    TRY(trials_failed_count(store->database, &kinds, arena, &trials));
    if (trials > 0) return retry_add(store->database, text);
    if (messages != NULL) fprintf(messages, "%s: no trial to retry (%s)\n", store->name, text);
    return error_none();
}

// ---- a batch --------------------------------------------------------------------------------------------------------

typedef struct RetryPass {
    const Spec *spec;
    Store *store;
    const Search *search;
    Backend *backend;
    ThreadTeam *team;
    Cursor rows; // of the trials that failed
    Retry retry;
    int64_t slice;
    ProgressNumbers numbers;
    Watch watch;
    Flight flight;
    TrialRows stored, changed;
    int64_t *which; // rows that changed
    Commit again;
} RetryPass;

static Error retry_fill(RetryPass *pass)
{
    Trials *trials = &pass->flight.trials;
    trials->count = 0;
    trial_rows_between(&pass->rows, pass->retry.next, pass->retry.end, trials->capacity);
    while (trial_rows_next(&pass->rows, pass->spec, &pass->stored, trials->count)) {
        const int64_t t = trials->count++;
        trials->id[t] = pass->stored.id[t];
        trials->search[t] = (int32_t)pass->stored.search[t];
        trials->round[t] = (int32_t)pass->stored.round[t];
        TRY(search_stored_trial(pass->search, pass->store->database, &pass->stored, t, &trials->ordinal[t],
                                &trials->parameter[t * pass->spec->configured.n_parameters]));
    }
    if (trials->count > 0) pass->retry.next = trials->id[trials->count - 1] + 1;
    return pass->rows.error;
}

static Error retry_store(RetryPass *pass)
{
    char difference[256];
    int64_t recovered = 0, changed = 0;
    for (int64_t t = 0; t < pass->flight.trials.count; t++) {
        if (!rows_differ(pass->spec, &pass->stored, t, &pass->again.rows, t, difference, sizeof difference)) continue;
        TRY(trial_forget(pass->store, pass->again.rows.id[t],
                         (pass->again.rows.failure[t] != 0) - (pass->stored.failure[t] != 0)));
        recovered += pass->again.rows.failure[t] == 0;
        pass->which[changed++] = t;
    }
    TRY(store_replace_rows(pass->store, &pass->again.rows, pass->which, changed, &pass->changed));
    return retry_note(pass->store->database, &pass->retry, pass->flight.trials.count, recovered, changed);
}

static Error retry_batch(RetryPass *pass)
{
    Batch *batch = backend_batch(pass->backend, 0);
    flight_fill(pass->spec, &pass->flight, batch);
    TRY(flight_run(pass->spec, pass->backend, &pass->flight, pass->slice, &pass->watch));
    flight_collect(pass->spec, &pass->flight, batch, &pass->again);
    TRY(store_begin(pass->store));
    return store_end(pass->store, retry_store(pass));
}

// ---- a request ------------------------------------------------------------------------------------------------------

static Error retry_all_batches(RetryPass *pass, Arena *arena)
{
    FailureKinds kinds;
    TRY(retry_kinds(pass->spec, pass->retry.kinds, arena, &kinds));
    pass->rows = trial_rows_failed(pass->store->database, pass->spec, &kinds, arena);
    Error error = retry_fill(pass);
    while (error.kind == OK && pass->flight.trials.count > 0) {
        error = retry_batch(pass);
        if (error.kind == OK) error = retry_fill(pass);
    }
    (void)cursor_close(&pass->rows); // its error was taken
    return error;
}

static Error retry_one(RetryPass *pass, int64_t trials_max, Arena *arena, char *text, size_t size)
{
    flight_take(pass->spec, trials_max, pass->team, arena, &pass->flight);
    rows_take(pass->spec, trials_max, arena, &pass->stored);
    rows_take(pass->spec, trials_max, arena, &pass->changed);
    pass->which = ARENA_NEW(arena, int64_t, trials_max);
    commit_take(pass->spec, trials_max, 0, 0, 0, arena, &pass->again);
    TRY(retry_all_batches(pass, arena));
    TRY(retry_finish(pass->store->database, &pass->retry));
    if (trial_blocks_exist(pass->store->database)) TRY(trial_blocks_clear(pass->store->database));
    snprintf(text, size, "retried %s trials (%s): %s failed again, %s did not; %s rows changed",
             text_count(pass->retry.trials).text, pass->retry.kinds,
             text_count(pass->retry.trials - pass->retry.recovered).text, text_count(pass->retry.recovered).text,
             text_count(pass->retry.changed).text);
    return store_event(pass->store, "retried", "%s", text);
}

Error retry_pending(const Loop *loop, char *text, size_t size)
{
    const Spec *spec = loop->spec;
    RetryPass pass = {.spec = spec,
                      .store = loop->store,
                      .search = loop->search,
                      .backend = loop->backend,
                      .team = loop->team,
                      .slice = loop->slice_requested,
                      .numbers = loop->numbers};
    bool found = false;
    Arena arena;
    text[0] = '\0';
    const double until = loop->record_until < (double)INFINITY ? loop->until : (double)INFINITY;
    pass.watch = (Watch){.progress = loop->progress, .numbers = &pass.numbers, .until = until};
    const size_t trial = (size_t)(flight_bytes(spec) + 3 * rows_bytes(spec)) + sizeof *pass.which;
    TRY(arena_create(
        &arena, (size_t)loop->batch_trials * trial + (size_t)flight_scratch_bytes(spec, loop->team) + ((size_t)8 << 20),
        "trials that are retried"));
    Error error = retry_read(loop->store->database, &arena, &pass.retry, &found);
    if (error.kind == OK && found) error = retry_one(&pass, loop->batch_trials, &arena, text, size);
    arena_destroy(&arena);
    return error;
}
