// Builds a graph: nodes with unique names, and edges that close no cycle.
#include "building.h"

#include <stdio.h>
#include <string.h>

enum { GRAPH_ROOM = 16 }; // first size of the arrays

Graph *graph_new(Arena *arena)
{
    Graph *graph = ARENA_NEW(arena, Graph, 1);
    graph->arena = arena;
    return graph;
}

int graph_node_count(const Graph *graph) { return graph->n_nodes; }

const char *graph_node_name(const Graph *graph, int node) { return graph->nodes[node].name; }

// Returns the array with room for one more item.
static void *graph_grown(Arena *arena, void *items, int count, int *room, size_t item_size)
{
    if (count < *room) return items;
    *room = *room > 0 ? 2 * *room : GRAPH_ROOM;
    void *more = arena_take(arena, (size_t)*room, item_size);
    if (count > 0) memcpy(more, items, (size_t)count * item_size);
    return more;
}

int graph_resource(Graph *graph, const char *name)
{
    graph->resources =
        graph_grown(graph->arena, graph->resources, graph->n_resources, &graph->room_resources, sizeof(char *));
    graph->resources[graph->n_resources] = arena_copy(graph->arena, name);
    return graph->n_resources++;
}

// ---- names ----------------------------------------------------------------------------------------------------------

// FNV-1a
static uint32_t graph_hash(const char *name)
{
    uint32_t hash = 2166136261u;
    for (; *name != '\0'; name++) hash = (hash ^ (unsigned char)*name) * 16777619u;
    return hash;
}

// The slot of the name in by_name, or the free slot for it.
static int *graph_name_slot(const Graph *graph, const char *name)
{
    const uint32_t last = (uint32_t)graph->room_names - 1;
    uint32_t at = graph_hash(name) & last;
    while (graph->by_name[at] >= 0 && strcmp(graph->nodes[graph->by_name[at]].name, name) != 0) at = (at + 1) & last;
    return &graph->by_name[at];
}

static void graph_grow_names(Graph *graph)
{
    if (2 * (graph->n_nodes + 1) <= graph->room_names) return;
    graph->room_names = graph->room_names > 0 ? 2 * graph->room_names : 4 * GRAPH_ROOM;
    graph->by_name = ARENA_NEW(graph->arena, int, graph->room_names);
    for (int i = 0; i < graph->room_names; i++) graph->by_name[i] = -1;
    for (int n = 0; n < graph->n_nodes; n++) *graph_name_slot(graph, graph->nodes[n].name) = n;
}

// ---- nodes ----------------------------------------------------------------------------------------------------------

static void graph_grow_nodes(Graph *graph)
{
    const int before = graph->room_nodes;
    graph->nodes = graph_grown(graph->arena, graph->nodes, graph->n_nodes, &graph->room_nodes, sizeof(GraphNode));
    if (graph->room_nodes == before) return;
    graph->seen = ARENA_NEW(graph->arena, int, graph->room_nodes);
    graph->from = ARENA_NEW(graph->arena, int, graph->room_nodes);
    graph->stack = ARENA_NEW(graph->arena, int, graph->room_nodes);
    graph->searches = 0;
}

Error graph_node(Graph *graph, const char *name, GraphWork work, int *node)
{
    graph_grow_names(graph);
    int *slot = graph_name_slot(graph, name);
    if (*slot >= 0) return error_make(ERROR_USER, "two nodes of the graph are called '%.100s'", name);
    if (graph->n_nodes >= GRAPH_NODES_MAX)
        return error_make(ERROR_USER, "the graph has more than %d nodes", GRAPH_NODES_MAX);
    graph_grow_nodes(graph);
    *node = *slot = graph->n_nodes++;
    graph->nodes[*node] =
        (GraphNode){.name = arena_copy(graph->arena, name), .work = work, .first_after = -1, .first_before = -1};
    if (!(work.nanoseconds > 0.0)) graph->nodes[*node].work.nanoseconds = 1000.0;
    return error_none();
}

static void graph_touches(Graph *graph, GraphAccess access)
{
    graph->accesses =
        graph_grown(graph->arena, graph->accesses, graph->n_accesses, &graph->room_accesses, sizeof(GraphAccess));
    graph->accesses[graph->n_accesses++] = access;
}

void graph_reads(Graph *graph, int node, int resource, int64_t first, int64_t end)
{
    graph_touches(graph, (GraphAccess){.first = first, .end = end, .resource = resource, .node = node});
}

void graph_writes(Graph *graph, int node, int resource, int64_t first, int64_t end)
{
    graph_touches(graph, (GraphAccess){.first = first, .end = end, .resource = resource, .node = node, .write = true});
}

// ---- edges ----------------------------------------------------------------------------------------------------------

// True if there is a path. Then `from` leads back along it from `end`.
static bool graph_path(Graph *graph, int start, int end)
{
    const int search = ++graph->searches;
    int open = 0;
    graph->stack[open++] = start;
    graph->seen[start] = search;
    while (open > 0 && graph->seen[end] != search) {
        const int node = graph->stack[--open];
        for (int e = graph->nodes[node].first_after; e >= 0; e = graph->edges[e].next) {
            const int after = graph->edges[e].after;
            if (graph->seen[after] == search) continue;
            graph->seen[after] = search;
            graph->from[after] = node;
            graph->stack[open++] = after;
        }
    }
    return graph->seen[end] == search;
}

// The error "a -> b -> c -> a": the path found from `after` to `before`, and back. The middle of a long one is left
// out.
static Error graph_cycle(const Graph *graph, int before, int after)
{
    enum { SHOWN = 300 };
    char text[SHOWN + 64] = "";
    int length = 0, left_out = 0;
    int *path = graph->stack, count = 0; // no longer in use by the search
    for (int node = before; node != after; node = graph->from[node]) path[count++] = node;
    path[count++] = after;
    for (int i = count - 1; i >= 0; i--) {
        const char *name = graph->nodes[path[i]].name;
        if (i > 0 && length + (int)strlen(name) > SHOWN - 120) {
            left_out++;
            continue;
        }
        if (left_out > 0) length += snprintf(text + length, sizeof text - (size_t)length, "(%d more) -> ", left_out);
        left_out = 0;
        length += snprintf(text + length, sizeof text - (size_t)length, "%.100s -> ", name);
    }
    return error_make(ERROR_USER, "an edge from '%.40s' to '%.40s' closes a cycle: %s%.40s", graph->nodes[before].name,
                      graph->nodes[after].name, text, graph->nodes[after].name);
}

Error graph_edge(Graph *graph, int before, int after)
{
    if (graph_path(graph, after, before)) return graph_cycle(graph, before, after);
    graph->edges = graph_grown(graph->arena, graph->edges, graph->n_edges, &graph->room_edges, sizeof(GraphEdge));
    graph->edges[graph->n_edges] = (GraphEdge){.before = before,
                                               .after = after,
                                               .next = graph->nodes[before].first_after,
                                               .next_before = graph->nodes[after].first_before};
    graph->nodes[before].first_after = graph->nodes[after].first_before = graph->n_edges++;
    graph->nodes[after].n_before++;
    return error_none();
}
