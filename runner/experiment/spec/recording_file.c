// Recordings in binary files (io/recorded.h) as tables: arrays of one length, row by row, or columns with times of
// their own, merged by time.
#include "recording.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct RecordingFile {
    SpecReader *reader;
    const Option *option;
    RecordedFile file;
    TableBuild build;
    const double **value, **time; // [build.columns] of its columns; of the time: its own values, or NULL
    double *row;                  // [names]: a row of the file
} RecordingFile;

static void recording_wrong(RecordingFile *of, const char *text)
{
    diagnose(of->reader->diagnostics, of->build.at, "%s", text);
}

// The names of the file's columns, then those of its clocks.
static const char *const *recording_names(const RecordedFile *file, Arena *arena, int64_t *count)
{
    const char **names = ARENA_NEW(arena, const char *, file->count + 8);
    *count = file->count;
    for (int c = 0; c < file->count; c++) names[c] = arena_copy(arena, file->columns[c].name);
    for (int c = 0; file->clocks != NULL && file->clocks[c] != NULL; c++) names[(*count)++] = file->clocks[c];
    return names;
}

// What a file with clocks needs said.
static bool recording_is_chosen(RecordingFile *of)
{
    const TableReading *reading = of->build.reading;
    const char *const *clock = of->file.clocks;
    if (clock == NULL) return true;
    while (reading != NULL && *clock != NULL && strcmp(*clock, reading->time.from) != 0) clock++;
    if (reading != NULL && reading->chosen && *clock != NULL) return true;
    recording_wrong(of, arena_format(of->reader->arena,
                                     "%.160s: an %s file needs `columns`, such as {knee_q: %.100s}, and `time: stamp` "
                                     "(of the messages' headers) or `time: log_time`",
                                     of->build.file, of->file.format,
                                     of->file.count > 0 ? of->file.columns[0].name : "/joint_states.knee.position"));
    return false;
}

static bool recording_load(RecordingFile *of)
{
    TableBuild *build = &of->build;
    Arena *arena = of->reader->arena;
    const int64_t of_time = build->time >= 0 ? build->from[build->time] : -1, n = of->file.count;
    const int clock = of_time >= n ? (int)(of_time - n) : 0;
    const int64_t rows = of_time >= 0 && of_time < n ? of->file.columns[of_time].count
                         : build->columns > 0        ? of->file.columns[build->from[0]].count
                                                     : 0;
    for (int64_t c = 0; c < build->columns; c++) {
        const RecordedColumn *column = build->from[c] < n ? &of->file.columns[build->from[c]] : NULL;
        if (column == NULL && c == build->time) continue;
        if (column == NULL) {
            recording_wrong(of, arena_format(arena, "%.160s: '%s' is its time, not a column", build->file,
                                             of->file.clocks[build->from[c] - n]));
            return false;
        }
        if (column->why != NULL) {
            recording_wrong(of, arena_format(arena, "%.160s: '%.100s' is no column of numbers: %s", build->file,
                                             column->name, column->why));
            return false;
        }
        if (of->file.clocks == NULL && column->count != rows) {
            recording_wrong(of, arena_format(arena, "%.160s: '%.100s' has %lld values, and '%.100s' has %lld",
                                             build->file, column->name, (long long)column->count,
                                             of->file.columns[of_time >= 0 ? of_time : build->from[0]].name,
                                             (long long)rows));
            return false;
        }
        const Error error =
            of->file.load(&of->file, (int)build->from[c], clock, &of->file.arena, &of->value[c], &of->time[c]);
        if (error.kind == OK) continue;
        recording_wrong(of, error.text);
        return false;
    }
    return true;
}

// A number of the row, which must be finite, in the range, or a gap that the spec allows.
static bool recording_check(RecordingFile *of, int64_t column, int64_t row, double value)
{
    const TableBuild *build = &of->build;
    const bool gaps = build->reading != NULL && build->reading->gaps && column != build->time;
    const bool time = column == build->time; // ns since 1970, say
    if (isnan(value) && gaps) return true;
    if (value >= of->option->low && value <= of->option->high) return true;
    if (time && isfinite(value)) return true;
    recording_wrong(of, arena_format(of->reader->arena,
                                     isnan(value) ? "%.160s: column '%.100s' has no value in row %lld; `{file: ..., "
                                                    "gaps: skip}` allows it"
                                                  : "%.160s: column '%.100s' has a value in row %lld that is not "
                                                    "finite, or too large",
                                     build->file, build->names[column], (long long)row));
    return false;
}

