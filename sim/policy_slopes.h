// Derivatives of policies (policy.h), along a direction and in reverse: those of the layers behind each other.
// An output at -1 or 1 does not change.
#ifndef HOPSCOTCH_POLICY_SLOPES_H
#define HOPSCOTCH_POLICY_SLOPES_H

#include "policy.h"

// Numbers of all layers, observations first.
HD_BOTH int policy_numbers(const PolicyShape *shape)
{
    int count = 0;
    for (int k = 0; k <= (int)shape->layers; k++) count += (int)shape->width[k];
    return count;
}

// Where the numbers of a layer begin among those of all, and its weights among all weights.
HD int policy_layer_at(const PolicyShape *shape, int layer)
{
    int at = 0;
    for (int k = 0; k < layer; k++) at += (int)shape->width[k];
    return at;
}
HD int64_t policy_weights_at(const PolicyShape *shape, int layer)
{
    int64_t at = 0;
    for (int k = 0; k < layer; k++) at += (int64_t)shape->width[k + 1] * (1 + (int64_t)shape->width[k]);
    return at;
}

// kept[policy_numbers] of which the observations are there: behind them the numbers of each layer, with the bits of
// policy_act; those of the last one are not clamped.
HD_CALL void policy_forth(const Policy *restrict policy, const LaneGroup *restrict group, Frame kept)
{
    const int layers = (int)policy->shape->layers;
    int64_t at = 0;
    for (int layer = 0, from = 0; layer < layers; layer++) {
        const int inputs = (int)policy->shape->width[layer], outputs = (int)policy->shape->width[layer + 1];
        for (int i = 0; i < outputs; i++) {
            real sum = policy_weight(policy, group, at++);
            for (int k = 0; k < inputs; k++)
                sum = fused(policy_weight(policy, group, at++), frame_get(kept, from + k), sum);
            frame_set(kept, from + inputs + i, layer + 1 < layers ? hyperbolic_tangent(sum) : sum);
        }
        from += inputs;
    }
}

// The derivative of a layer's number by its sum.
HD real policy_bend(const Policy *policy, int layer, real x)
{
    if (layer < (int)policy->shape->layers) return 1.0 - x * x;
    return select_real(MASK(x > -1.0) & MASK(x < 1.0), splat(1.0), splat(0.0));
}

// ---- along a direction ----------------------------------------------------------------------------------------------

// rate[policy_numbers], of which those of observations are there: those of all layers, if each parameter p of the lane
// changes by of_parameter[p*apart].
HD_CALL void policy_along(const Policy *restrict policy, const LaneGroup *restrict group, Frame kept,
                          const double *of_parameter, int64_t apart, Frame rate)
{
    const int layers = (int)policy->shape->layers;
    const bool searched = policy->shape->searched != 0.0;
    int64_t at = 0;
    for (int layer = 0, from = 0; layer < layers; layer++) {
        const int inputs = (int)policy->shape->width[layer], outputs = (int)policy->shape->width[layer + 1];
        for (int i = 0; i < outputs; i++) {
            real sum = splat(0.0);
            for (int k = -1; k < inputs; k++, at++) { // -1: the constant
                if (searched && policy->input[at] >= 0.0) {
                    const double moves = of_parameter[(policy->parameter + (int64_t)policy->input[at]) * apart];
                    sum = sum + (k >= 0 ? moves * frame_get(kept, from + k) : splat(moves));
                }
                if (k >= 0) sum = sum + policy_weight(policy, group, at) * frame_get(rate, from + k);
            }
            const int to = from + inputs + i;
            frame_set(rate, to, policy_bend(policy, layer + 1, frame_get(kept, to)) * sum);
        }
        from += inputs;
    }
}

// ---- in reverse -----------------------------------------------------------------------------------------------------

// A layer from the bars of its numbers to those of the numbers before it, bar_before; bars of weights that are
// parameters are added to those of the lane's inputs, of_parameter, in the lanes of `which`.
HD void policy_layer_back(const Policy *policy, const LaneGroup *group, int layer, Frame kept, Frame bar,
                          Frame bar_before, Frame of_parameter, mask which)
{
    const int inputs = (int)policy->shape->width[layer], outputs = (int)policy->shape->width[layer + 1],
              from = policy_layer_at(policy->shape, layer);
    const bool searched = policy->shape->searched != 0.0;
    int64_t at = policy_weights_at(policy->shape, layer);
    for (int k = 0; k < inputs; k++) frame_set(bar_before, k, splat(0.0));
    for (int i = 0; i < outputs; i++) {
        const real sum_bar = policy_bend(policy, layer + 1, frame_get(kept, from + inputs + i)) * frame_get(bar, i);
        for (int k = -1; k < inputs; k++, at++) { // -1: the constant
            if (searched && policy->input[at] >= 0.0) {
                const int to = policy->parameter + (int)policy->input[at];
                const real more = k >= 0 ? sum_bar * frame_get(kept, from + k) : sum_bar;
                frame_put(of_parameter, to, frame_get(of_parameter, to) + more, which);
            }
            if (k >= 0) frame_set(bar_before, k, frame_get(bar_before, k) + policy_weight(policy, group, at) * sum_bar);
        }
    }
}

// bar[its outputs] becomes bar[its observations]. room: numbers of the widest layer. kept: of policy_forth.
HD_CALL void policy_back(const Policy *restrict policy, const LaneGroup *restrict group, Frame kept, Frame bar,
                         Frame room, Frame of_parameter, mask which)
{
    const Frame first = bar;
    for (int layer = (int)policy->shape->layers - 1; layer >= 0; layer--) {
        const Frame before = room;
        policy_layer_back(policy, group, layer, kept, bar, before, of_parameter, which);
        room = bar;
        bar = before;
    }
    for (int k = 0; k < (int)policy->shape->width[0]; k++) frame_set(first, k, frame_get(bar, k));
}

#endif
