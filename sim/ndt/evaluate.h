// Score, gradient and Hessian of a pose: sums over all pairs of a point of the source and a cell of the map that lies
// near where the pose puts it. With q = T(x) - mean, c = inverse covariance q, e = exp(-d2 q'c / 2), f = d1 d2 e
// (Magnusson 2009, equations 6.9 to 6.13):
//     score += -d1 e       g_i += f J_i.c       H_ij += f (J_i' A J_j - d2 (J_i.c)(J_j.c) + c.d2T_ij)
// J = [I | dR/droll x | dR/dpitch x | dR/dyaw x] depends on the point alone, so a pair only adds to the point's
//     v = sum of f c (3)         M = sum of f (A - d2 c c') (6)
// from which g = J'v and H = J'MJ + v.d2T follow once a point: a third of the arithmetic.
//
// The order of every sum is part of the result. A point adds its pairs in the order of its place's list; 32 points make
// a row, 8 rows a chunk, both added in halves (i and i + 16, then i and i + 8, ...); chunk k is added to sum k % 32 of
// 32, and these in halves again. So points can be shared among the lanes of a vector or of a warp, rows among warps and
// chunks among blocks, and nothing of it changes a bit.
#ifndef HOPSCOTCH_NDT_EVALUATE_H
#define HOPSCOTCH_NDT_EVALUATE_H

#include "../lanes_view.h"
#include "frame.h"

// The sums of an evaluation.
enum {
    NDT_SCORE,
    NDT_GRADIENT,                   // [6]
    NDT_HESSIAN = NDT_GRADIENT + 6, // [21] upper triangle, row by row
    NDT_PAIRS = NDT_HESSIAN + 21,   // correspondences
    NDT_BEST,                       // each point's greatest part of the score
    NDT_MATCHED,                    // points that have a correspondence
    NDT_SUMS
};

typedef struct NdtSums {
    double at[NDT_SUMS];
} NdtSums;

// d1 < 0 and d2 > 0 of equation 6.8, from the part of outliers and the resolution.
typedef struct NdtMixture {
    double d1, d2;
} NdtMixture;

// A measurement of the position that pulls an alignment (regularise.h); scale 0: none.
typedef struct NdtPull {
    double scale, x, y; // 1/m^2, m, m
} NdtPull;

// What is aligned: a source and a map.
typedef struct NdtTask {
    const NdtMap *map;
    NdtNumbers source[3]; // [n_source] x, y, z (m)
    int64_t n_source;
    NdtMixture mixture;
    NdtPull pull;
    const LaneGroup *group; // a GPU's, whose team evaluates together
} NdtTask;

// c1 = 10 (1 - o), c2 = o / R^3: a Gaussian of height c1 on a floor of c2; d1 exp(-d2 x/2) + d3 takes the values of
// -ln(c1 exp(-x/2) + c2) at x = 0, 1 and infinity.
HD NdtMixture ndt_mixture(double outliers, double resolution)
{
    const double c1 = 10.0 * (1.0 - outliers), c2 = outliers / (resolution * resolution * resolution);
    const double d3 = -lane_of(logarithm(splat(c2)), 0);
    NdtMixture m;
    m.d1 = -lane_of(logarithm(splat(c1 + c2)), 0) - d3;
    const double one = -lane_of(logarithm(splat(c1 * 0.6065306597126334 + c2)), 0) - d3; // exp(-1/2)
    m.d2 = -2.0 * lane_of(logarithm(splat(one / m.d1)), 0);
    return m;
}

// ---- which cells a point is compared with ---------------------------------------------------------------------------

// The coordinate of a point's cell. False: it is out of the map's reach, or not a number.
HD bool ndt_cell_of(double x, double resolution, int64_t *cell)
{
    const double scaled = x / resolution;
    if (!(scaled < (double)NDT_CELL_MAX && scaled > -(double)NDT_CELL_MAX)) return false;
    *cell = (int64_t)scaled;
    if ((double)*cell > scaled) *cell -= 1; // towards minus infinity
    return true;
}

// The list of a place: first << 5 | count; 0: there is none.
HD int64_t ndt_list(const NdtMap *map, int64_t key)
{
    const uint64_t last = (uint64_t)(map->table_size - 1);
    for (uint64_t at = ndt_hash(key) & last;; at = (at + 1) & last) {
        const int64_t found = map->table[NDT_TABLE_NUMBERS * at];
        if (found == key) return map->table[NDT_TABLE_NUMBERS * at + 1];
        if (found < 0) return 0;
    }
}

