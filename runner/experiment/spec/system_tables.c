// The files of a system's tables and inputs, and of a law's policies: comma-separated values, whose first line names
// the columns. Their numbers take the place of the file in the mapping, as lists whose items know their places in the
// file. So what a file holds is frozen with the campaign, as equations are that a file has.
#include "../equations/equations.h"
#include "keys.h"
#include "recording.h"

#include <math.h>
#include <string.h>

enum { TABLES_COLUMNS_MAX = 4096 };
#define TABLES_BYTES_MAX ((int64_t)32 << 20) // of all files of a system

// A file that was read, by its name; source NULL: it can't be read.
typedef struct TablesSource {
    const char *name;
    const Source *source;
} TablesSource;

typedef struct TablesReader {
    SpecReader *reader;
    TablesSource *sources; // [n_sources]
    int n_sources;
    int64_t bytes, numbers; // of files; numbers of rows that were read
} TablesReader;

// A file while it is read.
typedef struct TablesFile {
    TablesReader *tables;
    const Source *source;
    CsvLines lines;
    const Node **items; // [rows][columns]
    int64_t rows, columns;
} TablesFile;

static Diagnostics *tables_diagnostics(const TablesReader *tables) { return tables->reader->diagnostics; }

// ---- a file ---------------------------------------------------------------------------------------------------------

// A file is read once. NULL after an error.
static const Source *tables_source(TablesReader *tables, const Node *file)
{
    SpecReader *reader = tables->reader;
    const char *name = source_beside(file, reader->arena);
    for (int i = 0; i < tables->n_sources; i++)
        if (strcmp(tables->sources[i].name, name) == 0) return tables->sources[i].source;
    const int64_t left = TABLES_BYTES_MAX - tables->bytes;
    Source *source = ARENA_NEW(reader->arena, Source, 1);
    const bool ok = spec_read_file(reader->folder, file, left < POINTS_BYTES_MAX ? left : POINTS_BYTES_MAX,
                                   reader->arena, reader->diagnostics, source);
    if (ok) tables->bytes += (int64_t)strlen(source->text);
    if (ok) diagnostics_source(reader->diagnostics, source);
    tables->sources[tables->n_sources++] = (TablesSource){name, ok ? source : NULL};
    return ok ? source : NULL;
}

// The line of names; false after an error.
static bool tables_header(TablesFile *file)
{
    Diagnostics *diagnostics = tables_diagnostics(file->tables);
    double number;
    if (!csv_row(&file->lines, TABLES_COLUMNS_MAX + 1)) {
        diagnose_at(diagnostics, file->source, 1, 1, 1,
                    "the file is empty, expected a line of names and rows of numbers");
        return false;
    }
    const Node *first = &file->lines.fields[0];
    if (file->lines.n_fields > TABLES_COLUMNS_MAX)
        diagnose(diagnostics, first, "the line has too many fields: at most %d are allowed", TABLES_COLUMNS_MAX);
    else if (file->lines.n_fields == 1)
        diagnose(diagnostics, first,
                 strpbrk(first->text, "; \t") != NULL
                     ? "the line has one field; fields are separated by ',', ';' or tabs"
                     : "the file has one column, and two are needed");
    else if (text_to_number(first->text, &number))
        diagnose(diagnostics, first, "the first line must name the columns; this is %s",
                 scalar_given(first, file->tables->reader->arena));
    else
        return true;
    return false;
}

// The column of a name; -1 after an error.
static int tables_column(const TablesFile *file, const Node *wanted)
{
    Arena *arena = file->tables->reader->arena;
    const int n = file->lines.n_fields;
    const char **names = ARENA_NEW(arena, const char *, n), *all = "";
    int found = -1;
    for (int c = 0; c < n; c++) {
        const Node *field = &file->lines.fields[c];
        names[c] = text_visible(field->text, arena);
        if (c < 8) all = arena_format(arena, "%s%s%.40s", all, c > 0 ? ", " : "", names[c]);
        if (strcmp(field->text, wanted->text) != 0) continue;
        if (found >= 0) diagnose(tables_diagnostics(file->tables), field, "there are two columns '%.60s'", names[c]);
        found = c;
    }
    if (found >= 0) return found;
    const char *near = nearest_name(wanted->text, names, n);
    diagnose(tables_diagnostics(file->tables), wanted, "%s has no column '%.60s'%s",
             text_visible(file->source->file, arena), text_visible(wanted->text, arena),
             near != NULL ? did_you_mean(near, arena)
                          : arena_format(arena, "; its columns are %s%s", all, n > 8 ? ", ..." : ""));
    return -1;
}

