// Batches whose rows are made later (pending.c).
#ifndef HOPSCOTCH_PENDING_H
#define HOPSCOTCH_PENDING_H

#include "commit.h"

bool pending_exist(const Database *database); // blocks: of the campaign's trials, perhaps with all rows made

// Whether a new campaign of N trials (0: unknown) would commit batches as blocks.
bool pending_is_expected(const Spec *spec, int64_t trials);

// ---- a run ----------------------------------------------------------------------------------------------------------

// Before the first commit of a run.
void pending_prepare(Store *store, Arena *arena);
// Whether this batch becomes a block: the spec asks for it, nothing else refers to rows of its trials, and all trials
// so far are in blocks.
bool pending_takes(const Store *store, const Commit *commit);

// Empty: the batch is committed as rows.
typedef struct PendingBlock {
    char name[64];
    int64_t first, last, rows; // ids, number of rows
    ShardTableFile file;
    const int64_t *offsets;  // [columns] where they begin in the file
    const uint64_t *digests; // [rows]; both are valid until the next block is written
    uint64_t digest;         // XOR of the digests of the rows
} PendingBlock;
// Writes the block of a batch under its name: safe on the disk when it returns. Then, in the batch's transaction: its
// record.
void pending_name(int64_t batch, PendingBlock *block);
Error pending_write(Store *store, const TrialRows *rows, PendingBlock *block);
Error pending_insert(Store *store, int64_t id, const PendingBlock *block);
// Where only some trials keep a row: writes new blocks without the rows of dropped[n_dropped], ids in ascending order,
// and then replaces the old ones in a transaction of its own. Error (machine): the rows in the old blocks are not those
// that were written; then nothing is changed, so that `doctor` still sees it.
Error pending_drop_rows(Store *store, const int64_t *dropped, int64_t n_dropped);
void pending_finish(Store *store); // frees what the run took

// ---- rows -----------------------------------------------------------------------------------------------------------

enum { PENDING_AT_ONCE = 1 << 16 }; // rows of a transaction
// Makes the next rows, at most `most` of them, in one transaction. *left: there are more. After the last row the blocks
// are gone, and the campaign is as if there had been none.
Error pending_expand(Database *database, int64_t most, bool *left);
// The same, but blocks stay when all rows are made.
Error pending_expand_some(Database *database, int64_t most, bool *left);
// Removes the files of blocks that are gone, unless somebody may still read them.
Error pending_clear(Database *database);
// Makes all rows, and clears. For those who change a campaign.
Error pending_settle(Database *database);
// When a run goes on: blocks stay if it would write more of them. Else: pending_settle.
Error pending_continue(Store *store, Arena *arena);
// Forgets blocks that are not as they were written, *count of them: their rows are then missing.
Error pending_forget(Database *database, int64_t *count);

// ---- readers --------------------------------------------------------------------------------------------------------

// To statements of this connection `trials` now means all trials, whether their rows are made or not.
Error pending_show(Database *database);
// The same for one statement of a run, whose connection can't hold a state: *table, a name in SQL, has all trials.
Error pending_show_to_run(Database *database, const char **table);
Error pending_hide_from_run(Database *database, Error error);
// Trials in blocks, and those of them whose rows are made. 0, 0: there are no blocks.
Error pending_count(Database *database, int64_t *trials, int64_t *rows);
// Trials that have a row, now or later, with or without blocks.
Error pending_count_all(Database *database, int64_t *trials);
// Reads the files of all blocks, and tells of each that is not as it was written. *count: of blocks.
Error pending_check(Database *database, Arena *arena, void (*tell)(void *to, const char *name, const char *fault),
                    void *to, int64_t *count);
// After pending_show, which hides rows that are already made. *same: they are those of the blocks, or there are none.
Error pending_compare_rows(Database *database, bool *same);
Error pending_drop_made_rows(Database *database);         // so that they are made again
bool pending_is_block(const char *file);                  // by its name
bool pending_names(Database *database, const char *file); // a file in the folder of shards

#endif
