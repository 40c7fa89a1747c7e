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
    int64_t state, segment, firsts, cells, residuals; // doubles; steps; doubles; doubles; doubles
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
                           .cells = articulated_adjoint_cells(&c, configured->n_parameters),
                           .residuals = (int64_t)c.n_records * c.n_targets};
}

HD_CALL size_t articulated_adjoint_bytes(const Configured *configured, size_t most)
{
    const GradientSizes sizes = gradient_sizes(configured, most);
    const int64_t states = sizes.firsts + sizes.segment * sizes.state + sizes.residuals;
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
    gradient->w.residuals = gradient->states + sizes.segment * sizes.state;
    memset(gradient->w.residuals, 0, (size_t)sizes.residuals * sizeof(double));
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
        articulated_tick_compare(w, tick + 1);
        failure = articulated_failure(w);
        gradient->steps = tick + 1;
    }
    gradient->segments = (gradient->steps + gradient->segment - 1) / gradient->segment;
    articulated_metrics(w, (double)gradient->steps, all_lanes());
    if (w->c.n_targets > 0) metric[ARTICULATED_REFERENCE_ERROR] = canonical(reference_error(w));
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

HD_CALL void articulated_adjoint_back(void *memory, const double *weight, double *result)
{
    const Gradient *gradient = memory;
    const ArticulatedLanes *w = &gradient->w;
    const Configured *configured = gradient->configured;
    bars_clear(w, configured->n_parameters);
    pull_metrics(w, (double)gradient->steps, weight);
    for (int64_t number = gradient->segments - 1; number >= 0; number--) {
        const int64_t first = number * gradient->segment;
        const int64_t end = number == gradient->segments - 1 ? gradient->steps : first + gradient->segment;
        if (number < gradient->segments - 1) gradient_run_segment(gradient, number);
        pull_ticks(w, first, end, gradient->states);
    }
    if (w->c.n_targets > 0) pull_reference_begin(w);
    pull_begin(w);
    for (int p = 0; p < configured->n_parameters; p++) result[p] = limb(w, parameter_bar_at(w, p));
}

#endif
