// The step of a large world as a compute graph, which several threads run for one group of lanes (sim/graph). The same
// functions in the same order for every number as in advance.h, so the same bits.
//
//     rows i      errors, J, right-hand sides of some islands           forces g    on bodies of islands that
//       |                                                                 |           springs join
//     solve i     factors, multipliers, accelerations of those islands  <-+
//       |
//     move i      velocities, positions, masses of their bodies, energies
//       |
//     count       sums over the world in the order of its islands
//
// Not RATTLE, whose number of iterations is that of the world as a whole.
#ifndef HOPSCOTCH_RIGID_STEP_GRAPH_H
#define HOPSCOTCH_RIGID_STEP_GRAPH_H

#include "../step_graph.h"
#include "advance.h"

// Neighbouring islands that one node deals with.
typedef struct RigidPart {
    RigidLanes w; // these islands
    int first_island, n_islands, first_body, end_body, cluster;
    RigidExtremes most;
    real dropped;
    mask finite;
} RigidPart;

typedef struct RigidStepGraph {
    CpuStepGraph shared; // first
    RigidLanes w;        // the world
    RigidGains gains;
    RigidHeight height; // at the step's start
    real t;
    mask finite;            // after it
    real *energy, *squares; // [n_islands]
    RigidPart *parts;
    int n_parts;
    int *cluster_forces, *cluster_end; // forces by cluster: [n_forces]; [n_parts], where each one's end
} RigidStepGraph;

// ---- nodes ----------------------------------------------------------------------------------------------------------

static void rigid_node_forces(void *context, int cluster)
{
    const RigidStepGraph *g = context;
    for (int p = 0; p < g->n_parts; p++) {
        if (g->parts[p].cluster == cluster) rigid_weights(&g->parts[p].w, true);
    }
    for (int k = cluster > 0 ? g->cluster_end[cluster - 1] : 0; k < g->cluster_end[cluster]; k++)
        rigid_force(&g->w, g->cluster_forces[k], g->t);
}

static void rigid_node_rows(void *context, int part)
{
    const RigidStepGraph *g = context;
    rigid_assemble(&g->parts[part].w, true);
    rigid_stabilise(&g->parts[part].w, &g->gains);
}

static void rigid_node_solve(void *context, int number)
{
    RigidStepGraph *g = context;
    RigidPart *part = &g->parts[number];
    part->dropped = rigid_factor_all(&part->w);
    rigid_solve(&part->w);
    part->most = rigid_extremes(&part->w);
    for (int i = 0; i < part->n_islands; i++)
        g->squares[part->first_island + i] = rigid_island_squares(&part->w, &part->w.islands[i]);
}

static void rigid_node_move(void *context, int number)
{
    RigidStepGraph *g = context;
    RigidPart *part = &g->parts[number];
    rigid_move(&part->w);
    part->finite = rigid_all_finite(&part->w);
    for (int i = 0; i < part->n_islands; i++)
        g->energy[part->first_island + i] = rigid_island_energy(&part->w, &part->w.islands[i]);
}

static void rigid_node_count(void *context, int item)
{
    (void)item;
    RigidStepGraph *g = context;
    RigidExtremes most = g->parts[0].most;
    real energy = splat(0.0), squares = splat(0.0), dropped = splat(0.0);
    g->finite = all_lanes();
    for (int p = 0; p < g->n_parts; p++) {
        const RigidPart *part = &g->parts[p];
        most.stretch = most_of(part->most.stretch, most.stretch);
        most.pull = most_of(part->most.pull, most.pull);
        most.multiplier = most_of(part->most.multiplier, most.multiplier);
        most.residual = most_of(part->most.residual, most.residual);
        dropped = dropped + part->dropped;
        g->finite = g->finite & part->finite;
    }
    for (int i = 0; i < g->w.n_islands; i++) {
        energy = energy + g->energy[i];
        squares = squares + g->squares[i];
    }
    rigid_sum_rows(&g->w, dropped, squares, &most);
    rigid_sum_state(&g->w, energy, &g->height, g->t);
}

