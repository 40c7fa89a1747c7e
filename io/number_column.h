// Columns of numbers: what describes them, and a cell.
#ifndef HOPSCOTCH_IO_NUMBER_COLUMN_H
#define HOPSCOTCH_IO_NUMBER_COLUMN_H

#include "../sim/sim.h"

typedef enum NumberType { NUMBER_REAL, NUMBER_INTEGER } NumberType; // double, int64_t: 8 bytes each

// A column of a table. In HDF5 a dataset, in SQL a column of the type REAL, INTEGER or TEXT.
typedef struct NumberColumn {
    Field field; // name, unit, doc
    NumberType type;
    const char *const *words; // [n_words] texts that 0, 1, ... stand for, any other number for the last; NULL: numbers
    int n_words;
} NumberColumn;

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
