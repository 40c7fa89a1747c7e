// The step of an iteration, from gradient and Hessian of the score, which is maximised. Newton's step is -H^-1 g; if
// the score is not concave it leads down, and is reversed. The saddle-free step is +|H|^-1 g, |H| with the absolute
// eigenvalues of H: Y. Dauphin et al., Identifying and attacking the saddle point problem, NIPS 2014. If H is negative
// definite, |H| is -H and both steps are equal. Newton's step is computed by elimination if H is far from singular; the
// saddle-free one if H is also negative definite. Otherwise both use the eigenvalues of H by Jacobi's cyclic method;
// those below 1e-10 of the greatest count as 0: G. H. Golub & C. F. Van Loan, Matrix Computations, 4th ed., 3.4, 4.2
// and 8.5.
#ifndef HOPSCOTCH_NDT_SOLVE_H
#define HOPSCOTCH_NDT_SOLVE_H

#include "regularise.h"

enum { NDT_SWEEPS_MAX = 30 }; // five or six are usual
#define NDT_CUT_OFF 1e-10

// a and, in columns, its eigenvectors so far
typedef struct NdtEigen {
    double a[NDT_POSE][NDT_POSE], v[NDT_POSE][NDT_POSE];
} NdtEigen;

typedef struct NdtDelta {
    double at[NDT_POSE];
    bool reversed; // the solution led down
} NdtDelta;

HD double ndt_root(double x) { return lane_of(square_root(splat(x)), 0); }
HD double ndt_size(double x) { return x < 0.0 ? -x : x; }

HD double ndt_dot6(const double *a, const double *b)
{
    double sum = 0.0;
    for (int i = 0; i < NDT_POSE; i++) sum += a[i] * b[i];
    return sum;
}

HD double ndt_norm6(const double *a) { return ndt_root(ndt_dot6(a, a)); }

// Rotates columns p and q, or rows, by the angle with sine s and cosine c.
HD void ndt_turn_pair(double *p, double *q, double s, double c)
{
    const double kept = *p;
    *p = c * kept - s * *q;
    *q = s * kept + c * *q;
}

// Sets a[p][q] to zero.
HD void ndt_rotate(NdtEigen *e, int p, int q)
{
    if (e->a[p][q] == 0.0) return;
    const double tau = (e->a[q][q] - e->a[p][p]) / (2.0 * e->a[p][q]), root = ndt_root(1.0 + tau * tau);
    const double t = tau >= 0.0 ? 1.0 / (tau + root) : 1.0 / (tau - root);
    const double c = 1.0 / ndt_root(1.0 + t * t), s = t * c;
    for (int k = 0; k < NDT_POSE; k++) ndt_turn_pair(&e->a[k][p], &e->a[k][q], s, c);
    for (int k = 0; k < NDT_POSE; k++) ndt_turn_pair(&e->a[p][k], &e->a[q][k], s, c);
    for (int k = 0; k < NDT_POSE; k++) ndt_turn_pair(&e->v[k][p], &e->v[k][q], s, c);
}

// Sweeps until the elements beside the diagonal are below rounding.
HD void ndt_diagonalise(NdtEigen *e)
{
    for (int sweep = 0; sweep < NDT_SWEEPS_MAX; sweep++) {
        double beside = 0.0, diagonal = 0.0;
        for (int p = 0; p < NDT_POSE; p++) {
            diagonal += e->a[p][p] * e->a[p][p];
            for (int q = p + 1; q < NDT_POSE; q++) beside += e->a[p][q] * e->a[p][q];
        }
        if (!(beside > 1e-34 * diagonal)) return;
        for (int p = 0; p < NDT_POSE; p++) {
            for (int q = p + 1; q < NDT_POSE; q++) ndt_rotate(e, p, q);
        }
    }
}

HD void ndt_eigen(const double *triangle, NdtEigen *e)
{
    memset(e->v, 0, sizeof e->v);
    for (int i = 0; i < NDT_POSE; i++) {
        e->v[i][i] = 1.0;
        for (int j = i; j < NDT_POSE; j++) e->a[i][j] = e->a[j][i] = triangle[ndt_triangle(i, j)];
    }
    ndt_diagonalise(e);
}

// ---- by elimination -------------------------------------------------------------------------------------------------

// If the product of the Frobenius norms of H and of its inverse is above this, an eigenvalue of H may be below the
// cut-off.
#define NDT_CONDITION 1e9

HD void ndt_swap_rows(bool swap, double *p, double *q, int n)
{
    UNROLL
    for (int k = 0; k < n; k++) {
        const double kept = p[k];
        p[k] = swap ? q[k] : kept;
        q[k] = swap ? kept : q[k];
    }
}

