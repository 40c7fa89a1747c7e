// How promising a point is (acquisition.h).
#include "acquisition.h"

#include <math.h>

static const double acquisition_log_density = -0.9189385332046727; // -ln(2 pi)/2

// With u = -z > 0 and Mills' ratio R(u): h = density(u) (1 - u R).
double log_improvement(double z, double *slope)
{
    double rest;
    if (z > -1.0) {
        const double density = portable_exp(acquisition_log_density - 0.5 * z * z), below = normal_tail(-z);
        *slope = below / (density + z * below);
        return portable_log(density + z * below);
    }
    const double ratio = normal_mills(-z, &rest);
    *slope = ratio / rest;
    return acquisition_log_density - 0.5 * z * z + portable_log(rest);
}

double log_normal(double z, double *slope)
{
    double rest;
    if (z > 0.0) {
        const double below = 1.0 - normal_tail(z);
        *slope = portable_exp(acquisition_log_density - 0.5 * z * z) / below;
        return portable_log(below);
    }
    const double ratio = normal_mills(-z, &rest);
    *slope = 1.0 / ratio;
    return acquisition_log_density - 0.5 * z * z + portable_log(ratio);
}

typedef struct AcquisitionPosterior {
    double mean, deviation, *mean_slope, *variance_slope;
} AcquisitionPosterior;

static AcquisitionPosterior acquisition_posterior(const Acquisition *acquisition, const GaussianProcess *process,
                                                  const double *x, bool slopes)
{
    AcquisitionPosterior at = {.mean_slope = slopes ? acquisition->room : NULL,
                               .variance_slope = slopes ? acquisition->room + acquisition->n : NULL};
    double variance;
    process_predict(process, x, &at.mean, &variance, at.mean_slope, at.variance_slope);
    at.deviation = sqrt(variance);
    return at;
}

double acquisition_value(const Acquisition *acquisition, const double *x, double *gradient)
{
    double sum = 0.0, slope;
    for (int a = 0; gradient != NULL && a < acquisition->n; a++) gradient[a] = 0.0;
    if (acquisition->objective != NULL) {
        const AcquisitionPosterior at = acquisition_posterior(acquisition, acquisition->objective, x, gradient != NULL);
        const double z = (acquisition->best - at.mean) / at.deviation;
        sum += log_improvement(z, &slope) + portable_log(at.deviation);
        for (int a = 0; gradient != NULL && a < acquisition->n; a++) {
            const double stretch = at.variance_slope[a] / (2.0 * at.deviation); // d deviation
            gradient[a] += (slope * (at.mean_slope[a] + z * stretch) - stretch) / at.deviation;
        }
    }
    for (int c = 0; c < acquisition->n_feasible; c++) {
        const GaussianProcess *process = acquisition->feasible[c];
        const AcquisitionPosterior at = acquisition_posterior(acquisition, process, x, gradient != NULL);
        const double z = -at.mean / at.deviation;
        sum += log_normal(z, &slope);
        for (int a = 0; gradient != NULL && a < acquisition->n; a++) {
            const double stretch = at.variance_slope[a] / (2.0 * at.deviation);
            gradient[a] += slope * (at.mean_slope[a] + z * stretch) / at.deviation;
        }
    }
    return -sum;
}
