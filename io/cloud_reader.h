// What the readers of point clouds share: a cursor over the file's bytes, the types of numbers, and where the
// coordinates stand in a row.
#ifndef HOPSCOTCH_CLOUD_H
#define HOPSCOTCH_CLOUD_H

#include "cloud.h"

// A file in memory. Bytes from `end` on are not read, except the NUL there.
typedef struct CloudText {
    const char *name; // of the file, for messages
    const char *start, *at, *end;
    int line; // of `at`, from 1
    bool cut; // the line that was read last is longer than the memory for it
} CloudText;

// A number in a binary row.
typedef enum CloudKind { CLOUD_SIGNED, CLOUD_UNSIGNED, CLOUD_FLOAT } CloudKind;

typedef struct CloudField {
    CloudKind kind;
    int size; // bytes: 1, 2, 4 or 8
} CloudField;

// Rows of numbers, of which three are the coordinates.
typedef struct CloudRows {
    int64_t points;
    int columns;   // numbers in a row of text
    int column[3]; // of x, y, z among them
    CloudField field[3];
    size_t offset[3]; // bytes into a binary row
    size_t stride;    // bytes of a binary row
    bool big_endian;
    bool followed; // other elements stand behind the points
} CloudRows;

// "name:line: ..." as an error of the user's
Error cloud_error(const CloudText *text, const char *format, ...) PRINTF_LIKE(2, 3);
// The next line, without its end (\n or \r\n), cut to `size`. False at the end of the file.
bool cloud_line(CloudText *text, char *line, size_t size);
// Error: the line was cut, so its end is not known.
Error cloud_check_line(const CloudText *text);
// Reads all of `word` as an integer >= 0. Error: it is not one, or is greater than CLOUD_POINTS_MAX.
Error cloud_count(const CloudText *text, const char *what, const char *word, int64_t *count);
// cloud_begin takes memory for `points` points. cloud_add adds one, or counts it as dropped.
Error cloud_begin(int64_t points, CloudFile *out);
void cloud_add(CloudFile *out, const double *xyz);
// Read points from the cursor on: rows of text, or binary rows.
Error cloud_text_rows(CloudText *text, const CloudRows *rows, CloudFile *out);
Error cloud_binary_rows(CloudText *text, const CloudRows *rows, CloudFile *out);
// Checks `there` bytes at the cursor, of which the points take `used`. Error: they are text, or more points follow.
Error cloud_check_binary(const CloudText *text, const CloudRows *rows, size_t there, size_t used);
// Reads binary columns, one after the other: data[rows->points * stride] bytes.
Error cloud_binary_columns(const unsigned char *data, const CloudRows *rows, CloudFile *out);

// The readers of each format. X_claims: the file begins as format X does. X_read: reads it.
bool pcd_claims(const CloudText *text);
Error pcd_read(CloudText *text, CloudFile *out);
bool ply_claims(const CloudText *text);
Error ply_read(CloudText *text, CloudFile *out);
bool csv_claims(const CloudText *text);
Error csv_read(CloudText *text, CloudFile *out);

#endif
