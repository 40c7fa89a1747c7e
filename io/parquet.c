// Parquet without compression: one page per column and row group, encoded PLAIN; missing values by definition levels;
// bounds and the number of missing values for every column of a row group. Readers skip row groups by the bounds.
//
// Sources: apache/parquet-format 2.10: README.md (the file), Encodings.md (PLAIN, RLE), parquet.thrift (metadata, and
// the rules for bounds of reals); thrift-compact-protocol.md of Apache Thrift.
#include "parquet.h"

#include "characters.h"
#include "file.h"

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

// ---- the values of a column -----------------------------------------------------------------------------------------

enum { PARQUET_BOUND_MAX = 32 }; // a column with a longer least or greatest text has no bounds

// A value as PLAIN has it, but without the length of a text.
typedef struct ParquetBound {
    unsigned char bytes[PARQUET_BOUND_MAX];
    size_t size;
} ParquetBound;

// A column of a row group that is in the file.
typedef struct ParquetChunk {
    int64_t offset, bytes, nulls;
    ParquetBound least, greatest;
    bool bounded;
} ParquetChunk;

typedef struct ParquetGroup {
    struct ParquetGroup *next;
    int64_t rows;
    ParquetChunk *chunks; // [n_columns]
} ParquetGroup;

// A word as PLAIN has it: its length in 4 bytes, then UTF-8.
typedef struct ParquetWord {
    unsigned char *bytes;
    size_t size; // of the text alone
    bool used;   // by a value of the column
} ParquetWord;

struct Parquet {
    Thrift out;
    const ParquetColumn *columns;
    int n_columns;
    int64_t rows; // in the file
    ParquetGroup *groups, **last;
    int n_groups;
    ParquetGroup *group;   // that is being written
    int column;            // of it, the next
    unsigned char *levels; // [rows of a group / 8]
    Arena *arena;
};

Error parquet_open(FILE *out, const ParquetColumn *columns, int n_columns, Arena *arena, Parquet **out_file)
{
    Parquet *parquet = ARENA_NEW(arena, Parquet, 1);
    *parquet = (Parquet){.out = {.out = out},
                         .columns = columns,
                         .n_columns = n_columns,
                         .levels = ARENA_NEW(arena, unsigned char, PARQUET_ROWS / 8 + 1),
                         .arena = arena};
    parquet->last = &parquet->groups;
    thrift_bytes(&parquet->out, "PAR1", 4);
    *out_file = parquet;
    return error_none();
}

// levels <- a bit per row: its definition level, 1 where there is a value. Then values[returned] are those.
static int64_t parquet_compact(double *values, int64_t rows, unsigned char *levels)
{
    int64_t count = 0;
    memset(levels, 0, (size_t)(rows + 7) / 8);
    for (int64_t i = 0; i < rows; i++) {
        const double value = values[i];
        const int there = value == value;
        levels[i / 8] = (unsigned char)(levels[i / 8] | there << i % 8);
        values[count] = value;
        count += there;
    }
    return count;
}

// *least, *greatest <- of values[count > 0]
static void parquet_range(const double *values, int64_t count, double *least, double *greatest)
{
    *least = *greatest = values[0];
    for (int64_t i = 1; i < count; i++) {
        *least = values[i] < *least ? values[i] : *least;
        *greatest = values[i] > *greatest ? values[i] : *greatest;
    }
}

static ParquetBound parquet_bound(const void *bytes, size_t size)
{
    ParquetBound bound = {.size = size};
    memcpy(bound.bytes, bytes, size);
    return bound;
}

// parquet.thrift: a zero is -0 as the least and +0 as the greatest, because readers may take both for equal.
static int64_t parquet_plan_reals(const double *values, int64_t count, ParquetChunk *chunk)
{
    double least, greatest;
    if (count == 0) return 0;
    parquet_range(values, count, &least, &greatest);
    if (least == 0) least = -0.0;
    if (greatest == 0) greatest = 0.0;
    chunk->bounded = true;
    chunk->least = parquet_bound(&least, sizeof least);
    chunk->greatest = parquet_bound(&greatest, sizeof greatest);
    return count * (int64_t)sizeof(double);
}

