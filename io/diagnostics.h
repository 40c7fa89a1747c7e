// Errors and warnings about a text, with their places: "file:line:col: error: ...", the source line, and a caret. All
// errors of a spec are collected and printed at once, sorted by place. At most 100 are printed; the others are counted.
#ifndef HOPSCOTCH_IO_DIAGNOSTICS_H
#define HOPSCOTCH_IO_DIAGNOSTICS_H

#include "yaml.h"

#include <stdio.h>

Diagnostics *diagnostics_new(Arena *arena); // without errors; lives as long as the arena
// Add an error, or a warning, at a node or at a place (line, column from 1; width: characters to underline).
void diagnose(Diagnostics *diagnostics, const Node *at, const char *format, ...) PRINTF_LIKE(3, 4);
void diagnose_at(Diagnostics *diagnostics, const Source *source, int line, int column, int width, const char *format,
                 ...) PRINTF_LIKE(6, 7);
void diagnose_warning(Diagnostics *diagnostics, const Node *at, const char *format, ...) PRINTF_LIKE(3, 4);
int diagnostics_errors(const Diagnostics *diagnostics); // number of errors, without warnings
// Adds an error without a place: there is not enough memory to read a text.
void diagnose_no_memory(Diagnostics *diagnostics);
bool diagnostics_no_memory(const Diagnostics *diagnostics); // diagnose_no_memory was called
void diagnostics_print(const Diagnostics *diagnostics, FILE *out, bool colour);
// Returns the index of the source in the order of printing, which is the order of the first calls. yaml_parse calls
// this.
int diagnostics_source(Diagnostics *diagnostics, const Source *source);
// line: the line of `text` around the caret, cut to `columns` <= 120 terminal columns, control characters escaped.
// caret: the line to print below, of spaces, a caret, and tildes up to `width` characters.
typedef struct Excerpt {
    char line[768], caret[160];
} Excerpt;
Excerpt source_excerpt(const char *text, int line, int column, int width, int columns);
// The one of names[count] that is nearest to `text` by edit distance (Damerau-Levenshtein); NULL if no name is near
// enough to be a typing error.
const char *nearest_name(const char *text, const char *const *names, int count);

#endif
