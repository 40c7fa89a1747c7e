// Lanes forward and back: runs them and stores their states, then goes back through them. Where not all states fit in
// memory, only the first of each segment is stored; each segment but the last is then computed again. Lanes that end
// earlier than others of their vector go on with them, and count from their ends on.
// Source: A. Griewank & A. Walther, Evaluating Derivatives, 2nd ed., 2008, ch. 12, with two levels.
#ifndef HOPSCOTCH_ARTICULATED_ADJOINT_LANE_H
#define HOPSCOTCH_ARTICULATED_ADJOINT_LANE_H

#include "../../adjoint.h"
#include "rollout.h"

#include <math.h>

// ---- memory ---------------------------------------------------------------------------------------------------------

enum { GRADIENT_SUMS = ARTICULATED_SUMS + REFERENCE_VALUES };

// Lanes with their memory. Each array is [..][stride of w].
typedef struct Gradient {
    const AdjointPlan *plan;
    ArticulatedLanes w;
    double *sums;   // [GRADIENT_SUMS] of each lane at its end
    double *steps;  // [1] that each lane took; 0: it still runs
    double *growth; // [2] GradientGrowth
    double *firsts; // [segments][state]
    double *states; // [segment][state]: before each step of the present segment
} Gradient;

// One segment where its states fit into `most` bytes; else segments so that both arrays are short. sets: of cells.
HD_BOTH AdjointPlan articulated_adjoint_plan(const Configured *configured, size_t most, int sets)
{
    AdjointPlan plan;
    ArticulatedConstants c;
    memcpy(&c, &configured->constants, sizeof c);
    const int64_t state = articulated_state_size(&c), root = (int64_t)ceil(sqrt((double)c.ticks));
    const int64_t fit = (int64_t)(most / sizeof(double)) / state;
    plan.n_parameters = configured->n_parameters;
    plan.n_metrics = configured->meter != NULL ? configured->meter->first : configured->n_metrics;
    plan.segment = c.ticks <= fit || root > c.ticks ? c.ticks : root;
    plan.cells = articulated_adjoint_cells(&c, configured->n_parameters) + (int64_t)(sets - 1) * c.cells;
    plan.state = state;
    plan.firsts = (c.ticks + plan.segment - 1) / plan.segment * state;
    plan.residuals = (int64_t)c.n_records * c.n_targets;
    plan.metered = configured->meter != NULL ? metered_doubles(configured->meter, c.ticks) : 0;
    plan.controlled = configured->law != NULL ? controlled_doubles(configured->law, c.ticks) : 0;
    return plan;
}

HD_BOTH int64_t articulated_adjoint_doubles(const AdjointPlan *plan)
{
    return plan->cells + GRADIENT_SUMS + 3 + plan->firsts + plan->segment * plan->state + plan->residuals +
           plan->metered + plan->controlled;
}

// The group's memory is of the plan.
HD Gradient gradient_open(const Constants *constants, const double *assets, const LaneGroup *group,
                          const AdjointPlan *plan)
{
    Gradient gradient;
    int stride;
    gradient.plan = plan;
    gradient.w = articulated_open(constants, assets, group);
    gradient.w.base = lanes_work_chunk(group, (int)articulated_adjoint_doubles(plan), &stride);
    gradient.sums = gradient.w.base + plan->cells * ARTICULATED_STRIDE;
    gradient.steps = gradient.sums + GRADIENT_SUMS * ARTICULATED_STRIDE;
    gradient.growth = gradient.steps + ARTICULATED_STRIDE;
    gradient.firsts = gradient.growth + 2 * ARTICULATED_STRIDE;
    gradient.states = gradient.firsts + plan->firsts * ARTICULATED_STRIDE;
    gradient.w.residuals = gradient.states + plan->segment * plan->state * ARTICULATED_STRIDE;
    if (group->batch.meter.slopes != NULL)
        gradient.w.metered = gradient.w.residuals + plan->residuals * ARTICULATED_STRIDE;
    if (group->batch.law.slopes != NULL)
        gradient.w.controlled = gradient.w.residuals + (plan->residuals + plan->metered) * ARTICULATED_STRIDE;
    return gradient;
}

// ---- forward --------------------------------------------------------------------------------------------------------

HD double *gradient_first(const Gradient *gradient, int64_t segment)
{
    return gradient->firsts + segment * gradient->plan->state * ARTICULATED_STRIDE;
}
HD double *gradient_state(const Gradient *gradient, int64_t index)
{
    return gradient->states + index * gradient->plan->state * ARTICULATED_STRIDE;
}

// The first state of a segment. A step stores each later one itself.
HD void gradient_store_first(const Gradient *gradient, int64_t tick)
{
    state_store(&gradient->w, gradient_first(gradient, tick / gradient->plan->segment));
    state_store(&gradient->w, gradient_state(gradient, 0));
}

