// A policy: a network of a few layers that maps observations of a lane to numbers from -1 to 1.
//     x_0 = observations,   x_k = tanh(W_k x_(k-1) + b_k) of hidden layers,   y = clamp(W_n x_(n-1) + b_n, -1, 1)
// Sums are taken in the order of inputs, so the bits are the same everywhere. Laws ask policies (law.h).
#ifndef HOPSCOTCH_POLICY_H
#define HOPSCOTCH_POLICY_H

#include "lane_code.h"
#include "policy_view.h"

typedef struct Policy {
    const PolicyShape *shape;
    const double *weight, *input;
    int parameter; // the lane's input of the first weight that is a parameter
} Policy;

HD int64_t policy_weights(const PolicyShape *shape)
{
    int64_t count = 0;
    for (int k = 0; k < (int)shape->layers; k++) count += (int64_t)shape->width[k + 1] * (1 + (int64_t)shape->width[k]);
    return count;
}

// The policy that begins at assets.
HD Policy policy_open(const double *assets, int parameter)
{
    Policy policy;
    policy.shape = (const PolicyShape *)assets;
    policy.weight = assets + sizeof(PolicyShape) / sizeof(double);
    policy.input = policy.weight + policy_weights(policy.shape);
    policy.parameter = parameter;
    return policy;
}

HD int policy_outputs(const Policy *policy) { return (int)policy->shape->width[(int)policy->shape->layers]; }

HD real policy_weight(const Policy *policy, const LaneGroup *group, int64_t at)
{
    if (policy->shape->searched == 0.0 || policy->input[at] < 0.0) return splat(policy->weight[at]);
    return lanes_parameter(group, policy->parameter + (int)policy->input[at]);
}

// The cells to[outputs] <- b + W from[inputs] of the layer whose weights begin at `at`.
HD void policy_layer(const Policy *policy, const LaneGroup *group, const LaneCode *of, int64_t at, int inputs,
                     int outputs, int from, int to)
{
    for (int i = 0; i < outputs; i++) {
        real sum = policy_weight(policy, group, at++);
        for (int k = 0; k < inputs; k++)
            sum = fused(policy_weight(policy, group, at++), lane_code_get(group, of, from + k), sum);
        lane_code_put(group, of, to + i, sum);
    }
}

// a[observations] becomes y[outputs], of which one that is not a number is -1. a, b: cells of the widest layer each.
HD_CALL void policy_act(const Policy *restrict policy, const LaneGroup *restrict group, const LaneCode *restrict of,
                        int a, int b)
{
    const int layers = (int)policy->shape->layers;
    int from = a, to = b;
    int64_t at = 0;
    for (int k = 0; k < layers; k++) {
        const int inputs = (int)policy->shape->width[k], outputs = (int)policy->shape->width[k + 1];
        policy_layer(policy, group, of, at, inputs, outputs, from, to);
        at += (int64_t)outputs * (1 + inputs);
        for (int i = 0; i < outputs && k + 1 < layers; i++)
            lane_code_put(group, of, to + i, hyperbolic_tangent(lane_code_get(group, of, to + i)));
        const int other = from;
        from = to;
        to = other;
    }
    for (int i = 0; i < policy_outputs(policy); i++)
        lane_code_put(group, of, a + i, clamped(lane_code_get(group, of, from + i), splat(-1.0), splat(1.0)));
}

#endif
