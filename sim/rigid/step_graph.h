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
// RATTLE's iterations are as many as the world as a whole needs. Its step is three graphs, of which the second runs as
// often as the greatest error of all islands asks for, which is looked at between the runs:
//
//     forces g -> start i              half a kick, and where the flight ends
//     aim i                            the next change of velocity, and where the flight ends then
//     land i, forces g -> hold i -> count        the flight's end, and the other half
// Where forces depend on velocities, two more follow, the first as often as the greatest change of a velocity asks for:
//     kick i, forces g -> settle i     the velocities that the multipliers lead to, and their forces and multipliers
//     end i -> count
#ifndef HOPSCOTCH_RIGID_STEP_GRAPH_H
#define HOPSCOTCH_RIGID_STEP_GRAPH_H

#include "../step_graph.h"
#include "advance.h"

// Neighbouring islands that one node computes.
typedef struct RigidChunk {
    RigidLanes w; // these islands
    int first_island, n_islands, first_body, end_body, cluster;
} RigidChunk;

// Results of a step of a chunk. They are stored side by side, separate from the chunks, because one thread reads all of
// them.
typedef struct RigidFound {
    RigidExtremes most;
    real dropped, C, change; // rattle: greatest error at the end of the flight; change of a velocity
    real fall;
    mask finite, near;
} RigidFound;

typedef struct RigidStepGraph {
    CpuStepGraph shared;                 // first
    GraphProgram aim, land, settle, end; // rattle: after shared.program
    RigidLanes w;                        // the world
    RigidGains gains;
    RigidHeight height; // of the step; of the present graph, which may be that of one substep
    real start, t, dt;  // the step's; of the graph that runs, as a step of fourth order is five
    int refine;         // rattle: passes of refinement for the present graph
    RigidAim towards;   // rattle: state of the iterations
    mask missed;        // lanes in which the step has missed the constraints
    mask open;          // lanes that settle on
    RigidStart with;    // the step of the graph that runs
    real power;         // of the inputs, at its start
    bool ends;          // it, or a substep of it, ends with this graph
    bool last;          // the step ends with this graph
    mask finite;        // after it
    real fall;
    real *energy, *squares; // [n_islands]
    RigidChunk *chunks;     // [n_chunks]
    RigidFound *found;      // [n_chunks]
    int n_chunks;
    int *cluster_forces, *cluster_end; // forces by cluster: [n_forces]; [n_chunks], where each one's end
} RigidStepGraph;

// ---- nodes ----------------------------------------------------------------------------------------------------------

static void rigid_node_forces(void *context, int cluster)
{
    const RigidStepGraph *g = context;
    for (int p = 0; p < g->n_chunks; p++) {
        if (g->chunks[p].cluster == cluster) rigid_weights(&g->chunks[p].w, g->w.c.form != RIGID_RATTLE);
    }
    for (int k = cluster > 0 ? g->cluster_end[cluster - 1] : 0; k < g->cluster_end[cluster]; k++)
        rigid_force(&g->w, g->cluster_forces[k], g->t);
}

static void rigid_node_rows(void *context, int chunk)
{
    const RigidStepGraph *g = context;
    rigid_assemble(&g->chunks[chunk].w, true);
    rigid_stabilise(&g->chunks[chunk].w, &g->gains);
}

static void rigid_find_rows(const RigidStepGraph *g, int number)
{
    const RigidChunk *chunk = &g->chunks[number];
    g->found[number].most = rigid_extremes(&chunk->w);
    for (int i = 0; i < chunk->n_islands; i++)
        g->squares[chunk->first_island + i] = rigid_island_squares(&chunk->w, &chunk->w.islands[i]);
}

static void rigid_find_state(const RigidStepGraph *g, int number)
{
    const RigidChunk *chunk = &g->chunks[number];
    g->found[number].finite = rigid_all_finite(&chunk->w);
    g->found[number].fall = rigid_greatest_fall(&chunk->w);
    for (int i = 0; i < chunk->n_islands; i++)
        g->energy[chunk->first_island + i] = rigid_island_energy(&chunk->w, &chunk->w.islands[i]);
}