// Of lanes that had ended before the step no difference counts.
HD void gradient_forget(const ArticulatedLanes *w, int64_t step, mask running)
{
    for (int row = record_first(w, step); row < record_first(w, step + 1); row++) {
        for (int k = 0; k < w->c.n_targets; k++) {
            double *residual = w->residuals + (row * w->c.n_targets + k) * ARTICULATED_STRIDE;
            store_all(residual, select_real(running, load_all(residual), splat(0.0)));
        }
    }
}

// The sums that metrics are computed from: their number, and the cell of one.
HD int gradient_sums(const ArticulatedLanes *w)
{
    return w->c.n_targets > 0 ? (int)GRADIENT_SUMS : (int)ARTICULATED_SUMS;
}
HD int gradient_sum(const ArticulatedLanes *w, int k)
{
    return k < ARTICULATED_SUMS ? articulated_sum(w, k) : reference_cell(w, REFERENCE_SUM + k - ARTICULATED_SUMS);
}

// Ends lanes after `ticks` steps: their metrics, and the sums that these are computed from. Returns those that go on.
HD mask gradient_end(const Gradient *gradient, int64_t ticks, real failure, mask running, int32_t *failures)
{
    const ArticulatedLanes *w = &gradient->w;
    const mask over = ticks == w->c.ticks ? all_lanes() : MASK(failure > ARTICULATED_NONE), ended = running & over;
    if (!any_lane(ended)) return running;
    if (lanes_are_metered(w)) metered_sample(w, ticks, true, ended);
    store_all(gradient->steps, select_real(ended, splat((double)ticks), load_all(gradient->steps)));
    for (int k = 0; k < gradient_sums(w); k++) {
        double *sum = gradient->sums + k * ARTICULATED_STRIDE;
        store_all(sum, select_real(ended, limb(w, gradient_sum(w, k)), load_all(sum)));
    }
    articulated_all_metrics(w, splat((double)ticks), ended);
    for (int i = 0; i < w->group->valid; i++) {
        if (lane_of_mask(ended, i)) failures[i] = (int32_t)lane_of(failure, i);
    }
    return running & ~ended;
}

HD void gradient_begin(const Gradient *gradient)
{
    const int64_t residuals = gradient->plan->residuals;
    for (int k = 0; k < GRADIENT_SUMS + 3; k++) store_all(gradient->sums + k * ARTICULATED_STRIDE, splat(0.0));
    for (int64_t k = 0; k < residuals; k++) store_all(gradient->w.residuals + k * ARTICULATED_STRIDE, splat(0.0));
    if (lanes_are_metered(&gradient->w)) metered_begin(&gradient->w);
    articulated_begin(&gradient->w);
    if (lanes_are_controlled(&gradient->w)) law_begin(gradient->w.group, all_lanes());
}

// Steps [first, end) of the lanes that run. failures[valid] of those that end; returns those that go on.
HD mask gradient_forth(const Gradient *gradient, int64_t first, int64_t end, mask running, int32_t *failures)
{
    ArticulatedLanes lanes = gradient->w, *w = &lanes;
    for (int64_t tick = first; tick < end && any_lane(running); tick++) {
        real changed;
        const int64_t segment = gradient->plan->segment, next = tick % segment + 1;
        if (next == 1) gradient_store_first(gradient, tick);
        if (lanes_are_metered(w)) metered_sample(w, tick, false, running);
        if (law_is_due(w->group, tick)) {
            const real period = law_period(w->group, tick);
            articulated_decide(w, splat((double)tick * w->c.dt), period, all_lanes());
            controlled_keep(w, tick / law_of(w->group)->ticks);
        }
        ArticulatedSeen seen = articulated_tick_solve(w, tick, &changed);
        articulated_tick_move(w, splat((double)tick * w->c.dt), &seen, changed,
                              next < segment ? gradient_state(gradient, next) : NULL);
        articulated_tick_compare(w, tick + 1);
        if (w->c.n_targets > 0) gradient_forget(w, tick + 1, running);
        running = gradient_end(gradient, tick + 1, articulated_failure(w, &seen), running, failures);
    }
    return running;
}

// The states of a segment once more.
HD_CALL void gradient_run_segment(const Gradient *gradient, int64_t number)
{
    const ArticulatedLanes *w = &gradient->w;
    const int64_t first = number * gradient->plan->segment;
    state_load(w, gradient_first(gradient, number));
    for (int64_t tick = first; tick < first + gradient->plan->segment; tick++) {
        const real t = splat((double)tick * w->c.dt);
        state_store(w, gradient_state(gradient, tick - first));
        if (lanes_are_controlled(w)) controlled_recall(w, tick);
        (void)control_set(w, tick, t);
        articulated_tick(w, t);
    }
}

// ---- back -----------------------------------------------------------------------------------------------------------

