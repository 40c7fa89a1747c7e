// The coordinates of a CMA-ES: each searched parameter from its low to its high end is [0, 10], or its logarithm is.
//
// At the bounds (option transform) the strategy's own space has no ends: a coordinate x becomes, with a = 0.3,
//     x                              for a <= x <= 10 - a
//     (x + a)^2 / 4a                 for -a <= x < a, smoothly down to the bound 0, and likewise at 10
// and is mirrored beyond, with the period 2 (10 + 2a), so that every x has an image and every image a neighbourhood.
// Source: N. Hansen, the "linear-quadratic" transformation that the manual of the reference implementation (pycma,
// BoundTransform) describes.
#include "cmaes.h"

#include <math.h>

static const double cmaes_edge = 0.3; // a

double cmaes_reflected(double x)
{
    const double span = CMAES_WIDTH + 2.0 * cmaes_edge;
    double from = x + cmaes_edge; // in [0, span] after the mirrors
    if (!(from >= 0.0 && from <= span)) from -= 2.0 * span * floor(from / (2.0 * span));
    if (from > span) from = 2.0 * span - from;
    const double above = span - from; // distances to both ends of the invertible range
    double image = from - cmaes_edge;
    if (from < 2.0 * cmaes_edge) image = from * from / (4.0 * cmaes_edge);
    if (above < 2.0 * cmaes_edge) image = CMAES_WIDTH - above * above / (4.0 * cmaes_edge);
    return image > 0.0 ? (image < CMAES_WIDTH ? image : CMAES_WIDTH) : 0.0; // also NaN
}

double cmaes_unreflected(double coordinate)
{
    const double above = CMAES_WIDTH - coordinate;
    if (coordinate < cmaes_edge) return 2.0 * sqrt(cmaes_edge * coordinate) - cmaes_edge;
    if (above < cmaes_edge) return CMAES_WIDTH + cmaes_edge - 2.0 * sqrt(cmaes_edge * above);
    return coordinate;
}

CmaesScale cmaes_scale(const Values *values)
{
    if (!values->log_scale) return (CmaesScale){values->low, values->high};
    return (CmaesScale){portable_log(values->low), portable_log(values->high)};
}

static double cmaes_scaled_value(const Values *values, const CmaesScale *scale, double coordinate)
{
    double value = scale->low + coordinate / CMAES_WIDTH * (scale->high - scale->low);
    if (values->log_scale) value = portable_exp(value);
    if (values->integer) value = floor(value + 0.5);
    value = value > values->low ? (value < values->high ? value : values->high) : values->low;
    return value + 0.0; // -0 is stored as 0
}

double cmaes_value(const Values *values, double coordinate)
{
    const CmaesScale scale = cmaes_scale(values);
    return cmaes_scaled_value(values, &scale, coordinate);
}

double cmaes_coordinate(const Values *values, double value)
{
    double fraction = (value - values->low) / (values->high - values->low);
    if (values->log_scale && value > 0.0) {
        const double low = portable_log(values->low);
        fraction = (portable_log(value) - low) / (portable_log(values->high) - low);
    }
    return fraction > 0.0 ? (fraction < 1.0 ? CMAES_WIDTH * fraction : CMAES_WIDTH) : 0.0;
}

void cmaes_member_point(const Cmaes *cmaes, const CmaesView *view, const double *y, double *x)
{
    for (int i = 0; i < cmaes->n; i++) {
        const double step = cmaes->has_integers ? view->scaling[i] * y[i] : y[i];
        x[i] = view->mean[i] + view->run->sigma * step;
    }
}

void cmaes_fix(const Cmaes *cmaes, int64_t search)
{
    const Spec *spec = cmaes->spec;
    for (int p = 0; p < spec->configured.n_parameters; p++) cmaes->fixed[p] = spec->fixed[p];
    search_outer_fill(spec, search + cmaes->side.first, cmaes->fixed);
}

// An integer beyond its range is the last one: it is neither mirrored nor drawn again.
bool cmaes_point(const Cmaes *cmaes, const double *x)
{
    const Spec *spec = cmaes->spec;
    const int bounds = (int)cmaes->settings[CMAES_BOUNDS];
    for (int p = 0; p < spec->configured.n_parameters; p++) cmaes->parameter[p] = cmaes->fixed[p];
    for (int i = 0; i < cmaes->n; i++) {
        const Values *values = &spec->axes[i].values;
        const bool outside = !(x[i] >= 0.0 && x[i] <= CMAES_WIDTH);
        if (outside && bounds == CMAES_BOUNDS_RESAMPLE && !values->integer) return false;
        const bool mirrored = bounds == CMAES_BOUNDS_TRANSFORM && !values->integer;
        cmaes->parameter[spec->axes[i].parameter] =
            cmaes_scaled_value(values, &cmaes->scale[i], mirrored ? cmaes_reflected(x[i]) : x[i]);
    }
    return search_complete(spec, cmaes->parameter);
}
