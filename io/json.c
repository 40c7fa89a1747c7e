// A JSON writer (RFC 8259): commas, indentation and escapes are its business. It keeps no text; an error of the stream
// is found by whoever owns the stream.
#include "io.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { JSON_DEPTH_MAX = 64 };

void json_start(Json *json, FILE *out, bool pretty)
{
    memset(json, 0, sizeof *json);
    json->out = out;
    json->pretty = pretty;
    json->first[0] = true;
}

// Length of the UTF-8 sequence at p, 0 if it is none (RFC 3629: no overlong forms, no surrogates, at most U+10FFFF).
static int json_utf8_length(const unsigned char *p)
{
    static const struct {
        unsigned char first_low, first_high, second_low, second_high;
        int length;
    } forms[] = {{0x00, 0x7f, 0, 0, 1},       {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3},
                 {0xe1, 0xec, 0x80, 0xbf, 3}, {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3},
                 {0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4}};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        if (p[0] < forms[i].first_low || p[0] > forms[i].first_high) continue;
        if (forms[i].length == 1) return 1;
        if (p[1] < forms[i].second_low || p[1] > forms[i].second_high) return 0;
        for (int k = 2; k < forms[i].length; k++) {
            if ((p[k] & 0xc0) != 0x80) return 0;
        }
        return forms[i].length;
    }
    return 0;
}

static void json_character(FILE *out, unsigned char c)
{
    static const char plain[] = "\"\\\b\f\n\r\t", letters[] = "\"\\bfnrt";
    const char *found = c != '\0' ? strchr(plain, c) : NULL;
    if (found != NULL)
        fprintf(out, "\\%c", letters[found - plain]);
    else if (c < 0x20 || c == 0x7f)
        fprintf(out, "\\u%04x", c);
    else
        fputc(c, out);
}

// Bytes that are no UTF-8 become U+FFFD, so that the output is always valid.
static void json_string(FILE *out, const char *text)
{
    fputc('"', out);
    for (const unsigned char *p = (const unsigned char *)text; *p != '\0';) {
        const int length = json_utf8_length(p);
        if (length == 0)
            fputs("\\ufffd", out);
        else if (length == 1)
            json_character(out, *p);
        else
            fwrite(p, 1, (size_t)length, out);
        p += length > 0 ? length : 1;
    }
    fputc('"', out);
}

static void json_newline(const Json *json)
{
    if (!json->pretty) return;
    fputc('\n', json->out);
    for (int i = 0; i < json->depth; i++) fputs("  ", json->out);
}

// What stands before a value: comma, line break, name.
static void json_before(Json *json, const char *name)
{
    if (!json->first[json->depth]) fputc(',', json->out);
    if (json->depth > 0) json_newline(json);
    json->first[json->depth] = false;
    if (name == NULL) return;
    json_string(json->out, name);
    fputs(json->pretty ? ": " : ":", json->out);
}

static void json_open(Json *json, const char *name, char bracket)
{
    json_before(json, name);
    fputc(bracket, json->out);
    assert(json->depth + 1 < JSON_DEPTH_MAX);
    json->first[++json->depth] = true;
}

void json_object(Json *json, const char *name) { json_open(json, name, '{'); }
void json_array(Json *json, const char *name) { json_open(json, name, '['); }

void json_close(Json *json, char bracket)
{
    assert(json->depth > 0);
    const bool empty = json->first[json->depth--];
    if (!empty) json_newline(json);
    fputc(bracket, json->out);
    if (json->depth == 0 && json->pretty) fputc('\n', json->out);
}

void json_text(Json *json, const char *name, const char *value)
{
    json_before(json, name);
    if (value == NULL)
        fputs("null", json->out);
    else
        json_string(json->out, value);
}

void json_number(Json *json, const char *name, double value)
{
    json_before(json, name);
    fputs(isfinite(value) ? text_number(value).text : "null", json->out);
}

void json_integer(Json *json, const char *name, int64_t value)
{
    json_before(json, name);
    fprintf(json->out, "%" PRId64, value);
}

void json_boolean(Json *json, const char *name, bool value)
{
    json_before(json, name);
    fputs(value ? "true" : "false", json->out);
}
