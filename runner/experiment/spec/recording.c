// How tables of numbers are read: names and units of columns, the rows that count, gaps (recording.h).
#include "recording.h"

#include "../expression/units.h"

#include <math.h>
#include <string.h>

// ---- reading the keys -----------------------------------------------------------------------------------------------

const char recording_keys[] = "file, sha256, time, offset, from, to, every, gaps or columns";

// A text of the spec that names something in a file; NULL after an error.
static const char *recording_word(SpecReader *reader, const char *what, const Node *node)
{
    if (node->kind == NODE_SCALAR && !scalar_is_empty(node) && node->text[0] != '\0') {
        bool printable = true;
        for (const char *c = node->text; *c != '\0'; c++) printable &= (unsigned char)*c >= ' ' && *c != 127;
        if (printable) return node->text;
    }
    diagnose(reader->diagnostics, node, "%s is %s, expected the name of a column", what,
             scalar_given(node, reader->arena));
    return NULL;
}

static void recording_number(SpecReader *reader, const char *name, const char *unit, double low, double high,
                             const Node *node, double *value)
{
    const Key key = {.path = name, .type = KEY_NUMBER, .unit = unit, .low = low, .high = high};
    scalar_number(reader, &key, node, value);
}

static void recording_unit(SpecReader *reader, const Node *node, TableColumn *column)
{
    const char *why = NULL;
    Unit unit;
    if (node->kind != NODE_SCALAR || scalar_is_empty(node)) {
        diagnose(reader->diagnostics, node, "unit is %s, expected a unit such as deg",
                 scalar_given(node, reader->arena));
    } else if (!unit_read(node->text, reader->arena, &unit, &why)) {
        diagnose(reader->diagnostics, node, "unit '%s' can't be read: %s", node->text, why);
    } else {
        column->unit = node->text;
        column->factor = unit.scale;
    }
}

// The keys of a column's mapping; `time` has the first two only.
static void recording_column_key(SpecReader *reader, const Node *key, const Node *value, bool time, TableColumn *column)
{
    static const char *const names[] = {"column", "unit", "scale", "offset", "noise"};
    enum { COLUMN, UNIT, SCALE, OFFSET, NOISE, ALL, OF_TIME = SCALE };
    const int n = time ? OF_TIME : ALL;
    int which = 0;
    while (which < n && strcmp(names[which], key->text) != 0) which++;
    if (which == COLUMN) {
        const char *from = recording_word(reader, "column", value);
        if (from != NULL) column->from = from;
    } else if (which == UNIT && which < n) {
        recording_unit(reader, value, column);
    } else if (which == SCALE && which < n) {
        recording_number(reader, "scale", "1", -1e9, 1e9, value, &column->scale);
        if (column->scale == 0.0) diagnose(reader->diagnostics, value, "scale is 0: the column would be lost");
    } else if (which == OFFSET && which < n) {
        recording_number(reader, "offset", "1", -1e9, 1e9, value, &column->offset);
    } else if (which == NOISE && which < n) {
        recording_number(reader, "noise", "1", 1e-12, 1e9, value, &column->noise);
    } else {
        diagnose(reader->diagnostics, key, "unknown key '%s' of a column, expected %s%s", key->text,
                 time ? "column or unit" : "column, unit, scale, offset or noise",
                 did_you_mean(nearest_name(key->text, names, n), reader->arena));
    }
}

// `motor3.pos`, {column: motor3.pos, unit: deg}, or nothing: as the model calls it.
static void recording_column(SpecReader *reader, const Node *node, bool time, TableColumn *column)
{
    if (node->kind == NODE_SCALAR) {
        const char *from = scalar_is_empty(node) ? NULL : recording_word(reader, "column", node);
        if (from != NULL) column->from = from;
        return;
    }
    if (node->kind == NODE_SEQUENCE) {
        diagnose(reader->diagnostics, node, "a column is a list, expected its name or {column: name, unit: unit}");
        return;
    }
    for (int i = 0; i < node->count; i++) recording_column_key(reader, node->keys[i], node->items[i], time, column);
}

