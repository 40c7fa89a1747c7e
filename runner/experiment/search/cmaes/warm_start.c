// Where a search starts that goes on from another campaign (`cmaes: {from: NAME}`). What it takes is written into the
// spec as it is stored (`taken`), so that the new campaign needs the other one never again, and is what its identity
// covers.
//
// From a cmaes campaign that searched the same ranges: the mean of the search with the best fitness, and its
// covariance, scaled to a mean variance of 1; steps are as long as the new spec says. From any other: the mean of its
// best trials, and step sizes from their spread.
#include "../../spec/keys.h"
#include "cmaes.h"
#include "warm_start.h"

#include "../../../campaign/store/store.h"

#include <math.h>
#include <string.h>

enum { WARM_BEST = 10 }; // trials

static const size_t warm_bytes = (size_t)256 << 20; // of address space
static const double warm_least_spread = 1e-3;       // of a coordinate, beside the mean of all

// ---- from a state ---------------------------------------------------------------------------------------------------

// axis[i]: which of the other's axes is the i-th of this spec. False: ranges or parameters differ.
static bool warm_axes_agree(const Spec *spec, const Spec *other, int *axis)
{
    if (spec->n_axes != other->n_axes || other->method != &search_cmaes) return false;
    for (int i = 0; i < spec->n_axes; i++) {
        const Values *mine = &spec->axes[i].values;
        const char *name = spec->configured.parameters[spec->axes[i].parameter].name;
        axis[i] = -1;
        for (int j = 0; j < other->n_axes; j++) {
            const Values *its = &other->axes[j].values;
            const bool same = mine->low == its->low && mine->high == its->high && mine->log_scale == its->log_scale &&
                              mine->integer == its->integer;
            if (same && strcmp(other->configured.parameters[other->axes[j].parameter].name, name) == 0) axis[i] = j;
        }
        if (axis[i] < 0) return false;
    }
    return true;
}

static Error warm_read_state(Database *database, Search *search, bool *found)
{
    Statement *statement = NULL;
    bool row = false;
    TRY(database_prepare(database, "SELECT state FROM searches WHERE id = 0", &statement));
    Error error = statement_step(statement, &row);
    const Bytes blob = row && !column_is_null(statement, 0) ? column_blob(statement, 0) : (Bytes){.size = 0};
    *found = blob.size > 0 && blob.size <= search_state_most(search);
    if (*found) {
        memcpy(search->state, blob.data, blob.size);
        search->state_size = blob.size;
    }
    statement_close(statement);
    if (error.kind == OK && *found) error = search->method->restore(search);
    return error;
}

// The search with the best fitness among those that did not start anew since; -1: there is none.
static int64_t warm_best_search(const Search *search)
{
    const Cmaes *cmaes = search->scratch;
    int64_t best = -1;
    for (int64_t s = 0; s < cmaes->searches; s++) {
        const CmaesRun *run = cmaes_view(search, s).run;
        if (run->restart > 0 || isnan(run->best)) continue;
        if (best < 0 || run->best < cmaes_view(search, best).run->best) best = s;
    }
    return best;
}

static bool warm_is_mirrored(const Spec *spec, const Values *values)
{
    return spec->method_settings[CMAES_BOUNDS] == CMAES_BOUNDS_TRANSFORM && !values->integer;
}

// The strategy's own coordinate of one in [0, CMAES_WIDTH].
static double warm_own(const Spec *spec, const Values *values, double coordinate)
{
    return warm_is_mirrored(spec, values) ? cmaes_unreflected(coordinate) : coordinate;
}

// The other one's own coordinate as one of this spec's.
static double warm_coordinate(const Spec *spec, const Spec *other, const Values *values, double x)
{
    const double inside = x > 0.0 ? (x < CMAES_WIDTH ? x : CMAES_WIDTH) : 0.0;
    return warm_own(spec, values, warm_is_mirrored(other, values) ? cmaes_reflected(x) : inside);
}

