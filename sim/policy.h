// A policy: a network of a few layers that maps observations of a lane (the expressions of environment.observe) to
// actions.
//     x_0 = observations,   x_k = tanh(W_k x_(k-1) + b_k) of hidden layers,   y = W_n x_(n-1) + b_n
//     action_i = (low_i + high_i)/2 + (high_i - low_i)/2 clamp(y_i, -1, 1)
// Sums are taken in the order of inputs, so the bits are the same everywhere.
#ifndef HOPSCOTCH_POLICY_H
#define HOPSCOTCH_POLICY_H

#include "environment_code.h"

enum {
    POLICY_LAYERS = 4,     // with the last one
    POLICY_WIDTH = 64,     // outputs of a layer; observations
    POLICY_REGISTERS = 160 // of the code of the observations
};

// A policy in the assets (policy_table.c). Behind the shape follow: the weights, layer by layer [outputs][1 + inputs],
// b first; per weight the lane input that replaces it, -1: no input; the assets of the observations.
typedef struct PolicyShape {
    double layers, width[POLICY_LAYERS + 1]; // width[0]: observations
    double searched;                         // 0 or 1: some weights are lane inputs
    EnvironmentCode see;
} PolicyShape;

typedef struct Policy {
    const PolicyShape *shape;
    const double *weight, *input, *codes;
    const LaneGroup *group;
} Policy;

HD int64_t policy_weights(const PolicyShape *shape)
{
    int64_t count = 0;
    for (int k = 0; k < (int)shape->layers; k++) count += (int64_t)shape->width[k + 1] * (1 + (int64_t)shape->width[k]);
    return count;
}

HD Policy policy_open(const double *assets, const LaneGroup *group)
{
    Policy policy;
    policy.shape = (const PolicyShape *)assets;
    policy.weight = assets + sizeof(PolicyShape) / sizeof(double);
    policy.input = policy.weight + policy_weights(policy.shape);
    policy.codes = policy.input + policy_weights(policy.shape);
    policy.group = group;
    return policy;
}

// ---- observations ---------------------------------------------------------------------------------------------------

// seen[observations] of a lane with these columns, as an environment gives them (environment.h)
HD void policy_see(const Policy *policy, const real *column, real *seen)
{
    const EnvironmentCode *see = &policy->shape->see;
    FrameNumber numbers[POLICY_REGISTERS * FRAME_NUMBERS];
    Frame frame;
    frame.at = numbers;
    frame.apart = 1;
    for (int k = 0; k < see->n_columns; k++) frame_set(frame, k, column[k]);
    environment_code_run(policy->codes, see, policy->group, splat(0.0), frame);
    for (int k = 0; k < (int)policy->shape->width[0]; k++)
        seen[k] = canonical(environment_code_output(policy->codes, see, k, frame));
}

// ---- actions --------------------------------------------------------------------------------------------------------

HD real policy_weight(const Policy *policy, int64_t at)
{
    if (policy->shape->searched == 0.0 || policy->input[at] < 0.0) return splat(policy->weight[at]);
    return lanes_parameter(policy->group, (int)policy->input[at]);
}

// to[outputs] <- b + W from[inputs] of the layer whose weights begin at `at`
HD void policy_layer(const Policy *policy, int64_t at, int inputs, int outputs, const real *from, real *to)
{
    for (int i = 0; i < outputs; i++) {
        real sum = policy_weight(policy, at++);
        for (int k = 0; k < inputs; k++) sum = fused(policy_weight(policy, at++), from[k], sum);
        to[i] = sum;
    }
}

// y[actions], within -1 to 1, for a lane with these columns. One that is not a number becomes -1.
HD_CALL void policy_act(const Policy *restrict policy, const real *restrict column, real *restrict y)
{
    real a[POLICY_WIDTH], b[POLICY_WIDTH], *from = a, *to = b;
    const int layers = (int)policy->shape->layers;
    int64_t at = 0;
    policy_see(policy, column, from);
    for (int k = 0; k < layers; k++) {
        const int inputs = (int)policy->shape->width[k], outputs = (int)policy->shape->width[k + 1];
        policy_layer(policy, at, inputs, outputs, from, to);
        at += (int64_t)outputs * (1 + inputs);
        for (int i = 0; i < outputs && k + 1 < layers; i++) to[i] = hyperbolic_tangent(to[i]);
        real *const other = from;
        from = to;
        to = other;
    }
    for (int i = 0; i < (int)policy->shape->width[layers]; i++) y[i] = clamped(from[i], splat(-1.0), splat(1.0));
}

// The action of y in its range.
HD real policy_scaled(real y, real low, real high) { return fused(0.5 * (high - low), y, 0.5 * (low + high)); }

#endif
