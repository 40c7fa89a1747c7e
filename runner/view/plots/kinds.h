// The plots, a row each, in the order in which they are listed to users: `plot_NAME` is a PlotKind of a file in this
// folder, and NAME its name.
#ifndef HOPSCOTCH_PLOT_KINDS_H
#define HOPSCOTCH_PLOT_KINDS_H

// clang-format off
#define PLOT_KINDS(X) \
    X(convergence) \
    X(scatter) \
    X(pairs) \
    X(parallel) \
    X(importance) \
    X(failures) \
    X(pareto) \
    X(timings)
// clang-format on

#endif
