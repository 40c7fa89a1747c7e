// A batch of whole trials, from ask to tell (trials_in_flight.c, lanes_of_trials.c).
#ifndef HOPSCOTCH_TRIALS_IN_FLIGHT_H
#define HOPSCOTCH_TRIALS_IN_FLIGHT_H

#include "../store/commit/commit.h"

// What one thread needs to fill lanes and to gather trials. R: replicates of a trial, M: metrics, K: objectives, D:
// perturbed parameters.
typedef struct LanesScratch {
    double *parameter;        // [lanes that are filled at once][n_parameters]
    double *metric;           // [trials that are gathered at once][R][M]
    double *drawn;            // [trials][R][D]; NULL: it is of no interest what was drawn
    int *failure;             // [trials][R]
    double *value, *room;     // [K][R], [R] of a trial (TrialResult)
    double *mean, *spread;    // [M] of a trial's metrics over the replicates
    int64_t failures;         // trials that failed, so far
    Information *information; // NULL: the objective is another
} LanesScratch;

// The replicates that the trials of a race have already. F: room for those of a trial.
typedef struct ReplicatesBefore {
    int64_t most;   // F
    double *metric; // [trials][F][M]
    double *drawn;  // [trials][F][D]
    int *failure;   // [trials][F]
} ReplicatesBefore;

// Maps the lanes of a batch to replicates of trials. Observed lanes come first, because a trace covers the lanes [0,
// n). The trials stay in the order of ask.
typedef struct Flight {
    Trials trials;
    RecordKind kind;          // what is recorded
    bool *observed;           // [trials.capacity]: record this trial
    int64_t *observed_before; // [trials.capacity]: number of earlier trials that are recorded
    ReplicatesBefore before;  // NULL: a flight of all replicates
    const int64_t *row;       // [trials.capacity] where the results of a trial go; NULL: in the order of the trials
    int64_t *lanes_before;    // [trials.capacity + 1] of earlier trials; NULL: all have as many lanes
    int64_t recorded;         // recorded lanes per recorded trial
    int64_t lanes, n_observed;
    int64_t ticks; // advanced so far
    double kernel_seconds, wait_seconds, copy_seconds, search_seconds;
    ThreadTeam *team;      // shares the work of filling and gathering
    int threads;           // of the team
    LanesScratch *scratch; // [threads]
} Flight;

// Memory for batches of at most `trials` trials. flight_bytes: per trial; flight_scratch_bytes: for all threads.
void flight_take(const Spec *spec, int64_t trials, ThreadTeam *team, Arena *arena, Flight *flight);
int64_t flight_bytes(const Spec *spec);
int64_t rungs_bytes(const Spec *spec); // that a trial takes in addition where it may end at a rung (run/rungs.c)
void flight_take_trials(const Spec *spec, int64_t trials, Arena *arena, Trials *out); // the trials alone
// Adds memory for trials that run different replicates (race_of_generations), and the bytes of each trial.
void flight_take_race(const Spec *spec, int64_t trials, Arena *arena, Flight *flight);
int64_t flight_race_bytes(const Spec *spec);
int64_t flight_scratch_bytes(const Spec *spec, const ThreadTeam *team);
// Memory of a thread that fills or gathers lanes, and its bytes.
void lanes_take_scratch(const Spec *spec, Arena *arena, LanesScratch *scratch);
int64_t lanes_scratch_bytes(const Spec *spec);
// Assigns a lane to every replicate, and fills in its parameters.
void flight_fill(const Spec *spec, Flight *flight, Batch *batch);
int64_t flight_lane(const Spec *spec, const Flight *flight, int64_t trial, int replicate); // of a filled flight
// Writes fitness and metrics of every trial into `commit->rows` (fitness and survived also into the trials, for tell),
// and the arrays of observed lanes into `commit->lanes` and `samples`. Lanes with a value that is not finite fail.
void flight_collect(const Spec *spec, Flight *flight, Batch *batch, Commit *commit);
// Of a flight of one trial that was collected: the failure of a replicate, an index of configured.failures; 0: none.
int flight_failure(const Flight *flight, int replicate);
// Begins the batch of a filled flight, whose lanes end where those of `spec` do.
Error flight_begin(const Spec *spec, Backend *backend, int slot);
// Waits for the slice in flight, and adds its times.
Error flight_wait(const Spec *spec, Backend *backend, int slot, Flight *flight, bool *done);
int flight_survived_metric(const Spec *spec); // the index of `survived` among the metrics, or -1
// Where the progress of a run is shown; also the answer to SIGUSR1.
typedef struct Watch {
    Progress *progress;
    ProgressNumbers *numbers;
    double phase_before; // trials of the phase that were done before this flight
    double until;        // clock_seconds at which the flight ends as if the user had interrupted it; may be infinite
} Watch;
void watch_show(const Watch *watch);
// Runs a filled flight on slot 0 to its end. `watch` (may be NULL) shows every slice. Error (interrupted) between
// slices.
Error flight_run(const Spec *spec, Backend *backend, Flight *flight, int64_t slice, const Watch *watch);
// slice_start: the ticks of the first slice. slice_adapt: the ticks of the next slice after one of `slice` ticks, so
// that slices take about 0.1 s, or less while lanes end, because ended lanes are removed between slices. ended:
// fraction of the running lanes that ended in this slice. requested > 0: both return it.
int64_t slice_start(int64_t requested);
int64_t slice_adapt(int64_t slice, double seconds, double ended, int64_t requested);
// batch_start: the trials of a CPU's first batch. batch_adapt: the trials of the next batch, after a batch of `trials`
// that took `seconds`, `elapsed` seconds after the start of the run. Multiples of `least`, at most `most`.
int64_t batch_start(int64_t least, int64_t most);
int64_t batch_adapt(int64_t trials, double seconds, double elapsed, int64_t least, int64_t most);

#endif
