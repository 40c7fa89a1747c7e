// Lanes forward and back: runs a group of them and stores their states, then goes back through them. Where not all
// states fit in memory, only the first of each segment is stored; each segment but the last is then computed again.
// Lanes that end earlier than others go on with them, and count from their ends on.
// Source: A. Griewank & A. Walther, Evaluating Derivatives, 2nd ed., 2008, ch. 12, with two levels.
#ifndef HOPSCOTCH_ARTICULATED_ADJOINT_LANE_H
#define HOPSCOTCH_ARTICULATED_ADJOINT_LANE_H

#include "rollout.h"

#include <math.h>

// ---- memory of a group ----------------------------------------------------------------------------------------------

// At the start of the memory; the arrays follow.
typedef struct Gradient {
    const Configured *configured;
    LaneGroup group;
    ArticulatedLanes w;
    real steps;       // that each lane made
    int64_t size;     // doubles of a state, of all lanes
    int64_t segment;  // steps of a segment
    double *sums;     // [ARTICULATED_SUMS][LANES] of each lane at its end
    double *firsts;   // [segments][size]
    double *states;   // [segment][size]: before each step of the present segment
    int64_t ticks;    // of the last lane
    int64_t segments; //
} Gradient;

enum { GRADIENT_STATES = 1 << 28, GRADIENT_HEAD = (sizeof(Gradient) + 63) / 64 * 64 / sizeof(double) };

typedef struct GradientSizes {
    int64_t state, segment, firsts, own, cells; // doubles; steps; doubles
} GradientSizes;

// One segment where its states fit; else segments so that both arrays are short.
static GradientSizes gradient_sizes(const Configured *configured, int lanes, size_t most)
{
    ArticulatedConstants c;
    memcpy(&c, &configured->constants, sizeof c);
    const int64_t state = articulated_state_size(&c) * LANES, root = (int64_t)ceil(sqrt((double)c.ticks));
    const int64_t fit = (int64_t)((most > 0 ? most : GRADIENT_STATES) / sizeof(double)) / state;
    const int64_t segment = c.ticks <= fit || root > c.ticks ? c.ticks : root;
    return (GradientSizes){.state = state,
                           .segment = segment,
                           .firsts = (c.ticks + segment - 1) / segment * state,
                           .own = ((int64_t)configured->n_parameters * lanes + 7) / 8 * 8,
                           .cells = (articulated_adjoint_cells(&c, configured->n_parameters) * LANES + 7) / 8 * 8};
}

HD_CALL size_t articulated_adjoint_bytes(const Configured *configured, int lanes, size_t most)
{
    const GradientSizes sizes = gradient_sizes(configured, lanes, most);
    const int64_t states = sizes.firsts + sizes.segment * sizes.state;
    return (size_t)(GRADIENT_HEAD + sizes.own + sizes.cells + ARTICULATED_SUMS * LANES + states) * sizeof(double);
}

static void gradient_open(const Configured *configured, const AdjointLanes *lanes, Gradient *gradient)
{
    const GradientSizes sizes = gradient_sizes(configured, lanes->count, lanes->most);
    double *own = (double *)(void *)gradient + GRADIENT_HEAD, *work = own + sizes.own;
    double *sums = work + sizes.cells, *firsts = sums + ARTICULATED_SUMS * LANES;
    memcpy(own, lanes->parameter, (size_t)(configured->n_parameters * lanes->count) * sizeof *own);
    memset(gradient, 0, sizeof *gradient);
    gradient->configured = configured;
    gradient->size = sizes.state;
    gradient->segment = sizes.segment;
    gradient->sums = sums;
    gradient->firsts = firsts;
    gradient->states = firsts + sizes.firsts;
    gradient->group.batch =
        (Batch){.lanes = lanes->count, .stride = lanes->count, .parameter = own, .work = work, .metric = lanes->metric};
    gradient->group.valid = lanes->count;
    gradient->w = articulated_open(&configured->constants, configured->assets, &gradient->group);
}

// ---- forward --------------------------------------------------------------------------------------------------------

static void gradient_store(const Gradient *gradient, int64_t tick)
{
    const int64_t place = tick % gradient->segment;
    if (place == 0) state_store(&gradient->w, gradient->firsts + tick / gradient->segment * gradient->size);
    state_store(&gradient->w, gradient->states + place * gradient->size);
}