// Whether a row has as many fields as the header.
static bool tables_check_fields(const TablesFile *file, int expected)
{
    const CsvLines *lines = &file->lines;
    if (lines->n_fields == expected) return true;
    diagnose(tables_diagnostics(file->tables), &lines->fields[lines->n_fields - 1],
             lines->n_fields > expected ? "the line has more fields than the first line, which has %d"
                                        : "the line has fewer fields than the first line, which has %d",
             expected);
    return false;
}

// Counts numbers of the system; false, which is reported: there are too many.
static bool tables_count(TablesFile *file, int64_t count)
{
    TablesReader *tables = file->tables;
    tables->numbers += count;
    if (tables->numbers <= SYSTEM_NUMBERS_MAX) return true;
    diagnose(tables_diagnostics(tables), &file->lines.fields[0], EQUATIONS_TOO_MANY_NUMBERS, SYSTEM_NUMBERS_MAX);
    return false;
}

static const Node **tables_fields(Arena *arena, const Node *fields, const int *columns, int count)
{
    Node *copies = ARENA_NEW(arena, Node, count);
    const Node **items = ARENA_NEW(arena, const Node *, count);
    for (int c = 0; c < count; c++) {
        copies[c] = fields[columns != NULL ? columns[c] : c];
        items[c] = &copies[c];
    }
    return items;
}

// The fields of columns[count] (NULL: all) in the rows below the header. False after an error.
static bool tables_rows(TablesFile *file, const int *columns, int count, int expected)
{
    SpecReader *reader = file->tables->reader;
    const int errors = diagnostics_errors(reader->diagnostics);
    int64_t lines = 1;
    for (const char *at = file->lines.at; *at != '\0'; at++) lines += *at == '\n';
    const int64_t allowed = SYSTEM_NUMBERS_MAX / count + 1, most = lines < allowed ? lines : allowed;
    const Node **to = file->items = ARENA_NEW(reader->arena, const Node *, most *count);
    file->columns = count;
    while (!scalar_flooded(reader) && csv_row(&file->lines, expected + 1)) {
        if (!tables_count(file, count)) return false;
        if (!tables_check_fields(file, expected)) continue;
        memcpy(to, tables_fields(reader->arena, file->lines.fields, columns, count), (size_t)count * sizeof *to);
        to += count;
        file->rows++;
    }
    return diagnostics_errors(reader->diagnostics) == errors;
}

// ---- lists ----------------------------------------------------------------------------------------------------------

static const Node *tables_list(const TablesFile *file, const Node *const *items, int64_t count)
{
    Node *list = ARENA_NEW(file->tables->reader->arena, Node, 1);
    *list = (Node){.kind = NODE_SEQUENCE,
                   .source = file->source,
                   .line = 1,
                   .column = 1,
                   .width = 1,
                   .count = (int)count,
                   .items = (const Node **)items};
    return list;
}

static const Node *tables_of_column(const TablesFile *file, int64_t column)
{
    const Node **items = ARENA_NEW(file->tables->reader->arena, const Node *, file->rows);
    for (int64_t i = 0; i < file->rows; i++) items[i] = file->items[i * file->columns + column];
    return tables_list(file, items, file->rows);
}

// `at` and `values` of a table.
typedef struct TablesLists {
    const Node *at, *values;
} TablesLists;

