// Requests to run failed trials again; the table `retries` has one row per request (retries.c).
#ifndef HOPSCOTCH_RETRIES_H
#define HOPSCOTCH_RETRIES_H

#include "../queries.h"

// Kinds of failures, by the model's names; count 0: all.
typedef struct FailureKinds {
    const char **names; // [count]
    int count;
} FailureKinds;
Error trials_failed_count(Database *database, const FailureKinds *kinds, Arena *arena, int64_t *count);
// Rows of failed trials, block by block: trial_rows_between(a, b, n) selects the first n with a <= id < b.
Cursor trial_rows_failed(Database *database, const Spec *spec, const FailureKinds *kinds, Arena *arena);
void trial_rows_between(Cursor *trials, int64_t first, int64_t end, int64_t most);

// A request and its progress: trials with ids < next were run again.
typedef struct Retry {
    int64_t id, next, end, trials, recovered, changed; // trials that were run, no longer fail, have another row now
    const char *kinds;                                 // as the user gave them
} Retry;
Error retries_pending(Database *database, bool *pending);
Error retry_add(Database *database, const char *kinds);
Error retry_read(Database *database, Arena *arena, Retry *retry, bool *found); // the first that is pending
// Adds to the counts, and stores retry->next. Within the transaction that replaces the rows.
Error retry_note(Database *database, const Retry *retry, int64_t trials, int64_t recovered, int64_t changed);
Error retry_finish(Database *database, Retry *retry); // and reads its sums
// Before a trial's row is replaced: deletes its arrays and replicates. Arrays are recorded again if they are still
// wanted. failures: how many more failures its batch has now.
Error trial_forget(Store *store, int64_t id, int64_t failures);
Error trial_count_failure(Store *store, int64_t id, int64_t failures); // that alone

#endif
