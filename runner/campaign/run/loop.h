// The loop of a run, from ask to commit (loop.c).
#ifndef HOPSCOTCH_LOOP_H
#define HOPSCOTCH_LOOP_H

#include "../batch/trials_in_flight.h"
#include "writer.h"
#include "../store/campaign/store.h"

// A batch whose trials are compared at rungs (rungs.c).
typedef struct RungBatch {
    int rung;                  // that its flight runs to; the last is of whole trials
    Trials all, some;          // of the batch; those of the flight, after the first rung
    int64_t *row;              // [all.capacity] of the trials of `some`, in `all`
    void *order;               // [all.capacity] of trials that are compared
    Commit gathered;           // rows of all
    int64_t lanes;             // of the flights so far,
    double ticks;              // lanes x ticks,
    double kernel, wait, copy; // and their times, s
} RungBatch;

typedef struct LoopSlot {
    Flight flight;
    RungBatch batch;      // only of a spec with rungs
    bool pending, done;   // a slice is in flight; the batch has ended and was not yet collected
    int64_t slice, next;  // ticks of the last slice, and of the next one
    int64_t running;      // lanes that run after it
    double slice_seconds; // its time
} LoopSlot;

// Runs trials from ask to commit until there are no more, a limit is reached, or the user interrupts. Batches are told
// and committed in the order of ask, whichever ends first.
typedef struct Loop {
    // given
    const Spec *spec;
    Spec *ends; // [rungs + 1] the specs of trials that end at each rung; NULL: the spec has no rungs
    Store *store;
    Search *search;
    Backend *backend;
    ThreadTeam *team; // shares what a batch needs on the host; NULL: the loop's thread alone
    Progress *progress;
    StoreCounts before;                    // of the runs before this one
    int64_t trials_expected;               // in all, before limits.trials; -1: unknown
    int64_t trials_most;                   // upper bound where trials_expected is unknown; 0: none
    int64_t batch_trials, slice_requested; // batch_trials: the most trials of a batch
    int64_t batch_least;                   // batches adapt to their time in multiples of it; 0: all have batch_trials
    int64_t traced_max, debug_max;         // lanes of a batch that may be traced, or give debug rows
    double until, record_until; // clock_seconds by limits.wall_time: when trials and retries end, when recording does
    MadeJob *made;              // the kernel for this campaign; NULL: none is wanted
    bool (*moves)(void *choice, const struct Loop *loop); // asked after each turn: whether it goes on elsewhere
    void *choice;                                         // of `moves`; NULL: it stays
    // in flight
    LoopSlot slots[LOOP_SLOTS_MAX];
    Writer writer;
    int n_slots, oldest, in_flight;
    int64_t slice, batch; // of the next batch: ticks of its first slice, trials
    bool left;            // the search left while it was told of the oldest batch: that batch is abandoned
    double land;          // clock_seconds until which batches may end after the end of the run; 0: it goes on
    // so far, in this run and earlier ones
    int64_t asked, told, failures;           // trials
    double lane_ticks;                       // lanes x ticks told in this run
    double started, accounted, first_launch; // clock_seconds
    double kernel_seconds;                   // of this run
    // how it ended
    bool ending, moved;  // moved: to go on elsewhere
    const char *state;   // "done", "stopped" or "interrupted"
    char reason[320];    // empty: no more trials
    WriterCounts counts; // what was committed
    ProgressNumbers numbers;
} Loop;

int64_t loop_most(const Loop *loop);  // upper bound where the total is not known; 0: not known either
int64_t loop_total(const Loop *loop); // trials that the campaign will have in all; 0: unknown
// Before the loop: sets how long it may run, by limits.wall_time. A run without time left runs no trials and records
// the missing arrays without a time limit.
void loop_set_time(Loop *loop);
// "limits.wall_time of 2 h is reached", the rest of the reason, and how to go on.
void loop_note_time(Loop *loop, const char *rest);
// Before the loop: shows what the run does now.
void loop_report(Loop *loop, const char *doing);
// Takes its buffers, starts the writer, runs, and commits everything that the search was told.
Error loop_run(Loop *loop);

#endif
