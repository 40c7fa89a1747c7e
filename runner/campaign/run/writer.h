// The writer thread: commits batches while the loop goes on (writer.c).
#ifndef HOPSCOTCH_WRITER_H
#define HOPSCOTCH_WRITER_H

#include "../batch/batch_size.h"
#include "../store/commit/commit.h"

#include <pthread.h>

typedef struct WriterCounts {
    int64_t trials, failures, lanes; // committed by this process
    double best_fitness;             // NaN: none
    int64_t best_trial;
    double last_commit, write_seconds;
} WriterCounts;

// One thread that commits in the order of writer_put, from a queue of bounded length.
typedef struct Writer {
    Store *store;
    pthread_t thread;
    pthread_mutex_t mutex; // guards all below
    pthread_cond_t put_signal, done_signal;
    Commit commits[WRITER_COMMITS];
    int64_t put, done; // commits handed over, commits finished
    bool closing;
    Error error; // the first one; nothing is committed after it
    WriterCounts counts;
} Writer;

// The caller has taken the commits' buffers.
Error writer_start(Writer *writer, Store *store);
// *commit <- a commit to fill; waits until one is free. Error: an earlier commit failed.
Error writer_take(Writer *writer, Commit **commit);
void writer_put(Writer *writer); // queues the commit that was taken last
WriterCounts writer_counts(Writer *writer);
// Waits until all commits are written or an error came, at most `seconds`. True: one of both is the case.
bool writer_drained(Writer *writer, double seconds);
Error writer_finish(Writer *writer); // commits the rest, ends the thread, gives its error

#endif
