// Small symmetric systems, packed by rows: element (i, j <= i) of a matrix at i (i + 1)/2 + j; their factors L D L',
// and the mass matrix of a body.
// Source: G. H. Golub & C. F. Van Loan, Matrix Computations, 4th ed., 4.1.
#ifndef HOPSCOTCH_SPATIAL_PACKED_H
#define HOPSCOTCH_SPATIAL_PACKED_H

#include "vector.h"

enum { PACKED_ROWS = 6, PACKED_CELLS = 21 }; // of the greatest system: of a body, or of a joint's rows

HD int packed(int i, int j) { return i * (i + 1) / 2 + j; }

// 1/d of a pivot d. 0 for a row whose pivot is below `least` of its diagonal: it follows from the rows before it and is
// left out.
HD real pivot_inverse(real d, real least, real diagonal)
{
    const mask none = MASK(value_of(d) <= value_of(least * diagonal));
    return select_real(none, splat(0.0), 1.0 / select_real(none, splat(1.0), d));
}

// A = L D L' in place; the diagonal holds 1/D.
HD_CALL void packed_factor(real *a, int n, real least)
{
    real y[PACKED_ROWS]; // row i of L D
    for (int i = 0; i < n; i++) {
        const real diagonal = a[packed(i, i)];
        real d = diagonal;
        for (int j = 0; j < i; j++) {
            y[j] = a[packed(i, j)];
            for (int m = 0; m < j; m++) y[j] = fused(-y[m], a[packed(j, m)], y[j]);
            a[packed(i, j)] = y[j] * a[packed(j, j)];
            d = fused(-a[packed(i, j)], y[j], d);
        }
        a[packed(i, i)] = pivot_inverse(d, least, diagonal);
    }
}

// x <- (L D L')^-1 x of n <= most rows. Where `most` is a literal, a GPU keeps x in registers.
HD void packed_back_of(const real *a, int n, int most, real *x)
{
    for (int i = 1; i < most; i++) {
        for (int j = 0; j < i; j++) x[i] = i < n ? fused(-a[packed(i, j)], x[j], x[i]) : x[i];
    }
    for (int i = 0; i < most; i++) x[i] = i < n ? x[i] * a[packed(i, i)] : x[i];
    for (int i = most - 2; i >= 0; i--) {
        for (int j = i + 1; j < most; j++) x[i] = j < n ? fused(-a[packed(j, i)], x[j], x[i]) : x[i];
    }
}

HD_CALL void packed_back(const real *a, int n, real *x) { packed_back_of(a, n, n, x); }

HD real dot6(const real *a, const real *b)
{
    real sum = a[0] * b[0];
    for (int k = 1; k < 6; k++) sum = fused(a[k], b[k], sum);
    return sum;
}

// diag(m 1, I), packed
HD void packed_mass(real m, Symmetric3 I, real *matrix)
{
    for (int k = 0; k < 21; k++) matrix[k] = splat(0.0);
    matrix[packed(0, 0)] = matrix[packed(1, 1)] = matrix[packed(2, 2)] = m;
    matrix[packed(3, 3)] = I.xx;
    matrix[packed(4, 4)] = I.yy;
    matrix[packed(5, 5)] = I.zz;
    matrix[packed(4, 3)] = I.xy;
    matrix[packed(5, 3)] = I.xz;
    matrix[packed(5, 4)] = I.yz;
}

#endif
