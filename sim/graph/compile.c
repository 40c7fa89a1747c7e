// Compiles a graph: sorts its nodes into topological order and levels, and gives every thread its share of each level.
// Source: A. B. Kahn, Topological sorting of large networks, CACM 5, 1962.
#include "building.h"

// A level is shared only if that is expected to save more than this: the cost of the barrier at its end, and of data in
// another processor's cache (tests/bench/graph.c measures the former: 65 ns).
#define GRAPH_SHARING_COST 600.0 // ns

// Levels: a node is in the level after that of its last predecessor. Within a level, in the order of construction.
int graph_sort(const Graph *graph, Arena *scratch, int *order, int *level)
{
    int *open = ARENA_NEW(scratch, int, graph->n_nodes + 1), count = 0, levels = 0, n_levels = 0;
    for (int n = 0; n < graph->n_nodes; n++) {
        open[n] = graph->nodes[n].n_before;
        level[n] = 0;
        if (open[n] == 0) order[count++] = n;
    }
    for (int k = 0; k < count; k++) { // Kahn's queue: finds levels
        for (int e = graph->nodes[order[k]].first_after; e >= 0; e = graph->edges[e].next) {
            const int after = graph->edges[e].after;
            if (level[after] <= level[order[k]]) level[after] = level[order[k]] + 1;
            if (--open[after] == 0) order[count++] = after;
        }
    }
    for (int n = 0; n < graph->n_nodes; n++) n_levels = level[n] >= n_levels ? level[n] + 1 : n_levels;
    int *next = ARENA_NEW(scratch, int, n_levels + 1);
    for (int n = 0; n < graph->n_nodes; n++) next[level[n] + 1]++;
    for (levels = 0; levels < n_levels; levels++) next[levels + 1] += next[levels];
    for (int n = 0; n < graph->n_nodes; n++) order[next[level[n]]++] = n;
    return n_levels;
}

// ---- who runs what --------------------------------------------------------------------------------------------------

static double graph_cost(const GraphProgram *program, int first, int end)
{
    double sum = 0.0;
    for (int k = first; k < end; k++) sum += program->graph->nodes[program->steps[k].node].work.nanoseconds;
    return sum;
}

// True if this step and the one before it are the only predecessors of a node. If one thread runs both, it can go on to
// that node without waiting for others.
static bool graph_is_pair(const GraphProgram *program, int step)
{
    const Graph *graph = program->graph;
    const int one = program->steps[step - 1].node, other = program->steps[step].node;
    for (int e = graph->nodes[one].first_after; e >= 0; e = graph->edges[e].next) {
        const GraphNode *after = &graph->nodes[graph->edges[e].after];
        if (after->n_before != 2) continue;
        for (int b = after->first_before; b >= 0; b = graph->edges[b].next_before) {
            if (graph->edges[b].before == other) return true;
        }
    }
    return false;
}

// The end of the group that starts at this step: pairs stay together, as long as they take no more than `most`.
static int graph_pair_end(const GraphProgram *program, int step, int end, double most)
{
    int next = step + 1;
    while (next < end && graph_is_pair(program, next) && graph_cost(program, step, next + 1) <= most) next++;
    return next;
}

// Computes share[threads + 1] of the steps [first, end). Neighbours stay together; a step or a pair goes to the thread
// in whose share its middle falls. Returns the time of the slowest thread.
static double graph_share(const GraphProgram *program, int first, int end, int *share)
{
    const double total = graph_cost(program, first, end), fair = 1.001 * total / program->threads; // sums are rounded
    double before = 0.0, slowest = 0.0;
    int step = first;
    for (int t = 0; t < program->threads; t++) {
        const double until = total * (t + 1) / program->threads;
        const double started = before;
        share[t] = step;
        for (int next; step < end; step = next) {
            next = graph_pair_end(program, step, end, fair);
            const double cost = graph_cost(program, step, next);
            if (t + 1 < program->threads && before + 0.5 * cost > until) break;
            before += cost;
        }
        if (before - started > slowest) slowest = before - started;
    }
    share[program->threads] = end;
    return slowest;
}

// Notes the thread of each step of a level, thread[n_steps] by node; its steps are [first, end). No share: thread 0.
static void graph_note_threads(const GraphProgram *program, int first, int end, const int *share, int *thread)
{
    for (int k = first, t = 0; k < end; k++) {
        while (share != NULL && k >= share[t + 1]) t++;
        thread[program->steps[k].node] = t;
    }
}

// The first level at which a segment with these nodes may begin: edges from other threads end before it.
static int graph_meets_at(const GraphProgram *program, const int *level_of, const int *thread, int level)
{
    int meets = 0;
    for (int k = program->level[level]; k < program->level[level + 1]; k++) {
        const int node = program->steps[k].node;
        for (int e = program->graph->nodes[node].first_before; e >= 0; e = program->graph->edges[e].next_before) {
            const int before = program->graph->edges[e].before;
            if (thread[before] != thread[node] && level_of[before] >= meets) meets = level_of[before] + 1;
        }
    }
    return meets;
}

