// {range: [low, high], scale: log, integer: true, sigma: 0.2}
#include "../keys.h"

#include <math.h>

static const Key range_scale_key = {.path = "scale", .type = KEY_CHOICE, .words = "linear|log", .store = STORE_BOOLEAN};
static const Key range_integer_key = {.path = "integer", .type = KEY_BOOLEAN, .store = STORE_BOOLEAN};
static const Key range_sigma_key = {.path = "sigma", .type = KEY_NUMBER, .low = 1e-6, .high = 1.0};

static bool range_flag(SpecReader *reader, const Key *row, const Node *mapping, bool *flag)
{
    const Node *node = node_find(mapping, row->path);
    Key key = *row;
    key.at = flag;
    const int errors = diagnostics_errors(reader->diagnostics);
    scalar_read(reader, &key, node);
    return diagnostics_errors(reader->diagnostics) == errors;
}

// An integer is drawn from [low, high + 1), whose ends are integers, and cut.
static void range_prepare(Values *values)
{
    if (!values->log_scale) return;
    values->log_low = portable_log(values->integer ? ceil(values->low) : values->low);
    values->log_high = portable_log(values->integer ? floor(values->high) + 1.0 : values->high);
}

static bool range_read(SpecReader *reader, const Key *key, const Node *mapping, const Node *node, Values *values)
{
    bool ok = range_flag(reader, &range_scale_key, mapping, &values->log_scale);
    ok &= range_flag(reader, &range_integer_key, mapping, &values->integer);
    const Node *sigma = node_find(mapping, "sigma");
    if (sigma != NULL) ok &= scalar_number(reader, &range_sigma_key, sigma, &values->sigma);
    const char *problem = NULL;
    if (values->low >= values->high)
        problem = "its low end must be below its high end";
    else if (values->log_scale && values->low <= 0.0)
        problem = "on a log scale both ends must be > 0";
    else if (values->integer && (values->low != floor(values->low) || values->high != floor(values->high)))
        problem = "the ends of an integer range must be integers";
    if (problem != NULL)
        diagnose(reader->diagnostics, node, "range of %s is [%s, %s]: %s", key_name(key), text_number(values->low).text,
                 text_number(values->high).text, problem);
    return ok && problem == NULL;
}

static const char *range_text(const Values *values, Arena *arena)
{
    const char *sigma = values->sigma > 0.0 ? arena_format(arena, ", sigma: %s", text_number(values->sigma).text) : "";
    return arena_format(arena, "{range: [%s, %s], scale: %s, integer: %s%s}", text_number(values->low).text,
                        text_number(values->high).text, values->log_scale ? "log" : "linear",
                        values->integer ? "true" : "false", sigma);
}

const ValueForm values_range = {
    .name = "range",
    .arguments = "[low, high]",
    .doc =
        "for methods that sample; `scale: log` samples its logarithm, `integer: true` whole numbers; cmaes: `sigma`, "
        "the fraction of the range that its first steps have",
    .example = "{range: [50, 300], scale: log, integer: false}",
    .n_arguments = 2,
    .range = true,
    .companions = "scale|integer|sigma",
    .read = range_read,
    .prepare = range_prepare,
    .text = range_text,
    .schema = "scale: {enum: [linear, log]}, integer: {type: boolean}, sigma: {type: number}",
};
