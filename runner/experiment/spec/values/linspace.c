// {linspace: [first, last, points]}
#include "../keys.h"

static bool linspace_read(SpecReader *reader, const Key *key, const Node *mapping, const Node *node, Values *values)
{
    (void)mapping;
    return values_read_points(reader, key, node, values);
}

static void linspace_prepare(Values *values)
{
    values->line = decimal_line_between(values->low, values->high, values->count);
}

static double linspace_at(const Values *values, int64_t index)
{
    if (index == values->count - 1) return values->high;
    return decimal_line_at(&values->line, index);
}

static double linspace_position(const Values *values, double x)
{
    return (x - values->low) / (values->high - values->low) * (double)(values->count - 1);
}

const ValueForm values_linspace = {
    .name = "linspace",
    .arguments = "[first, last, points]",
    .doc = "evenly spaced, both ends included",
    .example = "{linspace: [50, 300, 26]}",
    .n_arguments = 3,
    .read = linspace_read,
    .prepare = linspace_prepare,
    .text = values_points_text,
    .at = linspace_at,
    .position = linspace_position,
};
