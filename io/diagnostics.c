// Diagnostics: what is wrong with a text and where. All are collected and printed at once, as compilers do.
#include "diagnostics.h"

#include "characters.h"

#include <ctype.h>
#include <stdarg.h>
#include <string.h>

enum {
    DIAGNOSTICS_KEPT = 100,
    DIAGNOSTIC_TEXT = 1000, // bytes of one message; a longer one is cut
    DIAGNOSTIC_COLUMNS = 120,
    NEAREST_LENGTH = 64, // longer names are never suggested for each other
};

typedef struct Diagnostic {
    const Source *source; // NULL: no place in a text
    int order;            // of the source in the output
    int line, column, width;
    bool warning;
    const NodeCopy *copy; // NULL: the place is not that of a copy
    const char *text;
} Diagnostic;

typedef struct DiagnosticSource {
    const Source *source;
    struct DiagnosticSource *next;
} DiagnosticSource;

struct Diagnostics {
    Arena *arena;
    DiagnosticSource *sources; // in the order of first use
    Diagnostic kept[DIAGNOSTICS_KEPT];
    int count;
    int errors, dropped_errors, dropped_warnings;
    bool no_memory;
};

// ---- the source line and its caret ----------------------------------------------------------------------------------

static const char *excerpt_line_start(const char *text, int line)
{
    if (strncmp(text, "\xEF\xBB\xBF", 3) == 0) text += 3; // a byte order mark is not part of line 1
    for (; line > 1; line--) {
        const char *end = strchr(text, '\n');
        if (end == NULL) return text + strlen(text);
        text = end + 1;
    }
    return text;
}

static const char *excerpt_line_end(const char *start)
{
    const char *end = start + strcspn(start, "\n");
    return end > start && end[-1] == '\r' ? end - 1 : end;
}

// Terminal columns from the line's start.
typedef struct ExcerptSpan {
    int caret, caret_end, total;
} ExcerptSpan;

static ExcerptSpan excerpt_measure(const char *start, const char *end, int column, int width)
{
    ExcerptSpan span = {.caret = -1, .caret_end = -1};
    int character = 1;
    for (const char *at = start; at < end; character++) {
        if (character == column) span.caret = span.total;
        if (character == column + width) span.caret_end = span.total;
        const Glyph glyph = glyph_read(at);
        span.total += glyph.columns;
        at += glyph.bytes;
    }
    if (span.caret < 0) span.caret = span.total;
    if (span.caret_end < 0) span.caret_end = span.total;
    if (span.caret >= span.total) span.total = span.caret + 1; // the caret may stand after the last character
    return span;
}

static void excerpt_append(char *text, size_t size, const char *more)
{
    const size_t used = strlen(text), length = strlen(more);
    if (used + length < size) memcpy(text + used, more, length + 1);
}

// Copies the characters of the line that fit entirely into the columns [from, to).
static void excerpt_copy(const char *start, const char *end, int from, int to, char *text, size_t size)
{
    int column = 0, shown = from;
    for (const char *at = start; at < end && column < to;) {
        const Glyph glyph = glyph_read(at);
        if (column >= from && column + glyph.columns <= to) {
            for (; shown < column; shown++) excerpt_append(text, size, " "); // a wide character was cut
            excerpt_append(text, size, glyph.text);
            shown = column + glyph.columns;
        }
        column += glyph.columns;
        at += glyph.bytes;
    }
    if (to < column) {
        for (; shown < to; shown++) excerpt_append(text, size, " ");
    }
}

