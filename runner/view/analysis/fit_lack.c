// Whether the model is enough: what the residuals still depend on. e: the true noise, J the derivatives by what was
// fitted, H = (J'J)^-1, so that r = M e with M = I - J H J'. For any direction x of the residuals x'r is normal with
// variance x'M diag(s^2) M x if the model is right, and s^2 the variance of each series: C. R. Rao's score test, Proc.
// Cambridge Philosophical Society 44, 1948. x'r counts alone if r are residuals of a least that an end of a range holds
// back, so r is M r here.
//
// Two kinds of x. Of a parameter that is not searched: the derivatives of the residuals by it. That tells which effect
// is missing, for each parameter of the model with an effect that the spec names, such as a law of friction at 0.
// Of a series: its first cosines (K. Ahmed, IEEE Transactions on Computers 23, 1974). A motion is smooth, noise is not,
// so what a wrong model leaves lies in its slow part, however small it is in each row. Numbers of cosines are tested
// together (R. Eubank & J. Hart, Annals of Statistics 20, 1992).
#include "fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- smooth parts ---------------------------------------------------------------------------------------------------

enum { FIT_COSINES_LEAST = 4, FIT_COSINES_MOST = 64 };
static const double fit_alike = 1e-8; // of a variance: what rounding leaves of it

// Squares through all squares are of a beta distribution.
double fit_above(double sum, double count, double freedom)
{
    if (!(freedom > count)) return 1.0;
    return sum < freedom ? beta_above(sum / freedom, count / 2.0, (freedom - count) / 2.0) : 0.0;
}

// cosine[K][count] of a series, orthonormal.
static void fit_cosines(int64_t count, int K, double *cosine)
{
    const double step = acos(-1.0) / (double)count;
    for (int k = 0; k < K; k++) {
        const double size = sqrt((k > 0 ? 2.0 : 1.0) / (double)count);
        for (int64_t t = 0; t < count; t++) cosine[k * count + t] = size * cos(step * ((double)t + 0.5) * k);
    }
}

// to[m] <- H v.
static void fit_times_inverse(const Fit *fit, const double *v, double *to)
{
    for (int i = 0; i < fit->m; i++) to[i] = fit_dot(fit->inverse + (ptrdiff_t)i * fit->m, v, fit->m);
}

void fit_project(const Fit *fit, double *x)
{
    const int64_t count = fit->data->count;
    double *along = ARENA_NEW(fit->arena, double, fit->m), *by = ARENA_NEW(fit->arena, double, fit->m);
    for (int i = 0; i < fit->m; i++) along[i] = fit_dot(fit_column(fit, i), x, count);
    fit_times_inverse(fit, along, by);
    for (int i = 0; i < fit->m; i++)
        for (int64_t k = 0; k < count; k++) x[k] -= fit_column(fit, i)[k] * by[i];
}

void fit_prepare_tests(Fit *fit)
{
    const int m = fit->m;
    const int64_t count = fit->data->count;
    double *half = ARENA_NEW(fit->arena, double, m *m);
    fit->left = ARENA_NEW(fit->arena, double, count);
    fit->spread = ARENA_NEW(fit->arena, double, m *m);
    memcpy(fit->left, fit->data->residual, (size_t)count * sizeof(double));
    fit_project(fit, fit->left);
    // Both matrices are symmetric: a row of S H is H times a row of S.
    for (int i = 0; i < m; i++) fit_times_inverse(fit, fit->scores + (ptrdiff_t)i * m, half + (ptrdiff_t)i * m);
    for (int i = 0; i < m * m; i++)
        for (int k = 0; k < m; k++) fit->spread[i] += fit->inverse[i / m * m + k] * half[k * m + i % m];
}

typedef struct FitSmooth {
    int K;
    double *cosine, *by; // [K][count], [K][m]: B, B'J
    double *sum, *L;     // [K]: B'r; [K][K]: the Cholesky factor of its covariance
} FitSmooth;

// The covariance of B'r, by r = M e: s^2 (I - D H D' - D H D') + D HSH D', D = B'J of this series.
static void fit_smooth_covariance(const Fit *fit, double variance, FitSmooth *of)
{
    const int m = fit->m;
    double *once = ARENA_NEW(fit->arena, double, m), *twice = ARENA_NEW(fit->arena, double, m);
    for (int i = 0; i < of->K; i++) {
        const double *d = of->by + (ptrdiff_t)i * m;
        fit_times_inverse(fit, d, once);
        for (int k = 0; k < m; k++) twice[k] = fit_dot(fit->spread + (ptrdiff_t)k * m, d, m);
        for (int j = 0; j <= i; j++) {
            const double *other = of->by + (ptrdiff_t)j * m;
            of->L[i * of->K + j] = variance * ((i == j) - 2.0 * fit_dot(once, other, m)) + fit_dot(twice, other, m);
        }
    }
}

