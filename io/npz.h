// NumPy's .npz, for numpy.load: one array per column.
#ifndef HOPSCOTCH_IO_NPZ_H
#define HOPSCOTCH_IO_NPZ_H

#include "../sim/sim.h"

#include <stdio.h>

// Doubles, int64_t, or texts of at most `width` characters; longer texts are cut.
typedef enum NpzType { NPZ_REAL, NPZ_INTEGER, NPZ_TEXT } NpzType;
typedef struct NpzColumn {
    const char *name;
    NpzType type;
    int width; // characters of a text
} NpzColumn;
typedef struct Npz Npz;
// Starts a file of `rows` values per column in `out`, which can be sought. The values of each column follow in the
// order of the rows; columns may be mixed. Error (machine): a write fails.
Error npz_open(FILE *out, const NpzColumn *columns, int n_columns, int64_t rows, Arena *arena, Npz **npz);
Error npz_real(Npz *npz, int column, double value);
Error npz_integer(Npz *npz, int column, int64_t value);
Error npz_text(Npz *npz, int column, const char *value);
// Writes the directory; `out` stays open. Error if a column has more or fewer than `rows` values.
Error npz_finish(Npz *npz);

#endif
