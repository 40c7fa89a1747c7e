// Characters of UTF-8, and how unsafe ones are shown.
#ifndef HOPSCOTCH_IO_CHARACTERS_H
#define HOPSCOTCH_IO_CHARACTERS_H

#include "../sim/sim.h"

#include <stdio.h>

// Reads the character at `text` (UTF-8, ended by a NUL): returns its length, 1 to 4 bytes, and its code point. 0 at the
// end of the text and for bytes that are not UTF-8 (overlong, surrogate, cut off).
int utf8_read(const char *text, uint32_t *character);
bool utf8_begins(char byte); // a character: it is not a continuation byte
// The column, from 1, of the first separator of numbers that is of another kind (comma, semicolon, blanks) than the one
// before: "1,5;2,3". A comma or semicolon may have blanks around it. 0: there is none.
int text_mixed_separators(const char *line, size_t length);
int utf8_count(const char *text, size_t length); // characters in these bytes
// How to show the character at `text`, which is not at its end: as it is, or as its code if it is unsafe
// (io/characters.c).
typedef struct Glyph {
    int bytes;   // that it takes in the text, at least 1
    int columns; // that it takes on the terminal
    char text[12];
} Glyph;
Glyph glyph_read(const char *text);
// Prints a text that may come from outside, with unsafe characters as codes, in one line.
void put_visible(FILE *out, const char *text);
const char *text_visible(const char *text, Arena *arena);

#endif
