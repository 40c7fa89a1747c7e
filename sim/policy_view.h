// The shape of a policy's network, as hosts and kernels have it.
#ifndef HOPSCOTCH_POLICY_VIEW_H
#define HOPSCOTCH_POLICY_VIEW_H

enum {
    POLICY_LAYERS = 4, // with the last one
    POLICY_WIDTH = 256 // outputs of a layer; observations
};

// In the assets follow behind it the weights, layer by layer [outputs][1 + inputs], b first; then per weight which of
// the weights that are parameters of the lanes it is, -1: none.
typedef struct PolicyShape {
    double layers, width[POLICY_LAYERS + 1]; // width[0]: observations
    double searched;                         // 0 or 1: some weights are parameters
} PolicyShape;

#endif
