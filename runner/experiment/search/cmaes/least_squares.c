// Linear least squares by Householder reflections with column pivoting; of all solutions the shortest, where columns
// depend on each other (Golub & Van Loan, Matrix Computations, 4th ed., 5.2, 5.4.2 and 5.5.6). All sums run in one
// order, so the result has the same bits everywhere.
#include "cmaes.h"

#include <math.h>
#include <string.h>

static const double squares_rounding = 2e-28; // squared: 64 times that of a double

// Four partial sums, which a processor can have in flight at once.
static double squares_dot(int64_t count, const double *a, const double *b)
{
    double sum[4] = {0.0};
    int64_t i = 0;
    for (; i + 4 <= count; i += 4) {
        for (int k = 0; k < 4; k++) sum[k] += a[i + k] * b[i + k];
    }
    for (; i < count; i++) sum[0] += a[i] * b[i];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

// v becomes the reflector 1 - v v' that maps it to (r, 0, ...); returns r. v = 0 stays: it reflects nothing.
static double squares_reflector(int64_t count, double *v)
{
    const double square = squares_dot(count, v, v);
    const double r = v[0] > 0.0 ? -sqrt(square) : sqrt(square), first = v[0] - r;
    if (!(square > 0.0)) return 0.0;
    const double scale = 1.0 / sqrt(-r * first); // |v|^2 = -2 r (v_0 - r), and it shall be 2
    v[0] = first;
    for (int64_t i = 0; i < count; i++) v[i] *= scale;
    return r;
}

static void squares_reflect(int64_t count, const double *v, double *x)
{
    const double along = squares_dot(count, v, x);
    for (int64_t i = 0; i < count; i++) x[i] -= along * v[i];
}

static void squares_swap(int64_t m, double *a, double *b)
{
    for (int64_t i = 0; i < m; i++) {
        const double kept = a[i];
        a[i] = b[i];
        b[i] = kept;
    }
}

// A P = Q R: R above the diagonal of A, its diagonal in `diagonal`, b <- Q'b. Returns the rank: the columns that are
// left are shorter than rounding makes them.
static int64_t squares_factor(LeastSquares *of)
{
    const int64_t m = of->rows, p = of->columns, most = m < p ? m : p;
    double *A = of->matrix, least = 0.0;
    for (int64_t k = 0; k < p; k++) of->order[k] = k;
    for (int64_t k = 0; k < most; k++) {
        int64_t longest = k;
        double square = -1.0;
        for (int64_t j = k; j < p; j++) {
            const double of_j = squares_dot(m - k, A + j * m + k, A + j * m + k);
            if (of_j > square) square = of_j, longest = j;
        }
        if (k == 0) least = square * (double)(m > p ? m : p) * squares_rounding;
        if (!(square > least)) return k;
        if (longest != k) squares_swap(m, A + k * m, A + longest * m);
        const int64_t kept = of->order[k];
        of->order[k] = of->order[longest];
        of->order[longest] = kept;
        of->diagonal[k] = squares_reflector(m - k, A + k * m + k);
        for (int64_t j = k + 1; j < p; j++) squares_reflect(m - k, A + k * m + k, A + j * m + k);
        squares_reflect(m - k, A + k * m + k, of->value + k);
    }
    return most;
}

// z[rank] of R z = Q'b, where no column is left.
static void squares_back(const LeastSquares *of, double *z)
{
    const int64_t m = of->rows, p = of->columns;
    for (int64_t k = p - 1; k >= 0; k--) {
        double sum = of->value[k];
        for (int64_t j = k + 1; j < p; j++) sum -= of->matrix[j * m + k] * z[j];
        z[k] = sum / of->diagonal[k];
    }
}

// The shortest z[p] of R z = Q'b for the first `rank` rows of R: R' = Z S gives z = Z S'^-1 Q'b.
static void squares_shortest(const LeastSquares *of, int64_t rank, double *z)
{
    const int64_t m = of->rows, p = of->columns;
    double *T = of->transposed, *diagonal = of->diagonal;
    for (int64_t k = 0; k < rank; k++) {
        for (int64_t j = 0; j < p; j++) T[k * p + j] = j < k ? 0.0 : j == k ? diagonal[k] : of->matrix[j * m + k];
    }
    for (int64_t k = 0; k < rank; k++) {
        diagonal[k] = squares_reflector(p - k, T + k * p + k);
        for (int64_t j = k + 1; j < rank; j++) squares_reflect(p - k, T + k * p + k, T + j * p + k);
    }
    memset(z, 0, (size_t)p * sizeof *z);
    for (int64_t k = 0; k < rank; k++) {
        double sum = of->value[k];
        for (int64_t j = 0; j < k; j++) sum -= T[k * p + j] * z[j];
        z[k] = sum / diagonal[k];
    }
    for (int64_t k = rank - 1; k >= 0; k--) squares_reflect(p - k, T + k * p + k, z + k);
}

int64_t least_squares(LeastSquares *of, double *x)
{
    const int64_t p = of->columns, rank = squares_factor(of);
    double *z = of->room;
    if (rank == p)
        squares_back(of, z);
    else
        squares_shortest(of, rank, z);
    for (int64_t k = 0; k < p; k++) x[of->order[k]] = z[k];
    return rank;
}
