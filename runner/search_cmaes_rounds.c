// What a CMA-ES tells of every generation: a few numbers for `status` and SQL, and a row of everything for HDF5.
#include "search_cmaes.h"

#include <math.h>

enum { CMAES_SCALARS = 9 };

static const Field cmaes_scalars[CMAES_SCALARS] = {
    {"restart", "1", "restarts before this run of the strategy", "run"},
    {"population", "1", "members of the generation", "run"},
    {"evaluations", "1", "members so far, of all restarts", "evaluations"},
    {"sigma", "1", "step size, in coordinates that run from 0 to 10", "sigma"},
    {"condition", "1", "condition number of C", "condition"},
    {"best", "1", "fitness of the best member; NaN: all failed", "fitness"},
    {"median", "1", "fitness of the median member; NaN: it failed", "fitness"},
    {"worst", "1", "fitness of the worst member; NaN: it failed", "fitness"},
    {"best_so_far", "1", "best fitness of the whole search", "fitness"},
};

static Field *cmaes_add_fields(Field *field, const Spec *spec, int n, const char *group, const char *doc, Arena *arena)
{
    for (int i = 0; i < n; i++) {
        const char *name = spec->configured.parameters[spec->axes[i].parameter].name;
        *field++ = (Field){arena_format(arena, "%s_%s", group, name), "1", doc, group};
    }
    return field;
}

const Field *cmaes_fields(const Spec *spec, int n, Arena *arena, int *count)
{
    *count = 1 + CMAES_SCALARS + 4 * n + n * (n + 1) / 2;
    Field *fields = ARENA_NEW(arena, Field, *count), *field = fields;
    *field++ = (Field){"generation", "1", "number of the generation, from 0", "generation"};
    for (int i = 0; i < CMAES_SCALARS; i++) *field++ = cmaes_scalars[i];
    field = cmaes_add_fields(field, spec, n, "mean", "mean of the next generation, in coordinates", arena);
    for (int i = 0; i < n; i++)
        *field++ = (Field){arena_format(arena, "length_%d", i), "1", "lengths of the axes of C, ascending", "lengths"};
    field = cmaes_add_fields(field, spec, n, "p_c", "evolution path of C", arena);
    field = cmaes_add_fields(field, spec, n, "p_sigma", "evolution path of sigma", arena);
    for (int i = 0; i < n; i++) {
        for (int j = i; j < n; j++)
            *field++ = (Field){arena_format(arena, "C_%d_%d", i, j), "1", "covariance, upper triangle by rows", "C"};
    }
    return fields;
}

static void cmaes_fill_row(const Cmaes *cmaes, const CmaesView *view, double *row)
{
    const CmaesRun *run = view->run;
    const int n = cmaes->n;
    const double scalars[1 + CMAES_SCALARS] = {(double)(run->round - 1),
                                               (double)run->restart,
                                               (double)run->lambda,
                                               (double)run->evaluations,
                                               run->sigma,
                                               cmaes_condition(cmaes, view),
                                               run->generation_best,
                                               run->generation_median,
                                               run->generation_worst,
                                               run->best};
    for (int i = 0; i < 1 + CMAES_SCALARS; i++) *row++ = scalars[i];
    const double *const vectors[] = {view->mean, view->lengths, view->p_c, view->p_sigma};
    for (size_t v = 0; v < sizeof vectors / sizeof *vectors; v++) {
        for (int i = 0; i < n; i++) *row++ = vectors[v][i];
    }
    for (int i = 0; i < n; i++) {
        for (int j = i; j < n; j++) *row++ = view->C[i * n + j];
    }
}

// After the update of a generation and before a restart.
void cmaes_report(Search *search, int64_t run, CmaesStop stop)
{
    const Cmaes *cmaes = search->scratch;
    const CmaesView view = cmaes_view(search, run);
    Rounds *rounds = search->rounds;
    if (rounds == NULL || rounds->count >= rounds->capacity) return;
    rounds->row[rounds->count] = (Round){.search = (int32_t)(run + (int64_t)cmaes->settings[CMAES_FIRST]),
                                         .round = (int32_t)(view.run->round - 1),
                                         .population = view.run->lambda,
                                         .evaluations = view.run->evaluations,
                                         .sigma = view.run->sigma,
                                         .condition = cmaes_condition(cmaes, &view),
                                         .best = view.run->best,
                                         .stop = stop != CMAES_GOES_ON ? cmaes_stop_names[stop] : NULL};
    cmaes_fill_row(cmaes, &view, rounds->field + rounds->count * search->n_round_fields);
    rounds->count++;
}
