// NumPy's .npz.
#ifndef HOPSCOTCH_IO_NPZ_H
#define HOPSCOTCH_IO_NPZ_H

#include "../sim/sim.h"

#include <stdio.h>

// NumPy's .npz for numpy.load: one array per column. A column holds `rows` doubles, integers or texts of at most
// `width` characters, which are put in order.
typedef enum NpzType { NPZ_REAL, NPZ_INTEGER, NPZ_TEXT } NpzType;
typedef struct NpzColumn {
    const char *name;
    NpzType type;
    int width; // of a text
} NpzColumn;
typedef struct Npz Npz;
Error npz_open(FILE *out, const NpzColumn *columns, int n_columns, int64_t rows, Arena *arena, Npz **npz);
Error npz_real(Npz *npz, int column, double value);
Error npz_integer(Npz *npz, int column, int64_t value);
Error npz_text(Npz *npz, int column, const char *value);
Error npz_finish(Npz *npz); // writes the directory; the stream stays open

#endif
