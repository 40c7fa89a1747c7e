// Reads blocks. A file and its record may come from another person, and another process may change the file while it is
// read. So records are checked before a file is opened, and parts of files are read into memory that we own: a mapping
// of a file that becomes shorter would end the process.
#include "blocks.h"

#include <string.h>

enum { BLOCKS_FILES = 64 }; // that are open at a time

typedef struct BlockFile {
    int64_t block; // -1: none
    int descriptor;
} BlockFile;

struct Blocks {
    Arena arena;
    const NumberColumn *columns;
    int n_columns;
    BlockSpan *spans;
    const char **paths;
    int64_t *bytes;   // [n_blocks] of the file
    int64_t *offsets; // [n_blocks][n_columns]
    int64_t n_blocks;
    BlockFile files[BLOCKS_FILES]; // a block can be at one place only
};

// ---- records --------------------------------------------------------------------------------------------------------

static Error blocks_damaged(const char *name, const char *why)
{
    return error_make(ERROR_MACHINE, "the record of block %.60s in the database is damaged: %s", name, why);
}

static Error blocks_check_span(const BlockRecord *record, const BlockRecord *before)
{
    const BlockSpan *span = &record->span;
    if (span->first < 0 || span->last < span->first || span->last == INT64_MAX)
        return blocks_damaged(record->name, "its trials have no valid ids");
    if (span->rows < 1 || span->rows - 1 > span->last - span->first)
        return blocks_damaged(record->name, "it has more or fewer rows than ids");
    if (before != NULL && before->span.last >= span->first)
        return blocks_damaged(record->name, "its trials are in the block before it too");
    return error_none();
}

static Error blocks_check_place(const Blocks *blocks, const BlockRecord *record, const int64_t *offsets)
{
    for (int c = 0; c < blocks->n_columns; c++) {
        if (offsets[c] < 0 || offsets[c] > record->bytes || record->span.rows > (record->bytes - offsets[c]) / 8)
            return blocks_damaged(record->name, "a column lies outside of its file");
    }
    return error_none();
}

static Error blocks_add(Blocks *blocks, const char *folder, const BlockRecord *record, const BlockRecord *before)
{
    const int64_t at = blocks->n_blocks;
    int64_t *offsets = &blocks->offsets[at * blocks->n_columns];
    const size_t size = (size_t)blocks->n_columns * sizeof *offsets;
    if (record->name[0] == '\0' || record->name[0] == '.' || strchr(record->name, '/') != NULL)
        return blocks_damaged(record->name, "its name is not that of a file in the folder of shards");
    if (record->offsets.size != size) return blocks_damaged(record->name, "it has other columns");
    TRY(blocks_check_span(record, before));
    memcpy(offsets, record->offsets.data, size);
    TRY(blocks_check_place(blocks, record, offsets));
    blocks->spans[at] = record->span;
    blocks->paths[at] = arena_format(&blocks->arena, "%s/%s", folder, record->name);
    blocks->bytes[at] = record->bytes;
    blocks->n_blocks++;
    return error_none();
}

static size_t blocks_memory(const char *folder, int n_columns, const BlockRecord *records, int64_t n_records)
{
    const size_t alignment = 64, each = sizeof(BlockSpan) + sizeof(char *) + sizeof(int64_t) * (1 + (size_t)n_columns);
    size_t paths = 0;
    for (int64_t b = 0; b < n_records; b++) paths += strlen(folder) + strlen(records[b].name) + 2 + alignment;
    return sizeof(Blocks) + paths + (size_t)n_records * each + 8 * alignment;
}

Error blocks_open(const char *folder, const NumberColumn *columns, int n_columns, const BlockRecord *records,
                  int64_t n_records, Blocks **out)
{
    Arena arena;
    *out = NULL;
    TRY(arena_create(&arena, blocks_memory(folder, n_columns, records, n_records), "a list of blocks"));
    Blocks *blocks = ARENA_NEW(&arena, Blocks, 1);
    *blocks = (Blocks){.columns = columns,
                       .n_columns = n_columns,
                       .spans = ARENA_NEW(&arena, BlockSpan, n_records),
                       .paths = ARENA_NEW(&arena, const char *, n_records),
                       .bytes = ARENA_NEW(&arena, int64_t, n_records),
                       .offsets = ARENA_NEW(&arena, int64_t, n_records * n_columns)};
    blocks->arena = arena;
    for (int i = 0; i < BLOCKS_FILES; i++) blocks->files[i] = (BlockFile){.block = -1};
    for (int64_t b = 0; b < n_records; b++) {
        const Error error = blocks_add(blocks, folder, &records[b], b > 0 ? &records[b - 1] : NULL);
        if (error.kind == OK) continue;
        blocks_close(blocks);
        return error;
    }
    *out = blocks;
    return error_none();
}

void blocks_close(Blocks *blocks)
{
    if (blocks == NULL) return;
    for (int i = 0; i < BLOCKS_FILES; i++) {
        if (blocks->files[i].block >= 0) file_close_stored(blocks->files[i].descriptor);
    }
    Arena arena = blocks->arena;
    arena_destroy(&arena);
}

// ---- files ----------------------------------------------------------------------------------------------------------

static Error blocks_file(Blocks *blocks, int64_t block, int *descriptor)
{
    const char *path = blocks->paths[block];
    BlockFile *file = &blocks->files[block % BLOCKS_FILES];
    int64_t bytes = 0;
    if (file->block != block) {
        if (file->block >= 0) file_close_stored(file->descriptor);
        file->block = -1;
        TRY(file_open_stored(path, &file->descriptor, &bytes));
        if (bytes != blocks->bytes[block]) {
            file_close_stored(file->descriptor);
            return error_make(ERROR_MACHINE, "block %.400s is damaged: it has %lld bytes, expected %lld", path,
                              (long long)bytes, (long long)blocks->bytes[block]);
        }
        file->block = block;
    }
    *descriptor = file->descriptor;
    return error_none();
}

Error blocks_read(Blocks *blocks, int64_t block, int column, int64_t first, int64_t rows, void *values)
{
    const int64_t offset = blocks->offsets[block * blocks->n_columns + column] + first * 8;
    int descriptor = -1;
    TRY(blocks_file(blocks, block, &descriptor));
    return file_read_at(descriptor, blocks->paths[block], offset, values, (size_t)rows * 8);
}

// ---- a table --------------------------------------------------------------------------------------------------------

static Error blocks_read_for_table(void *blocks, int64_t block, int column, int64_t first, int64_t rows, void *values)
{
    return blocks_read(blocks, block, column, first, rows, values);
}

Error blocks_table(Blocks *blocks, Database *database)
{
    const BlockTable table = {.columns = blocks->columns,
                              .n_columns = blocks->n_columns,
                              .blocks = blocks->spans,
                              .n_blocks = blocks->n_blocks,
                              .read = blocks_read_for_table,
                              .source = blocks};
    return database_add_blocks(database, "trials", &table);
}
