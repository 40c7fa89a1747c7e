// The specs that verify derives, and the outcome of their runs. See view.h.
#include "../view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- fresh seeds ----------------------------------------------------------------------------------------------------

uint64_t verify_seed(const Spec *spec)
{
    char text[64];
    snprintf(text, sizeof text, "verify %llu", (unsigned long long)spec->seed);
    const Sha256Text hash = sha256_of(text, strlen(text));
    char digits[14] = "";
    memcpy(digits, hash.hex, 13); // 52 bits
    return strtoull(digits, NULL, 16);
}

bool verify_draws(const Spec *spec)
{
    return spec->replicates.n_perturb > 0 || configured_named(&spec->configured) < spec->configured.n_parameters;
}

// ---- the new specs --------------------------------------------------------------------------------------------------

static const Perturbation *verify_perturbed(const Spec *spec, int parameter)
{
    for (int i = 0; i < spec->replicates.n_perturb; i++) {
        if (spec->replicates.perturb[i].parameter == parameter) return &spec->replicates.perturb[i];
    }
    return NULL;
}

// A parameter that describes the machine or its task: set, not searched, not drawn, and not zero.
static bool verify_is_physics(const VerifyTask *task, int parameter)
{
    const Spec *spec = &task->campaign->spec;
    return spec->configured.parameters[parameter].section == SECTION_PARAMETERS && axis_of(spec, parameter) == NULL &&
           verify_perturbed(spec, parameter) == NULL && configured_choices(&spec->configured, parameter) == NULL &&
           task->parameter[parameter] != 0.0;
}

static bool verify_is_also(const VerifyTask *task, int parameter)
{
    for (int i = 0; i < task->n_also; i++) {
        if (task->also[i] == parameter) return true;
    }
    return false;
}

// x with 9 digits, which keeps the spec readable, and within the parameter's range.
static double verify_within(const Parameter *row, double x)
{
    char text[32];
    snprintf(text, sizeof text, "%.9g", x);
    x = strtod(text, NULL);
    return x < row->low ? row->low : x > row->high ? row->high : x;
}

// A fraction of zero changes nothing: of such a gain it is a fraction of the width that was searched; if the search has
// one value only, of 1, or of the parameter's own range.
static double verify_scale(const Parameter *row, const Axis *axis, double x)
{
    if (x != 0.0 || axis == NULL) return fabs(x);
    double low, high;
    values_ends(&axis->values, &low, &high);
    return high > low ? high - low : row->high - row->low < 1.0 ? row->high - row->low : 1.0;
}

// The trial's word, and all others that the axis has. `centered` takes the middle as its centre.
static Values verify_words(const VerifyTask *task, const Axis *axis, Arena *arena)
{
    const double x = task->parameter[axis->parameter];
    const bool range = values_are_range(&axis->values);
    const int64_t most = range ? (int64_t)(axis->values.high - axis->values.low) + 1 : axis->values.count;
    double *list = ARENA_NEW(arena, double, most + 1);
    int count = 0;
    list[count++] = x;
    for (int64_t i = 0; i < most; i++) {
        const double word = range ? axis->values.low + (double)i : values_at(&axis->values, i);
        bool there = false;
        for (int k = 0; k < count; k++) there |= list[k] == word;
        if (!there) list[count++] = word;
    }
    const int middle = (count - 1) / 2;
    memmove(list, list + 1, (size_t)middle * sizeof *list);
    list[middle] = x;
    return (Values){.list = list, .count = count};
}

// The trial's value, lowered and raised by `fraction` of it as far as the parameter's range allows. `centered` takes
// the middle of three values and the first of two as its centre.
static Values verify_changes(const VerifyTask *task, int parameter, double fraction, Arena *arena)
{
    const Parameter *row = &task->campaign->spec.configured.parameters[parameter];
    const Axis *axis = axis_of(&task->campaign->spec, parameter);
    const double x = task->parameter[parameter];
    if (axis != NULL && axis->values.choices != NULL && fraction > 0.0) return verify_words(task, axis, arena);
    double step = fraction * verify_scale(row, axis, x);
    if (axis != NULL && axis->values.integer && step > 0.0) step = fmax(1.0, floor(step + 0.5));
    const double low = step > 0.0 ? verify_within(row, x - step) : x;
    const double high = step > 0.0 ? verify_within(row, x + step) : x;
    double *list = ARENA_NEW(arena, double, 3);
    int count = 0;
    if (low < x && high > x) list[count++] = low;
    list[count++] = x;
    if (low < x && !(high > x)) list[count++] = low;
    if (high > x) list[count++] = high;
    return (Values){.list = list, .count = count};
}

