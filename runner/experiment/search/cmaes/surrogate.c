// How a generation is evaluated with a surrogate (Hansen 2019, algorithm 2; surrogate.h). The model ranks the members;
// the best of those that were not evaluated are, in rounds: one to begin with (or `evaluate_least`, and as many as the
// first model needs), then half as many again as there are, until Kendall's tau between the model, fitted anew, and the
// fitness of the newest points is at least 0.85, or all members are evaluated. Members of a generation that is partly
// evaluated get the model's values, moved so that the least equals the best fitness that was measured; if all are
// evaluated, their fitness, as in a plain CMA-ES. The model's best point takes part in the next generation.
//
// Failed members are left out of the fit. In tau they are worse than all others, so a model that leads into failures
// ranks badly, and more members are evaluated. A generation whose evaluated members all failed goes on too.
#include "cmaes.h"

#include "../kendall_tau.h"

#include <math.h>
#include <string.h>

static const double surrogate_tau = 0.85;
enum { SURROGATE_WINDOW = 15, SURROGATE_FIRST = 4 }; // points of tau, at least; of the first model

int64_t surrogate_capacity(int64_t n, int64_t lambda)
{
    const int64_t twice = 2 * (surrogate_terms(SURROGATE_FULL, n) + 1);
    return twice > lambda ? twice : lambda;
}

// What a surrogate can't be combined with.
Error surrogate_check(const Cmaes *cmaes, const char **key)
{
    const double least = cmaes->settings[CMAES_EVALUATE_LEAST];
    *key = "search.cmaes.evaluate_least";
    if (least > 0.0 && !cmaes->surrogate)
        return error_make(ERROR_USER, "cmaes.evaluate_least is for a search with a model that chooses what is run: "
                                      "write surrogate: quadratic");
    if (cmaes->surrogate && least >= (double)cmaes->lambda_start)
        return error_make(ERROR_USER,
                          "cmaes.evaluate_least is %.0f of the %lld members of a generation, so the surrogate has "
                          "nothing to choose: use a larger cmaes.population",
                          least, (long long)cmaes->lambda_start);
    *key = "search.cmaes.surrogate";
    if (!cmaes->surrogate) return error_none();
    if (cmaes->n > SURROGATE_DIMENSIONS_MAX)
        return error_make(ERROR_USER, "cmaes.surrogate: quadratic is for up to %d parameters; the spec searches %d",
                          SURROGATE_DIMENSIONS_MAX, cmaes->n);
    if (cmaes->n_constraints > 0)
        return error_make(ERROR_USER, "cmaes.surrogate: quadratic has a model of the fitness alone, and can't tell "
                                      "which members meet the constraints");
    if (cmaes->uncertain)
        return error_make(ERROR_USER, "cmaes.surrogate: quadratic runs a part of each generation, and "
                                      "cmaes.uncertainty runs members twice: use one of them");
    return error_none();
}

// ---- how many -------------------------------------------------------------------------------------------------------

static int64_t surrogate_least(const Cmaes *cmaes, int64_t lambda)
{
    const double given = cmaes->settings[CMAES_EVALUATE_LEAST];
    return given > 0.0 ? (int64_t)given : 1 + lambda / 50;
}

int64_t surrogate_first(const Cmaes *cmaes, int64_t lambda, int64_t archived)
{
    const int64_t least = surrogate_least(cmaes, lambda), missing = 1 + SURROGATE_FIRST - archived;
    const int64_t first = least > missing ? least : missing;
    return first < lambda ? first : lambda;
}

static int64_t surrogate_more_wanted(const Cmaes *cmaes, int64_t lambda, int64_t wanted)
{
    const int64_t least = surrogate_least(cmaes, lambda), half = (wanted + 1) / 2;
    return wanted + (half > least ? half : least);
}

int64_t surrogate_most_rounds(const Cmaes *cmaes, int64_t lambda)
{
    int64_t rounds = 1;
    for (int64_t wanted = surrogate_least(cmaes, lambda); wanted < lambda; rounds++)
        wanted = surrogate_more_wanted(cmaes, lambda, wanted);
    return rounds;
}

void surrogate_next(const Cmaes *cmaes, const CmaesView *view)
{
    const int64_t lambda = view->run->lambda;
    view->surrogate->evaluated = 0;
    view->surrogate->wanted = surrogate_first(cmaes, lambda, view->surrogate->count);
    memset(view->member, 0, (size_t)cmaes->lambda_max * sizeof *view->member);
}

void surrogate_begin(const Cmaes *cmaes, const CmaesView *view)
{
    Surrogate *surrogate = view->surrogate;
    *surrogate = (Surrogate){.rounds = surrogate->rounds, .tau = (double)NAN};
    surrogate_next(cmaes, view);
}

bool surrogate_is_whole(const Cmaes *cmaes, const CmaesView *view)
{
    const Surrogate *of = view->surrogate;
    const int64_t lambda = view->run->lambda, most = (int64_t)1 << 53;
    return of->rounds >= 0 && of->rounds <= most && of->evaluated >= 0 && of->evaluated < lambda &&
           of->wanted > of->evaluated && of->wanted <= most && of->count >= 0 && of->count <= cmaes->archive_max &&
           of->kind >= 0 && of->kind < SURROGATE_KINDS;
}

