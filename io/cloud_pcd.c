// PCD, the Point Cloud Library's format, version 0.7: a header with one key and its values per line, then the points as
// rows of text, rows of bytes, or compressed columns. Source: "The PCD (Point Cloud Data) file format", PCL's
// documentation. The compression is LZF (M. Lehmann). A control byte c < 32 is followed by c + 1 literal bytes. Any
// other control byte starts a copy of earlier output: its high three bits are the length less 2 (7: add the next byte),
// and its low five bits with the byte after are the distance less 1.
#include "cloud_reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PCD_LINE = 4096, PCD_COUNT_MAX = 4096 };

typedef enum PcdData { PCD_NONE, PCD_ASCII, PCD_BINARY, PCD_COMPRESSED } PcdData;

typedef struct PcdHeader {
    int fields;
    char name[CLOUD_FIELDS_MAX][16]; // cut: only x, y and z matter
    CloudField field[CLOUD_FIELDS_MAX];
    int count[CLOUD_FIELDS_MAX]; // numbers per field
    int sizes, types, counts;    // number of values that each line gave
    int64_t width, height, points;
    PcdData data;
    unsigned given; // keys, by their index in pcd_keys
} PcdHeader;

bool pcd_claims(const CloudText *text)
{
    static const char *const starts[] = {"# .PCD", "#.PCD", "VERSION", "FIELDS"};
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
        const size_t length = strlen(starts[i]);
        if ((size_t)(text->end - text->start) >= length && memcmp(text->start, starts[i], length) == 0) return true;
    }
    return false;
}

// ---- the header -----------------------------------------------------------------------------------------------------

// Takes the i-th value of a line.
static Error pcd_take_field(const CloudText *text, const char *word, int i, PcdHeader *h)
{
    (void)text;
    snprintf(h->name[i], sizeof h->name[i], "%s", word);
    h->fields = i + 1;
    return error_none();
}

static Error pcd_take_size(const CloudText *text, const char *word, int i, PcdHeader *h)
{
    char *end;
    const long size = strtol(word, &end, 10);
    if (*end != '\0' || (size != 1 && size != 2 && size != 4 && size != 8))
        return cloud_error(text, "SIZE must be 1, 2, 4 or 8");
    h->field[i].size = (int)size;
    h->sizes = i + 1;
    return error_none();
}

static Error pcd_take_type(const CloudText *text, const char *word, int i, PcdHeader *h)
{
    const char *letter = word[0] != '\0' && word[1] == '\0' ? strchr("IUF", word[0]) : NULL;
    static const CloudKind kinds[] = {CLOUD_SIGNED, CLOUD_UNSIGNED, CLOUD_FLOAT};
    if (letter == NULL) return cloud_error(text, "TYPE must be I, U or F");
    h->field[i].kind = kinds[letter - "IUF"];
    h->types = i + 1;
    return error_none();
}

static Error pcd_take_count(const CloudText *text, const char *word, int i, PcdHeader *h)
{
    char *end;
    const long count = strtol(word, &end, 10);
    if (*end != '\0' || count < 1 || count > PCD_COUNT_MAX)
        return cloud_error(text, "COUNT must be a number from 1 to %d", PCD_COUNT_MAX);
    h->count[i] = (int)count;
    h->counts = i + 1;
    return error_none();
}

static Error pcd_too_many(const CloudText *text, const char *key)
{
    return cloud_error(text, "%s has more than one value", key);
}

static Error pcd_take_width(const CloudText *text, const char *word, int i, PcdHeader *h)
{
    return i == 0 ? cloud_count(text, "WIDTH", word, &h->width) : pcd_too_many(text, "WIDTH");
}

static Error pcd_take_height(const CloudText *text, const char *word, int i, PcdHeader *h)
{
    return i == 0 ? cloud_count(text, "HEIGHT", word, &h->height) : pcd_too_many(text, "HEIGHT");
}

static Error pcd_take_points(const CloudText *text, const char *word, int i, PcdHeader *h)
{
    return i == 0 ? cloud_count(text, "POINTS", word, &h->points) : pcd_too_many(text, "POINTS");
}

