// The model's remarks on the trials of a spec before they run: unstable gains, redundant constraints. It looks at all
// trials of the search, or at some thousand spread over it.
#include "../campaign.h"

#include <math.h>
#include <string.h>

enum { EXPLAIN_TRIALS = 4096 };

// The value of an axis at fraction u in [0, 1) of its range.
static double explain_value(const Values *values, double u)
{
    if (values->count > 0) return values_at(values, (int64_t)(u * (double)values->count));
    const double x = values->log_scale ? values->low * pow(values->high / values->low, u)
                                       : values->low + u * (values->high - values->low);
    return values->integer ? floor(x + 0.5) : x;
}

// A random point of a search that learns: every axis is independent.
static bool explain_draw(const Spec *spec, int index, double *parameter)
{
    const RandomKey key = {.search = 0xFFFE, .ordinal = (uint64_t)index, .purpose = RANDOM_SAMPLE};
    memcpy(parameter, spec->fixed, (size_t)spec->configured.n_parameters * sizeof *parameter);
    for (int a = 0; a < spec->n_axes + spec->n_derived + spec->n_outer; a++) {
        const Axis *axis = &spec->axes[a];
        if (axis->derive == NULL)
            parameter[axis->parameter] = explain_value(&axis->values, random_uniform(&key, (uint32_t)a));
    }
    return search_complete(spec, parameter);
}

static int explain_points(const Spec *spec, const Search *search, double *point)
{
    const int n = spec->configured.n_parameters;
    const bool known = search->total >= 0 && !search_learns(spec->method), all = search->total <= EXPLAIN_TRIALS;
    const int64_t looked_at = known && all ? search->total : search_affordable(search, EXPLAIN_TRIALS);
    int count = 0;
    for (int64_t i = 0; i < looked_at; i++) {
        const int64_t id = !known || all ? i : count_sampled_id(search, 0, search->total, i);
        double *at = point + (int64_t)count * n;
        count += known ? count_has(search, id, at) : explain_draw(spec, (int)i, at);
    }
    if (count == 0) memcpy(point, spec->fixed, (size_t)n * sizeof *point);
    return count > 0 ? count : 1;
}

// "minimise energy + slip"
static const char *explain_objective(const Spec *spec, Arena *arena)
{
    const char *text = "";
    for (int k = 0; k < spec->objective.count; k++) {
        text = arena_format(arena, "%s%s%s%s", text, k > 0 ? ", " : "", spec->objective.maximize[k] ? "" : "minimise ",
                            objective_text(spec, k, arena));
    }
    return spec->objective.by_default ? arena_format(arena, "%s (default of the model)", text) : text;
}

// Sums of different units in what the spec computes of metrics and parameters.
static void explain_units(const Spec *spec, Arena *arena, Remark *remarks, int *count)
{
    const char *fault = fitness_units(spec, arena);
    if (fault != NULL) remarks[(*count)++] = (Remark){.name = "units", .text = fault};
}

static const char *explain_method(const Spec *spec, Arena *arena)
{
    return arena_format(arena, "auto chose %s: %s", spec->method->name, spec->chosen);
}

static Error explain_refuse_empty(const Search *search, Arena *arena)
{
    if (!count_is_empty(search, ARENA_NEW(arena, double, search->spec->configured.n_parameters))) return error_none();
    return error_make(ERROR_USER, "there is no trial to run: all %s are excluded", text_count(search->total).text);
}

// What the model says of the recording of a case, as far as there is room.
static void explain_case(const SpecCase *of, const Configured *configured, const double *point, int points,
                         Arena *arena, Remark *remarks, int *count)
{
    Remark *own = ARENA_NEW(arena, Remark, REMARKS_MAX);
    const int n = configured->model->explain(configured, point, points, arena, own);
    for (int i = 0; i < n && *count < REMARKS_MAX; i++) {
        if (strcmp(own[i].name, "reference") != 0) continue;
        own[i].text = arena_format(arena, "%s: %s", of->name, own[i].text);
        remarks[(*count)++] = own[i];
    }
}

// Of all cases but the first, and of recordings that are held out.
static void explain_cases(const Spec *spec, const double *point, int points, Arena *arena, Remark *remarks, int *count)
{
    const int n = spec->configured.n_parameters;
    const size_t size = (size_t)points * (size_t)n * sizeof *point;
    double *own = ARENA_NEW(arena, double, (int64_t)points *n);
    for (int k = 1; k < spec->n_cases; k++) {
        memcpy(own, point, size);
        for (int i = 0; i < points; i++) case_parameters(spec, k, own + (ptrdiff_t)i * n);
        explain_case(&spec->cases[k], &spec->configured.cases[k], own, points, arena, remarks, count);
    }
    for (int k = 0; k < spec->validate.n_held; k++) {
        const SpecCase *of = &spec->validate.held[k];
        memcpy(own, point, size);
        for (int i = 0; i < points; i++) case_values(of, own + (ptrdiff_t)i * n);
        explain_case(of, &of->spec->configured, own, points, arena, remarks, count);
    }
}

Error explain(const Spec *spec, const Search *search, Arena *arena, Remark *remarks, int *count)
{
    remarks[0] = (Remark){.name = "objective", .text = explain_objective(spec, arena)};
    *count = 1;
    if (spec->chosen != NULL) remarks[(*count)++] = (Remark){.name = "method", .text = explain_method(spec, arena)};
    explain_units(spec, arena, remarks, count);
    TRY(explain_refuse_empty(search, arena));
    if (spec->model->explain == NULL) return error_none();
    double *point = ARENA_NEW(arena, double, EXPLAIN_TRIALS *(int64_t)spec->configured.n_parameters);
    const int points = explain_points(spec, search, point);
    *count += spec->model->explain(&spec->configured, point, points, arena, remarks + *count);
    explain_cases(spec, point, points, arena, remarks, count);
    return error_none();
}

Error explain_warn(const Spec *spec, Arena *arena, FILE *out)
{
    Search search;
    Remark remarks[REMARKS_MAX + 3];
    int count;
    if (spec->objective.by_default) fprintf(out, "objective: %s\n", explain_objective(spec, arena));
    if (spec->chosen != NULL) fprintf(out, "method: %s\n", explain_method(spec, arena));
    TRY(search_init(spec, arena, &search));
    if (spec->model->explain == NULL) return explain_refuse_empty(&search, arena);
    TRY(explain(spec, &search, arena, remarks, &count));
    for (int i = 0; i < count; i++) {
        if (remarks[i].warning) fprintf(out, "warning: %s\n", remarks[i].text);
    }
    return error_none();
}
