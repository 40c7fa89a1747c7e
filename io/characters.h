// Reads UTF-8, and makes unsafe characters visible: a terminal may obey control characters of a text from outside.
#ifndef HOPSCOTCH_IO_CHARACTERS_H
#define HOPSCOTCH_IO_CHARACTERS_H

#include "../sim/sim.h"

#include <stdio.h>

// *character <- the code point at `text` (UTF-8, ended by a NUL). Returns its length, 1 to 4 bytes; 0 at the end of the
// text and for bytes that are not UTF-8 (overlong, surrogate, cut off).
int utf8_read(const char *text, uint32_t *character);
bool utf8_begins(char byte);                     // the byte begins a character: it is not a continuation byte
int utf8_count(const char *text, size_t length); // number of characters in these bytes
// The column, from 1, of the first separator of numbers whose kind (comma, semicolon, blanks) differs from the
// separator before: 4 in "1,5;2,3". A comma or semicolon may have blanks around it. 0: all separators are of one kind.
int text_mixed_separators(const char *line, size_t length);

// How a character is shown: unchanged, or as its code if it is unsafe (characters.c).
typedef struct Glyph {
    int bytes;     // length in the text that was read, at least 1
    int columns;   // width on the terminal
    char text[12]; // what to print
} Glyph;
Glyph glyph_read(const char *text); // the character at `text`, which is not at its end

// Print, or copy, a text from outside in one line, with unsafe characters as codes.
void put_visible(FILE *out, const char *text);
const char *text_visible(const char *text, Arena *arena);
// Whether it begins as a number such as 3,14.
bool text_has_decimal_comma(const char *text);

// The text without blanks at both ends; it is changed in place.
char *text_stripped(char *text);

#endif
