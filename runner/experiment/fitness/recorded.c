// The recorded motion that a run is compared with, as a table over time: of a model with a reference that table; of a
// system its inputs which a metric subtracts from a column, as in `value: angle - seen` or `(angle - seen)/0.01`.
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

// *text behind a character and the blanks around it; false: it does not stand there.
static bool recorded_mark(const char **text, char mark)
{
    const char *at = *text + strspn(*text, " ");
    if (*at != mark) return false;
    *text = at + 1 + strspn(at + 1, " ");
    return true;
}

// a, b <- the names of a difference "a - b", *factor: what multiplies it, as in "(a - b)/0.02" or "(a - b)*50".
static bool recorded_difference(const Node *metric, Arena *arena, const char **a, const char **b, double *factor)
{
    const Node *value = node_find(metric, "value");
    if (value == NULL || value->kind != NODE_SCALAR) return false;
    const char *text = value->text;
    const bool in_parentheses = recorded_mark(&text, '(');
    *factor = 1.0;
    *a = recorded_name(&text, arena);
    if (*a == NULL || !recorded_mark(&text, '-')) return false;
    *b = recorded_name(&text, arena);
    if (*b == NULL || (in_parentheses && !recorded_mark(&text, ')'))) return false;
    if (*text == '\0') return true;
    const bool divides = recorded_mark(&text, '/');
    double number;
    if (!in_parentheses || (!divides && !recorded_mark(&text, '*')) || !text_to_number(text, &number)) return false;
    *factor = divides ? 1.0 / number : number;
    return isfinite(*factor) && *factor != 0.0;
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

// The tree of a system; NULL: it can't be read.
static const Node *recorded_root(const System *system, Arena *arena)
{
    Source *source = ARENA_NEW(arena, Source, 1);
    *source = (Source){.file = "system", .text = system->text};
    return yaml_parse(source, arena, diagnostics_new(arena));
}

static const Points *recorded_of_system(const Spec *spec, const System *system, Arena *arena)
{
    const Node *root = recorded_root(system, arena);
    const Node *metrics = root != NULL ? node_find(root, "metrics") : NULL;
    const Node *inputs = root != NULL ? node_find(root, "inputs") : NULL;
    const int most = metrics != NULL && metrics->kind == NODE_MAPPING ? metrics->count : 0;
    Recorded recorded = {.names = ARENA_NEW(arena, const char *, most + 1),
                         .inputs = ARENA_NEW(arena, const Node *, most + 1)};
    for (int m = 0; m < most; m++) {
        const char *a, *b;
        double factor;
        if (!recorded_difference(metrics->items[m], arena, &a, &b, &factor)) continue;
        const Node *of_a = recorded_input(inputs, a), *of_b = recorded_input(inputs, b);
        if (of_b != NULL && recorded_is_column(&spec->configured, a)) recorded_add(&recorded, a, of_b);
        if (of_a != NULL && recorded_is_column(&spec->configured, b)) recorded_add(&recorded, b, of_a);
    }
    return recorded.count > 0 ? recorded_table(&recorded, arena) : NULL;
}

// ---- at the instants of an event ------------------------------------------------------------------------------------

static const char *recorded_word(const Node *node, const char *key)
{
    const Node *value = node != NULL && node->kind == NODE_MAPPING ? node_find(node, key) : NULL;
    return value != NULL && value->kind == NODE_SCALAR ? value->text : "";
}

// The event of that name; NULL: there is none.
static const Node *recorded_event(const Node *events, const char *name)
{
    for (int e = 0; recorded_is_list(events) && e < events->count; e++) {
        if (strcmp(recorded_word(events->items[e], "name"), name) == 0) return events->items[e];
    }
    return NULL;
}

// time[count] <- the instants of an event that comes every so many seconds, or at the rows of an input, before the end;
// NULL: it is another event, or has no such number.
static const double *recorded_instants(const Node *event, const Node *inputs, double duration, Arena *arena,
                                       int64_t *count)
{
    const Node *input = recorded_input(inputs, recorded_word(event, "rows"));
    const Node *at = input != NULL ? node_find(input, "at") : NULL;
    double every;
    *count = 0;
    if (at == NULL && (!text_to_number(recorded_word(event, "every"), &every) || !isfinite(every) || !(every > 0.0)))
        return NULL;
    const double most = at != NULL ? (double)at->count : ceil(duration / every - 1e-9);
    if (!(most < MATRIX_MAX)) return NULL;
    double *time = ARENA_NEW(arena, double, (int64_t)most + 1);
    for (int64_t k = 0; k < (int64_t)most; k++) {
        const double t = at != NULL ? strtod(at->items[k]->text, NULL) : (double)k * every;
        if (at == NULL || (!(t < 0.0) && t * (1.0 + 1e-15) < duration)) time[(*count)++] = t;
    }
    return time;
}

// The input at a time, from its row *row on. A step ends at each row, so one within rounding of it is that row. *apart:
// how far the time is from the nearest row, in parts of the distance of both rows around it.
static double recorded_at(const Node *input, bool held, double time, int *row, double *apart)
{
    *apart = 0.0;
    const Node *at = node_find(input, "at"), *values = node_find(input, "values");
    while (*row + 1 < at->count && strtod(at->items[*row + 1]->text, NULL) <= time * (1.0 + 1e-12)) (*row)++;
    const double first = strtod(at->items[*row]->text, NULL), value = strtod(values->items[*row]->text, NULL);
    if (*row + 1 == at->count || time <= first) return value;
    const double next = strtod(at->items[*row + 1]->text, NULL), part = (time - first) / (next - first);
    *apart = fmin(part, 1.0 - part);
    if (held) return value;
    return value + part * (strtod(values->items[*row + 1]->text, NULL) - value);
}

static bool recorded_compare(const Spec *spec, const Node *root, const Node *metric, Arena *arena, RecordedInput *out)
{
    const char *a, *b;
    double factor;
    const Node *inputs = node_find(root, "inputs");
    if (!recorded_difference(metric, arena, &a, &b, &factor)) return false;
    const bool first = recorded_is_column(&spec->configured, a) && recorded_input(inputs, b) != NULL;
    const Node *input = recorded_input(inputs, first ? b : a);
    const Node *event = recorded_event(node_find(root, "events"), recorded_word(metric, "at"));
    if (input == NULL || !recorded_is_column(&spec->configured, first ? a : b)) return false;
    int64_t count;
    const double *time = recorded_instants(event, inputs, spec->configured.duration, arena, &count);
    if (node_find(input, "at")->count == 0 || time == NULL) return false;
    const bool held = strcmp(recorded_word(input, "between"), "held") == 0;
    double *value = ARENA_NEW(arena, double, count + 1);
    *out = (RecordedInput){.input = first ? b : a, .count = count, .factor = first ? factor : -factor};
    static const double near = 0.01; // as clocks are written
    int row = 0;
    for (int64_t k = 0; k < count; k++) {
        double apart;
        value[k] = recorded_at(input, held, time[k], &row, &apart);
        out->between += apart > near;
    }
    out->time = time;
    out->value = value;
    return true;
}

bool spec_recorded_input(const Spec *spec, int metric, Arena *arena, RecordedInput *out)
{
    for (int i = 0; i < spec->model->n_options; i++) {
        const Points *points = &spec->option_points[i];
        if (spec->model->options[i].type != OPTION_SYSTEM || points->count == 0 || points->system->is_map) continue;
        const Node *root = recorded_root(points->system, arena);
        const Node *metrics = root != NULL ? node_find(root, "metrics") : NULL;
        const Node *of = metrics != NULL && metrics->kind == NODE_MAPPING
                             ? node_find(metrics, spec->configured.metrics[metric].name)
                             : NULL;
        return of != NULL && of->kind == NODE_MAPPING && recorded_compare(spec, root, of, arena, out);
    }
    return false;
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