// A mapping by the model's names, or a list of names that are the same in the file.
static void recording_columns(SpecReader *reader, const Node *node, TableReading *reading)
{
    const bool list = node->kind == NODE_SEQUENCE;
    if (node->kind == NODE_SCALAR || node->count == 0 || node->count > MATRIX_COLUMNS_MAX) {
        diagnose(reader->diagnostics, node,
                 "columns is %s, expected {knee_q: {column: NAME, unit: deg}, ...} or a "
                 "list of names, at most %d",
                 node->kind == NODE_SCALAR ? scalar_given(node, reader->arena) : "not of that size",
                 MATRIX_COLUMNS_MAX);
        return;
    }
    reading->chosen = true;
    reading->columns = ARENA_NEW(reader->arena, TableColumn, node->count);
    for (int i = 0; i < node->count; i++) {
        const Node *name = list ? node->items[i] : node->keys[i];
        const char *word = recording_word(reader, "a column", name);
        if (word == NULL) continue;
        TableColumn column = {.name = word, .from = word, .factor = 1.0, .scale = 1.0, .noise = NAN, .at = name};
        if (strcmp(word, "time") == 0) {
            diagnose(reader->diagnostics, name, "the time is not one of `columns`: it has the key `time`");
            continue;
        }
        for (int other = 0; other < reading->n_columns; other++) {
            if (strcmp(reading->columns[other].name, word) != 0) continue;
            diagnose(reader->diagnostics, name, "there are two columns '%s'", word);
            break;
        }
        if (!list) recording_column(reader, node->items[i], false, &column);
        reading->columns[reading->n_columns++] = column;
    }
}

static void recording_check_time(SpecReader *reader, const TableColumn *time)
{
    Unit unit, second;
    const char *why;
    if (time->unit == NULL || !unit_read(time->unit, reader->arena, &unit, &why)) return;
    unit_read("s", reader->arena, &second, &why);
    if (!unit_same_kind(&unit, &second))
        diagnose(reader->diagnostics, time->at, "the unit of the time is '%s', expected one such as ms", time->unit);
}

static bool recording_key(SpecReader *reader, const Node *key, const Node *value, TableReading *reading)
{
    const char *name = key->text;
    double every = 1.0;
    if (strcmp(name, "time") == 0) {
        reading->time.at = value;
        recording_column(reader, value, true, &reading->time);
        recording_check_time(reader, &reading->time);
    } else if (strcmp(name, "offset") == 0) {
        if (value->kind == NODE_SCALAR && strcmp(value->text, "start") == 0)
            reading->offset = NAN;
        else
            recording_number(reader, "offset", "s", -1e12, 1e12, value, &reading->offset);
    } else if (strcmp(name, "from") == 0) {
        recording_number(reader, "from", "s", -1e12, 1e12, value, &reading->from);
    } else if (strcmp(name, "to") == 0) {
        recording_number(reader, "to", "s", -1e12, 1e12, value, &reading->to);
    } else if (strcmp(name, "every") == 0) {
        const Key of = {.path = "every", .type = KEY_INTEGER, .unit = "1", .low = 1, .high = 1e9};
        if (scalar_number(reader, &of, value, &every)) reading->every = (int64_t)every;
    } else if (strcmp(name, "gaps") == 0) {
        reading->gaps = value->kind == NODE_SCALAR && strcmp(value->text, "skip") == 0;
        if (!reading->gaps && (value->kind != NODE_SCALAR || strcmp(value->text, "refuse") != 0))
            diagnose(reader->diagnostics, value, "gaps is %s, expected refuse or skip",
                     scalar_given(value, reader->arena));
    } else if (strcmp(name, "columns") == 0) {
        recording_columns(reader, value, reading);
    } else {
        return false;
    }
    return true;
}

const TableReading *recording_read(SpecReader *reader, const Key *key, const Node *node)
{
    static const char *const names[] = {"file", "sha256", "time", "offset", "from", "to", "every", "gaps", "columns"};
    TableReading *reading = ARENA_NEW(reader->arena, TableReading, 1);
    int given = 0;
    *reading = (TableReading){.time = {.name = "time", .from = "time", .factor = 1.0, .scale = 1.0, .noise = NAN},
                              .from = -INFINITY,
                              .to = INFINITY,
                              .every = 1};
    for (int i = 0; node->kind == NODE_MAPPING && i < node->count; i++) {
        if (strcmp(node->keys[i]->text, "file") == 0 || strcmp(node->keys[i]->text, "sha256") == 0) continue;
        given++;
        if (!recording_key(reader, node->keys[i], node->items[i], reading))
            diagnose(reader->diagnostics, node->keys[i], "unknown key '%s' in %s, expected %s%s", node->keys[i]->text,
                     key_name(key), recording_keys,
                     did_you_mean(nearest_name(node->keys[i]->text, names, (int)(sizeof names / sizeof *names)),
                                  reader->arena));
    }
    if (reading->from > reading->to) diagnose(reader->diagnostics, node, "from is after to: no row lies between them");
    return given > 0 ? reading : NULL;
}

// ---- writing them ---------------------------------------------------------------------------------------------------

