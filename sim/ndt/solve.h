// The step of an iteration, from gradient and Hessian of the score, which is to grow. Newton's is -H^-1 g; where the
// score is not concave it leads down, and is turned round. The saddle-free one is +|H|^-1 g, |H| with the absolute
// eigenvalues of H: Y. Dauphin et al., Identifying and attacking the saddle point problem, NIPS 2014.
// Both by the eigenvalues of H, of which those below 1e-10 of the greatest count as none, which Jacobi's cyclic method
// finds: G. H. Golub & C. F. Van Loan, Matrix Computations, 4th ed., 8.5.
#ifndef HOPSCOTCH_NDT_SOLVE_H
#define HOPSCOTCH_NDT_SOLVE_H

#include "regularise.h"

typedef enum NdtSolver { NDT_NEWTON, NDT_SADDLE_FREE } NdtSolver;

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

// Columns p and q, or rows, turned by the angle of sine s and cosine c.
HD void ndt_turn_pair(double *p, double *q, double s, double c)
{
    const double kept = *p;
    *p = c * kept - s * *q;
    *q = s * kept + c * *q;
}

// Makes a[p][q] zero.
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

// Sweeps until what stands beside the diagonal is lost in rounding.
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

HD NdtDelta ndt_solve(const NdtSums *sums, NdtSolver solver)
{
    const double *gradient = sums->at + NDT_GRADIENT;
    NdtEigen e;
    NdtDelta delta;
    double greatest = 0.0;
    ndt_eigen(sums->at + NDT_HESSIAN, &e);
    memset(&delta, 0, sizeof delta);
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
        for (int i = 0; i < NDT_POSE; i++) delta.at[i] += along * e.v[i][k];
    }
    delta.reversed = !(ndt_dot6(gradient, delta.at) > 0.0);
    for (int i = 0; i < NDT_POSE && delta.reversed; i++) delta.at[i] = -delta.at[i];
    return delta;
}

#endif
