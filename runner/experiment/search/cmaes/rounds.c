// The record of every generation of a CMA-ES: a few numbers for `status` and SQL, and a row of all for HDF5.
#include "cmaes.h"

#include <math.h>

enum { CMAES_SCALARS = 9 };

static const Field cmaes_scalars[CMAES_SCALARS] = {
    {"restart", "1", "restarts before this run of the strategy", "run"},
    {"population", "1", "members of the generation", "run"},
    {"evaluations", "1", "members so far, of all restarts", "evaluations"},
    {"sigma", "1", "step size, in coordinates that run from 0 to 10", "sigma"},
    {"condition", "1", "condition number of C", "condition"},
    {"best", "1", "what the best member was ranked by; NaN: all failed", "fitness"},
    {"median", "1", "what the median member was ranked by; NaN: it failed", "fitness"},
    {"worst", "1", "what the worst member was ranked by; NaN: it failed", "fitness"},
    {"best_so_far", "1", "best fitness of the whole search", "fitness"},
};

// Behind them, of a search with a surrogate.
static const Field cmaes_surrogate_scalars[] = {
    {"tau", "1", "Kendall's tau between the model and the fitness of the newest points", "surrogate"},
    {"evaluated", "1", "members of the generation that were run, with this round", "surrogate"},
    {"model", "1", "kind of the model: 0 none, 1 linear, 2 diagonal, 3 full quadratic", "surrogate"},
};
enum { CMAES_SURROGATE_SCALARS = sizeof cmaes_surrogate_scalars / sizeof *cmaes_surrogate_scalars };
static const char *const cmaes_surrogate_kinds[SURROGATE_KINDS] = {"none", "linear", "diagonal", "full"};

// Or of one whose members race.
static const Field cmaes_race_scalars[] = {
    {"replicates", "1", "of the members of the generation so far, in all", "race"},
    {"unclear", "1", "members whose rank is not clear, which run more replicates", "race"},
};
enum { CMAES_RACE_SCALARS = sizeof cmaes_race_scalars / sizeof *cmaes_race_scalars };

static const ModelColumns cmaes_race_columns = {
    .first = 1 + CMAES_SCALARS, .count = CMAES_RACE_SCALARS, .fields = cmaes_race_scalars, .key = "replicates.race"};

const ModelColumns cmaes_surrogate_columns = {.first = 1 + CMAES_SCALARS,
                                              .count = CMAES_SURROGATE_SCALARS,
                                              .fields = cmaes_surrogate_scalars,
                                              .words = cmaes_surrogate_kinds,
                                              .n_words = SURROGATE_KINDS,
                                              .key = "search.cmaes.surrogate",
                                              .other = &cmaes_race_columns};

static Field *cmaes_add_fields(Field *field, const Spec *spec, int n, const char *group, const char *doc, Arena *arena)
{
    for (int i = 0; i < n; i++) {
        const char *name = spec->configured.parameters[spec->axes[i].parameter].name;
        *field++ = (Field){arena_format(arena, "%s_%s", group, name), "1", doc, group};
    }
    return field;
}

static const char *cmaes_lengths_doc(const Cmaes *cmaes)
{
    return cmaes->separable ? "lengths of the axes of C, by coordinate" : "lengths of the axes of C, ascending";
}

// What options add.
static Field *cmaes_add_option_fields(const Cmaes *cmaes, Field *field, Arena *arena)
{
    if (cmaes->uncertain) {
        *field++ = (Field){"evaluations_each", "1", "of a member, in the next generation", "uncertainty"};
        *field++ = (Field){"noise", "1", "measure of rank changes; > 0: more than chance explains", "uncertainty"};
    }
    for (int i = 0; cmaes->lagrangian && i < cmaes->n_constraints; i++) {
        *field++ = (Field){arena_format(arena, "multiplier_%d", i + 1), "1", "gamma of the constraint", "lagrangian"};
        *field++ = (Field){arena_format(arena, "stiffness_%d", i + 1), "1", "omega of the constraint", "lagrangian"};
    }
    return field;
}

// Of the covariance: its upper triangle by rows; separable: its diagonal.
static Field *cmaes_add_covariance_fields(const Cmaes *cmaes, Field *field, Arena *arena)
{
    const int n = cmaes->n;
    for (int i = 0; i < n; i++) {
        for (int j = i; j < (cmaes->separable ? i + 1 : n); j++)
            *field++ = (Field){arena_format(arena, "C_%d_%d", i, j), "1", "covariance, upper triangle by rows", "C"};
    }
    return field;
}