static const char *recording_column_text(const TableColumn *column, Arena *arena)
{
    const char *text = arena_format(arena, "{column: %s", scalar_quoted(column->from, arena));
    if (column->unit != NULL) text = arena_format(arena, "%s, unit: %s", text, scalar_quoted(column->unit, arena));
    if (column->scale != 1.0) text = arena_format(arena, "%s, scale: %s", text, text_number(column->scale).text);
    if (column->offset != 0.0) text = arena_format(arena, "%s, offset: %s", text, text_number(column->offset).text);
    if (!isnan(column->noise)) text = arena_format(arena, "%s, noise: %s", text, text_number(column->noise).text);
    return arena_format(arena, "%s}", text);
}

const char *recording_text(const TableReading *reading, Arena *arena)
{
    if (reading == NULL) return "";
    const char *text = arena_format(arena, ", time: %s", recording_column_text(&reading->time, arena));
    if (isnan(reading->offset))
        text = arena_format(arena, "%s, offset: start", text);
    else if (reading->offset != 0.0)
        text = arena_format(arena, "%s, offset: %s", text, text_number(reading->offset).text);
    if (isfinite(reading->from)) text = arena_format(arena, "%s, from: %s", text, text_number(reading->from).text);
    if (isfinite(reading->to)) text = arena_format(arena, "%s, to: %s", text, text_number(reading->to).text);
    if (reading->every != 1) text = arena_format(arena, "%s, every: %lld", text, (long long)reading->every);
    if (reading->gaps) text = arena_format(arena, "%s, gaps: skip", text);
    for (int i = 0; i < reading->n_columns; i++)
        text = arena_format(arena, "%s%s%s: %s", text, i == 0 ? ", columns: {" : ", ",
                            scalar_quoted(reading->columns[i].name, arena),
                            recording_column_text(&reading->columns[i], arena));
    return reading->n_columns > 0 ? arena_format(arena, "%s}", text) : text;
}

// ---- columns of a file ----------------------------------------------------------------------------------------------

// The file's column of that name; -1 after an error.
static int64_t table_find(TableBuild *build, const TableColumn *column, const char *const *names, int64_t count)
{
    int64_t found = -1;
    for (int64_t c = 0; c < count; c++) {
        if (strcmp(names[c], column->from) != 0) continue;
        if (found >= 0) {
            diagnose(build->reader->diagnostics, column->at != NULL ? column->at : build->at,
                     "%.160s has two columns '%.100s'", build->file, column->from);
            return -1;
        }
        found = c;
    }
    if (found >= 0) return found;
    Arena *arena = build->reader->arena;
    const char *near = count <= MATRIX_COLUMNS_MAX ? nearest_name(column->from, names, (int)count) : NULL, *all = "";
    for (int64_t c = 0; c < count && c < 8; c++)
        all = arena_format(arena, "%s%s%.40s", all, c > 0 ? ", " : "", text_visible(names[c], arena));
    diagnose(build->reader->diagnostics, column->at != NULL ? column->at : build->at, "%.160s has no column '%.100s'%s",
             build->file, column->from,
             near != NULL ? did_you_mean(near, arena)
                          : arena_format(arena, "; its columns are %s%s", all, count > 8 ? ", ..." : ""));
    return -1;
}

// All columns, under their own names but that of the time.
static void table_take_all(TableBuild *build, const char *const *names, const Node *places, int64_t count,
                           int64_t *from)
{
    for (int64_t c = 0; c < count; c++) {
        const char *name = names[c];
        const bool time = build->reading != NULL && strcmp(name, build->reading->time.from) == 0;
        build->names[c] = time ? "time" : name;
        from[c] = c;
        if (strcmp(build->names[c], "time") == 0) build->time = c;
        for (int64_t other = 0; other < c; other++) {
            if (strcmp(build->names[other], build->names[c]) != 0) continue;
            diagnose(build->reader->diagnostics, places != NULL ? &places[c] : build->at, "there are two columns '%s'",
                     text_visible(name, build->reader->arena));
            break;
        }
    }
    build->columns = count;
}

static void table_take_chosen(TableBuild *build, const char *const *names, int64_t count, int64_t *from)
{
    const TableReading *reading = build->reading;
    for (int i = -1; i < reading->n_columns; i++) {
        const TableColumn *column = i < 0 ? &reading->time : &reading->columns[i];
        from[i + 1] = table_find(build, column, names, count);
        build->names[i + 1] = column->name;
    }
    build->time = 0;
    build->columns = reading->n_columns + 1;
}

