// Points from a table of comma-separated values: a header with the names of parameters, then a line per point. Blank
// lines, lines that start with # and blanks around a field are ignored; a field may stand in double quotes. A file is
// read once and its numbers are frozen with the campaign: the resolved spec holds the numbers and names no file.
#include "../axes.h"

#include <string.h>

enum { CSV_COLUMNS_MAX = 1024 };

// The table while it is read.
typedef struct CsvReader {
    SpecReader *reader;
    CsvLines lines;
    int n_columns;
    int *axis; // [n_columns] which axis a column is; -1: it is left out
} CsvReader;

// ---- the header -----------------------------------------------------------------------------------------------------

// Whether a column is wanted: all are, unless the spec names some.
static bool csv_wants(const Node *columns, const char *name)
{
    bool found = columns == NULL;
    for (int i = 0; !found && i < columns->count; i++)
        found = columns->items[i]->kind == NODE_SCALAR && strcmp(columns->items[i]->text, name) == 0;
    return found;
}

// The header as a mapping, in which near names are searched.
static const Node *csv_header(const CsvReader *csv, Arena *arena)
{
    const Node **names = ARENA_NEW(arena, const Node *, csv->n_columns);
    Node *header = ARENA_NEW(arena, Node, 1), *copies = ARENA_NEW(arena, Node, csv->n_columns);
    for (int i = 0; i < csv->n_columns; i++) {
        copies[i] = csv->lines.fields[i];
        copies[i].text = arena_copy(arena, copies[i].text);
        names[i] = &copies[i];
    }
    *header = csv->lines.fields[0];
    header->kind = NODE_MAPPING;
    header->count = csv->n_columns;
    header->keys = header->items = names;
    return header;
}

static void csv_read_name(CsvReader *csv, const Node *header, int column, AxesBuild *build)
{
    SpecReader *reader = csv->reader;
    const Node *name = header->keys[column];
    const int parameter = parameter_find(reader, name, header, "the header");
    if (parameter >= 0 && build->taken[parameter])
        diagnose(reader->diagnostics, name, "%s is searched already: it stands in the header twice, or in `over`",
                 reader->names[parameter]);
    if (!axes_claim(build, name, parameter)) return;
    csv->axis[column] = build->n_axes;
    build->names[build->n_axes] = name;
    build->axes[build->n_axes++] = (Axis){.parameter = parameter, .zip = -1};
}

// Reports columns that the spec names and the table does not have.
static void csv_check_columns(const CsvReader *csv, const Node *header, const Node *columns)
{
    const char **names = ARENA_NEW(csv->reader->arena, const char *, csv->n_columns);
    for (int i = 0; columns != NULL && i < columns->count; i++) {
        const Node *wanted = columns->items[i];
        bool found = false;
        for (int c = 0; c < csv->n_columns; c++) {
            names[c] = header->keys[c]->text;
            found |= wanted->kind == NODE_SCALAR && strcmp(names[c], wanted->text) == 0;
        }
        const char *near =
            wanted->kind == NODE_SCALAR && !found ? nearest_name(wanted->text, names, csv->n_columns) : NULL;
        if (!found)
            diagnose(csv->reader->diagnostics, wanted, "%s is not a column of %s%s",
                     scalar_given(wanted, csv->reader->arena),
                     text_visible(csv->lines.source->file, csv->reader->arena), did_you_mean(near, csv->reader->arena));
    }
}

static bool csv_read_header(CsvReader *csv, const Node *columns, AxesBuild *build)
{
    SpecReader *reader = csv->reader;
    const int errors = diagnostics_errors(reader->diagnostics);
    csv->n_columns = csv->lines.n_fields;
    if (csv->n_columns > CSV_COLUMNS_MAX) {
        diagnose(reader->diagnostics, &csv->lines.fields[0],
                 "the header has more than %d columns; leave out columns that are not parameters", CSV_COLUMNS_MAX);
        return false;
    }
    csv->axis = ARENA_NEW(reader->arena, int, csv->n_columns);
    const Node *header = csv_header(csv, reader->arena);
    if (csv->n_columns == 1 && strpbrk(header->keys[0]->text, ";\t") != NULL) {
        diagnose(reader->diagnostics, header->keys[0], "the header has one column; columns are separated by ','");
        return false;
    }
    csv_check_columns(csv, header, columns);
    for (int c = 0; c < csv->n_columns; c++) {
        csv->axis[c] = -1;
        if (csv_wants(columns, header->keys[c]->text)) csv_read_name(csv, header, c, build);
    }
    return diagnostics_errors(reader->diagnostics) == errors;
}

// ---- the points -----------------------------------------------------------------------------------------------------

