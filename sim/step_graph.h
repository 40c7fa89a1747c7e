// A step that is a compute graph: the threads of a team share one group of lanes. For few worlds with many bodies each,
// on the CPU. sim/cpu_kernels.h says what a kernel provides for it.
#ifndef HOPSCOTCH_STEP_GRAPH_H
#define HOPSCOTCH_STEP_GRAPH_H

#include "graph/graph.h"

// The first member of a model's own struct.
typedef struct CpuStepGraph {
    GraphProgram program;  // one step
    bool pieces;           // the graph is only the first of the step's: others follow, several times
    GraphProfile *profile; // of the last step; NULL: not wanted
} CpuStepGraph;

#endif
