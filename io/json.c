// A JSON writer (RFC 8259): adds commas, indentation and escapes. It keeps no text. The owner of the stream checks it
// for errors.
#include "json.h"

#include "characters.h"
#include "text.h"
#include "words.h"

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

// Bytes that are not UTF-8 become U+FFFD, so that the output is always valid.
static void json_string(FILE *out, const char *text)
{
    fputc('"', out);
    for (uint32_t character; *text != '\0';) {
        const int length = utf8_read(text, &character);
        if (length == 0)
            fputs("\\ufffd", out);
        else if (length == 1)
            json_character(out, (unsigned char)*text);
        else
            fwrite(text, 1, (size_t)length, out);
        text += length > 0 ? length : 1;
    }
    fputc('"', out);
}

static void json_newline(const Json *json)
{
    if (!json->pretty) return;
    fputc('\n', json->out);
    for (int i = 0; i < json->depth; i++) fputs("  ", json->out);
}

void json_before(Json *json, const char *name)
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
    const bool negative_zero = value == 0 && signbit(value); // readers take -0 for an integer, which has no sign
    fputs(!isfinite(value) ? "null" : negative_zero ? "-0.0" : text_number(value).text, json->out);
}

void json_value(Json *json, const char *name, const char *words, double value)
{
    if (words != NULL)
        json_text(json, name, value_text(words, value).text);
    else
        json_number(json, name, value);
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
