// Results that people bring, from a table (CSV or JSON) or from words NAME=VALUE. A row is a list of names with values;
// all forms are read by the same functions.
#include "keys.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { RESULTS_BYTES_MAX = 256 << 20, RESULTS_COLUMNS_MAX = 4096 };

// What a column is. index: of the metric, the parameter or the failure.
typedef enum ColumnIs {
    IS_WRONG,
    IS_TRIAL,
    IS_REPLICATE,
    IS_FAILURE,
    IS_FAILURE_NAME,
    IS_METRIC,
    IS_PARAMETER
} ColumnIs;
typedef struct ResultColumn {
    ColumnIs is;
    int index;
} ResultColumn;

typedef struct ResultReader {
    const Spec *spec;
    Arena *arena;
    Diagnostics *diagnostics;
    int64_t capacity;
    ResultLines *out;
} ResultReader;

// A row while it is read.
typedef struct ResultRow {
    ResultLine line;
    double *metric, *parameter;
    bool has_trial, has_replicate, wrong;
    const Node *failed; // where a failure is given
} ResultRow;

// ---- names ----------------------------------------------------------------------------------------------------------

// Splits "slip [mm]" or "slip (mm)". Returns the unit; NULL: there is none.
static const char *results_split_unit(char *name)
{
    const size_t length = strlen(name);
    const char open = length > 0 && name[length - 1] == ']' ? '[' : '(';
    char *bracket = length > 0 && strchr("])", name[length - 1]) != NULL ? strrchr(name, open) : NULL;
    if (bracket == NULL || bracket == name) return NULL;
    name[length - 1] = '\0';
    *bracket = '\0';
    for (char *end = bracket; end > name && end[-1] == ' ';) *--end = '\0';
    return bracket + 1;
}

static void results_check_unit(ResultReader *reader, const Node *at, const char *name, const char *given,
                               const char *unit)
{
    if (given == NULL || strcmp(given, unit) == 0) return;
    diagnose(reader->diagnostics, at, "%s is in %.40s here, and the spec has it in %.40s: convert the values", name,
             given, unit);
}

static int results_find_failure(const Spec *spec, const char *name)
{
    for (int i = 1; i < spec->configured.n_failures; i++) {
        if (strcmp(spec->configured.failures[i], name) == 0 && strcmp(name, NON_FINITE) != 0) return i;
    }
    return -1;
}

static ResultColumn results_unknown(ResultReader *reader, const Node *at, const char *name)
{
    const Configured *configured = &reader->spec->configured;
    const int named = configured_named(configured);
    const char **names =
        ARENA_NEW(reader->arena, const char *, configured->n_metrics + named + configured->n_failures + 3);
    int count = 0;
    names[count++] = "trial";
    names[count++] = "replicate";
    names[count++] = "failure";
    for (int m = 0; m < configured->n_metrics; m++) names[count++] = configured->metrics[m].name;
    for (int i = 0; i < named; i++) names[count++] = configured->parameters[i].name;
    for (int i = 1; i < configured->n_failures; i++) names[count++] = configured->failures[i];
    diagnose(reader->diagnostics, at, "unknown column '%.60s': it is no metric, parameter or failure of the spec%s",
             text_visible(name, reader->arena), did_you_mean(nearest_name(name, names, count), reader->arena));
    return (ResultColumn){.is = IS_WRONG};
}

static ResultColumn results_column(ResultReader *reader, const Node *at)
{
    const Configured *configured = &reader->spec->configured;
    char *name = arena_copy(reader->arena, at->text);
    const char *unit = results_split_unit(name);
    if (strcmp(name, "trial") == 0) return (ResultColumn){.is = IS_TRIAL};
    if (strcmp(name, "replicate") == 0) return (ResultColumn){.is = IS_REPLICATE};
    if (strcmp(name, "failure") == 0 || strcmp(name, "failed") == 0) return (ResultColumn){.is = IS_FAILURE};
    for (int m = 0; m < configured->n_metrics; m++) {
        if (strcmp(configured->metrics[m].name, name) != 0) continue;
        results_check_unit(reader, at, name, unit, configured->metrics[m].unit);
        return (ResultColumn){.is = IS_METRIC, .index = m};
    }
    for (int i = 0; i < configured_named(configured); i++) {
        if (strcmp(configured->parameters[i].name, name) != 0) continue;
        results_check_unit(reader, at, name, unit, configured->parameters[i].unit);
        return (ResultColumn){.is = IS_PARAMETER, .index = i};
    }
    const int failure = results_find_failure(reader->spec, name);
    if (failure > 0) return (ResultColumn){.is = IS_FAILURE_NAME, .index = failure};
    return results_unknown(reader, at, name);
}