// From two columns: those that `wanted` names, NULL: the file has no others.
static bool tables_of_one(TablesFile *file, const Node *name, const Node *const *wanted, TablesLists *out)
{
    int columns[2] = {0, 1};
    const int n = file->lines.n_fields;
    if (wanted == NULL && n != 2) {
        diagnose(tables_diagnostics(file->tables), name,
                 "%s has %d columns: name those of the argument and the value, columns: [a, b]; a table of two "
                 "arguments has the units of both, of: [1, 1]",
                 text_visible(file->source->file, file->tables->reader->arena), n);
        return false;
    }
    for (int c = 0; c < 2 && wanted != NULL; c++) columns[c] = tables_column(file, wanted[c]);
    if (columns[0] < 0 || columns[1] < 0 || !tables_rows(file, columns, 2, n)) return false;
    *out = (TablesLists){tables_of_column(file, 0), tables_of_column(file, 1)};
    return true;
}

// A grid: the first line has the second arguments, and each row its first argument before its values.
static bool tables_of_two(TablesFile *file, TablesLists *out)
{
    Arena *arena = file->tables->reader->arena;
    const int n = file->lines.n_fields;
    const Node **across = tables_fields(arena, file->lines.fields, NULL, n);
    if (!tables_count(file, n) || !tables_rows(file, NULL, n, n)) return false;
    const Node **both = ARENA_NEW(arena, const Node *, 2), **rows = ARENA_NEW(arena, const Node *, file->rows);
    both[0] = tables_of_column(file, 0);
    both[1] = tables_list(file, across + 1, n - 1);
    for (int64_t i = 0; i < file->rows; i++) rows[i] = tables_list(file, file->items + i * n + 1, n - 1);
    *out = (TablesLists){tables_list(file, both, 2), tables_list(file, rows, file->rows)};
    return true;
}

// Rows of four columns, of the weights of a policy.
static const Node *tables_of_policy(TablesFile *file, const Node *name)
{
    static const char *const names[] = {"layer", "output", "input", "weight"};
    enum { FIELDS = sizeof names / sizeof *names };
    Arena *arena = file->tables->reader->arena;
    int columns[FIELDS];
    for (int c = 0; c < FIELDS; c++) {
        Node wanted = *name;
        wanted.text = names[c];
        columns[c] = tables_column(file, &wanted);
        if (columns[c] < 0) return NULL;
    }
    if (!tables_rows(file, columns, FIELDS, file->lines.n_fields)) return NULL;
    const Node **rows = ARENA_NEW(arena, const Node *, file->rows);
    for (int64_t i = 0; i < file->rows; i++) rows[i] = tables_list(file, file->items + i * FIELDS, FIELDS);
    return tables_list(file, rows, file->rows);
}

// ---- mappings -------------------------------------------------------------------------------------------------------

// What a section's files hold.
typedef enum TablesKind { TABLES_OF_TABLES, TABLES_OF_INPUTS, TABLES_OF_POLICIES, TABLES_KINDS } TablesKind;
static const char *const tables_sections[TABLES_KINDS] = {"tables", "inputs", "policies"};

// The file that `file` names, at its rows; false after an error.
static bool tables_open(TablesReader *tables, const Node *name, TablesFile *file)
{
    if (name->kind != NODE_SCALAR || scalar_is_empty(name)) {
        diagnose(tables_diagnostics(tables), name, "file must be the name of a file of comma-separated values");
        return false;
    }
    const Source *source = tables_source(tables, name);
    if (source == NULL) return false;
    *file = (TablesFile){
        .tables = tables, .source = source, .lines = csv_lines(source, TABLES_COLUMNS_MAX, tables->reader->arena)};
    file->lines.separator = csv_separator(&file->lines);
    return tables_header(file);
}

// The two names of `columns`; NULL after an error.
static const Node *const *tables_wanted(TablesReader *tables, const Node *columns)
{
    const bool pair = columns->kind == NODE_SEQUENCE && columns->count == 2 && columns->items[0]->kind == NODE_SCALAR &&
                      columns->items[1]->kind == NODE_SCALAR;
    if (!pair)
        diagnose(tables_diagnostics(tables), columns, "columns must be two names, of the argument and of the value");
    return pair ? columns->items : NULL;
}

// ---- times of inputs ------------------------------------------------------------------------------------------------

