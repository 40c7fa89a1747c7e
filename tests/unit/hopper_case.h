// A batch of hoppers through the CPU backend, for tests: settings, running, and results.
#ifndef HOPSCOTCH_HOPPER_CASE_H
#define HOPSCOTCH_HOPPER_CASE_H

#include "../../sim/spatial/terrains.h"
#include "../test.h"

enum { HOPPER_CASE_SETTINGS = 24 };

// A key of the spec with a number, or with the index of a choice.
typedef struct HopperSetting {
    const char *name;
    double value;
} HopperSetting;

typedef struct HopperOutcome {
    Arena arena;
    Configured configured;
    Backend *backend;
    const Batch *batch;
} HopperOutcome;

// What a test varies; everything else keeps its default.
typedef struct HopperCase {
    double duration, dt;
    int integrator, equations; // indices of the options' choices
    int64_t lanes, slice, traced, every;
    int threads;
    const char *isa;
    double x_dot_des;
    HopperSetting option[HOPPER_CASE_SETTINGS]; // other keys of `simulation:`; the first without a name ends the list
    HopperSetting parameter[HOPPER_CASE_SETTINGS]; // parameters of all lanes; ended in the same way
    Points terrain;                                // points of the terrain's table
    void (*fill)(double *parameter, const Configured *configured, int64_t lane); // of one lane, after `parameter`
    int64_t first;                                              // lane `i` of the batch is filled as lane first + i
    void (*watch)(const HopperOutcome *outcome, void *watcher); // after every slice
    void *watcher;
} HopperCase;

// One lane for 0.5 s at dt = 1e-4 s, x_dot_des = 2 m/s.
extern const HopperCase hopper_case;

HopperOutcome hopper_simulate(const HopperCase *test);
void hopper_release(HopperOutcome *outcome);
// Configures the model with the options of the case.
Error hopper_case_configure(const HopperCase *test, Arena *arena, Configured *configured);

int hopper_index(const Configured *configured, const char *parameter); // -1 if there is none
double hopper_metric(const HopperOutcome *outcome, const char *name, int64_t lane);
// Work field of a lane at its end; 0-9: x, z, a, b, l and their rates.
double hopper_state(const HopperOutcome *outcome, int field, int64_t lane);
const char *hopper_failure_of(const HopperOutcome *outcome, int64_t lane);
// Sample k of a traced lane, [n_columns].
const double *hopper_sample_of(const HopperOutcome *outcome, int64_t lane, int64_t k);
// Checks that lane i of a and lane j of b ended in the same way, with the same bits in every metric and work field.
void hopper_check_same(const HopperOutcome *a, int64_t i, const HopperOutcome *b, int64_t j);
bool hopper_is_same(const HopperOutcome *a, int64_t i, const HopperOutcome *b, int64_t j);

#endif
