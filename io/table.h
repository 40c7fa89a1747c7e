// Tables as text, CSV or JSON.
#ifndef HOPSCOTCH_IO_TABLE_H
#define HOPSCOTCH_IO_TABLE_H

#include "../sim/sim.h"

#include <stdio.h>

// Formats of tables: name, word of --format. table.c has a case for each.
#define TABLE_FORMATS(X) X(TEXT, "table") X(CSV, "csv") X(JSON, "json") X(JSON_LINES, "jsonl")
#define TABLE_FORMAT(name, word) TABLE_##name,
typedef enum TableFormat { TABLE_FORMATS(TABLE_FORMAT) } TableFormat;
#undef TABLE_FORMAT
// A table is printed cell by cell, row after row. TABLE_TEXT aligns (numbers right, 6 significant digits), escapes
// control characters and on a terminal breaks the texts of its last column between words.
// CSV is RFC 4180 (but lines end in \n). JSON is an array of objects, one per line; JSON lines are
// the objects without the array. CSV and JSON print numbers that read back exactly. NaN and NULL are empty in CSV and
// null in JSON; infinity is inf in CSV and null in JSON. Memory does not grow with the number of rows: the first rows
// decide the widths of the columns. `names` must live as long as the table.
typedef struct Table Table;
Table *table_start(FILE *out, TableFormat format, int columns, const char *const *names); // NULL: see table_finish
void table_number(Table *table, double value);                                            // NaN: empty
void table_exact(Table *table, double value); // as table_number; TABLE_TEXT too prints a number that reads back exactly
void table_integer(Table *table, int64_t value);
// The value of a parameter: its word, if it has words (words.h), else as table_exact.
void table_value(Table *table, const char *words, double value);
void table_text(Table *table, const char *value); // NULL: empty
// Prints what is left, flushes `out` and frees the table. Error (machine): a write failed, or `table` is NULL because
// memory ran out.
Error table_finish(Table *table);

#endif
