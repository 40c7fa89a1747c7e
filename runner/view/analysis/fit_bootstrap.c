// Intervals by a bootstrap: residuals are drawn again in blocks (fit_colour.c) and added to the best model, and the
// parameters are fitted to that, by chords: Gauss-Newton steps with the derivatives at the best point. Of each fit the
// ratio (estimate - best)/(standard deviation that the sample gives) is taken; its quantiles are those of the interval
// (P. Hall, Annals of Statistics 16, 1988: bootstrap-t). So neither the noise has to be normal nor the model linear.
#include "fit.h"

#include <math.h>
#include <stdlib.h>

enum { BOOTSTRAP_STEPS = 6 };
static const double bootstrap_tolerance = 0.01; // of a standard deviation

typedef struct Bootstrap {
    const Fit *fit;
    const FitModel *model;
    FitSample sample;
    double *u, *value, *residual; // [n], [n], [count]
} Bootstrap;

// The residuals at u, less those of the best point. false: the run fails there.
static Error bootstrap_differences(Bootstrap *of, bool *there)
{
    const FitData *data = of->fit->data;
    for (int i = 0; i < data->n; i++) of->value[i] = fit_value_at(data, i, of->u[i]);
    TRY(fit_evaluate(of->model, of->value, of->residual, NULL, there));
    for (int64_t k = 0; k < data->count && *there; k++) of->residual[k] -= data->residual[k];
    return error_none();
}

// sample.along <- the steps from the best coordinates to those of the sample. true: a run failed, and they are the
// linearised ones.
static Error bootstrap_fit(Bootstrap *of, bool *failed)
{
    const Fit *fit = of->fit;
    const FitData *data = fit->data;
    FitSample *sample = &of->sample;
    *failed = false;
    for (int i = 0; i < data->n; i++) of->u[i] = data->coordinate[i];
    for (int a = 0; a < fit->m; a++) of->u[fit->free[a]] += sample->along[a];
    for (int step = 0; step < BOOTSTRAP_STEPS; step++) {
        double most = 0.0;
        bool there;
        for (int i = 0; i < data->n; i++) of->u[i] = search_inside(of->u[i]);
        TRY(bootstrap_differences(of, &there));
        if (!there) {
            *failed = true;
            return error_none();
        }
        for (int64_t k = 0; k < data->count; k++) of->residual[k] += sample->e[k];
        for (int a = 0; a < fit->m; a++) {
            const double more = -fit_dot(sample->by + a * data->count, of->residual, data->count);
            of->u[fit->free[a]] += more;
            if (sample->error[a] > 0.0) most = fmax(most, fabs(more) / sample->error[a]);
        }
        if (most < bootstrap_tolerance) break;
    }
    for (int a = 0; a < fit->m; a++)
        sample->along[a] = search_inside(of->u[fit->free[a]]) - data->coordinate[fit->free[a]];
    return error_none();
}

// Blocks of n rows: their number and their length grow (P. Hall, J. Horowitz & B. Jing, Biometrika 82, 1995).
static int64_t bootstrap_block(const FitData *data)
{
    int64_t rows = 1;
    for (int s = 0; s < data->n_series; s++) rows = data->series[s].count > rows ? data->series[s].count : rows;
    return (int64_t)ceil(cbrt((double)rows));
}

// ratio[count] is sorted. The interval of parameter i.
static void bootstrap_take(const Fit *fit, int i, const double *ratio, int64_t count)
{
    const FitData *data = fit->data;
    FitParameter *of = &fit->result->parameters[i];
    const double error = of->error / fabs(data->stretch[i]), best = data->coordinate[i];
    // Of n samples the k-th is a quantile of k/(n + 1).
    const int64_t last = (int64_t)(0.975 * (double)(count + 1)) - 1, first = count - 1 - last;
    of->low = fit_value_at(data, i, best - ratio[last] * error);
    of->high = fit_value_at(data, i, best - ratio[first] * error);
    if (of->end < 0) of->low = data->value[i];
    if (of->end > 0) of->high = data->value[i];
}

Error fit_bootstrap(const FitModel *model, FitResult *result, int64_t count)
{
    const Fit *fit = result->inner;
    const FitData *data = fit->data;
    if (!(fit->freedom > 0.0)) return error_none();
    Bootstrap of = {.fit = fit,
                    .model = model,
                    .sample = fit_sample_take(fit),
                    .u = ARENA_NEW(fit->arena, double, data->n),
                    .value = ARENA_NEW(fit->arena, double, data->n),
                    .residual = ARENA_NEW(fit->arena, double, data->count)};
    double *ratio = ARENA_NEW(fit->arena, double, count * fit->m);
    result->fits = count;
    result->block = bootstrap_block(data);
    for (int64_t k = 0; k < count; k++) {
        bool failed;
        fit_sample_draw(fit, &of.sample, k, result->block);
        TRY(bootstrap_fit(&of, &failed));
        result->failed += failed;
        for (int a = 0; a < fit->m; a++)
            ratio[a * count + k] = of.sample.error[a] > 0.0 ? of.sample.along[a] / of.sample.error[a] : 0.0;
    }
    for (int a = 0; a < fit->m; a++) {
        const int i = fit->free[a];
        qsort(ratio + a * count, (size_t)count, sizeof *ratio, fit_compare);
        if (result->parameters[i].determined) bootstrap_take(fit, i, ratio + a * count, count);
    }
    return error_none();
}
