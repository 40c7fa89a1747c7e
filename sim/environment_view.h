// The arrays and codes of environments as kernels use them. An environment is a lane with its own clock that is
// stepped from outside. All arrays have one stride; element k of a lane is at [k*stride + lane].
#ifndef HOPSCOTCH_ENVIRONMENT_VIEW_H
#define HOPSCOTCH_ENVIRONMENT_VIEW_H

#include "tape_view.h"

// The expressions of a spec as a code. Its inputs are the columns of a sample, 1 if the model failed, else 0, and
// parameters of the lane.
typedef struct EnvironmentCode {
    CodeView code;
    int32_t n_columns;
    int32_t parameters, n_parameters; // which they are
    int32_t outputs;                  // registers of the observations, then of the reward and of the condition
} EnvironmentCode;

// What follows the end of an episode; documented in runner/hopscotch.h.
typedef enum EnvironmentReset { ENVIRONMENT_NEXT_STEP, ENVIRONMENT_SAME_STEP, ENVIRONMENT_DISABLED } EnvironmentReset;

// A lane input that each episode draws.
typedef struct EnvironmentDraw {
    int64_t parameter, normal; // normal: 1, else uniform
    double a, b;               // mean, standard deviation; or ends
    double low, high;          // the draw is clamped to them
} EnvironmentDraw;

// X(member, type, rows): arrays with a stride, of which each lane has `rows` elements.
// clang-format off
#define ENVIRONMENT_ARRAYS(X) \
    /* the batch */ \
    X(parameter, double, n_parameters) X(work, double, n_work) X(metric, double, n_metrics) X(status, int32_t, 1) \
    /* actions in double precision; the frame of the expressions, of which the first are the columns of the sample */ \
    X(action, double, n_actions) X(frame, double, n_frame) \
    /* numbers of a control law (LaneCode), in its own order */ \
    X(cell, double, n_cells) \
    /* advanced by this step: what the advance of a GPU leaves for what follows */ \
    X(going, uint8_t, 1) \
    X(clock, int64_t, 1) X(steps, int64_t, 1) X(total, double, 1) \
    X(terminated, uint8_t, 1) X(truncated, uint8_t, 1) \
    /* of a GPU: an action of the lane was NaN since the last wait */ \
    X(wrong, uint8_t, 1) \
    /* of the last episode that ended */ \
    X(episode_return, double, 1) X(episode_steps, int64_t, 1) X(episode_failure, int32_t, 1) \
    /* random numbers: key, and what counts them */ \
    X(seed, uint64_t, 1) X(stream, uint32_t, 1) X(episode, uint64_t, 1) \
    /* of hosts that hand them over */ \
    X(chosen, uint8_t, 1) X(seeds, uint64_t, 1)
// X(member, rows): arrays of float, or of double
#define ENVIRONMENT_FLOATS(X) \
    X(given, n_actions) X(observation, n_observations) X(final_observation, n_observations) X(reward, 1)
// clang-format on

typedef struct EnvironmentView {
    int64_t lanes, stride;
    int32_t n_parameters, n_named, n_work, n_metrics, n_actions, n_observations;
    int32_t n_frame; // 0: kernels have frames of their own
    int32_t n_cells; // 0: there is no law
    int32_t autoreset;
    int32_t single; // 0 or 1: the floats are of single precision
    int64_t held;   // ticks of a step
#define ENVIRONMENT_MEMBER(name, type, rows) type *name;
    ENVIRONMENT_ARRAYS(ENVIRONMENT_MEMBER)
#undef ENVIRONMENT_MEMBER
#define ENVIRONMENT_MEMBER(name, rows) void *name;
    ENVIRONMENT_FLOATS(ENVIRONMENT_MEMBER)
#undef ENVIRONMENT_MEMBER
    EnvironmentCode observe, step; // of a begin: observations alone; of a step
    const double *codes;           // the assets of both
    const EnvironmentDraw *draws;  // [n_draws]
    int32_t n_draws;
    const double *fixed;  // [n_parameters]
    const double *assets; // of the model
    const double *law;    // assets of the control law
} EnvironmentView;

// Arguments of a reset: pointers of the device; NULL: all lanes, no seeds.
typedef struct EnvironmentBegin {
    const uint8_t *lanes;
    const uint64_t *seeds;
} EnvironmentBegin;

#endif