static void csv_read_point(const CsvReader *csv, const AxesBuild *build, double *values)
{
    SpecReader *reader = csv->reader;
    if (csv->lines.n_fields != csv->n_columns) {
        diagnose(reader->diagnostics, &csv->lines.fields[csv->lines.n_fields - 1], "%s, and the header has %d",
                 csv->lines.n_fields > csv->n_columns
                     ? "more fields than columns"
                     : arena_format(reader->arena, "the line has %d field%s", csv->lines.n_fields,
                                    csv->lines.n_fields == 1 ? "" : "s"),
                 csv->n_columns);
        return;
    }
    for (int c = 0; c < csv->n_columns; c++) {
        const int axis = csv->axis[c];
        if (axis < 0) continue;
        scalar_of_parameter(reader, reader->parameter_keys[build->axes[axis].parameter], &csv->lines.fields[c],
                            &values[axis]);
    }
}

// Stops when more errors were found than are shown. A valid row has at least a byte per column, which bounds the number
// of valid rows; every other row is an error.
static void csv_read_rows(CsvReader *csv, AxesBuild *build)
{
    enum { WRONG_MAX = 1024 };
    SpecReader *reader = csv->reader;
    const int64_t most = (int64_t)strlen(csv->lines.at) / csv->n_columns + WRONG_MAX;
    double *values = ARENA_NEW(reader->arena, double, most * build->n_axes);
    int64_t count = 0;
    while (count < most && !scalar_flooded(reader) && csv_row(&csv->lines, csv->n_columns + 1))
        csv_read_point(csv, build, values + count++ * build->n_axes);
    if (count == 0) diagnose(reader->diagnostics, &csv->lines.fields[0], "there is no point below the header");
    axes_set_points(reader, build, values, count);
}

void axes_read_table(SpecReader *reader, const Source *source, const Node *columns, AxesBuild *build)
{
    CsvReader csv = {.reader = reader, .lines = csv_lines(source, CSV_COLUMNS_MAX, reader->arena)};
    diagnostics_source(reader->diagnostics, source);
    if (!csv_row(&csv.lines, CSV_COLUMNS_MAX + 1)) {
        diagnose_at(reader->diagnostics, source, 1, 1, 1, "the table is empty; it starts with the names of parameters");
        return;
    }
    if (csv_read_header(&csv, columns, build)) csv_read_rows(&csv, build);
}

// ---- the file -------------------------------------------------------------------------------------------------------

// `csv: points.csv`, or `{file: points.csv, columns: [a, b]}`. NULL after an error.
static const Node *csv_file_node(SpecReader *reader, const GivenKey *given, const Node **columns)
{
    const Node *node = given->value, *file = node->kind == NODE_MAPPING ? node_find(node, "file") : node;
    *columns = node_find(node, "columns");
    bool ok = file != NULL && file->kind == NODE_SCALAR && !scalar_is_empty(file) &&
              (*columns == NULL || ((*columns)->kind == NODE_SEQUENCE && (*columns)->count > 0));
    if (node->kind == NODE_MAPPING) ok &= node->count == 1 + (*columns != NULL);
    if (!ok) form_mistyped(reader, given);
    return ok ? file : NULL;
}

// `points` are not read beside it.
static void csv_read_form(SpecReader *reader, const GivenKey *given)
{
    const GivenKey *points = given_find(reader, form_points.path);
    if (!axes_takes_points(reader, points != NULL ? points : given)) return;
    if (points != NULL) {
        diagnose(reader->diagnostics, given->key, "the points are in `points` already: give one of the two");
        return;
    }
    const Node *columns, *file = csv_file_node(reader, given, &columns);
    Source *source = ARENA_NEW(reader->arena, Source, 1);
    if (file == NULL) return;
    if (spec_read_file(reader->folder, file, POINTS_BYTES_MAX, reader->arena, reader->diagnostics, source))
        axes_read_table(reader, source, columns, reader->axes);
}

const Form form_csv = {
    .path = "search.csv",
    .after = "search.points",
    .words = "the name of a file, or {file: name, columns: [names]}",
    .doc = "methods list and csv: the file of the trials, in the spec's folder or below. Its first line names "
           "parameters, every other one is a trial; `columns` picks some of them. What it holds is frozen with the "
           "campaign",
    .example = "points.csv",
    .stage = FORM_POINTS,
    .instead_of = "search.points",
    .nameless = true,
    .read = csv_read_form,
    .schema = "{anyOf: [{type: string}, {type: object, properties: {file: {type: string}, columns: {type: array, "
              "minItems: 1, items: $name}}, required: [file], additionalProperties: false}]}",
};