static void rigid_node_solve(void *context, int number)
{
    const RigidStepGraph *g = context;
    const RigidChunk *chunk = &g->chunks[number];
    g->found[number].dropped = rigid_factor_all(&chunk->w);
    rigid_solve(&chunk->w);
    rigid_find_rows(g, number);
}

static void rigid_node_move(void *context, int number)
{
    const RigidStepGraph *g = context;
    rigid_move(&g->chunks[number].w);
    rigid_find_state(g, number);
}

// ---- nodes of rattle, whose functions are in rattle.h ---------------------------------------------------------------

static void rigid_node_start(void *context, int number)
{
    RigidStepGraph *g = context;
    RigidLanes *w = &g->chunks[number].w;
    w->dt = g->dt;
    w->refine = g->refine;
    rigid_kick_off(w, &g->with);
    g->found[number].C = rigid_fly_there(w);
}

static void rigid_node_aim(void *context, int number)
{
    const RigidStepGraph *g = context;
    const RigidLanes *w = &g->chunks[number].w;
    g->found[number].C = rigid_aim_again(w, &g->towards);
}

static void rigid_node_land(void *context, int number)
{
    const RigidStepGraph *g = context;
    rigid_land(&g->chunks[number].w);
}

static void rigid_node_end(void *context, int number)
{
    const RigidStepGraph *g = context;
    rigid_store_past(&g->chunks[number].w);
    if (!g->last) return;
    rigid_find_rows(g, number);
    rigid_find_state(g, number);
}

static void rigid_node_hold(void *context, int number)
{
    const RigidStepGraph *g = context;
    const RigidLanes *w = &g->chunks[number].w;
    g->found[number].dropped = rigid_factor_all(w);
    g->found[number].near = rigid_nearly_follow(w);
    rigid_hold(w);
    rigid_settle_once(w);
    if (w->c.damped) return;
    rigid_settle_kick(w, w->active);
    rigid_node_end(context, number);
}

static void rigid_node_kick(void *context, int number)
{
    const RigidStepGraph *g = context;
    rigid_settle_kick(&g->chunks[number].w, g->open);
}

static void rigid_node_settle(void *context, int number)
{
    const RigidStepGraph *g = context;
    g->found[number].change = rigid_settle_once(&g->chunks[number].w);
}

// ---- the world as a whole -------------------------------------------------------------------------------------------

static void rigid_node_count(void *context, int item)
{
    (void)item;
    RigidStepGraph *g = context;
    if (g->ends) rigid_add_work(&g->w, g->dt, g->power);
    if (!g->last) return;
    RigidExtremes most = g->found[0].most;
    real energy = splat(0.0), squares = splat(0.0), dropped = splat(0.0);
    mask near = no_lanes();
    g->finite = all_lanes();
    g->fall = splat(0.0);
    for (int p = 0; p < g->n_chunks; p++) {
        const RigidFound *found = &g->found[p];
        most.stretch = most_of(found->most.stretch, most.stretch);
        most.lever = most_of(found->most.lever, most.lever);
        most.pull = most_of(found->most.pull, most.pull);
        most.multiplier = most_of(found->most.multiplier, most.multiplier);
        most.residual = most_of(found->most.residual, most.residual);
        dropped = dropped + found->dropped;
        near = near | found->near;
        g->fall = most_of(found->fall, g->fall);
        g->finite = g->finite & found->finite;
    }
    for (int i = 0; i < g->w.n_islands; i++) {
        energy = energy + g->energy[i];
        squares = squares + g->squares[i];
    }
    const mask missed = g->missed | rigid_drops_too_few(&g->w, dropped);
    rigid_sum_rows(&g->w, dropped, squares, &most);
    rigid_sum_state(&g->w, energy, &g->height, missed, near, g->start);
}

// ---- chunks ---------------------------------------------------------------------------------------------------------

enum { RIGID_CHUNKS_PER_THREAD = 8, RIGID_CHUNKS_MAX = 2048 };

// About what a step of an island takes (ns), all of its nodes.
static double rigid_island_cost(const RigidIsland *island) { return (LANES > 1 ? 2.5 : 1.0) * island->cost; }