// The axes of a new spec, while they are gathered.
typedef struct VerifyAxes {
    Axis *axes; // [n_parameters]
    int count;
} VerifyAxes;

static VerifyAxes verify_axes(const Spec *spec, Arena *arena)
{
    return (VerifyAxes){.axes = ARENA_NEW(arena, Axis, configured_named(&spec->configured) + 1)};
}

static void verify_add(VerifyAxes *to, int parameter, Values values)
{
    to->axes[to->count++] = (Axis){.parameter = parameter, .zip = -1, .values = values};
}

static void verify_add_value(const VerifyTask *task, int parameter, VerifyAxes *to)
{
    verify_add(to, parameter, (Values){.list = &task->parameter[parameter], .count = 1});
}

// What an outer grid gave the trial's search stays as it is.
static void verify_add_outer(const VerifyTask *task, VerifyAxes *to)
{
    const Spec *spec = &task->campaign->spec;
    const Axis *outer = spec->axes + spec->n_axes + spec->n_derived;
    for (int i = 0; i < spec->n_outer; i++) verify_add_value(task, outer[i].parameter, to);
}

// A spec without replicates. Failed runs are left out of the fitness; their rate is reported apart.
static Error verify_derive(const VerifyTask *task, const char *name, const SearchMethod *method, const VerifyAxes *axes,
                           Arena *arena, Spec *out)
{
    if (task->campaign->spec.n_cases > 0)
        return error_make(ERROR_USER,
                          "campaign %s has cases, and other replicates than these: a fit is verified by `validate`",
                          task->campaign->name);
    spec_derive(&task->campaign->spec, arena_format(arena, "%s/%s (made by hopscotch)", task->campaign->folder, name),
                name, method, axes->axes, axes->count, arena, out);
    out->seed = task->seed;
    out->objective.failed = FAILED_IGNORE;
    return spec_strip(out, arena);
}

// Writes the text of the spec, which users read. `replicates`: with the keys of the replicates.
static Error verify_describe(const VerifyTask *task, const char *what, bool replicates, Arena *arena, Spec *spec)
{
    static const char *const keys[] = {"model",
                                       "simulation",
                                       "initial",
                                       "parameters",
                                       "objective",
                                       "constraints",
                                       "search.method",
                                       "search.over",
                                       "replicates.count",
                                       "replicates.common",
                                       "replicates.store",
                                       "replicates.perturb"};
    enum { ALL = sizeof keys / sizeof *keys, OF_REPLICATES = 4 };
    TextStream text;
    TRY(text_stream_open(arena_format(arena, "the spec of %s", spec->experiment), &text));
    if (task->trial >= 0)
        fprintf(text.out, "# hopscotch verify: trial %lld of %s, %s.\n", (long long)task->trial, task->campaign->name,
                what);
    else
        fprintf(text.out, "# hopscotch verify: the model's defaults for what %s searches, %s.\n", task->campaign->name,
                what);
    fprintf(text.out, "version: 1\nexperiment: \"%s\"\nseed: %llu\n", spec->experiment, (unsigned long long)spec->seed);
    spec_write(spec, &task->campaign->spec, keys, replicates ? ALL : ALL - OF_REPLICATES, arena, text.out);
    const Error error = text_stream_close(&text);
    if (error.kind == OK) spec->text = arena_copy(arena, text.text);
    free(text.text);
    return error;
}

// ---- fresh seeds, one change at a time ------------------------------------------------------------------------------

Error verify_seeds_spec(const VerifyTask *task, const char *name, Arena *arena, Spec *out)
{
    const Spec *spec = &task->campaign->spec;
    VerifyAxes axes = verify_axes(spec, arena);
    for (int a = 0; a < spec->n_axes; a++) {
        const int parameter = spec->axes[a].parameter;
        verify_add(&axes, parameter, verify_changes(task, parameter, task->gains, arena));
    }
    verify_add_outer(task, &axes);
    for (int p = 0; task->physics > 0.0 && p < configured_named(&spec->configured); p++) {
        if (verify_is_physics(task, p)) verify_add(&axes, p, verify_changes(task, p, task->physics, arena));
    }
    TRY(verify_derive(task, name, &search_centered, &axes, arena, out));
    out->replicates.count = (int)task->seeds;
    out->replicates.common = true;
    out->replicates.store = true;
    out->replicates.perturb = spec->replicates.perturb;
    out->replicates.n_perturb = spec->replicates.n_perturb;
    return verify_describe(task, "under fresh seeds, and with one change at a time", true, arena, out);
}

