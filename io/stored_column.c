// See stored_column.h. Numbers are little-endian, in files as in memory.
#include "stored_column.h"

#include "column_deflate.h"
#include "file.h"
#include "system.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- how a column is stored -----------------------------------------------------------------------------------------

static bool column_is_constant(const Cell *cells, int64_t rows)
{
    int64_t differs = 0;
    if (cells[rows - 1].integer != cells[0].integer) return false;
    for (int64_t i = 0; i < rows; i++) differs |= cells[i].integer ^ cells[0].integer;
    return differs == 0;
}

// The least number of bytes that holds all integers.
static int64_t column_width(const Cell *cells, int64_t rows)
{
    uint64_t used = 0; // bits that differ from the sign
    for (int64_t i = 0; i < rows; i++) used |= (uint64_t)(cells[i].integer ^ (cells[i].integer >> 63));
    return used <= INT8_MAX ? 1 : used <= INT16_MAX ? 2 : used <= INT32_MAX ? 4 : 8;
}

static ColumnBounds column_bounds_of_integers(const Cell *cells, int64_t rows)
{
    int64_t least = cells[0].integer, greatest = least;
    for (int64_t i = 1; i < rows; i++) {
        least = cells[i].integer < least ? cells[i].integer : least;
        greatest = cells[i].integer > greatest ? cells[i].integer : greatest;
    }
    return (ColumnBounds){{.integer = least}, {.integer = greatest}};
}

enum { BOUNDS_LANES = 4 }; // so that no comparison waits for the one before it

// A comparison with NaN is false, and leaves a bound as it is.
static ColumnBounds column_bounds_of_reals(const Cell *cells, int64_t rows)
{
    double least[BOUNDS_LANES], greatest[BOUNDS_LANES];
    for (int k = 0; k < BOUNDS_LANES; k++) {
        least[k] = (double)INFINITY;
        greatest[k] = -(double)INFINITY;
    }
    for (int64_t i = 0; i < rows; i += BOUNDS_LANES) {
        for (int k = 0; k < BOUNDS_LANES; k++) {
            const double x = cells[i + k < rows ? i + k : i].real;
            least[k] = x < least[k] ? x : least[k];
            greatest[k] = x > greatest[k] ? x : greatest[k];
        }
    }
    for (int k = 1; k < BOUNDS_LANES; k++) {
        least[0] = least[k] < least[0] ? least[k] : least[0];
        greatest[0] = greatest[k] > greatest[0] ? greatest[k] : greatest[0];
    }
    return (ColumnBounds){{.real = least[0]}, {.real = greatest[0]}};
}

ColumnLayout column_layout(const NumberColumn *column, const Cell *cells, int64_t rows, bool encoded)
{
    const bool integer = column->type == NUMBER_INTEGER;
    ColumnLayout layout = {
        .width = 8, .bounds = integer ? column_bounds_of_integers(cells, rows) : column_bounds_of_reals(cells, rows)};
    if (encoded && column_is_constant(cells, rows)) {
        layout.width = 0;
        layout.value = cells[0];
    } else if (encoded && integer) {
        layout.width = column_width(cells, rows);
    }
    return layout;
}

int64_t column_bytes(const ColumnLayout *layout, int64_t rows)
{
    return layout->deflated > 0 ? layout->deflated : rows * layout->width;
}

bool column_layout_is_valid(const ColumnLayout *layout, NumberType type, int64_t rows, int64_t bytes)
{
    const int64_t width = layout->width;
    if (width == 0) return true;
    if (width != 8 && (type == NUMBER_REAL || (width != 4 && width != 2 && width != 1))) return false;
    if (layout->deflated != 0)
        return layout->offset >= 0 && layout->offset <= bytes && layout->deflated > 0 &&
               layout->deflated <= bytes - layout->offset && rows <= DEFLATED_ROWS &&
               rows * width / DEFLATED_RATIO <= layout->deflated;
    return layout->offset >= 0 && layout->offset <= bytes && rows <= (bytes - layout->offset) / width;
}

