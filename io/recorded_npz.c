// Reads NumPy's .npz: a zip archive of .npy files, stored or deflated. Columns are the arrays of numbers with one
// dimension, and those with two column by column: "q[0]", "q[1]" ...
//
// Sources: PKWARE's APPNOTE 6.3 for zip, with the fields of 64 bits (4.3.14, 4.5.3); NumPy Enhancement Proposal 1 for
// .npy, versions 1 to 3.
#include "recorded.h"

#include <limits.h>
#include <math.h>
#include <string.h>
#include <zlib.h>

enum {
    NPY_HEAD_MAX = 4096, // bytes of an array's header
    ZIP_END = 22,        // bytes of the end of the directory, without its comment
    ZIP_COMMENT_MAX = 65535
};

// An array, and where its bytes are.
typedef struct NpzArray {
    const char *name;
    uint64_t at, packed, size; // of the entry's data in the file; bytes there; bytes of the .npy file
    int method;                // 0 stored, 8 deflated
    uint32_t crc;
    uint64_t head; // bytes before the numbers
    char kind;     // 'f', 'i', 'u', 'b'
    int item;      // bytes of a number
    bool big_endian, fortran;
    uint64_t rows, width; // shape; width 1 of one dimension
} NpzArray;

// ---- the archive ----------------------------------------------------------------------------------------------------

// Where the directory begins, and how many entries it has.
static Error zip_find(const RecordedFile *file, uint64_t *at, uint64_t *entries)
{
    const unsigned char *data = file->data.data;
    const size_t size = file->data.size;
    for (size_t back = ZIP_END; back <= size && back <= ZIP_END + ZIP_COMMENT_MAX; back++) {
        RecordedBytes end = {.at = data + size - back, .end = data + size};
        if (memcmp(end.at, "PK\x05\x06", 4) != 0) continue;
        recorded_take(&end, 10);
        *entries = recorded_number(&end, 2);
        recorded_take(&end, 4);
        *at = recorded_number(&end, 4);
        if (*entries != 0xffff && *at != 0xffffffff) return error_none();
        if (size - back < 20) break;
        RecordedBytes locator = {.at = data + size - back - 20, .end = data + size}; // of fields of 64 bits
        if (memcmp(locator.at, "PK\x06\x07", 4) != 0) return error_none();
        recorded_take(&locator, 8);
        const uint64_t where = recorded_number(&locator, 8);
        if (where > size || size - where < 56 || memcmp(data + where, "PK\x06\x06", 4) != 0) break;
        RecordedBytes wide = {.at = data + where + 32, .end = data + size};
        *entries = recorded_number(&wide, 8);
        recorded_take(&wide, 8);
        *at = recorded_number(&wide, 8);
        return error_none();
    }
    return error_make(ERROR_USER, "%.160s: the archive's directory is missing: the file is cut off", file->of);
}

// The 64-bit fields of an entry, in the order of APPNOTE 4.5.3: those whose short field is full.
static void zip_wide(RecordedBytes extra, uint64_t *size, uint64_t *packed, uint64_t *at)
{
    while (!extra.bad && extra.end - extra.at >= 4) {
        const uint64_t id = recorded_number(&extra, 2), length = recorded_number(&extra, 2);
        const unsigned char *body = recorded_take(&extra, length);
        if (body == NULL || id != 1) continue;
        RecordedBytes fields = {.at = body, .end = body + length};
        if (*size == 0xffffffff) *size = recorded_number(&fields, 8);
        if (*packed == 0xffffffff) *packed = recorded_number(&fields, 8);
        if (*at == 0xffffffff) *at = recorded_number(&fields, 8);
    }
}

static Error zip_damaged(const RecordedFile *file)
{
    return error_make(ERROR_USER, "%.160s: the archive's directory is damaged", file->of);
}