static bool recording_add(RecordingFile *of, int64_t row)
{
    if (table_add(&of->build, of->row, row)) return true;
    recording_wrong(of, arena_format(of->reader->arena, "%.160s has too many numbers: at most %d are allowed",
                                     of->build.file, MATRIX_MAX));
    return false;
}

// Arrays of one length.
static bool recording_rows(RecordingFile *of)
{
    const TableBuild *build = &of->build;
    const int64_t rows = build->columns > 0 ? of->file.columns[build->from[0]].count : 0;
    for (int64_t r = 0; r < rows; r++) {
        for (int64_t c = 0; c < build->columns; c++) {
            of->row[build->from[c]] = of->value[c][r];
            if (!recording_check(of, c, r, of->value[c][r])) return false;
        }
        if (!recording_add(of, r)) return false;
    }
    return true;
}

// Columns with times of their own: a row for each time that one of them has.
static bool recording_merge(RecordingFile *of)
{
    const TableBuild *build = &of->build;
    int64_t *next = ARENA_NEW(of->reader->arena, int64_t, build->columns);
    for (int64_t row = 0;; row++) {
        double time = INFINITY;
        for (int64_t c = 0; c < build->columns; c++) {
            const int64_t count = c == build->time ? 0 : of->file.columns[build->from[c]].count;
            if (next[c] < count) time = fmin(time, of->time[c][next[c]]);
        }
        if (time == INFINITY) return true;
        of->row[build->from[build->time]] = time;
        for (int64_t c = 0; c < build->columns; c++) {
            if (c == build->time) continue;
            const bool here = next[c] < of->file.columns[build->from[c]].count && of->time[c][next[c]] == time;
            of->row[build->from[c]] = here ? of->value[c][next[c]++] : NAN;
        }
        for (int64_t c = 0; c < build->columns; c++)
            if (!recording_check(of, c, row, of->row[build->from[c]])) return false;
        if (!recording_add(of, row)) return false;
    }
}

static int64_t recording_most(const RecordingFile *of)
{
    int64_t rows = 1;
    for (int c = 0; c < of->file.count; c++) rows += of->file.columns[c].count;
    return rows;
}

static bool recording_read_all(RecordingFile *of, Points *out)
{
    int64_t count;
    const char *const *names = recording_names(&of->file, of->reader->arena, &count);
    if (!recording_is_chosen(of)) return false;
    if (count == 0) {
        recording_wrong(of, arena_format(of->reader->arena, "%.160s has no column", of->build.file));
        return false;
    }
    if (!table_begin(&of->build, names, NULL, count, recording_most(of))) return false;
    of->value = ARENA_NEW(of->reader->arena, const double *, of->build.columns);
    of->time = ARENA_NEW(of->reader->arena, const double *, of->build.columns);
    of->row = ARENA_NEW(of->reader->arena, double, count);
    if (!recording_load(of)) return false;
    if (!(of->file.clocks != NULL ? recording_merge(of) : recording_rows(of))) return false;
    if (of->build.rows == 0 && !(of->build.low <= of->build.high)) {
        recording_wrong(of, arena_format(of->reader->arena, "%.160s has no rows", of->build.file));
        return false;
    }
    return table_end(&of->build, out);
}

bool recording_binary(SpecReader *reader, const Option *option, const char *name, Bytes data,
                      const TableReading *reading, const Node *at, Points *out)
{
    RecordingFile of = {
        .reader = reader,
        .option = option,
        .build = {.reader = reader, .reading = reading, .at = at, .file = name, .row = "row", .recording = true}};
    const Error error = recorded_open(name, data, &of.file);
    *out = (Points){0};
    if (error.kind != OK) {
        recording_wrong(&of, error.text);
        return false;
    }
    const bool ok = recording_read_all(&of, out);
    recorded_close(&of.file);
    return ok;
}