// The inverse of a[6][6] in the right half of [a | 1], by Gauss-Jordan elimination with partial pivoting. The pivot
// rises by exchanges of two rows, so that every index is known at compile time and all stays in
// registers.
HD void ndt_invert(double a[NDT_POSE][2 * NDT_POSE])
{
    UNROLL
    for (int k = 0; k < NDT_POSE; k++) {
        UNROLL
        for (int i = k + 1; i < NDT_POSE; i++)
            ndt_swap_rows(ndt_size(a[i][k]) > ndt_size(a[k][k]), a[k], a[i], 2 * NDT_POSE);
        const double scale = 1.0 / a[k][k];
        UNROLL
        for (int j = 0; j < 2 * NDT_POSE; j++) a[k][j] *= scale;
        UNROLL
        for (int i = 0; i < NDT_POSE; i++) {
            const double factor = i == k ? 0.0 : a[i][k];
            UNROLL
            for (int j = 0; j < 2 * NDT_POSE; j++) a[i][j] -= factor * a[k][j];
        }
    }
}

// delta = -H^-1 g. False: H is close to singular, or not finite.
HD bool ndt_eliminate(const double *triangle, const double *gradient, double *delta)
{
    double a[NDT_POSE][2 * NDT_POSE], norm = 0.0, of_inverse = 0.0;
    for (int i = 0; i < NDT_POSE; i++) {
        for (int j = 0; j < NDT_POSE; j++) {
            a[i][j] = triangle[i < j ? ndt_triangle(i, j) : ndt_triangle(j, i)];
            a[i][NDT_POSE + j] = i == j ? 1.0 : 0.0;
            norm += a[i][j] * a[i][j];
        }
    }
    ndt_invert(a);
    for (int i = 0; i < NDT_POSE; i++) {
        for (int j = 0; j < NDT_POSE; j++) of_inverse += a[i][NDT_POSE + j] * a[i][NDT_POSE + j];
        delta[i] = -ndt_dot6(a[i] + NDT_POSE, gradient);
    }
    return norm * of_inverse < NDT_CONDITION * NDT_CONDITION;
}

// True if H is negative definite: if the pivots of -H = L D L' are positive.
HD bool ndt_is_concave(const double *triangle)
{
    double a[NDT_POSE][NDT_POSE];
    bool concave = true;
    UNROLL
    for (int i = 0; i < NDT_POSE; i++) {
        UNROLL
        for (int j = i; j < NDT_POSE; j++) a[i][j] = triangle[ndt_triangle(i, j)];
    }
    UNROLL
    for (int k = 0; k < NDT_POSE; k++) {
        concave = concave && a[k][k] < 0.0;
        UNROLL
        for (int i = k + 1; i < NDT_POSE; i++) {
            const double factor = a[k][i] / a[k][k];
            UNROLL
            for (int j = i; j < NDT_POSE; j++) a[i][j] -= factor * a[k][j];
        }
    }
    return concave;
}

// ---- by eigenvalues -------------------------------------------------------------------------------------------------

HD_CALL void ndt_project(const double *triangle, const double *gradient, NdtSolver solver, double *delta)
{
    NdtEigen e;
    double greatest = 0.0;
    ndt_eigen(triangle, &e);
    for (int i = 0; i < NDT_POSE; i++) delta[i] = 0.0;
    for (int k = 0; k < NDT_POSE; k++) {
        const double size = ndt_size(e.a[k][k]);
        greatest = size > greatest ? size : greatest;
    }
    for (int k = 0; k < NDT_POSE; k++) {
        const double value = e.a[k][k], size = ndt_size(value);
        double along = 0.0;
        if (!(size > NDT_CUT_OFF * greatest)) continue;
        for (int i = 0; i < NDT_POSE; i++) along += e.v[i][k] * gradient[i];
        along /= solver == NDT_SADDLE_FREE ? size : -value;
        for (int i = 0; i < NDT_POSE; i++) delta[i] += along * e.v[i][k];
    }
}

HD NdtDelta ndt_solve(const NdtSums *sums, NdtSolver solver)
{
    const double *gradient = sums->at + NDT_GRADIENT, *triangle = sums->at + NDT_HESSIAN;
    NdtDelta delta;
    const bool direct = solver == NDT_NEWTON || ndt_is_concave(triangle);
    if (!direct || !ndt_eliminate(triangle, gradient, delta.at)) ndt_project(triangle, gradient, solver, delta.at);
    delta.reversed = !(ndt_dot6(gradient, delta.at) > 0.0);
    for (int i = 0; i < NDT_POSE && delta.reversed; i++) delta.at[i] = -delta.at[i];
    return delta;
}

#endif
