// A lane forward and back: runs it and stores its states, then goes back through them. Where not all states fit in
// memory, only the first of each segment is stored; each segment but the last is then computed again. One lane at a
// time: compiled where LANES is 1.
// Source: A. Griewank & A. Walther, Evaluating Derivatives, 2nd ed., 2008, ch. 12, with two levels.
#ifndef HOPSCOTCH_ARTICULATED_ADJOINT_LANE_H
#define HOPSCOTCH_ARTICULATED_ADJOINT_LANE_H

#include "rollout.h"

#include <math.h>

// ---- memory of a lane -----------------------------------------------------------------------------------------------

// At the start of the memory; the arrays follow.
typedef struct Gradient {
    const Configured *configured;
    LaneGroup group;
    ArticulatedLanes w;
    int64_t size;            // doubles of a state
    int64_t segment;         // steps of a segment
    double *firsts;          // [segments][size]
    double *states;          // [segment][size]: before each step of the present segment
    int64_t steps, segments; // that the lane made
} Gradient;

enum { GRADIENT_STATES = 1 << 28, GRADIENT_HEAD = (sizeof(Gradient) + 63) / 64 * 64 / sizeof(double) };

typedef struct GradientSizes {
    int64_t state, segment, firsts, cells; // doubles; steps; doubles; doubles
} GradientSizes;

// One segment where its states fit; else segments so that both arrays are short.
static GradientSizes gradient_sizes(const Configured *configured, size_t most)
{
    ArticulatedConstants c;
    memcpy(&c, &configured->constants, sizeof c);
    const int64_t state = articulated_state_size(&c), root = (int64_t)ceil(sqrt((double)c.ticks));
    const int64_t fit = (int64_t)((most > 0 ? most : GRADIENT_STATES) / sizeof(double)) / state;
    const int64_t segment = c.ticks <= fit || root > c.ticks ? c.ticks : root;
    return (GradientSizes){.state = state,
                           .segment = segment,
                           .firsts = (c.ticks + segment - 1) / segment * state,
                           .cells = articulated_adjoint_cells(&c, configured->n_parameters)};
}

HD_CALL size_t articulated_adjoint_bytes(const Configured *configured, size_t most)
{
    const GradientSizes sizes = gradient_sizes(configured, most);
    const int64_t states = sizes.firsts + sizes.segment * sizes.state;
    return (size_t)(GRADIENT_HEAD + configured->n_parameters + sizes.cells + states) * sizeof(double);
}

static void gradient_open(const Configured *configured, const double *parameter, size_t most, double *metric,
                          Gradient *gradient)
{
    const GradientSizes sizes = gradient_sizes(configured, most);
    double *own = (double *)(void *)gradient + GRADIENT_HEAD, *work = own + configured->n_parameters;
    memcpy(own, parameter, (size_t)configured->n_parameters * sizeof *own);
    *gradient = (Gradient){.configured = configured,
                           .size = sizes.state,
                           .segment = sizes.segment,
                           .firsts = work + sizes.cells,
                           .states = work + sizes.cells + sizes.firsts};
    gradient->group.batch = (Batch){.lanes = 1, .stride = 1, .parameter = own, .work = work, .metric = metric};
    gradient->group.valid = 1;
    gradient->w = articulated_open(&configured->constants, configured->assets, &gradient->group);
}

// ---- forward --------------------------------------------------------------------------------------------------------

static void gradient_store(const Gradient *gradient, int64_t tick)
{
    const int64_t place = tick % gradient->segment;
    if (place == 0) state_store(&gradient->w, gradient->firsts + tick / gradient->segment * gradient->size);
    state_store(&gradient->w, gradient->states + place * gradient->size);
}

HD_CALL int articulated_adjoint_run(const Configured *configured, const double *parameter, size_t most, void *memory,
                                    double *metric)
{
    Gradient *gradient = memory;
    gradient_open(configured, parameter, most, metric, gradient);
    const ArticulatedLanes *w = &gradient->w;
    double failure = ARTICULATED_NONE;
    articulated_begin(w);
    for (int64_t tick = 0; tick < w->c.ticks && !(failure > ARTICULATED_NONE); tick++) {
        gradient_store(gradient, tick);
        double changed;
        ArticulatedSeen seen = articulated_tick_solve(w, tick, &changed);
        articulated_tick_move(w, &seen, changed);
        failure = articulated_failure(w);
        gradient->steps = tick + 1;
    }
    gradient->segments = (gradient->steps + gradient->segment - 1) / gradient->segment;
    articulated_metrics(w, (double)gradient->steps, all_lanes());
    return (int)failure;
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

// ---- back -----------------------------------------------------------------------------------------------------------

// The size of the derivatives with respect to the state: of all positions, turns, velocities and angular momenta, in SI
// units. Those along a quaternion itself say nothing.
static double gradient_size(const ArticulatedLanes *w)
{
    double sum = 0.0;
    for (int i = 0; i < w->c.n_bodies; i++) {
        const int at = articulated_at(i), vectors[] = {ARTICULATED_X, ARTICULATED_V, ARTICULATED_L, ARTICULATED_W};
        const Quaternion q = limb4(w, at + ARTICULATED_Q), q_bar = pull_normal(q, 1.0, bar4(w, at + ARTICULATED_Q));
        for (size_t k = 0; k < sizeof vectors / sizeof *vectors; k++)
            sum += dot3(bar3(w, at + vectors[k]), bar3(w, at + vectors[k]));
        sum += q_bar.x * q_bar.x + q_bar.y * q_bar.y + q_bar.z * q_bar.z + q_bar.w * q_bar.w;
    }
    return sqrt(sum);
}

// Over the times of a run: the greatest size, and that at the latest time at which it is above 0.
typedef struct GradientGrowth {
    double greatest, last;
} GradientGrowth;

static void gradient_watch(const ArticulatedLanes *w, GradientGrowth *growth)
{
    const double size = gradient_size(w);
    if (!(growth->last > 0.0)) growth->last = size;
    if (!(size <= growth->greatest)) growth->greatest = size;
}

HD_CALL double articulated_adjoint_back(void *memory, const double *weight, double *result)
{
    const Gradient *gradient = memory;
    const ArticulatedLanes *w = &gradient->w;
    const Configured *configured = gradient->configured;
    GradientGrowth growth = {0.0, 0.0};
    bars_clear(w, configured->n_parameters);
    pull_metrics(w, (double)gradient->steps, weight);
    gradient_watch(w, &growth);
    for (int64_t number = gradient->segments - 1; number >= 0; number--) {
        const int64_t first = number * gradient->segment;
        const int64_t end = number == gradient->segments - 1 ? gradient->steps : first + gradient->segment;
        if (number < gradient->segments - 1) gradient_run_segment(gradient, number);
        for (int64_t tick = end - 1; tick >= first; tick--) {
            pull_tick(w, tick, gradient->states + (tick - first) * gradient->size);
            gradient_watch(w, &growth);
        }
    }
    pull_begin(w);
    for (int p = 0; p < configured->n_parameters; p++) result[p] = limb(w, parameter_bar_at(w, p));
    return growth.greatest / growth.last;
}

#endif
