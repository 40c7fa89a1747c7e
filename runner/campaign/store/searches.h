// How far searches that learn have come, round by round (searches.c).
#ifndef HOPSCOTCH_SEARCHES_H
#define HOPSCOTCH_SEARCHES_H

#include "cursor.h"

// The state of all searches after the last tell. *found: there is one, of *size bytes; copied if they are at most
// `most`.
Error search_state_read(Database *database, void *state, size_t most, size_t *size, bool *found);
// Of a repair, within a transaction: the state anew; the other searches, which have none, by the rounds; no rounds.
Error search_state_restore(Database *database, const Search *search);
Error searches_restore_others(Database *database);
Error rounds_clear(Database *database);

Error searches_have_rounds(Database *database, bool *have); // none have in databases of schemas before 4
Error searches_count(Database *database, int64_t *count);   // of those that have rounds

// A search at its last round. Of several objectives it has a front in the place of a step size; what it has not is 0
// or NaN.
typedef struct SearchProgress {
    int64_t search, generations, evaluations, population, front,
        ends; // ends: rounds with which it, or a restart, ended
    double sigma, condition, best, hypervolume;
    const char *stop; // why it ended, "" if it goes on; valid until the next one
} SearchProgress;
typedef enum SearchOrder {
    SEARCHES_BY_LEAST,
    SEARCHES_BY_GREATEST,
    SEARCHES_BY_VOLUME,
    SEARCHES_BY_NUMBER
} SearchOrder;
Cursor searches_progress(Database *database, SearchOrder order, int64_t most); // -1: all
bool search_progress_next(Cursor *searches, SearchProgress *progress);

// The best fitness of each search, in order of their numbers; NaN: it has none.
Error searches_best(const StoredCampaign *campaign, Arena *arena, double **best, int64_t *count);

// Which rounds there are. best: the number of the best search, by hypervolume or fitness; 0 if there is none.
typedef struct RoundsKept {
    int64_t rounds, searches, best;
    bool fronts;
} RoundsKept;
Error rounds_kept(Database *database, bool several, bool maximize, RoundsKept *kept);

typedef struct RoundRow {
    int64_t search, round;
    double evaluations, best, sigma, condition, hypervolume; // NaN: it has none
    Bytes debug;                                             // doubles; valid until the next one
} RoundRow;
// Of the best `searches`, by search and round: each `every`-th round and those that ended something.
Cursor rounds_of_best(Database *database, const RoundsKept *kept, bool maximize, int64_t every, int64_t searches,
                      int64_t most, Arena *arena);
bool round_next(Cursor *rounds, RoundRow *round);

#endif
