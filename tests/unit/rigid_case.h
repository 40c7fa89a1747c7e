// What tests of rigid worlds share: a world from a spec, run on the CPU.
#ifndef HOPSCOTCH_RIGID_CASE_H
#define HOPSCOTCH_RIGID_CASE_H

#include "../test.h"

typedef struct RigidRun {
    Arena arena;
    Spec spec;
    Backend *backend;
    Batch *batch;
} RigidRun;

// `simulation` and `rest`: flow YAML of that section, and other lines. Its lanes all have the spec's values.
void rigid_start(RigidRun *run, const char *simulation, const char *rest, int64_t lanes, const char *isa);
// The same, each lane with a sample before every step and at the end, and with the debug rows of every step.
void rigid_start_observed(RigidRun *run, const char *simulation, int64_t lanes, const char *isa, int64_t samples,
                          int64_t debug_rows);
const double *rigid_sample(const RigidRun *run, int64_t lane, int64_t k);    // [n_columns]
const double *rigid_debug_row(const RigidRun *run, int64_t lane, int64_t k); // [n_debug]
// An experiment of the repository with overrides, one lane; the values of its first point.
void rigid_load(RigidRun *run, const char *name, const char *const *overrides, int count, const char *isa);
void rigid_set(RigidRun *run, const char *parameter, int64_t lane, double value);
void rigid_go(RigidRun *run, int64_t slice); // to the end, in slices of so many ticks
void rigid_end(RigidRun *run);
double rigid_metric(const RigidRun *run, const char *name, int64_t lane);
void rigid_run(RigidRun *run, const char *simulation, const char *rest); // one lane, start to end

#endif
