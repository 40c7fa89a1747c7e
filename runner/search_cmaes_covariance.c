// The covariance of a CMA-ES: a full matrix, with its axes and their lengths, or, for many coordinates, its diagonal
// alone. The separable form (R. Ros & N. Hansen, A simple modification in CMA-ES achieving linear time and space
// complexity, PPSN X, 2008) learns n numbers in place of n^2/2, so its rates are (n + 2)/3 times as high (section 3
// there); its axes are the coordinates, and nothing has to be decomposed. Sums run in the order of ranks and of
// coordinates, so they are the same bits everywhere.
#include "search_cmaes.h"

#include <math.h>
#include <string.h>

// ---- what C says ----------------------------------------------------------------------------------------------------

double cmaes_variance(const Cmaes *cmaes, const CmaesView *view, int i)
{
    return view->C[cmaes->separable ? i : i * cmaes->n + i];
}

double cmaes_longest(const Cmaes *cmaes, const CmaesView *view)
{
    double longest = view->lengths[cmaes->n - 1];
    for (int k = 0; cmaes->separable && k < cmaes->n; k++)
        longest = view->lengths[k] > longest ? view->lengths[k] : longest;
    return longest;
}

double cmaes_condition(const Cmaes *cmaes, const CmaesView *view)
{
    double shortest = view->lengths[0];
    for (int k = 0; cmaes->separable && k < cmaes->n; k++)
        shortest = view->lengths[k] < shortest ? view->lengths[k] : shortest;
    const double ratio = cmaes_longest(cmaes, view) / shortest;
    return ratio * ratio;
}

double cmaes_axis(const Cmaes *cmaes, const CmaesView *view, int k, int i)
{
    return cmaes->separable ? (double)(i == k) : view->axes[k * cmaes->n + i];
}

// ---- to and from the sphere -----------------------------------------------------------------------------------------

static double covariance_draw_separable(int n, const CmaesView *view, const RandomKey *key, double *y)
{
    double square = 0.0;
    for (int k = 0; k < n; k++) {
        const double z = random_normal(key, (uint32_t)k);
        y[k] = view->lengths[k] * z;
        square += z * z;
    }
    return square;
}

double cmaes_draw_y(const Cmaes *cmaes, const CmaesView *view, const RandomKey *key, double *y)
{
    const int n = cmaes->n;
    double square = 0.0;
    if (cmaes->separable) return covariance_draw_separable(n, view, key, y);
    memset(y, 0, (size_t)n * sizeof *y);
    for (int k = 0; k < n; k++) {
        const double z = random_normal(key, (uint32_t)k), length = view->lengths[k] * z;
        const double *axis = view->axes + k * n;
        for (int i = 0; i < n; i++) y[i] += length * axis[i];
        square += z * z;
    }
    return square;
}

void cmaes_whiten(const Cmaes *cmaes, const CmaesView *view, const double *y, double gain, double *out)
{
    const int n = cmaes->n;
    if (cmaes->separable) {
        for (int k = 0; k < n; k++) out[k] += gain / view->lengths[k] * y[k];
        return;
    }
    for (int k = 0; k < n; k++) {
        const double *axis = view->axes + k * n;
        double along = 0.0;
        for (int j = 0; j < n; j++) along += axis[j] * y[j];
        along *= gain / view->lengths[k];
        for (int j = 0; j < n; j++) out[j] += along * axis[j];
    }
}

// ---- update ---------------------------------------------------------------------------------------------------------

// Adds weight v v' to the lower triangle.
static void covariance_add_square(int n, double *C, double weight, const double *v)
{
    for (int i = 0; i < n; i++) {
        const double scaled = weight * v[i];
        for (int j = 0; j <= i; j++) C[i * n + j] += scaled * v[j];
    }
}

static void covariance_add_diagonal(int n, double *C, double weight, const double *v)
{
    for (int i = 0; i < n; i++) C[i] += weight * v[i] * v[i];
}

static void covariance_keep(const Cmaes *cmaes, const CmaesView *view, double keep)
{
    const int n = cmaes->n;
    for (int i = 0; cmaes->separable && i < n; i++) view->C[i] *= keep;
    for (int i = 0; !cmaes->separable && i < n; i++) {
        for (int j = 0; j <= i; j++) view->C[i * n + j] *= keep;
    }
}

static void covariance_mirror(int n, double *C)
{
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < i; j++) C[j * n + i] = C[i * n + j];
    }
}

// Equations 46 and 47. A negative weight is scaled by the member's own length, so that C stays positive definite.
void cmaes_move_C(const Cmaes *cmaes, const CmaesView *view, const CmaesPopulation *population, bool h_sigma)
{
    const int n = cmaes->n;
    const CmaesWeights *weights = &cmaes->weights;
    const double stalled = h_sigma ? 0.0 : weights->c_c * (2.0 - weights->c_c);
    const double keep = 1.0 + weights->c_1 * stalled - weights->c_1 - weights->c_mu * weights->sum;
    const int64_t used = cmaes->settings[CMAES_WEIGHTS] == CMAES_WEIGHTS_ACTIVE ? weights->lambda : weights->mu;
    void (*const add)(int n, double *C, double weight, const double *v) =
        cmaes->separable ? covariance_add_diagonal : covariance_add_square;
    covariance_keep(cmaes, view, keep);
    add(n, view->C, weights->c_1, view->p_c);
    for (int64_t i = 0; i < used; i++) {
        const int64_t member = cmaes->order[i];
        double weight = weights->weight[i];
        if (weight < 0.0) weight *= n / population->square[member];
        add(n, view->C, weights->c_mu * weight, population->y + member * n);
    }
    if (!cmaes->separable) covariance_mirror(n, view->C);
}

// ---- decomposition --------------------------------------------------------------------------------------------------

// C = B D^2 B'. Where rounding left no positive eigenvalue, the least length is such that the condition number tells.
void cmaes_decompose(const Cmaes *cmaes, const CmaesView *view)
{
    const int n = cmaes->n;
    if (cmaes->separable) {
        memcpy(view->lengths, view->C, (size_t)n * sizeof *view->C);
    } else if (!symmetric_eigen(n, view->C, view->lengths, view->axes, cmaes->vector)) {
        view->lengths[0] = 0.0; // not finite: it ends at the condition number
        return;
    }
    double greatest = view->lengths[n - 1];
    for (int k = 0; cmaes->separable && k < n; k++)
        greatest = view->lengths[k] > greatest ? view->lengths[k] : greatest;
    const double least = greatest * 1e-30;
    for (int k = 0; k < n; k++) view->lengths[k] = sqrt(view->lengths[k] > least ? view->lengths[k] : least);
}

// So rarely that it costs no more than the rest: by the count of evaluations, never by the clock.
void cmaes_decompose_if_due(const Cmaes *cmaes, const CmaesView *view)
{
    CmaesRun *run = view->run;
    const double rate = (cmaes->weights.c_1 + cmaes->weights.c_mu) * cmaes->n * 10.0;
    const double since = (double)(run->evaluations - run->eigen_evaluations);
    if (!cmaes->separable && since < (double)run->lambda / rate) return;
    run->eigen_evaluations = run->evaluations;
    cmaes_decompose(cmaes, view);
}
