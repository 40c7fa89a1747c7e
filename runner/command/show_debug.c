// hopscotch show --debug ROW: prints a stored row of debug numbers as a table, and its symmetric matrices in full with
// their eigenvalues. If the model reads the rows of a step together, prints all of them in one table.
#include "command.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { SHOW_MATRIX_MAX = 16 };

// A symmetric matrix in the columns: its upper triangle, row by row, named P_a_a, P_a_b, ... P_b_b, ...
typedef struct ShowMatrix {
    const char *prefix; // "P"
    int first, n;       // column of P_a_a; number of rows, 0: no matrix
    const char *names[SHOW_MATRIX_MAX];
} ShowMatrix;

// Splits P_a_b. False: the name has another form.
static bool show_split(const char *name, Arena *arena, const char **prefix, const char **a, const char **b)
{
    char *rest = arena_copy(arena, name);
    *prefix = strsep(&rest, "_");
    *a = strsep(&rest, "_");
    *b = rest;
    return *a != NULL && *b != NULL && strchr(*b, '_') == NULL;
}

// The matrix that begins at column `first`.
static ShowMatrix show_matrix(const Recording *recording, int first, Arena *arena)
{
    ShowMatrix matrix = {.first = first};
    const char *prefix, *a, *b;
    if (!show_split(recording->columns[first].name, arena, &prefix, &a, &b) || strcmp(a, b) != 0) return matrix;
    const char *const row = a;
    matrix.prefix = prefix;
    for (int c = first; c < recording->n_columns && matrix.n < SHOW_MATRIX_MAX; c++) {
        if (!show_split(recording->columns[c].name, arena, &prefix, &a, &b)) break;
        if (strcmp(prefix, matrix.prefix) != 0 || strcmp(a, row) != 0) break;
        matrix.names[matrix.n++] = b;
    }
    const int last = first + matrix.n * (matrix.n + 1) / 2 - 1;
    const char *end =
        arena_format(arena, "%s_%s_%s", matrix.prefix, matrix.names[matrix.n - 1], matrix.names[matrix.n - 1]);
    if (last >= recording->n_columns || strcmp(recording->columns[last].name, end) != 0) matrix.n = 0;
    return matrix;
}

// ---- reading --------------------------------------------------------------------------------------------------------

static Error show_find_lane(const ShardReader *reader, int64_t trial, int32_t replicate, int64_t *lane)
{
    for (*lane = 0; *lane < shard_lane_count(reader); ++*lane) {
        const ShardLane found = shard_lane(reader, *lane);
        if (found.trial == trial && found.replicate == replicate) return error_none();
    }
    return error_make(ERROR_MACHINE,
                      "the shard has no debug rows of trial %" PRId64 ", although the database lists them", trial);
}

static Error show_read_rows(const Recording *recording, const char *file, int64_t trial, int32_t replicate,
                            Arena *arena, double **rows, int64_t *count)
{
    const ShardLayout layout = recording_layout(recording);
    ShardReader *reader = NULL;
    int64_t lane = 0;
    TRY(shard_open(file, &layout, NULL, &reader));
    Error error = show_find_lane(reader, trial, replicate, &lane);
    if (error.kind == OK) {
        *count = shard_lane(reader, lane).length;
        *rows = ARENA_NEW(arena, double, *count * recording->n_columns);
        error = shard_samples(reader, lane, *rows);
    }
    shard_close(reader);
    return error;
}

// ---- writing --------------------------------------------------------------------------------------------------------

static Error show_print_matrix(const ShowMatrix *matrix, const double *row, FILE *out, Arena *arena)
{
    const int n = matrix->n;
    const char *names[SHOW_MATRIX_MAX + 1] = {matrix->prefix};
    double *full = ARENA_NEW(arena, double, n *n), *values = ARENA_NEW(arena, double, n);
    double *vectors = ARENA_NEW(arena, double, n *n), *work = ARENA_NEW(arena, double, n *n + 3 * n);
    for (int i = 0, c = matrix->first; i < n; i++) {
        names[1 + i] = matrix->names[i];
        for (int j = i; j < n; j++, c++) full[i * n + j] = full[j * n + i] = row[c];
    }
    fputc('\n', out);
    Table *table = table_start(out, TABLE_TEXT, n + 1, names);
    for (int i = 0; i < n; i++) {
        table_text(table, matrix->names[i]);
        for (int j = 0; j < n; j++) table_number(table, full[i * n + j]);
    }
    TRY(table_finish(table));
    fprintf(out, "\neigenvalues of %s:", matrix->prefix);
    const bool some = symmetric_eigen(n, full, values, vectors, work);
    for (int i = 0; i < n && some; i++) fprintf(out, " %.6g", values[i]);
    fputs(some ? "\n" : " none\n", out);
    return error_none();
}

