// Noise in a CMA-ES: where the fitness depends on chance, a fraction of each generation is evaluated twice. If the
// ranks change more than a threshold, every member of the next generations is evaluated more often, up to a limit, and
// beyond it the steps get longer. If they change less, members are evaluated less often. A member's fitness is the mean
// of its evaluations; each evaluation is a trial. Source: N. Hansen, A. S. P. Niederberger, L. Guzzella & P.
// Koumoutsakos, A method for handling uncertainty in evolutionary optimization with an application to feedback control
// of combustion, IEEE Trans. Evol. Comput. 13(1), 2009, section III (UH-CMA-ES, algorithms 2 and 3; theta = 0.2,
// r_lambda = 0.1, alpha_t = 1.5, c_s = 1).
#include "cmaes.h"

#include <math.h>

static const double uncertainty_theta = 0.2, uncertainty_fraction = 0.1, uncertainty_more = 1.5;

int64_t cmaes_again(const Cmaes *cmaes, int64_t lambda)
{
    const int64_t again = (int64_t)(uncertainty_fraction * (double)lambda);
    if (!cmaes->uncertain) return 0;
    return again > 2 ? again : 2;
}

int64_t cmaes_evaluations_each(const Cmaes *cmaes, const CmaesRun *run)
{
    return cmaes->uncertain ? (int64_t)floor(run->evaluations_each + 0.5) : 1;
}

// ---- the measure ----------------------------------------------------------------------------------------------------

// How many of the distances |r - rank|, r = 1 ... count, are at most `distance`.
static int64_t uncertainty_within(int64_t rank, int64_t count, int64_t distance)
{
    const int64_t below = distance < rank - 1 ? distance : rank - 1;
    const int64_t above = distance < count - rank ? distance : count - rank;
    return 1 + below + above;
}

// The theta/2 quantile of these distances: rank changes up to it are not noise.
static double uncertainty_limit(int64_t rank, int64_t lambda)
{
    const int64_t count = 2 * lambda - 1, wanted = (int64_t)ceil(uncertainty_theta / 2.0 * (double)count);
    int64_t distance = 0;
    while (uncertainty_within(rank, count, distance) < wanted) distance++;
    return (double)distance;
}

// 2 |change| less the limits at both ranks. A member's two results are not ranked against each other.
static double uncertainty_of(int64_t rank, int64_t again, int64_t lambda)
{
    const int64_t change = again - rank - (again > rank ? 1 : -1);
    return 2.0 * (double)(change < 0 ? -change : change) - uncertainty_limit(again - (again > rank), lambda) -
           uncertainty_limit(rank - (rank > again), lambda);
}

// The members that were evaluated twice, in order: the first of those that were not left out.
static int64_t uncertainty_next(const CmaesPopulation *population, int64_t member)
{
    while (population->drawn.left_out[member]) member++;
    return member;
}

void cmaes_measure_noise(Cmaes *cmaes, const CmaesView *view, const CmaesPopulation *population)
{
    const int64_t lambda = view->run->lambda;
    int64_t *order = cmaes->both_order, *rank = cmaes->both_order + 2 * lambda;
    double *both = cmaes->both, sum = 0.0;
    for (int64_t k = 0; k < lambda; k++) both[k] = both[lambda + k] = cmaes->fitness[k];
    for (int64_t i = 0, k = 0; i < population->again; i++, k++) {
        k = uncertainty_next(population, k);
        both[lambda + k] = cmaes->again[k];
    }
    cmaes_sort(cmaes, both, 2 * lambda, order);
    for (int64_t i = 0; i < 2 * lambda; i++) rank[order[i]] = i + 1;
    for (int64_t i = 0, k = 0; i < population->again; i++, k++) {
        k = uncertainty_next(population, k);
        sum += uncertainty_of(rank[k], rank[lambda + k], lambda);
        cmaes->fitness[k] = (both[k] + both[lambda + k]) / 2.0;
    }
    view->run->noise = population->again > 0 ? sum / (double)population->again : 0.0;
}

void cmaes_treat_noise(const Cmaes *cmaes, CmaesRun *run)
{
    const double most = cmaes->settings[CMAES_UNCERTAINTY_MAX];
    const double more = run->evaluations_each * uncertainty_more, fewer = run->evaluations_each / uncertainty_more;
    if (run->noise > 0.0 && run->evaluations_each >= most)
        run->sigma *= 1.0 + 2.0 / (cmaes->n + 10.0);
    else if (run->noise > 0.0)
        run->evaluations_each = more < most ? more : most;
    else if (run->noise < 0.0)
        run->evaluations_each = fewer > 1.0 ? fewer : 1.0;
}