// ---- the grid -------------------------------------------------------------------------------------------------------

// Whether a parameter is an axis of the grid, and its ends: the range that the replicates draw from (three standard
// deviations to each side of a normal mean), or of another parameter a fraction less and more.
static bool verify_grid_range(const VerifyTask *task, int parameter, double *low, double *high)
{
    const Spec *spec = &task->campaign->spec;
    const Parameter *row = &spec->configured.parameters[parameter];
    const Perturbation *drawn = verify_perturbed(spec, parameter);
    const double x = task->parameter[parameter], change = (task->physics > 0.0 ? task->physics : 0.1) * fabs(x);
    if (drawn == NULL && !verify_is_also(task, parameter)) return false;
    *low = row->low;
    *high = row->high;
    if (configured_choices(&spec->configured, parameter) != NULL) return *low < *high; // every word
    *low = x - change;
    *high = x + change;
    if (drawn != NULL) {
        const bool normal = drawn->distribution == DISTRIBUTION_NORMAL;
        *low = normal ? drawn->a - 3.0 * drawn->b : drawn->a;
        *high = normal ? drawn->a + 3.0 * drawn->b : drawn->b;
    }
    *low = verify_within(row, *low);
    *high = verify_within(row, *high);
    return *low < *high;
}

int verify_grid_axes(const VerifyTask *task)
{
    int axes = 0;
    double low, high;
    for (int p = 0; p < configured_named(&task->campaign->spec.configured); p++)
        axes += verify_grid_range(task, p, &low, &high);
    return axes;
}

Error verify_grid_spec(const VerifyTask *task, const char *name, Arena *arena, Spec *out)
{
    const Spec *spec = &task->campaign->spec;
    VerifyAxes given = verify_axes(spec, arena), axes = verify_axes(spec, arena);
    double low, high;
    for (int a = 0; a < spec->n_axes; a++) verify_add_value(task, spec->axes[a].parameter, &given);
    verify_add_outer(task, &given);
    for (int a = 0; a < given.count; a++) { // those that the grid does not vary
        if (!verify_grid_range(task, given.axes[a].parameter, &low, &high)) axes.axes[axes.count++] = given.axes[a];
    }
    for (int p = 0; p < configured_named(&spec->configured); p++) {
        if (!verify_grid_range(task, p, &low, &high)) continue;
        const bool words = configured_choices(&spec->configured, p) != NULL;
        const int64_t count = words ? (int64_t)(high - low) + 1 : task->levels;
        double *list = ARENA_NEW(arena, double, count);
        const Values between =
            values_prepared((Values){.form = &values_linspace, .low = low, .high = high, .count = count});
        for (int64_t i = 0; i < count && words; i++) list[i] = (double)i;
        verify_add(&axes, p, words ? (Values){.list = list, .count = count} : between);
    }
    TRY(verify_derive(task, name, &search_grid, &axes, arena, out));
    return verify_describe(task, "from every combination of starts", false, arena, out);
}

// ---- the outcome ----------------------------------------------------------------------------------------------------

static int verify_survived(const Spec *spec)
{
    for (int m = 0; m < spec->configured.n_metrics; m++) {
        if (strcmp(spec->configured.metrics[m].name, "survived") == 0) return m;
    }
    return -1;
}

// A failed run is worse than any other; of two failed runs the one that failed sooner is worse.
static bool verify_is_worse(const VerifyOutcome *outcome, double value, double survived)
{
    if (outcome->n == 0) return true;
    const double worst = outcome->worst_cost;
    return value > worst || (isinf(value) && isinf(worst) && survived < outcome->worst_survived);
}

static void verify_add_run(const Spec *spec, const Replicates *of, int r, const double *values, VerifyOutcome *outcome)
{
    const int survived_metric = verify_survived(spec), n_metrics = spec->configured.n_metrics, failure = of->failure[r];
    const double value = failure != 0 ? (double)INFINITY : spec_cost(spec, 0, values[r]);
    const double survived = survived_metric >= 0 ? of->metric[r * n_metrics + survived_metric] : (double)NAN;
    if (verify_is_worse(outcome, value, survived)) {
        outcome->worst = outcome->n;
        outcome->worst_cost = value;
        outcome->worst_failure = failure >= 0 ? spec->configured.failures[failure] : "unknown";
        outcome->worst_survived = survived;
    }
    outcome->value[outcome->n++] = value;
    outcome->succeeded += failure == 0;
}

