// An evaluation by the lanes of a vector, with the bits of evaluate_team.h. LANES neighbouring points are transformed
// together. Then each point goes through the candidates of its voxel and notes its pairs. Then the k-th pairs of all
// points are added together.
#ifndef HOPSCOTCH_NDT_EVALUATE_LANES_H
#define HOPSCOTCH_NDT_EVALUATE_LANES_H

#include "evaluate.h"

enum { NDT_OFFSETS = 1 << NDT_OFFSET_BITS };

// The sums of some points: NDT_SUMS, and zeros.
typedef struct NdtPartial {
    double at[NDT_ROW];
} NdtPartial;

// Offset of a candidate's cell from the voxel (m).
typedef struct NdtShifts {
    Four at[NDT_OFFSETS];
} NdtShifts;

// The pairs of LANES points, point by point. The first entry stands for a missing pair of a point that has fewer.
typedef struct NdtPairs {
    Four q[1 + LANES * NDT_MATCHES_MAX]; // from the cell's mean (m)
    int32_t cell[1 + LANES * NDT_MATCHES_MAX];
    int32_t first[LANES], count[LANES]; // of a lane
} NdtPairs;

HD void ndt_shifts(const NdtMap *map, NdtShifts *shifts)
{
    for (int k = 0; k < NDT_OFFSETS; k++) {
        const Four cells = {(double)((k & 3) - 1), (double)((k >> 2 & 3) - 1), (double)((k >> 4 & 3) - 1), 0.0};
        shifts->at[k] = map->resolution * cells;
    }
}

// ---- voxels ---------------------------------------------------------------------------------------------------------

// The cell of each lane's coordinate, and y from the cell's corner. A lane leaves `near` if the coordinate is outside
// of the map or NaN.
HD real ndt_cells_of(double resolution, real *y, mask *near)
{
    const real scaled = *y / resolution, rounded = math_nearest(scaled);
    *near = *near & MASK(scaled < splat((double)NDT_CELL_MAX)) & MASK(scaled > splat(-(double)NDT_CELL_MAX));
    const real cell = rounded - select_real(MASK(rounded > scaled), splat(1.0), splat(0.0)); // round down
    *y = *y - resolution * cell;
    return cell;
}

// The coordinate's bits in a key: an integer in [-NDT_CELL_MAX, NDT_CELL_MAX).
HD bits64 ndt_key_bits(real cell)
{
    return bits_of(cell + splat(0x1.8p52 + (double)NDT_CELL_MAX)) & splat_bits(2 * (int64_t)NDT_CELL_MAX - 1);
}

// The list of each lane's voxel. y (m) changes from the map's origin to the corner of the voxel.
HD void ndt_lists(const NdtMap *map, int valid, real *y, int64_t *list)
{
    mask near = first_lanes(valid);
    int64_t keys[LANES];
    const bits64 x = ndt_key_bits(ndt_cells_of(map->resolution, &y[0], &near));
    const bits64 with_y = x | ndt_key_bits(ndt_cells_of(map->resolution, &y[1], &near)) << 21;
    const bits64 key = with_y | ndt_key_bits(ndt_cells_of(map->resolution, &y[2], &near)) << 42;
    memcpy(keys, &key, sizeof key);
    for (int i = 0; i < LANES; i++) list[i] = lane_of_mask(near, i) ? ndt_list(map, keys[i]) : 0;
}

// ---- pairs ----------------------------------------------------------------------------------------------------------

