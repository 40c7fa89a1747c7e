// A commit: what one batch adds to a campaign, in one transaction (commit.c).
#ifndef HOPSCOTCH_COMMIT_H
#define HOPSCOTCH_COMMIT_H

#include "../ground/rows.h"
#include "../ground/recording.h"

// All that one batch adds to a campaign. The writer commits it as a whole or not at all.
typedef struct Commit {
    TrialRows rows;   // count 0: none
    RecordKind kind;  // of the arrays
    ShardLane *lanes; // [lanes_capacity] arrays, lane after lane in `samples`
    int64_t n_lanes, lanes_capacity;
    int64_t *dropped; // [lanes_capacity] rows of the lane before the first, which are not kept
    double *samples;  // [sum of lengths][columns of the kind]
    void *state;      // [state_size] of the search after tell
    size_t state_size;
    Rounds rounds;               // of the search that ended with this batch
    int n_round_fields;          // of each
    int64_t lanes_run, failures; // failures: trials with a failed replicate or without fitness
    const char *kernel;          // "general", or "made" for the campaign
    double kernel_seconds, wait_seconds, wall_seconds, copy_seconds, search_seconds;
    char backend[16], device[128], version[64]; // where it was computed
} Commit;

// `lanes`: observed, of `lane_bytes` each.
void commit_take(const Spec *spec, int64_t trials, int64_t lanes, int64_t lane_bytes, size_t state_size, Arena *arena,
                 Commit *commit);
void commit_take_rounds(const Search *search, int64_t trials, Arena *arena, Commit *commit); // of a batch of `trials`
int64_t commit_rounds_bytes(const Search *search, int64_t trials);
// The shard with the store's next number. store_write_shard fills in its attributes and writes the file;
// store_insert_shard inserts its row, within a transaction.
typedef struct StoreShard {
    char name[32];
    int64_t bytes;
    Sha256Text sha256;
    double seconds; // to build and write it
} StoreShard;
enum { COMMIT_ATTRIBUTES = 7 };
// Of every shard. The texts of two of them are in `seed` and `numerics`.
void commit_attributes(const Store *store, ShardAttribute attributes[COMMIT_ATTRIBUTES], char seed[32],
                       char numerics[32]);
Error store_write_shard(const Store *store, Shard *shard, StoreShard *written);
Error store_insert_shard(Store *store, const StoreShard *shard);
// store_commit writes the shard, then one transaction. It may overwrite the values of the rows. *seconds: the time of
// both. The time of a transaction is known when it has ended: the next commit notes it in its batch; store_note_seconds
// does so after the last commit.
Error store_commit(Store *store, const Commit *commit, double *seconds);
Error store_note_seconds(Store *store);
// Within a transaction, where all trials are rows and nothing is recorded. store_put_batch: the rows [first, end) as a
// batch. store_put_search: the state of the search, and the rounds that ended with it.
Error store_put_batch(Store *store, const Commit *commit, int64_t first, int64_t end);
Error store_put_search(Store *store, const Search *search, const Rounds *rounds);
// Adds the time of a run after its last commit to the last batch, if there is one.
Error store_note_wall(Store *store, double seconds);
// Rows which[count] replace those of the same ids, within a transaction. room: for as many rows.
Error store_replace_rows(Store *store, const TrialRows *rows, const int64_t *which, int64_t count, TrialRows *room);
Error store_insert_rounds(Store *store, const Rounds *rounds, int n_fields);

#endif
