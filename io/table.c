// Tables of results, cell by cell: aligned text for people, CSV and JSON for programs. Text needs its column widths
// before the first line is printed. They come from the cells that fit in one buffer; wider cells that come later stick
// out. So a table of ten million rows takes no more memory than one of ten.
#include "table.h"

#include "characters.h"
#include "file.h"
#include "json.h"
#include "terminal.h"
#include "text.h"
#include "words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TABLE_BUFFER_SIZE = 128 * 1024, TABLE_TEXT_WIDTH_MIN = 24, TABLE_INDENT = 4 };

typedef struct TableColumn {
    int width;    // characters
    bool numeric; // aligned right; so is an empty cell in it
} TableColumn;

struct Table {
    FILE *out;
    TableFormat format;
    int n_columns, column; // column: of the next cell
    int64_t rows;          // finished ones
    const char *const *names;
    TableColumn *columns; // [n_columns]
    bool settled;         // TABLE_TEXT: widths are fixed and the header is printed
    int before, breaks;   // characters before the last column; where its texts are broken, 0: nowhere
    Json json;
    size_t used; // bytes of buffer
    // cells that wait for the widths: 'n' (number) or 't' (text), then the text with its NUL
    char buffer[TABLE_BUFFER_SIZE];
};

// A spreadsheet would run a text that begins like a formula, so an apostrophe is put before it. This program writes no
// such text, but a spec may come from another person.
static void table_csv_text(FILE *out, const char *text)
{
    if (text[0] != '\0' && strchr("=+-@\t\r", text[0]) != NULL) {
        fputs("\"'", out);
        for (; *text != '\0'; text++) fputs(*text == '"' ? "\"\"" : (char[]){*text, '\0'}, out);
        fputc('"', out);
        return;
    }
    if (strpbrk(text, ",\"\r\n") == NULL) {
        fputs(text, out);
        return;
    }
    fputc('"', out);
    for (; *text != '\0'; text++) {
        if (*text == '"') fputc('"', out);
        fputc(*text, out);
    }
    fputc('"', out);
}

Table *table_start(FILE *out, TableFormat format, int columns, const char *const *names)
{
    Table *table = calloc(1, sizeof *table);
    if (table == NULL) return NULL;
    table->columns = calloc((size_t)columns + 1, sizeof *table->columns);
    if (table->columns == NULL) {
        free(table);
        return NULL;
    }
    table->out = out;
    table->format = format;
    table->n_columns = columns;
    table->names = names;
    switch (format) {
    case TABLE_CSV:
        for (int i = 0; i < columns; i++) {
            if (i > 0) fputc(',', out);
            table_csv_text(out, names[i]);
        }
        fputc('\n', out);
        break;
    case TABLE_JSON: fputc('[', out); break;
    case TABLE_TEXT:
    case TABLE_JSON_LINES: break;
    }
    return table;
}

// ---- aligned text ---------------------------------------------------------------------------------------------------

static int table_characters(const char *text) { return utf8_count(text, strlen(text)); }

// In one line, with unsafe characters as codes (io/characters.c). Cut with "..." at `size`.
static void table_escape(const char *text, char *escaped, size_t size)
{
    static const char breaks[] = "\n\t\r", *const shown[] = {"\\n", "\\t", "\\r"};
    size_t used = 0;
    for (Glyph glyph; *text != '\0'; text += glyph.bytes) {
        const char *is_break = strchr(breaks, *text);
        glyph = glyph_read(text);
        if (used + sizeof glyph.text > size) {
            strcpy(escaped + used, "...");
            return;
        }
        used = (size_t)(stpcpy(escaped + used, is_break != NULL ? shown[is_break - breaks] : glyph.text) - escaped);
    }
    escaped[used] = '\0';
}

typedef struct TableTitle {
    char text[256];
} TableTitle;

static TableTitle table_title(const Table *table, int column)
{
    TableTitle title;
    table_escape(table->names[column], title.text, sizeof title.text);
    return title;
}

// Broken on a terminal: beside the other cells, or below them where they leave too little room.
static void table_print_last(const Table *table, const char *text)
{
    int indent = table->before;
    const bool wide = table->breaks > 0 && indent + table_characters(text) > table->breaks;
    if (wide && table->breaks - indent < TABLE_TEXT_WIDTH_MIN) {
        indent = TABLE_INDENT;
        fprintf(table->out, "\n%*s", indent, "");
    }
    if (wide)
        terminal_paragraph(table->out, text, indent, table->breaks);
    else
        fputs(text, table->out);
}

static void table_print_cell(const Table *table, int column, const char *text)
{
    const TableColumn *shape = &table->columns[column];
    const int padding = shape->width - table_characters(text);
    const bool last = column + 1 == table->n_columns;
    if (column > 0) fputs("  ", table->out);
    if (shape->numeric && padding > 0) fprintf(table->out, "%*s", padding, "");
    if (last)
        table_print_last(table, text);
    else
        fputs(text, table->out);
    if (!shape->numeric && padding > 0 && !last) fprintf(table->out, "%*s", padding, "");
    if (last) fputc('\n', table->out);
}

