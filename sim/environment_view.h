// The arrays and programs of environments as kernels use them. An environment is a lane with its own clock that is
// stepped from outside. All arrays have one stride; element k of a lane is at [k*stride + lane].
#ifndef HOPSCOTCH_ENVIRONMENT_VIEW_H
#define HOPSCOTCH_ENVIRONMENT_VIEW_H

#include <stdint.h>

// ---- programs -------------------------------------------------------------------------------------------------------

// The expressions of a spec as one postfix program on a stack: definitions and observations first, then reward and
// termination. Results equal those of runner/experiment/expression to the bit.
// clang-format off
#define PROGRAM_OPERATIONS(X) \
    /* push: the number; a column of the sample, an input of the lane, a definition; 1 if the model failed, else 0 */ \
    X(NUMBER) X(COLUMN) X(PARAMETER) X(DEFINED) X(FAILED) \
    /* of the two upper numbers of the stack, NOT and NEGATE of the top */ \
    X(OR) X(AND) X(NOT) X(LESS_EQUAL) X(LESS) X(GREATER_EQUAL) X(GREATER) X(UNEQUAL) X(EQUAL) \
    X(ADD) X(SUBTRACT) X(MULTIPLY) X(DIVIDE) X(NEGATE) X(POWER) X(MIN) X(MAX) \
    /* of the top */ \
    X(ABS) X(SQRT) X(EXP) X(LOG) X(SIN) X(COS) \
    X(TAN) X(ASIN) X(ACOS) X(ATAN) X(SINH) X(COSH) X(TANH) X(FLOOR) X(CEIL) X(SIGN) X(STEP) \
    /* of the two upper numbers */ \
    X(ATAN2) X(HYPOT) X(MOD) \
    /* of the three upper numbers */ \
    X(CLIP) X(IF) \
    /* pop: into a definition, an observation, the reward, the condition that ends an episode */ \
    X(DEFINE) X(OBSERVE) X(REWARD) X(TERMINATE)
// clang-format on
#define PROGRAM_NUMBER_OF(name) PROGRAM_##name,
typedef enum ProgramOperation { PROGRAM_OPERATIONS(PROGRAM_NUMBER_OF) PROGRAM_N_OPERATIONS } ProgramOperation;
#undef PROGRAM_NUMBER_OF

typedef struct ProgramStep {
    int32_t operation, index; // index: of the column, input, definition or observation
    double number;
} ProgramStep;

enum { PROGRAM_STACK = 24, PROGRAM_STEPS_MAX = 4096 };

// The program as kernels of environments evaluate it (sim/environment_program.c). A step combines an accumulator with
// an operand, which takes two thirds of the steps of the postfix program, and few steps use the stack. The first of
// three operands lies on the stack.
enum {
    ENVIRONMENT_POPPED = PROGRAM_FAILED + 1, // operand: the top of the stack
    ENVIRONMENT_MOVE = PROGRAM_N_OPERATIONS, // operation: the operand itself
    ENVIRONMENT_SQUARE,                      // x^2 as x x
    // bits of the code of a step
    ENVIRONMENT_OPERATION = 0xff,       // MOVE, SQUARE, or of ProgramOperation from OR on
    ENVIRONMENT_OPERAND_AT = 8,         // POPPED, or of ProgramOperation up to FAILED
    ENVIRONMENT_OPERAND = 0xff,         // behind that shift
    ENVIRONMENT_PUSHES = 1 << 16,       // the accumulator is pushed on the stack first
    ENVIRONMENT_OPERAND_FIRST = 1 << 17 // the operand is left of the operator, or alone; else the accumulator is
};
typedef struct EnvironmentStep {
    int32_t code, to; // to: index of the definition or observation
    union {
        double number;
        int64_t index; // of the column, input or definition
    } of;
} __attribute__((aligned(16))) EnvironmentStep;

// ---- environments ---------------------------------------------------------------------------------------------------

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
    /* actions in double precision; the sample; definitions */ \
    X(action, double, n_actions) X(column, double, n_columns) X(defined, double, n_defined) \
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
    int32_t n_parameters, n_named, n_work, n_metrics, n_actions, n_columns, n_observations, n_defined;
    int32_t autoreset;
    int32_t single; // 0 or 1: the floats are of single precision
    int64_t held;   // ticks of a step
#define ENVIRONMENT_MEMBER(name, type, rows) type *name;
    ENVIRONMENT_ARRAYS(ENVIRONMENT_MEMBER)
#undef ENVIRONMENT_MEMBER
#define ENVIRONMENT_MEMBER(name, rows) void *name;
    ENVIRONMENT_FLOATS(ENVIRONMENT_MEMBER)
#undef ENVIRONMENT_MEMBER
    const EnvironmentStep *program; // [n_program], of which the first n_observe give definitions and observations
    int32_t n_observe, n_program;
    const EnvironmentDraw *draws; // [n_draws]
    int32_t n_draws;
    const double *fixed;  // [n_parameters]
    const double *assets; // of the model
} EnvironmentView;

// Arguments of a reset: pointers of the device; NULL: all lanes, no seeds.
typedef struct EnvironmentBegin {
    const uint8_t *lanes;
    const uint64_t *seeds;
} EnvironmentBegin;

#endif