Excerpt source_excerpt(const char *text, int line, int column, int width, int columns)
{
    static const char cut[] = "...";
    const int cut_columns = (int)sizeof cut - 1;
    const char *start = excerpt_line_start(text, line), *end = excerpt_line_end(start);
    const ExcerptSpan span = excerpt_measure(start, end, column, width);

    int from = 0, to = span.total;
    if (span.total > columns) { // a third of the room before the caret
        from = span.caret - columns / 3;
        if (from > span.total - columns) from = span.total - columns;
        if (from < 0) from = 0;
        to = from + columns;
    }
    Excerpt excerpt = {{0}, {0}};
    const int head = from > 0 ? cut_columns : 0, tail = to < span.total ? cut_columns : 0;
    if (head > 0) excerpt_append(excerpt.line, sizeof excerpt.line, cut);
    excerpt_copy(start, end, from + head, to - tail, excerpt.line, sizeof excerpt.line - sizeof cut);
    if (tail > 0) excerpt_append(excerpt.line, sizeof excerpt.line, cut);

    for (int i = from; i < span.caret; i++) excerpt_append(excerpt.caret, sizeof excerpt.caret, " ");
    excerpt_append(excerpt.caret, sizeof excerpt.caret, "^");
    for (int i = span.caret + 1; i < span.caret_end && i < to - tail; i++) {
        excerpt_append(excerpt.caret, sizeof excerpt.caret, "~");
    }
    return excerpt;
}

// ---- gathering ------------------------------------------------------------------------------------------------------

Diagnostics *diagnostics_new(Arena *arena)
{
    Diagnostics *diagnostics = ARENA_NEW(arena, Diagnostics, 1);
    diagnostics->arena = arena;
    return diagnostics;
}

int diagnostics_source(Diagnostics *diagnostics, const Source *source)
{
    int order = 0;
    DiagnosticSource **link = &diagnostics->sources;
    for (; *link != NULL; link = &(*link)->next, order++) {
        if ((*link)->source == source) return order;
    }
    *link = ARENA_NEW(diagnostics->arena, DiagnosticSource, 1);
    (*link)->source = source;
    return order;
}

// Negative: a is printed before b.
static int diagnostic_compare(const Diagnostic *a, const Diagnostic *b)
{
    if (a->order != b->order) return a->order < b->order ? -1 : 1;
    if (a->line != b->line) return a->line < b->line ? -1 : 1;
    return a->column < b->column ? -1 : a->column > b->column;
}

// Copies of one text have the same errors at the same places: that of the first is enough.
static bool diagnostics_has(const Diagnostics *diagnostics, const Diagnostic *item)
{
    for (int i = 0; i < diagnostics->count; i++) {
        const Diagnostic *kept = &diagnostics->kept[i];
        const bool same_place = diagnostic_compare(kept, item) == 0 && kept->warning == item->warning;
        const bool copies = kept->copy != NULL && item->copy != NULL;
        if (same_place && (copies || strcmp(kept->text, item->text) == 0)) return true;
    }
    return false;
}

// Makes room for one more: drops the last warning, or the last error if there is no warning.
static void diagnostics_drop(Diagnostics *diagnostics)
{
    int victim = diagnostics->count - 1;
    for (int i = victim; i >= 0 && !diagnostics->kept[victim].warning; i--) {
        if (diagnostics->kept[i].warning) victim = i;
    }
    *(diagnostics->kept[victim].warning ? &diagnostics->dropped_warnings : &diagnostics->dropped_errors) += 1;
    Diagnostic *at = &diagnostics->kept[victim];
    memmove(at, at + 1, (size_t)(diagnostics->count - 1 - victim) * sizeof *at);
    diagnostics->count--;
}

// Keeps the list sorted. Those of the same place stay in the order in which they were found.
static void diagnostics_insert(Diagnostics *diagnostics, const Diagnostic *item)
{
    int index = diagnostics->count;
    while (index > 0 && diagnostic_compare(&diagnostics->kept[index - 1], item) > 0) index--;
    Diagnostic *at = &diagnostics->kept[index];
    memmove(at + 1, at, (size_t)(diagnostics->count - index) * sizeof *at);
    *at = *item;
    diagnostics->count++;
}

