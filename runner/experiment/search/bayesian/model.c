// The processes of a search: which trials they know, their outputs, their hyperparameters.
#include "bayesian.h"
#include "hyperparameters.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- the best row ---------------------------------------------------------------------------------------------------

// Whether row a is better than row b, which may both be infeasible: failures last, by the replicates that failed and
// the time that they survived; then by the violation of the constraints, then by cost.
static bool model_better(const Bayesian *bayesian, const BayesianRow *a, const BayesianRow *b)
{
    if (bayesian_failed(a) || bayesian_failed(b)) {
        if (bayesian_failed(a) != bayesian_failed(b)) return bayesian_failed(b);
        if (a->told[BAYESIAN_LOST] != b->told[BAYESIAN_LOST]) return a->told[BAYESIAN_LOST] < b->told[BAYESIAN_LOST];
        return a->told[BAYESIAN_SURVIVED] > b->told[BAYESIAN_SURVIVED];
    }
    const double x = constraints_violation(a->told + BAYESIAN_TOLD, bayesian->m);
    const double y = constraints_violation(b->told + BAYESIAN_TOLD, bayesian->m);
    return x != y ? x < y : a->told[BAYESIAN_COST] < b->told[BAYESIAN_COST];
}

int64_t bayesian_centre(const Bayesian *bayesian, const BayesianView *view)
{
    int64_t best = -1;
    for (int64_t r = 0; r < view->run->trials; r++) {
        const BayesianRow row = bayesian_row(bayesian, view, r);
        const BayesianRow other = bayesian_row(bayesian, view, best < 0 ? r : best);
        if (best < 0 || model_better(bayesian, &row, &other)) best = r;
    }
    return best;
}

// ---- which rows -----------------------------------------------------------------------------------------------------

typedef struct ModelNear {
    double distance;
    int64_t row;
} ModelNear;

static int model_nearer(const void *left, const void *right)
{
    const ModelNear *a = left, *b = right;
    if (a->distance != b->distance) return a->distance < b->distance ? -1 : 1;
    return a->row < b->row ? -1 : a->row > b->row;
}

