// The plots, in the order in which users see them. A row NAME stands for the PlotKind `plot_NAME`, in a file of this
// folder.
#ifndef HOPSCOTCH_PLOT_KINDS_H
#define HOPSCOTCH_PLOT_KINDS_H

// clang-format off
#define PLOT_KINDS(X) \
    X(convergence) \
    X(gradient) \
    X(predictions) \
    X(outer) \
    X(scatter) \
    X(pairs) \
    X(parallel) \
    X(importance) \
    X(failures) \
    X(pareto) \
    X(timings)
// clang-format on

#endif
