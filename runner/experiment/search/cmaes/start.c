// Where a CMA-ES starts: its first mean and covariance, which another campaign may have given (warm_start.c), and
// points that are injected into its first generation.
#include "cmaes.h"

#include <math.h>
#include <string.h>

// ---- the distribution -----------------------------------------------------------------------------------------------

// Only the first run of a search: restarts begin elsewhere.
static bool cmaes_start_is_warm(const Cmaes *cmaes, const CmaesView *view)
{
    return view->run->round == 0 && cmaes->spec->warm.mean != NULL;
}

static void cmaes_start_mean(const Cmaes *cmaes, const CmaesView *view, int64_t search)
{
    const Spec *spec = cmaes->spec;
    const int64_t round = view->run->round;
    const int start = round == 0 ? (int)cmaes->settings[CMAES_START] : CMAES_START_RANDOM;
    for (int i = 0; i < cmaes->n; i++) {
        const double u = cmaes_draw_uniform(cmaes, search, round, i);
        view->mean[i] = CMAES_WIDTH / 2.0;
        if (start == CMAES_START_RANDOM) view->mean[i] = CMAES_WIDTH * (0.1 + 0.8 * u);
        if (start == CMAES_START_DEFAULT)
            view->mean[i] = cmaes_coordinate(&spec->axes[i].values, spec->fixed[spec->axes[i].parameter]);
        if (cmaes_start_is_warm(cmaes, view)) view->mean[i] = spec->warm.mean[i];
    }
}

static double cmaes_start_covariance_of(const Cmaes *cmaes, const CmaesView *view, int i, int j)
{
    const Spec *spec = cmaes->spec;
    if (!cmaes_start_is_warm(cmaes, view)) return i == j ? cmaes->spread[i] * cmaes->spread[i] : 0.0;
    if (!spec->warm.full) return i == j ? spec->warm.covariance[i] : 0.0;
    return spec->warm.covariance[i * (i + 1) / 2 + j];
}

void cmaes_start(const Cmaes *cmaes, const CmaesView *view, int64_t search)
{
    const int n = cmaes->n;
    cmaes_start_mean(cmaes, view, search);
    for (int i = 0; i < n; i++) {
        if (cmaes->separable) view->C[i] = cmaes_start_covariance_of(cmaes, view, i, i);
        for (int j = 0; !cmaes->separable && j <= i; j++)
            view->C[i * n + j] = view->C[j * n + i] = cmaes_start_covariance_of(cmaes, view, i, j);
    }
    for (int i = 0; cmaes->has_integers && i < n; i++) view->scaling[i] = 1.0;
    cmaes_decompose(cmaes, view);
}

double cmaes_start_sigma(const Cmaes *cmaes, const CmaesView *view)
{
    const bool given = cmaes_start_is_warm(cmaes, view) && cmaes->spec->warm.sigma > 0.0;
    return given ? cmaes->spec->warm.sigma : cmaes->settings[CMAES_SIGMA] * CMAES_WIDTH;
}

// ---- injected points ------------------------------------------------------------------------------------------------
// N. Hansen, Injecting external solutions into CMA-ES, arXiv:1110.4181, 2011: a point that was not drawn takes part
// like one that was, but with a step whose length, measured by C, is at most sqrt(n) + 2 n/(n + 2).

int64_t cmaes_injected(const Cmaes *cmaes, const CmaesView *view)
{
    const CmaesRun *run = view->run;
    if (run->round > 0) return 0;
    return cmaes->spec->n_inject < run->lambda ? cmaes->spec->n_inject : run->lambda;
}

bool cmaes_inject(const Cmaes *cmaes, const CmaesView *view, int64_t member, double *y, double *square)
{
    const Spec *spec = cmaes->spec;
    const double *point = spec->inject + member * spec->n_axes;
    const double n = cmaes->n, longest = sqrt(n) + 2.0 * n / (n + 2.0);
    double *white = cmaes->vector;
    memcpy(cmaes->parameter, cmaes->fixed, (size_t)spec->configured.n_parameters * sizeof *cmaes->parameter);
    memset(white, 0, (size_t)cmaes->n * sizeof *white);
    for (int i = 0; i < cmaes->n; i++) {
        const Values *values = &spec->axes[i].values;
        const bool mirrored = cmaes->settings[CMAES_BOUNDS] == CMAES_BOUNDS_TRANSFORM && !values->integer;
        const double coordinate = cmaes_coordinate(values, point[i]);
        y[i] = ((mirrored ? cmaes_unreflected(coordinate) : coordinate) - view->mean[i]) / view->run->sigma;
        cmaes->parameter[spec->axes[i].parameter] = point[i];
    }
    cmaes_whiten(cmaes, view, y, 1.0, white);
    *square = 0.0;
    for (int i = 0; i < cmaes->n; i++) *square += white[i] * white[i];
    const double shorter = *square > longest * longest ? longest / sqrt(*square) : 1.0;
    for (int i = 0; i < cmaes->n; i++) y[i] *= shorter;
    *square *= shorter * shorter;
    return search_complete(spec, cmaes->parameter);
}