// ---- ask ------------------------------------------------------------------------------------------------------------

static void surrogate_coordinates(const Cmaes *cmaes, double *coordinate)
{
    for (int i = 0; i < cmaes->n; i++)
        coordinate[i] =
            cmaes_coordinate(&cmaes->spec->axes[i].values, cmaes->parameter[cmaes->spec->axes[i].parameter]);
}

// Of all members, into cmaes->modelling.modelled.
static void surrogate_model_members(const Cmaes *cmaes, const CmaesView *view, const CmaesPopulation *population)
{
    double *coordinate = cmaes->vector + 2 * cmaes->n;
    for (int64_t k = 0; k < view->run->lambda; k++) {
        cmaes->modelling.modelled[k] = (double)NAN;
        if (population->drawn.left_out[k]) continue;
        cmaes_set_member(cmaes, view, population, k);
        surrogate_coordinates(cmaes, coordinate);
        cmaes->modelling.modelled[k] = surrogate_value(cmaes, view, coordinate);
    }
}

// Whether member a comes before b: the better model's value, else the lower number.
static bool surrogate_before(const double *modelled, int32_t a, int32_t b)
{
    const int compared = kendall_compare(modelled[a], modelled[b]);
    return compared != 0 ? compared < 0 : a < b;
}

// Sifts down slot[at] of a heap of the members that come last.
static void surrogate_sift(const double *modelled, int32_t *slot, int64_t at, int64_t count)
{
    const int32_t taken = slot[at];
    for (int64_t child = 2 * at + 1; child < count; child = 2 * at + 1) {
        if (child + 1 < count && surrogate_before(modelled, slot[child], slot[child + 1])) child++;
        if (!surrogate_before(modelled, taken, slot[child])) break;
        slot[at] = slot[child];
        at = child;
    }
    slot[at] = taken;
}

static void surrogate_sort(const double *modelled, int32_t *slot, int64_t count)
{
    for (int64_t at = count / 2 - 1; at >= 0; at--) surrogate_sift(modelled, slot, at, count);
    for (int64_t end = count - 1; end > 0; end--) {
        const int32_t last = slot[0];
        slot[0] = slot[end];
        slot[end] = last;
        surrogate_sift(modelled, slot, 0, end);
    }
}

void surrogate_list(const Cmaes *cmaes, const CmaesView *view, CmaesPopulation *population)
{
    const Surrogate *surrogate = view->surrogate;
    int64_t left = 0;
    for (int64_t k = 0; k < view->run->lambda; k++) {
        if (population->drawn.left_out[k] || view->member[k].evaluated != 0.0) continue;
        population->drawn.slot[left++] = (int32_t)k;
    }
    surrogate_model_members(cmaes, view, population);
    surrogate_sort(cmaes->modelling.modelled, population->drawn.slot, left);
    const int64_t wanted = surrogate->wanted - surrogate->evaluated;
    population->drawn.trials = left < wanted ? left : wanted;
}

bool surrogate_inject(const Cmaes *cmaes, const CmaesView *view, double *y, double *square)
{
    if (!cmaes->surrogate || view->surrogate->has_best == 0) return false;
    const double n = cmaes->n, longest = sqrt(n) + 2.0 * n / (n + 2.0);
    double *white = cmaes->vector;
    memset(white, 0, (size_t)cmaes->n * sizeof *white);
    for (int i = 0; i < cmaes->n; i++) {
        const double step = cmaes->has_integers ? view->scaling[i] : 1.0;
        y[i] = (view->best[i] - view->mean[i]) / (view->run->sigma * step);
    }
    cmaes_whiten(cmaes, view, y, 1.0, white);
    *square = 0.0;
    for (int i = 0; i < cmaes->n; i++) *square += white[i] * white[i];
    if (!(*square > 0.0) || !isfinite(*square)) return false;
    const double shorter = *square > longest * longest ? longest / sqrt(*square) : 1.0;
    for (int i = 0; i < cmaes->n; i++) y[i] *= shorter;
    *square *= shorter * shorter;
    return true;
}

// ---- tell -----------------------------------------------------------------------------------------------------------

// The oldest point makes room.
static void surrogate_archive(const Cmaes *cmaes, const CmaesView *view, double fitness)
{
    Surrogate *surrogate = view->surrogate;
    const int64_t width = cmaes->n + 1;
    if (surrogate->count == surrogate_capacity(cmaes->n, view->run->lambda)) {
        surrogate->count--;
        memmove(view->archive, view->archive + width, (size_t)(surrogate->count * width) * sizeof *view->archive);
    }
    double *point = view->archive + surrogate->count++ * width;
    surrogate_coordinates(cmaes, point);
    point[cmaes->n] = fitness;
}