static void warm_from_view(Spec *spec, const Cmaes *its, const CmaesView *view, const int *axis, Arena *arena)
{
    const int n = spec->n_axes;
    double *mean = ARENA_NEW(arena, double, n), *covariance = ARENA_NEW(arena, double, n *(n + 1) / 2), trace = 0.0;
    for (int i = 0; i < n; i++) {
        mean[i] = warm_coordinate(spec, its->spec, &spec->axes[i].values, view->mean[axis[i]]);
        trace += cmaes_variance(its, view, axis[i]);
    }
    double *at = covariance;
    for (int i = 0; i < n; i++) {
        for (int j = its->separable ? i : 0; j <= i; j++)
            *at++ = (i == j ? cmaes_variance(its, view, axis[i]) : view->C[axis[i] * n + axis[j]]) / (trace / n);
    }
    spec->warm.mean = mean;
    spec->warm.covariance = covariance;
    spec->warm.full = !its->separable && n > 1;
    spec->warm.sigma = 0.0;
}

static Error warm_from_state(Spec *spec, StoredCampaign *other, Search *search, Arena *arena, bool *done)
{
    int *axis = ARENA_NEW(arena, int, spec->n_axes);
    bool found = false;
    *done = false;
    if (!warm_axes_agree(spec, &other->spec, axis)) return error_none();
    TRY(warm_read_state(other->database, search, &found));
    const int64_t best = found ? warm_best_search(search) : -1;
    if (best < 0) return error_none();
    const CmaesView view = cmaes_view(search, best);
    warm_from_view(spec, search->scratch, &view, axis, arena);
    *done = true;
    return error_none();
}

// ---- from the best trials -------------------------------------------------------------------------------------------

// Coordinates of the best trials, where the other campaign has the parameter at all.
typedef struct WarmTrials {
    int *parameter;     // [n_axes] of the other's configured ones, -1: it has none of this name
    double *coordinate; // [WARM_BEST][n_axes]
    int count, shared;  // trials; axes whose parameter there is
} WarmTrials;

static void warm_find_parameters(const Spec *spec, const Spec *other, WarmTrials *trials)
{
    for (int i = 0; i < spec->n_axes; i++) {
        trials->parameter[i] = -1;
        for (int p = 0; p < configured_named(&other->configured); p++) {
            const char *name = spec->configured.parameters[spec->axes[i].parameter].name;
            if (strcmp(other->configured.parameters[p].name, name) == 0) trials->parameter[i] = p;
        }
        trials->shared += trials->parameter[i] >= 0;
    }
}

static Error warm_read_trials(const Spec *spec, StoredCampaign *other, const Search *search, WarmTrials *trials,
                              Arena *arena)
{
    Statement *statement = NULL;
    double *parameter = ARENA_NEW(arena, double, other->spec.configured.n_parameters);
    bool row = false;
    TRY(database_prepare(other->database,
                         arena_format(arena, "SELECT id FROM trials WHERE fitness IS NOT NULL ORDER BY %s LIMIT %d",
                                      store_best_order(&other->spec), WARM_BEST),
                         &statement));
    Error error = statement_step(statement, &row);
    for (; error.kind == OK && row; error = statement_step(statement, &row)) {
        error = search_read_trial(search, other->database, column_integer(statement, 0), arena, parameter);
        if (error.kind != OK) break;
        double *coordinate = trials->coordinate + (int64_t)trials->count++ * spec->n_axes;
        for (int i = 0; i < spec->n_axes; i++) {
            const bool there = trials->parameter[i] >= 0;
            coordinate[i] = cmaes_coordinate(&spec->axes[i].values, there ? parameter[trials->parameter[i]]
                                                                          : spec->fixed[spec->axes[i].parameter]);
        }
    }
    statement_close(statement);
    return error;
}

static void warm_measure_trials(const Spec *spec, const WarmTrials *trials, double *mean, double *variance)
{
    const int n = spec->n_axes;
    for (int i = 0; i < n; i++) {
        mean[i] = variance[i] = 0.0;
        for (int t = 0; t < trials->count; t++) mean[i] += trials->coordinate[t * n + i] / trials->count;
        for (int t = 0; t < trials->count && trials->count > 1; t++) {
            const double away = trials->coordinate[t * n + i] - mean[i];
            variance[i] += away * away / (trials->count - 1);
        }
    }
}

