// The record of every round of a search along gradients: a few numbers for `status` and SQL, and a row of all for HDF5.
#include "descent.h"

#include <math.h>

enum { DESCENT_SCALARS = 12 };

static const Field descent_scalars[DESCENT_SCALARS] = {
    {"generation", "1", "number of the round, from 0", "generation"},
    {"restart", "1", "restarts before it", "restart"},
    {"iteration", "1", "iterations of the restart, with this round", "iteration"},
    {"line", "1", "1: the next round is points along a line; 0: differences", "line"},
    {"evaluations", "1", "trials so far", "evaluations"},
    {"failed", "1", "trials of the round that failed", "failed"},
    {"missing", "1", "derivatives that are missing, because their points failed", "missing"},
    {"fitness", "1", "of the point where the derivatives were taken, constraints included; NaN: it failed", "fitness"},
    {"best", "1", "best fitness so far; NaN: none", "best"},
    {"gradient", "1", "norm of the last gradient, in fitness per range, without what points out of the ranges",
     "gradient"},
    {"step", "1", "length of the last step, as a fraction of the ranges; NaN: none yet", "step"},
    {"rate", "1", "factor of the last step; NaN: none yet", "rate"},
};

static const struct {
    const char *name, *doc;
} descent_groups[] = {
    {"centre", "where the search is after the round, from 0 to 1 over the range"},
    {"slope", "last derivative by it, in fitness per range; 0: missing"},
};
enum { DESCENT_GROUPS = sizeof descent_groups / sizeof *descent_groups };

const Field *descent_fields(const Spec *spec, Arena *arena, int *count)
{
    *count = DESCENT_SCALARS + DESCENT_GROUPS * spec->n_axes;
    Field *fields = ARENA_NEW(arena, Field, *count), *field = fields;
    for (int i = 0; i < DESCENT_SCALARS; i++) *field++ = descent_scalars[i];
    for (int g = 0; g < DESCENT_GROUPS; g++) {
        for (int i = 0; i < spec->n_axes; i++)
            *field++ = (Field){arena_format(arena, "%s_%d", descent_groups[g].name, i + 1), "1", descent_groups[g].doc,
                               descent_groups[g].name};
    }
    return fields;
}

static void descent_fill_row(const Descent *descent, const DescentView *view, int64_t failed, double *row)
{
    const DescentRun *run = view->run;
    const double sign = spec_cost(descent->spec, 0, 1.0); // fitness of a cost of 1
    const double scalars[DESCENT_SCALARS] = {(double)(run->round - 1),
                                             (double)run->restart,
                                             (double)run->iteration,
                                             (double)run->on_line,
                                             (double)run->evaluations,
                                             (double)failed,
                                             (double)run->missing,
                                             spec_cost(descent->spec, 0, run->value),
                                             spec_cost(descent->spec, 0, run->best),
                                             run->gradient,
                                             run->step,
                                             descent->method->rate(descent, run)};
    for (int i = 0; i < DESCENT_SCALARS; i++) *row++ = scalars[i];
    for (int i = 0; i < descent->n; i++) *row++ = view->x[i];
    for (int i = 0; i < descent->n; i++) *row++ = sign * view->slope[i] + 0.0;
}

// After the step of a round and before a restart.
void descent_report(Search *search, const Descent *descent, const SideEnd *end, int64_t failed, DescentStop stop)
{
    const DescentView view = descent_view(search, end->search);
    double *fields;
    Round *row = side_round(search, end, (int64_t)stop, &fields);
    if (row == NULL) return;
    row->population = descent_points(search, end->search)->trials;
    row->evaluations = view.run->evaluations;
    row->sigma = view.run->step;
    row->best = spec_cost(descent->spec, 0, view.run->best);
    row->has_gradient = descent->took;
    row->gradient = descent->signs;
    descent_fill_row(descent, &view, failed, fields);
}
