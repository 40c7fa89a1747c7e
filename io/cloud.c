// Point clouds. The files come from many programs and may be hostile: a count in a header is used only after the bytes
// that it announces were found.
#include "cloud.h"

#include "cloud_reader.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- the cursor -----------------------------------------------------------------------------------------------------

Error cloud_error(const CloudText *text, const char *format, ...)
{
    char what[320];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    return error_make(ERROR_USER, "%.160s:%d: %s", text->name, text->line, what);
}

bool cloud_line(CloudText *text, char *line, size_t size)
{
    if (text->at >= text->end) return false;
    const char *end = memchr(text->at, '\n', (size_t)(text->end - text->at));
    if (end == NULL) end = text->end;
    size_t length = (size_t)(end - text->at);
    if (length > 0 && text->at[length - 1] == '\r') length--;
    text->cut = length > size - 1;
    if (text->cut) length = size - 1;
    memcpy(line, text->at, length);
    line[length] = '\0';
    text->at = end < text->end ? end + 1 : end;
    text->line++;
    return true;
}

Error cloud_check_line(const CloudText *text)
{
    return text->cut ? cloud_error(text, "the line is too long") : error_none();
}

Error cloud_count(const CloudText *text, const char *what, const char *word, int64_t *count)
{
    char *end;
    errno = 0;
    const long long value = strtoll(word, &end, 10);
    if (end == word || *end != '\0' || errno != 0 || value < 0)
        return cloud_error(text, "%s must be a whole number of points", what);
    if (value > CLOUD_POINTS_MAX)
        return cloud_error(text, "%s is %lld; a cloud may have at most %d points: thin it first", what, value,
                           CLOUD_POINTS_MAX);
    *count = value;
    return error_none();
}

// ---- points ---------------------------------------------------------------------------------------------------------

Error cloud_begin(int64_t points, CloudFile *out)
{
    *out = (CloudFile){0};
    TRY(arena_create(&out->arena, (size_t)points * 3 * sizeof(double) + 4096, "a point cloud"));
    for (int a = 0; a < 3; a++) out->cloud.at[a] = ARENA_NEW(&out->arena, double, points);
    return error_none();
}

void cloud_add(CloudFile *out, const double *xyz)
{
    if (!isfinite(xyz[0]) || !isfinite(xyz[1]) || !isfinite(xyz[2])) {
        out->dropped++;
        return;
    }
    for (int a = 0; a < 3; a++) ((double *)(uintptr_t)out->cloud.at[a])[out->cloud.count] = xyz[a];
    out->cloud.count++;
}

// ---- rows of text ---------------------------------------------------------------------------------------------------

// Reads the next number of the line, from *at on. False: there is none.
static bool cloud_next_number(const char **at, const char *end, double *value)
{
    while (*at < end && (**at == ' ' || **at == '\t' || **at == '\r')) ++*at;
    if (*at >= end || **at == '\n') return false;
    char *stop;
    *value = strtod(*at, &stop);
    if (stop == *at || (*stop != '\0' && strchr(" \t\r\n", *stop) == NULL)) return false;
    *at = stop;
    return true;
}

// Error: behind the points that the header announces stand more of them.
static Error cloud_check_end(CloudText *text, const CloudRows *rows)
{
    for (; text->at < text->end; text->at++) {
        if (strchr(" \t\r\n", *text->at) == NULL || *text->at == '\0')
            return cloud_error(text, "the header announces %lld points, and more follow", (long long)rows->points);
        text->line += *text->at == '\n';
    }
    return error_none();
}

Error cloud_text_rows(CloudText *text, const CloudRows *rows, CloudFile *out)
{
    // a number and its separator take two bytes at least
    const int64_t most = (int64_t)(text->end - text->at + 1) / (2 * rows->columns);
    if (rows->points > most)
        return cloud_error(text, "the header announces %lld points, but the file has room for %lld",
                           (long long)rows->points, (long long)most);
    TRY(cloud_begin(rows->points, out));
    for (int64_t i = 0; i < rows->points; i++) {
        double xyz[3];
        for (int c = 0; c < rows->columns; c++) {
            double value;
            if (!cloud_next_number(&text->at, text->end, &value))
                return cloud_error(text, "point %lld of %lld: expected %d numbers, found %d", (long long)i + 1,
                                   (long long)rows->points, rows->columns, c);
            for (int a = 0; a < 3; a++) xyz[a] = rows->column[a] == c ? value : xyz[a];
        }
        while (text->at < text->end && strchr(" \t\r", *text->at) != NULL && *text->at != '\0') text->at++;
        if (text->at < text->end && *text->at++ != '\n')
            return cloud_error(text, "point %lld of %lld has more than %d numbers", (long long)i + 1,
                               (long long)rows->points, rows->columns);
        text->line++;
        cloud_add(out, xyz);
    }
    return rows->followed ? error_none() : cloud_check_end(text, rows);
}

// ---- binary rows ----------------------------------------------------------------------------------------------------

static uint64_t cloud_bytes(const unsigned char *p, int size, bool big_endian)
{
    uint64_t bits = 0;
    for (int i = 0; i < size; i++) bits |= (uint64_t)p[i] << 8 * (big_endian ? size - 1 - i : i);
    return bits;
}

