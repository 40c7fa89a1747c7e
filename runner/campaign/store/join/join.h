// Joining campaigns of one spec: what merge (merge.c) and gather (gather.c) share (join.c).
#ifndef HOPSCOTCH_JOIN_H
#define HOPSCOTCH_JOIN_H

#include "../queries.h"

// A campaign whose trials are joined into another one: open for reading, and locked.
typedef struct JoinSource {
    CampaignLocation location;
    StoredCampaign campaign;
    Lock lock;
} JoinSource;
Error join_open(const CampaignLocation *location, Arena *arena, JoinSource *source); // after an error it is closed
void join_close(JoinSource *source);

// Copies the files of the source's shards to the store's: shard `id` as shard `id + shift`, blocks with the prefix
// behind "rows_". Error: a shard differs from what was written. missing: a shard may be missing.
Error join_copy_files(const JoinSource *source, const Store *store, int64_t shift, const char *prefix, bool missing);

// Within a transaction, inserts trials of the source with their replicates. `choose` is called for the row behind the
// last of `rows`, in the order of ids: whether it is taken, and with which id. NULL: all are.
typedef Error (*JoinChoice)(void *context, TrialRows *rows, bool *taken);
Error join_trials(const JoinSource *source, Store *store, JoinChoice choose, void *context);

// Runs `insert` in the store for each row of `select` in the source; its ?1, ?2, ... are the cells of the row.
Error join_rows(const JoinSource *source, const Store *store, const char *select, const char *insert);

#endif
