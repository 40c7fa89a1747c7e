// Which trials a round has: at first they fill the ranges, later they are where the acquisition is greatest.
//
// The first round is a piece of Sobol's sequence, scrambled for each search. Later the acquisition is computed at
// random points of the region; the best of them climb it. The next point of the same round takes the one before for
// granted, with its predicted cost (D. Ginsbourger, R. Le Riche, L. Carraro, "Kriging is well-suited to parallelize
// optimization", 2010: the Kriging believer). So points depend on the spec's batch, and never on the machine.
#include "bayesian.h"
#include "../quasi_newton.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PROPOSE_RANDOM = 100, PROPOSE_NEAR = 50, PROPOSE_POOL = PROPOSE_RANDOM + PROPOSE_NEAR, PROPOSE_CLIMBS = 4 };
enum { PROPOSE_STEPS = 15 };

static RandomKey propose_key(const Bayesian *bayesian, const BayesianRun *run, int64_t number, int64_t member,
                             int64_t candidate)
{
    return (RandomKey){.seed = bayesian->spec->seed,
                       .search = (uint32_t)number,
                       .ordinal = search_round_ordinal(run->round, member),
                       .replicate = (uint32_t)candidate,
                       .purpose = RANDOM_SAMPLE};
}

// ---- starts ---------------------------------------------------------------------------------------------------------

// False: the spec drops all draws.
static bool propose_start(const Bayesian *bayesian, const BayesianRun *run, int64_t number, int64_t member, double *x)
{
    for (int attempt = 0; attempt < SIDE_ATTEMPTS; attempt++) {
        const RandomKey key = propose_key(bayesian, run, number, member, attempt);
        for (int a = 0; a < bayesian->n; a++) {
            const uint64_t scramble = sobol_key(bayesian->spec->seed, (int)number, a);
            x[a] = attempt > 0 ? random_uniform(&key, (uint32_t)a)
                               : sobol_scrambled(bayesian->sobol, a, (uint64_t)member, scramble);
        }
        if (bayesian_point(bayesian, x)) return true;
    }
    return false;
}

// The round, up to the member that is being chosen.
typedef struct ProposeRound {
    const BayesianView *view;
    const BayesianPoints *points;
    Acquisition acquisition;
    int64_t number, member; // of the search
} ProposeRound;

// ---- candidates -----------------------------------------------------------------------------------------------------

typedef struct ProposeCandidate {
    double value;
    int64_t index;
} ProposeCandidate;

static int propose_order(const void *left, const void *right)
{
    const ProposeCandidate *a = left, *b = right;
    if (a->value != b->value) return a->value < b->value ? -1 : 1;
    return a->index < b->index ? -1 : a->index > b->index;
}

// Random in the region; the last ones near its centre. Of many axes some keep the centre's value (TuRBO, supplement).
static void propose_draw(const Bayesian *bayesian, const RandomKey *key, bool near, double *x)
{
    const BayesianRegion *region = &bayesian->region;
    const int n = bayesian->n;
    const double part = n > 20 ? 20.0 / n : 1.0;
    const int always = (int)(random_uniform(key, (uint32_t)(2 * n)) * n);
    for (int a = 0; a < n; a++) {
        const double u = random_uniform(key, (uint32_t)a), side = region->high[a] - region->low[a];
        x[a] = region->centre[a];
        if (a != always && random_uniform(key, (uint32_t)(n + a)) >= part) continue;
        x[a] = near && !bayesian->word[a] ? search_inside(region->centre[a] + 0.1 * side * (u - 0.5))
                                          : region->low[a] + u * side;
    }
}

// Also by one of the round's points so far.
static bool propose_is_known(const Bayesian *bayesian, const ProposeRound *round, const double *x)
{
    const size_t size = (size_t)bayesian->n * sizeof *x;
    for (int64_t k = 0; k < round->member; k++) {
        if (!round->points->drawn.left_out[k] && memcmp(round->points->x + k * bayesian->n, x, size) == 0) return true;
    }
    return bayesian_is_known(bayesian, round->view, round->view->run->trials, x);
}

static double propose_value(void *of, const double *x, double *gradient) { return acquisition_value(of, x, gradient); }

