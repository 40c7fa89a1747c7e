// Draws of a CMA-ES: the members of a generation (equations 38 to 40), the list of its trials; the weights of ranks.
// Every random number is keyed by search, round, member, attempt and coordinate. So a generation can be drawn again
// from the same state, and does not depend on other searches.
#include "cmaes.h"

#include <math.h>
#include <string.h>

enum { CMAES_MEMBER_BITS = 24 }; // of an ordinal; the round stands above them

// ---- weights --------------------------------------------------------------------------------------------------------

// Raw weights ln((lambda + 1)/2) - ln i (equation 49) with their sums: of the positive ones, of the others, of squares.
static double cmaes_raw_weights(CmaesWeights *weights, double *negative, double *mu_eff_negative)
{
    double sum = 0.0, squares = 0.0, sum_negative = 0.0, squares_negative = 0.0;
    const double half = portable_log(((double)weights->lambda + 1.0) / 2.0);
    for (int64_t i = 0; i < weights->lambda; i++) {
        const double w = weights->weight[i] = half - portable_log((double)(i + 1));
        if (i < weights->mu) {
            sum += w;
            squares += w * w;
        } else {
            sum_negative -= w;
            squares_negative += w * w;
        }
    }
    weights->mu_eff = sum * sum / squares;
    *mu_eff_negative = sum_negative * sum_negative / squares_negative;
    *negative = sum_negative;
    return sum;
}

// Equations 55 to 58; those of C are `faster` by a factor where it is separable.
static void cmaes_rates(double n, double faster, CmaesWeights *weights)
{
    const double mu_eff = weights->mu_eff, above = sqrt((mu_eff - 1.0) / (n + 1.0)) - 1.0;
    weights->c_sigma = (mu_eff + 2.0) / (n + mu_eff + 5.0);
    weights->d_sigma = 1.0 + 2.0 * (above > 0.0 ? above : 0.0) + weights->c_sigma;
    weights->c_c = (4.0 + mu_eff / n) / (n + 4.0 + 2.0 * mu_eff / n);
    weights->c_1 = faster * 2.0 / ((n + 1.3) * (n + 1.3) + mu_eff);
    const double c_mu = faster * 2.0 * (0.25 + mu_eff + 1.0 / mu_eff - 2.0) / ((n + 2.0) * (n + 2.0) + mu_eff);
    weights->c_mu = c_mu < 1.0 - weights->c_1 ? c_mu : 1.0 - weights->c_1;
    weights->chi_n = sqrt(n) * (1.0 - 1.0 / (4.0 * n) + 1.0 / (21.0 * n * n)); // E|N(0, I)|
}

// The negative weights sum up to the least of equations 50 to 52.
static double cmaes_negative_sum(double n, const CmaesWeights *weights, double mu_eff_negative)
{
    const double by_rates = 1.0 + weights->c_1 / weights->c_mu;
    const double by_mu_eff = 1.0 + 2.0 * mu_eff_negative / (weights->mu_eff + 2.0);
    const double definite = (1.0 - weights->c_1 - weights->c_mu) / (n * weights->c_mu);
    const double least = by_rates < by_mu_eff ? by_rates : by_mu_eff;
    return definite < least ? definite : least;
}

void cmaes_weights(const Cmaes *cmaes, int64_t lambda, CmaesWeights *weights)
{
    double negative, mu_eff_negative;
    weights->lambda = lambda;
    weights->mu = lambda / 2;
    const double positive = cmaes_raw_weights(weights, &negative, &mu_eff_negative);
    cmaes_rates(cmaes->n, cmaes->separable ? (cmaes->n + 2.0) / 3.0 : 1.0, weights);
    const bool active = cmaes->settings[CMAES_WEIGHTS] == CMAES_WEIGHTS_ACTIVE;
    const double to = active ? cmaes_negative_sum(cmaes->n, weights, mu_eff_negative) : 0.0;
    weights->sum = 0.0;
    for (int64_t i = 0; i < lambda; i++) {
        weights->weight[i] *= i < weights->mu ? 1.0 / positive : to / negative; // equation 53
        weights->sum += weights->weight[i];
    }
}

// ---- random numbers -------------------------------------------------------------------------------------------------

static RandomKey cmaes_key(const Cmaes *cmaes, int64_t search, int64_t round, int64_t member, int attempt)
{
    return (RandomKey){.seed = cmaes->spec->seed,
                       .search = search_key(cmaes->spec, search + cmaes->side.first),
                       .ordinal = (uint64_t)round << CMAES_MEMBER_BITS | (uint64_t)member,
                       .replicate = (uint32_t)attempt,
                       .purpose = RANDOM_SAMPLE};
}