bool table_begin(TableBuild *build, const char *const *names, const Node *places, int64_t count, int64_t rows)
{
    Arena *arena = build->reader->arena;
    const int errors = diagnostics_errors(build->reader->diagnostics);
    const bool chosen = build->reading != NULL && build->reading->chosen;
    const int64_t room = chosen ? build->reading->n_columns + 1 : count;
    int64_t *from = ARENA_NEW(arena, int64_t, room);
    build->names = ARENA_NEW(arena, const char *, room);
    build->from = from;
    build->time = -1;
    build->rows = build->seen = 0;
    build->first = NAN;
    build->low = INFINITY;
    build->high = -INFINITY;
    if (chosen)
        table_take_chosen(build, names, count, from);
    else
        table_take_all(build, names, places, count, from);
    // A column `time` is not in place of the one that the spec names.
    const bool timed = build->time >= 0 &&
                       (chosen || build->reading == NULL || strcmp(names[build->time], build->reading->time.from) == 0);
    if (build->reading != NULL && !timed) table_find(build, &build->reading->time, names, count);
    if (diagnostics_errors(build->reader->diagnostics) > errors) return false;
    build->most = MATRIX_MAX / build->columns < rows ? MATRIX_MAX / build->columns : rows;
    build->numbers = ARENA_NEW(arena, double, build->most * build->columns + 1);
    build->places = ARENA_NEW(arena, int64_t, build->most + 1);
    return true;
}

// ---- rows -----------------------------------------------------------------------------------------------------------

static double table_time(TableBuild *build, double value)
{
    const TableReading *reading = build->reading;
    if (isnan(build->first)) build->first = value;
    if (isnan(reading->offset)) return (value - build->first) * reading->time.factor;
    return value * reading->time.factor + reading->offset;
}

const char *recording_dated(const char *file, const char *column, double time, Arena *arena)
{
    static const char *const units[] = {"s", "ms", "us", "ns"}; // a time since 1970 has 10, 13, 16 or 19 digits
    int unit = 0;
    for (double most = 1e11; unit < 3 && fabs(time) > most; most *= 1e3) unit++;
    const char *name = strcmp(column, "time") == 0 ? "" : arena_format(arena, "column: %.60s, ", column);
    return arena_format(
        arena,
        "%.120s: its times begin at %.0f, which a clock gives that counts from 1970 (in %s?), and a run "
        "begins at 0 s; say which instant that is: {file: %.120s, time: {%sunit: %s}, offset: start} "
        "puts the first row at 0 s, and a number of seconds in place of start is added to times",
        file, time, units[unit], file, name, units[unit]);
}

// Reports times that no run has, once. With an offset of the spec's the model says what is wrong with them.
static bool table_is_dated(TableBuild *build, double value, double time)
{
    const bool moved = build->reading != NULL && build->reading->offset != 0.0;
    if (build->dated || moved || fabs(time) < RECORDING_DATED) return build->dated;
    build->dated = true;
    diagnose(build->reader->diagnostics, build->at, "%s",
             recording_dated(build->file, build->reading != NULL ? build->reading->time.from : "time", value,
                             build->reader->arena));
    return true;
}

// Whether the row at a time is one of those that are read.
static bool table_wants(TableBuild *build, double time)
{
    const TableReading *reading = build->reading;
    build->low = fmin(build->low, time);
    build->high = fmax(build->high, time);
    if (time < reading->from || time > reading->to) return false;
    return build->seen++ % reading->every == 0;
}

bool table_add(TableBuild *build, const double *value, int64_t number)
{
    const TableReading *reading = build->reading;
    const int64_t n = build->columns;
    const double stamp = build->time >= 0 ? value[build->from[build->time]] : 0.0;
    const double time = reading != NULL ? table_time(build, stamp) : stamp;
    if (build->recording && table_is_dated(build, stamp, time)) return true;
    if (reading != NULL && !table_wants(build, time)) return true;
    if (build->rows == build->most) return false;
    double *to = build->numbers + build->rows * n;
    for (int64_t c = 0; c < n; c++) to[c] = value[build->from[c]];
    if (reading != NULL) to[build->time] = time;
    for (int i = 0; reading != NULL && i < reading->n_columns; i++) {
        const TableColumn *column = &reading->columns[i];
        to[i + 1] = (column->scale * to[i + 1] + column->offset) * column->factor;
    }
    build->places[build->rows++] = number;
    return true;
}

// A column without any value.
static void table_check_empty(TableBuild *build)
{
    for (int64_t c = 0; c < build->columns && build->rows > 0; c++) {
        int64_t row = 0;
        while (row < build->rows && isnan(build->numbers[row * build->columns + c])) row++;
        if (row == build->rows)
            diagnose(build->reader->diagnostics, build->at, "%.160s: column '%.100s' has no value in any row",
                     build->file, build->names[c]);
    }
}

