// Rows of numbers in a file of comma-separated values: a matrix, or a table, whose first line names its columns.
#include "keys.h"

#include <string.h>
#include <strings.h>

typedef struct MatrixReader {
    SpecReader *reader;
    CsvLines lines;
    Key key;                  // of every number
    const char *const *names; // [columns] of a table; NULL: a matrix
    int64_t columns;
} MatrixReader;

static const char *const *matrix_names(MatrixReader *matrix)
{
    const int n = matrix->lines.n_fields;
    const char **names = ARENA_NEW(matrix->reader->arena, const char *, n);
    for (int c = 0; c < n; c++) {
        const Node *field = &matrix->lines.fields[c];
        double number;
        names[c] = field->text;
        if (text_to_number(field->text, &number) || field->text[0] == '\0')
            diagnose(matrix->reader->diagnostics, field, "the first line must name the columns; this is %s",
                     scalar_given(field, matrix->reader->arena));
        for (int other = 0; other < c; other++) {
            if (strcmp(names[other], names[c]) == 0)
                diagnose(matrix->reader->diagnostics, field, "there are two columns '%s'",
                         text_visible(names[c], matrix->reader->arena));
        }
    }
    return names;
}

// A gap of a recording. It is not left out in silence: its row would count in fewer columns than others.
static bool matrix_is_gap(const MatrixReader *matrix, const Node *field)
{
    static const char *const gaps[] = {"", "nan", "na", "n/a", "null", "none", "-"};
    bool gap = false;
    for (size_t i = 0; matrix->names != NULL && i < sizeof gaps / sizeof *gaps; i++)
        gap |= strcasecmp(field->text, gaps[i]) == 0;
    return gap;
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
        if (matrix_is_gap(matrix, &lines->fields[c]))
            diagnose(matrix->reader->diagnostics, &lines->fields[c],
                     "%s has no value here: leave out the row, or fill the gap from the rows around it",
                     text_visible(matrix->key.path, matrix->reader->arena));
        else
            scalar_number(matrix->reader, &matrix->key, &lines->fields[c], &to[c]);
    }
}

// Rows below the first one that was read into the fields, or from it on; their number.
static int64_t matrix_read_rows(MatrixReader *matrix, double *numbers, int64_t most)
{
    int64_t rows = 0;
    bool row = matrix->names == NULL || csv_row(&matrix->lines, (int)matrix->columns + 1);
    for (; row && !scalar_flooded(matrix->reader); row = csv_row(&matrix->lines, (int)matrix->columns + 1)) {
        if (rows == most) {
            diagnose(matrix->reader->diagnostics, &matrix->lines.fields[0],
                     "the file has too many numbers: at most %d are allowed", MATRIX_MAX);
            break;
        }
        matrix_read_row(matrix, numbers + rows++ * matrix->columns);
    }
    return rows;
}

// Rows that fit; a valid row has at least two bytes for each number, and a wrong one is an error.
static int64_t matrix_most(const MatrixReader *matrix)
{
    enum { WRONG_MAX = 1024 };
    const int64_t in_text = (int64_t)strlen(matrix->lines.at) / (2 * matrix->columns) + WRONG_MAX;
    const int64_t allowed = MATRIX_MAX / matrix->columns;
    return in_text < allowed ? in_text : allowed;
}

bool matrix_read(SpecReader *reader, const Source *source, const Option *option, Points *out)
{
    const int errors = diagnostics_errors(reader->diagnostics);
    MatrixReader matrix = {
        .reader = reader,
        .lines = csv_lines(source, MATRIX_COLUMNS_MAX, reader->arena),
        .key = {
            .path = option->name, .type = KEY_NUMBER, .unit = option->unit, .low = option->low, .high = option->high}};
    diagnostics_source(reader->diagnostics, source);
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
    if (diagnostics_errors(reader->diagnostics) == errors && strcmp(option->choices, "table") == 0)
        matrix.names = matrix_names(&matrix);
    if (diagnostics_errors(reader->diagnostics) > errors) return false;
    const int64_t most = matrix_most(&matrix);
    double *numbers = ARENA_NEW(reader->arena, double, most *matrix.columns + 1);
    const int64_t rows = matrix_read_rows(&matrix, numbers, most);
    if (rows == 0)
        diagnose(reader->diagnostics, &matrix.lines.fields[0], "there are no numbers below the names of the columns");
    *out =
        (Points){.count = rows * matrix.columns, .columns = matrix.columns, .numbers = numbers, .names = matrix.names};
    return diagnostics_errors(reader->diagnostics) == errors;
}
