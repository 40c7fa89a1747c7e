// What a processor keeps of a group of lanes between their run and their way back (lane.h).
#ifndef HOPSCOTCH_ARTICULATED_ADJOINT_GROUP_H
#define HOPSCOTCH_ARTICULATED_ADJOINT_GROUP_H

#include "lane.h"

// At the start of the memory. The lanes' own parameters follow, then the arrays of lane.h.
typedef struct GradientGroup {
    const Configured *configured;
    AdjointPlan plan;
    LaneGroup group;
} GradientGroup;

enum {
    GRADIENT_STATES = 1 << 28,
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
    group->group.batch = (Batch){.lanes = lanes->count,
                                 .stride = lanes->count,
                                 .parameter = own,
                                 .work = own + group_own(configured, lanes->count),
                                 .metric = lanes->metric};
    group->group.valid = lanes->count;
}

HD_CALL void articulated_adjoint_run(const Configured *configured, const AdjointLanes *lanes, void *memory)
{
    GradientGroup *group = memory;
    group_open(configured, lanes, group);
    const Gradient gradient = group_gradient(group);
    gradient_begin(&gradient);
    (void)gradient_forth(&gradient, 0, gradient.w.c.ticks, first_lanes(lanes->count), lanes->failure);
}

// Of the lane that made most.
static int64_t group_ticks(const Gradient *gradient)
{
    int64_t most = 0;
    for (int i = 0; i < gradient->w.group->valid; i++)
        most = (int64_t)gradient->steps[i] > most ? (int64_t)gradient->steps[i] : most;
    return most;
}

HD_CALL void articulated_adjoint_back(void *memory, const double *weight, double *result, double *grown)
{
    const GradientGroup *group = memory;
    const Gradient gradient = group_gradient(group);
    const int64_t ticks = group_ticks(&gradient), segment = group->plan.segment, lanes = group->group.valid;
    gradient_back_begin(&gradient);
    for (int64_t end = ticks; end > 0; end = (end - 1) / segment * segment) {
        if (end < ticks) gradient_run_segment(&gradient, end / segment - 1);
        gradient_back(&gradient, (end - 1) / segment * segment, end, weight, lanes);
    }
    gradient_back_end(&gradient, lanes, result, grown);
}

#endif
