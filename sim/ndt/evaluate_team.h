// An evaluation by a team of threads (sim/team.h), the same bits as evaluate.h's by one: a thread takes a point of a
// row, a warp a row of a chunk, a block every so-manieth chunk. The leading warp says which pose; the others wait for
// it in ndt_help.
#ifndef HOPSCOTCH_NDT_EVALUATE_TEAM_H
#define HOPSCOTCH_NDT_EVALUATE_TEAM_H

#include "../team.h"

#if defined(__CUDACC__)

enum { NDT_TEAM_CHUNKS = 12, NDT_MATRICES = 1 + NDT_ANGLES + NDT_ANGLE_PAIRS };

// What the threads of a block share. Sums stand in the columns of a row: NDT_ROW is enough for all NDT_SUMS.
typedef struct NdtBlock {
    double order[1 + NDT_POSE]; // 1: there is a pose to evaluate; 0: the alignment rests
    NdtFrame frame;
    double rows[NDT_TEAM_CHUNKS][NDT_CHUNK_ROWS][NDT_ROW]; // of some chunks
    double of_chunks[NDT_CHUNK_SUMS][NDT_ROW];
    double sums[NDT_ROW];
    int next; // row of these chunks that no warp has taken yet
} NdtBlock;

HD NdtBlock &ndt_block(void)
{
    __shared__ NdtBlock block;
    return block;
}

// A matrix of the frame a thread.
HD void ndt_team_frame(const NdtTask *task, NdtBlock *block)
{
    const int k = (int)threadIdx.x;
    if (k >= NDT_MATRICES) return;
    double s[NDT_ANGLES], c[NDT_ANGLES];
    NdtMatrix *matrices = &block->frame.rotation; // and `first` and `second` behind it
    ndt_sines(block->order + 1, s, c);
    matrices[k] = ndt_frame_matrix(s, c, k);
    if (k < 3) block->frame.translation[k] = block->order[1 + k] - task->map->origin[k];
}

// Adds the values of a warp's threads in halves, each of the sums at[NDT_ROW]; gives the one with the thread's column.
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

// The row that starts at point `first`, by a warp: the sum with the thread's column.
HD double ndt_team_row(const NdtTask *task, const NdtFrame *frame, int64_t first)
{
    const int64_t point = first + team_column();
    NdtRow row;
    UNROLL
    for (int s = 0; s < NDT_ROW; s++) row.at[s] = 0.0;
    if (point < task->n_source) {
        NdtPoint p;
        const int count = ndt_point_begin(task, frame, point, 1, &p);
        for (int k = 0; k < count; k++) ndt_point_add(task, &p, k);
        if (count > 0) ndt_point_end(frame, &p, &row, 0);
    }
    return ndt_warp_sums(row.at);
}

// Adds the rows of chunk `chunk` in halves; a thread a sum.
HD double ndt_team_chunk(const NdtBlock *block, int chunk)
{
    double row[NDT_CHUNK_ROWS];
    UNROLL
    for (int r = 0; r < NDT_CHUNK_ROWS; r++) row[r] = block->rows[chunk][r][team_column()];
    UNROLL
    for (int half = NDT_CHUNK_ROWS / 2; half > 0; half /= 2) {
        UNROLL
        for (int r = 0; r < half; r++) row[r] += row[r + half];
    }
    return row[0];
}

// The number of the next row that nobody has taken.
HD int ndt_team_take(NdtBlock *block)
{
    int row = 0;
    if (team_column() == 0) row = atomicAdd(&block->next, 1);
    return __shfl_sync(0xffffffffU, row, 0);
}

// This block's share of the chunks, some at a time: warps take row after row, as they come; then each adds chunks.
HD void ndt_team_chunks(const NdtTask *task, NdtBlock *block)
{
    const LaneGroup *group = task->group;
    const int64_t blocks = group->team.blocks, chunks = (task->n_source + NDT_CHUNK - 1) / NDT_CHUNK;
    for (int64_t first = team_rank(group); first < chunks; first += blocks * NDT_TEAM_CHUNKS) {
        const int64_t left = (chunks - first + blocks - 1) / blocks;
        const int some = left < NDT_TEAM_CHUNKS ? (int)left : NDT_TEAM_CHUNKS;
        for (int row = ndt_team_take(block); row < some * NDT_CHUNK_ROWS; row = ndt_team_take(block)) {
            const int i = row / NDT_CHUNK_ROWS, r = row % NDT_CHUNK_ROWS;
            const int64_t point = (first + i * blocks) * NDT_CHUNK + r * NDT_ROW;
            block->rows[i][r][team_column()] = ndt_team_row(task, &block->frame, point);
        }
        team_block_barrier();
        for (int i = team_warp(); i < some; i += NDT_CHUNK_ROWS) {
            const int64_t chunk = first + i * blocks;
            const double sum = ndt_team_chunk(block, i);
            if (blocks == 1)
                block->of_chunks[chunk % NDT_CHUNK_SUMS][team_column()] += sum;
            else
                team_memory(group)[1 + NDT_POSE + chunk * NDT_ROW + team_column()] = sum;
        }
        if (threadIdx.x == 0) block->next = 0;
        team_block_barrier();
    }
}

