// Parquet without compression: one page per column and row group, encoded PLAIN; missing values by definition levels;
// bounds and the number of missing values for every column of a row group. Readers skip row groups by the bounds.
//
// Sources: apache/parquet-format 2.10: README.md (the file), Encodings.md (PLAIN, RLE), parquet.thrift (metadata, and
// the rules for bounds of reals); thrift-compact-protocol.md of Apache Thrift.
#include "parquet.h"

#include "characters.h"
#include "file.h"

#include <math.h>
#include <string.h>

// The numbers of parquet.thrift.
enum {
    PARQUET_INT64 = 2,
    PARQUET_DOUBLE = 5,
    PARQUET_BYTE_ARRAY = 6,
    PARQUET_REQUIRED = 0,
    PARQUET_OPTIONAL = 1,
    PARQUET_UTF8 = 0,
    PARQUET_PLAIN = 0,
    PARQUET_RLE = 3,
    PARQUET_DATA_PAGE = 0,
    PARQUET_UNCOMPRESSED = 0
};

// ---- Thrift's compact protocol --------------------------------------------------------------------------------------
// A field of a struct is its type and the difference of its id to that of the field before.

enum { THRIFT_I32 = 5, THRIFT_I64 = 6, THRIFT_BINARY = 8, THRIFT_LIST = 9, THRIFT_STRUCT = 12, THRIFT_DEPTH = 8 };

typedef struct Thrift {
    FILE *out;
    int64_t written;         // bytes of the file
    int field[THRIFT_DEPTH]; // the last id in each open struct
    int depth;
} Thrift;

static void thrift_bytes(Thrift *to, const void *data, size_t size)
{
    fwrite(data, 1, size, to->out); // errors: parquet_written
    to->written += (int64_t)size;
}

static void thrift_byte(Thrift *to, int byte) { thrift_bytes(to, &(unsigned char){(unsigned char)byte}, 1); }

static void thrift_varint(Thrift *to, uint64_t value)
{
    for (; value > 0x7f; value >>= 7) thrift_byte(to, (int)(value & 0x7f) | 0x80);
    thrift_byte(to, (int)value);
}

static void thrift_zigzag(Thrift *to, int64_t value)
{
    thrift_varint(to, ((uint64_t)value << 1) ^ (uint64_t)(value >> 63));
}

static void thrift_field(Thrift *to, int id, int type)
{
    const int step = id - to->field[to->depth];
    thrift_byte(to, step > 0 && step < 16 ? step << 4 | type : type);
    if (step <= 0 || step >= 16) thrift_zigzag(to, id);
    to->field[to->depth] = id;
}

static void thrift_i32(Thrift *to, int id, int64_t value)
{
    thrift_field(to, id, THRIFT_I32);
    thrift_zigzag(to, value);
}

static void thrift_i64(Thrift *to, int id, int64_t value)
{
    thrift_field(to, id, THRIFT_I64);
    thrift_zigzag(to, value);
}

static void thrift_text(Thrift *to, const void *text, size_t size)
{
    thrift_varint(to, size);
    thrift_bytes(to, text, size);
}

static void thrift_binary(Thrift *to, int id, const void *text, size_t size)
{
    thrift_field(to, id, THRIFT_BINARY);
    thrift_text(to, text, size);
}

static void thrift_list(Thrift *to, int id, int type, int64_t count)
{
    thrift_field(to, id, THRIFT_LIST);
    thrift_byte(to, count < 15 ? (int)count << 4 | type : 0xf0 | type);
    if (count >= 15) thrift_varint(to, (uint64_t)count);
}

// A struct as an item of a list; as a field.
static void thrift_open_item(Thrift *to) { to->field[++to->depth] = 0; }

static void thrift_open(Thrift *to, int id)
{
    thrift_field(to, id, THRIFT_STRUCT);
    thrift_open_item(to);
}

static void thrift_close(Thrift *to)
{
    thrift_byte(to, 0);
    to->depth--;
}

// ---- columns --------------------------------------------------------------------------------------------------------

// A column of a row group that is in the file.
typedef struct ParquetChunk {
    int64_t offset, bytes, nulls;
    unsigned char least[PARQUET_BOUND_MAX], greatest[PARQUET_BOUND_MAX]; // as PLAIN has them, without a length
    int least_size, greatest_size;                                       // 0 and `bounded`: an empty text
    bool bounded;
} ParquetChunk;

typedef struct ParquetGroup {
    struct ParquetGroup *next;
    int64_t rows;
    ParquetChunk *chunks; // [n_columns]
} ParquetGroup;

