// Whether steps are short enough for the residuals of a fit. d: how residuals change if steps are half as long, with
// the same parameters. A method of order p is off by d 2^p/(2^p - 1), to leading order (L. F. Richardson, Phil. Trans.
// R. Soc. A 226, 1927): residuals want d twice (p = 1) or 4/3 times (p = 2) if the step is what is wrong. That is the
// test of a parameter that is not searched (fit_lack.c), with d for its derivatives. The test alone would also find any
// d that resembles what a wrong law leaves, however small it is; then a great multiple of d is wanted.
// What lies along the columns is not seen in residuals: parameters take it up, and are off by A^-1 J'd.
#include "fit.h"

#include <math.h>
#include <string.h>

static const double step_wanted_least = 0.25, step_wanted_most = 4.0; // of d
static const double step_moved = 1.0; // standard deviations of a parameter, by half a step

// The series that d changes most.
static void step_take_series(const Fit *fit, const double *d, FitStep *step)
{
    for (int s = 0; s < fit->data->n_series; s++) {
        const FitSeries *series = &fit->data->series[s];
        const double squares = fit_dot(d + series->first, d + series->first, series->count) / (double)series->count;
        const double change = sqrt(squares / fit_variance(fit, s));
        if (!(change > step->change)) continue;
        step->change = change;
        step->series = s;
    }
}

// The parameter that d moves most.
static void step_take_moved(const Fit *fit, const double *d, FitStep *step)
{
    double *along = ARENA_NEW(fit->arena, double, fit->m);
    for (int b = 0; b < fit->m; b++) along[b] = fit_dot(fit_column(fit, b), d, fit->data->count);
    for (int a = 0; a < fit->m; a++) {
        const int i = fit->free[a];
        const double by = fit_dot(fit->inverse + (ptrdiff_t)a * fit->m, along, fit->m) * fit->data->stretch[i];
        const double moved = fabs(by) / fit->result->parameters[i].error;
        if (!(moved > step->moved) && !(isnan(step->moved) && moved > 0.0)) continue;
        step->moved = moved;
        step->parameter = i;
    }
}

Error fit_test_step(const FitModel *model, const Fit *fit, double *d)
{
    const int64_t count = fit->data->count;
    FitStep *step = &fit->result->step;
    *step = (FitStep){.wanted = (double)NAN, .error = (double)NAN, .p = 1.0, .moved = (double)NAN};
    TRY(fit_refine(model, d, &step->finer));
    if (step->finer.name == NULL) return error_none();
    step_take_series(fit, d, step);
    step_take_moved(fit, d, step);
    fit_project(fit, d);
    const double own = fit_dot(d, d, count), sum = fit_dot(d, fit->left, count);
    if (own > 0.0) {
        const double variance = fit_variance_along(fit, d);
        step->wanted = -sum / own;
        step->error = sqrt(variance) / own;
        step->squares = sum * sum / own / fit_dot(fit->left, fit->left, count);
        step->p = fit_above(sum * sum / variance, 1.0, fit->freedom);
    }
    step->lacking = step->p < fit_level && step->wanted > step_wanted_least && step->wanted < step_wanted_most;
    step->moving = step->moved > step_moved && !(step->wanted + 3.0 * step->error < 1.0);
    return error_none();
}
