// See table_encoder.h.
#include "table_encoder.h"

#include "column_deflate.h"

#include <stdlib.h>
#include <string.h>

enum {
    DEFLATE_SAMPLE = 1 << 10, // rows that are tried first
    DEFLATE_WAITS = 15,       // files that are written before a column is tried again
    DEFLATE_LEAST = 512,      // bytes
    DEFLATE_KEPT = 8,         // a column keeps its slot until it needs fewer bytes by this factor
};

typedef struct TableEncoding {
    const TableEncoder *encoder;
    int64_t rows;
    const void *const *values; // [n_columns]
    bool compact;
    ColumnLayout *layouts; // [n_columns]
} TableEncoding;

// The bytes around the columns are the same in more files if the slot of a column is a power of two, and that of the
// file before: what is not used of it is zero.
static int64_t deflate_slot(const EncodedColumn *column, int64_t bytes)
{
    int64_t slot = DEFLATE_LEAST;
    while (slot < bytes) slot *= 2;
    return column->slot >= slot && column->slot <= DEFLATE_KEPT * slot ? column->slot : slot;
}

// out[rows * width / 2] <- the column, deflated. Returns its bytes in the file; 0: it does not get shorter by half.
static int64_t encode_deflated(EncodedColumn *column, const unsigned char *raw, int64_t rows, int64_t width,
                               unsigned char *out)
{
    const int64_t room = rows * width / 2, room_of_sample = DEFLATE_SAMPLE * width / 2;
    int64_t bytes = 0;
    if (column->waits > 0) {
        column->waits--;
        return 0;
    }
    if (column->slot > 0 || column_deflate(raw, DEFLATE_SAMPLE, width, out, room_of_sample) > 0)
        bytes = column_deflate(raw, rows, width, out, room);
    column->slot = bytes > 0 ? deflate_slot(column, bytes) : 0;
    if (column->slot == 0 || column->slot > room) {
        column->slot = 0;
        column->waits = DEFLATE_WAITS;
        return 0;
    }
    memset(out + bytes, 0, (size_t)(column->slot - bytes));
    return column->slot;
}

// The room of a column: integers of fewer bytes, then the deflated column. False: not enough memory.
static bool encode_take_room(EncodedColumn *column, int64_t rows, int64_t width)
{
    const size_t bytes = (size_t)(width < 8 ? rows * width : 0) + (size_t)(rows * width / 2);
    if (bytes <= column->bytes) return true;
    free(column->room);
    column->room = malloc(bytes);
    column->bytes = column->room != NULL ? bytes : 0;
    return column->room != NULL;
}

static void encode_compact(EncodedColumn *column, int64_t rows, ColumnLayout *layout)
{
    unsigned char *next = column->room;
    if (layout->width < 8) {
        column_narrow(column->stored, rows, layout->width, next);
        column->stored = next;
        next += rows * layout->width;
    }
    if (rows <= DEFLATED_ROWS) layout->deflated = encode_deflated(column, column->stored, rows, layout->width, next);
    if (layout->deflated > 0) column->stored = next;
}

// A column without room is stored as it is in memory.
static void encode_columns(void *context, int thread, int64_t first, int64_t end)
{
    const TableEncoding *encoding = context;
    const int64_t rows = encoding->rows;
    (void)thread;
    for (int64_t c = first; c < end; c++) {
        EncodedColumn *column = &encoding->encoder->encoded[c];
        ColumnLayout *layout = &encoding->layouts[c];
        column->stored = encoding->values[c];
        *layout = column_layout(&encoding->encoder->columns[c], column->stored, rows, encoding->compact);
        if (encoding->compact && layout->width > 0) {
            if (encode_take_room(column, rows, layout->width))
                encode_compact(column, rows, layout);
            else
                layout->width = 8;
        }
        layout->hash = column_hash(column->stored, (size_t)column_bytes(layout, rows));
    }
}

void table_encode(TableEncoder *encoder, ThreadTeam *team, int64_t rows, const void *const *values, bool compact,
                  ColumnLayout *layouts)
{
    TableEncoding encoding = {
        .encoder = encoder, .rows = rows, .values = values, .compact = compact, .layouts = layouts};
    thread_team_for(team, encoder->n_columns, 1, encode_columns, &encoding);
}

void table_encoder_free(const TableEncoder *encoder)
{
    for (int c = 0; c < encoder->n_columns; c++) free(encoder->encoded[c].room);
}