// The stored replicates of a trial: *count of them.
static Error verify_read_replicates(const StoredCampaign *run, int64_t trial, Arena *arena, Replicates *of, int *count)
{
    const Spec *spec = &run->spec;
    const int most = spec->replicates.count;
    double *metric = ARENA_NEW(arena, double, (int64_t)most * spec->configured.n_metrics);
    double *drawn = ARENA_NEW(arena, double, (int64_t)most * spec->replicates.n_perturb);
    of->metric = metric;
    of->drawn = drawn;
    of->failure = ARENA_NEW(arena, int, most);
    Cursor replicates = replicates_by_trial(run->database);
    const Error error = replicates_take(&replicates, spec, trial, most, metric, drawn, of->failure, count);
    const Error closed = cursor_close(&replicates);
    return error.kind != OK ? error : closed;
}

// The values are those of the first objective, by the same functions as in a run.
static Error verify_read_runs(const StoredCampaign *run, int64_t trial, Arena *arena, VerifyOutcome *outcome)
{
    const Spec *spec = &run->spec;
    const int64_t replicates = spec->replicates.count;
    Search search;
    double *parameter = ARENA_NEW(arena, double, spec->configured.n_parameters);
    Replicates of = {.parameter = parameter};
    int count = 0;
    TRY(search_init(spec, arena, &search));
    TRY(search_read_trial(&search, run->database, trial, arena, parameter));
    TRY(verify_read_replicates(run, trial, arena, &of, &count));
    TrialResult result = {.constraint = ARENA_NEW(arena, double, spec->n_constraints),
                          .value = ARENA_NEW(arena, double, spec->objective.count *replicates),
                          .room = ARENA_NEW(arena, double, replicates)};
    const Spec had = race_had(spec, count);
    trial_objective(&had, &of, &result);
    for (int r = 0; r < count; r++) verify_add_run(spec, &of, r, result.value, outcome);
    return error_none();
}

static Interval verify_cost(const Spec *spec, const double *sorted, int64_t succeeded)
{
    const double q = spec->objective.quantile;
    const Interval none = {(double)NAN, (double)NAN, (double)NAN};
    if (succeeded == 0) return none;
    switch (spec->objective.over) {
    case OVER_MEAN: return interval_of_mean(sorted, succeeded);
    case OVER_MEDIAN: return interval_of_quantile(sorted, succeeded, 0.5);
    case OVER_QUANTILE: return interval_of_quantile(sorted, succeeded, spec->objective.maximize[0] ? 1.0 - q : q);
    case OVER_WORST: break;
    }
    return (Interval){sorted[succeeded - 1], (double)NAN, (double)NAN};
}

Interval verify_shown(const Spec *spec, const Interval *cost)
{
    const double value = spec_cost(spec, 0, cost->value);
    const double low = spec_cost(spec, 0, cost->low), high = spec_cost(spec, 0, cost->high);
    return spec->objective.maximize[0] ? (Interval){value, high, low} : (Interval){value, low, high};
}

const char *verify_interval_method(const Spec *spec)
{
    static const char *const methods[] = {[OVER_MEAN] = "Student's t",
                                          [OVER_MEDIAN] = "order statistics",
                                          [OVER_WORST] = "no interval: the worst",
                                          [OVER_QUANTILE] = "order statistics"};
    return methods[spec->objective.over];
}

Error verify_outcome(const StoredCampaign *run, int64_t trial, Arena *arena, VerifyOutcome *outcome)
{
    const int count = run->spec.replicates.count;
    *outcome = (VerifyOutcome){.trial = trial,
                               .value = ARENA_NEW(arena, double, count),
                               .worst_failure = "none",
                               .worst_survived = (double)NAN};
    TRY(verify_read_runs(run, trial, arena, outcome));
    double *sorted = ARENA_NEW(arena, double, count);
    memcpy(sorted, outcome->value, (size_t)outcome->n * sizeof *sorted);
    qsort(sorted, (size_t)outcome->n, sizeof *sorted, statistics_ascending); // failed runs last
    outcome->rate = interval_of_rate(outcome->succeeded, outcome->n);
    const Interval cost = verify_cost(&run->spec, sorted, outcome->succeeded);
    outcome->fitness = verify_shown(&run->spec, &cost);
    return error_none();
}
