// One generation of the CMA-ES, from results to the next distribution: equations 41 to 47 of the tutorial, with active
// update (negative weights). Sums run in the order of ranks and of coordinates, so they are the same bits everywhere.
#include "cmaes.h"

#include <math.h>
#include <string.h>

// ---- paths and step size --------------------------------------------------------------------------------------------

typedef struct CmaesParents {
    const Cmaes *cmaes;
    const CmaesPopulation *population;
    double *y_w;
} CmaesParents;

// Coordinates [first, end) of y_w: threads share coordinates, not parents, so each is one sum in the order of ranks.
static void cmaes_add_parents(void *context, int thread, int64_t first, int64_t end)
{
    const CmaesParents *parents = context;
    const Cmaes *cmaes = parents->cmaes;
    double *y_w = parents->y_w;
    (void)thread;
    for (int64_t i = 0; i < cmaes->weights.mu; i++) {
        const double *y = parents->population->y + cmaes->order[i] * cmaes->n;
        for (int64_t j = first; j < end; j++) y_w[j] += cmaes->weights.weight[i] * y[j];
    }
}

// y_w = sum of w_i y_i over the parents (equation 41), and the new mean (42).
static void cmaes_move_mean(const Cmaes *cmaes, const CmaesView *view, const CmaesPopulation *population, double *y_w)
{
    const int n = cmaes->n;
    CmaesParents parents = {cmaes, population, y_w};
    memset(y_w, 0, (size_t)n * sizeof *y_w);
    thread_team_for(cmaes_team(cmaes, cmaes->weights.lambda), n, 4, cmaes_add_parents, &parents);
    for (int j = 0; j < n; j++) view->mean[j] += view->run->sigma * y_w[j];
}

// p_sigma (equation 43), with C^-1/2 y_w. Gives its length.
static double cmaes_move_p_sigma(const Cmaes *cmaes, const CmaesView *view, const double *y_w)
{
    const int n = cmaes->n;
    const double c = cmaes->weights.c_sigma, gain = sqrt(c * (2.0 - c) * cmaes->weights.mu_eff);
    double square = 0.0;
    for (int j = 0; j < n; j++) view->p_sigma[j] *= 1.0 - c;
    cmaes_whiten(cmaes, view, y_w, gain, view->p_sigma);
    for (int j = 0; j < n; j++) square += view->p_sigma[j] * view->p_sigma[j];
    return sqrt(square);
}

// h_sigma: 0 stalls p_c where p_sigma is long, so that the axes do not grow too fast after a change of scene.
static bool cmaes_h_sigma(const Cmaes *cmaes, const CmaesRun *run, double length)
{
    const double generations = (double)(run->round - run->first_round + 1);
    const double left = portable_pow(1.0 - cmaes->weights.c_sigma, 2.0 * generations);
    return length / sqrt(1.0 - left) < (1.4 + 2.0 / (cmaes->n + 1.0)) * cmaes->weights.chi_n;
}

// Equation 45.
static void cmaes_move_p_c(const Cmaes *cmaes, const CmaesView *view, const double *y_w, bool h_sigma)
{
    const double c = cmaes->weights.c_c, gain = h_sigma ? sqrt(c * (2.0 - c) * cmaes->weights.mu_eff) : 0.0;
    for (int j = 0; j < cmaes->n; j++) view->p_c[j] = (1.0 - c) * view->p_c[j] + gain * y_w[j];
}

// Equation 44; a factor of e in one generation is the most.
static void cmaes_move_sigma(const Cmaes *cmaes, CmaesRun *run, double length)
{
    const double change = cmaes->weights.c_sigma / cmaes->weights.d_sigma * (length / cmaes->weights.chi_n - 1.0);
    run->sigma *= portable_exp(change < 1.0 ? change : 1.0);
}

// ---- history --------------------------------------------------------------------------------------------------------

// When the history is full, every second entry is dropped, and then only every second generation is noted.
static void cmaes_note_history(const CmaesView *view)
{
    CmaesRun *run = view->run;
    if ((run->round - run->first_round) % run->history_stride != 0) return;
    if (run->history_count == CMAES_HISTORY) {
        for (int i = 0; i < CMAES_HISTORY / 2; i++) {
            view->history_best[i] = view->history_best[2 * i];
            view->history_median[i] = view->history_median[2 * i];
        }
        run->history_count = CMAES_HISTORY / 2;
        run->history_stride *= 2;
        if ((run->round - run->first_round) % run->history_stride != 0) return;
    }
    view->history_best[run->history_count] = run->generation_best;
    view->history_median[run->history_count++] = run->generation_median;
}

// The key of the member of a rank; infinite if it violates constraints.
static double cmaes_key_at(const Cmaes *cmaes, int64_t rank)
{
    const int64_t member = cmaes->order[rank];
    const bool violates = cmaes->violation != NULL && !cmaes->lagrangian && cmaes->violation[member] > 0.0;
    return violates && !isnan(cmaes->key[member]) ? (double)INFINITY : cmaes->key[member];
}