HD double ndt_number(const NdtNumbers *numbers, int64_t i)
{
    return numbers->single != NULL ? (double)numbers->single[i] : numbers->whole[i];
}

// Number a = 0, 1, 2 of a candidate's mean (m), from the corner of the place that it is a candidate of.
HD double ndt_mean(const NdtMap *map, int32_t candidate, int a)
{
    const double offset = (double)((candidate >> 2 * a & 3) - 1);
    return map->resolution * offset +
           ndt_number(&map->cells, (int64_t)(candidate >> NDT_OFFSET_BITS) * NDT_CELL_NUMBERS + a);
}

// The list of the place of the point y[3], and a bit for each of its candidates that the point is compared with. y (m)
// is relative to the map's origin, and afterwards, if there is a list, to the corner of its cell.
HD uint32_t ndt_match(const NdtMap *map, double *y, const int32_t **candidates)
{
    int64_t cell[3];
    uint32_t matches = 0;
    for (int a = 0; a < 3; a++) {
        if (!ndt_cell_of(y[a], map->resolution, &cell[a])) return 0;
    }
    const int64_t list = ndt_list(map, ndt_key(cell[0], cell[1], cell[2]));
    const int32_t *candidate = *candidates = map->candidates + (list >> 5);
    for (int a = 0; a < 3; a++) y[a] -= map->resolution * (double)cell[a];
    for (int i = 0; i < (int)(list & 31); i++) {
        const double d0 = y[0] - ndt_mean(map, candidate[i], 0), d1 = y[1] - ndt_mean(map, candidate[i], 1);
        const double d2 = y[2] - ndt_mean(map, candidate[i], 2);
        matches |= (uint32_t)(d0 * d0 + d1 * d1 + d2 * d2 <= map->reach2) << i;
    }
    return matches;
}

#if defined(__CUDACC__)
HD int ndt_count_bits(uint32_t bits) { return __popc(bits); }
HD int ndt_lowest_bit(uint32_t bits) { return __ffs((int)bits) - 1; }
#else
HD int ndt_count_bits(uint32_t bits) { return __builtin_popcount(bits); }
HD int ndt_lowest_bit(uint32_t bits) { return __builtin_ctz(bits); }
#endif

// ---- some points, one a lane ----------------------------------------------------------------------------------------

// What the pairs of a point add up to. Symmetric matrices: xx xy xz yy yz zz.
typedef struct NdtPoint {
    real x[3];                        // the point (m), as it is in the source
    real v[3], M[6];                  // see above
    real score, best, pairs;          // of the point
    real y[3];                        // the point, as the pose puts it, from the corner of its cell
    const int32_t *candidates[LANES]; // of each lane's place
    uint32_t matches[LANES];          // those of them that are still to be added, a bit each
} NdtPoint;

// m[3][3] x
HD real ndt_row_product(const NdtMatrix *m, int row, const real *x)
{
    return fused(splat(m->at[row][2]), x[2], fused(splat(m->at[row][1]), x[1], splat(m->at[row][0]) * x[0]));
}

HD real ndt_dot(const real *a, const real *b) { return fused(a[2], b[2], fused(a[1], b[1], a[0] * b[0])); }

// s b for a symmetric s[6]
HD void ndt_symmetric_product(const real *s, const real *b, real *out)
{
    out[0] = fused(s[2], b[2], fused(s[1], b[1], s[0] * b[0]));
    out[1] = fused(s[4], b[2], fused(s[3], b[1], s[1] * b[0]));
    out[2] = fused(s[5], b[2], fused(s[4], b[1], s[2] * b[0]));
}

// Loads the points [first, first + valid) and finds their cells; gives the greatest number of cells.
HD int ndt_point_begin(const NdtTask *task, const NdtFrame *frame, int64_t first, int valid, NdtPoint *p)
{
    int most = 0;
    for (int a = 0; a < 3; a++) {
        p->x[a] = splat(0.0);
        for (int i = 0; i < valid; i++) set_lane(&p->x[a], i, ndt_number(&task->source[a], first + i));
    }
    for (int a = 0; a < 3; a++) p->y[a] = ndt_row_product(&frame->rotation, a, p->x) + splat(frame->translation[a]);
    p->pairs = splat(0.0);
    for (int i = 0; i < LANES; i++) {
        double y[3];
        for (int a = 0; a < 3; a++) y[a] = lane_of(p->y[a], i);
        p->matches[i] = i < valid ? ndt_match(task->map, y, &p->candidates[i]) : 0;
        const int count = ndt_count_bits(p->matches[i]);
        for (int a = 0; a < 3; a++) set_lane(&p->y[a], i, count > 0 ? y[a] : 0.0);
        set_lane(&p->pairs, i, (double)count);
        most = count > most ? count : most;
    }
    for (int a = 0; a < 3; a++) p->v[a] = splat(0.0);
    for (int k = 0; k < 6; k++) p->M[k] = splat(0.0);
    p->score = splat(0.0);
    p->best = splat(0.0);
    return most;
}

