// What the methods that learn share (cmaes, nsga2): many searches side by side. Each search is its own, and all of them
// share the batches: a round is one generation of every search that has not ended. Trials are asked for in the order of
// (round, search, trial), which gives them their ids. A search's next generation is asked for as soon as its last one
// was told, so ids and points depend neither on the size of the batches nor on what else is in flight.
#ifndef HOPSCOTCH_SIDE_BY_SIDE_H
#define HOPSCOTCH_SIDE_BY_SIDE_H

#include "../experiment.h"

enum {
    SIDE_ATTEMPTS = 100, // draws of a member before it is left out
    SIDE_NAMES = 16
};

// In the checkpoint: how far all searches are.
typedef struct SideProgress {
    int64_t searches, next_id; // next_id: the id after the last one told
    int64_t round, search;     // whose results come next
    int64_t told;              // trials told of the one generation that is partly told
} SideProgress;

// Where a search is.
typedef struct SideRun {
    int64_t round; // generations told
    int64_t stop;  // why it ended, an index of stop_names; 0: it goes on
} SideRun;

// What a method says of its searches. Searches are counted from 0.
typedef struct SideMethod {
    uint32_t version; // of the checkpoint; its first four bytes
    size_t progress;  // offset of its SideProgress
    const char *const *stop_names;
    int n_stops;
    SideRun (*run)(const Search *search, int64_t s);
    // Trials of the generation that a search is in; 0: none of its draws may be run. The parameters of one of them.
    int64_t (*trials)(const Search *search, int64_t s);
    const double *(*parameters)(const Search *search, int64_t s, int64_t trial);
    void (*note)(const Search *search, const Trials *trials, int64_t index, double *told); // told[told_width]
    // All trials of the generation were told: the next one begins, or the search ends. Calls side_turn.
    void (*end_generation)(Search *search, int64_t s);
    // After a restore: whether the state is possible; no generation is kept as it was drawn. Then, of each search that
    // ended a generation, by the budgets that it has now: why it ends with it, 0: it goes on. -1: none has ended.
    bool (*is_whole)(const Search *search);
    void (*forget)(const Search *search);
    int64_t (*reconsider)(const Search *search, int64_t s);
} SideMethod;

// The first member of a method's search->scratch.
typedef struct SideBySide {
    const SideMethod *method;
    int64_t searches, first; // how many; the number of the first
    int64_t trials_max;      // of a generation
    size_t told_at;          // offset in the checkpoint of the results of the generation that is partly told
    int told_width;          // doubles of a trial
    // where ask is: the next trial of this search's generation, and the id that it gets
    int64_t ask_round, ask_search, ask_trial, ask_id;
    char ending[160];
} SideBySide;

SideProgress *side_progress(const Search *search);
double *side_told(const Search *search); // [told][told_width]
// The sizes of the checkpoint, which is the arena's; and its progress. `side` is search->scratch.
void side_init(Search *search, uint32_t shape, Arena *arena);
// To the search whose results come next: the first one that goes on, in the order of (round, search). False: all have
// ended.
bool side_turn(const Search *search);
Error side_ask(Search *search, int64_t max, Trials *trials, bool *waiting);
Error side_tell(Search *search, const Trials *trials);
Error side_restore(Search *search);
const char *side_stopped(const Search *search); // "64 searches ended: 60 tolfun, 4 stagnation"
#define SIDE_BY_SIDE_METHOD .ask = side_ask, .tell = side_tell, .restore = side_restore, .stopped = side_stopped
// The next row of search->rounds with what all methods say in it; NULL: it is not wanted.
Round *side_round(Search *search, int64_t s, int64_t stop, double **fields);

#endif
