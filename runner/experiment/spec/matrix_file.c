// Rows of numbers in a file of comma-separated values: a matrix, or a table, whose first line names its columns.
#include "recording.h"

#include <math.h>
#include <string.h>
#include <strings.h>

typedef struct MatrixReader {
    SpecReader *reader;
    CsvLines lines;
    Key key;                  // of every number
    const char *const *names; // [columns] of a table; NULL: a matrix
    int64_t columns;
    TableBuild build; // of a table
    bool *wanted;     // [columns] of a table: the column is read
    bool comma;       // a number has a decimal comma: reported, and nothing more is read
} MatrixReader;

static const Key matrix_time_key = {.path = "time", .type = KEY_NUMBER, .unit = "s", .low = -1e20, .high = 1e20};

static const char *const *matrix_names(MatrixReader *matrix)
{
    const int n = matrix->lines.n_fields;
    const char **names = ARENA_NEW(matrix->reader->arena, const char *, n);
    bool named = true; // of a line of numbers the first says it
    for (int c = 0; c < n; c++) {
        const Node *field = &matrix->lines.fields[c];
        double number;
        names[c] = field->text;
        if (!named || (!text_to_number(field->text, &number) && field->text[0] != '\0')) continue;
        diagnose(matrix->reader->diagnostics, field, "the first line must name the columns; this is %s",
                 scalar_given(field, matrix->reader->arena));
        named = false;
    }
    return names;
}

// The column of a recording's times: their origin and unit are the recorder's, so they have another range.
static bool matrix_is_time(const MatrixReader *matrix, int64_t column)
{
    const TableBuild *build = &matrix->build;
    return build->recording && build->time >= 0 && build->from[build->time] == column;
}

// A gap of a recording. It is not left out in silence: its row counts in fewer columns than others.
static bool matrix_is_gap(const MatrixReader *matrix, const Node *field)
{
    static const char *const gaps[] = {"", "nan", "na", "n/a", "null", "none", "-"};
    bool gap = false;
    for (size_t i = 0; matrix->names != NULL && i < sizeof gaps / sizeof *gaps; i++)
        gap |= strcasecmp(field->text, gaps[i]) == 0;
    return gap;
}

static void matrix_read_gap(const MatrixReader *matrix, int64_t column, double *to)
{
    const TableReading *reading = matrix->build.reading;
    const bool time = matrix->build.time >= 0 && matrix->build.from[matrix->build.time] == column;
    *to = NAN;
    if (reading != NULL && reading->gaps && !time) return;
    diagnose(matrix->reader->diagnostics, &matrix->lines.fields[column],
             time
                 ? "%s has no value here: leave out the row"
                 : "%s has no value here: leave out the row, fill the gap from the rows around it, or say `{file: ..., "
                   "gaps: skip}` of a recording",
             text_visible(matrix->key.path, matrix->reader->arena));
}

// Whether a number has a decimal comma, as others of the file then have: that is one error.
static bool matrix_is_comma(MatrixReader *matrix, const Node *field)
{
    const char separator = matrix->lines.separator;
    if (!text_has_decimal_comma(field->text)) return false;
    const char *between = separator == ','    ? "quotes around fields"
                          : separator == '\t' ? "tabs between fields"
                                              : arena_format(matrix->reader->arena, "'%c' between fields", separator);
    diagnose(matrix->reader->diagnostics, field,
             "'%.60s' has a decimal comma, with %s; numbers need a decimal point: export the file with points%s",
             text_visible(field->text, matrix->reader->arena), between,
             separator == ',' ? "" : ", or write a copy of it by `tr , .`");
    matrix->comma = true;
    return true;
}

