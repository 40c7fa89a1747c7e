// The record of every round: a few numbers for `status` and SQL, and a row of all for HDF5.
#include "bayesian.h"

#include "../kendall_tau.h"

#include <math.h>

enum { BAYESIAN_SCALARS = 12, BAYESIAN_REGION = 4, BAYESIAN_COMPARED = 50, BAYESIAN_COMPARED_LEAST = 5 };

static const Field bayesian_scalars[BAYESIAN_SCALARS] = {
    {"round", "1", "number of the round, from 0", "round"},
    {"trials", "1", "trials so far", "trials"},
    {"failed", "1", "failed trials so far", "failed"},
    {"restart", "1", "trust regions before this one", "restart"},
    {"region", "1", "length of the trust region's sides, of ranges from 0 to 1", "region"},
    {"shortest", "1", "shortest length of the process of the fitness", "lengths"},
    {"longest", "1", "its longest length", "lengths"},
    {"noise", "1", "its noise: deviation, through that of its function", "noise"},
    {"rank_correlation", "1", "of predictions and fitness, of the last 50 trials; NaN: too few", "rank_correlation"},
    {"predicted", "1", "fitness of the round's first trial, as predicted before; NaN: it belongs to a start",
     "predicted"},
    {"seen", "1", "fitness of that trial; NaN: it failed", "predicted"},
    {"best_so_far", "1", "best fitness of the search; NaN: none is feasible", "fitness"},
};

const ModelColumns bayesian_columns = {
    .first = BAYESIAN_REGION, .count = 5, .fields = &bayesian_scalars[BAYESIAN_REGION]};

const Field *bayesian_fields(const Spec *spec, Arena *arena, int *count)
{
    *count = BAYESIAN_SCALARS + spec->n_axes;
    Field *fields = ARENA_NEW(arena, Field, *count), *field = fields;
    for (int i = 0; i < BAYESIAN_SCALARS; i++) *field++ = bayesian_scalars[i];
    for (int a = 0; a < spec->n_axes; a++)
        *field++ =
            (Field){arena_format(arena, "length_%s", spec->configured.parameters[spec->axes[a].parameter].name), "1",
                    "length of the process of the fitness along the axis, of a range from 0 to 1", "lengths"};
    return fields;
}

// Kendall's tau-b of the last predictions and what was seen; NaN: too few.
static double bayesian_rank_correlation(const Bayesian *bayesian, const BayesianView *view)
{
    double seen[BAYESIAN_COMPARED], predicted[BAYESIAN_COMPARED];
    int count = 0;
    for (int64_t r = view->run->trials - 1; r >= 0 && count < BAYESIAN_COMPARED; r--) {
        const BayesianRow row = bayesian_row(bayesian, view, r);
        predicted[count] = bayesian_noted(bayesian, &row)[BAYESIAN_PREDICTED];
        seen[count] = row.told[BAYESIAN_COST];
        if (!isnan(seen[count]) && !isnan(predicted[count])) count++;
    }
    return count >= BAYESIAN_COMPARED_LEAST ? kendall_tau(seen, predicted, count) : (double)NAN;
}

static void bayesian_fill_row(const Bayesian *bayesian, const BayesianView *view, int64_t trials, double *row)
{
    const BayesianRun *run = view->run;
    const int n = bayesian->n;
    const double *theta = view->theta;
    double longest = theta[0], shortest = theta[0];
    int64_t failed = 0;
    for (int a = 1; a < n; a++) {
        longest = theta[a] > longest ? theta[a] : longest;
        shortest = theta[a] < shortest ? theta[a] : shortest;
    }
    for (int64_t r = 0; r < run->trials; r++) {
        const BayesianRow of = bayesian_row(bayesian, view, r);
        failed += bayesian_failed(&of);
    }
    const BayesianRow first = bayesian_row(bayesian, view, run->trials - trials);
    const double scalars[BAYESIAN_SCALARS] = {
        (double)(run->round - 1),
        (double)run->trials,
        (double)failed,
        (double)run->restarts,
        run->length,
        portable_exp(shortest),
        portable_exp(longest),
        portable_exp(0.5 * (theta[n + 1] - theta[n])),
        bayesian_rank_correlation(bayesian, view),
        spec_cost(bayesian->spec, 0, bayesian_noted(bayesian, &first)[BAYESIAN_PREDICTED]),
        spec_cost(bayesian->spec, 0, first.told[BAYESIAN_COST]),
        spec_cost(bayesian->spec, 0, run->best)};
    for (int i = 0; i < BAYESIAN_SCALARS; i++) *row++ = scalars[i];
    for (int a = 0; a < n; a++) *row++ = portable_exp(theta[a]);
}

void bayesian_report(Search *search, Bayesian *bayesian, const SideEnd *end, BayesianStop stop)
{
    const BayesianView view = bayesian_view(search, end->search);
    const int64_t trials = bayesian_points(search, end->search)->drawn.trials;
    double *fields;
    Round *row = side_round(search, end, (int64_t)stop, &fields);
    if (row == NULL) return;
    row->population = trials;
    row->evaluations = view.run->trials;
    row->sigma = view.run->length;
    row->best = spec_cost(bayesian->spec, 0, view.run->best);
    bayesian_fill_row(bayesian, &view, trials, fields);
}
