// Costs become outputs of a process: the better half is standardised, so that its shape stays; the worse half becomes
// normal quantiles of its ranks, so that no bad trial outweighs the good ones.
// Source: X. Song et al., "The Vizier Gaussian Process Bandit Algorithm", arXiv:2408.11527, 2024, section 3.3
// (half-rank warping).
#include "bayesian.h"

#include <math.h>
#include <stdlib.h>

static int warp_ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

// The output of the costs [first, end), which are equal.
static double warp_output(const BayesianWarp *warp, int64_t first, int64_t end)
{
    const double cost = warp->cost[first];
    const double rank = 0.5 * (double)(first + end) / (double)warp->count;
    if (cost <= warp->middle) return (cost - warp->middle) / warp->scale;
    return rank > 0.5 ? normal_tail_inverse(1.0 - rank) : 0.0;
}

void bayesian_warp_prepare(BayesianWarp *warp, const double *cost, int64_t count)
{
    double squares = 0.0, widest = 0.0; // costs near the greatest numbers have squares beyond them
    int64_t half = 0;
    warp->count = count;
    for (int64_t i = 0; i < count; i++) warp->cost[i] = cost[i];
    qsort(warp->cost, (size_t)count, sizeof *warp->cost, warp_ascending);
    warp->middle = warp->cost[count / 2];
    if (count > 0) widest = 0.5 * warp->middle - 0.5 * warp->cost[0];
    for (; half < count && warp->cost[half] < warp->middle; half++) {
        const double away = (0.5 * warp->middle - 0.5 * warp->cost[half]) / widest;
        squares += away * away;
    }
    warp->scale = half > 0 ? 2.0 * widest * sqrt(squares / (double)half) : 1.0;
    if (!(warp->scale > 0.0) || !isfinite(warp->scale)) warp->scale = 1.0;
    for (int64_t i = 0, end; i < count; i = end) {
        end = i + 1;
        while (end < count && warp->cost[end] == warp->cost[i]) end++;
        const double output = warp_output(warp, i, end);
        for (int64_t k = i; k < end; k++) warp->warped[k] = output;
    }
}

// y of x on the polygon through (from[i], to[i]), with the slopes of its ends beyond them.
static double warp_polygon(const double *from, const double *to, int64_t count, double end_slope, double x,
                           double *slope)
{
    int64_t low = 0, high = count - 1;
    *slope = end_slope;
    if (x <= from[low]) return to[low] + end_slope * (x - from[low]);
    if (x >= from[high]) return to[high];
    while (high - low > 1) {
        const int64_t middle = (low + high) / 2;
        if (from[middle] <= x)
            low = middle;
        else
            high = middle;
    }
    *slope = (to[high] - to[low]) / (from[high] - from[low]);
    return to[low] + *slope * (x - from[low]);
}

double bayesian_warp(const BayesianWarp *warp, double cost, double *slope)
{
    const double output = warp_polygon(warp->cost, warp->warped, warp->count, 1.0 / warp->scale, cost, slope);
    if (cost <= warp->middle) *slope = 1.0 / warp->scale;
    return output;
}

double bayesian_unwarp(const BayesianWarp *warp, double output)
{
    double slope;
    return warp_polygon(warp->warped, warp->cost, warp->count, warp->scale, output, &slope);
}