// ---- parts ----------------------------------------------------------------------------------------------------------

enum { RIGID_PARTS_A_THREAD = 8, RIGID_PARTS_MAX = 2048 };

// About what a step of an island takes (ns), all of its nodes.
static double rigid_island_cost(const RigidIsland *island)
{
    const double bodies = island->count, rows = island->row_end - island->row, loops = island->n_loop_rows;
    return 1000.0 * bodies + 400.0 * rows + loops * (600.0 * bodies + 10.0 * loops * loops);
}

// Islands in parts of about the same cost, some a thread, so that nodes are worth their calls.
static void rigid_part_islands(RigidStepGraph *g, int threads)
{
    const double least = 2000.0; // ns
    const int wanted =
        threads < RIGID_PARTS_MAX / RIGID_PARTS_A_THREAD ? RIGID_PARTS_A_THREAD * threads : RIGID_PARTS_MAX;
    double total = 0.0, cost = 0.0;
    for (int i = 0; i < g->w.n_islands; i++) total += rigid_island_cost(&g->w.islands[i]);
    const double enough = total / wanted > least ? total / wanted : least;
    for (int i = 0, first = 0; i < g->w.n_islands; i++) {
        cost += rigid_island_cost(&g->w.islands[i]);
        if (cost < enough && i + 1 < g->w.n_islands) continue;
        const int end_body = (int)(g->w.islands[first].first + g->w.islands[first].count);
        g->parts[g->n_parts] = (RigidPart){.first_island = first,
                                           .n_islands = i + 1 - first,
                                           .first_body = (int)g->w.islands[i].first,
                                           .end_body = end_body,
                                           .cluster = g->n_parts};
        g->n_parts++;
        first = i + 1;
        cost = 0.0;
    }
}

static double rigid_part_cost(const RigidStepGraph *g, int part)
{
    double cost = 0.0;
    for (int i = 0; i < g->parts[part].n_islands; i++)
        cost += rigid_island_cost(&g->w.islands[g->parts[part].first_island + i]);
    return cost;
}

// The part of a body; -1: it is fixed.
static int rigid_part_of(const RigidStepGraph *g, const int *part_of, double body)
{
    return rigid_moves(&g->w, (int)body) ? part_of[(int)body] : -1;
}

// Parts that a spring joins share a cluster, numbered by its first part; then each cluster's forces in their order.
static void rigid_cluster_forces(RigidStepGraph *g, Arena *arena)
{
    int *part_of = ARENA_NEW(arena, int, g->w.c.n_bodies), count = 0;
    int *cluster_of = ARENA_NEW(arena, int, g->w.c.n_forces + 1);
    for (int p = 0; p < g->n_parts; p++) {
        for (int b = g->parts[p].first_body; b < g->parts[p].end_body; b++) part_of[(int)g->w.order[b]] = p;
    }
    for (int f = 0; f < g->w.c.n_forces; f++) {
        const RigidForce *force = &g->w.forces[f];
        const bool pair = force->kind == RIGID_SPRING || force->kind == RIGID_TETHER;
        const int i = rigid_part_of(g, part_of, force->i), j = pair ? rigid_part_of(g, part_of, force->j) : -1;
        cluster_of[f] = i >= 0 ? i : j;
        if (i < 0 || j < 0) continue;
        const int a = g->parts[i].cluster, b = g->parts[j].cluster;
        for (int p = 0; p < g->n_parts; p++) {
            if (g->parts[p].cluster == (a > b ? a : b)) g->parts[p].cluster = a > b ? b : a;
        }
    }
    for (int c = 0; c < g->n_parts; c++) {
        for (int f = 0; f < g->w.c.n_forces; f++) {
            if (g->parts[cluster_of[f]].cluster == c) g->cluster_forces[count++] = f;
        }
        g->cluster_end[c] = count;
    }
}

// ---- the graph ------------------------------------------------------------------------------------------------------

typedef struct RigidResources {
    int state, masses, loads, rows, solution, forces, counts, sums;
} RigidResources;