// The least p-value of the first 4, 8, 16, ... cosines, times how many such tests there are. By the Cholesky factor the
// sum of one test is a part of that of the next.
static double fit_smooth_least(FitSmooth *of, double variance, double freedom)
{
    const int K = of->K;
    double *L = of->L, sum = 0.0, least = 1.0, count = 0.0;
    int tests = 0;
    for (int i = 0; i < K; i++) {
        double y = of->sum[i];
        for (int j = 0; j <= i; j++) {
            double c = L[i * K + j];
            for (int k = 0; k < j; k++) c -= L[i * K + k] * L[j * K + k];
            if (j < i)
                L[i * K + j] = L[j * K + j] > 0.0 ? c / L[j * K + j] : 0.0;
            else
                L[i * K + j] = c > fit_alike * variance ? sqrt(c) : 0.0;
            if (j < i) y -= L[i * K + j] * of->sum[j];
        }
        of->sum[i] = L[i * K + i] > 0.0 ? y / L[i * K + i] : 0.0;
        sum += of->sum[i] * of->sum[i];
        count += L[i * K + i] > 0.0;
        if (i + 1 < FIT_COSINES_LEAST || ((i + 1) & i) != 0) continue;
        tests++;
        if (count > 0.0) least = fmin(least, fit_above(sum, count, freedom));
    }
    return fmin(1.0, least * tests);
}

double fit_smooth(const Fit *fit, int s)
{
    const FitData *data = fit->data;
    const FitSeries *series = &data->series[s];
    const size_t used = fit->arena->used;
    const int m = fit->m;
    const double variance = fit_variance(fit, s);
    FitSmooth of = {.K = FIT_COSINES_LEAST};
    while (of.K < FIT_COSINES_MOST && 2 * of.K <= series->count / 4) of.K *= 2;
    of.cosine = ARENA_NEW(fit->arena, double, of.K * series->count);
    of.by = ARENA_NEW(fit->arena, double, of.K *m);
    of.sum = ARENA_NEW(fit->arena, double, of.K);
    of.L = ARENA_NEW(fit->arena, double, of.K *of.K);
    fit_cosines(series->count, of.K, of.cosine);
    for (int k = 0; k < of.K; k++) {
        const double *b = of.cosine + k * series->count;
        of.sum[k] = fit_dot(b, fit->left + series->first, series->count);
        for (int i = 0; i < m; i++) of.by[k * m + i] = fit_dot(b, fit_column(fit, i) + series->first, series->count);
    }
    fit_smooth_covariance(fit, variance, &of);
    const double p = fit_smooth_least(&of, variance, (double)series->count * fit->freedom / (double)data->count);
    arena_rewind(fit->arena, used);
    return p;
}

// ---- parameters that are not searched -------------------------------------------------------------------------------

// x <- x without what lies along step[count], which has no part along the columns.
static void fit_project_step(const Fit *fit, const double *step, double *x)
{
    const int64_t count = fit->data->count;
    const double along = fit_dot(step, x, count) / fit_dot(step, step, count);
    for (int64_t k = 0; k < count; k++) x[k] -= along * step[k];
}

// Fills what the residuals say of a parameter with derivatives x. false: nothing, beside what was fitted, and beside
// the step if that is too long.
static bool fit_take_lack(const Fit *fit, const double *step, double *x, FitLack *lack)
{
    const int64_t count = fit->data->count;
    const Parameter *of = &fit->spec->configured.parameters[lack->parameter];
    const double all = fit_dot(x, x, count);
    if (!(all > 0.0)) return false;
    fit_project(fit, x);
    if (fit->result->step.lacking) fit_project_step(fit, step, x);
    const double own = fit_dot(x, x, count), sum = fit_dot(x, fit->left, count);
    if (!(own > fit_alike * all)) return false;
    lack->change = -sum / own;
    const double variance = fit_variance_along(fit, x);
    lack->error = sqrt(variance) / own;
    lack->squares = sum * sum / own / fit_dot(fit->left, fit->left, count);
    lack->p = fit_above(sum * sum / variance, 1.0, fit->freedom);
    // A value beyond its range explains nothing.
    if (lack->value + lack->change < of->low || lack->value + lack->change > of->high) lack->p = 1.0;
    return true;
}

static int fit_lacks_compare(const void *a, const void *b)
{
    const FitLack *x = a, *y = b;
    if (x->p != y->p) return x->p < y->p ? -1 : 1;
    if (x->squares != y->squares) return x->squares > y->squares ? -1 : 1;
    return x->parameter - y->parameter;
}

Error fit_lacks(const FitModel *model, FitResult *result)
{
    const Fit *fit = result->inner;
    const FitData *data = fit->data;
    const int n = fit->spec->configured.n_parameters;
    double *x = ARENA_NEW(fit->arena, double, data->count), *step = ARENA_NEW(fit->arena, double, data->count);
    result->lacks = ARENA_NEW(fit->arena, FitLack, n);
    if (!(fit->freedom > 1.0)) return error_none();
    TRY(fit_test_step(model, fit, step));
    for (int p = 0; p < n; p++) {
        bool there;
        if (!fit_may_depend(model, p)) continue;
        TRY(fit_along(model, p, x, &there));
        FitLack *lack = &result->lacks[result->n_lacks];
        *lack = (FitLack){.parameter = p, .value = data->parameters[p]};
        if (there) result->n_lacks += fit_take_lack(fit, step, x, lack);
    }
    qsort(result->lacks, (size_t)result->n_lacks, sizeof *result->lacks, fit_lacks_compare);
    // S. Holm, Scandinavian Journal of Statistics 6, 1979. A step that is too long leaves more than its first order, so
    // what is lacking beside it must take more of the squares than it does.
    for (int k = 0; k < result->n_lacks && result->lacks[k].p < fit_level / (result->n_lacks - k); k++) {
        if (result->step.lacking && !(result->lacks[k].squares > result->step.squares)) continue;
        result->lacks[k].lacking = true;
        result->n_lacking++;
    }
    return error_none();
}
