// Intervals by the profile of the sum of squares S (D. Bates & D. Watts, Nonlinear regression analysis and its
// applications, 1988, 6.1): with a parameter held beside its best value, all others are fitted again, by Gauss-Newton
// steps from where the linearised model has them. The interval ends where S has risen by tau^2 s^2. tau is that of the
// linearised interval, corrections for series and correlation included, so that both agree for a linear model.
#include "fit.h"

#include <math.h>
#include <string.h>

enum { PROFILE_STEPS = 4, PROFILE_POINTS = 8 };
static const double profile_tolerance = 0.005; // of an end

typedef struct Profile {
    const FitModel *model;
    const FitData *data;
    const FitResult *result;
    int n, p;                        // p: the parameter that is held
    double squares, variance;        // S at the best point, s^2
    double *u, *value;               // [n]
    double *residual, *column;       // [count], [n][count]
    double *matrix, *right, *beside; // [n][n], [n]; how the others follow the held one
} Profile;

double fit_value_at(const FitData *data, int i, double u)
{
    const double off = (u - data->coordinate[i]) * data->stretch[i], at = data->value[i];
    return data->log_scale[i] ? at * exp(off / at) : at + off;
}

static double profile_dot(const Profile *of, int i, int j)
{
    const int64_t count = of->data->count;
    const double *a = of->column + i * count, *b = j < 0 ? of->residual : of->column + j * count;
    double sum = 0.0;
    for (int64_t k = 0; k < count; k++) sum += a[k] * b[k];
    return sum;
}

// Whether a parameter is fitted again.
static bool profile_moves(const Profile *of, int i) { return i != of->p && of->result->parameters[i].determined; }

// right <- the solution of the normal equations of the parameters that move, for right as it is (Cholesky).
static void profile_solve(Profile *of)
{
    const int n = of->n;
    double *L = of->matrix, *b = of->right;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j <= i; j++) {
            const bool both = profile_moves(of, i) && profile_moves(of, j);
            double sum = both ? profile_dot(of, i, j) * (i == j ? 1.0 + 1e-12 : 1.0) : i == j;
            for (int k = 0; k < j; k++) sum -= L[i * n + k] * L[j * n + k];
            L[i * n + j] = i == j ? sqrt(sum > 0.0 ? sum : 1.0) : sum / L[j * n + j];
        }
        for (int k = 0; k < i; k++) b[i] -= L[i * n + k] * b[k];
        b[i] /= L[i * n + i];
    }
    for (int i = n - 1; i >= 0; i--) {
        for (int k = i + 1; k < n; k++) b[i] -= L[k * n + i] * b[k];
        b[i] /= L[i * n + i];
    }
}

// S at u; NaN: the run fails there.
static Error profile_squares(Profile *of, double *squares)
{
    bool there;
    for (int i = 0; i < of->n; i++) of->value[i] = fit_value_at(of->data, i, of->u[i]);
    TRY(fit_evaluate(of->model, of->value, of->residual, of->column, &there));
    *squares = there ? 0.0 : (double)NAN;
    for (int64_t k = 0; k < of->data->count && there; k++) *squares += of->residual[k] * of->residual[k];
    return error_none();
}

// The least S with the held parameter `off` beside its best value.
static Error profile_least(Profile *of, double off, double *least)
{
    *least = (double)NAN;
    for (int i = 0; i < of->n; i++) of->u[i] = search_inside(of->data->coordinate[i] + of->beside[i] * off);
    for (int step = 0; step < PROFILE_STEPS; step++) {
        double squares, less = 0.0;
        TRY(profile_squares(of, &squares));
        if (isnan(squares) || squares >= *least) return error_none();
        *least = squares;
        for (int i = 0; i < of->n; i++) of->right[i] = profile_moves(of, i) ? -profile_dot(of, i, -1) : 0.0;
        memcpy(of->value, of->right, (size_t)of->n * sizeof(double));
        profile_solve(of);
        for (int i = 0; i < of->n; i++) {
            less += of->right[i] * of->value[i];
            of->u[i] = search_inside(of->u[i] + of->right[i]);
        }
        if (less < 1e-3 * of->variance) return error_none();
    }
    return error_none();
}

// An end of the interval, on one side of the best value. NaN: it lies beyond the range, or runs fail before it.
static Error profile_end(Profile *of, double side, double *end)
{
    const FitParameter *parameter = &of->result->parameters[of->p];
    const double error = parameter->error / fabs(of->data->stretch[of->p]), best = of->data->coordinate[of->p];
    const double half = of->result->quantile[of->p] * error, room = side > 0.0 ? 1.0 - best : best;
    double off = half < room ? half : room, least;
    const double tau = of->result->quantile[of->p] * of->result->widening[of->p];
    *end = room > 0.0 ? (double)NAN : of->data->value[of->p];
    for (int k = 0; k < PROFILE_POINTS && room > 0.0; k++) {
        TRY(profile_least(of, side * off, &least));
        if (isnan(least)) return error_none();
        const double reached = sqrt(fmax(least - of->squares, 0.0) / of->variance) / tau;
        if (reached < 1.0 - profile_tolerance && off >= room) return error_none();
        *end = fit_value_at(of->data, of->p, best + side * off);
        if (fabs(reached - 1.0) < profile_tolerance) return error_none();
        off = fmin(off * fmin(fmax(1.0 / reached, 0.4), 2.5), room);
    }
    return error_none();
}

// How the others follow parameter p, by the derivatives at the best point.
static void profile_begin(Profile *of, int p)
{
    const FitData *data = of->data;
    of->p = p;
    memcpy(of->column, data->column, (size_t)(data->count * of->n) * sizeof(double));
    for (int i = 0; i < of->n; i++) of->right[i] = profile_moves(of, i) ? -profile_dot(of, i, p) : 0.0;
    profile_solve(of);
    memcpy(of->beside, of->right, (size_t)of->n * sizeof(double));
    of->beside[p] = 1.0;
}

Error fit_profile(const FitModel *model, const FitData *data, FitResult *result, Arena *arena)
{
    const int n = data->n;
    Profile of = {.model = model,
                  .data = data,
                  .result = result,
                  .n = n,
                  .u = ARENA_NEW(arena, double, n),
                  .value = ARENA_NEW(arena, double, n),
                  .residual = ARENA_NEW(arena, double, data->count),
                  .column = ARENA_NEW(arena, double, data->count *n),
                  .matrix = ARENA_NEW(arena, double, n *n),
                  .right = ARENA_NEW(arena, double, n),
                  .beside = ARENA_NEW(arena, double, n)};
    for (int64_t k = 0; k < data->count; k++) of.squares += data->residual[k] * data->residual[k];
    of.variance = of.squares / (double)(data->count - result->n_free);
    for (int i = 0; i < n; i++) {
        FitParameter *parameter = &result->parameters[i];
        double below, above;
        if (!parameter->determined || !(parameter->error > 0.0)) continue;
        profile_begin(&of, i);
        TRY(profile_end(&of, -1.0, &below));
        TRY(profile_end(&of, 1.0, &above));
        parameter->low = fmin(below, above);
        parameter->high = fmax(below, above);
        if (isnan(below) || isnan(above)) {
            parameter->low = below;
            parameter->high = above;
            parameter->open = true;
        }
    }
    return error_none();
}