// ---- values ---------------------------------------------------------------------------------------------------------

static void results_wrong(ResultReader *reader, ResultRow *row, const Node *value, const char *name,
                          const char *expected)
{
    diagnose(reader->diagnostics, value, "%s is %s, expected %s", name, scalar_given(value, reader->arena), expected);
    row->wrong = true;
}

static int64_t results_whole(ResultReader *reader, ResultRow *row, const Node *value, const char *name, double most)
{
    double number = -1.0;
    if (text_to_number(value->text, &number) && number >= 0.0 && number <= most && number == floor(number))
        return (int64_t)number;
    results_wrong(reader, row, value, name,
                  most < 1e15 ? arena_format(reader->arena, "a whole number from 0 to %.0f", most)
                              : "the id of a trial, a whole number");
    return -1;
}

// 1: yes, 0: no, -1: neither.
static int results_truth(const char *text)
{
    static const char *const words[] = {"no", "yes", "false", "true", "0", "1"};
    for (int i = 0; i < 6; i++) {
        if (strcmp(text, words[i]) == 0) return i % 2;
    }
    return -1;
}

static void results_fail(ResultReader *reader, ResultRow *row, const Node *value, int failure)
{
    if (row->line.failure != 0 && row->line.failure != failure) {
        diagnose(reader->diagnostics, value, "the trial failed as '%s' already in this line: give one failure",
                 reader->spec->configured.failures[row->line.failure]);
        row->wrong = true;
    }
    row->line.failure = failure;
    row->failed = value;
}

static void results_failure(ResultReader *reader, ResultRow *row, const Node *value)
{
    const Configured *configured = &reader->spec->configured;
    const int truth = results_truth(value->text), failure = results_find_failure(reader->spec, value->text);
    if (truth == 0 || strcmp(value->text, "none") == 0) return;
    if (truth == 1) {
        results_fail(reader, row, value, configured_failure(configured, "failed"));
        return;
    }
    if (failure > 0) {
        results_fail(reader, row, value, failure);
        return;
    }
    const char *list = "none";
    for (int i = 1; i < configured->n_failures; i++) {
        if (strcmp(configured->failures[i], NON_FINITE) != 0)
            list = arena_format(reader->arena, "%s, %s", list, configured->failures[i]);
    }
    results_wrong(reader, row, value, "failure",
                  arena_format(reader->arena, "one of %.300s%s", list,
                               did_you_mean(nearest_name(value->text, configured->failures, configured->n_failures),
                                            reader->arena)));
}

static void results_parameter(ResultReader *reader, ResultRow *row, int index, const Node *value)
{
    const Configured *configured = &reader->spec->configured;
    const char *choices = configured_choices(configured, index), *name = configured->parameters[index].name;
    double number = choices != NULL ? words_find(choices, value->text) : (double)NAN;
    if (choices != NULL ? number < 0 : !text_to_number(value->text, &number)) {
        results_wrong(reader, row, value, name, choices != NULL ? "one of its words" : "a number");
        return;
    }
    row->parameter[index] = number;
}

static void results_value(ResultReader *reader, ResultRow *row, const ResultColumn *column, const Node *value)
{
    const Configured *configured = &reader->spec->configured;
    if (value->kind != NODE_SCALAR) {
        results_wrong(reader, row, value, "a value", "a number or a word");
        return;
    }
    if (value->text[0] == '\0' || (!value->quoted && strcmp(value->text, "null") == 0)) return; // not given
    switch (column->is) {
    case IS_WRONG: row->wrong = true; return;
    case IS_TRIAL:
        row->line.trial = results_whole(reader, row, value, "trial", 9007199254740991.0);
        row->has_trial = true;
        return;
    case IS_REPLICATE:
        row->line.replicate = (int)results_whole(reader, row, value, "replicate", reader->spec->replicates.count - 1);
        row->has_replicate = true;
        return;
    case IS_FAILURE: results_failure(reader, row, value); return;
    case IS_FAILURE_NAME: {
        const int truth = results_truth(value->text);
        if (truth < 0) results_wrong(reader, row, value, configured->failures[column->index], "yes or no");
        if (truth == 1) results_fail(reader, row, value, column->index);
        return;
    }
    case IS_METRIC:
        if (!text_to_number(value->text, &row->metric[column->index]))
            results_wrong(reader, row, value, configured->metrics[column->index].name, "a number");
        return;
    case IS_PARAMETER: results_parameter(reader, row, column->index, value); return;
    }
}

