// The writer thread: a ring of commits with one producer (the loop) and one consumer. While the device computes batch
// k+1 the writer writes batch k. At most two batches wait in memory, even with a slow disk.
#include "writer.h"

#include <math.h>
#include <signal.h>
#include <string.h>
#include <time.h>

static WriterCounts writer_find_best(WriterCounts counts, const Spec *spec, const TrialRows *rows)
{
    const bool violates = rows_constraints(spec) > 0; // the first of those columns is the violation
    for (int64_t i = 0; i < rows->count; i++) {
        if (violates && rows->constraint[i] > 0.0) continue;
        if (isnan(rows->fitness[i])) continue;
        if (counts.best_trial >= 0 && !spec_better(spec, 0, rows->fitness[i], counts.best_fitness)) continue;
        counts.best_fitness = rows->fitness[i];
        counts.best_trial = rows->id[i];
    }
    return counts;
}

static WriterCounts writer_add(WriterCounts counts, const Commit *commit, double seconds)
{
    counts.trials += rows_new(&commit->rows);
    counts.failures += commit->failures;
    counts.lanes += commit->lanes_run;
    counts.write_seconds += seconds;
    counts.last_commit = clock_seconds();
    return counts;
}

// The next commit; NULL: all are done and no more will come. After an error commits are skipped.
static Commit *writer_next(Writer *writer)
{
    pthread_mutex_lock(&writer->mutex);
    while (writer->done == writer->put && !writer->closing) pthread_cond_wait(&writer->put_signal, &writer->mutex);
    Commit *commit = writer->done < writer->put ? &writer->commits[writer->done % WRITER_COMMITS] : NULL;
    if (writer->error.kind != OK) commit = NULL;
    pthread_mutex_unlock(&writer->mutex);
    return commit;
}

static void writer_finished(Writer *writer, WriterCounts counts, Error error)
{
    pthread_mutex_lock(&writer->mutex);
    if (error.kind != OK)
        writer->error = error;
    else
        writer->counts = counts;
    writer->done++;
    pthread_cond_signal(&writer->done_signal);
    pthread_mutex_unlock(&writer->mutex);
}

static void *writer_run(void *argument)
{
    Writer *writer = argument;
    for (const Commit *commit = writer_next(writer); commit != NULL; commit = writer_next(writer)) {
        double seconds = 0;
        // before the commit, which may overwrite rows; only this thread changes the counts
        const WriterCounts counts = writer_find_best(writer->counts, writer->store->spec, &commit->rows);
        const Error error = store_commit(writer->store, commit, &seconds);
        writer_finished(writer, writer_add(counts, commit, seconds), error);
    }
    return NULL;
}

Error writer_start(Writer *writer, Store *store)
{
    sigset_t all, before;
    writer->store = store;
    writer->put = writer->done = 0;
    writer->closing = false;
    pthread_mutex_init(&writer->mutex, NULL);
    pthread_cond_init(&writer->put_signal, NULL);
    pthread_cond_init(&writer->done_signal, NULL);
    sigfillset(&all); // signals belong to the loop
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int failed = thread_start(&writer->thread, writer_run, writer);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failed == 0 ? error_none()
                       : error_make(ERROR_MACHINE, "cannot start the writer thread: %s", strerror(failed));
}

Error writer_take(Writer *writer, Commit **commit)
{
    pthread_mutex_lock(&writer->mutex);
    while (writer->put - writer->done == WRITER_COMMITS && writer->error.kind == OK) {
        pthread_cond_wait(&writer->done_signal, &writer->mutex);
    }
    const Error error = writer->error;
    *commit = &writer->commits[writer->put % WRITER_COMMITS];
    pthread_mutex_unlock(&writer->mutex);
    return error;
}

void writer_put(Writer *writer)
{
    pthread_mutex_lock(&writer->mutex);
    writer->put++;
    pthread_cond_signal(&writer->put_signal);
    pthread_mutex_unlock(&writer->mutex);
}

WriterCounts writer_counts(Writer *writer)
{
    pthread_mutex_lock(&writer->mutex);
    const WriterCounts counts = writer->counts;
    pthread_mutex_unlock(&writer->mutex);
    return counts;
}

bool writer_drained(Writer *writer, double seconds)
{
    struct timespec until;
    int late = 0;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += (long)(1e9 * seconds);
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_mutex_lock(&writer->mutex);
    while (writer->done < writer->put && writer->error.kind == OK && late == 0)
        late = pthread_cond_timedwait(&writer->done_signal, &writer->mutex, &until);
    const bool drained = writer->done == writer->put || writer->error.kind != OK;
    pthread_mutex_unlock(&writer->mutex);
    return drained;
}

Error writer_finish(Writer *writer)
{
    pthread_mutex_lock(&writer->mutex);
    writer->closing = true;
    pthread_cond_signal(&writer->put_signal);
    pthread_mutex_unlock(&writer->mutex);
    pthread_join(writer->thread, NULL);
    pthread_cond_destroy(&writer->done_signal);
    pthread_cond_destroy(&writer->put_signal);
    pthread_mutex_destroy(&writer->mutex);
    return writer->error;
}