static double cloud_number(const unsigned char *p, CloudField field, bool big_endian)
{
    const uint64_t bits = cloud_bytes(p, field.size, big_endian);
    if (field.kind == CLOUD_UNSIGNED) return (double)bits;
    if (field.kind == CLOUD_SIGNED) {
        const uint64_t sign = UINT64_C(1) << (8 * field.size - 1);
        return (double)(int64_t)((bits ^ sign) - sign);
    }
    if (field.size == 4) {
        const uint32_t half = (uint32_t)bits;
        float value;
        memcpy(&value, &half, sizeof value);
        return (double)value;
    }
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

// Whether bytes that a header calls binary are rows of text: of the first ones none is another than those of numbers.
static bool cloud_is_text(const unsigned char *bytes, size_t size)
{
    enum { LEAST = 24, MOST = 512 };
    bool blanks = false;
    for (size_t i = 0; i < size && i < MOST; i++) {
        if (bytes[i] == '\0' || strchr("0123456789+-.,;eEnaifINF \t\r\n", bytes[i]) == NULL) return false;
        blanks |= strchr(" \t\r\n,;", bytes[i]) != NULL;
    }
    return size >= LEAST && blanks;
}

Error cloud_check_binary(const CloudText *text, const CloudRows *rows, size_t there, size_t used)
{
    const unsigned char *bytes = (const unsigned char *)text->at;
    if (cloud_is_text(bytes, there)) return cloud_error(text, "the header says binary, and the points are text");
    if (rows->followed || there - used < rows->stride) return error_none(); // a line's end, say
    for (size_t i = used; i < there; i++) {                                 // zeros fill a block
        if (bytes[i] != 0)
            return cloud_error(text, "the header announces %lld points, and %zu bytes follow them",
                               (long long)rows->points, there - used);
    }
    return error_none();
}

Error cloud_binary_rows(CloudText *text, const CloudRows *rows, CloudFile *out)
{
    const size_t there = (size_t)(text->end - text->at);
    const int64_t most = (int64_t)(there / rows->stride);
    if (rows->points > most)
        return cloud_error(text, "the header announces %lld points of %zu bytes, but the file has %lld: it is cut off",
                           (long long)rows->points, rows->stride, (long long)most);
    TRY(cloud_check_binary(text, rows, there, (size_t)rows->points * rows->stride));
    TRY(cloud_begin(rows->points, out));
    for (int64_t i = 0; i < rows->points; i++) {
        const unsigned char *row = (const unsigned char *)text->at + (size_t)i * rows->stride;
        double xyz[3];
        for (int a = 0; a < 3; a++) xyz[a] = cloud_number(row + rows->offset[a], rows->field[a], rows->big_endian);
        cloud_add(out, xyz);
    }
    return error_none();
}

Error cloud_binary_columns(const unsigned char *data, const CloudRows *rows, CloudFile *out)
{
    TRY(cloud_begin(rows->points, out));
    for (int64_t i = 0; i < rows->points; i++) {
        double xyz[3];
        for (int a = 0; a < 3; a++) {
            const unsigned char *column = data + rows->offset[a] * (size_t)rows->points;
            xyz[a] = cloud_number(column + (size_t)i * (size_t)rows->field[a].size, rows->field[a], false);
        }
        cloud_add(out, xyz);
    }
    return error_none();
}

// ---- all of it ------------------------------------------------------------------------------------------------------

static const struct {
    bool (*claims)(const CloudText *text);
    Error (*read)(CloudText *text, CloudFile *out);
} cloud_readers[] = {{ply_claims, ply_read}, {pcd_claims, pcd_read}, {csv_claims, csv_read}};

static Error cloud_parse_text(CloudText *text, CloudFile *out)
{
    for (size_t i = 0; i < sizeof cloud_readers / sizeof *cloud_readers; i++) {
        if (cloud_readers[i].claims(text)) return cloud_readers[i].read(text, out);
    }
    return error_make(ERROR_USER, "%.160s: not a point cloud: use PCD, PLY or lines of x, y, z", text->name);
}

Error cloud_parse(const char *name, Bytes data, CloudFile *out)
{
    CloudText text = {.name = name, .start = (const char *)data.data, .line = 1};
    text.at = text.start;
    text.end = text.start + data.size;
    *out = (CloudFile){0};
    Error error = cloud_parse_text(&text, out);
    if (error.kind == OK && out->cloud.count == 0)
        error = error_make(ERROR_USER, "%.160s: the file has no point%s", name,
                           out->dropped > 0 ? " with finite coordinates" : "");
    if (error.kind != OK) cloud_close(out);
    return error;
}

Error cloud_read(const char *path, CloudFile *out)
{
    Arena arena;
    Bytes data;
    int64_t size;
    *out = (CloudFile){0};
    TRY(file_size(path, &size));
    if (size < 0 || (uint64_t)size > CLOUD_BYTES_MAX)
        return error_make(ERROR_USER, "%.200s: a point cloud may have at most %lld bytes; this file has %lld", path,
                          (long long)CLOUD_BYTES_MAX, (long long)size);
    TRY(arena_create(&arena, (size_t)size + 65536, "a file of points"));
    Error error = file_read(path, (size_t)size, &arena, &data);
    if (error.kind == OK) error = cloud_parse(path, data, out);
    arena_destroy(&arena);
    return error;
}

void cloud_close(CloudFile *file)
{
    arena_destroy(&file->arena);
    *file = (CloudFile){0};
}