// The doubles become int64_t.
static int64_t parquet_plan_integers(double *values, int64_t count, ParquetChunk *chunk)
{
    double least, greatest;
    if (count == 0) return 0;
    parquet_range(values, count, &least, &greatest);
    chunk->bounded = true;
    chunk->least = parquet_bound(&(int64_t){(int64_t)least}, sizeof(int64_t));
    chunk->greatest = parquet_bound(&(int64_t){(int64_t)greatest}, sizeof(int64_t));
    for (int64_t i = 0; i < count; i++) {
        const int64_t integer = (int64_t)values[i];
        memcpy(&values[i], &integer, sizeof integer);
    }
    return count * (int64_t)sizeof(int64_t);
}

static ParquetWord parquet_word(const char *text, Arena *arena)
{
    const size_t widest = strlen("\xef\xbf\xbd"); // U+FFFD, of one byte that is not UTF-8
    ParquetWord word = {.bytes = ARENA_NEW(arena, unsigned char, 4 + widest * strlen(text))};
    for (uint32_t character; *text != '\0';) {
        const int bytes = utf8_read(text, &character);
        memcpy(word.bytes + 4 + word.size, bytes > 0 ? text : "\xef\xbf\xbd", bytes > 0 ? (size_t)bytes : widest);
        word.size += bytes > 0 ? (size_t)bytes : widest;
        text += bytes > 0 ? bytes : 1;
    }
    memcpy(word.bytes, &(uint32_t){(uint32_t)word.size}, 4); // x86-64 is little-endian, as PLAIN is
    return word;
}

// In the order of their bytes, which are unsigned
static int parquet_compare_words(const ParquetWord *a, const ParquetWord *b)
{
    const int order = memcmp(a->bytes + 4, b->bytes + 4, a->size < b->size ? a->size : b->size);
    return order != 0 ? order : (a->size > b->size) - (a->size < b->size);
}

static int64_t parquet_plan_texts(const double *values, int64_t count, ParquetWord *words, int n_words,
                                  ParquetChunk *chunk)
{
    const ParquetWord *least = NULL, *greatest = NULL;
    int64_t bytes = 0;
    for (int w = 0; w < n_words; w++) words[w].used = false;
    for (int64_t i = 0; i < count; i++) {
        ParquetWord *word = &words[(int)values[i]];
        word->used = true;
        bytes += 4 + (int64_t)word->size;
    }
    for (const ParquetWord *word = words; word < words + n_words; word++) {
        if (!word->used) continue;
        if (least == NULL || parquet_compare_words(word, least) < 0) least = word;
        if (greatest == NULL || parquet_compare_words(word, greatest) > 0) greatest = word;
    }
    chunk->bounded = least != NULL && least->size <= PARQUET_BOUND_MAX && greatest->size <= PARQUET_BOUND_MAX;
    if (chunk->bounded) chunk->least = parquet_bound(least->bytes + 4, least->size);
    if (chunk->bounded) chunk->greatest = parquet_bound(greatest->bytes + 4, greatest->size);
    return bytes;
}

// ---- row groups -----------------------------------------------------------------------------------------------------

