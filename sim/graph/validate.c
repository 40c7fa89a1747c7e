// Finds hazards: two nodes that no path orders, which access the same elements of a resource, and one of them writes.
#include "building.h"

#include <inttypes.h>
#include <stdlib.h>

// Bit `to` of row `from`: there is a path.
typedef struct GraphReach {
    uint64_t *bits; // [n_nodes][words]
    int words;
} GraphReach;

static bool graph_reaches(const GraphReach *reach, int from, int to)
{
    return reach->bits[(size_t)from * (size_t)reach->words + (size_t)to / 64] >> (to % 64) & 1;
}

// For every node, backwards through the topological order: the nodes after it, and all that they reach.
static GraphReach graph_reach(const Graph *graph, Arena *scratch)
{
    const GraphReach reach = {
        .words = (graph->n_nodes + 63) / 64,
        .bits = ARENA_NEW(scratch, uint64_t, (size_t)graph->n_nodes * ((size_t)graph->n_nodes + 63) / 64 + 1)};
    int *order = ARENA_NEW(scratch, int, graph->n_nodes + 1), *level = ARENA_NEW(scratch, int, graph->n_nodes + 1);
    graph_sort(graph, scratch, order, level);
    for (int k = graph->n_nodes - 1; k >= 0; k--) {
        uint64_t *row = reach.bits + (size_t)order[k] * (size_t)reach.words;
        for (int e = graph->nodes[order[k]].first_after; e >= 0; e = graph->edges[e].next) {
            const int after = graph->edges[e].after;
            const uint64_t *further = reach.bits + (size_t)after * (size_t)reach.words;
            row[after / 64] |= (uint64_t)1 << (after % 64);
            for (int i = 0; i < reach.words; i++) row[i] |= further[i];
        }
    }
    return reach;
}

static int graph_compare_accesses(const void *left, const void *right)
{
    const GraphAccess *a = left, *b = right;
    if (a->resource != b->resource) return a->resource < b->resource ? -1 : 1;
    if (a->first != b->first) return a->first < b->first ? -1 : 1;
    if (a->node != b->node) return a->node < b->node ? -1 : 1;
    return a->write - b->write;
}

static Error graph_hazard(const Graph *graph, const GraphAccess *a, const GraphAccess *b)
{
    const GraphAccess *first = a->node < b->node ? a : b, *second = a->node < b->node ? b : a;
    const int64_t from = a->first > b->first ? a->first : b->first, end = a->end < b->end ? a->end : b->end;
    return error_make(
        ERROR_USER,
        "nodes '%.100s' (%s) and '%.100s' (%s) touch '%.60s' [%" PRId64 ", %" PRId64 "), and no edge orders them",
        graph->nodes[first->node].name, first->write ? "writes" : "reads", graph->nodes[second->node].name,
        second->write ? "writes" : "reads", graph->resources[a->resource], from, end);
}

// Compares each access with those that start before it ends.
static Error graph_find_hazard(const Graph *graph, const GraphAccess *accesses, const GraphReach *reach)
{
    for (int i = 0; i < graph->n_accesses; i++) {
        const GraphAccess *a = &accesses[i];
        for (int k = i + 1; k < graph->n_accesses; k++) {
            const GraphAccess *b = &accesses[k];
            if (b->resource != a->resource || b->first >= a->end) break;
            if (b->node == a->node || !(a->write || b->write) || b->first >= b->end) continue;
            if (!graph_reaches(reach, a->node, b->node) && !graph_reaches(reach, b->node, a->node))
                return graph_hazard(graph, a, b);
        }
    }
    return error_none();
}

Error graph_validate(const Graph *graph, Arena *scratch)
{
    const size_t used = scratch->used;
    const GraphReach reach = graph_reach(graph, scratch);
    GraphAccess *accesses = ARENA_NEW(scratch, GraphAccess, graph->n_accesses + 1);
    for (int i = 0; i < graph->n_accesses; i++) accesses[i] = graph->accesses[i];
    qsort(accesses, (size_t)graph->n_accesses, sizeof *accesses, graph_compare_accesses);
    const Error error = graph_find_hazard(graph, accesses, &reach);
    arena_rewind(scratch, used);
    return error;
}
