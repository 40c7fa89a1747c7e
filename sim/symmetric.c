// Eigenvalues and eigenvectors of a symmetric matrix: Householder's reduction to tridiagonal form, then QL steps with
// implicit shifts. A library's routine takes other code paths on other processors, but the numbers that a search draws
// from its covariance must be the same bits everywhere. This code uses only +, -, *, / and sqrt, in one order. Source:
// G. H. Golub & C. F. Van Loan, Matrix Computations, 4th ed., 8.3 (algorithm 8.3.1, here with the shifts of section
// 8.3.4 from the other end); H. Bowdler, R. S. Martin, C. Reinsch & J. H. Wilkinson, Numer. Math. 11, 1968.
#include "sim.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { SYMMETRIC_SWEEPS_MAX = 60 }; // QL steps for one eigenvalue; two or three are usual

// ---- to tridiagonal form --------------------------------------------------------------------------------------------

// Replaces v[n] = x by v with (I - beta v v') x = -+|x| e_0; returns that number and gives beta. Their 5.1.1.
static double symmetric_householder(int n, double *v, double *beta)
{
    double tail = 0.0;
    for (int i = 1; i < n; i++) tail += v[i] * v[i];
    *beta = 0.0;
    if (tail == 0.0) return v[0]; // nothing to do
    const double norm = sqrt(v[0] * v[0] + tail), image = v[0] > 0.0 ? -norm : norm;
    v[0] -= image; // no cancellation: its sign differs from that of v[0]
    *beta = 2.0 / (v[0] * v[0] + tail);
    return image;
}

// A <- (I - beta v v') A (I - beta v v') = A - v w' - w v' on rows and columns [first, n). w[n] is scratch.
static void symmetric_reflect(int n, int first, double *a, const double *v, double beta, double *w)
{
    double product = 0.0;
    for (int i = first; i < n; i++) {
        w[i] = 0.0;
        for (int j = first; j < n; j++) w[i] += a[i * n + j] * v[j];
        w[i] *= beta;
        product += w[i] * v[i];
    }
    for (int i = first; i < n; i++) w[i] -= 0.5 * beta * product * v[i];
    for (int i = first; i < n; i++) {
        for (int j = first; j < n; j++) a[i * n + j] -= v[i] * w[j] + w[i] * v[j];
    }
}

// Applies the reflection to every row of `vectors` (row k is vector k): row <- row (I - beta v v').
static void symmetric_accumulate(int n, int first, double *vectors, const double *v, double beta)
{
    for (int k = 0; k < n; k++) {
        double *row = vectors + k * n, along = 0.0;
        for (int i = first; i < n; i++) along += row[i] * v[i];
        along *= beta;
        for (int i = first; i < n; i++) row[i] -= along * v[i];
    }
}

static void symmetric_transpose(int n, double *a)
{
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < i; j++) {
            const double kept = a[i * n + j];
            a[i * n + j] = a[j * n + i];
            a[j * n + i] = kept;
        }
    }
}

// a = Q T Q': T as its diagonal and the elements `beside` it, and Q' in `vectors`. Destroys a; work[2 n].
static void symmetric_tridiagonal(int n, double *a, double *diagonal, double *beside, double *vectors, double *work)
{
    memset(vectors, 0, (size_t)n * (size_t)n * sizeof *vectors);
    for (int i = 0; i < n; i++) vectors[i * n + i] = 1.0;
    for (int k = 0; k + 1 < n; k++) {
        double *v = work, beta;
        for (int i = k + 1; i < n; i++) v[i] = a[i * n + k];
        beside[k] = symmetric_householder(n - k - 1, v + k + 1, &beta);
        if (beta == 0.0) continue;
        symmetric_reflect(n, k + 1, a, v, beta, work + n);
        symmetric_accumulate(n, k + 1, vectors, v, beta);
    }
    beside[n - 1] = 0.0;
    for (int i = 0; i < n; i++) diagonal[i] = a[i * n + i];
    symmetric_transpose(n, vectors); // Q was accumulated
}

// ---- QL ------------------------------------------------------------------------------------------------------------