static void matrix_read_row(MatrixReader *matrix, double *to)
{
    const CsvLines *lines = &matrix->lines;
    if (lines->n_fields != matrix->columns) {
        diagnose(matrix->reader->diagnostics, &lines->fields[lines->n_fields - 1],
                 lines->n_fields > matrix->columns ? "the line has more fields than the first line, which has %lld"
                                                   : "the line has fewer fields than the first line, which has %lld",
                 (long long)matrix->columns);
        return;
    }
    for (int64_t c = 0; c < matrix->columns; c++) {
        if (matrix->names != NULL) matrix->key.path = matrix->names[c];
        if (matrix->wanted != NULL && !matrix->wanted[c]) continue;
        if (matrix_is_comma(matrix, &lines->fields[c])) return;
        if (matrix_is_gap(matrix, &lines->fields[c]))
            matrix_read_gap(matrix, c, &to[c]);
        else
            scalar_number(matrix->reader, matrix_is_time(matrix, c) ? &matrix_time_key : &matrix->key,
                          &lines->fields[c], &to[c]);
    }
}

static void matrix_too_many(const MatrixReader *matrix)
{
    diagnose(matrix->reader->diagnostics, &matrix->lines.fields[0],
             "the file has too many numbers: at most %d are allowed", MATRIX_MAX);
}

// Rows from the one on that was read into the fields; their number.
static int64_t matrix_read_rows(MatrixReader *matrix, double *numbers, int64_t most)
{
    int64_t rows = 0;
    for (bool row = true; row && !matrix->comma && !scalar_flooded(matrix->reader);
         row = csv_row(&matrix->lines, (int)matrix->columns + 1)) {
        if (rows == most) {
            matrix_too_many(matrix);
            break;
        }
        matrix_read_row(matrix, numbers + rows++ * matrix->columns);
    }
    return rows;
}

// Rows below the names of columns.
static void table_read_rows(MatrixReader *matrix, double *value)
{
    while (!matrix->build.dated && !matrix->comma && !scalar_flooded(matrix->reader) &&
           csv_row(&matrix->lines, (int)matrix->columns + 1)) {
        const int errors = diagnostics_errors(matrix->reader->diagnostics);
        matrix_read_row(matrix, value);
        if (diagnostics_errors(matrix->reader->diagnostics) > errors) continue;
        if (table_add(&matrix->build, value, matrix->lines.line)) continue;
        matrix_too_many(matrix);
        return;
    }
}

// Rows that fit; a valid row has at least two bytes for each number, and a wrong one is an error.
static int64_t matrix_most(const MatrixReader *matrix)
{
    enum { WRONG_MAX = 1024 };
    const int64_t in_text = (int64_t)strlen(matrix->lines.at) / (2 * matrix->columns) + WRONG_MAX;
    const int64_t allowed = MATRIX_MAX / matrix->columns;
    return in_text < allowed ? in_text : allowed;
}

static bool table_read(MatrixReader *matrix, const Source *source, const TableReading *reading, bool recording,
                       const Node *at, Points *out)
{
    SpecReader *reader = matrix->reader;
    const int errors = diagnostics_errors(reader->diagnostics);
    const Node *header = matrix->lines.fields;
    double *value = ARENA_NEW(reader->arena, double, matrix->columns);
    matrix->names = matrix_names(matrix);
    matrix->build = (TableBuild){.reader = reader,
                                 .reading = reading,
                                 .at = at,
                                 .file = source->name != NULL ? source->name : source->file,
                                 .row = "line",
                                 .recording = recording};
    const bool ok = table_begin(&matrix->build, matrix->names, header, matrix->columns,
                                (int64_t)strlen(matrix->lines.at) / (2 * matrix->columns) + 1);
    if (!ok || diagnostics_errors(reader->diagnostics) > errors) return false;
    matrix->wanted = ARENA_NEW(reader->arena, bool, matrix->columns);
    for (int64_t c = 0; c < matrix->build.columns; c++) matrix->wanted[matrix->build.from[c]] = true;
    table_read_rows(matrix, value);
    if (diagnostics_errors(reader->diagnostics) > errors) return false;
    if (matrix->build.rows == 0 && !(matrix->build.low <= matrix->build.high))
        diagnose(reader->diagnostics, &matrix->lines.fields[0], "there are no numbers below the names of the columns");
    return table_end(&matrix->build, out) && diagnostics_errors(reader->diagnostics) == errors;
}

