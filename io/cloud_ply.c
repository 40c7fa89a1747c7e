// PLY, the Stanford triangle format: a header of elements and their properties, then the elements, as text or as bytes
// of either order. The element `vertex` must be the first; its properties x, y and z are read, and later elements are
// ignored. Source: G. Turk, The PLY polygon file format, Stanford 1994.
#include "cloud_reader.h"

#include <stdlib.h>
#include <string.h>

enum { PLY_LINE = 1024 };

typedef enum PlyFormat { PLY_NONE, PLY_ASCII, PLY_LITTLE, PLY_BIG } PlyFormat;

typedef struct PlyHeader {
    PlyFormat format;
    int elements; // elements seen so far
    bool ended;
    CloudRows rows;
} PlyHeader;

static const struct {
    const char *name;
    CloudField field;
} ply_types[] = {
    {"char", {CLOUD_SIGNED, 1}},     {"int8", {CLOUD_SIGNED, 1}},     {"uchar", {CLOUD_UNSIGNED, 1}},
    {"uint8", {CLOUD_UNSIGNED, 1}},  {"short", {CLOUD_SIGNED, 2}},    {"int16", {CLOUD_SIGNED, 2}},
    {"ushort", {CLOUD_UNSIGNED, 2}}, {"uint16", {CLOUD_UNSIGNED, 2}}, {"int", {CLOUD_SIGNED, 4}},
    {"int32", {CLOUD_SIGNED, 4}},    {"uint", {CLOUD_UNSIGNED, 4}},   {"uint32", {CLOUD_UNSIGNED, 4}},
    {"float", {CLOUD_FLOAT, 4}},     {"float32", {CLOUD_FLOAT, 4}},   {"double", {CLOUD_FLOAT, 8}},
    {"float64", {CLOUD_FLOAT, 8}},   {"bool", {CLOUD_UNSIGNED, 1}}, // of scanners: not in the paper
};

bool ply_claims(const CloudText *text)
{
    const size_t size = (size_t)(text->end - text->start);
    return size >= 4 && memcmp(text->start, "ply", 3) == 0 && (text->start[3] == '\n' || text->start[3] == '\r');
}

// ---- the header -----------------------------------------------------------------------------------------------------

static Error ply_take_format(const CloudText *text, char **rest, PlyHeader *h)
{
    static const char *const names[] = {"", "ascii", "binary_little_endian", "binary_big_endian"};
    const char *word = strtok_r(NULL, " \t", rest);
    for (int k = PLY_ASCII; k <= PLY_BIG; k++) {
        if (word != NULL && strcmp(word, names[k]) == 0) h->format = (PlyFormat)k;
    }
    return h->format == PLY_NONE
               ? cloud_error(text, "the format must be ascii, binary_little_endian or binary_big_endian")
               : error_none();
}

static Error ply_take_element(const CloudText *text, char **rest, PlyHeader *h)
{
    const char *name = strtok_r(NULL, " \t", rest), *count = strtok_r(NULL, " \t", rest);
    if (name == NULL || count == NULL) return cloud_error(text, "an element needs a name and a number");
    h->rows.followed |= h->elements > 0 && strcmp(count, "0") != 0;
    if (h->elements++ > 0) return error_none();
    if (strcmp(name, "vertex") != 0) return cloud_error(text, "the first element must be vertex");
    return cloud_count(text, "element vertex", count, &h->rows.points);
}

static Error ply_take_property(const CloudText *text, char **rest, PlyHeader *h)
{
    CloudRows *rows = &h->rows;
    const char *type = strtok_r(NULL, " \t", rest), *name = strtok_r(NULL, " \t", rest);
    if (h->elements != 1) return error_none();
    for (size_t k = 0; name != NULL && k < sizeof ply_types / sizeof *ply_types; k++) {
        if (strcmp(type, ply_types[k].name) != 0) continue;
        if (rows->columns == CLOUD_FIELDS_MAX)
            return cloud_error(text, "a point may have at most %d fields", CLOUD_FIELDS_MAX);
        for (int a = 0; a < 3; a++) {
            if (name[0] != "xyz"[a] || name[1] != '\0') continue;
            if (rows->column[a] >= 0) return cloud_error(text, "a vertex has two properties %s", name);
            rows->column[a] = rows->columns;
            rows->offset[a] = rows->stride;
            rows->field[a] = ply_types[k].field;
        }
        rows->columns++;
        rows->stride += (size_t)ply_types[k].field.size;
        return error_none();
    }
    return cloud_error(
        text, "a property of a vertex must be one number: char, uchar, bool, short, ushort, int, uint, float or "
              "double");
}

static Error ply_take_end(const CloudText *text, char **rest, PlyHeader *h)
{
    (void)text;
    (void)rest;
    h->ended = true;
    return error_none();
}

static Error ply_ignore(const CloudText *text, char **rest, PlyHeader *h)
{
    (void)text;
    (void)rest;
    (void)h;
    return error_none();
}

static const struct {
    const char *key;
    Error (*take)(const CloudText *text, char **rest, PlyHeader *h);
} ply_keys[] = {
    {"ply", ply_ignore},          {"comment", ply_ignore},       {"obj_info", ply_ignore},
    {"format", ply_take_format},  {"element", ply_take_element}, {"property", ply_take_property},
    {"end_header", ply_take_end},
};

static Error ply_take_line(const CloudText *text, char *line, PlyHeader *h)
{
    char *rest = NULL;
    const char *key = strtok_r(line, " \t", &rest);
    for (size_t k = 0; key != NULL && k < sizeof ply_keys / sizeof *ply_keys; k++) {
        if (strcmp(key, ply_keys[k].key) != 0) continue;
        if (ply_keys[k].take != ply_ignore) TRY(cloud_check_line(text));
        return ply_keys[k].take(text, &rest, h);
    }
    return cloud_error(text, "not a line of a PLY header; known are format, element, property, comment and "
                             "end_header");
}

static Error ply_header(CloudText *text, PlyHeader *h)
{
    char line[PLY_LINE];
    *h = (PlyHeader){.rows = {.column = {-1, -1, -1}}};
    while (!h->ended) {
        if (!cloud_line(text, line, sizeof line)) return cloud_error(text, "the header ends without end_header");
        text->line--; // messages give the number of the line that was read
        TRY(ply_take_line(text, line, h));
        text->line++;
    }
    h->rows.big_endian = h->format == PLY_BIG;
    if (h->format == PLY_NONE || h->elements == 0) return cloud_error(text, "the header has no format or no vertex");
    for (int a = 0; a < 3; a++) {
        if (h->rows.column[a] < 0) return cloud_error(text, "a vertex must have the properties x, y and z");
    }
    return error_none();
}

Error ply_read(CloudText *text, CloudFile *out)
{
    PlyHeader header;
    TRY(ply_header(text, &header));
    return header.format == PLY_ASCII ? cloud_text_rows(text, &header.rows, out)
                                      : cloud_binary_rows(text, &header.rows, out);
}
