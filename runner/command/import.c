// hopscotch import: simulates the points of a table under a spec, as a campaign. Columns with the name of a parameter
// give the points; other columns (e.g. in a table that `export` wrote) are ignored.
#include "command.h"

#include <stdlib.h>
#include <string.h>

enum { IMPORT_BYTES_MAX = 8 << 20, IMPORT_COLUMNS_MAX = 2000 };

typedef struct Import {
    const CommandLine *line;
    Spec spec; // as given; the points replace its search
    const char *name;
    int parameter[IMPORT_COLUMNS_MAX]; // [n_columns]; -1: the column is not a parameter
    int n_columns, n_used;
    int64_t rows;
} Import;

// Returns the next field of a line, terminated in place; *rest: the text after it, NULL after the last field. RFC 4180
// without line breaks in fields.
static char *import_field(char **rest)
{
    char *at = *rest + strspn(*rest, " \t"), *out = at, *field = at;
    bool quoted = *at == '"';
    if (quoted) at++;
    for (; *at != '\0' && (quoted || *at != ','); at++) {
        if (quoted && *at == '"' && at[1] != '"') {
            quoted = false;
            if (at[1 + strspn(at + 1, " \t\r")] != '\0' && at[1 + strspn(at + 1, " \t\r")] != ',') *out++ = '"';
            continue;
        }
        at += quoted && *at == '"';
        *out++ = *at;
    }
    *rest = *at == ',' ? at + 1 : NULL;
    while (out > field && strchr(" \t\r", out[-1]) != NULL) out--;
    *out = '\0';
    return field;
}

static Error import_header(Import *import, char *line)
{
    const Configured *configured = &import->spec.configured;
    const char *left = "";
    for (char *rest = line; rest != NULL; import->n_columns++) {
        const char *name = import_field(&rest);
        if (import->n_columns == IMPORT_COLUMNS_MAX)
            return error_make(ERROR_USER,
                              "the table has more than %d columns; leave out columns that are not parameters",
                              IMPORT_COLUMNS_MAX);
        int found = -1;
        for (int p = 0; p < configured_named(configured); p++) {
            if (strcmp(configured->parameters[p].name, name) == 0) found = p;
        }
        import->parameter[import->n_columns] = found;
        import->n_used += found >= 0;
        if (found < 0 && strlen(left) < 200)
            left = arena_format(import->line->arena, "%s%s%s", left, left[0] != '\0' ? ", " : "", name);
    }
    if (import->n_used == 0)
        return error_make(ERROR_USER, "no column of the table is a parameter of %s: its first line has %.200s",
                          import->spec.model->name, left);
    if (left[0] != '\0')
        fprintf(import->line->messages, "columns that are not parameters of %s are ignored: %s\n",
                import->spec.model->name, text_visible(left, import->line->arena));
    return error_none();
}

// Writes the cells of the used columns with commas between them: a line of the form `points`.
static Error import_row(Import *import, char *line, const char *path, int64_t number, FILE *out)
{
    int column = 0, used = 0;
    for (char *rest = line; rest != NULL; column++) {
        const char *cell = import_field(&rest);
        if (column >= import->n_columns || import->parameter[column] < 0) continue;
        if (cell[0] == '\0' || strspn(cell, "0123456789+-.eExXinfINFaA_") != strlen(cell))
            return error_make(ERROR_USER, "%.200s, line %lld: '%.40s' is not a number for %s", path, (long long)number,
                              cell, import->spec.configured.parameters[import->parameter[column]].name);
        fprintf(out, "%s%s", used++ > 0 ? "," : "", cell);
    }
    fputc('\n', out);
    import->rows++;
    if (column == import->n_columns) return error_none();
    return error_make(ERROR_USER, "%.200s, line %lld has %d columns, and the first line has %d", path,
                      (long long)number, column, import->n_columns);
}

static void import_put_names(const Import *import, FILE *out)
{
    int used = 0;
    for (int c = 0; c < import->n_columns; c++) {
        if (import->parameter[c] >= 0)
            fprintf(out, "%s%s", used++ > 0 ? "," : "", import->spec.configured.parameters[import->parameter[c]].name);
    }
    fputc('\n', out);
}

// Writes the used columns of the table in the form `points`.
static Error import_put(Import *import, const char *path, char *table, FILE *out)
{
    int64_t number = 0;
    bool header = true;
    for (char *line; (line = strsep(&table, "\n")) != NULL;) {
        number++;
        line[strcspn(line, "\r")] = '\0';
        if (line[strspn(line, " \t")] == '\0' || line[0] == '#') continue;
        if (!header) {
            TRY(import_row(import, line, path, number, out));
            continue;
        }
        TRY(import_header(import, line));
        import_put_names(import, out);
        header = false;
    }
    return import->rows > 0 ? error_none() : error_make(ERROR_USER, "%.300s has no line with numbers", path);
}

