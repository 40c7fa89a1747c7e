// Integers in a CMA-ES: their coordinates are rounded to the nearest integer. When the distribution gets narrower than
// the distance of integers, all members would have the same integer and the search could not leave it. So the marginal
// probability of another integer is kept above alpha = 1/(n lambda), by moving the mean and by a diagonal matrix A that
// scales the steps of members, m + sigma A y, but not what is learned from them.
// Source: R. Hamano, S. Saito, M. Nomura & S. Shirakawa, CMA-ES with margin: lower-bounding marginal probability for
// mixed-integer black-box optimization, GECCO 2022, section 4.3 (equations 12 to 25).
#include "cmaes.h"

#include <math.h>

// The coordinate between the integers k and k + 1.
static double integer_threshold(const Values *values, double k)
{
    const Values exact = {
        .form = values->form, .low = values->low, .high = values->high, .log_scale = values->log_scale};
    return cmaes_coordinate(&exact, k + 0.5);
}

// Beyond the last threshold: the probability to come back across it is alpha at least.
static void integer_at_end(double threshold, double deviation, double alpha, double *mean)
{
    const double away = *mean - threshold, farthest = deviation * normal_tail_inverse(alpha);
    if (fabs(away) > farthest) *mean = threshold + (away > 0.0 ? farthest : -farthest);
}

// Between two thresholds: the probabilities below and above are raised to at least alpha/2, the three are scaled to sum
// up to 1, and mean and deviation are set to give them.
static void integer_inside(double low, double high, double alpha, double *mean, double *deviation)
{
    const double floor = alpha / 2.0, below = normal_tail((*mean - low) / *deviation);
    const double above = normal_tail((high - *mean) / *deviation), middle = 1.0 - below - above;
    const double raised_below = below > floor ? below : floor, raised_above = above > floor ? above : floor;
    if (raised_below == below && raised_above == above) return;
    const double excess = 1.0 - raised_below - raised_above - middle;
    const double share = excess / (raised_below + raised_above + middle - 3.0 * floor);
    const double z_low = normal_tail_inverse(raised_below + share * (raised_below - floor));
    const double z_high = normal_tail_inverse(raised_above + share * (raised_above - floor));
    *mean = (low * z_high + high * z_low) / (z_low + z_high);
    *deviation = (high - low) / (z_low + z_high);
}

static void integer_keep_one(const Cmaes *cmaes, const CmaesView *view, int i)
{
    const Values *values = &cmaes->spec->axes[i].values;
    const double alpha = 1.0 / ((double)cmaes->n * (double)view->run->lambda);
    const double unscaled = view->run->sigma * sqrt(cmaes_variance(cmaes, view, i));
    const double integer = cmaes_value(values, view->mean[i]);
    double deviation = unscaled * view->scaling[i];
    if (!(deviation > 0.0) || !isfinite(deviation)) return; // a stop condition ends the run
    if (integer <= values->low) {
        integer_at_end(integer_threshold(values, values->low), deviation, alpha, &view->mean[i]);
    } else if (integer >= values->high) {
        integer_at_end(integer_threshold(values, values->high - 1.0), deviation, alpha, &view->mean[i]);
    } else {
        const double low = integer_threshold(values, integer - 1.0), high = integer_threshold(values, integer);
        integer_inside(low, high, alpha, &view->mean[i], &deviation);
        view->scaling[i] = deviation / unscaled;
    }
}

void cmaes_keep_margin(const Cmaes *cmaes, const CmaesView *view)
{
    for (int i = 0; cmaes->has_integers && i < cmaes->n; i++) {
        if (cmaes->spec->axes[i].values.integer) integer_keep_one(cmaes, view, i);
    }
}