// Adds the pairs of a point y[3], from the corner of its voxel, to pairs[n..]; returns their new number. It writes
// every candidate, and overwrites those that are too far away.
HD int32_t ndt_note_pairs(const NdtMap *map, const NdtShifts *shifts, const double *y, int64_t list, int32_t n,
                          NdtPairs *pairs)
{
    const Four point = {y[0], y[1], y[2], 0.0};
    const int64_t first = list >> 5, end = first + (list & 31);
    for (int64_t k = first; k < end; k++) {
        const int32_t code = ndt_code(&map->candidates, k);
        Four mean;
        if (map->candidates.single != NULL)
            load_four_singles(map->candidates.single + NDT_CANDIDATE * k, &mean);
        else
            memcpy(&mean, map->candidates.whole + NDT_CANDIDATE * k, sizeof mean);
        const Four q = point - (shifts->at[code & (NDT_OFFSETS - 1)] + mean), squares = q * q;
        pairs->q[n] = q;
        pairs->cell[n] = code >> NDT_OFFSET_BITS;
        n += squares[0] + squares[1] + squares[2] <= map->reach2;
    }
    return n;
}

// The points [first, first + valid) and their pairs; returns the greatest number of pairs of a point.
HD int32_t ndt_points_begin(const NdtTask *task, const NdtFrame *frame, const NdtShifts *shifts, int64_t first,
                            int valid, NdtPoint *p, NdtPairs *pairs)
{
    int64_t list[LANES];
    double at[3][LANES];
    real y[3];
    int32_t most = 0, n = 1;
    for (int a = 0; a < 3; a++)
        p->x[a] = task->source[a].single != NULL ? load_singles(task->source[a].single + first, valid)
                                                 : load_lanes(task->source[a].whole + first, valid);
    for (int a = 0; a < 3; a++) y[a] = ndt_row_product(&frame->rotation, a, p->x) + splat(frame->translation[a]);
    ndt_lists(task->map, valid, y, list);
    memcpy(at, y, sizeof at);
    memset(&pairs->q[0], 0, sizeof pairs->q[0]);
    pairs->cell[0] = 0;
    for (int i = 0; i < LANES; i++) {
        const double point[3] = {at[0][i], at[1][i], at[2][i]};
        pairs->first[i] = n;
        n = ndt_note_pairs(task->map, shifts, point, list[i], n, pairs);
        pairs->count[i] = n - pairs->first[i];
        most = pairs->count[i] > most ? pairs->count[i] : most;
        set_lane(&p->pairs, i, (double)pairs->count[i]);
    }
    ndt_point_clear(p);
    return most;
}

// The k-th pair of each lane.
HD void ndt_add_pairs(const NdtTask *task, const NdtPairs *pairs, int k, NdtPoint *p)
{
    const NdtNumbers *cells = &task->map->cells;
    const double *q_of[LANES];
    int64_t inverse[LANES];
    real q[3], A[6];
    for (int i = 0; i < LANES; i++) {
        const int32_t pair = k < pairs->count[i] ? pairs->first[i] + k : 0;
        q_of[i] = (const double *)&pairs->q[pair];
        inverse[i] = (int64_t)pairs->cell[pair] * NDT_CELL_STRIDE;
    }
    load_rows_of_four(q_of, q);
    if (cells->single != NULL) {
        const float *A_of[LANES];
        for (int i = 0; i < LANES; i++) A_of[i] = cells->single + inverse[i];
        load_rows_of_eight_singles(A_of, A);
    } else {
        const double *A_of[LANES];
        for (int i = 0; i < LANES; i++) A_of[i] = cells->whole + inverse[i];
        load_rows_of_four(A_of, A);
        for (int i = 0; i < LANES; i++) A_of[i] += 3;
        load_rows_of_four(A_of, A + 3);
    }
    ndt_point_add(task, MASK(p->pairs > splat((double)k)), q, A, p);
}

// ---- sums -----------------------------------------------------------------------------------------------------------

// Adds the columns of a row in halves: groups of LANES first, then the lanes of the last group.
HD void ndt_sum_row(const NdtRow *row, NdtPartial *partial)
{
    for (int s = 0; s < NDT_ROW; s += LANES) {
        real x[LANES];
        for (int j = 0; j < LANES; j++) {
            real group[NDT_ROW / LANES];
            for (int g = 0; g < NDT_ROW / LANES; g++) group[g] = load_all(&row->at[s + j][g * LANES]);
            for (int half = NDT_ROW / LANES / 2; half > 0; half /= 2) {
                for (int g = 0; g < half; g++) group[g] = group[g] + group[g + half];
            }
            x[j] = group[0];
        }
        store_all(&partial->at[s], halved_lanes(x));
    }
}

