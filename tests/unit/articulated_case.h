// Shared by tests of articulated robots: a robot written in C, run on the CPU.
#ifndef HOPSCOTCH_ARTICULATED_CASE_H
#define HOPSCOTCH_ARTICULATED_CASE_H

#include "../../sim/articulated/robot.h"
#include "../test.h"

typedef struct ArticulatedCase {
    Arena arena;
    Configured configured;
    Backend *backend;
    Batch *batch;
} ArticulatedCase;

// One setting of `simulation:`, or the value of a parameter in all lanes.
typedef struct ArticulatedValue {
    const char *name;
    double value;
} ArticulatedValue;

enum { ARTICULATED_VALUES = 64 };
// How a robot is run. Lists end with an empty name.
typedef struct ArticulatedSetup {
    const Robot *robot;
    ArticulatedValue settings[8], parameters[ARTICULATED_VALUES];
    int64_t lanes;           // 0: one
    const char *isa;         // NULL: auto
    const Points *table;     // terrain_points; NULL: none
    const Points *heights;   // terrain_file; NULL: none
    int64_t samples;         // of each lane, one before each step; 0: none
    int64_t debug;           // debug rows of each lane; 0: none
    const Points *actions;   // control.actions; NULL: none
    const Points *lists;     // [2] groups and designs; NULL: none
    const Points *reference; // a recorded motion; NULL: none
    bool efforts;            // its memory has efforts, and no control that sets them
} ArticulatedSetup;

// A recorded motion of all columns of a trajectory, with arbitrary values: rows from 0 s on, `apart` steps apart.
Points articulated_record(const ArticulatedSetup *setup, int rows, double apart, Arena *arena);

void articulated_prepare(ArticulatedCase *test, const ArticulatedSetup *setup); // configured only
void articulated_start(ArticulatedCase *test, const ArticulatedSetup *setup);
void articulated_set(ArticulatedCase *test, const char *parameter, int64_t lane, double value);
void articulated_go(ArticulatedCase *test, int64_t slice); // to the end, in slices of N ticks
void articulated_end(ArticulatedCase *test);
double articulated_got(const ArticulatedCase *test, const char *metric, int64_t lane);
int articulated_failed(const ArticulatedCase *test, int64_t lane); // failure code
// The k-th sample of a lane in that column.
double articulated_seen(const ArticulatedCase *test, int64_t lane, int64_t k, const char *column);
// The k-th debug row of a lane, in the columns of ARTICULATED_DEBUG.
const double *articulated_debug_row(const ArticulatedCase *test, int64_t lane, int64_t k);

// ---- Unitree G1 (../shared/data/g1) ---------------------------------------------------------------------------------

enum { G1_BODIES = 30 };
// The robot with the gains, armature and feet of the golden file; false: it is not there, and the test is skipped.
// theta[6]: turns of the leg's frames, NULL: none.
bool g1_robot(Arena *arena, const double *theta, Robot *robot);
const char *g1_golden(Arena *arena); // text of the golden file
enum { GOLDEN_GAIT = 14 };
extern const ArticulatedValue golden_gait[GOLDEN_GAIT]; // parameters of its gait
// Six designs that turn the frames of both legs about x, mirrored; theta[6] are their parameters turn0 ... turn5.
void golden_designs(Points *lists, ArticulatedValue *parameters, const double *theta);
// The numbers behind "key" in the text from `from` on; the end of the last one.
const char *golden_numbers(const char *from, const char *key, int count, double *numbers);

#endif
