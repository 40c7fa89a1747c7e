// run --retry: simulates failed trials again, in the batches and with the bits of a first time, and puts what comes out
// in the place of what was stored. That helps where a machine was at fault, or a bug that a newer program has not.
// A request is a row of the table `retries`: where it has come to is set in the transaction that replaces the rows, so
// that one that was killed goes on where it stopped, before anything else of the next run.
#include "retry.h"

#include "../store/stored_trial.h"

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

// "fell,solver" as a condition on a row. The names are the model's own.
static Error retry_condition(const Spec *spec, const char *kinds, Arena *arena, const char **sql)
{
    char *rest = arena_copy(arena, kinds);
    const char *list = "";
    *sql = "failure <> 'none'";
    if (strcmp(kinds, retry_all) == 0) return error_none();
    for (char *kind; (kind = strsep(&rest, ",")) != NULL;) {
        int code = spec->configured.n_failures - 1;
        while (code > 0 && strcmp(spec->configured.failures[code], kind) != 0) code--;
        if (code == 0) return retry_unknown(spec, kind, arena);
        list = arena_format(arena, "%s%s'%s'", list, list[0] != '\0' ? ", " : "", kind);
    }
    *sql = arena_format(arena, "failure IN (%s)", list);
    return error_none();
}

// ---- the request ----------------------------------------------------------------------------------------------------

Error retry_is_pending(Store *store, bool *pending)
{
    int64_t rows = 0;
    TRY(store_integer(store->database, "SELECT count(*) FROM retries WHERE finished IS NULL", 0, &rows));
    *pending = rows > 0;
    return error_none();
}

Error retry_request(Store *store, const char *kinds, FILE *messages, Arena *arena)
{
    Statement *statement = NULL;
    bool row = false, pending = false;
    int64_t trials = 0;
    const char *condition = NULL;
    TRY(retry_condition(store->spec, kinds, arena, &condition));
    if (search_learns(store->spec->method))
        return error_make(ERROR_USER,
                          "--retry: method %s learned from the trials of %s, so none of them can change; start another "
                          "campaign with --name",
                          store->spec->method->name, store->name);
    TRY(retry_is_pending(store, &pending));
    if (pending) return error_none(); // it goes on
    TRY(store_integer(store->database, arena_format(arena, "SELECT count(*) FROM trials WHERE %s", condition), 0,
                      &trials));
    if (trials == 0) {
        if (messages != NULL) fprintf(messages, "%s: no trial to retry (%s)\n", store->name, kinds);
        return error_none();
    }
    TRY(database_prepare(store->database,
                         "INSERT INTO retries(kinds, next, end, trials, recovered, changed, time) "
                         "SELECT ?, 0, max(id) + 1, 0, 0, 0, ? FROM trials",
                         &statement));
    bind_text(statement, 1, kinds);
    bind_text(statement, 2, clock_utc().text);
    const Error error = statement_step(statement, &row);
    statement_close(statement);
    return error;
}

// ---- a batch --------------------------------------------------------------------------------------------------------

typedef struct RetryPass {
    const Spec *spec;
    Store *store;
    const Search *search;
    Backend *backend;
    Statement *select;
    int64_t request, next, end, slice;
    ProgressNumbers numbers;
    Watch watch;
    const char *kinds;
    Flight flight;
    TrialRows stored;
    Commit again;
} RetryPass;

static Error retry_fill(RetryPass *pass)
{
    Trials *trials = &pass->flight.trials;
    bool row = true;
    trials->count = 0;
    bind_integer(pass->select, 1, pass->next);
    bind_integer(pass->select, 2, pass->end);
    bind_integer(pass->select, 3, trials->capacity);
    TRY(statement_step(pass->select, &row));
    for (; row; trials->count++) {
        const int64_t t = trials->count;
        rows_read(pass->spec, pass->select, &pass->stored, t);
        trials->id[t] = pass->stored.id[t];
        trials->search[t] = pass->stored.search[t];
        trials->round[t] = pass->stored.round[t];
        TRY(search_stored_trial(pass->search, pass->store->database, &pass->stored, t, &trials->ordinal[t],
                                &trials->parameter[t * pass->spec->configured.n_parameters]));
        TRY(statement_step(pass->select, &row));
    }
    if (trials->count > 0) pass->next = trials->id[trials->count - 1] + 1;
    return error_none();
}

static Error retry_run_sql(Store *store, const char *sql, int64_t a, int64_t b)
{
    Statement *statement = NULL;
    bool row = false;
    TRY(database_prepare(store->database, sql, &statement));
    bind_integer(statement, 1, a);
    if (strchr(sql, '?') != strrchr(sql, '?')) bind_integer(statement, 2, b);
    const Error error = statement_step(statement, &row);
    statement_close(statement);
    return error;
}

// Its arrays go with the row that they belonged to, and are recorded anew if they are still wanted.
static Error retry_replace(RetryPass *pass, int64_t t)
{
    const TrialRows *rows = &pass->again.rows;
    const int64_t id = rows->id[t], failures = (rows->failure[t] != 0) - (pass->stored.failure[t] != 0);
    Store *store = pass->store;
    TRY(retry_run_sql(store, "DELETE FROM trajectories WHERE trial = ?", id, 0));
    TRY(retry_run_sql(store, "DELETE FROM debug_rows WHERE trial = ?", id, 0));
    if (store->insert_replicate != NULL) TRY(retry_run_sql(store, "DELETE FROM replicates WHERE trial = ?", id, 0));
    TRY(retry_run_sql(store, "DELETE FROM trials WHERE id = ?", id, 0));
    TRY(store_insert_row(store, rows, t));
    return retry_run_sql(store,
                         "UPDATE batches SET failures = failures + ?1 WHERE first_trial <= ?2 AND last_trial >= ?2",
                         failures, id);
}

