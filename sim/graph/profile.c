// Evaluates a run: when and where each step ran, the longest path through the graph, and how many threads it could have
// used.
#include "building.h"

#include <time.h>

int64_t graph_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

GraphProfile graph_profile_new(const GraphProgram *program, Arena *arena)
{
    return (GraphProfile){.start = ARENA_NEW(arena, int64_t, program->n_steps + 1),
                          .end = ARENA_NEW(arena, int64_t, program->n_steps + 1),
                          .thread = ARENA_NEW(arena, int, program->n_steps + 1)};
}

// Steps are in topological order: for each node, the predecessor that ends last, and that time.
GraphReport graph_report(const GraphProgram *program, const GraphProfile *profile, Arena *arena)
{
    const Graph *graph = program->graph;
    const int n = program->n_steps;
    int64_t *ends = ARENA_NEW(arena, int64_t, n + 1);
    int *through = ARENA_NEW(arena, int, n + 1), last = -1;
    GraphReport report = {.wall = profile->wall};
    for (int k = 0; k < n; k++) through[k] = -1;
    for (int k = 0; k < n; k++) {
        const int node = program->steps[k].node;
        const int64_t taken = profile->end[k] - profile->start[k];
        report.work += taken;
        ends[node] += taken;
        if (last < 0 || ends[node] > ends[last]) last = node;
        for (int e = graph->nodes[node].first_after; e >= 0; e = graph->edges[e].next) {
            const int after = graph->edges[e].after;
            if (through[after] >= 0 && ends[after] >= ends[node]) continue;
            ends[after] = ends[node];
            through[after] = node;
        }
    }
    report.critical_path = last >= 0 ? ends[last] : 0;
    report.parallelism = report.critical_path > 0 ? (double)report.work / (double)report.critical_path : 1.0;
    for (int node = last; node >= 0; node = through[node]) report.path_length++;
    report.path = ARENA_NEW(arena, int, report.path_length + 1);
    for (int node = last, k = report.path_length; node >= 0; node = through[node]) report.path[--k] = node;
    return report;
}
