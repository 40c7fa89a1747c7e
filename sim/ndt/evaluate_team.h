// An evaluation by a team of threads (sim/team.h), with the bits of evaluate_lanes.h. A thread takes a point of a row,
// a warp a row of a chunk, and thread block b of n the chunks b, b + n, .... The leading warp sets the pose; the others
// wait for it in ndt_help.
#ifndef HOPSCOTCH_NDT_EVALUATE_TEAM_H
#define HOPSCOTCH_NDT_EVALUATE_TEAM_H

#include "evaluate.h"

#if defined(HOPSCOTCH_TEAMS)

enum { NDT_TEAM_CHUNKS = 12, NDT_MATRICES = 1 + NDT_ANGLES + NDT_ANGLE_PAIRS };

// Shared memory of a thread block. Sums stand in the columns of a row: NDT_ROW is enough for all NDT_SUMS.
typedef struct NdtShared {
    double order[1 + NDT_POSE]; // 1: there is a pose to evaluate; 0: the alignment has ended
    NdtFrame frame;
    double rows[NDT_TEAM_CHUNKS][NDT_CHUNK_ROWS][NDT_ROW]; // of some chunks
    double of_chunks[NDT_CHUNK_SUMS][NDT_ROW];
    double sums[NDT_ROW];
    int next; // next row of these chunks
} NdtShared;

HD NdtShared &ndt_shared(void)
{
    __shared__ NdtShared shared;
    return shared;
}

// ---- pairs of a point -----------------------------------------------------------------------------------------------

// A thread's point.
typedef struct NdtThread {
    double y[3];   // transformed, from the corner of its voxel
    int64_t first; // of the candidates of its voxel
    uint32_t left; // those that are still to be added, one bit each
} NdtThread;

// The cell of a point's coordinate. False: it is outside of the map or NaN.
HD bool ndt_cell_of(double x, double resolution, int64_t *cell)
{
    const double scaled = x / resolution;
    if (!(scaled < (double)NDT_CELL_MAX && scaled > -(double)NDT_CELL_MAX)) return false;
    *cell = (int64_t)scaled;
    if ((double)*cell > scaled) *cell -= 1; // round down
    return true;
}

// The k-th candidate: its mean (m) from the corner of its voxel. Returns its code.
HD int32_t ndt_candidate(const NdtMap *map, int64_t k, double *mean)
{
    int32_t code;
    if (map->candidates.single != NULL) {
        const float4 four = __ldg((const float4 *)map->candidates.single + k);
        mean[0] = four.x, mean[1] = four.y, mean[2] = four.z;
        code = __float_as_int(four.w);
    } else {
        const double2 *at = (const double2 *)map->candidates.whole + 2 * k, low = __ldg(at), high = __ldg(at + 1);
        mean[0] = low.x, mean[1] = low.y, mean[2] = high.x;
        code = __double2loint(high.y);
    }
    for (int a = 0; a < 3; a++) mean[a] = map->resolution * (double)((code >> 2 * a & 3) - 1) + mean[a];
    return code & ((1 << NDT_CODE_BITS) - 1);
}

// The inverse covariance of a cell, loaded four or two numbers at a time.
HD void ndt_inverse_of(const NdtMap *map, int64_t cell, double *A)
{
    if (map->cells.single != NULL) {
        const float4 *at = (const float4 *)(map->cells.single + cell * NDT_CELL_STRIDE);
        const float4 low = __ldg(at);
        const float2 high = __ldg((const float2 *)(at + 1));
        A[0] = low.x, A[1] = low.y, A[2] = low.z, A[3] = low.w, A[4] = high.x, A[5] = high.y;
        return;
    }
    const double2 *at = (const double2 *)(map->cells.whole + cell * NDT_CELL_STRIDE);
    for (int k = 0; k < 3; k++) {
        const double2 two = __ldg(at + k);
        A[2 * k] = two.x, A[2 * k + 1] = two.y;
    }
}

// The candidates of the point's voxel that are near enough.
HD void ndt_thread_match(const NdtMap *map, NdtThread *t)
{
    int64_t cell[3];
    t->left = 0;
    for (int a = 0; a < 3; a++) {
        if (!ndt_cell_of(t->y[a], map->resolution, &cell[a])) return;
    }
    const int64_t list = ndt_list(map, ndt_key(cell[0], cell[1], cell[2]));
    t->first = list >> 5;
    for (int a = 0; a < 3; a++) t->y[a] -= map->resolution * (double)cell[a];
    for (int i = 0; i < (int)(list & 31); i++) {
        double mean[3];
        ndt_candidate(map, t->first + i, mean);
        const double d0 = t->y[0] - mean[0], d1 = t->y[1] - mean[1], d2 = t->y[2] - mean[2];
        t->left |= (uint32_t)(d0 * d0 + d1 * d1 + d2 * d2 <= map->reach2) << i;
    }
}

