// What the files about a fit share (fit.c, fit_lack.c, fit_profile.c, fit_bootstrap.c).
#ifndef HOPSCOTCH_FIT_H
#define HOPSCOTCH_FIT_H

#include "../view.h"

static const double fit_level = 0.01; // of a family of tests: of all series, of all parameters

// An autoregressive process of a series: e_t = sum of phi_j e_(t-j) + w_t (fit_colour.c).
enum { FIT_ORDER_MOST = 10 };
typedef struct FitColour {
    int order; // 0: white
    double phi[FIT_ORDER_MOST], variance;
} FitColour;

typedef struct Fit {
    const Spec *spec;
    const FitData *data;
    FitResult *result;
    int m;                      // free parameters
    const int *free;            // [m]
    double *products;           // [m][m] A
    double *eigenvalue;         // [m] of A
    double most, level;         // the greatest of them; the variance of a residual
    double *vector;             // [m][m] columns
    double *inverse;            // [m][m] A^-1 without directions that are not determined
    bool *unknown;              // [m] of the directions
    double *scores;             // [m][m] S
    double *white, *covariance; // [m][m]
    double freedom, quantile, variance;
    double *own;       // [n] quantile of each parameter
    FitColour *colour; // [n_series]
    double *widening;  // [n]
    double *left;      // [count] residuals without what lies along the columns (fit_lack.c)
    double *spread;    // [m][m] A^-1 S A^-1 for series with a variance of their own
    Arena *arena;
} Fit;

double fit_dot(const double *a, const double *b, int64_t count);
const double *fit_column(const Fit *fit, int a); // [count] of free parameter a
// The variance of the noise of series s.
double fit_variance(const Fit *fit, int s);
// Fills colour, from left, and the innovations.
void fit_take_colours(Fit *fit);
// scores[m][m] <- S, for noise as colour and, if residuals are correlated, also from series to series.
void fit_scores(const Fit *fit, double *scores);
// The variance of x'e for such noise e, x[count].
double fit_variance_along(const Fit *fit, const double *x);
// Noise drawn from the residuals, and what it does to the linearised fit. fit_sample_take needs colours.
typedef struct FitSample {
    double *e, *left;      // [count]; without what lies along the columns
    double *by;            // [m][count] J A^-1
    double *along, *error; // [m] steps of coordinates, and the standard deviations that the sample gives them
    double *innovation;    // [count]
    double *work;          // [2 count]
    FitColour *colour;     // [n_series]
    bool joined;           // the noise of different series is correlated
} FitSample;
FitSample fit_sample_take(const Fit *fit);
void fit_sample_draw(const Fit *fit, FitSample *of, int64_t sample, int64_t block);
int fit_compare(const void *a, const void *b);
// The value of parameter i at coordinate u.
double fit_value_at(const FitData *data, int i, double u);
// own[i] <- the quantile of Student's ratio of parameter i, from simulated noise.
void fit_calibrate(Fit *fit);
// Fills left and spread, from scores of series with a variance of their own.
void fit_prepare_tests(Fit *fit);
// The p-value that series s has no smooth part (fit_lack.c).
double fit_smooth(const Fit *fit, int s);
// x <- M x: what of x[count] is not along the columns (fit_lack.c).
void fit_project(const Fit *fit, double *x);
// The p-value of a sum of squares, of `sum` in `count` directions, `freedom` of which are independent (fit_lack.c).
double fit_above(double sum, double count, double freedom);
// Fills result->step, and step[count] with what half a step changes, without what lies along the columns.
Error fit_test_step(const FitModel *model, const Fit *fit, double *step);

#endif