// Divides islands into chunks of about equal cost, several per thread, large enough to be worth a call.
static void rigid_split_islands(RigidStepGraph *g, int threads)
{
    const double least = 700.0; // ns
    const int wanted =
        threads < RIGID_CHUNKS_MAX / RIGID_CHUNKS_PER_THREAD ? RIGID_CHUNKS_PER_THREAD * threads : RIGID_CHUNKS_MAX;
    double total = 0.0, cost = 0.0;
    for (int i = 0; i < g->w.n_islands; i++) total += rigid_island_cost(&g->w.islands[i]);
    const double enough = total / wanted > least ? 0.999 * total / wanted : least; // sums are rounded
    for (int i = 0, first = 0; i < g->w.n_islands; i++) {
        cost += rigid_island_cost(&g->w.islands[i]);
        if (cost < enough && i + 1 < g->w.n_islands) continue;
        const int end_body = g->w.islands[first].first + g->w.islands[first].count;
        g->chunks[g->n_chunks] = (RigidChunk){.first_island = first,
                                              .n_islands = i + 1 - first,
                                              .first_body = g->w.islands[i].first,
                                              .end_body = end_body,
                                              .cluster = g->n_chunks};
        g->n_chunks++;
        first = i + 1;
        cost = 0.0;
    }
}

static double rigid_chunk_cost(const RigidStepGraph *g, int chunk)
{
    double cost = 0.0;
    for (int i = 0; i < g->chunks[chunk].n_islands; i++)
        cost += rigid_island_cost(&g->w.islands[g->chunks[chunk].first_island + i]);
    return cost;
}

// The chunk of a body; -1: it is fixed.
static int rigid_chunk_of(const RigidStepGraph *g, const int *chunk_of, int body)
{
    return rigid_moves(&g->w, body) ? chunk_of[body] : -1;
}

// Chunks that a spring joins share a cluster, numbered by its first chunk. Then sorts forces by cluster.
static void rigid_cluster_forces(RigidStepGraph *g, Arena *arena)
{
    int *chunk_of = ARENA_NEW(arena, int, g->w.c.n_bodies), count = 0;
    int *cluster_of = ARENA_NEW(arena, int, g->w.c.n_forces + 1);
    for (int p = 0; p < g->n_chunks; p++) {
        for (int b = g->chunks[p].first_body; b < g->chunks[p].end_body; b++) chunk_of[g->w.order[b]] = p;
    }
    for (int f = 0; f < g->w.c.n_forces; f++) {
        const RigidForce *force = &g->w.forces[f];
        const bool pair = force->kind == RIGID_SPRING || force->kind == RIGID_TETHER || force->kind == RIGID_INPUT;
        const int i = rigid_chunk_of(g, chunk_of, force->i), j = pair ? rigid_chunk_of(g, chunk_of, force->j) : -1;
        cluster_of[f] = i >= 0 ? i : j;
        if (i < 0 || j < 0) continue;
        const int a = g->chunks[i].cluster, b = g->chunks[j].cluster;
        for (int p = 0; p < g->n_chunks; p++) {
            if (g->chunks[p].cluster == (a > b ? a : b)) g->chunks[p].cluster = a > b ? b : a;
        }
    }
    for (int c = 0; c < g->n_chunks; c++) {
        for (int f = 0; f < g->w.c.n_forces; f++) {
            if (g->chunks[cluster_of[f]].cluster == c) g->cluster_forces[count++] = f;
        }
        g->cluster_end[c] = count;
    }
}

// ---- graphs ---------------------------------------------------------------------------------------------------------

// Data that nodes access: of bodies by their order, of rows by their number, of chunks.
enum {
    RIGID_USES_STATE = 1,
    RIGID_USES_MASSES = 2,
    RIGID_USES_LOADS = 4,
    RIGID_USES_SOLUTION = 8,
    RIGID_USES_ROWS = 16,
    RIGID_USES_FOUND = 32,
    RIGID_N_USES = 6
};

// A node for each chunk; the nodes of one chunk run one after the other.
typedef struct RigidStage {
    const char *name;
    void (*function)(void *context, int chunk);
    double cost; // relative to a step
    unsigned reads, writes;
    bool waits; // for the forces on its chunk
} RigidStage;

typedef struct RigidStages {
    int count;
    bool forces, forces_last; // whether there are any; whether they wait for the first stage
    bool counts;              // whether the sums over the world come last
    RigidStage stage[3];
} RigidStages;

