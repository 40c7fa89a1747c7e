// Shared by tests of rigid worlds: a world from a spec, run on the CPU.
#ifndef HOPSCOTCH_RIGID_CASE_H
#define HOPSCOTCH_RIGID_CASE_H

#include "../test.h"

typedef struct RigidRun {
    Arena arena;
    Spec spec;
    Backend *backend;
    Batch *batch;
} RigidRun;

// The spec of a world: `simulation` and the keys beside it; a stabilisation that it does not name is baumgarte. Nothing
// runs yet.
void rigid_parse(RigidRun *run, const char *simulation, const char *rest);

// `simulation` and `rest`: flow YAML of that section, and other lines. All lanes have the spec's values.
void rigid_start(RigidRun *run, const char *simulation, const char *rest, int64_t lanes, const char *isa);
// As rigid_start; each lane has a sample before every step and at the end, and the debug rows of every step.
void rigid_start_observed(RigidRun *run, const char *simulation, int64_t lanes, const char *isa, int64_t samples,
                          int64_t debug_rows);
const double *rigid_sample(const RigidRun *run, int64_t lane, int64_t k);    // [n_columns]
const double *rigid_debug_row(const RigidRun *run, int64_t lane, int64_t k); // [n_debug]
// Starts an experiment of the repository with overrides, in one lane, with the values of its first point.
void rigid_load(RigidRun *run, const char *name, const char *const *overrides, int count, const char *isa);
// As rigid_load, with `lanes` lanes.
void rigid_load_lanes(RigidRun *run, const char *name, const char *const *overrides, int count, int64_t lanes,
                      const char *isa);
void rigid_set(RigidRun *run, const char *parameter, int64_t lane, double value);
void rigid_go(RigidRun *run, int64_t slice); // runs to the end, in slices of `slice` ticks
void rigid_end(RigidRun *run);
double rigid_metric(const RigidRun *run, const char *name, int64_t lane);
void rigid_run(RigidRun *run, const char *simulation, const char *rest); // runs one lane from start to end

// Rows that share a load, and steps of order four that are refined: a door on three hinges, and two linkages, one of
// hinges and one of rods, that pass through a nearly flat pose.
#define RIGID_REDUNDANT                                                                                                \
    "bodies: [{name: door, position: [10, 0, 0], inertia: [0.2, 0.3, 0.1], spin: [0, 0, 1], velocity: [0, "            \
    "0.5, 0]}, {name: post#, repeat: 2, inertia: 0.1, position: [0.5, 0, 0.005], velocity: [0, 0, -2], spin: [0, 4, "  \
    "0], step: {position: [1, 0, 0]}}, {name: beam, inertia: 0.1, position: [1.5, 0, 0.01], velocity: [0, 0, -4]}, "   \
    "{name: rod#, repeat: 2, inertia: 0.1, position: [20.5, 0, 0.005], velocity: [0, 0, -2], spin: [0, 4, 0], step: "  \
    "{position: [1, 0, 0]}}, {name: bar, inertia: 0.1, position: [21.5, 0, 0.01], velocity: [0, 0, -4]}], "            \
    "constraints: [{name: h#, repeat: 3, type: hinge, a: door, at_a: [-0.5, 0, -1], step: {at_a: [0, 0, 0.5]}}, "      \
    "{name: foot#, repeat: 2, type: hinge, axis: [0, 1, 0], a: post#, at_a: [-0.5, 0, -0.005]}, "                      \
    "{name: left, type: hinge, axis: [0, 1, 0], a: beam, b: post1, at_a: [-0.5, 0, 0]}, "                              \
    "{name: right, type: hinge, axis: [0, 1, 0], a: beam, b: post2, at_a: [0.5, 0, 0]}, "                              \
    "{name: fx#, repeat: 2, type: along, axis: [1, 0, 0], a: rod#, at_a: [-0.5, 0, -0.005]}, "                         \
    "{name: fz#, repeat: 2, type: along, axis: [0, 0, 1], a: rod#, at_a: [-0.5, 0, -0.005]}, "                         \
    "{name: lx, type: along, axis: [1, 0, 0], a: bar, b: rod1, at_a: [-0.5, 0, 0]}, "                                  \
    "{name: lz, type: along, axis: [0, 0, 1], a: bar, b: rod1, at_a: [-0.5, 0, 0]}, "                                  \
    "{name: rx, type: along, axis: [1, 0, 0], a: bar, b: rod2, at_a: [0.5, 0, 0]}, "                                   \
    "{name: rz, type: along, axis: [0, 0, 1], a: bar, b: rod2, at_a: [0.5, 0, 0]}]"

#endif
