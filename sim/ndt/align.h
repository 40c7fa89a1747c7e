// An alignment: a pose, and the iterations that move it to the greatest score. One call is one iteration, so that a
// slice can end between any two.
#ifndef HOPSCOTCH_NDT_ALIGN_H
#define HOPSCOTCH_NDT_ALIGN_H

#include "line_search.h"

// How an alignment has ended; after NDT_CONVERGED come the failures, in the order of their codes.
typedef enum NdtEnd {
    NDT_CONVERGED,
    NDT_NO_CORRESPONDENCES, // no point is near a cell
    NDT_NOT_CONVERGED,      // the limit of iterations is reached, and the last step was not short
    NDT_STALLED,            // no step increases the score
    NDT_NON_FINITE,
    NDT_RUNNING
} NdtEnd;

typedef struct NdtMethod {
    double step_size, epsilon; // the longest step; a shorter one than epsilon has converged (norm of all six numbers)
    int max_iterations;
    NdtSolver solver;
    NdtLineSearch line_search;
} NdtMethod;

// A displacement turns back if its cosine with the one before is below this.
#define NDT_TURNS_BACK (-0.9)

typedef struct NdtAlignment {
    double pose[NDT_POSE];
    NdtSums sums;    // of the pose, if known
    double known;    // 0 or 1: the state is an array of doubles between slices
    double moved[3]; // m, the last displacement
    double iterations, evaluations;
    double turns, oscillation; // consecutive displacements that turn back: the current run, the longest
} NdtAlignment;
static_assert(sizeof(NdtAlignment) == NDT_STATE * sizeof(double), "an alignment is NDT_STATE doubles");

// One iteration's row of debug numbers.
enum {
    NDT_DEBUG_ITERATION,
    NDT_DEBUG_SCORE,
    NDT_DEBUG_BEFORE,                                  // [6] pose
    NDT_DEBUG_GRADIENT = NDT_DEBUG_BEFORE + NDT_POSE,  // [6]
    NDT_DEBUG_HESSIAN = NDT_DEBUG_GRADIENT + NDT_POSE, // [21] upper triangle, row by row
    NDT_DEBUG_DELTA = NDT_DEBUG_HESSIAN + 21,          // [6] after the reversal, before shortening
    NDT_DEBUG_ALPHA = NDT_DEBUG_DELTA + NDT_POSE,      // pose_after = pose_before + alpha delta
    NDT_DEBUG_PAIRS,
    NDT_DEBUG_REVERSED,
    NDT_DEBUG_AFTER, // [6] pose
    NDT_DEBUG_COLUMNS = NDT_DEBUG_AFTER + NDT_POSE
};

// Held by the leading warp.
typedef struct NdtDebugRow {
    double at[TEAM_OWN(NDT_DEBUG_COLUMNS)];
} NdtDebugRow;

HD void ndt_debug_set(NdtDebugRow *row, int column, double value) { team_set(row->at, column, value); }

HD void ndt_align_begin(NdtAlignment *a, const double *pose)
{
    memset(a, 0, sizeof *a);
    for (int i = 0; i < NDT_POSE; i++) a->pose[i] = pose[i];
}

HD void ndt_align_know(const NdtTask *task, NdtAlignment *a)
{
    if (a->known != 0.0) return;
    ndt_value(task, a->pose, &a->sums);
    a->evaluations += 1.0;
    a->known = 1.0;
}

// x - x is 0 unless x is infinite or NaN, and a sum keeps these.
HD bool ndt_all_finite(const double *x, int n)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++) sum += x[i] - x[i];
    return sum == 0.0;
}

// Counts consecutive displacements that turn back.
HD void ndt_count_turns(NdtAlignment *a, const double *moved)
{
    double along = 0.0, now = 0.0, before = 0.0;
    for (int k = 0; k < 3; k++) {
        along += moved[k] * a->moved[k];
        now += moved[k] * moved[k];
        before += a->moved[k] * a->moved[k];
        a->moved[k] = moved[k];
    }
    a->turns = along < NDT_TURNS_BACK * ndt_root(now * before) ? a->turns + 1.0 : 0.0;
    a->oscillation = a->turns > a->oscillation ? a->turns : a->oscillation;
}

// Fills the row except for the end of the step, before the line search reuses the data.
HD void ndt_debug_before(const NdtAlignment *a, const NdtDelta *delta, NdtDebugRow *row)
{
    ndt_debug_set(row, NDT_DEBUG_ITERATION, a->iterations);
    ndt_debug_set(row, NDT_DEBUG_SCORE, a->sums.at[NDT_SCORE]);
    ndt_debug_set(row, NDT_DEBUG_PAIRS, a->sums.at[NDT_PAIRS]);
    ndt_debug_set(row, NDT_DEBUG_REVERSED, delta->reversed ? 1.0 : 0.0);
    UNROLL
    for (int i = 0; i < NDT_POSE; i++) {
        ndt_debug_set(row, NDT_DEBUG_BEFORE + i, a->pose[i]);
        ndt_debug_set(row, NDT_DEBUG_GRADIENT + i, a->sums.at[NDT_GRADIENT + i]);
        ndt_debug_set(row, NDT_DEBUG_DELTA + i, delta->at[i]);
    }
    UNROLL
    for (int k = 0; k < 21; k++) ndt_debug_set(row, NDT_DEBUG_HESSIAN + k, a->sums.at[NDT_HESSIAN + k]);
}

