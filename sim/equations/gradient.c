// What has a derivative, and the kernels that compute it (adjoint/lane.h).
#include "gradient.h"

#include "../models.h"
#include "../trail_kernels.h"
#include "derivatives.h"
#include "drawing.h"
#include "equations.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static const char *gradient_refuses_equations(const Configured *configured)
{
    if (configured->meter != NULL) return "metrics over columns have no gradient in a system of equations";
    return equations_derivatives(configured)->refusal;
}

static const char *gradient_bends_equations(const Configured *configured, int metric)
{
    const System *system = equations_system(configured);
    if (metric >= system->n_metrics) return system->is_map ? "a number of iterations" : NULL; // survived
    const EquationsDerivatives *derivatives = equations_derivatives(configured);
    const int integral = system->metrics[metric].integral;
    const bool jumps = derivatives->jumps != NULL && integral >= 0 && derivatives->jumps[integral];
    switch (system->metrics[metric].reduction) {
    case REDUCTION_COUNT: return "count";
    case REDUCTION_MEAN:
    case REDUCTION_RMS:
    case REDUCTION_INTEGRAL: return jumps ? "its expression may jump with a state" : NULL;
    case REDUCTION_FIRST:
    case REDUCTION_LAST:
    case REDUCTION_PART: return system->is_map ? "a number of iterations" : NULL;
    default: return NULL;
    }
}

static const char *gradient_jumping(const Configured *configured) { return equations_derivatives(configured)->jumping; }

static bool gradient_smooth_equations(const Configured *configured)
{
    EquationsConstants c;
    memcpy(&c, &configured->constants, sizeof c);
    return c.n_events == 0 && gradient_jumping(configured) == NULL;
}

static bool gradient_by_parameter_of_equations(const Configured *configured, int parameter)
{
    // the last parameter of a system with noise is the lane's seed
    return equations_system(configured)->n_sources == 0 || parameter + 1 < configured->n_parameters;
}

static int gradient_one_lane(void) { return 1; }

static size_t gradient_lane_bytes(const Configured *configured, int lanes, size_t most)
{
    (void)lanes;
    return cpu_trail_kernels()->bytes(configured, most);
}

static bool gradient_lane_back(const Configured *configured, int lanes, void *memory, const double *weight,
                               double *gradient, double *growth)
{
    (void)configured, (void)lanes;
    return cpu_trail_kernels()->back(memory, weight, gradient, growth);
}

static const char *gradient_lane_trouble(const void *memory, double *time)
{
    return cpu_trail_kernels()->trouble(memory, time);
}

static size_t gradient_lane_tangent_bytes(const Configured *configured)
{
    return cpu_trail_kernels()->tangent_bytes(configured);
}

static bool gradient_lane_run(const Configured *configured, const AdjointLanes *lanes, void *memory)
{
    return cpu_trail_kernels()->run(configured, lanes, memory);
}

static int gradient_lane_directions(const Configured *configured) { return (void)configured, 1; }

static int gradient_lane_tangent(const Configured *configured, const double *parameter, const double *direction, int n,
                                 void *memory, double *metric, double *slope, ResidualSeries *series, int n_series)
{
    assert(n == 1);
    return cpu_trail_kernels()->tangent(configured, parameter, direction, memory, metric, slope, series, n_series);
}

// How often an instant, or a row, comes in a run, at most; negative: not known beforehand.
static int64_t gradient_instants(const System *system, const SystemAction *action, double duration)
{
    if (action->guard >= 0) {
        const SystemGuard *guard = &system->guards[action->guard];
        int rows = 0;
        while (rows < guard->n_rows && guard->rows[rows] * (1.0 + EQUATIONS_SAME) < duration) rows++;
        return guard->rows != NULL ? rows : -1;
    }
    const SystemInstant *instant = &system->instants[action->instant];
    const TapeNode *node = &system->tape->nodes[instant->at];
    if (node->operation != PROGRAM_NUMBER || node->number < 0.0 || (instant->every && node->number == 0.0)) return -1;
    if (!instant->every) return node->number * (1.0 + EQUATIONS_SAME) < duration;
    // 0, one period, two, ... before the end: as equations_before_end
    int64_t count = (int64_t)ceil(duration / node->number);
    while (count > 1 && !((double)(count - 1) * node->number * (1.0 + EQUATIONS_SAME) < duration)) count--;
    while ((double)count * node->number * (1.0 + EQUATIONS_SAME) < duration) count++;
    return count;
}

// Of a metric with `take: rms` at an event that comes at instants known beforehand.
static int64_t gradient_residuals_of_equations(const Configured *configured, int metric)
{
    const System *system = equations_system(configured);
    if (metric >= system->n_metrics) return 0;
    const SystemMetric *of = &system->metrics[metric];
    const bool at_event = of->reduction == REDUCTION_BEFORE || of->reduction == REDUCTION_AFTER;
    if (!at_event || of->take != REDUCTION_TAKE_RMS) return 0;
    int64_t most = 0;
    for (int m = 0; m < system->n_modes; m++) {
        int64_t count = 0;
        for (int a = 0; a < system->modes[m].n_actions; a++) {
            const SystemAction *action = &system->modes[m].actions[a];
            if (action->event != of->event) continue;
            const int64_t instants = gradient_instants(system, action, configured->duration);
            if (instants < 0) return 0;
            count += instants;
        }
        most = count > most ? count : most;
    }
    return most;
}

const Adjoint equations_adjoint = {.refuses = gradient_refuses_equations,
                                   .bends = gradient_bends_equations,
                                   .jumping = gradient_jumping,
                                   .smooth = gradient_smooth_equations,
                                   .parameter = gradient_by_parameter_of_equations,
                                   .lanes = gradient_one_lane,
                                   .bytes = gradient_lane_bytes,
                                   .run = gradient_lane_run,
                                   .back = gradient_lane_back,
                                   .trouble = gradient_lane_trouble,
                                   .directions = gradient_lane_directions,
                                   .tangent_bytes = gradient_lane_tangent_bytes,
                                   .tangent = gradient_lane_tangent,
                                   .tangent_on_gpu = true,
                                   .residuals = gradient_residuals_of_equations};
