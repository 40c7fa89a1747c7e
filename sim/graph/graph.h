// A compute graph: named nodes, the order that edges give them, and what each says that it reads and writes. It is
// built once, checked, compiled to arrays that never change, and run as often as wanted by one thread or by several:
// with the same bits, because nodes that are not ordered touch different numbers.
//
//     Graph *graph = graph_new(arena);
//     const int x = graph_resource(graph, "x");
//     TRY(graph_node(graph, "fill", (GraphWork){fill, &data, 0}, &first));
//     TRY(graph_node(graph, "sum", (GraphWork){sum, &data, 0}, &second));
//     graph_writes(graph, first, x, 0, 8);
//     graph_reads(graph, second, x, 0, 8);
//     TRY(graph_edge(graph, first, second));
//     TRY(graph_validate(graph, arena));
//     TRY(graph_compile(graph, team_threads, arena, &program));
//     graph_run(team, &program, NULL);
#ifndef HOPSCOTCH_GRAPH_H
#define HOPSCOTCH_GRAPH_H

#include "../sim.h"

enum { GRAPH_NODES_MAX = 16384, GRAPH_THREADS_MAX = 1024 };

// ---- building (build.c) ---------------------------------------------------------------------------------------------

typedef struct Graph Graph;

// The work of a node: function(context, item). `nanoseconds`: its expected time, by which a level is shared; 0:
// unknown, taken as 1000.
typedef struct GraphWork {
    void (*function)(void *context, int item);
    void *context;
    int item;
    double nanoseconds;
} GraphWork;

// Creates a graph in the arena. While it is built, nothing else may use the arena.
Graph *graph_new(Arena *arena);
// Adds an array that nodes read and write, with its name; returns its number.
int graph_resource(Graph *graph, const char *name);
// Adds a node; *node: its number, in the order of construction. Error (user): the name is taken, or there are
// GRAPH_NODES_MAX.
Error graph_node(Graph *graph, const char *name, GraphWork work, int *node);
// Declare that the node reads, or writes, the elements [first, end) of the resource.
void graph_reads(Graph *graph, int node, int resource, int64_t first, int64_t end);
void graph_writes(Graph *graph, int node, int resource, int64_t first, int64_t end);
// `before` must end before `after` starts. Error (user): this closes a cycle; the message shows it.
Error graph_edge(Graph *graph, int before, int after);
int graph_node_count(const Graph *graph);
const char *graph_node_name(const Graph *graph, int node);

// ---- checking and compiling (validate.c, compile.c) -----------------------------------------------------------------

// Error (user): two nodes that no path orders access the same elements, and one writes them. Does not change `scratch`.
Error graph_validate(const Graph *graph, Arena *scratch);

typedef struct GraphStep {
    void (*function)(void *context, int item);
    void *context;
    int item, node;
} GraphStep;

// Levels that run one after the other. Either the first thread runs them alone, because sharing would cost more than it
// saves, or each thread runs its share of them without waiting for the others, because it needs none of their results.
typedef struct GraphSegment {
    bool shared;
    int first, end; // levels
} GraphSegment;

// Immutable once compiled. Any number of teams with that number of threads may run it.
typedef struct GraphProgram {
    const Graph *graph;
    int n_steps, n_levels, n_segments, threads;
    const GraphStep *steps;        // [n_steps]: by level; within a level in the order of construction
    const int *level;              // [n_levels + 1] first step of each level
    const GraphSegment *segments;  // [n_segments]
    const int *share;              // [n_levels][threads + 1]: in a shared level, thread t runs [share[t], share[t + 1])
    const int *plan;               // [n_steps] of shared segments: steps in the order in which their threads run them
    const int *own;                // [n_segments][threads + 1]: thread t runs plan[own[t]] up to plan[own[t + 1]]
    int first_shared, last_shared; // segments; -1: none is shared
    double alone, together;        // ns, expected time of a run on one thread, and on `threads`
} GraphProgram;

// Topological order (Kahn, ties by construction), levels, and the share of each of `threads` threads in every level.
Error graph_compile(const Graph *graph, int threads, Arena *arena, GraphProgram *program);

// ---- running (execute.c) --------------------------------------------------------------------------------------------

// `wanted` threads, within limits; 0: one per processor.
int graph_threads(int wanted);

// A team runs programs: the caller of graph_run and `threads` - 1 threads that it starts, which sleep between runs. A
// team of one thread is the sequential executor and starts none.
typedef struct GraphTeam GraphTeam;
Error graph_team_open(int threads, Arena *arena, GraphTeam **team); // Error: the system starts no more threads
void graph_team_close(GraphTeam *team);                             // may be NULL
int graph_team_threads(const GraphTeam *team);                      // the caller included

typedef struct GraphProfile GraphProfile;
// Runs all steps in order; allocates nothing. False: it was cancelled, and some steps were not run. The profile may be
// NULL.
bool graph_run(GraphTeam *team, const GraphProgram *program, GraphProfile *profile);
// From any thread: the run in flight, or else the next one, ends at its next barrier, or at the next level that runs on
// one thread.
void graph_cancel(GraphTeam *team);

// ---- what a run was like (profile.c) --------------------------------------------------------------------------------

struct GraphProfile {
    int64_t *start, *end; // ns since the start of the run [n_steps]
    int *thread;          // [n_steps]
    int64_t wall;         // ns
};

int64_t graph_clock(void); // ns, monotonic
// Memory for the times of a run of the program.
GraphProfile graph_profile_new(const GraphProgram *program, Arena *arena);

typedef struct GraphReport {
    int64_t work, wall, critical_path; // ns: of all steps, of the run, of the longest path through the graph
    double parallelism;                // work over critical path: the limit for any number of threads
    int *path;                         // [path_length] its nodes
    int path_length;
} GraphReport;

// Work, critical path and idle time of a run that was profiled.
GraphReport graph_report(const GraphProgram *program, const GraphProfile *profile, Arena *arena);

// ---- pictures (export.c) --------------------------------------------------------------------------------------------

// Writes nodes and edges for Graphviz; with a profile also times and the critical path.
void graph_write_dot(const GraphProgram *program, const GraphProfile *profile, TextSink out, Arena *scratch);
// Writes the steps per thread over time, for chrome://tracing and Perfetto.
void graph_write_trace(const GraphProgram *program, const GraphProfile *profile, TextSink out, Arena *scratch);

#endif
