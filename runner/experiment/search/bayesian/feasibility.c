// What the processes of feasibility are given. A point is feasible where they are below 0.
//
// Success is the latent of a classifier by least squares: -1 where a trial succeeded, up to 1 where it failed. A trial
// of which fewer replicates failed, or that survived longer, is nearer to success. The latent says so by ranks; so a
// search whose first trials all fail still knows where to go. Constraints are their values, with large ones compressed
// as SCBO does (section 3).
#include "bayesian.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double feasibility_span = 0.8; // of the latents of failures, below 1
static const double feasibility_lost = 1e6; // a replicate that failed weighs more than any survived time

static int feasibility_ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

// How many of value[count], which ascend, are below x.
static int64_t feasibility_below(const double *value, int64_t count, double x)
{
    int64_t low = 0;
    while (low < count) {
        const int64_t middle = low + (count - low) / 2;
        if (value[middle] < x)
            low = middle + 1;
        else
            count = middle;
    }
    return low;
}

// Fewer lost replicates first, then longer survived time.
static double feasibility_nearness(const BayesianRow *row, double longest)
{
    const double survived = longest > 0.0 ? row->told[BAYESIAN_SURVIVED] / longest : 0.0;
    return survived - feasibility_lost * row->told[BAYESIAN_LOST];
}

void bayesian_success(Bayesian *bayesian, const BayesianView *view, const int64_t *rows, int64_t count, double *out)
{
    double *near = bayesian->number + 2 * bayesian->capacity, longest = 0.0;
    int64_t failures = 0;
    for (int64_t i = 0; i < count; i++) {
        const BayesianRow row = bayesian_row(bayesian, view, rows[i]);
        longest = fabs(row.told[BAYESIAN_SURVIVED]) > longest ? fabs(row.told[BAYESIAN_SURVIVED]) : longest;
    }
    for (int64_t i = 0; i < count; i++) {
        const BayesianRow row = bayesian_row(bayesian, view, rows[i]);
        if (bayesian_failed(&row)) near[failures++] = feasibility_nearness(&row, longest);
    }
    qsort(near, (size_t)failures, sizeof *near, feasibility_ascending);
    for (int64_t i = 0; i < count; i++) {
        const BayesianRow row = bayesian_row(bayesian, view, rows[i]);
        const double rank = (double)feasibility_below(near, failures, feasibility_nearness(&row, longest));
        out[i] = bayesian_failed(&row) ? 1.0 - feasibility_span * rank / (double)failures : -1.0;
    }
}

double bayesian_constraint(double value, double scale)
{
    const double size = portable_log(1.0 + fabs(value) / scale);
    return value < 0.0 ? -size : size;
}
