// The model of a surrogate: linear, diagonal or full quadratic in the coordinates of the search, fitted to the best
// points of the archive by weighted least squares. Source: Hansen 2019 (surrogate.h), section 3: a kind needs 1.1 times
// as many points as it has terms; the best 3/4 of the archive are fitted; weights of the rows fall linearly from 20 for
// the best point to 1.
//
// Coordinates of the model: z_i = (u_i - c_i)/s_i, c the best point, s_i as the deviations of the strategy, and so long
// that all z are in [-1, 1]. Columns have their weighted means subtracted, so that the constant is free: with few
// points the model is the flattest that passes through them.
#include "cmaes.h"

#include <math.h>
#include <string.h>

static const double surrogate_more = 1.1, surrogate_kept = 0.75, surrogate_greatest = 20.0;

int64_t surrogate_terms(SurrogateKind kind, int64_t n)
{
    const int64_t terms[SURROGATE_KINDS] = {0, n, 2 * n, n * (n + 3) / 2};
    return terms[kind];
}

int64_t surrogate_rows(int64_t n, int64_t capacity)
{
    const int64_t least = surrogate_terms(SURROGATE_FULL, n) + 3;
    const int64_t best = (int64_t)(surrogate_kept * (double)(capacity + 1));
    return least > best ? least : best;
}

// The greatest kind for which `count` points are enough; two are for a linear one.
static SurrogateKind surrogate_kind(int64_t n, int64_t count)
{
    for (SurrogateKind kind = SURROGATE_FULL; kind > SURROGATE_LINEAR; kind--) {
        const double terms = (double)(surrogate_terms(kind, n) + 1);
        if (surrogate_kept * (double)count >= surrogate_more * terms) return kind;
    }
    return count >= 2 ? SURROGATE_LINEAR : SURROGATE_NONE;
}

// ---- memory ---------------------------------------------------------------------------------------------------------

size_t surrogate_bytes(const Cmaes *cmaes)
{
    const int64_t terms = surrogate_terms(SURROGATE_FULL, cmaes->n);
    return cmaes->surrogate ? (size_t)(cmaes->lambda_max + cmaes->n + terms) * sizeof(double) : 0;
}

size_t surrogate_fit_bytes(const Cmaes *cmaes)
{
    const int64_t n = cmaes->n, terms = surrogate_terms(SURROGATE_FULL, n);
    const int64_t rows = surrogate_rows(n, cmaes->archive_max);
    const int64_t squares = terms * (rows + terms + 3) + 2 * rows, sort = 8 * cmaes->archive_max;
    return cmaes->surrogate ? (size_t)(squares + sort + 3 * n * n + 4 * n) * sizeof(double) : 0;
}

void surrogate_take(Cmaes *cmaes, bool learns, Arena *arena)
{
    SurrogateRoom *room = &cmaes->modelling;
    const int64_t n = cmaes->n, terms = surrogate_terms(SURROGATE_FULL, n);
    const int64_t rows = surrogate_rows(n, cmaes->archive_max);
    room->z = ARENA_NEW(arena, double, n);
    room->terms = ARENA_NEW(arena, double, terms);
    room->modelled = ARENA_NEW(arena, double, cmaes->lambda_max);
    if (!learns) return;
    room->squares = (LeastSquares){.matrix = ARENA_NEW(arena, double, rows *terms),
                                   .value = ARENA_NEW(arena, double, rows),
                                   .diagonal = ARENA_NEW(arena, double, terms),
                                   .transposed = ARENA_NEW(arena, double, terms *terms),
                                   .room = ARENA_NEW(arena, double, terms),
                                   .order = ARENA_NEW(arena, int64_t, terms)};
    room->weight = ARENA_NEW(arena, double, rows);
    room->fitness = ARENA_NEW(arena, double, cmaes->archive_max);
    room->hessian = ARENA_NEW(arena, double, 3 * n * n + 4 * n);
    for (int i = 0; i < 2; i++) room->pair[i] = ARENA_NEW(arena, double, cmaes->archive_max);
}

// ---- the fit --------------------------------------------------------------------------------------------------------