// The next entry of the directory. *is_array: it is a .npy file.
static Error zip_entry(RecordedFile *file, RecordedBytes *directory, NpzArray *array, bool *is_array)
{
    const unsigned char *mark = recorded_take(directory, 4);
    if (mark == NULL || memcmp(mark, "PK\x01\x02", 4) != 0) return zip_damaged(file);
    recorded_take(directory, 4);
    const uint64_t flags = recorded_number(directory, 2);
    array->method = (int)recorded_number(directory, 2);
    recorded_take(directory, 4);
    array->crc = (uint32_t)recorded_number(directory, 4);
    array->packed = recorded_number(directory, 4);
    array->size = recorded_number(directory, 4);
    const uint64_t name_length = recorded_number(directory, 2), extra_length = recorded_number(directory, 2),
                   comment = recorded_number(directory, 2);
    recorded_take(directory, 8);
    uint64_t local = recorded_number(directory, 4);
    const unsigned char *name = recorded_take(directory, name_length), *extra = recorded_take(directory, extra_length);
    recorded_take(directory, comment);
    if (directory->bad) return zip_damaged(file);
    zip_wide((RecordedBytes){.at = extra, .end = extra + extra_length}, &array->size, &array->packed, &local);
    *is_array = name_length > 4 && memcmp(name + name_length - 4, ".npy", 4) == 0;
    if (!*is_array) return error_none();
    array->name = arena_format(&file->arena, "%.*s", (int)(name_length - 4), (const char *)name);
    if ((flags & 1) != 0) return error_make(ERROR_USER, "%.160s: the archive is encrypted", file->of);
    if (local > file->data.size || file->data.size - local < 30 ||
        memcmp(file->data.data + local, "PK\x03\x04", 4) != 0)
        return zip_damaged(file);
    RecordedBytes head = {.at = file->data.data + local + 26, .end = file->data.data + file->data.size};
    const uint64_t skip = recorded_number(&head, 2) + recorded_number(&head, 2);
    array->at = local + 30 + skip;
    if (array->at > file->data.size || array->packed > file->data.size - array->at) return zip_damaged(file);
    return error_none();
}

// The first `size` bytes of an entry in to[size], which has at least so many. checked: the whole entry, whose digest
// must be right.
static Error zip_read(const RecordedFile *file, const NpzArray *array, unsigned char *to, uint64_t size, bool checked)
{
    const unsigned char *from = file->data.data + array->at;
    if (array->method == 0) {
        if (array->packed < size) return zip_damaged(file);
        memcpy(to, from, size);
    } else if (array->method == 8) {
        z_stream stream = {.next_in = (unsigned char *)(uintptr_t)from, .next_out = to};
        if (array->packed > UINT_MAX || size > UINT_MAX) return zip_damaged(file);
        stream.avail_in = (uInt)array->packed;
        stream.avail_out = (uInt)size;
        const bool begun = inflateInit2(&stream, -MAX_WBITS) == Z_OK;
        const int result = begun ? inflate(&stream, Z_SYNC_FLUSH) : Z_MEM_ERROR;
        const bool whole = stream.avail_out == 0 && (result == Z_STREAM_END || result == Z_OK || result == Z_BUF_ERROR);
        if (begun) inflateEnd(&stream);
        if (!whole) return error_make(ERROR_USER, "%.160s: array '%.100s' can't be inflated", file->of, array->name);
    } else {
        return error_make(ERROR_USER, "%.160s: array '%.100s' is compressed by another method than deflate", file->of,
                          array->name);
    }
    if (checked && crc32(0, to, (uInt)size) != array->crc)
        return error_make(ERROR_USER, "%.160s: array '%.100s' is damaged: its CRC-32 is wrong", file->of, array->name);
    return error_none();
}

// ---- an array's header ----------------------------------------------------------------------------------------------

// What stands behind 'key': in the header's dictionary; NULL: nothing.
static const char *npy_value(const char *words, const char *key)
{
    const char *at = strstr(words, key);
    if (at == NULL) return NULL;
    at += strlen(key);
    at += strspn(at, "'\" ");
    return *at == ':' ? at + 1 + strspn(at + 1, " ") : NULL;
}

static bool npy_shape(const char *text, NpzArray *array)
{
    uint64_t size[2] = {1, 1};
    int n = 0;
    if (text == NULL || *text != '(') return false;
    for (text++; *text != ')' && *text != '\0';) {
        uint64_t number = 0;
        const size_t digits = strspn(text, "0123456789");
        if (digits == 0 || digits > 12 || n == 2) return false;
        for (size_t i = 0; i < digits; i++) number = 10 * number + (uint64_t)(text[i] - '0');
        size[n++] = number;
        text += digits;
        text += strspn(text, "L, ");
    }
    array->rows = size[0];
    array->width = size[1];
    return *text == ')' && n > 0 && size[0] <= RECORDED_NUMBERS_MAX && size[1] <= RECORDED_COLUMNS_MAX &&
           size[0] * size[1] <= RECORDED_NUMBERS_MAX;
}

// Why an array has no numbers for columns; NULL: it has.
static const char *npy_type(RecordedFile *file, const char *words, NpzArray *array)
{
    const char *type = npy_value(words, "descr"), *order = npy_value(words, "fortran_order"),
               *shape = npy_value(words, "shape");
    if (type == NULL || order == NULL || shape == NULL) return "its header can't be read";
    const char *end = *type == '\'' || *type == '"' ? strchr(type + 1, *type) : NULL;
    if (end == NULL) return "it has fields: save each as an array of its own";
    array->big_endian = type[1] == '>';
    array->kind = type[2];
    array->item = type[3] >= '1' && type[3] <= '8' && end == type + 4 ? type[3] - '0' : 0;
    array->fortran = strncmp(order, "True", 4) == 0;
    const bool whole = strchr("iu", array->kind) != NULL && strchr("\1\2\4\10", array->item) != NULL;
    const bool real = array->kind == 'f' && (array->item == 4 || array->item == 8);
    if (array->item == 0 || strchr("<>|=", type[1]) == NULL || array->kind == '\0' ||
        !(whole || real || (array->kind == 'b' && array->item == 1)))
        return arena_format(&file->arena, "its type is '%.*s'", (int)(end - type - 1 < 40 ? end - type - 1 : 40),
                            type + 1);
    if (!npy_shape(shape, array)) return "its shape is not that of columns, or too large";
    return NULL;
}

