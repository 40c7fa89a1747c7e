// One generation of the CMA-ES, from results to the next distribution: equations 41 to 47 of the tutorial, with active
// update (negative weights). Sums run in the order of ranks and of coordinates, so they are the same bits everywhere.
#include "search_cmaes.h"

#include <math.h>
#include <string.h>

// ---- ranking --------------------------------------------------------------------------------------------------------

// Whether member a ranks before member b: by fitness; failures after all numbers, the longer survived first; equal ones
// in the order of their numbers.
static bool cmaes_before(const Cmaes *cmaes, int64_t a, int64_t b)
{
    if (cmaes->failed[a] != cmaes->failed[b]) return cmaes->failed[b];
    const double *key = cmaes->failed[a] ? cmaes->survived : cmaes->fitness;
    if (key[a] != key[b]) return cmaes->failed[a] ? key[a] > key[b] : key[a] < key[b];
    return a < b;
}

static void cmaes_merge(const Cmaes *cmaes, const int64_t *from, int64_t *to, int64_t first, int64_t middle,
                        int64_t end)
{
    int64_t a = first, b = middle;
    for (int64_t i = first; i < end; i++) {
        const bool take_b = a == middle || (b < end && cmaes_before(cmaes, from[b], from[a]));
        to[i] = take_b ? from[b++] : from[a++];
    }
}

// Merge sort, bottom up (Knuth, TAOCP vol. 3, 5.2.4): no comparison depends on a library.
static void cmaes_rank(Cmaes *cmaes, int64_t lambda)
{
    int64_t *from = cmaes->order, *to = cmaes->order_room;
    for (int64_t i = 0; i < lambda; i++) from[i] = i;
    for (int64_t width = 1; width < lambda; width *= 2) {
        for (int64_t first = 0; first < lambda; first += 2 * width) {
            const int64_t middle = first + width < lambda ? first + width : lambda;
            const int64_t end = first + 2 * width < lambda ? first + 2 * width : lambda;
            cmaes_merge(cmaes, from, to, first, middle, end);
        }
        int64_t *kept = from;
        from = to;
        to = kept;
    }
    cmaes->order = from;
    cmaes->order_room = to;
}

// ---- paths and step size --------------------------------------------------------------------------------------------

// y_w = sum of w_i y_i over the parents (equation 41), and the new mean (42).
static void cmaes_move_mean(const Cmaes *cmaes, const CmaesView *view, const CmaesPopulation *population, double *y_w)
{
    const int n = cmaes->n;
    memset(y_w, 0, (size_t)n * sizeof *y_w);
    for (int64_t i = 0; i < cmaes->weights.mu; i++) {
        const double *y = population->y + cmaes->order[i] * n;
        for (int j = 0; j < n; j++) y_w[j] += cmaes->weights.weight[i] * y[j];
    }
    for (int j = 0; j < n; j++) view->mean[j] += view->run->sigma * y_w[j];
}

// p_sigma (equation 43), with C^-1/2 y_w = B D^-1 B' y_w. Gives its length.
static double cmaes_move_p_sigma(const Cmaes *cmaes, const CmaesView *view, const double *y_w)
{
    const int n = cmaes->n;
    const double c = cmaes->weights.c_sigma, gain = sqrt(c * (2.0 - c) * cmaes->weights.mu_eff);
    double square = 0.0;
    for (int j = 0; j < n; j++) view->p_sigma[j] *= 1.0 - c;
    for (int k = 0; k < n; k++) {
        const double *axis = view->axes + k * n;
        double along = 0.0;
        for (int j = 0; j < n; j++) along += axis[j] * y_w[j];
        along *= gain / view->lengths[k];
        for (int j = 0; j < n; j++) view->p_sigma[j] += along * axis[j];
    }
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

// ---- covariance -----------------------------------------------------------------------------------------------------

// Adds weight v v' to the lower triangle.
static void cmaes_add_square(int n, double *C, double weight, const double *v)
{
    for (int i = 0; i < n; i++) {
        const double scaled = weight * v[i];
        for (int j = 0; j <= i; j++) C[i * n + j] += scaled * v[j];
    }
}

// Equations 46 and 47. A negative weight is scaled by the member's own length, so that C stays positive definite.
static void cmaes_move_C(const Cmaes *cmaes, const CmaesView *view, const CmaesPopulation *population, bool h_sigma)
{
    const int n = cmaes->n;
    const CmaesWeights *weights = &cmaes->weights;
    const double stalled = h_sigma ? 0.0 : weights->c_c * (2.0 - weights->c_c);
    const double keep = 1.0 + weights->c_1 * stalled - weights->c_1 - weights->c_mu * weights->sum;
    const int64_t used = cmaes->settings[CMAES_WEIGHTS] == CMAES_WEIGHTS_ACTIVE ? weights->lambda : weights->mu;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j <= i; j++) view->C[i * n + j] *= keep;
    }
    cmaes_add_square(n, view->C, weights->c_1, view->p_c);
    for (int64_t i = 0; i < used; i++) {
        const int64_t member = cmaes->order[i];
        double weight = weights->weight[i];
        if (weight < 0.0) weight *= n / population->square[member];
        cmaes_add_square(n, view->C, weights->c_mu * weight, population->y + member * n);
    }
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < i; j++) view->C[j * n + i] = view->C[i * n + j];
    }
}