static Error retry_note(RetryPass *pass, int64_t recovered, int64_t changed)
{
    Statement *statement = NULL;
    bool row = false;
    TRY(database_prepare(pass->store->database,
                         "UPDATE retries SET next = ?, trials = trials + ?, recovered = recovered + ?, "
                         "changed = changed + ? WHERE id = ?",
                         &statement));
    bind_integer(statement, 1, pass->next);
    bind_integer(statement, 2, pass->flight.trials.count);
    bind_integer(statement, 3, recovered);
    bind_integer(statement, 4, changed);
    bind_integer(statement, 5, pass->request);
    const Error error = statement_step(statement, &row);
    statement_close(statement);
    return error;
}

static Error retry_store(RetryPass *pass)
{
    char difference[256];
    int64_t recovered = 0, changed = 0;
    for (int64_t t = 0; t < pass->flight.trials.count; t++) {
        if (!rows_differ(pass->spec, &pass->stored, t, &pass->again.rows, t, difference, sizeof difference)) continue;
        TRY(retry_replace(pass, t));
        recovered += pass->again.rows.failure[t] == 0;
        changed++;
    }
    return retry_note(pass, recovered, changed);
}

static Error retry_batch(RetryPass *pass)
{
    Batch *batch = backend_batch(pass->backend, 0);
    flight_fill(pass->spec, &pass->flight, batch);
    TRY(flight_run(pass->spec, pass->backend, &pass->flight, pass->slice, &pass->watch));
    flight_collect(pass->spec, &pass->flight, batch, &pass->again);
    TRY(database_run(pass->store->database, "BEGIN IMMEDIATE"));
    return store_end(pass->store, retry_store(pass));
}

// ---- a request ------------------------------------------------------------------------------------------------------

static Error retry_all_batches(RetryPass *pass, Arena *arena)
{
    const char *condition = NULL;
    TRY(retry_condition(pass->spec, pass->kinds, arena, &condition));
    const char *tail = arena_format(arena, "WHERE id >= ? AND id < ? AND %s ORDER BY id LIMIT ?", condition);
    TRY(database_prepare(pass->store->database, rows_select_sql(pass->spec, arena, tail), &pass->select));
    Error error = retry_fill(pass);
    while (error.kind == OK && pass->flight.trials.count > 0) {
        error = retry_batch(pass);
        if (error.kind == OK) error = retry_fill(pass);
    }
    statement_close(pass->select);
    return error;
}

static Error retry_read(RetryPass *pass, Arena *arena, bool *found)
{
    Statement *statement = NULL;
    TRY(database_prepare(pass->store->database,
                         "SELECT id, kinds, next, end FROM retries WHERE finished IS NULL ORDER BY id", &statement));
    const Error error = statement_step(statement, found);
    if (*found) {
        pass->request = column_integer(statement, 0);
        pass->kinds = arena_copy(arena, column_text(statement, 1));
        pass->next = column_integer(statement, 2);
        pass->end = column_integer(statement, 3);
    }
    statement_close(statement);
    return error;
}

static Error retry_finish(RetryPass *pass, char *text, size_t size)
{
    Statement *statement = NULL;
    bool row = false;
    TRY(retry_run_sql(pass->store, "UPDATE retries SET finished = strftime('%Y-%m-%dT%H:%M:%SZ', 'now') WHERE id = ?",
                      pass->request, 0));
    TRY(database_prepare(pass->store->database, "SELECT trials, recovered, changed FROM retries WHERE id = ?",
                         &statement));
    bind_integer(statement, 1, pass->request);
    const Error error = statement_step(statement, &row);
    if (row) {
        const int64_t trials = column_integer(statement, 0), recovered = column_integer(statement, 1);
        snprintf(text, size, "retried %s trials (%s): %s failed again, %s did not; %s rows changed",
                 text_count(trials).text, pass->kinds, text_count(trials - recovered).text, text_count(recovered).text,
                 text_count(column_integer(statement, 2)).text);
    }
    statement_close(statement);
    return error;
}

static Error retry_one(RetryPass *pass, int64_t trials_max, Arena *arena, char *text, size_t size)
{
    flight_take(pass->spec, trials_max, arena, &pass->flight);
    rows_take(pass->spec, trials_max, arena, &pass->stored);
    commit_take(pass->spec, trials_max, 0, 0, 0, arena, &pass->again);
    TRY(retry_all_batches(pass, arena));
    TRY(retry_finish(pass, text, size));
    return store_event(pass->store, "retried", "%s", text);
}

Error retry_pending(const Loop *loop, char *text, size_t size)
{
    const Spec *spec = loop->spec;
    RetryPass pass = {.spec = spec,
                      .store = loop->store,
                      .search = loop->search,
                      .backend = loop->backend,
                      .slice = loop->slice_requested,
                      .numbers = loop->numbers};
    bool found = false;
    Arena arena;
    text[0] = '\0';
    const double until = loop->record_until < (double)INFINITY ? loop->until : (double)INFINITY;
    pass.watch = (Watch){.progress = loop->progress, .numbers = &pass.numbers, .until = until};
    const size_t trial = (size_t)(flight_bytes(spec) + 2 * rows_bytes(spec));
    TRY(arena_create(&arena,
                     (size_t)loop->batch_trials * trial + (size_t)flight_scratch_bytes(spec) + ((size_t)8 << 20),
                     "trials that are retried"));
    Error error = retry_read(&pass, &arena, &found);
    if (error.kind == OK && found) error = retry_one(&pass, loop->batch_trials, &arena, text, size);
    arena_destroy(&arena);
    return error;
}
