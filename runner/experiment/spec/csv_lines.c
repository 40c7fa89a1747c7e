// Lines of a table of comma-separated values, cut into fields that know their places. Another character may separate
// them.
#include "keys.h"

#include <string.h>

// The field at `p`, cut out of its line; where the next one starts, NULL after the last.
static char *csv_field(const CsvLines *csv, const char *line, char *p, Node *field)
{
    const bool blanks = csv->separator == ' ';
    const char separators[] = {csv->separator, blanks ? '\t' : '\0', '\0'};
    const char *const skipped = csv->separator == '\t' ? " " : " \t"; // around a field
    p += strspn(p, skipped);
    bool quoted = *p == '"';
    char *start = p + quoted, *end = start + strcspn(start, quoted ? "\"" : separators);
    // as it stands: no number
    if (quoted && (*end == '\0' || (!blanks && strchr(separators, end[1 + strspn(end + 1, skipped)]) == NULL))) {
        quoted = false;
        start = p;
        end = start + strcspn(start, separators);
    }
    char *comma = end + strcspn(end, separators);
    if (blanks && comma[strspn(comma, skipped)] == '\0') comma += strspn(comma, skipped); // of the line's end
    while (!quoted && end > start && strchr(" \t", end[-1]) != NULL) end--;
    const int width = utf8_count(start, (size_t)(end - start));
    *field = (Node){.kind = NODE_SCALAR,
                    .source = csv->source,
                    .line = csv->line,
                    .column = utf8_count(line, (size_t)(start - line)) + 1,
                    .width = width > 0 ? width : 1,
                    .text = start};
    char *next = *comma != '\0' ? comma + 1 : NULL;
    *end = '\0';
    return next;
}

// The next line with fields; NULL: none.
static char *csv_line(CsvLines *csv)
{
    while (*csv->at != '\0') {
        char *line = csv->at, *end = line + strcspn(line, "\n");
        csv->at = *end == '\n' ? end + 1 : end;
        csv->line++;
        if (end > line && end[-1] == '\r') end--;
        *end = '\0';
        const char first = line[strspn(line, " \t")];
        if (first != '\0' && first != '#') return line;
    }
    return NULL;
}

CsvLines csv_lines(const Source *source, int most, Arena *arena)
{
    const char *mark = strncmp(source->text, "\xEF\xBB\xBF", 3) == 0 ? source->text + 3 : source->text;
    char *text = arena_copy(arena, mark);
    const bool lines = strchr(text, '\n') != NULL; // else they may end with a carriage return alone
    for (char *end = text; !lines && (end = strchr(end, '\r')) != NULL;) *end = '\n';
    return (CsvLines){.source = source, .at = text, .fields = ARENA_NEW(arena, Node, most + 1), .separator = ','};
}

char csv_separator(const CsvLines *csv)
{
    const char *text = csv->at;
    size_t length = 0;
    for (;; text += length + (text[length] != '\0')) {
        length = strcspn(text, "\n");
        const char first = text[strspn(text, " \t\r")];
        if (text[length] == '\0' || (first != '#' && first != '\n')) break;
    }
    if (memchr(text, ',', length) != NULL) return ',';
    return memchr(text, ';', length) != NULL ? ';' : memchr(text, '\t', length) != NULL ? '\t' : ',';
}

bool csv_row(CsvLines *csv, int most)
{
    char *line = csv_line(csv), *p = line;
    for (csv->n_fields = 0; p != NULL && csv->n_fields < most;)
        p = csv_field(csv, line, p, &csv->fields[csv->n_fields++]);
    return line != NULL;
}