// The values of a column in the row group that is being filled.
typedef struct ParquetBuffer {
    unsigned char *values; // PLAIN
    unsigned char *there;  // a bit per row: its definition level
    int64_t used, size;    // bytes of `values`
    int64_t count;         // values that are there
} ParquetBuffer;

struct Parquet {
    Thrift out;
    const ParquetColumn *columns;
    ParquetBuffer *buffers; // [n_columns]
    int n_columns;
    int64_t row, rows_most, rows; // in this group, at most; in the file
    ParquetGroup *groups, **last;
    int n_groups;
    int too_long; // column with a text that is; -1: none
    Arena *arena;
};

static int parquet_bytes_of(const ParquetColumn *column)
{
    return column->type == PARQUET_TEXT ? PARQUET_TEXT_BYTES : (int)sizeof(double);
}

Error parquet_open(FILE *out, const ParquetColumn *columns, int n_columns, int64_t rows, Arena *arena,
                   Parquet **out_file)
{
    Parquet *parquet = ARENA_NEW(arena, Parquet, 1);
    int64_t row_bytes = 1;
    for (int c = 0; c < n_columns; c++) row_bytes += parquet_bytes_of(&columns[c]);
    int64_t most = PARQUET_BYTES / row_bytes < PARQUET_ROWS ? PARQUET_BYTES / row_bytes : PARQUET_ROWS;
    if (rows < most) most = rows;
    *parquet = (Parquet){.out = {.out = out},
                         .columns = columns,
                         .buffers = ARENA_NEW(arena, ParquetBuffer, n_columns),
                         .n_columns = n_columns,
                         .rows_most = most > 0 ? most : 1,
                         .too_long = -1,
                         .arena = arena};
    parquet->last = &parquet->groups;
    for (int c = 0; c < n_columns; c++) {
        ParquetBuffer *buffer = &parquet->buffers[c];
        buffer->size = parquet->rows_most * parquet_bytes_of(&columns[c]);
        if (columns[c].type == PARQUET_TEXT) buffer->size += PARQUET_TEXT_MAX + 4;
        buffer->values = ARENA_NEW(arena, unsigned char, buffer->size);
        buffer->there = ARENA_NEW(arena, unsigned char, parquet->rows_most / 8 + 1);
    }
    thrift_bytes(&parquet->out, "PAR1", 4);
    *out_file = parquet;
    return error_none();
}

static void parquet_level(const Parquet *parquet, ParquetBuffer *buffer, int level)
{
    unsigned char *byte = &buffer->there[parquet->row / 8];
    const int bit = 1 << parquet->row % 8;
    *byte = (unsigned char)(level > 0 ? *byte | bit : *byte & ~bit);
    buffer->count += level;
}

void parquet_null(Parquet *parquet, int column) { parquet_level(parquet, &parquet->buffers[column], 0); }

static void parquet_number(Parquet *parquet, int column, const void *number) // x86-64 is little-endian, as PLAIN is
{
    ParquetBuffer *buffer = &parquet->buffers[column];
    parquet_level(parquet, buffer, 1);
    memcpy(buffer->values + buffer->used, number, 8);
    buffer->used += 8;
}

void parquet_integer(Parquet *parquet, int column, int64_t value) { parquet_number(parquet, column, &value); }

void parquet_real(Parquet *parquet, int column, double value) { parquet_number(parquet, column, &value); }

// out[most] <- the text in UTF-8; returns its length, or -1 if it is longer.
static int parquet_utf8(const char *text, unsigned char *out, int most)
{
    int size = 0;
    for (uint32_t character; *text != '\0';) {
        const int bytes = utf8_read(text, &character);
        const char *from = bytes > 0 ? text : "\xef\xbf\xbd"; // U+FFFD
        const int n = bytes > 0 ? bytes : 3;
        if (size + n > most) return -1;
        memcpy(out + size, from, (size_t)n);
        size += n;
        text += bytes > 0 ? bytes : 1;
    }
    return size;
}

void parquet_text(Parquet *parquet, int column, const char *value)
{
    ParquetBuffer *buffer = &parquet->buffers[column];
    unsigned char *at = buffer->values + buffer->used;
    const int size = parquet_utf8(value, at + 4, PARQUET_TEXT_MAX);
    const int32_t length = size > 0 ? size : 0;
    if (size < 0) parquet->too_long = column;
    parquet_level(parquet, buffer, 1);
    memcpy(at, &length, 4);
    buffer->used += 4 + length;
}