// Bodies by their order, rows by their number. A part's forces: those of its cluster, as one number a cluster.
static Error rigid_add_part(RigidStepGraph *g, const RigidResources *on, int number, const int *forces, int count,
                            Graph *graph, Arena *arena)
{
    const RigidPart *part = &g->parts[number];
    const RigidIsland *islands = &g->w.islands[part->first_island];
    const int64_t bodies = part->first_body, bodies_end = part->end_body;
    const int64_t rows = (int64_t)islands->row, rows_end = (int64_t)islands[part->n_islands - 1].row_end;
    const double cost = rigid_part_cost(g, number);
    int assemble, solve, move;
    TRY(graph_node(graph, arena_format(arena, "rows %d", number), (GraphWork){rigid_node_rows, g, number, 0.15 * cost},
                   &assemble));
    TRY(graph_node(graph, arena_format(arena, "solve %d", number),
                   (GraphWork){rigid_node_solve, g, number, 0.75 * cost}, &solve));
    TRY(graph_node(graph, arena_format(arena, "move %d", number), (GraphWork){rigid_node_move, g, number, 0.15 * cost},
                   &move));
    graph_reads(graph, assemble, on->state, bodies, bodies_end);
    graph_reads(graph, assemble, on->masses, bodies, bodies_end);
    graph_writes(graph, assemble, on->rows, rows, rows_end);
    graph_reads(graph, solve, on->masses, bodies, bodies_end);
    graph_reads(graph, solve, on->loads, bodies, bodies_end);
    graph_writes(graph, solve, on->rows, rows, rows_end);
    graph_writes(graph, solve, on->solution, bodies, bodies_end);
    graph_writes(graph, solve, on->counts, number, number + 1);
    graph_reads(graph, move, on->solution, bodies, bodies_end);
    graph_writes(graph, move, on->counts, number, number + 1);
    graph_writes(graph, move, on->state, bodies, bodies_end);
    graph_writes(graph, move, on->masses, bodies, bodies_end);
    TRY(graph_edge(graph, assemble, solve));
    TRY(graph_edge(graph, forces[part->cluster], solve));
    TRY(graph_edge(graph, solve, move));
    return graph_edge(graph, move, count);
}

static Error rigid_add_forces(RigidStepGraph *g, const RigidResources *on, int cluster, Graph *graph, Arena *arena,
                              int *node)
{
    double cost = 0.0;
    for (int p = 0; p < g->n_parts; p++) {
        if (g->parts[p].cluster == cluster) cost += 0.03 * rigid_part_cost(g, p);
    }
    const int first = cluster > 0 ? g->cluster_end[cluster - 1] : 0;
    cost += 100.0 * (g->cluster_end[cluster] - first);
    TRY(graph_node(graph, arena_format(arena, "forces %d", cluster), (GraphWork){rigid_node_forces, g, cluster, cost},
                   node));
    graph_writes(graph, *node, on->forces, first, g->cluster_end[cluster]); // parachutes latch, springs pull
    for (int p = 0; p < g->n_parts; p++) {
        const RigidPart *part = &g->parts[p];
        if (part->cluster != cluster) continue;
        graph_reads(graph, *node, on->state, part->first_body, part->end_body);
        graph_reads(graph, *node, on->masses, part->first_body, part->end_body);
        graph_writes(graph, *node, on->loads, part->first_body, part->end_body);
    }
    return error_none();
}