// Ends lanes after `ticks` steps: their metrics, and the sums that these are made of. Returns those that go on.
static mask gradient_end(Gradient *gradient, int64_t ticks, real failure, mask running, int *failures)
{
    const ArticulatedLanes *w = &gradient->w;
    const mask over = ticks == w->c.ticks ? all_lanes() : MASK(failure > ARTICULATED_NONE), ended = running & over;
    if (!any_lane(ended)) return running;
    gradient->steps = select_real(ended, splat((double)ticks), gradient->steps);
    for (int k = 0; k < ARTICULATED_SUMS; k++) {
        double *sum = gradient->sums + k * LANES;
        store_all(sum, select_real(ended, limb(w, articulated_sum(w, k)), load_all(sum)));
    }
    articulated_metrics(w, splat((double)ticks), ended);
    for (int i = 0; i < gradient->group.valid; i++) {
        if (lane_of_mask(ended, i)) failures[i] = (int)lane_of(failure, i);
    }
    return running & ~ended;
}

HD_CALL void articulated_adjoint_run(const Configured *configured, const AdjointLanes *lanes, void *memory)
{
    Gradient *gradient = memory;
    gradient_open(configured, lanes, gradient);
    const ArticulatedLanes *w = &gradient->w;
    mask running = first_lanes(lanes->count);
    int64_t tick = 0;
    for (int k = 0; k < ARTICULATED_SUMS * LANES; k++) gradient->sums[k] = 0.0;
    articulated_begin(w);
    while (any_lane(running)) {
        real changed;
        gradient_store(gradient, tick);
        ArticulatedSeen seen = articulated_tick_solve(w, tick, &changed);
        articulated_tick_move(w, &seen, changed);
        tick++;
        running = gradient_end(gradient, tick, articulated_failure(w), running, lanes->failure);
    }
    gradient->ticks = tick;
    gradient->segments = (tick + gradient->segment - 1) / gradient->segment;
}

// The states of a segment once more.
static void gradient_run_segment(const Gradient *gradient, int64_t number)
{
    const ArticulatedLanes *w = &gradient->w;
    const int64_t first = number * gradient->segment;
    state_load(w, gradient->firsts + number * gradient->size);
    for (int64_t tick = first; tick < first + gradient->segment; tick++) {
        const real t = splat((double)tick * w->c.dt);
        state_store(w, gradient->states + (tick - first) * gradient->size);
        (void)control_set(w, tick, t);
        (void)articulated_step(w, t);
    }
}

// ---- back -----------------------------------------------------------------------------------------------------------

// Lanes whose last step is the next one in reverse begin with the bars of their metrics.
static void gradient_enter(const Gradient *gradient, int64_t end, const real *metric_bar)
{
    const ArticulatedLanes *w = &gradient->w;
    const mask entering = MASK(gradient->steps == (double)end);
    if (!any_lane(entering)) return;
    for (int k = 0; k < w->c.cells + gradient->configured->n_parameters; k++)
        set_limb(w, w->c.cells + k, select_real(entering, splat(0.0), limb(w, w->c.cells + k)));
    pull_metrics(w, gradient->steps, metric_bar, entering);
    commands_start(w, end - 1);
}

static void gradient_back_segment(const Gradient *gradient, int64_t number, const real *metric_bar)
{
    const ArticulatedLanes *w = &gradient->w;
    const bool last = number == gradient->segments - 1;
    const int64_t first = number * gradient->segment, end = last ? gradient->ticks : first + gradient->segment;
    if (!last) gradient_run_segment(gradient, number);
    for (int64_t tick = end - 1; tick >= first; tick--) {
        gradient_enter(gradient, tick + 1, metric_bar);
        pull_tick(w, tick, gradient->states + (tick - first) * gradient->size);
    }
}

HD_CALL void articulated_adjoint_back(void *memory, const double *weight, double *result)
{
    const Gradient *gradient = memory;
    const ArticulatedLanes *w = &gradient->w;
    const int valid = gradient->group.valid;
    real metric_bar[ARTICULATED_N_METRICS];
    for (int m = 0; m < ARTICULATED_N_METRICS; m++) metric_bar[m] = load_lanes(weight + m * valid, valid);
    bars_clear(w, gradient->configured->n_parameters);
    for (int k = 0; k < ARTICULATED_SUMS; k++) set_limb(w, articulated_sum(w, k), load_all(gradient->sums + k * LANES));
    for (int64_t number = gradient->segments - 1; number >= 0; number--)
        gradient_back_segment(gradient, number, metric_bar);
    pull_begin(w);
    for (int p = 0; p < gradient->configured->n_parameters; p++)
        store_lanes(result + p * valid, limb(w, parameter_bar_at(w, p)), all_lanes(), valid);
}

#endif