// ---- rows -----------------------------------------------------------------------------------------------------------

static ResultRow results_row(ResultReader *reader, const Node *at)
{
    const Configured *configured = &reader->spec->configured;
    ResultRow row = {.line.at = at,
                     .metric = ARENA_NEW(reader->arena, double, configured->n_metrics),
                     .parameter = ARENA_NEW(reader->arena, double, configured->n_parameters)};
    row.line.metric = row.metric;
    row.line.parameter = row.parameter;
    for (int m = 0; m < configured->n_metrics; m++) row.metric[m] = (double)NAN;
    for (int i = 0; i < configured->n_parameters; i++) row.parameter[i] = (double)NAN;
    return row;
}

// The metrics that are missing, "slip and time"; NULL: none. *all: every one.
static const char *results_missing(const ResultReader *reader, const ResultRow *row, bool *all)
{
    const Configured *configured = &reader->spec->configured;
    const char **names = ARENA_NEW(reader->arena, const char *, configured->n_metrics + 1);
    int count = 0;
    for (int m = 0; m < configured->n_metrics; m++) {
        if (isnan(row->metric[m])) names[count++] = configured->metrics[m].name;
    }
    *all = count == configured->n_metrics;
    if (count == 0) return NULL;
    const char *text = names[0];
    for (int i = 1; i < count; i++)
        text = arena_format(reader->arena, "%s%s%s", text, i + 1 < count ? ", " : " and ", names[i]);
    return text;
}

static void results_add(ResultReader *reader, const ResultLine *line)
{
    ResultLines *out = reader->out;
    if (out->count == reader->capacity) {
        reader->capacity = 2 * reader->capacity + 64;
        ResultLine *grown = ARENA_NEW(reader->arena, ResultLine, reader->capacity);
        if (out->count > 0) memcpy(grown, out->lines, (size_t)out->count * sizeof *grown);
        out->lines = grown;
    }
    out->lines[out->count++] = *line;
}

// A row is complete, has no result at all, or is wrong.
static void results_end_row(ResultReader *reader, ResultRow *row)
{
    bool none = false;
    if (row->wrong) return;
    const char *missing = results_missing(reader, row, &none);
    if (none && row->line.failure == 0) {
        if (reader->out->empty++ == 0) reader->out->empty_at = row->line.at;
        return;
    }
    if (!row->has_trial)
        diagnose(reader->diagnostics, row->line.at, "a result without the id of its trial: give `trial`");
    else if (!row->has_replicate && reader->spec->replicates.count > 1)
        diagnose(reader->diagnostics, row->line.at,
                 "trial %lld has %d replicates: give `replicate`, 0 to %d, such as replicate=0",
                 (long long)row->line.trial, reader->spec->replicates.count, reader->spec->replicates.count - 1);
    else if (missing != NULL && row->line.failure == 0)
        diagnose(reader->diagnostics, row->line.at, "trial %lld has no value of %.200s: give all metrics, or a failure",
                 (long long)row->line.trial, missing);
    else
        results_add(reader, &row->line);
}

// ---- tables ---------------------------------------------------------------------------------------------------------

static const Node *results_keep_node(const ResultReader *reader, const Node *node)
{
    Node *kept = ARENA_NEW(reader->arena, Node, 1);
    *kept = *node;
    kept->text = arena_copy(reader->arena, node->text);
    return kept;
}

static void results_read_row(ResultReader *reader, CsvLines *csv, const ResultColumn *columns, int n_columns)
{
    ResultRow row = results_row(reader, results_keep_node(reader, &csv->fields[0]));
    if (csv->n_fields != n_columns) {
        diagnose(reader->diagnostics, &csv->fields[csv->n_fields - 1],
                 "the line has %s%d fields, and the header has %d", csv->n_fields > n_columns ? "at least " : "",
                 csv->n_fields, n_columns);
        return;
    }
    for (int c = 0; c < n_columns; c++) results_value(reader, &row, &columns[c], &csv->fields[c]);
    results_end_row(reader, &row);
}

static void results_check_twice(ResultReader *reader, const ResultColumn *columns, int n, const Node *const *at)
{
    for (int a = 0; a < n; a++) {
        for (int b = 0; b < a; b++) {
            if (columns[a].is == IS_WRONG || columns[a].is != columns[b].is || columns[a].index != columns[b].index)
                continue;
            diagnose(reader->diagnostics, at[a], "'%.60s' is there twice: remove one",
                     text_visible(at[a]->text, reader->arena));
        }
    }
}

