// {logspace: [first, last, points]}
#include "../keys.h"

#include <math.h>

static bool logspace_read(SpecReader *reader, const Key *key, const Node *mapping, const Node *node, Values *values)
{
    (void)mapping;
    if (!values_read_points(reader, key, node, values)) return false;
    if (values->low > 0.0 && values->high > 0.0) return true;
    diagnose(reader->diagnostics, node, "the ends of a logspace must be > 0: %s has a logarithm only then",
             key_name(key));
    return false;
}

static void logspace_prepare(Values *values)
{
    values->curve = decimal_curve_between(values->low, values->high, values->count);
}

static double logspace_at(const Values *values, int64_t index)
{
    if (index == 0) return values->low;
    if (index == values->count - 1) return values->high;
    return decimal_curve_at(&values->curve, index);
}

static double logspace_position(const Values *values, double x)
{
    if (!(x > 0)) return 0;
    return (log(x) - log(values->low)) / (log(values->high) - log(values->low)) * (double)(values->count - 1);
}

const ValueForm values_logspace = {
    .name = "logspace",
    .arguments = "[first, last, points]",
    .doc = "evenly spaced in the logarithm; the ends are values, not exponents",
    .example = "{logspace: [50, 300, 11]}",
    .n_arguments = 3,
    .log_scale = true,
    .read = logspace_read,
    .prepare = logspace_prepare,
    .text = values_points_text,
    .at = logspace_at,
    .position = logspace_position,
};