// Climbs within the region; integers and words stay.
static double propose_climb(Bayesian *bayesian, Acquisition *acquisition, double *x)
{
    const int n = bayesian->n;
    double *low = bayesian->vector, *high = low + n;
    for (int a = 0; a < n; a++) {
        const bool fixed = bayesian->spec->axes[a].values.integer;
        low[a] = fixed ? x[a] : bayesian->region.low[a];
        high[a] = fixed ? x[a] : bayesian->region.high[a];
    }
    const BoundedMinimum problem = {.n = n,
                                    .iterations = PROPOSE_STEPS,
                                    .tolerance = 1e-4,
                                    .low = low,
                                    .high = high,
                                    .value = propose_value,
                                    .of = acquisition};
    return bounded_minimum(&problem, x, bayesian->vector + 8 * n);
}

// The pool from random points: of the region, or of the whole ranges. order[PROPOSE_POOL]: by the acquisition, the
// greatest first; infinite where the spec drops a point.
static void propose_fill_pool(Bayesian *bayesian, const ProposeRound *round, bool whole, ProposeCandidate *order)
{
    const int n = bayesian->n;
    for (int64_t i = 0; i < PROPOSE_POOL; i++) {
        const RandomKey key =
            propose_key(bayesian, round->view->run, round->number, round->member, whole ? PROPOSE_POOL + i : i);
        double *x = bayesian->pool + i * n;
        if (whole)
            for (int a = 0; a < n; a++) x[a] = random_uniform(&key, (uint32_t)a);
        else
            propose_draw(bayesian, &key, i >= PROPOSE_RANDOM, x);
        const double value =
            bayesian_point(bayesian, x) ? acquisition_value(&round->acquisition, x, NULL) : (double)INFINITY;
        order[i] = (ProposeCandidate){isnan(value) ? (double)INFINITY : value, i};
    }
    qsort(order, PROPOSE_POOL, sizeof *order, propose_order);
}

// The best point of the region into x. False: the spec drops all, or all are known.
static bool propose_best(Bayesian *bayesian, ProposeRound *round, double *x)
{
    const int n = bayesian->n;
    double *pool = bayesian->pool, *climbed = pool + (int64_t)PROPOSE_POOL * n, best = (double)INFINITY;
    ProposeCandidate order[PROPOSE_POOL];
    bool found = false;
    propose_fill_pool(bayesian, round, false, order);
    for (int k = 0; k < PROPOSE_POOL && (k < PROPOSE_CLIMBS || !found); k++) {
        double *from = pool + order[k].index * n, value = order[k].value;
        if (!(value < (double)INFINITY)) break;
        memcpy(climbed, from, (size_t)n * sizeof *x);
        if (k < PROPOSE_CLIMBS) {
            const double higher = propose_climb(bayesian, &round->acquisition, climbed);
            if (higher < value && bayesian_point(bayesian, climbed))
                value = higher;
            else
                memcpy(climbed, from, (size_t)n * sizeof *x);
        }
        if (value >= best || propose_is_known(bayesian, round, climbed)) continue;
        memcpy(x, climbed, (size_t)n * sizeof *x);
        best = value;
        found = true;
    }
    return found;
}

// The best random point of the whole ranges that is not known, or the best one if all are: few integers and words have
// few points. False: the spec drops all.
static bool propose_elsewhere(Bayesian *bayesian, const ProposeRound *round, double *x)
{
    ProposeCandidate order[PROPOSE_POOL];
    propose_fill_pool(bayesian, round, true, order);
    int k = 0;
    while (k < PROPOSE_POOL && order[k].value < (double)INFINITY &&
           propose_is_known(bayesian, round, bayesian->pool + order[k].index * bayesian->n))
        k++;
    if (k == PROPOSE_POOL || !(order[k].value < (double)INFINITY)) k = 0;
    if (!(order[k].value < (double)INFINITY)) return false;
    memcpy(x, bayesian->pool + order[k].index * bayesian->n, (size_t)bayesian->n * sizeof *x);
    return true;
}

// ---- the acquisition ------------------------------------------------------------------------------------------------

// The feasible row whose mean is best, as the processes see it; -1: there is none.
static int64_t propose_incumbent(const Bayesian *bayesian, const BayesianView *view, double *best)
{
    const BayesianModel *model = &bayesian->model[BAYESIAN_OF_COST];
    int64_t incumbent = -1;
    for (int64_t i = 0; i < model->process.count; i++) {
        const BayesianRow row = bayesian_row(bayesian, view, model->row[i]);
        const double mean = process_mean_at(&model->process, i);
        if (!bayesian_feasible(bayesian, &row) || (incumbent >= 0 && !(mean < *best))) continue;
        incumbent = model->row[i];
        *best = mean;
    }
    return incumbent;
}