// ---- bounds ---------------------------------------------------------------------------------------------------------

// parquet.thrift: NaN is no bound; a zero is -0 as the least and +0 as the greatest, because readers may take both for
// equal.
static void parquet_bound_reals(const ParquetBuffer *buffer, ParquetChunk *chunk)
{
    const double *values = (const double *)(const void *)buffer->values;
    double least = INFINITY, greatest = -INFINITY;
    for (int64_t i = 0; i < buffer->count; i++) {
        least = values[i] < least ? values[i] : least;
        greatest = values[i] > greatest ? values[i] : greatest;
    }
    for (int64_t i = 0; i < buffer->count && !chunk->bounded; i++) chunk->bounded = values[i] == values[i];
    if (least == 0) least = -0.0;
    if (greatest == 0) greatest = 0.0;
    memcpy(chunk->least, &least, sizeof least);
    memcpy(chunk->greatest, &greatest, sizeof greatest);
    chunk->least_size = chunk->greatest_size = sizeof(double);
}

static void parquet_bound_integers(const ParquetBuffer *buffer, ParquetChunk *chunk)
{
    const int64_t *values = (const int64_t *)(const void *)buffer->values;
    int64_t least = INT64_MAX, greatest = INT64_MIN;
    for (int64_t i = 0; i < buffer->count; i++) {
        least = values[i] < least ? values[i] : least;
        greatest = values[i] > greatest ? values[i] : greatest;
    }
    chunk->bounded = buffer->count > 0;
    memcpy(chunk->least, &least, sizeof least);
    memcpy(chunk->greatest, &greatest, sizeof greatest);
    chunk->least_size = chunk->greatest_size = sizeof(int64_t);
}

static int parquet_compare_texts(const unsigned char *a, int32_t a_size, const unsigned char *b, int32_t b_size)
{
    const int order = memcmp(a, b, (size_t)(a_size < b_size ? a_size : b_size));
    return order != 0 ? order : (a_size > b_size) - (a_size < b_size);
}

// In the order of their bytes, which are unsigned.
static void parquet_bound_texts(const ParquetBuffer *buffer, ParquetChunk *chunk)
{
    const unsigned char *least = NULL, *greatest = NULL;
    int32_t least_size = 0, greatest_size = 0, size;
    for (const unsigned char *at = buffer->values; at < buffer->values + buffer->used; at += 4 + size) {
        memcpy(&size, at, 4);
        if (least == NULL || parquet_compare_texts(at + 4, size, least, least_size) < 0) {
            least = at + 4;
            least_size = size;
        }
        if (greatest == NULL || parquet_compare_texts(at + 4, size, greatest, greatest_size) > 0) {
            greatest = at + 4;
            greatest_size = size;
        }
    }
    if (least == NULL || least_size > PARQUET_BOUND_MAX || greatest_size > PARQUET_BOUND_MAX) return;
    chunk->bounded = true;
    memcpy(chunk->least, least, (size_t)least_size);
    memcpy(chunk->greatest, greatest, (size_t)greatest_size);
    chunk->least_size = least_size;
    chunk->greatest_size = greatest_size;
}

static void parquet_bound(ParquetType type, const ParquetBuffer *buffer, ParquetChunk *chunk)
{
    switch (type) {
    case PARQUET_INTEGER: parquet_bound_integers(buffer, chunk); break;
    case PARQUET_REAL: parquet_bound_reals(buffer, chunk); break;
    case PARQUET_TEXT: parquet_bound_texts(buffer, chunk); break;
    }
}

// ---- row groups -----------------------------------------------------------------------------------------------------

// The definition levels of a page in the hybrid of runs and packed bits, of one bit each, behind their length. One run
// if all are equal; else the bits, of a multiple of eight levels.
static int parquet_levels_size(const ParquetBuffer *buffer, int64_t rows, unsigned char head[16], int64_t *packed)
{
    const bool run = buffer->count == 0 || buffer->count == rows;
    int size = 4;
    *packed = run ? 0 : (rows + 7) / 8;
    uint64_t varint = run ? (uint64_t)rows << 1 : (uint64_t)*packed << 1 | 1;
    for (; varint > 0x7f; varint >>= 7) head[size++] = (unsigned char)((varint & 0x7f) | 0x80);
    head[size++] = (unsigned char)varint;
    if (run) head[size++] = buffer->count > 0;
    const int32_t length = (int32_t)(size - 4 + *packed);
    memcpy(head, &length, 4);
    return size;
}