static Error npy_read(RecordedFile *file, NpzArray *array, const char **why)
{
    unsigned char head[NPY_HEAD_MAX + 1];
    const uint64_t size = array->size < NPY_HEAD_MAX ? array->size : NPY_HEAD_MAX;
    TRY(zip_read(file, array, head, size, false));
    RecordedBytes bytes = {.at = head, .end = head + size};
    const unsigned char *mark = recorded_take(&bytes, 6);
    if (mark == NULL || memcmp(mark, "\x93NUMPY", 6) != 0)
        return error_make(ERROR_USER, "%.160s: '%.100s' is no array of NumPy's", file->of, array->name);
    const uint64_t version = recorded_number(&bytes, 2);
    const uint64_t length = recorded_number(&bytes, (version & 0xff) == 1 ? 2 : 4);
    char *words = (char *)(uintptr_t)recorded_take(&bytes, length);
    *why = "its header is too long";
    if (words == NULL) return error_none();
    array->head = (uint64_t)(bytes.at - head);
    words[length] = '\0';
    *why = npy_type(file, words, array);
    const bool fits = *why != NULL || array->size == array->head + array->rows * array->width * (uint64_t)array->item;
    return fits ? error_none()
                : error_make(ERROR_USER, "%.160s: array '%.100s' has another size than its header says", file->of,
                             array->name);
}

// ---- columns --------------------------------------------------------------------------------------------------------

static Error npz_load(const RecordedFile *file, int column, int clock, Arena *arena, const double **value,
                      const double **time)
{
    (void)clock;
    const RecordedColumn *of = &file->columns[column];
    const NpzArray *array = (const NpzArray *)file->own + of->array;
    Arena own;
    *time = NULL;
    double *to = ARENA_NEW(arena, double, of->count + 1);
    TRY(arena_create(&own, array->size + 4096, "an array of a recording"));
    unsigned char *bytes = ARENA_NEW(&own, unsigned char, array->size + 1);
    const Error error = zip_read(file, array, bytes, array->size, true);
    const uint64_t row = array->fortran ? 1 : array->width, across = array->fortran ? array->rows : 1;
    for (uint64_t r = 0; error.kind == OK && r < array->rows; r++)
        to[r] = recorded_value(bytes + array->head + (r * row + (uint64_t)of->item * across) * (uint64_t)array->item,
                               array->kind, array->item, array->big_endian);
    arena_destroy(&own);
    *value = to;
    return error;
}

Error recorded_npz(RecordedFile *file)
{
    uint64_t at = 0, entries = 0, columns = 0;
    TRY(zip_find(file, &at, &entries));
    if (at > file->data.size || entries > file->data.size / 46) return zip_damaged(file);
    RecordedBytes directory = {.at = file->data.data + at, .end = file->data.data + file->data.size};
    NpzArray *arrays = ARENA_NEW(&file->arena, NpzArray, entries + 1);
    const char **why = ARENA_NEW(&file->arena, const char *, entries + 1);
    int n = 0;
    for (uint64_t e = 0; e < entries; e++) {
        bool is_array = false;
        TRY(zip_entry(file, &directory, &arrays[n], &is_array));
        if (!is_array) continue;
        TRY(npy_read(file, &arrays[n], &why[n]));
        columns += why[n] == NULL ? arrays[n].width : 1;
        n++;
        if (columns > RECORDED_COLUMNS_MAX)
            return error_make(ERROR_USER, "%.160s has more than %d columns", file->of, RECORDED_COLUMNS_MAX);
    }
    RecordedColumn *all = ARENA_NEW(&file->arena, RecordedColumn, columns + 1);
    for (int a = 0; a < n; a++) {
        const uint64_t width = why[a] == NULL ? arrays[a].width : 1;
        for (uint64_t k = 0; k < width; k++)
            all[file->count++] = (RecordedColumn){
                .name = width == 1 ? arrays[a].name : arena_format(&file->arena, "%.200s[%d]", arrays[a].name, (int)k),
                .why = why[a],
                .count = why[a] == NULL ? (int64_t)arrays[a].rows : 0,
                .array = a,
                .item = (int32_t)k};
    }
    file->columns = all;
    file->own = arrays;
    file->load = npz_load;
    return error_none();
}
