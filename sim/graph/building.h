// A graph while it is built. graph.h has the functions that use it.
#ifndef HOPSCOTCH_GRAPH_BUILDING_H
#define HOPSCOTCH_GRAPH_BUILDING_H

#include "graph.h"

typedef struct GraphNode {
    const char *name;
    GraphWork work;
    int first_after, first_before, n_before; // one edge that starts, and one that ends here, -1: none; how many end
} GraphNode;

typedef struct GraphEdge {
    int before, after;
    int next, next_before; // the next edge that starts, or ends, at the same node; -1: none
} GraphEdge;

typedef struct GraphAccess {
    int64_t first, end;
    int resource, node;
    bool write;
} GraphAccess;

// Its arrays grow in the arena; outgrown ones stay there unused.
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
    int *seen, *from, *stack; // [room_nodes] of the search for a path: its number, the node before, open nodes
    int searches;
};

// Sorts nodes topologically into order[n_nodes], by level and within a level by construction; level[n_nodes] is each
// one's level. Returns the number of levels.
int graph_sort(const Graph *graph, Arena *scratch, int *order, int *level);

#endif