static const TableSource *table_source(const TableBuild *build, const char *const *names)
{
    Arena *arena = build->reader->arena;
    const TableReading *reading = build->reading;
    TableSource *source = ARENA_NEW(arena, TableSource, 1);
    double *noise = ARENA_NEW(arena, double, build->columns);
    const char **units = ARENA_NEW(arena, const char *, build->columns);
    for (int64_t c = 0; c < build->columns; c++) noise[c] = NAN;
    for (int i = 0; reading != NULL && i < reading->n_columns; i++) {
        noise[i + 1] = reading->columns[i].noise * reading->columns[i].factor;
        units[i + 1] = reading->columns[i].unit;
    }
    *source = (TableSource){.file = build->file,
                            .row = build->row,
                            .rows = build->places,
                            .columns = names,
                            .units = units,
                            .noise = noise};
    return source;
}

bool table_end(TableBuild *build, Points *out)
{
    const int errors = diagnostics_errors(build->reader->diagnostics);
    if (build->rows == 0 && build->low <= build->high)
        diagnose(build->reader->diagnostics, build->at,
                 "%.160s: no row lies between from and to; its times go from %.9g to %.9g s", build->file, build->low,
                 build->high);
    table_check_empty(build);
    *out = (Points){.count = build->rows * build->columns,
                    .columns = build->columns,
                    .numbers = build->numbers,
                    .names = build->names,
                    .source = table_source(build, build->names)};
    return diagnostics_errors(build->reader->diagnostics) == errors;
}

// ---- the schema -----------------------------------------------------------------------------------------------------

#define RECORDING_OF_COLUMN                                                                                            \
    "{column: {type: string, description: 'its name in the file'}, unit: {type: string, description: 'deg, ms, "       \
    "rpm'}"

const char recording_schema[] =
    "{anyOf: [{type: string}, {type: object, required: [file], additionalProperties: false, properties: {"
    "file: {type: string}, sha256: {type: string}, "
    "time: {description: 'its column', anyOf: [{type: string}, {type: object, additionalProperties: false, "
    "properties: " RECORDING_OF_COLUMN "}}]}, "
    "offset: {description: 's, added to times; start: the first row is at 0 s', type: [number, string]}, "
    "from: {description: 's, of the first row', type: [number, string]}, "
    "to: {description: 's, of the last row', type: [number, string]}, "
    "every: {description: 'each n-th row', type: integer, minimum: 1}, "
    "gaps: {description: 'rows without a value in a column', enum: [refuse, skip]}, "
    "columns: {description: 'by the names of a trajectory', anyOf: [{type: array, items: {type: string}}, {type: "
    "object, additionalProperties: {anyOf: [{type: string}, {type: object, additionalProperties: false, "
    "properties: " RECORDING_OF_COLUMN ", scale: {description: '(scale x number + offset) in the unit', type: number}, "
    "offset: {type: number}, noise: {description: 'standard deviation, in the unit', type: number}}}]}}]}}}]}";

// ---- units ----------------------------------------------------------------------------------------------------------

// What a column is compared with: a column of trajectories, or the command of a joint; NULL: neither.
static const Field *recording_field(const Configured *configured, const char *name, Arena *arena)
{
    const char *command = arena_format(arena, "%s_command", name);
    for (int pass = 0; pass < 2; pass++) {
        for (int c = 0; c < configured->n_columns; c++) {
            if (strcmp(configured->columns[c].name, pass == 0 ? name : command) == 0) return &configured->columns[c];
        }
    }
    return NULL;
}

static void recording_check_unit(SpecReader *reader, const TableColumn *column)
{
    const Field *field = recording_field(&reader->spec->configured, column->name, reader->arena);
    const char *why;
    Unit given, due;
    if (column->unit == NULL || field == NULL) return;
    if (!unit_read(column->unit, reader->arena, &given, &why) || !unit_read(field->unit, reader->arena, &due, &why))
        return;
    if (!unit_same_kind(&given, &due))
        diagnose(reader->diagnostics, column->at, "%s is in %s, and '%s' is a unit of another kind", field->name,
                 field->unit, column->unit);
}

void recording_check_units(SpecReader *reader)
{
    const Spec *spec = reader->spec;
    for (int i = 0; i < spec->model->n_options; i++) {
        const TableReading *reading = spec->files[i].reading;
        for (int c = 0; reading != NULL && spec->files[i].name != NULL && c < reading->n_columns; c++)
            recording_check_unit(reader, &reading->columns[c]);
    }
}