static void parquet_put_page_header(Thrift *to, int64_t bytes, int64_t rows)
{
    thrift_open_item(to); // PageHeader
    thrift_i32(to, 1, PARQUET_DATA_PAGE);
    thrift_i32(to, 2, bytes); // uncompressed
    thrift_i32(to, 3, bytes);
    thrift_open(to, 5); // DataPageHeader
    thrift_i32(to, 1, rows);
    thrift_i32(to, 2, PARQUET_PLAIN);
    thrift_i32(to, 3, PARQUET_RLE); // definition levels
    thrift_i32(to, 4, PARQUET_RLE); // repetition levels, of which there are none
    thrift_close(to);
    thrift_close(to);
}

static void parquet_put_chunk(Parquet *parquet, int column, ParquetChunk *chunk)
{
    Thrift *to = &parquet->out;
    ParquetBuffer *buffer = &parquet->buffers[column];
    unsigned char head[16];
    int64_t packed = 0;
    const bool required = parquet->columns[column].required;
    const int levels = required ? 0 : parquet_levels_size(buffer, parquet->row, head, &packed);
    *chunk = (ParquetChunk){.offset = to->written, .nulls = parquet->row - buffer->count};
    parquet_bound(parquet->columns[column].type, buffer, chunk);
    parquet_put_page_header(to, levels + packed + buffer->used, parquet->row);
    thrift_bytes(to, head, (size_t)levels);
    thrift_bytes(to, buffer->there, (size_t)packed);
    thrift_bytes(to, buffer->values, (size_t)buffer->used);
    chunk->bytes = to->written - chunk->offset;
    buffer->used = buffer->count = 0;
}

static Error parquet_written(const Parquet *parquet)
{
    return ferror(parquet->out.out) != 0 ? file_unwritten("the Parquet file") : error_none();
}

static Error parquet_flush(Parquet *parquet)
{
    if (parquet->row == 0) return error_none();
    ParquetGroup *group = ARENA_NEW(parquet->arena, ParquetGroup, 1);
    *group =
        (ParquetGroup){.rows = parquet->row, .chunks = ARENA_NEW(parquet->arena, ParquetChunk, parquet->n_columns)};
    for (int c = 0; c < parquet->n_columns; c++) parquet_put_chunk(parquet, c, &group->chunks[c]);
    *parquet->last = group;
    parquet->last = &group->next;
    parquet->n_groups++;
    parquet->rows += parquet->row;
    parquet->row = 0;
    return parquet_written(parquet);
}

Error parquet_next(Parquet *parquet)
{
    bool full = ++parquet->row == parquet->rows_most;
    if (parquet->too_long >= 0)
        return error_make(ERROR_USER, "column %.60s has a text of more than %d bytes",
                          parquet->columns[parquet->too_long].name, PARQUET_TEXT_MAX);
    for (int c = 0; c < parquet->n_columns && !full; c++) {
        const ParquetBuffer *buffer = &parquet->buffers[c];
        full = parquet->columns[c].type == PARQUET_TEXT && buffer->size - buffer->used < PARQUET_TEXT_MAX + 4;
    }
    return full ? parquet_flush(parquet) : error_none();
}

// ---- metadata -------------------------------------------------------------------------------------------------------

static int parquet_stored_type(const ParquetColumn *column)
{
    switch (column->type) {
    case PARQUET_INTEGER: return PARQUET_INT64;
    case PARQUET_REAL: return PARQUET_DOUBLE;
    case PARQUET_TEXT: return PARQUET_BYTE_ARRAY;
    }
    return -1;
}

static void parquet_put_schema(Parquet *parquet)
{
    Thrift *to = &parquet->out;
    thrift_list(to, 2, THRIFT_STRUCT, parquet->n_columns + 1);
    thrift_open_item(to); // SchemaElement: the root
    thrift_binary(to, 4, "schema", strlen("schema"));
    thrift_i32(to, 5, parquet->n_columns);
    thrift_close(to);
    for (int c = 0; c < parquet->n_columns; c++) {
        const ParquetColumn *column = &parquet->columns[c];
        thrift_open_item(to);
        thrift_i32(to, 1, parquet_stored_type(column));
        thrift_i32(to, 3, column->required ? PARQUET_REQUIRED : PARQUET_OPTIONAL);
        thrift_binary(to, 4, column->name, strlen(column->name));
        if (column->type == PARQUET_TEXT) {
            thrift_i32(to, 6, PARQUET_UTF8);
            thrift_open(to, 10); // LogicalType
            thrift_open(to, 1);  // STRING
            thrift_close(to);
            thrift_close(to);
        }
        thrift_close(to);
    }
}

