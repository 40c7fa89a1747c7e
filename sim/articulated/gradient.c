// The gradient of a lane, on the host: runs it and stores its states, then goes back through them (adjoint/rollout.h).
// Where not all states fit in memory, only the first of each segment is stored; each segment but the last is then
// computed again.
// Source: A. Griewank & A. Walther, Evaluating Derivatives, 2nd ed., 2008, ch. 12, with two levels.
#include "adjoint/rollout.h"

#include <math.h>

static bool gradient_of_metric(int metric)
{
    static const bool smooth[ARTICULATED_N_METRICS] = {
        [ARTICULATED_METRIC_distance] = true,      [ARTICULATED_METRIC_mean_speed] = true,
        [ARTICULATED_METRIC_lateral_drift] = true, [ARTICULATED_METRIC_energy] = true,
        [ARTICULATED_METRIC_height_mean] = true,   [ARTICULATED_METRIC_cost_of_transport] = true,
        [ARTICULATED_METRIC_tilt_rms] = true,      [ARTICULATED_METRIC_action_rate] = true,
        [ARTICULATED_METRIC_slip] = true,          [ARTICULATED_METRIC_ground_force_mean] = true,
    };
    return smooth[metric];
}

static bool gradient_by_parameter(const Configured *configured, int parameter)
{
    (void)configured;
    return parameter != ARTICULATED_PARAMETER_push_time && parameter != ARTICULATED_PARAMETER_push_duration &&
           parameter != ARTICULATED_PARAMETER_fall_height && parameter != ARTICULATED_PARAMETER_fall_tilt;
}

// ---- a lane ---------------------------------------------------------------------------------------------------------

typedef struct Gradient {
    const Configured *configured;
    LaneGroup group;
    ArticulatedLanes w;
    int64_t size;     // doubles of a state
    int64_t segment;  // steps of a segment
    double *firsts;   // [segments][size]
    double *states;   // [segment][size]: before each step of the present segment
    double *metric;   // [n_metrics]
    int64_t steps;    // that the lane made
    int64_t segments; // of them
} Gradient;

// The fewest steps of a segment so that both arrays fit, and all steps where they can be one segment.
static int64_t gradient_segment(int64_t steps, int64_t state, int64_t bytes)
{
    if (steps <= bytes / state) return steps;
    const int64_t root = (int64_t)ceil(sqrt((double)steps));
    return root < steps ? root : steps;
}

static void gradient_take(const Configured *configured, const double *parameter, size_t bytes, Arena *arena,
                          Gradient *gradient)
{
    ArticulatedConstants c;
    memcpy(&c, &configured->constants, sizeof c);
    const int64_t size = articulated_state_size(&c), state = size * (int64_t)sizeof(double);
    const int64_t segment = gradient_segment(c.ticks, state, bytes > 0 ? (int64_t)bytes : (int64_t)1 << 28);
    double *own = ARENA_NEW(arena, double, configured->n_parameters);
    memcpy(own, parameter, (size_t)configured->n_parameters * sizeof *own);
    *gradient = (Gradient){.configured = configured,
                           .size = size,
                           .segment = segment,
                           .firsts = ARENA_NEW(arena, double, (c.ticks / segment + 1) * size),
                           .states = ARENA_NEW(arena, double, segment *size),
                           .metric = ARENA_NEW(arena, double, configured->n_metrics)};
    const int64_t cells = articulated_adjoint_cells(&c, configured->n_parameters);
    gradient->group = (LaneGroup){.batch = {.lanes = 1,
                                            .stride = 1,
                                            .parameter = own,
                                            .work = ARENA_NEW(arena, double, cells),
                                            .metric = gradient->metric},
                                  .valid = 1};
    gradient->w = articulated_open(&configured->constants, configured->assets, &gradient->group);
}

// The memory that gradient_take takes, and something for its alignment.
static size_t gradient_bytes(const Configured *configured, size_t bytes)
{
    ArticulatedConstants c;
    memcpy(&c, &configured->constants, sizeof c);
    const int64_t size = articulated_state_size(&c), state = size * (int64_t)sizeof(double);
    const int64_t segment = gradient_segment(c.ticks, state, bytes > 0 ? (int64_t)bytes : (int64_t)1 << 28);
    const int64_t cells = articulated_adjoint_cells(&c, configured->n_parameters);
    const int64_t doubles = (c.ticks / segment + 1 + segment) * size + cells + configured->n_parameters;
    return (size_t)(doubles + configured->n_metrics) * sizeof(double) + 4096;
}

// ---- the run --------------------------------------------------------------------------------------------------------

static void gradient_store(const Gradient *gradient, int64_t tick)
{
    const int64_t place = tick % gradient->segment;
    if (place == 0) state_store(&gradient->w, gradient->firsts + tick / gradient->segment * gradient->size);
    state_store(&gradient->w, gradient->states + place * gradient->size);
}

static void gradient_run(Gradient *gradient)
{
    const ArticulatedLanes *w = &gradient->w;
    bool ended = false;
    articulated_begin(w);
    for (int64_t tick = 0; tick < w->c.ticks && !ended; tick++) {
        gradient_store(gradient, tick);
        articulated_tick(w, tick);
        ended = articulated_failure(w) > ARTICULATED_NONE;
        gradient->steps = tick + 1;
    }
    gradient->segments = (gradient->steps + gradient->segment - 1) / gradient->segment;
}

// The states of a segment once more.
static void gradient_run_segment(const Gradient *gradient, int64_t number)
{
    const ArticulatedLanes *w = &gradient->w;
    const int64_t first = number * gradient->segment;
    state_load(w, gradient->firsts + number * gradient->size);
    for (int64_t tick = first; tick < first + gradient->segment; tick++) {
        const double t = (double)tick * w->c.dt;
        state_store(w, gradient->states + (tick - first) * gradient->size);
        (void)control_set(w, tick, t);
        (void)articulated_step(w, t);
    }
}

static void gradient_back(const Gradient *gradient, const double *weight)
{
    const ArticulatedLanes *w = &gradient->w;
    bars_clear(w, gradient->configured->n_parameters);
    pull_metrics(w, (double)gradient->steps, weight);
    for (int64_t number = gradient->segments - 1; number >= 0; number--) {
        const int64_t first = number * gradient->segment;
        const int64_t end = number == gradient->segments - 1 ? gradient->steps : first + gradient->segment;
        if (number < gradient->segments - 1) gradient_run_segment(gradient, number);
        pull_ticks(w, first, end, gradient->states);
    }
    pull_begin(w);
}

static Error gradient_of_lane(const Configured *configured, const double *parameter, const double *weight, size_t bytes,
                              double *gradient)
{
    Arena arena;
    Gradient lane;
    ArticulatedConstants c;
    memcpy(&c, &configured->constants, sizeof c);
    if (c.attachment != ARTICULATED_TREE)
        return error_make(ERROR_USER, "only `attachment: tree` has a gradient by the adjoint");
    TRY(arena_create(&arena, gradient_bytes(configured, bytes), "the states of a run"));
    gradient_take(configured, parameter, bytes, &arena, &lane);
    gradient_run(&lane);
    gradient_back(&lane, weight);
    for (int p = 0; p < configured->n_parameters; p++) {
        const double bar = limb(&lane.w, parameter_bar_at(&lane.w, p));
        gradient[p] = gradient_by_parameter(configured, p) ? bar : 0.0;
    }
    arena_destroy(&arena);
    return error_none();
}

const Adjoint articulated_adjoint = {gradient_of_metric, gradient_by_parameter, gradient_of_lane};
