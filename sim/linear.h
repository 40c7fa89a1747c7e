// Dense linear algebra for small systems: Gaussian elimination with partial pivoting, n = 5.
// Source: G. H. Golub & C. F. Van Loan, Matrix Computations, 4th ed., 3.4.
#ifndef HOPSCOTCH_LINEAR_H
#define HOPSCOTCH_LINEAR_H

#include "real.h"

typedef struct Vector5 {
    real at[5];
} Vector5;

typedef struct Matrix5 {
    real at[5][5]; // [row][column]
} Matrix5;

// P A = L U. Lanes take different pivots, so every row exchange is conditional: in column k each row below k that holds
// a greater element is swapped with row k. At the end row k holds the greatest, as after a search.
typedef struct Factors5 {
    Matrix5 lu;         // U on and above the diagonal; below it L, without its diagonal of ones
    mask swapped[5][5]; // [k][i]: rows k and i > k were swapped, in the order of k, then i
    mask near_singular; // the least pivot is below 1e-12 of the greatest, or NaN: solutions are meaningless
} Factors5;

HD void linear_swap(mask m, real *a, real *b)
{
    const real old = *a;
    *a = select_real(m, *b, old);
    *b = select_real(m, old, *b);
}

HD void linear_pivot(Factors5 *f, int k)
{
    for (int i = k + 1; i < 5; i++) {
        f->swapped[k][i] = MASK(value_of(absolute(f->lu.at[i][k])) > value_of(absolute(f->lu.at[k][k])));
        for (int j = 0; j < 5; j++) linear_swap(f->swapped[k][i], &f->lu.at[k][j], &f->lu.at[i][j]);
    }
}

HD Factors5 linear_factored(const Matrix5 *a)
{
    Factors5 f;
    memset(&f, 0, sizeof f);
    f.lu = *a;
    real least = splat(1.7976931348623157e308), greatest = splat(0.0);
    for (int k = 0; k < 5; k++) {
        linear_pivot(&f, k);
        const real pivot = absolute(f.lu.at[k][k]);
        least = select_real(MASK(value_of(pivot) >= value_of(least)), least, pivot); // a NaN pivot makes it NaN
        greatest = greater_of(pivot, greatest);
        for (int i = k + 1; i < 5; i++) {
            const real factor = f.lu.at[i][k] / f.lu.at[k][k];
            f.lu.at[i][k] = factor;
            for (int j = k + 1; j < 5; j++) f.lu.at[i][j] = fused(-factor, f.lu.at[k][j], f.lu.at[i][j]);
        }
    }
    f.near_singular = ~MASK(value_of(least) >= value_of(1e-12 * greatest));
    return f;
}

// x of A x = b: the exchanges, L z = P b, U x = z.
HD Vector5 linear_solved(const Factors5 *f, const Vector5 *b)
{
    Vector5 x = *b;
    for (int k = 0; k < 5; k++) {
        for (int i = k + 1; i < 5; i++) linear_swap(f->swapped[k][i], &x.at[k], &x.at[i]);
    }
    for (int i = 1; i < 5; i++) {
        for (int j = 0; j < i; j++) x.at[i] = fused(-f->lu.at[i][j], x.at[j], x.at[i]);
    }
    for (int i = 4; i >= 0; i--) {
        for (int j = i + 1; j < 5; j++) x.at[i] = fused(-f->lu.at[i][j], x.at[j], x.at[i]);
        x.at[i] = x.at[i] / f->lu.at[i][i];
    }
    return x;
}

// A x
HD Vector5 linear_product(const Matrix5 *a, const Vector5 *x)
{
    Vector5 product;
    for (int i = 0; i < 5; i++) {
        product.at[i] = a->at[i][0] * x->at[0];
        for (int j = 1; j < 5; j++) product.at[i] = fused(a->at[i][j], x->at[j], product.at[i]);
    }
    return product;
}

#endif