static void parquet_put_statistics(Thrift *to, const ParquetChunk *chunk)
{
    thrift_open(to, 12); // Statistics
    thrift_i64(to, 3, chunk->nulls);
    if (chunk->bounded) thrift_binary(to, 5, chunk->greatest, (size_t)chunk->greatest_size);
    if (chunk->bounded) thrift_binary(to, 6, chunk->least, (size_t)chunk->least_size);
    thrift_close(to);
}

static void parquet_put_column(Thrift *to, const ParquetColumn *column, const ParquetChunk *chunk, int64_t rows)
{
    thrift_open_item(to); // ColumnChunk
    thrift_i64(to, 2, 0); // file_offset, which is no longer used
    thrift_open(to, 3);   // ColumnMetaData
    thrift_i32(to, 1, parquet_stored_type(column));
    thrift_list(to, 2, THRIFT_I32, column->required ? 1 : 2);
    thrift_zigzag(to, PARQUET_PLAIN);
    if (!column->required) thrift_zigzag(to, PARQUET_RLE);
    thrift_list(to, 3, THRIFT_BINARY, 1); // its path in the schema
    thrift_text(to, column->name, strlen(column->name));
    thrift_i32(to, 4, PARQUET_UNCOMPRESSED);
    thrift_i64(to, 5, rows);
    thrift_i64(to, 6, chunk->bytes); // uncompressed
    thrift_i64(to, 7, chunk->bytes);
    thrift_i64(to, 9, chunk->offset);
    parquet_put_statistics(to, chunk);
    thrift_close(to);
    thrift_close(to);
}

static void parquet_put_groups(Parquet *parquet)
{
    Thrift *to = &parquet->out;
    thrift_list(to, 4, THRIFT_STRUCT, parquet->n_groups);
    for (const ParquetGroup *group = parquet->groups; group != NULL; group = group->next) {
        int64_t bytes = 0;
        for (int c = 0; c < parquet->n_columns; c++) bytes += group->chunks[c].bytes;
        thrift_open_item(to); // RowGroup
        thrift_list(to, 1, THRIFT_STRUCT, parquet->n_columns);
        for (int c = 0; c < parquet->n_columns; c++)
            parquet_put_column(to, &parquet->columns[c], &group->chunks[c], group->rows);
        thrift_i64(to, 2, bytes);
        thrift_i64(to, 3, group->rows);
        thrift_i64(to, 5, group->chunks[0].offset);
        thrift_i64(to, 6, bytes);
        thrift_close(to);
    }
}

static void parquet_put_notes(Thrift *to, const ParquetNote *notes, int n_notes)
{
    thrift_list(to, 5, THRIFT_STRUCT, n_notes);
    for (int i = 0; i < n_notes; i++) {
        thrift_open_item(to); // KeyValue
        thrift_binary(to, 1, notes[i].key, strlen(notes[i].key));
        thrift_binary(to, 2, notes[i].text, strlen(notes[i].text));
        thrift_close(to);
    }
}

// The bounds of each column are in the order of its type: without this readers ignore them.
static void parquet_put_orders(const Parquet *parquet, Thrift *to)
{
    thrift_list(to, 7, THRIFT_STRUCT, parquet->n_columns);
    for (int c = 0; c < parquet->n_columns; c++) {
        thrift_open_item(to); // ColumnOrder
        thrift_open(to, 1);   // TypeDefinedOrder
        thrift_close(to);
        thrift_close(to);
    }
}

Error parquet_finish(Parquet *parquet, const char *creator, const ParquetNote *notes, int n_notes)
{
    Thrift *to = &parquet->out;
    TRY(parquet_flush(parquet));
    const int64_t start = to->written;
    thrift_open_item(to); // FileMetaData
    thrift_i32(to, 1, 1); // version
    parquet_put_schema(parquet);
    thrift_i64(to, 3, parquet->rows);
    parquet_put_groups(parquet);
    parquet_put_notes(to, notes, n_notes);
    thrift_binary(to, 6, creator, strlen(creator));
    parquet_put_orders(parquet, to);
    thrift_close(to);
    if (to->written - start > INT32_MAX) return error_make(ERROR_USER, "too many columns and rows for a Parquet file");
    thrift_bytes(to, &(int32_t){(int32_t)(to->written - start)}, 4);
    thrift_bytes(to, "PAR1", 4);
    return parquet_written(parquet);
}