static Error pcd_take_data(const CloudText *text, const char *word, int i, PcdHeader *h)
{
    static const char *const names[] = {"", "ascii", "binary", "binary_compressed"};
    if (i > 0) return pcd_too_many(text, "DATA");
    for (int k = PCD_ASCII; k <= PCD_COMPRESSED; k++) {
        if (strcmp(word, names[k]) == 0) h->data = (PcdData)k;
    }
    return h->data == PCD_NONE ? cloud_error(text, "DATA must be ascii, binary or binary_compressed") : error_none();
}

static Error pcd_ignore(const CloudText *text, const char *word, int i, PcdHeader *h)
{
    (void)text;
    (void)word;
    (void)i;
    (void)h;
    return error_none();
}

static const struct {
    const char *key;
    Error (*take)(const CloudText *text, const char *word, int i, PcdHeader *h);
} pcd_keys[] = {
    {"VERSION", pcd_ignore},     {"FIELDS", pcd_take_field}, {"SIZE", pcd_take_size},     {"TYPE", pcd_take_type},
    {"COUNT", pcd_take_count},   {"WIDTH", pcd_take_width},  {"HEIGHT", pcd_take_height}, {"VIEWPOINT", pcd_ignore},
    {"POINTS", pcd_take_points}, {"DATA", pcd_take_data},
};

static Error pcd_take_line(const CloudText *text, char *line, PcdHeader *h)
{
    char *rest = NULL;
    const char *key = strtok_r(line, " \t", &rest);
    if (key == NULL || key[0] == '#') return error_none();
    for (size_t k = 0; k < sizeof pcd_keys / sizeof *pcd_keys; k++) {
        if (strcmp(key, pcd_keys[k].key) != 0) continue;
        TRY(cloud_check_line(text));
        if ((h->given & 1u << k) != 0) return cloud_error(text, "%s stands twice in the header", key);
        h->given |= 1u << k;
        int i = 0;
        for (const char *word; (word = strtok_r(NULL, " \t", &rest)) != NULL; i++) {
            if (i == CLOUD_FIELDS_MAX) return cloud_error(text, "a point may have at most %d fields", CLOUD_FIELDS_MAX);
            TRY(pcd_keys[k].take(text, word, i, h));
        }
        return i > 0 ? error_none() : cloud_error(text, "%s needs a value", key);
    }
    return cloud_error(text, "not a line of a PCD header; known are VERSION, FIELDS, SIZE, TYPE, COUNT, WIDTH, "
                             "HEIGHT, VIEWPOINT, POINTS and DATA");
}

static Error pcd_header(CloudText *text, PcdHeader *h)
{
    char line[PCD_LINE];
    *h = (PcdHeader){.width = -1, .height = -1, .points = -1};
    while (h->data == PCD_NONE) {
        if (!cloud_line(text, line, sizeof line)) return cloud_error(text, "the header ends without DATA");
        text->line--; // messages give the number of the line that was read
        TRY(pcd_take_line(text, line, h));
        text->line++;
    }
    for (int i = h->counts; i < h->fields; i++) h->count[i] = 1;
    if (h->fields == 0 || h->sizes != h->fields || h->types != h->fields || h->counts > h->fields)
        return cloud_error(text, "FIELDS, SIZE and TYPE must have as many values each: %d, %d, %d", h->fields, h->sizes,
                           h->types);
    return error_none();
}

