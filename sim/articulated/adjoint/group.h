// What a processor keeps of a group of lanes between their run and their way back (lane.h).
#ifndef HOPSCOTCH_ARTICULATED_ADJOINT_GROUP_H
#define HOPSCOTCH_ARTICULATED_ADJOINT_GROUP_H

#include "lane.h"

// At the start of the memory. The lanes' own parameters follow, then the arrays of lane.h.
typedef struct GradientGroup {
    const Configured *configured;
    AdjointPlan plan;
    LaneGroup group;
    bool (*leaves)(const void *of); // AdjointLanes
    const void *of;
} GradientGroup;

enum {
    GRADIENT_STATES = 1 << 28,
    GRADIENT_SLICE = 64, // steps after which it asks whether to leave: some hundredths of a second
    GRADIENT_HEAD = (sizeof(GradientGroup) + 63) / 64 * 64 / sizeof(double),
};

static AdjointPlan group_plan(const Configured *configured, size_t most)
{
    return articulated_adjoint_plan(configured, (most > 0 ? most : (size_t)GRADIENT_STATES) / LANES, 1);
}
static size_t group_own(const Configured *configured, int lanes)
{
    return ((size_t)(configured->n_parameters * lanes) + 7) / 8 * 8;
}

HD_CALL size_t articulated_adjoint_bytes(const Configured *configured, int lanes, size_t most)
{
    const AdjointPlan plan = group_plan(configured, most);
    return (GRADIENT_HEAD + group_own(configured, lanes) + (size_t)articulated_adjoint_doubles(&plan) * LANES) *
           sizeof(double);
}

static Gradient group_gradient(const GradientGroup *group)
{
    return gradient_open(&group->configured->constants, group->configured->assets, &group->group, &group->plan);
}

static void group_open(const Configured *configured, const AdjointLanes *lanes, GradientGroup *group)
{
    double *own = (double *)(void *)group + GRADIENT_HEAD;
    memcpy(own, lanes->parameter, (size_t)(configured->n_parameters * lanes->count) * sizeof *own);
    memset(group, 0, sizeof *group);
    group->configured = configured;
    group->plan = group_plan(configured, lanes->most);
    group->leaves = lanes->leaves;
    group->of = lanes->of;
    group->group.batch = (Batch){.lanes = lanes->count,
                                 .stride = lanes->count,
                                 .parameter = own,
                                 .work = own + group_own(configured, lanes->count),
                                 .metric = lanes->metric};
    group->group.valid = lanes->count;
    group->group.n_columns = configured->n_columns;
    if (configured->law != NULL) {
        group->group.batch.law = *configured->law;
        group->group.batch.law.of.cell_apart = 1;
        group->group.batch.law.of.cell = group_gradient(group).w.controlled;
    }
    if (configured->meter == NULL) return;
    group->group.batch.meter = *configured->meter;
    group->group.batch.meter.of.cell_apart = 1;
    group->group.batch.meter.of.cell = group_gradient(group).w.metered;
}

static bool group_leaves(const GradientGroup *group) { return group->leaves != NULL && group->leaves(group->of); }

HD_CALL bool articulated_adjoint_run(const Configured *configured, const AdjointLanes *lanes, void *memory)
{
    GradientGroup *group = memory;
    group_open(configured, lanes, group);
    const Gradient gradient = group_gradient(group);
    const int64_t ticks = gradient.w.c.ticks;
    mask running = first_lanes(lanes->count);
    gradient_begin(&gradient);
    for (int64_t first = 0; first < ticks; first += GRADIENT_SLICE) {
        const int64_t end = first + GRADIENT_SLICE < ticks ? first + GRADIENT_SLICE : ticks;
        if (group_leaves(group)) return false;
        running = gradient_forth(&gradient, first, end, running, lanes->failure);
    }
    return true;
}

// Of the lane that took most.
static int64_t group_ticks(const Gradient *gradient)
{
    int64_t most = 0;
    for (int i = 0; i < gradient->w.group->valid; i++)
        most = (int64_t)gradient->steps[i] > most ? (int64_t)gradient->steps[i] : most;
    return most;
}

// Steps [first, end), all of one segment. False: it left.
static bool group_back(const GradientGroup *group, const Gradient *gradient, int64_t first, int64_t end,
                       const double *weight)
{
    for (int64_t last = end; last > first; last -= GRADIENT_SLICE) {
        if (group_leaves(group)) return false;
        gradient_back(gradient, last - GRADIENT_SLICE > first ? last - GRADIENT_SLICE : first, last, weight,
                      group->group.valid);
    }
    return true;
}

HD_CALL bool articulated_adjoint_back(void *memory, const double *weight, double *result, double *grown)
{
    const GradientGroup *group = memory;
    const Gradient gradient = group_gradient(group);
    const int64_t ticks = group_ticks(&gradient), segment = group->plan.segment, lanes = group->group.valid;
    gradient_back_begin(&gradient);
    for (int64_t end = ticks; end > 0; end = (end - 1) / segment * segment) {
        if (end < ticks) gradient_run_segment(&gradient, end / segment - 1);
        if (!group_back(group, &gradient, (end - 1) / segment * segment, end, weight)) return false;
    }
    gradient_back_end(&gradient, lanes, result, grown);
    return true;
}

#endif