static const RigidStages rigid_stages_step = {
    .count = 3,
    .forces = true,
    .counts = true,
    .stage = {{"rows", rigid_node_rows, 0.16, RIGID_USES_STATE | RIGID_USES_MASSES, RIGID_USES_ROWS, false},
              {"solve", rigid_node_solve, 0.7, RIGID_USES_MASSES | RIGID_USES_LOADS,
               RIGID_USES_ROWS | RIGID_USES_SOLUTION | RIGID_USES_FOUND, true},
              {"move", rigid_node_move, 0.14, RIGID_USES_SOLUTION,
               RIGID_USES_STATE | RIGID_USES_MASSES | RIGID_USES_FOUND, false}}};

static const RigidStages rigid_stages_start = {
    .count = 1,
    .forces = true,
    .stage = {{"start", rigid_node_start, 0.4, RIGID_USES_MASSES,
               RIGID_USES_STATE | RIGID_USES_LOADS | RIGID_USES_ROWS | RIGID_USES_SOLUTION | RIGID_USES_FOUND, true}}};

static const RigidStages rigid_stages_aim = {
    .count = 1,
    .stage = {{"aim", rigid_node_aim, 0.6, RIGID_USES_MASSES | RIGID_USES_LOADS,
               RIGID_USES_STATE | RIGID_USES_ROWS | RIGID_USES_SOLUTION | RIGID_USES_FOUND, false}}};

static const RigidStages rigid_stages_land = {
    .count = 2,
    .forces = true,
    .forces_last = true,
    .counts = true,
    .stage = {{"land", rigid_node_land, 0.2, 0, RIGID_USES_STATE | RIGID_USES_MASSES | RIGID_USES_ROWS, false},
              {"hold", rigid_node_hold, 0.9, RIGID_USES_MASSES | RIGID_USES_LOADS,
               RIGID_USES_STATE | RIGID_USES_ROWS | RIGID_USES_SOLUTION | RIGID_USES_FOUND, true}}};

static const RigidStages rigid_stages_settle = {
    .count = 2,
    .forces = true,
    .forces_last = true,
    .stage = {{"kick", rigid_node_kick, 0.03, RIGID_USES_SOLUTION, RIGID_USES_STATE, false},
              {"settle", rigid_node_settle, 0.4, RIGID_USES_MASSES | RIGID_USES_LOADS | RIGID_USES_STATE,
               RIGID_USES_ROWS | RIGID_USES_SOLUTION | RIGID_USES_FOUND, true}}};

static const RigidStages rigid_stages_end = {
    .count = 1,
    .counts = true,
    .stage = {{"end", rigid_node_end, 0.1, RIGID_USES_STATE | RIGID_USES_MASSES | RIGID_USES_SOLUTION,
               RIGID_USES_ROWS | RIGID_USES_FOUND, false}}};

// While a graph is built.
typedef struct RigidGraphBuild {
    RigidStepGraph *g;
    const RigidStages *stages;
    Graph *graph;
    Arena *arena;
    int use[RIGID_N_USES], latches, sums; // resources
    int *node, *forces;                   // [n_chunks][stages]; [n_chunks] by cluster
} RigidGraphBuild;

static void rigid_declare(const RigidGraphBuild *to, int node, int number, unsigned uses,
                          void (*declare)(Graph *, int, int, int64_t, int64_t))
{
    const RigidChunk *chunk = &to->g->chunks[number];
    const RigidIsland *islands = &to->g->w.islands[chunk->first_island];
    for (int k = 0; k < RIGID_N_USES; k++) {
        int64_t first = chunk->first_body, end = chunk->end_body;
        if (1u << k == RIGID_USES_ROWS) {
            first = (int64_t)islands->row;
            end = (int64_t)islands[chunk->n_islands - 1].row_end;
        } else if (1u << k == RIGID_USES_FOUND) {
            first = number;
            end = number + 1;
        }
        if ((uses >> k & 1u) != 0) declare(to->graph, node, to->use[k], first, end);
    }
}

