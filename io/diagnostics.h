// Errors and warnings about a text, with their places: file:line:col: error: …, the source line, a caret. All errors of
// a spec are collected and printed at once, sorted by place. At most 100 are kept; the rest is counted.
#ifndef HOPSCOTCH_IO_DIAGNOSTICS_H
#define HOPSCOTCH_IO_DIAGNOSTICS_H

#include "yaml.h"

#include <stdio.h>

Diagnostics *diagnostics_new(Arena *arena);
void diagnose(Diagnostics *diagnostics, const Node *at, const char *format, ...) PRINTF_LIKE(3, 4);
void diagnose_at(Diagnostics *diagnostics, const Source *source, int line, int column, int width, const char *format,
                 ...) PRINTF_LIKE(6, 7);
void diagnose_warning(Diagnostics *diagnostics, const Node *at, const char *format, ...) PRINTF_LIKE(3, 4);
int diagnostics_errors(const Diagnostics *diagnostics);
// Not enough memory to read a text: an error without a place.
void diagnose_no_memory(Diagnostics *diagnostics);
bool diagnostics_no_memory(const Diagnostics *diagnostics);
void diagnostics_print(const Diagnostics *diagnostics, FILE *out, bool colour);
// Fixes the source's place in the order of printing: the order of first calls. yaml_parse calls it.
int diagnostics_source(Diagnostics *diagnostics, const Source *source);
// The line of `text` around the caret, cut to `columns` <= 120 terminal columns, with control characters escaped; and
// the line to print under it: spaces, a caret, and tildes up to `width` characters.
typedef struct Excerpt {
    char line[768], caret[160];
} Excerpt;
Excerpt source_excerpt(const char *text, int line, int column, int width, int columns);
// The name nearest to `text` by edit distance (Damerau-Levenshtein), or NULL if none is near enough to be a typing
// error.
const char *nearest_name(const char *text, const char *const *names, int count);

#endif
