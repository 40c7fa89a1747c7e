// What a recording would tell of parameters: Fisher's information F = J'J/noise^2 of the residuals (each with its own
// noise), J their derivatives by the parameters in units of their sizes (|value|; 1 where that is 0). With F^-1 the
// covariance of relative errors, the criterion D is det(F^-1)^(1/(2n)), the geometric mean of the half axes of the
// ellipsoid of errors, and A is sqrt(trace(F^-1)/n), the root mean square of the errors. Source: A. Atkinson, A. Donev
// & R. Tobias, Optimum experimental designs, with SAS, 2007, chapter 10. A plan that leaves a combination of
// parameters open has an infinite criterion: it fails as UNDETERMINED. Rounding leaves F of such a plan regular as
// often as not, so this is asked of J: by columns of length 1, orthogonalised from the longest on (modified Gram and
// Schmidt, with pivots; A. Bjorck, Numerical methods for least squares problems, 1996, section 2.7), what is left of
// each is at least information_singular. `fit` names combinations from the same number on (view/analysis/fit.c).
#include "../experiment.h"

#include <math.h>

static const double information_singular = 1e-7;
static const double information_rounding = 1e-12; // of the longest column: one that is shorter is rounding

struct Information {
    const Spec *spec;
    TrialResiduals *trial;
    double *residual, *column, *matrix; // [count], [n][count], [n][n]
};

size_t information_bytes(const Spec *spec)
{
    enum { ARRAYS = 4, ALIGNMENT = 64 };
    const size_t n = (size_t)spec->objective.information.n, count = (size_t)spec_residual_count(spec);
    if (n == 0) return 0;
    return trial_residuals_bytes(spec, &spec->configured) + ((n + 1) * count + n * n) * sizeof(double) +
           sizeof(Information) + ARRAYS * ALIGNMENT;
}

Information *information_take(const Spec *spec, Arena *arena)
{
    const int64_t n = spec->objective.information.n, count = spec_residual_count(spec);
    if (n == 0) return NULL;
    Information *information = ARENA_NEW(arena, Information, 1);
    *information = (Information){.spec = spec,
                                 .trial = trial_residuals_take(spec, &spec->configured, arena),
                                 .residual = ARENA_NEW(arena, double, count),
                                 .column = ARENA_NEW(arena, double, n *count),
                                 .matrix = ARENA_NEW(arena, double, n *n)};
    return information;
}

double information_size(double value) { return fabs(value) > 0.0 ? fabs(value) : 1.0; }

static double information_dot(const double *a, const double *b, int64_t count)
{
    double sum = 0.0;
    for (int64_t k = 0; k < count; k++) sum += a[k] * b[k];
    return sum;
}

static void information_scale(double *column, double by, int64_t count)
{
    for (int64_t k = 0; k < count; k++) column[k] *= by;
}

// Columns to length 1. False: one is rounding beside the longest.
static bool information_normalise(double *columns, int n, int64_t count)
{
    double most = 0.0, least = (double)INFINITY;
    for (int i = 0; i < n; i++) {
        double *column = columns + i * count;
        const double length = sqrt(information_dot(column, column, count));
        most = length > most ? length : most;
        least = length < least ? length : least;
        if (length > 0.0) information_scale(column, 1.0 / length, count);
    }
    return least > information_rounding * most;
}

// Whether columns[n][count] are independent, which overwrites them.
static bool information_is_regular(double *columns, int n, int64_t count)
{
    bool done[INFORMATION_MOST] = {false};
    if (!information_normalise(columns, n, count)) return false;
    for (int step = 0; step < n; step++) {
        int pivot = -1;
        double most = information_singular * information_singular;
        for (int i = 0; i < n; i++) {
            const double left = done[i] ? 0.0 : information_dot(columns + i * count, columns + i * count, count);
            if (!(left > most)) continue;
            most = left;
            pivot = i;
        }
        if (pivot < 0) return false;
        double *along = columns + pivot * count;
        done[pivot] = true;
        information_scale(along, 1.0 / sqrt(most), count);
        for (int i = 0; i < n; i++) {
            double *column = columns + i * count;
            const double part = done[i] ? 0.0 : information_dot(along, column, count);
            for (int64_t k = 0; k < count && !done[i]; k++) column[k] -= part * along[k];
        }
    }
    return true;
}

// matrix <- the lower Cholesky factor of F. False: F is singular.
static bool information_factor(Information *information, int64_t count)
{
    const int n = information->spec->objective.information.n;
    double *L = information->matrix;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j <= i; j++) {
            const double *a = information->column + i * count, *b = information->column + j * count;
            double sum = 0.0;
            for (int64_t k = 0; k < count; k++) sum += a[k] * b[k];
            for (int k = 0; k < j; k++) sum -= L[i * n + k] * L[j * n + k];
            if (i == j && !(sum > 0.0)) return false;
            L[i * n + j] = i == j ? sqrt(sum) : sum / L[j * n + j];
        }
    }
    return true;
}

static double information_determinant(const double *L, int n)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++) sum += portable_log(L[i * n + i]);
    return portable_exp(-sum / n);
}

// The sum of squares of L^-1, column by column.
static double information_trace(double *L, int n)
{
    double sum = 0.0, x[INFORMATION_MOST];
    for (int j = 0; j < n; j++) {
        for (int i = j; i < n; i++) {
            double right = i == j ? 1.0 : 0.0;
            for (int k = j; k < i; k++) right -= L[i * n + k] * x[k];
            x[i] = right / L[i * n + i];
            sum += x[i] * x[i];
        }
    }
    return sqrt(sum / n);
}

double information_of(Information *information, int32_t search, uint64_t ordinal, const double *parameter)
{
    const Spec *spec = information->spec;
    const int n = spec->objective.information.n;
    const int64_t count = spec_residual_count(spec);
    int64_t there = 0;
    for (int i = 0; i < n; i++) {
        const int p = spec->objective.information.of[i];
        const double size = information_size(parameter[p]) / spec->objective.information.noise;
        double *column = information->column + i * count;
        there =
            trial_residuals_along(information->trial, search, ordinal, parameter, &p, 1, information->residual, column);
        if (there == 0) return (double)NAN;
        for (int64_t k = 0; k < count; k++) column[k] = k < there ? column[k] * size : 0.0;
        for (int64_t k = 0; k < count && spec->objective.information.each != NULL; k++)
            column[k] /= spec->objective.information.each[k];
    }
    const bool factored = information_factor(information, count);
    if (!factored || !information_is_regular(information->column, n, count)) return (double)INFINITY;
    switch (spec->objective.information.criterion) {
    case INFORMATION_A: return information_trace(information->matrix, n);
    case INFORMATION_D: break;
    }
    return information_determinant(information->matrix, n);
}