static int model_row_order(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

static double model_distance(const Bayesian *bayesian, const double *x, const double *centre, const double *theta)
{
    double sum = 0.0;
    for (int a = 0; a < bayesian->n; a++) {
        const double d = bayesian->word[a] ? x[a] != centre[a] : x[a] - centre[a];
        sum += d * d * portable_exp(-2.0 * theta[a]);
    }
    return sum;
}

// The rows of an output, at most `most`: those nearest to the centre by the lengths theta. Returns their number.
static int64_t model_choose(Bayesian *bayesian, const BayesianView *view, int output, int64_t most, int64_t *rows)
{
    ModelNear *near = (ModelNear *)(void *)bayesian->number; // [capacity] of 2 numbers each
    const bool all = output == BAYESIAN_OF_SUCCESS;
    const int64_t centre = bayesian_centre(bayesian, view);
    int64_t count = 0;
    for (int64_t r = 0; r < view->run->trials; r++) {
        const BayesianRow row = bayesian_row(bayesian, view, r);
        const bool known = output == BAYESIAN_OF_COST ? !isnan(row.told[BAYESIAN_KNOWN]) : !bayesian_failed(&row);
        if (!all && !known) continue;
        near[count++].row = r;
    }
    if (count > most) {
        const double *theta = view->theta + output * (bayesian->n + 2);
        const BayesianRow middle = bayesian_row(bayesian, view, centre);
        for (int64_t i = 0; i < count; i++)
            near[i].distance = model_distance(bayesian, bayesian_row(bayesian, view, near[i].row).x, middle.x, theta);
        qsort(near, (size_t)count, sizeof *near, model_nearer);
        count = most;
    }
    for (int64_t i = 0; i < count; i++) rows[i] = near[i].row;
    qsort(rows, (size_t)count, sizeof *rows, model_row_order);
    return count;
}

// ---- outputs --------------------------------------------------------------------------------------------------------

static int model_ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

// The median size of a constraint's values; 1 if it is 0.
static double model_scale(Bayesian *bayesian, const double *value, int64_t count)
{
    double *size = bayesian->number + 2 * bayesian->capacity;
    for (int64_t i = 0; i < count; i++) size[i] = fabs(value[i]);
    qsort(size, (size_t)count, sizeof *size, model_ascending);
    const double scale = count > 0 ? size[count / 2] : 1.0;
    return scale > 0.0 && isfinite(scale) ? scale : 1.0;
}

// out[count], and the variance of each output's noise, noise[count].
static void model_outputs(Bayesian *bayesian, const BayesianView *view, int output, const int64_t *rows, int64_t count,
                          double *out, double *noise)
{
    for (int64_t i = 0; i < count; i++) noise[i] = 0.0;
    if (output == BAYESIAN_OF_SUCCESS) {
        bayesian_success(bayesian, view, rows, count, out);
        return;
    }
    const int column = output == BAYESIAN_OF_COST ? BAYESIAN_KNOWN : BAYESIAN_TOLD + output - BAYESIAN_OUTPUTS;
    for (int64_t i = 0; i < count; i++) out[i] = bayesian_row(bayesian, view, rows[i]).told[column];
    if (output != BAYESIAN_OF_COST) {
        const double scale = model_scale(bayesian, out, count);
        for (int64_t i = 0; i < count; i++) out[i] = bayesian_constraint(out[i], scale);
        return;
    }
    if (count == 0) return;
    bayesian_warp_prepare(&bayesian->warp, out, count);
    for (int64_t i = 0; i < count; i++) {
        double slope;
        out[i] = bayesian_warp(&bayesian->warp, out[i], &slope);
        const double error = slope * bayesian_row(bayesian, view, rows[i]).told[BAYESIAN_ERROR];
        noise[i] = error * error;
    }
}

static bool model_is_constant(const double *out, int64_t count)
{
    for (int64_t i = 1; i < count; i++) {
        if (out[i] != out[0]) return false;
    }
    return true;
}

// ---- learning -------------------------------------------------------------------------------------------------------

HyperparameterKind bayesian_kind(int output)
{
    return output == BAYESIAN_OF_SUCCESS ? HYPERPARAMETERS_STEP : HYPERPARAMETERS_SMOOTH;
}

void bayesian_fit(Bayesian *bayesian, const BayesianView *view)
{
    const int n = bayesian->n;
    int64_t *rows = bayesian->chosen;
    double *out = bayesian->pool, *noise = out + BAYESIAN_FIT_MAX;
    for (int k = 0; k < bayesian->outputs; k++) {
        const int64_t count = model_choose(bayesian, view, k, BAYESIAN_FIT_MAX, rows);
        model_outputs(bayesian, view, k, rows, count, out, noise);
        if (count < 3 || model_is_constant(out, count)) continue;
        bayesian->fit.count = bayesian->fit.factored = 0;
        for (int64_t i = 0; i < count; i++)
            process_add(&bayesian->fit, bayesian_row(bayesian, view, rows[i]).x, out[i], noise[i]);
        hyperparameters_fit(bayesian_kind(k), &bayesian->fit, view->theta + k * (n + 2), bayesian->room);
    }
    view->run->fitted = view->run->trials;
}

// Sets a process; rows that it already knows stay factored.
static void model_set(Bayesian *bayesian, const BayesianView *view, int64_t s, int output, const int64_t *rows,
                      int64_t count, const double *out, const double *noise)
{
    BayesianModel *model = &bayesian->model[output];
    GaussianProcess *process = &model->process;
    const int n = bayesian->n;
    const double *theta = view->theta + output * (n + 2);
    const size_t size = (size_t)(n + 2) * sizeof *theta;
    int64_t same = 0;
    if (model->search == s && memcmp(model->theta, theta, size) == 0) {
        while (same < count && same < process->factored && model->row[same] == rows[same] &&
               process->noise[same] == noise[same])
            same++;
    }
    model->search = s;
    memcpy(model->theta, theta, size);
    hyperparameters_set(process, theta);
    process->count = 0;
    process->factored = same;
    for (int64_t i = 0; i < count; i++) {
        model->row[i] = rows[i];
        process_add(process, bayesian_row(bayesian, view, rows[i]).x, out[i], noise[i]);
    }
    process_factor(process);
}

void bayesian_learn(Bayesian *bayesian, const BayesianView *view, int64_t s)
{
    int64_t *rows = bayesian->chosen;
    double *out = bayesian->pool, *noise = out + BAYESIAN_MODEL_MAX;
    for (int k = bayesian->outputs - 1; k >= 0; k--) { // the warp is that of the cost, the last
        const int64_t count = model_choose(bayesian, view, k, BAYESIAN_MODEL_MAX, rows);
        model_outputs(bayesian, view, k, rows, count, out, noise);
        bayesian->model[k].constant = model_is_constant(out, count);
        model_set(bayesian, view, s, k, rows, count, out, noise);
    }
}
