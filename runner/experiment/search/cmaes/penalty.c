// Bounds by a penalty: members beyond a bound are evaluated at the nearest point within, and ranked by
//     f(nearest) + 1/n sum_i gamma_i (nearest_i - x_i)^2/xi_i,   xi_i = exp(0.9 (ln C_ii - 1/n sum_j ln C_jj)).
// The weights gamma come from how much the fitness varies within generations, and grow for coordinates whose mean stays
// too far outside.
// Source: N. Hansen, A. S. P. Niederberger, L. Guzzella & P. Koumoutsakos, A method for handling uncertainty in
// evolutionary optimization with an application to feedback control of combustion, IEEE Trans. Evol. Comput. 13(1),
// 2009, section IV.B.
#include "cmaes.h"

#include <math.h>

// How far beyond its bounds a coordinate is.
static double penalty_distance(const Cmaes *cmaes, int i, double x)
{
    if (cmaes->spec->axes[i].values.integer) return 0.0; // an integer beyond its range is the last one: no penalty
    return x < 0.0 ? -x : x > CMAES_WIDTH ? x - CMAES_WIDTH : 0.0;
}

// Interquartile range of the generation's numbers.
static void penalty_note_span(Cmaes *cmaes, const CmaesView *view)
{
    int64_t numbers = 0;
    for (int64_t k = 0; k < view->run->lambda; k++) numbers += !isnan(cmaes->fitness[k]);
    if (numbers < 4) return;
    cmaes_sort(cmaes, cmaes->fitness, view->run->lambda, cmaes->order);
    const double span = cmaes->fitness[cmaes->order[3 * numbers / 4]] - cmaes->fitness[cmaes->order[numbers / 4]];
    if (isfinite(span)) view->spans[view->run->span_count++ % cmaes->n_spans] = span;
}

// The median of the last generations'; 0: there are none, or all are.
static double penalty_span(Cmaes *cmaes, const CmaesView *view)
{
    const int64_t count = view->run->span_count < cmaes->n_spans ? view->run->span_count : cmaes->n_spans;
    if (count == 0) return 0.0;
    cmaes_sort(cmaes, view->spans, count, cmaes->order);
    return view->spans[cmaes->order[count / 2]];
}

static double penalty_mean_variance(const Cmaes *cmaes, const CmaesView *view)
{
    double sum = 0.0;
    for (int i = 0; i < cmaes->n; i++) sum += cmaes_variance(cmaes, view, i);
    return sum / cmaes->n;
}

// The first time that the mean is outside: all weights are such that one step beyond costs what the fitness varies by.
static void penalty_set(Cmaes *cmaes, const CmaesView *view)
{
    const double sigma = view->run->sigma, span = penalty_span(cmaes, view);
    bool outside = false;
    for (int i = 0; i < cmaes->n; i++) outside = outside || penalty_distance(cmaes, i, view->mean[i]) > 0.0;
    if (!outside || view->penalty[0] > 0.0 || !(span > 0.0)) return;
    const double weight = 2.0 * span / (sigma * sigma * penalty_mean_variance(cmaes, view));
    for (int i = 0; i < cmaes->n; i++) view->penalty[i] = weight;
}

static void penalty_raise(const Cmaes *cmaes, const CmaesView *view)
{
    const double n = cmaes->n, mu_eff = cmaes->weights.mu_eff;
    const double wide = sqrt(n) / mu_eff > 1.0 ? sqrt(n) / mu_eff : 1.0, often = mu_eff / (10.0 * n);
    const double factor = portable_pow(1.1, often > 1.0 ? often : 1.0);
    for (int i = 0; i < cmaes->n; i++) {
        const double step = view->run->sigma * sqrt(cmaes_variance(cmaes, view, i));
        if (penalty_distance(cmaes, i, view->mean[i]) > 3.0 * step * wide) view->penalty[i] *= factor;
    }
}

// gamma_i/(n xi_i) into cmaes->vector[n].
static void penalty_fill(const Cmaes *cmaes, const CmaesView *view)
{
    const int n = cmaes->n;
    double mean = 0.0;
    for (int i = 0; i < n; i++) mean += portable_log(cmaes_variance(cmaes, view, i));
    mean /= n;
    for (int i = 0; i < n; i++) {
        const double xi = portable_exp(0.9 * (portable_log(cmaes_variance(cmaes, view, i)) - mean));
        cmaes->vector[i] = view->penalty[i] / (n * xi);
    }
}

void cmaes_penalty_adapt(Cmaes *cmaes, const CmaesView *view)
{
    penalty_note_span(cmaes, view);
    penalty_set(cmaes, view);
    penalty_raise(cmaes, view);
    penalty_fill(cmaes, view);
}

double cmaes_penalty(const Cmaes *cmaes, const CmaesView *view, const double *y)
{
    double sum = 0.0;
    for (int i = 0; i < cmaes->n; i++) {
        const double distance = penalty_distance(cmaes, i, view->mean[i] + view->run->sigma * y[i]);
        sum += cmaes->vector[i] * distance * distance;
    }
    return sum;
}
