// The covariance of a CMA-ES: a full matrix, with its axes and their lengths, or, for many coordinates, its diagonal
// alone. The separable form (R. Ros & N. Hansen, A simple modification in CMA-ES achieving linear time and space
// complexity, PPSN X, 2008) learns n numbers instead of n^2/2, so its rates are (n + 2)/3 times as high (section 3
// there); its axes are the coordinates, and nothing has to be decomposed. Sums run in the order of ranks and of
// coordinates, so they are the same bits everywhere.
#include "cmaes.h"

#include <math.h>
#include <string.h>

enum { CMAES_TOGETHER = 4 }; // vectors that are added to C in one pass

// ---- what C says ----------------------------------------------------------------------------------------------------

double cmaes_variance(const Cmaes *cmaes, const CmaesView *view, int i)
{
    return view->C[cmaes->separable ? i : i * cmaes->n + i];
}

double cmaes_longest(const Cmaes *cmaes, const CmaesView *view)
{
    double longest = view->lengths[cmaes->n - 1];
    for (int k = 0; cmaes->separable && k < cmaes->n; k++)
        longest = view->lengths[k] > longest ? view->lengths[k] : longest;
    return longest;
}

double cmaes_condition(const Cmaes *cmaes, const CmaesView *view)
{
    double shortest = view->lengths[0];
    for (int k = 0; cmaes->separable && k < cmaes->n; k++)
        shortest = view->lengths[k] < shortest ? view->lengths[k] : shortest;
    const double ratio = cmaes_longest(cmaes, view) / shortest;
    return ratio * ratio;
}

double cmaes_axis(const Cmaes *cmaes, const CmaesView *view, int k, int i)
{
    return cmaes->separable ? (double)(i == k) : view->axes[k * cmaes->n + i];
}

// ---- to and from the sphere -----------------------------------------------------------------------------------------

// y[n] += the sum of along[k] axis[k][n] over k < count, in this order, four coordinates at a time in registers.
static void cmaes_add_axes(int n, int count, const double *along, const double *axis, double *y)
{
    int i = 0;
    for (; i + CMAES_TOGETHER <= n; i += CMAES_TOGETHER) {
        double a = y[i], b = y[i + 1], c = y[i + 2], d = y[i + 3];
        for (int k = 0; k < count; k++) {
            const double *row = axis + k * n + i;
            a += along[k] * row[0];
            b += along[k] * row[1];
            c += along[k] * row[2];
            d += along[k] * row[3];
        }
        y[i] = a, y[i + 1] = b, y[i + 2] = c, y[i + 3] = d;
    }
    for (; i < n; i++) {
        for (int k = 0; k < count; k++) y[i] += along[k] * axis[k * n + i];
    }
}

double cmaes_draw_y(const Cmaes *cmaes, const CmaesView *view, const RandomKey *key, double *y)
{
    enum { AT_ONCE = 64 };
    const int n = cmaes->n;
    double square = 0.0, z[AT_ONCE];
    memset(y, 0, (size_t)n * sizeof *y);
    for (int first = 0; first < n; first += AT_ONCE) {
        const int count = n - first < AT_ONCE ? n - first : AT_ONCE;
        random_normals(key, (uint32_t)first, count, z);
        for (int k = 0; k < count; k++) square += z[k] * z[k];
        for (int k = 0; k < count; k++) z[k] *= view->lengths[first + k];
        if (cmaes->separable)
            memcpy(y + first, z, (size_t)count * sizeof *y);
        else
            cmaes_add_axes(n, count, z, view->axes + first * n, y);
    }
    return square;
}

void cmaes_whiten(const Cmaes *cmaes, const CmaesView *view, const double *y, double gain, double *out)
{
    const int n = cmaes->n;
    if (cmaes->separable) {
        for (int k = 0; k < n; k++) out[k] += gain / view->lengths[k] * y[k];
        return;
    }
    for (int k = 0; k < n; k++) {
        const double *axis = view->axes + k * n;
        double along = 0.0;
        for (int j = 0; j < n; j++) along += axis[j] * y[j];
        along *= gain / view->lengths[k];
        for (int j = 0; j < n; j++) out[j] += along * axis[j];
    }
}

// ---- update ---------------------------------------------------------------------------------------------------------

// Adds weight v v' to rows [first, end) of the lower triangle, or to the diagonal.
static void cmaes_covariance_add(const Cmaes *cmaes, double *C, int first, int end, double weight, const double *v)
{
    const int n = cmaes->n;
    for (int i = first; cmaes->separable && i < end; i++) C[i] += weight * v[i] * v[i];
    for (int i = first; !cmaes->separable && i < end; i++) {
        const double scaled = weight * v[i];
        for (int j = 0; j <= i; j++) C[i * n + j] += scaled * v[j];
    }
}

// The same for four vectors, one after the other for each element, so that it is read and written once.
static void cmaes_covariance_add_four(const Cmaes *cmaes, double *C, int first, int end, const double *weight,
                                      const double *const *v)
{
    const int n = cmaes->n;
    const double *a = v[0], *b = v[1], *c = v[2], *d = v[3];
    for (int i = first; cmaes->separable && i < end; i++) {
        for (int k = 0; k < CMAES_TOGETHER; k++) C[i] += weight[k] * v[k][i] * v[k][i];
    }
    for (int i = first; !cmaes->separable && i < end; i++) {
        const double of_a = weight[0] * a[i], of_b = weight[1] * b[i], of_c = weight[2] * c[i], of_d = weight[3] * d[i];
        for (int j = 0; j <= i; j++)
            C[i * n + j] = C[i * n + j] + of_a * a[j] + of_b * b[j] + of_c * c[j] + of_d * d[j];
    }
}