static Error show_print_row(const Recording *recording, const double *row, FILE *out, Arena *arena)
{
    static const char *const names[] = {"column", "value", "unit", "what it is"};
    ShowMatrix matrices[4];
    int n_matrices = 0;
    Table *table = table_start(out, TABLE_TEXT, 4, names);
    for (int c = 0; c < recording->n_columns; c++) {
        const ShowMatrix matrix = show_matrix(recording, c, arena);
        if (matrix.n > 1 && n_matrices < 4) {
            matrices[n_matrices++] = matrix;
            c += matrix.n * (matrix.n + 1) / 2 - 1;
            continue;
        }
        const char *word = recording_word(recording->words, recording->n_words, c, row[c]);
        table_text(table, recording->columns[c].name);
        if (word != NULL)
            table_text(table, word);
        else
            table_number(table, row[c]);
        table_text(table, recording->columns[c].unit);
        table_text(table, recording->columns[c].doc);
    }
    TRY(table_finish(table));
    for (int m = 0; m < n_matrices; m++) TRY(show_print_matrix(&matrices[m], row, out, arena));
    return error_none();
}

// Prints rows [first, end) of a step in the model's columns, and the value that they share.
static Error show_print_step(const StoredCampaign *campaign, const double *parameter, const double *rows, int64_t first,
                             int64_t end, FILE *out, Arena *arena)
{
    const Configured *configured = &campaign->spec.configured;
    const DebugTable *model = configured->model->debug_table;
    const Field *shared = &configured->debug[model->shared];
    Table *table = table_start(out, TABLE_TEXT, model->n_columns, model->columns);
    for (int64_t r = first; r < end; r++) {
        for (int c = 0; c < model->n_columns; c++) {
            const DebugCell cell = model->cell(configured, parameter, rows + r * configured->n_debug, c);
            if (cell.text != NULL)
                table_text(table, text_visible(cell.text, arena));
            else
                table_number(table, cell.number);
        }
    }
    TRY(table_finish(table));
    fprintf(out, "\n%s %s %s, %s\n", shared->name, text_number(rows[first * configured->n_debug + model->shared]).text,
            shared->unit, shared->doc);
    return error_none();
}

static Error show_step(const StoredCampaign *campaign, const double *parameter, const double *rows, int64_t count,
                       int64_t row, FILE *out, Arena *arena)
{
    const int n = campaign->spec.configured.n_debug;
    const double time = rows[row * n];
    int64_t first = row, end = row + 1;
    while (first > 0 && rows[(first - 1) * n] == time) first--;
    while (end < count && rows[end * n] == time) end++;
    if (end > first + 1)
        fprintf(out, "rows %" PRId64 " to %" PRId64 " of %" PRId64, first, end - 1, count);
    else
        fprintf(out, "row %" PRId64 " of %" PRId64, first, count);
    fprintf(out, ", the step at %s s\n\n", text_number(time).text);
    return show_print_step(campaign, parameter, rows, first, end, out, arena);
}

Error show_debug_row(const StoredCampaign *campaign, int64_t trial, const double *parameter, const char *file,
                     int64_t replicate, int64_t row, FILE *out, Arena *arena)
{
    const Recording recording = recording_of(&campaign->spec, RECORD_DEBUG);
    double *rows = NULL;
    int64_t count = 0;
    TRY(show_read_rows(&recording, file, trial, (int32_t)replicate, arena, &rows, &count));
    if (row >= count)
        return error_make(ERROR_USER,
                          "trial %" PRId64 " has %" PRId64 " debug rows, numbered from 0: there is no row "
                          "%" PRId64,
                          trial, count, row);
    fprintf(out, "%s/%" PRId64 ", replicate %" PRId64 ": ", campaign->name, trial, replicate);
    if (campaign->spec.configured.model->debug_table != NULL)
        return show_step(campaign, parameter, rows, count, row, out, arena);
    fprintf(out, "row %" PRId64 " of %" PRId64 "\n\n", row, count);
    return show_print_row(&recording, rows + row * recording.n_columns, out, arena);
}
