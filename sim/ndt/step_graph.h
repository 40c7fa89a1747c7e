// An evaluation of the score as a compute graph: each node sums some chunks of points, and no node waits for another.
// So the threads of a CPU share one large alignment. The sums of the chunks are then added in their usual order
// (evaluate.h): the same bits.
#ifndef HOPSCOTCH_NDT_STEP_GRAPH_H
#define HOPSCOTCH_NDT_STEP_GRAPH_H

#include "../step_graph.h"
#include "advance.h"

#include <stdio.h>

enum { NDT_NODES_A_THREAD = 8 };
#define NDT_POINT_NANOSECONDS 55.0 // approximate time of a point

typedef struct NdtStepGraph {
    CpuStepGraph shared; // first
    NdtCrew crew;        // the interface for an evaluation
    GraphTeam *team;
    int64_t n_chunks;
    int n_nodes;
} NdtStepGraph;

static void ndt_node_sum(void *context, int item)
{
    const NdtStepGraph *g = context;
    const int64_t first = g->n_chunks * item / g->n_nodes, end = g->n_chunks * (item + 1) / g->n_nodes;
    for (int64_t k = first; k < end; k++) ndt_add_chunk(g->crew.task, &g->crew.frame, k * NDT_CHUNK, &g->crew.chunk[k]);
}

static void ndt_graph_run(void *context)
{
    NdtStepGraph *g = context;
    graph_run(g->team, &g->shared.program, g->shared.profile);
}

HD_CALL Error ndt_align_open(const Constants *constants, const double *assets, int threads, Arena *arena,
                             CpuStepGraph **out)
{
    NdtConstants c;
    NdtStepGraph *g = ARENA_NEW(arena, NdtStepGraph, 1);
    (void)assets;
    *out = NULL;
    memcpy(&c, constants, sizeof c);
    g->n_chunks = (c.n_source + NDT_CHUNK - 1) / NDT_CHUNK;
    if (g->n_chunks < 2) return error_none();
    g->n_nodes = g->n_chunks < NDT_NODES_A_THREAD * threads ? (int)g->n_chunks : NDT_NODES_A_THREAD * threads;
    g->crew.chunk = ARENA_NEW(arena, NdtPartial, g->n_chunks);
    g->crew.run = ndt_graph_run;
    g->crew.context = g;
    Graph *graph = graph_new(arena);
    const int sums = graph_resource(graph, "chunks");
    for (int n = 0; n < g->n_nodes; n++) {
        char name[32];
        int node;
        const int64_t first = g->n_chunks * n / g->n_nodes, end = g->n_chunks * (n + 1) / g->n_nodes;
        const double points = (double)((end - first) * NDT_CHUNK);
        snprintf(name, sizeof name, "points %lld", (long long)(first * NDT_CHUNK));
        TRY(graph_node(graph, name, (GraphWork){ndt_node_sum, g, n, NDT_POINT_NANOSECONDS * points}, &node));
        graph_writes(graph, node, sums, first, end);
    }
    TRY(graph_validate(graph, arena));
    TRY(graph_compile(graph, threads, arena, &g->shared.program));
    *out = &g->shared;
    return error_none();
}

HD_CALL void ndt_align_share(CpuStepGraph *shared, GraphTeam *team, const Constants *constants, const double *assets,
                             const LaneGroup *group, bool observed)
{
    NdtStepGraph *g = (NdtStepGraph *)shared;
    g->team = team;
    ndt_align_all(constants, assets, group, observed, &g->crew);
}

#endif
