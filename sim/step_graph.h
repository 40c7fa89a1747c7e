// A step that is a compute graph, so that the threads of a team can share one group of lanes: for few worlds with much
// in each. Of the CPU; what a kernel brings for it is in sim/cpu_kernels.h.
#ifndef HOPSCOTCH_STEP_GRAPH_H
#define HOPSCOTCH_STEP_GRAPH_H

#include "graph/graph.h"

// The first member of a model's own struct.
typedef struct CpuStepGraph {
    GraphProgram program;  // one step
    bool pieces;           // only its first part: others follow, as often as it takes
    GraphProfile *profile; // of the step run last; NULL: not wanted
} CpuStepGraph;

#endif
