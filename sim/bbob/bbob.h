// What the host side (bbob.c) and the kernels (advance.h) of the benchmark functions share.
#ifndef HOPSCOTCH_BBOB_H
#define HOPSCOTCH_BBOB_H

#include "../sim.h"

enum { BBOB_DIMENSIONS_MAX = 40 };
enum { BBOB_METRIC_F, BBOB_METRIC_DISTANCE, BBOB_N_METRICS };
enum { BBOB_NONE, BBOB_DIVERGED };

// Shared by all lanes; laid over sim.h's Constants. The assets are x_opt[dimension].
typedef struct BbobConstants {
    double scale; // of x - x_opt in the functions that stretch it with the dimension
    int64_t dimension;
} BbobConstants;

#endif