HD void ndt_debug_after(const NdtAlignment *a, double alpha, NdtDebugRow *row)
{
    ndt_debug_set(row, NDT_DEBUG_ALPHA, alpha);
    UNROLL
    for (int i = 0; i < NDT_POSE; i++) ndt_debug_set(row, NDT_DEBUG_AFTER + i, a->pose[i]);
}

// Moves by alpha delta; returns how the iteration ends.
HD NdtEnd ndt_align_step(const NdtMethod *method, const NdtDelta *delta, double alpha, NdtAlignment *a)
{
    const double length = alpha * ndt_norm6(delta->at);
    double moved[3];
    for (int k = 0; k < 3; k++) moved[k] = alpha * delta->at[k];
    ndt_move(a->pose, delta, alpha, a->pose);
    ndt_count_turns(a, moved);
    a->iterations += 1.0;
    if (!(alpha > 0.0)) return NDT_STALLED;
    if (length < method->epsilon) return NDT_CONVERGED;
    return a->iterations >= (double)method->max_iterations ? NDT_NOT_CONVERGED : NDT_RUNNING;
}

// One iteration. If the alignment has ended, the sums are then those of the final pose. row: for the debug numbers, or
// NULL; *has_row: they were written.
HD NdtEnd ndt_iterate(const NdtTask *task, const NdtMethod *method, NdtAlignment *a, NdtDebugRow *row, bool *has_row)
{
    int evaluations = 0;
    bool known;
    *has_row = false;
    ndt_align_know(task, a);
    if (!ndt_all_finite(a->pose, NDT_POSE) || !ndt_all_finite(a->sums.at, NDT_SUMS)) return NDT_NON_FINITE;
    if (a->sums.at[NDT_PAIRS] == 0.0) return NDT_NO_CORRESPONDENCES;
    const NdtDelta delta = ndt_solve(&a->sums, method->solver);
    if (!ndt_all_finite(delta.at, NDT_POSE)) return NDT_NON_FINITE;
    if (row != NULL) ndt_debug_before(a, &delta, row);
    const double alpha =
        ndt_line_search(method->line_search, task, a->pose, &delta, method->step_size, &a->sums, &known, &evaluations);
    const NdtEnd end = ndt_align_step(method, &delta, alpha, a);
    *has_row = row != NULL;
    if (row != NULL) ndt_debug_after(a, alpha, row);
    a->evaluations += (double)evaluations;
    a->known = known || alpha == 0.0 ? 1.0 : 0.0;
    if (end != NDT_RUNNING) ndt_align_know(task, a);
    return end;
}

// ---- what an alignment is worth -------------------------------------------------------------------------------------

// TP, the transformation probability: score per point. NVTL, the nearest voxel's transformation likelihood: mean of the
// greatest term of the score per matched point.
HD double ndt_transformation_probability(const NdtTask *task, const NdtSums *sums)
{
    return sums->at[NDT_SCORE] / (double)task->n_source;
}

HD double ndt_voxel_likelihood(const NdtSums *sums)
{
    return sums->at[NDT_MATCHED] > 0.0 ? sums->at[NDT_BEST] / sums->at[NDT_MATCHED] : 0.0;
}

// Distance of the source's middle from where it belongs, true_middle. At the origin a small turn would count as a great
// translation if the source is far from it.
HD double ndt_translation_error(const double *pose, const double *middle, const double *true_middle)
{
    double at[3], sum = 0.0;
    ndt_moved(pose, middle, at);
    for (int a = 0; a < 3; a++) sum += (at[a] - true_middle[a]) * (at[a] - true_middle[a]);
    return ndt_root(sum);
}

// The angle of R' R_truth: its sine and cosine, twice each, are the skew part's length and the trace less 1.
HD double ndt_rotation_error(const double *pose, const double *truth)
{
    const NdtMatrix a = ndt_rotation(pose), b = ndt_rotation(truth);
    double m[3][3], trace = 0.0;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++)
            m[i][j] = a.at[0][i] * b.at[0][j] + a.at[1][i] * b.at[1][j] + a.at[2][i] * b.at[2][j];
        trace += m[i][i];
    }
    const double x = m[2][1] - m[1][2], y = m[0][2] - m[2][0], z = m[1][0] - m[0][1];
    return lane_of(arc_tangent2(splat(ndt_root(x * x + y * y + z * z)), splat(trace - 1.0)), 0);
}

#endif
