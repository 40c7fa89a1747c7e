// Hyperparameters of a Gaussian process: the most probable ones (MAP), given its points.
//
// Priors are normal in the logarithm. Lengths: C. Hvarfner, E. O. Hellsten, L. Nardi, "Vanilla Bayesian Optimization
// Performs Great in High Dimensions", ICML 2024, section 4: mean sqrt(2) + ln(n)/2, deviation sqrt(3), which expects
// smoother functions of more axes. Amplitude and nugget: wide, because outputs are standardised.
#ifndef HOPSCOTCH_SEARCH_BAYESIAN_HYPERPARAMETERS_H
#define HOPSCOTCH_SEARCH_BAYESIAN_HYPERPARAMETERS_H

#include "process.h"

// The latent of success is a step rather than a smooth function: its lengths are shorter, and its nugget is small.
typedef enum HyperparameterKind { HYPERPARAMETERS_SMOOTH, HYPERPARAMETERS_STEP } HyperparameterKind;

// theta[n + 2]: logarithms of the lengths, of the amplitude and of the nugget.
double *hyperparameters_default(HyperparameterKind kind, int n, double *theta); // the modes of the priors
void hyperparameters_set(GaussianProcess *process, const double *theta);
// theta <- the best of the maxima that are found from theta and from the default. room[hyperparameters_room].
int64_t hyperparameters_room(int n, int64_t count);
void hyperparameters_fit(HyperparameterKind kind, GaussianProcess *process, double *theta, double *room);

#endif
