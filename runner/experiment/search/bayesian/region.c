// The trust region of a search (TuRBO, section 3.2 and its supplement): a box around the best point, longer along axes
// with longer lengths. It doubles after rounds that improved, one after the other, and halves after rounds that did
// not. Where it gets too short it begins anew around the best point, with its first length. Other than in TuRBO nothing
// is forgotten then, and no new start is drawn.
#include "bayesian.h"

#include <math.h>

static const double region_length = 0.8, region_longest = 1.6, region_shortest = 0.0078125; // 2^-7
static const double region_length_most = 0.6931471805599453;                                // ln 2
static const double region_narrow = -1.3862943611198906;                                    // -ln 4
enum { REGION_SUCCESSES = 3, REGION_FAILURES_LEAST = 4 };

// Rounds without improvement after which the region shrinks.
static int64_t region_patience(const Bayesian *bayesian)
{
    const int q = bayesian->batch, most = bayesian->n > REGION_FAILURES_LEAST ? bayesian->n : REGION_FAILURES_LEAST;
    return (most + q - 1) / q;
}

static void region_begin(BayesianRun *run)
{
    run->length = region_length;
    run->successes = run->failures = 0;
}

void bayesian_region_update(const Bayesian *bayesian, const BayesianView *view, int64_t first)
{
    BayesianRun *run = view->run;
    if (run->round == 1) {
        region_begin(run);
        return;
    }
    const bool improved = bayesian_centre(bayesian, view) >= first;
    run->successes = improved ? run->successes + 1 : 0;
    run->failures = improved ? 0 : run->failures + 1;
    if (run->successes >= REGION_SUCCESSES) {
        run->length = run->length * 2.0 < region_longest ? run->length * 2.0 : region_longest;
        run->successes = 0;
    }
    if (run->failures >= region_patience(bayesian)) {
        run->length *= 0.5;
        run->failures = 0;
    }
    if (run->length >= region_shortest) return;
    run->restarts++;
    region_begin(run);
}

// The logarithm of an axis' shortest length among the processes that say something. Longer than the ranges, lengths do
// not differ in what they say.
static double region_log_length(const Bayesian *bayesian, const BayesianView *view, int a)
{
    double least = region_length_most;
    for (int k = 0; k < bayesian->outputs; k++) {
        const double length = view->theta[k * (bayesian->n + 2) + a];
        if (!bayesian->model[k].constant && length < least) least = length;
    }
    return least;
}

// Sides differ by what the processes believe, but none is so narrow that no trial can show a wrong belief: a length
// that was taken for too short would keep all further trials in a slice of the range.
void bayesian_region_set(Bayesian *bayesian, const BayesianView *view)
{
    const BayesianRegion *region = &bayesian->region;
    const int n = bayesian->n;
    double mean = 0.0;
    for (int a = 0; a < n; a++) mean += region_log_length(bayesian, view, a) / n;
    for (int a = 0; a < n; a++) {
        const double ratio = region_log_length(bayesian, view, a) - mean;
        const double half = 0.5 * view->run->length * portable_exp(ratio > region_narrow ? ratio : region_narrow);
        region->low[a] = search_inside(region->centre[a] - half);
        region->high[a] = search_inside(region->centre[a] + half);
        if (bayesian->word[a]) region->low[a] = 0.0, region->high[a] = 1.0;
    }
}
