// A batch of hoppers through the CPU backend, for tests: settings, running, and results.
#ifndef HOPSCOTCH_HOPPER_CASE_H
#define HOPSCOTCH_HOPPER_CASE_H

#include "../test.h"

enum { HOPPER_CASE_SETTINGS = 24 };

// A key of the spec with a number; a choice by its place.
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
    int integrator, equations; // places in the options' choices
    int64_t lanes, slice, traced, every;
    int threads;
    const char *isa;
    double x_dot_des;
    HopperSetting option[HOPPER_CASE_SETTINGS];    // further ones of `simulation:`, up to the first without a name
    HopperSetting parameter[HOPPER_CASE_SETTINGS]; // of all lanes, likewise
    Points terrain;                                // points of its table
    void (*fill)(double *parameter, const Configured *configured, int64_t lane); // of one lane, after those
    int64_t first;                                              // lane `i` of the batch is filled as lane first + i
    void (*watch)(const HopperOutcome *outcome, void *watcher); // after every slice
    void *watcher;
} HopperCase;

// One lane for 0.5 s at dt = 1e-4 s, x_dot_des = 2 m/s.
extern const HopperCase hopper_case;

HopperOutcome hopper_simulate(const HopperCase *test);
void hopper_release(HopperOutcome *outcome);
// The model's answer to the options of the case.
Error hopper_case_configure(const HopperCase *test, Arena *arena, Configured *configured);

int hopper_index(const Configured *configured, const char *parameter); // -1 if there is none
double hopper_metric(const HopperOutcome *outcome, const char *name, int64_t lane);
// Work field of a lane at its end; 0-9: x, z, a, b, l and their rates.
double hopper_state(const HopperOutcome *outcome, int field, int64_t lane);
const char *hopper_failure_of(const HopperOutcome *outcome, int64_t lane);
// Sample k of a traced lane, [n_columns].
const double *hopper_sample_of(const HopperOutcome *outcome, int64_t lane, int64_t k);
// Lane i of a and lane j of b ended alike, with the same bits in every metric and work field.
void hopper_check_same(const HopperOutcome *a, int64_t i, const HopperOutcome *b, int64_t j);
bool hopper_is_same(const HopperOutcome *a, int64_t i, const HopperOutcome *b, int64_t j);

#endif