// z[n], then the terms of the kind: z_i, z_i^2, z_i z_j for i < j.
static void surrogate_expand(const Cmaes *cmaes, const CmaesView *view, SurrogateKind kind, const double *coordinate,
                             double *terms)
{
    const int n = cmaes->n;
    double *z = cmaes->modelling.z, *at = terms;
    for (int i = 0; i < n; i++) z[i] = *at++ = (coordinate[i] - view->center[i]) / view->scale[i];
    for (int i = 0; kind >= SURROGATE_DIAGONAL && i < n; i++) *at++ = z[i] * z[i];
    for (int i = 0; kind == SURROGATE_FULL && i < n; i++) {
        for (int j = i + 1; j < n; j++) *at++ = z[i] * z[j];
    }
}

static const double *surrogate_point(const Cmaes *cmaes, const CmaesView *view, int64_t rank)
{
    return view->archive + cmaes->order[rank] * (cmaes->n + 1);
}

// Centre and scale of the coordinates from the best `rows` points. False: these are one point.
static bool surrogate_place(const Cmaes *cmaes, const CmaesView *view, int64_t rows)
{
    const int n = cmaes->n;
    double farthest = 0.0;
    memcpy(view->center, surrogate_point(cmaes, view, 0), (size_t)n * sizeof *view->center);
    for (int i = 0; i < n; i++) {
        const double step = cmaes->has_integers ? view->scaling[i] : 1.0;
        view->scale[i] = step * sqrt(cmaes_variance(cmaes, view, i));
        for (int64_t r = 1; r < rows; r++) {
            const double away = fabs(surrogate_point(cmaes, view, r)[i] - view->center[i]) / view->scale[i];
            farthest = away > farthest ? away : farthest;
        }
    }
    for (int i = 0; i < n; i++) view->scale[i] *= farthest;
    return farthest > 0.0 && isfinite(farthest);
}

// The weighted rows, less their weighted means, into the least squares. mean[terms + 1]: of the terms and the value.
static void surrogate_fill(Cmaes *cmaes, const CmaesView *view, SurrogateKind kind, double *mean)
{
    LeastSquares *squares = &cmaes->modelling.squares;
    const int64_t rows = squares->rows, terms = squares->columns;
    double *weight = cmaes->modelling.weight, sum = 0.0;
    for (int64_t k = 0; k <= terms; k++) mean[k] = 0.0;
    for (int64_t r = 0; r < rows; r++) {
        const double *point = surrogate_point(cmaes, view, r);
        const double fall = rows > 1 ? (surrogate_greatest - 1.0) * (double)r / (double)(rows - 1) : 0.0;
        weight[r] = surrogate_greatest - fall;
        const double square = weight[r] * weight[r];
        surrogate_expand(cmaes, view, kind, point, cmaes->modelling.terms);
        squares->value[r] = (point[cmaes->n] - surrogate_point(cmaes, view, 0)[cmaes->n]) / view->surrogate->unit;
        for (int64_t k = 0; k < terms; k++) {
            squares->matrix[k * rows + r] = cmaes->modelling.terms[k];
            mean[k] += square * cmaes->modelling.terms[k];
        }
        mean[terms] += square * squares->value[r];
        sum += square;
    }
    for (int64_t k = 0; k <= terms; k++) {
        double *column = k < terms ? squares->matrix + k * rows : squares->value;
        mean[k] /= sum;
        for (int64_t r = 0; r < rows; r++) column[r] = weight[r] * (column[r] - mean[k]);
    }
}

// False: the model is not finite.
static bool surrogate_solve(Cmaes *cmaes, const CmaesView *view, SurrogateKind kind)
{
    const int64_t terms = surrogate_terms(kind, cmaes->n);
    double *mean = cmaes->modelling.hessian; // room for terms + 1
    cmaes->modelling.squares.columns = terms;
    surrogate_fill(cmaes, view, kind, mean);
    view->surrogate->constant = mean[terms];
    const double *means = mean;
    (void)least_squares(&cmaes->modelling.squares, view->model);
    for (int64_t k = 0; k < terms; k++) view->surrogate->constant -= view->model[k] * means[k];
    bool finite = isfinite(view->surrogate->constant);
    for (int64_t k = 0; k < terms; k++) finite = finite && isfinite(view->model[k]);
    return finite;
}

