// Characters of texts that come from outside: reads UTF-8, and shows unsafe characters by their code. Unsafe are
// control characters, invisible characters, changes of writing direction, and bytes that are not UTF-8: they could
// change the terminal or mislead the reader.
#include "characters.h"

#include <string.h>

// The Unicode Standard 15.0, table 3-7: well-formed byte sequences.
int utf8_read(const char *text, uint32_t *character)
{
    const unsigned char *s = (const unsigned char *)text;
    const int length = s[0] < 0x80 ? 1 : s[0] < 0xC2 ? 0 : s[0] < 0xE0 ? 2 : s[0] < 0xF0 ? 3 : s[0] < 0xF5 ? 4 : 0;
    if (length == 0 || s[0] == 0) return 0;
    uint32_t value = length == 1 ? s[0] : s[0] & (0x7Fu >> length);
    for (int i = 1; i < length; i++) {
        if ((s[i] & 0xC0) != 0x80) return 0; // a NUL too
        value = value << 6 | (s[i] & 0x3Fu);
    }
    const bool overlong = (length == 3 && value < 0x800) || (length == 4 && value < 0x10000);
    if (overlong || value > 0x10FFFF || (value >= 0xD800 && value <= 0xDFFF)) return 0;
    *character = value;
    return length;
}

bool utf8_begins(char byte) { return ((unsigned char)byte & 0xC0) != 0x80; }

int utf8_count(const char *text, size_t length)
{
    int count = 0;
    for (size_t i = 0; i < length; i++) count += utf8_begins(text[i]);
    return count;
}

// Characters that do not take one column: 0 for combining marks, 2 for East Asian wide ones (Unicode TR 11, coarsely),
// -1 for unsafe ones, which are shown by their code.
static const struct CharacterColumns {
    uint32_t first, last;
    int columns;
} character_columns[] = {
    {0x0001, 0x001F, -1}, {0x007F, 0x009F, -1}, {0x0300, 0x036F, 0},   {0x1100, 0x115F, 2},   {0x200B, 0x200F, -1},
    {0x2028, 0x202E, -1}, {0x2060, 0x206F, -1}, {0x20D0, 0x20FF, 0},   {0x2E80, 0xA4CF, 2},   {0xAC00, 0xD7A3, 2},
    {0xF900, 0xFAFF, 2},  {0xFE00, 0xFE0F, 0},  {0xFE30, 0xFE6F, 2},   {0xFEFF, 0xFEFF, -1},  {0xFF00, 0xFF60, 2},
    {0xFFE0, 0xFFE6, 2},  {0xFFF9, 0xFFFB, -1}, {0x1F300, 0x1FAFF, 2}, {0x20000, 0x3FFFD, 2}, {0xE0000, 0xE0FFF, -1},
};

// `at` must not be the end of the text.
Glyph glyph_read(const char *at)
{
    if (*at >= ' ' && *at <= '~') return (Glyph){.bytes = 1, .columns = 1, .text = {*at}}; // most characters are ASCII
    uint32_t c = 0;
    Glyph glyph = {.bytes = utf8_read(at, &c), .columns = 1};
    if (glyph.bytes == 0) {
        glyph.bytes = 1;
        glyph.columns = snprintf(glyph.text, sizeof glyph.text, "\\x%02X", (unsigned)(unsigned char)*at);
        return glyph;
    }
    for (size_t i = 0; i < sizeof character_columns / sizeof *character_columns; i++) {
        if (c >= character_columns[i].first && c <= character_columns[i].last) {
            glyph.columns = character_columns[i].columns;
        }
    }
    if (c == '\t') {
        glyph.columns = 1;
        glyph.text[0] = ' ';
    } else if (glyph.columns >= 0) {
        memcpy(glyph.text, at, (size_t)glyph.bytes);
    } else {
        const char *format = c < 0x100 ? "\\x%02X" : "\\u%04X";
        glyph.columns = snprintf(glyph.text, sizeof glyph.text, format, (unsigned)c);
    }
    return glyph;
}

void put_visible(FILE *out, const char *text)
{
    for (Glyph glyph; *text != '\0'; text += glyph.bytes) {
        glyph = glyph_read(text);
        fputs(glyph.text, out);
    }
}

const char *text_visible(const char *text, Arena *arena)
{
    size_t size = 1;
    for (const char *at = text; *at != '\0'; at += glyph_read(at).bytes) size += strlen(glyph_read(at).text);
    char *visible = ARENA_NEW(arena, char, size), *end = visible;
    for (const char *at = text; *at != '\0'; at += glyph_read(at).bytes) end = stpcpy(end, glyph_read(at).text);
    return visible;
}

char *text_stripped(char *text)
{
    text += strspn(text, " ");
    size_t length = strlen(text);
    while (length > 0 && text[length - 1] == ' ') length--;
    text[length] = '\0';
    return text;
}

bool text_has_decimal_comma(const char *text)
{
    text += *text == '+' || *text == '-';
    const size_t digits = strspn(text, "0123456789");
    return digits > 0 && text[digits] == ',' && strchr("0123456789", text[digits + 1]) != NULL && text[digits + 1] != 0;
}
