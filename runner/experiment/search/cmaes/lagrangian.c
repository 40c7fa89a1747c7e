// Constraints g_i(x) <= 0 by an augmented Lagrangian: members are ranked by
//     h(x) = f(x) + sum_i phi(g_i(x), gamma_i, omega_i),
//     phi = gamma g + omega g^2/2 where gamma + omega g >= 0, else -gamma^2/(2 omega),
// whose minimum is that of f within the constraints once the multipliers gamma are right. They and the stiffnesses
// omega follow what the mean of each generation gives, which is evaluated for that as one more trial.
// Source: A. Atamna, A. Auger & N. Hansen, Linearly convergent evolution strategies via augmented Lagrangian constraint
// handling, FOGA 2017, algorithm 1 and its constants; gamma >= 0 as for any inequality.
#include "cmaes.h"

#include <math.h>
#include <string.h>

static const double lagrangian_k1 = 3.0, lagrangian_k2 = 5.0, lagrangian_damping = 5.0;

static double lagrangian_term(double g, double gamma, double omega)
{
    if (gamma + omega * g >= 0.0) return gamma * g + omega * g * g / 2.0;
    return -gamma * gamma / (2.0 * omega);
}

double cmaes_lagrangian(const Cmaes *cmaes, const CmaesView *view, const double *constraint)
{
    double sum = 0.0;
    for (int i = 0; i < cmaes->n_constraints; i++)
        sum += lagrangian_term(constraint[i], view->multiplier[i], view->stiffness[i]);
    return sum;
}

// Interquartile range of column `column` of value[lambda][stride], over the members that did not fail; 0: too few.
static double lagrangian_span(Cmaes *cmaes, const CmaesRun *run, const double *value, int column, int stride)
{
    int64_t numbers = 0;
    for (int64_t k = 0; k < run->lambda; k++) {
        if (!isnan(cmaes->fitness[k])) cmaes->key[numbers++] = value[k * stride + column];
    }
    if (numbers < 4) return 0.0;
    cmaes_sort(cmaes, cmaes->key, numbers, cmaes->order);
    return cmaes->key[cmaes->order[3 * numbers / 4]] - cmaes->key[cmaes->order[numbers / 4]];
}

// At first f and omega g^2/2 vary about alike over a generation, a fifth of it by coordinate.
static void lagrangian_set(Cmaes *cmaes, const CmaesView *view)
{
    const double fitness = lagrangian_span(cmaes, view->run, cmaes->fitness, 0, 1);
    for (int i = 0; i < cmaes->n_constraints; i++) {
        const double g = lagrangian_span(cmaes, view->run, cmaes->constraint, i, cmaes->n_constraints);
        const double omega = 2.0 * fitness / (5.0 * cmaes->n * g * g);
        view->stiffness[i] = omega > 0.0 && isfinite(omega) ? omega : 1.0;
        view->multiplier[i] = 0.0;
    }
}

// A constraint gets stiffer if it is small beside the change of h, or if its g hardly changes.
static void lagrangian_move(const Cmaes *cmaes, const CmaesView *view, int i, double change)
{
    const double g = cmaes->mean_constraint[i], before = view->constraint[i], omega = view->stiffness[i];
    const double multiplier = view->multiplier[i] + omega / lagrangian_damping * g;
    const bool active = view->multiplier[i] + omega * g >= 0.0;
    const bool weak = omega * g * g < lagrangian_k1 * fabs(change) / cmaes->n;
    const bool slow = lagrangian_k2 * fabs(g - before) < fabs(before);
    const double exponent = weak || slow ? 0.25 : -1.0;
    view->multiplier[i] = multiplier > 0.0 ? multiplier : 0.0;
    if (active) view->stiffness[i] = omega * portable_pow(2.0, exponent / (lagrangian_damping * cmaes->n));
}

void cmaes_lagrangian_adapt(Cmaes *cmaes, const CmaesView *view)
{
    CmaesRun *run = view->run;
    if (isnan(cmaes->mean_fitness)) return; // it failed, or the spec drops it
    if (isnan(run->mean_fitness)) {
        lagrangian_set(cmaes, view);
    } else {
        const double now = cmaes->mean_fitness + cmaes_lagrangian(cmaes, view, cmaes->mean_constraint);
        const double before = run->mean_fitness + cmaes_lagrangian(cmaes, view, view->constraint);
        for (int i = 0; i < cmaes->n_constraints; i++) lagrangian_move(cmaes, view, i, now - before);
    }
    run->mean_fitness = cmaes->mean_fitness;
    memcpy(view->constraint, cmaes->mean_constraint, (size_t)cmaes->n_constraints * sizeof *view->constraint);
}