static void results_read_csv(ResultReader *reader, const Source *source)
{
    CsvLines csv = csv_lines(source, RESULTS_COLUMNS_MAX, reader->arena);
    if (!csv_row(&csv, RESULTS_COLUMNS_MAX + 1)) {
        diagnose_at(reader->diagnostics, source, 1, 1, 1,
                    "the table is empty; it starts with the names of its columns");
        return;
    }
    const int n = csv.n_fields;
    ResultColumn *columns = ARENA_NEW(reader->arena, ResultColumn, n);
    const Node **at = ARENA_NEW(reader->arena, const Node *, n);
    for (int c = 0; c < n; c++) {
        at[c] = results_keep_node(reader, &csv.fields[c]);
        columns[c] = results_column(reader, at[c]);
    }
    results_check_twice(reader, columns, n, at);
    while (csv_row(&csv, n + 1)) results_read_row(reader, &csv, columns, n);
}

static void results_read_object(ResultReader *reader, const Node *object)
{
    ResultRow row = results_row(reader, object);
    if (object->kind != NODE_MAPPING) {
        diagnose(reader->diagnostics, object, "this is %s, expected an object with the results of a trial",
                 scalar_given(object, reader->arena));
        return;
    }
    ResultColumn *columns = ARENA_NEW(reader->arena, ResultColumn, object->count);
    for (int i = 0; i < object->count; i++) {
        columns[i] = results_column(reader, object->keys[i]);
        results_value(reader, &row, &columns[i], object->items[i]);
    }
    results_check_twice(reader, columns, object->count, object->keys);
    results_end_row(reader, &row);
}

// Whether the text is JSON lines: it begins with an object, and a line below begins with another one.
static bool results_are_json_lines(const char *text)
{
    if (text[strspn(text, " \t\r\n")] != '{') return false;
    const char *line = strchr(text + strspn(text, " \t\r\n"), '\n');
    for (; line != NULL; line = strchr(line + 1, '\n')) {
        if (line[1 + strspn(line + 1, " \t\r")] == '{') return true;
    }
    return false;
}

// Nodes that were read from a line alone get their places in the whole text.
static void results_move(const Node *node, int lines, const Source *source)
{
    Node *own = (Node *)(uintptr_t)node;
    own->line += lines;
    own->source = source;
    for (int i = 0; i < node->count; i++) {
        if (node->kind == NODE_MAPPING) results_move(node->keys[i], lines, source);
        results_move(node->items[i], lines, source);
    }
}

// Line number `before` + 1 of the text. False: it can't be read, and the error has its place.
static bool results_read_json_line(ResultReader *reader, const Source *source, const char *line, size_t width,
                                   int before)
{
    Source *own = ARENA_NEW(reader->arena, Source, 1);
    *own = (Source){
        .file = source->file, .text = arena_format(reader->arena, "%.*s", (int)width, line), .most = source->most};
    const Node *object = yaml_parse(own, reader->arena, diagnostics_new(reader->arena));
    if (object != NULL) {
        results_move(object, before, source);
        results_read_object(reader, object);
        return true;
    }
    char *empty = ARENA_NEW(reader->arena, char, before + 1);
    memset(empty, '\n', (size_t)before);
    own->text = arena_format(reader->arena, "%s%s", empty, own->text);
    return yaml_parse(own, reader->arena, reader->diagnostics) != NULL;
}

// JSON lines are an object per line, as `ask --format jsonl` prints them.
static void results_read_json_lines(ResultReader *reader, const Source *source)
{
    int before = 0;
    bool readable = true;
    for (const char *line = source->text; *line != '\0' && readable; before++) {
        const size_t width = strcspn(line, "\n");
        if (strspn(line, " \t\r") < width) readable = results_read_json_line(reader, source, line, width, before);
        line += width + (line[width] == '\n');
    }
}

// JSON is YAML.
static void results_read_json(ResultReader *reader, const Source *source)
{
    const Node *root = yaml_parse(source, reader->arena, reader->diagnostics);
    if (root == NULL) return;
    if (root->kind != NODE_SEQUENCE) {
        results_read_object(reader, root);
        return;
    }
    for (int i = 0; i < root->count; i++) results_read_object(reader, root->items[i]);
}

// ---- a result twice -------------------------------------------------------------------------------------------------