// The k-th cell of each lane, cell[NDT_CELL_NUMBERS]; lanes that have none get the first of the map.
HD mask ndt_gather(const NdtMap *map, NdtPoint *p, int k, real *cell)
{
    for (int i = 0; i < LANES; i++) {
        const uint32_t left = p->matches[i];
        const int32_t candidate = left != 0 ? p->candidates[i][ndt_lowest_bit(left)] : 0;
        const int64_t from = (int64_t)(candidate >> NDT_OFFSET_BITS) * NDT_CELL_NUMBERS;
        for (int a = 0; a < 3; a++) set_lane(&cell[a], i, ndt_mean(map, candidate, a));
        for (int j = 3; j < NDT_CELL_NUMBERS; j++) set_lane(&cell[j], i, ndt_number(&map->cells, from + j));
        p->matches[i] = left & (left - 1);
    }
    return MASK(p->pairs > splat((double)k));
}

// The k-th pair of each lane that has one. The others add zeros, which changes no bit of a sum that began as one.
HD void ndt_point_add(const NdtTask *task, NdtPoint *p, int k)
{
    real cell[NDT_CELL_NUMBERS], q[3], c[3];
    const mask some = ndt_gather(task->map, p, k, cell);
    const real *A = cell + 3;
    for (int a = 0; a < 3; a++) q[a] = p->y[a] - cell[a];
    ndt_symmetric_product(A, q, c);
    const real all = exponential((-0.5 * task->mixture.d2) * ndt_dot(q, c));
    const real e = select_real(some, all, splat(0.0));
    const real part = -task->mixture.d1 * e, f = (task->mixture.d1 * task->mixture.d2) * e;
    p->score = p->score + part;
    p->best = greater_of(part, p->best);
    for (int a = 0; a < 3; a++) p->v[a] = fused(f, c[a], p->v[a]);
    for (int a = 0, n = 0; a < 3; a++) {
        const real stretched = task->mixture.d2 * c[a];
        for (int b = a; b < 3; b++, n++) p->M[n] = fused(f, fused(-stretched, c[b], A[n]), p->M[n]);
    }
}

// ---- from points to sums --------------------------------------------------------------------------------------------

// What each of NDT_ROW neighbouring points adds; on a GPU each has a thread of its own.
#if defined(__CUDACC__)
typedef struct NdtRow {
    double at[NDT_ROW]; // NDT_SUMS, and zeros
} NdtRow;

HD void ndt_row_set(NdtRow *row, int sum, int column, real value)
{
    (void)column;
    row->at[sum] = value;
}
#else
typedef struct NdtRow {
    double at[NDT_SUMS][NDT_ROW];
} NdtRow;

HD void ndt_row_set(NdtRow *row, int sum, int column, real value)
{
    memcpy(&row->at[sum][column], &value, sizeof value);
}
#endif

// Where H_ij stands, i <= j, in the upper triangle of a symmetric [6][6], row by row.
HD int ndt_triangle(int i, int j) { return i * NDT_POSE - i * (i - 1) / 2 + j - i; }

// The parts of the gradient and of the Hessian that know an angle.
HD void ndt_point_angles(const NdtFrame *frame, const NdtPoint *p, NdtRow *row, int column)
{
    real J[NDT_ANGLES][3], MJ[NDT_ANGLES][3];
    for (int k = 0; k < NDT_ANGLES; k++) {
        for (int a = 0; a < 3; a++) J[k][a] = ndt_row_product(&frame->first[k], a, p->x);
        ndt_symmetric_product(p->M, J[k], MJ[k]);
        ndt_row_set(row, NDT_GRADIENT + 3 + k, column, ndt_dot(p->v, J[k]));
        for (int a = 0; a < 3; a++) ndt_row_set(row, NDT_HESSIAN + ndt_triangle(a, 3 + k), column, MJ[k][a]);
    }
    for (int i = 0, n = 0; i < NDT_ANGLES; i++) {
        for (int j = i; j < NDT_ANGLES; j++, n++) {
            real bend[3];
            for (int a = 0; a < 3; a++) bend[a] = ndt_row_product(&frame->second[n], a, p->x);
            ndt_row_set(row, NDT_HESSIAN + ndt_triangle(3 + i, 3 + j), column,
                        ndt_dot(J[i], MJ[j]) + ndt_dot(p->v, bend));
        }
    }
}