static Error rigid_add_chunk(const RigidGraphBuild *to, int number)
{
    const double cost = rigid_chunk_cost(to->g, number);
    int *node = to->node + number * to->stages->count;
    for (int s = 0; s < to->stages->count; s++) {
        const RigidStage *stage = &to->stages->stage[s];
        const GraphWork work = {stage->function, to->g, number, stage->cost * cost};
        TRY(graph_node(to->graph, arena_format(to->arena, "%s %d", stage->name, number), work, &node[s]));
        rigid_declare(to, node[s], number, stage->reads, graph_reads);
        rigid_declare(to, node[s], number, stage->writes, graph_writes);
        if (s > 0) TRY(graph_edge(to->graph, node[s - 1], node[s]));
    }
    return error_none();
}

static Error rigid_add_forces(const RigidGraphBuild *to, int cluster)
{
    const RigidStepGraph *g = to->g;
    const int first = cluster > 0 ? g->cluster_end[cluster - 1] : 0, end = g->cluster_end[cluster];
    double cost = 100.0 * (end - first);
    for (int p = 0; p < g->n_chunks; p++) cost += g->chunks[p].cluster == cluster ? 0.03 * rigid_chunk_cost(g, p) : 0.0;
    TRY(graph_node(to->graph, arena_format(to->arena, "forces %d", cluster),
                   (GraphWork){rigid_node_forces, to->g, cluster, cost}, &to->forces[cluster]));
    graph_writes(to->graph, to->forces[cluster], to->latches, first, end); // parachutes latch, springs pull
    return error_none();
}

// Forces of a chunk's cluster run before the stages of the chunk that wait for them.
static Error rigid_join_forces(const RigidGraphBuild *to, int number)
{
    const int *stages = to->node + number * to->stages->count, forces = to->forces[to->g->chunks[number].cluster];
    rigid_declare(to, forces, number, RIGID_USES_STATE | RIGID_USES_MASSES, graph_reads);
    rigid_declare(to, forces, number, RIGID_USES_LOADS, graph_writes);
    if (to->stages->forces_last) TRY(graph_edge(to->graph, stages[0], forces));
    for (int s = 0; s < to->stages->count; s++) {
        if (to->stages->stage[s].waits) TRY(graph_edge(to->graph, forces, stages[s]));
    }
    return error_none();
}

static Error rigid_add_count(const RigidGraphBuild *to)
{
    RigidStepGraph *g = to->g;
    int node;
    const GraphWork work = {rigid_node_count, g, 0, 100.0 + 2.0 * g->w.n_islands};
    TRY(graph_node(to->graph, "count", work, &node));
    graph_reads(to->graph, node, to->latches, 0, g->w.c.n_forces); // what springs pull
    graph_writes(to->graph, node, to->sums, 0, 1);
    for (int p = 0; p < g->n_chunks; p++) {
        rigid_declare(to, node, p, RIGID_USES_STATE | RIGID_USES_FOUND, graph_reads);
        TRY(graph_edge(to->graph, to->node[p * to->stages->count + to->stages->count - 1], node));
    }
    return error_none();
}

static Error rigid_build_graph(RigidStepGraph *g, const RigidStages *stages, int threads, Arena *arena,
                               GraphProgram *program)
{
    static const char *const uses[RIGID_N_USES] = {"state", "masses", "loads", "solution", "rows", "found"};
    RigidGraphBuild to = {.g = g, .stages = stages, .arena = arena};
    to.node = ARENA_NEW(arena, int, g->n_chunks * stages->count);
    to.forces = ARENA_NEW(arena, int, g->n_chunks);
    to.graph = graph_new(arena);
    for (int k = 0; k < RIGID_N_USES; k++) to.use[k] = graph_resource(to.graph, uses[k]);
    to.latches = graph_resource(to.graph, "forces");
    to.sums = graph_resource(to.graph, "sums");
    // nodes of one chunk are neighbours, so that one thread runs them
    for (int p = 0; p < g->n_chunks; p++) {
        if (stages->forces && g->chunks[p].cluster == p) TRY(rigid_add_forces(&to, p));
        TRY(rigid_add_chunk(&to, p));
    }
    for (int p = 0; p < g->n_chunks && stages->forces; p++) TRY(rigid_join_forces(&to, p));
    if (stages->counts) TRY(rigid_add_count(&to));
    TRY(graph_validate(to.graph, arena));
    return graph_compile(to.graph, threads, arena, program);
}

