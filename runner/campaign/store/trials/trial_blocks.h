// Campaigns whose trials lie in blocks: a batch is a shard of columns, which is safe on the disk before the transaction
// that names it in the table `blocks`. Such a campaign has no table `trials`; to statements of a connection that shows
// the blocks `trials` is a table over them. The best trials are rows, in the table `best` (best_rows.h).
// Here are the tables of such a campaign and its readers; commit/trial_blocks_write.h has its writers.
#ifndef HOPSCOTCH_TRIAL_BLOCKS_H
#define HOPSCOTCH_TRIAL_BLOCKS_H

#include "blocks.h"
#include "../ground/rows.h"

// Whether a new campaign of N trials (0: unknown) has its trials in blocks.
bool trial_blocks_are_chosen(const Spec *spec, int64_t trials);
bool trial_blocks_exist(const Database *database); // this campaign has its trials in blocks
// Of a new campaign: the tables; then their rows.
Error trial_blocks_make(Database *database, const Spec *spec, Arena *arena);
Error trial_blocks_fill(Database *database, const Spec *spec, Arena *arena);
const char *trial_blocks_table(const Database *database); // that has the columns of trials: trials, or best

// ---- readers --------------------------------------------------------------------------------------------------------

// The blocks of a campaign, as its database has them.
typedef struct TrialBlocks {
    Arena arena;
    NumberColumn *columns;
    int n_columns;
    int64_t *ids; // [n_records] of the records
    BlockRecord *records;
    BlockSpan *spans;
    int64_t n_records;
    Blocks *blocks;
} TrialBlocks;
Error trial_blocks_load(Database *database, TrialBlocks **out);
void trial_blocks_free(void *blocks);
BlockTable trial_blocks_shown(TrialBlocks *list); // as a table, which owns them

// To statements of this connection, which only reads, `trials` now means all trials. Nothing without blocks.
Error trial_blocks_show(Database *database);
// The same on a connection that writes: the blocks are those of now. Again after a commit or a change.
Error trial_blocks_show_to_run(Database *database);
Error trial_blocks_count(Database *database, int64_t *trials); // by their records
// Reads the files of all blocks, and reports each that is not as it was written. *count: of blocks.
Error trial_blocks_check(Database *database, Arena *arena,
                         void (*report)(void *to, const char *name, const char *fault), void *to, int64_t *count);
// Forgets blocks that are not as they were written, *count of them: their rows are then missing.
Error trial_blocks_forget(Database *database, int64_t *count);
bool trial_blocks_is_file(const char *name); // by its name, a block
// Whether the file in the folder of shards is a block of the campaign, which has blocks. After an error it may be.
Error trial_blocks_are_named(Database *database, const char *name, bool *named);
Error trial_blocks_clear(Database *database); // removes files that no record names, unless somebody may read them

#endif