// Finds the offsets of x, y and z, and the number of points.
static Error pcd_rows(const CloudText *text, const PcdHeader *h, CloudRows *rows)
{
    *rows = (CloudRows){.points = h->points, .column = {-1, -1, -1}};
    for (int i = 0; i < h->fields; i++) {
        for (int a = 0; a < 3; a++) {
            if (h->name[i][0] != "xyz"[a] || h->name[i][1] != '\0') continue;
            if (rows->column[a] >= 0) return cloud_error(text, "the field %s stands twice in FIELDS", h->name[i]);
            rows->column[a] = rows->columns;
            rows->offset[a] = rows->stride;
            rows->field[a] = h->field[i];
            if (h->count[i] != 1 || (h->field[i].kind == CLOUD_FLOAT && h->field[i].size < 4))
                return cloud_error(text, "the field %s must be one number, a float of 4 or 8 bytes", h->name[i]);
        }
        rows->columns += h->count[i];
        rows->stride += (size_t)h->count[i] * (size_t)h->field[i].size;
    }
    if (rows->column[0] < 0 || rows->column[1] < 0 || rows->column[2] < 0)
        return cloud_error(text, "FIELDS must have x, y and z");
    if (h->width < 0 || (h->height < 0 && h->points < 0))
        return cloud_error(text, "WIDTH, HEIGHT and POINTS are missing");
    if (h->points < 0) rows->points = h->width * h->height;
    if (h->height >= 0 && h->width * h->height != rows->points)
        return cloud_error(text, "WIDTH x HEIGHT is %lld, and POINTS is %lld", (long long)(h->width * h->height),
                           (long long)h->points);
    return rows->points > CLOUD_POINTS_MAX ? cloud_error(text, "a cloud may have at most %d points", CLOUD_POINTS_MAX)
                                           : error_none();
}

// ---- compressed columns ---------------------------------------------------------------------------------------------

// Unpacks in[n_in]. True if the result has exactly n_out bytes.
static bool pcd_unpack(const unsigned char *in, size_t n_in, unsigned char *out, size_t n_out)
{
    size_t i = 0, o = 0;
    while (i < n_in) {
        const size_t control = in[i++];
        if (control < 32) {
            const size_t length = control + 1;
            if (length > n_in - i || length > n_out - o) return false;
            memcpy(out + o, in + i, length);
            i += length;
            o += length;
            continue;
        }
        size_t length = control >> 5;
        if (length == 7) length += i < n_in ? in[i++] : 0;
        length += 2;
        if (i >= n_in) return false;
        const size_t distance = ((control & 31) << 8 | in[i++]) + 1;
        if (distance > o || length > n_out - o) return false;
        for (size_t k = 0; k < length; k++, o++) out[o] = out[o - distance]; // they may overlap
    }
    return o == n_out;
}

static Error pcd_compressed(CloudText *text, const CloudRows *rows, CloudFile *out)
{
    const size_t there = (size_t)(text->end - text->at), wanted = (size_t)rows->points * rows->stride;
    if (there < 8) return cloud_error(text, "the compressed data is cut off");
    const unsigned char *p = (const unsigned char *)text->at;
    const size_t packed = (size_t)p[0] | (size_t)p[1] << 8 | (size_t)p[2] << 16 | (size_t)p[3] << 24;
    const size_t plain = (size_t)p[4] | (size_t)p[5] << 8 | (size_t)p[6] << 16 | (size_t)p[7] << 24;
    if (plain != wanted)
        return cloud_error(text, "the compressed data has %zu bytes, but %lld points take %zu", plain,
                           (long long)rows->points, wanted);
    if (packed > there - 8)
        return cloud_error(text, "the header announces %zu compressed bytes, but the file has %zu: it is cut off",
                           packed, there - 8);
    TRY(cloud_check_binary(text, rows, there, 8 + packed));
    if (plain / 88 > packed) return cloud_error(text, "the compressed data is damaged"); // 3 bytes give at most 264
    Arena arena;
    TRY(arena_create(&arena, plain + 4096, "a cloud that is unpacked"));
    unsigned char *data = ARENA_NEW(&arena, unsigned char, plain);
    const Error error = pcd_unpack(p + 8, packed, data, plain) ? cloud_binary_columns(data, rows, out)
                                                               : cloud_error(text, "the compressed data is damaged");
    arena_destroy(&arena);
    return error;
}

// ---- all of it ------------------------------------------------------------------------------------------------------

Error pcd_read(CloudText *text, CloudFile *out)
{
    PcdHeader header;
    CloudRows rows;
    TRY(pcd_header(text, &header));
    TRY(pcd_rows(text, &header, &rows));
    static Error (*const readers[])(CloudText *, const CloudRows *, CloudFile *) = {NULL, cloud_text_rows,
                                                                                    cloud_binary_rows, pcd_compressed};
    return readers[header.data](text, &rows, out);
}
