// Many searches side by side, for the methods that learn (cmaes, nsga2, adam, lbfgs). Each search has its own state,
// and all searches share the batches: a round is one generation of every search that has not ended. Trials are asked
// for in the order of (round, search, trial), which gives them their ids. The next generation of a search is asked for
// as soon as all results of its last generation were told, so ids and points depend neither on the size of the batches
// nor on other trials in flight.
//
// A team of threads may share this work (side_team.c). Each member is drawn from random numbers of its own, and each
// sum of a search runs in one order, so the number of threads changes no bit.
#ifndef HOPSCOTCH_SIDE_BY_SIDE_H
#define HOPSCOTCH_SIDE_BY_SIDE_H

#include "../experiment.h"

enum {
    SIDE_ATTEMPTS = 100, // draws of a member before it is left out
    SIDE_NAMES = 16
};

// Progress of all searches, in the checkpoint.
typedef struct SideProgress {
    int64_t searches, next_id; // next_id: the id after the last trial that was told
    int64_t round, search;     // the generation whose results come next
    int64_t told;              // trials of this generation that were told
} SideProgress;

// Progress of one search.
typedef struct SideRun {
    int64_t round; // generations told
    int64_t stop;  // why the search ended, an index of stop_names; 0: it continues
    bool again;    // the trials of this generation are those of the last one, which go on (SideMethod.name)
} SideRun;

// A generation that was drawn: the data of all methods, in front of a method's own.
typedef struct SideDrawn {
    int64_t search, round; // of the search; round -1: no generation
    int64_t trials;        // 0: the spec drops all its draws
    int32_t *slot;         // [trials] the member that a trial evaluates, or another number of the method
    bool *left_out;        // [members] the spec dropped all SIDE_ATTEMPTS draws
} SideDrawn;

// A range of items in a loop over the items of several searches: members to draw, or trials of a batch.
typedef struct SideTurn {
    int64_t search;
    int64_t from;         // first item, counted in the generation
    int64_t first, count; // index of the first item in the loop; number of items
    int64_t id;           // of the first trial of the generation, unless they are there already
} SideTurn;

// A generation whose trials were all told.
typedef struct SideEnd {
    int64_t search;
    const double *told; // [trials][told_width]
    int64_t first_id;   // of its trials
    int64_t row;        // of search->rounds
    ThreadTeam *team;   // may help; NULL: the other threads have searches of their own
} SideEnd;

// The functions of a method. s: a search, from 0. worker: the method's memory for one thread.
typedef struct SideMethod {
    uint32_t version; // of the checkpoint; its first four bytes
    size_t progress;  // offset of its SideProgress
    size_t runs;      // offset of the states of its searches, up to told_at
    const char *const *stop_names;
    int n_stops;
    SideRun (*run)(const Search *search, int64_t s);
    // Drawing the generation that a search is in: its members, some of them, and the list of trials after the last one.
    SideDrawn *(*drawn)(const Search *search, int64_t s); // where it is kept
    int64_t (*members)(const Search *search, int64_t s);
    void (*draw)(const Search *search, void *worker, int64_t s, int64_t first, int64_t end);
    void (*list)(const Search *search, void *worker, int64_t s); // sets `trials`
    // Of a generation that was drawn: parameter[end - first][n_parameters] of some of its trials.
    void (*give)(const Search *search, void *worker, int64_t s, int64_t first, int64_t end, double *parameter);
    // Of a method whose trials run their replicates in several generations: sets first and end of a trial that stands
    // in `trials` at `at`, and, if it has run before, its id, round and ordinal. NULL: all trials are new.
    void (*name)(const Search *search, int64_t s, int64_t trial, Trials *trials, int64_t at);
    void (*note)(const Search *search, const Trials *trials, int64_t index, double *told); // told[told_width]
    // Called before the generations of turns[count] end together, for work that these searches share. After an error
    // none of them ends. NULL: no such work.
    Error (*before_ends)(Search *search, const SideTurn *turns, int64_t count);
    void (*end_generation)(Search *search, void *worker, const SideEnd *end); // begins the next, or ends the search
    bool counts_last; // the progress of searches that have all ended stands behind their last round
    // After a restore. is_whole: the state is possible. reconsider: why search s ends with its last generation under
    // its current budgets; 0: it continues; -1: no generation has ended.
    bool (*is_whole)(const Search *search);
    int64_t (*reconsider)(const Search *search, int64_t s);
    // Memory for a team. worker: for a further thread, which calls `draw` and `give`, and `end_generation` if `learns`.
    // keep: for generations that were drawn.
    size_t (*worker_bytes)(const Search *search, bool learns);
    void *(*worker)(const Search *search, bool learns, Arena *arena);
    size_t (*generation_bytes)(const Search *search);
    void (*keep)(Search *search, int64_t generations, Arena *arena);
} SideMethod;

