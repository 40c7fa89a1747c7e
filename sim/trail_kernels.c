// The runs of lanes of `equations` that leave a trail (equations/trail.h), and what goes along it: compiled apart from
// the other kernels, with one lane, for two instruction sets that give the same bits.
#if !defined(HOPSCOTCH_SCALAR)
#define HOPSCOTCH_SCALAR
#endif
#if !defined(HOPSCOTCH_CALLS)
#define HOPSCOTCH_CALLS
#endif
#define HOPSCOTCH_TRAIL
#include "trail_kernels.h"

#include "equations/adjoint/tangent.h"
#include "equations/drawing.h"

#ifndef TRAIL_KERNELS
#define TRAIL_KERNELS trail_kernels_v2
#endif

// At the start of the memory of a lane; its numbers follow.
typedef struct TrailHead {
    TrailSystem of;
    TrailLane lane;
    bool (*leaves)(const void *of);
    const void *leaves_of;
} TrailHead;
enum { TRAIL_HEAD = (sizeof(TrailHead) + 63) / 64 * 64 / sizeof(double) };

static TrailSystem trail_system(const Configured *configured)
{
    return (TrailSystem){.constants = &configured->constants,
                         .assets = configured->assets,
                         .derivatives = equations_derivatives(configured),
                         .n_parameters = configured->n_parameters,
                         .n_metrics = configured->n_metrics,
                         .n_work = configured->n_work,
                         .ticks = configured->ticks};
}

static size_t trail_bytes(const Configured *configured, size_t most)
{
    const TrailSystem of = trail_system(configured);
    const TrailPlan plan = trail_plan(&of, most);
    return (size_t)(TRAIL_HEAD + trail_doubles(&of, &plan)) * sizeof(double);
}

static TrailHead *trail_begin(const Configured *configured, size_t most, void *memory, const double *parameter)
{
    TrailHead *head = memory;
    *head = (TrailHead){.of = trail_system(configured)};
    const TrailPlan plan = trail_plan(&head->of, most);
    (void)trail_open(&head->of, &plan, (double *)memory + TRAIL_HEAD, &head->lane);
    cells_copy(head->lane.parameter, parameter, configured->n_parameters);
    return head;
}

static bool trail_leaves(const TrailHead *head) { return head->leaves != NULL && head->leaves(head->leaves_of); }

static bool run_trail(const Configured *configured, const AdjointLanes *lanes, void *memory)
{
    TrailHead *head = trail_begin(configured, lanes->most, memory, lanes->parameter);
    TrailLane *lane = &head->lane;
    head->leaves = lanes->leaves;
    head->leaves_of = lanes->of;
    while (lane->fills) {
        if (trail_leaves(head)) return false;
        trail_run(lane, lane->motion.d->method, TRAIL_SLICE);
    }
    cells_copy(lanes->metric, lane->metric, configured->n_metrics);
    lanes->failure[0] = lane->status - LANE_DONE;
    return true;
}

static bool go_back(void *memory, const double *weight, double *gradient, double *growth)
{
    TrailHead *head = memory;
    TrailLane *lane = &head->lane;
    cells_copy(lane->weigh, weight, lane->of->n_metrics);
    trail_back_start(lane);
    while (!trail_is_back(lane)) {
        if (trail_leaves(head)) return false;
        if (lane->fills)
            trail_run(lane, lane->motion.d->method, TRAIL_SLICE);
        else
            trail_back(lane, TRAIL_SLICE);
    }
    trail_back_end(lane, gradient, 1, growth);
    return true;
}

static const char *reason_of_trouble(int trouble)
{
    static const char *const text[] = {TRAIL_TROUBLES(TRAIL_TROUBLE_TEXT)};
    return text[trouble];
}

static const char *trouble_of_trail(const void *memory, double *time)
{
    const TrailLane *lane = &((const TrailHead *)memory)->lane;
    *time = lane->trouble;
    return reason_of_trouble((int)trail_trouble(lane));
}

static size_t tangent_bytes(const Configured *configured)
{
    const TrailSystem of = trail_system(configured);
    return trail_bytes(configured, TANGENT_MEMORY) + (size_t)tangent_doubles(&of) * sizeof(double);
}

static int run_tangent(const Configured *configured, const double *parameter, const double *direction, void *memory,
                       double *metric, double *slope, ResidualSeries *series, int n_series)
{
    TrailLane *lane = &trail_begin(configured, TANGENT_MEMORY, memory, parameter)->lane;
    Tangent tangent;
    tangent_lay(lane, (double *)memory + trail_bytes(configured, TANGENT_MEMORY) / sizeof(double), &tangent);
    tangent.series = series;
    tangent.n_series = n_series;
    tangent_run(&tangent, direction);
    cells_copy(slope, tangent.slope, configured->n_metrics);
    cells_copy(metric, lane->metric, configured->n_metrics);
    return lane->status - LANE_DONE;
}

// ---- for a GPU ------------------------------------------------------------------------------------------------------

static TrailSizes sizes_of_trail(const Configured *configured, size_t most)
{
    const TrailSystem of = trail_system(configured);
    const TrailPlan plan = trail_plan(&of, most);
    return (TrailSizes){.room = plan.room,
                        .most = plan.most,
                        .at_once = plan.at_once,
                        .doubles = trail_doubles(&of, &plan) + tangent_doubles(&of),
                        .width = plan.width,
                        .known = trail_constants(&of)->fixed_steps != 0};
}

static size_t copy_system(const Configured *configured, const void *at, void *block)
{
    enum { APART = 64 };
    TrailSystem of = trail_system(configured);
    const EquationsDerivatives *from = of.derivatives;
    const char *there = at;
    char *to = block;
    const size_t n_assets = (size_t)configured->n_assets * sizeof(double),
                 constants = (sizeof of + APART - 1) / APART * APART,
                 assets = (constants + sizeof(Constants) + APART - 1) / APART * APART,
                 derivatives = (assets + n_assets + APART - 1) / APART * APART;
    const size_t size = derivatives + equations_derivatives_copy(from, trail_constants(&of), of.assets,
                                                                 there != NULL ? there + derivatives : NULL,
                                                                 to != NULL ? to + derivatives : NULL);
    if (to == NULL) return size;
    memcpy(to + constants, of.constants, sizeof(Constants));
    memcpy(to + assets, of.assets, n_assets);
    of.constants = (const void *)(there + constants);
    of.assets = (const void *)(there + assets);
    of.derivatives = (const void *)(there + derivatives);
    memcpy(to, &of, sizeof of);
    return size;
}

const TrailKernels TRAIL_KERNELS = {trail_bytes, run_trail,      go_back,     trouble_of_trail, tangent_bytes,
                                    run_tangent, sizes_of_trail, copy_system, reason_of_trouble};
