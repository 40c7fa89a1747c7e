// What a graph is made of while it is built. graph.h has what it is used by.
#ifndef HOPSCOTCH_GRAPH_PARTS_H
#define HOPSCOTCH_GRAPH_PARTS_H

#include "graph.h"

typedef struct GraphNode {
    const char *name;
    GraphWork work;
    int first_after, first_before, n_before; // one of the edges that start and end here, -1: none; how many end here
} GraphNode;

typedef struct GraphEdge {
    int before, after;
    int next, next_before; // another that starts, or ends, at the same node; -1: none
} GraphEdge;

typedef struct GraphAccess {
    int64_t first, end;
    int resource, node;
    bool write;
} GraphAccess;

// Arrays that grow in the arena: what they outgrow is left there.
struct Graph {
    Arena *arena;
    GraphNode *nodes;
    GraphEdge *edges;
    GraphAccess *accesses;
    const char **resources;
    int n_nodes, n_edges, n_accesses, n_resources;
    int room_nodes, room_edges, room_accesses, room_resources;
    int *by_name; // [room_names] open addressing: node, or -1
    int room_names;
    int *seen, *from, *stack; // [room_nodes] of the search for a path: its number, where it came from, what is open
    int searches;
};

// Nodes in topological order into order[n_nodes], and each one's level into level[n_nodes]: by level, in a level by
// construction. Gives the number of levels.
int graph_sort(const Graph *graph, Arena *scratch, int *order, int *level);

#endif