static Error rigid_add_nodes(RigidStepGraph *g, Graph *graph, Arena *arena)
{
    const RigidResources on = {.state = graph_resource(graph, "state"),
                               .masses = graph_resource(graph, "masses"),
                               .loads = graph_resource(graph, "loads"),
                               .rows = graph_resource(graph, "rows"),
                               .solution = graph_resource(graph, "solution"),
                               .forces = graph_resource(graph, "forces"),
                               .counts = graph_resource(graph, "counts"),
                               .sums = graph_resource(graph, "sums")};
    int *forces = ARENA_NEW(arena, int, g->n_parts), count;
    const double sums = 300.0 + 5.0 * g->w.n_islands;
    TRY(graph_node(graph, "count", (GraphWork){rigid_node_count, g, 0, sums}, &count));
    graph_reads(graph, count, on.state, 0, g->w.n_moving);
    graph_reads(graph, count, on.counts, 0, g->n_parts);
    graph_reads(graph, count, on.forces, 0, g->w.c.n_forces); // what springs pull
    graph_writes(graph, count, on.sums, 0, 1);
    for (int p = 0; p < g->n_parts; p++) { // what is of a part stands together, so that one thread runs it
        if (g->parts[p].cluster == p) TRY(rigid_add_forces(g, &on, p, graph, arena, &forces[p]));
        TRY(rigid_add_part(g, &on, p, forces, count, graph, arena));
    }
    return error_none();
}

HD_CALL Error rigid_large_open(const Constants *constants, const double *assets, int threads, Arena *arena,
                               CpuStepGraph **out)
{
    RigidStepGraph *g = ARENA_NEW(arena, RigidStepGraph, 1);
    Graph *graph = graph_new(arena);
    *out = NULL;
    g->w = rigid_world_of(constants, assets);
    if (g->w.c.form == RIGID_RATTLE) return error_none();
    g->parts = ARENA_NEW(arena, RigidPart, g->w.n_islands);
    g->energy = ARENA_NEW(arena, real, g->w.n_islands);
    g->squares = ARENA_NEW(arena, real, g->w.n_islands);
    rigid_part_islands(g, threads);
    g->cluster_forces = ARENA_NEW(arena, int, g->w.c.n_forces + 1);
    g->cluster_end = ARENA_NEW(arena, int, g->n_parts);
    rigid_cluster_forces(g, arena);
    TRY(rigid_add_nodes(g, graph, arena));
    TRY(graph_validate(graph, arena));
    TRY(graph_compile(graph, threads, arena, &g->shared.program));
    *out = &g->shared;
    return error_none();
}

// ---- a slice --------------------------------------------------------------------------------------------------------

// The lanes of the group instead of those before.
static void rigid_graph_take(RigidStepGraph *g, const Constants *constants, const double *assets,
                             const LaneGroup *group)
{
    g->w = rigid_open(constants, assets, group);
    g->w.base = lanes_work_block(group, g->w.c.cells, &g->w.stride);
    g->w.valid = group->valid;
    g->gains = rigid_gains(&g->w);
    for (int p = 0; p < g->n_parts; p++)
        g->parts[p].w = rigid_islands(&g->w, g->parts[p].first_island, g->parts[p].n_islands);
}

// The lanes that take the next step. Parts are told only when that changes: their cache lines are other threads'.
static void rigid_graph_activate(RigidStepGraph *g, mask active)
{
    const bool told = !any_lane(active ^ g->parts[0].w.active);
    for (int p = 0; !told && p < g->n_parts; p++) g->parts[p].w.active = active;
    g->w.active = active;
}

HD_CALL void rigid_large_share(CpuStepGraph *shared, GraphTeam *team, const Constants *constants, const double *assets,
                               const LaneGroup *group)
{
    RigidStepGraph *g = (RigidStepGraph *)shared;
    mask running = lanes_running(group);
    double ticks = (double)group->tick;
    rigid_graph_take(g, constants, assets, group);
    if (group->tick == 0) rigid_begin(&g->w);
    for (int64_t tick = group->tick; tick < group->tick + group->ticks && any_lane(running); tick++) {
        const real t = splat(ticks * g->w.c.dt);
        mask active = running;
        ticks += 1.0;
        for (double k = 0.0; any_lane(active); k += 1.0) {
            rigid_graph_activate(g, active);
            g->t = fused(splat(k), g->w.dt, t);
            g->height = rigid_height(&g->w);
            graph_run(team, &shared->program, shared->profile);
            active = running & MASK(splat(k + 1.0) < g->w.substeps);
        }
        running = rigid_tick_end(&g->w, false, ticks, g->finite, running);
    }
}

#endif
