// One row for each form of values besides a list (linspace, range, ...), in the order of the help text:
// `values_NAME` is a ValueForm of values/NAME.c.
#ifndef HOPSCOTCH_VALUES_H
#define HOPSCOTCH_VALUES_H

// clang-format off
#define VALUE_FORMS(X) \
    X(linspace) \
    X(logspace) \
    X(arange) \
    X(range)
// clang-format on

#endif
