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

enum { GRADIENT_SUMS = ARTICULATED_SUMS + REFERENCE_VALUES };

typedef struct GradientSizes {
    int64_t state, segment, firsts, own, cells, residuals; // doubles; steps; doubles
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
                           .cells = (articulated_adjoint_cells(&c, configured->n_parameters) * LANES + 7) / 8 * 8,
                           .residuals = (int64_t)c.n_records * c.n_targets * LANES};
}

HD_CALL size_t articulated_adjoint_bytes(const Configured *configured, int lanes, size_t most)
{
    const GradientSizes sizes = gradient_sizes(configured, lanes, most);
    const int64_t states = sizes.firsts + sizes.segment * sizes.state + sizes.residuals;
    return (size_t)(GRADIENT_HEAD + sizes.own + sizes.cells + GRADIENT_SUMS * LANES + states) * sizeof(double);
}

static void gradient_open(const Configured *configured, const AdjointLanes *lanes, Gradient *gradient)
{
    const GradientSizes sizes = gradient_sizes(configured, lanes->count, lanes->most);
    double *own = (double *)(void *)gradient + GRADIENT_HEAD, *work = own + sizes.own;
    double *sums = work + sizes.cells, *firsts = sums + GRADIENT_SUMS * LANES;
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

// Of lanes that had ended before the step no difference counts.
static void gradient_forget(const ArticulatedLanes *w, int64_t step, mask running)
{
    for (int row = record_first(w, step); row < record_first(w, step + 1); row++) {
        for (int k = 0; k < w->c.n_targets; k++) {
            double *residual = w->residuals + (row * w->c.n_targets + k) * w->stride;
            store_all(residual, select_real(running, load_all(residual), splat(0.0)));
        }
    }
}

// The sums that metrics are made of: their number, and the cell of one.
static int gradient_sums(const ArticulatedLanes *w) { return w->c.n_targets > 0 ? GRADIENT_SUMS : ARTICULATED_SUMS; }
static int gradient_sum(const ArticulatedLanes *w, int k)
{
    return k < ARTICULATED_SUMS ? articulated_sum(w, k) : reference_cell(w, REFERENCE_SUM + k - ARTICULATED_SUMS);
}

// Ends lanes after `ticks` steps: their metrics, and the sums that these are made of. Returns those that go on.
static mask gradient_end(Gradient *gradient, int64_t ticks, real failure, mask running, int *failures)
{
    const ArticulatedLanes *w = &gradient->w;
    const mask over = ticks == w->c.ticks ? all_lanes() : MASK(failure > ARTICULATED_NONE), ended = running & over;
    if (!any_lane(ended)) return running;
    gradient->steps = select_real(ended, splat((double)ticks), gradient->steps);
    for (int k = 0; k < gradient_sums(w); k++) {
        double *sum = gradient->sums + k * LANES;
        store_all(sum, select_real(ended, limb(w, gradient_sum(w, k)), load_all(sum)));
    }
    articulated_metrics(w, splat((double)ticks), ended);
    if (w->c.n_targets > 0) lanes_set_metric(w->group, ARTICULATED_REFERENCE_ERROR, reference_error(w), ended);
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
    for (int k = 0; k < GRADIENT_SUMS * LANES; k++) gradient->sums[k] = 0.0;
    articulated_begin(w);
    while (any_lane(running)) {
        real changed;
        gradient_store(gradient, tick);
        ArticulatedSeen seen = articulated_tick_solve(w, tick, &changed);
        articulated_tick_move(w, &seen, changed);
        tick++;
        articulated_tick_compare(w, tick);
        if (w->c.n_targets > 0) gradient_forget(w, tick, running);
        running = gradient_end(gradient, tick, articulated_failure(w, &seen), running, lanes->failure);
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

// The size of the derivatives with respect to the state: of all positions, turns, velocities and angular momenta, in SI
// units. Those along a quaternion itself say nothing.
static real gradient_size(const ArticulatedLanes *w)
{
    static const int vectors[] = {ARTICULATED_X, ARTICULATED_V, ARTICULATED_L, ARTICULATED_W};
    real sum = splat(0.0);
    for (int i = 0; i < w->c.n_bodies; i++) {
        const int at = articulated_at(i);
        const Quaternion q = limb4(w, at + ARTICULATED_Q),
                         q_bar = pull_normal(q, splat(1.0), bar4(w, at + ARTICULATED_Q));
        for (size_t k = 0; k < sizeof vectors / sizeof *vectors; k++)
            sum = sum + dot3(bar3(w, at + vectors[k]), bar3(w, at + vectors[k]));
        sum = sum + (q_bar.x * q_bar.x + q_bar.y * q_bar.y + q_bar.z * q_bar.z + q_bar.w * q_bar.w);
    }
    return square_root(sum);
}

// Over the times of a run: the greatest size, and that at the latest time at which it is above 0.
typedef struct GradientGrowth {
    real greatest, last;
} GradientGrowth;

static void gradient_watch(const ArticulatedLanes *w, mask which, GradientGrowth *growth)
{
    if (!any_lane(which)) return;
    const real size = gradient_size(w);
    growth->last = select_real(which & ~MASK(growth->last > 0.0), size, growth->last);
    growth->greatest = select_real(which & ~MASK(size <= growth->greatest), size, growth->greatest);
}

// Lanes whose last step is the next one in reverse begin with the bars of their metrics.
static void gradient_enter(const Gradient *gradient, int64_t end, const real *metric_bar, GradientGrowth *growth)
{
    const ArticulatedLanes *w = &gradient->w;
    const mask entering = MASK(gradient->steps == (double)end);
    if (!any_lane(entering)) return;
    for (int k = 0; k < w->c.cells + gradient->configured->n_parameters; k++)
        set_limb(w, w->c.cells + k, select_real(entering, splat(0.0), limb(w, w->c.cells + k)));
    pull_metrics(w, gradient->steps, metric_bar, entering);
    commands_start(w, end - 1);
    gradient_watch(w, entering, growth);
}

static void gradient_back_segment(const Gradient *gradient, int64_t number, const real *metric_bar,
                                  GradientGrowth *growth)
{
    const ArticulatedLanes *w = &gradient->w;
    const bool last = number == gradient->segments - 1;
    const int64_t first = number * gradient->segment, end = last ? gradient->ticks : first + gradient->segment;
    if (!last) gradient_run_segment(gradient, number);
    for (int64_t tick = end - 1; tick >= first; tick--) {
        gradient_enter(gradient, tick + 1, metric_bar, growth);
        pull_tick(w, tick, gradient->states + (tick - first) * gradient->size);
        gradient_watch(w, MASK(gradient->steps > (double)tick), growth);
    }
}

HD_CALL void articulated_adjoint_back(void *memory, const double *weight, double *result, double *grown)
{
    const Gradient *gradient = memory;
    const ArticulatedLanes *w = &gradient->w;
    const int valid = gradient->group.valid;
    real metric_bar[ARTICULATED_N_METRICS + 1];
    GradientGrowth growth = {splat(0.0), splat(0.0)};
    for (int m = 0; m < gradient->configured->n_metrics; m++) metric_bar[m] = load_lanes(weight + m * valid, valid);
    bars_clear(w, gradient->configured->n_parameters);
    for (int k = 0; k < gradient_sums(w); k++) set_limb(w, gradient_sum(w, k), load_all(gradient->sums + k * LANES));
    for (int64_t number = gradient->segments - 1; number >= 0; number--)
        gradient_back_segment(gradient, number, metric_bar, &growth);
    if (w->c.n_targets > 0) pull_reference_begin(w);
    pull_begin(w);
    for (int p = 0; p < gradient->configured->n_parameters; p++)
        store_lanes(result + p * valid, limb(w, parameter_bar_at(w, p)), all_lanes(), valid);
    store_lanes(grown, growth.greatest / growth.last, all_lanes(), valid);
}

#endif
