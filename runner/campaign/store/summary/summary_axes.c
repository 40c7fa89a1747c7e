// The bins of searched parameters: one per value where there are few, else equal intervals of the range, in the
// logarithm where the axis is.
#include "summary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// What is known of the values of an axis.
typedef struct AxisValues {
    double low, high;
    bool log_scale, many;         // many: more than SUMMARY_LEVELS values, or a range
    double level[SUMMARY_LEVELS]; // [count] different values, if they are not many
    int count;
} AxisValues;

static void axis_note(AxisValues *values, double x)
{
    if (!(x >= values->low)) values->low = x;
    if (!(x <= values->high)) values->high = x;
    for (int i = 0; i < values->count && !values->many; i++) {
        if (values->level[i] == x) return;
    }
    if (values->count == SUMMARY_LEVELS)
        values->many = true;
    else if (!values->many)
        values->level[values->count++] = x;
}

static void axis_note_values(AxisValues *values, const Values *given)
{
    if (given->integer && given->high - given->low < SUMMARY_LEVELS) {
        for (double x = ceil(given->low); x <= given->high; x++) axis_note(values, x);
        return;
    }
    if (values_are_range(given) || (given->form != NULL && given->count > SUMMARY_LEVELS)) {
        const bool range = values_are_range(given);
        values->many = true;
        values->log_scale = given->log_scale || given->form->log_scale;
        axis_note(values, range ? given->low : values_at(given, 0));
        axis_note(values, range ? given->high : values_at(given, given->count - 1));
        return;
    }
    for (int64_t i = 0; i < given->count; i++) axis_note(values, values_at(given, i));
}

// The values of an axis, of all grids of a union, of all points of a list; and the fixed value, which an axis has
// where its condition does not hold, and in grids that do not name it.
static AxisValues axis_values(const Spec *spec, int a)
{
    const Axis *axis = &spec->axes[a];
    AxisValues values = {.low = (double)NAN, .high = (double)NAN};
    for (int64_t p = 0; p < spec->n_points; p++) axis_note(&values, spec->points[p * spec->n_axes + a]);
    for (int b = 0; b < spec->n_grids; b++) axis_note_values(&values, &spec->grids[b].values[a]);
    if (spec->n_points == 0 && spec->n_grids == 0) axis_note_values(&values, &axis->values);
    if (axis->partial) axis_note(&values, spec->fixed[axis->parameter]);
    if (values.low <= 0) values.log_scale = false;
    return values;
}

static int axis_compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void axis_take_levels(SummaryAxis *axis, AxisValues *values)
{
    qsort(values->level, (size_t)values->count, sizeof *values->level, axis_compare);
    axis->bins = values->count > 0 ? values->count : 1;
    for (int i = 0; i < values->count; i++) axis->low[i] = axis->high[i] = values->level[i];
    for (int i = 0; i + 1 < values->count; i++)
        axis->edge[i] = values->level[i] + 0.5 * (values->level[i + 1] - values->level[i]);
}

static void axis_take_ranges(SummaryAxis *axis, const AxisValues *values)
{
    const bool log_scale = values->log_scale;
    const double low = log_scale ? portable_log(values->low) : values->low;
    const double high = log_scale ? portable_log(values->high) : values->high;
    axis->bins = SUMMARY_RANGE;
    for (int i = 0; i + 1 < axis->bins; i++) {
        const double x = low + (high - low) * (double)(i + 1) / axis->bins;
        axis->edge[i] = log_scale ? portable_exp(x) : x;
    }
    for (int i = 0; i < axis->bins; i++) {
        axis->low[i] = i == 0 ? values->low : axis->edge[i - 1];
        axis->high[i] = i + 1 == axis->bins ? values->high : axis->edge[i];
    }
}

int summary_axes(const Spec *spec, SummaryAxis *axes, Arena *arena)
{
    const int count = spec->n_axes < SUMMARY_AXES ? spec->n_axes : SUMMARY_AXES;
    for (int a = 0; a < count; a++) {
        AxisValues values = axis_values(spec, a);
        axes[a] = (SummaryAxis){.name = arena_copy(arena, spec->configured.parameters[spec->axes[a].parameter].name),
                                .column = a};
        values.many ? axis_take_ranges(&axes[a], &values) : axis_take_levels(&axes[a], &values);
    }
    return count;
}

// The number of edges that are not above x: a binary search without branches over bins - 1 <= 63 edges.
int summary_bin(const SummaryAxis *axis, double x)
{
    int first = 0;
    for (int length = axis->bins - 1; length > 0;) {
        const int half = (length + 1) / 2;
        first += axis->edge[first + half - 1] <= x ? half : 0;
        length -= half;
    }
    return first;
}

static bool axis_is_same(const SummaryAxis *a, const SummaryAxis *b)
{
    bool same = strcmp(a->name, b->name) == 0 && a->bins == b->bins;
    for (int i = 0; same && i < a->bins; i++) same = a->low[i] == b->low[i] && a->high[i] == b->high[i];
    for (int i = 0; same && i + 1 < a->bins; i++) same = a->edge[i] == b->edge[i];
    return same;
}

bool summary_same_axes(const Spec *a, const Spec *b, Arena *arena, const char **axis)
{
    SummaryAxis *of_a = ARENA_NEW(arena, SummaryAxis, SUMMARY_AXES),
                *of_b = ARENA_NEW(arena, SummaryAxis, SUMMARY_AXES);
    const int n_a = summary_axes(a, of_a, arena), n_b = summary_axes(b, of_b, arena);
    for (int i = 0; i < n_a || i < n_b; i++) {
        *axis = i < n_a ? of_a[i].name : of_b[i].name;
        if (i >= n_a || i >= n_b || !axis_is_same(&of_a[i], &of_b[i])) return false;
    }
    return true;
}
