// Columns of numbers in memory, shards and SQL.
#ifndef HOPSCOTCH_IO_NUMBER_COLUMN_H
#define HOPSCOTCH_IO_NUMBER_COLUMN_H

#include "../sim/sim.h"

typedef enum NumberType { NUMBER_REAL, NUMBER_INTEGER } NumberType; // double, int64_t: 8 bytes each

// Describes a column of a table: a dataset in HDF5; a column of the type REAL, INTEGER or TEXT in SQL.
typedef struct NumberColumn {
    Field field; // name, unit, doc
    NumberType type;
    const char *const *words; // [n_words] texts of 0, 1, ...; the last one for all other numbers; NULL: no texts
    int n_words;
} NumberColumn;

// The text of a number in a column that has words.
static inline const char *number_word(const NumberColumn *column, int64_t number)
{
    return column->words[number >= 0 && number < column->n_words ? number : column->n_words - 1];
}

// A cell of a column of numbers: the 8 bytes of a double or of an int64_t.
typedef union Cell {
    double real; // NaN: NULL
    int64_t integer;
} Cell;

#endif
