// Parquet files: tables of columns that DuckDB, polars, pandas and Arrow read.
#ifndef HOPSCOTCH_IO_PARQUET_H
#define HOPSCOTCH_IO_PARQUET_H

#include "../sim/sim.h"

#include <stdio.h>

enum {
    PARQUET_ROWS = 1000000,     // most rows of a row group
    PARQUET_BYTES = 128 << 20,  // most memory of a row group, but for PARQUET_TEXT_MAX per column of texts
    PARQUET_TEXT_MAX = 1 << 16, // longest text, in bytes
    PARQUET_TEXT_BYTES = 16,    // of a text in memory, on average, with its length; longer ones end the group early
    PARQUET_BOUND_MAX = 32      // a column with a longer least or greatest text has no bounds
};

typedef enum ParquetType { PARQUET_INTEGER, PARQUET_REAL, PARQUET_TEXT } ParquetType; // INT64, DOUBLE, STRING
typedef struct ParquetColumn {
    const char *name;
    ParquetType type;
    bool required; // no value is missing
} ParquetColumn;
typedef struct ParquetNote {
    const char *key, *text;
} ParquetNote;

typedef struct Parquet Parquet;
// Starts a file in `out`, which is written in order. rows: about how many follow. The columns must outlive the writer.
Error parquet_open(FILE *out, const ParquetColumn *columns, int n_columns, int64_t rows, Arena *arena,
                   Parquet **out_file);
// The value of each column, in any order, and then parquet_next. NaN is a number: a missing one is parquet_null.
void parquet_null(Parquet *parquet, int column);
void parquet_integer(Parquet *parquet, int column, int64_t value);
void parquet_real(Parquet *parquet, int column, double value);
void parquet_text(Parquet *parquet, int column, const char *value); // bytes that are not UTF-8 become U+FFFD
// Ends a row. Error (machine): a write fails. Error (user): a text is too long.
Error parquet_next(Parquet *parquet);
// Writes the rest; `out` stays open. creator: "PROGRAM version VERSION". notes[n_notes]: metadata of the file.
Error parquet_finish(Parquet *parquet, const char *creator, const ParquetNote *notes, int n_notes);

#endif
