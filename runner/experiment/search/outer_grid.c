// Outer grids: searches that learn, for every point of a grid over other parameters, in one launch. With S searches a
// point, the search of number first + p S + s has the outer values of point p, the first outer parameter varying
// slowest. Its random numbers, those of its replicates too, are keyed by first + s: it does what it would do alone,
// with these values fixed in `parameters` and without the outer grid, and searches of different points start alike.
#include "../experiment.h"

void search_outer_fill(const Spec *spec, int64_t search, double *parameter)
{
    if (spec->n_outer == 0) return;
    const Axis *outer = spec->axes + spec->n_axes + spec->n_derived;
    int64_t point = (search - spec->outer.first) / spec->outer.searches;
    for (int i = spec->n_outer - 1; i >= 0; i--) {
        const int64_t count = outer[i].values.count;
        parameter[outer[i].parameter] = values_at(&outer[i].values, point % count);
        point /= count;
    }
}

uint32_t search_key(const Spec *spec, int64_t search)
{
    if (spec->n_outer == 0) return (uint32_t)search;
    return (uint32_t)(spec->outer.first + (search - spec->outer.first) % spec->outer.searches);
}