const Field *cmaes_fields(const Cmaes *cmaes, Arena *arena, int *count)
{
    const int n = cmaes->n;
    const Spec *spec = cmaes->spec;
    const int most = 1 + CMAES_SCALARS + CMAES_SURROGATE_SCALARS + CMAES_RACE_SCALARS + 5 * n +
                     (cmaes->separable ? n : n * (n + 1) / 2) + 2 + 2 * cmaes->n_constraints;
    Field *fields = ARENA_NEW(arena, Field, most), *field = fields;
    *field++ = (Field){"generation", "1", "number of the generation, from 0", "generation"};
    for (int i = 0; i < CMAES_SCALARS; i++) *field++ = cmaes_scalars[i];
    for (int i = 0; cmaes->surrogate && i < CMAES_SURROGATE_SCALARS; i++) *field++ = cmaes_surrogate_scalars[i];
    for (int i = 0; cmaes->race && i < CMAES_RACE_SCALARS; i++) *field++ = cmaes_race_scalars[i];
    field = cmaes_add_fields(field, spec, n, "mean", "mean of the next generation, in coordinates", arena);
    for (int i = 0; i < n; i++)
        *field++ = (Field){arena_format(arena, "length_%d", i), "1", cmaes_lengths_doc(cmaes), "lengths"};
    field = cmaes_add_fields(field, spec, n, "p_c", "evolution path of C", arena);
    field = cmaes_add_fields(field, spec, n, "p_sigma", "evolution path of sigma", arena);
    field = cmaes_add_covariance_fields(cmaes, field, arena);
    if (cmaes->has_integers) field = cmaes_add_fields(field, spec, n, "scaling", "A, of the steps of integers", arena);
    field = cmaes_add_option_fields(cmaes, field, arena);
    *count = (int)(field - fields);
    return fields;
}

// partly: members of a generation that goes on, which were run; 0: it has ended.
static void cmaes_fill_row(const Cmaes *cmaes, const CmaesView *view, int64_t partly, double *row)
{
    const CmaesRun *run = view->run;
    const int n = cmaes->n;
    const double scalars[1 + CMAES_SCALARS] = {(double)(run->round - (partly == 0)),
                                               (double)run->restart,
                                               (double)run->lambda,
                                               (double)(run->evaluations + partly),
                                               run->sigma,
                                               cmaes_condition(cmaes, view),
                                               spec_cost(cmaes->spec, 0, run->generation_best),
                                               spec_cost(cmaes->spec, 0, run->generation_median),
                                               spec_cost(cmaes->spec, 0, run->generation_worst),
                                               spec_cost(cmaes->spec, 0, run->best)};
    for (int i = 0; i < 1 + CMAES_SCALARS; i++) *row++ = scalars[i];
    if (cmaes->surrogate) {
        *row++ = view->surrogate->tau;
        *row++ = (double)view->surrogate->evaluated;
        *row++ = (double)view->surrogate->kind;
    }
    if (cmaes->race) {
        *row++ = (double)view->race->simulations;
        *row++ = (double)view->race->unclear;
    }
    const double *const vectors[] = {view->mean, view->lengths, view->p_c, view->p_sigma};
    for (size_t v = 0; v < sizeof vectors / sizeof *vectors; v++) {
        for (int i = 0; i < n; i++) *row++ = vectors[v][i];
    }
    for (int i = 0; i < n; i++) {
        if (cmaes->separable) *row++ = view->C[i];
        for (int j = i; !cmaes->separable && j < n; j++) *row++ = view->C[i * n + j];
    }
    for (int i = 0; cmaes->has_integers && i < n; i++) *row++ = view->scaling[i];
    if (cmaes->uncertain) *row++ = run->evaluations_each;
    if (cmaes->uncertain) *row++ = run->noise;
    for (int i = 0; cmaes->lagrangian && i < cmaes->n_constraints; i++) {
        *row++ = view->multiplier[i];
        *row++ = view->stiffness[i];
    }
}

void cmaes_report(Search *search, const SideEnd *end, int64_t partly, CmaesStop stop)
{
    const Cmaes *cmaes = search->scratch;
    const CmaesView view = cmaes_view(search, end->search);
    double *fields;
    Round *row = side_round(search, end, (int64_t)stop, &fields);
    if (row == NULL) return;
    row->population = view.run->lambda;
    row->evaluations = view.run->evaluations + partly;
    row->sigma = view.run->sigma;
    row->condition = cmaes_condition(cmaes, &view);
    row->best = spec_cost(cmaes->spec, 0, view.run->best);
    cmaes_fill_row(cmaes, &view, partly, fields);
}