// True if the list is full and the new item would be dropped at once.
static bool diagnostics_beyond(const Diagnostics *diagnostics, const Diagnostic *item)
{
    if (diagnostics->count < DIAGNOSTICS_KEPT) return false;
    if (item->warning) return true;
    for (int i = 0; i < diagnostics->count; i++) {
        if (diagnostics->kept[i].warning) return false;
    }
    return diagnostic_compare(&diagnostics->kept[diagnostics->count - 1], item) <= 0;
}

static void diagnostics_add(Diagnostics *diagnostics, Diagnostic item, const char *format, va_list arguments)
{
    char text[DIAGNOSTIC_TEXT];
    const int length = vsnprintf(text, sizeof text, format, arguments);
    if (length >= (int)sizeof text) strcpy(text + sizeof text - 4, "...");
    if (item.copy != NULL && item.copy->number != NULL && strstr(text, item.copy->number) == NULL)
        strncat(text, item.copy->number, sizeof text - 1 - strlen(text));
    item.text = text;
    if (item.source != NULL) item.order = diagnostics_source(diagnostics, item.source);
    if (item.width < 1) item.width = 1;

    if ((item.copy != NULL && item.copy->muted) || diagnostics_has(diagnostics, &item)) return;
    diagnostics->errors += !item.warning;
    if (diagnostics_beyond(diagnostics, &item)) {
        *(item.warning ? &diagnostics->dropped_warnings : &diagnostics->dropped_errors) += 1;
        return;
    }
    if (diagnostics->count == DIAGNOSTICS_KEPT) diagnostics_drop(diagnostics);
    item.text = arena_copy(diagnostics->arena, text);
    diagnostics_insert(diagnostics, &item);
}

static Diagnostic diagnostic_at_node(const Node *at, bool warning)
{
    if (at == NULL) return (Diagnostic){.warning = warning};
    return (Diagnostic){.source = at->source,
                        .line = at->line,
                        .column = at->column,
                        .width = at->width,
                        .warning = warning,
                        .copy = at->copy};
}

void diagnose(Diagnostics *diagnostics, const Node *at, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    diagnostics_add(diagnostics, diagnostic_at_node(at, false), format, arguments);
    va_end(arguments);
}

void diagnose_warning(Diagnostics *diagnostics, const Node *at, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    diagnostics_add(diagnostics, diagnostic_at_node(at, true), format, arguments);
    va_end(arguments);
}

void diagnose_at(Diagnostics *diagnostics, const Source *source, int line, int column, int width, const char *format,
                 ...)
{
    va_list arguments;
    va_start(arguments, format);
    const Diagnostic item = {.source = source, .line = line, .column = column, .width = width};
    diagnostics_add(diagnostics, item, format, arguments);
    va_end(arguments);
}

int diagnostics_errors(const Diagnostics *diagnostics) { return diagnostics->errors; }

void diagnose_no_memory(Diagnostics *diagnostics)
{
    diagnostics->no_memory = true;
    diagnostics->errors++;
}

bool diagnostics_no_memory(const Diagnostics *diagnostics) { return diagnostics->no_memory; }

// ---- printing -------------------------------------------------------------------------------------------------------

static void diagnostic_print(const Diagnostic *item, FILE *out, bool colour)
{
    const char *bold = colour ? "\033[1m" : "", *plain = colour ? "\033[0m" : "";
    const char *alarm = !colour ? "" : item->warning ? "\033[1;35m" : "\033[1;31m";
    const bool placed = item->source != NULL && item->line > 0;
    if (item->source != NULL) {
        fputs(bold, out);
        put_visible(out, item->source->file);
        if (placed) fprintf(out, ":%d:%d", item->line, item->column);
        fprintf(out, ":%s ", plain);
    }
    fprintf(out, "%s%s:%s ", alarm, item->warning ? "warning" : "error", plain);
    put_visible(out, item->text);
    fputc('\n', out);
    if (!placed) return;
    const Excerpt excerpt =
        source_excerpt(item->source->text, item->line, item->column, item->width, DIAGNOSTIC_COLUMNS - 4);
    fprintf(out, "    %s\n    %s\n", excerpt.line, excerpt.caret);
}

