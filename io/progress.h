// Shows the progress of a run: a bar on a terminal, else lines of text or JSON.
#ifndef HOPSCOTCH_IO_PROGRESS_H
#define HOPSCOTCH_IO_PROGRESS_H

#include "../sim/sim.h"

#include <stdio.h>

typedef enum ProgressStyle { PROGRESS_AUTO, PROGRESS_BAR, PROGRESS_PLAIN, PROGRESS_JSON, PROGRESS_NONE } ProgressStyle;

typedef struct ProgressNumbers {
    int64_t trials_done, trials_total; // committed; 0 total: unknown
    int64_t trials_most;               // an upper bound where the total is unknown; 0: no bound is known
    int64_t trials_before;             // done before this run (resume): not counted in the rate
    double ticks_done, ticks_total;    // includes the batches in flight, so that the bar moves between commits
    double simulated_seconds;          // summed over the lanes of this run; 0 if the model has no time
    bool iterates;                     // they are iterations, not seconds
    int64_t failures;
    double best; // best fitness; NaN: none yet
    int64_t best_trial;
    const char *doing;              // "running", "writing", "recording", "stopping"
    double phase_done, phase_total; // work other than trials, as in "3 of 25 recorded"; 0 total: no such work
    const char *phase_unit;         // "trajectories"
    double writing_seconds;         // s, estimated, to write the batches that are computed and not committed
} ProgressNumbers;

typedef struct Progress Progress;
// PROGRESS_AUTO: a bar on a terminal, else plain lines. NULL: no memory; then the calls below do nothing.
Progress *progress_start(FILE *out, ProgressStyle style, const char *campaign);
// May be called often: prints at most ten times per second as a bar, every 5 s as plain lines, every second as JSON.
void progress_show(Progress *progress, const ProgressNumbers *numbers);
// Prints a line of its own, above the bar.
void progress_note(Progress *progress, const char *format, ...) PRINTF_LIKE(2, 3);
// Prints the current state as one line on `out`, in any style: the answer to SIGUSR1.
void progress_answer(Progress *progress, const ProgressNumbers *numbers, FILE *out);
// Prints the trials of this run and their mean rate, and frees `progress`.
void progress_finish(Progress *progress, const ProgressNumbers *numbers);

#endif