HD void ndt_point_end(const NdtFrame *frame, const NdtPoint *p, NdtRow *row, int column)
{
    ndt_row_set(row, NDT_SCORE, column, p->score);
    for (int a = 0, n = 0; a < 3; a++) {
        ndt_row_set(row, NDT_GRADIENT + a, column, p->v[a]);
        for (int b = a; b < 3; b++, n++) ndt_row_set(row, NDT_HESSIAN + ndt_triangle(a, b), column, p->M[n]);
    }
    ndt_row_set(row, NDT_PAIRS, column, p->pairs);
    ndt_row_set(row, NDT_BEST, column, p->best);
    ndt_row_set(row, NDT_MATCHED, column, select_real(MASK(p->pairs > splat(0.0)), splat(1.0), splat(0.0)));
    ndt_point_angles(frame, p, row, column);
}

#if defined(__CUDACC__)
#include "evaluate_team.h"
#else
// Adds values[width], width a power of two, in halves.
HD double ndt_halved(double *values, int width)
{
    for (int half = width / 2; half > 0; half /= 2) {
        for (int i = 0; i < half; i++) values[i] += values[i + half];
    }
    return values[0];
}

// The row that starts at point `first`.
HD void ndt_add_row(const NdtTask *task, const NdtFrame *frame, int64_t first, NdtSums *sums)
{
    NdtRow row;
    NdtPoint p;
    for (int column = 0; column < NDT_ROW; column += LANES) {
        const int64_t left = task->n_source - first - column;
        const int valid = left < 1 ? 0 : left < LANES ? (int)left : LANES;
        const int most = valid > 0 ? ndt_point_begin(task, frame, first + column, valid, &p) : 0;
        if (most == 0) { // nothing near: zeros
            for (int s = 0; s < NDT_SUMS; s++) ndt_row_set(&row, s, column, splat(0.0));
            continue;
        }
        for (int k = 0; k < most; k++) ndt_point_add(task, &p, k);
        ndt_point_end(frame, &p, &row, column);
    }
    for (int s = 0; s < NDT_SUMS; s++) sums->at[s] = ndt_halved(row.at[s], NDT_ROW);
}

// The chunk that starts at point `first`; rows that begin beyond the end are zeros.
HD void ndt_add_chunk(const NdtTask *task, const NdtFrame *frame, int64_t first, NdtSums *sums)
{
    NdtSums row[NDT_CHUNK_ROWS];
    for (int r = 0; r < NDT_CHUNK_ROWS; r++) {
        const int64_t at = first + (int64_t)r * NDT_ROW;
        memset(&row[r], 0, sizeof row[r]);
        if (at < task->n_source) ndt_add_row(task, frame, at, &row[r]);
    }
    for (int half = NDT_CHUNK_ROWS / 2; half > 0; half /= 2) {
        for (int r = 0; r < half; r++) {
            for (int s = 0; s < NDT_SUMS; s++) row[r].at[s] += row[r + half].at[s];
        }
    }
    *sums = row[0];
}

HD void ndt_evaluate(const NdtTask *task, const double *pose, NdtSums *sums)
{
    const NdtFrame frame = ndt_frame(pose, task->map->origin);
    NdtRow of_chunks;
    memset(&of_chunks, 0, sizeof of_chunks);
    for (int64_t first = 0, k = 0; first < task->n_source; first += NDT_CHUNK, k++) {
        NdtSums chunk;
        ndt_add_chunk(task, &frame, first, &chunk);
        for (int s = 0; s < NDT_SUMS; s++) of_chunks.at[s][k % NDT_CHUNK_SUMS] += chunk.at[s];
    }
    for (int s = 0; s < NDT_SUMS; s++) sums->at[s] = ndt_halved(of_chunks.at[s], NDT_CHUNK_SUMS);
}
#endif

#endif