void surrogate_fit(Cmaes *cmaes, const CmaesView *view)
{
    const int64_t count = view->surrogate->count, n = cmaes->n;
    double *fitness = cmaes->modelling.fitness;
    int64_t successes = 0;
    view->surrogate->kind = SURROGATE_NONE;
    for (int64_t i = 0; i < count; i++) {
        fitness[i] = view->archive[i * (n + 1) + n];
        successes += !isnan(fitness[i]);
    }
    const SurrogateKind kind = surrogate_kind(n, successes);
    if (kind == SURROGATE_NONE) return;
    const int64_t best = (int64_t)(surrogate_kept * (double)(successes + 1)), least = surrogate_terms(kind, n) + 3;
    int64_t rows = best > least ? best : least;
    rows = rows < successes ? rows : successes;
    cmaes_sort(cmaes, fitness, count, cmaes->order);
    view->surrogate->unit = fitness[cmaes->order[rows - 1]] - fitness[cmaes->order[0]];
    if (!(view->surrogate->unit > 0.0) || !isfinite(view->surrogate->unit)) return; // flat
    cmaes->modelling.squares.rows = rows;
    if (!surrogate_place(cmaes, view, rows)) return;
    if (surrogate_solve(cmaes, view, kind)) view->surrogate->kind = (int64_t)kind;
}

double surrogate_value(const Cmaes *cmaes, const CmaesView *view, const double *coordinate)
{
    const SurrogateKind kind = (SurrogateKind)view->surrogate->kind;
    const int64_t count = surrogate_terms(kind, cmaes->n);
    const double *terms = cmaes->modelling.terms;
    double sum = view->surrogate->constant;
    if (kind == SURROGATE_NONE) return 0.0;
    surrogate_expand(cmaes, view, kind, coordinate, cmaes->modelling.terms);
    for (int64_t k = 0; k < count; k++) sum += view->model[k] * terms[k];
    return sum;
}

// ---- the best point -------------------------------------------------------------------------------------------------

// Down the slope from the centre, as far as an injected step is at most.
static void surrogate_down(const Cmaes *cmaes, const CmaesView *view, double *z)
{
    const double n = cmaes->n, longest = sqrt(n) + 2.0 * n / (n + 2.0);
    double square = 0.0;
    for (int i = 0; i < cmaes->n; i++) square += view->model[i] * view->model[i];
    const double unit = view->run->sigma * sqrt(cmaes_variance(cmaes, view, 0)) / view->scale[0];
    for (int i = 0; i < cmaes->n; i++) z[i] = square > 0.0 ? -view->model[i] / sqrt(square) * longest * unit : 0.0;
}

// Where the slope b + 2 H z vanishes; along axes without curvature as near to the centre as there is.
static void surrogate_level(const Cmaes *cmaes, const CmaesView *view, double *z)
{
    const int n = cmaes->n;
    const bool full = view->surrogate->kind == SURROGATE_FULL;
    const double *pair = view->model + 2 * n;
    double *H = cmaes->modelling.hessian, *axes = H + n * n, *lengths = axes + n * n, *room = lengths + n;
    for (int i = 0; i < n; i++) {
        for (int j = i + 1; j < n; j++) H[i * n + j] = H[j * n + i] = full ? *pair++ / 2.0 : 0.0;
        H[i * n + i] = view->model[n + i];
    }
    memset(z, 0, (size_t)n * sizeof *z);
    if (!symmetric_eigen(n, H, lengths, axes, room)) return;
    const double greatest = fabs(lengths[0]) > fabs(lengths[n - 1]) ? fabs(lengths[0]) : fabs(lengths[n - 1]);
    for (int k = 0; k < n; k++) {
        double along = 0.0;
        if (!(fabs(lengths[k]) > 1e-15 * greatest)) continue;
        for (int i = 0; i < n; i++) along += axes[k * n + i] * view->model[i];
        for (int i = 0; i < n; i++) z[i] -= along / (2.0 * lengths[k]) * axes[k * n + i];
    }
}

void surrogate_find_best(Cmaes *cmaes, const CmaesView *view)
{
    const Spec *spec = cmaes->spec;
    double *z = cmaes->modelling.z;
    view->surrogate->has_best = 0;
    if (view->surrogate->kind == SURROGATE_NONE) return;
    (view->surrogate->kind == SURROGATE_LINEAR ? surrogate_down : surrogate_level)(cmaes, view, z);
    for (int i = 0; i < cmaes->n; i++) {
        const Values *values = &spec->axes[i].values;
        const bool mirrored = cmaes->settings[CMAES_BOUNDS] == CMAES_BOUNDS_TRANSFORM && !values->integer;
        double u = view->center[i] + view->scale[i] * z[i];
        if (!isfinite(u)) return;
        u = u > 0.0 ? (u < CMAES_WIDTH ? u : CMAES_WIDTH) : 0.0;
        view->best[i] = mirrored ? cmaes_unreflected(u) : u;
    }
    view->surrogate->has_best = 1;
}
