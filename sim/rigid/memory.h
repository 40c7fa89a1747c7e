// A lane's memory: its state, and the working memory of a step. Small worlds keep it in fast memory, large ones in the
// batch. Both are columns of numbers with a stride, one lane beside the other.
//
// On a GPU the threads of a team (sim/team.h) share a larger world: each takes every size-th turn of a loop over bodies
// or rows, and all wait for each other (rigid_wait) before they read results of other threads. A number that exists
// once per world is computed by all of them and written by one. Elsewhere a lane has one thread: rank 0 of 1.
#ifndef HOPSCOTCH_RIGID_MEMORY_H
#define HOPSCOTCH_RIGID_MEMORY_H

#include "../samples.h"
#include "../team.h"
#include "rigid.h"
#include "../spatial/vector.h"

// A world, or some islands of it.
typedef struct RigidLanes {
    RigidConstants c;
    const RigidBody *bodies;
    const RigidRow *rows;
    const RigidJoint *joints;
    const RigidForce *forces;
    const RigidSlot *slots, *levels, *force_slots; // [c.n_moving], [c.n_levels], [c.n_forces]: see RigidSlot
    const int32_t *touches;     // [2 n_rows] rows of each body in their order: 2 row + 1 if the body is the row's j
    const int32_t *world_order; // [c.n_moving]
    const int32_t *order;       // [n_moving] bodies, children before parents
    const RigidIsland *islands; // [n_islands]
    int n_moving, n_islands;
    int refine;                    // c.refine, or that of a substep of rattle
    int row, row_end, n_loop_rows; // rows [row, row_end); those that close loops are the last of each island
    int schur_at, response_at;     // of the first island
    const double *actions;         // [c.n_action_rows][c.n_inputs] a table of inputs
    const int32_t *recorded;       // [n_recorded] bodies, of trajectories
    const int32_t *named;          // [n_named] bodies, of metrics
    const LaneGroup *group;        // the lanes whose parameters are read
#if defined(HOPSCOTCH_MADE) || defined(HOPSCOTCH_ALONE)
    static constexpr int rank = 0, size = 1; // each lane has one thread
#else
    int rank, size; // of this thread among those that share the lane
#endif
#if defined(HOPSCOTCH_MADE)
    static constexpr int stride = 1;
#else
    int stride;     // doubles from one cell of a lane to the next
#endif
    double *base;
    real alpha, beta, gamma, frequency, damping_ratio, gravity, wind_x, wind_y, wind_z, substeps;
    real dt;     // s, of a step
    mask active; // lanes that take this step: data that outlives it changes only in these
} RigidLanes;

HD bool rigid_moves(const RigidLanes *w, int body) { return body >= 0 && w->bodies[body].fixed == 0; }

// Do rows close loops of what is solved by trees?
HD bool rigid_has_loops(const RigidLanes *w) { return w->c.n_loop_rows > 0 && w->n_loop_rows > 0; }

// Some neighbouring islands.
HD RigidLanes rigid_islands(const RigidLanes *w, int first, int count)
{
    const RigidIsland *islands = &w->islands[first], *last = &islands[count - 1];
    RigidLanes view = *w;
    view.islands = islands;
    view.n_islands = count;
    view.order = w->world_order + last->first; // the first island's bodies are the last
    view.n_moving = islands->first + islands->count - last->first;
    view.row = islands->row;
    view.row_end = last->row_end;
    view.n_loop_rows = 0;
    for (int i = 0; i < count; i++) view.n_loop_rows += islands[i].n_loop_rows;
    view.schur_at = islands->schur;
    view.response_at = islands->response;
    return view;
}

#if defined(HOPSCOTCH_TEAMS)
HD double *rigid_cell(const RigidLanes *w, int at) { return w->base + at * w->stride; }
#else // with a stride that the compiler knows
#if defined(HOPSCOTCH_ALONE)
enum { RIGID_STRIDE = LANES_TOGETHER };
#else
enum { RIGID_STRIDE = REAL_DOUBLES };
#endif
HD double *rigid_cell(const RigidLanes *w, int at) { return w->base + at * RIGID_STRIDE; }
#endif
HD real cell(const RigidLanes *w, int at) { return load_all(rigid_cell(w, at)); }
HD void set_cell(const RigidLanes *w, int at, real x) { store_all(rigid_cell(w, at), x); }
HD void update_cell(const RigidLanes *w, int at, real x) { store_lanes(rigid_cell(w, at), x, w->active, LANES); }
HD void add_cell(const RigidLanes *w, int at, real x) { set_cell(w, at, cell(w, at) + x); }