HD_CALL Error rigid_large_open(const Constants *constants, const double *assets, int threads, Arena *arena,
                               CpuStepGraph **out)
{
    RigidStepGraph *g = ARENA_NEW(arena, RigidStepGraph, 1);
    *out = NULL;
    g->w = rigid_world_of(constants, assets);
    g->chunks = ARENA_NEW(arena, RigidChunk, g->w.n_islands);
    g->energy = ARENA_NEW(arena, real, g->w.n_islands);
    g->squares = ARENA_NEW(arena, real, g->w.n_islands);
    rigid_split_islands(g, threads);
    g->found = ARENA_NEW(arena, RigidFound, g->n_chunks);
    g->cluster_forces = ARENA_NEW(arena, int, g->w.c.n_forces + 1);
    g->cluster_end = ARENA_NEW(arena, int, g->n_chunks);
    rigid_cluster_forces(g, arena);
    g->shared.pieces = g->w.c.form == RIGID_RATTLE;
    if (g->shared.pieces) {
        TRY(rigid_build_graph(g, &rigid_stages_start, threads, arena, &g->shared.program));
        TRY(rigid_build_graph(g, &rigid_stages_aim, threads, arena, &g->aim));
        TRY(rigid_build_graph(g, &rigid_stages_land, threads, arena, &g->land));
        if (g->w.c.damped) {
            TRY(rigid_build_graph(g, &rigid_stages_settle, threads, arena, &g->settle));
            TRY(rigid_build_graph(g, &rigid_stages_end, threads, arena, &g->end));
        }
    } else {
        TRY(rigid_build_graph(g, &rigid_stages_step, threads, arena, &g->shared.program));
    }
    *out = &g->shared;
    return error_none();
}

// ---- a step ---------------------------------------------------------------------------------------------------------

// As rigid_aim, with all islands.
static void rigid_graph_aim(RigidStepGraph *g, GraphTeam *team)
{
    RigidLanes w = g->w;
    RigidAim *aim = &g->towards;
    w.dt = g->dt;
    *aim = rigid_aim_begin(&w);
    for (int iteration = 0;; iteration++) {
        real error = splat(0.0);
        for (int p = 0; p < g->n_chunks; p++) error = most_of(g->found[p].C, error);
        rigid_aim_judge(&w, aim, error, iteration == 0);
        if (any_lane(aim->worse)) rigid_aim_back(&w, aim->worse);
        if (iteration == w.c.iterations || !any_lane(aim->open | aim->closing)) break;
        graph_run(team, &g->aim, NULL);
    }
    g->missed = g->missed | aim->missed;
}

// As rigid_settle, from its first kick on.
static void rigid_graph_settle(RigidStepGraph *g, GraphTeam *team)
{
    real before = splat(RIGID_RATTLE_FAR);
    g->open = g->w.active;
    for (int iteration = 1; any_lane(g->open); iteration++) {
        real change = splat(0.0);
        graph_run(team, &g->settle, NULL);
        if (iteration == g->w.c.iterations) return;
        for (int p = 0; p < g->n_chunks; p++) change = most_of(g->found[p].change, change);
        g->open = rigid_goes_on(&g->w, change, before);
        before = change;
    }
}

// A step of order two. tentative: it ends before landing if the step has missed the constraints.
static void rigid_graph_substep(RigidStepGraph *g, GraphTeam *team, bool last, bool tentative)
{
    const bool damped = g->w.c.damped != 0;
    g->power = rigid_input_power(&g->w);
    graph_run(team, &g->shared.program, g->shared.profile);
    rigid_graph_aim(g, team);
    if (tentative && any_lane(g->missed)) return;
    g->t = g->t + select_real(g->w.active, g->dt, splat(0.0));
    g->ends = !damped;
    g->last = last && !damped;
    graph_run(team, &g->land, NULL);
    if (!damped) return;
    rigid_graph_settle(g, team);
    g->ends = true;
    g->last = last;
    graph_run(team, &g->end, NULL);
}

// Sets the lanes that take the next step. Chunks are written only on a change, because their cache lines belong to
// other threads.
static void rigid_graph_activate(RigidStepGraph *g, mask active)
{
    const bool same = !any_lane(active ^ g->chunks[0].w.active);
    for (int p = 0; !same && p < g->n_chunks; p++) g->chunks[p].w.active = active;
    g->w.active = active;
}

