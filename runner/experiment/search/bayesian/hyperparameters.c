// The most probable hyperparameters (hyperparameters.h).
#include "hyperparameters.h"
#include "../quasi_newton.h"

#include <math.h>
#include <string.h>

enum { HYPERPARAMETERS_STEPS = 25 };
static const double hyperparameters_tolerance = 1e-3; // of the log posterior density

typedef struct HyperparameterPrior {
    double mean, deviation, low, high; // of the logarithm
} HyperparameterPrior;

static HyperparameterPrior hyperparameters_prior(HyperparameterKind kind, int n, int i)
{
    const bool step = kind == HYPERPARAMETERS_STEP;
    if (i == n) return (HyperparameterPrior){0.0, 1.5, -7.0, 9.0};
    if (i == n + 1 && step) return (HyperparameterPrior){-4.6, 1.0, -20.0, 1.0};                  // 1e-2
    if (i == n + 1) return (HyperparameterPrior){-9.2, 4.0, -20.0, 1.0};                          // 1e-4
    if (step) return (HyperparameterPrior){-1.2 + 0.5 * portable_log((double)n), 0.7, -7.0, 5.0}; // 0.3 sqrt(n)
    return (HyperparameterPrior){1.4142135623730951 + 0.5 * portable_log((double)n), 1.7320508075688772, -7.0, 5.0};
}

double *hyperparameters_default(HyperparameterKind kind, int n, double *theta)
{
    for (int i = 0; i < n + 2; i++) theta[i] = hyperparameters_prior(kind, n, i).mean;
    return theta;
}

void hyperparameters_set(GaussianProcess *process, const double *theta)
{
    const int n = process->n;
    for (int a = 0; a < n; a++) process->length[a] = portable_exp(theta[a]);
    process->amplitude = portable_exp(theta[n]);
    process->nugget = portable_exp(theta[n + 1]);
}

typedef struct HyperparameterFit {
    HyperparameterKind kind;
    GaussianProcess *process;
    double *square;
} HyperparameterFit;

static double hyperparameters_value(void *of, const double *theta, double *gradient)
{
    const HyperparameterFit *fit = of;
    const int n = fit->process->n;
    hyperparameters_set(fit->process, theta);
    double value = -process_evidence(fit->process, gradient, fit->square);
    for (int i = 0; i < n + 2; i++) {
        const HyperparameterPrior prior = hyperparameters_prior(fit->kind, n, i);
        const double away = (theta[i] - prior.mean) / prior.deviation;
        value += 0.5 * away * away;
        gradient[i] = -gradient[i] + away / prior.deviation;
    }
    return value;
}

int64_t hyperparameters_room(int n, int64_t count)
{
    return 2 * count * count + 4 * (n + 2) + bounded_minimum_room(n + 2);
}

void hyperparameters_fit(HyperparameterKind kind, GaussianProcess *process, double *theta, double *room)
{
    const int n = process->n, all = n + 2;
    double *square = room, *low = square + 2 * process->count * process->count, *high = low + all;
    double *other = high + all;
    HyperparameterFit fit = {kind, process, square};
    for (int i = 0; i < all; i++) {
        low[i] = hyperparameters_prior(kind, n, i).low;
        high[i] = hyperparameters_prior(kind, n, i).high;
    }
    const BoundedMinimum problem = {.n = all,
                                    .iterations = HYPERPARAMETERS_STEPS,
                                    .tolerance = hyperparameters_tolerance,
                                    .low = low,
                                    .high = high,
                                    .value = hyperparameters_value,
                                    .of = &fit};
    const double from_last = bounded_minimum(&problem, theta, other + 2 * all);
    const double from_default = bounded_minimum(&problem, hyperparameters_default(kind, n, other), other + 2 * all);
    if (from_default < from_last || !isfinite(from_last)) memcpy(theta, other, (size_t)all * sizeof *theta);
    hyperparameters_set(process, theta);
    process->factored = 0;
}
