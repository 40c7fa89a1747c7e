// The fitted model beside recordings that no trial saw: for each column the rms of what is left, in the recordings that
// were fitted and in the other one. An overfit, or a model that is wrong, leaves more where it was not fitted.
//
// The logarithm of the ratio of two variances is normal with variance 2/n + 2/m for n and m independent residuals
// (large n, m). Where neighbours have the correlation rho, squares have rho^2: n (1 - rho^2)/(1 + rho^2) count
// (M. Bartlett, J. R. Stat. Soc. 98, 1935). One-sided, at 0.1 % for all columns of all recordings together.
#include "../view.h"

#include <math.h>
#include <string.h>

static const double validate_level = 0.001;
static const double validate_least = 1.1; // times the fitted rms: less is of no interest

// Squares of a column in a recording, and how many count.
typedef struct ColumnSquares {
    double sum, counts;
    int64_t n;
} ColumnSquares;

static void validate_add(const FitRecording *recording, const char *column, ColumnSquares *to)
{
    for (int s = 0; s < recording->n_series; s++) {
        const FitSeries *series = &recording->series[s];
        const double *r = recording->residual + series->first;
        double sum = 0.0, next = 0.0;
        if (strcmp(series->name, column) != 0) continue;
        for (int64_t k = 0; k < series->count; k++) sum += r[k] * r[k];
        for (int64_t k = 1; k < series->count; k++) next += r[k] * r[k - 1];
        const double rho = sum > 0.0 ? next / sum : 0.0;
        to->sum += sum;
        to->n += series->count;
        to->counts += (double)series->count * (1.0 - rho * rho) / (1.0 + rho * rho);
    }
}

// fitted: of all recordings that were; left: what part of its freedom is left.
static FitColumn validate_column(const FitData *data, const FitRecording *held, const char *column, double left)
{
    enum { LEAST = 20 };
    ColumnSquares fitted = {0}, own = {0};
    FitColumn out = {.recording = held->name, .column = column, .p = (double)NAN};
    for (int k = 0; k < data->n_recordings; k++) {
        if (!data->recordings[k].held && data->recordings[k].count > 0)
            validate_add(&data->recordings[k], column, &fitted);
    }
    validate_add(held, column, &own);
    out.count = own.n;
    out.fitted = sqrt(fitted.sum / (double)fitted.n);
    out.held = sqrt(own.sum / (double)own.n);
    if (own.n < LEAST || fitted.n < LEAST || !(fitted.sum > 0.0) || !(own.sum > 0.0)) return out;
    const double z = 2.0 * log(out.held / out.fitted * sqrt(left)) / sqrt(2.0 / fitted.counts + 2.0 / own.counts);
    const double beyond = 0.5 * chi_squared_above(z * z, 1.0);
    out.p = z > 0.0 ? beyond : 1.0 - beyond;
    return out;
}

const FitColumn *fit_validate(const FitData *data, const FitResult *result, Arena *arena, int *count)
{
    const double left = (double)(data->count - result->n_free) / (double)data->count;
    int most = 0, tested = 0;
    for (int k = 0; k < data->n_recordings; k++) most += data->recordings[k].n_series;
    FitColumn *columns = ARENA_NEW(arena, FitColumn, most + 1);
    *count = 0;
    for (int k = 0; k < data->n_recordings; k++) {
        const FitRecording *held = &data->recordings[k];
        for (int s = 0; s < held->n_series && held->held; s++) {
            columns[*count] = (FitColumn){.recording = held->name, .column = held->series[s].name, .p = (double)NAN};
            if (held->count > 0) columns[*count] = validate_column(data, held, held->series[s].name, left);
            tested += !isnan(columns[(*count)++].p);
        }
    }
    for (int i = 0; i < *count; i++)
        columns[i].larger =
            columns[i].p < validate_level / tested && columns[i].held > validate_least * columns[i].fitted;
    return columns;
}
