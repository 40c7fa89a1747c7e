// Values along an axis, never expanded: the value at an index, and the index of a value.
#include "../experiment.h"

#include <math.h>

bool values_are_range(const Values *values) { return values->form != NULL && values->form->range; }

// An integer is drawn from [low, high + 1), whose ends are integers, and cut.
void values_take_logarithms(Values *values)
{
    if (!values->log_scale) return;
    values->log_low = portable_log(values->integer ? ceil(values->low) : values->low);
    values->log_high = portable_log(values->integer ? floor(values->high) + 1.0 : values->high);
}

double values_at(const Values *values, int64_t index)
{
    return values->form == NULL ? values->list[index] : values->form->at(values, index);
}

// ---- the place of a value -------------------------------------------------------------------------------------------

// Finds the points that a grid had before it was extended. Another form gives the same number a few bits apart (0.3/3
// is not 0.1), so a value may differ by rounding.

static double values_scale(const Values *values)
{
    double scale = fmax(fabs(values->low), fabs(values->high));
    for (int64_t i = 0; values->form == NULL && i < values->count; i++) {
        scale = i == 0 ? fabs(values->list[0]) : fmax(scale, fabs(values->list[i]));
    }
    return scale;
}

static int64_t values_guess(const Values *values, double x)
{
    const double last = (double)(values->count - 1), place = values->form->range ? 0.0 : values->form->place(values, x);
    return !(place > 0) ? 0 : place >= last ? values->count - 1 : (int64_t)(place + 0.5);
}

int64_t values_find(const Values *values, double x, int64_t hint)
{
    const double near = 4e-15 * values_scale(values) + 1e-12 * fabs(x);
    if (values->count == 0) return -1;
    if (values->form != NULL) hint = values_guess(values, x);
    if (hint < values->count && fabs(values_at(values, hint) - x) <= near) return hint;
    for (int64_t i = 0; values->form == NULL && i < values->count; i++) {
        if (fabs(values->list[i] - x) <= near) return i;
    }
    return -1;
}