static Acquisition propose_acquisition(Bayesian *bayesian, int64_t incumbent, GaussianProcess **feasible)
{
    Acquisition acquisition = {.n = bayesian->n, .feasible = feasible, .room = bayesian->vector + 2 * bayesian->n};
    if (incumbent >= 0) acquisition.objective = &bayesian->model[BAYESIAN_OF_COST].process;
    for (int k = BAYESIAN_OF_SUCCESS; k < bayesian->outputs; k++) {
        GaussianProcess *process = &bayesian->model[k].process;
        const bool silent = process->count == 0 || (bayesian->model[k].constant && process->y[0] < 0.0);
        if (!silent) feasible[acquisition.n_feasible++] = process;
    }
    return acquisition;
}

// The processes take the point for granted. What improves is then better than the point too, if it is feasible.
static void propose_believe(Bayesian *bayesian, const double *x, Acquisition *acquisition)
{
    double best = acquisition->best;
    bool feasible = true;
    for (int k = 0; k < bayesian->outputs; k++) {
        GaussianProcess *process = &bayesian->model[k].process;
        double mean, variance;
        if (process->count == 0 || process->count == process->capacity) continue;
        process_predict(process, x, &mean, &variance, NULL, NULL);
        process_add(process, x, mean, 0.0);
        process_factor(process);
        bayesian->model[k].search = -1; // the fantasy must go before the next round
        if (k == BAYESIAN_OF_COST)
            best = mean < best ? mean : best;
        else
            feasible &= mean < 0.0;
    }
    if (feasible) acquisition->best = best;
}

static void propose_note(Bayesian *bayesian, const double *x, double *noted)
{
    const GaussianProcess *process = &bayesian->model[BAYESIAN_OF_COST].process;
    double mean, variance;
    noted[BAYESIAN_PREDICTED] = noted[BAYESIAN_DEVIATION] = (double)NAN;
    if (process->count < 2) return;
    process_predict(process, x, &mean, &variance, NULL, NULL);
    noted[BAYESIAN_PREDICTED] = bayesian_unwarp(&bayesian->warp, mean);
    noted[BAYESIAN_DEVIATION] = bayesian->warp.scale * sqrt(variance);
}

static void propose_by_model(Bayesian *bayesian, const BayesianView *view, int64_t s, int64_t members,
                             BayesianPoints *points)
{
    const int n = bayesian->n;
    GaussianProcess *feasible[BAYESIAN_OUTPUTS + BAYESIAN_CONSTRAINTS_MAX];
    double best = 0.0;
    bayesian_learn(bayesian, view, s);
    const int64_t incumbent = propose_incumbent(bayesian, view, &best);
    const int64_t centre = incumbent >= 0 ? incumbent : bayesian_centre(bayesian, view);
    if (centre >= 0)
        memcpy(bayesian->region.centre, bayesian_row(bayesian, view, centre).x, (size_t)n * sizeof(double));
    for (int a = 0; a < n && centre < 0; a++) bayesian->region.centre[a] = 0.5;
    bayesian_region_set(bayesian, view);
    ProposeRound round = {.view = view,
                          .points = points,
                          .acquisition = propose_acquisition(bayesian, incumbent, feasible),
                          .number = s + bayesian->side.first};
    round.acquisition.best = best;
    for (int64_t k = 0; k < members; k++) {
        double *x = points->x + k * n;
        round.member = k;
        points->drawn.left_out[k] = !propose_best(bayesian, &round, x) && !propose_elsewhere(bayesian, &round, x) &&
                                    !propose_start(bayesian, view->run, round.number, k + PROPOSE_POOL, x);
        if (points->drawn.left_out[k]) continue;
        propose_note(bayesian, x, points->predicted + k * BAYESIAN_NOTED);
        if (k + 1 < members) propose_believe(bayesian, x, &round.acquisition);
    }
}

void bayesian_propose(const Search *search, void *worker, int64_t s)
{
    Bayesian *bayesian = worker;
    const BayesianView view = bayesian_view(search, s);
    BayesianPoints *points = bayesian_points(search, s);
    const int64_t members = ((const Bayesian *)search->scratch)->side.method->members(search, s);
    if (view.run->round > 0) {
        propose_by_model(bayesian, &view, s, members, points);
    } else {
        for (int64_t k = 0; k < members; k++) {
            double *noted = points->predicted + k * BAYESIAN_NOTED;
            points->drawn.left_out[k] =
                !propose_start(bayesian, view.run, s + bayesian->side.first, k, points->x + k * bayesian->n);
            noted[BAYESIAN_PREDICTED] = noted[BAYESIAN_DEVIATION] = (double)NAN;
        }
    }
    side_list_members(&points->drawn, members);
}