// Loads a point and finds its pairs.
HD void ndt_thread_begin(const NdtTask *task, const NdtFrame *frame, int64_t point, NdtPoint *p, NdtThread *t)
{
    for (int a = 0; a < 3; a++) {
        const NdtNumbers *x = &task->source[a];
        p->x[a] = x->single != NULL ? (double)x->single[point] : x->whole[point];
    }
    for (int a = 0; a < 3; a++) t->y[a] = ndt_row_product(&frame->rotation, a, p->x) + frame->translation[a];
    ndt_thread_match(task->map, t);
    p->pairs = (double)__popc(t->left);
    ndt_point_clear(p);
}

// Adds the point's pairs, one after the other.
HD void ndt_thread_add(const NdtTask *task, NdtThread *t, NdtPoint *p)
{
    for (; t->left != 0; t->left &= t->left - 1) {
        double q[3], mean[3], A[6];
        const int32_t code = ndt_candidate(task->map, t->first + __ffs((int)t->left) - 1, mean);
        for (int a = 0; a < 3; a++) q[a] = t->y[a] - mean[a];
        ndt_inverse_of(task->map, code >> NDT_OFFSET_BITS, A);
        ndt_point_add(task, -1, q, A, p);
    }
}

// ---- rows, chunks and all of them -----------------------------------------------------------------------------------

// Computes the matrices of the frame, one per thread.
HD void ndt_team_frame(const NdtTask *task, NdtShared *shared)
{
    const int k = (int)threadIdx.x;
    if (k >= NDT_MATRICES) return;
    double s[NDT_ANGLES], c[NDT_ANGLES];
    NdtMatrix *matrices = &shared->frame.rotation; // `first` and `second` follow it
    ndt_sines(shared->order + 1, s, c);
    matrices[k] = ndt_frame_matrix(s, c, k);
    if (k < 3) shared->frame.translation[k] = shared->order[1 + k] - task->map->origin[k];
}

// Adds the values of a warp's threads in halves, for each of the sums at[NDT_ROW]; returns the one of the thread's
// column.
HD double ndt_warp_sums(double *at)
{
    const int column = team_column();
    UNROLL
    for (int half = NDT_ROW / 2; half > 0; half /= 2) {
        const bool upper = (column & half) != 0;
        UNROLL
        for (int i = 0; i < half; i++) {
            const double given = upper ? at[i] : at[i + half], kept = upper ? at[i + half] : at[i];
            at[i] = kept + __shfl_xor_sync(0xffffffffU, given, half);
        }
    }
    return at[0];
}

// The row that starts at point `first`, by a warp: returns the sum of the thread's column.
HD double ndt_team_row(const NdtTask *task, const NdtFrame *frame, int64_t first)
{
    const int64_t point = first + team_column();
    NdtRow row;
    UNROLL
    for (int s = 0; s < NDT_ROW; s++) row.at[s][0] = 0.0;
    if (point < task->n_source) {
        NdtPoint p;
        NdtThread t;
        ndt_thread_begin(task, frame, point, &p, &t);
        if (t.left != 0) {
            ndt_thread_add(task, &t, &p);
            ndt_point_end(frame, &p, &row, 0);
        }
    }
    return ndt_warp_sums(&row.at[0][0]);
}

// Adds the rows of chunk `chunk` in halves; one sum per thread.
HD double ndt_team_chunk(const NdtShared *shared, int chunk)
{
    double row[NDT_CHUNK_ROWS];
    UNROLL
    for (int r = 0; r < NDT_CHUNK_ROWS; r++) row[r] = shared->rows[chunk][r][team_column()];
    UNROLL
    for (int half = NDT_CHUNK_ROWS / 2; half > 0; half /= 2) {
        UNROLL
        for (int r = 0; r < half; r++) row[r] += row[r + half];
    }
    return row[0];
}

// Takes the next row.
HD int ndt_team_take(NdtShared *shared)
{
    int row = 0;
    if (team_column() == 0) row = atomicAdd(&shared->next, 1);
    return __shfl_sync(0xffffffffU, row, 0);
}

