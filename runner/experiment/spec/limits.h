// The limits of a spec beyond the ranges of single keys (keys.c), checked before anything is allocated. The limits of
// YAML are in io/yaml.h. reference.c prints them for users.
#ifndef HOPSCOTCH_LIMITS_H
#define HOPSCOTCH_LIMITS_H

#include <stdint.h>

#define INTEGER_MAX (((int64_t)1 << 53) - 1)     // beyond it not every integer is a double
#define POINTS_BYTES_MAX ((int64_t)8 << 20)      // of a file of points
#define RECORDING_BYTES_MAX ((int64_t)256 << 20) // of a recording
#define RESOLVED_BYTES_MAX (16 << 20)            // of a spec with every value written out, points too
#define TRIALS_MAX ((int64_t)1 << 48)            // what a random key's ordinal holds

enum {
    NAME_LENGTH_MAX = 128,
    EXPRESSION_LENGTH = 4096,          // characters, also written out
    EXPRESSION_WRITTEN_LENGTH = 32768, // of an expression of a system with its sums over copies written out
    EXPRESSION_DEPTH = 64,             // of parentheses, calls and operators that contain themselves
    CONSTRAINTS_MAX = 16,
    UNION_MAX = 256,   // grids, each looked at for every trial
    EXCLUDE_MAX = 256, // expressions, each evaluated for every trial
    REPLICATES_MAX = 65536,
    CASES_MAX = 100,     // of a spec
    SWEEP_MAX = 1000,    // campaigns of a sweep
    SWEEP_KEYS_MAX = 16, // that it combines
    INCLUDES_MAX = 32,   // files, all together no larger than a spec may be
    SEARCHES_MAX = 4096, // side by side, of methods that learn
    OBJECTIVES_MAX = 8,
    ENVIRONMENT_MAX = 1024,    // definitions, and observations, of an environment
    OBJECTIVE_NAMES_MAX = 4096 // that an objective may use: metrics and parameters of a model together
};

// Recorded arrays of one batch in memory, and so of a shard; debug rows of one trial.
#define RECORD_BYTES_MAX ((int64_t)64 << 20)
// Debug rows of a replicate, where no number of ticks bounds them and the spec does not say how many are kept.
enum { DEBUG_ROWS_KEPT = 100000 };
// Trajectories of one trial, which lie in memory and in one shard together.
#define RECORD_TRIAL_BYTES_MAX ((int64_t)1 << 30)
// Of a sample: HDF5 keeps their names as an attribute, of 64 KiB at most with 16 bytes for each.
enum { RECORD_COLUMNS_MAX = 4000 };

#endif
