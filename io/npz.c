// NumPy's .npz: a zip archive of .npy files, without compression. All sizes are known beforehand, so every column has a
// fixed offset in the file and rows can come one by one.
//
// Sources: NumPy Enhancement Proposal 1 (version 1.0 of .npy); PKWARE's APPNOTE 6.3 for zip. Sizes always use the
// 64-bit fields (4.5.3), because ten million rows of fifty columns take more than 4 GiB.
#include "npz.h"

#include "characters.h"
#include "file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    NPZ_BUFFER = 32 * 1024, // bytes of a column in memory
    NPZ_NAME_MAX = 256,
    NPZ_LOCAL = 30, // bytes of a local header without name and extra field
    NPZ_LOCAL_EXTRA = 20,
    NPZ_DIRECTORY_EXTRA = 28,
    NPZ_VERSION = 45 // zip version that has 64-bit fields
};

typedef struct NpzEntry {
    NpzColumn column;
    char name[NPZ_NAME_MAX]; // "k_fp.npy"
    char head[256];          // of the .npy file
    int head_size, item;     // bytes: of `head`; of one value
    int64_t at, size, put;   // of the local header; of the .npy file; written so far
    uint32_t crc;
    unsigned char *buffer;
    int used;
} NpzEntry;

struct Npz {
    FILE *out;
    int64_t rows, end; // end: where the directory starts
    NpzEntry *entries; // [count]
    int count;
    uint32_t table[256]; // of the CRC
};

// ---- bytes ----------------------------------------------------------------------------------------------------------

// CRC-32 of ISO 3309, reflected, as zip has it (APPNOTE 4.4.7).
static void npz_crc_table(uint32_t table[256])
{
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t crc = i;
        for (int bit = 0; bit < 8; bit++) crc = (crc & 1) != 0 ? 0xEDB88320u ^ (crc >> 1) : crc >> 1;
        table[i] = crc;
    }
}

static uint32_t npz_crc(const Npz *npz, uint32_t crc, const unsigned char *data, size_t size)
{
    crc = ~crc;
    for (size_t i = 0; i < size; i++) crc = npz->table[(crc ^ data[i]) & 0xff] ^ (crc >> 8);
    return ~crc;
}

// Appends a number, least byte first, and moves *at behind it.
static void npz_number(unsigned char **at, int bytes, uint64_t value)
{
    for (int i = 0; i < bytes; i++) *(*at)++ = (unsigned char)(value >> (8 * i));
}

static Error npz_write_at(const Npz *npz, int64_t at, const void *data, size_t size)
{
    if (fseeko(npz->out, at, SEEK_SET) == 0 && fwrite(data, 1, size, npz->out) == size) return error_none();
    return file_unwritten("the .npz file");
}

// ---- columns --------------------------------------------------------------------------------------------------------

static int64_t npz_data_at(const NpzEntry *entry)
{
    return entry->at + NPZ_LOCAL + (int64_t)strlen(entry->name) + NPZ_LOCAL_EXTRA;
}

static Error npz_flush(Npz *npz, NpzEntry *entry)
{
    const size_t size = (size_t)entry->used;
    entry->crc = npz_crc(npz, entry->crc, entry->buffer, size);
    TRY(npz_write_at(npz, npz_data_at(entry) + entry->put, entry->buffer, size));
    entry->put += entry->used;
    entry->used = 0;
    return error_none();
}

static Error npz_put(Npz *npz, int column, const void *data, int size)
{
    NpzEntry *entry = &npz->entries[column];
    if (entry->used + size > NPZ_BUFFER) TRY(npz_flush(npz, entry));
    memcpy(entry->buffer + entry->used, data, (size_t)size);
    entry->used += size;
    return error_none();
}

// "\x93NUMPY", version, length, a Python dictionary, a newline; padded to a multiple of 64 bytes.
static void npz_make_head(NpzEntry *entry, int64_t rows)
{
    char words[160], kind[16];
    const int texts = entry->column.width > 0 ? entry->column.width : 1;
    snprintf(kind, sizeof kind, "<U%d", texts);
    if (entry->column.type == NPZ_REAL) strcpy(kind, "<f8");
    if (entry->column.type == NPZ_INTEGER) strcpy(kind, "<i8");
    entry->item = entry->column.type == NPZ_TEXT ? 4 * texts : 8;
    snprintf(words, sizeof words, "{'descr': '%s', 'fortran_order': False, 'shape': (%lld,), }", kind, (long long)rows);
    entry->head_size = (10 + (int)strlen(words) + 1 + 63) / 64 * 64;
    memset(entry->head, ' ', sizeof entry->head);
    memcpy(entry->head, "\x93NUMPY\x01", 8);
    entry->head[8] = (char)((entry->head_size - 10) & 0xff);
    entry->head[9] = (char)((entry->head_size - 10) >> 8);
    memcpy(entry->head + 10, words, strlen(words));
    entry->head[entry->head_size - 1] = '\n';
    entry->size = entry->head_size + rows * entry->item;
}

Error npz_open(FILE *out, const NpzColumn *columns, int n_columns, int64_t rows, Arena *arena, Npz **npz)
{
    Npz *writer = ARENA_NEW(arena, Npz, 1);
    *writer = (Npz){.out = out, .rows = rows, .entries = ARENA_NEW(arena, NpzEntry, n_columns), .count = n_columns};
    npz_crc_table(writer->table);
    for (int i = 0; i < n_columns; i++) {
        NpzEntry *entry = &writer->entries[i];
        entry->column = columns[i];
        snprintf(entry->name, sizeof entry->name, "%.250s.npy", columns[i].name);
        npz_make_head(entry, rows);
        entry->at = writer->end;
        entry->buffer = ARENA_NEW(arena, unsigned char, NPZ_BUFFER);
        writer->end = npz_data_at(entry) + entry->size;
        TRY(npz_put(writer, i, entry->head, entry->head_size));
    }
    *npz = writer;
    return error_none();
}

