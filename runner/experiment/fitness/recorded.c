// The recorded motion that a run is compared with, as a table over time: of a model with a reference that table; of a
// system its inputs which a metric subtracts from a column, as in `value: angle - seen`.
#include "../experiment.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool recorded_is_list(const Node *node) { return node != NULL && node->kind == NODE_SEQUENCE; }

// The name that a text begins with, and where it ends; NULL: it begins with none.
static const char *recorded_name(const char **text, Arena *arena)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789";
    const char *start = *text + strspn(*text, " ");
    const size_t length = strspn(start, letters);
    *text = start + length + strspn(start + length, " ");
    return length > 0 && strchr("0123456789", *start) == NULL ? arena_format(arena, "%.*s", (int)length, start) : NULL;
}

// a, b <- the names of a difference "a - b".
static bool recorded_difference(const Node *metric, Arena *arena, const char **a, const char **b)
{
    const Node *value = node_find(metric, "value");
    if (value == NULL || value->kind != NODE_SCALAR) return false;
    const char *text = value->text;
    *a = recorded_name(&text, arena);
    if (*a == NULL || *text++ != '-') return false;
    *b = recorded_name(&text, arena);
    return *b != NULL && *text == '\0';
}

static bool recorded_is_column(const Configured *configured, const char *name)
{
    for (int c = 0; c < configured->n_columns; c++) {
        if (strcmp(configured->columns[c].name, name) == 0) return true;
    }
    return false;
}

// The input's numbers; NULL: it is none, or has no numbers.
static const Node *recorded_input(const Node *inputs, const char *name)
{
    const Node *input = inputs != NULL ? node_find(inputs, name) : NULL;
    const Node *at = input != NULL ? node_find(input, "at") : NULL;
    const Node *values = input != NULL ? node_find(input, "values") : NULL;
    return recorded_is_list(at) && recorded_is_list(values) && at->count == values->count ? input : NULL;
}

typedef struct Recorded {
    const char **names;  // [count] columns
    const Node **inputs; // [count]
    int count;
    int64_t rows;
} Recorded;

static void recorded_add(Recorded *recorded, const char *column, const Node *input)
{
    for (int k = 0; k < recorded->count; k++) {
        if (strcmp(recorded->names[k], column) == 0) return;
    }
    recorded->names[recorded->count] = column;
    recorded->inputs[recorded->count++] = input;
    recorded->rows += node_find(input, "at")->count;
}

// A row for each number of each input: time, and the number in its column.
static const Points *recorded_table(const Recorded *recorded, Arena *arena)
{
    const int columns = recorded->count + 1;
    const char **names = ARENA_NEW(arena, const char *, columns);
    double *numbers = ARENA_NEW(arena, double, recorded->rows *columns), *row = numbers;
    Points *points = ARENA_NEW(arena, Points, 1);
    names[0] = "time";
    for (int k = 0; k < recorded->count; k++) {
        const Node *at = node_find(recorded->inputs[k], "at"), *values = node_find(recorded->inputs[k], "values");
        names[k + 1] = recorded->names[k];
        for (int i = 0; i < at->count; i++, row += columns) {
            for (int c = 1; c < columns; c++) row[c] = (double)NAN;
            row[0] = strtod(at->items[i]->text, NULL);
            row[k + 1] = strtod(values->items[i]->text, NULL);
        }
    }
    *points = (Points){.count = recorded->rows * columns, .columns = columns, .numbers = numbers, .names = names};
    return points;
}

static const Points *recorded_of_system(const Spec *spec, const System *system, Arena *arena)
{
    Source *source = ARENA_NEW(arena, Source, 1);
    *source = (Source){.file = "system", .text = system->text};
    const Node *root = yaml_parse(source, arena, diagnostics_new(arena));
    const Node *metrics = root != NULL ? node_find(root, "metrics") : NULL;
    const Node *inputs = root != NULL ? node_find(root, "inputs") : NULL;
    const int most = metrics != NULL && metrics->kind == NODE_MAPPING ? metrics->count : 0;
    Recorded recorded = {.names = ARENA_NEW(arena, const char *, most + 1),
                         .inputs = ARENA_NEW(arena, const Node *, most + 1)};
    for (int m = 0; m < most; m++) {
        const char *a, *b;
        if (!recorded_difference(metrics->items[m], arena, &a, &b)) continue;
        const Node *of_a = recorded_input(inputs, a), *of_b = recorded_input(inputs, b);
        if (of_b != NULL && recorded_is_column(&spec->configured, a)) recorded_add(&recorded, a, of_b);
        if (of_a != NULL && recorded_is_column(&spec->configured, b)) recorded_add(&recorded, b, of_a);
    }
    return recorded.count > 0 ? recorded_table(&recorded, arena) : NULL;
}

const Points *spec_recorded_motion(const Spec *spec, Arena *arena)
{
    for (int i = 0; i < spec->model->n_options; i++) {
        const Points *points = &spec->option_points[i];
        if (spec->model->options[i].type == OPTION_SYSTEM && points->count > 0)
            return recorded_of_system(spec, points->system, arena);
    }
    return spec_recording(spec);
}