static void symmetric_rotate(int n, double *upper, double *lower, double c, double s)
{
    for (int i = 0; i < n; i++) {
        const double kept = lower[i];
        lower[i] = s * upper[i] + c * kept;
        upper[i] = c * upper[i] - s * kept;
    }
}

// One implicit QL step on the unreduced block [first, last] of the tridiagonal matrix, shifted by the eigenvalue of its
// first 2x2 block that is nearer to d[first].
static void symmetric_ql_step(int n, int first, int last, double *d, double *e, double *vectors)
{
    const double half = (d[first + 1] - d[first]) / (2.0 * e[first]), root = sqrt(half * half + 1.0);
    double g = d[last] - d[first] + e[first] / (half + (half < 0.0 ? -root : root));
    double s = 1.0, c = 1.0, p = 0.0;
    for (int i = last - 1; i >= first; i--) {
        const double f = s * e[i], b = c * e[i], r = sqrt(f * f + g * g);
        e[i + 1] = r;
        if (r == 0.0) { // the block splits here
            d[i + 1] -= p;
            e[last] = 0.0;
            return;
        }
        s = f / r;
        c = g / r;
        g = d[i + 1] - p;
        const double t = (d[i] - g) * s + 2.0 * c * b;
        p = s * t;
        d[i + 1] = g + p;
        g = c * t - b;
        symmetric_rotate(n, vectors + i * n, vectors + (i + 1) * n, c, s);
    }
    d[first] -= p;
    e[first] = g;
    e[last] = 0.0;
}

// The end of the block that starts at `first`: the next element beside the diagonal is below rounding.
static int symmetric_block_end(int n, int first, const double *d, const double *e)
{
    int last = first;
    while (last + 1 < n && fabs(e[last]) > DBL_EPSILON * (fabs(d[last]) + fabs(d[last + 1]))) last++;
    return last;
}

static bool symmetric_ql(int n, double *d, double *e, double *vectors)
{
    for (int first = 0; first < n; first++) {
        int steps = 0, last;
        while ((last = symmetric_block_end(n, first, d, e)) > first) {
            if (++steps > SYMMETRIC_SWEEPS_MAX) return false;
            symmetric_ql_step(n, first, last, d, e, vectors);
        }
    }
    return true;
}

// ---- all of it ------------------------------------------------------------------------------------------------------

static void symmetric_sort(int n, double *values, double *vectors, double *row)
{
    const size_t size = (size_t)n * sizeof *row;
    for (int i = 0; i + 1 < n; i++) {
        int least = i;
        for (int j = i + 1; j < n; j++) least = values[j] < values[least] ? j : least;
        if (least == i) continue;
        const double value = values[i];
        values[i] = values[least];
        values[least] = value;
        memcpy(row, vectors + i * n, size);
        memcpy(vectors + i * n, vectors + least * n, size);
        memcpy(vectors + least * n, row, size);
    }
}

// The largest power of two up to the greatest element: dividing by it keeps squares from overflow and underflow. 0:
// none exists.
static double symmetric_scale(int n, const double *a)
{
    double greatest = 0.0, sum = 0.0;
    int exponent;
    for (int i = 0; i < n * n; i++) {
        sum += fabs(a[i]);
        if (fabs(a[i]) > greatest) greatest = fabs(a[i]);
    }
    if (!isfinite(sum) || greatest == 0.0) return 0.0;
    (void)frexp(greatest, &exponent);
    return ldexp(1.0, exponent);
}

bool symmetric_eigen(int n, const double *matrix, double *values, double *vectors, double *work)
{
    double *a = work, *beside = work + n * n, *rest = beside + n;
    const double scale = symmetric_scale(n, matrix);
    if (scale == 0.0) return false;
    for (int i = 0; i < n * n; i++) a[i] = matrix[i] / scale;
    symmetric_tridiagonal(n, a, values, beside, vectors, rest);
    if (!symmetric_ql(n, values, beside, vectors)) return false;
    for (int i = 0; i < n; i++) values[i] *= scale;
    symmetric_sort(n, values, vectors, rest);
    return true;
}
