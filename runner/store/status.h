// What is known of a campaign without reading its spec, so that it can also be told of campaigns that another version
// wrote: for status, list and the live view.
#ifndef HOPSCOTCH_STATUS_H
#define HOPSCOTCH_STATUS_H

#include "../runner.h"

typedef struct StatusReport {
    CampaignPlace place;
    const char *state, *reason, *experiment, *model, *started, *finished, *hash, *program, *devices;
    char holder[256]; // who runs it now; empty: nobody
    int64_t most;     // trials, at most; 0: unknown, or the total is known
    int64_t trials, total, replicates, failures, seed, numerics_version, batches, lanes, shards, best_trial;
    int64_t objectives;                           // of several
    const char *committed, *origin, *tags, *note; // note: the last one
    double best, shard_bytes;
    bool maximizes; // more is better
    double rate;    // trials/s of the last batches; NaN: there are none
    double busy;    // part of their time in which the device computed
    Timings timings;
} StatusReport;

// A campaign that is called running while nobody holds its lock was killed. After an error the state is "unreadable",
// and every text is there.
Error status_read(const CampaignPlace *place, Arena *arena, StatusReport *report);
// Its two halves: what the database says, and who holds the lock. status_unread: what an unreadable one is called.
StatusReport status_unread(const CampaignPlace *place);
Error status_read_database(const CampaignPlace *place, Arena *arena, StatusReport *report);
// What the database says while nothing writes to it, at less cost and without making a file beside it. *stamp: with
// which it says so. False: it must be read as above.
bool status_read_still(const CampaignPlace *place, Arena *arena, DatabaseStamp *stamp, StatusReport *report);
Error status_read_lock(Arena *arena, StatusReport *report);
// Copies all texts of a report into the arena.
void status_copy_texts(StatusReport *report, Arena *arena);
// With what the database says made visible: it may be anybody's.
StatusReport status_visible(const StatusReport *report, Arena *arena);

// One of many campaigns, and what is read of it.
typedef struct StatusEntry {
    CampaignPlace place;
    const char *name; // as seen from the root
    StatusReport report;
    const char *error;   // what was wrong; NULL: nothing
    DatabaseStamp stamp; // with which the database says so
    bool known;          // it need not be read
    bool still;          // nothing wrote to the database; before it is read: that is likely
} StatusEntry;
// What the databases of those say that are not known (status_many.c).
Error status_read_many(StatusEntry *entries, int count, Arena *arena);

// Shows a campaign until it ends or the reader leaves (commands/live.c).
Error live_watch(const CommandLine *line, const CampaignPlace *place);

#endif
