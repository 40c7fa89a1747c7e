// Outer grids: searches that learn, for every point of a grid over other parameters, side by side. With S searches per
// point, search first + p S + s has the outer values of point p; the first outer parameter varies slowest. Its random
// numbers and those of its replicates are keyed by first + s. So it does what it would do without the outer grid and
// with these values fixed in `parameters`, and the searches of different points start alike.
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