// The definition levels of a page in the hybrid of runs and packed bits, of one bit each, behind their length: one run
// if all are equal, else the bits of a multiple of eight levels. *packed: the bytes of these bits, which follow.
static size_t parquet_levels(int64_t count, int64_t rows, unsigned char head[16], int64_t *packed)
{
    const bool run = count == 0 || count == rows;
    size_t size = 4;
    *packed = run ? 0 : (rows + 7) / 8;
    uint64_t varint = run ? (uint64_t)rows << 1 : (uint64_t)*packed << 1 | 1;
    for (; varint > 0x7f; varint >>= 7) head[size++] = (unsigned char)((varint & 0x7f) | 0x80);
    head[size++] = (unsigned char)varint;
    if (run) head[size++] = count > 0;
    memcpy(head, &(int32_t){(int32_t)((int64_t)size - 4 + *packed)}, 4);
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

static Error parquet_written(const Parquet *parquet)
{
    return ferror(parquet->out.out) != 0 ? file_unwritten("the Parquet file") : error_none();
}

// A page and the metadata have their sizes in 32 bits.
static Error parquet_too_large(const char *what)
{
    return error_make(ERROR_USER, "%.80s is too large for a Parquet file", what);
}

static Error parquet_put_chunk(Parquet *parquet, const ParquetColumn *column, int64_t rows, double *values,
                               ParquetWord *words, int n_words, ParquetChunk *chunk)
{
    Thrift *to = &parquet->out;
    unsigned char head[16];
    int64_t packed = 0, bytes = 0;
    const int64_t count = column->required ? rows : parquet_compact(values, rows, parquet->levels);
    const size_t levels = column->required ? 0 : parquet_levels(count, rows, head, &packed);
    *chunk = (ParquetChunk){.offset = to->written, .nulls = rows - count};
    switch (column->type) {
    case PARQUET_REAL: bytes = parquet_plan_reals(values, count, chunk); break;
    case PARQUET_INTEGER: bytes = parquet_plan_integers(values, count, chunk); break;
    case PARQUET_TEXT: bytes = parquet_plan_texts(values, count, words, n_words, chunk); break;
    }
    if (bytes > INT32_MAX / 2) return parquet_too_large(column->name);
    parquet_put_page_header(to, (int64_t)levels + packed + bytes, rows);
    thrift_bytes(to, head, levels);
    thrift_bytes(to, parquet->levels, (size_t)packed);
    if (column->type != PARQUET_TEXT) thrift_bytes(to, values, (size_t)bytes);
    for (int64_t i = 0; i < count && column->type == PARQUET_TEXT; i++)
        thrift_bytes(to, words[(int)values[i]].bytes, 4 + words[(int)values[i]].size);
    chunk->bytes = to->written - chunk->offset;
    return parquet_written(parquet);
}

static void parquet_start_group(Parquet *parquet, int64_t rows)
{
    ParquetGroup *group = ARENA_NEW(parquet->arena, ParquetGroup, 1);
    *group = (ParquetGroup){.rows = rows, .chunks = ARENA_NEW(parquet->arena, ParquetChunk, parquet->n_columns)};
    parquet->group = *parquet->last = group;
    parquet->last = &group->next;
    parquet->n_groups++;
    parquet->rows += rows;
}

Error parquet_put(Parquet *parquet, int64_t rows, double *values, const char *const *words, int n_words)
{
    if (parquet->column == 0) parquet_start_group(parquet, rows);
    const int column = parquet->column++, n_texts = parquet->columns[column].type == PARQUET_TEXT ? n_words : 0;
    const size_t used = parquet->arena->used;
    ParquetWord *texts = ARENA_NEW(parquet->arena, ParquetWord, n_texts);
    for (int w = 0; w < n_texts; w++) texts[w] = parquet_word(words[w], parquet->arena);
    const Error error = parquet_put_chunk(parquet, &parquet->columns[column], rows, values, texts, n_texts,
                                          &parquet->group->chunks[column]);
    arena_rewind(parquet->arena, used);
    if (parquet->column == parquet->n_columns) parquet->column = 0;
    return error;
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
    if (chunk->bounded) thrift_binary(to, 5, chunk->greatest.bytes, chunk->greatest.size);
    if (chunk->bounded) thrift_binary(to, 6, chunk->least.bytes, chunk->least.size);
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
    if (to->written - start > INT32_MAX) return parquet_too_large("the metadata of all columns");
    thrift_bytes(to, &(int32_t){(int32_t)(to->written - start)}, 4);
    thrift_bytes(to, "PAR1", 4);
    return parquet_written(parquet);
}