// The row that starts at point `first`.
HD void ndt_add_row(const NdtTask *task, const NdtFrame *frame, const NdtShifts *shifts, int64_t first,
                    NdtPartial *partial)
{
    NdtRow row;
    NdtPoint p;
    NdtPairs pairs;
    for (int column = 0; column < NDT_ROW; column += LANES) {
        const int64_t left = task->n_source - first - column;
        const int valid = left < 1 ? 0 : left < LANES ? (int)left : LANES;
        const int most = valid > 0 ? ndt_points_begin(task, frame, shifts, first + column, valid, &p, &pairs) : 0;
        if (most == 0) { // no cell is near: zeros
            for (int s = 0; s < NDT_SUMS; s++) ndt_row_set(&row, s, column, splat(0.0));
        } else {
            for (int k = 0; k < most; k++) ndt_add_pairs(task, &pairs, k, &p);
            ndt_point_end(frame, &p, &row, column);
        }
        for (int s = NDT_SUMS; s < NDT_ROW; s++) ndt_row_set(&row, s, column, splat(0.0));
    }
    ndt_sum_row(&row, partial);
}

// The chunk that starts at point `first`; rows beyond the end are zeros.
HD void ndt_add_chunk(const NdtTask *task, const NdtFrame *frame, int64_t first, NdtPartial *partial)
{
    NdtPartial row[NDT_CHUNK_ROWS];
    NdtShifts shifts;
    ndt_shifts(task->map, &shifts);
    for (int r = 0; r < NDT_CHUNK_ROWS; r++) {
        const int64_t at = first + (int64_t)r * NDT_ROW;
        if (at < task->n_source)
            ndt_add_row(task, frame, &shifts, at, &row[r]);
        else
            memset(&row[r], 0, sizeof row[r]);
    }
    for (int half = NDT_CHUNK_ROWS / 2; half > 0; half /= 2) {
        for (int r = 0; r < half; r++) {
            for (int s = 0; s < NDT_ROW; s++) row[r].at[s] += row[r + half].at[s];
        }
    }
    *partial = row[0];
}

// Threads that share an evaluation: `run` sums every chunk (step_graph.h).
typedef struct NdtCrew {
    void (*run)(void *context);
    void *context;
    const NdtTask *task;
    NdtFrame frame;
    NdtPartial *chunk; // [chunks]
} NdtCrew;

HD void ndt_crew_sum(const NdtTask *task, const NdtFrame *frame)
{
    NdtCrew *crew = task->crew;
    crew->task = task;
    crew->frame = *frame;
    crew->run(crew->context);
}

HD_CALL void ndt_evaluate(const NdtTask *task, const double *pose, NdtSums *sums)
{
    const NdtFrame frame = ndt_frame(pose, task->map->origin);
    NdtPartial of_chunks[NDT_CHUNK_SUMS];
    memset(of_chunks, 0, sizeof of_chunks);
    if (task->crew != NULL) ndt_crew_sum(task, &frame);
    for (int64_t first = 0, k = 0; first < task->n_source; first += NDT_CHUNK, k++) {
        NdtPartial chunk;
        if (task->crew != NULL)
            chunk = task->crew->chunk[k];
        else
            ndt_add_chunk(task, &frame, first, &chunk);
        for (int s = 0; s < NDT_ROW; s++) of_chunks[k % NDT_CHUNK_SUMS].at[s] += chunk.at[s];
    }
    for (int half = NDT_CHUNK_SUMS / 2; half > 0; half /= 2) {
        for (int k = 0; k < half; k++) {
            for (int s = 0; s < NDT_ROW; s++) of_chunks[k].at[s] += of_chunks[k + half].at[s];
        }
    }
    memcpy(sums->at, of_chunks[0].at, sizeof sums->at);
}

#endif
