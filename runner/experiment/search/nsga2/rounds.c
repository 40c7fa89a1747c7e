// The record of every generation of NSGA-II: a few numbers for `status` and SQL, and a row of all for HDF5.
#include "nsga2.h"

#include <math.h>

enum { NSGA2_SCALARS = 6 };

static const Field nsga2_scalars[NSGA2_SCALARS] = {
    {"generation", "1", "number of the generation, from 0", "generation"},
    {"population", "1", "members after the generation", "population"},
    {"evaluations", "1", "trials so far", "evaluations"},
    {"failed", "1", "trials of the generation that failed", "failed"},
    {"front", "1", "members that no other one dominates", "front"},
    {"hypervolume", "1", "of the front, below the reference point; NaN: there is none", "hypervolume"},
};

static const struct {
    const char *name, *doc;
} nsga2_groups[] = {
    {"reference", "where the hypervolume is measured from"},
    {"least", "least value in the front; NaN: all failed"},
    {"greatest", "greatest value in the front; NaN: all failed"},
};
enum { NSGA2_GROUPS = sizeof nsga2_groups / sizeof *nsga2_groups };

const Field *nsga2_fields(const Spec *spec, Arena *arena, int *count)
{
    *count = NSGA2_SCALARS + NSGA2_GROUPS * spec->objective.count;
    Field *fields = ARENA_NEW(arena, Field, *count), *field = fields;
    for (int i = 0; i < NSGA2_SCALARS; i++) *field++ = nsga2_scalars[i];
    for (int g = 0; g < NSGA2_GROUPS; g++) {
        for (int k = 0; k < spec->objective.count; k++)
            *field++ = (Field){arena_format(arena, "%s_%d", nsga2_groups[g].name, k + 1), "1", nsga2_groups[g].doc,
                               nsga2_groups[g].name};
    }
    return fields;
}

// low[K], high[K] of the front
static void nsga2_extent(const Nsga2 *nsga2, const Nsga2View *view, double *low, double *high)
{
    for (int k = 0; k < nsga2->objectives; k++) {
        low[k] = high[k] = (double)NAN;
        for (int64_t i = 0; i < view->run->front; i++) {
            const double x = spec_cost(nsga2->spec, k, nsga2_member(nsga2, view->member, i).objective[k]);
            if (!(x >= low[k])) low[k] = x;
            if (!(x <= high[k])) high[k] = x;
        }
    }
}

static void nsga2_fill_row(const Nsga2 *nsga2, const Nsga2View *view, int64_t failed, double *row)
{
    const Nsga2Run *run = view->run;
    const double scalars[NSGA2_SCALARS] = {(double)(run->round - 1), (double)run->members, (double)run->evaluations,
                                           (double)failed,           (double)run->front,   run->hypervolume};
    for (int i = 0; i < NSGA2_SCALARS; i++) *row++ = scalars[i];
    for (int k = 0; k < nsga2->objectives; k++)
        *row++ = run->has_reference != 0 ? spec_cost(nsga2->spec, k, view->reference[k]) : (double)NAN;
    nsga2_extent(nsga2, view, row, row + nsga2->objectives);
}

// After the selection of a generation.
void nsga2_report(Search *search, const SideEnd *end, int64_t failed, Nsga2Stop stop)
{
    const Nsga2 *nsga2 = search->scratch;
    const Nsga2View view = nsga2_view(search, end->search);
    double *fields;
    Round *row = side_round(search, end, (int64_t)stop, &fields);
    if (row == NULL) return;
    row->population = view.run->members;
    row->evaluations = view.run->evaluations;
    row->has_front = true;
    row->front = view.run->front;
    row->hypervolume = view.run->hypervolume;
    nsga2_fill_row(nsga2, &view, failed, fields);
}
