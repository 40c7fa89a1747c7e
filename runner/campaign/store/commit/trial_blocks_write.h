// Writers of blocks (trials/trial_blocks.h): the blocks of a run's batches (trial_blocks_write.c), and blocks that are
// written again with other rows, with fewer, or several as one (trial_blocks_change.c).
#ifndef HOPSCOTCH_TRIAL_BLOCKS_WRITE_H
#define HOPSCOTCH_TRIAL_BLOCKS_WRITE_H

#include "../trials/trial_blocks.h"

// ---- a run ----------------------------------------------------------------------------------------------------------

// Empty: the batch has no block.
typedef struct TrialBlock {
    char name[64];
    int64_t first, last, rows; // ids, number of rows
    ShardTableFile file;
    const ColumnLayout *layouts; // [columns]
    const uint64_t *digests;     // [rows]; both are valid until the next block is written
    uint64_t digest;             // XOR of the digests of the rows
} TrialBlock;
void trial_blocks_prepare(Store *store, Arena *arena); // before the first commit of a run
void trial_blocks_finish(Store *store);                // frees what the run took
// Writes the block of rows under its name: safe on the disk when it returns. Then, in a transaction: its record.
void trial_blocks_name(int64_t batch, TrialBlock *block);
Error trial_blocks_write(Store *store, const TrialRows *rows, TrialBlock *block);
Error trial_blocks_insert(Store *store, const TrialBlock *block);

// ---- changes --------------------------------------------------------------------------------------------------------

// Error (machine): the rows in the blocks are not those that were written; then nothing is changed, so that `doctor`
// still sees it. Ids are in ascending order. Files that are replaced stay until trial_blocks_clear.
//
// In a transaction of its own: blocks without the rows of dropped[n_dropped]. For a repair, within its transaction: the
// same; seal_again must count the rows.
Error trial_blocks_drop(Store *store, const int64_t *dropped, int64_t n_dropped);
Error trial_blocks_drop_uncounted(Store *store, const int64_t *dropped, int64_t n_dropped);
// Within a transaction: rows replace those of the same ids, or are added. counted: digests follow; else seal_again
// must count the rows. Afterwards `trials` is shown again.
Error trial_blocks_put(Store *store, const TrialRows *rows, bool counted);
// After a commit: many small blocks at the end become one, in a transaction of its own.
Error trial_blocks_join_small(Store *store);

#endif
