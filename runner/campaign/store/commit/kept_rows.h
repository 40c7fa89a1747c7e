// Campaigns that keep rows of some of their trials (`record.rows`): which trials keep one (kept_rows.c), and the sums
// over all trials (summary.h).
#ifndef HOPSCOTCH_KEPT_ROWS_H
#define HOPSCOTCH_KEPT_ROWS_H

#include "../summary/summary.h"

// The kept rows of a campaign that is being written.
typedef struct KeptRows {
    const Spec *spec;
    Arena arena;
    Summary summary;
    int64_t failures; // failed trials that keep their row as such
    FirstRows best;   // FoundRow.row: 2 id + 1 if the row is kept for another reason too, else 2 id
    int64_t
        *dropped; // [n_dropped] ids of rows to delete; those before `next` are deleted, those before `sorted` ascend
    int64_t n_dropped, next, sorted, dropped_capacity;
    int64_t stored; // rows, with those that are dropped and not deleted yet
    bool running;   // there is no sum of the digests of kept rows (seal.h)
    bool arrays;    // trials may have arrays, whose index rows are deleted with their rows
    TrialRows rows; // some rows of a batch, which are inserted together
} KeptRows;

// Of a new campaign: the tables and the schema version; then their rows. Nothing if all trials keep a row.
Error kept_make(Database *database, const Spec *spec);
Error kept_fill(Database *database, const Spec *spec, Arena *arena);
// Error (user): the campaign was created with another `record.rows`.
Error kept_compare(Database *database, const Spec *spec, const char *name);
// store->kept; NULL if all trials keep a row.
Error kept_open(Store *store);
void kept_close(Store *store);

// Within the transaction of a batch: adds its trials to the sums, inserts the rows that are kept, and deletes some rows
// that are no longer among the best.
typedef Error KeptInsert(Store *store, const TrialRows *rows);
Error kept_commit(Store *store, const TrialRows *rows, KeptInsert *insert);
// The same where the kept rows of a batch go into a block (trial_blocks.h), whose rows go when it is written again.
// kept_choose adds the trials to the sums, and leaves only the kept rows, at the front of the arrays. Within the
// transaction kept_write_sums; after it kept_thin_out, which writes blocks again when most of their rows are dropped.
void kept_choose(Store *store, TrialRows *rows);
Error kept_write_sums(Store *store);
Error kept_thin_out(Store *store);
// At the end of a run deletes all rows but those that the spec asks for, in transactions of its own. The rows that stay
// depend on nothing but the trials. Nothing if all trials keep a row.
Error kept_settle(Store *store);
// For a repair, within its transaction: the same among the ids [first, end), where all trials have rows now.
Error kept_settle_between(Store *store, int64_t first, int64_t end);

#endif