// the greater one; a NaN stays
HD real most_of(real x, real most)
{
    return select_real(MASK(value_of(x) <= value_of(most)) | MASK(value_of(most) != value_of(most)), most, x);
}

// ---- threads that share the lane ------------------------------------------------------------------------------------

#if defined(HOPSCOTCH_TEAMS)
enum { RIGID_WARPS_MAX = 8 };

// Waits for the threads that share a world: a thread block, or a warp, which is then a thread block too.
HD void rigid_wait(const RigidLanes *w)
{
    if (w->size > TEAM_WARP) thread_block_barrier();
    if (w->size == TEAM_WARP) __syncwarp();
}

// One number per warp of the thread block. It is small, because shared memory is taken from the cache, also for worlds
// that do not use it.
HD double *rigid_of_warps(void)
{
    __shared__ double of_warp[RIGID_WARPS_MAX];
    return of_warp;
}

// Stores x of each warp in rigid_of_warps; all threads of a warp have the same x.
HD void rigid_show_warps(double x)
{
    thread_block_barrier(); // all have read the previous values
    if (team_column() == 0) rigid_of_warps()[team_warp()] = x;
    thread_block_barrier();
}

// The greatest of all threads' x.
HD_CALL real rigid_most_of_team(const RigidLanes *restrict w, real x)
{
    if (w->size == 1) return x;
    for (int half = TEAM_WARP / 2; half > 0; half /= 2) x = most_of(__shfl_xor_sync(0xffffffffU, x, half), x);
    if (w->size == TEAM_WARP) return x;
    rigid_show_warps(x);
    for (int k = 0; k < w->size / TEAM_WARP; k++) x = most_of(rigid_of_warps()[k], x);
    return x;
}

// The sum of all threads' x, which are integers: exact in any order.
HD_CALL real rigid_count_of_team(const RigidLanes *restrict w, real x)
{
    if (w->size == 1) return x;
    for (int half = TEAM_WARP / 2; half > 0; half /= 2) x += __shfl_xor_sync(0xffffffffU, x, half);
    if (w->size == TEAM_WARP) return x;
    rigid_show_warps(x);
    x = 0.0;
    for (int k = 0; k < w->size / TEAM_WARP; k++) x += rigid_of_warps()[k];
    return x;
}
#else
HD void rigid_wait(const RigidLanes *w) { (void)w; }
HD real rigid_most_of_team(const RigidLanes *w, real x)
{
    (void)w;
    return x;
}
HD real rigid_count_of_team(const RigidLanes *w, real x)
{
    (void)w;
    return x;
}
#endif

// True in the thread that writes numbers that exist once per world.
HD bool rigid_speaks(const RigidLanes *w) { return w->rank == 0; }

// ---- cells ----------------------------------------------------------------------------------------------------------

HD Vector3 cell3(const RigidLanes *w, int at) { return vector3(cell(w, at), cell(w, at + 1), cell(w, at + 2)); }
HD void set_cell3(const RigidLanes *w, int at, Vector3 v)
{
    set_cell(w, at, v.x);
    set_cell(w, at + 1, v.y);
    set_cell(w, at + 2, v.z);
}
HD void update_cell3(const RigidLanes *w, int at, Vector3 v)
{
    update_cell(w, at, v.x);
    update_cell(w, at + 1, v.y);
    update_cell(w, at + 2, v.z);
}
HD void add_cell3(const RigidLanes *w, int at, Vector3 v) { set_cell3(w, at, added(cell3(w, at), v)); }

