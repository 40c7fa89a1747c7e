// Values along an axis, never expanded: the value at an index, and the index of a value.
#include "../experiment.h"

bool values_are_range(const Values *values) { return values->form != NULL && values->form->range; }

Values values_prepared(Values values)
{
    if (values.form != NULL) values.form->prepare(&values);
    return values;
}

double values_at(const Values *values, int64_t index)
{
    return values->form == NULL ? values->list[index] : values->form->at(values, index);
}

void values_ends(const Values *values, double *low, double *high)
{
    const bool list = values->form == NULL;
    *low = values->low;
    *high = values->high;
    if (values_are_range(values) || values->count == 0) return;
    const double first = values_at(values, 0), last = values_at(values, values->count - 1);
    *low = first < last ? first : last;
    *high = first < last ? last : first;
    for (int64_t i = 1; list && i < values->count - 1; i++) { // other forms ascend or descend
        const double x = values->list[i];
        *low = x < *low ? x : *low;
        *high = x > *high ? x : *high;
    }
}

// ---- the index of a value -------------------------------------------------------------------------------------------

// A value is found by equality, as in conditions, `--where` and SQL. Equal points of different forms are equal doubles.

static int64_t values_guess(const Values *values, double x)
{
    const double last = (double)(values->count - 1),
                 position = values->form->range ? 0.0 : values->form->position(values, x);
    return !(position > 0) ? 0 : position >= last ? values->count - 1 : (int64_t)(position + 0.5);
}

int64_t values_find(const Values *values, double x, int64_t hint)
{
    if (values->count == 0) return -1;
    if (values->form != NULL) hint = values_guess(values, x);
    if (hint < values->count && values_at(values, hint) == x) return hint;
    for (int64_t i = 0; values->form == NULL && i < values->count; i++) {
        if (values->list[i] == x) return i;
    }
    return -1;
}
