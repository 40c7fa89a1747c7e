// Recorded numbers of binary files: NumPy's .npz, and the joint topics of MCAP. A file is listed first; then the
// numbers of the columns that are wanted are decoded. Nothing is allocated for what a file only announces.
#ifndef HOPSCOTCH_IO_RECORDED_H
#define HOPSCOTCH_IO_RECORDED_H

#include "file.h"

// At most, of a file: columns, and numbers that are decoded at a time.
enum { RECORDED_COLUMNS_MAX = 65536, RECORDED_NUMBERS_MAX = 1 << 24 };

typedef struct RecordedColumn {
    const char *name;
    const char *why;     // it has no numbers: "its type is '<U8'"; NULL: it has
    int64_t count;       // values
    int32_t array, item; // where the reader finds it
} RecordedColumn;

typedef struct RecordedFile {
    Arena arena;             // owns all but the bytes
    const char *format, *of; // "npz" and the file's name, for messages
    Bytes data;
    const RecordedColumn *columns; // [count]
    int count;
    const void *own; // of the reader
    // Names of clocks, ended by NULL: each column has times of its own by one of them. NULL: columns are arrays, and
    // one of them is the time
    const char *const *clocks;
    // The numbers of a column, value[count]; NaN: a gap. With clocks its times, time[count] (s), which increase
    Error (*load)(const struct RecordedFile *file, int column, int clock, Arena *arena, const double **value,
                  const double **time);
} RecordedFile;

// Whether the bytes are of such a file. Reads what it has; `data` must stay. Error (user): the file is damaged, or has
// what is not read.
bool recorded_claims(Bytes data);
Error recorded_open(const char *name, Bytes data, RecordedFile *file);
void recorded_close(RecordedFile *file);

// ---- for the readers ------------------------------------------------------------------------------------------------

Error recorded_npz(RecordedFile *file);
Error recorded_mcap(RecordedFile *file);

// Bytes that are read one after the other, least byte first. `bad`: something was beyond the end; reads give 0 then.
typedef struct RecordedBytes {
    const unsigned char *at, *end;
    bool bad;
} RecordedBytes;
uint64_t recorded_number(RecordedBytes *bytes, int size);
// The next `size` bytes; NULL, and bad: there are fewer.
const unsigned char *recorded_take(RecordedBytes *bytes, uint64_t size);
// A number of `size` bytes; kind: 'f', 'i', 'u' or 'b'.
double recorded_value(const unsigned char *at, char kind, int size, bool big_endian);

#endif
