// A campaign's database, open to write: its statements, its state, its events (store.c; recovery.c).
#ifndef HOPSCOTCH_STORE_H
#define HOPSCOTCH_STORE_H

#include "cursor.h"
#include "recording.h"

enum { STORE_STATEMENTS = 10 + RECORD_KINDS };
struct Store {
    Database *database;
    const char *folder, *shards, *name;
    const Spec *spec;
    union { // the statements of a commit, which all commits share
        struct {
            Cursor insert_trial, insert_replicate, insert_shard, insert_batch, note_batch, add_digest;
            Cursor update_search, insert_search, insert_round, insert_front;
            Cursor insert_place[RECORD_KINDS]; // of a lane's arrays
        };
        Cursor statements[STORE_STATEMENTS];
    };
    int64_t next_shard, next_batch;
    double sqlite_seconds; // of the last batch's transaction, which its own row could not hold; negative: none
    bool created;          // by this process
    char state[16];
    const char *reason; // why the last run ended; "" if it did not, or had no reason
};

// Opens or creates the database of the campaign, whose lock is held. Error (user): it holds another spec (the
// differences go to `messages`), or numbers of another numerics_version, or is no campaign.
Error store_open(const char *folder, const char *name, const Spec *spec, const RunOptions *options, Arena *arena,
                 Store **out);
Error store_close(Store *store);
// Of a database whose table `campaign`, which has one row, is empty.
Error store_row_lost(const Database *database, const char *name);
CommandText store_how_to_repair(const Database *database, const char *name); // the command that mends what it can
// On a file system without trustworthy shared locks: no WAL, and one process at a time.
Error store_share(Database *database, bool shared_fs);
// The first column of a statement's first row; `missing` if there is none.
Error store_integer(Database *database, const char *sql, int64_t missing, int64_t *value);
Error store_text(Database *database, const char *sql, Arena *arena, const char **value); // NULL if there is none
// Whether there is such a table, such a column: databases of older schemas have fewer.
Error store_has_table(Database *database, const char *table, bool *has);
Error store_has_column(Database *database, const char *table, const char *column, bool *has);
// Between the two all that is read is of one moment, whoever writes meanwhile. The end gives `error`, or its own.
Error store_read_begin(Database *database);
Error store_read_end(Database *database, Error error);
// A campaign's database for readers, who have nothing to lose when they leave it; NULL is passed over.
Error store_peek(const CampaignPlace *place, Arena *arena, Database **database);
void store_leave(Database *database);
Error store_begin(Store *store); // a transaction
// Ends it: commits it if all went well, else takes it back and gives `error`.
Error store_end(Store *store, Error error);
Error store_recover(Store *store, StoreRecovery *recovery, FILE *messages);
typedef struct StoreCounts {
    int64_t trials, failures, last_trial; // last_trial: -1 if there is none
    double wall_seconds;                  // of all runs so far
    double best_fitness;                  // NaN if there is none
    int64_t best_trial;
} StoreCounts;
Error store_counts(Store *store, StoreCounts *counts);
// The search's state after the last tell, into search->state. *found: there is one.
Error store_search_state(Store *store, Search *search, bool *found);
Error store_set_state(Store *store, const char *state, const char *reason, const char *stop_reason);
Error store_set_total(Store *store, int64_t total, int64_t most); // 0: unknown
Error store_event(Store *store, const char *kind, const char *format, ...) PRINTF_LIKE(3, 4);
Cursor store_events(Database *database); // cells: time, kind, text
Error store_index_fitness(Store *store);
const char *store_meets(const Spec *spec);                  // " AND violation = 0", "" without constraints
Error store_maximizes(Database *database, bool *maximizes); // whether the one objective of the campaign is maximised
// Of the best trial, whatever the spec; they stay as they are if there is none.
Error store_best(Database *database, int64_t *id, double *fitness);
const char *store_worst_order(const Spec *spec);
const char *store_best_order(const Spec *spec); // ORDER BY of the trials WHERE fitness IS NOT NULL, best first

#endif