// A restart draws as a member whose number no population reaches.
double cmaes_draw_uniform(const Cmaes *cmaes, int64_t search, int64_t round, int index)
{
    const RandomKey key = cmaes_key(cmaes, search, round, ((int64_t)1 << CMAES_MEMBER_BITS) - 1, 0);
    return random_uniform(&key, (uint32_t)index);
}

// ---- members --------------------------------------------------------------------------------------------------------

// The best point of a surrogate's model, if there is one and the spec does not drop it.
static bool cmaes_draw_best(const Cmaes *cmaes, const CmaesView *view, double *y, double *square)
{
    if (!surrogate_inject(cmaes, view, y, square)) return false;
    cmaes_member_point(cmaes, view, y, cmaes->vector);
    return !cmaes->drops || cmaes_point(cmaes, cmaes->vector);
}

// Draws again while the spec drops the point. False: it dropped all draws.
static bool cmaes_draw_member(const Cmaes *cmaes, const CmaesView *view, int64_t search, int64_t member,
                              CmaesPopulation *population)
{
    double *y = population->y + member * cmaes->n, *square = &population->square[member], *x = cmaes->vector;
    if (member < cmaes_injected(cmaes, view) && cmaes_inject(cmaes, view, member, y, square)) return true;
    if (member == 0) population->injected = cmaes_draw_best(cmaes, view, y, square);
    if (member == 0 && population->injected) return true;
    for (int attempt = 0; attempt < SIDE_ATTEMPTS; attempt++) {
        const RandomKey key = cmaes_key(cmaes, search, view->run->round, member, attempt);
        *square = cmaes_draw_y(cmaes, view, &key, y);
        if (!cmaes->drops) return true;
        cmaes_member_point(cmaes, view, y, x);
        if (cmaes_point(cmaes, x)) return true;
    }
    return false;
}

// ---- trials ---------------------------------------------------------------------------------------------------------

// `each` trials of a member.
static void cmaes_add_trials(CmaesPopulation *population, int64_t slot, int64_t each)
{
    for (int64_t i = 0; i < each; i++) population->drawn.slot[population->drawn.trials++] = (int32_t)slot;
}

static bool cmaes_mean_is_run(const Cmaes *cmaes, const CmaesView *view)
{
    return cmaes->lagrangian && cmaes_point(cmaes, view->mean);
}

// In the order of ask: the mean, if it is wanted; all members; some of them again. If no member can be run, there are
// no trials.
static void cmaes_list_trials(const Cmaes *cmaes, const CmaesView *view, CmaesPopulation *population)
{
    const int64_t lambda = view->run->lambda, each = cmaes_evaluations_each(cmaes, view->run);
    const int64_t again = cmaes_again(cmaes, lambda);
    int64_t members = 0;
    population->drawn.trials = population->again = 0;
    for (int64_t k = 0; k < lambda; k++) members += !population->drawn.left_out[k];
    if (members == 0) return;
    if (cmaes_mean_is_run(cmaes, view)) cmaes_add_trials(population, CMAES_SLOT_MEAN, 1);
    for (int64_t k = 0; k < lambda; k++) {
        if (!population->drawn.left_out[k]) cmaes_add_trials(population, k, each);
    }
    for (int64_t k = 0; k < lambda && population->again < again; k++) {
        if (population->drawn.left_out[k]) continue;
        cmaes_add_trials(population, lambda + k, each);
        population->again++;
    }
}

CmaesPopulation *cmaes_population(const Search *search, int64_t run)
{
    const Cmaes *cmaes = search->scratch;
    return &cmaes->populations[run % cmaes->side.kept];
}

void cmaes_draw(const Search *search, void *worker, int64_t run, int64_t first, int64_t end)
{
    const Cmaes *cmaes = worker;
    const CmaesView view = cmaes_view(search, run);
    CmaesPopulation *population = cmaes_population(search, run);
    cmaes_fix(cmaes, run);
    for (int64_t k = first; k < end; k++)
        population->drawn.left_out[k] = !cmaes_draw_member(cmaes, &view, run, k, population);
}

void cmaes_list(const Search *search, void *worker, int64_t run)
{
    const Cmaes *cmaes = worker;
    const CmaesView view = cmaes_view(search, run);
    CmaesPopulation *population = cmaes_population(search, run);
    cmaes_fix(cmaes, run);
    if (cmaes->surrogate)
        surrogate_list(cmaes, &view, population);
    else
        cmaes_list_trials(cmaes, &view, population);
    if (cmaes->race) cmaes_race_list(&view, population);
}
