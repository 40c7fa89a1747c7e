// Verifying a trial: is what the search found good under disturbances that it has never met, and do its gains sit on a
// cliff? Two specs are made out of the campaign's own, and run like any others:
//   seeds   method centered: the trial under n replicates with a fresh seed, then one gain or physical parameter at a
//           time a little less and a little more, under the same n disturbances
//   grid    method grid: every combination of the starts that the replicates would draw, edge to edge
#ifndef HOPSCOTCH_VERIFY_H
#define HOPSCOTCH_VERIFY_H

#include "../../runner.h"
#include "statistics.h"

typedef struct VerifyTask {
    const StoredCampaign *campaign;
    int64_t trial;           // -1: the model's defaults in place of what was searched
    const double *parameter; // [n_parameters] of the trial, complete
    double fitness;          // that is stored of it; NaN: none
    uint64_t seed;           // fresh
    int64_t seeds;           // replicates
    double gains, physics;   // by what part a gain, another parameter is changed; 0: not
    int levels;              // of an axis of the grid; 0: no grid
    const int *also;         // [n_also] more parameters for the grid
    int n_also;
} VerifyTask;

enum { VERIFY_GRID_AXES_MAX = 6 };

// 53 bits that the campaign's own draws have never seen; the same for all trials of the campaign.
uint64_t verify_seed(const Spec *spec);
// Whether anything differs from one seed to the next.
bool verify_draws(const Spec *spec);
// The trial of the task, or the best if it names none, with its parameters (verify_run.c).
Error verify_take_trial(VerifyTask *task, Arena *arena);
// The model's defaults in place of what the search found.
void verify_take_defaults(VerifyTask *task, Arena *arena);
// How many axes the grid has; 0: there is nothing to vary.
int verify_grid_axes(const VerifyTask *task);
const char *verify_seeds_text(const VerifyTask *task, const char *name, Arena *arena);
const char *verify_grid_text(const VerifyTask *task, const char *name, Arena *arena);

// Runs the spec as the campaign options->name, or goes on with it, notes where it comes from, and opens it.
Error verify_run_text(const VerifyTask *task, const char *purpose, const char *text, const RunOptions *options,
                      Arena *arena, StoredCampaign *out);

// What the n runs of one trial say.
typedef struct VerifyOutcome {
    int64_t trial, n, good;
    double *value; // [n] the cost of each run (spec_cost); infinite: it failed
    Interval rate, fitness;
    int64_t worst;             // the run with the greatest cost; of failed ones the one that failed soonest
    const char *worst_failure; // "none": it did not fail
    double worst_survived;     // s; NaN: the model has no such metric
} VerifyOutcome;

// Fitness by the objective's `over`, of the runs that did not fail: Student's interval for a mean, order statistics for
// a median or a quantile, none for the worst.
Error verify_outcome(const StoredCampaign *run, int64_t trial, Arena *arena, VerifyOutcome *outcome);
Interval verify_shown(const Spec *spec, const Interval *cost); // of costs: as the user's objective gives it
const char *verify_interval_method(const Spec *spec);          // "Student's t", "order statistics", "no interval"

#endif