static void diagnostics_print_dropped(int count, const char *noun, FILE *out)
{
    if (count > 0) fprintf(out, "... and %d more %s%s\n", count, noun, count == 1 ? "" : "s");
}

void diagnostics_print(const Diagnostics *diagnostics, FILE *out, bool colour)
{
    for (int i = 0; i < diagnostics->count; i++) diagnostic_print(&diagnostics->kept[i], out, colour);
    diagnostics_print_dropped(diagnostics->dropped_errors, "error", out);
    diagnostics_print_dropped(diagnostics->dropped_warnings, "warning", out);
}

// ---- did you mean ---------------------------------------------------------------------------------------------------

// Damerau-Levenshtein distance in its restricted form (optimal string alignment): insertions, deletions, substitutions
// and swaps of neighbours cost 1 each; dynamic programming over prefixes, three rows at a time. F. J. Damerau, "A
// technique for computer detection and correction of spelling errors", CACM 7(3), 1964.
static int nearest_distance(const char *a, const char *b, bool fold)
{
    const int n = (int)strlen(a), m = (int)strlen(b);
    int rows[3][NEAREST_LENGTH + 1]; // rows[i % 3][j]: distance of the first i characters of a to the first j of b
    for (int i = 0; i <= n; i++) {
        for (int j = 0; j <= m; j++) {
            int *at = &rows[i % 3][j];
            if (i == 0 || j == 0) {
                *at = i + j;
                continue;
            }
            const int *above = rows[(i + 2) % 3], *left = rows[i % 3];
            const int x = fold ? tolower((unsigned char)a[i - 1]) : a[i - 1];
            const int y = fold ? tolower((unsigned char)b[j - 1]) : b[j - 1];
            int best = above[j - 1] + (x != y);
            if (above[j] + 1 < best) best = above[j] + 1;
            if (left[j - 1] + 1 < best) best = left[j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                const int swapped = rows[(i + 1) % 3][j - 2] + 1;
                if (swapped < best) best = swapped;
            }
            *at = best;
        }
    }
    return rows[n % 3][m];
}

// Whether the text is the name with one of its letters doubled.
static bool nearest_is_doubled(const char *text, const char *name)
{
    size_t same = 0;
    while (name[same] != '\0' && text[same] == name[same]) same++;
    return same > 0 && text[same] == text[same - 1] && strcmp(text + same + 1, name + same) == 0;
}

const char *nearest_name(const char *text, const char *const *names, int count)
{
    const size_t length = strlen(text);
    if (length == 0 || length > NEAREST_LENGTH) return NULL;
    const int accepted = length < 6 ? 1 : (int)length / 3;
    const char *nearest = NULL;
    int best = NEAREST_LENGTH + 1, best_folded = NEAREST_LENGTH + 1;
    bool best_doubled = false;
    for (int i = 0; i < count; i++) {
        const size_t other = strlen(names[i]), apart = other > length ? other - length : length - other;
        if (other > NEAREST_LENGTH || apart > (size_t)accepted) continue; // the distance is at least this difference
        const int folded = nearest_distance(text, names[i], true);
        const int distance = folded == 0 ? 0 : nearest_distance(text, names[i], false); // K_FP: k_fp
        const bool doubled = nearest_is_doubled(text, names[i]), alike = distance == best && folded == best_folded;
        const bool nearer =
            distance < best || (distance == best && folded < best_folded) || (alike && doubled && !best_doubled);
        if (distance > accepted || !nearer) continue;
        nearest = names[i];
        best = distance;
        best_folded = folded;
        best_doubled = doubled;
    }
    return nearest;
}