// The best fitness among members that meet the constraints; NaN: there is none.
static double cmaes_best_fitness(const Cmaes *cmaes, int64_t lambda)
{
    double best = (double)NAN;
    for (int64_t k = 0; k < lambda; k++) {
        if (isnan(cmaes->fitness[k]) || (cmaes->violation != NULL && cmaes->violation[k] > 0.0)) continue;
        if (!(best <= cmaes->fitness[k])) best = cmaes->fitness[k];
    }
    return best;
}

static void cmaes_note(const Cmaes *cmaes, const CmaesView *view)
{
    CmaesRun *run = view->run;
    const double best = cmaes->surrogate ? run->best : cmaes_best_fitness(cmaes, run->lambda);
    run->generation_best = cmaes_key_at(cmaes, 0);
    run->generation_median = cmaes_key_at(cmaes, run->lambda / 2);
    run->generation_worst = cmaes_key_at(cmaes, run->lambda - 1);
    if (!(run->best <= best) && !isnan(best)) run->best = best;
    view->recent[run->recent_count++ % cmaes->n_recent] = run->generation_best;
    cmaes_note_history(view);
}

// ---- keys -----------------------------------------------------------------------------------------------------------

typedef struct CmaesKeys {
    const Cmaes *cmaes;
    const CmaesView *view;
    const CmaesPopulation *population;
} CmaesKeys;

static void cmaes_add_to_keys(void *context, int thread, int64_t first, int64_t end)
{
    const CmaesKeys *keys = context;
    const Cmaes *cmaes = keys->cmaes;
    (void)thread;
    for (int64_t k = first; cmaes->penalized && k < end; k++)
        cmaes->key[k] += cmaes_penalty(cmaes, keys->view, keys->population->y + k * cmaes->n);
    for (int64_t k = first; cmaes->lagrangian && k < end; k++)
        cmaes->key[k] += cmaes_lagrangian(cmaes, keys->view, cmaes->constraint + k * cmaes->n_constraints);
}

// What members are ranked by: fitness, and what bounds and constraints add to it.
static void cmaes_set_keys(Cmaes *cmaes, const CmaesView *view, const CmaesPopulation *population)
{
    enum { LEAST = 1024 }; // members of a range
    const int64_t lambda = view->run->lambda;
    CmaesKeys keys = {cmaes, view, population};
    if (cmaes->lagrangian) cmaes_lagrangian_adapt(cmaes, view);
    if (cmaes->penalized) cmaes_penalty_adapt(cmaes, view);
    memcpy(cmaes->key, cmaes->fitness, (size_t)lambda * sizeof *cmaes->key);
    for (int64_t k = 0; cmaes->race && k < lambda; k++) cmaes->key[k] += view->racer[k].shift;
    if (cmaes->penalized || cmaes->lagrangian)
        thread_team_for(cmaes_team(cmaes, lambda), lambda, LEAST, cmaes_add_to_keys, &keys);
}

// ---- a generation ---------------------------------------------------------------------------------------------------

static void cmaes_learn(const Cmaes *cmaes, const CmaesView *view, const CmaesPopulation *population)
{
    double *y_w = cmaes->vector;
    cmaes_move_mean(cmaes, view, population, y_w);
    const double length = cmaes_move_p_sigma(cmaes, view, y_w);
    const bool h_sigma = cmaes_h_sigma(cmaes, view->run, length);
    cmaes_move_p_c(cmaes, view, y_w, h_sigma);
    cmaes_move_C(cmaes, view, population, h_sigma);
    cmaes_move_sigma(cmaes, view->run, length);
    if (cmaes->uncertain) cmaes_treat_noise(cmaes, view->run);
    cmaes_decompose_if_due(cmaes, view);
    cmaes_keep_margin(cmaes, view);
}

void cmaes_update(Cmaes *cmaes, const CmaesView *view, const CmaesPopulation *population)
{
    CmaesRun *run = view->run;
    if (cmaes->weights.lambda != run->lambda) cmaes_weights(cmaes, run->lambda, &cmaes->weights);
    if (cmaes->uncertain) cmaes_measure_noise(cmaes, view, population);
    cmaes_set_keys(cmaes, view, population);
    cmaes_rank(cmaes, run->lambda);
    run->evaluations += cmaes->surrogate                        ? view->surrogate->evaluated
                        : cmaes->uncertain || cmaes->lagrangian ? population->drawn.trials
                                                                : run->lambda;
    cmaes_note(cmaes, view);
    const bool all_failed = isnan(run->generation_best);
    run->failed_generations = all_failed ? run->failed_generations + 1 : 0;
    if (!all_failed) cmaes_learn(cmaes, view, population);
    run->round++;
}