// C = B D^2 B', so rarely that it costs no more than the rest: by the count of evaluations, never by the clock. Where
// rounding left no positive eigenvalue, the least length is such that the condition number tells.
static void cmaes_decompose(const Cmaes *cmaes, const CmaesView *view)
{
    const int n = cmaes->n;
    CmaesRun *run = view->run;
    const double rate = (cmaes->weights.c_1 + cmaes->weights.c_mu) * n * 10.0;
    const double since = (double)(run->evaluations - run->eigen_evaluations);
    if (since < (double)run->lambda / rate) return;
    run->eigen_evaluations = run->evaluations;
    if (!symmetric_eigen(n, view->C, view->lengths, view->axes, cmaes->vector)) {
        view->lengths[0] = 0.0; // not finite: it ends at the condition number
        return;
    }
    const double least = view->lengths[n - 1] * 1e-30;
    for (int k = 0; k < n; k++) view->lengths[k] = sqrt(view->lengths[k] > least ? view->lengths[k] : least);
}

double cmaes_condition(const Cmaes *cmaes, const CmaesView *view)
{
    const double ratio = view->lengths[cmaes->n - 1] / view->lengths[0];
    return ratio * ratio;
}

// ---- history --------------------------------------------------------------------------------------------------------

// When it is full every second entry is dropped, and from then on every second generation is noted.
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

static double cmaes_fitness_at(const Cmaes *cmaes, int64_t rank)
{
    const int64_t member = cmaes->order[rank];
    return cmaes->failed[member] ? (double)NAN : cmaes->fitness[member];
}

static void cmaes_note(const Cmaes *cmaes, const CmaesView *view)
{
    CmaesRun *run = view->run;
    run->generation_best = cmaes_fitness_at(cmaes, 0);
    run->generation_median = cmaes_fitness_at(cmaes, run->lambda / 2);
    run->generation_worst = cmaes_fitness_at(cmaes, run->lambda - 1);
    if (!(run->best <= run->generation_best) && !isnan(run->generation_best)) run->best = run->generation_best;
    view->recent[run->recent_count++ % cmaes->n_recent] = run->generation_best;
    cmaes_note_history(view);
}

// ---- a generation ---------------------------------------------------------------------------------------------------

void cmaes_update(Cmaes *cmaes, const CmaesView *view, const CmaesPopulation *population)
{
    CmaesRun *run = view->run;
    double *y_w = cmaes->vector;
    if (cmaes->weights.lambda != run->lambda) cmaes_weights(cmaes, run->lambda, &cmaes->weights);
    cmaes_rank(cmaes, run->lambda);
    run->evaluations += run->lambda;
    cmaes_note(cmaes, view);
    const bool all_failed = isnan(run->generation_best);
    run->failed_generations = all_failed ? run->failed_generations + 1 : 0;
    if (!all_failed) {
        cmaes_move_mean(cmaes, view, population, y_w);
        const double length = cmaes_move_p_sigma(cmaes, view, y_w);
        const bool h_sigma = cmaes_h_sigma(cmaes, run, length);
        cmaes_move_p_c(cmaes, view, y_w, h_sigma);
        cmaes_move_C(cmaes, view, population, h_sigma);
        cmaes_move_sigma(cmaes, run, length);
        cmaes_decompose(cmaes, view);
    }
    run->round++;
}
