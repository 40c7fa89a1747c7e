// How good a gradient is (GradientSigns), by the gradients of the single replicates. They say something of the mean
// alone, so there is nothing to say with `over: median` and the like.
#include "descent.h"

#include <math.h>
#include <string.h>

enum { DESCENT_EACH_MOST = 1 << 20 }; // doubles: more replicates and parameters than that are not looked at

bool descent_sees_replicates(const Spec *spec)
{
    const int64_t points = 2 * (int64_t)spec->n_axes + 1 + DESCENT_LINE_MAX;
    return spec->objective.over == OVER_MEAN && spec->replicates.count > 1 && replicates_differ(spec) &&
           points * spec->replicates.count <= DESCENT_EACH_MOST;
}

bool descent_takes_values(const Spec *spec)
{
    return spec->method_settings[DESCENT_GRADIENT] == DESCENT_BY_DIFFERENCES && descent_sees_replicates(spec);
}

const char *gradient_verdict(const GradientSigns *signs)
{
    if (isnan(signs->cosine)) return "";
    return signs->cosine > GRADIENT_SIGNAL ? "signal" : signs->cosine < GRADIENT_NOISE ? "noise" : "unclear";
}

// ---- gradients of the replicates ------------------------------------------------------------------------------------

// each[replicates][n] from the values of each at the points of the round: told[trials][told_width].
void descent_differentiate_each(Descent *descent, const DescentView *view, const SideDrawn *points, const double *told)
{
    const int n = descent->n, replicates = descent->spec->replicates.count;
    double *value = descent->replicate;
    for (int r = 0; r < replicates && descent->side.told_width > DESCENT_TOLD; r++) {
        for (int64_t k = 0; k < descent_around(descent); k++) value[k] = (double)NAN;
        for (int64_t t = 0; t < points->trials; t++)
            value[points->slot[t]] = told[t * descent->side.told_width + DESCENT_TOLD + r];
        for (int i = 0; i < n; i++)
            descent->each[(ptrdiff_t)r * n + i] = descent_derivative(descent, view->x, value, i);
    }
}

// Whether replicate r has all derivatives that count.
static bool signs_count(const Descent *descent, int r)
{
    for (int i = 0; i < descent->n; i++) {
        if (descent->counts[i] && !isfinite(descent->each[(ptrdiff_t)r * descent->n + i])) return false;
    }
    return true;
}

// ---- what they say --------------------------------------------------------------------------------------------------

// Sums over the replicates that count, in two halves: sum[2][n]; how many are in each. `count`: in both.
static void signs_sum(const Descent *descent, int64_t count, double *sum, int64_t *in)
{
    int64_t seen = 0;
    memset(sum, 0, 2 * (size_t)descent->n * sizeof *sum);
    in[0] = in[1] = 0;
    for (int r = 0; r < descent->spec->replicates.count; r++) {
        if (!signs_count(descent, r)) continue;
        const int half = 2 * seen++ >= count;
        in[half]++;
        for (int i = 0; i < descent->n; i++) {
            if (descent->counts[i]) sum[half * descent->n + i] += descent->each[(ptrdiff_t)r * descent->n + i];
        }
    }
}

static double signs_cosine(const double *a, const double *b, int n)
{
    double dot = 0.0;
    for (int i = 0; i < n; i++) dot += a[i] * b[i];
    return dot / (descent_norm(a, n) * descent_norm(b, n));
}

// Standard error of the mean, of all coordinates together.
static double signs_error(const Descent *descent, int64_t count, const double *mean)
{
    double squares = 0.0;
    for (int r = 0; r < descent->spec->replicates.count; r++) {
        if (!signs_count(descent, r)) continue;
        for (int i = 0; i < descent->n; i++) {
            const double off = descent->counts[i] ? descent->each[(ptrdiff_t)r * descent->n + i] - mean[i] : 0.0;
            squares += off * off;
        }
    }
    return sqrt(squares / ((double)count * (double)(count - 1)));
}

static double signs_number(double x) { return isfinite(x) ? x : (double)NAN; }

void descent_signs(const Descent *descent, GradientSigns *signs)
{
    const int n = descent->n;
    double *sum = descent->vector;
    int64_t count = 0, in[2];
    for (int r = 0; r < descent->spec->replicates.count; r++) count += signs_count(descent, r);
    if (count < 2) return;
    signs_sum(descent, count, sum, in);
    signs->cosine = signs_number(signs_cosine(sum, sum + n, n));
    for (int i = 0; i < n; i++) sum[i] = (sum[i] + sum[n + i]) / (double)count;
    signs->spread = signs_number(signs_error(descent, count, sum) / descent_norm(sum, n));
}