// Variances relative to their mean, which is the square of sigma. Those of parameters that the other campaign does not
// have are like the rest's mean.
static void warm_from_trials(Spec *spec, const WarmTrials *trials, Arena *arena)
{
    const int n = spec->n_axes;
    double *mean = ARENA_NEW(arena, double, n), *variance = ARENA_NEW(arena, double, n), sum = 0.0;
    warm_measure_trials(spec, trials, mean, variance);
    for (int i = 0; i < n; i++) sum += trials->parameter[i] >= 0 ? variance[i] / trials->shared : 0.0;
    const double least = warm_least_spread * warm_least_spread;
    for (int i = 0; i < n; i++) {
        const double relative = sum > 0.0 && trials->parameter[i] >= 0 ? variance[i] / sum : 1.0;
        variance[i] = relative > least ? relative : least;
        mean[i] = warm_own(spec, &spec->axes[i].values, mean[i]);
    }
    spec->warm.mean = mean;
    spec->warm.covariance = variance;
    spec->warm.full = false;
    spec->warm.sigma = sum > 0.0 ? sqrt(sum) : 0.0;
}

static Error warm_from_best(Spec *spec, StoredCampaign *other, const Search *search, Arena *arena)
{
    WarmTrials trials = {.parameter = ARENA_NEW(arena, int, spec->n_axes),
                         .coordinate = ARENA_NEW(arena, double, (int64_t)WARM_BEST * spec->n_axes)};
    warm_find_parameters(spec, &other->spec, &trials);
    if (trials.shared == 0)
        return error_make(ERROR_USER, "campaign %.128s has none of the parameters that are searched", other->name);
    TRY(warm_read_trials(spec, other, search, &trials, arena));
    if (trials.count == 0) return error_make(ERROR_USER, "campaign %.128s has no trial that did not fail", other->name);
    warm_from_trials(spec, &trials, arena);
    return error_none();
}

// ---- all of it ------------------------------------------------------------------------------------------------------

static Error warm_from_campaign(Spec *spec, StoredCampaign *other, Arena *arena)
{
    Search search;
    bool done = false;
    TRY(search_init(&other->spec, arena, &search));
    TRY(warm_from_state(spec, other, &search, arena, &done));
    if (!done) TRY(warm_from_best(spec, other, &search, arena));
    spec->warm.hash = arena_copy(arena, other->spec.hash.hex);
    return error_none();
}

// What the campaign has taken already, if it is there: run again, it is the same.
static bool warm_from_itself(const Spec *spec, const char *results, const char *name, Arena *arena, const char **taken)
{
    StoredCampaign stored;
    if (campaign_open(results, name, arena, &stored).kind != OK) return false;
    const bool same = stored.spec.warm.mean != NULL && strcmp(stored.spec.warm.from, spec->warm.from) == 0;
    if (same) *taken = cmaes_taken_text(&stored.spec, arena);
    campaign_close(&stored);
    return same;
}

Error warm_start_take(const Spec *spec, const char *results, const char *name, Arena *arena, const char **taken)
{
    StoredCampaign other;
    *taken = NULL;
    if (spec->warm.from == NULL || spec->warm.mean != NULL) return error_none();
    if (warm_from_itself(spec, results, name, arena, taken)) return error_none();
    if (strcmp(spec->warm.from, name) == 0)
        return error_make(ERROR_USER, "%.128s can't start from itself; give the new campaign its own name with --name",
                          name);
    Arena own;
    TRY(arena_create_growing(&own, warm_bytes, "the campaign that a search starts from"));
    Error error = campaign_open(results, spec->warm.from, &own, &other);
    if (error.kind == OK) {
        Spec filled = *spec;
        error = warm_from_campaign(&filled, &other, &own);
        campaign_close(&other);
        if (error.kind == OK) *taken = cmaes_taken_text(&filled, arena);
    }
    arena_destroy(&own);
    return error;
}
