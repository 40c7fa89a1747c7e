// The kernels of the benchmark functions: one tick is one evaluation. Numbers and names as in N. Hansen, S. Finck,
// R. Ros & A. Auger, Real-parameter black-box optimization benchmarking 2009: noiseless functions definitions, INRIA
// research report RR-6829.
// f_opt is 0: what comes out is the distance to the optimal value.
#ifndef HOPSCOTCH_BBOB_ADVANCE_H
#define HOPSCOTCH_BBOB_ADVANCE_H

#include "../lanes.h"
#include "bbob.h"

// x_i - x_opt_i
HD real bbob_offset(const LaneGroup *group, const double *x_opt, int i)
{
    return lanes_parameter(group, i) - splat(x_opt[i]);
}

// f1, sphere: |x - x_opt|^2
HD real bbob_f1(const BbobConstants *c, const double *x_opt, const LaneGroup *group)
{
    real sum = splat(0.0);
    for (int i = 0; i < c->dimension; i++) {
        const real z = bbob_offset(group, x_opt, i);
        sum = fused(z, z, sum);
    }
    return sum;
}

// f8, Rosenbrock: sum of 100 (z_i^2 - z_i+1)^2 + (z_i - 1)^2, z = scale (x - x_opt) + 1
HD real bbob_f8(const BbobConstants *c, const double *x_opt, const LaneGroup *group)
{
    const real one = splat(1.0), scale = splat(c->scale);
    real sum = splat(0.0), z = fused(scale, bbob_offset(group, x_opt, 0), one);
    for (int i = 1; i < c->dimension; i++) {
        const real next = fused(scale, bbob_offset(group, x_opt, i), one);
        const real bend = fused(z, z, -next), rest = z - one;
        sum = fused(100.0 * bend, bend, sum);
        sum = fused(rest, rest, sum);
        z = next;
    }
    return sum;
}

// The two samples of a lane, before the evaluation and after, are its point x.
HD void bbob_sample(const BbobConstants *c, const LaneGroup *group, double tick, mask which)
{
    real sample[1 + BBOB_DIMENSIONS_MAX];
    sample[0] = splat(tick);
    for (int i = 0; i < c->dimension; i++) sample[1 + i] = lanes_parameter(group, i);
    lanes_sample(group, sample, which);
}

// the lanes of `which` end with the value f
HD void bbob_finish(const BbobConstants *c, const double *x_opt, const LaneGroup *group, real f, mask which)
{
    lanes_set_metric(group, BBOB_METRIC_F, f, which);
    lanes_set_metric(group, BBOB_METRIC_DISTANCE, square_root(bbob_f1(c, x_opt, group)), which);
    lanes_end(group, select_real(is_finite(f), splat(BBOB_NONE), splat(BBOB_DIVERGED)), which);
}

#define BBOB_KERNEL(name, function)                                                                                    \
    HD void bbob_##name(const Constants *constants, const double *assets, const LaneGroup *group, bool observed)       \
    {                                                                                                                  \
        BbobConstants c;                                                                                               \
        memcpy(&c, constants, sizeof c);                                                                               \
        const mask running = lanes_running(group);                                                                     \
        if (group->ticks < 1 || !any_lane(running)) return;                                                            \
        if (observed && lanes_sample_due(group, 0)) bbob_sample(&c, group, 0.0, running);                              \
        if (observed) bbob_sample(&c, group, 1.0, running);                                                            \
        bbob_finish(&c, assets, group, function(&c, assets, group), running);                                          \
    }
BBOB_KERNEL(sphere, bbob_f1)
BBOB_KERNEL(rosenbrock, bbob_f8)
#undef BBOB_KERNEL

#endif