Error npz_real(Npz *npz, int column, double value)
{
    return npz_put(npz, column, &value, 8); // the file is little-endian, as x86-64 is
}

Error npz_integer(Npz *npz, int column, int64_t value) { return npz_put(npz, column, &value, 8); }

// 32 bits per character, zeros after the last.
Error npz_text(Npz *npz, int column, const char *value)
{
    const int width = npz->entries[column].item / 4;
    uint32_t character = 0;
    for (int i = 0; i < width; i++) {
        const int bytes = utf8_read(value, &character);
        if (bytes == 0) character = *value != '\0' ? 0xFFFD : 0; // bytes that are not UTF-8
        value += bytes > 0 ? bytes : *value != '\0';
        TRY(npz_put(npz, column, &character, 4));
    }
    return error_none();
}

// ---- headers --------------------------------------------------------------------------------------------------------

// What a local header and a directory entry share, from the field "version" on (APPNOTE 4.3.7, 4.3.12).
static void npz_put_shared(unsigned char **at, const NpzEntry *entry, int extra)
{
    npz_number(at, 2, NPZ_VERSION);
    npz_number(at, 2, 0);    // flags
    npz_number(at, 2, 0);    // stored
    npz_number(at, 2, 0);    // time
    npz_number(at, 2, 0x21); // 1980-01-01, so that equal contents give equal bytes
    npz_number(at, 4, entry->crc);
    npz_number(at, 4, 0xffffffff); // sizes: in the extra field
    npz_number(at, 4, 0xffffffff);
    npz_number(at, 2, strlen(entry->name));
    npz_number(at, 2, (uint64_t)extra);
}

static Error npz_put_local(const Npz *npz, const NpzEntry *entry)
{
    unsigned char bytes[NPZ_LOCAL + NPZ_NAME_MAX + NPZ_LOCAL_EXTRA], *at = bytes;
    npz_number(&at, 4, 0x04034b50);
    npz_put_shared(&at, entry, NPZ_LOCAL_EXTRA);
    at = (unsigned char *)mempcpy(at, entry->name, strlen(entry->name));
    npz_number(&at, 2, 1); // 64-bit fields
    npz_number(&at, 2, 16);
    npz_number(&at, 8, (uint64_t)entry->size);
    npz_number(&at, 8, (uint64_t)entry->size);
    return npz_write_at(npz, entry->at, bytes, (size_t)(at - bytes));
}

static Error npz_put_directory(const Npz *npz, const NpzEntry *entry, int64_t *where)
{
    unsigned char bytes[46 + NPZ_NAME_MAX + NPZ_DIRECTORY_EXTRA], *at = bytes;
    npz_number(&at, 4, 0x02014b50);
    npz_number(&at, 2, NPZ_VERSION);
    npz_put_shared(&at, entry, NPZ_DIRECTORY_EXTRA);
    npz_number(&at, 2, 0); // comment
    npz_number(&at, 2, 0); // disk
    npz_number(&at, 2, 0);
    npz_number(&at, 4, 0);
    npz_number(&at, 4, 0xffffffff); // offset: in the extra field
    at = (unsigned char *)mempcpy(at, entry->name, strlen(entry->name));
    npz_number(&at, 2, 1);
    npz_number(&at, 2, 24);
    npz_number(&at, 8, (uint64_t)entry->size);
    npz_number(&at, 8, (uint64_t)entry->size);
    npz_number(&at, 8, (uint64_t)entry->at);
    TRY(npz_write_at(npz, *where, bytes, (size_t)(at - bytes)));
    *where += at - bytes;
    return error_none();
}

// APPNOTE 4.3.14 to 4.3.16
static Error npz_put_end(const Npz *npz, int64_t directory_end)
{
    unsigned char bytes[128], *at = bytes;
    const uint64_t count = (uint64_t)npz->count, size = (uint64_t)(directory_end - npz->end);
    npz_number(&at, 4, 0x06064b50);
    npz_number(&at, 8, 44); // bytes that follow
    npz_number(&at, 2, NPZ_VERSION);
    npz_number(&at, 2, NPZ_VERSION);
    npz_number(&at, 8, 0); // disks
    npz_number(&at, 8, count);
    npz_number(&at, 8, count);
    npz_number(&at, 8, size);
    npz_number(&at, 8, (uint64_t)npz->end);
    npz_number(&at, 4, 0x07064b50);
    npz_number(&at, 4, 0);
    npz_number(&at, 8, (uint64_t)directory_end);
    npz_number(&at, 4, 1);
    npz_number(&at, 4, 0x06054b50);
    npz_number(&at, 4, 0);
    npz_number(&at, 2, 0xffff);
    npz_number(&at, 2, 0xffff);
    npz_number(&at, 4, 0xffffffff);
    npz_number(&at, 4, 0xffffffff);
    npz_number(&at, 2, 0);
    return npz_write_at(npz, directory_end, bytes, (size_t)(at - bytes));
}

Error npz_finish(Npz *npz)
{
    int64_t where = npz->end;
    for (int i = 0; i < npz->count; i++) {
        NpzEntry *entry = &npz->entries[i];
        TRY(npz_flush(npz, entry));
        if (entry->put != entry->size)
            return error_make(ERROR_MACHINE, "the number of rows of column %s changed meanwhile: try again",
                              entry->column.name);
        TRY(npz_put_local(npz, entry));
    }
    for (int i = 0; i < npz->count; i++) TRY(npz_put_directory(npz, &npz->entries[i], &where));
    return npz_put_end(npz, where);
}