// The spec's text for people: it has the points as the table has them.
static Error import_describe(const Import *import, const char *points, Spec *spec)
{
    static const char *const keys[] = {"version",    "seed",       "model",         "simulation",  "initial",
                                       "parameters", "replicates", "objective",     "constraints", "record",
                                       "limits",     "device",     "search.method", "search.over"};
    Arena *arena = import->line->arena;
    TextStream text;
    TRY(text_stream_open(arena_format(arena, "the spec of %s", import->name), &text));
    fprintf(text.out, "# hopscotch import: points from a table.\nexperiment: \"%s\"\n", import->name);
    spec_write(spec, &import->spec, keys, (int)(sizeof keys / sizeof *keys), arena, text.out);
    fputs("  points: |\n", text.out);
    for (int length; *points != '\0'; points += length + 1) {
        length = (int)strcspn(points, "\n");
        fprintf(text.out, "    %.*s\n", length, points);
    }
    const Error error = text_stream_close(&text);
    if (error.kind == OK) spec->text = arena_copy(arena, text.text);
    free(text.text);
    return error;
}

static Error import_spec(const Import *import, const char *points, Diagnostics *diagnostics, Spec *spec)
{
    Arena *arena = import->line->arena;
    const char *file = arena_format(arena, "%s/%s (made by import)", folder_of(import->spec.file, arena), import->name);
    TRY(spec_derive_points(&import->spec, file, import->name, points, arena, diagnostics, spec));
    TRY(import_describe(import, points, spec));
    return spec_complete(spec, arena, diagnostics);
}

static Error import_campaign(Import *import, const char *points)
{
    const CommandLine *line = import->line;
    Spec spec;
    RunSummary summary;
    Diagnostics *diagnostics = diagnostics_new(line->arena);
    const Error derived = import_spec(import, points, diagnostics, &spec);
    diagnostics_print(diagnostics, line->messages, terminal_colour(line->messages));
    TRY(derived);
    RunOptions options = command_run_options(line, &spec);
    options.name = import->name;
    options.out = line->out;
    interrupt_install();
    TRY(campaign_run(&spec, &options, line->arena, &summary));
    fprintf(line->out, "%s: %s point%s evaluated, %s failed; %s best %s%s\n", import->name,
            text_count(summary.trials_done).text, summary.trials_done == 1 ? "" : "s",
            text_count(summary.failures).text, command_program(line->arena), import->name,
            command_results_option(line->results, line->arena));
    return error_none();
}

static Error import_run(const CommandLine *line)
{
    const char *path = line->arguments[0], *folder;
    Import *import = ARENA_NEW(line->arena, Import, 1);
    Bytes table;
    TextStream points;
    *import = (Import){.line = line};
    TRY(command_spec(line, line->arguments[1], &import->spec));
    import->name = switch_text(line, "name", arena_format(line->arena, "%s_import", import->spec.experiment));
    TRY(campaign_folder(line->results, import->name, line->arena, &folder));
    if (!file_exists(path)) return error_make(ERROR_USER, "there is no file %.300s", path);
    TRY(file_read(path, IMPORT_BYTES_MAX, line->arena, &table));
    TRY(text_stream_open(arena_format(line->arena, "the points of %s", path), &points));
    Error error = import_put(import, path, (char *)table.data, points.out);
    const Error closed = text_stream_close(&points);
    if (error.kind == OK) error = closed;
    if (error.kind == OK) error = import_campaign(import, points.text);
    free(points.text);
    return error;
}

static const Switch import_rows[] = {
    {"name", SWITCH_TEXT, "NAME", 0, 0, "name of the campaign (default: EXPERIMENT_import)"},
};
static const Switches import_switches = {import_rows, sizeof import_rows / sizeof *import_rows};

const Command command_import = {
    .name = "import",
    .arguments = "TABLE SPEC",
    .doc = "simulate under a spec the points of a CSV table whose header names parameters",
    .examples = "  hopscotch import measured.csv experiments/raibert_gains.yaml --name measured\n"
                "  hopscotch import best.csv fine.yaml --set replicates.count=64\n",
    .least = 2,
    .most = 2,
    .switches = {&import_switches, &switches_campaign, &switches_spec, &switches_backend},
    .run = import_run,
};