void column_narrow(const Cell *cells, int64_t rows, int64_t width, unsigned char *out)
{
    for (int64_t i = 0; i < rows; i++) memcpy(out + i * width, &cells[i].integer, (size_t)width);
}

uint64_t column_hash(const void *bytes, size_t size)
{
    ColumnHash hash;
    column_hash_start(&hash);
    column_hash_add(&hash, bytes, size);
    return column_hash_finish(&hash);
}

// ---- reading --------------------------------------------------------------------------------------------------------

// cells[rows] <- integers of `width` bytes. They may lie at the end of the cells: no cell covers a number that is still
// to be read.
static inline void column_widen(const unsigned char *raw, int64_t rows, int64_t width, Cell *cells)
{
    const int unused = (int)(64 - 8 * width);
    for (int64_t i = 0; i < rows; i++) {
        int64_t number = 0;
        memcpy(&number, raw + i * width, (size_t)width);
        cells[i].integer = (int64_t)((uint64_t)number << unused) >> unused;
    }
}

static void column_take(const unsigned char *raw, int64_t rows, int64_t width, Cell *cells)
{
    switch (width) { // that the compiler knows
    case 1: column_widen(raw, rows, 1, cells); break;
    case 2: column_widen(raw, rows, 2, cells); break;
    case 4: column_widen(raw, rows, 4, cells); break;
    default:
        if (raw != (const unsigned char *)cells) memcpy(cells, raw, (size_t)rows * sizeof *cells);
    }
}

Error column_read(int file, const char *path, const ColumnLayout *layout, int64_t first, int64_t rows, Cell *cells,
                  ColumnHash *hash)
{
    const int64_t width = layout->width;
    unsigned char *raw = (unsigned char *)cells + rows * (8 - width);
    if (width == 0) {
        for (int64_t i = 0; i < rows; i++) cells[i] = layout->value;
        return error_none();
    }
    TRY(file_read_at(file, path, layout->offset + first * width, raw, (size_t)(rows * width)));
    if (hash != NULL) column_hash_add(hash, raw, (size_t)(rows * width));
    column_take(raw, rows, width, cells);
    return error_none();
}

// raw[rows * width], then the shuffled bytes, then those of the file
Error column_read_deflated(int file, const char *path, const ColumnLayout *layout, int64_t rows, Cell *cells,
                           ColumnHash *hash)
{
    const size_t size = (size_t)(rows * layout->width), stored = (size_t)layout->deflated;
    unsigned char *raw = malloc(2 * size + stored);
    if (raw == NULL) return error_make(ERROR_MEMORY, "not enough memory for a column of %.300s", path_text(path).text);
    Error error = file_read_at(file, path, layout->offset, raw + 2 * size, stored);
    if (error.kind == OK && hash != NULL) column_hash_add(hash, raw + 2 * size, stored);
    if (error.kind == OK && !column_inflate(raw + 2 * size, (int64_t)stored, rows, layout->width, raw + size, raw))
        error = error_make(ERROR_MACHINE, "a column of %.300s is damaged: it can't be inflated", path_text(path).text);
    if (error.kind == OK) column_take(raw, rows, layout->width, cells);
    free(raw);
    return error;
}

Error column_compare(int file, const char *path, const ColumnLayout *layout, int64_t rows, bool *same)
{
    enum { BUFFER = 1 << 15 };
    unsigned char buffer[BUFFER];
    ColumnHash hash;
    const int64_t size = column_bytes(layout, rows);
    column_hash_start(&hash);
    for (int64_t at = 0; at < size; at += BUFFER) {
        const int64_t n = size - at < BUFFER ? size - at : BUFFER;
        TRY(file_read_at(file, path, layout->offset + at, buffer, (size_t)n));
        column_hash_add(&hash, buffer, (size_t)n);
    }
    *same = column_hash_finish(&hash) == layout->hash;
    return error_none();
}