// The sum of the squares of the derivatives with respect to the first state, as pull_move returns that of each later
// one: of all positions, turns, velocities and angular momenta, in SI units.
HD real gradient_first_squares(const ArticulatedLanes *w)
{
    real sum = splat(0.0);
    for (int i = 0; i < w->c.n_bodies; i++) {
        const int at = articulated_at(i);
        const Quaternion q = limb4(w, at + ARTICULATED_Q);
        const Vector3 x = bar3(w, at + ARTICULATED_X), v = bar3(w, at + ARTICULATED_V);
        const Vector3 l = bar3(w, at + ARTICULATED_L), turn = bar3(w, at + ARTICULATED_W);
        const real turned = quaternion_square(pull_normal(q, splat(1.0), bar4(w, at + ARTICULATED_Q)));
        sum = sum + (dot3(x, x) + dot3(v, v) + dot3(l, l) + dot3(turn, turn) + turned);
    }
    return sum;
}

// Over the times of a run: the greatest size of these derivatives, and that at the latest time at which it is above 0.
typedef struct GradientGrowth {
    real greatest, last;
} GradientGrowth;

HD GradientGrowth growth_load(const Gradient *gradient)
{
    const GradientGrowth growth = {load_all(gradient->growth), load_all(gradient->growth + ARTICULATED_STRIDE)};
    return growth;
}
HD void growth_store(const Gradient *gradient, const GradientGrowth *growth)
{
    store_all(gradient->growth, growth->greatest);
    store_all(gradient->growth + ARTICULATED_STRIDE, growth->last);
}

HD void growth_add(mask which, real squares, GradientGrowth *growth)
{
    const real size = square_root(squares);
    growth->last = select_real(which & ~MASK(growth->last > 0.0), size, growth->last);
    growth->greatest = select_real(which & ~MASK(size <= growth->greatest), size, growth->greatest);
}

// Before the last step in reverse.
HD void gradient_back_begin(const Gradient *gradient)
{
    const ArticulatedLanes *w = &gradient->w;
    const GradientGrowth none = {splat(0.0), splat(0.0)};
    bars_clear(w, gradient->plan->n_parameters);
    for (int k = 0; k < gradient_sums(w); k++)
        set_limb(w, gradient_sum(w, k), load_all(gradient->sums + k * ARTICULATED_STRIDE));
    if (lanes_are_metered(w)) metered_back_begin(w);
    if (lanes_are_controlled(w)) controlled_back_begin(w);
    growth_store(gradient, &none);
}

// Lanes whose last step is the next one in reverse begin with the bars of their metrics: weight[n_metrics][lanes].
HD_CALL void gradient_enter(const Gradient *gradient, int64_t end, const double *weight, int64_t lanes)
{
    const ArticulatedLanes *w = &gradient->w;
    const real steps = load_all(gradient->steps);
    const mask entering = MASK(steps == (double)end);
    real metric_bar[ARTICULATED_N_METRICS + 2];
    if (!any_lane(entering)) return;
    for (int m = 0; m < gradient->plan->n_metrics; m++) metric_bar[m] = load_lanes(weight + m * lanes, w->group->valid);
    for (int k = 0; k < w->c.cells + gradient->plan->n_parameters; k++)
        set_bar(w, k, select_real(entering, splat(0.0), bar(w, k)));
    pull_metrics(w, steps, metric_bar, entering);
    if (lanes_are_metered(w)) metered_enter(w, steps, weight, lanes);
    if (lanes_are_controlled(w)) controlled_enter(w, steps, entering);
    commands_start(w, end - 1);
}

// Steps [first, end) of a segment, the last one first. weight: of the group's lanes.
HD void gradient_back(const Gradient *gradient, int64_t first, int64_t end, const double *weight, int64_t lanes)
{
    const ArticulatedLanes *w = &gradient->w;
    GradientGrowth growth = growth_load(gradient);
    for (int64_t tick = end - 1; tick >= first; tick--) {
        gradient_enter(gradient, tick + 1, weight, lanes);
        const real squares = pull_tick(w, tick, gradient_state(gradient, tick % gradient->plan->segment));
        growth_add(MASK(load_all(gradient->steps) > (double)tick), squares, &growth);
    }
    growth_store(gradient, &growth);
}

// After the first step in reverse: result[n_parameters][lanes], grown[lanes] of the group's lanes.
HD void gradient_back_end(const Gradient *gradient, int64_t lanes, double *result, double *grown)
{
    const ArticulatedLanes *w = &gradient->w;
    const int valid = w->group->valid;
    GradientGrowth growth = growth_load(gradient);
    growth_add(all_lanes(), gradient_first_squares(w), &growth);
    if (w->c.n_targets > 0) pull_reference(w, 0);
    if (lanes_are_metered(w)) pull_meter(w, 0);
    if (lanes_are_controlled(w)) pull_law(w, 0);
    if (columns_count(w)) pull_begin_commands(w);
    pull_begin(w);
    for (int p = 0; p < gradient->plan->n_parameters; p++)
        store_lanes(result + p * lanes, limb(w, parameter_bar_at(w, p)), all_lanes(), valid);
    store_lanes(grown, growth.greatest / growth.last, all_lanes(), valid);
}

#endif