// What all blocks do when the order is there. False: it was to rest.
// Map and task are copied, so that they lie in registers whatever is written to memory.
HD_CALL bool ndt_team_share(const NdtTask *given)
{
    const LaneGroup *group = given->group;
    const NdtMap map = *given->map;
    NdtTask own = *given;
    const NdtTask *task = &own;
    own.map = &map;
    NdtBlock *block = &ndt_block();
    team_barrier(group);
    if (group->team.blocks > 1 && threadIdx.x < 1 + NDT_POSE)
        block->order[threadIdx.x] = __ldcg(team_memory(group) + threadIdx.x);
    if (threadIdx.x == 0) block->next = 0;
    for (int i = (int)threadIdx.x; i < NDT_CHUNK_SUMS * NDT_ROW; i += NDT_CHUNK) (&block->of_chunks[0][0])[i] = 0.0;
    team_block_barrier();
    if (block->order[0] == 0.0) return false;
    ndt_team_frame(task, block);
    team_block_barrier();
    ndt_team_chunks(task, block);
    team_barrier(group);
    return true;
}

// Sum k % 32 of chunk k's, when blocks have shared them.
HD void ndt_team_gather(const NdtTask *task, NdtBlock *block)
{
    const int64_t chunks = (task->n_source + NDT_CHUNK - 1) / NDT_CHUNK;
    const double *of_chunk = team_memory(task->group) + 1 + NDT_POSE;
    for (int k = team_warp(); k < NDT_CHUNK_SUMS; k += NDT_CHUNK_ROWS) {
        double sum = 0.0;
        for (int64_t chunk = k; chunk < chunks; chunk += NDT_CHUNK_SUMS)
            sum += __ldcg(of_chunk + chunk * NDT_ROW + team_column());
        block->of_chunks[k][team_column()] = sum;
    }
}

// By the leading block, after its share.
HD void ndt_team_finish(const NdtTask *task)
{
    NdtBlock *block = &ndt_block();
    if (team_rank(task->group) != 0) return;
    if (task->group->team.blocks > 1) {
        ndt_team_gather(task, block);
        team_block_barrier();
    }
    if (team_warp() == 0) {
        double values[NDT_CHUNK_SUMS];
        UNROLL
        for (int k = 0; k < NDT_CHUNK_SUMS; k++) values[k] = block->of_chunks[k][team_column()];
        UNROLL
        for (int half = NDT_CHUNK_SUMS / 2; half > 0; half /= 2) {
            UNROLL
            for (int k = 0; k < half; k++) values[k] += values[k + half];
        }
        block->sums[team_column()] = values[0];
    }
    __syncwarp();
}

HD_CALL void ndt_team_order(const NdtTask *task, double what, const double *pose)
{
    double *order = task->group->team.blocks > 1 ? team_memory(task->group) : ndt_block().order;
    const int k = (int)threadIdx.x;
    if (k == 0) order[0] = what;
    for (int i = 0; i < NDT_POSE; i++) {
        if (k == 0) order[1 + i] = pose[i];
    }
}

// By the leading warp.
HD_CALL void ndt_evaluate(const NdtTask *task, const double *pose, NdtSums *sums)
{
    ndt_team_order(task, 1.0, pose);
    ndt_team_share(task);
    ndt_team_finish(task);
    for (int s = 0; s < NDT_SUMS; s++) sums->at[s] = ndt_block().sums[s];
    __syncwarp();
}

// By the leading warp, when there is no more to evaluate.
HD void ndt_rest(const NdtTask *task)
{
    const double nowhere[NDT_POSE] = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
    ndt_team_order(task, 0.0, nowhere);
    ndt_team_share(task);
}

// By all others.
HD void ndt_help(const NdtTask *task)
{
    while (ndt_team_share(task)) ndt_team_finish(task);
}
#endif

#endif
