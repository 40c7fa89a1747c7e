// Requests to run failed trials again, a row of the table `retries` each (retries.c).
#ifndef HOPSCOTCH_RETRIES_H
#define HOPSCOTCH_RETRIES_H

#include "store.h"
#include "queries.h"

// Kinds of failures, by the names that the model has for them; count 0: all.
typedef struct FailureKinds {
    const char **names; // [count]
    int count;
} FailureKinds;
Error trials_failed_count(Database *database, const FailureKinds *kinds, Arena *arena, int64_t *count);
// Rows of those that failed, block by block: after trial_rows_between(a, b, n) the first n of a <= id < b.
Cursor trial_rows_failed(Database *database, const Spec *spec, const FailureKinds *kinds, Arena *arena);
void trial_rows_between(Cursor *trials, int64_t first, int64_t end, int64_t most);

// What is asked for, and how far it has come: trials below `next` were run again.
typedef struct Retry {
    int64_t id, next, end, trials, recovered, changed; // trials: that were run, did not fail again, changed their row
    const char *kinds;                                 // as the user gave them
} Retry;
Error retries_pending(Database *database, bool *pending);
Error retry_add(Database *database, const char *kinds);
Error retry_read(Database *database, Arena *arena, Retry *retry, bool *found); // the first that is pending
// Within the transaction that replaces the rows: so many more, up to retry->next.
Error retry_note(Database *database, const Retry *retry, int64_t trials, int64_t recovered, int64_t changed);
Error retry_finish(Database *database, Retry *retry); // and reads its sums
// Another row in the place of a trial's, whose arrays go: they are recorded anew if they are still wanted. failures: by
// how many its batch has more now.
Error trial_replace(Store *store, const TrialRows *rows, int64_t row, int64_t failures);

#endif