// The first member of a method's search->scratch.
typedef struct SideBySide {
    const SideMethod *method;
    int64_t searches, first; // how many; the number of the first
    int64_t trials_max;      // of a generation
    size_t told_at;          // offset in the checkpoint of the results of the generation that is partly told
    int told_width;          // doubles of a trial
    int told_before;         // states of earlier versions hold only the first of them, this many; 0: all
    int64_t kept;            // generations that are kept as they were drawn; one of search s replaces one of s - kept
    SideTurn *turns;         // [searches] room
    // of the threads of the team; the first worker is search->scratch
    ThreadTeam *team;
    void **worker;
    double **told; // results of the generation that a thread ends; NULL: no two threads end generations at once
    // where ask is: the next trial of this search's generation, and the id that it gets
    int64_t ask_round, ask_search, ask_trial, ask_id;
    char ending[160];
} SideBySide;

// Of a campaign that runs a part of the searches: only these, under their own numbers.
void side_take_part(const Spec *spec, SideBySide *side);
SideProgress *side_progress(const Search *search);
double *side_told(const Search *search); // [told][told_width]
// Sets the sizes of the checkpoint, which is in the arena, and its progress. search->scratch is the SideBySide.
void side_init(Search *search, uint32_t shape, Arena *arena);
// ask, tell and restore of SearchMethod.
Error side_ask(Search *search, int64_t max, Trials *trials, bool *waiting);
Error side_tell(Search *search, const Trials *trials);
Error side_restore(Search *search);
// Of one search in words (side_stop_words), of several "64 searches ended: 60 tolfun, 4 stagnation".
const char *side_stopped(const Search *search);
const char *side_stop_words(const char *name); // for people; the names are those that methods store
// The row of search->rounds with what all methods say in it; NULL: it is not wanted.
Round *side_round(Search *search, const SideEnd *end, int64_t stop, double **fields);

// ---- side_team.c ----------------------------------------------------------------------------------------------------

// SearchMethod.use_team.
void side_use_team(Search *search, ThreadTeam *team, Arena *arena);
#define SIDE_BY_SIDE_METHOD                                                                                            \
    .ask = side_ask, .tell = side_tell, .restore = side_restore, .stopped = side_stopped, .use_team = side_use_team

// Calls `work` for all items of turns[count], whose ranges follow each other from 0, in chunks of `least` or more.
enum { SIDE_TRIALS_LEAST = 256 }; // of a range
typedef void (*SideWork)(const Search *search, void *worker, const SideTurn *turn, int64_t from, int64_t end,
                         void *context);
void side_share(const Search *search, int64_t count, int64_t least, SideWork work, void *context);
// side_drawn_take: memory for a generation of `members` and their trials, empty. side_list_members lists the members
// that are not left out.
SideDrawn side_drawn_take(int64_t members, int64_t trials_max, Arena *arena);
void side_list_members(SideDrawn *drawn, int64_t members);
// How many generations fit into `bytes`: at least one, at most one for each search.
int64_t side_kept_within(const SideBySide *side, size_t bytes, size_t generation);
bool side_is_drawn(const Search *search, int64_t s); // the generation that it is in
// The generations of the searches of turns[count], unless they are drawn. No two of them may replace each other.
void side_draw(const Search *search, int64_t count);
// Notes the trials of a turn, which begin in the batch at `first`, in the checkpoint.
void side_note(Search *search, const Trials *trials, const SideTurn *turn);
// The generations of turns[count], which the batch completes, end.
Error side_end_all(Search *search, const Trials *trials, int64_t count);

#endif