static void rigid_graph_substeps(RigidStepGraph *g, GraphTeam *team, mask refined, bool tentative)
{
    const RigidSubsteps substeps = rigid_substeps(g->w.c.rattle_order);
    const int count = rigid_count_substeps(&substeps, refined);
    const RigidLanes w = g->w;
    g->missed = no_lanes();
    g->t = g->start;
    for (int k = 0; k < count; k++) {
        const bool last = k + 1 == count;
        const RigidSpan substep = rigid_span(&w, &substeps, k, count, refined);
        rigid_graph_activate(g, substep.active);
        g->dt = substep.length * w.dt;
        g->refine = substep.refine;
        g->with.ratio = substep.ratio;
        g->with.refined = refined;
        rigid_graph_substep(g, team, last, tentative && last);
    }
}

// As rigid_step_rattle; only the last run adds to the sums over the world.
static void rigid_graph_rattle(RigidStepGraph *g, GraphTeam *team)
{
    const bool refines = g->w.c.refines != 0;
    rigid_latch(&g->w, g->t);
    if (refines) rigid_save(&g->w, false);
    rigid_graph_substeps(g, team, no_lanes(), refines);
    if (!refines || !any_lane(g->missed)) return;
    const mask refined = g->missed;
    rigid_count_refined(&g->w, refined);
    rigid_save(&g->w, true);
    rigid_graph_substeps(g, team, refined, false);
}

// One step of the active lanes from the time t on, with all its sums.
static void rigid_graph_step(RigidStepGraph *g, GraphTeam *team, real t)
{
    g->height = rigid_height(&g->w);
    g->start = g->t = t;
    g->dt = g->w.dt;
    g->last = g->ends = true;
    if (g->w.c.form == RIGID_RATTLE) {
        rigid_graph_rattle(g, team);
    } else {
        rigid_latch(&g->w, t);
        g->power = rigid_input_power(&g->w);
        graph_run(team, &g->shared.program, g->shared.profile);
    }
}

// ---- a slice --------------------------------------------------------------------------------------------------------

// Takes the lanes of this group in place of the previous ones.
static void rigid_graph_take(RigidStepGraph *g, const Constants *constants, const double *assets,
                             const LaneGroup *group)
{
    g->w = rigid_open(constants, assets, group);
    g->w.base = lanes_work_chunk(group, g->w.c.cells, &g->w.stride);
    g->gains = rigid_gains(&g->w);
    for (int p = 0; p < g->n_chunks; p++)
        g->chunks[p].w = rigid_islands(&g->w, g->chunks[p].first_island, g->chunks[p].n_islands);
}

HD_CALL void rigid_large_share(CpuStepGraph *shared, GraphTeam *team, const Constants *constants, const double *assets,
                               const LaneGroup *group, bool observed)
{
    RigidStepGraph *g = (RigidStepGraph *)shared;
    mask running = lanes_running(group), refused = no_lanes();
    double ticks = (double)group->tick;
    rigid_graph_take(g, constants, assets, group);
    if (group->tick == 0) {
        refused = rigid_begin(&g->w);
        if (g->w.c.form == RIGID_RATTLE) rigid_prepare_rattle(&g->w, true);
    }
    for (int64_t tick = group->tick; tick < group->tick + group->ticks && any_lane(running); tick++) {
        const real t = splat(ticks * g->w.c.dt);
        const mask moving = running & ~refused;
        mask active = moving;
        ticks += 1.0;
        rigid_control(&g->w, tick, t, moving);
        if (observed && lanes_sample_due(group, tick)) rigid_sample(&g->w, t, false, moving);
        for (double k = 0.0; any_lane(active); k += 1.0) {
            rigid_graph_activate(g, active);
            rigid_graph_step(g, team, fused(splat(k), g->w.dt, t));
            if (observed && k == 0.0 && lanes_debug_due(group, tick)) rigid_debug_rows(&g->w, t, moving);
            active = moving & MASK(k + 1.0 < value_of(g->w.substeps));
        }
        running = rigid_tick_end(&g->w, observed, ticks, g->finite, g->fall, running);
    }
}

#endif
