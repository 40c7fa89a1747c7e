// How many trials a CMA-ES runs at most: generations of each run times their trials. Tolerances may end a run after any
// generation.
#include "cmaes.h"

#include <math.h>

static double bounds_least(double a, double b) { return a < b ? a : b; }

// Trials of a generation, at most: where members are run again, each may be up to uncertainty_max times.
static double bounds_generation(const Cmaes *cmaes, int64_t lambda)
{
    const double each = cmaes->uncertain ? cmaes->settings[CMAES_UNCERTAINTY_MAX] : 1.0;
    return (double)(lambda + cmaes_again(cmaes, lambda)) * each + cmaes->lagrangian;
}

// Of one run of the strategy that had no limit of trials.
static SearchBudget bounds_run(const Cmaes *cmaes, int64_t lambda)
{
    const double generations = ceil(cmaes_most_generations(cmaes, lambda));
    const double each = cmaes->surrogate ? (double)surrogate_most_rounds(cmaes, lambda)
                        : cmaes->race    ? race_rungs(cmaes->spec)
                                         : 1.0;
    return (SearchBudget){.trials = generations * bounds_generation(cmaes, lambda), .rounds = generations * each};
}

// Of all restarts: the large populations, and the small ones of BIPOP. Together the small runs use less than the large
// ones before the last small run begins, and that one uses half of the last large run. Their generations are at least
// as large as the first one.
static SearchBudget bounds_restarts(const Cmaes *cmaes)
{
    SearchBudget sum = {.trials = 0};
    const int kind = (int)cmaes->settings[CMAES_RESTARTS];
    const int restarts = kind == CMAES_RESTARTS_NONE ? 0 : (int)cmaes->settings[CMAES_RESTARTS_MAX];
    for (int i = 0; i <= restarts; i++) {
        const SearchBudget run = bounds_run(cmaes, cmaes->lambda_start << i);
        const double small = kind == CMAES_RESTARTS_BIPOP && i > 0 ? run.trials : 0.0, last = i == restarts ? 1.5 : 1.0;
        sum.trials += run.trials + last * small;
        sum.rounds += run.rounds + last * small * (cmaes->race ? race_rungs(cmaes->spec) : 1.0) /
                                       bounds_generation(cmaes, cmaes->lambda_start);
    }
    return sum;
}

void cmaes_bounds(const Search *search, SearchBounds *bounds)
{
    const Cmaes *cmaes = search->scratch;
    const double limit = cmaes->settings[CMAES_STOP_TRIALS], searches = (double)cmaes->side.searches;
    const bool restarts = cmaes->settings[CMAES_RESTARTS] != CMAES_RESTARTS_NONE;
    SearchBudget most = bounds_restarts(cmaes);
    if (limit > 0.0) { // whole generations
        const double lambda = (double)cmaes->lambda_start, last = bounds_generation(cmaes, cmaes->lambda_max);
        const bool equal = !restarts && !cmaes->uncertain && !cmaes->lagrangian && !cmaes->surrogate;
        most.trials = bounds_least(most.trials, equal ? ceil(limit / lambda) * lambda : limit - 1.0 + last);
        const double rounds = cmaes->surrogate ? limit - 1.0 + last : ceil(limit / (restarts ? 4.0 : lambda));
        most.rounds = bounds_least(most.rounds, rounds * (cmaes->race ? race_rungs(cmaes->spec) : 1.0));
    }
    *bounds = (SearchBounds){.least = {(double)search->round_trials, searches},
                             .most = {searches * most.trials, searches * most.rounds},
                             .open = restarts && !(limit > 0.0),
                             .early = "tolerances"};
}