// A level that is not worth sharing joins the levels before it that thread 0 runs alone. A shared level joins shared
// ones if it need not wait for them.
static void graph_segment(GraphProgram *program, const int *level_of, int *thread, GraphSegment *segments, int *shares)
{
    program->first_shared = program->last_shared = -1;
    for (int l = 0; l < program->n_levels; l++) {
        int *share = shares + l * (program->threads + 1);
        GraphSegment *last = program->n_segments > 0 ? &segments[program->n_segments - 1] : NULL;
        const int first = program->level[l], end = program->level[l + 1];
        const double alone = graph_cost(program, first, end), slowest = graph_share(program, first, end, share);
        const bool shared = program->threads > 1 && alone - slowest > GRAPH_SHARING_COST;
        graph_note_threads(program, first, end, shared ? share : NULL, thread);
        program->alone += alone;
        program->together += shared ? slowest : alone;
        if (last != NULL && last->shared == shared &&
            (!shared || graph_meets_at(program, level_of, thread, l) <= last->first)) {
            last->end = l + 1;
            continue;
        }
        if (shared) {
            program->together += GRAPH_SHARING_COST;
            program->last_shared = program->n_segments;
            if (program->first_shared < 0) program->first_shared = program->n_segments;
        }
        segments[program->n_segments++] = (GraphSegment){.shared = shared, .first = l, .end = l + 1};
    }
}

// ---- in which order -------------------------------------------------------------------------------------------------

typedef struct GraphOrder {
    const int *level_of; // [n_nodes]
    int *step_of;        // [n_nodes]
    int *open, *ready;   // [n_steps] number of predecessors in the segment that have not run; a stack
    int *plan;           // [n_steps]
} GraphOrder;

static int graph_before_in(const GraphProgram *program, const GraphOrder *order, const GraphSegment *segment, int node)
{
    int count = 0;
    for (int e = program->graph->nodes[node].first_before; e >= 0; e = program->graph->edges[e].next_before)
        count += order->level_of[program->graph->edges[e].before] >= segment->first;
    return count;
}

// The order in which one thread runs its share of a shared segment, from plan[at] on: it follows a chain of nodes to
// its end before it begins the next, while the data is in its cache. No edge of the segment leads to another thread.
// Returns the end of the plan.
static int graph_plan_thread(const GraphProgram *program, const GraphSegment *segment, int thread,
                             const GraphOrder *order, int at)
{
    const Graph *graph = program->graph;
    int n_ready = 0;
    for (int l = segment->end - 1; l >= segment->first; l--) { // the first step must be on top of the stack
        const int *share = program->share + l * (program->threads + 1) + thread;
        for (int k = share[1] - 1; k >= share[0]; k--) {
            order->open[k] = graph_before_in(program, order, segment, program->steps[k].node);
            if (order->open[k] == 0) order->ready[n_ready++] = k;
        }
    }
    while (n_ready > 0) {
        const int k = order->plan[at++] = order->ready[--n_ready];
        for (int e = graph->nodes[program->steps[k].node].first_after; e >= 0; e = graph->edges[e].next) {
            const int after = graph->edges[e].after;
            if (order->level_of[after] < segment->end && --order->open[order->step_of[after]] == 0)
                order->ready[n_ready++] = order->step_of[after];
        }
    }
    return at;
}

static void graph_plan(GraphProgram *program, const int *level_of, Arena *arena)
{
    const int n = program->n_steps;
    const GraphOrder order = {.level_of = level_of,
                              .step_of = ARENA_NEW(arena, int, n + 1),
                              .open = ARENA_NEW(arena, int, n + 1),
                              .ready = ARENA_NEW(arena, int, n + 1),
                              .plan = ARENA_NEW(arena, int, n + 1)};
    int *own = ARENA_NEW(arena, int, (size_t)(program->n_segments + 1) * (size_t)(program->threads + 1));
    program->plan = order.plan;
    program->own = own;
    for (int k = 0; k < n; k++) order.step_of[program->steps[k].node] = k;
    for (int s = 0; s < program->n_segments; s++, own += program->threads + 1) {
        const GraphSegment *segment = &program->segments[s];
        own[0] = program->level[segment->first];
        for (int t = 0; segment->shared && t < program->threads; t++)
            own[t + 1] = graph_plan_thread(program, segment, t, &order, own[t]);
    }
}

Error graph_compile(const Graph *graph, int threads, Arena *arena, GraphProgram *program)
{
    if (threads < 1 || threads > GRAPH_THREADS_MAX)
        return error_make(ERROR_USER, "a graph can be run by 1 to %d threads, not %d", GRAPH_THREADS_MAX, threads);
    const int n = graph->n_nodes;
    int *order = ARENA_NEW(arena, int, n + 1), *level_of = ARENA_NEW(arena, int, n + 1);
    *program = (GraphProgram){.graph = graph, .n_steps = n, .threads = threads};
    program->n_levels = graph_sort(graph, arena, order, level_of);
    GraphStep *steps = ARENA_NEW(arena, GraphStep, n + 1);
    int *level = ARENA_NEW(arena, int, program->n_levels + 1);
    for (int k = 0; k < n; k++) {
        const GraphWork *work = &graph->nodes[order[k]].work;
        steps[k] = (GraphStep){work->function, work->context, work->item, order[k]};
        level[level_of[order[k]] + 1] = k + 1;
    }
    program->steps = steps;
    program->level = level;
    GraphSegment *segments = ARENA_NEW(arena, GraphSegment, program->n_levels + 1);
    int *share = ARENA_NEW(arena, int, (size_t)(program->n_levels + 1) * (size_t)(threads + 1));
    program->segments = segments;
    program->share = share;
    graph_segment(program, level_of, ARENA_NEW(arena, int, n + 1), segments, share);
    graph_plan(program, level_of, arena);
    return error_none();
}
