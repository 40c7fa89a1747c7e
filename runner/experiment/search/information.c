// What a recording would tell of parameters: Fisher's information F = J'J/noise^2 of the residuals, J their derivatives
// by the parameters in units of their sizes (|value|; 1 where that is 0). With F^-1 the covariance of relative errors,
// the criterion D is det(F^-1)^(1/(2n)), the geometric mean of the half axes of the ellipsoid of errors, and A is
// sqrt(trace(F^-1)/n), the root mean square of the errors. Source: A. Atkinson, A. Donev & R. Tobias, Optimum
// experimental designs, with SAS, 2007, chapter 10. A plan that leaves a combination of parameters open has
// an infinite criterion.
#include "../experiment.h"

#include <math.h>

static const double information_rounding = 1e-14; // of a diagonal of F: what is left of it is none

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
            const double whole = sum;
            for (int k = 0; k < j; k++) sum -= L[i * n + k] * L[j * n + k];
            if (i == j && !(sum > information_rounding * whole)) return false;
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
    }
    if (!information_factor(information, count)) return (double)INFINITY;
    switch (spec->objective.information.criterion) {
    case INFORMATION_A: return information_trace(information->matrix, n);
    case INFORMATION_D: break;
    }
    return information_determinant(information->matrix, n);
}