// The first line behind the header of a .mot or .sto file of OpenSim, which ends with a line `endheader`; NULL: it is
// no such file.
static char *matrix_behind_header(char *text)
{
    static const char mark[] = "endheader";
    for (char *line = text; *line != '\0';) {
        char *end = line + strcspn(line, "\n");
        const size_t length = (size_t)(end - line) - (end > line && end[-1] == '\r');
        if (length == sizeof mark - 1 && strncmp(line, mark, length) == 0) return *end == '\n' ? end + 1 : end;
        line = *end == '\n' ? end + 1 : end;
        if (strchr("0123456789-+.", *line) != NULL) break; // of rows
    }
    return NULL;
}

// Skips that header. Its angles may be in degrees, which the spec must say of its columns. False: an error was
// reported.
static bool matrix_skip_header(MatrixReader *matrix, const TableReading *reading)
{
    CsvLines *lines = &matrix->lines;
    char *behind = matrix_behind_header(lines->at), *degrees = strstr(lines->at, "inDegrees=yes");
    bool said = false;
    int line_of_degrees = 1;
    if (behind == NULL) return true;
    for (int i = 0; reading != NULL && i < reading->n_columns; i++) said |= reading->columns[i].unit != NULL;
    for (const char *at = lines->at; at < behind; at++) {
        lines->line += *at == '\n';
        line_of_degrees += *at == '\n' && at < degrees;
    }
    lines->at = behind;
    lines->separator = ' ';
    if (degrees == NULL || degrees > behind || said) return true;
    diagnose_at(
        matrix->reader->diagnostics, lines->source, line_of_degrees, 1, 13,
        "angles of the file are in degrees: give their columns `unit: deg`, as in {file: ..., columns: {knee_q: "
        "{column: knee_angle, unit: deg}}}");
    return false;
}

bool matrix_read(SpecReader *reader, const Source *source, const Option *option, const TableReading *reading,
                 const Node *at, Points *out)
{
    const int errors = diagnostics_errors(reader->diagnostics);
    const bool recording = strcmp(option->choices, "recording") == 0;
    MatrixReader matrix = {
        .reader = reader,
        .lines = csv_lines(source, MATRIX_COLUMNS_MAX, reader->arena),
        .key = {
            .path = option->name, .type = KEY_NUMBER, .unit = option->unit, .low = option->low, .high = option->high}};
    if (recording) matrix.lines.separator = csv_separator(&matrix.lines);
    diagnostics_source(reader->diagnostics, source);
    if (recording && !matrix_skip_header(&matrix, reading)) return false;
    if (!csv_row(&matrix.lines, MATRIX_COLUMNS_MAX + 1)) {
        diagnose_at(reader->diagnostics, source, 1, 1, 1, "the file is empty, expected rows of numbers");
        return false;
    }
    matrix.columns = matrix.lines.n_fields;
    if (matrix.columns > MATRIX_COLUMNS_MAX)
        diagnose(reader->diagnostics, &matrix.lines.fields[0], "the line has too many fields: at most %d are allowed",
                 MATRIX_COLUMNS_MAX);
    if (matrix.columns == 1 && strpbrk(matrix.lines.fields[0].text, "; \t") != NULL)
        diagnose(reader->diagnostics, &matrix.lines.fields[0], "the line has one field; fields are separated by ','");
    if (diagnostics_errors(reader->diagnostics) > errors) return false;
    if (recording || strcmp(option->choices, "table") == 0)
        return table_read(&matrix, source, reading, recording, at, out);
    const int64_t most = matrix_most(&matrix);
    double *numbers = ARENA_NEW(reader->arena, double, most *matrix.columns + 1);
    const int64_t rows = matrix_read_rows(&matrix, numbers, most);
    *out = (Points){.count = rows * matrix.columns, .columns = matrix.columns, .numbers = numbers};
    return diagnostics_errors(reader->diagnostics) == errors;
}
