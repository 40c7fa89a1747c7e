// Progress of a run.
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
    int64_t failures;
    double best; // NaN: none yet
    int64_t best_trial;
    const char *doing;              // "running", "writing", "recording", "stopping"
    double phase_done, phase_total; // of work other than trials: 3 of 25 recorded; 0 total: none
    const char *phase_unit;         // "trajectories"
    double writing_seconds;         // estimated time to write what is computed and not committed
} ProgressNumbers;

typedef struct Progress Progress;
Progress *progress_start(FILE *out, ProgressStyle style, const char *campaign);
// Cheap. Prints at most ten times per second on a terminal, every 5 s elsewhere, every second as JSON.
void progress_show(Progress *progress, const ProgressNumbers *numbers);
// Prints a line of its own, above the bar.
void progress_note(Progress *progress, const char *format, ...) PRINTF_LIKE(2, 3);
// Prints the current state as one line on `out`, in any style: the answer to SIGUSR1.
void progress_answer(Progress *progress, const ProgressNumbers *numbers, FILE *out);
void progress_finish(Progress *progress, const ProgressNumbers *numbers);

#endif