static int results_by_trial(const void *left, const void *right)
{
    const ResultLine *a = *(const ResultLine *const *)left, *b = *(const ResultLine *const *)right;
    if (a->trial != b->trial) return a->trial < b->trial ? -1 : 1;
    if (a->replicate != b->replicate) return a->replicate - b->replicate;
    return a->at->line - b->at->line;
}

static void results_check_duplicates(ResultReader *reader)
{
    const ResultLines *out = reader->out;
    const ResultLine **sorted = ARENA_NEW(reader->arena, const ResultLine *, out->count + 1);
    for (int64_t i = 0; i < out->count; i++) sorted[i] = &out->lines[i];
    if (out->count > 1) qsort(sorted, (size_t)out->count, sizeof *sorted, results_by_trial);
    for (int64_t i = 1; i < out->count; i++) {
        if (sorted[i]->trial != sorted[i - 1]->trial || sorted[i]->replicate != sorted[i - 1]->replicate) continue;
        diagnose(reader->diagnostics, sorted[i]->at, "trial %lld is there twice, first in line %d: remove one",
                 (long long)sorted[i]->trial, sorted[i - 1]->at->line);
    }
}

Error results_read(const Spec *spec, const char *path, Arena *arena, Diagnostics *diagnostics, ResultLines *out)
{
    Bytes bytes = {0};
    Source *source = ARENA_NEW(arena, Source, 1);
    ResultReader reader = {.spec = spec, .arena = arena, .diagnostics = diagnostics, .out = out};
    *out = (ResultLines){0};
    TRY(file_read(path, RESULTS_BYTES_MAX, arena, &bytes));
    *source = (Source){.file = arena_copy(arena, path), .text = (const char *)bytes.data, .most = RESULTS_BYTES_MAX};
    diagnostics_source(diagnostics, source);
    if (!source_check(source, bytes.size, diagnostics)) return spec_summary(path, diagnostics);
    const char first = source->text[strspn(source->text, " \t\r\n")];
    if (results_are_json_lines(source->text))
        results_read_json_lines(&reader, source);
    else if (first == '[' || first == '{')
        results_read_json(&reader, source);
    else
        results_read_csv(&reader, source);
    results_check_duplicates(&reader);
    return diagnostics_errors(diagnostics) > 0 ? spec_summary(path, diagnostics) : error_none();
}

// ---- words ----------------------------------------------------------------------------------------------------------

// The name that the word begins with; its value is given to the row.
static ResultColumn results_read_word(ResultReader *reader, ResultRow *row, const char *word, const Node **at)
{
    const char *equals = strchr(word, '=');
    Source *source = ARENA_NEW(reader->arena, Source, 1);
    Node *name = ARENA_NEW(reader->arena, Node, 2), *value = name + 1;
    *source = (Source){.file = word, .text = word};
    diagnostics_source(reader->diagnostics, source);
    *name = (Node){.source = source, .line = 1, .column = 1, .width = 1, .text = arena_copy(reader->arena, word)};
    row->line.at = row->line.at != NULL ? row->line.at : name;
    *at = name;
    if (equals == NULL || equals == word) {
        diagnose(reader->diagnostics, name, "expected NAME=VALUE, such as %.60s=1",
                 reader->spec->configured.metrics[0].name);
        row->wrong = true;
        return (ResultColumn){.is = IS_WRONG};
    }
    name->width = (int)(equals - word);
    *value = *name;
    ((char *)(uintptr_t)name->text)[equals - word] = '\0';
    value->text = equals + 1;
    value->column += name->width + 1;
    value->width = 1;
    const ResultColumn column = results_column(reader, name);
    if (column.is == IS_TRIAL) diagnose(reader->diagnostics, name, "the trial is named already, before its results");
    if (column.is != IS_TRIAL) results_value(reader, row, &column, value);
    return column;
}

void results_read_words(const Spec *spec, int64_t trial, const char *const *words, int count, Arena *arena,
                        Diagnostics *diagnostics, ResultLines *out)
{
    ResultReader reader = {.spec = spec, .arena = arena, .diagnostics = diagnostics, .out = out};
    *out = (ResultLines){0};
    ResultRow row = results_row(&reader, NULL);
    row.line.trial = trial;
    row.has_trial = true;
    ResultColumn *columns = ARENA_NEW(arena, ResultColumn, count);
    const Node **at = ARENA_NEW(arena, const Node *, count);
    for (int i = 0; i < count; i++) columns[i] = results_read_word(&reader, &row, words[i], &at[i]);
    results_check_twice(&reader, columns, count, at);
    results_end_row(&reader, &row);
}
