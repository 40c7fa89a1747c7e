// A batch of whole trials, from ask to tell (trials_in_flight.c).
#ifndef HOPSCOTCH_TRIALS_IN_FLIGHT_H
#define HOPSCOTCH_TRIALS_IN_FLIGHT_H

#include "../store/commit.h"

// Which lane of the batch holds which replicate of which trial. Lanes that are observed come
// first, because a trace covers the lanes [0, n); the trials stay in the order of ask.
typedef struct Flight {
    Trials trials;
    RecordKind kind; // what is recorded
    bool *observed;  // [trials.capacity]: record this trial
    int64_t *lane;   // [trials.capacity][R]
    int64_t lanes, n_observed;
    int64_t ticks; // advanced so far
    double kernel_seconds, wait_seconds, copy_seconds, search_seconds;
    double *lane_parameter; // [n_parameters] of the lane that is being filled
    double *metric;         // [R][M] and failure[R] of the trial that is being collected
    int *failure;
    double *value; // [R] of its objective
} Flight;

void flight_take(const Spec *spec, int64_t trials, Arena *arena, Flight *flight);
int64_t flight_bytes(const Spec *spec);         // of one trial in memory
int64_t flight_scratch_bytes(const Spec *spec); // of the trial that is being collected
// Gives every replicate its lane and its parameters.
void flight_fill(const Spec *spec, Flight *flight, Batch *batch);
// Fitness and metrics of every trial into `commit->rows` (and fitness, survived into the trials, for tell), and the
// observed lanes' arrays into `commit->lanes` and `samples`.
void flight_collect(const Spec *spec, Flight *flight, const Batch *batch, Commit *commit);
// Waits for the slice in flight; counts what it took.
Error flight_wait(const Spec *spec, Backend *backend, int slot, Flight *flight, bool *done);
int flight_survived_metric(const Spec *spec); // the place of `survived` among the metrics, or -1
// Who is told how far a run is, and answered when SIGUSR1 asks.
typedef struct Watch {
    Progress *progress;
    ProgressNumbers *numbers;
    double phase_before; // done of the phase before the flight that is watched
    double until;        // clock_seconds when the flight ends as if the user had interrupted it; may be infinite
} Watch;
void watch_show(const Watch *watch);
// Runs a filled flight on slot 0 to its end; `watch` (may be NULL) is told of every slice. Error (interrupted) between
// two slices.
Error flight_run(const Spec *spec, Backend *backend, Flight *flight, int64_t slice, const Watch *watch);
// Slices of about 0.1 s: the length for the next one.
int64_t slice_start(int64_t requested);
int64_t slice_adapt(int64_t slice, double seconds, int64_t requested);
// Batches of a CPU, of about 0.5 s each: trials of the first one, and of the next after one of so many trials that took
// so long in a run that has lasted so long; multiples of `least`, at most `most`.
int64_t batch_start(int64_t least, int64_t most);
int64_t batch_adapt(int64_t trials, double seconds, double elapsed, int64_t least, int64_t most);

#endif