// `time` and `offset` of an input, as of a recording.
static const TableReading *tables_reading(TablesReader *tables, const Node *node)
{
    static const char *const names[] = {"time", "offset"};
    const Key key = {.path = "an input"};
    const Node *keys[2], *items[2];
    Node given = *node;
    given.count = 0;
    given.keys = keys;
    given.items = items;
    for (int i = 0; i < node->count; i++) {
        for (int k = 0; k < 2; k++) {
            if (strcmp(node->keys[i]->text, names[k]) != 0 || given.count == 2) continue;
            keys[given.count] = node->keys[i];
            items[given.count++] = node->items[i];
        }
    }
    return recording_read(tables->reader, &key, &given);
}

// Divides by 1,000 rather than multiply by 0.001, so that 1,400 ms are 1.4 s to the bit.
static double tables_time(const TableReading *reading, double stamp, double first)
{
    if (reading == NULL) return stamp;
    const double factor = reading->time.factor, whole = nearbyint(1 / factor);
    const double shift = isnan(reading->offset) ? first : 0, offset = isnan(reading->offset) ? 0 : reading->offset;
    const bool divides = whole > 1 && fabs(whole * factor - 1) < 1e-12;
    return (divides ? (stamp - shift) / whole : (stamp - shift) * factor) + offset;
}

// *at <- times in seconds of the run. False, which is reported: no run has them.
static bool tables_set_times(const TablesFile *file, const Node *name, const TableReading *reading, const Node **at)
{
    Arena *arena = file->tables->reader->arena;
    const int count = (*at)->count;
    Node *times = ARENA_NEW(arena, Node, count);
    const Node **items = ARENA_NEW(arena, const Node *, count);
    double first = 0;
    for (int i = 0; i < count; i++) {
        double stamp;
        times[i] = *(*at)->items[i];
        items[i] = &times[i];
        if (!text_to_number(times[i].text, &stamp)) return true; // it is reported when the lists are read
        if (i == 0) first = stamp;
        const double time = tables_time(reading, stamp, first);
        if (!(fabs(time) < RECORDING_DATED) && (reading == NULL || reading->offset == 0.0)) {
            diagnose(tables_diagnostics(file->tables), name, "%s",
                     recording_dated(file->source->name != NULL ? file->source->name : file->source->file,
                                     reading != NULL ? reading->time.from : "time", stamp, arena));
            return false;
        }
        times[i].text = arena_copy(arena, text_number(time).text);
    }
    if (reading != NULL) *at = tables_list(file, items, count);
    return true;
}

// The lists of the file that a table or an input names; false after an error.
static bool tables_of_file(TablesReader *tables, const Node *key, const Node *node, bool input, TablesLists *out)
{
    const Node *name = node_find(node, "file"), *columns = node_find(node, "columns"),
               *column = node_find(node, "column"), *of = node_find(node, "of");
    const bool grid = !input && of != NULL && of->kind == NODE_SEQUENCE;
    Diagnostics *diagnostics = tables_diagnostics(tables);
    const Node *const *wanted = NULL;
    TablesFile file;
    if (grid && columns != NULL) {
        diagnose(diagnostics, columns, "columns belongs to tables of one argument: of two, the file is a grid");
        return false;
    }
    const int errors = diagnostics_errors(diagnostics);
    const TableReading *reading = input ? tables_reading(tables, node) : NULL;
    if (diagnostics_errors(diagnostics) > errors) return false;
    Node time = reading != NULL && reading->time.at != NULL ? *reading->time.at : *name;
    time.text = reading != NULL ? reading->time.from : "time";
    const Node *const of_input[2] = {&time, column != NULL ? column : key};
    if (input && column != NULL && column->kind != NODE_SCALAR) {
        diagnose(diagnostics, column, "column must be the name of a column of the file");
        return false;
    }
    if (input) wanted = of_input;
    if (!input && columns != NULL && (wanted = tables_wanted(tables, columns)) == NULL) return false;
    if (!tables_open(tables, name, &file)) return false;
    if (grid) return tables_of_two(&file, out);
    return tables_of_one(&file, name, wanted, out) && (!input || tables_set_times(&file, name, reading, &out->at));
}

// What takes the place of a mapping's file.
typedef struct TablesPlaced {
    const char *keys[2];
    const Node *items[2];
    int count;
} TablesPlaced;

