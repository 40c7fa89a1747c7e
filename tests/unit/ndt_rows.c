// See ndt_rows.h.
#define HOPSCOTCH_SCALAR
#include "ndt_rows.h"

#include <math.h>

double ndt_greatest(const double *values, int n)
{
    double greatest = 0.0;
    for (int i = 0; i < n; i++) greatest = fmax(greatest, fabs(values[i]));
    return greatest;
}

// Residual of H delta + sign g, relative to g, from the numbers of the row alone.
static double ndt_residual(const double *row, double sign)
{
    double worst = 0.0;
    for (int i = 0; i < NDT_POSE; i++) {
        double sum = sign * row[NDT_DEBUG_GRADIENT + i];
        for (int j = 0; j < NDT_POSE; j++)
            sum +=
                row[NDT_DEBUG_HESSIAN + (i < j ? ndt_triangle(i, j) : ndt_triangle(j, i))] * row[NDT_DEBUG_DELTA + j];
        worst = fmax(worst, fabs(sum));
    }
    return worst / ndt_greatest(row + NDT_DEBUG_GRADIENT, NDT_POSE);
}

// Residual of |H| delta = g, with |H| from the eigenvectors of H.
static double ndt_saddle_free_residual(const double *row)
{
    NdtEigen e;
    double worst = 0.0;
    ndt_eigen(row + NDT_DEBUG_HESSIAN, &e);
    for (int k = 0; k < NDT_POSE; k++) {
        double along_delta = 0.0, along_g = 0.0;
        for (int i = 0; i < NDT_POSE; i++) along_delta += e.v[i][k] * row[NDT_DEBUG_DELTA + i];
        for (int i = 0; i < NDT_POSE; i++) along_g += e.v[i][k] * row[NDT_DEBUG_GRADIENT + i];
        worst = fmax(worst, fabs(fabs(e.a[k][k]) * along_delta - along_g));
    }
    return worst / ndt_greatest(row + NDT_DEBUG_GRADIENT, NDT_POSE);
}

static bool ndt_alpha_is_allowed(const NdtMethod *method, double alpha, double size)
{
    const double first = size <= method->step_size ? 1.0 : method->step_size / size;
    if (method->line_search == NDT_NO_SEARCH) return fabs(alpha * size - fmin(size, method->step_size)) <= 1e-12;
    if (method->line_search == NDT_MORE_THUENTE)
        return alpha >= 0.0 && alpha * size <= method->step_size * (1.0 + 1e-12);
    bool candidate = alpha == 0.0;
    for (int k = 0; k < 8; k++) candidate = candidate || fabs(alpha - first * pow(0.618, k)) <= 1e-12 * first;
    return candidate;
}

void ndt_check_row(const NdtMethod *method, double d1, const double *row)
{
    const double *g = row + NDT_DEBUG_GRADIENT, *delta = row + NDT_DEBUG_DELTA, alpha = row[NDT_DEBUG_ALPHA];
    const bool reversed = row[NDT_DEBUG_REVERSED] != 0.0;
    double uphill = 0.0, size = 0.0;
    for (int i = 0; i < NDT_POSE; i++) {
        uphill += g[i] * delta[i];
        size += delta[i] * delta[i];
        CHECK_BITS(row[NDT_DEBUG_AFTER + i], row[NDT_DEBUG_BEFORE + i] + alpha * delta[i]);
    }
    CHECK(uphill > 0.0);
    if (method->solver == NDT_NEWTON)
        CHECK(ndt_residual(row, reversed ? -1.0 : 1.0) <= 1e-5);
    else
        CHECK(!reversed && ndt_saddle_free_residual(row) <= 1e-5);
    CHECK(ndt_alpha_is_allowed(method, alpha, sqrt(size)));
    CHECK(row[NDT_DEBUG_SCORE] >= 0.0 && row[NDT_DEBUG_SCORE] <= -d1 * row[NDT_DEBUG_PAIRS]);
}
