// A lane by two threads of a GPU, of two warps of a thread block. One goes ahead: it loads the state before a step and
// computes the step again, while the other goes back through the step after it. Both take turns in two sets of cells:
// the state before step k stands in set k mod 2. A warp mostly waits for memory, and 16,384 lanes are only one for each
// scheduler of a large GPU. Where there are no teams a single thread does both.
#ifndef HOPSCOTCH_ARTICULATED_ADJOINT_PAIR_H
#define HOPSCOTCH_ARTICULATED_ADJOINT_PAIR_H

#include "../../team.h"
#include "lane.h"

HD Gradient gradient_of_thread(const Constants *constants, const double *assets, const AdjointSlice *slice,
                               LaneGroup *group, int64_t lane)
{
    memset(group, 0, sizeof *group);
    group->batch = slice->batch;
    group->lane = lane;
    group->valid = 1;
    return gradient_open(constants, assets, group, &slice->plan);
}

HD void articulated_adjoint_forth(const Constants *constants, const double *assets, const AdjointSlice *slice,
                                  int64_t lane)
{
    LaneGroup group;
    const Gradient gradient = gradient_of_thread(constants, assets, slice, &group, lane);
    if (slice->first == 0) gradient_begin(&gradient);
    (void)gradient_forth(&gradient, slice->first, slice->end, MASK(load_all(gradient.steps) == 0.0),
                         slice->batch.status + lane);
}

// ---- two sets of cells ----------------------------------------------------------------------------------------------

// Cells from the first set on to the second: behind the bars, which both share.
HD int pair_apart(const Gradient *gradient) { return 2 * gradient->w.c.cells + gradient->plan->n_parameters; }

// Uses the cells with the state before this step.
HD void pair_use(Gradient *gradient, double *first, int64_t tick)
{
    const int apart = tick % 2 == 0 ? 0 : pair_apart(gradient);
    gradient->w.base = first + (int64_t)apart * ARTICULATED_STRIDE;
    gradient->w.bars = gradient->w.c.cells - apart;
}

// Before the last step in reverse: both sets are what the run left in the first one.
HD void pair_begin(Gradient *gradient, double *first)
{
    pair_use(gradient, first, 0);
    gradient_back_begin(gradient);
    for (int k = 0; k < gradient->w.c.cells; k++)
        set_limb(&gradient->w, pair_apart(gradient) + k, limb(&gradient->w, k));
}

// ---- the two threads ------------------------------------------------------------------------------------------------

// A lane on its way back through the steps [begin, end) of a slice.
typedef struct GradientPair {
    Gradient gradient;
    GradientGrowth growth;
    double *first; // the first set of cells
    int64_t ticks; // that the lane took
    int64_t begin, end;
} GradientPair;

// Goes ahead: the step again, with u'.
HD_CALL void pair_ahead(GradientPair *pair, int64_t tick)
{
    Gradient *gradient = &pair->gradient;
    const ArticulatedLanes *w = &gradient->w;
    const real t = splat((double)tick * w->c.dt);
    pair_use(gradient, pair->first, tick);
    state_load(w, gradient_state(gradient, tick % gradient->plan->segment));
    (void)control_set(w, tick, t);
    if (w->c.whole > 0) return; // pull_two computes all three steps again
    step_again(w, t, splat(w->c.dt));
    for (int i = 0; i < w->c.n_bodies; i++) tree_lower(w, i);
}

// Goes back through a step that was computed again, and through what metrics take from the state before it.
HD_CALL void pair_back(GradientPair *pair, int64_t tick)
{
    Gradient *gradient = &pair->gradient;
    pair_use(gradient, pair->first, tick);
    growth_add(all_lanes(), pull_tick_step(&gradient->w, tick, true), &pair->growth);
    if (tick > pair->begin) pull_tick_sums(&gradient->w, tick - 1);
}

// Before the first step of a slice.
HD void pair_back_start(GradientPair *pair, const double *weight, int64_t lanes)
{
    Gradient *gradient = &pair->gradient;
    pair->growth = growth_load(gradient);
    pair_use(gradient, pair->first, pair->end);
    gradient_enter(gradient, pair->end, weight, lanes);
    pull_tick_sums(&gradient->w, pair->end - 1);
}
HD void pair_ahead_start(GradientPair *pair)
{
    const int64_t segment = pair->gradient.plan->segment;
    if (pair->ticks <= pair->end || pair->end % segment != 0) return;
    pair_use(&pair->gradient, pair->first, pair->end - 1); // the set that is free
    gradient_run_segment(&pair->gradient, pair->end / segment - 1);
}

HD void pair_back_end(GradientPair *pair, const AdjointSlice *slice, int64_t lane)
{
    growth_store(&pair->gradient, &pair->growth);
    if (slice->first > 0) return;
    pair_use(&pair->gradient, pair->first, 0);
    gradient_back_end(&pair->gradient, slice->batch.lanes, slice->gradient + lane, slice->growth + lane);
}

// A segment consists of slices. A lane that had ended before it has nothing to do yet, but waits with the others.
HD void articulated_adjoint_back_slice(const Constants *constants, const double *assets, const AdjointSlice *slice,
                                       int64_t lane, int thread)
{
    const bool alone = ADJOINT_THREADS == 1, ahead = thread == 0, back = alone || !ahead;
    GradientPair pair;
    LaneGroup group;
    pair.gradient = gradient_of_thread(constants, assets, slice, &group, lane < slice->batch.lanes ? lane : 0);
    pair.first = pair.gradient.w.base;
    pair.ticks = lane < slice->batch.lanes ? (int64_t)*pair.gradient.steps : 0;
    pair.begin = slice->first;
    pair.end = slice->end < pair.ticks ? slice->end : pair.ticks;
    const bool works = pair.end > pair.begin;
    if (works && back && pair.end == pair.ticks) pair_begin(&pair.gradient, pair.first);
    adjoint_threads_meet();
    if (works && back) pair_back_start(&pair, slice->weight + lane, slice->batch.lanes);
    if (works && ahead) pair_ahead_start(&pair);
    for (int64_t tick = slice->end; tick >= slice->first; tick--) {
        // alone: in either order, so that tests find what one takes from the other
        if (alone && tick % 3 == 0 && tick < pair.end) pair_back(&pair, tick);
        if (works && ahead && tick > slice->first && tick <= pair.end) pair_ahead(&pair, tick - 1);
        if (back && !(alone && tick % 3 == 0) && tick < pair.end) pair_back(&pair, tick);
        adjoint_threads_meet();
    }
    if (works && back) pair_back_end(&pair, slice, lane);
}

#endif
