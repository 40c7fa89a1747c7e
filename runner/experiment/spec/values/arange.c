// {arange: [start, greatest, step]}
#include "../keys.h"

#include <math.h>

static bool arange_read(SpecReader *reader, const Key *key, const Node *mapping, const Node *node, Values *values)
{
    static const Key step_key = {.path = "step", .type = KEY_NUMBER, .low = -INFINITY, .high = INFINITY};
    (void)mapping;
    if (!scalar_number(reader, &step_key, node->items[2], &values->step)) return false;
    if (values->step <= 0.0) {
        diagnose(reader->diagnostics, node->items[2], "step of %s is %s, must be > 0", key_name(key),
                 node->items[2]->text);
        return false;
    }
    const double steps = decimal_steps(values->low, values->high, values->step);
    if (steps < 0.0) {
        diagnose(reader->diagnostics, node, "%s starts at %s, above the greatest value allowed, %s", key_name(key),
                 text_number(values->low).text, text_number(values->high).text);
        return false;
    }
    if (steps > 9007199254740991.0) {
        diagnose(reader->diagnostics, node, "%s has %s values, more than 2^53", key_name(key), text_number(steps).text);
        return false;
    }
    values->count = (int64_t)steps + 1;
    return true;
}

static void arange_prepare(Values *values) { values->line = decimal_line(values->low, values->step, values->count); }

static double arange_at(const Values *values, int64_t index)
{
    const double value = decimal_line_at(&values->line, index);
    return value > values->high ? values->high : value; // a billionth of a step above it
}

static double arange_position(const Values *values, double x) { return (x - values->low) / values->step; }

static const char *arange_text(const Values *values, Arena *arena)
{
    return values_triple_text(values, text_number(values->step).text, arena);
}

const ValueForm values_arange = {
    .name = "arange",
    .arguments = "[start, greatest, step]",
    .doc = "start, start + step, ... up to the greatest value allowed",
    .example = "{arange: [25, 40, 5]}",
    .n_arguments = 3,
    .read = arange_read,
    .prepare = arange_prepare,
    .text = arange_text,
    .at = arange_at,
    .position = arange_position,
};