// Cells of a body's and of a row's numbers.
HD int rigid_state_at(const RigidLanes *w, int body)
{
    (void)w;
    return RIGID_STATE * body;
}
HD int rigid_body_at(const RigidLanes *w, int body) { return w->c.body_at + RIGID_BODY_CELLS * body; }
HD int rigid_row_at(const RigidLanes *w, int row) { return w->c.row_at + RIGID_ROW_CELLS * row; }

// Where a thread has a world to itself on a GPU, it waits for memory. There the cells of J of a row along an axis hold
// the arms of its ends: all of J follows from them. Rows of a constraint share the first one's.
#if defined(HOPSCOTCH_ALONE)
enum { RIGID_STORES_ARMS = 1 };
#else
enum { RIGID_STORES_ARMS = 0 };
#endif
HD int rigid_arms(const RigidLanes *w, int row)
{
    const int first = row - w->rows[row].before;
    return rigid_row_at(w, w->rows[first].kind == RIGID_ALONG ? first : row) + RIGID_ROW_J;
}

HD Vector3 rigid_p(const RigidLanes *w, int body) { return cell3(w, rigid_state_at(w, body)); }
HD Vector3 rigid_v(const RigidLanes *w, int body) { return cell3(w, rigid_state_at(w, body) + 7); }
HD Vector3 rigid_w(const RigidLanes *w, int body) { return cell3(w, rigid_state_at(w, body) + 10); }
HD Quaternion rigid_q(const RigidLanes *w, int body)
{
    const int at = rigid_state_at(w, body) + 3;
    Quaternion q;
    q.x = cell(w, at);
    q.y = cell(w, at + 1);
    q.z = cell(w, at + 2);
    q.w = cell(w, at + 3);
    return q;
}
HD void rigid_set_q(const RigidLanes *w, int body, Quaternion q)
{
    const int at = rigid_state_at(w, body) + 3;
    update_cell(w, at, q.x);
    update_cell(w, at + 1, q.y);
    update_cell(w, at + 2, q.z);
    update_cell(w, at + 3, q.w);
}

HD void rigid_set_symmetric(const RigidLanes *w, int at, Symmetric3 a)
{
    set_cell(w, at, a.xx);
    set_cell(w, at + 1, a.yy);
    set_cell(w, at + 2, a.zz);
    set_cell(w, at + 3, a.xy);
    set_cell(w, at + 4, a.xz);
    set_cell(w, at + 5, a.yz);
}
HD Symmetric3 rigid_symmetric(const RigidLanes *w, int at)
{
    Symmetric3 a;
    a.xx = cell(w, at);
    a.yy = cell(w, at + 1);
    a.zz = cell(w, at + 2);
    a.xy = cell(w, at + 3);
    a.xz = cell(w, at + 4);
    a.yz = cell(w, at + 5);
    return a;
}

// ---- rows of one constraint -----------------------------------------------------------------------------------------

// Calls function(..., n) for the n rows of one constraint; n <= RIGID_JOINT_ROWS is a literal in each call. In a made
// kernel the compiler knows n anyway.
#if defined(HOPSCOTCH_MADE)
#define RIGID_ROWS_DO(n, function, ...) function(__VA_ARGS__, n)
#else
#define RIGID_ROWS_DO(n, function, ...)                                                                                \
    ((n) == 1   ? function(__VA_ARGS__, 1)                                                                             \
     : (n) == 2 ? function(__VA_ARGS__, 2)                                                                             \
     : (n) == 3 ? function(__VA_ARGS__, 3)                                                                             \
     : (n) == 4 ? function(__VA_ARGS__, 4)                                                                             \
     : (n) == 5 ? function(__VA_ARGS__, 5)                                                                             \
                : function(__VA_ARGS__, 6))
#endif

// Number of rows from this one on that are computed together, with the same operations as alone: shared data is loaded
// once. Threads of a team share rows, not constraints.
HD int rigid_together(const RigidLanes *w, int row)
{
#if defined(HOPSCOTCH_TEAMS)
    (void)w;
    (void)row;
    return 1;
#else
    return w->rows[row].together;
#endif
}

HD Symmetric3 rigid_inertia(const RigidLanes *w, int body)
{
    return rigid_symmetric(w, rigid_body_at(w, body) + RIGID_BODY_M + 1);
}

#endif