// This thread block's chunks, several at a time: each warp takes the next row when it is free; then chunks are added.
HD void ndt_team_chunks(const NdtTask *task, NdtShared *shared)
{
    const LaneGroup *group = task->group;
    const int64_t thread_blocks = group->team.thread_blocks, chunks = (task->n_source + NDT_CHUNK - 1) / NDT_CHUNK;
    for (int64_t first = team_rank(group); first < chunks; first += thread_blocks * NDT_TEAM_CHUNKS) {
        const int64_t left = (chunks - first + thread_blocks - 1) / thread_blocks;
        const int some = left < NDT_TEAM_CHUNKS ? (int)left : NDT_TEAM_CHUNKS;
        for (int row = ndt_team_take(shared); row < some * NDT_CHUNK_ROWS; row = ndt_team_take(shared)) {
            const int i = row / NDT_CHUNK_ROWS, r = row % NDT_CHUNK_ROWS;
            const int64_t point = (first + i * thread_blocks) * NDT_CHUNK + r * NDT_ROW;
            shared->rows[i][r][team_column()] = ndt_team_row(task, &shared->frame, point);
        }
        thread_block_barrier();
        for (int i = team_warp(); i < some; i += NDT_CHUNK_ROWS) {
            const int64_t chunk = first + i * thread_blocks;
            const double sum = ndt_team_chunk(shared, i);
            if (thread_blocks == 1)
                shared->of_chunks[chunk % NDT_CHUNK_SUMS][team_column()] += sum;
            else
                team_memory(group)[1 + NDT_POSE + chunk * NDT_ROW + team_column()] = sum;
        }
        if (threadIdx.x == 0) shared->next = 0;
        thread_block_barrier();
    }
}

// The work of all thread blocks for one order. False: the order was to end. Map and task are copied, so that they stay
// in registers across writes to memory.
HD_CALL bool ndt_team_share(const NdtTask *given)
{
    const LaneGroup *group = given->group;
    const NdtMap map = *given->map;
    NdtTask own = *given;
    const NdtTask *task = &own;
    own.map = &map;
    NdtShared *shared = &ndt_shared();
    team_barrier(group);
    if (group->team.thread_blocks > 1 && threadIdx.x < 1 + NDT_POSE)
        shared->order[threadIdx.x] = __ldcg(team_memory(group) + threadIdx.x);
    if (threadIdx.x == 0) shared->next = 0;
    for (int i = (int)threadIdx.x; i < NDT_CHUNK_SUMS * NDT_ROW; i += NDT_CHUNK) (&shared->of_chunks[0][0])[i] = 0.0;
    thread_block_barrier();
    if (shared->order[0] == 0.0) return false;
    ndt_team_frame(task, shared);
    thread_block_barrier();
    ndt_team_chunks(task, shared);
    team_barrier(group);
    return true;
}

// Sum k % 32 over the chunks, when several thread blocks have shared them.
HD void ndt_team_gather(const NdtTask *task, NdtShared *shared)
{
    const int64_t chunks = (task->n_source + NDT_CHUNK - 1) / NDT_CHUNK;
    const double *of_chunk = team_memory(task->group) + 1 + NDT_POSE;
    for (int k = team_warp(); k < NDT_CHUNK_SUMS; k += NDT_CHUNK_ROWS) {
        double sum = 0.0;
        for (int64_t chunk = k; chunk < chunks; chunk += NDT_CHUNK_SUMS)
            sum += __ldcg(of_chunk + chunk * NDT_ROW + team_column());
        shared->of_chunks[k][team_column()] = sum;
    }
}

// In the leading thread block, after its share.
HD void ndt_team_finish(const NdtTask *task)
{
    NdtShared *shared = &ndt_shared();
    if (team_rank(task->group) != 0) return;
    if (task->group->team.thread_blocks > 1) {
        ndt_team_gather(task, shared);
        thread_block_barrier();
    }
    if (team_warp() == 0) {
        double values[NDT_CHUNK_SUMS];
        UNROLL
        for (int k = 0; k < NDT_CHUNK_SUMS; k++) values[k] = shared->of_chunks[k][team_column()];
        UNROLL
        for (int half = NDT_CHUNK_SUMS / 2; half > 0; half /= 2) {
            UNROLL
            for (int k = 0; k < half; k++) values[k] += values[k + half];
        }
        shared->sums[team_column()] = values[0];
    }
    __syncwarp();
}

HD_CALL void ndt_team_order(const NdtTask *task, double what, const double *pose)
{
    double *order = task->group->team.thread_blocks > 1 ? team_memory(task->group) : ndt_shared().order;
    const int k = (int)threadIdx.x;
    if (k == 0) order[0] = what;
    for (int i = 0; i < NDT_POSE; i++) {
        if (k == 0) order[1 + i] = pose[i];
    }
}

// In the leading warp.
HD_CALL void ndt_evaluate(const NdtTask *task, const double *pose, NdtSums *sums)
{
    ndt_team_order(task, 1.0, pose);
    ndt_team_share(task);
    ndt_team_finish(task);
    for (int s = 0; s < NDT_SUMS; s++) sums->at[s] = ndt_shared().sums[s];
    __syncwarp();
}

// In the leading warp, after the last evaluation.
HD void ndt_rest(const NdtTask *task)
{
    const double nowhere[NDT_POSE] = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
    ndt_team_order(task, 0.0, nowhere);
    ndt_team_share(task);
}

// In all other warps.
HD void ndt_help(const NdtTask *task)
{
    while (ndt_team_share(task)) ndt_team_finish(task);
}
#endif

#endif
