// The search methods, a row each, in the order in which they are listed to users: `search_NAME` is a SearchMethod of a
// file in this folder.
#ifndef HOPSCOTCH_METHODS_H
#define HOPSCOTCH_METHODS_H

// clang-format off
#define SEARCH_METHODS(X) \
    X(grid) \
    X(list) \
    X(csv) \
    X(random) \
    X(latin_hypercube) \
    X(sobol) \
    X(centered) \
    X(morris) \
    X(sobol_indices) \
    X(cmaes) \
    X(bayesian) \
    X(nsga2) \
    X(adam) \
    X(lbfgs) \
    X(least_squares) \
    X(auto)
// clang-format on

#endif
