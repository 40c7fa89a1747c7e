// Restarts of a CMA-ES. ipop: the population doubles with every restart (A. Auger & N. Hansen, A restart CMA evolution
// strategy with increasing population size, CEC 2005). bipop: between those, runs with small populations and small
// steps, as long as they have used less than the large ones (N. Hansen, Benchmarking a BI-population CMA-ES on the
// BBOB-2009 function testbed, GECCO 2009, section 2).
#include "cmaes.h"

#include <math.h>
#include <string.h>

int64_t cmaes_greatest_population(const double *settings, int64_t lambda)
{
    if (settings[CMAES_RESTARTS] == CMAES_RESTARTS_NONE) return lambda;
    for (int i = 0; i < (int)settings[CMAES_RESTARTS_MAX] && lambda <= CMAES_POPULATION_MAX; i++) lambda *= 2;
    return lambda;
}

void cmaes_begin(const Cmaes *cmaes, const CmaesView *view, int64_t search, int64_t lambda, double sigma)
{
    const int n = cmaes->n;
    CmaesRun *run = view->run;
    run->first_round = run->round;
    run->first_evaluations = run->eigen_evaluations = run->evaluations;
    run->lambda = lambda;
    run->failed_generations = 0;
    run->history_count = run->recent_count = 0;
    run->history_stride = 1;
    run->sigma = run->sigma_start = sigma;
    run->generation_best = run->generation_median = run->generation_worst = (double)NAN;
    memset(view->p_c, 0, (size_t)n * sizeof *view->p_c);
    memset(view->p_sigma, 0, (size_t)n * sizeof *view->p_sigma);
    memset(view->penalty, 0, (cmaes->penalized ? (size_t)n : 0) * sizeof *view->penalty);
    run->span_count = 0;
    run->evaluations_each = 1.0;
    run->noise = 0.0;
    run->mean_fitness = (double)NAN;
    if (cmaes->surrogate) surrogate_begin(cmaes, view);
    if (cmaes->race) cmaes_race_next(cmaes, view);
    cmaes_start(cmaes, view, search);
}

static void cmaes_begin_large(const Cmaes *cmaes, const CmaesView *view, int64_t search)
{
    CmaesRun *run = view->run;
    run->small = 0;
    run->large_restarts++;
    run->last_large_evaluations = 0; // only small runs read it, and this run sets it before them
    cmaes_begin(cmaes, view, search, cmaes->lambda_start << run->large_restarts,
                cmaes->settings[CMAES_SIGMA] * CMAES_WIDTH);
}

// lambda_0 (lambda_large/2 lambda_0)^(u^2) and sigma_0 10^(-2 v), u and v uniform.
static void cmaes_begin_small(const Cmaes *cmaes, const CmaesView *view, int64_t search)
{
    CmaesRun *run = view->run;
    const double u = cmaes_draw_uniform(cmaes, search, run->round, cmaes->n);
    const double v = cmaes_draw_uniform(cmaes, search, run->round, cmaes->n + 1);
    const double half = (double)((int64_t)1 << run->large_restarts) / 2.0;
    const double lambda = floor((double)cmaes->lambda_start * portable_pow(half, u * u));
    const double sigma = cmaes->settings[CMAES_SIGMA] * CMAES_WIDTH * portable_pow(10.0, -2.0 * v);
    run->small = 1;
    cmaes_begin(cmaes, view, search, (int64_t)lambda, sigma);
}

// The first run belongs to neither account.
static void cmaes_account(CmaesRun *run)
{
    const int64_t used = run->evaluations - run->first_evaluations;
    if (run->restart == 0) return;
    if (run->small) {
        run->small_evaluations += used;
    } else {
        run->large_evaluations += used;
        run->last_large_evaluations = used;
    }
}

// The run goes on, with the state of one that never ended.
static void cmaes_take_back(CmaesRun *run)
{
    const int64_t used = run->evaluations - run->first_evaluations;
    run->stop = CMAES_GOES_ON;
    if (run->restart > 0 && run->small) run->small_evaluations -= used;
    if (run->restart > 0 && !run->small) {
        run->large_evaluations -= used;
        run->last_large_evaluations = 0;
    }
}

void cmaes_restart(const Cmaes *cmaes, const CmaesView *view, int64_t search, CmaesStop why)
{
    CmaesRun *run = view->run;
    const int kind = (int)cmaes->settings[CMAES_RESTARTS];
    const bool last = run->large_restarts >= (int64_t)cmaes->settings[CMAES_RESTARTS_MAX];
    cmaes_account(run);
    const bool small = kind == CMAES_RESTARTS_BIPOP && run->small_evaluations < run->large_evaluations;
    if (kind == CMAES_RESTARTS_NONE || why == CMAES_AT_TARGET || why == CMAES_AT_TRIALS || (last && !small)) {
        run->stop = why;
        return;
    }
    run->restart++;
    (small ? cmaes_begin_small : cmaes_begin_large)(cmaes, view, search);
}

CmaesStop cmaes_reconsider(const Cmaes *cmaes, const CmaesView *view, int64_t search)
{
    CmaesRun *run = view->run;
    const CmaesStop why = cmaes_stop(cmaes, view);
    if (run->stop != CMAES_GOES_ON) cmaes_take_back(run);
    if (why != CMAES_GOES_ON) cmaes_restart(cmaes, view, search, why);
    return why;
}
