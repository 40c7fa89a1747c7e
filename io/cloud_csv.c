// Lines of x, y, z, separated by commas, semicolons, or blanks. Further numbers in a line are ignored, but no line has
// more than the first one. The first line may name the columns; then x, y and z may stand in any of them. Empty lines
// and lines that begin with # are skipped.
#include "characters.h"
#include "cloud_reader.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { CSV_LINE = 4096 };

bool csv_claims(const CloudText *text)
{
    return text->end > text->start && memchr(text->start, '\0', (size_t)(text->end - text->start)) == NULL;
}

static const char *csv_cell_start(const char *at) { return at + strspn(at, " \t"); }
// Returns the start of the next cell.
static const char *csv_cell_next(const char *at)
{
    at += strcspn(at, ",; \t");
    at = csv_cell_start(at);
    return *at == ',' || *at == ';' ? at + 1 : at;
}

static bool csv_is_left_out(const char *line)
{
    const char *at = csv_cell_start(line);
    return *at == '\0' || *at == '#';
}

// Finds columns[3], the indices of the names x, y, z in the line. False: one is missing.
static bool csv_names(const char *line, int *columns)
{
    for (int a = 0; a < 3; a++) columns[a] = -1;
    int c = 0;
    for (const char *at = csv_cell_start(line); *at != '\0' && c < CLOUD_FIELDS_MAX; c++) {
        size_t length = strcspn(at, ",; \t");
        const char *word = at;
        if (length >= 3 && word[0] == '"' && word[length - 1] == '"') word++, length -= 2;
        for (int a = 0; a < 3; a++) {
            if (length == 1 && (word[0] | 32) == "xyz"[a]) columns[a] = columns[a] < 0 ? c : CLOUD_FIELDS_MAX;
        }
        at = csv_cell_start(csv_cell_next(at));
    }
    for (int a = 0; a < 3; a++) {
        if (columns[a] < 0 || columns[a] == CLOUD_FIELDS_MAX) return false; // it is missing, or there are two
    }
    return true;
}

static int csv_cells(const char *line)
{
    int count = 0;
    for (const char *at = csv_cell_start(line); *at != '\0'; count++) at = csv_cell_start(csv_cell_next(at));
    return count;
}

// *most: cells of the first line; 0: this is the first.
static Error csv_check_line(const CloudText *text, const char *line, int *most)
{
    const int cells = csv_cells(line), other = text_mixed_separators(line, strlen(line));
    TRY(cloud_check_line(text));
    if (other > 0)
        return error_make(ERROR_USER,
                          "%.160s:%d:%d: numbers are separated by another character than before: is ',' the decimal "
                          "point? Write '.', and one kind of separator",
                          text->name, text->line, other);
    if (*most > 0 && cells > *most)
        return cloud_error(text, "the line has %d fields, and the first line has %d", cells, *most);
    if (*most == 0) *most = cells;
    return error_none();
}

// Reads xyz[3] from a line. False: three numbers are not there.
static bool csv_numbers(const char *line, const int *columns, double *xyz)
{
    int found = 0, c = 0;
    for (const char *at = csv_cell_start(line); *at != '\0' && found < 3; c++) {
        for (int a = 0; a < 3; a++) {
            if (columns[a] != c) continue;
            char *end;
            xyz[a] = strtod(at, &end);
            if (end == at || (*end != '\0' && strchr(",; \t", *end) == NULL)) return false;
            found++;
        }
        at = csv_cell_start(csv_cell_next(at));
    }
    return found == 3;
}

static int64_t csv_lines(const CloudText *text)
{
    int64_t lines = 1;
    for (const char *at = text->at; (at = memchr(at, '\n', (size_t)(text->end - at))) != NULL; at++) lines++;
    return lines;
}

Error csv_read(CloudText *text, CloudFile *out)
{
    char line[CSV_LINE];
    int columns[3] = {0, 1, 2}, most = 0;
    double xyz[3];
    bool first = true;
    const int64_t lines = csv_lines(text);
    if (lines > CLOUD_POINTS_MAX)
        return cloud_error(text, "a cloud may have at most %d points; this file has %lld lines: thin it first",
                           CLOUD_POINTS_MAX, (long long)lines);
    TRY(cloud_begin(lines, out));
    if (text->end - text->at >= 3 && memcmp(text->at, "\xEF\xBB\xBF", 3) == 0) text->at += 3; // a byte order mark
    for (text->line = 0; cloud_line(text, line, sizeof line); first = first && csv_is_left_out(line)) {
        int named[3];
        if (csv_is_left_out(line)) continue;
        TRY(csv_check_line(text, line, &most));
        if (csv_numbers(line, columns, xyz)) {
            cloud_add(out, xyz);
        } else if (first && csv_names(line, named)) {
            memcpy(columns, named, sizeof columns);
        } else {
            return cloud_error(text, first ? "not a point cloud: use PCD, PLY or lines of x, y, z"
                                           : "expected three numbers: x, y, z");
        }
    }
    return error_none();
}