static bool tables_place(TablesReader *tables, const Node *key, const Node *node, TablesKind kind, TablesPlaced *out)
{
    TablesLists lists;
    TablesFile file;
    if (kind != TABLES_OF_POLICIES) {
        const bool both = node_find(node, "at") != NULL || node_find(node, "values") != NULL;
        if (both || !tables_of_file(tables, key, node, kind == TABLES_OF_INPUTS, &lists)) return false;
        *out = (TablesPlaced){{"at", "values"}, {lists.at, lists.values}, 2};
        return true;
    }
    if (node_find(node, "weights") != NULL) {
        diagnose(tables_diagnostics(tables), node_find(node, "file"),
                 "the weights are in `weights` already: give one of the two");
        return false;
    }
    const Node *name = node_find(node, "file");
    const Node *weights = tables_open(tables, name, &file) ? tables_of_policy(&file, name) : NULL;
    *out = (TablesPlaced){{"weights", NULL}, {weights, NULL}, 1};
    return weights != NULL;
}

// A mapping with its lists in place of its file. After an error it keeps its file.
static const Node *tables_replace(TablesReader *tables, const Node *key, const Node *node, TablesKind kind)
{
    static const char *const gone[] = {"file", "columns", "column", "time", "offset"};
    Arena *arena = tables->reader->arena;
    TablesPlaced placed;
    if (node_find(node, "file") == NULL || !tables_place(tables, key, node, kind, &placed)) return node;
    Node *replaced = ARENA_NEW(arena, Node, 1), *words = ARENA_NEW(arena, Node, placed.count);
    const Node **keys = ARENA_NEW(arena, const Node *, node->count + placed.count),
               **items = ARENA_NEW(arena, const Node *, node->count + placed.count);
    int n = 0;
    for (int i = 0; i < node->count; i++) {
        bool stays = true;
        for (size_t k = 0; k < sizeof gone / sizeof *gone; k++) stays &= strcmp(node->keys[i]->text, gone[k]) != 0;
        if (!stays) continue;
        keys[n] = node->keys[i];
        items[n++] = node->items[i];
    }
    for (int k = 0; k < placed.count; k++) {
        words[k] = *node_find(node, "file");
        words[k].text = placed.keys[k];
        keys[n] = &words[k];
        items[n++] = placed.items[k];
    }
    *replaced = *node;
    replaced->count = n;
    replaced->keys = keys;
    replaced->items = items;
    return replaced;
}

static const Node *tables_section(TablesReader *tables, const Node *section, TablesKind kind)
{
    Node *replaced = ARENA_NEW(tables->reader->arena, Node, 1);
    const Node **items = ARENA_NEW(tables->reader->arena, const Node *, section->count);
    *replaced = *section;
    replaced->items = items;
    for (int i = 0; i < section->count; i++) {
        items[i] = section->items[i];
        if (i < SYSTEM_TABLES_MAX && items[i]->kind == NODE_MAPPING)
            items[i] = tables_replace(tables, section->keys[i], items[i], kind);
    }
    return replaced;
}

const Node *system_tables(SpecReader *reader, const Node *system, bool law)
{
    if (system->kind != NODE_MAPPING) return system;
    TablesReader tables = {.reader = reader,
                           .sources = ARENA_NEW(reader->arena, TablesSource, TABLES_KINDS * SYSTEM_TABLES_MAX)};
    Node *replaced = ARENA_NEW(reader->arena, Node, 1);
    const Node **items = ARENA_NEW(reader->arena, const Node *, system->count);
    *replaced = *system;
    replaced->items = items;
    for (int i = 0; i < system->count; i++) {
        items[i] = system->items[i];
        for (int k = 0; k < TABLES_KINDS && items[i]->kind == NODE_MAPPING; k++)
            if (k != (law ? TABLES_OF_INPUTS : TABLES_OF_POLICIES) &&
                strcmp(system->keys[i]->text, tables_sections[k]) == 0) {
                items[i] = tables_section(&tables, items[i], (TablesKind)k);
                break;
            }
    }
    return replaced;
}
