// Score, gradient and Hessian of a pose: sums over all pairs of a point of the source and a cell of the map near the
// transformed point. With q = T(x) - mean, c = inverse covariance q, e = exp(-d2 q'c / 2), f = d1 d2 e (Magnusson 2009,
// equations 6.9 to 6.13):
//     score += -d1 e       g_i += f J_i.c       H_ij += f (J_i' A J_j - d2 (J_i.c)(J_j.c) + c.d2T_ij)
// J = [I | dR/droll x | dR/dpitch x | dR/dyaw x] depends on the point alone, so a pair only adds to the point's
//     v = sum of f c (3)         M = sum of f (A - d2 c c') (6)
// from which g = J'v and H = J'MJ + v.d2T follow once per point: a third of the arithmetic.
//
// The result depends on the order of every sum. A point adds its pairs in the order of its voxel's list. 32 points make
// a row, 8 rows a chunk; both are added in halves (i and i + 16, then i and i + 8, ...). Chunk k is added to sum k % 32
// of 32, and these are added in halves again. So points can be shared among the lanes of a vector or of a warp, rows
// among warps and chunks among thread blocks, without changing a bit.
#ifndef HOPSCOTCH_NDT_EVALUATE_H
#define HOPSCOTCH_NDT_EVALUATE_H

#include "../lanes_view.h"
#include "../team.h"
#include "frame.h"

#include <assert.h>

// The sums of an evaluation.
enum {
    NDT_SCORE,
    NDT_GRADIENT,                   // [6]
    NDT_HESSIAN = NDT_GRADIENT + 6, // [21] upper triangle, row by row
    NDT_PAIRS = NDT_HESSIAN + 21,   // correspondences
    NDT_BEST,                       // each point's greatest term of the score
    NDT_MATCHED,                    // points that have a correspondence
    NDT_SUMS
};

typedef struct NdtSums {
    double at[NDT_SUMS];
} NdtSums;

// d1 < 0 and d2 > 0 of equation 6.8, from the ratio of outliers and the resolution.
typedef struct NdtMixture {
    double d1, d2;
} NdtMixture;

// A measurement of the position that attracts an alignment (regularise.h); scale 0: none.
typedef struct NdtPull {
    double scale, x, y; // 1/m^2, m, m
} NdtPull;

// The input of an alignment: a source and a map.
typedef struct NdtTask {
    const NdtMap *map;
    NdtNumbers source[3]; // [n_source] x, y, z (m)
    int64_t n_source;
    NdtMixture mixture;
    NdtPull pull;
    const LaneGroup *group; // of a GPU, whose team evaluates together
    struct NdtCrew *crew;   // threads of a CPU that evaluate together; NULL: one thread
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

static_assert(NDT_TABLE_NUMBERS == 2, "an entry is loaded as two integers");

// The list of a voxel: first << 5 | count; 0: none.
HD int64_t ndt_list(const NdtMap *map, int64_t key)
{
    const uint64_t last = (uint64_t)(map->table_size - 1);
    for (uint64_t at = ndt_hash(key) & last;; at = (at + 1) & last) {
        const TwoIntegers entry = load_two_integers(map->table, at);
        if (entry.first == key) return entry.second;
        if (entry.first < 0) return 0;
    }
}

// ---- some points, one a lane ----------------------------------------------------------------------------------------

// Sums over the pairs of a point. Symmetric matrices: xx xy xz yy yz zz.
typedef struct NdtPoint {
    real x[3];               // the point (m) in the source
    real v[3], M[6];         // see above
    real score, best, pairs; // of the point
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

HD void ndt_point_clear(NdtPoint *p)
{
    for (int a = 0; a < 3; a++) p->v[a] = splat(0.0);
    for (int k = 0; k < 6; k++) p->M[k] = splat(0.0);
    p->score = splat(0.0);
    p->best = splat(0.0);
}

// e^x for x <= 0, or hardly more. The bits of exponential(x), without two steps of it; a result below the normal
// numbers is 0.
HD real ndt_decay(real x)
{
    const mask none = MASK(x < splat(-708.0));
    real k, r, c;
    math_reduced_exponential(select_real(none, splat(-708.0), x), &k, &r, &c);
    return select_real(none, splat(0.0), (1.0 + (r + c)) * math_power_of_two(k));
}

// Adds a pair in each lane of `some`: q from the cell's mean (m), A its inverse covariance. The other lanes add zeros,
// which changes no bit of a sum that began as one.
HD void ndt_point_add(const NdtTask *task, mask some, const real *q, const real *A, NdtPoint *p)
{
    real c[3];
    ndt_symmetric_product(A, q, c);
    const real all = ndt_decay((-0.5 * task->mixture.d2) * ndt_dot(q, c));
    const real e = select_real(some, all, splat(0.0));
    const real term = -task->mixture.d1 * e, f = (task->mixture.d1 * task->mixture.d2) * e;
    p->score = p->score + term;
    p->best = greater_of(term, p->best);
    for (int a = 0; a < 3; a++) p->v[a] = fused(f, c[a], p->v[a]);
    for (int a = 0, n = 0; a < 3; a++) {
        const real stretched = task->mixture.d2 * c[a];
        for (int b = a; b < 3; b++, n++) p->M[n] = fused(f, fused(-stretched, c[b], A[n]), p->M[n]);
    }
}

// ---- from points to sums --------------------------------------------------------------------------------------------

// The sums of each of NDT_ROW neighbouring points: at[NDT_SUMS, and zeros][points of this thread].
typedef struct NdtRow {
    double at[NDT_ROW][TEAM_OWN(NDT_ROW)];
} NdtRow;

HD void ndt_row_set(NdtRow *row, int sum, int column, real value)
{
    memcpy(&row->at[sum][column], &value, sizeof value);
}

// Index of H_ij, i <= j, in the upper triangle of a symmetric [6][6], row by row.
HD int ndt_triangle(int i, int j) { return i * NDT_POSE - i * (i - 1) / 2 + j - i; }

// The components of the gradient and of the Hessian with angles.
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

#if defined(HOPSCOTCH_TEAMS)
#include "evaluate_team.h"
#else
#include "evaluate_lanes.h"
#endif

#endif