static void cmaes_covariance_keep(const Cmaes *cmaes, const CmaesView *view, double keep)
{
    const int n = cmaes->n;
    for (int i = 0; cmaes->separable && i < n; i++) view->C[i] *= keep;
    for (int i = 0; !cmaes->separable && i < n; i++) {
        for (int j = 0; j <= i; j++) view->C[i * n + j] *= keep;
    }
}

static void cmaes_covariance_mirror(int n, double *C)
{
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < i; j++) C[j * n + i] = C[i * n + j];
    }
}

// Factor of a negative weight. A point that was injected has none: where it lies says nothing about C.
static double cmaes_shrinks(const CmaesPopulation *population, int64_t member, double n)
{
    return population->injected && member == 0 ? 0.0 : n / population->square[member];
}

typedef struct CmaesMove {
    const Cmaes *cmaes;
    const CmaesView *view;
    const CmaesPopulation *population;
} CmaesMove;

// The rank-mu term of rows [first, end). A negative weight is scaled by the member's own length, so that C stays
// positive definite. Threads share the rows, not the members: each element is one sum in the order of ranks.
static void cmaes_add_members(void *context, int thread, int64_t first, int64_t end)
{
    const CmaesMove *move = context;
    const Cmaes *cmaes = move->cmaes;
    const CmaesWeights *weights = &cmaes->weights;
    const int n = cmaes->n, from = (int)first, to = (int)end;
    const int64_t used = cmaes->settings[CMAES_WEIGHTS] == CMAES_WEIGHTS_ACTIVE ? weights->lambda : weights->mu;
    double weight[CMAES_TOGETHER], *C = move->view->C;
    const double *y[CMAES_TOGETHER];
    (void)thread;
    for (int64_t rank = 0; rank < used; rank++) {
        const int64_t member = cmaes->order[rank], at = rank % CMAES_TOGETHER;
        weight[at] = weights->weight[rank];
        if (weight[at] < 0.0) weight[at] *= cmaes_shrinks(move->population, member, n);
        weight[at] *= weights->c_mu;
        y[at] = move->population->y + member * n;
        if (at == CMAES_TOGETHER - 1) cmaes_covariance_add_four(cmaes, C, from, to, weight, y);
    }
    for (int64_t i = 0; i < used % CMAES_TOGETHER; i++) cmaes_covariance_add(cmaes, C, from, to, weight[i], y[i]);
}

// Equations 46 and 47.
void cmaes_move_C(const Cmaes *cmaes, const CmaesView *view, const CmaesPopulation *population, bool h_sigma)
{
    const int n = cmaes->n;
    const CmaesWeights *weights = &cmaes->weights;
    const double stalled = h_sigma ? 0.0 : weights->c_c * (2.0 - weights->c_c);
    double sum = weights->sum;
    for (int64_t rank = weights->mu; population->injected && rank < weights->lambda; rank++)
        sum -= cmaes->order[rank] == 0 ? weights->weight[rank] : 0.0;
    const double keep = 1.0 + weights->c_1 * stalled - weights->c_1 - weights->c_mu * sum;
    CmaesMove move = {cmaes, view, population};
    cmaes_covariance_keep(cmaes, view, keep);
    cmaes_covariance_add(cmaes, view->C, 0, n, weights->c_1, view->p_c);
    thread_team_for(cmaes_team(cmaes, weights->lambda), n, 1, cmaes_add_members, &move);
    if (!cmaes->separable) cmaes_covariance_mirror(n, view->C);
}

// ---- decomposition --------------------------------------------------------------------------------------------------

// C = B D^2 B'. An eigenvalue that is <= 0 by rounding becomes so small that the condition number ends the run.
void cmaes_decompose(const Cmaes *cmaes, const CmaesView *view)
{
    const int n = cmaes->n;
    if (cmaes->separable) {
        memcpy(view->lengths, view->C, (size_t)n * sizeof *view->C);
    } else if (!symmetric_eigen(n, view->C, view->lengths, view->axes, cmaes->vector)) {
        view->lengths[0] = 0.0; // not finite: the condition number ends the run
        return;
    }
    double greatest = view->lengths[n - 1];
    for (int k = 0; cmaes->separable && k < n; k++)
        greatest = view->lengths[k] > greatest ? view->lengths[k] : greatest;
    const double least = greatest * 1e-30;
    for (int k = 0; k < n; k++) view->lengths[k] = sqrt(view->lengths[k] > least ? view->lengths[k] : least);
}

// Rarely enough that it costs no more than the rest: by the number of evaluations, not by the clock.
void cmaes_decompose_if_due(const Cmaes *cmaes, const CmaesView *view)
{
    CmaesRun *run = view->run;
    const double rate = (cmaes->weights.c_1 + cmaes->weights.c_mu) * cmaes->n * 10.0;
    const double since = (double)(run->evaluations - run->eigen_evaluations);
    if (!cmaes->separable && !cmaes->surrogate && since < (double)run->lambda / rate) return;
    run->eigen_evaluations = run->evaluations;
    cmaes_decompose(cmaes, view);
}