static void table_measure(Table *table)
{
    for (int i = 0; i < table->n_columns; i++) table->columns[i].width = table_characters(table_title(table, i).text);
    int column = 0;
    for (const char *cell = table->buffer; cell < table->buffer + table->used; cell += strlen(cell) + 1) {
        TableColumn *shape = &table->columns[column];
        const int width = table_characters(cell + 1);
        if (width > shape->width) shape->width = width;
        if (*cell == 'n') shape->numeric = true;
        column = (column + 1) % table->n_columns;
    }
    for (int i = 0; i + 1 < table->n_columns; i++) table->before += table->columns[i].width + 2;
    if (!table->columns[table->n_columns - 1].numeric) table->breaks = terminal_breaks(table->out);
}

// Fixes the widths, prints the header and the cells that waited.
static void table_settle(Table *table)
{
    if (table->settled || table->n_columns == 0) return;
    table->settled = true;
    table_measure(table);
    const bool colour = terminal_colour(table->out);
    if (colour) fputs("\033[1m", table->out);
    for (int i = 0; i < table->n_columns; i++) table_print_cell(table, i, table_title(table, i).text);
    if (colour) fputs("\033[22m", table->out);
    int column = 0;
    for (const char *cell = table->buffer; cell < table->buffer + table->used; cell += strlen(cell) + 1) {
        table_print_cell(table, column, cell + 1);
        column = (column + 1) % table->n_columns;
    }
}

static void table_text_cell(Table *table, char kind, const char *text)
{
    const size_t size = strlen(text) + 2;
    if (!table->settled && table->used + size > sizeof table->buffer) table_settle(table);
    if (table->settled) {
        table_print_cell(table, table->column, text);
        return;
    }
    table->buffer[table->used] = kind;
    memcpy(table->buffer + table->used + 1, text, size - 1);
    table->used += size;
}

// ---- cells ----------------------------------------------------------------------------------------------------------

static void table_object(Table *table)
{
    json_start(&table->json, table->out, false);
    json_object(&table->json, NULL);
}

// What stands before a cell; returns its name.
static const char *table_name(Table *table)
{
    const bool first = table->column == 0;
    switch (table->format) {
    case TABLE_CSV:
        if (!first) fputc(',', table->out);
        break;
    case TABLE_JSON:
        if (first) fputs(table->rows > 0 ? ",\n" : "\n", table->out);
        if (first) table_object(table);
        break;
    case TABLE_JSON_LINES:
        if (first) table_object(table);
        break;
    case TABLE_TEXT: break;
    }
    return table->names[table->column];
}

static void table_next(Table *table)
{
    if (++table->column < table->n_columns) return;
    table->column = 0;
    table->rows++;
    switch (table->format) {
    case TABLE_CSV: fputc('\n', table->out); break;
    case TABLE_JSON: json_close(&table->json, '}'); break;
    case TABLE_JSON_LINES:
        json_close(&table->json, '}');
        fputc('\n', table->out);
        break;
    case TABLE_TEXT: break;
    }
}

static void table_number_cell(Table *table, double value, bool exact)
{
    if (table == NULL) return;
    const char *name = table_name(table);
    Text32 text = text_number(value);
    switch (table->format) {
    case TABLE_TEXT:
        if (!exact) snprintf(text.text, sizeof text.text, "%.6g", value);
        table_text_cell(table, 'n', isnan(value) ? "-" : text.text);
        break;
    case TABLE_JSON:
    case TABLE_JSON_LINES: json_number(&table->json, name, value); break;
    case TABLE_CSV:
        if (!isnan(value)) fputs(text.text, table->out);
        break;
    }
    table_next(table);
}

void table_number(Table *table, double value) { table_number_cell(table, value, false); }

void table_exact(Table *table, double value) { table_number_cell(table, value, true); }

void table_value(Table *table, const char *words, double value)
{
    if (words != NULL)
        table_text(table, value_text(words, value).text);
    else
        table_exact(table, value);
}

void table_integer(Table *table, int64_t value)
{
    if (table == NULL) return;
    const char *name = table_name(table);
    char text[32];
    snprintf(text, sizeof text, "%lld", (long long)value);
    switch (table->format) {
    case TABLE_TEXT: table_text_cell(table, 'n', text); break;
    case TABLE_JSON:
    case TABLE_JSON_LINES: json_integer(&table->json, name, value); break;
    case TABLE_CSV: fputs(text, table->out); break;
    }
    table_next(table);
}

void table_text(Table *table, const char *value)
{
    if (table == NULL) return;
    const char *name = table_name(table);
    char escaped[1024];
    switch (table->format) {
    case TABLE_TEXT:
        table_escape(value != NULL ? value : "-", escaped, sizeof escaped);
        table_text_cell(table, 't', escaped);
        break;
    case TABLE_JSON:
    case TABLE_JSON_LINES: json_text(&table->json, name, value); break;
    case TABLE_CSV:
        if (value != NULL) table_csv_text(table->out, value);
        break;
    }
    table_next(table);
}

Error table_finish(Table *table)
{
    if (table == NULL) return error_make(ERROR_MACHINE, "not enough memory for a table");
    switch (table->format) {
    case TABLE_TEXT: table_settle(table); break;
    case TABLE_JSON: fputs(table->rows > 0 ? "\n]\n" : "]\n", table->out); break;
    case TABLE_CSV:
    case TABLE_JSON_LINES: break;
    }
    const bool broken = fflush(table->out) != 0 || ferror(table->out) != 0;
    const Error error = broken ? file_unwritten("the table") : error_none();
    free(table->columns);
    free(table);
    return error;
}