// The newest `count` points, so that the best becomes the newest.
static void surrogate_sort_newest(Cmaes *cmaes, const CmaesView *view, int64_t count)
{
    const int64_t width = cmaes->n + 1, first = view->surrogate->count - count;
    double *taken = cmaes->modelling.terms;
    for (int64_t i = first + 1; i < view->surrogate->count; i++) {
        int64_t at = i;
        memcpy(taken, view->archive + i * width, (size_t)width * sizeof *taken);
        for (; at > first; at--) {
            const double *before = view->archive + (at - 1) * width;
            if (kendall_compare(before[cmaes->n], taken[cmaes->n]) >= 0) break;
            memcpy(view->archive + at * width, before, (size_t)width * sizeof *taken);
        }
        memcpy(view->archive + at * width, taken, (size_t)width * sizeof *taken);
    }
}

// Of the newest points: as many as 1.2 times the evaluated members, at most 3/4 of the generation, at least 15.
static double surrogate_measure(const Cmaes *cmaes, const CmaesView *view)
{
    const Surrogate *surrogate = view->surrogate;
    const double of_evaluated = 1.2 * (double)surrogate->evaluated, of_all = 0.75 * (double)view->run->lambda;
    int64_t count = (int64_t)(of_evaluated < of_all ? of_evaluated : of_all);
    count = count > SURROGATE_WINDOW ? count : SURROGATE_WINDOW;
    count = count < surrogate->count ? count : surrogate->count;
    if (count < 3) return 0.0;
    for (int64_t i = 0; i < count; i++) {
        const double *point = view->archive + (surrogate->count - 1 - i) * (cmaes->n + 1);
        cmaes->modelling.pair[0][i] = point[cmaes->n];
        cmaes->modelling.pair[1][i] = surrogate_value(cmaes, view, point);
    }
    return kendall_tau(cmaes->modelling.pair[0], cmaes->modelling.pair[1], count);
}

static void surrogate_note(Cmaes *cmaes, const CmaesView *view, const CmaesPopulation *population, const double *told)
{
    for (int64_t trial = 0; trial < population->drawn.trials; trial++, told += cmaes->side.told_width) {
        const int64_t k = population->drawn.slot[trial];
        view->member[k] = (SurrogateMember){.evaluated = 1.0, .fitness = told[0], .survived = told[1]};
        cmaes_set_member(cmaes, view, population, k);
        surrogate_archive(cmaes, view, told[0]);
        if (!isnan(told[0]) && !(view->run->best <= told[0])) view->run->best = told[0];
    }
    view->surrogate->evaluated += population->drawn.trials;
    const int64_t newest =
        view->surrogate->evaluated < view->surrogate->count ? view->surrogate->evaluated : view->surrogate->count;
    surrogate_sort_newest(cmaes, view, newest);
}

// Fitness of the members of a generation that ends; the model's values unless all were evaluated.
static void surrogate_gather(Cmaes *cmaes, const CmaesView *view, const CmaesPopulation *population, bool all)
{
    double least = (double)NAN, modelled = (double)NAN;
    if (!all) surrogate_model_members(cmaes, view, population);
    for (int64_t k = 0; k < view->run->lambda; k++) {
        const SurrogateMember *member = &view->member[k];
        const bool failed = member->evaluated != 0.0 && isnan(member->fitness);
        cmaes->fitness[k] = population->drawn.left_out[k] ? (double)NAN : member->fitness;
        cmaes->survived[k] = population->drawn.left_out[k] ? -1.0 : member->survived;
        if (member->evaluated != 0.0 && !failed && !(least <= member->fitness)) least = member->fitness;
        if (!all && !failed && !(modelled <= cmaes->modelling.modelled[k])) modelled = cmaes->modelling.modelled[k];
    }
    for (int64_t k = 0; !all && k < view->run->lambda; k++) {
        if (view->member[k].evaluated != 0.0 && isnan(view->member[k].fitness)) continue;
        cmaes->fitness[k] = least + (cmaes->modelling.modelled[k] - modelled) * view->surrogate->unit;
    }
}

bool surrogate_tell(Cmaes *cmaes, const CmaesView *view, const CmaesPopulation *population, const double *told)
{
    Surrogate *surrogate = view->surrogate;
    int64_t members = 0, successes = 0;
    surrogate_note(cmaes, view, population, told);
    surrogate->rounds++;
    surrogate_fit(cmaes, view);
    surrogate->tau = surrogate->kind != SURROGATE_NONE ? surrogate_measure(cmaes, view) : 0.0;
    for (int64_t k = 0; k < view->run->lambda; k++) {
        members += !population->drawn.left_out[k];
        successes += view->member[k].evaluated != 0.0 && !isnan(view->member[k].fitness);
    }
    const bool all = surrogate->evaluated == members;
    if (!all && !(surrogate->tau >= surrogate_tau && successes > 0)) {
        surrogate->wanted = surrogate_more_wanted(cmaes, view->run->lambda, surrogate->wanted);
        return false;
    }
    surrogate_gather(cmaes, view, population, all);
    surrogate_find_best(cmaes, view);
    return true;
}
