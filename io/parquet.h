// Parquet files: tables of columns that DuckDB, polars, pandas and Arrow read.
#ifndef HOPSCOTCH_IO_PARQUET_H
#define HOPSCOTCH_IO_PARQUET_H

#include "../sim/sim.h"

#include <stdio.h>

typedef enum ParquetType { PARQUET_INTEGER, PARQUET_REAL, PARQUET_TEXT } ParquetType; // INT64, DOUBLE, STRING
typedef struct ParquetColumn {
    const char *name;
    ParquetType type;
    bool required; // no value is missing
} ParquetColumn;
typedef struct ParquetNote {
    const char *key, *text;
} ParquetNote;

// A file that is written in order: row groups, column by column.
typedef struct Parquet Parquet;
enum { PARQUET_ROWS = 1000000 }; // most rows of a row group
Error parquet_open(FILE *out, const ParquetColumn *columns, int n_columns, Arena *arena, Parquet **out_file);
// Writes the next column of a row group; behind the last column a new group begins. values[rows], which are
// overwritten; NaN: missing. An integer is at most 2^53; a text is the number of a word. Bytes that are not UTF-8
// become U+FFFD. Error (machine): a write fails.
Error parquet_put(Parquet *parquet, int64_t rows, double *values, const char *const *words, int n_words);
// Writes the metadata; `out` stays open. creator: "PROGRAM version VERSION". notes[n_notes]: metadata of the file.
Error parquet_finish(Parquet *parquet, const char *creator, const ParquetNote *notes, int n_notes);

#endif
